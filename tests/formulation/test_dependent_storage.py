"""Storages tied to each other or to sources: closed forms, start values, linearisation."""

from __future__ import annotations

import numpy as np
import pytest

import cotree
from cotree import Capacitor, CurrentSource, Gyrator, Inductor, Resistor, Transformer, VoltageSource
from cotree.errors import FormulationError, SolveError

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def network(*components: object, **options: object) -> cotree.Model:
    m = cotree.Model("network", **options)
    for component in components:
        m.add(component)
    return m


def test_two_inertias_on_a_gear_move_as_one() -> None:
    """w_1 = n w_2: the torque on shaft 1 sees J_1 + J_2 / n^2."""
    r, n = cotree.rotational, 3.0
    m = network(
        r.TorqueSource("T", ("ground", "one"), torque=2.0),
        r.Inertia("J1", ("one", "ground"), inertia=0.5),
        r.Gear("G", ("one", "ground"), ("two", "ground"), ratio=n),
        r.Inertia("J2", ("two", "ground"), inertia=4.0),
    )
    equations = m.equations()
    assert len(equations.u) == 1
    assert any("dependent storage" in note for note in equations.notes)
    sol = m.simulate(t_end=2.0, points=5, **TIGHT)
    effective = 0.5 + 4.0 / n**2
    np.testing.assert_allclose(sol["one.angular_velocity"], 2.0 * sol.t / effective, atol=1e-9)
    np.testing.assert_allclose(sol["two.angular_velocity"], 2.0 * sol.t / effective / n, atol=1e-9)
    np.testing.assert_allclose(sol["one.angle"], sol.t**2 / effective, atol=1e-9)
    np.testing.assert_allclose(sol["J2.torque"], 4.0 / n * 2.0 / effective, rtol=1e-9)
    assert sol.energy().error < 1e-8


def test_inductor_behind_a_gyrator_is_a_capacitor() -> None:
    """A gyrator of r ohm ended by L looks like C = L / r^2; in parallel with a capacitor both share one state."""
    m = network(
        CurrentSource("I", ("ground", "a"), current="sin(t)"),
        Capacitor("C", ("a", "ground"), capacitance=0.3),
        Gyrator("G", ("a", "ground"), ("b", "ground"), resistance=2.0),
        Inductor("L", ("b", "ground"), inductance=1.2),
    )
    assert len(m.equations().u) == 1
    sol = m.simulate(t_end=3.0, points=13, **TIGHT)
    np.testing.assert_allclose(sol["a.voltage"], (1 - np.cos(sol.t)) / (0.3 + 1.2 / 4.0), atol=1e-9)


def capacitor_divider(**initial: float) -> cotree.Model:
    """V drives C1 and C2 in series, R over C2: (C1 + C2) v' = C1 V' - v / R for v over C2."""
    more = {name: {"initial": value} for name, value in initial.items()}
    return network(
        VoltageSource("V", ("a", "ground"), voltage="2 + sin(3*t)"),
        Capacitor("C1", ("a", "b"), capacitance=0.4, **more.get("C1", {})),
        Capacitor("C2", ("b", "ground"), capacitance=0.6, **more.get("C2", {})),
        Resistor("R", ("b", "ground"), resistance=2.0),
    )


def divider_voltage(t: np.ndarray, start: float, t0: float = 0.0) -> np.ndarray:
    """v' = 0.4 * 3 cos(3 t) - v / 2: a particular sinusoid and exp(-t / 2)."""
    response = 1.2 / (3j + 0.5)
    particular = lambda t: np.real(response * np.exp(3j * t))  # noqa: E731
    return particular(t) + (start - particular(t0)) * np.exp(-(t - t0) / 2)


@pytest.mark.parametrize(
    ("given", "c2"), [({}, None), ({"C1": 0.5}, 1.5), ({"C2": 0.7}, 0.7), ({"C1": 1.3, "C2": 0.7}, 0.7)]
)
def test_capacitor_loop_with_a_source_uses_the_rate_of_the_source(given: dict[str, float], c2: float | None) -> None:
    sol = capacitor_divider(**given).simulate(t_end=4.0, points=21, **TIGHT)
    start = sol["C2.voltage"][0] if c2 is None else c2
    assert sol["C2.voltage"][0] == pytest.approx(start, abs=1e-12)
    assert sol["C1.voltage"][0] == pytest.approx(2.0 - start, abs=1e-12)
    exact = divider_voltage(sol.t, start)
    np.testing.assert_allclose(sol["C2.voltage"], exact, atol=1e-9)
    np.testing.assert_allclose(sol["C1.current"], 0.4 * (3 * np.cos(3 * sol.t) - sol["C2.current"] / 0.6), atol=1e-8)
    np.testing.assert_allclose(sol["V.current"], -sol["C1.current"], atol=1e-10)
    assert sol.energy().error < 1e-8


@pytest.mark.parametrize("given", [{"C1": 0.5}, {"C2": 0.7}])
def test_start_values_are_completed_at_the_time_of_the_start(given: dict[str, float]) -> None:
    sol = capacitor_divider(**given).simulate(t_end=3.0, t_start=1.0, points=9, **TIGHT)
    source = 2 + np.sin(3.0)
    start = given.get("C2", source - given.get("C1", 0.0))
    assert sol["C2.voltage"][0] == pytest.approx(start, abs=1e-12)
    np.testing.assert_allclose(sol["C2.voltage"], divider_voltage(sol.t, start, 1.0), atol=1e-9)


