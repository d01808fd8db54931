"""A3: the same coarse runs from micrometres to kilometres. Chains of rods and four-bars against equations by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import cotree as ct
from faults.cases.judge import Array, Case, decade, off, pick, solved, worst

SLIM = 0.05
"""Radius of a rod over its length."""


def rod_inertia(mass: Any, length: Any) -> Any:
    """About the centre, across the rod."""
    return mass * length**2 * (1 / 12 + SLIM**2 / 4)


def chain(lengths: Array, masses: Array, angles: Array, gravity: float) -> ct.Model:
    """Rods one after another, hinged about z; the angles are those of the rods against x."""
    m = ct.Model("chain", gravity=(0, -gravity, 0))
    before, last = m.ground, 0.0
    for k, (length, mass, angle) in enumerate(zip(lengths.tolist(), masses.tolist(), angles.tolist(), strict=True)):
        shape = ct.rod(length=length, mass=mass, radius=SLIM * length)
        rod = m.add(ct.RigidBody(f"rod{k}", shape, frames={"a": (-length / 2, 0, 0), "b": (length / 2, 0, 0)}))
        m.add(ct.Revolute(f"J{k}", before, rod["a"], angle=angle - last, angle_rate=0.0))
        before, last = rod["b"], angle
    return m


def chain_rates(lengths: Array, masses: Array, gravity: float) -> Callable[[float, Array], Array]:
    """Lagrange's equations of the rods' angles: sum_j A_ij (cos(i - j) phi_j'' + sin(i - j) phi_j'^2) = torque_i."""
    n = len(lengths)
    beyond = np.array([masses[k + 1 :].sum() for k in range(n)])
    reach = lengths * (masses / 2 + beyond)  # first moment of what a rod moves
    A = np.zeros((n, n))
    for i in range(n):
        A[i, i] = rod_inertia(masses[i], lengths[i]) + masses[i] * lengths[i] ** 2 / 4 + lengths[i] ** 2 * beyond[i]
        for j in range(i + 1, n):
            A[i, j] = A[j, i] = lengths[i] * reach[j]

    def rates(_: float, y: Array) -> Array:
        phi, speed = y[:n], y[n:]
        between = phi[:, None] - phi[None, :]
        torque = -gravity * reach * np.cos(phi) - (A * np.sin(between)) @ speed**2
        return np.concatenate([speed, np.linalg.solve(A * np.cos(between), torque)])

    return rates


def some_size(rng: np.random.Generator) -> float:
    """From micrometres to kilometres, more often below a millimetre."""
    return decade(rng, -6, -3) if rng.integers(3) else decade(rng, -3, 3)


def coarse_chain(rng: np.random.Generator, wrong: bool) -> Case:
    """A chain of two or three rods of any size."""
    count = int(rng.integers(2, 4))
    size, g, density = some_size(rng), 9.81, decade(rng, 2, 4)
    if rng.integers(2):
        g *= size  # as slow as at 1 m
    lengths = size * rng.uniform(0.6, 1.4, count)
    masses = density * np.pi * SLIM**2 * lengths**3
    angles = -np.pi / 2 + rng.uniform(0.5, 1.2) * pick(rng, -1, 1) + rng.uniform(-0.3, 0.3, count)
    t_end = float(np.sqrt(size / g)) * rng.uniform(11, 17)
    rtol = decade(rng, -1.8, -0.4) if wrong else pick(rng, 1e-8, 1e-8, 1e-7)
    tree = pick(rng, None, None, None, "absolute") if wrong or 0.1 < size < 10 else None
    times = np.linspace(0, t_end, 61)

    def run() -> Any:
        return chain(lengths, masses, angles, g).simulate(t_end, points=61, rtol=rtol, tree=tree)

    def error(sol: Any) -> float:
        truth = solved(chain_rates(lengths, masses, g), [*angles, *np.zeros(count)], times)[:count]
        found = np.cumsum([sol[f"J{k}.angle"] for k in range(count)], axis=0)
        return worst(*map(off, found, truth))

    label = f"chain of {count}, {size:.0e} m, rtol {rtol:.0e}, {tree or 'joint'}"
    return Case("A3", label, not wrong, run, error)


class FourBar:
    """A four-bar of uniform rods in the plane; everything follows from the crank's angle."""

    def __init__(self, crank: float, coupler: float, follower: float, base: float, masses: Sequence[float]) -> None:
        self.a, self.b, self.c, self.d = crank, coupler, follower, base
        self.masses = tuple(float(each) for each in masses)

    def points(self, theta: Any) -> tuple[Any, Any]:
        """The ends of the crank and of the follower; also for complex angles, for derivatives."""
        P = np.array([self.a * np.cos(theta), self.a * np.sin(theta)])
        D = np.array([self.d + 0 * theta, 0 * theta])
        way = D - P
        r2 = (way**2).sum(axis=0)
        along = (self.b**2 - self.c**2 + r2) / (2 * r2)
        across = np.sqrt(self.b**2 / r2 - along**2)
        return P, P + along * way + across * np.array([-way[1], way[0]])

    def slopes(self, theta: float) -> tuple[Array, Array]:
        """Derivatives of both points by the angle, by a complex step."""
        P, Q = self.points(theta + 1e-30j)
        return P.imag / 1e-30, Q.imag / 1e-30

    def directions(self, theta: float) -> tuple[float, float]:
        """The angles of the coupler, and of the follower from its moving end to the ground."""
        P, Q = self.points(theta)
        return float(np.arctan2(Q[1] - P[1], Q[0] - P[0])), float(np.arctan2(-Q[1], self.d - Q[0]))

    def inertia(self, theta: float) -> float:
        """Twice the kinetic energy at unit speed of the crank."""
        (P, Q), (dP, dQ) = self.points(theta), self.slopes(theta)
        m1, m2, m3 = self.masses
        arm, arm_rate, end = (Q - P) / self.b, (dQ - dP) / self.b, Q - np.array([self.d, 0.0])
        turn = arm[0] * arm_rate[1] - arm[1] * arm_rate[0]
        swing = (end[0] * dQ[1] - end[1] * dQ[0]) / self.c**2
        about_end = [rod_inertia(m, long) + m * long**2 / 4 for m, long in ((m1, self.a), (m3, self.c))]
        middle = (dP + dQ) / 2
        return float(about_end[0] + m2 * middle @ middle + rod_inertia(m2, self.b) * turn**2 + about_end[1] * swing**2)

    def rates(self, gravity: float) -> Callable[[float, Array], list[float]]:
        """J theta'' = - dV/dtheta - J' theta'^2 / 2."""
        m1, m2, m3 = self.masses

        def rates(_: float, y: Array) -> list[float]:
            theta, speed = float(y[0]), float(y[1])
            dP, dQ = self.slopes(theta)
            slope = gravity * (m1 * dP[1] / 2 + m2 * (dP[1] + dQ[1]) / 2 + m3 * dQ[1] / 2)
            h = 1e-4
            ahead = [self.inertia(theta + k * h) for k in (-2, -1, 1, 2)]
            change = (ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * h)
            return [speed, (-slope - change * speed**2 / 2) / self.inertia(theta)]

        return rates

    def model(self, theta: float, gravity: float, rough: Sequence[float] = (), **first: Any) -> ct.Model:
        """The same in Cotree: O, A, B are given, C closes the loop; with ``rough``, O is fixed, and A and B are off."""
        more = rough or (0.0, 0.0)
        first |= {"fixed": ("angle",)} if rough else {}
        m = ct.Model("four-bar", gravity=(0, -gravity, 0))
        bars = {}
        lengths = {"crank": self.a, "coupler": self.b, "follower": self.c}
        for (name, length), mass in zip(lengths.items(), self.masses, strict=True):
            frames = {"a": (-length / 2, 0, 0), "b": (length / 2, 0, 0)}
            shape = ct.rod(length=length, mass=mass, radius=SLIM * length)
            bars[name] = m.add(ct.RigidBody(name, shape, frames=frames))
        second, third = self.directions(theta)
        m.add(ct.Revolute("O", m.ground, bars["crank"]["a"], angle=theta, **first))
        m.add(ct.Revolute("A", bars["crank"]["b"], bars["coupler"]["a"], angle=second - theta + more[0]))
        m.add(ct.Revolute("B", bars["coupler"]["b"], bars["follower"]["a"], angle=third - second + more[1]))
        m.add(ct.Revolute("C", bars["follower"]["b"], m.ground.at(self.d, 0, 0)))
        return m


def some_four_bar(rng: np.random.Generator, size: float) -> FourBar:
    """Lengths near 0.3, 0.9, 0.75 and 0.9 of a size: the crank can turn round."""
    lengths = size * np.array([0.3, 0.9, 0.75, 0.9]) * rng.uniform(0.93, 1.07, 4)
    density = decade(rng, 2, 4)
    return FourBar(*lengths.tolist(), masses=(density * np.pi * SLIM**2 * lengths[:3] ** 3).tolist())


def coarse_four_bar(rng: np.random.Generator, tiny: bool, wrong: bool) -> Case:
    """A four-bar that swings; ``tiny`` takes one far below a micrometre at default settings."""
    size, g = some_size(rng), 9.81
    if tiny and wrong:
        size = decade(rng, -12, -10)
    if tiny or rng.integers(2):
        g *= size
    bar = some_four_bar(rng, size)
    rough: tuple[float, ...] = ()
    if tiny:  # lengths alone are small, and the loop has to be closed
        bar.masses = tuple(rng.uniform(0.5, 3.0, 3).tolist())
        rough = tuple(rng.uniform(-0.1, 0.1, 2).tolist())
    theta = float(rng.uniform(0.3, 1.2))
    t_end = float(np.sqrt(size / g)) * rng.uniform(4, 7)
    rtol = 1e-8 if tiny or not wrong else decade(rng, -1.5, -0.4)
    tree = pick(rng, None, None, None, "absolute") if wrong or 0.1 < size < 10 else None
    times = np.linspace(0, t_end, 61)

    def run() -> Any:
        return bar.model(theta, g, rough).simulate(t_end, points=61, rtol=rtol, tree=tree)

    def error(sol: Any) -> float:
        return off(sol["O.angle"], solved(bar.rates(g), [theta, 0.0], times, rtol=1e-10, atol=1e-12)[0])

    return Case("A3", f"four-bar, {size:.0e} m, rtol {rtol:.0e}, {tree or 'joint'}", not wrong, run, error)


def scale(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """Chains and four-bars in turn."""
    return coarse_chain(rng, wrong) if index % 2 == 0 else coarse_four_bar(rng, index % 4 == 3, wrong)
