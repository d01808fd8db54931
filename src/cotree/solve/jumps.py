"""Sources and drivers that must not jump: where they do, at a break of their expressions or between two breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.formulation.system import SmoothInput
from cotree.system import Diagnostic, diagnose

if TYPE_CHECKING:
    from cotree.solve.run import Run

Array = NDArray[np.float64]

SAMPLES = 2000
"""Samples of each stretch in which a jump inside of it is looked for."""
STEEP = 20.0
"""Change from one sample to the next, over the median change, that may be a jump."""
LEAST = 1e-6
"""The least jump, as a part of the largest value."""
STRETCHES = 20
"""Stretches between breaks that are looked into."""
MOST = 200
"""Places of each signal that are looked at."""
HALVES = 40
"""How often such a place is narrowed."""
AROUND = 2
"""Roundings of a time around such a place."""
SIDES = 1e-11
"""Part of a run before and after a jump that tells its two sides."""
Jump = tuple[SmoothInput, float, float, float]
"""What jumps, when, and its values before and after."""


def jumping_input(run: Run, edges: Array, modes: list[Array]) -> SolveError | None:
    """The error for an input whose rate is needed and that jumps: that would ask for an infinite variable."""
    for smooth, at, a, b in _jumps(run, edges, modes):
        if not smooth.driver:
            return SolveError(
                f"{run.problem.equations.inputs.names[smooth.index]} jumps from {a:g} to {b:g} at t = {at:g} s, but "
                f"{smooth.why}, so the jump would need {smooth.needs}",
                remedy=smooth.remedy,
            )
    return None


def lost_signal(run: Run, a: float, b: float, m: Array) -> SolveError | None:
    """The error for the first source without a finite value between two times, if there is one."""
    times = np.linspace(a, b, 11) if b > a else np.array([a])
    finite = np.isfinite(run._signals(times, m))
    if finite.all():
        return None
    when = int(np.argmin(finite.all(axis=0)))
    name = run.problem.equations.inputs.names[int(np.argmin(finite[:, when]))]
    return SolveError(
        f"{name} has no finite value at t = {times[when]:g} s",
        remedy="Change its expression; results before are kept",
    )


def with_values(run: Run, a: float, targets: Array, m: Array) -> tuple[Array, SolveError | None]:
    """The targets up to which all sources have a value, and the error to raise where one loses it."""
    finite = np.isfinite(run._signals(targets, m)).all(axis=0)
    if finite.all():
        return targets, None
    k = int(np.argmin(finite))
    return targets[:k], lost_signal(run, float(targets[k - 1]) if k else a, float(targets[k]), m)


def kinked_drivers(
    run: Run, edges: Array, modes: list[Array], every: bool = False
) -> tuple[tuple[Diagnostic, ...], frozenset[float]]:
    """A note for each driver whose speed jumps, and the times of all jumps.

    Those that runs take are looked at, or ``every`` one, as kinematics takes them.
    """
    found: dict[str, list[Jump]] = {}
    for jump in _jumps(run, edges, modes):
        part, _, what = run.problem.equations.inputs.names[jump[0].index].partition(".")
        name = jump[0].driver or (part if every and what == "speed" else "")
        if name:
            found.setdefault(name, []).append(jump)
    result = []
    for name, several in found.items():
        _, when, before, after = min(several, key=lambda jump: jump[1])
        unit = _speed_unit(run, name)
        result.append(diagnose("driver-kink", name, time=when, jump=after - before, unit=unit, count=len(several)))
    return tuple(result), frozenset(when for several in found.values() for _, when, _, _ in several)


def jumped_state(run: Run, t: float, near: float, x: Array, z: Array, before: Array, after: Array) -> Array:
    """The state after the speed of a driver has jumped: all speeds jump with it. The energy's jump is taken down."""
    had = run.stored(t - near, x, z, before)
    if run.problem.settled_well is not None:
        m = run.method.apart(z, after)[1]
        x = np.asarray(run.problem.on_constraints(t + near, x, run.p, m)[0], dtype=float).ravel()
    run.jumped[t] = run.stored(t + near, x, z, after) - had
    return x


def _speed_unit(run: Run, driver: str) -> str:
    """The unit of the speed that a driver gives: its law is a position or a speed."""
    inputs = run.problem.equations.inputs
    own = [unit for name, unit in zip(inputs.names, inputs.units, strict=True) if name.partition(".")[0] == driver]
    unit = next(filter(None, own), "")
    return unit if not unit or unit.endswith("/s") else f"{unit}/s"


def _jumps(run: Run, edges: Array, modes: list[Array]) -> Iterator[Jump]:
    """All jumps, those at breaks first."""
    smooth = run.problem.equations.smooth_inputs
    if not smooth:
        return
    peaks = run.limits.peaks if len(run.limits.peaks) else np.zeros(len(run.problem.equations.inputs))
    for at, before, after in zip(edges[1:-1], modes[:-1], modes[1:], strict=True):
        left, right = (run._signals(np.array([at]), m).ravel() for m in (before, after))
        for each in smooth:
            a, b = float(left[each.index]), float(right[each.index])
            if abs(a - b) > 1e-12 * max(abs(a), abs(b), peaks[each.index]):
                yield each, float(at), a, b
    for k, m in enumerate(modes[:STRETCHES] if len(edges) > 1 else ()):
        yield from _inside(run, smooth, float(edges[k]), float(edges[k + 1]), m)


def _inside(run: Run, smooth: tuple[SmoothInput, ...], first: float, last: float, m: Array) -> Iterator[Jump]:
    """Jumps between two breaks, as of abs(sin(t)): the change between two samples stays, however near they are."""
    times = np.linspace(first, last, SAMPLES + 1)[1:-1]
    values = run._signals(times, m)
    for each in smooth:
        own = values[each.index]
        if not np.isfinite(own).all():
            continue
        change, largest = np.abs(np.diff(own)), float(np.abs(own).max())
        steep = np.flatnonzero((change > STEEP * np.median(change)) & (change > LEAST * largest))
        steep = np.sort(steep[np.argsort(-change[steep])][:MOST])
        if not len(steep):
            continue
        a, b = _narrowed(run, each.index, times[steep], times[steep + 1], m)
        before, after = (run._signals(ends, m)[each.index] for ends in (a, b))
        for k in np.flatnonzero(np.abs(after - before) > 0.5 * change[steep]).tolist():
            yield each, float(b[k]), float(before[k]), float(after[k])


def _narrowed(run: Run, index: int, a: Array, b: Array, m: Array) -> tuple[Array, Array]:
    """Intervals halved again and again, to the side on which the signal changes more, and some rounding around them.

    Right at a jump a signal may have a value between both sides, as sign(0) has.
    """
    for _ in range(HALVES):
        middle = (a + b) / 2
        low, half, high = run._signals(np.concatenate([a, middle, b]), m)[index].reshape(3, -1)
        left = np.abs(half - low) > np.abs(high - half)
        a, b = np.where(left, a, middle), np.where(left, middle, b)
    around = AROUND * np.spacing(np.maximum(np.abs(a), np.abs(b)))
    return a - around, b + around
