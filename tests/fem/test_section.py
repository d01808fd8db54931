"""Sections: moments by integration, torsion and shear factors by published numbers and by energy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cotree.errors import ModelError
from cotree.fem.section import (
    Section,
    box,
    circle,
    general,
    i_section,
    rectangle,
    rectangle_torsion,
    section_from_data,
    tube,
)
from cotree.fem.section_stress import rectangle_torsion_stress, stress_points


def blocks(*parts: tuple[float, float, float, float]) -> tuple[float, float, float]:
    """A, Iy, Iz of rectangles (centre y, centre z, width, height) by the parallel-axis theorem."""
    y, z, b, h = np.array(parts).T
    return (b * h).sum(), (b * h * (h**2 / 12 + z**2)).sum(), (b * h * (b**2 / 12 + y**2)).sum()


def ring(outer: float, inner: float) -> tuple[float, float, float, float]:
    """A, Iy, Iz, polar moment of a ring by Gauss integration over the radius and sums over the angle."""
    x, w = np.polynomial.legendre.leggauss(8)
    r, w = inner + (outer - inner) * (1 + x) / 2, w * (outer - inner) / 2
    angle = 2 * np.pi * np.arange(16) / 16
    weight = (w * r)[:, None] * np.full(16, 2 * np.pi / 16)
    y, z = r[:, None] * np.cos(angle), r[:, None] * np.sin(angle)
    return weight.sum(), (weight * z**2).sum(), (weight * y**2).sum(), (weight * (y**2 + z**2)).sum()


def numbers(section: Section) -> tuple[float, float, float]:
    return section.area, section.iy, section.iz


@pytest.mark.parametrize(
    ("section", "parts"),
    [
        (rectangle(0.2, 0.5), [(0, 0, 0.2, 0.5)]),
        (
            box(0.2, 0.5, 0.03),
            [(0.085, 0, 0.03, 0.5), (-0.085, 0, 0.03, 0.5), (0, 0.235, 0.14, 0.03), (0, -0.235, 0.14, 0.03)],
        ),
        (i_section(0.2, 0.5, 0.02, 0.03), [(0, 0, 0.02, 0.44)] + [(0, s * 0.235, 0.2, 0.03) for s in (1, -1)]),
    ],
)
def test_moments_of_rectangular_parts(section: Section, parts: list[tuple[float, float, float, float]]) -> None:
    assert numbers(section) == pytest.approx(blocks(*parts), rel=1e-13)


def test_moments_of_round_sections() -> None:
    """Saint-Venant torsion of a round section is its polar moment."""
    for section, expected in ((circle(0.03), ring(0.03, 0.0)), (tube(0.03, 0.02), ring(0.03, 0.02))):
        assert (*numbers(section), section.torsion) == pytest.approx(expected, rel=1e-13)


def test_torsion_of_rectangles() -> None:
    """Timoshenko and Goodier, art. 109, table of k1 and k2; 0.140577 for the square; a b^3 / 3 when thin."""
    assert rectangle_torsion(1.0, 1.0) == pytest.approx(0.140577, abs=5e-7)
    table = {1.0: (0.1406, 0.208), 1.5: (0.196, 0.231), 2.0: (0.229, 0.246), 3.0: (0.263, 0.267), 5.0: (0.291, 0.291)}
    for ratio, (k1, k2) in table.items():
        constant = rectangle_torsion(ratio, 1.0)
        assert constant == rectangle_torsion(1.0, ratio)
        assert constant / ratio == pytest.approx(k1, abs=6e-4)
        assert constant / max(rectangle_torsion_stress(1.0, ratio)) / ratio == pytest.approx(k2, abs=6e-4)
    assert rectangle_torsion(1e4, 1.0) == pytest.approx((1 / 3 - 0.21008e-4) * 1e4, rel=1e-8)


def torsion_by_modes(width: float, height: float, terms: int) -> np.ndarray:
    """J, and the stress times J / Mx in the middle of both faces, by Navier's double series of Prandtl's function."""
    n = np.arange(1, 2 * terms, 2)
    a, b = n[:, None] * np.pi / width, n[None, :] * np.pi / height
    amplitude = 2 * 16 / np.pi**2 / (n[:, None] * n[None, :]) / (a**2 + b**2)
    constant = 2 * (amplitude * (2 / a) * (2 / b)).sum()
    sign = (-1.0) ** (n // 2)
    return np.array([constant, (amplitude * a * sign[None, :]).sum(), (amplitude * b * sign[:, None]).sum()])


@pytest.mark.parametrize(("width", "height"), [(1.0, 1.0), (1.0, 2.5), (3.0, 1.0)])
def test_torsion_of_rectangles_against_a_double_series(width: float, height: float) -> None:
    """Another road. The stress is a derivative: what is cut off falls as 1 / terms, so two sums show the limit."""
    few, many = torsion_by_modes(width, height, 200), torsion_by_modes(width, height, 400)
    assert rectangle_torsion(width, height) == pytest.approx(many[0], rel=1e-8)
    assert rectangle_torsion_stress(width, height) == pytest.approx(2 * many[1:] - few[1:], rel=1e-5)


def test_square_has_the_same_torsion_stress_on_all_faces() -> None:
    across_y, across_z = rectangle_torsion_stress(0.3, 0.3)
    assert across_y == pytest.approx(across_z, rel=1e-12)


@pytest.mark.parametrize("nu", [0.0, 0.3, 0.45])
def test_shear_factors_that_cowper_prints(nu: float) -> None:
    """Rectangle, circle, and the limits of thin walls: round tube 2(1+nu)/(4+3nu), square tube 20(1+nu)/(48+39nu)."""

    def factors(section: Section) -> tuple[float | None, float | None]:
        known = section.with_poisson(nu)
        return known.shear_y, known.shear_z

    for section, expected, accuracy in (
        (rectangle(0.1, 0.3), 10 * (1 + nu) / (12 + 11 * nu), 1e-14),
        (circle(0.1), 6 * (1 + nu) / (7 + 6 * nu), 1e-14),
        (tube(1.0, 1 - 1e-6), 2 * (1 + nu) / (4 + 3 * nu), 1e-11),
        (box(1.0, 1.0, 1e-3), 20 * (1 + nu) / (48 + 39 * nu), 1e-14),
    ):
        assert factors(section) == pytest.approx((expected, expected), rel=accuracy)


def energy_factor(web: float, flange: float, b: float, h: float, webs: int, free_ends: bool) -> float:
    """I^2 / (A int (S/t)^2 dA) of thin walls, which Cowper's factor is where Poisson's ratio is zero."""
    x, w = np.polynomial.legendre.leggauss(6)
    second = 2 * b * flange * h**2 / 4 + webs * web * h**3 / 12
    s, ws = b / 2 * (1 + x) / 2, w * b / 4  # along half a flange, from its free end (I) or its middle (box)
    flanges = 4 * flange * (ws * (s * h / 2) ** 2).sum()
    z, wz = h / 2 * x, w * h / 2
    static = (2 if free_ends else 1) * b / 2 * flange * h / 2 + web * (h**2 / 4 - z**2) / 2
    if not free_ends:
        assert webs == 2
    total = flanges + webs * web * (wz * (static / web) ** 2).sum()
    return second**2 / ((2 * b * flange + webs * web * h) * total)


def test_shear_factors_of_thin_walls_by_energy() -> None:
    """The lengths of the energy are those of the middle lines of the walls."""
    section = box(0.201, 0.501, 0.001).with_poisson(0.0)
    assert section.shear_z == pytest.approx(energy_factor(0.001, 0.001, 0.2, 0.5, 2, False), rel=1e-12)
    assert section.shear_y == pytest.approx(energy_factor(0.001, 0.001, 0.5, 0.2, 2, False), rel=1e-12)
    section = i_section(0.2, 0.5 + 0.002, 0.001, 0.002).with_poisson(0.0)
    assert section.shear_z == pytest.approx(energy_factor(0.001, 0.002, 0.2, 0.5, 1, True), rel=1e-12)


def test_shear_of_an_i_section_along_its_flanges() -> None:
    """Five sixths of the flanges, which is exact for two rectangles when Poisson's ratio is zero."""
    section = i_section(0.2, 0.5, 0.01, 0.02).with_poisson(0.0)
    assert section.shear_y is not None
    assert section.shear_y * section.area == pytest.approx(5 / 6 * 2 * 0.2 * 0.02, rel=1e-14)


