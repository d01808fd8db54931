"""Blocks with bends: saturation, dead band, rate limiter, and tables. Each lands on its bends by events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Literal

from cotree.errors import ModelError
from cotree.model import MISSING, Signal, Value, quantity
from cotree.model.form import said
from cotree.model.switching import StateOf, SwitchLaw
from cotree.terminal.characteristic import Curve, points
from cotree.terminal.control.base import POINTS, Block, constant, source, unit_field, word
from cotree.terminal.control.regions import REGION, chosen, clipped, crossings, limits
from cotree.terminal.control.units import Units, agreed

BEYOND = ("hold", "extend")
MOST_POINTS = {"linear": 200, "smooth": 1000}
"""Most points of a table; every bend of a linear one is an event."""


def check_limits(name: str, values: Mapping[str, float]) -> None:
    """Refuse a lower limit that is not below the upper one."""
    lower, upper = values.get("lower"), values.get("upper")
    if lower is not None and upper is not None and lower >= upper:
        raise ModelError(f"lower is {lower:g} and upper is {upper:g}", where=name, expected="lower < upper")


class Saturation(Block):
    """value = input, but not below ``lower`` and not above ``upper``; one of the two may be left out."""

    kind = "control.saturation"
    holding: ClassVar[tuple[str, ...]] = (REGION,)
    example: ClassVar[Mapping[str, Any]] = {"lower": -0.5, "upper": 1.0}
    input: Signal = source("signal that is limited")
    lower: Value | None = constant("least value", default=None)
    upper: Value | None = constant("greatest value", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lower is None and self.upper is None:
            raise ModelError("no limit is given", where=self.name, expected="lower, upper or both")

    def check(self, values: Mapping[str, float]) -> None:
        check_limits(self.name, values)

    def held_start(self, values: Mapping[str, float]) -> tuple[float, ...]:
        return (0.0 if self.lower is None else 1.0,)

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"value": clipped(v.region, v.input, v.lower, v.upper)}

    def output_unit(self, units: Units) -> Units:
        return {"value": agreed(self, units, ("input", "lower", "upper"))}

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        return crossings(v.region, v.input, limits(v.lower, v.upper))


class DeadBand(Block):
    """value = 0 between ``lower`` and ``upper``, and input less the limit that is passed outside of them."""

    kind = "control.dead_band"
    holding: ClassVar[tuple[str, ...]] = (REGION,)
    example: ClassVar[Mapping[str, Any]] = {"lower": -0.5, "upper": 1.0}
    input: Signal = source("signal")
    lower: Value = constant("lower end of the band")
    upper: Value = constant("upper end of the band")

    def check(self, values: Mapping[str, float]) -> None:
        check_limits(self.name, values)

    def held_start(self, values: Mapping[str, float]) -> tuple[float, ...]:
        return (1.0,)

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"value": chosen(v.region, [v.input - v.lower, 0.0, v.input - v.upper])}

    def output_unit(self, units: Units) -> Units:
        return {"value": agreed(self, units, ("input", "lower", "upper"))}

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        return crossings(v.region, v.input, [v.lower, v.upper])


class Relay(Block):
    """value = upper after the input has risen over ``on``, lower after it has fallen below ``off``.

    Between the two thresholds the value stays. It starts at ``lower``, unless the input is above ``on``.
    """

    kind = "control.relay"
    holding: ClassVar[tuple[str, ...]] = ("closed",)
    example: ClassVar[Mapping[str, Any]] = {"on": 0.2, "off": -0.1, "upper": 5.0, "lower": 1.0}
    input: Signal = source("signal")
    on: Value = constant("input above which it closes")
    off: Value = constant("input below which it opens, less than on")
    lower: Value = constant("value while open, 0 if not given", default=0.0)
    upper: Value = constant("value while closed, 1 if not given", default=1.0)
    unit: str | None = unit_field()

    def check(self, values: Mapping[str, float]) -> None:
        if values["off"] >= values["on"]:
            raise ModelError(
                f"off is {values['off']:g} and on is {values['on']:g}",
                where=self.name,
                expected="off below on: without a distance between them it would never rest",
            )

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"value": v.lower + (v.upper - v.lower) * v.closed}

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        return [
            SwitchLaw("closes", (1 - v.closed) * (v.input - v.on), {"closed": 1.0}),
            SwitchLaw("opens", v.closed * (v.off - v.input), {"closed": 0.0}),
        ]


class RateLimiter(Block):
    """d(value)/dt = (input - value)/time, but not below ``falling`` and not above ``rising``.

    The output follows the input with a lag of ``time``, and no faster than the two rates. It starts at ``initial``.
    """

    kind = "control.rate_limiter"
    holding: ClassVar[tuple[str, ...]] = (REGION,)
    example: ClassVar[Mapping[str, Any]] = {"rising": 1.0, "falling": -2.0, "time": 0.1}
    input: Signal = source("signal that is followed")
    rising: Value = constant("greatest rate, positive", range="positive")
    falling: Value = constant("least rate, negative")
    time: Value = quantity("s", "lag with which the input is followed", range="positive", kw_only=True)
    initial: Value = constant("value at the start, 0 if not given", default=0.0)

    def check(self, values: Mapping[str, float]) -> None:
        if values["falling"] >= 0.0:
            raise ModelError(
                f"the value is {values['falling']:g}", where=f"{self.name}.falling", expected="a negative rate"
            )

    def states(self) -> tuple[StateOf, ...]:
        return (StateOf("state"),)

    def state_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return (values["initial"],)

    def held_start(self, values: Mapping[str, float]) -> tuple[float, ...]:
        return (1.0,)

    def rates(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"state": clipped(v.region, (v.input - x.state) / v.time, v.falling, v.rising)}

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"value": x.state}

    def output_unit(self, units: Units) -> Units:
        return {"value": agreed(self, units, ("input", "initial"))}

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        return crossings(v.region, (v.input - e[0].state) / v.time, [v.falling, v.rising])


class Table(Block):
    """value = table(input), by points (input, value) with growing inputs.

    Between points the table is ``linear``, with an event at every bend, or ``smooth``: a curve without bends that keeps
    the monotony of the points. Beyond its ends it keeps its last value (``hold``) or goes on straight (``extend``).
    """

    kind = "control.table"
    holding: ClassVar[tuple[str, ...]] = (REGION,)
    example: ClassVar[Mapping[str, Any]] = {"table": [[0.0, 1.0], [2.0, 5.0]]}
    input: Signal = source("signal that is looked up")
    table: Sequence[Sequence[float]] = field(
        default=MISSING, kw_only=True, metadata=said("points (input, value)", POINTS)
    )
    beyond: Literal["hold", "extend"] = field(
        default=MISSING, kw_only=True, metadata=said("beyond the ends: hold the last value, or extend straight")
    )
    interpolation: Literal["linear", "smooth"] = field(
        default="linear", kw_only=True, metadata=said("straight lines between points, or a smooth curve")
    )
    unit: str | None = unit_field()

    def __post_init__(self) -> None:
        word(self.beyond, BEYOND, f"{self.name}.beyond")
        word(self.interpolation, tuple(MOST_POINTS), f"{self.name}.interpolation")
        object.__setattr__(self, "table", points(self.table, f"{self.name}.table", "y"))
        if len(self.table) > (most := MOST_POINTS[self.interpolation]):
            raise ModelError(
                f"the table has {len(self.table)} points", where=f"{self.name}.table",
                expected=f"at most {most} with {self.interpolation} interpolation",
                remedy="Use interpolation: smooth, or fewer points" if most < max(MOST_POINTS.values()) else "",
            )  # fmt: skip
        super().__post_init__()

    def to_data(self) -> dict[str, Any]:
        return super().to_data() | {"table": [list(point) for point in self.table]}

    @property
    def borders(self) -> list[float]:
        """Where the law bends."""
        every = [float(x) for x, _ in self.table]
        inner = [] if self.interpolation == "smooth" else every[1:-1]
        return [every[0], *inner, every[-1]] if self.beyond == "hold" else inner

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"value": chosen(v.region, self._pieces(v.input))}

    def _pieces(self, x: Any) -> list[Any]:
        first, last = float(self.table[0][1]), float(self.table[-1][1])
        if self.interpolation == "smooth":
            inner = [Curve([(float(a), float(b)) for a, b in self.table]).value(x)]
        else:
            pairs = zip(self.table[:-1], self.table[1:], strict=True)
            inner = [b + (d - b) / (c - a) * (x - a) for (a, b), (c, d) in pairs]
        return [first, *inner, last] if self.beyond == "hold" else inner

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        return crossings(v.region, v.input, self.borders) if self.borders else ()
