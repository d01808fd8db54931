"""Blocks in whole models against closed forms: matrix exponentials, recursions, and areas by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

import cotree as ct
from cotree.terminal import control as c

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def loop(*blocks: c.Block, drive: str, **settings) -> ct.Model:
    """Blocks around the plant y' = u - y: a resistor of 2 ohm and a capacitor of 0.5 F at a source u."""
    model = ct.Model("loop", **settings)
    model.add(ct.VoltageSource("u", ("in", "ground"), voltage=drive))
    model.add(ct.Resistor("R", ("in", "y"), resistance=2))
    model.add(ct.Capacitor("C", ("y", "ground"), capacitance=0.5))
    for block in blocks:
        model.add(block)
    return model


def slider(*blocks: c.Block) -> ct.Model:
    """A slider of 2 kg, pushed along x by the signal f.value."""
    model = ct.Model("slider", gravity=(0, 0, -9.81))
    model.add(ct.RigidBody("m", mass=2, inertia=(1, 1, 1)))
    model.add(ct.Prismatic("S", "ground", "m", axis=(1, 0, 0)))
    model.add(ct.JointActuator("push", "S", effort="f.value"))
    for block in blocks:
        model.add(block)
    return model


def linear(a, b, z0, t):
    """z' = a z + b from z0, after t."""
    n = len(b)
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n] = a, b
    return (expm(whole * t) @ [*z0, 1.0])[:n]


def test_pid_loop_is_its_matrix_exponential():
    """z = (y, I, f): y' = -y + u, I' = 2 e, f' = (e - f)/0.1, u = 3 e + I + 0.4 (e - f)/0.1, e = 1 - y."""
    block = c.Pid("k", setpoint=1, measurement="y.voltage", p=3, i=2, d=0.4, filter=0.1, initial=0.5)
    result = loop(block, drive="k.value").simulate(3.0, points=31, **TIGHT)
    a = np.array([[-1 - 7, 1, -4], [-2, 0, 0], [-10, 0, -10]], float)
    b = np.array([7.0, 2.0, 10.0])
    for k, t in enumerate(result.t):
        y, part, f = linear(a, b, [0, 0.5, 0], t)
        assert result["y.voltage"][k] == pytest.approx(y, abs=1e-9)
        assert result["k.value"][k] == pytest.approx(7 * (1 - y) + part - 4 * f, abs=1e-8)


def test_anti_windup_is_exact_in_every_stretch():
    """u is at its limit until the free output v falls to it; both stretches are linear, the time is a root."""
    p, i, tracking, high = 3.0, 2.0, 0.3, 1.2
    block = c.Pid("k", setpoint=1, measurement="y.voltage", p=p, i=i, lower=-high, upper=high, tracking=tracking)
    result = loop(block, drive="k.value").simulate(4.0, points=41, **TIGHT)
    # at the limit: y' = high - y, I' = i (1 - y) + (high - p (1 - y) - I)/tracking
    stuck = np.array([[-1, 0], [-i + p / tracking, -1 / tracking]]), np.array([high, i + (high - p) / tracking])
    free = np.array([[-1 - p, 1], [-i, 0]]), np.array([p, i])

    def over(t):
        y, part = linear(*stuck, [0, 0], t)
        return p * (1 - y) + part - high

    leaves = brentq(over, 0.1, 2.0, xtol=1e-14)
    at = linear(*stuck, [0, 0], leaves)
    assert result.events["k.rises"] == pytest.approx([0.0], abs=1e-12)
    assert result.events["k.falls"] == pytest.approx([leaves], abs=1e-9)
    for k, t in enumerate(result.t):
        y, part = linear(*stuck, [0, 0], t) if t < leaves else linear(*free, at, t - leaves)
        assert result["y.voltage"][k] == pytest.approx(y, abs=1e-9)
        assert result["k.integral"][k] == pytest.approx(part, abs=1e-8)
    assert result["y.voltage"].max() < 1.02, "without windup there is no great overshoot"


