"""Mechanisms that several tests use, and random trees of their graphs."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin
from random import Random
from typing import Any

import cotree as ct
from cotree.graph import Tree, sample_tree
from cotree.model import Kind
from cotree.terminal.constraints import ConstantDistance, PointOnLine
from cotree.terminal.drivers import Drive
from cotree.terminal.forces import JointActuator, PointForce, PointTorque
from cotree.terminal.mechanics import Joint
from cotree.terminal.springs import JointSpring, Spring

Vector = tuple[float, float, float]
DOWN = (0.0, -9.81, 0.0)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def bar(m: ct.Model, name: str, length: float, mass: float, ends: str = "ab", **start: Any) -> ct.RigidBody:
    """A thin uniform rod along its own x axis with a frame at either end."""
    frames = {ends[0]: (-length / 2, 0, 0), ends[1]: (length / 2, 0, 0)}
    return m.add(ct.RigidBody(name, ct.rod(length=length, mass=mass), frames=frames, **start))


def placed(m: ct.Model, name: str, mass: float, inertia: Vector, centre: Vector, **points: Vector) -> ct.RigidBody:
    """A body whose axes are parallel to the world at the start, with frames at places in the world."""
    frames = {key: tuple(p - c for p, c in zip(point, centre, strict=True)) for key, point in points.items()}
    return m.add(ct.RigidBody(name, mass=mass, inertia=inertia, frames=frames, position=centre))


def pendulum() -> ct.Model:
    """A01: 1 kg at 1 m from a pivot, from rest at (-1, 0)."""
    m = ct.Model("A01", gravity=DOWN)
    m.add(ct.RigidBody("bob", mass=1.0, inertia=(1e-12, 1e-12, 1e-12), frames={"O": (-1, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, "bob.O", angle=pi))
    return m


def point_pendulum() -> ct.Model:
    """A01 with a point mass on a massless rod."""
    m = ct.Model("A01 with a point", gravity=DOWN, planar=True)
    m.add(ct.PointMass("bob", mass=1.0, position=(-1, 0, 0)))
    m.add(ConstantDistance("rod", m.ground, "bob", length=1.0))
    return m


def n_four_bars(n: int, planar: bool = False) -> ct.Model:
    """A02: n + 1 upright bars joined on top by n bars; the top points start with 1 m/s in x."""
    m = ct.Model(f"A02 with {n} loops", gravity=DOWN, planar=planar)
    for k in range(n + 1):
        bar(m, f"up{k}", 1.0, 1.0)
        foot = m.ground if k == 0 else m.ground.at(float(k), 0, 0)
        m.add(ct.Revolute(f"foot{k}", foot, f"up{k}.a", angle=pi / 2, angle_rate=-1.0))
    for k in range(n):
        bar(m, f"top{k}", 1.0, 1.0)
        m.add(ct.Revolute(f"left{k}", f"up{k}.b", f"top{k}.a", angle=-pi / 2))
        m.add(ct.Revolute(f"right{k}", f"top{k}.b", f"up{k + 1}.b", angle=pi / 2))
    return m


ANDREWS_START = {
    "beta": -0.0617138900142764,
    "theta": 0.0,
    "gamma": 0.4552798191630704,
    "phi": 0.2226683901658859,
    "delta": 0.4873649795438426,
    "omega": -0.2226683901658859,
    "eps": 1.2305474445498212,
}


def andrews(planar: bool = False) -> ct.Model:
    """A03: seven bodies, each frame at the mass centre and turned by the body's absolute angle of the test set."""
    m = ct.Model("A03 Andrews' squeezer", gravity=(0, 0, 0), planar=planar)
    d, da, e, ea, zf, fa, rr, ra = 0.028, 0.0115, 0.02, 0.01421, 0.02, 0.01421, 0.007, 0.00092
    ss, sa, sb, sc, sd, zt, ta, tb, u, ua, ub = (
        0.035, 0.01874, 0.01043, 0.018, 0.02, 0.04, 0.02308, 0.00916, 0.04, 0.01228, 0.00449,
    )  # fmt: skip
    masses = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    inertias = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
    frames = (
        {"O": (-ra, 0, 0), "K": (rr - ra, 0, 0)},
        {"K": (da, 0, 0), "P": (da - d, 0, 0)},
        {"B": (-sb, sa, 0), "P": (-sb, sa - ss, 0), "D": (sd - sb, sa - sc, 0)},
        {"E": (0, e - ea, 0), "P": (0, -ea, 0)},
        {"A": (-ta, -tb, 0), "E": (zt - ta, -tb, 0)},
        {"F": (fa - zf, 0, 0), "P": (fa, 0, 0)},
        {"A": (ub, ua, 0), "F": (ub, ua - u, 0)},
    )
    for k in range(7):
        j = inertias[k]
        m.add(ct.RigidBody(f"K{k + 1}", mass=masses[k], inertia=(j / 2, j / 2, j), frames=frames[k]))
    a = m.ground.at(-0.06934, -0.00227, 0)
    b = m.ground.at(-0.03635, 0.03273, 0)
    c = m.ground.at(0.014, 0.072, 0)
    at = ANDREWS_START
    m.add(ct.Revolute("beta", m.ground, "K1.O", angle=at["beta"], fixed=("angle",)))
    m.add(ct.Revolute("theta", "K1.K", "K2.K", angle=at["theta"]))
    m.add(ct.Revolute("gamma", b, "K3.B", angle=at["gamma"]))
    m.add(ct.Revolute("delta", a, "K5.A", angle=at["delta"]))
    m.add(ct.Revolute("phi", "K5.E", "K4.E", angle=at["phi"]))
    m.add(ct.Revolute("eps", a, "K7.A", angle=at["eps"]))
    m.add(ct.Revolute("omega", "K7.F", "K6.F", angle=at["omega"]))
    for k in (3, 4, 6):
        m.add(ct.Revolute(f"P{k}", "K2.P", f"K{k}.P"))
    m.add(Spring("spring", c, "K3.D", length=0.07785, stiffness=4530.0))
    m.add(JointActuator("motor", "beta", effort=0.033))
    return m


