"""Values that a user changes by name: numbers, texts with a unit, or expressions of the model's parameters."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from cotree.errors import ModelError, listing
from cotree.model.expression import Expression
from cotree.model.model import Model
from cotree.model.quantity import Given, Quantity, number, quantities, read

_FREE = Quantity("", "finite", False, "", free=True)


def changed_values(model: Model, given: Given) -> dict[str, float]:
    """The numbers of changed values; a unit must fit. Numbers stay as they are and are checked where they are used.

    >>> changed_values(model, {"length": "30 cm", "crank.mass": "2*m0"})
    """
    if not isinstance(given, Mapping):
        raise ModelError(f"the changed values are {given!r}", expected="numbers by name: {'R1.resistance': 5}")
    values: dict[str, float] = {str(name): value for name, value in given.items() if not isinstance(value, str)}
    texts = {str(name): value for name, value in given.items() if isinstance(value, str)}
    if not texts:
        return values
    known = {f"{each.name}.{field}": info for each in model.valued() for field, info in quantities(each).items()}
    waiting = {
        name: read(text, dataclasses.replace(known.get(name, _FREE), signal=False, measured=False), name)
        for name, text in texts.items()
    }
    _check_dimensions(model, waiting)
    while waiting:
        ready = [name for name, expression in waiting.items() if not expression.names & waiting.keys()]
        if not ready:
            raise ModelError(
                f"the changed values {listing(waiting)}: they refer to each other", expected="a number for one of them"
            )
        used = {name: value for name, value in values.items() if name in model.parameters}
        values |= {name: number(waiting.pop(name), model.parameter_values(used), name) for name in ready}
    return {str(name): values[str(name)] for name in given}


def _check_dimensions(model: Model, given: dict[str, Expression]) -> None:
    """Refuse a unit that does not fit where a parameter stands alone for a value."""
    before = dict(model.parameters)
    model.parameters |= {name: value for name, value in given.items() if name in before and value.dimension is not None}
    try:
        for part in model.valued() if model.parameters != before else ():
            for field, info in quantities(part).items():
                if (used := part.expressions.get(field)) is not None:
                    model.check_reference(used, info, f"{part.name}.{field}")
    finally:
        model.parameters = before
