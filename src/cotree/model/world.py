"""What a mechanism stands on: the ground with its frames, and gravity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.maths.viewed import Table, Viewed
from cotree.model.component import Component
from cotree.model.edge import VIRTUAL_WORK, Edge, Kind
from cotree.model.helpful import answered
from cotree.model.quantity import MISSING, Quantity, Value, direction, quantity, vector, vector_entries

EARTH = (0.0, 0.0, -9.81)
"""Gravity where a model says nothing else, in m/s^2."""

AXES = ("x", "y", "z")
_POSITION = Quantity("m", "finite", False, "position in the frame it is fixed to", built_in="zero")
_AXIS = Quantity("", "finite", False, "axis of the turn", built_in="always")
_ANGLE = Quantity("rad", "finite", False, "angle of the turn", built_in="always")


class Gravity(Component):
    """The acceleration of free fall, in world axes."""

    x: Value = quantity("m/s^2", "component in world axes", default=0.0, built_in="zero")
    y: Value = quantity("m/s^2", "component in world axes", default=0.0, built_in="zero")
    z: Value = quantity("m/s^2", "component in world axes", default=0.0, built_in="zero")

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return ()


@answered
class Frame(Viewed):
    """A place fixed to a body or to the ground: a position, and a turn about an axis where the axes differ.

    >>> Frame((0.1, 0, 0), axis=(0, 0, 1), angle="pi/2")
    """

    __slots__ = ("angle", "axis", "position")

    def __init__(
        self,
        position: Sequence[Value] = (0.0, 0.0, 0.0),
        *,
        axis: Sequence[Value] | str | None = None,
        angle: Value = 0.0,
    ) -> None:
        self.position, self.axis, self.angle = tuple(position), None if axis is None else tuple(direction(axis)), angle

    @classmethod
    def of(cls, given: Any, where: str) -> Frame:
        """A frame as the user gave it: itself, three numbers, or a mapping with position, axis and angle."""
        if isinstance(given, Frame):
            return given
        if isinstance(given, Mapping):
            unknown = [key for key in given if key not in ("position", "axis", "angle")]
            if not unknown:
                return cls(
                    given.get("position", (0.0, 0.0, 0.0)), axis=given.get("axis"), angle=given.get("angle", 0.0)
                )
            raise ModelError(f"a frame has no '{unknown[0]}'", where=where, expected="position, axis and angle")
        if given is MISSING or isinstance(given, str) or not hasattr(given, "__len__"):
            raise ModelError(
                f"found {given!r}", where=where, expected="a frame: (x, y, z), or Frame((x, y, z), axis, angle)"
            )
        return cls(tuple(given))

    def entries(self, name: str, owner: str) -> dict[str, tuple[Quantity, Any]]:
        """The scalar values of the frame under its name: ``A.x``, and ``A.axis.x``, ``A.angle`` where it is turned."""
        result = vector_entries(name, self.position, _POSITION, AXES, owner)
        if self.axis is not None:
            result |= vector_entries(f"{name}.axis", self.axis, _AXIS, AXES, owner)
            result[f"{name}.angle"] = (_ANGLE, self.angle)
        return result

    def to_data(self) -> Any:
        """Three numbers, or a mapping where the frame is turned."""
        if self.axis is None:
            return list(self.position)
        return {"position": list(self.position), "axis": list(self.axis), "angle": self.angle}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frame) and self.to_data() == other.to_data()

    def __hash__(self) -> int:
        return hash(str(self.to_data()))

    def __repr__(self) -> str:
        turn = "" if self.axis is None else f", axis={self.axis!r}, angle={self.angle!r}"
        return f"Frame({self.position!r}{turn})"

    def _view(self) -> Table:
        rows = [("position in m", self.position), ("axis", self.axis or "none"), ("angle in rad", self.angle)]
        return Table(("", "value"), rows, len(rows))


class GroundFrame(Component):
    """A frame fixed to the ground; its name is the name of its node."""

    kind: ClassVar[str] = "ground_frame"
    mechanical: ClassVar[bool] = True

    position: tuple[Value, Value, Value] = vector("m", "position in world axes")
    axis: tuple[Value, Value, Value] | None = vector("", "axis of its turn", default=None, built_in="always")
    angle: Value = quantity("rad", "angle of its turn", default=0.0, built_in="always")

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return ((self.name, "ground"),)

    def edges(self) -> tuple[Edge, ...]:
        return (Edge(self.name, "ground", self.name, Kind.ARM, VIRTUAL_WORK, component=self.name),)


class Ground(str):
    """The node of the ground. ``at`` makes a frame elsewhere on it."""

    _make: Callable[..., str]

    @classmethod
    def of(cls, name: str, make: Callable[..., str]) -> Ground:
        """The ground of a model; ``make`` adds a frame to it."""
        ground = cls(name)
        ground._make = make
        return ground

    def at(
        self,
        x: Value,
        y: Value,
        z: Value,
        *,
        axis: Sequence[Value] | str | None = None,
        angle: Value = 0.0,
        name: str | None = None,
    ) -> str:
        """The node of a frame fixed to the ground at a place, turned by an angle about an axis."""
        return self._make((x, y, z), axis, angle, name)
