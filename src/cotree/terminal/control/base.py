"""The base of blocks: components without edges that make signals from signals, which others read by name.

A block named ``pid`` gives the signal ``pid.value``. Its inputs are expressions of time, parameters and the names of
results: ``O.angle``, ``R1.current``, ``pid.value``. Bends in a law stand at the border of regions: which region holds
is a held value, so that every stretch between two events is smooth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any, ClassVar

from cotree.errors import ExpressionError, ModelError
from cotree.model import MISSING, Component, Quantity
from cotree.model.form import VALUE, Schema, said, several
from cotree.model.form import listed as rows_of
from cotree.model.quantity import check_dimension
from cotree.model.switching import SampleLaw, StateOf, SwitchLaw
from cotree.model.units import parse_unit

MOST = 100
"""Most inputs, coefficients, or rows of a matrix."""
PERIOD = "time from one sample to the next"
OFFSET = "time of the first sample"


def source(meaning: str, *, default: Any = MISSING) -> Any:
    """A field for an input: an expression of time, parameters and signals, in any unit."""
    info = Quantity("", "finite", True, meaning, measured=True, free=True)
    return dataclasses.field(default=default, kw_only=True, metadata={"quantity": info})


def constant(meaning: str, *, range: str = "finite", default: Any = MISSING, symbol: str = "") -> Any:
    """A field for a constant whose unit follows from those of the signals."""
    info = Quantity("", range, False, meaning, symbol, free=True)
    return dataclasses.field(default=default, kw_only=True, metadata={"quantity": info})


def sources(meaning: str) -> Any:
    """A field for a list of inputs, each addressed as ``inputs.1``, ``inputs.2``, ..."""
    return _many("series", Quantity("", "finite", True, meaning, measured=True, free=True), several(VALUE, 1))


def constants(meaning: str, *, default: Any = MISSING) -> Any:
    """A field for a list of constants, each addressed as ``numerator.1``, ..."""
    return _many("series", _CONSTANT(meaning), several(VALUE, 1), default)


def matrix(meaning: str, *, default: Any = MISSING) -> Any:
    """A field for the rows of a matrix, whose entries are addressed as ``a.1_2``."""
    return _many("matrix", _CONSTANT(meaning), several(several(VALUE, 1), 1), default)


def _CONSTANT(meaning: str) -> Quantity:
    return Quantity("", "finite", False, meaning, built_in="zero", free=True)


def _many(form: str, info: Quantity, schema: Schema, default: Any = MISSING) -> Any:
    schema = {**schema, "maxItems": MOST}
    return dataclasses.field(default=default, kw_only=True, metadata={form: info} | said(info.meaning, schema))


def unit_field(of: str = "its value") -> Any:
    """A field for the unit of the output, where it does not follow from those of the inputs."""
    return dataclasses.field(default=None, kw_only=True, metadata=said(f"unit of {of}, where nothing else tells it"))


class Block(Component):
    """What all blocks share. A subclass says its states, its outputs, and what changes at events and samples."""

    controls: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.name.isidentifier() or iskeyword(self.name):
            raise ModelError(
                f"the name '{self.name}' cannot be used for a block",
                expected="a name that expressions can hold: letters, digits and _, but no word such as in, is or for",
            )
        for name, (info, _) in self.entries().items():
            expression = self.expressions[name]
            if info.free:  # a temperature in degC fits no signal, as those count from the datum
                check_dimension(
                    expression.dimension,
                    dataclasses.replace(info, measured=True),
                    f"{self.name}.{name}",
                    f"'{expression.text}'",
                )
        check_unit(getattr(self, "unit", None), f"{self.name}.unit")

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return ()

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        result = super().entries()
        for f in dataclasses.fields(self):
            given = getattr(self, f.name)
            if given is None and f.default is None:
                continue
            if "series" in f.metadata:
                result |= _series(f.name, given, f.metadata["series"], self.name)
            elif "matrix" in f.metadata:
                result |= _rows(f.name, given, f.metadata["matrix"], self.name)
        return result

    def gather(self, values: Mapping[str, Any]) -> dict[str, Any]:
        result = super().gather(values)
        for f in dataclasses.fields(self):
            given: Any = getattr(self, f.name)
            if "series" in f.metadata:
                names = range(1, len(given or ()) + 1)
                result[f.name] = None if given is None else tuple(values[f"{f.name}.{k}"] for k in names)
            elif "matrix" in f.metadata:
                result[f.name] = None if given is None else self._gathered(f.name, given, values)
        return result

    @staticmethod
    def _gathered(name: str, rows: Any, values: Mapping[str, Any]) -> tuple[tuple[Any, ...], ...]:
        return tuple(
            tuple(values[f"{name}.{i}_{k}"] for k in range(1, len(row) + 1)) for i, row in enumerate(rows, start=1)
        )

    def to_data(self) -> dict[str, Any]:
        data = super().to_data()
        for f in dataclasses.fields(self):
            if "matrix" in f.metadata and f.name in data:
                data[f.name] = [list(row) for row in data[f.name]]
        return data

    def states(self) -> tuple[StateOf, ...]:
        """Its continuous states."""
        return ()

    def state_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Their values at the start."""
        return (0.0,) * len(self.states())

    def rates(self, v: Any, x: Any) -> Mapping[str, Any]:
        """The rates of its states; ``v`` are the values of its fields and held values, ``x`` its states."""
        return {}

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        """Its signals by name; the main one is called ``value``."""
        raise NotImplementedError

    def output_unit(self, units: Mapping[str, str | None]) -> Mapping[str, str | None]:
        """The units of its signals from those of its inputs (``input``, ``inputs.1``), None where not known."""
        return {"value": getattr(self, "unit", None)}

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        """When and how held values change; ``e`` holds its states."""
        return ()

    def sample(self, v: Any, x: Any) -> SampleLaw | None:
        """What it does at its samples."""
        return None


