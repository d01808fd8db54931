"""One-dimensional libraries against closed forms, and what their parts say and refuse."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import cotree.bond as bond
from _made import component
from cotree import Model, ModelError
from cotree.bond import electrical, hydraulic, rotational, thermal, translational
from cotree.bond.elements import BondPart
from cotree.bond.opening import open_graph
from cotree.model import KINDS, find_kind
from cotree.model.quantity import MISSING

ROOMS = {
    "electrical": electrical,
    "hydraulic": hydraulic,
    "rotational": rotational,
    "thermal": thermal,
    "translational": translational,
}
LIBRARY = sorted(kind for kind in KINDS if kind.count(".") == 2 and kind.split(".")[1] in ROOMS)
TIGHT = {"rtol": 1e-12, "atol": 1e-13}


def graph(*bonds: str, parts: list[BondPart], **parameters: float | str) -> Model:
    """A model of parts and bonds such as ``V > j``; junctions are made by their names: 0... and 1..., after ``j``."""
    model = Model("test", parameters=parameters)
    known = {part.name for part in parts}
    for name in dict.fromkeys(end.partition(".")[0] for each in bonds for end in each.split(" > ")):
        if name not in known:
            model.add((bond.Junction0 if name[1] == "0" else bond.Junction1)(name))
    for part in parts:
        model.add(part)
    for each in bonds:
        model.connect(*each.split(" > "))
    return model


def sample(kind: str) -> BondPart:
    cls = KINDS[kind]
    assert issubclass(cls, BondPart)
    return component(kind, "X")  # type: ignore[return-value]


# -- what every part has -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LIBRARY)
def test_every_part_goes_through_plain_data(kind: str) -> None:
    part = sample(kind)
    data = part.to_data()
    assert find_kind(data.pop("kind"), "X").from_data("X", data) == part


@pytest.mark.parametrize("kind", [kind for kind in LIBRARY if sample(kind).shapes])
def test_every_value_has_a_meaning_and_missing_ones_are_named(kind: str) -> None:
    cls = KINDS[kind]
    for name, info in sample(kind).shapes.items():
        assert info.meaning, name
    needed = next(f.name for f in dataclasses.fields(cls) if f.default is MISSING)
    with pytest.raises(ModelError, match=rf"X\.{needed}: no value is given"):
        cls("X")
    with pytest.raises(ModelError, match=f"{cls.__name__} has no field 'colour'"):
        cls("X", colour=1)


@pytest.mark.parametrize("kind", [k for k in LIBRARY if isinstance(sample(k), bond.TF) and k != "bond.electrical.node"])
def test_ends_of_two_ports_have_names(kind: str) -> None:
    part = sample(kind)
    model = graph(
        f"S > X.{part.ends[0]}",
        f"X.{part.ends[1]} > R",
        parts=[bond.Se("S", effort=1), part, bond.R("R", resistance=1)],
    )
    structure = open_graph(model)
    assert [structure.at("X", port).other("X") for port in "12"] == ["S", "R"]
    with pytest.raises(ModelError, match=r"X has no port 'side'"):
        open_graph(graph("S > X.side", "X > R", parts=[bond.Se("S", effort=1), part, bond.R("R", resistance=1)]))


def test_a_word_alone_never_means_a_part_of_bond_graphs() -> None:
    assert find_kind("resistor", "R") is KINDS["resistor"]
    assert find_kind("bond.electrical.resistor", "R") is electrical.Resistor
    assert find_kind("bond.rotational.torsion_spring", "k") is rotational.TorsionSpring
    assert not find_kind("spring", "k").bonded


def test_ranges_and_units_are_told() -> None:
    with pytest.raises(ModelError, match=r"R\.resistance: the value is -5.*positive number in ohm"):
        electrical.Resistor("R", resistance=-5)
    with pytest.raises(ModelError, match="initial_extension, initial_force are given"):
        translational.Spring("k", stiffness=1, initial_extension=1, initial_force=1)
    with pytest.raises(ModelError, match="initial_angle, initial_torque are given"):
        rotational.TorsionSpring("k", stiffness=1, initial_angle=1, initial_torque=1)
    windings = electrical.CoupledInductors("M", primary_inductance=1, secondary_inductance=1, mutual=1)
    coils = graph(
        "V > M.primary",
        "M.secondary > R",
        parts=[electrical.VoltageSource("V", voltage=1), windings, electrical.Resistor("R", resistance=5)],
    )
    with pytest.raises(ModelError, match="M: the mutual inductance is 1 H"):
        coils.equations()
    switch = electrical.Switch("S", closed=2, on_resistance=1, off_resistance=9)
    with pytest.raises(ModelError, match=r"S: closed is 2\. Expected 1 \(closed\) or 0 \(open\)"):
        graph("V > S", parts=[electrical.VoltageSource("V", voltage=1), switch]).equations()


def test_a_signal_needs_the_modulated_element() -> None:
    parts = [electrical.VoltageSource("V", voltage=1), electrical.Resistor("R", resistance="1 + R.flow")]
    with pytest.raises(ModelError, match=r"R: its value depends on the signal R\.flow.*Use MR"):
        graph("V > R", parts=parts).equations()


# -- storages, by hand -------------------------------------------------------------------------------------------------


def test_capacitor_discharges_over_a_resistor() -> None:
    m = graph(
        "C > R",
        parts=[electrical.Capacitor("C", capacitance=2, initial_voltage=5), electrical.Resistor("R", resistance=3)],
    )
    sol = m.simulate(t_end=6.0, points=7, **TIGHT)
    np.testing.assert_allclose(sol["C.voltage"], 5 * np.exp(-sol.t / 6), rtol=0, atol=1e-9)
    np.testing.assert_allclose(sol["R.current"], 5 / 3 * np.exp(-sol.t / 6), rtol=0, atol=1e-9)
    np.testing.assert_allclose(sol["C.current"], -sol["R.current"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(sol["C.power"] + sol["R.power"], 0, atol=1e-12)


def test_inductor_current_and_time_signal() -> None:
    """L i' + R i = cos t, with i(0) = 0.7."""
    parts = [
        electrical.VoltageSource("V", voltage="cos(t)"),
        electrical.Inductor("L", inductance=0.5, initial_current=0.7),
        electrical.Resistor("R", resistance=2),
    ]
    sol = graph("V > j1", "j1 > L", "j1 > R", parts=parts).simulate(t_end=3.0, points=7, **TIGHT)
    steady = (2 * np.cos(sol.t) + 0.5 * np.sin(sol.t)) / (2**2 + 0.5**2)
    exact = steady + (0.7 - 2 / 4.25) * np.exp(-4 * sol.t)
    np.testing.assert_allclose(sol["L.current"], exact, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sol["V.current"], -exact, rtol=0, atol=1e-9)


