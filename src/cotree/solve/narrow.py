"""Narrow features of expressions: pulses of time or of position that are shorter than the steps of a run.

Samples of an expression do not show a pulse between them. Its inner parts do: the argument of ``exp`` in
``exp(-((t - 0.4321)/1e-6)**2)`` is a wide parabola, and has its largest value where the pulse is. So every inner part
is sampled, its extrema and zeros are narrowed, and the expression is asked there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation import SystemEquations
from cotree.formulation.values import may_be_narrow

Array = NDArray[np.float64]
At = Callable[[Array], Array]
"""Values at times, one row for each expression."""

MOST_STRETCHES = 400
"""Stretches of a run whose sources are searched."""
SAMPLES = 2000
"""Samples of each inner part over a run."""
FEWEST = 100
"""Samples of a stretch where there are many of them."""
MOST_TERMS = 200
"""Terms of a sum that are looked at."""
MOST_PARTS = 24
"""Inner parts of one expression that are looked at."""
MOST_PLACES = 400
"""Extrema and zeros of one inner part that are narrowed, the evenly spread ones where there are more."""
ZOOM, LEVELS = 16, 7
"""Points of a window over which a place is narrowed, and how often."""
HIGH = 0.02
"""Height of a feature over what its neighbours show, as a part of the expression's largest value."""
RESOLVED = 4.0
"""Width in samples from which on a feature shows in the samples themselves."""


@dataclass(frozen=True)
class Feature:
    """A narrow feature: which expression has it, when, how wide it is at half its height in s, and the value there."""

    name: str
    t: float
    width: float
    value: float


def inner_parts(expression: ca.SX) -> list[ca.SX]:
    """The parts that an expression is made of, without symbols and numbers, the outer ones first."""
    found: dict[int, ca.SX] = {}
    todo = [expression]
    while todo and len(found) < MOST_PARTS:
        part = todo.pop(0)
        for k in range(part.n_dep()):
            inner = part.dep(k)
            if inner.is_leaf() or inner.element_hash() in found:
                continue
            found[inner.element_hash()] = inner
            todo.append(inner)
    return list(found.values())


def features(
    expressions: Mapping[str, ca.SX],
    evaluate: Callable[[ca.SX], At],
    first: float,
    last: float,
    samples: int = SAMPLES,
) -> list[Feature]:
    """The narrow features of expressions between two times; ``evaluate`` makes a column a function of time."""
    found: list[Feature] = []
    for name, expression in expressions.items():
        for term in terms(expression)[:MOST_TERMS] if last > first else ():
            parts = inner_parts(term) if may_be_narrow(term) else []
            if parts:
                ats = [evaluate(each) for each in (term, *parts)]
                found += _of_one(name, ats, np.linspace(first, last, samples + 1))
    return found


def terms(expression: ca.SX) -> list[ca.SX]:
    """The terms of a sum: a train of pulses is looked at pulse by pulse."""
    found, todo = [], [expression]
    while todo:
        part = todo.pop()
        if not part.is_leaf() and part.op() in (ca.OP_ADD, ca.OP_SUB):
            todo += [part.dep(1), part.dep(0)]
        else:
            found.append(part)
    return found


