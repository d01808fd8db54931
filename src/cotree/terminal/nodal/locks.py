"""Latches and stops: equations that hold from an event on, or only while they push.

The measure of two nodes is their distance in m. That of three, (a, hub, b), is the angle at the hub in rad: in [0, pi]
without a sign, or counted about an ``axis`` from the leg a to the leg b. About an axis the measure is smooth within
half a turn of the middle between its start and its limit, or of its two limits, so that it may pass pi.
Beyond that it begins anew: a latch then closes when it comes round to its limit, and a stop ends the run with an error.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import casadi as ca

from cotree.errors import ModelError
from cotree.model import Value, quantity, vector
from cotree.model.form import TEXT, listed, said
from cotree.model.quantity import check_alternative
from cotree.terminal.nodal.base import At, Held, Results, several
from cotree.terminal.nodal.measures import angle_about, check_direction, no_repeats, smooth_angle, start_angle
from cotree.terminal.springs import length_of

ACTIONS = ("hold", "end")


class Lock(Held):
    """An equation between a measure of nodes and a limit, which does not hold all the time."""

    over: tuple[str, ...] = dataclasses.field(
        metadata=said("two nodes (a, b) for a length, or three (a, hub, b) for an angle", listed(TEXT, 2, 3))
    )
    axis: tuple[Value, Value, Value] | None = vector(
        "", "axis about which the angle has a sign", default=None, built_in="always"
    )

    def __post_init__(self) -> None:
        names = several(self.over, 2, self.name)
        if len(names) > 3:
            raise ModelError(
                f"{len(names)} nodes are given",
                where=f"{self.name}.over",
                expected="two nodes (a, b) for a length, or three (a, hub, b) for an angle",
                remedy="Use one part for each length or angle",
            )
        no_repeats(names, f"{self.name}.over")
        object.__setattr__(self, "over", names)
        if len(names) == 2 and self.axis is not None:
            raise ModelError(
                "an axis is given for a length",
                where=f"{self.name}.axis",
                expected="an axis with the three nodes (a, hub, b) of an angle only",
                remedy="Drop the axis, or name three nodes",
            )
        super().__post_init__()
        check_alternative(self, len(names) - 2)

    @property
    def word(self) -> str:
        """What is measured: ``length`` or ``angle``."""
        return "length" if len(self.over) == 2 else "angle"

    @property
    def unit(self) -> str:
        """Of the measure."""
        return "m" if len(self.over) == 2 else "rad"

    def nodes(self) -> tuple[str, ...]:
        return self.over

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        if len(self.over) == 2:
            return ((self.over[1], self.over[0]),)
        a, hub, b = self.over
        return ((a, hub), (b, hub))

    def limit_fields(self) -> tuple[str, ...]:
        """The fields that hold the limits that are given."""
        raise NotImplementedError

    def limits(self, v: Any) -> dict[str, ca.SX]:
        """The limits by field, in the order of `labels`."""
        return {field: ca.SX(getattr(v, field)) for field in self.limit_fields()}

    def measure(self, v: Any, at: At) -> ca.SX:
        """The length or angle, with a slope everywhere."""
        if len(self.over) == 2:
            return length_of(at.x[1] - at.x[0])
        if self.axis is None:
            return smooth_angle(at.x)
        limits = list(self.limits(v).values())
        other = limits[1] if len(limits) == 2 else start_angle(v.axis, at.start)
        return angle_about(v.axis, at.x, (limits[0] + other) / 2)

    def equations(self, v: Any, at: At) -> ca.SX:
        """Measure - limit, one row for each limit that is given."""
        measure = self.measure(v, at)
        return ca.vertcat(*(measure - limit for limit in self.limits(v).values()))

    def check(self, values: Mapping[str, float]) -> None:
        check_direction(values, self.name, "axis")
        for field in self.limit_fields():
            value, where = values[field], f"{self.name}.{field}"
            if self.word == "length" and value <= 0.0:
                raise ModelError(
                    f"the length is {value:g} m",
                    where=where,
                    expected="a positive length: nodes at one place have no direction in which to hold each other",
                    remedy="Give a small length",
                )
            if self.word == "angle" and self.axis is None and not 0.0 < value < math.pi:
                raise ModelError(
                    f"the angle is {value:.8g} rad",
                    where=where,
                    expected="an angle between 0 and pi, which an angle without a sign can pass",
                    remedy="Give axis=..., about which the angle has a sign, such as (0, 0, 1)",
                )

    def results(self, v: Any, at: At, force: ca.SX) -> Results:
        """The measure, and the tension that holds a length or the torque that opens an angle."""
        total = ca.sum1(ca.SX(force))
        held = {"force": (-total, "N")} if self.word == "length" else {"torque": (total, "N m")}
        return {self.word: (self.measure(v, at), self.unit), **held}


class Latch(Lock):
    """measure = at, from the time on when the measure has reached it; free before.

    ``over`` names two nodes for a length, or three (a, hub, b) for an angle.
    """

    kind: ClassVar[str] = "nodal.latch"

    at: Value = quantity("m or rad", "length or angle at which it closes", kw_only=True)

    def limit_fields(self) -> tuple[str, ...]:
        return ("at",)

    def labels(self) -> tuple[str, ...]:
        return (self.word,)


class Stop(Lock):
    """least <= measure <= most, each where it is given: it pushes back, and never pulls.

    ``over`` names two nodes for a length, or three (a, hub, b) for an angle. After an impact the rate of the measure is
    -``restitution`` times that before. With the action ``end`` the run ends there; with ``hold`` it goes on.
    """

    kind: ClassVar[str] = "nodal.stop"
    example: ClassVar[Mapping[str, Any]] = {"over": ["A", "B"], "least": 0.1}

    least: Value | None = quantity("m or rad", "lower limit", default=None)
    most: Value | None = quantity("m or rad", "upper limit", default=None)
    restitution: Value = quantity("", "part of the speed that an impact gives back", default=0.0, built_in="zero")
    action: Literal["hold", "end"] = dataclasses.field(
        default="hold", kw_only=True, metadata=said("what it does at a limit: hold there, or end the run")
    )

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise ModelError(
                f"the action is {self.action!r}",
                where=f"{self.name}.action",
                expected="'hold' or 'end'",
                remedy="Write action='end' for a run that ends at the stop",
            )
        if self.least is None and self.most is None:
            raise ModelError(
                "no limit is given",
                where=self.name,
                expected="least=..., most=..., or both",
                remedy="Give one, or drop the stop",
            )
        super().__post_init__()

    def limit_fields(self) -> tuple[str, ...]:
        return tuple(field for field in ("least", "most") if getattr(self, field) is not None)

    def labels(self) -> tuple[str, ...]:
        return self.limit_fields()

    def check(self, values: Mapping[str, float]) -> None:
        super().check(values)
        if not 0.0 <= values["restitution"] <= 1.0:
            raise ModelError(
                f"the restitution is {values['restitution']:g}",
                where=f"{self.name}.restitution",
                expected="a number from 0 (no rebound) to 1 (no loss)",
                remedy="Give the speed after an impact over that before it",
            )
        if len(self.limit_fields()) < 2:
            return
        least, most = values["least"], values["most"]
        if least >= most:
            raise ModelError(
                f"least is {least:g} and most is {most:g} {self.unit}",
                where=self.name,
                expected="least below most",
                remedy="Exchange the two limits",
            )
        if self.word == "angle" and most - least >= 2 * math.pi:
            raise ModelError(
                f"the limits {least:g} and {most:g} rad are a full turn apart",
                where=self.name,
                expected="limits less than 2*pi apart",
                remedy="Use nearer limits, or only one",
            )
