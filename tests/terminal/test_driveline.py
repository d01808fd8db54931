"""Shafts, belts, clutches, brakes, friction, stops and the ideal diode, against closed forms and equations by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

import cotree as ct
from cotree.terminal import electrical as e
from cotree.terminal import rotational as r
from cotree.terminal import thermal as th
from cotree.terminal import translational as x
from cotree.terminal.machines import DCMotor
from cotree.terminal.rotational import Axis

G = "ground"
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def model(*parts: Any, **options: Any) -> ct.Model:
    m = ct.Model("drive", **options)
    for part in parts:
        m.add(part)
    return m


def states(a: Any, start: Any, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of exp(a t) start."""
    return np.array([expm(np.asarray(a) * t) @ start for t in times]).T


# -- shafts and belts -------------------------------------------------------------------------------------------------


def test_shaft_with_torsion_against_its_matrix_exponential() -> None:
    """J_1 w_1' = T - S, J_2 w_2' = S, S = k (phi - rest) + c (w_1 - w_2)."""
    j1, j2, k, c = 0.1, 0.2, 50.0, 0.3
    sol = model(
        r.TorqueSource("T", (G, "a"), torque=1.0),
        r.Inertia("J1", ("a", G), inertia=j1),
        r.Shaft("S", ("a", "b"), stiffness=k, damping=c, rest=0.01, angle=0.03),
        r.Inertia("J2", ("b", G), inertia=j2),
    ).simulate(t_end=1.0, points=11, **TIGHT)
    a = [[-c / j1, c / j1, -k / j1, 1 / j1], [c / j2, -c / j2, k / j2, 0], [1, -1, 0, 0], [0, 0, 0, 0]]
    w1, w2, twist, _ = states(a, [0, 0, 0.02, 1], sol.t)
    np.testing.assert_allclose(sol["a.angular_velocity"], w1, atol=1e-8)
    np.testing.assert_allclose(sol["b.angular_velocity"], w2, atol=1e-8)
    np.testing.assert_allclose(sol["S.torque"], k * twist + c * (w1 - w2), atol=1e-7)
    assert sol.energy().error < 1e-8


@pytest.mark.parametrize("crossed", [1, -1])
def test_a_belt_has_the_ratio_of_its_radii(crossed: int) -> None:
    """r_1 w_1 = r_2 w_2, and the inertia at the primary is J_1 + (r_1 / r_2)^2 J_2."""
    sol = model(
        r.TorqueSource("T", (G, "a"), torque=2.0),
        r.Inertia("J1", ("a", G), inertia=0.1),
        r.Belt("B", ("a", G), ("b", G), primary_radius=0.1, secondary_radius=crossed * 0.25),
        r.Inertia("J2", ("b", G), inertia=0.5),
    ).simulate(t_end=1.0, points=3, **TIGHT)
    faster = 2.0 / (0.1 + 0.4**2 * 0.5)
    np.testing.assert_allclose(sol["a.angular_velocity"], faster * sol.t, atol=1e-9)
    np.testing.assert_allclose(sol["b.angular_velocity"], crossed * 0.4 * faster * sol.t, atol=1e-9)
    np.testing.assert_allclose(sol["B.primary.torque"], 0.4**2 * 0.5 * faster, atol=1e-9)


def test_a_belt_that_stretches_against_its_matrix_exponential() -> None:
    j1, j2, r1, r2, k, c = 0.1, 0.5, 0.1, 0.25, 2e3, 5.0
    sol = model(
        r.TorqueSource("T", (G, "a"), torque=2.0),
        r.Inertia("J1", ("a", G), inertia=j1),
        r.Belt("B", ("a", G), ("b", G), primary_radius=r1, secondary_radius=r2, stiffness=k, damping=c, offset=1e-3),
        r.Inertia("J2", ("b", G), inertia=j2),
    ).simulate(t_end=1.0, points=11, **TIGHT)
    pull = np.array([c * r1, -c * r2, k, 0])
    a = [-r1 / j1 * pull + [0, 0, 0, 1 / j1], r2 / j2 * pull, [r1, -r2, 0, 0], [0, 0, 0, 0]]
    w1, w2, *_ = states(a, [0, 0, -1e-3, 2.0], sol.t)
    np.testing.assert_allclose(sol["a.angular_velocity"], w1, atol=1e-8)
    np.testing.assert_allclose(sol["b.angular_velocity"], w2, atol=1e-8)
    assert sol.energy().error < 1e-8


