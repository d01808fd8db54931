"""McPhee 1996, sections 2, 4 and 5: matrices, topological equations, Wittenburg's path matrix."""

from __future__ import annotations

import numpy as np

from cotree.graph import LinearGraph, Tree, select_tree
from cotree.maths.named import NamedMatrix

TREE = ["L1", "L2", "R3", "R4", "R5"]
A_C = [[0, -1], [1, 0], [1, 0], [-1, 1], [0, 1]]


def test_eq_1_incidence_matrix(network: LinearGraph) -> None:
    printed = [
        [-1, 0, 0, 0, 0, 0, 1],
        [1, 0, 1, 1, 0, 0, 0],
        [0, 0, -1, 0, 0, -1, 0],
        [0, 1, 0, 0, 0, 1, 0],
        [0, -1, 0, -1, 1, 0, 0],
        [0, 0, 0, 0, -1, 0, -1],
    ]
    assert network.incidence() == NamedMatrix(printed, "abcdef", ["L1", "L2", "R3", "R4", "R5", "C6", "V7"])
    assert network.reduced_incidence().toarray().tolist() == printed[:-1]


def test_eq_2_and_3_cutset_matrix(network: LinearGraph) -> None:
    tree = Tree(network, TREE)
    assert tree.cutset_part() == NamedMatrix(A_C, TREE, ["C6", "V7"])
    assert tree.cutset_matrix().toarray().tolist() == np.hstack([np.eye(5, dtype=int), A_C]).tolist()


def test_eq_3_is_row_equivalent_to_the_reduced_incidence_matrix(network: LinearGraph) -> None:
    tree = Tree(network, TREE)
    columns = (*tree.branches, *tree.chords)
    assert tree.path_matrix() @ network.reduced_incidence().columns(columns) == tree.cutset_matrix()


def test_eq_4_and_5_circuit_matrix(network: LinearGraph) -> None:
    printed = [[0, -1, -1, 1, 0, 1, 0], [1, 0, 0, -1, -1, 0, 1]]
    assert Tree(network, TREE).circuit_matrix() == NamedMatrix(printed, ["C6", "V7"], [*TREE, "C6", "V7"])


def test_eq_6_orthogonality_and_eq_7(network: LinearGraph) -> None:
    tree = Tree(network, TREE)
    assert (tree.circuit_matrix() @ tree.cutset_matrix().T).nnz == 0
    assert tree.circuit_part() == -tree.cutset_part().T


def test_matrices_of_the_tree_do_not_depend_on_the_datum(network: LinearGraph) -> None:
    for datum in network.nodes:
        tree = Tree(LinearGraph(network.edges, datum, network.nodes), TREE)
        assert tree.cutset_part().toarray().tolist() == A_C


def test_eq_8_vertex_postulate_follows_from_the_cutsets(network: LinearGraph) -> None:
    tree = Tree(network, TREE)
    chords = np.array([3, 5])
    through = {**dict(zip(TREE, -tree.cutset_part() @ chords, strict=True)), "C6": 3, "V7": 5}
    assert [network.vertex_equation(node).residual(through) for node in network.nodes] == [0] * 6


def test_eq_9_and_10_currents_of_the_branches(network: LinearGraph) -> None:
    """tau1 = tau7, tau2 = tau3 = -tau6, tau4 = tau6 - tau7, tau5 = -tau7."""
    tree = Tree(network, TREE)
    tau6, tau7 = 3, 5
    explicit = [tau7, -tau6, -tau6, tau6 - tau7, -tau7]
    assert (-tree.cutset_part() @ np.array([tau6, tau7])).tolist() == explicit
    assert str(tree.cutset_equation("L1")) == "L1.current - V7.current = 0"
    assert str(tree.cutset_equation("R4")) == "R4.current - C6.current + V7.current = 0"


def test_eq_11_to_13_voltages_of_the_chords(network: LinearGraph) -> None:
    """alpha6 = alpha2 + alpha3 - alpha4, alpha7 = -alpha1 + alpha4 + alpha5."""
    tree = Tree(network, TREE)
    alpha = np.array([2, 3, 5, 7, 11])
    explicit = [alpha[1] + alpha[2] - alpha[3], -alpha[0] + alpha[3] + alpha[4]]
    assert (-tree.circuit_part() @ alpha).tolist() == explicit
    assert tree.circuit_equation("V7").signs == {"V7": 1, "L1": 1, "R4": -1, "R5": -1}


def test_eq_15_nodal_transformation(network: LinearGraph) -> None:
    """Across = value at the head less value at the tail, the datum at zero; it satisfies every circuit."""
    eta = np.array([2.0, 3.0, 5.0, 7.0, 11.0])
    value = {**dict(zip(network.free_nodes, eta, strict=True)), "f": 0.0}
    alpha = network.nodal_transformation() @ eta
    assert alpha.tolist() == [value[edge.head] - value[edge.tail] for edge in network]
    tree = Tree(network, TREE)
    across = dict(zip(network.edge_names, alpha, strict=True))
    assert [tree.circuit_equation(chord).residual(across) for chord in tree.chords] == [0, 0]


