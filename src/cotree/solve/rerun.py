"""Parts of a run made once more, more finely: was anything stepped over, and were tolerances fine enough?

An energy balance tells where integration loses or gains energy. It does not tell that a narrow force was stepped over,
nor that an oscillation is late. Both are seen by going over some intervals of the output grid again, and, where these
are suspect, over the whole run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.maths.symbolic import substitute
from cotree.solve.differences import largest_difference, least_of, spans_of
from cotree.solve.growth import carried, rates, settled
from cotree.solve.integrator import Integrator
from cotree.solve.limits import FINE, WIDE
from cotree.solve.narrow import At, Feature, bursts, features
from cotree.solve.native import instructions
from cotree.solve.run import Run
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]
Course = tuple[Array, Array, Array]
"""Times, states and algebraic variables of a run."""

FINEST = 1e-13
"""The finest tolerance of a second run."""
FINER = 10.0
"""How much finer the tolerance of the second run is; a fixed step is halved."""
DEARER, FEWEST_STEPS = (2, 5), (300, 1000)
"""How many times the steps of a run a finer one may take, and how many in any case: without and with a suspicion."""
PLACES = 200
"""Output times that tell the ranges of states and rates, and how errors grow."""
CHEAP, EVENTFUL = 5e8, 15
"""Steps of a run, times the instructions of its equations, up to which it is made again in any case where it cannot be
told how errors grow: a few seconds. A step of methods that stop at events counts so many times."""
INTERVALS = 6
"""Intervals of the output grid that are gone over again."""
SHORT = 1e-9
"""Part of the run below which an interval is rounding, as where an event has cut it."""
SUSPECT = 2e-3
"""Sum of the errors of all intervals, as a part of a state's range, from which on the whole run is made again."""
FEWEST = 40
"""Times from which on they show the path of the motion; where there are fewer output times, more are looked at."""
LONG = 5.0
"""Average steps up to which a force that acts for so long may have been stepped over."""
MOST_FEATURES = 5
"""Narrow features that are gone over again."""
CHANGED = 2e-3
"""Change of a state by a narrow feature, as a part of its range, that is worth a warning."""


# -- what was stepped over --------------------------------------------------------------------------------------------


def stepped_over(run: Run) -> tuple[Diagnostic, ...]:
    """Pulses of sources that are shorter than fixed steps, and narrow forces along the motion that were missed."""
    step, laws = run.method.options.step, _laws(run)
    if step is not None and (pulses := [each for each in run.limits.narrow if each.width < step]):
        return tuple(
            diagnose("stepped-over", part, time=first.t, width=first.width, value=first.value)
            for part, first in {each.name.partition(".")[0]: each for each in reversed(pulses)}.items()
        )
    if not laws:
        return ()
    course = times, states, _ = run.course()
    if len(times) < FEWEST:
        return ()
    from scipy.interpolate import CubicSpline  # takes longer to load than most models take to run

    path = lru_cache(maxsize=4)(partial(_along, CubicSpline(times, states, axis=1)))
    problem, e = run.problem, run.problem.equations

    def evaluate(column: ca.SX) -> At:
        known = [e.t, problem.x, e.p.symbols, e.mode_symbols]
        function = ca.Function("parts", known, [ca.densify(e.in_time(substitute(column, *e.behind)))])

        def at(now: Array) -> Array:
            now = np.clip(now, times[0], times[-1])
            modes = problem.mode_values(now[None, :], run.p) if e.mode_symbols.numel() else np.zeros((0, len(now)))
            return np.asarray(function(now[None, :], path(now.tobytes()), run.p, modes), dtype=float)

        return at

    first, last = float(times[0]), float(times[-1])
    short = LONG * (last - first) / max(run.steps, 1)
    wide = [each for each in bursts(laws, evaluate, first, last) if 0.0 < each.width < short]
    found: dict[str, Diagnostic] = {}
    for feature in (features(laws, evaluate, first, last) + wide)[:MOST_FEATURES]:
        part = feature.name.partition(".")[0]
        if part not in found and _changes(run, course, feature):
            found[part] = diagnose("stepped-over", part, time=feature.t, width=feature.width, value=feature.value)
    return tuple(found.values())


def _along(path: Any, times: bytes) -> Array:
    """The states at some times; the same ones are asked for again and again."""
    return np.asarray(path(np.frombuffer(times)))


def _laws(run: Run) -> dict[str, ca.SX]:
    """Expressions of the motion that can be asked along a path of states."""
    e, problem = run.problem.equations, run.problem
    known = [e.t, problem.x, e.p.symbols, e.mode_symbols]
    result = {}
    for name, law in e.laws.items():
        expression = e.in_time(substitute(law, *e.behind))
        free = ca.Function("law", known, [expression], {"allow_free": True}).free_sx()
        if not free and ca.depends_on(expression, problem.x):
            result[name] = law
    return result


def _changes(run: Run, course: Course, feature: Feature) -> bool:
    """Whether short steps over a feature lead elsewhere than the run went."""
    times, states, _ = course
    begin, end = feature.t - WIDE * feature.width, feature.t + WIDE * feature.width
    k = int(np.clip(np.searchsorted(times, begin) - 1, 0, len(times) - 2))
    after = int(np.clip(np.searchsorted(times, end), k + 1, len(times) - 1))
    ends = [max(begin, float(times[k])), min(end, float(times[after])), float(times[after])]
    try:
        found = _over(run, run.method.twin(), course, k, ends, feature.width / FINE)
    except (RuntimeError, SolveError):
        return False
    from_zero = np.column_stack([states, 0 * states[:, 0]])
    spans = spans_of(from_zero, run.problem.equations.state_units, least_of(run))
    return bool((np.abs(found - states[:, after]) > CHANGED * spans).any())


