"""Cables: they pull, and run over any number of nodes without friction.

A segment of length zero has no direction. Forces fade to nothing there, as those of springs do; the equation of a motor
cable needs nodes that are apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any, ClassVar

import casadi as ca

from cotree.errors import ModelError
from cotree.model import Kind, Signal, Value, quantity, signal
from cotree.model.form import TEXT, said
from cotree.model.form import several as several_of
from cotree.terminal.nodal.base import At, Held, NodalPart, Pushing, Results, distance, several
from cotree.terminal.nodal.measures import check_apart
from cotree.terminal.springs import length_of


def path_length(x: Sequence[ca.SX]) -> ca.SX:
    """The length of a cable over points."""
    return sum((distance(a, b) for a, b in pairwise(x)), ca.SX(0))


def smooth_length(x: Sequence[ca.SX]) -> ca.SX:
    """The length of a cable over points, with a slope everywhere."""
    return sum((length_of(b - a) for a, b in pairwise(x)), ca.SX(0))


def path_rate(x: Sequence[ca.SX], u: Sequence[ca.SX]) -> ca.SX:
    """How fast the length of a cable over points grows."""
    rate = ca.SX(0)
    for k in range(len(x) - 1):
        way = x[k + 1] - x[k]
        rate += ca.dot(way, u[k + 1] - u[k]) / length_of(way)
    return rate


def pulls(x: Sequence[ca.SX], tension: ca.SX) -> list[ca.SX]:
    """The forces of a tension on the points that a cable runs over: against the gradient of its length."""
    forces = [ca.SX.zeros(3) for _ in x]
    for k in range(len(x) - 1):
        way = x[k + 1] - x[k]
        pull = tension / length_of(way) * way
        forces[k] += pull
        forces[k + 1] -= pull
    return forces


class Cable(NodalPart):
    """A line over two or more nodes; a closed one names its first node again at the end."""

    over: tuple[str, ...] = field(metadata=said("nodes that it runs over, in this order", several_of(TEXT, 2)))

    def __post_init__(self) -> None:
        object.__setattr__(self, "over", several(self.over, 2, self.name))
        super().__post_init__()

    def nodes(self) -> tuple[str, ...]:
        return self.over


class ForceCable(Cable, Pushing):
    """forces = -tension(t, measured) * gradient of the length: pairs of forces along it (Xiang 2015, section 4.2)."""

    kind: ClassVar[str] = "nodal.force_cable"
    supplies: ClassVar[bool] = True

    tension: Signal = signal("N", "tension", measured=True)

    def check(self, values: Mapping[str, float]) -> None:
        if values.get("tension", 0.0) < 0.0:
            raise ModelError(
                f"the tension is {values['tension']:g} N",
                where=f"{self.name}.tension",
                expected="a tension of zero or more: a cable cannot push",
                remedy="Give a positive tension, or use forces on the nodes",
            )

    def forces(self, v: Any, at: At) -> Sequence[ca.SX]:
        return pulls(at.x, v.tension)

    def results(self, v: Any, at: At) -> Results:
        return {"tension": (v.tension, "N"), "length": (path_length(at.x), "m")}


class ElasticCable(Cable, Pushing):
    """tension = max(0, k (l - length) + c l') while l > length, and zero while it is slack; k is of the whole cable."""

    kind: ClassVar[str] = "nodal.elastic_cable"

    stiffness: Value = quantity("N/m", "stiffness of the whole cable", symbol="k", range="positive")
    length: Value = quantity("m", "natural length", symbol="l_0", range="non-negative")
    damping: Value = quantity(
        "N s/m", "damping while it is tight", symbol="c", range="non-negative", default=0.0, built_in="zero"
    )

    def stretch(self, v: Any, at: At) -> ca.SX:
        """How much longer than natural it is; zero while it is slack."""
        return ca.SX(ca.fmax(0, smooth_length(at.x) - v.length))

    def tension(self, v: Any, at: At) -> ca.SX:
        """The tension, which is never negative."""
        stretch = self.stretch(v, at)
        if ca.SX(v.damping).is_zero():
            return ca.SX(v.stiffness * stretch)
        pull = ca.fmax(0, v.stiffness * stretch + v.damping * path_rate(at.x, at.u))
        return ca.SX(ca.if_else(stretch > 0, pull, 0))

    def forces(self, v: Any, at: At) -> Sequence[ca.SX]:
        return pulls(at.x, self.tension(v, at))

    def potential(self, v: Any, at: At) -> ca.SX:
        return ca.SX(v.stiffness * self.stretch(v, at) ** 2 / 2)

    def loss(self, v: Any, at: At) -> ca.SX:
        """(T - k x) l': damping, and what a cable loses that is let go faster than it can shorten."""
        return ca.SX((self.tension(v, at) - v.stiffness * self.stretch(v, at)) * path_rate(at.x, at.u))

    def results(self, v: Any, at: At) -> Results:
        return {"tension": (self.tension(v, at), "N"), "length": (path_length(at.x), "m")}


class MotorCable(Cable, Held):
    """l = length(t): a motor winds the cable, so that the path over its nodes has the given length.

    It holds the length both ways: a negative tension says that it would need to push.
    """

    kind: ClassVar[str] = "nodal.motor_cable"
    edge_kind: ClassVar[Kind] = Kind.POSITION_DRIVER

    length: Signal = signal("m", "length over time")

    def check(self, values: Mapping[str, float]) -> None:
        if values.get("length", 1.0) <= 0.0:
            raise ModelError(
                f"the length is {values['length']:g} m",
                where=f"{self.name}.length",
                expected="a positive length, or an expression of time such as '2 - 0.1*t'",
                remedy="Give the length of the whole path",
            )

    def labels(self) -> tuple[str, ...]:
        return ("length",)

    def equations(self, v: Any, at: At) -> ca.SX:
        check_apart(self, self.over, at.start)
        return ca.SX(path_length(at.x) - v.length)

    def results(self, v: Any, at: At, force: ca.SX) -> Results:
        return {"tension": (-force, "N"), "length": (path_length(at.x), "m")}
