"""Random networks of R, L, C, V, I against modified nodal analysis: modes, frequency response and time histories."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import cotree
from _cases import random_cases
from cotree.errors import FormulationError, SolveError
from cotree.graph import sample_tree
from formulation.mna import Mna, Part, model_of, worst_difference
from formulation.random_networks import coupled_networks, one_port_networks

FEW = random_cases(20, 60)
FEWER = random_cases(8, 25)


def proper_outputs(model: cotree.Model, witness: Mna) -> cotree.solve.LinearSystem:
    """The linearisation with all outputs that hold no rate of a source; the witness must agree on each one left out."""
    names = list(witness.outputs)
    while True:
        try:
            return model.linearise(outputs=names)
        except SolveError as error:
            out = next(name for name in names if error.found.startswith(f"{name} "))
            far = [np.abs(witness.transfer([out], w)).max() for w in (1e4, 1e5)]
            assert far[1] / far[0] > 5, f"{out} was refused but does not grow with frequency: {error}"  # noqa: PT017
            names.remove(out)


def agrees_in_frequency(model: cotree.Model, witness: Mna) -> None:
    system = proper_outputs(model, witness)
    poles = witness.poles()
    assert len(system.states) == len(poles), (system.states, poles)
    for omega in (0.31, 1.27, 6.1):
        assume(all(abs(1j * omega - pole) > 1e-3 for pole in poles))
        ours = system.frequency_response([omega])[0]
        exact = witness.transfer(system.outputs, omega)
        np.testing.assert_allclose(ours, exact, rtol=1e-8, atol=1e-8 * max(1.0, np.abs(exact).max(initial=0.0)))


@FEW
@given(one_port_networks())
def test_frequency_response_and_number_of_states(parts: list[Part]) -> None:
    agrees_in_frequency(model_of(parts), Mna(parts))


def simulated_as_nodal_analysis(parts: list[Part], seed: int) -> None:
    witness = Mna(parts)
    assume(all(abs(1j * part.value.omega - pole) > 1e-2 for part in witness.sources for pole in witness.poles()))
    model = model_of(parts)
    tree = sample_tree(model.graph(), seed)
    sol = model.simulate(t_end=1.5, points=4, rtol=1e-10, atol=1e-12, tree=tree)
    exact = witness.solve(sol.t, {name: float(sol[name][0]) for name in sol.states}, witness.outputs)
    assert worst_difference(sol, exact) < 1e-7
    powers = np.array([sol[name] for name in sol if name.endswith(".power")])
    np.testing.assert_allclose(powers.sum(axis=0), 0.0, atol=1e-9 * max(1.0, np.abs(powers).max()))


@FEWER
@given(one_port_networks(), st.integers(0, 99))
def test_time_histories_in_a_random_tree(parts: list[Part], seed: int) -> None:
    simulated_as_nodal_analysis(parts, seed)


def solvable(witness: Mna) -> bool:
    """Whether the pencil is regular with index at most 2, clearly."""
    regular = all(np.linalg.cond(1j * w * witness.E + witness.K) < 1e10 for w in (0.77, 2.9))
    return regular and witness.growth() <= 1


@FEW
@given(coupled_networks())
def test_coupled_networks_are_solved_or_refused_as_the_pencil_says(parts: list[Part]) -> None:
    witness = Mna(parts)
    model = model_of(parts)
    if solvable(witness):
        agrees_in_frequency(model, witness)
        return
    try:
        model.equations()
    except FormulationError as error:
        assert any(part.name in str(error) for part in parts) or "leave some variables free" in str(error)  # noqa: PT017
    else:
        raise AssertionError("a network without a unique solution of index 2 was accepted")


@FEWER
@given(coupled_networks(), st.integers(0, 99))
def test_time_histories_of_coupled_networks_in_a_random_tree(parts: list[Part], seed: int) -> None:
    assume(solvable(Mna(parts)))
    simulated_as_nodal_analysis(parts, seed)


# Powers of ten around which the values of each kind are spread, and how far: milliohm to gigaohm, picofarad to farad.
DECADES = {"R": (4.5, 4.5), "L": (-4.0, 4.0), "C": (-8.0, 4.0), "T": (0.0, 2.0), "G": (4.5, 4.0)}


@FEWER
@given(coupled_networks(), st.lists(st.floats(-1.0, 1.0), min_size=20, max_size=20))
def test_number_of_states_does_not_depend_on_units(parts: list[Part], spread: list[float]) -> None:
    """A gyrator with both ports at the same nodes is left out: its currents cancel, and eight decades below them a
    resistor is taken for their rounding."""
    assume(solvable(Mna(parts)) and all(part.kind != "M" for part in parts))
    assume(not any(part.kind == "G" and {*part.nodes[:2]} == {*part.nodes[2:]} for part in parts))
    wide = [
        replace(part, value=part.value * 10 ** (DECADES[part.kind][0] + DECADES[part.kind][1] * by))
        if part.kind in DECADES
        else part
        for part, by in zip(parts, cycle(spread), strict=False)
    ]
    assert len(model_of(wide).equations().u) == len(model_of(parts).equations().u)
