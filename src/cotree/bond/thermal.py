"""Thermal parts as pseudo-bonds: temperature is the effort, heat flow the flow.

Their product is no power: the heat flow is one itself. So energy audits count heat, and TF and GY to other domains have
no meaning here. Temperatures count from the datum.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca

from cotree.bond.domains import EffortNode, OnePort, needed, sheet, signal, value
from cotree.bond.elements import optional


class Node(EffortNode):
    """A 0 junction with one temperature."""

    kind = "bond.thermal.node"
    domain: ClassVar[str] = "thermal"  # type: ignore[misc]


class Part(OnePort):
    """A scalar thermal element."""

    domain: ClassVar[str] = "thermal"  # type: ignore[misc]


class Capacity(Part):
    """Phi = C dT/dt."""

    kind = "bond.thermal.capacity"
    letter = "C"
    shapes = sheet(
        heat_capacity=value("J/K", "heat capacity", "C", "positive"),
        initial_temperature=value("K", "temperature over the datum at the start, 0 if not given"),
    )
    heat_capacity: Any = needed()
    initial_temperature: Any = optional()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": 1 / v["heat_capacity"], "start_conjugate": v.get("initial_temperature")}


class Resistance(Part):
    """T = R Phi: conduction or convection."""

    kind = "bond.thermal.resistance"
    letter = "R"
    shapes = sheet(resistance=value("K/W", "thermal resistance", "R", "positive"))
    resistance: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": v["resistance"]}


class TemperatureSource(Part):
    """T = temperature(t)."""

    kind = "bond.thermal.temperature_source"
    letter = "Se"
    shapes = sheet(temperature=signal("K", "temperature over the datum that it sets"))
    temperature: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"value": v["temperature"]}


class HeatSource(Part):
    """Phi = heat_flow(t) along its bond."""

    kind = "bond.thermal.heat_source"
    letter = "Sf"
    shapes = sheet(heat_flow=signal("W", "heat flow along its bond"))
    heat_flow: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"value": v["heat_flow"]}
