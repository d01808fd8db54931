"""How far a consistent start lies from the values that were given for it, for the reader of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from cotree.errors import listing
from cotree.formulation.branch.assembly import Assembly
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]

TURNED = float(np.radians(3.0))
"""Angle by which a given start value may be moved without a word."""
SHIFTED = 0.03
"""The same as a part of the mechanism's length, and for speeds of the largest speed."""
SHOWN = 6
"""Moves that a text lists."""


def moved(
    assembly: Assembly, state: tuple[Array, Array], p: Array, t: float, changes: Mapping[str, float] | None = None
) -> tuple[Diagnostic, ...]:
    """Start values that were given and had to be moved far, and bodies that were placed by their bushings."""
    begin, given = assembly.begin(p, t, changes)
    missed = [*_missed(assembly, state, p, t, given), *_turned(assembly, begin, state[0])]
    found = reported(missed, assembly.length, float(np.abs(state[1] / assembly.scale).max(initial=0.0)))
    rest = _placed_by_rest(assembly)
    return (*found, *([diagnose("placed-by-rest", *rest)] if rest else []))


def reported(missed: Iterable[tuple[str, float, str]], length: float, pace: float) -> tuple[Diagnostic, ...]:
    """What is worth a note among (name, how far it was moved, unit), by the length and the pace of a mechanism."""
    least = {"m": SHIFTED * length, "rad": TURNED, "m/s": SHIFTED * length * pace, "rad/s": SHIFTED * pace}
    far = [(name, abs(off), unit) for name, off, unit in missed if abs(off) > least.get(unit, np.inf)]
    places, speeds = ([each for each in far if each[2].endswith("/s") == fast] for fast in (False, True))
    found = []
    if places:
        most = {key: max((off for _, off, u in places if u == unit), default=0.0) for key, unit in MOST.items()}
        names = dict.fromkeys(name for name, _, _ in places)
        found.append(diagnose("start-moved", *names, moves=listing(map(_words, places), SHOWN), **most))
    if speeds:
        names = dict.fromkeys(name for name, _, _ in speeds)
        found.append(diagnose("start-speeds-moved", *names, moves=listing(map(_words, speeds), SHOWN)))
    return tuple(found)


MOST = {"angle": "rad", "distance": "m"}


def _words(move: tuple[str, float, str]) -> str:
    name, off, unit = move
    return f"{name} by {np.degrees(off):.3g} deg" if unit == "rad" else f"{name} by {off:.3g} {unit}"


def _missed(
    assembly: Assembly, state: tuple[Array, Array], p: Array, t: float, given: Array
) -> Iterator[tuple[str, float, str]]:
    """By how much given positions and speeds are missed."""
    q, u = state
    held = {name for name, value in zip(assembly.names, given, strict=True) if np.isfinite(value)}
    levels = (
        (assembly.position_parts, assembly.wishes.positions, ""),
        (assembly.speed_parts, assembly.wishes.speeds, "/s"),
    )
    for parts, wishes, per in levels:
        _, _, soft, by_soft = assembly.numbers(parts(q, t, p))
        off, first = soft + by_soft @ u if per else soft, 0
        for wish in wishes:
            if not wish.fixed:
                own = off[first : first + wish.value.numel()]
                first += wish.value.numel()
                if wish.name not in held:
                    yield wish.name, float(np.linalg.norm(own)), ("m" if wish.length else "rad") + per


def _turned(assembly: Assembly, begin: Array, q: Array) -> Iterator[tuple[str, float, str]]:
    """By how much bodies are turned whose place was given, but no orientation."""
    kin = assembly.mechanism.kin
    owners = dict.fromkeys(owner for (owner, _), stays in zip(kin.owners, assembly.placed, strict=True) if stays)
    for owner in owners:
        places = kin.coordinate_places[owner]
        turn = next((at for at, _ in kin.quaternions if at in places), None)
        if turn is not None:
            one, two = begin[turn : turn + 4], q[turn : turn + 4]
            angle = 2 * float(np.arccos(min(1.0, abs(float(one @ two)) / float(np.linalg.norm(one)))))
        else:
            rotations = [k for k in places if kin.q_units[k] == "rad"]
            angle = float(np.abs(q[rotations] - begin[rotations]).max(initial=0.0))
        yield f"{owner}.orientation", angle, "rad"


def _placed_by_rest(assembly: Assembly) -> list[str]:
    """Bodies without a place of their own that elements at rest have given one."""
    if assembly.rest_parts is None:
        return []
    kin = assembly.mechanism.kin
    return list(dict.fromkeys(owner for (owner, _), loose in zip(kin.owners, assembly.loose, strict=True) if loose))
