"""A11 and A14: gravity that nobody asked for, and loads across the plane of a planar model that do nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import cotree as ct
from cotree.bond.mechanics import Body, Ground, RevoluteJoint
from faults.cases.judge import Array, Case, decade, off, pick, solved, worst

SLIM = 0.05
EARTH = 9.81


def about_end(mass: float, length: float) -> float:
    """Inertia of a rod about its end, across it."""
    return mass * length**2 * (1 / 3 + SLIM**2 / 4)


def swing(mass: float, length: float, torque: Callable[[float, float], float], start: Array, times: Array) -> Array:
    """The angle of a rod that turns about its end under a torque of time and angle."""
    inertia = about_end(mass, length)
    return solved(lambda t, y: [y[1], torque(t, y[0]) / inertia], list(start), times)[0]


def with_gravity(given: tuple[float, float, float] | None) -> dict[str, Any]:
    """The argument of a model: none where gravity is not mentioned."""
    return {} if given is None else {"gravity": given}


def default_gravity(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A11: five analyses of a body without a word on gravity; the twins give it, as zero or as a vector along z."""
    kind = ("pendulum", "fall", "statics", "kinematics", "modes", "masks")[index % 6]
    length, mass = decade(rng, -3, 2), decade(rng, -3, 3)
    g = 0.0 if wrong else pick(rng, 0.0, EARTH, float(rng.uniform(1, 20)))
    if kind == "modes" and not wrong:
        g = max(g, 1.0)  # without gravity there is nothing that swings
    given = None if wrong else (0.0, 0.0, -g)
    angle, rate = float(rng.uniform(-1, 1)), float(rng.uniform(0.5, 2)) * float(np.sqrt(EARTH / length))
    pace = float(np.sqrt(length / EARTH))
    sag = length * rng.uniform(0.1, 0.5)
    stiffness = mass * EARTH / sag
    shape = ct.rod(length=length, mass=mass, radius=SLIM * length)
    t_end = 3 * pace

    def run() -> Any:
        m = ct.Model(kind, **with_gravity(given))
        frames = {"end": (-length / 2, 0, 0)}
        if kind == "masks":
            across = mass * length**2 * (1 / 12 + SLIM**2 / 4)
            m.add(Ground("G"))
            m.add(Body("b", mass=mass, inertia=(across, across, across), frames=frames))
            m.add(RevoluteJoint("J", axis="y", angle=angle, angle_rate=rate))
            m.connect("G -> J.a")
            m.connect("J.b -> b.end")
            return m.simulate(t_end, points=31)
        start: dict[str, Any] = {"position": (0, 0, 0), "velocity": (0, 0, length / pace)} if kind == "fall" else {}
        body = m.add(ct.RigidBody("b", shape, frames=frames, **start))
        if kind == "fall":
            return m.simulate(t_end, points=31)
        if kind == "statics":
            m.add(ct.Prismatic("J", m.ground, body, axis=(0, 0, 1)))
            m.add(ct.JointSpring("K", on="J", stiffness=stiffness))
            return m.static_equilibrium()
        starts = {"pendulum": {"angle": angle, "angle_rate": rate}, "modes": {"angle": np.pi / 2}}
        m.add(ct.Revolute("J", m.ground, body["end"], axis=(0, 1, 0), **starts.get(kind, {})))
        if kind == "kinematics":
            m.add(ct.Drive("motor", on="J", angle=f"{rate!r}*t"))
            return m.kinematics(t_end, points=31)
        return m.modes() if kind == "modes" else m.simulate(t_end, points=31)

    def error(result: Any) -> float:
        half = mass * g * length / 2
        times = np.linspace(0, t_end, 31)
        if kind == "fall":
            return off(result["b.position.z"], length / pace * times - g * times**2 / 2)
        if kind == "statics":
            return off(result["J.displacement"], -mass * g / stiffness, sag)
        if kind == "kinematics":
            return off(result["motor.torque"], -half * np.cos(rate * times), about_end(mass, length) * rate**2)
        if kind == "modes":
            found = float(np.max(np.asarray(result.frequencies)))
            return off(found, np.sqrt(half / about_end(mass, length)) / (2 * np.pi), 1 / pace)
        truth = swing(mass, length, lambda t, a: half * np.cos(a), np.array([angle, rate]), times)
        return off(result["J.angle"], truth)

    label = f"{kind}, {'no gravity given' if wrong else f'gravity {g:.3g}'}, {length:.0e} m"
    return Case("A11", label, not wrong, run, error, "gravity", ("gravity",))