def pendulum(*parts: Any) -> ct.Model:
    """A rod of 2 kg and 0.6 m on a revolute joint, released level; its moment of inertia about the joint is 0.24."""
    return model(
        ct.RigidBody("rod", ct.rod(length=0.6, mass=2.0), frames={"p": (-0.3, 0, 0)}),
        ct.Revolute("O", G, "rod.p", axis=(0, 0, 1)),
        Axis("on", ("s", G), on="O"),
        *parts,
        gravity=(0, -9.81, 0),
    )


def test_a_shaft_on_a_joint_knows_the_angle_of_the_joint() -> None:
    """0.24 phi'' = -m g l cos(phi) - k (phi - rest) - c phi'."""
    sol = pendulum(r.Shaft("S", ("s", G), stiffness=8.0, damping=0.2, rest=0.5)).simulate(t_end=2.0, points=21, **TIGHT)

    def rates(t: float, y: NDArray[np.float64]) -> list[float]:
        return [y[1], (-2 * 9.81 * 0.3 * np.cos(y[0]) - 8 * (y[0] - 0.5) - 0.2 * y[1]) / 0.24]

    exact = solve_ivp(rates, (0, 2), [0, 0], "DOP853", sol.t, rtol=1e-12, atol=1e-13).y
    np.testing.assert_allclose(sol["O.angle"], exact[0], atol=1e-8)
    assert sol.energy().error < 1e-8


# -- clutch, brake and friction ---------------------------------------------------------------------------------------


def clutch(*more: Any, static: float = 1.2) -> ct.Model:
    return model(
        r.Inertia("J1", ("a", G), inertia=0.1, initial=100.0),
        r.Clutch("C", ("a", "b"), torque=5.0, static=static),
        r.Inertia("J2", ("b", G), inertia=0.2),
        *more,
    )


def test_a_clutch_locks_when_the_speeds_meet() -> None:
    """w_1 = 100 - 50 t, w_2 = 25 t until t = 4/3 s, then both keep 100/3 rad/s; J_1 J_2/(J_1 + J_2) w^2/2 is lost."""
    sol = clutch(
        th.Loss("heat", ("disc", G), of="C"), th.Capacity("disc_mass", ("disc", G), heat_capacity=40.0)
    ).simulate(t_end=2.0, points=41, **TIGHT)  # fmt: skip
    slipping = np.minimum(sol.t, 4 / 3)
    np.testing.assert_allclose(sol["a.angular_velocity"], 100 - 50 * slipping, atol=1e-7)
    np.testing.assert_allclose(sol["b.angular_velocity"], 25 * slipping, atol=1e-7)
    assert sol.events["C.sticks"][0] == pytest.approx(4 / 3, abs=1e-9)
    np.testing.assert_allclose(sol["C.torque"][sol.t > 1.34], 0.0, atol=1e-6)
    assert sol["disc.temperature"][-1] == pytest.approx(0.02 / 0.3 * 100**2 / 2 / 40, rel=1e-8)
    assert sol.energy().error < 1e-8


def test_a_locked_clutch_slips_again_where_the_load_is_too_large() -> None:
    """Locked it carries a third of the load; at 1.2 * 5 N m = load / 3, 0.6 s after the load begins, it slips."""
    sol = clutch(r.TorqueSource("load", ("b", G), torque="30*ramp(t - 2)")).simulate(t_end=2.8, points=57, **TIGHT)
    late = sol.t > 2.6
    locked = 100 / 3 - 50 * np.maximum(sol.t - 2, 0) ** 2
    free = sol.t > 4 / 3 + 1e-3
    np.testing.assert_allclose(sol["a.angular_velocity"][free & ~late], locked[free & ~late], atol=1e-7)
    s = sol.t[late] - 2.6
    np.testing.assert_allclose(sol["a.angular_velocity"][late], 100 / 3 - 18 - 50 * s, atol=1e-6)
    b = 100 / 3 - 18 + 25 * s - 75 * ((s + 0.6) ** 2 - 0.36)
    np.testing.assert_allclose(sol["b.angular_velocity"][late], b, atol=1e-6)
    assert sol.events["C.slips"][-1] == pytest.approx(2.6, abs=1e-8)
    assert sol.energy().error < 1e-8


