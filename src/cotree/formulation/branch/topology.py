"""The graph of a mechanism, its trees, and what they mean for bodies and joints.

Frames are nodes. Arms hold the frames of one body together, so a tree of the whole graph is at the same time a tree of
bodies and joints. Translations and rotations may have different trees over the same graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import casadi as ca

from cotree.errors import GraphError, ModelError, nearest
from cotree.formulation.branch.graph import joint_of
from cotree.formulation.branch.places import Flexible, Place
from cotree.formulation.branch.points import carriers, leading, outwards, turning
from cotree.formulation.inertias import unreal_inertias
from cotree.formulation.values import Values
from cotree.graph import LinearGraph, Tree, select_tree
from cotree.model import Component, Edge, GroundFrame, Kind, Model, quantities
from cotree.terminal.bodies import frame_of, turned
from cotree.terminal.joints import AxisJoint, Free, Planar, PlanarSlide, Prismatic, Slide
from cotree.terminal.mechanics import (
    ORIENTATION,
    Body,
    Constraint,
    Coupling,
    Driver,
    Element,
    Joint,
    JointForce,
    OnJoint,
)

if TYPE_CHECKING:
    from cotree.formulation.branch.segmented import Segmented

GROUND = 0
"""Index of the ground among the bodies."""


@dataclass(frozen=True)
class Link:
    """A joint, or the edge of a body, that can be in a tree: body ``i`` carries frame a, body ``j`` frame b."""

    joint: Joint
    i: int
    j: int
    a: Place
    b: Place
    values: Any
    drivers: tuple[Driver, ...] = ()
    of_body: bool = False
    inner: bool = False
    """Whether it holds segments of one beam together, which the graph does not show."""

    @property
    def name(self) -> str:
        """The name of the joint or body, which is that of its edge."""
        return self.joint.name

    def translates(self, coordinate: str) -> bool:
        """Whether a coordinate of the joint is a displacement, and no angle."""
        return any(c.name == coordinate and c.group == "translation" for c in self.joint.coordinates)


@dataclass(frozen=True)
class Topology:
    """Bodies by index (0 is the ground), frames by node, and everything that joins them."""

    model: Model
    graph: LinearGraph
    values: Values
    bodies: tuple[Body | None, ...]
    places: Mapping[str, Place]
    links: Mapping[str, Link]
    """Joints and bodies' own edges by name."""
    constraints: tuple[Constraint, ...]
    couplings: tuple[Coupling, ...]
    elements: tuple[Element, ...]
    joint_forces: tuple[JointForce, ...]
    fields: dict[str, Any] = field(default_factory=dict)
    flexible: dict[int, Flexible] = field(default_factory=dict)
    """Flexible bodies by index."""
    segmented: dict[str, Segmented] = field(default_factory=dict)
    """Beams of several segments, by name."""

    def whole(self) -> list[Flexible | Segmented]:
        """The flexible bodies as the model has them: a beam of several segments is one."""
        inner = {k for beam in self.segmented.values() for k in beam.numbers[1:]}
        first = {beam.numbers[0]: beam for beam in self.segmented.values()}
        return [first.get(k, each) for k, each in self.flexible.items() if k not in inner]

    def of(self, component: Component) -> Any:
        """The values of a component, as symbols."""
        if component.name not in self.fields:
            self.fields[component.name] = self.values.of(component)
        return self.fields[component.name]

    def turns(self, body: int) -> bool:
        """Whether a body has an orientation of its own."""
        part = self.bodies[body]
        return part is not None and part.turns

    def oriented(self, link: Link) -> bool:
        """Whether both ends of a link have an orientation, so that it can hold rotations."""
        ends = (end == GROUND or self.turns(end) or end in self.carriers for end in (link.i, link.j))
        return all(ends) and link.name not in self.leading

    @cached_property
    def carriers(self) -> dict[int, Link]:
        """Points that pass rotations on between their joints, with the joint from which each takes its orientation."""
        return carriers(self)

    @cached_property
    def leading(self) -> frozenset[str]:
        """Joints that give a point the axes along which they slide, and whose own rotations turn nothing."""
        return leading(self)

    def drives_speed(self, driver: str) -> bool:
        """Whether a driver gives a speed; then the position stays a coordinate, free at the start."""
        part = self.model.components[driver]
        return isinstance(part, Driver) and part.of_speed

    def group_of(self, driver: str) -> str:
        """Whether a driver moves or turns its joint."""
        joint = self.driven_by(driver).joint
        chosen = self.model.components[driver].chosen(joint)  # type: ignore[attr-defined]
        return next(c.group for c in joint.coordinates if c.name == chosen)

    def driven_by(self, driver: str) -> Link:
        """The joint of a driver."""
        part = self.model.components[driver]
        assert isinstance(part, Driver)
        return self.links[part.on]

    @cached_property
    def referenced(self) -> frozenset[str]:
        """Joints whose coordinates drivers, forces, couplings or expressions use."""
        parts = self.model.components.values()
        names = {str(getattr(part, "on", "")) for part in parts}  # what acts on a joint, and mounts
        names |= {joint for coupling in self.couplings for joint, _, _ in coupling.terms(self.of(coupling))}
        names |= {name.partition(".")[0] for part in parts for e in part.expressions.values() for name in e.measured}
        return frozenset(names)

    def joint_of(self, part: OnJoint) -> Link:
        """The joint that something acts on."""
        return self.links[part.on]

    def place(self, node: str, owner: str) -> Place:
        """A frame by its node, or an error that says who asks for it."""
        if node not in self.places:
            raise ModelError(
                f"there is no frame '{node}'",
                where=owner,
                expected="a frame of a body, such as crank.A, a body, or the ground",
                remedy=nearest(node, list(self.places)),
            )
        return self.places[node]


