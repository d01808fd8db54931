"""A sampled controller on a mechanism against equations by hand, integrated from sample to sample."""

from __future__ import annotations

from math import exp

import numpy as np

import cotree as ct
from cotree.terminal.control.function import Function
from machines.models import crank_drive, crank_parts, of, sampled_slider_crank
from machines.witness import SampledSliderCrank


def test_sampled_controller_on_a_slider_crank() -> None:
    w, samples = SampledSliderCrank(period=2e-3), 150
    right = w.sampled(samples)
    times = np.arange(samples + 1) * w.period
    sol = sampled_slider_crank(w, w.period).simulate(times[-1], times=times, rtol=1e-10)
    pairs = {"O.angle": "angle", "O.angle_rate": "speed", "motor.electrical.current": "current"}
    for name, hand in pairs.items():
        values = right[hand]
        np.testing.assert_allclose(sol[name], values, rtol=0, atol=1e-7 * np.abs(values).max(), err_msg=name)
    assert sol.energy().error < 1e-8


def test_a_python_function_is_called_once_at_every_sample() -> None:
    """It keeps the sum of errors itself, so that a call too many would show."""
    w, samples, calls = SampledSliderCrank(period=2e-3), 60, list[float]()
    total = 0.0

    def control(t: float, inputs: list[float]) -> float:
        nonlocal total
        calls.append(t)
        error = w.target - inputs[0]
        total += w.period * error
        return w.p * error + w.k * total

    model = of("called", crank_parts(w) | crank_drive(w, "pi.value"), planar=True)
    model.add(Function("pi", inputs=["O.angle_rate"], function=control, period=w.period))
    times = np.arange(samples + 1) * w.period
    sol = model.simulate(times[-1], times=times, rtol=1e-10)
    np.testing.assert_allclose(calls, times, rtol=0, atol=1e-15)
    right = w.sampled(samples)["angle"]
    np.testing.assert_allclose(sol["O.angle"], right, rtol=0, atol=1e-7 * right.max())


def test_samples_at_one_time_act_together_although_their_times_round_apart() -> None:
    """Samplers of 10 and 25 ms meet every 50 ms; 6 * 0.025 is not 15 * 0.01 in floating point, but the same instant.

    Both then read what was held before. Between samples the capacitor's voltage moves to the source's by exp(-t / RC).
    """
    parts = {
        "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": "fast.value + slow.value"},
        "R": {"kind": "resistor", "nodes": ["a", "b"], "resistance": 1.0},
        "C": {"kind": "capacitor", "nodes": ["b", "ground"], "capacitance": 0.1},
        "fast": {"kind": "control.sample_hold", "input": "1 - b.voltage", "period": 0.01},
        "slow": {"kind": "control.sample_hold", "input": "0.5*fast.value", "period": 0.025},
    }
    model = ct.Model.from_mapping({"name": "two samplers", "components": parts})
    voltage, fast, slow, right = 0.0, 0.0, 0.0, [0.0]
    for k in range(120):  # of 5 ms
        before = fast
        fast = fast if k % 2 else 1 - voltage
        slow = slow if k % 5 else 0.5 * before
        voltage = fast + slow + (voltage - fast - slow) * exp(-0.005 / 0.1)
        right.append(voltage)
    sol = model.simulate(0.6, points=121, rtol=1e-11)
    np.testing.assert_allclose(sol["b.voltage"], right, rtol=0, atol=1e-10)
