"""Tables of flexible bodies against closed forms: inertia, inertia coupling, stiffening, shortening, damping."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from scipy import linalg
from scipy.integrate import quad, solve_ivp

from cotree.errors import ModelError
from cotree.fem.beam import Beams
from cotree.fem.element import Lumps, degrees_of, rigid_motions
from cotree.fem.material import Material
from cotree.fem.mesh import grid, line, polyline
from cotree.fem.plate import Plate
from cotree.fem.reduction import Basis, Reference, craig_bampton, nodal, vibration
from cotree.fem.section import general
from cotree.fem.shell import Shells
from cotree.fem.structure import Structure, Tie
from cotree.fem.tables import Tables, tables

LENGTH, YOUNG, DENSITY, AREA, BENDING = 2.0, 2.0e11, 8000.0, 1e-4, 1e-9
LINE = DENSITY * AREA  # mass of a unit of length
TIME = 1e-4
MATERIAL = Material(young=YOUNG, density=DENSITY, poisson=0.3, viscosity=TIME)
ROOT = Reference.node(0)


def beam(mesh, **options: object) -> Structure:
    """An Euler-Bernoulli beam with its mass on the centre line."""
    given = {"shear": False, "rotary": False} | options
    section = general(AREA, 2 * BENDING, BENDING, 2e-9, 1.0, 1.0)
    return Structure(mesh.nodes, [Beams(mesh.nodes, mesh.lines, section, MATERIAL, **given)])


def cantilever(elements: int = 8, start: float = 0.0) -> Structure:
    return beam(line((start, 0.0, 0.0), (start + LENGTH, 0.0, 0.0), elements))


def as_basis(shapes: np.ndarray) -> Basis:
    count = shapes.shape[1]
    return Basis(shapes, tuple(f"q{k}" for k in range(count)), np.full(count, np.nan), ("m",) * count)


def parabola(structure: Structure) -> Basis:
    """Deflections x^2 along y and along z, which cubic elements hold exactly."""
    x = structure.places[:, 0]
    shapes = np.zeros((len(x), 6, 2))
    shapes[:, 1, 0], shapes[:, 5, 0] = x**2, 2 * x
    shapes[:, 2, 1], shapes[:, 4, 1] = x**2, -2 * x
    return as_basis(shapes.reshape(-1, 2))


def clamped_free(x: float) -> tuple[float, float]:
    """The first mode of a cantilever of unit length with unit deflection of its tip, and its slope."""
    b = 1.8751040687119611
    k = (np.cos(b) + np.cosh(b)) / (np.sin(b) + np.sinh(b))
    tip = np.cosh(b) - np.cos(b) - k * (np.sinh(b) - np.sin(b))
    value = np.cosh(b * x) - np.cos(b * x) - k * (np.sinh(b * x) - np.sin(b * x))
    slope = b * (np.sinh(b * x) + np.sin(b * x) - k * (np.cosh(b * x) - np.cos(b * x)))
    return value / tip, slope / tip


def skew(v: np.ndarray) -> np.ndarray:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def test_mass_centre_and_inertia_of_a_tilted_plate_with_a_lump() -> None:
    a, b, h = 2.0, 1.0, 0.1
    along, across = np.array([0.8, 0.0, 0.6]), np.array([0.0, 1.0, 0.0])
    mesh = grid(size=(a, b), cells=(4, 2), axes=(along, across), origin=(1.0, 2.0, 3.0))
    inertia = np.diag([0.3, 0.4, 0.5])
    lump = Lumps(mesh.nodes, [0], [5.0], [inertia], [(0.1, 0.2, 0.3)])
    structure = Structure(mesh.nodes, [Shells(mesh.nodes, mesh.triangles, Plate(h, MATERIAL)), lump])
    found = tables(structure, vibration(structure, ROOT, 1), {}, reference=ROOT, second_order=False)
    plate = DENSITY * a * b * h
    centre = np.array([1.0, 2.0, 3.0]) + a / 2 * along + b / 2 * across
    axes = np.array([along, across, np.cross(along, across)])
    second = axes.T @ np.diag([a**2, b**2, h**2]) @ axes * plate / 12 + plate * np.outer(centre, centre)
    place = mesh.nodes[0] + [0.1, 0.2, 0.3]
    second += np.eye(3) * np.trace(inertia) / 2 - inertia + 5 * np.outer(place, place)
    assert found.mass == pytest.approx(plate + 5)
    np.testing.assert_allclose(found.first, plate * centre + 5 * place, rtol=1e-12)
    np.testing.assert_allclose(found.second, second, rtol=1e-12, atol=1e-12 * plate)


def test_rigid_motions_as_shapes_have_the_inertia_of_a_rigid_body_and_no_strain() -> None:
    mesh = grid(size=(1.0, 0.5), cells=(2, 2), axes=((0.8, 0.0, 0.6), (0.0, 1.0, 0.0)), origin=(1.0, -2.0, 0.5))
    structure = Structure(mesh.nodes, [Shells(mesh.nodes, mesh.triangles, Plate(0.05, MATERIAL))])
    found = tables(structure, as_basis(rigid_motions(mesh.nodes)), {"a": 3}, reference=ROOT, second_order=False)
    np.testing.assert_allclose(found.first_q[:, :3], found.mass * np.eye(3), atol=1e-12 * found.mass)
    np.testing.assert_allclose(found.first_q[:, 3:], -skew(found.first), atol=1e-12 * found.mass)
    # s0_a (e_k x s0)_b = (s0 s0^T skew(e_k)^T)_ab
    turned = np.stack([found.second @ skew(axis).T for axis in np.eye(3)], axis=2)
    np.testing.assert_allclose(found.second_q[:, :, 3:], turned, atol=1e-12 * found.mass)
    matrix = np.einsum("aakl->kl", found.second_qq)
    np.testing.assert_allclose(
        matrix[3:, 3:], np.trace(found.second) * np.eye(3) - found.second, atol=1e-12 * found.mass
    )
    np.testing.assert_allclose(found.frames["a"].move[:, 3:], -skew(mesh.nodes[3]), atol=1e-12)
    np.testing.assert_allclose(found.frames["a"].turn, np.eye(6)[3:], atol=0)
    assert np.abs(found.stiffness).max() < 1e-12 * np.abs(structure.stiffness).max()


def test_integrals_of_a_parabola() -> None:
    found = tables(structure := cantilever(), parabola(structure), {"tip": 8}, reference=ROOT)
    powers = {p: LINE * LENGTH ** (p + 1) / (p + 1) for p in range(5)}  # integrals of x^p
    np.testing.assert_allclose(found.first_q, [[0, 0], [powers[2], 0], [0, powers[2]]], rtol=1e-12)
    np.testing.assert_allclose(found.second_q[0], [[0, 0], [powers[3], 0], [0, powers[3]]], rtol=1e-12)
    assert not found.second_q[1:].any()
    np.testing.assert_allclose(found.second_qq[1, 2], [[0, powers[4]], [0, 0]], rtol=1e-12)
    np.testing.assert_allclose(np.einsum("aakl->kl", found.second_qq), powers[4] * np.eye(2), rtol=1e-12)
    bending = YOUNG * BENDING * 4 * LENGTH
    np.testing.assert_allclose(found.stiffness, np.diag([bending, 2 * bending]), rtol=1e-9)
    np.testing.assert_allclose(found.damping, TIME * found.stiffness, rtol=1e-12)
    np.testing.assert_allclose(found.frames["tip"].move, [[0, 0], [4, 0], [0, 4]])
    np.testing.assert_allclose(found.frames["tip"].turn, [[0, 0], [0, -4], [4, 0]])


def test_shortening_and_stiffening_of_a_parabola() -> None:
    """G of a unit load is the integral of its axial force times the squared slope, 4 x^2."""
    found = tables(structure := cantilever(), parabola(structure), {"tip": 8, "middle": 4}, reference=ROOT)
    for frame, end in (("tip", LENGTH), ("middle", LENGTH / 2)):  # N = 1 up to the load
        np.testing.assert_allclose(found.frames[frame].move_2[0], 4 * end**3 / 3 * np.eye(2), rtol=1e-9)
        assert not found.frames[frame].move_2[1:].any()
        assert not found.frames[frame].turn_2.any()
    # N = rho A (L - x), and rho A (L^2 - x^2) / 2 in the centrifugal field
    np.testing.assert_allclose(found.first_2[0], LINE * LENGTH**4 / 3 * np.eye(2), rtol=1e-9)
    np.testing.assert_allclose(found.second_2[0, 0], LINE * LENGTH**5 * 4 / 15 * np.eye(2), rtol=1e-9)
    assert not found.first_2[1:].any()
    assert not found.second_2[1:].any()
    assert not found.second_2[0, 1:].any()


def test_stiffening_of_the_first_mode_of_a_cantilever() -> None:
    structure = cantilever(16)
    held = [6 * node + degree for node in range(17) for degree in (0, 2, 3, 4)]  # the axial force stays without x
    found = tables(structure, vibration(structure, ROOT, 1, held=held), {"tip": 16}, reference=ROOT)
    tip = quad(lambda x: clamped_free(x)[1] ** 2, 0, 1)[0] / LENGTH
    field = quad(lambda x: (1 - x**2) / 2 * clamped_free(x)[1] ** 2, 0, 1)[0] * LINE * LENGTH
    assert found.frames["tip"].move_2[0, 0, 0] == pytest.approx(tip, rel=1e-6)
    assert found.second_2[0, 0, 0, 0] == pytest.approx(field, rel=1e-6)
    # A cantilever on a hub turning at w about z has w_1^2 + (1.193 - 1) w^2 in the plane (Southwell's coefficient).
    mass = found.second_qq[1, 1, 0, 0]
    assert found.second_2[0, 0, 0, 0] / mass == pytest.approx(1.193, abs=5e-4)


@pytest.mark.parametrize(("count", "least"), [(1, -0.57826), (2, -0.57355), (4, -0.57434)])
def test_spin_up_of_a_beam(count: int, least: float) -> None:
    """A cantilever on a hub that spins up to 6 rad/s in 15 s: least deflection of the tip in linear theory."""
    mesh = line((0.0, 0.0, 0.0), (10.0, 0.0, 0.0), 16)
    material = Material(young=1.4e4, density=1.2, poisson=0.3)
    section = general(1.0, 1.0, 1.0, 1.0, 1.0, 1.0)  # EI = 1.4e4 N m^2, 1.2 kg/m; x is held below
    structure = Structure(mesh.nodes, [Beams(mesh.nodes, mesh.lines, section, material, shear=False, rotary=False)])
    held = [6 * node + degree for node in range(17) for degree in (0, 2, 3, 4)]
    found = tables(structure, vibration(structure, ROOT, count, held=held), {"tip": 16}, reference=ROOT)
    mass = np.einsum("aakl->kl", found.second_qq)

    def rates(t: float, state: np.ndarray) -> np.ndarray:
        speed = 6 * (t / 15 - np.sin(2 * np.pi * t / 15) / 2 / np.pi)
        pull = 6 / 15 * (1 - np.cos(2 * np.pi * t / 15))
        q, rate = np.split(state, 2)
        stiffness = found.stiffness + speed**2 * (found.second_2[0, 0] - mass)
        return np.concatenate([rate, np.linalg.solve(mass, -stiffness @ q - pull * found.second_q[0, 1])])

    times = np.linspace(5, 9, 401)
    run = solve_ivp(rates, (0, 9), np.zeros(2 * count), "DOP853", times, rtol=1e-8, atol=1e-10)
    assert (found.frames["tip"].move[1] @ run.y[:count]).min() == pytest.approx(least, abs=6e-6)


def test_a_column_buckles_at_eulers_loads() -> None:
    structure = cantilever(16)
    basis = nodal(structure, ROOT)
    found = tables(structure, basis, {"tip": 16}, reference=ROOT)
    inverse = linalg.eigh(found.frames["tip"].move_2[0], found.stiffness, eigvals_only=True)[::-1]
    euler = (np.pi * np.array([1, 3]) / 2 / LENGTH) ** 2 * YOUNG * BENDING
    loads = np.sort(np.concatenate([euler, 2 * euler]))
    error = 1 / inverse[:3] / loads[:3] - 1
    bound = (np.pi / 2 / 16 * np.array([1, 1, 3])) ** 4 / 720  # of cubic elements, from above
    assert (error > -1e-9).all()
    assert (error < 1.2 * bound).all()


def test_a_chord_carries_axial_force_between_its_ends() -> None:
    slope = np.pi**2 / 2 / LENGTH  # integral of the squared slope of sin(pi x / L)
    errors = []
    for elements in (8, 16):
        structure, reference = cantilever(elements), Reference.chord(0, elements)
        frames = {"end": elements, "start": 0}
        found = tables(structure, vibration(structure, reference, [1]), frames, reference=reference)
        assert not found.frames["start"].move_2.any()
        along = found.frames["end"].move_2[0, 0, 0]
        assert found.first_2[0, 0, 0] == pytest.approx(LINE * LENGTH * along / 2, rel=1e-9)  # N = rho A (L - x)
        errors.append(abs(along / slope - 1))
    assert errors[0] < 1e-4
    assert errors[1] < errors[0] / 14  # fourth order


def test_mean_axes_balance_every_load_by_inertia() -> None:
    structure = cantilever(16, start=-LENGTH / 2)
    shapes = np.zeros((17, 6, 1))
    x = structure.places[:, 0]
    shapes[:, 1, 0], shapes[:, 5, 0] = x**2, 2 * x  # no mean axes are needed of the shapes for G
    found = tables(structure, as_basis(shapes.reshape(-1, 1)), {"end": 16}, reference=Reference.mean())
    half = LENGTH / 2
    assert not found.first_2.any()
    # N = rho A (h^2 - x^2) / 2; a unit force at the end x = h is spread over the mass: N = (x + h) / 2 h
    assert found.second_2[0, 0, 0, 0] == pytest.approx(LINE * 4 * half**5 * (1 / 3 - 1 / 5), rel=1e-9)
    assert found.frames["end"].move_2[0, 0, 0] == pytest.approx(4 * half**3 / 3, rel=1e-9)
    np.testing.assert_allclose(found.second_2, found.second_2.transpose(1, 0, 2, 3), atol=1e-12)


def test_the_frame_of_an_angle_passes_forces_round_its_corner() -> None:
    """One leg along x, one along y from its end: a force along x at the tip is the axial force of the first leg.

    The first leg turns the second by its slope 2, so that the deflection of the second, 1 at its tip, leans by 2
    against x: the tip moves by -2 q1 q2, which G has at both places beside the diagonal.
    """
    structure = beam(polyline([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0)], [4, 4]))
    shapes = np.zeros((9, 6, 2))
    x = structure.places[:5, 0]
    shapes[:5, 2, 0], shapes[:5, 4, 0] = x**2, -2 * x  # the first leg bends along z ...
    shapes[5:, 2, 0], shapes[5:, 4, 0] = 1.0, -2.0  # ... and carries the second, which does not bend
    y = structure.places[4:, 1]
    shapes[4:, 2, 1], shapes[4:, 3, 1] = y**2, 2 * y  # the second leg bends alone
    found = tables(structure, as_basis(shapes.reshape(-1, 2)), {"tip": 8}, reference=ROOT).frames["tip"]
    np.testing.assert_allclose(found.move_2[0], [[4 / 3, 2], [2, 0]], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.move_2[1], [[0, 0], [0, 4 / 3]], rtol=1e-9, atol=1e-12)


def test_a_strip_of_shells_stiffens_as_a_beam() -> None:
    """Axial load on the mass, free of Poisson's effect; linear slopes converge with the square of the size."""
    errors = []
    exact = DENSITY * 0.01 * 0.2 * quad(lambda x: (1 - x) * clamped_free(x)[1] ** 2, 0, 1)[0]
    for cells in (8, 16):
        mesh = grid(size=(LENGTH, 0.2), cells=(cells, 2))
        edge = [n for n in range(len(mesh.nodes)) if mesh.nodes[n, 0] == 0.0]
        shells = Shells(mesh.nodes, mesh.triangles, Plate(0.01, Material(young=YOUNG, density=DENSITY, poisson=0.0)))
        structure = Structure(mesh.nodes, [shells], ties=[Tie(edge[0], tuple(edge[1:]))])
        reference = Reference.node(edge[0])
        found = tables(structure, vibration(structure, reference, 1), {}, reference=reference)
        errors.append(found.first_2[0, 0, 0] / exact - 1)
    assert abs(errors[1]) < abs(errors[0]) / 3
    assert abs(errors[0]) < (1.9 / 8) ** 2 / 4