def topology(model: Model, graph: LinearGraph, values: Values | None = None) -> Topology:
    """Bodies, frames and connections of a model, with their values as symbols."""
    values = Values(model) if values is None else values
    parts = model.components.values()
    bodies: list[Body | None] = [None, *(part for part in parts if isinstance(part, Body))]
    identity, zero = ca.SX.eye(3), ca.SX.zeros(3)
    places = {model.datums[0]: Place(GROUND, zero, identity), "ground": Place(GROUND, zero, identity)}
    for part in parts:
        if isinstance(part, GroundFrame):
            v = values.of(part)
            rotation = identity if v.axis is None else turned(v.axis, v.angle)
            places[part.name] = Place(GROUND, ca.vertcat(*v.position), rotation)
    flexible: dict[int, Flexible] = {}
    cut: dict[str, Segmented] = {}
    for k, body in enumerate(tuple(bodies)):
        if body is None:
            continue
        places[body.name] = Place(k, zero, identity)
        if body.flexible:
            from cotree.formulation.branch.segmented import deforming

            frames, own, segments = deforming(model, body, values, k, len(bodies))
            places |= frames
            flexible |= own
            if segments is not None:
                cut[body.name] = segments
                bodies[k], *rest = segments.bodies()
                bodies += rest
            continue
        inner = [name for name in quantities(body) if name.partition(".")[0] in body.places()]
        entries = values.entries(body, inner)
        places |= {f"{body.name}.{name}": Place(k, *frame_of(entries, name)) for name in body.places()}
    result = Topology(
        model,
        graph,
        values,
        tuple(bodies),
        places,
        {},
        tuple(p for p in parts if isinstance(p, Constraint) and not isinstance(p, Joint)),
        tuple(p for p in parts if isinstance(p, Coupling)),
        tuple(p for p in parts if isinstance(p, Element)),
        tuple(p for p in parts if isinstance(p, JointForce)),
        flexible=flexible,
        segmented=cut,
    )
    result.fields.update({name: own for beam in cut.values() for name, own in beam.fields().items()})
    for each in flexible.values():
        if each.name not in result.fields:  # segments have their values already
            result.of(each.body).floating = each.floating
    if model.planar:
        _check_plane(model)
    elif model.inertia == "repair":
        for body, (_, _, more) in unreal_inertias(model).items():
            result.of(body).inertia += ca.DM(more)
    drivers = _drivers(model)
    links: dict[str, Link] = {}
    for part in parts:
        if isinstance(part, Joint):
            a, b = result.place(part.ends[0], part.name), result.place(part.ends[1], part.name)
            links[part.name] = Link(part, a.body, b.body, a, b, result.of(part), drivers.get(part.name, ()))
            if a.body == b.body or any({a.body, b.body} <= set(beam.numbers) for beam in cut.values()):
                raise ModelError(
                    f"its frames '{part.frame_a}' and '{part.frame_b}' belong to the same body",
                    where=part.name,
                    expected="frames of two bodies, or of a body and the ground",
                )
    for part in parts:
        if isinstance(part, Body):
            free, place = mobility(part, model.planar), places[part.name]
            links[part.name] = Link(
                free, GROUND, place.body, places["ground"], place, _mobility_values(free), of_body=True
            )
    for beam in cut.values():
        for weld, a, b in beam.welds():
            links[weld.name] = Link(weld, a.body, b.body, a, b, SimpleNamespace(), inner=True)
    object.__setattr__(result, "links", links)
    return result


