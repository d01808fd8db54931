"""Which linear functionals are independent, in a given order: sparse row elimination with a record of dependencies.

Used where components with several ports tie variables together in ways that the graph alone does not show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from math import log2

TOLERANCE = 1e-9
ROUNDS = 20


def column_sizes(rows: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Factors for the columns that bring the entries near one, together with factors for the rows (Curtis and Reid).

    Resistances of 1e10 and inductances of 1e-9 may meet in one network; a rank is only seen when their units are gone.
    """
    entries = [[(c, log2(abs(value))) for c, value in row.items() if value != 0.0] for row in rows]
    entries = [row for row in entries if row]
    columns: dict[int, float] = {column: 0.0 for row in entries for column, _ in row}
    for _ in range(ROUNDS):
        sums, counts = dict.fromkeys(columns, 0.0), dict.fromkeys(columns, 0)
        for row in entries:
            mean = sum(value + columns[column] for column, value in row) / len(row)
            for column, value in row:
                sums[column] += mean - value
                counts[column] += 1
        columns = {column: sums[column] / counts[column] for column in columns}
    return {column: 2.0**value for column, value in columns.items()}


class RowElimination:
    """Rows are offered one after the other; each is either independent of those before, or a combination of them."""

    def __init__(self, sizes: Mapping[int, float]) -> None:
        self._sizes = sizes
        self._rows: list[dict[int, float]] = []
        self._origins: list[dict[int, float]] = []
        """What each row is made of: factors of the rows as they were offered, brought to size one."""
        self._names: list[str] = []
        self._pivot_of_column: dict[int, int] = {}
        self._columns: list[int] = []

    @property
    def rank(self) -> int:
        """The number of independent rows so far."""
        return len(self._rows)

    def offer(self, row: Mapping[int, float], name: str) -> dict[str, float] | None:
        """None if the row is independent of those before it; otherwise the named rows it combines, with factors.

        Several rows may have one name. Factors belong to rows brought to size one, so that units play no part.
        """
        self._names.append(name)
        work = {column: value * self._sizes[column] for column, value in row.items() if value != 0.0}
        scale = max((abs(value) for value in work.values()), default=0.0)
        work = {column: value / scale for column, value in work.items()}
        origin: dict[int, float] = {}
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
            largest = max((abs(value) for value in origin.values()), default=0.0)
            kept = {other: value for other, value in origin.items() if abs(value) > TOLERANCE * largest}
            return {self._names[other]: value for other, value in kept.items()}
        self._insert(work, {other: -value for other, value in origin.items()} | {len(self._names) - 1: 1.0})
        return None

    def _insert(self, row: dict[int, float], origin: dict[int, float]) -> None:
        column = max(row, key=lambda c: abs(row[c]))
        pivot = row[column]
        self._pivot_of_column[column] = len(self._rows)
        self._columns.append(column)
        self._rows.append({c: value / pivot for c, value in row.items()})
        self._origins.append({other: value / pivot for other, value in origin.items()})
