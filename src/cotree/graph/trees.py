"""Other trees of the same graph: all of them, how many, one at random, the cheapest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
import numpy.typing as npt

from cotree.errors import GraphError
from cotree.graph.forest import DisjointSets
from cotree.graph.linear_graph import LinearGraph
from cotree.graph.selection import (
    Key,
    Preference,
    breadth_first_tree,
    checked_pins,
    distance_of_edges,
    priority,
    select_tree,
    tree_in_order,
)
from cotree.graph.tree import Tree, TreeCost


def all_trees(
    graph: LinearGraph, limit: int | None = None, into_tree: Iterable[str] = (), into_cotree: Iterable[str] = ()
) -> Iterator[Tree]:
    """All spanning trees that respect the pins, one after the other, in lexicographic order of the graph's edges.

    Each edge is first taken, then left out where the rest can still reach every node, so no search ends in vain.
    """
    pinned, barred = checked_pins(graph, into_tree, into_cotree)
    skip = {*pinned, *barred}
    tail, head = graph.tail.tolist(), graph.head.tolist()
    open_edges = [k for k in range(graph.e) if k not in skip and tail[k] != head[k]]
    start = _merged(list(range(graph.v)), [(tail[k], head[k]) for k in pinned])
    # A choice is (next edge, edges taken so far, label of each node); taken edges are a linked list.
    stack: list[tuple[int, tuple[int, object] | None, list[int]]] = [(0, None, start)]
    given = 0
    while stack and (limit is None or given < limit):
        k, taken, label = stack.pop()
        if len(set(label)) == graph.c:
            yield Tree.from_places(graph, [*pinned, *_unlinked(taken)])
            given += 1
            continue
        a, b = label[tail[open_edges[k]]], label[head[open_edges[k]]]
        rest = [(label[tail[j]], label[head[j]]) for j in open_edges[k + 1 :]]
        if a == b or _reaches(label, rest, graph.c):
            stack.append((k + 1, taken, label))
        if a != b:
            stack.append((k + 1, (open_edges[k], taken), _merged(label, [(a, b)])))


def count_trees(graph: LinearGraph, into_tree: Iterable[str] = (), into_cotree: Iterable[str] = ()) -> int:
    """Exact number of spanning trees that respect the pins, by the matrix-tree theorem.

    The determinant is taken modulo enough primes to recover it exactly: it is at most the product of the diagonal
    (Hadamard's bound for the positive semi-definite matrix A A^T).
    """
    matrix = _laplacian(graph, *checked_pins(graph, into_tree, into_cotree))
    bound = 1
    for entry in np.diagonal(matrix).tolist():
        bound *= entry
    count, modulus = 0, 1
    for prime in _primes():
        if modulus > bound:
            return count
        # Chinese remainders: keep the old remainder and meet the new one.
        step = (_determinant_modulo(matrix, prime) - count) * pow(modulus, -1, prime) % prime
        count, modulus = count + modulus * step, modulus * prime
    raise GraphError(f"a graph of {graph.v} nodes has too many trees to count")


def sample_tree(
    graph: LinearGraph, seed: int | Random, into_tree: Iterable[str] = (), into_cotree: Iterable[str] = ()
) -> Tree:
    """A tree drawn with the same probability as any other that respects the pins (Wilson 1996).

    Random walks from each node until they meet the tree; loops are erased. Parallel edges are drawn one by one.
    """
    random = seed if isinstance(seed, Random) else Random(seed)
    pinned, barred = checked_pins(graph, into_tree, into_cotree)
    tail, head = graph.tail.tolist(), graph.head.tolist()
    label = _merged(list(range(graph.v)), [(tail[k], head[k]) for k in pinned])
    near: list[list[tuple[int, int]]] = [[] for _ in range(graph.v)]
    skip = {*pinned, *barred}
    for k in range(graph.e):
        a, b = label[tail[k]], label[head[k]]
        if k not in skip and a != b:
            near[a].append((k, b))
            near[b].append((k, a))
    in_tree = [False] * graph.v
    for datum in graph.datum_index.tolist():
        in_tree[label[datum]] = True
    leave: list[tuple[int, int]] = [(-1, -1)] * graph.v
    chosen = []
    for start in range(graph.v):
        node = label[start]
        while not in_tree[node]:
            # Overwriting the last exit from a node is what erases the loops.
            leave[node] = near[node][random.randrange(len(near[node]))]
            node = leave[node][1]
        node = label[start]
        while not in_tree[node]:
            in_tree[node] = True
            chosen.append(leave[node][0])
            node = leave[node][1]
    return Tree.from_places(graph, [*pinned, *chosen])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tree with its predicted cost and where it comes from."""

    label: str
    tree: Tree
    cost: TreeCost


def rank_trees(
    graph: LinearGraph,
    candidates: int = 16,
    seed: int = 0,
    prefer: Preference | Key = "kinds",
    keep_priority: bool = True,
    into_tree: Iterable[str] = (),
    into_cotree: Iterable[str] = (),
) -> tuple[Candidate, ...]:
    """Candidate trees, the cheapest first: fewest entries in B_t, then the shortest longest circuit.

    With ``keep_priority`` all candidates have as many edges of each priority as the tree of ``prefer``: only the order
    among equals differs. Without it the breadth-first tree and uniform samples join in.
    """
    pins = (list(into_tree), list(into_cotree))
    key, distance, random = priority(prefer), distance_of_edges(graph).tolist(), Random(seed)
    keys = [key(edge) for edge in graph.edges]
    places = range(graph.e)
    label = prefer if isinstance(prefer, str) else "preference"
    trees: list[tuple[str, Tree]] = [(label, select_tree(graph, prefer, *pins))]
    nearest_first = sorted(places, key=lambda k: (keys[k], distance[k]))
    trees.append(("near the datum", tree_in_order(graph, nearest_first, *pins)))
    if not keep_priority:
        trees.append(("breadth first", breadth_first_tree(graph, *pins)))
    for n in range(candidates):
        if keep_priority:
            chance = [random.random() for _ in places]
            shuffled = sorted(places, key=lambda k, chance=chance: (keys[k], chance[k]))  # type: ignore[misc]
            trees.append((f"sample {n + 1}", tree_in_order(graph, shuffled, *pins)))
        else:
            trees.append((f"sample {n + 1}", sample_tree(graph, random, *pins)))
    found = [Candidate(origin, tree, tree.cost()) for origin, tree in trees]
    return tuple(sorted(found, key=lambda c: (c.cost.nonzeros, c.cost.longest)))


def cheapest_tree(
    graph: LinearGraph,
    candidates: int = 16,
    seed: int = 0,
    prefer: Preference | Key = "kinds",
    keep_priority: bool = True,
    into_tree: Iterable[str] = (),
    into_cotree: Iterable[str] = (),
) -> Tree:
    """The candidate tree with the smallest predicted cost; see :func:`rank_trees`, which also shows the others."""
    return rank_trees(graph, candidates, seed, prefer, keep_priority, into_tree, into_cotree)[0].tree


def _merged(label: list[int], pairs: list[tuple[int, int]]) -> list[int]:
    """Labels after the nodes or labels in each pair became one."""
    joined = DisjointSets(len(label))
    for a, b in pairs:
        joined.join(a, b)
    return [joined.find(k) for k in label]


def _reaches(label: list[int], pairs: list[tuple[int, int]], parts: int) -> bool:
    """True where the pairs join all labels into as few parts as the graph has."""
    joined = DisjointSets(len(label))
    count = len(set(label))
    for a, b in pairs:
        count -= joined.join(a, b)
    return count == parts


def _unlinked(taken: tuple[int, object] | None) -> list[int]:
    out = []
    while taken is not None:
        out.append(taken[0])
        taken = taken[1]  # type: ignore[assignment]
    return out


def _laplacian(graph: LinearGraph, pinned: list[int], barred: list[int]) -> npt.NDArray[np.int64]:
    """A A^T of the graph with pinned edges contracted and barred ones deleted, without the rows of the datums."""
    ends = [(int(graph.tail[k]), int(graph.head[k])) for k in pinned]
    label = np.array(_merged(list(range(graph.v)), ends))
    kept = np.setdiff1d(np.arange(graph.e), [*pinned, *barred])
    t, h = label[graph.tail[kept]], label[graph.head[kept]]
    full = np.zeros((graph.v, graph.v), dtype=np.int64)
    np.add.at(full, (t, t), 1)
    np.add.at(full, (h, h), 1)
    np.add.at(full, (t, h), -1)
    np.add.at(full, (h, t), -1)
    free = np.setdiff1d(np.unique(label), label[graph.datum_index])
    return np.asarray(full[np.ix_(free, free)])


def _determinant_modulo(matrix: npt.NDArray[np.int64], prime: int) -> int:
    """Determinant modulo a prime below 2^31, so that products fit into 64 bits."""
    m = matrix % prime
    value = 1
    for k in range(len(m)):
        below = np.flatnonzero(m[k:, k])
        if not len(below):
            return 0
        if below[0]:
            m[[k, k + below[0]]] = m[[k + below[0], k]]
            value = -value
        pivot = int(m[k, k])
        value = value * pivot % prime
        rows = k + 1 + np.flatnonzero(m[k + 1 :, k])
        columns = k + 1 + np.flatnonzero(m[k, k + 1 :])
        factor = m[rows, k] * pow(pivot, -1, prime) % prime
        block = np.ix_(rows, columns)
        m[block] = (m[block] - np.outer(factor, m[k, columns]) % prime) % prime
    return value % prime


def _primes() -> Iterator[int]:
    """Primes from 2^31 - 1 downwards; the Miller-Rabin bases 2, 3, 5, 7 decide without error below 3.2e9."""
    for n in range(2**31 - 1, 2**30, -2):
        d, s = n - 1, 0
        while d % 2 == 0:
            d, s = d // 2, s + 1
        if all(
            (x := pow(a, d, n)) in (1, n - 1) or any(pow(x, 2**r, n) == n - 1 for r in range(1, s))
            for a in (2, 3, 5, 7)
        ):
            yield n
