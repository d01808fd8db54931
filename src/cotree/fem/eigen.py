"""Vibration modes of a held or free structure.

Everything here works on coordinates that are free to move: a stiffness, a mass, and the rigid motions which are left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cotree.errors import ModelError
from cotree.fem.element import Array, Integers
from cotree.fem.factor import Factor as Factor

SMALL = 600
"""Up to so many coordinates the eigenproblem is solved as a dense one."""
LARGEST_DENSE = 4000
"""Up to so many coordinates all modes may be asked for."""


FEW = 64
"""Up to so many modes below a frequency are found by trying; beyond, they are counted first."""


class Modes(NamedTuple):
    """Vibration modes, by ascending frequency."""

    frequencies: Array
    """(n,) in rad/s; rigid motions are exactly 0."""
    shapes: Array
    """(6 N, n) over all degrees of freedom."""


@dataclass(frozen=True)
class Free:
    """What is free to move: f coordinates with stiffness and mass, and the rigid motions left to them."""

    stiffness: Any
    """(f, f) sparse."""
    mass: Any
    """(f, f) sparse."""
    rigid: Array
    """(f, r) rigid motions without strain."""
    complain: Callable[[Array], ModelError]
    """The error for a motion (f,) that nothing resists."""
    nodes: Integers | None = None
    """(f,) the node of each coordinate; with ``places``, a large stiffness is factored faster."""
    places: Array | None = None
    """(N, 3) places of the nodes."""


def anchors(rigid: Array) -> Integers:
    """As many coordinates as rigid motions, (r,), which hold them: greedy, so that they are far apart."""
    left = rigid.copy()
    chosen = []
    for _ in range(rigid.shape[1]):
        size = np.einsum("ij,ij->i", left, left)
        pick = int(np.argmax(size > (1 - 1e-9) * size.max()))  # the first of equals: no rounding decides
        chosen.append(pick)
        row = left[pick] / np.sqrt(size[pick])
        left = left - np.outer(left @ row, row)
    return np.array(chosen, dtype=np.int64)


def vibration(
    free: Free, count: int | None, limit: float | None, skip_rigid: bool, most: int = LARGEST_DENSE
) -> tuple[Array, Array]:
    """Frequencies in rad/s and shapes (f, n), at most ``count`` and below ``limit`` in rad/s.

    More than ``most`` are refused, before they are computed.

    Rigid motions are not computed but known. The others are orthogonal to them, so the mass is freed of its rigid part
    (inertia relief) and the structure is held at a few coordinates: a definite problem, without a shift to be guessed.
    """
    size = free.stiffness.shape[0]
    rigid = _with_mass(free)
    known = 0 if skip_rigid else rigid.shape[1]
    mass_times_rigid = free.mass @ rigid
    keep = np.setdiff1d(np.arange(size), anchors(free.rigid))
    held = (free.stiffness[keep][:, keep], free.mass[keep][:, keep], mass_times_rigid[keep])
    wanted = None if count is None else max(count - known, 0)

    def complain(motion: Array) -> ModelError:
        whole = np.zeros(size)
        whole[keep] = motion
        return free.complain(whole)

    factor = Factor(held[0], complain, None if free.nodes is None else free.nodes[keep], free.places)
    squares, part = _elastic(*held, factor, wanted, limit, known, most)
    shapes = np.zeros((size, part.shape[1]))
    shapes[keep] = part
    shapes -= rigid @ (mass_times_rigid.T @ shapes)
    frequencies = np.sqrt(squares)
    if limit is not None:
        shapes, frequencies = shapes[:, frequencies < limit], frequencies[frequencies < limit]
    if known:
        shapes, frequencies = np.hstack([rigid, shapes]), np.concatenate([np.zeros(known), frequencies])
    return frequencies[:count], shapes[:, :count]


def _with_mass(free: Free) -> Array:
    """Rigid motions with mass, orthonormal in the mass, in the order of the axes as far as can be."""
    chosen: list[Array] = []
    heavy = 0.0
    for column in free.rigid.T:
        motion = column.copy()
        whole = float(motion @ (free.mass @ motion))
        heavy = max(heavy, whole)
        for _ in range(2):
            for other in chosen:
                motion = motion - other * float(other @ (free.mass @ motion))
        rest = float(motion @ (free.mass @ motion))
        if rest > 1e-12 * heavy:
            chosen.append(motion / np.sqrt(rest))
    return np.array(chosen).T if chosen else np.zeros((free.stiffness.shape[0], 0))


def _elastic(
    stiffness: Any,
    mass: Any,
    rigid_momenta: Array,
    factor: Factor,
    wanted: int | None,
    limit: float | None,
    known: int,
    most_wanted: int,
) -> tuple[Array, Array]:
    """Squared frequencies, ascending, and shapes of K x = w^2 (M - S S^T) x; S are the momenta of rigid motions."""
    size = stiffness.shape[0]
    if size > SMALL:
        check_count(wanted or 0, most_wanted, "modes are asked for")
    most = int(np.count_nonzero(mass.diagonal() > 0))
    dense = size <= SMALL or (size <= LARGEST_DENSE and wanted is not None and wanted > size // 5)
    if dense:
        squares, shapes = _dense(stiffness.toarray(), mass.toarray(), rigid_momenta)
        most = len(squares)
    if wanted is not None and wanted > most:
        raise ModelError(
            f"{wanted + known} modes are asked for",
            expected=f"at most {most + known}, as many as the held structure has independent motions with mass",
            remedy="ask for fewer modes or divide the mesh more finely",
        )
    check_count(wanted or 0, most_wanted, "modes are asked for")
    if dense:
        return squares[:wanted], shapes[:, :wanted]
    if wanted is None and limit is None:
        raise ModelError(
            f"the number of modes is not given, and there are {most}",
            expected=f"a number of modes, or a limit of frequency, for more than {SMALL} degrees of freedom",
        )
    if wanted is not None:
        return _sparse(stiffness, mass, rigid_momenta, min(wanted, size - 2), factor)
    assert limit is not None
    return _below(stiffness, mass, rigid_momenta, factor, limit, most_wanted)


def check_count(found: int, most: int, what: str) -> None:
    """Refuse more coordinates or modes than can be meant, before memory and time are spent."""
    if found > most:
        raise ModelError(
            f"{found} {what}",
            expected=f"at most {most}",
            remedy="ask for fewer modes, name fewer interface degrees of freedom, or use a coarser mesh",
        )


def _below(stiffness: Any, mass: Any, momenta: Array, factor: Factor, limit: float, most: int) -> tuple[Array, Array]:
    """Modes up to the first above a limit in rad/s: few are tried first, then as many as signs of pivots count."""
    size, number, counted = stiffness.shape[0], 16, False
    last = min(most + 1, size - 2)
    while True:
        squares, shapes = _sparse(stiffness, mass, momenta, min(number, last), factor)
        if squares[-1] > limit**2 or (number >= last and last < most + 1):
            return squares, shapes
        if number >= last:
            raise _too_many(limit, most)
        number *= 2
        if number > FEW and not counted:
            counted, found = True, _count_below(stiffness, mass, limit)
            if found is not None and found - momenta.shape[1] > most:  # rigid motions in the mass add as many at most
                raise _too_many(limit, most)
            number = max(number, 0 if found is None else found + 1)


def _too_many(limit: float, most: int) -> ModelError:
    return ModelError(
        f"more than {most} modes lie below {limit / 2 / np.pi:g} Hz",
        expected=f"a frequency with at most {most} modes below it",
        remedy="take a lower frequency, or say how many modes",
    )


def _count_below(stiffness: Any, mass: Any, limit: float) -> int | None:
    """How many eigenvalues of K x = w^2 M x have w below a limit (Sylvester's law of inertia), None where unknown."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    scale = sparse.diags_array(1 / np.sqrt(stiffness.diagonal()))
    matrix = scale @ (stiffness - min(limit, 1e100) ** 2 * mass) @ scale
    try:
        factors = splu(
            sparse.csc_array(matrix),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # a pivot is exactly zero
        return None
    if not np.array_equal(factors.perm_r, factors.perm_c):
        return None
    return int(np.count_nonzero(factors.U.diagonal() < 0))


def _dense(stiffness: Array, mass: Array, momenta: Array) -> tuple[Array, Array]:
    """All modes by LAPACK; the number of motions with mass is the rank of the mass."""
    from scipy.linalg import eigh

    if not len(stiffness):
        return np.zeros(0), np.zeros((0, 0))
    mass = mass - momenta @ momenta.T
    scale = np.sqrt(np.maximum(mass.diagonal(), 0.0))
    scale[scale <= 1e-12 * scale.max()] = np.inf
    ranked = np.linalg.eigvalsh(mass / np.outer(scale, scale))
    rank = int(np.count_nonzero(ranked > 1e-11 * max(ranked.max(), 0.0)))
    size = np.sqrt(stiffness.diagonal())
    inverse, shapes = eigh(mass / np.outer(size, size), stiffness / np.outer(size, size))
    inverse, shapes = inverse[::-1][:rank], shapes[:, ::-1][:, :rank] / size[:, None]
    return 1 / np.maximum(inverse, np.finfo(float).tiny), shapes


def _sparse(stiffness: Any, mass: Any, momenta: Array, number: int, factor: Factor) -> tuple[Array, Array]:
    """The lowest modes by Lanczos' method on the inverse, from a fixed start."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    size = stiffness.shape[0]
    inertia = LinearOperator((size, size), matvec=lambda x: mass @ x - momenta @ (momenta.T @ x), dtype=float)
    inverse = LinearOperator((size, size), matvec=factor.solve, dtype=float)
    start = np.random.default_rng(1).standard_normal(size) / np.sqrt(stiffness.diagonal())
    space = min(size - 1, max(2 * number + 10, 30))
    squares, shapes = eigsh(stiffness, number, inertia, sigma=0.0, OPinv=inverse, v0=start, ncv=space, tol=1e-13)
    order = np.argsort(squares)
    return squares[order], shapes[:, order]


def normalised(shapes: Array, size: float) -> Array:
    """Shapes (6 N, n) with largest displacement +1; largest rotation +1 where nothing but rotation is."""
    shapes = shapes.copy()
    by_node = shapes.reshape(-1, 6, shapes.shape[1])
    moves, turns = by_node[:, :3].reshape(-1, shapes.shape[1]), by_node[:, 3:].reshape(-1, shapes.shape[1])
    for k in range(shapes.shape[1]):
        column = moves[:, k] if np.abs(moves[:, k]).max() > 1e-7 * size * np.abs(turns[:, k]).max() else turns[:, k]
        peak = np.abs(column).max()
        if peak > 0:
            shapes[:, k] /= column[int(np.argmax(np.abs(column) > (1 - 1e-6) * peak))]
    return shapes
