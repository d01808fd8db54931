"""Thermal components: temperature is across, heat flow is through.

The through variable is itself a power, so the energy balance counts heat: what flows in from sources is stored in the
capacities or leaves to the datum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from cotree.errors import ModelError
from cotree.model import THERMAL, Port, Role, Signal, Value, quantity, signal
from cotree.model.form import said
from cotree.terminal.absolute import Flow, two_ends
from cotree.terminal.scalar import AcrossSource, AcrossStorage, Dissipator, OnePort, ThroughSource
from cotree.terminal.smooth import Opening

STEFAN_BOLTZMANN = 5.670374419e-8
"""W/(m^2 K^4), exact in the SI of 2019 to these digits."""


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
    """T_plus - T_minus = R Phi: conduction or convection by its resistance alone."""

    ports = (Port(THERMAL, Role.STATIC),)
    resistance: Value = quantity("K/W", "thermal resistance", symbol="R", range="positive")

    def resistance_of(self, v: Any) -> Any:
        return v.resistance


class Conduction(OnePort):
    """Phi = k A / L (T_plus - T_minus): a wall, or a rod."""

    ports = (Port(THERMAL, Role.STATIC),)
    conductivity: Value = quantity("W/(m K)", "thermal conductivity", symbol="k", range="positive")
    area: Value = quantity("m^2", "area that the heat passes", symbol="A", range="positive")
    length: Value = quantity("m", "way of the heat", symbol="L", range="positive")

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        return [e[0].through - v.conductivity * v.area / v.length * e[0].across]


class Convection(Opening):
    """Phi = h A (T_plus - T_minus), from a surface at plus to a fluid at minus; h below 0 counts as 0."""

    ports = (Port(THERMAL, Role.STATIC),)
    opening = "coefficient"
    coefficient: Signal = signal("W/(m^2 K)", "heat transfer coefficient h", measured=True)
    area: Value = quantity("m^2", "area of the surface", symbol="A", range="positive")

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        return [e[0].through - self.opened(v) * v.area * e[0].across]


class Radiation(Flow):
    """Phi = epsilon sigma A ((T_plus + T_0)^4 - (T_minus + T_0)^4), with T_0 the absolute temperature of the datum.

    epsilon holds for both surfaces and how they see each other: 1 / (1 / e_1 + 1 / e_2 - 1) for two large plates, the
    emissivity of the surface for a small body in large surroundings.
    """

    ports = two_ends(THERMAL)
    emissivity: Value = quantity("", "effective emissivity, up to 1", symbol=r"\epsilon", range="positive")
    area: Value = quantity("m^2", "area of the surface", symbol="A", range="positive")
    datum_temperature: Value = quantity("K", "absolute temperature of the datum", symbol="T_0", range="positive")

    def check(self, values: Mapping[str, float]) -> None:
        if values["emissivity"] > 1:
            where = f"{self.name}.emissivity"
            raise ModelError(f"the emissivity is {values['emissivity']:g}", where=where, expected="above 0, up to 1")

    def flow(self, v: Any, first: Any, second: Any) -> Any:
        hot, cold = first + v.datum_temperature, second + v.datum_temperature
        return v.emissivity * STEFAN_BOLTZMANN * v.area * (hot**4 - cold**4)


class TemperatureSource(AcrossSource):
    """T = temperature(t) of plus over minus."""

    ports = (Port(THERMAL, Role.ACROSS_SOURCE),)
    temperature: Signal = signal("K", "temperature of plus over minus", measured=True)

    def signal(self, v: Any) -> Any:
        return v.temperature


class HeatSource(ThroughSource):
    """Phi = heat_flow(t) from plus through the source to minus: it heats the node ``minus``."""

    ports = (Port(THERMAL, Role.THROUGH_SOURCE),)
    heat_flow: Signal = signal("W", "heat flow into the node minus, out of plus", measured=True)

    def signal(self, v: Any) -> Any:
        return v.heat_flow


class Loss(OnePort):
    """Phi = -P, with P the power that the component ``of`` turns into heat: it heats the node ``plus``.

    ``minus`` is the datum. It serves resistors, dampers, friction, clutches and brakes, and machines without a thermal
    port of their own. The power appears as dissipated in the domain of the component and as received by the heat.
    """

    ports = (Port(THERMAL, Role.STATIC),)
    from_datum = True
    of: str = field(metadata={**said("component whose losses heat the node plus"), "refers": True}, kw_only=True)

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        return [e[0].through + v.power]  # the formulation gives the power that the other component dissipates
