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
from cotree.results import Restart, Solution
from cotree.solve.doubts import until
from cotree.solve.impact import AT_REST, HUNG, impact
from cotree.solve.joined import joined
from cotree.solve.locks import TOGETHER, LockEvent, check_reach, jumps
from cotree.solve.mechanism import Mechanism
from cotree.solve.problem import Problem
from cotree.solve.recording import Recording

Array = NDArray[np.float64]

RESTING = 1e-3
"""Speed of a gap, as a part of the largest at which it has closed, below which a stop does not rebound any more."""
SOON = np.logspace(-7, -2, 41)
"""Parts of the time left at which events are looked for after an impact."""
SLACK = 1e-10
"""How far in m or rad a gap that is closed at the start of a phase may go beyond its limit."""
LEAST = 1e-12
"""The least such pull, in N or N m."""
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
    equations: SystemEquations, t_start: float, events: Sequence[Event], one: Callable[..., Solution],
    start: Any, p: Array, drifts: list[float], record: Recording,
) -> Solution:  # fmt: skip
    """Integrate over the grid with every latch and stop; ``one`` integrates one set of equations.

    ``one`` notes in ``drifts`` by how much its method let positions drift. An earlier run in ``record`` goes on.
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
    return _Phases(equations, record.grid, t_start, tuple(events), one, p, drifts, record).run(start)


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
    record: Recording = dataclasses.field(default_factory=Recording)
    parts: list[Solution] = dataclasses.field(default_factory=list)
    offsets: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    """Energy dissipated and supplied before each part, with the impact at its start."""
    closings: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    fastest: dict[str, float] = dataclasses.field(default_factory=dict)
    written: dict[frozenset[str], SystemEquations] = dataclasses.field(default_factory=dict)
    """Equations by what is closed in them."""

    def run(self, start: Any) -> Solution:
        """The whole solution."""
        self.written[frozenset()] = self.first
        equations, given = self._begun(start) if self.record.at is None else self._gone_on(self.record.at)
        try:
            self._all(equations, given)
        except FormulationError as reason:
            when = f"t = {self.parts[-1].t[-1] if self.parts else self.t_start:g} s"
            error = SolveError(f"the motion cannot go on at {when}: {reason}")
            error.solution = self._joined(False)
            raise error from None
        except SolveError as error:
            rest = error.solution
            if isinstance(rest, Solution) and len(rest.t):
                self.parts.append(rest)
            error.solution = self._joined(False)
            raise
        found = self._joined()
        assert found is not None
        return found

    def _all(self, equations: SystemEquations, given: Any) -> None:
        """Phase after phase, to the end."""
        at = self.record.at
        t = self.t_start if at is None else at.t
        while True:
            self._prepare(equations)
            done = self._looked(equations, t, self._ahead(t, at), given, at)
            self._check_turns(equations, done)
            ended = next((lock for lock in self._closing(equations, done)), None)
            self.parts.append(done)
            self.record.settle(done)
            at = None
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

    def _gone_on(self, at: Restart) -> tuple[SystemEquations, Any]:
        """The equations and the state from which an earlier run goes on; its energies are in the state's integrals."""
        assert self.record.past is not None
        self.parts, self.offsets = [self.record.past], [(0.0, 0.0)] * 2
        self.drifts.append(float(at.said["drift"]))
        self.closings = {name: list(times) for name, times in at.said["closings"].items()}
        self.fastest = dict(at.said["fastest"])
        x, names = at.numbers["x"], self.first.q.names + self.first.u.names
        found = self._with(at.said["closed"], x[: len(self.first.q)], at.t)[0] if at.said["closed"] else self.first
        return found, dict(zip(names, x.tolist(), strict=True))

    def _prepare(self, equations: SystemEquations) -> None:
        """Tell the record what it has to know of the phase that begins."""
        offset = self.record.offset = self.offsets[-1]
        before = self.record.rows

        def placed(restart: Restart) -> Restart:
            numbers = {**restart.numbers, "quad": restart.numbers["quad"].copy()}
            numbers["quad"][:2] += offset
            said = {**restart.said, "drift": max(self.drifts, default=0.0), "closed": list(equations.closed)}
            said |= {"closings": self.closings, "fastest": self.fastest}
            return dataclasses.replace(restart, rows=restart.rows + before, numbers=numbers, said=said)

        def doubt(so_far: Solution) -> bool:
            turned = (self._anew(equations, lock, so_far) for lock in equations.locks)
            return len(self._turning(equations, so_far)) > 0 or any(len(each) for each in turned)

        self.record.placed, self.record.doubt = placed, doubt

    def _book(self, energies: tuple[float, float]) -> None:
        """Add the energies of an impact to all that was dissipated and supplied before."""
        gone, given = self.offsets[-1] if self.offsets else (0.0, 0.0)
        if self.parts:
            audit = self.parts[-1].audit
            gone, given = gone + float(audit.dissipated[-1]), given + float(audit.supplied[-1])
        self.offsets.append((gone + energies[0], given + energies[1]))

    def _begun(self, start: Any) -> tuple[SystemEquations, Any]:
        """The equations at the start, and the start: locks that are at their limit then are closed."""
        e, t = self.first, self.t_start
        if isinstance(start, str) or e.assemble is None:
            self._book((0.0, 0.0))
            return e, start
        q, u = e.assemble(self.p, t, start)
        self._check_start(q)
        closing = [lock for lock in e.locks if self._at_limit(e, lock, q, u, t)]
        if not closing:
            self._book((0.0, 0.0))
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

    def _looked(self, equations: SystemEquations, t: float, left: Array, given: Any, at: Restart | None) -> Solution:
        """One phase, looked at again where a gap may have closed and opened between two looks."""
        for _ in range(AGAIN):
            done = self._phase(equations, t, left, given, at)
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

    def _phase(self, equations: SystemEquations, t: float, left: Array, given: Any, at: Restart | None) -> Solution:
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
        return self.one(equations, left, t, given, (*self.events, *watched), at)

    def _ahead(self, t: float, at: Restart | None) -> Array:
        """Output times after an impact, and further ones to look at soon after it: rebounds become short."""
        left = self.grid[at.rows :] if at is not None else self.grid[self.grid > t] if self.parts else self.grid
        begin = t if at is None else float(at.said["begin"])
        ways = np.concatenate([SOON if begin > self.t_start else [], EVEN])
        looks = begin + (left[-1] - begin) * ways
        return np.unique(np.concatenate([left, looks[looks > t]]))

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
                after, energies, worst = impact(hit, q, u, t, self.p, self._modes(hit, t), speeds)
                if not worst:
                    break
                struck.remove(worst)
                hit, q = self._shut(e, struck, q, t)
            u, names = after, [name for name in struck if not speeds.get(name)]
        self._book(energies)
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
            anew = self._anew(equations, lock, done)
            if len(anew):
                k, angle = int(anew[0]), done[lock.measure]
                error = SolveError(
                    f"at t = {done.t[k]:g} s its angle turns past {angle[k]:.3g} rad, where it begins anew beyond its "
                    "limit",
                    where=lock.name,
                    expected="an angle within half a turn of the middle between its start and its limit",
                    remedy="Give both limits, or end the run earlier; results before are kept",
                )
                error.solution = until(done, k + 1)
                raise error

    @staticmethod
    def _anew(equations: SystemEquations, lock: Lock, done: Solution) -> NDArray[np.intp]:
        """Numbers of the points after which the angle of an open stop begins anew."""
        if not lock.side or lock.name in equations.closed or equations.outputs[lock.measure].unit != "rad":
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(jumps(done.t, done[lock.measure], done[f"{lock.measure}_rate"]))

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

    def _joined(self, complete: bool = True) -> Solution | None:
        """All phases as one solution on the grid that was asked for; None where an incomplete one has no points."""
        return joined(self.parts, self.offsets, self.grid, self.events, self.closings, complete)


def _shut(lock: Lock) -> str:
    """The event in which it closes."""
    return f"{lock.name} closes"


def _lifted(lock: Lock) -> str:
    """The event in which it would have to pull."""
    return f"{lock.name} would pull"
