"""The law of a flexible body against the sum of m a over a cloud of points, which shares nothing with it."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray

import cotree as ct
from cotree.fem.tables import NodeTable, Tables
from cotree.maths.rotation import skew, small_turn
from cotree.terminal.floating import Floating
from cotree.terminal.mechanics import BodyMotion

Array = NDArray[np.float64]
POINTS, MODES = 7, 3


def _cloud(seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.uniform(0.1, 2.0, POINTS), rng.normal(size=(POINTS, 3)), rng.normal(size=(POINTS, 3, MODES))


def _tables(m: Array, s: Array, N: Array, second: Array | None = None) -> Tables:
    """Tables of point masses; ``second`` (P, 3, n, n) makes each point move by -q G q / 2 besides."""
    n = N.shape[2]
    G = np.zeros((POINTS, 3, n, n)) if second is None else second
    node = NodeTable(s[0], N[0], np.zeros((3, n)), G[0], np.zeros((3, n, n)))
    return Tables(
        tuple(f"mode{k + 1}" for k in range(n)),
        ("m",) * n,
        np.ones(n),
        float(m.sum()),
        m @ s,
        np.einsum("p,pa,pb->ab", m, s, s),
        np.einsum("p,pak->ak", m, N),
        np.einsum("p,pa,pbk->abk", m, s, N),
        np.einsum("p,pak,pbl->abkl", m, N, N),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.einsum("p,pikl->ikl", m, G),
        np.einsum("p,pa,pikl->aikl", m, s, G),
        {"P": node},
    )


def _law(tables: Tables, numbers: dict[str, Array]) -> dict[str, Array]:
    symbols = {name: ca.SX.sym(name, len(value)) for name, value in numbers.items()}
    floating = Floating(tables, symbols["q"], symbols["u"])
    motion = BodyMotion(*(symbols[name] for name in ("v", "w", "v_dot", "w_dot", "g")))
    law = floating.law(motion, symbols["u_dot"])
    parts = {"force": law.force, "moment": law.moment, "elastic": law.elastic, "kinetic": law.kinetic}
    function = ca.Function("law", list(symbols.values()), [ca.densify(each) for each in parts.values()])
    found = function(*(numbers[name] for name in symbols))
    return {name: np.asarray(value, dtype=float).ravel() for name, value in zip(parts, found, strict=True)}


def _numbers(seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    sizes = {"v": 3, "w": 3, "v_dot": 3, "w_dot": 3, "g": 3, "q": MODES, "u": MODES, "u_dot": MODES}
    return {name: rng.normal(size=size) for name, size in sizes.items()}


@pytest.mark.parametrize("seed", range(5))
def test_momentum_rates_are_those_of_the_points(seed: int) -> None:
    """With linear shapes the law is exact: force, moment and elastic forces are sums of m (a - g)."""
    m, s, N = _cloud(seed)
    x = _numbers(seed + 100)
    here, moving = s + N @ x["q"], N @ x["u"]
    w = x["w"]
    velocity = x["v"] + np.cross(w, here) + moving
    rate = x["v_dot"] + np.cross(x["w_dot"], here) + np.cross(w, moving) + N @ x["u_dot"]
    push = m[:, None] * (rate + np.cross(w, velocity) - x["g"])
    law = _law(_tables(m, s, N), x)
    np.testing.assert_allclose(law["force"], push.sum(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(law["moment"], np.cross(here, push).sum(axis=0), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(law["elastic"], np.einsum("pi,pik->k", push, N), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(law["kinetic"], [(m * (velocity**2).sum(axis=1)).sum() / 2], rtol=1e-12)


def _linear_field(m: Array, s: Array, G: Array) -> Array:
    """The field of matrices that is linear in the place and has the moments of G over the mass."""
    ones = np.column_stack([np.ones(POINTS), s])
    fit, *_ = np.linalg.lstsq(ones * np.sqrt(m)[:, None], np.sqrt(m)[:, None] * G.reshape(POINTS, -1), rcond=None)
    return np.asarray((ones @ fit).reshape(G.shape))


@pytest.mark.parametrize("seed", range(4))
def test_second_order_displacements_obey_hamels_equations(seed: int) -> None:
    """T by a sum over points that also move by -q G q / 2: Hamel's equations by differentiation."""
    m, s, N = _cloud(seed)
    G = np.random.default_rng(seed + 7).normal(size=(POINTS, 3, MODES, MODES))
    G = _linear_field(m, s, G + G.transpose(0, 1, 3, 2))
    v, w, q, u = (ca.SX.sym(name, size) for name, size in (("v", 3), ("w", 3), ("q", MODES), ("u", MODES)))
    energy = ca.SX(0)
    for k in range(POINTS):
        frame = v + ca.cross(w, ca.DM(s[k]))
        moving, turned = ca.mtimes(ca.DM(N[k]), u), ca.cross(w, ca.mtimes(ca.DM(N[k]), q))
        second = ca.vertcat(*(-ca.bilin(ca.DM(G[k, i]), q, q) / 2 for i in range(3)))
        seen = moving + ca.jtimes(second, q, u)  # velocity seen from the frame, in full
        turned_2 = ca.cross(w, second)
        more = ca.dot(moving, turned)  # of the coupling of rotation and deformation up to second order
        energy += m[k] * (ca.sumsqr(frame + turned + turned_2) / 2 + ca.dot(frame, seen) + ca.sumsqr(seen) / 2 + more)
    rates = [ca.SX.sym(name, size) for name, size in (("v_dot", 3), ("w_dot", 3), ("u_dot", MODES))]
    along = ca.vertcat(rates[0], rates[1], u, rates[2])
    p, h, pi = (ca.gradient(energy, x) for x in (v, w, u))
    d_dt = [ca.jtimes(each, ca.vertcat(v, w, q, u), along) for each in (p, h, pi)]
    force, moment = d_dt[0] + ca.cross(w, p), d_dt[1] + ca.cross(w, h) + ca.cross(v, p)
    hamel = ca.Function("hamel", [v, w, q, u, *rates], [force, moment, d_dt[2] - ca.gradient(energy, q), energy])
    x = _numbers(seed + 200) | {"g": np.zeros(3)}
    wanted = hamel(*(x[name] for name in ("v", "w", "q", "u", "v_dot", "w_dot", "u_dot")))
    law = _law(_tables(m, s, N, G), x)
    for name, value in zip(("force", "moment", "elastic", "kinetic"), wanted, strict=True):
        np.testing.assert_allclose(law[name], np.asarray(value, dtype=float).ravel(), rtol=1e-9, atol=1e-9)


