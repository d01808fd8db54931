"""Mechanisms with flexible bodies that several tests use."""

from __future__ import annotations

from typing import Any

import cotree as ct
from cotree.terminal.forces import JointActuator, PointForce, PointTorque
from cotree.terminal.springs import JointSpring, Spring

SOFT = ct.Material(young=4e8, density=1200.0, poisson=0.3)
"""Soft, so that no wave is much faster than the motion of the bodies."""
FIRM = ct.Material(young=4e9, density=1200.0, poisson=0.3)
SECTION = ct.section.rectangle(0.02, 0.03)
AREA, I_XY, I_XZ = 6e-4, 0.03 * 0.02**3 / 12, 0.02 * 0.03**3 / 12
DOWN = (0.0, -9.81, 0.0)


def beam(m: ct.Model, name: str, length: float, **given: Any) -> ct.Beam:
    """A soft beam of few elements."""
    settings = {"section": SECTION, "material": SOFT, "elements": 3, "modes": 1} | given
    if settings.get("shapes") == "nodal":
        del settings["modes"]
    return m.add(ct.Beam(name, length=length, **settings))


def four_bar() -> ct.Model:
    """Planar, closed: rigid crank, coupler with interface modes, follower with pinned modes."""
    m = ct.Model("flexible four-bar", gravity=DOWN)
    ends = {"O": (-0.15, 0, 0), "A": (0.15, 0, 0)}
    m.add(ct.RigidBody("crank", ct.rod(length=0.3, mass=1.0, radius=0.02), frames=ends))
    beam(m, "coupler", 0.9, deforms=["axial", "xy"])
    beam(m, "follower", 0.75, shapes="pinned", modes=2, deforms=["xy"])
    m.add(ct.Revolute("O", m.ground, "crank.O", angle=0.3, angle_rate=4.0, fixed=("angle", "angle_rate")))
    m.add(ct.Revolute("A", "crank.A", "coupler.start", angle=0.5))
    m.add(ct.Revolute("B", "coupler.end", "follower.start", angle=-1.5))
    m.add(ct.Revolute("C", "follower.end", m.ground.at(0.9, 0, 0)))
    m.add(JointActuator("motor", "O", effort="2 + sin(3*t)"))
    return m


def slider_crank() -> ct.Model:
    """Planar, closed: clamped modes in the crank, mean axes in the rod, a rigid piston."""
    m = ct.Model("flexible slider-crank", gravity=DOWN)
    beam(m, "crank", 0.2, deforms=["xy"], shapes="clamped")
    beam(m, "rod", 0.5, deforms=["xy"], modes=2, shapes="free")
    m.add(ct.RigidBody("piston", ct.box(size=(0.1, 0.1, 0.1), mass=0.7)))
    m.add(ct.Revolute("O", m.ground, "crank.start", angle=0.6, angle_rate=5.0, fixed=("angle", "angle_rate")))
    m.add(ct.Revolute("A", "crank.end", "rod.start", angle=-0.9))
    m.add(ct.Revolute("B", "rod.end", "piston"))
    m.add(ct.Prismatic("slide", m.ground, "piston", axis=(1, 0, 0), displacement=0.65))
    m.add(JointSpring("gas", "slide", stiffness=150.0, rest=0.5, damping=3.0))
    m.add(JointActuator("motor", "O", effort="1 - 0.1*O.angle_rate"))
    return m


def spatial_chain() -> ct.Model:
    """Spatial, open: a damped beam, one with mean axes, a rigid body; force, torque and spring at nodes."""
    m = ct.Model("flexible spatial chain")
    beam(m, "b0", 0.5, modes=0, damping=0.02)
    beam(m, "b1", 0.4, shapes="free")
    frames = {"in": (-0.1, 0.02, 0), "out": (0.1, 0.01, 0.03)}
    m.add(ct.RigidBody("b2", mass=0.3, inertia=(0.001, 0.002, 0.0015), frames=frames))
    m.add(ct.Spherical("S", m.ground, "b0.start", orientation=(0.9, 0.2, -0.1, 0.3), angular_velocity=(1, -0.5, 2)))
    m.add(ct.Universal("U", "b0.end", "b1.start", angle_1=0.4, angle_2=-0.3, angle_1_rate=1.0, angle_2_rate=0.5))
    m.add(ct.Revolute("R", "b1.end", "b2.in", axis=(0.2, 0.5, 1.0), angle=0.2, angle_rate=-1.0))
    m.add(PointForce("push", "b1.end", force=("0.4*cos(3*t)", "0.3", "0.5*t"), axes="body"))
    m.add(PointTorque("twist", "b0.end", torque=(0.03, "-0.02*sin(5*t)", 0.01)))
    m.add(Spring("spring", m.ground.at(0.3, 0.3, 0.3), "b1.start", length=0.4, stiffness=30.0, damping=0.5))
    return m


