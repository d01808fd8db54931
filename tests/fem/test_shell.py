"""Shells as a whole: rank, rigid motions, coupled patch, mass, vibration, buckling, curved shells, stress, errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh

from _counting import calls
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
from cotree.errors import ModelError
from cotree.fem.element import rigid_motions, rigid_rows
from cotree.fem.material import STEEL, Material
from cotree.fem.membrane import ALPHA
from cotree.fem.plate import Laminate, Orthotropic, Plate, Plating, layered
from cotree.fem.shell import Shells

CARBON = Orthotropic(0.1, 14.0, 1.0, 0.3, 0.5, 1.0)
COUPLED = layered([CARBON, (CARBON, 0.7, 0.05)])
PLATINGS = [plain(0.02), plain(0.3, poisson=0.49), CARBON, COUPLED]


@pytest.mark.parametrize("plating", PLATINGS)
def test_every_triangle_has_exactly_six_motions_without_energy(plating: Plating) -> None:
    places = np.random.default_rng(2).normal(size=(60, 3))
    family = Shells(places, np.arange(60).reshape(-1, 3), plating)
    for matrix, corners in zip(family.stiffness(), family.corners, strict=True):
        scale = 1 / np.sqrt(np.diag(matrix))  # rotations and displacements on one scale
        values = np.linalg.eigvalsh(matrix * np.outer(scale, scale))
        assert np.all(np.abs(values[:6]) < 1e-13)
        assert values[6] > 1e-7
        assert np.max(np.abs(matrix @ rigid_motions(corners))) < 1e-12 * np.max(np.abs(matrix))


@pytest.mark.parametrize("plating", PLATINGS)
def test_a_flat_mesh_has_exactly_six_motions_without_energy(plating: Plating) -> None:
    flat, triangles = distorted()
    frame = turned(4)
    places = flat @ frame.T + [1.0, 2.0, 3.0]
    family = Shells(places, triangles, plating, direction=frame[:, 0])
    matrix = assembled(len(flat), family, family.stiffness()).toarray()
    assert np.max(np.abs(matrix @ rigid_motions(places))) < 1e-12 * np.max(np.abs(matrix))
    scale = 1 / np.sqrt(np.diag(matrix))
    values = np.linalg.eigvalsh(matrix * np.outer(scale, scale))
    assert np.all(np.abs(values[:6]) < 1e-13)
    assert values[6] > 1e-5


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_coupled_laminate_passes_the_patch_test_of_strain_and_curvature_together(seed: int) -> None:
    flat, triangles = distorted(seed)
    frame = turned(seed + 20)
    family = Shells(flat @ frame.T, triangles, COUPLED, direction=frame[:, 0])
    x, y = flat[:, 0], flat[:, 1]
    e, k = np.array([1e-3, -5e-4, 8e-4]), np.array([2e-3, -1e-3, 3e-3])
    local = bent(flat, k)
    local[:, X], local[:, Y] = e[0] * x + e[2] / 2 * y, e[1] * y + e[2] / 2 * x
    u = solved_patch(family, flat, frame, local)
    a, b, d = COUPLED.abd()
    each = u[family.degrees]
    for found, expected in (
        (family.resultants(each), a @ e + b @ k),
        (family.forces(each), a @ e + b @ k),
        (family.moments(each), b @ e + d @ k),
    ):
        np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), atol=1e-9 * np.max(np.abs(expected)))


@pytest.mark.parametrize("rotary", [True, False])
@pytest.mark.parametrize("plating", [Plate(0.2, STEEL), layered([plain(0.1), plain(0.2, density=9.0)])])
def test_the_mass_points_are_those_of_a_rigid_plate(plating: Plating, rotary: bool) -> None:
    a, b = 2.0, 3.0
    flat, triangles = grid(a, b, 3, 2)
    frame = turned(8)
    origin = np.array([1.0, -2.0, 0.5])
    places = flat @ frame.T + origin
    cloud = Shells(places, triangles, plating, direction=frame[:, 0], rotary=rotary).cloud()
    mass = plating.mass_per_area * a * b
    height = plating.first_per_area / plating.mass_per_area
    second = plating.rotary_per_area if rotary else plating.mass_per_area * height**2
    assert cloud.mass.sum() == pytest.approx(mass, rel=1e-13)
    centre = np.einsum("eg,egi->i", cloud.mass, cloud.place) / mass
    np.testing.assert_allclose(centre, origin + frame @ [a / 2, b / 2, height], rtol=1e-12)
    from_middle = cloud.place - (origin + frame @ [a / 2, b / 2, 0.0])
    moments = frame.T @ np.einsum("eg,egi,egj->ij", cloud.mass, from_middle, from_middle) @ frame
    np.testing.assert_allclose(
        moments, np.diag([mass * a**2 / 12, mass * b**2 / 12, second * a * b]), atol=1e-12 * mass * b**2
    )
    motions = rigid_motions(places)[Shells(places, triangles, plating, direction=frame[:, 0]).degrees]
    np.testing.assert_allclose(np.einsum("egik,ekm->egim", cloud.rows, motions), rigid_rows(cloud.place), atol=1e-13)


def test_the_mass_matrix_is_the_exact_integral_of_linear_functions() -> None:
    places = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.5, 1.5, 0.0]])
    family = Shells(places, [[0, 1, 2]], plain(0.1, density=40.0), rotary=False)
    matrix = family.cloud().mass_matrices()[0]
    expected = 0.1 * 40.0 * 1.5 / 12 * (np.ones((3, 3)) + np.eye(3))
    np.testing.assert_allclose(matrix[0::6, 0::6], expected, rtol=1e-13)
    np.testing.assert_allclose(matrix[2::6, 2::6], expected, rtol=1e-13)
    assert not matrix[3:6].any()


def supported(places: Array, side: float) -> Any:
    """Degrees of freedom held on a simply supported square: edges keep z and turn only about themselves."""
    on_x = select(places, lambda p: (p[:, 0] < 1e-9) | (p[:, 0] > side - 1e-9), (Z, RX))
    on_y = select(places, lambda p: (p[:, 1] < 1e-9) | (p[:, 1] > side - 1e-9), (Z, RY))
    flat = select(places, lambda p: p[:, 0] > -1, (X, Y, RZ))
    return np.unique(np.concatenate([on_x, on_y, flat]))


def test_the_frequencies_of_a_supported_plate_converge_to_kirchhoffs() -> None:
    plating = plain(0.01)
    exact = np.array([19.739209, 49.348022, 49.348022, 78.956835])
    errors = []
    for cells in (6, 12, 24):
        places, triangles = grid(1.0, 1.0, cells, cells)
        family = Shells(places, triangles, plating, rotary=False)
        stiff = assembled(len(places), family, family.stiffness())
        mass = assembled(len(places), family, family.cloud().mass_matrices())
        free = np.setdiff1d(np.arange(6 * len(places)), supported(places, 1.0))
        start = np.ones(len(free))
        values = eigsh(stiff[free][:, free], 4, mass[free][:, free], sigma=0.0, v0=start, return_eigenvectors=False)
        found = np.sqrt(np.sort(values) * plating.mass_per_area / plating.abd()[2][0, 0])
        errors.append(np.abs(found / exact - 1))
    assert np.all(errors[2] < 0.01)
    assert np.all(errors[2] < 0.35 * errors[1])
    assert np.all(errors[1] < 0.35 * errors[0])


def test_a_supported_square_plate_buckles_at_four() -> None:
    # N = k pi^2 D / a^2 with k = 4 (Timoshenko and Gere, Theory of Elastic Stability, section 9.2).
    plating = plain(0.01)
    errors = []
    for cells in (8, 16, 32):
        places, triangles = grid(1.0, 1.0, cells, cells)
        family = Shells(places, triangles, plating)
        stiff = assembled(len(places), family, family.stiffness())
        # The prestress comes from statics: unit force per length presses along x, y is free. The boundary moves as a
        # cubic (Felippa 2003), so the load has moments ALPHA l^2 / 12 too, which cancel but at the corners.
        load = np.zeros((len(places), 6))
        for edge, sign in ((0.0, 1.0), (1.0, -1.0)):
            nodes = np.flatnonzero(np.abs(places[:, 0] - edge) < 1e-9)
            load[nodes, X] = sign / cells
            load[nodes[[0, -1]], X] /= 2
            load[nodes[[0, -1]], RZ] = np.array([-1, 1]) * sign * ALPHA / cells**2 / 12
        forces = family.resultants(solved(stiff, load.ravel(), np.arange(6))[family.degrees])
        np.testing.assert_allclose(forces, np.broadcast_to([-1.0, 0.0, 0.0], forces.shape), atol=1e-8)
        stress = assembled(len(places), family, family.geometric(forces))
        free = np.setdiff1d(np.arange(6 * len(places)), supported(places, 1.0))
        start = np.ones(len(free))
        largest = eigsh(
            -stress[free][:, free], 1, stiff[free][:, free], which="LA", v0=start, return_eigenvectors=False
        )
        errors.append(abs(1 / largest[0] / (math.pi**2 * plating.abd()[2][0, 0]) / 4 - 1))
    assert errors[2] < 0.5 * errors[1] < 0.25 * errors[0]
    assert errors[2] < 1e-3


def test_tension_stiffens_by_the_work_of_the_second_order_strain() -> None:
    frame = turned(9)
    flat, triangles = distorted(5)
    family = Shells(flat @ frame.T, triangles, plain(), direction=frame[:, 0])
    slope = np.random.default_rng(1).normal(size=(3, 2))  # displacement gradient along x and y of the plane
    u = np.zeros((len(flat), 6))
    u[:, :3] = flat[:, :2] @ slope.T @ frame.T
    forces = np.array([3.0, -2.0, 0.7])
    matrix = assembled(len(flat), family, family.geometric(np.broadcast_to(forces, (len(triangles), 3))))
    tensor = np.array([[3.0, 0.7], [0.7, -2.0]])
    assert u.ravel() @ (matrix @ u.ravel()) == pytest.approx(np.trace(slope @ tensor @ slope.T), rel=1e-12)


def roof(cells: int, *, rising: bool) -> float:
    """Scordelis and Lo's roof under its weight, one quarter: deflection of the middle of the free edge."""
    radius, length, half_angle = 25.0, 50.0, math.radians(40)
    flat, triangles = grid(half_angle, length / 2, cells, cells, rising=rising)
    angle, along = flat[:, 0], flat[:, 1]
    places = np.stack([radius * np.sin(angle), along, radius * np.cos(angle)], axis=1)
    family = Shells(places, triangles, plain(0.25, young=4.32e8, poisson=0.0))
    load = np.zeros((len(places), 6))
    np.add.at(load[:, Z], triangles, -90.0 * family.area[:, None] / 3)
    held = [
        select(flat, lambda p: p[:, 1] < 1e-9, (X, Z, RY)),  # rigid diaphragm
        select(flat, lambda p: p[:, 1] > length / 2 - 1e-9, (Y, RX, RZ)),
        select(flat, lambda p: p[:, 0] < 1e-9, (X, RY, RZ)),
    ]
    matrix = assembled(len(places), family, family.stiffness())
    u = solved(matrix, load.ravel(), np.unique(np.concatenate(held)))
    return float(-u[6 * int(np.argmax(angle + along)) + Z])


