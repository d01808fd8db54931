"""Richard 2012, section 2: every printed matrix and topological equation, with the readings of the errata."""

from __future__ import annotations

import numpy as np

from cotree.graph import LinearGraph, Tree, select_tree

COTREE_PART = [[1, 1, 1], [0, 1, 0], [1, 0, 1], [-1, 0, 0], [0, -1, -1]]


def test_eq_1_incidence_matrix(suspended_body: LinearGraph) -> None:
    printed = [
        [1, -1, -1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 1, 0],
        [0, 0, 1, 0, 0, 1, 0, 1],
        [0, 0, 0, 1, 0, -1, 0, 0],
        [0, 0, 0, 0, 1, 0, -1, -1],
        [-1, 0, 0, -1, -1, 0, 0, 0],
    ]
    assert suspended_body.incidence().toarray().tolist() == printed


def test_tree_of_fig_1_follows_from_the_kinds(suspended_body: LinearGraph) -> None:
    tree = select_tree(suspended_body)
    assert tree.branches == ("e1", "e2", "e3", "e4", "e5")
    assert tree.chords == ("e6", "e7", "e8")


def test_eq_2_cutset_matrix(suspended_body: LinearGraph) -> None:
    cutset = select_tree(suspended_body).cutset_matrix()
    assert cutset.toarray().tolist() == np.hstack([np.eye(5, dtype=int), COTREE_PART]).tolist()


def test_eq_2_by_the_row_operation_in_the_text(suspended_body: LinearGraph) -> None:
    """'Rows (2) and (3) are added to row (1)' turns the incidence matrix into the cutset matrix."""
    rows = suspended_body.reduced_incidence().toarray().astype(int)
    rows[0] += rows[1] + rows[2]
    assert np.array_equal(rows, select_tree(suspended_body).cutset_matrix().toarray())


def test_eq_3_and_4_circuit_matrix(suspended_body: LinearGraph) -> None:
    tree = select_tree(suspended_body)
    printed = [[-1, 0, -1, 1, 0, 1, 0, 0], [-1, -1, 0, 0, 1, 0, 1, 0], [-1, 0, -1, 0, 1, 0, 0, 1]]
    assert tree.circuit_matrix().toarray().tolist() == printed
    assert tree.circuit_part() == -tree.cutset_part().T


def test_eq_6_vertex_equation_of_the_body(suspended_body: LinearGraph) -> None:
    equation = select_tree(suspended_body).cutset_equation("e1")
    assert equation.signs == {"e1": 1, "e6": 1, "e7": 1, "e8": 1}
    assert equation.to_latex() == r"\mathbf{F}_{1} + \mathbf{F}_{6} + \mathbf{F}_{7} + \mathbf{F}_{8} = 0"
    assert str(equation) == "e1.force + e6.force + e7.force + e8.force = 0"


def test_eq_8_circuit_equation_of_the_dashpot(suspended_body: LinearGraph) -> None:
    equation = select_tree(suspended_body).circuit_equation("e8", order="graph")
    assert equation.to_latex() == r"-\mathbf{r}_{1} - \mathbf{r}_{3} + \mathbf{r}_{5} + \mathbf{r}_{8} = 0"


def test_tree_of_fig_2b(four_bar_with_work: LinearGraph) -> None:
    """The bold edges of the figure: arms, the ground vector and three joints; joint B closes the loop."""
    tree = select_tree(four_bar_with_work, into_cotree=["e33"])
    assert tree.branches == ("e11", "e12", "e13", "e14", "e21", "e31", "e32", "e34")


def test_tree_of_fig_2b_by_order_alone(four_bar: LinearGraph) -> None:
    assert "e33" in select_tree(four_bar).chords


def test_eq_9_virtual_work_of_the_joint_at_c(four_bar_with_work: LinearGraph) -> None:
    equation = select_tree(four_bar_with_work, into_cotree=["e33"]).cutset_equation("e34")
    assert equation.signs == {"e33": 1, "e75": 1, "e76": 1, "e53": 1, "e34": 1}
    assert equation.to_latex() == " + ".join(rf"\delta W_{{{k}}}" for k in (34, 33, 53, 75, 76)) + " = 0"


def test_eq_10_loop_of_the_four_bar(four_bar_with_work: LinearGraph) -> None:
    """Same terms, same signs and the same order of the walk as printed."""
    equation = select_tree(four_bar_with_work, into_cotree=["e33"]).circuit_equation("e33")
    printed = [(1, 33), (-1, 14), (-1, 34), (-1, 21), (1, 31), (-1, 11), (1, 12), (1, 32), (-1, 13)]
    assert [(sign, edge.name) for sign, edge in equation.terms] == [(s, f"e{k}") for s, k in printed]
    assert equation.to_latex() == (
        r"\mathbf{r}_{33} - \mathbf{r}_{14} - \mathbf{r}_{34} - \mathbf{r}_{21} + \mathbf{r}_{31}"
        r" - \mathbf{r}_{11} + \mathbf{r}_{12} + \mathbf{r}_{32} - \mathbf{r}_{13} = 0"
    )


def test_eq_10_closes_with_real_positions(four_bar_with_work: LinearGraph) -> None:
    """Any positions of the frames satisfy the loop: displacement = head less tail."""
    place = {node: np.random.default_rng(7).normal(size=3) + k for k, node in enumerate(four_bar_with_work.nodes)}
    across = {edge.name: place[edge.head] - place[edge.tail] for edge in four_bar_with_work}
    tree = select_tree(four_bar_with_work)
    for chord in tree.chords:
        assert np.allclose(tree.circuit_equation(chord).residual(across), 0, rtol=0, atol=1e-12)


def test_counts_of_fig_2b(four_bar_with_work: LinearGraph) -> None:
    """v - 1 branches and e - v + 1 chords."""
    graph = four_bar_with_work
    assert (graph.v, graph.e, graph.rank, graph.nullity) == (9, 20, 8, 12)
    assert isinstance(select_tree(graph), Tree)
