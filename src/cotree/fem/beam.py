"""Three-dimensional beams with two nodes: Mindlin (Timoshenko) kinematics with quadratic rotation.

Deflection is cubic and rotation quadratic along the element; the middle rotation is condensed by the relation that the
shear force is the slope of the moment. What is left are the exact solutions without load between the nodes, so one
element is exact for end loads, and it cannot lock (Przemieniecki 1968, sec. 5.6; Friedman and Kosmatka 1993).

Local axes: x along the centroid line, y as given by ``orientation`` made perpendicular to x, z = x cross y. Unless
given, y is perpendicular to the body's z, so that a beam along the body's x has the body's axes; a beam along the
body's z has its y along the body's y.

    natural strains     e = u2 - u1,  t = rx2 - rx1                                  extension, twist
    of plane xy         s = rz2 - rz1,  a = (rz1 + rz2) / 2 - (v2 - v1) / L          even and odd bending
    of plane xz         s = ry2 - ry1,  a = (ry1 + ry2) / 2 + (w2 - w1) / L
    energy              EA e^2 / 2 L + GJ t^2 / 2 L + EI s^2 / 2 L + 12 EI a^2 / 2 L (1 + phi) for each plane
    shear parameter     phi = 12 EI / (k G A L^2), zero without shear deformation
"""

from __future__ import annotations

from copy import copy
from functools import cache, cached_property
from typing import Any, Literal

import numpy as np

from cotree.errors import ModelError
from cotree.fem import beam_geometric, beam_recovery
from cotree.fem.element import Array, Cloud, Elements, Integers, degrees_of, rigid_rows
from cotree.fem.material import Material
from cotree.fem.section import Section
from cotree.model.helpful import answered

Mass = Literal["consistent", "linear"]

STATIONS = {"consistent": 4, "linear": 2}
"""Gauss points along an element that integrate the mass exactly: products of cubics, of lines."""

FORCE_STATIONS = 4
"""Gauss points where section forces are kept: exact for the shapes of the stiffness under a quadratic line load."""

ALONG_Z = 0.01
"""Sine of the angle to the body's z below which an element counts as lying along it, for its default axes."""

_PLANE_Y = [1, 5, 7, 11]
_PLANE_Z = [2, 4, 8, 10]
_SIGN_Z = np.array([1.0, -1.0, 1.0, -1.0])  # w' = -ry, so rotations count backwards in the plane xz


