"""A geared rotor on a body that turns freely in space: as an inertia of the network, and as a rigid body of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

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
