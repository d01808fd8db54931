"""Reactions that rigid bodies do not determine.

Where equations are redundant, G^T s = 0 has solutions s: sets of multipliers that balance each other. Any of them may
be added to the multipliers of a motion, so that a reaction which they change has no value of its own. It follows from
the stiffness of the bodies, which rigid bodies do not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import listing
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]

PART = 1e-6
"""Part of the largest change of a force or torque from which on a reaction counts as changed."""
ROUNDED = 1e-12
"""Part of the largest change of any of them, whatever its unit, that is rounding."""
SMALL = 600
"""Rows up to which matrices are full."""


def self_stress(matrix: Any, kept: Sequence[int], dropped: Sequence[int]) -> Array:
    """One column for each redundant row: multipliers of all rows that balance each other, with -1 in this row."""
    stress = np.zeros((matrix.shape[0], len(dropped)))
    stress[list(dropped), range(len(dropped))] = -1.0
    if not len(kept):
        return stress
    if matrix.shape[0] <= SMALL:
        full = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=float)
        stress[list(kept)] = np.linalg.lstsq(full[list(kept)].T, full[list(dropped)].T, rcond=None)[0]
        return stress
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import splu

    rows = csr_matrix(matrix.sparse() if isinstance(matrix, ca.DM) else matrix)
    own, others = rows[list(kept)], rows[list(dropped)]
    stress[list(kept)] = splu((own @ own.T).tocsc()).solve((own @ others.T).toarray())
    return stress


def undetermined(
    reactions: Mapping[str, ca.SX], multipliers: ca.SX, stress: Array, at: Callable[[ca.SX], Any]
) -> tuple[str, ...]:
    """The reactions, expressions of the multipliers of all rows, that states of self-stress change.

    ``at`` gives the numbers of an expression at a position.
    """
    if not stress.size or not reactions:
        return ()
    names, values = list(reactions), ca.vertcat(*reactions.values())
    change = np.abs(np.asarray(ca.mtimes(ca.DM(at(ca.jacobian(values, multipliers))), ca.DM(stress)), dtype=float))
    torque = np.array([".torque" in name for name in names])
    found, rounded = np.zeros(len(names), dtype=bool), ROUNDED * change.max(axis=0)
    for kind in (torque, ~torque):
        if kind.any():
            largest = change[kind].max(axis=0)
            found |= kind & (change > PART * np.where(largest > rounded, largest, np.inf)).any(axis=1)
    return tuple(name for name, changed in zip(names, found.tolist(), strict=True) if changed)


def marked(names: Sequence[str]) -> tuple[Diagnostic, ...]:
    """The diagnostic for such reactions: each vector once where all of it is meant."""
    if not names:
        return ()
    return (diagnose("undetermined-reactions", *names, names=listing(_vectors(names))),)


def _vectors(names: Sequence[str]) -> list[str]:
    """Names with the three components of a vector as one."""
    every, result = set(names), dict[str, None]()
    for name in names:
        whole, _, component = name.rpartition(".")
        full = component in "xyz" and all(f"{whole}.{x}" in every for x in "xyz")
        result[whole if full else name] = None
    return list(result)
