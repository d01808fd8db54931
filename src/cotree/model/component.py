"""The base of every component: its data, the edges it puts into the graph, its check and its law.

A component is one class in `cotree.terminal`. Its fields are its data, its class attribute `ports` says which edges it
puts into the graph, and its method `law` is its terminal equation. Nothing else needs to know about it.
"""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np

from cotree.errors import ExpressionError, Mistakes, ModelError, listing, nearest
from cotree.maths.viewed import Viewed
from cotree.model.edge import Domain, Edge, Role
from cotree.model.expression import Expression
from cotree.model.form import Form, Schema, entries, form_of
from cotree.model.kinds import KINDS, snake
from cotree.model.quantity import (
    MISSING,
    Quantity,
    check_plain,
    check_range,
    direction,
    field_entries,
    is_direction,
    number,
    quantities,
    quantity,
    read,
    signal,
    vector,
)
from cotree.model.renamed import new_field
from cotree.model.shown import given_fields, one_line
from cotree.model.switching import SwitchLaw
from cotree.model.wrong_calls import LETTERS, explain_wrong_calls, no_name

_TEXTS: dict[Any, Any] = {"str": str, "str | None": str | None}
"""Annotations of fields that hold text, with what they may hold."""
_SAME = {"velocity": "speed", "angular_velocity": "speed"}
"""Words for fields, with what kinds that act on joints call them."""
PLAIN_ROOMS = ("electrical", "transducer")
"""Rooms whose kinds are named without them, like those of mechanisms: ``resistor`` is ``cotree.Resistor``."""
COMPONENT_NAME = re.compile(r"[^\W\d][\w+-]*\Z")
NODE_NAME = re.compile(r"[\w+-]+(\.[\w+-]+)*\Z")


@dataclass(frozen=True, slots=True)
class Port:
    """One edge of a component: the field that holds its two nodes, its domain, and its role in a network.

    ``label`` is appended to the component's name to name the edge; a component with one edge has an empty label.
    """

    domain: Domain
    role: Role
    label: str = ""