def test_a_clutch_without_pressure_lets_both_sides_go() -> None:
    """A capacity below zero counts as none."""
    m = clutch()
    m.components["C"] = r.Clutch("C", ("a", "b"), torque="5*(t - 1)")
    sol = m.simulate(t_end=1.0, points=5, **TIGHT)
    np.testing.assert_allclose(sol["a.angular_velocity"], 100.0, atol=1e-9)
    np.testing.assert_allclose(sol["b.angular_velocity"], 0.0, atol=1e-9)


def test_a_brake_holds_a_load_on_a_drum() -> None:
    """J w' = -brake until it stands at 2 s; then it holds 2 N m of 5."""
    sol = model(
        r.Inertia("J", ("s", G), inertia=0.5, initial=12.0),
        r.TorqueSource("load", (G, "s"), torque=2.0),
        r.Brake("B", ("s", G), torque=5.0),
    ).simulate(t_end=4.0, points=9, **TIGHT)
    np.testing.assert_allclose(sol["s.angular_velocity"], np.maximum(12 - 6 * sol.t, 0), atol=1e-7)
    np.testing.assert_allclose(sol["s.angle"], 12 * np.minimum(sol.t, 2) - 3 * np.minimum(sol.t, 2) ** 2, atol=1e-7)
    assert sol["B.torque"][-1] == pytest.approx(2.0, abs=1e-7)
    assert sol.events["B.sticks"][-1] == pytest.approx(2.0, abs=1e-9)


def test_an_oscillator_with_dry_friction_stops_where_the_closed_form_says() -> None:
    """Each half swing of pi/10 s loses 2 F / k = 0.1 m: 0.47, -0.37, 0.27, -0.17, 0.07, and it sticks at 0.03 m."""
    sol = model(
        x.Mass("m", ("p", G), mass=1.0),
        x.Spring("k", ("p", G), stiffness=100.0, initial=47.0),
        x.Friction("f", ("p", G), force=5.0),
    ).simulate(t_end=2.0, times=np.pi / 10 * np.arange(7), **TIGHT)
    np.testing.assert_allclose(sol["k.force"], [47, -37, 27, -17, 7, 3, 3], atol=1e-6)
    assert sol.events["f.sticks"][-1] == pytest.approx(np.pi / 2, abs=1e-8)
    assert sol.energy().error < 1e-8


def test_friction_with_a_falling_part_by_hand() -> None:
    """m v' = P - F (1 + (r - 1) exp(-(v/s)^2)) - b v, from the moment when P passes r F."""
    sol = model(
        x.Mass("m", ("p", G), mass=2.0),
        x.ForceSource("P", (G, "p"), force="4*t"),
        x.Friction("f", ("p", G), force=3.0, static=2.0, stribeck=0.5, viscous=0.7),
    ).simulate(t_end=3.0, points=31, **TIGHT)
    assert sol.events["f.slips"][0] == pytest.approx(1.5, abs=1e-9)

    def rates(t: float, v: NDArray[np.float64]) -> NDArray[np.float64]:
        return (4 * t - 3 * (1 + np.exp(-((v / 0.5) ** 2))) - 0.7 * v) / 2

    late = sol.t > 1.55
    exact = solve_ivp(rates, (1.5, 3), [0], "DOP853", sol.t[late], rtol=1e-12, atol=1e-13).y[0]
    np.testing.assert_allclose(sol["p.velocity"][late], exact, atol=1e-7)
    np.testing.assert_allclose(sol["p.velocity"][sol.t < 1.5], 0.0, atol=1e-9)


