"""Equations between frames that are no joints of a tree, and between the coordinates of joints.

Rows are scaled so that multipliers are forces in N, or torques in N m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

import casadi as ca

from cotree.errors import ModelError
from cotree.maths.rotation import perpendicular
from cotree.model import MISSING, Value, quantity, vector
from cotree.model.component import NODE_NAME
from cotree.model.form import named, said, value
from cotree.model.quantity import Quantity
from cotree.terminal.joints import X, Z, unit
from cotree.terminal.mechanics import Constraint, Coupling, Motion

Y = (0.0, 1.0, 0.0)
_FACTOR = Quantity("", "non-zero", False, "factor of a coordinate", free=True)
_WHICH, _SEVERAL = "coordinate of the", "where it has several"


class Directed(Constraint):
    """A constraint with directions that are part of the equations' structure."""

    kind: ClassVar[str] = ""
    directions: ClassVar[tuple[str, ...]] = ("axis",)

    def check(self, values: Mapping[str, float]) -> None:
        for name in self.directions:
            if all(values.get(f"{name}.{x}") == 0.0 for x in "xyz"):
                raise ModelError("the direction is (0, 0, 0)", where=f"{self.name}.{name}", expected="a direction")


class ConstantDistance(Constraint):
    """(d.d - length^2) / (2 length) = 0: a massless rod with a ball joint at either end; d from a to b."""

    length: Value = quantity("m", "distance of the two origins", symbol="l", range="positive")

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        return ca.SX((ca.sumsqr(d) - v.length**2) / (2 * v.length))


class PointOnLine(Directed):
    """e1.d = e2.d = 0: b's origin stays on the line through a's origin along ``axis``, with e1, e2 across it."""

    axis: tuple[Value, Value, Value] = vector("", "direction of the line in a", default=X, built_in="always")

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        e1, e2 = perpendicular(unit(v.axis))
        return ca.vertcat(ca.dot(e1, d), ca.dot(e2, d))


class PointOnPlane(Directed):
    """n.d = offset: b's origin stays in a plane fixed in a, with the normal n."""

    directions = ("normal",)

    normal: tuple[Value, Value, Value] = vector("", "normal of the plane in a", default=Z, built_in="always")
    offset: Value = quantity("m", "distance of the plane from a's origin", default=0.0, built_in="zero")

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        return ca.SX(ca.dot(unit(v.normal), d) - v.offset)


class ParallelAxes(Directed):
    """e1.(C axis_b) = e2.(C axis_b) = 0: an axis of b stays along one of a, with e1, e2 across it."""

    directions = ("axis", "axis_b")

    axis: tuple[Value, Value, Value] = vector("", "direction in a", default=Z, built_in="always")
    axis_b: tuple[Value, Value, Value] | None = vector(
        "", "direction in b where it differs", default=None, built_in="always"
    )

    def alignment(self, v: Any, C: ca.SX) -> ca.SX:
        e1, e2 = perpendicular(unit(v.axis))
        turned = ca.mtimes(C, unit(v.axis if v.axis_b is None else v.axis_b))
        return ca.vertcat(ca.dot(e1, turned), ca.dot(e2, turned))


