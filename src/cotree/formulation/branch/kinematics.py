"""One walk along the trees for the rotation, position and velocities of every body (method.md, branch coordinates 2).

Velocities are in body axes, which keeps the expressions of long chains short. A chord's own angle counts full turns by
an extra coordinate that only picks the branch of the arc tangent.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca

from cotree.formulation.branch.places import Flexible, Place
from cotree.formulation.branch.topology import GROUND, Branches, Link, Topology
from cotree.maths.lookup import slopes
from cotree.maths.rotation import quaternion_rate, skew
from cotree.maths.symbolic import column, elements
from cotree.terminal.joints import Turning, unit
from cotree.terminal.mechanics import ORIENTATION, Coordinate, Joint, Motion

BODY_ANGLE = "body_angle"
"""Angle of a joint between the undeformed frames of flexible bodies, the coordinate in place of its own angle."""


def _T(matrix: ca.SX, vector: ca.SX) -> ca.SX:
    return ca.mtimes(matrix.T, vector)


class Kinematics:
    """Coordinates q, speeds u, and the motion of all bodies as expressions of them and of time."""

    def __init__(self, top: Topology, tree: Branches) -> None:
        self.top, self.tree = top, tree
        self.t = top.values.t
        self.q_names: list[str] = []
        self.q_units: list[str] = []
        self.u_names: list[str] = []
        self.u_units: list[str] = []
        self.q_symbols: list[ca.SX] = []
        self.u_symbols: list[ca.SX] = []
        self.rates: list[ca.SX] = []
        self.quaternions: list[tuple[int, int]] = []
        self.owners: list[tuple[str, str]] = []
        """Link and coordinate of each speed."""
        self.speed_places: dict[str, list[int]] = {}
        """Places in u of each link's speeds."""
        self.coordinate_places: dict[str, list[int]] = {}
        """Places in q of each link's coordinates."""
        self.positions: dict[str, dict[str, ca.SX]] = {}
        """Coordinates of each link in a tree, by name: symbols, or functions of time where they are driven."""
        self.speeds: dict[str, dict[str, ca.SX]] = {}
        self.aligned: dict[str, tuple[ca.SX, ca.SX]] = {}
        """Links that turn about an axis about which deformation turns their ends, too: what it adds from body to body.

        Their coordinate in q, ``body_angle``, is that between undeformed frames: then deformation moves no other body.
        """
        for link in self._links():
            self._coordinates(link)
        self.elastic: dict[int, list[int]] = {}
        """Places in u of each flexible body's elastic speeds."""
        self.elastic_coordinates: dict[int, list[int]] = {}
        """Places in q of each flexible body's elastic coordinates."""
        for j, flexible in top.flexible.items():
            self._elastic(j, flexible)
        count = len(top.bodies)
        self.R: list[ca.SX] = [ca.SX.eye(3)] * count
        self.omega: list[ca.SX] = [ca.SX.zeros(3)] * count
        self.p: list[ca.SX] = [ca.SX.zeros(3)] * count
        self.v: list[ca.SX] = [ca.SX.zeros(3)] * count
        self.gravity: list[ca.SX] = [self._gravity()] * count
        self._relative: dict[tuple[int, int], ca.SX] = {}
        self.turned: dict[int, ca.SX] = {}
        """Angular velocity of each body seen from the one that carries it in the tree of rotations."""
        self._offset: dict[tuple[int, int], ca.SX] = {}
        self._turn()
        self._move()
        self.windings: dict[tuple[str, str], ca.SX] = {}
        self._count_turns()

    def _gravity(self) -> ca.SX:
        g = self.top.values.of(self.top.model.valued()[0])
        return ca.SX(ca.vertcat(g.x, g.y, g.z))

    def _links(self) -> list[Link]:
        """Links with coordinates, in the order of the walks."""
        seen: dict[str, Link] = {}
        for _, _, link in (*self.tree.translation, *self.tree.rotation):
            seen.setdefault(link.name, link)
        return list(seen.values())

    def _coordinates(self, link: Link) -> None:
        joint = link.joint
        drivers = {d.chosen(joint): d for d in link.drivers if d.name in self.tree.driven}
        self.positions[link.name], self.speeds[link.name] = {}, {}
        for c in joint.coordinates:
            held = self.tree.moving if c.group == "translation" else self.tree.turning
            if link.name not in held:
                continue
            if c.group == "rotation" and link.name in self.top.leading:
                self.positions[link.name][c.name] = self.speeds[link.name][c.name] = ca.SX(0)
                continue
            driver = drivers.get(c.name)
            more = self._alignment(link) if c.group == "rotation" else None
            if more is not None:
                self.aligned[link.name] = more
            if driver is not None:
                course = driver.course(self.top.of(driver))
                position, speed = course, ca.jacobian(course, self.t)
            elif more is not None:
                between = Coordinate(BODY_ANGLE, "rotation")
                position, speed = self._new_q(link.name, between), self._new_u(link.name, between)
                self.rates.append(speed)
                position, speed = position - more[0], speed - more[1]
            else:
                position, speed = self._new_q(link.name, c), self._new_u(link.name, c)
                self.rates.append(quaternion_rate(position, speed) if c.name == ORIENTATION else speed)
            self.positions[link.name][c.name], self.speeds[link.name][c.name] = position, speed

    def _alignment(self, link: Link) -> tuple[ca.SX, ca.SX] | None:
        """By how much more than the joint's own angle one body is turned against the other, and its rate."""
        if not isinstance(link.joint, Turning) or (link.a.node is None and link.b.node is None):
            return None
        axis = unit(link.values.axis)
        at_a, at_b = link.a.turn_about(axis), link.b.turn_about(axis)
        if at_a is None or at_b is None:
            return None
        return at_a[0] - at_b[0], at_a[1] - at_b[1]

    def _new_q(self, owner: str, c: Coordinate) -> ca.SX:
        names = [f"{owner}.{name}" for name in c.names]
        symbols = [ca.SX.sym(name) for name in names]
        if c.name == ORIENTATION:
            self.quaternions.append((len(self.q_names), len(self.u_names)))
        self.coordinate_places.setdefault(owner, []).extend(range(len(self.q_names), len(self.q_names) + len(names)))
        self.q_names += names
        self.q_units += [c.unit] * len(names)
        self.q_symbols += symbols
        return ca.vertcat(*symbols)

    def _new_u(self, owner: str, c: Coordinate) -> ca.SX:
        names = [f"{owner}.{name}" for name in c.rate_names]
        symbols = [ca.SX.sym(name) for name in names]
        self.owners += [(owner, c.name)] * len(names)
        self.speed_places.setdefault(owner, []).extend(range(len(self.u_names), len(self.u_names) + len(names)))
        self.u_names += names
        self.u_units += [c.rate_unit] * len(names)
        self.u_symbols += symbols
        return ca.vertcat(*symbols)

    def _elastic(self, j: int, flexible: Flexible) -> None:
        """The elastic coordinates of a body: flexible arms are always in the tree."""
        owner, floating = flexible.name, flexible.floating
        names, units = floating.tables.names, floating.tables.units
        self.elastic[j] = list(range(len(self.u_names), len(self.u_names) + len(names)))
        self.elastic_coordinates[j] = list(range(len(self.q_names), len(self.q_names) + len(names)))
        self.q_names += [f"{owner}.{name}" for name in names]
        self.q_units += units
        self.q_symbols += elements(floating.q)
        self.owners += [(owner, name) for name in names]
        self.u_names += [f"{owner}.{name}_rate" for name in names]
        self.u_units += [f"{unit}/s" for unit in units]
        self.u_symbols += elements(floating.u)
        self.rates += elements(floating.u)

    def elastic_speeds(self, j: int) -> ca.SX:
        """The elastic speeds of a body; none of a rigid one."""
        return self.top.flexible[j].floating.u if j in self.top.flexible else ca.SX(0, 1)

    def _turn(self) -> None:
        for i, j, link in self.tree.rotation:
            if not self.top.turns(j) and j not in self.top.carriers:
                self.gravity[j] = self.gravity[GROUND]
                continue
            B, own = self._turned(i, link)
            self._relative[i, j], self.turned[j] = B, own
            self.R[j] = ca.mtimes(self.R[i], B)
            self.omega[j] = _T(B, self.omega[i]) + own
            self.gravity[j] = _T(B, self.gravity[i])

    def _turned(self, i: int, link: Link) -> tuple[ca.SX, ca.SX]:
        """Rotation of the outer body in the inner one, i, and its angular velocity seen from there, in its own axes."""
        joint, v, q, u = link.joint, link.values, self.positions[link.name], self.speeds[link.name]
        a, b = link.a.rotation, link.b.rotation
        spin_a, spin_b = link.a.spin, link.b.spin
        if link.name in self.aligned:
            more, faster = self.aligned[link.name]
            q, u = q | {"angle": q["angle"] + more}, u | {"angle": u["angle"] + faster}
            a, b = (end.rotation if end.base is None else end.base for end in (link.a, link.b))
            spin_a = spin_b = ca.SX(3, 1)
        C, spin = joint.rotation(v, q), joint.spin(v, q, u)
        if i == link.i:  # b hangs on the outer body
            B = ca.mtimes(ca.mtimes(a, C), b.T)
            return B, ca.mtimes(b, spin) + _T(B, spin_a) - spin_b
        B = ca.mtimes(ca.mtimes(b, C.T), a.T)
        return B, _T(B, spin_b) - ca.mtimes(a, ca.mtimes(C, spin)) - spin_a

    def between(self, i: int, j: int) -> ca.SX:
        """Rotation of body j in the axes of body i."""
        if i == j:
            return ca.SX.eye(3)
        if (i, j) not in self._relative:
            known = self._relative.get((j, i))
            self._relative[i, j] = known.T if known is not None else _T(self.R[i], self.R[j])
        return self._relative[i, j]

    def _move(self) -> None:
        for i, j, link in self.tree.translation:
            joint, q, u = link.joint, self.positions[link.name], self.speeds[link.name]
            d, d_dot = joint.translation(link.values, q), joint.translation_rate(link.values, q, u)
            reach = ca.mtimes(link.a.rotation, d)
            arm = link.a.position + reach  # from a's body to b's origin, in its axes
            rate = link.a.rate + ca.cross(link.a.spin, reach) + ca.mtimes(link.a.rotation, d_dot)
            B, w_i, w_j = self.between(i, j), self.omega[i], self.omega[j]
            if i == link.i:
                offset = arm - ca.mtimes(B, link.b.position)
                own = ca.cross(w_j, link.b.position) + link.b.rate
                self.v[j] = _T(B, self.v[i] + ca.cross(w_i, arm) + rate) - own
            else:
                offset = link.b.position - ca.mtimes(B, arm)
                there = self.v[i] + ca.cross(w_i, link.b.position) + link.b.rate
                self.v[j] = _T(B, there) - ca.cross(w_j, arm) - rate
            self._offset[i, j] = offset
            self.p[j] = self.p[i] + ca.mtimes(self.R[i], offset)

    def offset(self, i: int, j: int) -> ca.SX:
        """Position of the origin of body j from that of body i, in the axes of i."""
        if i == j:
            return ca.SX.zeros(3)
        if (i, j) in self._offset:
            return self._offset[i, j]
        if (j, i) in self._offset:
            return -_T(self.between(j, i), self._offset[j, i])
        return _T(self.R[i], self.p[j] - self.p[i])

    def relative(self, a: Place, b: Place) -> Motion:
        """The motion of one frame seen from another."""
        i, j = a.body, b.body
        B = self.between(i, j)
        reach = self.offset(i, j) + ca.mtimes(B, b.position)  # from i's origin to b, in the axes of i
        rate = ca.mtimes(B, self.v[j] + ca.cross(self.omega[j], b.position) + b.rate)
        rate = rate - self.v[i] - ca.cross(self.omega[i], reach) - a.rate - ca.cross(a.spin, reach - a.position)
        spin = ca.mtimes(B, self.omega[j] + b.spin) - self.omega[i] - a.spin
        return Motion(
            _T(a.rotation, reach - a.position),
            ca.mtimes(_T(a.rotation, B), b.rotation),
            _T(a.rotation, rate),
            _T(a.rotation, spin),
        )

    def motion(self, link: Link) -> Motion:
        """The motion of b seen from a for a joint: by its own coordinates where both trees hold it."""
        if link.name in self.tree.moving and link.name in self.tree.turning:
            joint, q, u = link.joint, self.positions[link.name], self.speeds[link.name]
            C = joint.rotation(link.values, q)
            spin = ca.mtimes(C, joint.spin(link.values, q, u))
            return Motion(joint.translation(link.values, q), C, joint.translation_rate(link.values, q, u), spin)
        return self.relative(link.a, link.b)

    def _count_turns(self) -> None:
        """A coordinate for each angle of a chord that something uses, which remembers its full turns."""
        for link in self.top.links.values():
            if link.name in self.tree.turning or link.name not in self.top.referenced or not self.top.oriented(link):
                continue
            for c in link.joint.coordinates:
                if c.group == "rotation" and c.name != ORIENTATION:
                    _, rates = self._measured(link)
                    self.windings[link.name, c.name] = self._new_q(link.name, c)
                    self.rates.append(rates[c.name])

    def coordinate(self, link: Link, name: str) -> tuple[ca.SX, ca.SX]:
        """A scalar coordinate of a joint and its rate, under any tree."""
        if name in self.positions.get(link.name, {}):
            return self.positions[link.name][name], self.speeds[link.name][name]
        values, rates = self._measured(link)
        value, count = values[name], self.windings.get((link.name, name))
        if count is not None:
            ahead = value - count
            value = count + ca.atan2(ca.sin(ahead), ca.cos(ahead))
        return value, rates[name]

    def _measured(self, link: Link) -> tuple[dict[str, ca.SX], dict[str, ca.SX]]:
        """Scalar coordinates of a chord from the relative motion, and their rates."""
        if link.name not in self._chord_measures:
            self._chord_measures[link.name] = measured(link.joint, link.values, self.relative(link.a, link.b))
        return self._chord_measures[link.name]

    @cached_property
    def _chord_measures(self) -> dict[str, tuple[dict[str, ca.SX], dict[str, ca.SX]]]:
        return {}

    @cached_property
    def q(self) -> ca.SX:
        """All coordinates."""
        return column(self.q_symbols)

    @cached_property
    def u(self) -> ca.SX:
        """All speeds."""
        return column(self.u_symbols)

    @cached_property
    def q_dot(self) -> ca.SX:
        """N(q) u."""
        return ca.densify(column(self.rates))

    @cached_property
    def u_dot(self) -> ca.SX:
        """Symbols of the speeds' rates."""
        return column([ca.SX.sym(f"d({name})/dt") for name in self.u_names])

    def rate(self, expression: ca.SX) -> ca.SX:
        """The total time derivative of an expression of q, u and t."""
        if not expression.nnz():
            return expression
        along = ca.vertcat(self.q_dot, self.u_dot, ca.SX(1))
        return ca.jtimes(ca.densify(expression), ca.vertcat(self.q, self.u, self.t), along)

    @cached_property
    def accelerations(self) -> tuple[list[ca.SX], list[ca.SX]]:
        """Component rates of the velocities and angular velocities of all bodies, in body axes."""
        bodies = range(1, len(self.v))
        if not len(bodies):
            return self.v, self.omega
        rates = self.rate(ca.vertcat(*(self.v[j] for j in bodies), *(self.omega[j] for j in bodies)))
        parts = ca.vertsplit(rates, 3)
        count = len(bodies)
        still = ca.SX.zeros(3)
        return [still, *parts[:count]], [still, *parts[count:]]


def measured(joint: Joint, v: Any, motion: Motion) -> tuple[dict[str, ca.SX], dict[str, ca.SX]]:
    """The scalar coordinates of a joint from a relative motion, and their rates."""
    d, C = ca.SX.sym("d", 3), ca.SX.sym("C", 3, 3)
    values = joint.measure(v, d, C)
    if not values:
        return {}, {}
    stacked = ca.vertcat(*values.values())
    along = ca.vertcat(motion.d_dot, ca.vec(ca.mtimes(skew(motion.omega), motion.C)))
    symbols = ca.vertcat(d, ca.vec(C))
    here = ca.densify(ca.vertcat(motion.d, ca.vec(motion.C)))
    now = ca.densify(ca.substitute(stacked, symbols, here))
    rates = ca.densify(ca.mtimes(ca.substitute(slopes(stacked, symbols), symbols, here), along))
    names = list(values)
    return dict(zip(names, ca.vertsplit(now), strict=True)), dict(zip(names, ca.vertsplit(rates), strict=True))
