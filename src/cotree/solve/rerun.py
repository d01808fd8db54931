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
from cotree.solve.growth import carried, rates, settled
from cotree.solve.integrator import Integrator
from cotree.solve.limits import FINE, WIDE
from cotree.solve.narrow import At, Feature, bursts, features
from cotree.solve.run import Run
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]
Course = tuple[Array, Array, Array]
"""Times, states and algebraic variables of a run."""

FINEST = 1e-13
"""The finest tolerance of a second run."""
FINER = 30.0
"""How much finer the tolerance of the second run is; a fixed step is halved."""
DEARER, FEWEST_STEPS = 5, 1000
"""How many times the steps of a run a finer one may take, and how many in any case."""
PLACES = 200
"""Output times that tell the ranges of states and rates, and how errors grow."""
SIGNLESS = ".orientation.e"
"""Euler parameters, which are not compared: with all signs turned they are the same rotation."""
INTERVALS = 6
"""Intervals of the output grid that are gone over again."""
SHORT = 1e-9
"""Part of the run below which an interval is rounding, as where an event has cut it."""
SUSPECT = 2e-3
"""Sum of the errors of all intervals, as a part of a state's range, from which on the whole run is made again."""
WRONG = 4e-3
"""Difference between both runs, as a part of a result's range, that is worth a warning."""
SMALL = 1e-2
"""Least range of a result, as a part of the largest with the same unit."""
FEWEST = 40
"""Times from which on they show the path of the motion; where there are fewer output times, more are looked at."""
LONG = 5.0
"""Average steps up to which a force that acts for so long may have been stepped over."""
ROUNDED = 1e-9
"""Least range of a result, as a part of its largest value, of a turn, or of the motion: what is smaller is rounding."""
HELD = 1e-14
"""Rounding of forces that hold each other, as a part of the largest."""
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
    spans = _spans(from_zero, run.problem.equations.state_units, _least(run))
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


def _spans(values: Array, units: Sequence[str], least: Mapping[str, float]) -> Array:
    """The range of each row, or a small part of the largest with the same unit, and more than rounding."""
    own, sizes = np.ptp(values, axis=1), np.abs(values).max(axis=1, initial=0.0)
    largest: dict[str, float] = {}
    for unit, span, size in zip(units, own.tolist(), sizes.tolist(), strict=True):
        largest[unit] = max(largest.get(unit, 0.0), SMALL * span, ROUNDED * size, least.get(unit, 0.0))
    spans = np.maximum(own, np.array([largest[unit] for unit in units]))
    return np.where(spans > 0, spans, np.inf)


def _least(run: Run) -> dict[str, float]:
    """What may be rounding, by unit: small parts of a turn, of the extent and the energy of a mechanism.

    What is held at rest moves by the rounding of the forces that hold it.
    """
    e = run.problem.equations
    if e.mechanics is None:
        return {}
    time, extent, rows = float(run.grid[-1]) - run.t_start or 1.0, run.extent(), np.hstack(run.rows)
    energy = float(np.abs(rows[0]).max(initial=0.0))
    forces = rows[[1 + k for k, each in enumerate(e.outputs.values()) if each.unit == "N"]]
    mass = float(run.p[[name.endswith(".mass") for name in e.p.names]].sum())
    push = HELD * float(np.abs(forces[np.isfinite(forces)]).max(initial=0.0))
    shake = push / mass if mass > 0 else 0.0
    sizes = {"": 1.0, "rad": 1.0, "m": extent, "N m": energy, "N": energy / extent, "J": energy, "W": energy / time}
    rates = {f"{unit}{per}": sizes[unit] / time**k for unit in ("rad", "m") for k, per in ((1, "/s"), (2, "/s^2"))}
    held = {"m": shake * time**2, "m/s": shake * time, "m/s^2": shake, "N": push, "N m": push * extent}
    held |= {"J": push * extent, "W": push * extent / time}
    return {unit: ROUNDED * size + held.get(unit, 0.0) for unit, size in (sizes | rates).items()}


# -- how accurate it is ------------------------------------------------------------------------------------------------


def inaccurate(run: Run, start: Mapping[str, float] | str | None) -> tuple[Diagnostic, ...]:
    """A warning where a finer run gives other results."""
    if any(each.call is not None for each in run.problem.equations.samples):  # a user's function may count its calls
        return ()
    finer = _finer(run.method)
    try:
        return () if _suspicion(run, finer) <= SUSPECT else _compared(run, finer.twin(), start)
    except _TooLong:
        return (diagnose("accuracy-unchecked", why="too rough to be made again more finely"),)
    except KeyboardInterrupt:  # the results are there, and stay
        return (diagnose("accuracy-unchecked", why="interrupted while it was checked"),)
    except (RuntimeError, SolveError):  # a finer run may fail where this one did not
        return ()


