"""Enumeration, exact count, uniform samples and the cheapest tree."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare

from cotree.errors import GraphError
from cotree.graph import (
    LinearGraph,
    Tree,
    all_trees,
    cheapest_tree,
    count_trees,
    rank_trees,
    sample_tree,
    select_tree,
)
from cotree.model.edge import DISPLACEMENT, Edge, Kind


def graph_of(pairs: list[tuple[int, int]], datum: int = 0) -> LinearGraph:
    return LinearGraph([Edge(f"e{k}", str(a), str(b)) for k, (a, b) in enumerate(pairs)], str(datum))


def complete(n: int) -> LinearGraph:
    return graph_of(list(combinations(range(n), 2)))


# A square with a diagonal, one edge doubled, one self-loop: 4 x the trees without the doubling would be wrong.
ODD = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 2), (3, 3)]


def grid(n: int) -> LinearGraph:
    pairs = nx.convert_node_labels_to_integers(nx.grid_2d_graph(n, n)).edges
    return graph_of([(int(a), int(b)) for a, b in pairs])


def by_brute_force(graph: LinearGraph) -> list[tuple[str, ...]]:
    out = []
    for branches in combinations(graph.edge_names, graph.rank):
        try:
            out.append(Tree(graph, branches).branches)
        except GraphError:
            continue
    return out


@pytest.mark.parametrize("graph", [complete(4), graph_of(ODD)], ids=["complete", "odd"])
def test_all_trees_in_lexicographic_order(graph: LinearGraph) -> None:
    assert [tree.branches for tree in all_trees(graph)] == by_brute_force(graph)


def test_mcphees_network_has_the_trees_of_two_joined_loops(network: LinearGraph) -> None:
    """Loops of 4 and 4 edges that share R4: 4 * 4 - 1 trees."""
    assert count_trees(network) == len(list(all_trees(network))) == 15


def test_trees_of_several_parts_multiply() -> None:
    rings = {"a": 3, "b": 4}
    edges = [Edge(f"{p}{k}", f"{p}{k}", f"{p}{(k + 1) % n}") for p, n in rings.items() for k in range(n)]
    graph = LinearGraph(edges, ["a0", "b0"])
    assert count_trees(graph) == len({tree.branches for tree in all_trees(graph)}) == 12


def test_limit_and_laziness() -> None:
    """K_40 has 40^38 trees; the first three come at once."""
    trees = list(all_trees(complete(40), limit=3))
    assert len({tree.branches for tree in trees}) == 3
    assert trees[0] == select_tree(complete(40))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 10, 30, 60])
def test_cayleys_formula(n: int) -> None:
    assert count_trees(complete(n)) == n ** (n - 2)


def test_count_of_other_families() -> None:
    assert count_trees(graph_of([(0, 1)] * 9)) == 9
    bipartite = graph_of([(a, 5 + b) for a in range(5) for b in range(7)])
    assert count_trees(bipartite) == 5**6 * 7**4
    assert count_trees(LinearGraph([], "a", nodes=["a"])) == 1


def test_count_of_square_grids() -> None:
    """1, 4, 192, 100352, ... (OEIS A007341)."""
    assert [count_trees(grid(n)) for n in range(2, 7)] == [4, 192, 100352, 557568000, 32565539635200]


def test_count_of_a_wheel_with_hundreds_of_nodes() -> None:
    """A wheel with n spokes has L(2n) - 2 trees, L the Lucas numbers: 126 digits for n = 300, all of them exact."""
    n = 300
    lucas = [2, 1]
    while len(lucas) <= 2 * n:
        lucas.append(lucas[-1] + lucas[-2])
    wheel = graph_of([(0, k) for k in range(1, n + 1)] + [(k, k % n + 1) for k in range(1, n + 1)])
    assert count_trees(wheel) == lucas[2 * n] - 2


def test_count_and_enumeration_respect_pins() -> None:
    graph = graph_of(ODD)
    for into_tree, into_cotree in ((["e0"], []), ([], ["e4"]), (["e1"], ["e0", "e5"]), (["e0", "e2"], ["e3"])):
        trees = list(all_trees(graph, into_tree=into_tree, into_cotree=into_cotree))
        expected = [b for b in by_brute_force(graph) if set(into_tree) <= set(b) and not set(into_cotree) & set(b)]
        assert [tree.branches for tree in trees] == expected
        assert count_trees(graph, into_tree, into_cotree) == len(expected) > 0


def test_deletion_and_contraction_add_up() -> None:
    """Trees with an edge plus trees without it; the former are the trees of the contracted graph."""
    graph = graph_of(ODD)
    for name in graph.edge_names[:-1]:
        assert count_trees(graph) == count_trees(graph.contract([name])) + count_trees(graph.without([name]))


@pytest.mark.parametrize("pins", [([], []), (["e4"], []), ([], ["e0"])], ids=["free", "tree", "cotree"])
def test_samples_are_uniform(pins: tuple[list[str], list[str]]) -> None:
    """Chi-square test at the level 0.001 on a graph with parallel edges, where simple-graph walks go wrong."""
    graph = graph_of(ODD)
    trees = [tree.branches for tree in all_trees(graph, None, *pins)]
    drawn = Counter(sample_tree(graph, seed, *pins).branches for seed in range(300 * len(trees)))
    assert set(drawn) == set(trees)
    assert chisquare([drawn[tree] for tree in trees]).pvalue > 0.001


def test_the_cheapest_tree_costs_no_more_than_any_candidate() -> None:
    graph = grid(8)
    ranking = rank_trees(graph, candidates=5, seed=3, keep_priority=False)
    costs = [candidate.cost.nonzeros for candidate in ranking]
    assert costs == sorted(costs)
    assert {"kinds", "breadth first", "sample 1"} <= {candidate.label for candidate in ranking}
    best = cheapest_tree(graph, candidates=5, seed=3, keep_priority=False)
    assert best == ranking[0].tree
    assert best.circuit_part().nnz == costs[0] <= select_tree(graph).circuit_part().nnz


def test_the_cheapest_tree_keeps_the_priority() -> None:
    """Kinds are cast at random over a grid: every candidate has as many branches of each kind as the preset."""
    random = np.random.default_rng(5)
    kinds = [Kind(int(k)) for k in random.integers(1, 7, 112)]
    edges = [Edge(e.name, e.tail, e.head, k, DISPLACEMENT) for e, k in zip(grid(8), kinds, strict=True)]
    graph = LinearGraph(edges, "0")

    def counts(tree: Tree) -> Counter[Kind]:
        return Counter(graph[name].kind for name in tree.branches)

    preset = select_tree(graph)
    ranking = rank_trees(graph, seed=1)
    assert all(counts(candidate.tree) == counts(preset) for candidate in ranking)
    assert ranking[0].cost.nonzeros <= preset.cost().nonzeros
    assert rank_trees(graph, seed=1) == ranking


def test_the_cheapest_tree_respects_pins() -> None:
    graph = grid(5)
    tree = cheapest_tree(graph, candidates=4, keep_priority=False, into_tree=["e7"], into_cotree=["e0"])
    assert "e7" in tree.branches
    assert "e0" in tree.chords
