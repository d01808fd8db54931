"""The membrane with drilling freedoms: patch test, rank, bending in the plane, Cook's panel."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from _shells import RX, RY, RZ, Array, X, Y, Z, assembled, distorted, grid, plain, select, solved, turned
from cotree.fem import membrane
from cotree.fem.plate import Orthotropic, Plate, layered, strain_turn
from cotree.fem.shell import Shells

CARBON = Orthotropic(0.1, 14.0, 1.0, 0.3, 0.5, 1.0)
PLATINGS = [plain(), CARBON, layered([(CARBON, 0.7), CARBON, (CARBON, 0.7)])]


def plane_stress(nu: float) -> Array:
    return np.array([[1.0, nu, 0.0], [nu, 1.0, 0.0], [0.0, 0.0, (1 - nu) / 2]]) / (1 - nu**2)


def stiffness(x: Array, y: Array, stretch: Array) -> Array:
    """(T, 9, 9) membrane stiffness, put together from the parts: basic + 3/4 beta_0 higher."""
    mean, higher, size = membrane.mean_strain(x, y), membrane.side_strains(x, y), membrane.area(x, y)
    factor = 0.75 * membrane.higher_factor(stretch)
    return np.einsum("t,tik,ij,tjl->tkl", size, mean, stretch, mean) + factor * np.einsum(
        "t,tpik,ij,tpjl->tkl", size, higher, stretch, higher
    )


@pytest.mark.parametrize("plating", PLATINGS)
@pytest.mark.parametrize("seed", [1, 2])
def test_constant_strain_is_exact_on_a_distorted_patch_in_any_plane(plating: Plate, seed: int) -> None:
    flat, triangles = distorted(seed)
    frame = turned(seed)
    places = flat @ frame.T + [3.0, -2.0, 1.0]
    family = Shells(places, triangles, plating, direction=frame[:, 0])
    slope = np.array([[1e-3, 4e-4], [-2e-4, 7e-4]])  # du_i / dx_j
    local = np.zeros((len(flat), 6))
    local[:, :2] = flat[:, :2] @ slope.T
    local[:, RZ] = (slope[1, 0] - slope[0, 1]) / 2
    exact = np.concatenate([local[:, :3] @ frame.T, local[:, 3:] @ frame.T], axis=1).ravel()
    edge = select(flat, lambda p: np.any((p[:, :2] < 1e-9) | (p[:, :2] > 1 - 1e-9), axis=1), range(6))
    u = solved(assembled(len(flat), family, family.stiffness()), np.zeros(6 * len(flat)), edge, exact[edge])
    assert np.max(np.abs(u - exact)) < 1e-10 * np.max(np.abs(exact))
    strain = np.array([slope[0, 0], slope[1, 1], slope[0, 1] + slope[1, 0]])
    found = family.strains(u[family.degrees])
    np.testing.assert_allclose(found.membrane, np.broadcast_to(strain, found.membrane.shape), atol=1e-13)
    forces = family.resultants(u[family.degrees])
    np.testing.assert_allclose(forces, np.broadcast_to(plating.abd()[0] @ strain, forces.shape), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("nu", [-0.5, 0.0, 0.3, 0.4999])
def test_a_triangle_has_three_motions_without_energy(nu: float) -> None:
    shapes = np.random.default_rng(5).normal(size=(50, 3, 2))
    x, y = shapes[..., 0], shapes[..., 1]
    x, y = (np.where((membrane.area(x, y) < 0)[:, None], c[:, ::-1], c) for c in (x, y))
    x, y = (c / np.sqrt(membrane.area(x, y))[:, None] for c in (x, y))
    values = np.linalg.eigvalsh(stiffness(x, y, plane_stress(nu)))
    assert np.all(np.abs(values[:, :3]) < 1e-12 * values[:, 8:])
    assert np.all(values[:, 3] > 1e-8 * values[:, 8])


@pytest.mark.parametrize("nu", [0.0, 0.25, 0.3, 0.45])
@pytest.mark.parametrize("aspect", [0.1, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("rising", [True, False])
def test_a_rectangle_of_two_triangles_bends_with_the_energy_of_a_beam(nu: float, aspect: float, rising: bool) -> None:
    assert bending_energy(plane_stress(nu), aspect, rising) == pytest.approx(1.0, abs=1e-9)


def test_orthotropic_rectangles_bend_exactly_along_their_axes() -> None:
    stretch = CARBON.abd()[0]
    swapped = stretch[np.ix_([1, 0, 2], [1, 0, 2])]
    for aspect in (0.5, 8.0):
        assert bending_energy(stretch, aspect, True) == pytest.approx(1.0, abs=1e-9)
        assert bending_energy(swapped, aspect, True) == pytest.approx(1.0, abs=1e-9)


def bending_energy(stretch: Array, aspect: float, rising: bool) -> float:
    """Energy over that of the exact field, stress along x equal to y, at the corners of a rectangle 1 high."""
    places, triangles = grid(aspect, 1.0, 1, 1, rising=rising)
    x, y = places[:, 0], places[:, 1] - 0.5
    slack = np.linalg.inv(stretch)
    u = np.stack([slack[0, 0] * x * y, slack[0, 1] * y**2 / 2 - slack[0, 0] * x**2 / 2, -slack[0, 0] * x], axis=1)
    matrices = stiffness(x[triangles], y[triangles], stretch)
    each = u[triangles].reshape(-1, 9)
    return float(np.einsum("tk,tkl,tl->", each, matrices, each) / (slack[0, 0] * aspect / 12))


def cantilever(length: float, across: int, up: int, *, crossed: bool, exact_ends: bool) -> float:
    """Tip deflection over that of the beam, end moment, nu = 1/4, depth 1; wall free to contract."""
    nu = 0.25
    places, triangles = grid(length, 1.0, across, up)
    places[:, 1] -= 0.5
    if crossed:  # Felippa 2003, section 6: each rectangle is four overlaid triangles of half the thickness
        triangles = np.concatenate([triangles, grid(length, 1.0, across, up, rising=False)[1]])
    family = Shells(places, triangles, plain(0.5 if crossed else 1.0, poisson=nu))
    matrix = assembled(len(places), family, family.stiffness())
    x, y = places[:, 0], places[:, 1]
    load, end = np.zeros((len(places), 6)), np.flatnonzero(x > length - 1e-9)
    if exact_ends:
        field = np.zeros((len(places), 6))
        field[:, X], field[:, Y], field[:, RZ] = x * y, -(x**2) / 2 - nu * y**2 / 2, -x
        load[end] = (matrix @ field.ravel()).reshape(-1, 6)[end]
    else:
        for a, b in pairwise(end):  # the stress y, shared linearly
            load[a, X] += (2 * y[a] + y[b]) / (6 * up)
            load[b, X] += (y[a] + 2 * y[b]) / (6 * up)
    wall = select(places, lambda p: p[:, 0] < 1e-9, (X, RZ))
    low = select(places, lambda p: (p[:, 0] < 1e-9) & (p[:, 1] < -0.49), (Y,))
    flat = select(places, lambda p: p[:, 0] > -1, (Z, RX, RY))
    u = solved(matrix, load.ravel(), np.unique(np.concatenate([wall, low, flat])))
    return float(u[6 * end[0] + Y] / (-(length**2) / 2))


@pytest.mark.parametrize("length", [2.0, 8.0, 32.0])
def test_a_cantilever_of_crossed_units_is_exact_under_an_end_moment(length: float) -> None:
    assert cantilever(length, 8, 1, crossed=True, exact_ends=True) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("length", [32.0, 128.0])
def test_slender_elements_do_not_lock(length: float) -> None:
    # The moment as a plain couple of forces disturbs the last unit only. Constant-strain triangles give a few per cent.
    assert cantilever(length, 8, 1, crossed=True, exact_ends=False) == pytest.approx(1.0, abs=1e-3)
    assert cantilever(length, 8, 2, crossed=False, exact_ends=False) == pytest.approx(1.0, abs=0.02)


def cook(cells: int, *, rising: bool) -> float:
    """Deflection of the middle of the loaded end of Cook's panel, E = 1, nu = 1/3, unit thickness and load."""
    places, triangles = grid(1.0, 1.0, cells, cells, rising=rising)
    a, b = places[:, 0].copy(), places[:, 1].copy()
    places[:, 0], places[:, 1] = 48 * a, 44 * a + b * (44 - 28 * a)
    family = Shells(places, triangles, plain(1.0, poisson=1 / 3))
    load, end = np.zeros((len(places), 6)), np.flatnonzero(a > 1 - 1e-9)
    load[end, Y] = 1 / cells
    load[end[[0, -1]], Y] /= 2
    wall = select(places, lambda p: p[:, 0] < 1e-9, (X, Y, RZ))
    flat = select(places, lambda p: p[:, 0] > -1, (Z, RX, RY))
    matrix = assembled(len(places), family, family.stiffness())
    u = solved(matrix, load.ravel(), np.unique(np.concatenate([wall, flat])))
    return float(u[6 * end[cells // 2] + Y])


@pytest.mark.parametrize("rising", [True, False])
def test_cooks_panel_converges_to_its_limit(rising: bool) -> None:
    limit = 23.96  # R. D. Cook, C. K. Choi and others; Felippa 2003, section 7
    errors = np.array([limit - cook(cells, rising=rising) for cells in (4, 8, 16, 32)])
    assert np.all(errors > 0)
    assert np.all(errors[1:] / errors[:-1] < 0.5)
    assert errors[-1] < 0.01 * limit


def test_the_weight_of_the_higher_part_follows_the_material() -> None:
    for nu in (-0.3, 0.0, 0.3, 0.45):
        assert membrane.higher_factor(plane_stress(nu)) == pytest.approx((1 - 4 * nu**2) / 2, abs=1e-12)
    assert membrane.higher_factor(plane_stress(0.49999)) == membrane.LEAST
    stretch = CARBON.abd()[0]
    yx = 0.3 / 14
    expected = 2 * (1 - 0.3 * yx) - 1.5
    for angle in (0.0, 0.2, 1.1):
        turn = strain_turn(angle)
        assert membrane.higher_factor(turn.T @ stretch @ turn) == pytest.approx(expected, abs=1e-10)
