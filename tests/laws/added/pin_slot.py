"""A pin in a slot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from cotree.errors import ModelError
from cotree.maths.rotation import about
from cotree.model import Kind, Value, vector
from cotree.terminal.joints import angle_about, off_axis, unit
from cotree.terminal.mechanics import Coordinate, Joint, start


class PinSlot(Joint):
    """A pin on b that slides along ``slot`` of a and turns about ``axis``: holds two translations and two rotations."""

    edge_kind = Kind.LINE_JOINT
    coordinates = (Coordinate("travel", "translation"), Coordinate("angle", "rotation"))

    axis: tuple[Value, Value, Value] = vector("", "axis of the pin", default=(0.0, 0.0, 1.0), built_in="always")
    slot: tuple[Value, Value, Value] = vector("", "direction of the slot", default=(1.0, 0.0, 0.0), built_in="always")
    travel: Value | None = start("m", "travel along the slot")
    angle: Value | None = start("rad", "angle")
    travel_rate: Value | None = start("m/s", "rate of the travel")
    angle_rate: Value | None = start("rad/s", "rate of the angle")

    def check(self, values: Mapping[str, float]) -> None:
        axis, slot = ([values[f"{field}.{x}"] for x in "xyz"] for field in ("axis", "slot"))
        if abs(sum(a * b for a, b in zip(axis, slot, strict=True))) > 1e-9 * max(map(abs, axis)) * max(map(abs, slot)):
            raise ModelError(f"the slot {tuple(slot)} is not at right angles to the axis", where=f"{self.name}.slot")

    def translation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        return unit(v.slot) * q["travel"]

    def translation_rate(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        return unit(v.slot) * u["travel"]

    def rotation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        return about(unit(v.axis), q["angle"])

    def spin(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        return unit(v.axis) * u["angle"]

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        return off_axis(unit(v.slot), d)

    def alignment(self, v: Any, C: ca.SX) -> ca.SX:
        axis = unit(v.axis)
        return off_axis(axis, ca.mtimes(C, axis))

    def measure(self, v: Any, d: ca.SX, C: ca.SX) -> dict[str, ca.SX]:
        return {"travel": ca.dot(unit(v.slot), d), "angle": ca.atan2(*angle_about(unit(v.axis), C))}
