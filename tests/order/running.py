"""Integrators called directly, without a run around them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cotree.formulation.system import SystemEquations
from cotree.solve import adams, energy, generalised_alpha, runge_kutta  # noqa: F401  (each registers its integrators)
from cotree.solve.integrator import INTEGRATORS, Integrator, Options, Stretch
from cotree.solve.mechanism import Mechanism
from cotree.solve.problem import Problem, Scale

Array = NDArray[np.float64]


def integrator(name: str, equations: SystemEquations, **options: float) -> Integrator:
    """The integrator of this name."""
    return INTEGRATORS[name](Problem.of(equations), Options(**options))  # type: ignore[arg-type]


def start(equations: SystemEquations) -> Array:
    """Start values of the states."""
    return np.concatenate([equations.q.start, equations.u.start])


def run(name: str, equations: SystemEquations, times: Array, **options: float) -> Stretch:
    """States and integrals at the times, from time zero."""
    method = integrator(name, equations, **options)
    scale = Scale.ones(method.problem)
    return method.integrate(
        0.0, np.asarray(times, float), start(equations), np.zeros(0), equations.p.start, np.zeros(0), scale, np.inf
    )


def energies(equations: SystemEquations, times: Array, x: Array) -> tuple[Array, Array]:
    """Kinetic and total energy at the times."""
    n, every = len(equations.u), len(equations.multipliers)
    nq = len(equations.q)
    idle = np.zeros((n, 1)), np.zeros((every, 1))
    found = Mechanism.of(equations).energies(times[None, :], x[:nq], x[nq:], *idle, equations.p.start, np.zeros(0))
    kinetic, potential = (np.asarray(each, dtype=float).ravel() for each in found)
    return kinetic, kinetic + potential


def violations(equations: SystemEquations, times: Array, x: Array) -> float:
    """The largest error of position and velocity constraints and of the length of Euler parameters."""
    n, every, nq = len(equations.u), len(equations.multipliers), len(equations.q)
    idle = np.zeros((n, 1)), np.zeros((every, 1))
    found = Mechanism.of(equations).constraints(times[None, :], x[:nq], x[nq:], *idle, equations.p.start, np.zeros(0))
    assert equations.mechanics is not None
    lengths = [np.abs(np.linalg.norm(x[k : k + 4], axis=0) - 1).max() for k, _ in equations.mechanics.quaternions]
    return max([*(float(np.abs(np.asarray(each)).max(initial=0.0)) for each in found), *lengths])
