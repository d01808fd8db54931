"""Forces and stress inside beams against the formulas of strength of materials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cotree.errors import ModelError
from cotree.fem.beam import Beams, Mass
from cotree.fem.material import STEEL
from cotree.fem.section import Section, box, circle, general, rectangle, tube

LENGTH = 1.3
SECTION = rectangle(0.11, 0.17)
E, G = STEEL.young, STEEL.shear_modulus
SHEAR = 10 * 1.3 / (12 + 11 * 0.3) * G * SECTION.area
S = np.linspace(0, 1, 7)
X = LENGTH * S


def one(section: Section = SECTION, **more: Any) -> Beams:
    """One element along x."""
    return Beams([[0, 0, 0], [LENGTH, 0, 0]], [[0, 1]], section, STEEL, **more)


def tip_loaded(beams: Beams, force: Any) -> np.ndarray:
    """Displacements (1, 12) of a cantilever under a tip force and moment."""
    u = np.zeros((1, 12))
    u[0, 6:] = np.linalg.solve(beams.stiffness()[0, 6:, 6:], np.asarray(force, dtype=float))
    return u


@pytest.mark.parametrize("shear", [True, False])
def test_forces_of_a_cantilever(shear: bool) -> None:
    """Equilibrium of the part beyond a station: force F, moment M + (L - x) ex x F."""
    beams = one(shear=shear)
    f, m = np.array([3.0, -2.0, 5.0]), np.array([0.7, 1.1, -0.4])
    n, qy, qz, mx, my, mz = beams.forces(tip_loaded(beams, [*f, *m]), S)
    moment = m + np.cross((LENGTH - X)[:, None] * [1.0, 0, 0], f)
    assert np.stack([n[0], qy[0], qz[0]], axis=1) == pytest.approx(np.tile(f, (7, 1)), rel=1e-10)
    assert np.stack([mx[0], my[0], mz[0]], axis=1) == pytest.approx(moment, rel=1e-10)


@pytest.mark.parametrize("seed", [0, 1])
def test_forces_do_not_depend_on_the_place_in_space(seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    axes = q * np.sign(np.diag(r)) * np.linalg.det(q * np.sign(np.diag(r)))
    beams = Beams([[0, 0, 0], LENGTH * axes[:, 0]], [[0, 1]], SECTION, STEEL, orientation=axes[:, 1])
    force = rng.normal(size=6)
    found = beams.forces(tip_loaded(beams, np.kron(np.eye(2), axes) @ force), S)
    expected = one().forces(tip_loaded(one(), force), S)
    assert np.array(found) == pytest.approx(np.array(expected), rel=1e-9)


def test_deflection_between_the_nodes() -> None:
    """Timoshenko: v = F (L x^2 / 2 - x^3 / 6) / EI + F x / kGA, and the same along z."""
    beams = one()
    found = beams.displacement(tip_loaded(beams, [4.0, 2.0, 3.0, 0, 0, 0]), S)[0]
    bent = LENGTH * X**2 / 2 - X**3 / 6
    assert found[:, 0] == pytest.approx(4 * X / E / SECTION.area, rel=1e-11)
    assert found[:, 1] == pytest.approx(2 * (bent / E / SECTION.iz + X / SHEAR), rel=1e-11)
    assert found[:, 2] == pytest.approx(3 * (bent / E / SECTION.iy + X / SHEAR), rel=1e-11)


def loaded(beams: Beams, load: np.ndarray, held: list[int]) -> np.ndarray:
    """Displacements (1, 12) under forces on the mass points."""
    force = np.einsum("gik,gi->k", beams.cloud().rows[0], load[0])
    free = np.setdiff1d(np.arange(12), held)
    u = np.zeros((1, 12))
    if len(free):
        u[0, free] = np.linalg.solve(beams.stiffness()[0][np.ix_(free, free)], force[free])
    return u


HELD = {"clamped": list(range(12)), "cantilever": list(range(6)), "propped": [*range(6), 7, 8]}


def support(kind: str, q: float, plane: float) -> tuple[float, float]:
    """Shear force and moment at the start under a uniform load q: Timoshenko's beam on its supports."""
    if kind == "clamped":
        return q * LENGTH / 2, -q * LENGTH**2 / 12
    tip = 0.0
    if kind == "propped":
        sag = LENGTH**4 / 8 / plane + LENGTH**2 / 2 / SHEAR
        tip = q * sag / (LENGTH**3 / 3 / plane + LENGTH / SHEAR)
    return q * LENGTH - tip, tip * LENGTH - q * LENGTH**2 / 2


