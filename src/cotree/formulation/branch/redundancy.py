"""Which of the chords' equations say something new, and how many degrees of freedom are left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotree.formulation.branch.mechanism import Mechanism

Array = NDArray[np.float64]

DEPENDENT = 1e-8
"""Part of a row that must be left after the others are taken out of it, for it to count as independent."""


@dataclass(frozen=True)
class Redundancy:
    """The rows that are kept, those that are implied by others, and the degrees of freedom."""

    kept: tuple[int, ...]
    dropped: tuple[int, ...]
    freedom: int
    notes: tuple[str, ...]


def independent_rows(jacobian: Array, groups: list[int]) -> list[int]:
    """Rows that span all rows: groups in their order, inside a group the most independent first."""
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
            if size_now <= DEPENDENT * _norm(jacobian[k]):
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


def analyse(mechanism: Mechanism, jacobians: list[Array], reason: Callable[[str], str]) -> Redundancy:
    """The independent rows at the most telling of several positions, and what to say about the others."""
    groups = [len(rows) for rows in mechanism.rows]
    count = sum(groups)
    speeds = len(mechanism.kin.u_names)
    best: list[int] = []
    for jacobian in jacobians:
        kept = independent_rows(jacobian, groups) if count else []
        if len(kept) > len(best):
            best = kept
    dropped = tuple(k for k in range(count) if k not in set(best))
    notes = []
    for rows, first in mechanism.numbered():
        lost = [k for k in dropped if first <= k < first + len(rows)]
        if mechanism.top.model.planar:  # what holds a body in the plane is no news
            lost = [k for k in lost if any(np.abs(jacobian[k]).max(initial=0.0) > 1e-12 for jacobian in jacobians)]
        if lost:
            word = "equation" if len(lost) == 1 else "equations"
            notes.append(f"'{rows.owner}' adds {len(lost)} redundant {word}: {reason(rows.owner)}")
    return Redundancy(tuple(best), dropped, speeds - len(best), tuple(notes))
