"""Samples: controllers with their own period, in native code and in Python, and runs that are cut off and go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm

from cotree.errors import SolveError
from cotree.formulation.system import Sample, Switch, SystemEquations
from cotree.results import Solution
from cotree.solve import pieces
from cotree.solve.native import compiler
from cotree.solve.recording import Recording
from cotree.solve.simulate import simulate
from solve.hybrid_models import system

METHODS = ("rk45", "rodas")
GAIN, RESET, PERIOD = 2.0, 15.0, 0.01
Call = Callable[[float, Sequence[float]], Sequence[float]]
MATRIX, INPUT = np.array([[-20.0, -3.0], [40.0, -1.0]]), np.array([20.0, 0.0])


def controlled(call: Call | None = None, period: float = PERIOD) -> SystemEquations:
    """A motor-like plant (current, speed) under a sampled PI controller that wants a speed of 1."""

    def samples(x: Any, h: Any) -> Any:
        error = 1 - x[1]
        total = h[1] + period * error
        laws = {0: GAIN * error + RESET * total, 1: total}
        return (Sample("pi", ca.SX(period), ca.SX(0), laws, call, ca.vertcat(x[1], h[1])),)

    def rates(x: Any, h: Any) -> Any:
        return tuple(MATRIX[k, 0] * x[0] + MATRIX[k, 1] * x[1] + INPUT[k] * h[0] for k in range(2))

    return system({"i": 0.0, "w": 0.0}, {"pi.u": 0.0, "pi.sum": 0.0}, rates, samples=samples)


def exact(count: int) -> np.ndarray[Any, Any]:
    """The states at the samples, by the matrix exponential over one period."""
    whole = np.zeros((3, 3))
    whole[:2, :2], whole[:2, 2] = MATRIX, INPUT
    step = expm(whole * PERIOD)
    x, total, rows = np.zeros(2), 0.0, [np.zeros(2)]
    for _ in range(count):
        error = 1 - x[1]
        total += PERIOD * error
        x = (step @ np.append(x, GAIN * error + RESET * total))[:2]
        rows.append(x)
    return np.array(rows)


def in_python(t: float, inputs: Sequence[float]) -> Sequence[float]:
    """The same controller."""
    error = 1 - inputs[0]
    total = inputs[1] + PERIOD * error
    return GAIN * error + RESET * total, total


@pytest.mark.parametrize("method", METHODS)
def test_a_sampled_controller_is_the_exact_discrete_system(method: str) -> None:
    found = simulate(controlled(), 2.0, points=201, integrator=method, rtol=1e-12)
    np.testing.assert_allclose(np.column_stack([found["i"], found["w"]]), exact(200), rtol=0, atol=1e-10)
    assert found["w"][-1] == pytest.approx(1.0, abs=1e-2)


def test_a_python_function_gives_the_same_and_is_asked_once_for_each_sample() -> None:
    asked: list[float] = []

    def call(t: float, inputs: Sequence[float]) -> Sequence[float]:
        asked.append(t)
        return in_python(t, inputs)

    native = simulate(controlled(), 2.0, points=333)
    found = simulate(controlled(call), 2.0, points=333)
    assert asked == [k * PERIOD for k in range(201)]
    for name in native:
        np.testing.assert_allclose(found[name], native[name], rtol=0, atol=1e-9)
    assert found["pi.u"][-1] == pytest.approx(native["pi.u"][-1], abs=1e-9)


def test_values_between_samples_are_held_and_change_at_once() -> None:
    found = simulate(controlled(), 0.1, points=41)
    u = found["pi.u"]
    held = u.reshape(-1)[:40].reshape(10, 4)
    assert np.all(held == held[:, :1])
    assert len(set(held[:, 0].tolist())) == 10
    assert u[0] == GAIN + RESET * PERIOD
    assert u[40] != u[39]


def test_what_is_due_at_one_time_reads_the_old_values() -> None:
    """Two samples of 0.1 s swap their values, and a third one of 0.2 s adds both."""

    def samples(x: Any, h: Any) -> Any:
        return (
            Sample("a", ca.SX(0.1), ca.SX(0.05), {0: h[1]}),
            Sample("b", ca.SX(0.1), ca.SX(0.05), {1: h[0]}),
            Sample("c", ca.SX(0.2), ca.SX(0.05), {2: h[0] - h[1]}),
        )

    swap = system({"x": 0.0}, {"a": 1.0, "b": 2.0, "c": 0.0}, lambda x, h: (h[0],), samples=samples)
    found = simulate(swap, 0.4, times=[0.0, 0.1, 0.2, 0.3, 0.4])
    assert found["a"].tolist() == [1, 2, 1, 2, 1]
    assert found["b"].tolist() == [2, 1, 2, 1, 2]
    assert found["c"].tolist() == [0, -1, -1, -1, -1]
    np.testing.assert_allclose(found["x"], [0, 0.15, 0.3, 0.45, 0.6], rtol=1e-12)


def test_times_of_samples_do_not_drift() -> None:
    """10,000 samples of 0.1 s: the last one is at 1000 s to the last digit, and each holds its time."""
    times: list[float] = []

    def call(t: float, inputs: Sequence[float]) -> Sequence[float]:
        times.append(t)
        return (t,)

    clock = system(
        {"x": 0.0}, {"k": 0.0}, lambda x, h: (ca.SX(1),), samples=lambda x, h: (
            Sample("clock", ca.SX(0.1), ca.SX(0.03), {0: h[0]}, call, ca.SX(0, 1)),
        ),
    )  # fmt: skip
    found = simulate(clock, 100.0, t_start=0.5, points=2)
    assert times == [0.03 + k * 0.1 for k in range(5, 1000)]
    assert found["x"][-1] == pytest.approx(99.5, abs=1e-8)


@pytest.mark.parametrize(
    ("given", "said"), [(lambda t, y: (1.0,), "2 finite numbers"), (lambda t, y: (1 / 0, 1), "ZeroDivisionError")]
)
def test_a_python_function_that_fails_is_said(given: Any, said: str) -> None:
    def call(t: float, inputs: Sequence[float]) -> Sequence[float]:
        return in_python(t, inputs) if t < 0.5 else given(t, inputs)

    with pytest.raises(SolveError, match=rf"pi.*t = 0\.5 s.*{said}") as caught:
        simulate(controlled(call), 1.0, points=101)
    assert caught.value.solution.t[-1] == pytest.approx(0.49)  # type: ignore[union-attr]


def switching() -> SystemEquations:
    """The controlled plant with a limit on its current, which a switch holds with a hysteresis."""

    def samples(x: Any, h: Any) -> Any:
        return (Sample("pi", ca.SX(PERIOD), ca.SX(0), {0: 8 * (1 - x[1]), 2: h[2] + 1}),)

    def switches(x: Any, h: Any) -> Any:
        return (
            Switch("limit.holds", ca.if_else(h[1] > 0, -1, x[0] - 0.3), {1: ca.SX(1)}),
            Switch("limit.ends", ca.if_else(h[1] > 0, 0.2 - x[0], -1), {1: ca.SX(0)}),
        )

    return system(
        {"i": 0.0, "w": 0.0},
        {"u": 0.0, "limit": 0.0, "count": 0.0},
        lambda x, h: (-20 * x[0] - 3 * x[1] + 20 * (1 - h[1]) * h[0], 4 * x[0] - x[1]),
        samples=samples,
        switches=switches,
        stored=lambda x, h: x[1] ** 2 / 2,
        dissipation=lambda x, h: x[1] ** 2,
        supply=lambda x, h: 4 * x[0] * x[1],
    )


def same(one: Solution, other: Solution) -> None:
    assert one.complete
    np.testing.assert_array_equal(one.t, other.t)
    for name, values in other.values.items():
        np.testing.assert_array_equal(one.values[name], values, err_msg=name)
    for key in ("stored", "dissipated", "supplied"):
        np.testing.assert_array_equal(getattr(one.audit, key), getattr(other.audit, key))
    assert {name: each.tolist() for name, each in one.events.items()} == {
        name: each.tolist() for name, each in other.events.items()
    }
    for name, found in other.event_values.items():
        for key, values in found.items():
            np.testing.assert_array_equal(one.event_values[name][key], values)


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_is_cut_off_goes_on_with_the_same_numbers(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "STEPS", 100)
    monkeypatch.setattr(pieces, "TIMES", 1)
    monkeypatch.setattr("cotree.solve.recording.PAUSE", 0.0)
    whole = simulate(switching(), 3.0, points=61, integrator=method)
    assert whole.audit.error < 1e-8
    assert len(whole.events["limit.holds"]) > 5
    assert whole["count"][-1] == 301

    def stop(done: float) -> None:
        if done > 0.4:
            raise KeyboardInterrupt

    path = tmp_path / "run.h5"
    with pytest.raises(SolveError, match="interrupted") as caught:
        simulate(switching(), 3.0, points=61, integrator=method, progress=stop, record=Recording(path))
    cut = caught.value.solution
    assert isinstance(cut, Solution)
    assert 10 < len(cut.t) < 61
    same(simulate(switching(), 3.0, points=61, integrator=method, record=Recording(past=cut)), whole)
    same(
        simulate(switching(), 3.0, points=61, integrator=method, record=Recording(past=Solution.from_hdf5(path))), whole
    )


def test_a_file_written_on_the_way_holds_the_switches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a killed process would leave: rows and switches up to the last write."""
    monkeypatch.setattr(pieces, "STEPS", 100)
    monkeypatch.setattr(pieces, "TIMES", 1)
    monkeypatch.setattr("cotree.solve.recording.PAUSE", 0.0)
    path, seen = tmp_path / "run.h5", []

    def look(done: float) -> None:
        if done > 0.6 and not seen:
            seen.append(Solution.from_hdf5(path))

    whole = simulate(switching(), 3.0, points=61, record=Recording(path), progress=look)
    part = seen[0]
    assert 10 < len(part.t) < 61
    for name in ("limit.holds", "limit.ends"):
        until = whole.events[name][whole.events[name] <= part.restart.t]
        assert len(until) > 2
        np.testing.assert_array_equal(part.events[name], until)
    same(simulate(switching(), 3.0, points=61, record=Recording(past=part)), whole)


@pytest.mark.skipif(compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("method", ["rk45", pytest.param("rodas", marks=pytest.mark.slow)])
def test_machine_code_gives_the_same(method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COTREE_CACHE", str(tmp_path))
    plain = simulate(switching(), 1.0, points=31, integrator=method, compiled=False)
    fast = simulate(switching(), 1.0, points=31, integrator=method, compiled=True)
    assert list(tmp_path.glob("*.so"))
    np.testing.assert_allclose(fast["i"], plain["i"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(fast.events["limit.holds"], plain.events["limit.holds"], rtol=0, atol=1e-9)
