"""Components of networks whose fields need values that go together; the others take any positive numbers."""

from __future__ import annotations

from typing import Any

from laws.fluid_samples import FLUIDS, FLUIDS_HELD

HOT = {"thermal": ("case", "ground")}
P, S = ("p", "n"), ("s", "h")
DC = {"electrical": P, "shaft": S, "resistance": 0.5, "constant": 0.07}
COIL = {"electrical": P, "coil": S, "resistance": 0.5, "constant": 3.0}
FIELD = {
    "armature": P,
    "field": ("f", "n"),
    "shaft": S,
    "armature_resistance": 0.5,
    "field_resistance": 90.0,
    "constant": 0.8,
}
DQ = {
    "d": P,
    "q": ("q", "n"),
    "shaft": S,
    "pole_pairs": 4,
    "resistance": 0.3,
    "d_inductance": 0.002,
    "q_inductance": 0.003,
    "flux": 0.12,
}
MAGNET = {"electrical": P, "plunger": S, "resistance": 5.0}
TURNING = {"hydraulic": P, "shaft": S, "displacement": 1e-5}
PULLEYS = {"primary": P, "secondary": S, "primary_radius": 0.1, "secondary_radius": -0.3}
AB = {"nodes": ["a", "b"]}
STOP = {**AB, "stiffness": 1e3}
RUB = {"static": 1.4, "stribeck": 0.2, "viscous": 0.3}

DRIVES: dict[str, list[dict[str, Any]]] = {
    "machines.dc_motor": [
        {**DC, "inductance": 0.01, "inertia": 1e-3, "damping": 0.2, "initial_current": 1.5, "initial_speed": -2, **HOT},
        {**DC, "inertia": 1e-3, "datum": "ground"},
        {**DC, "inductance": "2 mH", "damping": 0.1},
        {**DC, **HOT},
    ],
    "machines.voice_coil": [
        {
            **COIL,
            "inductance": 0.01,
            "mass": 0.2,
            "damping": 0.2,
            "initial_current": 1.5,
            "initial_velocity": -2,
            **HOT,
        },
        {**COIL, "damping": 2},
    ],
    "machines.excited_motor": [
        {
            **FIELD,
            "armature_inductance": 0.01,
            "field_inductance": 2.0,
            "inertia": 0.1,
            "damping": 0.2,
            "initial_armature": 1.0,
            "initial_field": 0.5,
            "initial_speed": 3.0,
            **HOT,
        },
        {**FIELD, "field_inductance": 2.0},
        {**FIELD},
    ],
    "machines.synchronous": [
        {**DQ, "inertia": 0.01, "damping": 0.1, "initial_d": -1.0, "initial_q": 2.0, "initial_speed": 10.0, **HOT},
        {**DQ},
    ],
    "machines.solenoid": [
        {
            **MAGNET,
            "inductance": 0.2,
            "gap": 0.004,
            "mass": 0.1,
            "damping": 0.4,
            "position": 0.003,
            "initial_current": 0.1,
            "initial_velocity": 1.0,
            **HOT,
        },
        {**MAGNET, "inductance_law": "k*exp(-x/0.01) + 0.02"},
    ],
    "machines.pump": [
        {**TURNING, "leakage": 1e-12, "damping": 0.01, "inertia": 0.002, "stroke": 0.5, "initial_speed": 1.0, **HOT},
        {**TURNING, "stroke": "min(1, t)"},
    ],
    "machines.hydraulic_motor": [{**TURNING, "leakage": 1e-12, "damping": 0.01}],
    "rotational.belt": [{**PULLEYS}, {**PULLEYS, "stiffness": 1e4, "damping": 20.0, "offset": 0.01}],
    "rotational.shaft": [{**AB, "stiffness": 50.0, "damping": 0.3, "rest": 0.1, "angle": 0.2}],
    "rotational.clutch": [{**AB, "torque": 5.0, "static": 1.2}, {**AB, "torque": "5*step(t - 1)"}],
    "rotational.brake": [{**AB, "torque": 5.0, "static": 1.2}],
    "rotational.friction": [{**AB, "torque": 5.0, **RUB}],
    "rotational.end_stop": [
        {**STOP, "lower": -1e-4, "upper": 2e-4, "damping": 3, "position": 1e-5},
        {**STOP, "upper": 0},
    ],
    "translational.brake": [{**AB, "force": 5.0, "static": 1.2}],
    "translational.friction": [{**AB, "force": 5.0, **RUB}, {**AB, "force": 5.0}],
    "translational.end_stop": [
        {**STOP, "lower": -1e-4, "upper": 2e-4, "damping": 3, "position": 1e-5},
        {**STOP, "lower": 0},
    ],
    "ideal_diode": [{**AB, "on_resistance": 0.01, "off_resistance": 1e6, "forward_voltage": 0.6}],
    "thermal.loss": [{"nodes": ["case", "ground"], "of": "R1"}],
}

MOUNTS: dict[str, list[dict[str, Any]]] = {
    "rotational.axis": [{**AB, "on": "J", "coordinate": "angle"}, {**AB, "on": "J"}],
    "translational.axis": [{**AB, "on": "J"}],
    "translational.line": [{**AB, "frame_a": "crank.p", "frame_b": "ground"}],
}

SAMPLES: dict[str, list[dict[str, Any]]] = {**DRIVES, **FLUIDS, **MOUNTS}
"""Values by kind."""
HELD: dict[str, list[tuple[float, ...]]] = {
    "ideal_diode": [(0,), (1,)],
    "rotational.end_stop": [(0, 0), (1, 0), (0, 1)],
    "translational.end_stop": [(0, 0), (1, 0), (0, 1)],
    **FLUIDS_HELD,
}
"""Held values that a law must be right for; elsewhere those at the start."""
