"""The state in which a run begins, and what had to be moved to get there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError, SolveError, listing, nearest
from cotree.solve.consistent import operating_point
from cotree.solve.problem import Problem
from cotree.system import Diagnostic

Array = NDArray[np.float64]


def start_values(problem: Problem, p: Array, t: float, start: Mapping[str, float] | str | None, m: Array) -> Array:
    """Consistent states from values by name, or at an operating point where ``start`` is "steady"."""
    e = problem.equations
    if isinstance(start, str):
        if start != "steady":
            raise SolveError(f"start = '{start}'", expected="'steady', or start values by name")
        return operating_point(problem, t, p, m)[0]
    names = e.state_names
    if start is not None and not isinstance(start, Mapping):
        raise ModelError(f"start is {start!r}", expected="'steady', or start values by name")
    further = e.start(p, t) if e.start and e.assemble is not None else np.zeros(0)
    if e.assemble is not None and not start:
        return np.concatenate([*e.assemble(p, t), further])
    own = further if e.assemble is not None else e.start(p, t) if e.start else e.u.start
    x = np.concatenate([e.q.start, *([e.u.start] if e.assemble is not None else []), own])
    for name, value in (start or {}).items():
        if name in e.start_names or name in e.held.names:
            continue
        if name not in names:
            known = f"one of {listing(names)}" if names else "nothing: the model has no states"
            raise ModelError(f"'{name}' is not a state", expected=known, remedy=nearest(str(name), names))
        if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)) or not np.isfinite(value):
            raise ModelError(f"the start value of {name} is {value!r}", expected="a finite number")
        x[names.index(name)] = value
    if e.assemble is not None:
        return np.concatenate([*e.assemble(p, t, _mechanical(problem, start)), x[len(x) - len(e.x) :]])
    return x


def moved(problem: Problem, p: Array, t: float, start: Mapping[str, float] | str | None) -> tuple[Diagnostic, ...]:
    """What the consistent start had to move of the given values."""
    e = problem.equations
    if e.moved is None or isinstance(start, str):
        return ()
    return e.moved(p, t, _mechanical(problem, start) or None)


def _mechanical(problem: Problem, start: Mapping[str, float] | None) -> dict[str, float]:
    """The start values of the mechanism among all that are given."""
    e = problem.equations
    other = {*e.x.names, *e.held.names}
    return {name: value for name, value in (start or {}).items() if name not in other}