def narrow_signals(e: SystemEquations, p: Array, edges: Array, modes: Sequence[Array]) -> list[Feature]:
    """Pulses of the sources that no sample shows, in the stretches between edges."""
    known = [e.t, e.p.symbols, e.mode_symbols]
    signals = dict(zip(e.inputs.names, ca.vertsplit(e.signals), strict=True)) if e.signals.numel() else {}
    found: list[Feature] = []
    stretches = list(zip(pairwise(edges), modes, strict=True))[:MOST_STRETCHES]
    samples = max(FEWEST, SAMPLES // max(len(stretches), 1))
    for (a, b), m in stretches:

        def evaluate(column: ca.SX, m: Array = m) -> At:
            function = ca.Function("parts", known, [ca.densify(column)])
            return lambda times: np.asarray(function(times[None, :], p, m), dtype=float)

        found += features(signals, evaluate, float(a), float(b), samples)
    return found


def _of_one(name: str, ats: Sequence[At], times: Array) -> list[Feature]:
    """The narrow features of an expression, the first of ``ats``; the others are its inner parts."""
    at = ats[0]
    own = at(times)[0]
    if not np.isfinite(own).any():
        return []
    spacing = float(times[1] - times[0])
    places = np.concatenate([_places(part, times) for part in ats[1:]])
    if not len(places):
        return []
    places = np.unique(places)
    values = at(places)[0]
    scale = float(np.nanmax(np.abs(np.concatenate([own, values])), initial=0.0))
    before = np.clip(np.searchsorted(times, places - spacing / 2) - 2, 0, len(times) - 1)  # a sample may hit the top
    after = np.clip(before + 4, 0, len(times) - 1)
    near = np.where(np.isfinite(own[before] + own[after]), (own[before] + own[after]) / 2, 0.0)
    with np.errstate(invalid="ignore"):
        high = np.abs(values - near) > HIGH * scale
    result: list[Feature] = []
    for t, value, base in zip(places[high].tolist(), values[high].tolist(), near[high].tolist(), strict=True):
        width = _width(at, t, value, base, spacing)
        if width < RESOLVED * spacing and not any(abs(t - other.t) <= other.width for other in result):
            result.append(Feature(name, t, width, value))
    return result


def bursts(
    expressions: Mapping[str, ca.SX], evaluate: Callable[[ca.SX], At], first: float, last: float
) -> list[Feature]:
    """Where expressions act for a while and are calm before and after, as samples show it."""
    times, found = np.linspace(first, last, SAMPLES + 1), list[Feature]()
    for name, expression in expressions.items():
        values = evaluate(expression)(times)[0]
        if not np.isfinite(values).all():
            continue
        calm = float(np.median(values))
        active = np.abs(values - calm) > HIGH * float(np.abs(values - calm).max(initial=0.0))
        edges = np.flatnonzero(np.diff(np.concatenate([[False], active, [False]]).astype(int)))
        for a, b in edges.reshape(-1, 2).tolist():
            top = a + int(np.argmax(np.abs(values[a:b] - calm)))
            found.append(Feature(name, float(times[top]), float(times[b - 1] - times[a]), float(values[top])))
    return found


def _places(at: At, times: Array) -> Array:
    """Extrema and zeros of one inner part, narrowed as far as numbers go."""
    values = at(times)[0]
    if not np.isfinite(values).all():
        return np.zeros(0)
    signs, slopes = np.sign(values), np.sign(np.diff(values))
    turns = np.flatnonzero((slopes[1:] * slopes[:-1] < 0) | ((slopes[1:] == 0) != (slopes[:-1] == 0))) + 1
    zeros = np.flatnonzero((signs[1:] * signs[:-1] < 0) | (signs[1:] == 0))
    result = []
    for kind, indices in (("extremum", turns), ("zero", zeros)):
        if len(indices) > MOST_PLACES:
            indices = indices[np.linspace(0, len(indices) - 1, MOST_PLACES).astype(int)]
        if not len(indices):
            continue
        a, b = times[np.maximum(indices - 1, 0)], times[np.minimum(indices + 1, len(times) - 1)]
        top = np.where(values[indices] >= values[np.maximum(indices - 1, 0)], 1.0, -1.0)
        for _ in range(LEVELS):
            grid = a[:, None] + (b - a)[:, None] * np.linspace(0, 1, ZOOM + 1)
            inside = at(grid.ravel())[0].reshape(grid.shape)
            best = np.argmax(inside * top[:, None], axis=1) if kind == "extremum" else np.argmin(np.abs(inside), axis=1)
            rows = np.arange(len(grid))
            a, b = grid[rows, np.maximum(best - 1, 0)], grid[rows, np.minimum(best + 1, ZOOM)]
        result.append((a + b) / 2)
    return np.concatenate(result) if result else np.zeros(0)


def _width(at: At, t: float, value: float, base: float, spacing: float) -> float:
    """The width at half its height: the nearest place on either side where half of it is gone."""
    away = spacing * RESOLVED * np.logspace(-10, 0, 121)
    half = [np.abs(at(t + side * away)[0] - base) < abs(value - base) / 2 for side in (1, -1)]
    reach = [float(away[int(np.argmax(gone))]) if gone.any() else float(away[-1]) for gone in half]
    return sum(reach)
