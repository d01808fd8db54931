"""The native step loop: outputs, continuation, fixed steps, networks and failures."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from cotree.solve.integrator import INTEGRATORS, Options
from cotree.solve.native import compiler
from cotree.solve.newton import eliminated
from cotree.solve.problem import Problem, Scale
from order import motions, toys
from order.running import integrator, run, start

METHODS = ("generalised_alpha", "generalised_alpha_2", "energy", "energy_decaying", "rk45", "rk8")
NONE = np.zeros(0)


@pytest.mark.parametrize("name", [*METHODS, "rk4"])
def test_outputs_between_steps_are_as_good_as_steps(name: str) -> None:
    """Steps of 0.02 and outputs every 0.0013: nowhere worse than five times the worst of the steps themselves."""
    dense, steps = np.arange(1, 769) * 0.0013, np.arange(1, 51) * 0.02
    between = np.abs(
        run(name, toys.pendulum(), np.append(dense, 1.0), step=0.02).x - motions.pendulum(np.append(dense, 1.0))
    )
    at = np.abs(run(name, toys.pendulum(), steps, step=0.02).x - motions.pendulum(steps))
    assert between.max() < 5 * at.max() + 1e-14


@pytest.mark.parametrize("name", METHODS)
def test_a_run_in_pieces_is_the_whole_run(name: str) -> None:
    """A second call that starts where the first one ended goes on with its memory."""
    equations, times = toys.four_bar(), np.linspace(0.1, 1.0, 10)
    method = integrator(name, equations, step=5e-3)
    scale, x, quad, got = Scale.ones(method.problem), start(equations), np.zeros(2), []
    for a, b in ((0, 3), (3, 10)):
        t0 = times[a - 1] if a else 0.0
        piece = method.integrate(t0, times[a:b], x, NONE, NONE, NONE, scale, np.inf)
        x, quad = piece.x[:, -1], quad + piece.quad[:, -1]
        got.append(piece.x)
    whole = run(name, equations, times, step=5e-3)
    assert np.abs(np.hstack(got) - whole.x).max() < 1e-9
    assert np.abs(quad - whole.quad[:, -1]).max() < 1e-9


def test_fixed_steps_are_counted() -> None:
    done = run("generalised_alpha", toys.pendulum(), np.array([0.35, 1.0]), step=0.01)
    assert done.steps == 100
    assert run("energy", toys.pendulum(), np.array([1.0]), step=0.03).steps == 34  # not longer than asked for


def test_longest_step_is_kept() -> None:
    equations = toys.pendulum(angle=1e-3)
    method = INTEGRATORS["rk8"](Problem.of(equations), Options(rtol=1e-3, atol=1e-3))
    scale = Scale.ones(method.problem)
    free = method.integrate(0.0, np.array([1.0]), start(equations), NONE, NONE, NONE, scale, np.inf).steps
    again = INTEGRATORS["rk8"](Problem.of(equations), Options(rtol=1e-3, atol=1e-3))
    assert free < 20
    assert again.integrate(0.0, np.array([1.0]), start(equations), NONE, NONE, NONE, scale, 0.02).steps >= 50


@pytest.mark.parametrize("name", [*METHODS, "rk4"])
def test_a_value_that_is_lost_is_said_with_its_time(name: str) -> None:
    """The spring has no value after t = 0.5; the attempt there is given up after a few shorter ones."""
    with pytest.raises(RuntimeError, match=r"t = 0\.(49|5)"):
        run(name, toys.runaway(0.5), np.linspace(0.1, 1.0, 10), rtol=1e-6, atol=1e-8)
    until = run(name, toys.runaway(0.5), np.array([0.2, 0.4]), rtol=1e-6, atol=1e-8)
    assert np.isfinite(until.x).all()


def test_too_many_steps_are_said() -> None:
    with pytest.raises(RuntimeError, match="steps"):
        run("energy", toys.pendulum(), np.array([10.0]), step=1e-4, max_steps=1000)


def test_methods_for_mechanisms_refuse_networks() -> None:
    import cotree as ct

    model = ct.Model("rc")
    model.add(ct.VoltageSource("E", ("n", "ground"), voltage="10"))
    model.add(ct.Resistor("R", ("n", "out"), resistance=1000.0))
    model.add(ct.Capacitor("C", ("out", "ground"), capacitance=1e-6))
    problem = Problem.of(model.equations())
    for name in ("generalised_alpha", "generalised_alpha_2", "energy", "energy_decaying"):
        assert "mechanism" in INTEGRATORS[name].suits(problem)
    for name in ("rk4", "rk45", "rk8", "adams"):
        assert INTEGRATORS[name].suits(problem) == ""
        solution = model.simulate(t_end=3e-3, points=31, integrator=name)
        assert np.abs(solution["C.voltage"] - 10 * (1 - np.exp(-solution.t / 1e-3))).max() < 1e-6


def test_elimination_passes_singular_constraints() -> None:
    """Two equal constraints: the solution that meets them, with a multiplier that is finite."""
    matrix = np.array([[2.0, 0, 1, 1], [0, 3, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    right = np.array([1.0, 2.0, 3.0, 3.0])
    found = np.asarray(ca.DM(ca.evalf(eliminated(ca.SX(ca.DM(matrix)), ca.SX(right), 2)))).ravel()
    assert np.isfinite(found).all()
    assert np.abs(matrix @ found - right).max() < 1e-2
    regular = np.array([[2.0, 0.5, 1], [0.5, 3, 1], [1, 1, 0]])
    exact = np.linalg.solve(regular, right[:3])
    assert (
        np.abs(np.asarray(ca.evalf(eliminated(ca.SX(ca.DM(regular)), ca.SX(right[:3]), 2))).ravel() - exact).max()
        < 1e-12
    )


@pytest.mark.parametrize("name", ["generalised_alpha", "energy", "rk45"])
def test_machine_code_gives_the_same(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COTREE_CACHE", str(tmp_path))
    times = np.linspace(0.05, 0.5, 10)
    plain = run(name, toys.cartesian_pendulum(), times, step=5e-3)
    fast = run(name, toys.cartesian_pendulum(), times, step=5e-3, compiled=True)
    assert np.abs(plain.x - fast.x).max() < 1e-12
    if compiler() is not None:
        assert list(tmp_path.glob("*.so"))
