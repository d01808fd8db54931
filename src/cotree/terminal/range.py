"""How far a flexible body is from the range of its theory: an estimate of the error of its deflection.

The theory takes a deformation as small in one frame, up to the second order, in the shapes that the body has. At the
instant of its largest deflection these are looked at:

- what is missing: the whole mesh under the loads of that instant, to the second order (`cotree.fem.internal`), bends
  differently against its first frame if shapes are missing or stiffening was left out;
- rotations that are too large: the same loads are put on the mesh with large rotations (`cotree.fem.large`). In a run
  they may press the body beyond its critical load for a moment, by which the mesh would buckle; there forces that bend
  the linear mesh as the body is bent are tried, too, and the smaller error counts;
- strain: that of centre lines and middle surfaces, by which lengths are taken as constant;
- the mesh: one with twice as many elements bends differently under the same loads (`cotree.fem.doubled`).

They are compared along the displacements of the theory, and added. Besides, at that instant and at that of the largest
forces on frames, the load is compared with the first critical one (`cotree.fem.critical`), and over the whole run
stress with the yield strength.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.fem.critical import Critical, critical, far_below, shares_of_shapes
from cotree.fem.doubled import MeshError
from cotree.fem.element import DEGREES
from cotree.fem.internal import Internal, Loads, Solved
from cotree.fem.large import Bent, bent_by
from cotree.terminal.recovery import Deformation

Array = NDArray[np.float64]

SMALL_TURN, BY_SMALL_TURN = 0.14, 0.45
"""Rotation in rad against the body's frame up to which the error of a deflection is taken as a factor times its square,
that of a cantilever with a force at its end."""
LARGE_TURN = 0.3
"""Rotation from which on it is the first thing to look at."""
LEAST = 1e-9
"""Deflection over the size of the body below which there is nothing to judge."""
ENOUGH = 0.01
"""Error of a deflection that is small enough."""
_CHUNK = 4e6  # numbers at a time


@dataclass(frozen=True)
class Range:
    """The error of a body's deflection where it is largest."""

    parts: Mapping[str, float]
    """Errors of the deflection, as parts of it, by their cause: ``shapes``, ``turn``, ``strain``, ``mesh``; infinite
    where no balance was found."""
    together: float
    """All of them together: some take away what others add."""
    t: float
    deflection: float
    """In m, against the body's frame."""
    turn: float
    """The largest rotation against the body's frame in rad."""
    size: float
    """Of the body, in m."""

    @property
    def error(self) -> float:
        """Of the deflection, as a part of it; at least half of what one cause makes."""
        return max(self.together, max(self.parts.values()) / 2)

    @property
    def cause(self) -> str:
        """What makes most of the error; large rotations come first, as they spoil the other estimates."""
        if self.turn > LARGE_TURN:
            return "turn"
        return max(self.parts, key=lambda name: self.parts[name])

    @property
    def segments(self) -> int:
        """The number of beams in series that would be enough: their error falls with its third power."""
        wanted = min(self.error, 1.0) / ENOUGH
        return int(np.clip(np.ceil(wanted ** (1 / 3)), 2, 64))


def deflection_range(
    found: Deformation, mesh: Callable[[], MeshError | None] = lambda: None, supports: Sequence[int] = ()
) -> Range | None:
    """The error where the deflection of a body is largest; None where it has none.

    ``mesh`` gives the mesh's own. Deflections are seen from the line between ``supports``, nodes that something holds,
    from one of them as it turns, or from the first frame of the body.
    """
    k, moved, size = largest_deflection(found)
    if found.loads is None or not moved > LEAST * size:
        return None
    seen = _View(found.places, supports or found.body.nodes[:1])
    here, loads = found.at(k), found.loads.part(slice(k, k + 1))
    theory = seen.small(here)
    body = _to_second_order(found.body)
    whole = body.solve(loads)
    by_all = body.settled(whole) if len(found.t) == 1 else whole.u[:, 0]
    by_all[list(found.still)] = 0.0
    lacks = {"shapes": seen.small(by_all) - theory}
    turns = np.linalg.norm(here.reshape(-1, DEGREES)[:, 3:], axis=1)
    turn = float(turns.max())
    off, parts = mesh(), {"strain": _stretch(whole)}
    if turn <= SMALL_TURN:
        parts["turn"] = BY_SMALL_TURN * turn**2
    else:
        node = int(np.argmin(turns))  # held where it turns least
        by_shape = found.body.structure.stiffness @ here, here
        tries = [by_shape, (found.body.nodal(loads)[:, 0], by_all)][0 if len(found.t) > 1 else 1 :]
        turned = [np.full_like(theory, np.inf)]  # the best first
        for pushed, linear in tries:
            if _error(turned[0], theory) > ENOUGH:
                turned.append(_by_turns(found, pushed, seen, linear, node))
                turned.sort(key=lambda each: _error(each, theory))
        lacks["turn"] = turned[0]
    if off is not None:
        lacks["mesh"] = seen.small(_with_turns(off.under(loads)))
        parts["mesh"] = off.first * _share_of_vibration(found.body, loads, theory)
    together = _error(np.sum(list(lacks.values()), axis=0), theory) + sum(parts.values())
    parts |= {name: parts.get(name, 0.0) + _error(each, theory) for name, each in lacks.items()}
    return Range(parts, together, float(found.t[k]), moved, turn, size)


