"""The machines of `witness` as models: mechanism, network and control on one graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cotree as ct
from machines.witness import Arm, Cart, G, Lift, SliderCrank

DOWN = (0.0, -G, 0.0)
BLOCK = 1e-3
"""Moment of inertia of bodies that do not turn."""
Parts = dict[str, Any]


def of(name: str, components: Parts, **more: Any) -> ct.Model:
    """A model from plain data, as a model file holds it."""
    return ct.Model.from_mapping({"name": name, "gravity": list(DOWN), "components": components, **more})


def body(mass: float, inertia: float, **frames: float) -> Parts:
    """A body in the plane with frames along its x axis."""
    return {
        "kind": "rigid_body", "mass": mass, "inertia": [inertia] * 3,
        "frames": {name: [x, 0, 0] for name, x in frames.items()},
    }  # fmt: skip


def machine(
    name: str, terminal: str, rotor: str, housing: str, values: Mapping[str, float], whole: bool, datum: str = "ground"
) -> Parts:
    """A DC motor: one component, or the resistor, inductor, converter, inertia and damper that it stands for."""
    given = dict(values)
    if whole:
        ports = {"electrical": [terminal, "ground"], "shaft": [rotor, housing]}
        return {name: {"kind": "machines.dc_motor", **ports, **given}}
    inner, back = f"{name}_in", f"{name}_back"
    parts: Parts = {
        f"{name}_R": {"kind": "resistor", "nodes": [terminal, inner], "resistance": given["resistance"]},
        f"{name}_L": {"kind": "inductor", "nodes": [inner, back], "inductance": given["inductance"]},
        f"{name}_K": {
            "kind": "rotational_emf", "electrical": [back, "ground"], "rotational": [rotor, housing],
            "constant": given["constant"],
        },
    }  # fmt: skip
    if "inertia" in given:
        parts[f"{name}_J"] = {"kind": "rotational.inertia", "nodes": [rotor, datum], "inertia": given["inertia"]}
    if "damping" in given:
        parts[f"{name}_b"] = {"kind": "rotational.damper", "nodes": [rotor, housing], "damping": given["damping"]}
    return parts


def winding(name: str, whole: bool) -> str:
    """The result that is the current of such a motor."""
    return f"{name}.electrical.current" if whole else f"{name}_L.current"


def gear(primary: tuple[str, str], secondary: tuple[str, str], ratio: float) -> Parts:
    """A gear between two shafts."""
    return {"kind": "rotational.gear", "primary": list(primary), "secondary": list(secondary), "ratio": ratio}


# -- motor on a slider-crank -------------------------------------------------------------------------------------------


def crank_parts(w: SliderCrank) -> Parts:
    """The slider-crank alone, with a damper on the slider."""
    rod, _, _, slider, *_ = w.places(w.angle)
    return {
        "crank": body(w.m1, w.J1, O=-w.s1, A=w.r - w.s1),
        "rod": body(w.m2, w.J2, A=-w.s2, B=w.rod - w.s2),
        "slider": body(w.m3, BLOCK),
        "O": {
            "kind": "revolute", "frame_a": "ground", "frame_b": "crank.O", "angle": w.angle, "angle_rate": w.speed,
            "fixed": ["angle", "angle_rate"],
        },
        "A": {"kind": "revolute", "frame_a": "crank.A", "frame_b": "rod.A", "angle": rod - w.angle},
        "B": {"kind": "revolute", "frame_a": "rod.B", "frame_b": "slider"},
        "slide": {
            "kind": "prismatic", "frame_a": "ground", "frame_b": "slider", "axis": [1, 0, 0], "displacement": slider,
        },
        "damper": {"kind": "joint_damper", "on": "slide", "damping": w.c},
    }  # fmt: skip


def crank_drive(w: SliderCrank, voltage: str, whole: bool = True) -> Parts:
    """Source, motor and gear on the crank's joint."""
    values = {
        "resistance": w.resistance, "inductance": w.inductance, "constant": w.constant, "inertia": w.rotor,
        "damping": w.friction,
    }  # fmt: skip
    return {
        "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": voltage},
        **machine("motor", "a", "rotor", "ground", values, whole),
        "gear": gear(("rotor", "ground"), ("shaft", "ground"), w.gear),
        "mount": {"kind": "rotational.axis", "nodes": ["shaft", "ground"], "on": "O"},
    }


