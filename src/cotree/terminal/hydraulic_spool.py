"""The spool of a valve: it follows its command with a lag and stops at both ends of its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import Value, quantity
from cotree.model.switching import StateOf, SwitchLaw
from cotree.terminal.control.base import Block, source


class Spool(Block):
    """y'' = w^2 (u - y) - 2 D w y', or T y' = u - y where only a time constant is given, and y from -1 to 1.

    At an end the spool stops at once, and leaves it when the command u comes back inside. The signal ``value`` is y,
    for the opening of a valve.
    """

    kind = "hydraulic.spool"
    holding = ("end",)
    example: ClassVar[Mapping[str, Any]] = {"time_constant": 0.005}
    input: Value = source("command; 1 asks for the full opening")
    time_constant: Value | None = quantity(
        "s", "time constant of first order", symbol="T", range="positive", default=None
    )
    frequency: Value | None = quantity(
        "rad/s", "natural frequency of second order", symbol="w", range="positive", default=None
    )
    damping_ratio: Value | None = quantity(
        "", "part of critical damping, given with the frequency", symbol="D", range="non-negative", default=None
    )
    initial: Value | None = quantity("", "position at the start, 0 if not given", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in ("time_constant", "frequency", "damping_ratio") if getattr(self, name) is not None]
        if given not in (["time_constant"], ["frequency", "damping_ratio"]):
            raise ModelError(
                f"given: {', '.join(given)}" if given else "neither time_constant nor frequency is given",
                where=self.name,
                expected="time_constant alone, or frequency and damping_ratio",
            )

    def check(self, values: Mapping[str, float]) -> None:
        if abs(values.get("initial", 0.0)) > 1:
            raise ModelError(
                f"the position is {values['initial']:g}", where=f"{self.name}.initial", expected="from -1 to 1"
            )

    @property
    def second_order(self) -> bool:
        """Whether the spool has a speed of its own."""
        return self.frequency is not None

    def states(self) -> tuple[StateOf, ...]:
        position = StateOf("position")
        return (position, StateOf("speed", "1/s")) if self.second_order else (position,)

    def state_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        start = values.get("initial")
        return (0.0 if start is None else start, *[0.0] * self.second_order)

    def rates(self, v: Any, x: Any) -> Mapping[str, Any]:
        free = 1 - v.end**2
        if not self.second_order:
            return {"position": free * (v.input - x.position) / v.time_constant}
        pull = v.frequency**2 * (v.input - x.position) - 2 * v.damping_ratio * v.frequency * x.speed
        return {"position": free * x.speed, "speed": free * pull}

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"value": x.position}

    def output_unit(self, units: Mapping[str, str | None]) -> Mapping[str, str | None]:
        return {"value": ""}

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        y, free = e[0].position, 1 - v.end**2
        rest = {"speed": 0.0} if self.second_order else {}
        return (
            SwitchLaw("reaches_upper_end", free * (y - 1), {"end": 1.0}, {"position": 1.0, **rest}),
            SwitchLaw("reaches_lower_end", -free * (y + 1), {"end": -1.0}, {"position": -1.0, **rest}),
            SwitchLaw("leaves_upper_end", v.end * (v.end + 1) / 2 * (1 - v.input), {"end": 0.0}),
            SwitchLaw("leaves_lower_end", v.end * (v.end - 1) / 2 * (1 + v.input), {"end": 0.0}),
        )
