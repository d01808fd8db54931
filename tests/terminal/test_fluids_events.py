"""Fluid circuits that switch: valves, end stops, accumulators, against closed forms and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import cotree
from cotree import hydraulic as h
from cotree import translational as x
from cotree.graph import Tree
from cotree.terminal import pneumatic as pn
from cotree.terminal.translational import Axis, Line

G = "ground"
BETA = 1.4e9


def model(*components: object) -> cotree.Model:
    m = cotree.Model("model")
    for component in components:
        m.add(component)
    return m


def times(sol: Any, name: str) -> list[float]:
    return list(sol.events[name])


def test_relief_valve_limits_the_pressure() -> None:
    """p = Q t / C up to p_s, then p_s + Q / G (1 - exp(-G / C (t - t_s)))."""
    c, q, g, ps = 1e-3 / BETA, 2e-4, 1e-9, 1e7
    m = model(
        h.FlowSource("Q", (G, "a"), flow=q),
        h.Volume("V", ("a", G), volume=1e-3, bulk_modulus=BETA),
        h.Relief("R", ("a", G), set_pressure=ps, conductance=g),
    )
    sol = m.simulate(t_end=0.06, points=31, rtol=1e-10)
    opens = c * ps / q
    after = np.maximum(sol.t - opens, 0.0)
    exact = np.where(sol.t < opens, q * sol.t / c, ps + q / g * (1 - np.exp(-g / c * after)))
    np.testing.assert_allclose(sol["a.pressure"], exact, rtol=1e-9, atol=1e-3)
    assert times(sol, "R.opens") == pytest.approx([opens], abs=1e-9)
    assert times(sol, "R.closes") == []
    assert sol.energy().error < 1e-8


def test_check_valve_closes() -> None:
    """The pressure difference d falls as d' = -k (d - p_c) - Q / C_1, and the valve shuts at d = p_c."""
    c1, c2, g, pc, q, d0 = 1e-3 / BETA, 2e-3 / BETA, 1e-9, 1e5, 1e-5, 2e6
    m = model(
        h.FlowSource("Q", ("a", G), flow=q),
        h.Volume("V1", ("a", G), volume=1e-3, bulk_modulus=BETA, initial=5e6),
        h.Volume("V2", ("b", G), volume=2e-3, bulk_modulus=BETA, initial=3e6),
        h.CheckValve("K", ("a", "b"), cracking_pressure=pc, conductance=g),
    )
    sol = m.simulate(t_end=0.02, points=21, rtol=1e-10)
    k = g / c1 + g / c2
    rest = q / c1 / k
    closes = np.log((d0 - pc + rest) / rest) / k
    assert times(sol, "K.closes") == pytest.approx([closes], abs=1e-9)
    open_ = sol.t < closes
    exact = pc - rest + (d0 - pc + rest) * np.exp(-k * sol.t)
    np.testing.assert_allclose((sol["a.pressure"] - sol["b.pressure"])[open_], exact[open_], atol=1e-2)
    np.testing.assert_allclose(sol["b.pressure"][~open_], sol["b.pressure"][-1], rtol=1e-12)
    assert sol.energy().error < 1e-8


@pytest.mark.parametrize("n", [1.0, 1.4])
def test_gas_accumulator_takes_what_flows_in(n: float) -> None:
    """Oil in the inlet and in the place of the gas: V_i p / beta + V_0 (1 - ((p_0 + p_a) / (p + p_a))^(1/n)) = Q t."""
    q, pre, air, gas, inlet = 1e-4, 6e6, 1e5, 1e-3, 2e-5
    m = model(
        h.FlowSource("Q", (G, "a"), flow=q),
        h.GasAccumulator(
            "A", ("a", G), gas_volume=gas, precharge=pre, exponent=n, atmosphere=air, inlet_volume=inlet,
            bulk_modulus=BETA,
        ),
    )  # fmt: skip
    sol = m.simulate(t_end=5.0, points=21, rtol=1e-10)
    p = sol["a.pressure"]
    replaced = np.where(p > pre, gas * (1 - ((pre + air) / (np.maximum(p, pre) + air)) ** (1 / n)), 0.0)
    np.testing.assert_allclose(inlet / BETA * p + replaced, q * sol.t, rtol=1e-8, atol=1e-12)
    assert times(sol, "A.fills") == pytest.approx([inlet / BETA * pre / q], abs=1e-9)
    assert p[-1] > 1.5 * pre
    assert sol.energy().error < 1e-8