BRICARD_VERTICES: tuple[Vector, ...] = ((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1))
BRICARD_AXES = (Y, Z, X, Y, Z, X)


def bricard() -> ct.Model:
    """A04: five square rods and the ground as sixth link; all body axes are parallel to the world at the start."""
    m = ct.Model("A04 Bricard", gravity=DOWN)
    across, along = 1.0 * (0.1**2 + 0.1**2) / 12, 1.0 * (1.0 + 0.1**2) / 12
    vertices = BRICARD_VERTICES
    for k in range(5):
        p, q = vertices[k], vertices[k + 1]
        half = tuple((b - a) / 2 for a, b in zip(p, q, strict=True))
        inertia = tuple(across if part else along for part in half)
        frames = {"a": tuple(-part for part in half), "b": half}
        centre = tuple(a + h for a, h in zip(p, half, strict=True))
        m.add(ct.RigidBody(f"rod{k}", mass=1.0, inertia=inertia, frames=frames, position=centre))
    ends = ["ground", *(f"rod{k}" for k in range(5)), "ground"]
    for k, axis in enumerate(BRICARD_AXES):
        a = m.ground if k == 0 else f"{ends[k]}.b"
        b = m.ground.at(*vertices[5]) if k == 5 else f"{ends[k + 1]}.a"
        m.add(ct.Revolute(f"J{k}", a, b, axis=axis))
    return m


def car_axis() -> ct.Model:
    """The IVP test set's car axis: two masses joined by a rod on two springs over a bumpy road."""
    eps, mass, length, rest, r, speed = 0.01, 10.0, 1.0, 0.5, 0.1, 10.0
    m = ct.Model("car axis", gravity=(0, -1, 0), planar=True)
    m.add(ct.RigidBody("road", mass=1.0, inertia=(1, 1, 1), frames={"B": (length, 0, 0)}))
    m.add(ct.Revolute("wheel", m.ground, "road"))
    m.add(Drive("bumps", "wheel", angle=f"asin({r}*sin({speed}*t)/{length})"))
    m.add(ct.PointMass("left", mass=mass / 2, position=(0, rest, 0), velocity=(-rest / length, 0, 0)))
    m.add(ct.PointMass("right", mass=mass / 2, position=(length, rest, 0), velocity=(-rest / length, 0, 0)))
    m.add(PointOnLine("upright", "road", "left", axis=Y))
    m.add(ConstantDistance("chassis", "left", "right", length=length))
    m.add(Spring("left_spring", "road", "left", length=rest, stiffness=1 / eps**2))
    m.add(Spring("right_spring", "road.B", "right", length=rest, stiffness=1 / eps**2))
    return m


