"""Mass and inertia of simple solids of uniform density, about their centres.

A body with a shape has the shape's lengths and mass as values of its own: ``crank.length`` can be changed, and the
inertia follows. Every argument may be a number or an expression of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cotree.errors import ModelError
from cotree.maths.viewed import Viewed
from cotree.model import Value
from cotree.model.built import build, pick
from cotree.model.form import Schema, listed, made_by, value
from cotree.model.helpful import helpful
from cotree.model.quantity import Quantity, direction

Axis = Literal["x", "y", "z", "-x", "-y", "-z"] | Sequence[float]
Moments = tuple[Any, Any, Any]

_MASS = Quantity("kg", "positive", False, "mass", symbol="m")
_LENGTH = Quantity("m", "positive", False, "length of the solid", built_in="zero")
_THICKNESS = Quantity("m", "non-negative", False, "radius of the solid", built_in="zero")


@dataclass(frozen=True)
class Shape(Viewed):
    """A solid by its kind and its values; ``axis`` is that of a solid of revolution."""

    kind: str
    values: tuple[tuple[str, Value], ...]
    axis: str = ""

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        """Every value with what is known of it, by name."""
        return {name: (_info(name), value) for name, value in self.values}

    def moments(self, values: Mapping[str, Any]) -> Moments:
        """Principal moments of inertia about the centre, along x, y and z."""
        return _MOMENTS[self.kind](values, self.axis)

    def to_data(self) -> dict[str, dict[str, Any]]:
        """Plain data from which `shape_from_data` makes the shape again."""
        size = [value for name, value in self.values if name.startswith("size")]
        data: dict[str, Any] = {"size": size} if size else {}
        data |= {name: value for name, value in self.values if not name.startswith("size")}
        return {self.kind: data | ({"axis": self.axis} if self.axis else {})}


def _info(name: str) -> Quantity:
    return _MASS if name == "mass" else _THICKNESS if name in ("radius", "inner") else _LENGTH


def _about(axis: str, along: Any, across: Any) -> Moments:
    """The moments of a solid of revolution."""
    return tuple(along if axis == name else across for name in "xyz")


def _checked(axis: Any) -> str:
    """The axis of a solid by its name; a vector along one of the three is as good."""
    given = direction(axis.tolist() if hasattr(axis, "tolist") else axis)
    if isinstance(given, Sequence) and len(given) == 3 and all(isinstance(each, int | float) for each in given):
        along = [name for name, each in zip("xyz", given, strict=True) if each]
        if len(along) == 1:
            return along[0]
    raise ModelError(
        f"the axis is {axis!r}", expected="'x', 'y' or 'z', or a vector along one of them",
        remedy="Turn the frames of the body for another direction",
    )  # fmt: skip


@helpful
def rod(*, length: Value, mass: Value, axis: Axis = "x", radius: Value = 0.0) -> Shape:
    """A straight rod along an axis: thin, or of circular section where a radius is given."""
    return Shape("rod", (("mass", mass), ("length", length), ("radius", radius)), _checked(axis))


@helpful
def box(*, size: tuple[Value, Value, Value], mass: Value) -> Shape:
    """A block with edges along x, y and z."""
    if not isinstance(size, Sequence) or isinstance(size, str) or len(size) != 3:
        raise ModelError(f"the size of a box is {size!r}", expected="three lengths in m")
    return Shape("box", (("mass", mass), *((f"size.{x}", edge) for x, edge in zip("xyz", size, strict=True))))


@helpful
def cylinder(*, radius: Value, length: Value, mass: Value, axis: Axis = "z") -> Shape:
    """A full cylinder; a disc where the length is small."""
    return Shape("cylinder", (("mass", mass), ("radius", radius), ("length", length)), _checked(axis))


@helpful
def sphere(*, radius: Value, mass: Value) -> Shape:
    """A full sphere."""
    return Shape("sphere", (("mass", mass), ("radius", radius)))


@helpful
def tube(*, outer: Value, inner: Value, length: Value, mass: Value, axis: Axis = "x") -> Shape:
    """A hollow cylinder with outer and inner radius."""
    return Shape("tube", (("mass", mass), ("outer", outer), ("inner", inner), ("length", length)), _checked(axis))


def _rod(v: Mapping[str, Any], axis: str) -> Moments:
    m, l2, r2 = v["mass"], v["length"] ** 2, v["radius"] ** 2
    return _about(axis, m * r2 / 2, m * l2 / 12 + m * r2 / 4)


def _cylinder(v: Mapping[str, Any], axis: str) -> Moments:
    m, l2, r2 = v["mass"], v["length"] ** 2, v["radius"] ** 2
    return _about(axis, m * r2 / 2, m * (3 * r2 + l2) / 12)


def _tube(v: Mapping[str, Any], axis: str) -> Moments:
    m, l2, r2 = v["mass"], v["length"] ** 2, v["outer"] ** 2 + v["inner"] ** 2
    return _about(axis, m * r2 / 2, m * (3 * r2 + l2) / 12)


def _box(v: Mapping[str, Any], axis: str) -> Moments:
    m, (a2, b2, c2) = v["mass"], (v[f"size.{x}"] ** 2 for x in "xyz")
    return m * (b2 + c2) / 12, m * (a2 + c2) / 12, m * (a2 + b2) / 12


def _sphere(v: Mapping[str, Any], axis: str) -> Moments:
    every = 2 * v["mass"] * v["radius"] ** 2 / 5
    return every, every, every


_MOMENTS: dict[str, Callable[[Mapping[str, Any], str], Moments]] = {
    "rod": _rod,
    "box": _box,
    "cylinder": _cylinder,
    "sphere": _sphere,
    "tube": _tube,
}
SHAPES: dict[str, Callable[..., Shape]] = {each.__name__: each for each in (rod, box, cylinder, sphere, tube)}
"""The functions that make a shape, by kind."""


def shape_schema() -> Schema:
    """What a model file may say of a shape."""
    lengths = {name: value(_info(name)) for name in ("mass", "length", "radius", "outer", "inner")}
    return made_by(SHAPES, {**lengths, "size": listed(value(_LENGTH), 3)})


def shape_from_data(given: Any, where: str) -> Shape:
    """A shape as the user gave it: itself, or plain data such as ``{rod: {length: 1, mass: 2}}``."""
    if isinstance(given, Shape):
        return given
    expected = "a shape with its values, such as rod(length=1, mass=2) or {rod: {length: 1, mass: 2}}"
    kind, values = pick(given, where, SHAPES, "shape", expected)
    return build(SHAPES[kind], values, where, kind, expected="numbers, or expressions of parameters")
