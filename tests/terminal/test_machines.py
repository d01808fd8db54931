"""Electrical and hydraulic machines in networks, against published numbers, closed forms and equations by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import cotree as ct
from cotree.terminal import electrical as e
from cotree.terminal import hydraulic as h
from cotree.terminal import machines as mc
from cotree.terminal import rotational as r
from cotree.terminal import thermal as th
from cotree.terminal import translational as x

G = "ground"
TIGHT = {"rtol": 1e-11, "atol": 1e-13}
DC = {"resistance": 1.0, "inductance": 0.5, "constant": 0.01, "inertia": 0.01, "damping": 0.1}
"""The motor of the benchmarks."""


def model(*parts: Any, **options: Any) -> ct.Model:
    m = ct.Model("machine", **options)
    for part in parts:
        m.add(part)
    return m


def by_hand(rates: Callable[..., Any], start: list[float], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equations written by hand, integrated by SciPy; one row for each state."""
    found = solve_ivp(rates, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-14)
    return np.asarray(found.y)


def dc_motor(**more: Any) -> ct.Model:
    return model(
        e.VoltageSource("V", ("a", G), voltage=1.0), mc.DCMotor("M", ("a", G), ("s", G), **{**DC, **more})
    )  # fmt: skip


def test_dc_motor_has_the_numbers_of_the_benchmarks() -> None:
    sol = dc_motor().simulate(t_end=1.0, points=3, **TIGHT)
    assert sol["s.angular_velocity"][-1] == pytest.approx(0.0830371112, abs=5e-11)
    assert dc_motor().simulate(t_end=12.0, points=2, **TIGHT)["s.angular_velocity"][-1] == pytest.approx(
        0.0999001, abs=5e-8
    )
    poles = np.sort(np.linalg.eigvals(dc_motor().linearise().A).real)
    np.testing.assert_allclose(poles, [-9.9974992, -2.0025008], atol=5e-8)
    assert sol.energy().error < 1e-9


def test_dc_motor_equals_the_network_of_its_parts() -> None:
    """R, L, ideal EMF, inertia and damper one by one, in all that a user sees."""
    parts = model(
        e.VoltageSource("V", ("a", G), voltage="sin(3*t)"),
        e.Resistor("R", ("a", "b"), resistance=1.0),
        e.Inductor("L", ("b", "c"), inductance=0.5),
        ct.RotationalEMF("K", ("c", G), ("s", G), constant=0.01),
        r.Inertia("J", ("s", G), inertia=0.01),
        r.Damper("d", ("s", G), damping=0.1),
    ).simulate(t_end=2.0, points=21, **TIGHT)
    whole = dc_motor()
    whole.components["V"] = e.VoltageSource("V", ("a", G), voltage="sin(3*t)")
    sol = whole.simulate(t_end=2.0, points=21, **TIGHT)
    for one, other in (("s.angular_velocity", "s.angular_velocity"), ("M.electrical.current", "L.current")):
        np.testing.assert_allclose(sol[one], parts[other], atol=1e-11)
    np.testing.assert_allclose(-sol["M.shaft.torque"], sol["M.rotor.torque"], atol=1e-14)


def test_losses_heat_the_case_and_nothing_is_lost() -> None:
    """C T' = R i^2 + b w^2 - T / R_th, from the exact i and w of a linear motor."""
    m = dc_motor(thermal=("case", G))
    m.add(th.Capacity("C", ("case", G), heat_capacity=0.02))
    m.add(th.Resistance("air", ("case", G), resistance=30.0))
    sol = m.simulate(t_end=3.0, points=13, **TIGHT)

    def rates(t: float, y: NDArray[np.float64]) -> list[float]:
        i, w, heat = y
        return [(1 - i - 0.01 * w) / 0.5, (0.01 * i - 0.1 * w) / 0.01, (i**2 + 0.1 * w**2 - heat / 30) / 0.02]

    i, w, heat = by_hand(rates, [0, 0, 0], sol.t)
    np.testing.assert_allclose(sol["case.temperature"], heat, atol=1e-8)
    np.testing.assert_allclose(-sol["M.thermal.heat_flow"], i**2 + 0.1 * w**2, atol=1e-10)
    assert sol.energy().error < 1e-9


