"""Causality: textbook graphs, and its rules on random graphs against equations that numpy alone writes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

import cotree.bond as bond
from _cases import random_cases
from bond.mechanics.pairs import PAIRS, Pair
from bond.random_graphs import Plain, degree, plain_graphs
from bond.textbook import TEXTBOOK, build
from cotree.bond.causality import Causality, assign
from cotree.bond.equations import bond_equations
from cotree.bond.opening import open_graph
from cotree.bond.structure import component_names
from cotree.errors import FormulationError

quick = random_cases(20, 60)


def causality(name: str) -> Causality:
    return assign(open_graph(TEXTBOOK[name].make()))


@pytest.mark.parametrize("name", TEXTBOOK)
def test_textbook_causality(name: str) -> None:
    known, found = TEXTBOOK[name], causality(name)
    assert found.order == known.order
    assert found.integral == known.integral
    assert found.derivative == known.derivative
    assert {key: found.strokes[key] for key in known.strokes} == known.strokes
    kinds = [loop.kind for loop in found.loops]
    assert (kinds.count("algebraic"), kinds.count("derivative")) == (known.algebraic, known.derivative_loops)
    assert [conflict.kind for conflict in found.conflicts] == ([] if known.solvable else ["sources"])


@pytest.mark.parametrize("name", [name for name, known in TEXTBOOK.items() if known.solvable])
def test_textbook_order_is_that_of_the_equations(name: str) -> None:
    known = TEXTBOOK[name]
    assert len(known.make().equations().u) == known.order


@pytest.mark.parametrize("name", [name for name, known in TEXTBOOK.items() if known.matrix])
def test_textbook_state_matrix(name: str) -> None:
    known = TEXTBOOK[name]
    linear = known.make().linearise()
    expected = np.array(known.matrix)
    np.testing.assert_allclose(
        np.sort_complex(linear.poles()), np.sort_complex(np.linalg.eigvals(expected)), rtol=1e-10
    )
    owners = ["".join(state.split(".momentum")).replace(".displacement", "") for state in linear.states]
    place = [owners.index(part) for part in known.integral]
    np.testing.assert_allclose(linear.A[np.ix_(place, place)], expected, rtol=1e-10, atol=1e-12)


def test_the_bridge_splits_its_voltage_as_kirchhoff_says() -> None:
    """Nodal analysis: G v = i with the conductances of the five resistors."""
    solution = TEXTBOOK["wheatstone_bridge"].make().simulate(1.0)
    conductance = np.array([[1 + 1 / 2 + 1 / 5, -1 / 5], [-1 / 5, 1 / 3 + 1 / 4 + 1 / 5]])
    v = np.linalg.solve(conductance, [10.0, 10.0 / 3])
    np.testing.assert_allclose([solution["R2.effort"][-1], solution["R4.effort"][-1]], v, rtol=1e-12)
    np.testing.assert_allclose(solution["V.flow"][-1], (10 - v[0]) + (10 - v[1]) / 3, rtol=1e-12)


def test_a_driven_mass_needs_the_rate_of_its_source() -> None:
    solution = TEXTBOOK["driven_mass"].make().simulate(1.0)
    t = np.asarray(solution.t)
    np.testing.assert_allclose(solution["m.effort"], 4.0 * 2.0 * np.cos(2 * t), rtol=1e-10, atol=1e-10)


# -- reasons -----------------------------------------------------------------------------------------------------------


def test_reasons_read_as_sentences() -> None:
    told = [str(reason) for reason in causality("dc_motor").reasons]
    assert told == [
        "Se 'V' sets the effort of b1",
        "Se 'load' sets the effort of b8",
        "I 'La' in integral causality sets the flow of b3",
        "junction 'i': b3 sets its flow, so b2, b4 receive it",
        "GY 'K' takes the flow of b4 and sets the effort of b5",
        "I 'J' in integral causality sets the flow of b6",
        "junction 'w': b6 sets its flow, so b7 receives it",
    ]


def test_every_stroke_has_one_reason() -> None:
    for name in TEXTBOOK:
        found = causality(name)
        told = [(bond, k) for reason in found.reasons for bond, k, _ in reason.strokes]
        assert sorted(told) == sorted(found.by_atom)
        assert all(found.components[bond][k] == end for reason in found.reasons for bond, k, end in reason.strokes)


def test_text_names_what_is_forced_and_what_loops() -> None:
    assert "Derivative causality: J2, forced by I 'J1'." in str(causality("geared_inertias"))
    assert "Algebraic loop through 1 'i1', R 'R1', 0 'v', R 'R2' (b2, b3, b4)." in causality("resistive_divider").text()
    assert "explicit state equations" in causality("series_rlc").text()


def test_two_capacitors_and_a_source_name_both() -> None:
    parts = [bond.Se("V", effort=1.0), bond.Junction0("v"), bond.C("A", compliance=1.0), bond.C("B", compliance=2.0)]
    found = assign(open_graph(build("caps", parts, "b1: V -> v", "b2: v -> A", "b3: v -> B")))
    assert found.derivative == {"A": ("V",), "B": ("V",)}


# -- sources in conflict -----------------------------------------------------------------------------------------------


def test_two_flow_sources_are_told_by_bond_and_refused() -> None:
    model = TEXTBOOK["two_flow_sources"].make()
    (conflict,) = assign(open_graph(model)).conflicts
    assert (conflict.kind, conflict.bond, set(conflict.elements)) == ("sources", "b3", {"A", "B"})
    with pytest.raises(FormulationError, match=r"A.*B|B.*A"):
        bond_equations(model)


def test_two_effort_sources_through_a_transformer_are_told_and_refused() -> None:
    parts = [bond.Se("A", effort=1.0), bond.TF("T", modulus=2.0), bond.Se("B", effort=1.0)]
    model = build("conflict", parts, "b1: A -> T", "b2: T -> B")
    found = assign(open_graph(model))
    assert [(each.kind, each.bond, set(each.elements)) for each in found.conflicts] == [("sources", "b2", {"A", "B"})]
    with pytest.raises(FormulationError, match=r"b2|b1"):
        bond_equations(model)


def test_what_can_be_solved_has_no_sources_in_conflict() -> None:
    for name, known in TEXTBOOK.items():
        if known.solvable:
            assert all(conflict.kind != "sources" for conflict in causality(name).conflicts)


def test_unknown_preference() -> None:
    with pytest.raises(FormulationError, match="'integral' or 'derivative'"):
        assign(open_graph(TEXTBOOK["series_rlc"].make()), prefer="any")


# -- multibonds --------------------------------------------------------------------------------------------------------


def test_one_bond_may_be_mixed() -> None:
    """A mass that is driven in one direction and free in the other."""
    parts = [
        bond.Junction1("v", width=2), bond.I("m", inertia=[1.0, 1.0]), bond.Split("s", parts=(1, 1)),
        bond.Sf("drive", flow=1.0), bond.Se("force", effort=2.0),
    ]  # fmt: skip
    found = assign(
        open_graph(build("mixed", parts, "b1: v -> m", "b2: s.whole -> v", "b3: drive -> s.1", "b4: force -> s.2"))
    )
    assert found.components["b1"] == ("tail", "head")
    assert found.strokes["b2"] == "mixed"
    assert found.integral == ("m.c2",)
    assert found.derivative == {"m.c1": ("drive",)}
    assert any("b1.c1" in str(reason) for reason in found.reasons)
    assert not found.conflicts


def pendulum(driven: bool = False) -> Causality:
    """A point mass on a massless arm about z: v = w x r, with a pivot that holds it."""
    parts = [
        bond.Junction1("v", width=3), bond.I("m", inertia=[1.0, 1.0, 1.0]), bond.Junction0("pin", width=3),
        bond.Sf("pivot", flow=[0.0, 0.0, 0.0]), bond.TF("arm", modulus=[[0, 2, -1], [-2, 0, 3], [1, -3, 0]]),
        bond.Junction1("w", width=3), bond.I("J", inertia=[1.0, 2.0, 3.0]),
    ]  # fmt: skip
    bonds = ["b1: v -> m", "b2: v -> pin", "b3: pivot -> pin", "b4: w -> arm", "b5: arm -> pin", "b6: w -> J"]
    return assign(open_graph(build("pendulum", parts, *bonds)))


def test_flow_goes_forwards_through_a_cross_product() -> None:
    """The mass comes first in the graph, but r x has no inverse: the rotation is free and the mass follows."""
    found = pendulum()
    assert found.integral == ("J.x", "J.y", "J.z")
    assert found.derivative == dict.fromkeys(("m.x", "m.y", "m.z"), ("pivot", "J"))
    assert (found.strokes["b4"], found.strokes["b5"]) == ("tail", "tail")
    assert [loop.kind for loop in found.loops] == ["derivative"]


def test_a_rotation_passes_flow_both_ways() -> None:
    turn = [[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]
    parts = [
        bond.Sf("drive", flow=[1.0, 0.0, 0.0]), bond.TF("turn", modulus=turn), bond.I("m", inertia=[1.0, 1.0, 1.0]),
        bond.Junction1("v", width=3),
    ]  # fmt: skip
    forwards = assign(open_graph(build("turned", parts, "b1: drive -> turn", "b2: turn -> v", "b3: v -> m")))
    assert set(forwards.derivative) == {"m.x", "m.y", "m.z"}
    backwards = assign(open_graph(build("turned", parts, "b1: v -> turn", "b2: turn -> drive", "b3: v -> m")))
    assert backwards.derivative == forwards.derivative
    assert not forwards.conflicts
    assert not backwards.conflicts


FREEDOMS = {
    "pendulum": 1, "spherical_pendulum": 3, "double_pendulum": 2, "prismatic": 2, "cylindrical": 2, "universal": 3,
    "free_and_welded": 6, "four_bar": 1, "slider_crank": 1, "spatial_loop": 1,
}  # fmt: skip
"""Degrees of freedom of mechanisms by counting: 6 for each body, less what the joints take."""
REDUNDANT = {"four_bar": 3, "slider_crank": 3}
"""Constraints of planar loops in space that say nothing new: two rotations and one translation out of the plane."""


@pytest.mark.parametrize("make", PAIRS, ids=lambda make: make.__name__)
def test_mechanisms_have_an_inertia_for_each_freedom(make: Callable[[], Pair]) -> None:
    structure = open_graph(make().graph)
    found = assign(structure)
    parts = [component_names(v.name, structure.width(v.name)) for v in structure.vertices.values() if v.letter == "I"]
    assert len({each for names in parts for each in names} & set(found.integral)) == FREEDOMS[make.__name__]
    assert {conflict.kind for conflict in found.conflicts} <= {"closure"}
    reversed_ones = 0
    for name, vertex in structure.vertices.items():
        if vertex.letter == "Sf":
            (line,) = structure.around[name]
            own = "head" if line.enters(name) else "tail"
            reversed_ones += sum(end != own for end in found.components[line.name])
    assert reversed_ones == REDUNDANT.get(make.__name__, 0)


def test_a_gyristor_gives_effort() -> None:
    """Euler's equations (Filippini 2007, fig. 1): the rotor sets its spin, and the gyristor answers with a torque."""
    parts = [
        bond.Junction1("w", width=3), bond.I("J", inertia=[1.0, 2.0, 3.0]),
        bond.MGR("euler", modulus=["J.momentum.x", "J.momentum.y", "J.momentum.z"]),
    ]  # fmt: skip
    found = assign(open_graph(build("rotor", parts, "b1: w -> J", "b2: w -> euler")))
    assert found.strokes == {"b1": "head", "b2": "tail"}
    assert found.integral == ("J.x", "J.y", "J.z")
    assert not found.loops


