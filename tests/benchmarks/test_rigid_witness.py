"""Spatial mechanisms against integrations that share no code with the program: Euler's equations, Newton-Euler."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import cotree as ct
from benchmarks import newton_euler as ne
from benchmarks.rigid_models import rscr, rssr, sliding_tree, spatial_chain, stewart

Array = NDArray[np.float64]
OPTIONS = {"rtol": 1e-12, "atol": 1e-12, "integrator": "rk8"}


def top() -> ct.Model:
    """An asymmetric body with full inertia on a spherical joint."""
    m = ct.Model("top", gravity=(0.3, -0.2, -9.81))
    inertia = (0.05, 0.08, 0.1, 0.004, -0.006, 0.003)
    m.add(ct.RigidBody("body", mass=2.0, inertia=inertia, centre=(0.1, -0.05, 0.4), frames={"tip": (0.02, 0.03, -0.1)}))
    m.add(
        ct.Spherical("S", m.ground.at(0.5, 0.2, 0.1), "body.tip", orientation=(0.8, 0.3, -0.4, 0.2),
                     angular_velocity=(2.0, -3.0, 11.0))
    )  # fmt: skip
    return m


@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_tumbling_asymmetric_body_on_a_spherical_joint(tree: str) -> None:
    """Euler's equations about the fixed point and a quaternion; the reaction from the acceleration of the centre."""
    times = np.linspace(0, 4, 9)
    sol = top().simulate(4.0, tree=tree, times=times, **OPTIONS)
    mass, gravity, pivot = 2.0, np.array([0.3, -0.2, -9.81]), np.array([0.5, 0.2, 0.1])
    arm = np.array([0.1, -0.05, 0.4]) - np.array([0.02, 0.03, -0.1])
    central = np.array([[0.05, 0.004, -0.006], [0.004, 0.08, 0.003], [-0.006, 0.003, 0.1]])
    about = central + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))

    def spin(q: Array, w: Array) -> Array:
        down = ne.matrix(q / np.linalg.norm(q)).T @ gravity
        return np.linalg.solve(about, mass * np.cross(arm, down) - np.cross(w, about @ w))

    def rhs(_: float, y: Array) -> Array:
        q, w = y[:4], y[4:]
        return np.concatenate([0.5 * ne.product(q, np.concatenate([[0], w])), spin(q, w)])

    q0 = np.array([0.8, 0.3, -0.4, 0.2]) / np.linalg.norm([0.8, 0.3, -0.4, 0.2])
    y = solve_ivp(rhs, (0, 4), [*q0, 2.0, -3.0, 11.0], "DOP853", times, rtol=1e-12, atol=1e-13).y
    for k in range(len(times)):
        q, w = y[:4, k] / np.linalg.norm(y[:4, k]), y[4:, k]
        R, w_dot = ne.matrix(q), spin(q, w)
        origin = pivot - R @ np.array([0.02, 0.03, -0.1])
        acceleration = R @ (np.cross(w_dot, arm) + np.cross(w, np.cross(w, arm)))
        np.testing.assert_allclose(sol["body.position"][k], origin, rtol=0, atol=1e-8)
        np.testing.assert_allclose(sol["body.angular_velocity"][k], R @ w, rtol=0, atol=1e-7)
        np.testing.assert_allclose(sol["body.angular_acceleration"][k], R @ w_dot, rtol=0, atol=1e-6)
        same = np.sign(sol["body.orientation"][k] @ q)
        np.testing.assert_allclose(same * sol["body.orientation"][k], q, rtol=0, atol=1e-8)
        np.testing.assert_allclose(sol["S.force"][k], mass * (acceleration - gravity), rtol=0, atol=1e-6)
        np.testing.assert_allclose(sol["S.torque"][k], 0, rtol=0, atol=1e-9)
    energy = sol.energy().stored
    assert np.abs(energy - energy[0]).max() < 1e-8


# -- Newton and Euler in absolute coordinates ------------------------------------------------------------------------


def cylinder(mass: float, radius: float, length: float) -> tuple[float, Array]:
    """Mass and moments of inertia of a full cylinder along z."""
    across = mass * (3 * radius**2 + length**2) / 12
    return mass, np.array([across, across, mass * radius**2 / 2])


Solids = Mapping[str, tuple[float, Array]]


def start(sol: ct.Solution, model: ct.Model, name: str, solids: Solids) -> ne.Body:
    """The witness starts where the program does; that this is consistent is checked separately."""
    body = model.components[name]
    mass, moments = solids[name] if name in solids else (float(body.mass), np.array(body.inertia, dtype=float))
    inertia, centre = np.diag(moments), np.array(body.centre, dtype=float)
    q = sol[f"{name}.orientation"][0]
    R = ne.matrix(q)
    w = sol[f"{name}.angular_velocity"][0]
    r = sol[f"{name}.position"][0] + R @ centre
    return ne.Body(mass, inertia, r, q, sol[f"{name}.velocity"][0] + np.cross(w, R @ centre), R.T @ w)


