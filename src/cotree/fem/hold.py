"""Held degrees of freedom: which coordinates stay free, which rigid motions are left, how to name a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cotree.errors import ModelError, listing, nearest
from cotree.fem.eigen import anchors
from cotree.fem.element import DEGREES, Array, Integers

MOVES = ("x", "y", "z", "rx", "ry", "rz")
"""Names of the degrees of freedom of a node."""
Which = str | Sequence[str] | Sequence[int] | None
"""Some of a node's degrees of freedom: "x y rz", ("x", "rz"), (0, 5), or None for all six."""


def moves(which: Which) -> list[int]:
    """Numbers 0 to 5 of the degrees of freedom of a node."""
    if which is None:
        return list(range(DEGREES))
    found = []
    for each in which.split() if isinstance(which, str) else which:
        if isinstance(each, str) and each in MOVES:
            found.append(MOVES.index(each))
        elif not isinstance(each, str) and 0 <= each < DEGREES:
            found.append(int(each))
        else:
            raise ModelError(
                f"a node has no degree of freedom {each!r}",
                expected=f"some of {listing(MOVES)}, or numbers 0 to 5",
                remedy=nearest(str(each), MOVES),
            )
    return found


@dataclass(frozen=True)
class Held:
    """The independent coordinates v = basis @ w + given @ values, with w free and values at the held degrees."""

    degrees: Integers
    """(h,) numbers of the held degrees of freedom."""
    basis: Any
    """(m, f) sparse."""
    given: Any
    """(m, h) sparse."""
    free: Integers
    """(f,) which of v are the coordinates w."""
    idle: Integers
    """Which of v have neither stiffness nor mass: they are left out."""
    simple: bool
    """Whether every condition holds a single coordinate, so that the basis only selects."""

    def matrix(self, tied: Any) -> Any:
        """A matrix over v, seen by w."""
        return tied[self.free][:, self.free] if self.simple else (self.basis.T @ tied @ self.basis).tocsr()


def hold(degrees: Integers, rows: Any, transform: Any, independent: Integers, idle: Integers) -> Held:
    """Take out held degrees of freedom, and one coordinate for each further condition rows @ u = 0.

    A held degree of a tied node is a condition on its master. Conditions are solved for as many coordinates as they
    are, chosen by pivots, which then follow the others.
    """
    from scipy.sparse import csr_array, eye_array, vstack

    count = len(independent)
    position = np.full(transform.shape[0], -1, dtype=np.int64)
    position[independent] = np.arange(count)
    plain = position[degrees] >= 0
    stay = np.ones(count, dtype=bool)
    stay[position[degrees[plain]]] = False
    stay[idle] = False
    given = csr_array(
        (np.ones(plain.sum()), (position[degrees[plain]], np.flatnonzero(plain))), shape=(count, len(degrees))
    )
    conditions = [transform[degrees[~plain]]]
    if rows is not None:
        conditions.append(csr_array(np.atleast_2d(rows) if isinstance(rows, np.ndarray) else rows) @ transform)
    left = vstack(conditions).tocsr()
    if not left.shape[0]:
        free = np.flatnonzero(stay)
        return Held(degrees, eye_array(count, format="csr")[:, free], given, free, idle, True)
    right = np.zeros((left.shape[0], len(degrees)))
    right[np.arange((~plain).sum()), np.flatnonzero(~plain)] = 1.0
    right -= left @ given.toarray()
    return _eliminated(degrees, left, right, given, stay, idle)


def _eliminated(degrees: Integers, left: Any, right: Array, given: Any, stay: Any, idle: Integers) -> Held:
    """Solve left @ v = right @ values for some of the coordinates that stay."""
    from scipy.linalg import qr, solve_triangular
    from scipy.sparse import csr_array, eye_array

    touched = np.unique(left.tocoo().coords[1])
    touched = touched[stay[touched]]
    q, r, order = qr(left[:, touched].toarray(), mode="economic", pivoting=True)
    size = np.abs(np.diag(r))
    rank = int(np.count_nonzero(size > 1e-10 * max(1e-300, float(np.abs(left).max()))))
    right = q.T @ right
    pivots, others = touched[order[:rank]], touched[order[rank:]]
    follow = -solve_triangular(r[:rank, :rank], r[:rank, rank:])
    fixed = solve_triangular(r[:rank, :rank], right[:rank])
    stay = stay.copy()
    stay[pivots] = False
    free = np.flatnonzero(stay)
    column = np.full(len(stay), -1, dtype=np.int64)
    column[free] = np.arange(len(free))
    one = eye_array(len(stay), format="csr")[:, free]
    pairs = (np.repeat(pivots, len(others)), np.tile(column[others], rank))
    basis = one + csr_array((follow.ravel(), pairs), shape=one.shape)
    more = (np.repeat(pivots, len(degrees)), np.tile(np.arange(len(degrees)), rank))
    return Held(degrees, basis.tocsr(), given + csr_array((fixed.ravel(), more), shape=given.shape), free, idle, False)


