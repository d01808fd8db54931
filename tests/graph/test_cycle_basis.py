"""Minimum cycle bases against networkx and against families with known answers."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import networkx as nx
import numpy as np
import pytest

from cotree.graph import LinearGraph, loop_equation, minimum_cycle_basis, select_tree
from cotree.model.edge import Edge


def graph_of(pairs: list[tuple[object, object]], datum: object) -> LinearGraph:
    return LinearGraph([Edge(f"e{k}", str(a), str(b)) for k, (a, b) in enumerate(pairs)], str(datum))


def lengths(graph: LinearGraph) -> list[int]:
    basis = minimum_cycle_basis(graph)
    assert (basis @ graph.reduced_incidence().T).nnz == 0
    return [int(n) for n in np.diff(basis.sparse.indptr)]


def subdivided_total(graph: LinearGraph) -> int:
    """Total length by networkx, which knows simple graphs only: each edge is first cut in three."""
    simple = nx.Graph()
    for edge in graph:
        nx.add_path(simple, [edge.tail, (edge.name, 1), (edge.name, 2), edge.head])
    return sum(len(cycle) for cycle in nx.minimum_cycle_basis(simple)) // 3


@pytest.mark.parametrize("seed", range(12))
def test_total_length_on_random_simple_graphs(seed: int) -> None:
    simple = nx.gnm_random_graph(16, 22 + 3 * seed, seed=seed)
    simple = simple.subgraph(max(nx.connected_components(simple), key=len))
    graph = graph_of(list(simple.edges), next(iter(simple.nodes)))
    assert sum(lengths(graph)) == sum(len(cycle) for cycle in nx.minimum_cycle_basis(simple))


@pytest.mark.parametrize("seed", range(12))
def test_total_length_on_random_multigraphs(seed: int) -> None:
    """With parallel edges, self-loops and long chains of edges in series."""
    random = Random(seed)
    n = random.randint(2, 9)
    pairs: list[tuple[object, object]] = [(k, random.randrange(k)) for k in range(1, n)]
    for extra in range(random.randint(1, 10)):
        a, b = random.randrange(n), random.randrange(n)
        chain = [a, *(f"{extra}.{k}" for k in range(random.randint(0, 3))), b]
        pairs += list(pairwise(chain))
    random.shuffle(pairs)
    graph = graph_of(pairs, 0)
    assert sum(lengths(graph)) == subdivided_total(graph)


@pytest.mark.parametrize("seed", range(4))
def test_the_basis_is_independent(seed: int) -> None:
    graph = graph_of(list(nx.connected_watts_strogatz_graph(30, 6, 0.3, seed=seed).edges), 0)
    basis = minimum_cycle_basis(graph)
    assert basis.shape == (graph.nullity, graph.e)
    assert np.linalg.matrix_rank(basis.toarray().astype(float)) == graph.nullity
    tree = select_tree(graph)
    columns = tree.cutset_matrix().col_names
    assert (basis.columns(columns) @ tree.cutset_matrix().T).nnz == 0


def test_grid_of_twenty_by_twenty() -> None:
    """361 faces of four edges."""
    simple = nx.convert_node_labels_to_integers(nx.grid_2d_graph(20, 20))
    assert lengths(graph_of(list(simple.edges), 0)) == [4] * 361


def test_ladder_of_five_hundred_rungs() -> None:
    assert lengths(graph_of(list(nx.ladder_graph(500).edges), 0)) == [4] * 499


def test_petersen_graph() -> None:
    """Girth five: six loops of five edges are independent."""
    assert lengths(graph_of(list(nx.petersen_graph().edges), 0)) == [5] * 6


def test_parallel_edges_and_self_loops() -> None:
    graph = LinearGraph(
        [Edge(n, t, h) for n, t, h in (("a", "1", "2"), ("b", "2", "1"), ("c", "1", "2"), ("s", "2", "2"))], "1"
    )
    basis = minimum_cycle_basis(graph)
    assert basis.row("loop 1") == {"s": 1}
    assert basis.row("loop 2") == {"a": 1, "b": 1}
    assert lengths(graph) == [1, 2, 2]


def test_parallel_chains_need_the_shortest_path_not_the_shortest_rival() -> None:
    """Chains of 2, 5 and 6 edges between two nodes: loops of 7 and 8 edges, never 11."""
    pairs: list[tuple[object, object]] = []
    for name, count in (("x", 2), ("y", 5), ("z", 6)):
        chain = ["a", *(f"{name}{k}" for k in range(count - 1)), "b"]
        pairs += list(pairwise(chain))
    assert lengths(graph_of(pairs, "a")) == [7, 8]


def test_no_loops() -> None:
    assert minimum_cycle_basis(graph_of([(0, 1), (1, 2)], 0)).shape == (0, 2)
    assert minimum_cycle_basis(LinearGraph([], "a", nodes=["a"])).shape == (0, 0)


def test_separate_parts_and_one_long_ring() -> None:
    ring: list[tuple[object, object]] = [(k, (k + 1) % 2000) for k in range(2000)]
    graph = LinearGraph([*graph_of(ring, 0).edges, Edge("p", "x", "y"), Edge("q", "x", "y")], ["0", "x"])
    assert lengths(graph) == [2, 2000]


def test_equation_of_a_loop_follows_the_walk(network: LinearGraph) -> None:
    basis = minimum_cycle_basis(network)
    assert [loop_equation(network, basis, loop).signs for loop in basis.row_names] == [
        {"L1": 1, "R4": -1, "R5": -1, "V7": 1},
        {"L2": 1, "C6": -1, "R3": 1, "R4": -1},
    ]
    assert str(loop_equation(network, basis, "loop 1")) == ("L1.voltage - R4.voltage - R5.voltage + V7.voltage = 0")
