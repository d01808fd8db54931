"""Converged motions from equations that share nothing with Cotree: numpy for the equations, SciPy for the time.

Serial chains use joint angles with all spatial vectors at the world's origin, so that sums along the chain are
cumulative sums. Other mechanisms use all coordinates of all bodies and the constraints on the acceleration level. The N
four-bars move as one pendulum. The motions are kept in `data`: all of them take ten minutes.

    python bench/rigid/references.py     # writes the data anew and prints the agreement of independent ways
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import cho_factor, cho_solve

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.rigid.models import GROUND, Joint, Mechanism, all_mechanisms, chain, four_bars, robot, squeezer

DATA = Path(__file__).parent / "data" / "references.npz"
Motion = dict[str, np.ndarray]


def skew(v: np.ndarray) -> np.ndarray:
    """The matrices of the cross products with the rows of v."""
    zero = np.zeros(v.shape[:-1])
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    rows = [np.stack(r, -1) for r in ((zero, -z, y), (z, zero, -x), (-y, x, zero))]
    return np.stack(rows, -2)


def turn(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rotation matrices about unit axes."""
    k = skew(axis)
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + s * k + (1 - c) * (k @ k)


class Serial:
    """A serial chain of revolute joints in its angles."""

    def __init__(self, m: Mechanism) -> None:
        """Collect the numbers of the chain."""
        assert m.open
        assert all(j.kind == "revolute" for j in m.joints)
        self.m = m
        self.axis = np.array([j.axis for j in m.joints])
        self.axis /= np.linalg.norm(self.axis, axis=1)[:, None]
        self.point = np.array([j.point for j in m.joints])
        self.centre = np.array([b.centre for b in m.bodies])
        self.mass = np.array([b.mass for b in m.bodies])
        self.inertia = np.array([b.matrix() for b in m.bodies])
        self.gravity = np.array(m.gravity)
        self.law = np.array([(j.torque, j.stiffness, j.damping, j.target) for j in m.joints]).T

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotation of every body and position of every joint."""
        local = turn(self.axis, q)
        rotation, place = np.empty_like(local), np.empty_like(self.point)
        R, p = np.eye(3), self.point[0]
        for k in range(len(q)):
            if k:
                p = p + R @ (self.point[k] - self.point[k - 1])
            R = R @ local[k]
            rotation[k], place[k] = R, p
        return rotation, place

    def acceleration(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The accelerations of the angles: composite inertias and a bias, both as cumulative sums."""
        R, p = self.pose(q)
        a = np.einsum("kij,kj->ki", R, self.axis)
        S = np.hstack([a, np.cross(p, a)])
        c = p + np.einsum("kij,kj->ki", R, self.centre - self.point)
        V = np.cumsum(S * u[:, None], axis=0)
        w, v = V[:, :3], V[:, 3:]
        rate = S * u[:, None]
        drift = np.hstack([np.cross(w, rate[:, :3]), np.cross(w, rate[:, 3:]) + np.cross(v, rate[:, :3])])
        A = np.cumsum(drift, axis=0)
        A[:, 3:] -= self.gravity
        k = skew(c)
        inertia = np.zeros((len(q), 6, 6))
        inertia[:, :3, :3] = R @ self.inertia @ R.transpose(0, 2, 1) - self.mass[:, None, None] * (k @ k)
        inertia[:, :3, 3:] = self.mass[:, None, None] * k
        inertia[:, 3:, :3] = -inertia[:, :3, 3:]
        inertia[:, 3:, 3:] = self.mass[:, None, None] * np.eye(3)
        h = np.einsum("kij,kj->ki", inertia, V)
        f = np.einsum("kij,kj->ki", inertia, A)
        f += np.hstack([np.cross(w, h[:, :3]) + np.cross(v, h[:, 3:]), np.cross(w, h[:, 3:])])
        bias = np.einsum("ki,ki->k", S, np.cumsum(f[::-1], axis=0)[::-1])
        composite = np.cumsum(inertia[::-1], axis=0)[::-1]
        M = np.triu(S @ np.einsum("kij,kj->ki", composite, S).T)
        torque, stiffness, damping, target = self.law
        tau = torque + stiffness * (target - q) - damping * u
        return cho_solve(cho_factor(M, lower=False), tau - bias)

    def motion(self, rtol: float = 1e-12) -> Motion:
        """The points of the mechanism on its grid."""
        n, m = len(self.mass), self.m
        x0 = np.concatenate([np.zeros(n), [j.rate for j in m.joints]])

        def f(_: float, x: np.ndarray) -> np.ndarray:
            return np.concatenate([x[n:], self.acceleration(x[:n], x[n:])])

        x = integrate(f, m, x0, rtol)
        out: Motion = {name: np.empty((len(x), 3)) for name in m.points}
        for i, row in enumerate(x):
            R, p = self.pose(row[:n])
            for name, (body, point) in m.points.items():
                k = m.order[body]
                out[name][i] = p[k] + R[k] @ (np.array(point) - self.point[k])
        return out


