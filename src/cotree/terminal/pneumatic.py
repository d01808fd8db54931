"""Pneumatic components: pressure over the atmosphere is across, volume flow at reference conditions is through.

The gas is ideal and stays at 20 degC. The datum is the atmosphere at p_0 = 100 kPa, and a flow q is counted as the
volume that it has there (ISO 8778). The power of a flow at the pressure p over the atmosphere is q p_0 ln(1 + p / p_0):
the work that the gas can do until it is at the atmosphere again. In laws, P = p + p_0 is the absolute pressure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from cotree.errors import ModelError
from cotree.model import PNEUMATIC, TRANSLATIONAL, Component, Port, Role, Signal, Value, quantity, signal
from cotree.terminal.absolute import Flow, two_ends
from cotree.terminal.hydraulic_cylinder import TwoChambers
from cotree.terminal.scalar import AcrossSource, AcrossStorage
from cotree.terminal.smooth import Opening, turbulent

ATMOSPHERE = PNEUMATIC.atmosphere or 0.0
"""p_0."""


def available_energy(volume: Any, pressure: Any) -> Any:
    """V (P ln(P / p_0) - P + p_0): what gas in a volume can do."""
    return volume * (PNEUMATIC.power(pressure, 1 + pressure / ATMOSPHERE) - pressure)


def check_pressures(part: Component, values: Mapping[str, float], *fields: str) -> None:
    """Refuse pressures at or below the vacuum."""
    for name in fields:
        if (value := values.get(name, 0.0)) <= -ATMOSPHERE:
            raise ModelError(
                f"the pressure is {value:g} Pa over the atmosphere",
                where=f"{part.name}.{name}",
                expected=f"above {-ATMOSPHERE:g} Pa, which is the vacuum",
            )


class Chamber(AcrossStorage):
    """q = V / p_0 dp/dt: gas in a fixed volume; ``initial`` in Pa."""

    ports = (Port(PNEUMATIC, Role.ACROSS_STORAGE),)
    from_datum = True
    volume: Value = quantity("m^3", "volume", symbol="V", range="positive")

    def check(self, values: Mapping[str, float]) -> None:
        check_pressures(self, values, "initial")

    def capacity(self, v: Any) -> Any:
        return v.volume / ATMOSPHERE

    def stored_energy(self, v: Any, *e: Any) -> Any:
        return available_energy(v.volume, e[0].across)


class Supply(AcrossSource):
    """p = pressure(t) over the atmosphere."""

    ports = (Port(PNEUMATIC, Role.ACROSS_SOURCE),)
    from_datum = True
    pressure: Signal = signal("Pa", "pressure over the atmosphere", measured=True)

    def check(self, values: Mapping[str, float]) -> None:
        check_pressures(self, values, "pressure")

    def signal(self, v: Any) -> Any:
        return v.pressure


class Orifice(Flow, Opening):
    """q = C P_1 sqrt(1 - ((P_2 / P_1 - b) / (1 - b))^2), and C P_1 (choked) where P_2 / P_1 is below b (ISO 6358).

    P_1 is the higher of the two absolute pressures. Where they are nearly equal the root is made smooth, so that the
    flow is laminar below the part ``transition`` of P_1; 0.001 changes q by less than 0.3 % where the pressures differ
    by more than one percent. A conductance below 0 counts as 0.
    """

    ports = two_ends(PNEUMATIC)
    opening = "conductance"
    conductance: Signal = signal("m^3/(s Pa)", "sonic conductance C", measured=True)
    critical_ratio: Value = quantity(
        "", "ratio of pressures below which it is choked", symbol="b", range="non-negative"
    )
    transition: Value = quantity(
        "", "difference of the pressures over P_1 below which the flow is laminar", range="positive"
    )

    def check(self, values: Mapping[str, float]) -> None:
        super().check(values)
        for name in ("critical_ratio", "transition"):
            if values[name] >= 1:
                raise ModelError(f"the value is {values[name]:g}", where=f"{self.name}.{name}", expected="below 1")

    def flow(self, v: Any, first: Any, second: Any) -> Any:
        from cotree.maths.symbolic import SYMBOLIC  # a model is built without loading CasADi

        least, most, size = SYMBOLIC["min"], SYMBOLIC["max"], SYMBOLIC["abs"]
        upper = most(first, second) + ATMOSPHERE
        y = least(most((first - second) / (upper * (1 - v.critical_ratio)), -1.0), 1.0)
        limit = 2 * v.transition / (1 - v.critical_ratio)
        root = turbulent(y * (2 - size(y)), limit) / turbulent(1.0, limit)
        return self.opened(v) * upper * root


class Pipe(Flow):
    """q = pi d^4 / (256 mu L p_0) (P_1^2 - P_2^2): laminar flow of gas in a round pipe or capillary.

    For tubes with turbulent flow use an orifice with the C and b of the tube.
    """

    ports = two_ends(PNEUMATIC)
    length: Value = quantity("m", "length", symbol="L", range="positive")
    diameter: Value = quantity("m", "inner diameter", symbol="d", range="positive")
    viscosity: Value = quantity("Pa s", "dynamic viscosity of the gas", symbol=r"\mu", range="positive")

    def flow(self, v: Any, first: Any, second: Any) -> Any:
        factor = math.pi * v.diameter**4 / (256 * v.viscosity * v.length * ATMOSPHERE)
        return factor * (first - second) * (first + second + 2 * ATMOSPHERE)


class Cylinder(TwoChambers):
    """p_0 q_1 = V_1 dp_1/dt + A_1 P_1 u + p_0 G (p_1 - p_2), p_0 q_2 = V_2 dp_2/dt - A_2 P_2 u - p_0 G (p_1 - p_2).

    u is the speed of the piston outwards. V_1 = V_d + A_1 s and V_2 = V_d + A_2 (stroke - s), with s = x - offset how
    far it is out; F = p_1 A_1 - p_2 A_2 and the stops push the ends of the ``piston`` port apart, and no stop pulls.
    """

    ports = (
        Port(PNEUMATIC, Role.ACROSS_STORAGE, "head"),
        Port(PNEUMATIC, Role.ACROSS_STORAGE, "rod"),
        Port(TRANSLATIONAL, Role.STATIC, "piston"),
    )
    from_datum = ("head", "rod")

    def check(self, values: Mapping[str, float]) -> None:
        super().check(values)
        check_pressures(self, values, "initial_head", "initial_rod")

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        volumes, u = self.volumes(v, e[2].position), e[2].across
        leak = v.leakage * (e[0].across - e[1].across)
        growths = (v.head_area * u, -v.rod_area * u)
        flows = [
            (volume * gas.d_across + growth * (gas.across + ATMOSPHERE)) / ATMOSPHERE
            for volume, growth, gas in zip(volumes, growths, e, strict=False)
        ]
        return [e[0].through - flows[0] - leak, e[1].through - flows[1] + leak, e[2].through + self.force(v, *e)]

    def stored_energy(self, v: Any, *e: Any) -> Any:
        volumes = self.volumes(v, e[2].position)
        gas = sum(available_energy(volume, edge.across) for volume, edge in zip(volumes, e, strict=False))
        return gas + sum(stop.energy for stop in self.stops(v, e[2]))

    def loss(self, v: Any, *e: Any) -> Any:
        leak = v.leakage * (e[0].across - e[1].across)
        leaked = PNEUMATIC.power(e[0].across, leak) - PNEUMATIC.power(e[1].across, leak)
        return leaked + sum(stop.loss for stop in self.stops(v, e[2]))
