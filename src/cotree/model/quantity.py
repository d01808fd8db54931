"""Fields of components that carry a physical value: their unit, their allowed range, and how they are checked."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from cotree.errors import ExpressionError, ModelError
from cotree.model.expression import Expression
from cotree.model.units import Dimension, described, dimension_of, fits, parse_unit

Value = float | str
"""A number, or an expression of the model's parameters."""

Signal = float | str
"""A number, or an expression of time and the model's parameters."""

Time = float | str
"""A number in s, or a text with a unit such as ``"5 ms"``."""

Given = Mapping[str, float | str]
"""Values by name: numbers in SI units, or texts with a unit such as ``"30 deg"``."""


class _Missing:
    def __repr__(self) -> str:
        return "(not given)"


MISSING: Final[Any] = _Missing()

KELVIN, CELSIUS = parse_unit("K").dimension, parse_unit("degC").dimension
"""Differences of temperature, which all fields in K are, and temperatures on a scale with a zero of its own."""

LARGEST = 1e100
"""Beyond any quantity in SI units; squares and cubes of it are numbers still."""

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
    measured: bool = False
    """Whether expressions may hold measured quantities such as ``O.angle``."""
    built_in: str = ""
    """When a number is part of the equations' structure: ``zero`` (a zero only), ``always`` (a plain number), ``table``
    (any value, as tables are computed from it before the equations are written), or never."""
    free: bool = False
    """Whether its unit is not known, so that a value in any unit is taken as it is."""

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
    built_in: str = "",
) -> Any:
    """A dataclass field for a constant `Value`; without ``default`` it must be given.

    Quantities are given by keyword only; saying so at a field with a default tells type checkers, too.
    """
    info = Quantity(unit, range, False, meaning, symbol, built_in=built_in)
    return dataclasses.field(default=default, kw_only=kw_only, metadata={"quantity": info})


def vector(
    unit: str, meaning: str = "", *, labels: str = "x y z", default: Any = MISSING, built_in: str = "zero"
) -> Any:
    """A dataclass field for several `Value`s, named by ``labels``; each is addressed as ``component.field.x``.

    Zeros are built into the equations, which keeps them short; with ``always`` every plain number is.
    """
    info = Quantity(unit, "finite", False, meaning, built_in=built_in)
    metadata = {"vector": (info, tuple(labels.split()))}
    return dataclasses.field(default=default, kw_only=True, metadata=metadata)


def signal(
    unit: str, meaning: str = "", *, default: Any = MISSING, measured: bool = False, kw_only: bool = True
) -> Any:
    """A dataclass field for a `Signal`; without ``default`` it must be given.

    With ``measured`` its expression may also hold measured quantities of a mechanism: ``-5*O.angle``.
    """
    info = Quantity(unit, "finite", True, meaning, measured=measured)
    return dataclasses.field(default=default, kw_only=kw_only, metadata={"quantity": info})


def quantities(component: Any) -> dict[str, Quantity]:
    """The quantities of a component by name, in order; of a component class, its scalar fields."""
    if not isinstance(component, type):
        kept: dict[str, Quantity] | None = component.__dict__.get("_quantities")
        if kept is None:  # a component never changes
            kept = {name: info for name, (info, _) in component.entries().items()}
            component.__dict__["_quantities"] = kept
        return kept
    return {f.name: f.metadata["quantity"] for f in dataclasses.fields(component) if "quantity" in f.metadata}


def field_entries(component: Any) -> dict[str, tuple[Quantity, Any]]:
    """Every scalar that the fields of a component hold, by name, with what was given; None is left out.

    An entry of a vector field is named ``field.label``.
    """
    result: dict[str, tuple[Quantity, Any]] = {}
    for f in dataclasses.fields(component):
        given = getattr(component, f.name)
        if given is None and f.default is None:
            continue
        if "quantity" in f.metadata:
            result[f.name] = (f.metadata["quantity"], given)
        elif "vector" in f.metadata:
            info, labels = f.metadata["vector"]
            result |= vector_entries(f.name, given, info, labels, component.name)
    return result