def test_spool_stops_at_its_ends() -> None:
    """Step answers of second order, cut off where they reach 1 and -1; it leaves an end from rest."""
    w, d, turn = 200.0, 0.5, 0.05
    m = model(
        h.Tank("T", ("a", G), area=1.0, density=870.0, gravity=9.81, level=1.0),
        h.Tank("B", ("b", G), area=1.0, density=870.0, gravity=9.81, level=0.5),
        h.Spool("y", input=f"2 - 4*step(t - {turn})", frequency=w, damping_ratio=d),
        h.Valve(
            "V", "a", G, "b", "c", opening="y.value", area=1e-5, discharge=0.6, density=870.0, transition_pressure=10.0
        ),
        h.Volume("C", ("c", G), volume=1e-3, bulk_modulus=BETA),
    )  # fmt: skip
    sol = m.simulate(t_end=0.1, points=101, rtol=1e-10)
    damped = w * np.sqrt(1 - d**2)

    def answer(t: Any) -> Any:
        return 1 - np.exp(-d * w * t) * (np.cos(damped * t) + d * w / damped * np.sin(damped * t))

    up = brentq(lambda t: 2 * answer(t) - 1, 1e-4, 0.015, xtol=1e-14)
    down = turn + brentq(lambda t: 1 - 3 * answer(t) + 1, 1e-4, 0.015, xtol=1e-14)
    assert times(sol, "y.reaches_upper_end") == pytest.approx([up], abs=1e-9)
    assert times(sol, "y.leaves_upper_end") == pytest.approx([turn], abs=1e-9)
    assert times(sol, "y.reaches_lower_end") == pytest.approx([down], abs=1e-9)
    t = sol.t
    exact = np.select(
        [t < up, t <= turn, t < down], [2 * answer(t), 1.0, 1 - 3 * answer(np.maximum(t - turn, 0))], -1.0
    )
    np.testing.assert_allclose(sol["y.value"], exact, atol=1e-8)
    assert set(sol["y.value"][(t > up) & (t < turn)]) == {1.0}


def test_spool_of_first_order() -> None:
    """It lags behind 3 cos(40 t), stays at 1 until the command is below; an orifice is shut where it is negative."""
    lag = 0.02
    m = model(
        h.Tank("T", ("a", G), area=0.1, density=870.0, gravity=9.81, level=1.0),
        h.Spool("y", input="3*cos(40*t)", time_constant=lag, initial=-0.2),
        h.Orifice("O", ("a", G), area="1e-3*y.value", discharge=0.6, density=870.0, transition_pressure=0.01),
    )
    sol = m.simulate(t_end=0.04, points=41, rtol=1e-10)

    def free(t: float) -> float:  # y' = (3 cos 40 t - y) / T
        a, w = 1 / lag, 40.0
        forced = lambda t: 3 * a * (a * np.cos(w * t) + w * np.sin(w * t)) / (a**2 + w**2)  # noqa: E731
        return float(forced(t) + (-0.2 - forced(0.0)) * np.exp(-a * t))

    opens = brentq(free, 1e-5, 0.005, xtol=1e-15)
    assert times(sol, "O.opens") == pytest.approx([opens], abs=1e-9)
    until = times(sol, "y.reaches_upper_end")
    assert until == pytest.approx([brentq(lambda t: free(t) - 1, 0.001, 0.012, xtol=1e-15)], abs=1e-9)
    assert times(sol, "y.leaves_upper_end") == pytest.approx([np.arccos(1 / 3) / 40], abs=1e-9)
    early = sol.t < until[0]
    np.testing.assert_allclose(sol["y.value"][early], [free(t) for t in sol.t[early]], atol=1e-9)
    assert set(sol["O.flow"][sol.t < opens]) == {0.0}


