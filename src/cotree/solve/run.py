"""One run over smooth stretches between break points, with all that was computed kept whatever happens."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError, SolveError, listing, nearest
from cotree.formulation.system import turns_name
from cotree.results import EnergyAudit, Solution, Statistics
from cotree.solve.consistent import algebraic_variables, operating_point, unfixed
from cotree.solve.doubts import doubts, lost_output
from cotree.solve.events import Watch
from cotree.solve.integrator import Integrator, Stretch
from cotree.solve.limits import Limits, step_limits
from cotree.solve.problem import Problem
from cotree.solve.sizes import History, Sizes

Array = NDArray[np.float64]

MOST_LIMITS = 16
"""Limits that are kept with one set of equations."""
Progress = Callable[[float], None]
"""Called with the fraction of model time that is done."""

PIECE_SECONDS = 0.5


@dataclass
class Run:
    """The state of one run: what is done, and the rows of results so far."""

    problem: Problem
    method: Integrator
    grid: Array
    t_start: float
    p: Array
    sizes: Sizes
    limits: Limits
    progress: Progress | None = None
    times: list[Array] = field(default_factory=list)
    rows: list[Array] = field(default_factory=list)
    integrals: list[Array] = field(default_factory=list)
    steps: int = 0
    evaluations: int = 0
    stretches: int = 0
    start_energy: float = 0.0
    interrupted: bool = False
    kept: list[tuple[Array, Array]] = field(default_factory=list)
    """States and algebraic variables at the output times."""
    watch: Watch | None = None
    """Events that are looked for, one of which may end the run."""

    def go(self, start: Mapping[str, float] | str | None) -> SolveError | None:
        """Integrate everything; a failure or interruption after the start is returned, not raised."""
        edges = self.edges(np.concatenate([self.sizes.times, self.limits.times]))
        modes = [self._modes(a, b) for a, b in pairwise(edges)] or [self._modes(*edges[[0, 0]])]
        self._check_jumps(edges, modes)
        if (lost := self._lost_signal(self.t_start, self.t_start, modes[0])) is not None:
            raise lost
        x = self._start_values(start, modes[0])
        z = self.problem.equations.w.start
        quad = np.zeros(self.problem.sizes["quad"])
        z = algebraic_variables(self.problem, self.t_start, x, z, self.p, modes[0])
        self.start_energy = float(self._outputs(np.array([self.t_start]), x[:, None], z[:, None], modes[0])[0, 0])
        if len(edges) == 1:  # only the start was asked for
            self._keep(self.grid, x[:, None], z[:, None], quad[:, None], modes[0])
            return None
        for k, m in enumerate(modes):
            self.stretches += 1
            last = k == len(modes) - 1
            try:
                x, z, quad = self._stretch(edges[k], edges[k + 1], last, x, z, quad, m)
            except SolveError as error:
                return error
            except StopIteration:
                return None
            except KeyboardInterrupt:
                self.interrupted = True
                return SolveError(
                    f"interrupted at t = {self._reached():g} s", remedy="The results up to there are kept"
                )
        return None

    def find_limits(self, max_step: float | None) -> Limits:
        """Longest steps, from dense samples of the sources; kept for runs over the same time with the same values."""
        e = self.problem.equations
        if e.mechanics is not None and max_step is None and not e.mode_symbols.numel() and e.steady_signals:
            return Limits.none(self.t_start, len(e.inputs))
        kept: dict[Any, Limits] = e.__dict__.setdefault("_limits", {})
        key = (self.p.tobytes(), self.t_start, float(self.grid[-1]), max_step)
        if key not in kept:
            if len(kept) >= MOST_LIMITS:
                kept.clear()
            kept[key] = self._sampled_limits(max_step)
        return kept[key]

    def _sampled_limits(self, max_step: float | None) -> Limits:
        e = self.problem.equations
        edges = self.edges(np.zeros(0))
        modes = [self._modes(a, b) for a, b in pairwise(edges)]
        inputs = len(e.inputs)
        straight = e.mechanics is not None and e.straight_signals
        return step_limits(lambda times, k: self._signals(times, modes[k]), edges, inputs, max_step, straight)

    def edges(self, more: Array) -> Array:
        """Start, break points of the modes and ``more`` inside the run, and end."""
        edges = np.concatenate([[self.t_start], self._breaks(more), [self.grid[-1]]])
        return edges[:-1] if edges[-1] == edges[-2] else edges

    def _breaks(self, more: Array) -> Array:
        """Break points inside the run; those closer than rounding count once."""
        end = float(self.grid[-1])
        found = [mode.times(self.p, self.t_start, end) for mode in self.problem.equations.modes]
        breaks = np.unique(np.concatenate([more, *found]))
        near = 1e-12 * max(abs(end), abs(self.t_start))
        breaks = np.unique(_snapped(breaks, self.grid, near))
        keep = np.diff(breaks, prepend=-np.inf) > near
        return breaks[keep & (breaks > self.t_start + near) & (breaks < end - near)]

    def _modes(self, a: float, b: float) -> Array:
        return np.asarray(self.problem.mode_values((a + b) / 2, self.p), dtype=float).ravel()

    def _check_jumps(self, edges: Array, modes: list[Array]) -> None:
        """An input whose rate is needed must not jump: that would ask for an infinite through or across variable."""
        e = self.problem.equations
        for at, before, after in zip(edges[1:-1], modes[:-1], modes[1:], strict=True) if e.smooth_inputs else ():
            left, right = (self._signals(np.array([at]), m).ravel() for m in (before, after))
            for smooth in e.smooth_inputs:
                a, b = left[smooth.index], right[smooth.index]
                if abs(a - b) > 1e-12 * max(1.0, abs(a), abs(b)):
                    raise SolveError(
                        f"{e.inputs.names[smooth.index]} jumps from {a:g} to {b:g} at t = {at:g} s, but {smooth.why}, "
                        f"so the jump would need {smooth.needs}",
                        remedy=smooth.remedy,
                    )

    def _start_values(self, start: Mapping[str, float] | str | None, m: Array) -> Array:
        e = self.problem.equations
        if isinstance(start, str):
            if start != "steady":
                raise SolveError(f"start = '{start}'", expected="'steady', or start values by name")
            return operating_point(self.problem, self.t_start, self.p, m)[0]
        names = e.q.names + e.u.names
        if start is not None and not isinstance(start, Mapping):
            raise ModelError(f"start is {start!r}", expected="'steady', or start values by name")
        if e.assemble is not None and not start:
            return np.concatenate(e.assemble(self.p, self.t_start))
        x = np.concatenate([e.q.start, e.start(self.p, self.t_start) if e.start else e.u.start])
        for name, value in (start or {}).items():
            if name in e.start_names:
                continue
            if name not in names:
                known = f"one of {listing(names)}" if names else "nothing: the model has no states"
                raise ModelError(f"'{name}' is not a state", expected=known, remedy=nearest(str(name), names))
            if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)) or not np.isfinite(value):
                raise ModelError(f"the start value of {name} is {value!r}", expected="a finite number")
            x[names.index(name)] = value
        if e.assemble is not None:
            return np.concatenate(e.assemble(self.p, self.t_start, start))
        return x

    def _stretch(
        self, a: float, b: float, last: bool, x: Array, z: Array, quad: Array, m: Array
    ) -> tuple[Array, Array, Array]:
        """One smooth stretch [a, b), or [a, b] at the end; returns the state at b."""
        z = algebraic_variables(self.problem, a, x, z, self.p, m)
        inside = self.grid[(self.grid >= a) & ((self.grid <= b) if last else (self.grid < b))]
        if len(inside) and inside[0] == a:
            self._keep(inside[:1], x[:, None], z[:, None], quad[:, None], m)
            inside = inside[1:]
        targets = inside if last and len(inside) else np.append(inside, b)
        targets, lost = self._with_values(a, targets, m)
        t = a
        for first, after in _Pieces(len(targets), stopping=self.watch is not None and self.watch.stopping):
            x, z, quad = self._advance(t, targets[first:after], x, z, quad, m, len(inside) - first)
            t = float(targets[after - 1])
            if self.progress is not None:
                self.progress((t - self.t_start) / (self.grid[-1] - self.t_start))
            if self.watch is not None and self.watch.stops(self):
                raise StopIteration
        if lost is not None:
            raise lost
        return x, z, quad

    def _with_values(self, a: float, targets: Array, m: Array) -> tuple[Array, SolveError | None]:
        """The targets up to which all sources have a value, and the error to raise where one loses it."""
        finite = np.isfinite(self._signals(targets, m)).all(axis=0)
        if finite.all():
            return targets, None
        k = int(np.argmin(finite))
        return targets[:k], self._lost_signal(float(targets[k - 1]) if k else a, float(targets[k]), m)

    def _signals(self, times: Array, m: Array) -> Array:
        """Source signals, one column for each time; they depend on nothing else."""
        e = self.problem.equations
        idle = np.zeros((self.problem.x.numel(), 1)), np.zeros((len(e.w), 1))
        values = self.problem.signals(times[None, :], *idle, self.p, m)
        return np.asarray(values, dtype=float).reshape(len(e.inputs), len(times))

    def _lost_signal(self, a: float, b: float, m: Array) -> SolveError | None:
        """The error for the first source without a finite value between two times, if there is one."""
        times = np.linspace(a, b, 11) if b > a else np.array([a])
        finite = np.isfinite(self._signals(times, m))
        if finite.all():
            return None
        when = int(np.argmin(finite.all(axis=0)))
        name = self.problem.equations.inputs.names[int(np.argmin(finite[:, when]))]
        return SolveError(
            f"{name} has no finite value at t = {times[when]:g} s",
            remedy="Change its expression; results before are kept",
        )

    def _advance(
        self, t: float, targets: Array, x: Array, z: Array, quad: Array, m: Array, wanted: int
    ) -> tuple[Array, Array, Array]:
        """Integrate to all targets; where that fails, halve the task until the failing interval is found."""
        try:
            done = self.method.integrate(t, targets, x, z, self.p, m, self.sizes.at(t), self.limits.at(t))
        except RuntimeError as reason:
            if len(targets) > 1:
                half = len(targets) // 2
                x, z, quad = self._advance(t, targets[:half], x, z, quad, m, wanted)
                return self._advance(float(targets[half - 1]), targets[half:], x, z, quad, m, wanted - half)
            even = self._evenly(t, targets, x, z, m)
            if even is None:
                raise self._failure(t, float(targets[0]), x, z, m, str(reason)) from None
            done = even
        self.steps += done.steps
        self.evaluations += done.evaluations
        total = quad[:, None] + done.quad
        shown = min(wanted, len(targets))  # the end of a stretch need not be an output time
        if shown > 0:
            self._keep(targets[:shown], done.x[:, :shown], done.z[:, :shown], total[:, :shown], m)
        return done.x[:, -1], done.z[:, -1], total[:, -1]

    def _evenly(self, t: float, targets: Array, x: Array, z: Array, m: Array) -> Stretch | None:
        """The same with even steps as long as those so far, where a method cannot judge its error (singular places)."""
        step = (t - self.t_start) / self.steps if self.steps else np.inf
        method = self.method.with_step(min(step, float(targets[-1] - t) / 4))
        if method is None:
            return None
        try:
            return method.integrate(t, targets, x, z, self.p, m, self.sizes.at(t), self.limits.at(t))
        except RuntimeError:
            return None

    def _keep(self, times: Array, x: Array, z: Array, quad: Array, m: Array) -> None:
        self.times.append(times)
        self.rows.append(self._outputs(times, x, z, m))
        self.integrals.append(quad)
        self.kept.append((x, z))

    def _outputs(self, times: Array, x: Array, z: Array, m: Array) -> Array:
        """Stored energy and all outputs, one column for each time, with the algebraic variables polished."""
        problem, t = self.problem, times[None, :]
        w: Any = z
        if problem.settled_well is not None and self.method.settles:
            on: Any = problem.settled_well(t, x, self.p, m)
            x, w = on
        elif problem.settled_well is not None:
            n = len(problem.equations.q)
            w = ca.vertcat(*problem.mechanism.accelerations(t, x[:n], x[n:], self.p, m))
        elif problem.eliminated and len(problem.equations.w):
            w = problem.linear_w(t, x, self.p, m, problem.table(self.p, m))
        elif len(z):
            with suppress(RuntimeError):  # where the matrix has no inverse, the integrator's values have to do
                w = problem.polished(t, x, z, self.p, m)
        return np.asarray(problem.outputs(t, x, w, self.p, m), dtype=float).reshape(-1, len(times))

    def history(self) -> History:
        """Everything at the output times."""
        x, z = (np.hstack(parts) for parts in zip(*self.kept, strict=True))
        return History(np.concatenate(self.times), x, z, np.hstack(self.integrals), np.hstack(self.rows))

    def _count_turns(self, values: dict[str, Array]) -> None:
        """Full turns of angles that are known up to them only, from the integrals of their rates."""
        e = self.problem.equations
        near = e.near_angles()
        if not near:
            return
        starts = ca.Function("near", [e.p.symbols], [ca.vertcat(*near.values())])(self.p)
        for name, start in zip(near, np.asarray(starts, dtype=float).ravel(), strict=True):
            count = values.pop(turns_name(name))
            angle = values[name]
            first = start + _wrapped(angle[0] - start) - count[0]
            values[name] = first + count + _wrapped(angle - first - count)

    def _reached(self) -> float:
        return float(self.times[-1][-1]) if self.times else self.t_start

    def _failure(self, t: float, target: float, x: Array, z: Array, m: Array, reason: str) -> SolveError:
        """Say when the integration stopped, and which part is to blame as far as can be seen."""
        if (lost := self._lost_signal(t, target, m) or lost_output(self, t, target, x, m)) is not None:
            return lost
        if (name := unfixed(self.problem, t, x, z, self.p, m)) is not None:
            return SolveError(
                f"{self.method.name} gave up at t = {t:g} s, where the equations do not fix {name}: the slope of its "
                "law is zero there",
                remedy="Add a term with a slope to the law, such as a small linear one, or start elsewhere; results "
                "before are kept",
            )
        return SolveError(
            f"{self.method.name} gave up between t = {t:g} and {target:g} s ({_short(reason)}); "
            + self._suspect(t, x, z, m),
            remedy="Look at the parts around it, loosen rtol, or raise max_steps; results before are kept",
        )

    def _suspect(self, t: float, x: Array, z: Array, m: Array) -> str:
        """The state that changes fastest; in a network without states, the algebraic variable that is least settled."""
        problem, e = self.problem, self.problem.equations
        if len(x):
            w = problem.w_of(t, x, z, self.p, m)
            size = np.abs(np.asarray(problem.rates(t, x, w, self.p, m), dtype=float).ravel()) / self.sizes.at(t).x
            names = e.q.names + e.u.names
            return f"the fastest state there is {names[int(np.argmax(np.where(np.isfinite(size), size, np.inf)))]}"
        if len(z):
            change = np.abs(np.asarray(problem.polished(t, x, z, self.p, m), dtype=float).ravel() - z)
            worst = int(np.argmax(np.where(np.isfinite(change), change, np.inf)))
            return f"the least settled variable there is {e.w.names[worst]}"
        return "the model has no states"

    def solution(self, rtol: float, atol: float | None, formulation: float, integration: float) -> Solution | None:
        """All that was kept, if anything was."""
        if not self.times:
            return None
        e = self.problem.equations
        t, rows, integrals = np.concatenate(self.times), np.hstack(self.rows), np.hstack(self.integrals)
        rows = _continued(list(e.outputs), rows)
        values = dict(zip(e.outputs, rows[1:], strict=True)) | dict(zip(e.integrals, integrals[2:], strict=True))
        self._count_turns(values)
        units = {name: output.unit for name, output in {**e.outputs, **e.integrals}.items() if name in values}
        kinetic = float(values["kinetic_energy"].max()) if e.mechanics is not None else None
        audit = EnergyAudit(t, rows[0], integrals[0], integrals[1], self.start_energy, kinetic)
        return Solution(
            model=e.name,
            t=t,
            values=values,
            units=units,
            audit=audit,
            statistics=Statistics(
                self.method.name, rtol, atol, self.steps, self.evaluations, self.stretches, formulation, integration
            ),
            parameters=dict(zip(e.p.names, self.p.tolist(), strict=True)),
            states=e.q.names + e.u.names,
            notes=e.notes + (doubts(audit, self.method.worst) if e.mechanics is not None else ()),
            complete=len(t) == len(self.grid),
        )


def _snapped(times: Array, grid: Array, near: float) -> Array:
    """The times, with those moved onto the grid that only rounding keeps off it."""
    after = np.searchsorted(grid, times - near).clip(0, len(grid) - 1)
    return np.where(np.abs(grid[after] - times) <= near, grid[after], times)


def _continued(names: list[str], rows: Array) -> Array:
    """Euler parameters with signs that do not jump: both signs are the same rotation."""
    rows = rows.copy()
    for k, name in enumerate(names):
        if name.endswith(".orientation.e0"):
            turn = rows[k + 1 : k + 5]
            flips = np.sum(turn[:, 1:] * turn[:, :-1], axis=0) < 0
            rows[k + 1 : k + 5, 1:] *= np.where(np.cumsum(flips) % 2, -1.0, 1.0)
    return rows


def _wrapped(angle: Array) -> Array:
    """An angle between -pi and pi."""
    return np.asarray(np.arctan2(np.sin(angle), np.cos(angle)))


class _Pieces:
    """Ranges of output points: a small one to measure, then all the rest if that is quick, otherwise ever larger ones.

    A short run is then two native calls; a long one can show its progress and be interrupted. Sizes grow by a factor,
    since a new size needs a new native integrator. Where an event may stop the run, each is twice as long as the last.
    """

    def __init__(self, count: int, stopping: bool = False) -> None:
        self.count, self.stopping = count, stopping

    def __iter__(self) -> Iterator[tuple[int, int]]:
        done, size = 0, max(1, self.count // 50)
        while done < self.count:
            after = min(done + size, self.count)
            clock = time.perf_counter()
            yield done, after
            seconds = time.perf_counter() - clock
            if self.stopping:
                size *= 2
            elif seconds * (self.count - after) < PIECE_SECONDS * (after - done):
                size = self.count - after
            elif seconds < PIECE_SECONDS:
                size *= 4
            done = after


def _short(reason: str) -> str:
    """What the native solver returned, without the place in its source."""
    code = re.search(r'returned "(\w+)"', reason)
    lines = [line.strip() for line in reason.strip().splitlines() if line.strip()]
    return code[1] if code else (lines[-1] if lines else "no reason given")[:160]
