"""Machines by hand: their equations derived on paper and integrated with SciPy, without a line of the package.

Every machine is a set of numbers, a start, and rates y' = f(t, y). What the audit is compared with is integrated along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import atan2, cos, hypot, sin, sqrt, tanh
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.signal import place_poles

Array = NDArray[np.float64]
G = 9.81
POLES = (-4 + 1j, -4 - 1j, -6 + 2j, -6 - 2j, -150.0)
"""Of the pendulum on the cart with feedback."""


class Witness:
    """What all of them share: names of the states, their start and sizes, and their rates."""

    names: tuple[str, ...]
    sizes: Sequence[float] = (1.0,)

    def start(self) -> list[float]:
        """The states at time zero."""
        raise NotImplementedError

    def rates(self, t: float, y: Array) -> list[float]:
        """The time derivatives of the states."""
        raise NotImplementedError

    def run(self, times: Sequence[float] | Array, rtol: float = 1e-12, **more: float) -> dict[str, Array]:
        """Every state at the times, by an explicit method of order 8 at a tolerance close to rounding."""
        grid = np.asarray(times, dtype=float)
        floor = 1e-2 * rtol * np.broadcast_to(np.asarray(self.sizes, dtype=float), len(self.names))
        found = solve_ivp(self.rates, (grid[0], grid[-1]), self.start(), "DOP853", grid, rtol=rtol, atol=floor, **more)
        assert found.success, found.message
        return dict(zip(self.names, found.y, strict=True))


@dataclass(frozen=True)
class SliderCrank(Witness):
    """A motor with gear on a slider-crank, under a PI controller of the crank's speed.

    The crank of length r turns by A from the x axis, the rod of length l stands at F with sin F = -(r / l) sin A, the
    slider moves along x. With one coordinate A all places are functions of it, and Lagrange's equation is

        M(A) A'' + M'(A) A'^2 / 2 + V'(A) + (c x'(A)^2 + b n^2) A' = n K i
        L i' = u - R i - n K A',    u = p e + k z,    z' = e,    e = target - A'

    with M = J1 + m1 s1^2 + m2 (xc'^2 + yc'^2) + J2 F'^2 + m3 x'^2 + n^2 J, primes of places meaning d/dA.
    """

    r: float = 0.1
    rod: float = 0.35
    m1: float = 0.8
    s1: float = 0.04
    J1: float = 2e-3
    m2: float = 0.6
    s2: float = 0.15
    J2: float = 7e-3
    m3: float = 0.9
    c: float = 6.0
    resistance: float = 0.8
    inductance: float = 4e-3
    constant: float = 0.05
    rotor: float = 3e-5
    gear: float = 5.0
    friction: float = 1e-4
    p: float = 1.5
    k: float = 8.0
    target: float = 12.0
    angle: float = 0.4
    speed: float = 2.0

    names = ("angle", "speed", "current", "integral", "supplied", "copper", "friction", "slider_loss")
    sizes = (1.0, 10.0, 10.0, 1.0, 10.0, 10.0, 1.0, 10.0)

    def places(self, angle: float) -> tuple[float, ...]:
        """Rod angle and slider with first and second derivatives by the crank angle, and those of the rod's centre."""
        r, rod, s = self.r, self.rod, self.s2
        sine, cosine = sin(angle), cos(angle)
        sf = -r / rod * sine
        cf = sqrt(1 - sf * sf)
        f1 = -r / rod * cosine / cf
        f2 = (r / rod * sine + sf * f1 * f1) / cf
        x, x1 = r * cosine + rod * cf, -r * sine - rod * sf * f1
        x2 = -r * cosine - rod * (cf * f1 * f1 + sf * f2)
        xc1, xc2 = -r * sine - s * sf * f1, -r * cosine - s * (cf * f1 * f1 + sf * f2)
        yc1, yc2 = r * cosine * (1 - s / rod), -r * sine * (1 - s / rod)
        return atan2(sf, cf), f1, f2, x, x1, x2, xc1, xc2, yc1, yc2

    def start(self) -> list[float]:
        return [self.angle, self.speed, *[0.0] * 6]

    def command(self, t: float, speed: float, integral: float) -> float:
        """The voltage of the controller."""
        return self.p * (self.target - speed) + self.k * integral

    def load(self, slope: float) -> float:
        """A further torque on the crank, where dx/dA is the slope of the slider's place."""
        return 0.0

    def rates(self, t: float, y: Array) -> list[float]:
        angle, speed, current, integral = y[:4]
        _, f1, f2, _, x1, x2, xc1, xc2, yc1, yc2 = self.places(angle)
        n, K, b = self.gear, self.constant, self.friction
        mass = self.J1 + self.m1 * self.s1**2 + self.m2 * (xc1**2 + yc1**2) + self.J2 * f1**2 + self.m3 * x1**2
        mass += n**2 * self.rotor
        bend = self.m2 * (xc1 * xc2 + yc1 * yc2) + self.J2 * f1 * f2 + self.m3 * x1 * x2
        weight = G * (self.m1 * self.s1 * cos(angle) + self.m2 * yc1)
        u = self.command(t, speed, integral)
        push = n * K * current - bend * speed**2 - weight - (self.c * x1**2 + b * n**2) * speed + self.load(x1)
        return [
            speed,
            push / mass,
            (u - self.resistance * current - n * K * speed) / self.inductance,
            self.target - speed,
            u * current,
            self.resistance * current**2,
            b * (n * speed) ** 2,
            self.c * (x1 * speed) ** 2,
        ]

    def slider(self, angle: Array) -> Array:
        """The slider's place."""
        return np.array([self.places(each)[3] for each in angle])