def test_contradictory_start_values_are_refused() -> None:
    with pytest.raises(FormulationError, match="start value of C2") as caught:
        capacitor_divider(C1=0.5, C2=0.7).simulate(t_end=1.0)
    assert "C1" in str(caught.value)
    assert caught.value.remedy


def test_start_values_through_an_inductor_cutset() -> None:
    """Two inductors in series with a resistor share one current; either may be given."""

    def series(**more: dict[str, float]) -> cotree.Model:
        return network(
            Inductor("L1", ("a", "b"), inductance=0.2, **more.get("L1", {})),
            Inductor("L2", ("c", "b"), inductance=0.3, **more.get("L2", {})),
            Resistor("R", ("c", "ground"), resistance=2.0),
            Resistor("Q", ("a", "ground"), resistance=3.0),
        )

    for model in (series(L1={"initial": 1.5}), series(L2={"initial": -1.5})):
        sol = model.simulate(t_end=0.5, points=6, **TIGHT)
        np.testing.assert_allclose(sol["L1.current"], 1.5 * np.exp(-sol.t * 5.0 / 0.5), atol=1e-9)
        np.testing.assert_allclose(sol["L2.current"], -sol["L1.current"], atol=1e-12)
        np.testing.assert_allclose(sol["b.voltage"] - sol["a.voltage"], 0.2 * 10 * sol["L1.current"], atol=1e-9)
    with pytest.raises(FormulationError, match="start value"):
        series(L1={"initial": 1.5}, L2={"initial": 1.5}).simulate(t_end=0.1)


def test_linearisation_with_the_rate_of_the_source() -> None:
    """From V to C2: s C1 R / (1 + s (C1 + C2) R)."""
    system = capacitor_divider().linearise(outputs=["C2.voltage", "C1.voltage"])
    omega = np.array([0.1, 1.0, 7.0])
    exact = 1j * omega * 0.8 / (1 + 1j * omega * 2.0)
    response = system.frequency_response(omega)
    np.testing.assert_allclose(response[:, 0, 0], exact, rtol=1e-12)
    np.testing.assert_allclose(response[:, 1, 0], 1 - exact, rtol=1e-12)
    np.testing.assert_allclose(system.poles(), [-0.5], rtol=1e-12)


@pytest.mark.parametrize("capacitance", [1.0, 1e-6, 1e-12])
def test_an_output_with_the_rate_of_an_input_is_refused_not_dropped(capacitance: float) -> None:
    """i = C dV/dt has no place in C x + D s, however small the capacitance: at 1 GHz a picofarad is 160 ohm."""
    m = network(
        VoltageSource("V", ("a", "ground"), voltage="cos(t)"),
        Capacitor("C", ("a", "ground"), capacitance=capacitance),
        Resistor("R", ("a", "ground"), resistance=1.0),
    )
    with pytest.raises(SolveError, match=r"V\.current contains the rate"):
        m.linearise(outputs=["V.current"])


def test_jump_of_a_source_over_a_capacitor_is_refused_before_the_run() -> None:
    m = network(
        VoltageSource("V", ("a", "ground"), voltage="3*step(t - 0.5)"),
        Capacitor("C1", ("a", "b"), capacitance=1.0),
        Capacitor("C2", ("b", "ground"), capacitance=1.0),
    )
    with pytest.raises(SolveError, match=r"V\.voltage jumps from 0 to 3 at t = 0\.5 s") as caught:
        m.simulate(t_end=1.0)
    assert caught.value.solution is None
    assert "resistance" in caught.value.remedy


@pytest.mark.parametrize("text", ["sign(t - 1)", "2*step(sin(t) - 0.5)"])
def test_other_jumps_over_a_capacitor_are_not_taken_silently(text: str) -> None:
    """A sudden charge needs an infinite current; a run that hides it loses energy."""
    m = network(
        VoltageSource("V", ("a", "ground"), voltage=text),
        Capacitor("C", ("a", "ground"), capacitance=1.0),
        Resistor("R", ("a", "ground"), resistance=1.0),
    )
    with pytest.raises(cotree.CotreeError):
        m.simulate(t_end=3.0, points=11)


def test_a_ramp_over_a_capacitor_is_fine() -> None:
    m = network(
        VoltageSource("V", ("a", "ground"), voltage="ramp(t - 1) - ramp(t - 2)"),
        Capacitor("C", ("a", "ground"), capacitance=2.0),
    )
    sol = m.simulate(t_end=3.0, times=[0.5, 1.5, 2.5], **TIGHT)
    np.testing.assert_allclose(sol["C.current"], [0.0, 2.0, 0.0], atol=1e-12)


def test_transformer_with_capacitors_on_both_sides() -> None:
    """C_2 seen from the primary is C_2 / n^2."""
    n = 2.0
    m = network(
        CurrentSource("I", ("ground", "a"), current=1.0),
        Capacitor("C1", ("a", "ground"), capacitance=1.0, initial=0.6),
        Transformer("T", ("a", "ground"), ("b", "ground"), ratio=n),
        Capacitor("C2", ("b", "ground"), capacitance=8.0),
        Resistor("R", ("b", "ground"), resistance=5.0),
    )
    sol = m.simulate(t_end=2.0, points=9, **TIGHT)
    total, resistance = 1.0 + 8.0 / n**2, 5.0 * n**2
    exact = resistance + (0.6 - resistance) * np.exp(-sol.t / (resistance * total))
    np.testing.assert_allclose(sol["a.voltage"], exact, atol=1e-8)
    assert sol["b.voltage"][0] == pytest.approx(0.3, abs=1e-12)