def across_plane(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A14: a rod in a planar model, with gravity, a force or a torque across the plane; in the plane for the twins."""
    kind = ("default gravity", "gravity", "force", "torque", "pulsating force", "statics")[index % 6]
    length, mass = decade(rng, -3, 2), decade(rng, -3, 3)
    angle = float(rng.uniform(-1, 1))
    pace = float(np.sqrt(length / EARTH))
    t_end = 3 * pace
    flat = EARTH * np.array([rng.uniform(-0.5, 0.5), -rng.uniform(0.5, 1.0)])
    lift = float(rng.uniform(0.05, 1.0)) * pick(rng, -1, 1)
    hair = pick(rng, 0.0, 1e-15)  # what is left of a rotation by computation
    tilt = lift if wrong else hair
    gravity = (float(flat[0]), float(flat[1]), EARTH * tilt if kind in ("gravity", "statics") else 0.0)
    push = mass * EARTH * rng.uniform(0.2, 0.6, 2)
    weight = mass * EARTH
    omega = 2 / pace
    if kind == "default gravity" and wrong:
        gravity = None
    stiffness = 3 * weight * length

    def run() -> Any:
        m = ct.Model("flat", planar=True, **with_gravity(gravity))
        shape = ct.rod(length=length, mass=mass, radius=SLIM * length)
        frames = {"end": (-length / 2, 0, 0), "tip": (length / 2, 0, 0)}
        body = m.add(ct.RigidBody("b", shape, frames=frames))
        m.add(ct.Revolute("J", m.ground, body["end"], angle=angle, angle_rate=0.0))
        across: Any = weight * tilt
        if kind == "pulsating force":
            across = f"{weight * lift!r}*sin({omega!r}*t)" if wrong else 0.0
        if "force" in kind:
            m.add(ct.PointForce("push", body["tip"], force=(float(push[0]), float(push[1]), across)))
        if kind == "torque":
            twist = (weight * length * tilt, 0.0, float(push[0]) * length)
            m.add(ct.PointTorque("push", body, torque=twist))
        if kind == "statics":
            m.add(ct.JointSpring("K", on="J", stiffness=stiffness))
            return m.static_equilibrium()
        return m.simulate(t_end, points=31)

    def torque(_: float, a: float) -> float:
        cosine, sine = np.cos(a), np.sin(a)
        g = (0.0, 0.0, -EARTH) if gravity is None else gravity
        total = mass * length / 2 * (cosine * g[1] - sine * g[0])
        if "force" in kind:
            total += length * (cosine * push[1] - sine * push[0])
        return float(total + (push[0] * length if kind == "torque" else 0.0))

    def error(result: Any) -> float:
        lost = 1.0 if gravity is None else abs(tilt) if wrong else 0.0  # the part of the load that does nothing
        if kind == "statics":
            from scipy.optimize import brentq

            rest = brentq(lambda a: torque(0, a) - stiffness * a, -1.5, 1.5, xtol=1e-14)
            return worst(lost, off(result["J.angle"], rest, 1.0))
        times = np.linspace(0, t_end, 31)
        truth = swing(mass, length, torque, np.array([angle, 0.0]), times)
        return worst(lost, off(result["J.angle"], truth, 0.0 if np.ptp(truth) else 1.0))

    part = "push" if kind in ("force", "torque", "pulsating force") else "gravity"
    label = f"{kind}, {f'{abs(tilt):.2f} across' if wrong else 'in the plane'}, {length:.0e} m"
    return Case("A14", label, not wrong, run, error, "across" if part == "push" else "gravity", (part,))