def _over(
    run: Run, method: Integrator, course: Course, k: int, ends: Sequence[float], short: float | None = None
) -> Array:
    """The state at the last of some times, from the k-th on, with ``short`` steps between the first two of them."""
    times, states, algebraic = course
    t, x, z = float(times[k]), states[:, k], algebraic[:, k]
    for number, end in enumerate(ends):
        if end <= t:
            continue
        longest = run.limits.at(t) if short is None or number != 1 else min(short, run.limits.at(t))
        done = method.integrate(t, np.array([end]), x, z, run.p, run._modes(t, end), run.sizes.at(t), longest)
        t, x, z = end, done.x[:, -1], done.z[:, -1]
    return x


# -- how accurate it is ------------------------------------------------------------------------------------------------


def inaccurate(run: Run, start: Mapping[str, float] | str | None) -> tuple[Diagnostic, ...]:
    """A warning where a finer run gives other results, or a note where it is not known whether one would."""
    if any(each.call is not None for each in run.problem.equations.samples):  # a user's function may count its calls
        return _not_checked("a second run would call sampled Python functions again")
    finer = _finer(run.method)
    try:
        suspicion, grown = _suspicion(run, finer)
        if suspicion <= SUSPECT and (grown or not run.steps):
            return ()
        work = run.steps * instructions(run.problem.dae) * (EVENTFUL if run.method.eventful else 1)
        if suspicion <= SUSPECT and work > CHEAP:
            return _not_checked("a finer run would be too long")
        return _compared(run, finer.twin(), start, suspicion > SUSPECT)
    except _TooLong:
        return _not_checked("a finer run takes many times the steps of this one")
    except KeyboardInterrupt:  # the results are there, and stay
        return _not_checked("the check was interrupted")
    except (RuntimeError, SolveError):  # a finer run may fail where this one did not
        return _not_checked("a finer run fails")


def unchecked(run: Run) -> tuple[Diagnostic, ...]:
    """A note on a resumed run: only whole ones are looked at again."""
    return _not_checked("the run was resumed", " and whether forces were stepped over")


def _not_checked(why: str, further: str = "") -> tuple[Diagnostic, ...]:
    return (diagnose("accuracy-unchecked", why=why, further=further),)


def _finer(method: Integrator) -> Integrator:
    """The same method with a finer tolerance or step."""
    options = method.options
    if options.step is not None:
        return type(method)(method.problem, replace(options, step=options.step / 2))
    rtol = max(options.rtol / FINER, FINEST)
    return type(method)(method.problem, replace(options, rtol=rtol, atol=options.atol * rtol / options.rtol))


def _suspicion(run: Run, finer: Integrator) -> tuple[float, bool]:
    """The error that the run may have, as a part of the states' ranges, and whether it is known how errors grow."""
    course = times, states, _ = run.course()
    count, length = len(times) - 1, float(times[-1] - times[0]) if len(times) else 0.0
    if not len(states) or count < 1:
        return 0.0, True
    breaks = run.edges(np.zeros(0))
    begins = [
        k
        for k in np.unique(np.linspace(0, count - 1, min(INTERVALS, count)).astype(int)).tolist()
        if times[k + 1] - times[k] >= SHORT * length and not ((breaks > times[k]) & (breaks < times[k + 1])).any()
    ]
    if not begins:
        return np.inf, False
    ends = [k + 1 for k in begins]
    found = [_over(run, finer.twin() if finer.goes_on else finer, course, k, [float(times[k + 1])]) for k in begins]
    places = np.unique(np.linspace(0, count, min(PLACES, count + 1)).astype(int))
    x, own, exact = (
        settled(run, t, each)
        for t, each in (
            (times[places], states[:, places]),
            (times[ends], states[:, ends]),
            (times[ends], np.array(found).T),
        )
    )
    units, least, used = run.problem.equations.state_units, least_of(run), float((times[ends] - times[begins]).sum())
    spans = spans_of(x, units, least)
    suspicion, grown = carried(run, times[places], x, spans, np.abs(exact - own).sum(axis=1) / used)
    if run.problem.sizes["z"] or run.problem.equations.eventful:
        return suspicion, grown
    course_of_rates = length * rates(run, times[places], x)
    off = np.abs(rates(run, times[ends], exact) - rates(run, times[ends], own)).sum(axis=1) * length**2 / used
    late = off[: len(run.problem.equations.q)] / 2 / spans[: len(run.problem.equations.q)]  # speeds that stay wrong
    fast = off / spans_of(course_of_rates, units, least)
    return max(suspicion, float(fast.max()), float(late.max(initial=0.0))), grown


class _TooLong(RuntimeError):
    """A finer run takes many times as long, as one that follows rounding does."""


def _compared(
    run: Run, finer: Integrator, start: Mapping[str, float] | str | None, suspect: bool
) -> tuple[Diagnostic, ...]:
    """The whole run again, more finely, and what differs."""
    grid = run.grid[run.grid <= run.times[-1][-1]]  # an event may have ended it
    other = Run(run.problem, finer, grid, run.t_start, run.p, run.sizes, run.limits)

    most = DEARER[suspect] * run.steps + FEWEST_STEPS[suspect]

    def watched(_: float) -> None:
        if other.steps > most:
            raise _TooLong

    other.progress = watched
    if (failed := other.go(start)) is not None:
        raise failed
    found = largest_difference(run, other)
    if found is None:
        return ()
    name, error, time = found
    options = finer.options
    fixed = options.step is not None
    how = f"half the step, {options.step:.3g} s," if fixed else f"rtol = {options.rtol:.1g}"
    return (diagnose("inaccurate", name, error=error, time=time, how=how),)