def _check_plane(model: Model) -> None:
    """Joints of a planar model turn about z and slide across it."""
    values = model.component_values()
    for part in model.components.values():
        if isinstance(part, Joint) and not isinstance(part, AxisJoint | PlanarSlide | Slide):
            flat = _flat(part, values)
        else:
            x, y, z = (abs(values.get(f"{part.name}.axis.{x}", float(x == "z"))) for x in "xyz")
            flat = z < 1e-9 * (x + y) if isinstance(part, Prismatic) else x + y < 1e-9 * z
        if isinstance(part, Joint) and not flat:
            raise ModelError(
                f"the joint '{part.name}' ({part.kind}) leaves the plane of a planar model",
                expected="joints that turn about z or slide along x and y",
                remedy="Choose the axis so, or leave out planar",
            )


def _flat(joint: Joint, values: Mapping[str, float]) -> bool:
    """Whether all that a joint of any kind leaves free turns about z and moves across it, by its rates somewhere."""
    if any(c.name == ORIENTATION for c in joint.coordinates):
        return False
    own = {
        name: ca.SX(values[f"{joint.name}.{name}"]) for name in joint.expressions if f"{joint.name}.{name}" in values
    }
    v = SimpleNamespace(**joint.gather(own))
    q = {c.name: ca.SX(0.3 + 0.4 * k) for k, c in enumerate(joint.coordinates)}
    for moving in q:
        u = {name: ca.SX(float(name == moving)) for name in q}
        velocity, spin = joint.translation_rate(v, q, u), ca.mtimes(joint.rotation(v, q), joint.spin(v, q, u))
        out = ca.DM(ca.evalf(ca.vertcat(velocity[2], spin[:2])))
        if float(ca.norm_inf(out)) > 1e-9:
            return False
    return True


def mobility(body: Body, planar: bool) -> Joint:
    """The edge of a body as a joint from the ground that holds nothing: its absolute coordinates."""
    if planar:
        return (Planar if body.turns else PlanarSlide)(body.name, "ground", body.name)
    return (Free if body.turns else Slide)(body.name, "ground", body.name)


def _mobility_values(joint: Joint) -> Any:
    return SimpleNamespace(axis=(0.0, 0.0, 1.0), name=joint.name)


def _drivers(model: Model) -> dict[str, tuple[Driver, ...]]:
    result: dict[str, tuple[Driver, ...]] = {}
    seen: dict[tuple[str, str], str] = {}
    for part in model.components.values():
        if isinstance(part, Driver):
            what = (part.on, part.chosen(joint_of(model, part)))
            if what in seen:
                raise ModelError(
                    f"'{part.on}.{what[1]}' is driven twice, by '{seen[what]}' and by '{part.name}'",
                    expected="one driver for a coordinate",
                    remedy=f"Remove '{part.name}', or let it drive another coordinate",
                )
            seen[what] = part.name
            result[part.on] = (*result.get(part.on, ()), part)
    return result