def test_a_driven_motor_is_a_generator() -> None:
    """At a constant speed: i = K w / (R + R_load) (1 - exp(-(R + R_load) t / L)), and the shaft pays for it."""
    m = model(
        r.SpeedSource("engine", ("s", G), speed=50.0),
        mc.DCMotor("M", ("a", G), ("s", G), resistance=0.5, inductance=0.02, constant=0.4),
        e.Resistor("load", ("a", G), resistance=1.5),
    )
    sol = m.simulate(t_end=0.05, points=11, **TIGHT)
    current = 0.4 * 50 / 2.0 * (1 - np.exp(-sol.t * 2.0 / 0.02))
    np.testing.assert_allclose(sol["load.current"], current, atol=1e-9)
    np.testing.assert_allclose(sol["M.shaft.torque"], 0.4 * current, atol=1e-9)
    assert sol.energy().error < 1e-9


def test_a_rotor_counts_its_speed_from_the_datum() -> None:
    """Between two free inertias the torque acts on both, and the rotor's inertia adds to the shaft's only."""
    m = model(
        e.CurrentSource("I", (G, "a"), current=2.0),
        mc.DCMotor("M", ("a", G), ("s", "h"), resistance=1.0, constant=0.5, inertia=0.1),
        r.Inertia("load", ("s", G), inertia=0.3),
        r.Inertia("housing", ("h", G), inertia=2.0),
    )
    sol = m.simulate(t_end=1.0, points=3, **TIGHT)
    np.testing.assert_allclose(sol["s.angular_velocity"], 1.0 / 0.4 * sol.t, atol=1e-10)
    np.testing.assert_allclose(sol["h.angular_velocity"], -1.0 / 2.0 * sol.t, atol=1e-10)