def segmented_chain() -> ct.Model:
    """Spatial, open: beams of two segments with a joint, a force and a spring inside, at a cut and at the ends."""
    m = ct.Model("segmented chain")
    places = {"cut": 0.25, "inside": {"at": 0.4, "axis": (1, 1, 0), "angle": 0.5}}
    beam(m, "b0", 0.5, modes=0, elements=2, damping=0.02, segments=2, frames=places, deforms=["torsion", "xy", "xz"])
    beam(m, "b1", 0.4, modes=0, elements=2, segments=2, attached="end", deforms=["xy"])
    m.add(ct.RigidBody("b2", mass=0.3, inertia=(0.001, 0.002, 0.0015), frames={"in": (-0.1, 0.02, 0)}))
    m.add(ct.Spherical("S", m.ground, "b0.start", orientation=(0.9, 0.2, -0.1, 0.3), angular_velocity=(1, -0.5, 2)))
    m.add(ct.Universal("U", "b0.inside", "b1.start", angle_1=0.4, angle_2=-0.3, angle_1_rate=1.0, angle_2_rate=0.5))
    m.add(ct.Revolute("R", "b2.in", "b1", axis=(0.2, 0.5, 1.0), angle=0.2, angle_rate=-1.0))
    m.add(PointForce("push", "b1.end", force=("0.4*cos(3*t)", "0.3", "0.5*t"), axes="body"))
    m.add(PointTorque("twist", "b0.end", torque=(0.03, "-0.02*sin(5*t)", 0.01)))
    m.add(Spring("spring", m.ground.at(0.3, 0.3, 0.3), "b0.cut", length=0.4, stiffness=30.0, damping=0.5))
    return m


def segmented_four_bar() -> ct.Model:
    """Planar, closed: a coupler of two segments, and one of rigid stiffening as the follower."""
    m = ct.Model("segmented four-bar", gravity=DOWN)
    m.add(
        ct.RigidBody("crank", ct.rod(length=0.3, mass=1.0, radius=0.02), frames={"O": (-0.15, 0, 0), "A": (0.15, 0, 0)})
    )
    beam(m, "coupler", 0.9, modes=0, deforms=["axial", "xy"], segments=2)
    beam(m, "follower", 0.75, modes=0, deforms=["xy"], segments=2, stiffening="rigid")
    m.add(ct.Revolute("O", m.ground, "crank.O", angle=0.3, angle_rate=4.0, fixed=("angle", "angle_rate")))
    m.add(ct.Revolute("A", "crank.A", "coupler.start", angle=0.5))
    m.add(ct.Revolute("B", "coupler.end", "follower", angle=-1.5))
    m.add(ct.Revolute("C", "follower.end", m.ground.at(0.9, 0, 0)))
    m.add(JointActuator("motor", "O", effort="2 + sin(3*t)"))
    return m


def plate_arm() -> ct.Model:
    """Spatial, open: a plate with rigid edges carries a rigid body on a joint that begins at that body."""
    m = ct.Model("plate on a hinge")
    m.add(
        ct.FlexibleBody(
            "plate",
            mesh=ct.mesh.grid(size=(0.4, 0.2), cells=(2, 2)),
            plate=ct.Plate(0.004, SOFT),
            frames={"root": (0, 0.1, 0), "tip": (0.4, 0.1, 0)},
            rigid={"root": "left", "tip": "right"},
            attached="root",
            modes=0,
            interface={"tip": "z ry"},
        )
    )
    m.add(ct.RigidBody("tip", ct.sphere(radius=0.05, mass=0.2), frames={"p": (0, 0, -0.1)}))
    m.add(ct.Revolute("R", m.ground, "plate.root", axis=(0, 1, 0), angle_rate=3.0))
    m.add(ct.Revolute("S", "tip.p", "plate.tip", axis=(0, 0.2, 1)))
    return m


JOINTS: dict[str, dict[str, Any]] = {
    "Revolute": {"axis": (0.3, 0.2, 1.0), "angle": 0.3, "angle_rate": 1.0},
    "Prismatic": {"axis": (0.3, 1.0, 0.1), "displacement": 0.05, "displacement_rate": 0.4},
    "Cylindrical": {"axis": (1.0, 0.2, 0.1), "angle": 0.2, "angle_rate": 1.0, "displacement_rate": -0.3},
    "Spherical": {"orientation": (0.9, 0.1, 0.2, -0.3), "angular_velocity": (1.0, 2.0, -1.0)},
    "Universal": {"angle_1": 0.3, "angle_2": 0.2, "angle_1_rate": 1.0, "angle_2_rate": -0.5},
    "Planar": {"x": 0.05, "y": -0.02, "angle": 0.3, "x_rate": 0.2, "y_rate": 0.3, "angle_rate": -1.0},
    "Weld": {},
    "Screw": {"pitch": 0.1, "angle": 0.4, "angle_rate": 1.0},
    "Free": {"x": 0.1, "z": -0.1, "x_rate": 0.4, "orientation": (0.9, 0.1, 0.2, -0.3), "angular_velocity": (1, 2, -1)},
}


def joined(kind: str, backwards: bool, flexible: bool) -> ct.Model:
    """A flexible arm on the ground, and a joint of some kind between its moving end and another body."""
    m = ct.Model(f"{kind} joint{' backwards' * backwards}, {'flexible' if flexible else 'rigid'} body")
    beam(m, "arm", 0.4, modes=0, deforms=["xy", "xz"])
    m.add(ct.Revolute("O", m.ground, "arm.start", axis=(0, 0, 1), angle=0.2, angle_rate=2.0))
    if flexible:
        beam(m, "other", 0.3, modes=3, shapes="free", deforms=["xy", "xz", "torsion"])
    else:
        end = ct.Frame((-0.1, 0.02, 0), axis=(1, 2, 3), angle=0.3)
        m.add(ct.RigidBody("other", mass=0.2, inertia=(0.001, 0.002, 0.0015), frames={"end": end}))
    ends = ("other.end", "arm.end") if backwards else ("arm.end", "other.end")
    m.add(getattr(ct, kind)("J", *ends, **JOINTS[kind]))
    if kind == "Free":
        m.add(Spring("spring", *ends, length=0.1, stiffness=20.0))
    return m
