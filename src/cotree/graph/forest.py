"""Index arithmetic on spanning forests: merging, loops, and paths cut into a few contiguous runs.

Everything here works on places (integers), not on names.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int32]
SignArray = npt.NDArray[np.int8]


class DisjointSets:
    """Union-find with path halving: which nodes are already joined."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def find(self, k: int) -> int:
        """The representative of the set that holds ``k``."""
        parent = self._parent
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    def join(self, a: int, b: int) -> bool:
        """Merge two sets; False where they were one already, so that an edge from a to b would close a loop."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        self._parent[max(a, b)] = min(a, b)
        return True


def path_of_edges(tail: IntArray, head: IntArray, edges: Iterable[int], start: int, end: int) -> list[int]:
    """Edges of a shortest path from ``start`` to ``end`` within some edges; empty where start is end or none exists."""
    near: dict[int, list[tuple[int, int]]] = {}
    for k in edges:
        t, h = int(tail[k]), int(head[k])
        near.setdefault(t, []).append((k, h))
        near.setdefault(h, []).append((k, t))
    came: dict[int, tuple[int, int]] = {start: (-1, -1)}
    queue = deque([start])
    while queue and end not in came:
        node = queue.popleft()
        for k, other in near.get(node, ()):
            if other not in came:
                came[other] = (k, node)
                queue.append(other)
    path: list[int] = []
    while end in came and end != start:
        k, end = came[end]
        path.append(k)
    return path[::-1]


@dataclass(frozen=True, slots=True, eq=False)
class RootedForest:
    """A spanning forest seen from its roots, cut into heavy paths.

    ``parent`` (a root is its own parent), ``depth``, ``branch`` (place of the edge to the parent, -1 at a root) and
    ``up`` (+1 if that edge points to the parent, -1 if it points away) are indexed by node. ``position`` numbers the
    nodes in depth-first order, the largest subtree first, so a subtree is ``position .. position + size`` and any path
    to a root is a few runs of consecutive positions, at most log2(v) of them: paths of any length are then written
    without a step for each edge.
    """

    parent: IntArray
    depth: IntArray
    branch: IntArray
    up: SignArray
    top: IntArray
    position: IntArray
    node_at: IntArray
    size: IntArray

    def climb(self, a: IntArray, b: IntArray) -> tuple[IntArray, IntArray, IntArray, SignArray, IntArray]:
        """Runs of the tree paths between the nodes ``a[i]`` and ``b[i]``, for all i at once.

        Returns ``(pair, first, count, side, meet)``: the pair that each run belongs to, its first position, its
        length, +1 on the side of a and -1 on the side of b; and for each pair the node where the two sides meet.
        """
        a, b = a.copy(), b.copy()
        meet = np.empty_like(a)
        active = np.arange(len(a), dtype=np.int32)
        runs: list[tuple[Any, Any, Any, Any]] = []
        while len(active):
            x, y = a[active], b[active]
            top_x, top_y = self.top[x], self.top[y]
            done = top_x == top_y
            self._finish(active[done], x[done], y[done], meet, runs)
            active, x, y, top_x, top_y = (arr[~done] for arr in (active, x, y, top_x, top_y))
            x_moves = self.depth[top_x] >= self.depth[top_y]
            mover, top = np.where(x_moves, x, y), np.where(x_moves, top_x, top_y)
            first = self.position[top]
            runs.append((active, first, self.position[mover] - first + 1, np.where(x_moves, 1, -1)))
            a[active] = np.where(x_moves, self.parent[top], x)
            b[active] = np.where(x_moves, y, self.parent[top])
        pair, first, count, side = (np.concatenate([r[k] for r in runs] or [[]]) for k in range(4))
        order = np.argsort(pair, kind="stable")
        return (
            pair[order].astype(np.int32),
            first[order].astype(np.int32),
            count[order].astype(np.int32),
            side[order].astype(np.int8),
            meet,
        )

    def _finish(self, pair: Any, x: Any, y: Any, meet: Any, runs: list[tuple[Any, Any, Any, Any]]) -> None:
        """Both ends are on one heavy path: the last run lies between them, the upper end is where they meet."""
        x_lower = self.depth[x] > self.depth[y]
        upper, lower = np.where(x_lower, y, x), np.where(x_lower, x, y)
        meet[pair] = upper
        first = self.position[upper] + 1
        count = self.position[lower] - first + 1
        some = count > 0
        runs.append((pair[some], first[some], count[some], np.where(x_lower, 1, -1)[some]))


def root_forest(tail: IntArray, head: IntArray, branches: IntArray, roots: IntArray, v: int) -> RootedForest:
    """Root a spanning forest given by the places of its branches; every node must be reachable from a root."""
    order, before = _breadth_first(tail[branches], head[branches], roots, v)
    parent = np.array(before, dtype=np.int32)
    points_to_child = parent[head[branches]] == tail[branches]
    # Both tests hold for no branch: a tree has no parallel edges, and only a root is its own parent.
    child = np.where(points_to_child, head[branches], tail[branches])
    branch = np.full(v, -1, dtype=np.int32)
    branch[child] = branches
    up = np.zeros(v, dtype=np.int8)
    up[child] = np.where(points_to_child, -1, 1)
    depth, top, position, size = _heavy_paths(order, parent.tolist(), v)
    node_at = np.empty(v, dtype=np.int32)
    node_at[position] = np.arange(v)
    return RootedForest(parent, depth, branch, up, top, position, node_at, size)


def _breadth_first(tail: IntArray, head: IntArray, roots: IntArray, v: int) -> tuple[list[int], list[int]]:
    """Breadth-first order from the roots, and the node before each; a root is before itself."""
    near: list[list[int]] = [[] for _ in range(v)]
    for t, h in zip(tail.tolist(), head.tolist(), strict=True):
        near[t].append(h)
        near[h].append(t)
    order = roots.tolist()
    before = [-1] * v
    for root in order:
        before[root] = root
    for node in order:  # grows while it is read
        for other in near[node]:
            if before[other] < 0:
                before[other] = node
                order.append(other)
    return order, before


def _heavy_paths(order: Sequence[int], parent: Sequence[int], v: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Depth, top of the heavy path, depth-first position and subtree size of each node."""
    size, heavy = [1] * v, [-1] * v
    for n in reversed(order):
        p = parent[n]
        if p != n:
            size[p] += size[n]
            if heavy[p] < 0 or size[n] >= size[heavy[p]]:
                heavy[p] = n
    depth, top, position, free = [0] * v, list(range(v)), [0] * v, [0] * v
    next_root = 0
    for n in order:
        p = parent[n]
        if p == n:
            position[n], next_root = next_root, next_root + size[n]
        elif heavy[p] == n:
            depth[n], top[n], position[n] = depth[p] + 1, top[p], position[p] + 1
        else:
            depth[n], position[n] = depth[p] + 1, free[p]
            free[p] += size[n]
        free[n] = position[n] + 1 + (size[heavy[n]] if heavy[n] >= 0 else 0)
    return tuple(np.array(a, dtype=np.int32) for a in (depth, top, position, size))  # type: ignore[return-value]
