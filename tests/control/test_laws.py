"""Blocks alone against numbers worked out by hand, SciPy's systems, and rational functions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import signal as scipy_signal

from control.blocks import Alone
from cotree.terminal import control as c


def test_gain_sum_and_product():
    assert Alone(c.Gain("g", input="a.value", gain=-2.5)).outputs({"a.value": 3.0}) == {"value": -7.5}
    names = ["a.value", "2*b.value", "4"]
    seen = {"a.value": 3.0, "b.value": 0.5}
    assert Alone(c.Sum("s", inputs=names)).outputs(seen)["value"] == 8.0
    assert Alone(c.Sum("s", inputs=names, gains=[1, -1, 0.5])).outputs(seen)["value"] == 4.0
    assert Alone(c.Product("m", inputs=names)).outputs(seen)["value"] == 12.0


@pytest.mark.parametrize(
    ("limits", "pairs"),
    [
        ({"lower": -1, "upper": 2}, {-5: -1, -1: -1, 0.5: 0.5, 2: 2, 7: 2}),
        ({"upper": 2}, {-5: -5, 7: 2}),
        ({"lower": -1}, {-5: -1, 7: 7}),
    ],
)
def test_saturation(limits, pairs):
    block = Alone(c.Saturation("s", input="a.value", **limits))
    for given, wanted in pairs.items():
        held, _ = block.settled({"a.value": given})
        assert block.outputs({"a.value": given}, held)["value"] == wanted


def test_a_saturation_goes_from_one_limit_to_the_other_and_back_with_one_event_each():
    block = Alone(c.Saturation("s", input="a.value", lower=-1, upper=2))
    held, events = block.settled({"a.value": -9.0})
    assert (held["region"], events) == (0.0, ["falls"])
    held, events = block.settled({"a.value": 9.0}, held)
    assert (held["region"], events) == (2.0, ["rises"])
    assert block.settled({"a.value": 9.0}, held)[1] == []
    assert block.settled({"a.value": 0.0}, held)[0]["region"] == 1.0


def test_dead_band():
    block = Alone(c.DeadBand("d", input="a.value", lower=-1, upper=2))
    for given, wanted in {-5: -4, -0.5: 0, 1.9: 0, 7: 5}.items():
        assert block.outputs({"a.value": given}, block.settled({"a.value": given})[0])["value"] == wanted


POINTS = [(0, 1), (1, 3), (3, 2), (4, 2)]


def test_a_linear_table_is_numpys_interpolation():
    hold = Alone(c.Table("t", input="a.value", table=POINTS, beyond="hold"))
    on = Alone(c.Table("t", input="a.value", table=POINTS, beyond="extend"))
    for given in (-2.0, -0.1, 0.0, 0.3, 1.0, 1.7, 3.0, 3.5, 4.0, 9.0):
        seen = {"a.value": given}
        inside = np.interp(given, *zip(*POINTS, strict=True))
        assert hold.outputs(seen, hold.settled(seen)[0])["value"] == pytest.approx(inside, abs=1e-14)
        wanted = 1 + 2 * given if given < 0 else 2 if given > 4 else inside
        assert on.outputs(seen, on.settled(seen)[0])["value"] == pytest.approx(wanted, abs=1e-14)


def test_a_smooth_table_is_scipys_monotone_curve_between_its_ends():
    from scipy.interpolate import PchipInterpolator

    points = [(0.0, 0.0), (1.0, 3.0), (3.0, 4.0), (4.0, 9.0)]
    curve = PchipInterpolator(*zip(*points, strict=True))
    block = Alone(c.Table("t", input="a.value", table=points, beyond="hold", interpolation="smooth"))
    for given in (0.2, 1.0, 2.5, 3.9):
        seen = {"a.value": given}
        found = block.outputs(seen, block.settled(seen)[0])["value"]
        assert found == pytest.approx(float(curve(given)), rel=1e-13)
    assert block.outputs({"a.value": 8.0}, block.settled({"a.value": 8.0})[0])["value"] == 9.0


@pytest.mark.parametrize(
    ("above", "below"),
    [([2], [0.1, 1]), ([1, 0, 3], [2, 3, 4]), ([0, 0, 5, 1], [1, 0.4, 4, 0]), ([3], [2]), ([1, 2, 3], [1, 2, 3, 4, 5])],
)
def test_transfer_function_against_scipy(above, below):
    block = Alone(c.TransferFunction("h", input="a.value", numerator=above, denominator=below))
    if len(below) == 1:
        assert block.outputs({"a.value": 2.0})["value"] == 3.0
        return
    found = scipy_signal.ss2tf(*block.matrices("a.value"))
    wanted = np.trim_zeros(np.array(above, float), "f") / below[0]
    np.testing.assert_allclose(found[1], np.array(below) / below[0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(found[0][0][-len(wanted) :], wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[0][0][: -len(wanted)], 0.0, rtol=0, atol=1e-12)


def test_a_transfer_function_starts_settled():
    block = Alone(c.TransferFunction("h", input="a.value", numerator=[1, 6], denominator=[1, 5, 2], initial=4))
    _, states = block.start()
    assert block.outputs({"a.value": 4.0}, None, states)["value"] == 12.0  # 4 * 6/2
    rates = block.block.rates(block.v, block.x)
    assert [block.value(rate, {"a.value": 4.0}, None, states) for rate in rates.values()] == [0.0, 0.0]


def test_state_space_keeps_its_matrices():
    a, b, out, d = [[0, 1], [-2, -3]], [[0], [1]], [[1, 0], [0, 2]], [[0], [5]]
    block = Alone(c.StateSpace("p", inputs=["u.value"], a=a, b=b, c=out, d=d, initial=[1, "2"]))
    for found, wanted in zip(block.matrices("u.value"), (a, b, out, d), strict=True):
        np.testing.assert_array_equal(found, np.array(wanted, float))
    assert block.outputs({"u.value": 1.0}) == {"value_1": 1.0, "value_2": 9.0}


@pytest.mark.parametrize("order", range(1, 11))
def test_pade_delay_is_its_rational_function(order):
    """P(-s)/P(s) with P(s) = sum of (2n-k)! n!/((2n)! k! (n-k)!) s^k, on the imaginary axis."""
    n, time = order, 0.3
    block = Alone(c.Delay("d", input="a.value", time=time, order=n))
    a, b, out, d = block.matrices("a.value")
    f = math.factorial
    coefficients = [float(Fraction(f(2 * n - k) * f(n), f(2 * n) * f(k) * f(n - k))) for k in range(n + 1)]
    for frequency in (0.0, 0.5, 3.0, 20.0):
        s = 1j * frequency
        found = (out @ np.linalg.solve(s * np.eye(n) - a, b) + d).item()
        p = [sum(k * (sign * s * time) ** power for power, k in enumerate(coefficients)) for sign in (-1, 1)]
        assert found == pytest.approx(p[0] / p[1], rel=0, abs=1e-12)
    s = 1j / time  # the first term of the error of the approximation to exp(-s time)
    found = (out @ np.linalg.solve(s * np.eye(n) - a, b) + d).item()
    assert abs(found - np.exp(-1j)) < 1.2 * f(n) ** 2 / (f(2 * n) * f(2 * n + 1)) + 1e-13


def test_a_delay_starts_with_what_it_had_seen():
    block = Alone(c.Delay("d", input="a.value", time=1, order=3, initial=2))
    _, states = block.start()
    assert block.outputs({"a.value": 2.0}, None, states)["value"] == 2.0


def test_pid_by_hand():
    block = Alone(c.Pid("c", setpoint=5, measurement="y.value", p=2, i=3, d=0.5, filter=0.1, initial=1))
    seen, at = {"y.value": 4.0}, {"integral": 0.7, "filtered": 0.2}
    assert block.outputs(seen, None, at)["value"] == pytest.approx(2 * 1 + 0.7 + 0.5 * (1 - 0.2) / 0.1, abs=1e-15)
    rates = block.block.rates(block.v, block.x)
    assert block.value(rates["integral"], seen, None, at) == 3.0
    assert block.value(rates["filtered"], seen, None, at) == pytest.approx(8.0, abs=1e-14)
    assert block.start()[1] == {"integral": 1.0, "filtered": 0.0}
    assert Alone(c.Pid("c", input="e.value", p=2)).outputs({"e.value": 1.5}) == {"value": 3.0}


def test_pid_at_its_limit_draws_the_integral_back():
    block = Alone(c.Pid("c", input="e.value", p=2, i=3, lower=-1, upper=4, tracking=0.5))
    seen, at = {"e.value": 1.0}, {"integral": 9.0}
    held, events = block.settled(seen, None, at)
    assert events == ["rises"]
    assert block.outputs(seen, held, at)["value"] == 4.0
    rate = block.block.rates(block.v, block.x)["integral"]
    assert block.value(rate, seen, held, at) == 3 * 1 + (4 - 11) / 0.5


def test_integrator_stops_at_its_limits_and_leaves_them():
    block = Alone(c.Integrator("i", input="a.value", initial=1, lower=0, upper=2))
    rate = block.block.rates(block.v, block.x)["state"]
    held, events = block.settled({"a.value": 1.0}, None, {"state": 2.0 + 1e-12})
    assert events == ["reaches upper"]
    assert block.value(rate, {"a.value": 1.0}, held, {"state": 2.0}) == 0.0
    held, events = block.settled({"a.value": -1.0}, held, {"state": 2.0})
    assert events == ["leaves upper"]
    assert block.value(rate, {"a.value": -1.0}, held, {"state": 2.0}) == -1.0
    held, events = block.settled({"a.value": -1.0}, held, {"state": -1e-12})
    assert (events, held["stop"]) == (["reaches lower"], -1.0)
    jumps = [s.states for s in block.block.switches(block.v, block.x) if s.name == "reaches lower"]
    assert block.value(jumps[0]["state"], {"a.value": 0.0}) == 0.0


def test_rate_limiter():
    block = Alone(c.RateLimiter("r", input="a.value", rising=2, falling=-3, time=0.5, initial=1))
    rate = block.block.rates(block.v, block.x)["state"]
    for given, wanted in {1.5: 1.0, 5.0: 2.0, -5.0: -3.0}.items():
        held, _ = block.settled({"a.value": given})
        assert block.value(rate, {"a.value": given}, held) == wanted


def test_sensor_and_feedback():
    assert Alone(c.Sensor("s", of="O.angle")).outputs({"O.angle": 0.3}) == {"value": 0.3}
    slow = Alone(c.Sensor("s", of="O.angle", gain=10, time=0.2, initial=1))
    assert slow.outputs({"O.angle": 0.3}) == {"value": 1.0}
    assert slow.value(slow.block.rates(slow.v, slow.x)["state"], {"O.angle": 0.3}) == pytest.approx(10.0)
    feedback = c.StateFeedback("f", gains={"O.angle": 40, "O.angle_rate": "8"}, references={"O.angle": "r.value/2"})
    seen = {"O.angle": 0.5, "O.angle_rate": -1.0, "r.value": 0.2}
    assert Alone(feedback).outputs(seen)["value"] == pytest.approx(-(40 * 0.4 - 8), abs=1e-14)
