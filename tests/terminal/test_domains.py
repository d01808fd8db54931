"""The same laws under mechanical, thermal and hydraulic names, and the components that join domains."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

import cotree
from cotree import hydraulic as h
from cotree import rotational as r
from cotree import thermal as th
from cotree import translational as x

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
G = "ground"


def model(*components: object) -> cotree.Model:
    m = cotree.Model("model")
    for component in components:
        m.add(component)
    return m


# A source of 1 through R = 2 into node a, storage C = 0.5 and L = 0.8 there, in the words of each domain.
PARALLEL: dict[str, tuple[str, Callable[[], list[object]]]] = {
    "electrical": ("voltage", lambda: [
        cotree.CurrentSource("S", (G, "a"), current="sin(t)"), cotree.Resistor("R", ("a", G), resistance=2.0),
        cotree.Capacitor("C", ("a", G), capacitance=0.5), cotree.Inductor("L", ("a", G), inductance=0.8)]),
    "translational": ("velocity", lambda: [
        x.ForceSource("S", (G, "a"), force="sin(t)"), x.Damper("R", ("a", G), damping=0.5),
        x.Mass("C", ("a", G), mass=0.5), x.Spring("L", ("a", G), stiffness=1.25)]),
    "rotational": ("angular_velocity", lambda: [
        r.TorqueSource("S", (G, "a"), torque="sin(t)"), r.Damper("R", ("a", G), damping=0.5),
        r.Inertia("C", ("a", G), inertia=0.5), r.Spring("L", ("a", G), stiffness=1.25)]),
    "hydraulic": ("pressure", lambda: [
        h.FlowSource("S", (G, "a"), flow="sin(t)"), h.Resistance("R", ("a", G), resistance=2.0),
        h.Accumulator("C", ("a", G), capacitance=0.5), h.Inertance("L", ("a", G), fluid_inertance=0.8)]),
}  # fmt: skip


@pytest.mark.parametrize("domain", PARALLEL)
def test_parallel_resonance_in_every_domain(domain: str) -> None:
    """C v' = sin t - v / R - i, L i' = v."""
    across, build = PARALLEL[domain]
    sol = model(*build()).simulate(t_end=5.0, points=11, **TIGHT)
    block = np.array([[-1.0, -2.0, 2.0, 0.0], [1.25, 0, 0, 0], [0, 0, 0, 1.0], [0, 0, -1.0, 0]])
    exact = np.array([expm(block * t) @ [0, 0, 0, 1.0] for t in sol.t]).T
    np.testing.assert_allclose(sol[f"a.{across}"], exact[0], atol=1e-8)
    through = next(name for name in sol if name.startswith("L.") and not name.endswith((across, "power")))
    np.testing.assert_allclose(sol[through], exact[1], atol=1e-8)
    assert sol.energy().error < 1e-7
    assert sol.unit(f"a.{across}") == {"voltage": "V", "velocity": "m/s", "pressure": "Pa"}.get(across, "rad/s")


SERIES: dict[str, tuple[str, Callable[[], list[object]]]] = {
    "electrical": ("voltage", lambda: [
        cotree.VoltageSource("S", ("a", G), voltage="cos(t)"), cotree.Resistor("R", ("a", "b"), resistance=2.0),
        cotree.Capacitor("C", ("b", G), capacitance=0.5)]),
    "translational": ("velocity", lambda: [
        x.VelocitySource("S", ("a", G), velocity="cos(t)"), x.Damper("R", ("a", "b"), damping=0.5),
        x.Mass("C", ("b", G), mass=0.5)]),
    "rotational": ("angular_velocity", lambda: [
        r.SpeedSource("S", ("a", G), speed="cos(t)"), r.Damper("R", ("a", "b"), damping=0.5),
        r.Inertia("C", ("b", G), inertia=0.5)]),
    "thermal": ("temperature", lambda: [
        th.TemperatureSource("S", ("a", G), temperature="cos(t)"), th.Resistance("R", ("a", "b"), resistance=2.0),
        th.Capacity("C", ("b", G), heat_capacity=0.5)]),
    "hydraulic": ("pressure", lambda: [
        h.PressureSource("S", ("a", G), pressure="cos(t)"), h.Resistance("R", ("a", "b"), resistance=2.0),
        h.Accumulator("C", ("b", G), capacitance=0.5)]),
}  # fmt: skip


@pytest.mark.parametrize("domain", SERIES)
def test_first_order_lag_in_every_domain(domain: str) -> None:
    """R C = 1: v' = cos t - v, so v = (cos t + sin t - exp(-t)) / 2."""
    across, build = SERIES[domain]
    sol = model(*build()).simulate(t_end=4.0, points=9, **TIGHT)
    np.testing.assert_allclose(sol[f"b.{across}"], (np.cos(sol.t) + np.sin(sol.t) - np.exp(-sol.t)) / 2, atol=1e-8)
    assert sol.energy().error < 1e-7


