"""Spin-up of a cantilever on a driven hub (Kane, Ryan, Banerjee 1987): an independent elastica and linear theory.

The beam is that of examples/flexible_spin_up.yaml: 10 m, EA = 2.8e7 N, EI = 1.4e4 N m^2, 1.2 kg/m, to 6 rad/s in 15 s.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

SPUN = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "flexible_spin_up.py"))
model, ELASTICA = SPUN["model"], SPUN["ELASTICA"]


def tip(t_end=20.0, points=4001, **changes):
    solution = model(elements=16, **changes).simulate(t_end, points=points)
    return solution.t, solution["beam.end.deflection.y"]


@pytest.mark.parametrize(("modes", "least"), [(1, -0.57826), (2, -0.57355), (4, -0.57434)])
def test_least_deflection_of_linear_theory_with_stiffening(modes, least):
    _, y = tip(9.0, 1801, modes=modes, stiffening="rigid")
    assert y.min() == pytest.approx(least, abs=6e-6)  # as many digits as are given


def test_the_elastica_is_met_to_two_millimetres():
    t, y = tip(modes=4)
    assert t[np.argmin(y)] == pytest.approx(6.76, abs=0.01)
    assert y.min() == pytest.approx(-0.57377, abs=2e-3)
    for time, value in ELASTICA.items():
        assert np.interp(time, t, y) == pytest.approx(value, abs=2e-3)
    assert np.abs(y[t >= 15]).max() == pytest.approx(3.63e-3, rel=0.05)


def test_without_stiffening_the_beam_bends_without_limit():
    _, y = tip(10.0, 5, modes=4, stiffening="none")
    assert y[3] == pytest.approx(-1.4645, abs=6e-5)  # at 7.5 s
    assert y[4] == pytest.approx(-72, abs=0.5)  # at 10 s


@pytest.mark.slow
def test_the_axial_force_of_the_rigid_motion_stiffens_alike():
    t, y = tip(modes=4, stiffening="rigid")
    assert y.min() == pytest.approx(-0.57377, abs=1e-3)
    assert np.abs(y[t >= 15]).max() == pytest.approx(3.63e-3, abs=1e-5)


@pytest.mark.slow
def test_steady_extension():
    stretched = {"shapes": "interface", "interface": {"end": "x"}, "deforms": ["axial"], "modes": 1}
    solution = model(elements=32, **stretched).simulate(16.0, times=np.linspace(15, 16, 201))
    found = solution["beam.end.deflection.x"].mean()
    k = 6 * np.sqrt(1.2 / 2.8e7)  # the stretched beam is pulled more: u'' = -k^2 (x + u)
    assert found == pytest.approx(np.tan(10 * k) / k - 10, rel=2e-5)
    assert found == pytest.approx(5.142857e-4, rel=1e-4)  # of the unstretched one: rho A w^2 L^3 / (3 E A)


def test_frequencies_at_rest():
    found = 2 * np.pi * model(elements=16).modes(t=0.0).frequencies
    lengths = np.array([1.8751040687119611, 4.694091132974175, 7.854757438237613, 10.995540734875467])
    exact = lengths**2 * np.sqrt(1.4e4 / 1.2) / 100
    assert exact[0] == pytest.approx(3.79773, abs=5e-6)
    too_high = (lengths / 16) ** 4 / 1440  # of a cubic element with consistent mass
    assert np.all(np.abs(found / exact - 1 - too_high) < 0.1 * too_high + 1e-9)
    assert found[0] == pytest.approx(3.79773, abs=5e-6)
