"""Errors of runs with events: what acts without end, what nothing fixes, and what makes too many steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError, listing
from cotree.formulation.system import Sample, Switch
from cotree.solve.integrator import Stopped

Array = NDArray[np.float64]


def chattering(switches: Sequence[Switch], which: Array, t: float) -> Stopped:
    """For switches that act again and again at one instant; ``which`` are the numbers of those that have acted."""
    names = sorted({switches[int(k)].name for k in which[-2 * len(switches) - 2 :]})
    return Stopped(
        SolveError(
            f"at t = {t:.9g} s {listing(names)} {'act' if len(names) > 1 else 'acts'} again and again without end",
            expected="switches that come to rest, and some time between events",
            remedy="Give the switching a hysteresis, a dead band or a least time, or a bouncing part a stiffness and a "
            "damper; results before are kept",
        )
    )


def check_guards(switches: Sequence[Switch], guards: Array, t: float) -> None:
    """Refuse guards without a value: parts of a network that are cut off have none."""
    lost = [each.name for each, value in zip(switches, guards, strict=True) if not np.isfinite(value)]
    if lost:
        raise Stopped(
            SolveError(
                f"at t = {t:.9g} s nothing fixes the values by which {listing(lost)} would happen",
                expected="a way to the datum for every node, whatever is closed",
                remedy="Give the part a leakage or an off resistance, or the node a capacity or a resistance; "
                "results before are kept",
            )
        )


def too_many(turns: int, t: float, explicit: bool, samples: Sequence[Sample], sampled: int) -> RuntimeError:
    """For a run that takes more turns than it may, with what makes them."""
    why = ""
    if 4 * sampled > turns:
        why = f"; the samples of {listing(_names(samples))} make most of them"
    elif explicit:
        why = "; the equations may be stiff, which rodas is made for"
    return RuntimeError(f"more than {turns} steps up to t = {t:g} s{why}")


def _names(samples: Iterable[Sample]) -> list[str]:
    return list(dict.fromkeys(each.name for each in samples))
