"""Results of a nodal structure by name: nodes, bodies, forces of bars and cables, reactions and energies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from cotree.formulation.nodal.structure import NodalStructure, Row
from cotree.formulation.system import Output
from cotree.maths.rotation import quaternion_of
from cotree.maths.symbolic import elements
from cotree.terminal.nodal.base import XYZ, Held
from cotree.terminal.nodal.bodies import Body
from cotree.terminal.nodal.locks import Lock

PARAMETERS = ("e0", "e1", "e2", "e3")


def nodal_outputs(
    s: NodalStructure, rows: Sequence[Row], multipliers: Mapping[int, ca.SX], powers: Mapping[str, ca.SX]
) -> dict[str, Output]:
    """All outputs as expressions of t, q, u, u', multipliers, p and modes; ``multipliers`` by the number of the row."""
    result: dict[str, Output] = {}
    for k, name in enumerate(s.names):
        for what, values, unit in (("position", s.x, "m"), ("velocity", s.v, "m/s"), ("acceleration", s.a, "m/s^2")):
            if k < s.real or unit != "m/s^2":
                result |= _vector(f"{name}.{what}", values[k], unit)
    for name, form in s.bodies.items():
        result |= _vector(f"{name}.position", form.centre(s.x), "m")
        result |= _vector(f"{name}.velocity", form.centre(s.v), "m/s")
        turn = quaternion_of(form.rotation(s.x))
        result |= {f"{name}.orientation.{e}": Output(turn[k], "") for k, e in enumerate(PARAMETERS)}
        result |= _vector(f"{name}.omega", form.omega(s.x, s.v), "rad/s")
    forces: dict[str, list[ca.SX]] = {}
    for k, row in enumerate(rows):
        forces.setdefault(row.owner, []).append(multipliers.get(k, ca.SX(0)))
    for placed in s.parts:
        part = placed.part
        if isinstance(part, Held) and not isinstance(part, Body):
            force = ca.vertcat(*forces[part.name]) if part.name in forces else ca.SX.zeros(len(part.labels()))
            found = part.results(placed.v, placed.at, force)
        else:
            found = part.results(placed.v, placed.at) if hasattr(part, "results") else {}
        result |= {f"{part.name}.{what}": Output(ca.SX(value), unit) for what, (value, unit) in found.items()}
        if isinstance(part, Lock):
            rate = s.rate(part.measure(placed.v, placed.at))
            result[f"{part.name}.{part.word}_rate"] = Output(rate, f"{part.unit}/s")
    result |= {f"{name}.power": Output(power, "W") for name, power in powers.items()}
    result["kinetic_energy"] = Output(s.kinetic, "J")
    result["potential_energy"] = Output(s.potential, "J")
    return result


def _vector(name: str, value: ca.SX, unit: str) -> dict[str, Output]:
    return {f"{name}.{x}": Output(part, unit) for x, part in zip(XYZ, elements(ca.densify(value)), strict=True)}
