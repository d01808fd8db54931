"""A regularised friction that creeps where it should hold says so, and names what holds (A17)."""

from __future__ import annotations

from math import atanh, cos, pi, sin

import numpy as np
import pytest

import cotree as ct


def creeps(sol: ct.Solution) -> list:
    return [each for each in sol.diagnostics if each.code == "friction-creeps"]


def slope(scale: float = 1.0, level: float = 5.0, tilt: float = 0.4, sticks: bool = False, **more) -> ct.Model:
    """A block of 1 kg on a slope, held by friction."""
    m = ct.Model("slope", gravity=(9.81 * sin(tilt) * scale, 0, -9.81 * cos(tilt) * scale))
    m.add(ct.RigidBody("block", ct.box(size=(0.1 * scale, 0.1 * scale, 0.1 * scale), mass=1)))
    m.add(ct.Prismatic("P", m.ground, "block", axis=(1, 0, 0)))
    if sticks:
        m.add(ct.translational.Axis("axis", ("a", "ground"), on="P"))
        m.add(ct.translational.Friction("f", ("a", "ground"), force=level * scale, static=1.0))
    else:
        m.add(ct.JointFriction("f", "P", level=level * scale, speed=1e-3 * scale, **more))
    return m


@pytest.mark.parametrize(("duration", "scale"), [(1.0, 1e-6), (1.0, 1.0), (1.0, 1e3), (100.0, 1.0)])
def test_creep_on_a_slope_is_named_with_its_distance(duration, scale):
    sol = slope(scale).simulate(duration, points=101)
    speed = 1e-3 * scale * atanh(9.81 * sin(0.4) / 5.0)
    assert sol["P.displacement"][-1] == pytest.approx(speed * duration, rel=0.01)
    (found,) = creeps(sol)
    assert found.severity == "warning"
    assert found.subjects == ("f",)
    assert found.data["distance"] == pytest.approx(speed * duration, rel=0.02)
    assert found.data["end"] == duration
    for word in ("P.displacement", "translational.friction"):
        assert word in found.text


def test_what_it_points_to_holds():
    sol = slope(sticks=True).simulate(100.0, points=101)
    assert abs(sol["P.displacement"][-1]) < 1e-9
    assert not any(each.grave for each in sol.diagnostics)


def test_a_joint_that_turns_is_named_with_its_angle():
    m = ct.Model("arm", gravity=(0, -9.81, 0))
    m.add(ct.RigidBody("arm", ct.rod(length=1, mass=1, radius=0.01), frames={"end": (-0.5, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, "arm.end"))
    m.add(ct.JointFriction("brake", "O", level=6.0))
    (found,) = creeps(m.simulate(20.0, points=101))
    assert (found.subjects, found.data["unit"]) == (("brake",), "rad")
    assert "rotational.friction" in found.text


def test_a_stick_phase_between_two_slides_is_found():
    """Pushed over the friction at first and at the end, left on the slope between."""
    m = slope()
    m.add(ct.JointActuator("push", "P", effort="3*step(1-t) + 3*step(t-60)"))
    sol = m.simulate(61.0, points=611)
    (found,) = creeps(sol)
    assert 1.0 < found.data["begin"] < 5.0
    assert found.data["end"] == pytest.approx(60.0, abs=0.5)


@pytest.mark.parametrize(
    "make",
    [
        lambda: slope(level=2.0),  # slides
        lambda: slope(tilt=0.0),  # no load
        lambda: slope(level=2.0, static=1.2, stribeck=0.05),
        lambda: slope(level=2.0, viscous=3.0),
    ],
)
def test_what_slides_or_rests_is_not_called_creep(make):
    assert not creeps(make().simulate(1.0, points=51))


def test_a_swing_through_rest_is_not_called_creep():
    m = ct.Model("pendulum", gravity=(0, -9.81, 0))
    m.add(ct.RigidBody("rod", ct.rod(length=1, mass=1, radius=0.01), frames={"end": (-0.5, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, "rod.end", angle=-pi / 2 + 1.0))
    m.add(ct.JointFriction("bearing", "O", level=0.05))
    sol = m.simulate(3.0, points=101)
    assert not creeps(sol)
    assert np.ptp(sol["O.angle"]) > 1.0


def test_a_driven_joint_does_not_creep():
    m = slope()
    m.add(ct.Drive("D", "P", displacement="1e-4*t"))
    sol = m.simulate(5.0, points=11)
    assert not creeps(sol)
    (found,) = (each for each in sol.diagnostics if each.code == "friction-fades")
    assert (found.subjects, found.severity) == (("f",), "warning")
    assert abs(sol["f.force"][-1]) < 0.5  # tanh(0.1) of 5 N


@pytest.mark.parametrize("course", ["0.1*t", "0.1*sin(t)", "0.05*sin(3*t) + 0.2*t"])
def test_a_joint_that_is_driven_fast_enough_feels_its_friction(course):
    m = slope()
    m.add(ct.Drive("D", "P", displacement=course))
    assert not any(each.code == "friction-fades" for each in m.simulate(5.0).diagnostics)
