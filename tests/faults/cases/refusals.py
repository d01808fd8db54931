"""A10, B1, B4, B5 and B7: models that were refused, or counted in two ways, though they have a motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

import cotree as ct
from faults.cases.judge import Array, Case, decade, off, pick, solved, triple, worst

EARTH = 9.81
SLIM = 0.05


def rod_end(mass: float, length: float, radius: float) -> float:
    """Inertia of a rod about its end."""
    return mass * (length**2 / 3 + radius**2 / 4)


def point_carrier(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A10: a rod hinged to a point mass that slides or stands, pushed sideways; the twins' carriers are bodies."""
    slides = index % 2 == 0
    length, mass = decade(rng, -1, 1), decade(rng, -1, 1)
    carrier = mass * float(rng.uniform(0.5, 3.0))
    radius = SLIM * length
    pace = float(np.sqrt(length / EARTH))
    angle = float(rng.uniform(-0.5, 1.0))
    side = mass * EARTH * float(rng.uniform(0.3, 1.0))
    t_end = 3 * pace
    tree = "absolute" if wrong else pick(rng, "absolute", None)

    def run() -> Any:
        m = ct.Model("carrier", gravity=(0, 0, -EARTH))
        cart: Any = ct.PointMass("cart", mass=carrier)
        if not wrong:
            cart = ct.RigidBody("cart", ct.sphere(radius=radius, mass=carrier))
        m.add(cart)
        frames = {"end": (-length / 2, 0, 0), "tip": (length / 2, 0, 0)}
        m.add(ct.RigidBody("arm", ct.rod(length=length, mass=mass, radius=radius), frames=frames))
        m.add(ct.Prismatic("rail", m.ground, "cart", axis=(1, 0, 0)) if slides else ct.Weld("rail", m.ground, "cart"))
        m.add(ct.Revolute("hinge", "cart", "arm.end", axis=(0, 1, 0), angle=angle, angle_rate=0.0))
        m.add(ct.PointForce("push", "arm.tip", force=(0.0, side, 0.0)))
        return m.simulate(t_end, points=31, tree=tree)

    def rates(t: float, y: Array) -> list[float]:
        _, a, x_rate, a_rate = y
        tie = -mass * length / 2 * np.sin(a)
        M = np.array([[carrier + mass, tie], [tie, rod_end(mass, length, radius)]])
        if not slides:
            M[0, 1], M[0, 0] = 0.0, 1.0
        pull = mass * length / 2 * np.cos(a) * a_rate**2 if slides else 0.0
        sped = np.linalg.solve(M, [pull, mass * EARTH * length / 2 * np.cos(a)])
        return [x_rate, a_rate, float(sped[0]), float(sped[1])]

    def error(sol: Any) -> float:
        x, a, _, _ = solved(rates, [0.0, angle, 0.0, 0.0], sol.t)
        truth = x + length / 2 * np.cos(a), 0 * x, -length / 2 * np.sin(a)
        return worst(*(off(sol[f"arm.position.{n}"], each, length) for n, each in zip("xyz", truth, strict=True)))

    label = f"{'rail' if slides else 'weld'}, {'point' if wrong else 'body'}, {tree or 'joint'}"
    return Case("A10", label, not wrong, run, error)