def test_modal_and_nodal_tables_tell_the_same() -> None:
    structure = cantilever(3)
    fine = tables(structure, basis := nodal(structure, ROOT), {"tip": 3}, reference=ROOT, damping_ratio=0.02)
    modes = vibration(structure, ROOT, len(basis.names))
    found = tables(structure, modes, {"tip": 3}, reference=ROOT, damping_ratio=0.02)
    change = np.linalg.lstsq(basis.shapes, modes.shapes, rcond=None)[0]
    np.testing.assert_allclose(basis.shapes @ change, modes.shapes, atol=1e-9)
    size = np.sqrt(np.outer(found.stiffness.diagonal(), found.stiffness.diagonal()))
    for name in ("stiffness", "damping"):
        turned = change.T @ getattr(fine, name) @ change
        np.testing.assert_allclose(turned / size, getattr(found, name) / size, atol=1e-7)
    np.testing.assert_allclose(change.T @ fine.first_2[0] @ change, found.first_2[0], atol=1e-8 * LINE)
    tip = found.frames["tip"]
    np.testing.assert_allclose(change.T @ fine.frames["tip"].move_2[0] @ change, tip.move_2[0], atol=1e-7)


def clamped_pinned(x: float) -> tuple[float, float]:
    """The first mode of a beam of unit length, clamped at 0 and pinned at 1, and its slope."""
    b = 3.9266023120479137
    k = (np.cosh(b) - np.cos(b)) / (np.sinh(b) - np.sin(b))
    value = np.cosh(b * x) - np.cos(b * x) - k * (np.sinh(b * x) - np.sin(b * x))
    return value, b * (np.sinh(b * x) + np.sin(b * x) - k * (np.cosh(b * x) - np.cos(b * x)))


