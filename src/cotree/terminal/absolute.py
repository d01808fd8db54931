"""Flows between two nodes that depend on the value at each of them, not on the difference alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import Domain, Port, Role
from cotree.model.form import said
from cotree.terminal.scalar import OnePort


def two_ends(domain: Domain) -> tuple[Port, ...]:
    """The ports of a flow that enters at ``plus`` and leaves at ``minus``, each against the datum."""
    return Port(domain, Role.STATIC, "inlet"), Port(domain, Role.STATIC, "outlet")


class Flow(OnePort):
    """What enters at ``plus`` leaves at ``minus``. Each end is an edge from the datum, so that the law has both values.

    An end at the datum itself has no edge.
    """

    from_datum: ClassVar[bool] = True
    datum: str = field(default="ground", kw_only=True, metadata=said("datum that values count from") | {"refers": True})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plus == self.minus:
            raise ModelError(f"both ends are at the node {self.plus}", where=self.name, expected="two different nodes")
        ends = zip(type(self).ports, (self.plus, self.minus), strict=True)
        object.__setattr__(self, "ports", tuple(port for port, node in ends if node != self.datum))

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return tuple((node, self.datum) for node in (self.plus, self.minus) if node != self.datum)

    def flow(self, v: Any, first: Any, second: Any) -> Any:
        """The flow from plus to minus, of the values at the two nodes."""
        raise NotImplementedError

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        ends = dict(zip((port.label for port in self.ports), e, strict=True))
        first, second = (ends[label].across if label in ends else 0.0 for label in ("inlet", "outlet"))
        flow = self.flow(v, first, second)
        signs = {"inlet": -1, "outlet": 1}
        return [end.through + signs[label] * flow for label, end in ends.items()]
