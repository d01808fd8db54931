"""A four-bar, as a model and as one equation for its crank angle that is written by hand.

With every position a function of the crank angle, J(a) a'' + J'(a) a'^2 / 2 + V'(a) = torque. First derivatives are
taken by a complex step, further ones by differences of sixth order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import cotree as ct
from cotree.terminal.bodies import RigidBody
from cotree.terminal.joints import Revolute

BASE, COUPLER, FOLLOWER = 0.9, 0.9, 0.75
G = 9.81
TREES = ("joint", "absolute")
STEP = 2e-3
WEIGHTS = np.array([-1, 9, -45, 0, 45, -9, 1]) / (60 * STEP)


def model(*, fixed: tuple[str, ...] = ("angle",), rate: float | None = None, start: Any = "a0") -> ct.Model:
    """Crank O-A of length L, coupler A-B, follower B-C; gravity against y."""
    m = ct.Model("four-bar", gravity=(0, -G, 0), parameters={"L": 0.3, "a0": 0.3})
    frames = {"O": ("-L/2", 0, 0), "A": ("L/2", 0, 0)}
    crank = m.add(RigidBody("crank", mass=1.0, inertia=(1e-4, 7.5e-3, 7.5e-3), frames=frames))
    half = COUPLER / 2, FOLLOWER / 2
    coupler = m.add(
        RigidBody(
            "coupler", mass=3.0, inertia=(0.01, 0.2, 0.2025), frames={"A": (-half[0], 0, 0), "B": (half[0], 0, 0)}
        )
    )
    follower = m.add(
        RigidBody(
            "follower", mass=2.0, inertia=(0.01, 0.1, 0.09375), frames={"B": (-half[1], 0, 0), "C": (half[1], 0, 0)}
        )
    )
    m.add(Revolute("O", m.ground, crank["O"], angle=start, angle_rate=rate, fixed=fixed))
    m.add(Revolute("A", crank["A"], coupler["A"], angle=0.5))
    m.add(Revolute("B", coupler["B"], follower["B"], angle=-2.4))
    m.add(Revolute("C", follower["C"], m.ground.at(BASE, 0, 0)))
    return m


class Reference:
    """The same four-bar by hand; ``crank`` is the crank's length, ``masses`` those of crank, coupler and follower."""

    def __init__(self, crank: float = 0.3, masses: tuple[float, float, float] = (1.0, 3.0, 2.0)) -> None:
        self.crank, self.masses = crank, masses
        self.inertias = (7.5e-3, 0.2025, 0.09375)

    def points(self, a: Any) -> tuple[Any, Any]:
        """A and B as complex numbers would be: here as pairs, so that a complex step can be taken through them."""
        ax, ay = self.crank * np.cos(a), self.crank * np.sin(a)
        dx, dy = BASE - ax, -ay
        square = dx * dx + dy * dy
        along = (COUPLER**2 - FOLLOWER**2 + square) / (2 * square)
        across = np.sqrt(COUPLER**2 / square - along**2)
        return (ax, ay), (ax + along * dx - across * dy, ay + along * dy + across * dx)

    def places(self, a: Any) -> Any:
        """Centres of mass (x, y) of the three bodies, then unit vectors along them."""
        A, B = self.points(a)
        C = (BASE, 0.0)
        ends = (((0.0, 0.0), A, self.crank), (A, B, COUPLER), (B, C, FOLLOWER))
        centres = [((p[0] + q[0]) / 2, (p[1] + q[1]) / 2) for p, q, _ in ends]
        lines = [((q[0] - p[0]) / length, (q[1] - p[1]) / length) for p, q, length in ends]
        return np.array([[x + 0 * a, y + 0 * a] for x, y in (*centres, *lines)])

    def slopes(self, a: Any) -> Any:
        """d(places)/da, exact by a complex step."""
        return self.places(a + 1e-30j).imag / 1e-30

    def inertia(self, a: Any) -> Any:
        """J(a)."""
        slopes, places = self.slopes(a), self.places(a)
        turns = places[3:, 0] * slopes[3:, 1] - places[3:, 1] * slopes[3:, 0]
        return np.tensordot(self.masses, (slopes[:3] ** 2).sum(axis=1), 1) + np.tensordot(self.inertias, turns**2, 1)

    def pull(self, a: Any) -> Any:
        """V'(a)."""
        return G * np.tensordot(self.masses, self.slopes(a)[:3, 1], 1)

    def torque(self, a: float, rate: float, acceleration: float) -> float:
        """What drives the crank."""
        return self.inertia(a) * acceleration + slope(self.inertia, a) * rate**2 / 2 + self.pull(a)

    def acceleration(self, a: float, rate: float) -> float:
        """a'' of the free motion."""
        near = a + STEP * np.arange(-3, 4)
        inertia, pull = self.inertia(near), self.pull(a)
        return -(float(WEIGHTS @ inertia) * rate**2 / 2 + float(pull)) / float(inertia[3])

    def motion(self, a: float, rate: float, times: Any) -> Any:
        """Angle and speed of the free motion, by SciPy."""
        from scipy.integrate import solve_ivp

        def rates(_: float, y: Any) -> list[float]:
            return [y[1], self.acceleration(y[0], y[1])]

        found = solve_ivp(rates, (0, times[-1]), [a, rate], "DOP853", times, rtol=1e-11, atol=1e-12)
        return found.y


def slope(function: Callable[[Any], Any], x: float) -> float:
    """f'(x) by differences of sixth order."""
    return float(WEIGHTS @ function(x + STEP * np.arange(-3, 4)))
