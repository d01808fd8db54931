"""The laws of scalar networks, once for all domains; a component of a domain is a data sheet on top of one of them.

Every law is written in the passive sense: ``across * through`` is the power that flows into the component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Self

from cotree.errors import ModelError
from cotree.model import Component, Value, quantity
from cotree.model.form import Form, listed, said

NODES = listed({"type": ["string", "integer"]}, 2)
"""Two nodes by their names; a file may name them by numbers."""


class Ported(Component):
    """A component whose ports are pairs of nodes (plus, minus), each in a field: the same in files and in Python."""

    @classmethod
    def port_fields(cls) -> tuple[str, ...]:
        """The fields that hold the nodes of ports."""
        return tuple(port.label for port in cls.ports if port.label in cls.__dataclass_fields__)

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return tuple(self.pair(field) for field in self.port_fields())

    def pair(self, field: str) -> tuple[str, str]:
        """The two nodes that a field holds."""
        cls, value = type(self), getattr(self, field)
        remedy = (
            f'Each part begins with its own name: {cls.__name__}("{cls.__name__.lower()}1", ("{self.name}", "{value}"))'
        )
        return _pair(value, f"{self.name}.{field}", remedy if field == "nodes" and isinstance(value, str) else "")

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> Self:
        fields = data.keys() & set(cls.port_fields())
        pairs = {field: _pair(data[field], f"{name}.{field}") for field in fields if data[field] is not None}
        return super().from_data(name, {**data, **pairs})

    @classmethod
    def forms(cls) -> dict[str, Form]:
        own = super().forms()
        return own | {
            field: Form(
                own[field].meaning or f"nodes plus and minus of the {field.replace('_', ' ')} port", NODES, True
            )
            for field in cls.port_fields()
            if own[field].required
        }


class OnePort(Ported):
    """A component between two nodes. Its across variable is the value at ``plus`` less the value at ``minus``."""

    nodes: tuple[str, str] = field(metadata=said("nodes plus and minus"))

    @classmethod
    def port_fields(cls) -> tuple[str, ...]:
        return ("nodes",)

    @classmethod
    def forms(cls) -> dict[str, Form]:
        return super().forms() | {"nodes": Form("nodes plus and minus", NODES, True)}

    @property
    def plus(self) -> str:
        """The node that the across variable is taken at."""
        return self.pair("nodes")[0]

    @property
    def minus(self) -> str:
        """The node that the across variable is taken against."""
        return self.pair("nodes")[1]


class MultiPort(Ported):
    """A component with several ports; the field named by a port's label holds its nodes."""


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


def _pair(value: Any, where: str, remedy: str = "") -> tuple[str, str]:
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return value[0], value[1]
    raise ModelError(f"found {value!r}", where=where, expected="two nodes, plus and minus", remedy=remedy)