def unchecked(run: Run) -> tuple[Diagnostic, ...]:
    """A note on a resumed run: only whole ones are looked at again."""
    return (diagnose("accuracy-unchecked", why="resumed"),)


def _finer(method: Integrator) -> Integrator:
    """The same method with a finer tolerance or step."""
    options = method.options
    if options.step is not None:
        return type(method)(method.problem, replace(options, step=options.step / 2))
    rtol = max(options.rtol / FINER, FINEST)
    return type(method)(method.problem, replace(options, rtol=rtol, atol=options.atol * rtol / options.rtol))


def _suspicion(run: Run, finer: Integrator) -> float:
    """The error that the run may have, as a part of the states' ranges: errors of intervals, and how they grow."""
    course = times, states, _ = run.course()
    count, length = len(times) - 1, float(times[-1] - times[0]) if len(times) else 0.0
    if not len(states) or count < 1:
        return 0.0
    breaks = run.edges(np.zeros(0))
    begins = [
        k
        for k in np.unique(np.linspace(0, count - 1, min(INTERVALS, count)).astype(int)).tolist()
        if times[k + 1] - times[k] >= SHORT * length and not ((breaks > times[k]) & (breaks < times[k + 1])).any()
    ]
    if not begins:
        return np.inf
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
    units, least, used = run.problem.equations.state_units, _least(run), float((times[ends] - times[begins]).sum())
    spans = _spans(x, units, least)
    suspicion = carried(run, times[places], x, spans, np.abs(exact - own).sum(axis=1) / used)
    if run.problem.sizes["z"] or run.problem.equations.eventful:
        return suspicion
    course_of_rates = length * rates(run, times[places], x)
    off = np.abs(rates(run, times[ends], exact) - rates(run, times[ends], own)).sum(axis=1) * length**2 / used
    late = off[: len(run.problem.equations.q)] / 2 / spans[: len(run.problem.equations.q)]  # speeds that stay wrong
    fast = off / _spans(course_of_rates, units, least)
    return max(suspicion, float(fast.max()), float(late.max(initial=0.0)))


class _TooLong(RuntimeError):
    """A finer run takes many times as long, as one that follows rounding does."""


def _compared(run: Run, finer: Integrator, start: Mapping[str, float] | str | None) -> tuple[Diagnostic, ...]:
    """The whole run again, more finely, and what differs."""
    other = Run(run.problem, finer, run.grid, run.t_start, run.p, run.sizes, run.limits)

    def watched(_: float) -> None:
        if other.steps > DEARER * run.steps + FEWEST_STEPS:
            raise _TooLong

    other.progress = watched
    if other.go(start) is not None:
        return ()
    rows, finer_rows = (np.hstack(each.rows)[1:] for each in (run, other))
    count = min(rows.shape[1], finer_rows.shape[1])
    names = list(run.names)[: len(rows)]
    outputs = [*run.problem.equations.outputs][: len(rows)]
    smooth = [k for k, name in enumerate(names) if name in outputs and SIGNLESS not in name]
    if run.problem.equations.eventful:  # what switches may do so one output time later
        smooth = [k for k in smooth if names[k] in run.problem.equations.state_names]
    units = [run.names[names[k]] for k in smooth]
    own, fine = rows[smooth, :count], finer_rows[smooth, :count]
    turns = np.array([[2 * np.pi if unit == "rad" else np.inf] for unit in units])
    with np.errstate(invalid="ignore"):
        apart = np.abs(own - fine)
        apart = np.where(np.isinf(turns), apart, np.abs(apart - turns * np.round(apart / turns)))
        off = apart / _spans(fine, units, _least(run))[:, None]
    off = np.where(np.isfinite(off), off, 0.0)
    if not off.max(initial=0.0) > WRONG:
        return ()
    row, when = np.unravel_index(int(np.argmax(off)), off.shape)
    options = finer.options
    fixed = options.step is not None
    how = f"half the step, {options.step:.3g} s," if fixed else f"rtol = {options.rtol:.1g}"
    time = float(np.concatenate(run.times)[when])
    return (diagnose("inaccurate", names[smooth[int(row)]], error=float(off.max()), time=time, how=how),)
