"""Buckling: what a body carries, as a part of the first load that bends it aside (the first critical load).

With the stiffness K and the geometric stiffness G of all that acts on it, a body has a second shape in balance where
``(K + G / share) u = 0``. The share is the largest eigenvalue of ``-G u = share K u``; above 1 the straight shape is
not stable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cotree.fem.element import Array
from cotree.fem.internal import Internal, Loads
from cotree.fem.reference import Reference
from cotree.fem.space import Space

DENSE = 300
"""Up to so many degrees of freedom a mesh without ties is solved by dense matrices."""
STEPS = 40
"""Steps of Lanczos' method for others."""
NOISE = 1e-12
RIGID = 1e-13
"""Stiffness over the largest below which a motion counts as rigid."""
FAR_BELOW_NODE, FAR_BELOW = 0.5, 0.15
"""Shares of the critical load, by the shapes of a body held at a node or otherwise, below which there is no doubt."""


class Critical(NamedTuple):
    """A load beside the first critical one."""

    share: float
    """The load over the first critical one; 0 where no such load buckles the body."""
    omega: float
    """The natural frequency in rad/s of the shape into which it buckles, without load."""


NEVER = Critical(0.0, np.inf)


def critical(body: Internal, loads: Loads, rows: Any, still: Sequence[int] = ()) -> Critical:
    """The load, one of `Loads`, beside the first critical load of a body whose motions ``rows @ u`` are held.

    ``still`` are further degrees of freedom that are held. Where the rows leave rigid motions, the body is held at its
    reference, too. A body that floats freely has no such load here.
    """
    held = (*body.held, *still)
    small = _dense(body, loads, rows, held) if body.structure.size <= DENSE and not body.structure.ties else None
    if small is not None:
        return small
    space = Space(body.structure, Reference.mean(), held=held, rows=rows)
    if space.floats:
        space = Space(body.structure, body.reference, held=held, rows=rows)
    if space.floats or not space.count:
        return NEVER
    geometric = _geometric(body, loads)
    return NEVER if geometric is None else _lanczos(space, space.spread.T @ (geometric @ space.spread))


def shares_of_shapes(body: Internal, loads: Loads) -> Array:
    """(T,) loads over the first critical one, by the shapes of the body's coordinates alone; infinite without any.

    They are held at the body's reference: a node holds less than what holds the body in a machine, other references may
    hold more.
    """
    from scipy.linalg import eigh

    shapes = body.shapes
    if not shapes.shape[1]:
        return np.full(len(loads), np.inf)
    n, straight = shapes.shape[1], body.straight(loads)
    geometric = np.zeros((len(loads), n, n))
    for part, _, family, matrices in body.geometric(straight, body.first(straight)):
        own = shapes[family.degrees]
        geometric[part] += own.reshape(-1, n).T @ (matrices @ own).reshape(len(matrices), -1, n)
    bound = (geometric + geometric.transpose(0, 2, 1)) / -2
    return np.array([eigh(each, body.stiffness, eigvals_only=True)[-1] for each in bound])


def far_below(body: Internal) -> float:
    """What `shares_of_shapes` of a body may be without any doubt."""
    return FAR_BELOW_NODE if body.reference.kind == "node" else FAR_BELOW


def _dense(body: Internal, loads: Loads, rows: Any, held: Sequence[int]) -> Critical | None:
    """The same for a small mesh, by dense matrices; None where the rows leave rigid motions."""
    from scipy.linalg import LinAlgError, eigh, null_space

    structure, geometric = body.structure, _geometric(body, loads)
    if geometric is None:
        return NEVER
    idle = structure.stiffness.diagonal() == 0
    numbers = np.union1d(np.asarray(held, dtype=np.int64), np.flatnonzero(idle))
    free = null_space(np.vstack([rows.toarray(), np.eye(structure.size)[numbers]]))
    K, G, M = (free.T @ (each @ free) for each in (structure.stiffness, geometric, structure.mass))
    stiff = np.linalg.eigvalsh(K)
    if not len(stiff) or stiff[0] <= RIGID * stiff[-1]:
        return None
    try:
        values, shapes = eigh(-(G + G.T) / 2, K, subset_by_index=[len(K) - 1, len(K) - 1])
    except LinAlgError:
        return None
    return _critical(float(values[0]), shapes[:, 0], K, M)


def _geometric(body: Internal, loads: Loads) -> Any:
    """(6 N, 6 N) sparse geometric stiffness under one load; None where no element has one."""
    from scipy.sparse import coo_array

    total, size, straight = None, body.structure.size, body.straight(loads)
    for _, _, family, matrices in body.geometric(straight, body.first(straight)):
        width = matrices.shape[2]
        row = np.repeat(family.degrees, width, axis=1).ravel()
        column = np.tile(family.degrees, (1, width)).ravel()
        part = coo_array((matrices.ravel(), (row, column)), shape=(size, size)).tocsr()
        total = part if total is None else total + part
    return total


def _critical(share: float, shape: Array, stiffness: Any, mass: Any) -> Critical:
    """A share with the frequency of its shape."""
    inertia = float(shape @ (mass @ shape))
    omega = np.sqrt(float(shape @ (stiffness @ shape)) / inertia) if inertia > 0 else np.inf
    return Critical(share, omega) if share > 0 else NEVER


def _lanczos(space: Space, geometric: Any) -> Critical:
    """The same for other meshes, by Lanczos' method in the inner product of K: never too large, close where it counts.

    A load that buckles has an eigenvalue that stands out, so a few steps find it.
    """
    from scipy.linalg import eigh_tridiagonal

    matrix = space.stiffness
    vector = np.random.default_rng(0).standard_normal(space.count)
    basis, images = [vector / np.sqrt(vector @ (matrix @ vector))], list[Array]()
    diagonal, beside = list[float](), list[float]()
    while True:
        images.append(np.asarray(matrix @ basis[-1]))
        new = space.solve(-(geometric @ basis[-1]))
        diagonal.append(float(images[-1] @ new))
        for _ in range(2):  # once more, as rounding spoils the first time
            new = new - np.array(basis).T @ (np.array(images) @ new)
        length = float(np.sqrt(max(new @ (matrix @ new), 0.0)))
        if len(basis) == STEPS or length <= NOISE * max(map(abs, diagonal)):
            break
        beside.append(length)
        basis.append(new / length)
    values, shapes = eigh_tridiagonal(diagonal, beside)
    return _critical(float(values[-1]), np.array(basis).T @ shapes[:, -1], matrix, space.mass)
