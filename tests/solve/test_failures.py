"""Failures: one clear message, before the run where possible, with the results so far where not."""

from __future__ import annotations

import re

import numpy as np
import pytest

import cotree
from cotree import Capacitor, Resistor, VoltageSource
from cotree.errors import CotreeError, SolveError


def rc(voltage: str | float, **options: object) -> cotree.Model:
    m = cotree.Model("RC", **options)
    m.add(VoltageSource("V", ("in", "ground"), voltage=voltage))
    m.add(Resistor("R", ("in", "out"), resistance=1.0))
    m.add(Capacitor("C", ("out", "ground"), capacitance=1.0))
    return m


@pytest.mark.parametrize("tolerances", [{"rtol": 0.0}, {"rtol": -1e-6}, {"rtol": 1.0}, {"rtol": float("nan")},
                                        {"atol": 0.0}, {"atol": -1.0}, {"atol": float("nan")}])  # fmt: skip
def test_bad_tolerances(tolerances: dict[str, float]) -> None:
    with pytest.raises(SolveError, match=next(iter(tolerances))) as caught:
        rc(1.0).simulate(t_end=1.0, **tolerances)
    assert caught.value.solution is None


@pytest.mark.parametrize("t_end", [0.0, -1.0, float("nan"), float("inf")])
def test_bad_end(t_end: float) -> None:
    with pytest.raises(SolveError, match="an end after the start"):
        rc(1.0).simulate(t_end=t_end)


@pytest.mark.parametrize("points", [1, 0, -5, 10**9])
def test_bad_points(points: int) -> None:
    with pytest.raises(SolveError, match="output points"):
        rc(1.0).simulate(t_end=1.0, points=points)


@pytest.mark.parametrize(
    ("voltage", "until"), [("sqrt(1 - t)", 1.0), ("log(1.5 - t)", 1.5), ("asin(t/2) + asin(t)", 1.0)]
)
def test_a_source_that_loses_its_value_in_mid_run(voltage: str, until: float) -> None:
    with pytest.raises(SolveError, match=r"V\.voltage has no finite value at t = ") as caught:
        rc(voltage).simulate(t_end=3.0, points=31)
    solution = caught.value.solution
    assert isinstance(solution, cotree.Solution)
    assert not solution.complete
    assert until - 0.25 < solution.t[-1] <= until + 1e-9
    assert np.isfinite(solution["C.voltage"]).all()
    assert np.isfinite(solution["V.voltage"]).all()


def test_a_source_without_value_in_a_network_without_states() -> None:
    m = cotree.Model("R")
    m.add(VoltageSource("V", ("in", "ground"), voltage="sqrt(1 - t)"))
    m.add(Resistor("R", ("in", "ground"), resistance=1.0))
    with pytest.raises(SolveError, match=r"V\.voltage has no finite value") as caught:
        m.simulate(t_end=2.0, points=21)
    assert 0.5 < caught.value.solution.t[-1] <= 1.0


@pytest.mark.parametrize("voltage", ["sqrt(t - 1)", "log(t)", "1/t", "sqrt(-1 - t)"])
def test_a_source_without_value_at_the_start_is_refused_before_the_run(voltage: str) -> None:
    with pytest.raises(CotreeError, match=r"V\.voltage") as caught:
        rc(voltage).simulate(t_end=2.0)
    solution = getattr(caught.value, "solution", None)
    assert solution is None or np.isfinite(solution["V.voltage"]).all()


def test_a_voltage_that_grows_without_bound() -> None:
    """1/(1 - t) passes infinity: an error with a time, not a silent jump over the pole."""
    with pytest.raises(SolveError) as caught:
        rc("1/(1 - t)**2").simulate(t_end=2.0, points=21)
    assert "t = " in str(caught.value)
    assert 0.5 < caught.value.solution.t[-1] <= 1.0


@pytest.mark.parametrize("voltage", ["9**9**9*t", "t + 1/0", "t*(-8)**(1/3)", "t*log(0)", "t*sqrt(-1)", "t*10.0**400"])
def test_constant_parts_without_a_value_are_told_with_the_place(voltage: str) -> None:
    with pytest.raises(CotreeError, match=r"V\.voltage"):
        rc(voltage).simulate(t_end=1.0)


@pytest.mark.parametrize("voltage", ["step(sin(t))", "step(t**2 - 1)", "pulse(t**2, 1, 2)", "step(t*step(t - 1) - 2)",
                                     "step(step(t - 1) + t - 1.5)"])  # fmt: skip
