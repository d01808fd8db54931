"""Units of signals: which ones a block passes on, and which do not go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cotree.errors import ModelError
from cotree.model import Component
from cotree.model.units import ANGLES, Dimension, described, dimension_of, parse_unit, split

Units = Mapping[str, str | None]


def dimension(block: Component, entry: str, units: Units) -> Dimension | None:
    """The dimension of one value: that of the signal it is, or of the number with a unit; None where not known."""
    if unit := units.get(entry):
        return dimension_of(unit)
    expression = block.expressions.get(entry)
    return None if expression is None else expression.dimension


def agreed(block: Component, units: Units, entries: Iterable[str]) -> str | None:
    """The unit that some values share; refuses those whose dimensions are known and differ."""
    known = [(entry, found) for entry in entries if (found := dimension(block, entry, units)) is not None]
    for entry, found in known[1:]:
        first, wanted = known[0]
        if not alike(found, wanted):
            raise ModelError(
                f"{_told(block, entry)} is {described(found)}, and {_told(block, first)} is {described(wanted)}",
                where=f"{block.name}.{entry}",
                expected="values of one dimension",
                remedy="Put a control.gain with a unit between them, or correct the names",
            )
    return next((unit for entry, _ in known if (unit := units.get(entry) or _given(block, entry))), None)


def _given(block: Component, entry: str) -> str | None:
    """The unit with which a number is given, where it is an SI unit."""
    expression = block.expressions.get(entry)
    parts = None if expression is None else split(expression.text)
    return parts[1] if parts is not None and parse_unit(parts[1]).factor == 1 else None


def _told(block: Component, entry: str) -> str:
    expression = block.expressions.get(entry)
    return entry if expression is None else f"'{expression.text}'"


def alike(a: Dimension, b: Dimension) -> bool:
    """Whether two dimensions are the same; rad may be left out."""
    if a == b:
        return True
    bare = [tuple(0 if k in ANGLES else power for k, power in enumerate(each)) for each in (a, b)]
    return bare[0] == bare[1] and any(bare[0]) and (a == bare[0] or b == bare[1])


def product(units: Iterable[str | None]) -> str | None:
    """The unit of a product; None where one is not known."""
    result = ""
    for unit in units:
        if unit is None:
            return None
        if unit:
            result = unit if not result else f"{_bracketed(result)} {_bracketed(unit)}"
    return result or None


def integrated(unit: str | None) -> str | None:
    """The unit of an integral over time."""
    if not unit:
        return unit
    if unit.endswith("/s"):
        return unit[:-2].removesuffix("1")
    if unit.endswith("/s^2"):
        return unit[:-2]
    return f"{_bracketed(unit)} s"


def _bracketed(unit: str) -> str:
    return f"({unit})" if "/" in unit else unit