def adams_joint(joint: str, tilt: float, place: Vector) -> ct.Model:
    """One body on one joint to the ground, as in the Adams runs."""
    m = ct.Model(f"{joint} turned by {tilt:g}", gravity=(0, 0, -9.80665))
    m.add(ct.RigidBody("body", mass=1.0, inertia=(0.04, 0.1, 0.1), frames={"J": (-2, 0, 0)}))
    ground = m.ground.at(*place, axis=X, angle=-tilt)
    m.add(getattr(ct, joint)("J", ground, "body.J"))
    return m


# -- mechanisms whose motion must not depend on the tree -------------------------------------------------------------


def double_pendulum() -> ct.Model:
    """Planar, open."""
    m = ct.Model("double pendulum", gravity=DOWN)
    bar(m, "upper", 1.0, 1.0)
    bar(m, "lower", 0.7, 0.6)
    m.add(ct.Revolute("A", m.ground, "upper.a", angle=0.4, angle_rate=1.0))
    m.add(ct.Revolute("B", "upper.b", "lower.a", angle=0.8, angle_rate=-2.0))
    return m


def spatial_chain() -> ct.Model:
    """Open: a spherical joint, a universal joint and a revolute one, with a body-fixed force and a torque."""
    m = ct.Model("spatial chain")
    for k, inertia in enumerate(((0.02, 0.05, 0.06), (0.03, 0.045, 0.05), (0.01, 0.03, 0.025))):
        frames = {"in": (-0.3, 0.02 * k, 0), "out": (0.35, 0.05, -0.04)}
        m.add(ct.RigidBody(f"body{k}", mass=1.0 + 0.3 * k, inertia=inertia, centre=(0.02, 0.01, 0), frames=frames))
    m.add(ct.Spherical("S", m.ground, "body0.in", orientation=(0.9, 0.2, -0.1, 0.3), angular_velocity=(1, -0.5, 2)))
    m.add(ct.Universal("U", "body0.out", "body1.in", angle_1=0.4, angle_2=-0.3, angle_1_rate=1.0, angle_2_rate=0.5))
    m.add(ct.Revolute("R", "body1.out", "body2.in", axis=(0.2, 0.5, 1.0), angle=0.2, angle_rate=-1.0))
    m.add(PointForce("push", "body2.out", force=("2*cos(3*t)", "1.0", "0.5*t"), axes="body"))
    m.add(PointTorque("twist", "body1", torque=(0.3, "-0.2*sin(5*t)", 0.1)))
    return m


def four_bar(planar: bool = False) -> ct.Model:
    """Planar, closed: McPhee's four-bar with a torque on the crank."""
    m = ct.Model("four-bar", gravity=DOWN, planar=planar)
    bar(m, "crank", 0.3, 1.0, "OA")
    bar(m, "coupler", 0.9, 3.0, "AB")
    bar(m, "follower", 0.75, 2.0, "BC")
    m.add(ct.Revolute("O", m.ground, "crank.O", angle=0.3, angle_rate=4.0, fixed=("angle", "angle_rate")))
    m.add(ct.Revolute("A", "crank.A", "coupler.A", angle=0.5))
    m.add(ct.Revolute("B", "coupler.B", "follower.B", angle=-1.5))
    m.add(ct.Revolute("C", "follower.C", m.ground.at(0.9, 0, 0)))
    m.add(JointActuator("motor", "O", effort="2 + sin(3*t)"))
    return m


def slider_crank() -> ct.Model:
    """Planar, closed: the piston slides on the ground against a spring and a damper; the crank is turned by a motor."""
    m = ct.Model("slider-crank", gravity=DOWN)
    bar(m, "crank", 0.2, 0.8, "OA")
    bar(m, "rod", 0.5, 1.2, "AB")
    m.add(ct.RigidBody("piston", ct.box(size=(0.1, 0.1, 0.1), mass=0.7)))
    m.add(ct.Revolute("O", m.ground, "crank.O", angle=0.6, angle_rate=5.0, fixed=("angle", "angle_rate")))
    m.add(ct.Revolute("A", "crank.A", "rod.A", angle=-0.9))
    m.add(ct.Revolute("B", "rod.B", "piston"))
    m.add(ct.Prismatic("slide", m.ground, "piston", axis=X, displacement=0.65))
    m.add(JointSpring("gas", "slide", stiffness=150.0, rest=0.5, damping=3.0))
    m.add(JointActuator("motor", "O", effort="1 - 0.1*O.angle_rate"))
    return m


