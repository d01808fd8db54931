"""What the masks open into, how they stand in masks of the user, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from bond.mechanics.pairs import bonded, filled
from cotree.bond import Bond, Graph, Mask, Se
from cotree.bond.mechanics import (
    Body,
    FreeJoint,
    Ground,
    PointDamper,
    PointSpring,
    PrismaticJoint,
    RevoluteJoint,
    Rotation,
    SphericalJoint,
    Translation,
    UniversalJoint,
    WeldJoint,
)  # fmt: skip
from cotree.bond.opening import open_graph

J = (0.01, 0.02, 0.025)


def letters(model, owner):
    """The letters of the elements inside a mask, sorted."""
    return sorted(v.shown for v in open_graph(model).vertices.values() if v.owner == owner and v.letter not in "01")


def pendulum(joint, **more):
    """A body on a joint."""
    model = filled("p", [Ground("G"), joint, Body("bob", mass=1, inertia=J, frames={"O": (0.1, 0, 0)}, **more)])
    return bonded(model, ("G", "J.a"), ("J.b", "bob.O"))


def test_body_is_figure_1_with_a_translation():
    assert letters(pendulum(SphericalJoint("J")), "bob") == ["I", "I", "MGR", "MGR", "MSe", "TF"]
    weightless = pendulum(SphericalJoint("J"))
    weightless.gravity = ct.Model(gravity=(0, 0, 0)).gravity
    assert letters(weightless, "bob") == ["I", "I", "MGR", "MGR", "TF"]


def test_ideal_joints_lock_by_flow_sources():
    assert letters(pendulum(SphericalJoint("J")), "J") == ["MTF", "MTF", "Se", "Sf"]
    # about x, as in fig. 5, the axes need no transformer
    assert letters(pendulum(RevoluteJoint("J", axis="x")), "J") == ["MTF", "MTF", "Se", "Sf", "Sf", "Split"]
    assert letters(pendulum(PrismaticJoint("J", axis="y")), "J") == ["MTF", "Se", "Sf", "Sf", "Split", "TF"]
    assert letters(pendulum(WeldJoint("J")), "J") == ["Sf", "Sf"]


def test_rotation_is_figure_3():
    model = filled("r", [Body("bob", mass=1, inertia=J), Rotation("turn")])
    bonded(model, ("bob", "turn.local"))
    assert letters(model, "turn") == ["MTF"] * 6


def test_frames_are_placed():
    model = pendulum(RevoluteJoint("J", axis="z", angle=0.5))
    R, r = open_graph(model).placed["bob.centre"]
    import casadi as ca

    symbols = ca.symvar(ca.vertcat(ca.vec(R), r))
    assert [s.name() for s in symbols if "angle" in s.name()] == ["J.angle"]
    at = ca.Function("at", symbols, [r])(*(0.0 if s.name() == "J.angle" else 0.1 for s in symbols))
    assert np.asarray(at, dtype=float).ravel() == pytest.approx([-0.1, 0, 0])


def test_masks_stand_in_masks_of_the_user():
    link = Graph("link", ports={"a": "J.a", "end": "bar.E", "shaft": "J.shaft"}, parameters={"l": None, "m": 1.0})
    link.add(RevoluteJoint("J", axis="y", angle="l"))
    link.add(Body("bar", mass="m", inertia=(1e-3, "m*l**2/12", "m*l**2/12"), frames={
        "O": ("-l/2", 0, 0), "E": {"position": ("l/2", 0, 0), "axis": "x", "angle": "l"},
    }))  # fmt: skip
    link.connect("J.b", "bar.O")
    nested = filled("n", [
        Ground("G"), Mask("one", graph=link, values_of={"l": 0.4}),
        Mask("two", graph=link, values_of={"l": 0.3, "m": 2}),
        Se("M", effort=0.5), Se("N", effort=-0.2), Translation("tip", r=(0.1, 0, 0)),
    ])  # fmt: skip
    bonded(nested, ("G", "one.a"), ("one.end", "two.a"), ("M", "one.shaft"), ("N", "two.shaft"), ("two.end", "tip.A"))

    def bar(name, m, length):
        frames = {"O": (-length / 2, 0, 0), "E": {"position": (length / 2, 0, 0), "axis": (1, 0, 0), "angle": length}}
        moment = m * length**2 / 12
        return Body(name, mass=m, inertia=(1e-3, moment, moment), frames=frames)

    flat = filled("f", [
        Ground("G"), RevoluteJoint("J1", axis="y", angle=0.4), bar("one", 1.0, 0.4),
        RevoluteJoint("J2", axis="y", angle=0.3), bar("two", 2.0, 0.3), Se("M", effort=0.5), Se("N", effort=-0.2),
    ])  # fmt: skip
    bonded(flat, ("G", "J1.a"), ("J1.b", "one.O"), ("one.E", "J2.a"), ("J2.b", "two.O"), ("M", "J1.shaft"))
    bonded(flat, ("N", "J2.shaft"))
    one, two = (model.simulate(1.0, points=11, rtol=1e-10) for model in (nested, flat))
    for x in "xyz":
        assert one[f"two.bar.position.{x}"] == pytest.approx(two[f"two.position.{x}"], abs=1e-8)
    assert one["two.J.angle"] == pytest.approx(two["J2.angle"], abs=1e-8)


def test_a_closed_loop_measures_its_last_joint():
    model = filled("l", [Ground("G"), Ground("P", position=(0.5, 0, 0))])
    for name, length in (("one", 0.3), ("two", 0.5), ("three", 0.3)):
        frames = {"a": (-length / 2, 0, 0), "b": (length / 2, 0, 0)}
        model.add(Body(name, mass=1.0, inertia=J, frames=frames))
    for name, angle in (("A", -1.2), ("B", 1.2), ("C", -1.2), ("D", -1.2)):
        model.add(RevoluteJoint(name, axis="y", angle=angle))
    bonded(model, ("G", "A.a"), ("A.b", "one.a"), ("one.b", "B.a"), ("B.b", "two.a"), ("two.b", "C.a"))
    bonded(model, ("C.b", "three.b"), ("P", "D.a"), ("D.b", "three.a"))
    solution = model.simulate(0.5, points=11)
    # a parallelogram: opposite bars stay parallel, and the joint that closes it measures its angle
    assert solution["A.angle"] == pytest.approx(solution["D.angle"], abs=1e-6)
    assert solution["B.angle"] == pytest.approx(-solution["A.angle"], abs=1e-6)
    assert solution["C.angle"] == pytest.approx(solution["A.angle"], abs=1e-6)


REFUSED = [
    (lambda: RevoluteJoint("J"), "J.axis: no value is given"),
    (lambda: RevoluteJoint("J", axis=(1, 0)), r"3 numbers, or expressions of parameters, or x, y or z"),
    (lambda: RevoluteJoint("J", axis="x", stiffness=1.0), "stiffness is given without turning_stiffness"),
    (lambda: RevoluteJoint("J", axis="x", damping=1.0), "damping is given for an ideal joint"),
    (lambda: SphericalJoint("J", stiffness=1.0, turning_stiffness=1.0), "no rotation is locked"),
    (lambda: WeldJoint("J", stiffness=(1, 2), turning_stiffness=1.0), "one number, or 3"),
    (lambda: FreeJoint("J", stiffness=1.0), "no translation is locked"),
    (lambda: Body("B", mass=1), "3 moments"),
    (lambda: Body("B", mass=1, inertia=J, frames={"centre": (0, 0, 0)}), "frame name 'centre' cannot be used"),
    (lambda: Body("B", mass=1, inertia=J, frames={"A": {"at": (0, 0, 0)}}), "a frame has no 'at'"),
    (lambda: Body("B", inertia=J), "B.mass: no value is given"),
    (lambda: Rotation("T", by="angles"), "euler_angles or euler_parameters"),
    (lambda: Rotation("T", orientation=(1, 0, 0, 0)), "orientation given for a rotation by euler_angles"),
    (lambda: PointSpring("K", stiffness=1.0), "K.length: no value is given"),
    (lambda: Ground("G", angle=0.3), "G: angle is given without axis"),
    (lambda: Translation("t", r=(1, 0, 0), axis="x"), "t: axis is given without angle"),
    (lambda: Body("B", mass=1, inertia=J, frames={"p": {"angle": 0.2}}), "B.p: angle is given without axis"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_wrong_values_are_told(make, words):
    with pytest.raises(ct.ModelError, match=words):
        make()


def test_wrong_axes_are_told():
    with pytest.raises(ct.ModelError, match="not at right angles"):
        open_graph(pendulum(UniversalJoint("J", axis_1="x", axis_2=(1, 1, 0))))
    with pytest.raises(ct.ModelError, match="a direction"):
        open_graph(pendulum(RevoluteJoint("J", axis=(0, 0, 0))))
    for part, where in (
        (lambda: Ground("P", axis=(0, 0, 0), angle=1.0), "P.axis"),
        (lambda: Translation("P", r=(1, 0, 0), axis=(0, 0, 0), angle=1.0), "P.axis"),
        (lambda: Body("P", mass=1, inertia=J, frames={"e": {"axis": (0, 0, 0), "angle": 1.0}}), "P.e.axis"),
    ):
        with pytest.raises(ct.ModelError, match=rf"{where}: the (axis|direction) is \(0, 0, 0\)"):
            open_graph(filled("z", [part(), Body("bob", mass=1, inertia=J)]))


def test_start_values_of_a_carried_body_are_refused():
    with pytest.raises(ct.ModelError, match=r"bob: its position at the start follows from the joints"):
        open_graph(pendulum(SphericalJoint("J"), position=(1, 0, 0)))
    free = pendulum(SphericalJoint("J", stiffness=1e3), position=(1, 0, 0))
    assert "bob.position.x" in [name for i in open_graph(free).integrals for name in i.names]


def joined(one, two):
    """Two free bodies on a spherical joint."""
    model = filled("j", [
        Body("A", mass=1, inertia=J, frames={"p": (0.1, 0, 0)}, **one), SphericalJoint("J"),
        Body("B", mass=1, inertia=J, frames={"p": (-0.1, 0, 0)}, **two),
    ], (0, 0, 0))  # fmt: skip
    return bonded(model, ("A.p", "J.a"), ("J.b", "B.p"))


def test_a_body_with_start_values_carries_the_others():
    solution = joined({}, {"position": (1, 2, 3), "velocity": (1, 0, 0)}).simulate(0.5, points=3)
    for x, at in zip("xyz", (0.8 + solution.t, 2.0 + 0 * solution.t, 3.0 + 0 * solution.t), strict=True):
        assert solution[f"A.position.{x}"] == pytest.approx(at, abs=1e-9)
    with pytest.raises(ct.ModelError, match=r"B: its velocity .* between it and the body 'A', which carries it"):
        open_graph(joined({"velocity": (1, 0, 0)}, {"velocity": (1, 0, 0)}))


def test_a_dangling_frame_of_a_joint_is_told():
    model = pendulum(SphericalJoint("J"))
    model.add(RevoluteJoint("K", axis="x"))
    with pytest.raises(ct.ModelError, match=r"K: the frame K.a is dangling: no bond ends there.*it has none"):
        open_graph(model)
    model.add(Bond("near", "bob.centre", "K.a"))
    with pytest.raises(ct.ModelError, match=r"the frame K.b is dangling.*it has bond near \(bob -> K\)"):
        open_graph(model)
    model.add(Translation("tip", r=(0.1, 0, 0)))
    model.add(Bond("far", "K.b", "tip.A"))
    assert "tip.B" in open_graph(model).placed  # frames of other parts may stay empty


@pytest.mark.parametrize("part", [PointSpring("K", stiffness=1, length="l"), PointDamper("K", damping=1)])
def test_ends_that_coincide_at_the_start_are_told(part):
    model = pendulum(RevoluteJoint("J", axis="y", angle=0.3))
    model.parameters.update(ct.Model("p", parameters={"l": 0.1}).parameters)
    model.add(Ground("P", position=("-l*cos(0.3)", 0, "l*sin(0.3)")))
    model.add(part)
    bonded(model, ("P", "K.a"), ("K.b", "bob.centre"))
    with pytest.raises(ct.ModelError, match=r"K: its length at the start is zero: its ends a and b coincide"):
        open_graph(model)


def test_euler_angles_that_start_singular_are_told():
    model = filled("r", [Body("bob", mass=1, inertia=J), Rotation("turn", theta=np.pi / 2)])
    with pytest.raises(ct.ModelError, match=r"turn.theta: the Euler angles are singular .* by: euler_parameters"):
        open_graph(bonded(model, ("bob", "turn.local")))


def test_rigid_parts_bonded_to_a_loop_are_refused():
    model = filled(
        "l", [Ground("G"), Body("bob", mass=1, inertia=J, frames={"a": (0.1, 0, 0)}), Translation("t", r=(1, 0, 0))]
    )
    bonded(model, ("G", "bob.centre"), ("bob.a", "t.A"), ("G", "t.B"))
    with pytest.raises(ct.ModelError, match="close a loop of rigid parts"):
        open_graph(model)


def test_a_frame_that_nothing_carries_is_told():
    model = pendulum(SphericalJoint("J"))
    model.add(PointSpring("K", stiffness=1.0, length=0.1))
    bonded(model, ("G", "K.a"))
    with pytest.raises(ct.ModelError, match=r"the frame K.b is carried by nothing"):
        open_graph(model)


def test_a_frame_and_a_plain_element_cannot_be_bonded():
    model = pendulum(SphericalJoint("J"))
    model.add(Se("F", effort=(1, 0, 0)))
    model.add(Bond("wrong", "F", "bob.O"))
    with pytest.raises(ct.ModelError, match=r"bond wrong .*frame with two multibonds"):
        open_graph(model)


def test_a_torque_may_be_bonded_to_the_turning_port():
    model = pendulum(SphericalJoint("J"))
    model.add(Se("M", effort=(0.1, 0.2, 0.3)))
    bonded(model, ("M", "J.turning"))
    solution = model.simulate(0.1, points=3)
    assert solution["J.turning.free.effort.x"] == pytest.approx(0.0, abs=1e-12)
    assert solution.energy().error < 1e-8


def test_a_spring_between_points_follows_changed_start_values():
    model = pendulum(RevoluteJoint("J", axis="y"))
    model.add(Ground("P", position=(0.3, 0, 0.4)))
    model.add(PointSpring("K", stiffness=10.0, length=0.2))
    bonded(model, ("P", "K.a"), ("K.b", "bob.centre"))
    solution = model.simulate(0.1, points=3, start={"J.angle": 0.7})
    x, z = -0.1 * np.cos(0.7), 0.1 * np.sin(0.7)
    assert solution["K.force"][0] == pytest.approx(10.0 * (np.hypot(x - 0.3, z - 0.4) - 0.2), rel=1e-12)


def test_an_arm_without_mass_on_c_elements_has_derivative_causality():
    model = filled("m", [
        Ground("G"), RevoluteJoint("J1", axis="z"), Translation("arm", r=(0.3, 0, 0)),
        SphericalJoint("J", stiffness=1e4), Body("bob", mass=1, inertia=J, frames={"O": (0.1, 0, 0)}),
    ])  # fmt: skip
    bonded(model, ("G", "J1.a"), ("J1.b", "arm.A"), ("arm.B", "J.a"), ("J.b", "bob.O"))
    solution = model.simulate(0.2, points=5)
    # no torque acts on the arm, so the joint cannot push it sideways
    assert np.abs(solution["J.spring.translation.effort.y"]).max() < 1e-6
    assert np.abs(solution.energy().stored).max() < 1e-7  # J, all that fell became kinetic
