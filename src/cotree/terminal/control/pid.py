"""The PID controller in continuous time, and what it shares with the sampled one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import Signal, Value, quantity
from cotree.model.switching import StateOf, SwitchLaw
from cotree.terminal.control.base import Block, constant, source, unit_field
from cotree.terminal.control.limits import check_limits
from cotree.terminal.control.regions import REGION, clipped, crossings, limits
from cotree.terminal.control.units import Units, agreed


class AnyPid(Block):
    """What both PID controllers share: the error, the gains and the limits of the output."""

    example: ClassVar[Mapping[str, Any]] = {"input": "1 - t", "p": 2.0}

    input: Signal | None = source("error; or give setpoint and measurement", default=None)
    setpoint: Signal | None = source("wanted value", default=None)
    measurement: Signal | None = source("actual value", default=None)
    p: Value = constant("gain of the error", symbol="k_p")
    i: Value | None = constant("gain of the integral of the error", default=None, symbol="k_i")
    d: Value | None = constant("gain of the rate of the error", default=None, symbol="k_d")
    lower: Value | None = constant("least output", default=None)
    upper: Value | None = constant("greatest output", default=None)
    initial: Value = constant("part of the output that the integral gives at the start, 0 if not given", default=0.0)
    unit: str | None = unit_field()

    def __post_init__(self) -> None:
        super().__post_init__()
        both = [name for name in ("setpoint", "measurement") if getattr(self, name) is not None]
        if (self.input is not None) == bool(both) or len(both) == 1:
            given = [*(["input"] if self.input is not None else []), *both]
            raise ModelError(
                f"{', '.join(given)} given" if given else "no error is given",
                where=self.name,
                expected="input (the error), or setpoint and measurement",
            )

    @property
    def limited(self) -> bool:
        """Whether the output has a limit."""
        return self.lower is not None or self.upper is not None

    def check(self, values: Mapping[str, float]) -> None:
        check_limits(self.name, values)
        if self.i is None and values["initial"] != 0.0:
            raise ModelError(
                f"the value is {values['initial']:g}, and there is no integral",
                where=f"{self.name}.initial",
                expected="the gain i",
            )

    def error(self, v: Any) -> Any:
        """What is to become zero."""
        return v.input if self.input is not None else v.setpoint - v.measurement

    def output_unit(self, units: Units) -> Units:
        agreed(self, units, ("setpoint", "measurement"))
        return {"value": agreed(self, {**units, "unit": self.unit}, ("unit", "lower", "upper", "initial"))}


class Pid(AnyPid):
    """value = p e + i * integral of e + d de/dt, of the error e = setpoint - measurement or ``input``.

    The rate is that of e behind a lag, d s/(filter s + 1) e; it starts at rest, so that an error at the start counts as
    a step from zero. With limits the output is cut, and the integral part I is drawn back meanwhile (back-calculation):
    dI/dt = i e + (value - value without limits)/tracking. This stays smooth at the limit.
    """

    kind = "control.pid"
    filter: Value | None = quantity("s", "time constant of the rate's filter", range="positive", default=None)
    tracking: Value | None = quantity(
        "s", "time constant by which a limit draws the integral back", range="positive", default=None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        both = "limits and an integral"
        for name, needed, why in (
            ("filter", self.d is not None, "a gain d of the rate"),
            ("tracking", self.limited and self.i is not None, both),
        ):
            if needed and getattr(self, name) is None:
                raise ModelError(f"no {name} is given beside {why}", where=self.name, expected=f"{name}: a time in s")
            if not needed and getattr(self, name) is not None:
                raise ModelError(f"it has no effect without {why}", where=f"{self.name}.{name}", remedy="Leave it out")
        object.__setattr__(self, "holding", (REGION,) if self.limited else ())

    def held_start(self, values: Mapping[str, float]) -> tuple[float, ...]:
        return () if not self.limited else (0.0,) if self.lower is None else (1.0,)

    def states(self) -> tuple[StateOf, ...]:
        names = [*(["integral"] if self.i is not None else []), *(["filtered"] if self.d is not None else [])]
        return tuple(StateOf(name) for name in names)

    def state_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(values["initial"] if state.name == "integral" else 0.0 for state in self.states())

    def free(self, v: Any, x: Any) -> Any:
        """The output without limits."""
        e = self.error(v)
        result = v.p * e
        if self.i is not None:
            result += x.integral
        return result if self.d is None else result + v.d * (e - x.filtered) / v.filter

    def rates(self, v: Any, x: Any) -> Mapping[str, Any]:
        e, result = self.error(v), {}
        if self.i is not None:
            result["integral"] = v.i * e
            if self.limited:
                free = self.free(v, x)
                result["integral"] += (clipped(v.region, free, v.lower, v.upper) - free) / v.tracking
        if self.d is not None:
            result["filtered"] = (e - x.filtered) / v.filter
        return result

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        free = self.free(v, x)
        return {"value": clipped(v.region, free, v.lower, v.upper) if self.limited else free}

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        return crossings(v.region, self.free(v, e[0]), limits(v.lower, v.upper)) if self.limited else ()
