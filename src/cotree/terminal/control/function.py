"""A Python function as sampled controller: it is called at its samples, and never between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Self

from cotree.errors import ModelError
from cotree.model import MISSING, Signal, Value
from cotree.model.form import Form, said
from cotree.model.quantity import finite
from cotree.model.switching import SampleLaw
from cotree.terminal.control.base import COUNT, MOST, constant, sources, unit_field, whole
from cotree.terminal.control.linear import output_names
from cotree.terminal.control.sampled import BEFORE, Sampled
from cotree.terminal.control.units import Units

ONLY_PYTHON = "Keep the model in Python, or use control.sampled_pid or control.sampled_state_space"


class Function(Sampled):
    """value = function(t, inputs), called at every sample with the time and a list of numbers.

    The function gives a number, or a list of as many as ``outputs`` says: value_1, value_2, ... It may keep what it
    likes between calls. A file cannot hold it.
    """

    kind = "control.function"
    inputs: Sequence[Signal] = sources("signals that the function is given")
    function: Any = field(default=MISSING, kw_only=True, metadata=said("Python function of the time and the inputs"))
    count: int = field(default=1, kw_only=True, metadata=said("how many numbers it gives", {**COUNT, "maximum": MOST}))
    initial: Value = constant(BEFORE, default=0.0)
    unit: str | None = unit_field("its outputs")

    def __post_init__(self) -> None:
        if not callable(self.function):
            found = "no function is given" if self.function is MISSING else f"found {self.function!r}"
            raise ModelError(found, where=f"{self.name}.function", expected="a Python function f(t, inputs)")
        whole(self.count, 1, MOST, f"{self.name}.count")
        super().__post_init__()
        object.__setattr__(self, "holding", tuple(f"held_{name}" for name in self.names()))

    def names(self) -> Sequence[str]:
        return output_names(self.count)

    def held_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return (values["initial"],) * self.count

    def sample(self, v: Any, x: Any) -> SampleLaw:
        return SampleLaw(v.period, dict.fromkeys(self.holding, 0.0), v.offset, self.called, v.inputs)

    def called(self, t: float, inputs: Sequence[float]) -> list[float]:
        """What the function gives at a sample, checked."""
        try:
            result = self.function(t, inputs)
        except Exception as reason:
            reason.add_note(f"{self.name}.function was called at t = {t:.9g} s with {list(inputs)}")
            raise
        several = list(result) if hasattr(result, "__len__") and not isinstance(result, str) else [result]
        expected = "a number" if self.count == 1 else f"{self.count} numbers"
        where = f"{self.name}.function at t = {t:.9g} s"
        if len(several) != self.count:
            raise ModelError(f"it gave {len(several)} values", where=where, expected=expected)
        return [finite(each, where, expected) for each in several]

    def output_unit(self, units: Units) -> Units:
        return dict.fromkeys(self.names(), self.unit)

    def to_data(self) -> dict[str, Any]:
        raise ModelError(
            "its function is a Python function, which a file cannot hold", where=self.name, remedy=ONLY_PYTHON
        )

    @classmethod
    def data_fields(cls) -> list[str]:
        return [key for key in super().data_fields() if key != "function"]

    @classmethod
    def forms(cls) -> dict[str, Form]:
        return {key: form for key, form in super().forms().items() if key != "function"}

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> Self:
        raise ModelError(f"{cls.kind} is a Python function, which a file cannot hold", where=name, remedy=ONLY_PYTHON)