def test_sampled_pid_loop_is_its_recursion():
    """Between samples y relaxes to the held output: y+ = u + (y - u) exp(-T)."""
    block = c.SampledPid("k", setpoint=1, measurement="y.voltage", p=1.5, i=2, d=0.05, filter=0.02, period=0.1)
    result = loop(block, drive="k.value").simulate(2.05, times=np.arange(21) * 0.1 + 0.05, **TIGHT)
    y = part = rate = before = 0.0
    for k in range(21):
        e = 1 - y
        part += 2 * 0.1 * e
        rate = 0.0 if k == 0 else (0.02 * rate + 0.05 * (e - before)) / 0.12
        before, u = e, 1.5 * e + part + rate
        assert result["k.value"][k] == pytest.approx(u, abs=1e-9)
        assert result["y.voltage"][k] == pytest.approx(u + (y - u) * math.exp(-0.05), abs=1e-9)
        y = u + (y - u) * math.exp(-0.1)


def test_a_python_function_controls_as_the_sampled_block_does():
    """The same law twice, with an offset; the function is called at its samples only, with their exact times."""
    times, kept = [], [0.0]

    def law(t, inputs):
        times.append(t)
        kept[0] += 2 * 0.1 * inputs[0]
        return 1.5 * inputs[0] + kept[0]

    samples = {"period": 0.1, "offset": 0.03}
    function = c.Function("k", function=law, inputs=["1 - y.voltage"], **samples)
    block = c.SampledPid("k", input="1 - y.voltage", p=1.5, i=2, **samples)
    first = loop(function, drive="k.value").simulate(1.0, points=11, **TIGHT)
    assert times == pytest.approx([0.03 + 0.1 * k for k in range(10)], abs=1e-12)
    second = loop(block, drive="k.value").simulate(1.0, points=11, **TIGHT)
    np.testing.assert_allclose(first["y.voltage"], second["y.voltage"], rtol=0, atol=1e-12)
    assert first["k.value"][0] == 0.0


def test_sampled_blocks_in_a_row_read_each_others_new_values():
    """hold -> delay by two -> state space, all with one period: only the delay delays."""
    model = loop(
        c.SampleHold("h", input="t + 1", period=0.5),
        c.SampledDelay("d", input="h.value", period=0.5, count=2),
        c.SampledStateSpace("s", inputs=["d.value"], a=[[0.5]], b=[[1]], c=[[2]], d=[[1]], period=0.5),
        drive="s.value",
    )
    result = model.simulate(4.4, times=np.arange(9) * 0.5 + 0.4)
    x, past = 0.0, [0.0, 0.0]
    for k in range(9):
        h, d = 0.5 * k + 1, past[1]
        s, x, past = 2 * x + d, 0.5 * x + d, [h, past[0]]
        found = [result[f"{name}.value"][k] for name in "hds"]
        assert found == pytest.approx([h, d, s], abs=1e-12)


def test_bends_are_landed_on():
    """The integral of a saturated, a dead-banded and a tabled sine over half a turn, by hand."""
    model = loop(
        c.Saturation("s", input="sin(t)", upper=0.5),
        c.DeadBand("d", input="sin(t)", lower=-0.5, upper=0.5),
        c.Table("q", input="sin(t)", table=[[0, 0], [0.5, 1], [1, 1]], beyond="hold"),
        *(c.Integrator(f"i_{name}", input=f"{name}.value") for name in "sdq"),
        drive="0",
    )
    result = model.simulate(math.pi, points=3, **TIGHT)
    first, last = math.pi / 6, 5 * math.pi / 6
    saturated = 2 * (1 - math.cos(first)) + 0.5 * (last - first)
    assert result["i_s.value"][-1] == pytest.approx(saturated, abs=1e-10)
    assert result["i_d.value"][-1] == pytest.approx(2 - saturated, abs=1e-10)
    assert result["i_q.value"][-1] == pytest.approx(2 * saturated, abs=1e-10)
    assert result.events["s.rises"] == pytest.approx([first], abs=1e-9)
    assert result.events["s.falls"] == pytest.approx([last], abs=1e-9)


