"""Methods in displacement modes: constraints, singular places, redundant equations, stiff parts, and their limits."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import cotree as ct
from cotree.errors import SolveError
from cotree.formulation.nodal import nodal_equations
from cotree.formulation.system import SystemEquations
from cotree.solve import displacement_modes, xiang  # noqa: F401  (each registers its integrator)
from cotree.solve.integrator import INTEGRATORS, Options
from cotree.solve.problem import Problem, Scale
from formulation.nodal_models import five_bar, ring_truss, structure
from order import motions, toys
from order.running import energies, integrator, run, start, violations

Array = NDArray[np.float64]
NONE = np.zeros(0)


def positions_off(equations: SystemEquations, times: Array, x: Array) -> float:
    """The largest error of a constraint between positions."""
    assert equations.mechanics is not None
    symbols = [equations.t, equations.q.symbols, equations.p.symbols]
    function = ca.Function("position", symbols, [equations.mechanics.position])
    return float(np.abs(np.asarray(function(times[None, :], x[: len(equations.q)], equations.p.start))).max())


def literal_five_bar(step: float, time: float) -> Array:
    """Eq. 41-57 for the five-bar with NumPy's decompositions: pinv, svd, orthonormal U, plain fixed-point iteration."""
    mass, weight = 2.45076, 2.45076 * np.tile([0.0, -9.81], 3)
    x, ends = np.array([0.5, np.sqrt(3) / 2, 1, 0, 1.5, np.sqrt(3) / 2]), np.array([[0.0, 0.0], [2.0, 0.0]])

    def spans(values: Array, first: Array, last: Array) -> Array:
        return np.diff(np.vstack([first, values.reshape(3, 2), last]), axis=0)

    def matrix(at: Array) -> Array:  # eq. 3
        rows = np.zeros((4, 10))
        for k, along in enumerate(spans(at, *ends)):
            rows[k, 2 * k : 2 * k + 4] = [*-along, *along]
        return rows[:, 2:8]

    def bent(values: Array) -> Array:  # eq. 5, bars of length 1
        return np.asarray((spans(values, np.zeros(2), np.zeros(2)) ** 2).sum(axis=1))

    modes, rate = np.linalg.svd(matrix(x))[2][4:].T, np.zeros(2)
    for _ in range(round(time / step)):
        inverse, moved = np.linalg.pinv(matrix(x)), step * rate
        for _ in range(200):
            d = modes @ moved  # eq. 41
            second = inverse @ bent(d) / step
            place = x + d - step / 2 * second  # eq. 45
            a1 = matrix(place)
            inverse1 = np.linalg.pinv(a1)
            left, _, right = np.linalg.svd(modes - inverse1 @ a1 @ modes, full_matrices=False)
            new = left @ right
            second1 = step * inverse1 @ bent(new @ (2 * moved / step - rate))  # eq. 56
            push = weight * step + mass * (modes @ rate + (second1 - second) / 2)
            better = step / 2 * (new.T @ push / mass + rate)  # eq. 57
            done, moved = np.abs(better - moved).max() < 1e-14, better
            if done:
                break
        x, modes, rate = place, new, 2 * moved / step - rate
    return x


def test_paper_is_the_printed_method() -> None:
    found = run("paper", nodal_equations(five_bar(1)), [0.5], step=1e-2).x[2:8, 0]
    assert np.abs(found - literal_five_bar(1e-2, 0.5)).max() < 1e-7  # modes are orthonormal to fourth order only


def test_positions_and_velocities_in_every_step() -> None:
    times = 1e-2 * np.arange(1, 201)
    for equations in (nodal_equations(five_bar(-1)), nodal_equations(ring_truss(6)), toys.chain(5)):
        x = run("corrected", equations, times, step=1e-2).x
        assert positions_off(equations, times, x) < 1e-12
        assert violations(equations, times, x) < 1e-10


def test_between_steps() -> None:
    equations, times = nodal_equations(five_bar(1)), np.linspace(0, 0.5, 77)[1:]
    exact = run("rk8", equations, times, step=2e-3).x
    x = run("corrected", equations, times, rtol=1e-6, atol=1e-8).x
    assert violations(equations, times, x) < 1e-10
    assert np.abs(x - exact).max() < 1e-5


