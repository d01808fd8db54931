"""Linearisation: A, B, C, D against hand-written matrices and against the response of the equations themselves."""

from __future__ import annotations

import numpy as np
import pytest

import cotree
from cotree import Capacitor, Diode, Inductor, Resistor, Switch, VoltageSource
from cotree.errors import SolveError


def rlc(**options: object) -> cotree.Model:
    m = cotree.Model("RLC", **options)
    m.add(VoltageSource("V", ("in", "ground"), voltage="sin(t)"))
    m.add(Resistor("R", ("in", "a"), resistance=0.2))
    m.add(Inductor("L", ("a", "b"), inductance=0.1))
    m.add(Capacitor("C", ("b", "ground"), capacitance=0.05))
    return m


def test_matrices_by_hand() -> None:
    system = rlc().linearise(outputs=["R.voltage", "L.voltage", "C.current"])
    assert system.states == ("L.current", "C.voltage")
    assert system.inputs == ("V.voltage",)
    np.testing.assert_allclose(system.A, [[-2.0, -10.0], [20.0, 0.0]], rtol=1e-14)
    np.testing.assert_allclose(system.B, [[10.0], [0.0]], rtol=1e-14)
    np.testing.assert_allclose(system.C, [[0.2, 0.0], [-0.2, -1.0], [1.0, 0.0]], atol=1e-14)
    np.testing.assert_allclose(system.D, [[0.0], [1.0], [0.0]], atol=1e-14)
    np.testing.assert_allclose(
        np.sort_complex(system.poles()), np.sort_complex(np.roots([1.0, 2.0, 200.0])), rtol=1e-12
    )


def test_scipy_takes_it_over() -> None:
    from scipy.signal import lsim

    m = rlc()
    system = m.linearise(outputs=["C.voltage"])
    t = np.linspace(0, 1, 4001)
    _, y, _ = lsim(system.to_scipy(), np.sin(t), t)
    sol = m.simulate(t_end=1.0, points=5, rtol=1e-10)
    np.testing.assert_allclose(y[::1000], sol["C.voltage"], atol=1e-6)  # lsim holds the input linear: 0.00025^2


def test_all_outputs_by_default_and_errors_by_name() -> None:
    m = rlc()
    system = m.linearise()
    assert system.C.shape == (len(system.outputs), 2)
    assert "L.voltage" in system.outputs
    for bad in ({"outputs": ["L.volts"]}, {"inputs": ["V"]}, {"at": {"R.voltage": 1.0}}, {"at": "rest"}):
        with pytest.raises(SolveError):
            m.linearise(**bad)


def diode() -> cotree.Model:
    m = cotree.Model("diode")
    m.add(VoltageSource("V", ("in", "ground"), voltage=2.0))
    m.add(Resistor("R", ("in", "a"), resistance=10.0))
    m.add(Diode("D", ("a", "ground"), saturation_current=1e-9, thermal_voltage=0.05, leakage=0.0))
    m.add(Capacitor("C", ("a", "ground"), capacitance=1e-3))
    return m


@pytest.mark.parametrize("voltage", [-1.0, 0.3, 0.9])
def test_nonlinear_slope_at_a_given_state(voltage: float) -> None:
    """C dv' = -(1/R + I_s/V_T exp(v/V_T)) dv + dV/R."""
    system = diode().linearise(at={"C.voltage": voltage}, outputs=["D.current"])
    slope = 1e-9 / 0.05 * np.exp(voltage / 0.05)
    np.testing.assert_allclose(system.A, [[-(0.1 + slope) / 1e-3]], rtol=1e-9)
    np.testing.assert_allclose(system.B, [[100.0]], rtol=1e-9)
    np.testing.assert_allclose(system.C, [[slope]], rtol=1e-9)
    assert system.point["C.voltage"] == voltage


def test_about_the_operating_point() -> None:
    system = diode().linearise(at="steady")
    v = system.point["C.voltage"]
    assert (2.0 - v) / 10 == pytest.approx(1e-9 * np.expm1(v / 0.05), rel=1e-7)
    slope = 1e-9 / 0.05 * np.exp(v / 0.05)
    np.testing.assert_allclose(system.A, [[-(0.1 + slope) / 1e-3]], rtol=1e-7)


def test_with_a_diode_inside_an_algebraic_loop() -> None:
    """R and D in series: the slope is 1 / (R + V_T / (i + I_s))."""
    m = cotree.Model("series")
    m.add(VoltageSource("V", ("in", "ground"), voltage=2.0))
    m.add(Resistor("R", ("in", "a"), resistance=10.0))
    m.add(Diode("D", ("a", "b"), saturation_current=1e-9, thermal_voltage=0.05, leakage=0.0))
    m.add(Capacitor("C", ("b", "ground"), capacitance=1e-3))
    system = m.linearise(at={"C.voltage": 0.4}, outputs=["R.current"])
    sol = m.simulate(t_end=1e-9, points=2, start={"C.voltage": 0.4})
    slope = 1 / (10 + 0.05 / (sol["R.current"][0] + 1e-9))
    np.testing.assert_allclose(system.A, [[-slope / 1e-3]], rtol=1e-6)
    np.testing.assert_allclose(system.D, [[slope]], rtol=1e-6)


def test_modes_at_the_time_asked_for_and_parameters() -> None:
    m = cotree.Model("switch")
    m.add(VoltageSource("V", ("in", "ground"), voltage=1.0))
    m.add(Switch("S", ("in", "a"), closed="step(t - 1)", on_resistance=2.0, off_resistance=1e3))
    m.add(Capacitor("C", ("a", "ground"), capacitance=0.5))
    assert m.linearise(t=0.5, outputs=[]).A[0, 0] == pytest.approx(-1 / 500)
    assert m.linearise(t=1.0, outputs=[]).A[0, 0] == pytest.approx(-1.0)
    assert m.linearise(t=2.0, outputs=[], parameters={"C.capacitance": 0.25}).A[0, 0] == pytest.approx(-2.0)


def test_frequency_response_of_several_inputs() -> None:
    m = rlc()
    m.add(cotree.CurrentSource("I", ("ground", "b"), current="cos(t)"))
    system = m.linearise(outputs=["C.voltage", "L.current"])
    omega = np.array([0.5, 5.0, 50.0])
    response = system.frequency_response(omega)
    assert response.shape == (3, 2, 2)
    s = 1j * omega
    series, shunt = 0.2 + 0.1 * s, 1 / (0.05 * s)
    np.testing.assert_allclose(response[:, 0, 0], shunt / (series + shunt), rtol=1e-10)
    np.testing.assert_allclose(response[:, 0, 1], series * shunt / (series + shunt), rtol=1e-10)
    np.testing.assert_allclose(response[:, 1, 1], -shunt / (series + shunt), rtol=1e-10)
