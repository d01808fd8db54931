"""A consistent start from approximate values, and what is said about freedom and redundancy."""

from __future__ import annotations

from math import acos, atan2, cos, pi, sin, sqrt

import numpy as np
import pytest

import cotree as ct
from benchmarks.rigid_models import bar, four_bar, rssr, slider_crank, stewart
from cotree.terminal.constraints import PointOnPlane
from cotree.terminal.drivers import Drive, SpeedDrive


def at_start(model: ct.Model, tree: str = "joint", **options: object) -> ct.Solution:
    return model.simulate(1e-6, tree=tree, times=[0, 1e-6], **options)


def closed_four_bar(crank: float) -> tuple[float, float]:
    """Absolute angles of coupler and follower (from B to C) by the law of cosines, B above the line OC."""
    ax, ay = 0.3 * cos(crank), 0.3 * sin(crank)
    dx, dy = 0.9 - ax, -ay
    d = sqrt(dx * dx + dy * dy)
    coupler = atan2(dy, dx) + acos((0.9**2 + d * d - 0.75**2) / (2 * 0.9 * d))
    bx, by = ax + 0.9 * cos(coupler), ay + 0.9 * sin(coupler)
    return coupler, atan2(-by, 0.9 - bx)


@pytest.mark.parametrize("tree", ["joint", "absolute", "kinds"])
def test_four_bar_is_completed_and_the_fixed_angle_kept(tree: str) -> None:
    """Only the crank is exact; the rest follows from the triangle's law of cosines."""
    sol = at_start(four_bar(), tree)
    coupler, follower = closed_four_bar(0.3)
    assert sol["O.angle"][0] == pytest.approx(0.3, abs=1e-12)
    assert sol["A.angle"][0] == pytest.approx(coupler - 0.3, abs=1e-10)
    assert sol["B.angle"][0] == pytest.approx(follower - coupler, abs=1e-10)
    assert sol["O.angle_rate"][0] == pytest.approx(4.0, abs=1e-10)
    step = 1e-6
    ahead, behind = closed_four_bar(0.3 + step), closed_four_bar(0.3 - step)
    rates = [4.0 * (a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True)]
    assert sol["coupler.angular_velocity.z"][0] == pytest.approx(rates[0], abs=1e-7)
    assert sol["follower.angular_velocity.z"][0] == pytest.approx(rates[1], abs=1e-7)


@pytest.mark.parametrize("chord", "OABC")
def test_angles_that_something_uses_start_right_in_every_tree(chord: str) -> None:
    """The coordinate that counts the turns of a chord is near its angle only: no start value for another tree."""
    data = four_bar().to_data()
    for joint in "OABC":
        data["components"][f"spring_{joint}"] = {"kind": "joint_spring", "on": joint, "stiffness": 1.0}
    model = ct.Model.from_mapping(data)
    equations = model.equations(tree=model.tree(into_cotree=[chord]))
    coupler, follower = closed_four_bar(0.3)
    wanted = {"O.angle": 0.3, "A.angle": coupler - 0.3, "B.angle": follower - coupler, "C.angle": -follower}
    start = dict(zip(equations.q.names, equations.q.start, strict=True))
    for name, value in wanted.items():
        if name != f"{chord}.angle":
            assert start[name] == pytest.approx(value, abs=1e-10)


def test_all_values_are_approximate_unless_fixed() -> None:
    """Without fixed the given angles move together, each by a little."""
    m = ct.Model("m", gravity=(0, -9.81, 0))
    bar(m, "a", 1.0, 1.0)
    bar(m, "b", 1.0, 1.0)
    bar(m, "c", 1.0, 1.0)
    m.add(ct.Revolute("O", m.ground, "a.a", angle=1.5))
    m.add(ct.Revolute("A", "a.b", "b.a", angle=-1.4))
    m.add(ct.Revolute("B", "b.b", "c.b", angle=1.5))
    m.add(ct.Revolute("C", m.ground.at(1, 0, 0), "c.a", angle=1.6))
    sol = at_start(m)
    for name, given in (("O", 1.5), ("A", -1.4), ("B", 1.5), ("C", 1.6)):
        assert abs(sol[f"{name}.angle"][0] - given) < 0.15
    gap = sol["c.b.position"][0] - sol["b.b.position"][0]
    assert np.abs(gap).max() < 1e-11
    # A parallelogram: opposite bars stay parallel.
    assert sol["O.angle"][0] == pytest.approx(sol["C.angle"][0], abs=1e-9)


