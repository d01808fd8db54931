"""A mechanism under one pair of trees: coordinates, chord equations, forces, and the balance of virtual work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import casadi as ca

from cotree.formulation.branch.chords import Rows, chord_rows
from cotree.formulation.branch.kinematics import Kinematics
from cotree.formulation.branch.places import Place
from cotree.formulation.branch.topology import Branches, Link, Topology
from cotree.formulation.branch.wrenches import Applied, along, tree_reactions
from cotree.maths.symbolic import column
from cotree.terminal.characteristic import Characteristic
from cotree.terminal.mechanics import XYZ, Body, BodyMotion, Driver, Inertia, Motion, Wrench


@dataclass(frozen=True)
class Acting:
    """A force element or actuator: the wrench on frame b, its power into the bodies, and its potential energy."""

    name: str
    wrench: Wrench
    link: tuple[ca.SX, ca.SX]
    """Across velocities and through forces, whose product is the power."""
    potential: ca.SX
    supplies: bool
    loss: ca.SX | None = None
    """The dissipated power, where the element says it."""
    along: ca.SX | None = None
    """The generalised force, where it acts along a joint's coordinate."""
    frames: tuple[str, str] | None = None
    """Nodes between which it acts, where they do not follow from its name."""
    loaded: bool = False
    """Whether the power comes from a network, which books it."""
    banked: ca.SX = field(default_factory=lambda: ca.SX(0))
    """The power that is stored beyond the potential energy."""
    motion: Motion | None = None
    """How its ends move, where it acts along the line between them."""

    @property
    def power(self) -> ca.SX:
        """What flows into the bodies."""
        return ca.dot(*self.link)


@dataclass(frozen=True)
class Reactions:
    """What joints, constraints and drivers carry."""

    held: Mapping[str, Wrench]
    """Wrench on frame b of every joint and constraint."""
    drives: Mapping[str, ca.SX]
    """Forces of drivers, by name."""
    shares: tuple[tuple[str, Link, str, ca.SX], ...]
    """What couplings exert along coordinates: the coupling, the joint, its coordinate, the generalised force."""
    pairs: tuple[tuple[Place, Place, Wrench], ...]
    """Every wrench that acts between two frames, those of elements and drivers included: on b, and opposite on a."""


