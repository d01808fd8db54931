"""Measured orders of convergence of frequencies with the size of the elements."""

from __future__ import annotations

import numpy as np
import pytest

from cotree.fem.beam import Beams
from cotree.fem.material import Material
from cotree.fem.mesh import line
from cotree.fem.section import rectangle
from cotree.fem.structure import Structure
from fem.unit_plates import PLATES, plate_frequencies

LENGTH, SIDE, YOUNG, DENSITY = 2.0, 0.4, 1e9, 7850.0


def supported_beam(elements, **options):
    """The three lowest frequencies in the plane xy of a square beam on two supports."""
    mesh = line((0, 0, 0), (LENGTH, 0, 0), elements)
    material = Material(YOUNG, DENSITY, poisson=0.3)
    structure = Structure(mesh.nodes, [Beams(mesh.nodes, mesh.lines, rectangle(SIDE, SIDE), material, **options)])
    held = structure.degrees(range(elements + 1), "x z rx ry")
    return structure.modes(3, held=[*held, *structure.degrees([0, elements], "y")]).frequencies


def order(coarse, fine, exact):
    """The power of the size by which the error falls when elements are halved."""
    return np.log2(np.abs((coarse - exact) / (fine - exact)))


@pytest.mark.parametrize(("mass", "expected"), [("consistent", 4), ("linear", 2)])
def test_slender_beams(mass, expected):
    """Euler-Bernoulli beams: cubic deflection in the mass gives fourth order, linear deflection second."""
    exact = (np.arange(1, 4) * np.pi / LENGTH) ** 2 * np.sqrt(YOUNG * SIDE**2 / 12 / DENSITY)
    coarse, fine = (supported_beam(n, mass=mass, shear=False, rotary=False) for n in (12, 24))
    assert order(coarse, fine, exact) == pytest.approx(np.full(3, expected), abs=0.1)


@pytest.mark.parametrize("mass", ["consistent", "linear"])
def test_thick_beams(mass):
    """With shear the strain of shear is constant in an element: second order, whatever the mass."""
    exact = np.array([95.63398, 332.23451, 635.69629])
    coarse, fine = (supported_beam(n, mass=mass) for n in (20, 40))
    assert order(coarse, fine, exact) == pytest.approx(np.full(3, 2), abs=0.1)


@pytest.mark.parametrize(("kind", "modes"), [("supported", 4), ("clamped", 4), ("cantilever", 4), ("free", 3)])
def test_plates(kind, modes):
    """Second order; the first modes of clamped plate and cantilever come from both sides and are left out."""
    some = slice(1 if kind in ("clamped", "cantilever") else 0, modes)
    coarse, fine = (plate_frequencies(n, kind)[some] for n in (16, 32))
    found = order(coarse, fine, np.array(PLATES[kind])[some])
    assert found == pytest.approx(np.full(len(found), 2), abs=0.1)