def check_domains(sol: Any, *domains: str) -> None:
    """What each domain is given is stored, dissipated or passed on, to 1e-8 of all that is supplied."""
    scale = sol.energy().scale
    for domain in domains:
        stored, supplied, lost, received = (
            sol[f"energy.{domain}.{word}"] for word in ("stored", "supplied", "dissipated", "received")
        )
        np.testing.assert_allclose(stored - stored[0], supplied - lost + received, atol=1e-8 * scale, err_msg=domain)
    passed = sum(sol[f"energy.{domain}.received"] for domain in domains)
    np.testing.assert_allclose(passed, 0.0, atol=1e-8 * scale)


CYLINDER = {"head_area": 2e-3, "rod_area": 1.2e-3, "stroke": 0.3, "offset": 0.8, "dead_volume": 1e-4}
STOPS = {"stop_stiffness": 5e7, "stop_damping": 2e4}


def stops(out: float, u: float, stiffness: float, damping: float) -> float:
    """Force of both stops outwards; neither pulls."""
    low = max(-stiffness * out - damping * u, 0.0) if out < 0 else 0.0
    high = max(stiffness * (out - 0.3) + damping * u, 0.0) if out > 0.3 else 0.0
    return low - high


def test_valve_cylinder_and_load_against_scipy() -> None:
    """A saturated valve drives the piston against its stop and back; equations written by hand."""
    supply, load, mass, leakage, area, c, rho, pt = 1e7, 2000.0, 80.0, 2e-12, 6e-6, 0.6, 870.0, 1e4
    m = model(
        h.PressureSource("S", ("p", G), pressure=supply),
        h.Valve(
            "V", "p", G, "a", "b", opening="1.5*sin(8*t)", area=area, discharge=c, density=rho, transition_pressure=pt
        ),
        h.Cylinder(
            "J", ("a", G), ("b", G), ("x", G), **CYLINDER, **STOPS, bulk_modulus=BETA, leakage=leakage,
            initial_position=1.07, initial_head=3e6, initial_rod=5e6,
        ),
        x.Mass("M", ("x", G), mass=mass),
        x.Damper("D", ("x", G), damping=500.0),
        x.ForceSource("F", ("x", G), force=load),
    )  # fmt: skip
    sol = m.simulate(t_end=0.6, points=61, rtol=1e-9)

    def hole(p: float) -> float:
        return c * area * np.sqrt(2 / rho) * p / (p**2 + pt**2) ** 0.25

    def rates(t: float, z: Any) -> list[float]:
        p1, p2, u, position = z
        y = min(max(1.5 * np.sin(8 * t), -1.0), 1.0)
        out = position - 0.8
        q1 = hole(supply - p1) * max(y, 0) - hole(p1) * max(-y, 0)
        q2 = hole(supply - p2) * max(-y, 0) - hole(p2) * max(y, 0)
        leak = leakage * (p1 - p2)
        push = p1 * 2e-3 - p2 * 1.2e-3 + stops(out, u, 5e7, 2e4) - 500 * u - load
        v1, v2 = 1e-4 + 2e-3 * out, 1e-4 + 1.2e-3 * (0.3 - out)
        return [BETA / v1 * (q1 - 2e-3 * u - leak), BETA / v2 * (q2 + 1.2e-3 * u + leak), push / mass, u]

    start = [3e6, 5e6, 0.0, 1.07]
    by_hand = solve_ivp(
        rates, (0, 0.6), start, "DOP853", sol.t, rtol=1e-10, atol=[1e-2, 1e-2, 1e-10, 1e-12], max_step=1e-3
    )  # fmt: skip
    for name, exact, size in zip(
        ("a.pressure", "b.pressure", "x.velocity", "J.piston.displacement"),
        by_hand.y,
        (1e7, 1e7, 0.3, 0.3),
        strict=True,
    ):
        np.testing.assert_allclose(sol[name], exact, atol=1e-7 * size, err_msg=name)
    assert len(times(sol, "J.touches_extended")) >= 1
    assert len(times(sol, "J.leaves_extended")) >= 1
    assert sol["J.piston.displacement"].max() > 1.1
    assert sol.energy().error < 1e-8
    check_domains(sol, "hydraulic", "transducers", "translational")


