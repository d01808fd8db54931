"""Runs of hydraulic and pneumatic circuits against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

import cotree
from cotree import hydraulic as h
from cotree.terminal import pneumatic as pn

G = "ground"
TIGHT = {"rtol": 1e-10}


def model(*components: object) -> cotree.Model:
    m = cotree.Model("model")
    for component in components:
        m.add(component)
    return m


def test_tank_that_empties_through_an_orifice() -> None:
    """Torricelli: the root r of the level falls linearly, but for the part p_t^2 / (4 p^2) that flows less."""
    m = model(
        h.Tank("T", ("a", G), area=0.5, density=1000.0, gravity=9.81, level=2.0),
        h.Orifice("O", ("a", G), area=1e-3, discharge=0.62, density=1000.0, transition_pressure=1.0),
    )
    sol = m.simulate(t_end=400.0, points=21, **TIGHT)
    root = np.sqrt(2.0) - 0.62 * 1e-3 / 0.5 * np.sqrt(9.81 / 2) * sol.t
    laminar = (root**-3 - 2.0**-1.5) / (12 * 9810**2)  # the integral of p_t^2 / (4 p^2) over r, with p = rho g r^2
    np.testing.assert_allclose(sol["a.pressure"] / 9810, (root + laminar) ** 2, rtol=1e-9)
    assert laminar[-1] / root[-1] < 1e-7
    assert root[-1] > 0.2
    assert sol.energy().error < 1e-9


def test_pipe_starts_to_flow() -> None:
    """Laminar: I Q' + R Q = p. Turbulent in the end: p = friction(Q)."""
    pipe = {"length": 5.0, "diameter": 0.01, "density": 870.0, "viscosity": 0.04, "roughness": 0.0}
    m = model(h.PressureSource("S", ("a", G), pressure=2e4), h.Pipe("P", ("a", G), **pipe))
    sol = m.simulate(t_end=0.3, points=13, **TIGHT)
    r, i = 128 * 0.04 * 5 / (np.pi * 1e-8), 870 * 5 / (np.pi * 0.01**2 / 4)
    np.testing.assert_allclose(sol["P.flow"], 2e4 / r * (1 - np.exp(-r / i * sol.t)), rtol=1e-8, atol=1e-15)
    assert sol.energy().error < 1e-8
    rough = {**pipe, "viscosity": 1e-3, "roughness": 1e-5}
    sol = model(h.PressureSource("S", ("a", G), pressure=2e5), h.Pipe("P", ("a", G), **rough)).simulate(
        t_end=5.0, points=5
    )
    speed = sol["P.flow"][-1] / (np.pi * 0.01**2 / 4)
    x = (2 * 2e5 * 0.01 / (870 * speed**2 * 5.0)) ** -0.5  # of Colebrook's equation, with Haaland's 2 %
    reynolds = 870 * speed * 0.01 / 1e-3
    assert reynolds > 1e4
    assert x == pytest.approx(-2 * np.log10(1e-3 / 3.7 + 2.51 * x / reynolds), rel=0.01)
    assert sol.energy().error < 1e-7


def test_pipe_of_lumps_is_a_ladder() -> None:
    """Two pieces between a source, a volume and a half volume with a load: the matrix exponential of the ladder."""
    pipe = {"length": 2.0, "diameter": 0.01, "density": 870.0, "viscosity": 0.04, "roughness": 0.0}
    m = model(
        h.PressureSource("S", ("a", G), pressure=2e5),
        h.Pipe("P", ("a", "b"), **pipe, lumps=2, bulk_modulus=1.4e9),
        h.Resistance("R", ("b", G), resistance=2e9),
    )
    sol = m.simulate(t_end=0.02, points=21, rtol=1e-12)
    area = np.pi * 0.01**2 / 4
    r, i, c = 128 * 0.04 * 1 / (np.pi * 1e-8), 870 * 1 / area, area * 1 / 1.4e9
    a = np.zeros((5, 5))  # two flows, two pressures, the source
    a[0, [0, 2, 4]] = -r / i, -1 / i, 1 / i
    a[1, [1, 2, 3]] = -r / i, 1 / i, -1 / i
    a[2, [0, 1]] = 1 / c, -1 / c
    a[3, [1, 3]] = 2 / c, -2 / (2e9 * c)
    exact = np.array([expm(a * t) @ [0, 0, 0, 0, 2e5] for t in sol.t]).T
    assert np.abs(sol["P.piece_1.flow"]).max() * 4 * 870 / (np.pi * 0.01 * 0.04) < 2000  # stays laminar
    for k in range(2):
        np.testing.assert_allclose(sol[f"P.piece_{k + 1}.flow"], exact[k], atol=1e-8 * np.abs(exact[k]).max())
    np.testing.assert_allclose(sol["P.node_1.pressure"], exact[2], atol=1e-8 * 2e5)
    np.testing.assert_allclose(sol["b.pressure"], exact[3], atol=1e-8 * 2e5)
    assert sol.energy().error < 1e-8