def test_given_shear_factors_stay() -> None:
    section = rectangle(0.1, 0.2, shear_y=0.5)
    assert section.with_poisson(0.3).shear_y == 0.5
    assert section.with_poisson(0.3).shear_z == pytest.approx(13 / 15.3, rel=1e-14)
    with pytest.raises(ModelError, match="shear factors of a general section are not given"):
        general(1.0, 1.0, 1.0, 1.0).with_poisson(0.3)


def at(section: Section, y: float, z: float) -> np.ndarray:
    """The shear stress at a point for unit torque and shear forces."""
    points = stress_points(section)
    return points[np.argmin(np.hypot(points[:, 0] - y, points[:, 1] - z)), 2:]


def test_shear_stress_by_hand() -> None:
    """Full circle 4/3 Q/A and T r/J, thin tube 2 Q/A, rectangle 3/2 Q/A, Bredt's T/2At, Q S/I t in the web of an I."""
    area = np.pi * 0.02**2
    assert at(circle(0.02), 0.02, 0) == pytest.approx([2 / np.pi / 0.02**3, 0, 4 / 3 / area], rel=1e-13)
    assert at(circle(0.02), 0, 0.02) == pytest.approx([2 / np.pi / 0.02**3, -4 / 3 / area, 0], rel=1e-13, abs=1e-9)
    thin = tube(1.0, 1 - 1e-7)
    assert at(thin, 1.0, 0)[2] * thin.area == pytest.approx(2, rel=1e-7)
    assert at(rectangle(0.1, 0.2), 0.05, 0)[2] == pytest.approx(1.5 / 0.02, rel=1e-14)
    assert at(rectangle(0.1, 0.2), 0, -0.1)[1] == pytest.approx(1.5 / 0.02, rel=1e-14)
    assert np.all(at(rectangle(0.1, 0.2), 0.05, 0.1) == 0)
    assert at(box(0.11, 0.21, 0.01), 0.055, 0)[0] == pytest.approx(1 / (2 * 0.1 * 0.2 * 0.01), rel=1e-13)
    half = 0.11 * 0.01 * 0.1 + 2 * 0.01 * 0.095 * 0.0475  # first moment: a flange and two half webs
    iy = (0.11 * 0.21**3 - 0.09 * 0.19**3) / 12
    assert at(box(0.11, 0.21, 0.01), 0.055, 0)[2] == pytest.approx(half / iy / 0.02, rel=1e-13)
    half = 0.2 * 0.02 * 0.24 + 0.01 * 0.23 * 0.115
    iy = (0.2 * 0.5**3 - 0.19 * 0.46**3) / 12
    assert at(i_section(0.2, 0.5, 0.01, 0.02), 0.005, 0)[2] == pytest.approx(half / iy / 0.01, rel=1e-13)
    assert at(i_section(0.2, 0.5, 0.01, 0.02), 0.005, 0.23)[2] == pytest.approx(
        0.2 * 0.02 * 0.24 / iy / 0.01, rel=1e-13
    )