def strip(cells: int) -> tuple[Structure, np.ndarray, int, Reference]:
    """A strip of a plate without contraction, its left edge rigid; degrees of freedom of hinges on the right."""
    mesh = grid(size=(LENGTH, 0.1), cells=(cells, 2))
    middle = mesh.node_at((0.0, 0.05, 0.0))
    plate = Plate(0.01, Material(YOUNG, DENSITY, poisson=0.0))
    ties = [Tie(middle, tuple(node for node in mesh.group("left") if node != middle))]
    structure = Structure(mesh.nodes, [Shells(mesh.nodes, mesh.triangles, plate)], ties=ties)
    held = structure.degrees(mesh.group("right"), "x y z")
    return structure, held, mesh.node_at((LENGTH / 2, 0.05, 0.0)), Reference.node(middle)


def test_supports_at_the_far_end_share_a_force_along_a_strip() -> None:
    """A unit force half way pulls the left half by 1/2 and presses the right half by 1/2: G = int N w'^2."""
    structure, held, mid, reference = strip(32)
    basis = vibration(structure, reference, 1, held=held)
    found = tables(structure, basis, {"mid": mid}, reference=reference, held=held)
    peak = max(abs(clamped_pinned(x)[0]) for x in np.linspace(0, 1, 10001))
    left, right = (
        quad(lambda x: clamped_pinned(x)[1] ** 2, *ends)[0] / peak**2 / LENGTH for ends in ((0, 0.5), (0.5, 1))
    )
    assert (left - right) / 2 < 0
    assert found.frames["mid"].move_2[0, 0, 0] == pytest.approx((left - right) / 2, rel=0.01)
    # The weight of the strip along x: N from +1/2 to -1/2 of the whole, in a straight line.
    load = quad(lambda x: (0.5 - x) * clamped_pinned(x)[1] ** 2, 0, 1)[0] / peak**2 / LENGTH
    assert found.first_2[0, 0, 0] == pytest.approx(found.mass * load, rel=0.01)
    free = tables(structure, basis, {"mid": mid}, reference=reference)
    assert free.frames["mid"].move_2[0, 0, 0] == pytest.approx(left, rel=0.01)  # nothing holds the right end