def test_air_cylinder_against_scipy() -> None:
    """Air through an orifice shoots a piston against its stop; the rod side breathes through another one."""
    mass, c1, c2, b, tr, leakage = 2.0, 3e-8, 2e-8, 0.3, 1e-3, 1e-10
    m = model(
        pn.Supply("S", ("s", G), pressure=6e5),
        pn.Orifice("O1", ("s", "a"), conductance=c1, critical_ratio=b, transition=tr),
        pn.Cylinder(
            "J", ("a", G), ("b", G), ("x", G), **CYLINDER, stop_stiffness=1e6, stop_damping=500.0, leakage=leakage,
            initial_position=1.0,
        ),
        pn.Orifice("O2", ("b", G), conductance=c2, critical_ratio=b, transition=tr),
        x.Mass("M", ("x", G), mass=mass),
        x.Damper("D", ("x", G), damping=50.0),
    )  # fmt: skip
    sol = m.simulate(t_end=0.4, points=41, rtol=1e-9)

    def hole(c: float, first: float, second: float) -> float:
        """ISO 6358, its root replaced near zero as the component's text says."""
        upper, lower = max(first, second), min(first, second)
        ratio = max((lower / upper - b) / (1 - b), 0.0)
        under, limit = 1 - ratio**2, 2 * tr / (1 - b)
        root = under / (under**2 + limit**2) ** 0.25 * (1 + limit**2) ** 0.25
        return c * upper * root * np.sign(first - second)

    def rates(t: float, z: Any) -> list[float]:
        p1, p2, u, position = z
        out, leak = position - 0.8, leakage * (p1 - p2)
        q1, q2 = hole(c1, 7e5, p1 + 1e5) - leak, leak - hole(c2, p2 + 1e5, 1e5)
        v1, v2 = 1e-4 + 2e-3 * out, 1e-4 + 1.2e-3 * (0.3 - out)
        push = p1 * 2e-3 - p2 * 1.2e-3 + stops(out, u, 1e6, 500.0) - 50 * u
        return [(1e5 * q1 - (p1 + 1e5) * 2e-3 * u) / v1, (1e5 * q2 + (p2 + 1e5) * 1.2e-3 * u) / v2, push / mass, u]

    start = [0.0, 0.0, 0.0, 1.0]
    by_hand = solve_ivp(
        rates, (0, 0.4), start, "DOP853", sol.t, rtol=1e-10, atol=[1e-3, 1e-3, 1e-10, 1e-12], max_step=1e-3
    )  # fmt: skip
    for name, exact, size in zip(
        ("a.pressure", "b.pressure", "x.velocity", "J.piston.displacement"),
        by_hand.y,
        (6e5, 6e5, 1.0, 0.3),
        strict=True,
    ):
        np.testing.assert_allclose(sol[name], exact, atol=1e-7 * size, err_msg=name)
    assert len(times(sol, "J.touches_extended")) >= 1
    assert sol.energy().error < 1e-8
    check_domains(sol, "pneumatic", "transducers", "translational")


