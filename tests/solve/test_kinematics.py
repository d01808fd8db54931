"""Kinematics of fully driven mechanisms against a four-bar solved by hand and against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from _repo import ROOT
from cotree.errors import SolveError
from cotree.solve.kinematics import kinematics
from cotree.terminal.bodies import RigidBody
from cotree.terminal.drivers import Drive, SpeedDrive
from cotree.terminal.joints import Prismatic, Revolute
from solve import four_bar

COURSE = "0.3 + 5*t + sin(3*t)"


def course(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return 0.3 + 5 * t + np.sin(3 * t), 5 + 3 * np.cos(3 * t), -9 * np.sin(3 * t)


@pytest.mark.parametrize("tree", four_bar.TREES)
def test_four_bar(tree: str) -> None:
    m = four_bar.model()
    m.add(Drive("motor", "O", angle=COURSE))
    sol = kinematics(m.equations(tree), 1.5, points=31)
    reference = four_bar.Reference()
    angle, rate, acceleration = course(sol.t)
    places = np.array([reference.places(a)[1] for a in angle])
    np.testing.assert_allclose(sol["coupler.position"][:, :2], places, atol=1e-12)
    velocity = np.array([reference.slopes(a)[1] for a in angle]) * rate[:, None]
    np.testing.assert_allclose(sol["coupler.velocity"][:, :2], velocity, atol=1e-11)
    torque = [reference.torque(*state) for state in zip(angle, rate, acceleration, strict=True)]
    np.testing.assert_allclose(sol["motor.torque"], torque, atol=1e-8)
    np.testing.assert_allclose(sol["motor.power"], torque * rate, atol=1e-7)
    assert sol.energy().error < 1e-3  # Simpson's rule on 31 points: the sixth power of 0.05 * 5


def test_a_coarse_grid_stays_on_the_same_branch() -> None:
    m = four_bar.model()
    m.add(Drive("motor", "O", angle="0.3 + 2*pi*t"))
    equations = m.equations()
    coarse, fine = (kinematics(equations, 3.0, points=points) for points in (6, 301))
    for name in ("B.angle", "coupler.position.y", "motor.torque", "C.force.x"):
        np.testing.assert_allclose(coarse[name], fine[name][::60], atol=1e-9)
    places = [four_bar.Reference().places(0.3 + 2 * np.pi * t)[1] for t in coarse.t]
    np.testing.assert_allclose(coarse["coupler.position"][:, :2], places, atol=1e-12)


@pytest.mark.parametrize("points", [2, 3, 5])
def test_a_fast_crank_keeps_its_way_of_assembly_and_its_energies_with_hardly_any_points(points: int) -> None:
    m = ct.load(ROOT / "examples" / "slider_crank.yaml")
    sol = m.kinematics(1.0, points=points)
    angle = 20 * sol.t - 20 / 8 * (1 - np.exp(-8 * sol.t))
    exact = 0.05 * np.cos(angle) + np.sqrt(0.15**2 - (0.05 * np.sin(angle)) ** 2)
    np.testing.assert_allclose(sol["piston.position.x"], exact, atol=1e-12)
    assert sol.energy().error < 1e-7


def test_everything_driven_in_the_tree() -> None:
    m = ct.Model("pendulum", gravity=(0, -9.81, 0))
    rod = m.add(RigidBody("rod", mass=2.0, inertia=(0.1, 0.2, 0.2), frames={"O": (-0.5, 0, 0)}))
    m.add(Revolute("O", m.ground, rod["O"]))
    m.add(Drive("motor", "O", angle="sin(2*t)"))
    equations = m.equations()
    assert len(equations.u) == 0
    sol = kinematics(equations, 2.0, points=201)
    angle = np.sin(2 * sol.t)
    torque = (0.2 + 2 * 0.25) * -4 * angle + 2 * 9.81 * 0.5 * np.cos(angle)
    np.testing.assert_allclose(sol["motor.torque"], torque, atol=1e-12)
    np.testing.assert_allclose(sol["rod.position.x"], 0.5 * np.cos(angle), atol=1e-13)
    assert sol.energy().error < 1e-7


def double_pendulum() -> ct.Model:
    m = ct.Model("double pendulum")
    inner, outer = (
        m.add(RigidBody(n, mass=1.0, inertia=(0.1, 0.1, 0.1), frames={"a": (-0.5, 0, 0), "b": (0.5, 0, 0)}))
        for n in ("inner", "outer")
    )
    m.add(Revolute("first", m.ground, inner["a"], axis=(0, 1, 0)))
    m.add(Revolute("second", inner["b"], outer["a"], axis=(0, 1, 0)))
    return m


def test_undriven_freedoms_are_named() -> None:
    m = double_pendulum()
    with pytest.raises(SolveError, match=r"2 degrees of freedom are not driven: first.angle, second.angle"):
        kinematics(m.equations(), 1.0)
    m.add(Drive("motor", "first", angle="t"))
    with pytest.raises(SolveError, match=r"1 degree of freedom is not driven: second.angle"):
        kinematics(m.equations(), 1.0)
    with pytest.raises(SolveError, match=r"not driven: O\.angle"):
        kinematics(four_bar.model().equations(), 1.0)


def slider_crank(course: str) -> ct.Model:
    m = ct.Model("slider-crank", gravity=(0, -9.81, 0))
    crank = m.add(RigidBody("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), frames={"A": (0.3, 0, 0)}))
    rod = m.add(RigidBody("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), frames={"B": (0.9, 0, 0)}))
    block = m.add(RigidBody("block", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    m.add(Revolute("O", m.ground, crank.name, angle=1.0))
    m.add(Revolute("A", crank["A"], rod.name, angle=-1.3))
    m.add(Revolute("B", rod["B"], block.name, angle=0.3))
    m.add(Prismatic("P", m.ground, block.name, axis=(1, 0, 0), displacement=1.0))
    m.add(Drive("piston", "P", displacement=course))
    return m


@pytest.mark.parametrize("tree", four_bar.TREES)
def test_a_course_beyond_reach(tree: str) -> None:
    """The slider can go out to 0.3 + 0.9 m, which its course passes at 2/3 s."""
    with pytest.raises(SolveError, match=r"cannot follow its drivers beyond t = 0\.6.* s") as caught:
        kinematics(slider_crank("1 + 0.3*t").equations(tree), 1.0, points=101)
    kept = caught.value.solution
    assert isinstance(kept, ct.api._solution.Solution)
    assert not kept.complete
    assert kept.t[-1] == pytest.approx(0.66)
    x = 1 + 0.3 * kept.t
    angle = np.arccos((x**2 + 0.09 - 0.81) / (2 * x * 0.3))
    np.testing.assert_allclose(kept["O.angle"], angle, atol=1e-10)


def test_driven_from_the_slider() -> None:
    sol = kinematics(slider_crank("1 + 0.1*sin(2*t)").equations(), 3.0, points=61)
    x = 1 + 0.1 * np.sin(2 * sol.t)
    np.testing.assert_allclose(sol["O.angle"], np.arccos((x**2 + 0.09 - 0.81) / (0.6 * x)), atol=1e-12)
    work = sol["kinetic_energy"] + sol["potential_energy"]
    np.testing.assert_allclose(sol.energy().supplied, work - work[0], atol=1e-6)


def test_speed_drivers_are_integrated() -> None:
    m = four_bar.model()
    m.add(SpeedDrive("motor", "O", speed="2 + t"))
    sol = kinematics(m.equations(), 1.0, points=11)
    np.testing.assert_allclose(sol["O.angle"], 0.3 + 2 * sol.t + sol.t**2 / 2, atol=1e-9)
