"""The laws of scalar networks, once for all domains; a component of a domain is a data sheet on top of one of them.

Every law is written in the passive sense: ``across * through`` is the power that flows into the component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Self

from cotree.errors import ModelError
from cotree.model import Component, Value, quantity
from cotree.model.form import Form, Schema, listed, said

NODES = listed({"type": ["string", "integer"]}, 2)
"""Two nodes by their names; a file may name them by numbers."""


class OnePort(Component):
    """A component between two nodes. Its across variable is the value at ``plus`` less the value at ``minus``."""

    plus: str = field(metadata=said("node that the across variable is taken at"))
    minus: str = field(metadata=said("node that the across variable is taken against"))

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return ((self.plus, self.minus),)

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> Self:
        data = dict(data)
        if not {"plus", "minus"} <= data.keys():
            data["plus"], data["minus"] = _pair(data.pop("nodes", None), f"{name}.nodes")
        return super().from_data(name, data)

    def to_data(self) -> dict[str, Any]:
        data = super().to_data()
        return {"kind": data.pop("kind"), "nodes": [data.pop("plus"), data.pop("minus")], **data}

    @classmethod
    def data_fields(cls) -> list[str]:
        return ["nodes", *(field for field in super().data_fields() if field not in ("plus", "minus"))]

    @classmethod
    def forms(cls) -> dict[str, Form]:
        own = super().forms()
        return {
            "nodes": Form("nodes plus and minus", NODES, True),
            **{k: own[k] for k in own if k in cls.data_fields()},
        }

    @classmethod
    def data_schema(cls) -> Schema:
        schema, ends = super().data_schema(), ("plus", "minus")
        schema["properties"] |= {key: form.described() for key, form in super().forms().items() if key in ends}
        schema["required"].remove("nodes")
        return {**schema, "anyOf": [{"required": ["nodes"]}, {"required": list(ends)}]}


class MultiPort(Component):
    """A component with several ports; the field named by a port's label holds its (plus, minus) nodes."""

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return tuple(self.pair(port.label) for port in self.ports)

    def pair(self, label: str) -> tuple[str, str]:
        """The two nodes that a field holds."""
        return _pair(getattr(self, label), f"{self.name}.{label}")

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> Self:
        labels = {port.label for port in cls.ports}
        pairs = {key: _pair(data[key], f"{name}.{key}") for key in data.keys() & labels if data[key] is not None}
        return super().from_data(name, {**data, **pairs})

    @classmethod
    def forms(cls) -> dict[str, Form]:
        labels = {port.label for port in cls.ports}
        return {
            key: Form(f"nodes plus and minus of the {key.replace('_', ' ')} port", NODES, True)
            if key in labels and form.required
            else form
            for key, form in super().forms().items()
        }


class AcrossSource(OnePort):
    """across = a given signal."""

    supplies = True

    def signal(self, v: Any) -> Any:
        """The signal that drives the across variable."""
        raise NotImplementedError

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        return [e[0].across - self.signal(v)]


class ThroughSource(OnePort):
    """through = a given signal, positive from ``plus`` through the source to ``minus``."""

    supplies = True

    def signal(self, v: Any) -> Any:
        """The signal that drives the through variable."""
        raise NotImplementedError

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        return [e[0].through - self.signal(v)]


class Dissipator(OnePort):
    """across = R through, with R from `resistance_of`."""

    def resistance_of(self, v: Any) -> Any:
        """Across over through."""
        raise NotImplementedError

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        return [e[0].across - self.resistance_of(v) * e[0].through]


class AcrossStorage(OnePort):
    """through = C d(across)/dt. ``initial`` is the across variable at the start."""

    initial: Value | None = quantity("", "across variable at the start, 0 if not given", default=None, kw_only=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        _initial(cls, "across")
        super().__init_subclass__(**kwargs)

    def capacity(self, v: Any) -> Any:
        """The coefficient C."""
        raise NotImplementedError

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        return [e[0].through - self.capacity(v) * e[0].d_across]

    def stored_energy(self, v: Any, *e: Any) -> Any:
        return self.capacity(v) * e[0].across ** 2 / 2

    def initial_values(self, values: Mapping[str, float]) -> tuple[float | None, ...]:
        return (values.get("initial"),)


class ThroughStorage(OnePort):
    """across = L d(through)/dt (McPhee 1996, eq. 14). ``initial`` is the through variable at the start."""

    initial: Value | None = quantity("", "through variable at the start, 0 if not given", default=None, kw_only=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        _initial(cls, "through")
        super().__init_subclass__(**kwargs)

    def inertance(self, v: Any) -> Any:
        """The coefficient L."""
        raise NotImplementedError

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        return [e[0].across - self.inertance(v) * e[0].d_through]

    def stored_energy(self, v: Any, *e: Any) -> Any:
        return self.inertance(v) * e[0].through ** 2 / 2

    def initial_values(self, values: Mapping[str, float]) -> tuple[float | None, ...]:
        return (values.get("initial"),)


class IdealTransformer(MultiPort):
    """across_1 = n across_2 and through_2 = -n through_1: no power is lost."""

    def ratio_of(self, v: Any) -> Any:
        """The factor n."""
        raise NotImplementedError

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        n = self.ratio_of(v)
        return [e[0].across - n * e[1].across, e[1].through + n * e[0].through]


class IdealGyrator(MultiPort):
    """across_2 = r through_1 and across_1 = -r through_2: no power is lost."""

    def gyration(self, v: Any) -> Any:
        """The factor r."""
        raise NotImplementedError

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        r = self.gyration(v)
        return [e[1].across - r * e[0].through, e[0].across + r * e[1].through]


def _initial(cls: type[Component], variable: str) -> None:
    """Give the start value of a storage the unit and the name of the variable in its domain."""
    if cls.ports:
        domain = cls.ports[0].domain
        name, unit = getattr(domain, variable), getattr(domain, f"{variable}_unit")
        meaning = f"{name.replace('_', ' ')} at the start, 0 if not given"
        cls.initial = quantity(unit, meaning, default=None)  # type: ignore[attr-defined]
        cls.__annotations__["initial"] = "Value | None"


def _pair(value: Any, where: str) -> tuple[str, str]:
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return value[0], value[1]
    raise ModelError(
        f"found {value!r}" if value is not None else "none given", where=where, expected="two nodes: [plus, minus]"
    )
