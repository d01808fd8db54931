"""Units of signals pass through blocks, and those that do not go together are refused."""

from __future__ import annotations

import pytest

import cotree as ct
from cotree.terminal import control as c

A = {"input": "a.value"}


@pytest.mark.parametrize(
    ("block", "units", "wanted"),
    [
        (c.Sensor("s", of="O.angle"), {"of": "rad"}, "rad"),
        (c.Sensor("s", of="O.angle", gain=2), {"of": "rad"}, None),
        (c.Sensor("s", of="O.angle", gain=2, unit="V"), {"of": "rad"}, "V"),
        (c.Gain("g", **A, gain=2, unit="N m"), {"input": "rad"}, "N m"),
        (c.Gain("g", **A, gain=2), {"input": "rad"}, None),
        (c.Sum("s", inputs=["a.value", "b.value"]), {"inputs.1": "V", "inputs.2": "V"}, "V"),
        (c.Sum("s", inputs=["a.value", "b.value"], gains=[1, -1]), {"inputs.1": "V", "inputs.2": "V"}, "V"),
        (c.Sum("s", inputs=["a.value", "b.value"], gains=[1, 2]), {"inputs.1": "V", "inputs.2": "A"}, None),
        (c.Product("m", inputs=["a.value", "b.value"]), {"inputs.1": "V", "inputs.2": "A"}, "V A"),
        (c.Product("m", inputs=["a.value", "b.value"]), {"inputs.1": "m/s", "inputs.2": "N"}, "(m/s) N"),
        (c.Product("m", inputs=["a.value", "2*b.value"]), {"inputs.1": "V", "inputs.2": None}, None),
        (c.Integrator("i", **A), {"input": "m/s"}, "m"),
        (c.Integrator("i", **A), {"input": "rad/s^2"}, "rad/s"),
        (c.Integrator("i", **A), {"input": "V"}, "V s"),
        (c.Integrator("i", **A), {"input": None}, None),
        (c.Saturation("s", **A, upper="12 V"), {"input": "V"}, "V"),
        (c.Pid("p", **A, p=1, upper="12 V"), {"input": "rad"}, "V"),
        (c.Pid("p", **A, p=1, upper="12 mV"), {"input": "rad"}, None),
        (c.Delay("d", **A, time=1, order=1), {"input": "Pa"}, "Pa"),
        (c.SampleHold("h", **A, period=1), {"input": "K"}, "K"),
        (c.Pid("p", setpoint="1 rad", measurement="O.angle", p=1, unit="V"), {"measurement": "rad"}, "V"),
        (c.Pid("p", setpoint="1 m", measurement="O.x", p=1), {"measurement": "m"}, None),
    ],
)
def test_what_passes_on(block, units, wanted):
    assert block.output_unit(units)["value"] == wanted


@pytest.mark.parametrize(
    ("block", "units", "match"),
    [
        (
            c.Sum("s", inputs=["R.current", "F.force"]),
            {"inputs.1": "A", "inputs.2": "N"},
            r"s\.inputs\.2: 'F\.force' is a force, and 'R\.current' is a current",
        ),
        (
            c.Saturation("s", **A, upper="5 A"),
            {"input": "V"},
            r"s\.upper: '5 A' is a current, and 'a\.value' is a volt",
        ),
        (
            c.Pid("p", setpoint="5 V", measurement="O.angle", p=1),
            {"measurement": "rad"},
            r"p\.measurement: 'O\.angle' is an angle, and '5 V' is a voltage",
        ),
        (c.Pid("p", **A, p=1, upper="5 A", unit="V"), {}, r"p\.upper: '5 A' is a current, and unit is a voltage"),
        (c.Sum("s", inputs=["a.value"], unit="N"), {"inputs.1": "A"}, r"'a\.value' is a current, and unit is a force"),
        (
            c.Product("m", inputs=["a.value"], unit="N"),
            {"inputs.1": "A"},
            r"m\.inputs: inputs is a current, and unit is",
        ),
        (c.Integrator("i", **A, initial="2 rad"), {"input": "m/s"}, r"i\.initial: '2 rad' is an angle"),
        (
            c.StateFeedback("f", gains={"O.angle": 1}, references={"O.angle": "1 m"}),
            {"signals.O.angle": "rad"},
            r"f\.references\.O\.angle: '1 m' is a length, and 'O\.angle' is an angle",
        ),
    ],
)
def test_what_does_not_go_together(block, units, match):
    with pytest.raises(ct.ModelError, match=match):
        block.output_unit(units)
