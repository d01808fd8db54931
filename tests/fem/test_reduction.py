"""Bases of flexible bodies against closed forms of beams and against independent eigenvalue problems."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from cotree.errors import ModelError
from cotree.fem.beam import Beams
from cotree.fem.element import degrees_of, rigid_motions
from cotree.fem.material import Material
from cotree.fem.mesh import grid, line
from cotree.fem.plate import Plate
from cotree.fem.reduction import Basis, Reference, craig_bampton, nodal, vibration
from cotree.fem.section import general
from cotree.fem.shell import Shells
from cotree.fem.structure import Structure, Tie

LENGTH, YOUNG, DENSITY = 2.0, 2.0e11, 8000.0
AREA, BENDING = 1e-4, 1e-9
STIFFNESS = YOUNG * BENDING
SPEED = np.sqrt(STIFFNESS / (DENSITY * AREA)) / LENGTH**2  # omega = (beta L)^2 times this
MATERIAL = Material(young=YOUNG, density=DENSITY, poisson=0.3)
CLAMPED = np.array([1.875104068711961, 4.694091132974174, 7.854757438237613])  # cos x cosh x = -1
FREE = np.array([4.730040744862704, 7.853204624095838, 10.995607838001671])  # cos x cosh x = 1
OBLIQUE = np.array([2.0, -1.0, 2.0]) / 3 * LENGTH


def beam(end: object = (LENGTH, 0.0, 0.0), elements: int = 16, iy: float = BENDING, **options: object) -> Structure:
    """An Euler-Bernoulli beam from the origin, its mass on the centre line."""
    mesh = line((0.0, 0.0, 0.0), end, elements)
    section = general(AREA, iy, BENDING, 2e-9, 1.0, 1.0)
    given = {"shear": False, "rotary": False} | options
    return Structure(mesh.nodes, [Beams(mesh.nodes, mesh.lines, section, MATERIAL, **given)])


def plane(structure: Structure) -> list[int]:
    """Degrees of freedom out of the plane xy."""
    return [6 * node + degree for node in range(len(structure.places)) for degree in (2, 3, 4)]


def reduced(structure: Structure, basis: Basis) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and mass in the coordinates of a basis."""
    phi = basis.shapes
    return phi.T @ (structure.stiffness @ phi), phi.T @ (structure.mass @ phi)


@pytest.mark.parametrize("end", [(LENGTH, 0.0, 0.0), OBLIQUE])
@pytest.mark.parametrize(
    ("reference", "roots"),
    [
        (Reference.node(0), CLAMPED),
        (Reference.chord(0, 16), np.pi * np.arange(1, 4)),
        (Reference.mean(), FREE),
    ],
)
def test_frequencies_are_those_of_the_clamped_the_pinned_and_the_free_beam(reference, roots, end) -> None:
    basis = vibration(beam(end), reference, 6)
    # Cubic elements converge from above with (beta h)^4 / 720.
    bound = (np.repeat(roots, 2) / 16) ** 4 / 720
    error = basis.frequencies / (SPEED * np.repeat(roots, 2) ** 2) - 1
    assert (error > -1e-9).all()
    assert (error < 1.2 * bound).all()
    assert basis.names == tuple(f"mode{k}" for k in range(1, 7))
    assert basis.units == ("m",) * 6


def test_a_chord_holds_its_line_and_nothing_else() -> None:
    structure = beam(OBLIQUE)
    shapes = vibration(structure, Reference.chord(0, 16), 8).shapes.reshape(-1, 6, 8)
    along = OBLIQUE / LENGTH
    assert np.abs(shapes[0, :3]).max() < 1e-12
    across = shapes[-1, :3] - np.outer(along, along @ shapes[-1, :3])
    assert np.abs(across).max() < 1e-12
    assert np.abs(along @ shapes[0, 3:]).max() < 1e-12
    assert np.abs(shapes[0, 3:]).max() > 0.5  # the ends turn


