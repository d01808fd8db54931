"""The junction structure: which flows are independent, and all others in terms of them.

Junctions, transformers and splits are linear in the flows, f = T(x) u, and by power conservation the efforts of the
elements around them satisfy T^T e = 0 for the same T. The independent flows u are found by elimination. Flows go out in
the order bonds between junctions, Se, C, R and GY, I, rates of joints, Sf, and only by pivots that never vanish
(numbers and parameters, units first). So what is left is as good as it can be:

- a flow of an Sf that stays is known; one that goes out must be held by an equation (a closure);
- a flow of an I, or a rate of a joint, that stays carries a state; an I whose flow goes out has derivative causality;
- a flow of an R or a GY that stays belongs to an algebraic equation;
- a flow of a C that stays: nothing but C's is behind it, and this C has derivative causality;
- a flow of an Se that stays: nothing limits it, or two sources of effort fight.

An equation that holds pivots that may vanish only (a loop of modulated transformers) tears one of its bonds: the two
sides of the bond get flows of their own, whose difference is a closure with the bond's effort as multiplier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.bond.structure import JUNCTIONS, ONE_PORTS, BondStructure, Line, Vertex, component_names
from cotree.bond.triangular import solve_rows
from cotree.errors import FormulationError, listing

INTERNAL, EFFORT_SOURCE, COMPLIANCE, DISSIPATOR, INERTIA, PREFERRED, FLOW_SOURCE = range(7)
_RANK = {"Se": EFFORT_SOURCE, "C": COMPLIANCE, "R": DISSIPATOR, "GY": DISSIPATOR, "GR": DISSIPATOR, "I": INERTIA}
_RANK["Sf"] = FLOW_SOURCE
TINY = 1e-12


@dataclass
class Column:
    """One component of a bond's flow."""

    line: str
    k: int
    name: str
    rank: int = INTERNAL
    element: str = ""
    """The element whose rank it has."""


@dataclass(frozen=True)
class Closure:
    """A flow that must vanish, and the effort that makes it: of a flow source, or of a torn bond."""

    name: str
    line: str
    k: int
    vertex: str
    """The flow source, or the vertex at which the bond is torn."""
    torn: int | None = None
    """The column of the torn side."""


@dataclass
class Row:
    """One equation between flows; ``own`` is the column that may be torn from it."""

    vertex: str
    entries: dict[int, ca.SX]
    own: int
    near: dict[int, ca.SX]
    """Factors by which pivots are chosen, where they are not those of the equation."""


