"""Blocks that act at their samples only, at ``offset`` and every ``period`` from there on, and hold in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import MISSING, Signal, Value, quantity
from cotree.model.form import said
from cotree.model.switching import SampleLaw
from cotree.terminal.control.base import (
    COUNT,
    OFFSET,
    PERIOD,
    Block,
    constant,
    constants,
    matrix,
    source,
    sources,
    unit_field,
    whole,
)
from cotree.terminal.control.linear import applied, check_sizes, output_names
from cotree.terminal.control.pid import AnyPid
from cotree.terminal.control.units import Units, agreed

MOST_COUNT = 1000
"""Most periods of a sampled delay."""
BEFORE = "value before the first sample, 0 if not given"


class Sampled(Block):
    """What all sampled blocks share: their times, and outputs that are held values of the same names."""

    period: Value = quantity("s", PERIOD, range="positive", symbol="T", kw_only=True)
    offset: Value = quantity("s", f"{OFFSET}, 0 if not given", range="non-negative", default=0.0)

    def names(self) -> Sequence[str]:
        """The names of its outputs."""
        return ("value",)

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {name: getattr(v, f"held_{name}") for name in self.names()}

    def at(self, v: Any, held: Mapping[str, Any]) -> SampleLaw:
        """What happens at a sample."""
        return SampleLaw(v.period, held, v.offset)


class SampleHold(Sampled):
    """value = input at the last sample, rounded to whole multiples of ``quantum`` where one is given."""

    kind = "control.sample_hold"
    holding: ClassVar[tuple[str, ...]] = ("held_value",)
    input: Signal = source("signal that is sampled")
    quantum: Value | None = constant("step between values", range="positive", default=None)
    initial: Value = constant(BEFORE, default=0.0)

    def held_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return (values["initial"],)

    def sample(self, v: Any, x: Any) -> SampleLaw:
        import casadi as ca

        value = v.input if v.quantum is None else v.quantum * ca.floor(v.input / v.quantum + 0.5)
        return self.at(v, {"held_value": value})

    def output_unit(self, units: Units) -> Units:
        return {"value": agreed(self, units, ("input", "quantum", "initial"))}


class SampledDelay(Sampled):
    """value = input ``count`` samples before the last one: z^-count. Before there is one, value = ``initial``."""

    kind = "control.sampled_delay"
    input: Signal = source("signal that is delayed")
    count: int = field(
        default=MISSING, kw_only=True, metadata=said("samples by which it is late", {**COUNT, "maximum": MOST_COUNT})
    )
    initial: Value = constant("value before there is one from the input, 0 if not given", default=0.0)

    def __post_init__(self) -> None:
        whole(self.count, 1, MOST_COUNT, f"{self.name}.count")
        super().__post_init__()
        object.__setattr__(self, "holding", (*(f"past_{k}" for k in range(1, self.count + 1)), "held_value"))

    def held_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return (values["initial"],) * len(self.holding)

    def sample(self, v: Any, x: Any) -> SampleLaw:
        moved = [v.input, *(getattr(v, name) for name in self.holding[:-1])]
        return self.at(v, dict(zip(self.holding, moved, strict=True)))

    def output_unit(self, units: Units) -> Units:
        return {"value": agreed(self, units, ("input", "initial"))}


class SampledStateSpace(Sampled):
    """At every sample y = C x + D u, then x = A x + B u, with the inputs u, from x = ``initial`` on.

    A single output is called value, several are value_1, value_2, ...; they are 0 before the first sample, and ``d`` is
    zero where it is not given.
    """

    kind = "control.sampled_state_space"
    inputs: Sequence[Signal] = sources("signals u")
    a: Sequence[Sequence[Value]] = matrix("next states by states")
    b: Sequence[Sequence[Value]] = matrix("next states by inputs")
    c: Sequence[Sequence[Value]] = matrix("outputs by states")
    d: Sequence[Sequence[Value]] | None = matrix("outputs by inputs", default=None)
    initial: Sequence[Value] | None = constants("states at the first sample, 0 if not given", default=None)
    unit: str | None = unit_field("its outputs")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sizes(self)
        object.__setattr__(self, "holding", (*self._own(), *(f"held_{name}" for name in self.names())))

    def _own(self) -> list[str]:
        return [f"x{k}" for k in range(1, len(self.a) + 1)]

    def names(self) -> Sequence[str]:
        return output_names(len(self.c))

    def held_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        own = (values.get(f"initial.{k}", 0.0) for k in range(1, len(self.a) + 1))
        return (*own, *(0.0,) * len(self.c))

    def sample(self, v: Any, x: Any) -> SampleLaw:
        states = [getattr(v, name) for name in self._own()]
        new = [*applied(v.a, states, v.b, v.inputs), *applied(v.c, states, v.d, v.inputs)]
        return self.at(v, dict(zip(self.holding, new, strict=True)))

    def output_unit(self, units: Units) -> Units:
        return dict.fromkeys(self.names(), self.unit)


class SampledPid(Sampled, AnyPid):
    """value = p e + I + D at every sample, of the error e = setpoint - measurement or ``input``.

    I = I_before + i period e (backward Euler), and D = (filter D_before + d (e - e_before))/(filter + period), with
    D = 0 at the first sample and filter = 0 where it is not given. With limits the output is cut, and I stays as it was
    where the output is beyond a limit and i e drives it further. Before the first sample value = ``before``.
    """

    kind = "control.sampled_pid"
    holding: ClassVar[tuple[str, ...]] = ("integral", "rate", "error_before", "begun", "held_value")
    filter: Value | None = quantity("s", "time constant of the rate's filter", range="non-negative", default=None)
    before: Value = constant(BEFORE, default=0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.filter is not None and self.d is None:
            raise ModelError(
                "it has no effect without a gain d of the rate", where=f"{self.name}.filter", remedy="Leave it out"
            )

    def held_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return (values["initial"], 0.0, 0.0, 0.0, values["before"])

    def sample(self, v: Any, x: Any) -> SampleLaw:
        import casadi as ca

        e, step = ca.SX(self.error(v)), 0.0 if self.i is None else v.i * v.period * self.error(v)
        rate: Any = 0.0
        if self.d is not None:
            lag = 0.0 if self.filter is None else v.filter
            rate = v.begun * (lag * v.rate + v.d * (e - v.error_before)) / (lag + v.period)
        integral = v.integral + step
        value = v.p * e + integral + rate
        if self.limited:
            low = -ca.inf if v.lower is None else v.lower
            high = ca.inf if v.upper is None else v.upper
            outwards = ca.logic_or(ca.logic_and(value > high, step > 0.0), ca.logic_and(value < low, step < 0.0))
            integral = ca.if_else(outwards, v.integral, integral)
            value = ca.fmin(ca.fmax(v.p * e + integral + rate, low), high)
        new = (integral, rate, e, 1.0, value)
        return self.at(v, dict(zip(self.holding, new, strict=True)))

    def output_unit(self, units: Units) -> Units:
        return AnyPid.output_unit(self, units)
