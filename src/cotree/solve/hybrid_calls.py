"""Python functions as sampled controllers: each sample is asked for once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import CotreeError, SolveError
from cotree.formulation.system import Sample
from cotree.solve.integrator import Stopped
from cotree.solve.problem import Problem

Array = NDArray[np.float64]

KEPT = "Correct the function; results before are kept"


class Calls:
    """What the Python functions have given, by sample and its number: no sample is asked for twice."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], Array | SolveError] = {}

    def of(self, problem: Problem, place: int, number: int, t: float, inputs: Array) -> Array:
        """The held values of a sample, from its function or from before."""
        key = place, number
        if key not in self.known:
            self.known[key] = self._asked(problem, place, t, inputs)
        found = self.known[key]
        if isinstance(found, SolveError):
            raise Stopped(found)
        return found

    @staticmethod
    def _asked(problem: Problem, place: int, t: float, inputs: Array) -> Array | SolveError:
        sample = problem.equations.samples[place]
        assert sample.call is not None
        try:
            found: Any = sample.call(t, inputs.tolist())
            values = np.atleast_1d(np.asarray(found, dtype=float)).ravel()
        except CotreeError as wrong:  # the block has looked at what the function gave
            return SolveError(wrong.found, where=wrong.where, expected=wrong.expected, remedy=KEPT)
        except Exception as reason:
            return SolveError(
                f"the Python function failed at t = {t:g} s ({type(reason).__name__}: {reason})",
                where=sample.name,
                expected=f"{_numbers(sample)} for the inputs {inputs.tolist()}",
                remedy=KEPT,
            )
        if len(values) != len(sample.held) or not np.isfinite(values).all():
            return SolveError(
                f"the Python function gave {found!r} at t = {t:g} s",
                where=sample.name,
                expected=_numbers(sample),
                remedy=KEPT,
            )
        return values


def _numbers(sample: Sample) -> str:
    return f"{count} finite numbers" if (count := len(sample.held)) > 1 else "a finite number"