OSCILLATORS = {
    "translational": (translational.Mass, "mass", translational.Spring, {"stiffness": 8.0}, "velocity"),
    "rotational": (rotational.Inertia, "inertia", rotational.TorsionSpring, {"stiffness": 8.0}, "angular_velocity"),
    "hydraulic": (hydraulic.FluidInertia, "inertance", hydraulic.Accumulator, {"capacitance": 0.125}, "flow"),
}
STARTS = {
    "translational": {"initial_velocity": 1.5, "initial_extension": -0.75, "initial_force": -6.0},
    "rotational": {"initial_speed": 1.5, "initial_angle": -0.75, "initial_torque": -6.0},
    "hydraulic": {"initial_flow": 1.5, "initial_pressure": -6.0},
}


@pytest.mark.parametrize(("domain", "start"), [(d, start) for d, starts in STARTS.items() for start in starts])
def test_oscillators_of_all_domains(domain: str, start: str) -> None:
    """w = sqrt(8 / 2) = 2 rad/s: speeds 1.5 cos 2t from a start speed, 1.5 sin 2t from a start displacement."""
    inertia, field, compliance, values, speed = OSCILLATORS[domain]
    given = {start: STARTS[domain][start]}
    moving = STARTS[domain][start] > 0
    first, second = (given, {}) if moving else ({}, given)
    parts = [inertia("I", **{field: 2.0}, **first), compliance("C", **values, **second)]
    sol = graph("j1 > I", "j1 > C", parts=parts).simulate(t_end=3.0, points=13, **TIGHT)
    exact = 1.5 * (np.cos(2 * sol.t) if moving else np.sin(2 * sol.t))
    np.testing.assert_allclose(sol[f"I.{speed}"], exact, rtol=0, atol=1e-9)
    assert sol.energy().error < 1e-8  # twice the error of the amplitude, added up over the steps


