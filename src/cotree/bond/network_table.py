"""Which part of a bond graph stands for which component of a scalar network, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cotree.bond import electrical, hydraulic, rotational, thermal, translational
from cotree.bond.domains import MECHANICAL
from cotree.bond.elements import BondPart
from cotree.model import Component
from cotree.terminal import electrical as e
from cotree.terminal import hydraulic as h
from cotree.terminal import rotational as r
from cotree.terminal import thermal as t
from cotree.terminal import transducer as d
from cotree.terminal import translational as x


@dataclass(frozen=True)
class Pair:
    """A component of networks and the part of bond graphs for it, with the fields that mean the same."""

    component: type[Component]
    part: type[BondPart]
    fields: Mapping[str, str]


def _pair(component: type[Component], part: type[BondPart], *same: str, **renamed: str) -> Pair:
    return Pair(component, part, {**{name: name for name in same}, **renamed})


PAIRS = (
    _pair(e.Resistor, electrical.Resistor, "resistance"),
    _pair(e.Capacitor, electrical.Capacitor, "capacitance", initial="initial_voltage"),
    _pair(e.Inductor, electrical.Inductor, "inductance", initial="initial_current"),
    _pair(e.VoltageSource, electrical.VoltageSource, "voltage"),
    _pair(e.CurrentSource, electrical.CurrentSource, "current"),
    _pair(e.Diode, electrical.Diode, "saturation_current", "thermal_voltage", "leakage"),
    _pair(e.Switch, electrical.Switch, "closed", "on_resistance", "off_resistance"),
    _pair(e.Transformer, electrical.Transformer, "ratio"),
    _pair(e.Gyrator, electrical.Gyrator, "resistance"),
    _pair(
        e.MutualInductance, electrical.CoupledInductors,
        "primary_inductance", "secondary_inductance", "mutual", "initial_primary", "initial_secondary",
    ),
    _pair(x.Mass, translational.Mass, "mass", initial="initial_velocity"),
    _pair(x.Spring, translational.Spring, "stiffness", initial="initial_force"),
    _pair(x.Damper, translational.Damper, "damping"),
    _pair(x.VelocitySource, translational.VelocitySource, "velocity"),
    _pair(x.ForceSource, translational.ForceSource, "force"),
    _pair(x.Lever, translational.Lever, "ratio"),
    _pair(r.Inertia, rotational.Inertia, "inertia", initial="initial_speed"),
    _pair(r.Spring, rotational.TorsionSpring, "stiffness", initial="initial_torque"),
    _pair(r.Damper, rotational.RotaryDamper, "damping"),
    _pair(r.SpeedSource, rotational.SpeedSource, "speed"),
    _pair(r.TorqueSource, rotational.TorqueSource, "torque"),
    _pair(r.Gear, rotational.GearPair, "ratio"),
    _pair(h.Accumulator, hydraulic.Accumulator, "capacitance", initial="initial_pressure"),
    _pair(h.Inertance, hydraulic.FluidInertia, fluid_inertance="inertance", initial="initial_flow"),
    _pair(h.Resistance, hydraulic.Pipe, "resistance"),
    _pair(h.PressureSource, hydraulic.PressureSource, "pressure"),
    _pair(h.FlowSource, hydraulic.FlowSource, "flow"),
    _pair(t.Capacity, thermal.Capacity, "heat_capacity", initial="initial_temperature"),
    _pair(t.Resistance, thermal.Resistance, "resistance"),
    _pair(t.TemperatureSource, thermal.TemperatureSource, "temperature"),
    _pair(t.HeatSource, thermal.HeatSource, "heat_flow"),
    _pair(d.RotationalEMF, electrical.DCMotor, "constant"),
    _pair(d.TranslationalEMF, electrical.VoiceCoil, "constant"),
    _pair(d.Wheel, rotational.Pinion, "radius"),
    _pair(d.Piston, hydraulic.Piston, "area"),
)  # fmt: skip

PART_OF: Mapping[type[Component], Pair] = {pair.component: pair for pair in PAIRS}
COMPONENT_OF: Mapping[type[BondPart], Pair] = {pair.part: pair for pair in PAIRS}

NODES: Mapping[str, type[BondPart]] = {
    "electrical": electrical.Node,
    "translational": translational.Node,
    "rotational": rotational.Node,
    "hydraulic": hydraulic.Node,
    "thermal": thermal.Node,
}
"""The junction for a node of a network: 0 where the across variable is the effort, 1 where it is the flow."""

UNITY: Mapping[str, type[Component]] = {"electrical": e.Transformer, "translational": x.Lever, "rotational": r.Gear}
"""Ideal transformers of one domain, whose field is ``ratio``."""


def flow_is_across(domain: str) -> bool:
    """Whether networks have the flow of a bond across: velocities, with forces through (the mobility analogy)."""
    return domain in MECHANICAL