def rssr() -> ct.Model:
    """Spatial, closed: revolute, spherical, spherical, revolute; the coupler may spin about itself."""
    m = ct.Model("RSSR")
    placed(m, "crank", 1.0, (0.01, 0.03, 0.025), (0.1, 0.02, 0.05), a=(0, 0, 0), b=(0.2, 0.1, 0.05))
    placed(m, "coupler", 2.0, (0.04, 0.12, 0.15), (0.5, 0.3, 0.2), b=(0.2, 0.1, 0.05), c=(0.8, 0.5, 0.3))
    placed(m, "rocker", 1.5, (0.05, 0.06, 0.03), (0.85, 0.2, 0.2), c=(0.8, 0.5, 0.3), d=(0.9, -0.1, 0.1))
    m.add(ct.Revolute("R1", m.ground, "crank.a", axis=Z, angle=0.0, angle_rate=6.0, fixed=("angle", "angle_rate")))
    m.add(ct.Spherical("S1", "crank.b", "coupler.b"))
    m.add(ct.Spherical("S2", "coupler.c", "rocker.c", angular_velocity=(3, 0, 0)))
    m.add(ct.Revolute("R2", m.ground.at(0.9, -0.1, 0.1), "rocker.d", axis=(1, 0.3, 0.2)))
    return m


def rscr() -> ct.Model:
    """Spatial, closed: revolute, spherical, cylindrical and revolute."""
    m = ct.Model("RSCR")
    placed(m, "crank", 1.0, (0.01, 0.03, 0.025), (0.1, 0.02, 0.05), a=(0, 0, 0), b=(0.2, 0.1, 0.15))
    placed(m, "coupler", 1.5, (0.02, 0.08, 0.07), (0.5, 0.2, 0.1), a=(0.2, 0.1, 0.15), b=(0.7, 0.2, 0.3))
    placed(m, "rocker", 1.2, (0.05, 0.04, 0.03), (0.8, 0.0, 0.2), b=(0.7, 0.2, 0.3), c=(0.9, -0.2, 0.1))
    m.add(ct.Revolute("R1", m.ground, "crank.a", axis=Y, angle=0.0, angle_rate=5.0, fixed=("angle", "angle_rate")))
    m.add(ct.Spherical("S", "crank.b", "coupler.a"))
    m.add(ct.Cylindrical("C", "rocker.b", "coupler.b", axis=(1.0, 0.3, -0.2)))
    m.add(ct.Revolute("R2", m.ground.at(0.9, -0.2, 0.1), "rocker.c", axis=(0.2, 0.3, 1.0)))
    m.add(Spring("spring", m.ground.at(0.2, 0.5, 0.5), "coupler", length=0.4, stiffness=30.0, damping=0.5))
    return m


def stewart() -> ct.Model:
    """Spatial, closed: a platform on three legs, universal at the ground, prismatic inside, spherical on top."""
    m = ct.Model("platform on three legs")
    tops = {f"t{k}": (0.3 * cos(2.1 * k + 0.4), 0.3 * sin(2.1 * k + 0.4), 0.0) for k in range(3)}
    m.add(ct.RigidBody("plate", mass=4.0, inertia=(0.2, 0.25, 0.4), frames=tops, position=(0.05, 0.02, 0.8)))
    for k in range(3):
        foot = m.ground.at(0.5 * cos(2.1 * k), 0.5 * sin(2.1 * k), 0)
        low = {"in": (0, 0, -0.25), "mid": (0, 0, 0.1)}
        m.add(ct.RigidBody(f"low{k}", ct.cylinder(radius=0.04, length=0.5, mass=1.0), frames=low))
        m.add(ct.RigidBody(f"high{k}", ct.cylinder(radius=0.02, length=0.5, mass=0.6), frames={"out": (0, 0, 0.25)}))
        m.add(ct.Universal(f"U{k}", foot, f"low{k}.in"))
        m.add(ct.Prismatic(f"P{k}", f"low{k}.mid", f"high{k}", axis=Z, displacement=0.2))
        m.add(ct.Spherical(f"S{k}", f"plate.t{k}", f"high{k}.out"))
        m.add(JointSpring(f"ram{k}", f"P{k}", stiffness=400.0, rest=0.3, damping=8.0))
    return m


