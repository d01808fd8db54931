"""Minimum cycle basis: independent loops with the fewest edges, not tied to any tree.

Short loops keep closure equations sparse (Sheth and Uicker, in McPhee 1996, section 4). Horton's candidates (Horton
1987), restricted to loops through a feedback vertex set, are taken from the shortest while they stay independent
over GF(2). Each biconnected block is treated alone, with edges in series contracted to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from cotree.graph.equations import Term, TopologicalEquation
from cotree.graph.linear_graph import LinearGraph
from cotree.maths.named import NamedMatrix

# An edge of a block: two nodes, and the edges of the graph in series that it stands for.
_Series = tuple[int, int, tuple[int, ...]]


def minimum_cycle_basis(graph: LinearGraph) -> NamedMatrix:
    """A basis of all circuits with the fewest edges in total: rows ``loop 1`` .., shortest first, columns edges.

    Signs follow the loop; its first edge in the order of the graph is positive. Parallel edges give loops of two
    edges, a self-loop one of a single edge.
    """
    import scipy.sparse as sp  # slow to load, and few runs need it

    loops = [frozenset([k]) for k in np.flatnonzero(graph.tail == graph.head).tolist()]
    for block in _blocks(graph):
        loops += _basis_of_block(block)
    walks = [_walk(graph, loop) for loop in sorted(loops, key=lambda loop: (len(loop), sorted(loop)))]
    data = np.array([sign for walk in walks for sign, _ in walk], dtype=np.int8)
    columns = np.array([k for walk in walks for _, k in walk], dtype=np.int32)
    indptr = np.concatenate([[0], np.cumsum([len(walk) for walk in walks])]).astype(np.int32)
    matrix = sp.csr_array((data, columns, indptr), shape=(len(walks), graph.e))
    return NamedMatrix(matrix, [f"loop {n + 1}" for n in range(len(walks))], graph.edge_names)


def loop_equation(graph: LinearGraph, basis: NamedMatrix, loop: str) -> TopologicalEquation:
    """The circuit equation of one row of a cycle basis, terms in the order of the walk."""
    signs = basis.row(loop)
    walk = _walk(graph, frozenset(graph.edge_index(name) for name in signs))
    terms = tuple(Term(signs[graph.edges[k].name], graph.edges[k]) for _, k in walk)
    return TopologicalEquation(terms, "across", loop, "circuit")


def _blocks(graph: LinearGraph) -> list[list[_Series]]:
    """Edges of each biconnected block that has a loop; parallel edges share a block, self-loops are left out."""
    import networkx as nx

    edges: dict[tuple[int, int], list[int]] = {}
    for k, (t, h) in enumerate(zip(graph.tail.tolist(), graph.head.tolist(), strict=True)):
        if t != h:
            edges.setdefault((min(t, h), max(t, h)), []).append(k)
    simple = nx.Graph()
    simple.add_edges_from(edges)
    blocks: list[list[_Series]] = []
    for pairs in nx.biconnected_component_edges(simple):
        block: list[_Series] = [(a, b, (k,)) for a, b in sorted((min(p), max(p)) for p in pairs) for k in edges[a, b]]
        if len(block) > 1:
            blocks.append(block)
    return blocks


def _basis_of_block(block: list[_Series]) -> list[frozenset[int]]:
    """Loops of a minimum basis of one block, as sets of edges of the graph."""
    nodes = {n for a, b, _ in block for n in (a, b)}
    if len(block) == len(nodes):
        return [frozenset(k for _, _, series in block for k in series)]
    series = _contract_series(block)
    search = _Search.of(series)
    independent: dict[int, int] = {}
    chords = search.chord_mask()
    loops = []
    for _, edges in sorted(search.candidates()):
        rest = edges & chords
        while rest and (pivot := rest.bit_length()) in independent:
            rest ^= independent[pivot]
        if rest:
            independent[pivot] = rest
            loops.append(frozenset(k for n in _bits(edges) for k in series[n][2]))
            if len(loops) == chords.bit_count():
                break
    return loops


def _contract_series(block: list[_Series]) -> list[_Series]:
    """Replace chains through nodes of degree two by one edge.

    The block has several loops, so nodes of higher degree remain, and being biconnected it cannot form a self-loop.
    """
    at: dict[int, set[int]] = {}
    edges = dict(enumerate(block))
    for n, (a, b, _) in edges.items():
        at.setdefault(a, set()).add(n)
        at.setdefault(b, set()).add(n)
    for node in sorted(at):
        if len(at[node]) != 2:
            continue
        m, n = sorted(at[node])
        ends = [a + b - node for a, b, _ in (edges[m], edges[n])]
        edges[m] = (ends[0], ends[1], edges[m][2] + edges.pop(n)[2])
        at[ends[1]].discard(n)
        at[ends[1]].add(m)
        at[node].clear()
    return list(edges.values())


@dataclass(frozen=True, slots=True)
class _Search:
    """Shortest paths in a block as integers: the length in the high bits, the set of edges in the low ones.

    Edge n weighs ``length << count | 1 << n``. Sums of these along simple paths never carry, so no two paths tie,
    and a distance is at the same time the path: Horton's theorem needs shortest paths that are unique.
    """

    edges: Sequence[_Series]
    near: dict[int, list[tuple[int, int]]]

    @classmethod
    def of(cls, edges: Sequence[_Series]) -> _Search:
        near: dict[int, list[tuple[int, int]]] = {}
        for n, (a, b, _) in enumerate(edges):
            near.setdefault(a, []).append((n, b))
            near.setdefault(b, []).append((n, a))
        return cls(edges, near)

    def weight(self, n: int) -> int:
        return (len(self.edges[n][2]) << len(self.edges)) | (1 << n)

    def distances(self, source: int) -> dict[int, int]:
        """Distance and path from one node to all others (Dijkstra)."""
        weights = [self.weight(n) for n in range(len(self.edges))]
        best, done = {source: 0}, set()
        heap = [(0, source)]
        while heap:
            distance, node = heappop(heap)
            if node in done:
                continue
            done.add(node)
            for n, other in self.near[node]:
                if other not in done:
                    through = distance + weights[n]
                    if other not in best or through < best[other]:
                        best[other] = through
                        heappush(heap, (through, other))
        return best

    def candidates(self) -> set[tuple[int, int]]:
        """(length, set of edges) of each loop: two shortest paths that part at once, and the edge that closes it."""
        count = len(self.edges)
        everything = (1 << count) - 1
        found = set()
        for source in self.feedback_nodes():
            best = self.distances(source)
            for n, (a, b, series) in enumerate(self.edges):
                to_a, to_b = best[a], best[b]
                closes = not ((to_a | to_b) >> n) & 1
                if closes and not to_a & to_b & everything:
                    length = (to_a >> count) + (to_b >> count) + len(series)
                    found.add((length, (to_a & everything) | (to_b & everything) | (1 << n)))
        return found

    def feedback_nodes(self) -> list[int]:
        """A set of nodes that meets every loop: take the busiest node, drop what then hangs loose, and so on."""
        degree = {node: len(ends) for node, ends in self.near.items()}
        heap = [(-d, node) for node, d in degree.items()]
        heap.sort()
        chosen = []
        while heap:
            negative, node = heappop(heap)
            if node not in degree or degree[node] != -negative:
                continue
            if degree[node] > 1:
                chosen.append(node)
            loose = [node]
            while loose:
                gone = loose.pop()
                if degree.pop(gone, None) is None:
                    continue
                for _, other in self.near[gone]:
                    if other in degree:
                        degree[other] -= 1
                        heappush(heap, (-degree[other], other))
                        if degree[other] <= 1:
                            loose.append(other)
        return chosen

    def chord_mask(self) -> int:
        """Edges outside one tree of the block: a loop is known by the chords in it."""
        start = next(iter(self.near))
        tree = 0
        for path in self.distances(start).values():
            tree |= path
        return ~tree & ((1 << len(self.edges)) - 1)


def _walk(graph: LinearGraph, loop: frozenset[int]) -> list[tuple[int, int]]:
    """Signed edges of a loop in the order of the walk, from the first edge of the graph along its direction."""
    at: dict[int, list[int]] = {}
    for k in loop:
        at.setdefault(int(graph.tail[k]), []).append(k)
        at.setdefault(int(graph.head[k]), []).append(k)
    first = min(loop)
    walk, node = [(1, first)], int(graph.head[first])
    while len(walk) < len(loop):
        last = walk[-1][1]
        k = next(k for k in at[node] if k != last)
        forward = int(graph.tail[k]) == node
        walk.append((1 if forward else -1, k))
        node = int(graph.head[k] if forward else graph.tail[k])
    return walk


def _bits(value: int) -> list[int]:
    out = []
    while value:
        low = value & -value
        out.append(low.bit_length() - 1)
        value ^= low
    return out
