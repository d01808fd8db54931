"""Flexible mechanisms, their numbers, and the deflections that the programs are compared with.

The four-bar's curves are stored ones (`data/four_bar.json`, several independent witnesses). The spin-up has two
references from equations of their own: linear theory in a rotating frame, mode by mode, and the extensible elastica in
shape functions of angle and stretch, which is kept in `data/spin_up.json`.

    python bench/flexible/references.py     # two minutes: writes the elastica anew and prints its agreement
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

DATA = Path(__file__).parent / "data"
Curves = dict[str, np.ndarray]


@dataclass(frozen=True)
class Reference:
    """Times and, for each named deflection, its values in m."""

    name: str
    times: np.ndarray
    curves: Curves

    @property
    def intervals(self) -> int:
        """Intervals of the even grid."""
        return len(self.times) - 1

    def error(self, found: Curves) -> float:
        """The largest distance of any curve over the grid; infinite where something is not a number."""
        gap = max(float(np.abs(found[k] - v).max()) for k, v in self.curves.items())
        return gap if math.isfinite(gap) else math.inf


@dataclass(frozen=True)
class SpinUp:
    """A cantilever on a hub that is brought to its speed."""

    length: float = 10.0
    axial: float = 2.8e7
    shear: float = 1e7
    bending: float = 1.4e4
    mass: float = 1.2
    rotary: float = 6e-4
    speed: float = 6.0
    rise: float = 15.0

    def angle(self, t):  # type: ignore[no-untyped-def]
        """The hub's angle during the rise."""
        w, T = self.speed, self.rise
        return w * (t * t / (2 * T) + T / (4 * math.pi**2) * (np.cos(2 * math.pi * t / T) - 1))

    def rate(self, t):  # type: ignore[no-untyped-def]
        """The hub's angular velocity."""
        return self.speed * (t / self.rise - np.sin(2 * math.pi * t / self.rise) / (2 * math.pi))

    def acceleration(self, t):  # type: ignore[no-untyped-def]
        """The hub's angular acceleration."""
        return self.speed / self.rise * (1 - np.cos(2 * math.pi * t / self.rise))


