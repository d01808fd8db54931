"""Laws of hydraulic and pneumatic parts: their energy, and numbers from textbooks and standards."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq

import cotree
from cotree import hydraulic as h
from cotree.model import PNEUMATIC, Component
from cotree.terminal import pneumatic as pn
from cotree.terminal.stops import Stop
from terminal.laws_of import balance, edges_of, values_of

G = "ground"
AIR = PNEUMATIC.atmosphere
OIL = {"density": 870.0, "transition_pressure": 1e4, "discharge": 0.6}
STROKE = {"head_area": 2e-3, "rod_area": 1.2e-3, "stroke": 0.5, "offset": 0.8, "dead_volume": 1e-4, "leakage": 2e-12}
STOPS = {"stop_stiffness": 1e8, "stop_damping": 1e5}
PIPE = {"length": 3.0, "diameter": 0.02, "density": 870.0, "viscosity": 0.04, "roughness": 1e-5}
CYLINDER = h.Cylinder("X", ("a", G), ("b", G), ("x", G), **STROKE, **STOPS, bulk_modulus=1.4e9)
AIR_CYLINDER = pn.Cylinder("X", ("a", G), ("b", G), ("x", G), **STROKE, **STOPS)
GAS = {"gas_volume": 5e-3, "precharge": 9e6, "atmosphere": 1e5, "inlet_volume": 1e-5, "bulk_modulus": 1.4e9}


def sizes(n: int, across: Any, through: float = 1e-3, rate: float = 1e9, position: float = 0.0) -> dict[str, Any]:
    given = across if isinstance(across, tuple) else (across,) * n
    every = {"through": through, "d_across": rate, "d_through": 1.0, "position": position}
    return {"across": given, **{name: (size,) * n for name, size in every.items()}}


BALANCED: dict[str, tuple[Component, dict[str, float], dict[str, Any]]] = {
    "volume": (h.Volume("X", ("a", G), volume=1e-3, bulk_modulus=1.4e9), {}, sizes(1, 2e7)),
    "tank": (h.Tank("X", ("a", G), area=0.5, density=1000.0, gravity=9.81), {}, sizes(1, 2e4, rate=10.0)),
    "gas filled": (h.GasAccumulator("X", ("a", G), exponent=1.3, **GAS), {"filled": 1}, sizes(1, 2e6)),
    "gas at constant temperature": (h.GasAccumulator("X", ("a", G), exponent=1, **GAS), {"filled": 1}, sizes(1, 2e6)),
    "gas empty": (h.GasAccumulator("X", ("a", G), exponent=1.3, **GAS), {"filled": 0}, sizes(1, 2e6)),
    "pipe": (h.Pipe("X", ("a", "b"), **PIPE), {}, sizes(1, 1e5)),
    "pipe of lumps": (h.Pipe("X", ("a", "b"), **PIPE, lumps=3, bulk_modulus=1.4e9), {}, sizes(7, 1e5)),
    "chamber": (pn.Chamber("X", ("a", G), volume=1e-3), {}, sizes(1, 0.9e5, rate=1e6)),
    **{
        f"cylinder {low}{high}": (
            CYLINDER, {"at_retracted": low, "at_extended": high}, sizes(3, (2e7, 2e7, 1.0), position=0.9))
        for low in (0, 1, 2) for high in (0, 1, 2)
    },
    **{
        f"air cylinder {low}{high}": (
            AIR_CYLINDER, {"at_retracted": low, "at_extended": high}, sizes(3, (9e4, 9e4, 1.0), rate=1e6, position=0.9))
        for low in (0, 1, 2) for high in (0, 1, 2)
    },
}  # fmt: skip


@pytest.mark.parametrize("name", BALANCED)
@pytest.mark.parametrize("seed", range(4))
def test_power_in_is_stored_or_lost(name: str, seed: int) -> None:
    component, held, size = BALANCED[name]
    if "gas" in name:  # around 12 MPa, above the precharge
        size = {**size, "across": (1e7 * (1 + seed),)} if held["filled"] else size
        seed = 1 if held["filled"] else seed
    power, rate, loss = balance(component, held, size, seed)
    assert abs(power) + abs(rate) > 0
    assert power - rate - loss == pytest.approx(0.0, abs=1e-12 * (abs(power) + abs(rate) + abs(loss)))


def test_no_stop_gives_energy() -> None:
    """Wherever it touches as its switches say, what is not stored is lost."""
    random = np.random.default_rng(3)
    for depth, speed in zip(random.normal(size=200) * 1e-3, random.normal(size=200), strict=True):
        state = 1.0 if min(depth, depth + 1e5 / 1e8 * speed) > 0 else 2.0 if depth > 0 else 0.0
        stop = Stop(ca.SX(depth), ca.SX(speed), 1e8, 1e5, state)
        assert [law.name for law in stop.switches("held", "here") if float(law.guard) > 0] == []
        assert float(stop.force) >= 0
        assert float(stop.loss) >= 0
        rate = 1e8 * max(depth, 0.0) * speed
        assert float(stop.force) * speed - rate - float(stop.loss) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_losses_within_the_stroke(seed: int) -> None:
    """Leakage of air loses; oil also carries in p / (2 beta) of the power p A u of each chamber."""
    held = {"at_retracted": 0.0, "at_extended": 0.0}
    inside = sizes(3, (9e4, 9e4, 1.0), rate=1e6, position=1e-3)
    middle = {"head_area": 2e-3, "rod_area": 1.2e-3, "stroke": 0.5, "offset": -0.25, "dead_volume": 1e-4}
    for leakage in (0.0, 2e-9):
        part = pn.Cylinder("X", ("a", G), ("b", G), ("x", G), **middle, **STOPS, leakage=leakage)
        _, _, loss = balance(part, held, inside, seed)
        assert (loss > 0) == (leakage > 0)
        assert loss >= 0
    oil = h.Cylinder("X", ("a", G), ("b", G), ("x", G), **middle, **STOPS, leakage=0.0, bulk_modulus=1.4e9)
    _, _, loss = balance(oil, held, {**inside, "across": (2e7, 2e7, 1.0)}, seed)
    assert 0 < abs(loss) <= 2e7 / (2 * 1.4e9) * 2e7 * (2e-3 + 1.2e-3)


DISSIPATING: dict[str, tuple[Component, dict[str, float], float]] = {
    "orifice": (h.Orifice("X", ("a", "b"), area=1e-5, **OIL), {}, 2e7),
    "relief": (h.Relief("X", ("a", "b"), set_pressure=1e7, conductance=1e-9, leakage=1e-13), {}, 2e7),
    "check valve": (h.CheckValve("X", ("a", "b"), cracking_pressure=5e4, conductance=1e-9), {}, 2e5),
    "valve": (h.Valve("X", "p", "t", "a", "b", opening=0.7, area=1e-5, **OIL), {"forward": 1, "end": 0}, 2e7),
    "valve back": (h.Valve("X", "p", "t", "a", "b", opening=-3, area=1e-5, **OIL), {"forward": 0, "end": -1}, 2e7),
    "air orifice": (pn.Orifice("X", ("a", "b"), conductance=1e-8, critical_ratio=0.3, transition=1e-3), {}, 9e4),
    "air pipe": (pn.Pipe("X", ("a", "b"), length=2.0, diameter=2e-3, viscosity=1.8e-5), {}, 9e4),
}


@pytest.mark.parametrize("name", DISSIPATING)
def test_openings_only_dissipate(name: str) -> None:
    component, held, size = DISSIPATING[name]
    n = len(component.ports)
    for seed in range(20):
        if "open" in component.holding:
            held = {"open": float(seed % 2)}
        power, _, _ = balance(component, held, sizes(n, size), seed)
        if "open" not in component.holding or not held["open"]:
            assert power >= 0.0


def residual(component: Component, held: dict[str, float], *across: float) -> list[float]:
    """Through variables that the law gives at these across variables."""
    e, v = edges_of(component), values_of(component, **held)
    law = ca.vertcat(*(ca.SX(each) for each in component.law(v, *e)))
    known = ca.vertcat(*(edge.across for edge in e), *(edge.through for edge in e))
    at = ca.Function("law", [known], [law])([*across, *[0.0] * len(e)])
    return (-np.array(at).ravel()).tolist()


def test_orifice_numbers() -> None:
    """c A sqrt(2 p / rho) at 100 times the transition, odd, and laminar around zero."""
    hole = h.Orifice("X", ("a", "b"), area=1e-5, **OIL)
    exact = 0.6 * 1e-5 * (2 * 1e6 / 870) ** 0.5
    assert residual(hole, {}, 1e6)[0] == pytest.approx(exact, rel=1e-4 / 3.9)
    assert residual(hole, {}, -1e6)[0] == -residual(hole, {}, 1e6)[0]
    assert residual(hole, {}, 1.0)[0] == pytest.approx(0.6 * 1e-5 * (2 / 870) ** 0.5 * 1e4**-0.5, rel=1e-8)


def test_relief_and_check_valve() -> None:
    relief = h.Relief("X", ("a", "b"), set_pressure=1e7, conductance=1e-9, leakage=1e-13)
    assert residual(relief, {"open": 1.0}, 1.2e7)[0] == pytest.approx(2e6 * 1e-9 + 1.2e-6, rel=1e-14)
    assert residual(relief, {"open": 0.0}, 0.8e7)[0] == pytest.approx(0.8e7 * 1e-13, rel=1e-14)
    check = h.CheckValve("X", ("a", "b"), cracking_pressure=5e4, conductance=1e-9)
    assert residual(check, {"open": 0.0}, -1e7) == [0.0]
    for valve, opening in ((relief, 1e7), (check, 5e4)):
        e = edges_of(valve)
        for held in (0.0, 1.0):
            laws = {law.name: law for law in valve.switches(values_of(valve, open=held), *e)}
            for over in (-1.0, 1.0):
                due = {n for n, law in laws.items() if float(ca.substitute(law.guard, e[0].across, opening + over)) > 0}
                assert due == ({"opens"} if over > held == 0 else {"closes"} if over < 0 < held else set())


def settled(valve: h.Valve) -> dict[str, float]:
    """Held values after all switches that are due have acted."""
    held = dict(zip(valve.holding, valve.held_start({}), strict=True))
    for _ in range(10):
        laws = valve.switches(values_of(valve, **held), *edges_of(valve))
        due = [law for law in laws if float(law.guard) > 0]
        if not due:
            return held
        held |= due[0].held
    raise AssertionError("the switches go on")


@pytest.mark.parametrize("opening", [-2.5, -1.0, -0.3, 0.0, 0.4, 1.0, 7.0])
def test_proportional_valve_meters(opening: float) -> None:
    """Supply 10 MPa, a at 6, b at 3, tank at 0: flows of four orifices with the area of the limited opening."""
    valve = h.Valve("X", "p", "t", "a", "b", opening=opening, area=1e-5, **OIL)
    pressures = {"p": 1e7, "a": 6e6, "b": 3e6, "t": 0.0}
    across = [pressures[plus] - pressures[minus] for plus, minus in valve.node_pairs()]
    found = residual(valve, settled(valve), *across)
    y = min(max(opening, -1.0), 1.0)
    parts = [max(y, 0), max(-y, 0), max(-y, 0), max(y, 0)]
    holes = [h.Orifice("X", ("a", "b"), area=1e-5 * part, **OIL) for part in parts]
    assert found == pytest.approx([residual(hole, {}, p)[0] for hole, p in zip(holes, across, strict=True)], abs=1e-18)


def test_pipe_friction() -> None:
    """Hagen-Poiseuille below Re 2000; Colebrook's equation within 2 % above 4000; no jump in between."""
    for roughness in (0.0, 2e-5, 2e-4):
        pipe = h.Pipe("X", ("a", "b"), **{**PIPE, "viscosity": 1e-3, "roughness": roughness, "density": 1000.0})
        v, area = values_of(pipe), np.pi * 0.02**2 / 4

        def lost(reynolds: float, pipe: h.Pipe = pipe, v: Any = v, area: float = area) -> float:
            return float(pipe.friction(v, reynolds * 1e-3 / (1000 * 0.02) * area))

        def colebrook(reynolds: float, rough: float = roughness / 0.02) -> float:
            gap = lambda x: x + 2 * np.log10(rough / 3.7 + 2.51 * x / reynolds)  # noqa: E731
            return brentq(gap, 1.0, 50.0) ** -2

        for reynolds in (1.0, 500.0, 2000.0):
            speed = reynolds * 1e-3 / (1000 * 0.02)
            assert lost(reynolds) == pytest.approx(32 * 1e-3 * 3.0 * speed / 0.02**2, rel=1e-12)
        for reynolds in (4000.0, 1e4, 1e5, 1e6):
            speed = reynolds * 1e-3 / (1000 * 0.02)
            exact = colebrook(reynolds) * 3.0 / 0.02 * 1000 * speed**2 / 2
            assert lost(reynolds) == pytest.approx(exact, rel=0.02)
            assert lost(-reynolds) == -lost(reynolds)
        course = np.array([lost(r) for r in np.linspace(1900, 4100, 221)])
        assert (np.diff(course) > 0).all()
        assert np.abs(np.diff(course, 2)).max() < 0.03 * np.diff(course).max()


