"""Latches and stops beside the runs that follow them: gaps at a state, and analyses that cannot heed them."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError, SolveError, listing
from cotree.formulation.system import Lock, SystemEquations
from cotree.model.event import Event

Array = NDArray[np.float64]

TOGETHER = 1e-7
"""Gaps in m or rad that count as closed."""
FULL_TURN = 2 * np.pi * (1 - 1e-9)


@dataclass(frozen=True)
class LockEvent(Event):
    """A latch or stop that closes, or a stop that would pull: sign times a result passes a limit.

    An expression could not name every result, and names of its own could be those of the user.
    """

    result: str = ""
    sign: int = 1
    limit: float = 0.0
    rate: str = ""
    """The rate of an angle, by which its jumps by a full turn are told from motions."""


def without_locks(e: SystemEquations, what: str) -> None:
    """Refuse latches and stops in an analysis that does not know them."""
    if e.locks:
        names = list(dict.fromkeys(_owner(lock) for lock in e.locks))
        raise SolveError(
            f"{listing([repr(name) for name in names], 6)} may close or open on the way, which {what} cannot follow",
            where=names[0],
            expected="a structure without latches and stops",
            remedy=f"Simulate the motion, or remove '{names[0]}'; put a bar or a gear where it is to be closed",
        )


def check_open(e: SystemEquations, q: Array, t: float, p: Array, what: str, touching: bool = False) -> None:
    """Refuse a position of ``what`` at which a latch or stop is not open, or a latch has been passed since the start.

    ``touching`` allows for stops that are just reached.
    """
    if not e.locks or e.assemble is None:
        return
    first = e.assemble(p, t)[0]
    for lock in e.locks:
        here, before = gap(e, lock, q, t, p), gap(e, lock, first, t, p)
        if lock.side:
            wrong = lock.side * here < (-TOGETHER if touching else TOGETHER)
        else:
            wrong = min(abs(here), abs(before)) <= TOGETHER or here * before < 0
        if not wrong:
            continue
        passed = f"passed by {abs(here):.3g} {e.outputs[lock.measure].unit}" if abs(here) > TOGETHER else "reached"
        raise SolveError(
            f"its limit is {passed} at {what}" if lock.side else f"it is closed or passed at {what}",
            where=lock.name,
            expected="a position at which every latch and stop is open",
            remedy="Simulate the motion with damping until it comes to rest, or put a bar or a gear in the place of "
            f"'{_owner(lock)}'",
        )


def check_reach(e: SystemEquations, p: Array) -> None:
    """Refuse a single limit of an angle that is a full turn or more from the start: the angle could not tell turns."""
    if e.nodal is None:
        return
    from cotree.terminal.nodal.locks import Lock as LockPart
    from cotree.terminal.nodal.measures import start_angle

    for placed in e.nodal.parts:
        part = placed.part
        if not isinstance(part, LockPart) or part.axis is None or len(part.limit_fields()) > 1:
            continue
        ((field, limit),) = part.limits(placed.v).items()
        both = ca.Function("both", [e.p.symbols], [start_angle(placed.v.axis, placed.at.start), limit])
        first, last = (float(each) for each in both(p))
        if abs(last - first) >= FULL_TURN:
            raise ModelError(
                f"the limit {last:.6g} rad is a full turn or more from the angle at the start, {first:.6g} rad",
                where=f"{part.name}.{field}",
                expected="a limit less than 2*pi from the start, whose angle lies between -pi and pi",
                remedy=f"Give {last - 2 * np.pi * np.round((last - first) / (2 * np.pi)):.6g} for the same direction",
            )


def gap(e: SystemEquations, lock: Lock, q: Array, t: float, p: Array) -> float:
    """Measure less limit at a position."""
    function = ca.Function("gap", [e.t, e.q.symbols, e.p.symbols, e.mode_symbols], [lock.gap])
    return float(function(t, q, p, np.zeros(e.mode_symbols.numel())))


def jumps(t: Array, angle: Array, rate: Array) -> NDArray[np.bool_]:
    """Where an angle begins anew: it changes by a full turn beside what its rate says, after each of these points."""
    return np.asarray(np.abs(np.diff(angle) - np.diff(t) * (rate[1:] + rate[:-1]) / 2) > np.pi)


def _owner(lock: Lock) -> str:
    """The part: a stop's limits are named after it."""
    return lock.measure.rpartition(".")[0]
