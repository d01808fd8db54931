"""Joints: the motion that each leaves free between two frames, and the equations that hold the rest.

The frames of a joint are parallel and coincide when all its coordinates are zero; its axes have the same components in
both. Counts are of degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca

from cotree.errors import ModelError
from cotree.maths.rotation import about, of_quaternion, perpendicular, vee
from cotree.model import Kind, Value, quantity, vector
from cotree.terminal.mechanics import ORIENTATION, Coordinate, Joint, start, start_vector

Z = (0.0, 0.0, 1.0)
X = (1.0, 0.0, 0.0)

_DISPLACEMENT = Coordinate("displacement", "translation")
_ANGLE = Coordinate("angle", "rotation")
_TURN = Coordinate(ORIENTATION, "rotation")


def unit(axis: Any) -> ca.SX:
    """A given axis with length one."""
    column = ca.vertcat(*axis)
    return column / ca.norm_2(column) if not ca.SX(column).is_constant() else _unit_constant(column)


def _unit_constant(column: ca.SX) -> ca.SX:
    value = ca.DM(ca.SX(column))
    return ca.SX(value / ca.norm_2(value))


def angle_about(axis: ca.SX, C: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Sine and cosine of the angle by which C turns about an axis that it keeps."""
    e1, e2 = perpendicular(axis)
    turned = ca.mtimes(C, e1)
    return ca.dot(e2, turned), ca.dot(e1, turned)


def off_axis(axis: ca.SX, d: ca.SX) -> ca.SX:
    """The two components of a vector across an axis."""
    e1, e2 = perpendicular(axis)
    return ca.vertcat(ca.dot(e1, d), ca.dot(e2, d))


def _check_axis(name: str, values: Mapping[str, float], field: str = "axis") -> None:
    parts = [values.get(f"{field}.{x}") for x in "xyz"]
    if all(part == 0.0 for part in parts):
        raise ModelError("the axis is (0, 0, 0)", where=f"{name}.{field}", expected="a direction")


class AxisJoint(Joint):
    """A joint with one axis, given in the axes of both frames."""

    kind: ClassVar[str] = ""

    axis: tuple[Value, Value, Value] = vector("", "direction of the axis in both frames", default=Z, built_in="always")

    def check(self, values: Mapping[str, float]) -> None:
        _check_axis(self.name, values)


