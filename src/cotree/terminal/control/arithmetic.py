"""Blocks without memory: gain, sum and product."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from cotree.errors import ModelError
from cotree.model import Signal, Value
from cotree.terminal.control.base import Block, constant, constants, source, sources, unit_field
from cotree.terminal.control.units import Units, agreed, product


class Gain(Block):
    """value = gain * input."""

    kind = "control.gain"
    input: Signal = source("signal that is multiplied")
    gain: Value = constant("factor", symbol="k")
    unit: str | None = unit_field()

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"value": v.gain * v.input}


class Sum(Block):
    """value = sum of gain * input, with gains of one where none are given.

    Without gains, or with gains of 1 and -1, all inputs must have one dimension.
    """

    kind = "control.sum"
    inputs: Sequence[Signal] = sources("signals that are added")
    gains: Sequence[Value] | None = constants("factors, one for each input", default=None)
    unit: str | None = unit_field()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gains is not None and len(self.gains) != len(self.inputs):
            raise ModelError(
                f"{len(self.gains)} gains for {len(self.inputs)} inputs",
                where=f"{self.name}.gains",
                expected="one gain for each input",
            )

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        gains = v.gains or (1.0,) * len(v.inputs)
        return {"value": sum(gain * each for gain, each in zip(gains, v.inputs, strict=True))}

    def output_unit(self, units: Units) -> Units:
        names = [name for name in self.expressions if name.startswith("inputs.")]
        gains = [self.expressions[name] for name in self.expressions if name.startswith("gains.")]
        plain = all(not gain.names and gain.dimension is None and abs(gain.number({})) == 1.0 for gain in gains)
        known = {**units, "unit": self.unit}
        return {"value": agreed(self, known, ["unit", *names]) if plain else self.unit}


class Product(Block):
    """value = product of all inputs."""

    kind = "control.product"
    inputs: Sequence[Signal] = sources("signals that are multiplied")
    unit: str | None = unit_field()

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"value": functools.reduce(operator.mul, v.inputs)}

    def output_unit(self, units: Units) -> Units:
        names = [name for name in self.expressions if name.startswith("inputs.")]
        known = {"unit": self.unit, "inputs": product(units.get(name) for name in names)}
        return {"value": agreed(self, known, known)}
