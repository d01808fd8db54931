"""Single values that cannot be are refused when the component is made; expressions later, when their value is known."""

from __future__ import annotations

import math

import pytest

import cotree as ct

WRONG = {
    "a negative mass": (lambda: ct.PointMass("p", mass=-1), "p.mass: the value is -1"),
    "a negative mass with a unit": (lambda: ct.PointMass("p", mass="-2 kg"), "p.mass: the value is -2"),
    "a mass of zero": (lambda: ct.RigidBody("p", mass=0, inertia=(1, 1, 1)), "p.mass: the value is 0"),
    "a length of a shape": (lambda: ct.RigidBody("p", ct.rod(length=-1, mass=1)), "p.length: the value is -1"),
    "no number": (lambda: ct.PointMass("p", mass=math.nan), "p.mass: the value is nan"),
    "an endless one": (lambda: ct.Spring("s", "ground", "p", stiffness=math.inf, length=1), "s.stiffness"),
    "a radius": (lambda: ct.RackAndPinion("r", "A", "B", radius=0), "r.radius: the value is 0"),
    "a ratio of zero": (lambda: ct.Gear("g", "A", "B", ratio=0), "g.ratio: the value is 0"),
    "a resistance": (lambda: ct.Resistor("R", ("a", "b"), resistance=-5), "R.resistance: the value is -5"),
    "a zero axis": (lambda: ct.Revolute("O", "ground", "p", axis=(0, 0, 0)), "O.axis: the direction is (0, 0, 0)"),
    "a zero normal": (lambda: ct.PointOnPlane("O", "ground", "p", normal=(0, 0, 0)), "O.normal: the direction is"),
    "a turned frame": (
        lambda: ct.RigidBody("b", ct.rod(length=1, mass=1), frames={"A": ct.Frame((0, 0, 0), axis=(0, 0, 0))}),
        "b.A.axis: the direction is (0, 0, 0)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_value_is_refused_at_once(case):
    wrong, message = WRONG[case]
    with pytest.raises(ct.ModelError) as caught:
        wrong()
    assert str(caught.value).startswith(message)


def test_all_wrong_values_of_a_component_are_reported():
    with pytest.raises(ct.ModelError) as caught:
        ct.Spring("s", "ground", "p", stiffness=-1, length=-2, damping=-3)
    assert {each.where for each in caught.value.mistakes} == {"s.length", "s.stiffness", "s.damping"}


def test_expressions_are_checked_when_their_value_is_known():
    m = ct.Model("m", parameters={"k": 1})
    m.add(ct.Resistor("R", ("a", "ground"), resistance="-k"))
    with pytest.raises(ct.ModelError, match=r"R\.resistance: the value is -1"):
        m.check()
