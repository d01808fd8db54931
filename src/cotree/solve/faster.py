"""A method that needs far fewer steps for the same results, found by trying it.

A flexible body vibrates much faster than it moves. Explicit methods follow the fastest of its vibrations, however small
it is, since longer steps would be unstable. Generalised-alpha passes over it. Whether that does any harm depends on
what vibrates: a boom that starts unstrained rings, and its forces with it; one that starts in equilibrium does not. No
rule of frequencies tells that, so the method is tried on the whole run, and named only if its results are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.solve.differences import WRONG, differences
from cotree.solve.generalised_alpha import GeneralisedAlpha
from cotree.solve.integrator import eigenvalues
from cotree.solve.run import Run
from cotree.solve.sizes import Sizes
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]

EXPLICIT = ("adams", "rk45", "rk8", "rk4")
LEAST = 10_000
"""Steps from which on a run is looked at."""
FEWER = 10
"""How many times fewer the steps must be: one of them costs about as much as three of Adams' formulas."""
FOLLOWS = 0.1
"""Average step times the fastest rate from which on it is this rate that keeps steps short."""
FINEST = 1e-8
"""The tolerance of a run that may be answered by a method of second order; a finer one asks for more digits."""
SAME = 1e-3
"""Difference of a position, as a part of its range, that leaves it the same."""
LOADED = WRONG
"""The same for a force, stress or energy, as a part of its largest value."""
RATED = 0.02
"""The same for speeds and powers, which show more of weak, fast vibrations; accelerations may differ by any part."""
FROM_ZERO = ("N", "N m", "Pa", "J", "W")
"""Units of what is compared with its largest value."""
TURNS = 1e-2
"""Part of its range by which a coordinate goes back where it counts as a vibration."""
HOPE = 4.0
"""Multiple of the step that resolves all vibrations to `SAME` with which the search begins; they are seldom all."""
COARSEST = 200
"""Fewest steps of a run."""
MANY = 20_000
"""Output times at which vibrations are counted."""
TRIES = 3
SQUARED = "/s^2"
"""How the unit of an acceleration ends."""


def faster(
    run: Run, start: Mapping[str, float] | str | None, known: Iterable[Diagnostic] = ()
) -> tuple[Diagnostic, ...]:
    """A note that names generalised-alpha, where a run of it has shown the same results in far fewer steps.

    Nothing is said where what is ``known`` of the run makes more than its accelerations doubtful.
    """
    length = float(run.times[-1][-1]) - run.t_start
    if not _open(run) or not length > 0 or any(each.grave and not _accelerated(run, each) for each in known):
        return ()
    average = length / run.steps
    found = eigenvalues(run.problem)
    fastest = 0.0 if found is None else float(np.abs(found).max(initial=0.0))
    if average * fastest < FOLLOWS:
        return ()
    step = _resolving(run, length)
    for _ in range(TRIES):
        step = _short(step)
        if step < FEWER * average:
            return ()
        try:
            tried = _tried(run, start, step)
        except (RuntimeError, SolveError, KeyboardInterrupt):  # the results are there, and stay
            return ()
        if tried.over <= 1.0:
            off, name = tried.most
            but = f"; {name} differs by up to {off:.1%} of its range" if off > WRONG else ""
            numbers = {"count": run.steps, "average": average, "fastest": fastest, "step": step, "fewer": tried.steps}
            return (diagnose("faster-method", **numbers, error=tried.error, but=but),)
        step *= min(0.5, 0.8 / float(np.sqrt(tried.over)))
    return ()


def _open(run: Run) -> bool:
    """Whether the run was long, explicit and of a model that the other method takes."""
    e = run.problem.equations
    return (
        run.steps >= LEAST
        and run.method.name in EXPLICIT
        and run.method.options.rtol >= FINEST
        and e.mechanics is not None
        and e.mechanics.elastic > 0
        and not e.eventful
        and not e.locks
        and not GeneralisedAlpha.suits(run.problem)
    )


def _accelerated(run: Run, known: Diagnostic) -> bool:
    """Whether it is an acceleration that the run has not found well enough, as those of weak, fast modes are."""
    return known.code == "inaccurate" and all(run.names.get(name, "").endswith(SQUARED) for name in known.subjects)


def _resolving(run: Run, length: float) -> float:
    """A first guess of the step: it resolves the vibrations that the coordinates show, if they are not too large."""
    e = run.problem.equations
    q = run.course()[1][: len(e.q)]
    q = q[:, :: 1 + q.shape[1] // MANY]
    spans, units = np.ptp(q, axis=1), np.array(e.q.units)
    moving = [k for k, unit in enumerate(units) if spans[k] > TURNS * spans[units == unit].max()]
    pace = np.pi * max((_turns(q[k], TURNS * spans[k]) for k in moving), default=1) / length
    # The period of a vibration is off by (step * pace)^2 / 12 of itself, and at the end by that of all vibrations.
    return min(HOPE * float(np.sqrt(12 * SAME / (pace * length))) / pace, length / COARSEST)


def _turns(values: Array, least: float) -> int:
    """How often values turn round and go back by more than ``least``, and once more."""
    bends = values[1:-1][np.diff(np.sign(np.diff(values))) != 0]
    count, sign, edge = 1, 0.0, float(values[0])
    for value in (*bends.tolist(), float(values[-1])):
        if abs(value - edge) > least and (value - edge) * sign <= 0:
            count, sign, edge = count + (sign != 0), float(np.sign(value - edge)), value
        elif (value - edge) * sign > 0:
            edge = value
    return count


def _short(step: float) -> float:
    """A step with one digit, not longer."""
    power = 10.0 ** np.floor(np.log10(step))
    return float(f"{np.floor(step / power + 1e-9) * power:.1g}")


class _Tried(NamedTuple):
    """What a run by the other method has shown; differences are parts of the results' ranges."""

    steps: int
    over: float
    """The largest difference over what is allowed."""
    error: float
    """The largest difference of positions, forces, stress and energies."""
    most: tuple[float, str]
    """The largest of all differences, and the name of that result."""


def _tried(run: Run, start: Mapping[str, float] | str | None, step: float) -> _Tried:
    """The run by generalised-alpha with a step."""
    options = replace(run.method.options, step=step, compiled=False)
    grid = run.grid[run.grid <= run.times[-1][-1]]  # an event may have ended it
    ones = Sizes.ones(run.problem, run.t_start)
    other = Run(run.problem, GeneralisedAlpha(run.problem, options), grid, run.t_start, run.p, ones, run.limits)
    if (failed := other.go(start)) is not None:
        raise failed
    names, units, off = differences(other, run, FROM_ZERO)
    most = off.max(axis=1, initial=0.0)
    accelerated = np.array([unit.endswith(SQUARED) for unit in units])
    rated = np.array([unit.endswith("/s") or unit == "W" for unit in units])
    loaded = np.array([unit in FROM_ZERO for unit in units])
    allowed = np.select([rated, loaded], [RATED, LOADED], SAME)
    over = (most / allowed)[~accelerated].max(initial=0.0)
    error = most[~accelerated & ~rated].max(initial=0.0)
    worst = int(np.argmax(most))
    return _Tried(other.steps, float(over), float(error), (float(most[worst]), names[worst]))
