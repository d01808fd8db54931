"""Published mechanisms: pendulum, rows of four-bars, Andrews' squeezer, Bricard's mechanism, the car axis."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.rigid_models import ANDREWS_START, andrews, bricard, car_axis, n_four_bars, pendulum, point_pendulum

# IVP test set, Andrews' squeezing mechanism at 0.03 s; the last digits differ between codes beyond 3e-10.
ANDREWS_END = (
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
    0.5347301163226948, 1.048080741042263,
)  # fmt: skip


@pytest.mark.parametrize("integrator", ["auto", "rk8"])
def test_a01_pendulum(integrator: str) -> None:
    """Closed form: elliptic functions give the position at 1 s and 10 s."""
    sol = pendulum().simulate(10.0, times=[0, 1, 10], rtol=1e-12, integrator=integrator)
    np.testing.assert_allclose(sol["bob.position"][1], (0.9862917511, -0.1650108531, 0), rtol=0, atol=2e-9)
    np.testing.assert_allclose(sol["bob.position"][2], (-0.2750874626, -0.9614192051, 0), rtol=0, atol=2e-9)


def test_a01_energy_meets_the_communitys_criterion_with_default_options() -> None:
    energy = pendulum().simulate(10.0).energy().stored
    assert np.abs(energy - energy[0]).max() < 5e-5


def test_a01_as_a_point_on_a_massless_rod() -> None:
    """The tension of the rod is m (v^2 + g cos) / l, known from the height alone."""
    sol = point_pendulum().simulate(10.0, times=[0, 1, 10], rtol=1e-12)
    x, y, _ = sol["bob.position"].T
    np.testing.assert_allclose((x[1], y[1]), (0.9862917511, -0.1650108531), rtol=0, atol=2e-9)
    np.testing.assert_allclose((x[2], y[2]), (-0.2750874626, -0.9614192051), rtol=0, atol=2e-9)
    pull = np.linalg.norm(sol["rod.force"], axis=1)
    np.testing.assert_allclose(pull, np.abs(-3 * 9.81 * y), rtol=0, atol=1e-7)


@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_a02_two_loops(tree: str) -> None:
    """The mechanism passes through flat positions, in which the constraints are singular."""
    sol = n_four_bars(2).simulate(10.0, tree=tree, times=[0, 4, 10], rtol=1e-9, integrator="rk8")
    where, speed = sol["up0.b.position"], sol["up0.b.velocity"]
    np.testing.assert_allclose(where[1], (0.1176161024, 0.9930591385, 0), rtol=0, atol=1e-6)
    np.testing.assert_allclose(where[2], (0.3284581115, 0.9445185382, 0), rtol=0, atol=1e-6)
    np.testing.assert_allclose(speed[2], (1.423051470, -0.494868845, 0), rtol=0, atol=1e-6)


def test_a02_two_loops_with_default_options() -> None:
    sol = n_four_bars(2).simulate(10.0, times=[0, 4, 10])
    np.testing.assert_allclose(sol["up0.b.position"][1], (0.1176161024, 0.9930591385, 0), rtol=0, atol=1e-5)
    np.testing.assert_allclose(sol["up0.b.position"][2], (0.3284581115, 0.9445185382, 0), rtol=0, atol=1e-5)


@pytest.mark.parametrize("integrator", ["generalised_alpha", "generalised_alpha_2", "energy", "energy_decaying"])
def test_a02_is_passed_by_adaptive_methods_of_second_order(integrator: str) -> None:
    """Near a flat position their estimate of the error fails; even steps lead past it."""
    sol = n_four_bars(2).simulate(4.0, points=41, rtol=1e-7, integrator=integrator)
    np.testing.assert_allclose(sol["up0.b.position"][40], (0.1176161024, 0.9930591385, 0), rtol=0, atol=1e-4)


def test_a02_redundancy_is_named() -> None:
    notes = n_four_bars(2).equations().notes
    assert notes[0] == "5 speeds, 4 independent constraint equations, 1 degree of freedom"
    assert [note.split(" ", 1)[1] for note in notes[1:3]] == ["adds 3 redundant equations: planar loop"] * 2
    assert [each.code for each in n_four_bars(2).equations().diagnostics[3:]] == ["undetermined-reactions"]


@pytest.mark.parametrize("rtol", [1e-8, *(pytest.param(rtol, marks=pytest.mark.slow) for rtol in (1e-9, 1e-10))])
def test_a02_forty_loops(rtol: float) -> None:
    sol = n_four_bars(40).simulate(10.0, times=[0, 10], rtol=rtol, integrator="rk8")
    np.testing.assert_allclose(sol["up0.b.position"][1], (0.1805122267, 0.9835727406, 0), rtol=0, atol=1e-5)


@pytest.mark.slow
def test_a02_forty_loops_longer() -> None:
    sol = n_four_bars(40, planar=True).simulate(20.0, times=[0, 10, 20], rtol=1e-9, integrator="rk8")
    np.testing.assert_allclose(sol["up0.b.position"][1], (0.1805122267, 0.9835727406, 0), rtol=0, atol=1e-5)
    np.testing.assert_allclose(sol["up0.b.position"][2], (0.4109011537, 0.9116799010, 0), rtol=0, atol=1e-5)


@pytest.mark.parametrize("planar", [False, True])
def test_a03_andrews(planar: bool) -> None:
    sol = andrews(planar).simulate(0.05, times=[0, 0.03, 0.05], rtol=1e-11, integrator="rk8")
    q = [sol[f"{name}.angle"] for name in ANDREWS_START]
    np.testing.assert_allclose([each[0] for each in q], list(ANDREWS_START.values()), rtol=0, atol=1e-12)
    np.testing.assert_allclose([each[1] for each in q], ANDREWS_END, rtol=0, atol=1e-8)
    assert sol["beta.angle"][2] == pytest.approx(33.8258678, abs=1e-7)
    assert sol.notes[0].endswith("1 degree of freedom")


def test_a03_andrews_with_default_options() -> None:
    sol = andrews().simulate(0.03, times=[0, 0.03])
    q = [sol[f"{name}.angle"][1] for name in ANDREWS_START]
    np.testing.assert_allclose(q, ANDREWS_END, rtol=0, atol=1e-4)


def test_a04_bricard() -> None:
    """Overconstrained with one degree of freedom; energy is the only measure that the benchmark has."""
    sol = bricard().simulate(10.0, points=101, rtol=1e-10, integrator="rk8")
    energy = sol.energy().stored
    assert np.abs(energy - energy[0]).max() < 1e-6
    assert sol.notes[:2] == (
        "5 speeds, 4 independent constraint equations, 1 degree of freedom",
        "'J5' adds 1 redundant equation: overconstrained loop",
    )
    assert [each.code for each in sol.diagnostics[2:]] == ["undetermined-reactions"]
    assert (np.ptp(sol["rod2.position"], axis=0) > 0.2).all()  # it moves in all directions


@pytest.mark.parametrize("integrator", ["auto", "cvodes", "rk45"])
def test_a04_energy_under_other_integrators(integrator: str) -> None:
    energy = bricard().simulate(10.0, points=101, rtol=1e-10, integrator=integrator).energy().stored
    assert np.abs(energy - energy[0]).max() < 1e-6


def test_car_axis() -> None:
    """Prescribed base, two points, two springs, a rod; the values are those of the IVP test set at 3 s."""
    sol = car_axis().simulate(3.0, times=[0, 3], rtol=1e-11, integrator="rk8")
    found = (*sol["left.position"][1][:2], *sol["right.position"][1][:2])
    exact = (0.0493455784275403, 0.496989460230171, 1.04174252488542, 0.373911027265361)
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-7)
