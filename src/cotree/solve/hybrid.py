"""Methods that stop at switches and samples: the native loop driven from Python, which acts between its calls only.

What other methods keep as algebraic variables z is here z, then the held values, the numbers of the next samples, and
the levels of the guards: all that a run needs to go on from a point.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.maths.symbolic import column
from cotree.solve.consistent import algebraic_variables
from cotree.solve.hybrid_calls import Calls
from cotree.solve.hybrid_faults import chattering, check_guards, too_many
from cotree.solve.hybrid_loop import (
    APART,
    CALLS,
    CHATTERS,
    HEAD,
    NOTHING,
    SAMPLED,
    STEPPED,
    STEPPING,
    SWITCHED,
    UNSETTLED,
    Loop,
)
from cotree.solve.hybrid_parts import Parts
from cotree.solve.hybrid_steps import TINY, explicit_step, rosenbrock_step
from cotree.solve.integrator import Integrator, Options, Stretch, Switched
from cotree.solve.native import called, compiled
from cotree.solve.problem import Problem, Scale
from cotree.solve.stepping import DONE, REASONS, SAME_TIME, Layout

Array = NDArray[np.float64]

BATCH, FEW = 200, 8
"""Turns of the loop in one native call, and where a Python function waits for its next sample."""
BLOCK = 32
"""Output times that are computed at once."""
NUMBERS = 1_000_000
"""Numbers that one native call may write."""
SHARP, SHARP_PART = 1e-12, 1e-11
"""Accuracy of an event's time in s, and as a part of the call's."""
NEAR = 20
"""Events that follow each other within so many times that accuracy happen at one instant."""
CROWD, CROWD_EACH = 20, 4
"""Changes at one instant, and more for each switch, after which the run ends."""
ROUNDED = 8 * float(np.finfo(float).eps)


@dataclass
class Ahead:
    """Times, states, z and integrals of the first turns of a run, and how many turns and events they were."""

    t: Array
    x: Array
    z: Array
    quad: Array
    turns: int
    events: int


class Hybrid(Integrator):
    """A one-step method whose loop finds switches, lets them act, and hits every sample."""

    goes_on = True
    eventful = True
    order: ClassVar[int]
    slopes: ClassVar[bool] = False
    """Whether the slope at the end of a step is kept for the next one."""

    def __init__(self, problem: Problem, options: Options) -> None:
        super().__init__(problem, options)
        self.parts = Parts.of(problem)
        self.calls = Calls()
        self.frozen = False
        """Whether the Python functions are left out, as in a rough run."""
        self._left: tuple[tuple[bytes, ...], Array] | None = None
        self._size: Array | None = None
        self._known_times: tuple[bytes, tuple[Array, Array]] | None = None

    @classmethod
    @abstractmethod
    def make_step(cls, parts: Parts) -> ca.Function:
        """One step; see `hybrid_steps`."""

    def twin(self) -> Hybrid:
        other = type(self)(self.problem, self.options)
        other.calls, other.frozen = self.calls, self.frozen
        return other

    @cached_property
    def memory_layout(self) -> Layout:
        """Parts of what is kept as z."""
        e = self.problem.equations
        return Layout(z=self.parts.nz, held=self.parts.nh, next=len(e.samples), level=len(e.switches))

    def beginning(self, t: float, z: Array, p: Array, start: Mapping[str, float] | str | None = None) -> Array:
        """z at the start of a run, with held values, the samples from there on, and levels of zero.

        Held values may be among the start values; a sample at that very time whose values are given is over.
        """
        e = self.problem.equations
        held = np.asarray(ca.Function("held", [e.t, e.p.symbols], [e.held_start])(t, p), dtype=float).ravel()
        period, offset = self._times(p)
        after = np.maximum(np.ceil((t - offset) / period - 1e-9), 0.0)
        apart = APART * np.maximum(abs(t), period)
        after += offset + after * period < t - apart
        if isinstance(start, Mapping):
            given = {e.held.names.index(name): value for name, value in start.items() if name in e.held.names}
            held[list(given)] = list(given.values())
            over = np.array([bool(each.held) and {*each.held} <= given.keys() for each in e.samples], dtype=bool)
            after += over & (offset + after * period <= t + apart)
        return np.concatenate([z, held, after, np.zeros(len(e.switches))])

    def apart(self, z: Array, m: Array) -> tuple[Array, Array]:
        """The algebraic variables, and the modes with the held values, for one time or a column for each."""
        own = self.memory_layout.split(z)
        if not self.parts.nh:
            return own["z"], m
        modes = m[: self.parts.modes]
        if z.ndim == 1:
            return own["z"], np.concatenate([modes, own["held"]])
        return own["z"], np.vstack([np.repeat(modes[:, None], z.shape[1], axis=1), own["held"]])

    def eliminated(self, t: Array, x: Array, p: Array, m: Array) -> Any:
        return self.parts.linear_w(t, x, p, m)

    def _times(self, p: Array) -> tuple[Array, Array]:
        """Periods and offsets of all samples."""
        e = self.problem.equations
        if self._known_times is not None and self._known_times[0] == p.tobytes():
            return self._known_times[1]
        both = [column([ca.SX(getattr(each, part)) for each in e.samples]) for part in ("period", "offset")]
        made = self.kept("times", lambda: ca.Function("times", [e.p.symbols], [ca.densify(each) for each in both]))
        periods, offsets = (np.asarray(each, dtype=float).ravel() for each in made(p))
        for sample, period in zip(e.samples, periods.tolist(), strict=True):
            if not period > 0:
                raise SolveError(f"the period is {period:g} s", where=sample.name, expected="a positive time")
        self._known_times = p.tobytes(), (periods, offsets)
        return periods, offsets

    @property
    def loop(self) -> Loop:
        """The builder of the native functions."""
        step = self.kept("step", lambda: self.make_step(self.parts))
        slope = self.parts.nx + self.parts.quad if self.slopes else 0
        return Loop(self.parts, step, self.order, slope, self.frozen)

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """Something that does not depend on this run, kept with the equations for the next one."""
        every = self.problem.equations.__dict__.setdefault("_hybrid", {})
        key = name, self.name, self.frozen
        if key not in every:
            every[key] = make()
        return every[key]

    @property
    def attempt(self) -> ca.Function:
        """One turn of the loop; as machine code with option ``compiled``."""
        made: ca.Function = self.kept("attempt", lambda: self.loop.attempt())
        if not self.options.compiled:
            return made
        return self.kept("compiled attempt", lambda: compiled(made))  # type: ignore[no-any-return]

    @cached_property
    def batch(self) -> int:
        """Turns in one native call."""
        waits = any(each.call is not None for each in self.problem.equations.samples) and not self.frozen
        return FEW if waits else max(4, min(BATCH, NUMBERS // self.layout.total))

    @cached_property
    def layout(self) -> Layout:
        """Parts of the loop's state."""
        return self.loop.layout

    @cached_property
    def _rows(self) -> dict[str, NDArray[np.int64]]:
        return self.layout.split(np.arange(self.layout.total))

    @cached_property
    def _turns(self) -> ca.Function:
        def make() -> ca.Function:
            state = ca.MX.sym("state", self.layout.total)
            given = ca.MX.sym("given", self.loop.constants.total)
            once = ca.Function("once", [state, given], [self.attempt(state, given)[0]])
            many = once.mapaccum("many", self.batch, 1)
            return ca.Function("loop", [state, given], [many(state, ca.repmat(given, 1, self.batch))])

        fast = "compiled " if self.options.compiled else ""
        return self.kept(f"{fast}loop", make)  # type: ignore[no-any-return]

    def integrate(
        self, t0: float, times: Array, x: Array, z: Array, p: Array, m: Array, scale: Scale, max_step: float
    ) -> Stretch:
        end, e = float(times[-1]), self.problem.equations
        given = self._given(t0, end, p, m, max_step)
        state = self._state(t0, x, z, p, m, scale, given)
        found: list[Array] = []
        hits: list[Array] = []
        steps = turns = done = sampled = 0
        limit = self.options.max_steps * len(times)
        while True:
            with redirect_stderr(StringIO()):  # a solver's complaint about a singular matrix
                columns = called(self._turns, state, given)[0]
            mark = columns[HEAD.index("mark")]
            points = np.column_stack([state, columns[:, mark != NOTHING]])
            state = columns[:, -1].copy()
            status = int(state[HEAD.index("status")])
            if status in (UNSETTLED, CALLS):
                state = (self._mended if status == UNSETTLED else self._called)(state, given, p, m)
                points = np.column_stack([points, state])
            over = status == DONE or int(state[HEAD.index("status")]) == DONE
            ready = len(times) if over else int(np.searchsorted(times, points[0, -1], side="left"))
            found.append(self._outputs(points, times[done:ready], given))
            hits.append(columns[:, mark == SWITCHED])
            steps, turns, done = steps + int((mark == STEPPED).sum()), turns + self.batch, ready
            sampled += int((mark == SAMPLED).sum())
            if status in REASONS:
                check_guards(e.switches, state[self._rows["guard"]], float(state[0]))
                raise RuntimeError(f"{REASONS[status]} at t = {state[0]:g} s")
            if status == CHATTERS:
                raise chattering(e.switches, np.hstack(hits)[HEAD.index("which")], float(state[0]))
            if over:
                break
            if turns > limit:
                raise too_many(turns, float(state[0]), self.slopes, e.samples, sampled)
        values, count = np.hstack(found), self.problem.x.numel()
        if not np.isfinite(values).all():
            raise RuntimeError("a value is not finite")
        nx, nz = self.parts.nx, len(z)
        switched = np.hstack(hits)
        ends = Switched(switched[HEAD.index("which")].astype(int), *self._shown(switched)) if e.switches else None
        result = Stretch(values[:count], values[nx : nx + nz], values[nx + nz :], steps, turns, ends)
        state[0] = end  # what only rounding keeps off it
        self._left = self._key(end, result.x[:, -1], result.z[:, -1], p, m), state
        self._size = state[self._rows["size"]]
        return result

    def ahead(
        self, t0: float, end: float, x: Array, z: Array, p: Array, m: Array, scale: Scale, max_step: float, most: int
    ) -> Ahead:
        """All points of at most so many turns; what goes wrong ends them."""
        given = self._given(t0, end, p, m, max_step)
        state = self._state(t0, x, z, p, m, scale, given)
        found, turns = [state[:, None]], 0
        while turns < most and state[HEAD.index("status")] == 0:
            with redirect_stderr(StringIO()):
                columns = called(self._turns, state, given)[0]
            found.append(columns[:, columns[HEAD.index("mark")] != NOTHING])
            state, turns = columns[:, -1].copy(), turns + self.batch
        every = np.hstack(found)
        every = every[:, np.isfinite(every[len(HEAD) :]).all(axis=0)]
        events = int((every[HEAD.index("mark")] >= SWITCHED).sum())
        return Ahead(*self._shown(every), turns, events)

    def _shown(self, columns: Array) -> tuple[Array, Array, Array, Array]:
        """Times, states, z with what is kept there, and integrals of columns of the loop."""
        rows = self._rows
        z = np.vstack([columns[rows[name]] for name in ("z", "held", "next", "level")])
        return columns[0], columns[rows["x"]][: self.problem.x.numel()], z, columns[rows["quad"]]

    def _given(self, t0: float, end: float, p: Array, m: Array, max_step: float) -> Array:
        sharp = max(min(SHARP, SHARP_PART * (end - t0)), ROUNDED * max(abs(t0), abs(end)))
        most = CROWD + CROWD_EACH * len(self.problem.equations.switches)
        period, offset = self._times(p)
        tolerance = [self.options.rtol, self.options.atol]
        limits = [end, max_step, sharp, NEAR * sharp, most]
        return np.concatenate([limits, tolerance, p, m[: self.parts.modes], period, offset])

    def _state(self, t0: float, x: Array, z: Array, p: Array, m: Array, scale: Scale, given: Array) -> Array:
        """The loop's state at a start: where the last call ended if it is the same, otherwise a fresh one."""
        rows = self._rows
        if self._left is not None and self._left[0] == self._key(t0, x, z, p, m):
            state = self._left[1].copy()
            state[rows["quad"]] = 0.0
            state[HEAD.index("status")] = DONE if state[0] >= given[0] else 0
            return state
        state = np.zeros(self.layout.total)
        own = self.memory_layout.split(z)
        for name in own:
            state[rows[name]] = own[name]
        state[rows["x"][: len(x)]] = x
        wide = np.concatenate([scale.x, scale.z[: self.parts.nz], scale.quad])
        size = np.maximum(wide, np.abs(np.concatenate([state[rows["x"]], own["z"], np.zeros(len(scale.quad))])))
        state[rows["size"]] = size if self._size is None else np.maximum(size, self._size)
        state[[HEAD.index("t"), HEAD.index("since")]] = t0, -np.inf
        state = self._refreshed(state, given)
        check_guards(self.problem.equations.switches, state[rows["guard"]], t0)
        slope = np.asarray(self.parts.slope(t0, *self._point(state), p, self.apart(z, m)[1]), dtype=float).ravel()
        if not np.isfinite(slope).all():
            raise RuntimeError(f"the rates are not finite at t = {t0:g} s")
        state[HEAD.index("h")] = self._first(state[rows["x"]], slope[: self.parts.nx], state[rows["size"]])
        return state

    def _first(self, x: Array, slope: Array, size: Array) -> float:
        """The length of a first step."""
        wide = size[: len(x)]
        allowed = self.options.atol * wide + self.options.rtol * np.abs(x)
        both = (np.maximum(each, TINY) for each in (np.maximum(np.abs(x), wide), allowed))
        speed, steep = (float(np.sqrt(np.mean((slope / each) ** 2))) for each in both)
        slow = 0.05 * float(self.options.rtol ** (1 / self.order)) / max(speed, 1e-12)
        return max(1.0 / max(steep, 1e-12), slow)

    def _point(self, state: Array) -> tuple[Array, Array]:
        return state[self._rows["x"]], state[self._rows["z"]]

    def _refreshed(self, state: Array, given: Array) -> Array:
        made = self.kept("refreshed", lambda: self.loop.refreshed())
        return np.asarray(called(made, state, given)[0].ravel())

    def _mended(self, state: Array, given: Array, p: Array, m: Array) -> Array:
        """The state with algebraic variables found with more care than the loop takes."""
        rows, t = self._rows, float(state[0])
        full = np.concatenate([m[: self.parts.modes], state[rows["held"]]])
        state[rows["z"]] = algebraic_variables(
            self.problem, t, state[rows["x"]][: self.problem.x.numel()], state[rows["z"]], p, full
        )
        state[HEAD.index("lost")] = 0
        return self._refreshed(state, given)

    def _called(self, state: Array, given: Array, p: Array, m: Array) -> Array:
        """The state after all samples that are due, some of them in Python, have read the old values."""
        e, rows, t = self.problem.equations, self._rows, float(state[0])
        found = called(self.kept("asked", lambda: self.loop.asked()), state, given)
        due, held, inputs = (each.ravel() for each in found)
        ends = np.cumsum([0, *(each.inputs.numel() for each in e.samples)])
        for k in np.flatnonzero(due).tolist():
            if e.samples[k].call is not None:
                number = int(state[rows["next"]][k])
                values = self.calls.of(self.problem, k, number, t, inputs[ends[k] : ends[k + 1]])
                held[sorted(e.samples[k].held)] = values
        before = self._stored(state, given)
        state[rows["held"]] = held
        state[rows["next"]] += due
        state = self._mended(state, given, p, m) if self.parts.nz else self._refreshed(state, given)
        state[rows["quad"][0]] += before - self._stored(state, given)
        return state

    def _stored(self, state: Array, given: Array) -> float:
        """The stored energy, where it may jump."""
        if not self.parts.jumps:
            return 0.0
        return float(called(self.kept("stored", lambda: self.loop.stored()), state, given)[0].item())

    def _outputs(self, points: Array, times: Array, given: Array) -> Array:
        """x, z with what is kept there, and integrals at times between the points, after all that happens then."""
        rows = self._rows
        order = np.concatenate([rows[name] for name in ("x", "z", "held", "next", "level", "quad")])
        if not len(times):
            return np.empty((len(order), 0))
        t = points[0]
        k = np.searchsorted(t, times, side="right") - 1
        following = t[np.minimum(k + 1, len(t) - 1)]
        near = SAME_TIME * np.abs(following - t[k])
        k = np.where((np.abs(following - times) <= near) & (k + 1 < len(t)), k + 1, k)
        k = np.searchsorted(t, t[k], side="right") - 1
        values = points[order][:, k]
        if (between := np.abs(times - t[k]) > near).any():
            states = points[:, k[between]]
            fresh = {"h": 1e300, "refused": 0, "lost": 0, "status": 0, "phase": STEPPING}
            for name, value in fresh.items():
                states[HEAD.index(name)] = value
            states[rows["next"]] = 1e300
            every = np.repeat(given[:, None], states.shape[1], axis=1)
            every[0], every[1] = times[between], np.inf
            y = self._ends(states, every)
            own = np.cumsum([0, self.parts.nx, self.parts.nz, self.parts.quad])
            places = np.cumsum([0, *(len(rows[name]) for name in ("x", "z", "held", "next", "level", "quad"))])
            for a, b, first in ((own[0], own[1], places[0]), (own[1], own[2], places[1]), (own[2], own[3], places[5])):
                values[first : first + b - a, between] = y[a:b]
        return np.asarray(values)

    def _ends(self, states: Array, given: Array) -> Array:
        """x, z and integrals after one step from each state, in blocks of one size."""
        fast = "compiled " if self.options.compiled else ""
        many: ca.Function = self.kept(f"{fast}block", lambda: self.attempt.map(BLOCK))
        count, found = states.shape[1], []
        for first in range(0, count, BLOCK):
            places = np.minimum(np.arange(first, first + BLOCK), count - 1)
            with redirect_stderr(StringIO()):
                found.append(called(many, states[:, places], given[:, places])[1])
        return np.hstack(found)[:, :count]

    def memory(self) -> Array:
        return np.zeros(0) if self._left is None else self._left[1]

    def recall(self, t: float, x: Array, p: Array, m: Array, scale: Array, memory: Array) -> None:
        if len(memory) != self.layout.total or memory[0] != t:
            return
        z = self._shown(memory[:, None])[2]
        self._left = self._key(t, x, z, p, m), memory
        self._size = memory[self._rows["size"]]

    @staticmethod
    def _key(t: float, *parts: Array) -> tuple[bytes, ...]:
        return tuple(np.asarray(part, dtype=float).tobytes() for part in (t, *parts))


class HybridRungeKutta45(Hybrid):
    """Order 5 with an error estimate of order 4 (Dormand and Prince 1980), for equations with events."""

    name = "rk45"
    order = 5
    slopes = True

    @classmethod
    def suits(cls, problem: Problem) -> str:
        return "" if problem.eliminated else "it has nonlinear algebraic equations, which need rodas"

    @classmethod
    def make_step(cls, parts: Parts) -> ca.Function:
        return explicit_step(parts)


class Rodas(Hybrid):
    """Rosenbrock's method of order 4 (Hairer and Wanner 1996, RODAS), L-stable, for stiff equations."""

    name = "rodas"
    order = 4

    @classmethod
    def suits(cls, problem: Problem) -> str:
        return ""

    @classmethod
    def make_step(cls, parts: Parts) -> ca.Function:
        return rosenbrock_step(parts)