def test_choked_flow_of_iso_6358() -> None:
    """C = 2 l/(s bar), b = 0.4 at 7 bar absolute: 14 l/s while choked, 14 sqrt(1 - (1/3)^2) l/s at a ratio of 0.6."""
    hole = pn.Orifice("X", ("a", "b"), conductance=2e-3 / 1e5, critical_ratio=0.4, transition=1e-3)
    for second in (0.0, 1e5, 0.4 * 7e5 - 1e5):
        assert residual(hole, {}, 6e5, second)[0] == pytest.approx(14e-3, rel=1e-12)
    inlet, outlet = residual(hole, {}, 6e5, 0.6 * 7e5 - 1e5)
    assert inlet == pytest.approx(14e-3 * (8 / 9) ** 0.5, rel=1e-5)
    assert outlet == -inlet
    assert residual(hole, {}, 0.6 * 7e5 - 1e5, 6e5)[1] == pytest.approx(inlet, rel=1e-14)
    assert residual(hole, {}, 3e5, 3e5) == [0.0, 0.0]
    close = [residual(hole, {}, 3e5, 3e5 - d)[0] for d in (1.0, 2.0)]
    assert close[1] == pytest.approx(2 * close[0], rel=1e-4)  # laminar


def test_an_end_at_the_atmosphere_has_no_edge() -> None:
    hole = pn.Orifice("X", ("a", G), conductance=1e-8, critical_ratio=0.4, transition=1e-3)
    both = pn.Orifice("X", ("a", "b"), conductance=1e-8, critical_ratio=0.4, transition=1e-3)
    assert [edge.name for edge in hole.edges()] == ["X.inlet"]
    assert residual(hole, {}, 2e5)[0] == residual(both, {}, 2e5, 0.0)[0]
    inward = pn.Orifice("X", (G, "b"), conductance=1e-8, critical_ratio=0.4, transition=1e-3)
    assert [edge.name for edge in inward.edges()] == ["X.outlet"]
    assert residual(inward, {}, 2e5)[0] == residual(hole, {}, 2e5)[0]