def integrate(f, m: Mechanism, x0: np.ndarray, rtol: float) -> np.ndarray:  # type: ignore[no-untyped-def]
    """States on the grid; steps end on the grid, so nothing is interpolated."""
    states, step = [x0], None
    for t0, t1 in zip(m.times, m.times[1:], strict=False):
        sol = solve_ivp(f, (t0, t1), states[-1], "DOP853", rtol=rtol, atol=rtol, first_step=step)
        assert sol.success, sol.message
        steps = np.diff(sol.t)
        step = min(float(steps.max()), 0.999 * (t1 - t0))  # rounding must not make it too long
        states.append(sol.y[:, -1])
    return np.array(states)


def quaternion_matrix(e: np.ndarray) -> np.ndarray:
    """The rotation matrices of quaternions of any length."""
    e = e / np.linalg.norm(e, axis=-1, keepdims=True)
    s, v = e[:, 0, None, None], e[:, 1:]
    k = skew(v)
    return np.eye(3) + 2 * s * k + 2 * (k @ k)


class Maximal:
    """All bodies free, joints as constraints on the acceleration level, least squares for redundant ones."""

    def __init__(self, m: Mechanism) -> None:
        """Number the bodies; the ground is the last one and does not move."""
        self.m, self.n = m, len(m.bodies)
        self.mass = np.array([b.mass for b in m.bodies])
        self.inertia = np.array([b.matrix() for b in m.bodies])
        self.weight = np.outer(self.mass, m.gravity)

    def frames(self, x: np.ndarray) -> tuple[np.ndarray, ...]:
        """Positions, rotations, velocities and spins with a ground at the end."""
        n = self.n
        parts = x.reshape(n, 13)
        R = np.concatenate([quaternion_matrix(parts[:, 3:7]), np.eye(3)[None]])
        still = np.zeros((1, 3))
        r, v, w = (np.concatenate([parts[:, s], still]) for s in (slice(0, 3), slice(7, 10), slice(10, 13)))
        return r, R, v, w

    def index(self, body: str) -> int:
        """A body's number."""
        return self.n if body == GROUND else self.m.order[body]

    def rows(self, joint: Joint, r: np.ndarray, R: np.ndarray, v: np.ndarray, w: np.ndarray):  # type: ignore[no-untyped-def]
        """Jacobian blocks on (v_a, w_a, v_b, w_b), right-hand side, and the violation of the constraint."""
        m, a, b = self.m, self.index(joint.a), self.index(joint.b)
        sa, sb = R[a] @ m.local(joint.a, joint.point), R[b] @ m.local(joint.b, joint.point)
        wa, wb = w[a], w[b]
        d = r[b] + sb - r[a] - sa
        D = np.hstack([-np.eye(3), skew(sa), np.eye(3), -skew(sb)])
        bias = np.cross(wb, np.cross(wb, sb)) - np.cross(wa, np.cross(wa, sa))
        axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
        s = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        s /= np.linalg.norm(s)
        triad = np.array([axis, s, np.cross(axis, s)])
        ea, eb = triad @ R[a].T, triad @ R[b].T
        blocks, right, violation = [], [], []

        def square(p: np.ndarray, q: np.ndarray) -> None:
            """P fixed in a stays perpendicular to q fixed in b."""
            c = np.cross(p, q)
            rate = np.cross(np.cross(wa, p), q) + np.cross(p, np.cross(wb, q))
            blocks.append(np.concatenate([np.zeros(3), c, np.zeros(3), -c])[None])
            right.append([-rate @ (wa - wb)])
            violation.append([p @ q])

        if joint.kind == "prismatic":
            speed = v[b] + np.cross(wb, sb) - v[a] - np.cross(wa, sa)
            for k in (1, 2):
                p = ea[k]
                row = p @ D
                row[3:6] += np.cross(p, d)
                blocks.append(row[None])
                extra = p @ bias + 2 * np.cross(wa, p) @ speed + np.cross(wa, np.cross(wa, p)) @ d
                right.append([-extra])
                violation.append([p @ d])
            for i, j in ((0, 1), (1, 2), (2, 0)):
                square(ea[i], eb[j])
        else:
            blocks.append(D)
            right.append(-bias)
            violation.append(d)
            if joint.kind == "revolute":
                square(ea[0], eb[1])
                square(ea[0], eb[2])
            elif joint.kind == "universal":
                square(ea[0], R[b] @ np.array(joint.axis2))
        return a, b, np.vstack(blocks), np.concatenate(right), np.concatenate(violation)

    def acceleration(self, x: np.ndarray) -> tuple[np.ndarray, float]:
        """Accelerations (v', w') of all bodies and the largest violation of a constraint."""
        n, m = self.n, self.m
        r, R, v, w = self.frames(x)
        inertia = R[:n] @ self.inertia @ R[:n].transpose(0, 2, 1)
        force = np.zeros((n + 1, 6))
        force[:n, :3] = self.weight
        force[:n, 3:] = -np.cross(w[:n], np.einsum("kij,kj->ki", inertia, w[:n]))
        for joint in m.joints:
            if joint.torque or joint.stiffness or joint.damping:
                a, b = self.index(joint.a), self.index(joint.b)
                axis = R[b] @ np.array(joint.axis)
                torque = joint.torque - joint.damping * axis @ (w[b] - w[a])
                if joint.stiffness:
                    relative = R[a].T @ R[b]
                    k = np.array(
                        [
                            relative[2, 1] - relative[1, 2],
                            relative[0, 2] - relative[2, 0],
                            relative[1, 0] - relative[0, 1],
                        ]
                    )
                    angle = np.arctan2(k @ np.array(joint.axis), np.trace(relative) - 1)
                    torque += joint.stiffness * (joint.target - angle)
                force[b, 3:] += torque * axis
                force[a, 3:] -= torque * axis
        for s in m.springs:
            a, b = self.index(s.a), self.index(s.b)
            sa, sb = R[a] @ m.local(s.a, s.point_a), R[b] @ m.local(s.b, s.point_b)
            d = r[b] + sb - r[a] - sa
            length = np.linalg.norm(d)
            e = d / length
            rate = e @ (v[b] + np.cross(w[b], sb) - v[a] - np.cross(w[a], sa))
            f = -(s.stiffness * (length - s.rest) + s.damping * rate) * e
            for k, arm, sign in ((b, sb, 1), (a, sa, -1)):
                force[k, :3] += sign * f
                force[k, 3:] += sign * np.cross(arm, f)
        inverse = np.zeros((n + 1, 6, 6))
        inverse[:n, :3, :3] = np.eye(3) / self.mass[:, None, None]
        inverse[:n, 3:, 3:] = np.linalg.inv(inertia)
        free = np.einsum("kij,kj->ki", inverse, force)
        found = [self.rows(joint, r, R, v, w) for joint in m.joints]
        J = np.zeros((sum(len(f[3]) for f in found), n + 1, 6))
        right, at = np.concatenate([f[3] for f in found]), 0
        for a, b, block, rows, _ in found:
            J[at : at + len(rows), a] += block[:, :6]
            J[at : at + len(rows), b] += block[:, 6:]
            at += len(rows)
        JW = np.einsum("mki,kij->mkj", J[:, :n], inverse[:n]).reshape(len(J), -1)
        J = J[:, :n].reshape(len(J), -1)
        lam = np.linalg.lstsq(JW @ J.T, right - J @ free[:n].ravel(), rcond=1e-11)[0]
        worst = max(float(np.abs(f[4]).max()) for f in found)
        return (free[:n].ravel() + JW.T @ lam).reshape(n, 6), worst

    def rates(self, _: float, x: np.ndarray) -> np.ndarray:
        """The derivative of the state."""
        part = x.reshape(self.n, 13)
        a, _worst = self.acceleration(x)
        e, w = part[:, 3:7], part[:, 10:]
        rate = np.empty_like(part)
        rate[:, :3], rate[:, 7:] = part[:, 7:10], a
        rate[:, 3] = -0.5 * np.einsum("ki,ki->k", w, e[:, 1:])
        rate[:, 4:7] = 0.5 * (e[:, :1] * w + np.cross(w, e[:, 1:]))
        return rate.ravel()

    def motion(self, rtol: float = 1e-12) -> tuple[Motion, float]:
        """The points on the grid and the largest violation of a constraint."""
        m = self.m
        x0 = np.array([[*b.centre, 1, 0, 0, 0, *b.velocity, *b.spin] for b in m.bodies], dtype=float).ravel()
        x = integrate(self.rates, m, x0, rtol)
        out: Motion = {name: np.empty((len(x), 3)) for name in m.points}
        worst = 0.0
        for i, row in enumerate(x):
            r, R, _, _ = self.frames(row)
            worst = max(worst, self.acceleration(row)[1])
            for name, (body, point) in m.points.items():
                k = m.order[body]
                out[name][i] = r[k] + R[k] @ m.local(body, point)
        return out, worst


