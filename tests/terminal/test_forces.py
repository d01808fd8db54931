"""Forces and torques given as signals: directions, moments and who supplies the power."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import cotree as ct
from cotree.errors import CotreeError, ModelError
from cotree.terminal.bodies import PointMass, RigidBody
from cotree.terminal.forces import ForceBetween, JointActuator, PointForce, PointTorque
from cotree.terminal.joints import Revolute
from terminal.motions import Moving, T, fields, number, numbers, run

HERE = SimpleNamespace(t=T)
SEEDS = pytest.mark.parametrize("seed", range(3))


def at(expression: Any, time: float) -> np.ndarray:
    return numbers(ca.substitute(ca.SX(expression), T, time)).ravel()


@SEEDS
@pytest.mark.parametrize(("cls", "field", "other"), [(PointForce, "force", "torque"), (PointTorque, "torque", "force")])
def test_in_world_and_body_axes(cls: Any, field: str, other: str, seed: int) -> None:
    moving = Moving(seed)
    for axes, turn in (("world", np.eye(3)), ("body", moving.C)):
        part = cls("F", "B.A", axes=axes, **{field: ("2*t", "k", 0)})
        wrench = part.wrench(fields(part, {"k": ca.SX(3.0)}), moving.motion, HERE)
        np.testing.assert_allclose(at(getattr(wrench, field), 5.0), turn @ [10.0, 3.0, 0.0], atol=1e-13)
        assert not at(getattr(wrench, other), 5.0).any()
        assert part.supplies
        assert part.node_pairs() == (("B.A", "ground"),)


@SEEDS
def test_force_between_drives_apart(seed: int) -> None:
    part, moving = ForceBetween("F", "A", "B", force="-40*P.displacement"), Moving(seed)
    v = fields(part, {"P.displacement": ca.SX(0.5)})
    wrench = part.wrench(v, moving.motion, HERE)
    np.testing.assert_allclose(
        numbers(wrench.force).ravel(), -20 * moving.d / np.linalg.norm(moving.d), rtol=1e-13, atol=1e-13
    )
    assert not numbers(wrench.torque).any()
    distance_rate = moving.d @ moving.d_dot / np.linalg.norm(moving.d)
    assert moving.power(part, v) == pytest.approx(-20 * distance_rate)


def test_force_between_at_no_distance_is_finite() -> None:
    part = ForceBetween("F", "A", "B", force=7.0)
    d = ca.SX.sym("d", 3)
    motion = SimpleNamespace(d=d)
    force = part.wrench(fields(part), motion, HERE).force
    for value in ca.Function("f", [d], [force, ca.jacobian(force, d)])([0, 0, 0]):
        assert np.isfinite(np.array(value)).all()


def test_actuator_is_its_signal() -> None:
    part = JointActuator("M", "O", effort="10*sin(t) - 2*O.angle_rate")
    v = fields(part, {"O.angle_rate": ca.SX(3.0)})
    force = ca.substitute(part.force(v, ca.SX(0), ca.SX(0), HERE), T, 1.2)
    assert number(force) == pytest.approx(10 * np.sin(1.2) - 6)
    assert part.supplies


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PointForce("F", "B.A"), r"F\.force"),
        (lambda: PointForce("F", "B.A", force=(1, 2)), r"F\.force"),
        (lambda: PointForce("F", "B.A", force=5.0), r"F\.force"),
        (lambda: PointForce("F", "B.A", force=(0, 0, 1), axes="local"), "'world' or 'body'"),
        (lambda: PointForce("F", "ground", "B.A", force=(0, 0, 1)), "without a name"),
        (lambda: PointTorque("F", "B.A", torque=("sin(t", 0, 0)), r"F\.torque\.x"),
        (lambda: ForceBetween("F", "A", "B"), r"F\.force"),
        (lambda: JointActuator("M", "O"), r"M\.effort"),
    ],
)
def test_refuses(make: Any, message: str) -> None:
    with pytest.raises(CotreeError, match=message):
        make()


def test_no_frame_is_told_by_an_example() -> None:
    with pytest.raises(ModelError, match="frame_b"):
        PointForce("F", force=(0, 0, 1))


class TestMotion:
    TIMES = np.linspace(0, 1, 5)

    def test_force_in_body_axes_turns_with_the_body(self) -> None:
        """A force along the own x of a body that spins at 2 rad/s."""
        model = ct.Model("spun", gravity=(0, 0, 0))
        model.add(RigidBody("b", mass=2.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 2)))
        model.add(PointForce("F", "b", force=(3, 0, 0), axes="body"))
        solution = run(model, self.TIMES)
        t = self.TIMES
        np.testing.assert_allclose(solution["b.velocity.x"], 1.5 * np.sin(2 * t) / 2, atol=1e-9)
        np.testing.assert_allclose(solution["b.velocity.y"], 1.5 * (1 - np.cos(2 * t)) / 2, atol=1e-9)
        assert solution.energy().error < 1e-9

    def test_force_off_the_centre_turns_the_body(self) -> None:
        model = ct.Model("off", gravity=(0, 0, 0))
        model.add(RigidBody("b", mass=2.0, inertia=(1, 1, 0.5), frames={"A": (0, 0.4, 0)}))
        model.add(PointForce("F", "b.A", force=("6*t", 0, 0), axes="body"))
        model.add(PointTorque("T", "b", torque=(0, 0, "3*t")))
        solution = run(model, self.TIMES)
        rate = (3 - 0.4 * 6) / 0.5 * self.TIMES**2 / 2
        np.testing.assert_allclose(solution["b.angular_velocity.z"], rate, atol=1e-9)

    def test_actuator_with_feedback(self) -> None:
        """Effort -k x - c x' makes a damped oscillator."""
        model = ct.Model("servo", gravity=(0, 0, 0), parameters={"k": 20.0})
        model.add(RigidBody("b", mass=1.0, inertia=(1, 1, 2.0)))
        model.add(Revolute("O", model.ground, "b", angle=0.5))
        model.add(JointActuator("M", "O", effort="-k*O.angle - 4*O.angle_rate"))
        solution = run(model, self.TIMES)
        w, t = 3.0, self.TIMES  # w^2 = k/J - (c/2J)^2 = 10 - 1
        np.testing.assert_allclose(
            solution["O.angle"], 0.5 * np.exp(-t) * (np.cos(w * t) + np.sin(w * t) / w), atol=1e-9
        )
        assert solution.energy().error < 1e-8

    def test_force_between_two_free_masses(self) -> None:
        model = ct.Model("two", gravity=(0, 0, 0))
        model.add(PointMass("a", mass=1.0))
        model.add(PointMass("b", mass=3.0, position=(0, 0, 2)))
        model.add(ForceBetween("F", "a", "b", force=6.0))
        solution = run(model, self.TIMES)
        np.testing.assert_allclose(solution["a.position.z"], -3 * self.TIMES**2, atol=1e-9)
        np.testing.assert_allclose(solution["b.position.z"], 2 + self.TIMES**2, atol=1e-9)
