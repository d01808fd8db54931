"""Parts of a network on joints and lines against the same parts of the mechanism, and a motor on a driven joint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cotree as ct

Parts = dict[str, Any]
G = 9.81
TIMES = np.linspace(0.0, 0.6, 7)
PENDULUM: Parts = {
    "arm": {
        "kind": "rigid_body", "mass": 2.0, "inertia": [0.1, 0.1, 0.1], "centre": [0.5, 0, 0],
        "frames": {"p": [0.7, 0, 0]},
    },
    "O": {"kind": "revolute", "frame_a": "ground", "frame_b": "arm", "angle": -0.3},
    "peg": {"kind": "ground_frame", "position": [0.3, 0.8, 0]},
}  # fmt: skip
AXIS: Parts = {"mount": {"kind": "rotational.axis", "nodes": ["s", "ground"], "on": "O"}}
SCREWED: Parts = {
    "b": {"kind": "rigid_body", "mass": 2.0, "inertia": [0.1, 0.2, 0.3], "centre": [0.1, 0.05, 0.2]},
    "C": {
        "kind": "cylindrical", "frame_a": "ground", "frame_b": "b", "axis": [0, 1, 0.2], "displacement": 0.1,
        "angle": 0.2, "angle_rate": 3.0,
    },
}  # fmt: skip


def on_rails(mass: float) -> Parts:
    """A block on a block, both sliding along x, the lower one on a spring."""
    return {
        "a": {"kind": "rigid_body", "mass": 2.0, "inertia": [1, 1, 1]},
        "b": {"kind": "rigid_body", "mass": mass, "inertia": [1, 1, 1]},
        "P": {"kind": "prismatic", "frame_a": "ground", "frame_b": "a", "axis": [1, 0, 0]},
        "Q": {"kind": "prismatic", "frame_a": "a", "frame_b": "b", "axis": [1, 0, 0]},
        "spring": {"kind": "joint_spring", "on": "P", "stiffness": 9.0, "rest": 0.2},
    }


APART = float(np.hypot(0.7 * np.cos(-0.3) - 0.3, 0.7 * np.sin(-0.3) - 0.8))
"""The distance of the peg from the arm's frame at the start."""
PAIRS: dict[str, tuple[Parts, Parts, tuple[str, ...]]] = {
    "spring on a line": (
        PENDULUM
        | {
            "spring": {
                "kind": "spring", "frame_a": "peg", "frame_b": "arm.p", "stiffness": 40.0, "length": 0.5,
                "damping": 2.0,
            }
        },
        PENDULUM
        | {
            "k": {
                "kind": "translational.spring", "nodes": ["r", "ground"], "stiffness": 40.0,
                "initial": 40.0 * (APART - 0.5),
            },
            "d": {"kind": "translational.damper", "nodes": ["r", "ground"], "damping": 2.0},
            "line": {"kind": "translational.line", "nodes": ["r", "ground"], "frame_a": "peg", "frame_b": "arm.p"},
        },
        ("O.angle", "O.force.x", "O.force.y"),
    ),
    "torsion on a joint": (
        PENDULUM | {"s": {"kind": "joint_spring", "on": "O", "stiffness": 20.0, "rest": 0.1, "damping": 0.4}},
        PENDULUM
        | AXIS
        | {"k": {"kind": "rotational.shaft", "nodes": ["s", "ground"], "stiffness": 20.0, "damping": 0.4, "rest": 0.1}},
        ("O.angle", "O.force.x", "O.force.y"),
    ),
    "both coordinates of a joint": (
        SCREWED
        | {
            "turn": {"kind": "joint_actuator", "on": "C", "coordinate": "angle", "effort": "2*cos(t)"},
            "push": {
                "kind": "joint_actuator", "on": "C", "coordinate": "displacement",
                "effort": "30 - 20*C.displacement_rate",
            },
        },
        SCREWED
        | {
            "turning": {"kind": "rotational.axis", "nodes": ["s", "ground"], "on": "C"},
            "sliding": {"kind": "translational.axis", "nodes": ["r", "ground"], "on": "C"},
            "turn": {"kind": "rotational.torque_source", "nodes": ["ground", "s"], "torque": "2*cos(t)"},
            "push": {"kind": "translational.force_source", "nodes": ["ground", "r"], "force": 30.0},
            "drag": {"kind": "translational.damper", "nodes": ["r", "ground"], "damping": 20.0},
        },
        ("C.angle", "C.displacement", "C.force.x", "b.position.z"),
    ),
    "mass on a moving carrier": (
        on_rails(1.5) | {"push": {"kind": "joint_actuator", "on": "Q", "effort": "3*sin(2*t)"}},
        on_rails(1.0)
        | {
            "mass": {"kind": "translational.mass", "nodes": ["q", "ground"], "mass": 0.5},
            "mount": {"kind": "translational.axis", "nodes": ["q", "housing"], "on": "Q"},
            "push": {"kind": "translational.force_source", "nodes": ["housing", "q"], "force": "3*sin(2*t)"},
        },
        ("P.displacement", "Q.displacement"),
    ),
}  # fmt: skip


