"""Adaptive steps: the error follows the tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from order import motions, toys
from order.running import run
from order.test_convergence import CASES

TIMES = np.linspace(0.1, 2.0, 20)


@pytest.mark.parametrize("name", ["generalised_alpha", "generalised_alpha_2", "energy", "energy_decaying"])
@pytest.mark.parametrize("case", ["pendulum", "tumbling", "sleigh", "driven pendulum", "four-bar, joint"])
def test_error_is_proportional_to_the_tolerance(name: str, case: str) -> None:
    make, motion, seen = CASES[case]
    exact, equations = motion(TIMES), make()
    errors = []
    for rtol in (1e-4, 1e-5):
        done = run(name, equations, TIMES, rtol=rtol, atol=rtol / 100)
        errors.append(np.abs(seen(done.x) - exact).max())
    assert 5 < errors[0] / errors[1] < 20
    assert errors[1] < 1e-2


@pytest.mark.parametrize("name", ["rk45", "rk8", "adams"])
@pytest.mark.parametrize("case", ["pendulum", "tumbling", "top", "sleigh", "driven pendulum", "four-bar, joint"])
def test_error_of_runge_kutta_and_adams_falls_with_the_tolerance(name: str, case: str) -> None:
    make, motion, seen = CASES[case]
    exact, equations = motion(TIMES), make()
    errors = []
    for rtol in (1e-5, 1e-7, 1e-9):
        got = seen(run(name, equations, TIMES, rtol=rtol, atol=rtol).x)
        errors.append(np.abs(got - exact).max())
    assert errors[0] < 5e-2
    assert errors[2] < errors[0] * 1e-2
    assert errors[2] < 1e4 * 1e-9


def test_steps_follow_the_motion() -> None:
    """A pendulum that nearly stands still on top takes long steps there."""
    slow = toys.pendulum(angle=3.14)
    early = run("energy", slow, np.array([0.5]), rtol=1e-6, atol=1e-8).steps
    whole = run("energy", slow, np.array([4.5]), rtol=1e-6, atol=1e-8).steps
    assert whole > 15 * early
    assert np.abs(run("rk8", slow, TIMES, rtol=1e-10, atol=1e-12).x - motions.pendulum(TIMES, 3.14)).max() < 1e-7
