"""Dependent virtual-work elements N7 (Richard 2012, section 2 and fig. 2b)."""

from __future__ import annotations

import pytest

from cotree.errors import GraphError
from cotree.graph import LinearGraph, ground_nodes, paper_name, select_tree, with_dependent_virtual_work
from cotree.model.edge import DISPLACEMENT, Edge, Kind


def test_seven_elements_of_fig_2b(four_bar_with_work: LinearGraph) -> None:
    added = [edge for edge in four_bar_with_work if edge.kind == Kind.DEPENDENT]
    assert [(edge.name, edge.tail, edge.head, edge.component) for edge in added] == [
        ("e71", "O", "crank.O", "e31"),
        ("e72", "O", "crank.A", "e32"),
        ("e73", "O", "coupler.A", "e32"),
        ("e74", "O", "coupler.B", "e33"),
        ("e75", "O", "follower.B", "e33"),
        ("e76", "O", "follower.C", "e34"),
        ("e77", "O", "crank", "e61"),
    ]


def test_ground_of_fig_2b_is_the_datum_and_the_end_of_e21(four_bar: LinearGraph) -> None:
    assert ground_nodes(four_bar) == {"O", "C"}


def test_default_names_tell_component_and_end(four_bar: LinearGraph) -> None:
    graph = with_dependent_virtual_work(four_bar)
    assert graph["e33.work1"].head == "coupler.B"
    assert graph["e33.work2"].head == "follower.B"
    assert "e31.work1" not in graph


def test_springs_of_fig_1_act_on_the_body_only(suspended_body: LinearGraph) -> None:
    """Nodes 4 and 5 are driven from the datum: one element for each of e6, e7, e8, at the body's end."""
    graph = with_dependent_virtual_work(suspended_body, naming=paper_name)
    assert [edge.head for edge in graph if edge.kind == Kind.DEPENDENT] == ["3", "2", "3"]


def test_a_driven_body_is_not_ground() -> None:
    """A position driver that ends on a body moves it; the arms of that body stay its own."""
    kinds = {"drive": Kind.POSITION_DRIVER, "body": Kind.BODY, "arm": Kind.ARM, "spring": Kind.FORCE}
    ends = {"drive": ("O", "c"), "body": ("O", "c"), "arm": ("c", "tip"), "spring": ("O", "tip")}
    graph = LinearGraph([Edge(n, *ends[n], kinds[n], DISPLACEMENT) for n in kinds], "O")
    assert ground_nodes(graph) == {"O"}
    assert with_dependent_virtual_work(graph)["spring.work2"].head == "tip"


def test_dependent_elements_are_chords_of_any_preferred_tree(four_bar_with_work: LinearGraph) -> None:
    work = {f"e7{k}" for k in range(1, 8)}
    for prefer in ("kinds", "absolute", "joint"):
        assert work <= set(select_tree(four_bar_with_work, prefer).chords)


def test_scalar_networks_have_none(network: LinearGraph) -> None:
    assert with_dependent_virtual_work(network) == network


def test_adding_twice_is_refused(four_bar_with_work: LinearGraph) -> None:
    with pytest.raises(GraphError, match=r"already: e71, e72.*Add them once"):
        with_dependent_virtual_work(four_bar_with_work)
