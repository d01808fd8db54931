"""How the errors of single steps grow along a motion, by its linearised equations.

A chaotic motion multiplies the error of every step. The energy balance does not show it, and neither does a second look
at single intervals. So errors are carried from one output time to the next by the linearised equations, with new ones
added on the way, by Ehle's Pade approximation of e^z, which damps what vibrates faster than the places can show.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.solve.problem import Scale
from cotree.solve.run import Run

Array = NDArray[np.float64]

STATES = 60
"""States up to which growth is looked at: the cost grows with their square."""
SHARE = 0.2
"""Evaluations of the rates for it, as a part of those of the run."""
PLACES = 60
"""Places of the motion that are looked at in any case."""
CHANGE = 1e-6
"""Change of a state for a difference quotient, as a part of its range."""
TRIES = 3
"""Random errors that are carried along."""


def carried(run: Run, times: Array, states: Array, spans: Array, local: Array) -> tuple[float, bool]:
    """The largest error of a state as a part of its range, and whether growth is in it.

    ``local`` is what one second adds to each state.
    """
    moving = np.flatnonzero(np.isfinite(spans))
    count, alone = len(moving), float((local * (times[-1] - times[0]) / spans).max(initial=0.0))
    if run.problem.sizes["z"] or run.problem.equations.eventful or count > STATES:
        return alone, False
    if not count:
        return alone, True
    most = max(int(SHARE * run.evaluations / (count + 1)), PLACES)
    chosen = np.unique(np.linspace(0, len(times) - 1, min(most, len(times))).astype(int))
    t, x = times[chosen], states[:, chosen]
    matrices = _linearised(run, t, x, spans, moving)
    if not np.isfinite(matrices).all():
        return alone, False
    step = np.diff(t)[:, None, None]
    unit, z = np.eye(count), step * (matrices[1:] + matrices[:-1]) / 2
    try:
        moves = np.linalg.solve(unit - z * (2 / 3) + z @ z / 6, unit + z / 3)
    except np.linalg.LinAlgError:
        return alone, False
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(moves), count, TRIES))
    added = signs * step * (local / spans)[moving, None]
    error, largest = np.zeros((count, TRIES)), alone
    for move, new in zip(moves, added, strict=True):
        error = move @ error + new
        largest = max(largest, error.max(), -error.min())
        if not largest < 1.0:  # as wrong as can be
            return 1.0, True
    return float(largest), True


def _linearised(run: Run, t: Array, x: Array, spans: Array, moving: NDArray[np.int64]) -> Array:
    """The matrix of the linearised equations at each time, for moving states as parts of their ranges."""
    count, places, spans = len(moving), x.shape[1], spans[moving]
    change = CHANGE * spans
    columns = np.repeat(x, count + 1, axis=1)
    for k, row in enumerate(moving.tolist()):
        columns[row, k + 1 :: count + 1] += change[k]
    found = rates(run, np.repeat(t, count + 1), columns)[moving].reshape(count, places, count + 1)
    slopes = (found[:, :, 1:] - found[:, :, :1]) / change  # row, place, column
    return np.moveaxis(slopes * spans / spans[:, None, None], 1, 0)


def rates(run: Run, t: Array, x: Array) -> Array:
    """The rates of the states at some times, one column for each."""
    problem, scale = run.problem, Scale.ones(run.problem)
    dae, rest = problem.opaque_dae(run.method.options.compiled), np.concatenate([[1.0], scale.x, scale.z, scale.quad])

    def each(now: Array, states: Array, m: Array) -> Any:
        head = np.concatenate([run.p, m, problem.table(run.p, m)])
        given = np.vstack([np.tile(head[:, None], len(now)), now[None, :], np.tile(rest[:, None], len(now))])
        return dae(0.0, states, np.zeros((0, 1)), given, np.zeros((0, 1)))[0]

    return _by_stretch(run, t, x, each)


def settled(run: Run, t: Array, x: Array) -> Array:
    """States on the constraints, as results show them: integrators let them go off by as much as their tolerance."""
    if run.problem.settled_well is None or not run.method.settles:
        return x
    return _by_stretch(run, t, x, lambda now, states, m: run.problem.on_constraints(now[None, :], states, run.p, m)[0])


def _by_stretch(run: Run, t: Array, x: Array, function: Callable[[Array, Array, Array], Any]) -> Array:
    """A function of times, states and the modes that are the same for all of them."""
    found, edges = np.empty(x.shape), run.edges(np.zeros(0))
    stretch = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, max(len(edges) - 2, 0))
    for each in np.unique(stretch).tolist():
        own = stretch == each
        m = run._modes(float(edges[each]), float(edges[each + 1]))
        found[:, own] = np.asarray(function(t[own], x[:, own], m), dtype=float)
    return found