class RollingDisc(Directed):
    """d' + w x r = 0: a thin disc about b's origin rolls without slip on a plane through a's origin.

    r = -radius (n - (n.s) s) / |n - (n.s) s| leads from the centre to the point of contact, with n the normal of the
    plane and s the axis of the disc. The height n.(d + r) = 0 is a position equation; its rate is the normal one of the
    three velocity equations, and the two others are nonholonomic.
    """

    directions = ("normal", "axis")

    radius: Value = quantity("m", "radius of the disc", symbol="R", range="positive")
    normal: tuple[Value, Value, Value] = vector("", "normal of the plane in a", default=Z, built_in="always")
    axis: tuple[Value, Value, Value] = vector("", "axis of the disc in b", default=Y, built_in="always")

    def _spoke(self, v: Any, C: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Normal, unit vector in the disc that is steepest, and its part along the normal."""
        normal, spin = unit(v.normal), ca.mtimes(C, unit(v.axis))
        up = normal - ca.dot(normal, spin) * spin
        height = ca.norm_2(up)
        return normal, up / height, height

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        normal, _, height = self._spoke(v, C)
        return ca.SX(ca.dot(normal, d) - v.radius * height)

    def rolling(self, v: Any, motion: Motion) -> ca.SX:
        normal, up, _ = self._spoke(v, motion.C)
        slip = motion.d_dot - v.radius * ca.cross(motion.omega, up)
        e1, e2 = perpendicular(normal)
        return ca.vertcat(ca.dot(e1, slip), ca.dot(e2, slip))


class Gear(Coupling):
    """angle of a - ratio * angle of b = offset: a turns ``ratio`` times as fast as b.

    The ratio is negative for two outer gears with parallel axes of the same sense.
    """

    joint_a: str = field(metadata=said("first joint"))
    joint_b: str = field(metadata=said("second joint"))
    ratio: Value = quantity("", "speed of a over speed of b", symbol="i", range="non-zero")
    offset: Value = quantity("rad", "angle of a where that of b is zero", default=0.0, built_in="zero")
    coordinate_a: str | None = field(default=None, kw_only=True, metadata=said(f"{_WHICH} first joint, {_SEVERAL}"))
    coordinate_b: str | None = field(default=None, kw_only=True, metadata=said(f"{_WHICH} second joint, {_SEVERAL}"))

    def __post_init__(self) -> None:
        _two_joints(self.name, (self.joint_a, self.coordinate_a), (self.joint_b, self.coordinate_b))
        super().__post_init__()

    def terms(self, v: Any) -> Sequence[tuple[str, str | None, ca.SX]]:
        return ((self.joint_a, self.coordinate_a, ca.SX(1)), (self.joint_b, self.coordinate_b, -ca.SX(v.ratio)))


class RackAndPinion(Coupling):
    """displacement of the rack - radius * angle of the pinion = offset."""

    pinion: str = field(metadata=said("joint about which the pinion turns"))
    rack: str = field(metadata=said("joint along which the rack slides"))
    radius: Value = quantity("m", "pitch radius of the pinion", symbol="r", range="positive")
    offset: Value = quantity("m", "displacement where the angle is zero", default=0.0, built_in="zero")
    pinion_coordinate: str | None = field(
        default=None, kw_only=True, metadata=said(f"{_WHICH} pinion's joint, {_SEVERAL}")
    )
    rack_coordinate: str | None = field(default=None, kw_only=True, metadata=said(f"{_WHICH} rack's joint, {_SEVERAL}"))

    def __post_init__(self) -> None:
        _two_joints(self.name, (self.pinion, self.pinion_coordinate), (self.rack, self.rack_coordinate))
        super().__post_init__()

    def terms(self, v: Any) -> Sequence[tuple[str, str | None, ca.SX]]:
        return (
            (self.rack, self.rack_coordinate, ca.SX(1)),
            (self.pinion, self.pinion_coordinate, -ca.SX(v.radius)),
        )


class Coupled(Coupling):
    """sum of factor * coordinate = offset, over ``factors``: {"O": 1, "A.angle_1": "-2*k"}.

    A key is the name of a joint with one coordinate, or joint.coordinate.
    """

    example: ClassVar[Mapping[str, Any]] = {"factors": {"J": 1.0, "K.angle": -2.0}, "offset": 0.1}

    factors: Mapping[str, Value] = field(
        default=MISSING,
        kw_only=True,
        metadata=said("factors by joint, or joint.coordinate", {**named(value(_FACTOR)), "minProperties": 2})
        | {"refers": True},
    )
    offset: Value = quantity("m or rad", "value of the sum", default=0.0, built_in="zero")

    def __post_init__(self) -> None:
        expected = 'factors by joint, such as {"O": 1, "A": -2}'
        given = self.factors
        if not isinstance(given, Mapping) or len(given) < 2:
            found = "no factors are given" if given is MISSING else f"found {given!r}"
            raise ModelError(found, where=f"{self.name}.factors", expected=f"two or more {expected}")
        for key in given:
            if not isinstance(key, str) or not NODE_NAME.match(key) or key.count(".") > 1:
                raise ModelError(f"found {key!r}", where=f"{self.name}.factors", expected=expected)
        object.__setattr__(self, "factors", dict(given))
        super().__post_init__()

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        return super().entries() | {f"factors.{key}": (_FACTOR, factor) for key, factor in self.factors.items()}

    def gather(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return super().gather(values) | {"factors": {key: values[f"factors.{key}"] for key in self.factors}}

    def to_data(self) -> dict[str, Any]:
        return super().to_data() | {"factors": dict(self.factors)}

    def terms(self, v: Any) -> Sequence[tuple[str, str | None, ca.SX]]:
        parts = ((key.partition("."), factor) for key, factor in v.factors.items())
        return tuple((joint, coordinate or None, ca.SX(factor)) for (joint, _, coordinate), factor in parts)


def _two_joints(name: str, first: tuple[Any, Any], second: tuple[Any, Any]) -> None:
    """Names of two different coordinates."""
    for joint, _ in (first, second):
        if not isinstance(joint, str) or not joint:
            raise ModelError(f"found {joint!r}", where=name, expected="the name of a joint")
    if first == second:
        raise ModelError(f"both ends are '{first[0]}'", where=name, expected="two different coordinates")
