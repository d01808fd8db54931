"""The nearest closed position: every loop closes, and what was given moves as little as possible.

Distances are measured in one metric: rotations count as angles in rad, displacements in parts of a length of the
mechanism. In this metric a step

1. closes the loops and meets what is fixed (hard equations), as far as they can be met;
2. brings what was given as near as possible (soft equations), among all steps that do the first;
3. brings elements between bodies that nothing else places to rest;
4. leaves everything else as near as possible to where it began.

The steps are short, so that a position is reached from the given one by a continuous motion, on the branch that the
given values point to. Where that leads far away, other ways are tried, and the nearest of the positions that they lead
to is taken. Nothing here depends on the unit of length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CLOSED = 1e-12
"""Distance by which a loop is open at the end."""
OPEN = 1e-9
"""Distance from which on it counts as open."""
ITERATIONS = 200
LONGEST = 0.25
"""Longest step of a coordinate in one iteration: in rad, or parts of the mechanism's length."""
RANK = 1e-10
"""Ratio of singular values below which a direction is free."""
NOTHING = 1e-12
"""Slope that is rounding, as of the equations of a second hinge on the same axis."""
HALVES = 6
"""How often a step that opens the loops further is halved."""
WORSE = 1.5
"""Growth of the gaps up to which a step is taken."""
FAR = 1.0
"""Displacement of a coordinate from which on other ways are tried."""
TRIES, SPREAD = 4, 0.5
"""How many of them begin beside the given position, and how far."""
GIVEN = 1e6
"""Weight of what was given, and of elements at rest, beside what was not, where two positions are compared."""


@dataclass(frozen=True)
class Asked:
    """Residuals and Jacobians at a position, in the metric: columns over scaled displacements."""

    hard: Array
    by_hard: Array
    soft: Array
    by_soft: Array
    rest: Array
    by_rest: Array

    @classmethod
    def alone(cls, hard: Array, by_hard: Array) -> Asked:
        """Hard equations and nothing else."""
        none, no_rows = np.zeros(0), np.zeros((0, by_hard.shape[1]))
        return cls(hard, by_hard, none, no_rows, none, no_rows)

    @property
    def gap(self) -> float:
        """The largest distance by which a hard equation is not met."""
        return float(np.abs(self.hard).max(initial=0.0))


def nested(asked: Asked, moved: Array) -> Array:
    """The step of all levels; ``moved`` are the displacements so far."""
    n = len(moved)
    step, basis = np.zeros(n), np.eye(n)
    levels = (asked.hard, asked.by_hard), (asked.soft, asked.by_soft), (asked.rest, asked.by_rest)
    for level, (off, slope) in enumerate(levels):
        known = np.isfinite(off) & np.isfinite(slope).all(axis=1)  # an angle has no slope where its axis is across
        off, slope = off[known], slope[known]
        if not len(off) or not basis.shape[1]:
            continue
        inner = slope @ basis
        left, sizes, right = np.linalg.svd(inner, full_matrices=inner.shape[0] < inner.shape[1])
        largest = float(np.linalg.norm(slope)) if level else float(sizes.max(initial=0.0))  # others leave rounding only
        rank = int((sizes > max(RANK * largest, NOTHING)).sum())
        step = step - basis @ (right[:rank].T @ ((left[:, :rank].T @ (off + slope @ step)) / sizes[:rank]))
        basis = basis @ right[rank:].T
    return np.asarray(step - basis @ (basis.T @ (step + moved)))


Found = tuple[Array, Array, Asked]
"""A position, the displacements to it, and what is left there."""


def nearest(look: Callable[[Array, Array], Asked], move: Callable[[Array, Array], Array], q: Array, n: int) -> Found:
    """The nearest closed position from q on.

    ``look(q, moved)`` says what is asked at a position, ``move(q, step)`` makes a step of n scaled displacements.
    """
    first = closed(look, move, q, np.zeros(n))
    if first[2].gap < OPEN and np.abs(first[1]).max(initial=0.0) <= FAR:
        return first
    rng = np.random.default_rng(0)
    least = patiently(look, move, q, n)
    begins = [least[:2]]
    for _ in range(TRIES):
        aside = SPREAD * rng.normal(size=n)
        begins.append((move(q, aside), aside))
    found = [first, *(closed(look, move, *begin) for begin in begins)]
    good = [each for each in found if each[2].gap < OPEN]
    return min(good, key=_distance) if good else least


def _distance(found: Found) -> float:
    """How far a position is away, by what was given first."""
    _, moved, left = found
    return GIVEN * float(left.soft @ left.soft) + float(moved @ moved)


def closed(
    look: Callable[[Array, Array], Asked], move: Callable[[Array, Array], Array], q: Array, moved: Array
) -> Found:
    """A closed position from q on, which is reached by given displacements."""
    before = np.inf
    asked = look(q, moved)
    for _ in range(ITERATIONS):
        step = nested(asked, moved)
        longest = float(np.abs(step).max(initial=0.0))
        if asked.gap < CLOSED and (longest < 1e-10 or (asked.gap + longest >= before > 0 and longest < 1e-7)):
            q, moved = move(q, step), moved + step
            break
        before = asked.gap + longest
        step *= min(1.0, LONGEST / longest) if longest else 1.0
        for _ in range(HALVES):
            there = look(move(q, step), moved + step)
            if np.isfinite(there.gap) and there.gap <= max(WORSE * asked.gap, CLOSED + longest**2):
                break
            step = step / 2
        else:
            there = look(move(q, step), moved + step)
        q, moved, asked = move(q, step), moved + step, there
    return finely(look, move, q, moved)


def finely(
    look: Callable[[Array, Array], Asked], move: Callable[[Array, Array], Array], q: Array, moved: Array
) -> Found:
    """The loops alone, closed to the last digit."""
    asked = look(q, moved)
    for _ in range(3):
        if asked.gap < 1e-15:
            break
        step = nested(Asked.alone(asked.hard, asked.by_hard), np.zeros(len(moved)))
        q, moved = move(q, step), moved + step
        asked = look(q, moved)
    return q, moved, asked


def patiently(look: Callable[[Array, Array], Asked], move: Callable[[Array, Array], Array], q: Array, n: int) -> Found:
    """The position with the smallest gaps that short damped steps find (Levenberg and Marquardt)."""
    damping, moved = 1e-2, np.zeros(n)
    asked = look(q, moved)
    for _ in range(ITERATIONS):
        matrix, before = asked.by_hard.T @ asked.by_hard, float(asked.hard @ asked.hard)
        try:
            step = np.asarray(-np.linalg.solve(matrix + damping * np.eye(n), asked.by_hard.T @ asked.hard), dtype=float)
        except np.linalg.LinAlgError:  # lengths beyond all bounds
            break
        there = look(move(q, step), moved + step)
        now = float(there.hard @ there.hard)
        if now < before:
            q, moved, asked, damping = move(q, step), moved + step, there, max(damping / 5, 1e-14)
            if before - now < 1e-14 * before:
                break
        else:
            damping *= 10
            if damping > 1e8:
                break
    return q, moved, asked
