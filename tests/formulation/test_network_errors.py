"""Networks that have no answer: one message that names the parts and what to do, before any integration."""

from __future__ import annotations

import pytest

import cotree
from cotree import (
    Capacitor,
    CurrentSource,
    Diode,
    Inductor,
    MutualInductance,
    OperationalAmplifier,
    Resistor,
    RotationalEMF,
    Transformer,
    VoltageSource,
)
from cotree import hydraulic as h
from cotree import rotational as r
from cotree import thermal as th
from cotree import translational as x
from cotree.errors import CotreeError, FormulationError, GraphError, ModelError

G = "ground"


def model(*components: object, **options: object) -> cotree.Model:
    m = cotree.Model("wrong", **options)
    for component in components:
        m.add(component)
    return m


def refused(m: cotree.Model, kind: type[CotreeError], *words: str) -> CotreeError:
    """Both the equations and a run refuse, with the same one-line message that holds the words and a remedy."""
    with pytest.raises(kind) as caught:
        m.equations()
    with pytest.raises(kind) as again:
        m.simulate(t_end=1.0)
    message = str(caught.value)
    assert str(again.value) == message
    for word in words:
        assert word in message
    assert "\n" not in message
    assert caught.value.remedy or caught.value.expected
    return caught.value


LOOPS = {
    "voltage": [
        VoltageSource("V1", ("a", G), voltage=1.0),
        VoltageSource("V2", ("b", "a"), voltage=1.0),
        VoltageSource("V3", ("b", G), voltage="sin(t)"),
        Resistor("R", ("b", G), resistance=1.0),
    ],
    "velocity": [x.VelocitySource("V1", ("a", G), velocity=1.0), x.VelocitySource("V2", (G, "a"), velocity=1.0)],
    "angular velocity": [r.SpeedSource("V1", ("a", G), speed=1.0), r.SpeedSource("V2", ("a", G), speed=1.0)],
    "temperature": [
        th.TemperatureSource("V1", ("a", G), temperature=1.0),
        th.TemperatureSource("V2", ("a", G), temperature=1.0),
        th.Resistance("R", ("a", G), resistance=1.0),
    ],
    "pressure": [h.PressureSource("V1", ("a", G), pressure=1.0), h.PressureSource("V2", ("a", G), pressure=1.0)],
}


@pytest.mark.parametrize("word", LOOPS)
def test_loop_of_across_sources(word: str) -> None:
    names = [c.name for c in LOOPS[word] if c.name.startswith("V")]
    error = refused(model(*LOOPS[word]), FormulationError, *names, word, "loop")
    assert ("spring or a damper" if "velocity" in word else "resistance") in error.remedy


CUTSETS = {
    "current": [
        CurrentSource("I1", (G, "a"), current=1.0),
        CurrentSource("I2", ("a", G), current="t"),
        Resistor("R", ("b", G), resistance=1.0),
        CurrentSource("I3", ("a", "b"), current=1.0),
    ],
    "force": [x.ForceSource("I1", (G, "a"), force=1.0), x.ForceSource("I2", ("a", G), force=1.0)],
    "torque": [r.TorqueSource("I1", (G, "a"), torque=1.0), r.TorqueSource("I2", ("a", G), torque=1.0)],
    "heat flow": [th.HeatSource("I1", (G, "a"), heat_flow=1.0), th.HeatSource("I2", ("a", G), heat_flow=1.0)],
    "flow": [h.FlowSource("I1", (G, "a"), flow=1.0), h.FlowSource("I2", ("a", G), flow=1.0)],
}


@pytest.mark.parametrize("word", CUTSETS)
def test_cutset_of_through_sources(word: str) -> None:
    names = [c.name for c in CUTSETS[word] if c.name.startswith("I")]
    refused(model(*CUTSETS[word]), FormulationError, *names, word, "cutset")


def test_a_single_source_that_cannot_work() -> None:
    refused(
        model(CurrentSource("I", ("a", G), current=1.0), Resistor("R", ("b", G), resistance=1.0)), FormulationError, "I"
    )
    refused(
        model(VoltageSource("V", ("a", "a"), voltage=1.0), Resistor("R", ("a", G), resistance=1.0)),
        FormulationError,
        "V",
        "a",
    )


def test_source_loop_through_a_transformer() -> None:
    m = model(
        VoltageSource("V1", ("a", G), voltage=1.0),
        Transformer("T", ("a", G), ("b", G), ratio=2.0),
        VoltageSource("V2", ("b", G), voltage=1.0),
    )
    refused(m, FormulationError, "V2", "V1")


