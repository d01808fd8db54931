"""Runs of structures with latches and stops: one phase after the other, with an impact between them.

When a latch or a stop closes, velocities jump so that the new equation holds, by the least change in the mass metric:
M du = A^T I, with the impulses I of all that holds. A latch and a stop without restitution take the closing speed away;
with restitution e the speed of the gap changes its sign and keeps the part e. The kinetic energy that is lost is booked
as dissipated, the work of moved supports in it as supplied. A stop opens again when it would have to pull.

A gap that is closed when a phase begins has no sign that rounding leaves alone. An open stop is then taken to close a
little beyond its limit, and a closed one to open at a little pull, so that neither is missed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError, ModelError, SolveError, listing
from cotree.formulation.system import Lock, SystemEquations
from cotree.model.event import Event
from cotree.results import Solution
from cotree.solve.doubts import until
from cotree.solve.joined import joined
from cotree.solve.locks import TOGETHER, LockEvent, check_reach, jumps
from cotree.solve.mechanism import Mechanism
from cotree.solve.problem import Problem

Array = NDArray[np.float64]

RESTING = 1e-3
"""Speed of a gap, as a part of the largest at which it has closed, below which a stop does not rebound any more."""
SOON = np.logspace(-7, -2, 41)
"""Parts of the time left at which events are looked for after an impact."""
SLACK = 1e-10
"""How far in m or rad a gap that is closed at the start of a phase may go beyond its limit."""
HUNG = 1e-9
"""Pull at which a stop opens, as a part of the largest force at the start of the phase."""
LEAST = 1e-12
"""The least such pull, in N or N m."""
AT_REST = 1e-12
"""Rate of a gap, over the largest speed or 1, below which it does not open at the start."""
EVEN = np.linspace(0, 1, 1001)[1:]
"""Parts of the time left at which they are always looked for."""
AGAIN = 4
"""How often a phase is looked at."""
WAYS = {0: "both", 1: "down", -1: "up"}
"""How a gap passes zero by the side of its lock."""
MOVED = 1e-6
"""Way of a node, over the size of the structure, that closing a lock may take."""
MOST_IMPACTS = 10_000
"""Impacts of one run."""


def simulate_phases(
    equations: SystemEquations, grid: Array, t_start: float, events: Sequence[Event], one: Callable[..., Solution],
    start: Any, p: Array, drifts: list[float],
) -> Solution:  # fmt: skip
    """Integrate over the grid with every latch and stop; ``one`` integrates one set of equations.

    ``one`` notes in ``drifts`` by how much its method let positions drift.
    """
    for event in events:
        if event.name in {lock.name for lock in equations.locks}:
            raise ModelError(
                f"an event is called '{event.name}', as a latch or stop is",
                where=event.name,
                expected="a name of its own",
                remedy="Give the event another name",
            )
    check_reach(equations, p)
    return _Phases(equations, grid, t_start, tuple(events), one, p, drifts).run(start)


@dataclasses.dataclass
class _Phases:
    """A run in phases: what is closed, and the solutions so far."""

    first: SystemEquations
    grid: Array
    t_start: float
    events: tuple[Event, ...]
    one: Callable[..., Solution]
    p: Array
    drifts: list[float]
    parts: list[Solution] = dataclasses.field(default_factory=list)
    lost: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    """Energy dissipated and supplied in the impact before each part."""
    closings: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    fastest: dict[str, float] = dataclasses.field(default_factory=dict)
    written: dict[frozenset[str], SystemEquations] = dataclasses.field(default_factory=dict)
    """Equations by what is closed in them."""

    def run(self, start: Any) -> Solution:
        """The whole solution."""
        self.written[frozenset()] = self.first
        equations, given = self._begun(start)
        try:
            self._all(equations, given)
        except FormulationError as reason:
            when = f"t = {self.parts[-1].t[-1] if self.parts else self.t_start:g} s"
            error = SolveError(f"the motion cannot go on at {when}: {reason}")
            error.solution = self._joined(False)
            raise error from None
        except SolveError as error:
            rest = error.solution
            self.parts += [rest] if isinstance(rest, Solution) and len(rest.t) else []
            error.solution = self._joined(False)
            raise
        found = self._joined()
        assert found is not None
        return found

    def _all(self, equations: SystemEquations, given: Any) -> None:
        """Phase after phase, to the end."""
        t = self.t_start
        while True:
            done = self._looked(equations, t, self._ahead(t), given)
            self._check_turns(equations, done)
            ended = next((lock for lock in self._closing(equations, done)), None)
            self.parts.append(done)
            if ended is None and not self._opening(equations, done):
                break
            t = float(done.t[-1])
            q, u = (np.array([done[name][-1] for name in part.names]) for part in (equations.q, equations.u))
            closing = [] if ended is None else self._together(equations, q, u, t, ended)
            for lock in closing:
                self.closings.setdefault(lock.name, []).append(t)
            if any(lock.ends for lock in closing):
                break
            if not (self.grid > t).any():
                break
            opened = [] if closing else self._opening(equations, done)
            equations, given = self._changed(equations, q, u, t, closing, opened)
            if sum(len(each) for each in self.closings.values()) > MOST_IMPACTS:
                raise SolveError(
                    f"more than {MOST_IMPACTS} impacts up to t = {t:g} s",
                    remedy="Give the stop less restitution, or none",
                )

    def _begun(self, start: Any) -> tuple[SystemEquations, Any]:
        """The equations at the start, and the start: locks that are at their limit then are closed."""
        e, t = self.first, self.t_start
        if isinstance(start, str) or e.assemble is None:
            self.lost.append((0.0, 0.0))
            return e, start
        q, u = e.assemble(self.p, t, start)
        self._check_start(q)
        closing = [lock for lock in e.locks if self._at_limit(e, lock, q, u, t)]
        if not closing:
            self.lost.append((0.0, 0.0))
            return e, start
        for lock in closing:
            if not lock.side:
                self.closings.setdefault(lock.name, []).append(t)
        return self._changed(e, q, u, t, closing, [])

    def _at_limit(self, e: SystemEquations, lock: Lock, q: Array, u: Array, t: float) -> bool:
        """Whether a gap is closed and does not open by itself."""
        gap, rate = self._gap(e, lock, q, u, t)
        still = AT_REST * max(1.0, float(np.abs(u).max(initial=0.0)))
        return abs(gap) <= TOGETHER and (not lock.side or lock.side * rate <= still)

    def _looked(self, equations: SystemEquations, t: float, left: Array, given: Any) -> Solution:
        """One phase, looked at again where a gap may have closed and opened between two looks."""
        for _ in range(AGAIN):
            done = self._phase(equations, t, left, given)
            more = np.setdiff1d(self._turning(equations, done), left)
            if not len(more):
                break
            left = np.unique(np.concatenate([left, more]))
        return done

    def _turning(self, equations: SystemEquations, done: Solution) -> Array:
        """Times between looks at which the tangents of a gap meet beyond zero: it turns there, perhaps too late."""
        found = []
        for lock in equations.locks:
            if lock.name not in equations.closed:
                gap, rate = done[lock.measure] - self._limit(lock), done[f"{lock.measure}_rate"]
                a, b, ra, rb = gap[:-1], gap[1:], rate[:-1], rate[1:]
                turns = (a * b > 0) & (a * ra < 0) & (b * rb > 0)
                wide = np.diff(done.t)
                part = np.divide(b - a - rb * wide, ra - rb, out=np.zeros_like(a), where=turns)
                beyond = turns & (a * (a + ra * part) < 0) & (part > 1e-6 * wide) & (part < (1 - 1e-6) * wide)
                found.append((done.t[:-1] + part)[beyond])
        return np.concatenate(found) if found else np.zeros(0)

    def _phase(self, equations: SystemEquations, t: float, left: Array, given: Any) -> Solution:
        """One phase, to the end or to the next event of a lock."""
        assemble = None if isinstance(given, str) else equations.assemble
        state = None if assemble is None else assemble(self.p, t, given)
        watched, hung = [], 0.0
        for lock in equations.locks:
            if lock.name not in equations.closed:
                limit = self._limit(lock)
                if state is not None and lock.side:
                    gap = abs(self._gap(equations, lock, *state, t)[0])
                    limit -= lock.side * (2 * gap + SLACK) if gap <= TOGETHER else 0.0
                rate = f"{lock.measure}_rate" if equations.outputs[lock.measure].unit == "rad" else ""
                watched.append(LockEvent(_shut(lock), "t", WAYS[lock.side], "stop", lock.measure, 1, limit, rate))
            elif lock.side and state is not None:
                hung = hung or self._pulls(equations, *state, t)[1]
                watched.append(LockEvent(_lifted(lock), "t", "up", "stop", *lock.pull, hung))
        return self.one(equations, left, t, given, (*self.events, *watched))

    def _ahead(self, t: float) -> Array:
        """Output times after an impact, and further ones to look at soon after it: rebounds become short."""
        left = self.grid[self.grid > t] if self.parts else self.grid
        ways = np.concatenate([SOON if self.parts else [], EVEN])
        return np.unique(np.concatenate([left, t + (left[-1] - t) * ways]))

    def _limit(self, lock: Lock) -> float:
        """The limit of a lock: measure less gap."""
        e = self.first
        measure = e.outputs[lock.measure].expression
        known = [e.t, e.q.symbols, e.p.symbols, e.mode_symbols]
        limit = ca.Function("limit", known, [measure - lock.gap])
        return float(limit(0.0, e.q.start, self.p, np.zeros(e.mode_symbols.numel())))

    def _check_start(self, q: Array) -> None:
        """Refuse a stop that is passed at the start."""
        e = self.first
        for lock in e.locks:
            gap = self._gap(e, lock, q, np.zeros(len(e.u)), self.t_start)[0]
            if lock.side and lock.side * gap < -TOGETHER:
                raise SolveError(
                    f"its limit is passed by {abs(gap):.3g} at the start",
                    where=lock.name,
                    expected="a start on the free side of every stop",
                    remedy="Move the nodes, or the limit",
                )

    def _gap(self, e: SystemEquations, lock: Lock, q: Array, u: Array, t: float) -> tuple[float, float]:
        """The gap of a lock and its rate."""
        rate = ca.jtimes(lock.gap, e.q.symbols, e.u.symbols) + ca.jacobian(lock.gap, e.t)
        known = [e.t, e.q.symbols, e.u.symbols, e.p.symbols, e.mode_symbols]
        both = ca.Function("gap", known, [lock.gap, rate])(t, q, u, self.p, np.zeros(e.mode_symbols.numel()))
        return float(both[0]), float(both[1])

    def _closing(self, equations: SystemEquations, done: Solution) -> list[Lock]:
        """The locks whose gap ended a phase."""
        return [lock for lock in equations.locks if self._ended(done, _shut(lock))]

    def _opening(self, equations: SystemEquations, done: Solution) -> list[Lock]:
        """The stops that would have to pull at the end of a phase."""
        return [lock for lock in equations.locks if self._ended(done, _lifted(lock))]

    @staticmethod
    def _ended(done: Solution, name: str) -> bool:
        times = done.events.get(name, np.zeros(0))
        return bool(len(times)) and float(times[-1]) >= float(done.t[-1])

    def _together(self, e: SystemEquations, q: Array, u: Array, t: float, ended: Lock) -> list[Lock]:
        """The lock that ended a phase and all others that close at the same time, as in a symmetric structure."""
        found = []
        for lock in e.locks:
            if lock.name in e.closed:
                continue
            gap, rate = self._gap(e, lock, q, u, t)
            near = abs(gap) <= TOGETHER and (not lock.side or lock.side * rate < 0)
            if lock.name == ended.name or near:
                found.append(lock)
        return found

    def _changed(
        self, e: SystemEquations, q: Array, u: Array, t: float, closing: list[Lock], opened: list[Lock]
    ) -> tuple[SystemEquations, dict[str, float]]:
        """The equations of the next phase, and the state after the impact, whose energies are noted."""
        gone = {lock.name for lock in opened}
        names = [name for name in e.closed if name not in gone]
        energies = 0.0, 0.0
        if closing:
            struck = [*names, *(lock.name for lock in closing)]
            hit, q = self._shut(e, struck, q, t)
            speeds = {}
            for lock in closing:
                rate = self._gap(e, lock, q, u, t)[1]
                give = float(ca.Function("give", [e.p.symbols], [lock.restitution])(self.p)) if lock.side else 0.0
                fastest = self.fastest[lock.name] = max(self.fastest.get(lock.name, 0.0), abs(rate))
                resting = abs(rate) <= max(RESTING * fastest, AT_REST)
                speeds[lock.name] = 0.0 if resting else -give * rate
            while True:  # a stop that would have to pull in the impact is struck off its limit by the others
                after, energies, worst = self._impact(hit, q, u, t, speeds)
                if not worst:
                    break
                struck.remove(worst)
                hit, q = self._shut(e, struck, q, t)
            u, names = after, [name for name in struck if not speeds.get(name)]
        self.lost.append(energies)
        found, q = self._with(names, q, t)
        while True:  # a stop that would have to pull at once is open, the one that would pull most first
            pulls, hung = self._pulls(found, q, u, t)
            worst = max(pulls, key=lambda name: pulls[name], default="")
            if not worst or pulls[worst] <= hung:
                break
            names.remove(worst)
            found, q = self._with(names, q, t)
        return found, dict(zip((*found.q.names, *found.u.names), (*q, *u), strict=True))

    def _shut(self, e: SystemEquations, names: Sequence[str], q: Array, t: float) -> tuple[SystemEquations, Array]:
        """The equations with further locks closed, and the positions, which that must hardly change."""
        new = listing([repr(name) for name in names if name not in e.closed])
        here = self._with(e.closed, q, t)[1]
        try:
            hit, there = self._with(names, here, t)
        except FormulationError as reason:
            raise SolveError(f"at t = {t:g} s {new} cannot be closed: {reason}") from None
        way, size = float(np.abs(there - here).max(initial=0.0)), float(np.ptp(here))
        if way > MOVED * size + 10 * TOGETHER:
            raise SolveError(
                f"at t = {t:g} s closing {new} would move nodes by {way:.3g} m",
                expected="a latch or stop that is at its limit when it closes",
                remedy="Look at its measure over time, and at its limit; results before are kept",
            )
        return hit, there

    def _check_turns(self, equations: SystemEquations, done: Solution) -> None:
        """Refuse a stop whose angle begins anew on the other side of its limit."""
        for lock in equations.locks:
            if not lock.side or lock.name in equations.closed or equations.outputs[lock.measure].unit != "rad":
                continue
            angle = done[lock.measure]
            anew = np.flatnonzero(jumps(done.t, angle, done[f"{lock.measure}_rate"]))
            if len(anew):
                k = int(anew[0])
                error = SolveError(
                    f"at t = {done.t[k]:g} s its angle turns past {angle[k]:.3g} rad, where it begins anew beyond its "
                    "limit",
                    where=lock.name,
                    expected="an angle within half a turn of the middle between its start and its limit",
                    remedy="Give both limits, or end the run earlier; results before are kept",
                )
                error.solution = until(done, k + 1)
                raise error

    def _with(self, names: Sequence[str], q: Array, t: float) -> tuple[SystemEquations, Array]:
        """The equations with these locks closed, written once for a run, and the nearest positions that meet them."""
        key = frozenset(names)
        if key not in self.written:
            assert self.first.locked is not None
            self.written[key] = self.first.locked(tuple(names), q, t, self.p)
        found = self.written[key]
        assert found.assemble is not None
        return found, found.assemble(self.p, t, dict(zip(found.q.names, q.tolist(), strict=True)))[0]

    def _pulls(self, e: SystemEquations, q: Array, u: Array, t: float) -> tuple[dict[str, float], float]:
        """With what every closed stop would have to pull, and what counts as nothing."""
        held = [lock for lock in e.locks if lock.name in e.closed and lock.side]
        if not held:
            return {}, LEAST
        mech, m = Mechanism.of(e), self._modes(e, t)
        rates, forces = (np.asarray(each, dtype=float).ravel() for each in mech.accelerations(t, q, u, self.p, m))
        pulls = mech.function("pulls", *(lock.pull[1] * e.outputs[lock.pull[0]].expression for lock in held))
        found = [float(each) for each in pulls.call([t, q, u, rates, forces, self.p, m])]
        return dict(zip((lock.name for lock in held), found, strict=True)), max(LEAST, HUNG * float(abs(forces).max()))

    def _modes(self, e: SystemEquations, t: float) -> Array:
        """The modes from a time on."""
        after = t + 1e-9 * (float(self.grid[-1]) - t)
        return np.asarray(Problem.of(e).mode_values(after, self.p), dtype=float).ravel()

    def _impact(
        self, hit: SystemEquations, q: Array, u: Array, t: float, speeds: dict[str, float]
    ) -> tuple[Array, tuple[float, float], str]:
        """Velocities after an impact: closed gaps with given speeds, everything else that holds unchanged.

        Also the energy that is dissipated in it, and what moved supports supply; and the stop that would have to pull
        most, if there is one.
        """
        from scipy.sparse import bmat, csc_matrix, eye
        from scipy.sparse.linalg import splu

        mech = Mechanism.of(hit)
        n, m = len(u), self._modes(hit, t)
        mass, jac = (csc_matrix(each.sparse()) for each in mech.matrices(t, q, u, 0, 0, self.p, m))
        now, drift = (
            np.asarray(mech.constraints(t, q, speed, 0, 0, self.p, m)[1], dtype=float).ravel() for speed in (u, 0 * u)
        )
        rows: dict[str, int] = {}
        for k, name in enumerate(hit.multipliers.names):
            owner, _, label = name.removeprefix("lambda ").rpartition(" (")
            rows |= {owner: k, f"{owner}.{label.rstrip(')')}": k}
        wanted = np.zeros(jac.shape[0])
        for name, speed in speeds.items():
            if name in rows:
                wanted[rows[name]] = speed
        soft = 1e-13 * float(abs(mass).max())
        exact = bmat([[mass, jac.T], [jac, None]], format="csc")
        factor = splu(bmat([[mass, jac.T], [jac, -soft * eye(jac.shape[0])]], format="csc"))
        right = np.concatenate([np.zeros(n), wanted - now])
        both = np.zeros(len(right))
        for _ in range(3):  # the later rounds take out what the damping left
            both = both + factor.solve(right - exact @ both)
        after = u + both[:n]
        supplied = float(both[n:] @ drift)  # the impulses are -both[n:]
        stops = [lock for lock in hit.locks if lock.side and lock.name in hit.closed and lock.name in rows]
        pulls = {lock.name: lock.side * float(both[n + rows[lock.name]]) for lock in stops}
        worst = max(pulls, key=lambda name: pulls[name], default="")
        speed = max(1.0, float(np.abs(u).max(initial=0.0)))
        least = max(AT_REST * speed * float(abs(mass).max()), HUNG * float(np.abs(both[n:]).max(initial=0.0)))
        lost = float(u @ (mass @ u) - after @ (mass @ after)) / 2 + supplied
        return after, (lost, supplied), worst if worst and pulls[worst] > least else ""

    def _joined(self, complete: bool = True) -> Solution | None:
        """All phases as one solution on the grid that was asked for; None where an incomplete one has no points."""
        notes = self.first.notes, max(self.drifts, default=0.0)
        return joined(self.parts, self.lost, self.grid, self.events, self.closings, notes, complete)


def _shut(lock: Lock) -> str:
    """The event in which it closes."""
    return f"{lock.name} closes"


def _lifted(lock: Lock) -> str:
    """The event in which it would have to pull."""
    return f"{lock.name} would pull"
