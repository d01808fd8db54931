"""Hydraulic components: pressure is across, volume flow is through.

Pressures count from the datum, which is the air at the tank. Oil that boils below the vapour pressure is not part of
any law; a run notes where a pressure falls below the vacuum.
"""

from __future__ import annotations

from typing import Any

from cotree.model import HYDRAULIC, Port, Role, Signal, Value, quantity, signal
from cotree.terminal.hydraulic_cylinder import Cylinder
from cotree.terminal.hydraulic_pipe import Pipe
from cotree.terminal.hydraulic_spool import Spool
from cotree.terminal.hydraulic_stores import GasAccumulator, Tank, Volume
from cotree.terminal.hydraulic_valves import CheckValve, Orifice, Relief, Valve
from cotree.terminal.scalar import AcrossSource, AcrossStorage, Dissipator, ThroughSource, ThroughStorage

__all__ = [
    "Accumulator", "CheckValve", "Cylinder", "FlowSource", "GasAccumulator", "Inertance", "Orifice", "Pipe",
    "PressureSource", "Relief", "Resistance", "Spool", "Tank", "Valve", "Volume",
]  # fmt: skip


class Accumulator(AcrossStorage):
    """Q = C dp/dt: an accumulator, or an open tank with C = area / (density * gravity); ``initial`` in Pa."""

    ports = (Port(HYDRAULIC, Role.ACROSS_STORAGE),)
    capacitance: Value = quantity("m^3/Pa", "hydraulic capacitance", symbol="C", range="positive")

    def capacity(self, v: Any) -> Any:
        return v.capacitance


class Inertance(ThroughStorage):
    """p = I dQ/dt: the inertia of fluid in a line; ``initial`` in m^3/s."""

    ports = (Port(HYDRAULIC, Role.THROUGH_STORAGE),)
    fluid_inertance: Value = quantity(
        "Pa s^2/m^3", "fluid inertance: density * length / area", symbol="I", range="positive"
    )

    def inertance(self, v: Any) -> Any:
        return v.fluid_inertance


class Resistance(Dissipator):
    """p = R Q: laminar flow."""

    ports = (Port(HYDRAULIC, Role.STATIC),)
    resistance: Value = quantity("Pa s/m^3", "hydraulic resistance", symbol="R", range="positive")

    def resistance_of(self, v: Any) -> Any:
        return v.resistance


class PressureSource(AcrossSource):
    """p = pressure(t) of plus over minus."""

    ports = (Port(HYDRAULIC, Role.ACROSS_SOURCE),)
    pressure: Signal = signal("Pa", "pressure of plus over minus", measured=True)

    def signal(self, v: Any) -> Any:
        return v.pressure


class FlowSource(ThroughSource):
    """Q = flow(t) from plus through the source to minus: a pump from the node plus into the node ``minus``."""

    ports = (Port(HYDRAULIC, Role.THROUGH_SOURCE),)
    flow: Signal = signal("m^3/s", "volume flow into the node minus, out of plus", measured=True)

    def signal(self, v: Any) -> Any:
        return v.flow
