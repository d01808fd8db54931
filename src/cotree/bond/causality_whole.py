"""The junction structure as a whole: which variables its elements may set together.

At each law alone a choice may look free that the graph as a whole forbids, since a loop of transformers ties flows far
apart. So where step by step the assignment runs into a conflict, the whole is asked: its efforts and flows form a
linear space in which as many variables are free as there are elements, and elements may set variables together whose
rows in a basis of that space are independent. If that holds for some elements, the others can always be assigned too,
because the structure conserves power.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from copy import copy
from heapq import heapify, heappop, heappush

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from cotree.bond.causality_rules import Atom, ends_at, sample
from cotree.bond.structure import JUNCTIONS, ONE_PORTS, TWO_PORTS, BondStructure, Vertex

Array = NDArray[np.float64]
Variable = tuple[str, Atom]
Entry = tuple[str, Atom, float]

PIVOT = 0.1
"""A pivot is at least this part of the largest entry."""
ROUNDING = 1e-12
"""What is left of entries that cancel."""

DEPENDENT = 1e-8
"""Rows are dependent if less than this part of one is new; general values of signals keep true pivots far above."""


class Whole:
    """The variables that elements have set so far, and whether others may be set as well."""

    def __init__(self, structure: BondStructure) -> None:
        self.structure = structure
        owned = [name for name, vertex in structure.vertices.items() if vertex.letter in ONE_PORTS]
        lines = [structure.lines[bond] for bond in dict.fromkeys(structure.around[name][0].name for name in owned)]
        atoms = [(line.name, k) for line in lines for k in range(line.width)]
        place = {key: k for k, key in enumerate((what, atom) for what in ("effort", "flow") for atom in atoms)}
        laws = (entries for vertex in structure.vertices.values() for entries in _law(vertex, structure))
        equations = _between_elements(laws, place.keys())
        matrix = np.zeros((len(equations), len(place)))
        for number, row in enumerate(equations):
            for key, factor in row.items():
                matrix[number, place[key]] = factor
        size = np.linalg.norm(matrix, axis=1, keepdims=True)
        basis = scipy.linalg.null_space(matrix / np.where(size > 0, size, 1.0), rcond=DEPENDENT)
        self._rows = {key: basis[k] for key, k in place.items()}
        self._new = np.zeros((0, basis.shape[1]))
        """An orthonormal basis of the rows that are set."""
        self._kept: dict[Variable, Array] = {}

    def copy(self) -> Whole:
        """The same, for trying something out."""
        other = copy(self)
        other._kept = dict(self._kept)
        return other

    def take(self, what: str, atom: Atom) -> bool:
        """Let an element set a variable, where that is possible together with the others."""
        if (what, atom) in self._kept:
            return True
        row = self._rows[what, atom]
        rest = row - (row @ self._new.T) @ self._new
        rest -= (rest @ self._new.T) @ self._new  # once more, against rounding
        if np.linalg.norm(rest) <= DEPENDENT * max(float(np.linalg.norm(row)), DEPENDENT):
            return False
        self._new = np.vstack([self._new, rest / np.linalg.norm(rest)])
        self._kept[what, atom] = row
        return True

    def settled_by(self, what: str, atom: Atom) -> list[Atom]:
        """The components whose elements settle a variable already."""
        if not self._kept:
            return []
        stack = np.array(list(self._kept.values()))
        weights = np.linalg.lstsq(stack.T, self._rows[what, atom], rcond=None)[0]
        return [each for (_, each), weight in zip(self._kept, weights, strict=True) if abs(weight) > DEPENDENT]


def _between_elements(laws: Iterable[list[Entry]], wanted: Collection[Variable]) -> list[dict[Variable, float]]:
    """The equations between the variables of elements, all others eliminated; short equations go first."""
    rows: list[dict[Variable, float]] = []
    holders: dict[Variable, set[int]] = {}
    for entries in laws:
        row: dict[Variable, float] = {}
        for what, atom, factor in entries:
            row[what, atom] = row.get((what, atom), 0.0) + factor
        rows.append({key: factor for key, factor in row.items() if factor})
        for key in rows[-1]:
            holders.setdefault(key, set()).add(len(rows) - 1)
    todo = [(len(row), number) for number, row in enumerate(rows)]
    heapify(todo)
    done: set[int] = set()
    left: list[dict[Variable, float]] = []
    while todo:
        length, number = heappop(todo)
        row = rows[number]
        if number in done or length != len(row):
            continue
        done.add(number)
        for key in row:
            holders[key].discard(number)
        inner = [key for key in row if key not in wanted]
        if not inner:
            left += [row] if row else []
            continue
        largest = max(abs(row[key]) for key in inner)
        pivot = min((key for key in inner if abs(row[key]) >= PIVOT * largest), key=lambda key: len(holders[key]))
        for other in list(holders[pivot]):
            _subtract(rows[other], row, pivot, other, holders)
            heappush(todo, (len(rows[other]), other))
    return left


def _subtract(
    target: dict[Variable, float], row: dict[Variable, float], pivot: Variable, number: int,
    holders: dict[Variable, set[int]],
) -> None:  # fmt: skip
    """Eliminate the pivot from an equation."""
    factor = target[pivot] / row[pivot]
    size = max(max(map(abs, target.values())), abs(factor) * max(map(abs, row.values())))
    for key, value in row.items():
        new = target.get(key, 0.0) - factor * value
        if key == pivot or abs(new) < ROUNDING * size:
            target.pop(key, None)
            holders[key].discard(number)
        else:
            target[key] = new
            holders[key].add(number)


def _law(vertex: Vertex, structure: BondStructure) -> Iterator[list[Entry]]:
    """The equations of a vertex that passes power on."""
    if vertex.letter in ONE_PORTS:
        return
    ends = [(bond, 1.0 if end == "head" else -1.0, port) for bond, end, port in ends_at(structure, vertex.name)]
    if vertex.letter in JUNCTIONS and ends:
        same, summed = ("flow", "effort") if vertex.letter == "1" else ("effort", "flow")
        for k in range(structure.width(vertex.name)):
            for bond, _, _ in ends[1:]:
                yield [(same, (ends[0][0], k), 1.0), (same, (bond, k), -1.0)]
            yield [(summed, (bond, k), sign) for bond, sign, _ in ends]
        return
    at = {port: (bond, sign) for bond, sign, port in ends}
    if vertex.letter == "Split":
        whole, into = at["whole"]
        parts = [(at[str(i + 1)], k) for i, width in enumerate(vertex.parts) for k in range(width)]
        for place, ((bond, sign), k) in enumerate(parts):
            yield [("flow", (whole, place), into), ("flow", (bond, k), sign)]
            yield [("effort", (whole, place), 1.0), ("effort", (bond, k), -1.0)]
    elif vertex.letter in TWO_PORTS:
        assert vertex.matrix is not None
        (one, into), (two, back) = at["1"], at["2"]
        numbers = sample(vertex.matrix, structure)
        m = numbers[0, 0] * np.eye(structure.lines[one].width) if numbers.size == 1 else numbers
        flow_1 = {k: ("flow", (one, k), into) for k in range(m.shape[1])}  # port 1 counts in, port 2 out
        flow_2 = {k: ("flow", (two, k), -back) for k in range(m.shape[0])}
        effort_1 = {k: ("effort", (one, k), 1.0) for k in range(m.shape[1])}
        effort_2 = {k: ("effort", (two, k), 1.0) for k in range(m.shape[0])}
        there, back_again = (flow_2, effort_2) if vertex.letter == "TF" else (effort_2, flow_2)
        for k in range(m.shape[0]):  # f_2 = M f_1, or e_2 = M f_1
            yield [there[k], *(_times(flow_1[j], -m[k, j]) for j in range(m.shape[1]))]
        for j in range(m.shape[1]):  # e_1 = M^T e_2, or e_1 = M^T f_2
            yield [effort_1[j], *(_times(back_again[k], -m[k, j]) for k in range(m.shape[0]))]


def _times(entry: Entry, factor: float) -> Entry:
    what, atom, own = entry
    return what, atom, own * float(factor)
