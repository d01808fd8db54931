"""Small mechanisms written by hand, as formulations would hand them to a solver."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from cotree.formulation.system import Energy, Mechanics, SystemEquations, Variables
from cotree.maths.rotation import of_quaternion, quaternion_rate


def mechanism(
    name: str,
    q: Variables,
    u: Variables,
    kinematics: ca.SX,
    balance_of: object,
    kinetic: ca.SX,
    potential: ca.SX,
    position: ca.SX | None = None,
    nonholonomic: ca.SX | None = None,
    quaternions: Sequence[tuple[int, int]] = (),
    dissipation: ca.SX | float = 0.0,
    supply: ca.SX | float = 0.0,
    t: ca.SX | None = None,
) -> SystemEquations:
    """Equations from the forces r(u', no constraints), the constraints and the energies."""
    t = ca.SX.sym("t") if t is None else t
    u_dot = ca.SX.sym("ud", len(u))
    position = ca.SX(0, 1) if position is None else position
    more = ca.SX(0, 1) if nonholonomic is None else nonholonomic

    def rate(expression: ca.SX, by_u: ca.SX | None = None) -> ca.SX:
        total = ca.jtimes(expression, q.symbols, kinematics) + ca.jacobian(expression, t)
        return total if by_u is None else total + ca.jtimes(expression, u.symbols, by_u)

    velocity = ca.vertcat(rate(position) if position.numel() else position, more)
    count = velocity.numel()
    acceleration = rate(velocity, u_dot) if count else ca.SX(0, 1)
    lam = Variables.make([f"l{k}" for k in range(count)], ["N"] * count)
    balance = balance_of(u_dot)  # type: ignore[operator]
    if count:
        balance = balance - ca.mtimes(ca.jacobian(velocity, u.symbols).T, lam.symbols)
        w = Variables(
            ca.vertcat(u_dot, lam.symbols),
            tuple(f"d{n}" for n in u.names) + lam.names,
            ("m/s^2",) * len(u) + lam.units,
            np.zeros(len(u) + count),
        )
        extra = {"w": w, "algebraic": ca.vertcat(balance, acceleration), "constraints": position, "multipliers": lam}
        rates = u_dot
    else:
        extra = {}
        mass = ca.jacobian(balance, u_dot)
        rates = -ca.solve(mass, ca.substitute(balance, u_dot, ca.SX.zeros(len(u))))
    mechanics = Mechanics(balance, position, velocity, acceleration, tuple(quaternions), kinetic, potential)
    return SystemEquations(
        name=name,
        t=t,
        p=Variables.make((), ()),
        u=u,
        u_dot=u_dot,
        rates=rates,
        q=q,
        kinematics=kinematics,
        energy=Energy(kinetic + potential, ca.SX(dissipation), ca.SX(supply)),
        outputs={},
        mechanics=mechanics,
        **extra,
    )


def lagrange(
    name: str,
    q: Variables,
    u: Variables,
    kinetic: ca.SX,
    potential: ca.SX,
    force: ca.SX | float = 0.0,
    **more: object,
) -> SystemEquations:
    """Lagrange's equations with u = q'."""
    momentum = ca.gradient(kinetic, u.symbols)

    def balance(u_dot: ca.SX) -> ca.SX:
        inertia = ca.jtimes(momentum, u.symbols, u_dot) + ca.jtimes(momentum, q.symbols, u.symbols)
        return inertia - ca.gradient(kinetic, q.symbols) + ca.gradient(potential, q.symbols) - force

    return mechanism(name, q, u, u.symbols, balance, kinetic, potential, **more)  # type: ignore[arg-type]


def variables(names: str, start: Sequence[float], unit: str = "") -> Variables:
    """Named variables with start values."""
    return Variables.make(names.split(), [unit] * len(names.split()), start)


G = 9.81


def pendulum(angle: float = 1.0, length: float = 1.0) -> SystemEquations:
    """A point pendulum in its angle."""
    q, u = variables("angle", [angle]), variables("rate", [0.0])
    return lagrange("pendulum", q, u, length**2 * u.symbols**2 / 2, -G * length * ca.cos(q.symbols))


def cartesian_pendulum(angle: float = 1.0) -> SystemEquations:
    """The same in x and y with one constraint."""
    q = variables("x y", [np.sin(angle), -np.cos(angle)])
    u = variables("vx vy", [0.0, 0.0])
    x, y = ca.vertsplit(q.symbols)
    return lagrange("cartesian", q, u, ca.sumsqr(u.symbols) / 2, G * y, position=(x**2 + y**2 - 1) / 2)


def spring_mass(stiffness: float = 4.0, damping: float = 0.0, drive: float = 0.0) -> SystemEquations:
    """A mass of 1 on a spring, with a damper and a force drive cos 3t."""
    t = ca.SX.sym("t")
    q, u = variables("x", [1.0]), variables("v", [0.0])
    push = drive * ca.cos(3 * t)
    return lagrange(
        "spring",
        q,
        u,
        u.symbols**2 / 2,
        stiffness * q.symbols**2 / 2,
        push - damping * u.symbols,
        dissipation=damping * u.symbols**2,
        supply=push * u.symbols,
        t=t,
    )


def tumbling(inertia: Sequence[float] = (1.0, 2.0, 3.0), omega: Sequence[float] = (0.1, 2.0, 0.2)) -> SystemEquations:
    """A free body turning about its centre: Euler parameters and body rates."""
    q, u = variables("e0 e1 e2 e3", [1, 0, 0, 0]), variables("wx wy wz", omega)
    j = ca.DM(np.diag(inertia))
    w = u.symbols

    def balance(u_dot: ca.SX) -> ca.SX:
        return ca.mtimes(j, u_dot) + ca.cross(w, ca.mtimes(j, w))

    kinetic = ca.dot(w, ca.mtimes(j, w)) / 2
    return mechanism("tumbling", q, u, quaternion_rate(q.symbols, w), balance, kinetic, ca.SX(0), quaternions=((0, 0),))


def top_absolute(omega: Sequence[float] = (0.5, 1.0, 8.0)) -> SystemEquations:
    """A heavy asymmetric top: absolute coordinates, speeds in body axes, a point held by three constraints."""
    inertia, arm = np.diag([0.4, 0.5, 0.3]), np.array([0.0, 0.1, 0.5])
    half = 0.4
    e0 = np.array([np.cos(half), np.sin(half), 0, 0])
    turn = np.array(ca.DM(ca.evalf(of_quaternion(ca.SX(e0)))))
    q = variables("x y z e0 e1 e2 e3", [*(turn @ arm), *e0])
    v = np.cross(omega, arm)
    u = variables("vx vy vz wx wy wz", [*v, *omega])
    r, e = q.symbols[:3], q.symbols[3:]
    vel, w = u.symbols[:3], u.symbols[3:]
    c = of_quaternion(e)
    kin = ca.vertcat(ca.mtimes(c, vel), quaternion_rate(e, w))
    mass = 2.0

    def balance(u_dot: ca.SX) -> ca.SX:
        force = mass * (u_dot[:3] + ca.cross(w, vel)) + mass * ca.mtimes(c.T, ca.SX([0, 0, G]))
        moment = ca.mtimes(ca.DM(inertia), u_dot[3:]) + ca.cross(w, ca.mtimes(ca.DM(inertia), w))
        return ca.vertcat(force, moment)

    kinetic = mass * ca.sumsqr(vel) / 2 + ca.dot(w, ca.mtimes(ca.DM(inertia), w)) / 2
    position = r - ca.mtimes(c, ca.SX(arm))
    return mechanism("top", q, u, kin, balance, kinetic, mass * G * r[2], position=position, quaternions=((3, 3),))


def four_bar(
    links: Sequence[float] = (0.3, 0.9, 0.75),
    ground: float = 0.9,
    angle: float = 1.2,
    rate: float = 4.0,
    coordinates: str = "joint",
) -> SystemEquations:
    """A four-bar of slender rods (1 kg a metre) under gravity, in three joint angles or nine absolute coordinates."""
    a, b, c = links
    crank = np.array([a * np.cos(angle), a * np.sin(angle)])
    across = np.array([ground, 0]) - crank
    d = float(np.hypot(*across))
    inner = np.arccos((b**2 + d**2 - c**2) / (2 * b * d))
    second = float(np.arctan2(across[1], across[0]) + inner)
    joint = crank + b * np.array([np.cos(second), np.sin(second)])
    third = float(np.arctan2(-joint[1], ground - joint[0]))
    angles = np.array([angle, second, third])
    # speeds from the loop
    columns = np.array([[-length * np.sin(x), length * np.cos(x)] for length, x in zip(links, angles, strict=True)]).T
    rest = np.linalg.lstsq(columns[:, 1:], -columns[:, 0] * rate, rcond=None)[0]
    rates = np.array([rate, *rest])
    if coordinates == "joint":
        q, u = (
            variables("a b c", [angle, second - angle, third - second]),
            variables("wa wb wc", np.diff(rates, prepend=0)),
        )
        place, kinetic, potential = ca.SX.zeros(2), ca.SX(0), ca.SX(0)
        for k, length in enumerate(links):
            turn = ca.sum1(q.symbols[: k + 1])
            along = ca.vertcat(ca.cos(turn), ca.sin(turn)) * length
            speed = ca.jtimes(place + along / 2, q.symbols, u.symbols)
            kinetic += length * ca.sumsqr(speed) / 2 + length**3 / 24 * ca.sum1(u.symbols[: k + 1]) ** 2
            potential += length * G * (place + along / 2)[1]
            place += along
        return lagrange("four-bar", q, u, kinetic, potential, position=place - ca.SX([ground, 0]))
    starts, speeds, place, moving = [], [], np.zeros(2), np.zeros(2)
    for length, x, w in zip(links, angles, rates, strict=True):
        along, swept = length * np.array([np.cos(x), np.sin(x)]), length * w * np.array([-np.sin(x), np.cos(x)])
        starts += [*(place + along / 2), x]
        speeds += [*(moving + swept / 2), w]
        place, moving = place + along, moving + swept
    q = variables("x1 y1 a1 x2 y2 a2 x3 y3 a3", starts)
    u = variables("vx1 vy1 w1 vx2 vy2 w2 vx3 vy3 w3", speeds)
    kinetic, potential, ends = ca.SX(0), ca.SX(0), []
    for k, length in enumerate(links):
        r, x = q.symbols[3 * k : 3 * k + 2], q.symbols[3 * k + 2]
        v, w = u.symbols[3 * k : 3 * k + 2], u.symbols[3 * k + 2]
        half = ca.vertcat(ca.cos(x), ca.sin(x)) * length / 2
        ends.append((r - half, r + half))
        kinetic += length * ca.sumsqr(v) / 2 + length**3 / 24 * w**2
        potential += length * G * r[1]
    position = ca.vertcat(ends[0][0], ends[1][0] - ends[0][1], ends[2][0] - ends[1][1], ends[2][1] - ca.SX([ground, 0]))
    return lagrange("four-bar", q, u, kinetic, potential, position=position)


def parallelogram() -> SystemEquations:
    """Equal cranks of 1 and a coupler as long as the ground: flat, and singular, in every turn."""
    return four_bar((1.0, 2.0, 1.0), 2.0, angle=1.0, rate=6.0)


def sleigh(speed: float = 1.0, spin: float = 1.0) -> SystemEquations:
    """Chaplygin's sleigh: a body on a knife edge 0.3 behind its centre; the edge does not slip sideways."""
    q = variables("x y a", [0.0, 0.0, 0.4])
    arm = 0.3
    v0 = speed * np.array([np.cos(0.4), np.sin(0.4)]) + arm * spin * np.array([-np.sin(0.4), np.cos(0.4)])
    u = variables("vx vy w", [*v0, spin])
    a = q.symbols[2]
    vx, vy, w = ca.vertsplit(u.symbols)
    kinetic = (vx**2 + vy**2) / 2 + 0.1 * w**2 / 2
    sideways = -ca.sin(a) * vx + ca.cos(a) * vy - arm * w
    return lagrange("sleigh", q, u, kinetic, ca.SX(0), nonholonomic=sideways)


def driven_pendulum() -> SystemEquations:
    """A pendulum in x and y whose pivot is moved: pivot x = 0.2 sin 5t. Work enters by the constraint."""
    t = ca.SX.sym("t")
    q = variables("x y", [np.sin(0.5), -np.cos(0.5)])
    pivot, speed = 0.2 * ca.sin(5 * t), ca.cos(5 * t)
    x, y = ca.vertsplit(q.symbols)
    lam = ca.SX.sym("l0")
    # start speeds meet the constraint: (x - p)(vx - p') + y vy = 0
    u = variables("vx vy", [1.0, 0.0])
    e = lagrange(
        "driven",
        q,
        u,
        ca.sumsqr(u.symbols) / 2,
        G * y,
        position=((x - pivot) ** 2 + y**2 - 1) / 2,
        t=t,
    )
    lam = e.multipliers.symbols
    # constraint force on the bob: lambda (x - p, y); the pivot's power is the force times the pivot's velocity
    power = lam * (x - pivot) * speed
    object.__setattr__(e, "energy", Energy(e.energy.stored, ca.SX(0), power))
    return e


def chain(count: int) -> SystemEquations:
    """Rods of length 1 and mass 1 in a chain from the ground, in absolute planar coordinates, straight and at rest."""
    angle = -0.3
    along = np.array([np.cos(angle), np.sin(angle)])
    starts = [v for k in range(count) for v in (*(along * (k + 0.5)), angle)]
    q = variables(" ".join(f"x{k} y{k} a{k}" for k in range(count)), starts)
    u = variables(" ".join(f"vx{k} vy{k} w{k}" for k in range(count)), np.zeros(3 * count))
    kinetic, potential, position, end = ca.SX(0), ca.SX(0), [], ca.SX.zeros(2)
    for k in range(count):
        r, x = q.symbols[3 * k : 3 * k + 2], q.symbols[3 * k + 2]
        half = ca.vertcat(ca.cos(x), ca.sin(x)) / 2
        kinetic += ca.sumsqr(u.symbols[3 * k : 3 * k + 2]) / 2 + u.symbols[3 * k + 2] ** 2 / 24
        potential += G * r[1]
        position.append(r - half - end)
        end = r + half
    return lagrange("chain", q, u, kinetic, potential, position=ca.vertcat(*position))


def elastic_pendulum(stiffness: float = 1e6, stretch: float = 1e-3) -> SystemEquations:
    """A mass of 1 on a stiff spring of length 1, in the plane: slow swinging and a fast oscillation."""
    q, u = variables("x y", [(1 + stretch) * np.sin(1.0), -(1 + stretch) * np.cos(1.0)]), variables("vx vy", [0.0, 0.0])
    length = ca.sqrt(ca.sumsqr(q.symbols))
    potential = G * q.symbols[1] + stiffness * (length - 1) ** 2 / 2
    return lagrange("elastic", q, u, ca.sumsqr(u.symbols) / 2, potential)


def runaway(when: float = 0.5) -> SystemEquations:
    """A mass on a spring whose stiffness has no value after some time."""
    t = ca.SX.sym("t")
    q, u = variables("x", [1.0]), variables("v", [0.0])
    push = -4 * q.symbols * ca.sqrt(when - t) / ca.sqrt(when)
    return lagrange("runaway", q, u, u.symbols**2 / 2, ca.SX(0), push, supply=push * u.symbols, t=t)