def model(parts: Parts) -> ct.Model:
    return ct.Model.from_mapping({"name": "mounted", "gravity": [0, -G, 0], "components": parts})


@pytest.mark.parametrize("name", PAIRS)
def test_a_part_on_a_mount_acts_like_the_part_of_the_mechanism(name: str) -> None:
    mechanical, mounted, names = PAIRS[name]
    left, right = (model(each).simulate(TIMES[-1], times=TIMES, rtol=1e-11) for each in (mechanical, mounted))
    for each in names:
        size = max(1.0, float(np.abs(left[each]).max()))
        np.testing.assert_allclose(right[each], left[each], rtol=0, atol=1e-8 * size, err_msg=each)
    assert right.energy().error < 1e-8


def test_a_motor_rigidly_on_a_driven_joint() -> None:
    """Its speed is given, so L i' + R i = U - K A' has a solution in closed form, and the driver takes up the rest."""
    R, L, K, J, U, a, w = 1.0, 0.01, 0.5, 0.02, 5.0, 0.2, 3.0
    parts = (
        PENDULUM
        | AXIS
        | {
            "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": U},
            "M": {
                "kind": "machines.dc_motor", "electrical": ["a", "ground"], "shaft": ["s", "ground"], "resistance": R,
                "inductance": L, "constant": K, "inertia": J,
            },
            "D": {"kind": "drive", "on": "O", "angle": f"{a}*sin({w}*t)"},
        }
    )  # fmt: skip
    sol = model(parts).simulate(TIMES[-1], times=TIMES, rtol=1e-11)
    steady = U / R - np.real(K * a * w * np.exp(1j * w * TIMES) / (R + 1j * w * L))
    current = steady - steady[0] * np.exp(-R / L * TIMES)
    np.testing.assert_allclose(sol["M.electrical.current"], current, rtol=0, atol=1e-8 * current.max())
    angle = a * np.sin(w * TIMES)
    torque = -(0.1 + 2.0 * 0.5**2 + J) * w**2 * angle + 2.0 * G * 0.5 * np.cos(angle) - K * current
    np.testing.assert_allclose(sol["D.torque"], torque, rtol=0, atol=1e-8 * np.abs(torque).max())
    assert sol.energy().error < 1e-8


@pytest.mark.parametrize("of", ["M", "f"])
def test_losses_heat_a_capacity_with_all_that_is_lost(of: str) -> None:
    """Copper loss of the motor, or friction of the joint: the capacity's energy is the integral of the loss."""
    parts = PENDULUM | AXIS | {
        "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": 5.0},
        "M": {
            "kind": "machines.dc_motor", "electrical": ["a", "ground"], "shaft": ["s", "ground"], "resistance": 1.0,
            "inductance": 0.01, "constant": 0.5, "inertia": 0.02,
        },
        "f": {"kind": "joint_damper", "on": "O", "damping": 0.5},
        "warm": {"kind": "thermal.loss", "of": of, "nodes": ["case", "ground"]},
        "block": {"kind": "thermal.capacity", "nodes": ["case", "ground"], "heat_capacity": 50.0},
    }  # fmt: skip
    times = np.linspace(0, 0.6, 601)
    sol = model(parts).simulate(times[-1], times=times, rtol=1e-11)
    power = 1.0 * sol["M.electrical.current"] ** 2 if of == "M" else 0.5 * sol["O.angle_rate"] ** 2
    step = times[1]
    simpson = step / 3 * (power[0] + 4 * power[1:-1:2].sum() + 2 * power[2:-1:2].sum() + power[-1])
    assert 50.0 * sol["case.temperature"][-1] == pytest.approx(simpson, rel=1e-6)
    assert sol.energy().error < 1e-8


def test_a_mass_on_a_turning_carrier_is_told_to_be_simplified() -> None:
    model = ct.Model("slide", planar=True)
    model.add(ct.RigidBody("arm", mass=2.0, inertia=(0.1, 0.1, 0.1)))
    model.add(ct.RigidBody("slide", mass=0.5, inertia=(0.01, 0.01, 0.01)))
    model.add(ct.Revolute("O", "ground", "arm"))
    model.add(ct.Prismatic("P", "arm", "slide", axis=(1, 0, 0), displacement=0.3))
    model.add(ct.translational.Axis("rail", ("s", "frame"), on="P"))
    model.add(ct.translational.Mass("m", ("s", "ground"), mass=1.0))
    notes = "\n".join(model.equations().notes)
    assert "'m' counts along the axis of rail alone" in notes