def test_an_integrator_between_stops():
    """Input cos(t), limit 0.5: it stops at pi/6, waits until cos turns at pi/2, and falls to the lower limit."""
    model = loop(c.Integrator("i", input="cos(t)", lower=-0.25, upper=0.5), drive="0")
    result = model.simulate(4.5, points=46, **TIGHT)
    lands = math.pi - math.asin(0.25)  # 0.5 + sin(t) - 1 = -0.25
    assert result.events["i.reaches upper"] == pytest.approx([math.pi / 6], abs=1e-9)
    assert result.events["i.leaves upper"] == pytest.approx([math.pi / 2], abs=1e-9)
    assert result.events["i.reaches lower"] == pytest.approx([lands], abs=1e-9)
    for t, value in zip(result.t, result["i.value"], strict=True):
        up = min(math.sin(t), 0.5) if t < math.pi / 6 else 0.5
        wanted = up if t < math.pi / 2 else math.sin(t) - 0.5 if t < lands else -0.25
        assert value == pytest.approx(wanted, abs=1e-9)


def test_a_rate_limiter_ramps_and_then_settles():
    """A step of 2 at 1 per s and a lag of 0.2 s: a ramp until 0.2 is left at 1.8 s, then an exponential."""
    model = loop(c.RateLimiter("r", input=2, rising=1, falling=-1, time=0.2), drive="0")
    result = model.simulate(3.0, points=31, **TIGHT)
    for t, value in zip(result.t, result["r.value"], strict=True):
        wanted = t if t < 1.8 else 2 - 0.2 * math.exp(-(t - 1.8) / 0.2)
        assert value == pytest.approx(wanted, abs=1e-9)


def test_transfer_function_state_space_and_delay_are_their_systems():
    """Steps through 6/(s^2 + s + 4), the same as a state space, and a delay whose input was always there."""
    model = loop(
        c.TransferFunction("h", input=1, numerator=[6], denominator=[1, 1, 4]),
        c.StateSpace("p", inputs=[1], a=[[0, 1], [-4, -1]], b=[[0], [6]], c=[[1, 0]]),
        c.Delay("d", input="5", time=0.3, order=3, initial=5),
        c.Sensor("s", of="h.value", time=0.5, initial=0),
        drive="0",
    )
    result = model.simulate(3.0, points=16, **TIGHT)
    a = np.array([[0, 1, 0], [-4, -1, 0], [2, 0, -2]], float)
    for k, t in enumerate(result.t):
        y, _, slow = linear(a, np.array([0.0, 6, 0]), [0, 0, 0], t)
        assert result["h.value"][k] == pytest.approx(y, abs=1e-9)
        assert result["p.value"][k] == pytest.approx(y, abs=1e-9)
        assert result["s.value"][k] == pytest.approx(slow, abs=1e-9)
        assert result["d.value"][k] == pytest.approx(5.0, abs=1e-12)


def test_state_feedback_of_a_mechanism_is_its_oscillator():
    """A slider of 2 kg with the force -8 (x - 0.1) - 4 v: x = 0.1 (1 - exp(-t) (cos wt + sin(wt)/w)), w^2 = 3."""
    gains = {"S.displacement": 8, "S.displacement_rate": 4}
    model = slider(c.StateFeedback("f", gains=gains, references={"S.displacement": 0.1}))
    result = model.simulate(3.0, points=16, **TIGHT)
    w = math.sqrt(3)
    wanted = 0.1 * (1 - np.exp(-result.t) * (np.cos(w * result.t) + np.sin(w * result.t) / w))
    np.testing.assert_allclose(result["S.displacement"], wanted, rtol=0, atol=1e-9)
    assert result["f.value"][0] == pytest.approx(0.8, abs=1e-12)