class Mechanism:
    """All expressions of a mechanism in the coordinates of its trees."""

    def __init__(self, top: Topology, tree: Branches) -> None:
        self.top, self.tree = top, tree
        self.kin = Kinematics(top, tree)
        self.rows: list[Rows] = chord_rows(self.kin)
        self.loads: list[Acting] = []
        """What a network puts on the mechanism."""

    def values_of(self, body: Body) -> Any:
        """The values of a body, which may follow measured quantities of this mechanism."""
        if not any(expression.measured for expression in body.expressions.values()):
            return self.top.of(body)
        self.top.values.measures = Measures(self, self.top.values.others)
        return self.top.values.of(body)

    @cached_property
    def flux_power(self) -> ca.SX:
        """What bodies of varying mass gain by the flow of mass, weight included."""
        kin, total = self.kin, ca.SX(0)
        for j, body in enumerate(self.top.bodies):
            if body is not None:
                v = self.values_of(body)
                still = ca.SX.zeros(3)
                total += body.flux_power(v, BodyMotion(kin.v[j], kin.omega[j], still, still, kin.gravity[j]))
                mass, first = body.flux(v)
                total -= ca.dot(kin.gravity[0], mass * kin.p[j] + ca.mtimes(kin.R[j], first))
        return total

    @cached_property
    def inertia(self) -> list[Inertia | None]:
        """Momentum rates less weight of each body."""
        kin = self.kin
        v_dot, w_dot = kin.accelerations
        result: list[Inertia | None] = [None]
        for j, body in enumerate(self.top.bodies):
            if body is not None:
                elastic = kin.u_dot[kin.elastic[j]] if kin.elastic.get(j) else ca.SX(0, 1)
                motion = BodyMotion(kin.v[j], kin.omega[j], v_dot[j], w_dot[j], kin.gravity[j], elastic)
                result.append(body.inertia_law(self.values_of(body), motion))
        return result

    @cached_property
    def acting(self) -> list[Acting]:
        """All force elements and joint forces."""
        self.top.values.measures = Measures(self, self.top.values.others)
        kin, top = self.kin, self.top
        here = SimpleNamespace(t=kin.t)
        result = []
        for part in top.elements:
            a, b = top.place(part.ends[0], part.name), top.place(part.ends[1], part.name)
            motion, v = kin.relative(a, b), top.values.of(part)
            wrench = part.wrench(v, motion, here)
            link = (ca.vertcat(motion.d_dot, motion.omega), ca.vertcat(wrench.force, wrench.torque))
            own = ca.SX(part.potential(v, motion)), part.supplies, part.loss(v, motion)
            line = motion if part.straight else None
            result.append(Acting(part.name, wrench, link, *own, banked=part.banked(v, motion), motion=line))
            if isinstance(part, Characteristic) and part.law is not None:
                top.values.laws[f"{part.name}.law"] = ca.norm_2(wrench.force)
        for push in top.joint_forces:
            link_of = top.joint_of(push)
            name = push.chosen(link_of.joint)
            v = top.values.of(push)
            x, rate = kin.coordinate(link_of, name)
            amount = ca.SX(push.force(v, x, rate, here))
            wrench = along(kin, link_of, name, amount)
            if isinstance(push, Characteristic) and push.law is not None:
                top.values.laws[f"{push.name}.law"] = amount
            result.append(
                Acting(
                    push.name,
                    wrench,
                    (rate, amount),
                    ca.SX(push.potential(v, x)),
                    push.supplies,
                    push.loss(v, x, rate),
                    amount,
                    banked=push.banked(v, x, rate),
                )
            )
        return result + self.loads

    def ends(self, name: str) -> tuple[str, str]:
        """The frames between which an element acts."""
        part: Any = self.top.model.components.get(name)
        if part is None:  # a weld between segments
            part = self.top.links[name].joint
        on = getattr(part, "on", None)
        joint = part if on is None else self.top.links[on].joint
        return joint.ends[0], joint.ends[1]

    def held_places(self, name: str) -> tuple[Place, Place]:
        """The places of these frames."""
        link = self.top.links.get(name)
        if link is not None:
            return link.a, link.b
        frame_a, frame_b = self.ends(name)
        return self.top.places[frame_a], self.top.places[frame_b]

    @cached_property
    def generalised(self) -> ca.SX:
        """Generalised forces of all elements: the cutset sums of virtual work (Richard 2012, eq. 44)."""
        kin = self.kin
        if not self.acting or not kin.u.numel():
            return ca.SX.zeros(kin.u.numel())
        across, through = (ca.vertcat(*parts) for parts in zip(*(each.link for each in self.acting), strict=True))
        return ca.densify(ca.jtimes(across, kin.u, through, True))

    @cached_property
    def inertia_force(self) -> ca.SX:
        """M u' + h of the bodies alone: virtual work of the momentum rates, by one reverse-mode product."""
        kin = self.kin
        if not kin.u.numel():
            return ca.SX(0, 1)
        bodies = [j for j, part in enumerate(self.inertia) if part is not None]
        across = ca.vertcat(*(ca.vertcat(kin.v[j], kin.omega[j], kin.elastic_speeds(j)) for j in bodies))
        parts = [self.inertia[j] for j in bodies]
        through = ca.vertcat(*(ca.vertcat(part.force, part.moment, part.elastic) for part in parts if part is not None))
        return ca.densify(ca.jtimes(across, kin.u, through, True))

    @cached_property
    def kinetic(self) -> ca.SX:
        """Kinetic energy."""
        return sum((part.kinetic for part in self.inertia if part is not None), ca.SX(0))

    @cached_property
    def weight_potential(self) -> ca.SX:
        """Potential energy of the bodies' weight, and strain energy."""
        total = sum((part.strain for part in self.inertia if part is not None), ca.SX(0))
        for j, body in enumerate(self.top.bodies):
            if body is not None:
                mass, centre = body.weight(self.values_of(body))
                place = self.kin.p[j] + ca.mtimes(self.kin.R[j], centre)
                total -= mass * ca.dot(self.kin.gravity[0], place)
        return total

    def reactions(self, multipliers: Mapping[int, ca.SX]) -> Reactions:
        """What joints, constraints and drivers carry.

        ``multipliers`` holds the expressions of the kept rows by their number among all rows.
        """
        kin, top = self.kin, self.top
        pairs: list[tuple[Place, Place, Wrench]] = []
        for act in self.acting:
            frame_a, frame_b = self.ends(act.name) if act.frames is None else act.frames
            pairs.append((top.places[frame_a], top.places[frame_b], act.wrench))
        held: dict[str, Wrench] = {}
        drives: dict[str, ca.SX] = {}
        shares: list[tuple[str, Link, str, ca.SX]] = []
        for rows, first in self.numbered():
            lam = ca.vertcat(*(multipliers.get(first + k, ca.SX(0)) for k in range(len(rows))))
            if rows.driver:
                link, name = self.driven_coordinate(rows.owner)
                drives[rows.owner] = lam
                pairs.append((link.a, link.b, along(kin, link, name, lam)))
            elif rows.force is not None and rows.torque is not None and rows.a is not None and rows.b is not None:
                wrench = Wrench(ca.mtimes(rows.force.T, lam), ca.mtimes(rows.torque.T, lam))
                held[rows.owner] = _sum(held.get(rows.owner), wrench)
                pairs.append((rows.a, rows.b, wrench))
            else:
                for joint, name, factor in self._coupled(rows.owner):
                    shares.append((rows.owner, joint, name, factor * lam))
                    pairs.append((joint.a, joint.b, along(kin, joint, name, factor * lam)))
        applied = Applied(kin)
        for each in pairs:
            applied.add(*each)
        for name, wrench in tree_reactions(kin, self.inertia, applied).items():
            link = top.links[name]
            if not link.of_body:
                held[name] = _sum(held.get(name), wrench)
                pairs.append((link.a, link.b, wrench))
        for name in (name for name in self.top.model.components if name in self.tree.driven):
            link, coordinate = self.driven_coordinate(name)
            force, own = self._taken(link, coordinate, held[link.name])
            drives[name] = force
            held[link.name] = _sum(held[link.name], own, -1)
        return Reactions(held, drives, tuple(shares), tuple(pairs))

    def _taken(self, link: Link, name: str, total: Wrench) -> tuple[ca.SX, Wrench]:
        """The generalised force of a driver in the tree, and its wrench, out of what joint and driver carry."""
        unit = along(self.kin, link, name, ca.SX(1))
        group = next(c.group for c in link.joint.coordinates if c.name == name)
        if link.joint.coupled:
            lead = link.joint.translation_rate(link.values, {}, {name: ca.SX(1)})
            amount = ca.dot(total.force, lead) + ca.dot(total.torque, unit.torque)
        elif group == "translation":
            amount = ca.dot(total.force, unit.force) / ca.sumsqr(unit.force)
        else:
            amount = ca.dot(total.torque, unit.torque) / ca.sumsqr(unit.torque)
        return amount, Wrench(unit.force * amount, unit.torque * amount)

    def driven_coordinate(self, name: str) -> tuple[Link, str]:
        """The joint and coordinate of a driver."""
        driver = self.top.model.components[name]
        assert isinstance(driver, Driver)
        link = self.top.links[driver.on]
        return link, driver.chosen(link.joint)

    def _coupled(self, name: str) -> Iterator[tuple[Link, str, ca.SX]]:
        from cotree.formulation.branch.chords import only

        coupling = next(c for c in self.top.couplings if c.name == name)
        for joint, coordinate, factor in coupling.terms(self.top.of(coupling)):
            link = self.top.links[joint]
            yield link, coordinate or only(link), factor

    def numbered(self) -> Iterator[tuple[Rows, int]]:
        """The groups of rows with the number of their first row."""
        first = 0
        for rows in self.rows:
            yield rows, first
            first += len(rows)

    @cached_property
    def velocity(self) -> ca.SX:
        """All rows at velocity level."""
        return column([rows.velocity for rows in self.rows])

    @cached_property
    def position(self) -> ca.SX:
        """All rows at position level, zero where a row holds velocities only."""
        return column([r.velocity * 0 if r.position is None else r.position for r in self.rows])

    @cached_property
    def holonomic(self) -> list[bool]:
        """Which rows hold positions."""
        return [r.position is not None for r in self.rows for _ in range(len(r))]

    @cached_property
    def lengths(self) -> list[bool]:
        """Which rows are lengths."""
        return [each for r in self.rows for each in r.lengths]

    @cached_property
    def labels(self) -> list[tuple[str, str]]:
        """Component and label of every row."""
        return [(r.owner, label) for r in self.rows for label in r.labels]