@dataclass_transform(frozen_default=True, field_specifiers=(quantity, signal, vector, dataclasses.field))
@dataclass(frozen=True, repr=False, eq=False)
class Component(Viewed):
    """Base of all components. A subclass that has `ports` is registered under its `kind`.

    Subclasses are made frozen dataclasses by inheritance: their annotations are the fields.
    """

    ports: ClassVar[tuple[Port, ...]] = ()
    kind: ClassVar[str] = ""
    supplies: ClassVar[bool] = False
    """Whether the power that leaves this component counts as supplied (sources) instead of dissipated."""
    mechanical: ClassVar[bool] = False
    """Whether the component belongs to a mechanism in space, whose nodes are frames."""
    flexible: ClassVar[bool] = False
    """Whether it is a body with elastic coordinates."""
    nodal: ClassVar[bool] = False
    """Whether the component belongs to a structure whose coordinates are the positions of its nodes."""
    bonded: ClassVar[bool] = False
    """Whether the component belongs to a bond graph, whose parts are joined by bonds."""
    heavy: ClassVar[bool] = False
    """Whether gravity acts on a part of a bond graph."""
    from_datum: ClassVar[bool | tuple[str, ...]] = False
    """Whether the minus end must be the datum, or labels of ports whose: a mass moves against the inertial frame."""
    controls: ClassVar[bool] = False
    """Whether the component is a block of signals: it has no edges, and others read its outputs by name."""
    holding: ClassVar[tuple[str, ...]] = ()
    """Names of values that are constant between events; the law sees them among the fields."""
    positions: ClassVar[tuple[str, ...]] = ()
    """Labels of the mechanical ports whose position, the integral of the across variable, the law uses."""
    example: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Values of fields that must go together, as a model file holds them; other values are made up from their forms."""

    name: str
    __repr__, _view = one_line, given_fields

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        dataclasses.dataclass(frozen=True, repr=False, eq=False)(cls)
        explain_wrong_calls(cls)
        room = cls.__module__.rpartition(".")[2]
        if (cls.ports or (cls.mechanical and room != "mechanics")) and "kind" not in cls.__dict__:
            plain = cls.mechanical or room in PLAIN_ROOMS
            cls.kind = snake(cls.__name__) if plain else f"{room}.{snake(cls.__name__)}"
        if "kind" in cls.__dict__ and cls.kind:
            KINDS.add(cls)

    def __eq__(self, other: object) -> bool:
        """Of the same class with equal fields; classes are made quicker without methods of their own for this."""
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def _fields(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f.name) for f in dataclasses.fields(self))

    def __post_init__(self) -> None:
        for f in dataclasses.fields(self):
            if isinstance(given := getattr(self, f.name), str) and is_direction(f):
                object.__setattr__(self, f.name, direction(given))
            elif isinstance(given, list | tuple | np.ndarray | np.generic):
                object.__setattr__(self, f.name, settled(given))
        if not isinstance(self.name, str) or not COMPONENT_NAME.match(self.name):
            raise ModelError(
                f"the name {self.name!r} cannot be used",
                where=type(self).__name__,
                expected="a name that starts with a letter and holds letters, digits, _ + or -",
            )
        for node in (node for pair in self.node_pairs() for node in pair):
            if not isinstance(node, str) or not NODE_NAME.match(node):
                raise ModelError(
                    f"the node {node!r} cannot be used",
                    where=self.name,
                    expected="a name of letters, digits, _ + - and inner dots",
                    remedy=no_name(self, node),
                )
        for f in dataclasses.fields(self):
            if f.type in _TEXTS and not isinstance(given := getattr(self, f.name), _TEXTS[f.type]):
                raise ModelError(f"found {given!r}", where=f"{self.name}.{f.name}", expected="a name, as text")
        _ = self.expressions  # read now, so that a wrong value is told where it is given

    @cached_property
    def expressions(self) -> dict[str, Expression]:
        """The expressions behind the quantity fields that are given, by field."""
        found: dict[str, Expression] = {}
        mistakes = Mistakes()
        for name, (info, value) in self.entries().items():
            with mistakes:
                found[name] = read(value, info, f"{self.name}.{name}")
                check_plain(found[name], info, f"{self.name}.{name}")
        mistakes.report()
        return found

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        """Every scalar value of the component by name, with what the user gave; optional ones only where given."""
        return field_entries(self)

    def gather(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The entries put together again as fields: a vector field is a tuple of its entries."""
        result: dict[str, Any] = {}
        for f in dataclasses.fields(self):
            if "vector" in f.metadata:
                parts = [values.get(f"{f.name}.{label}") for label in f.metadata["vector"][1]]
                result[f.name] = None if any(part is None for part in parts) else tuple(parts)
            elif "quantity" in f.metadata:
                result[f.name] = values.get(f.name)
        return result

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        """The (plus, minus) nodes of each port, in the order of `ports`."""
        raise NotImplementedError

    def edges(self) -> tuple[Edge, ...]:
        """The edges that this component puts into the graph: from minus to plus, so that across = plus - minus."""
        return tuple(
            Edge(self.edge_name(port), minus, plus, port.role.kind, port.domain, port.role, self.name)
            for port, (plus, minus) in zip(self.ports, self.node_pairs(), strict=True)
        )

    def edge_name(self, port: Port) -> str:
        """The component's name, with the port's label where it has one."""
        return f"{self.name}.{port.label}" if port.label else self.name

    def values(self, parameters: Mapping[str, float]) -> dict[str, float]:
        """The numeric values of all constant fields, each within its range."""
        result = {}
        for field, info in quantities(self).items():
            expression = self.expressions.get(field)
            if expression is not None and not (expression.depends_on_time or expression.measured or expression.called):
                where = f"{self.name}.{field}"
                if self.bonded and info.measured and (unknown := expression.names - parameters.keys()):
                    raise _no_signal(min(unknown), expression, parameters, where)
                result[field] = number(expression, parameters, where)
                check_range(result[field], info, where)
        return result

    def check(self, values: Mapping[str, float]) -> None:
        """Refuse combinations of values that make no sense; ranges of single values are checked before."""

    def tolerated(self, values: Mapping[str, float], how: str) -> bool:
        """Whether an inertia that `check` refuses is taken all the same: ``how`` a model treats it, or ``plane``."""
        return False

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        """The terminal equations, one residual for each port.

        ``v`` holds the values of the fields, ``e`` the ports' variables: ``across``, ``through`` and their time
        derivatives ``d_across``, ``d_through``.
        """
        raise NotImplementedError

    def inverse_law(self, v: Any, *e: Any) -> Sequence[Any] | None:
        """The law of a one-port solved for its across variable, for places where its through variable is given.

        None where it is not nonlinear or has no such form.
        """
        return None

    def stored_energy(self, v: Any, *e: Any) -> Any:
        """The energy stored in the component, as an expression of its variables."""
        return 0.0

    def initial_values(self, values: Mapping[str, float]) -> tuple[float | None, ...]:
        """The storage variable of each port at the start, None where it is not given."""
        return (None,) * len(self.ports)

    def loss(self, v: Any, *e: Any) -> Any:
        """The power that is dissipated; None where it is all that flows in, or nothing in a storage."""
        return None

    def held_start(self, values: Mapping[str, float]) -> tuple[float, ...]:
        """The held values at the start; ``values`` are symbols, so that parameters may change."""
        return (0.0,) * len(self.holding)

    def position_start(self, values: Mapping[str, float]) -> tuple[float, ...]:
        """The positions at the start, where no joint or line gives them."""
        return (0.0,) * len(self.positions)

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        """When and how held values change."""
        return ()

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> Self:
        """The component described by plain data, as in a model file."""
        fields = {f.name: f for f in dataclasses.fields(cls)}
        allowed = [field for field in fields if field != "name"]
        mistakes = Mistakes()
        for key in data:
            if key not in allowed:
                mistakes.add(
                    ModelError(
                        f"{cls.kind} has no field '{key}'",
                        where=name,
                        expected=f"one of {listing(cls.data_fields(), 20)}",
                        remedy=cls._field_meant(str(key)),
                    )
                )
        missing = [
            f.name
            for f in fields.values()
            if f.name not in ("name", *data)
            and not any(f"'{f.name}'" in each.remedy for each in mistakes.errors)
            and f.default is dataclasses.MISSING
            and f.default_factory is dataclasses.MISSING
        ]
        if missing:
            mistakes.add(ModelError(f"{listing(missing)} not given", where=name, expected=cls.data_example(name)))
        for key, info in quantities(cls).items() if mistakes else ():  # nothing is made, so look at what is given
            with mistakes:
                if data.get(key) is not None:
                    read(data[key], info, f"{name}.{key}")
        mistakes.report()
        return cls(name=name, **data)

    @classmethod
    def _field_meant(cls, key: str) -> str:
        """What to do about a field that this kind has not: its own field that means it, or the kinds that have it."""
        known = cls.data_fields()
        if new := new_field(cls.kind, key):
            return f"Write '{new}', or let 'cotree upgrade' rewrite the file"
        if near := nearest(key, known):
            return near
        if letter := next((word for word in LETTERS.get(key.lower(), ()) if word in known), ""):
            return f"did you mean '{letter}'?"
        own = [name for name, form in cls.forms().items() if key in re.findall(r"\w+", form.meaning)]
        if own:
            return f"did you mean '{own[0]}'?"
        rooms, on = (cls.bonded, cls.mechanical, cls.nodal), "on" in cls.data_fields()
        fields = {kind: c.data_fields() for kind, c in KINDS.items() if (c.bonded, c.mechanical, c.nodal) == rooms}
        fields = {kind: known for kind, known in fields.items() if not on or "on" in known}
        for word in (key, _SAME.get(key, key)):
            if kinds := [kind for kind, known in fields.items() if word in known]:  # what acts on joints first
                return f"Kinds with '{word}': {listing(sorted(kinds, key=lambda k: 'on' not in fields[k]), 4)}"
        return ""

    def to_data(self) -> dict[str, Any]:
        """Plain data from which `from_data` makes this component again."""
        data: dict[str, Any] = {"kind": self.kind}
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if f.name != "name" and value is not MISSING and value != f.default:
                data[f.name] = list(value) if isinstance(value, tuple) else value
        return data

    @classmethod
    def data_fields(cls) -> list[str]:
        """The keys that a model file may give for this kind."""
        return [f.name for f in dataclasses.fields(cls) if f.name != "name"]

    @classmethod
    def forms(cls) -> dict[str, Form]:
        """What a model file may hold for this kind, by key."""
        hints = typing.get_type_hints(cls)
        return {f.name: form_of(f, hints[f.name]) for f in dataclasses.fields(cls) if f.name != "name"}

    @classmethod
    def data_schema(cls) -> Schema:
        """The JSON Schema of what a model file holds for this kind, besides the kind itself."""
        forms = cls.forms()
        return entries(
            {key: form.described() for key, form in forms.items()}, [key for key in forms if forms[key].required]
        )

    @classmethod
    def call_example(cls, name: str) -> str:
        """A call in Python that would be right: ``Resistor("R", (plus, minus), resistance=...)``."""
        parts = [f'"{name}"']
        for f in dataclasses.fields(cls):
            if f.type == "tuple[str, str]" and f.default is dataclasses.MISSING:
                parts.append("(plus, minus)" if f.name == "nodes" else f"{f.name}=(plus, minus)")
            elif not f.kw_only and f.name != "name":
                parts.append(f.name)
        parts += [f"{f.name}=..." for f in dataclasses.fields(cls) if f.kw_only and f.default is MISSING]
        return f"{cls.__name__}({', '.join(parts)})"

    @classmethod
    def data_example(cls, name: str) -> str:
        """One line of a model file that would be right."""
        return f"{name}: {{kind: {cls.kind}, {', '.join(f'{field}: ...' for field in cls.data_fields())}}}"


def settled(given: Any) -> Any:
    """Lists and arrays as tuples, and Python's own numbers, so that equal components hold equal values."""
    given = given.tolist() if isinstance(given, np.ndarray | np.generic) else given
    return tuple(settled(each) for each in given) if isinstance(given, list | tuple) else given


def _no_signal(name: str, expression: Expression, parameters: Mapping[str, float], where: str) -> ExpressionError:
    """An expression of a part of a bond graph may hold signals, which have a dot in their names."""
    known = listing(sorted(parameters)) or "there is none"
    close = "time is called t" if name == "time" else nearest(name, parameters)
    return ExpressionError(
        f"'{name}' in the expression '{expression.text}' is not known", where=where,
        expected=f"t, a function, a parameter of the model ({known}), or a signal such as '{name}.value' or 'b1.flow'",
        remedy=close or f"Write '{name}.value' where '{name}' is a sensor, a block or an integrator",
    )  # fmt: skip
