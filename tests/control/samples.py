"""One or more blocks of every kind, each with as many of its fields as go together."""

from __future__ import annotations

import numpy as np

from cotree.model import Component
from cotree.terminal import control as c

EYE = ((1.0, 0.0), (0.0, "k"))
SAMPLES: list[Component] = [
    c.Gain("k1", input="2*R.current", gain="k", unit="V"),
    c.Sum("k2", inputs=["k1.value", "sin(t)", 2], gains=np.array([1, -1, 0.5]), unit="N m"),
    c.Sum("k3", inputs=("k1.value",)),
    c.Product("k4", inputs=["k1.value", 0.1 + 0.2]),
    c.Integrator("k5", input="k1.value", initial="k", lower=-1, upper="2 V"),
    c.TransferFunction("k6", input="k1.value", numerator=[0, "k"], denominator=np.array([0.1, 1]), initial=2),
    c.StateSpace("k7", inputs=["t", "k1.value"], a=EYE, b=np.eye(2), c=[[1, 0]], d=[[0, 3]], initial=(1, 2)),
    c.Delay("k8", input="k1.value", time="20 ms", order=3, initial=1),
    c.Saturation("k9", input="k1.value", lower=-1, upper=np.float64(1)),
    c.DeadBand("k10", input="k1.value", lower="-k", upper=1),
    c.RateLimiter("k11", input="k1.value", rising=1, falling=-2, time=0.1, initial=3),
    c.Relay("k22", input="k1.value", on=0.2, off="-k", upper=5, lower=1, unit="V"),
    c.Table("k12", input="O.angle", table=[[0, 1], [2, 5]], beyond="hold", interpolation="smooth", unit="m"),
    c.Table("k13", input="O.angle", table=np.eye(2)[::-1], beyond="extend"),
    c.Pid("k14", input="k1.value", p=1, i=2, d=0.1, filter=0.01, upper=5, tracking="10 ms", initial=1),
    c.Pid("k15", setpoint="step(t - 1)", measurement="O.angle", p="k", unit="V"),
    c.SampledPid("k16", input="k1.value", p=1, i=2, d=1, filter=0, lower=0, period=1e-3, offset=1e-4, before=2),
    c.SampledStateSpace("k17", inputs=["t"], a=EYE, b=[[1], [2]], c=EYE, period="1 ms", initial=[0, 1], unit="A"),
    c.SampledDelay("k18", input="k1.value", period=0.1, count=4, initial=2),
    c.SampleHold("k19", input="k1.value", period=0.1, quantum=0.01, initial="k"),
    c.Sensor("k20", of="O.angle", gain=2, time=0.1, initial=0, unit="V"),
    c.StateFeedback("k21", gains={"O.angle": 1, "a.voltage": "k"}, references={"O.angle": "0.1*t"}, unit="N"),
]