@dataclass(frozen=True)
class SampledSliderCrank(SliderCrank):
    """The same with a controller that holds its voltage for a period: u_k = p e_k + k z_k, z_k = z_(k-1) + h e_k.

    The error is summed backwards (implicit Euler): each sample counts for the period that ends with it.
    """

    period: float = 1e-3
    held: float = 0.0

    def command(self, t: float, speed: float, integral: float) -> float:
        return self.held

    def sampled(self, samples: int, rtol: float = 1e-12, method: str = "DOP853") -> dict[str, Array]:
        """Every state just at the samples, the integral's place taken by the voltage held before each."""
        y, total = np.array(self.start()), 0.0
        rows = [[*y, 0.0]]
        floor = 1e-2 * rtol * np.asarray(self.sizes)
        for k in range(samples):
            error = self.target - y[1]
            total += self.period * error
            held = replace(self, held=self.p * error + self.k * total)
            span = (k * self.period, (k + 1) * self.period)
            y = solve_ivp(held.rates, span, y, method, rtol=rtol, atol=floor).y[:, -1]
            rows.append([*y, held.held])
        return dict(zip((*self.names, "voltage"), np.array(rows).T, strict=True))


@dataclass(frozen=True)
class DrySliderCrank(SliderCrank):
    """The same at the constant voltage ``target``, with dry friction on the slider: -F sign(x') x'(A) on the crank."""

    dry: float = 0.0
    way: float = 1.0

    def command(self, t: float, speed: float, integral: float) -> float:
        return self.target

    def load(self, slope: float) -> float:
        return -self.way * self.dry * slope

    def run_with_turns(self, times: Array) -> dict[str, Array]:
        """As `run`, from one dead centre of the slider to the next."""
        turns: Any = lambda t, y: sin(y[0])  # noqa: E731
        t, y, rows = float(times[0]), np.array(self.start()), list[Array]()
        while len(rows) < len(times):
            upper = sin(y[0] + 1e-6 * y[1]) > 0
            turns.terminal, turns.direction = True, -1 if upper else 1
            piece = replace(self, way=-1.0 if upper == (y[1] > 0) else 1.0)
            found = solve_ivp(
                piece.rates, (t, float(times[-1])), y, "DOP853", dense_output=True, events=turns, rtol=1e-12, atol=1e-13
            )
            rows += [found.sol(each) for each in times[len(rows) :] if each <= found.t[-1]]
            t, y = found.t[-1], found.y[:, -1]
        return dict(zip(self.names, np.array(rows).T, strict=True))


