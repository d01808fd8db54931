"""Coordinates of a flexible body: degrees of freedom of nodes, vibration modes, or interface modes.

Every basis meets the conditions of the body's reference, so that its coordinates describe deformation only.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cotree.errors import ModelError
from cotree.fem.eigen import check_count
from cotree.fem.element import DEGREES, MOST, Array, Integers
from cotree.fem.reference import Reference
from cotree.fem.space import Space, space_of
from cotree.fem.structure import Structure

__all__ = ["Basis", "Reference", "craig_bampton", "nodal", "vibration"]

_MOVES = ("x", "y", "z", "rx", "ry", "rz")
_NOISE = 1e-12  # components of a shape below so much of its largest are rounding


@dataclass(frozen=True)
class Basis:
    """Shapes of a structure: the displacement of its 6 N degrees of freedom is shapes @ coordinates."""

    shapes: Array
    """(6 N, n)."""
    names: tuple[str, ...]
    """Names of the coordinates: ``mode1``, or ``node3.y`` and ``node3.rz``."""
    frequencies: Array
    """(n,) rad/s, ascending; nan for coordinates that are no modes."""
    units: tuple[str, ...]
    """``m`` or ``rad`` for each."""


def nodal(structure: Structure, reference: Reference, *, held: Sequence[int] = ()) -> Basis:
    """All degrees of freedom that are not held; those without mass follow statically, which is exact.

    Where the rotations of a node have mass about some directions only, and these are not along the axes of the body,
    the coordinates are rotations about such directions, ``node3.r1`` and ``node3.r2``. With mean axes a few degrees of
    freedom are no coordinates, and the others count from them.
    """
    space = space_of(structure, reference, held)
    if space.count > MOST:
        raise ModelError(
            f"{space.count} degrees of freedom are to be coordinates of a flexible body",
            expected=f"at most {MOST}",
            remedy="take vibration or interface modes, or a coarser mesh",
        )
    names, chosen, massless = _with_mass(space)
    v = chosen.toarray()
    if massless.shape[1]:
        stiffness = space.stiffness[space.free][:, space.free]
        from scipy.sparse.linalg import splu

        inner = splu((massless.T @ stiffness @ massless).tocsc())
        v = v - massless @ inner.solve((massless.T @ (stiffness @ chosen)).toarray())
    units = tuple("rad" if "r" in name.partition(".")[2] else "m" for name in names)
    shapes = _clean(space.project(np.asarray(space.spread[:, space.free] @ v)), structure)
    return Basis(shapes, names, np.full(len(names), np.nan), units)


def vibration(
    structure: Structure,
    reference: Reference,
    modes: int | Sequence[int] | None = None,
    *,
    below: float | None = None,
    held: Sequence[int] = (),
) -> Basis:
    """Vibration modes under the conditions of the reference: clamped, pinned, or free for mean axes.

    ``modes`` is how many, or which (from 1); ``below`` takes those below a frequency in Hz.
    """
    if modes is None and below is None:
        raise ModelError("it is not said which modes", expected="a number of modes, their numbers, or a frequency")
    shapes, numbers = _picked(space_of(structure, reference, held), modes, below, MOST)
    if not numbers:
        raise ModelError("no modes are asked for", expected="at least one: the body has no other coordinates")
    return _ritz(structure, shapes, numbers)


def craig_bampton(
    structure: Structure,
    reference: Reference,
    interface: Mapping[int, Sequence[int] | None],
    modes: int | Sequence[int] | None = None,
    *,
    below: float | None = None,
    held: Sequence[int] = (),
) -> Basis:
    """Static modes of interface degrees of freedom together with modes of the body held there (Craig, Bampton 1968).

    ``interface`` gives for nodes their degrees 0 to 5, or None for all six; those that the reference or ``held`` hold
    anyway count for nothing. ``modes`` (how many, or which from 1) and ``below`` (Hz) choose the modes of the body
    whose reference and interface are held; none unless given. The shapes are the eigenmodes within this space, all of
    them, so that mass and stiffness are diagonal. With mean axes the space is made free of rigid motions.
    """
    rows = _interface(structure, interface)
    check_count(rows.shape[0], MOST, "degrees of freedom are in the interface")
    space = Space(structure, reference, held=held, rows=rows)
    inner = np.zeros((len(structure.places) * DEGREES, 0))
    if modes is not None or below is not None:
        inner = _picked(space, modes, below, MOST - len(space.kept))[0]
    shapes = np.hstack([space.under_rows(), inner])
    if reference.kind == "mean":
        shapes = space_of(structure, reference, held).project(shapes)
    if shapes.shape[1] == 0:
        raise ModelError("the body has no coordinates", expected="an interface that is not held, or modes")
    return _ritz(structure, shapes, None)


def _interface(structure: Structure, interface: Mapping[int, Sequence[int] | None]) -> Any:
    """Sparse rows that pick the interface degrees of freedom."""
    from scipy import sparse

    numbers: list[int] = []
    for node, which in interface.items():
        if not 0 <= node < len(structure.places):
            raise ModelError(
                f"the interface has node {node}", expected=f"a node of the mesh, 0 to {len(structure.places) - 1}"
            )
        for degree in range(DEGREES) if which is None else which:
            if degree not in range(DEGREES):
                raise ModelError(
                    f"the interface at node {node} has degree of freedom {degree}",
                    expected="0 to 5, for x, y, z and rotations about x, y, z",
                )
            numbers.append(DEGREES * node + degree)
    return sparse.eye_array(DEGREES * len(structure.places), format="csr")[np.array(numbers, dtype=np.int64)]


def _picked(space: Space, modes: int | Sequence[int] | None, below: float | None, most: int) -> tuple[Array, list[int]]:
    """Shapes (6 N, n) of the modes asked for, and their numbers from 1; more than ``most`` are refused."""
    if below is not None and not below > 0:
        raise ModelError(f"modes below {below} Hz are asked for", expected="a positive frequency in Hz")
    limit = None if below is None else 2 * np.pi * below
    if modes is None or isinstance(modes, int | np.integer):
        if modes is not None and modes < 0:
            raise ModelError(f"{modes} modes are asked for", expected="a positive number")
        shapes = space.modes(modes, limit, most)[1]
        numbers = list(range(1, shapes.shape[1] + 1))
    else:
        numbers = sorted({int(number) for number in modes})
        if not numbers or numbers[0] < 1 or len(numbers) != len(modes):
            raise ModelError(f"the modes are {list(modes)}", expected="different numbers, the first mode is 1")
        shapes = space.modes(numbers[-1], limit, most)[1]
        numbers = [number for number in numbers if number <= shapes.shape[1]]
        shapes = shapes[:, np.array(numbers, dtype=np.int64) - 1]
    if limit is not None and not numbers and modes != 0:
        first = space.modes(1)[0]
        raise ModelError(
            f"no mode lies below {below:g} Hz",
            expected=f"more than {first[0] / 2 / np.pi:.6g} Hz, the frequency of the first mode" if len(first) else "",
        )
    return shapes, numbers


def _ritz(structure: Structure, shapes: Array, numbers: Sequence[int] | None) -> Basis:
    """The eigenmodes within the space of some shapes, scaled and with a sign that does not depend on chance."""
    from scipy import linalg

    scaled = _independent(shapes, structure)
    stiffness = scaled.T @ (structure.stiffness @ scaled)
    mass = scaled.T @ (structure.mass @ scaled)
    size = np.sqrt(stiffness.diagonal())
    try:
        squares, turned = linalg.eigh(_even(mass / size / size[:, None]), _even(stiffness / size / size[:, None]))
    except linalg.LinAlgError:
        raise ModelError(
            "the shapes of the body cannot be told apart: their stiffnesses are lost in rounding",
            expected="a body that is not stiffer in one direction than in another by more than about ten orders",
            remedy="look at its length, section and material",
        ) from None
    if squares.min() <= 1e-14 * squares.max():
        most = int(np.argmax(np.abs(scaled @ (turned[:, 0] / size) * _metres(structure))))
        degree, node = _MOVES[most % DEGREES], structure.label(most // DEGREES)
        raise ModelError(
            f"the interface shape that moves {degree} of {node} has no mass",
            expected="mass in every shape",
            remedy="leave rotations without inertia out of the interface, or give the elements rotary inertia",
        )
    frequencies = 1 / np.sqrt(squares[::-1])
    modes = _untangled(scaled @ (turned[:, ::-1] / size[:, None]), frequencies)
    shapes = _clean(_normalised(modes, structure), structure)
    names = tuple(f"mode{number}" for number in (numbers or range(1, shapes.shape[1] + 1)))
    moves = np.abs(shapes.reshape(-1, DEGREES, len(names))[:, :3]).max(axis=(0, 1))
    units = tuple("m" if move > 0 else "rad" for move in moves)
    return Basis(shapes, names, frequencies, units)


def _independent(shapes: Array, structure: Structure) -> Array:
    """Independent combinations of shapes: with mean axes, interface modes that were rigid motions are gone."""
    metres = _metres(structure)[:, None]
    scaled = shapes * metres
    length = np.linalg.norm(scaled, axis=0)
    scaled = scaled[:, length > 0] / length[length > 0]
    u, values, _ = np.linalg.svd(scaled, full_matrices=False)
    return np.asarray(u[:, values > 1e-9 * values.max(initial=0.0)] / metres)


def _metres(structure: Structure) -> Array:
    """(6 N,) what makes every degree of freedom a length: 1 for displacements, the body's size for rotations."""
    return np.tile([1.0, 1.0, 1.0, *[structure.length] * 3], len(structure.places))


