"""Results of a mechanism by name: frames, joints, reactions, drivers and energies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca

from cotree.formulation.branch.kinematics import BODY_ANGLE
from cotree.formulation.branch.loads import frame_loads, load_outputs, section_outputs
from cotree.formulation.branch.mechanism import Mechanism, Reactions, frame_motion
from cotree.formulation.branch.places import Flexible
from cotree.formulation.branch.totals import coupling_outputs, line_outputs, system_outputs
from cotree.formulation.system import Output, turns_name
from cotree.maths.rotation import quaternion_of
from cotree.terminal.mechanics import ORIENTATION, PARAMETERS, XYZ, Driver, JointForce, Wrench

if TYPE_CHECKING:
    from cotree.formulation.branch.segmented import Segmented


def mechanism_outputs(
    own: Mechanism, carried: Reactions, powers: Mapping[str, ca.SX], potential: ca.SX
) -> dict[str, Output]:
    """All outputs as expressions of t, q, u, u', multipliers, p and modes."""
    result: dict[str, Output] = {}
    for node, place in own.top.places.items():
        if place.body:
            result |= _frame(own, node)
    loads = frame_loads(own, carried)
    for flexible in own.top.whole():
        result |= _elastic(flexible)
        result |= _offsets(flexible)
        result |= section_outputs(own, flexible, loads)
        result |= load_outputs(own, flexible, loads)
    reactions = reaction_outputs(own, carried)
    for link in own.top.links.values():
        if not link.of_body:
            result |= _joint(own, link.name)
            result |= {name: each for name, each in reactions.items() if name.startswith(f"{link.name}.")}
    result |= reactions
    for act in own.acting:
        if act.loaded:  # the network shows it
            continue
        if act.along is not None:
            result[f"{act.name}.{_force_word(own, act.name)}"] = Output(act.along, _force_unit(own, act.name))
        else:
            result |= _wrench(act.name, act.wrench)
    booked = {act.name for act in own.loads}
    result |= {f"{name}.power": Output(power, "W") for name, power in powers.items() if name not in booked}
    result |= line_outputs(own, carried)
    result |= coupling_outputs(carried)
    result |= system_outputs(own)
    result["kinetic_energy"] = Output(own.kinetic, "J")
    result["potential_energy"] = Output(ca.SX(potential), "J")
    return result


def reaction_outputs(own: Mechanism, carried: Reactions) -> dict[str, Output]:
    """Reactions of joints and constraints, and forces of drivers."""
    result: dict[str, Output] = {}
    for name, wrench in carried.held.items():
        result |= _wrench(name, wrench)
    for name, force in carried.drives.items():
        result[f"{name}.{_force_word(own, name)}"] = Output(force, _force_unit(own, name))
    return result


def _vector(name: str, value: ca.SX, unit: str) -> dict[str, Output]:
    return {f"{name}.{x}": Output(value[k], unit) for k, x in enumerate(XYZ)}


def _wrench(name: str, wrench: Wrench) -> dict[str, Output]:
    return _vector(f"{name}.force", wrench.force, "N") | _vector(f"{name}.torque", wrench.torque, "N m")


def _frame(own: Mechanism, node: str) -> dict[str, Output]:
    kin = own.kin
    place = own.top.places[node]
    j, R = place.body, kin.R[place.body]
    v_dot, w_dot = (parts[j] for parts in kin.accelerations)
    w, arm = kin.omega[j], place.position
    velocity = kin.v[j] + ca.cross(w, arm) + place.rate
    acceleration = v_dot + ca.cross(w_dot, arm) + ca.cross(w, place.rate) + kin.rate(place.rate)
    acceleration += ca.cross(w, velocity)
    motion = frame_motion(kin, node)
    result = _vector(f"{node}.position", motion["position"], "m")
    result |= _vector(f"{node}.velocity", motion["velocity"], "m/s")
    result |= _vector(f"{node}.acceleration", ca.mtimes(R, acceleration), "m/s^2")
    if own.top.turns(j):
        turn = quaternion_of(ca.mtimes(R, place.rotation))
        result |= {f"{node}.orientation.{e}": Output(turn[k], "") for k, e in enumerate(PARAMETERS)}
        result |= _vector(f"{node}.angular_velocity", motion["angular_velocity"], "rad/s")
        turning = w_dot + kin.rate(place.spin) + ca.cross(w, place.spin)
        result |= _vector(f"{node}.angular_acceleration", ca.mtimes(R, turning), "rad/s^2")
    return result


