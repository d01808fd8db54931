"""What the makers of structures share: checks of sizes, places of nodes, inertia of thin rods and plates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.api import Model
from cotree.errors import ModelError
from cotree.model.expression import without_unit
from cotree.model.quantity import finite
from cotree.terminal.nodal import Bar, Body, Node

Array = NDArray[np.float64]
Place = Sequence[float] | Array
NONE = (0.0, 0.0, 0.0)
"""No gravity."""


def positive(where: str, **sizes: Any) -> None:
    """Refuse sizes that are not positive numbers."""
    for name, value in sizes.items():
        if finite(value, f"{where}.{name}", "a positive number") <= 0:
            raise ModelError(f"the value is {value:g}", where=f"{where}.{name}", expected="a positive number")


def whole(where: str, name: str, value: Any, least: int) -> None:
    """Refuse counts that are not whole numbers, or too small."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ModelError(f"found {value!r}", where=f"{where}.{name}", expected=f"a whole number from {least} on")
    if value < least:
        raise ModelError(f"the number is {value}", where=f"{where}.{name}", expected=f"at least {least}")


def between(where: str, name: str, value: Any, low: float, high: float, why: str) -> None:
    """Refuse a number that is not inside an open interval; ``why`` says what happens at its ends."""
    number = finite(value, f"{where}.{name}", "a number")
    if not low < number < high:
        raise ModelError(
            f"the value is {number:g}",
            where=f"{where}.{name}",
            expected=f"a number between {low:.6g} and {high:.6g}: {why}",
        )


def one_of(where: str, name: str, value: Any, allowed: Sequence[str]) -> None:
    """Refuse a word that is not among those allowed."""
    if value not in allowed:
        listed = " or ".join(repr(word) for word in allowed)
        raise ModelError(f"found {value!r}", where=f"{where}.{name}", expected=listed)


def named(model: Model, name: str, value: Any) -> Any:
    """A parameter of the model with this name and value; an expression, which may hold the time, is taken as it is."""
    return value if isinstance(value, str) else model.parameter(name, value)


def node(model: Model, name: str, place: Place) -> str:
    """Add a node at a place of two or three coordinates."""
    x, y, *z = (float(each) for each in place)
    return model.add(Node(name, position=(x, y, z[0] if z else 0.0))).name


def bar(model: Model, name: str, a: str, b: str, mass: Any, distribution: Any = "consistent") -> str:
    """Add a bar between two nodes."""
    return model.add(Bar(name, a, b, mass=mass, distribution=distribution)).name


def times(factor: Any, number: float) -> str:
    """A parameter or expression times a number, as an expression."""
    return f"({without_unit(factor)})*({float(number)!r})"


def rods(ends: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Centroid, and inertia matrix about it over the mass, of uniform thin rods with one mass per length."""
    lengths = np.array([np.linalg.norm(b - a) for a, b in ends])
    parts = lengths / lengths.sum()
    middles = [(a + b) / 2 for a, b in ends]
    centre = sum((part * middle for part, middle in zip(parts, middles, strict=True)), np.zeros(3))
    spread = np.zeros((3, 3))
    for part, middle, (a, b) in zip(parts, middles, ends, strict=True):
        spread += part * (np.outer(b - a, b - a) / 12 + np.outer(middle - centre, middle - centre))
    return centre, np.trace(spread) * np.eye(3) - spread


def plate(corner: Array, first: Array, second: Array, thickness: float) -> tuple[Array, Array]:
    """Centroid, and inertia matrix about it over the mass, of a parallelogram with two edges from a corner."""
    normal = np.cross(first, second)
    across = thickness * normal / math.sqrt(float(normal @ normal))
    spread = sum((np.outer(edge, edge) / 12 for edge in (first, second, across)), np.zeros((3, 3)))
    return corner + (first + second) / 2, np.trace(spread) * np.eye(3) - spread


def body(model: Model, name: str, over: Sequence[str], mass: str, shape: tuple[Array, Array]) -> str:
    """Add a rigid body of a shape (centroid, inertia over mass), with a parameter for its mass."""
    centre, j = shape
    entries = (j[0, 0], j[1, 1], j[2, 2], j[0, 1], j[0, 2], j[1, 2])
    scaled: Any = tuple(times(mass, entry) if abs(entry) > 1e-15 else 0.0 for entry in entries)
    place = (float(centre[0]), float(centre[1]), float(centre[2]))
    return model.add(Body(name, tuple(over), mass=mass, centre=place, inertia=scaled)).name
