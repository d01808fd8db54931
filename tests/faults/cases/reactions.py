"""A7 and A18: reactions that rigid bodies do not determine.

In a single loop a state of self-stress is one wrench that passes through all joints, and coaxial or parallel joints
between the same two bodies share their load in any way: each of these joints has reactions without a truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import cotree as ct
from faults.cases.judge import Array, Case, decade, direction, pick, triple
from faults.cases.scales import FourBar, rod_inertia, some_four_bar


def never(_: Any) -> float:
    """The error of a result that has no truth."""
    return float("inf")


def rotation(axis: Any, angle: float) -> Array:
    """Rodrigues' formula."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def revolute_loop(points: Sequence[Array], axes: Sequence[Array], mass: float, gravity: Array) -> ct.Model:
    """Bodies from one joint to the next, all unturned in the position given; the ground closes the loop."""
    m = ct.Model("loop", gravity=triple(gravity))
    frame = str(m.ground)
    for k, (start, end) in enumerate(pairwise(points)):
        half = (end - start) / 2
        length = 2 * float(np.linalg.norm(half))
        moments = mass * length**2 * np.array([0.08, 0.09, 0.1])
        ends = {"a": triple(-half), "b": triple(half)}
        m.add(ct.RigidBody(f"bar{k}", mass=mass, inertia=triple(moments), frames=ends, position=triple(start + half)))
        anchor = m.ground.at(*triple(points[0])) if k == 0 else frame
        m.add(ct.Revolute(f"J{k}", anchor, f"bar{k}.a", axis=triple(axes[k]), angle=0.0))
        frame = f"bar{k}.b"
    last = len(points) - 1
    m.add(ct.Revolute(f"J{last}", frame, m.ground.at(*triple(points[last])), axis=triple(axes[last])))
    return m


def planar_loop(rng: np.random.Generator, size: float) -> tuple[list[Array], list[Array]]:
    """A four-bar in some plane of space."""
    bar = some_four_bar(rng, size)
    P, Q = bar.points(float(rng.uniform(0.4, 1.4)))
    flat = [np.zeros(3), np.array([*P, 0.0]), np.array([*Q, 0.0]), np.array([bar.d, 0.0, 0.0])]
    turn = rotation(direction(rng), float(rng.uniform(0, 3)))
    return [turn @ each for each in flat], [turn @ np.array([0, 0, 1.0])] * 4


def bennett_loop(rng: np.random.Generator, size: float) -> tuple[list[Array], list[Array]]:
    """Bennett's linkage: opposite bars alike, a / sin(alpha) = b / sin(beta)."""
    alpha, beta = float(rng.uniform(0.5, 0.9)), float(rng.uniform(1.1, 1.5))
    a, b = size * np.sin(alpha), size * np.sin(beta)
    x, z = np.array([1.0, 0, 0]), np.array([0, 0, 1.0])
    links = [(a, alpha), (b, beta), (a, alpha), (b, beta)]

    def walk(angles: Any) -> tuple[list[Array], list[Array], Array]:
        turn, at = np.eye(3), np.zeros(3)
        points, axes = [], []
        for angle, (length, twist) in zip(angles, links, strict=True):
            points.append(at)
            axes.append(turn @ z)
            turn = turn @ rotation(z, angle)
            at = at + turn @ (length * x)
            turn = turn @ rotation(x, twist)
        return points, axes, np.concatenate([at / size, (turn - np.eye(3)).ravel()])

    first = float(rng.uniform(0.8, 1.6))
    for second in np.linspace(-3, 3, 13):
        found = least_squares(
            lambda q: walk([first, *q])[2], [second, -first, -second], xtol=1e-15, ftol=1e-15, gtol=1e-15
        )
        if np.abs(found.fun).max() < 1e-12:
            points, axes, _ = walk([first, *found.x])
            return points, axes
    raise AssertionError("Bennett's linkage does not close")


def bricard_loop(_: np.random.Generator, size: float) -> tuple[list[Array], list[Array]]:
    """Five rods along the edges of a cube."""
    points = size * np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    axes = np.array([(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)], dtype=float)
    return list(points), list(axes)


