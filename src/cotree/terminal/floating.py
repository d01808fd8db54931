"""The law of a flexible body: a floating frame and elastic coordinates, from constant tables (Richard 2012, eq. 47-67).

A point moves with the frame and by s = s_o + N q + s_2(q), where s_2 is the second-order displacement that lets a beam
keep its length as it bends. For the inertia of the body s_2 is taken as the field that is linear in s_o and has the
same first and second moments of mass, which is all that the motion of the frame sees of it. So a point moves by linear
shapes of y = (q, t(q)), with t of second order. The kinetic co-energy

    T = m v^2 / 2 + v . (w x c) + v . A y' + w . J w / 2 + w . H y' + y' . M y' / 2

holds the first moment c(y), the inertia J(y) and the velocity seen from the frame in full, so that the mass matrix
stays positive, and the coupling H(y) of rotation with deformation up to second order in q. Hamel's equations in body
axes follow from it, and the same terms give the equations of a rigid body where there is no q. The work of the inertia
forces on s_2 is what stiffens a rotating beam (geometric stiffening).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.fem.internal import inverse_moments, linear_shapes
from cotree.fem.tables import NodeTable, Tables
from cotree.maths.rotation import small_turn
from cotree.maths.symbolic import constant
from cotree.terminal.mechanics import BodyMotion, Inertia

Array = NDArray[np.float64]

_SIGNS = {(0, 1, 2): 1, (1, 2, 0): 1, (2, 0, 1): 1, (0, 2, 1): -1, (2, 1, 0): -1, (1, 0, 2): -1}
"""The cross product: component i of a x b is the sum of sign * a_j * b_k."""


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
class Shapes:
    """Integrals over the mass of linear shapes: N itself, moments with the place, and products of two."""

    first: Array
    """(3, m)."""
    second: Array
    """(3, 3, m), [a, b]: of s_a N_b."""
    products: Array
    """(3, 3, m, m), [a, b]: of N_a N_b."""
    linear: int
    """How many of them, the first ones, are of first order."""

    @cached_property
    def spins(self) -> tuple[list[Array], list[Array]]:
        """Moments of momentum about each axis by y', at y = 0 and by their growth with y, which is skew."""
        linear, growth = [], []
        for i in range(3):
            signs = [(a, b, sign) for (k, a, b), sign in _SIGNS.items() if k == i]
            linear.append(np.sum([sign * self.second[a, b] for a, b, sign in signs], axis=0))
            whole = np.sum([sign * self.products[a, b] for a, b, sign in signs], axis=0)
            whole[self.linear :, :] = whole[:, self.linear :] = 0.0  # up to second order
            growth.append(whole)
        return linear, growth

    def moments(self, second: Array, y: ca.SX) -> dict[tuple[int, int], tuple[ca.SX, ca.SX]]:
        """Second moments of mass at the moment and their slopes by y, for each pair of axes."""
        result = {}
        for a, b in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            first = constant(self.second[a, b] + self.second[b, a])
            grown = ca.mtimes(constant(self.products[a, b] + self.products[a, b].T), y)
            value = constant(second[a, b]) + ca.dot(first, y) + ca.dot(grown, y) / 2
            result[a, b] = result[b, a] = value, first + grown
        return result