def test_mass_spring_damper_displacement() -> None:
    """m x'' + d x' + k x = F from rest: x(t) = F/k (1 - exp(-a t)(cos w t + a/w sin w t))."""
    mass, damping, stiffness, force = 2.0, 1.5, 30.0, 6.0
    m = model(
        x.ForceSource("F", (G, "p"), force=force),
        x.Mass("m", ("p", G), mass=mass),
        x.Damper("d", ("p", G), damping=damping),
        x.Spring("k", ("p", G), stiffness=stiffness),
    )
    sol = m.simulate(t_end=6.0, points=25, **TIGHT)
    a = damping / (2 * mass)
    w = np.sqrt(stiffness / mass - a**2)
    exact = force / stiffness * (1 - np.exp(-a * sol.t) * (np.cos(w * sol.t) + a / w * np.sin(w * sol.t)))
    np.testing.assert_allclose(sol["p.displacement"], exact, atol=1e-8)
    np.testing.assert_allclose(sol["k.force"], stiffness * exact, atol=1e-7)
    assert sol.unit("p.displacement") == "m"
    assert sol["F.force"][0] == force
    assert sol["p.velocity"][1] > 0  # a positive force pushes the node minus in the positive direction


def test_two_masses_free_in_space_keep_their_momentum() -> None:
    m = model(
        x.Mass("m1", ("p", G), mass=2.0, initial=3.0),
        x.Mass("m2", ("q", G), mass=1.0),
        x.Spring("k", ("p", "q"), stiffness=50.0),
    )
    sol = m.simulate(t_end=2.0, points=21, **TIGHT)
    np.testing.assert_allclose(2 * sol["p.velocity"] + sol["q.velocity"], 6.0, atol=1e-9)
    np.testing.assert_allclose((2 * sol["p.displacement"] + sol["q.displacement"]) / 3, 2 * sol.t, atol=1e-8)
    np.testing.assert_allclose(
        50 * (sol["p.displacement"] - sol["q.displacement"]), sol["k.force"], atol=1e-7
    )  # the spring's force is its stretch
    np.testing.assert_allclose(sol.energy().stored, 9.0, rtol=1e-8)


def test_thermal_balance_counts_heat_once() -> None:
    """Two rooms, a heater, a wall between and a wall to the outside: supplied = stored + lost, in joules of heat."""
    m = model(
        th.HeatSource("heater", (G, "one"), heat_flow="100*step(t - 10)"),
        th.Capacity("C1", ("one", G), heat_capacity=500.0, initial=4.0),
        th.Resistance("inner", ("one", "two"), resistance=0.2),
        th.Capacity("C2", ("two", G), heat_capacity=800.0),
        th.Resistance("outer", ("two", G), resistance=0.5),
    )
    sol = m.simulate(t_end=500.0, points=101, rtol=1e-9)
    audit = sol.energy()
    np.testing.assert_allclose(audit.supplied, 100 * np.maximum(sol.t - 10, 0), atol=1e-5)
    stored = 500 * sol["one.temperature"] + 800 * sol["two.temperature"]
    np.testing.assert_allclose(audit.stored, stored, rtol=1e-12)
    np.testing.assert_allclose(audit.closure, 0.0, atol=1e-7 * audit.scale)
    np.testing.assert_allclose(sol["inner.power"], 0.0, atol=1e-12)  # heat only passes through
    block = np.array([[-1 / 100, 1 / 100, 0.2], [1 / 160, -1 / 160 - 1 / 400, 0], [0, 0, 0]])
    first = expm(block[:2, :2] * 10) @ [4.0, 0.0]
    exact = np.array([expm(block * (t - 10)) @ [*first, 1.0] for t in sol.t if t >= 10]).T
    np.testing.assert_allclose(sol["one.temperature"][sol.t >= 10], exact[0], atol=1e-6)


COUPLINGS = [
    (cotree.RotationalEMF, ELECTRICAL := ("electrical", "voltage", "current"),
     ("rotational", "angular_velocity", "torque"), "constant"),
    (cotree.TranslationalEMF, ELECTRICAL, ("translational", "velocity", "force"), "constant"),
    (cotree.Wheel, ("translational", "velocity", "force"), ("rotational", "angular_velocity", "torque"), "radius"),
    (cotree.Piston, ("hydraulic", "pressure", "flow"), ("translational", "velocity", "force"), "area"),
]  # fmt: skip
SOURCE = {
    "electrical": lambda: [
        cotree.VoltageSource("S", ("a0", G), voltage="1 + sin(t)"), cotree.Resistor("RS", ("a0", "a"), resistance=0.7)],
    "translational": lambda: [
        x.VelocitySource("S", ("a0", G), velocity="1 + sin(t)"), x.Damper("RS", ("a0", "a"), damping=1 / 0.7)],
    "hydraulic": lambda: [
        h.PressureSource("S", ("a0", G), pressure="1 + sin(t)"), h.Resistance("RS", ("a0", "a"), resistance=0.7)],
}  # fmt: skip
LOAD = {
    "rotational": lambda: [r.Damper("RL", ("b", G), damping=0.4)],
    "translational": lambda: [x.Damper("RL", ("b", G), damping=0.4)],
}


