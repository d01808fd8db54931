"""What the parts of all domains share: how they open into one vertex, and the results that they show.

Results of a two-port are those of its ends: across variables as its law says them, and through variables such that
their product is the power that enters at this end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

import casadi as ca

from cotree.bond.elements import Element
from cotree.bond.junctions import TF, Junction0, Junction1
from cotree.bond.structure import SOURCES, UNITS
from cotree.errors import ModelError, listing
from cotree.model.form import Form, or_null
from cotree.model.form import value as value_schema
from cotree.model.quantity import MISSING, Quantity

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

NAMES: Mapping[str, tuple[str, str]] = {
    "electrical": ("voltage", "current"),
    "translational": ("force", "velocity"),
    "rotational": ("torque", "angular_velocity"),
    "hydraulic": ("pressure", "flow"),
    "thermal": ("temperature", "heat_flow"),
}
"""How effort and flow are called in each domain."""

MECHANICAL = ("translational", "rotational")
"""Domains whose across variable, the velocity, is a flow."""


def value(unit: str, meaning: str, symbol: str = "", range: str = "finite") -> Quantity:
    """A constant of a part, with its unit and range."""
    return Quantity(unit, range, False, meaning, symbol, measured=True)


def signal(unit: str, meaning: str) -> Quantity:
    """A function of time that drives a part."""
    return Quantity(unit, "finite", True, meaning, measured=True)


def sheet(**entries: Quantity) -> dict[str, Quantity]:
    """The values of a part by field."""
    return entries


def needed() -> Any:
    """A field that must be given."""
    return field(default=MISSING, kw_only=True)


def check_scalars(part: Element) -> None:
    """A part of one domain takes single values, and all that it needs."""
    for f in fields(part):
        if f.name in part.shapes:
            given, info = getattr(part, f.name), part.shapes[f.name]
            if isinstance(given, tuple) or (given is None and f.default is not None):
                raise ModelError(f"found {given!r}", where=f"{part.name}.{f.name}", expected=info.expected)


def scalar_form(info: Quantity, form: Form) -> Form:
    """A single value of a part of one domain."""
    schema = value_schema(info) if form.required else or_null(value_schema(info))
    return replace(form, meaning=form.meaning or info.meaning, schema=schema, info=info)


class OnePort(Element):
    """A scalar element of one domain; `constitutive` gives its vertex what its letter asks for."""

    width: ClassVar[int] = 1  # type: ignore[misc]
    domain: ClassVar[str] = ""  # type: ignore[misc]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scalars(self)

    @classmethod
    def shaped_form(cls, key: str, form: Form) -> Form:
        return scalar_form(cls.shapes[key], form)

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        """Fields of the vertex, from the values that are given."""
        raise NotImplementedError

    def values_given(self, v: Mapping[str, Any]) -> dict[str, ca.SX]:
        """The values that are given, in symbols."""
        every = {name: self.shaped(name, v) for name in self.shapes}
        return {name: each for name, each in every.items() if each is not None}

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        self.vertex(make, path, v, width=1, **self.constitutive(self.values_given(v)))
        show(make, path, type(self).domain, source=self.letter in SOURCES)


def show(make: Opening, path: str, domain: str, *, source: bool = False) -> None:
    """Results of a one-port by the names of its domain, and its power, where effort times flow is one.

    They count into the component, as in networks; only the result ``flow`` of a source counts along its bond, so that
    a hydraulic one shows it so.
    """
    effort, flow = make.signal(f"{path}.effort"), own_flow(make, path, source=source)
    units = UNITS[domain]
    for name, own, expression, unit in zip(NAMES[domain], ("effort", "flow"), (effort, flow), units[:2], strict=True):
        if name != own:
            make.output(f"{path}.{name}", expression, unit)
    if domain != "thermal":
        make.output(f"{path}.power", effort * flow, "W")


def own_flow(make: Opening, path: str, *, source: bool = False) -> ca.SX:
    """The flow into a one-port; the signal of a source counts along its bond."""
    flow = make.signal(f"{path}.flow")
    return _ends(make).get((path, ""), ("", 1))[1] * flow if source else flow


def at_most_one(part: Element, names: tuple[str, ...]) -> None:
    """Refuse two start values for one storage."""
    given = [name for name in names if getattr(part, name) is not None]
    if len(given) > 1:
        raise ModelError(f"{listing(given)} are given", where=part.name, expected="one of them, as the other follows")


class TwoPort(TF):
    """A TF or GY whose ports 1 and 2 also have names, and domains of their own."""

    modulus: ClassVar[None] = None  # type: ignore[misc]
    domain: ClassVar[str | None] = None  # type: ignore[misc]
    width: ClassVar[None] = None  # type: ignore[misc]
    shapes: ClassVar[dict[str, Quantity]] = sheet()
    ends: ClassVar[tuple[str, str]] = ("primary", "secondary")
    domains: ClassVar[tuple[str, str]] = ("", "")

    @classmethod
    def shaped_form(cls, key: str, form: Form) -> Form:
        return scalar_form(cls.shapes[key], form)

    def __post_init__(self) -> None:
        Element.__post_init__(self)
        check_scalars(self)

    def port_names(self) -> tuple[str, ...]:
        return ("1", "2", *self.ends)

    def modulus_of(self, v: Mapping[str, ca.SX]) -> ca.SX:
        """f_2 over f_1 of a TF, e_2 over f_1 of a GY."""
        raise NotImplementedError

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        every = {name: ca.SX(v[name]) for name in self.shapes}
        self.vertex(make, path, v, matrix=self.modulus_of(every))
        for number, end, domain in zip("12", self.ends, self.domains, strict=True):
            make.expose(path, end, "", path, number)
            show_end(make, path, (number, end), domain)


_ENDS: WeakKeyDictionary[Opening, dict[tuple[str, str], tuple[str, int]]] = WeakKeyDictionary()
"""By opening: the bond at each port, and 1 where it enters there."""


def _ends(make: Opening) -> dict[tuple[str, str], tuple[str, int]]:
    if make not in _ENDS:
        _ENDS[make] = {wire.tail: (wire.path, -1) for wire in make.wires}
        _ENDS[make] |= {wire.head: (wire.path, 1) for wire in make.wires}
    return _ENDS[make]


def show_end(make: Opening, path: str, ports: tuple[str, str], domain: str) -> None:
    """Results of one end of a two-port; ``ports`` are the number and the name of the port."""
    number, end = ports
    name, sign = _ends(make).get((path, number)) or _ends(make).get((path, end)) or ("", 0)
    if not name:  # a dangling port, which is refused once all parts are there
        return
    effort, into = make.signal(f"{name}.effort"), sign * make.signal(f"{name}.flow")
    make.output(f"{path}.{end}.power", effort * into, "W")
    if domain in MECHANICAL and number == "2":  # the velocity counts as its law says, out of port 2
        effort, into = -effort, -into
    for word, expression, unit in zip(NAMES[domain], (effort, into), UNITS[domain][:2], strict=True):
        make.output(f"{path}.{end}.{word}", expression, unit)


class EffortNode(Junction0):
    """A 0 junction of a domain, whose effort is shown by its name."""

    domain: ClassVar[str] = ""  # type: ignore[misc]

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        super().open(make, path, v)
        make.output(f"{path}.{NAMES[type(self).domain][0]}", make.signal(f"{path}.effort"), UNITS[type(self).domain][0])


class FlowNode(Junction1):
    """A 1 junction of a domain, whose flow is shown by its name."""

    domain: ClassVar[str] = ""  # type: ignore[misc]

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        super().open(make, path, v)
        make.output(f"{path}.{NAMES[type(self).domain][1]}", make.signal(f"{path}.flow"), UNITS[type(self).domain][1])
