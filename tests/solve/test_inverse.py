"""Inverse dynamics: torques by hand, and forward dynamics with them, which must return the motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.errors import ModelError, SolveError
from cotree.solve.inverse import actuated_model, inverse_dynamics
from cotree.solve.simulate import simulate
from cotree.terminal.bodies import RigidBody
from cotree.terminal.drivers import Drive
from cotree.terminal.joints import Prismatic, Revolute
from solve import four_bar


def course(t: np.ndarray) -> np.ndarray:
    return 0.3 + 0.8 * t**2 + 0.1 * np.sin(3 * t)


COURSE = "0.3 + 0.8*t**2 + 0.1*sin(3*t)"


@pytest.mark.parametrize("tree", four_bar.TREES)
def test_forward_dynamics_returns_the_motion(tree: str) -> None:
    m = four_bar.model(rate=0.3, fixed=("angle", "angle_rate"))
    inverse = inverse_dynamics(m, 1.0, {"O.angle": COURSE}, tree=tree, points=201)
    reference = four_bar.Reference()
    t = inverse.t
    rate, acceleration = 1.6 * t + 0.3 * np.cos(3 * t), 1.6 - 0.9 * np.sin(3 * t)
    by_hand = [reference.torque(*s) for s in zip(course(t), rate, acceleration, strict=True)]
    np.testing.assert_allclose(inverse["O.angle"], by_hand, atol=1e-9)
    assert inverse.units["O.angle"] == "N m"
    assert "drive_O_angle" not in m.components
    forward = actuated_model(m, {"O.angle": (t, inverse["O.angle"])})
    sol = simulate(forward.equations(tree), 1.0, points=21, rtol=1e-10)
    np.testing.assert_allclose(sol["O.angle"], course(sol.t), atol=2e-8)  # spline of degree 5 over 200 intervals
    np.testing.assert_allclose(sol["B.angle"], inverse.solution["B.angle"][::10], atol=2e-8)


def test_values_over_time_instead_of_an_expression() -> None:
    m, t = four_bar.model(), np.linspace(0, 1, 101)
    by_values = inverse_dynamics(m, 1.0, {"O.angle": (t, course(t))}, points=51)
    by_formula = inverse_dynamics(m, 1.0, {"O.angle": COURSE}, points=51)
    np.testing.assert_allclose(by_values["O.angle"], by_formula["O.angle"], atol=1e-6)


def test_drivers_of_the_model_itself() -> None:
    m = four_bar.model()
    m.add(Drive("motor", "O", angle=COURSE))
    own, added = (
        inverse_dynamics(m, 1.0, points=5),
        inverse_dynamics(four_bar.model(), 1.0, {"O.angle": COURSE}, points=5),
    )
    np.testing.assert_allclose(own["O.angle"], added["O.angle"], rtol=1e-12)


def arm() -> ct.Model:
    """A slider that carries a rod."""
    m = ct.Model("arm", gravity=(0, -9.81, 0))
    cart = m.add(RigidBody("cart", mass=3.0, inertia=(1.0, 1.0, 1.0)))
    rod = m.add(RigidBody("rod", mass=2.0, inertia=(0.1, 0.4, 0.4), frames={"O": (-0.5, 0, 0)}))
    m.add(Prismatic("P", m.ground, cart.name, axis=(1, 0, 0)))
    m.add(Revolute("O", cart.name, rod["O"]))
    return m


def test_two_coordinates_by_hand() -> None:
    t = np.linspace(0, 2, 11)
    inverse = inverse_dynamics(arm(), 2.0, {"P.displacement": "0.2*t**2", "O.angle": "sin(t)"}, times=t.tolist())
    x, a, da, dda = 0.4, np.sin(t), np.cos(t), -np.sin(t)
    force = 5 * x + 2 * 0.5 * (-np.sin(a) * dda - np.cos(a) * da**2)
    torque = (0.4 + 0.5) * dda - 2 * 0.5 * np.sin(a) * x + 2 * 9.81 * 0.5 * np.cos(a)
    np.testing.assert_allclose(inverse["P.displacement"], force, atol=1e-11)
    np.testing.assert_allclose(inverse["O.angle"], torque, atol=1e-11)
    assert inverse.units == {"P.displacement": "N", "O.angle": "N m"}


def test_refusals() -> None:
    with pytest.raises(SolveError, match=r"O\.angle"):
        inverse_dynamics(arm(), 1.0, {"P.displacement": "t"})
    for motion, message in (
        ({"Q.angle": "t"}, "no joint 'Q'"),
        ({"O.angel": "t"}, "no coordinate 'angel'"),
        ({"O.angle": [1, 2, 3]}, "pair of times and values"),
        ({"O.angle": ([0, 1, 1], [1, 2, 3])}, "growing order"),
        ({"O.angle": ([0, 1], [1, 2, 3])}, "2 times and 3 values"),
    ):
        with pytest.raises(ModelError, match=message):
            inverse_dynamics(arm(), 1.0, motion)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"'A\.angle' is not driven"):
        inverse_dynamics(arm(), 1.0, {"P.displacement": "t", "O.angle": "t"}, points=3)["A.angle"]


def test_few_and_many_values() -> None:
    for count in (2, 3, 4, 5, 6, 7, 40):
        x = np.linspace(0, 3, count)
        motion: dict[str, Any] = {"P.displacement": "0", "O.angle": (x, np.cos(x))}
        inverse = inverse_dynamics(arm(), 3.0, motion, times=x.tolist())
        np.testing.assert_allclose(inverse.solution["O.angle"], np.cos(x), atol=1e-13)
