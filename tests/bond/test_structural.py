"""Structural order, paths, controllability and observability against matrices that numpy alone writes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import assume, given
from hypothesis import strategies as st

import cotree.bond as bond
from _cases import random_cases
from bond.random_graphs import Plain, degree, descriptor, plain_graphs
from bond.textbook import TEXTBOOK, build
from cotree import Model
from cotree.bond.equations import bond_equations
from cotree.bond.opening import open_graph
from cotree.bond.signal_ranks import signal_ranks
from cotree.bond.structural import structural
from cotree.errors import FormulationError

quick = random_cases(13, 40)
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


@quick
@given(plain_graphs(), st.data())
def test_the_descriptor_form_finds_what_causality_finds(graph: Plain, data: st.DataObject) -> None:
    """On graphs without signals both ways must agree; they share no step."""
    assume(degree(graph) is not None)
    name, _, _ = data.draw(st.sampled_from(graph.bonds))
    output = f"{name}.{data.draw(st.sampled_from(['effort', 'flow']))}"
    structure = open_graph(graph.model())
    causal = structural(structure, outputs=[output])
    found = signal_ranks(structure, causal.inputs, [output], ())
    assert found is not None
    assert len(found.states) == causal.order
    assert (found.controllability_rank, found.observability_rank) == (
        causal.controllability_rank,
        causal.observability_rank,
    )
    assert (not found.unsteered, not found.untold) == (causal.controllable, causal.observable)


def follower(effort: str = "2*m1.flow", sensor: str = "m2") -> Model:
    """m1 f1' = F; m2 f2' = effort - r f2."""
    parts = [
        bond.Se("F", effort=1.0), bond.Junction1("w1"), bond.I("m1", inertia=1.0), bond.MSe("u", effort=effort),
        bond.Junction1("w2"), bond.I("m2", inertia=3.0), bond.R("r", resistance=1.0),
        bond.Sensor("y", of=sensor, measures="flow"),
    ]  # fmt: skip
    return build("follower", parts, "b1: F -> w1", "b2: w1 -> m1", "b3: u -> w2", "b4: w2 -> m2", "b5: w2 -> r")


def test_signals_count_in_the_ranks() -> None:
    """p' = (0 0; 2 -1/3) p + (1; 0) F: controllable, and observable by f2 = p2/3."""
    a, b, c = np.array([[0, 0], [2, -1 / 3]]), np.array([[1], [0]]), np.array([[0, 1 / 3]])
    assert np.linalg.matrix_rank(np.hstack([b, a @ b])) == np.linalg.matrix_rank(np.vstack([c, c @ a])) == 2
    found = structural(open_graph(follower()))
    assert (found.order, found.inputs) == (2, ("F",))
    assert found.controllable
    assert found.observable
    assert (found.controllability_rank, found.observability_rank) == (2, 2)
    assert "Signals act in this graph" in found.text()


def test_a_signal_runs_one_way() -> None:
    """m1 does not feel m2: the sensor on m1 sees m1 only; c = (1 0) with a above has rank 1."""
    found = structural(open_graph(follower(sensor="m1")))
    assert found.controllable
    assert not found.observable
    assert found.unseen == ("m2",)
    assert "m2: reach no sensor by a causal path or a signal." in found.text()


def test_a_source_that_follows_a_signal_is_no_input() -> None:
    """Without F nothing but feedback is left."""
    model = build(
        "feedback", [bond.MSe("u", effort="-2*m.flow"), bond.Junction1("w"), bond.I("m", inertia=1.0),
                     bond.C("k", stiffness=1.0)], "b1: u -> w", "b2: w -> m", "b3: w -> k",
    )  # fmt: skip
    found = structural(open_graph(model))
    assert found.inputs == ()
    assert set(found.unreached) == {"k", "m"}


def test_integrators_are_states() -> None:
    """A mass under PID control with a load d: x' = p/m, p' = 3 (1 - x) + s - p/m + d, s' = 1 - x: order 3."""
    parts = [
        bond.MSe("u", effort="3*(1 - x.value) + s.value - m.flow"), bond.Junction1("w"), bond.I("m", inertia=1.0),
        bond.Se("d", effort=0.1), bond.Sensor("x", of="w", measures="displacement"),
        bond.Integrator("s", input="1 - x.value", initial=0.0),
    ]  # fmt: skip
    model = build("pid", parts, "b1: u -> w", "b2: w -> m", "b3: d -> w")
    found = structural(open_graph(model))
    states = bond_equations(model)
    assert found.order == len(states.u) + len(states.q) == 3
    assert found.controllable
    assert found.observable


