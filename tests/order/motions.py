"""Motions of the small mechanisms, from closed forms or from equations written anew and integrated by SciPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.special import ellipj

Array = NDArray[np.float64]
G = 9.81


def _integrated(rates: Callable[[float, Array], Array], start: Array, times: Array) -> Array:
    found = solve_ivp(rates, (0, times[-1]), start, "DOP853", times, rtol=3e-14, atol=1e-14)
    return np.asarray(found.y)


def pendulum(times: Array, angle: float = 1.0) -> Array:
    """Released at rest, by Jacobi's functions: sin(angle / 2) = k cd(w t)."""
    k, w = np.sin(angle / 2), np.sqrt(G)
    sn, cn, dn, _ = ellipj(w * times, k**2)
    half = k * cn / dn
    rate = -2 * k * w * (1 - k**2) * sn / dn**2 / np.sqrt(1 - half**2)
    return np.vstack([2 * np.arcsin(half), rate])


def cartesian_pendulum(times: Array) -> Array:
    """The same in x and y."""
    angle, rate = pendulum(times)
    s, c = np.sin(angle), np.cos(angle)
    return np.vstack([s, -c, c * rate, s * rate])


def spring(times: Array) -> Array:
    """A mass of 1 on a spring of 4, from 1 at rest."""
    return np.vstack([np.cos(2 * times), -2 * np.sin(2 * times)])


def tumbling_rates(times: Array, omega: Array) -> Array:
    """Body rates for inertias 1, 2, 3 from (a, 0, c), a < c: Euler's solution by Jacobi's functions."""
    j1, j2, j3 = 1.0, 2.0, 3.0
    a, _, c = omega
    energy2, momentum2 = j1 * a**2 + j3 * c**2, (j1 * a) ** 2 + (j3 * c) ** 2
    assert momentum2 > energy2 * j2
    b = np.sqrt((energy2 * j3 - momentum2) / (j2 * (j3 - j2)))
    speed = np.sqrt((j3 - j2) * (momentum2 - energy2 * j1) / (j1 * j2 * j3))
    m = (j2 - j1) * (energy2 * j3 - momentum2) / ((j3 - j2) * (momentum2 - energy2 * j1))
    sn, cn, dn, _ = ellipj(speed * times, m)
    sign = 1.0 if (j3 - j1) * a * c / j2 > 0 else -1.0
    return np.vstack([a * cn, sign * b * sn, c * dn])


def top(times: Array, omega: Array) -> Array:
    """Rotation matrix (by columns) and body rates of the heavy top, by Euler's equations about its fixed point."""
    arm, mass = np.array([0.0, 0.1, 0.5]), 2.0
    inertia = np.diag([0.4, 0.5, 0.3]) + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    half = 0.8
    turn = np.array([[1, 0, 0], [0, np.cos(half), -np.sin(half)], [0, np.sin(half), np.cos(half)]])

    def rates(_t: float, y: Array) -> Array:
        c, w = y[:9].reshape(3, 3), y[9:]
        spin = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        moment = np.cross(arm, mass * c.T @ np.array([0, 0, -G]))
        return np.concatenate([(c @ spin).ravel(), np.linalg.solve(inertia, moment - np.cross(w, inertia @ w))])

    return _integrated(rates, np.concatenate([turn.ravel(), omega]), times)


def four_bar(times: Array, start: Array, lengths: tuple[float, ...]) -> Array:
    """x, y, angle of three rods and their rates, in absolute coordinates with the constraints' second derivatives."""
    mass = np.diag(np.concatenate([[length, length, length**3 / 12] for length in lengths]))
    force = np.concatenate([[0, -G * length, 0] for length in lengths])

    def rates(_t: float, y: Array) -> Array:
        q, u = y[:9], y[9:]
        jac, bend = np.zeros((8, 9)), np.zeros(8)
        halves = [np.array([np.cos(q[3 * k + 2]), np.sin(q[3 * k + 2])]) * lengths[k] / 2 for k in range(3)]

        def add(row: int, body: int, sign: float, end: float) -> None:
            half, w = halves[body] * end, u[3 * body + 2]
            jac[row : row + 2, 3 * body : 3 * body + 2] += sign * np.eye(2)
            jac[row : row + 2, 3 * body + 2] += sign * np.array([-half[1], half[0]])
            bend[row : row + 2] += sign * -half * w**2

        add(0, 0, 1, -1)
        for row, body in ((2, 0), (4, 1)):
            add(row, body + 1, 1, -1)
            add(row, body, -1, 1)
        add(6, 2, 1, 1)
        whole = np.block([[mass, jac.T], [jac, np.zeros((8, 8))]])
        return np.concatenate([u, np.linalg.solve(whole, np.concatenate([force, -bend]))[:9]])

    return _integrated(rates, start, times)


def sleigh(times: Array, speed: float = 1.0, spin: float = 1.0) -> Array:
    """x, y, angle and rates of Chaplygin's sleigh, reduced: v' = a w^2, w' = -m a v w / (J + m a^2)."""
    a, j = 0.3, 0.1

    def rates(_t: float, y: Array) -> Array:
        _x, _y, angle, v, w = y
        return np.array([v * np.cos(angle), v * np.sin(angle), w, a * w**2, -a * v * w / (j + a**2)])

    start = np.array([-a * np.cos(0.4), -a * np.sin(0.4), 0.4, speed, spin])
    x, y, angle, v, w = _integrated(rates, start, times)
    c, s = np.cos(angle), np.sin(angle)
    return np.vstack([x + a * c, y + a * s, angle, v * c - a * w * s, v * s + a * w * c, w])


def driven_pendulum(times: Array) -> Array:
    """x, y and rates of a pendulum whose pivot is at 0.2 sin 5t, from its angle."""

    def rates(t: float, y: Array) -> Array:
        return np.array([y[1], -G * np.sin(y[0]) + 5 * np.sin(5 * t) * np.cos(y[0])])

    angle, rate = _integrated(rates, np.array([0.5, 0.0]), times)
    s, c = np.sin(angle), np.cos(angle)
    return np.vstack([0.2 * np.sin(5 * times) + s, -c, np.cos(5 * times) + c * rate, s * rate])
