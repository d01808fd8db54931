"""Measured order of every integrator, in coordinates and speeds, against closed forms and independent integrations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from cotree.formulation.system import SystemEquations
from cotree.maths.rotation import of_quaternion
from cotree.solve.problem import Scale
from order import motions, toys
from order.running import integrator, run, start

Array = NDArray[np.float64]
Case = tuple[Callable[[], SystemEquations], Callable[[Array], Array], Callable[[Array], Array]]

TIMES = np.linspace(0.25, 1.0, 4)
SECOND = ("generalised_alpha", "generalised_alpha_2", "energy", "energy_decaying")
STEPS = {"rk4": (0.02, 0.01), "rk45": (0.04, 0.02), "rk8": (0.125, 0.0625)} | dict.fromkeys(SECOND, (4e-3, 2e-3))
ORDER = {"rk4": 4, "rk45": 5, "rk8": 8} | dict.fromkeys(SECOND, 2)
OMEGA = np.array([0.5, 1.0, 8.0])


def same(x: Array) -> Array:
    return x


def turned(x: Array) -> Array:
    """Rotation matrices from Euler parameters, and the body's rates, of the top's states."""
    matrices = [np.asarray(of_quaternion(column[3:7])).ravel() for column in x.T]
    return np.vstack([np.array(matrices, dtype=float).T, x[10:13]])


def rods(x: Array) -> Array:
    """x, y, angle and rates of three rods from their joint angles."""
    lengths, place, moving, rows, rates = (0.3, 0.9, 0.75), np.zeros((2, x.shape[1])), np.zeros((2, x.shape[1])), [], []
    for k, length in enumerate(lengths):
        angle, w = x[: k + 1].sum(axis=0), x[3 : 4 + k].sum(axis=0)
        along = length * np.vstack([np.cos(angle), np.sin(angle)])
        swept = length * w * np.vstack([-np.sin(angle), np.cos(angle)])
        rows += [place + along / 2, angle]
        rates += [moving + swept / 2, w]
        place, moving = place + along, moving + swept
    return np.vstack([*rows, *rates])


@cache
def four_bar_at(times: tuple[float, ...]) -> Array:
    return motions.four_bar(np.array(times), start(toys.four_bar(coordinates="absolute")), (0.3, 0.9, 0.75))


def four_bar_motion(times: Array) -> Array:
    return four_bar_at(tuple(times.tolist()))


CASES: dict[str, Case] = {
    "pendulum": (toys.pendulum, motions.pendulum, same),
    "spring": (toys.spring_mass, motions.spring, same),
    "cartesian pendulum": (toys.cartesian_pendulum, motions.cartesian_pendulum, same),
    "tumbling": (
        lambda: toys.tumbling(omega=(0.7, 0.0, 1.9)),
        lambda times: motions.tumbling_rates(times, np.array([0.7, 0.0, 1.9])),
        lambda x: x[4:],
    ),
    "top": (lambda: toys.top_absolute(tuple(OMEGA)), lambda times: motions.top(times, OMEGA), turned),
    "four-bar, joint": (toys.four_bar, four_bar_motion, rods),
    "four-bar, absolute": (lambda: toys.four_bar(coordinates="absolute"), four_bar_motion, same),
    "sleigh": (toys.sleigh, motions.sleigh, same),
    "driven pendulum": (toys.driven_pendulum, motions.driven_pendulum, same),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("case", CASES)
def test_order(name: str, case: str) -> None:
    make, motion, seen = CASES[case]
    expected, equations = motion(TIMES), make()
    refinement = 4 if case.startswith("four-bar") and name.startswith("rk") else 1
    errors = []
    for step in STEPS[name]:
        got = seen(run(name, equations, TIMES, step=step / refinement).x)
        errors.append(np.abs(got - expected).max(axis=1))
    floor = 2e-12  # of the reference integrations
    coarse, fine = (float(error.max()) for error in errors)
    if fine > floor:
        assert np.log2(coarse / fine) > ORDER[name] - 0.2, (coarse, fine)
    else:
        assert coarse < 1e-9
    assert fine < 1e-2


@pytest.mark.parametrize("name", ["generalised_alpha", "generalised_alpha_2"])
def test_multipliers_are_of_second_order(name: str) -> None:
    equations, errors = toys.cartesian_pendulum(), []
    for step in (2e-3, 1e-3):
        method = integrator(name, equations, step=step)
        begin, none = start(equations), np.zeros(0)
        method.integrate(0.0, np.array([1.0]), begin, none, none, none, Scale.ones(method.problem), np.inf)
        state = method._left[1]  # type: ignore[attr-defined]
        got = method.layout.split(state[6:])["multipliers"][0]  # type: ignore[attr-defined]
        angle, rate = motions.pendulum(np.array([1.0]))[:, 0]
        errors.append(abs(got + 9.81 * np.cos(angle) + rate**2))
    assert np.log2(errors[0] / errors[1]) > 1.8
    assert errors[1] < 1e-3


@pytest.mark.parametrize("name", SECOND)
def test_work_is_integrated_at_the_order_of_the_method(name: str) -> None:
    """A damped and driven mass: what the damper takes and the force gives against fine Runge-Kutta integrals."""
    times = np.linspace(0.5, 2.0, 4)
    exact = run("rk8", toys.spring_mass(4.0, 0.3, 1.5), times, step=0.01).quad
    coarse, fine = (
        np.abs(run(name, toys.spring_mass(4.0, 0.3, 1.5), times, step=step).quad - exact).max() for step in (4e-3, 2e-3)
    )
    assert np.log2(coarse / fine) > 1.8
    energy = run("rk8", toys.spring_mass(4.0, 0.3, 1.5), times, step=0.01)
    stored = energy.x[1] ** 2 / 2 + 2 * energy.x[0] ** 2
    assert np.abs(stored - 2.0 - energy.quad[1] + energy.quad[0]).max() < 1e-12
