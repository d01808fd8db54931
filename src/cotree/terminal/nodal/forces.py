"""Springs and dampers between nodes, and forces on nodes and bodies as signals."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import casadi as ca

from cotree.errors import ModelError
from cotree.maths.symbolic import column
from cotree.model import Signal, Value, quantity
from cotree.model.form import said
from cotree.terminal.forces import signal_vector
from cotree.terminal.nodal.base import At, NodalPart, Pushing, Results, distance
from cotree.terminal.nodal.measures import TwoEnds, take_names
from cotree.terminal.nodal.supports import components
from cotree.terminal.springs import length_of

NOTHING = (0.0, 0.0, 0.0)


class Between(TwoEnds, Pushing):
    """A tension along the line of two nodes."""

    def rate(self, at: At) -> ca.SX:
        """How fast the distance of the nodes grows."""
        way = at.x[1] - at.x[0]
        return ca.dot(way, at.u[1] - at.u[0]) / length_of(way)

    def density(self, v: Any, at: At) -> ca.SX:
        """The tension over the length."""
        raise NotImplementedError

    def forces(self, v: Any, at: At) -> Sequence[ca.SX]:
        pull = self.density(v, at) * (at.x[1] - at.x[0])
        return (pull, -pull)

    def results(self, v: Any, at: At) -> Results:
        tension = self.density(v, at) * length_of(at.x[1] - at.x[0])
        return {"force": (tension, "N"), "length": (distance(*at.x), "m")}


class Spring(Between):
    """tension = preload + k (l - length) + c l', along the line of its nodes."""

    kind: ClassVar[str] = "nodal.node_spring"

    stiffness: Value = quantity("N/m", "stiffness", symbol="k", range="positive")
    length: Value = quantity("m", "natural length", symbol="l_0", range="non-negative", built_in="zero")
    preload: Value = quantity("N", "tension at the natural length", symbol="F_0", default=0.0, built_in="zero")
    damping: Value = quantity("N s/m", "damping", symbol="c", range="non-negative", default=0.0, built_in="zero")

    def density(self, v: Any, at: At) -> ca.SX:
        """Written so that a spring without natural length needs no direction."""
        push = v.stiffness * v.length - v.preload - v.damping * self.rate(at)
        return ca.SX(v.stiffness - push / length_of(at.x[1] - at.x[0]))

    def potential(self, v: Any, at: At) -> ca.SX:
        stretch = length_of(at.x[1] - at.x[0]) - v.length
        return ca.SX(v.stiffness * stretch**2 / 2 + v.preload * stretch)

    def loss(self, v: Any, at: At) -> ca.SX:
        """c l'^2."""
        return ca.SX(v.damping * self.rate(at) ** 2)


class Damper(Between):
    """tension = c l', along the line of its nodes."""

    kind: ClassVar[str] = "nodal.node_damper"

    damping: Value = quantity("N s/m", "damping", symbol="c", range="positive")

    def density(self, v: Any, at: At) -> ca.SX:
        return ca.SX(v.damping * self.rate(at) / length_of(at.x[1] - at.x[0]))

    def loss(self, v: Any, at: At) -> ca.SX:
        """c l'^2."""
        return ca.SX(v.damping * self.rate(at) ** 2)


class Force(Pushing):
    """force on the node = force(t, measured), in world axes."""

    kind: ClassVar[str] = "nodal.force"
    supplies: ClassVar[bool] = True

    node: str = dataclasses.field(metadata=said("node that it acts on"))
    force: tuple[Signal, Signal, Signal] = signal_vector("N", "force")

    def __post_init__(self) -> None:
        take_names(self, "node")
        super().__post_init__()

    def nodes(self) -> tuple[str, ...]:
        return (self.node,)

    def forces(self, v: Any, at: At) -> Sequence[ca.SX]:
        return (column(v.force),)

    def results(self, v: Any, at: At) -> Results:
        return components("force", column(v.force), "N")


class BodyLoad(NodalPart):
    """force(t, measured) and moment(t, measured) on a body at its centroid, in world axes (Xiang 2015, eq. 30).

    It names a body and no nodes: what it does to nodes follows from how the body's motion follows from theirs.
    """

    kind: ClassVar[str] = "nodal.body_load"
    supplies: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {"force": ["t", 0.0, 1.0]}

    body: str = dataclasses.field(metadata=said("body that it acts on"))
    force: tuple[Signal, Signal, Signal] = signal_vector("N", "force at the centroid", default=NOTHING)
    moment: tuple[Signal, Signal, Signal] = signal_vector("N m", "moment", default=NOTHING)

    def __post_init__(self) -> None:
        take_names(self, "body")
        super().__post_init__()
        if self.force == NOTHING and self.moment == NOTHING:
            raise ModelError(
                "neither a force nor a moment is given",
                where=self.name,
                expected="force=(x, y, z), moment=(x, y, z), or both",
                remedy="Give one, or drop the load",
            )

    def nodes(self) -> tuple[str, ...]:
        return ()

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return ((self.body, "ground"),)

    def load(self, v: Any) -> tuple[ca.SX, ca.SX]:
        """Force and moment."""
        return column(v.force), column(v.moment)

    def results(self, v: Any, at: At) -> Results:
        """Force and moment by component."""
        force, moment = self.load(v)
        return {**components("force", force, "N"), **components("moment", moment, "N m")}
