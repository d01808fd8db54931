"""Cables, springs and gears of nodal structures against closed forms and SciPy programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import cotree as ct
from formulation.nodal_models import DOWN, close, run, structure

Array = NDArray[np.float64]
N = ct.nodal
G = 9.81


# Cables, springs


def test_a_force_cable_over_three_nodes() -> None:
    """A mass on a vertical line in the middle of a cable between two fixed nodes: m y'' = -2 T y / l - m g."""
    a, m, pull = 1.0, 2.0, 25.0
    sol = run(
        structure(
            {"L": (-a, 0, 0), "P": {"position": (0, -0.6, 0), "mass": m}, "R": (a, 0, 0)},
            N.ForceCable("cable", ["L", "P", "R"], tension=pull),
            N.OnLine("rail", "P", along=(0, 1, 0)),
            N.Fixed("left", "L"),
            N.Fixed("right", "R"),
            gravity=DOWN,
            planar=True,
        ),
        4.0,
    )

    def rates(_: float, y: Array) -> Array:
        return np.array([y[1], -G - 2 * pull / m * y[0] / np.hypot(a, y[0])])

    exact = solve_ivp(rates, (0, 4), [-0.6, 0], "DOP853", sol.t, rtol=1e-12, atol=1e-13).y
    close(sol["P.position.y"], exact[0])
    length = 2 * np.hypot(a, exact[0])
    close(sol["cable.length"], length)
    close(sol["left.force"], np.column_stack([-2 * pull * a / length, -2 * pull * exact[0] / length, 0 * length]), 1e-7)
    close(sol["cable.power"], -2 * pull * exact[0] / np.hypot(a, exact[0]) * exact[1], 1e-6)


def bouncing(damping: float) -> ct.Model:
    """1.5 kg on a vertical line below O on a cable of 1 m, released 0.4 m below it."""
    return structure(
        {"O": (0, 0, 0), "P": {"position": (0, -0.4, 0), "mass": 1.5}},
        N.Fixed("hook", "O"),
        N.OnLine("rail", "P", along=(0, 1, 0)),
        N.ElasticCable("cable", ["O", "P"], stiffness=600.0, length=1.0, damping=damping),
        gravity=DOWN,
    )


def test_a_mass_bounces_on_an_elastic_cable() -> None:
    """Free fall until it is tight, half an oscillation about the static stretch and a bit, and up again; for ever."""
    k, m, drop = 600.0, 1.5, 0.6
    w, static = np.sqrt(k / m), m * G / k
    speed = np.sqrt(2 * G * drop)
    fall, size, phase = speed / G, np.hypot(speed / w, static), np.arctan2(static, speed / w)
    tight = (np.pi + 2 * phase) / w
    period = 2 * fall + tight
    sol = run(bouncing(0.0), 3.0, points=301, rtol=1e-12)  # the bends of the force cost digits
    tau = np.mod(sol.t, period)
    depth = np.where(
        tau < fall,
        0.4 + G * tau**2 / 2,
        np.where(
            tau < fall + tight,
            1 + static + size * np.sin(w * (tau - fall) - phase),
            0.4 + G * (period - tau) ** 2 / 2,
        ),
    )
    close(sol["P.position.y"], -depth, 1e-7)
    close(sol["cable.tension"], k * np.maximum(0, depth - 1), 1e-4)
    assert sol["cable.tension"].min() == 0
    close(sol["hook.force.y"], sol["cable.tension"], 1e-9)


def test_a_cable_with_damping_is_let_go_before_it_is_short() -> None:
    """T = k x + c x' until it vanishes; then the mass is free though the cable is longer than natural."""
    k, m, c = 600.0, 1.5, 8.0
    t, y, lost = 0.0, np.array([-0.6, 0.0]), 0.0  # stretch and its rate
    times = np.linspace(0, 1.6, 161)
    stretch = np.zeros_like(times)
    tight = False
    while t < times[-1]:
        pull = (lambda x, v: k * x + c * v) if tight else (lambda x, v: 0.0)
        event = (lambda _, y: k * y[0] + c * y[1]) if tight else (lambda _, y: y[0])
        event.terminal, event.direction = True, -1 if tight else 1  # type: ignore[attr-defined]
        part = solve_ivp(
            lambda _, y, pull=pull: [y[1], G - pull(y[0], y[1]) / m, c * y[1] ** 2 if pull(y[0], y[1]) else 0.0],
            (t, times[-1]), [*y, 0.0], "DOP853", events=event, dense_output=True, rtol=1e-12, atol=1e-13,
        )  # fmt: skip
        here = (times >= t) & (times <= part.t[-1])
        stretch[here] = part.sol(times[here])[0]
        if tight and part.t_events[0].size:
            lost += k * part.y[0, -1] ** 2 / 2  # what is left in the cable when it is let go
        lost += part.y[2, -1]
        t, y, tight = float(part.t[-1]), part.y[:2, -1], not tight
    sol = run(bouncing(c), 1.6, points=161)
    close(sol["P.position.y"], -1 - stretch, 1e-7)
    close(sol.energy().dissipated[-1], lost, 1e-6)


