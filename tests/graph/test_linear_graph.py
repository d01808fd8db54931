"""The graph itself: order, counts, parts, deletion, contraction, and what it refuses."""

from __future__ import annotations

import pytest

from cotree.errors import GraphError
from cotree.graph import LinearGraph
from cotree.model.edge import ELECTRICAL, ROTATIONAL, Edge


def wires(text: str) -> list[Edge]:
    """Edges from ``name:tail-head`` words."""
    out = []
    for word in text.split():
        name, ends = word.split(":")
        tail, head = ends.split("-")
        out.append(Edge(name, tail, head))
    return out


def test_nodes_in_the_order_of_first_mention_unless_given() -> None:
    assert LinearGraph(wires("x:b-a y:a-c"), "c").nodes == ("b", "a", "c")
    assert LinearGraph(wires("x:b-a y:a-c"), "c", nodes=["c", "a"]).nodes == ("c", "a", "b")


def test_counts() -> None:
    graph = LinearGraph(wires("x:a-b y:b-c z:c-a p:d-e q:d-e"), ["a", "d"])
    assert (graph.v, graph.e, graph.c, graph.rank, graph.nullity) == (5, 5, 2, 3, 2)
    assert graph.parts() == (("a", "b", "c"), ("d", "e"))
    assert LinearGraph(graph.edges, ["d", "a"]).parts() == (("d", "e"), ("a", "b", "c"))
    assert graph.datum_of("e") == "d"
    assert graph.free_nodes == ("b", "c", "e")


def test_self_loop_has_an_empty_column_and_counts_twice_in_the_degree() -> None:
    graph = LinearGraph(wires("x:a-b s:b-b"), "a")
    assert graph.incidence().toarray().tolist() == [[-1, 0], [1, 0]]
    assert graph.degree("b") == 3
    assert [edge.name for edge in graph.edges_at("b")] == ["x", "s"]
    assert str(graph.vertex_equation("b")) == "x.current = 0"


def test_parallel_edges_keep_their_own_columns() -> None:
    graph = LinearGraph(wires("x:a-b y:b-a z:a-b"), "a")
    assert graph.incidence().toarray().tolist() == [[-1, 1, -1], [1, -1, 1]]
    assert str(graph.vertex_equation("b")) == "x.current - y.current + z.current = 0"


def test_more_than_256_parallel_edges_are_still_connected() -> None:
    """Counters of eight bits would wrap round to zero here."""
    graph = LinearGraph([Edge(f"e{k}", "a", "b") for k in range(256)], "a")
    assert (graph.rank, graph.nullity) == (1, 255)


def test_a_lone_datum_is_a_graph() -> None:
    graph = LinearGraph([], "a", nodes=["a"])
    assert (graph.rank, graph.nullity, graph.incidence().shape) == (0, 0, (1, 0))


def test_access_by_name() -> None:
    graph = LinearGraph(wires("x:a-b y:b-c"), "a")
    assert graph["y"].head == "c"
    assert "x" in graph
    assert "z" not in graph
    assert [edge.name for edge in graph] == ["x", "y"]
    assert len(graph) == 2


def test_equal_graphs() -> None:
    one, two = LinearGraph(wires("x:a-b"), "a"), LinearGraph(wires("x:a-b"), "a")
    assert one == two
    assert hash(one) == hash(two)
    assert one != LinearGraph(wires("x:a-b"), "b")
    assert one != "graph"


def test_the_graph_cannot_be_changed() -> None:
    graph = LinearGraph(wires("x:a-b"), "a")
    with pytest.raises(AttributeError, match="cannot be changed"):
        graph.edges = ()
    with pytest.raises(ValueError, match="read-only"):
        graph.tail[0] = 1


def test_deletion_keeps_the_nodes() -> None:
    graph = LinearGraph(wires("x:a-b y:b-c z:c-a"), "a")
    assert graph.without(["z"]).nodes == ("a", "b", "c")
    assert graph.e == 3
    with pytest.raises(GraphError, match=r"no edge joins c to the datum a.*datum of its own, for example 'c'"):
        graph.without(["y", "z"])
    assert graph.without(["y", "z"], drop_isolated=True).nodes == ("a", "b")
    assert graph.without(["y", "z"], datum=["a", "c"]).c == 2