def test_air_in_a_capillary() -> None:
    """Laminar flow by integrating dp/dx = -128 mu Q / (pi d^4) with Q = q p_0 / P along the tube."""
    from scipy.integrate import solve_ivp

    tube = pn.Pipe("X", ("a", "b"), length=2.0, diameter=1e-3, viscosity=1.8e-5)
    q = residual(tube, {}, 3e5, 5e4)[0]
    along = solve_ivp(
        lambda x, p: -128 * 1.8e-5 * (q * AIR / p) / (np.pi * 1e-12), (0, 2.0), [4e5], method="DOP853", rtol=1e-12
    )
    assert along.y[0, -1] == pytest.approx(1.5e5, rel=1e-8)


@pytest.mark.parametrize("n", [1.0, 1.0 + 1e-9, 1.4])
def test_energy_of_the_gas_is_its_work(n: float) -> None:
    """The integral of p dV over the oil that comes in, from the precharge to 20 MPa."""
    from scipy.integrate import quad

    part = h.GasAccumulator("X", ("a", G), exponent=n, **GAS)
    e, v = edges_of(part)[0], values_of(part, filled=1.0)
    energy = ca.Function("energy", [e.across], [part.stored_energy(v, e)])
    oil = 1e-5 / 1.4e9
    volume = lambda p: 5e-3 * ((9e6 + 1e5) / (p + 1e5)) ** (1 / n)  # noqa: E731
    work, _ = quad(lambda gas: 9.1e6 * (5e-3 / gas) ** n - 1e5, volume(2e7), 5e-3, epsabs=1e-9, epsrel=1e-13)
    assert float(energy(2e7)) - oil * 2e7**2 / 2 == pytest.approx(work, rel=1e-8 if n != 1 + 1e-9 else 1e-6)
    assert float(energy(9e6)) == pytest.approx(oil * 9e6**2 / 2, rel=1e-12)