def lead_screw(size: float, mass: float, gravity: Array, **last: Any) -> ct.Model:
    """A spindle in a bearing, a nut on it, and a guide that keeps the nut from turning."""
    m = ct.Model("lead screw", gravity=triple(gravity))
    spindle = m.add(ct.RigidBody("spindle", ct.cylinder(radius=size / 20, length=size, mass=mass, axis="x")))
    nut = m.add(ct.RigidBody("nut", ct.box(size=(size / 5, size / 5, size / 5), mass=mass)))
    m.add(ct.Revolute("J0", m.ground, spindle, axis=(1, 0, 0)))
    m.add(ct.Screw("J1", spindle, nut, axis=(1, 0, 0), pitch=size / 20))
    m.add(ct.Prismatic("J2", m.ground, nut, axis=(1, 0, 0)))
    return m


def redundant_loop(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A7: overconstrained single loops; the twins are four-bars that hold nothing twice."""
    if not wrong:
        return determined_loop(rng, index)
    size, mass = decade(rng, -3, 2), decade(rng, -3, 3)
    gravity = 9.81 * direction(rng)
    tree = pick(rng, None, None, "absolute") if 0.1 < size < 10 else None
    kind = ("planar loop in space", "Bennett", "Bricard", "lead screw")[index % 4]
    makers = {"planar loop in space": planar_loop, "Bennett": bennett_loop, "Bricard": bricard_loop}
    loop = makers[kind](rng, size) if kind in makers else None
    count = len(loop[0]) if loop else 3

    def run() -> Any:
        model = revolute_loop(*loop, mass, gravity) if loop else lead_screw(size, mass, gravity)
        return model.simulate(0.02 * float(np.sqrt(size / 9.81)), points=3, tree=tree)

    parts = tuple(f"J{k}" for k in range(count))
    return Case("A7", f"{kind}, {size:.0e} m, {tree or 'joint'}", False, run, never, "undetermined", parts)


def four_bar_reactions(bar: FourBar, theta: float, g: float) -> tuple[Array, Array]:
    """Forces on crank and follower at the ground of a four-bar that starts from rest: Newton and Euler in the plane."""
    P, Q = bar.points(theta)
    D = np.array([bar.d, 0.0])
    ends = [(np.zeros(2), P), (P, Q), (Q, D)]
    lengths = (bar.a, bar.b, bar.c)
    A, rhs = np.zeros((17, 17)), np.zeros(17)  # per body ax, ay, alpha; then the forces at O, A, B, C on the later body
    for k, (start, end) in enumerate(ends):
        mass, centre = bar.masses[k], (start + end) / 2
        row, force = 3 * k, 9 + 2 * k
        for x in range(2):
            A[row + x, row + x] = mass
            A[row + x, force + x] -= 1.0
            A[row + x, force + 2 + x] += 1.0
        rhs[row + 1] = -mass * g
        A[row + 2, row + 2] = rod_inertia(mass, lengths[k])
        for arm, sign, at in ((start - centre, -1.0, force), (end - centre, 1.0, force + 2)):
            A[row + 2, at] += sign * -arm[1]
            A[row + 2, at + 1] += sign * arm[0]
    for joint in range(4):  # from rest, the accelerations of both sides of a joint agree
        row = 9 + 2 * joint
        for body, sign in ((joint - 1, 1.0), (joint, -1.0)):
            if 0 <= body <= 2:
                start, end = ends[body]
                arm = (end if body == joint - 1 else start) - (start + end) / 2
                A[row, 3 * body] += sign
                A[row, 3 * body + 2] -= sign * arm[1]
                A[row + 1, 3 * body + 1] += sign
                A[row + 1, 3 * body + 2] += sign * arm[0]
    found = np.linalg.solve(A, rhs)
    return found[9:11], found[15:17]


def determined_loop(rng: np.random.Generator, index: int) -> Case:
    """A four-bar in a planar model, or in space with a spherical and a cylindrical joint: 17 equations of 18."""
    bar = some_four_bar(rng, decade(rng, -3, 2))
    theta = float(rng.uniform(0.4, 1.4))
    planar = index % 2 == 0

    def run() -> Any:
        m = bar.model(theta, 9.81)
        m.planar = planar
        if not planar:
            for name, kind, more in (("B", ct.Spherical, {}), ("C", ct.Cylindrical, {"displacement": 0.0})):
                old = m.components[name]
                second, third = bar.directions(theta)
                half = (third - second) / 2
                start = {"orientation": (float(np.cos(half)), 0.0, 0.0, float(np.sin(half)))} if name == "B" else more
                m.components[name] = kind(name, old.frame_a, old.frame_b, **start)
        return m.simulate(0.02 * float(np.sqrt(bar.d / 9.81)), points=3)

    def error(sol: Any) -> float:
        first, last = four_bar_reactions(bar, theta, 9.81)
        size = float(np.linalg.norm(first))
        out = 0.0 if planar else abs(sol["O.force.z"][0]) + abs(sol["C.force.z"][0])
        ends = np.hypot(sol["C.force.x"][0], sol["C.force.y"][0]) - np.linalg.norm(last)
        here = np.hypot(sol["O.force.x"][0] - first[0], sol["O.force.y"][0] - first[1])
        return float(here + abs(ends) + out) / size

    label = f"four-bar, {'planar' if planar else 'R R S C'}, {bar.d:.0e} m"
    return Case("A7", label, True, run, error, "undetermined", ("O", "A", "B", "C"))


def shared_load(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A18: several joints on one axis, or side by side, between the same two bodies; the twins hold nothing twice."""
    kind = ("hinges", "bearings", "guides")[index % 3]
    count = int(rng.integers(2, 4)) if kind == "hinges" else 2
    size, mass = decade(rng, -3, 2), decade(rng, -3, 3)
    axis, gravity = direction(rng), 9.81 * direction(rng)
    edges = size * np.array([1.0, 0.2, 1.5])
    first = size * rng.uniform(-0.7, -0.3, 3)
    if kind == "guides":
        across = np.cross(axis, direction(rng))
        step = size * across / np.linalg.norm(across)
    else:
        step = size * rng.uniform(0.6, 1.2) * axis
    places = [first + k * step for k in range(count)]

    def run() -> Any:
        m = ct.Model(kind, gravity=triple(gravity))
        frames = {f"f{k}": triple(place) for k, place in enumerate(places)}
        m.add(ct.RigidBody("door", ct.box(size=triple(edges), mass=mass), frames=frames))
        for k, place in enumerate(places):
            ends = m.ground.at(*triple(place - first)), f"door.f{k}"
            if kind == "guides":
                if wrong or k == 0:
                    m.add(ct.Prismatic(f"h{k}", *ends, axis=triple(axis)))
            elif wrong:
                joint = ct.Cylindrical if kind == "bearings" and k else ct.Revolute
                m.add(joint(f"h{k}", *ends, axis=triple(axis), **({"angle": 0.0} if k == 0 else {})))
            elif k == 0:
                m.add(ct.Spherical("h0", *ends, orientation=(1.0, 0.0, 0.0, 0.0)))
            elif k == 1:
                m.add(ct.PointOnLine("h1", *ends, axis=triple(axis)))
        return m.simulate(0.02 * float(np.sqrt(size / 9.81)), points=3)

    def error(sol: Any) -> float:
        found = [np.array([sol[f"h{k}.force.{x}"][0] for x in "xyz"]) for k in range(1 if kind == "guides" else 2)]
        if kind == "guides":
            truth = [-mass * (gravity - axis * (axis @ gravity))]
        else:
            truth = _door(edges, mass, gravity, axis, -first, float(np.linalg.norm(step)))
        size_of = max(float(np.linalg.norm(each)) for each in truth)
        return max(float(np.linalg.norm(a - b)) for a, b in zip(found, truth, strict=True)) / size_of

    parts = tuple(f"h{k}" for k in range(count))
    label = f"{kind}, {count if wrong else 'held once'}, {size:.0e} m"
    return Case("A18", label, not wrong, run, never if wrong else error, "undetermined", parts)


def _door(edges: Array, mass: float, gravity: Array, axis: Array, centre: Array, height: float) -> list[Array]:
    """Forces of a ball joint at the origin and of a line support on the axis, at rest: moments about the ball joint."""
    a, b, c = edges**2
    about = mass / 12 * np.diag([b + c, a + c, a + b]) + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    weight = np.cross(centre, mass * gravity)
    turn = float(axis @ weight) / float(axis @ about @ axis)
    upper = np.cross(about @ axis * turn - weight, axis) / height
    return [mass * turn * np.cross(axis, centre) - mass * gravity - upper, upper]
