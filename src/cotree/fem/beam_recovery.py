"""Forces and stress inside beam elements, from their displacements and from loads between their nodes.

Signs are those of the face that looks along local x: N is tension, M turns about the axis of its name, and

    N = EA u'    Mx = GJ rx'    My = EIy ry'    Mz = EIz rz'    Qy = -Mz'    Qz = My'    without load between the nodes
    stress = N / A - Mz y / Iz + My z / Iy
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cotree.fem.element import Array
from cotree.fem.section import Section
from cotree.fem.section_stress import outer_radius, stress_points
from cotree.maths.viewed import Viewed

if TYPE_CHECKING:
    from cotree.fem.beam import Beams


class Forces(NamedTuple):
    """Section forces in N and moments in N m, each (E, S), in local axes."""

    n: Array
    qy: Array
    qz: Array
    mx: Array
    my: Array
    mz: Array


@dataclass(frozen=True)
class Stress(Viewed):
    """Stress in Pa at P points of the section, S stations and E elements."""

    points: Array
    """(P, 2): the points (y, z)."""
    normal: Array
    """(E, S, P) stress along the beam."""
    shear: Array
    """(E, S, P) shear stress along the surface."""
    highest: Array
    """(E, S) largest normal stress; of a round section wherever it is on the surface."""
    lowest: Array
    """(E, S) smallest normal stress."""

    def __repr__(self) -> str:
        return (
            f"<Stress: {len(self.normal)} elements; normal, shear, mises, up to {self.mises.max(initial=0.0):.4g} Pa>"
        )

    @property
    def mises(self) -> Array:
        """(E, S, P) von Mises stress."""
        return np.sqrt(self.normal**2 + 3 * self.shear**2)


def end_forces(beams: Beams, u: Array, s: Array) -> Forces:
    """Forces of the exact solution without load between the nodes: moments are lines, the rest is constant."""
    force = beams.moduli() * beams.natural(u)
    n, mx, even_z, odd_z, even_y, odd_y = (each[:, None] + np.zeros_like(s) for each in force.T)
    line, length = s - 0.5, beams.lengths[:, None]
    return Forces(n, -odd_z / length, odd_y / length, mx, even_y + odd_y * line, even_z + odd_z * line)


def load_forces(beams: Beams, load: Array, s: Array) -> Forces:
    """Forces of the load on the mass points (E, G, 3) while the nodes are held: what displacements do not show.

    The load of the stations is a polynomial along the element, exact up to the third power with consistent mass and
    to lines with linear mass.
    """
    stations, weights = beams.stations()
    points = beams.section_points()
    local = np.einsum("eai,egi->ega", beams.axes, load).reshape(len(load), len(stations), len(points), 3)
    y, z = points.T
    x_, y_, z_ = local[..., 0], local[..., 1], local[..., 2]
    turns = np.stack([y * z_ - z * y_, z * x_, -y * x_], axis=-1)  # (0, y, z) cross force
    each = np.concatenate([local, turns], axis=-1).sum(axis=2)
    density = each / (weights[:, None] * beams.lengths[:, None, None])
    coefficients = _powers_from_values(tuple(stations)) @ density
    qx, qy, qz, mx, my, mz = (coefficients[..., d] for d in range(6))
    length, phi = beams.lengths, beams.parameters
    shear_y, moment_z = _held_bending(qy, mz, length, phi[:, 0])
    shear_z, moment_y = _held_bending(qz, -my, length, phi[:, 1])
    found = _held_line(qx, length), shear_y, shear_z, _held_line(mx, length), -moment_y, moment_z
    powers = np.vander(s, max(c.shape[1] for c in found), increasing=True).T
    return Forces(*(c @ powers[: c.shape[1]] for c in found))


@cache
def _powers_from_values(stations: tuple[float, ...]) -> Array:
    """Coefficients of the polynomial through values at stations."""
    return np.asarray(np.linalg.inv(np.vander(stations, increasing=True)))


def less_at_ends(beams: Beams, pushed: Array, s: Array) -> Forces:
    """Moments without the loads ``pushed`` (E, 12), local, of elements on their own nodes, and their shear forces.

    They are lines between the ends: what bends an element between its nodes is seen with smaller elements.
    """
    turns = [pushed[:, [d, d + 6], None] for d in (3, 4, 5)]
    mx, my, mz = (start * (1 - s) - end * s for start, end in (each.transpose(1, 0, 2) for each in turns))
    slopes = [-each.sum(axis=1) / beams.lengths[:, None] + np.zeros_like(s) for each in turns]
    return Forces(np.zeros_like(mx), -slopes[2], slopes[1], mx, my, mz)


def _held_line(q: Array, length: Array) -> Array:
    """Course of N (or Mx) with N' = -q and no extension in all: polynomial coefficients in the fraction."""
    course = -length[:, None] * _integral(q)
    course[:, 0] -= _mean(course, 0)
    return course


def _held_bending(q: Array, m: Array, length: Array, phi: Array) -> tuple[Array, Array]:
    """Courses of Q' = -q and M' = -Q - m with both ends held: no turn, no deflection from end to end."""
    each = length[:, None]
    shear = -each * _integral(q)
    turning = shear.copy()
    turning[:, :-1] += m
    moment = -each * _integral(turning)
    turn, move = _mean(moment, 0), _mean(moment, 1)
    # M = M0 - L Q0 s + moment(s): the integral of M vanishes, that of s M is phi L / 12 times that of Q.
    start = (move - turn / 2 - phi * length / 12 * _mean(shear, 0)) * 12 / (length * (1 + phi))
    shear[:, 0] += start
    moment[:, 0] += length * start / 2 - turn
    moment[:, 1] -= length * start
    return shear, moment


def _integral(c: Array) -> Array:
    """Coefficients of the integral from zero of a polynomial with coefficients ``c`` (E, powers)."""
    found = np.zeros((len(c), c.shape[1] + 1))
    found[:, 1:] = c / np.arange(1, c.shape[1] + 1)
    return found


def _mean(c: Array, power: int) -> Array:
    """(E,) integrals from zero to one of s^power times the polynomials."""
    found: Array = c @ (1 / np.arange(1 + power, c.shape[1] + 1 + power))
    return found


def stress(section: Section, forces: Forces) -> Stress:
    """Stress at the points of the section under the forces."""
    y, z, torque, along_y, along_z = stress_points(section).T
    n, qy, qz, mx, my, mz = (each[..., None] for each in forces)
    normal = n / section.area - mz * y / section.iz + my * z / section.iy
    shear = mx * torque + qy * along_y + qz * along_z
    highest, lowest = normal.max(axis=-1), normal.min(axis=-1)
    radius = outer_radius(section)
    if radius is not None:
        bending = np.hypot(forces.my, forces.mz) * radius / section.iy
        highest, lowest = forces.n / section.area + bending, forces.n / section.area - bending
    return Stress(np.stack([y, z], axis=1), normal, shear, highest, lowest)
