"""The graphs of the papers, read as in docs: an edge points from tail to head."""

from __future__ import annotations

import pytest

from cotree.graph import LinearGraph, paper_name, with_dependent_virtual_work
from cotree.model.edge import DISPLACEMENT, ROTATIONAL, VIRTUAL_WORK, Domain, Edge, Kind, Role


def mechanism(rows: str, domain: Domain) -> list[Edge]:
    """Edges from lines ``name tail head N?``."""
    out = []
    for line in rows.strip().splitlines():
        name, tail, head, kind = line.split()
        out.append(Edge(name, tail, head, Kind(int(kind[1:])), domain))
    return out


@pytest.fixture
def network() -> LinearGraph:
    """McPhee 1996, fig. 2, as printed in eq. 1."""
    across, storage, static = Role.ACROSS_SOURCE, Role.ACROSS_STORAGE, Role.STATIC
    rows = [
        ("L1", "a", "b", Role.THROUGH_STORAGE),
        ("L2", "e", "d", Role.THROUGH_STORAGE),
        ("R3", "c", "b", static),
        ("R4", "e", "b", static),
        ("R5", "f", "e", static),
        ("C6", "c", "d", storage),
        ("V7", "f", "a", across),
    ]
    edges = [Edge(name, tail, head, role.kind, role=role) for name, tail, head, role in rows]
    return LinearGraph(edges, "f", nodes=list("abcdef"))


@pytest.fixture
def suspended_body() -> LinearGraph:
    """Richard 2012, fig. 1b: a body on two springs and a dashpot."""
    rows = """
        e1 O 1 N5
        e2 1 2 N1
        e3 1 3 N1
        e4 O 4 N2
        e5 O 5 N2
        e6 4 3 N6
        e7 5 2 N6
        e8 5 3 N6
    """
    return LinearGraph(mechanism(rows, DISPLACEMENT), "O", nodes=list("12345O"))


@pytest.fixture
def four_bar() -> LinearGraph:
    """Richard 2012, fig. 2b without the dependent elements; e33 is written last, so that it is the chord."""
    rows = """
        e11 crank crank.O N1
        e12 crank crank.A N1
        e13 coupler.B coupler.A N1
        e14 follower.C follower.B N1
        e21 O C N2
        e31 O crank.O N3
        e32 crank.A coupler.A N3
        e34 C follower.C N3
        e33 coupler.B follower.B N3
        e51 O crank N5
        e52 O coupler.B N5
        e53 O follower.C N5
        e61 O crank N6
    """
    return LinearGraph(mechanism(rows, VIRTUAL_WORK), "O")


@pytest.fixture
def four_bar_with_work(four_bar: LinearGraph) -> LinearGraph:
    """Richard 2012, fig. 2b, components in the paper's order O, A, B, C, torque, so that e71..e77 are his."""
    ordered = LinearGraph(sorted(four_bar, key=lambda edge: edge.name), "O", four_bar.nodes)
    return with_dependent_virtual_work(ordered, naming=paper_name)


@pytest.fixture
def vector_network() -> LinearGraph:
    """McPhee 1996, fig. 6: bodies m, ground vectors r, arms s, torque T, pins h from link i to link i - 1 (eq. 42)."""
    rows = """
        m1 O c1 N5
        m2 O c2 N5
        m3 O c3 N5
        r4 O g1 N1
        r5 O g4 N1
        s6 c1 p1 N1
        s7 c1 p2 N1
        s8 c2 q2 N1
        s9 c2 p3 N1
        s10 c3 q3 N1
        s11 c3 p4 N1
        T12 O c1 N6
        h13 p1 g1 N3
        h14 q2 p2 N3
        h15 q3 p3 N3
        h16 g4 p4 N3
    """
    return LinearGraph(mechanism(rows, DISPLACEMENT), "O")


@pytest.fixture
def wittenburg() -> LinearGraph:
    """McPhee 1996, fig. 5: links are nodes, hinges are edges, the base m0 first (eq. 33)."""
    rows = """
        P1 m0 m1 N3
        P2 m1 m2 N3
        P3 m2 m3 N3
        P4 m0 m3 N3
    """
    return LinearGraph(mechanism(rows, ROTATIONAL), "m0")
