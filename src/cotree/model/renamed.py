"""Names that have changed. Readers of model files, errors, `cotree upgrade` and stored models use this one table.

An old name is not accepted beside its new one: an error names the new one, and ``cotree upgrade model.yaml`` writes it.
A model that is stored in a results file is read through the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WITHOUT_ROOM = {
    "bodies": "point_mass rigid_body",
    "constraints": (
        "constant_distance coupled gear parallel_axes point_on_line point_on_plane rack_and_pinion rolling_disc"
    ),
    "drivers": "drive frame_drive speed_drive",
    "electrical": (
        "capacitor current_source diode gyrator ideal_diode inductor mutual_inductance "
        "operational_amplifier resistor switch transformer voltage_source"
    ),
    "flexible": "beam flexible_body",
    "forces": "force_between joint_actuator point_force point_torque",
    "friction": "bump_stop joint_friction",
    "joints": "cylindrical free planar planar_slide prismatic revolute screw slide spherical universal weld",
    "springs": "bushing damper joint_damper joint_spring spring",
    "transducer": "piston rotational_emf translational_emf wheel",
    "varying": "varying_mass varying_point",
}
"""Kinds that lost their room: ``joints.revolute`` is ``revolute``."""

_WITH_ROOM = {
    "bond.electrical": "amplifier coupled_inductors",
    "bond.hydraulic": "fluid_inertia",
    "bond.rotational": "gear_pair pinion rotary_damper torsion_spring",
    "control": (
        "dead_band delay function gain pid product rate_limiter relay sample_hold sampled_delay "
        "sampled_pid sampled_state_space saturation state_feedback state_space sum table "
        "transfer_function"
    ),
    "hydraulic": (
        "accumulator check_valve flow_source gas_accumulator inertance pressure_source relief spool tank valve volume"
    ),
    "machines": "dc_motor excited_motor hydraulic_motor pump solenoid synchronous voice_coil",
    "nodal": (
        "bar body body_load elastic_cable fixed force force_cable keep_direction latch motor_cable moved "
        "node node_damper node_gear node_spring on_line on_plane stop"
    ),
    "pneumatic": "chamber supply",
    "rotational": "belt clutch inertia shaft speed_source torque_source",
    "thermal": "capacity conduction convection heat_source loss radiation temperature_source",
    "translational": "force_source lever line mass velocity_source",
}
"""Words that were enough where one room alone had them: ``dc_motor`` is ``machines.dc_motor``."""

KINDS: dict[str, str] = {
    **{f"{room}.{word}": word for room, words in _WITHOUT_ROOM.items() for word in words.split()},
    **{word: f"{room}.{word}" for room, words in _WITH_ROOM.items() for word in words.split()},
}
"""Kinds of components: old name, new name."""

FIELDS: dict[str, dict[str, str]] = {"nodal.body": {"center": "centre"}}
"""Fields of components by the kind of today: old name, new name. The kind ``*`` stands for all."""

SUCCESSORS = {
    "nodal.bar": "bar", "nodal.body": "rigid_body", "nodal.body_load": "body_load",
    "nodal.elastic_cable": "elastic_cable", "nodal.fixed": "fixed", "nodal.force": "point_force",
    "nodal.force_cable": "force_cable", "nodal.keep_direction": "keep_direction", "nodal.latch": "latch",
    "nodal.motor_cable": "motor_cable", "nodal.moved": "frame_drive", "nodal.node": "point_mass",
    "nodal.node_damper": "damper", "nodal.node_gear": "gear", "nodal.node_spring": "spring",
    "nodal.on_line": "point_on_line", "nodal.on_plane": "point_on_plane", "nodal.stop": "stop",
}  # fmt: skip
"""Kinds of today that get another name when bodies and nodes share one library. Until then both classes exist, and
the name of today is the valid one."""

PYTHON = {
    "electrical": "cotree itself: cotree.Resistor, cotree.Diode",
    "transducer": "cotree itself: cotree.Wheel, cotree.Piston",
    "mounts": "in the rooms of domains: cotree.rotational.Axis, cotree.translational.Axis, cotree.translational.Line",
}
"""Names of `cotree` that have gone, with where their contents are."""


def new_field(kind: str, field: str) -> str | None:
    """The new name of a field of a kind, None where it has none."""
    return FIELDS.get(kind, {}).get(field) or FIELDS.get("*", {}).get(field)


def upgraded(data: Any) -> Any:
    """Plain data of a model with its kinds and fields by their new names, at every depth."""
    if isinstance(data, list | tuple):
        return [upgraded(each) for each in data]
    if not isinstance(data, Mapping):
        return data
    kind = data.get("kind")
    if not isinstance(kind, str):
        return {key: upgraded(each) for key, each in data.items()}
    kind = KINDS.get(kind, kind)
    return {
        new_field(kind, key) or key if isinstance(key, str) else key: kind if key == "kind" else upgraded(each)
        for key, each in data.items()
    }
