"""Parts of rotation about one axis: torque is the effort, angular velocity the flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca

from cotree.bond.domains import FlowNode, OnePort, TwoPort, at_most_one, needed, sheet, signal, value
from cotree.bond.elements import optional


class Node(FlowNode):
    """A 1 junction with one angular velocity."""

    kind = "bond.rotational.node"
    domain: ClassVar[str] = "rotational"  # type: ignore[misc]


class Part(OnePort):
    """A scalar element of rotation."""

    domain: ClassVar[str] = "rotational"  # type: ignore[misc]


class Inertia(Part):
    """T = J dw/dt."""

    kind = "bond.rotational.inertia"
    letter = "I"
    shapes = sheet(
        inertia=value("kg m^2", "moment of inertia", "J", "positive"),
        initial_speed=value("rad/s", "angular velocity at the start, 0 if not given"),
    )
    inertia: Any = needed()
    initial_speed: Any = optional()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": v["inertia"], "start_conjugate": v.get("initial_speed")}


class TorsionSpring(Part):
    """T = k angle, the integral of its velocity; the start is ``initial_angle`` or ``initial_torque``."""

    kind = "bond.rotational.torsion_spring"
    letter = "C"
    shapes = sheet(
        stiffness=value("N m/rad", "stiffness", "k", "positive"),
        initial_angle=value("rad", "angle at the start, 0 if not given"),
        initial_torque=value("N m", "torque at the start"),
    )
    stiffness: Any = needed()
    initial_angle: Any = optional()
    initial_torque: Any = optional()

    def __post_init__(self) -> None:
        super().__post_init__()
        at_most_one(self, ("initial_angle", "initial_torque"))

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        starts = {"start": v.get("initial_angle"), "start_conjugate": v.get("initial_torque")}
        return {"matrix": v["stiffness"], **starts}


class RotaryDamper(Part):
    """T = b w."""

    kind = "bond.rotational.rotary_damper"
    letter = "R"
    shapes = sheet(damping=value("N m s/rad", "damping", "b", "positive"))
    damping: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": v["damping"]}


class TorqueSource(Part):
    """T = torque(t)."""

    kind = "bond.rotational.torque_source"
    letter = "Se"
    shapes = sheet(torque=signal("N m", "torque that it sets"))
    torque: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"value": v["torque"]}


class SpeedSource(Part):
    """w = speed(t) along its bond."""

    kind = "bond.rotational.speed_source"
    letter = "Sf"
    shapes = sheet(speed=signal("rad/s", "angular velocity along its bond"))
    speed: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"value": v["speed"]}


class GearPair(TwoPort):
    """w_1 = n w_2, and T_2 = n T_1 on what follows."""

    kind = "bond.rotational.gear_pair"
    domain: ClassVar[str] = "rotational"  # type: ignore[misc]
    domains = ("rotational", "rotational")
    shapes = sheet(ratio=value("", "speed of the primary over speed of the secondary", "n", "non-zero"))
    ratio: Any = needed()

    def modulus_of(self, v: Mapping[str, ca.SX]) -> ca.SX:
        return 1 / v["ratio"]


class Pinion(TwoPort):
    """v = r w and T = r F: a pinion on its rack or a wheel, from ``rotational`` (1) to ``translational`` (2)."""

    kind = "bond.rotational.pinion"
    ends = ("rotational", "translational")
    domains = ("rotational", "translational")
    shapes = sheet(radius=value("m", "rolling radius", "r", "non-zero"))
    radius: Any = needed()

    def modulus_of(self, v: Mapping[str, ca.SX]) -> ca.SX:
        return v["radius"]
