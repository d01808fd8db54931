"""Flat triangular shells with six degrees of freedom a node: discrete Kirchhoff bending and optimal ANDES membrane.

Each triangle has its own axes: x along the projection of the material direction, z along the normal (counter-clockwise
corners seen from its tip). The energy of a triangle is a sum of squares,

    Area/2 (e, k) [A B; B D] (e, k)  +  1/2 int (k' - k) D (k' - k)  +  higher-order membrane energy with A,

where e and k are the mean membrane strain and curvature and k' the curvature at a point. So B couples the means, which
is all that a laminate needs to pass the patch test, and the energy is positive for every motion that is not rigid:
each triangle, and each connected mesh, has six motions without energy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cotree.errors import ModelError, listing
from cotree.fem import bending, membrane
from cotree.fem.element import Array, Cloud, Elements, Integers, degrees_of, rigid_rows
from cotree.fem.plate import Plating
from cotree.maths.viewed import Viewed
from cotree.model.helpful import answered

FLAT = 1e-12
"""Area over the squared longest side below which a triangle counts as a line."""
_IN_PLANE = np.array([0, 1, 5, 6, 7, 11, 12, 13, 17])
_BENDING = np.array([2, 3, 4, 8, 9, 10, 14, 15, 16])
_AT = np.concatenate([bending.CENTRE, bending.CORNERS])


@dataclass(frozen=True)
class Strains(Viewed):
    """Strains in the triangles' axes at the centroid and the three corners: (T, 4, 3) each."""

    membrane: Array
    """(e_x, e_y, 2 e_xy) of the surface of the nodes."""
    curvature: Array
    """(k_x, k_y, 2 k_xy): the strain at height z is membrane + z curvature."""


@dataclass(frozen=True)
class Stress(Viewed):
    """Stress in the triangles' axes at one height, at the centroid and the three corners."""

    components: Array
    """(T, 4, 3): normal stress along x and y, shear stress, in Pa."""
    mises: Array
    """(T, 4): von Mises' equivalent stress in plane stress, in Pa."""

    def __repr__(self) -> str:
        return f"<Stress: {len(self.mises)} triangles; components, mises, up to {self.mises.max(initial=0.0):.4g} Pa>"