@pytest.mark.parametrize("make", [lambda: rectangle(0.1, 0.2), lambda: box(0.1, 0.2, 0.01), lambda: circle(0.05),
                                  lambda: tube(0.05, 0.03), lambda: i_section(0.1, 0.2, 0.01, 0.02)])  # fmt: skip
def test_stress_points_are_symmetric(make: Callable[[], Section]) -> None:
    """Turned by half a turn the section is itself: same torsion stress, opposite shear stress along the tangent."""
    points = stress_points(make())
    for y, z, torque, along_y, along_z in points:
        found = points[np.argmin(np.hypot(points[:, 0] + y, points[:, 1] + z))]
        assert found == pytest.approx([-y, -z, torque, -along_y, -along_z], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "given",
    [
        {"circle": {"radius": 0.01}},
        {"tube": {"outer": 0.02, "inner": 0.01}},
        {"rectangle": {"width": 0.1, "height": 0.2, "shear_y": 0.8}},
        {"box": {"width": 0.1, "height": 0.2, "thickness": 0.01}},
        {"i_section": {"width": 0.1, "height": 0.2, "web": 0.01, "flange": 0.02}},
        {"general": {"area": 1.0, "iy": 2.0, "iz": 3.0, "torsion": 4.0, "shear_y": 0.5, "corners": [[1.0, -2.0]]}},
    ],
)
def test_plain_data_and_back(given: dict[str, Any]) -> None:
    section = section_from_data(given, "body 'arm'")
    assert section.to_data() == given
    assert section.kind not in ("circle", "box") or section.with_poisson(0.3).to_data() == given
    assert section_from_data(section, "x") is section


def test_a_section_made_by_hand_is_a_general_one() -> None:
    section = Section(1.0, 2.0, 3.0, 4.0, 0.5, 0.6)
    again = section_from_data(section.to_data(), "x")
    assert numbers(again) == numbers(section)
    assert (again.shear_y, again.shear_z) == (0.5, 0.6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"circel": {"radius": 1}}, "arm: there is no section 'circel'. .* Did you mean 'circle'?"),
        ({"circle": {"radius": 0}}, r"arm: section circle: radius \(in m\) is 0. Expected a finite number above 0"),
        ({"circle": {"radius": "r"}}, r"radius \(in m\): found 'r'"),
        ({"circle": {"diameter": 1}}, "arm: a section circle has no 'diameter'"),
        ({"tube": {"outer": 1}}, "arm: inner of the section tube not given"),
        ({"tube": {"outer": 1, "inner": 1}}, "inner is 1. Expected less than 1, the outer radius"),
        ({"box": {"width": 1, "height": 2, "thickness": 0.5}}, "thickness is 0.5. Expected less than 0.5"),
        ({"i_section": {"width": 1, "height": 2, "web": 1, "flange": 0.5}}, "web is 1. Expected less than 1"),
        ({"rectangle": {"width": 1, "height": 2, "shear_z": -1}}, "shear_z is -1"),
        ({"general": {"area": 1, "iy": 1, "iz": 1, "torsion": 1, "corners": [1]}}, "Expected numbers"),
        (0.01, "arm: found 0.01"),
    ],
)
def test_wrong_data_is_named(given: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        section_from_data(given, "arm")


@pytest.mark.parametrize("width", [1e200, 1e90, 10**400])
def test_lengths_beyond_all_measure_are_told(width: float) -> None:
    """The fourth power of 1e90 is no number."""
    with pytest.raises(ModelError, match="section"):
        section_from_data({"rectangle": {"width": width, "height": width}}, "rod.section")
