"""A nodal structure as a mechanism in branch coordinates: bars and bodies with frames, joined by ball joints.

A bar has five degrees of freedom in nodal coordinates and six as a body: it may spin about its own axis. Pins put no
torque about that axis, so a bar that starts without spin keeps none, whatever its moment of inertia there, if the two
across it are equal. All three are therefore taken equal, m l^2/12 for a uniform rod and m l^2/4 for masses at its ends:
such an inertia needs no axes.

Every body starts with its axes along those of the world, so that its frames are differences of node positions, and
parameters in the expressions of the structure stay parameters of the mechanism.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from cotree.errors import ModelError
from cotree.formulation.nodal.start import Start
from cotree.formulation.nodal.structure import NodalStructure
from cotree.maths.symbolic import column
from cotree.model import Component, Expression, Model
from cotree.model.world import GroundFrame
from cotree.terminal import bodies, constraints, drivers, forces, joints, nodal, springs
from cotree.terminal.checked import RESULTS
from cotree.terminal.nodal.base import XYZ

M = TypeVar("M", bound=Model)
Given = float | str
Triple = tuple[Given, Given, Given]

CLOSE = 1e-9
"""How far given positions may be off the assembled ones, over the structure's size or 1, to be taken as they are."""
_PLACE = re.compile(r"(?<![\w.])([^\W\d][\w+-]*)\.(position|velocity)\.([xyz])(?![\w.])")


def branch_model(model: M) -> M:
    """The same structure as a mechanism of rigid bodies; what has no counterpart there is refused by name.

    Bars, bodies and supports keep their names; a frame has the name of its node (``AB.A``), a pin that of its node with
    ``_pin``. Where the nodes as given do not fit together (a bar of another length, a support that moves at the start),
    the numbers of the structure's own start are taken, and so are the velocities of bodies: these do not follow
    parameters that are changed later.
    """
    made = type(model)(
        model.name,
        datum=model.datums,
        gravity=None if model.gravity is None else [_given(model.gravity.expressions[x]) for x in XYZ],
        planar=model.planar,
    )
    for name, expression in model.parameters.items():
        made.parameter(name, _given(expression))
    _Converter(model, made).convert()
    return made


