"""Factors of a sparse stiffness, ordered by nested dissection; a mechanism is found and reported.

George 1973, Nested dissection of a regular finite element mesh: the nodes are halved across their longest extent, the
nodes of one half that touch the other are put last, and so on. On surfaces this fills several times less than minimum
degree, and takes no time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cotree.errors import ModelError
from cotree.fem.element import Array, Integers

_SMALL = 2000  # coordinates up to which minimum degree is as good
_LEAF = 40  # nodes that are not halved again
_SINGULAR = 3e-15  # energy of a motion over that of its degrees one by one: below it rounding spoils per cents
_SYMMETRIC = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


class Factor:
    """LU factors of a symmetric positive definite stiffness.

    ``nodes``, (f,), says to which node a coordinate belongs, and ``places``, (N, 3), where the nodes are; without them
    the order is that of minimum degree. ``complain`` makes the error for a motion, (f,), that nothing resists.
    """

    def __init__(
        self,
        matrix: Any,
        complain: Callable[[Array], ModelError],
        nodes: Integers | None = None,
        places: Array | None = None,
    ) -> None:
        self.size = matrix.shape[0]
        self._order: Integers | None = None
        self._lu: Any = None
        if not self.size:
            return
        diagonal = matrix.diagonal()
        if diagonal.min() <= 0:
            motion = np.zeros(self.size)
            motion[int(np.argmin(diagonal))] = 1.0
            raise complain(motion)
        if self.size > _SMALL and nodes is not None and places is not None:
            self._order = dissected(matrix, nodes, places)
        singular = False
        try:
            self._lu = self._factors(matrix)
        except RuntimeError:  # exactly singular
            singular = True
            self._lu = self._factors(matrix + _shift(diagonal))
        # Inverse iteration sees a motion without resistance, if the factors did not: two steps, more where in doubt.
        motion = _softest(diagonal, self.solve, 2)
        if singular or _cost(matrix, diagonal, motion) < 1e3 * _SINGULAR:
            motion = _softest(diagonal, self.solve, 6)
        if singular or not _cost(matrix, diagonal, motion) > _SINGULAR:
            raise complain(motion)

    def _factors(self, matrix: Any) -> Any:
        from scipy.sparse.linalg import splu

        if self._order is None:
            return splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", **_SYMMETRIC)
        return splu(matrix.tocsr()[self._order][:, self._order].tocsc(), permc_spec="NATURAL", **_SYMMETRIC)

    def solve(self, right: Array) -> Array:
        """The displacements under loads, (f,) or (f, m)."""
        if not self.size:
            return np.zeros_like(right)
        if self._order is None:
            return np.asarray(self._lu.solve(np.ascontiguousarray(right, dtype=float)))
        found = np.empty(np.shape(right))
        found[self._order] = self._lu.solve(np.ascontiguousarray(right[self._order], dtype=float))
        return found


def dissected(matrix: Any, nodes: Integers, places: Array) -> Integers:
    """An order of the coordinates, (f,), that keeps factors sparse; coordinates of a node stay together."""
    from scipy.sparse import coo_array

    count = len(places)
    entries = matrix.tocoo()
    row, column = nodes[entries.coords[0]], nodes[entries.coords[1]]
    graph = coo_array((np.ones(len(row)), (row, column)), shape=(count, count)).tocsr()
    start, touching = graph.indptr, graph.indices
    present = np.unique(nodes)
    many = np.diff(start)[present] > 20 + 4 * np.median(np.diff(start)[present])  # masters of large ties come last
    order = [present[many]]
    todo = [present[~many]]
    upper = np.zeros(count)
    while todo:
        part = todo.pop()
        if len(part) <= _LEAF:
            order.append(part)
            continue
        place = places[part]
        by = np.argsort(place[:, int(np.argmax(np.ptp(place, axis=0)))], kind="stable")
        low, high = part[by[: len(part) // 2]], part[by[len(part) // 2 :]]
        upper[high] = 1.0
        each = start[low + 1] - start[low]
        owner = np.repeat(np.arange(len(low)), each)
        entry = np.arange(len(owner)) + np.repeat(start[low] - np.cumsum(each) + each, each)
        between = np.bincount(owner, upper[touching[entry]], len(low)) > 0
        upper[high] = 0.0
        order.append(low[between])
        todo += [low[~between], high]
    rank = np.empty(count, dtype=np.int64)
    rank[np.concatenate(order[::-1])] = np.arange(len(present))
    return np.argsort(rank[nodes], kind="stable")


def _cost(matrix: Any, diagonal: Array, motion: Array) -> float:
    """Energy of a motion over the energy of its degrees of freedom one by one."""
    return float(motion @ (matrix @ motion)) / float(motion @ (diagonal * motion))


def _shift(diagonal: Array) -> Any:
    """A little to add to a singular matrix."""
    from scipy.sparse import diags_array

    return 1e-13 * diags_array(diagonal)


def _softest(diagonal: Array, solve: Callable[[Array], Array], steps: int) -> Array:
    """The motion of least energy, by inverse iteration from a fixed start."""
    motion: Array = np.random.default_rng(7).standard_normal(len(diagonal)) / np.sqrt(diagonal)
    for _ in range(steps):
        motion = solve(diagonal * motion)
        motion = motion / np.abs(motion).max()
    return motion