@answered
class Shells(Elements):
    """Triangles of one plating.

    ``direction`` is the material direction, one vector or one for each triangle; its projection on a triangle is the
    triangle's x axis. Where an isotropic triangle stands across it, the next coordinate direction is taken; other
    platings refuse. ``rotary`` is whether the mass has its place in the thickness.
    """

    def __init__(
        self, places: Any, triangles: Any, plate: Plating, *, direction: Any = (1.0, 0.0, 0.0), rotary: bool = True
    ) -> None:
        self.triangles = _checked(triangles, len(np.asarray(places)))
        self.plate, self.rotary = plate, rotary
        self.degrees = degrees_of(self.triangles)
        self.corners: Array = np.asarray(places, dtype=float)[self.triangles]
        first, second = self.corners[:, 1] - self.corners[:, 0], self.corners[:, 2] - self.corners[:, 0]
        normal = np.cross(first, second)
        twice = np.linalg.norm(normal, axis=1)
        longest = np.max(np.sum((self.corners - np.roll(self.corners, 1, axis=1)) ** 2, axis=2), axis=1)
        _refuse(~(twice > FLAT * longest), self.triangles, "has no area", "three corners that are not on one line")
        self.area: Array = twice / 2
        self.axes: Array = _axes(normal / twice[:, None], direction, plate, self.triangles)
        """(T, 3, 3): rows are the unit vectors x, y and the normal of each triangle."""
        self.centre: Array = self.corners.mean(axis=1)
        local = np.einsum("tij,tnj->tni", self.axes[:, :2], self.corners - self.centre[:, None])
        self._x, self._y = np.ascontiguousarray(local[..., 0]), np.ascontiguousarray(local[..., 1])
        a, b, d = plate.abd()
        self._matrix = np.block([[a, b], [b.T, d]])
        self._higher = membrane.higher_factor(a)

    def stiffness(self) -> Array:
        """(T, 18, 18) stiffness matrices: F^T F, with the square root of each part of the energy in the rows of F."""
        x, y = self._x, self._y
        whole, stretch, bend = (_root(m) for m in (self._matrix, self._matrix[:3, :3], self._matrix[3:, 3:]))
        root = np.sqrt(self.area)[:, None, None]
        rows = np.zeros((len(x), 24, 18))
        curvature = bending.curvatures(x, y, bending.MIDDLES)
        mean = curvature.mean(axis=1)
        rows[:, :6, _IN_PLANE] = root * (whole[:, :3] @ membrane.mean_strain(x, y))
        rows[:, :6, _BENDING] = root * (whole[:, 3:] @ mean)
        rest = np.sqrt(1 / 3) * root[..., None] * (bend @ (curvature - mean[:, None]))
        rows[:, 6:15, _BENDING] = rest.reshape(-1, 9, 9)
        higher = np.sqrt(0.75 * self._higher) * root[..., None] * (stretch @ membrane.side_strains(x, y))
        rows[:, 15:, _IN_PLANE] = higher.reshape(-1, 9, 9)
        rows = self._in_body(rows)
        return np.asarray(rows.transpose(0, 2, 1) @ rows)

    def viscosity(self) -> Array | None:
        """Retardation time times stiffness (Richard 2012, eq. 62-65)."""
        return self.plate.viscosity * self.stiffness() if self.plate.viscosity > 0 else None

    def cloud(self) -> Cloud:
        """Three points by linear interpolation (Richard 2012, eq. 51), above and below the surface where rotary.

        The middles of the sides integrate products of linear functions exactly. The two heights have the mass, the
        first moment and, where rotary, the second moment of the plating.
        """
        plate = self.plate
        centre = plate.first_per_area / plate.mass_per_area
        radius = np.sqrt(max(plate.rotary_per_area / plate.mass_per_area - centre**2, 0.0))
        heights = np.array([centre - radius, centre + radius]) if self.rotary and radius > 0 else np.array([centre])
        count = len(self.area)
        share = np.repeat(bending.MIDDLES, len(heights), axis=0)  # (G, 3)
        arms = np.tile(heights, 3)[None, :, None] * self.axes[:, None, 2]  # (T, G, 3)
        place = np.einsum("gn,tni->tgi", share, self.corners) + arms
        mass = np.repeat((plate.mass_per_area * self.area / len(share))[:, None], len(share), axis=1)
        rows = np.einsum("gn,tgij->tginj", share, rigid_rows(arms)).reshape(count, len(share), 3, 18)
        return Cloud(mass, place, rows)

    def resultants(self, u: Array, load: Array | None = None) -> Array:
        """(T, 3): mean membrane forces N_x, N_y, N_xy in N/m, in the triangles' axes. They do not need the load."""
        return np.asarray(np.einsum("tik,tk->ti", self._means, np.asarray(u, dtype=float)) @ self._matrix[:, :3])

    def geometric(self, resultants: Any) -> Array:
        """(T, 18, 18): int N_ab u_k,a u_k,b, with all three displacements u_k linear over the triangle."""
        forces = np.asarray(resultants, dtype=float)
        n_x, n_y, n_xy = forces[:, 0], forces[:, 1], forces[:, 2]
        tensor = np.stack([np.stack([n_x, n_xy], 1), np.stack([n_xy, n_y], 1)], axis=1)
        slope = bending.gradients(self._x, self._y)
        nodes = self.area[:, None, None] * (slope @ tensor @ slope.transpose(0, 2, 1))
        matrix = np.zeros((len(forces), 3, 6, 3, 6))
        for k in range(3):
            matrix[:, :, k, :, k] = nodes
        return matrix.reshape(-1, 18, 18)

    def stretch(self, u: Array) -> Array:
        return np.asarray(np.einsum("tik,tk->ti", self._means[:, :3], u))

    def strains(self, u: Array) -> Strains:
        """Strains and curvatures from displacements (T, 18), at the centroid and the corners.

        Membrane strain at a corner adds Felippa's higher-order part, which sees bending in the plane roughly: a mean
        over the triangles around a node, or a finer mesh, is closer.
        """
        local = self._local(u)
        strain = np.repeat(np.einsum("tik,tk->ti", self._means[:, :3], np.asarray(u, dtype=float))[:, None], 4, axis=1)
        higher = np.einsum("tpik,tk->tpi", self._corner_strains, local[:, _IN_PLANE])
        strain[:, 1:] += 1.5 * np.sqrt(self._higher) * higher
        curvature = np.einsum("tpik,tk->tpi", self._curvatures, local[:, _BENDING])
        return Strains(strain, curvature)

    def forces(self, u: Array) -> Array:
        """(T, 4, 3): membrane forces N_x, N_y, N_xy in N/m at the centroid and the corners."""
        found = self.strains(u)
        return np.asarray(found.membrane @ self._matrix[:3, :3] + found.curvature @ self._matrix[3:, :3])

    def moments(self, u: Array) -> Array:
        """(T, 4, 3): moments M_x, M_y, M_xy in N (N m per m) at the centroid and the corners."""
        found = self.strains(u)
        return np.asarray(found.membrane @ self._matrix[:3, 3:] + found.curvature @ self._matrix[3:, 3:])

    def stress(self, u: Array, z: float | None = None) -> Stress:
        """Stress at height ``z``, by default at the upper face; -thickness / 2 is the lower face."""
        plate = self.plate
        if z is None:
            if plate.thickness is None:
                raise ModelError("the thickness of the laminate is not known", remedy="give thickness, or z")
            z = plate.thickness / 2
        if plate.thickness is not None and abs(z) > plate.thickness / 2 * (1 + 1e-9):
            bound = f"between {-plate.thickness / 2:g} and {plate.thickness / 2:g} m"
            raise ModelError(f"stress is asked for at z = {z:g} m, outside the plate", expected=bound)
        stiffness = plate.stiffness_at(z)
        if stiffness is None:
            raise ModelError(
                "a laminate that is known by its matrix alone has no stress",
                expected="a Plate, an Orthotropic or a laminate made by layered",
                remedy="ask for forces and moments",
            )
        found = self.strains(u)
        components = (found.membrane + z * found.curvature) @ stiffness
        s_x, s_y, s_xy = components[..., 0], components[..., 1], components[..., 2]
        return Stress(components, np.sqrt(s_x**2 - s_x * s_y + s_y**2 + 3 * s_xy**2))

    @cached_property
    def _corner_strains(self) -> Array:
        return membrane.corner_strains(self._x, self._y)

    @cached_property
    def _curvatures(self) -> Array:
        return bending.curvatures(self._x, self._y, _AT)

    @cached_property
    def _means(self) -> Array:
        """(T, 6, 18): mean membrane strain and curvature from displacements in the body's axes."""
        rows = np.zeros((len(self._x), 6, 18))
        rows[:, :3, _IN_PLANE] = membrane.mean_strain(self._x, self._y)
        rows[:, 3:, _BENDING] = bending.curvatures(self._x, self._y, bending.CENTRE)[:, 0]
        return self._in_body(rows)

    def _local(self, u: Array) -> Array:
        """(T, 18) displacements in the triangles' axes."""
        parts = np.asarray(u, dtype=float).reshape(-1, 6, 3)
        return np.asarray(parts @ self.axes.transpose(0, 2, 1)).reshape(-1, 18)

    def _in_body(self, rows: Array) -> Array:
        """Rows (T, R, 18) over displacements in the triangles' axes, for displacements in the body's axes."""
        return np.asarray(rows.reshape(len(rows), -1, 3) @ self.axes).reshape(rows.shape)


