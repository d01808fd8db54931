"""Mass of beams: the rigid prism, published matrices, frequencies of Timoshenko's beam with measured orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cotree.fem.beam import Beams, Mass
from cotree.fem.element import rigid_motions, rigid_rows
from cotree.fem.material import STEEL, Material
from cotree.fem.section import Section, circle, i_section, rectangle

LENGTH = 1.3
SECTION = rectangle(0.11, 0.17)
LINE = STEEL.density * SECTION.area


def line_of(count: int, length: float, section: Section, material: Material, **more: Any) -> Beams:
    """A beam along x."""
    places = np.linspace(0, length, count + 1)[:, None] * [1.0, 0, 0]
    return Beams(places, np.stack([np.arange(count), np.arange(1, count + 1)], axis=1), section, material, **more)


def dense(beams: Beams, matrices: np.ndarray, degrees: Any) -> np.ndarray:
    """The assembled matrix of some degrees of freedom."""
    size = int(beams.degrees.max()) + 1
    whole = np.zeros((size, size))
    for each, matrix in zip(beams.degrees, matrices, strict=True):
        whole[np.ix_(each, each)] += matrix
    return whole[np.ix_(degrees, degrees)]


@pytest.mark.parametrize("mass", ["consistent", "linear"])
@pytest.mark.parametrize("rotary", [True, False])
@pytest.mark.parametrize("offset", [(0.0, 0.0), (0.05, -0.11), "ends"])
@pytest.mark.parametrize("section", [SECTION, i_section(0.1, 0.3, 0.01, 0.02), circle(0.1)])
def test_cloud_moves_rigidly(mass: Mass, rotary: bool, offset: Any, section: Section) -> None:
    """Every mass point follows a rigid motion of the nodes exactly."""
    rng = np.random.default_rng(2)
    places = rng.normal(size=(4, 3))
    offset = 0.1 * rng.normal(size=(3, 2, 2)) if offset == "ends" else offset
    lines, turn = [[0, 1], [1, 2], [3, 0]], rng.normal(size=3)
    beams = Beams(places, lines, section, STEEL, orientation=turn, offset=offset, rotary=rotary, mass=mass)
    cloud = beams.cloud()
    moved = np.einsum("egik,ekr->egir", cloud.rows, rigid_motions(places)[beams.degrees])
    assert np.abs(moved - rigid_rows(cloud.place)).max() < 1e-13


@pytest.mark.parametrize("mass", ["consistent", "linear"])
@pytest.mark.parametrize("count", [1, 3])
def test_cloud_is_the_prism(mass: Mass, count: int) -> None:
    """Mass, centre, and inertia of a block b x h x L off its nodes: m (b^2 + h^2) / 12 and so on."""
    b, h, offset = 0.11, 0.17, np.array([0.05, -0.11])
    cloud = line_of(count, LENGTH, SECTION, STEEL, mass=mass, offset=offset).cloud()
    m = STEEL.density * b * h * LENGTH
    centre = np.array([LENGTH / 2, *offset])
    arms = cloud.place - centre
    second = np.einsum("eg,egi,egj->ij", cloud.mass, arms, arms)
    assert cloud.mass.sum() == pytest.approx(m, rel=1e-14)
    assert np.einsum("eg,egi->i", cloud.mass, cloud.place) / m == pytest.approx(centre, rel=1e-13)
    assert second == pytest.approx(m / 12 * np.diag([LENGTH**2, b**2, h**2]), rel=1e-12, abs=1e-14 * m)


def test_mass_on_the_line_without_rotary_inertia() -> None:
    """A thin rod: no inertia about its own line."""
    cloud = line_of(2, LENGTH, SECTION, STEEL, rotary=False).cloud()
    assert cloud.mass.sum() == pytest.approx(LINE * LENGTH, rel=1e-14)
    assert np.all(cloud.place[..., 1:] == 0)
    twist = cloud.mass_matrices()[:, [3, 9]]
    assert np.all(twist == 0)


def test_euler_bernoulli_mass() -> None:
    """The matrix of every textbook: rho A L / 420 [156 22 L 54 -13 L ...]; axial rho A L / 6 [2 1; 1 2]."""
    matrix = line_of(1, LENGTH, SECTION, STEEL, shear=False, rotary=False).cloud().mass_matrices()[0]
    a = LENGTH
    book = np.array(
        [
            [156, 22 * a, 54, -13 * a],
            [22 * a, 4 * a**2, 13 * a, -3 * a**2],
            [54, 13 * a, 156, -22 * a],
            [-13 * a, -3 * a**2, -22 * a, 4 * a**2],
        ]
    )
    sign = np.array([1, -1, 1, -1])
    assert matrix[np.ix_([1, 5, 7, 11], [1, 5, 7, 11])] == pytest.approx(LINE * a / 420 * book, rel=1e-12)
    found = matrix[np.ix_([2, 4, 8, 10], [2, 4, 8, 10])]
    assert found == pytest.approx(LINE * a / 420 * book * np.outer(sign, sign), rel=1e-12)
    assert matrix[np.ix_([0, 6], [0, 6])] == pytest.approx(LINE * a / 6 * np.array([[2, 1], [1, 2]]), rel=1e-12)


def timoshenko_mass(phi: float, gyration: float) -> np.ndarray:
    """Przemieniecki 1968, eq. 11.30, of one plane, as fractions of rho A L with L = 1."""
    p, r2 = phi, gyration**2
    a, b = 13 / 35 + 7 * p / 10 + p**2 / 3, 11 / 210 + 11 * p / 120 + p**2 / 24
    c, d = 9 / 70 + 3 * p / 10 + p**2 / 6, 13 / 420 + 3 * p / 40 + p**2 / 24
    e, f = 1 / 105 + p / 60 + p**2 / 120, 1 / 140 + p / 60 + p**2 / 120
    move = np.array([[a, b, c, -d], [b, e, d, -f], [c, d, a, -b], [-d, -f, -b, e]])
    g, k, m = 1 / 10 - p / 2, 2 / 15 + p / 6 + p**2 / 3, -1 / 30 - p / 6 + p**2 / 6
    turn = np.array([[6 / 5, g, -6 / 5, g], [g, k, -g, m], [-6 / 5, -g, 6 / 5, -g], [g, m, -g, k]])
    return (move + r2 * turn) / (1 + p) ** 2


def test_timoshenko_mass() -> None:
    """Przemieniecki's mass with shear and rotary inertia, in both planes; torsion rho Ip L / 6 [2 1; 1 2]."""
    beams = line_of(1, LENGTH, SECTION, STEEL)
    matrix = beams.cloud().mass_matrices()[0]
    factor = 10 * 1.3 / (12 + 11 * 0.3)
    size = np.array([1, LENGTH, 1, LENGTH])
    planes = (([1, 5, 7, 11], SECTION.iz, [1, 1, 1, 1]), ([2, 4, 8, 10], SECTION.iy, [1, -1, 1, -1]))
    for degrees, inertia, sign in planes:
        phi = 12 * STEEL.young * inertia / (factor * STEEL.shear_modulus * SECTION.area * LENGTH**2)
        book = timoshenko_mass(phi, np.sqrt(inertia / SECTION.area) / LENGTH) * LINE * LENGTH
        expected = book * np.outer(size * sign, size * sign)
        assert matrix[np.ix_(degrees, degrees)] == pytest.approx(expected, rel=1e-11)
    polar = STEEL.density * (SECTION.iy + SECTION.iz) * LENGTH / 6
    assert matrix[np.ix_([3, 9], [3, 9])] == pytest.approx(polar * np.array([[2, 1], [1, 2]]), rel=1e-12)


