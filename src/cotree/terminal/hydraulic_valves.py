"""Openings that oil flows through: orifice, relief and check valve, proportional valve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from cotree.model import HYDRAULIC, Component, Port, Role, Signal, Value, quantity, signal
from cotree.model.form import said
from cotree.model.switching import SwitchLaw
from cotree.terminal.scalar import OnePort
from cotree.terminal.smooth import Opening, from_turbulent, turbulent


class Orifice(Opening):
    """Q = c A sqrt(2 / rho) p / (p^2 + p_t^2)^(1/4): turbulent flow, laminar well below the transition p_t.

    Above it Q is c A sqrt(2 p / rho) less a part of about (p_t / p)^2 / 4: 0.25 % at ten times p_t. An area below 0
    counts as 0.
    """

    ports = (Port(HYDRAULIC, Role.STATIC),)
    kind = "hydraulic.orifice"
    opening = "area"
    area: Signal = signal("m^2", "area of the opening", measured=True)
    discharge: Value = quantity("", "discharge coefficient", symbol="c", range="positive")
    density: Value = quantity("kg/m^3", "density of the fluid", symbol=r"\rho", range="positive")
    transition_pressure: Value = quantity(
        "Pa", "pressure below which the flow is laminar", symbol="p_t", range="positive"
    )

    def inverse_law(self, v: Any, *e: Any) -> Sequence[Any]:
        root = e[0].through / (self.opened(v) * v.discharge * (2 / v.density) ** 0.5)
        return [e[0].across - from_turbulent(root, v.transition_pressure)]

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        speed = v.discharge * (2 / v.density) ** 0.5 * turbulent(e[0].across, v.transition_pressure)
        return [e[0].through - self.opened(v) * speed]


class OpensAbove(OnePort):
    """Closed up to a pressure, and open in proportion to what is above it."""

    holding = ("open",)
    conductance: Value = quantity("m^3/(s Pa)", "flow for each pascal above it", symbol="G", range="positive")
    leakage: Value = quantity(
        "m^3/(s Pa)",
        "flow for each pascal through the closed valve",
        symbol="G_0",
        range="non-negative",
        default=0.0,
        kw_only=True,
    )

    def opening_pressure(self, v: Any) -> Any:
        """The pressure at which it opens."""
        raise NotImplementedError

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        p = e[0].across
        return [e[0].through - v.open * v.conductance * (p - self.opening_pressure(v)) - v.leakage * p]

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        over = e[0].across - self.opening_pressure(v)
        return (
            SwitchLaw("opens", (1 - v.open) * over, {"open": 1.0}),
            SwitchLaw("closes", -v.open * over, {"open": 0.0}),
        )


class Relief(OpensAbove):
    """Q = G (p - p_s) where p of plus over minus is above p_s, and 0 below; a leakage G_0 p comes on top."""

    ports = (Port(HYDRAULIC, Role.STATIC),)
    kind = "hydraulic.relief"
    set_pressure: Value = quantity("Pa", "pressure at which it opens", symbol="p_s", range="positive")

    def opening_pressure(self, v: Any) -> Any:
        return v.set_pressure


class CheckValve(OpensAbove):
    """Q = G (p - p_c) from plus to minus where p is above p_c, and 0 below; a leakage G_0 p comes on top."""

    ports = (Port(HYDRAULIC, Role.STATIC),)
    kind = "hydraulic.check_valve"
    cracking_pressure: Value = quantity("Pa", "pressure at which it opens", symbol="p_c", range="non-negative")

    def opening_pressure(self, v: Any) -> Any:
        return v.cracking_pressure


class Valve(Component):
    """Four metering edges of a proportional valve (4/3): Q = c A |y| sqrt(2 / rho) p / (p^2 + p_t^2)^(1/4) in each.

    ``opening`` y above 0 joins the supply with a and b with the tank, below 0 the supply with b and a with the tank;
    at 0 all are closed. Beyond -1 and 1 it counts as -1 and 1. For a spool with its own motion give the result of a
    `hydraulic.spool`.
    """

    ports = tuple(Port(HYDRAULIC, Role.STATIC, label) for label in ("supply_a", "a_tank", "supply_b", "b_tank"))
    kind = "hydraulic.valve"
    holding = ("forward", "end")
    supply: str = field(metadata=said("node of the supply"))
    tank: str = field(metadata=said("node of the tank"))
    a: str = field(metadata=said("node that the supply feeds where the opening is positive"))
    b: str = field(metadata=said("node that the supply feeds where the opening is negative"))
    opening: Signal = signal("", "opening from -1 to 1", measured=True)
    area: Value = quantity("m^2", "area of each opening at 1", symbol="A", range="positive")
    discharge: Value = quantity("", "discharge coefficient", symbol="c", range="positive")
    density: Value = quantity("kg/m^3", "density of the oil", symbol=r"\rho", range="positive")
    transition_pressure: Value = quantity(
        "Pa", "pressure below which the flow is laminar", symbol="p_t", range="positive"
    )

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return (self.supply, self.a), (self.a, self.tank), (self.supply, self.b), (self.b, self.tank)

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        opening = (1 - v.end**2) * v.opening + v.end
        flow = v.area * v.discharge * (2 / v.density) ** 0.5
        ahead, back = v.forward * opening, (v.forward - 1) * opening
        metered = zip(e, (ahead, back, back, ahead), strict=True)
        return [edge.through - y * flow * turbulent(edge.across, v.transition_pressure) for edge, y in metered]

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        y, inside = v.opening, 1 - v.end**2
        at_upper, at_lower = v.end * (v.end + 1) / 2, v.end * (v.end - 1) / 2
        return (
            SwitchLaw("opens_forward", (1 - v.forward) * y, {"forward": 1.0}),
            SwitchLaw("opens_backward", -v.forward * y, {"forward": 0.0}),
            SwitchLaw("reaches_upper_end", inside * (y - 1), {"end": 1.0}),
            SwitchLaw("reaches_lower_end", -inside * (y + 1), {"end": -1.0}),
            SwitchLaw("leaves_upper_end", at_upper * (1 - y), {"end": 0.0}),
            SwitchLaw("leaves_lower_end", at_lower * (1 + y), {"end": 0.0}),
        )
