"""Small meshes and a plain assembler for the tests of shell elements, independent of the structure's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csc_matrix
from scipy.sparse.linalg import splu

from cotree.fem.element import Elements
from cotree.fem.material import Material
from cotree.fem.plate import Plate

Array = NDArray[np.float64]
X, Y, Z, RX, RY, RZ = range(6)


def plain(thickness: float = 0.1, young: float = 1.0, poisson: float = 0.3, density: float = 1.0) -> Plate:
    """An isotropic plate by its numbers."""
    return Plate(thickness, Material(young, density, poisson=poisson))


def grid(width: float, height: float, across: int, up: int, *, rising: bool = True) -> tuple[Array, NDArray[np.int64]]:
    """Nodes and triangles of a rectangle in the xy plane; diagonals rise to the right, or fall."""
    x, y = np.meshgrid(np.linspace(0, width, across + 1), np.linspace(0, height, up + 1))
    places = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    a = (np.arange(up)[:, None] * (across + 1) + np.arange(across)).ravel()
    b, c, d = a + 1, a + across + 2, a + across + 1
    cut = [[a, b, c], [a, c, d]] if rising else [[a, b, d], [b, c, d]]
    return places, np.concatenate([np.stack(corners, axis=1) for corners in cut])


def distorted(seed: int = 3) -> tuple[Array, NDArray[np.int64]]:
    """A unit square of 3 x 3 cells with its inner nodes moved at random by up to a quarter of a cell."""
    places, triangles = grid(1.0, 1.0, 3, 3)
    inner = np.all((places[:, :2] > 0.01) & (places[:, :2] < 0.99), axis=1)
    places[inner, :2] += np.random.default_rng(seed).uniform(-0.08, 0.08, (int(inner.sum()), 2))
    return places, triangles


def turned(seed: int) -> Array:
    """A rotation matrix at random; its columns are the turned axes."""
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.sign(np.linalg.det(q))


def assembled(count: int, family: Elements, matrices: Array) -> csc_matrix:
    """The sum of element matrices over the degrees of freedom of ``count`` nodes."""
    width = family.degrees.shape[1]
    rows = np.repeat(family.degrees, width, axis=1).ravel()
    columns = np.tile(family.degrees, (1, width)).ravel()
    return coo_matrix((matrices.ravel(), (rows, columns)), shape=(6 * count, 6 * count)).tocsc()


def select(places: Array, where: Callable[[Array], NDArray[np.bool_]], degrees: Iterable[int]) -> NDArray[np.int64]:
    """Numbers of some degrees of freedom of the nodes whose place fulfils a condition."""
    nodes = np.flatnonzero(where(places))
    return (6 * nodes[:, None] + np.array(list(degrees))).ravel()


def solved(matrix: csc_matrix, load: Array, held: NDArray[np.int64], values: Array | None = None) -> Array:
    """Displacements with some degrees of freedom held at zero, or at given values."""
    u = np.zeros(matrix.shape[0])
    if values is not None:
        u[held] = values
    free = np.setdiff1d(np.arange(len(u)), held)
    rest = load[free] - (matrix[free] @ u)
    u[free] = splu(matrix[free][:, free].tocsc()).solve(rest)
    return u


def bent(flat: Array, k: Array) -> Array:
    """(N, 6) displacements and rotations of a flat plate with curvatures k_x, k_y, 2 k_xy."""
    x, y = flat[:, 0], flat[:, 1]
    local = np.zeros((len(flat), 6))
    local[:, 2] = -(k[0] * x**2 + k[1] * y**2 + k[2] * x * y) / 2
    local[:, 3], local[:, 4] = -(k[1] * y + k[2] * x / 2), k[0] * x + k[2] * y / 2
    return local


def solved_patch(family: Elements, flat: Array, frame: Array, local: Array) -> Array:
    """Displacements of a patch whose edge is moved as in ``local``, which must be exact inside, too."""
    exact = np.concatenate([local[:, :3] @ frame.T, local[:, 3:] @ frame.T], axis=1).ravel()
    edge = select(flat, lambda p: np.any((p[:, :2] < 1e-9) | (p[:, :2] > 1 - 1e-9), axis=1), range(6))
    u = solved(assembled(len(flat), family, family.stiffness()), np.zeros(6 * len(flat)), edge, exact[edge])
    assert np.max(np.abs(u - exact)) < 1e-10 * np.max(np.abs(exact))
    return u
