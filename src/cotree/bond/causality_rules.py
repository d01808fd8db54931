"""What the laws of junctions, transformers, gyrators and splits allow: which components they may receive together.

Each law ties scalar components of bonds. A vertex receives the flow of some of them and gives the flow of the others;
efforts go the other way. Which sets may be received is the same question as which rows of a matrix are a basis: the
flows of a TF are the rows of (1; M) times those of port 1, so that ``rank`` of them, with independent rows, settle the
others. A 1-junction receives one flow, a 0-junction all but one. At port 2 of a GY efforts stand for flows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import casadi as ca
import networkx as nx
import numpy as np
from numpy.typing import NDArray

from cotree.bond.structure import JUNCTIONS, TWO_PORTS, BondStructure, Vertex

Atom = tuple[str, int]
"""A scalar component of a bond."""

TINY = 1e-9
"""Rows of length one are taken as dependent below this distance: far above rounding, far below any pivot of use."""


@dataclass(frozen=True)
class Member:
    """A component at the end of its bond where the law is."""

    atom: Atom
    end: str
    """``tail`` or ``head``."""
    flipped: bool = False
    """Whether the effort stands for the flow: at port 2 of a GY."""

    def stroke(self, received: bool) -> str:
        """The end with the stroke, if the law receives the flow here, or gives it."""
        at_law = received == self.flipped  # the stroke is at the end that receives effort
        return self.end if at_law else other_end(self.end)

    def received(self, stroke: str) -> bool:
        """Whether the law receives the flow here."""
        return (stroke == self.end) == self.flipped


@dataclass
class Relation:
    """One law between components: ``rank`` of them are received, any where ``rows`` is None."""

    vertex: str
    members: tuple[Member, ...]
    rank: int
    rows: NDArray[np.float64] | None = None
    one_way: bool = False
    """Whether flow should go from port 1 to port 2, since the whole modulus has no inverse."""
    inputs: int = 0
    """Number of members that belong to port 1."""

    def sides(self, strokes: Mapping[Atom, str]) -> tuple[list[int], list[int], list[int]]:
        """The members that are received, those that are given, and those still open."""
        received: list[int] = []
        given: list[int] = []
        free: list[int] = []
        for k, member in enumerate(self.members):
            stroke = strokes.get(member.atom)
            (free if stroke is None else received if member.received(stroke) else given).append(k)
        return received, given, free

    def reversed(self, strokes: Mapping[Atom, str]) -> bool:
        """Whether flow goes from port 2 to port 1 although the modulus has no inverse."""
        if not self.one_way or len(self.members) == 1:
            return False
        received, given, _ = self.sides(strokes)
        return any(k >= self.inputs for k in received) or any(k < self.inputs for k in given)

    def consequences(self, strokes: Mapping[Atom, str]) -> Consequences:
        """What the law settles, given the strokes so far."""
        received, given, free = self.sides(strokes)
        return self._any(received, given, free) if self.rows is None else self._linear(received, given, free)

    def _any(self, received: list[int], given: list[int], free: list[int]) -> Consequences:
        left = len(self.members) - self.rank
        result = Consequences()
        if len(received) > self.rank:
            result.broken = received
        elif len(given) > left:
            result.broken = given
        if len(received) >= self.rank:
            result.settled = [(k, False, tuple(received)) for k in free]
        elif len(given) >= left:
            result.settled = [(k, True, tuple(given)) for k in free]
        return result

    def _linear(self, received: list[int], given: list[int], free: list[int]) -> Consequences:
        assert self.rows is not None
        result = Consequences()
        kept = self.rows[received]
        if _rank(kept) < len(received):
            result.broken = received
        elif _rank(self.rows[received + free]) < self.rank:
            result.broken = given
        if not free:
            return result
        rest = self.rows[free] - _projection(kept, self.rows[free])
        wanted = _rank(rest)
        for place, k in enumerate(free):
            if np.linalg.norm(rest[place]) < TINY:
                result.settled.append((k, False, tuple(received[i] for i in np.flatnonzero(self._needs(k, received)))))
            elif not result.broken and _rank(np.delete(rest, place, axis=0)) < wanted:
                result.settled.append((k, True, tuple(given)))
        return result

    def _needs(self, k: int, received: Sequence[int]) -> NDArray[np.bool_]:
        """Which of the received components settle component k."""
        assert self.rows is not None
        if not received:
            return np.zeros(0, dtype=bool)
        weights = np.linalg.lstsq(self.rows[list(received)].T, self.rows[k], rcond=None)[0]
        return np.asarray(np.abs(weights) > TINY)

    def passes(self, strokes: Mapping[Atom, str]) -> Iterator[tuple[int, int]]:
        """Pairs (received, given) of which the first has a part in the second; all strokes are known."""
        received, given, _ = self.sides(strokes)
        for k in given:
            needs = np.ones(len(received), dtype=bool) if self.rows is None else self._needs(k, received)
            yield from ((i, k) for i, needed in zip(received, needs, strict=True) if needed)


@dataclass
class Consequences:
    """What follows at one law: members settled (received or given) with those that settle them, and what is broken."""

    settled: list[tuple[int, bool, tuple[int, ...]]] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    """Members that cannot all be received, or all be given."""


def other_end(end: str) -> str:
    """``head`` for ``tail`` and the other way round."""
    return "head" if end == "tail" else "tail"


def relations(structure: BondStructure) -> list[Relation]:
    """The laws of all vertices that pass power on, in graph order."""
    found: list[Relation] = []
    for vertex in structure.vertices.values():
        if vertex.letter in JUNCTIONS:
            found += _junction(vertex, structure)
        elif vertex.letter in TWO_PORTS:
            found += _two_port(vertex, structure)
        elif vertex.letter == "Split":
            found += _split(vertex, structure)
    return found


def ends_at(structure: BondStructure, vertex: str) -> list[tuple[str, str, str]]:
    """The bonds at a vertex as (bond, end, port); a bond from a vertex to itself is there twice."""
    found = []
    for line in dict.fromkeys(structure.around[vertex]):
        found += [(line.name, "tail", line.tail[1])] if line.tail[0] == vertex else []
        found += [(line.name, "head", line.head[1])] if line.head[0] == vertex else []
    return found


def _junction(vertex: Vertex, structure: BondStructure) -> list[Relation]:
    ends = ends_at(structure, vertex.name)
    if not ends:
        return []
    rank = 1 if vertex.letter == "1" else len(ends) - 1
    return [
        Relation(vertex.name, tuple(Member((bond, k), end) for bond, end, _ in ends), rank)
        for k in range(structure.width(vertex.name))
    ]


def _split(vertex: Vertex, structure: BondStructure) -> list[Relation]:
    at = {port: (bond, end) for bond, end, port in ends_at(structure, vertex.name)}
    whole, end = at["whole"]
    parts = [(at[str(i + 1)], k) for i, width in enumerate(vertex.parts) for k in range(width)]
    return [
        Relation(vertex.name, (Member((whole, place), end), Member((bond, k), part_end)), 1)
        for place, ((bond, part_end), k) in enumerate(parts)
    ]


def _two_port(vertex: Vertex, structure: BondStructure) -> list[Relation]:
    at = {port: (bond, end) for bond, end, port in ends_at(structure, vertex.name)}
    (one, one_end), (two, two_end) = at["1"], at["2"]
    assert vertex.matrix is not None
    width = structure.lines[one].width
    matrix = vertex.matrix * ca.SX.eye(width) if vertex.matrix.numel() == 1 else vertex.matrix
    numbers = sample(matrix, structure)
    one_way = numbers.shape[0] != numbers.shape[1] or _rank(_normed(numbers)) < numbers.shape[0]
    found = []
    for columns, rows in blocks(numbers):
        members = [Member((one, k), one_end) for k in columns]
        members += [Member((two, k), two_end, vertex.letter == "GY") for k in rows]
        plain = len(columns) + len(rows) <= 2  # a single number, or a row or column of zeros
        stack = None if plain else np.vstack([np.eye(len(columns)), _normed(numbers[np.ix_(rows, columns)])])
        found.append(Relation(vertex.name, tuple(members), len(columns), stack, one_way, len(columns)))
    return found


def sample(matrix: ca.SX, structure: BondStructure) -> NDArray[np.float64]:
    """A matrix at the parameters of the model and at general values of all signals, singular by law only."""
    free = ca.symvar(matrix)
    if not free:
        return np.asarray(ca.DM(matrix).full(), dtype=float)
    held = structure.values.p
    known = dict(zip(held.names, held.start, strict=True))
    values = [known.get(symbol.name(), general(symbol.name())) for symbol in free]
    return np.asarray(ca.Function("sample", [ca.vertcat(*free)], [matrix])(values).full(), dtype=float)


def general(name: str) -> float:
    """A value for a signal that is the same wherever the signal is used, and that has nothing special."""
    return float(np.random.default_rng(crc32(name.encode())).uniform(0.4, 1.3))


def blocks(matrix: NDArray[np.float64]) -> list[tuple[list[int], list[int]]]:
    """Columns and rows that hang together by entries that are not zero: the smallest parts that pass flow on."""
    size = float(np.max(np.abs(matrix), initial=0.0))
    graph = nx.Graph()
    graph.add_nodes_from(("column", k) for k in range(matrix.shape[1]))
    graph.add_nodes_from(("row", k) for k in range(matrix.shape[0]))
    rows, columns = np.nonzero(np.abs(matrix) > TINY * size)
    graph.add_edges_from((("column", int(c)), ("row", int(r))) for r, c in zip(rows, columns, strict=True))
    parts = [sorted(part) for part in nx.connected_components(graph)]
    return [([k for side, k in part if side == "column"], [k for side, k in part if side == "row"]) for part in parts]


def _normed(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of length one; their scale does not matter for what they settle."""
    size = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(np.divide(matrix, size, out=np.zeros_like(matrix), where=size > 0))


def _rank(rows: NDArray[np.float64]) -> int:
    return int(np.linalg.matrix_rank(rows, tol=TINY)) if rows.size else 0


def _projection(onto: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    if not len(onto):
        return np.zeros_like(rows)
    return np.asarray(rows @ np.linalg.pinv(onto, rcond=TINY) @ onto)