def test_stick_slip_on_a_moving_belt_has_its_closed_period() -> None:
    """Slip from x = F_s/k: tan(w tau / 2) = -A w / V, with A = (F_s - F_d) / k; then it sticks for 2 A / V."""
    stiffness, sliding, ratio, belt, w = 100.0, 5.0, 1.6, 0.1, 10.0
    sol = model(
        x.VelocitySource("belt", ("q", G), velocity=belt),
        x.Mass("m", ("p", G), mass=1.0, initial=belt),
        x.Spring("k", ("p", G), stiffness=stiffness),
        x.Friction("f", ("p", "q"), force=sliding, static=ratio),
    ).simulate(t_end=4.0, points=5, **TIGHT)
    a = (ratio - 1) * sliding / stiffness
    slip = (2 * np.pi - 2 * np.arctan(a * w / belt)) / w
    starts = ratio * sliding / stiffness / belt + (slip + 2 * a / belt) * np.arange(3)
    np.testing.assert_allclose(sol.events["f.slips"][:3], starts, atol=2e-9)
    np.testing.assert_allclose(sol.events["f.sticks"][:3], starts + slip, atol=2e-9)
    assert sol.energy().error < 1e-8


def test_a_pendulum_with_dry_friction_comes_to_rest_where_it_should() -> None:
    """0.24 phi'' = -m g l cos(phi) -+ T, swing by swing, until friction holds it away from the lowest point."""
    torque, weight = 0.9, 2 * 9.81 * 0.3
    sol = pendulum(r.Friction("f", ("s", G), torque=torque)).simulate(t_end=4.0, points=41, **TIGHT)
    exact, t, angle, way, stops = np.zeros_like(sol.t), 0.0, 0.0, -1, []
    while t == 0 or abs(weight * np.cos(angle)) > torque:
        turns: Any = lambda t, y: y[1]  # noqa: E731
        turns.terminal, turns.direction = True, -way
        swing = solve_ivp(
            lambda t, y, way=way: [y[1], (-weight * np.cos(y[0]) - way * torque) / 0.24], (t, 9), [angle, 0], "DOP853",
            rtol=1e-12, atol=1e-13, events=turns, dense_output=True,
        )  # fmt: skip
        inside = (sol.t >= t) & (sol.t <= swing.t_events[0][0])
        exact[inside] = swing.sol(sol.t[inside])[0]
        t, angle, way = swing.t_events[0][0], swing.y_events[0][0][0], -way
        stops.append(t)
    exact[sol.t > t] = angle
    assert angle + np.pi / 2 == pytest.approx(0.14, abs=0.01)  # not at the lowest point
    np.testing.assert_allclose(sol["O.angle"], exact, atol=1e-8)
    np.testing.assert_allclose(sol.events["f.sticks"], stops, atol=1e-8)
    assert sol.energy().error < 1e-8


# -- stops ------------------------------------------------------------------------------------------------------------


def test_a_stop_without_damping_throws_back() -> None:
    """It touches at 0.5 s, turns the velocity in pi sqrt(m/k) and stores k d^2 / 2 meanwhile."""
    sol = model(
        x.Mass("m", ("p", G), mass=1.0, initial=1.0), x.EndStop("s", ("p", G), upper=0.7, position=0.2, stiffness=1e4)
    ).simulate(t_end=1.0, points=11, **TIGHT)  # fmt: skip
    assert sol.events["s.touches_upper"][0] == pytest.approx(0.5, abs=1e-9)
    assert sol.events["s.leaves_upper"][0] == pytest.approx(0.5 + np.pi / 100, abs=1e-8)
    assert sol["p.velocity"][-1] == pytest.approx(-1.0, abs=1e-8)
    assert sol["p.displacement"][-1] == pytest.approx(0.5 - (0.5 - np.pi / 100), abs=1e-8)
    assert sol.energy().error < 1e-8


