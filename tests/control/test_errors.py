"""What does not make a block is refused where it is given, with what is expected."""

from __future__ import annotations

import pytest

import cotree as ct
from cotree.terminal import control as c

A = {"input": "a.value"}
AT = {**A, "period": 0.1}
SPACE = {"inputs": ["u.value"], "a": [[0, 1], [2, 3]], "b": [[0], [1]], "c": [[1, 0]]}
WRONG = [
    (lambda: c.Gain("k-1", **A, gain=2), "the name 'k-1' cannot be used for a block"),
    (lambda: c.Gain("in", **A, gain=2), "the name 'in' cannot be used for a block"),
    (lambda: c.Gain("g", gain=2), r"g\.input: no value is given"),
    (lambda: c.Gain("g", **A, gain="2*b.value"), r"g\.gain: 'b\.value' in the expression"),
    (lambda: c.Gain("g", **A, gain=2, unit="mV"), r"g\.unit: the unit is 'mV'\. Expected an SI unit"),
    (lambda: c.Gain("g", **A, gain=2, unit="Volt"), r"g\.unit: there is no unit 'Volt'"),
    (lambda: c.Gain("g", input="20 degC", gain=2), r"g\.input: '20 degC' is a temperature with a zero of its own"),
    (lambda: c.Saturation("s", **A, upper="20 degC"), r"s\.upper: '20 degC' is a temperature with a zero of its own"),
    (lambda: c.Sum("s", inputs=[]), r"s\.inputs: found a list of 0\. Expected a list of 1 to 100 expressions"),
    (lambda: c.Sum("s", inputs="a.value"), r"s\.inputs: found 'a\.value'\. Expected a list"),
    (lambda: c.Sum("s", inputs=["a.value", "b.value"], gains=[1]), "1 gains for 2 inputs. Expected one gain for each"),
    (lambda: c.Saturation("s", **A), "no limit is given. Expected lower, upper or both"),
    (lambda: c.Table("t", **A, table=[(0, 1)], beyond="hold"), r"t\.table: the table has 1 points"),
    (
        lambda: c.Table("t", **A, table=[(k, k) for k in range(201)], beyond="hold"),
        r"t\.table: the table has 201 points\. Expected at most 200 with linear interpolation\. Use inter",
    ),
    (lambda: c.Table("t", **A, table=[(1, 1), (0, 2)], beyond="hold"), r"t\.table: 0 follows 1"),
    (lambda: c.Table("t", **A, table=[(0, 1), (1, 1)], beyond="stay"), r"t\.beyond: found 'stay'\. Expected one of"),
    (lambda: c.Table("t", **A, table=[(0, 1), (1, 1)]), r"t\.beyond: no value is given"),
    (
        lambda: c.TransferFunction("h", **A, numerator=[1, 2, 3], denominator=[1, 2]),
        "the numerator has degree 2 and the denominator 1. Expected a numerator of no higher degree",
    ),
    (
        lambda: c.TransferFunction("h", **A, numerator=[1], denominator=[1, 0], initial=2),
        "the block does not settle: its denominator has the root s = 0",
    ),
    (lambda: c.StateSpace("p", **SPACE | {"b": [[1]]}), r"p\.b: the matrix has 1 x 1 entries\. Expected 2 x 1, for 2"),
    (lambda: c.StateSpace("p", **SPACE | {"a": [[1, 2], [3]]}), r"p\.a: found \(\(1, 2\), \(3,\)\)\. Expected a list"),
    (lambda: c.StateSpace("p", **SPACE, initial=[1]), r"p\.initial: 1 values\. Expected 2"),
    (lambda: c.Delay("d", **A, time=1), r"d\.order: no value is given"),
    (lambda: c.Delay("d", **A, time=1, order=11), r"d\.order: found 11\. Expected a whole number from 1 to 10"),
    (lambda: c.Delay("d", **A, time=1, order=True), r"d\.order: found True"),
    (lambda: c.SampledDelay("d", **AT, count=0), r"d\.count: found 0"),
    (lambda: c.Pid("c", p=1), "no error is given. Expected input"),
    (lambda: c.Pid("c", **A, setpoint=1, p=1), "input, setpoint given. Expected input"),
    (lambda: c.Pid("c", setpoint=1, p=1), "setpoint given. Expected input"),
    (lambda: c.Pid("c", **A, p=1, d=1), "no filter is given beside a gain d of the rate"),
    (lambda: c.Pid("c", **A, p=1, i=1, upper=1), "no tracking is given beside limits and an integral"),
    (lambda: c.Pid("c", **A, p=1, i=1, tracking=1), r"c\.tracking: it has no effect without limits and an integral"),
    (lambda: c.SampledPid("c", **AT, p=1, filter=1), r"c\.filter: it has no effect without a gain d"),
    (lambda: c.Sensor("s", of="2*O.angle"), r"s\.of: found '2\*O\.angle'\. Expected the name of one result"),
    (lambda: c.Sensor("s", of="O.angle", time=1), "a lag is given without its start"),
    (lambda: c.StateFeedback("f"), r"f\.gains: no gains are given\. Expected gains by signal"),
    (lambda: c.StateFeedback("f", gains={"angle": 1}), r"f\.gains: found 'angle'"),
    (
        lambda: c.StateFeedback("f", gains={"O.angle": 1}, references={"O.rate": 1}),
        r"f\.references: there is no gain of 'O\.rate'",
    ),
    (lambda: c.Function("f", inputs=["t"], period=1), r"f\.function: no function is given"),
    (lambda: c.Function("f", inputs=["t"], period=1, function=5), r"f\.function: found 5"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_refused_at_once(number):
    make, match = WRONG[number]
    with pytest.raises(ct.CotreeError, match=match):
        make()


VALUES = [
    (c.Saturation("s", **A, lower="k", upper=1), "s: lower is 2 and upper is 1. Expected lower < upper"),
    (c.Integrator("i", **A, initial="k", upper=1), r"i\.initial: the value is 2\. Expected lower to upper"),
    (c.TransferFunction("h", **A, numerator=[1], denominator=["k - 2", 1]), r"h\.denominator\.1: the value is 0"),
    (c.TransferFunction("h", **A, numerator=[1], denominator=[1, "k - 2"], initial=1), r"h\.initial: .* root s = 0"),
    (c.RateLimiter("r", **A, rising=1, falling="k", time=1), r"r\.falling: the value is 2\. Expected a negative rate"),
    (c.RateLimiter("r", **A, rising="-k", falling=-1, time=1), r"r\.rising: the value is -2"),
    (c.Pid("c", **A, p=1, initial="k"), r"c\.initial: the value is 2, and there is no integral"),
    (c.SampleHold("s", **A, period="k - 2"), r"s\.period: the value is 0\. Expected a positive number"),
    (c.SampleHold("s", **AT, offset="-k"), r"s\.offset: the value is -2"),
]


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_values_that_parameters_give_are_checked_with_the_model(number):
    block, match = VALUES[number]
    model = ct.Model("m", parameters={"k": 2})
    model.add(block)
    with pytest.raises(ct.ModelError, match=match):
        model.component_values()