BENT = [(2, "interface", 0.6), (7, "interface", 0.6), (7, "clamped", 0.6), (7, "pinned", 0.3)]


@pytest.mark.parametrize(("modes", "shapes", "slope"), BENT)
def test_the_mass_matrix_stays_positive(modes: int, shapes: str, slope: float) -> None:
    """A free beam bent as by its own weight, to slopes at its end far beyond small deformations."""
    section = ct.section.rectangle(width=0.02, height=0.03)
    beam = ct.Beam(
        "b", length=1.0, section=section, material=ct.STEEL, elements=8, modes=modes, shapes=shapes, deforms=["xy"]
    )
    tables = beam.tables(beam.values({}))
    q, u = ca.SX.sym("q", len(tables.names)), ca.SX.sym("u", len(tables.names))
    k = Floating(tables, q, u).blocks
    rows = ca.vertcat(ca.horzcat(k.mass * ca.SX.eye(3), -skew(k.c), k.A), ca.horzcat(skew(k.c), k.J, k.H))
    whole = ca.vertcat(rows, ca.horzcat(k.A.T, k.H.T, k.M))
    bent = np.linalg.solve(tables.stiffness, tables.first_q[1])
    bent *= slope / abs(tables.frames["end"].turn[2] @ bent)
    matrix = np.asarray(ca.DM(ca.Function("M", [q], [ca.densify(whole)])(bent)))
    size = np.sqrt(matrix.diagonal())
    assert np.linalg.eigvalsh(matrix / np.outer(size, size))[0] > 0


def test_place_of_a_node_and_its_rates() -> None:
    """Position and rotation of a node differentiate to its rate and spin."""
    m, s, N = _cloud(3)
    rng = np.random.default_rng(5)
    tables = _tables(m, s, N)
    second = rng.normal(size=(3, MODES, MODES))
    node = NodeTable(s[0], N[0], rng.normal(size=(3, MODES)), second + second.transpose(0, 2, 1), 0 * second)
    q, u = ca.SX.sym("q", MODES), ca.SX.sym("u", MODES)
    moved = Floating(tables, q, u).place(node)
    function = ca.Function("place", [q, u], [moved.position, moved.rotation, moved.rate, moved.spin])
    at, speed, h = 0.1 * rng.normal(size=MODES), rng.normal(size=MODES), 1e-5
    ahead, behind = (function(at + k * h * speed, speed) for k in (1, -1))
    now = function(at, speed)
    np.testing.assert_allclose(np.asarray(ahead[0] - behind[0]) / (2 * h), np.asarray(now[2]), atol=1e-8)
    C = np.asarray(now[1])
    turning = np.asarray(ahead[1] - behind[1]) / (2 * h) @ C.T
    w = np.asarray(now[3]).ravel()
    np.testing.assert_allclose(turning, [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]], atol=1e-8)
    np.testing.assert_allclose(C @ C.T, np.eye(3), atol=1e-14)


@pytest.mark.parametrize("angle", [1e-3, 0.05, 0.2])
def test_small_turn_is_a_rotation_by_the_length_of_its_vector(angle: float) -> None:
    """The angle is exact to rounding up to 0.2 rad."""
    axis = np.array([2.0, -1.0, 2.0]) / 3
    C, _ = small_turn(ca.SX(ca.DM(angle * axis)), ca.SX.zeros(3))
    matrix = np.asarray(ca.DM(C))
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    wanted = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    np.testing.assert_allclose(matrix, wanted, atol=2e-11)
