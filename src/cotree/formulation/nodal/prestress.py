"""Whether a state of self-stress stiffens the mechanisms of a structure (Pellegrino and Calladine 1986; Connelly 1992).

A displacement d with A d = 0 can be followed to second order only if sum_j w_j d^T H_j d = 0 for every state of
self-stress w (A^T w = 0), with H_j the second derivatives of the equations: for bars under tensions w that sum is the
work of the geometric stiffness. If some combination of the states makes it positive for every d, the mechanisms are
infinitesimal and the structure is stable under that prestress.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ZERO = 1e-9
"""Part of the largest geometric stiffness that counts as none."""
CUTS = 300
"""Rounds of the search for a prestress."""
STEP = 1e-2
"""How far a mechanism is followed, as a part of the structure's size."""
STAYS = 0.3
"""The part of a step that must be left when all equations are met again."""
TRIALS = 4
"""Random mixtures of mechanisms that are followed beside each of them."""


@dataclass(frozen=True)
class Prestress:
    """What the states of self-stress say about the mechanisms."""

    stiff: Array
    """Mechanisms (columns) that some prestress stiffens: infinitesimal ones."""
    loose: Array
    """Mechanisms that no state of self-stress resists to second order."""
    factors: Array | None
    """How much of each state makes up a prestress that stiffens all the former; None where there is none."""
    least: float
    """The least stiffness under that prestress, in N/m for a largest force of 1 N; where there is none, the upper bound
    that the search left."""
    decided: bool
    """Whether the search found a prestress, or showed that there is none."""


def prestress(forms: Sequence[Array], shapes: Array, pulls: Array, size: float) -> Prestress:
    """Sort mechanisms by what the geometric stiffness of each state of self-stress (``forms``, on the shapes) does.

    ``pulls`` holds for each state (columns) the tensions of the members that can only pull: a prestress must not push.
    ``size`` is the largest geometric stiffness of any displacement, against which the forms may be nothing.
    """
    count = shapes.shape[1]
    none = np.zeros((shapes.shape[0], 0))
    if not count or not len(forms) or size <= 0:
        return Prestress(none, shapes, None, 0.0, True)
    _, values, right = np.linalg.svd(np.vstack(forms) / size)
    felt = int((values > ZERO).sum())
    stiff, loose = right[:felt].T, right[felt:].T
    if not felt:
        return Prestress(none, shapes @ loose, None, 0.0, True)
    factors, least, decided = combined([stiff.T @ form @ stiff for form in forms], pulls)
    if factors is not None:  # the axes of the stiffness, so that each mechanism has its own
        axes = np.linalg.eigh(sum(c * (stiff.T @ form @ stiff) for c, form in zip(factors, forms, strict=True)))[1]
        stiff = stiff @ axes
    return Prestress(shapes @ stiff, shapes @ loose, factors, least, decided)


def combined(forms: Sequence[Array], pulls: Array) -> tuple[Array | None, float, bool]:
    """Factors between -1 and 1 that make the sum of symmetric forms positive definite, and its least eigenvalue.

    max over c of the least eigenvalue of sum c_i Q_i is a concave problem: cutting planes v^T Q(c) v >= t bound it from
    above, so that the answer `none` is a proof up to rounding unless the rounds run out.
    """
    from scipy.optimize import linprog

    number, size = len(forms), max(float(np.abs(form).max()) for form in forms)
    scaled = [form / size for form in forms]
    cuts = [np.array([float(v @ form @ v) for form in scaled]) for v in np.linalg.eigh(sum(scaled))[1].T]
    push = np.hstack([-pulls, np.zeros((len(pulls), 1))]) if len(pulls) else np.zeros((0, number + 1))
    bound = np.inf
    for _ in range(CUTS):
        upper = np.vstack([*(np.append(-cut, 1.0) for cut in cuts), push])
        ranges = [(-1.0, 1.0)] * number + [(None, None)]
        found = linprog(np.append(np.zeros(number), -1.0), A_ub=upper, b_ub=np.zeros(len(upper)), bounds=ranges)
        if not found.success:
            break
        factors, bound = np.asarray(found.x[:-1]), float(found.x[-1])
        values, vectors = np.linalg.eigh(sum(c * form for c, form in zip(factors, scaled, strict=True)))
        if values[0] > ZERO and values[0] > 0.5 * bound:
            return factors, float(values[0]) * size, True
        if bound <= ZERO:
            return None, bound * size, True
        cuts += [np.array([float(v @ form @ v) for form in scaled]) for v in vectors.T[values < 0.9 * bound + ZERO]]
    return None, bound * size, False


def followed(shapes: Array, place: Array, closed: Callable[[Array], Array | None]) -> list[bool]:
    """Whether each mechanism can be followed for a hundredth of the structure's size, all equations met.

    ``closed`` gives the nearest position that meets all equations, or None. A mechanism that is infinitesimal of low
    order is pulled back to where it began; one that stays away is finite as far as numbers can tell.
    """
    size = STEP * max(float(np.ptp(place)), 1e-3)
    steps = [size * shape / max(float(np.abs(shape).max()), 1e-300) for shape in shapes.T]
    return [any(_stays(step, place, closed) for step in (one, -one)) for one in steps]


def some_motion(shapes: Array, place: Array, closed: Callable[[Array], Array | None]) -> bool:
    """Whether any of the mechanisms or some mixtures of them can be followed."""
    mixtures = shapes @ np.random.default_rng(0).standard_normal((shapes.shape[1], TRIALS))
    return any(followed(np.hstack([shapes, mixtures]), place, closed))


def _stays(step: Array, place: Array, closed: Callable[[Array], Array | None]) -> bool:
    """Whether the nearest position to a moved one is away from the place."""
    end = closed(place + step)
    return end is not None and float(np.linalg.norm(end - place)) > STAYS * float(np.linalg.norm(step))