@dataclass(frozen=True)
class Lift(Witness):
    """A hinged arm lifted by a hydraulic cylinder, with a proportional valve and a supply of constant pressure.

    The cylinder stands between the ground point (x0, y0) and a point of the arm at distance ``reach`` from the hinge.
    Its length s closes a triangle: s^2 = d^2 + reach^2 - 2 d reach cos(A - A0), with d, A0 the polar coordinates of the
    ground point, so ds/dA = d reach sin(A - A0) / s, and

        (J + m c^2) A'' = (p1 A1 - p2 A2) ds/dA - m g c cos A
        V1(s) p1' = beta (Q1 - A1 s' - leak),   V1 = dead + A1 (s - s0)
        V2(s) p2' = beta (Q2 + A2 s' + leak),   V2 = dead + A2 (s0 + stroke - s),   leak = g (p1 - p2)

    The valve joins chamber 1 to the supply and chamber 2 to the tank where its opening is positive, and the other way
    round where it is negative.
    """

    mass: float = 40.0
    centre: float = 0.9
    inertia: float = 11.0
    x0: float = 0.25
    y0: float = -0.45
    reach: float = 0.6
    area1: float = 1.2e-3
    area2: float = 0.8e-3
    stroke: float = 0.45
    retracted: float = 0.42
    dead: float = 4e-5
    bulk: float = 1.2e9
    leak: float = 2e-13
    supply: float = 80e5
    discharge: float = 0.62
    valve_area: float = 5e-6
    density: float = 860.0
    transition: float = 1e4
    angle: float = 0.15
    p1: float = 30e5
    p2: float = 5e5

    names = ("angle", "speed", "p1", "p2", "supplied", "lifted")
    sizes = (1.0, 1.0, 1e6, 1e6, 1e3, 1e3)

    def start(self) -> list[float]:
        return [self.angle, 0.0, self.p1, self.p2, 0.0, 0.0]

    def opening(self, t: float) -> float:
        """The opening of the valve over time: up, and down again."""
        return 0.9 * sin(2.5 * t)

    def length(self, angle: float) -> tuple[float, float]:
        """Length of the cylinder and its derivative by the angle."""
        d, turned = hypot(self.x0, self.y0), angle - atan2(self.y0, self.x0)
        s = sqrt(d * d + self.reach**2 - 2 * d * self.reach * cos(turned))
        return s, d * self.reach * sin(turned) / s

    def orifice(self, area: float, pressure: float) -> float:
        """The flow through an opening under a pressure difference, turbulent well above ``transition``."""
        return self.discharge * area * sqrt(2 / self.density) * pressure / (pressure**2 + self.transition**2) ** 0.25

    def flows(self, t: float, p1: float, p2: float) -> tuple[float, float, float]:
        """Flows into chamber 1, into chamber 2, and from the supply."""
        x = self.opening(t)
        area = self.valve_area * abs(x)
        if x >= 0:
            first = self.orifice(area, self.supply - p1)
            return first, -self.orifice(area, p2), first
        second = self.orifice(area, self.supply - p2)
        return -self.orifice(area, p1), second, second

    def rates(self, t: float, y: Array) -> list[float]:
        angle, speed, p1, p2 = y[:4]
        s, slope = self.length(angle)
        rate = slope * speed
        into1, into2, given = self.flows(t, p1, p2)
        leak = self.leak * (p1 - p2)
        v1 = self.dead + self.area1 * (s - self.retracted)
        v2 = self.dead + self.area2 * (self.retracted + self.stroke - s)
        force = p1 * self.area1 - p2 * self.area2
        whole = self.inertia + self.mass * self.centre**2
        return [
            speed,
            (force * slope - self.mass * G * self.centre * cos(angle)) / whole,
            self.bulk * (into1 - self.area1 * rate - leak) / v1,
            self.bulk * (into2 + self.area2 * rate + leak) / v2,
            self.supply * given,
            force * rate,
        ]


@dataclass(frozen=True)
class Cart(Witness):
    """An inverted pendulum on a cart, driven by a motor through gear and pinion, held up by state feedback.

    The pendulum leans by A to the left of the vertical: its centre is at (x - h sin A, h cos A). With w = n x'/r

        (M + m + J n^2/r^2) x'' - m h cos A A'' + m h sin A A'^2 = K n i / r - (c + b n^2/r^2) x'
        (I + m h^2) A'' - m h cos A x'' - m g h sin A = 0
        L i' = u - R i - K n x' / r,     u = -(k0 x + k1 x' + k2 A + k3 A' + k4 i)
    """

    M: float = 0.7
    m: float = 0.25
    h: float = 0.3
    inertia: float = 8e-3
    c: float = 0.5
    resistance: float = 1.4
    inductance: float = 6e-3
    constant: float = 0.03
    rotor: float = 2e-5
    gear: float = 4.0
    pinion: float = 0.015
    friction: float = 2e-5
    gains: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0)
    x: float = 0.1
    angle: float = 0.25

    names = ("x", "v", "angle", "speed", "current", "supplied", "copper")
    sizes = (0.1, 1.0, 0.1, 1.0, 10.0, 10.0, 10.0)

    def start(self) -> list[float]:
        return [self.x, 0.0, self.angle, 0.0, 0.0, 0.0, 0.0]

    def rates(self, t: float, y: Array) -> list[float]:
        _, v, angle, speed, current = y[:5]
        ratio = self.gear / self.pinion
        u = -float(np.dot(self.gains, y[:5]))
        a, d = self.M + self.m + self.rotor * ratio**2, self.inertia + self.m * self.h**2
        b = -self.m * self.h * cos(angle)
        f = self.constant * ratio * current - (self.c + self.friction * ratio**2) * v
        f -= self.m * self.h * sin(angle) * speed**2
        e = self.m * G * self.h * sin(angle)
        whole = a * d - b * b
        return [
            v,
            (d * f - b * e) / whole,
            speed,
            (a * e - b * f) / whole,
            (u - self.resistance * current - self.constant * ratio * v) / self.inductance,
            u * current,
            self.resistance * current**2,
        ]

    def held_up(self) -> Cart:
        """The same with gains that place the poles at `POLES`."""
        gains = place_poles(*self.linear(), POLES).gain_matrix[0]
        return replace(self, gains=tuple(float(gain) for gain in gains))

    def linear(self) -> tuple[Array, Array]:
        """A and B about the upright position, for states x, x', A, A', i and the voltage."""
        ratio = self.gear / self.pinion
        mass = np.array(
            [
                [self.M + self.m + self.rotor * ratio**2, -self.m * self.h],
                [-self.m * self.h, self.inertia + self.m * self.h**2],
            ]
        )
        loads = np.array(
            [
                [0, -(self.c + self.friction * ratio**2), 0, 0, self.constant * ratio],
                [0, 0, self.m * G * self.h, 0, 0],
            ]
        )
        push = np.linalg.solve(mass, loads)
        A = np.zeros((5, 5))
        A[0, 1] = A[2, 3] = 1.0
        A[1], A[3] = push
        A[4, 1], A[4, 4] = -self.constant * ratio / self.inductance, -self.resistance / self.inductance
        B = np.zeros((5, 1))
        B[4] = 1 / self.inductance
        return A, B


