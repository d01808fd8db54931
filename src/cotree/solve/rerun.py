"""Parts of a run made once more, more finely: was anything stepped over, and were tolerances fine enough?

An energy balance tells where integration loses or gains energy. It does not tell that a narrow force was stepped over,
nor that an oscillation is late. Both are seen by going over some intervals of the output grid again, and, where these
are suspect, over the whole run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.solve.integrator import Integrator
from cotree.solve.limits import FINE, WIDE
from cotree.solve.narrow import At, Feature, bursts, features
from cotree.solve.run import Run
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]

COARSE = 1e-7
"""Relative tolerance from which on a run is looked at again; finer ones have errors far below what shows."""
FINER = 30.0
"""How much finer the tolerance of the second run is; a fixed step is halved."""
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
"""Output times from which on they show the path of the motion."""
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
    if not laws or not run.kept:
        return ()
    times, states = np.concatenate(run.times), np.hstack([x for x, _ in run.kept])
    if len(times) < FEWEST or states.shape[1] != len(times) or not (np.diff(times) > 0).all():
        return ()
    from scipy.interpolate import CubicSpline  # takes longer to load than most models take to run

    path = CubicSpline(times, states, axis=1)
    problem, e = run.problem, run.problem.equations

    def evaluate(column: ca.SX) -> At:
        function = ca.Function("parts", [e.t, problem.x, e.p.symbols, e.mode_symbols], [ca.densify(column)])

        def at(now: Array) -> Array:
            now = np.clip(now, times[0], times[-1])
            modes = problem.mode_values(now[None, :], run.p) if e.mode_symbols.numel() else np.zeros((0, len(now)))
            return np.asarray(function(now[None, :], path(now), run.p, modes), dtype=float)

        return at

    first, last = float(times[0]), float(times[-1])
    short = LONG * (last - first) / max(run.steps, 1)
    wide = [each for each in bursts(laws, evaluate, first, last) if 0.0 < each.width < short]
    found: dict[str, Diagnostic] = {}
    for feature in (features(laws, evaluate, first, last) + wide)[:MOST_FEATURES]:
        part = feature.name.partition(".")[0]
        if part not in found and _changes(run, times, states, feature):
            found[part] = diagnose("stepped-over", part, time=feature.t, width=feature.width, value=feature.value)
    return tuple(found.values())


def _laws(run: Run) -> dict[str, ca.SX]:
    """Expressions of the motion that can be asked along a path of states."""
    e, problem = run.problem.equations, run.problem
    known = [e.t, problem.x, e.p.symbols, e.mode_symbols]
    result = {}
    for name, law in e.laws.items():
        expression = e.in_time(law)
        free = ca.Function("law", known, [expression], {"allow_free": True}).free_sx()
        if not free and ca.depends_on(expression, problem.x):
            result[name] = expression
    return result


def _changes(run: Run, times: Array, states: Array, feature: Feature) -> bool:
    """Whether short steps over a feature lead elsewhere than the run went."""
    begin, end = feature.t - WIDE * feature.width, feature.t + WIDE * feature.width
    k = int(np.clip(np.searchsorted(times, begin) - 1, 0, len(times) - 2))
    after = int(np.clip(np.searchsorted(times, end), k + 1, len(times) - 1))
    ends = [max(begin, float(times[k])), min(end, float(times[after])), float(times[after])]
    try:
        found = _over(run, run.method.twin(), k, ends, feature.width / FINE)
    except (RuntimeError, SolveError):
        return False
    spans = _spans(np.column_stack([states, 0 * states[:, 0]]), run.problem.equations.state_units)  # from zero on
    return bool((np.abs(found - states[:, after]) > CHANGED * spans).any())


def _over(run: Run, method: Integrator, k: int, ends: Sequence[float], short: float | None = None) -> Array:
    """The state at the last of some times, from an output time on; between the first two ``short`` steps are made."""
    t = float(np.concatenate(run.times)[k])
    x, z = (np.hstack([each[part] for each in run.kept])[:, k] for part in (0, 1))
    for number, end in enumerate(ends):
        if end <= t:
            continue
        longest = run.limits.at(t) if short is None or number != 1 else min(short, run.limits.at(t))
        done = method.integrate(t, np.array([end]), x, z, run.p, run._modes(t, end), run.sizes.at(t), longest)
        t, x, z = end, done.x[:, -1], done.z[:, -1]
    return x


def _spans(values: Array, units: Sequence[str]) -> Array:
    """The range of each row, or a small part of the largest with the same unit."""
    own = np.ptp(values, axis=1)
    largest: dict[str, float] = {}
    for unit, span in zip(units, own.tolist(), strict=True):
        largest[unit] = max(largest.get(unit, 0.0), span)
    least = np.array([SMALL * largest[unit] for unit in units])
    spans = np.maximum(own, least)
    return np.where(spans > 0, spans, np.inf)


# -- how accurate it is ------------------------------------------------------------------------------------------------


def inaccurate(run: Run, start: Mapping[str, float] | str | None) -> tuple[Diagnostic, ...]:
    """A warning where a finer run gives other results."""
    finer = _finer(run.method)
    if any(each.call is not None for each in run.problem.equations.samples):  # a user's function may count its calls
        return ()
    if finer is None or len(run.kept) == 0 or sum(map(len, run.times)) < 2:
        return ()
    try:
        return () if _suspicion(run, finer) <= SUSPECT else _compared(run, finer.twin(), start)
    except (RuntimeError, SolveError, KeyboardInterrupt):  # a finer run may fail where this one did not
        return ()


def unchecked(run: Run) -> tuple[Diagnostic, ...]:
    """A note on a resumed run that would have been looked at again as a whole one."""
    return () if _finer(run.method) is None and not _laws(run) else (diagnose("accuracy-unchecked"),)


def _finer(method: Integrator) -> Integrator | None:
    """The same method with a finer tolerance or step; None where that would tell nothing new."""
    options = method.options
    if options.step is not None:
        return type(method)(method.problem, replace(options, step=options.step / 2))
    if options.rtol <= COARSE:
        return None
    return type(method)(method.problem, replace(options, rtol=options.rtol / FINER, atol=options.atol / FINER))


def _suspicion(run: Run, finer: Integrator) -> float:
    """The errors of some intervals, taken for those of all, as a part of the states' ranges."""
    times, states = np.concatenate(run.times), np.hstack([x for x, _ in run.kept])
    count = len(times) - 1
    if not len(states):
        return 0.0
    chosen = np.unique(np.linspace(0, count - 1, min(INTERVALS, count)).astype(int))
    spans = _spans(states, run.problem.equations.state_units)
    breaks = run.edges(np.zeros(0))
    total, used = np.zeros(len(states)), 0
    for k in chosen.tolist():
        a, b = float(times[k]), float(times[k + 1])
        if b - a < SHORT * (times[-1] - times[0]) or ((breaks > a) & (breaks < b)).any():
            continue
        total += np.abs(_over(run, finer.twin(), k, [b]) - states[:, k + 1])
        used += 1
    return float((total * count / used / spans).max()) if used else np.inf


