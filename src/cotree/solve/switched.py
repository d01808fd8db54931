"""Switches that have acted in a run: their times, and all results right after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cotree.solve.integrator import Switched
from cotree.system import Diagnostic, diagnose

if TYPE_CHECKING:
    from cotree.solve.run import Run

Array = NDArray[np.float64]

MOST = 10_000
"""How often each switch is taken down with all results; what comes after that is only counted."""


class SwitchRecord:
    """What the switches of one run have done, in the order of time."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.counts = np.zeros(len(names), dtype=int)
        self.which: list[NDArray[np.int64]] = []
        self.times: list[Array] = []
        self.results: list[Array] = []

    def add(self, run: Run, done: Switched, quad: Array, m: Array) -> None:
        """Take up what a stretch of a run has found; ``quad`` are the integrals at its start."""
        kept = np.array([self._counted(k) for k in done.which.tolist()], dtype=bool)
        if not kept.any():
            return
        t, x, z = done.t[kept], done.x[:, kept], done.z[:, kept]
        integrals = quad[:, None] + done.quad[:, kept]
        rows = run.courses.placed(run._outputs(t, x, z, m), integrals)
        self.which.append(done.which[kept])
        self.times.append(t)
        self.results.append(run.results(rows, integrals))

    def _counted(self, switch: int) -> bool:
        self.counts[switch] += 1
        return bool(self.counts[switch] <= MOST)

    def since(self, piece: int) -> tuple[NDArray[np.int64], Array, Array]:
        """Numbers, times and results (one row for each) from a piece on."""
        if len(self.times) <= piece:
            return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0))
        parts = self.which[piece:], self.times[piece:], self.results[piece:]
        return np.concatenate(parts[0]), np.concatenate(parts[1]), np.hstack(parts[2]).T

    def events(self, results: list[str]) -> tuple[dict[str, Array], dict[str, dict[str, Array]]]:
        """Times of every switch, and all results then."""
        which, t, rows = self.since(0)
        times, values = {}, {}
        for name in dict.fromkeys(self.names):  # slipping one way or the other has one name
            here = np.isin(which, [k for k, other in enumerate(self.names) if other == name])
            times[name] = t[here]
            values[name] = {key: rows[here, j] if len(t) else np.zeros(0) for j, key in enumerate(results)}
        return times, values

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Which switches have acted more often than is taken down."""
        many = [(name, count) for name, count in zip(self.names, self.counts.tolist(), strict=True) if count > MOST]
        return tuple(diagnose("many-events", name, count=count, kept=MOST) for name, count in many)
