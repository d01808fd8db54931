"""Structural order, paths, controllability and observability against matrices that numpy alone writes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import cotree.bond as bond
from bond.random_graphs import Plain, degree, descriptor, plain_graphs
from bond.textbook import TEXTBOOK, build
from cotree import Model
from cotree.bond.opening import open_graph
from cotree.bond.structural import structural
from cotree.errors import FormulationError

quick = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
WITH_INPUTS = [name for name, known in TEXTBOOK.items() if known.inputs]


@pytest.mark.parametrize("name", WITH_INPUTS)
def test_textbook_controllability_is_that_of_kalman(name: str) -> None:
    known = TEXTBOOK[name]
    a, b = np.array(known.matrix), np.array(known.inputs)
    kalman = np.linalg.matrix_rank(np.hstack([np.linalg.matrix_power(a, k) @ b for k in range(len(a))]))
    found = structural(open_graph(known.make()))
    assert found.order == len(a)
    assert found.controllable == (kalman == len(a))
    assert found.controllability_rank == np.linalg.matrix_rank(np.hstack([a, b]))


@pytest.mark.parametrize("name", WITH_INPUTS)
def test_path_order_is_that_of_the_first_derivative_that_an_input_moves(name: str) -> None:
    """A path with r integrations from source j to storage i: (A^(r-1) B)_ij is the first that is not zero."""
    known = TEXTBOOK[name]
    a, b = np.array(known.matrix), np.array(known.inputs)
    structure = open_graph(known.make())
    found = {(path.start, path.end): path for path in structural(structure).input_paths}
    sources = [each.name for each in structure.vertices.values() if each.letter in ("Se", "Sf")]
    for i, storage in enumerate(known.integral):
        for j, source in enumerate(sources):
            moved = [k + 1 for k in range(len(a)) if abs((np.linalg.matrix_power(a, k) @ b)[i, j]) > 1e-12]
            assert found[source, storage].order == moved[0]


def test_paths_of_the_motor() -> None:
    found = structural(open_graph(TEXTBOOK["dc_motor"].make()), outputs=["J.flow", "b2.effort"])
    there = {(path.start, path.end): path.bonds for path in found.input_paths}
    assert there["V", "La"] == ("b1", "b3")
    assert there["V", "J"] == ("b1", "b3", "b4", "b5", "b6")
    seen = {(path.start, path.end): (path.bonds, path.order, path.length) for path in found.output_paths}
    assert seen["J", "J.flow"] == (("b6",), 1, 1)
    assert seen["La", "b2.effort"] == (("b3", "b2"), 1, 2)
    assert seen["J", "b2.effort"] == (("b6", "b5", "b4", "b3", "b2"), 2, 5)


def two_in_series() -> Model:
    """One current through two capacitors: q1' = q2' = u."""
    parts = [bond.Sf("u", flow=1.0), bond.Junction1("i"), bond.C("C1", compliance=1.0), bond.C("C2", compliance=2.0),
             bond.Sensor("sum", of="b1", measures="effort")]  # fmt: skip
    return build("series", parts, "b1: u -> i", "b2: i -> C1", "b3: i -> C2")


def test_reached_but_not_controllable() -> None:
    """Rank of (A B) = (0 0; 0 0 | 1; 1) is 1, and that of (A; C) too, with e = q1 + q2/2."""
    found = structural(open_graph(two_in_series()))
    assert found.order == 2
    assert found.unreached == ()
    assert len(found.uncontrolled) == 1
    assert not found.controllable
    assert found.controllability_rank == 1
    assert found.unseen == ()
    assert len(found.unobserved) == 1
    assert not found.observable
    assert f"{found.uncontrolled[0]}: in integral causality even with the sources dualised." in found.text()


def test_an_ideal_source_hides_what_is_behind_it() -> None:
    """Source B holds the voltage between two halves: A cannot reach C2, and C2 is not seen from the first half."""
    parts = [
        bond.Se("A", effort=1.0), bond.Junction1("i1"), bond.R("R1", resistance=1.0), bond.C("C1", compliance=1.0),
        bond.Junction0("v"), bond.Se("B", effort=2.0), bond.Junction1("i2"), bond.R("R2", resistance=1.0),
        bond.C("C2", compliance=3.0),
    ]  # fmt: skip
    bonds = ["b1: A -> i1", "b2: i1 -> R1", "b3: i1 -> C1", "b4: i1 -> v", "b5: B -> v", "b6: v -> i2", "b7: i2 -> R2",
             "b8: i2 -> C2"]  # fmt: skip
    structure = open_graph(build("halves", parts, *bonds))
    found = structural(structure, inputs=["A"], outputs=["R1.flow"])
    assert found.unreached == ("C2",)
    assert found.unseen == ("C2",)
    assert not found.controllable
    assert not found.observable
    both = structural(structure, outputs=["B.flow"])
    assert both.inputs == ("A", "B")
    assert both.controllable
    assert both.observable
    assert "C2: reached from no source by a causal path." in found.text()
    assert "Structurally observable: yes" in str(both)


def test_a_source_that_is_zero_is_no_input() -> None:
    parts = [bond.Sf("ground", flow=0.0), bond.Junction0("f"), bond.C("k", stiffness=2.0), bond.I("m", inertia=1.0)]
    structure = open_graph(build("free", parts, "b1: ground -> f", "b2: f -> k", "b3: f -> m"))
    found = structural(structure)
    assert found.inputs == ()
    assert found.unreached == ("k", "m")
    assert structural(structure, inputs=["ground"]).controllable


def test_unknown_inputs_and_outputs_are_named() -> None:
    structure = open_graph(TEXTBOOK["dc_motor"].make())
    with pytest.raises(FormulationError, match=r"'La' is no source\. Expected one of V, load"):
        structural(structure, inputs=["La"])
    with pytest.raises(FormulationError, match=r"Did you mean 'b2\.flow'"):
        structural(structure, outputs=["b2.flwo"])


@quick
@given(plain_graphs(), st.data())
def test_ranks_on_random_graphs(graph: Plain, data: st.DataObject) -> None:
    """N less the rank of (A B), or of (A; C), of the descriptor form is what the causality says is lacking."""
    assume(degree(graph) is not None)
    bonds = [name for name, _, _ in graph.bonds]
    number = data.draw(st.integers(0, len(bonds) - 1))
    what = data.draw(st.sampled_from(["effort", "flow"]))
    found = structural(open_graph(graph.model()), outputs=[f"{bonds[number]}.{what}"])
    _, a, b = descriptor(graph)
    row = np.zeros((1, len(a)))
    row[0, number + (len(bonds) if what == "flow" else 0)] = 1.0
    lacking = [len(a) - np.linalg.matrix_rank(each, tol=1e-9) for each in (np.hstack([a, b]), np.vstack([a, row]))]
    assert [found.order - found.controllability_rank, found.order - found.observability_rank] == lacking


@quick
@given(plain_graphs())
def test_modes_on_random_graphs(graph: Plain) -> None:
    """Controllable in structure: (s E - A, B) has full rank at all finite poles, for values without coincidence."""
    order = degree(graph)
    assume(order is not None)
    found = structural(open_graph(graph.model()))
    e, a, b = descriptor(graph)
    poles = scipy.linalg.eig(a, e, right=False)
    finite = [0.0, *(pole for pole in poles if np.isfinite(pole) and abs(pole) < 1e3)]
    full = all(np.linalg.matrix_rank(np.hstack([s * e - a, b]), tol=1e-7) == len(a) for s in finite)
    assert full == found.controllable
