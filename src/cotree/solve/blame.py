"""Why an integration stopped, and which part is to blame as far as can be seen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.solve.consistent import unfixed
from cotree.solve.doubts import lost_output
from cotree.solve.jumps import lost_signal

if TYPE_CHECKING:
    from cotree.solve.run import Run

Array = NDArray[np.float64]


def failure(run: Run, t: float, target: float, x: Array, z: Array, m: Array, reason: str) -> SolveError:
    """The error of a method that gave up between two times."""
    z, m = run.method.apart(z, m)
    if (lost := lost_signal(run, t, target, m) or lost_output(run, t, target, x, m)) is not None:
        return lost
    name = run.method.name
    if (free := unfixed(run.problem, t, x, z, run.p, m)) is not None:
        return SolveError(
            f"{name} gave up at t = {t:g} s, where the equations do not fix {free}: the slope of its law is zero there",
            remedy="Add a term with a slope to the law, such as a small linear one, or start elsewhere; results before "
            "are kept",
        )
    return SolveError(
        f"{name} gave up between t = {t:g} and {target:g} s ({_short(reason)}); {_suspect(run, t, x, z, m)}",
        remedy="Look at the parts around it, loosen rtol, or raise max_steps; results before are kept",
    )


def _suspect(run: Run, t: float, x: Array, z: Array, m: Array) -> str:
    """The state that changes fastest; in a network without states, the algebraic variable that is least settled."""
    problem, e = run.problem, run.problem.equations
    if len(x):
        w = problem.w_of(t, x, z, run.p, m)
        size = np.abs(np.asarray(problem.rates(t, x, w, run.p, m), dtype=float).ravel()) / run.sizes.at(t).x
        names = e.state_names
        return f"the fastest state there is {names[int(np.argmax(np.where(np.isfinite(size), size, np.inf)))]}"
    if len(z):
        change = np.abs(np.asarray(problem.polished(t, x, z, run.p, m), dtype=float).ravel() - z)
        worst = int(np.argmax(np.where(np.isfinite(change), change, np.inf)))
        return f"the least settled variable there is {e.w.names[worst]}"
    return "the model has no states"


def _short(reason: str) -> str:
    """What the native solver returned, without the place in its source."""
    code = re.search(r'returned "(\w+)"', reason)
    lines = [line.strip() for line in reason.strip().splitlines() if line.strip()]
    return code[1] if code else (lines[-1] if lines else "no reason given")[:160]
