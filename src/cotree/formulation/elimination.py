"""Which linear functionals are independent, in a given order: sparse row elimination with a record of dependencies.

Used where components with several ports tie variables together in ways that the graph alone does not show.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heapify, heappop, heappush

TOLERANCE = 1e-9


class RowElimination:
    """Rows are offered one after the other; each is either independent of those before, or a combination of them."""

    def __init__(self) -> None:
        self._rows: list[dict[int, float]] = []
        self._origins: list[dict[str, float]] = []
        self._pivot_of_column: dict[int, int] = {}
        self._columns: list[int] = []

    @property
    def rank(self) -> int:
        """The number of independent rows so far."""
        return len(self._rows)

    def offer(self, row: Mapping[int, float], name: str) -> dict[str, float] | None:
        """None if the row is independent of those before it; otherwise the named rows it combines, with factors."""
        scale = max((abs(value) for value in row.values()), default=0.0)
        if scale == 0.0:
            return {}
        work = {column: value / scale for column, value in row.items() if value != 0.0}
        origin: dict[str, float] = {}
        waiting = [self._pivot_of_column[column] for column in work if column in self._pivot_of_column]
        heapify(waiting)
        done = -1
        while waiting:  # earlier pivots first: a pivot row holds no earlier pivot column
            pivot = heappop(waiting)
            if pivot == done:
                continue
            done = pivot
            factor = work.pop(self._columns[pivot], 0.0)
            if factor == 0.0:
                continue
            for column, value in self._rows[pivot].items():
                if column == self._columns[pivot]:
                    continue
                was = column in work
                work[column] = work.get(column, 0.0) - factor * value
                if not was and column in self._pivot_of_column:
                    heappush(waiting, self._pivot_of_column[column])
            for other, value in self._origins[pivot].items():
                origin[other] = origin.get(other, 0.0) + factor * value
        work = {column: value for column, value in work.items() if abs(value) > TOLERANCE}
        if not work:
            return {other: value * scale for other, value in origin.items() if abs(value) > TOLERANCE}
        self._insert(work, {other: -value for other, value in origin.items()} | {name: 1.0 / scale})
        return None

    def _insert(self, row: dict[int, float], origin: dict[str, float]) -> None:
        column = max(row, key=lambda c: abs(row[c]))
        pivot = row[column]
        self._pivot_of_column[column] = len(self._rows)
        self._columns.append(column)
        self._rows.append({c: value / pivot for c, value in row.items()})
        self._origins.append({other: value / pivot for other, value in origin.items()})