def test_source_loop_through_a_machine() -> None:
    m = model(
        VoltageSource("V1", ("a", G), voltage=1.0),
        RotationalEMF("K", ("a", G), ("s", G), constant=0.1),
        r.SpeedSource("W", ("s", G), speed=1.0),
    )
    refused(m, FormulationError, "W", "V1")


def test_part_that_floats() -> None:
    m = model(
        VoltageSource("V", ("a", G), voltage=1.0),
        Resistor("R", ("a", G), resistance=1.0),
        Resistor("lost1", ("p", "q"), resistance=1.0),
        Capacitor("lost2", ("p", "q"), capacitance=1.0),
    )
    error = refused(m, GraphError)
    assert any(node in str(error) for node in ("p", "q"))
    assert "datum" in str(error) or "ground" in str(error)


def test_no_datum_at_all() -> None:
    error = refused(model(Resistor("R", ("a", "b"), resistance=1.0)), GraphError)
    assert "ground" in str(error)


def test_secondary_side_with_its_own_datum() -> None:
    """The remedy for a floating part: one datum for each."""
    parts = [
        VoltageSource("V", ("a", G), voltage="sin(t)"),
        Transformer("T", ("a", G), ("p", "q"), ratio=2.0),
        Resistor("R", ("p", "q"), resistance=1.0),
    ]
    refused(model(*parts), GraphError)
    sol = model(*parts, datum=(G, "q")).simulate(t_end=1.0, points=3)
    assert sol["R.voltage"] == pytest.approx(sol["V.voltage"] / 2)


def test_dangling_resistor_is_no_error() -> None:
    m = model(
        VoltageSource("V", ("a", G), voltage=2.0),
        Resistor("R", ("a", G), resistance=1.0),
        Resistor("D", ("a", "b"), resistance=1.0),
    )
    sol = m.simulate(t_end=1.0, points=2)
    assert sol["b.voltage"] == pytest.approx(2.0)


def test_two_ideal_transformers_in_conflict() -> None:
    m = model(
        VoltageSource("V", ("a", G), voltage=1.0),
        Transformer("T1", ("a", G), ("b", G), ratio=2.0),
        Transformer("T2", ("a", G), ("b", G), ratio=3.0),
        Resistor("R", ("b", G), resistance=1.0),
    )
    error = refused(m, FormulationError)
    assert "T1" in str(error) or "T2" in str(error)


def test_two_equal_transformers_in_parallel_share_an_unknown_current() -> None:
    m = model(
        VoltageSource("V", ("a", G), voltage=1.0),
        Transformer("T1", ("a", G), ("b", G), ratio=2.0),
        Transformer("T2", ("a", G), ("b", G), ratio=2.0),
        Resistor("R", ("b", G), resistance=1.0),
    )
    error = refused(m, FormulationError)
    assert "T1" in str(error) or "T2" in str(error)


def test_operational_amplifier_without_feedback() -> None:
    m = model(
        VoltageSource("V", ("in", G), voltage=1.0),
        Resistor("R", ("in", "n"), resistance=1.0),
        Resistor("Rn", ("n", G), resistance=1.0),
        OperationalAmplifier("U", (G, "n"), ("out", G)),
        Resistor("RL", ("out", G), resistance=1.0),
    )
    refused(m, FormulationError, "U")


def test_operational_amplifier_whose_output_leads_nowhere() -> None:
    m = model(
        VoltageSource("V", ("in", G), voltage=1.0),
        OperationalAmplifier("U", ("in", G), ("out", G)),
        Resistor("R", ("in", G), resistance=1.0),
    )
    refused(m, FormulationError, "U")


def test_index_three_is_refused_with_its_remedy() -> None:
    """Two differentiators in a row: V sets v_C1, its current sets ... the second derivative of V."""
    m = model(
        VoltageSource("V", ("in", G), voltage="sin(t)"),
        Capacitor("C1", ("in", "n"), capacitance=1.0),
        Resistor("R1", ("n", "o"), resistance=1.0),
        OperationalAmplifier("U1", (G, "n"), ("o", G)),
        Capacitor("C2", ("o", "n2"), capacitance=1.0),
        Resistor("R2", ("n2", "o2"), resistance=1.0),
        OperationalAmplifier("U2", (G, "n2"), ("o2", G)),
    )
    error = refused(m, FormulationError, "second derivative")
    assert "C1" in str(error) or "C2" in str(error)
    assert "resistance" in error.remedy


