"""Drivers: a joint coordinate, its speed, or the relative position of two frames as a function of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

import casadi as ca

from cotree.errors import ModelError, listing
from cotree.maths.rotation import of_quaternion, vee
from cotree.maths.symbolic import column
from cotree.model import Quantity, Signal, signal
from cotree.model.form import TEXT, VALUE, either, listed
from cotree.model.series import PARTS
from cotree.terminal.mechanics import XYZ, Constraint, Driver, Joint


class Drive(Driver):
    """coordinate = angle(t) or displacement(t); speed and acceleration follow by derivatives."""

    example: ClassVar[Mapping[str, Any]] = {"angle": "2*t"}

    angle: Signal | None = signal("rad", "angle over time", default=None)
    displacement: Signal | None = signal("m", "displacement over time", default=None)

    def __post_init__(self) -> None:
        if (self.angle is None) == (self.displacement is None):
            raise ModelError(
                "no course is given" if self.angle is None else "angle and displacement are given together",
                where=self.name,
                expected="angle=... for a rotation, or displacement=... for a translation",
            )
        super().__post_init__()

    def chosen(self, joint: Joint) -> str:
        name = super().chosen(joint)
        group = next(c.group for c in joint.coordinates if c.name == name)
        given, meant = ("angle", "rotation") if self.displacement is None else ("displacement", "translation")
        if group != meant:
            other = "displacement" if given == "angle" else "angle"
            raise ModelError(
                f"'{joint.name}.{name}' is a {group}, and {given} is given",
                where=self.name,
                expected=f"{other}=...",
            )
        return name

    def course(self, v: Any) -> ca.SX:
        return ca.SX(v.angle if v.displacement is None else v.displacement)


class SpeedDrive(Driver):
    """d(coordinate)/dt = speed(t), from wherever the coordinate starts."""

    of_speed: ClassVar[bool] = True

    speed: Signal = signal("m/s or rad/s", "speed of the coordinate over time")

    def course(self, v: Any) -> ca.SX:
        return ca.SX(v.speed)


class FrameDrive(Constraint):
    """position of b in the axes of a = (x(t), y(t), z(t)), each where given; or distance of the two = distance(t).

    ``orientation`` gives the rotation of b in a as well, or alone: four Euler parameters (a quaternion, scalar first)
    over time, of any length, or the name of data of rotations.

    It holds some directions only, so it gives no coordinates of a tree and stays in the cotree, as all constraints do.
    """

    example: ClassVar[Mapping[str, Any]] = {"x": "t", "z": 0.0}

    x: Signal | None = signal("m", "x of b in the axes of a", default=None)
    y: Signal | None = signal("m", "y of b in the axes of a", default=None)
    z: Signal | None = signal("m", "z of b in the axes of a", default=None)
    distance: Signal | None = signal("m", "distance of the origins, above zero", default=None)
    orientation: tuple[Signal, Signal, Signal, Signal] | str | None = field(
        default=None, kw_only=True,
        metadata={
            "vector": (Quantity("", "finite", True, "Euler parameters of b in the axes of a", built_in="zero"), PARTS),
            "schema": either(listed(VALUE, len(PARTS)), TEXT),
        },
    )  # fmt: skip

    def __post_init__(self) -> None:
        along = [name for name in XYZ if getattr(self, name) is not None]
        if isinstance(self.orientation, str):
            object.__setattr__(self, "orientation", tuple(f"{self.orientation}_{part}" for part in PARTS))
        if bool(along) == (self.distance is not None) and (along or self.orientation is None):
            raise ModelError(
                f"distance is given beside {listing(along)}" if along else "nothing is driven",
                where=self.name,
                expected="some of x, y, z, or the distance; an orientation",
            )
        super().__post_init__()

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        if v.distance is not None:
            return ca.SX((ca.sumsqr(d) - v.distance**2) / (2 * v.distance))
        if all(getattr(v, name) is None for name in XYZ):
            return ca.SX(0, 1)
        rows = [d[k] - getattr(v, name) for k, name in enumerate(XYZ) if getattr(v, name) is not None]
        return column(rows)

    def alignment(self, v: Any, C: ca.SX) -> ca.SX:
        if v.orientation is None:
            return ca.SX(0, 1)
        return vee(ca.mtimes(of_quaternion(column(v.orientation)).T, C))
