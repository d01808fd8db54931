"""Which equations of a structure say something new: its rank, for a few bars or for thousands.

Small matrices are orthogonalised row by row. Large sparse ones are judged by the pivots of S = G G^T + eps I = L D L^T
(rows of G made unit): a pivot is the squared distance of a row from the span of those eliminated before it, so it is of
the order of eps where the row depends on them. Squaring halves the digits, so rows of doubtful pivots are projected
once more on the others, and judged by what is left of the row itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DEPENDENT = 1e-8
"""Part of a row that must be left after the others are taken out of it, for it to count as independent."""

SMALL = 400
"""Up to so many rows are orthogonalised as a dense matrix."""

EPS = 1e-12
"""Added to the diagonal of G G^T, so that dependent rows leave a pivot to divide by."""

DOUBTFUL = 1e-5
"""Rows whose pivot is smaller are projected again before they are judged."""

NOTHING = 1e-12
"""A row whose norm is below this is no equation at all."""

EXCHANGED = 200
"""With more redundant rows than this, the order of the groups is not minded in a large matrix."""

WEAK = 1e-4
"""A row that has a smaller part in a dependence is not exchanged for another."""

CHUNK = 64
"""Doubtful rows that are projected at once."""

PROBES = 8
"""Random mixtures of the doubtful rows that are looked at before any single one."""


def independent_rows(matrix: Any, groups: Sequence[int] | None = None) -> tuple[list[int], list[int]]:
    """Rows that span all rows, and those that depend on them: groups in their order, the earlier ones preferred.

    ``groups`` are the sizes of successive groups of rows (single rows, if they are not given). In a matrix of more than
    400 rows a group is not treated as a whole: each row is preferred to the later ones, as long as there are no
    more than 200 redundant rows.
    """
    rows = int(matrix.shape[0])
    sizes = [1] * rows if groups is None else [int(size) for size in groups]
    if sum(sizes) != rows:
        raise ValueError(f"the groups have {sum(sizes)} rows, the matrix {rows}")
    small = rows <= SMALL or int(matrix.shape[1]) == 0
    kept = _dense(_unit(_full(matrix)), sizes) if small else _sparse(matrix)
    chosen = set(kept)
    return kept, [k for k in range(rows) if k not in chosen]


def rank(matrix: Any) -> int:
    """The number of independent rows."""
    if int(matrix.shape[0]) > SMALL and int(matrix.shape[1]):
        return len(_sparse(matrix, in_order=False))
    return len(independent_rows(matrix)[0])


def _full(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=float)


def _unit(matrix: Array) -> Array:
    """The rows over their norms; rows of nothing are zero."""
    norms = np.linalg.norm(matrix, axis=1)
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > NOTHING)
    return np.asarray(matrix * scale[:, None])


def _dense(unit: Array, groups: Sequence[int]) -> list[int]:
    """Gram and Schmidt over the groups, inside a group the most independent row first; twice, for orthogonality."""
    kept: list[int] = []
    basis = np.zeros((min(unit.shape), unit.shape[1]))
    first = 0
    for size in groups:
        rows = np.arange(first, first + size)
        first += size
        rest = unit[rows]
        for _ in range(2):
            rest = rest - (rest @ basis[: len(kept)].T) @ basis[: len(kept)]
        for _ in range(size):
            left = np.linalg.norm(rest, axis=1)
            k = int(np.argmax(left))
            if left[k] <= DEPENDENT or len(kept) == len(basis):
                break
            new = rest[k] / left[k]
            new = new - basis[: len(kept)].T @ (basis[: len(kept)] @ new)
            new /= np.linalg.norm(new)
            basis[len(kept)] = new
            kept.append(int(rows[k]))
            rest = rest - np.outer(rest @ new, new)
            rest[k] = 0.0
    return sorted(kept)


def _sparse(matrix: Any, in_order: bool = True) -> list[int]:
    """Independent rows of a large matrix by symmetric elimination, the earlier ones preferred where order matters."""
    from scipy import sparse

    given = sparse.csr_matrix(matrix, dtype=float)
    norms = np.sqrt(np.asarray(given.multiply(given).sum(axis=1)).ravel())
    real = np.flatnonzero(norms > NOTHING)
    unit = sparse.diags(1.0 / norms[real]) @ given[real]
    pivots = _pivots(unit)
    sure = np.flatnonzero(pivots >= DOUBTFUL)
    doubtful = np.flatnonzero(pivots < DOUBTFUL)
    if not len(doubtful):
        return [int(k) for k in real]
    new = _more(unit, sure, doubtful[np.argsort(-pivots[doubtful], kind="stable")])
    kept = np.sort(np.concatenate([sure, new]))
    dropped = np.setdiff1d(doubtful, new)
    if in_order and 0 < len(dropped) <= EXCHANGED:
        kept = _earlier(unit, kept, dropped)
    return [int(k) for k in real[kept]]


def _factor(unit: Any, eps: float) -> Any:
    """L D L^T of G G^T + eps I in an order that keeps it sparse."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    square = (unit @ unit.T + eps * sparse.identity(unit.shape[0])).tocsc()
    return splu(square, permc_spec="COLAMD", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def _pivots(unit: Any) -> Array:
    """The pivot of each row: its squared distance from the rows that were eliminated before it."""
    factor = _factor(unit, EPS)
    return np.asarray(np.abs(factor.U.diagonal()[factor.perm_c]))


class _Projector:
    """Combinations of rows nearest to given ones, by G G^T with refinement in the rows themselves."""

    def __init__(self, unit: Any, rows: NDArray[np.intp]) -> None:
        self.rows = unit[rows].tocsr()
        self.factor = _factor(self.rows, EPS * 1e-2) if len(rows) else None

    def __call__(self, given: Array) -> tuple[Array, Array]:
        """Coefficients of the rows and what is left, for columns of given rows."""
        left = given.copy()
        weights = np.zeros((self.rows.shape[0], given.shape[1]))
        if self.factor is not None:
            for _ in range(4):
                step = self.factor.solve(np.ascontiguousarray(self.rows @ left))
                weights += step
                left -= self.rows.T @ step
                if np.abs(step).max(initial=0.0) < DEPENDENT / 10:
                    break
        return weights, left


def _more(unit: Any, sure: NDArray[np.intp], doubtful: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those of the doubtful rows, in their order, that the sure ones and the doubtful ones before do not span."""
    project = _Projector(unit, sure)
    new: list[int] = []
    basis = np.zeros((0, unit.shape[1]))
    mixture = np.random.default_rng(0)
    for start in range(0, len(doubtful), CHUNK):
        rest = doubtful[start:]
        mixed = unit[rest].T @ mixture.standard_normal((len(rest), PROBES))
        if _rest(project, basis, mixed)[1].max() <= DEPENDENT:
            break  # no single row leaves more than a mixture of all
        left, size = _rest(project, basis, unit[rest[:CHUNK]].toarray().T)
        for k in np.flatnonzero(size > DEPENDENT):
            row = left[:, k] - basis.T @ (basis @ left[:, k])
            if np.linalg.norm(row) > DEPENDENT:
                new.append(int(rest[k]))
                basis = np.vstack([basis, row / np.linalg.norm(row)])
    return np.array(new, dtype=np.intp)


def _rest(project: _Projector, basis: Array, given: Array) -> tuple[Array, Array]:
    """What the rows of a projector and those of an orthonormal basis leave of given columns, and its norms."""
    _, left = project(given)
    for _ in range(2):
        left = left - basis.T @ (basis @ left)
    return left, np.linalg.norm(left, axis=0)


def _earlier(unit: Any, kept: NDArray[np.intp], dropped: NDArray[np.intp]) -> NDArray[np.intp]:
    """Exchange dropped rows for the last kept rows they depend on: the echelon form of all dependences."""
    weights, _ = _Projector(unit, kept)(unit[dropped].toarray().T)
    relations = np.zeros((len(dropped), unit.shape[0]))
    relations[:, kept] = -weights.T
    relations[np.arange(len(dropped)), dropped] = 1.0
    lost: list[int] = []
    free = np.arange(len(dropped))  # relations that have no pivot yet
    for row in range(unit.shape[0] - 1, -1, -1):
        if not len(free):
            break
        column = relations[free, row]
        best = int(np.argmax(np.abs(column)))
        if abs(column[best]) < WEAK:
            continue
        pivot = relations[free[best], :row] / column[best]
        others = free[(np.abs(column) > 1e-12) & (np.arange(len(free)) != best)]
        free = np.delete(free, best)
        relations[others, :row] -= np.outer(relations[others, row], pivot)
        lost.append(row)
    found = np.setdiff1d(np.union1d(kept, dropped), np.array(lost, dtype=np.intp))
    sound = len(found) == len(kept) and _pivots(unit[found]).min(initial=1.0) > 1e3 * EPS
    return found if sound else kept
