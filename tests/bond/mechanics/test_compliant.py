"""C-element joints whose frames turn: their springs know the gap, and what they do to both sides balances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Turn

from bond.mechanics.pairs import bonded, filled
from cotree.bond import Se, Sf
from cotree.bond.mechanics import (
    Body,
    CylindricalJoint,
    Ground,
    PrismaticJoint,
    RevoluteJoint,
    SphericalJoint,
    Translation,
    UniversalJoint,
    WeldJoint,
)  # fmt: skip

SOFT = {"stiffness": 400.0, "damping": 2.0}
TURNING = {"turning_stiffness": 30.0, "turning_damping": 0.1}
STIFF = {"stiffness": 1e4, "turning_stiffness": 1e3, "damping": 100.0, "turning_damping": 2.0}
MASSES = {"A": (1.0, (0.02, 0.03, 0.04)), "B": (0.7, (0.01, 0.02, 0.015))}
JOINTS = (
    SphericalJoint("J", **SOFT), RevoluteJoint("J", axis=(1, 2, 3), **SOFT, **TURNING),
    PrismaticJoint("J", axis="y", **SOFT, **TURNING), CylindricalJoint("J", axis=(0, 1, 1), **SOFT, **TURNING),
    UniversalJoint("J", axis_1="x", axis_2="z", **SOFT, **TURNING), WeldJoint("J", **SOFT, **TURNING),
)  # fmt: skip


def vectors(solution, name):
    """A result with x, y and z, one row for each time."""
    return np.column_stack([solution[f"{name}.{x}"] for x in "xyz"])


def turns(solution, body):
    """The rotation of a body at each time, by another library."""
    e = [solution[f"{body}.orientation.e{k}"] for k in range(4)]
    return Turn.from_quat(np.column_stack([*e[1:], e[0]]))


def gap(solution, a, b):
    """Rotation of the body b in a, and position of frame p of b in that of a, from the results alone."""
    apart = vectors(solution, f"{b}.p.position") - vectors(solution, f"{a}.p.position")
    return turns(solution, a).inv() * turns(solution, b), turns(solution, a).inv().apply(apart)


def two_bodies(joint):
    """Two free bodies on a joint, in motion, without gravity."""
    one = {"frames": {"p": (0.1, 0.05, 0)}, "velocity": (0.1, 0, 0.2), "angular_velocity": (3, 1, -2)}
    two = {"frames": {"p": (-0.1, 0, 0.02)}, "velocity": (0, 0.3, 0), "angular_velocity": (-4, 2, 5)}
    bodies = [
        Body(name, mass=MASSES[name][0], inertia=MASSES[name][1], **given) for name, given in (("A", one), ("B", two))
    ]
    return bonded(filled("two", [*bodies, joint], (0, 0, 0)), ("A.p", "J.a"), ("J.b", "B.p"))


@pytest.mark.parametrize("joint", JOINTS, ids=lambda joint: joint.kind)
def test_the_wrenches_of_a_c_joint_balance(joint):
    """Momentum and angular momentum about the origin are kept, to 1e-9 of their sizes of about 0.3."""
    solution = two_bodies(joint).simulate(2.0, points=21, rtol=1e-11, atol=1e-12)
    momentum, about = np.zeros((21, 3)), np.zeros((21, 3))
    for name, (mass, inertia) in MASSES.items():
        p = mass * vectors(solution, f"{name}.velocity")
        R = turns(solution, name)
        spin = R.apply(np.array(inertia) * R.inv().apply(vectors(solution, f"{name}.angular_velocity")))
        momentum += p
        about += np.cross(vectors(solution, f"{name}.position"), p) + spin
    assert np.abs(momentum - momentum[0]).max() < 1e-9
    assert np.abs(about - about[0]).max() < 1e-9
    assert solution.energy().error < 1e-8


@pytest.mark.parametrize("joint", [JOINTS[0], JOINTS[-1]], ids=lambda joint: joint.kind)
def test_springs_hold_the_gap_while_both_sides_turn(joint):
    solution = two_bodies(joint).simulate(20.0, points=41, rtol=1e-11, atol=1e-12)
    C, d = gap(solution, "A", "B")
    assert np.abs(d).max() > 1e-3
    np.testing.assert_allclose(vectors(solution, "J.spring.translation.displacement"), d, rtol=0, atol=1e-8)
    if joint.kind == "bond.weld_joint":
        M = C.as_matrix()
        skew = np.column_stack([M[:, 2, 1] - M[:, 1, 2], M[:, 0, 2] - M[:, 2, 0], M[:, 1, 0] - M[:, 0, 1]]) / 2
        np.testing.assert_allclose(vectors(solution, "J.spring.rotation.displacement"), skew, rtol=0, atol=1e-8)


def test_springs_across_an_axis_hold_the_gap():
    """The axis z of A seen in B: its x and y components are the gap, whatever pair of axes the joint chose."""
    solution = two_bodies(RevoluteJoint("J", axis="z", **SOFT, **TURNING)).simulate(20.0, points=41, rtol=1e-11)
    C, d = gap(solution, "A", "B")
    seen = C.inv().apply([0, 0, 1])
    q = np.column_stack([solution[f"J.spring.rotation.displacement.c{k}"] for k in (1, 2)])
    assert np.abs(seen[:, :2]).max() > 1e-3
    np.testing.assert_allclose(np.hypot(*q.T), np.hypot(*seen[:, :2].T), rtol=0, atol=1e-8)
    np.testing.assert_allclose(vectors(solution, "J.spring.translation.displacement"), d, rtol=0, atol=1e-8)
    # what holds an axis cannot turn the body about it: the torque on B, in A's axes, has no part along z
    torque = vectors(solution, "J.torque")
    assert np.abs(torque @ [0, 0, 1]).max() < 1e-8


def test_a_rotor_on_a_soft_bearing_sags_as_its_weight_says():
    """m g / k, and the tilt m g l / k_t times l; the damper, which turns with the rotor, pulls it aside."""
    model = filled("rotor", [
        Ground("G"), Body("B", mass=1.0, inertia=(0.01, 0.01, 0.01), frames={"p": (-0.1, 0, 0)}),
        RevoluteJoint("J", axis="x", angle_rate=20.0, **STIFF),
    ], (0, 0, -9.8))  # fmt: skip
    solution = bonded(model, ("G", "J.a"), ("J.b", "B.p")).simulate(20.0, points=21, rtol=1e-8)
    tilt = 9.8 * 0.1 / 1e3
    assert solution["B.position.z"][2:] == pytest.approx(-(9.8 / 1e4 + tilt * 0.1), rel=3e-3)  # (c_t w / k_t)^2
    assert solution["B.position.y"][2:] == pytest.approx(tilt * 0.1 * 2.0 * 20.0 / 1e3, rel=0.1)


def test_a_weight_on_a_soft_joint_of_a_driven_wheel_stays_there():
    model = filled("hung", [
        Ground("G"), Body("W", mass=1.0, inertia=(0.01, 0.01, 0.01)), Sf("w", flow=20.0),
        Body("P", mass=1.0, inertia=(0.01, 0.01, 0.01), frames={"p": (0, 0, 0.2)}),
        RevoluteJoint("J1", axis="y"), RevoluteJoint("J2", axis="y", angle_rate=-20.0, **STIFF),
    ], (0, 0, -9.8))  # fmt: skip
    bonded(model, ("w", "J1.shaft"), ("G", "J1.a"), ("J1.b", "W.centre"), ("W.centre", "J2.a"), ("J2.b", "P.p"))
    solution = model.simulate(20.0, points=101, rtol=1e-8)
    apart = vectors(solution, "P.p.position") - vectors(solution, "W.position")
    back = turns(solution, "W").inv().apply(apart)
    np.testing.assert_allclose(vectors(solution, "J2.spring.translation.displacement"), back, rtol=0, atol=1e-7)
    # the spring alone holds the weight: 1 mm, and a few times that as the wheel's damper sets it swinging
    assert np.linalg.norm(apart, axis=1).max() < 1e-2


def test_a_given_start_off_the_joint_is_in_its_springs():
    model = filled("off", [
        Ground("G"), WeldJoint("J", **SOFT, **TURNING),
        Body("B", mass=1.0, inertia=(0.01, 0.02, 0.015), position=(0.01, -0.02, 0.03), orientation=(1, 0.1, 0, 0.05)),
    ], (0, 0, 0))  # fmt: skip
    solution = bonded(model, ("G", "J.a"), ("J.b", "B.centre")).simulate(0.5, points=6, rtol=1e-10)
    np.testing.assert_allclose(
        vectors(solution, "J.spring.translation.displacement"), vectors(solution, "B.position"), rtol=0, atol=1e-8
    )


def test_springs_on_an_arm_without_mass_hold_the_gap():
    """The arm turns by about two turns; the gap is seen in its axes, from positions alone."""
    model = filled("arm", [
        Ground("G"), RevoluteJoint("J1", axis="z"), Translation("arm", r=(0.3, 0, 0)), Se("M", effort=0.1),
        RevoluteJoint("J2", axis="y", **STIFF),
        Body("m", mass=1, inertia=(4e-4, 4e-4, 4e-4), frames={"p": (-0.1, 0, 0)}),
    ])  # fmt: skip
    bonded(model, ("G", "J1.a"), ("J1.b", "arm.A"), ("arm.B", "J2.a"), ("J2.b", "m.p"), ("M", "J1.shaft"))
    solution = model.simulate(5.0, points=51, rtol=1e-9)
    angle = solution["J1.angle"]
    assert angle[-1] > 6
    d = Turn.from_rotvec(np.outer(-angle, [0, 0, 1])).apply(vectors(solution, "m.p.position")) - [0.3, 0, 0]
    np.testing.assert_allclose(vectors(solution, "J2.spring.translation.displacement"), d, rtol=0, atol=1e-8)
