"""Mass and inertia of simple solids of uniform density, about their centres.

Every argument may be a number or an expression of parameters, so that a shape follows when its parameters change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cotree.errors import ModelError
from cotree.model import Value
from cotree.model.expression import Expression

Axis = Literal["x", "y", "z"]


@dataclass(frozen=True)
class Shape:
    """Mass and principal moments of inertia about the centre, in the axes of the solid."""

    mass: Value
    inertia: tuple[Value, Value, Value]


def _value(text: str) -> Value:
    """A number where the text holds no names, otherwise the text."""
    expression = Expression(text)
    return text if expression.names else expression.number({})


def _of(value: Value) -> str:
    return f"({value})" if isinstance(value, str) else f"({float(value)!r})"


def _about(axis: str, along: str, across: str, mass: Value) -> Shape:
    """A solid of revolution."""
    if axis not in ("x", "y", "z"):
        raise ModelError(f"the axis is {axis!r}", expected="'x', 'y' or 'z'")
    return Shape(mass, tuple(_value(along if axis == name else across) for name in "xyz"))  # type: ignore[arg-type]


def rod(*, length: Value, mass: Value, axis: Axis = "x", radius: Value = 0.0) -> Shape:
    """A straight rod along an axis: thin, or of circular section where a radius is given."""
    m, length, r = _of(mass), _of(length), _of(radius)
    return _about(axis, f"{m}*{r}**2/2", f"{m}*{length}**2/12 + {m}*{r}**2/4", mass)


def box(*, size: tuple[Value, Value, Value], mass: Value) -> Shape:
    """A block with edges along x, y and z."""
    if isinstance(size, str) or len(size) != 3:
        raise ModelError(f"the size of a box is {size!r}", expected="three lengths in m")
    m, (a, b, c) = _of(mass), (_of(edge) for edge in size)
    pairs = ((b, c), (a, c), (a, b))
    return Shape(mass, tuple(_value(f"{m}*({d}**2 + {e}**2)/12") for d, e in pairs))  # type: ignore[arg-type]


def cylinder(*, radius: Value, length: Value, mass: Value, axis: Axis = "z") -> Shape:
    """A full cylinder; a disc where the length is small."""
    m, length, r = _of(mass), _of(length), _of(radius)
    return _about(axis, f"{m}*{r}**2/2", f"{m}*(3*{r}**2 + {length}**2)/12", mass)


def sphere(*, radius: Value, mass: Value) -> Shape:
    """A full sphere."""
    every = f"2*{_of(mass)}*{_of(radius)}**2/5"
    return _about("x", every, every, mass)


def tube(*, outer: Value, inner: Value, length: Value, mass: Value, axis: Axis = "x") -> Shape:
    """A hollow cylinder with outer and inner radius."""
    m, length = _of(mass), _of(length)
    radii = f"({_of(outer)}**2 + {_of(inner)}**2)"
    return _about(axis, f"{m}*{radii}/2", f"{m}*(3*{radii} + {length}**2)/12", mass)