def test_linear_mass() -> None:
    """Richard 2012, eq. 50: rho A L / 6 [2 1; 1 2] for every displacement, rho I L / 6 for every rotation, no more."""
    matrix = line_of(1, LENGTH, SECTION, STEEL, mass="linear").cloud().mass_matrices()[0]
    polar = SECTION.iy + SECTION.iz
    each = np.array([SECTION.area] * 3 + [polar, SECTION.iy, SECTION.iz]) * STEEL.density * LENGTH / 6
    expected = np.kron([[2, 1], [1, 2]], np.diag(each))
    assert matrix == pytest.approx(expected, rel=1e-12, abs=1e-13 * expected.max())


BENCH = Material(1e9, 7850.0, poisson=0.3)
SQUARE = rectangle(0.4, 0.4)


def timoshenko_frequency(n: int) -> float:
    """Simply supported: v = sin(k x), r = cos(k x) leave two equations for each half wave."""
    k = n * np.pi / 2
    a, i, shear = 0.16, 0.4**4 / 12, 10 * 1.3 / 15.3 * 1e9 / 2.6 * 0.16
    stiffness = np.array([[shear * k**2, -shear * k], [-shear * k, 1e9 * i * k**2 + shear]])
    values = np.linalg.eigvals(stiffness / (7850 * np.array([[a], [i]])))
    return float(np.sqrt(values.real.min()))