def test_a_mode_behind_feedback_that_nothing_steers_is_named() -> None:
    """Two integrators of one signal: their difference is constant, so (A B) lacks one rank of three."""
    parts = [
        bond.Se("F", effort=1.0), bond.Junction1("w"), bond.I("m", inertia=2.0),
        bond.MSe("u", effort="-a.value - b.value"),
        bond.Integrator("a", input="m.flow", initial=0.0), bond.Integrator("b", input="m.flow", initial=0.0),
    ]  # fmt: skip
    found = structural(open_graph(build("twins", parts, "b1: F -> w", "b2: w -> m", "b3: u -> w")))
    assert (found.order, found.controllability_rank) == (3, 2)
    assert not found.controllable
    assert len(found.uncontrolled) == 1
    assert found.uncontrolled[0] in ("a", "b")


def test_positions_are_held_and_said_so() -> None:
    """A pendulum: the weight is no input, and a 'no' is not claimed where positions act."""
    model = Model("pendulum", gravity=(0.0, 0.0, -9.81))
    mechanics = bond.mechanics
    model.add(mechanics.Ground("G"))
    model.add(mechanics.RevoluteJoint("J", axis="y"))
    model.add(mechanics.Body("B", mass=1.0, inertia=(0.1, 0.1, 0.1), frames={"p": (-1.0, 0.0, 0.0)}))
    model.add(bond.Sensor("y", of="B.m", measures="flow"))
    model.add(bond.Bond("b1", "G", "J.a"))
    model.add(bond.Bond("b2", "J.b", "B.p"))
    found = structural(open_graph(model))
    assert found.inputs == ()
    assert found.partial
    assert "with all positions held" in found.text()
    assert "Structurally observable: no;" not in found.text()


ENTRY = st.sampled_from([0.0, 0.0, 0.0, 0.37, -0.83, 1.31, -1.7])


@quick
@given(st.integers(1, 4).flatmap(lambda n: st.tuples(
    st.lists(st.lists(ENTRY, min_size=n, max_size=n), min_size=n, max_size=n),
    st.lists(ENTRY, min_size=n, max_size=n), st.lists(ENTRY, min_size=n, max_size=n))))  # fmt: skip
def test_integrators_that_act_on_each_other(system: tuple[list[list[float]], list[float], list[float]]) -> None:
    """x' = A x + b F and y = c x by signals alone: the ranks of Kalman's matrices and of (A B), (A; C)."""
    a, b, c = (np.array(each) for each in system)
    assume(c.any())
    names = [f"x{k}" for k in range(len(a))]

    def sum_of(row: np.ndarray) -> str:
        return " + ".join(f"({value!r})*{name}.value" for name, value in zip(names, row.tolist(), strict=True))

    parts = [
        bond.Se("F", effort=1.0), bond.R("load", resistance=1.0), bond.R("out", resistance=1.0),
        bond.MSe("y", effort=sum_of(c)),
        *(bond.Integrator(name, input=f"{sum_of(row)} + ({gain!r})*F.flow", initial=0.0)
          for name, row, gain in zip(names, a, b.tolist(), strict=True)),
    ]  # fmt: skip
    found = structural(open_graph(build("signals", parts, "b1: F -> load", "b2: y -> out")), outputs=["out.flow"])
    steered = [np.linalg.matrix_power(a, k) @ b for k in range(len(a))]
    told = [c @ np.linalg.matrix_power(a, k) for k in range(len(a))]
    assert (found.order, found.inputs) == (len(a), ("F",))
    assert found.controllable == (np.linalg.matrix_rank(np.array(steered), tol=1e-9) == len(a))
    assert found.observable == (np.linalg.matrix_rank(np.array(told), tol=1e-9) == len(a))
    assert found.controllability_rank == np.linalg.matrix_rank(np.column_stack([a, b]), tol=1e-9)
    assert found.observability_rank == np.linalg.matrix_rank(np.vstack([a, c]), tol=1e-9)
    never = ~np.any(np.abs(np.array(steered)) > 1e-12, axis=0)
    assert found.unreached == tuple(name for name, each in zip(names, never, strict=True) if each)
