"""Any rigid mechanism as a multibond graph with the same motion.

Bodies, joints, constraints, drivers and force elements become parts of the same name, bonded frame to frame: ``a`` and
``b`` of a joint to the frames that it joins, a motor to the port of its joint (``O.angle_axis``), the terms of a gear
to those of its joints. Values, results and measured quantities keep their names: ``crank.mass``, ``O.angle``,
``crank.A.position.x``, ``A.force.x``, ``motor.torque``. Euler parameters may have the opposite sign.

The start is that of the branch formulation. Start values that it leaves as given stay expressions of parameters; those
that loops, drivers or constraints change become numbers, from which the bond graph closes its loops by itself where
parameters are changed later; ``fixed`` ones keep their values then.

In a planar model what nothing carries from the ground gets a joint that keeps it in the plane, ``slider_plane``.
Flexible bodies have no bond graph here.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

from cotree.bond.branch import (
    OfBody,
    OfConstraint,
    OfCoupling,
    OfDriver,
    OfForce,
    OfJoint,
    OfJointForce,
    OfVaryingBody,
)
from cotree.bond.branch.constraints import only_coordinate
from cotree.bond.branch.joints import port_of
from cotree.bond.branch.start import ConsistentStart
from cotree.bond.elements import BondPart
from cotree.bond.junctions import Bond
from cotree.bond.mechanics import Ground
from cotree.bond.simplify import rebuilt
from cotree.errors import FormulationError, ModelError
from cotree.formulation.branch.graph import mechanism_graph
from cotree.formulation.branch.topology import GROUND, Topology, topology
from cotree.formulation.inertias import unreal_inertias, with_real_inertias
from cotree.model import Component, GroundFrame, Model
from cotree.terminal.bodies import RigidBody
from cotree.terminal.deformable import Deformable
from cotree.terminal.joints import Planar, PlanarSlide
from cotree.terminal.mechanics import Body, Connection, Constraint, Coupling, Driver, Element, Joint, JointForce

M = TypeVar("M", bound=Model)


def mechanism_bond_graph(model: M) -> M:
    """The multibond graph of a rigid mechanism."""
    for part in model.components.values():
        if isinstance(part, Deformable):
            raise ModelError(
                f"'{part.name}' ({part.kind}) is flexible", where=part.name,
                expected="rigid bodies: only they have a bond graph here",
            )  # fmt: skip
    made: M = _Bridge(_repaired(model)).graph
    return made


def _repaired(model: M) -> M:
    """The model with real inertias, where it repairs them: a bond graph holds them in numbers."""
    unreal = unreal_inertias(model) if model.inertia == "repair" and not model.planar else {}
    if not unreal:
        return model
    made, values = rebuilt(model), model.component_values()
    for part in model.components.values():
        if isinstance(part, RigidBody) and part in unreal:
            made.add(with_real_inertias(part, unreal[part][2], values))
        else:
            made.add(part)
    return made


class _Bridge:
    """The bond graph of a mechanism while it is being built."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.top: Topology = topology(model, mechanism_graph(model))
        self.start = ConsistentStart(self.top)
        self.graph: Any = rebuilt(model)
        self.taken = {*model.components}
        self.ground = self._free_name(model.datums[0])
        self.carried = self._carried()
        self.bonds: list[Bond] = []
        self.numbers = (name for k in itertools.count(1) if (name := f"b{k}") not in self.taken)
        if any(self._node(each) == self.ground for part in model.components.values() for each in _ends(part)):
            self.graph.add(Ground(self.ground))
        for part in model.components.values():
            self._add(part)
        for bond in self.bonds:
            self.graph.add(bond)

    def _free_name(self, wanted: str) -> str:
        every = itertools.chain([wanted], (f"{wanted}_{k}" for k in itertools.count(2)))
        name = next(each for each in every if each not in self.taken)
        self.taken.add(name)
        return name

    def _carried(self) -> set[int]:
        """Bodies that joints connect to the ground, or to a body that comes before them."""
        for j in self.top.carriers:
            name = self.top.bodies[j].name  # type: ignore[union-attr]
            raise FormulationError(
                f"'{name}' is a point that passes rotations on between its joints, which bond graphs cannot say",
                where=name,
                remedy=f"Make '{name}' a RigidBody with its inertia",
            )
        near: dict[int, list[int]] = {}
        for link in self.top.links.values():
            if not link.of_body and self.top.oriented(link):
                near.setdefault(link.i, []).append(link.j)
                near.setdefault(link.j, []).append(link.i)
        seen, carried = set[int](), set[int]()
        for root in range(len(self.top.bodies)):
            todo = [] if root in seen else [root]
            seen |= {root}
            for body in todo:
                for other in near.get(body, ()):
                    if other not in seen:
                        seen.add(other)
                        carried.add(other)
                        todo.append(other)
        return carried

    def _node(self, name: str) -> str:
        """Where a bond to a frame ends."""
        place = self.top.places[name]
        if name in ("ground", self.model.datums[0]) and name not in self.model.components:
            return self.ground
        body = self.top.bodies[place.body]
        if place.body == GROUND or body is None:
            return name
        return f"{name}.{_of_body(body).origin}" if name == body.name else name

    def bond(self, tail: str, head: str) -> None:
        """Add a bond."""
        self.bonds.append(Bond(next(self.numbers), tail, head))

    def _add(self, part: Component) -> None:
        if isinstance(part, GroundFrame):
            turn = {} if part.axis is None else {"axis": part.axis, "angle": part.angle}
            self.graph.add(Ground(part.name, position=part.position, **turn))
        elif isinstance(part, Body):
            self._body(part)
        elif isinstance(part, Coupling):
            self._coupling(part)
        elif isinstance(part, (JointForce, Driver)):
            kind = OfDriver if isinstance(part, Driver) else OfJointForce
            self.graph.add(kind(part.name, component=part))
            joint = self.top.links[part.on].joint
            self.bond(part.name, f"{part.on}.{port_of(part.chosen(joint))}")
        elif isinstance(part, Connection):
            self._between(part, self._counterpart(part))
        else:
            raise ModelError(f"a {part.kind} has no bond graph", where=part.name)

    def _counterpart(self, part: Connection) -> BondPart:
        if isinstance(part, Joint):
            changes = self.start.joint(part)
            own = dataclasses.replace(part, **changes)
            return OfJoint(part.name, component=own, oriented=self.top.oriented(self.top.links[part.name]))
        if isinstance(part, Constraint):
            return OfConstraint(part.name, component=part)
        assert isinstance(part, Element)
        return OfForce(part.name, component=part)

    def _between(self, part: Connection, made: BondPart) -> None:
        self.graph.add(made)
        self.bond(self._node(part.ends[0]), f"{part.name}.a")
        self.bond(f"{part.name}.b", self._node(part.ends[1]))

    def _body(self, body: Body) -> None:
        index = self.top.bodies.index(body)
        floats = index not in self.carried
        changes = self.start.body(body) if floats and not self.model.planar else {}
        self.graph.add(_of_body(dataclasses.replace(body, **changes) if changes else body))
        if floats and self.model.planar:
            self._plane(body)

    def _plane(self, body: Body) -> None:
        """A joint that keeps a body in the plane."""
        name = self._free_name(f"{body.name}_plane")
        position, velocity, R, w = self.start.motion(body)
        start = {"x": position[0], "y": position[1], "x_rate": velocity[0], "y_rate": velocity[1]}
        kind: type[Joint] = PlanarSlide
        if body.turns:
            kind = Planar
            start |= {"angle": np.arctan2(R[1, 0], R[0, 0]), "angle_rate": w[2]}
        numbers: dict[str, Any] = {key: float(value) for key, value in start.items()}
        joint = kind(name, self.model.datums[0], body.name, **numbers)
        if self.ground not in self.graph.components:
            self.graph.add(Ground(self.ground))
        self._between(joint, OfJoint(name, component=joint, oriented=body.turns))

    def _coupling(self, part: Coupling) -> None:
        self.graph.add(OfCoupling(part.name, component=part))
        for k, (joint, coordinate, _) in enumerate(part.terms(self.top.of(part))):
            owner = self.top.links[joint].joint
            chosen = coordinate or only_coordinate(OfJoint(joint, component=owner))
            self.bond(f"{joint}.{port_of(chosen)}", f"{part.name}.term_{k + 1}")


def _of_body(body: Body) -> OfBody:
    """The counterpart of a body."""
    kinds = [kind for kind in (OfBody, OfVaryingBody) if kind.fits(body)]
    if not kinds:
        raise ModelError(f"a {body.kind} has no bond graph", where=body.name)
    return kinds[0](body.name, component=body)


def _ends(part: Component) -> Iterator[str]:
    """The frames of a joint, constraint or force."""
    if isinstance(part, Connection):
        yield part.ends[0]
        yield part.ends[1]