def test_mean_axes_are_orthogonal_to_rigid_motion() -> None:
    structure = beam(OBLIQUE, elements=6, rotary=True)
    momenta = structure.mass @ rigid_motions(structure.places)
    for basis in (
        vibration(structure, Reference.mean(), 5),
        craig_bampton(structure, Reference.mean(), {0: None, 6: None}, modes=2),
    ):
        assert np.abs(momenta.T @ basis.shapes).max() < 1e-11 * DENSITY * AREA * LENGTH


def test_interface_modes_of_a_cantilever_are_exact_for_tip_loads() -> None:
    structure = beam(elements=4, rotary=True)
    basis = craig_bampton(structure, Reference.node(0), {4: None}, modes=2)
    assert len(basis.names) == 8
    tip = degrees_of([4])
    flexibility = basis.shapes[tip] @ np.linalg.solve(reduced(structure, basis)[0], basis.shapes[tip].T)
    exact = np.zeros((6, 6))
    exact[0, 0] = LENGTH / (YOUNG * AREA)
    exact[3, 3] = LENGTH / (MATERIAL.shear_modulus * 2e-9)
    exact[1, 1] = exact[2, 2] = LENGTH**3 / 3 / STIFFNESS
    exact[4, 4] = exact[5, 5] = LENGTH / STIFFNESS
    exact[1, 5] = exact[5, 1] = LENGTH**2 / 2 / STIFFNESS
    exact[2, 4] = exact[4, 2] = -(LENGTH**2) / 2 / STIFFNESS
    np.testing.assert_allclose(flexibility, exact, rtol=1e-9, atol=1e-9 * exact[0, 0])


def test_interface_modes_under_mean_axes_bend_exactly() -> None:
    structure = beam(elements=4)
    basis = craig_bampton(structure, Reference.mean(), {0: [1, 5], 4: [1, 5]}, held=plane(structure))
    assert len(basis.names) == 2  # four interface degrees of freedom less two rigid motions
    moments = np.zeros(30)
    moments[[5, 29]] = -1.0, 1.0
    turned = basis.shapes @ np.linalg.solve(reduced(structure, basis)[0], basis.shapes.T @ moments)
    assert turned[29] - turned[5] == pytest.approx(LENGTH / STIFFNESS, rel=1e-9)


def test_interface_and_inner_modes_give_the_frequencies_of_the_whole() -> None:
    structure = beam()
    whole = vibration(structure, Reference.node(0), 4, held=plane(structure))
    basis = craig_bampton(structure, Reference.node(0), {16: [1, 5]}, modes=6, held=plane(structure))
    error = basis.frequencies[:4] / whole.frequencies - 1
    assert (error > -1e-9).all()  # Rayleigh-Ritz: from above
    assert (error < 1e-3).all()
    stiffness, mass = reduced(structure, basis)
    for matrix in (stiffness, mass):
        size = np.sqrt(np.outer(matrix.diagonal(), matrix.diagonal()))
        assert (np.abs(matrix - np.diag(matrix.diagonal())) < 1e-8 * size).all()
    np.testing.assert_allclose(stiffness.diagonal() / mass.diagonal(), basis.frequencies**2, rtol=1e-8)


def test_an_interface_at_the_reference_counts_for_nothing() -> None:
    structure = beam(elements=4, rotary=True)
    one = craig_bampton(structure, Reference.node(0), {4: [1]}, modes=1)
    two = craig_bampton(structure, Reference.node(0), {0: None, 4: [1]}, modes=1)
    np.testing.assert_array_equal(one.frequencies, two.frequencies)
    chord = craig_bampton(structure, Reference.chord(0, 4), {0: None, 4: None})
    assert len(chord.names) == 12 - 6