def test_an_elastic_cable_over_a_pulley_node() -> None:
    """Over a fixed node to two hanging masses: Atwood's machine with a spring, whose stretch is harmonic."""
    k, m1, m2 = 300.0, 2.0, 1.0
    sol = run(
        structure(
            {"A": {"position": (0, -1, 0), "mass": m1}, "Q": (0.5, 0, 0), "B": {"position": (1, -1, 0), "mass": m2}},
            N.Fixed("axle", "Q"),
            N.OnLine("railA", "A", along=(0.5, 1, 0)),
            N.OnLine("railB", "B", along=(-0.5, 1, 0)),
            N.ElasticCable("cable", ["A", "Q", "B"], stiffness=k, length=2 * np.hypot(0.5, 1) - 0.1),
            planar=True,
        ),
        1.0,
    )
    w = np.sqrt(k * (1 / m1 + 1 / m2))  # rails point to the pulley, no gravity
    t_slack = np.pi / 2 / w
    stretch = np.where(sol.t < t_slack, 0.1 * np.cos(w * sol.t), -0.1 * w * (sol.t - t_slack))
    close(sol["cable.tension"], k * np.maximum(0, stretch), 1e-6)
    early = sol.t < 0.5
    close(sol["cable.length"][early], (2 * np.hypot(0.5, 1) - 0.1 + stretch)[early])


def test_a_winch_lifts_a_mass_over_a_pulley() -> None:
    """The mass follows the course: tension m (g + a), power of the winch tension times its speed."""
    m, drop = 12.0, 2.0
    way = "0.5*(t - sin(2*t)/2)"  # 0.5 m/s on average, from rest
    sol = run(
        structure(
            {"W": (-1.5, 0, 0), "Q": (0, 2, 0), "P": {"position": (0, 0, 0), "mass": m}},
            N.Fixed("winch", "W"),
            N.Fixed("axle", "Q"),
            N.OnLine("rail", "P", along=(0, 1, 0)),
            N.MotorCable("cable", ["W", "Q", "P"], length=f"2.5 + {drop} - {way}"),
            gravity=DOWN,
        ),
        2.0,
    )
    rise, speed = 0.5 * (sol.t - np.sin(2 * sol.t) / 2), 0.5 * (1 - np.cos(2 * sol.t))
    pull = m * (G + np.sin(2 * sol.t))
    close(sol["P.position.y"], rise, 1e-9)
    close(sol["cable.tension"], pull, 1e-7)
    close(sol["cable.power"], pull * speed, 1e-7)
    close(sol["winch.force"], -pull[:, None] * [0.6, 0.8, 0], 1e-7)
    close(sol["axle.force"], pull[:, None] * [0.6, 0.8 + 1, 0], 1e-7)
    close(sol.energy().supplied, m * G * rise + m * speed**2 / 2, 1e-7)


def test_a_motor_cable_over_a_hanging_pulley() -> None:
    """A mass in the middle of the cable: half a length on each side, and the free motion aside is not excited."""
    m, a = 3.0, 0.8
    sol = run(
        structure(
            {"L": (-a, 0, 0), "P": {"position": (0, -0.6, 0), "mass": m}, "R": (a, 0, 0)},
            N.Fixed("left", "L"),
            N.Fixed("right", "R"),
            N.MotorCable("cable", ["L", "P", "R"], length="2 + 0.2*(1 - cos(3*t))"),
            gravity=DOWN,
            planar=True,
        ),
        2.0,
    )
    half = 1 + 0.1 * (1 - np.cos(3 * sol.t))
    rate, second = 0.3 * np.sin(3 * sol.t), 0.9 * np.cos(3 * sol.t)
    depth = np.sqrt(half**2 - a**2)
    fall = half * rate / depth
    push = (rate**2 + half * second - fall**2) / depth
    close(sol["P.position"], np.column_stack([0 * depth, -depth, 0 * depth]), 1e-8)
    close(sol["cable.tension"], m * (G - push) * half / depth / 2, 1e-6)


@pytest.mark.parametrize("way", ["spring and damper", "spring with damping"])
def test_spring_and_damper_between_nodes(way: str) -> None:
    """Two masses on a line: a damped oscillation of their distance, and the centre moves evenly."""
    k, c, m1, m2 = 80.0, 1.2, 1.0, 3.0
    one = [N.Spring("S", "A", "B", stiffness=k, length=0.7, preload=4.0, damping=c)]
    two = [N.Spring("S", "A", "B", stiffness=k, length=0.7, preload=4.0), N.Damper("D", "A", "B", damping=c)]
    e = np.array([2, 1, 2]) / 3
    sol = run(
        structure(
            {"A": {"position": (0, 0, 0), "mass": m1, "velocity": 0.5 * e}, "B": {"position": 0.9 * e, "mass": m2}},
            *(one if way == "spring with damping" else two),
        ),
        2.0,
    )
    reduced = m1 * m2 / (m1 + m2)
    w, d = np.sqrt(k / reduced), c / (2 * reduced)
    rest, turn = 0.7 - 4.0 / k, np.sqrt(k / reduced - d**2)
    a = 0.9 - rest
    b = (-0.5 + d * a) / turn
    assert w > d
    apart = rest + np.exp(-d * sol.t) * (a * np.cos(turn * sol.t) + b * np.sin(turn * sol.t))
    close(sol["S.length"], apart)
    centre = (m1 * sol["A.position"] + m2 * sol["B.position"]) / (m1 + m2)
    close(centre, (0.675 + 0.125 * sol.t)[:, None] * e)


