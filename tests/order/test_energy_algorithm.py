"""The energy algorithm: energy kept to rounding over long runs, and its decaying variant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cotree.formulation.system import SystemEquations
from order import toys
from order.running import energies, run, violations

MECHANISMS: dict[str, Callable[[], SystemEquations]] = {
    "pendulum": toys.pendulum,
    "cartesian pendulum": toys.cartesian_pendulum,
    "tumbling": toys.tumbling,
    "top": toys.top_absolute,
    "four-bar, joint": toys.four_bar,
    "four-bar, absolute": lambda: toys.four_bar(coordinates="absolute"),
    "parallelogram": toys.parallelogram,
    "sleigh": toys.sleigh,
    "stiff": toys.elastic_pendulum,
    "chain": lambda: toys.chain(3),
}


def drift(equations: SystemEquations, steps: int, step: float, every: int, name: str = "energy") -> float:
    """The largest change of energy over the largest kinetic energy, and constraints at 1e-10 on the way."""
    times = step * every * np.arange(1, steps // every + 1)
    x = run(name, equations, times, step=step).x
    assert violations(equations, times, x) < 1e-10
    kinetic, total = energies(equations, times, x)
    begin = energies(equations, np.zeros(1), np.concatenate([equations.q.start, equations.u.start])[:, None])[1]
    return float(np.abs(total - begin).max() / kinetic.max())


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_energy_is_kept_in_every_step(mechanism: str) -> None:
    assert drift(MECHANISMS[mechanism](), 2000, 5e-3, 1) < 1e-11


def test_energy_is_kept_over_100_000_steps() -> None:
    assert drift(toys.cartesian_pendulum(), 100_000, 5e-3, 10) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_energy_of_every_mechanism_over_100_000_steps(mechanism: str) -> None:
    assert drift(MECHANISMS[mechanism](), 100_000, 2e-3, 10) < 1e-10


def test_energy_changes_by_the_work_of_forces() -> None:
    for equations in (toys.spring_mass(4.0, 0.3, 1.5), toys.driven_pendulum()):
        times = 5e-3 * np.arange(1, 1001)
        done = run("energy", equations, times, step=5e-3)
        _, total = energies(equations, times, done.x)
        defect = total - (done.quad[1] - done.quad[0])
        assert np.abs(defect - defect[0]).max() < 1e-12 * np.abs(total).max()
        assert np.ptp(total) > 0.1


def test_energy_from_rest_and_at_rest() -> None:
    """From rest the motion starts; in equilibrium, where a balance of energy says nothing, it does not."""
    equations = toys.spring_mass()
    times = 1e-2 * np.arange(1, 2001)
    got = run("energy", equations, times, step=1e-2).x
    assert np.abs(got[0] - np.cos(2 * times)).max() < 2 * 1e-4 / 3 * 20
    still = toys.pendulum(angle=0.0)
    assert np.abs(run("energy", still, times, step=1e-2).x).max() < 1e-14


def test_decaying_energy_never_grows_and_fast_oscillations_end() -> None:
    """A stiff spring with 16 radians a step: kept by the preserving method, gone with the decaying one."""
    times = 1.6e-2 * np.arange(1, 1001)
    fast = {}
    for name in ("energy", "energy_decaying"):
        equations = toys.elastic_pendulum(1e6, 5e-3)
        x = run(name, equations, times, step=1.6e-2).x
        _, total = energies(equations, times, x)
        assert np.diff(total).max() < 1e-11
        radial = (x[0] * x[2] + x[1] * x[3]) / np.hypot(x[0], x[1])
        fast[name] = np.abs(radial[-100:]).max(), total[-1] - total[0]
    assert fast["energy"][0] > 1.0
    assert fast["energy_decaying"][0] < 0.05
    assert fast["energy_decaying"][1] < -5  # most of the 12.5 J that were in the spring
    slow = toys.pendulum()
    coarse, fine = (drift(slow, 2 * count, 2 / count, 10, "energy_decaying") for count in (500, 1000))
    assert fine < 1e-5
    assert 3 < coarse / fine < 5  # second order


def test_generalised_alpha_damps_fast_oscillations() -> None:
    times = 1.6e-2 * np.arange(1, 201)
    for name in ("generalised_alpha", "generalised_alpha_2"):
        x = run(name, toys.elastic_pendulum(1e6, 5e-3), times, step=1.6e-2, spectral_radius=0.6).x
        radial = (x[0] * x[2] + x[1] * x[3]) / np.hypot(x[0], x[1])
        assert np.abs(radial[-50:]).max() < 0.02