def _untangled(modes: Array, frequencies: Array) -> Array:
    """Modes with equal frequencies turned so that one has all of the largest displacement, and so on.

    A beam as stiff along y as along z then has modes along y and along z, which keeps the equations short.
    """
    modes = modes.copy()
    starts = [0, *(np.flatnonzero(np.diff(frequencies) > 1e-7 * frequencies[1:]) + 1), len(frequencies)]
    moves = np.arange(len(modes)) % DEGREES < 3
    for start, end in itertools.pairwise(starts):
        for first in range(start, end - 1):
            group = modes[:, first:end] * frequencies[first]  # of equal mass
            size = np.linalg.norm(group, axis=1) * moves
            row = group[_first(size)]
            if size.max() > 0:
                turn = np.linalg.qr(np.column_stack([row, np.eye(end - first)]))[0]
                modes[:, first:end] = modes[:, first:end] @ turn
    return modes


def _normalised(modes: Array, structure: Structure) -> Array:
    """Modes whose largest displacement of a node, or rotation where nothing moves, has length 1 in whatever axes."""
    found = modes.reshape(-1, 2, 3, modes.shape[1])
    size = np.linalg.norm(found, axis=2)  # of displacement and of rotation, by node
    scales = []
    for k, (move, turn) in enumerate(size.max(axis=0).T):
        kind = 0 if move > 1e-7 * structure.length * turn else 1
        node = _first(size[:, kind, k])
        vector = found[node, kind, :, k]
        scales.append(size[node, kind, k] * np.sign(vector[_first(np.abs(vector))]))
    return np.asarray(modes / np.array(scales))