def test_error_follows_the_tolerance() -> None:
    times = np.linspace(0.25, 1, 4)
    expected, errors = motions.cartesian_pendulum(times), []
    for rtol in (1e-4, 1e-5, 1e-6):
        x = run("corrected", toys.cartesian_pendulum(), times, rtol=rtol, atol=rtol / 100).x
        errors.append(np.abs(x - expected).max())
    assert errors[0] < 1e-2
    assert 3 < errors[0] / errors[1] < 30
    assert 3 < errors[1] / errors[2] < 30


def flat(options: dict[str, float], angle: float) -> tuple[Array, Array, SystemEquations]:
    """A parallelogram, which is flat twice a turn, with its motion as a pendulum of the crank angle."""
    equations = toys.four_bar((1.0, 2.0, 1.0), 2.0, angle=angle, rate=6.0)
    equations.u.start[:] = [6.0, -6.0, 6.0]
    times = np.linspace(0.05, 1.5, 30)
    got = run("corrected", equations, times, **options).x
    inertia, moment = 2 / 3 + 2, 9.81 * 3
    right = [angle, 6.0]
    pendulum = solve_ivp(
        lambda _t, y: [y[1], -moment * np.cos(y[0]) / inertia], (0, 1.5), right, "DOP853", times, rtol=1e-12, atol=1e-12
    )
    return got, pendulum.y, equations


@pytest.mark.parametrize("options", [{"step": 1e-3}, {"rtol": 1e-6, "atol": 1e-8}])
@pytest.mark.parametrize("angle", [1.0, 0.0])
def test_flat_positions_are_passed_and_left(options: dict[str, float], angle: float) -> None:
    got, expected, equations = flat(options, angle)
    assert np.ptp(expected[0]) > np.pi
    assert np.abs(got[0] - expected[0]).max() < 1e-3
    assert np.abs(got[0] + got[1]).max() < 1e-6  # the coupler stays level
    assert positions_off(equations, np.zeros(1), got) < 1e-12


def test_a_ring_truss_moves_through_its_folded_state() -> None:
    """All its horizontal bars are upright then: on the way out the radius grows as fast as it shrank."""
    equations, times = nodal_equations(ring_truss(10)), np.array([8.8, 8.9074 + 0.1074])
    x = run("corrected", equations, times, step=2e-2).x
    radius = np.hypot(x[0], x[1])
    assert radius[0] == pytest.approx(radius[1], abs=2e-4)
    assert violations(equations, times, x) < 1e-9


@pytest.mark.parametrize("name", ["corrected", "paper"])
def test_redundant_equations(name: str) -> None:
    """A constraint that is written twice changes nothing but the multipliers."""
    q, u = toys.variables("x y", [np.sin(1.0), -np.cos(1.0)]), toys.variables("vx vy", [0.0, 0.0])
    length = (ca.sumsqr(q.symbols) - 1) / 2
    args = (q, u, ca.sumsqr(u.symbols) / 2, 9.81 * q.symbols[1])
    once = toys.lagrange("once", *args, position=length)
    twice = toys.lagrange("twice", *args, position=ca.vertcat(length, 2 * length))
    times = np.linspace(0.2, 1, 5)
    one, two = (run(name, each, times, step=2e-3).x for each in (once, twice))
    assert np.abs(one - two).max() < 1e-10


def test_stiff_cables_do_not_need_short_steps() -> None:
    """A mass swinging on a cable that would oscillate with 3,162 rad/s, in steps of 5 ms: a pendulum."""
    model = structure(
        {"O": (0, 0, 0), "A": {"position": (1, 0, 0), "mass": 1.0}},
        ct.nodal.Fixed("hook", "O"),
        ct.nodal.ElasticCable("rope", ("O", "A"), stiffness=1e7, length=1.0),
        planar=True,
        gravity=(0, -9.81, 0),
    )
    times = np.linspace(0.1, 1, 10)
    x = run("corrected", nodal_equations(model), times, step=5e-3).x
    right = solve_ivp(
        lambda _t, y: [y[1], 9.81 * np.cos(y[0])], (0, 1), [0, 0], "DOP853", times, rtol=1e-12, atol=1e-12
    )
    assert np.abs(np.arctan2(-x[3], x[2]) - right.y[0]).max() < 5e-4


def test_multipliers_are_of_second_order() -> None:
    equations, errors = toys.cartesian_pendulum(), []
    for step in (2e-3, 1e-3):
        method = integrator("corrected", equations, step=step)
        method.integrate(0.0, np.array([1.0]), start(equations), NONE, NONE, NONE, Scale.ones(method.problem), np.inf)
        state = method._left[1]  # type: ignore[attr-defined]
        got = method.layout.split(state[6:])["multipliers"][0]  # type: ignore[attr-defined]
        angle, rate = motions.pendulum(np.array([1.0]))[:, 0]
        errors.append(abs(got + 9.81 * np.cos(angle) + rate**2))
    assert np.log2(errors[0] / errors[1]) > 1.9
    assert errors[1] < 1e-4


