"""The written explanation of a graph and its tree."""

from __future__ import annotations

from cotree.graph import LinearGraph, Tree, explain_graph, select_tree
from cotree.model.edge import Edge, Role


def test_the_walk_from_graph_to_equations(network: LinearGraph) -> None:
    text = explain_graph(network, Tree(network, ["L1", "L2", "R3", "R4", "R5"]))
    order = [
        "6 nodes, 7 edges, datum f",
        "N5 body, or storage of an across variable: 1",
        "L1  a -> b  (electrical, N6)",
        "v - 1 = 5 branches: L1, L2, R3, R4, R5",
        "e - v + 1 = 2 chords: C6, V7",
        "across sources that are chords: V7: loop of V7, L1, R4, R5",
        "storages that are no states of this tree: C6: loop of C6, L2, R4, R3",
        "L1.current - V7.current = 0",
        "V7.voltage + L1.voltage - R4.voltage - R5.voltage = 0",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_big_graphs_are_elided() -> None:
    n = 3000
    graph = LinearGraph([Edge(f"r{k}", str(k), str((k + 1) % n)) for k in range(n)], "0")
    text = explain_graph(graph, select_tree(graph))
    assert "... and 2988 more edges" in text
    assert "... and 2987 more equations" in text
    assert len(text.splitlines()) < 60


def test_parts_and_trees_without_chords() -> None:
    graph = LinearGraph([Edge("R1", "a", "b"), Edge("I2", "c", "d", role=Role.THROUGH_SOURCE)], ["a", "c"])
    text = explain_graph(graph, select_tree(graph))
    assert "2 parts with datums a, c" in text
    assert "part of c: c, d" in text
    assert "through sources that are branches: I2: cutset of I2" in text
    assert "0 chords: none" in text
    assert text.endswith("Circuit equations, one for each chord (circuit postulate)\n  none")