def _sum(a: Wrench | None, b: Wrench, sign: int = 1) -> Wrench:
    if a is None:
        return b
    return Wrench(a.force + sign * b.force, a.torque + sign * b.torque)


class Measures(Mapping[str, ca.SX]):
    """Positions and velocities of frames, and coordinates of joints, by the names of the results."""

    def __init__(self, mechanism: Mechanism, others: Mapping[str, ca.SX]) -> None:
        self.mechanism, self.others = mechanism, others
        kin = mechanism.kin
        names: dict[str, tuple[str, str, int]] = {}
        for node in mechanism.top.places:
            for what in ("position", "velocity", "angular_velocity"):
                names |= {f"{node}.{what}.{x}": (node, what, k) for k, x in enumerate(XYZ)}
        for link in mechanism.top.links.values():
            for c in link.joint.coordinates:
                if len(c.names) == 1 and not link.of_body:
                    names |= {f"{link.name}.{c.name}": (link.name, c.name, 0)}
                    names |= {f"{link.name}.{c.name}_rate": (link.name, c.name, 1)}
        self._names, self._kin = names, kin
        self._elastic = {
            f"{flexible.name}.{name}": value
            for flexible in mechanism.top.whole()
            for name, value in flexible.law.measures().items()
        }

    def __getitem__(self, name: str) -> ca.SX:
        if name in self._elastic:
            return self._elastic[name]
        if name not in self._names:
            return self.others[name]
        owner, what, k = self._names[name]
        if what in ("position", "velocity", "angular_velocity"):
            return frame_motion(self._kin, owner)[what][k]
        return self._kin.coordinate(self.mechanism.top.links[owner], what)[k]

    def __contains__(self, name: object) -> bool:
        return name in self._names or name in self._elastic or name in self.others

    def __iter__(self) -> Iterator[str]:
        return iter({**self._names, **self._elastic, **self.others})

    def __len__(self) -> int:
        return len(list(iter(self)))


def frame_motion(kin: Kinematics, node: str) -> dict[str, ca.SX]:
    """Position, velocity and angular velocity of a frame in world axes."""
    place = kin.top.places[node]
    j, R = place.body, kin.R[place.body]
    return {
        "position": kin.p[j] + ca.mtimes(R, place.position),
        "velocity": ca.mtimes(R, kin.v[j] + ca.cross(kin.omega[j], place.position) + place.rate),
        "angular_velocity": ca.mtimes(R, kin.omega[j] + place.spin),
    }


__all__ = ["Acting", "Measures", "Mechanism", "Motion", "Reactions", "frame_motion"]
