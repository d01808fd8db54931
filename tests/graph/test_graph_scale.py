"""A hundred thousand edges: right, and with memory in proportion to what is not zero."""

from __future__ import annotations

import numpy as np
import pytest

from cotree.graph import LinearGraph, Tree, breadth_first_tree, select_tree
from cotree.model.edge import Edge

EDGES = 100_000


def ring() -> LinearGraph:
    return LinearGraph([Edge(f"e{k}", str(k), str((k + 1) % EDGES)) for k in range(EDGES)], "0")


def grid(n: int = 224) -> LinearGraph:
    edges = []
    for i in range(n):
        edges += [Edge(f"h{i},{j}", str(i * n + j), str(i * n + j + 1)) for j in range(n - 1)]
        edges += [Edge(f"v{i},{j}", str(i * n + j), str(i * n + j + n)) for j in range(n) if i + 1 < n]
    return LinearGraph(edges, "0")


def random_multigraph(nodes: int = 50_000) -> LinearGraph:
    random = np.random.default_rng(12)
    ends = [(int(random.integers(k)), k) for k in range(1, nodes)]
    ends += [(int(a), int(b)) for a, b in random.integers(0, nodes, (EDGES - len(ends), 2))]
    order = random.permutation(EDGES)
    return LinearGraph([Edge(f"e{k}", str(ends[j][0]), str(ends[j][1])) for k, j in enumerate(order)], "0")


def check(tree: Tree, path_as_well: bool) -> None:
    graph = tree.graph
    circuit, cutset = tree.circuit_matrix(), tree.cutset_matrix()
    cost = tree.cost()
    assert (circuit.shape, cutset.shape) == ((graph.nullity, graph.e), (graph.rank, graph.e))
    assert circuit.nnz == cost.nonzeros + graph.nullity
    assert cutset.nnz == cost.nonzeros + graph.rank
    for matrix in (circuit, cutset):
        # One byte for the sign, four for the column, four for each row.
        assert matrix.nbytes == 5 * matrix.nnz + 4 * (matrix.shape[0] + 1)
    reduced = graph.reduced_incidence().columns(circuit.col_names)
    assert (circuit @ reduced.T).nnz == 0
    assert set(np.unique(circuit.sparse.data)) <= {-1, 1}
    if path_as_well:
        assert tree.path_matrix() @ reduced == cutset


@pytest.mark.parametrize("choose", [select_tree, breadth_first_tree])
def test_ring_with_one_chord(choose: type[Tree]) -> None:
    tree = choose(ring())  # type: ignore[call-arg]
    check(tree, path_as_well=False)
    assert tree.cost().longest == EDGES
    assert len(tree.circuit_equation(tree.chords[0]).terms) == EDGES


def test_random_multigraph() -> None:
    graph = random_multigraph()
    check(select_tree(graph), path_as_well=True)
    check(breadth_first_tree(graph), path_as_well=True)


@pytest.mark.slow
def test_grid() -> None:
    graph = grid()
    assert graph.e == 99_904
    check(breadth_first_tree(graph), path_as_well=True)
