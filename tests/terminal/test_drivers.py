"""Drivers: what is prescribed, and what cannot be."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import cotree as ct
from cotree.errors import ModelError
from cotree.model import Kind
from cotree.terminal.bodies import PointMass, RigidBody
from cotree.terminal.drivers import Drive, FrameDrive, SpeedDrive
from cotree.terminal.joints import Cylindrical, Prismatic, Revolute, Spherical
from terminal.motions import Moving, T, fields, number, numbers, run


def at(expression: Any, time: float) -> np.ndarray:
    return numbers(ca.substitute(ca.SX(expression), T, time)).ravel()


def test_course() -> None:
    turn, push, speed = (
        Drive("d", "O", angle="210*t"),
        Drive("d", "P", displacement="a*t**2"),
        SpeedDrive("d", "O", speed="sin(t)"),
    )
    assert at(turn.course(fields(turn)), 0.5) == 105.0
    assert at(push.course(fields(push, {"a": ca.SX(3.0)})), 2.0) == 12.0
    assert at(speed.course(fields(speed)), 0.3) == pytest.approx(np.sin(0.3))
    assert (turn.of_speed, speed.of_speed) == (False, True)
    assert turn.edges_between("a", "b")[0].kind is Kind.POSITION_DRIVER


def test_chosen_coordinate() -> None:
    slide, hinge, both = Prismatic("P", "a", "b"), Revolute("O", "a", "b"), Cylindrical("C", "a", "b")
    assert Drive("d", "O", angle=0).chosen(hinge) == "angle"
    assert Drive("d", "P", displacement=0).chosen(slide) == "displacement"
    assert Drive("d", "C", angle=0, coordinate="angle").chosen(both) == "angle"
    assert SpeedDrive("d", "C", speed=0, coordinate="displacement").chosen(both) == "displacement"
    for drive, joint, message in (
        (Drive("d", "P", angle=0), slide, "is a translation, and angle is given"),
        (Drive("d", "O", displacement=0), hinge, "is a rotation, and displacement is given"),
        (Drive("d", "C", angle=0), both, "none is chosen"),
        (Drive("d", "C", angle=0, coordinate="twist"), both, "no coordinate 'twist'"),
        (Drive("d", "S", angle=0), Spherical("S", "a", "b"), "no coordinates"),
    ):
        with pytest.raises(ModelError, match=message):
            drive.chosen(joint)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Drive("d", "O"), "no course"),
        (lambda: Drive("d", "O", angle=1, displacement=2), "together"),
        (lambda: SpeedDrive("d", "O"), r"d\.speed"),
        (lambda: FrameDrive("d", "a", "b"), "nothing is driven"),
        (lambda: FrameDrive("d", "a", "b", x="t", distance="t"), "beside x"),
    ],
)
def test_refuses(make: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


def test_frame_drive_holds_the_given_components() -> None:
    part = FrameDrive("d", "a", "b", x="0.2*t", z="cos(t)")
    moving = Moving(2)
    rows = at(part.closure(fields(part), moving.motion.d, moving.motion.C), 1.5)
    np.testing.assert_allclose(rows, moving.d[[0, 2]] - [0.3, np.cos(1.5)], rtol=1e-13)


def test_frame_drive_of_a_distance() -> None:
    """Zero where the distance is right; its slope is the unit vector, so that the multiplier is the force."""
    part = FrameDrive("d", "a", "b", distance="2 + t")
    d = ca.SX.sym("d", 3)
    row = ca.substitute(part.closure(fields(part), d, ca.SX.eye(3)), T, 1.0)
    value, slope = ca.Function("f", [d], [row, ca.jacobian(row, d)])([1, 2, 2])
    assert number(value) == 0.0
    np.testing.assert_allclose(np.array(slope).ravel(), np.array([1, 2, 2]) / 3)


class TestMotion:
    TIMES = np.linspace(0, 1, 5)

    def wheel(self, **start: float) -> ct.Model:
        model = ct.Model("wheel", gravity=(0, 0, 0))
        model.add(RigidBody("b", mass=1.0, inertia=(1, 1, 0.2)))
        model.add(Revolute("O", model.ground, "b", **start))  # type: ignore[arg-type]
        return model

    def test_torque_of_a_position_driver(self) -> None:
        model = self.wheel()
        model.add(Drive("d", "O", angle="0.5*sin(2*t)"))
        solution = run(model, self.TIMES, integrator="auto")
        np.testing.assert_allclose(solution["O.angle"], 0.5 * np.sin(2 * self.TIMES), atol=1e-12)
        np.testing.assert_allclose(solution["d.torque"], -0.2 * 2 * np.sin(2 * self.TIMES), atol=1e-12)

    def test_speed_driver_starts_where_the_joint_starts(self) -> None:
        model = self.wheel(angle=0.7)
        model.add(SpeedDrive("d", "O", speed="3*t**2"))
        solution = run(model, self.TIMES)
        np.testing.assert_allclose(solution["O.angle"], 0.7 + self.TIMES**3, atol=1e-9)
        np.testing.assert_allclose(solution["d.torque"], 0.2 * 6 * self.TIMES, atol=1e-9)

    def test_frame_drive_moves_and_holds(self) -> None:
        """A mass lifted along z(t) and shaken along x(t); y is free. The force is m (a - g)."""
        model = ct.Model("lift")
        model.add(PointMass("p", mass=2.0, position=(0, 0, 0.3), velocity=(0, 1, 0)))
        model.add(FrameDrive("d", model.ground, "p", x="0.1*sin(3*t)", z="0.3 + t**2"))
        solution, t = run(model, self.TIMES), self.TIMES
        expected = np.stack([0.1 * np.sin(3 * t), t, 0.3 + t**2], axis=1)
        np.testing.assert_allclose(solution["p.position"], expected, atol=1e-9)
        np.testing.assert_allclose(solution["d.force.z"], 2 * (2 + 9.81), rtol=1e-9)
        np.testing.assert_allclose(solution["d.force.x"], -2 * 0.9 * np.sin(3 * t), atol=1e-9)
        assert solution.energy().error < 1e-8, "the work of the driver counts as supplied"

    def test_driven_distance(self) -> None:
        """A mass on a string that is paid out at 0.5 m/s keeps its moment of momentum."""
        model = ct.Model("string", gravity=(0, 0, 0))
        model.add(PointMass("p", mass=2.0, position=(1, 0, 0), velocity=(0.5, 3, 0)))
        model.add(FrameDrive("d", model.ground, "p", distance="1 + 0.5*t"))
        solution = run(model, self.TIMES)
        place, speed = solution["p.position"], solution["p.velocity"]
        np.testing.assert_allclose(np.linalg.norm(place, axis=1), 1 + 0.5 * self.TIMES, atol=1e-9)
        np.testing.assert_allclose(np.cross(place, speed)[:, 2], 3.0, rtol=1e-8)