def vector_entries(
    name: str, given: Any, info: Quantity, labels: tuple[str, ...], owner: str
) -> dict[str, tuple[Quantity, Any]]:
    """The entries of one vector, or a `ModelError` where it is not one of this length."""
    values = given.tolist() if isinstance(given, np.ndarray) else given
    if given is MISSING or isinstance(values, str) or not hasattr(values, "__len__") or len(values) != len(labels):
        raise ModelError(
            "no value is given" if given is MISSING else f"found {given!r}",
            where=f"{owner}.{name}",
            expected=f"{len(labels)} numbers{f' in {info.unit}' if info.unit else ''} ({', '.join(labels)})"
            + (", or one of x, y, z, -x, -y, -z" if _directs(info, labels) else ""),
        )
    if _directs(info, labels) and all(isinstance(each, int | float) and each == 0 for each in values):
        where, expected = f"{owner}.{name}", "a direction of any length but zero"
        remedy = "Give a direction such as (0, 0, 1)"
        raise ModelError("the direction is (0, 0, 0)", where=where, expected=expected, remedy=remedy)
    return {f"{name}.{label}": (info, value) for label, value in zip(labels, values, strict=True)}


_DIRECTION = re.compile(r"([+-]?)([xyz])\Z")


def direction(given: Any) -> Any:
    """A direction that is named, such as ``"z"`` or ``"-x"``, as a vector; anything else as it is."""
    named = _DIRECTION.match(given) if isinstance(given, str) else None
    if named is None:
        return given
    size = -1.0 if named[1] == "-" else 1.0
    return tuple(size if each == named[2] else 0.0 for each in "xyz")


def is_direction(field: dataclasses.Field[Any]) -> bool:
    """Whether a field holds a direction in space."""
    info, labels = field.metadata.get("vector", (None, ()))
    return info is not None and _directs(info, labels)


def _directs(info: Quantity, labels: tuple[str, ...]) -> bool:
    return info.unit == "" and labels == ("x", "y", "z")


def read(given: Any, quantity: Quantity, where: str) -> Expression:
    """The expression behind a field as the user gave it, or a `ModelError` that names the place."""
    if given is MISSING:
        remedy = f"Give a value for {where.rpartition('.')[2]}"
        raise ModelError("no value is given", where=where, expected=quantity.expected, remedy=remedy)
    if not isinstance(given, str):
        if quantity.signal and np.size(given) > 1:
            remedy = "Name a series, model.data('road', times, values), and write its name here: 'road'"
            raise ModelError(f"found {given!r}", where=where, expected=quantity.expected, remedy=remedy)
        given = finite(given, where, quantity.expected)
    try:
        expression = Expression(given)
    except ExpressionError as reason:
        raise ExpressionError(reason.found, where=where, expected=reason.expected, remedy=reason.remedy) from None
    check_dimension(expression.dimension, quantity, where, f"'{expression.text}'")
    if expression.measured and not quantity.measured:
        raise ExpressionError(
            f"'{min(expression.measured)}' in the expression '{expression.text}'",
            where=where,
            expected=f"arithmetic on numbers, {'t and ' if quantity.signal else ''}parameters",
            remedy="Give the value a plain parameter name of its own",
        )
    if expression.depends_on_time and not quantity.signal:
        raise ModelError(
            f"the value '{expression.text}' depends on time",
            where=where,
            expected="a constant: a number, or an expression of parameters",
        )
    for called in expression.called if not quantity.signal else ():
        error = expression.no_function(called, ())
        raise ExpressionError(error.found, where=where, expected=error.expected, remedy=error.remedy)
    return expression


