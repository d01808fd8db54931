"""Ways of bonds that cannot be straight: the cheapest path on a grid around symbols, with few bends and crossings."""

from __future__ import annotations

import heapq
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEP = 0.1
_MARGIN = 0.9
_ROUND, _NEAR = 0.11, 0.09
"""Distance that a way keeps from symbols and from other bonds."""
_BLOCKED, _CROSSED = 60.0, 2.5
_BENDS = (0.0, 0.35, 0.5, 4.0, 8.0)
"""What a turn by 0, 45, 90, 135, 180 degrees costs, in inches."""
_REACH = 0.45
"""How far a bond from a symbol to itself goes."""
_LATE = 3.0
"""What a turn next to a symbol costs, where an arrow head must fit."""
_WAYS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))


class Router:
    """The boxes of all symbols and the lines that are drawn already."""

    def __init__(self, centre: Array, half: Array) -> None:
        self.centre, self.half = centre, half
        self.low = (centre - half).min(axis=0) - _MARGIN
        high = (centre + half).max(axis=0) + _MARGIN
        # The grid goes through the first symbol; the others stand on multiples of it.
        self.low = centre[0] - np.ceil((centre[0] - self.low) / STEP) * STEP
        self.shape = tuple(int(n) for n in np.ceil((high - self.low) / STEP) + 1)
        x, y = (self.low[k] + STEP * np.arange(self.shape[k]) for k in (0, 1))
        self.grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
        self.lines = np.zeros(self.shape)

    def add(self, points: Array) -> None:
        """Keep away from a line from now on."""
        for p, q in pairwise(points):
            along = q - p
            first = np.maximum(np.floor((np.minimum(p, q) - self.low) / STEP).astype(int) - 2, 0)
            last = np.ceil((np.maximum(p, q) - self.low) / STEP).astype(int) + 3
            window = (slice(int(first[0]), int(last[0])), slice(int(first[1]), int(last[1])))
            away = self.grid[window] - p
            share = np.clip(away @ along / max(float(along @ along), 1e-12), 0, 1)
            off = np.linalg.norm(away - share[..., None] * along, axis=-1)
            self.lines[window] += _CROSSED * (off < _NEAR)

    def find(self, tail: int, head: int) -> Array:
        """The corners of a way from centre to centre."""
        if tail == head:
            return self._loop(tail)
        cost = self.lines.copy()
        for k, (centre, half) in enumerate(zip(self.centre, self.half, strict=True)):
            if k not in (tail, head):
                cost += _BLOCKED * (np.abs(self.grid - centre) < half + _ROUND).all(axis=-1)
        late = np.zeros(self.shape, dtype=bool)
        for k in (tail, head):
            inside = (np.abs(self.grid - self.centre[k]) <= self.half[k]).all(axis=-1)
            cost[inside] = 0.0
            late |= (np.abs(self.grid - self.centre[k]) < self.half[k] + 0.25).all(axis=-1) & ~inside
        cells = self._cheapest(self._cell(tail), self._cell(head), cost, late)
        points = [self.grid[cell] for cell in cells]
        points[0], points[-1] = self._onto(tail, points[0]), self._onto(head, points[-1])
        return _corners(np.array(points))

    def _cell(self, k: int) -> tuple[int, int]:
        i, j = np.round((self.centre[k] - self.low) / STEP).astype(int).tolist()
        return i, j

    def _onto(self, k: int, end: Array) -> Array:
        """The centre where it is on the grid; a way to a symbol off the grid ends in the cell beside it."""
        return self.centre[k] if np.allclose(end, self.centre[k], atol=1e-6) else end

    def _cheapest(
        self, start: tuple[int, int], goal: tuple[int, int], cost: Array, late: NDArray[np.bool_]
    ) -> list[tuple[int, int]]:
        width, height = self.shape
        best: dict[tuple[int, int, int], float] = {}
        came: dict[tuple[int, int, int], tuple[int, int, int]] = {}
        price, slow = cost.tolist(), late.tolist()
        queue: list[tuple[float, float, tuple[int, int, int]]] = []
        for way in range(8):
            state = (*start, way)
            best[state] = 0.0
            heapq.heappush(queue, (0.0, 0.0, state))
        while queue:
            _, spent, state = heapq.heappop(queue)
            if spent > best[state] + 1e-12:
                continue
            i, j, way = state
            if (i, j) == goal:
                path = [state]
                while path[-1] in came:
                    path.append(came[path[-1]])
                return [(a, b) for a, b, _ in reversed(path)]
            for turn in (0, 1, 2, 6, 7):
                new = (way + turn) % 8
                di, dj = _WAYS[new]
                a, b = i + di, j + dj
                if not (0 <= a < width and 0 <= b < height):
                    continue
                length = STEP * (1.4142135623730951 if di and dj else 1.0)
                bend = _BENDS[min(turn, 8 - turn)]
                slant = 0.3 * length if di and dj else 0.0
                total = spent + length + slant + bend + price[a][b] + (_LATE if turn and slow[i][j] else 0.0)
                after = (a, b, new)
                if total < best.get(after, np.inf) - 1e-12:
                    best[after] = total
                    came[after] = state
                    rest = STEP * max(abs(a - goal[0]), abs(b - goal[1]))
                    heapq.heappush(queue, (total + rest, total, after))
        return [start, goal]

    def _loop(self, k: int) -> Array:
        """A way from a symbol back to itself: out and back in two directions where there is the most room."""
        cost = self.lines.copy()
        for i, (centre, half) in enumerate(zip(self.centre, self.half, strict=True)):
            if i != k:
                cost += _BLOCKED * (np.abs(self.grid - centre) < half + _ROUND).all(axis=-1)
        middle, reach = self.centre[k], self.half[k] + _REACH
        options: list[tuple[float, int, Array]] = []
        for first in range(8):
            for turn in (2, 1):
                corners = [middle + reach * np.array(_WAYS[way % 8]) for way in (first, first + turn)]
                if turn == 2 and first % 2 == 0:
                    corners.insert(1, middle + reach * np.array(_WAYS[first + 1]))
                way = np.array([middle, *corners, middle])
                options.append((self._passed(way, cost), len(options), way))
        return min(options, key=lambda option: option[:2])[2]

    def _passed(self, way: Array, cost: Array) -> float:
        """What a way costs, read off the grid."""
        points = np.concatenate([p + np.linspace(0, 1, 12)[:, None] * (q - p) for p, q in pairwise(way)])
        cells = np.clip(np.round((points - self.low) / STEP).astype(int), 0, np.array(self.shape) - 1)
        return float(cost[cells[:, 0], cells[:, 1]].sum())


def _corners(points: Array) -> Array:
    """Only the ends and the places where a way turns."""
    kept = [points[0]]
    for before, at, after in zip(points, points[1:], points[2:], strict=False):
        u, v = at - before, after - at
        if abs(u[0] * v[1] - u[1] * v[0]) > 1e-9:
            kept.append(at)
    return np.array([*kept, points[-1]])