@pytest.mark.parametrize(("name", "order"), [("corrected", 2), ("paper", 1)])
def test_work_closes_the_balance_of_energy(name: str, order: int) -> None:
    """A damper takes and a driven pivot gives: stored energy less what was supplied and taken, at the order."""
    times = np.linspace(0.25, 1.0, 4)
    for equations in (toys.spring_mass(4.0, 0.3, 1.5), toys.driven_pendulum()):
        open_by = []
        for step in (2e-3, 1e-3):
            done = run(name, equations, times, step=step)
            stored = energies(equations, times, done.x)[1]
            first = energies(equations, np.zeros(1), start(equations)[:, None])[1]
            open_by.append(float(np.abs(stored - first - done.quad[1] + done.quad[0]).max()))
        assert np.log2(open_by[0] / open_by[1]) > order - 0.2


def test_a_run_in_pieces_is_the_same_run() -> None:
    equations = nodal_equations(five_bar(1))
    whole = run("corrected", equations, [0.2, 0.4], step=1e-2).x
    method = integrator("corrected", equations, step=1e-2)
    scale, p = Scale.ones(method.problem), equations.p.start
    x = method.integrate(0.0, np.array([0.2]), start(equations), NONE, p, NONE, scale, np.inf).x[:, -1]
    x = method.integrate(0.2, np.array([0.4]), x, NONE, p, NONE, scale, np.inf).x[:, -1]
    assert np.abs(x - whole[:, 1]).max() < 1e-13


@pytest.mark.slow
@pytest.mark.parametrize("name", ["corrected", "paper"])
def test_compiled_steps_are_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COTREE_CACHE", str(tmp_path))
    equations = nodal_equations(five_bar(1))
    plain = run(name, equations, [0.5], step=1e-2).x
    fast = run(name, equations, [0.5], step=1e-2, compiled=True).x
    assert np.abs(plain - fast).max() < 1e-11


def test_paper_tells_its_drift() -> None:
    """Lengths of the literal method drift by 1.33e-4 m in 0.5 s."""
    equations = nodal_equations(five_bar(1))
    method = integrator("paper", equations, step=1e-2)
    x = start(equations)
    done = method.integrate(0.0, np.array([0.5]), x, NONE, equations.p.start, NONE, Scale.ones(method.problem), np.inf)
    places = done.x[:10, -1].reshape(5, 2)
    lengths = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert method.worst == pytest.approx(np.abs(lengths - 1).max(), rel=1e-3)  # type: ignore[attr-defined]
    sol = five_bar(1).simulate(0.5, points=3, integrator="paper", step=1e-2)
    assert any("drift" in note and "0.00013 m" in note for note in sol.notes)
    assert sol["C.position.y"][-1] == pytest.approx(done.x[5, -1], abs=1e-12)  # results are not put back on lengths


def test_paper_asks_for_a_step() -> None:
    with pytest.raises(SolveError, match=r"no step.*first order.*corrected"):
        INTEGRATORS["paper"](Problem.of(toys.cartesian_pendulum()), Options())


@pytest.mark.parametrize("name", ["corrected", "paper"])
def test_what_the_methods_do_not_suit(name: str) -> None:
    method = INTEGRATORS[name]
    for equations in (toys.tumbling(), toys.top_absolute()):
        assert "whose rates are the speeds" in method.suits(Problem.of(equations))
    assert method.suits(Problem.of(toys.cartesian_pendulum())) == ""
    many = toys.chain(1)
    q = toys.variables(" ".join(f"q{k}" for k in range(2001)), np.zeros(2001))
    large = dataclasses.replace(many, q=q, u=q, kinematics=q.symbols)
    assert "generalised_alpha" in method.suits(Problem(large))


def test_too_many_modes_are_told() -> None:
    method = integrator("corrected", toys.cartesian_pendulum(), step=1e-3)
    with pytest.raises(SolveError, match=r"500 x 500.*generalised_alpha"):
        method.take(np.eye(500))  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["corrected", "paper"])
def test_values_that_are_lost_end_the_run(name: str) -> None:
    with pytest.raises(RuntimeError, match="no finite solution"):
        run(name, toys.runaway(), np.array([1.0]), step=1e-2)
