"""The law of a flexible body: a floating frame and elastic coordinates, from constant tables (Richard 2012, eq. 47-67).

A point moves with the frame and by s = s_o + N q + s_2(q), where s_2 is the second-order displacement that lets a beam
keep its length as it bends. The kinetic co-energy T(v, w, q, q') up to second order in q and q',

    T = m v^2 / 2 + v . (w x c) + v . A q' + w . J w / 2 + w . H q' + q' . M q' / 2

holds the first moment c(q), its slope A(q), the inertia J(q) and the coupling H(q), all from the tables. Hamel's
equations in body axes follow from it, and the same terms give the equations of a rigid body where there is no q.
The work of the inertia forces on s_2 is what stiffens a rotating beam (geometric stiffening).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.fem.tables import NodeTable, Tables
from cotree.maths.rotation import small_turn
from cotree.terminal.mechanics import BodyMotion, Inertia

Array = NDArray[np.float64]

_SIGNS = {(0, 1, 2): 1, (1, 2, 0): 1, (2, 0, 1): 1, (0, 2, 1): -1, (2, 1, 0): -1, (1, 0, 2): -1}
"""The cross product: component i of a x b is the sum of sign * a_j * b_k."""


def constant(values: Any) -> ca.SX:
    """Numbers as an expression; zeros are left out."""
    return ca.SX(ca.sparsify(ca.DM(np.asarray(values, dtype=float))))


@dataclass(frozen=True)
class Inertias:
    """What the mass of a body is for its motion at the moment: blocks of the mass matrix in (v, w, q')."""

    mass: float
    c: ca.SX
    """First moment of mass about the origin."""
    J: ca.SX
    """Inertia about the origin."""
    A: ca.SX
    """Coupling of translation and deformation."""
    H: ca.SX
    """Coupling of rotation and deformation."""
    M: ca.SX


@dataclass(frozen=True)
class Moved:
    """A node of a deformed body: position and rotation in the body, and how fast they change, in body axes."""

    position: ca.SX
    rotation: ca.SX
    spin: ca.SX
    rate: ca.SX
    theta: ca.SX
    """The vector of small angles that the rotation belongs to."""
    theta_rate: ca.SX


@dataclass(frozen=True)
class Floating:
    """A flexible body's tables with the symbols of its elastic coordinates and speeds."""

    tables: Tables
    q: ca.SX
    u: ca.SX
    stiffening: str = "full"
    """``full``, ``rigid`` or ``none``: second-order displacements belong to the motion in the first case only."""

    @property
    def _full(self) -> float:
        """One where second-order displacements belong to the motion, otherwise zero."""
        return float(self.stiffening == "full")

    @cached_property
    def M(self) -> ca.SX:
        """Mass matrix of the elastic coordinates."""
        return constant(np.einsum("aakl->kl", self.tables.second_qq))

    @cached_property
    def K(self) -> ca.SX:
        """Stiffness (eq. 64)."""
        return constant(self.tables.stiffness)

    @cached_property
    def C(self) -> ca.SX:
        """Damping (eq. 65)."""
        return constant(self.tables.damping)

    def place(self, node: NodeTable) -> Moved:
        """Where a node is in the body, and how it moves."""
        move, turn = constant(node.move), constant(node.turn)
        s2, s2_by = self._second(node.move_2)
        t2, t2_by = self._second(node.turn_2)
        position = constant(node.place) + ca.mtimes(move, self.q) + s2
        rate = ca.mtimes(move, self.u) + ca.mtimes(s2_by, self.u)
        theta = ca.sparsify(ca.mtimes(turn, self.q) + t2)
        theta_rate = ca.mtimes(turn, self.u) + ca.mtimes(t2_by, self.u)
        return Moved(position, *small_turn(theta, theta_rate), rate, theta, theta_rate)

    def deflection(self, node: NodeTable) -> ca.SX:
        """Displacement of a node from its undeformed place, in body axes."""
        return self.place(node).position - constant(node.place)

    def _second(self, tables: Array) -> tuple[ca.SX, ca.SX]:
        """-q G_i q / 2 for each i, and its slopes, one row for each i."""
        products = [ca.mtimes(constant(G * self._full), self.q) for G in tables]
        values = ca.vertcat(*(-ca.dot(self.q, each) / 2 if each.nnz() else ca.SX(1, 1) for each in products))
        return values, -ca.horzcat(*products).T

    @cached_property
    def _gyroscopic(self) -> tuple[list[Array], list[Array]]:
        """Couplings of rotation with q' at q = 0, and their growth with q, one for each axis."""
        t, linear, growth = self.tables, [], []
        for i in range(3):
            signs = [(a, b, sign) for (k, a, b), sign in _SIGNS.items() if k == i]
            linear.append(sum((sign * t.second_q[a, b] for a, b, sign in signs), np.zeros(t.second_q.shape[2])))
            each = [sign * (t.second_qq[a, b] - self._full * t.second_2[a, b]) for a, b, sign in signs]
            growth.append(np.sum(each, axis=0))
        return linear, growth

    @cached_property
    def _moments(self) -> dict[tuple[int, int], tuple[ca.SX, ca.SX]]:
        """Second moments of mass at the moment and their slopes by q, for each pair of axes."""
        t, q, result = self.tables, self.q, {}
        for a, b in product(range(3), range(3)):
            if a > b:
                continue
            first = constant(t.second_q[a, b] + t.second_q[b, a])
            growth = t.second_qq[a, b] + t.second_qq[a, b].T - self._full * (t.second_2[a, b] + t.second_2[b, a])
            grown = ca.mtimes(constant(growth), q)
            value = constant(t.second[a, b]) + ca.dot(first, q) + ca.dot(grown, q) / 2
            result[a, b] = result[b, a] = value, first + grown
        return result

    @cached_property
    def blocks(self) -> Inertias:
        """The mass matrix of the body in (v, w, q') (eq. 58)."""
        t = self.tables
        s2, s2_by = self._second(t.first_2)
        c = constant(t.first) + ca.mtimes(constant(t.first_q), self.q) + s2
        A = constant(t.first_q) + s2_by
        P = {pair: value for pair, (value, _) in self._moments.items()}
        linear, growth = self._gyroscopic
        H = ca.vertcat(*(constant(linear[i]).T + ca.mtimes(self.q.T, constant(growth[i])) for i in range(3)))
        return Inertias(t.mass, c, _inertia_of(P), A, H, self.M)

    def law(self, motion: BodyMotion, u_dot: ca.SX) -> Inertia:
        """Hamel's equations in body axes less weight, with strain and damping forces (eq. 57-67)."""
        k, q, u = self.blocks, self.q, self.u
        v, w = motion.v, motion.omega
        v_dot, w_dot = motion.v_dot, motion.omega_dot
        slopes = {pair: slope for pair, (_, slope) in self._moments.items()}
        moving = ca.mtimes(k.A, u)  # rate of the first moment
        momentum = k.mass * v + ca.cross(w, k.c) + moving
        spin = ca.cross(k.c, v) + ca.mtimes(k.J, w) + ca.mtimes(k.H, u)
        force = k.mass * v_dot + ca.cross(w_dot, k.c) + ca.cross(w, moving) + ca.mtimes(k.A, u_dot) + self._A_rate
        force += ca.cross(w, momentum) - k.mass * motion.gravity
        J_dot = _inertia_of({pair: ca.dot(slope, u) for pair, slope in slopes.items()})
        moment = ca.cross(k.c, v_dot) + ca.cross(moving, v) + ca.mtimes(k.J, w_dot) + ca.mtimes(J_dot, w)
        moment += ca.mtimes(k.H, u_dot) + self._H_rate + ca.cross(w, spin) + ca.cross(v, momentum)
        moment -= ca.cross(k.c, motion.gravity)
        elastic = ca.mtimes(k.A.T, v_dot + ca.cross(w, v) - motion.gravity) + ca.mtimes(k.H.T, w_dot)
        elastic += ca.mtimes(k.M, u_dot) + ca.mtimes(self.K, q) + ca.mtimes(self.C, u)
        _, growth = self._gyroscopic
        for i in range(3):
            elastic += w[i] * ca.mtimes(constant(growth[i].T - growth[i]), u)
        W = ca.sumsqr(w) * ca.SX.eye(3) - ca.mtimes(w, w.T)
        for (a, b), slope in slopes.items():
            elastic -= W[a, b] * slope / 2
        kinetic = (k.mass * ca.sumsqr(v) + ca.dot(w, ca.mtimes(k.J, w)) + ca.dot(u, ca.mtimes(k.M, u))) / 2
        kinetic += ca.dot(v, ca.cross(w, k.c)) + ca.dot(v, moving) + ca.dot(w, ca.mtimes(k.H, u))
        return Inertia(force, moment, kinetic, elastic, self.strain, self.loss)

    @property
    def _A_rate(self) -> ca.SX:
        """The rate of A times q'."""
        return ca.sparsify(ca.vertcat(*(-self._form(G * self._full) for G in self.tables.first_2)))

    @property
    def _H_rate(self) -> ca.SX:
        """The rate of H times q'."""
        _, growth = self._gyroscopic
        return ca.sparsify(ca.vertcat(*(self._form((each + each.T) / 2) for each in growth)))

    def _form(self, matrix: Array) -> ca.SX:
        """q' . matrix q'."""
        return ca.dot(self.u, ca.mtimes(constant(matrix), self.u))

    @cached_property
    def strain(self) -> ca.SX:
        """Strain energy."""
        return ca.dot(self.q, ca.mtimes(self.K, self.q)) / 2

    @cached_property
    def loss(self) -> ca.SX:
        """Power lost in the material."""
        return ca.dot(self.u, ca.mtimes(self.C, self.u))


def _inertia_of(P: dict[tuple[int, int], ca.SX]) -> ca.SX:
    """The inertia matrix from second moments of mass."""
    rows = [[-P[a, b] for b in range(3)] for a in range(3)]
    for a in range(3):
        rows[a][a] = P[(a + 1) % 3, (a + 1) % 3] + P[(a + 2) % 3, (a + 2) % 3]
    return ca.sparsify(ca.vertcat(*(ca.horzcat(*row) for row in rows)))
