"""A run taken down while it goes on, so that one that is killed, interrupted or fails can go on from its file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import FileError, ResultError, listing
from cotree.formulation import SystemEquations
from cotree.formulation.system import Switch
from cotree.model.event import Event
from cotree.results import Origin, Restart, Solution
from cotree.results.lock import Lock
from cotree.results.signals import held
from cotree.solve.doubts import events_until, pushing_cable, until

if TYPE_CHECKING:
    from cotree.results.journal import Journal
    from cotree.solve.run import Run

Array = NDArray[np.float64]

PAUSE = 0.2
"""Least time in s between two writes."""
BLOCK = 4096
"""Rows that are turned at once."""
COUNTS = ("steps", "evaluations", "stretches")


class Recording:
    """What is to be kept of one run: where it comes from, what was done before, and the file where it goes to.

    Without a path nothing is written. ``past`` is the unfinished solution of a run that is to go on.
    """

    def __init__(
        self,
        path: Path | None = None,
        origin: Origin | None = None,
        past: Solution | None = None,
        lock: Lock | None = None,
    ) -> None:
        self.path, self._origin = path, origin
        self._lock = lock or (None if path is None else Lock(path))
        self._held = ExitStack()
        self.past = None if past is None or past.restart is None else _up_to(past, past.restart)
        self.at = None if self.past is None else self.past.restart
        self.grid = np.zeros(0)
        self.offset = 0.0, 0.0
        """Energies dissipated and supplied before the present phase."""
        self.placed: Callable[[Restart], Restart] = lambda it: replace(it, rows=it.rows + self.rows)
        """Where the present run could go on, as a part of all; phases add what they have to know."""
        self.doubt: Callable[[Solution], bool] | None = None
        """Whether something has happened that only a second look would show; nothing is taken down from there on."""
        self.rows = 0
        """Output times of all finished phases."""
        self._given: Mapping[str, Any] = {}
        self._own: tuple[Event | Switch, ...] = ()
        self._seconds = 0.0
        self._begin = self._clock = time.perf_counter()
        self._counts = dict.fromkeys(COUNTS, 0)
        self._start: float | None = None
        self._pending: list[Solution] = []
        self._hits = 0
        self._run: Run | None = None
        self._done = 0, 0, 0, 0, 0
        self._reached = -np.inf
        self._journal: Journal | None = None
        self._broken = False
        self._head = False

    def begin(self, grid: Array, own: Sequence[Event | Switch], seconds: float, given: Mapping[str, Any]) -> None:
        """The output times, the user's events and all switches, the time to write the equations, and all options."""
        if self._lock is not None:
            self._held.enter_context(self._lock)
        self.grid, self._seconds, self._given = grid, seconds, given
        self._own = tuple({each.name: each for each in own}.values())  # several switches may share a name
        if self.past is not None:
            self.settle(self.past)

    @property
    def start(self) -> Mapping[str, float] | str | None:
        """The start values that were given for the whole run."""
        given: Mapping[str, float] | str | None = self._given.get("start")
        return given

    @property
    def going(self) -> bool:
        """Whether rows are written."""
        return self.path is not None and not self._broken

    @property
    def origin(self) -> Origin:
        """Where the solution comes from."""
        known = self._origin or Origin(why_not="the equations were solved without their model")
        return known if self.past is not None else replace(known, options=_plain(self._given))

    def check(self, e: SystemEquations, p: Array) -> None:
        """Refuse equations that are not those of the run that is to go on."""
        if self.past is None:
            return
        here = dict(zip(e.p.names, p.tolist(), strict=True))
        for name in {**self.past.parameters, **here}:
            old, new = self.past.parameters.get(name), here.get(name)
            if old != new:
                raise ResultError(
                    f"the value of {name} is {new}, and was {old} in the run that is to go on",
                    expected="the same model",
                    remedy="Run it anew, or resume with the model of the file",
                )
        other = set(self.past.states) ^ {*e.state_names}
        if other:
            raise ResultError(
                f"the states differ from those of the run that is to go on: {listing(sorted(other))}",
                expected="the same model and tree",
                remedy="Run it anew, or resume with the model of the file",
            )

    def settle(self, part: Solution) -> None:
        """Take up a finished phase, whose energies are those since the present offset."""
        if self._start is None:
            self._start = part.audit.start
        self.rows += int(among(part.t, self.grid).sum())
        for key in COUNTS:
            self._counts[key] += getattr(part.statistics, key)
        if self.going:
            gone, given = self.offset
            audit = replace(part.audit, dissipated=part.audit.dissipated + gone, supplied=part.audit.supplied + given)
            self._pending.append(replace(part, audit=audit))
        self._run = None

    def announce(self, run: Run) -> None:
        """Put a file without rows where there is none, so that a run killed before its first ones can begin again.

        One that another run has left is replaced, and anything else stays until there are rows.
        """
        if not self.going or self._head or self.past is not None or self.rows:
            return
        assert self.path is not None
        from cotree.results.hdf5 import holds_rows, write_hdf5

        if not holds_rows(self.path):
            with suppress(FileError):
                write_hdf5(self._blank(run), self.path, self._lock)
                self._head = True

    def keep_head(self) -> None:
        """Leave the file without rows where it is, so that the run can begin again from it."""
        self._head = False

    def note(self, run: Run) -> None:
        """Write what a run has done since the last time, at most every `PAUSE`."""
        if not self.going or time.perf_counter() - self._clock < PAUSE:
            return
        restart = run.restart()
        if restart is None or restart.t < self._reached:  # a phase is looked at again
            return
        if self._doubtful(run):
            return
        try:
            self._write(run, self._whole(restart))
        except OSError:  # the run goes on; at its end all is written anew, and only that must not fail
            self._broken = True
            self._let_go()
        self._reached, self._clock = restart.t, time.perf_counter()

    def _doubtful(self, run: Run) -> bool:
        """Whether the run has gone where it could not be, or may have."""
        e = run.problem.equations
        so_far = run.solution(0.0, None, 0.0, 0.0) if e.pulls or self.doubt is not None else None
        if so_far is None:
            return False
        return pushing_cable(e, so_far) is not None or (self.doubt is not None and self.doubt(so_far))

    def _whole(self, restart: Restart) -> Restart:
        past = 0.0 if self.past is None else self.past.statistics.seconds_integration
        said = {**restart.said, **{key: restart.said[key] + self._counts[key] for key in COUNTS}}
        said["seconds_integration"] = past + time.perf_counter() - self._begin
        return self.placed(replace(restart, said=said))

    def _write(self, run: Run, restart: Restart) -> None:
        journal = self._journal = self._journal or self._made(run, restart)
        row = self.rows - sum(int(among(part.t, self.grid).sum()) for part in self._pending)
        for part in self._pending:
            row = self._put_part(journal, row, part)
        self._pending = []
        if run is not self._run:
            self._run, self._done = run, (0, self.rows, self._hits, 0, 0)
        pieces, row, hit, events, switches = self._done
        if (new := run.history(pieces)) is not None:
            shown = among(new.t, self.grid)
            gone, given = self.offset
            energies = new.outputs[0], new.quad[0] + gone, new.quad[1] + given
            results = run.results(new.outputs, new.quad)[:, shown]
            journal.put_rows(row, new.t[shown], results.T, *(each[shown] for each in energies))
            row += int(shown.sum())
        names = [event.name for event in self._own]
        found = [] if run.watch is None else [each for each in run.watch.found if each.event.name in names]
        if new_hits := found[events:]:
            which = np.array([names.index(each.event.name) for each in new_hits])
            journal.put_events(
                hit, which, np.array([each.t for each in new_hits]), np.array([each.results for each in new_hits])
            )
            hit += len(new_hits)
        which, times, results = run.switched.since(switches)
        if len(times):
            places = np.array([names.index(name) for name in run.switched.names])
            journal.put_events(hit, places[which], times, results)
            hit += len(times)
        journal.commit(row, hit, restart)
        self._head = False
        self._done = len(run.times), row, hit, len(found), len(run.switched.times)

    def _put_part(self, journal: Journal, row: int, part: Solution) -> int:
        """Write a finished phase with its events; returns the number of the next row."""
        from cotree.results.hdf5 import event_table, table

        shown, audit = among(part.t, self.grid), part.audit
        for first in range(0, len(part.t), BLOCK):
            after = min(first + BLOCK, len(part.t))
            here = shown[first:after]
            energies = (each[first:after][here] for each in (audit.stored, audit.dissipated, audit.supplied))
            journal.put_rows(row, part.t[first:after][here], table(part, first, after)[here], *energies)
            row += int(here.sum())
        own = {event.name: part.event_values[event.name] for event in self._own if event.name in part.event_values}
        found = event_table(replace(part, event_values=own))
        journal.put_events(self._hits, *found)
        self._hits += len(found[0])
        return row

    def _made(self, run: Run, restart: Restart) -> Journal:
        from cotree.results.journal import Journal

        assert self.path is not None
        return Journal(self.path, self._blank(run), len(self.grid), restart)

    def _blank(self, run: Run) -> Solution:
        """All that is not a row."""
        options = run.method.options
        atol = self._given.get("atol")
        head = run.blank(options.rtol, atol, self._seconds)
        start = run.start_energy if self._start is None else self._start
        return replace(
            head,
            audit=replace(head.audit, start=start),
            origin=self.origin,
            events={event.name: np.zeros(0) for event in self._own},
            event_values={event.name: dict.fromkeys(head.values, np.zeros(0)) for event in self._own},
        )

    def finished(self, solution: Solution) -> Solution:
        """The solution with its origin, written as a whole."""
        solution = replace(solution, origin=self.origin)
        self._let_go()
        if self.path is not None:
            from cotree.results.hdf5 import write_hdf5

            done = False
            try:
                with held():
                    write_hdf5(solution, self.path, self._lock)
                    done, self._head = True, False
            except FileError as error:
                error.solution = solution
                raise
            except KeyboardInterrupt:
                if not done:
                    raise
        return solution

    def close(self) -> None:
        """Let go of the file; one without rows is removed."""
        self._let_go()
        if self._head and self.path is not None:
            self._head = False
            self.path.unlink(missing_ok=True)
        self._held.close()

    def _let_go(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None


def among(times: Array, grid: Array) -> NDArray[np.bool_]:
    """Which of the times are on an increasing grid."""
    if not len(grid):
        return np.zeros(len(times), dtype=bool)
    return np.asarray(grid[np.searchsorted(grid, times).clip(max=len(grid) - 1)] == times)


def _up_to(past: Solution, restart: Restart) -> Solution:
    """An unfinished solution as far as its run goes on from there."""
    kept = events_until(past, restart.t)
    return replace(until(past, restart.rows), events=kept.events, event_values=kept.event_values)


def _plain(value: Any) -> Any:
    """Options as plain data."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
