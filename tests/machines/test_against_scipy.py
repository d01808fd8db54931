"""Whole machines against equations written by hand and integrated with SciPy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import cotree as ct
from machines import models
from machines.witness import Arm, Cart, Lift, SliderCrank

Array = NDArray[np.float64]
NEAR = 1e-7


def agree(sol: ct.Solution, right: Mapping[str, Array]) -> None:
    """Every result to 1e-7 of its largest size."""
    for name, values in right.items():
        np.testing.assert_allclose(sol[name], values, rtol=0, atol=NEAR * np.abs(values).max(), err_msg=name)


def balanced(sol: ct.Solution, supplied: Array) -> None:
    """The audit closes in total and in every domain to 1e-8, and the supply is that of the hand-made equations."""
    audit = sol.energy()
    assert audit.error < 1e-8
    np.testing.assert_allclose(audit.supplied, supplied, rtol=0, atol=NEAR * np.abs(supplied).max())
    assert len(sol.domains) > 2
    for name, domain in sol.domains.items():
        assert domain.error < 1e-8, name
    between = sum(domain.received for domain in sol.domains.values())
    assert np.abs(between).max() < 1e-8 * audit.scale


@pytest.mark.parametrize("whole", [False, True], ids=["parts", "components"])
def test_motor_on_a_slider_crank(whole: bool) -> None:
    w, times = SliderCrank(), np.linspace(0, 1.5, 31)
    right = w.run(times)
    sol = models.slider_crank(w, whole=whole).simulate(times[-1], times=times, rtol=1e-10)
    agree(
        sol,
        {
            "O.angle": right["angle"],
            "O.angle_rate": right["speed"],
            "rotor.angular_velocity": w.gear * right["speed"],
            models.winding("motor", whole): right["current"],
            "slide.displacement": w.slider(right["angle"]),
        },
    )
    balanced(sol, right["supplied"])
    motor = right["copper"] + right["friction"]
    lost = {"transducers": motor} if whole else {"electrical": right["copper"], "rotational": right["friction"]}
    for domain, values in (lost | {"mechanical": right["slider_loss"]}).items():
        found = sol.domains[domain].dissipated
        np.testing.assert_allclose(found, values, rtol=0, atol=NEAR * values.max(), err_msg=domain)


@pytest.mark.parametrize("whole", [False, True], ids=["parts", "components"])
def test_pendulum_on_a_cart_with_feedback(whole: bool) -> None:
    w, times = Cart().held_up(), np.linspace(0, 2.0, 21)
    right = w.run(times)
    sol = models.cart(w, whole=whole).simulate(times[-1], times=times, rtol=1e-10)
    agree(
        sol,
        {
            "slide.displacement": right["x"],
            "slide.displacement_rate": right["v"],
            "hinge.angle": right["angle"],
            "hinge.angle_rate": right["speed"],
            models.winding("motor", whole): right["current"],
        },
    )
    balanced(sol, right["supplied"])


@pytest.mark.parametrize("whole", [False, True], ids=["parts", "components"])
def test_motor_on_a_moving_link(whole: bool) -> None:
    """The rotor turns with the link that carries it, and its torque reacts on that link."""
    w, times = Arm(), np.linspace(0, 0.8, 17)
    right = w.run(times)
    sol = models.arm(w, whole=whole).simulate(times[-1], times=times, rtol=1e-10)
    agree(
        sol,
        {
            "shoulder.angle": right["A"],
            "elbow.angle": right["B"],
            "shoulder.angle_rate": right["w1"],
            "elbow.angle_rate": right["w2"],
            models.winding("M1", whole): right["i1"],
            models.winding("M2", whole): right["i2"],
            "rotor2.angular_velocity": right["w1"] + w.gear * right["w2"],
            "housing.angular_velocity": right["w1"],
        },
    )
    balanced(sol, right["supplied"])


def test_cylinder_lifts_an_arm(tmp_path: Path) -> None:
    """The valve opens one way and then the other; the flows of its edges and the balance come out as by hand."""
    w, times = Lift(), np.linspace(0, 1.8, 37)
    right = w.run(times)
    sol = models.lift(w, tmp_path).simulate(times[-1], times=times, rtol=1e-10)
    lengths = np.array([w.length(angle)[0] for angle in right["angle"]])
    assert w.retracted < lengths.min()
    assert lengths.max() < w.retracted + w.stroke
    agree(
        sol,
        {
            "hinge.angle": right["angle"],
            "hinge.angle_rate": right["speed"],
            "a.pressure": right["p1"],
            "b.pressure": right["p2"],
        },
    )
    balanced(sol, right["supplied"])