class Build:
    """A witness with the bodies of a model; joints and loads are written again by hand."""

    def __init__(self, model: ct.Model, t_end: float, gravity: Sequence[float] = (0, 0, -9.81)) -> None:
        self.model, self.gravity = model, gravity
        self.times = np.linspace(0, t_end, 3)
        self.sol = model.simulate(t_end, times=self.times, **OPTIONS)
        self.names = [n for n, c in model.components.items() if isinstance(c, ct.RigidBody)]
        self.joints: dict[str, ne.Joint] = {}
        self.loads: list[ne.Load] = []
        self.solids: dict[str, tuple[float, Array]] = {}

    def at(self, body: str, place: Sequence[float]) -> ne.Point:
        if body == "ground":
            return ne.Point(-1, np.asarray(place, dtype=float))
        centre = np.array(self.model.components[body].centre, dtype=float)
        return ne.Point(self.names.index(body), np.asarray(place, dtype=float) - centre)

    def frame(self, node: str) -> ne.Point:
        body, _, name = node.partition(".")
        return self.at(body, self.model.components[body].frames[name].position if name else (0, 0, 0))

    def joint(self, name: str, kind: str, a: Any, b: str, axis: Sequence[float] = (0, 0, 1), other: Any = ()) -> None:
        first = self.at("ground", a) if not isinstance(a, str) else self.frame(a)
        self.joints[name] = ne.joint(kind, first, self.frame(b), axis, other)

    def check(self) -> None:
        """Positions, velocities, accelerations and reactions at all output times."""
        bodies = [start(self.sol, self.model, n, self.solids) for n in self.names]
        witness = ne.Witness(bodies, list(self.joints.values()), self.gravity, self.loads)
        place, rate = witness.gap()
        assert place < 1e-10
        assert rate < 1e-10
        sol = self.sol
        for k, state in enumerate(witness.run(self.times)):
            for i, n in enumerate(self.names):
                centre = np.array(self.model.components[n].centre, dtype=float)
                R, w = state.R[i], state.w[i]
                r = state.r[i] - R @ centre
                v = state.v[i] - np.cross(w, R @ centre)
                np.testing.assert_allclose(sol[f"{n}.position"][k], r, rtol=0, atol=1e-8, err_msg=n)
                np.testing.assert_allclose(sol[f"{n}.velocity"][k], v, rtol=0, atol=1e-7, err_msg=n)
                np.testing.assert_allclose(sol[f"{n}.angular_velocity"][k], w, rtol=0, atol=1e-7, err_msg=n)
                found = sol[f"{n}.angular_acceleration"][k]
                np.testing.assert_allclose(found, state.alpha[i], rtol=1e-7, atol=1e-6, err_msg=n)
            for (n, joint), force, torque in zip(self.joints.items(), state.force, state.torque, strict=True):
                A = np.eye(3) if joint.first.body < 0 else state.R[joint.first.body]
                size = max(1.0, float(np.linalg.norm(force)))
                np.testing.assert_allclose(sol[f"{n}.force"][k], A.T @ force, rtol=0, atol=1e-6 * size, err_msg=n)
                np.testing.assert_allclose(sol[f"{n}.torque"][k], A.T @ torque, rtol=0, atol=1e-6 * size, err_msg=n)


def push(b: Build, node: str, force: Callable[[float], Sequence[float]], in_body: bool) -> ne.Load:
    """A force at a frame."""
    p = b.frame(node)

    def load(t: float, r: Array, R: Array, v: Array, w: Array) -> tuple[Array, Array]:
        push, twist = np.zeros_like(r), np.zeros_like(r)
        f = np.asarray(force(t), dtype=float)
        push[p.body] = R[p.body] @ f if in_body else f
        twist[p.body] = np.cross(R[p.body] @ p.s, push[p.body])
        return push, twist

    return load


def spring(b: Build, a: ne.Point, c: ne.Point, length: float, stiffness: float, damping: float) -> ne.Load:
    """A spring and damper between two points."""

    def motion(p: ne.Point, r: Array, R: Array, v: Array, w: Array) -> tuple[Array, Array]:
        if p.body < 0:
            return p.s, np.zeros(3)
        arm = R[p.body] @ p.s
        return r[p.body] + arm, v[p.body] + np.cross(w[p.body], arm)

    def load(t: float, r: Array, R: Array, v: Array, w: Array) -> tuple[Array, Array]:
        forces, torques = np.zeros_like(r), np.zeros_like(r)
        (xa, va), (xc, vc) = motion(a, r, R, v, w), motion(c, r, R, v, w)
        d = xc - xa
        distance = np.linalg.norm(d)
        n = d / distance
        pull = stiffness * (distance - length) + damping * n @ (vc - va)
        for p, f in ((a, pull * n), (c, -pull * n)):
            if p.body >= 0:
                forces[p.body] += f
                torques[p.body] += np.cross(R[p.body] @ p.s, f)
        return forces, torques

    return load