def test_tables_keep_the_shapes_of_their_coordinates() -> None:
    structure = cantilever(4)
    basis = vibration(structure, ROOT, 2)
    found = tables(structure, basis, {"tip": 4}, reference=ROOT)
    np.testing.assert_array_equal(found.shapes, basis.shapes)
    assert found.shapes is not basis.shapes


def test_modal_damping_is_a_fraction_of_critical() -> None:
    structure = cantilever(4)
    basis = craig_bampton(structure, ROOT, {4: [1, 2]}, modes=2)
    ratios = [0.01, 0.02, 0.03, 0.04]
    found = tables(structure, basis, {}, reference=ROOT, damping_ratio=ratios, second_order=False)
    mass = np.einsum("aakk->k", found.second_qq)
    expected = TIME * found.stiffness.diagonal() + 2 * np.array(ratios) * basis.frequencies * mass
    np.testing.assert_allclose(found.damping, np.diag(expected), rtol=1e-7)
    assert np.count_nonzero(found.damping) == np.count_nonzero(found.stiffness) == 4
    with pytest.raises(ModelError, match=r"2 damping ratios are given\. Expected one, or 4"):
        tables(structure, basis, {}, reference=ROOT, damping_ratio=[0.1, 0.2])
    with pytest.raises(ModelError, match="negative"):
        tables(structure, basis, {}, reference=ROOT, damping_ratio=-0.1)
    with pytest.raises(ModelError, match="frame 'tip' is at node 5"):
        tables(structure, basis, {"tip": 5}, reference=ROOT)


def test_the_mass_matrix_is_that_of_the_structure() -> None:
    mesh = grid(size=(1.0, 1.0), cells=(4, 4))
    structure = Structure(mesh.nodes, [Shells(mesh.nodes, mesh.triangles, Plate(0.01, MATERIAL))])
    basis = vibration(structure, Reference.mean(), 6)
    found = tables(structure, basis, {"a": 0}, reference=Reference.mean())
    matrix = basis.shapes.T @ (structure.mass @ basis.shapes)
    np.testing.assert_allclose(np.einsum("aakl->kl", found.second_qq), matrix, atol=1e-10 * matrix.max())
    np.testing.assert_allclose(found.second_qq, found.second_qq.transpose(1, 0, 3, 2), atol=0)
    assert np.abs(found.first_q).max() < 1e-10 * found.mass
    assert np.abs(found.second_q - found.second_q.transpose(1, 0, 2)).max() < 1e-10 * found.mass
    assert all(getattr(found, field.name) is not None for field in fields(Tables))
    assert found.frames["a"].move.shape == basis.shapes[degrees_of([0])[:3]].shape
