"""Discrete Kirchhoff bending: patch test, rank, published convergence, orthotropic plates, laminated strips."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from _shells import (
    RX,
    RY,
    RZ,
    Array,
    X,
    Y,
    Z,
    assembled,
    bent,
    distorted,
    grid,
    plain,
    select,
    solved,
    solved_patch,
    turned,
)
from cotree.fem import bending, membrane
from cotree.fem.plate import Orthotropic, Plating, layered
from cotree.fem.shell import Shells

CARBON = Orthotropic(0.1, 14.0, 1.0, 0.3, 0.5, 1.0)


@pytest.mark.parametrize("plating", [plain(), CARBON, layered([(CARBON, 0.4), (CARBON, -0.4), (CARBON, 0.4)])])
@pytest.mark.parametrize("seed", [1, 2])
def test_constant_curvature_is_exact_on_a_distorted_patch_in_any_plane(plating: Plating, seed: int) -> None:
    flat, triangles = distorted(seed)
    frame = turned(seed + 10)
    family = Shells(flat @ frame.T + [1.0, 5.0, -2.0], triangles, plating, direction=frame[:, 0])
    k = np.array([2e-3, -1e-3, 3e-3])  # k_x, k_y, 2 k_xy
    u = solved_patch(family, flat, frame, bent(flat, k))
    found = family.strains(u[family.degrees]).curvature
    np.testing.assert_allclose(found, np.broadcast_to(k, found.shape), atol=1e-12)
    moments = family.moments(u[family.degrees])
    np.testing.assert_allclose(moments, np.broadcast_to(plating.abd()[2] @ k, moments.shape), rtol=1e-8, atol=1e-14)


def test_a_triangle_has_three_motions_without_energy() -> None:
    shapes = np.random.default_rng(5).normal(size=(50, 3, 2))
    x, y = shapes[..., 0], shapes[..., 1]
    x, y = (np.where((membrane.area(x, y) < 0)[:, None], c[:, ::-1], c) for c in (x, y))
    x, y = (c / np.sqrt(membrane.area(x, y))[:, None] for c in (x, y))
    rows = bending.curvatures(x, y, bending.MIDDLES)
    values = np.linalg.eigvalsh(np.einsum("tpik,tpil->tkl", rows, rows))
    assert np.all(np.abs(values[:, :3]) < 1e-12 * values[:, 8:])
    assert np.all(values[:, 3] > 1e-8 * values[:, 8])


def quarter(cells: int, *, clamped: bool, plating: Plating, sides: tuple[float, float] = (1.0, 1.0)) -> Any:
    """A quarter of a plate under unit pressure, from its corner at the origin to its centre: family and displacements.

    The pressure acts as a third of its force on each corner of a triangle.
    """
    half_x, half_y = sides[0] / 2, sides[1] / 2
    places, triangles = grid(half_x, half_y, cells, cells)
    family = Shells(places, triangles, plating)
    load = np.zeros((len(places), 6))
    np.add.at(load[:, Z], triangles, family.area[:, None] / 3)
    held = [
        select(places, lambda p: p[:, 0] > -1, (X, Y, RZ)),
        select(places, lambda p: p[:, 0] > half_x - 1e-9, (RY,)),
        select(places, lambda p: p[:, 1] > half_y - 1e-9, (RX,)),
        select(places, lambda p: p[:, 0] < 1e-9, (Z, RX, RY) if clamped else (Z, RX)),
        select(places, lambda p: p[:, 1] < 1e-9, (Z, RX, RY) if clamped else (Z, RY)),
    ]
    matrix = assembled(len(places), family, family.stiffness())
    return family, solved(matrix, load.ravel(), np.unique(np.concatenate(held)))


@pytest.mark.parametrize(
    ("clamped", "published"),
    [(False, [4.16146, 4.05587, 4.06485, 4.06367, 4.06277]), (True, [1.88964, 1.54738, 1.34741, 1.28653, 1.27068])],
)
def test_the_square_plate_has_the_known_deflections_of_dkt(clamped: bool, published: list[float]) -> None:
    plating = plain(0.01)
    rigidity = plating.abd()[2][0, 0]
    found = [1e3 * rigidity * quarter(n, clamped=clamped, plating=plating)[1][-4] for n in (1, 2, 4, 8, 16)]
    np.testing.assert_allclose(found, published, atol=5.001e-6)
    exact = 1.26532 if clamped else 4.06235  # Kirchhoff
    order = np.log2(abs(found[3] - exact) / abs(found[4] - exact))
    assert order > 1.5


def test_the_deflection_is_free_of_locking_for_very_thin_plates() -> None:
    found = []
    for thickness in (1e-1, 1e-5):
        plating = plain(thickness)
        found.append(plating.abd()[2][0, 0] * quarter(4, clamped=True, plating=plating)[1][-4])
    assert found[0] == pytest.approx(found[1], rel=1e-9)


def navier(d: Array, sides: tuple[float, float], what: str) -> float:
    """Centre of a simply supported orthotropic plate under unit pressure.

    Timoshenko and Woinowsky-Krieger, Theory of Plates and Shells, 2nd ed., section 85.
    """
    a, b = sides
    total = 0.0
    for m in range(1, 200, 2):
        for n in range(1, 200, 2):
            p, q = m * math.pi / a, n * math.pi / b
            deflection = 16 / (math.pi**2 * m * n)
            deflection /= d[0, 0] * p**4 + 2 * (d[0, 1] + 2 * d[2, 2]) * p**2 * q**2 + d[1, 1] * q**4
            share = 1.0 if what == "deflection" else d[0, 0] * p**2 + d[0, 1] * q**2
            total += share * deflection * (-1) ** ((m + n) // 2 - 1)
    return total


@pytest.mark.parametrize("sides", [(1.0, 1.0), (1.0, 2.0)])
def test_orthotropic_plates_converge_to_naviers_series(sides: tuple[float, float]) -> None:
    plating = Orthotropic(0.01, young_x=14.0, young_y=1.0, poisson_xy=0.3, shear_xy=0.5, density=1.0)
    exact = navier(plating.abd()[2], sides, "deflection")
    errors = [abs(quarter(n, clamped=False, plating=plating, sides=sides)[1][-4] / exact - 1) for n in (4, 8, 16, 32)]
    assert errors[-1] < 2e-3
    assert errors[-1] < 0.35 * errors[-2]


def test_moments_at_the_centre_of_a_supported_plate_converge() -> None:
    plating = plain(0.01)
    exact = navier(plating.abd()[2], (1.0, 1.0), "moment")
    assert exact == pytest.approx(0.0479, abs=5e-5)  # Timoshenko and Woinowsky-Krieger, table 8
    family, u = quarter(24, clamped=False, plating=plating)
    centre = len(u) // 6 - 1
    moments = family.moments(u[family.degrees])
    at = [(t, 1 + list(corners).index(centre)) for t, corners in enumerate(family.triangles) if centre in corners]
    assert np.mean([moments[t, c, 0] for t, c in at]) == pytest.approx(exact, rel=0.01)
    upper = family.stress(u[family.degrees])
    assert upper.components[at[0][0], 0, 0] == pytest.approx(6 * moments[at[0][0], 0, 0] / 0.01**2, rel=1e-9)
    lower = family.stress(u[family.degrees], z=-0.005)
    np.testing.assert_allclose(lower.components, -upper.components, atol=1e-9 * np.max(upper.mises))


def test_an_unsymmetric_strip_bends_and_stretches_as_laminate_theory_says() -> None:
    # [0/90], moment along x only: (e, k) = abd^-1 (0, M); a constant state, so any mesh gives it exactly.
    laminate = layered([CARBON, (CARBON, math.pi / 2)])
    a, b, d = laminate.abd()
    state = np.linalg.inv(np.block([[a, b], [b, d]]))[:, 3]
    places, triangles = grid(5.0, 1.0, 5, 2)
    family = Shells(places, triangles, laminate)
    load = np.zeros((len(places), 6))
    for end, sign in ((5.0, 1.0), (0.0, -1.0)):
        nodes = np.flatnonzero(np.abs(places[:, 0] - end) < 1e-9)
        load[nodes, RY] = sign * np.array([0.25, 0.5, 0.25])
    held = np.array([0, 1, 2, 3, 4, 5])  # node 0, at the origin
    u = solved(assembled(len(places), family, family.stiffness()), load.ravel(), held).reshape(-1, 6)
    x, y = places[:, 0], places[:, 1]
    np.testing.assert_allclose(u[:, X], state[0] * x, atol=1e-9 * abs(state[0]) * 5)
    np.testing.assert_allclose(u[:, Y], state[1] * y, atol=1e-9 * abs(state[0]) * 5)
    np.testing.assert_allclose(u[:, Z], -(state[3] * x**2 + state[4] * y**2) / 2, atol=1e-8 * abs(state[3]) * 25)
    forces, moments = family.forces(u.ravel()[family.degrees]), family.moments(u.ravel()[family.degrees])
    np.testing.assert_allclose(forces, 0.0, atol=1e-9)
    np.testing.assert_allclose(moments, np.broadcast_to([1.0, 0.0, 0.0], moments.shape), atol=1e-9)
    # The lower face lies in the ply along x: stress there by laminate theory.
    lower = family.stress(u.ravel()[family.degrees], z=-0.1).components
    expected = CARBON.stiffness_at(0.0) @ (state[:3] - 0.1 * state[3:])
    np.testing.assert_allclose(lower, np.broadcast_to(expected, lower.shape), rtol=1e-7, atol=1e-6)


def test_an_unsymmetric_cantilever_with_a_tip_load_converges_to_laminate_theory() -> None:
    # Without Poisson's ratio the strip is a beam: w = F d11 L^3 / 3, axial displacement = b11 F L^2 / 2.
    ply = Orthotropic(0.1, 14.0, 1.0, 0.0, 0.5, 1.0)
    laminate = layered([ply, (ply, math.pi / 2)])
    a, b, d = laminate.abd()
    inverse = np.linalg.inv(np.block([[a, b], [b, d]]))
    errors = []
    for cells in (4, 8, 16):
        places, triangles = grid(8.0, 1.0, cells, 2)
        family = Shells(places, triangles, laminate)
        load = np.zeros((len(places), 6))
        tip = np.flatnonzero(places[:, 0] > 8 - 1e-9)
        load[tip, Z] = [0.25, 0.5, 0.25]
        wall = select(places, lambda p: p[:, 0] < 1e-9, range(6))
        u = solved(assembled(len(places), family, family.stiffness()), load.ravel(), wall).reshape(-1, 6)
        errors.append(
            [
                u[tip[1], Z] / (inverse[3, 3] * 8.0**3 / 3) - 1,
                u[tip[1], X] / (-inverse[0, 3] * 8.0**2 / 2) - 1,
            ]
        )
    found = np.abs(errors)
    assert np.all(found[-1] < 0.01)
    assert np.all(found[2] < 0.4 * found[1])