def test_body_positions_place_a_spatial_loop() -> None:
    """Positions of bodies alone choose the closed position: the platform stays where it was put, roughly."""
    sol = at_start(stewart())
    place = sol["plate.position"][0]
    assert np.linalg.norm(place - (0.05, 0.02, 0.8)) < 0.2
    for k in range(3):
        gap = sol[f"plate.t{k}.position"][0] - sol[f"high{k}.out.position"][0]
        assert np.abs(gap).max() < 1e-10


@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_velocities_of_a_spatial_loop_are_consistent(tree: str) -> None:
    sol = at_start(rssr(), tree)
    assert sol["R1.angle_rate"][0] == pytest.approx(6.0, abs=1e-10)
    for a, b in (("crank.b", "coupler.b"), ("coupler.c", "rocker.c")):
        assert np.abs(sol[f"{a}.velocity"][0] - sol[f"{b}.velocity"][0]).max() < 1e-10


def test_start_values_by_name_are_kept() -> None:
    m = slider_crank()
    sol = at_start(m, start={"O.angle": 0.6, "O.angle_rate": -2.0})
    assert sol["O.angle_rate"][0] == pytest.approx(-2.0, abs=1e-10)
    x = 0.2 * cos(0.6) + sqrt(0.5**2 - (0.2 * sin(0.6)) ** 2)
    assert sol["slide.displacement"][0] == pytest.approx(x, abs=1e-10)


def test_body_start_without_joints() -> None:
    m = ct.Model("m", gravity=(0, 0, 0))
    turn = (cos(0.3), 0, sin(0.3), 0)
    m.add(
        ct.RigidBody("stone", mass=1.0, inertia=(1, 2, 2), position=(1, 2, 3), orientation=turn,
                     velocity=(0.1, 0.2, 0.3), angular_velocity=(0, 0, 1))
    )  # fmt: skip
    sol = at_start(m)
    np.testing.assert_allclose(sol["stone.position"][0], (1, 2, 3), rtol=0, atol=1e-14)
    np.testing.assert_allclose(sol["stone.orientation"][0], turn, rtol=0, atol=1e-14)
    np.testing.assert_allclose(sol["stone.velocity"][0], (0.1, 0.2, 0.3), rtol=0, atol=1e-14)
    # Given in body axes, told in world axes: turned by 0.6 about y.
    np.testing.assert_allclose(sol["stone.angular_velocity"][0], (sin(0.6), 0, cos(0.6)), rtol=0, atol=1e-14)


def test_angles_of_chords_count_full_turns() -> None:
    """The crank of a driven four-bar turns five times; its angle is told so under trees in which it is a chord."""
    m = ct.Model("four-bar", gravity=(0, 0, 0))
    bar(m, "crank", 0.3, 1.0, "OA")
    bar(m, "coupler", 0.9, 3.0, "AB")
    bar(m, "follower", 0.75, 2.0, "BC")
    m.add(ct.Revolute("O", m.ground, "crank.O"))
    m.add(ct.Revolute("A", "crank.A", "coupler.A", angle=0.7))
    m.add(ct.Revolute("B", "coupler.B", "follower.B", angle=-1.5))
    m.add(ct.Revolute("C", "follower.C", m.ground.at(0.9, 0, 0)))
    m.add(Drive("motor", "O", angle="10*pi*t"))
    for tree in ("joint", "absolute"):
        sol = m.simulate(1.0, tree=tree, times=[0, 0.5, 1.0])
        assert sol["O.angle"][2] == pytest.approx(10 * pi, abs=1e-8)
        assert sol["A.angle"][2] == pytest.approx(sol["A.angle"][0] - 10 * pi, abs=1e-6)
        assert sol["follower.position.x"][2] == pytest.approx(sol["follower.position.x"][0], abs=1e-6)


