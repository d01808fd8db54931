"""Grounds as circuit diagrams draw them: one at the end of each edge, in the direction where there is most room."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cotree.graph import LinearGraph
from cotree.graph.forest import DisjointSets
from cotree.model import Edge
from cotree.view.layout import place_nodes

Array = NDArray[np.float64]

LONGEST = 0.9
"""Length of an edge to a ground of its own."""
CLEAR = 0.6
"""Distance that such a ground should keep from other nodes."""
ANGLE = 1.0
"""Angle in rad that its edge should keep from others."""


def place_with_stubs(graph: LinearGraph, room: Array, stubs: frozenset[str]) -> Array:
    """Positions of all nodes, (v, 2); ``stubs`` are grounds with one edge each, placed after all others."""
    if not stubs:
        return place_nodes(graph, room)
    short = [k for k, edge in enumerate(graph) if edge.tail in stubs or edge.head in stubs]
    rest = sorted(set(range(graph.e)) - set(short))
    inner = [name for name in graph.nodes if name not in stubs]
    edges = [graph.edges[k] for k in rest]
    standing = [graph.node_index(name) for name in inner]
    places = np.zeros((graph.v, 2))
    places[standing] = place_nodes(LinearGraph(edges, part_datums(edges, inner, graph.datums), inner), room[rest])
    directions: list[list[float]] = [[] for _ in graph.nodes]
    for k in rest:
        for a, b in ((graph.tail[k], graph.head[k]), (graph.head[k], graph.tail[k])):
            directions[a].append(float(np.arctan2(*(places[b] - places[a])[::-1])))
    tries = np.deg2rad([-90, *(side * turn - 90 for turn in range(15, 181, 15) for side in (1, -1))])
    for k in short:
        a, b = (int(graph.head[k]), int(graph.tail[k]))
        if graph.nodes[a] in stubs:
            a, b = b, a
        ends = places[a] + min(float(room[k]), LONGEST) * np.column_stack([np.cos(tries), np.sin(tries)])
        gaps = [min((_between(t, used) for used in directions[a]), default=np.pi) for t in tries]
        apart = np.linalg.norm(ends[:, None] - places[standing], axis=2).min(axis=1)
        cost = 3 * np.maximum(0, ANGLE - np.array(gaps)) + 4 * np.maximum(0, CLEAR - apart)
        best = int(np.argmin(cost + 0.02 * np.arange(len(tries))))
        places[b] = ends[best]
        directions[a].append(float(tries[best]))
        standing.append(b)
    return places


def part_datums(edges: Iterable[Edge], nodes: Iterable[str], preferred: Iterable[str]) -> list[str]:
    """One datum for each separate part of a graph, a preferred one where it has one."""
    names, first = list(nodes), set(preferred)
    place = {name: k for k, name in enumerate(names)}
    sets = DisjointSets(len(names))
    for edge in edges:
        sets.join(place[edge.tail], place[edge.head])
    chosen: dict[int, str] = {}
    for name in sorted(names, key=lambda each: (each not in first, place[each])):
        chosen.setdefault(sets.find(place[name]), name)
    return list(chosen.values())


def _between(a: float, b: float) -> float:
    return float(abs((a - b + np.pi) % (2 * np.pi) - np.pi))