def frequencies(beams: Beams, degrees: Any) -> np.ndarray:
    """Three lowest frequencies with the degrees of freedom that are kept."""
    from scipy.linalg import eigh

    stiffness, mass = (dense(beams, each, degrees) for each in (beams.stiffness(), beams.cloud().mass_matrices()))
    return np.sqrt(eigh(stiffness, mass, eigvals_only=True)[:3])


def supported(count: int, section: Section, plane: tuple[int, int] = (1, 5), **more: Any) -> np.ndarray:
    """Three lowest frequencies in a plane of the bench beam, simply supported."""
    move, turn = plane
    kept = [6 * n + d for n in range(count + 1) for d in (move, turn) if d == turn or 0 < n < count]
    return frequencies(line_of(count, 2.0, section, BENCH, **more), kept)


@pytest.mark.parametrize("mass", ["consistent", "linear"])
@pytest.mark.parametrize("plane", [(1, 5), (2, 4)])
def test_simply_supported_frequencies(mass: Mass, plane: tuple[int, int]) -> None:
    """Timoshenko's 95.63398, 332.23451, 635.69629 rad/s for a stocky beam (L/h = 5), from above.

    Both masses are of second order here: an element has one shear strain, which bounds the order with any mass once
    elements are as short as the section is high. Consistent mass has a twentieth of the error in the first mode.
    """
    exact = np.array([timoshenko_frequency(n) for n in (1, 2, 3)])
    assert exact == pytest.approx([95.63398, 332.23451, 635.69629], abs=5e-6)
    found = np.array([supported(count, SQUARE, plane, mass=mass) for count in (16, 32, 64)])
    error = found / exact - 1
    assert np.all(error > 0)
    assert np.log2(error[:-1] / error[1:]) == pytest.approx(2, abs=0.03)
    assert (4 * error[-1] - error[-2]) / 3 == pytest.approx(0, abs=5e-6)
    assert mass == "linear" or error[-1, 0] < 1e-5


@pytest.mark.parametrize(("mass", "order"), [("consistent", 4), ("linear", 2)])
def test_frequencies_without_shear(mass: Mass, order: int) -> None:
    """Rayleigh's beam, w^2 = EI k^4 / (rho A + rho I k^2): fourth order with consistent mass, second with linear."""
    k = np.arange(1, 4) * np.pi / 2
    inertia = 0.4**4 / 12
    exact = np.sqrt(1e9 * inertia * k**4 / 7850 / (0.16 + inertia * k**2))
    error = np.array([supported(count, SQUARE, shear=False, mass=mass) for count in (8, 16, 32)]) / exact - 1
    assert np.log2(np.abs(error[-2] / error[-1])) == pytest.approx(order, abs=0.1)
    assert order == 2 or np.abs(error[-1]).max() < 1e-5


def test_frequencies_of_a_slender_beam_with_shear() -> None:
    """While elements are much longer than the section is high, Timoshenko's beam converges with fourth order, too."""
    h, k = 0.002, np.arange(1, 4) * np.pi / 2
    inertia, shear = h**4 / 12, 13 / 15.3 / 2.6  # Timoshenko to the first power of (k h)^2, which is 1e-5 here
    exact = np.sqrt(1e9 * inertia / 7850 / h**2) * k**2 * (1 - k**2 * h**2 / 24 * (1 + 1 / shear))
    error = np.array([supported(count, rectangle(h, h)) for count in (4, 8, 16)]) / exact - 1
    assert np.log2(error[:-1] / error[1:])[-1] == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize(
    ("degree", "exact", "ends"),
    [(0, np.pi / 4 * np.sqrt(1e9 / 7850), 1), (3, np.pi / 2 * np.sqrt(1e9 / 2.6 / 7850 * 0.8434612), 2)],
)
def test_axial_and_torsional_frequencies(degree: int, exact: float, ends: int) -> None:
    """Axial, fixed and free, 280.32063 rad/s; torsion, held at both ends, 319.32370: second order from above."""
    assert exact == pytest.approx({0: 280.32063, 3: 319.32370}[degree], rel=1e-6)
    constant = SQUARE.torsion / (2 * SQUARE.iy)
    exact = exact if degree == 0 else np.pi / 2 * np.sqrt(1e9 / 2.6 / 7850 * constant)
    error = []
    for count in (8, 16, 32):
        kept = [6 * n + degree for n in range(1, count + 2 - ends)]
        error.append(frequencies(line_of(count, 2.0, SQUARE, BENCH), kept)[0] / exact - 1)
    assert min(error) > 0
    assert np.log2(np.array(error[:-1]) / error[1:]) == pytest.approx(2, abs=0.02)
    assert (4 * error[-1] - error[-2]) / 3 == pytest.approx(0, abs=1e-6)
