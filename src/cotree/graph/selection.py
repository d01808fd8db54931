"""Choice of a tree by priority, and what a choice implies for sources and storages.

Kruskal's rule: edges enter the tree in the order of their priority unless they close a loop. Every such tree has the
most edges of the first priority, then of the second, and so on. Ties are broken by the order in which the user wrote
the edges, so the same model always gives the same tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cotree.errors import GraphError, listing, nearest
from cotree.graph.forest import DisjointSets, IntArray, path_of_edges
from cotree.graph.linear_graph import LinearGraph
from cotree.graph.tree import Tree
from cotree.model.edge import Edge, Kind, Role

Preference = Literal["kinds", "absolute", "joint", "normal"]
Key = Callable[[Edge], Any]

_ABSOLUTE = {Kind.ARM: 1, Kind.POSITION_DRIVER: 2, Kind.BODY: 3, Kind.POINT_JOINT: 4, Kind.LINE_JOINT: 5}
_JOINT = {Kind.ARM: 1, Kind.POSITION_DRIVER: 2, Kind.POINT_JOINT: 3, Kind.LINE_JOINT: 3, Kind.BODY: 5}

PREFERENCES: dict[str, Key] = {
    "kinds": lambda edge: int(edge.kind),
    "absolute": lambda edge: _ABSOLUTE.get(edge.kind, int(edge.kind)),
    "joint": lambda edge: _JOINT.get(edge.kind, int(edge.kind)),
    "normal": lambda edge: (int(edge.role), int(edge.kind)),
}


def select_tree(
    graph: LinearGraph,
    prefer: Preference | Key = "kinds",
    into_tree: Iterable[str] = (),
    into_cotree: Iterable[str] = (),
) -> Tree:
    """The spanning tree that takes edges in the order of ``prefer``, the user's order among equals.

    ``kinds``: N1..N7 (Richard 2012, section 2). ``absolute``: arms and drivers, then bodies, so that joints are
    chords. ``joint``: arms and drivers, then joints of any kind in the user's order, then bodies. ``normal``: across
    sources, across storages, static elements, through storages, through sources (scalar networks). A function of the
    edge gives its own order, the smallest first. ``into_tree`` and ``into_cotree`` pin edges by name.
    """
    key = priority(prefer)
    keys = [key(edge) for edge in graph.edges]
    return tree_in_order(graph, sorted(range(graph.e), key=keys.__getitem__), into_tree, into_cotree)


def priority(prefer: Preference | Key) -> Key:
    """The function behind a named preference."""
    if callable(prefer):
        return prefer
    if prefer in PREFERENCES:
        return PREFERENCES[prefer]
    raise GraphError(
        f"no preference for trees is named '{prefer}'",
        expected=f"one of {listing(PREFERENCES)}, or a function of an edge",
        remedy=nearest(str(prefer), PREFERENCES),
    )


def tree_in_order(
    graph: LinearGraph, order: Iterable[int], into_tree: Iterable[str] = (), into_cotree: Iterable[str] = ()
) -> Tree:
    """The tree that takes edges (by place) in the order given, after the pinned ones."""
    pinned, barred = checked_pins(graph, into_tree, into_cotree)
    joined = DisjointSets(graph.v)
    tail, head = graph.tail.tolist(), graph.head.tolist()
    chosen = []
    skip = set(barred)
    for k in (*pinned, *order):
        if k not in skip and joined.join(tail[k], head[k]):
            chosen.append(k)
            if len(chosen) == graph.rank:
                break
    return Tree.from_places(graph, chosen)


def breadth_first_tree(graph: LinearGraph, into_tree: Iterable[str] = (), into_cotree: Iterable[str] = ()) -> Tree:
    """The tree of shortest paths from the datums: shallow, with short circuits, blind to kinds."""
    return tree_in_order(graph, np.argsort(distance_of_edges(graph), kind="stable").tolist(), into_tree, into_cotree)


def distance_of_edges(graph: LinearGraph) -> IntArray:
    """Rank of each edge in a breadth-first search from the datums: an edge to a new node before one that closes a loop.

    Kruskal's rule in this order gives the breadth-first tree.
    """
    near: list[list[tuple[int, int]]] = [[] for _ in range(graph.v)]
    for k, (t, h) in enumerate(zip(graph.tail.tolist(), graph.head.tolist(), strict=True)):
        near[t].append((k, h))
        near[h].append((k, t))
    queue = graph.datum_index.tolist()
    seen = [False] * graph.v
    for node in queue:
        seen[node] = True
    rank = np.full(graph.e, -1, dtype=np.int32)
    found = 0
    for node in queue:
        for k, other in near[node]:
            if not seen[other]:
                seen[other] = True
                queue.append(other)
                rank[k] = found
                found += 1
    visit = np.empty(graph.v, dtype=np.int32)
    visit[queue] = np.arange(graph.v)
    return np.where(rank < 0, found + np.minimum(visit[graph.tail], visit[graph.head]), rank)


def checked_pins(
    graph: LinearGraph, into_tree: Iterable[str], into_cotree: Iterable[str]
) -> tuple[list[int], list[int]]:
    """Places of the pinned edges, once it is certain that some tree respects them."""
    pinned = list(dict.fromkeys(graph.edge_indices(into_tree).tolist()))
    barred = list(dict.fromkeys(graph.edge_indices(into_cotree).tolist()))
    names = graph.edge_names
    both = [names[k] for k in pinned if k in set(barred)]
    if both:
        raise GraphError(
            f"{listing(both)} pinned into the tree and into the cotree", where="pins", remedy="Keep one of the two"
        )
    _check_no_loop(graph, pinned)
    _check_no_cut(graph, barred)
    return pinned, barred


def _check_no_loop(graph: LinearGraph, pinned: Sequence[int]) -> None:
    joined, names = DisjointSets(graph.v), graph.edge_names
    for n, k in enumerate(pinned):
        t, h = int(graph.tail[k]), int(graph.head[k])
        if not joined.join(t, h):
            loop = [names[k], *(names[j] for j in path_of_edges(graph.tail, graph.head, pinned[:n], h, t))]
            raise GraphError(
                f"{listing(loop)} are pinned into the tree but form a circuit"
                if len(loop) > 1
                else f"{loop[0]} is pinned into the tree but is a self-loop",
                where="pins",
                expected="pinned edges without a circuit",
                remedy="Take one of them out of into_tree",
            )


def _check_no_cut(graph: LinearGraph, barred: Sequence[int]) -> None:
    label = graph.label_parts(np.setdiff1d(np.arange(graph.e), np.array(barred, dtype=np.int64)))
    reached = set(label[graph.datum_index].tolist())
    lost = [node for node, part in zip(graph.nodes, label.tolist(), strict=True) if part not in reached]
    if lost:
        cut = [graph.edge_names[k] for k in barred if label[graph.tail[k]] != label[graph.head[k]]]
        raise GraphError(
            f"{listing(cut)} pinned into the cotree cut off {listing(lost)} from the datum",
            where="pins",
            expected="enough other edges to reach every node",
            remedy="Take one of them out of into_cotree",
        )


@dataclass(frozen=True, slots=True)
class Conflict:
    """An edge on the wrong side of the tree, with the loop or cutset that puts it there.

    ``names`` are all edges of the loop or cutset, the edge itself first. ``inherent`` holds where all of them are of
    the same or a stronger claim, so that no exchange within the loop or cutset helps; otherwise another tree does.
    """

    edge: str
    form: Literal["loop", "cutset"]
    names: tuple[str, ...]
    inherent: bool

    def __str__(self) -> str:
        return f"{self.edge}: {self.form} of {listing(self.names)}"


def across_source_loops(tree: Tree) -> tuple[Conflict, ...]:
    """Across sources that are chords: their across variables are given twice where the loop is ``inherent``."""
    return _loops(tree, Role.ACROSS_SOURCE)


def through_source_cutsets(tree: Tree) -> tuple[Conflict, ...]:
    """Through sources that are branches: their through variables are given twice where the cutset is ``inherent``."""
    return _cutsets(tree, Role.THROUGH_SOURCE)


def dependent_storages(tree: Tree) -> tuple[Conflict, ...]:
    """Storages without a state of their own: across storages that are chords, through storages that are branches."""
    return _loops(tree, Role.ACROSS_STORAGE) + _cutsets(tree, Role.THROUGH_STORAGE)


def _loops(tree: Tree, role: Role) -> tuple[Conflict, ...]:
    out = []
    for k in tree.chord_index.tolist():
        if tree.graph.edges[k].role == role:
            equation = tree.circuit_equation(tree.graph.edges[k].name)
            inherent = all(edge.role <= role for _, edge in equation.terms)
            out.append(Conflict(equation.subject, "loop", equation.names, inherent))
    return tuple(out)


def _cutsets(tree: Tree, role: Role) -> tuple[Conflict, ...]:
    out = []
    for k in tree.branch_index.tolist():
        if tree.graph.edges[k].role == role:
            equation = tree.cutset_equation(tree.graph.edges[k].name)
            inherent = all(edge.role >= role for _, edge in equation.terms)
            out.append(Conflict(equation.subject, "cutset", equation.names, inherent))
    return tuple(out)
