"""Nodes held by the ground: fixed, on a line, on a plane, or moved as prescribed; and lines that keep their direction.

All equations are lengths, so that their multipliers are forces in N. Lines and planes go through the place of the node
at the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

import casadi as ca

from cotree.errors import ModelError
from cotree.maths.rotation import perpendicular
from cotree.maths.symbolic import column
from cotree.model import Kind, Quantity, Signal, Value, vector
from cotree.model.form import VALUE, or_null, said
from cotree.terminal.forces import signal_vector
from cotree.terminal.joints import unit
from cotree.terminal.nodal.base import XYZ, At, Held, Results, direction
from cotree.terminal.nodal.measures import TwoEnds, check_apart, check_direction, take_names


def components(name: str, given: ca.SX, unit_name: str) -> Results:
    """A vector as three results: ``force.x``, ``force.y``, ``force.z``."""
    return {f"{name}.{x}": (given[k], unit_name) for k, x in enumerate(XYZ)}


class OnNode(Held):
    """A support of one node; its result is the reaction on the node."""

    node: str = field(metadata=said("node that it holds"))

    def __post_init__(self) -> None:
        take_names(self, "node")
        super().__post_init__()

    def nodes(self) -> tuple[str, ...]:
        return (self.node,)


class Fixed(OnNode):
    """x = start: the node stays where it is at the start."""

    kind: ClassVar[str] = "nodal.fixed"

    def labels(self) -> tuple[str, ...]:
        return XYZ

    def equations(self, v: Any, at: At) -> ca.SX:
        return at.x[0] - at.start[0]

    def results(self, v: Any, at: At, force: ca.SX) -> Results:
        return components("force", force, "N")


class OnLine(OnNode):
    """e1.(x - start) = e2.(x - start) = 0: the node stays on a line, with e1 and e2 across it."""

    kind: ClassVar[str] = "nodal.on_line"

    along: tuple[Value, Value, Value] = vector("", "direction of the line", built_in="always")

    def check(self, values: Mapping[str, float]) -> None:
        check_direction(values, self.name, "along")

    def labels(self) -> tuple[str, ...]:
        return ("across 1", "across 2")

    def equations(self, v: Any, at: At) -> ca.SX:
        way = at.x[0] - at.start[0]
        return ca.vertcat(*(ca.dot(e, way) for e in perpendicular(unit(v.along))))

    def results(self, v: Any, at: At, force: ca.SX) -> Results:
        e1, e2 = perpendicular(unit(v.along))
        return components("force", force[0] * e1 + force[1] * e2, "N")


class OnPlane(OnNode):
    """n.(x - start) = 0: the node stays on a plane with the normal n."""

    kind: ClassVar[str] = "nodal.on_plane"

    normal: tuple[Value, Value, Value] = vector("", "normal of the plane", built_in="always")

    def check(self, values: Mapping[str, float]) -> None:
        check_direction(values, self.name, "normal")

    def labels(self) -> tuple[str, ...]:
        return ("normal",)

    def equations(self, v: Any, at: At) -> ca.SX:
        return ca.SX(ca.dot(unit(v.normal), at.x[0] - at.start[0]))

    def results(self, v: Any, at: At, force: ca.SX) -> Results:
        return components("force", force * unit(v.normal), "N")


class Moved(OnNode):
    """x = start + displacement(t) in the directions x, y, z for which one is given; None leaves the node free there."""

    kind: ClassVar[str] = "nodal.moved"
    edge_kind: ClassVar[Kind] = Kind.POSITION_DRIVER

    displacement: tuple[Signal | None, Signal | None, Signal | None] = signal_vector(
        "m", "displacement over time, nothing where it is free", measured=False, each=or_null(VALUE)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.labels():
            raise ModelError(
                "all three displacements are None, so that nothing is moved",
                where=f"{self.name}.displacement",
                expected="an expression of time for at least one direction, such as ('0.1*sin(t)', None, 0)",
                remedy="Give one, or drop the support",
            )

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        return {name: entry for name, entry in super().entries().items() if entry[1] is not None}

    def gather(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {"displacement": tuple(values.get(f"displacement.{x}") for x in XYZ)}

    def labels(self) -> tuple[str, ...]:
        return tuple(x for k, x in enumerate(XYZ) if self.displacement[k] is not None)

    def equations(self, v: Any, at: At) -> ca.SX:
        way = at.x[0] - at.start[0]
        return column([way[k] - s for k, s in enumerate(v.displacement) if s is not None])

    def results(self, v: Any, at: At, force: ca.SX) -> Results:
        held = self.labels()
        whole = column([force[held.index(x)] if x in held else ca.SX(0) for x in XYZ])
        return components("force", whole, "N")


class KeepDirection(TwoEnds, Held):
    """e1.(x_b - x_a) = e2.(x_b - x_a) = 0: the line between two nodes keeps the direction that it has at the start.

    e1 and e2 are across that direction; a bar between the nodes keeps the length. The results are the force on b, with
    its opposite on a, and the moment of this couple.
    """

    kind: ClassVar[str] = "nodal.keep_direction"

    def labels(self) -> tuple[str, ...]:
        return ("across 1", "across 2")

    def across(self, at: At) -> tuple[ca.SX, ca.SX]:
        """Two unit vectors across the direction at the start."""
        check_apart(self, self.nodes(), at.start)
        return perpendicular(direction(*at.start))

    def equations(self, v: Any, at: At) -> ca.SX:
        return ca.vertcat(*(ca.dot(e, at.x[1] - at.x[0]) for e in self.across(at)))

    def results(self, v: Any, at: At, force: ca.SX) -> Results:
        e1, e2 = self.across(at)
        on_b = force[0] * e1 + force[1] * e2
        moment = ca.cross(at.x[1] - at.x[0], on_b)
        return {**components("force", on_b, "N"), **components("moment", moment, "N m")}