def test_one_differentiator_is_solved() -> None:
    import numpy as np

    m = model(
        VoltageSource("V", ("in", G), voltage="sin(t)"),
        Capacitor("C1", ("in", "n"), capacitance=0.5),
        Resistor("R1", ("n", "o"), resistance=3.0),
        OperationalAmplifier("U1", (G, "n"), ("o", G)),
    )
    sol = m.simulate(t_end=2.0, points=5)
    np.testing.assert_allclose(sol["o.voltage"], -1.5 * np.cos(sol.t), atol=1e-9)


def test_values_out_of_range() -> None:
    for part, word in (
        (lambda: Resistor("R", ("a", G), resistance=-1.0), "R.resistance"),
        (lambda: Resistor("R", ("a", G), resistance=0.0), "positive"),
        (lambda: Capacitor("C", ("a", G), capacitance=-1e-6), "C.capacitance"),
        (lambda: Inductor("L", ("a", G), inductance=0.0), "L.inductance"),
        (lambda: Transformer("T", ("a", G), ("a", G), ratio=0.0), "T.ratio"),
        (
            lambda: Diode("D", ("a", G), saturation_current=0.0, thermal_voltage=0.1, leakage=0.0),
            "D.saturation_current",
        ),
        (lambda: x.Mass("m", ("a", G), mass=-1.0), "m.mass"),
        (lambda: th.Resistance("W", ("a", G), resistance="2 - 3"), "W.resistance"),
    ):
        with pytest.raises(ModelError, match=word):
            part()


def test_mutual_inductance_too_large() -> None:
    parts = {"primary_inductance": 1.0, "secondary_inductance": 4.0}
    for mutual in (2.0, -2.0, 5.0):
        m = model(MutualInductance("M", ("a", G), ("b", G), mutual=mutual, **parts))
        refused(m, ModelError, "M", "mutual", "2 H")


@pytest.mark.parametrize(
    "part",
    [
        x.Mass("m", ("a", "b"), mass=1.0),
        x.Mass("m", (G, "a"), mass=1.0),
        r.Inertia("m", ("a", "b"), inertia=1.0),
        th.Capacity("m", ("a", "b"), heat_capacity=1.0),
    ],
)
def test_masses_hang_on_the_datum(part: object) -> None:
    refused(model(part), ModelError, "m", "minus", "datum")


def test_node_that_joins_two_domains() -> None:
    m = model(Resistor("R", ("a", G), resistance=1.0), x.Damper("D", ("a", G), damping=1.0))
    refused(m, ModelError, "'a'", "R", "D", "electrical", "translational")


def test_node_named_as_a_component_or_its_port() -> None:
    refused(model(Resistor("a", ("a", G), resistance=1.0)), ModelError, "'a'")
    m = model(
        VoltageSource("V", ("T.primary", G), voltage=1.0),
        Resistor("R", ("T.primary", "b"), resistance=1.0),
        Transformer("T", ("b", G), ("c", G), ratio=2.0),
        Resistor("Q", ("c", G), resistance=1.0),
    )
    refused(m, ModelError, "T.primary")


def test_duplicate_names_and_missing_values() -> None:
    m = model(Resistor("R", ("a", G), resistance=1.0))
    with pytest.raises(ModelError, match="'R' is used twice"):
        m.add(Capacitor("R", ("a", G), capacitance=1.0))
    for make, place in (
        (lambda: Resistor("R", ("a", G)), "R.resistance"),
        (lambda: VoltageSource("V", ("a", G)), "V.voltage"),
        (lambda: x.Mass("m", ("a", G)), "m.mass"),
        (lambda: Transformer("T", ("a", G), ("b", G)), "T.ratio"),
    ):
        with pytest.raises(ModelError, match="no value is given") as caught:
            make()
        assert caught.value.where == place
    with pytest.raises(ModelError, match="no components"):
        cotree.Model("empty").simulate(t_end=1.0)
    with pytest.raises(ModelError, match="not a component"):
        m.add("R2")


def test_a_tree_of_another_model() -> None:
    small = model(VoltageSource("V", ("a", G), voltage=1.0), Resistor("R", ("a", G), resistance=1.0))
    large = model(
        VoltageSource("V", ("a", G), voltage=1.0),
        Resistor("R", ("a", "b"), resistance=1.0),
        Resistor("Q", ("b", G), resistance=1.0),
    )
    with pytest.raises(GraphError):
        large.simulate(t_end=1.0, tree=small.tree())
    with pytest.raises(GraphError):
        small.simulate(t_end=1.0, tree=large.tree())
