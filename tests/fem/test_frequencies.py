"""Frequencies of beams and plates through `Structure`, against closed forms, published digits and transfer matrices.

Errors fall with the square of the element's size (tests/order), so two meshes, one of half the size, give a value that
is better than either: (4 fine - coarse) / 3.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

from cotree.fem.beam import Beams
from cotree.fem.material import Material
from cotree.fem.mesh import grid, line
from cotree.fem.plate import Plate
from cotree.fem.section import rectangle
from cotree.fem.shell import Shells
from cotree.fem.structure import Structure
from fem.unit_plates import PLATES, plate_frequencies

POISSON = 0.3
SIDE, LENGTH, YOUNG, DENSITY = 0.4, 2.0, 1e9, 7850.0
AREA, SECOND = SIDE**2, SIDE**4 / 12
SHEAR = YOUNG / 2 / (1 + POISSON)
FACTOR = 10 * (1 + POISSON) / (12 + 11 * POISSON)


def refined(frequencies, cells):
    """From the meshes of so many cells and of twice as many."""
    return (4 * frequencies(2 * cells) - frequencies(cells)) / 3


@pytest.mark.parametrize("kind", list(PLATES))
def test_plates(kind):
    coarse, fine = plate_frequencies(16, kind), plate_frequencies(32, kind)
    assert fine == pytest.approx(PLATES[kind], rel=5e-3)
    assert (4 * fine - coarse) / 3 == pytest.approx(PLATES[kind], rel=1e-4)


def test_the_free_plate_of_nafems():
    """FV12, 10 x 10 x 0.05 m, all six degrees of freedom free: Kirchhoff's frequencies to the digits printed."""
    plate = Plate(0.05, Material(200e9, 8000.0, poisson=POISSON))

    def frequencies(cells):
        mesh = grid((10.0, 10.0), (cells, cells))
        found = Structure(mesh.nodes, [Shells(mesh.nodes, mesh.triangles, plate)]).modes(12).frequencies
        assert np.count_nonzero(found == 0) == 6
        return found[6:] / 2 / np.pi

    expected = [1.622, 2.360, 2.922, 4.190, 4.190, 7.356]
    assert refined(frequencies, 14) == pytest.approx(expected, abs=1e-3)


def beam(elements, **options):
    """The square beam of benchmarks.md along x."""
    mesh = line((0, 0, 0), (LENGTH, 0, 0), elements)
    material = Material(YOUNG, DENSITY, poisson=POISSON)
    return Structure(mesh.nodes, [Beams(mesh.nodes, mesh.lines, rectangle(SIDE, SIDE), material, **options)])


def only(structure, free):
    """Degrees of freedom to hold so that every node has only ``free``."""
    held = [move for move in ("x", "y", "z", "rx", "ry", "rz") if move not in free.split()]
    return structure.degrees(range(len(structure.places)), held)


@pytest.mark.parametrize("mass", ["consistent", "linear"])
@pytest.mark.parametrize("plane", ["y rz", "z ry"])
def test_supported_beam(mass, plane):
    def frequencies(elements):
        structure = beam(elements, mass=mass)
        ends = structure.degrees([0, elements], plane.split()[0])
        return structure.modes(3, held=[*only(structure, plane), *ends]).frequencies

    assert refined(frequencies, 60) == pytest.approx([95.63398, 332.23451, 635.69629], rel=1e-5)


@pytest.mark.parametrize(
    ("move", "ends", "expected"), [("x", (0,), 280.32063), ("rx", (0, -1), 319.32370)], ids=["axial", "torsion"]
)
def test_axial_and_torsion(move, ends, expected):
    def frequencies(elements):
        structure = beam(elements)
        held = structure.degrees([range(elements + 1)[end] for end in ends], move)
        return structure.modes(1, held=[*only(structure, move), *held]).frequencies

    assert refined(frequencies, 40) == pytest.approx([expected], rel=1e-6)


def timoshenko(omega, rows, columns):
    """The determinant that vanishes at a frequency, from the transfer of (w, turn, moment, force) along the beam."""
    rate = np.zeros((4, 4))
    rate[0, 1], rate[0, 3] = 1, 1 / (FACTOR * SHEAR * AREA)
    rate[1, 2] = 1 / (YOUNG * SECOND)
    rate[2, 1], rate[2, 3] = -DENSITY * SECOND * omega**2, -1
    rate[3, 0] = -DENSITY * AREA * omega**2
    scale = np.array([1, 1, YOUNG * SECOND, YOUNG * SECOND])
    transfer = expm(LENGTH * rate * scale / scale[:, None])
    return np.linalg.det(transfer[np.ix_(rows, columns)])


def roots(rows, columns, limit):
    """Frequencies below a limit at which the rows vanish at the end for some of the columns at the start."""
    steps = np.linspace(20, limit, 400)
    values = [timoshenko(w, rows, columns) for w in steps]
    return [
        brentq(timoshenko, a, b, (rows, columns), xtol=1e-10)
        for a, b, f, g in zip(steps, steps[1:], values, values[1:], strict=False)
        if f * g < 0
    ]


def test_the_transfer_matrix_gives_the_published_frequencies():
    assert roots((0, 2), (1, 3), 700)[:3] == pytest.approx([95.63398, 332.23451, 635.69629], abs=1e-5)


def test_free_beam():
    """Bending in two planes by the transfer matrix, torsion and stretching in closed form, after six rigid motions."""
    torsion = np.sqrt(SHEAR * 0.140577 * SIDE**4 / (DENSITY * 2 * SECOND))
    stretch = np.sqrt(YOUNG / DENSITY)
    bending = roots((2, 3), (0, 1), 1000)
    expected = np.sort([*bending, *bending, *(np.arange(1, 4) * np.pi / LENGTH * torsion), np.pi / LENGTH * stretch])
    expected = expected[:8]

    def frequencies(elements):
        found = beam(elements).modes(14).frequencies
        assert np.count_nonzero(found == 0) == 6
        return found[6:]

    assert refined(frequencies, 40) == pytest.approx(expected, rel=1e-5)


def test_free_slender_beam_with_its_mass_on_the_line():
    """Euler-Bernoulli, (beta L)^2 with cos cosh = 1; nothing turns with mass about the line, so five rigid motions."""
    roots_ = np.array([4.730040744862704, 7.853204624095838, 10.995607838001671])
    expected = (roots_ / LENGTH) ** 2 * np.sqrt(YOUNG * SECOND / DENSITY / AREA)
    found, shapes = beam(40, shear=False, rotary=False).modes(13)
    assert np.count_nonzero(found == 0) == 5
    bends = np.abs(shapes[0::6]).max(axis=0) < 0.5
    assert found[bends & (found > 0)][:6] == pytest.approx(np.repeat(expected, 2), rel=1e-5)