def test_a_stop_with_damping_never_pulls() -> None:
    """d = exp(-s t) sin(w t) / w, until k d + c d' = -m d'' would pull."""
    sol = model(
        x.Mass("m", ("p", G), mass=1.0, initial=-1.0), x.EndStop("s", ("p", G), lower=-0.5, stiffness=1e4, damping=20.0)
    ).simulate(t_end=1.0, points=201, **TIGHT)  # fmt: skip
    w = np.sqrt(1e4 - 100)
    depth = np.array([[0, 1], [-1e4, -20.0]])
    free: Callable[[float], float] = lambda t: float(depth[1] @ expm(depth * t) @ [0, 1])  # noqa: E731
    ends = brentq(free, 0.5 * np.pi / w, np.pi / w, xtol=1e-15)
    assert sol.events["s.leaves_lower"][0] == pytest.approx(0.5 + ends, abs=1e-8)
    back = (expm(depth * ends) @ [0, 1])[1]
    assert sol["p.velocity"][-1] == pytest.approx(-back, abs=1e-8)
    assert sol["s.force"].max() < 1e-9
    assert sol["s.force"].min() < -50
    energy = sol.energy()
    assert energy.error < 1e-8
    assert 0.5 * (1 - back**2) == pytest.approx(float(energy.dissipated[-1]), abs=1e-7)


def test_a_mass_that_bounces_comes_to_rest_on_the_stop() -> None:
    sol = model(
        x.Mass("m", ("p", G), mass=1.0),
        x.ForceSource("weight", ("p", G), force=9.81),
        x.EndStop("s", ("p", G), lower=-0.5, stiffness=1e5, damping=100.0),
    ).simulate(t_end=5.0, points=2, **TIGHT)
    assert sol["p.displacement"][-1] == pytest.approx(-0.5 - 9.81 / 1e5, abs=1e-9)
    assert len(sol.events["s.touches_lower"]) > 3
    assert sol.energy().error < 1e-8


def test_a_stop_on_a_joint() -> None:
    """The rod falls on a stop at -1 rad, which it reaches with 0.24 w^2 / 2 = m g l sin(1)."""
    sol = pendulum(r.EndStop("S", ("s", G), lower=-1.0, stiffness=1e4, damping=10.0)).simulate(t_end=0.6, points=7)
    at = sol.events["S.touches_lower"][0]
    found = solve_ivp(
        lambda t, y: [y[1], -2 * 9.81 * 0.3 * np.cos(y[0]) / 0.24], (0, 1), [0, 0], "DOP853", rtol=1e-12, atol=1e-13,
        events=lambda t, y: y[0] + 1,
    )  # fmt: skip
    assert at == pytest.approx(found.t_events[0][0], abs=1e-6)


# -- diode ------------------------------------------------------------------------------------------------------------


def test_an_ideal_diode_with_an_inductor_by_stretches() -> None:
    """L i' = V sin(w t) - (R + R_on or R_off) i, switching where i = 0."""
    big, omega, inductance, resistance, on, off = 10.0, 300.0, 0.02, 5.0, 0.1, 2e3
    sol = model(
        e.VoltageSource("V", ("a", G), voltage=f"{big}*sin({omega}*t)"),
        e.IdealDiode("D", ("a", "b"), on_resistance=on, off_resistance=off),
        e.Resistor("R", ("b", "c"), resistance=resistance),
        e.Inductor("L", ("c", G), inductance=inductance),
    ).simulate(t_end=0.05, points=101, **TIGHT)

    def stretch(t0: float, i0: float, total: float) -> Callable[[Any], Any]:
        z, phase = np.hypot(total, omega * inductance), np.arctan2(omega * inductance, total)
        steady = lambda t: big / z * np.sin(omega * t - phase)  # noqa: E731
        return lambda t: steady(t) + (i0 - steady(t0)) * np.exp(-(t - t0) * total / inductance)

    start, conducting, exact, changes = 0.0, True, np.zeros_like(sol.t), []
    while start < 0.05:
        i = stretch(start, 0.0, resistance + (on if conducting else off))
        fine = start + 1e-6 + np.arange(0, 0.03, 1e-5)
        sign = np.sign(i(fine))
        k = int(np.argmax(sign != sign[0]))
        end = brentq(i, fine[k - 1], fine[k], xtol=1e-15)
        inside = (sol.t >= start) & (sol.t <= end)
        exact[inside] = i(sol.t[inside])
        changes.append(end)
        start, conducting = end, not conducting
    np.testing.assert_allclose(sol["L.current"], exact, atol=1e-8)
    both = np.sort([*sol.events["D.blocks"], *(t for t in sol.events["D.conducts"] if t > 1e-6)])
    np.testing.assert_allclose(both, [t for t in changes if t < 0.05], atol=1e-8)
    assert sol.energy().error < 1e-8


