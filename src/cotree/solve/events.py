"""Events: times at which an expression of results passes zero, recorded, or the end of the run.

The motion is looked at on the output grid and on a thousand points between; each change of sign is then located by
integrating again from the point before it, with the same method.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError, SolveError, nearest
from cotree.formulation import SystemEquations
from cotree.maths.symbolic import SYMBOLIC, column
from cotree.model import Expression
from cotree.model.event import Event
from cotree.results import Solution
from cotree.solve.courses import inner_states, result_units
from cotree.solve.doubts import events_until
from cotree.solve.integrator import Integrator
from cotree.solve.locks import LockEvent, jumps
from cotree.solve.sizes import History

if TYPE_CHECKING:
    from cotree.solve.run import Run

Array = NDArray[np.float64]

LOOKS = 1001
"""Even points over the run at which events are looked for, beside the output grid."""
SHARP = 1e-11
"""Accuracy of an event's time, in s and as a part of the run."""


class Watch:
    """The events of one run."""

    def __init__(self, equations: SystemEquations, events: Sequence[Event]) -> None:
        names = [event.name for event in events]
        if len(set(names)) < len(names):
            raise ModelError(f"two events are called '{max(names, key=names.count)}'", expected="a name for each")
        self.e, self.events = equations, tuple(events)
        self.names = list(result_units(equations))
        self.signs = self._function()
        self.found: list[_Passing] = []
        """Events that are recorded, as far as they were looked for."""
        self._pieces = 0
        self._before: tuple[History, Array, Array] | None = None
        self._method: Integrator | None = None

    def _function(self) -> ca.Function:
        """(t, results, p) -> the events' expressions."""
        e = self.e
        rows = ca.SX.sym("y", len(self.names))
        inner = inner_states(e)
        known: dict[str, Any] = {name: rows[k] for k, name in enumerate(self.names) if name not in inner}
        known |= {name: e.p.symbols[k] for k, name in enumerate(e.p.names) if name not in known}
        known["t"] = e.t
        found = []
        for event in self.events:
            if isinstance(event, LockEvent):
                found.append(ca.SX(event.sign * known[event.result] - event.limit))
                continue
            read = Expression(event.when)
            for name in sorted(read.names - known.keys()):
                raise ModelError(
                    f"there is no result '{name}'",
                    where=event.name,
                    expected="results, parameters and t",
                    remedy=nearest(name, list(known)),
                )
            found.append(ca.SX(read.evaluate(known, SYMBOLIC)))
        return ca.Function("events", [e.t, rows, e.p.symbols], [ca.densify(column(found))])

    def grid(self, run: Run) -> Array:
        """The output grid with more points to look at, and all break points."""
        begin = run.t_start if run.begin is None else run.begin
        even = np.linspace(begin, float(run.grid[-1]), LOOKS)
        return np.unique(np.concatenate([run.grid, run.edges(np.zeros(0)), even[even > run.t_start]]))

    def values(self, run: Run, times: Array, results: Array) -> Array:
        """The events' expressions, one column for each time."""
        values = self.signs(times[None, :], results, np.tile(run.p[:, None], (1, len(times))))
        return np.asarray(values, dtype=float).reshape(len(self.events), len(times))

    @property
    def stopping(self) -> bool:
        """Whether one of the events stops the run."""
        return any(event.action == "stop" for event in self.events)

    def stops(self, run: Run) -> bool:
        """Whether the run has passed an event that stops it; those that are recorded are located up to here."""
        new = run.history(self._pieces)
        self._pieces = len(run.times)
        if new is None:
            return False
        results = run.results(new.outputs, new.quad)
        values = self.values(run, new.t, results)
        if self._before is not None:
            old, *before = self._before
            results, values = (np.hstack(each) for each in zip(before, (results, values), strict=True))
            new = old.then(new)
        found, stopped = [], False
        for number, event in enumerate(self.events):
            for k in self._passes(number, new.t, values, results):
                ends = float(values[number, k]), float(values[number, k + 1])
                found.append(self._locate(run, number, k, new, results[:, k], ends))
                if event.action == "stop":
                    stopped = True
                    break
        self.found += sorted(found, key=lambda each: each.t)
        self._before = new.last(), results[:, -1:], values[:, -1:]
        return stopped

    def _passes(self, number: int, t: Array, values: Array, results: Array) -> list[int]:
        """Numbers of the points after which an event passes zero; an angle that begins anew passes nothing."""
        event = self.events[number]
        found = _passes(values[number], event.direction)
        if not found or not isinstance(event, LockEvent) or not event.rate:
            return found
        anew = jumps(t, *(results[self.names.index(name)] for name in (event.result, event.rate)))
        return [k for k in found if not anew[k]]

    def finish(self, run: Run, solution: Solution, grid: Array) -> tuple[Solution, bool]:
        """The solution on the grid that was asked for, with its events; and whether one of them ended it."""
        self.stops(run)
        ends = [each for each in self.found if each.event.action == "stop"]
        last = ends[0].t if ends else np.inf
        found = [each for each in self.found if each.t <= last]
        keep = np.isin(solution.t, grid) & (solution.t < last - 2 * SHARP)
        audit = solution.audit
        parts = [solution.t, audit.stored, audit.dissipated, audit.supplied, *solution.values.values()]
        kept = [part[keep] for part in parts]
        if ends:
            kept = [np.append(part, value) for part, value in zip(kept, ends[0].row, strict=True)]
        t, stored, dissipated, supplied, *values = kept
        switched = events_until(solution, last)
        records = {event.name: [each for each in found if each.event is event] for event in self.events}
        result = dataclasses.replace(
            solution,
            t=t,
            values=dict(zip(self.names, values, strict=True)),
            audit=dataclasses.replace(audit, t=t, stored=stored, dissipated=dissipated, supplied=supplied),
            events={**switched.events} | {name: np.array([each.t for each in here]) for name, here in records.items()},
            event_values={**switched.event_values}
            | {
                name: {key: np.array([each.results[k] for each in here]) for k, key in enumerate(self.names)}
                for name, here in records.items()
            },
            complete=bool(ends) or solution.complete,
        )
        return result, bool(ends)

    def _locate(
        self, run: Run, number: int, k: int, history: History, before: Array, ends: tuple[float, float]
    ) -> _Passing:
        from scipy.optimize import brentq  # slow to load, and most runs have no events

        a, b = float(history.t[k]), float(history.t[k + 1])
        m = run._modes(a, b)
        if self._method is None:  # another one: the run's own goes on from where it is
            self._method = run.method.twin()
        method = self._method
        x, z, quad = history.x[:, k], history.z[:, k], history.quad[:, k]

        def at(t: float) -> _Passing:
            scale, longest = run.sizes.at(a), run.limits.at(a)
            done = method.integrate(a, np.array([t]), x, z, run.p, m, scale, longest)
            rows = run._outputs(np.array([t]), done.x, done.z, m)[:, 0]
            integrals = quad + done.quad[:, -1]
            run.bank(rows, integrals)
            results = self._continued(run.results(rows, integrals).copy(), before)
            return _Passing(self.events[number], t, np.array([rows[0], *integrals[:2]]), results)

        def sign(t: float) -> float:
            if t in (a, b):
                return ends[0] if t == a else ends[1]
            return float(self.values(run, np.array([t]), at(t).results[:, None])[number, 0])

        try:
            t = b if ends[1] == 0 else float(brentq(sign, a, b, xtol=SHARP * min(1.0, b - a), rtol=1e-15))
            return at(max(t, a + SHARP * min(1.0, b - a)))
        except (RuntimeError, ValueError) as reason:
            raise SolveError(
                f"the event '{self.events[number].name}' between t = {a:g} and {b:g} s cannot be located ({reason})",
                remedy="Tighten rtol, or choose another integrator",
            ) from None

    def _continued(self, results: Array, before: Array) -> Array:
        """Results with angles and signs of Euler parameters as near as they can be to those a little before."""
        near = self.e.near_angles()
        for k, name in enumerate(self.names):
            if name in near:
                results[k] += 2 * np.pi * np.round((before[k] - results[k]) / (2 * np.pi))
            elif name.endswith(".orientation.e0") and results[k : k + 4] @ before[k : k + 4] < 0:
                results[k : k + 4] *= -1
        return results


@dataclass(frozen=True)
class _Passing:
    """One event: its time; stored, dissipated and supplied energy; and all results."""

    event: Event
    t: float
    energies: Array
    results: Array

    @property
    def row(self) -> list[float]:
        """Time, energies and results, in the order of a solution."""
        return [self.t, *self.energies, *self.results]


def _passes(values: Array, direction: str) -> list[int]:
    """Numbers of the points after which a value passes zero."""
    before, after = values[:-1], values[1:]
    up, down = (before < 0) & (after >= 0), (before > 0) & (after <= 0)
    chosen = up if direction == "up" else down if direction == "down" else up | down
    return [int(k) for k in np.flatnonzero(chosen)]


def checked_events(events: Any) -> tuple[Event, ...]:
    """Events as the user gave them: one, several, or as mappings."""
    given = [events] if isinstance(events, (Event, Mapping)) else list(events or ())
    return tuple(_event(each) for each in given)


def _event(given: Any) -> Event:
    if isinstance(given, Event):
        return given
    try:
        return Event(**given)
    except TypeError:
        raise ModelError(f"an event {given!r}", expected="name, when, direction, action") from None
