"""The examples of Filippini 2007 as multibond graphs against other solutions; a free body against Euler's equations."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cotree as ct

EXAMPLES = Path(__file__).parents[2] / "examples"
FIGURES: dict[str, Any] = runpy.run_path(str(EXAMPLES / "bond_example_3.py"))
STIFF: dict[str, Any] = runpy.run_path(str(EXAMPLES / "bond_example_3_compliant.py"))
CASES = FIGURES["CASES"]


@pytest.mark.parametrize("case", CASES)
def test_ideal_joints_meet_the_independent_solution(case):
    known, name = FIGURES["reference"](case), FIGURES["SHOWN"][case]
    solution = FIGURES["graph"](case).simulate(5.0, times=known["t"], rtol=1e-11)
    np.testing.assert_allclose(solution[name], known["position"], rtol=0, atol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_ideal_joints_move_as_the_branch_formulation_does(case):
    """The arm of 1e-12 kg moves bodies of 1 kg by 1e-12 of their motion, far below the tolerance."""
    times = np.linspace(0, 5, 101)
    graph = FIGURES["graph"](case).simulate(5.0, times=times, rtol=1e-11)
    branch = FIGURES["branch"](case).simulate(5.0, times=times, rtol=1e-11)
    for body in ("m1", "m2") if case == 3 else ("m1",):
        np.testing.assert_allclose(graph[f"{body}.position"], branch[f"{body}.position"], rtol=0, atol=1e-8)
        # Speeds are up to 5 m/s and their errors ten times those of positions.
        np.testing.assert_allclose(graph[f"{body}.velocity"], branch[f"{body}.velocity"], rtol=0, atol=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_reactions_are_those_of_the_branch_formulation(case):
    """Force and torque of J2 on m1, in the axes of the arm."""
    times = np.linspace(0, 2, 41)
    graph = FIGURES["graph"](case).simulate(2.0, times=times, rtol=1e-11)
    branch = FIGURES["branch"](case).simulate(2.0, times=times, rtol=1e-11)
    for what in ("force", "torque"):
        np.testing.assert_allclose(graph[f"J2.{what}"], branch[f"J2.{what}"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_c_joints_come_to_ideal_joints_as_their_stiffness_grows(case):
    """Over the first second; the least stiffness is not in the asymptotic range yet."""
    name, times = FIGURES["SHOWN"][case], np.linspace(0, 1, 101)
    ideal, model = FIGURES["graph"](case), FIGURES["soft"](case)
    exact = ideal.simulate(1.0, times=times, rtol=1e-11)[name]
    errors = []
    for stiffness in (1e4, 1e5, 1e6, 1e7):
        solution = model.simulate(1.0, times=times, rtol=1e-9, parameters={"stiffness": stiffness})
        errors.append(float(np.linalg.norm(solution[name] - exact, axis=1).max()))
    assert errors[0] > 1e-2  # soft joints are told apart
    orders = np.log10(np.divide(errors[:-1], errors[1:]))
    np.testing.assert_allclose(orders, 1.0, rtol=0, atol=0.1)


@pytest.mark.soak
@pytest.mark.parametrize("case", CASES)
def test_c_joints_converge_up_to_1e10_over_the_whole_run(case):
    """Errors of small stiffness grow with the motion, so that the order is reached from 1e6 on."""
    errors = STIFF["distances"](case, (1e6, 1e7, 1e8, 1e9, 1e10))
    orders = np.log10(np.divide(errors[:-1], errors[1:]))
    np.testing.assert_allclose(orders, 1.0, rtol=0, atol=0.1)
    assert errors[-1] < 2e-7


@pytest.mark.slow
def test_undamped_c_joints_converge_and_ring():
    """Without R elements the order is the same, and the steps grow as the root of the stiffness."""
    errors = STIFF["distances"](1, (1e4, 1e5, 1e6), damped=False, rtol=1e-9)
    np.testing.assert_allclose(np.log10(np.divide(errors[:-1], errors[1:])), 1.0, rtol=0, atol=0.1)
    model = STIFF["undamped"](1)
    steps = [
        model.simulate(1.0, points=11, rtol=1e-7, parameters={"stiffness": k}).statistics.steps for k in (1e4, 1e6)
    ]
    assert 5 < steps[1] / steps[0] < 20  # ten times, as the frequency


INERTIA = np.array([[1.5, 0.1, -0.2], [0.1, 2.2, 0.15], [-0.2, 0.15, 1.1]])
SPIN = (0.7, -1.1, 2.3)


def free_body() -> ct.Model:
    """The rigid body mask alone (fig. 1), asymmetric and spinning about no principal axis."""
    model = ct.Model("free body", gravity=(0, 0, 0))
    moments = (1.5, 2.2, 1.1, 0.1, -0.2, 0.15)
    model.add(ct.bond.mechanics.Body("B", mass=2.5, inertia=moments, velocity=(0.3, -0.2, 0.1), angular_velocity=SPIN))
    return model


def rotation(e: np.ndarray) -> np.ndarray:
    """From Euler parameters, scalar first."""
    w, v = e[0], e[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def test_a_free_body_keeps_energy_and_angular_momentum():
    solution = free_body().simulate(10.0, points=101, rtol=1e-11)
    kinetic = solution["kinetic_energy"]
    np.testing.assert_allclose(kinetic, kinetic[0], rtol=1e-9)
    turned = [rotation(e) @ h for e, h in zip(solution["B.orientation"], solution["B.J.momentum"], strict=True)]
    np.testing.assert_allclose(turned, np.tile(INERTIA @ SPIN, (101, 1)), rtol=0, atol=1e-8)  # of 4.9 N m s


def test_a_free_body_turns_as_eulers_equations_say():
    def rate(_: float, y: np.ndarray) -> np.ndarray:
        turn, spin = y[:9].reshape(3, 3), y[9:]
        cross = np.array([[0, -spin[2], spin[1]], [spin[2], 0, -spin[0]], [-spin[1], spin[0], 0]])
        return np.concatenate([(turn @ cross).ravel(), np.linalg.solve(INERTIA, np.cross(INERTIA @ spin, spin))])

    times = np.linspace(0, 10, 11)
    start = [*np.eye(3).ravel(), *SPIN]
    exact = solve_ivp(rate, (0, 10), start, "DOP853", times, rtol=1e-12, atol=1e-13).y.T
    solution = free_body().simulate(10.0, times=times, rtol=1e-11)
    turns = [rotation(e).ravel() for e in solution["B.orientation"]]
    np.testing.assert_allclose(turns, exact[:, :9], rtol=0, atol=1e-8)
    np.testing.assert_allclose(solution["B.J.flow"], exact[:, 9:], rtol=0, atol=1e-8)
    np.testing.assert_allclose(solution["B.position"], np.outer(times, (0.3, -0.2, 0.1)), rtol=0, atol=1e-9)
