"""A4 and A15: pulses that are narrow in time, and forces that are narrow in position."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.integrate import quad

import cotree as ct
from faults.cases.judge import Case, decade, off, pick

SHAPES = {
    "gauss": ("exp(-({x})**2)", lambda x: np.exp(-(x**2)), math.sqrt(math.pi)),
    "sech": ("1/cosh({x})**2", lambda x: 1 / np.cosh(np.clip(x, -300, 300)) ** 2, 2.0),
    "bell": ("exp(-({x})**4)", lambda x: np.exp(-(x**4)), 1.8128049541109541),
}
"""Text, function and area of pulses of height 1 and width 1."""
REACH = 20.0
"""Widths from the centre beyond which a pulse is over."""


def pulse_in_time(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A short pulse into a storage with a leak, as current, force, heat, or as a force on a body."""
    where = ("electrical", "translational", "thermal", "body")[index % 4]
    shape = pick(rng, *SHAPES)
    text, function, area = SHAPES[shape]
    t_end = decade(rng, -3, 3)
    width = t_end * (decade(rng, -6.5, -5.2) if wrong else decade(rng, -2.0, -1.0))
    centre = t_end * rng.uniform(0.3, 0.6)
    capacity, impulse = decade(rng, -6, 3), decade(rng, -3, 3)
    decay = rng.uniform(0.3, 3.0) / t_end
    height = impulse / (area * width)
    law = f"{height!r}*" + text.format(x=f"(t-{centre!r})/{width!r}")
    leak = capacity * decay

    def run() -> Any:
        m = ct.Model("pulse", gravity=(0, 0, 0))
        if where == "electrical":
            m.add(ct.CurrentSource("S", ("ground", "a"), current=law))
            m.add(ct.Capacitor("C", ("a", "ground"), capacitance=capacity))
            m.add(ct.Resistor("R", ("a", "ground"), resistance=1 / leak))
        elif where == "translational":
            m.add(ct.translational.ForceSource("S", ("ground", "a"), force=law))
            m.add(ct.translational.Mass("C", ("a", "ground"), mass=capacity))
            m.add(ct.translational.Damper("R", ("a", "ground"), damping=leak))
        elif where == "thermal":
            m.add(ct.thermal.HeatSource("S", ("ground", "a"), heat_flow=law))
            m.add(ct.thermal.Capacity("C", ("a", "ground"), heat_capacity=capacity))
            m.add(ct.thermal.Resistance("R", ("a", "ground"), resistance=1 / leak))
        else:
            body = m.add(ct.RigidBody("C", ct.sphere(radius=1.0, mass=capacity)))
            m.add(ct.Prismatic("a", m.ground, body, axis=(1, 0, 0)))
            m.add(ct.PointForce("S", body, force=(law, 0, 0)))
            m.add(ct.JointDamper("R", on="a", damping=leak))
        return m.simulate(t_end, points=101)

    def value(t: float) -> float:
        low, high = centre - REACH * width, min(t, centre + REACH * width)
        if high <= low:
            return 0.0

        def part(s: float) -> float:
            return float(height * function((s - centre) / width) / capacity * np.exp(-decay * (t - s)))

        inner = [each for each in (centre - 2 * width, centre, centre + 2 * width) if low < each < high]
        return float(quad(part, max(low, 0.0), high, points=inner or None, epsabs=0, epsrel=1e-10, limit=200)[0])

    def error(sol: Any) -> float:
        name = {"electrical": "a.voltage", "translational": "a.velocity", "thermal": "a.temperature"}
        return off(sol[name.get(where, "a.displacement_rate")], [value(float(t)) for t in sol.t])

    return Case("A4", f"{where} {shape}, width {width / t_end:.0e} of the run", not wrong, run, error)


def pulse_in_position(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A force of the coordinate that is narrow, met at speed: the end speed follows from its work."""
    turning = index % 3 == 2
    shape = pick(rng, *SHAPES)
    text, _, area = SHAPES[shape]
    count = int(rng.integers(1, 3))
    travel, pace, mass = (6.0 if turning else decade(rng, -5, 3)), decade(rng, -2, 2), decade(rng, -6, 3)
    speed = travel / pace
    width = travel * (decade(rng, -4.5, -3.3) if wrong else rng.uniform(0.08, 0.15))
    centres = travel * (np.arange(count) + rng.uniform(0.4, 0.6)) / (count + 0.3)
    inertia = mass * travel**2 if turning else mass
    before = inertia * speed**2 / 2
    share = pick(rng, -1, 1) * rng.uniform(0.15, 0.4) / count
    force = share * before / (area * width)
    coordinate = "a.angle" if turning else "a.displacement"
    law = "+".join(f"{force!r}*" + text.format(x=f"({coordinate}-{float(c)!r})/{width!r}") for c in centres)
    law = law.replace("+-", "-")
    t_end = 1.15 * pace * (1.0 if share > 0 else 1.2)

    def run() -> Any:
        m = ct.Model("bump", gravity=(0, 0, 0))
        if turning:
            body = m.add(ct.RigidBody("b", mass=mass, inertia=(inertia, inertia, inertia)))
            m.add(ct.Revolute("a", m.ground, body, axis=(0, 0, 1), angle=0.0, angle_rate=speed))
        else:
            body = m.add(ct.RigidBody("b", ct.box(size=(travel, travel, travel), mass=mass)))
            m.add(ct.Prismatic("a", m.ground, body, axis=(1, 0, 0), displacement=0.0, displacement_rate=speed))
        m.add(ct.JointActuator("push", on="a", effort=law))
        return m.simulate(t_end, points=101)

    def error(sol: Any) -> float:
        from scipy.special import erf

        function = SHAPES[shape][1]
        x, v = sol[coordinate], sol[f"{coordinate}_rate"]
        work = np.zeros(len(x))
        for c in centres:
            if shape == "gauss":
                work += force * width * np.sqrt(np.pi) / 2 * (erf((x - c) / width) + erf(c / width))
            elif shape == "sech":
                work += force * width * (np.tanh((x - c) / width) + np.tanh(c / width))
            else:
                ends = (np.clip((x - c) / width, -4, 4), max(-c / width, -4.0))
                work += [force * width * quad(function, ends[1], float(each), epsrel=1e-11)[0] for each in ends[0]]
        # along the computed path the speed must follow from the work done up to there
        return off(v, np.sqrt(np.maximum(2 * (before + work) / inertia, 0.0)))

    word = "turning" if turning else "sliding"
    return Case("A15", f"{word}, {count} {shape}, width {width / travel:.0e} of the way", not wrong, run, error)