def test_contraction_names_the_merged_node() -> None:
    graph = LinearGraph(wires("x:a-b y:b-c z:c-d w:d-a u:b-c"), "d")
    assert graph.contract(["x"]).nodes == ("a", "c", "d")
    merged = graph.contract(["z"])
    assert merged.datum == "d"
    assert (merged["y"].tail, merged["y"].head) == ("b", "d")
    assert graph.contract(["x"], names={"b": "ab"})["w"].head == "ab"
    assert graph.contract(["z"], names={"c": "ground"}).datum == "ground"
    with pytest.raises(GraphError, match="two nodes are named 'd'"):
        graph.contract(["x"], names={"a": "d"})


def test_contraction_turns_parallel_edges_into_self_loops() -> None:
    merged = LinearGraph(wires("x:a-b y:b-a z:b-c"), "a").contract(["x"])
    assert (merged["y"].tail, merged["y"].head) == ("a", "a")
    assert merged.nullity == 1


def test_contraction_and_deletion_commute() -> None:
    graph = LinearGraph(wires("x:a-b y:b-c z:c-a w:c-d v:d-a"), "a")
    assert graph.contract(["y"]).without(["z"]) == graph.without(["z"]).contract(["y"])


def test_reversal_changes_one_sign() -> None:
    graph = LinearGraph(wires("x:a-b y:b-a"), "a")
    turned = graph.reversed_edges(["y"])
    assert turned.incidence().toarray().tolist() == [[-1, -1], [1, 1]]
    assert turned.reversed_edges(["y"]) == graph


def test_more_edges() -> None:
    graph = LinearGraph(wires("x:a-b"), "a").with_edges(wires("y:b-c"))
    assert graph.nodes == ("a", "b", "c")


def test_domains_may_share_their_ground_only() -> None:
    motor = [Edge("R", "g", "p", domain=ELECTRICAL), Edge("J", "g", "s", domain=ROTATIONAL)]
    graph = LinearGraph(motor, "g")
    assert graph.mixed_nodes() == ()
    with pytest.raises(GraphError, match=r"node g: .*R \(current\), J \(torque\).*Give vertex_equation the domain"):
        graph.vertex_equation("g")
    assert str(graph.vertex_equation("g", ROTATIONAL)) == "-J.torque = 0"
    wrong = LinearGraph([*motor, Edge("b", "p", "s", domain=ROTATIONAL)], "g")
    assert wrong.mixed_nodes() == ("p",)


@pytest.mark.parametrize(
    ("edges", "datum", "nodes", "message"),
    [
        ("x:a-b x:b-c", "a", (), r"two edges are named 'x'.*Rename one"),
        ("x:a-b", "a", ("a", "b", "a"), r"two nodes are named 'a'"),
        ("x:ground-b", "grond", (), r"the datum 'grond' is not a node.*one of ground, b.*Did you mean 'ground'\?"),
        ("x:a-b y:c-d", "a", (), r"no edge joins c, d to the datum a.*Connect them, or give this part a datum"),
        ("x:a-b y:c-d z:p-q", ("a", "p"), (), r"no edge joins c, d to any datum"),
        ("x:a-b y:b-c", ("a", "c"), (), r"the datums a and c are in one connected part.*one datum in each.*Keep one"),
        ("x:a-b", (), (), r"no edge joins a, b to any datum"),
    ],
)
def test_refused_graphs(edges: str, datum: str | tuple[str, ...], nodes: tuple[str, ...], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        LinearGraph(wires(edges), datum, nodes)


def test_refused_questions() -> None:
    graph = LinearGraph(wires("spring:a-b y:c-d"), ["a", "c"])
    with pytest.raises(GraphError, match=r"no edge is named 'sprig'.*Did you mean 'spring'\?"):
        graph["sprig"]
    with pytest.raises(GraphError, match=r"no node is named 'e'.*one of a, b, c, d"):
        graph.degree("e")
    with pytest.raises(GraphError, match=r"Write \['spring'\]"):
        graph.without("spring")
    with pytest.raises(GraphError, match=r"2 datums \(a, c\).*datum_of"):
        _ = graph.datum
