"""Mistakes in nodal parts: each message says what was found, where, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cotree.errors import ExpressionError, ModelError
from cotree.model import Model
from cotree.terminal import nodal

BODY = {"mass": 2.0, "centre": (0, 0, 0)}

MADE: dict[str, tuple[Callable[[], Any], str]] = {
    "a bar between a node and itself": (
        lambda: nodal.Bar("AB", "A", "A", mass=1),
        "AB: both ends are the node 'A'. Expected two different nodes. Name another node at one end.",
    ),
    "a spring between a node and itself": (
        lambda: nodal.Spring("S", "A", "A", stiffness=1, length=1),
        "S: both ends are the node 'A'. Expected two different nodes. Name another node at one end.",
    ),
    "a direction of a node to itself": (
        lambda: nodal.KeepDirection("K", nodal.Node("A", position=(0, 0, 0)), "A"),
        "K: both ends are the node 'A'. Expected two different nodes. Name another node at one end.",
    ),
    "an unknown distribution": (
        lambda: nodal.Bar("AB", "A", "B", mass=1, distribution="even"),
        "AB: the distribution is 'even'. Expected 'consistent' or 'lumped'. Leave it out for a uniform rod.",
    ),
    "a bar without a mass": (
        lambda: nodal.Bar("AB", "A", "B"),
        "AB.mass: no value is given. Expected a non-negative number in kg, or an expression of parameters. "
        "Give a value for mass.",
    ),
    "a spring without a natural length": (
        lambda: nodal.Spring("S", "A", "B", stiffness=1),
        "S.length: no value is given. Expected a non-negative number in m, or an expression of parameters. "
        "Give a value for length.",
    ),
    "a node that is no name": (
        lambda: nodal.Fixed("F", 3),
        "F: the node 3 cannot be used. Expected a name of letters, digits, _ + - and inner dots.",
    ),
    "a line without a direction": (
        lambda: nodal.OnLine("L", "A"),
        "L.along: no value is given. Expected 3 numbers (x, y, z), or one of x, y, z, -x, -y, -z.",
    ),
    "a plane with two numbers": (
        lambda: nodal.OnPlane("P", "A", normal=(1, 0)),
        "P.normal: found (1, 0). Expected 3 numbers (x, y, z), or one of x, y, z, -x, -y, -z.",
    ),
    "nothing moved": (
        lambda: nodal.Moved("M", "A", displacement=(None, None, None)),
        "M.displacement: all three displacements are None, so that nothing is moved. Expected an expression of time "
        "for at least one direction, such as ('0.1*sin(t)', None, 0). Give one, or drop the support.",
    ),
    "a cable over one node": (
        lambda: nodal.ForceCable("C", ["A"], tension=1),
        "C: 1 node is given. Expected at least 2. Name the others, too.",
    ),
    "a cable over a name": (
        lambda: nodal.MotorCable("C", "AB", length=1),
        "C: the nodes are 'AB'. Expected a list of at least 2 names. Put the names in brackets: ['A', 'B'].",
    ),
    "a cable that stays at a node": (
        lambda: nodal.ElasticCable("C", ["A", "B", "B"], stiffness=1, length=1),
        "C: the node 'B' comes twice in a row. Expected different nodes one after the other. Drop one of the two.",
    ),
    "a gear with a list for a node": (
        lambda: nodal.Gear("G", (["A"], "H", "B"), ("B", "H", "C")),
        "G.first: found ['A'] among the nodes. Expected names. Use text: 'A'.",
    ),
    "a gear with two nodes": (
        lambda: nodal.Gear("G", ("A", "H"), ("B", "H", "C")),
        "G.first: 2 nodes are given. Expected at least 3. Name the others, too.",
    ),
    "a gear with four nodes": (
        lambda: nodal.Gear("G", ("A", "H", "B"), ("B", "H", "C", "D")),
        "G.second: 4 nodes are given. Expected three: (a, hub, b). Name one node a leg.",
    ),
    "a gear that repeats a node": (
        lambda: nodal.Gear("G", ("A", "H", "A"), ("B", "H", "C")),
        "G.first: the node 'A' comes twice. Expected different nodes. Drop one of the two.",
    ),
    "a gear without a common hub": (
        lambda: nodal.Gear("G", ("A", "H", "B"), ("B", "K", "C")),
        "G: the hub of the first angle is 'H' and that of the second 'K', and they are not joined. Expected one hub "
        "for both angles, or hubs that are the two ends of a leg that both angles have. "
        "Give both as (a, hub, b) with the hub in the middle.",
    ),
    "a gear of one angle": (
        lambda: nodal.Gear("G", ("A", "H", "B"), ("B", "H", "A")),
        "G: both angles are (A, H, B). Expected two different angles. Name other legs for one of them.",
    ),
    "a body that repeats a node": (
        lambda: nodal.Body("P", ("A", "B", "A"), inertia=(1, 1, 1), **BODY),
        "P: the node 'A' comes twice. Expected different nodes. Drop one of the two.",
    ),
    "a body without nodes": (
        lambda: nodal.Body("P", (), inertia=(1, 1, 1), **BODY),
        "P: no nodes are given. Expected at least 1. Name some: ['A', 'B'].",
    ),
    "a body with four moments": (
        lambda: nodal.Body("P", ("A",), inertia=(1, 1, 1, 0), **BODY),
        "P.inertia: found (1, 1, 1, 0). Expected 6 numbers in kg m^2 (xx, yy, zz, xy, xz, yz).",
    ),
    "a body without an inertia": (
        lambda: nodal.Body("P", ("A",), **BODY),
        "P.inertia: no value is given. Expected 6 numbers in kg m^2 (xx, yy, zz, xy, xz, yz).",
    ),
    "an inertia matrix that is not symmetric": (
        lambda: nodal.Body("P", ("A",), inertia=((1, 0.1, 0), (0.2, 1, 0), (0, 0, 1)), **BODY),
        "P.inertia: entry 1, 2 is 0.1 and entry 2, 1 is 0.2. Expected a symmetric matrix. Give xx, yy, zz, xy, xz, yz.",
    ),
    "a load of nothing": (
        lambda: nodal.BodyLoad("L", "P"),
        "L: neither a force nor a moment is given. Expected force=(x, y, z), moment=(x, y, z), or both. "
        "Give one, or drop the load.",
    ),
    "a latch over one node": (
        lambda: nodal.Latch("L", ("A",), at=1),
        "L: 1 node is given. Expected at least 2. Name the others, too.",
    ),
    "a stop over four nodes": (
        lambda: nodal.Stop("S", ("A", "B", "C", "D"), most=1),
        "S.over: 4 nodes are given. Expected two nodes (a, b) for a length, or three (a, hub, b) for an angle. "
        "Use one part for each length or angle.",
    ),
    "an angle between a leg and itself": (
        lambda: nodal.Stop("S", ("A", "H", "A"), most=1),
        "S.over: the node 'A' comes twice. Expected different nodes. Drop one of the two.",
    ),
    "a length with an axis": (
        lambda: nodal.Latch("L", ("A", "B"), at=1, axis=(0, 0, 1)),
        "L.axis: an axis is given for a length. Expected an axis with the three nodes (a, hub, b) of an angle only. "
        "Drop the axis, or name three nodes.",
    ),
    "a stop without a limit": (
        lambda: nodal.Stop("S", ("A", "B")),
        "S: no limit is given. Expected least=..., most=..., or both. Give one, or drop the stop.",
    ),
    "an unknown action": (
        lambda: nodal.Stop("S", ("A", "B"), most=1, action="stop"),
        "S.action: the action is 'stop'. Expected 'hold' or 'end'. "
        "Write action='end' for a run that ends at the stop.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_refused_when_made(name: str) -> None:
    make, message = MADE[name]
    with pytest.raises(ModelError) as caught:
        make()
    assert str(caught.value) == message


CHECKED: dict[str, tuple[Any, str]] = {
    "a line of direction zero": (
        lambda: nodal.OnLine("L", "A", along=(0, 0, 0)),
        "L.along: the direction is (0, 0, 0). Expected a direction of any length but zero. "
        "Give a direction such as (0, 0, 1).",
    ),
    "a plane of normal zero by parameters": (
        lambda: nodal.OnPlane("P", "A", normal=("2*zero", 0, 0.0)),
        "P.normal: the direction is (0, 0, 0). Expected a direction of any length but zero. "
        "Give a direction such as (0, 0, 1).",
    ),
    "a gear about no axis": (
        lambda: nodal.Gear("G", ("A", "H", "B"), ("B", "H", "C"), axis=(0, 0, 0)),
        "G.axis: the direction is (0, 0, 0). Expected a direction of any length but zero. "
        "Give a direction such as (0, 0, 1).",
    ),
    "a latch about no axis": (
        lambda: nodal.Latch("L", ("A", "H", "B"), at=1, axis=(0, 0, 0)),
        "L.axis: the direction is (0, 0, 0). Expected a direction of any length but zero. "
        "Give a direction such as (0, 0, 1).",
    ),
    "a gear of ratio zero": (
        lambda: nodal.Gear("G", ("A", "H", "B"), ("B", "H", "C"), ratio=0),
        "G.ratio: the value is 0. Expected a non-zero number, or an expression of parameters.",
    ),
    "a bar of length zero": (
        lambda: nodal.Bar("AB", "A", "B", mass=1, length=0),
        "AB.length: the value is 0. Expected a positive number in m, or an expression of parameters.",
    ),
    "a negative natural length": (
        lambda: nodal.Spring("S", "A", "B", stiffness=1, length=-0.1),
        "S.length: the value is -0.1. Expected a non-negative number in m, or an expression of parameters.",
    ),
    "a cable of negative natural length": (
        lambda: nodal.ElasticCable("C", ("A", "B"), stiffness=1, length=-0.1),
        "C.length: the value is -0.1. Expected a non-negative number in m, or an expression of parameters.",
    ),
    "a cable without stiffness": (
        lambda: nodal.ElasticCable("C", ("A", "B"), stiffness=0, length=1),
        "C.stiffness: the value is 0. Expected a positive number in N/m, or an expression of parameters.",
    ),
    "a cable that pushes": (
        lambda: nodal.ForceCable("C", ("A", "B"), tension=-5),
        "C.tension: the tension is -5 N. Expected a tension of zero or more: a cable cannot push. "
        "Give a positive tension, or use forces on the nodes.",
    ),
    "a motor cable of no length": (
        lambda: nodal.MotorCable("C", ("A", "B"), length="zero"),
        "C.length: the length is 0 m. Expected a positive length, or an expression of time such as '2 - 0.1*t'. "
        "Give the length of the whole path.",
    ),
    "a negative damping": (
        lambda: nodal.Damper("D", "A", "B", damping=-1),
        "D.damping: the value is -1. Expected a positive number in N s/m, or an expression of parameters.",
    ),
    "an inertia with a negative principal moment": (
        lambda: nodal.Body("P", ("A",), inertia=(1, 1, 1, 1.5, 0, 0), **BODY),
        "P.inertia: the principal moments of inertia are -0.5, 1, 2.5 kg m^2. Expected moments that are not negative. "
        "Check the order xx, yy, zz, xy, xz, yz: the last three are entries of the inertia matrix.",
    ),
    "an inertia of no real body": (
        lambda: nodal.Body("P", ("A",), inertia=(0, 0, 1), **BODY),
        "P.inertia: the principal moments of inertia 0, 0, 1 kg m^2 break the triangle inequality. Expected the sum of "
        "any two at least as large as the third: no real body has other values. "
        "For a flat body the moment across its plane is the sum of the two others.",
    ),
    "an inertia without a mass": (
        lambda: nodal.Body("P", ("A",), mass=0, centre=(0, 0, 0), inertia=(1, 1, 1)),
        "P.inertia: the mass is zero, and the principal moments of inertia are 1, 1, 1 kg m^2. "
        "Expected an inertia of zeros with a mass of zero. Give the mass, or zeros for the inertia.",
    ),
    "a latch at length zero": (
        lambda: nodal.Latch("L", ("A", "B"), at=0),
        "L.at: the length is 0 m. Expected a positive length: nodes at one place have no direction in which to hold "
        "each other. Give a small length.",
    ),
    "a latch at straight legs without an axis": (
        lambda: nodal.Latch("L", ("A", "H", "B"), at="pi"),
        "L.at: the angle is 3.1415927 rad. Expected an angle between 0 and pi, which an angle without a sign can pass. "
        "Give axis=..., about which the angle has a sign, such as (0, 0, 1).",
    ),
    "a stop with limits the wrong way round": (
        lambda: nodal.Stop("S", ("A", "B"), least=2, most=1),
        "S: least is 2 and most is 1 m. Expected least below most. Exchange the two limits.",
    ),
    "a stop with limits a turn apart": (
        lambda: nodal.Stop("S", ("A", "H", "B"), least=-4, most=4, axis=(0, 0, 1)),
        "S: the limits -4 and 4 rad are a full turn apart. Expected limits less than 2*pi apart. "
        "Use nearer limits, or only one.",
    ),
    "a stop that gives more than it takes": (
        lambda: nodal.Stop("S", ("A", "B"), most=1, restitution=1.2),
        "S.restitution: the restitution is 1.2. Expected a number from 0 (no rebound) to 1 (no loss). "
        "Give the speed after an impact over that before it.",
    ),
    "a stop that sticks": (
        lambda: nodal.Stop("S", ("A", "B"), most=1, restitution=-0.2),
        "S.restitution: the restitution is -0.2. Expected a number from 0 (no rebound) to 1 (no loss). "
        "Give the speed after an impact over that before it.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKED)
def test_refused_by_its_values(name: str) -> None:
    make, message = CHECKED[name]

    def used() -> None:
        model = Model("m", parameters={"zero": 0.0})
        model.add(make())
        model.component_values()

    with pytest.raises(ModelError) as caught:
        used()
    assert str(caught.value) == message


RIGHT = {
    "any direction": nodal.OnLine("L", "A", along=(0, 0, -3)),
    "a stop at its limits": nodal.Stop("S", ("A", "B"), least=0.1, most=1, restitution=1),
    "an angle past pi": nodal.Latch("L", ("A", "H", "B"), at=3.5, axis=(0, 0, 1)),
    "a negative angle": nodal.Stop("S", ("A", "H", "B"), least=-1, axis=(0, 0, 1)),
    "a slack force cable": nodal.ForceCable("C", ("A", "B"), tension=0),
    "a tension that may turn out negative": nodal.ForceCable("C", ("A", "B"), tension="sin(t)"),
    "a lamina": nodal.Body("P", ("A",), inertia=(1, 2, 3), **BODY),
    "a body without mass": nodal.Body("P", ("A", "B"), mass=0, centre=(0, 0, 0), inertia=(0, 0, 0)),
    "gears on a bracket": nodal.Gear("G", ("A", "P", "Q"), ("P", "Q", "B")),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_values_pass(name: str) -> None:
    model = Model("m")
    model.add(RIGHT[name])
    model.component_values()


@pytest.mark.parametrize(
    "make",
    [
        lambda: nodal.MotorCable("C", ("A", "B"), length="2 - A.position.x"),
        lambda: nodal.Moved("C", "A", displacement=("A.position.x", None, None)),
    ],
)
def test_courses_follow_time_only(make: Callable[[], Any]) -> None:
    with pytest.raises(ExpressionError, match=r"'A\.position\.x' in the expression") as caught:
        make()
    assert caught.value.where.startswith("C.")
    assert "arithmetic on numbers, t and parameters" in str(caught.value)


@pytest.mark.parametrize("field", ["stiffness", "length", "damping"])
def test_values_of_springs_are_constant(field: str) -> None:
    with pytest.raises(ModelError, match="depends on time"):
        nodal.Spring("S", "A", "B", **{"stiffness": 1, "length": 1, field: "1 + t"})


def test_a_wrong_call_shows_a_right_one() -> None:
    with pytest.raises(ModelError) as caught:
        nodal.ForceCable("C", ("A", "B"), tention=5)
    assert str(caught.value) == (
        "C: ForceCable has no field 'tention'. Expected ForceCable(\"C\", over, tension=...), "
        "with the fields over, tension. Did you mean 'tension'?"
    )
