"""Events against closed forms and SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cotree as ct
from cotree.errors import ModelError
from cotree.model.event import Event
from cotree.solve.simulate import simulate
from cotree.terminal.bodies import PointMass, RigidBody
from cotree.terminal.joints import Revolute
from solve import four_bar


def stone() -> ct.Model:
    m = ct.Model("stone", parameters={"floor": 0.0})
    m.add(PointMass("stone", mass=1.0, position=(0, 0, 2.0), velocity=(3.0, 0, 1.0)))
    return m


def test_a_stone_stops_at_the_floor() -> None:
    event = Event("floor", "stone.position.z - floor", "down", "stop")
    sol = simulate(stone().equations(), 5.0, points=51, rtol=1e-11, events=[event])
    t = (1 + np.sqrt(1 + 4 * 9.81)) / 9.81
    assert sol.t[-1] == pytest.approx(t, abs=1e-9)
    np.testing.assert_array_equal(sol.t[:-1], np.linspace(0, 5, 51)[: len(sol.t) - 1])
    assert sol["stone.position.z"][-1] == pytest.approx(0, abs=1e-8)
    assert sol["stone.position.x"][-1] == pytest.approx(3 * t, abs=1e-8)
    assert sol.complete
    np.testing.assert_allclose(sol.events["floor"], [sol.t[-1]])
    assert len(sol.energy().stored) == len(sol.t)
    assert sol.energy().error < 1e-9


def test_directions_and_records() -> None:
    """A pendulum passes its lowest point again and again; the times are those of SciPy."""
    m = ct.Model("pendulum", gravity=(0, -9.81, 0))
    rod = m.add(RigidBody("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), frames={"O": (0, 0.5, 0)}))
    m.add(Revolute("O", m.ground, rod["O"], angle=1.2))

    def rates(_: float, y: np.ndarray) -> list[float]:
        return [y[1], -9.81 * 0.5 / 0.35 * np.sin(y[0])]

    def low(_: float, y: np.ndarray) -> float:
        return float(y[0])

    exact = solve_ivp(rates, (0, 5), [1.2, 0], "DOP853", events=low, rtol=1e-12, atol=1e-13)
    events = [Event("low", "O.angle"), Event("right", "O.angle", "up"), Event("left", "O.angle", "down")]
    sol = simulate(m.equations(), 5.0, points=3, rtol=1e-11, events=events)
    times = exact.t_events[0]
    assert len(times) > 4
    np.testing.assert_allclose(sol.events["low"], times, atol=1e-9)
    np.testing.assert_allclose(sol.events["left"], times[::2], atol=1e-9)
    np.testing.assert_allclose(sol.events["right"], times[1::2], atol=1e-9)
    np.testing.assert_allclose(sol.event_values["low"]["O.angle_rate"], exact.y_events[0][:, 1], atol=1e-8)
    np.testing.assert_array_equal(sol.t, [0, 2.5, 5.0])


@pytest.mark.parametrize("integrator", ["adams", "cvodes", "rk8", "generalised_alpha"])
def test_every_kind_of_method(integrator: str) -> None:
    event = Event("fallen", "stone.velocity.z", action="stop")
    sol = simulate(stone().equations(), 1.0, points=5, integrator=integrator, events=event)
    assert sol.t[-1] == pytest.approx(1 / 9.81, abs=1e-7)


def test_a_joint_outside_the_tree_counts_its_turns() -> None:
    """C.angle of the four-bar is measured around a loop; several turns of the crank are passed one by one."""
    m = four_bar.model(rate=40.0, fixed=("angle", "angle_rate"))
    events = [Event(f"turn{k}", f"O.angle - 2*pi*{k}", "up") for k in (1, 2, 3)]
    equations = m.equations("absolute")
    sol = simulate(equations, 0.6, points=7, events=events, rtol=1e-10)
    exact = four_bar.Reference().motion(0.3, 40.0, np.array([sol.events[f"turn{k}"][0] for k in (1, 2, 3)]))
    np.testing.assert_allclose(exact[0], 2 * np.pi * np.arange(1, 4), atol=1e-6)


def test_a_circuit_with_a_switch_in_between() -> None:
    """A capacitor charges from t = 0.3 on: half way at RC ln 2 later."""
    m = ct.Model("RC")
    m.add(ct.VoltageSource("V", ("in", "ground"), voltage="step(t - 0.3)"))
    m.add(ct.Resistor("R", ("in", "out"), resistance=2.0))
    m.add(ct.Capacitor("C", ("out", "ground"), capacitance=0.5))
    sol = simulate(m.equations(), 2.0, points=3, rtol=1e-11, events=[Event("half", "C.voltage - 0.5", "up", "stop")])
    np.testing.assert_allclose(sol.events["half"], [0.3 + np.log(2)], atol=1e-9)
    np.testing.assert_allclose(sol.t, [0, 1.0 if 0.3 + np.log(2) > 1 else 0.3 + np.log(2)], atol=1e-9)


def test_a_failure_after_the_end_does_not_matter() -> None:
    m = ct.Model("lost")
    m.add(ct.VoltageSource("V", ("a", "ground"), voltage="sqrt(1 - t)"))
    m.add(ct.Resistor("R", ("a", "b"), resistance=1.0))
    m.add(ct.Capacitor("C", ("b", "ground"), capacitance=1.0))
    sol = simulate(m.equations(), 2.0, points=21, events=Event("end", "t - 0.55", action="stop"))
    assert sol.complete
    assert sol.t[-1] == pytest.approx(0.55, abs=1e-9)


def test_no_event_and_wrong_ones() -> None:
    equations = stone().equations()
    sol = simulate(equations, 0.1, points=3, events=[Event("high", "stone.position.z - 100")])
    assert len(sol.events["high"]) == 0
    assert sol.complete
    for make, message in (
        (lambda: Event("x", "t - 1", "sideways"), "direction"),
        (lambda: Event("x", "t - 1", action="jump"), "action"),
        (lambda: Event("x", "t -"), "cannot be read"),
        (lambda: simulate(equations, 1.0, events=[Event("x", "stone.z - 1")]), r"no result 'stone\.z'"),
        (lambda: simulate(equations, 1.0, events=[Event("x", "t - 1"), Event("x", "t - 2")]), "two events"),
        (lambda: simulate(equations, 1.0, events=["x"]), "an event 'x'"),
    ):
        with pytest.raises(ModelError, match=message):
            make()