def test_steps_whose_time_is_not_known(voltage: str) -> None:
    with pytest.raises(CotreeError, match=r"V\.voltage.*(step|pulse)"):
        rc(voltage).simulate(t_end=3.0)


@pytest.mark.parametrize("voltage", ["pulse(t, 2, 1)", "pulse(t, 0.1, 0)", "pulse(t, -1, 1)", "pulse(t, 1e-12, 2e-12)"])
def test_impossible_pulses(voltage: str) -> None:
    with pytest.raises(CotreeError, match="pulse"):
        rc(voltage).simulate(t_end=3.0)


def test_too_few_steps_is_told() -> None:
    with pytest.raises(SolveError, match="max_steps"):
        rc("sin(1e6*t)").simulate(t_end=1.0, points=2, max_steps=50)


def test_interruption_keeps_the_results() -> None:
    def stop(fraction: float) -> None:
        if fraction > 0.1:
            raise KeyboardInterrupt

    with pytest.raises(SolveError, match="interrupted") as caught:
        rc("sin(1e3*t)").simulate(t_end=20.0, points=2001, progress=stop)
    assert len(caught.value.solution.t) > 10
    assert not caught.value.solution.complete


def test_unstable_growth_ends_in_a_message_or_numbers_never_in_nan() -> None:
    """A negative resistance made by an amplifier: exp(50 t) overflows no earlier than it should."""
    m = cotree.Model("negative resistance")
    m.add(Capacitor("C", ("p", "ground"), capacitance=1.0, initial=1.0))
    m.add(Resistor("R2", ("p", "o"), resistance=1.0))
    m.add(Resistor("R3", ("n", "ground"), resistance=1.0))
    m.add(Resistor("R4", ("n", "o"), resistance=1.0))
    m.add(cotree.OperationalAmplifier("U", ("p", "n"), ("o", "ground")))
    sol = m.simulate(t_end=20.0, points=5, rtol=1e-9)
    np.testing.assert_allclose(sol["C.voltage"], np.exp(sol.t), rtol=1e-6)
    with pytest.raises(SolveError) as caught:
        m.simulate(t_end=1000.0, points=101)
    assert np.isfinite(caught.value.solution["C.voltage"]).all()


def test_a_failure_before_the_first_output_time() -> None:
    with pytest.raises(SolveError, match=r"V\.voltage has no finite value"):
        rc("sqrt(1 - t)").simulate(t_end=2.0, times=[1.5, 2.0])


def blocked_diode(current: str) -> cotree.Model:
    """A current source that asks more of a blocking diode than its saturation current."""
    m = cotree.Model("blocked")
    m.add(cotree.CurrentSource("I", ("a", "ground"), current=current))
    m.add(cotree.Diode("D", ("a", "ground"), saturation_current=1e-3, thermal_voltage=0.025, leakage=0.0))
    return m


def test_algebraic_equations_without_a_solution_at_the_start() -> None:
    with pytest.raises(SolveError, match=r"D\.(voltage|current) does not settle") as caught:
        blocked_diode("1 + t").simulate(t_end=1.0, points=3)
    assert caught.value.remedy


def test_algebraic_equations_that_lose_their_solution() -> None:
    """At t = 0.501 the current passes the saturation current; the remaining steps are not worth half a million."""
    with pytest.raises(SolveError) as caught:
        blocked_diode("t - 0.5").simulate(t_end=1.0, points=11, max_steps=2000)
    assert 0.3 < caught.value.solution.t[-1] <= 0.501
    assert re.search(r"variable there is D\.(voltage|current)", str(caught.value))  # there is no state to name


def test_interruption_of_the_rough_run_ends_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first native call belongs to the rough run that finds the sizes; Ctrl-C there must not start the real one."""
    from cotree.solve.cvodes import Cvodes

    calls = []

    def integrate(self: object, *arguments: object) -> object:
        calls.append(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(Cvodes, "integrate", integrate)
    with pytest.raises((SolveError, KeyboardInterrupt)):
        rc("sin(t)").simulate(t_end=1.0)
    assert len(calls) == 1


def test_a_value_beyond_all_measure_is_told() -> None:
    """Its square would not be a number any more, somewhere in the equations."""
    m = cotree.Model("large", parameters={"big": 1e90})
    m.add(Resistor("R", ("in", "ground"), resistance="big*big"))
    with pytest.raises(CotreeError, match=r"R\.resistance: the value is 1e\+180\. Expected numbers up to 1e\+100"):
        m.equations()
