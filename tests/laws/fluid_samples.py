"""Hydraulic, pneumatic and thermal components with values that go together."""

from __future__ import annotations

from typing import Any

AB = {"nodes": ["a", "b"]}
A0 = {"nodes": ["a", "ground"]}
HOLE = {"discharge": 0.6, "density": 870.0, "transition_pressure": 0.2}
PIPE = {**AB, "length": 2.0, "diameter": 0.3, "density": 870.0, "viscosity": 0.04}
PISTON = {
    "head": ("h", "ground"),
    "rod": ("r", "ground"),
    "piston": ("x", "c"),
    "head_area": 0.02,
    "rod_area": "0.012",
    "stroke": 0.5,
    "offset": -0.25,
    "dead_volume": "1 l",
    "leakage": 0.01,
    "stop_stiffness": 1e3,
    "stop_damping": 3.0,
}
START = {"initial_head": 0.3, "initial_rod": 0.2, "initial_position": 0.1}
VALVE = {"supply": "p", "tank": "ground", "a": "a", "b": "b", "area": 1e-5, **HOLE}
GAS = {"gas_volume": 0.3, "precharge": 0.01, "atmosphere": 2.5, "inlet_volume": 0.1, "bulk_modulus": 3.0}

FLUIDS: dict[str, list[dict[str, Any]]] = {
    "hydraulic.volume": [{**A0, "volume": "2 l", "bulk_modulus": 1.4, "initial": 0.1}],
    "hydraulic.tank": [
        {**A0, "area": 0.5, "density": 1000, "gravity": 9.81, "level": 2.0},
        {**A0, "area": 0.5, "density": 1000, "gravity": 9.81, "initial": "1 bar"},
    ],
    "hydraulic.gas_accumulator": [{**A0, **GAS, "exponent": 1.2, "initial": 0.1}, {**A0, **GAS, "exponent": 1}],
    "hydraulic.pipe": [
        {**PIPE, "roughness": 1e-5, "initial": 0.1},
        {**PIPE, "roughness": 0.0, "lumps": 2, "bulk_modulus": 5.0, "initial_pressure": 0.1, "datum": "ground"},
    ],
    "hydraulic.orifice": [{**AB, "area": 0.01, **HOLE}, {**AB, "area": "0.01*(1 + sin(t))", **HOLE}],
    "hydraulic.relief": [{**AB, "set_pressure": 0.3, "conductance": 2.0, "leakage": 0.01}],
    "hydraulic.check_valve": [{**AB, "cracking_pressure": 0.0, "conductance": 2.0}],
    "hydraulic.valve": [{**VALVE, "opening": 0.5}, {**VALVE, "opening": "2*sin(t)"}],
    "hydraulic.cylinder": [{**PISTON, "bulk_modulus": 5.0, **START}, {**PISTON, "bulk_modulus": 5.0}],
    "pneumatic.chamber": [{**A0, "volume": 0.5, "initial": "3 bar"}],
    "pneumatic.supply": [{**A0, "pressure": "6 bar"}],
    "pneumatic.orifice": [
        {**AB, "conductance": 2e-8, "critical_ratio": 0.3, "transition": 0.001, "datum": "ground"},
        {**A0, "conductance": "2e-8*t", "critical_ratio": 0.0, "transition": 0.001},
    ],
    "pneumatic.pipe": [{**AB, "length": 2.0, "diameter": 0.002, "viscosity": 1.8e-5}],
    "pneumatic.cylinder": [{**PISTON, **START}],
    "thermal.conduction": [{**AB, "conductivity": 0.8, "area": 2.0, "length": 0.2}],
    "thermal.convection": [{**AB, "coefficient": 12.0, "area": 2.0}, {**AB, "coefficient": "12 + t", "area": 2.0}],
    "thermal.radiation": [
        {**AB, "emissivity": 0.8, "area": 2.0, "datum_temperature": 293.15},
        {**A0, "emissivity": 1, "area": 2.0, "datum_temperature": "300 K", "datum": "ground"},
    ],
}
"""Values by kind."""

FLUIDS_HELD: dict[str, list[tuple[float, ...]]] = {
    "hydraulic.gas_accumulator": [(0,), (1,)],
    "hydraulic.relief": [(0,)],
    "hydraulic.check_valve": [(0,)],
    "hydraulic.valve": [(1, 0), (0, 0), (1, 1), (0, -1)],
    "hydraulic.cylinder": [(0, 0), (1, 0), (0, 2)],
    "pneumatic.cylinder": [(0, 0), (2, 0), (0, 1)],
}
"""Held values that a law must be right for."""