def sliding_tree() -> ct.Model:
    """Open, branched: a prismatic and two cylindrical joints and a planar one."""
    m = ct.Model("sliding tree")
    m.add(ct.RigidBody("cart", mass=2.0, inertia=(0.1, 0.2, 0.25), frames={"l": (0.3, 0.1, 0), "r": (-0.3, 0, 0.2)}))
    m.add(
        ct.RigidBody("left", mass=1.0, inertia=(0.02, 0.03, 0.04), centre=(0.1, 0.05, 0), frames={"e": (0.2, 0, 0.3)})
    )
    m.add(ct.RigidBody("right", mass=0.8, inertia=(0.03, 0.03, 0.02), centre=(0, 0.2, 0.1)))
    m.add(ct.RigidBody("leaf", mass=0.5, inertia=(0.01, 0.012, 0.02), centre=(0.05, 0, 0.02)))
    m.add(ct.Prismatic("P", m.ground, "cart", axis=(1, 0, 0.3), displacement=0.1, displacement_rate=0.5))
    m.add(ct.Cylindrical("C1", "cart.l", "left", axis=(0, 1, 0.2), angle=0.4, angle_rate=3.0, displacement_rate=0.2))
    m.add(ct.Cylindrical("C2", "cart.r", "right", axis=(0.3, 0, 1), angle=-0.2, displacement=0.1, angle_rate=-2.0))
    m.add(ct.Planar("plane", "left.e", "leaf", axis=(0, 0.6, 0.8), x=0.1, y=-0.05, angle=0.3, angle_rate=4.0))
    m.add(JointSpring("s1", "P", stiffness=60.0))
    m.add(JointSpring("s2", "C1", coordinate="displacement", stiffness=80.0))
    m.add(JointSpring("s3", "C2", coordinate="displacement", stiffness=70.0))
    m.add(Spring("s4", "left", "leaf", length=0.1, stiffness=50.0, damping=0.2))
    return m


def screw_loop() -> ct.Model:
    """Spatial, closed: a nut on a screw pushes a rod whose other end hangs on a swinging arm."""
    m = ct.Model("screw")
    placed(m, "nut", 1.0, (0.02, 0.02, 0.03), (0.05, 0, 0.02), o=(0, 0, 0), a=(0.15, 0, 0))
    placed(m, "rod", 0.8, (0.01, 0.02, 0.022), (0.3, 0.1, -0.1), a=(0.15, 0, 0), b=(0.5, 0.2, -0.2))
    placed(m, "arm", 0.5, (0.01, 0.01, 0.008), (0.5, 0.2, 0.0), b=(0.5, 0.2, -0.2), c=(0.5, 0.15, 0.2))
    m.add(ct.Screw("screw", m.ground, "nut.o", axis=Z, pitch=0.4, angle=0, angle_rate=2, fixed=("angle", "angle_rate")))
    m.add(ct.Spherical("S1", "nut.a", "rod.a"))
    m.add(ct.Universal("U", "rod.b", "arm.b"))
    m.add(ct.Revolute("R", m.ground.at(0.5, 0.15, 0.2), "arm.c", axis=(0, 1, 0.2)))
    m.add(JointSpring("spring", "screw", stiffness=0.5))
    return m


TREELESS: dict[str, Callable[[], ct.Model]] = {
    "double pendulum": double_pendulum,
    "spatial chain": spatial_chain,
    "four-bar": four_bar,
    "slider-crank": slider_crank,
    "Andrews": andrews,
    "Bricard": bricard,
    "RSSR": rssr,
    "RSCR": rscr,
    "platform": stewart,
    "sliding tree": sliding_tree,
    "screw": screw_loop,
}

_CAN_BRANCH = (Kind.BODY, Kind.POINT_JOINT, Kind.LINE_JOINT)


def random_tree(model: ct.Model, seed: int | Random) -> Tree:
    """A tree drawn at random among arms, bodies and joints; forces, constraints and dependent edges are chords."""
    graph = model.graph()
    arms = [e.name for e in graph if e.kind == Kind.ARM]
    barred = [e.name for e in graph if e.kind != Kind.ARM and not _may_branch(model, e)]
    return sample_tree(graph, seed, into_tree=arms, into_cotree=barred)


def _may_branch(model: ct.Model, edge: Any) -> bool:
    component = model.components[edge.component]
    return edge.kind == Kind.BODY or (edge.kind in _CAN_BRANCH and isinstance(component, Joint))


def random_trees(model: ct.Model, seed: int) -> list[Any]:
    """Three trees that hold for translation and rotation, and two pairs of different ones."""
    random = Random(seed)
    single = [random_tree(model, random) for _ in range(3)]
    pairs: list[Any] = []
    coupled = {c.name for c in model.components.values() if isinstance(c, Joint) and c.coupled}
    while len(pairs) < 2:
        pair = (random_tree(model, random), random_tree(model, random))
        if all((name in pair[0]) == (name in pair[1]) for name in coupled):
            pairs.append(pair)
    return [*single, *pairs]
