"""A geared rotor on a body that turns freely in space: as an inertia of the network, and as a rigid body of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cotree as ct

N, J, M = 7.0, 4e-3, 0.8
CASE, WHEEL, START = (0.03, 0.035, 0.02), (0.01, 0.01, 0.015), 6.0
TORQUE = "0.4*cos(3*t)"
AXIS = [0.2, 0.3, 1.0]
TIMES = np.linspace(0.0, 0.8, 9)


def common(case: dict[str, Any]) -> dict[str, Any]:
    """A case on a spherical joint, with a wheel that turns about a skew axis through its centre."""
    return {
        "case": {"kind": "rigid_body", "frames": {"foot": [0, 0, -0.15]}, **case},
        "wheel": {"kind": "rigid_body", "mass": 1.5, "inertia": list(WHEEL)},
        "S": {"kind": "spherical", "frame_a": "ground", "frame_b": "case.foot", "angular_velocity": [1.0, -0.7, 0.5]},
        "W": {"kind": "revolute", "frame_a": "case", "frame_b": "wheel", "axis": AXIS, "angle_rate": START},
    }


def as_body() -> ct.Model:
    """The rotor is a ball whose turn is coupled to the wheel's; the torque acts between it and the case."""
    parts = common({"mass": 3.0, "inertia": list(CASE)}) | {
        "rotor": {"kind": "rigid_body", "mass": M, "inertia": [J, J, J]},
        "R": {"kind": "revolute", "frame_a": "case", "frame_b": "rotor", "axis": AXIS, "angle_rate": N * START},
        "gear": {"kind": "coupled", "factors": {"R": 1, "W": -N}},
        "drive": {"kind": "joint_actuator", "on": "R", "effort": TORQUE},
    }
    return ct.Model.from_mapping({"name": "rotor as a body", "gravity": [0, 0, -9.81], "components": parts})


def as_network() -> ct.Model:
    """The rotor is an inertia on the shaft; the case takes its mass, and its inertia across the axis."""
    e = np.array(AXIS) / np.linalg.norm(AXIS)
    across = np.diag(CASE) + J * (np.eye(3) - np.outer(e, e))
    parts = common({"mass": 3.0 + M, "inertia": across.tolist()}) | {
        "inertia": {"kind": "rotational.inertia", "nodes": ["rotor", "ground"], "inertia": J},
        "gear": {
            "kind": "rotational.gear", "primary": ["rotor", "housing"], "secondary": ["shaft", "housing"], "ratio": N,
        },
        "drive": {"kind": "rotational.torque_source", "nodes": ["housing", "rotor"], "torque": TORQUE},
        "mount": {"kind": "rotational.axis", "nodes": ["shaft", "housing"], "on": "W"},
    }  # fmt: skip
    return ct.Model.from_mapping({"name": "rotor on the network", "gravity": [0, 0, -9.81], "components": parts})


def test_a_rotor_of_the_network_turns_its_carrier_like_a_body() -> None:
    """Reaction and gyroscopic moment on the case are those of a rigid body."""
    body, network = (m.simulate(TIMES[-1], times=TIMES, rtol=1e-11) for m in (as_body(), as_network()))
    assert np.ptp(body["case.position.x"]) > 0.01
    names = [f"{b}.{what}.{x}" for b in ("case", "wheel") for what in ("position", "angular_velocity") for x in "xyz"]
    for name in (*names, "W.angle", "W.angle_rate", "S.force.x", "S.force.y", "S.force.z"):
        size = max(1.0, float(np.abs(body[name]).max()))
        np.testing.assert_allclose(network[name], body[name], rtol=0, atol=1e-8 * size, err_msg=name)
    assert network.energy().error < 1e-8
    np.testing.assert_allclose(network.energy().supplied, body.energy().supplied, rtol=0, atol=1e-8)


def on_a_cross(rotor: bool) -> ct.Model:
    """A body behind a universal joint, on a body that turns; a rotor on the second axis, or as much inertia."""
    parts: dict[str, Any] = {
        "base": {"kind": "rigid_body", "mass": 3.0, "inertia": [0.2, 0.3, 0.25], "centre": [0.1, 0.05, 0]},
        "S": {"kind": "spherical", "frame_a": "ground", "frame_b": "base", "angular_velocity": [0.7, 1.1, 0.5]},
        "U": {"kind": "universal", "frame_a": "base", "frame_b": "top", "angle_1_rate": 2.0, "angle_2_rate": 1.0},
        "top": {"kind": "rigid_body", "mass": 1.5, "inertia": [0.3, 0.32 if rotor else 0.52, 0.28]},
    }
    if rotor:
        parts["mount"] = {
            "kind": "rotational.axis", "nodes": ["shaft", "housing"], "on": "U", "coordinate": "angle_2",
        }  # fmt: skip
        parts["inertia"] = {"kind": "rotational.inertia", "nodes": ["shaft", "ground"], "inertia": 0.2}
    return ct.Model.from_mapping({"name": "cross", "gravity": [0, 0, -9.81], "components": parts})


def test_a_rotor_on_the_second_axis_of_a_universal_joint() -> None:
    """The cross turns this axis, so its gyroscopic moment is that of the body behind it."""
    body, network = (on_a_cross(rotor).simulate(0.4, times=[0, 0.2, 0.4], rtol=1e-11) for rotor in (False, True))
    for name in (f"{b}.angular_velocity.{x}" for b in ("base", "top") for x in "xyz"):
        np.testing.assert_allclose(network[name], body[name], rtol=0, atol=1e-8, err_msg=name)
    assert network.energy().error < 1e-8


@pytest.mark.parametrize(
    ("housing", "second", "words"),
    [
        ("ground", False, "'inertia' counts its speed from the body that carries 'W'"),
        ("housing", False, ""),
        ("housing", True, "'inertia' turns with mount, other, whose axes may differ"),
    ],
)
def test_what_does_not_count_in_full_is_noted(housing: str, second: bool, words: str) -> None:
    """An inertia on a moving body without a housing, or on two mounts."""
    data = as_network().to_data()
    parts = data["components"]
    parts["mount"]["nodes"] = ["shaft", housing]
    for port in ("primary", "secondary"):
        parts["gear"][port][1] = housing
    parts["drive"]["nodes"][0] = housing
    if second:
        parts["S"] = {"kind": "revolute", "frame_a": "ground", "frame_b": "case.foot"}
        parts["other"] = {"kind": "rotational.axis", "nodes": ["far", "foot"], "on": "S"}
        parts["shaft_2"] = {"kind": "rotational.shaft", "nodes": ["far", "rotor"], "stiffness": 10.0}
    notes = ct.Model.from_mapping(data).equations().notes
    found = [note for note in notes if note.startswith("'inertia'")]
    assert len(found) == bool(words)
    assert not words or found[0].startswith(words)