def series_range(pieces: Sequence[Deformation], whole: Deformation) -> Range | None:
    """The error of a beam of several segments.

    What a segment is off by turns all that follow: at a lever of n segments by 2 n times as much. These errors are
    added, as parts of the largest deflection of the whole beam.
    """
    _, moved, size = largest_deflection(whole)
    ranges = [deflection_range(piece) for piece in pieces]
    off, together = dict[str, float](), 0.0
    found = [each for each in ranges if each is not None]
    for k, each in enumerate(ranges):
        if each is not None:
            lever = (1 + 2 * max(k, len(ranges) - 1 - k)) * each.deflection / max(moved, LEAST * size)
            off |= {name: off.get(name, 0.0) + lever * part for name, part in each.parts.items()}
            together += lever * each.error
    if not found:
        return None
    worst = max(found, key=lambda each: each.turn)
    off["strain"] = max(each.parts["strain"] for each in found)
    return Range(off, max(together, off["strain"]), worst.t, moved, worst.turn, size)


def largest_deflection(found: Deformation) -> tuple[int, float, float]:
    """The instant of the largest displacement of a node, that displacement, nan where there is none, and the size."""
    moves = _largest_moves(found)
    k = int(np.argmax(moves))
    return k, float(moves[k]) if np.isfinite(moves).all() else np.nan, found.body.structure.length


def mode_errors(found: Deformation) -> Array:
    """(m,) errors of the deflection in m natural modes, by shapes that are missing.

    The first of the times of ``found`` is the state about which they vibrate, the others are it moved along each mode.
    """
    seen = _View(found.places, found.body.nodes[:1])
    if found.loads is None or not found.loads.coordinates.shape[1]:
        return np.zeros(len(found.t) - 1)
    by_all, theory = _to_second_order(found.body).solve(found.loads).u, found.shapes @ found.coordinates
    by_all[list(found.still)] = 0.0
    moved = [each[:, 1:] - each[:, :1] for each in (by_all, theory)]
    largest = np.abs(moved[1]).max(axis=0)
    errors = []
    for k in range(len(found.t) - 1):
        exact, shown = (seen.small(each[:, k]) for each in moved)
        errors.append(_error(exact - shown, shown))
    return np.where(largest > LEAST * largest.max(initial=0.0), errors, 0.0)


def load_share(found: Deformation, rows: Callable[[], Any]) -> tuple[float, float]:
    """The largest load over the first critical one of a body held by what ``rows`` gives, and its time.

    A load must last to buckle a body: it is the mean over one period of the shape into which it buckles.
    """
    if found.loads is None:
        return 0.0, 0.0
    loads = found.loads

    def share(part: Loads) -> Critical:
        return critical(found.body, part, rows(), found.still)

    pushed = np.linalg.norm(loads.frames[..., :3], axis=2).sum(axis=1)
    instants = list(dict.fromkeys((int(np.argmax(pushed)), largest_deflection(found)[0])))
    rough = shares_of_shapes(found.body, loads.part(instants))
    k = instants[int(np.argmax(rough))]
    if rough.max() < far_below(found.body):
        return 0.0, 0.0
    worst = share(loads.part(slice(k, k + 1)))
    near = np.abs(found.t - found.t[k]) <= np.pi / worst.omega
    if worst.share > 1.0 and near.sum() > 1:
        worst = share(loads.mean(near, found.t))
    return worst.share, float(found.t[k])


class _View:
    """Where displacements of a body are seen from: the line between the two nodes that are farthest apart, or one."""

    def __init__(self, places: Array, supports: Any) -> None:
        nodes = [int(node) for node in supports] or [0]
        gaps = np.linalg.norm(places[nodes][:, None] - places[nodes][None], axis=2)
        a, b = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        self.places = places
        self.nodes = [nodes[a], nodes[b]] if gaps.max() > 0 else nodes[:1]

    def small(self, u: Array) -> Array:
        """(N, 3) small displacements, less the small motion of what they are seen from."""
        moves, turns = np.split(u.reshape(-1, DEGREES), 2, axis=1)
        first = self.nodes[0]
        arms = self.places - self.places[first]
        turn = turns[first]
        if len(self.nodes) == 2:
            line, moved = arms[self.nodes[1]], moves[self.nodes[1]] - moves[first]
            turn = np.cross(line, moved) / (line @ line)
        return np.asarray(moves - moves[first] - np.cross(turn, arms))

    def placed(self, u: Array, shorter: Array) -> Array:
        """(N, 3) the same as a machine shows it: its joints turn the line between two supports back by a large angle.

        ``shorter`` (N, 3) are displacements of the second order.
        """
        if len(self.nodes) == 1:
            return self.small(u)
        moves = u.reshape(-1, DEGREES)[:, :3] + shorter
        return self.large(Bent(self.places + moves, np.broadcast_to(np.eye(3), (len(moves), 3, 3)), 1.0))

    def large(self, bent: Bent) -> Array:
        """(N, 3) the same with rotations of any size."""
        from scipy.spatial.transform import Rotation

        first = self.nodes[0]
        arms, back = bent.places - bent.places[first], bent.turns[first].T
        if len(self.nodes) == 2:
            then, now = (each[self.nodes[1]] - each[first] for each in (self.places, bent.places))
            axis = np.cross(now, then)
            sine = float(np.linalg.norm(axis))
            angle = np.arctan2(sine, float(now @ then))
            back = Rotation.from_rotvec(axis * (angle / sine if sine > 0 else 0.0)).as_matrix()
        return np.asarray(arms @ back.T - (self.places - self.places[first]))


