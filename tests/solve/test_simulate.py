"""Runs: convergence with the tolerance, break points, both integrators, parameters, start, output times."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.linalg import expm

import cotree
from cotree import Capacitor, CurrentSource, Diode, Inductor, Resistor, VoltageSource
from cotree.errors import ModelError, SolveError

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def circuit(*components: object, **options: object) -> cotree.Model:
    m = cotree.Model("circuit", **options)
    for component in components:
        m.add(component)
    return m


def series_rlc() -> cotree.Model:
    """L = 0.1, R = 0.2, C = 0.05 on 1 V: lightly damped, some ten oscillations."""
    return circuit(
        VoltageSource("V", ("in", "ground"), voltage=1.0),
        Resistor("R", ("in", "a"), resistance=0.2),
        Inductor("L", ("a", "b"), inductance=0.1),
        Capacitor("C", ("b", "ground"), capacitance=0.05),
    )


def series_rlc_exact(t: np.ndarray) -> np.ndarray:
    block = np.array([[-2.0, -10.0, 10.0], [20.0, 0, 0], [0, 0, 0]])
    return np.array([expm(block * time) @ [0, 0, 1.0] for time in t]).T


def test_error_falls_with_the_tolerance() -> None:
    """Measured: each factor 100 in rtol must bring at least a factor 10, and the error stays within 1000 rtol."""
    errors = []
    for rtol in (1e-4, 1e-6, 1e-8, 1e-10):
        sol = series_rlc().simulate(t_end=5.0, points=26, rtol=rtol)
        errors.append(np.abs(sol["C.voltage"] - series_rlc_exact(sol.t)[1]).max())
        assert errors[-1] < 1e3 * rtol
        assert sol.energy().error < 1e3 * rtol
    assert all(fine < coarse / 10 for coarse, fine in itertools.pairwise(errors)), errors


@pytest.mark.parametrize("integrator", ["auto", "cvodes", "idas"])
def test_integrators_agree_with_the_exact_solution(integrator: str) -> None:
    sol = series_rlc().simulate(t_end=2.0, points=11, integrator=integrator, **TIGHT)
    exact = series_rlc_exact(sol.t)
    np.testing.assert_allclose(sol["C.voltage"], exact[1], atol=1e-7)
    np.testing.assert_allclose(sol["L.current"], exact[0], atol=1e-7)
    assert sol.statistics.integrator == ("cvodes" if integrator == "auto" else integrator)
    assert sol.statistics.steps > 0


def diode_model() -> cotree.Model:
    return circuit(
        VoltageSource("V", ("in", "ground"), voltage="sin(t)"),
        Resistor("R", ("in", "a"), resistance=1.0),
        Diode("D", ("a", "b"), saturation_current=1e-9, thermal_voltage=0.05, leakage=0.0),
        Capacitor("C", ("b", "ground"), capacitance=1.0),
    )


def test_cvodes_or_idas_by_the_problem() -> None:
    assert diode_model().simulate(t_end=0.1, points=2).statistics.integrator == "idas"
    with pytest.raises(SolveError, match="idas"):
        diode_model().simulate(t_end=0.1, integrator="cvodes")
    with pytest.raises(SolveError, match=r"(?i)Did you mean 'cvodes'"):
        diode_model().simulate(t_end=0.1, integrator="cvode")


def test_pulses_are_exact_and_values_at_a_break_are_those_after_it() -> None:
    """A square wave of period 0.1 into an RC; the grid falls on the breaks only up to rounding."""
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage="pulse(t, 0.05, 0.1)"),
        Resistor("R", ("in", "out"), resistance=1.0),
        Capacitor("C", ("out", "ground"), capacitance=0.1),
    )
    sol = m.simulate(t_end=1.0, points=21, **TIGHT)
    voltage, exact = 0.0, [0.0]
    for k in range(20):
        final = 1.0 if k % 2 == 0 else 0.0
        voltage = final + (voltage - final) * np.exp(-0.5)
        exact.append(voltage)
    np.testing.assert_allclose(sol["out.voltage"], exact, atol=1e-8)
    np.testing.assert_array_equal(sol["V.voltage"][:20], [1.0, 0.0] * 10)


@pytest.mark.parametrize("when", [0.1, 0.3, 0.7, 1 / 3, 2 / 3])
@pytest.mark.parametrize("count", [11, 31, 101])
def test_a_step_is_seen_at_its_own_time_on_any_grid(when: float, count: int) -> None:
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage=f"step(3*t - {3 * when!r})"),
        Resistor("R", ("in", "ground"), resistance=1.0),
    )
    sol = m.simulate(t_end=1.0, points=count)
    near = np.abs(sol.t - when) < 1e-9
    np.testing.assert_array_equal(sol["V.voltage"], np.where(near | (sol.t > when), 1.0, 0.0))


def test_steps_of_parameters_and_nested_steps() -> None:
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage="a*step(t - t0) - step(t - 2*t0)*step(t - 1)"),
        Resistor("R", ("in", "ground"), resistance=1.0),
        parameters={"a": 2.0, "t0": 0.25},
    )
    times = [0.0, 0.2, 0.3, 0.6, 0.9, 1.1]
    np.testing.assert_allclose(m.simulate(t_end=1.2, times=times)["V.voltage"], [0, 0, 2, 2, 2, 1])
    changed = m.simulate(t_end=1.2, times=times, parameters={"t0": 0.5})
    np.testing.assert_allclose(changed["V.voltage"], [0, 0, 0, 2, 2, 1])


def test_parameters_without_rebuilding() -> None:
    """Parameters, expressions of parameters, and plain fields; the same equations serve all of them."""
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage="u*cos(w*t)"),
        Resistor("R", ("in", "a"), resistance="2*r"),
        Capacitor("C", ("a", "ground"), capacitance=0.5, initial="u/4"),
        parameters={"u": 1.0, "r": 1.0, "w": "3*r", "unused": 7.0},
    )

    def exact(t: np.ndarray, u: float, r: float, c: float) -> np.ndarray:
        rate = 1 / (2 * r * c)
        response = u * rate / (3j * r + rate)
        return np.real(response * np.exp(3j * r * t)) + (u / 4 - response.real) * np.exp(-rate * t)

    from cotree.solve.simulate import simulate

    equations = m.equations()
    for changes in ({}, {"u": 2.0}, {"r": 0.4}, {"C.capacitance": 0.1}, {"u": -1.0, "r": 2.0, "C.capacitance": 2.0}):
        sol = simulate(equations, 2.0, points=9, parameters=changes, **TIGHT)
        values = (changes.get("u", 1.0), changes.get("r", 1.0), changes.get("C.capacitance", 0.5))
        np.testing.assert_allclose(sol["C.voltage"], exact(sol.t, *values), atol=1e-8)
        for name, value in changes.items():
            assert sol.parameters[name] == value
    with pytest.raises(ModelError, match="there is no parameter 'q'"):
        m.simulate(t_end=1.0, parameters={"q": 1.0})
    with pytest.raises(ModelError, match=r"R\.resistance"):
        m.simulate(t_end=1.0, parameters={"r": -1.0})
    with pytest.raises(ModelError, match="expression"):
        m.simulate(t_end=1.0, parameters={"R.resistance": 1.0})


def test_the_value_of_a_constant_source_can_be_changed() -> None:
    """It was given as a plain number, like a resistance."""
    sol = series_rlc().simulate(t_end=0.1, points=2, parameters={"V.voltage": 3.0})
    np.testing.assert_allclose(sol["V.voltage"], 3.0)


def test_steady_start_is_the_direct_current_solution() -> None:
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage="12 + 3*step(t - 1)"),
        Resistor("R1", ("in", "a"), resistance=2.0),
        Inductor("L", ("a", "b"), inductance=0.1),
        Resistor("R2", ("b", "ground"), resistance=4.0),
        Capacitor("C", ("b", "ground"), capacitance=0.2),
    )
    sol = m.simulate(t_end=2.0, points=21, start="steady")
    before = sol.t < 1
    np.testing.assert_allclose(sol["L.current"][before], 2.0, atol=1e-9)
    np.testing.assert_allclose(sol["C.voltage"][before], 8.0, atol=1e-9)
    assert sol["C.voltage"][-1] > 8.5


def test_steady_start_with_a_diode() -> None:
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage=5.0),
        Resistor("R", ("in", "a"), resistance=100.0),
        Diode("D", ("a", "ground"), saturation_current=1e-12, thermal_voltage=0.025, leakage=0.0),
        Capacitor("C", ("a", "ground"), capacitance=1e-6),
    )
    sol = m.simulate(t_end=1e-3, points=3, start="steady")
    v = sol["C.voltage"]
    np.testing.assert_allclose((5 - v) / 100, 1e-12 * np.expm1(v / 0.025), rtol=1e-6)
    assert np.ptp(v) < 1e-7


def test_no_steady_start_where_charge_grows_without_end() -> None:
    m = circuit(CurrentSource("I", ("ground", "a"), current=1.0), Capacitor("C", ("a", "ground"), capacitance=1.0))
    with pytest.raises(SolveError, match=r"C\.voltage"):
        m.simulate(t_end=1.0, start="steady")


def test_start_by_name() -> None:
    m = series_rlc()
    sol = m.simulate(t_end=1.0, points=3, start={"C.voltage": 0.5})
    assert sol["C.voltage"][0] == 0.5
    with pytest.raises(ModelError, match=r"'R\.voltage' is not a state"):
        m.simulate(t_end=1.0, start={"R.voltage": 0.5})
    with pytest.raises(SolveError, match="'steady'"):
        m.simulate(t_end=1.0, start="rest")


def test_times_of_the_user() -> None:
    times = [0.3, 0.31, 1.7]
    sol = series_rlc().simulate(t_end=2.0, times=times, **TIGHT)
    np.testing.assert_array_equal(sol.t, times)
    np.testing.assert_allclose(sol["C.voltage"], series_rlc_exact(np.array(times))[1], atol=1e-8)
    assert sol.complete
    late = series_rlc().simulate(t_end=3.0, t_start=1.0, points=3)
    np.testing.assert_array_equal(late.t, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(late["C.voltage"], series_rlc_exact(late.t - 1.0)[1], atol=1e-6)
    for bad in ([], [1.0, 0.5], [0.0, 5.0], [-1.0, 0.5], [[0.0, 1.0]]):
        with pytest.raises(SolveError, match="output times"):
            series_rlc().simulate(t_end=2.0, times=bad)


def test_times_that_are_not_numbers_are_refused() -> None:
    for bad in ([0.0, float("nan")], [0.0, float("inf")]):
        with pytest.raises(SolveError, match="output times"):
            series_rlc().simulate(t_end=2.0, times=bad)
    with pytest.raises(ModelError, match="times: found 'now'"):
        series_rlc().simulate(t_end=2.0, times=["now"])


def test_progress_is_told_and_ends_at_one() -> None:
    told: list[float] = []
    series_rlc().simulate(t_end=1.0, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)


def test_a_state_that_is_zero_by_symmetry_does_no_harm() -> None:
    """A balanced bridge: the inductor across it carries rounding errors only, which must not set the tolerance."""
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage="10*sin(3*t)"),
        *(Resistor(f"R{k}", (a, b), resistance=r) for k, (a, b, r) in enumerate(
            [("in", "l", 0.1), ("in", "r", 0.3), ("l", "ground", 0.7), ("r", "ground", 2.1)])),
        Inductor("L", ("l", "r"), inductance=0.3),
        Capacitor("C", ("l", "ground"), capacitance=0.1),
        Capacitor("D", ("r", "ground"), capacitance=0.1 / 3),
    )  # fmt: skip
    sol = m.simulate(t_end=5.0, points=51)
    assert np.abs(sol["L.current"]).max() < 1e-6
    assert np.abs(sol["C.voltage"]).max() > 1.0


def test_a_network_without_storages() -> None:
    m = circuit(
        VoltageSource("V", ("in", "ground"), voltage="t"),
        Resistor("R1", ("in", "a"), resistance=1.0),
        Resistor("R2", ("a", "ground"), resistance=3.0),
    )
    sol = m.simulate(t_end=2.0, points=5)
    np.testing.assert_allclose(sol["a.voltage"], 0.75 * sol.t, atol=1e-12)
    np.testing.assert_allclose(sol.energy().dissipated[-1], 8 / 3 / 4, rtol=1e-7)
    assert m.linearise(outputs=["a.voltage"]).D[0, 0] == pytest.approx(0.75)


def test_fast_vibrations_without_damping_do_not_spoil_the_tolerances() -> None:
    """Axial vibrations of a beam are a hundred times faster than bending; a rough run lets them grow."""
    m = cotree.Model("cantilever", gravity=(0, 0, 0))
    square = cotree.section.rectangle(0.02, 0.02)
    beam = cotree.Beam(
        "beam", length=1.0, section=square, material=cotree.STEEL, elements=4, modes=2, stiffening="none"
    )
    m.add(cotree.Weld("wall", "ground", m.add(beam)["start"]))
    m.add(cotree.PointForce("f", "beam.end", force=("0", "100*(1 - step(t - 0.2))", "0")))
    assert m.simulate(2.0, points=101).energy().error < 1e-6  # 100 rtol
