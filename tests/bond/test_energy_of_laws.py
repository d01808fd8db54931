"""The energy of storages with laws of pieces: against integrals by hand."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import cotree.bond as b
from bond._graphs import graph
from cotree.bond.way import places


def _stop(q):
    return np.maximum(q - 0.1, 0) ** 2 / 2


KINKS = {
    "stop": ("q + 400*max(q - 0.1, 0)", lambda q: q**2 / 2 + 400 * _stop(q)),
    "backlash": ("300*sign(q)*max(abs(q) - 0.1, 0) + q", lambda q: q**2 / 2 + 300 * _stop(abs(q))),
    "limit": ("min(max(8*q, -0.8), 0.8)", lambda q: 4 * q**2 - 8 * _stop(abs(q))),
    "curved": ("q + 50*max(q**3 + q - 0.101, 0)", lambda q: q**2 / 2 + 50 * np.where(q > 0.1, q**4 / 4 + q**2 / 2
               - 0.101 * q + 0.101 * 0.1 - 0.1**4 / 4 - 0.1**2 / 2, 0)),
    "jump": ("q + 2*step(q - 0.1)", lambda q: q**2 / 2 + 2 * np.maximum(q - 0.1, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", KINKS)
def test_the_energy_of_laws_with_a_kink(name):
    """A mass that swings over the kink of its spring: the integral of each piece by hand."""
    effort, exact = KINKS[name]
    model = graph(
        b.I("m", inertia=1.0, initial_flow=0.7), b.Junction1("j"), b.C("k", effort=effort, displacement=-0.05),
        "j -> m", "j -> k",
    )  # fmt: skip
    s = model.simulate(4.0, rtol=1e-10, atol=1e-12)
    q = s["k.displacement"]
    assert q.max() > 0.12
    assert np.abs(s["potential_energy"] - exact(q)).max() < 1e-11
    assert s.energy().error < 1e-5  # the integrator passes each kink or jump to its own tolerance


def test_the_energy_of_vectors_with_kinks():
    """Each component meets its stop at another place of the way."""
    laws = ["q.c1 + 50*max(q.c1 - 0.1, 0)", "2*q.c2 + 30*max(-0.2 - q.c2, 0)*(-1)"]
    model = graph(
        b.I("m", inertia=1.0, initial_flow=[1.0, -1.5]), b.Junction1("j"), b.C("k", effort=laws), "j -> m", "j -> k",
    )  # fmt: skip
    s = model.simulate(3.0, rtol=1e-10, atol=1e-12)
    x, y = s["k.displacement.c1"], s["k.displacement.c2"]
    exact = x**2 / 2 + 50 * _stop(x) + y**2 + 15 * np.maximum(-0.2 - y, 0) ** 2
    assert np.abs(s["potential_energy"] - exact).max() < 1e-11
    assert s.energy().error < 1e-6


def test_the_energy_of_laws_with_powers_behind_a_kink():
    """Hertz's contact 1000 d**1.5 has the energy 400 d**2.5."""
    model = graph(
        b.I("m", inertia=1.0, initial_flow=1.0), b.Junction1("j"), b.C("k", effort="1000*max(q - 0.05, 0)**1.5"),
        "j -> m", "j -> k",
    )  # fmt: skip
    s = model.simulate(0.15, rtol=1e-10, atol=1e-12)
    depth = np.maximum(s["k.displacement"] - 0.05, 0)
    assert depth.max() > 0.05
    assert np.abs(s["potential_energy"] - 400 * depth**2.5).max() < 1e-7 * 0.5


def test_places_that_are_not_on_the_way_cost_nothing():
    """Smooth laws and laws that bend at zero keep one rule of 24 points."""
    q, s = ca.SX.sym("q"), ca.SX.sym("s")
    for law in (ca.sinh, lambda q: q * ca.fabs(q), lambda q: ca.sign(q) * ca.sqrt(ca.fabs(q)), lambda q: ca.fmax(q, 0)):
        assert places(law(s * q), s) == []
    assert len(places(ca.fmax(s * q - 1, 0) + ca.fmax(s * q - 1, 0) ** 2, s)) == 1