def test_pipe_into_an_orifice_against_scipy() -> None:
    """The flow of a pipe is a state, so the orifice gives its pressure by the inverse law: no equation is left over."""
    pipe = {"length": 2.0, "diameter": 0.01, "density": 870.0, "viscosity": 0.04, "roughness": 0.0}
    m = model(
        h.PressureSource("S", ("a", G), pressure="5e6*cos(200*t)"),
        h.Pipe("P", ("a", "b"), **pipe),
        h.Orifice("O", ("b", G), area=2e-6, discharge=0.6, density=870.0, transition_pressure=1e4),
    )
    assert len(m.equations().w) == 0
    sol = m.simulate(t_end=0.02, points=11, **TIGHT)
    r, i = 128 * 0.04 * 2 / (np.pi * 1e-8), 870 * 2 / (np.pi * 0.01**2 / 4)
    np.testing.assert_array_less(np.abs(sol["P.flow"]) * 4 * 870 / (np.pi * 0.01 * 0.04), 2000)  # laminar in the pipe

    def lost(flow: float) -> float:
        law = lambda p: 0.6 * 2e-6 * np.sqrt(2 / 870) * p / (p**2 + 1e8) ** 0.25 - flow  # noqa: E731
        return brentq(law, -2e8, 2e8, xtol=1e-6, rtol=1e-14)

    rates = lambda t, q: [(5e6 * np.cos(200 * t) - r * q[0] - lost(q[0])) / i]  # noqa: E731
    by_hand = solve_ivp(rates, (0, 0.02), [0.0], "LSODA", sol.t, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(sol["O.flow"], by_hand.y[0], atol=1e-7 * np.abs(by_hand.y).max())
    assert sol.energy().error < 1e-8


def test_orifice_behind_a_pump() -> None:
    """A flow source alone gives the flow: p = rho / 2 (Q / (c A))^2, to (p_t / p)^2 / 2 of it."""
    m = model(
        h.FlowSource("Q", (G, "a"), flow="1e-4*(1 + t)"),
        h.Orifice("O", ("a", G), area=2e-6, discharge=0.6, density=870.0, transition_pressure=10.0),
    )
    sol = m.simulate(t_end=1.0, points=5)
    np.testing.assert_allclose(sol["a.pressure"], 870 / 2 * (1e-4 * (1 + sol.t) / 1.2e-6) ** 2, rtol=1e-10)


def test_chamber_that_fills_through_an_orifice() -> None:
    """Choked the pressure rises linearly; then s = (P/P_s - b)/(1 - b) is sin(k t), until the supply is reached."""
    supply, b, conductance, volume = 7e5, 0.3, 1e-8, 1e-3
    m = model(
        pn.Supply("S", ("s", G), pressure=supply - 1e5),
        pn.Orifice("O", ("s", "c"), conductance=conductance, critical_ratio=b, transition=1e-5),
        pn.Chamber("C", ("c", G), volume=volume),
    )
    slope = 1e5 * conductance * supply / volume
    choked, k = (b * supply - 1e5) / slope, slope / (supply * (1 - b))
    sol = m.simulate(t_end=choked + 0.9 * np.pi / 2 / k, points=41, **TIGHT)
    later = np.maximum(sol.t - choked, 0.0)
    exact = np.where(sol.t < choked, 1e5 + slope * sol.t, supply * (b + (1 - b) * np.sin(k * later)))
    np.testing.assert_allclose(sol["c.pressure"] + 1e5, exact, rtol=1e-7)
    filled = (supply - 1e5) * volume / 1e5  # at the end nearly all is in
    assert sol["C.flow"][-1] > 0
    assert np.trapezoid(sol["C.flow"], sol.t) == pytest.approx(filled, rel=0.02)
    assert sol.energy().error < 1e-8


def test_available_energy_of_an_emptied_chamber() -> None:
    """All the work that the gas could do is lost in the orifice: V (P ln(P/p0) - P + p0)."""
    m = model(
        pn.Chamber("C", ("c", G), volume=2e-3, initial=5e5),
        pn.Orifice("O", ("c", G), conductance=2e-8, critical_ratio=0.4, transition=1e-3),
    )
    sol = m.simulate(t_end=10.0, points=5, **TIGHT)
    assert sol["c.pressure"][-1] == pytest.approx(0.0, abs=1e-3)
    audit = sol.energy()
    assert audit.stored[0] == pytest.approx(2e-3 * (6e5 * np.log(6) - 5e5), rel=1e-12)
    assert audit.dissipated[-1] == pytest.approx(audit.stored[0], rel=1e-8)
    assert audit.error < 1e-8