def test_power_sums_to_zero(network: LinearGraph) -> None:
    """Tellegen's theorem, a consequence of eq. 6: any through and any across variables are orthogonal."""
    tree = Tree(network, TREE)
    random = np.random.default_rng(1)
    chords, branches = random.integers(-9, 9, 2), random.integers(-9, 9, 5)
    through = np.concatenate([-tree.cutset_part() @ chords, chords])
    across = np.concatenate([branches, -tree.circuit_part() @ branches])
    assert through @ across == 0


def wittenburg_matrices(graph: LinearGraph) -> tuple[Tree, NamedMatrix, NamedMatrix, NamedMatrix]:
    """Tree P1 P2 P3, S and S* of W = -IN without the base, and T = -path."""
    tree = Tree(graph, ["P1", "P2", "P3"])
    w = -graph.reduced_incidence()
    return tree, w.columns(tree.branches), w.columns(tree.chords), -tree.path_matrix()


def test_eq_32_and_33_wittenburgs_incidence_matrix(wittenburg: LinearGraph) -> None:
    printed = [[1, 0, 0, 1], [-1, 1, 0, 0], [0, -1, 1, 0], [0, 0, -1, -1]]
    assert (-wittenburg.incidence()).toarray().tolist() == printed
    assert wittenburg.nodes == ("m0", "m1", "m2", "m3")
    _, s, s_star, _ = wittenburg_matrices(wittenburg)
    assert s.toarray().tolist() == [row[:3] for row in printed[1:]]
    assert s_star.toarray().tolist() == [row[3:] for row in printed[1:]]


def test_eq_34_and_35_path_matrix(wittenburg: LinearGraph) -> None:
    tree, s, _, t = wittenburg_matrices(wittenburg)
    s_0 = (-wittenburg.incidence())[["m0"], list(tree.branches)]
    assert (t.T @ s_0.T).toarray().tolist() == [[-1], [-1], [-1]]
    assert np.array_equal((t @ s).toarray(), np.eye(3))
    assert np.array_equal((s @ t).toarray(), np.eye(3))


def test_eq_36_and_37_cutsets_from_the_path_matrix(wittenburg: LinearGraph) -> None:
    tree, _, s_star, t = wittenburg_matrices(wittenburg)
    assert t @ s_star == tree.cutset_part()
    omega = np.array([[1.0, 2, 3], [5, 7, 11], [13, 17, 19]])
    assert np.array_equal(-tree.circuit_part() @ omega, omega.sum(axis=0, keepdims=True))


def test_eq_38_to_40_absolute_angular_velocities(wittenburg: LinearGraph) -> None:
    tree, s, _, t = wittenburg_matrices(wittenburg)
    random = np.random.default_rng(1996)
    omega_0, omega = random.normal(size=3), random.normal(size=(3, 3))
    relative = -s.T @ (omega - omega_0)
    expected = [omega[0] - omega_0, omega[1] - omega[0], omega[2] - omega[1]]
    assert np.allclose(relative, expected, rtol=0, atol=1e-15)
    assert np.allclose(-t.T @ relative + omega_0, omega, rtol=0, atol=1e-14)
    assert np.allclose(tree.nodal_values(relative) + omega_0, omega, rtol=0, atol=1e-14)


def test_eq_42_circuit_of_the_second_pin(vector_network: LinearGraph) -> None:
    tree = select_tree(vector_network, "absolute")
    assert tree.branches == vector_network.edge_names[:11], "m1 .. s11"
    equation = tree.circuit_equation("h14")
    assert equation.signs == {"h14": 1, "s8": 1, "m2": 1, "m1": -1, "s7": -1}
    assert equation.to_latex(label=lambda name: name.lstrip("hsm")).startswith(r"\mathbf{r}_{14} - \mathbf{r}_{7}")


def test_fig_5_recovered_from_fig_6(vector_network: LinearGraph, wittenburg: LinearGraph) -> None:
    """Delete masses and torque, contract each joint with its arms, and turn the pins as Wittenburg draws them."""
    kinematic = vector_network.without(["m1", "m2", "m3", "T12"])
    arms = ["r4", "r5", "s6", "s7", "s8", "s9", "s10", "s11"]
    links = kinematic.contract(arms, names={"O": "m0", "c1": "m1", "c2": "m2", "c3": "m3"})
    assert set(links.nodes) == {"m0", "m1", "m2", "m3"}
    assert links.datum == "m0"
    turned = links.reversed_edges(["h13", "h14", "h15"])
    pins = ["h13", "h14", "h15", "h16"]
    same = turned.incidence().rows(wittenburg.nodes).columns(pins)
    assert np.array_equal(same.toarray(), wittenburg.incidence().toarray())


def test_two_coordinate_sets_from_one_graph(vector_network: LinearGraph) -> None:
    """Section 5: bodies in the tree give absolute coordinates, joints in the tree joint coordinates."""
    absolute, joint = select_tree(vector_network, "absolute"), select_tree(vector_network, "joint")
    assert {"h13", "h14", "h15", "h16", "T12"} == set(absolute.chords)
    assert {"h13", "h14", "h15"} < set(joint.branches)
    assert set(joint.chords) == {"h16", "m1", "m2", "m3", "T12"}
