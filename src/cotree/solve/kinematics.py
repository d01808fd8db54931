"""Kinematics of a fully driven mechanism: positions by Newton's rule, then speeds, accelerations and all forces.

No degree of freedom is left, so that the constraints alone say where everything is. The steps over the output grid are
one native call; where a step fails or jumps to another way of assembly, that interval is taken in shorter steps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError, listing
from cotree.formulation import SystemEquations
from cotree.maths.lookup import common_parts, slopes
from cotree.maths.symbolic import substitute
from cotree.model.helpful import helpful
from cotree.model.quantity import Time, seconds
from cotree.results import Solution
from cotree.solve.courses import inner_states
from cotree.solve.doubts import pushing_cable
from cotree.solve.integrator import Integrator, Options
from cotree.solve.interrupts import Interrupts
from cotree.solve.jumps import kinked_drivers
from cotree.solve.limits import Limits
from cotree.solve.locks import without_locks
from cotree.solve.problem import Problem
from cotree.solve.run import Run
from cotree.solve.simulate import output_grid, simulate
from cotree.solve.sizes import Sizes
from cotree.solve.spins import without_idle
from cotree.solve.tangent import Freedom, Tangent, flat, independent, numbers

Array = NDArray[np.float64]

NEWTON_STEPS = 6
CLOSED = 1e-10
"""Gap of a closed loop, as a part of the size of the mechanism."""
JUMP = 0.3
"""Correction of a predicted position, as a part of the predicted motion, above which shorter steps are taken."""
FARTHEST = 1.0
"""Most that a coordinate moves in one step, in rad or m: beyond, another way of assembly may be as close."""
LEAST = 500
"""Least number of intervals in a run, each of which is halved; output times may be fewer."""
MOST = 100_000
"""Most steps between two neighbouring times."""
SHORTEST = 2.0**-20
"""Shortest step, as a part of the distance of two neighbouring times."""


@helpful
def kinematics(
    equations: SystemEquations,
    t_end: Time,
    *,
    t_start: Time = 0.0,
    points: int | None = None,
    times: Sequence[Time] | Array | None = None,
    parameters: Mapping[str, float] | None = None,
    seconds_formulation: float = 0.0,
) -> Solution:
    """The motion of a mechanism whose degrees of freedom are all driven; the options are those of `Model.kinematics`.

    The energies of the audit are integrated by Simpson's rule over a grid of at least 500 intervals. Speed
    drivers leave positions to be integrated; such a mechanism is simulated.
    """
    clock, t_start = time.perf_counter(), seconds(t_start, "t_start")
    grid = output_grid(t_start, t_end, points, times)
    e = equations
    without_locks(e, "kinematics")
    _without_networks(e)
    p, m = numbers(e, parameters, t_start)
    e = without_idle(e, t_start, p, m) if len(e.u) > len(e.multipliers) else e
    driven = _Driven(e, p)
    driven.check_freedom(t_start, m)
    assert e.mechanics is not None
    assert equations.mechanics is not None
    still = substitute(e.kinematics, e.u.symbols, 0)
    by_speed = equations.mechanics.position.numel() < len(equations.multipliers)
    if by_speed or not still.is_zero():
        return simulate(e, t_end, t_start=t_start, times=grid.tolist(), parameters=parameters)
    fine = _refined(np.unique(np.concatenate([[t_start], grid])))
    with driven.interrupts:
        motion, failure = driven.positions(fine)
    if e.mechanics.position.numel() < len(e.multipliers):  # spins are at rest by their speeds, and are integrated
        return _simulated(e, grid, parameters, fine[: motion.shape[1]], failure)
    if not motion.shape[1]:
        assert failure is not None
        raise failure
    reached = fine[: motion.shape[1]]
    rows, powers = driven.results(reached, motion)
    kept = np.isin(reached, grid)
    both = seconds_formulation, time.perf_counter() - clock
    solution = driven.solution(reached, kept, rows, _accumulated(reached, powers), both)
    if failure is not None:
        failure.solution = replace(solution, complete=False)
        raise failure
    if (pushed := pushing_cable(e, solution)) is not None:
        raise pushed
    return solution


def _simulated(
    e: SystemEquations, grid: Array, parameters: Mapping[str, float] | None, reached: Array, failure: SolveError | None
) -> Solution:
    """The run over all times; or over those before a dead point, where a run would creep, and the failure there."""
    within = grid if failure is None else grid[np.isin(grid, reached)]
    if failure is None or len(within) > 1:
        start = float(reached[0])
        solution = simulate(e, float(within[-1]), t_start=start, times=within.tolist(), parameters=parameters)
    if failure is None:
        return solution
    if len(within) > 1:
        failure.solution = replace(solution, complete=False)
    raise failure


@dataclass
class _Driven:
    """A mechanism with as many constraints as speeds."""

    e: SystemEquations
    p: Array
    steps: int = 0
    interrupts: Interrupts = field(default_factory=Interrupts)

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.e.q), len(self.e.u)

    def check_freedom(self, t: float, m: Array) -> None:
        """Say which coordinates nothing drives."""
        e = self.e
        tangent = Tangent.of(e)
        left = len(e.u) - len(e.multipliers)
        if left <= 0:
            return
        assert e.assemble is not None
        q, u = e.assemble(self.p, t)
        here = tangent.at(t, q, u, np.zeros(len(u)), np.zeros(len(e.multipliers)), self.p, m)
        free = here.N @ Freedom.of(here.G).B
        names = [e.q.names[k] for k in independent(free)]
        one = left == 1
        if e.mechanics is not None and e.mechanics.elastic:
            raise SolveError(
                f"flexible bodies move by themselves: {listing(names)} cannot be driven",
                expected="rigid bodies for kinematics and inverse dynamics",
                remedy="Replace the flexible bodies by rigid ones, or simulate the motion",
            )
        raise SolveError(
            f"{left} degree{' of freedom is' if one else 's of freedom are'} not driven: {listing(names)} may move",
            expected="a driver for every degree of freedom",
            remedy=f"Add {'Drive' if e.nodal is None else 'Moved'}(...) on {listing(names)}, or simulate the motion",
        )

    @cached_property
    def _known(self) -> list[ca.SX]:
        e = self.e
        return [e.t, e.q.symbols, e.p.symbols, e.mode_symbols]

    @cached_property
    def step(self) -> ca.Function:
        """(q, u, u', t before; t, m, p) -> (q, u, u', t; gap, correction over motion)."""
        e = self.e
        assert e.mechanics is not None
        mech = e.mechanics
        count, n = self.sizes
        t, q, p, m = self._known
        u = e.u.symbols
        G = slopes(mech.velocity, u)
        still = substitute(mech.velocity, u, 0)
        gamma = substitute(mech.acceleration, e.u_dot, 0)
        gaps = ca.vertcat(mech.position, ca.SX.zeros(len(e.multipliers) - mech.position.numel()))  # none of spins
        parts = ca.Function("parts", [t, q, p, m], [ca.densify(gaps), G, still], common_parts(gaps, G, still))
        bend = ca.Function("bend", [t, q, u, p, m], [G, gamma], common_parts(G, gamma))
        moved = Tangent.of(e).advanced
        before = ca.MX.sym("before", count + 2 * n + 1)
        now, mode, value = ca.MX.sym("t"), ca.MX.sym("m", m.numel()), ca.MX.sym("p", p.numel())
        q0, u0, a0, t0 = ca.vertsplit(before, [0, count, count + n, count + 2 * n, count + 2 * n + 1])
        h = now - t0
        ahead = h * u0 + h**2 / 2 * a0
        place, correction = moved(now, q0, ahead, value, mode), ca.MX.zeros(n)
        for _ in range(NEWTON_STEPS):
            gap, matrix, _ = parts(now, place, value, mode)
            delta = -ca.solve(matrix, gap, "csparse")
            place, correction = moved(now, place, delta, value, mode), correction + delta
        gap, matrix, rest = parts(now, place, value, mode)
        speed = -ca.solve(matrix, rest, "csparse")
        matrix, curve = bend(now, place, speed, value, mode)
        acceleration = -ca.solve(matrix, curve, "csparse")
        jump = ca.fmax(ca.norm_inf(correction) / (JUMP * ca.norm_inf(ahead) + 1e-6), ca.norm_inf(ahead) / FARTHEST)
        checks = ca.vertcat(ca.norm_inf(gap), jump)
        after = ca.vertcat(place, speed, acceleration, now)
        return ca.Function("step", [before, now, mode, value], [ca.densify(after), ca.densify(checks)])

    def modes(self, times: Array) -> Array:
        """Values of the modes, one column for each time."""
        values = Problem.of(self.e).mode_values(times[None, :], self.p)
        return np.asarray(values, dtype=float).reshape(-1, len(times))

    def positions(self, times: Array) -> tuple[Array, SolveError | None]:
        """q, u, u' and t, one column for each time as far as the mechanism moves, and why it stops."""
        e = self.e
        assert e.assemble is not None
        count, n = self.sizes
        if not n:
            return np.vstack([np.zeros((0, len(times))), times]), None
        q, u = e.assemble(self.p, float(times[0]))
        here = np.concatenate([q, u, np.zeros(n), times[:1]])
        size = max(1.0, float(np.abs(q).max(initial=0.0)))
        modes = self.modes(times)
        found = [self._checked(here, float(times[0]), modes[:, 0], size)]
        if found[0] is None:
            return np.zeros((count + 2 * n + 1, 0)), self._stuck(here, float(times[0]), modes[:, 0])
        columns: list[Array] = [found[0]]
        many = len(times)
        while len(columns) < len(times):
            k = len(columns)
            ahead = slice(k, k + many)
            good = self._many(columns[-1], times[ahead], modes[:, ahead], size)
            columns += list(good.T)
            whole = good.shape[1] == len(times[ahead])
            many = 2 * many if whole else max(good.shape[1], many // 4, 1)  # a failure far ahead spoils a whole call
            k = len(columns)
            if whole:
                continue
            after = self._shorter(columns[-1], float(times[k]), modes[:, k], size)
            if after is None:
                return np.column_stack(columns), self._stuck(columns[-1], float(times[k]), modes[:, k])
            columns.append(after)
        return np.column_stack(columns), None

    def _many(self, before: Array, times: Array, modes: Array, size: float) -> Array:
        """Steps over all times in one native call, up to the first that is not good."""
        self.steps += len(times)
        chain = self.step.mapaccum(len(times))
        try:
            found = chain(before, times[None, :], modes, np.tile(self.p[:, None], (1, len(times))))
        except RuntimeError:  # a matrix without inverse on the way
            self.interrupts.check()
            return np.zeros((len(before), 0))
        after, checks = (np.asarray(part, dtype=float) for part in found)
        good = np.isfinite(after).all(axis=0) & (checks[0] < CLOSED * size) & (checks[1] < 1)
        return after[:, : len(times) if good.all() else int(np.argmin(good))]

    def _shorter(self, before: Array, t: float, m: Array, size: float) -> Array | None:
        """The state at a time by steps as short as they have to be."""
        start = float(before[-1])
        h = (t - start) / 2
        for _ in range(MOST):
            if before[-1] >= t:
                return before
            h = min(h, t - before[-1])
            after = self._checked(before, t if h == t - before[-1] else before[-1] + h, m, size)
            if after is not None:
                before, h = after, 2 * h
                continue
            h /= 2
            if h < SHORTEST * (t - start):
                return None
        return None

    def _checked(self, before: Array, t: float, m: Array, size: float) -> Array | None:
        self.steps += 1
        try:
            after, checks = (flat(part) for part in self.step(before, t, m, self.p))
        except RuntimeError:
            self.interrupts.check()
            return None
        jumps = t != before[-1] and checks[1] >= 1
        return None if jumps or not (np.isfinite(after).all() and checks[0] < CLOSED * size) else after

    def _stuck(self, before: Array, t: float, m: Array) -> SolveError:
        e = self.e
        count, n = self.sizes
        zeros = np.zeros(n), np.zeros(len(e.multipliers))
        here = Tangent.of(e).at(t, before[:count], before[count : count + n], *zeros, self.p, m)
        worst = e.multipliers.names[int(np.argmax(np.abs(here.position)))].removeprefix("lambda ")
        return SolveError(
            f"the mechanism cannot follow its drivers beyond t = {before[-1]:g} s: {worst} opens, or a dead point",
            expected="courses within reach of the mechanism",
            remedy="Change the course or the lengths; results before are kept",
        )

    @cached_property
    def _forces(self) -> ca.Function:
        """(t, q, u, u', m, p) -> u', lambda: the multipliers that balance a known motion."""
        e = self.e
        assert e.mechanics is not None
        t, q, p, m = self._known
        u, a = e.u.symbols, e.u_dot
        bare = substitute(e.mechanics.balance, e.multipliers.symbols, 0)
        G = slopes(e.mechanics.velocity, u)
        parts = ca.Function("bare", [t, q, u, a, m, p], [bare, G], common_parts(bare, G))
        known = [ca.MX.sym(name, *s.shape) for name, s in zip("tquamp", (t, q, u, a, m, p), strict=True)]
        force, matrix = parts(*known)
        return ca.Function("forces", known, [ca.vertcat(known[3], ca.solve(matrix.T, force, "csparse"))])

    def results(self, times: Array, motion: Array) -> tuple[Array, Array]:
        """Stored energy and all outputs, and the powers that are integrated, one column for each time."""
        problem = Problem.of(self.e)
        count, n = self.sizes
        t, m = times[None, :], self.modes(times)
        x, a = motion[: count + n], motion[count + n : count + 2 * n]
        w: Any = np.zeros((0, len(times)))
        p = np.tile(self.p[:, None], (1, len(times)))
        if n:
            w = self._forces(t, x[:count], x[count:], a, m, p)
        rows, powers = (
            np.asarray(function(t, x, w, p, m), dtype=float).reshape(-1, len(times))
            for function in (problem.outputs, problem.quadratures)
        )
        inner = [(self.e.q.names + self.e.u.names).index(name) for name in inner_states(self.e)]
        return np.vstack([rows, x[inner]]), powers

    def solution(
        self, t: Array, kept: NDArray[np.bool_], rows: Array, integrals: Array, seconds: tuple[float, float]
    ) -> Solution:
        """The results at the output times, put together as those of a run."""
        problem, method = (
            Problem.of(self.e),
            cast(Integrator, SimpleNamespace(name="kinematics", settles=True, worst=0.0, options=Options())),
        )
        run = Run(problem, method, t, float(t[0]), self.p, Sizes.ones(problem, t[0]), Limits.none(t[0]))
        run.add(t, rows, integrals)
        run.steps = run.evaluations = self.steps
        run.stretches, run.start_energy = 1, float(rows[0, 0])
        edges = run.edges(np.zeros(0))
        run.begun, _ = kinked_drivers(run, edges, [run._modes(a, b) for a, b in pairwise(edges)], every=True)
        whole = run.solution(CLOSED, None, *seconds)
        assert whole is not None
        audit = whole.audit
        over_time = {name: getattr(audit, name)[kept] for name in ("t", "stored", "dissipated", "supplied")}
        return replace(
            whole,
            t=t[kept],
            values={name: value[kept] for name, value in whole.values.items()},
            audit=replace(audit, **over_time),
        )


def _without_networks(e: SystemEquations) -> None:
    """Refuse machines, whose currents, pressures and signals follow from what was before."""
    if e.domains:
        raise SolveError(
            f"'{e.name}' has networks or blocks of signals, whose states are not found at each time by itself",
            expected="a mechanism alone, with all of its degrees of freedom driven",
            remedy="Simulate it: drivers and networks go together there",
        )


def _refined(times: Array) -> Array:
    """The times with so many between them that there are enough intervals, each of them halved."""
    if len(times) < 2:
        return times
    parts = 2 * math.ceil(LEAST / (len(times) - 1))
    inner = times[:-1, None] + np.diff(times)[:, None] * np.arange(parts) / parts
    return np.append(inner.ravel(), times[-1])


def _accumulated(times: Array, powers: Array) -> Array:
    """Integrals over times of which every second is the middle of its neighbours, by Simpson's rule."""
    total = np.zeros_like(powers)
    count = (len(times) - 1) // 2
    h = times[2 : 2 * count + 1 : 2] - times[0 : 2 * count - 1 : 2]
    a, b, c = powers[:, 0 : 2 * count - 1 : 2], powers[:, 1 : 2 * count : 2], powers[:, 2 : 2 * count + 1 : 2]
    if count:
        total[:, 2 : 2 * count + 1 : 2] = np.cumsum(h * (a + 4 * b + c) / 6, axis=1)
        total[:, 1 : 2 * count : 2] = total[:, 0 : 2 * count - 1 : 2] + h * (5 * a + 8 * b - c) / 24
    return total
