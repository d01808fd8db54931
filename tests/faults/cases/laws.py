"""A16, A17 and A19: kinks in drivers' laws, friction that creeps where it should hold, laws that give energy back."""

from __future__ import annotations

from typing import Any

import numpy as np

import cotree as ct
from faults.cases.judge import Array, Case, decade, off, pick, solved, worst

EARTH = 9.81


def kinked_driver(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A16: a driver whose speed jumps asks for an impulse that no result holds; the twins' speed is continuous."""
    kind = ("hoist", "slide", "turn", "place", "kinematics")[index % 5]
    size, mass, pace = decade(rng, -3, 2), decade(rng, -3, 3), decade(rng, -1, 1)
    stroke = 1.0 if kind in ("turn", "kinematics") else size * rng.uniform(0.2, 0.5)
    begin, end = float(rng.uniform(0.2, 0.4)) * pace, float(rng.uniform(0.6, 0.8)) * pace
    speed = float(stroke / (end - begin))
    if wrong:
        law = pick(
            rng,
            f"{speed!r}*(ramp(t-{begin!r})-ramp(t-{end!r}))",
            f"{speed!r}*max(0,min(t-{begin!r},{end - begin!r}))",
            f"{speed / 2!r}*(abs(t-{begin!r})-{begin!r})",
        )
    else:
        law = pick(rng, f"{speed / pace!r}*ramp(t-{begin!r})**2", f"{stroke / 2!r}*(1-cos({3 / pace!r}*t))")
    turning = kind in ("turn", "kinematics")
    moment = mass * size**2 * rng.uniform(0.5, 1.5)

    def run() -> Any:
        m = ct.Model(kind, gravity=(0, 0, -EARTH))
        if kind in ("hoist", "place"):
            load = m.add(ct.PointMass("load", mass=mass, position=(0, 0, -2 * size), velocity=(0, 0, 0)))
            if kind == "hoist":
                m.add(ct.FrameDrive("winch", m.ground, load, distance=f"{2 * size!r}-({law})"))
            else:
                m.add(ct.FrameDrive("winch", m.ground, load, x=0.0, y=0.0, z=f"{-2 * size!r}+({law})"))
        elif turning:
            body = m.add(ct.RigidBody("load", mass=mass, inertia=(moment, moment, moment)))
            m.add(ct.Revolute("J", m.ground, body, axis=(0, 1, 0)))
            m.add(ct.Drive("winch", on="J", angle=law))
        else:
            body = m.add(ct.RigidBody("load", ct.sphere(radius=size, mass=mass)))
            m.add(ct.Prismatic("J", m.ground, body, axis=(0, 0, 1)))
            m.add(ct.Drive("winch", on="J", displacement=law))
        return m.kinematics(pace, points=101) if kind == "kinematics" else m.simulate(pace, points=101)

    def error(sol: Any) -> float:
        t = sol.t
        if wrong:
            return 1.0  # the speed jumps by the whole of its range
        if "ramp" in law:
            way = speed / pace * np.maximum(t - begin, 0) ** 2
            push = 2 * speed / pace * (t > begin)
        else:
            way = stroke / 2 * (1 - np.cos(3 * t / pace))
            push = stroke / 2 * (3 / pace) ** 2 * np.cos(3 * t / pace)
        away = np.abs(t - begin) > 1e-9 * pace
        if turning:
            return worst(off(sol["J.angle"], way), off(sol["winch.torque"][away], moment * push[away]))
        height = sol["load.position.z"] + (2 * size if kind in ("hoist", "place") else 0.0)
        if kind == "slide":
            return worst(off(height, way), off(sol["winch.force"][away], mass * (push[away] + EARTH)))
        return off(height, way)

    return Case("A16", f"{kind}, {law[:36]}", not wrong, run, error, "kink", ("winch",))


def creeping_friction(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A17: a load below the friction level for long; the twins slide fast, or have no load."""
    turning = index % 2 == 1
    size, mass = decade(rng, -2, 1), decade(rng, -2, 3)
    inertia = mass * size**2 if turning else mass
    stretch = 1.0 if turning else size  # what counts as a visible way
    share = float(rng.uniform(0.3, 0.9))
    speed = pick(rng, 1e-3, stretch * decade(rng, -4, -3))
    level = mass * EARTH * (size if turning else 1.0)
    idle = not wrong and index % 4 >= 2
    load = 0.0 if idle else share * level if wrong else level * rng.uniform(2.0, 5.0)
    if wrong:
        t_end = float(rng.uniform(0.05, 0.5)) * stretch / (speed * float(np.arctanh(share)))
    else:
        t_end = float(np.sqrt(2 * 20 * stretch * inertia / level))
        speed = stretch / t_end * 1e-5

    def run() -> Any:
        m = ct.Model("friction", gravity=(0, 0, 0))
        body = m.add(ct.RigidBody("b", mass=mass, inertia=(inertia, inertia, inertia)))
        if turning:
            m.add(ct.Revolute("J", m.ground, body, axis=(0, 0, 1), angle=0.0, angle_rate=0.0))
        else:
            m.add(ct.Prismatic("J", m.ground, body, axis=(1, 0, 0), displacement=0.0, displacement_rate=0.0))
        m.add(ct.JointFriction("brake", on="J", level=level, speed=speed))
        m.add(ct.JointActuator("pull", on="J", effort=float(load)))
        stiff = {"integrator": "cvodes", "atol": 1e-9 * stretch} if wrong else {}
        return m.simulate(t_end, points=51, **stiff)

    def error(sol: Any) -> float:
        t = sol.t
        return off(sol["J.angle" if turning else "J.displacement"], max(load - level, 0) / inertia * t**2 / 2, stretch)

    word = "turning" if turning else "sliding"
    state = f"load {load / level:.1f} of the level"
    return Case("A17", f"{word}, {state}, {t_end:.0e} s", not wrong, run, error, "creep", ("brake",))


def returning_law(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A19: a law of elongation and rate that counts what it stores as lost, or that drives; the twins only lose."""
    mass, pace, size = decade(rng, -3, 3), decade(rng, -2, 1), decade(rng, -3, 1)
    k = mass / pace**2
    c = mass / pace * float(rng.uniform(0.02, 0.2))
    between = index % 2 == 1
    start = size * float(rng.uniform(0.3, 0.8))
    kind = pick(rng, "rope", "rope", "stiffening rope", "driving") if wrong else pick(rng, "linear", "cubic", "square")
    cube, square = c * (pace / size) ** 2, c * pace / size
    law = {
        "rope": f"max(0, {k!r}*x + {c!r}*v)",
        "stiffening rope": f"({k!r}*max(x,0) + {k / size**2!r}*max(x,0)**3)*(1 + {0.2 * pace / size!r}*v)",
        "driving": f"{k!r}*x - {c!r}*v",
        "linear": f"{k!r}*x + {c!r}*v",
        "cubic": f"{k!r}*x + {cube!r}*v**3",
        "square": f"{k!r}*x + {square!r}*v*abs(v)",
    }[kind]
    t_end = pace * float(rng.uniform(1.3, 3.0)) if "rope" in kind else pace * float(rng.uniform(6, 12))
    length = 3 * size

    def tension(x: float, v: float) -> tuple[float, float]:
        """The force, and the part of it that is stored."""
        if kind == "rope":
            return max(0.0, k * x + c * v), k * max(x, 0.0)
        if kind == "stiffening rope":
            held = k * max(x, 0.0) + k / size**2 * max(x, 0.0) ** 3
            return held * (1 + 0.2 * pace / size * v), held
        more = {"driving": -c * v, "linear": c * v, "cubic": cube * v**3, "square": square * v * abs(v)}[kind]
        return k * x + more, k * x

    def rates(_: float, y: Array) -> list[float]:
        pull, held = tension(y[0], y[1])
        return [y[1], -pull / mass, (pull - held) * y[1]]

    def run() -> Any:
        m = ct.Model("rope", gravity=(0, 0, 0))
        body = m.add(ct.RigidBody("b", ct.sphere(radius=size, mass=mass)))
        begin = start + (length if between else 0.0)
        m.add(ct.Prismatic("J", m.ground, body, axis=(1, 0, 0), displacement=begin, displacement_rate=0.0))
        if between:
            m.add(ct.Spring("rope", m.ground, body, length=length, law=law))
        else:
            m.add(ct.JointSpring("rope", on="J", law=law))
        return m.simulate(t_end, points=101)

    def error(sol: Any) -> float:
        whole = k * start**2 / 2
        tight = {"rtol": 1e-10, "atol": [1e-12 * size, 1e-12 * size / pace, 1e-12 * whole], "max_step": 0.02 * pace}
        x, _, lost = solved(rates, [start, 0.0, 0.0], sol.t, **tight)
        found = np.asarray(sol.energy().dissipated)
        back = float(np.max(np.maximum.accumulate(found) - found)) / whole  # what came back of what was lost
        away = sol["J.displacement"] - (length if between else 0.0)
        return worst(off(away, x), off(found, lost, whole), back)

    return Case("A19", f"{kind}, {'between frames' if between else 'on a joint'}, {size:.0e} m", not wrong, run, error)
