"""Python functions as sampled controllers: each sample is asked for once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.solve.integrator import Stopped
from cotree.solve.problem import Problem

Array = NDArray[np.float64]


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
        except Exception as reason:
            return SolveError(
                f"the Python function failed at t = {t:g} s ({type(reason).__name__}: {reason})",
                where=sample.name,
                expected=f"{len(sample.held)} numbers for the inputs {inputs.tolist()}",
                remedy="Correct the function; results before are kept",
            )
        if len(values) != len(sample.held) or not np.isfinite(values).all():
            return SolveError(
                f"the Python function gave {found!r} at t = {t:g} s",
                where=sample.name,
                expected=f"{len(sample.held)} finite number{'s' if len(sample.held) > 1 else ''}",
                remedy="Correct the function; results before are kept",
            )
        return values
