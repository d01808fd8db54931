"""A short look ahead at a run with events: how large its variables are, how stiff it is, and whether to compile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cotree.solve.hybrid import Hybrid
from cotree.solve.hybrid_parts import Parts
from cotree.solve.integrator import EVENTFUL, STIFF_STATES
from cotree.solve.native import worth_compiling
from cotree.solve.run import Run
from cotree.solve.sizes import History, Sizes, sizes
from cotree.solve.starts import start_values

Array = NDArray[np.float64]

ROUGH = 1e-3
"""Relative tolerance of the look ahead."""
TURNS = 600
"""Turns of the loop that are looked ahead."""
POINTS, PLACES = 100, 8
"""Points that tell of sizes, and of stiffness."""
UNKNOWN = 1e-6
"""Size of a variable that has not moved yet and shares its unit with none that has; it grows as the variable does."""
STIFF, STIFF_BETWEEN = 1e5, 30.0
"""Fastest decay times the length of the run, and times the time between events, beyond which steps are implicit."""
LOGIC = 300
"""What the loop itself costs with each evaluation, in instructions."""
EVALUATIONS = 2 * 8
"""Evaluations of the rates in the run for each turn of the look ahead."""


@dataclass
class _Seen:
    """What was seen: points in time with states and z, the modes there, and how many turns and events it took."""

    t: list[Array]
    x: list[Array]
    z: list[Array]
    quad: list[Array]
    m: list[Array]
    turns: int = 0
    events: int = 0


def scout(run: Run, start: Mapping[str, float] | str | None, auto: bool, compiled: bool | None, sized: bool) -> None:
    """Give the run its sizes (unless ``sized``), a method that suits it if ``auto``, and machine code if worth it."""
    seen = _looked(run, start, sized)
    span = float(run.grid[-1]) - run.t_start
    if not seen.t or not span:
        return
    method = run.method
    if auto and run.problem.eliminated and _stiff(run, seen, span):
        run.method = method = EVENTFUL["rodas"](run.problem, method.options)
        seen = _looked(run, start, sized)
    reached = float(seen.t[-1][-1]) - run.t_start if seen.t else 0.0
    if compiled is None and reached > 0:
        evaluations = int(EVALUATIONS * seen.turns * span / reached)
        fast = worth_compiling(Parts.of(run.problem).length + LOGIC, evaluations)
        run.method = type(method)(run.problem, replace(method.options, compiled=fast))


def _looked(run: Run, start: Mapping[str, float] | str | None, sized: bool) -> _Seen:
    """What is seen with the run's method, roughly; the run gets its sizes."""
    method = run.method
    assert isinstance(method, Hybrid)
    rough = type(method)(run.problem, replace(method.options, rtol=ROUGH, atol=1e-3 * ROUGH))
    rough.frozen = True
    trial = Run(run.problem, rough, run.grid, run.t_start, run.p, Sizes.ones(run.problem, run.t_start), run.limits)
    seen = _look(trial, rough, start)
    if seen.t and not sized:
        t, x, z, quad = (np.concatenate(seen.t), *(np.hstack(each) for each in (seen.x, seen.z, seen.quad)))
        rows = np.hstack([trial._outputs(*each) for each in zip(seen.t, seen.x, seen.z, seen.m, strict=True)])
        rows = rows[: 1 + len(run.problem.equations.outputs)]
        run.sizes = _sizes(run, History(t, x, rough.apart(z, seen.m[0])[0], quad, rows))
    return seen


def _stiff(run: Run, seen: _Seen, span: float) -> bool:
    """Whether something decays much faster than the run and its events last."""
    rate, reached = _fastest(run, seen), float(seen.t[-1][-1]) - run.t_start
    return rate * span > STIFF and rate * reached > STIFF_BETWEEN * max(seen.events, 1)


def _look(trial: Run, rough: Hybrid, start: Mapping[str, float] | str | None) -> _Seen:
    """Points of the first turns, from one smooth stretch to the next."""
    seen = _Seen([], [], [], [], [])
    edges = trial.edges(trial.limits.times)
    modes = [trial._modes(a, b) for a, b in pairwise(edges)]
    if not modes:
        return seen
    x, z = (
        start_values(trial.problem, trial.p, trial.t_start, start, modes[0]),
        trial.problem.equations.w.start[: trial.problem.sizes["z"]],
    )
    z = rough.beginning(trial.t_start, z, trial.p, start)
    quad = np.zeros((trial.problem.sizes["quad"], 1))
    for (a, b), m in zip(pairwise(edges), modes, strict=True):
        z = trial._consistent(a, x, z, m)
        left = TURNS - seen.turns
        try:
            ahead = rough.ahead(a, b, x, z, trial.p, m, trial.sizes.at(a), trial.limits.at(a), left)
        except RuntimeError:  # the run itself says why
            break
        seen.turns, seen.events = seen.turns + ahead.turns, seen.events + ahead.events
        chosen = np.unique(np.linspace(0, len(ahead.t) - 1, POINTS).astype(int))
        seen.t.append(ahead.t[chosen])
        seen.x.append(ahead.x[:, chosen])
        seen.z.append(ahead.z[:, chosen])
        seen.quad.append(quad + ahead.quad[:, chosen])
        seen.m.append(m)
        x, z, quad = ahead.x[:, -1], ahead.z[:, -1], seen.quad[-1][:, -1:]
        if ahead.t[-1] < b or seen.turns >= TURNS:
            break
    return seen


def _sizes(run: Run, history: History) -> Sizes:
    """One scale for the run, which the loop enlarges where a variable outgrows it."""
    scale = sizes(run.problem, history, run.limits.peaks).scales[-1]
    still = np.append(np.abs(history.x).max(axis=1, initial=0.0), [0.0] * (len(scale.x) - len(history.x))) == 0
    x = np.where(still & (scale.x == 1.0), UNKNOWN, scale.x)
    idle = np.abs(history.quad).max(axis=1, initial=0.0) == 0
    quad = np.where(idle & (scale.quad == 1.0), UNKNOWN, scale.quad)
    return Sizes(np.array([run.t_start]), (replace(scale, x=x, quad=quad),))


def _fastest(run: Run, seen: _Seen) -> float:
    """The fastest decay at some of the points, in 1/s, by differences."""
    n, parts = run.problem.x.numel(), Parts.of(run.problem)
    if not n or n > STIFF_STATES:
        return 0.0
    worst = 0.0
    for t, every, inner, m in zip(seen.t, seen.x, seen.z, seen.m, strict=True):
        for k in np.unique(np.linspace(0, len(t) - 1, PLACES).astype(int)).tolist():
            x, (z, full) = every[:, k], run.method.apart(inner[:, k], m)
            step = 1e-6 * np.maximum(run.sizes.at(run.t_start).x[:n], np.abs(x))
            states = np.column_stack([x[:, None] + np.diag(step), x[:, None] - np.diag(step)])
            rates = np.asarray(parts.slope(float(t[k]), states, z, run.p, full), dtype=float)[:n]
            jacobian = (rates[:, :n] - rates[:, n:]) / (2 * step)
            if np.isfinite(jacobian).all():
                values = np.linalg.eigvals(jacobian).real
                worst = max(worst, float(-values.min(initial=0.0)))
    return worst