class _Converter:
    """One structure on its way to a mechanism."""

    def __init__(self, model: Model, made: Model) -> None:
        for part in model.components.values():
            for kind, why in REASONS.items():
                if isinstance(part, kind):
                    _refuse(part, why)
        self.s = NodalStructure(model)
        self.model = model
        self.made = made
        self.values = model.component_values()
        self.frames: dict[str, list[str]] = {name: [] for name in self.s.names[: self.s.real]}
        self.fixed: set[str] = set()
        self.owner: dict[str, str] = {}
        """The rigid part of each frame."""
        self._start()

    def convert(self) -> None:
        """Bodies, pins, then everything that acts on their frames."""
        parts = list(self.model.components.values())
        for part in parts:
            if isinstance(part, nodal.Fixed) and part.node not in self.fixed:
                self.fixed.add(part.node)
                self._frame(part.node, part.name, self.made.add(GroundFrame(part.name, position=self.place[part.node])))
        for part in parts:
            if isinstance(part, nodal.Body):
                self._body(part)
            elif isinstance(part, nodal.Bar) and self.values[f"{part.name}.mass"] > 0:
                self._bar(part)
        for name in self.frames:
            self._pins(name)
        for part in parts:
            make = next((make for kind, make in MAKERS.items() if isinstance(part, kind)), None)
            if make is not None:
                make(self, part)

    def _start(self) -> None:
        """Places and velocities of the nodes, as given where they fit together."""
        s = self.s
        rows = s.rows()
        _ = s.forces  # reads all expressions, which may add modes
        start = Start(s, rows, column([mode.value for mode in s.values.modes]))
        p = s.values.numbers()
        self.q, self.u = start.first(p, 0.0)
        self.p = p
        self.moving = bool(np.abs(self.u).max(initial=0.0) > 0)
        wanted = [np.asarray(each, dtype=float).ravel() for each in s.given(p)]
        self.place, self.speed = (
            self._triples(field, now, given)
            for field, now, given in zip(("position", "velocity"), (self.q, self.u), wanted, strict=True)
        )

    def _triples(self, field: str, now: Any, given: Any) -> dict[str, Triple]:
        d = self.s.dim
        fits = np.abs(now - given).max(initial=0.0) <= CLOSE * max(1.0, float(np.abs(given).max(initial=0.0)))
        result: dict[str, Triple] = {}
        for k, name in enumerate(self.frames):
            own = [_given(self.model.components[name].expressions[f"{field}.{x}"]) for x in XYZ]
            if not fits:
                own[:d] = [float(x) for x in now[d * k : d * k + d]]
            if d == 2 and field == "velocity":
                own[2] = 0.0
            result[name] = (own[0], own[1], own[2])
        return result

    def _frame(self, node: str, owner: str, place: Any) -> None:
        """Note a frame at a node."""
        name = place if isinstance(place, str) else place.name
        self.frames[node].append(name)
        self.owner[name] = owner

    def _rigid(self, name: str, over: tuple[str, ...], middle: Triple, **more: Any) -> None:
        """A rigid body with a frame at each of its nodes."""
        if self.s.dim == 2:  # the plane of the bodies is z = 0; frames may lie beside it
            middle = (middle[0], middle[1], 0.0)
        places = {_frame_name(node): self._apart(middle, self.place[node]) for node in over}
        body = bodies.RigidBody(name, frames=places, position=middle, orientation=(1.0, 0.0, 0.0, 0.0), **more)
        self.made.add(body)
        for node in over:
            self._frame(node, name, body[_frame_name(node)])

    def _apart(self, a: Triple, b: Triple) -> Triple:
        x, y, z = (_put("{1} - {0}", *pair) for pair in zip(a, b, strict=True))
        return x, y, z

    def _bar(self, bar: nodal.Bar) -> None:
        a, b = self.place[bar.node_a], self.place[bar.node_b]
        mass = _given(bar.expressions["mass"])
        square = self._square(self._apart(a, b)[: self.s.dim])
        moment = _put("{0} * {1} / 12" if bar.distribution == "consistent" else "{0} * {1} / 4", mass, square)
        x, y, z = (_put("({0} + {1}) / 2", *pair) for pair in zip(a, b, strict=True))
        self._rigid(bar.name, bar.nodes(), (x, y, z), mass=mass, inertia=(moment,) * 3, **self._bar_speed(bar, square))

    def _square(self, way: tuple[Given, ...]) -> Given:
        return _put(" + ".join(f"{{{k}}}**2" for k in range(len(way))), *way)

    def _bar_speed(self, bar: nodal.Bar, square: Given) -> dict[str, Any]:
        """Velocities of the middle, and the turning without spin: d x (v_b - v_a) / l^2."""
        v_a, v_b = self.speed[bar.node_a], self.speed[bar.node_b]
        if not self.moving:  # a bar at rest among moving ones is told so: what is not given may spin
            return {}
        d, v = self._apart(self.place[bar.node_a], self.place[bar.node_b]), self._apart(v_a, v_b)
        turning = [
            _put("({0} * {3} - {1} * {2}) / {4}", d[i], d[j], v[i], v[j], square) for i, j in ((1, 2), (2, 0), (0, 1))
        ]
        if self.s.dim == 2:
            turning[:2] = [0.0, 0.0]
        middle = [_put("({0} + {1}) / 2", *pair) for pair in zip(v_a, v_b, strict=True)]
        return {"velocity": tuple(middle), "angular_velocity": tuple(turning)}

    def _body(self, part: nodal.Body) -> None:
        if self.values[f"{part.name}.mass"] <= 0:
            _refuse(part, "a rigid body without mass has no equations of motion of its own", "Give it a small mass")
        place = [_given(part.expressions[f"centre.{x}"]) for x in XYZ]
        form, s = self.s.bodies[part.name], self.s
        known = [s.q, s.u, s.values.p.symbols]
        found = ca.Function(
            "body", known, [form.centre(s.x), form.centre(s.v), form.omega(s.x, s.v), form.rotation(s.x)]
        )
        now, speed, omega, turn = (np.asarray(each, dtype=float) for each in found(self.q, self.u, self.p))
        if np.abs(turn - np.eye(3)).max() > CLOSE:
            _refuse(part, "the structure as given does not fit together, and the body starts turned", "Move its nodes")
        given = [self.values[f"{part.name}.centre.{x}"] for x in XYZ]
        if np.abs(now.ravel() - given).max() > CLOSE * max(1.0, float(np.abs(given).max())):
            place = [float(x) for x in now.ravel()]
        inertia = tuple(_given(part.expressions[f"inertia.{x}"]) for x in bodies.MOMENTS)
        moving: dict[str, Any] = {}
        if self.moving:
            moving = {"velocity": _floats(speed), "angular_velocity": _floats(omega)}
        mass = _given(part.expressions["mass"])
        self._rigid(part.name, part.nodes(), (place[0], place[1], place[2]), mass=mass, inertia=inertia, **moving)

    def _pins(self, node: str) -> None:
        """A point mass where the node has one, and ball joints that hold all frames at the node together."""
        part = self.model.components[node]
        if self.values[f"{node}.mass"] > 0 and node not in self.fixed:
            moving = {"velocity": self.speed[node]} if self.moving else {}
            mass = _given(part.expressions["mass"])
            self.made.add(bodies.PointMass(node, mass=mass, position=self.place[node], **moving))
            self._frame(node, node, node)
        places = self.frames[node]
        if not places:
            _refuse(part, "nothing with mass is joined there", "Give the node or a bar that ends there a mass")
        kind = joints.Revolute if self.model.planar else joints.Spherical
        for k, place in enumerate(places[1:], 1):
            name = f"{node}_pin" if len(places) == 2 else f"{node}_pin{k}"
            self.made.add(kind(self._unused(name), places[0], place))

    def _unused(self, name: str) -> str:
        taken = {*self.model.components, *self.made.components}
        return (
            name if name not in taken else next(f"{name}_{k}" for k in range(2, 10_000) if f"{name}_{k}" not in taken)
        )

    def hub(self, node: str) -> str:
        """The frame that stands for a node."""
        return self.frames[node][0]

    def ends(self, nodes: tuple[str, ...]) -> tuple[str, str]:
        """The frames that stand for the first and the last of some nodes."""
        return self.hub(nodes[0]), self.hub(nodes[-1])

    def moves(self, a: str, b: str) -> bool:
        """Whether the distance of two nodes can change, or their parts are at least different."""
        owners = [{self.owner[place] for place in self.frames[node]} for node in (a, b)]
        return not ({a, b} <= self.fixed or owners[0] & owners[1])

    def ground(self, node: str, name: str) -> str:
        """A frame of the ground where a node starts."""
        return self.made.add(GroundFrame(self._unused(f"{name}_place"), position=self.place[node])).name

    def signal(self, part: Component, field: str, form: str = "{0}") -> Given:
        """A signal with places of nodes written as places of frames."""
        text = _PLACE.sub(self._renamed, part.expressions[field].text)
        return _put(form, _given(Expression(text)))

    def _renamed(self, match: re.Match[str]) -> str:
        node, what, axis = match.groups()
        return f"{self.hub(node)}.{what}.{axis}" if node in self.frames else match.group()

    def massless(self, bar: nodal.Bar) -> None:
        """A bar without mass keeps a distance and does nothing else."""
        if self.values[f"{bar.name}.mass"] > 0 or not self.moves(*bar.nodes()):
            return
        length = _put("sqrt({0})", self._square(self._apart(self.place[bar.node_a], self.place[bar.node_b])))
        a, b = self.ends(bar.nodes())
        self.made.add(constraints.ConstantDistance(bar.name, a, b, length=length))

    def on_line(self, part: nodal.OnLine) -> None:
        """A point on a line of the ground."""
        if part.node not in self.fixed:
            ground = self.ground(part.node, part.name)
            axis = _three(part, "along")
            self.made.add(constraints.PointOnLine(part.name, ground, self.hub(part.node), axis=axis))

    def on_plane(self, part: nodal.OnPlane) -> None:
        """A point on a plane of the ground."""
        if part.node not in self.fixed:
            ground = self.ground(part.node, part.name)
            normal = _three(part, "normal")
            self.made.add(constraints.PointOnPlane(part.name, ground, self.hub(part.node), normal=normal))

    def moved(self, part: nodal.Moved) -> None:
        """A frame that is driven in some directions."""
        ways: dict[str, Any] = {x: self.signal(part, f"displacement.{x}") for x in part.labels()}
        if self.model.planar:
            ways.pop("z", None)
        ground = self.ground(part.node, part.name)
        self.made.add(drivers.FrameDrive(part.name, ground, self.hub(part.node), **ways))

    def keep_direction(self, part: nodal.KeepDirection) -> None:
        """An axis of the body that has both nodes stays along one of the ground."""
        if {part.node_a, part.node_b} <= self.fixed:
            return
        owners = [[self.owner[place] for place in self.frames[node]] for node in part.nodes()]
        shared = [owner for owner in owners[0] if owner in owners[1]]
        if not shared:
            _refuse(part, "no bar or body has both its nodes, so there is no axis to hold", "Put a bar between them")
        axis = self._apart(self.place[part.node_a], self.place[part.node_b])
        self.made.add(constraints.ParallelAxes(part.name, self.made.ground, shared[0], axis=axis))

    def force_cable(self, part: nodal.ForceCable) -> None:
        """A pair of forces for each stretch."""
        pull = self.signal(part, "tension", "-{0}")
        stretches = [(a, b) for a, b in pairwise(part.over) if self.moves(a, b)]
        for k, (a, b) in enumerate(stretches, 1):
            name = part.name if len(stretches) == 1 else self._unused(f"{part.name}_{k}")
            self.made.add(forces.ForceBetween(name, self.hub(a), self.hub(b), force=pull))

    def elastic_cable(self, part: nodal.ElasticCable) -> None:
        """A spring that only pulls."""
        if len(part.over) > 2:
            _refuse(part, "its tension follows from several distances together", "Use one cable for each stretch")
        if not self.moves(*part.over):
            return
        k, c, length = (_given(part.expressions[field]) for field in ("stiffness", "damping", "length"))
        law: dict[str, Any] = {"energy": f"({k}) * max(0, x)**2 / 2"}
        if c != 0.0:
            law = {"law": f"step(x) * max(0, ({k}) * x + ({c}) * v)"}
        first, last = self.ends(part.over)
        self.made.add(springs.Spring(part.name, first, last, length=length, **law))

    def motor_cable(self, part: nodal.MotorCable) -> None:
        """A driven distance."""
        if len(part.over) > 2:
            _refuse(part, "it holds the sum of several distances", "Use one cable for each stretch")
        a, b = self.ends(part.over)
        self.made.add(drivers.FrameDrive(part.name, a, b, distance=self.signal(part, "length")))

    def spring(self, part: nodal.Spring) -> None:
        """The same spring between frames."""
        if self.moves(*part.nodes()):
            fields = ("stiffness", "length", "preload", "damping")
            values: dict[str, Any] = {field: _given(part.expressions[field]) for field in fields}
            a, b = self.ends(part.nodes())
            self.made.add(springs.Spring(part.name, a, b, **values))

    def damper(self, part: nodal.Damper) -> None:
        """The same damper between frames."""
        if self.moves(*part.nodes()):
            a, b = self.ends(part.nodes())
            self.made.add(springs.Damper(part.name, a, b, damping=_given(part.expressions["damping"])))

    def force(self, part: nodal.Force) -> None:
        """The same force on a frame."""
        if part.node not in self.fixed:
            given: dict[str, Any] = {"force": tuple(self.signal(part, f"force.{x}") for x in XYZ)}
            self.made.add(forces.PointForce(part.name, frame_b=self.hub(part.node), **given))

    def body_load(self, part: nodal.BodyLoad) -> None:
        """A force and a torque on the body's own frame, which is its centroid."""
        for kind, field in ((forces.PointForce, "force"), (forces.PointTorque, "moment")):
            values = tuple(self.signal(part, f"{field}.{x}") for x in XYZ)
            if any(values):
                name = self._unused(f"{part.name}_{field}")
                given: dict[str, Any] = {"force" if field == "force" else "torque": values}
                self.made.add(kind(name, frame_b=part.body, **given))


