"""Consistent values: algebraic variables at a start or after a switch, and operating points at rest."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.maths.symbolic import substitute
from cotree.solve.problem import Problem

Array = NDArray[np.float64]

RESIDUAL = 1e-9
SETTLED = 1e-12
NEWTON_STEPS = 60
NUDGES = (1e-6, 1e-3, 0.1)
"""Steps aside from a guess at which an equation has no slope, relative to 1 and to the guess."""
FLAT = 1e-6
"""Slope of an equation, as a part of the slope beside it, below which it fixes nothing."""


def algebraic_variables(problem: Problem, t: float, x: Array, guess: Array, p: Array, m: Array) -> Array:
    """w that satisfies the algebraic equations at (t, x), starting from a guess."""
    w = problem.equations.w
    if problem.eliminated or not len(w):
        return np.zeros(0)
    settled = _newton(problem, t, x, guess, p, m)
    if settled is None and (beside := _regular(problem, t, x, guess, p, m)) is not guess:
        guess, settled = beside, _newton(problem, t, x, beside, p, m)
    if settled is not None:
        return settled
    function = problem.algebraic_parts

    def residual(z: Array) -> Array:
        return np.asarray(function(t, x, z, p, m)[0], dtype=float).ravel()

    def jacobian(z: Array) -> Array:
        return np.asarray(function(t, x, z, p, m)[1], dtype=float)

    value, worst = _solve(residual, jacobian, guess)
    if worst >= 0:
        raise SolveError(
            f"at t = {t:g} s the algebraic equations have no solution near the start: {w.names[worst]} does not settle",
            remedy="Check the values of the nonlinear components and the start values around it",
        )
    return value


def _regular(problem: Problem, t: float, x: Array, guess: Array, p: Array, m: Array) -> Array:
    """The guess, or one beside it where an equation has no finite value or slope at the guess itself."""
    away = np.random.default_rng(0).uniform(0.5, 1.0, len(guess)) * (1.0 + np.abs(guess))
    for size in (0.0, *NUDGES):
        trial = guess + size * away if size else guess
        parts = [np.asarray(each, dtype=float) for each in problem.algebraic_parts(t, x, trial, p, m)]
        if all(np.isfinite(each).all() for each in parts):
            return trial
    lost = ~np.isfinite(parts[0]).all(axis=1) | ~np.isfinite(parts[1]).all(axis=1)
    name = problem.equations.w.names[int(np.argmax(lost))]
    raise SolveError(
        f"at t = {t:g} s the algebraic equation of {name} has no finite value or slope",
        remedy="Change the laws around it, or the start values",
    )


def no_start(problem: Problem, t: float) -> SolveError:
    """The error for equations that have no solution at the start, though all that they ask for has a value."""
    remedy = "Check for values that are zero, or far too large or small for the others"
    if problem.equations.mechanics is None:
        return SolveError(f"at t = {t:g} s the equations have no unique solution", remedy=remedy)
    return SolveError(
        f"at t = {t:g} s the accelerations cannot be found",
        expected="a mass for all that moves, and moments of inertia for all that turns",
        remedy=remedy,
    )


def unfixed(problem: Problem, t: float, x: Array, w: Array, p: Array, m: Array) -> str | None:
    """An algebraic variable that its equations do not fix at a point, though they do beside it: a vertical slope."""
    if problem.eliminated or not len(w):
        return None
    beside = w + NUDGES[-1] * (1.0 + np.abs(w))
    here, there = (np.asarray(problem.algebraic_parts(t, x, each, p, m)[1], dtype=float) for each in (w, beside))
    if not (np.isfinite(here).all() and np.isfinite(there).all()):
        return None
    _, small, right = np.linalg.svd(here)
    if small[-1] > FLAT * np.linalg.svd(there, compute_uv=False)[-1]:
        return None
    return problem.equations.w.names[int(np.argmax(np.abs(right[-1])))]


def _newton(problem: Problem, t: float, x: Array, guess: Array, p: Array, m: Array) -> Array | None:
    """Newton's rule with halved steps; None where it does not settle, which a slower method may still mend."""

    def size(z: Array) -> float:
        return float(np.linalg.norm(np.asarray(problem.algebraic(t, x, z, p, m), dtype=float)))

    value, now = guess, size(guess)
    for _ in range(NEWTON_STEPS):
        try:
            step = np.asarray(problem.polished(t, x, value, p, m), dtype=float).ravel() - value
        except RuntimeError:  # a matrix without inverse on the way
            return None
        if not np.isfinite(step).all():
            return None
        if np.abs(step).max() <= SETTLED * (1.0 + np.abs(value).max()):
            return np.asarray(value + step)
        for _ in range(NEWTON_STEPS):
            trial, then = value + step, size(value + step)
            if then < now:
                break
            step = step / 2
        else:
            return None
        value, now = trial, then
    return None


def operating_point(problem: Problem, t: float, p: Array, m: Array) -> tuple[Array, Array]:
    """States and algebraic variables at rest: all rates zero with the inputs held at their values of time t."""
    e = problem.equations
    if len(e.held) and e.mechanics is None:
        from cotree.solve.steady import network_rest

        flow, x = network_rest(e, t, p)
        return x, flow.w(x)
    unknowns = ca.vertcat(problem.x, e.w.symbols)
    both = ca.vertcat(e.kinematics, e.rates, e.algebraic)
    held = substitute(both, e.input_rates, 0)
    held = substitute(held, e.inputs.symbols, e.signals)
    function = ca.Function("rest", problem.arguments, [held, ca.jacobian(held, unknowns)])
    n = problem.x.numel()

    def residual(z: Array) -> Array:
        return np.asarray(function(t, z[:n], z[n:], p, m)[0], dtype=float).ravel()

    def jacobian(z: Array) -> Array:
        return np.asarray(function(t, z[:n], z[n:], p, m)[1], dtype=float)

    value, worst = _solve(residual, jacobian, np.concatenate([e.q.start, e.u.start, e.w.start]))
    if worst >= 0:
        name = (e.state_names + e.w.names)[worst]
        raise SolveError(
            f"no operating point was found: the equation of {name} cannot be satisfied with constant sources",
            remedy="Give start values instead, or check for a storage that is charged without end",
        )
    return value[:n], value[n:]


def _solve(residual: object, jacobian: object, guess: Array) -> tuple[Array, int]:
    """A root near the guess, and -1, or the index of the worst equation where there is none."""
    if not len(guess):
        return guess, -1
    from scipy.optimize import least_squares  # slow to load, and most runs do not need it

    value = guess
    for scale in ("jac", 1.0):
        found = least_squares(
            residual, value, jacobian, method="trf", x_scale=scale, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=500
        )
        value = found.x
        rows = np.abs(found.jac).max(axis=1) * max(1.0, np.abs(value).max())
        relative = np.abs(found.fun) / np.maximum(rows, 1e-300)
        if relative.max() < RESIDUAL:
            return value, -1
    return value, int(np.argmax(relative))
