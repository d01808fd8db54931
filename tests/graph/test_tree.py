"""Trees: paths, single equations against whole matrices, costs, forests, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from cotree.errors import GraphError
from cotree.graph import LinearGraph, Tree, select_tree
from cotree.model.edge import Edge

TREE = ["L1", "L2", "R3", "R4", "R5"]


@pytest.fixture
def forest() -> Tree:
    """Two parts with a pair of parallel edges, a self-loop and a bridge."""
    rows = [("a", 1, 2), ("b", 3, 2), ("c", 1, 3), ("d", 3, 1), ("s", 2, 2), ("p", 4, 5), ("q", 5, 4), ("r", 5, 6)]
    return Tree(LinearGraph([Edge(n, str(t), str(h)) for n, t, h in rows], ["2", "6"]), ["a", "b", "p", "r"])


def test_path_matrix_is_the_inverse_of_the_tree_part(network: LinearGraph) -> None:
    tree = Tree(network, TREE)
    part = network.reduced_incidence().columns(tree.branches)
    assert np.array_equal((tree.path_matrix() @ part).toarray(), np.eye(5))
    assert np.array_equal((part @ tree.path_matrix()).toarray(), np.eye(5))
    assert tree.path_matrix().row("R5") == dict.fromkeys("abcde", 1)
    assert tree.path_matrix().column("a") == {"L1": -1, "R4": 1, "R5": 1}


def test_paths_to_the_datum(network: LinearGraph) -> None:
    tree = Tree(network, TREE)
    assert tree.path_to_datum("c") == ("R3", "R4", "R5")
    assert [tree.depth(node) for node in network.nodes] == [3, 2, 3, 2, 1, 0]
    assert tree.parent("b") == "e"
    assert tree.parent("f") is None


def test_branches_keep_the_order_of_the_graph_unless_asked(network: LinearGraph) -> None:
    assert Tree(network, TREE[::-1]).branches == tuple(TREE)
    turned = Tree(network, TREE[::-1], keep_order=True)
    assert turned.branches == tuple(TREE[::-1])
    assert turned.cutset_part() == Tree(network, TREE).cutset_part().rows(TREE[::-1])


def test_single_equations_are_the_rows_of_the_matrices(network: LinearGraph) -> None:
    tree = Tree(network, TREE)
    for branch in tree.branches:
        assert tree.cutset_equation(branch).signs == tree.cutset_matrix().row(branch)
    for chord in tree.chords:
        assert tree.circuit_equation(chord, order="graph").signs == tree.circuit_matrix().row(chord)
    assert [equation.subject for equation in tree.equations()] == [*TREE, "C6", "V7"]
    assert tree.equation("C6").form == "circuit"
    assert tree.equation("L1").form == "cutset"


def test_a_forest_has_a_tree_in_each_part(forest: Tree) -> None:
    assert forest.chords == ("c", "d", "s", "q")
    assert forest.circuit_part().toarray().tolist() == [[-1, 1, 0, 0], [1, -1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    assert (forest.circuit_matrix() @ forest.cutset_matrix().T).nnz == 0
    reduced = forest.graph.reduced_incidence().columns((*forest.branches, *forest.chords))
    assert forest.path_matrix() @ reduced == forest.cutset_matrix()


def test_circuit_of_a_self_loop_is_the_loop_alone(forest: Tree) -> None:
    assert str(forest.circuit_equation("s")) == "s.voltage = 0"
    assert forest.circuit_matrix().row("s") == {"s": 1}


def test_cutset_of_a_bridge_is_the_bridge_alone(forest: Tree) -> None:
    assert str(forest.cutset_equation("r")) == "r.current = 0"


def test_a_chord_has_no_cutset(network: LinearGraph, forest: Tree) -> None:
    with pytest.raises(GraphError, match=r"the chord C6 has a circuit, not a cutset.*in the cutsets of L2, R4, R3"):
        Tree(network, TREE).cutset_equation("C6")
    with pytest.raises(GraphError, match=r"the chord s has.*self-loop, in no cutset"):
        forest.cutset_equation("s")


def test_a_branch_has_no_circuit(network: LinearGraph, forest: Tree) -> None:
    with pytest.raises(GraphError, match=r"the branch R4 has a cutset, not a circuit.*in the circuits of C6, V7"):
        Tree(network, TREE).circuit_equation("R4")
    with pytest.raises(GraphError, match=r"the branch r has.*bridge, in no circuit"):
        forest.circuit_equation("r")
    with pytest.raises(GraphError, match=r"no edge is named 'R44'.*Did you mean 'R4'"):
        Tree(network, TREE).equation("R44")


def test_cost_counts_what_the_matrices_hold(network: LinearGraph, forest: Tree) -> None:
    for tree in (Tree(network, TREE), forest):
        cost = tree.cost()
        lengths = np.diff(tree.circuit_matrix().sparse.indptr)
        assert cost.nonzeros == tree.circuit_part().nnz == tree.cutset_part().nnz
        assert cost.path_nonzeros == tree.path_matrix().nnz
        assert cost.longest == lengths.max()
        assert cost.longest_chord == tree.chords[int(np.argmax(lengths))]
    assert str(Tree(network, TREE).cost()) == (
        "5 branches, depth 3; 2 circuits with 8 edges in all, the longest with 4 (C6)"
    )


def test_nodal_values_need_one_row_for_each_branch(network: LinearGraph) -> None:
    tree = Tree(network, TREE)
    values = np.arange(10.0).reshape(5, 2)
    assert np.array_equal(tree.nodal_values(values), tree.path_matrix().T @ values)
    with pytest.raises(GraphError, match=r"shape \(4,\).*5 branches"):
        tree.nodal_values(np.ones(4))


def test_a_path_matrix_beyond_memory_is_refused_with_the_way_out() -> None:
    n = 30_000
    ring = LinearGraph([Edge(f"e{k}", str(k), str((k + 1) % n)) for k in range(n)], "0")
    tree = select_tree(ring)
    with pytest.raises(GraphError, match=r"path matrix would have 4\.50e\+08 non-zeros.*nodal_values"):
        tree.path_matrix()
    assert tree.nodal_values(np.ones(n - 1, dtype=int)).tolist() == list(range(1, n))


def test_a_tree_without_edges() -> None:
    tree = Tree(LinearGraph([], "a", nodes=["a"]), [])
    assert tree.cutset_matrix().shape == (0, 0)
    assert tree.circuit_matrix().shape == (0, 0)
    assert tree.path_matrix().shape == (0, 0)
    assert tree.cost().longest == 0
    assert tree.nodal_values(np.zeros(0)).shape == (0,)


def test_a_graph_of_self_loops_only() -> None:
    tree = Tree(LinearGraph([Edge("s", "a", "a")], "a"), [])
    assert tree.circuit_matrix().toarray().tolist() == [[1]]
    assert tree.cutset_matrix().shape == (0, 1)


def test_trees_cannot_be_changed(network: LinearGraph) -> None:
    tree = Tree(network, TREE)
    with pytest.raises(AttributeError, match="cannot be changed"):
        tree.branches = ()
    assert tree == Tree(network, TREE)
    assert hash(tree) == hash(Tree(network, TREE))
    assert tree != Tree(network, ["L1", "L2", "R3", "R4", "V7"])
    assert tree != "tree"
    assert "L1" in tree
    assert "C6" not in tree


@pytest.mark.parametrize(
    ("branches", "message"),
    [
        (["L1", "L2", "R3", "R4", "C6"], r"C6, L2, R4, R3 form a circuit.*5 branches without.*Leave one"),
        (["L1", "L2", "R3", "R4"], r"do not reach a, b, c, d, e"),
        (["L1", "L2", "R3", "R5"], r"do not reach a, b, c\b"),
        ([*TREE, "V7"], r"V7, L1, R4, R5 form a circuit"),
        ([*TREE, "L1"], r"L1 is a self-loop or is listed twice"),
        (["L1", "X"], r"no edge is named 'X'"),
    ],
)
def test_refused_trees(network: LinearGraph, branches: list[str], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Tree(network, branches)