def _series(name: str, given: Any, info: Quantity, owner: str) -> dict[str, tuple[Quantity, Any]]:
    where, what = f"{owner}.{name}", "expressions" if info.signal else "numbers"
    expected = f"a list of 1 to {MOST} {what}: {info.meaning}"
    if given is MISSING:
        raise ModelError("no value is given", where=where, expected=expected)
    if not isinstance(given, tuple) or not 1 <= len(given) <= MOST:
        found = f"a list of {len(given)}" if isinstance(given, tuple) else f"{given!r}"
        raise ModelError(f"found {found}", where=where, expected=expected)
    return {f"{name}.{k}": (info, each) for k, each in enumerate(given, start=1)}


def _rows(name: str, given: Any, info: Quantity, owner: str) -> dict[str, tuple[Quantity, Any]]:
    where, expected = f"{owner}.{name}", f"a list of rows of equal length, up to {MOST} x {MOST}: {info.meaning}"
    if given is MISSING:
        raise ModelError("no value is given", where=where, expected=expected)
    rows = given if isinstance(given, tuple) else ()
    widths = {len(row) if isinstance(row, tuple) else 0 for row in rows}
    if not 1 <= len(rows) <= MOST or len(widths) != 1 or not 1 <= max(widths) <= MOST:
        raise ModelError(f"found {_short(given)}", where=where, expected=expected)
    return {
        f"{name}.{i}_{k}": (info, each) for i, row in enumerate(rows, start=1) for k, each in enumerate(row, start=1)
    }


def _short(given: Any) -> str:
    text = repr(given)
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_unit(unit: str | None, where: str) -> None:
    """Refuse what is no unit, and units such as mV: signals are in SI units."""
    if not unit:
        return
    try:
        found = parse_unit(unit)
    except ExpressionError as reason:
        raise ModelError(reason.found, where=where, expected=reason.expected, remedy=reason.remedy) from None
    if found.factor != 1 or found.offset:
        raise ModelError(
            f"the unit is '{unit}'",
            where=where,
            expected="an SI unit without a prefix, in which all signals are: V, rad/s",
        )


def _found(given: Any) -> str:
    return "no value is given" if given is MISSING else f"found {given!r}"


def whole(given: Any, least: int, most: int, where: str) -> int:
    """A whole number in a range."""
    if type(given) is not int or not least <= given <= most:
        raise ModelError(_found(given), where=where, expected=f"a whole number from {least} to {most}")
    return given


def word(given: Any, known: Sequence[str], where: str) -> str:
    """One of some words."""
    if not isinstance(given, str) or given not in known:
        raise ModelError(_found(given), where=where, expected=f"one of {', '.join(known)}")
    return given


COUNT = {"type": "integer", "minimum": 1}
POINTS = several(rows_of(VALUE, 2), 2)