def test_an_interface_may_sit_on_a_rigid_arm() -> None:
    arm = 0.3
    mesh = line((0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), 4)
    places = np.vstack([mesh.nodes, [LENGTH + arm, 0.0, 0.0]])
    beams = Beams(places, mesh.lines, general(AREA, BENDING, BENDING, 2e-9, 1, 1), MATERIAL, shear=False)
    structure = Structure(places, [beams], ties=[Tie(4, (5,))])
    basis = craig_bampton(structure, Reference.node(0), {5: [1]})
    assert len(basis.names) == 1
    force = basis.shapes[31]
    found = float(force @ np.linalg.solve(reduced(structure, basis)[0], force))
    exact = (LENGTH**3 / 3 + LENGTH**2 * arm + LENGTH * arm**2) / STIFFNESS
    assert found == pytest.approx(exact, rel=1e-9)
    assert len(craig_bampton(structure, Reference.node(0), {5: None, 4: None}).names) == 6  # one rigid piece


@pytest.mark.parametrize("end", [(LENGTH, 0.0, 0.0), OBLIQUE])
@pytest.mark.parametrize("mass", ["consistent", "linear"])
def test_nodal_coordinates_lose_nothing(mass: str, end: object) -> None:
    structure = beam(end, elements=3, mass=mass)
    basis = nodal(structure, Reference.node(0))
    stiffness, inertia = reduced(structure, basis)
    found = np.sqrt(linalg.eigh(stiffness, inertia, eigvals_only=True))
    free = np.arange(6, 24)
    full = [matrix.toarray()[np.ix_(free, free)] for matrix in (structure.mass, structure.stiffness)]
    inverse = linalg.eigh(*full, eigvals_only=True)[::-1]  # massless motions give zeros, which come last
    count = 9 if mass == "linear" else 15
    assert len(basis.names) == count
    np.testing.assert_allclose(found, 1 / np.sqrt(inverse[:count]), rtol=1e-7)
    assert inverse[count:].max(initial=0.0) < 1e-12 * inverse[0]


def test_nodal_coordinates_under_mean_axes_have_the_free_frequencies() -> None:
    structure = beam(elements=3, rotary=True)
    basis = nodal(structure, Reference.mean())
    assert len(basis.names) == 24 - 6
    found = np.sqrt(linalg.eigh(*reduced(structure, basis), eigvals_only=True))
    full = linalg.eigh(structure.stiffness.toarray(), structure.mass.toarray(), eigvals_only=True)
    np.testing.assert_allclose(found, np.sqrt(full[6:]), rtol=1e-7)


def test_nodal_coordinates_are_the_motions_of_their_nodes() -> None:
    structure = beam(elements=2)
    basis = nodal(structure, Reference.node(0), held=plane(structure))
    assert basis.names == ("node1.x", "node1.y", "node1.rz", "node2.x", "node2.y", "node2.rz")
    assert basis.units == ("m", "m", "rad", "m", "m", "rad")
    np.testing.assert_array_equal(basis.shapes[[6, 7, 11, 12, 13, 17]], np.eye(6))
    turned = nodal(beam(OBLIQUE, elements=1), Reference.node(0))  # no mass about the beam's axis
    assert turned.names == ("node1.x", "node1.y", "node1.z", "node1.r1", "node1.r2")


def test_drilling_rotations_of_a_tilted_plate_are_condensed() -> None:
    mesh = grid(size=(1.0, 1.0), cells=(2, 2), axes=((0.8, 0.0, 0.6), (0.0, 1.0, 0.0)))
    structure = Structure(mesh.nodes, [Shells(mesh.nodes, mesh.triangles, Plate(0.02, MATERIAL))])
    reference = Reference.node(0)
    basis = nodal(structure, reference)
    assert len(basis.names) == 8 * 5
    found = np.sqrt(linalg.eigh(*reduced(structure, basis), eigvals_only=True))
    np.testing.assert_allclose(found[:10], vibration(structure, reference, 10).frequencies, rtol=1e-8)


def test_modes_may_be_picked_and_limited() -> None:
    structure = beam()
    every = vibration(structure, Reference.node(0), 6, held=plane(structure))
    some = vibration(structure, Reference.node(0), [4, 2], held=plane(structure))
    assert some.names == ("mode2", "mode4")
    np.testing.assert_allclose(some.shapes, every.shapes[:, [1, 3]], atol=1e-8)
    limit = (every.frequencies[2] + every.frequencies[3]) / 4 / np.pi
    assert len(vibration(structure, Reference.node(0), below=limit, held=plane(structure)).names) == 3