@answered
class Beams(Elements):
    """Straight beams of one section and one material between nodes.

    ``offset`` is the place (y, z) of the centroid from the node line, in the element's axes: one pair, a pair for each
    node of the mesh, (N, 2), or for the two ends of each element, (E, 2, 2); rigid arms join node and centroid.
    ``shear=False`` gives Euler-Bernoulli beams, ``rotary=False`` puts the mass on the centroid line. ``mass`` is
    "consistent" (interpolation of the stiffness) or "linear" (Richard 2012, eq. 50, for displacements and rotations).
    """

    def __init__(
        self,
        places: Any,
        lines: Any,
        section: Section,
        material: Material,
        *,
        orientation: Any = None,
        offset: Any = (0.0, 0.0),
        shear: bool = True,
        rotary: bool = True,
        mass: Mass = "consistent",
    ) -> None:
        if mass not in STATIONS:
            raise ModelError(f"mass is {mass!r}", where="beams", expected="'consistent' or 'linear'")
        places = np.asarray(places, dtype=float).reshape(-1, 3)
        lines = np.asarray(lines, dtype=np.int64).reshape(-1, 2)
        if not lines.size:
            raise ModelError("there is no line", where="beams", expected="at least one pair of node numbers")
        if lines.min() < 0 or lines.max() >= len(places):
            raise ModelError(
                f"node numbers from {lines.min()} to {lines.max()}",
                where="beams",
                expected=f"numbers from 0 to {len(places) - 1}",
            )
        self.section = section.with_poisson(material.poisson_ratio) if shear and _open(section) else section
        self.material, self.mass_rule, self.rotary = material, mass, rotary
        self.degrees = degrees_of(lines)
        ends = places[lines]
        axes = _axes(ends, _hints(ends, orientation))
        arms = np.einsum("eka,eai->eki", _offsets(offset, lines, len(places)), axes[:, 1:, :])
        self.arms = arms
        """(E, 2, 3) from the nodes to the ends of the centroid lines, in body axes."""
        self.ends = ends + arms
        """(E, 2, 3) ends of the centroid lines."""
        self.axes = _axes(self.ends, axes[:, 1])
        """(E, 3, 3): the rows are local x, y, z in body axes."""
        self.lengths = np.linalg.norm(self.ends[:, 1] - self.ends[:, 0], axis=1)
        """(E,) lengths of the centroid lines."""
        self._to_local = _to_local(self.axes, arms)
        self.parameters = self._shear_parameters(shear)
        """(E, 2) shear parameters phi of the planes xy and xz."""

    def _shear_parameters(self, shear: bool) -> Array:
        """12 EI / (k G A L^2) for deflection along y and along z."""
        section, material = self.section, self.material
        if not shear:
            return np.zeros((len(self.lengths), 2))
        bending = 12 * material.young * np.array([section.iz, section.iy])
        factors = np.array([section.shear_y, section.shear_z], dtype=float)
        found: Array = bending / (factors * material.shear_modulus * section.area) / self.lengths[:, None] ** 2
        return found

    def natural(self, u: Array) -> Array:
        """(E, 6) natural strains of the displacements ``u`` (E, 12): e, t, s and a in xy, s and a in xz."""
        found: Array = np.einsum("esk,ek->es", self._strains(), np.asarray(u, dtype=float))
        return found

    def moduli(self) -> Array:
        """(E, 6) stiffness of each natural strain."""
        m, s, each = self.material, self.section, self.lengths[:, None]
        even = np.array([m.young * s.area, m.shear_modulus * s.torsion, m.young * s.iz, m.young * s.iy]) / each
        odd = 12 * even[:, 2:] / (1 + self.parameters)
        return np.stack([even[:, 0], even[:, 1], even[:, 2], odd[:, 0], even[:, 3], odd[:, 1]], axis=1)

    def _strains(self) -> Array:
        """(E, 6, 12): natural strains from the degrees of freedom in body axes."""
        rows = np.zeros((len(self.lengths), 6, 12))
        for strain, degree in enumerate((0, 3, 5)):
            rows[:, strain, degree], rows[:, strain, degree + 6] = -1.0, 1.0
        rows[:, 4, 4], rows[:, 4, 10] = -1.0, 1.0
        for strain, turn, move, sign in ((3, 5, 1, -1.0), (5, 4, 2, 1.0)):
            rows[:, strain, [turn, turn + 6]] = 0.5
            rows[:, strain, move], rows[:, strain, move + 6] = -sign / self.lengths, sign / self.lengths
        return rows @ self._to_local

    def stiffness(self) -> Array:
        """(E, 12, 12) stiffness matrices: a sum of squares of natural strains, so rigid motion costs nothing."""
        strains = self._strains()
        found: Array = np.matmul(strains.transpose(0, 2, 1), self.moduli()[:, :, None] * strains)
        return found

    def viscosity(self) -> Array | None:
        """The retardation time times the stiffness (Richard 2012, eq. 62-65)."""
        return self.material.viscosity * self.stiffness() if self.material.viscosity else None

    def _motion(self, s: Array, *, linear: bool = False) -> Array:
        """(E, S, 6, 12): displacement and rotation of the centroid line at fractions ``s``, local from local."""
        rows = np.zeros((len(self.lengths), len(s), 6, 12))
        if linear:  # Richard 2012, eq. 50
            each = np.arange(6)
            rows[:, :, each, each], rows[:, :, each, each + 6] = (1 - s)[:, None], s[:, None]
            return rows
        for d in (0, 3):
            rows[:, :, d, d], rows[:, :, d, d + 6] = 1 - s, s
        (move_y, turn_y), (move_z, turn_z) = (bending_shapes(s, self.lengths, phi)[:2] for phi in self.parameters.T)
        rows[:, :, 1, _PLANE_Y], rows[:, :, 5, _PLANE_Y] = move_y, turn_y
        rows[:, :, 2, _PLANE_Z], rows[:, :, 4, _PLANE_Z] = move_z * _SIGN_Z, -turn_z * _SIGN_Z
        return rows

    def stations(self) -> tuple[Array, Array]:
        """Fractions of the length where mass points are, and the shares of the mass there."""
        return gauss(STATIONS[self.mass_rule])

    def section_points(self) -> Array:
        """(P, 2): points (y, z) of equal mass which have the second moments of the section, or its centroid alone."""
        if not self.rotary:
            return np.zeros((1, 2))
        y, z = np.sqrt(2 * np.array([self.section.iz, self.section.iy]) / self.section.area)
        return np.array([(y, 0.0), (-y, 0.0), (0.0, z), (0.0, -z)])

    def cloud(self) -> Cloud:
        """Points of the section at Gauss points along the beam; the mass they add up to is exact."""
        return self._cloud

    @cached_property
    def _cloud(self) -> Cloud:
        s, weights = self.stations()
        move, turn = self._in_body(self._motion(s, linear=self.mass_rule == "linear"))
        points = self.section_points()
        arms = np.einsum("pa,eai->epi", points, self.axes[:, 1:])
        x, y, z = np.moveaxis(arms, -1, 0)[:, :, None, :, None]
        shape = len(self.lengths), len(s), len(points)
        rows = np.empty((*shape, 3, 12))
        rows[...] = move[:, :, None]
        rx, ry, rz = np.moveaxis(turn, 2, 0)[:, :, :, None]
        rows[..., 0, :] += ry * z - rz * y
        rows[..., 1, :] += rz * x - rx * z
        rows[..., 2, :] += rx * y - ry * x
        whole = self.material.density * self.section.area * self.lengths
        mass = np.repeat(whole[:, None] * weights, len(points), axis=1) / len(points)
        middle = self.ends[:, :1] * (1 - s)[:, None] + self.ends[:, 1:] * s[:, None]
        place = middle[:, :, None, :] + arms[:, None]
        count = len(s) * len(points)
        return Cloud(mass, place.reshape(-1, count, 3), rows.reshape(-1, count, 3, 12))

    def _in_body(self, motion: Array) -> tuple[Array, Array]:
        """Displacement and rotation (E, S, 3, 12) in body axes from the nodes, of local ones (E, S, 6, 12)."""
        count = motion.shape[1]
        from_nodes = np.matmul(motion.reshape(-1, 6 * count, 12), self._to_local).reshape(-1, count, 2, 3, 12)
        move, turn = (np.einsum("eai,esak->esik", self.axes, from_nodes[:, :, part]) for part in range(2))
        return move, turn

    def resultants(self, u: Array, load: Array | None = None) -> beam_recovery.Forces:
        """Section forces, each (E, g + 2), at the start, at the Gauss points of `geometric` and at the end.

        The part without load between the nodes is that of ``u``, the course along the element that of the load.
        """
        return self.forces(u, _force_stations()[0], load)

    def geometric(self, resultants: beam_recovery.Forces) -> Array:
        """(E, 12, 12): stiffness by section forces, see `cotree.fem.beam_geometric`; moments are semi-tangential."""
        forces = beam_recovery.Forces(*(np.asarray(each, dtype=float) for each in resultants))
        weights = self.lengths[:, None] * _force_stations()[1]
        polar = (self.section.iy + self.section.iz) / self.section.area
        local = beam_geometric.stiffness(self._rates, weights, forces, polar)
        found: Array = np.matmul(self._to_local.transpose(0, 2, 1), local @ self._to_local)
        if self.arms.any():
            ends = np.einsum("eai,ake->eki", self.axes, np.array([each.T[[0, -1]] for each in forces[:3]]))
            for end, sign in ((0, -1.0), (1, 1.0)):
                at = slice(6 * end + 3, 6 * end + 6)
                found[:, at, at] += sign * beam_geometric.arms(ends[:, end], self.arms[:, end])
        return (found + found.transpose(0, 2, 1)) / 2

    def stretch(self, u: Array) -> Array:
        local = np.einsum("ekl,el->ek", self._to_local, u)
        return np.asarray((local[:, 6] - local[:, 0]) / self.lengths)

    def geometric_under(self, u: Array, load: Array) -> Array:
        """(L, E, 12, 12) in L states, as copies of the elements."""
        every = self.chosen(np.tile(np.arange(len(self.lengths)), len(u)))
        forces = every.resultants(u.reshape(-1, 12), load.reshape(-1, *load.shape[2:]))
        return every.geometric(forces).reshape(*u.shape, 12)

    @cached_property
    def _rates(self) -> Array:
        """(E, S, 8, 12): v', w', p, ry, rz, p', ry', rz' at the stations of the forces, local from local."""
        s = _force_stations()[0]
        rows = np.zeros((len(self.lengths), len(s), 8, 12))
        (slope_y, bend_y), (slope_z, bend_z) = (bending_shapes(s, self.lengths, phi)[2:] for phi in self.parameters.T)
        rows[:, :, 0, _PLANE_Y], rows[:, :, 7, _PLANE_Y] = slope_y, bend_y
        rows[:, :, 1, _PLANE_Z], rows[:, :, 6, _PLANE_Z] = slope_z * _SIGN_Z, -bend_z * _SIGN_Z
        rows[:, :, 2:5] = self._motion(s)[:, :, 3:]
        rows[:, :, 5, 3], rows[:, :, 5, 9] = -1 / self.lengths[:, None], 1 / self.lengths[:, None]
        return rows

    def displacement(self, u: Array, s: Any) -> Array:
        """(E, S, 3): displacement of the centroid lines at fractions ``s`` of their lengths, in body axes."""
        rows, _ = self._in_body(self._motion(np.atleast_1d(np.asarray(s, dtype=float))))
        found: Array = np.einsum("esik,ek->esi", rows, np.asarray(u, dtype=float))
        return found

    def chosen(self, elements: Any) -> Beams:
        """Elements by their numbers, each as often as it is named: for many displacements at once."""
        found = copy(self)
        for name in ("degrees", "arms", "ends", "axes", "lengths", "_to_local", "parameters", "_rates"):
            found.__dict__[name] = getattr(self, name)[elements]
        found.__dict__.pop("_cloud", None)
        return found

    def forces(
        self, u: Array, stations: Any, load: Array | None = None, turned: Array | None = None
    ) -> beam_recovery.Forces:
        """N, Qy, Qz, Mx, My, Mz, each (E, S), at fractions ``stations``, on the face that looks along local x.

        ``load`` (E, G, 3), the forces on the mass points, adds their course between the nodes. ``turned`` (E, 12) are
        loads of the element on its own nodes that belong to no other part, as its geometric stiffness gives them: its
        ends carry so much less than its displacements say.
        """
        s = np.atleast_1d(np.asarray(stations, dtype=float))
        found = [beam_recovery.end_forces(self, np.asarray(u, dtype=float), s)]
        if load is not None:
            found.append(beam_recovery.load_forces(self, np.asarray(load, dtype=float), s))
        if turned is not None:
            local = np.linalg.solve(self._to_local.transpose(0, 2, 1), np.asarray(turned, dtype=float)[..., None])
            found.append(beam_recovery.less_at_ends(self, local[..., 0], s))
        return beam_recovery.Forces(*(sum(each) for each in zip(*found, strict=True)))

    def stress(
        self, u: Array, stations: Any, load: Array | None = None, turned: Array | None = None
    ) -> beam_recovery.Stress:
        """Normal, shear and von Mises stress at points of the section."""
        return beam_recovery.stress(self.section, self.forces(u, stations, load, turned))