MAKERS: Mapping[type[Component], Callable[[_Converter, Any], None]] = {
    nodal.Bar: _Converter.massless,
    nodal.OnLine: _Converter.on_line,
    nodal.OnPlane: _Converter.on_plane,
    nodal.Moved: _Converter.moved,
    nodal.KeepDirection: _Converter.keep_direction,
    nodal.ForceCable: _Converter.force_cable,
    nodal.ElasticCable: _Converter.elastic_cable,
    nodal.MotorCable: _Converter.motor_cable,
    nodal.Spring: _Converter.spring,
    nodal.Damper: _Converter.damper,
    nodal.Force: _Converter.force,
    nodal.BodyLoad: _Converter.body_load,
}

REASONS: Mapping[type[Component], str] = {
    nodal.Gear: "a gear between angles at nodes has no joint coordinates to couple",
    nodal.Latch: "a latch changes the equations in a run, and a mechanism has none",
    nodal.Stop: "a stop changes the equations in a run, and a mechanism has none",
}


def _refuse(
    part: Component, why: str, remedy: str = "Leave it out, or simulate the structure in nodal coordinates"
) -> None:
    raise ModelError(
        f"'{part.name}' ({part.kind}) cannot be turned into a part of a mechanism: {why}",
        where=part.name,
        expected="bars, bodies, supports, springs, forces, and cables over two nodes or of given tension",
        remedy=remedy,
    )


def _given(expression: Expression) -> Given:
    """What the user wrote: a number, or a text."""
    try:
        return float(expression.si)
    except ValueError:
        return expression.text


def _put(form: str, *values: Given) -> Given:
    """Values put into an expression, and its number where nothing is left open."""
    text = form.format(*(f"({value})" if isinstance(value, str) else f"({value!r})" for value in values))
    if form == "{0}":
        return values[0]
    expression = Expression(text)
    return text if expression.names else expression.number({})


def _three(part: Component, field: str) -> Triple:
    x, y, z = (_given(part.expressions[f"{field}.{x}"]) for x in XYZ)
    return x, y, z


def _floats(column_of: Any) -> tuple[float, ...]:
    return tuple(float(x) for x in np.asarray(column_of).ravel())


def _frame_name(node: str) -> str:
    """The name of the frame at a node; some names mean values or results of a body."""
    own = {"shape", "frames", "mass", "inertia", "centre", "inertia_about", "name", *RESULTS}
    return f"{node}_" if node in own or re.fullmatch(r"(mode|node)\d+(_rate)?", node) else node
