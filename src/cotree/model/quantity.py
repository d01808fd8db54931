"""Fields of components that carry a physical value: their unit, their allowed range, and how they are checked."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from cotree.errors import ExpressionError, ModelError
from cotree.model.expression import Expression

Value = float | str
"""A number, or an expression of the model's parameters."""

Signal = float | str
"""A number, or an expression of time and the model's parameters."""


class _Missing:
    def __repr__(self) -> str:
        return "(not given)"


MISSING: Final[Any] = _Missing()

_RANGES: dict[str, Callable[[float], bool]] = {
    "positive": lambda x: x > 0.0,
    "non-negative": lambda x: x >= 0.0,
    "non-zero": lambda x: x != 0.0,
    "finite": lambda x: True,
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is known of a field before its value: unit, range, whether it may vary with time, what it means."""

    unit: str
    range: str
    signal: bool
    meaning: str
    symbol: str = ""
    """As formulas write it: ``R``, ``L_1``."""

    @property
    def expected(self) -> str:
        """How to say what belongs here: ``a positive number in ohm``."""
        article = "" if self.range == "finite" else f"{self.range} "
        unit = f" in {self.unit}" if self.unit else ""
        return f"a {article}number{unit}, or an expression of {'time and ' if self.signal else ''}parameters"


def quantity(
    unit: str,
    meaning: str = "",
    *,
    symbol: str = "",
    range: str = "finite",
    default: Any = MISSING,
    kw_only: bool = True,
) -> Any:
    """A dataclass field for a constant `Value`; without ``default`` it must be given.

    Quantities are given by keyword only; saying so at a field with a default tells type checkers, too.
    """
    info = Quantity(unit, range, False, meaning, symbol)
    return dataclasses.field(default=default, kw_only=kw_only, metadata={"quantity": info})


def signal(unit: str, meaning: str = "", *, default: Any = MISSING) -> Any:
    """A dataclass field for a `Signal`; without ``default`` it must be given."""
    return dataclasses.field(
        default=default, kw_only=True, metadata={"quantity": Quantity(unit, "finite", True, meaning)}
    )


def quantities(component: Any) -> dict[str, Quantity]:
    """The quantity fields of a component or component class, by name, in order."""
    return {f.name: f.metadata["quantity"] for f in dataclasses.fields(component) if "quantity" in f.metadata}


def read(given: Any, quantity: Quantity, where: str) -> Expression:
    """The expression behind a field as the user gave it, or a `ModelError` that names the place."""
    if given is MISSING:
        remedy = f"Give a value for {where.rpartition('.')[2]}"
        raise ModelError("no value is given", where=where, expected=quantity.expected, remedy=remedy)
    if not isinstance(given, str):
        given = finite(given, where, quantity.expected)
    try:
        expression = Expression(given)
    except ExpressionError as reason:
        raise ExpressionError(reason.found, where=where, expected=reason.expected, remedy=reason.remedy) from None
    if expression.depends_on_time and not quantity.signal:
        raise ModelError(
            f"the value '{expression.text}' depends on time",
            where=where,
            expected="a constant: a number, or an expression of parameters",
        )
    return expression


def finite(given: Any, where: str, expected: str) -> float:
    """A finite number as the user gave it, or a `ModelError` that names the place."""
    if isinstance(given, np.generic | np.ndarray) and np.ndim(given) == 0:
        given = given.item()
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    try:
        value = float(given)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ModelError(f"the value is {value}", where=where, expected=expected.replace("a ", "a finite ", 1))
    return value


def check_range(value: float, quantity: Quantity, where: str) -> None:
    """Raise a `ModelError` if a value lies outside the range of its field."""
    if not _RANGES[quantity.range](value):
        raise ModelError(f"the value is {value:g}", where=where, expected=quantity.expected)


def number(expression: Expression, values: Mapping[str, float], where: str) -> float:
    """The numeric value of a constant expression, with the place added to any error."""
    try:
        return expression.number(values)
    except ExpressionError as reason:
        raise ExpressionError(reason.found, where=where, expected=reason.expected, remedy=reason.remedy) from None