def test_shapes_do_not_depend_on_chance() -> None:
    structure = beam()  # as stiff along y as along z: pairs of equal frequencies
    one, two = (vibration(structure, Reference.node(0), 4).shapes for _ in range(2))
    np.testing.assert_array_equal(one, two)
    moves = np.abs(one.reshape(-1, 6, 4)[:, :3]).max(axis=0)  # direction by mode
    np.testing.assert_array_equal(moves > 0, [[0, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]])
    np.testing.assert_allclose(one.reshape(-1, 6, 4)[:, :3].max(axis=(0, 1)), 1.0)


def test_shapes_do_not_depend_on_the_axes_of_the_body() -> None:
    ahead, turned = (
        vibration(beam(end, iy=2 * BENDING), Reference.node(0), 4).shapes.reshape(-1, 6, 4)
        for end in ((LENGTH, 0.0, 0.0), OBLIQUE)
    )
    for shapes in (ahead, turned):
        np.testing.assert_allclose(np.linalg.norm(shapes[:, :3], axis=1).max(axis=0), 1.0, rtol=1e-12)
    for part in (slice(0, 3), slice(3, 6)):
        lengths = [np.linalg.norm(shapes[:, part], axis=1) for shapes in (ahead, turned)]
        np.testing.assert_allclose(*lengths, atol=1e-6)


def test_every_basis_is_bounded() -> None:
    structure, root = beam(elements=400), Reference.node(0)
    with pytest.raises(ModelError, match=r"^1001 modes are asked for\. Expected at most 1000\. Ask for fewer modes"):
        vibration(structure, root, 1001)
    with pytest.raises(ModelError, match=r"^5000 modes are asked for\. Expected at most 1000"):
        vibration(structure, root, [1, 5000])
    with pytest.raises(
        ModelError, match=r"^more than 1000 modes lie below 1e\+12 Hz\. .*Take a lower frequency, or say"
    ):
        vibration(structure, root, below=1e12)
    with pytest.raises(ModelError, match=r"^1200 degrees of freedom are in the interface\. Expected at most 1000"):
        craig_bampton(structure, root, dict.fromkeys(range(1, 201)))
    with pytest.raises(ModelError, match=r"^995 modes are asked for\. Expected at most 994"):
        craig_bampton(structure, root, {400: None}, 995)
    with pytest.raises(ModelError, match=r"2400 degrees of freedom.*at most 1000"):
        nodal(structure, root)


def test_many_modes_below_a_frequency_are_all_found() -> None:
    """More than are found by trying: counted by the signs of pivots, against those of the dense problem."""
    structure, root = beam(elements=150), Reference.node(0)
    every = structure.modes(300, held=structure.degrees(0)).frequencies
    limit = float((every[99] + every[100]) / 2)
    found = vibration(structure, root, below=limit / 2 / np.pi)
    np.testing.assert_allclose(found.frequencies, every[:100], rtol=1e-6)
    every = structure.modes(300, skip_rigid=True).frequencies
    limit = float((every[99] + every[100]) / 2)
    found = vibration(structure, Reference.mean(), below=limit / 2 / np.pi)
    np.testing.assert_allclose(found.frequencies, every[:100], rtol=1e-6)


