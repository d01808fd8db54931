"""Descent on a placed bond graph: single symbols and whole sides of the picture move while that makes it better."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int_]
Flags = NDArray[np.bool_]

PITCH = 0.1
"""Inches between places on the grid."""
APART, ASIDE = 0.3, 0.14
"""Distance that two boxes keep, and a bond and a box."""
_CROSS, _HIT, _SHORT, _SHARP = 12.0, 14.0, 30.0, 6.0
_SLANT, _DIAGONAL, _LONG, _PULL, _PASSED = 1.1, 0.7, 1.0, 0.25, 2.5
_ANGLE = np.deg2rad(43.0)
LARGE = 70
"""Boxes beyond which fewer moves are tried."""
_NUDGES = PITCH * np.array([(x, y) for x in (-3, -1, 0, 1, 3) for y in (-3, -1, 0, 1, 3)], dtype=float)
_TURNS = np.deg2rad(45.0 * np.arange(8))
WAYS = np.round(np.column_stack([np.cos(_TURNS), np.sin(_TURNS)]), 12)


@dataclass(frozen=True)
class Task:
    """Boxes to place by their half sizes (n, 2), joined pairs (e, 2), and pairs that are only drawn together.

    ``room`` is the length that each pair shows when it is level and when it is upright, (e, 2).
    """

    half: Array
    pairs: Ints
    room: Array
    loose: Ints

    @cached_property
    def near(self) -> list[list[int]]:
        """Neighbours of each box."""
        found: list[list[int]] = [[] for _ in self.half]
        for a, b in self.pairs.tolist():
            found[a].append(b)
            found[b].append(a)
        return found

    @cached_property
    def asked(self) -> dict[tuple[int, int], Array]:
        """The shown lengths by pair, in both orders."""
        both = zip(self.pairs.tolist(), self.room, strict=True)
        return {ends: room for (a, b), room in both for ends in ((a, b), (b, a))}


def hits(p: Array, q: Array, centre: Array, half: Array) -> Flags:
    """Whether segments p-q meet boxes."""
    enter: Array | float = 0.0
    leave: Array | float = 1.0
    for k in (0, 1):
        start, along = p[..., k], q[..., k] - p[..., k]
        along = np.where(np.abs(along) < 1e-12, 1e-12, along)
        off, reach = (centre[..., k] - start) / along, np.abs(half[..., k] / along)
        enter, leave = np.maximum(enter, off - reach), np.minimum(leave, off + reach)
    return np.asarray(enter < leave)


def crossings(p: Array, q: Array, a: Array, b: Array) -> Flags:
    """Whether segments p-q and a-b cross inside both."""
    (px, py), (qx, qy), (ax, ay), (bx, by) = ((each[..., 0], each[..., 1]) for each in (p, q, a, b))
    ux, uy, vx, vy = qx - px, qy - py, bx - ax, by - ay
    one, two = ux * (ay - py) - uy * (ax - px), ux * (by - py) - uy * (bx - px)
    three, four = vx * (py - ay) - vy * (px - ax), vx * (qy - ay) - vy * (qx - ax)
    return np.asarray((_sign(one) * _sign(two) < 0) & (_sign(three) * _sign(four) < 0))


def _sign(area: Array) -> Array:
    return np.asarray(np.where(np.abs(area) < 1e-9, 0.0, np.sign(area)))


def exits(half: Array, unit: Array) -> Array:
    """From the centre of a box to its border along unit vectors."""
    return np.asarray(np.min(half / np.maximum(np.abs(unit), 1e-9), axis=-1))


def shown(room: Array, unit: Array) -> Array:
    """The length that bonds in some directions must show: of its name when it is level, less when it is upright."""
    return np.asarray(np.where(np.abs(unit[..., 1]) > 0.9, room[..., 1], room[..., 0]))


def _meet(low: Array, high: Array, under: Array, over: Array) -> Flags:
    """Which rectangles of a first list meet which of a second."""
    found = np.ones((len(low), len(under)), dtype=bool)
    for k in (0, 1):
        found &= (low[:, None, k] <= over[:, k]) & (high[:, None, k] >= under[:, k])
    return found


class _Around:
    """What one box is weighed against; it does not change while boxes move."""

    def __init__(self, k: int, task: Task) -> None:
        n, pairs = len(task.half), task.pairs
        own = (pairs == k).any(axis=1)
        self.ends = pairs[own].sum(axis=1) - k
        self.room = task.room[own]
        self.others = np.flatnonzero(np.arange(n) != k)
        self.rest = pairs[~own]
        self.away = self.others != self.ends[:, None]
        """By own bond and other box: whether the bond ends elsewhere."""
        self.apart = ~(self.rest[None] == self.ends[:, None, None]).any(axis=2)
        first, second = np.nonzero(~self.apart)
        self.shared = self.ends[first]
        self.place = first
        self.beyond = self.rest[second].sum(axis=1) - self.shared
        self.i, self.j = np.triu_indices(len(self.ends), 1)
        loose = (task.loose == k).any(axis=1) if len(task.loose) else np.zeros(0, dtype=bool)
        self.loose = task.loose[loose].sum(axis=1) - k


class Search:
    """Moves that lower a cost: crossings, bonds that meet boxes, short, long and slanted bonds, sharp angles."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.n = len(task.half)
        self.around = [_Around(k, task) for k in range(self.n)]
        self.upper = np.triu_indices(self.n, 1)
        pairs = task.pairs
        self.i, self.j = np.triu_indices(len(pairs), 1)
        one, two = pairs[self.i], pairs[self.j]
        same = one[:, :, None] == two[:, None, :]
        meet = same.any(axis=(1, 2))
        self.free = np.zeros((len(pairs), len(pairs)), dtype=bool)
        self.free[self.i[~meet], self.j[~meet]] = True
        at = np.argwhere(same)
        self.corner = one[at[:, 0], at[:, 1]]
        self.left = one[at[:, 0], 1 - at[:, 1]]
        self.right = two[at[:, 0], 1 - at[:, 2]]
        self.ends = np.zeros((len(pairs), self.n), dtype=bool)
        self.ends[np.arange(len(pairs)), pairs[:, 0]] = True
        self.ends[np.arange(len(pairs)), pairs[:, 1]] = True

    def refine(self, start: Array, rounds: int) -> Array:
        """The layout after rounds of moves of single boxes."""
        points = np.round(start / PITCH) * PITCH
        for _ in range(rounds):
            moved = False
            for k in range(self.n):
                if not len(self.around[k].ends):
                    continue
                trials = self._trials(points, k)
                costs = np.round(self._cost(points, k, trials), 6)
                best = int(np.argmin(costs))
                if costs[best] < costs[0] - 1e-6:
                    points[k] = trials[best]
                    moved = True
            if not moved:
                break
        return points

    def finish(self, start: Array) -> Array:
        """The layout after moves of whole sides as well, until nothing gets better."""
        points, best = start, self.total(start)
        for _ in range(4 if self.n <= LARGE else 1):
            points = self._slide(points)
            points = self.refine(points, rounds=3)
            cost = self.total(points)
            if cost > best - 1e-6:
                break
            best = cost
        return points

    def _trials(self, points: Array, k: int) -> Array:
        """Places to try: around the present one, beside each neighbour, and at the corners of two of them."""
        near = self.around[k]
        centre, half = points[near.ends], self.task.half[near.ends]
        far = shown(near.room[:, None], WAYS) + exits(half[:, None], WAYS) + exits(self.task.half[k], WAYS)
        beside = (centre[:, None] + far[..., None] * WAYS).reshape(-1, 2)
        corners = np.stack(np.meshgrid(centre[:, 0], centre[:, 1]), axis=-1).reshape(-1, 2)
        lines = np.concatenate(
            [np.column_stack([centre[:, 0], np.full(len(centre), points[k, 1])]),
             np.column_stack([np.full(len(centre), points[k, 0]), centre[:, 1]])]
        )  # fmt: skip
        found = np.concatenate([points[k : k + 1], points[k] + _NUDGES, beside, corners, lines])
        return np.asarray(np.round(found / PITCH) * PITCH)

    def _lengths(self, p: Array, q: Array, half_p: Array, half_q: Array, room: Array) -> Array:
        """What bonds cost by themselves."""
        along = q - p
        length = np.maximum(np.linalg.norm(along, axis=-1), 1e-9)
        unit = along / length[..., None]
        gap = length - exits(half_p, unit) - exits(half_q, unit)
        room = shown(room, unit)
        size = np.abs(along)
        straight = size.min(axis=-1) < 1e-6
        diagonal = np.abs(size[..., 0] - size[..., 1]) < 1e-6
        slant = np.where(straight, 0.0, np.where(diagonal, _DIAGONAL, _SLANT))
        return np.asarray(
            _SHORT * np.maximum(room - gap - 0.5 * PITCH, 0) + _LONG * np.maximum(gap - room - PITCH, 0) + slant
        )

    def _cost(self, points: Array, k: int, trials: Array) -> Array:
        """What the places ``trials`` of box k cost, (m,)."""
        near, half = self.around[k], self.task.half
        q = points[near.ends]
        # Only what is near the places and the own bonds can matter.
        low, high = np.minimum(trials.min(axis=0), q.min(axis=0)), np.maximum(trials.max(axis=0), q.max(axis=0))
        reach = half[near.others] + half[k] + APART
        local = ((points[near.others] + reach > low) & (points[near.others] - reach < high)).all(axis=1)
        known, away = near.others[local], near.away[:, local]
        others = points[known]
        deep = (half[known] + half[k] + APART - np.abs(trials[:, None] - others)).min(axis=2)
        cost = np.where(deep > 1e-9, _HIT + 20 * deep, 0.0).sum(axis=1)
        p = np.broadcast_to(trials[:, None], (len(trials), *q.shape))
        cost += self._lengths(p, q, half[k], half[near.ends], near.room).sum(axis=1)
        met = hits(trials[:, None, None], q[:, None], others, half[known] + ASIDE)
        cost += _HIT * (met & away).sum(axis=(1, 2))
        a, b = points[near.rest[:, 0]], points[near.rest[:, 1]]
        own = half[k] + ASIDE
        local = ((np.maximum(a, b) > low - own) & (np.minimum(a, b) < high + own)).all(axis=1)
        if local.any():
            a, b = a[local], b[local]
            cost += _HIT * hits(a, b, trials[:, None], own).sum(axis=1)
            cost += _CROSS * (crossings(p[:, :, None], q[:, None], a, b) & near.apart[:, local]).sum(axis=(1, 2))
        at = points[near.shared]
        cost += _sharp(trials[:, None] - at, points[near.beyond] - at)
        along = q - trials[:, None]
        cost += _sharp(along[:, near.i], along[:, near.j])
        if len(near.loose):
            far = points[near.loose]
            cost += _PULL * np.linalg.norm(trials[:, None] - far, axis=2).sum(axis=1)
            a, b = points[near.rest[:, 0]], points[near.rest[:, 1]]
            crossed = crossings(trials[:, None, None], far[:, None], a, b)
            cost += _PASSED * (crossed & (near.rest[None] != near.loose[:, None, None]).all(axis=2)).sum(axis=(1, 2))
        return np.asarray(cost)

    def total(self, points: Array) -> float:
        """The cost of a whole layout."""
        task, half, pairs = self.task, self.task.half, self.task.pairs
        i, j = self.upper
        deep = (half[i] + half[j] + APART - np.abs(points[i] - points[j])).min(axis=1)
        cost = float(np.where(deep > 1e-9, _HIT + 20 * deep, 0.0).sum())
        if not len(pairs):
            return cost
        p, q = points[pairs[:, 0]], points[pairs[:, 1]]
        cost += float(self._lengths(p, q, half[pairs[:, 0]], half[pairs[:, 1]], task.room).sum())
        low, high = np.minimum(p, q), np.maximum(p, q)
        e, k = np.nonzero(_meet(low, high, points - half - ASIDE, points + half + ASIDE) & ~self.ends)
        cost += _HIT * float(hits(p[e], q[e], points[k], half[k] + ASIDE).sum())
        e, k = np.nonzero(_meet(low, high, low, high) & self.free)
        cost += _CROSS * float(crossings(p[e], q[e], p[k], q[k]).sum())
        at = points[self.corner]
        cost += float(_sharp((points[self.left] - at)[None], (points[self.right] - at)[None])[0])
        if len(task.loose):
            a, b = points[task.loose[:, 0]], points[task.loose[:, 1]]
            cost += _PULL * float(np.linalg.norm(a - b, axis=1).sum())
            other = (task.loose[:, None, :, None] != pairs[None, :, None, :]).all(axis=(2, 3))
            cost += _PASSED * float((crossings(a[:, None], b[:, None], p, q) & other).sum())
        return cost

    def _slide(self, start: Array) -> Array:
        """All that stands beyond a level or upright line is moved, to close a gap, to open one, or to align."""
        points, best = start.copy(), self.total(start)
        for axis in (0, 1):
            done = 0
            while done < len(levels := np.unique(np.round(points[:, axis], 6))) - 1:
                low, high = levels[done], levels[done + 1]
                beyond = points[:, axis] > (low + high) / 2
                changes = {-(high - low), -PITCH}
                changes |= {-0.5 * (high - low), PITCH, 3 * PITCH} if self.n <= LARGE else set()
                found = best
                for change in sorted(changes, key=lambda c: (abs(c), c)):
                    trial = points.copy()
                    trial[beyond, axis] = np.round((trial[beyond, axis] + change) / PITCH) * PITCH
                    cost = self.total(trial)
                    if cost < best - 1e-6:
                        best, chosen = cost, trial
                if best < found - 1e-6:
                    points = chosen
                else:
                    done += 1
        return points


def _sharp(u: Array, w: Array) -> Array:
    """What small angles between pairs of directions cost, summed over the last axis of pairs."""
    if u.shape[-2] == 0 or w.shape[-2] == 0:
        return np.zeros(len(u))
    dot = (u * w).sum(axis=-1)
    size = np.linalg.norm(u, axis=-1) * np.linalg.norm(w, axis=-1)
    angle = np.arccos(np.clip(dot / np.maximum(size, 1e-9), -1, 1))
    return np.asarray(np.where(angle < _ANGLE, _SHARP * (1.3 - angle / _ANGLE), 0.0).sum(axis=-1))
