"""A structure in nodal coordinates: its nodes, what they weigh, what holds them and what pushes them, as symbols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca

from cotree.errors import Mistakes, ModelError, listing, nearest
from cotree.formulation.nodal.bodies import BodyForm, body_form
from cotree.formulation.values import Values
from cotree.maths.lookup import along
from cotree.maths.symbolic import column, elements, symbols
from cotree.model import Model
from cotree.terminal.nodal.base import XYZ, At, Held, NodalPart, Node, Pushing
from cotree.terminal.nodal.bodies import Body
from cotree.terminal.nodal.forces import BodyLoad, Force
from cotree.terminal.nodal.locks import Latch, Lock

ACROSS = {Node: ("velocity.z",), Force: ("force.z",), BodyLoad: ("force.z", "moment.x", "moment.y")}
"""Fields that say nothing to a structure that stays in its plane."""
FLAT = 1e-6
"""Least volume of a body's base points, over the product of their distances."""


@dataclass(frozen=True)
class Placed:
    """A part with its values and its nodes."""

    part: Any
    v: Any
    at: At


@dataclass(frozen=True)
class Row:
    """One equation between positions, with the part it belongs to."""

    owner: str
    label: str
    value: ca.SX


class NodalStructure:
    """Everything that is said about a structure, as symbols; the coordinates are those of all its nodes.

    Nodes that a rigid body needs for its own description are added after those of the model, as ``panel.aux1``.
    """

    def __init__(self, model: Model) -> None:
        check_nodes(model)
        if model.planar:
            check_plane(model)
        self.model = model
        self.values = Values(model)
        self.t = self.values.t
        self.dim = 2 if model.planar else 3
        given = [part for part in model.components.values() if isinstance(part, Node)]
        self.names = [node.name for node in given]
        self.real = len(given)
        """How many nodes are the model's own."""
        self.index = {name: k for k, name in enumerate(self.names)}
        self.start = [ca.vertcat(*(ca.SX(x) for x in self.values.of(node).position)) for node in given]
        self._start_speeds = [ca.vertcat(*(ca.SX(x) for x in self.values.of(node).velocity)) for node in given]
        self.bodies: dict[str, BodyForm] = {}
        for part in model.components.values():
            if isinstance(part, Body):
                self._add_body(part)
        coordinates = [f"{name}.position.{x}" for name in self.names for x in XYZ[: self.dim]]
        speeds = [f"{name}.velocity.{x}" for name in self.names for x in XYZ[: self.dim]]
        self.q, self.u = symbols(coordinates), symbols(speeds)
        self.u_dot = symbols([f"d({name})/dt" for name in speeds])
        self.x = self._points(self.q, self.start)
        self.v = self._points(self.u, None)
        self.a = self._points(self.u_dot, None)
        self.values.measures = Measures(self)
        gravity = self.values.of(model.valued()[0])
        self.gravity = ca.vertcat(*(ca.SX(getattr(gravity, x)) for x in XYZ))

    def _add_body(self, part: Body) -> None:
        nodes = [self.index[name] for name in part.nodes()]
        form, added = body_form(part, self.values.of(part), nodes, self.start, self.numbers, self.dim, len(self.names))
        for k, place in enumerate(added, 1):
            self.index[f"{part.name}.aux{k}"] = len(self.names)
            self.names.append(f"{part.name}.aux{k}")
            self.start.append(place)
            self._start_speeds.append(ca.SX.zeros(3))
        self.bodies[part.name] = form

    def numbers(self, expressions: Sequence[ca.SX]) -> Any:
        """Expressions of the parameters at the model's own values, one row for each."""
        stacked = ca.horzcat(*expressions)
        return ca.Function("numbers", [self.values.p.symbols], [stacked])(self.values.p.start).full().T

    def _points(self, values: ca.SX, start: Sequence[ca.SX] | None) -> list[ca.SX]:
        """A column of coordinates as vectors in space; a planar structure keeps the heights of its start."""
        d = self.dim
        parts = list(ca.vertsplit(values, d))
        if d == 3:
            return parts
        return [ca.vertcat(part, 0 if start is None else start[k][2]) for k, part in enumerate(parts)]

    def at(self, nodes: Sequence[str]) -> At:
        """Where some nodes are."""
        places = [self.index[name] for name in nodes]
        return At([self.x[k] for k in places], [self.v[k] for k in places], [self.start[k] for k in places], self.t)

    @cached_property
    def parts(self) -> list[Placed]:
        """All parts with their values, in the order of the model."""
        found = []
        for part in self.model.components.values():
            assert isinstance(part, NodalPart)
            found.append(Placed(part, self.values.of(part), self.at(part.nodes())))
        return found

    @cached_property
    def masses(self) -> ca.SX:
        """The factors of the nodal mass matrix: M is this matrix times the unit matrix of each node (eq. 39)."""
        entries: dict[tuple[int, int], ca.SX] = {}

        def put(nodes: Sequence[int], block: ca.SX) -> None:
            listed = iter(elements(ca.vec(ca.densify(block))))
            for b in nodes:
                for a in nodes:
                    value = next(listed)
                    if not value.is_zero():
                        entries[a, b] = entries[a, b] + value if (a, b) in entries else value

        for placed in self.parts:
            if isinstance(placed.part, Body):
                form = self.bodies[placed.part.name]
                put(form.base, form.masses)
            elif hasattr(placed.part, "masses"):
                put([self.index[name] for name in placed.part.nodes()], placed.part.masses(placed.v, placed.at))
        n = len(self.names)
        places = sorted(entries, key=lambda place: (place[1], place[0]))
        pattern = ca.Sparsity.triplet(n, n, [i for i, _ in places], [j for _, j in places])
        return ca.SX(pattern, column([entries[place] for place in places])) if places else ca.SX(n, n)

    def weighed(self, values: ca.SX) -> ca.SX:
        """M times a column of accelerations or velocities."""
        return ca.vec(ca.mtimes(ca.reshape(values, self.dim, len(self.names)), self.masses))

    @cached_property
    def node_mass(self) -> ca.SX:
        """What each node carries of the whole mass, so that sum m x is the first moment."""
        return ca.sum2(self.masses)

    def rows(self, closed: Sequence[str] = ()) -> list[Row]:
        """The equations of everything that holds nodes; of latches and stops only those that are ``closed``."""
        found: list[Row] = []
        for placed in self.parts:
            part = placed.part
            if isinstance(part, Body):
                form = self.bodies[part.name]
                found += [Row(part.name, label, value) for label, value in form.equations(self.x, self.names)]
            elif isinstance(part, Held):
                values = ca.vertcat(part.equations(placed.v, placed.at))
                every = [Row(part.name, label, values[k]) for k, label in enumerate(part.labels())]
                found += [row for row in every if not isinstance(part, Lock) or lock_name(part, row.label) in closed]
        return found

    @cached_property
    def forces(self) -> ca.SX:
        """The given forces on all coordinates (f of eq. 39), weight included."""
        on: list[ca.SX] = [mass * self.gravity for mass in elements(ca.densify(self.node_mass))]
        for placed in self.pushing():
            for name, force in zip(placed.part.nodes(), placed.part.forces(placed.v, placed.at), strict=True):
                on[self.index[name]] = on[self.index[name]] + force
        whole = ca.vertcat(*(force[: self.dim] for force in on))
        for placed in self.parts:
            if isinstance(placed.part, BodyLoad):
                across, through = self.load(placed)
                whole += ca.jtimes(across, self.u, through, True)
        return ca.densify(whole)

    def load(self, placed: Placed) -> tuple[ca.SX, ca.SX]:
        """Velocities of a body's centroid and turning, and the force and moment on them (eq. 22, 27)."""
        if placed.part.body not in self.bodies:
            raise ModelError(
                f"there is no rigid body '{placed.part.body}'",
                where=placed.part.name,
                expected=f"one of {listing(self.bodies)}" if self.bodies else "a body: the structure has none",
                remedy=nearest(placed.part.body, self.bodies) or f"Add it: Body('{placed.part.body}', over=[...], ...)",
            )
        form = self.bodies[placed.part.body]
        across = ca.vertcat(form.centre(self.v), form.omega(self.x, self.v))
        return across, ca.vertcat(*(ca.SX(each) for each in (*placed.v.force, *placed.v.moment)))

    def pushing(self) -> Iterator[Placed]:
        """The parts that push nodes."""
        return (placed for placed in self.parts if isinstance(placed.part, Pushing))

    @cached_property
    def kinetic(self) -> ca.SX:
        """The kinetic energy."""
        return ca.dot(self.u, self.weighed(self.u)) / 2

    @cached_property
    def potential(self) -> ca.SX:
        """The potential energy of the weight and of springs and cables."""
        first = ca.mtimes(ca.horzcat(*self.x), self.node_mass)
        return ca.SX(sum((p.part.potential(p.v, p.at) for p in self.pushing()), -ca.dot(self.gravity, first)))

    def rate(self, expression: ca.SX) -> ca.SX:
        """The time derivative of an expression of t and q."""
        return along(expression, self.q, self.u) + ca.jacobian(expression, self.t)

    def check_bodies(self, p: Any) -> None:
        """Refuse parameters that flatten a body, so that its base points cannot carry it."""
        for form, volume in zip(self.bodies.values(), elements(self._volumes(p)), strict=True):
            if not float(volume) > FLAT:
                names = listing([repr(self.names[k]) for k in form.base if k < self.real])
                raise ModelError(
                    f"with these parameters its nodes {names} span less than with the model's own values",
                    where=form.name,
                    expected="parameters that leave nodes apart, and out of line or plane, where they are in the model",
                    remedy="Give these values in the model itself, so that its equations are written anew",
                )

    @cached_property
    def _volumes(self) -> ca.Function:
        volumes = column([form.volume() for form in self.bodies.values()])
        return ca.Function("volumes", [self.values.p.symbols], [ca.densify(volumes)])

    @cached_property
    def given(self) -> ca.Function:
        """p -> start positions and velocities as the model gives them."""
        d = self.dim
        columns = [ca.vertcat(*(each[:d] for each in every)) for every in (self.start, self._start_speeds)]
        return ca.Function("given", [self.values.p.symbols], [ca.densify(each) for each in columns])