def test_cylinder_pushes_and_stops() -> None:
    at = {"head": 5e6, "rod": 2e6}
    e = edges_of(CYLINDER)
    variables = ca.vertcat(e[0].across, e[1].across, e[2].across, e[2].position)

    def force(speed: float, position: float, low: float = 0.0, high: float = 0.0) -> float:
        v = values_of(CYLINDER, at_retracted=low, at_extended=high)
        return float(ca.Function("F", [variables], [CYLINDER.force(v, *e)])([*at.values(), speed, position]))

    def due(speed: float, position: float, low: float = 0.0, high: float = 0.0) -> list[str]:
        v = values_of(CYLINDER, at_retracted=low, at_extended=high)
        laws = CYLINDER.switches(v, *e)
        guards = ca.Function("g", [variables], [ca.vertcat(*(law.guard for law in laws))])
        numbers = np.array(guards([*at.values(), speed, position])).ravel()
        return [law.name for law, number in zip(laws, numbers, strict=True) if number > 0]

    assert force(0.3, 1.0) == pytest.approx(5e6 * 2e-3 - 2e6 * 1.2e-3, rel=1e-14)
    assert force(0.0, 0.799, low=1.0) == pytest.approx(7600 + 1e8 * 1e-3, rel=1e-12)
    assert force(0.1, 1.301, high=1.0) == pytest.approx(7600 - 1e8 * 1e-3 - 1e5 * 0.1, rel=1e-12)
    assert due(-0.1, 0.7999) == ["touches_retracted"]
    assert due(0.1, 1.3001) == ["touches_extended"]
    assert due(0.1, 1.0) == due(-0.1, 1.3) == due(-0.1, 0.7999, low=1.0) == []
    assert due(2.0, 0.7999, low=1.0) == ["leaves_retracted"]  # k d = 1e4 N, c u = 2e5 N: it would pull
    assert due(2.0, 0.7999, low=2.0) == []  # and it does not touch again on the way out
    assert due(2.0, 0.8001, low=2.0) == ["clears_retracted"]
    assert due(0.05, 0.7999, low=2.0) == ["touches_retracted"]  # unless the piston is slow again


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (h.Orifice, {"area": -1e-5, **OIL}, r"X\.area: it is -1e-05 m\^2"),
    (h.Orifice, {"area": 1e-5, "discharge": 0.6, "density": 870.0}, r"X\.transition_pressure: no value is given"),
    (h.Tank, {"area": 1, "density": 1000, "gravity": 9.81, "level": 1, "initial": 1}, "the start is given twice"),
    (h.GasAccumulator, {**GAS, "exponent": 0.9}, r"X\.exponent: the exponent is 0\.9"),
    (h.Pipe, {**PIPE, "lumps": 0, "bulk_modulus": 1e9}, r"X\.lumps: found 0"),
    (h.Pipe, {**PIPE, "lumps": 2}, "one of lumps and bulk_modulus is given without the other"),
    (h.Pipe, {**PIPE, "initial_pressure": 2}, "no volumes that could start"),
    (pn.Orifice, {"conductance": -1, "critical_ratio": 0.3, "transition": 1e-3}, r"X\.conductance: it is -1"),
    (pn.Orifice, {"conductance": 1, "critical_ratio": 1.0, "transition": 1e-3}, r"X\.critical_ratio: the value is 1"),
]