def left_rigid(held: Held, rigid: Array, conditions: Array, stiffness: Any) -> Array:
    """(f, r) rigid motions of w: those of ``rigid``, (m, 6), that conditions, (c, 6), allow and that strain nothing."""
    motions = rigid[held.free]
    if len(conditions):
        _, size, axes = np.linalg.svd(conditions, full_matrices=True)
        rank = int(np.count_nonzero(size > 1e-9 * max(float(size.max(initial=0.0)), 1e-300)))
        allowed = axes[rank:].T
        if allowed.shape[1]:
            allowed = allowed @ np.linalg.inv(allowed[np.sort(anchors(allowed))])  # along the axes as far as can be
        motions = motions @ allowed
    _, size, axes = np.linalg.svd(np.linalg.qr(motions, mode="r"))
    real = size > 1e-9 * max(1.0, float(size.max(initial=0.0)))  # the motions are of size 1
    if not real.all():  # nodes without rotations at one place: turning moves nothing
        motions = motions @ axes[: int(real.sum())].T
    energy = motions.T @ (stiffness @ motions)
    each = float(np.einsum("ij,i,ij->", motions, stiffness.diagonal(), motions))
    cost, mix = np.linalg.eigh((energy + energy.T) / 2)
    strained = cost > 1e-11 * each
    return motions @ mix[:, ~strained] if strained.any() else motions


def mechanism(
    motion: Array, stiffness: Any, transform: Any, label: Callable[[int], str], places: Array | None = None
) -> ModelError:
    """The error for a motion (6 N,) that nothing resists: parts that nothing connects, or pieces that a hinge joins."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(motion) // DEGREES
    entries = (abs(stiffness) + abs(transform) @ abs(transform).T).tocoo()
    pairs = (entries.coords[0] // DEGREES, entries.coords[1] // DEGREES)
    graph = coo_array((np.ones(entries.nnz), pairs), shape=(count, count)).tocsr()
    parts, part = connected_components(graph, directed=False)
    if parts > 1:
        return _in_parts(part, parts, label)
    located = places is not None
    places = np.zeros((count, 3)) if places is None else places
    # Every node says how a rigid piece that it belongs to would move; at a hinge neighbours disagree.
    by_node = motion.reshape(-1, DEGREES)
    turn = by_node[:, 3:]
    length = float(np.linalg.norm(np.ptp(places, axis=0))) or 1.0
    piece = np.hstack([(by_node[:, :3] - np.cross(turn, places - places[0])) / length, turn])
    piece = piece / np.abs(piece).max()
    _, kind, often = np.unique(np.round(piece, 2), axis=0, return_inverse=True, return_counts=True)
    most = piece[kind.ravel() == int(np.argmax(often))].mean(axis=0)
    if np.abs(piece).max(axis=1).min() < 0.01:  # the others move against what is held
        most = np.zeros(DEGREES)
    away = np.abs(piece - most).max(axis=1) > 0.02
    where = int(np.argmax(np.abs(piece - most).max(axis=1)))
    move = int(np.argmax(np.abs(piece[where, 3:] - most[3:]))) + 3
    if np.abs(piece[where, move] - most[move]) < 0.02:
        move = int(np.argmax(np.abs(piece[where, :3] - most[:3])))
    rows = np.repeat(np.arange(count), np.diff(graph.indptr))
    apart = np.abs(piece[rows] - piece[graph.indices]).max(axis=1) > 0.02
    joint = sorted({int(n) for n in rows[apart]})
    if located and count > 1 and (not joint or len(joint) > max(20, count // 4)):  # no hinge: all bends a little
        return ModelError(
            f"the stiffness is too uneven for double precision: {label(where)} can {_WAYS[move]} with next to no "
            "resistance, while neighbouring nodes hold each other fast",
            expected="motions that resist at least 3e-15 times as much as single nodes",
            remedy="divide the mesh less finely, or look for a mechanism",
        )
    text = f"{listing([label(int(n)) for n in np.flatnonzero(away)], 5)} can {_WAYS[move]} without resistance"
    between = (
        f"; the pieces meet at {listing([label(n) for n in joint], 5)}" if joint and located and away.sum() > 1 else ""
    )
    return ModelError(
        f"part of the structure is a mechanism: {text}{between}",
        expected="elements that hold every node in all six degrees of freedom",
        remedy="look for a hinge or a missing element there, or hold what may move",
    )


_WAYS = tuple(f"{'turn about' if move.startswith('r') else 'move along'} {move[-1]}" for move in MOVES)


def _in_parts(part: Integers, parts: int, label: Callable[[int], str]) -> ModelError:
    by_size = np.argsort(-np.bincount(part), kind="stable")
    texts = [listing([label(int(n)) for n in np.flatnonzero(part == k)], 5) for k in by_size[1:4]]
    more = f", and {parts - 4} more" if parts > 4 else ""
    return ModelError(
        f"the structure is in {parts} parts that no element connects; beside the largest: {'; '.join(texts)}{more}",
        expected="one connected structure, or supports that hold every part",
        remedy="merge nodes that lie on one another, or tie the parts",
    )


def rigid_left(motions: Array, degrees: Integers) -> str:
    """What a structure can still do: ``move along x, turn about z``, from its rigid motions over some degrees."""
    kinds = []
    for motion in motions.T:
        turns = np.abs(motion[degrees % DEGREES >= 3])
        size = np.bincount(degrees % DEGREES, np.abs(motion), DEGREES)
        turning = turns.max(initial=0.0) > 1e-9 * np.abs(motion).max()
        kinds.append(_WAYS[3 + int(np.argmax(size[3:])) if turning else int(np.argmax(size[:3]))])
    return ", ".join(dict.fromkeys(kinds))
