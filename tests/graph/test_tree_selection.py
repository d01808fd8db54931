"""Choice of a tree: priorities, ties, pins, sources and storages."""

from __future__ import annotations

import pytest

from cotree.errors import GraphError
from cotree.graph import (
    LinearGraph,
    Tree,
    across_source_loops,
    all_trees,
    breadth_first_tree,
    dependent_storages,
    select_tree,
    through_source_cutsets,
)
from cotree.model.edge import DISPLACEMENT, Edge, Kind, Role

ROLES = dict(zip("VCRLI", Role, strict=True))


def circuit(text: str, datum: str = "g") -> LinearGraph:
    """A network from ``name:tail-head`` words; the first letter is the role."""
    edges = []
    for word in text.split():
        name, ends = word.split(":")
        role = ROLES[name[0]]
        tail, head = ends.split("-")
        edges.append(Edge(name, tail, head, role.kind, role=role))
    return LinearGraph(edges, datum)


def test_ties_are_broken_by_the_users_order() -> None:
    edges = [Edge(n, t, h) for n, t, h in (("x", "a", "b"), ("y", "b", "c"), ("z", "c", "a"))]
    assert select_tree(LinearGraph(edges, "a")).branches == ("x", "y")
    assert select_tree(LinearGraph(edges[::-1], "a")).branches == ("z", "y")


def test_every_kind_stands_before_the_next() -> None:
    """Parallel edges of all kinds: each N_k is the branch once N_1 .. N_(k-1) are barred (Richard 2012, section 2)."""
    graph = LinearGraph([Edge(k.symbol, "O", "a", k, DISPLACEMENT) for k in reversed(Kind)], "O")
    for k in range(7):
        barred = [kind.symbol for kind in list(Kind)[:k]]
        assert select_tree(graph, into_cotree=barred).branches == (f"N{k + 1}",)


def test_absolute_and_joint_choices_differ_in_bodies_and_joints() -> None:
    graph = LinearGraph([Edge(k.symbol, "O", "a", k, DISPLACEMENT) for k in reversed(Kind)], "O")
    drives = ["N1", "N2"]
    assert select_tree(graph, "absolute", into_cotree=drives).branches == ("N5",)
    assert select_tree(graph, "absolute", into_cotree=[*drives, "N5"]).branches == ("N3",)
    assert select_tree(graph, "joint", into_cotree=drives).branches == ("N4",), "the joint that was written first"
    assert select_tree(graph, "kinds", into_cotree=drives).branches == ("N3",)
    assert select_tree(graph, "joint", into_cotree=[*drives, "N3", "N4"]).branches == ("N5",)


def test_normal_tree_takes_roles_in_order() -> None:
    graph = circuit("I1:g-a L1:g-a R1:g-a C1:g-a V1:g-a")
    order = ["V1", "C1", "R1", "L1", "I1"]
    for k, name in enumerate(order):
        assert select_tree(graph, "normal", into_cotree=order[:k]).branches == (name,)


def test_normal_tree_of_mcphees_network(network: LinearGraph) -> None:
    """Source and capacitor in the tree, both inductors in the cotree: three independent states, no conflict."""
    tree = select_tree(network, "normal")
    assert tree.branches == ("R3", "R4", "R5", "C6", "V7")
    assert tree.chords == ("L1", "L2")
    assert (across_source_loops(tree), through_source_cutsets(tree), dependent_storages(tree)) == ((), (), ())


def test_a_function_of_the_edge(network: LinearGraph) -> None:
    tree = select_tree(network, lambda edge: -int(edge.name[1]))
    assert tree.chords == ("L1", "L2")


def test_pins(network: LinearGraph) -> None:
    tree = select_tree(network, into_tree=["C6", "V7"], into_cotree=["R4"])
    assert {"C6", "V7"} <= set(tree.branches)
    assert "R4" in tree.chords


def test_breadth_first_tree_has_the_shortest_paths() -> None:
    graph = circuit("R1:a-b R2:b-c R3:c-g R4:g-b R5:a-g")
    assert breadth_first_tree(graph).branches == ("R3", "R4", "R5")
    assert breadth_first_tree(graph, into_tree=["R1"]).branches == ("R1", "R3", "R4")


