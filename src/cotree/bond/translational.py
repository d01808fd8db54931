"""Parts of motion along one line: force is the effort, velocity the flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca

from cotree.bond.domains import FlowNode, OnePort, TwoPort, at_most_one, needed, sheet, signal, value
from cotree.bond.elements import optional


class Node(FlowNode):
    """A 1 junction with one velocity."""

    kind = "bond.translational.node"
    domain: ClassVar[str] = "translational"  # type: ignore[misc]


class Part(OnePort):
    """A scalar element of translation."""

    domain: ClassVar[str] = "translational"  # type: ignore[misc]


class Mass(Part):
    """F = m dv/dt."""

    kind = "bond.translational.mass"
    letter = "I"
    shapes = sheet(
        mass=value("kg", "mass", "m", "positive"),
        initial_velocity=value("m/s", "velocity at the start, 0 if not given"),
    )
    mass: Any = needed()
    initial_velocity: Any = optional()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": v["mass"], "start_conjugate": v.get("initial_velocity")}


class Spring(Part):
    """F = k x, with x the integral of its velocity; the start is ``initial_extension`` or ``initial_force``."""

    kind = "bond.translational.spring"
    letter = "C"
    shapes = sheet(
        stiffness=value("N/m", "stiffness", "k", "positive"),
        initial_extension=value("m", "displacement at the start, 0 if not given"),
        initial_force=value("N", "force at the start"),
    )
    stiffness: Any = needed()
    initial_extension: Any = optional()
    initial_force: Any = optional()

    def __post_init__(self) -> None:
        super().__post_init__()
        at_most_one(self, ("initial_extension", "initial_force"))

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        starts = {"start": v.get("initial_extension"), "start_conjugate": v.get("initial_force")}
        return {"matrix": v["stiffness"], **starts}


class Damper(Part):
    """F = b v."""

    kind = "bond.translational.damper"
    letter = "R"
    shapes = sheet(damping=value("N s/m", "damping", "b", "positive"))
    damping: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": v["damping"]}


class ForceSource(Part):
    """F = force(t)."""

    kind = "bond.translational.force_source"
    letter = "Se"
    shapes = sheet(force=signal("N", "force that it sets"))
    force: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"value": v["force"]}


class VelocitySource(Part):
    """v = velocity(t) along its bond."""

    kind = "bond.translational.velocity_source"
    letter = "Sf"
    shapes = sheet(velocity=signal("m/s", "velocity along its bond"))
    velocity: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"value": v["velocity"]}


class Lever(TwoPort):
    """v_1 = n v_2, and F_2 = n F_1 on what follows."""

    kind = "bond.translational.lever"
    domain: ClassVar[str] = "translational"  # type: ignore[misc]
    domains = ("translational", "translational")
    shapes = sheet(ratio=value("", "velocity of the primary over velocity of the secondary", "n", "non-zero"))
    ratio: Any = needed()

    def modulus_of(self, v: Mapping[str, ca.SX]) -> ca.SX:
        return 1 / v["ratio"]
