"""The energy audit and the power balance: Tellegen's theorem, closure, and what counts as supplied."""

from __future__ import annotations

import numpy as np
import pytest

import cotree
from cotree import (
    Capacitor,
    Diode,
    Gyrator,
    Inductor,
    OperationalAmplifier,
    Resistor,
    Switch,
    Transformer,
    VoltageSource,
)
from cotree.results import EnergyAudit


def busy() -> cotree.Model:
    """Every electrical kind at once, a machine and its shaft."""
    m = cotree.Model("busy")
    m.add(VoltageSource("V", ("in", "ground"), voltage="3*sin(5*t) + step(t - 0.5)"))
    m.add(Resistor("R1", ("in", "a"), resistance=1.0))
    m.add(Inductor("L1", ("a", "b"), inductance=0.2))
    m.add(Transformer("T", ("b", "ground"), ("c", "ground"), ratio=0.5))
    m.add(Capacitor("C1", ("c", "ground"), capacitance=0.1, initial=0.3))
    m.add(Diode("D", ("c", "d"), saturation_current=1e-9, thermal_voltage=0.04, leakage=1e-6))
    m.add(Resistor("R2", ("d", "ground"), resistance=2.0))
    m.add(Gyrator("G", ("c", "ground"), ("e", "ground"), resistance=3.0))
    m.add(Capacitor("C2", ("e", "ground"), capacitance=0.4))
    m.add(Switch("S", ("e", "f"), closed="pulse(t, 0.2, 0.4)", on_resistance=0.5, off_resistance=1e4))
    m.add(Resistor("R3", ("f", "ground"), resistance=1.0))
    m.add(OperationalAmplifier("U", ("c", "o"), ("o", "ground")))
    m.add(Resistor("R4", ("o", "m"), resistance=0.8))
    m.add(cotree.RotationalEMF("K", ("m", "ground"), ("shaft", "ground"), constant=0.6))
    m.add(cotree.rotational.Inertia("J", ("shaft", "ground"), inertia=0.3))
    m.add(cotree.rotational.Damper("B", ("shaft", "ground"), damping=0.2))
    return m


def test_tellegen_and_closure() -> None:
    sol = busy().simulate(t_end=2.0, points=201, rtol=1e-9)
    powers = np.array([sol[name] for name in sol if name.endswith(".power")])
    np.testing.assert_allclose(powers.sum(axis=0), 0.0, atol=1e-9 * np.abs(powers).max())
    audit = sol.energy()
    assert audit.error < 1e-6  # a thousand times rtol
    np.testing.assert_allclose(audit.closure, 0.0, atol=1e-6 * audit.scale)
    assert np.all(np.diff(audit.dissipated) >= -1e-9 * audit.scale)
    assert audit.stored[0] == pytest.approx(0.1 * 0.3**2 / 2)


def test_energies_are_integrals_of_the_powers() -> None:
    """1 V on R = 2 and C = 0.5: the source gives C V^2 in the end, half of it is stored, half burnt."""
    m = cotree.Model("RC")
    m.add(VoltageSource("V", ("in", "ground"), voltage=1.0))
    m.add(Resistor("R", ("in", "out"), resistance=2.0))
    m.add(Capacitor("C", ("out", "ground"), capacitance=0.5))
    sol = m.simulate(t_end=30.0, points=61, rtol=1e-10)
    audit, decay = sol.energy(), np.exp(-sol.t)
    np.testing.assert_allclose(audit.supplied, 0.5 * (1 - decay), atol=1e-8)
    np.testing.assert_allclose(audit.stored, 0.25 * (1 - decay) ** 2, atol=1e-8)
    np.testing.assert_allclose(audit.dissipated, 0.25 * (1 - decay**2), atol=1e-8)
    np.testing.assert_allclose(sol["R.power"], 0.5 * decay**2, atol=1e-8)
    np.testing.assert_allclose(sol["V.power"], -0.5 * decay, atol=1e-8)  # passive sense: a source takes negative power


@pytest.mark.parametrize("times", [[1.0, 2.0, 5.0], [0.0, 5.0], [5.0]])
def test_closure_whatever_output_times(times: list[float]) -> None:
    """The balance starts at the start of the run, not at the first output time."""
    m = cotree.Model("RC")
    m.add(VoltageSource("V", ("in", "ground"), voltage=1.0))
    m.add(Resistor("R", ("in", "out"), resistance=1.0))
    m.add(Capacitor("C", ("out", "ground"), capacitance=1.0, initial=-0.5))
    audit = m.simulate(t_end=5.0, times=times).energy()
    assert audit.error < 1e-6


def test_closure_with_a_late_start() -> None:
    audit = busy().simulate(t_end=3.0, t_start=1.0, points=11, rtol=1e-9).energy()
    assert audit.error < 1e-6
    assert audit.supplied[0] == 0.0


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_closure_at_any_size(scale: float) -> None:
    """Nano- and gigajoules alike: the audit is relative to the energies themselves."""
    m = cotree.Model("RC")
    m.add(VoltageSource("V", ("in", "ground"), voltage=1.0))
    m.add(Resistor("R", ("in", "out"), resistance=1 / scale))
    m.add(Capacitor("C", ("out", "ground"), capacitance=scale))
    audit = m.simulate(t_end=5.0, points=11).energy()
    assert audit.scale == pytest.approx(scale * (1 - np.exp(-5)), rel=1e-6)
    assert audit.error < 1e-6


def test_lossless_oscillation_keeps_its_energy() -> None:
    m = cotree.Model("LC")
    m.add(Inductor("L", ("a", "ground"), inductance=0.5))
    m.add(Capacitor("C", ("a", "ground"), capacitance=0.5, initial=2.0))
    sol = m.simulate(t_end=2 * np.pi * 5, points=101, rtol=1e-10)
    np.testing.assert_allclose(sol["C.voltage"], 2 * np.cos(2 * sol.t), atol=1e-6)
    np.testing.assert_allclose(sol.energy().stored, 1.0, rtol=1e-6)
    np.testing.assert_array_equal(sol.energy().supplied, 0.0)


def test_audit_of_nothing() -> None:
    t = np.array([0.0, 1.0])
    zero = np.zeros(2)
    assert EnergyAudit(t, zero, zero, zero, 0.0).error == 0.0
    assert EnergyAudit(t, zero, np.array([0.0, 1.0]), np.array([0.0, 2.0]), 0.0).error == 0.5
    text = str(EnergyAudit(t, zero, np.array([0.0, 1.0]), np.array([0.0, 2.0]), 0.0))
    assert "supplied" in text
    assert "J" in text