def test_scordelis_los_roof() -> None:
    # MacNeal and Harder 1985 compare with 0.3024; thin (Kirchhoff-Love) shells converge to 0.3006
    # (Kiendl, Isogeometric analysis and shape optimal design of shell structures, Munich 2011, section 6.2.1).
    rising, falling = ([roof(cells, rising=way) for cells in (8, 16, 32)] for way in (True, False))
    for found in (rising, falling):
        assert abs(found[2] - 0.3006) < abs(found[1] - 0.3006) < abs(found[0] - 0.3006)
        assert found[2] == pytest.approx(0.3006, rel=2e-3)


def test_the_pinched_cylinder() -> None:
    # 1.8248e-5, of the obstacle course of Belytschko and others 1985: rigid diaphragms, unit forces,
    # R = L/2 = 300, h = 3, E = 3e6, nu = 0.3. One eighth is modelled.
    errors = []
    for cells in (8, 16, 32):
        flat, triangles = grid(math.pi / 2, 300.0, cells, cells, rising=False)
        angle, along = flat[:, 0], flat[:, 1]
        places = np.stack([300 * np.sin(angle), along, 300 * np.cos(angle)], axis=1)
        family = Shells(places, triangles, plain(3.0, young=3e6, poisson=0.3))
        load = np.zeros(6 * len(places))
        under = int(np.argmax(along - angle))
        load[6 * under + Z] = -0.25
        held = [
            select(flat, lambda p: p[:, 1] < 1e-9, (X, Z, RY)),
            select(flat, lambda p: p[:, 1] > 300 - 1e-9, (Y, RX, RZ)),
            select(flat, lambda p: p[:, 0] < 1e-9, (X, RY, RZ)),
            select(flat, lambda p: p[:, 0] > math.pi / 2 - 1e-9, (Z, RX, RY)),
        ]
        matrix = assembled(len(places), family, family.stiffness())
        u = solved(matrix, load, np.unique(np.concatenate(held)))
        errors.append(abs(-u[6 * under + Z] / 1.8248e-5 - 1))
    assert errors[-1] < 0.01
    assert errors[2] < 0.5 * errors[1] < 0.25 * errors[0]