class Turning:
    """How the joints with one axis turn: about it, which keeps the axes of both frames parallel."""

    def rotation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        """A turn by the angle."""
        return about(unit(v.axis), q["angle"])

    def spin(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        """Its rate along the axis."""
        return unit(v.axis) * u["angle"]

    def alignment(self, v: Any, C: ca.SX) -> ca.SX:
        """Two equations that keep the axis of b along that of a."""
        axis = unit(v.axis)
        return off_axis(axis, ca.mtimes(C, axis))


class Sliding:
    """How the joints with one axis slide: along it, which keeps b's origin on the axis of a."""

    def translation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        """The displacement along the axis."""
        return unit(v.axis) * q["displacement"]

    def translation_rate(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        """Its rate."""
        return unit(v.axis) * u["displacement"]

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        """Two equations that keep b's origin on the axis of a."""
        return off_axis(unit(v.axis), d)


class Revolute(Turning, AxisJoint):
    """One rotation about ``axis``: holds three translations and two rotations."""

    edge_kind = Kind.POINT_JOINT
    coordinates = (_ANGLE,)

    angle: Value | None = start("rad", "angle")
    angle_rate: Value | None = start("rad/s", "rate of the angle")

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        return d

    def measure(self, v: Any, d: ca.SX, C: ca.SX) -> dict[str, ca.SX]:
        return {"angle": ca.atan2(*angle_about(unit(v.axis), C))}


class Prismatic(Sliding, AxisJoint):
    """One translation along ``axis``: holds two translations and three rotations."""

    edge_kind = Kind.LINE_JOINT
    coordinates = (_DISPLACEMENT,)

    displacement: Value | None = start("m", "displacement")
    displacement_rate: Value | None = start("m/s", "rate of the displacement")

    def alignment(self, v: Any, C: ca.SX) -> ca.SX:
        return vee(C)

    def measure(self, v: Any, d: ca.SX, C: ca.SX) -> dict[str, ca.SX]:
        return {"displacement": ca.dot(unit(v.axis), d)}


class Cylindrical(Turning, Sliding, AxisJoint):
    """A translation along ``axis`` and a rotation about it: holds two translations and two rotations."""

    edge_kind = Kind.LINE_JOINT
    coordinates = (_DISPLACEMENT, _ANGLE)

    displacement: Value | None = start("m", "displacement")
    angle: Value | None = start("rad", "angle")
    displacement_rate: Value | None = start("m/s", "rate of the displacement")
    angle_rate: Value | None = start("rad/s", "rate of the angle")

    def measure(self, v: Any, d: ca.SX, C: ca.SX) -> dict[str, ca.SX]:
        axis = unit(v.axis)
        return {"displacement": ca.dot(axis, d), "angle": ca.atan2(*angle_about(axis, C))}


class Screw(Turning, AxisJoint):
    """A rotation about ``axis`` with a translation of ``pitch`` for each turn: one degree of freedom."""

    edge_kind = Kind.LINE_JOINT
    coordinates = (_ANGLE,)
    coupled = True

    pitch: Value = quantity("m", "travel along the axis for one turn", symbol="p", range="non-zero", kw_only=True)
    angle: Value | None = start("rad", "angle")
    angle_rate: Value | None = start("rad/s", "rate of the angle")

    def _lead(self, v: Any) -> ca.SX:
        return ca.SX(v.pitch / (2 * ca.pi))

    def translation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        return unit(v.axis) * (self._lead(v) * q["angle"])

    def translation_rate(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        return unit(v.axis) * (self._lead(v) * u["angle"])

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        axis = unit(v.axis)
        sine, cosine = angle_about(axis, C)
        turn = ca.dot(axis, d) / self._lead(v)
        ahead = ca.atan2(
            sine * ca.cos(turn) - cosine * ca.sin(turn), cosine * ca.cos(turn) + sine * ca.sin(turn)
        )  # the angle less what the travel asks for, whatever the number of turns
        return ca.vertcat(off_axis(axis, d), -self._lead(v) * ahead)

    def measure(self, v: Any, d: ca.SX, C: ca.SX) -> dict[str, ca.SX]:
        return {"angle": ca.atan2(*angle_about(unit(v.axis), C))}


class Planar(Turning, AxisJoint):
    """Two translations across ``axis`` and a rotation about it: holds one translation and two rotations.

    ``x`` and ``y`` run along two directions that form a right-handed frame with the axis.
    """

    edge_kind = Kind.LINE_JOINT
    coordinates = (Coordinate("x", "translation"), Coordinate("y", "translation"), _ANGLE)

    x: Value | None = start("m", "x")
    y: Value | None = start("m", "y")
    angle: Value | None = start("rad", "angle")
    x_rate: Value | None = start("m/s", "rate of x")
    y_rate: Value | None = start("m/s", "rate of y")
    angle_rate: Value | None = start("rad/s", "rate of the angle")

    def translation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        e1, e2 = perpendicular(unit(v.axis))
        return e1 * q["x"] + e2 * q["y"]

    def translation_rate(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        return self.translation(v, u)

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        return ca.dot(unit(v.axis), d)

    def measure(self, v: Any, d: ca.SX, C: ca.SX) -> dict[str, ca.SX]:
        axis = unit(v.axis)
        e1, e2 = perpendicular(axis)
        return {"x": ca.dot(e1, d), "y": ca.dot(e2, d), "angle": ca.atan2(*angle_about(axis, C))}


class Universal(Joint):
    """A rotation about ``axis_1`` of frame a, then one about ``axis_2`` of frame b, at right angles to it."""

    edge_kind = Kind.POINT_JOINT
    coordinates = (Coordinate("angle_1", "rotation"), Coordinate("angle_2", "rotation"))

    axis_1: tuple[Value, Value, Value] = vector("", "axis fixed in frame a", default=X, built_in="always")
    axis_2: tuple[Value, Value, Value] = vector("", "axis fixed in frame b", default=(0.0, 1.0, 0.0), built_in="always")
    angle_1: Value | None = start("rad", "first angle")
    angle_2: Value | None = start("rad", "second angle")
    angle_1_rate: Value | None = start("rad/s", "rate of the first angle")
    angle_2_rate: Value | None = start("rad/s", "rate of the second angle")

    def check(self, values: Mapping[str, float]) -> None:
        _check_axis(self.name, values, "axis_1")
        _check_axis(self.name, values, "axis_2")
        first, second = ([values[f"{field}.{x}"] for x in "xyz"] for field in ("axis_1", "axis_2"))
        product = sum(a * b for a, b in zip(first, second, strict=True))
        if product**2 > 1e-18 * sum(a * a for a in first) * sum(b * b for b in second):
            raise ModelError(
                f"the axes {tuple(first)} and {tuple(second)} are not at right angles",
                where=self.name,
                expected="two perpendicular axes, as in a cross",
            )

    def rotation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        return ca.mtimes(about(unit(v.axis_1), q["angle_1"]), about(unit(v.axis_2), q["angle_2"]))

    def spin(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        second = unit(v.axis_2)
        return ca.mtimes(about(second, q["angle_2"]).T, unit(v.axis_1)) * u["angle_1"] + second * u["angle_2"]

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        return d

    def alignment(self, v: Any, C: ca.SX) -> ca.SX:
        return ca.dot(unit(v.axis_1), ca.mtimes(C, unit(v.axis_2)))

    def measure(self, v: Any, d: ca.SX, C: ca.SX) -> dict[str, ca.SX]:
        n1, n2 = unit(v.axis_1), unit(v.axis_2)
        across = ca.cross(n1, n2)
        second, first = ca.mtimes(C, n2), ca.mtimes(C.T, n1)
        return {
            "angle_1": ca.atan2(ca.dot(across, second), ca.dot(n2, second)),
            "angle_2": ca.atan2(ca.dot(across, first), ca.dot(n1, first)),
        }


class Spherical(Joint):
    """All rotations: holds three translations.

    Start values are Euler parameters and the angular velocity in b's axes.
    """

    edge_kind = Kind.POINT_JOINT
    coordinates = (_TURN,)

    orientation: tuple[Value, ...] | None = start_vector("", "Euler parameters", "e0 e1 e2 e3")
    angular_velocity: tuple[Value, ...] | None = start_vector("rad/s", "angular velocity in b's axes")

    def rotation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        return of_quaternion(q[ORIENTATION])

    def spin(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        return u[ORIENTATION]

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        return d


class Weld(Joint):
    """No motion: holds everything."""

    edge_kind = Kind.POINT_JOINT

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        return d

    def alignment(self, v: Any, C: ca.SX) -> ca.SX:
        return vee(C)


class Free(Joint):
    """All six motions: holds nothing, and gives the position of b seen from a as coordinates."""

    edge_kind = Kind.LINE_JOINT
    coordinates = (*(Coordinate(x, "translation") for x in "xyz"), _TURN)

    x: Value | None = start("m", "x")
    y: Value | None = start("m", "y")
    z: Value | None = start("m", "z")
    x_rate: Value | None = start("m/s", "rate of x")
    y_rate: Value | None = start("m/s", "rate of y")
    z_rate: Value | None = start("m/s", "rate of z")
    orientation: tuple[Value, ...] | None = start_vector("", "Euler parameters", "e0 e1 e2 e3")
    angular_velocity: tuple[Value, ...] | None = start_vector("rad/s", "angular velocity in b's axes")

    def translation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        return ca.vertcat(q["x"], q["y"], q["z"])

    def rotation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        return of_quaternion(q[ORIENTATION])

    def translation_rate(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        return ca.vertcat(u["x"], u["y"], u["z"])

    def spin(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        return u[ORIENTATION]

    def measure(self, v: Any, d: ca.SX, C: ca.SX) -> dict[str, ca.SX]:
        return {"x": d[0], "y": d[1], "z": d[2]}


class PlanarSlide(Joint):
    """Two translations in the plane of x and y, and no rotation: how a point moves in a plane."""

    edge_kind = Kind.LINE_JOINT
    coordinates = tuple(Coordinate(x, "translation") for x in "xy")

    x: Value | None = start("m", "x")
    y: Value | None = start("m", "y")
    x_rate: Value | None = start("m/s", "rate of x")
    y_rate: Value | None = start("m/s", "rate of y")

    def translation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        return ca.vertcat(q["x"], q["y"], 0)

    def translation_rate(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        return ca.vertcat(u["x"], u["y"], 0)

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        return d[2]

    def alignment(self, v: Any, C: ca.SX) -> ca.SX:
        return vee(C)

    def measure(self, v: Any, d: ca.SX, C: ca.SX) -> dict[str, ca.SX]:
        return {"x": d[0], "y": d[1]}


class Slide(Joint):
    """All three translations and no rotation: how a point moves, and a body that cannot turn."""

    edge_kind = Kind.LINE_JOINT
    coordinates = tuple(Coordinate(x, "translation") for x in "xyz")

    x: Value | None = start("m", "x")
    y: Value | None = start("m", "y")
    z: Value | None = start("m", "z")
    x_rate: Value | None = start("m/s", "rate of x")
    y_rate: Value | None = start("m/s", "rate of y")
    z_rate: Value | None = start("m/s", "rate of z")

    def translation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        return ca.vertcat(q["x"], q["y"], q["z"])

    def translation_rate(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        return ca.vertcat(u["x"], u["y"], u["z"])

    def alignment(self, v: Any, C: ca.SX) -> ca.SX:
        return vee(C)

    def measure(self, v: Any, d: ca.SX, C: ca.SX) -> dict[str, ca.SX]:
        return {"x": d[0], "y": d[1], "z": d[2]}