@pytest.mark.parametrize("kind", list(HELD))
@pytest.mark.parametrize("rotary", [True, False])
def test_forces_under_a_uniform_load(kind: str, rotary: bool) -> None:
    """One element under a uniform load across and along: parabolas, exact on all supports."""
    beams, (px, py, pz) = one(rotary=rotary), (300.0, 500.0, -700.0)
    cloud = beams.cloud()
    load = cloud.mass[..., None] / cloud.mass.sum() * LENGTH * np.array([px, py, pz])
    n, qy, qz, mx, my, mz = (each[0] for each in beams.forces(loaded(beams, load, HELD[kind]), S, load))
    for shear, moment, q, plane in ((qy, -mz, py, E * SECTION.iz), (qz, my, pz, E * SECTION.iy)):
        start, bent = support(kind, q, plane)
        # The moment here is that of the plane with M' = Q: -Mz and My.
        scale = abs(q) * LENGTH**2
        assert shear == pytest.approx(start - q * X, rel=1e-10, abs=1e-11 * scale)
        assert moment == pytest.approx(bent + start * X - q * X**2 / 2, rel=1e-10, abs=1e-11 * scale)
    middle = 0.0 if kind != "clamped" else -px * LENGTH / 2
    assert n == pytest.approx(px * (LENGTH - X) + middle, rel=1e-10, abs=1e-9)
    assert mx == pytest.approx(0, abs=1e-9)