def check_dimension(dimension: Dimension | None, quantity: Quantity, where: str, found: str) -> None:
    """Refuse a value whose dimension is not that of its field; None is that of a plain number, which is in SI units."""
    known = not quantity.free or (quantity.measured and dimension == CELSIUS)  # also of no use to a bare element
    if dimension is None or not known or fits(dimension, quantity.unit):
        return
    wanted = [described(each) for unit in quantity.unit.split(" or ") if (each := dimension_of(unit)) is not None]
    raise ModelError(
        f"{found} is {described(dimension)}",
        where=where,
        expected=f"{' or '.join(dict.fromkeys(wanted))}: {quantity.expected}" if wanted else quantity.expected,
        remedy=_hint(dimension, wanted),
    )


def _hint(dimension: Dimension, wanted: list[str]) -> str:
    """What to do about a value of another dimension, where it is not plain."""
    if not wanted:
        return "Give a plain number: its unit follows from other values"
    if dimension == dimension_of("Hz") and described(dimension_of("rad/s") or ()) in wanted:
        return "Give turns in rpm or rev/s"
    if wanted == [described(KELVIN)] or dimension == CELSIUS:
        return "Temperatures count from the datum: give kelvin over it, such as 20 K over a datum at 0 degC"
    return "g is the gram, not the acceleration of free fall" if wanted == ["an acceleration"] else ""


def check_alternative(component: Any, which: int) -> None:
    """Refuse values in the other unit where a field has two, such as ``m or rad``, and it is known ``which`` holds."""
    for name, info in quantities(component).items():
        units = info.unit.split(" or ")
        if len(units) > 1 and name in component.expressions:
            expression, where = component.expressions[name], f"{component.name}.{name}"
            chosen = dataclasses.replace(info, unit=units[which])
            check_dimension(expression.dimension, chosen, where, f"'{expression.text}'")


def finite(given: Any, where: str, expected: str, unit: str | None = None) -> float:
    """A finite number as the user gave it, or a `ModelError` that names the place.

    Where its ``unit`` is known, even if it has none (an empty one), it may be a text: a number with a unit.
    """
    if isinstance(given, str) and unit is not None:
        expression = read(given, Quantity(unit, "finite", False, ""), where)
        if not expression.names:
            given = number(expression, {}, where)
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
    _check_size(value, where)
    return value


def seconds(given: Time, where: str) -> float:
    """A time as the user gave it: a number as it is, to be checked where it is used, or a text with a unit."""
    if isinstance(given, str):
        return finite(given, where, "a number in s, or one with a unit", "s")
    return given


def in_units(given: Given, units: Mapping[str, str]) -> dict[str, float]:
    """Values by name as numbers: texts with a unit are read where the unit of the value is known."""
    found: dict[str, Any] = {
        name: finite(value, name, f"a number in {units[name] or '1'}, or one with a unit", units[name])
        if isinstance(value, str) and name in units
        else value
        for name, value in given.items()
    }
    return found


def check_range(value: float, quantity: Quantity, where: str) -> None:
    """Raise a `ModelError` if a value lies outside the range of its field."""
    _check_size(value, where)
    if not _RANGES[quantity.range](value):
        raise ModelError(f"the value is {value:g}", where=where, expected=quantity.expected)


def check_plain(expression: Expression, quantity: Quantity, where: str) -> None:
    """The same for an expression, as far as its value is known before the parameters are."""
    known = quantity.range != "finite" and not quantity.signal and not expression.names
    if known and not (expression.depends_on_time or expression.measured):
        check_range(number(expression, {}, where), quantity, where)


def _check_size(value: float, where: str) -> None:
    if abs(value) > LARGEST:
        raise ModelError(f"the value is {value:g}", where=where, expected=f"numbers up to {LARGEST:g}")


def number(expression: Expression, values: Mapping[str, float], where: str) -> float:
    """The numeric value of a constant expression, with the place added to any error."""
    try:
        return expression.number(values)
    except ExpressionError as reason:
        raise ExpressionError(reason.found, where=where, expected=reason.expected, remedy=reason.remedy) from None
