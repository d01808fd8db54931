"""An independent witness: rigid bodies in absolute coordinates, joints as constraints, Newton and Euler, in NumPy only.

Every body has position of its mass centre, quaternion, velocity and angular velocity. Accelerations and multipliers
follow from one linear system; positions and velocities are projected on the constraints at every output time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Array = NDArray[np.float64]


def skew(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def cross(a: Array, b: Array) -> Array:
    """np.cross for two single vectors, many times faster."""
    (a0, a1, a2), (b0, b1, b2) = a, b
    return np.array((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0))


def matrix(q: Array) -> Array:
    """Rotation of a quaternion, scalar first."""
    e, v = q[0], q[1:]
    return (e * e - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * e * skew(v)


def product(a: Array, b: Array) -> Array:
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + cross(a[1:], b[1:])])


def turn(axis: Sequence[float], angle: float) -> Array:
    """Rotation matrix about an axis."""
    n = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    return np.eye(3) + np.sin(angle) * skew(n) + (1 - np.cos(angle)) * skew(n) @ skew(n)


@dataclass
class Body:
    """Mass, inertia about the mass centre in body axes, and the start."""

    mass: float
    inertia: Array
    r: Array
    q: Array = field(default_factory=lambda: np.array([1.0, 0, 0, 0]))
    v: Array = field(default_factory=lambda: np.zeros(3))
    w: Array = field(default_factory=lambda: np.zeros(3))
    """Angular velocity in body axes."""


@dataclass
class Point:
    """A point of a body from its mass centre, in body axes; body -1 is the ground, and the point in world axes."""

    body: int
    s: Array


@dataclass
class Row:
    """One scalar equation: ``along`` a.(p2 - p1) = 0 with a fixed in body 1, or ``across`` a1.b2 = 0."""

    kind: str
    a: Array
    b: Array


@dataclass
class Joint:
    """Rows between two points; reactions are those on ``second`` at its point."""

    first: Point
    second: Point
    rows: list[Row]


def _perpendicular(axis: Array) -> tuple[Array, Array]:
    n = axis / np.linalg.norm(axis)
    e = np.eye(3)[int(np.argmin(np.abs(n)))]
    one = cross(n, e)
    one /= np.linalg.norm(one)
    return one, cross(n, one)


def joint(
    kind: str, first: Point, second: Point, axis: Sequence[float] = (0, 0, 1), other: Sequence[float] = ()
) -> Joint:
    """A joint of bodies whose frames are parallel to their bodies; ``axis`` has the same components in both."""
    n = np.asarray(axis, dtype=float)
    n = n / np.linalg.norm(n)
    one, two = _perpendicular(n)
    along = {"revolute": np.eye(3), "spherical": np.eye(3), "universal": np.eye(3), "cylindrical": [one, two],
             "prismatic": [one, two], "planar": [n]}[kind]  # fmt: skip
    rows = [Row("along", np.asarray(a, dtype=float), np.zeros(3)) for a in along]
    if kind in ("revolute", "cylindrical", "planar", "prismatic"):
        rows += [Row("across", one, n), Row("across", two, n)]
    if kind == "prismatic":
        rows += [Row("across", one, two)]
    if kind == "universal":
        rows += [Row("across", n, np.asarray(other, dtype=float) / np.linalg.norm(other))]
    return Joint(first, second, rows)


@dataclass
class State:
    """Everything at one time in world axes; reactions are force and torque of each joint."""

    t: float
    r: Array
    R: Array
    v: Array
    w: Array
    a: Array
    alpha: Array
    force: list[Array]
    torque: list[Array]


Load = Callable[[float, Array, Array, Array, Array], tuple[Array, Array]]
"""(t, r, R, v, w in world axes) -> forces at the mass centres and torques about them, in world axes."""


class Witness:
    """Bodies, joints and loads."""

    def __init__(self, bodies: list[Body], joints: list[Joint], gravity: Sequence[float], loads: Sequence[Load] = ()):
        self.bodies, self.joints, self.loads = bodies, joints, loads
        self.gravity = np.asarray(gravity, dtype=float)
        self.n = len(bodies)

    def _split(self, y: Array) -> tuple[Array, Array, Array, Array]:
        n = self.n
        q = y[3 * n : 7 * n].reshape(n, 4)
        return y[: 3 * n].reshape(n, 3), q, y[7 * n : 10 * n].reshape(n, 3), y[10 * n :].reshape(n, 3)

    def _rows(self, r: Array, R: Array, v: Array, w: Array) -> tuple[Array, Array, Array]:
        """Residuals, Jacobian in (v, w of the world) of each body, and the part of the second rate without u'."""
        phi, jac, bias = [], [], []
        zero, eye = np.zeros(3), np.eye(3)
        for each in self.joints:
            i, j = each.first.body, each.second.body
            Ri, wi, vi, ri = (R[i], w[i], v[i], r[i]) if i >= 0 else (eye, zero, zero, zero)
            Rj, wj, vj, rj = (R[j], w[j], v[j], r[j]) if j >= 0 else (eye, zero, zero, zero)
            si, sj = Ri @ each.first.s, Rj @ each.second.s
            d = rj + sj - ri - si
            rate = vj + cross(wj, sj) - vi - cross(wi, si)
            swing = cross(wj, cross(wj, sj)) - cross(wi, cross(wi, si))
            for row in each.rows:
                a, line = Ri @ row.a, np.zeros((self.n, 6))
                a_rate = cross(wi, a)
                if row.kind == "along":
                    phi.append(a @ d)
                    parts = (-a, -cross(si, a) - cross(d, a), a, cross(sj, a))
                    bias.append(a @ swing + 2 * a_rate @ rate + cross(wi, a_rate) @ d)
                else:
                    b = Rj @ row.b
                    b_rate = cross(wj, b)
                    phi.append(a @ b)
                    parts = (zero, cross(a, b), zero, cross(b, a))
                    bias.append(a @ cross(wj, b_rate) + cross(wi, a_rate) @ b + 2 * a_rate @ b_rate)
                if i >= 0:
                    line[i, :3] += parts[0]
                    line[i, 3:] += parts[1]
                if j >= 0:
                    line[j, :3] += parts[2]
                    line[j, 3:] += parts[3]
                jac.append(line.ravel())
        return np.array(phi), np.array(jac).reshape(len(phi), 6 * self.n), np.array(bias)

    def _dynamics(self, t: float, r: Array, q: Array, v: Array, wb: Array) -> tuple[Array, Array, Array, Array]:
        R = np.array([matrix(each / np.linalg.norm(each)) for each in q])
        w = np.einsum("nij,nj->ni", R, wb)
        J, bias = self._rows(r, R, v, w)[1:]
        mass = np.zeros((6 * self.n, 6 * self.n))
        force = np.zeros((self.n, 6))
        for k, body in enumerate(self.bodies):
            inertia = R[k] @ body.inertia @ R[k].T
            mass[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.mass * np.eye(3)
            mass[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = inertia
            force[k, :3] = body.mass * self.gravity
            force[k, 3:] = -cross(w[k], inertia @ w[k])
        for load in self.loads:
            push, twist = load(t, r, R, v, w)
            force[:, :3] += push
            force[:, 3:] += twist
        c = len(J)
        system = np.block([[mass, -J.T], [J, np.zeros((c, c))]])
        right = np.concatenate([force.ravel(), -bias])
        full = np.linalg.solve(system, right) if c else np.linalg.solve(mass, force.ravel())
        return R, w, full[: 6 * self.n].reshape(self.n, 6), full[6 * self.n :]

    def _rhs(self, t: float, y: Array) -> Array:
        r, q, v, wb = self._split(y)
        R, _, u_dot, _ = self._dynamics(t, r, q, v, wb)
        spin = np.array([0.5 * product(q[k], np.concatenate([[0.0], wb[k]])) for k in range(self.n)])
        # The body components of w change as R^T alpha, because w x w = 0.
        w_dot = np.array([R[k].T @ u_dot[k, 3:] for k in range(self.n)])
        return np.concatenate([v.ravel(), spin.ravel(), u_dot[:, :3].ravel(), w_dot.ravel()])

    def _project(self, y: Array) -> Array:
        r, q, v, wb = (part.copy() for part in self._split(y))
        for _ in range(4):
            q /= np.linalg.norm(q, axis=1)[:, None]
            R = np.array([matrix(each) for each in q])
            phi, J, _ = self._rows(r, R, v, np.einsum("nij,nj->ni", R, wb))
            if not len(phi):
                return np.concatenate([r.ravel(), q.ravel(), v.ravel(), wb.ravel()])
            step = -np.linalg.lstsq(J, phi, rcond=1e-12)[0].reshape(self.n, 6)
            r += step[:, :3]
            q = np.array([product(np.concatenate([[1.0], step[k, 3:] / 2]), q[k]) for k in range(self.n)])
        q /= np.linalg.norm(q, axis=1)[:, None]
        R = np.array([matrix(each) for each in q])
        w = np.einsum("nij,nj->ni", R, wb)
        J = self._rows(r, R, v, w)[1]
        u = np.concatenate([v, w], axis=1).ravel()
        u -= np.linalg.lstsq(J, J @ u, rcond=1e-12)[0]
        u = u.reshape(self.n, 6)
        wb = np.array([R[k].T @ u[k, 3:] for k in range(self.n)])
        return np.concatenate([r.ravel(), q.ravel(), u[:, :3].ravel(), wb.ravel()])

    def gap(self) -> tuple[float, float]:
        """How far the start misses the constraints in position and velocity."""
        r, q, v, wb = self._split(self._start())
        R = np.array([matrix(each) for each in q])
        w = np.einsum("nij,nj->ni", R, wb)
        phi, J, _ = self._rows(r, R, v, w)
        rate = J @ np.concatenate([v, w], axis=1).ravel() if len(phi) else np.zeros(1)
        return float(np.abs(phi).max(initial=0.0)), float(np.abs(rate).max(initial=0.0))

    def _start(self) -> Array:
        parts = [np.concatenate([getattr(b, name) for b in self.bodies]) for name in ("r", "q", "v", "w")]
        return np.concatenate(parts)

    def run(self, times: Sequence[float], rtol: float = 1e-11, atol: float = 1e-12) -> list[State]:
        """States at the given times, the first of which is the start."""
        y = self._project(self._start())
        states = [self._state(times[0], y)]
        for t0, t1 in pairwise(times):
            y = solve_ivp(self._rhs, (t0, t1), y, method="DOP853", rtol=rtol, atol=atol).y[:, -1]
            y = self._project(y)
            states.append(self._state(t1, y))
        return states

    def _state(self, t: float, y: Array) -> State:
        r, q, v, wb = self._split(y)
        R, w, u_dot, lam = self._dynamics(t, r, q, v, wb)
        J = self._rows(r, R, v, w)[1]
        forces, torques = [], []
        first = 0
        for each in self.joints:
            part = slice(first, first + len(each.rows))
            first += len(each.rows)
            side, sign = (each.second, 1) if each.second.body >= 0 else (each.first, -1)
            pull = sign * (J[part].T @ lam[part]).reshape(self.n, 6)[side.body]
            where = each.second
            place = where.s if where.body < 0 else r[where.body] + R[where.body] @ where.s
            forces.append(pull[:3])
            torques.append(pull[3:] + cross(r[side.body] - place, pull[:3]))
        return State(t, r, R, v, w, u_dot[:, :3], u_dot[:, 3:], forces, torques)