@pytest.mark.parametrize(
    "mount",
    [
        pytest.param(Axis("A", ("x", G), on="P"), marks=pytest.mark.slow),
        Line("A", ("x", G), frame_a=G, frame_b="M"),
    ],
)
def test_cylinder_on_a_mechanism(mount: Any) -> None:
    """On a prismatic joint, and between two frames: the same as with a mass of the network."""

    def machine(**start: float) -> cotree.Model:
        hole = {"area": 6e-6, "discharge": 0.6, "density": 870.0, "transition_pressure": 1e4}
        return model(
            h.PressureSource("S", ("p", G), pressure=1e7),
            h.Valve("V", "p", G, "a", "b", opening="1.5*sin(8*t)", **hole),
            h.Cylinder(
                "J", ("a", G), ("b", G), ("x", G), **CYLINDER, **STOPS, bulk_modulus=BETA, leakage=0.0,
                initial_head=3e6, initial_rod=5e6, **start,
            ),
            x.Damper("D", ("x", G), damping=500.0),
        )  # fmt: skip

    network = machine(initial_position=1.07)
    network.add(x.Mass("M", ("x", G), mass=80.0))
    mounted = machine()
    mounted.gravity = cotree.Model("weightless", gravity=(0, 0, 0)).gravity
    mounted.add(cotree.RigidBody("M", mass=80.0, inertia=(1, 1, 1)))
    mounted.add(cotree.Prismatic("P", G, "M", axis=(1, 0, 0), displacement=1.07))
    mounted.add(mount)
    one, other = (each.simulate(t_end=0.3, points=31, rtol=1e-9) for each in (network, mounted))
    assert len(times(one, "J.touches_extended")) >= 1
    np.testing.assert_allclose(times(one, "J.touches_extended"), times(other, "J.touches_extended"), atol=1e-9)
    np.testing.assert_allclose(other["a.pressure"], one["a.pressure"], atol=1e-7 * 1e7)
    np.testing.assert_allclose(other["P.displacement"], one["J.piston.displacement"], atol=1e-9)
    assert other.energy().error < 1e-8


def test_all_trees_agree() -> None:
    """Random spanning trees of a circuit with parallel volumes: each is tied to its neighbour alone."""
    hole = {"area": 1e-5, "discharge": 0.6, "density": 870.0, "transition_pressure": 1e4}
    m = model(
        h.FlowSource("Q", (G, "p"), flow=2e-4),
        h.Volume("V1", ("p", G), volume=1e-3, bulk_modulus=BETA, initial=5e6),
        h.Relief("R", ("p", G), set_pressure=5.5e6, conductance=1e-9),
        h.Volume("V2", ("p", G), volume=5e-4, bulk_modulus=BETA),
        h.Valve("V", "p", G, "a", "b", opening="sin(20*t)", **hole),
        h.Cylinder("J", ("a", G), ("b", G), ("x", G), **CYLINDER, **STOPS, bulk_modulus=BETA, leakage=1e-12),
        x.Mass("M", ("x", G), mass=50.0),
        h.Pipe(
            "H", ("p", "c"), length=1.0, diameter=0.01, density=870.0, viscosity=0.04, roughness=0.0, lumps=1,
            bulk_modulus=BETA,
        ),
        h.Orifice("O", ("c", G), **hole),
    )  # fmt: skip
    graph = m.graph()
    names = ("a.pressure", "c.pressure", "x.velocity", "J.piston.displacement")
    first = m.simulate(t_end=0.02, points=6)
    for seed in range(2):
        left, branches = list(graph.edges), []
        np.random.default_rng(seed).shuffle(left)
        part = {node: node for node in graph.nodes}
        for edge in left:
            if (one := part[edge.tail]) != (other := part[edge.head]):
                part = {node: other if at == one else at for node, at in part.items()}
                branches.append(edge.name)
        equations = m.equations(Tree(graph, tuple(branches)))
        tied = [note for note in equations.notes if "dependent storage" in note]
        assert [note.rpartition("follows from ")[2] for note in tied] == ["V1", "V1"]
        sol = m.simulate(t_end=0.02, points=6, tree=Tree(graph, tuple(branches)))
        for name in names:
            np.testing.assert_allclose(sol[name], first[name], atol=1e-9 * np.abs(first[name]).max(), err_msg=name)