def slider_crank(w: SliderCrank, planar: bool = False, whole: bool = True) -> ct.Model:
    """The motor on the slider-crank under its PI controller.

    Without whole components the controller is an expression: the integral of the error follows from the angle.
    """
    by_hand = f"{w.p}*({w.target} - O.angle_rate) + {w.k}*({w.target}*t - O.angle + {w.angle})"
    parts = crank_parts(w) | crank_drive(w, "pi.value" if whole else by_hand, whole)
    if whole:
        parts["pi"] = {
            "kind": "control.pid", "setpoint": w.target, "measurement": "O.angle_rate", "p": w.p, "i": w.k,
        }  # fmt: skip
    return of("slider-crank", parts, planar=planar)


def sampled_slider_crank(w: SliderCrank, period: float, planar: bool = True) -> ct.Model:
    """The same under a PI controller that samples."""
    pi = {
        "kind": "control.sampled_pid", "setpoint": w.target, "measurement": "O.angle_rate", "p": w.p, "i": w.k,
        "period": period,
    }  # fmt: skip
    return of("sampled slider-crank", {**crank_parts(w), **crank_drive(w, "pi.value"), "pi": pi}, planar=planar)


# -- pendulum on a cart ------------------------------------------------------------------------------------------------


def cart(w: Cart, planar: bool = False, whole: bool = True, block: bool = False) -> ct.Model:
    """The pendulum on the cart with motor, gear and pinion; the feedback is an expression of results, or a block."""
    states = (
        "slide.displacement",
        "slide.displacement_rate",
        "hinge.angle",
        "hinge.angle_rate",
        winding("motor", whole),
    )
    gains = dict(zip(states, w.gains, strict=True))
    by_hand = " ".join(f"- ({gain!r})*{name}" for name, gain in gains.items())
    voltage = "feedback.value" if block else f"0 {by_hand}"
    values = {
        "resistance": w.resistance, "inductance": w.inductance, "constant": w.constant, "inertia": w.rotor,
        "damping": w.friction,
    }  # fmt: skip
    parts: Parts = {
        "cart": body(w.M, BLOCK),
        "pole": {"kind": "rigid_body", "mass": w.m, "inertia": [w.inertia] * 3, "frames": {"foot": [0, -w.h, 0]}},
        "slide": {
            "kind": "prismatic", "frame_a": "ground", "frame_b": "cart", "axis": [1, 0, 0], "displacement": w.x,
        },
        "hinge": {"kind": "revolute", "frame_a": "cart", "frame_b": "pole.foot", "angle": w.angle},
        "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": voltage},
        **machine("motor", "a", "rotor", "ground", values, whole),
        "gear": gear(("rotor", "ground"), ("shaft", "ground"), w.gear),
        "pinion": {
            "kind": "wheel", "translational": ["rack", "ground"], "rotational": ["shaft", "ground"],
            "radius": w.pinion,
        },
        "mount": {"kind": "translational.axis", "nodes": ["rack", "ground"], "on": "slide"},
        "drag": {"kind": "translational.damper", "nodes": ["rack", "ground"], "damping": w.c},
    }  # fmt: skip
    if block:
        parts["feedback"] = {"kind": "control.state_feedback", "gains": gains}
    return of("pendulum on a cart", parts, planar=planar)


# -- motor on a moving link --------------------------------------------------------------------------------------------


def arm(w: Arm, planar: bool = False, whole: bool = True) -> ct.Model:
    """Two links; the elbow's motor has its housing on the first link, the shoulder's has no inertia."""
    first = {"resistance": w.resistance1, "inductance": w.inductance1, "constant": w.constant1}
    second = {
        "resistance": w.resistance, "inductance": w.inductance, "constant": w.constant, "inertia": w.rotor,
        "damping": w.friction,
    }  # fmt: skip
    parts: Parts = {
        "upper": body(w.m1, w.J1, a=-w.s1, b=w.l1 - w.s1),
        "lower": body(w.m2, w.J2, a=-w.s2),
        "shoulder": {"kind": "revolute", "frame_a": "ground", "frame_b": "upper.a", "angle": w.A},
        "elbow": {"kind": "revolute", "frame_a": "upper.b", "frame_b": "lower.a", "angle": w.B},
        "V1": {"kind": "voltage_source", "nodes": ["a1", "ground"], "voltage": "10*sin(3*t)"},
        **machine("M1", "a1", "rotor1", "ground", first, whole),
        "gear1": gear(("rotor1", "ground"), ("shaft1", "ground"), w.gear1),
        "mount1": {"kind": "rotational.axis", "nodes": ["shaft1", "ground"], "on": "shoulder"},
        "V2": {"kind": "voltage_source", "nodes": ["a2", "ground"], "voltage": "6*tanh(10*t)"},
        **machine("M2", "a2", "rotor2", "housing", second, whole),
        "gear2": gear(("rotor2", "housing"), ("shaft2", "housing"), w.gear),
        "mount2": {"kind": "rotational.axis", "nodes": ["shaft2", "housing"], "on": "elbow"},
    }
    return of("arm with a motor on board", parts, planar=planar)


