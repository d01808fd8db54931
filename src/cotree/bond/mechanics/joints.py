"""The joints: spherical, revolute, prismatic (Filippini 2007, figs. 4-6), and others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca

from cotree.bond.elements import optional
from cotree.bond.mechanics.base import AXIS, check_axis
from cotree.bond.mechanics.joint import SHAPES, Coordinate, Joint, starts
from cotree.bond.motions import ORIENTATION
from cotree.errors import ModelError
from cotree.maths.rotation import about, of_quaternion, perpendicular, vee
from cotree.model.quantity import Quantity
from cotree.terminal.joints import angle_about, unit

ANGLE = Coordinate("angle", "angle_rate", "shaft", "rotation")
SLIDE = Coordinate("slide", "slide_rate", "slide", "translation")
TURN = Coordinate(ORIENTATION, "angular_velocity", "turning", "rotation", 3)
PLACE = Coordinate("position", "velocity", "moving", "translation", 3)
FIRST = Coordinate("angle_1", "angle_1_rate", "first", "rotation")
SECOND = Coordinate("angle_2", "angle_2_rate", "second", "rotation")


class WeldJoint(Joint):
    """Locks everything; with stiffness it is a bushing."""

    kind = "bond.weld_joint"


class SphericalJoint(Joint):
    """Frees all rotations (fig. 4); starts with ``orientation`` of b in a and ``angular_velocity`` in b's axes.

    The port ``turning`` has the relative angular velocity in b's axes as its flow.
    """

    kind = "bond.spherical_joint"
    coordinates: ClassVar[tuple[Coordinate, ...]] = (TURN,)
    shapes: ClassVar[Mapping[str, Quantity]] = {**SHAPES, **starts(TURN)}
    lengths: ClassVar[Mapping[str, int]] = {"angular_velocity": 3}
    turns = (ORIENTATION,)
    orientation: Any = optional()
    angular_velocity: Any = optional()

    def turn(self, v: Mapping[str, Any], q: Mapping[str, ca.SX]) -> ca.SX:
        return of_quaternion(q[ORIENTATION])


class FreeJoint(SphericalJoint):
    """Frees everything; ``position`` of b and its rate ``velocity`` are in a's axes, and so is the port ``moving``."""

    kind = "bond.free_joint"
    coordinates = (PLACE, TURN)
    shapes: ClassVar[Mapping[str, Quantity]] = {**SHAPES, **starts(PLACE, TURN)}
    lengths: ClassVar[Mapping[str, int]] = {"position": 3, "velocity": 3, "angular_velocity": 3}
    position: Any = optional()
    velocity: Any = optional()

    def shift(self, v: Mapping[str, Any], q: Mapping[str, ca.SX]) -> ca.SX:
        return q["position"]

    def measure(self, v: Mapping[str, Any], C: ca.SX, d: ca.SX) -> dict[str, ca.SX]:
        return {"position": d}


class AxisJoint(Joint):
    """A joint with one ``axis``: x, y, z or a vector in the axes of both frames."""

    needed = ("axis",)
    lengths: ClassVar[Mapping[str, int]] = {"axis": 3}
    axis: Any = optional()

    def check(self, values: Mapping[str, float]) -> None:
        """The axis must be a direction."""
        check_axis(self.name, "axis", values)

    def direction(self, v: Mapping[str, Any]) -> ca.SX:
        """The axis with length one."""
        return axis_of(self.vector("axis", v))

    def axes(self, word: str, v: Mapping[str, Any], C: ca.SX) -> ca.SX:
        if not self.free(word):
            return ca.SX.eye(3)
        n = self.direction(v)
        return ca.horzcat(n, *perpendicular(n))

    def turning_gap(self, v: Mapping[str, Any], C: ca.SX) -> ca.SX:
        if not self.free("rotation"):
            return vee(C)
        n = self.direction(v)
        e1, e2 = perpendicular(n)
        seen = ca.mtimes(C.T, n)  # a's axis in b: its rate is seen x w
        return ca.vertcat(ca.dot(e2, seen), -ca.dot(e1, seen))

    def turn(self, v: Mapping[str, Any], q: Mapping[str, ca.SX]) -> ca.SX:
        return about(self.direction(v), q["angle"]) if "angle" in q else ca.SX.eye(3)

    def shift(self, v: Mapping[str, Any], q: Mapping[str, ca.SX]) -> ca.SX:
        return self.direction(v) * q["slide"] if "slide" in q else ca.SX.zeros(3)

    def measure(self, v: Mapping[str, Any], C: ca.SX, d: ca.SX) -> dict[str, ca.SX]:
        n = self.direction(v)
        return {"angle": ca.atan2(*angle_about(n, C)), "slide": ca.dot(n, d)}


