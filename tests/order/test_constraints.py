"""Constraints of position and velocity and the length of Euler parameters, after every step of every integrator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cotree.formulation.system import SystemEquations
from order import toys
from order.running import energies, run, start, violations

METHODS = ("generalised_alpha", "generalised_alpha_2", "energy", "energy_decaying", "rk4", "rk45", "rk8")
MECHANISMS: dict[str, Callable[[], SystemEquations]] = {
    "tumbling": toys.tumbling,
    "top": toys.top_absolute,
    "four-bar, joint": toys.four_bar,
    "four-bar, absolute": lambda: toys.four_bar(coordinates="absolute"),
    "sleigh": toys.sleigh,
    "driven pendulum": toys.driven_pendulum,
    "chain": lambda: toys.chain(8),
}
STEP = 4e-3


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_constraints_in_every_step(name: str, mechanism: str) -> None:
    equations = MECHANISMS[mechanism]()
    times = STEP * np.arange(1, 501)
    assert violations(equations, times, run(name, equations, times, step=STEP).x) < 1e-10


@pytest.mark.parametrize("name", METHODS)
def test_constraints_between_steps(name: str) -> None:
    """Output times that are no steps."""
    equations, times = toys.four_bar(), np.linspace(0, 0.5, 302)[1:]
    assert violations(equations, times, run(name, equations, times, rtol=1e-4, atol=1e-6).x) < 1e-10


@pytest.mark.parametrize("name", ["generalised_alpha", "generalised_alpha_2", "energy", "energy_decaying"])
@pytest.mark.parametrize("adaptive", [False, True])
def test_flat_four_bar_is_passed(name: str, adaptive: bool) -> None:
    """A parallelogram is flat twice a turn. With unit rods it moves as a pendulum of its crank angle."""
    from scipy.integrate import solve_ivp

    equations, times = toys.parallelogram(), np.linspace(0.05, 3.0, 60)
    options = {"rtol": 1e-6, "atol": 1e-8} if adaptive else {"step": 1e-3}
    got = run(name, equations, times, **options).x
    # Cranks of length and mass 1 turn alike (1/3 each), the coupler of mass 2 is in translation.
    inertia, moment = 2 / 3 + 2, 9.81 * (1 / 2 + 1 / 2 + 2)
    pendulum = solve_ivp(
        lambda _t, y: [y[1], -moment * np.cos(y[0]) / inertia],
        (0, 3),
        [1.0, 6.0],
        "DOP853",
        times,
        rtol=1e-12,
        atol=1e-12,
    )
    turned = pendulum.y[0].max() - pendulum.y[0].min()
    assert turned > 2 * np.pi
    assert np.abs(got[0] - pendulum.y[0]).max() < 1e-3
    assert np.abs(got[0] + got[1]).max() < 1e-6  # the coupler stays level
    assert violations(equations, times, got) < 1e-10


def test_start_values_are_met_by_the_toys() -> None:
    for make in (*MECHANISMS.values(), toys.parallelogram):
        equations = make()
        assert violations(equations, np.zeros(1), start(equations)[:, None]) < 1e-14
        assert np.isfinite(energies(equations, np.zeros(1), start(equations)[:, None])).all()
