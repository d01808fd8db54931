"""The law of a flexible body against the sum of m a over a cloud of points, which shares nothing with it."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray

from cotree.fem.tables import NodeTable, Tables
from cotree.maths.rotation import small_turn
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


@pytest.mark.parametrize("seed", range(4))
def test_second_order_displacements_of_the_points(seed: int) -> None:
    """Points that also move by the linear field with the moments of -q G q / 2: sums of m (a - g) again."""
    m, s, N = _cloud(seed)
    G = np.random.default_rng(seed + 7).normal(size=(POINTS, 3, MODES, MODES))
    G = G + G.transpose(0, 1, 3, 2)
    x = _numbers(seed + 200)
    q, u, w = x["q"], x["u"], x["w"]
    ones = np.column_stack([np.ones(POINTS), s]) * np.sqrt(m)[:, None]
    fit, *_ = np.linalg.lstsq(ones, (np.sqrt(m)[:, None] * G.reshape(POINTS, -1)), rcond=None)
    G = (np.column_stack([np.ones(POINTS), s]) @ fit).reshape(G.shape)  # the linear field with the same moments
    slope = N - np.einsum("pikl,l->pik", G, q)
    here = s + N @ q - np.einsum("pikl,k,l->pi", G, q, q) / 2
    moving, bending = slope @ u, -np.einsum("pikl,k,l->pi", G, u, u)
    velocity = x["v"] + np.cross(w, here) + moving
    rate = x["v_dot"] + np.cross(x["w_dot"], here) + np.cross(w, moving) + slope @ x["u_dot"] + bending
    push = m[:, None] * (rate + np.cross(w, velocity) - x["g"])
    law = _law(_tables(m, s, N, G), x)
    np.testing.assert_allclose(law["force"], push.sum(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(law["moment"], np.cross(here, push).sum(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(law["elastic"], np.einsum("pi,pik->k", push, slope), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(law["kinetic"], [(m * (velocity**2).sum(axis=1)).sum() / 2], rtol=1e-9)


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
