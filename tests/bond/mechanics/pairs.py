"""The same mechanism twice: in branch coordinates, and as a multibond graph of masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import cotree as ct
from cotree.bond import C, Se
from cotree.bond import R as Resistance
from cotree.bond.mechanics import (
    Body,
    CylindricalJoint,
    FrameForce,
    FreeJoint,
    Ground,
    PointDamper,
    PointSpring,
    PrismaticJoint,
    RevoluteJoint,
    SphericalJoint,
    UniversalJoint,
    WeldJoint,
)  # fmt: skip
from cotree.model import Frame

TURN = {"axis": [1, 2, -1], "angle": 0.7}


def bonded(model: ct.Model, *pairs: tuple[str, str]) -> ct.Model:
    """The model with bonds from tails to heads, numbered."""
    for tail, head in pairs:
        model.add(ct.bond.Bond(f"b{len(model.components)}", tail, head))
    return model


def filled(name: str, parts: list[Any], gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)) -> ct.Model:
    """A model of parts."""
    model = ct.Model(name, gravity=gravity)
    for part in parts:
        model.add(part)
    return model


@dataclass(frozen=True)
class Pair:
    """Two models, a time, and results that have other names in the bond graph."""

    branch: ct.Model
    graph: ct.Model
    t_end: float
    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    reactions: bool = True
    start: Mapping[str, float] = field(default_factory=dict)
    """Start values of the graph that closing its loops must not change; the branch model has them as ``fixed``."""

    def compared(self) -> dict[str, str]:
        """Results of the branch formulation, with those of the bond graph."""
        found = {}
        for body in self.bodies:
            for what in ("position", "velocity", "angular_velocity"):
                found |= {f"{body}.{what}.{x}": f"{body}.{what}.{x}" for x in "xyz"}
        if self.reactions:
            for joint in self.joints:
                for what in ("force", "torque"):
                    found |= {f"{joint}.{what}.{x}": f"{joint}.{what}.{x}" for x in "xyz"}
        return found | dict(self.names)


def pendulum() -> Pair:
    """A body on a revolute joint about an oblique axis, started with a speed."""
    data = {"mass": 2.0, "inertia": (0.02, 0.05, 0.04, 0.003, -0.004, 0.006)}
    frames = {"O": (-0.3, 0.1, 0.05)}
    start = {"axis": (1, 2, 0.5), "angle": 0.4, "angle_rate": 1.5}
    branch = filled("p", [ct.RigidBody("bob", frames=frames, **data), ct.Revolute("J", "ground", "bob.O", **start)])
    graph = filled("p", [Ground("G"), Body("bob", frames=frames, **data), RevoluteJoint("J", **start)])
    names = {"J.angle": "J.angle", "J.angle_rate": "J.angle_rate"}
    return Pair(branch, bonded(graph, ("G", "J.a"), ("J.b", "bob.O")), 3.0, ("bob",), ("J",), names)


def spherical_pendulum() -> Pair:
    """An asymmetric body on a spherical joint, bonded from b to a."""
    data = {"mass": 1.5, "inertia": (0.01, 0.04, 0.03)}
    frames = {"O": (0.0, 0.05, 0.3)}
    start = {"orientation": (0.9, 0.3, -0.2, 0.1), "angular_velocity": (1.0, -2.0, 3.0)}
    branch = filled("s", [ct.RigidBody("top", frames=frames, **data), ct.Spherical("J", "ground", "top.O", **start)])
    graph = filled("s", [Ground("G"), Body("top", frames=frames, **data), SphericalJoint("J", **start)])
    names = {f"J.orientation.{e}": f"J.orientation.{e}" for e in ("e1", "e2", "e3")}
    return Pair(branch, bonded(graph, ("J.a", "G"), ("top.O", "J.b")), 2.0, ("top",), ("J",), names)


def double_pendulum() -> Pair:
    """Two bodies on revolute joints about oblique axes, the second through a turned frame and from b to a."""
    one = {"mass": 1.0, "inertia": (0.01, 0.02, 0.03)}
    two = {"mass": 0.7, "inertia": (0.02, 0.01, 0.02)}
    frames = {"O": (-0.2, 0, 0), "A": {"position": (0.2, 0.1, 0), **TURN}}
    first, second = {"axis": (0, 1, 0.3), "angle": 0.3}, {"axis": (1, 1, 0), "angle": -0.8, "angle_rate": 2.0}
    there = {name: Frame.of(given, name) for name, given in frames.items()}
    hinge = {"position": (0.0, 0.0, 0.25), "axis": (0, 1, 0), "angle": -0.4}
    branch = filled("d", [
        ct.RigidBody("one", frames=there, **one),
        ct.RigidBody("two", frames={"A": Frame.of(hinge, "A")}, **two),
        ct.Revolute("J1", "ground", "one.O", **first),
        ct.Revolute("J2", "two.A", "one.A", **second),
    ])  # fmt: skip
    graph = filled("d", [
        Ground("G"), Body("one", frames=frames, **one), Body("two", frames={"A": hinge}, **two),
        RevoluteJoint("J1", **first), RevoluteJoint("J2", **second),
    ])  # fmt: skip
    bonded(graph, ("G", "J1.a"), ("J1.b", "one.O"), ("one.A", "J2.b"), ("J2.a", "two.A"))
    names = {"J1.angle": "J1.angle", "J2.angle": "J2.angle"}
    return Pair(branch, graph, 2.0, ("one", "two"), ("J1", "J2"), names)


def prismatic() -> Pair:
    """A slider on a turning arm through turned frames, with a spring and a damper along the slide."""
    one = {"mass": 1.0, "inertia": (0.02, 0.03, 0.04)}
    two = {"mass": 0.5, "inertia": (0.004, 0.003, 0.005)}
    frames = {"O": (-0.3, 0, 0), "S": {"position": (0.1, 0, 0.05), **TURN}}
    hinge = {"position": (0.02, 0.0, -0.03), "axis": (0, 0, 1), "angle": 0.5}
    there = {name: Frame.of(given, name) for name, given in frames.items()}
    slide = {"axis": (2, 1, 0)}
    branch = filled("x", [
        ct.RigidBody("one", frames=there, **one), ct.RigidBody("two", frames={"S": Frame.of(hinge, "S")}, **two),
        ct.Revolute("J1", "ground", "one.O", axis=(0, 1, 1), angle_rate=3.0),
        ct.Prismatic("J2", "one.S", "two.S", displacement=0.1, displacement_rate=-0.2, **slide),
        ct.JointSpring("K", on="J2", stiffness=80.0, rest=0.05), ct.JointDamper("D", on="J2", damping=0.4),
    ])  # fmt: skip
    graph = filled("x", [
        Ground("G"), Body("one", frames=frames, **one), Body("two", frames={"S": hinge}, **two),
        RevoluteJoint("J1", axis=(0, 1, 1), angle_rate=3.0), PrismaticJoint("J2", slide=0.1, slide_rate=-0.2, **slide),
        C("K", stiffness=80.0, displacement=0.05), Resistance("D", resistance=0.4),
    ])  # fmt: skip
    bonded(graph, ("G", "J1.a"), ("J1.b", "one.O"), ("one.S", "J2.a"), ("J2.b", "two.S"), ("J2.slide", "K"))
    bonded(graph, ("J2.slide", "D"))
    return Pair(branch, graph, 2.0, ("one", "two"), ("J1", "J2"), {"J2.displacement": "J2.slide"})


def cylindrical() -> Pair:
    """A body that slides and turns on an oblique axis, pulled to a point by a spring and slowed by a damper."""
    data = {"mass": 0.8, "inertia": (0.01, 0.02, 0.015)}
    frames = {"S": (0.1, 0.05, 0), "E": (-0.2, 0.0, 0.1)}
    start = {"axis": (0.2, 0.1, 1), "angle": 0.2, "angle_rate": 4.0}
    at = (0.5, 0.2, 0.4)
    branch = filled("c", [ct.RigidBody("bob", frames=frames, **data)])
    branch.add(ct.Cylindrical("J", "ground", "bob.S", displacement=0.1, displacement_rate=0.3, **start))
    branch.add(ct.Spring("K", branch.ground.at(*at, name="P"), "bob.E", stiffness=20.0, length=0.3))
    branch.add(ct.Damper("D", "P", "bob.E", damping=0.5))
    graph = filled("c", [
        Ground("G"), Ground("P", position=at), Body("bob", frames=frames, **data),
        CylindricalJoint("J", slide=0.1, slide_rate=0.3, **start),
        PointSpring("K", stiffness=20.0, length=0.3), PointDamper("D", damping=0.5),
    ])  # fmt: skip
    bonded(graph, ("G", "J.a"), ("J.b", "bob.S"), ("P", "K.a"), ("bob.E", "K.b"), ("P", "D.a"), ("bob.E", "D.b"))
    names = {"J.displacement": "J.slide", "J.angle": "J.angle"}
    return Pair(branch, graph, 2.0, ("bob",), ("J",), names)


def universal() -> Pair:
    """Two shafts with a universal joint between them and a torque on the first; the second hangs on it."""
    data = {"mass": 0.6, "inertia": (0.004, 0.01, 0.008)}
    frames = {"a": (-0.15, 0, 0), "b": (0.15, 0, 0)}
    start = {"axis_1": (0, 0, 1), "axis_2": (0, 1, 0), "angle_1": 0.5, "angle_2": -0.3, "angle_1_rate": 1.0}
    branch = filled("u", [
        ct.RigidBody("one", frames=frames, **data), ct.RigidBody("two", frames=frames, **data),
        ct.Revolute("J1", "ground", "one.a", axis=(1, 0, 0)), ct.Universal("J2", "one.b", "two.a", **start),
        ct.JointActuator("M", on="J1", effort="0.2*sin(3*t)"),
    ])  # fmt: skip
    graph = filled("u", [
        Ground("G"), Body("one", frames=frames, **data), Body("two", frames=frames, **data),
        RevoluteJoint("J1", axis="x"), UniversalJoint("J2", **start), Se("M", effort="0.2*sin(3*t)"),
    ])  # fmt: skip
    bonded(graph, ("G", "J1.a"), ("J1.b", "one.a"), ("one.b", "J2.a"), ("J2.b", "two.a"), ("M", "J1.shaft"))
    return Pair(branch, graph, 2.0, ("one", "two"), ("J1", "J2"), {f"J2.angle_{k}": f"J2.angle_{k}" for k in (1, 2)})


def free_and_welded() -> Pair:
    """A free joint that carries two welded bodies, with a force in body axes on one of them."""
    data = {"mass": 1.0, "inertia": (0.02, 0.03, 0.045)}
    frames = {"e": {"position": (0.2, 0, 0.1), **TURN}}
    there = {name: Frame.of(given, name) for name, given in frames.items()}
    start = {"orientation": (0.8, 0.1, 0.5, -0.3), "angular_velocity": (1.0, 2.0, -0.5)}
    force = ("cos(2*t)", 0.5, "-0.3*t")
    branch = filled("f", [
        ct.RigidBody("one", frames=there, **data), ct.RigidBody("two", frames={"e": (0, 0.1, 0)}, **data),
        ct.Free("J", "ground", "one", x=0.1, y=0.2, z=0.3, x_rate=1.0, y_rate=-0.5, z_rate=2.0, **start),
        ct.Weld("W", "one.e", "two.e"), ct.PointForce("F", "two", force=force, axes="body"),
    ])  # fmt: skip
    graph = filled("f", [
        Ground("G"), Body("one", frames=frames, **data), Body("two", frames={"e": (0, 0.1, 0)}, **data),
        FreeJoint("J", position=(0.1, 0.2, 0.3), velocity=(1.0, -0.5, 2.0), **start), WeldJoint("W"),
        FrameForce("F", force=force, axes="body"),
    ])  # fmt: skip
    bonded(graph, ("G", "J.a"), ("J.b", "one.centre"), ("one.e", "W.a"), ("W.b", "two.e"), ("F", "two.centre"))
    return Pair(branch, graph, 1.5, ("one", "two"), ("W",), {f"J.{x}": f"J.position.{x}" for x in "xyz"})


def four_bar() -> Pair:
    """A planar four-bar of four revolute joints in space: three redundant closures."""
    l1, l2, l3 = 0.3, 0.9, 0.75
    bars = {"crank": (l1, 1.0, "O", "A"), "coupler": (l2, 3.0, "A", "B"), "follower": (l3, 2.0, "B", "C")}
    branch, graph = (filled("4", [], (0.0, -9.81, 0.0)) for _ in range(2))
    for name, (length, mass, a, b) in bars.items():
        J = (1e-3, mass * length**2 / 12, mass * length**2 / 12)
        frames = {a: (-length / 2, 0, 0), b: (length / 2, 0, 0)}
        branch.add(ct.RigidBody(name, mass=mass, inertia=J, frames=frames))
        graph.add(Body(name, mass=mass, inertia=J, frames=frames))
    pivot = branch.ground.at(0.9, 0, 0, name="pivot")
    graph.add(Ground("G"))
    graph.add(Ground("pivot", position=(0.9, 0, 0)))
    ends = {
        "O": ("ground", "crank.O", 0.3), "A": ("crank.A", "coupler.A", 0.5),
        "B": ("coupler.B", "follower.B", -1.5), "C": ("follower.C", pivot, 0.7),
    }  # fmt: skip
    for name, (a, b, angle) in ends.items():
        fixed = {"fixed": ("angle",)} if name == "O" else {}
        branch.add(ct.Revolute(name, a, b, axis=(0, 0, 1), angle=angle, **fixed))
        graph.add(RevoluteJoint(name, axis="z", angle=angle))
        bonded(graph, ("G" if a == "ground" else a, f"{name}.a"), (f"{name}.b", b))
    return Pair(branch, graph, 1.0, tuple(bars), (), {"O.angle": "O.angle"}, False, {"O.angle": 0.3})


def slider_crank() -> Pair:
    """A slider-crank: the closing joint is found by the search."""
    r, length = 0.05, 0.15
    crank = {"mass": 1.5, "inertia": (1.5e-3, 1.5e-3, 2.7e-3)}
    rod = {"mass": 0.4, "inertia": (1e-4, 7.5e-4, 7.5e-4)}
    piston = {"mass": 0.6, "inertia": (5e-4, 4e-4, 4e-4)}
    rods = {"big": (-length / 2, 0, 0), "small": (length / 2, 0, 0)}
    branch = filled("k", [
        ct.RigidBody("crank", frames={"pin": (r, 0, 0)}, **crank), ct.RigidBody("rod", frames=rods, **rod),
        ct.RigidBody("piston", **piston),
        ct.Revolute("main", "ground", "crank", angle=0.6, angle_rate=5.0, fixed=("angle", "angle_rate")),
        ct.Revolute("pin", "crank.pin", "rod.big", angle=-0.8), ct.Revolute("wrist", "rod.small", "piston"),
        ct.Prismatic("bore", "ground", "piston", axis=(1, 0, 0), displacement=0.19),
    ], (0.0, -9.81, 0.0))  # fmt: skip
    graph = filled("k", [
        Ground("G"), Body("crank", frames={"pin": (r, 0, 0)}, **crank), Body("rod", frames=rods, **rod),
        Body("piston", **piston), RevoluteJoint("main", axis="z", angle=0.6, angle_rate=5.0),
        RevoluteJoint("pin", axis="z", angle=-0.8), RevoluteJoint("wrist", axis="z"),
        PrismaticJoint("bore", axis="x", slide=0.19),
    ], (0.0, -9.81, 0.0))  # fmt: skip
    bonded(graph, ("G", "main.a"), ("main.b", "crank.centre"), ("crank.pin", "pin.a"), ("pin.b", "rod.big"))
    bonded(graph, ("rod.small", "wrist.a"), ("wrist.b", "piston.centre"), ("G", "bore.a"), ("bore.b", "piston.centre"))
    names = {"bore.displacement": "bore.slide", "main.angle": "main.angle"}
    start = {"main.angle": 0.6, "main.angle_rate": 5.0}
    return Pair(branch, graph, 1.0, ("crank", "rod", "piston"), (), names, False, start)


def spatial_loop() -> Pair:
    """A crank and a rocker about different axes with a rod between a spherical and a universal joint."""
    data = {"mass": 0.5, "inertia": (2e-3, 3e-3, 4e-3)}
    crank, rocker, rod = {"e": (0.1, 0, 0)}, {"e": (0, 0, 0.25)}, {"a": (-0.2, 0, 0), "b": (0.2, 0, 0)}
    at = (0.45, 0.1, -0.1)
    axes = {"axis_1": (0, 0, 1), "axis_2": (0, 1, 0)}
    branch = filled("l", [
        ct.RigidBody("crank", frames=crank, **data), ct.RigidBody("rod", frames=rod, **data),
        ct.RigidBody("rocker", frames=rocker, **data),
        ct.Revolute("J1", "ground", "crank", axis=(0, 0, 1), angle=0.3, angle_rate=4.0, fixed=("angle", "angle_rate")),
        ct.Universal("J2", "crank.e", "rod.a", **axes), ct.Spherical("J3", "rod.b", "rocker.e"),
    ])  # fmt: skip
    branch.add(ct.Revolute("J4", branch.ground.at(*at, name="P"), "rocker", axis=(0, 1, 0)))
    graph = filled("l", [
        Ground("G"), Ground("P", position=at), Body("crank", frames=crank, **data), Body("rod", frames=rod, **data),
        Body("rocker", frames=rocker, **data), RevoluteJoint("J1", axis="z", angle=0.3, angle_rate=4.0),
        UniversalJoint("J2", **axes), SphericalJoint("J3"), RevoluteJoint("J4", axis="y"),
    ])  # fmt: skip
    bonded(graph, ("G", "J1.a"), ("J1.b", "crank.centre"), ("crank.e", "J2.a"), ("J2.b", "rod.a"), ("rod.b", "J3.a"))
    bonded(graph, ("J3.b", "rocker.e"), ("P", "J4.a"), ("J4.b", "rocker.centre"))
    joints, start = ("J1", "J2", "J3", "J4"), {"J1.angle": 0.3, "J1.angle_rate": 4.0}
    return Pair(branch, graph, 1.0, ("crank", "rod", "rocker"), joints, {"J1.angle": "J1.angle"}, True, start)


PAIRS: tuple[Callable[[], Pair], ...] = (
    pendulum, spherical_pendulum, double_pendulum, prismatic, cylindrical, universal, free_and_welded, four_bar,
    slider_crank, spatial_loop,
)  # fmt: skip


def difference(pair: Pair, points: int = 21, rtol: float = 1e-10, atol: float = 1e-11) -> dict[str, float]:
    """The largest difference of each result between the two formulations, over its own size where that is large."""
    options = {"points": points, "rtol": rtol, "atol": atol}
    one = pair.branch.simulate(pair.t_end, **options)
    two = pair.graph.simulate(pair.t_end, start=dict(pair.start) or None, **options)
    found = {}
    for name, other in pair.compared().items():
        size = max(1.0, float(np.abs(one[name]).max()))
        found[name] = float(np.abs(one[name] - two[other]).max()) / size
    return found