def _open(section: Section) -> bool:
    """Whether a shear factor still waits for Poisson's ratio."""
    return section.shear_y is None or section.shear_z is None


@cache
def gauss(count: int) -> tuple[Array, Array]:
    """Gauss points as fractions of the length, and weights that add up to one."""
    x, w = np.polynomial.legendre.leggauss(count)
    points, weights = (1 + x) / 2, w / 2
    points.setflags(write=False)
    weights.setflags(write=False)
    return points, weights


@cache
def _force_stations() -> tuple[Array, Array]:
    """Fractions of the length where section forces are kept: both ends, of no weight, and Gauss points."""
    s, weights = gauss(FORCE_STATIONS)
    points, shares = np.array([0.0, *s, 1.0]), np.array([0.0, *weights, 0.0])
    points.setflags(write=False)
    shares.setflags(write=False)
    return points, shares


def bending_shapes(s: Array, lengths: Array, phi: Array) -> tuple[Array, Array, Array, Array]:
    """Deflection, rotation, their slopes, (E, S, 4), at ``s`` from v1, r1, v2, r2 (Friedman and Kosmatka 1993)."""
    x, length, p = s[None, :], lengths[:, None], phi[:, None]
    o = np.zeros_like(x * length)
    move = [
        1 - 3 * x**2 + 2 * x**3 + p * (1 - x),
        length * (x - 2 * x**2 + x**3 + p * (x - x**2) / 2),
        3 * x**2 - 2 * x**3 + p * x,
        length * (x**3 - x**2 - p * (x - x**2) / 2),
    ]
    turn = [
        6 * (x**2 - x) / length,
        1 - 4 * x + 3 * x**2 + p * (1 - x),
        6 * (x - x**2) / length,
        3 * x**2 - 2 * x + p * x,
    ]
    slope = [
        (6 * x**2 - 6 * x - p) / length,
        1 - 4 * x + 3 * x**2 + p * (1 - 2 * x) / 2,
        (6 * x - 6 * x**2 + p) / length,
        3 * x**2 - 2 * x - p * (1 - 2 * x) / 2,
    ]
    bend = [
        (12 * x - 6) / length**2,
        (6 * x - 4 - p) / length,
        (6 - 12 * x) / length**2,
        (6 * x - 2 + p) / length,
    ]
    scale = 1 / (1 + p)[..., None]
    deflection, rotation, inclination, curvature = (
        np.stack([each + o for each in shapes], axis=-1) * scale for shapes in (move, turn, slope, bend)
    )
    return deflection, rotation, inclination, curvature


