"""What bridges between networks and bond graphs refuse, and networks with odd ends and names."""

from __future__ import annotations

import pytest

import cotree
import cotree.bond as bond
from _samples import samples
from bond.test_network_bridge import EXAMPLES, MCPHEE
from cotree import Model, ModelError
from cotree.bond.from_network import network_bond_graph
from cotree.bond.network_table import PAIRS, PART_OF
from cotree.bond.to_network import bond_graph_network
from cotree.model import KINDS, Component
from formulation.mna import model_of

# -- what has no counterpart -------------------------------------------------------------------------------------------


NETWORK = {cls for cls in KINDS.values() if cls.ports and not (cls.mechanical or cls.nodal or cls.bonded)}
ALONE = NETWORK - PART_OF.keys() - {cotree.OperationalAmplifier}  # an amplifier becomes a part by itself
"""Components of machines, and whatever else has no counterpart among the parts of bond graphs."""
PAIRED = {
    "": "resistor capacitor inductor voltage_source current_source diode switch transformer gyrator rotational_emf "
    "translational_emf wheel piston",
    "hydraulic": "accumulator inertance resistance pressure_source flow_source",
    "rotational": "inertia spring damper speed_source torque_source gear",
    "thermal": "capacity resistance temperature_source heat_source",
    "translational": "mass spring damper velocity_source force_source lever",
}
"""Kinds that have a counterpart; a kind that is new may have one."""


@pytest.mark.parametrize("component", [c for c in samples() if type(c) in ALONE], ids=lambda each: each.kind)
def test_what_has_no_part_is_refused_by_name(component: Component) -> None:
    model = Model("machine")
    model.components[component.name] = component
    with pytest.raises(ModelError, match=component.name):
        network_bond_graph(model)


def test_scalar_components_have_their_parts() -> None:
    assert {
        KINDS[f"{room}.{word}".lstrip(".")] for room, words in PAIRED.items() for word in words.split()
    } <= PART_OF.keys()
    assert KINDS["mutual_inductance"] in PART_OF
    for pair in PAIRS:
        assert {f for f in pair.component.__dataclass_fields__ if f in pair.fields} == set(pair.fields)


