"""Other ways over a place where a method has given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cotree.solve.integrator import Stretch

if TYPE_CHECKING:
    from cotree.solve.run import Run

Array = NDArray[np.float64]


def evenly(run: Run, t: float, targets: Array, x: Array, z: Array, m: Array) -> Stretch | None:
    """The same with even steps as long as those so far, where a method cannot judge its error (singular places)."""
    step = (t - run.t_start) / run.steps if run.steps else np.inf
    method = run.method.with_step(min(step, float(targets[-1] - t) / 4))
    if method is None:
        return None
    try:
        return method.integrate(t, targets, x, z, run.p, m, run.sizes.at(t), run.limits.at(t))
    except RuntimeError:
        run.interrupts.check()
        return None


def across(run: Run, targets: Array, m: Array) -> Stretch | None:
    """The same as a part of one call with the piece before, where a method cannot begin at this very place."""
    if run.before is None:
        return None
    t, way, x, z = (run.before[name] for name in ("t", "way", "x", "z"))
    a = float(t[0])
    try:
        done = run.method.integrate(a, np.append(way, targets), x, z, run.p, m, run.sizes.at(a), run.limits.at(a))
    except RuntimeError:
        run.interrupts.check()
        return None
    last = slice(-1, None)
    since = done.quad[:, last] - done.quad[:, [-2]]
    return Stretch(done.x[:, last], done.z[:, last], since, done.steps, done.evaluations)