@pytest.mark.parametrize(
    ("into_tree", "into_cotree", "message"),
    [
        (["L2", "R3", "R4", "C6"], [], r"C6, L2, R4, R3 are pinned into the tree but form a circuit.*out of into_tree"),
        ([], ["L1", "V7"], r"L1, V7 pinned into the cotree cut off a from the datum.*out of into_cotree"),
        ([], ["R5", "L1", "R3", "R4"], r"R5, L1, R3, R4 pinned into the cotree cut off"),
        (["R4"], ["R4", "C6"], r"R4 pinned into the tree and into the cotree"),
        (["R9"], [], r"no edge is named 'R9'"),
    ],
)
def test_refused_pins(network: LinearGraph, into_tree: list[str], into_cotree: list[str], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        select_tree(network, into_tree=into_tree, into_cotree=into_cotree)


def test_a_pinned_self_loop_is_refused() -> None:
    with pytest.raises(GraphError, match=r"R2 is pinned into the tree but is a self-loop"):
        select_tree(circuit("R1:g-a R2:a-a"), into_tree=["R2"])


def test_only_edges_of_the_cut_are_blamed(network: LinearGraph) -> None:
    with pytest.raises(GraphError, match=r"pins: L1, V7 pinned"):
        select_tree(network, into_cotree=["R4", "L1", "V7"])


def test_an_unknown_preference_is_answered_with_the_nearest(network: LinearGraph) -> None:
    with pytest.raises(GraphError, match=r"'absolut'.*one of kinds, absolute, joint, normal.*Did you mean 'absolute'"):
        select_tree(network, "absolut")  # type: ignore[arg-type]


def test_a_loop_of_across_sources_is_named() -> None:
    tree = select_tree(circuit("V1:g-a V2:b-a V3:g-b R1:a-b"), "normal")
    (conflict,) = across_source_loops(tree)
    assert (conflict.edge, conflict.form, conflict.inherent) == ("V3", "loop", True)
    assert set(conflict.names) == {"V1", "V2", "V3"}
    assert str(conflict) == "V3: loop of V3, V2, V1"


def test_a_cutset_of_through_sources_is_named() -> None:
    tree = select_tree(circuit("R1:g-a I1:a-b I2:b-g R2:g-a"), "normal")
    (conflict,) = through_source_cutsets(tree)
    assert (conflict.form, conflict.inherent, set(conflict.names)) == ("cutset", True, {"I1", "I2"})


def test_a_source_on_the_wrong_side_of_another_tree_is_not_inherent() -> None:
    graph = circuit("V1:g-a R1:g-a I1:g-a")
    by_resistor = Tree(graph, ["R1"])
    assert [(c.names, c.inherent) for c in across_source_loops(by_resistor)] == [(("V1", "R1"), False)]
    by_source = Tree(graph, ["I1"])
    assert [(c.names, c.inherent) for c in through_source_cutsets(by_source)] == [(("I1", "V1", "R1"), False)]


def test_dependent_storages() -> None:
    """A loop of capacitors and a source, a cutset of inductors: one state is lost in each."""
    loop = select_tree(circuit("V1:g-a C1:a-b C2:b-g R1:b-g"), "normal")
    (capacitor,) = dependent_storages(loop)
    assert (capacitor.edge, set(capacitor.names), capacitor.inherent) == ("C2", {"C1", "C2", "V1"}, True)
    star = select_tree(circuit("L1:a-s L2:b-s L3:g-s R1:g-a R2:g-b"), "normal")
    (inductor,) = dependent_storages(star)
    assert (inductor.form, set(inductor.names), inductor.inherent) == ("cutset", {"L1", "L2", "L3"}, True)


def test_normal_tree_has_the_most_across_and_fewest_through_storages() -> None:
    """Against every tree of a small network with capacitors in loops and inductors in cutsets."""
    graph = circuit("V1:g-a C1:a-b C2:b-g C3:b-c L1:c-d L2:d-e L3:d-g R1:e-g R2:c-g I1:e-g")

    def counts(tree: Tree) -> tuple[int, ...]:
        return tuple(sum(graph[b].role == role for b in tree.branches) for role in Role)

    assert counts(select_tree(graph, "normal")) == max(counts(tree) for tree in all_trees(graph))