def kept_redundancy(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """B1: equations that hold twice by design over many turns, and ones that hold at the start only."""
    return lead_screw(rng, wrong) if index % 3 == 0 else two_drives(rng, wrong)


def lead_screw(rng: np.random.Generator, wrong: bool) -> Case:
    """A spindle that drives a guided nut through hundreds of turns, or a few."""
    size = decade(rng, -2, 1)
    mass = 1000 * size**3
    pitch = size * float(rng.uniform(0.02, 0.1))
    lead = pitch / (2 * np.pi)
    whole = mass * (size / 10) ** 2 / 2 + mass * lead**2
    turns = float(rng.uniform(300, 900)) if wrong else float(rng.uniform(1, 6))
    t_end = 4.0
    torque = float(turns * whole / (t_end / 2 - np.sin(2 * t_end) / 4))
    axis = np.eye(3)[int(rng.integers(3))]
    word = "xyz"[int(np.argmax(axis))]

    def run() -> Any:
        m = ct.Model("lead screw", gravity=(0, 0, 0))
        shape = ct.cylinder(radius=size / 10, length=size, mass=mass, axis=word)
        spindle = m.add(ct.RigidBody("spindle", shape))
        nut = m.add(ct.RigidBody("nut", ct.box(size=(size / 5, size / 5, size / 5), mass=mass)))
        m.add(ct.Revolute("bearing", m.ground, spindle, axis=triple(axis)))
        m.add(ct.Screw("thread", spindle, nut, axis=triple(axis), pitch=pitch))
        m.add(ct.Prismatic("guide", m.ground, nut, axis=triple(axis)))
        m.add(ct.JointActuator("motor", on="bearing", effort=f"{torque!r}*sin(2*t)"))
        return m.simulate(t_end, points=41)

    def error(sol: Any) -> float:
        truth = torque / whole * (sol.t / 2 - np.sin(2 * sol.t) / 4)
        return worst(off(sol["bearing.angle"], truth), off(abs(sol["guide.displacement"]), lead * abs(truth)))

    return Case("B1", f"lead screw, {turns:.0f} rad, {size:.0e} m", not wrong, run, error)


def two_drives(rng: np.random.Generator, wrong: bool) -> Case:
    """A slide that is driven twice: by laws that part after the start, or by the same law."""
    size = decade(rng, -9, -5) if rng.integers(3) else decade(rng, -5, 3)
    omega = float(rng.uniform(0.5, 2.0))
    first = f"{size!r}*sin({omega!r}*t)"
    second = f"{size * omega!r}*t" if wrong else first
    mass = decade(rng, -6, 3)

    def run() -> Any:
        m = ct.Model("two drives", gravity=(0, 0, 0))
        body = m.add(ct.RigidBody("slide", ct.box(size=(size, size, size), mass=mass)))
        m.add(ct.Prismatic("rail", m.ground, body, axis=(1, 0, 0)))
        m.add(ct.Drive("inner", on="rail", displacement=first))
        m.add(ct.FrameDrive("outer", m.ground, body, x=second))
        return m.simulate(1.0, points=21)

    def error(sol: Any) -> float:
        a = size * np.sin(omega * sol.t)
        return worst(
            off(sol["slide.position.x"], a), off(sol["slide.position.x"], size * omega * sol.t if wrong else a)
        )

    return Case("B1", f"two drives, {size:.0e} m", not wrong, run, error)


def thin_rod(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """B4: a rod without a radius on a ball joint, a cross, or in flight; the twins have one."""
    kind = ("ball", "flight", "cross", "ball")[index % 4]
    length, mass = decade(rng, -3, 2), decade(rng, -3, 3)
    radius = 0.0 if wrong else SLIM * length
    pace = float(np.sqrt(length / EARTH))
    angle = 0.0 if kind == "cross" else float(rng.uniform(-0.5, 1.0))
    spin = float(rng.uniform(0.5, 2.0)) / pace
    t_end = 2 * pace

    def run() -> Any:
        m = ct.Model(kind, gravity=(0, 0, -EARTH))
        shape = ct.rod(length=length, mass=mass, radius=radius) if radius else ct.rod(length=length, mass=mass)
        frames = {"end": (-length / 2, 0, 0), "tip": (length / 2, 0, 0)}
        start: dict[str, Any] = {"angular_velocity": (0, 0, spin), "velocity": (0, length / pace, 0)}
        m.add(ct.RigidBody("tie_rod", shape, frames=frames, **(start if kind == "flight" else {})))
        if kind == "ball":
            begin = (float(np.cos(angle / 2)), 0.0, float(np.sin(angle / 2)), 0.0)
            m.add(ct.Spherical("joint", m.ground, "tie_rod.end", orientation=begin))
        elif kind == "cross":
            m.add(ct.Universal("joint", m.ground, "tie_rod.end", angle_1=0.0, angle_2=0.0))
        return m.simulate(t_end, points=21)

    def error(sol: Any) -> float:
        t = sol.t
        if kind == "flight":
            turn, fall = spin * t, -EARTH * t**2 / 2
            truth = length / 2 * np.cos(turn), length / pace * t + length / 2 * np.sin(turn), fall
        else:
            pull = mass * EARTH * length / 2 / rod_end(mass, length, radius)
            a = solved(lambda _, y: [y[1], pull * np.cos(y[0])], [angle, 0.0], t)[0]
            truth = length * np.cos(a), 0 * a, -length * np.sin(a)
        return worst(
            *(off(sol[f"tie_rod.tip.position.{x}"], each, length) for x, each in zip("xyz", truth, strict=True))
        )

    label = f"{kind}, {'no radius' if wrong else 'radius given'}, {length:.0e} m"
    return Case("B4", label, not wrong, run, error, "inertia", ("tie_rod",))


def thin_rod_at_rest(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """B7: statics of rods on ball joints, as tie rods are; the twins have a radius."""
    kind = ("statics", "tie rod")[index % 2]
    length, mass = decade(rng, -2, 1), decade(rng, -2, 2)
    radius = 0.0 if wrong else SLIM * length
    start = np.pi / 2 - float(rng.uniform(0.1, 0.4))
    sag = length * float(rng.uniform(0.02, 0.1))
    stiffness = mass * EARTH / 2 / sag

    def run() -> Any:
        m = ct.Model(kind, gravity=(0, 0, -EARTH))
        shape = ct.rod(length=length, mass=mass, radius=radius) if radius else ct.rod(length=length, mass=mass)
        m.add(ct.RigidBody("tie_rod", shape, frames={"end": (-length / 2, 0, 0), "tip": (length / 2, 0, 0)}))
        begin = 0.0 if kind == "tie rod" else start
        turn = (float(np.cos(begin / 2)), 0.0, float(np.sin(begin / 2)), 0.0)
        m.add(ct.Spherical("joint", m.ground, "tie_rod.end", orientation=turn))
        if kind == "tie rod":
            each = [stiffness, stiffness, stiffness, 0.0, 0.0, 0.0]
            m.add(ct.Bushing("mount", m.ground.at(length, 0, 0), "tie_rod.tip", stiffness=each))
        return m.static_equilibrium()

    def error(result: Any) -> float:
        found = [result[f"tie_rod.position.{x}"] for x in "xyz"]
        if kind == "statics":
            return off(found, [0.0, 0.0, -length / 2])

        def moment(a: float) -> float:
            """About the ball joint: the weight against a bushing that holds the tip at (length, 0, 0)."""
            return float(mass * EARTH / 2 * np.cos(a) - stiffness * length * np.sin(a))

        a = brentq(moment, 0.0, 1.5, xtol=1e-15)
        return off(found, [length / 2 * np.cos(a), 0.0, -length / 2 * np.sin(a)], sag)

    label = f"{kind}, {'no radius' if wrong else 'radius given'}, {length:.0e} m"
    return Case("B7", label, not wrong, run, error, "inertia", ("tie_rod",))


def idle_or_odd(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """B5: an RSSR linkage with its coupler's idle spin, or inertia that no solid has; the twins have neither."""
    return rssr(rng, wrong) if index % 2 == 0 else odd_inertia(rng, index % 4 == 3, wrong)


def rssr(rng: np.random.Generator, wrong: bool) -> Case:
    """A crank about z drives a rocker about y through a coupler with two ball joints, or a massless one."""
    size = decade(rng, -2, 1)
    a, c, d, h = size * rng.uniform((0.2, 0.5, 0.9, 0.0), (0.3, 0.7, 1.1, 0.2))
    lowest = float(rng.uniform(-1.9, -1.4))
    swing = float(rng.uniform(0.3, 0.6))

    def ends(theta: Any, psi: Any) -> tuple[Array, Array]:
        P = np.array([a * np.cos(theta), a * np.sin(theta), 0 * theta])
        return P, np.array([d + c * np.cos(psi), 0 * psi, h - c * np.sin(psi)])

    P0, Q0 = ends(0.0, lowest)
    reach = float(np.linalg.norm(Q0 - P0))

    def run() -> Any:
        m = ct.Model("RSSR", gravity=(0, 0, -EARTH))
        shapes = {"crank": float(a), "rocker": float(c)} | ({"link": reach} if wrong else {})
        for name, length in shapes.items():
            shape = ct.rod(length=length, mass=length / size, radius=SLIM * length)
            m.add(ct.RigidBody(name, shape, frames={"a": (-length / 2, 0, 0), "b": (length / 2, 0, 0)}))
        m.add(ct.Revolute("O", m.ground, "crank.a", axis=(0, 0, 1), angle=0.0))
        m.add(ct.Revolute("C", m.ground.at(float(d), 0, float(h)), "rocker.a", axis=(0, 1, 0), angle=lowest))
        if wrong:
            along = (Q0 - P0) / reach
            half = np.array([1 + along[0], 0.0, -along[2], along[1]])  # turns x into the direction of the coupler
            turn = tuple(float(each) for each in half / np.linalg.norm(half))
            m.add(ct.Spherical("A", "crank.b", "link.a", orientation=turn))
            m.add(ct.Spherical("B", "link.b", "rocker.b"))
        else:
            m.add(ct.ConstantDistance("link", "crank.b", "rocker.b", length=reach))
        m.add(ct.Drive("motor", on="O", angle=f"{swing!r}*sin(t)"))
        return m.kinematics(3.0, points=31)

    def error(sol: Any) -> float:
        theta = swing * np.sin(sol.t)
        P, _ = ends(theta, 0 * theta)
        # |P - Q|^2 = reach^2 with Q = D + c (cos psi, 0, -sin psi): one harmonic of psi
        gap = np.array([d + 0 * theta, 0 * theta, h + 0 * theta]) - P
        right = (reach**2 - c**2 - (gap**2).sum(axis=0)) / (2 * c)
        size_of, phase = np.hypot(gap[0], gap[2]), np.arctan2(-gap[2], gap[0])
        both = [phase + sign * np.arccos(right / size_of) for sign in (1, -1)]
        near = [float(np.angle(np.exp(1j * (each[0] - lowest)))) for each in both]
        chosen = both[int(np.argmin(np.abs(near)))]
        truth = chosen - chosen[0] + lowest
        return off(sol["C.angle"], truth)

    label = f"RSSR {'with a coupler' if wrong else 'with a distance'}, {size:.0e} m"
    return Case("B5", label, not wrong, run, error, "inertia", ("link",))


def odd_inertia(rng: np.random.Generator, planar: bool, wrong: bool) -> Case:
    """A pendulum whose moments of inertia break the triangle inequality; only the one about its axis matters."""
    length, mass = decade(rng, -2, 1), decade(rng, -2, 2)
    across = mass * length**2 * float(rng.uniform(0.3, 1.0))
    other = across * float(rng.uniform(0.05, 0.3) if wrong else rng.uniform(0.6, 1.0))
    angle = float(rng.uniform(-0.5, 1.0))
    pull = mass * EARTH * length / 2

    def run() -> Any:
        m = ct.Model("pendulum", gravity=(0, -EARTH, 0), planar=planar)
        moments = (0.0, 0.0, across) if planar and wrong else (other, other, across)
        m.add(ct.RigidBody("link", mass=mass, inertia=moments, frames={"end": (-length / 2, 0, 0)}))
        m.add(ct.Revolute("J", m.ground, "link.end", axis=(0, 0, 1), angle=angle, angle_rate=0.0))
        return m.simulate(2 * float(np.sqrt(length / EARTH)), points=21)

    def error(sol: Any) -> float:
        whole = across + mass * length**2 / 4
        return off(sol["J.angle"], solved(lambda _, y: [y[1], -pull * np.cos(y[0]) / whole], [angle, 0.0], sol.t)[0])

    label = f"{'odd' if wrong else 'sound'} inertia{', planar' if planar else ''}, {length:.0e} m"
    return Case("B5", label, not wrong, run, error, "inertia", ("link",))