def _by_turns(found: Deformation, pushed: Array, seen: _View, linear: Array, node: int) -> Array:
    """(N, 3) what a mesh with large rotations, held at a node, moves more under loads (6 N,) than the linear one."""
    structure = found.body.structure
    node = next((tie.master for tie in structure.ties if node in tie.slaves), node)
    held = np.union1d(DEGREES * node + np.arange(DEGREES), np.array(found.body.held, dtype=np.int64))
    bent = bent_by(structure, np.asarray(pushed), held)
    if bent.share < 1.0:
        return np.full_like(found.places, np.inf)
    shorter = _shortening(found, linear) if found.body.second_order else np.zeros_like(found.places)
    return seen.large(bent) - seen.placed(linear, shorter)


def _shortening(found: Deformation, u: Array) -> Array:
    """(N, 3) by what nodes of beams come nearer as elements turn, from the first frame on; zero elsewhere."""
    lines = [family.degrees[:, ::DEGREES] // DEGREES for family in found.families if hasattr(family, "section")]
    shorter, moves = np.zeros_like(found.places), u.reshape(-1, DEGREES)[:, :3]
    if not lines:
        return shorter
    beside: dict[int, list[int]] = {}
    for a, b in np.concatenate(lines).tolist():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    first = int(found.body.nodes[0]) if len(found.body.nodes) else 0
    ways, seen = [first], {first}
    while ways:
        a = ways.pop()
        for b in beside.get(a, ()):
            if b not in seen:
                seen.add(b)
                ways.append(b)
                along = found.places[b] - found.places[a]
                length = float(along @ along)
                turn = np.cross(along, moves[b] - moves[a]) / length
                shorter[b] = shorter[a] - along * float(turn @ turn) / 2
    return shorter


def _with_turns(moves: Array) -> Array:
    """(6 N,) displacements without rotations."""
    return np.concatenate([moves, np.zeros_like(moves)], axis=1).ravel()


def _largest_moves(found: Deformation) -> Array:
    """(T,) the largest displacement of a node at each time, some times at a stretch to save memory."""
    step = max(1, int(_CHUNK / len(found.shapes)))
    parts = [found.part(slice(start, start + step)) for start in range(0, len(found.t), step)]
    return np.concatenate([np.linalg.norm(each.displacements, axis=2).max(axis=1) for each in parts])


def _to_second_order(body: Internal) -> Internal:
    """The same body with loads that act on its deformed shape."""
    if body.second_order:
        return body
    return Internal(body.structure, body.reference, body.shapes, body.nodes, held=body.held, second_order=True)


def _stretch(solved: Solved) -> float:
    """The largest strain of a centre line, or of the middle of a shell, at one time."""
    largest, u = 0.0, solved.first[:, 0]
    for family in solved.body.structure.families:
        strains = family.stretch(u[family.degrees])
        largest = max(largest, float(np.abs(strains).max(initial=0.0)))
    return largest


def _share_of_vibration(body: Internal, loads: Loads, theory: Array) -> float:
    """The part of a deflection that the body's own elastic accelerations make, at most 1."""
    nothing = {name: np.zeros_like(getattr(loads, name)) for name in ("base", "slope", "frames")}
    moved = body.first(replace(loads, **nothing)).reshape(-1, DEGREES)[:, :3]
    largest = (float(np.linalg.norm(each, axis=1).max()) for each in (moved, theory))
    by_itself, all_in_all = largest
    return min(1.0, by_itself / max(all_in_all, 1e-300))


def _error(lacks: Array, theory: Array) -> float:
    """The largest of what is lacking along the displacements of the theory, over the largest exact displacement."""
    if not np.isfinite(lacks).all():
        return float("inf")
    length = np.linalg.norm(theory, axis=1)
    along = theory / np.maximum(length, 1e-300)[:, None]
    off = np.abs(np.einsum("ni,ni->n", lacks, along))
    largest = float(np.linalg.norm(theory + lacks, axis=1).max())
    return float(off[length > 1e-6 * length.max()].max(initial=0.0) / max(largest, 1e-300))