def _compared(run: Run, finer: Integrator, start: Mapping[str, float] | str | None) -> tuple[Diagnostic, ...]:
    """The whole run again, more finely, and what differs."""
    other = Run(run.problem, finer, run.grid, run.t_start, run.p, run.sizes, run.limits)
    if other.go(start) is not None:
        return ()
    rows, finer_rows = (np.hstack(each.rows)[1:] for each in (run, other))
    count = min(rows.shape[1], finer_rows.shape[1])
    names = list(run.names)[: len(rows)]
    outputs = [*run.problem.equations.outputs][: len(rows)]
    smooth = [k for k, name in enumerate(names) if name in outputs]
    if run.problem.equations.eventful:  # what switches may do so one output time later
        smooth = [k for k in smooth if names[k] in run.problem.equations.state_names]
    units = [run.names[names[k]] for k in smooth]
    own, fine = rows[smooth, :count], finer_rows[smooth, :count]
    with np.errstate(invalid="ignore"):
        off = np.abs(own - fine) / _spans(fine, units)[:, None]
    off = np.where(np.isfinite(off), off, 0.0)
    if not off.max(initial=0.0) > WRONG:
        return ()
    row, when = np.unravel_index(int(np.argmax(off)), off.shape)
    options = finer.options
    fixed = options.step is not None
    how = f"half the step, {options.step:.3g} s," if fixed else f"rtol = {options.rtol:.1g}"
    time = float(np.concatenate(run.times)[when])
    return (diagnose("inaccurate", names[smooth[int(row)]], error=float(off.max()), time=time, how=how),)