@dataclass(frozen=True)
class Floating:
    """A flexible body's tables with the symbols of its elastic coordinates and speeds."""

    tables: Tables
    q: ca.SX
    u: ca.SX
    stiffening: str = "full"
    """``full``, ``rigid`` or ``none``: second-order displacements belong to the motion in the first case only."""
    drag: ca.SX | None = None
    """Damping forces along the elastic coordinates that follow speeds of other bodies, too."""

    @cached_property
    def K(self) -> ca.SX:
        """Stiffness (eq. 64)."""
        return constant(self.tables.stiffness)

    @cached_property
    def C(self) -> ca.SX:
        """Damping (eq. 65)."""
        return constant(self.tables.damping)

    # -- nodes -----------------------------------------------------------------------------------------------------

    @cached_property
    def _places(self) -> dict[int, tuple[NodeTable, Moved]]:
        """Nodes that were asked for."""
        return {}

    def place(self, node: NodeTable) -> Moved:
        """Where a node is in the body, and how it moves."""
        if id(node) not in self._places:
            self._places[id(node)] = node, self._place(node)
        return self._places[id(node)][1]

    def _place(self, node: NodeTable) -> Moved:
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

    @property
    def names(self) -> Sequence[str]:
        """Names of the elastic coordinates."""
        return self.tables.names

    @property
    def units(self) -> Sequence[str]:
        """Their units."""
        return self.tables.units

    @property
    def positions(self) -> dict[str, ca.SX]:
        """Positions of the frames in the body, by name."""
        return {frame: self.place(node).position for frame, node in self.tables.frames.items()}

    @property
    def mass(self) -> float:
        """Mass in kg."""
        return self.tables.mass

    @property
    def frequencies(self) -> Array:
        """Those of the shapes in rad/s with the body's frame held, where they have one."""
        return self.tables.frequencies

    def measures(self) -> dict[str, ca.SX]:
        """Elastic coordinates, their rates, and deflections of frames, by name."""
        result = {name: self.q[k] for k, name in enumerate(self.tables.names)}
        result |= {f"{name}_rate": self.u[k] for k, name in enumerate(self.tables.names)}
        for frame, node in self.tables.frames.items():
            moved = ca.densify(self.deflection(node))
            result |= {f"{frame}.deflection.{x}": moved[k] for k, x in enumerate("xyz")}
        return result

    def _second(self, tables: Any) -> tuple[ca.SX, ca.SX]:
        """-q G_i q / 2 for each i, and its slopes, one row for each i; nothing where stiffening is not full."""
        count, n = len(tables), self.q.numel()
        if self.stiffening != "full" or not count:
            return ca.SX(count, 1), ca.SX(count, n)
        products = [ca.mtimes(constant(G), self.q) for G in tables]
        values = ca.vertcat(*(-ca.dot(self.q, each) / 2 if each.nnz() else ca.SX(1, 1) for each in products))
        return values, -ca.horzcat(*products).T

    # -- inertia ---------------------------------------------------------------------------------------------------

    @cached_property
    def _affine(self) -> tuple[list[tuple[int, int]], list[Array]]:
        """Second-order fields e_i (1 or s_a) with their G: those that have the moments of the tables (see above)."""
        t = self.tables
        inverse, scale = inverse_moments(t.mass, t.first, t.second)
        loads = np.concatenate([t.first_2[None], t.second_2])  # [which of 1, s_a] [direction]
        fields = np.einsum("ab,bikl->aikl", inverse, loads / scale[:, None, None, None])
        largest = float(np.abs(fields).max(initial=0.0))
        found = [(i, a) for i in range(3) for a in range(4) if np.abs(fields[a, i]).max(initial=0.0) > 1e-9 * largest]
        return found, [np.where(np.abs(fields[a, i]) > 1e-10 * largest, fields[a, i] / scale[a], 0.0) for i, a in found]

    @cached_property
    def linear_shapes(self) -> Array:
        """(4, 3, n) the shapes as fields linear in the place, with the same moments of mass."""
        t = self.tables
        return linear_shapes(t.mass, t.first, t.second, t.first_q, t.second_q)

    @cached_property
    def shapes(self) -> Shapes:
        """Integrals of all linear shapes: those of q, and where stiffening is full the affine fields."""
        t = self.tables
        if self.stiffening != "full":
            return Shapes(t.first_q, t.second_q, t.second_qq, len(t.names))
        pairs, gram, n = self._affine[0], _gram(t), len(t.names)
        first, second = (
            np.concatenate([x, np.zeros((*x.shape[:-1], len(pairs)))], -1) for x in (t.first_q, t.second_q)
        )
        products = np.zeros((3, 3, n + len(pairs), n + len(pairs)))
        products[:, :, :n, :n] = t.second_qq
        for k, (i, a) in enumerate(pairs, n):
            first[i, k] = gram[0, a]
            second[:, i, k] = gram[1:, a]
            products[:, i, :n, k] = t.first_q if a == 0 else t.second_q[a - 1]
            products[i, :, k, :n] = products[:, i, :n, k]
            for other, (j, b) in enumerate(pairs, n):
                products[i, j, k, other] = gram[a, b]
        return Shapes(first, second, products, n)

    @cached_property
    def _y(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """y, its slopes by q, and its rate."""
        t, slopes = self._second(self._affine[1] if self.stiffening == "full" else [])
        slopes = ca.vertcat(ca.SX.eye(self.q.numel()), slopes)
        return ca.vertcat(self.q, t), slopes, ca.mtimes(slopes, self.u)

    @cached_property
    def _moments(self) -> dict[tuple[int, int], tuple[ca.SX, ca.SX]]:
        return self.shapes.moments(self.tables.second, self._y[0])

    @cached_property
    def _in_y(self) -> Inertias:
        """The mass matrix in (v, w, y')."""
        y, shapes = self._y[0], self.shapes
        A, M = constant(shapes.first), constant(np.einsum("aakl->kl", shapes.products))
        linear, growth = shapes.spins
        H = ca.vertcat(*(constant(linear[i]).T + ca.mtimes(y.T, constant(growth[i])) for i in range(3)))
        J = _inertia_of({pair: value for pair, (value, _) in self._moments.items()})
        return Inertias(self.tables.mass, constant(self.tables.first) + ca.mtimes(A, y), J, A, H, M)

    @cached_property
    def blocks(self) -> Inertias:
        """The mass matrix of the body in (v, w, q') (eq. 58)."""
        k, Y = self._in_y, self._y[1]
        return Inertias(k.mass, k.c, k.J, ca.mtimes(k.A, Y), ca.mtimes(k.H, Y), ca.mtimes(ca.mtimes(Y.T, k.M), Y))

    def law(self, motion: BodyMotion, u_dot: ca.SX) -> Inertia:
        """Hamel's equations in body axes less weight, with strain and damping forces (eq. 57-67)."""
        k, (_, Y, y_dot) = self._in_y, self._y
        y_ddot = ca.mtimes(Y, u_dot) + self._bend
        v, w = motion.v, motion.omega
        v_dot, w_dot = motion.v_dot, motion.omega_dot
        slopes = {pair: slope for pair, (_, slope) in self._moments.items()}
        moving = ca.mtimes(k.A, y_dot)  # rate of the first moment
        momentum = k.mass * v + ca.cross(w, k.c) + moving
        spin = ca.cross(k.c, v) + ca.mtimes(k.J, w) + ca.mtimes(k.H, y_dot)
        force = k.mass * v_dot + ca.cross(w_dot, k.c) + ca.cross(w, moving) + ca.mtimes(k.A, y_ddot)
        force += ca.cross(w, momentum) - k.mass * motion.gravity
        J_dot = _inertia_of({pair: ca.dot(slope, y_dot) for pair, slope in slopes.items()})
        moment = ca.cross(k.c, v_dot) + ca.cross(moving, v) + ca.mtimes(k.J, w_dot) + ca.mtimes(J_dot, w)
        moment += ca.mtimes(k.H, y_ddot) + ca.cross(w, spin) + ca.cross(v, momentum)
        moment -= ca.cross(k.c, motion.gravity)
        along = ca.mtimes(k.A.T, v_dot + ca.cross(w, v) - motion.gravity) + ca.mtimes(k.H.T, w_dot)
        along += ca.mtimes(k.M, y_ddot)
        for i, growth in enumerate(self.shapes.spins[1]):
            along += w[i] * ca.mtimes(constant(growth.T - growth), y_dot)
        W = ca.sumsqr(w) * ca.SX.eye(3) - ca.mtimes(w, w.T)
        for (a, b), slope in slopes.items():
            along -= W[a, b] * slope / 2
        elastic = ca.mtimes(Y.T, along) + ca.mtimes(self.K, self.q) + ca.mtimes(self.C, self.u)
        if self.drag is not None:
            elastic += self.drag
        kinetic = (k.mass * ca.sumsqr(v) + ca.dot(w, ca.mtimes(k.J, w)) + ca.dot(y_dot, ca.mtimes(k.M, y_dot))) / 2
        kinetic += ca.dot(v, ca.cross(w, k.c)) + ca.dot(v, moving) + ca.dot(w, ca.mtimes(k.H, y_dot))
        return Inertia(force, moment, kinetic, elastic, self.strain, self.loss)

    @cached_property
    def _bend(self) -> ca.SX:
        """The rate of y' at constant q'."""
        tables = self._affine[1] if self.stiffening == "full" else []
        twice = [-ca.dot(self.u, ca.mtimes(constant(G), self.u)) for G in tables]
        return ca.vertcat(ca.SX(self.q.numel(), 1), *twice)

    @cached_property
    def strain(self) -> ca.SX:
        """Strain energy."""
        return ca.dot(self.q, ca.mtimes(self.K, self.q)) / 2

    @cached_property
    def loss(self) -> ca.SX:
        """Power lost in the material."""
        lost = ca.dot(self.u, ca.mtimes(self.C, self.u))
        return lost if self.drag is None else lost + ca.dot(self.u, self.drag)


def _gram(t: Tables) -> Array:
    """(4, 4) integrals of the products of 1 and s_a over the mass."""
    return np.block([[np.array([[t.mass]]), t.first[None, :]], [t.first[:, None], t.second]])


def _inertia_of(P: dict[tuple[int, int], ca.SX]) -> ca.SX:
    """The inertia matrix from second moments of mass."""
    rows = [[-P[a, b] for b in range(3)] for a in range(3)]
    for a in range(3):
        rows[a][a] = P[(a + 1) % 3, (a + 1) % 3] + P[(a + 2) % 3, (a + 2) % 3]
    return ca.sparsify(ca.vertcat(*(ca.horzcat(*row) for row in rows)))
