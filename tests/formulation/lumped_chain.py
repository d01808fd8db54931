"""A flexible pendulum without Cotree: a chain of rigid links with rotational springs, by Lagrange's equations.

The links have length h = L / N and mass rho A h; the springs between them have the stiffness EI / h. Rotations may be
as large as they like. As N grows, the chain becomes an inextensible beam without shear, with an error of order h^2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]


def pendulum(links: int, *, length: float, bending: float, line: float, tip: float, g: float, times: Array) -> Array:
    """x and y of the middle and of the tip at given times: hinged at the origin, from rest along x."""
    h = length / links
    mass = line * h
    to_centre = np.tril(np.ones((links, links)), -1) * h + np.eye(links) * h / 2
    a = mass * to_centre.T @ to_centre + np.eye(links) * mass * h**2 / 12 + tip * h**2
    weight = g * (mass * to_centre.sum(axis=0) + tip * h)
    bends = np.diff(np.eye(links), axis=0)
    stiffness = bending / h * bends.T @ bends

    def rates(_: float, x: Array) -> Array:
        angle, speed = x[:links], x[links:]
        between = angle[:, None] - angle
        push = -(a * np.sin(between)) @ speed**2 - stiffness @ angle - weight * np.cos(angle)
        return np.concatenate([speed, np.linalg.solve(a * np.cos(between), push)])

    start = np.zeros(2 * links)
    run = solve_ivp(rates, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-8, atol=1e-9)
    angle = run.y[:links]
    x, y = h * np.cumsum(np.cos(angle), axis=0), h * np.cumsum(np.sin(angle), axis=0)
    middle = links // 2 - 1
    return np.array([x[middle], y[middle], x[-1], y[-1]])


def converged(links: int, **given: float | Array) -> tuple[Array, float]:
    """The limit of many links, from two chains, and how far the finer one is from it."""
    coarse, fine = (pendulum(n, **given) for n in (links // 2, links))  # type: ignore[arg-type]
    limit = (4 * fine - coarse) / 3
    return limit, float(np.abs(fine - limit).max())
