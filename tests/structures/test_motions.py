"""What is known of single structures: tables, radial and geared motion, angles of a fold, latches that close."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cotree import structures as s
from structures.path import at, drift


def test_scissor_chain_is_as_long_as_its_angle_says() -> None:
    model = s.scissor_chain(6, length=0.8, angle=1.2, motion="-0.3*t**2")
    sol = model.simulate(1.0, integrator="adams", points=11)
    width = 0.8 * math.sin(1.2) - 0.3 * sol.t**2
    reach = 6 * np.sqrt(0.8**2 - width**2)
    assert np.abs(sol["L6.position.x"] - reach).max() < 1e-9
    assert np.abs(sol["U6.position.x"] - reach).max() < 1e-9
    assert np.abs(sol["P3.position.x"] - reach * 2.5 / 6).max() < 1e-9


def test_hoberman_ring_moves_radially() -> None:
    sol = s.scissor_ring(8, arm=0.5, opening=0.9).simulate(0.3, integrator="adams", points=11)
    half = math.pi / 8
    inner, outer, pivot = (np.hypot(sol[f"{n}5.position.x"], sol[f"{n}5.position.y"]) for n in "IOP")
    for k in range(1, 9):
        for n, radius in (("I", inner), ("O", outer)):
            assert np.abs(sol[f"{n}{k}.position.x"] - radius * math.cos(2 * half * (k - 1))).max() < 1e-8
            assert np.abs(sol[f"{n}{k}.position.y"] - radius * math.sin(2 * half * (k - 1))).max() < 1e-8
    # radii a cos(g -+ h) / sin(h) and a cos(g) / sin(h) with one g: eliminate it
    g = np.arccos(pivot * math.sin(half) / 0.5)
    assert np.abs(inner - 0.5 * np.cos(g + half) / math.sin(half)).max() < 1e-8
    assert np.abs(outer - 0.5 * np.cos(g - half) / math.sin(half)).max() < 1e-8
    assert outer[-1] > outer[0] + 0.05


def test_miura_keeps_the_relation_of_its_dihedral_angles() -> None:
    corner = 1.0
    sol = s.miura(2, 2, corner=corner, fold=0.6).simulate(0.8, integrator="adams", points=11)
    half = []
    for k in range(len(sol.t)):
        x = at(sol, [f"V_{i}_{j}" for i in range(3) for j in range(3)], k)
        # tan of half the fold angles of two neighbouring creases of a flat-foldable vertex are in a fixed ratio
        pairs = []
        for a, b, c in (("V_1_0", "V_0_1", "V_2_1"), ("V_0_1", "V_1_0", "V_1_2")):
            axis = x[a] - x["V_1_1"]
            p, q = np.cross(axis, x[b] - x["V_1_1"]), np.cross(axis, x[c] - x["V_1_1"])
            dihedral = math.atan2(float(np.linalg.norm(np.cross(p, q))), float(p @ q))
            pairs.append(math.tan((math.pi - dihedral) / 2))
        half.append(pairs)
    ratio = np.array(half)[:, 0] / np.array(half)[:, 1]
    assert half[-1][0] > 1.2 * half[0][0]
    expected = math.cos(corner)
    assert np.abs(ratio - expected).max() < 1e-7


def test_folding_mast_locks() -> None:
    sol = s.triangular_mast(2).simulate(1.2, integrator="adams", points=25)
    assert sol["latch_1.angle"][-1] == pytest.approx(3.1, abs=1e-9)
    assert sol["F2c.position.z"][-1] == pytest.approx(2 * 1.2 * math.sin(3.1 / 2), abs=1e-8)
    assert abs(sol["F2c.velocity.z"][-1]) < 1e-8
    assert sol.audit.error < 1e-6  # what the latch took is counted as dissipated
    assert sol.audit.dissipated[-1] == pytest.approx(sol.audit.supplied[-1], rel=1e-6)


def test_coilable_mast_turns_up_and_locks() -> None:
    sol = s.triangular_mast(2, kind="coilable").simulate(1.0, integrator="adams", points=21)
    heights = np.array([sol[f"F2{c}.position.z"] for c in "abc"])
    assert np.ptp(heights, axis=0).max() < 1e-7
    assert heights[0, -1] == pytest.approx(2 * math.sqrt(1.2**2 - math.sin(0.15) ** 2), abs=1e-9)
    assert abs(sol["F2a.velocity.z"][-1]) < 1e-9
    assert math.atan2(sol["F1a.position.y"][-1], sol["F1a.position.x"][-1]) == pytest.approx(0.3, abs=1e-9)
    assert sol.audit.dissipated[-1] == pytest.approx(sol.audit.start, rel=1e-6)  # the springs are free, all is at rest


@pytest.mark.parametrize("continuous", [False, True])
def test_ring_truss_meets_its_table(continuous: bool) -> None:
    model = s.ring_truss(continuous=continuous)
    sol = model.simulate(4.0, integrator="adams", points=5, rtol=1e-9)
    table = {1: (1.939880962, 0.05107965932), 2: (1.914489304, 0.1999792668), 4: (1.650419065, 0.6321148955)}
    for k, (radius, rise) in table.items():
        for n in range(1, 11):
            assert np.hypot(sol[f"U{n}.position.x"][k], sol[f"U{n}.position.y"][k]) == pytest.approx(radius, abs=1e-7)
            up = 0.0 if n % 2 else rise
            assert sol[f"L{n}.position.z"][k] == pytest.approx(up, abs=1e-7)
    assert drift(model, sol) < 1e-9


def test_five_bar_falls_as_its_table_says() -> None:
    up = s.five_bar().simulate(0.6, integrator="adams", points=7, rtol=1e-10)
    assert up["B.position.x"][6] == pytest.approx(0.951134062, abs=1e-7)
    assert up["C.position.y"][6] == pytest.approx(-1.307583578, abs=1e-7)
    down = s.five_bar("down").simulate(0.6, integrator="adams", points=7, rtol=1e-10)
    assert down["B.position.x"][6] == pytest.approx(0.144767713, abs=1e-7)
    assert down["C.position.y"][6] == pytest.approx(-1.507710529, abs=1e-7)


@pytest.mark.slow
def test_ring_truss_is_folded_on_time() -> None:
    sol = s.ring_truss().simulate(8.9, integrator="adams", points=891, rtol=1e-10)
    radius = np.hypot(sol["U1.position.x"], sol["U1.position.y"])
    assert radius[890] == pytest.approx(0.4120 * (8.9073895 - 8.9), abs=2e-6)  # its rate is nearly constant by then
    near = slice(870, 891)  # the way to the middle is nearly straight there
    time = np.polynomial.Polynomial.fit(radius[near], sol.t[near], 4)(0.0)
    assert time == pytest.approx(8.907389487654, abs=1e-6)