def pendulum(m: Mechanism, rtol: float = 1e-13) -> Motion:
    """N four-bars as one pendulum: all uprights turn together and the bars on top translate."""
    loops = sum(j.cut for j in m.joints)
    inertia, moment = (loops + 1) / 3 + loops, (loops + 1) / 2 + loops
    g = -m.gravity[1]

    def f(_: float, x: np.ndarray) -> np.ndarray:
        return np.array([x[1], moment * g / inertia * np.sin(x[0])])

    angle = integrate(f, m, np.array([0.0, 1.0]), rtol)[:, 0]
    flat = np.stack([np.sin(angle), np.cos(angle), 0 * angle], axis=1)
    return {name: flat + np.array([point[0], 0, 0]) for name, (_, point) in m.points.items()}


def compute(m: Mechanism) -> Motion:
    """The reference of a mechanism."""
    if m.name.startswith("four_bars"):
        return pendulum(m)
    if m.open:
        return Serial(m).motion()
    return Maximal(m).motion()[0]


def reference(m: Mechanism) -> Motion:
    """The stored reference, computed where there is none that fits."""
    if DATA.exists():
        with np.load(DATA) as data:
            keys = {name: f"{m.name}.{name}" for name in m.points}
            if f"{m.name}.times" in data and np.array_equal(data[f"{m.name}.times"], [m.t_end, m.intervals]):
                return {name: data[k] for name, k in keys.items()}
    return compute(m)


