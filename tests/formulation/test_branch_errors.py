"""Bad input to a mechanism: one clear error each, with the component, and the time where it matters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cotree as ct
from benchmarks.rigid_models import bar, four_bar
from cotree.terminal.constraints import ConstantDistance
from cotree.terminal.drivers import Drive, SpeedDrive
from cotree.terminal.forces import JointActuator, PointForce
from cotree.terminal.springs import Spring


def says(action: Callable[[], Any], *parts: str, kind: type[ct.CotreeError] = ct.CotreeError) -> ct.CotreeError:
    """The error of an action, which must hold all parts in one text."""
    with pytest.raises(kind) as caught:
        action()
    text = str(caught.value)
    for part in parts:
        assert part in text, f"'{part}' is missing in: {text}"
    assert "\n" not in text.strip() or len(text) < 1000
    assert caught.value.__cause__ is None
    return caught.value


def hung(**options: Any) -> ct.Model:
    m = ct.Model("m")
    m.add(ct.RigidBody("arm", frames={"O": (-0.5, 0, 0)}, **options))
    m.add(ct.Revolute("O", m.ground, "arm.O", axis=(0, 1, 0)))
    return m


def test_missing_mass() -> None:
    says(lambda: hung(inertia=(1, 1, 1)).equations(), "arm", "mass", kind=ct.ModelError)


def test_missing_inertia() -> None:
    says(lambda: hung(mass=1.0).equations(), "arm", "inertia", kind=ct.ModelError)


@pytest.mark.parametrize("mass", [0.0, -1.0, float("nan")])
def test_mass_that_is_none(mass: float) -> None:
    says(lambda: hung(mass=mass, inertia=(1, 1, 1)).equations(), "arm.mass", kind=ct.CotreeError)


@pytest.mark.parametrize("inertia", [(-0.1, 1, 1), (0, 0, 0), (1, 1, 1, 5, 0, 0)])
def test_inertia_that_is_not_positive(inertia: tuple[float, ...]) -> None:
    says(lambda: hung(mass=1.0, inertia=inertia).equations(), "arm.inertia", "positive", kind=ct.ModelError)


def test_inertia_that_breaks_the_triangle_inequality() -> None:
    text = str(says(lambda: hung(mass=1.0, inertia=(1, 1, 2.5)).equations(), "arm.inertia", "triangle"))
    assert "2.5" in text


def test_inertia_about_a_point_that_is_too_far() -> None:
    """Taken back to the centre of mass, the moment is negative."""
    says(
        lambda: hung(mass=1.0, inertia=(0.1, 0.1, 0.1), inertia_about=(1, 0, 0)).equations(),
        "arm.inertia", "about the centre of mass", "inertia is about",
    )  # fmt: skip


def test_a_changed_parameter_is_checked_again() -> None:
    m = ct.Model("m", parameters={"m1": 1.0})
    m.add(ct.RigidBody("arm", mass="m1", inertia=(1, 1, 1)))
    says(lambda: m.simulate(1.0, parameters={"m1": -2.0}), "arm.mass", "-2")


def test_body_without_joints_is_free() -> None:
    """It falls: z = -g t^2 / 2."""
    m = ct.Model("m")
    m.add(ct.RigidBody("stone", mass=1.0, inertia=(1, 1, 1)))
    sol = m.simulate(1.0, times=[0, 1])
    assert sol["stone.position.z"][1] == pytest.approx(-9.81 / 2, abs=1e-8)
    assert sol.notes[0].endswith("6 degrees of freedom")


def test_joint_to_an_unknown_frame() -> None:
    m = hung(mass=1.0, inertia=(1, 1, 1))
    m.add(ct.Spherical("S", "arm.tip", m.ground))
    says(m.equations, "S", "arm", "tip", "arm.O", kind=ct.ModelError)


def test_joint_to_an_unknown_body() -> None:
    m = hung(mass=1.0, inertia=(1, 1, 1))
    m.add(ct.Spherical("S", "army", m.ground))
    says(m.equations, "S", "army", "arm", kind=ct.ModelError)


def test_unknown_frame_asked_of_a_body() -> None:
    body = ct.RigidBody("arm", mass=1.0, inertia=(1, 1, 1), frames={"O": (0, 0, 0)})
    says(lambda: body["P"], "arm", "P", "O", kind=ct.ModelError)


def test_joint_between_frames_of_one_body() -> None:
    m = hung(mass=1.0, inertia=(1, 1, 1))
    m.add(ct.Revolute("loop", "arm", "arm.O"))
    says(m.equations, "loop", "same body", kind=ct.ModelError)


def test_duplicated_name() -> None:
    m = hung(mass=1.0, inertia=(1, 1, 1))
    says(lambda: m.add(ct.PointMass("arm", mass=1.0)), "arm", "twice", kind=ct.ModelError)


def test_no_body_at_all() -> None:
    m = ct.Model("empty")
    m.add(ct.Revolute("O", m.ground, m.ground.at(1, 0, 0)))
    says(m.equations, "no body", kind=ct.ModelError)


def test_axis_without_direction() -> None:
    m = ct.Model("m")
    m.add(ct.RigidBody("arm", mass=1.0, inertia=(1, 1, 1)))
    says(lambda: ct.Revolute("O", m.ground, "arm", axis=(0, 0, 0)), "O.axis", "(0, 0, 0)", kind=ct.ModelError)
    m.parameter("n", 0.0)
    m.add(ct.Revolute("O", m.ground, "arm", axis=(0, 0, "n")))
    says(m.equations, "O.axis", "(0, 0, 0)", kind=ct.ModelError)


def test_coordinate_driven_twice() -> None:
    m = hung(mass=1.0, inertia=(1, 1, 1))
    m.add(Drive("motor", "O", angle="t"))
    m.add(SpeedDrive("second", "O", speed=1.0))
    says(m.equations, "O.angle", "motor", "second", "twice", kind=ct.ModelError)


def test_more_drivers_than_freedom() -> None:
    """The four-bar has one degree of freedom."""
    m = four_bar()
    m.add(Drive("one", "O", angle="0.3 + t"))
    m.add(SpeedDrive("two", "C", speed="1"))
    says(m.equations, "two", "freedom")


def test_driver_of_a_joint_that_is_not_there() -> None:
    m = hung(mass=1.0, inertia=(1, 1, 1))
    m.add(Drive("motor", "P", angle="t"))
    says(m.equations, "motor", "'P'", "O", kind=ct.ModelError)


def test_driver_of_the_wrong_kind() -> None:
    m = hung(mass=1.0, inertia=(1, 1, 1))
    m.add(Drive("motor", "O", displacement="t"))
    says(m.equations, "motor", "rotation", "angle", kind=ct.ModelError)


def too_short() -> ct.Model:
    m = ct.Model("four-bar", gravity=(0, -9.81, 0))
    bar(m, "crank", 0.3, 1.0)
    bar(m, "coupler", 0.2, 1.0)
    bar(m, "follower", 0.25, 1.0)
    m.add(ct.Revolute("O", m.ground, "crank.a", angle=0.3))
    m.add(ct.Revolute("A", "crank.b", "coupler.a"))
    m.add(ct.Revolute("B", "coupler.b", "follower.a"))
    m.add(ct.Revolute("C", "follower.b", m.ground.at(0.9, 0, 0)))
    return m


@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_loop_that_cannot_close(tree: str) -> None:
    """Stretched, the bars reach 0.75 m of the 0.9 m between the pins: 0.15 m are missing."""
    error = says(lambda: too_short().equations(tree), "cannot be assembled", "'C'", "loop", "O", "A", "B", "0.15")
    assert isinstance(error, ct.SolveError)


def test_distance_that_cannot_be_kept() -> None:
    m = ct.Model("m")
    m.add(ct.RigidBody("arm", mass=1.0, inertia=(1, 1, 1), frames={"tip": (1, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, "arm"))
    m.add(ConstantDistance("rod", m.ground.at(3, 0, 0), "arm.tip", length=0.5))
    says(m.equations, "cannot be assembled", "rod")


def test_fixed_speeds_that_contradict() -> None:
    m = ct.Model("m", gravity=(0, -9.81, 0))
    bar(m, "a", 1.0, 1.0)
    bar(m, "b", 1.0, 1.0)
    bar(m, "c", 1.0, 1.0)
    m.add(ct.Revolute("O", m.ground, "a.a", angle=1.5, angle_rate=1.0, fixed=("angle", "angle_rate")))
    m.add(ct.Revolute("A", "a.b", "b.a", angle=-1.5))
    m.add(ct.Revolute("B", "b.b", "c.b", angle=1.5))
    m.add(ct.Revolute("C", m.ground.at(1, 0, 0), "c.a", angle=1.5, angle_rate=3.0, fixed=("angle_rate",)))
    says(m.equations, "speeds", "C.angle_rate", "fixed")


def nan_at(component: Callable[[ct.Model], Any]) -> ct.Model:
    m = hung(mass=1.0, inertia=(1, 1, 1))
    component(m)
    return m


@pytest.mark.parametrize("integrator", ["auto", "rk8"])
@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_nan_in_a_torque_after_the_start(tree: str, integrator: str) -> None:
    """sqrt(0.5 - t) is no number after 0.5 s: the error says who and when, and keeps what came before."""
    m = nan_at(lambda m: m.add(JointActuator("engine", "O", effort="sqrt(0.5 - t)")))
    error = says(lambda: m.simulate(1.0, points=101, tree=tree, integrator=integrator), "engine", "0.5")
    kept_until_half(error)


def test_nan_in_a_force_after_the_start() -> None:
    m = nan_at(lambda m: m.add(PointForce("wind", "arm", force=(0, 0, "log(0.5 - t)"))))
    kept_until_half(says(lambda: m.simulate(1.0, points=101), "wind", "0.5"))


def test_nan_in_a_driver_after_the_start() -> None:
    m = nan_at(lambda m: m.add(Drive("motor", "O", angle="(0.5 - t)**1.5")))
    kept_until_half(says(lambda: m.simulate(1.0, points=101), "motor", "0.5"))


def test_nan_of_a_measured_quantity() -> None:
    """The law fails where the arm passes the angle 0.1: the time is the pendulum's own."""
    m = nan_at(lambda m: m.add(JointActuator("brake", "O", effort="sqrt(0.1 - O.angle)")))
    error = says(lambda: m.simulate(2.0, points=201, max_steps=5_000), "brake")
    assert error.solution is not None
    assert 0 < error.solution.t[-1] < 2.0
    assert error.solution["O.angle"].max() < 0.1 + 1e-6


