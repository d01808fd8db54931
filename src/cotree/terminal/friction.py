"""Friction in joints and stops at the ends of their travel.

Friction follows a force level that is given: the joint's reaction is an unknown of the equations, not part of a law.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca

from cotree.errors import ModelError
from cotree.model import Value, quantity
from cotree.terminal.mechanics import JointForce

FLOOR = 1e-30
"""Least penetration that enters a power, so that all its derivatives stay finite."""


class JointFriction(JointForce):
    """F = -level (1 + (static - 1) exp(-(v/stribeck)^2)) tanh(v/speed) - viscous v along the coordinate.

    ``level`` is the force or torque of sliding, ``static`` the ratio of sticking to sliding. Below ``speed`` the
    friction fades, so that a joint at rest creeps under load instead of sticking; a run in which it does says so.
    Where a joint must hold, put ``translational.friction`` or ``rotational.friction`` on its axis
    (``translational.Axis``, ``rotational.Axis``): these stick. Units follow the coordinate.
    """

    example: ClassVar[Mapping[str, Any]] = {"level": 2.0, "static": 1.2, "stribeck": 0.1, "viscous": 0.1}

    level: Value = quantity("N or N m", "friction while sliding", symbol="F_c", range="non-negative")
    static: Value = quantity("", "ratio of sticking to sliding friction", default=1.0, built_in="always")
    stribeck: Value | None = quantity(
        "m/s or rad/s", "speed over which sticking turns into sliding", range="positive", default=None
    )
    speed: Value = quantity("m/s or rad/s", "speed below which friction fades", range="positive", default=1e-3)
    viscous: Value = quantity(
        "N s/m or N m s/rad", "viscous friction", symbol="c", range="non-negative", default=0.0, built_in="zero"
    )

    def check(self, values: Mapping[str, float]) -> None:
        static, stribeck = values.get("static", 1.0), values.get("stribeck")
        if static < 1.0:
            raise ModelError(f"the ratio is {static:g}", where=f"{self.name}.static", expected="1 or more")
        if static > 1.0 and stribeck is None:
            raise ModelError(
                "static friction is given without the speed over which it fades",
                where=f"{self.name}.stribeck",
                expected="a speed well above that of the regularisation",
            )
        if stribeck is not None and stribeck <= values["speed"]:
            raise ModelError(
                f"{stribeck:g} is not above the regularising speed {values['speed']:g}",
                where=f"{self.name}.stribeck",
                expected="a larger speed",
            )

    def force(self, v: Any, x: ca.SX, rate: ca.SX, here: Any) -> ca.SX:
        peak = 1.0
        if v.stribeck is not None:
            peak = 1 + (v.static - 1) * ca.exp(-((rate / v.stribeck) ** 2))
        return ca.SX(-v.level * peak * ca.tanh(rate / v.speed) - v.viscous * rate)

    def loss(self, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX:
        """The power that is dissipated."""
        return -self.force(v, x, rate, None) * rate

    def fading(self, v: Any) -> ca.SX:
        return ca.SX(v.speed)


class BumpStop(JointForce):
    """F = k s^n (1 + damping s') against the coordinate, with s how far it lies beyond ``lower`` or ``upper``.

    A power n above 1 lets the force start without a kink; the damping works inside the stop only (Hunt and Crossley
    1975). It dissipates k s^n damping s'^2, and would pull only where the coordinate is drawn out faster than
    1/damping.
    """

    example: ClassVar[Mapping[str, Any]] = {"upper": 0.1, "stiffness": 1e3, "damping": 0.2}

    stiffness: Value = quantity("N/m^n or N m/rad^n", "stiffness", symbol="k", range="positive")
    lower: Value | None = quantity("m or rad", "coordinate at the lower stop", default=None)
    upper: Value | None = quantity("m or rad", "coordinate at the upper stop", default=None)
    power: Value = quantity("", "power of the penetration", symbol="n", default=2.0, built_in="always")
    damping: Value = quantity("s/m or s/rad", "damping", range="non-negative", default=0.0, built_in="zero")

    def __post_init__(self) -> None:
        if self.lower is None and self.upper is None:
            raise ModelError("neither stop is given", where=self.name, expected="lower, upper, or both")
        super().__post_init__()

    def check(self, values: Mapping[str, float]) -> None:
        if values["power"] <= 1.0:
            raise ModelError(
                f"the power is {values['power']:g}",
                where=f"{self.name}.power",
                expected="more than 1, such as 1.5 or 2",
            )
        lower, upper = values.get("lower"), values.get("upper")
        if lower is not None and upper is not None and lower >= upper:
            raise ModelError(
                f"the lower stop at {lower:g} is not below the upper one at {upper:g}",
                where=self.name,
                expected="lower < upper",
            )

    def _sides(self, v: Any, x: ca.SX) -> list[tuple[float, ca.SX]]:
        """The direction of motion into each stop, and how far the coordinate lies in it."""
        sides = [] if v.lower is None else [(-1.0, ca.fmax(v.lower - x, FLOOR))]
        return sides if v.upper is None else [*sides, (1.0, ca.fmax(x - v.upper, FLOOR))]

    def force(self, v: Any, x: ca.SX, rate: ca.SX, here: Any) -> ca.SX:
        return sum(
            (-sign * v.stiffness * deep**v.power * (1 + v.damping * sign * rate) for sign, deep in self._sides(v, x)),
            start=ca.SX(0),
        )

    def potential(self, v: Any, x: ca.SX) -> ca.SX:
        return sum(
            (v.stiffness * deep ** (v.power + 1) / (v.power + 1) for _, deep in self._sides(v, x)), start=ca.SX(0)
        )

    def loss(self, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX:
        """The power that is dissipated."""
        return sum((v.stiffness * deep**v.power * v.damping * rate**2 for _, deep in self._sides(v, x)), start=ca.SX(0))
