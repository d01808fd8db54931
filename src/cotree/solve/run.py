"""One run over smooth stretches between break points, with all that was computed kept whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.formulation.system import BANKED
from cotree.results import EnergyAudit, Restart, Solution, Statistics
from cotree.results.energy import domain_audits, left_by
from cotree.results.signals import held
from cotree.solve.blame import failure
from cotree.solve.consistent import algebraic_variables, no_start
from cotree.solve.courses import Courses, held_values, inner_states, result_units
from cotree.solve.diagnostics import below_vacuum, constraints, energies, rounding
from cotree.solve.events import Watch
from cotree.solve.integrator import Integrator, Stopped, Stretch
from cotree.solve.interrupts import Interrupts
from cotree.solve.jumps import SIDES, jumped_state, jumping_input, kinked_drivers, lost_signal, with_values
from cotree.solve.limits import Limits, snapped, step_limits
from cotree.solve.narrow import narrow_signals
from cotree.solve.path import Path, joined_parts
from cotree.solve.pieces import Pieces
from cotree.solve.problem import Problem
from cotree.solve.recording import Recording, among
from cotree.solve.retries import across, evenly
from cotree.solve.sizes import History, Sizes, extent
from cotree.solve.spins import check_inertia
from cotree.solve.starts import moved, start_values
from cotree.solve.switched import SwitchRecord
from cotree.system import Diagnostic

Array = NDArray[np.float64]

MOST_LIMITS = 16
"""Limits that are kept with one set of equations."""
Progress = Callable[[float], None]
"""Called with the fraction of model time that is done."""


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
    rows_done: int = 0
    """Output times that were asked for and are finished."""
    kept: list[tuple[Array, Array]] = field(default_factory=list)
    """States and algebraic variables at the output times."""
    path: Path | None = None
    """States at further times, where output times are too few to show the motion."""
    watch: Watch | None = None
    """Events that are looked for, one of which may end the run."""
    record: Recording | None = None
    """What takes rows and states down as they come."""
    asked: Array | None = None
    """The output times that were asked for, where more are looked at."""
    pieces: Pieces = field(default_factory=Pieces)
    begin: float | None = None
    """When the run began, where it goes on."""
    before: dict[str, Array] | None = None
    """Start, targets and state of the last call, of methods that begin anew with every one."""
    reached: tuple[float, Array, Array, Array, int] | None = None
    """Time, states, algebraic variables, integrals and finished output times, from which the run could go on."""
    begun: tuple[Diagnostic, ...] = ()
    """What the consistent start had to move, and drivers whose speed jumps."""
    jumped: dict[float, float] = field(default_factory=dict)
    """By how much the stored energy has jumped with the speeds of drivers, by time."""
    interrupts: Interrupts = field(default_factory=Interrupts)

    @cached_property
    def switched(self) -> SwitchRecord:
        """Switches that have acted."""
        return SwitchRecord(tuple(each.name for each in self.problem.equations.switches))

    @cached_property
    def courses(self) -> Courses:
        """How rows go on after those before them."""
        return Courses(self.problem.equations, self.p)

    def go(self, start: Mapping[str, float] | str | None, at: Restart | None = None) -> SolveError | None:
        """Integrate everything; a failure or interruption after the start is returned, not raised.

        With ``at`` an earlier run goes on from there.
        """
        edges = self.edges(np.concatenate([self.sizes.times, self.limits.times]))
        modes = [self._modes(a, b) for a, b in pairwise(edges)] or [self._modes(*edges[[0, 0]])]
        if (jump := jumping_input(self, edges, modes)) is not None:
            raise jump
        if (lost := lost_signal(self, self.t_start, self.t_start, modes[0])) is not None:
            raise lost
        if at is None:
            x, z = start_values(self.problem, self.p, self.t_start, start, modes[0]), self.problem.equations.w.start
            z = self.method.beginning(self.t_start, z[: self.problem.sizes["z"]], self.p, start)
            quad = np.zeros(self.problem.sizes["quad"])
            check_inertia(self.problem.equations, self.t_start, x, self.p, modes[0])
        else:
            x, z, quad = (at.numbers[name] for name in ("x", "z", "quad"))
            self.courses.recall(at.numbers)
            before = [name for name in at.numbers if name.startswith("before_")]
            self.before = {name.removeprefix("before_"): at.numbers[name] for name in before} or None
            self.pieces.recall(at.said["pieces"])
            self.method.recall(self.t_start, x, self.p, modes[0], self.sizes.at(self.t_start).x, at.numbers["memory"])
        asked = start if at is None or self.record is None else self.record.start
        notes, kinks = kinked_drivers(self, edges, modes)
        near = SIDES * float(edges[-1] - edges[0])
        if any(np.abs(edges - at).min() > near for at in kinks):
            edges = self.edges(np.concatenate([self.sizes.times, self.limits.times, [*kinks]]))
            modes = [self._modes(a, b) for a, b in pairwise(edges)]
        self.begun = notes + moved(self.problem, self.p, self.t_start if self.begin is None else self.begin, asked)
        if not self.pieces.going_on:
            z = self._consistent(self.t_start, x, z, modes[0])
        try:
            self.start_energy = self.stored(self.t_start, x, z, modes[0])
        except RuntimeError:
            raise no_start(self.problem, self.t_start) from None
        self._mark(self.t_start, x, z, quad)
        if len(edges) == 1:  # only the start was asked for
            if self.method.eventful:
                x, z, quad = self._advance(self.t_start, edges, np.array([False]), x, z, quad, modes[0])
            self._keep(self.grid, x[:, None], z[:, None], quad[:, None], modes[0])
            return None
        try:
            with self.interrupts:
                for k, m in enumerate(modes):
                    self.stretches += 1
                    if k and any(abs(edges[k] - at) <= near for at in kinks):
                        x = jumped_state(self, float(edges[k]), near, x, z, modes[k - 1], m)
                    x, z, quad = self._stretch(edges[k], edges[k + 1], k == len(modes) - 1, x, z, quad, m)
        except SolveError as error:
            return error
        except StopIteration:
            return None
        except (KeyboardInterrupt, RuntimeError) as reason:
            if not isinstance(reason, KeyboardInterrupt) and not self.interrupts.seen:
                raise
            self.interrupted = True
            if self._stopped() or sum(map(len, self.times)) == len(self.grid):  # everything is there
                return None
            return SolveError(f"interrupted at t = {self._reached():g} s", remedy="The results up to there are kept")
        return None

    def stored(self, t: float, x: Array, z: Array, m: Array) -> float:
        """The stored energy at a time."""
        return float(self._outputs(np.array([t]), x[:, None], z[:, None], m)[0, 0])

    def _consistent(self, t: float, x: Array, z: Array, m: Array) -> Array:
        """z with algebraic variables that fit."""
        own, full = self.method.apart(z, m)
        return np.concatenate([algebraic_variables(self.problem, t, x, own, self.p, full), z[len(own) :]])

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
        narrow = () if straight or max_step is not None else narrow_signals(e, self.p, edges, modes)
        return step_limits(lambda times, k: self._signals(times, modes[k]), edges, inputs, max_step, straight, narrow)

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
        breaks = np.unique(snapped(breaks, self.grid, near))
        keep = np.diff(breaks, prepend=-np.inf) > near
        return breaks[keep & (breaks > self.t_start + near) & (breaks < end - near)]

    def _modes(self, a: float, b: float) -> Array:
        return np.asarray(self.problem.mode_values((a + b) / 2, self.p), dtype=float).ravel()

    def _stretch(
        self, a: float, b: float, last: bool, x: Array, z: Array, quad: Array, m: Array
    ) -> tuple[Array, Array, Array]:
        """One smooth stretch [a, b), or [a, b] at the end; returns the state at b."""
        if not self.pieces.going_on:
            self.before = None
            z = self._consistent(a, x, z, m)
        if self.method.eventful:  # what happens at this instant
            x, z, quad = self._advance(a, np.array([a]), np.array([False]), x, z, quad, m)
        inside = self.grid[(self.grid >= a) & ((self.grid <= b) if last else (self.grid < b))]
        if len(inside) and inside[0] == a:
            with held():
                self._keep(inside[:1], x[:, None], z[:, None], quad[:, None], m)
                self._mark(a, x, z, quad)
                if self.path is not None:
                    self.path.parts.append((inside[:1], x[:, None], z[:, None]))
            inside = inside[1:]
        targets = inside if last and len(inside) else np.append(inside, b)
        targets, lost = with_values(self, a, targets, m)
        self.pieces.begin(a, targets, np.isin(targets, inside))
        t = a
        while (piece := self.pieces.next()) is not None:
            before = self.steps
            x, z, quad = self._advance(t, *piece, x, z, quad, m)
            t = float(piece[0][-1])
            self.pieces.took(self.steps - before)
            if self._stopped():
                raise StopIteration
            if self.progress is not None:
                self.progress((t - self.t_start) / (self.grid[-1] - self.t_start))
            if self.record is not None and t < self.grid[-1]:
                self.record.note(self)
        if lost is not None:
            raise lost
        return x, z, quad

    def course(self) -> tuple[Array, Array, Array]:
        """Times, states and algebraic variables of the motion, one column for each time."""
        kept = [(t, x, z) for t, (x, z) in zip(self.times, self.kept, strict=False)]
        return joined_parts(kept if self.path is None else self.path.parts)

    def _stopped(self) -> bool:
        """Whether an event has ended the run; all are looked for up to here."""
        with held():
            return self.watch is not None and self.watch.stops(self)

    def _signals(self, times: Array, m: Array) -> Array:
        """Source signals, one column for each time; they depend on nothing else."""
        e = self.problem.equations
        idle = np.zeros((self.problem.x.numel(), 1)), np.zeros((len(e.w), 1))
        values = self.problem.signals(times[None, :], *idle, self.p, m)
        return np.asarray(values, dtype=float).reshape(len(e.inputs), len(times))

    def _advance(
        self, t: float, targets: Array, shown: NDArray[np.bool_], x: Array, z: Array, quad: Array, m: Array
    ) -> tuple[Array, Array, Array]:
        """Integrate to all targets; where that fails, halve the task until the failing interval is found."""

        def go(times: Array) -> Stretch:
            return self.method.integrate(t, times, x, z, self.p, m, self.sizes.at(t), self.limits.at(t))

        try:
            done = go(targets) if self.path is None else self.path.seen(go, t, targets)
        except RuntimeError as reason:
            self.interrupts.check()
            if len(targets) > 1:
                half = len(targets) // 2
                x, z, quad = self._advance(t, targets[:half], shown[:half], x, z, quad, m)
                return self._advance(float(targets[half - 1]), targets[half:], shown[half:], x, z, quad, m)
            if isinstance(reason, Stopped):
                raise reason.error from None
            even = evenly(self, t, targets, x, z, m) or across(self, targets, m)
            if even is None:
                raise failure(self, t, float(targets[0]), x, z, m, str(reason)) from None
            done = even
        with held():
            self.interrupts.check()  # a solver that goes on after a signal has taken it for a failure of the equations
            if not len(self.method.memory()):
                self.before = {"t": np.array([t]), "way": targets, "x": x, "z": z}
            self.steps += done.steps
            self.evaluations += done.evaluations
            if done.switched is not None:
                self.switched.add(self, done.switched, quad, m)
            total = quad[:, None] + done.quad
            if shown.any():  # the end of a stretch need not be an output time
                self._keep(targets[shown], done.x[:, shown], done.z[:, shown], total[:, shown], m)
            x, z, quad = done.x[:, -1], done.z[:, -1], total[:, -1]
            self._mark(float(targets[-1]), x, z, quad)
        return x, z, quad

    def _mark(self, t: float, x: Array, z: Array, quad: Array) -> None:
        self.reached = t, x, z, quad, self.rows_done

    def restart(self) -> Restart | None:
        """Where this run could go on; None where it has not begun."""
        if self.reached is None:
            return None
        t, x, z, quad, rows = self.reached
        own = {"x": x, "z": z, "quad": quad, "memory": self.method.memory()}
        own |= {f"before_{name}": each for name, each in (self.before or {}).items()}
        method = self.method
        said: dict[str, Any] = {"steps": self.steps, "evaluations": self.evaluations, "stretches": self.stretches}
        said |= {"integrator": method.name, "compiled": method.options.compiled, "drift": method.worst}
        said |= {"begin": self.t_start if self.begin is None else self.begin, "pieces": self.pieces.memory}
        return Restart(t, rows, own | self.courses.memory | self.sizes.packed() | self.limits.packed(), said)

    def _keep(self, times: Array, x: Array, z: Array, quad: Array, m: Array) -> None:
        self.add(times, self._outputs(times, x, z, m), quad)
        self.kept.append((x, z))

    def add(self, times: Array, rows: Array, integrals: Array) -> None:
        """Take up results: stored energy and outputs, and integrals, one column for each time."""
        self.courses.go_on(rows, integrals)
        self.bank(rows, integrals)
        self.times.append(times)
        self.rows.append(rows)
        self.integrals.append(integrals)
        self.rows_done += len(times) if self.asked is None else int(among(times, self.asked).sum())

    def bank(self, rows: Array, integrals: Array) -> None:
        """Add what force laws have stored along the way to the stored energy."""
        if BANKED in self.problem.equations.integrals:
            rows[0] += integrals[2 + list(self.problem.equations.integrals).index(BANKED)]

    @cached_property
    def names(self) -> dict[str, str]:
        """The results with their units, in the order of a solution."""
        return result_units(self.problem.equations)

    def results(self, rows: Array, integrals: Array) -> Array:
        """All results, one row for each name, from what is kept."""
        e = self.problem.equations
        kept = [2 + k for k, name in enumerate(e.integrals) if name in self.names]
        return np.concatenate([rows[1:], integrals[kept]]) if kept else rows[1:]

    def _outputs(self, times: Array, x: Array, z: Array, m: Array) -> Array:
        """Stored energy and all outputs, one column for each time, with the algebraic variables polished."""
        problem, t = self.problem, times[None, :]
        z, m = self.method.apart(z, m)
        w: Any = z
        if problem.settled_well is not None and self.method.settles:
            on: Any = problem.on_constraints(t, x, self.p, m)
            x, w = on
        elif problem.settled_well is not None:
            n = len(problem.equations.q)
            w = ca.vertcat(*problem.mechanism.accelerations(t, x[:n], x[n:], self.p, m))
        elif problem.eliminated and len(problem.equations.w):
            w = self.method.eliminated(t, x, self.p, m)
        elif len(z):
            with suppress(RuntimeError):  # where the matrix has no inverse, the integrator's values have to do
                w = problem.polished(t, x, z, self.p, m)
        rows = np.asarray(problem.outputs(t, x, w, self.p, m), dtype=float).reshape(-1, len(times))
        further = [np.asarray(x, dtype=float)[self._inner]] if self._inner else []
        if self._held:
            further.append(np.broadcast_to(m.reshape(len(m), -1)[self._held], (len(self._held), len(times))))
        return np.vstack([rows, *further]) if further else rows

    @cached_property
    def _inner(self) -> list[int]:
        e = self.problem.equations
        return [e.state_names.index(name) for name in inner_states(e)]

    @cached_property
    def _held(self) -> list[int]:
        e = self.problem.equations
        return [len(e.modes) + e.held.names.index(name) for name in held_values(e)]

    def history(self, piece: int = 0) -> History | None:
        """Everything at the output times, from a piece on; None where nothing was kept since."""
        if len(self.times) <= piece:
            return None
        x, z = (np.hstack(parts) for parts in zip(*self.kept[piece:], strict=True))
        t, rows, integrals = self.times[piece:], self.rows[piece:], self.integrals[piece:]
        return History(np.concatenate(t), x, z, np.hstack(integrals), np.hstack(rows))

    def _reached(self) -> float:
        return float(self.times[-1][-1]) if self.times else self.t_start

    def solution(self, rtol: float, atol: float | None, formulation: float, integration: float) -> Solution | None:
        """All that was kept, if anything was."""
        if not self.times:
            return None
        t, rows, integrals = np.concatenate(self.times), np.hstack(self.rows), np.hstack(self.integrals)
        values = dict(zip(self.names, self.results(rows, integrals), strict=True))
        mechanical = self.problem.equations.mechanics is not None
        kinetic = float(values["kinetic_energy"].max()) if mechanical else None
        noise = rounding(values, self.names) if mechanical else 0.0
        audit = EnergyAudit(t, rows[0], integrals[0], integrals[1], self.start_energy, kinetic, noise)
        left = left_by(rtol, self.steps, self.method.options.step)
        events, event_values = self.switched.events(list(self.names))
        own = (
            self.problem.equations.diagnostics
            + self.begun
            + self.switched.diagnostics()
            + below_vacuum(t, values, self.names)
        )
        return replace(
            self.blank(rtol, atol, formulation, integration),
            t=t,
            values=values,
            audit=audit,
            diagnostics=own
            + constraints(self)
            + energies(audit, domain_audits(t, values, left), own, self.problem.equations.unbooked, self.jumped),
            complete=len(t) == len(self.grid),
            events=events,
            event_values=event_values,
        )

    def extent(self) -> float:
        """The largest position, displacement or radius of gyration so far, in m; 1 where there is none."""
        return extent(self.problem.equations, self.p, np.hstack(self.rows))

    def blank(self, rtol: float, atol: float | None, formulation: float = 0.0, integration: float = 0.0) -> Solution:
        """A solution without any time."""
        e, none = self.problem.equations, np.zeros(0)
        counts = self.steps, self.evaluations, self.stretches
        return Solution(
            model=e.name,
            t=none,
            values=dict.fromkeys(self.names, none),
            units=self.names,
            audit=EnergyAudit(none, none, none, none, self.start_energy, None if e.mechanics is None else 0.0),
            statistics=Statistics(self.method.name, rtol, atol, *counts, formulation, integration),
            parameters=dict(zip(e.p.names, self.p.tolist(), strict=True)),
            states=e.state_names,
            held=e.held.names,
            inner=tuple(inner_states(e)),
            diagnostics=e.diagnostics,
            complete=False,
        )
