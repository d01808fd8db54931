"""Which of the chords' equations say something new, and how many degrees of freedom are left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cotree.formulation.branch.mechanism import Mechanism
from cotree.formulation.undetermined import self_stress
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]

NOTHING = 1e-12
"""A row without a larger entry is no equation."""
DEPENDENT = 1e-8
"""Part of a row that must be left after the others are taken out of it, for it to count as independent."""


@dataclass(frozen=True)
class Redundancy:
    """The rows that are kept, those that are implied by others, and the degrees of freedom."""

    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    freedom: int
    diagnostics: tuple[Diagnostic, ...]
    stress: Array = field(default_factory=lambda: np.zeros((0, 0)))
    """States of self-stress: multipliers of all rows that balance each other, one column for each redundant row."""
    at: int = 0
    """The position, among those that were looked at, where these are taken."""


def independent_rows(jacobian: Array, groups: list[int], nothing: float = 0.0) -> list[int]:
    """Rows that span all rows: groups in their order, inside a group the most independent first.

    What is left of a row is rounding where it is below ``nothing``.
    """
    kept: list[int] = []
    basis = np.zeros((0, jacobian.shape[1]))
    first = 0
    for size in groups:
        rows = list(range(first, first + size))
        first += size
        rest = {k: jacobian[k] - basis.T @ (basis @ jacobian[k]) for k in rows}
        while rest:
            k = max(rest, key=lambda row: float(np.linalg.norm(rest[row])) / _norm(jacobian[row]))
            size_now = float(np.linalg.norm(rest[k]))
            if size_now <= max(DEPENDENT * _norm(jacobian[k]), nothing):
                break
            new = rest.pop(k) / size_now
            new = new - basis.T @ (basis @ new)
            new /= np.linalg.norm(new)
            basis = np.vstack([basis, new])
            kept.append(k)
            rest = {row: value - new * float(new @ value) for row, value in rest.items()}
    return sorted(kept)


def _norm(row: Array) -> float:
    return max(float(np.linalg.norm(row)), 1e-12)


def analyse(mechanism: Mechanism, jacobians: list[Array], length: float, reason: Callable[[str], str]) -> Redundancy:
    """The independent rows at the most telling of several positions, and what to say about the others.

    Rows of lengths are compared with the length of the mechanism, so that those of two hinges on one axis, which are
    zero but for rounding, do not count.
    """
    groups = [len(rows) for rows in mechanism.rows]
    count = sum(groups)
    speeds = len(mechanism.kin.u_names)
    sizes = np.where(mechanism.lengths, length, 1.0)
    best: list[int] = []
    at = 0
    for k, jacobian in enumerate(jacobians):
        kept = independent_rows(jacobian / sizes[:, None], groups, NOTHING) if count else []
        if len(kept) > len(best):
            best, at = kept, k
    dropped = tuple(k for k in range(count) if k not in set(best))
    found = []
    for rows, first in mechanism.numbered():
        lost = [k for k in dropped if first <= k < first + len(rows)]
        if mechanism.top.model.planar:  # what holds a body in the plane is no news
            lost = [k for k in lost if any(np.abs(jacobian[k]).max(initial=0.0) > NOTHING for jacobian in jacobians)]
        if lost:
            found.append(diagnose("redundant-rows", rows.owner, count=len(lost), why=f": {reason(rows.owner)}"))
    stress = self_stress(jacobians[at], best, dropped)
    return Redundancy(tuple(best), dropped, speeds - len(best), tuple(found), stress, at)
