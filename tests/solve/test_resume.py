"""Runs that are cut off and go on: the same numbers as without a cut, to the last digit."""

from __future__ import annotations

import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree import Solution
from cotree.errors import ModelError, ResultError, SolveError
from cotree.solve import pieces
from cotree.solve.integrator import Options, choose
from cotree.solve.problem import Problem
from formulation.nodal_models import five_bar, structure

EXAMPLES = Path(__file__).parents[2] / "examples"
N = ct.nodal


@pytest.fixture(autouse=True)
def _short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a few steps, so that short runs have many."""
    monkeypatch.setattr(pieces, "STEPS", 200)
    monkeypatch.setattr(pieces, "TIMES", 1)


def cut(model: ct.Model, t_end: float, part: float, **options: Any) -> Solution:
    """What a run has done when it is interrupted after a part of its time."""

    def stop(done: float) -> None:
        if done >= part:
            raise KeyboardInterrupt

    with pytest.raises(SolveError, match="interrupted") as caught:
        model.simulate(t_end, progress=stop, **options)
    found = caught.value.solution
    assert isinstance(found, Solution)
    assert not found.complete
    assert 0 < len(found) < options.get("points", 501)
    return found


def same(one: Solution, other: Solution, rounding: float = 0.0) -> None:
    """Everything but the time that was spent; up to ``rounding`` as a part of the largest with the same unit.

    Where there are impacts, their times are as sharp as they are searched for, and energies are summed up differently.
    """
    assert one.complete
    assert other.complete
    assert list(one) == list(other)
    for name, values in other.values.items():
        largest = max(np.abs(other.values[key]).max() for key, unit in other.units.items() if unit == other.units[name])
        np.testing.assert_allclose(one.values[name], values, rtol=0, atol=rounding * largest, err_msg=name)
    np.testing.assert_array_equal(one.t, other.t)
    np.testing.assert_allclose(one.energy().stored, other.energy().stored, rtol=rounding)
    assert one.energy().start == other.energy().start
    for key in ("dissipated", "supplied"):
        largest = other.energy().scale
        np.testing.assert_allclose(
            getattr(one.energy(), key), getattr(other.energy(), key), rtol=0, atol=rounding * largest
        )
    assert set(one.events) == set(other.events)
    for name, times in other.events.items():
        np.testing.assert_allclose(one.events[name], times, rtol=rounding)
    for name, found in other.event_values.items():
        for key, values in found.items():
            np.testing.assert_allclose(one.event_values[name][key], values, rtol=0, atol=rounding * 100)
    judged = ("inaccurate", "stepped-over", "accuracy-unchecked")  # whole runs only are looked at again
    assert [d for d in one.diagnostics if d.code not in judged] == [
        d for d in other.diagnostics if d.code not in judged
    ]
    assert one.parameters == other.parameters
    for key in ("integrator", "rtol", "atol") if rounding else ("integrator", "rtol", "atol", "steps", "evaluations"):
        assert getattr(one.statistics, key) == getattr(other.statistics, key)


def example(name: str) -> ct.Model:
    return ct.load(EXAMPLES / f"{name}.yaml")


def switched() -> ct.Model:
    """A source that jumps, at output times and between them, so that there are many stretches."""
    model = ct.Model("switched")
    model.add(ct.VoltageSource("V", ("in", "ground"), voltage="step(t - 0.2) - 2*step(t - 0.43) + sin(3*t)"))
    model.add(ct.Resistor("R", ("in", "out"), resistance=2.0))
    model.add(ct.Inductor("L", ("out", "end"), inductance=0.1))
    model.add(ct.Capacitor("C", ("end", "ground"), capacitance=0.01))
    return model


def spinning() -> ct.Model:
    """An arm that turns more than once, and a second one on it."""
    model = ct.Model("arms", gravity=(0, -9.81, 0))
    for name in ("one", "two"):
        model.add(ct.RigidBody(name, shape=ct.rod(length=0.4, mass=1.0), frames={"a": (-0.2, 0, 0), "b": (0.2, 0, 0)}))
    model.add(ct.Revolute("O", "ground", "one.a", axis=(0, 0, 1), angle=0.3, angle_rate=15.0))
    model.add(ct.Revolute("A", "one.b", "two.a", axis=(0, 0, 1), angle=0.1, angle_rate=-3.0))
    model.add(ct.JointDamper("D", "A", damping=0.02))
    return model


BOUNCE = {"O": (0, 0, 0), "P": {"position": (1.5, 0, 0), "mass": 2.0, "velocity": (0, 0, 0)}}


def bouncing() -> ct.Model:
    parts = N.Fixed("wall", "O"), N.OnLine("rail", "P", along=(1, 0, 0))
    stop = N.Stop("stop", ("O", "P"), least=1.0, restitution=0.3)
    return structure(BOUNCE, *parts, stop, planar=True, gravity=(-9.81, 0, 0))


def measured() -> ct.Model:
    """The arms, turned by a measured torque that jumps now and then."""
    model, t = spinning(), np.linspace(0, 1, 41)
    model.data("torque", t, np.sin(9 * t), unit="N m")
    model.data("jumps", t[::8], [0.0, 0.4, -0.2, 0.3, 0.1, 0.0], interpolation="step", unit="N m")
    model.add(ct.JointActuator("T", "O", effort="torque + jumps"))
    return model


CASES: dict[str, tuple[Any, float, dict[str, Any]]] = {
    "network": (switched, 1.0, {}),
    "idas": (lambda: example("rectifier"), 0.04, {}),
    "joint": (spinning, 2.0, {}),
    "absolute": (spinning, 2.0, {"tree": "absolute"}),
    "two trees": (spinning, 1.0, {"tree": ("absolute", "joint")}),
    "data": (measured, 1.0, {}),
    "loop": (lambda: example("four_bar"), 1.0, {}),
    "few points": (spinning, 2.0, {"points": 6}),
    "tolerance": (spinning, 1.0, {"atol": 1e-9, "rtol": 1e-6}),
    **{
        name: (spinning, 0.5, {"tree": "absolute", "integrator": name, "rtol": 1e-5})
        for name in ("cvodes", "rk8", "generalised_alpha", "generalised_alpha_2", "energy", "energy_decaying")
    },
    "fixed step": (spinning, 0.5, {"integrator": "rk4", "step": 1e-3}),
    "modes": (lambda: five_bar(-1), 0.5, {"integrator": "corrected", "step": 2e-3}),
    "paper": (lambda: five_bar(-1), 0.5, {"integrator": "paper", "step": 2e-3}),
    "bond graph": (lambda: example("bond_example_2"), 1.0, {}),
    "flexible": (lambda: example("flexible_pendulum"), 0.2, {"rtol": 1e-5}),
    "stop": (bouncing, 0.5, {}),
    "latch": (lambda: example("deployable_ring_truss"), 2.0, {"rtol": 1e-6}),
}
SLOW = ("flexible", "latch", "generalised_alpha_2", "energy_decaying", "paper", "two trees", "cvodes", "loop", "rk8")


@pytest.mark.parametrize("case", [pytest.param(case, marks=pytest.mark.slow if case in SLOW else ()) for case in CASES])
def test_a_run_goes_on_as_if_nothing_had_been(case: str, tmp_path: Path) -> None:
    make, t_end, options = CASES[case]
    model, options = make(), {"points": 51} | options
    events = ct.Event("early", "t - 0.01"), ct.Event("late", f"t - {0.9 * t_end}")
    if case in ("network", "joint", "stop"):
        options["events"] = events
    whole = model.simulate(t_end, **options)
    part = 0.01 if case in ("rk8", "latch") else 0.3  # few steps are two pieces
    first = Solution.from_hdf5(cut(model, t_end, part, **options).to_hdf5(tmp_path / "run.h5"))
    same(ct.resume(first), whole, rounding=whole.statistics.rtol if case in ("stop", "latch") else 0.0)
    assert whole.restart is None


def test_a_run_that_is_cut_twice(tmp_path: Path) -> None:
    """Angles go on beyond full turns, rows that were written before stay, and the file is the whole in the end."""
    path, model, options = tmp_path / "run.h5", spinning(), {"points": 101, "tree": "absolute"}
    whole = model.simulate(2.0, **options)
    assert whole["O.angle"][-1] > 4 * np.pi
    first = cut(model, 2.0, 0.2, out=path, **options)

    def stop(done: float) -> None:
        if done > 0.6:
            raise KeyboardInterrupt

    with pytest.raises(SolveError, match="interrupted"):
        ct.resume(path, progress=stop)
    second = Solution.from_hdf5(path)
    assert len(first) < len(second) < 101
    np.testing.assert_array_equal(second["O.angle"][: len(first)], first["O.angle"])
    same(ct.resume(path), whole)
    same(Solution.from_hdf5(path), whole)
    assert ct.resume(path).complete, "a finished run is returned as it is"


def test_a_model_that_is_given() -> None:
    first = cut(switched(), 1.0, 0.3, points=21)
    assert ct.resume(first, model=switched()).complete
    other = switched()
    other.components["R"] = ct.Resistor("R", ("in", "out"), resistance=3.0)
    with pytest.raises(ModelError, match=r"R\.resistance: it is 3\.0, and was 2\.0"):
        ct.resume(first, model=other)


def test_a_model_that_cannot_be_stored() -> None:
    """The results say why, and a run goes on with the model itself."""
    first = cut(switched(), 1.0, 0.3, points=21)
    assert first.origin is not None
    without = replace(first, origin=replace(first.origin, model=None, why_not="R holds a function"))
    with pytest.raises(ResultError, match="R holds a function"):
        ct.resume(without)
    same(ct.resume(without, model=switched()), switched().simulate(1.0, points=21))
    other = switched()
    other.components["R"] = ct.Resistor("R", ("in", "out"), resistance=3.0)
    with pytest.raises(ResultError, match=r"R\.resistance is 3\.0, and was 2\.0"):
        ct.resume(without, model=other)


def test_nothing_to_go_on_from() -> None:
    done = switched().simulate(1.0, points=11)
    half = Solution(**{**vars(done), "complete": False})
    with pytest.raises(ResultError, match="cannot go on"):
        ct.resume(half)


def test_a_signal_that_the_solver_swallows_changes_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has taken it for a failure of the equations: what it gives then is dropped."""
    whole, calls = switched().simulate(1.0, points=201), list[float]()

    def swallowing(self: Any, t: float, *given: Any) -> Any:
        done = integrate(self, t, *given)
        if t > 0.3 and given[0][-1] - t < 0.5 and self.options.rtol == 1e-8:
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            done.x[:] += 1.0
            calls.append(t)
        return done

    integrator = type(_method_of(switched()))
    integrate = integrator.integrate
    monkeypatch.setattr(integrator, "integrate", swallowing)
    with pytest.raises(SolveError, match="interrupted at") as caught:
        switched().simulate(1.0, points=201)
    found = caught.value.solution
    assert isinstance(found, Solution)
    assert len(calls) == 1
    assert found.t[-1] <= calls[0] + 1e-9
    assert not found.complete
    for name in whole:
        np.testing.assert_array_equal(found[name], whole[name][: len(found)])


