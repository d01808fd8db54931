"""Step loops in native code: what the one-step methods for mechanisms share.

A method writes one step as one CasADi function ``(t, h, y, c) -> (y1, error)``: y is the state with the method's
memory, c holds parameters, modes and sizes, and the error is that of the step over the tolerance, not finite where the
step failed. From it an *attempt* is made here (accept or reject, choose the next step, hold at the end) and repeated by
``mapaccum`` in batches, so that Python only acts between batches. Values at an output time are those of a step from the
last point before it that ends there: they have the accuracy of the method, its constraints and its energy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import redirect_stderr
from functools import cached_property
from io import StringIO
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.solve.integrator import Integrator, Options, Stretch
from cotree.solve.native import called, compiled
from cotree.solve.problem import Problem, Scale

Array = NDArray[np.float64]

SAFETY, SHRINK, GROW = 0.9, 0.2, 2.5
SHORTEST = 1e-14
"""Shortest step, as a part of the time reached or of the stretch."""
LOST = 8
"""Failed attempts one after the other after which the method gives up."""
SAME_TIME = 1e-10
"""Times that differ by less than this part of a step are the same."""
HALVINGS = 8
"""How often a step of a fixed length that has no solution is halved before the method gives up."""
REFUSED = 40
"""Attempts refused for their error one after the other after which the method gives up."""
BATCH = 1_000_000
"""Numbers that one native call may write."""
HEAD = ("t", "h", "refused", "lost", "status", "accepted")
DONE, NO_CONVERGENCE, TOO_SHORT = 1, 2, 3
REASONS = {NO_CONVERGENCE: "no finite solution of a step is found", TOO_SHORT: "the step becomes too short"}


class Layout:
    """Named parts of a column."""

    def __init__(self, **sizes: int) -> None:
        self.sizes = sizes
        self.ends = np.cumsum([0, *sizes.values()]).tolist()
        self.total = self.ends[-1]

    def split(self, values: Any) -> dict[str, Any]:
        """The parts by name."""
        return {name: values[a:b] for name, a, b in zip(self.sizes, self.ends[:-1], self.ends[1:], strict=True)}

    def join(self, parts: dict[str, Any]) -> Any:
        """The column of parts by name."""
        return ca.vertcat(*(parts[name] for name in self.sizes))


class Stepping(Integrator):
    """A one-step method with its loop in native code; steps are adapted, or of a fixed length with option ``step``.

    A step of a fixed length that has no solution is taken in halves, quarters and so on, as far as that is needed.
    """

    goes_on = True
    order: ClassVar[int] = 2
    """The power of the step with which ``error`` falls."""
    most: ClassVar[int] = 200
    """Most attempts in one native call."""

    def __init__(self, problem: Problem, options: Options) -> None:
        super().__init__(problem, options)
        self.fixed = options.step
        self._left: tuple[tuple[bytes, ...], Array] | None = None

    @cached_property
    def batch(self) -> int:
        """Attempts in one native call: fewer of a large state."""
        return max(4, min(self.most, BATCH // max(int(self.layout.total), 1)))

    @property
    def adaptive(self) -> bool:
        """Whether steps follow the error; otherwise they have one length."""
        return self.fixed is None

    @cached_property
    @abstractmethod
    def layout(self) -> Layout:
        """Parts of y: ``x`` first, ``quad`` among the others."""

    @abstractmethod
    def make_step(self) -> ca.Function:
        """(t, h, y, c) -> (y1, error): one step; the error is over the tolerance, not finite where it failed."""

    @property
    def attempt(self) -> ca.Function:
        """(state, given) -> (state, y1) after one attempt, kept; as machine code with option ``compiled``."""
        made = self.kept("attempt", self._make_attempt)
        return self.kept("compiled attempt", lambda: compiled(made)) if self.options.compiled else made

    def kept(self, name: str, make: Callable[[], ca.Function]) -> ca.Function:
        """A function that does not depend on this run, kept with the equations for the next one."""
        every = self.problem.equations.__dict__.setdefault("_stepping", {})
        key = (name, self.name, self.adaptive, self.options.spectral_radius)
        if key not in every:
            every[key] = make()
        return every[key]  # type: ignore[no-any-return]

    @abstractmethod
    def begin(self, t: float, x: Array, p: Array, m: Array, scale: Array) -> tuple[Array, float]:
        """y at a start, and the first step's length."""

    @cached_property
    def constants(self) -> Layout:
        """Parts of c: parameters, modes, the table of a linear network, sizes of the states, and rtol and atol."""
        size = self.problem.sizes
        return Layout(p=size["p"], m=size["m"], table=size["table"], scale=size["x"], tolerance=2)

    def given(self, p: Array, m: Array, scale: Array) -> Array:
        """c."""
        return np.concatenate([p, m, self.problem.table(p, m), scale, [self.options.rtol, self.options.atol]])

    def integrate(
        self, t0: float, times: Array, x: Array, z: Array, p: Array, m: Array, scale: Scale, max_step: float
    ) -> Stretch:
        end = float(times[-1])
        c = self.given(p, m, scale.x)
        state = self._state(t0, end, x, p, m, scale.x)
        given = np.concatenate([[end, max_step], c])
        found: list[Array] = []
        steps = attempts = done = 0
        while True:
            with redirect_stderr(StringIO()):  # a solver's complaint about a singular matrix
                columns = called(self._loop, state, given)[0]
            accepted = columns[:, columns[HEAD.index("accepted")] > 0]
            points = np.column_stack([state, accepted])
            after = int(np.searchsorted(times, points[0, -1], side="right"))
            found.append(self._outputs(points, times[done:after], c))
            steps, attempts, done = steps + accepted.shape[1], attempts + self.batch, after
            state = columns[:, -1].copy()
            status = int(state[HEAD.index("status")])
            if status in REASONS:
                raise RuntimeError(f"{REASONS[status]} at t = {state[0]:g} s")
            if status == DONE:
                break
            if attempts > self.options.max_steps * len(times):
                raise RuntimeError(f"more than {attempts} steps up to t = {state[0]:g} s")
        values = np.hstack(found)
        if not np.isfinite(values).all():
            raise RuntimeError("a value is not finite")
        count = len(x)
        self._left = (self._key(end, values[:count, -1], p, m), state)
        return Stretch(values[:count], np.zeros((0, len(times))), values[count:], steps, attempts)

    def _state(self, t0: float, end: float, x: Array, p: Array, m: Array, scale: Array) -> Array:
        """The loop's state at a start: where the last call ended if it is the same, otherwise a fresh one."""
        if self._left is not None and self._left[0] == self._key(t0, x, p, m):
            state = self._left[1].copy()
            quad = self.layout.split(np.arange(len(HEAD), len(state)))["quad"]
            state[quad] = 0.0
            state[1 : len(HEAD)] = state[1], 0, 0, 0, 0
        else:
            y, h = self.begin(t0, x, p, m, scale)
            state = np.concatenate([[t0, h, 0, 0, 0, 0], y])
        if not self.adaptive:
            longest = state[1] if self.fixed is None else self.fixed
            state[1] = (end - t0) / np.ceil((end - t0) / longest - 1e-9)
        return state

    def memory(self) -> Array:
        return np.zeros(0) if self._left is None else self._left[1]

    def recall(self, t: float, x: Array, p: Array, m: Array, scale: Array, memory: Array) -> None:
        if not len(memory) or memory[0] != t:
            return
        y, _ = self.begin(t, x, p, m, scale)  # a method may lay out its memory by the place where it begins
        if len(memory) == len(HEAD) + len(y):
            self._left = self._key(t, x, p, m), memory

    @staticmethod
    def _key(t: float, x: Array, p: Array, m: Array) -> tuple[bytes, ...]:
        return tuple(np.asarray(part, dtype=float).tobytes() for part in (t, x, p, m))

    def _outputs(self, points: Array, times: Array, c: Array) -> Array:
        """x and integrals at times between the points."""
        parts = self.layout.split(np.arange(len(HEAD), len(points)))
        rows = np.concatenate([parts["x"], parts["quad"]])
        t = points[0]
        values = np.empty((len(rows), len(times)))
        if not len(times):
            return values
        k = np.searchsorted(t, times, side="left").clip(1, max(len(t) - 1, 1))
        first, last = t[k - 1], t[np.minimum(k, len(t) - 1)]
        near = SAME_TIME * (last - first)
        at = np.where(times - first <= near, k - 1, k)
        exact = (np.abs(times - last) <= near) | (at < k)
        values[:, exact] = points[rows][:, at[exact]]
        if (between := ~exact).any():
            states = points[:, k[between] - 1]
            states[1 : len(HEAD)] = np.array([[1e300], [0], [0], [0], [0]])  # one step to the end
            count = states.shape[1]
            given = np.vstack([times[None, between], np.full((1, count), np.inf), np.repeat(c[:, None], count, axis=1)])
            with redirect_stderr(StringIO()):
                y1 = np.asarray(self.attempt(states, given)[1], dtype=float)
            values[:, between] = y1[rows - len(HEAD)]
        return values

    @property
    def _loop(self) -> ca.Function:
        return self.kept("compiled loop" if self.options.compiled else "loop", self._make_loop)

    def _make_loop(self) -> ca.Function:
        """(state, given) -> the states after each of a batch of attempts."""
        state, given = self._symbols()
        once = ca.Function("once", [state, given], [self.attempt(state, given)[0]])
        many = once.mapaccum("many", self.batch, 1)
        return ca.Function("loop", [state, given], [many(state, ca.repmat(given, 1, self.batch))])

    def _make_attempt(self) -> ca.Function:
        state, given = self._symbols()
        head, y = state[: len(HEAD)], state[len(HEAD) :]
        h, after = self._plan(head, given[:2])
        y1, error = self.make_step()(head[0], h, y, given[2:])
        judged = self._judge(state, h, after, error, given[0], y1)
        tried = ca.Function("tried", [state, given], [judged, y1])
        rest = ca.Function("rest", [state, given], [ca.vertcat(state[: len(HEAD) - 1], 0, y), y])
        guarded = ca.Function.if_else("guarded", rest, tried)
        return ca.Function("attempt", [state, given], [*guarded(head[HEAD.index("status")] > 0, state, given)])

    def _symbols(self) -> tuple[ca.MX, ca.MX]:
        state = ca.MX.sym("state", len(HEAD) + self.layout.total)
        return state, ca.MX.sym("given", 2 + self.constants.total)

    @cached_property
    def _plan(self) -> ca.Function:
        """The step to try and the time after it: the end is hit exactly, and not by a tiny step."""
        head, given = ca.SX.sym("head", len(HEAD)), ca.SX.sym("given", 2)
        t, h, end = head[0], head[1], given[0]
        left = end - t
        if self.adaptive:
            h = ca.fmin(h, given[1])
            last = h >= left * (1 - 1e-9)
            h = ca.if_else(last, left, ca.if_else(h > left / 2, left / 2, h))
        else:
            h = h / 2 ** head[HEAD.index("lost")]
            more = ca.fmax(ca.floor(left / h + 0.5) - 1, 0)  # counted from the end, so that rounding does not add up
            last = more < 0.5
            h = ca.if_else(last, left, end - more * h - t)
        return ca.Function("plan", [head, given], [h, ca.if_else(last, end, t + h)])

    @cached_property
    def _judge(self) -> ca.Function:
        """The state after an attempt."""
        head, old, y1 = ca.SX.sym("head", len(HEAD)), *(ca.SX.sym("y", self.layout.total) for _ in range(2))
        h, after, error, end = (ca.SX.sym(name) for name in ("h", "after", "error", "end"))
        t, planned, refused, lost = head[0], head[1], head[2], head[3]
        finite = ca.fabs(error) < 1e100
        good = ca.logic_and(finite, error <= 1) if self.adaptive else finite
        lost = ca.if_else(finite, 0 if self.adaptive else self._longer(lost, planned, end - after), lost + 1)
        factor = ca.fmin(ca.fmax(SAFETY * ca.fmax(error, 1e-30) ** (-1 / self.order), SHRINK), GROW)
        factor = ca.if_else(finite, factor, 0.1)
        factor = ca.if_else(ca.logic_and(good, refused + head[3] > 0), ca.fmin(factor, 1), factor)
        shortened = ca.logic_and(h < 0.99 * planned, ca.logic_and(good, factor >= 1))
        step = ca.if_else(shortened, ca.fmax(planned, h * factor), h * factor) if self.adaptive else planned
        refused = ca.if_else(good, 0, refused + 1)
        short = ca.fabs(step) < SHORTEST * ca.fmax(ca.fabs(end), ca.fabs(t))
        status = ca.if_else(ca.logic_and(good, after >= end), DONE, 0)
        status = ca.if_else(ca.logic_and(ca.logic_not(good), ca.logic_or(short, refused > REFUSED)), TOO_SHORT, status)
        status = ca.if_else(lost > (LOST if self.adaptive else HALVINGS), NO_CONVERGENCE, status)
        new = ca.vertcat(ca.if_else(good, after, t), step, refused, lost, status, good)
        given = [ca.vertcat(head, old), h, after, error, end, y1]
        return ca.Function("judge", given, [ca.vertcat(new, ca.if_else(good, y1, old))])

    @staticmethod
    def _longer(halvings: ca.SX, planned: ca.SX, left: ca.SX) -> ca.SX:
        """How often the next fixed step is halved: once less, where an even number of the present ones is left."""
        pairs = left / planned * 2 ** (halvings - 1)
        even = ca.fabs(pairs - ca.floor(pairs + 0.5)) < 0.25
        return ca.if_else(ca.logic_and(halvings > 0, even), halvings - 1, halvings)