def test_voice_coil_against_its_matrix_exponential() -> None:
    """L i' = V - R i - K u, m u' = K i - b u - k x."""
    m = model(
        e.VoltageSource("V", ("a", G), voltage=2.0),
        mc.VoiceCoil("M", ("a", G), ("p", G), resistance=4.0, inductance=1e-3, constant=6.0, mass=0.02, damping=0.5),
        x.Spring("k", ("p", G), stiffness=300.0),
    )
    sol = m.simulate(t_end=0.1, points=11, **TIGHT)
    a = np.array([[-4e3, -6e3, 0, 2e3], [300, -25, -15e3, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
    exact = np.array([expm(a * t) @ [0, 0, 0, 1] for t in sol.t]).T
    np.testing.assert_allclose(sol["M.electrical.current"], exact[0], atol=1e-9)
    np.testing.assert_allclose(sol["p.velocity"], exact[1], atol=1e-9)
    np.testing.assert_allclose(sol["p.displacement"], exact[2], atol=1e-9)
    assert sol.energy().error < 1e-9


def test_series_motor_by_hand() -> None:
    """In series: (L_a + L_f) i' = V - (R_a + R_f) i - K i w, J w' = K i^2 - b w, with one storage that depends."""
    m = model(
        e.VoltageSource("V", ("a", G), voltage=24.0),
        mc.ExcitedMotor(
            "M", ("a", "b"), ("b", G), ("s", G), armature_resistance=0.4, armature_inductance=0.01,
            field_resistance=0.6, field_inductance=0.04, constant=0.05, inertia=0.02, damping=0.03,
        ),
    )  # fmt: skip
    sol = m.simulate(t_end=2.0, points=21, **TIGHT)

    def rates(t: float, y: NDArray[np.float64]) -> list[float]:
        i, w = y
        return [(24 - i - 0.05 * i * w) / 0.05, (0.05 * i**2 - 0.03 * w) / 0.02]

    i, w = by_hand(rates, [0, 0], sol.t)
    np.testing.assert_allclose(sol["M.armature.current"], i, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(sol["M.field.current"], i, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(sol["s.angular_velocity"], w, rtol=1e-8, atol=1e-9)
    assert sol.energy().error < 1e-9


def test_synchronous_machine_by_hand() -> None:
    p, res, ld, lq, psi, j, b = 4, 0.3, 0.002, 0.003, 0.12, 0.01, 0.02
    m = model(
        e.VoltageSource("Vd", ("d", G), voltage="-5*sin(20*t)"),
        e.VoltageSource("Vq", ("q", G), voltage="20 + 30*t"),
        mc.Synchronous(
            "M", ("d", G), ("q", G), ("s", G), pole_pairs=p, resistance=res, d_inductance=ld, q_inductance=lq,
            flux=psi, inertia=j, damping=b, initial_q=3.0, initial_speed=5.0, thermal=("case", G),
        ),
        r.TorqueSource("load", ("s", G), torque=1.5),
        th.Capacity("C", ("case", G), heat_capacity=10.0),
    )  # fmt: skip
    sol = m.simulate(t_end=0.5, points=26, **TIGHT)

    def rates(t: float, y: NDArray[np.float64]) -> list[float]:
        d, q, w, _ = y
        torque = p * (psi * q + (ld - lq) * d * q)
        return [
            (-5 * np.sin(20 * t) - res * d + p * w * lq * q) / ld,
            (20 + 30 * t - res * q - p * w * (ld * d + psi)) / lq,
            (torque - b * w - 1.5) / j,
            (res * (d**2 + q**2) + b * w**2) / 10,
        ]

    d, q, w, heat = by_hand(rates, [0, 3, 5, 0], sol.t)
    for name, exact in (("M.d.current", d), ("M.q.current", q), ("s.angular_velocity", w), ("case.temperature", heat)):
        np.testing.assert_allclose(sol[name], exact, rtol=1e-7, atol=1e-8, err_msg=name)
    assert sol.energy().error < 1e-9


@pytest.mark.parametrize(
    "law",
    [{"inductance": 0.2, "gap": 0.004}, {"inductance_law": "L0/(1 + x/0.004)"}],
    ids=["constants", "expression"],
)
def test_solenoid_by_hand(law: dict[str, Any]) -> None:
    """A plunger against a spring that is free at 0.006 m; the magnet draws towards x = 0."""
    m = model(
        e.VoltageSource("V", ("a", G), voltage=12.0),
        mc.Solenoid("S", ("a", G), ("p", G), resistance=5.0, mass=0.1, damping=4.0, position=0.005, **law),
        x.Spring("k", ("p", G), stiffness=2e4, initial=-20.0),
        parameters={"L0": 0.2},
    )
    sol = m.simulate(t_end=0.06, points=25, **TIGHT)

    def rates(t: float, y: NDArray[np.float64]) -> list[float]:
        i, u, s = y
        value = 0.2 / (1 + s / 0.004)
        slope = -0.2 / 0.004 / (1 + s / 0.004) ** 2
        return [(12 - 5 * i - slope * u * i) / value, (i**2 * slope / 2 - 4 * u - 2e4 * (s - 0.006)) / 0.1, u]

    i, u, s = by_hand(rates, [0, 0, 0.005], sol.t)
    assert 0 < s.min() < 0.0045  # it moves
    np.testing.assert_allclose(sol["S.electrical.current"], i, atol=1e-8)
    np.testing.assert_allclose(sol["p.velocity"], u, atol=1e-8)
    assert sol.energy().error < 1e-9


def test_a_hydrostatic_drive_keeps_its_ratio() -> None:
    """Without leakage the speeds go as the displacements; with leakage the loss is G p^2."""
    m = model(
        r.SpeedSource("engine", ("s", G), speed=150.0),
        mc.Pump("P", ("oil", G), ("s", G), displacement="20 cm^3/rev", stroke=0.5),
        mc.HydraulicMotor("M", ("oil", G), ("w", G), displacement="100 cm^3/rev", leakage=1e-13, inertia=0.2),
        h.Accumulator("C", ("oil", G), capacitance=1e-13),
        r.Damper("load", ("w", G), damping=1.0),
    )
    sol = m.simulate(t_end=12.0, points=2, **TIGHT)
    pump, motor = 20e-6 / (2 * np.pi), 100e-6 / (2 * np.pi)
    w = sol["w.angular_velocity"][-1]
    pressure = 1.0 * w / motor
    assert w == pytest.approx((0.5 * pump * 150 - 1e-13 * pressure) / motor, rel=1e-9)
    assert sol["oil.pressure"][-1] == pytest.approx(pressure, rel=1e-9)
    assert sol["P.shaft.torque"][-1] == pytest.approx(0.5 * pump * pressure, rel=1e-9)
    assert sol.energy().error < 1e-8


def test_losses_of_a_resistor_and_a_damper_heat_nodes() -> None:
    """An alternating voltage on a resistor: C T = V^2 / R (t/2 - sin(2 w t) / (4 w))."""
    m = model(
        e.VoltageSource("V", ("a", G), voltage="10*sin(20*t)"),
        e.Resistor("R", ("a", G), resistance=5.0),
        th.Loss("of_R", ("wire", G), of="R"),
        th.Capacity("C1", ("wire", G), heat_capacity=2.0),
        x.VelocitySource("v", ("p", G), velocity=3.0),
        x.Damper("d", ("p", G), damping=7.0),
        th.Loss("of_d", ("oil", G), of="d"),
        th.Capacity("C2", ("oil", G), heat_capacity=4.0),
    )
    sol = m.simulate(t_end=1.0, points=11, **TIGHT)
    np.testing.assert_allclose(
        sol["wire.temperature"], 20 * (sol.t / 2 - np.sin(40 * sol.t) / 80) / 2.0, atol=1e-9
    )  # fmt: skip
    np.testing.assert_allclose(sol["oil.temperature"], 63 * sol.t / 4, atol=1e-9)
    assert sol.energy().error < 1e-9


MOTOR = {"resistance": 1, "constant": 1}
COIL = {"resistance": 1.0}
MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "current without inductance": (
        lambda: mc.DCMotor("M", ("a", G), ("s", G), **MOTOR, initial_current=1),
        "M: initial_current is given without inductance",
    ),
    "speed without inertia": (
        lambda: mc.Synchronous("M", ("a", G), ("b", G), ("s", G), pole_pairs=2, resistance=1, d_inductance=1,
                               q_inductance=1, flux=1, initial_speed=1),
        "M: initial_speed is given without inertia",
    ),
    "half a pole pair": (
        lambda: model(mc.Synchronous("M", ("a", G), ("b", G), ("s", G), pole_pairs=1.5, resistance=1, d_inductance=1,
                                     q_inductance=1, flux=1)).check(),
        r"M\.pole_pairs: found 1.5.*whole number",
    ),
    "no inductance": (lambda: mc.Solenoid("S", ("a", G), ("p", G), **COIL), "S: no inductance is given"),
    "two inductances": (
        lambda: mc.Solenoid("S", ("a", G), ("p", G), **COIL, inductance=1, inductance_law="x"),
        "inductance and inductance_law given together",
    ),
    "inductance of time": (
        lambda: mc.Solenoid("S", ("a", G), ("p", G), **COIL, inductance_law="x + t"),
        r"S\.inductance_law: the inductance 'x \+ t' depends on time",
    ),
    "no expression": (
        lambda: mc.Solenoid("S", ("a", G), ("p", G), **COIL, inductance_law="x +"), r"S\.inductance_law: "
    ),
    "no value": (
        lambda: model(
            e.VoltageSource("V", ("a", G), voltage=1),
            mc.Solenoid("S", ("a", G), ("p", G), **COIL, mass=1, inductance_law="1 + x/0**-1"),
        ).equations(),
        r"S\.inductance_law: the expression '1 \+ x/0\*\*-1' has no value",
    ),
    "no number": (
        lambda: mc.Solenoid("S", ("a", G), ("p", G), **COIL, inductance_law=3), r"S\.inductance_law: found 3"
    ),
    "heat into a node": (
        lambda: model(mc.DCMotor("M", ("a", G), ("s", G), **MOTOR, thermal=("case", "air"))).check(),
        r"M\.thermal \(machines\.dc_motor\): its minus node is 'air'",
    ),
    "another datum": (
        lambda: model(mc.DCMotor("M", ("a", "zero"), ("s", "zero"), **MOTOR, inertia=1), datum="zero").check(),
        r"M\.rotor \(machines\.dc_motor\): its minus node is 'ground'.*the datum \(zero\)",
    ),
    "three nodes": (
        lambda: ct.Model.from_mapping({"name": "m", "components": {
            "M": {"kind": "machines.dc_motor", "electrical": ["a", "b", "c"], "shaft": ["s", G], **MOTOR}}}),
        r"M\.electrical: found \['a', 'b', 'c'\]",
    ),
    "more than the stroke": (
        lambda: model(mc.Pump("P", ("a", G), ("s", G), displacement=1, stroke=2)).check(),
        r"P\.stroke: found 2",
    ),
    "a motor": (
        lambda: ct.Model.from_mapping({"name": "m", "components": {"M": {"kind": "motor"}}}),
        "Did you mean 'machines.dc_motor'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_told(case: str) -> None:
    make, message = MISTAKES[case]
    with pytest.raises(ct.CotreeError, match=f"(?s){message}"):
        make()
