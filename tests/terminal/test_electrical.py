"""Electrical components against closed forms and hand-written equations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

import cotree
from cotree import (
    Capacitor,
    Diode,
    Gyrator,
    Inductor,
    MutualInductance,
    OperationalAmplifier,
    Resistor,
    Switch,
    Transformer,
    VoltageSource,
)

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def circuit(*components: object, **options: object) -> cotree.Model:
    m = cotree.Model("circuit", **options)
    for component in components:
        m.add(component)
    return m


@pytest.mark.parametrize("gain", [None, 1e2, 1e6])
def test_inverting_amplifier(gain: float | None) -> None:
    """v_o / v_i = -(R2/R1) / (1 + (1 + R2/R1) / gain)."""
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage="sin(5*t)"),
        Resistor("R1", ("in", "n"), resistance=1e3),
        Resistor("R2", ("n", "out"), resistance=4.7e3),
        OperationalAmplifier("U", ("ground", "n"), ("out", "ground"), gain=gain),
        Resistor("RL", ("out", "ground"), resistance=100.0),
    )
    sol = m.simulate(t_end=2.0, points=11)
    exact = -4.7 / (1 + (5.7 / gain if gain else 0.0)) * np.sin(5 * sol.t)
    np.testing.assert_allclose(sol["out.voltage"], exact, atol=1e-9)
    np.testing.assert_allclose(sol["U.input.current"], 0.0, atol=1e-15)
    np.testing.assert_allclose(sol["U.output.current"], -exact / 100 - (exact - sol["n.voltage"]) / 4.7e3, atol=1e-9)
    assert sol.energy().error < 1e-7


def test_follower_needs_no_other_component() -> None:
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage="2 + t"),
        OperationalAmplifier("U", ("in", "out"), ("out", "ground")),
        Resistor("RL", ("out", "ground"), resistance=10.0),
    )
    sol = m.simulate(t_end=1.0, points=3)
    np.testing.assert_allclose(sol["out.voltage"], [2.0, 2.5, 3.0], atol=1e-12)
    np.testing.assert_allclose(sol["V.current"], 0.0, atol=1e-15)


@pytest.mark.parametrize("gain", [None, 1e3])
def test_integrator(gain: float | None) -> None:
    """Ideal: v_o = -1/(RC) int v_i. With gain A: R C (1 + A) v_n' = v_i - v_n, v_o = -A v_n."""
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage="cos(2*t)"),
        Resistor("R", ("in", "n"), resistance=2.0),
        Capacitor("C", ("n", "out"), capacitance=0.25),
        OperationalAmplifier("U", ("ground", "n"), ("out", "ground"), gain=gain),
    )
    sol = m.simulate(t_end=3.0, points=13, **TIGHT)
    if gain is None:
        exact = -2.0 * np.sin(2 * sol.t) / 2
    else:
        tau = 0.5 * (1 + gain)
        response = 1 / (1 + 2j * tau)
        exact = -gain * (np.real(response * np.exp(2j * sol.t)) - response.real * np.exp(-sol.t / tau))
    np.testing.assert_allclose(sol["out.voltage"], exact, atol=1e-8)


def test_sallen_key_low_pass() -> None:
    """H = 1 / (1 + s C2 (R1 + R2) + s^2 R1 R2 C1 C2), with C1 from the middle to the output."""
    r1, r2, c1, c2 = 1.0, 2.0, 0.9, 0.3
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage="1"),
        Resistor("R1", ("in", "a"), resistance=r1),
        Resistor("R2", ("a", "b"), resistance=r2),
        Capacitor("C1", ("a", "out"), capacitance=c1),
        Capacitor("C2", ("b", "ground"), capacitance=c2),
        OperationalAmplifier("U", ("b", "out"), ("out", "ground")),
    )
    system = m.linearise(outputs=["out.voltage"])
    omega = np.logspace(-1, 1.5, 9)
    s = 1j * omega
    exact = 1 / (1 + s * c2 * (r1 + r2) + s**2 * r1 * r2 * c1 * c2)
    np.testing.assert_allclose(system.frequency_response(omega)[:, 0, 0], exact, rtol=1e-10)
    np.testing.assert_allclose(
        np.sort_complex(system.poles()), np.sort_complex(np.roots([r1 * r2 * c1 * c2, c2 * (r1 + r2), 1])), rtol=1e-10
    )
    sol = m.simulate(t_end=4.0, points=9, **TIGHT)
    poles = np.roots([r1 * r2 * c1 * c2, c2 * (r1 + r2), 1])
    step = 1 + np.real(
        poles[1] / (poles[0] - poles[1]) * np.exp(poles[0] * sol.t)
        - poles[0] / (poles[0] - poles[1]) * np.exp(poles[1] * sol.t)
    )
    np.testing.assert_allclose(sol["out.voltage"], step, atol=1e-8)


