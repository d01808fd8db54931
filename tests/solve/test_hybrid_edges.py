"""Runs with events at the edges: parts that are cut off, pulses, wrong functions, names that switches share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cotree
import cotree as ct
from cotree import ModelError, Solution, SolveError, control, hydraulic, pneumatic
from cotree.formulation.system import Switch
from cotree.model import Component
from cotree.solve import pieces
from cotree.solve.recording import Recording
from cotree.solve.simulate import simulate
from solve.hybrid_models import system


def charged(voltage: str, *blocks: Component, **parameters: float) -> cotree.Model:
    """A source that charges a capacitor through a resistor, T = 0.2 s."""
    m = cotree.Model("charged")
    for name, value in parameters.items():
        m.parameter(name, value)
    m.add(ct.VoltageSource("V", ("a", "ground"), voltage=voltage))
    m.add(ct.Resistor("R", ("a", "b"), resistance=2.0))
    m.add(ct.Capacitor("C", ("b", "ground"), capacitance=0.1))
    for block in blocks:
        m.add(block)
    return m


def machine(voltage: str, **parameters: float) -> cotree.Model:
    """The same with a block beside it, so that pulses are samples instead of breaks."""
    return charged(voltage, control.Integrator("I", input="b.voltage"), **parameters)


def test_a_valve_that_cuts_off_a_node_is_named() -> None:
    m = cotree.Model("cut off")
    m.add(hydraulic.FlowSource("Q", ("ground", "a"), flow="1e-4*cos(t)"))
    m.add(hydraulic.CheckValve("X", ("a", "b"), conductance=1e-9, cracking_pressure=0.0))
    m.add(hydraulic.Volume("v", ("b", "ground"), volume=1e-3, bulk_modulus=1e9))
    with pytest.raises(SolveError, match=r"nothing fixes the values by which X.opens, X.closes would happen.*leakage"):
        m.simulate(1.0, points=3)


def test_samples_that_make_too_many_steps_are_named() -> None:
    pid = control.SampledPid("pid", setpoint=1.0, measurement="C.voltage", p=1.0, period=1e-9)
    with pytest.raises(SolveError, match=r"the samples of pid make most of them"):
        charged("pid.value", pid).simulate(1.0, points=3, max_steps=1000)


@pytest.mark.parametrize(
    "pulse",
    ["pulse(t, 0.1, 0.25)", "pulse(t, 0.25, 0.25)", "pulse(t, 0, 0.25)", "pulse(1 - t, 0.1, 0.25)",
     "pulse(2*t + 0.3, 0.1, 0.25)"],
)  # fmt: skip
def test_pulses_of_a_machine_are_those_of_a_network(pulse: str) -> None:
    one, other = (m.simulate(1.0, points=11) for m in (machine(pulse), charged(pulse)))
    np.testing.assert_allclose(one["C.voltage"], other["C.voltage"], rtol=0, atol=1e-8)


@pytest.mark.parametrize(
    ("width", "period", "changes"), [(0.5, 0.25, {}), (0.1, 0, {}), (-0.1, 0.25, {}), ("w", 0.25, {"w": 0.5})]
)
def test_a_wrong_pulse_is_refused(width: float | str, period: float, changes: dict[str, float]) -> None:
    for make in (machine, charged):
        with pytest.raises(ModelError, match=r"a pulse of width .* and period .* Expected 0 <= width <= period"):
            make(f"pulse(t, {width}, {period})", w=0.1).simulate(1.0, points=3, parameters=changes)


def test_what_a_python_function_gives_wrong_is_said_once() -> None:
    block = control.Function("c", inputs=["C.voltage"], function=lambda t, v: [1, 2], period=0.1, unit="V")
    with pytest.raises(SolveError) as caught:
        charged("c.value", block).simulate(1.0, points=3)
    assert str(caught.value).startswith("c.function at t = 0 s: it gave 2 values. Expected a number. Correct")


def test_switches_that_share_a_name_keep_their_events_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A saw tooth that turns at both ends: the turns have one name, and what comes after them has another."""
    monkeypatch.setattr(pieces, "STEPS", 20)
    monkeypatch.setattr(pieces, "TIMES", 1)
    monkeypatch.setattr("cotree.solve.recording.PAUSE", 0.0)
    saw = system(
        {"x": 0.25},
        {"way": 1.0, "half": 0.0},
        lambda x, h: (h[0],),
        switches=lambda x, h: (
            Switch("turns", (h[0] > 0) * (x[0] - 1), {0: -1.0}),
            Switch("turns", (h[0] < 0) * -x[0], {0: 1.0}),
            Switch("passes", (1 - h[1]) * (x[0] - 0.5), {1: 1.0}),
            Switch("comes_back", h[1] * (0.5 - x[0]), {1: 0.0}),
        ),
    )
    path, seen = tmp_path / "saw.h5", []

    def look(done: float) -> None:
        if done > 0.6 and not seen:
            seen.append(Solution.from_hdf5(path))

    whole = simulate(saw, 8.0, points=81, record=Recording(path), progress=look)
    np.testing.assert_allclose(whole.events["turns"], 0.75 + np.arange(8), rtol=0, atol=1e-9)
    for name, times in whole.events.items():
        np.testing.assert_array_equal(seen[0].events[name], times[times <= seen[0].restart.t])
        assert len(seen[0].events[name]) > 1


def test_pressures_below_the_vacuum_are_said() -> None:
    m = cotree.Model("suction")
    m.add(hydraulic.FlowSource("Q", ("a", "ground"), flow=1e-5))
    m.add(hydraulic.Volume("v", ("a", "ground"), volume=1e-3, bulk_modulus=1e9))
    assert not any("vacuum" in note for note in m.simulate(0.01, points=3).notes)  # -1e5 Pa
    late = m.simulate(0.05, points=3).notes
    assert any("at a falls below the vacuum: -5e+05 Pa at t = 0.05 s" in note for note in late)


def test_gas_below_the_vacuum_is_refused() -> None:
    m = cotree.Model("gas")
    m.add(pneumatic.Chamber("A", ("a", "ground"), volume=1e-3, initial=-1.2e5))
    with pytest.raises(ModelError, match=r"A.initial: the pressure is -120000 Pa.*vacuum"):
        m.simulate(1.0)


def test_a_loose_tolerance_does_not_hide_that_a_run_is_stiff() -> None:
    """A charged capacitor behind a diode of 1 mohm: T = 100 ns, and the voltage follows the source while it rises."""
    m = cotree.Model("rectifier")
    m.add(ct.VoltageSource("V", ("a", "ground"), voltage="10*sin(314*t)"))
    m.add(ct.IdealDiode("D", ("a", "b"), on_resistance=1e-3, off_resistance=1e6, forward_voltage=0.0))
    m.add(ct.Capacitor("C", ("b", "ground"), capacitance=1e-4))
    m.add(ct.Resistor("R", ("b", "ground"), resistance=100.0))
    found = m.simulate(0.05, times=[0.0, 0.0025, 0.004, 0.05], rtol=0.1)
    assert found.statistics.integrator == "rodas"
    np.testing.assert_allclose(found["C.voltage"][:3], 10 * np.sin(314 * found.t[:3]), rtol=0, atol=1e-2)
