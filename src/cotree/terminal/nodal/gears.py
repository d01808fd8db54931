"""Synchronising gears: angles between legs that grow together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca

from cotree.errors import ModelError
from cotree.model import Value, quantity, vector
from cotree.model.form import said
from cotree.terminal.nodal.base import At, Held, Results, several
from cotree.terminal.nodal.measures import at_nodes, check_bent, check_direction, no_repeats, turned_since


class Gear(Held):
    """angle(first) - ratio * angle(second) = its value at the start; each angle is (a, hub, b), from a to b at the hub.

    Angles have no sign unless an ``axis`` is given, about which both are then counted; such angles may grow by less
    than half a turn from the start. The result ``torque`` opens the first angle; -ratio times it opens the second.
    """

    kind: ClassVar[str] = "nodal.node_gear"
    example: ClassVar[Mapping[str, Any]] = {"first": ["A", "B", "C"], "second": ["C", "B", "D"], "ratio": -2.0}

    first: tuple[str, str, str] = dataclasses.field(metadata=said("first angle: leg, hub, leg"))
    second: tuple[str, str, str] = dataclasses.field(metadata=said("second angle: leg, hub, leg"))
    ratio: Value = quantity("", "growth of the first angle over that of the second", range="non-zero", default=1.0)
    axis: tuple[Value, Value, Value] | None = vector(
        "", "axis about which angles have a sign", default=None, built_in="always"
    )

    def __post_init__(self) -> None:
        for field in ("first", "second"):
            object.__setattr__(self, field, _three(getattr(self, field), f"{self.name}.{field}"))
        if self.first[1] == self.second[1] and {self.first[0], self.first[2]} == {self.second[0], self.second[2]}:
            raise ModelError(
                f"both angles are ({', '.join(map(str, self.first))})",
                where=self.name,
                expected="two different angles",
                remedy="Name other legs for one of them",
            )
        meshing = self.first[1] == self.second[1] or (self.first[1] in self.second and self.second[1] in self.first)
        if not meshing:
            raise ModelError(
                f"the hub of the first angle is {self.first[1]!r} and that of the second {self.second[1]!r}, "
                "and they are not joined",
                where=self.name,
                expected="one hub for both angles, or hubs that are the two ends of a leg that both angles have",
                remedy="Give both as (a, hub, b) with the hub in the middle",
            )
        super().__post_init__()

    def nodes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.first, *self.second)))

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        legs = ((end, hub) for a, hub, b in (self.first, self.second) for end in (a, b))
        return tuple(dict.fromkeys(legs))

    def check(self, values: Mapping[str, float]) -> None:
        check_direction(values, self.name, "axis")

    def labels(self) -> tuple[str, ...]:
        return ("angle",)

    def equations(self, v: Any, at: At) -> ca.SX:
        grown = []
        for wanted in (self.first, self.second):
            now, start = at_nodes(at, self.nodes(), wanted)
            check_bent(self, wanted, v.axis, start)
            grown.append(turned_since(v.axis, now, start))
        return ca.SX(grown[0] - v.ratio * grown[1])

    def results(self, v: Any, at: At, force: ca.SX) -> Results:
        return {"torque": (force, "N m")}


def _three(given: Any, where: str) -> tuple[str, ...]:
    """Three different nodes: a, hub, b."""
    names = several(given, 3, where)
    if len(names) != 3:
        raise ModelError(
            f"{len(names)} nodes are given", where=where, expected="three: (a, hub, b)", remedy="Name one node a leg"
        )
    no_repeats(names, where)
    return names
