"""The stiff method with events: its order, stiff relaxation, constraints, and the choice of a method."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from cotree.formulation.system import Output, Sample, Switch, SystemEquations, Variables
from cotree.solve.hybrid_parts import Parts
from cotree.solve.hybrid_steps import POWERS, explicit_step, rosenbrock_step
from cotree.solve.problem import Problem
from cotree.solve.simulate import simulate
from order import toys
from solve.hybrid_models import T, system


def curved(t: float, y: Any) -> list[Any]:
    """Two nonlinear equations that depend on time."""
    return [y[1] * np.cos(3 * t) - y[0] ** 3, -y[0] * y[1] + np.sin(2 * t)]


@pytest.mark.parametrize(("make", "order"), [(explicit_step, 5), (rosenbrock_step, 4)])
def test_orders_of_a_step_and_of_its_polynomial(make: Any, order: int) -> None:
    """The error of a run with even steps falls with the order, that between the ends of one step as well."""
    equations = system(
        {"a": 1.0, "b": 0.5},
        {},
        lambda x, h: (x[1] * ca.cos(3 * T) - x[0] ** 3, -x[0] * x[1] + ca.sin(2 * T)),
        dissipation=lambda x, h: x[0] ** 2,
    )
    parts = Parts.of(Problem.of(equations))
    step, exact = make(parts), {"rtol": 1e-13, "atol": 1e-14, "method": "DOP853"}
    whole = solve_ivp(lambda t, y: [*curved(t, y), y[0] ** 2], (0, 2), [1, 0.5, 0], **exact).y[:, -1]
    errors, inside = [], []
    for count in (40, 80):
        h, x, quad = 2 / count, np.array([1.0, 0.5]), np.zeros(2)
        slope = np.asarray(parts.slope(0, x, [], [], [])).ravel() if make is explicit_step else np.zeros(0)
        for k in range(count):
            found = step(k * h, h, x, [], quad, slope, [], [], np.ones(4), [1e-8, 1e-8])
            if k == count // 2:
                true = solve_ivp(curved, (k * h, (k + 1) * h), x, dense_output=True, **exact)
                dense = np.asarray(found[5])
                between = x + sum(dense[:, j] * 0.4 ** (j + 1) for j in range(POWERS))
                inside.append(np.abs(between - true.sol((k + 0.4) * h)).max())
            x, quad, slope = (np.asarray(found[j]).ravel() for j in (0, 2, 3))
        errors.append(np.abs([*(x - whole[:2]), quad[0] - whole[2]]).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.3
    assert np.log2(inside[0] / inside[1]) > order - 0.3


def test_fast_relaxation_takes_few_steps() -> None:
    """x' = -1e6 (x - cos t) - sin t follows cos t (Prothero and Robinson 1974)."""
    relaxing = system({"x": 1.0, "y": 0.0}, {}, lambda x, h: (-1e6 * (x[0] - ca.cos(T)) - ca.sin(T), x[0]))
    found = simulate(relaxing, 6.0, integrator="rodas", max_step=6.0, points=61)
    np.testing.assert_allclose(found["x"], np.cos(found.t), rtol=0, atol=1e-8)
    np.testing.assert_allclose(found["y"], np.sin(found.t), rtol=0, atol=1e-6)
    assert found.statistics.steps < 1000


def test_robertsons_reactions() -> None:
    """The stiff problem of Robertson 1966, against an implicit method of SciPy."""

    def rates(x: Any) -> list[Any]:
        slow, fast, square = 0.04 * x[0], 1e4 * x[1] * x[2], 3e7 * x[1] ** 2
        return [-slow + fast, slow - fast - square, square]

    reference = solve_ivp(lambda t, y: rates(y), (0, 40), [1, 0, 0], method="Radau", rtol=1e-11, atol=1e-15).y[:, -1]
    found = simulate(system({"a": 1.0, "b": 0.0, "c": 0.0}, {}, lambda x, h: rates(x)), 40.0, integrator="rodas")
    np.testing.assert_allclose([found[name][-1] for name in "abc"], reference, rtol=1e-6)
    assert found.statistics.steps < 1500