def test_a_bridge_of_four_diodes_loads_a_capacitor() -> None:
    """i = (|V| - 2 V_f - u) / (R + 2 R_on) where positive; all that leaks is below 1e-6 A, or 5e-5 V at the load."""
    diode = {"on_resistance": 0.01, "off_resistance": 1e8, "forward_voltage": 0.7}
    sol = model(
        e.VoltageSource("V", ("a", "b"), voltage="20*sin(2*pi*50*t)"),
        e.Resistor("R", ("b", "c"), resistance=0.1),
        *(e.IdealDiode(f"D{k}", ends, **diode) for k, ends in enumerate([("a", "p"), ("c", "p"), (G, "a"), (G, "c")])),
        e.Capacitor("C", ("p", G), capacitance=1e-3),
        e.Resistor("load", ("p", G), resistance=50.0),
    ).simulate(t_end=0.04, points=81, **TIGHT)

    def rates(t: float, u: NDArray[np.float64]) -> NDArray[np.float64]:
        return (np.maximum(abs(20 * np.sin(100 * np.pi * t)) - 1.4 - u, 0) / 0.12 - u / 50) / 1e-3

    exact = solve_ivp(rates, (0, 0.04), [0], "DOP853", sol.t, rtol=1e-9, atol=1e-11, max_step=2e-5).y[0]
    np.testing.assert_allclose(sol["p.voltage"], exact, atol=5e-5)
    assert sol.energy().error < 1e-8


# -- mistakes ---------------------------------------------------------------------------------------------------------

STOP = {"stiffness": 1.0}


def heated(part: Any, of: str = "R1") -> Any:
    """The equations of a part behind a resistor, with heat of its losses."""
    return model(
        e.VoltageSource("V", ("a", G), voltage=1.0),
        e.Resistor("R", ("a", "b"), resistance=1.0),
        part,
        th.Loss("q", ("case", G), of=of),
        th.Capacity("C", ("case", G), heat_capacity=1.0),
    ).equations()


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "no end": (lambda: r.EndStop("S", ("a", G), **STOP), "S: neither end is given"),
    "ends crossed": (
        lambda: model(x.EndStop("S", ("a", G), lower=1, upper=0, **STOP)).check(), "S: the lower end at 1 is not below",
    ),
    "less than sliding": (
        lambda: model(r.Clutch("C", ("a", G), torque=1, static=0.5)).check(), r"C\.static: found 0.5.*at least 1",
    ),
    "negative capacity": (lambda: model(r.Brake("B", ("a", G), torque=-1)).check(), r"B\.torque: found -1"),
    "damping of a stiff belt": (
        lambda: r.Belt("B", ("a", G), ("b", G), primary_radius=1, secondary_radius=1, damping=1),
        "B: damping is given for a belt that does not stretch",
    ),
    "a diode that blocks less": (
        lambda: model(e.IdealDiode("D", ("a", G), on_resistance=2, off_resistance=1)).check(), "D: it conducts with 2",
    ),
    "a clutch on nothing": (
        lambda: model(r.Clutch("C", ("a", G), torque=1), r.TorqueSource("T", (G, "a"), torque=1)).equations(), "C",
    ),
    "heat of nobody": (
        lambda: heated(e.Capacitor("R1", ("b", G), capacitance=1), of="R9"),
        r"q\.of: there is no component 'R9'",
    ),
    "heat of a capacitor": (lambda: heated(e.Capacitor("R1", ("b", G), capacitance=1)), "'R1' .* dissipates nothing"),
    "heat that has gone": (
        lambda: heated(DCMotor("R1", ("b", G), ("s", G), resistance=1, constant=1, inertia=1, thermal=("case", G))),
        "'R1' .* dissipates nothing",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_told(case: str) -> None:
    make, message = MISTAKES[case]
    with pytest.raises(ct.CotreeError, match=f"(?s){message}"):
        make()
