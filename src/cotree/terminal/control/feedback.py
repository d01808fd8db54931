"""Sensors, and the feedback of states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import MISSING, Quantity, Signal, Value, quantity
from cotree.model.form import VALUE, named, said
from cotree.model.switching import StateOf
from cotree.terminal.control.base import MOST, Block, constant, source, unit_field
from cotree.terminal.control.units import Units, agreed

_GAIN = Quantity("", "finite", False, "gain of a signal", free=True)
_REFERENCE = Quantity("", "finite", True, "wanted value of a signal", measured=True, free=True)
_SIGNAL = Quantity("", "finite", True, "signal that is fed back", measured=True, free=True)


class Sensor(Block):
    """value = the result ``of``, times ``gain``, behind a first-order lag ``time`` where one is given.

    Any result has a name: ``O.angle``, ``R1.current``, ``arm.tip.velocity.x``, a force of a joint. With a lag, value
    starts at ``initial``.
    """

    kind = "control.sensor"
    example: ClassVar[Mapping[str, Any]] = {"of": "O.angle", "gain": 2.0}
    of: Signal = source("name of the result")
    gain: Value | None = constant("factor, 1 if not given", default=None)
    time: Value | None = quantity("s", "time constant of the lag, none if not given", range="positive", default=None)
    initial: Value | None = constant("value at the start, where there is a lag", default=None)
    unit: str | None = unit_field()

    def __post_init__(self) -> None:
        super().__post_init__()
        expression = self.expressions["of"]
        if expression.text.strip() not in expression.measured:
            raise ModelError(
                f"found '{expression.text}'",
                where=f"{self.name}.of",
                expected="the name of one result, such as O.angle or R1.current",
                remedy="Give an expression as the input of another block, such as control.gain",
            )
        if (self.time is None) != (self.initial is None):
            raise ModelError(
                "a lag is given without its start" if self.initial is None else "a start is given without a lag",
                where=self.name,
                expected="time and initial together, or none of them",
            )

    def states(self) -> tuple[StateOf, ...]:
        return () if self.time is None else (StateOf("state"),)

    def state_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return () if self.time is None else (values["initial"],)

    def rates(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {} if self.time is None else {"state": (self._seen(v) - x.state) / v.time}

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"value": self._seen(v) if self.time is None else x.state}

    def _seen(self, v: Any) -> Any:
        return v.of if v.gain is None else v.gain * v.of

    def output_unit(self, units: Units) -> Units:
        if self.gain is not None:
            return {"value": self.unit}
        return {"value": agreed(self, {**units, "unit": self.unit}, ("of", "initial", "unit"))}


class StateFeedback(Block):
    """value = - sum of gain * (signal - reference), over ``gains``: {"cart.x": -10, "O.angle": 40}.

    A key is the name of a signal. References are zero where none are given.
    """

    kind = "control.state_feedback"
    example: ClassVar[Mapping[str, Any]] = {"gains": {"O.angle": 40.0}}
    gains: Mapping[str, Value] = field(
        default=MISSING,
        kw_only=True,
        metadata=said("gains by signal", {**named(VALUE), "minProperties": 1}) | {"refers": True},
    )
    references: Mapping[str, Signal] | None = field(
        default=None,
        kw_only=True,
        metadata=said("wanted values by signal, 0 if not given", named(VALUE)) | {"refers": True},
    )
    unit: str | None = unit_field()

    def __post_init__(self) -> None:
        for name in ("gains", "references"):
            object.__setattr__(self, name, self._named(name))
        super().__post_init__()

    def _named(self, name: str) -> dict[str, Any] | None:
        given, where = getattr(self, name), f"{self.name}.{name}"
        if given is None and name == "references":
            return None
        expected = f"{name} by signal, such as {{'O.angle': 40}}"
        if not isinstance(given, Mapping) or not 1 <= len(given) <= MOST:
            raise ModelError(
                "no gains are given" if given is MISSING else f"found {given!r}", where=where, expected=expected
            )
        for key in given:
            if not isinstance(key, str) or "." not in key:
                raise ModelError(f"found {key!r}", where=where, expected=expected)
            if name == "references" and key not in self.gains:
                raise ModelError(f"there is no gain of '{key}'", where=where, expected="signals that have a gain")
        return dict(given)

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        result = super().entries()
        for key, gain in self.gains.items():
            result |= {f"gains.{key}": (_GAIN, gain), f"signals.{key}": (_SIGNAL, key)}
        return result | {f"references.{key}": (_REFERENCE, each) for key, each in (self.references or {}).items()}

    def gather(self, values: Mapping[str, Any]) -> dict[str, Any]:
        terms = [
            (values[f"gains.{key}"], values[f"signals.{key}"], values.get(f"references.{key}", 0.0))
            for key in self.gains
        ]
        return super().gather(values) | {"terms": terms}

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"value": -sum(gain * (signal - reference) for gain, signal, reference in v.terms)}

    def output_unit(self, units: Units) -> Units:
        for key in self.references or {}:
            agreed(self, units, (f"signals.{key}", f"references.{key}"))
        return {"value": self.unit}