def _mechanism_absolute(edge: Edge) -> int:
    """Arms, bodies, then the rest: every joint and driver is a chord."""
    return {Kind.ARM: 1, Kind.BODY: 2}.get(edge.kind, 2 + int(edge.kind))


def spanning(graph: LinearGraph, given: Any, into_tree: Iterable[str] = (), into_cotree: Iterable[str] = ()) -> Tree:
    """A tree of a mechanism's graph: itself, or by preset."""
    if isinstance(given, Tree):
        if given.graph != graph:
            raise GraphError("the tree belongs to another graph", remedy="Take it from the same model: model.tree(...)")
        return given
    prefer: Any = _mechanism_absolute if given == "absolute" else "joint" if given is None else given
    return select_tree(graph, prefer, into_tree, into_cotree)


@dataclass(frozen=True)
class Branches:
    """What a pair of trees makes of the links: parents for rotation and for translation, and drivers in the tree."""

    translation: tuple[tuple[int, int, Link], ...]
    """(parent, child, link) in an order in which parents come first."""
    rotation: tuple[tuple[int, int, Link], ...]
    moving: frozenset[str]
    """Links whose translation is in the tree."""
    turning: frozenset[str]
    """Links whose rotation is in the tree."""
    driven: frozenset[str]
    """Drivers that replace a coordinate by a function of time."""

    @property
    def together(self) -> bool:
        """Whether both trees reach every body by the same link."""
        return {(i, j, k.name) for i, j, k in self.translation} == {(i, j, k.name) for i, j, k in self.rotation}


def branches(top: Topology, translation: Tree, rotation: Tree) -> Branches:
    """Read a pair of trees as parents of bodies."""
    moves, in_moves = _walk(top, translation)
    turns, in_turns = _walk(top, rotation)
    turns = turning(top, turns)
    moving, in_rotation = (frozenset(link.name for *_, link in walk) for walk in (moves, turns))
    driven = frozenset(
        name
        for names, group, links in ((in_moves, "translation", moving), (in_turns, "rotation", in_rotation))
        for name in names
        if top.group_of(name) == group and top.driven_by(name).name in links and not top.drives_speed(name)
    )
    for name in moving ^ in_rotation:
        if top.links[name].joint.coupled:
            raise GraphError(
                f"'{name}' is in one of the two trees only",
                expected="a joint whose translation follows its rotation in both trees or in neither",
                remedy=f"Pin '{name}' into both trees or into neither",
            )
    return Branches(moves, turns, moving, in_rotation, driven)


def _walk(top: Topology, tree: Tree) -> tuple[tuple[tuple[int, int, Link], ...], frozenset[str]]:
    """(parent, child, link) from the ground outwards, and the drivers that are in the tree."""
    edges: list[tuple[int, int, Link]] = []
    driven = set()
    for edge in (tree.graph[name] for name in tree.branches):
        if edge.kind == Kind.ARM:
            continue
        link = top.links.get(edge.name)
        part = top.model.components.get(edge.component)
        if link is None and isinstance(part, Driver):
            driven.add(part.name)
            link = top.links[part.on]
        if link is None or edge.kind == Kind.DEPENDENT:
            raise GraphError(
                f"'{edge.name}' is in the tree, but a {edge.kind.label} gives no coordinates",
                expected="arms, bodies, joints and drivers of joints in the tree",
                remedy=f"Pin '{edge.name}' into the cotree",
            )
        edges.append((link.i, link.j, link))
    edges += [(link.i, link.j, link) for link in top.links.values() if link.inner]
    missing = [e.name for e in tree.graph if e.kind == Kind.ARM and e.name not in tree]
    if missing:
        raise GraphError(f"the arm '{missing[0]}' is not in the tree", expected="all arms in the tree")
    return outwards(edges), frozenset(driven)