def _elastic(flexible: Flexible | Segmented) -> dict[str, Output]:
    """Elastic coordinates, strain energy, and the deflection of every frame from its undeformed place, in body axes."""
    name, law = flexible.name, flexible.law
    units = dict(zip(law.names, law.units, strict=True))
    units |= {f"{coordinate}_rate": f"{unit}/s" for coordinate, unit in units.items()}
    result = {f"{name}.{what}": Output(value, units.get(what, "m")) for what, value in law.measures().items()}
    result[f"{name}.strain_energy"] = Output(law.strain, "J")
    return result


def _offsets(flexible: Flexible | Segmented) -> dict[str, Output]:
    """Distances of a beam's frames from the line between its ends, along the axes that turn with this line."""
    ends = flexible.body.chord()
    if ends is None:
        return {}
    name, positions = flexible.name, flexible.law.positions
    start, end = (positions[frame] for frame in ends)
    along = end - start
    e = along / ca.norm_2(along)
    across = {
        "y": ca.vertcat(-e[1], 1 - e[1] * e[1] / (1 + e[0]), -e[1] * e[2] / (1 + e[0])),
        "z": ca.vertcat(-e[2], -e[1] * e[2] / (1 + e[0]), 1 - e[2] * e[2] / (1 + e[0])),
    }
    result: dict[str, Output] = {}
    for frame, position in positions.items():
        if frame not in ends:
            place = position - start
            result |= {f"{name}.{frame}.offset.{x}": Output(ca.dot(axis, place), "m") for x, axis in across.items()}
    return result


def _joint(own: Mechanism, name: str) -> dict[str, Output]:
    kin, link = own.kin, own.top.links[name]
    result: dict[str, Output] = {}
    for c in link.joint.coordinates:
        if c.name == ORIENTATION:
            motion = kin.motion(link)
            turn = quaternion_of(motion.C)
            result |= {f"{name}.orientation.{e}": Output(turn[k], "") for k, e in enumerate(PARAMETERS)}
            result |= {f"{name}.omega.{x}": Output(motion.omega_b[k], "rad/s") for k, x in enumerate(XYZ)}
            continue
        if c.group == "rotation" and not own.top.oriented(link):
            continue
        x, rate = kin.coordinate(link, c.name)
        held = c.name in kin.positions.get(name, {}) or (name, c.name) in kin.windings
        given = getattr(link.values, c.name, None)
        near = None if held or c.group == "translation" else ca.SX(0 if given is None else given)
        result[f"{name}.{c.name}"] = Output(x, c.unit, near)
        result[f"{name}.{c.name}_rate"] = Output(rate, c.rate_unit)
        if c.group == "rotation" and name in kin.aligned:
            more, faster = kin.aligned[name]
            result[f"{name}.{BODY_ANGLE}"] = Output(x + more, c.unit)
            result[f"{name}.{BODY_ANGLE}_rate"] = Output(rate + faster, c.rate_unit)
    return result


def turned(outputs: Mapping[str, Output]) -> dict[str, Output]:
    """The rates of angles that are known up to full turns only, to be integrated along with the motion."""
    return {
        turns_name(name): Output(outputs[f"{name}_rate"].expression, each.unit)
        for name, each in outputs.items()
        if each.near is not None
    }


def _group(own: Mechanism, name: str) -> str:
    part = own.top.model.components[name]
    assert isinstance(part, Driver | JointForce)
    joint = own.top.links[part.on].joint
    chosen = part.chosen(joint)
    return next(c.group for c in joint.coordinates if c.name == chosen)


def _force_word(own: Mechanism, name: str) -> str:
    return "force" if _group(own, name) == "translation" else "torque"


def _force_unit(own: Mechanism, name: str) -> str:
    return "N" if _group(own, name) == "translation" else "N m"