def test_heat_through_a_wall_into_a_capacity() -> None:
    parts = [
        thermal.TemperatureSource("T", temperature=20),
        thermal.Resistance("R", resistance=0.5),
        thermal.Capacity("C", heat_capacity=40, initial_temperature=5),
        thermal.HeatSource("H", heat_flow=10),
    ]
    sol = graph("T > j1", "j1 > R", "j1 > j0", "H > j0", "j0 > C", parts=parts).simulate(t_end=60.0, points=7, **TIGHT)
    np.testing.assert_allclose(sol["C.temperature"], 25 - 20 * np.exp(-sol.t / 20), rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["R.heat_flow"], 2 * (20 - sol["C.temperature"]), rtol=0, atol=1e-8)
    assert "R.power" not in sol  # temperature times heat flow is no power


def test_coupled_inductors() -> None:
    """[[L1, M], [M, L2]] i' = (5 - R1 i1, -R2 i2), both counted into the windings."""
    L, R = np.array([[0.4, 0.2], [0.2, 0.3]]), np.diag([1.0, 2.0])
    coils = electrical.CoupledInductors(
        "M", primary_inductance=0.4, secondary_inductance=0.3, mutual=0.2, initial_secondary=0.5
    )
    parts = [
        electrical.VoltageSource("V", voltage=5),
        electrical.Resistor("R1", resistance=1),
        coils,
        electrical.Resistor("R2", resistance=2),
    ]
    sol = graph("V > j1", "j1 > R1", "j1 > M.primary", "M.secondary > R2", parts=parts).simulate(
        t_end=1.0, points=6, **TIGHT
    )
    A = -np.linalg.solve(L, R)
    rest = np.linalg.solve(R, [5.0, 0.0])
    exact = np.array([rest + expm(A * t) @ (np.array([0.0, 0.5]) - rest) for t in sol.t]).T
    np.testing.assert_allclose(sol["M.primary.current"], exact[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(sol["M.secondary.current"], exact[1], rtol=0, atol=1e-9)


# -- laws without memory -----------------------------------------------------------------------------------------------


def still(*bonds: str, parts: list[BondPart]) -> dict[str, float]:
    """Results of a graph without motion at one time."""
    sol = graph(*bonds, parts=parts).simulate(t_end=1.0, points=2)
    return {name: float(sol[name][-1]) for name in sol}


@pytest.mark.parametrize("voltage", [-0.4, 0.1, 0.6])
def test_diode(voltage: float) -> None:
    diode = electrical.Diode("D", saturation_current=1e-9, thermal_voltage=0.05, leakage=1e-6)
    got = still("V > D", parts=[electrical.VoltageSource("V", voltage=voltage), diode])
    assert got["D.current"] == pytest.approx(1e-9 * np.expm1(voltage / 0.05) + 1e-6 * voltage, rel=1e-10)


def test_orifice_is_turbulent_far_from_zero_and_linear_near_it() -> None:
    def flow(pressure: float) -> float:
        hole = hydraulic.Orifice("O", area=1e-5, discharge=0.6, density=850, transition_pressure=1e3)
        return still("P > O", parts=[hydraulic.PressureSource("P", pressure=pressure), hole])["O.flow"]

    assert flow(1e6) == pytest.approx(0.6 * 1e-5 * np.sqrt(2 * 1e6 / 850), rel=1e-6)  # (p0/p)^2 / 4 = 2.5e-7
    assert flow(-1e6) == pytest.approx(-flow(1e6), rel=1e-12)
    assert flow(2.0) == pytest.approx(2 * flow(1.0), rel=1e-5)


def test_tank_empties_through_an_orifice() -> None:
    parts = [
        hydraulic.Accumulator("T", capacitance=1e-8, initial_pressure=2e5),
        hydraulic.Orifice("O", area=1e-5, discharge=0.6, density=1000, transition_pressure=500),
    ]
    sol = graph("T > O", parts=parts).simulate(t_end=10.0, points=11, rtol=1e-10, atol=1e-16)
    gain = 0.6e-5 * np.sqrt(2 / 1000) / 1e-8
    exact = solve_ivp(
        lambda t, p: -gain * p / (p**2 + 500**2) ** 0.25,
        (0, 10),
        [2e5],
        t_eval=sol.t,
        rtol=1e-11,
        atol=1e-6,
        method="LSODA",
    )
    np.testing.assert_allclose(sol["T.pressure"], exact.y[0], rtol=0, atol=2e5 * 1e-7)


def test_switch_closes() -> None:
    parts = [
        electrical.VoltageSource("V", voltage=6),
        electrical.Switch("S", closed="step(t - 0.5)", on_resistance=2, off_resistance=300),
    ]
    sol = graph("V > S", parts=parts).simulate(t_end=1.0, times=[0.0, 0.2, 0.8, 1.0])
    np.testing.assert_allclose(sol["S.current"], [0.02, 0.02, 3.0, 3.0], rtol=1e-12)


TWO_PORTS = {
    # part, source of flow 3 at port 1, load R = 4 at port 2: (across 1, through 1, across 2, through 2)
    "transformer": (electrical.Transformer("X", ratio=2), "electrical", (2 * 24, 3, 24, -6)),
    "gyrator": (electrical.Gyrator("X", resistance=2), "electrical", (2 * 1.5, 3, 6, -1.5)),
    "lever": (translational.Lever("X", ratio=2), "translational", (3, 3, 1.5, -6)),
    "gear": (rotational.GearPair("X", ratio=2), "rotational", (3, 3, 1.5, -6)),
    "motor": (electrical.DCMotor("X", constant=2), "electrical", (2 * 1.5, 3, 1.5, -6)),
    "coil": (electrical.VoiceCoil("X", constant=2), "electrical", (2 * 1.5, 3, 1.5, -6)),
    "pinion": (rotational.Pinion("X", radius=2), "rotational", (3, 48, 6, -24)),
    "piston": (hydraulic.Piston("X", area=2), "hydraulic", (3, 3, 1.5, -6)),
    "pump": (hydraulic.Pump("X", displacement=2), "rotational", (3, 48, 24, -6)),
}
ACROSS_THROUGH = {
    "electrical": ("voltage", "current"),
    "translational": ("velocity", "force"),
    "rotational": ("angular_velocity", "torque"),
    "hydraulic": ("pressure", "flow"),
}


@pytest.mark.parametrize("name", TWO_PORTS)
def test_two_ports_by_hand(name: str) -> None:
    part, _, expected = TWO_PORTS[name]
    got = still("S > X", "X > R", parts=[bond.Sf("S", flow=3), part, bond.R("R", resistance=4)])
    names = [
        f"X.{end}.{n}" for end, domain in zip(part.ends, part.domains, strict=True) for n in ACROSS_THROUGH[domain]
    ]
    assert [got[n] for n in names] == pytest.approx(expected, rel=1e-12)
    assert sum(got[f"X.{end}.power"] for end in part.ends) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("gain", [None, 1e3])
def test_inverting_amplifier(gain: float | None) -> None:
    """v_out = -10 v_in / (1 + 11 / gain) with feedback 10 kohm over 1 kohm."""
    parts = [
        electrical.VoltageSource("V", voltage=0.2), electrical.Resistor("R1", resistance=1e3), electrical.Node("m"),
        electrical.Resistor("R2", resistance=1e4), electrical.Node("o"), electrical.Resistor("RL", resistance=500),
        electrical.Amplifier("U", input="-m.effort", gain=gain),
    ]  # fmt: skip
    bonds = ["V > j1a", "j1a > R1", "j1a > m", "m > j1b", "j1b > R2", "j1b > o", "o > RL", "U > o"]
    got = still(*bonds, parts=parts)
    assert got["o.voltage"] == pytest.approx(-2.0 / (1 + (11 / gain if gain else 0.0)), rel=1e-9)
    assert got["U.output.voltage"] == pytest.approx(got["o.voltage"], rel=1e-12)
    assert got["U.input.voltage"] == pytest.approx(-got["m.voltage"], abs=1e-12)


# -- in masks ----------------------------------------------------------------------------------------------------------


def test_parts_work_inside_masks_with_its_parameters() -> None:
    """Two motors of one mask, against eigenvalues by hand."""
    inside = bond.Graph("motor", ports={"supply": "i", "shaft": "w"}, parameters={"K": None, "R": 1.0})
    for part in (
        bond.Junction1("i"), electrical.Resistor("winding", resistance="R"),
        electrical.Inductor("coil", inductance="R/2"),
        electrical.DCMotor("core", constant="K"), rotational.Node("w"), rotational.Inertia("rotor", inertia=0.01),
    ):  # fmt: skip
        inside.add(part)
    for ends in (("i", "winding"), ("i", "coil"), ("i", "core"), ("core", "w"), ("w", "rotor")):
        inside.connect(*ends)
    m = graph(
        "V1 > A.supply", "A.shaft > b", "V2 > B.supply", "B.shaft > c",
        parts=[
            electrical.VoltageSource("V1", voltage=1), bond.Mask("A", graph=inside, values_of={"K": "k"}),
            rotational.RotaryDamper("b", damping=0.1), electrical.VoltageSource("V2", voltage=1),
            bond.Mask("B", graph=inside, values_of={"K": 0.5, "R": 2}), rotational.RotaryDamper("c", damping=0.2),
        ], k=0.01,
    )  # fmt: skip
    exact = [
        np.linalg.eigvals([[-R / (R / 2), -K / (R / 2)], [K / 0.01, -b / 0.01]])
        for K, R, b in ((0.01, 1.0, 0.1), (0.5, 2.0, 0.2))
    ]
    np.testing.assert_allclose(
        np.sort_complex(m.linearise().poles()), np.sort_complex(np.concatenate(exact)), rtol=1e-9
    )
    sol = m.simulate(t_end=1.0, points=3)
    np.testing.assert_allclose(sol["A.winding.voltage"], sol["A.i.flow"], rtol=1e-12)
    np.testing.assert_allclose(sol["B.core.rotational.torque"], -0.5 * sol["B.i.flow"], rtol=1e-9)


def test_results_by_physical_names_may_modulate_others() -> None:
    """A brake whose torque is 0.5 times the coil's voltage, named as engineers say it."""
    parts = [
        electrical.VoltageSource("V", voltage=4), electrical.Resistor("R", resistance=2),
        bond.MSe("brake", effort="-0.5*R.voltage"), rotational.RotaryDamper("b", damping=8),
    ]  # fmt: skip
    got = still("V > R", "brake > b", parts=parts)
    assert got["b.angular_velocity"] == pytest.approx(-0.25, rel=1e-12)


@pytest.mark.parametrize(
    "kind", [k for k in LIBRARY if any(f.default is MISSING for f in dataclasses.fields(KINDS[k]))]
)
def test_nothing_in_place_of_a_value_is_told(kind: str) -> None:
    """As a file has it where a value is forgotten: ``damping:``."""
    cls = KINDS[kind]
    needed = next(f.name for f in dataclasses.fields(cls) if f.default is MISSING)
    data = sample(kind).to_data() | {needed: None}
    del data["kind"]
    with pytest.raises(ModelError, match=rf"X\b.*{needed}"):
        cls.from_data("X", data)
