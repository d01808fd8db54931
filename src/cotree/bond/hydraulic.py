"""Hydraulic parts of bond graphs: pressure is the effort, volume flow the flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca

from cotree.bond.domains import EffortNode, OnePort, TwoPort, needed, sheet, signal, value
from cotree.bond.elements import optional


class Node(EffortNode):
    """A 0 junction with one pressure."""

    kind = "bond.hydraulic.node"
    domain: ClassVar[str] = "hydraulic"  # type: ignore[misc]


class Part(OnePort):
    """A scalar hydraulic element."""

    domain: ClassVar[str] = "hydraulic"  # type: ignore[misc]


class Accumulator(Part):
    """Q = C dp/dt: an accumulator, or an open tank with C = area / (density * gravity)."""

    kind = "bond.hydraulic.accumulator"
    letter = "C"
    shapes = sheet(
        capacitance=value("m^3/Pa", "hydraulic capacitance", "C", "positive"),
        initial_pressure=value("Pa", "pressure at the start, 0 if not given"),
    )
    capacitance: Any = needed()
    initial_pressure: Any = optional()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": 1 / v["capacitance"], "start_conjugate": v.get("initial_pressure")}


class FluidInertia(Part):
    """p = I dQ/dt: the inertia of fluid in a line."""

    kind = "bond.hydraulic.fluid_inertia"
    letter = "I"
    shapes = sheet(
        inertance=value("Pa s^2/m^3", "density * length / area", "I", "positive"),
        initial_flow=value("m^3/s", "volume flow at the start, 0 if not given"),
    )
    inertance: Any = needed()
    initial_flow: Any = optional()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": v["inertance"], "start_conjugate": v.get("initial_flow")}


class Pipe(Part):
    """p = R Q: laminar flow."""

    kind = "bond.hydraulic.pipe"
    letter = "R"
    shapes = sheet(resistance=value("Pa s/m^3", "hydraulic resistance", "R", "positive"))
    resistance: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": v["resistance"]}


class Orifice(Part):
    """Q = c A sqrt(2 / density) p / (p^2 + p_0^2)^(1/4): turbulent flow, smooth around zero.

    For pressures well above the transition p_0 it is Q = c A sqrt(2 p / density); below it the flow is laminar.
    """

    kind = "bond.hydraulic.orifice"
    letter = "R"
    shapes = sheet(
        area=value("m^2", "area of the opening", "A", "positive"),
        discharge=value("", "discharge coefficient", "c", "positive"),
        density=value("kg/m^3", "density of the fluid", r"\rho", "positive"),
        transition_pressure=value("Pa", "pressure below which the flow is laminar", "p_0", "positive"),
    )
    area: Any = needed()
    discharge: Any = needed()
    density: Any = needed()
    transition_pressure: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        gain = v["discharge"] * v["area"] * ca.sqrt(2 / v["density"])
        least = v["transition_pressure"]
        return {"law": lambda p: gain * p / ca.sqrt(ca.sqrt(p**2 + least**2)), "gives": "flow"}


class PressureSource(Part):
    """p = pressure(t). Its result ``flow`` counts along its bond."""

    kind = "bond.hydraulic.pressure_source"
    letter = "Se"
    shapes = sheet(pressure=signal("Pa", "pressure that it sets"))
    pressure: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"value": v["pressure"]}


class FlowSource(Part):
    """Q = flow(t) along its bond."""

    kind = "bond.hydraulic.flow_source"
    letter = "Sf"
    shapes = sheet(flow=signal("m^3/s", "volume flow along its bond"))
    flow: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"value": v["flow"]}


class Piston(TwoPort):
    """u = Q / A and F = A p: a cylinder without leakage, from ``hydraulic`` (1) to ``translational`` (2)."""

    kind = "bond.hydraulic.piston"
    ends = ("hydraulic", "translational")
    domains = ("hydraulic", "translational")
    shapes = sheet(area=value("m^2", "piston area", "A", "non-zero"))
    area: Any = needed()

    def modulus_of(self, v: Mapping[str, ca.SX]) -> ca.SX:
        return 1 / v["area"]


class Pump(TwoPort):
    """Q = D w and T = D p: a pump without leakage, from ``rotational`` (1) to ``hydraulic`` (2)."""

    kind = "bond.hydraulic.pump"
    ends = ("rotational", "hydraulic")
    domains = ("rotational", "hydraulic")
    shapes = sheet(displacement=value("m^3/rad", "volume for each radian", "D", "non-zero"))
    displacement: Any = needed()

    def modulus_of(self, v: Mapping[str, ca.SX]) -> ca.SX:
        return v["displacement"]
