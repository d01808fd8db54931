"""The model: what the user says, and nothing derived from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import is_not
from typing import Any, TypeVar

from cotree.errors import ExpressionError, InertiaError, Mistakes, ModelError, listing, nearest, shown
from cotree.maths.functions import ARITY, CONSTANTS
from cotree.model.component import NODE_NAME, Component
from cotree.model.edge import VIRTUAL_WORK, Edge
from cotree.model.expression import TIME, Expression
from cotree.model.quantity import CELSIUS, Quantity, check_dimension, check_range, finite, number, quantities, read
from cotree.model.series import Series
from cotree.model.with_data import WithData
from cotree.model.world import AXES, EARTH, Gravity, Ground, GroundFrame

C = TypeVar("C", bound=Component)

INERTIA = ("refuse", "repair", "keep")
"""What becomes of inertias that no real body has."""
_PARAMETER = Quantity("", "finite", False, "parameter of the model", free=True)


class Model(WithData):
    """Named components between named nodes, with parameters that can be changed without rebuilding.

    ``datum`` is the reference node, or one node for each part of the model that is connected to no other. The choice
    changes the values at the nodes only, never a through or across variable of a component. ``inertia`` says what
    becomes of moments of inertia that no real body has, as files from elsewhere may hold them: ``refuse`` them,
    ``repair`` them to the nearest real ones, or ``keep`` them as they are.
    """

    def __init__(
        self,
        name: str = "model",
        *,
        datum: str | Iterable[str] = "ground",
        parameters: Mapping[str, float | str] | None = None,
        gravity: Sequence[float | str] | None = None,
        planar: bool = False,
        inertia: str = "refuse",
    ) -> None:
        self.name = name
        self.datums = _datums(datum)
        self.components: dict[str, Component] = {}
        self.planar = _flag(planar, "planar")
        if inertia not in INERTIA:
            raise ModelError(f"inertia is {inertia!r}", expected=f"one of {', '.join(INERTIA)}")
        self.inertia = inertia
        """What becomes of inertias that no real body has: they are refused, repaired, or kept as they are."""
        self.decided: tuple[Any, ...] = ()
        """Diagnostics of what the program has decided for parts that left it to it."""
        self.folder: str | None = None
        """Where what is computed from the model's parts is kept: next to its file, once it has one."""
        self.gravity = None if gravity is None else _gravity(gravity)
        self.series: dict[str, Series] = {}
        """Measured or computed data by name."""
        self.parameters: dict[str, Expression] = {}
        for parameter, value in (parameters or {}).items():
            self.parameter(parameter, value)

    def __repr__(self) -> str:
        edges = self.edges()
        nodes = {node for edge in edges for node in (edge.tail, edge.head)}
        return f"<Model '{self.name}': {len(self.components)} components, {len(edges)} edges, {len(nodes)} nodes>"

    @property
    def ground(self) -> Ground:
        """The (first) datum node; ``ground.at(x, y, z)`` is a frame elsewhere on the ground of a mechanism."""
        return Ground.of(self.datums[0], self._ground_frame)

    def _ground_frame(self, position: Any, axis: Any, angle: Any, name: str | None) -> str:
        count = sum(isinstance(component, GroundFrame) for component in self.components.values())
        if name is None:
            name = next(f"ground_{k}" for k in range(count + 1, count + 10_000) if f"ground_{k}" not in self.components)
        return self.add(GroundFrame(name, position=position, axis=axis, angle=angle)).name

    @property
    def mechanical(self) -> bool:
        """Whether the model holds parts of a mechanism in space."""
        return any(component.mechanical for component in self.components.values())

    @property
    def nodal(self) -> bool:
        """Whether the model is a structure in nodal coordinates."""
        return any(component.nodal for component in self.components.values())

    @property
    def bonded(self) -> bool:
        """Whether the model is a bond graph."""
        return any(component.bonded for component in self.components.values())

    @property
    def weighs(self) -> bool:
        """Whether gravity acts on anything."""
        return any(each.mechanical or each.nodal or each.heavy for each in self.components.values())

    def valued(self) -> tuple[Component, ...]:
        """Everything that holds values: gravity where something has weight, and all components."""
        gravity = (self.gravity or _gravity(EARTH),) if self.weighs else ()
        return (*gravity, *self.components.values())

    def parameter(self, name: str, value: float | str) -> str:
        """Give a parameter a value: a number, or an expression of other parameters."""
        if not isinstance(name, str) or not name.isidentifier() or name == TIME or name in {*ARITY, *CONSTANTS}:
            raise ModelError(
                f"the parameter name {name!r} cannot be used",
                expected="letters, digits and _, and not t, a constant or a function",
            )
        if name in self.parameters:
            raise ModelError(f"the parameter '{name}' is given twice", remedy="Keep one of the two")
        if name in self.series:
            raise ModelError(f"'{name}' is the name of data and of a parameter", remedy="Rename one of them")
        self.parameters[name] = read(value, _PARAMETER, name)
        return name

    def add(self, component: C) -> C:
        """Add a component and return it."""
        if not isinstance(component, Component):
            raise ModelError(f"{component!r} is not a component", expected="an object such as Resistor('R1', 'a', 'b')")
        if component.name == "gravity" and (component.mechanical or component.nodal or component.bonded):
            raise ModelError("the name 'gravity' is taken", expected="another name", remedy="Rename the component")
        if component.mechanical and component.name in ("ground", *self.datums):
            raise ModelError(
                f"the name '{component.name}' is taken: it is the ground of a mechanism",
                expected="another name", remedy="Rename the component",
            )  # fmt: skip
        if component.name in self.components:
            first = self.components[component.name]
            raise ModelError(
                f"the name '{component.name}' is used twice, by {first.kind} and by {component.kind}",
                expected="a name of its own for every component",
                remedy="Rename one of them",
            )
        if component.name in self.series:
            raise ModelError(f"'{component.name}' is the name of data and of a component", remedy="Rename one of them")
        self.components[component.name] = component = self._followed(component) if self.series else component
        return component

    def edges(self) -> tuple[Edge, ...]:
        """The edges of all components, in the order in which they were added."""
        return tuple(edge for component in self.components.values() for edge in component.edges())

    def parameter_values(self, changes: Mapping[str, float] | None = None) -> dict[str, float]:
        """The numeric value of every parameter, with ``changes`` put in their place."""
        numbers = _numbers(changes)
        for name in numbers:
            if name not in self.parameters:
                raise ModelError(
                    f"there is no parameter '{name}'",
                    expected=f"one of {listing(self.parameters)}" if self.parameters else "none: the model has none",
                    remedy=self._field_meant(name) or nearest(name, self.parameters),
                )
        values: dict[str, float] = {}
        waiting: dict[str, Expression] = {**self.parameters, **{k: Expression(v) for k, v in numbers.items()}}
        while waiting:
            ready = [name for name, expression in waiting.items() if not expression.names & waiting.keys()]
            if not ready:
                raise ExpressionError(
                    f"the parameters {listing(sorted(waiting))} are defined by each other",
                    where=min(waiting),
                    remedy="Give one of them a number",
                )
            for name in ready:
                values[name] = number(waiting.pop(name), values, name)
        return values

    def take(self, changes: Mapping[str, float]) -> dict[str, float]:
        """Change values from which tables are computed in the model itself; what is left can change in a run."""
        left = dict(changes)
        tabled = [
            (c, field) for c in self.valued() for field, info in quantities(c).items() if info.built_in == "table"
        ]
        names = {name for c, field in tabled if field in c.expressions for name in c.expressions[field].names}
        while (
            more := {other for name in names & self.parameters.keys() for other in self.parameters[name].names} - names
        ):
            names |= more
        for name in [name for name in left if name in names and not self.parameters[name].names]:
            self.parameters[name] = read(left.pop(name), _PARAMETER, name)
        for component, field in tabled:
            name = f"{component.name}.{field}"
            own = {f.name for f in dataclasses.fields(component)}
            if name in left and field in own and not component.expressions[field].names:
                value: Any = {field: left.pop(name)}
                self.components[component.name] = dataclasses.replace(component, **value)
        return left

    def component_values(self, changes: Mapping[str, float] | None = None) -> dict[str, float]:
        """The numeric value of every constant field, named ``component.field``, checked; with ``changes`` in place.

        ``changes`` may name parameters of the model (``R``) and fields of components (``R1.resistance``).
        """
        if changes:
            return self._component_values(changes)
        parts = (*self.parameters.values(), self.gravity, *self.components.values())
        made = (*self.parameters, self.planar, self.inertia)
        known = self.__dict__.get("_values")
        if known is None or known[1] != made or len(known[0]) != len(parts) or any(map(is_not, known[0], parts)):
            known = self.__dict__["_values"] = (parts, made, self._component_values({}))
        return dict(known[2])

    def _component_values(self, changes: Mapping[str, float]) -> dict[str, float]:
        numbers = _numbers(changes)
        fields = {name: value for name, value in numbers.items() if "." in name}
        parameters = self.parameter_values({name: value for name, value in numbers.items() if "." not in name})
        result: dict[str, float] = {}
        mistakes = Mistakes()
        for component in self.valued():
            with mistakes:
                result |= self._values_of(component, parameters, fields)
        mistakes.report()
        for name in fields:
            owner, _, field = name.rpartition(".")
            if owner in self.components and (given := self.components[owner].expressions.get(field)) is not None:
                raise ModelError(
                    f"it follows from the expression '{given.text}', so it cannot be changed by itself",
                    where=name,
                    remedy="Change the parameters in its expression",
                )
            part, _, field = name.partition(".")
            meant = nearest(name, [*result, *self.parameters])
            if part in self.components and field.partition(".")[0] in self.components[part].data_fields():
                meant = f"'{part}' does not give {field}: give it there, as changes={{'{name}': ...}} of load does"
            raise ModelError(f"there is no value '{name}' to change", remedy=meant)
        return result

    def _values_of(
        self, component: Component, parameters: Mapping[str, float], fields: dict[str, float]
    ) -> dict[str, float]:
        """The values of one component, checked; those of ``fields`` that it has are taken from there."""
        values = component.values(parameters)
        for field, info in quantities(component).items():
            where = f"{component.name}.{field}"
            if (given := component.expressions.get(field)) is not None and given.names:
                self.check_reference(given, info, where)
            if where in fields and field in values:
                values[field] = fields.pop(where)
                check_range(values[field], info, where)
        try:
            component.check(values)
        except InertiaError as wrong:
            if not component.tolerated(values, "plane" if self.planar else self.inertia):
                raise wrong
        return {f"{component.name}.{field}": value for field, value in values.items()}

    def check_reference(self, expression: Expression, info: Quantity, where: str) -> None:
        """Refuse a parameter that stands alone for a value of another dimension than its own."""
        name, seen = expression.name, set()
        while name in self.parameters and name not in seen:
            seen.add(name)
            given = self.parameters[name]
            found = f"the parameter '{expression.name}' ({given.text})"
            check_dimension(given.dimension, info, where, found)
            name = given.name
        for called in expression.called:
            if called.partition(".")[0] not in (known := self.data_names()):
                error = expression.no_function(called, sorted(known))
                raise ExpressionError(error.found, where=where, expected=error.expected, remedy=error.remedy)
        if (series := self.series.get(expression.series)) is not None:
            check_dimension(series.dimension, info, where, f"the data '{series.name}' ({series.options.get('unit')})")
        if info.unit == "K":  # 20 degC is wrong in sums, too
            for name in self._used(expression):
                given = self.parameters[name]
                if given.dimension == CELSIUS:
                    check_dimension(given.dimension, info, where, f"the parameter '{name}' ({given.text})")

    def _used(self, expression: Expression) -> set[str]:
        """The parameters that an expression holds, and those that they hold."""
        used: set[str] = set()
        left = set(expression.names)
        while left := (left & self.parameters.keys()) - used:
            used |= left
            left = {other for name in left for other in self.parameters[name].names}
        return used

    def __getitem__(self, name: str) -> Component:
        """The component of a name."""
        if isinstance(name, str) and name in self.components:
            return self.components[name]
        raise ModelError(
            f"there is no component {shown(name)}",
            expected=f"one of {listing(self.components)}",
            remedy=nearest(str(name), self.components),
        )

    def __contains__(self, name: object) -> bool:
        return name in self.components

    def __iter__(self) -> Iterator[str]:
        return iter(self.components)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.components)

    def _field_meant(self, name: str) -> str:
        """What to write where a component is named instead of one of its values."""
        if name not in self.components:
            return ""
        fields = [f"{name}.{field}" for field in self.components[name].expressions]
        return f"did you mean '{fields[0]}'?" if len(fields) == 1 else f"Name one of its values: {listing(fields)}"

    def check(self) -> None:
        """Check what can be checked without topology: values, ranges, names, and domains that meet in one node."""
        if not self.components:
            raise ModelError("the model has no components", where=self.name, remedy="Add some with add(...)")
        mistakes = Mistakes()
        with mistakes:
            self.component_values()
        for component in self.components.values():
            chosen = component.from_datum
            for port, (_, minus) in zip(component.ports, component.node_pairs(), strict=True) if chosen else ():
                if (isinstance(chosen, bool) or port.label in chosen) and minus not in self.datums:
                    mistakes.add(
                        ModelError(
                            f"its minus node is '{minus}'",
                            where=f"{component.edge_name(port)} ({component.kind})",
                            expected=f"the datum ({listing(self.datums)}), against which this component stores",
                            remedy=f"Give datum: {self.datums[0]}" if minus == getattr(component, "datum", "") else "",
                        )
                    )
        with mistakes:
            self._check_nodes()
        mistakes.report()

    def _check_nodes(self) -> None:
        """Refuse nodes that join domains, or have the name of something else."""
        first: dict[str, Edge] = {}
        taken = {*self.components, *(edge.name for edge in self.edges())}
        for edge in self.edges():
            for node in (edge.tail, edge.head):
                other = first.setdefault(node, edge)
                if node not in self.datums and other.domain is not edge.domain:
                    raise ModelError(
                        f"the node '{node}' joins {other.component} ({other.domain.name}) and "
                        f"{edge.component} ({edge.domain.name})",
                        expected="nodes of one domain; only the datum is shared",
                        remedy="Put a transducer between the two domains, such as a rotational EMF",
                    )
                if node in taken and edge.domain is not VIRTUAL_WORK:
                    raise ModelError(
                        f"'{node}' is the name of a component or its port, and of a node",
                        expected="different names, since results are addressed by name",
                        remedy="Rename one of them",
                    )

    def to_data(self) -> dict[str, Any]:
        """The model as plain data, as a model file holds it."""
        data: dict[str, Any] = {"name": self.name}
        data["datum"] = self.datums[0] if len(self.datums) == 1 else list(self.datums)
        if self.planar:
            data["planar"] = True
        if self.inertia != INERTIA[0]:
            data["inertia"] = self.inertia
        if self.gravity is not None:
            data["gravity"] = [_plain(self.gravity.expressions[axis]) for axis in AXES]
        if self.parameters:
            data["parameters"] = {name: _plain(expression) for name, expression in self.parameters.items()}
        if self.series:
            data["data"] = {name: series.to_data() for name, series in self.series.items()}
        data["components"] = {name: component.to_data() for name, component in self.components.items()}
        return data


