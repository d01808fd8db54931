"""Sampled blocks alone: sequences worked out by hand or by a recursion written here."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from control.blocks import Alone
from cotree.terminal import control as c


def values(block, inputs, name="a.value"):
    return [found["value"] for found in Alone(block).samples([{name: each} for each in inputs])]


def test_sample_and_hold_rounds_to_its_quantum():
    assert values(c.SampleHold("s", input="a.value", period=0.1), [1.0, 2.5]) == [1.0, 2.5]
    rounded = values(c.SampleHold("s", input="a.value", period=0.1, quantum=0.25), [0.12, 0.13, -0.3, 0.125])
    assert rounded == [0.0, 0.25, -0.25, 0.25]
    assert Alone(c.SampleHold("s", input="a.value", period=0.1, initial=7)).outputs({"a.value": 1.0})["value"] == 7.0


def test_sampled_delay_is_late_by_whole_samples():
    assert values(c.SampledDelay("d", input="a.value", period=1, count=1), [1, 2, 3]) == [0, 1, 2]
    late = values(c.SampledDelay("d", input="a.value", period=1, count=3, initial=9), [1, 2, 3, 4, 5])
    assert late == [9, 9, 9, 1, 2]


def test_sampled_state_space_is_the_recursion():
    a, b = np.array([[0.5, 0.1], [0.0, -0.3]]), np.array([[1.0], [2.0]])
    out, d = np.array([[1.0, -1.0]]), np.array([[0.25]])
    block = c.SampledStateSpace("k", inputs=["a.value"], a=a, b=b, c=out, d=d, period=1, initial=[1, 0])
    x, wanted, inputs = np.array([[1.0], [0.0]]), [], [1.0, -2.0, 0.5, 3.0]
    for u in inputs:
        wanted.append((out @ x + d * u).item())
        x = a @ x + b * u
    assert values(block, inputs) == pytest.approx(wanted, abs=1e-14)


def test_sampled_pid_by_hand():
    """p = 2, i = 4, d = 0.3, T = 0.5: I grows by 2 e, D is (e - e_before) 0.6, and zero at first."""
    block = c.SampledPid("k", setpoint=1, measurement="a.value", p=2, i=4, d=0.3, period=0.5)
    e = [1.0, 0.5, -0.5]
    wanted = [2 + 2 + 0, 1 + 3 - 0.3, -1 + 2 - 0.6]
    assert values(block, [1 - each for each in e]) == pytest.approx(wanted, abs=1e-14)


def test_sampled_pid_filters_its_rate():
    """D = (0.5 D + 0.3 de)/(0.5 + 0.5)."""
    block = c.SampledPid("k", input="a.value", p=0, d=0.3, filter=0.5, period=0.5)
    assert values(block, [1.0, 3.0, 3.0, 2.0]) == pytest.approx([0.0, 0.6, 0.3, 0.15 - 0.3], abs=1e-15)


def test_sampled_pid_does_not_wind_up():
    """At the limit of 5 the integral stays at 4 + 0; with the first negative error it falls at once."""
    block = c.SampledPid("k", input="a.value", p=1, i=2, period=1, lower=-5, upper=5)
    #    e = 1: I = 2, 3;  e = 1: I = 4, 5;  e = 2: 8 + 2 > 5, I stays 4, 6 -> 5;  e = 2: the same;  e = -1: I = 2, 1
    assert values(block, [1.0, 1.0, 2.0, 2.0, -1.0]) == [3.0, 5.0, 5.0, 5.0, 1.0]
    assert values(c.SampledPid("k", input="a.value", p=1, period=1, upper=2), [-9.0, 9.0]) == [-9.0, 2.0]


def test_a_python_function_is_called_with_numbers_and_checked():
    calls = []

    def control(t, inputs):
        calls.append((t, list(inputs)))
        return [2 * inputs[0], inputs[0] ** 2]

    block = c.Function("f", function=control, inputs=["a.value", 3], period=0.1, count=2)
    assert Alone(block).samples([{"a.value": 4.0}]) == [{"value_1": 8.0, "value_2": 16.0}]
    assert calls == [(0.0, [4.0, 3.0])]
    one = c.Function("f", function=lambda t, u: np.float64(u[0]), inputs=["a.value"], period=0.1)
    assert values(one, [1.5]) == [1.5]


@pytest.mark.parametrize(
    ("gives", "match"),
    [
        ([1.0, 2.0], r"f\.function at t = 0\.5 s: it gave 2 values\. Expected a number"),
        (None, "found None. Expected a number"),
        (float("nan"), "the value is nan"),
        ("5", "found '5'"),
    ],
)
def test_what_a_function_gives_must_be_numbers(gives, match):
    block = c.Function("f", function=lambda t, u: gives, inputs=[1], period=0.1)
    with pytest.raises(ct.ModelError, match=match):
        block.called(0.5, [1.0])


def test_an_error_inside_of_a_function_says_when_it_came():
    block = c.Function("f", function=lambda t, u: u[7], inputs=[1], period=0.1)
    with pytest.raises(IndexError) as caught:
        block.called(0.5, [1.0])
    assert caught.value.__notes__ == ["f.function was called at t = 0.5 s with [1.0]"]


def test_a_file_cannot_hold_a_function(tmp_path):
    model = ct.Model("m")
    model.add(c.Function("f", function=lambda t, u: u[0], inputs=["t"], period=0.1))
    with pytest.raises(ct.ModelError, match="f: its function is a Python function, which a file cannot hold"):
        model.save(tmp_path / "m.yaml")
    path = tmp_path / "n.yaml"
    path.write_text("components: {f: {kind: control.function, inputs: [t], period: 0.1}}\n")
    with pytest.raises(ct.ModelError, match=r"control\.function is a Python function, which a file cannot hold"):
        ct.load(path)