@pytest.mark.parametrize("joint", ["O", "A", "B", "C"])
@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_speed_driver_in_a_loop(tree: str, joint: str) -> None:
    """The coordinate starts where the loop closes with the crank at 0.3 rad, and then runs with the speed.

    The follower stands 0.055 rad before the end of its swing, so it is driven the other way.
    """
    sign = -1 if joint == "C" else 1
    m = four_bar()
    m.components["O"] = ct.Revolute("O", m.ground, "crank.O", angle=0.3, fixed=("angle",))
    m.add(SpeedDrive("pace", joint, speed=f"{sign}*(0.5 + 0.2*t)"))
    sol = m.simulate(0.5, tree=tree, times=[0, 0.5])
    coupler, follower = closed_four_bar(0.3)
    start = {"O": 0.3, "A": coupler - 0.3, "B": follower - coupler, "C": -follower}[joint]
    assert sol["O.angle"][0] == pytest.approx(0.3, abs=1e-9)
    assert sol[f"{joint}.angle"][0] == pytest.approx(start, abs=1e-9)
    assert sol[f"{joint}.angle"][1] == pytest.approx(start + sign * 0.275, abs=1e-7)
    gap = sol["coupler.B.position"] - sol["follower.B.position"]
    assert np.abs(gap).max() < 1e-9


# -- freedom and redundancy -------------------------------------------------------------------------------------------


def test_freedom_does_not_depend_on_the_tree() -> None:
    for tree in ("joint", "absolute", ("joint", "absolute"), "kinds"):
        assert four_bar().equations(tree).notes[0].endswith("1 degree of freedom")
        assert rssr().equations(tree).notes[0].endswith("2 degrees of freedom")


def test_planar_loop_is_named() -> None:
    assert four_bar().equations().notes[1] == "'C' adds 3 redundant equations: planar loop"
    assert slider_crank().equations().notes[1] == "'slide' adds 3 redundant equations: planar loop"
    for model in (four_bar(), slider_crank()):
        assert [each.code for each in model.equations().diagnostics[1:]] == ["redundant-rows", "undetermined-reactions"]


def test_spherical_loop_is_named() -> None:
    """Four revolutes whose axes meet in one point."""
    m = ct.Model("spherical four-bar")
    axes = [(0, 0, 1), (0.5, 0, 1), (0.4, 0.7, 1), (-0.1, 0.8, 1)]
    for k in range(3):
        m.add(ct.RigidBody(f"b{k}", mass=1.0, inertia=(1, 1, 1), centre=(0.1 * k, 0.2, 0.3)))
    nodes = [m.ground, "b0", "b1", "b2", m.ground]
    for k in range(4):
        m.add(ct.Revolute(f"R{k}", nodes[k], nodes[k + 1], axis=axes[k]))
    notes = m.equations().notes
    assert notes[0].endswith("1 degree of freedom")
    assert notes[1] == "'R3' adds 3 redundant equations: spherical loop"


def test_doubled_support_is_named() -> None:
    """A door on two hinges: the second one says nothing new."""
    m = ct.Model("door")
    m.add(ct.RigidBody("door", mass=10.0, inertia=(2, 1, 1), frames={"low": (0, 0, -1), "high": (0, 0, 1)}))
    m.add(ct.Revolute("low", m.ground.at(0, 0, -1), "door.low"))
    m.add(ct.Revolute("high", m.ground.at(0, 0, 1), "door.high"))
    notes = m.equations().notes
    assert notes[0].endswith("1 degree of freedom")
    assert "'high' adds 5 redundant equations" in notes[1]


def test_redundant_constraint_is_named() -> None:
    m = ct.Model("m")
    m.add(ct.RigidBody("block", mass=1.0, inertia=(1, 1, 1)))
    m.add(ct.Planar("floor", m.ground, "block"))
    m.add(PointOnPlane("again", m.ground, "block"))
    notes = m.equations().notes
    assert notes[0].endswith("3 degrees of freedom")
    assert "'again' adds 1 redundant equation" in notes[1]