@dataclass
class Kinematics:
    """The flows of an opened graph; ``matrix`` gives the modulus of a vertex in states."""

    structure: BondStructure
    matrix: Callable[[Vertex], ca.SX]
    driven: bool = False
    """Whether flow sources that are not zero are held by closures, so that their flows count among the speeds."""
    columns: list[Column] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    pivots: list[tuple[int, int]] = field(default_factory=list)
    closures: list[Closure] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._place: dict[tuple[str, int], int] = {}
        for line in self.structure.lines.values():
            for k, name in enumerate(component_names(line.name, line.width)):
                self._place[line.name, k] = len(self.columns)
                self.columns.append(Column(line.name, k, name))
        for vertex in self.structure.vertices.values():
            self._rank(vertex)
            self._add_rows(vertex)
        self._eliminate()
        held = {closure.vertex for closure in self.closures}
        for vertex in self.structure.vertices.values():
            if self._drives(vertex) and vertex.name not in held:
                line = self.structure.around[vertex.name][0]
                names = component_names(line.name, line.width)
                self.closures += [Closure(name, line.name, k, vertex.name) for k, name in enumerate(names)]

    def _drives(self, vertex: Vertex) -> bool:
        return self.driven and vertex.letter == "Sf" and vertex.value is not None and not vertex.value.is_zero()

    def at(self, line: Line | str, k: int) -> int:
        """The column of a component of a bond."""
        return self._place[line if isinstance(line, str) else line.name, k]

    def _rank(self, vertex: Vertex) -> None:
        if vertex.letter not in (*ONE_PORTS, "GY"):
            return
        rank = PREFERRED if vertex.preferred or self._drives(vertex) else _RANK[vertex.letter]
        rank = EFFORT_SOURCE if vertex.displacement is not None else rank  # its effort is known by coordinates
        for line in self.structure.around[vertex.name]:
            for k in range(line.width):
                column = self.columns[self.at(line, k)]
                if rank >= column.rank:
                    column.rank, column.element = rank, vertex.name

    # -- the equations -------------------------------------------------------------------------------------------

    def _add_rows(self, vertex: Vertex) -> None:
        lines = self.structure.around[vertex.name]
        one = ca.SX(1)
        if vertex.letter == "1":
            for line in lines[1:]:
                for k in range(line.width):
                    self._row(vertex, [(self.at(line, k), one), (self.at(lines[0], k), -one)])
        elif vertex.letter == "0":
            for k in range(lines[0].width if lines else 0):
                self._row(vertex, [(self.at(line, k), one * _sign(line, vertex)) for line in lines])
        elif vertex.letter == "TF":
            first, second = self.structure.at(vertex.name, "1"), self.structure.at(vertex.name, "2")
            into, out = _sign(first, vertex), -_sign(second, vertex)
            matrix = self.matrix(vertex)
            for i in range(second.width):
                near = {} if vertex.near is None else {
                    self.at(first, j): ca.densify(-vertex.near[i, j] * into) for j in range(first.width)
                }  # fmt: skip
                entries = [(self.at(second, i), one * out)]
                for j in range(first.width):
                    factor = matrix if matrix.numel() == 1 and i == j else matrix[i, j] if matrix.numel() > 1 else 0
                    entries.append((self.at(first, j), -ca.SX(factor) * into))
                self._row(vertex, entries, near)
        elif vertex.letter == "Split":
            whole, k = self.structure.at(vertex.name, "whole"), 0
            for number, width in enumerate(vertex.parts):
                part = self.structure.at(vertex.name, str(number + 1))
                for i in range(width):
                    signs = _sign(part, vertex), _sign(whole, vertex)
                    self._row(vertex, [(self.at(part, i), one * signs[0]), (self.at(whole, k), one * signs[1])])
                    k += 1

    def _row(
        self, vertex: Vertex, entries: Iterable[tuple[int, ca.SX]], near: Mapping[int, ca.SX] | None = None
    ) -> None:
        found: dict[int, ca.SX] = {}
        listed = list(entries)
        for column, factor in listed:
            found[column] = found.get(column, ca.SX(0)) + factor
        found = {column: factor for column, factor in found.items() if not factor.is_zero()}
        self.rows.append(Row(vertex.name, found, listed[0][0], dict(near or {})))

    # -- elimination ---------------------------------------------------------------------------------------------

    def _numbers(self, p: NDArray[np.float64]) -> list[dict[int, float]]:
        """The factors as numbers; NaN where one depends on more than parameters and may vanish."""
        factors = [row.near.get(column, factor) for row in self.rows for column, factor in row.entries.items()]
        values = self.structure.values
        every = ca.vertcat(*factors) if factors else ca.SX(0, 1)
        varying = [s for s in ca.symvar(every) if not len(values.p) or not ca.depends_on(values.p.symbols, s)]
        free = ca.vertcat(*varying) if varying else ca.SX(0, 1)
        vary = ca.which_depends(every, free, 1, True) if varying and factors else [False] * len(factors)
        numbers = ca.Function("factors", [values.p.symbols, free], [every])(p, np.ones(len(varying)))
        flat = iter(zip(np.asarray(ca.DM(numbers), dtype=float).ravel().tolist(), vary, strict=True))
        result = []
        for row in self.rows:
            own = {column: next(flat) for column in row.entries}
            result.append({c: np.nan if changes else x for c, (x, changes) in own.items() if changes or x})
        return result

    def _eliminate(self) -> None:
        rows = self._numbers(self.structure.values.p.start)
        self._open: set[int] = set(range(len(rows)))
        self._rows_of: dict[int, set[int]] = {}
        for r, row in enumerate(rows):
            for column in row:
                self._rows_of.setdefault(column, set()).add(r)
        gone: set[int] = set()
        order = {name: place for place, name in enumerate(self.structure.vertices)}  # first named, first a state
        stages = [(rank, False) for rank in range(FLOW_SOURCE + 1)]
        stages.insert(1, (FLOW_SOURCE, True))  # loops with a gap are closed by equations, whatever the other pivots are
        for rank, loops in stages:
            mine = [c for c, column in enumerate(self.columns) if column.rank == rank]
            mine = [c for c in mine if not loops or self.structure.vertices[self.columns[c].element].gap is not None]
            mine.sort(key=lambda c: (order.get(self.columns[c].element, -1), c), reverse=rank != COMPLIANCE)
            for unit in (True, False):
                for column in mine:
                    if column not in gone and self._pivot(rows, column, unit):
                        gone.add(column)
                        if rank == FLOW_SOURCE:
                            self._close(column, rows[self.pivots[-1][0]])
        self.repeated = [self.rows[r].vertex for r in sorted(self._open) if not rows[r]]
        """Vertices whose equation says what others say already."""
        for r in sorted(self._open):
            if rows[r]:
                self._tear(r)

    def _pivot(self, rows: list[dict[int, float]], column: int, unit: bool) -> bool:
        """Take a column out by the shortest row in which its factor never vanishes."""
        fit = [
            r
            for r in self._rows_of.get(column, ())
            if r in self._open and abs(rows[r].get(column, 0.0)) > TINY and (not unit or abs(rows[r][column]) == 1.0)
        ]
        if not fit:
            return False
        pivot = min(fit, key=lambda r: (len(rows[r]), r))
        self._take(rows, pivot, column)
        self.pivots.append((pivot, column))
        return True

    def _take(self, rows: list[dict[int, float]], pivot: int, column: int) -> None:
        """Take a column out of all open rows by one of them."""
        own = rows[pivot]
        self._open.discard(pivot)
        for r in [r for r in self._rows_of[column] if r in self._open]:
            factor = rows[r].pop(column, 0.0) / own[column]
            if factor == 0.0:
                continue
            for c, value in own.items():
                if c != column:
                    new = rows[r].get(c, 0.0) - factor * value
                    self._rows_of.setdefault(c, set()).add(r)
                    if abs(new) <= TINY:
                        rows[r].pop(c, None)
                    else:
                        rows[r][c] = new

    def vanishing(self, p: NDArray[np.float64]) -> str | None:
        """The vertex whose factor, by which a flow was taken out, is zero for other values of the parameters."""
        torn = {closure.torn for closure in self.closures}
        pivots = [(r, column) for r, column in self.pivots if column not in torn]
        rows = self._numbers(p)
        self._open = {r for r, _ in pivots}
        self._rows_of = {}
        for r in self._open:
            for column in rows[r]:
                self._rows_of.setdefault(column, set()).add(r)
        for r, column in pivots:
            if not abs(rows[r].get(column, 0.0)) > TINY:
                return self.rows[r].vertex
            self._take(rows, r, column)
        return None

    def _close(self, column: int, row: dict[int, float]) -> None:
        """A flow source whose flow follows from others: hold it by an equation, or tell that sources fight."""
        own = self.columns[column]
        others = [self.columns[c] for c in row if c != column]
        fixed = all(each.rank == FLOW_SOURCE for each in others) and np.isfinite(list(row.values())).all()
        vertices = [self.structure.vertices[name] for name in (own.element, *(each.element for each in others))]
        if fixed and not all(v.value is not None and v.value.is_zero() for v in vertices):
            raise FormulationError(
                f"the flow sources {listing([v.name for v in vertices])} are in conflict: they set the same flow",
                where=str(self.structure.lines[own.line]),
                expected="a flow that one source sets alone",
                remedy="Put a C or an R between them on a 0 junction, or remove one",
            )
        self.closures.append(Closure(own.name, own.line, own.k, own.element))

    def _tear(self, r: int) -> None:
        """Give the two sides of a bond flows of their own."""
        row = self.rows[r]
        old = self.columns[row.own]
        new = len(self.columns)
        self.columns.append(Column(old.line, old.k, f"{old.name} torn"))
        row.entries[new] = row.entries.pop(row.own)
        self.pivots.append((r, new))
        self.closures.append(Closure(old.name, old.line, old.k, row.vertex, new))

    # -- flows ---------------------------------------------------------------------------------------------------

    @cached_property
    def independent(self) -> list[int]:
        """Columns that stay, in the order of the graph."""
        gone = {column for _, column in self.pivots}
        return [c for c in range(len(self.columns)) if c not in gone]

    @cached_property
    def u(self) -> ca.SX:
        """Symbols of the independent flows."""
        return ca.vertcat(ca.SX(0, 1), *(ca.SX.sym(self.columns[c].name) for c in self.independent))

    @cached_property
    def flows(self) -> list[ca.SX]:
        """All flows in the independent ones, one for each column."""
        values: list[ca.SX] = [ca.SX(0)] * len(self.columns)
        for c, symbol in zip(self.independent, ca.vertsplit(self.u) if self.independent else (), strict=True):
            values[c] = symbol
        unknown = {column: k for k, (_, column) in enumerate(self.pivots)}
        rows: list[dict[int, ca.SX]] = []
        right: list[ca.SX] = []
        for r, _ in self.pivots:
            entries = self.rows[r].entries
            rows.append({unknown[c]: factor for c, factor in entries.items() if c in unknown})
            right.append(-sum((factor * values[c] for c, factor in entries.items() if c not in unknown), ca.SX(0)))
        solved = solve_rows(rows, right, [self.rows[r].vertex for r, _ in self.pivots])
        for column, k in unknown.items():
            values[column] = solved[k]
        return values

    def flow(self, line: Line | str) -> ca.SX:
        """The flow of a bond."""
        line = self.structure.lines[line] if isinstance(line, str) else line
        return ca.vertcat(*(self.flows[self.at(line, k)] for k in range(line.width)))

    def own_flow(self, vertex: str) -> ca.SX:
        """The flow of a one-port, counted into it; the common flow of a junction 1."""
        line = self.structure.around[vertex][0]
        if self.structure.vertices[vertex].letter in JUNCTIONS:
            return self.flow(line)
        return _sign(line, self.structure.vertices[vertex]) * self.flow(line)

    def shown_flow(self, vertex: str) -> ca.SX:
        """The flow that results show: of a source that of its bond, which it sets, of others their own."""
        if self.structure.vertices[vertex].letter in ("Se", "Sf"):
            return self.flow(self.structure.around[vertex][0])
        return self.own_flow(vertex)

    def closure_flow(self, closure: Closure, value: ca.SX) -> ca.SX:
        """The flow that must vanish; ``value`` is that of a flow source."""
        line = self.structure.lines[closure.line]
        sign = _sign(line, self.structure.vertices[closure.vertex])
        column = self.at(line, closure.k)
        if closure.torn is None:
            return sign * (self.flows[column] - value)
        return sign * (self.flows[column] - self.flows[closure.torn])


def _sign(line: Line, vertex: Vertex) -> int:
    """1 where the bond enters the vertex, -1 where it leaves."""
    return 1 if line.enters(vertex.name) else -1
