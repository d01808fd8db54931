"""The sizes of all variables over time, found by a rough run, so that one absolute tolerance serves them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotree.solve.problem import Problem, Scale

Array = NDArray[np.float64]

LEAST = 1e-4
"""Least size of a variable, as a part of the largest result with the same unit: what is zero but for rounding must not
set the tolerance."""
GROWTH = 1e3
"""Growth of a variable after which the scale is taken anew."""


@dataclass(frozen=True)
class Sizes:
    """Scales with the times from which they hold."""

    times: Array
    scales: tuple[Scale, ...]

    @classmethod
    def ones(cls, problem: Problem, t_start: float) -> Sizes:
        """Every variable in SI units."""
        return cls(np.array([t_start]), (Scale.ones(problem),))

    def at(self, t: float) -> Scale:
        """The scale that holds from a time on."""
        return self.scales[max(int(np.searchsorted(self.times, t, side="right")) - 1, 0)]


@dataclass(frozen=True)
class History:
    """States, algebraic variables, integrals and outputs over time, one column for each time."""

    t: Array
    x: Array
    z: Array
    quad: Array
    outputs: Array


def sizes(problem: Problem, history: History) -> Sizes:
    """The largest values so far, taken early in the run and again wherever something has grown by much.

    A scale that is too small costs steps; one that is too large would cost accuracy, and in a system that grows from
    small beginnings that error would grow, too. So the scale follows the growth.
    """
    e = problem.equations
    so_far: dict[str, Array] = {}
    for unit, row in zip(("J", *(o.unit for o in e.outputs.values())), np.abs(history.outputs), strict=True):
        so_far[unit] = np.maximum(so_far.get(unit, 0.0), np.maximum.accumulate(row))

    def size(values: Array, units: Sequence[str]) -> Array:
        if not units:
            return np.ones((len(values), len(history.t)))
        floor = np.array([so_far.get(unit, np.zeros(len(history.t))) for unit in units])
        return np.maximum(np.maximum.accumulate(np.abs(values), axis=1), LEAST * floor)

    integrals = ("J", "J", *(output.unit for output in e.integrals.values()))
    x = history.x if len(history.x) else np.ones((1, len(history.t)))
    parts = (
        size(x, e.q.units + e.u.units),
        size(history.z, e.w.units if len(history.z) else ()),
        size(history.quad, integrals),
    )
    every = np.vstack(parts)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    now = min(1, len(history.t) - 1)
    times, columns = [float(history.t[0])], [every[:, now]]
    for k in range(2, len(history.t)):
        if np.any(every[:, k] > GROWTH * columns[-1]):
            times.append(float(history.t[k - 1]))
            columns.append(every[:, k])
    scales = (Scale(*np.split(np.where(column > 0, column, 1.0), ends)) for column in columns)
    return Sizes(np.array(times), tuple(scales))
