"""Switches: located, acting one after the other, and against closed forms between them."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

from cotree.errors import OptionError, SolveError
from cotree.formulation.system import Energy, Output, Switch, SystemEquations, Variables
from cotree.model.event import Event
from cotree.solve.simulate import simulate
from solve.hybrid_models import T, bouncing, relay, system

METHODS = ("rk45", "rodas")


@pytest.mark.parametrize("method", METHODS)
def test_a_bouncing_mass(method: str) -> None:
    """Times of impacts in closed form; what each loses of the energy counts as dissipated."""
    g, e = 9.81, 0.8
    found = simulate(bouncing(e, g), 3.0, integrator=method, points=61)
    first = np.sqrt(2 / g)
    speed = g * first
    times = [first]
    for k in range(5):
        times.append(times[-1] + 2 * speed * e ** (k + 1) / g)
    np.testing.assert_allclose(found.events["floor.hits"], times, rtol=0, atol=1e-10)
    after = found.event_values["floor.hits"]["v"]
    np.testing.assert_allclose(after, speed * e ** np.arange(1, 7), rtol=1e-9)
    assert found.audit.error < 1e-10
    assert found.audit.dissipated[-1] == pytest.approx(speed**2 / 2 * (1 - e**12), rel=1e-9)
    last = found.t[-1] - times[-1]
    assert found["y"][-1] == pytest.approx(speed * e**6 * last - g * last**2 / 2, abs=1e-8)


def friction(mu: float = 0.3, push: float = 0.0) -> SystemEquations:
    """A mass of 1 kg that slides at 2 m/s, sticks, and is pushed by ``push * t`` until it slips again."""
    g = 9.81
    force = push * T

    def rates(x: Any, h: Any) -> Any:
        moving = force - h[0] * mu * g
        return x[1], ca.if_else(ca.fabs(h[0]) > 0.5, moving, 0)

    def switches(x: Any, h: Any) -> Any:
        stops = ca.if_else(ca.fabs(h[0]) > 0.5, -h[0] * x[1], -1)
        slips = ca.if_else(ca.fabs(h[0]) > 0.5, -1, force - 1.5 * mu * g)
        return (
            Switch("F.sticks", stops, {0: ca.SX(0)}, {1: ca.SX(0)}),
            Switch("F.slips", slips, {0: ca.SX(1)}),
        )

    return system(
        {"x": 0.0, "v": 2.0},
        {"F.mode": 1.0},
        rates,
        switches=switches,
        stored=lambda x, h: x[1] ** 2 / 2,
        dissipation=lambda x, h: ca.fabs(h[0]) * mu * g * ca.fabs(x[1]),
        supply=lambda x, h: force * x[1],
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_mass_stops_sticks_and_slips_again(method: str) -> None:
    mu, g, push = 0.3, 9.81, 2.0
    found = simulate(friction(mu, push), 3.0, integrator=method, points=31)
    # v = 2 - mu g t + push t^2 / 2
    stop = (mu * g - np.sqrt((mu * g) ** 2 - 4 * push)) / push
    slip = 1.5 * mu * g / push
    assert found.events["F.sticks"] == pytest.approx([stop], abs=1e-10)
    assert found.events["F.slips"] == pytest.approx([slip], abs=1e-10)
    t = found.t
    before = 2 - mu * g * t + push * t**2 / 2
    after = push * (t**2 - slip**2) / 2 - mu * g * (t - slip)
    speed = np.where(t < stop, before, np.where(t < slip, 0, after))
    np.testing.assert_allclose(found["v"], speed, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(found["F.mode"], np.where((t < stop) | (t >= slip), 1.0, 0.0))
    assert found.audit.error < 1e-8
    assert np.all(found["v"][(t > stop) & (t < slip)] == 0)


@pytest.mark.parametrize("method", METHODS)
def test_a_relay_switches_in_closed_form(method: str) -> None:
    found = simulate(relay(0.1), 20.0, integrator=method, points=201)
    first, half = -np.log(0.9), np.log(1.1 / 0.9)
    off, on = found.events["relay.off"], found.events["relay.on"]
    np.testing.assert_allclose(off, first + 2 * half * np.arange(len(off)), rtol=0, atol=3e-9)
    np.testing.assert_allclose(on, first + half + 2 * half * np.arange(len(on)), rtol=0, atol=3e-9)
    assert len(off) + len(on) == 1 + int((20 - first) / half)


def rectifier() -> tuple[SystemEquations, list[np.ndarray[Any, Any]], float]:
    """A source 10 cos w t behind 1 mH and 0.2 ohm, an ideal diode, and 100 uF beside 50 ohm; with its two matrices.

    The diode closes where nothing drives its current yet: it opens again at -1 nA only, not by rounding.
    """
    w, inductance, r, c, load = 2 * np.pi * 400, 1e-3, 0.2, 100e-6, 50.0

    def rates(x: Any, h: Any) -> Any:
        current, voltage, a, b = x
        driven = (10 * a - r * current - voltage) / inductance
        return ca.if_else(h[0] > 0.5, driven, 0), (current - voltage / load) / c, -w * b, w * a

    def switches(x: Any, h: Any) -> Any:
        return (
            Switch("D.closes", ca.if_else(h[0] > 0.5, -1, 10 * x[2] - x[1]), {0: ca.SX(1)}),
            Switch("D.opens", ca.if_else(h[0] > 0.5, -1e-9 - x[0], -1), {0: ca.SX(0)}, {0: ca.SX(0)}),
        )

    equations = system({"i": 0.0, "v": 0.0, "a": 1.0, "b": 0.0}, {"D.on": 0.0}, rates, switches=switches)
    turn = [[0, 0, 0, -w], [0, 0, w, 0]]
    on = [[-r / inductance, -1 / inductance, 10 / inductance, 0], [1 / c, -1 / (load * c), 0, 0], *turn]
    off = [[0, 0, 0, 0], [1 / c, -1 / (load * c), 0, 0], *turn]
    return equations, [np.array(off), np.array(on)], 5e-3


@pytest.mark.parametrize("method", METHODS)
def test_a_rectifier_against_matrix_exponentials(method: str) -> None:
    equations, matrices, end = rectifier()
    found = simulate(equations, end, integrator=method, points=51, rtol=1e-10)
    x, t, on, times = np.array([0.0, 0.0, 1.0, 0.0]), 0.0, 0, []
    rows = {}
    while t < end:
        if on == 0 and 10 * x[2] - x[1] > 0:
            on = 1
            times.append(t)
            continue

        def guard(s: float, x: Any = x, on: int = on) -> float:
            y = expm(matrices[on] * s) @ x
            return float(-1e-9 - y[0] if on else 10 * y[2] - y[1])

        begin = 1e-6
        steps = np.linspace(begin, end, 2001)
        over = [k for k, s in enumerate(steps) if guard(s) > 0]
        length = brentq(guard, steps[over[0] - 1], steps[over[0]], xtol=1e-16) if over else np.inf
        for at in found.t[(found.t >= t) & (found.t < t + length)]:
            rows[at] = expm(matrices[on] * (at - t)) @ x
        if t + length >= end:
            break
        x, t = expm(matrices[on] * length) @ x, t + length
        on = 1 - on
        x[0] = 0.0
        times.append(t)
    both = np.sort(np.concatenate([found.events["D.closes"], found.events["D.opens"]]))
    assert len(both) > 3
    np.testing.assert_allclose(both, times, rtol=0, atol=1e-10)
    for name, k in (("i", 0), ("v", 1)):
        np.testing.assert_allclose(found[name], [rows[at][k] for at in found.t], rtol=0, atol=1e-7)


def test_a_switch_that_is_due_at_the_start_acts_there() -> None:
    ready = system(
        {"x": 1.0},
        {"k": 0.0},
        lambda x, h: (h[0],),
        switches=lambda x, h: (Switch("S.goes", ca.if_else(h[0] > 0, -1, x[0] - 0.5), {0: ca.SX(1)}),),
    )
    found = simulate(ready, 1.0, points=3)
    assert found.events["S.goes"].tolist() == [0.0]
    np.testing.assert_allclose(found["x"], [1.0, 1.5, 2.0], rtol=1e-12)
    assert found["k"].tolist() == [1.0, 1.0, 1.0]


def test_a_guard_that_is_positive_inside_a_step_only_is_found() -> None:
    """A parabola that rises above zero for 3/4 of the step in which it does."""
    peak = system(
        {"y": -0.12, "v": 0.5},
        {"n": 0.0},
        lambda x, h: (x[1], ca.SX(-1)),
        switches=lambda x, h: (Switch("P.passes", ca.if_else(h[0] > 0, -1, x[0]), {0: ca.SX(1)}),),
    )
    found = simulate(peak, 1.0, points=2, max_step=10.0, rtol=1e-3)
    assert found.events["P.passes"] == pytest.approx([0.5 - np.sqrt(0.25 - 0.24)], abs=1e-10)


def test_switching_without_end_is_said() -> None:
    """A relay without hysteresis on a state that both positions drive across its threshold."""
    endless = system(
        {"x": 1.0},
        {"k": -1.0},
        lambda x, h: (h[0],),
        switches=lambda x, h: (
            Switch("A.up", ca.if_else(h[0] < 0, -x[0], -1), {0: ca.SX(1)}),
            Switch("A.down", ca.if_else(h[0] > 0, x[0], -1), {0: ca.SX(-1)}),
        ),
    )
    with pytest.raises(SolveError, match=r"at t = 1 s.*A\.down.*A\.up.*again and again") as caught:
        simulate(endless, 2.0, points=21)
    kept = caught.value.solution
    assert kept is not None
    assert kept.t[-1] == pytest.approx(1.0)  # type: ignore[attr-defined]


def test_bounces_that_come_ever_faster_end_with_an_error() -> None:
    """All bounces are over after a finite time: with a restitution of 1/2 at 3 times the first fall."""
    with pytest.raises(SolveError, match=r"t = 1\.3545.*floor\.hits") as caught:
        simulate(bouncing(0.5), 3.0, points=31)
    kept = caught.value.solution.events["floor.hits"]  # type: ignore[union-attr]
    first = np.sqrt(2 / 9.81)
    np.testing.assert_allclose(kept, first * (3 - 2 * 0.5 ** np.arange(5)), rtol=0, atol=1e-10)  # up to 1.3 s


def test_an_algebraic_variable_fits_after_a_switch() -> None:
    """x' = -w with w^3 + w = k x: rodas solves for w, and finds it anew when k changes."""
    x, w, k = ca.SX.sym("x"), ca.SX.sym("w"), ca.SX.sym("k")
    equations = SystemEquations(
        name="dae",
        t=T,
        p=Variables.make((), ()),
        u=Variables(x, ("x",), ("",), np.array([2.0])),
        u_dot=ca.SX.sym("ud"),
        rates=-w,
        w=Variables(w, ("w",), ("",), np.array([1.0])),
        algebraic=w**3 + w - k * x,
        energy=Energy(ca.SX(0), ca.SX(0), ca.SX(0)),
        outputs={},
        mode_symbols=k,
        held=Variables(k, ("k",), ("",), np.array([1.0])),
        held_start=ca.SX(1),
        switches=(Switch("K.grows", ca.if_else(k > 1, -1, 1 - x), {0: ca.SX(30)}),),
    )
    found = simulate(equations, 2.0, points=41, rtol=1e-10)
    assert found.statistics.integrator == "rodas"

    def since(w: float, k: float) -> float:  # t = -(3 w^2 / 2 + log w) / k + constant
        return -(1.5 * w**2 + np.log(w)) / k

    def root(x: float, k: float) -> float:
        return float(brentq(lambda w: w**3 + w - k * x, 0, 10))

    change = since(root(1, 1), 1) - since(root(2, 1), 1)
    assert found.events["K.grows"] == pytest.approx([change], abs=1e-9)
    for t, value in zip(found.t, found["x"], strict=True):
        begin, k_now, t0 = (2.0, 1.0, 0.0) if t < change else (1.0, 30.0, change)
        w_now = root(float(value), k_now)
        assert since(w_now, k_now) - since(root(begin, k_now), k_now) == pytest.approx(t - t0, abs=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_eliminated_variables_change_with_a_switch(method: str) -> None:
    """x' = a - x with (1 + k) a + b = 3 and a - 2 b + x = 0: another linear system after the switch."""
    x, w, k = ca.SX.sym("x"), ca.SX.sym("w", 2), ca.SX.sym("k")
    equations = SystemEquations(
        name="linear",
        t=T,
        p=Variables.make((), ()),
        u=Variables(x, ("x",), ("",), np.zeros(1)),
        u_dot=ca.SX.sym("ud"),
        rates=w[0] - x,
        w=Variables(w, ("a", "b"), ("", ""), np.zeros(2)),
        algebraic=ca.vertcat((1 + k) * w[0] + w[1] - 3, w[0] - 2 * w[1] + x),
        energy=Energy(ca.SX(0), ca.SX(0), ca.SX(0)),
        outputs={"x": Output(x, ""), "a": Output(w[0], "")},
        mode_symbols=k,
        held=Variables(k, ("k",), ("",), np.ones(1)),
        held_start=ca.SX(1),
        switches=(Switch("K.grows", ca.if_else(k > 1, -1, 1.12 - w[0]), {0: ca.SX(3)}),),
    )
    found = simulate(equations, 5.0, points=51, integrator=method)
    change = np.log(1 / 0.6) / 1.2  # a = 1.2 - 0.2 x until x = 0.4, then a = 2/3 - x/9
    assert found.events["K.grows"] == pytest.approx([change], abs=1e-8)
    t = found.t
    before, after = 1 - np.exp(-1.2 * t), 0.6 - 0.2 * np.exp(-10 / 9 * (t - change))
    np.testing.assert_allclose(found["x"], np.where(t < change, before, after), rtol=0, atol=1e-7)
    np.testing.assert_allclose(
        found["a"], np.where(t < change, 1.2 - 0.2 * before, 2 / 3 - after / 9), rtol=0, atol=1e-7
    )


def test_methods_without_events_are_refused() -> None:
    with pytest.raises(OptionError, match="cvodes does not stop at switches"):
        simulate(relay(), 1.0, integrator="cvodes")


def test_only_so_many_switchings_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cotree.solve.switched.MOST", 3)
    found = simulate(relay(0.1), 3.0)
    assert [len(found.events[name]) for name in ("relay.off", "relay.on")] == [3, 3]
    assert "'relay.off' has acted 8 times; the first 3 are kept as events" in found.notes


@pytest.mark.parametrize("method", METHODS)
def test_events_of_the_user_are_found_between_switches(method: str) -> None:
    event = Event("half", "x", "down")
    found = simulate(relay(0.1), 3.0, integrator=method, events=[event])
    first, half = -np.log(0.9), np.log(1.1 / 0.9)
    down = first + np.log(1.1) + 2 * half * np.arange(len(found.events["half"]))
    np.testing.assert_allclose(found.events["half"], down, rtol=0, atol=1e-8)
    assert len(down) == 8 - (first + np.log(1.1) + 14 * half > 3.0)
    stopped = simulate(relay(0.1), 3.0, integrator=method, events=[Event("half", "x", "down", "stop")])
    assert stopped.t[-1] == pytest.approx(first + np.log(1.1), abs=1e-8)
    assert len(stopped.events["relay.off"]) == 1
    assert len(stopped.events["relay.on"]) == 0