def test_forces_under_a_linear_load_and_moments() -> None:
    """A cantilever under q = c x; an axial load that follows y, as in spinning, gives no resultant force or moment."""
    beams = one()
    cloud = beams.cloud()
    share = cloud.mass / cloud.mass.sum() * LENGTH
    load = share[..., None] * 200.0 * cloud.place[..., :1] * [0.0, 1.0, 0.0]
    found = beams.forces(loaded(beams, load, HELD["cantilever"]), S, load)
    assert found.qy[0] == pytest.approx(100.0 * (LENGTH**2 - X**2), rel=1e-10, abs=1e-9)
    moment = 200.0 * (LENGTH**3 / 3 - X * LENGTH**2 / 2 + X**3 / 6)
    assert found.mz[0] == pytest.approx(moment, rel=1e-10, abs=1e-9)
    axial = share[..., None] * 200.0 * cloud.place[..., 1:2] * [1.0, 0.0, 0.0]
    found = beams.forces(loaded(beams, axial, HELD["cantilever"]), S, axial)
    bending = -200.0 * SECTION.iz / SECTION.area * (LENGTH - X)  # of the line moment -y qx
    assert found.n[0] == pytest.approx(0, abs=1e-9)
    assert found.mz[0] == pytest.approx(bending, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("mass", ["consistent", "linear"])
def test_torque_of_a_line_moment(mass: Mass) -> None:
    """Forces round the section at every station twist a cantilever: Mx = m (L - x)."""
    beams = one(mass=mass)
    cloud = beams.cloud()
    share = cloud.mass / cloud.mass.sum() * LENGTH
    round_ = np.cross([1.0, 0, 0], cloud.place * [0, 1, 1])
    load = share[..., None] * round_
    found = beams.forces(loaded(beams, load, HELD["cantilever"]), S, load)
    polar = (SECTION.iy + SECTION.iz) / SECTION.area
    assert found.mx[0] == pytest.approx(polar * (LENGTH - X), rel=1e-10, abs=1e-13)


def test_stress_of_a_rectangle() -> None:
    """N/A +- 6 M / b h^2 at the corners; T / 0.246 h b^2 (h = 2 b) and 3/2 Q/A in the middle of the long face."""
    b, h = 0.1, 0.2
    beams = one(rectangle(b, h))
    found = beams.stress(tip_loaded(beams, [1e4, 2e3, -3e3, 400.0, 0, 0]), [0.0])
    bend_z, bend_y = 2e3 * LENGTH, 3e3 * LENGTH  # at the root
    expected = 1e4 / b / h + 6 * bend_z / (h * b**2) + 6 * bend_y / (b * h**2)
    assert found.highest[0, 0] == pytest.approx(expected, rel=1e-10)
    assert found.lowest[0, 0] == pytest.approx(2e4 / b / h - expected, rel=1e-10)
    worst = int(found.normal[0, 0].argmax())
    assert found.points[worst] == pytest.approx([-b / 2, h / 2])  # the tip is pulled to +y and -z
    assert found.mises[0, 0, worst] == pytest.approx(expected, rel=1e-10)
    side = int(np.argmin(np.hypot(found.points[:, 0] + b / 2, found.points[:, 1])))
    assert found.shear[0, 0, side] == pytest.approx(400.0 / 0.246 / (h * b**2) + 1.5 * 3e3 / b / h, rel=2e-3)
    assert found.normal[0, 0, side] == pytest.approx(1e4 / b / h + 6 * bend_z / (h * b**2), rel=1e-10)


def test_stress_of_a_shaft() -> None:
    """Tension, bending about a slanted axis and torque: N/A + 4 M / pi r^3, 2 T / pi r^3, von Mises of both."""
    r = 0.02
    beams = one(circle(r))
    found = beams.stress(tip_loaded(beams, [7e3, 0, 0, 150.0, 30.0, 40.0]), [0.0, 0.4, 1.0])
    bending, twist = 4 * 50.0 / np.pi / r**3, 2 * 150.0 / np.pi / r**3
    assert found.highest == pytest.approx(7e3 / np.pi / r**2 + bending, rel=1e-10)
    assert found.lowest == pytest.approx(7e3 / np.pi / r**2 - bending, rel=1e-10)
    assert found.shear == pytest.approx(twist, rel=1e-10)
    assert found.mises.max() <= np.hypot(found.highest.max(), np.sqrt(3) * twist) * (1 + 1e-12)
    assert found.mises.max() > 0.99 * np.hypot(found.highest.max(), np.sqrt(3) * twist)


def test_stress_of_a_thin_tube_and_a_box() -> None:
    """2 Q/A and T / 2 A t on the neutral axis of a thin tube; M h / 2 I at the flange of a box."""
    ring = tube(0.1, 0.0999)
    beams = one(ring)
    found = beams.stress(tip_loaded(beams, [0, 0, 1e3, 50.0, 0, 0]), [0.5])
    side = int(np.argmax(found.points[:, 0]))
    assert found.normal[0, 0, side] == pytest.approx(0, abs=1e-6 * np.abs(found.normal).max())
    area = np.pi * 0.09995**2
    assert found.shear[0, 0, side] == pytest.approx(2e3 / ring.area + 50 / (2 * area * 1e-4), rel=1e-3)
    beams = one(box(0.1, 0.2, 0.01))
    found = beams.stress(tip_loaded(beams, [0, 0, 0, 0, 300.0, 0]), [0.3])
    inertia = (0.1 * 0.2**3 - 0.08 * 0.18**3) / 12
    assert found.highest[0, 0] == pytest.approx(300 * 0.1 / inertia, rel=1e-10)


def test_stress_of_a_general_section() -> None:
    """Corners as given; without them there is nothing to look at."""
    section = general(0.01, 2e-5, 3e-5, 1e-5, 0.8, 0.8, corners=[(0.1, 0.0), (-0.05, 0.08)])
    beams = one(section)
    found = beams.stress(tip_loaded(beams, [500.0, 0, 0, 0, 20.0, 30.0]), [1.0])
    expected = [5e4 - 30 * y / 3e-5 + 20 * z / 2e-5 for y, z in section.corners]
    assert found.normal[0, 0] == pytest.approx(expected, rel=1e-10)
    plain = one(general(0.01, 2e-5, 3e-5, 1e-5, 0.8, 0.8))
    with pytest.raises(ModelError, match="general section without corners has no stress"):
        plain.stress(np.zeros((1, 12)), [0.0])