def _datums(given: Any) -> tuple[str, ...]:
    datums = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    wrong = [datum for datum in datums if not isinstance(datum, str) or not NODE_NAME.match(datum)]
    if wrong or not datums:
        raise ModelError(
            f"the datum is {wrong[0]!r}" if wrong else "no datum is given",
            expected="the name of a node, or one for each part of the model",
        )
    return datums


def _gravity(given: Any) -> Gravity:
    values = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(values, str) or not isinstance(values, Sequence) or len(values) != len(AXES):
        raise ModelError(f"gravity is {given!r}", expected="three numbers in m/s^2, such as (0, 0, -9.81)")
    return Gravity("gravity", **dict(zip(AXES, values, strict=True)))


def _flag(given: Any, name: str) -> bool:
    if not isinstance(given, bool):
        raise ModelError(f"{name} is {given!r}", expected="true or false")
    return given


def _numbers(changes: Mapping[str, float] | None) -> dict[str, float]:
    """Changed values by name, each a finite number."""
    if changes is not None and not isinstance(changes, Mapping):
        raise ModelError(f"the changed values are {changes!r}", expected="numbers by name: {'R1.resistance': 5}")
    return {str(name): finite(value, str(name), "a number") for name, value in (changes or {}).items()}


def _plain(expression: Expression) -> float | str:
    try:
        number = float(expression.text)
    except ValueError:
        return expression.text
    return number if repr(number) == expression.text else expression.text