def along(b: Build, a: str, c: str, axis: Sequence[float], stiffness: float, rest: float, damping: float) -> ne.Load:
    """A spring along a slide: a force on c's body along an axis of a's body, through c's point, and its opposite."""
    p, q = (ne.Point(-1, np.zeros(3)) if a == "ground" else b.frame(a)), b.frame(c)
    n0 = np.asarray(axis, dtype=float) / np.linalg.norm(axis)

    def load(t: float, r: Array, R: Array, v: Array, w: Array) -> tuple[Array, Array]:
        forces, torques = np.zeros_like(r), np.zeros_like(r)
        xq = r[q.body] + R[q.body] @ q.s
        vq = v[q.body] + np.cross(w[q.body], R[q.body] @ q.s)
        if p.body < 0:
            n, xp, vp, wp = n0, p.s, np.zeros(3), np.zeros(3)
        else:
            n, wp = R[p.body] @ n0, w[p.body]
            xp = r[p.body] + R[p.body] @ p.s
            vp = v[p.body] + np.cross(wp, R[p.body] @ p.s)
        x = n @ (xq - xp)
        rate = n @ (vq - vp) + np.cross(wp, n) @ (xq - xp)
        f = -(stiffness * (x - rest) + damping * rate) * n
        forces[q.body] += f
        torques[q.body] += np.cross(xq - r[q.body], f)
        if p.body >= 0:
            forces[p.body] -= f
            torques[p.body] -= np.cross(xq - r[p.body], f)
        return forces, torques

    return load


def test_spatial_chain_with_body_fixed_force_and_torque() -> None:
    b = Build(spatial_chain(), 0.4)
    b.joint("S", "spherical", (0, 0, 0), "body0.in")
    b.joint("U", "universal", "body0.out", "body1.in", (1, 0, 0), (0, 1, 0))
    b.joint("R", "revolute", "body1.out", "body2.in", (0.2, 0.5, 1.0))
    b.loads.append(push(b, "body2.out", lambda t: (2 * np.cos(3 * t), 1.0, 0.5 * t), in_body=True))

    def twist(t: float, r: Array, R: Array, v: Array, w: Array) -> tuple[Array, Array]:
        torques = np.zeros_like(r)
        torques[1] = (0.3, -0.2 * np.sin(5 * t), 0.1)
        return np.zeros_like(r), torques

    b.loads.append(twist)
    b.check()


def test_rssr_four_bar() -> None:
    b = Build(rssr(), 0.2)
    b.joint("R1", "revolute", (0, 0, 0), "crank.a", (0, 0, 1))
    b.joint("S1", "spherical", "crank.b", "coupler.b")
    b.joint("S2", "spherical", "coupler.c", "rocker.c")
    b.joint("R2", "revolute", (0.9, -0.1, 0.1), "rocker.d", (1, 0.3, 0.2))
    b.check()


def test_rscr_four_bar_with_a_damped_spring() -> None:
    b = Build(rscr(), 0.25)
    b.joint("R1", "revolute", (0, 0, 0), "crank.a", (0, 1, 0))
    b.joint("S", "spherical", "crank.b", "coupler.a")
    b.joint("C", "cylindrical", "rocker.b", "coupler.b", (1.0, 0.3, -0.2))
    b.joint("R2", "revolute", (0.9, -0.2, 0.1), "rocker.c", (0.2, 0.3, 1.0))
    b.loads.append(spring(b, b.at("ground", (0.2, 0.5, 0.5)), b.frame("coupler"), 0.4, 30.0, 0.5))
    b.check()


def test_branched_tree_of_slides() -> None:
    b = Build(sliding_tree(), 0.3)
    b.joint("P", "prismatic", (0, 0, 0), "cart", (1, 0, 0.3))
    b.joint("C1", "cylindrical", "cart.l", "left", (0, 1, 0.2))
    b.joint("C2", "cylindrical", "cart.r", "right", (0.3, 0, 1))
    b.joint("plane", "planar", "left.e", "leaf", (0, 0.6, 0.8))
    b.loads.append(along(b, "ground", "cart", (1, 0, 0.3), 60.0, 0.0, 0.0))
    b.loads.append(along(b, "cart.l", "left", (0, 1, 0.2), 80.0, 0.0, 0.0))
    b.loads.append(along(b, "cart.r", "right", (0.3, 0, 1), 70.0, 0.0, 0.0))
    b.loads.append(spring(b, b.frame("left"), b.frame("leaf"), 0.1, 50.0, 0.2))
    b.check()


def test_platform_on_three_legs() -> None:
    b = Build(stewart(), 0.15)
    for k in range(3):
        foot = (0.5 * np.cos(2.1 * k), 0.5 * np.sin(2.1 * k), 0)
        b.joint(f"U{k}", "universal", foot, f"low{k}.in", (1, 0, 0), (0, 1, 0))
        b.joint(f"P{k}", "prismatic", f"low{k}.mid", f"high{k}", (0, 0, 1))
        b.joint(f"S{k}", "spherical", f"plate.t{k}", f"high{k}.out")
        b.solids |= {f"low{k}": cylinder(1.0, 0.04, 0.5), f"high{k}": cylinder(0.6, 0.02, 0.5)}
        b.loads.append(along(b, f"low{k}.mid", f"high{k}", (0, 0, 1), 400.0, 0.3, 8.0))
    b.check()