# -- hydraulic lift ----------------------------------------------------------------------------------------------------

LIFT = """
name: Lift
gravity: [0, -{g}, 0]
planar: {planar}
components:
  foot: {{kind: ground_frame, position: [{w.x0}, {w.y0}, 0]}}
  arm:
    kind: rigid_body
    mass: {w.mass}
    inertia: [{w.inertia}, {w.inertia}, {w.inertia}]
    centre: [{w.centre}, 0, 0]
    frames: {{lug: [{w.reach}, 0, 0]}}
  hinge: {{kind: revolute, frame_a: ground, frame_b: arm, angle: {w.angle}}}
  pump: {{kind: hydraulic.pressure_source, nodes: [p, ground], pressure: {w.supply}}}
  valve:
    kind: hydraulic.valve
    supply: p
    tank: ground
    a: a
    b: b
    opening: 0.9*sin(2.5*t)
    area: {w.valve_area}
    discharge: {w.discharge}
    density: {w.density}
    transition_pressure: {w.transition}
  cylinder:
    kind: hydraulic.cylinder
    head: [a, ground]
    rod: [b, ground]
    piston: [rod, ground]
    head_area: {w.area1}
    rod_area: {w.area2}
    stroke: {w.stroke}
    offset: {w.retracted}
    bulk_modulus: {w.bulk}
    dead_volume: {w.dead}
    leakage: {w.leak}
    stop_stiffness: 1e7
    stop_damping: 1e4
    initial_head: {w.p1}
    initial_rod: {w.p2}
  line: {{kind: translational.line, nodes: [rod, ground], frame_a: foot, frame_b: arm.lug}}
"""


def lift(w: Lift, folder: Path, planar: bool = False) -> ct.Model:
    """The arm with its cylinder and valve, read from a model file."""
    path = folder / "lift.yaml"
    path.write_text(LIFT.format(w=w, g=G, planar=str(planar).lower()), encoding="utf-8")
    return ct.Model.load(path)


def heated_arm(sampled: bool = False) -> ct.Model:
    """A motor with a gear on an arm, its voltage following the angle, and its winding heated by the resistor."""
    angle = "hold.value" if sampled else "O.angle"
    parts: Parts = {
        "arm": {"kind": "rigid_body", "mass": 1.3, "inertia": [0.1, 0.1, 0.11], "centre": [0.4, 0, 0]},
        "O": {"kind": "revolute", "frame_a": "ground", "frame_b": "arm", "axis": [0, 0, 1], "angle": 0.3},
        "axle": {"kind": "rotational.axis", "nodes": ["load", "ground"], "on": "O"},
        "gear": gear(("shaft", "ground"), ("load", "ground"), 20),
        "rotor": {"kind": "rotational.inertia", "nodes": ["shaft", "ground"], "inertia": 0.001},
        "emf": {
            "kind": "rotational_emf", "electrical": ["c", "ground"], "rotational": ["shaft", "ground"],
            "constant": 0.05,
        },
        "R": {"kind": "resistor", "nodes": ["a", "b"], "resistance": 1.2},
        "L": {"kind": "inductor", "nodes": ["b", "c"], "inductance": 0.003},
        "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": f"12*sin(2*t) - 3*{angle}"},
        "winding": {"kind": "thermal.capacity", "nodes": ["copper", "ground"], "heat_capacity": 50},
        "heat": {"kind": "thermal.loss", "nodes": ["copper", "ground"], "of": "R"},
        "cooling": {"kind": "thermal.resistance", "nodes": ["copper", "ground"], "resistance": 2},
    }  # fmt: skip
    if sampled:
        parts["hold"] = {"kind": "control.sample_hold", "input": "O.angle", "period": 0.01}
    return of("heated arm", parts, planar=True)
