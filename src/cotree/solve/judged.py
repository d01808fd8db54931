"""The range of a theory at a state: what small motions about it can be told."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.formulation import SystemEquations
from cotree.solve.problem import Problem
from cotree.solve.tangent import flat
from cotree.system import Diagnostic

Array = NDArray[np.float64]

SMALL = 1e-6
"""Part of a shape, whose largest coordinate is 1, by which a state is moved along it."""


def judged_at(e: SystemEquations, t: float, x: Array, p: Array, m: Array) -> tuple[Diagnostic, ...]:
    """What there is to say of the range of the theory at a state (q, u, x) of a mechanism."""
    return () if e.judged is None else e.judged(t, _results(e, t, [x], p, m))


def judged_shapes(
    e: SystemEquations, t: float, x: Array, p: Array, m: Array, shapes: Any, frequencies: Array
) -> tuple[Diagnostic, ...]:
    """The same, and what there is to say of natural modes: shapes in q, one in each column, frequencies in Hz."""
    if e.judged is None:
        return ()
    moved = [np.concatenate([x[: len(e.q)] + SMALL * shape.real, x[len(e.q) :]]) for shape in shapes.T]
    return judged_at(e, t, x, p, m) + e.judged(t, _results(e, t, [x, *moved], p, m), modes=frequencies)


def _results(e: SystemEquations, t: float, states: list[Array], p: Array, m: Array) -> dict[str, Array]:
    """All results by name at some states."""
    problem = Problem.of(e)
    rows = [flat(problem.outputs(t, x, problem.w_of(t, x, np.zeros(0), p, m), p, m))[1:] for x in states]
    return dict(zip(e.outputs, np.array(rows).T, strict=True))