def test_a_source_that_measures_its_own_effect_is_a_loop() -> None:
    """A modulated source on a resistor that needs the current of that resistor."""
    parts = [bond.MSe("V", effort="2 - 3*j.flow"), bond.Junction1("j"), bond.R("R", resistance=1.0)]
    found = assign(open_graph(build("feedback", parts, "b1: V -> j", "b2: j -> R")))
    assert [loop.kind for loop in found.loops] == ["algebraic"]
    assert "V" in found.loops[0].elements


# -- random graphs -----------------------------------------------------------------------------------------------------


def setters(found: Causality, junction: str, k: int) -> int:
    """How many bonds set the flow of a 1-junction, or the effort of a 0-junction."""
    letter = found.structure.vertices[junction].letter
    at = 0
    for line in found.structure.lines.values():
        for end, (vertex, _) in (("tail", line.tail), ("head", line.head)):
            if vertex == junction:
                at += (found.components[line.name][k] == end) == (letter == "0")
    return at


@quick
@given(plain_graphs(loops=True))
def test_every_component_has_one_stroke_and_every_junction_one_setter(graph: Plain) -> None:
    found = assign(open_graph(graph.model()))
    assert {name: len(ends) for name, ends in found.components.items()} == {name: 1 for name, _, _ in graph.bonds}
    assert {end for ends in found.components.values() for end in ends} <= {"head", "tail"}
    told = [(bond, k) for reason in found.reasons for bond, k, _ in reason.strokes]
    assert sorted(told) == sorted(found.by_atom)
    broken = {conflict.vertex for conflict in found.conflicts}
    for junction in graph.of("0", "1"):
        if junction not in broken:
            assert setters(found, junction, 0) == 1
    for name in graph.of("Se", "Sf"):
        if name not in broken:
            (line,) = found.structure.around[name]
            own = "tail" if line.tail[0] == name else "head"
            assert (found.strokes[line.name] == own) == graph.vertices[name][0].startswith("Sf")
    for name in graph.of("TF", "GY"):
        ends = [
            found.strokes[line.name] == ("head" if line.enters(name) else "tail")
            for line in found.structure.around[name]
        ]
        if name not in broken:
            assert len(set(ends)) == (2 if graph.vertices[name][0] == "TF" else 1)


@quick
@given(plain_graphs())
def test_the_order_is_the_degree_of_the_equations(graph: Plain) -> None:
    """det(s E - A), from numpy alone: its degree is the order, and it vanishes where sources are in conflict."""
    found = assign(open_graph(graph.model()))
    assert len(found.integral) + len(found.derivative) == len(graph.of("I", "C"))
    expected = degree(graph)
    assert (expected is None) == bool(found.conflicts)
    if expected is not None:
        assert found.order == expected
    else:
        assert {conflict.kind for conflict in found.conflicts} == {"sources"}


@quick
@given(plain_graphs(sources=False))
def test_no_sources_no_conflict(graph: Plain) -> None:
    found = assign(open_graph(graph.model()))
    assert not found.conflicts
    assert found.order == degree(graph)