def test_an_algebraic_loop_is_named():
    model = loop(
        c.Gain("a", input="b.value + 1", gain=0.5), c.Sum("b", inputs=["a.value", "y.voltage"]), drive="b.value"
    )
    with pytest.raises(ct.FormulationError, match=r"the signals form an algebraic loop: (a\.value <- b|b\.value <- a)"):
        model.simulate(1.0)


def test_a_current_is_no_force_and_no_voltage():
    model = loop(c.Sensor("s", of="R.current", time=1, initial=0), drive="s.value")
    with pytest.raises(ct.ModelError, match=r"u\.voltage: the signal 's\.value' is a current"):
        model.simulate(1.0)
    model = loop(c.Sensor("s", of="R.current"), drive="0")
    model.add(ct.translational.ForceSource("F", ("m", "ground"), force="s.value"))
    model.add(ct.translational.Mass("M", ("m", "ground"), mass=1))
    with pytest.raises(ct.ModelError, match=r"F\.force: the signal 's\.value' is a current\. Expected a force"):
        model.simulate(1.0)


def test_a_sum_of_a_current_and_a_voltage_is_refused_in_the_model():
    model = loop(c.Sum("s", inputs=["R.current", "y.voltage"]), drive="0")
    with pytest.raises(ct.ModelError, match=r"s\.inputs\.2: 'y\.voltage' is a voltage, and 'R\.current' is a current"):
        model.simulate(1.0)


def test_a_signal_that_is_not_there_is_told_with_the_nearest_name():
    model = loop(c.Gain("g", input="R.curent", gain=1), drive="g.value")
    with pytest.raises(ct.CotreeError, match=r"(?s)g\.input: there is no signal 'R\.curent'.*R\.current"):
        model.simulate(1.0)


def test_a_sampled_controller_of_a_mechanism_is_its_recursion():
    """The force F is constant over T: x grows by v T + F T^2/4, v by F T/2. A reaction is seen behind a lag."""
    period, x, v, before = 0.1, 0.0, 0.0, 0.0
    model = slider(
        c.SampledPid("f", setpoint=0.1, measurement="S.displacement", p=8, d=4, period=period),
        c.Sensor("weight", of="S.force.z", time=0.5, initial=0),
    )
    result = model.simulate(2.0, times=np.arange(1, 21) * period, **TIGHT)
    for k in range(20):
        e = 0.1 - x
        force = 8 * e + (0.0 if k == 0 else 4 * (e - before) / period)
        x, v, before = x + v * period + force * period**2 / 4, v + force * period / 2, e
        assert result["S.displacement"][k] == pytest.approx(x, abs=1e-10)
        assert result["S.displacement_rate"][k] == pytest.approx(v, abs=1e-10)
    np.testing.assert_allclose(result["weight.value"], 2 * 9.81 * (1 - np.exp(-result.t / 0.5)), rtol=1e-9)


def test_a_reaction_that_acts_back_at_once_is_refused():
    model = slider(c.Gain("f", input="m.acceleration.x", gain=-1))
    with pytest.raises(ct.FormulationError, match=r"follows from accelerations or reactions.*an algebraic loop"):
        model.simulate(1.0)


def test_starts_and_held_values_follow_changed_values():
    """i: a + t. h: 2 a until 0.2 s, then t at the last sample. j: 3 + 2 a 0.2 + 0.2 0.5 + 0.7 0.3."""
    model = loop(
        c.Integrator("i", input=1, initial="a"),
        c.SampleHold("h", input="t", period=0.5, offset=0.2, initial="2*a"),
        c.Integrator("j", input="h.value", initial=3),
        c.Saturation("s", input="t", upper="a"),
        drive="0",
        parameters={"a": 0.5},
    )
    for a, start in ((0.5, 3.0), (0.7, 5.0)):
        result = model.simulate(1.0, points=3, parameters={"a": a, "j.initial": start})
        assert result["i.value"][-1] == pytest.approx(a + 1, abs=1e-10)
        assert result["j.value"][-1] == pytest.approx(start + 0.4 * a + 0.31, abs=1e-10)
        assert result.events["s.rises"] == pytest.approx([a], abs=1e-9)
    result = model.simulate(1.0, points=3, start={"j.state": 9.0})
    assert result["j.value"][-1] == pytest.approx(9.51, abs=1e-10)