@dataclass(frozen=True)
class FourBar:
    """Rigid crank OA, elastic coupler AB and follower BC, both of one section."""

    crank: float = 0.3
    coupler: float = 0.9
    follower: float = 0.75
    ground: float = 0.9
    speed: float = 210.0
    young: float = 2e11
    density: float = 7800.0
    area: float = 1.767e-4
    second: float = 3.112e-8
    turns: float = 2.0

    @property
    def t_end(self) -> float:
        """The end of the last turn."""
        return self.turns * 2 * math.pi / self.speed

    def start(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
        """A, B and C at the start with B above, and the angular velocities of the undeformed AB and BC."""
        a, c = np.array([self.crank, 0.0]), np.array([self.ground, 0.0])
        d = self.ground - self.crank
        x = (self.coupler**2 - self.follower**2 + d**2) / (2 * d)
        b = a + np.array([x, math.sqrt(self.coupler**2 - x**2)])
        ab, bc = b - a, c - b
        velocity = np.array([0.0, self.crank * self.speed])  # of A; that of C is zero
        turned = np.column_stack([(-ab[1], ab[0]), (-bc[1], bc[0])])
        first, second = np.linalg.solve(turned, -velocity)
        return a, b, c, float(first), float(second)


def four_bar(model: str) -> Reference:
    """A stored model: linear_2_modes, linear_with_axial_force_stiffening_2_modes or extensible_elastica_converged."""
    stored = json.loads((DATA / "four_bar.json").read_text(encoding="utf-8"))
    times = np.radians(np.array(stored["crank_deg"], dtype=float)) / FourBar().speed
    return Reference(model, times, {name: np.array(stored["models"][model][name]) for name in ("AB", "BC")})


def clamped_free(count: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of lambda and, at x in 0..1, the clamped-free shapes and their slopes; one at the tip."""
    roots, shapes, slopes = [], [], []
    for k in range(count):
        middle = (k + 0.5) * math.pi
        b = brentq(lambda s: math.cos(s) + 1 / math.cosh(s), middle - 0.5, middle + 0.5, xtol=1e-15)
        ratio = (math.cos(b) + math.cosh(b)) / (math.sin(b) + math.sinh(b))
        # cosh - ratio sinh without cancellation for large arguments
        up, down = (1 - ratio) / 2 * np.exp(b * x), (1 + ratio) / 2 * np.exp(-b * x)
        shape = up + down - np.cos(b * x) + ratio * np.sin(b * x)
        slope = b * (up - down + np.sin(b * x) + ratio * np.cos(b * x))
        top = (1 - ratio) / 2 * math.exp(b) + (1 + ratio) / 2 * math.exp(-b) - math.cos(b) + ratio * math.sin(b)
        roots.append(b)
        shapes.append(shape / top)
        slopes.append(slope / top)
    return np.array(roots), np.array(shapes), np.array(slopes)


def modal(modes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Integrals over 0..1 of clamped-free shapes: mass, load of a turning hub, bending, tension of a spinning beam."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    x, weights = (nodes + 1) / 2, weights / 2
    roots, shapes, slopes = clamped_free(modes, x)
    mass = (shapes * weights) @ shapes.T
    return mass, shapes @ (weights * x), np.diag(roots**4 * np.diag(mass)), (
        (slopes * (weights * (1 - x**2) / 2)) @ slopes.T
    )  # fmt: skip


def spin_up_linear(modes: int, times: np.ndarray, stiffened: bool = False) -> Reference:
    """Linear theory in the hub's frame: across the beam only, with or without the centrifugal tension."""
    m = SpinUp()
    mass, load, stiff, tension = modal(modes)
    load, stiff, tension = load * m.length, stiff * m.bending / (m.mass * m.length**4), tension * float(stiffened)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, u = np.split(y, 2)
        force = -load * m.acceleration(t) - stiff @ q + m.rate(t) ** 2 * ((mass - tension) @ q)
        return np.concatenate([u, np.linalg.solve(mass, force)])

    found = solve_ivp(rates, (0, times[-1]), np.zeros(2 * modes), "DOP853", times, rtol=1e-10, atol=1e-12)
    name = f"linear theory {'with' if stiffened else 'without'} stiffening, {modes} modes"
    return Reference(name, times, {"tip": found.y[:modes].sum(0)})


def spin_up_elastica() -> Reference:
    """The stored extensible elastica (Euler-Bernoulli, no rotary inertia)."""
    stored = json.loads((DATA / "spin_up.json").read_text(encoding="utf-8"))
    return Reference("elastica", np.array(stored["time"]), {"tip": np.array(stored["tip"])})


PUBLISHED = {5.0: -0.46844, 7.5: -0.55893, 10.0: -0.36251, 12.5: -0.11256}
"""Tip offsets of the elastica computed by others: time and m. They differ from this one by up to 2.5e-4 m; Exudyn's
cables, 24 of them and the step extrapolated to zero, meet this one within 2e-6 m."""


class Elastica:
    """Angle and stretch along the beam as polynomials: positions are their integrals, exact for any rotation."""

    def __init__(self, angles: int = 7, stretches: int = 4, panels: int = 30) -> None:
        """Points and the matrices that integrate along the beam."""
        self.m = m = SpinUp()
        nodes, weights = np.polynomial.legendre.leggauss(panels)
        self.s, self.w = (nodes + 1) / 2 * m.length, weights / 2 * m.length
        full = np.polynomial.legendre.legvander(nodes, panels - 1)
        back = np.linalg.inv(full)
        integral = np.zeros((panels, panels))
        tip = np.zeros(panels)
        for k in range(panels):
            series = np.polynomial.legendre.legint(np.eye(panels)[k], lbnd=-1)
            integral[:, k] = np.polynomial.legendre.legval(nodes, series)
            tip[k] = np.polynomial.legendre.legval(1.0, series)
        self.along, self.tip = integral @ back * m.length / 2, tip @ back * m.length / 2
        x = self.s / m.length
        # curvature and tension vanish at the tip: derivative of the angle as (1 - x) P_k, stretch as (1 - x) P_k
        base = (1 - x)[:, None] * np.polynomial.legendre.legvander(nodes, max(angles, stretches) - 1)
        self.curvature, self.stretch = base[:, :angles] / m.length, base[:, :stretches]
        self.angle = self.along @ self.curvature
        self.n = angles + stretches
        self.k = angles
        self.stiffness = np.zeros((self.n, self.n))
        self.stiffness[:angles, :angles] = m.bending * (self.curvature.T * self.w) @ self.curvature
        self.stiffness[angles:, angles:] = m.axial * (self.stretch.T * self.w) @ self.stretch

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        """Lagrange's equations in the hub's frame."""
        m, k = self.m, self.k
        q, u = np.split(y, 2)
        theta, theta_t = self.angle @ q[:k], self.angle @ u[:k]
        e, e_t = self.stretch @ q[k:], self.stretch @ u[k:]
        c, s = np.cos(theta), np.sin(theta)
        tangent, normal = np.stack([c, s]), np.stack([-s, c])
        place = (self.along @ ((1 + e) * tangent).T).T
        move = [self.along @ np.hstack([((1 + e) * n)[:, None] * self.angle, a[:, None] * self.stretch])
                for n, a in zip(normal, tangent, strict=True)]  # fmt: skip
        speed = (self.along @ ((1 + e) * theta_t * normal + e_t * tangent).T).T
        # the accelerations that remain without those of the coordinates
        rest = (self.along @ (-(1 + e) * theta_t**2 * tangent + 2 * e_t * theta_t * normal).T).T
        w, a = m.rate(t), m.acceleration(t)
        ax = rest[0] - 2 * w * speed[1] - a * place[1] - w * w * place[0]
        ay = rest[1] + 2 * w * speed[0] + a * place[0] - w * w * place[1]
        weight = m.mass * self.w
        mass = sum((j.T * weight) @ j for j in move)
        force = -move[0].T @ (weight * ax) - move[1].T @ (weight * ay) - self.stiffness @ q
        return np.concatenate([u, np.linalg.solve(mass, force)])

    def offset(self, q: np.ndarray) -> float:
        """The tip's offset across the hub's axis."""
        theta, e = self.angle @ q[: self.k], self.stretch @ q[self.k : self.n]
        return float(self.tip @ ((1 + e) * np.sin(theta)))

    def run(self, times: np.ndarray) -> np.ndarray:
        """Tip offsets; few shapes keep the fastest frequency in the reach of an explicit method of high order."""
        found = solve_ivp(self.rates, (0, times[-1]), np.zeros(2 * self.n), "DOP853", times, rtol=1e-7, atol=1e-10)
        return np.array([self.offset(q) for q in found.y[: self.n].T])


def main() -> None:
    """Write the elastica's curve and print how well it agrees with others and with itself."""
    times = np.linspace(0, SpinUp().rise, 61)
    fine = Elastica(7, 4).run(times)
    coarse = Elastica(4, 2).run(times)
    print(f"elastica, two resolutions: {np.abs(fine - coarse).max():.1e} m")
    for t, y in PUBLISHED.items():
        print(f"elastica at {t:g} s: {fine[np.argmin(abs(times - t))]:.6f}, stored {y:.5f}")
    for modes in (1, 2, 4):
        y = spin_up_linear(modes, np.linspace(0, 15, 1501), True).curves["tip"]
        print(f"linear theory with stiffening, {modes} modes: least offset {y.min():.5f}")
    y = spin_up_linear(2, np.array([0, 7.5, 10.0])).curves["tip"]
    print(f"linear theory without stiffening at 7.5 s: {y[1]:.4f}, at 10 s: {y[2]:.1f}")
    stored = {"time": times.tolist(), "tip": [round(v, 9) for v in fine.tolist()]}
    (DATA / "spin_up.json").write_text(json.dumps(stored, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
