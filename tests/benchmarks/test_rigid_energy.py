"""The energy algorithm keeps the energy of eight mechanisms, open and closed, planar and spatial, over many steps."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from benchmarks import rigid_models

MECHANISMS = {
    "double_pendulum": 1e-3,
    "spatial_chain": 1e-3,
    "four_bar": 1e-3,
    "andrews": 1e-5,
    "bricard": 1e-3,
    "rssr": 1e-3,
    "screw_loop": 1e-3,
    "slider_crank": 1e-3,
}
"""Names of builders, with steps that resolve the motion well enough to be of use."""

SOONER = ("double_pendulum", "four_bar")
"""Those whose long runs are part of `make test-all`."""

KEPT = 1e-9
"""Drift asked for, in parts of the largest kinetic energy."""


def drift(name: str, steps: int) -> float:
    model: ct.Model = getattr(rigid_models, name)()
    step = MECHANISMS[name]
    solution = model.simulate(steps * step, integrator="energy", step=step, points=51, atol=1e-8)
    assert solution.statistics.steps >= steps
    return float(np.abs(solution.energy().closure).max() / solution["kinetic_energy"].max())


@pytest.mark.parametrize("name", MECHANISMS)
def test_energy_is_kept(name: str) -> None:
    assert drift(name, 2_000) < KEPT


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.slow if each in SOONER else pytest.mark.soak) for each in MECHANISMS]
)
def test_energy_is_kept_over_a_hundred_thousand_steps(name: str) -> None:
    assert drift(name, 100_000) < KEPT


@pytest.mark.parametrize("rate", [2_000.0, 3_000.0])
def test_a_fixed_step_that_has_no_solution_is_taken_in_parts(rate: float) -> None:
    """A crank that turns by 2 or 3 rad in a step, where its equations need not have a solution."""
    solution = rigid_models.four_bar().simulate(
        1.0, integrator="energy", step=1e-3, points=11, atol=1e-8, start={"O.angle_rate": rate}
    )
    assert solution.complete
    assert 1_000 < solution.statistics.steps < 3_000
    assert np.abs(solution.energy().closure).max() < KEPT * solution["kinetic_energy"].max()
