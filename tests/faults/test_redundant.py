"""Machines that are redundant by design run; loops that do not agree are found (B1)."""

from __future__ import annotations

from math import pi, sin

import numpy as np
import pytest

import cotree as ct


def lead_screw(scale: float = 1.0, radius: float = 0.04, order=("g0", "s", "g1")) -> ct.Model:
    """A spindle, a nut on its thread, and a guide that keeps the nut from turning."""
    m = ct.Model("lead screw", gravity=(0, 0, -9.81 * scale))
    m.add(ct.RigidBody("spindle", ct.cylinder(radius=radius * scale, length=scale, mass=2, axis="x")))
    m.add(ct.RigidBody("nut", ct.box(size=(0.1 * scale, 0.1 * scale, 0.1 * scale), mass=5)))
    parts = {
        "g0": ct.Revolute("g0", m.ground, "spindle", axis=(1, 0, 0)),
        "s": ct.Screw("s", "spindle", "nut", axis=(1, 0, 0), pitch=0.02 * scale),
        "g1": ct.Prismatic("g1", m.ground, "nut", axis=(1, 0, 0)),
    }
    for name in order:
        m.add(parts[name])
    m.add(ct.JointActuator("motor", "g0", effort=f"{0.8 * scale**2}*sin(2*t)"))
    return m


def turned(radius: float, t: float) -> float:
    """The angle of the spindle: the nut counts as m (pitch / 2 pi)^2."""
    inertia = 2 * radius**2 / 2 + 5 * (0.02 / (2 * pi)) ** 2
    return 0.8 / inertia * (t / 2 - sin(2 * t) / 4)


@pytest.mark.parametrize("order", [("g0", "s", "g1"), ("g1", "s", "g0"), ("g0", "g1", "s")])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_a_lead_screw_with_a_guide_runs(scale, order):
    sol = lead_screw(scale, order=order).simulate(4.0, points=41)
    exact = turned(0.04, 4.0)
    assert exact > 600
    assert sol["g0.angle"][-1] == pytest.approx(exact, rel=1e-6)
    assert abs(sol["nut.position.x"][-1]) == pytest.approx(0.02 * scale / (2 * pi) * exact, rel=1e-6)
    assert any(each.code == "redundant-rows" for each in sol.diagnostics)
    assert not any(each.grave for each in sol.diagnostics)


@pytest.mark.parametrize("options", [{"rtol": 1e-5}, {"rtol": 1e-10}, {"integrator": "rk45"}, {"integrator": "rodas"}])
def test_whatever_the_tolerance_and_method(options):
    sol = lead_screw().simulate(4.0, points=11, **options)
    assert sol["g0.angle"][-1] == pytest.approx(turned(0.04, 4.0), rel=1e-3)


def test_other_trees_run_as_well():
    sol = lead_screw(radius=0.2).simulate(4.0, points=11, tree="absolute")
    assert sol["g0.angle"][-1] == pytest.approx(turned(0.2, 4.0), rel=1e-6)


def test_it_runs_for_long():
    sol = lead_screw(radius=0.02).simulate(30.0, points=11)
    exact = turned(0.02, 30.0)
    assert exact > 2e4
    assert sol["g0.angle"][-1] == pytest.approx(exact, rel=1e-6)


def gears(ratio: float = 2.0) -> ct.Model:
    """Three wheels and a rack, each tied to the others: one of the four couplings follows from the rest."""
    m = ct.Model("gears", gravity=(0, 0, -9.81), parameters={"ratio": ratio})
    for k, name in enumerate("abc"):
        m.add(ct.RigidBody(name, ct.cylinder(radius=0.1, length=0.05, mass=1)))
        m.add(ct.Revolute(f"J{name}", m.ground.at(0.3 * k, 0, 0), name))
    m.add(ct.RigidBody("rack", ct.box(size=(1, 0.1, 0.1), mass=2)))
    m.add(ct.Prismatic("slide", m.ground.at(0, 0.1, 0), "rack", axis=(1, 0, 0)))
    m.add(ct.Gear("ab", "Ja", "Jb", ratio=-2.0))
    m.add(ct.Gear("bc", "Jb", "Jc", ratio=-1.0))
    m.add(ct.Gear("ac", "Ja", "Jc", ratio="ratio"))
    m.add(ct.RackAndPinion("meshing", "Ja", "slide", radius=0.1))
    m.add(ct.JointActuator("motor", "Ja", effort="0.9"))
    return m


def test_a_redundant_set_of_gears_runs_for_long():
    sol = gears().simulate(20.0, points=21)
    inertia = 0.005 * (1 + 0.25 + 0.25) + 2 * 0.1**2
    exact = 0.9 / inertia * 20.0**2 / 2
    assert exact > 6e3
    assert sol["Ja.angle"][-1] == pytest.approx(exact, rel=1e-4)
    assert sol["Jc.angle"][-1] == pytest.approx(exact / 2, rel=1e-4)
    assert not any(each.grave for each in sol.diagnostics)


@pytest.mark.parametrize("ratio", [2.002, 1.9, -2.0])
def test_gears_that_do_not_agree_are_found(ratio):
    with pytest.raises(ct.CotreeError) as caught:
        gears().simulate(4.0, points=11, parameters={"ratio": ratio})
    assert any(name in str(caught.value) for name in ("ab", "bc", "ac"))


def door(skew: float = 0.0) -> ct.Model:
    """A door on two hinges, the upper of which may be out of line."""
    m = ct.Model("door", gravity=(0, 0, -9.81), parameters={"skew": skew})
    frames = {"low": (-0.4, 0, -0.8), "high": (-0.4, 0, 0.8)}
    m.add(ct.RigidBody("door", ct.box(size=(0.8, 0.04, 2), mass=30), frames=frames))
    m.add(ct.Revolute("h1", m.ground, "door.low", angle_rate=25.0))
    m.add(ct.Revolute("h2", m.ground.at("skew", 0, 1.6), "door.high"))
    return m


def test_a_door_on_two_hinges_turns_for_long():
    sol = door().simulate(40.0, points=11)
    assert sol["h1.angle"][-1] == pytest.approx(1000.0, rel=1e-8)
    np.testing.assert_allclose(sol["h2.angle"], sol["h1.angle"], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("skew", [1e-4, 0.01])
def test_hinges_out_of_line_are_found(skew):
    with pytest.raises(ct.CotreeError) as caught:
        door().simulate(1.0, points=11, parameters={"skew": skew})
    assert "h2" in str(caught.value) or "h1" in str(caught.value)
