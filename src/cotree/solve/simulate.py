"""Simulation: smooth stretches between break points, each integrated natively; results kept whatever happens."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError, SolveError, listing, nearest
from cotree.formulation import SystemEquations
from cotree.results import EnergyAudit, Solution, Statistics
from cotree.solve import cvodes, idas  # noqa: F401  (each registers its integrator)
from cotree.solve.consistent import algebraic_variables, operating_point
from cotree.solve.integrator import Integrator, Options, choose
from cotree.solve.problem import Problem, Scale

Array = NDArray[np.float64]
Progress = Callable[[float], None]
"""Called with the fraction of model time that is done."""

DEFAULT_POINTS = 501
ROUGH = 1e-3
"""Relative tolerance of the rough run."""
PIECE_SECONDS = 0.5


def simulate(
    equations: SystemEquations,
    t_end: float,
    *,
    t_start: float = 0.0,
    points: int | None = None,
    times: Sequence[float] | None = None,
    parameters: Mapping[str, float] | None = None,
    start: Mapping[str, float] | str | None = None,
    integrator: str = "auto",
    rtol: float = 1e-8,
    atol: float | None = None,
    max_steps: int = 500_000,
    progress: Progress | None = None,
    seconds_formulation: float = 0.0,
) -> Solution:
    """Integrate from ``t_start`` to ``t_end`` and return all outputs on a grid.

    ``points`` evenly spaced output times (501 where neither ``points`` nor ``times`` is given). ``start`` changes
    states by name, or asks for the operating point with ``"steady"``. ``atol`` is in SI units; where it is not given,
    a quick rough run finds the size of every variable, and rtol / 100 of it is tolerated. If the integration fails or
    is interrupted, the error carries the solution so far in its attribute ``solution``.
    """
    clock = time.perf_counter()
    grid = output_grid(t_start, t_end, points, times)
    _check_tolerances(rtol, atol)
    problem = Problem(equations)
    p = _numbers(equations, parameters)
    method = choose(integrator, problem)
    scale, fine = Scale.ones(problem), Options(rtol, atol or rtol / 100, max_steps)
    if atol is None:
        rough = method(problem, Options(max(rtol, ROUGH), 1e-3 * ROUGH, max_steps), scale)
        scale = _sizes(problem, rough, np.linspace(t_start, grid[-1], 51), t_start, p, start)
    run = _Run(problem, method(problem, fine, scale), grid, t_start, p, progress)
    error = run.go(start)
    solution = run.solution(rtol, atol, seconds_formulation, time.perf_counter() - clock)
    if error is not None:
        error.solution = solution
        raise error
    return solution


def output_grid(t_start: float, t_end: float, points: int | None, times: Sequence[float] | None) -> Array:
    """The output times, checked."""
    if not (np.isfinite(t_start) and np.isfinite(t_end) and t_end > t_start):
        raise SolveError(f"a run from {t_start} s to {t_end} s", expected="an end after the start")
    if times is None:
        count = DEFAULT_POINTS if points is None else points
        if not 2 <= count <= 10_000_000:
            raise SolveError(f"{count} output points", expected="between 2 and 10,000,000")
        return np.linspace(t_start, t_end, count)
    grid = np.asarray(times, dtype=float)
    if grid.ndim != 1 or len(grid) < 1 or np.any(np.diff(grid) <= 0) or grid[0] < t_start or grid[-1] > t_end:
        raise SolveError("the output times are not usable", expected=f"increasing times from {t_start} to {t_end} s")
    return grid


def _check_tolerances(rtol: float, atol: float | None) -> None:
    if not 1e-14 <= rtol < 1:
        raise SolveError(f"the tolerance rtol is {rtol:g}", expected="a number from 1e-14 to below 1")
    if atol is not None and not 0 < atol < np.inf:
        raise SolveError(f"the tolerance atol is {atol:g}", expected="a positive number, or none for automatic scaling")


def _sizes(
    problem: Problem,
    method: Integrator,
    grid: Array,
    t_start: float,
    p: Array,
    start: Mapping[str, float] | str | None,
) -> Scale:
    """The largest value of every variable in a rough run, as far as that gets; 1 where a variable stays zero."""
    run = _Run(problem, method, grid, t_start, p, None)
    run.go(start)
    return Scale(*(np.where(np.abs(peak) > 1e-100, np.abs(peak), 1.0) for peak in run.peaks))


def _numbers(equations: SystemEquations, changes: Mapping[str, float] | None) -> Array:
    if equations.parameter_values is None:
        return equations.p.start
    return equations.parameter_values(changes)


@dataclass
class _Run:
    """The state of one run: what is done, and the rows of results so far."""

    problem: Problem
    method: Integrator
    grid: Array
    t_start: float
    p: Array
    progress: Progress | None
    times: list[Array] = field(default_factory=list)
    rows: list[Array] = field(default_factory=list)
    integrals: list[Array] = field(default_factory=list)
    steps: int = 0
    evaluations: int = 0
    stretches: int = 0
    peaks: list[Array] = field(default_factory=list)
    """Largest magnitudes of states, algebraic variables and integrals."""

    def go(self, start: Mapping[str, float] | str | None) -> SolveError | None:
        """Integrate everything; a failure or interruption after the start is returned, not raised."""
        edges = np.concatenate([[self.t_start], self._breaks(), [self.grid[-1]]])
        if len(edges) > 1 and edges[-1] == edges[-2]:
            edges = edges[:-1]
        modes = [self._modes(a, b) for a, b in pairwise(edges)] or [self._modes(*edges[[0, 0]])]
        self._check_jumps(edges, modes)
        x = self._start_values(start, modes[0])
        z = self.problem.equations.w.start
        quad = np.zeros(self.problem.sizes["quad"])
        self.peaks = [np.abs(x) if len(x) else np.ones(1), np.zeros(self.problem.sizes["z"]), quad]
        if len(edges) == 1:  # only the start was asked for
            z = algebraic_variables(self.problem, self.t_start, x, z, self.p, modes[0])
            self._keep(self.grid, x[:, None], z[:, None], quad[:, None], modes[0])
            return None
        for k, m in enumerate(modes):
            self.stretches += 1
            last = k == len(modes) - 1
            try:
                x, z, quad = self._stretch(edges[k], edges[k + 1], last, x, z, quad, m)
            except SolveError as error:
                if not self.times:
                    raise
                return error
            except KeyboardInterrupt:
                return SolveError(
                    f"interrupted at t = {self._reached():g} s", remedy="The results up to there are kept"
                )
        return None

    def _breaks(self) -> Array:
        """Break points of all modes inside the run; those closer than rounding count once."""
        end = float(self.grid[-1])
        found = [mode.times(self.p, self.t_start, end) for mode in self.problem.equations.modes]
        breaks = np.unique(np.concatenate([np.zeros(0), *found]))
        near = 1e-12 * max(abs(end), abs(self.t_start))
        keep = np.diff(breaks, prepend=-np.inf) > near
        return breaks[keep & (breaks > self.t_start + near) & (breaks < end - near)]

    def _modes(self, a: float, b: float) -> Array:
        return np.asarray(self.problem.mode_values((a + b) / 2, self.p), dtype=float).ravel()

    def _check_jumps(self, edges: Array, modes: list[Array]) -> None:
        """An input whose rate is needed must not jump: that would ask for an infinite through or across variable."""
        e = self.problem.equations
        zero = (np.zeros(self.problem.x.numel()), np.zeros(len(e.w)))
        for at, before, after in zip(edges[1:-1], modes[:-1], modes[1:], strict=True) if e.smooth_inputs else ():
            left, right = (np.asarray(self.problem.signals(at, *zero, self.p, m)).ravel() for m in (before, after))
            for smooth in e.smooth_inputs:
                a, b = left[smooth.index], right[smooth.index]
                if abs(a - b) > 1e-12 * max(1.0, abs(a), abs(b)):
                    raise SolveError(
                        f"{e.inputs.names[smooth.index]} jumps from {a:g} to {b:g} at t = {at:g} s, but {smooth.why}, "
                        "so the jump would need an infinite flow",
                        remedy="Add a small resistance beside the storage, or let the source ramp",
                    )

    def _start_values(self, start: Mapping[str, float] | str | None, m: Array) -> Array:
        e = self.problem.equations
        if isinstance(start, str):
            if start != "steady":
                raise SolveError(f"start = '{start}'", expected="'steady', or start values by name")
            return operating_point(self.problem, self.t_start, self.p, m)[0]
        x = np.concatenate([e.q.start, e.start(self.p) if e.start else e.u.start])
        names = e.q.names + e.u.names
        for name, value in (start or {}).items():
            if name not in names:
                raise ModelError(
                    f"'{name}' is not a state", expected=f"one of {listing(names)}", remedy=nearest(name, names)
                )
            x[names.index(name)] = value
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
        pieces = _Pieces(len(targets))
        t = a
        for first, after in pieces:
            x, z, quad = self._advance(t, targets[first:after], x, z, quad, m, len(inside) - first)
            t = float(targets[after - 1])
            if self.progress is not None:
                self.progress((t - self.t_start) / (self.grid[-1] - self.t_start))
        return x, z, quad

    def _advance(
        self, t: float, targets: Array, x: Array, z: Array, quad: Array, m: Array, wanted: int
    ) -> tuple[Array, Array, Array]:
        """Integrate to all targets; where that fails, halve the task until the failing interval is found."""
        try:
            done = self.method.integrate(t, targets, x, z, self.p, m)
        except RuntimeError as reason:
            if len(targets) == 1:
                raise self._failure(t, float(targets[0]), x, z, m, str(reason)) from None
            half = len(targets) // 2
            x, z, quad = self._advance(t, targets[:half], x, z, quad, m, wanted)
            return self._advance(float(targets[half - 1]), targets[half:], x, z, quad, m, wanted - half)
        self.steps += done.steps
        self.evaluations += done.evaluations
        total = quad[:, None] + done.quad
        self.peaks = [
            np.maximum(peak, np.abs(now).max(axis=1)) if now.size else peak
            for peak, now in zip(self.peaks, (done.x, done.z, total), strict=True)
        ]
        shown = min(wanted, len(targets))  # the end of a stretch need not be an output time
        if shown > 0:
            self._keep(targets[:shown], done.x[:, :shown], done.z[:, :shown], total[:, :shown], m)
        return done.x[:, -1], done.z[:, -1], total[:, -1]

    def _keep(self, times: Array, x: Array, z: Array, quad: Array, m: Array) -> None:
        problem = self.problem
        columns = (times[None, :], x, z)
        if problem.eliminated and len(problem.equations.w):
            w = np.asarray(problem.linear_w(times[None, :], x, self.p, m), dtype=float)
            columns = (times[None, :], x, w)
        values = np.asarray(problem.outputs(*columns, self.p, m), dtype=float)
        self.times.append(times)
        self.rows.append(values.reshape(-1, len(times)))
        self.integrals.append(quad)

    def _reached(self) -> float:
        return float(self.times[-1][-1]) if self.times else self.t_start

    def _failure(self, t: float, target: float, x: Array, z: Array, m: Array, reason: str) -> SolveError:
        """Say when the integration stopped, and which part is to blame as far as can be seen."""
        problem, e = self.problem, self.problem.equations
        w = problem.w_of(t, x, z, self.p, m)
        for at in np.linspace(t, target, 11):
            signals = np.asarray(problem.signals(at, x, w, self.p, m), dtype=float).ravel()
            if not np.isfinite(signals).all():
                name = e.inputs.names[int(np.argmin(np.isfinite(signals)))]
                return SolveError(
                    f"{name} has no finite value at t = {at:g} s",
                    remedy="Change its expression; results before are kept",
                )
        rates = np.asarray(problem.rates(t, x, w, self.p, m), dtype=float).ravel()
        size = np.abs(rates) / self.method.scale.x[: len(x)]
        name = (e.q.names + e.u.names)[int(np.argmax(np.where(np.isfinite(size), size, np.inf)))] if len(x) else "none"
        return SolveError(
            f"{self.method.name} gave up between t = {t:g} and {target:g} s ({_short(reason)}); "
            f"the fastest state there is {name}",
            remedy="Look at the parts around it, loosen rtol, or raise max_steps; results before are kept",
        )

    def solution(self, rtol: float, atol: float | None, formulation: float, integration: float) -> Solution:
        """All that was kept."""
        e = self.problem.equations
        t, rows, integrals = np.concatenate(self.times), np.hstack(self.rows), np.hstack(self.integrals)
        values = dict(zip(e.outputs, rows[1:], strict=True)) | dict(zip(e.integrals, integrals[2:], strict=True))
        units = {name: output.unit for name, output in {**e.outputs, **e.integrals}.items()}
        return Solution(
            model=e.name,
            t=t,
            values=values,
            units=units,
            audit=EnergyAudit(t, rows[0], integrals[0], integrals[1]),
            statistics=Statistics(
                self.method.name, rtol, atol, self.steps, self.evaluations, self.stretches, formulation, integration
            ),
            parameters=dict(zip(e.p.names, self.p.tolist(), strict=True)),
            states=e.q.names + e.u.names,
            notes=e.notes,
            complete=len(t) == len(self.grid),
        )


class _Pieces:
    """Ranges of output points: a small one to measure, then as many as take about half a second.

    A short run is then two native calls; a long one can show its progress and be interrupted.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self):  # type: ignore[no-untyped-def]
        done, size = 0, max(1, self.count // 50)
        while done < self.count:
            after = min(done + size, self.count)
            clock = time.perf_counter()
            yield done, after
            seconds = time.perf_counter() - clock
            size = max(1, int((after - done) * min(1e4, PIECE_SECONDS / max(seconds, 1e-9))))
            done = after


def _short(reason: str) -> str:
    """What the native solver returned, without the place in its source."""
    code = re.search(r'returned "(\w+)"', reason)
    lines = [line.strip() for line in reason.strip().splitlines() if line.strip()]
    return code[1] if code else (lines[-1] if lines else "no reason given")[:160]