def error(m: Mechanism, motion: Motion, base: Motion) -> float:
    """The largest distance of a named point from the reference, over the grid or its last times."""
    gaps = [motion[name] - base[name][-len(motion[name]) :] for name in m.points]
    return float(max(np.linalg.norm(gap, axis=1).max() for gap in gaps))


def main() -> None:
    """Write the data and print how well independent ways agree."""
    stored: dict[str, np.ndarray] = {}
    for m in all_mechanisms():
        motion = compute(m)
        stored |= {f"{m.name}.{name}": values for name, values in motion.items()}
        stored[f"{m.name}.times"] = np.array([m.t_end, m.intervals])
        print(f"{m.title:<28}", *(f"{k} {np.round(v[-1], 10)}" for k, v in motion.items()), flush=True)
    DATA.parent.mkdir(exist_ok=True)
    np.savez_compressed(DATA, **stored)
    for m in (chain(2), chain(10), robot()):
        other, worst = Maximal(m).motion()
        print(f"{m.title}: angles against all coordinates {error(m, other, Serial(m).motion()):.1e}, drift {worst:.1e}")
    for m in (squeezer(), *(c for c in all_mechanisms() if c.name in ("bricard", "stewart"))):
        (fine, worst), (rough, _) = Maximal(m).motion(1e-12), Maximal(m).motion(1e-9)
        print(f"{m.title}: rtol 1e-9 against 1e-12 {error(m, rough, fine):.1e}, drift {worst:.1e}")
    m = four_bars(2, t_end=1.0)
    print(f"{m.title}: pendulum against all coordinates {error(m, Maximal(m).motion()[0], pendulum(m)):.1e}")


if __name__ == "__main__":
    main()