IS, VT = 1e-12, 0.02585


def rectifier(amplitude: float, load: float = 100.0) -> cotree.Model:
    return circuit(
        VoltageSource("V", ("in", "ground"), voltage=f"{amplitude}*sin(2*pi*50*t)"),
        Resistor("RS", ("in", "a"), resistance=0.5),
        Diode("D", ("a", "out"), saturation_current=IS, thermal_voltage=VT, leakage=0.0),
        Capacitor("C", ("out", "ground"), capacitance=1e-3),
        Resistor("RL", ("out", "ground"), resistance=load),
    )


def diode_current(drive: float, resistance: float) -> float:
    """i with drive = resistance i + VT log(i / IS + 1), bracketed and found without Newton."""
    low, high = -IS, max(drive / resistance, 0.0)
    if high <= 0:
        f = lambda v: IS * np.expm1(v / VT) - (drive - v) / resistance  # noqa: E731
        v = brentq(f, drive, 0.0, xtol=1e-16, rtol=1e-15)
        return IS * np.expm1(v / VT)
    f = lambda i: resistance * i + VT * np.log1p(i / IS) - drive  # noqa: E731
    return brentq(f, low * (1 - 1e-12), high, xtol=1e-18, rtol=1e-15)


@pytest.mark.parametrize("amplitude", [5.0, 300.0])
def test_diode_rectifier_against_radau(amplitude: float) -> None:
    """C v' = i(V - v) - v / RL, with the diode's equation solved by bisection; 300 V drive 500 A through it."""

    def rate(t: float, v: np.ndarray) -> list[float]:
        drive = amplitude * np.sin(2 * np.pi * 50 * t) - v[0]
        return [(diode_current(drive, 0.5) - v[0] / 100.0) / 1e-3]

    sol = rectifier(amplitude).simulate(t_end=0.03, points=31, rtol=1e-8, atol=1e-10)
    exact = solve_ivp(rate, (0, 0.03), [0.0], method="Radau", t_eval=sol.t, rtol=1e-9, atol=1e-11, max_step=5e-4)
    # Both sides ask for 1e-8 of 300 V or better; the sum of local errors over some thousand steps is allowed a hundred.
    np.testing.assert_allclose(sol["out.voltage"], exact.y[0], atol=1e-6 * amplitude)
    assert np.all(sol["D.current"] > -1.01 * IS - 1e-9)
    assert sol.energy().error < 1e-6


def test_diode_curve_at_rest() -> None:
    """V over R and a diode: the bisection's current, from full blocking to hard conduction."""
    for volts in (-20.0, -0.3, 0.2, 0.6, 1.0, 12.0, 100.0):
        m = circuit(
            VoltageSource("V", ("in", "ground"), voltage=volts),
            Resistor("R", ("in", "a"), resistance=2.0),
            Diode("D", ("a", "ground"), saturation_current=IS, thermal_voltage=VT, leakage=0.0),
        )
        sol = m.simulate(t_end=1.0, points=2)
        assert sol["D.current"][0] == pytest.approx(diode_current(volts, 2.0), rel=1e-8, abs=1e-14), volts


def test_switch_of_an_rc_at_several_instants() -> None:
    """Piecewise exponentials; the switch is open, closed, open, closed."""
    on, off, c, bleed = 1.0, 1e6, 0.2, 50.0
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage=10.0),
        Switch(
            "S",
            ("in", "out"),
            closed="step(t - 0.3) - step(t - 0.7) + step(t - 1.1)",
            on_resistance=on,
            off_resistance=off,
        ),
        Capacitor("C", ("out", "ground"), capacitance=c, initial=2.0),
        Resistor("R", ("out", "ground"), resistance=bleed),
    )
    instants = [0.0, 0.3, 0.7, 1.1, 1.5]
    times = np.unique([*np.linspace(0, 1.5, 31), *instants])
    sol = m.simulate(t_end=1.5, times=times, **TIGHT)
    exact, voltage = np.zeros(len(times)), 2.0
    for k, (a, b) in enumerate(itertools.pairwise(instants)):
        resistance = on if k % 2 else off
        final, tau = 10 * bleed / (bleed + resistance), c / (1 / bleed + 1 / resistance)
        inside = (times >= a) & (times <= b)
        exact[inside] = final + (voltage - final) * np.exp(-(times[inside] - a) / tau)
        voltage = final + (voltage - final) * np.exp(-(b - a) / tau)
    np.testing.assert_allclose(sol["out.voltage"], exact, atol=1e-8)
    # At the instants themselves the current is the one just after the switch has moved.
    for instant, resistance in ((0.3, on), (0.7, off), (1.1, on)):
        k = int(np.flatnonzero(times == instant)[0])
        assert sol["S.current"][k] == pytest.approx((10 - exact[k]) / resistance, rel=1e-6)
    assert sol.statistics.stretches == 4