HOLE = bond.hydraulic.Orifice("O", area=1, discharge=1, density=1, transition_pressure=1)
REFUSED = {
    "multibond": (
        [bond.Se("V", effort=[1, 2]), bond.R("R", resistance=1)], ["V > R"],
        r"bond b1 \(V -> R\): it is a multibond of width 2",
    ),
    "modulated by a signal": (
        [bond.Se("V", effort=1), bond.MR("R", resistance="1 + R.flow")], ["V > R"],
        r"R \(bond\.MR\): its modulation by R\.flow has no counterpart",
    ),
    "modulated by time": (
        [bond.Se("V", effort=1), bond.MR("R", resistance="1 + t")], ["V > R"],
        r"R \(bond\.MR\): the electrical MR has no counterpart",
    ),
    "nonlinear": (
        [bond.Se("V", effort=1), bond.R("R", effort="f**3")], ["V > R"],
        r"R \(bond\.R\): the nonlinear law effort = 'f\*\*3' has no counterpart",
    ),
    "sensor": (
        [bond.Se("V", effort=1), bond.R("R", resistance=1), bond.Sensor("w", of="R", measures="flow")], ["V > R"],
        r"w \(bond\.sensor\): the signal 'w\.value' has no counterpart",
    ),
    "pump": (
        [bond.Sf("S", flow=1), bond.hydraulic.Pump("P", displacement=1), bond.hydraulic.Pipe("R", resistance=1)],
        ["S > P", "P > R"], r"P \(bond\.hydraulic\.pump\): bond\.hydraulic\.pump between rotational and hydraulic",
    ),
    "orifice": (
        [bond.hydraulic.PressureSource("S", pressure=1), HOLE], ["S > O"],
        r"O \(bond\.hydraulic\.orifice\): the hydraulic R has no counterpart",
    ),
    "thermal inertia": (
        [bond.thermal.TemperatureSource("S", temperature=1), bond.I("I", inertia=1)], ["S > I"],
        r"I \(bond\.I\): the thermal I has no counterpart",
    ),
    "two domains": (
        [bond.electrical.VoltageSource("V", voltage=1), bond.thermal.Resistance("R", resistance=1)], ["V > R"],
        r"bond b1 \(V -> R\): it joins (thermal and electrical|electrical and thermal) parts",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_counterpart_is_refused_by_name(name: str) -> None:
    parts, bonds, message = REFUSED[name]
    m = Model("x")
    for part in parts:
        m.add(part)
    for each in bonds:
        m.connect(*each.split(" > "))
    with pytest.raises(ModelError, match=message):
        bond_graph_network(m, None if name == "two domains" else "electrical")


def test_unknown_domains_and_wrong_models_are_told() -> None:
    m = Model("x")
    m.add(bond.Se("V", effort=1))
    m.add(bond.R("R", resistance=1))
    m.connect("V", "R")
    with pytest.raises(ModelError, match=r"bond b1 \(V -> R\): nothing tells its domain"):
        bond_graph_network(m)
    with pytest.raises(ModelError, match=r"there is no domain 'electric'.*Did you mean 'electrical'"):
        bond_graph_network(m, "electric")
    with pytest.raises(ModelError, match="the model is a bond graph"):
        network_bond_graph(m)
    with pytest.raises(ModelError, match="the model is no bond graph"):
        bond_graph_network(model_of(MCPHEE))
    mechanism = Model("space")
    mechanism.add(cotree.RigidBody("B", mass=1, inertia=(1, 1, 1)))
    with pytest.raises(ModelError, match="the model is a mechanism in space"):
        network_bond_graph(mechanism)


def test_open_ends_and_shorted_parts() -> None:
    """A dangling node carries no current; a resistor between two datums or around one node has no voltage."""
    m = Model("odd", datum=["ground", "earth"])
    m.add(cotree.VoltageSource("V", ("a", "ground"), voltage=2.0))
    m.add(cotree.Resistor("R", ("a", "ground"), resistance=4.0))
    m.add(cotree.Resistor("D", ("a", "air"), resistance=3.0))
    m.add(cotree.Resistor("S", ("a", "a"), resistance=3.0))
    m.add(cotree.Resistor("G", ("earth", "earth"), resistance=3.0))
    m.add(cotree.Transformer("T", ("a", "ground"), ("p", "earth"), ratio=2.0))
    sol = network_bond_graph(m).simulate(t_end=1.0, points=2)
    for name, value in {
        "R.current": 0.5, "D.current": 0.0, "air.voltage": 2.0, "S.current": 0.0, "G.current": 0.0, "p.voltage": 1.0,
        "V.current": -0.5, "T.primary.current": 0.0,
    }.items():  # fmt: skip
        assert sol[name][-1] == pytest.approx(value, abs=1e-12), name


def test_names_that_an_expression_cannot_hold() -> None:
    m = Model("names")
    m.add(cotree.VoltageSource("V", ("1", "ground"), voltage=2.0))
    m.add(cotree.Resistor("R-1", ("1", "x.y"), resistance=4.0))
    m.add(cotree.OperationalAmplifier("U", ("ground", "x.y"), ("2", "ground")))
    m.add(cotree.Resistor("R+2", ("x.y", "2"), resistance=8.0))
    sol = network_bond_graph(m).simulate(t_end=1.0, points=2)
    assert sol["n_2.voltage"][-1] == pytest.approx(-4.0)
    assert sol["R+2.voltage"][-1] == pytest.approx(4.0)


def test_unit_gain_and_finite_gain_amplifiers() -> None:
    for gain, exact in ((None, 3.0), (10.0, 3.0 * 10 / 11)):
        m = Model("follower")
        m.add(cotree.VoltageSource("V", ("in", "ground"), voltage=3.0))
        m.add(cotree.OperationalAmplifier("U", ("in", "out"), ("out", "ground"), gain=gain))
        m.add(cotree.Resistor("R", ("out", "ground"), resistance=10.0))
        sol = network_bond_graph(m).simulate(t_end=1.0, points=2)
        assert sol["out.voltage"][-1] == pytest.approx(exact, rel=1e-12)
        assert sol["U.output.current"][-1] == pytest.approx(-exact / 10, rel=1e-12)


def test_both_ways_are_reached_from_the_model() -> None:
    network = cotree.load(EXAMPLES / "dc_motor.yaml")
    graph = network.to_bond_graph()
    assert graph.bonded
    assert not graph.to_network().bonded


def test_the_rectifier_runs_with_default_tolerances() -> None:
    network = cotree.load(EXAMPLES / "rectifier.yaml")
    own, other = (model.simulate(0.03, points=31) for model in (network.to_bond_graph(), network))
    for name in ("C.voltage", "D1.current", "D2.voltage"):
        size = abs(other[name]).max()
        assert abs(own[name] - other[name]).max() < 1e-5 * size, name  # the default tolerance is 1e-6
