"""A body all of whose frames are at its pivot: its absolute position stays zero, and no frame is at a distance."""

import numpy as np
import pytest
from scipy.special import ellipk

import cotree as ct


@pytest.mark.parametrize("integrator", ["adams", "rk45"])
def test_a_pendulum_in_absolute_coordinates(integrator: str) -> None:
    model = ct.Model("pendulum", gravity=(0, -9.81, 0), planar=True)
    model.add(ct.RigidBody("arm", mass=2.0, inertia=(0.1, 0.1, 0.1), centre=(0.4, 0, 0)))
    model.add(ct.Revolute("O", "ground", "arm", angle=-np.pi / 2 + 1.0))
    period = 4 * np.sqrt((0.1 + 2.0 * 0.4**2) / (2.0 * 9.81 * 0.4)) * ellipk(np.sin(0.5) ** 2)
    solution = model.simulate(period, points=5, tree="absolute", integrator=integrator, rtol=1e-9)
    assert solution["O.angle"][-1] == pytest.approx(-np.pi / 2 + 1.0, abs=1e-7)
    assert solution.statistics.steps < 2000
