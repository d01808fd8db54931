"""A linear chain from voltage to load against its matrix exponential, as a network and mounted on a joint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm

import cotree as ct
from machines.models import machine

Array = NDArray[np.float64]
U, R, L, K = 24.0, 1.2, 8e-3, 0.12
J1, STIFFNESS, DAMPING, J2, N, J3, B3 = 6e-4, 35.0, 0.02, 4e-4, 6.0, 0.05, 0.3
TIMES = np.linspace(0.0, 0.6, 25)
REDUCED = J2 + J3 / N**2
SYSTEM = np.array(
    [
        [-R / L, -K / L, 0, 0, 0],
        [K / J1, -DAMPING / J1, -STIFFNESS / J1, DAMPING / J1, 0],
        [0, 1, 0, -1, 0],
        [0, DAMPING / REDUCED, STIFFNESS / REDUCED, -(DAMPING + B3 / N**2) / REDUCED, 0],
        [0, 0, 0, 1 / N, 0],
    ]
)
"""Rates of current, speed of the motor, twist, speed before the gear and angle after it."""


def exact() -> Array:
    """The states over time from rest, with the voltage as a constant sixth state."""
    whole = np.zeros((6, 6))
    whole[:5, :5], whole[0, 5] = SYSTEM, U / L
    return np.array([expm(whole * t)[:5, 5] for t in TIMES]).T


def chain(load: dict[str, Any], whole: bool) -> ct.Model:
    """Source, motor, shaft, wheel and gear; ``load`` is what the shaft ``out`` carries."""
    torsion: dict[str, Any] = {
        "shaft": {"kind": "rotational.shaft", "nodes": ["m", "g"], "stiffness": STIFFNESS, "damping": DAMPING}
    }
    if not whole:
        torsion = {
            "shaft_k": {"kind": "rotational.spring", "nodes": ["m", "g"], "stiffness": STIFFNESS},
            "shaft_d": {"kind": "rotational.damper", "nodes": ["m", "g"], "damping": DAMPING},
        }
    values = {"resistance": R, "inductance": L, "constant": K, "inertia": J1}
    parts = {
        "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": U},
        **machine("motor", "a", "m", "ground", values, whole),
        **torsion,
        "wheel": {"kind": "rotational.inertia", "nodes": ["g", "ground"], "inertia": J2},
        "gear": {"kind": "rotational.gear", "primary": ["g", "ground"], "secondary": ["out", "ground"], "ratio": N},
        **load,
    }
    return ct.Model.from_mapping({"name": "chain", "components": parts})


LOAD = {
    "load": {"kind": "rotational.inertia", "nodes": ["out", "ground"], "inertia": J3},
    "bearing": {"kind": "rotational.damper", "nodes": ["out", "ground"], "damping": B3},
}
MOUNTED = {
    "drum": {"kind": "rigid_body", "mass": 3.0, "inertia": [0.04, 0.04, J3]},
    "axle": {"kind": "revolute", "frame_a": "ground", "frame_b": "drum"},
    "mount": {"kind": "rotational.axis", "nodes": ["out", "ground"], "on": "axle"},
    "bearing": {"kind": "joint_damper", "on": "axle", "damping": B3},
}
TILTED = MOUNTED | {
    "drum": {"kind": "rigid_body", "mass": 3.0, "inertia": [J3, 0.04, 0.04]},
    "axle": {"kind": "revolute", "frame_a": "ground", "frame_b": "drum", "axis": [1, 0, 0]},
    "bearing": {"kind": "rotational.damper", "nodes": ["out", "ground"], "damping": B3},
}
"""About another axis, and with the bearing in the network."""


def agree(sol: ct.Solution, current: str) -> None:
    """Every state to 1e-8 of its largest size."""
    states = dict(
        zip((current, "m.angular_velocity", "twist", "g.angular_velocity", "out.angle"), exact(), strict=True)
    )
    twist = states.pop("twist")
    torque = STIFFNESS * twist + DAMPING * (states["m.angular_velocity"] - states["g.angular_velocity"])
    states["shaft.torque"] = torque
    for name, right in states.items():
        if name == "shaft.torque" and name not in sol.names:
            found = sol["shaft_k.torque"] + sol["shaft_d.torque"]
        else:
            found = sol[name if name in sol.names else "axle.angle"]
        np.testing.assert_allclose(found, right, rtol=0, atol=1e-8 * np.abs(right).max(), err_msg=name)


@pytest.mark.parametrize("load", [LOAD, MOUNTED, TILTED], ids=["network", "joint", "tilted"])
@pytest.mark.parametrize("whole", [False, True], ids=["parts", "motor"])
def test_chain_equals_its_matrix_exponential(load: dict[str, Any], whole: bool) -> None:
    model = chain(load, whole)
    sol = model.simulate(TIMES[-1], times=TIMES, rtol=1e-11)
    agree(sol, "motor.electrical.current" if whole else "motor_L.current")
    assert sol.energy().error < 1e-8


@pytest.mark.parametrize("load", [LOAD, MOUNTED], ids=["network", "joint"])
def test_poles_of_the_chain(load: dict[str, Any]) -> None:
    """The angle of the load adds a pole at zero where a joint has it as a state."""
    found = chain(load, True).linearise().poles()
    right = np.linalg.eigvals(SYSTEM if "mount" in load else SYSTEM[:4, :4])
    for pole in right:
        assert np.min(np.abs(found - pole)) < 1e-8 * max(1.0, abs(pole))
    assert len(found) == len(right)