def lock_name(part: Lock, label: str) -> str:
    """How one equation of a latch or a stop is called: ``L``, or ``S.least``."""
    return part.name if isinstance(part, Latch) else f"{part.name}.{label}"


class Measures(Mapping[str, ca.SX]):
    """Positions and velocities of nodes by the names of the results, for expressions of forces."""

    def __init__(self, structure: NodalStructure) -> None:
        self._structure = structure

    def __getitem__(self, name: str) -> ca.SX:
        owner, what, axis = (*name.rsplit(".", 2), "", "")[:3]
        s = self._structure
        places = {"position": s.x, "velocity": s.v}
        if what not in places or axis not in XYZ or s.index.get(owner, s.real) >= s.real:
            raise KeyError(name)
        return places[what][s.index[owner]][XYZ.index(axis)]

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        s = self._structure
        return (f"{name}.{what}.{x}" for name in s.names[: s.real] for what in ("position", "velocity") for x in XYZ)

    def __len__(self) -> int:
        return 6 * self._structure.real


def check_nodes(model: Model) -> None:
    """Refuse parts that are no part of a structure, and nodes that do not exist."""
    mistakes = Mistakes()
    with mistakes:
        model.check()
    with mistakes:
        _check_parts(model, mistakes)
    mistakes.report()