def _hints(ends: Array, orientation: Any) -> Array:
    """(E, 3) vectors roughly along local y, given or by the default rule."""
    along = ends[:, 1] - ends[:, 0]
    if orientation is not None:
        hints = np.asarray(orientation, dtype=float)
        if hints.shape not in ((3,), along.shape) or not np.isfinite(hints).all():
            raise ModelError(
                f"the orientation is {np.array2string(hints, threshold=6)}",
                where="beams",
                expected="a vector roughly along local y, or one for each element",
            )
        return np.broadcast_to(hints, along.shape)
    across = np.stack([-along[:, 1], along[:, 0], np.zeros(len(along))], axis=1)  # body z cross x
    upright = np.linalg.norm(across, axis=1) < ALONG_Z * np.linalg.norm(along, axis=1)
    return np.where(upright[:, None], np.array([0.0, 1.0, 0.0]), across)


def _axes(ends: Array, hints: Array) -> Array:
    """(E, 3, 3): rows are the local axes of elements between ``ends`` (E, 2, 3), y near the ``hints`` (E, 3)."""
    along = ends[:, 1] - ends[:, 0]
    lengths = np.linalg.norm(along, axis=1)
    scale = np.abs(ends).max(initial=0.0)
    _none(~(lengths > 1e-14 * scale), "has no length", "two nodes in different places")
    x = along / lengths[:, None]
    y = hints - np.einsum("ei,ei->e", hints, x)[:, None] * x
    size = np.linalg.norm(y, axis=1)
    small = size <= 1e-6 * np.linalg.norm(hints, axis=1)
    _none(small, "is parallel to its orientation", "a vector across the beam, roughly along local y")
    y = y / size[:, None]
    y -= np.einsum("ei,ei->e", y, x)[:, None] * x  # once more, for rounding
    y /= np.linalg.norm(y, axis=1)[:, None]
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _none(bad: Array | Any, what: str, expected: str) -> None:
    """Refuse elements that are marked."""
    if np.any(bad):
        first = int(np.flatnonzero(bad)[0])
        more = f" ({int(np.sum(bad))} in all)" if np.sum(bad) > 1 else ""
        raise ModelError(f"element {first} {what}{more}", where="beams", expected=expected)


def _offsets(offset: Any, lines: Integers, nodes: int) -> Array:
    """(E, 2, 2): offsets (y, z) of the centroid at both ends of each element."""
    given = np.asarray(offset, dtype=float)
    if np.isfinite(given).all():
        if given.shape == (2,):
            return np.broadcast_to(given, (len(lines), 2, 2))
        if given.shape == (nodes, 2):
            return given[lines]
        if given.shape == (len(lines), 2, 2):
            return given
    raise ModelError(
        f"the offset has shape {given.shape}",
        where="beams",
        expected=f"finite numbers: a pair (y, z), ({nodes}, 2) for the nodes or ({len(lines)}, 2, 2) for the ends",
    )


def _to_local(axes: Array, arms: Array) -> Array:
    """(E, 12, 12): local degrees of freedom of the centroid line from those of the nodes."""
    rows = np.zeros((len(axes), 12, 12))
    for end in range(2):
        at = slice(6 * end, 6 * end + 3)
        rows[:, at, 6 * end : 6 * end + 6] = axes @ rigid_rows(arms[:, end])
        at = slice(6 * end + 3, 6 * end + 6)
        rows[:, at, at] = axes
    return rows