def test_a_force_of_measured_results_is_a_drag() -> None:
    """F = -c v of the node itself: exponential decay; its work is counted as supplied."""
    sol = run(
        structure(
            {"P": {"position": (0, 0, 0), "mass": 2, "velocity": (1, 0, 0.5)}},
            N.Force("drag", "P", force=("-3*P.velocity.x", 0, "-3*P.velocity.z")),
        ),
        1.0,
    )
    close(sol["P.velocity"], np.exp(-1.5 * sol.t)[:, None] * [1, 0, 0.5])


# Gears


def geared(ratio: float, axis: Any, alpha: float, beta: float, rate: float) -> tuple[ct.Model, Any]:
    """Two bars of 1 m and 2 and 3 kg on fixed hubs 1.5 m apart; angles from the line between the hubs, b' = rate."""
    side = 1.0 if axis else -1.0  # without an axis both hang down, and angles grow towards each other

    def first(a: float) -> Array:
        return np.array([np.cos(a), side * np.sin(a), 0])

    def second(b: float) -> Array:
        return np.array([-np.cos(b), -np.sin(b), 0])

    def slope(f: Any, a: float) -> Array:
        return np.asarray((f(a + 1e-6) - f(a - 1e-6)) / 2e-6)

    hub = np.array([1.5, 0, 0])
    model = structure(
        {"H": (0, 0, 0), "K": hub,
         "A": {"position": first(alpha), "velocity": ratio * rate * slope(first, alpha)},
         "B": {"position": hub + second(beta), "velocity": rate * slope(second, beta)}},
        N.Bar("HA", "H", "A", mass=2),
        N.Bar("KB", "K", "B", mass=3),
        N.Fixed("left", "H"),
        N.Fixed("right", "K"),
        N.Gear("gear", ("K", "H", "A"), ("H", "K", "B"), ratio=ratio, **({"axis": axis} if axis else {})),
        gravity=DOWN,
        planar=True,
    )  # fmt: skip

    def loads(a: float, b: float) -> tuple[float, float]:
        """Moments of the weights along the angles."""
        return -2 * G / 2 * slope(first, a)[1], -3 * G / 2 * slope(second, b)[1]

    return model, (first, lambda b: hub + second(b), loads)


@pytest.mark.parametrize(
    ("ratio", "axis", "alpha", "beta", "rate", "t_end"),
    [
        (1.0, None, 0.4, 0.6, 0.0, 0.6),
        (2.0, None, 0.5, 0.4, 0.0, 0.35),
        (-1.0, None, 1.2, 1.0, 0.5, 0.5),
        (0.5, None, 0.4, 0.3, 0.0, 0.5),
        (1.0, (0, 0, 1), 2.5, 2.0, 3.0, 0.6),
        (-1.0, (0, 0, 1), 2.5, 0.5, -3.0, 0.6),
        (2.0, (0, 0, 2), 2.5, 2.0, 2.0, 0.5),
    ],
)
def test_geared_bars(ratio: float, axis: Any, alpha: float, beta: float, rate: float, t_end: float) -> None:
    """J1 a'' = Q1 + tau, J2 b'' = Q2 - ratio tau, a = a0 + ratio (b - b0); angles about an axis pass pi."""
    model, (first, second, loads) = geared(ratio, axis, alpha, beta, rate)
    sol = run(model, t_end)
    j1, j2 = 2 / 3, 3 / 3

    def rates(_: float, y: Array) -> list[float]:
        q1, q2 = loads(alpha + ratio * (y[0] - beta), y[0])
        return [y[1], (ratio * q1 + q2) / (ratio**2 * j1 + j2)]

    exact = solve_ivp(rates, (0, t_end), [beta, rate], "DOP853", sol.t, rtol=1e-11, atol=1e-12).y
    a = alpha + ratio * (exact[0] - beta)
    close(sol["A.position"], [first(x) for x in a])
    close(sol["B.position"], [second(x) for x in exact[0]])
    torque = [j1 * ratio * rates(0, y)[1] - loads(x, y[0])[0] for x, y in zip(a, exact.T, strict=True)]
    close(sol["gear.torque"], torque, 1e-6)
    if axis:
        assert (a.min() - np.pi) * (a.max() - np.pi) < 0