def test_sampled_blocks_that_wait_for_each_other_are_refused():
    model = loop(
        c.SampleHold("a", input="b.value + 1", period=0.5),
        c.SampleHold("b", input="a.value", period=0.5),
        drive="a.value",
    )
    with pytest.raises(ct.FormulationError, match=r"blocks wait for each other: .*Put a control\.sampled_delay"):
        model.equations()


def test_periods_that_part_blocks_are_refused():
    model = loop(
        c.SampleHold("a", input="t + 0", period=0.5), c.SampleHold("b", input="a.value", period=0.5), drive="b.value"
    )
    assert model.simulate(1.2, points=3)["b.value"][-1] == pytest.approx(1.0)
    with pytest.raises(ct.FormulationError, match="other blocks sample together"):
        model.simulate(1.2, points=3, parameters={"a.period": 0.3})


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("abs(0.8*t - y.voltage)", lambda t, y: abs(0.8 * t - y)),
        ("max(1 - t, y.voltage)", lambda t, y: max(1 - t, y)),
        ("1 - step(t + y.voltage - 0.7)", lambda t, y: float(t + y <= 0.7)),
    ],
)
def test_bends_of_time_and_signals_together(text, law):
    """When such an expression bends is not known beforehand."""
    times = [0.0, 1.0, 2.0]
    found = loop(drive=text).simulate(2.0, times=times, **TIGHT)
    right = solve_ivp(lambda t, y: law(t, y[0]) - y, (0, 2), [0.0], t_eval=times, max_step=1e-2, **TIGHT)
    np.testing.assert_allclose(found["y.voltage"], right.y[0], rtol=0, atol=1e-8)


def test_a_step_of_a_signal_is_an_event():
    """y' = 1 - y up to y = 1/2 at ln 2, then y' = 2 - y."""
    found = loop(drive="1 + step(y.voltage - 0.5)").simulate(2.0, times=[0, 0.5, 2], **TIGHT)
    assert found.events["u.voltage.step.rises"] == pytest.approx([math.log(2)], abs=1e-9)
    assert found["y.voltage"] == pytest.approx([0, 1 - math.exp(-0.5), 2 - 1.5 * 2 * math.exp(-2)], abs=1e-9)


def test_a_step_that_undoes_itself_is_told():
    with pytest.raises(ct.SolveError, match=r"at t = 0\.693\d* s u\.voltage\.step.* act again and again"):
        loop(drive="1 - step(y.voltage - 0.5)").simulate(2.0)


def test_a_relay_makes_the_oscillation_of_its_hysteresis():
    """1 s of lag between 1 and -1: up from -0.5 to 0.5 and back take log(3) s each."""
    model = loop(
        c.TransferFunction("lag", input="1 - 2*r.value", numerator=[1], denominator=[1, 1]),
        c.Relay("r", input="lag.value", on=0.5, off=-0.5),
        drive="0",
    )
    result = model.simulate(10.0, points=3, **TIGHT)
    first = math.log(2)  # from 0 to 0.5
    closes = first + 2 * math.log(3) * np.arange(5)
    np.testing.assert_allclose(result.events["r.closes"], closes[closes < 10], atol=1e-9)
    opens = closes + math.log(3)
    np.testing.assert_allclose(result.events["r.opens"], opens[opens < 10], atol=1e-9)
    with pytest.raises(ct.ModelError, match="off below on"):
        loop(c.Relay("r", input="t", on=1, off=1), drive="0").simulate(1.0)
