"""Ties between storages that depend on values: ill-scaled units, parameters that change, switches inside a tie."""

from __future__ import annotations

import numpy as np
import pytest

import cotree
from cotree import Inductor, OperationalAmplifier, Piston, Resistor, Switch, VoltageSource
from cotree.errors import CotreeError


def test_hydraulic_resistance_beside_a_piston_in_si_units() -> None:
    """m u' = A p - d u with p = P - R A u; R of 1e10 Pa s/m^3 is an ordinary throttle. The mass starts at rest."""
    h, x = cotree.hydraulic, cotree.translational
    pressure, resistance, area, mass, damping = 1e5, 1e10, 1e-3, 10.0, 10.0
    m = cotree.Model("cylinder")
    m.add(h.PressureSource("P", ("a", "ground"), pressure=pressure))
    m.add(h.Resistance("R", ("a", "b"), resistance=resistance))
    m.add(Piston("A", ("b", "ground"), ("x", "ground"), area=area))
    m.add(x.Mass("m", ("x", "ground"), mass=mass))
    m.add(x.Damper("d", ("x", "ground"), damping=damping))
    assert m.equations().u.names == ("m.velocity",)
    sol = m.simulate(t_end=4e-3, points=9, rtol=1e-10, atol=1e-14)
    total = damping + resistance * area**2
    exact = area * pressure / total * (1 - np.exp(-total / mass * sol.t))
    np.testing.assert_allclose(np.abs(sol["x.velocity"]), exact, atol=1e-10)


@pytest.mark.parametrize("resistance", [1.0, 1e6, 1e10, 1e12])
def test_transimpedance_amplifier_of_any_size(resistance: float) -> None:
    """v_o = -R i, the usual amplifier of a photodiode."""
    m = cotree.Model("photodiode")
    m.add(cotree.CurrentSource("I", ("ground", "n"), current=1.0 / resistance))
    m.add(OperationalAmplifier("U", ("ground", "n"), ("o", "ground")))
    m.add(Resistor("R", ("n", "o"), resistance=resistance))
    m.add(Resistor("RL", ("o", "ground"), resistance=1e3))
    sol = m.simulate(t_end=1.0, points=2)
    np.testing.assert_allclose(sol["o.voltage"], -1.0, rtol=1e-9)


@pytest.mark.parametrize("capacitance", [1e-3, 1e-12])
def test_small_capacitors_behind_a_transformer(capacitance: float) -> None:
    """RC with R C = 1 ms whatever the size, seen through a transformer of ratio 1000."""
    m = cotree.Model("small")
    m.add(VoltageSource("V", ("in", "ground"), voltage=1.0))
    m.add(Resistor("R", ("in", "a"), resistance=1e-3 / capacitance))
    m.add(cotree.Transformer("T", ("a", "ground"), ("b", "ground"), ratio=1e-3))
    m.add(cotree.Capacitor("C", ("b", "ground"), capacitance=capacitance * 1e-6))
    assert m.equations().u.names == ("C.voltage",)
    sol = m.simulate(t_end=2e-3, points=5, rtol=1e-9)
    np.testing.assert_allclose(sol["a.voltage"], 1 - np.exp(-sol.t / 1e-3), atol=1e-7)


def howland(r4: float) -> cotree.Model:
    """A Howland pump: with equal resistors it forces the inductor's current, otherwise it does not."""
    m = cotree.Model("Howland", parameters={"r4": r4})
    m.add(VoltageSource("V", ("in", "ground"), voltage="sin(t)"))
    m.add(Resistor("R1", ("in", "p"), resistance=1.0))
    m.add(Resistor("R2", ("p", "o"), resistance=1.0))
    m.add(Resistor("R3", ("n", "ground"), resistance=1.0))
    m.add(Resistor("R4", ("n", "o"), resistance="r4"))
    m.add(OperationalAmplifier("U", ("p", "n"), ("o", "ground")))
    m.add(Inductor("L", ("p", "ground"), inductance=1.0))
    return m


def test_howland_pump_forces_the_current_of_an_inductor() -> None:
    sol = howland(1.0).simulate(t_end=2.0, points=9)
    np.testing.assert_allclose(sol["L.current"], np.sin(sol.t), atol=1e-9)
    np.testing.assert_allclose(sol["L.voltage"], np.cos(sol.t), atol=1e-9)


@pytest.mark.parametrize(("built", "changed"), [(1.0, 0.9), (0.9, 1.0)])
def test_a_parameter_that_changes_the_number_of_states_is_not_taken_silently(built: float, changed: float) -> None:
    """The same results as a model built with the value, or one clear message; never a wrong number."""
    rebuilt = howland(changed).simulate(t_end=1.0, points=3)
    try:
        sol = howland(built).simulate(t_end=1.0, points=3, parameters={"r4": changed})
    except CotreeError as error:
        assert "U" in str(error) or "L" in str(error)  # noqa: PT017
    else:
        np.testing.assert_allclose(sol["L.current"], rebuilt["L.current"], atol=1e-6)


def switched_tie(closed: str) -> cotree.Model:
    """An inverting amplifier with an inductor as feedback: i_L = V G(t), so v_L = L V G'(t)."""
    m = cotree.Model("switched tie")
    m.add(VoltageSource("V", ("a", "ground"), voltage=1.0))
    m.add(Switch("S", ("a", "n"), closed=closed, on_resistance=1.0, off_resistance=10.0))
    m.add(OperationalAmplifier("U", ("ground", "n"), ("o", "ground")))
    m.add(Inductor("L", ("n", "o"), inductance=1.0))
    m.add(Resistor("R", ("o", "ground"), resistance=1.0))
    return m


def test_a_conductance_that_varies_inside_a_tie() -> None:
    """G(t) = c(t) + (1 - c(t)) / 10 with c = 0.5 + 0.4 sin t; its rate drives the inductor. A refusal is fair, too."""
    try:
        sol = switched_tie("0.5 + 0.4*sin(t)").simulate(t_end=3.0, points=7)
    except CotreeError as error:
        assert "L" in str(error)  # noqa: PT017
        return
    np.testing.assert_allclose(sol["L.voltage"], 0.36 * np.cos(sol.t), atol=1e-8)


def test_a_switch_that_jumps_inside_a_tie_is_refused() -> None:
    with pytest.raises(CotreeError):
        switched_tie("step(t - 1)").simulate(t_end=3.0, points=7)


def test_a_rate_that_cancels_is_not_taken_for_one() -> None:
    """The source's rate drives the gyrator but cancels in the current of L7, which follows from others."""
    m = cotree.Model("cancel")
    m.add(cotree.Inductor("L0", ("n1", "ground"), inductance=0.11))
    m.add(Resistor("R1", ("n2", "ground"), resistance=0.7))
    m.add(Resistor("R2", ("n3", "ground"), resistance=0.7))
    m.add(cotree.CurrentSource("I3", ("n4", "n1"), current="cos(1.7*t)"))
    m.add(cotree.Capacitor("C4", ("ground", "n2"), capacitance=0.13))
    m.add(Resistor("R5", ("n2", "n3"), resistance=0.7))
    m.add(Resistor("R6", ("n2", "n4"), resistance=0.7))
    m.add(cotree.Inductor("L7", ("ground", "n1"), inductance=0.11))
    m.add(Resistor("R8", ("ground", "n2"), resistance=0.7))
    m.add(cotree.Gyrator("G", ("n1", "n2"), ("n1", "ground"), resistance=-2.0))
    system = m.linearise(outputs=["L7.current", "R5.current", "R6.voltage"])
    assert system.poles().real.min() == pytest.approx(-24.8447205, abs=1e-6)