def test_mutual_inductance_closed_form() -> None:
    """[L] i' = v - R i with the matrix [L1 M; M L2], by the matrix exponential."""
    l1, l2, mutual = 0.5, 0.2, -0.25
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage=3.0),
        Resistor("R1", ("in", "a"), resistance=2.0),
        MutualInductance(
            "M", ("a", "ground"), ("b", "ground"),
            primary_inductance=l1, secondary_inductance=l2, mutual=mutual, initial_secondary=0.4,
        ),
        Resistor("R2", ("b", "ground"), resistance=1.5),
    )  # fmt: skip
    sol = m.simulate(t_end=1.0, points=11, **TIGHT)
    inverse = np.linalg.inv([[l1, mutual], [mutual, l2]])
    block = np.zeros((3, 3))
    block[:2, :2], block[:2, 2] = -inverse @ np.diag([2.0, 1.5]), inverse @ [3.0, 0.0]
    exact = np.array([expm(block * t) @ [0.0, 0.4, 1.0] for t in sol.t]).T
    np.testing.assert_allclose(sol["M.primary.current"], exact[0], atol=1e-8)
    np.testing.assert_allclose(sol["M.secondary.current"], exact[1], atol=1e-8)
    assert sol.energy().error < 1e-8


def test_transformer_and_gyrator_change_impedances() -> None:
    """A transformer shows n^2 R, a gyrator r^2 / R."""
    shown = {
        25.0 * 3.0: Transformer("X", ("a", "ground"), ("b", "ground"), ratio=5.0),
        25.0 / 3.0: Gyrator("X", ("a", "ground"), ("b", "ground"), resistance=5.0),
    }
    for impedance, part in shown.items():
        m = circuit(
            VoltageSource("V", ("a", "ground"), voltage="sin(t)"), part, Resistor("R", ("b", "ground"), resistance=3.0)
        )
        sol = m.simulate(t_end=2.0, points=5)
        np.testing.assert_allclose(sol["X.primary.current"], np.sin(sol.t) / impedance, atol=1e-12)
        np.testing.assert_allclose(sol["X.primary.power"] + sol["X.secondary.power"], 0.0, atol=1e-12)


def test_voltage_and_current_of_every_element_are_outputs() -> None:
    m = rectifier(5.0)
    sol = m.simulate(t_end=1e-3, points=3)
    for edge in m.edges():
        for what, unit in (("voltage", "V"), ("current", "A"), ("power", "W")):
            assert np.isfinite(sol[f"{edge.name}.{what}"]).all()
            assert sol.unit(f"{edge.name}.{what}") == unit


def test_inductor_driven_by_a_step() -> None:
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage="5*step(t - 0.25)"),
        Resistor("R", ("in", "a"), resistance=2.0),
        Inductor("L", ("a", "ground"), inductance=0.5),
    )
    sol = m.simulate(t_end=1.0, points=9, **TIGHT)
    exact = 2.5 * (1 - np.exp(-4 * np.maximum(sol.t - 0.25, 0)))
    np.testing.assert_allclose(sol["L.current"], exact, atol=1e-9)
    assert sol["V.voltage"][2] == 5.0  # t = 0.25 exactly


def test_a_switch_is_never_more_than_closed_or_open() -> None:
    """closed = 4 t - 1 is held between 0 and 1; between, the conductances blend."""
    m = cotree.Model("switch")
    m.add(cotree.VoltageSource("V", ("a", "ground"), voltage=1.0))
    m.add(cotree.Switch("S", ("a", "ground"), closed="4*t - 1", on_resistance=1.0, off_resistance=10.0))
    m.add(cotree.Switch("Q", ("a", "ground"), closed="step(t - 0.5)", on_resistance=1.0, off_resistance=10.0))
    solution = m.simulate(t_end=1.0, points=9)
    expected = np.clip(4 * solution.t - 1, 0, 1)
    np.testing.assert_allclose(solution["S.current"], expected + (1 - expected) / 10, rtol=1e-9)
    assert "min" not in next(line for line in m.explain().splitlines() if "Q.current - " in line)
    m.add(cotree.Switch("P", ("a", "ground"), closed=1.5, on_resistance=1.0, off_resistance=10.0))
    with pytest.raises(cotree.ModelError, match=r"closed is 1\.5"):
        m.check()