@dataclass(frozen=True)
class Arm(Witness):
    """Two links in the vertical plane; the motor of the elbow sits on the first link and drives through a gear.

    Its rotor turns with w1 + n w2 against the ground, so the kinetic energy has the term J (w1 + n w2)^2 / 2; the
    torque K i between rotor and housing does the work K i n w2. The motor of the shoulder sits on the ground, without
    inertia. Voltages are given.

        M11 = J1 + m1 s1^2 + m2 l1^2 + D + 2 k cos B + J,   M12 = D + k cos B + J n,   M22 = D + J n^2
        D = J2 + m2 s2^2,   k = m2 l1 s2
        M11 w1' + M12 w2' - k sin B (2 w1 w2 + w2^2) + V_A = K1 n1 i1
        M12 w1' + M22 w2' + k sin B w1^2 + V_B = K n i2 - b n^2 w2
    """

    l1: float = 0.5
    m1: float = 2.0
    s1: float = 0.22
    J1: float = 0.05
    m2: float = 1.2
    s2: float = 0.2
    J2: float = 0.02
    rotor: float = 4e-5
    gear: float = 30.0
    resistance: float = 1.1
    inductance: float = 2e-3
    constant: float = 0.04
    friction: float = 1e-5
    gear1: float = 50.0
    resistance1: float = 0.9
    inductance1: float = 3e-3
    constant1: float = 0.05
    A: float = -0.6
    B: float = 0.9

    names = ("A", "B", "w1", "w2", "i1", "i2", "supplied")
    sizes = (1.0, 1.0, 1.0, 1.0, 10.0, 10.0, 10.0)

    def start(self) -> list[float]:
        return [self.A, self.B, 0.0, 0.0, 0.0, 0.0, 0.0]

    def voltages(self, t: float) -> tuple[float, float]:
        """Voltages of the shoulder's and of the elbow's motor."""
        return 10.0 * sin(3 * t), 6.0 * tanh(10 * t)

    def rates(self, t: float, y: Array) -> list[float]:
        A, B, w1, w2, i1, i2 = y[:6]
        n, J, k, D = self.gear, self.rotor, self.m2 * self.l1 * self.s2, self.J2 + self.m2 * self.s2**2
        m11 = self.J1 + self.m1 * self.s1**2 + self.m2 * self.l1**2 + D + 2 * k * cos(B) + J
        m12, m22 = D + k * cos(B) + J * n, D + J * n**2
        bend = k * sin(B)
        fore = self.m2 * self.s2 * G * cos(A + B)
        f1 = self.constant1 * self.gear1 * i1 + bend * (2 * w1 * w2 + w2**2)
        f1 -= (self.m1 * self.s1 + self.m2 * self.l1) * G * cos(A) + fore
        f2 = self.constant * n * i2 - self.friction * n**2 * w2 - bend * w1**2 - fore
        whole = m11 * m22 - m12 * m12
        u1, u2 = self.voltages(t)
        return [
            w1,
            w2,
            (m22 * f1 - m12 * f2) / whole,
            (m11 * f2 - m12 * f1) / whole,
            (u1 - self.resistance1 * i1 - self.constant1 * self.gear1 * w1) / self.inductance1,
            (u2 - self.resistance * i2 - self.constant * n * w2) / self.inductance,
            u1 * i1 + u2 * i2,
        ]