def _check_parts(model: Model, mistakes: Mistakes) -> None:
    if not model.nodal:
        raise ModelError(
            "the model is no structure in nodal coordinates",
            where=model.name,
            expected="nodes, bars, bodies, supports and cables, such as Node('A', position=(0, 0, 0))",
        )
    strange = [part for part in model.components.values() if not part.nodal]
    if strange:
        raise ModelError(
            f"'{strange[0].name}' is {strange[0].kind}, and other parts belong to a structure in nodal coordinates",
            where=strange[0].name,
            expected="parts of a nodal structure only: nodes, bars, bodies, supports, cables",
            remedy="Turn the structure into a mechanism with to_branch(), and add it there",
        )
    names = [part.name for part in model.components.values() if isinstance(part, Node)]
    known = set(names)
    taken = next((name for name in names if name in ("ground", *model.datums)), None)
    if taken is not None:
        raise ModelError(
            f"a node is called '{taken}', as the datum is, from which all nodes are measured",
            where=taken,
            expected="a name of its own",
            remedy="Rename the node; Fixed holds it to the ground",
        )
    if not names:
        raise ModelError("the structure has no nodes", where=model.name, remedy="Add some: Node('A', position=...)")
    for part in model.components.values():
        assert isinstance(part, NodalPart)
        for name in part.nodes():
            if name not in known:
                mistakes.add(
                    ModelError(
                        f"there is no node '{name}'",
                        where=part.name,
                        expected=f"one of {listing(names, 12)}",
                        remedy=nearest(name, names) or f"Add it: Node('{name}', position=(x, y, z))",
                    )
                )


def check_plane(model: Model) -> None:
    """Refuse constant velocities, forces and moments out of the plane of a planar structure."""
    values = model.component_values()
    for part in model.components.values():
        for field in next((fields for kind, fields in ACROSS.items() if isinstance(part, kind)), ()):
            name = f"{part.name}.{field}"
            if values.get(name, 0.0) != 0.0:
                raise ModelError(
                    f"it is {values[name]:g}, out of the plane of a planar structure",
                    where=name,
                    expected="zero: planar structures stay in the plane of x and y",
                    remedy="Drop it, or make the model without planar=True",
                )
