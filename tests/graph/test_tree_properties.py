"""Laws that hold for every connected multigraph and every tree, on random graphs."""

from __future__ import annotations

from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _cases import random_cases
from cotree.graph import LinearGraph, Tree, minimum_cycle_basis, sample_tree, select_tree
from cotree.model.edge import Edge


def random_graph(random: Random, parts: int, nodes: int, extra: int) -> LinearGraph:
    """Parts that are connected by construction; extra edges may be parallel or self-loops."""
    ends: list[tuple[str, str]] = []
    datums = []
    for part in range(parts):
        names = [f"{part}.{k}" for k in range(random.randint(1, nodes))]
        datums.append(random.choice(names))
        ends += [(names[random.randrange(k)], names[k]) for k in range(1, len(names))]
        ends += [(random.choice(names), random.choice(names)) for _ in range(random.randint(0, extra))]
    ends = [(b, a) if random.random() < 0.5 else (a, b) for a, b in ends]
    random.shuffle(ends)
    return LinearGraph([Edge(f"e{k}", a, b) for k, (a, b) in enumerate(ends)], datums, nodes=datums)


def random_tree(graph: LinearGraph, random: Random) -> Tree:
    chance = {name: random.random() for name in graph.edge_names}
    return select_tree(graph, lambda edge: chance[edge.name])


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    random = Random(draw(st.integers(0, 2**32)))
    graph = random_graph(random, draw(st.integers(1, 3)), draw(st.integers(1, 12)), draw(st.integers(0, 15)))
    return random_tree(graph, random)


def check_laws(tree: Tree) -> None:
    graph = tree.graph
    cutset, circuit, path = tree.cutset_matrix(), tree.circuit_matrix(), tree.path_matrix()
    reduced = graph.reduced_incidence().columns(cutset.col_names)
    assert cutset.shape == (graph.v - graph.c, graph.e)
    assert circuit.shape == (graph.e - graph.v + graph.c, graph.e)
    assert (circuit @ cutset.T).nnz == 0  # McPhee 1996, eq. 6
    assert (circuit @ reduced.T).nnz == 0
    assert tree.circuit_part() == -tree.cutset_part().T  # eq. 7
    assert path @ reduced == cutset  # eq. 37
    unit = np.ones(graph.rank)
    inverse = (path @ reduced.columns(tree.branches)).sparse
    assert inverse.nnz == graph.rank
    assert np.array_equal(inverse.diagonal(), unit)
    assert np.array_equal(np.diff(circuit.sparse.indptr) - 1, np.diff(tree.circuit_part().sparse.indptr))


@given(trees())
@random_cases(67, 200)
def test_laws_of_cutsets_and_circuits(tree: Tree) -> None:
    check_laws(tree)


@given(trees())
@random_cases(33, 100)
def test_row_equivalence(tree: Tree) -> None:
    """Cutset and reduced incidence matrices span the same space; circuits fill the rest."""
    cutset = tree.cutset_matrix().toarray().astype(float)
    reduced = tree.graph.reduced_incidence().columns(tree.cutset_matrix().col_names).toarray().astype(float)
    circuit = tree.circuit_matrix().toarray().astype(float)
    rank = tree.graph.rank
    assert np.linalg.matrix_rank(reduced) == rank
    assert np.linalg.matrix_rank(np.vstack([cutset, reduced])) == rank
    assert np.linalg.matrix_rank(np.vstack([cutset, circuit])) == tree.graph.e


@given(trees())
@random_cases(33, 100)
def test_single_equations_agree_with_the_matrices(tree: Tree) -> None:
    for branch in tree.branches:
        assert tree.cutset_equation(branch).signs == tree.cutset_matrix().row(branch)
    for chord in tree.chords:
        assert tree.circuit_equation(chord, order="graph").signs == dict(
            sorted(tree.circuit_matrix().row(chord).items(), key=lambda item: tree.graph.edge_index(item[0]))
        )


@given(trees())
@random_cases(20, 60)
def test_circuits_are_closed_walks_along_their_signs(tree: Tree) -> None:
    """By definition, without matrices: each term starts where the one before ended, and the last ends at the start."""
    for chord in tree.chords:
        terms = tree.circuit_equation(chord).terms
        assert (terms[0].sign, terms[0].edge.name) == (1, chord)
        walk = [(e.tail, e.head) if sign > 0 else (e.head, e.tail) for sign, e in terms]
        assert [end for _, end in walk] == [start for start, _ in [*walk[1:], walk[0]]]


@given(trees())
@random_cases(20, 60)
def test_cutsets_separate_and_are_minimal(tree: Tree) -> None:
    """By definition: without the cutset a part falls in two, and each of its edges joins the two as its sign says."""
    for branch in tree.branches:
        signs = tree.cutset_equation(branch).signs
        rest = nx.MultiGraph()
        rest.add_nodes_from(tree.graph.nodes)
        rest.add_edges_from((e.tail, e.head) for e in tree.graph if e.name not in signs)
        assert nx.number_connected_components(rest) == tree.graph.c + 1
        head_side = nx.node_connected_component(rest, tree.graph[branch].head)
        for name, sign in signs.items():
            edge = tree.graph[name]
            assert ((edge.head in head_side) - (edge.tail in head_side)) == sign


@given(trees())
@random_cases(20, 60)
def test_nodal_values_and_costs(tree: Tree) -> None:
    values = np.arange(tree.graph.rank * 3).reshape(-1, 3)
    assert np.array_equal(tree.nodal_values(values), tree.path_matrix().T @ values)
    cost = tree.cost()
    assert cost.nonzeros == tree.circuit_part().nnz
    assert cost.path_nonzeros == tree.path_matrix().nnz
    assert cost.longest == np.diff(tree.circuit_matrix().sparse.indptr).max(initial=0)


@given(trees(), st.integers(0, 2**32))
@random_cases(20, 60)
def test_sampled_trees_span(tree: Tree, seed: int) -> None:
    """The constructor of Tree refuses what does not span; sampling is repeatable and respects pins."""
    graph = tree.graph
    sample = sample_tree(graph, seed)
    assert len(sample.branches) == graph.rank
    assert sample == sample_tree(graph, seed)
    pinned = tree.branches[: graph.rank // 2]
    barred = [name for name in tree.chords if name not in pinned][:2]
    held = sample_tree(graph, seed, into_tree=pinned, into_cotree=barred)
    assert set(pinned) <= set(held.branches)
    assert set(barred) <= set(held.chords)


@given(trees())
@random_cases(20, 60)
def test_minimum_cycle_basis_spans_the_circuits(tree: Tree) -> None:
    """Orthogonal to every cutset, of full rank, and never longer than the fundamental circuits of a tree."""
    basis = minimum_cycle_basis(tree.graph)
    assert (basis @ tree.graph.reduced_incidence().T).nnz == 0
    assert len(basis.row_names) == tree.graph.nullity
    if tree.graph.nullity:
        assert np.linalg.matrix_rank(basis.toarray().astype(float)) == tree.graph.nullity
    assert basis.nnz <= tree.circuit_matrix().nnz


@pytest.mark.parametrize("seed", range(6))
def test_laws_on_graphs_of_thousands_of_edges(seed: int) -> None:
    random = Random(seed)
    graph = random_graph(random, 1 + seed % 3, 1500, 2500)
    check_laws(random_tree(graph, random))
    check_laws(sample_tree(graph, seed))
