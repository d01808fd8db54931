"""What the program says about a network: counts, equations and decisions."""

from __future__ import annotations

import cotree
from benchmarks.test_networks import MCPHEE
from cotree.graph import Tree
from formulation.mna import model_of


def test_mcphee_network_explained() -> None:
    """7 edges, 6 nodes: 14 unknowns, 5 cutset, 2 circuit and 7 terminal equations, L1 and V7 in one cutset."""
    text = model_of(MCPHEE).explain()
    assert "14 unknowns" in text
    assert "5 cutset + 2 circuit + 7 terminal equations" in text
    assert "R3.resistance" in text
    assert "states" in text


def test_explanation_in_a_tree_of_the_user() -> None:
    model = model_of(MCPHEE)
    tree = Tree(model.graph(), ["L1", "L2", "R3", "R4", "R5"])
    text = model.explain(tree)
    assert "14 unknowns" in text
    assert text != model.explain()


def test_notes_name_dependent_storages_and_loops() -> None:
    m = cotree.Model("loop")
    m.add(cotree.VoltageSource("V", ("a", "ground"), voltage="sin(t)"))
    m.add(cotree.Capacitor("C1", ("a", "b"), capacitance=1.0))
    m.add(cotree.Capacitor("C2", ("b", "ground"), capacitance=1.0))
    m.add(cotree.Resistor("R1", ("b", "ground"), resistance=1.0))
    notes = m.equations().notes
    assert notes[0] == "1 states: C1.voltage" or notes[0].startswith("1 state")
    assert any("C2 is a dependent storage" in note and "V" in note for note in notes)


def test_a_constant_source_shows_its_number() -> None:
    m = cotree.Model("constant", parameters={"I": 2.0})
    m.add(cotree.VoltageSource("V", ("a", "ground"), voltage=24))
    m.add(cotree.CurrentSource("J", ("b", "ground"), current="I"))
    m.add(cotree.Resistor("R", ("a", "b"), resistance=1.0))
    lines = [line.strip() for line in m.explain().splitlines()]
    for line in ("V.voltage - 24 = 0", "V.voltage = 24", "J.current - I = 0", "J.current = I"):
        assert line in lines
