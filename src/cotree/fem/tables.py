"""Constant tables of a flexible body, from which its kinetic and strain energy follow (Richard 2012, eq. 58-65).

A point at ``s0`` of the undeformed body moves by ``N q``, with the shapes ``N`` at that point and coordinates ``q``,
and by a second-order displacement, which is why a bending beam grows shorter and why a stretched one grows stiffer
(Shi, McPhee, Heppler 2001). For every unit load ``l``, the displacement that does work with it is

    s_l = N_l q - 1/2 q^T G_l q

where ``G_l`` is the geometric stiffness of the body under the internal forces of that unit load, held at its reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from cotree.errors import ModelError
from cotree.fem.element import DEGREES, Array, Cloud, Elements, states_at_once

if TYPE_CHECKING:
    from cotree.fem.reduction import Basis
    from cotree.fem.reference import Reference
    from cotree.fem.space import Space
    from cotree.fem.structure import Structure

_NOISE = 1e-12  # of the largest entry; what is below is rounding
_NOISE_2 = 1e-10  # the same for second-order arrays, whose internal forces come from statics
_NOISE_MODES, _NOISE_NODAL = 1e-7, 1e-15  # of the stiffness beside the diagonal
_CHUNK = 4e6  # numbers at a time


@dataclass(frozen=True)
class NodeTable:
    """How a frame fixed to one node moves with the coordinates."""

    place: Array
    """(3,) place in the undeformed body."""
    move: Array
    """(3, n) displacement."""
    turn: Array
    """(3, n) small rotation."""
    move_2: Array
    """(3, n, n) G of a unit force along x, y, z: the displacement is ``move q - 1/2 q^T move_2 q``."""
    turn_2: Array
    """(3, n, n) G of a unit moment about x, y, z: the rotation is ``turn q - 1/2 q^T turn_2 q``."""


@dataclass(frozen=True)
class Tables:
    """Everything the equations of a flexible body need from its mesh; integrals are over its mass."""

    names: tuple[str, ...]
    """Names of the n coordinates."""
    units: tuple[str, ...]
    """Unit of each coordinate: m or rad."""
    frequencies: Array
    """(n,) rad/s of the coordinates that are modes, nan for those that are not."""
    mass: float
    """Mass in kg."""
    first: Array
    """(3,) integral of s0."""
    second: Array
    """(3, 3) integral of s0 s0^T."""
    first_q: Array
    """(3, n) integral of N."""
    second_q: Array
    """(3, 3, n), [a, b, k]: integral of s0_a N_bk."""
    second_qq: Array
    """(3, 3, n, n), [a, b, k, l]: integral of N_ak N_bl; the sum over a = b is the mass matrix."""
    stiffness: Array
    """(n, n)."""
    damping: Array
    """(n, n)."""
    first_2: Array
    """(3, n, n), [i]: G of the load e_i on every unit of mass; the integral of s is first_q q - 1/2 q^T first_2 q."""
    second_2: Array
    """(3, 3, n, n), [a, i]: G of the load s0_a e_i on every unit of mass."""
    frames: Mapping[str, NodeTable]
    """Frames at nodes, by name."""
    shapes: Array = field(default_factory=lambda: np.zeros((0, 0)))
    """(6 N, n) displacements and rotations of all nodes by unit coordinates; empty where there is no mesh."""
    carried: Array = field(default_factory=lambda: np.zeros((0, 0)))
    """(6 S, L) section forces of S stations by unit loads, see `cotree.fem.stations`; empty where there are none."""
    carried_2: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))
    """(n, 6 S, L - 9 n) what each coordinate adds."""


def tables(
    structure: Structure,
    basis: Basis,
    frames: Mapping[str, int],
    *,
    reference: Reference,
    held: Sequence[int] = (),
    damping_ratio: float | Sequence[float] | None = None,
    second_order: bool = True,
) -> Tables:
    """The tables of a structure in the coordinates of a basis, with frames at nodes.

    ``held`` are the numbers of degrees of freedom that supports hold, also under unit loads. What a basis leaves out
    for other reasons, as for a beam that shall not stretch, does not belong here: it carries the internal forces.
    ``damping_ratio`` is the fraction of critical damping of each eigenmode of the reduced body, or one for all; it is
    added to the damping of the material. Without ``second_order`` every G is zero.
    """
    shapes = np.asarray(basis.shapes, dtype=float)
    for name, node in frames.items():
        if not 0 <= node < len(structure.places):
            raise ModelError(
                f"frame '{name}' is at node {node}", expected=f"a node of the mesh, 0 to {len(structure.places) - 1}"
            )
    found = _Integrals(shapes.shape[1])
    for family in structure.families:
        found.add(family, shapes)
    mass_matrix = np.einsum("aakl->kl", found.second_qq)
    # Modes are orthogonal but for the rounding of large stiffnesses that cancel; nodal shapes need every digit.
    noise = _NOISE_MODES if np.isfinite(basis.frequencies).all() else _NOISE_NODAL
    stiffness = _projected(structure.stiffness, shapes, noise)
    damping = _projected(structure.viscosity, shapes, noise)
    damping = damping + modal_damping(mass_matrix, stiffness, damping_ratio, noise)
    nodes = list(dict.fromkeys(frames.values()))
    loads = _Loads(structure, nodes)
    geometric = np.zeros((loads.count, *stiffness.shape))
    if second_order and shapes.shape[1]:
        from cotree.fem.space import space_of

        geometric = _geometric(structure, loads, space_of(structure, reference, held), shapes)
    at_nodes = [
        NodeTable(
            place=structure.places[node].copy(),
            move=_clean(shapes[DEGREES * node : DEGREES * node + 3]),
            turn=_clean(shapes[DEGREES * node + 3 : DEGREES * node + 6]),
            move_2=geometric[12 + 6 * number : 15 + 6 * number],
            turn_2=geometric[15 + 6 * number : 18 + 6 * number],
        )
        for number, node in enumerate(nodes)
    ]
    size = np.sqrt(np.outer(mass_matrix.diagonal(), mass_matrix.diagonal()))
    return Tables(
        names=basis.names,
        units=basis.units,
        frequencies=basis.frequencies,
        mass=found.mass,
        first=_clean(found.first),
        second=_clean(found.second),
        first_q=_clean(found.first_q),
        second_q=_clean(found.second_q),
        second_qq=np.where(np.abs(found.second_qq) < _NOISE * size, 0.0, found.second_qq),
        stiffness=stiffness,
        damping=damping,
        first_2=geometric[:3],
        second_2=geometric[3:12].reshape(3, 3, *stiffness.shape),
        frames={name: at_nodes[nodes.index(node)] for name, node in frames.items()},
        shapes=shapes.copy(),
    )


def centre_of_mass(tables: Tables) -> NodeTable:
    """How the centre of mass moves."""
    m = tables.mass
    still = np.zeros_like(tables.first_q)
    return NodeTable(tables.first / m, tables.first_q / m, still, tables.first_2 / m, np.zeros_like(tables.first_2))


class _Integrals:
    """Sums over the mass points."""

    def __init__(self, count: int) -> None:
        self.mass = 0.0
        self.first, self.second = np.zeros(3), np.zeros((3, 3))
        self.first_q, self.second_q = np.zeros((3, count)), np.zeros((3, 3, count))
        self.second_qq = np.zeros((3, 3, count, count))

    def add(self, family: Elements, shapes: Array) -> None:
        """Add a family of elements, some at a time to save memory."""
        cloud, count = family.cloud(), shapes.shape[1]
        elements, points = cloud.mass.shape
        step = max(1, int(_CHUNK / max(1, points * 3 * count)))
        squares = np.zeros((3 * count, 3 * count))
        for start in range(0, elements, step):
            part = slice(start, start + step)
            mass, place = cloud.mass[part].reshape(-1), cloud.place[part].reshape(-1, 3)
            moves = cloud.rows[part].reshape(len(cloud.mass[part]), points * 3, -1) @ shapes[family.degrees[part]]
            moves = moves.reshape(-1, 3 * count)
            weighted = mass[:, None] * moves
            self.mass += float(mass.sum())
            self.first += mass @ place
            self.second += place.T @ (mass[:, None] * place)
            self.first_q += weighted.sum(axis=0).reshape(3, count)
            self.second_q += (place.T @ weighted).reshape(3, 3, count)
            squares += moves.T @ weighted
        self.second_qq += ((squares + squares.T) / 2).reshape(3, count, 3, count).transpose(0, 2, 1, 3)


class _Loads:
    """Unit loads: on every unit of mass e_i and s0_a e_i, at nodes a force and a moment along each axis.

    `nodal` has all as loads on the degrees of freedom. On the mass points they are ``mass (base + place @ slope)``.
    """

    def __init__(self, structure: Structure, nodes: Sequence[int]) -> None:
        self.count = 12 + 6 * len(nodes)
        self.size = np.zeros(self.count)
        """Size of each load, taken as a force."""
        self.base, self.slope = np.zeros((self.count, 3)), np.zeros((self.count, 3, 3))
        self.base[:3] = np.eye(3)
        self.slope[3:12] = np.einsum("ab,ij->aibj", np.eye(3), np.eye(3)).reshape(9, 3, 3)
        self.nodal = np.zeros((DEGREES * len(structure.places), self.count))
        for family in structure.families:
            cloud = family.cloud()
            weights = np.concatenate([np.ones((*cloud.mass.shape, 1)), cloud.place], axis=2) * cloud.mass[:, :, None]
            each = np.einsum("ega,egik->ekai", weights, cloud.rows, optimize=True).reshape(*family.degrees.shape, 12)
            np.add.at(self.nodal, (family.degrees[:, :, None], np.arange(12)), each)
            self.size[:12] += float(cloud.mass.sum()) * np.repeat([1.0, *[structure.length] * 3], 3)
        for number, node in enumerate(nodes):
            at = np.arange(6)
            self.nodal[DEGREES * node + at, 12 + 6 * number + at] = 1.0
            self.size[12 + 6 * number + at] = [1.0] * 3 + [1 / structure.length] * 3

    def on_points(self, cloud: Cloud, part: slice, relief: Array | None) -> Array:
        """(L, E, G, 3) forces on mass points under some of the loads and the inertia forces that balance them."""
        base, slope = self.base[part], self.slope[part]
        if relief is not None:
            x, y, z = relief[3:, part]
            o = np.zeros_like(x)
            base = base - relief[:3, part].T
            turn = np.array([[o, z, -y], [-z, o, x], [y, -x, o]])  # place @ slope = turn x place
            slope = slope - np.moveaxis(turn, -1, 0)
        return np.asarray(cloud.mass[:, :, None] * (base[:, None, None] + cloud.place @ slope[:, None]))


def _geometric(structure: Structure, loads: _Loads, space: Space, shapes: Array) -> Array:
    """(L, n, n) geometric stiffness under each unit load, projected on the shapes, without rounding errors."""
    moved, relief = space.statics(loads.nodal), space.relief(loads.nodal)
    total = np.zeros((loads.count, shapes.shape[1], shapes.shape[1]))
    for family in structure.families:
        cloud, own, degrees = family.cloud(), shapes[family.degrees], family.degrees
        flat = own.reshape(-1, shapes.shape[1])
        for part in states_at_once(loads.count, len(degrees)):
            matrices = family.geometric_under(moved.T[part][:, degrees], loads.on_points(cloud, part, relief))
            if matrices is None:
                break
            total[part] += flat.T @ (matrices @ own).reshape(-1, *flat.shape)
    total = (total + total.transpose(0, 2, 1)) / 2
    size = loads.size[:, None, None]
    largest = float((np.abs(total) / size).max(initial=0.0))
    return np.where(np.abs(total) < _NOISE_2 * largest * size, 0.0, total)


def _projected(matrix: Any, shapes: Array, noise: float) -> Array:
    """shapes^T matrix shapes, symmetric; what is below ``noise`` beside the diagonal is zero."""
    small = shapes.T @ (matrix @ shapes)
    small = (small + small.T) / 2
    size = np.sqrt(np.maximum(small.diagonal(), 0.0))
    return np.where(np.abs(small) < noise * np.outer(size, size), 0.0, small)


def modal_damping(mass: Array, stiffness: Array, ratio: float | Sequence[float] | None, noise: float) -> Array:
    """Damping that takes the given fraction of critical from each eigenmode of a mass and a stiffness."""
    from scipy.linalg import eigh

    if ratio is None or not mass.size:
        return np.zeros_like(mass)
    ratios = np.asarray(ratio, dtype=float)
    if ratios.ndim > 1 or (ratios.ndim == 1 and len(ratios) != len(mass)):
        raise ModelError(f"{ratios.size} damping ratios are given", expected=f"one, or {len(mass)}, one for each mode")
    if not (np.isfinite(ratios).all() and (ratios >= 0).all()):
        raise ModelError("a damping ratio is negative or no number", expected="0 or more, 1 is critical")
    squares, modes = eigh(stiffness, mass)
    momenta = mass @ modes
    damping = (momenta * (2 * ratios * np.sqrt(np.maximum(squares, 0.0)))) @ momenta.T
    size = np.sqrt(damping.diagonal())
    return np.where(np.abs(damping) < noise * np.outer(size, size), 0.0, (damping + damping.T) / 2)


def _clean(array: Array) -> Array:
    """The array with rounding errors set to exactly zero, which keeps equations short."""
    size = np.abs(array)
    return np.where(size < _NOISE * size.max(initial=0.0), 0.0, array)