def _root(matrix: Array) -> Array:
    """R with R^T R = matrix."""
    return np.asarray(np.linalg.cholesky(matrix).T, dtype=float)


def _axes(normal: Array, direction: Any, plate: Plating, triangles: Integers) -> Array:
    """(T, 3, 3) axes of the triangles, as rows."""
    along = np.broadcast_to(np.asarray(direction, dtype=float), normal.shape)
    length = np.linalg.norm(along, axis=1, keepdims=True)
    if not np.all(np.isfinite(along)) or np.any(length == 0):
        raise ModelError(f"the material direction is {direction!r}", expected="a vector that is not zero")
    along = along / length
    projected = along - np.sum(along * normal, axis=1, keepdims=True) * normal
    across = np.linalg.norm(projected, axis=1) < 1e-6
    if np.any(across):
        if not _isotropic(plate):
            what = "stands across the material direction, which has no projection on it"
            remedy = "give a direction along the triangles, or one direction for each triangle"
            _refuse(across, triangles, what, "a direction with a projection on every triangle", remedy)
        other = np.roll(along, 1, axis=1)
        other = np.where(np.abs(np.sum(other * normal, axis=1, keepdims=True)) > 0.9, np.roll(other, 1, axis=1), other)
        other = other - np.sum(other * normal, axis=1, keepdims=True) * normal
        projected = np.where(across[:, None], other, projected)
    first = projected / np.linalg.norm(projected, axis=1, keepdims=True)
    return np.stack([first, np.cross(normal, first), normal], axis=1)


def _isotropic(plate: Plating) -> bool:
    """Whether the plating is the same in every direction."""
    return all(
        abs(m[0, 0] - m[1, 1]) + abs(m[0, 2]) + abs(m[1, 2]) + abs(m[0, 0] - m[0, 1] - 2 * m[2, 2])
        <= 1e-9 * float(np.max(np.abs(m)))
        for m in plate.abd()
    )


def _checked(triangles: Any, count: int) -> Integers:
    """The triangles as integers, with corners that exist."""
    found = np.asarray(triangles, dtype=np.int64).reshape(-1, 3)
    _refuse(np.any((found < 0) | (found >= count), axis=1), found, "has a corner that is no node", f"0 to {count - 1}")
    return found


def _refuse(bad: Any, triangles: Integers, what: str, expected: str, remedy: str = "") -> None:
    """An error that names the first triangles that are bad, if any is."""
    numbers = np.flatnonzero(bad)
    if len(numbers):
        named = listing([f"{n} (nodes {', '.join(map(str, triangles[n]))})" for n in numbers], 3)
        raise ModelError(f"triangle {named} {what}", where="shell", expected=expected, remedy=remedy)
