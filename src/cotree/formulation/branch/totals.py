"""Results of a mechanism as a whole, of lines between two frames, and of couplings."""

from __future__ import annotations

import casadi as ca

from cotree.formulation.branch.mechanism import Mechanism, Reactions
from cotree.formulation.system import Output
from cotree.terminal.constraints import ConstantDistance
from cotree.terminal.drivers import FrameDrive
from cotree.terminal.mechanics import XYZ, Body, BodyMotion, Motion, Wrench
from cotree.terminal.springs import length_of

SYSTEM = "system"
"""What results of the whole mechanism begin with."""


def line_outputs(own: Mechanism, carried: Reactions) -> dict[str, Output]:
    """Length, its rate, and tension of springs, dampers, actuators, rods and drives between two frames.

    A positive tension pulls the frames towards each other.
    """
    result: dict[str, Output] = {}
    for act in own.acting:
        if act.motion is not None:
            result |= _line(act.name, act.motion, act.wrench)
    for part in own.top.constraints:
        along = isinstance(part, ConstantDistance) or (isinstance(part, FrameDrive) and part.distance is not None)
        if along and part.name in carried.held:
            a, b = own.top.places[part.ends[0]], own.top.places[part.ends[1]]
            result |= _line(part.name, own.kin.relative(a, b), carried.held[part.name])
    return result


def _line(name: str, motion: Motion, wrench: Wrench) -> dict[str, Output]:
    length = length_of(motion.d)
    return {
        f"{name}.length": Output(length, "m"),
        f"{name}.length_rate": Output(ca.dot(motion.d, motion.d_dot) / length, "m/s"),
        f"{name}.tension": Output(-ca.dot(motion.d, wrench.force) / length, "N"),
    }


def coupling_outputs(carried: Reactions) -> dict[str, Output]:
    """What gears, racks and couplings exert along the coordinates of their joints: ``gear.A.torque``.

    Where a coupling takes two coordinates of one joint, the name holds the coordinate: ``nut.S.angle.torque``.
    """
    result: dict[str, Output] = {}
    joints = [(owner, link.name) for owner, link, _, _ in carried.shares]
    for owner, link, name, amount in carried.shares:
        turning = next(c.group for c in link.joint.coordinates if c.name == name) == "rotation"
        which = f"{link.name}.{name}" if joints.count((owner, link.name)) > 1 else link.name
        word, unit = ("torque", "N m") if turning else ("force", "N")
        result[f"{owner}.{which}.{word}"] = Output(amount, unit)
    return result


def system_outputs(own: Mechanism) -> dict[str, Output]:
    """Mass, centre of mass, momentum and angular momentum about the world's origin, of all bodies, in world axes."""
    if SYSTEM in own.top.model.components:
        return {}
    kin = own.kin
    mass, moment, momentum, spin = ca.SX(0), ca.SX.zeros(3), ca.SX.zeros(3), ca.SX.zeros(3)
    for j, body in enumerate(own.top.bodies):
        if body is None:
            continue
        weight, centre = body.weight(own.values_of(body))
        linear, angular = _momenta(own, j, body)
        push = ca.mtimes(kin.R[j], linear)
        mass += weight
        moment += weight * (kin.p[j] + ca.mtimes(kin.R[j], centre))
        momentum += push
        spin += ca.mtimes(kin.R[j], angular) + ca.cross(kin.p[j], push)
    result = {f"{SYSTEM}.mass": Output(mass, "kg")}
    for word, value, unit in (
        ("centre", moment / mass, "m"), ("momentum", momentum, "N s"), ("angular_momentum", spin, "N m s"),
    ):  # fmt: skip
        result |= {f"{SYSTEM}.{word}.{x}": Output(value[k], unit) for k, x in enumerate(XYZ)}
    return result


def _momenta(own: Mechanism, j: int, body: Body) -> tuple[ca.SX, ca.SX]:
    """Momentum of a body and angular momentum about its origin, in its axes.

    Forces of inertia are linear in the accelerations. From rest, with the velocities in their place, they are the
    momenta; what a body of varying mass throws out at rest does not count.
    """
    kin, v, none = own.kin, own.values_of(body), ca.SX.zeros(3)
    speeds = kin.elastic_speeds(j)
    moved = body.inertia_law(v, BodyMotion(none, none, kin.v[j], kin.omega[j], none, speeds))
    if body.spatial_inertia(v) is not None:
        return moved.force, moved.moment
    rest = body.inertia_law(v, BodyMotion(none, none, none, none, none, ca.SX.zeros(speeds.numel())))
    return moved.force - rest.force, moved.moment - rest.moment