def test_a_square_tube_twists_as_bredt_says() -> None:
    # Torsion of a thin closed box, both ends free to warp: angle = T L / (G J), J = 4 A^2 h / perimeter = side^3 h.
    side, length, h, per_side, along = 1.0, 4.0, 0.02, 2, 8
    around = 4 * per_side
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * side - side / 2
    ring = np.concatenate([np.linspace(corners[i], corners[(i + 1) % 4], per_side + 1)[:-1] for i in range(4)])
    places = np.concatenate([np.column_stack([ring, np.full(around, z)]) for z in np.linspace(0, length, along + 1)])
    cells = [(a * around + i, a * around + (i + 1) % around) for a in range(along) for i in range(around)]
    triangles = [t for a, b in cells for t in ((a, b, b + around), (a, b + around, a + around))]
    family = Shells(places, triangles, plain(h, young=1.0, poisson=0.0))
    load = np.zeros((len(places), 6))
    flow = 1 / (2 * side**2)  # Bredt: shear flow of unit torque
    for level, sign in ((along, 1.0), (0, -1.0)):
        for i in range(around):
            a, b = level * around + i, level * around + (i + 1) % around
            load[[a, b], :3] += sign * flow * (places[b] - places[a]) / 2
    u = solved(assembled(len(places), family, family.stiffness()), load.ravel(), np.arange(6)).reshape(-1, 6)
    middle = [np.mean(u[a * around : (a + 1) * around], axis=0) for a in (along // 4, 3 * along // 4)]
    ring3 = np.column_stack([ring, np.zeros(around)])
    turn = [
        np.mean(np.cross(ring3, u[a * around : (a + 1) * around, :3] - m[:3])[:, 2])
        for a, m in zip((along // 4, 3 * along // 4), middle, strict=True)
    ]
    turn = [t / np.mean(np.sum(ring3**2, axis=1)) for t in turn]
    assert turn[1] - turn[0] == pytest.approx((length / 2) / (0.5 * side**3 * h), rel=0.01)


def test_a_plate_bends_to_the_stress_of_its_moment() -> None:
    # A strip with nu = 0 under an end moment: stress 6 M / h^2 at the faces, everywhere.
    places, triangles = grid(4.0, 1.0, 4, 2)
    family = Shells(places, triangles, plain(0.1, poisson=0.0))
    load = np.zeros((len(places), 6))
    tip = np.flatnonzero(places[:, 0] > 4 - 1e-9)
    load[tip, RY] = [0.25, 0.5, 0.25]
    wall = select(places, lambda p: p[:, 0] < 1e-9, range(6))
    u = solved(assembled(len(places), family, family.stiffness()), load.ravel(), wall)[family.degrees]
    np.testing.assert_allclose(family.stress(u).mises, 600.0, rtol=1e-8)
    np.testing.assert_allclose(family.stress(u, z=-0.05).components[..., 0], -600.0, rtol=1e-8)
    np.testing.assert_allclose(family.stress(u, z=0.0).mises, 0.0, atol=1e-6)


def test_stress_of_bending_in_the_plane_converges() -> None:
    # Stress along x equal to y: displacements of the exact field at the nodes, error of the recovered stress.
    errors = []
    for cells in (2, 4, 8):
        places, triangles = grid(2.0, 1.0, 2 * cells, cells)
        x, y = places[:, 0], places[:, 1] - 0.5
        family = Shells(places, triangles, plain(0.1, poisson=0.3))
        u = np.zeros((len(places), 6))
        u[:, X], u[:, Y], u[:, RZ] = x * y, -(x**2) / 2 - 0.3 * y**2 / 2, -x
        found = family.stress(u.ravel()[family.degrees], z=0.0).components
        at = np.concatenate([y[triangles].mean(axis=1, keepdims=True), y[triangles]], axis=1)
        exact = np.stack([at, 0 * at, 0 * at], axis=2)
        errors.append(np.max(np.abs(found - exact), axis=(0, 2)))
    np.testing.assert_allclose(errors[1], errors[0] / 2, rtol=1e-9)  # first order, as linear stress in triangles
    np.testing.assert_allclose(errors[2], errors[1] / 2, rtol=1e-9)
    assert np.all(errors[2] < 1 / 8)  # within what the stress changes over one element


def test_viscosity_is_retardation_time_times_stiffness() -> None:
    places, triangles = grid(1.0, 1.0, 1, 1)
    viscous = Shells(places, triangles, Plate(0.1, Material(1.0, 1.0, poisson=0.3, viscosity=0.25)))
    damping = viscous.viscosity()
    assert damping is not None
    np.testing.assert_allclose(damping, 0.25 * viscous.stiffness(), rtol=1e-14)
    assert Shells(places, triangles, plain()).viscosity() is None


def test_the_material_direction_turns_the_plate() -> None:
    # Stiff fibres along the direction, or a ply turned by the angle between them: the same plate.
    places, triangles = grid(1.0, 1.0, 2, 2)
    turned_ply = Orthotropic(0.1, 14.0, 1.0, 0.3, 0.5, 1.0, angle=0.6)
    along = (math.cos(0.6), math.sin(0.6), 5.0)  # its projection counts
    np.testing.assert_allclose(
        Shells(places, triangles, CARBON, direction=along).stiffness(),
        Shells(places, triangles, turned_ply).stiffness(),
        atol=1e-12,
    )


def test_stiffness_does_not_depend_on_the_first_corner_or_the_axes() -> None:
    places = np.random.default_rng(7).normal(size=(3, 3))
    one = Shells(places, [[0, 1, 2]], plain())
    for other in (
        Shells(places, [[1, 2, 0]], plain()),
        Shells(places, [[0, 1, 2]], plain(), direction=(0.3, -1.0, 2.0)),
        Shells(places, [[0, 2, 1]], plain()),
    ):
        whole = [assembled(3, family, family.stiffness()).toarray() for family in (one, other)]
        np.testing.assert_allclose(whole[1], whole[0], atol=1e-12 * np.max(np.abs(whole[0])))


def test_wrong_shells_are_refused() -> None:
    places, triangles = grid(1.0, 1.0, 1, 1)
    with pytest.raises(ModelError, match=r"triangle 1 \(nodes 0, 1, 9\)"):
        Shells(places, [[0, 1, 2], [0, 1, 9]], plain())
    with pytest.raises(ModelError, match=r"triangle 0 \(nodes 0, 1, 1\) has no area"):
        Shells(places, [[0, 1, 1]], plain())
    with pytest.raises(ModelError, match="direction"):
        Shells(places, triangles, plain(), direction=(0, 0, 0))
    with pytest.raises(ModelError, match="stands across the material direction"):
        Shells(places, triangles, CARBON, direction=(0, 0, 1))
    assert Shells(places, triangles, plain(), direction=(0, 0, 1)).axes.shape == (2, 3, 3)
    u = np.zeros((2, 18))
    matrix = np.diag([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    with pytest.raises(ModelError, match="thickness of the laminate"):
        Shells(places, triangles, Laminate(tuple(map(tuple, matrix)), 1.0)).stress(u)
    with pytest.raises(ModelError, match="matrix alone"):
        Shells(places, triangles, Laminate(tuple(map(tuple, matrix)), 1.0, 0.1)).stress(u)
    with pytest.raises(ModelError, match="outside the plate"):
        Shells(places, triangles, plain()).stress(u, z=1.0)


def test_twenty_thousand_triangles_take_no_more_calls_than_two_hundred() -> None:
    """All triangles are computed together, in arrays."""
    few, many = grid(1.0, 1.0, 10, 10), grid(1.0, 1.0, 100, 100)
    assert Shells(*many, plain()).stiffness().shape == (20000, 18, 18)
    counts = [calls(lambda each=each: Shells(*each, plain()).stiffness()) for each in (few, many)]
    assert counts[0] == counts[1] < 5_000