def _method_of(model: ct.Model) -> Any:
    """The integrator that a model is given."""
    problem = Problem.of(model.equations())
    return choose("auto", problem, None)(problem, Options())


def test_an_interruption_after_the_last_row_is_too_late(tmp_path: Path) -> None:
    def stop(done: float) -> None:
        if done == 1.0:
            raise KeyboardInterrupt

    event = ct.Event("late", "t - 0.999")
    found = switched().simulate(1.0, points=201, progress=stop, events=event, out=tmp_path / "run.h5")
    same(found, switched().simulate(1.0, points=201, events=event))
    assert found.events["late"] == pytest.approx([0.999])
    assert Solution.from_hdf5(tmp_path / "run.h5").complete


RESTARTS = {
    "network": (switched, 1.0, {}),
    "joint": (spinning, 1.0, {}),
    "absolute": (spinning, 1.0, {"tree": "absolute"}),
    "data": (measured, 1.0, {}),
    "loop": (lambda: example("four_bar"), 0.5, {}),
    "nodal": (lambda: five_bar(-1), 0.5, {}),
    "bond graph": (lambda: example("bond_example_2"), 1.0, {}),
    "stop": (bouncing, 0.4, {}),
}


@pytest.mark.parametrize("case", RESTARTS)
def test_a_stored_state_starts_another_run(case: str, tmp_path: Path) -> None:
    """The rest of the run is the same within ten times the tolerance; angles that are no coordinates lose turns."""
    make, t_end, options = RESTARTS[case]
    model, rtol = make(), 1e-8
    whole = Solution.from_hdf5(model.simulate(t_end, points=21, rtol=rtol, **options).to_hdf5(tmp_path / "run.h5"))
    t = float(whole.t[8])
    rest = model.simulate(t_end, t_start=t, start=whole.state_at(t), times=whole.t[8:].tolist(), rtol=rtol, **options)
    for name in whole.states:
        alike = [whole[each] for each in whole.states if whole.unit(each) == whole.unit(name)]
        size = max(1.0 if whole.unit(name) in ("rad", "") else 0.0, *(float(np.abs(each).max()) for each in alike))
        one, other = rest[name], whole[name][8:]
        if ".orientation." in name:  # both signs are the same rotation
            one, other = np.abs(one), np.abs(other)
        np.testing.assert_allclose(one, other, rtol=0, atol=10 * rtol * size, err_msg=name)


def test_a_state_is_not_interpolated() -> None:
    sol = switched().simulate(1.0, points=11)
    assert sol.state_at(0.3) == sol.state_at(sol.t[3])
    with pytest.raises(ResultError, match=r"no output at t = 0\.35 s.*such as 0\.3 or 0\.4 s"):
        sol.state_at(0.35)
    for time in (True, "0"):
        with pytest.raises(ResultError, match="a number in s"):
            sol.state_at(time)  # type: ignore[arg-type]


def test_a_model_from_its_results(tmp_path: Path) -> None:
    """Same equations, same tree: the same numbers."""
    for make, tree in (
        (spinning, ("absolute", "joint")),
        (spinning, "joint"),
        (lambda: example("bond_example_2"), None),
    ):
        sol = make().simulate(0.2, points=6, tree=tree)
        model, found = ct.rebuild(Solution.from_hdf5(sol.to_hdf5(tmp_path / "a.h5")))
        again = model.simulate(0.2, points=6, tree=found)
        for name in sol:
            np.testing.assert_array_equal(again[name], sol[name])