@pytest.mark.parametrize(("kind", "one", "two", "field"), COUPLINGS)
def test_transducers_lose_nothing_and_follow_their_law(kind: type, one: tuple, two: tuple, field: str) -> None:
    factor = 0.3
    part = kind("X", ("a", G), ("b", G), **{field: factor})
    sol = model(*SOURCE[one[0]](), part, *LOAD[two[0]]()).simulate(t_end=3.0, points=7)
    a1, f1 = sol[f"X.{one[0]}.{one[1]}"], sol[f"X.{one[0]}.{one[2]}"]
    a2, f2 = sol[f"X.{two[0]}.{two[1]}"], sol[f"X.{two[0]}.{two[2]}"]
    if kind is cotree.Piston:  # Q = A u, F = -A p
        np.testing.assert_allclose(f1, factor * a2, atol=1e-12)
        np.testing.assert_allclose(f2, -factor * a1, atol=1e-12)
        shown = 0.4 / factor**2
    else:
        np.testing.assert_allclose(a1, factor * a2, atol=1e-12)
        np.testing.assert_allclose(f2, -factor * f1, atol=1e-12)
        shown = factor**2 / 0.4
    np.testing.assert_allclose(a1 * f1 + a2 * f2, 0.0, atol=1e-12)
    np.testing.assert_allclose(f1, (1 + np.sin(sol.t)) / (0.7 + shown), rtol=1e-10)
    np.testing.assert_allclose(sol["RL.power"] + sol["RS.power"] + sol["S.power"], 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", [r.Gear, x.Lever])
def test_gear_and_lever_lose_nothing(kind: type) -> None:
    room = r if kind is r.Gear else x
    source = r.SpeedSource("S", ("a", G), speed=2.0) if room is r else x.VelocitySource("S", ("a", G), velocity=2.0)
    m = model(source, kind("X", ("a", G), ("b", G), ratio=-4.0), room.Damper("D", ("b", G), damping=3.0))
    sol = m.simulate(t_end=1.0, points=2)
    across, through = ("angular_velocity", "torque") if room is r else ("velocity", "force")
    np.testing.assert_allclose(sol[f"b.{across}"], -0.5)
    np.testing.assert_allclose(sol[f"X.primary.{through}"], 3.0 * 2.0 / 16)
    np.testing.assert_allclose(sol["X.primary.power"] + sol["X.secondary.power"], 0.0, atol=1e-14)


def test_small_hydraulic_flows_are_as_accurate_as_large_voltages() -> None:
    """The same circuit in litres a second and megapascal: the error is relative to the size of each variable."""

    def run(flow: float, pressure: float) -> np.ndarray:
        z = pressure / flow
        m = model(
            h.PressureSource("P", ("a", G), pressure=pressure),
            h.Resistance("R", ("a", "b"), resistance=0.5 * z),
            h.Inertance("L", ("b", "c"), fluid_inertance=0.2 * z),
            h.Accumulator("C", ("c", G), capacitance=0.1 / z),
        )
        sol = m.simulate(t_end=1.0, points=21)
        block = np.array([[-2.5, -5.0, 5.0], [10.0, 0, 0], [0, 0, 0]])
        exact = np.array([(expm(block * t) @ [0, 0, 1.0])[0] for t in sol.t])
        return np.abs(sol["L.flow"] / flow - exact).max()

    assert run(1.0, 1.0) < 1e-6  # rtol is 1e-8
    assert run(1e-8, 1e7) < 1e-6


def test_every_file_of_the_package_is_registered() -> None:
    """In a new process that lists the kinds, every file of every folder is found."""
    import cotree.terminal

    folder = Path(cotree.terminal.__file__).parent
    files = {".".join(path.relative_to(folder).with_suffix("").parts) for path in folder.rglob("[a-z]*.py")}
    script = (
        "import sys\n"
        "from cotree.model import KINDS\n"
        "len(KINDS)\n"
        "print(*(name for name in sys.modules if name.startswith('cotree.terminal.')))\n"
        "print(*(cls.__module__ for cls in KINDS.values()))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    imported, homes = (
        {name.removeprefix("cotree.terminal.") for name in row.split()} for row in done.stdout.splitlines()
    )
    assert files <= imported
    assert {"joints", "electrical", "hydraulic_valves", "control.pid", "nodal.bars"} <= homes