@pytest.mark.parametrize(("kind", "fields", "message"), WRONG)
def test_wrong_values_are_told(kind: Any, fields: dict[str, Any], message: str) -> None:
    def checked() -> None:
        part = kind("X", ("a", G), **fields)
        part.check(part.values({}))

    with pytest.raises(cotree.ModelError, match=message):
        checked()


SPOOLS: list[tuple[dict[str, Any], str]] = [
    ({}, "neither time_constant nor frequency is given"),
    ({"frequency": 100}, "given: frequency"),
    ({"time_constant": 1, "frequency": 100, "damping_ratio": 1}, "given: time_constant, frequency, damping_ratio"),
    ({"time_constant": 1, "initial": 1.5}, r"y\.initial: the position is 1\.5"),
]


@pytest.mark.parametrize(("fields", "message"), SPOOLS)
def test_spool_says_what_it_needs(fields: dict[str, Any], message: str) -> None:
    def checked() -> None:
        spool = h.Spool("y", input=1, **fields)
        spool.check(spool.values({}))

    with pytest.raises(cotree.ModelError, match=message):
        checked()


@pytest.mark.parametrize("pressure", [0.0, 1e-3, 1.0, 1e4, 2e7, -3e5])
def test_inverse_law_is_the_inverse(pressure: float) -> None:
    hole = h.Orifice("X", ("a", "b"), area=1e-5, **OIL)
    flow = residual(hole, {}, pressure)[0]
    e = edges_of(hole)
    (law,) = hole.inverse_law(values_of(hole), *e)
    across = -float(ca.substitute(ca.substitute(law, e[0].across, 0), e[0].through, flow))
    assert across == pytest.approx(pressure, rel=1e-12)


def test_piston_starts_within_its_stroke() -> None:
    part = h.Cylinder(
        "X", ("a", G), ("b", G), ("x", G), **STROKE, **STOPS, bulk_modulus=1.4e9, initial_position=0.7
    )  # fmt: skip
    with pytest.raises(cotree.ModelError, match=r"X\.initial_position: the piston starts at 0\.7 m.*from 0\.8 m"):
        part.check(part.values({}))


def test_gas_flows_count_from_the_datum() -> None:
    m = cotree.Model("m", datum="air")
    m.add(pn.Chamber("C", ("a", "air"), volume=1e-3))
    m.add(pn.Orifice("O", ("a", "b"), conductance=1e-8, critical_ratio=0.3, transition=1e-3))
    with pytest.raises(cotree.ModelError, match=r"O\.inlet.*: its minus node is 'ground'"):
        m.check()
    with pytest.raises(cotree.ModelError, match="both ends are at the node a"):
        pn.Orifice("O", ("a", "a"), conductance=1e-8, critical_ratio=0.3, transition=1e-3)