def kept_until_half(error: ct.CotreeError) -> None:
    solution = error.solution
    assert solution is not None
    assert not solution.complete
    assert 0.3 <= solution.t[-1] <= 0.5 + 1e-9
    assert all(np.isfinite(solution[name]).all() for name in ("O.angle", "arm.position.x", "O.force.z"))


def test_nan_at_the_start() -> None:
    m = nan_at(lambda m: m.add(JointActuator("engine", "O", effort="sqrt(-1 - t)")))
    says(lambda: m.simulate(1.0), "engine")


def test_spring_between_equal_frames() -> None:
    m = hung(mass=1.0, inertia=(1, 1, 1))
    m.add(Spring("spring", "arm", "arm", length=1.0, stiffness=1.0))
    says(m.equations, "spring", "arm", kind=ct.ModelError)


def test_three_trees() -> None:
    says(lambda: four_bar().equations(("joint", "joint", "joint")), "3 trees", kind=ct.GraphError)


def test_force_in_the_tree() -> None:
    m = hung(mass=1.0, inertia=(1, 1, 1))
    m.add(Spring("spring", m.ground.at(0, 0, 1), "arm", length=1.0, stiffness=1.0))
    tree = m.tree(into_tree=["spring"], into_cotree=["O"])
    says(lambda: m.equations(tree), "spring", "no coordinates", kind=ct.GraphError)
