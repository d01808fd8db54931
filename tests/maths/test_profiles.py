"""Smooth steps, trapezoids and splines, with numbers, with symbols and as courses of a drive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import cotree as ct
from cotree.maths.functions import NUMERIC
from cotree.maths.symbolic import SYMBOLIC

PLACES, VALUES = [0.0, 1.0, 2.5, 3.0, 4.5], [0.0, 2.0, -1.0, 4.0, 4.0]
POINTS = [number for point in zip(PLACES, VALUES, strict=True) for number in point]


def trapezoid(x: float, share: float = 0.2) -> float:
    """The integral of the speed."""
    fine = np.linspace(0, min(max(x, 0.0), 1.0), 20_001)
    speed = np.interp(fine, [0, share, 1 - share, 1], [0, 1 / (1 - share), 1 / (1 - share), 0])
    return float(np.trapezoid(speed, fine))


EXACT: dict[str, tuple[tuple[float, ...], Callable[[float], float]]] = {
    "smooth_step": ((), lambda x: 0.0 if x < 0 else 1.0 if x > 1 else 3 * x**2 - 2 * x**3),
    "minimum_jerk": ((), lambda x: 0.0 if x < 0 else 1.0 if x > 1 else 10 * x**3 - 15 * x**4 + 6 * x**5),
    "trapezoid": ((0.2,), trapezoid),
    "spline": (tuple(POINTS), lambda x: float(CubicSpline(PLACES, VALUES, bc_type="clamped")(np.clip(x, 0.0, 4.5)))),
}


@pytest.mark.parametrize("name", EXACT)
def test_numbers_and_symbols_are_those_of_the_closed_form(name: str) -> None:
    further, exact = EXACT[name]
    x = ca.SX.sym("x")
    function = ca.Function("f", [x], [SYMBOLIC[name](x, *further)])
    for at in np.linspace(-0.5, 5.0, 89):
        assert NUMERIC[name](at, *further) == pytest.approx(exact(at), abs=1e-8)
        assert float(function(at)) == pytest.approx(NUMERIC[name](at, *further), abs=1e-13)


@pytest.mark.parametrize(("name", "order"), [("smooth_step", 1), ("minimum_jerk", 2), ("trapezoid", 1), ("spline", 2)])
def test_derivatives_are_continuous(name: str, order: int) -> None:
    """At its joints; of a spline between its ends, where it begins and ends without slope."""
    further, _ = EXACT[name]
    x = ca.SX.sym("x")
    found = SYMBOLIC[name](x, *further)
    joints = {"trapezoid": [0.0, 0.2, 0.8, 1.0], "spline": PLACES[1:-1]}.get(name, [0.0, 1.0])
    for _ in range(order):
        found = ca.jacobian(found, x)
    function = ca.Function("f", [x], [found])
    for at in joints:
        before, behind = (float(function(at + gap)) for gap in (-1e-9, 1e-9))
        assert before == pytest.approx(behind, abs=1e-6)
    if name == "spline":
        slope = ca.Function("f", [x], [ca.jacobian(SYMBOLIC[name](x, *further), x)])
        assert [float(slope(at)) for at in (-1.0, 0.0, 4.5, 6.0)] == pytest.approx([0, 0, 0, 0], abs=1e-12)


def driven(course: str, **parameters: Any) -> ct.Model:
    m = ct.Model("driven", gravity=(0, 0, 0), parameters=parameters)
    m.add(ct.RigidBody("body", mass=1, inertia=(1, 1, 2)))
    m.add(ct.Revolute("O", m.ground, "body"))
    m.add(ct.Drive("motor", "O", angle=course))
    return m


def test_a_drive_has_exact_accelerations_and_break_points() -> None:
    """A torque of inertia times acceleration, also right before and behind a jump."""
    times = [0.0, 0.999, 1.001, 1.7, 2.4, 2.999, 3.001, 4.0]
    sol = driven("angle*minimum_jerk((t - 1)/2)", angle=np.pi / 2).simulate(4.0, times=times)
    w = np.clip((np.array(times) - 1) / 2, 0, 1)
    np.testing.assert_allclose(sol["O.angle"], np.pi / 2 * w**3 * (10 - 15 * w + 6 * w**2), atol=1e-12)
    np.testing.assert_allclose(sol["motor.torque"], 2 * np.pi / 8 * (60 * w - 180 * w**2 + 120 * w**3), atol=1e-10)
    sol = driven("trapezoid(t/2, 0.25)").simulate(2.0, times=[0.0, 0.499, 0.501, 1.0, 1.499, 1.501, 1.999])
    torque = 2 / 0.25 / 0.75 / 4
    np.testing.assert_allclose(sol["motor.torque"], [torque, torque, 0, 0, 0, -torque, -torque], atol=1e-10)


def test_values_of_a_spline_may_be_parameters_and_a_force_may_follow_it() -> None:
    fixed = driven("spline(t, 0, 0, 1, 2, 3, 1)").simulate(3.0, points=31)
    named = driven("spline(t, 0, 0, 1, a, 3, a - 1)", a=2.0).simulate(3.0, points=31)
    np.testing.assert_allclose(named["O.angle"], fixed["O.angle"], atol=1e-12)
    np.testing.assert_allclose(named["motor.torque"], fixed["motor.torque"], atol=1e-10)
    m = ct.Model("pushed", gravity=(0, 0, 0))
    m.add(ct.RigidBody("body", mass=2, inertia=(1, 1, 1)))
    m.add(ct.Prismatic("rail", m.ground, "body", axis=(1, 0, 0)))
    m.add(ct.PointForce("push", "body", force=("spline(t, 0, 0, 1, 3, 2, 0)", 0, 0)))
    sol = m.simulate(3.0, points=4)
    momentum = CubicSpline([0, 1, 2], [0, 3, 0], bc_type="clamped").integrate(0, 2)
    assert sol["rail.displacement_rate"][-1] == pytest.approx(momentum / 2, rel=1e-8)


@pytest.mark.parametrize(
    ("course", "message"),
    [
        ("trapezoid(t, 0.7)", "a trapezoid whose ramps are 0.7 of it. Expected above 0, at most 0.5"),
        ("trapezoid(t, 0)", "a trapezoid whose ramps are 0 of it"),
        ("spline(t, 0, 0, 0, 1)", "point 2 of a spline lies at 0, not behind the one before"),
        ("spline(t, 0, 0, 1, 1, 2)", "a spline with 5 numbers. Expected two points or more"),
        ("spline(t, 0, 0)", "spline"),
        ("spline(t, 0, 0, t, 1)", "the place of a spline's point is no plain number"),
    ],
)
def test_wrong_arguments_are_told(course: str, message: str) -> None:
    with pytest.raises(ct.CotreeError) as told:
        driven(course).equations()
    assert message in str(told.value)


def test_polynomials_are_not_searched_for_narrow_pulses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A spline of many points has hundreds of inner parts; none of them can hide a pulse."""
    monkeypatch.setattr("cotree.solve.narrow._of_one", lambda *_: pytest.fail("a polynomial was searched"))
    points = ", ".join(f"{x / 10}, {np.sin(x / 10):.4f}" for x in range(21))
    driven(f"spline(t, {points})").simulate(0.3, points=4)
