"""Thermal components: temperature is across, heat flow is through.

The through variable is itself a power, so the energy balance counts heat: what flows in from sources is stored in the
capacities or leaves to the datum.
"""

from __future__ import annotations

from typing import Any

from cotree.model import THERMAL, Port, Role, Signal, Value, quantity, signal
from cotree.terminal.scalar import AcrossSource, AcrossStorage, Dissipator, ThroughSource


class Capacity(AcrossStorage):
    """Phi = C dT/dt, with the temperature counted from the datum; ``initial`` in K over the datum."""

    ports = (Port(THERMAL, Role.ACROSS_STORAGE),)
    from_datum = True
    heat_capacity: Value = quantity("J/K", "heat capacity", symbol="C", range="positive")

    def capacity(self, v: Any) -> Any:
        return v.heat_capacity

    def stored_energy(self, v: Any, *e: Any) -> Any:
        return v.heat_capacity * e[0].across


class Resistance(Dissipator):
    """T_plus - T_minus = R Phi: conduction or convection."""

    ports = (Port(THERMAL, Role.STATIC),)
    resistance: Value = quantity("K/W", "thermal resistance", symbol="R", range="positive")

    def resistance_of(self, v: Any) -> Any:
        return v.resistance


class TemperatureSource(AcrossSource):
    """T = temperature(t) of plus over minus."""

    ports = (Port(THERMAL, Role.ACROSS_SOURCE),)
    temperature: Signal = signal("K", "temperature of plus over minus")

    def signal(self, v: Any) -> Any:
        return v.temperature


class HeatSource(ThroughSource):
    """Phi = heat_flow(t) from plus through the source to minus: it heats the node ``minus``."""

    ports = (Port(THERMAL, Role.THROUGH_SOURCE),)
    heat_flow: Signal = signal("W", "heat flow into the node minus, out of plus")

    def signal(self, v: Any) -> Any:
        return v.heat_flow