@pytest.mark.parametrize(("rate", "chosen"), [(1e2, "rk45"), (1e6, "rodas")])
def test_auto_chooses_by_the_fastest_decay(rate: float, chosen: str) -> None:
    """A plant behind a first-order lag, sampled ten times a second."""
    plant = system(
        {"lag": 0.0, "x": 0.0},
        {"u": 0.0},
        lambda x, h: (rate * (h[0] - x[0]), x[0] - x[1]),
        samples=lambda x, h: (Sample("c", ca.SX(0.1), ca.SX(0), {0: 2 - x[1]}),),
    )
    found = simulate(plant, 5.0, points=51)
    assert found.statistics.integrator == chosen
    x, lag, rows = 0.0, 0.0, [0.0]
    for _ in range(50):
        u = 2 - x
        fast, slow = np.exp(-0.1 * rate), np.exp(-0.1)
        x, lag = x * slow + u * (1 - slow) + (lag - u) * (slow - fast) / (rate - 1), u + (lag - u) * fast
        rows.append(x)
    np.testing.assert_allclose(found["x"], rows, rtol=0, atol=1e-7)


def driven(coordinates: str) -> SystemEquations:
    """A pendulum driven by a motor whose current is a state beside the mechanism, in its angle or in x and y."""
    current = ca.SX.sym("i")
    plain = toys.pendulum(1.0) if coordinates == "angle" else toys.cartesian_pendulum(1.0)
    q, u = plain.q.symbols, plain.u.symbols
    assert plain.mechanics is not None
    push = current if coordinates == "angle" else ca.vertcat(-q[1], q[0]) * current
    speed = u if coordinates == "angle" else q[0] * u[1] - q[1] * u[0]
    balance = plain.mechanics.balance - push
    closed = len(plain.w) > 0
    return replace(
        plain,
        mechanics=replace(plain.mechanics, balance=balance),
        rates=plain.rates if closed else plain.rates + push,
        algebraic=ca.vertcat(balance, plain.mechanics.acceleration) if closed else plain.algebraic,
        x=Variables(current, ("i",), ("A",), np.zeros(1)),
        x_rates=20 * (3 - current - speed),
        energy=replace(plain.energy, supply=current * speed),
        outputs={"speed": Output(speed, ""), "kinetic_energy": Output(plain.mechanics.kinetic, "J")},
        assemble=lambda p, t, start=None: (plain.q.start, plain.u.start),
        start=lambda p, t: np.zeros(1),
    )


@pytest.mark.parametrize("coordinates", ["angle", "plane"])
@pytest.mark.parametrize("method", ["adams", "cvodes", "rk45", "rk8", "rodas"])
def test_states_beside_a_mechanism(method: str, coordinates: str) -> None:
    def rates(t: float, y: Any) -> list[Any]:
        return [y[1], y[2] - toys.G * np.sin(y[0]), 20 * (3 - y[2] - y[1])]

    right = solve_ivp(rates, (0, 2), [1, 0, 0], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=np.linspace(0, 2, 21)).y
    found = simulate(driven(coordinates), 2.0, points=21, integrator=method)
    np.testing.assert_allclose(found["speed"], right[1], rtol=0, atol=1e-6)
    np.testing.assert_allclose(found["i"], right[2], rtol=0, atol=1e-6)
    assert found.audit.error < 1e-6


def struck(equations: SystemEquations, across: ca.SX, restitution: float = 0.7) -> SystemEquations:
    """A pendulum that strikes a wall where ``across`` becomes negative, and what is recorded of it."""
    u = equations.u.symbols
    places = range(len(equations.q), len(equations.q) + len(equations.u))
    jump = {place: -restitution * u[k] for k, place in enumerate(places)}
    assert equations.mechanics is not None
    return replace(
        equations,
        switches=(Switch("wall.hits", -across, {}, jump),),
        held=Variables.make((), ()),
        outputs={"across": Output(across, "m"), "kinetic_energy": Output(equations.mechanics.kinetic, "J")},
    )


@pytest.mark.parametrize("method", ["rk45", "rodas"])
def test_a_closed_mechanism_strikes_a_wall(method: str) -> None:
    """A pendulum in x and y with a constraint gives the same impacts as in its angle."""
    angle, plane = toys.pendulum(1.0), toys.cartesian_pendulum(1.0)
    first = simulate(struck(angle, ca.sin(angle.q.symbols)), 4.0, points=41, rtol=1e-10)
    second = simulate(struck(plane, plane.q.symbols[0]), 4.0, points=41, rtol=1e-10, integrator=method)
    assert len(first.events["wall.hits"]) > 3
    np.testing.assert_allclose(second.events["wall.hits"], first.events["wall.hits"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(second["across"], first["across"], rtol=0, atol=1e-7)
    lost = first.audit.start + toys.G
    for found in (first, second):
        assert found.audit.error < 1e-7
        assert found.audit.dissipated[-1] == pytest.approx(
            lost * (1 - 0.49 ** len(found.events["wall.hits"])), rel=1e-6
        )