def test_what_cannot_be_is_said() -> None:
    structure = beam(elements=2)
    root = Reference.node(0)
    with pytest.raises(ModelError, match="at most 6"):
        vibration(structure, root, 7, held=plane(structure))
    with pytest.raises(ModelError, match="first mode is 1"):
        vibration(structure, root, [0, 1])
    with pytest.raises(ModelError, match="which modes"):
        vibration(structure, root)
    with pytest.raises(ModelError, match=r"no mode lies below 0\.1 Hz.*first mode"):
        vibration(structure, root, below=0.1)
    with pytest.raises(ModelError, match=r"interface has node 9.*0 to 2"):
        craig_bampton(structure, root, {9: None})
    with pytest.raises(ModelError, match=r"degree of freedom 6.*0 to 5"):
        craig_bampton(structure, root, {2: [6]})
    with pytest.raises(ModelError, match="no coordinates"):
        craig_bampton(structure, root, {0: None})
    with pytest.raises(ModelError, match=r"reference has node 3.*0 to 2"):
        vibration(structure, Reference.node(3), 1)
    with pytest.raises(ModelError, match="no length"):
        vibration(structure, Reference.chord(1, 1), 1)
    with pytest.raises(ModelError, match="moves rx of node 2 has no mass"):
        craig_bampton(structure, root, {2: [3]})  # torsion of a beam whose mass is on its centre line
    with pytest.raises(ModelError, match=r"1200 degrees of freedom.*at most 1000"):
        nodal(beam(elements=200), root)
    with pytest.raises(ModelError, match=r"no modes are asked for\. Expected at least one"):
        vibration(structure, root, 0)
    with pytest.raises(ModelError, match=r"degree of freedom 18 is held.*0 to 17"):
        vibration(structure, root, 1, held=[18])
    apart = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]])
    section = general(AREA, BENDING, BENDING, 2e-9, 1.0, 1.0)
    broken = Structure(apart, [Beams(apart, [[0, 1], [2, 3]], section, MATERIAL)])
    for reference in (root, Reference.mean()):
        with pytest.raises(ModelError, match="in 2 parts"):
            vibration(broken, reference, 1)


def test_supports_of_the_structure_hold_in_every_basis() -> None:
    mesh = line((0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), 4)
    beams = Beams(mesh.nodes, mesh.lines, general(AREA, BENDING, BENDING, 2e-9, 1, 1), MATERIAL, shear=False)
    free, flat = (Structure(mesh.nodes, [beams], fixed=fixed) for fixed in ({}, dict.fromkeys(range(5), "z rx ry")))
    for reference in (Reference.node(0), Reference.chord(0, 4), Reference.mean()):
        held = vibration(free, reference, 4, held=plane(free))
        np.testing.assert_allclose(vibration(flat, reference, 4).frequencies, held.frequencies, rtol=1e-9)


@pytest.mark.parametrize("reference", [Reference.node(5), Reference.chord(5, 6), Reference.chord(6, 5)])
def test_a_reference_may_sit_on_rigid_arms(reference: Reference) -> None:
    """Nodes 5 and 6 hang on the ends; in a frame fixed to node 5, node 0 stands still as well."""
    mesh = line((0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), 4)
    places = np.vstack([mesh.nodes, [-0.3, 0.2, 0.1], [LENGTH + 0.2, 0.3, -0.1]])
    beams = Beams(places, mesh.lines, general(AREA, BENDING, BENDING, 2e-9, 1, 1), MATERIAL, shear=False)
    structure = Structure(places, [beams], ties=[Tie(0, (5,)), Tie(4, (6,))])
    basis = vibration(structure, reference, 6)
    shapes = basis.shapes.reshape(-1, 6, 6)
    rows = reference.conditions(places)
    assert np.abs(rows @ basis.shapes).max() < 1e-11
    carried = shapes[0, :3] + np.cross(shapes[0, 3:], places[5] - places[0], axisa=0, axisc=0)
    np.testing.assert_allclose(shapes[5, :3], carried, atol=1e-12)
    if reference.kind == "node":
        np.testing.assert_allclose(shapes[0], 0.0, atol=1e-12)
        clamped = vibration(structure, Reference.node(0), 6)
        np.testing.assert_allclose(basis.frequencies, clamped.frequencies, rtol=1e-9)
    # Independent: K and M restricted to the null space of ties and conditions.
    independent = linalg.null_space(rows @ structure.transform.toarray())
    spread = structure.transform @ independent
    small = [spread.T @ (matrix @ spread) for matrix in (structure.mass, structure.stiffness)]
    inverse = linalg.eigh(*small, eigvals_only=True)[::-1]
    np.testing.assert_allclose(basis.frequencies, 1 / np.sqrt(inverse[:6]), rtol=1e-7)