class RevoluteJoint(AxisJoint):
    """Frees the rotation about ``axis`` (fig. 5), whose port is ``shaft``."""

    kind = "bond.revolute_joint"
    coordinates = (ANGLE,)
    shapes: ClassVar[Mapping[str, Quantity]] = {**SHAPES, "axis": AXIS, **starts(ANGLE)}
    angle: Any = optional()
    angle_rate: Any = optional()


class PrismaticJoint(AxisJoint):
    """Frees the translation along ``axis`` (fig. 6), whose port is ``slide``."""

    kind = "bond.prismatic_joint"
    coordinates = (SLIDE,)
    shapes: ClassVar[Mapping[str, Quantity]] = {**SHAPES, "axis": AXIS, **starts(SLIDE)}
    slide: Any = optional()
    slide_rate: Any = optional()


class CylindricalJoint(AxisJoint):
    """Frees the rotation about ``axis`` and the translation along it, with the ports ``shaft`` and ``slide``."""

    kind = "bond.cylindrical_joint"
    coordinates = (SLIDE, ANGLE)
    shapes: ClassVar[Mapping[str, Quantity]] = {**SHAPES, "axis": AXIS, **starts(SLIDE, ANGLE)}
    slide: Any = optional()
    slide_rate: Any = optional()
    angle: Any = optional()
    angle_rate: Any = optional()


class UniversalJoint(Joint):
    """Frees a rotation about ``axis_1`` of a, then one about ``axis_2`` of b, at right angles to it."""

    kind = "bond.universal_joint"
    coordinates = (FIRST, SECOND)
    shapes: ClassVar[Mapping[str, Quantity]] = {**SHAPES, "axis_1": AXIS, "axis_2": AXIS, **starts(FIRST, SECOND)}
    needed = ("axis_1", "axis_2")
    lengths: ClassVar[Mapping[str, int]] = {"axis_1": 3, "axis_2": 3}
    example: ClassVar[Mapping[str, Any]] = {"axis_1": [1.0, 0.0, 0.0], "axis_2": [0.0, 1.0, 0.0]}
    axis_1: Any = optional()
    axis_2: Any = optional()
    angle_1: Any = optional()
    angle_1_rate: Any = optional()
    angle_2: Any = optional()
    angle_2_rate: Any = optional()

    def check(self, values: Mapping[str, float]) -> None:
        """The axes must be directions at right angles."""
        first, second = (check_axis(self.name, name, values) for name in ("axis_1", "axis_2"))
        if not first or not second:
            return
        product = sum(a * b for a, b in zip(first, second, strict=True))
        if product**2 > 1e-18 * sum(a * a for a in first) * sum(b * b for b in second):
            raise ModelError(
                f"the axes {first} and {second} are not at right angles", where=self.name,
                expected="two perpendicular axes, as in a cross",
            )  # fmt: skip

    def _directions(self, v: Mapping[str, Any]) -> tuple[ca.SX, ca.SX]:
        return axis_of(self.vector("axis_1", v)), axis_of(self.vector("axis_2", v))

    def turn(self, v: Mapping[str, Any], q: Mapping[str, ca.SX]) -> ca.SX:
        first, second = self._directions(v)
        return ca.mtimes(about(first, q["angle_1"]), about(second, q["angle_2"]))

    def axes(self, word: str, v: Mapping[str, Any], C: ca.SX) -> ca.SX:
        if word == "translation":
            return ca.SX.eye(3)
        first, second = self._directions(v)
        seen = ca.mtimes(C.T, first)
        return ca.horzcat(seen, second, ca.cross(seen, second))

    def turning_gap(self, v: Mapping[str, Any], C: ca.SX) -> ca.SX:
        first, second = self._directions(v)
        return -ca.dot(first, ca.mtimes(C, second))

    def measure(self, v: Mapping[str, Any], C: ca.SX, d: ca.SX) -> dict[str, ca.SX]:
        n1, n2 = self._directions(v)
        across = ca.cross(n1, n2)
        second, first = ca.mtimes(C, n2), ca.mtimes(C.T, n1)
        return {
            "angle_1": ca.atan2(ca.dot(across, second), ca.dot(n2, second)),
            "angle_2": ca.atan2(ca.dot(across, first), ca.dot(n1, first)),
        }


def axis_of(given: ca.SX) -> ca.SX:
    """An axis with length one."""
    return unit(ca.vertsplit(given))
