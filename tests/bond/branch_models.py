"""Rigid mechanisms that are turned into bond graphs: every joint, constraint, force and driver."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from random import Random
from typing import Any

import cotree as ct
from cotree.model import Frame
from cotree.terminal.constraints import (
    ConstantDistance,
    Coupled,
    Gear,
    ParallelAxes,
    PointOnLine,
    PointOnPlane,
    RackAndPinion,
    RollingDisc,
)  # fmt: skip
from cotree.terminal.drivers import Drive, FrameDrive, SpeedDrive
from cotree.terminal.forces import ForceBetween, JointActuator, PointForce, PointTorque
from cotree.terminal.friction import BumpStop, JointFriction
from cotree.terminal.joints import (
    Cylindrical,
    Free,
    Planar,
    PlanarSlide,
    Prismatic,
    Revolute,
    Screw,
    Slide,
    Spherical,
    Universal,
    Weld,
)  # fmt: skip
from cotree.terminal.springs import Bushing, Damper, JointDamper, JointSpring, Spring
from cotree.terminal.varying import VaryingMass, VaryingPoint

TURNED = Frame((0.1, -0.2, 0.3), axis=(1, 2, -1), angle=0.7)
SKEW = Frame((-0.15, 0.05, 0.1), axis=(0, 1, 3), angle=-0.4)
HEAVY: dict[str, Any] = {"mass": 1.3, "inertia": (0.02, 0.05, 0.04, 0.003, -0.004, 0.006)}
LIGHT: dict[str, Any] = {"mass": 0.6, "inertia": (0.012, 0.009, 0.015), "centre": (0.03, -0.02, 0.05)}

JOINTS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "revolute": (Revolute, {"axis": (1, 2, 0.5), "angle": 0.4, "angle_rate": 1.5}),
    "prismatic": (Prismatic, {"axis": (2, 1, 0), "displacement": 0.1, "displacement_rate": -0.4}),
    "cylindrical": (Cylindrical, {"axis": (0.2, 0.1, 1), "displacement": 0.1, "angle": -0.3, "angle_rate": 2.0}),
    "screw": (Screw, {"axis": (0.3, 1, 0), "pitch": 0.4, "angle": 0.5, "angle_rate": 3.0}),
    "planar": (Planar, {"axis": (0.1, 0.2, 1), "x": 0.1, "y": -0.2, "angle": 0.3, "angle_rate": 2.0, "x_rate": 0.5}),
    "universal": (Universal, {"axis_1": (1, 1, 0), "axis_2": (0, 0, 1), "angle_1": 0.4, "angle_2_rate": 3.0}),
    "spherical": (Spherical, {"orientation": (0.9, 0.3, -0.2, 0.1), "angular_velocity": (1.0, -2.0, 3.0)}),
    "weld": (Weld, {}),
    "slide": (Slide, {"x": 0.1, "y_rate": 0.3, "z_rate": 1.0}),
    "planar_slide": (PlanarSlide, {"x": 0.1, "y_rate": 0.3}),
    "free": (Free, {"x": 0.2, "y_rate": 1.0, "orientation": (0.9, 0.1, 0.4, 0.1), "angular_velocity": (1, 2, -1)}),
}


def chain(joint: str, *, reverse: bool = False) -> ct.Model:
    """A pendulum with a second body on a joint of some kind, through turned frames; ``reverse`` hangs it by b."""
    kind, start = JOINTS[joint]
    m = ct.Model(f"chain with a {joint}{' reversed' if reverse else ''}", gravity=(0.5, 0, -9.81))
    m.add(ct.RigidBody("one", frames={"O": (-0.2, 0, 0.1), "A": TURNED}, **HEAVY))
    m.add(ct.RigidBody("two", frames={"B": SKEW, "E": (0.1, 0.2, 0)}, **LIGHT))
    m.add(Revolute("J1", m.ground.at(0.3, 0, 0.2, axis=(1, 0, 0), angle=0.3), "one.O", axis=(0, 1, 1), angle_rate=1.0))
    ends = ("two.B", "one.A") if reverse else ("one.A", "two.B")
    m.add(kind("J2", *ends, **start))
    return m


def loop(joint: str) -> ct.Model:
    """A body that a revolute joint and, through a light strut on two springy ends, a joint of some kind hold.

    The joint comes last, so it closes the loop.
    """
    kind, start = JOINTS[joint]
    m = ct.Model(f"loop with a {joint}", gravity=(0, 0, -9.81))
    m.add(ct.RigidBody("one", frames={"O": (-0.3, 0, 0), "A": (0.2, 0, 0)}, **HEAVY))
    m.add(ct.RigidBody("two", frames={"B": (0, 0.1, 0), "C": (0.05, 0, -0.4)}, **LIGHT))
    m.add(Spherical("J1", "ground", "one.O", angular_velocity=(0.3, 0.5, 0)))
    m.add(Free("J2", "ground", "two.C", x=0.55, z=-0.4))
    m.add(kind("J3", "one.A", "two.B", **start))
    return m


def rolling_disc() -> ct.Model:
    """A disc that rolls on an oblique plane."""
    m = ct.Model("rolling disc", gravity=(0, 0, -9.81))
    slope = m.ground.at(0, 0, 0, axis=(0, 1, 0), angle=0.2, name="slope")
    m.add(
        ct.RigidBody(
            "disc", ct.cylinder(radius=0.3, length=0.02, mass=2.0, axis="y"), position=(0, 0, 0.31),
            orientation=(0.97, 0.2, 0, 0.1), velocity=(1.0, 0, 0), angular_velocity=(0.1, 3.0, 0),
        )
    )  # fmt: skip
    m.add(RollingDisc("road", slope, "disc", radius=0.3))
    return m


def held(constraint: str) -> ct.Model:
    """A body on springs that a constraint holds."""
    m = ct.Model(f"held by {constraint}", gravity=(0, 0, -9.81))
    m.add(ct.RigidBody("base", frames={"O": (-0.2, 0, 0), "A": TURNED}, **HEAVY))
    m.add(ct.RigidBody("bob", frames={"B": SKEW}, position=(0.5, 0.1, 0.2), angular_velocity=(1, 2, 0), **LIGHT))
    m.add(Revolute("J", "ground", "base.O", axis=(0, 1, 1), angle_rate=2.0))
    kinds: dict[str, Callable[[], Any]] = {
        "distance": lambda: ConstantDistance("H", "base.A", "bob.B", length=0.4),
        "line": lambda: PointOnLine("H", "base.A", "bob.B", axis=(1, 0.3, 0)),
        "plane": lambda: PointOnPlane("H", "base.A", "bob.B", normal=(0.2, 0.1, 1), offset=0.05),
        "parallel": lambda: ParallelAxes("H", "base.A", "bob.B", axis=(0, 1, 0), axis_b=(1, 1, 0)),
        "driven": lambda: FrameDrive("H", "base.A", "bob.B", x="0.3 + 0.1*sin(3*t)", z="0.2*cos(2*t)"),
        "driven distance": lambda: FrameDrive("H", "base.A", "bob.B", distance="0.4 + 0.1*sin(3*t)"),
    }
    m.add(kinds[constraint]())
    m.add(Spring("K", "ground", "bob", stiffness=60.0, length=0.3, damping=0.5))
    return m


def gears() -> ct.Model:
    """Two wheels in mesh, a rack, a coupled third wheel, and a motor that follows measured quantities."""
    m = ct.Model("gears", gravity=(0, -9.81, 0), parameters={"i": -2.0, "k": 3.0})
    for name, x in (("w1", 0.0), ("w2", 0.3), ("w3", 0.8)):
        m.add(ct.RigidBody(name, ct.cylinder(radius=0.1, length=0.02, mass=1.0), frames={"e": (0.05, 0, 0)}))
        m.add(Revolute(f"J{name}", m.ground.at(x, 0, 0), name, angle=0.2 if name == "w1" else 0.0))
    m.add(ct.PointMass("load", mass=0.3))
    m.add(Spring("tie", "w1.e", "load", stiffness=200.0, length=0.1))
    m.add(ct.RigidBody("bar", ct.box(size=(0.4, 0.02, 0.02), mass=0.5)))
    m.add(Prismatic("rack", "ground", "bar", axis=(1, 0.2, 0)))
    m.add(Gear("mesh", "Jw1", "Jw2", ratio="i", offset=0.2))
    m.add(RackAndPinion("rp", "Jw2", "rack", radius=0.1))
    m.add(Coupled("triple", factors={"Jw3": 1.0, "Jw1.angle": "k", "rack": -2.0}, offset=0.1))
    m.add(JointActuator("motor", on="Jw1", effort="2*cos(3*t) - 0.3*Jw1.angle_rate - 0.5*(w2.e.position.x - 0.3)"))
    return m


def forces() -> ct.Model:
    """Two bodies on joints with every kind of force element."""
    m = ct.Model("forces", gravity=(0, 0, -9.81), parameters={"F": 3.0})
    m.add(ct.RigidBody("one", frames={"O": (-0.2, 0, 0), "A": TURNED, "E": (0.2, 0.1, 0)}, **HEAVY))
    m.add(ct.RigidBody("two", frames={"B": SKEW, "E": (0.1, 0.2, 0)}, **LIGHT))
    wall = m.ground.at(0.9, 0.3, 0.1, name="wall")
    m.add(Revolute("J1", "ground", "one.O", axis=(0, 1, 0.3), angle_rate=2.0))
    m.add(Cylindrical("J2", "one.A", "two.B", axis=(1, 0, 0.2), displacement=0.05, angle_rate=-3.0))
    m.add(Spring("S1", wall, "two.E", stiffness=40.0, length=0.2, preload=1.0, damping=0.3))
    m.add(Spring("S2", "one.E", "two.E", law="30*x + 200*x**3 + 2*v", length=0.1))
    m.add(Damper("D1", wall, "one.E", damping=0.4))
    m.add(Bushing("B1", wall, "two", stiffness=(20, 30, 10, 2, 3, 1), damping=(0.1, 0.2, 0.1, 0.02, 0.03, 0.01)))
    m.add(ForceBetween("P", "one.E", wall, force="F*sin(4*t) + 2*J1.angle"))
    m.add(PointForce("F1", "two.E", force=("F*cos(2*t)", 1.0, "0.5*two.E.velocity.x")))
    m.add(PointForce("F2", "one.E", force=(0.0, "F", 0.0), axes="body"))
    m.add(PointTorque("T1", "two", torque=(0.1, "0.2*sin(t)", 0.0), axes="body"))
    m.add(JointSpring("K", on="J2", coordinate="displacement", stiffness=80.0, rest=0.02, preload=0.5, damping=0.2))
    m.add(JointDamper("D3", on="J1", damping=0.02))
    m.add(JointSpring("N", on="J1", energy="2*x**4 + 3*x**2"))
    m.add(JointDamper("D2", on="J2", coordinate="angle", law="0.05*v + 0.02*v*abs(v)"))
    m.add(JointFriction("R", on="J1", level=0.2, speed=0.2, viscous=0.01))
    m.add(BumpStop("stop", on="J2", coordinate="displacement", stiffness=4e3, upper=0.06, lower=-0.03, damping=0.5))
    m.add(JointActuator("M", on="J2", coordinate="angle", effort="0.3*sin(5*t) - 0.05*J2.angle"))
    return m


def driven() -> ct.Model:
    """A crank with a given angle, a slider with a given speed, and a pendulum on it."""
    m = ct.Model("driven", gravity=(0, -9.81, 0))
    m.add(ct.RigidBody("crank", frames={"O": (-0.1, 0, 0), "A": (0.2, 0, 0)}, **HEAVY))
    m.add(ct.RigidBody("arm", frames={"A": SKEW}, **LIGHT))
    m.add(ct.RigidBody("sled", frames={"A": (0.1, 0, 0)}, **HEAVY))
    m.add(ct.RigidBody("bob", frames={"A": (0, 0.2, 0)}, **LIGHT))
    m.add(Revolute("O", "ground", "crank.O", axis=(0, 0.1, 1)))
    m.add(Revolute("A", "crank.A", "arm.A", axis=(1, 0, 1)))
    m.add(Cylindrical("S", m.ground.at(1, 0, 0), "sled", axis=(1, 0, 0), displacement=0.3))
    m.add(Spherical("B", "sled.A", "bob.A"))
    m.add(Drive("turn", on="O", angle="0.5 + 2*t + 0.2*sin(4*t)"))
    m.add(SpeedDrive("pull", on="S", coordinate="displacement", speed="0.4*cos(3*t)"))
    m.add(JointSpring("K", on="S", coordinate="angle", stiffness=2.0, rest=0.4))
    return m


def points() -> ct.Model:
    """Point masses on a slide, on a rod and on springs, and a body on a point."""
    m = ct.Model("points", gravity=(0, 0, -9.81))
    m.add(ct.PointMass("p", mass=0.5, position=(0.4, 0, 0)))
    m.add(ct.PointMass("q", mass=0.3, position=(0.4, 0, -0.5)))
    m.add(ct.RigidBody("arm", frames={"O": (-0.3, 0, 0), "T": TURNED}, **HEAVY))
    m.add(ct.PointMass("tip", mass=0.2))
    m.add(Prismatic("S", "ground", "p", axis=(1, 0, 0.2), displacement=0.4))
    m.add(ConstantDistance("rod", "p", "q", length=0.5))
    m.add(Revolute("O", m.ground.at(1, 0, 0), "arm.O", axis=(0, 1, 0), angle=0.3, angle_rate=1.0))
    m.add(Spherical("W", "arm.T", "tip"))
    m.add(JointSpring("K", on="S", stiffness=50.0, rest=0.35, damping=0.2))
    m.add(Spring("L", "q", "arm", stiffness=20.0, length=0.4))
    return m


def planar_floater() -> ct.Model:
    """Two bodies in a plane that nothing but springs and a hinge between them hold, and a point."""
    m = ct.Model("floater", gravity=(0, -9.81, 0), planar=True)
    m.add(ct.RigidBody("one", frames={"A": (0.2, 0, 0)}, position=(0.1, 0.2, 0), angular_velocity=(0, 0, 2), **HEAVY))
    m.add(ct.RigidBody("two", mass=0.5, inertia=(0.01, 0.01, 0.02), frames={"A": (-0.2, 0, 0), "E": (0.2, 0, 0)}))
    m.add(ct.PointMass("p", mass=0.4, position=(0.8, 0.1, 0), velocity=(0.5, 0, 0)))
    m.add(Revolute("A", "one.A", "two.A", angle=0.5))
    m.add(Spring("K", "ground", "one", stiffness=80.0, length=0.2, damping=1.0))
    m.add(Spring("L", "two.E", "p", stiffness=50.0, length=0.3, damping=0.2))
    return m


def varying(where: str) -> ct.Model:
    """A rocket in free flight, on an arm, as a point on a spring, or with a mass that follows a measured length."""
    m = ct.Model(f"varying mass {where}", gravity=(0, 0.3, -9.81))
    rocket: dict[str, Any] = {
        "mass": "5 - 0.8*t",
        "inertia": ("2 - 0.2*t", "1.8 - 0.1*t", "1.1 - 0.1*t", 0.05, "0.02*t", 0.0),
        "centre": ("0.3 + 0.1*t", -0.1, "0.05*t**2"),
        "outlet": (-1.0, 0.2, 0.1),
        "exhaust": (-30.0, 2.0, "5*t"),
        "frames": {"A": SKEW},
    }
    if where == "in flight":
        m.add(VaryingMass("R", velocity=(1, 0, 2), angular_velocity=(0.5, 1, -0.4), position=(0, 0, 3), **rocket))
    elif where == "on an arm":
        m.add(ct.RigidBody("arm", frames={"O": (-0.2, 0, 0), "A": TURNED}, **HEAVY))
        m.add(VaryingMass("R", **rocket))
        m.add(Revolute("O", "ground", "arm.O", axis=(0, 1, 0)))
        m.add(Universal("J", "arm.A", "R.A", angle_1_rate=1.0))
    elif where == "at a point":
        m.add(VaryingPoint("R", mass="2*exp(-t)", exhaust=(0, 3.0, "-20"), position=(0.1, 0, 0.4)))
        m.add(Spring("K", "ground", "R", stiffness=20.0, length=0.3))
    else:
        m.add(VaryingMass(
            "R", mass="2 + 3*P.displacement", mass_rate="3*P.displacement_rate", inertia=(0.1, 0.1, 0.1),
            exhaust=(0, 0, "-P.displacement_rate"),
        ))  # fmt: skip
        m.add(Prismatic("P", "ground", "R", axis=(0, 0, 1), displacement=0.2, displacement_rate=2.0))
        m.add(JointSpring("K", on="P", stiffness=200.0, rest=0.4))
    return m


def dead_centre() -> ct.Model:
    """A slider-crank whose links and slide all lie in one line at the start."""
    m = ct.Model("dead centre", gravity=(0, -9.81, 0), parameters={"r": 0.3, "l": 0.8})
    for name, length in (("crank", "r"), ("rod", "l")):
        frames = {"l": (f"-{length}/2", 0, 0), "r": (f"{length}/2", 0, 0)}
        m.add(ct.RigidBody(name, ct.rod(length=length, mass=length), frames=frames))
    m.add(ct.RigidBody("slider", mass=0.5, inertia=(0.01, 0.01, 0.01)))
    m.add(Revolute("O", "ground", "crank.l", angle_rate=4.0, fixed="angle_rate"))
    m.add(Revolute("A", "crank.r", "rod.l"))
    m.add(Revolute("B", "rod.r", "slider"))
    m.add(Prismatic("S", "ground", "slider", axis=(1, 0, 0), displacement="r + l"))
    return m


def counted_turns() -> ct.Model:
    """A four-bar whose loop is closed at a joint with a spring and a motor that turns it round and round."""
    m = ct.Model("turns", gravity=(0, 0, 0))
    sizes = {"crank": 0.2, "rod": 0.7, "rocker": 0.5}
    for name, length in sizes.items():
        frames = {"l": (-length / 2, 0, 0), "r": (length / 2, 0, 0)}
        m.add(ct.RigidBody(name, ct.rod(length=length, mass=length), frames=frames))
    m.add(Revolute("O", "ground", "crank.l", angle_rate=9.0, fixed="angle_rate"))
    m.add(Revolute("C", m.ground.at(0.6, 0, 0), "rocker.l", angle=pi / 2))
    m.add(Revolute("B", "rocker.r", "rod.r"))
    m.add(Revolute("A", "crank.r", "rod.l"))
    m.add(JointSpring("K", on="A", stiffness=0.2, rest=0.3))
    m.add(JointActuator("M", on="O", effort="0.5 - 0.01*A.angle"))
    return m


def random_mechanism(seed: int, *, loops: int) -> ct.Model:
    """A random tree of bodies on random joints, some of them tied together by random constraints."""
    r = Random(seed)
    m = ct.Model(f"random {seed}", gravity=(r.uniform(-1, 1), 0, -9.81))

    def vector(size: float = 0.3) -> tuple[float, ...]:
        return tuple(r.uniform(-size, size) for _ in range(3))

    names = ["ground"]
    for k in range(r.randint(2, 4)):
        frames = {x: Frame(vector(), axis=vector(), angle=r.uniform(-1, 1)) for x in "ABC"}
        spread = sorted(r.uniform(0.01, 0.02) for _ in range(3))
        m.add(ct.RigidBody(f"c{k}", mass=r.uniform(0.5, 2), inertia=spread, centre=vector(0.1), frames=frames))
        kind, start = JOINTS[r.choice([name for name in JOINTS if name != "weld"])]
        parent = r.choice(names)
        ends = [parent if parent == "ground" else f"{parent}.{r.choice('BC')}", f"c{k}.A"]
        if r.random() < 0.3:
            ends.reverse()
        m.add(kind(f"J{k}", *ends, **start))
        m.add(Spring(f"S{k}", "ground", f"c{k}.B", stiffness=r.uniform(5, 30), length=r.uniform(0.1, 0.5), damping=0.1))
        names.append(f"c{k}")
    for k in range(loops):
        a, b = r.sample(names[1:], 2)
        m.add(PointOnPlane(f"L{k}", f"{a}.C", f"{b}.C", normal=vector(), offset=r.uniform(-0.1, 0.1)))
    return m


def chain_of(count: int) -> ct.Model:
    """A chain of bars on revolute joints about different axes, hung at one end."""
    m = ct.Model(f"chain of {count}", gravity=(0, 0, -9.81))
    last = m.ground
    axes = ((0, 1, 0), (1, 0, 0), (0, 1, 1 / sqrt(2)))
    for k in range(count):
        m.add(
            ct.RigidBody(
                f"c{k}", ct.box(size=(0.2, 0.03, 0.02), mass=0.5), frames={"l": (-0.1, 0, 0), "r": (0.1, 0, 0)}
            )
        )
        m.add(Revolute(f"J{k}", last, f"c{k}.l", axis=axes[k % 3], angle=0.1))
        last = f"c{k}.r"
    return m


MODELS: dict[str, Callable[[], ct.Model]] = {
    **{f"chain {name}": lambda name=name: chain(name) for name in JOINTS},
    **{
        f"reversed {name}": lambda name=name: chain(name, reverse=True)
        for name in ("cylindrical", "screw", "universal", "spherical")
    },
    **{
        f"loop {name}": lambda name=name: loop(name)
        for name in JOINTS
        if name not in ("free", "slide", "planar_slide")
    },
    **{
        f"held by {name}": lambda name=name: held(name)
        for name in ("distance", "line", "plane", "parallel", "driven", "driven distance")
    },
    **{f"varying {k}": lambda k=k: varying(k) for k in ("in flight", "on an arm", "at a point", "by length")},
    "rolling disc": rolling_disc,
    "gears": gears,
    "forces": forces,
    "driven": driven,
    "points": points,
    "planar floater": planar_floater,
    "dead centre": dead_centre,
    "turns": counted_turns,
}  # fmt: skip