def _first(sizes: Array) -> int:
    """Number of the largest, the first among equals, so that no rounding decides."""
    return int(np.argmax(sizes > (1 - 1e-6) * sizes.max()))


def _even(matrix: Array) -> Array:
    """The symmetric part."""
    return (matrix + matrix.T) / 2


def _clean(shapes: Array, structure: Structure) -> Array:
    """Shapes whose rounding errors are exactly zero."""
    size = np.abs(shapes) * _metres(structure)[:, None]
    return np.where(size < _NOISE * size.max(axis=0, initial=0.0), 0.0, shapes)


def _with_mass(space: Space) -> tuple[tuple[str, ...], Any, Any]:
    """Names and directions (sparse, over the free v) of coordinates with mass, and the directions without.

    A direction of one node's rotations moves no mass if that node's block of the mass matrix says so, because the mass
    matrix has no negative eigenvalues.
    """
    from scipy import sparse

    degrees = space.degrees[space.free]
    mass = sparse.csr_array(space.mass[space.free][:, space.free])
    names: list[str] = []
    entries: dict[bool, list[tuple[int, int, float]]] = {True: [], False: []}
    counts = {True: 0, False: 0}
    turning = mass.diagonal() * (degrees % DEGREES > 2)
    moving = mass.diagonal() - turning
    for at, block in _blocks(mass, degrees):
        node = degrees[at[0]] // DEGREES
        least = 1e-12 * float((turning if degrees[at[0]] % DEGREES > 2 else moving).max())
        values, axes = _principal(block, least)
        real = values > least
        along = np.abs(axes).max(axis=0) > 1 - 1e-9
        number = 0
        for value_is_real, straight, axis in zip(real, along, axes.T, strict=True):
            kind = bool(value_is_real)
            entries[kind] += [(int(at[k]), counts[kind], float(axis[k])) for k in np.flatnonzero(axis)]
            counts[kind] += 1
            if kind and straight:
                names.append(f"node{node}.{_MOVES[degrees[at[int(np.argmax(np.abs(axis)))]] % DEGREES]}")
            elif kind:
                number += 1
                names.append(f"node{node}.r{number}")
    made = []
    for kind in (True, False):
        row, column, value = zip(*entries[kind], strict=True) if entries[kind] else ((), (), ())
        made.append(sparse.csc_array((np.array(value, dtype=float), (row, column)), shape=(len(degrees), counts[kind])))
    return tuple(names), made[0], made[1]


def _blocks(mass: Any, degrees: Integers) -> list[tuple[list[int], Array]]:
    """Each displacement alone, and the rotations of each node together, with their diagonal blocks of the mass."""
    groups: dict[int, list[int]] = {}
    for number, degree in enumerate(degrees.tolist()):
        groups.setdefault(degree if degree % DEGREES < 3 else degree - degree % DEGREES + 3, []).append(number)
    return [(at, mass[at][:, at].toarray()) for at in groups.values()]


def _principal(block: Array, least: float) -> tuple[Array, Array]:
    """Masses and directions of a node's block: the axes where no mass is missing, or only about axes."""
    values, axes = np.linalg.eigh(block)
    missing = axes[:, values <= least]
    if missing.shape[1] == 0 or missing.shape[1] == len(block):
        return np.maximum(block.diagonal(), 2 * least if missing.shape[1] == 0 else 0.0), np.eye(len(block))
    straight = block.diagonal() <= least
    if straight.sum() == missing.shape[1]:
        return np.where(straight, 0.0, np.maximum(block.diagonal(), 2 * least)), np.eye(len(block))
    return values, axes
