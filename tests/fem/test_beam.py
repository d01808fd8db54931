"""Beams in statics and stability: exact for end loads, no locking, rigid motion, buckling, rotating beams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cotree.errors import ModelError
from cotree.fem.beam import Beams
from cotree.fem.beam_recovery import Forces
from cotree.fem.element import degrees_of, rigid_motions
from cotree.fem.material import STEEL, Material
from cotree.fem.section import Section, general, rectangle

LENGTH = 1.3
SECTION = rectangle(0.11, 0.17)
E, G = STEEL.young, STEEL.shear_modulus
FACTOR = 10 * 1.3 / (12 + 11 * 0.3)


def turned(seed: int) -> np.ndarray:
    """A rotation matrix at random."""
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q * np.linalg.det(q)


def along(
    count: int, *, length: float = LENGTH, section: Section = SECTION, axes: np.ndarray | None = None, **more: Any
) -> Beams:
    """A straight beam of elements of unequal lengths (equal where there is one number to compare)."""
    axes = np.eye(3) if axes is None else axes
    places = np.linspace(0, length, count + 1)[:, None] * axes[:, 0]
    lines = np.stack([np.arange(count), np.arange(1, count + 1)], axis=1)
    return Beams(places, lines, section, more.pop("material", STEEL), orientation=axes[:, 1], **more)


def assembled(beams: Beams, matrices: np.ndarray) -> np.ndarray:
    """A dense matrix of all degrees of freedom."""
    size = int(beams.degrees.max()) + 1
    whole = np.zeros((size, size))
    for degrees, matrix in zip(beams.degrees, matrices, strict=True):
        whole[np.ix_(degrees, degrees)] += matrix
    return whole


def point_loads(beams: Beams, load: np.ndarray) -> np.ndarray:
    """Forces on the degrees of freedom from forces on the mass points."""
    forces = np.zeros(int(beams.degrees.max()) + 1)
    np.add.at(forces, beams.degrees, np.einsum("egik,egi->ek", beams.cloud().rows, load))
    return forces


def solved(beams: Beams, forces: np.ndarray, held: Any) -> np.ndarray:
    """Displacements under forces with some degrees of freedom held."""
    free = np.setdiff1d(np.arange(len(forces)), held)
    u = np.zeros_like(forces)
    u[free] = np.linalg.solve(assembled(beams, beams.stiffness())[np.ix_(free, free)], forces[free])
    return u


def flexibility(length: float, shear: bool) -> np.ndarray:
    """Tip displacement of Timoshenko's cantilever for unit forces and moments at the tip, in local axes."""
    flex = np.zeros((6, 6))
    a = SECTION.area
    flex[0, 0], flex[3, 3] = length / E / a, length / G / SECTION.torsion
    slip = length / FACTOR / G / a if shear else 0.0
    for move, turn, inertia, sign in ((1, 5, SECTION.iz, 1), (2, 4, SECTION.iy, -1)):
        flex[move, move] = length**3 / 3 / E / inertia + slip
        flex[turn, turn] = length / E / inertia
        flex[move, turn] = flex[turn, move] = sign * length**2 / 2 / E / inertia
    return flex


@pytest.mark.parametrize("shear", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_one_element_is_exact_for_end_loads(seed: int, shear: bool) -> None:
    """Tip forces and moments in all directions: bending in both planes, axial force, torsion, anywhere in space."""
    axes = turned(seed)
    beams = along(1, axes=axes, shear=shear)
    found = np.linalg.inv(beams.stiffness()[0, 6:, 6:])
    turn = np.kron(np.eye(2), axes)
    expected = flexibility(LENGTH, shear)
    found = turn.T @ found @ turn
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((found - expected) / scale).max() < 1e-12


def test_unequal_elements_are_exact_too() -> None:
    axes = turned(7)
    places = np.array([0.0, 0.2, 0.35, LENGTH])[:, None] * axes[:, 0]
    beams = Beams(places, [[0, 1], [2, 1], [2, 3]], SECTION, STEEL, orientation=axes[:, 1])
    force = np.concatenate([axes @ [3.0, -2.0, 5.0], axes @ [1.0, 0.3, -0.7]])
    u = solved(beams, np.concatenate([np.zeros(18), force]), np.arange(6))
    local = np.kron(np.eye(2), axes.T) @ u[-6:]
    assert local == pytest.approx(flexibility(LENGTH, True) @ [3.0, -2.0, 5.0, 1.0, 0.3, -0.7], rel=1e-11)


@pytest.mark.parametrize("slender", [1.0, 1e2, 1e5])
def test_no_locking(slender: float) -> None:
    """One element at L/h from 1 to 1e5: tip deflection F L^3 / 3 EI + F L / kGA to rounding."""
    h = LENGTH / slender
    section = rectangle(h, h)
    beams = along(1, section=section)
    u = np.linalg.solve(beams.stiffness()[0, 6:, 6:], [0, 1.0, 0, 0, 0, 0])
    expected = LENGTH**3 / 3 / E / (h**4 / 12) + LENGTH / FACTOR / G / h**2
    assert u[1] == pytest.approx(expected, rel=1e-12)
    assert u[5] == pytest.approx(LENGTH**2 / 2 / E / (h**4 / 12), rel=1e-12)


OFFSETS: list[Any] = [(0.0, 0.0), (0.05, -0.11), "ends"]


def loose(offset: Any, **more: Any) -> tuple[np.ndarray, Beams]:
    """Elements anywhere in space, with their nodes."""
    rng = np.random.default_rng(5)
    places = rng.normal(size=(4, 3))
    if offset == "ends":
        offset = 0.1 * rng.normal(size=(3, 2, 2))
    lines = [[0, 1], [1, 2], [3, 1]]
    return places, Beams(places, lines, SECTION, STEEL, orientation=rng.normal(size=3), offset=offset, **more)


@pytest.mark.parametrize("offset", OFFSETS)
def test_rigid_motion_costs_no_energy_and_nothing_else_is_free(offset: Any) -> None:
    places, beams = loose(offset)
    stiffness = assembled(beams, beams.stiffness())
    motion = rigid_motions(places)
    assert np.abs(stiffness @ motion).max() < 1e-12 * np.abs(stiffness).max()
    values = np.linalg.eigvalsh(stiffness)
    assert np.abs(values[:6]).max() < 1e-12 * values[-1]
    assert values[6] > 1e-6 * values[-1]
    for matrix in beams.stiffness():
        assert np.linalg.matrix_rank(matrix, tol=1e-11 * np.abs(matrix).max(), hermitian=True) == 6


def test_offset_is_a_rigid_arm() -> None:
    """An axial force at the nodes of an offset beam bends it by F times the offset."""
    beams = along(1, offset=(0.2, 0.0))
    u = np.linalg.solve(beams.stiffness()[0, 6:, 6:], [1e3, 0, 0, 0, 0, 0])
    bending = 1e3 * 0.2 * LENGTH / E / SECTION.iz  # rotation under the moment F y about z
    assert u[5] == pytest.approx(bending, rel=1e-11)
    assert u[0] == pytest.approx(1e3 * LENGTH / E / SECTION.area + 0.2 * bending, rel=1e-11)


def test_kelvin_voigt_is_the_retardation_time_times_the_stiffness() -> None:
    damped = along(2, material=Material(1e9, 1e3, poisson=0.3, viscosity=2e-3))
    found = damped.viscosity()
    assert found is not None
    assert np.array_equal(found, 2e-3 * damped.stiffness())
    assert along(2).viscosity() is None


def pressed(count: int) -> Forces:
    """A unit axial force that presses, in all elements, at both ends and four points between."""
    none = np.zeros((count, 6))
    return Forces(none - 1, none, none, none, none, none)


def buckling(count: int, shear: bool, length: float = 3.0) -> float:
    """Smallest load of a beam pinned at both ends, in the plane xy, from K - P G."""
    beams = along(count, shear=shear, length=length)
    kept = np.array([6 * n + d for n in range(count + 1) for d in (1, 5) if d == 5 or 0 < n < count])
    stiffness = assembled(beams, beams.stiffness())[np.ix_(kept, kept)]
    geometric = assembled(beams, beams.geometric(pressed(count)))[np.ix_(kept, kept)]
    return float(1 / np.linalg.eigvals(np.linalg.solve(stiffness, -geometric)).real.max())


def test_buckling_of_a_pinned_beam() -> None:
    """Euler's pi^2 EI / L^2, from above, of fourth order."""
    error = np.array([buckling(count, False) for count in (4, 8, 16)]) / (np.pi**2 * E * SECTION.iz / 9) - 1
    assert np.all(error > 0)
    assert error[-1] < 1e-5
    assert np.log2(error[:-1] / error[1:]) == pytest.approx(4, abs=0.05)


def test_buckling_of_a_stocky_beam() -> None:
    """Engesser's P / (1 + P / kGA), from above. Shear strain is constant in an element: of second order in the end."""
    euler = np.pi**2 * E * SECTION.iz / 0.7**2
    exact = euler / (1 + euler / (FACTOR * G * SECTION.area))
    error = np.array([buckling(count, True, 0.7) for count in (8, 16, 32)]) / exact - 1
    assert np.all(error > 0)
    assert np.log2(error[-2] / error[-1]) == pytest.approx(2, abs=0.1)
    assert (4 * error[-1] - error[-2]) / 3 == pytest.approx(0, abs=1e-6)


def test_one_element_buckles_as_published() -> None:
    """One cubic element between pins: 12 EI / L^2 (Przemieniecki 1968, ch. 15)."""
    assert buckling(1, False) == pytest.approx(12 * E * SECTION.iz / 9, rel=1e-12)


@pytest.mark.parametrize("mass", ["consistent", "linear"])
@pytest.mark.parametrize("rotary", [True, False])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("offset", [(0.0, 0.0), (0.03, -0.02)])
def test_axial_force_in_a_rotating_beam(mass: str, rotary: bool, count: int, offset: Any) -> None:
    """N = rho A w^2 (L^2 - x^2) / 2 at the Gauss points, also with one element; rho A a (L - x) under gravity."""
    axes, spin = turned(3), 40.0
    beams = along(count, axes=axes, rotary=rotary, mass=mass, offset=offset)
    cloud = beams.cloud()
    x = (np.array([-1.0, *np.polynomial.legendre.leggauss(4)[0], 1.0]) + 1) / 2
    x = (np.arange(count)[:, None] + x) * LENGTH / count
    line = STEEL.density * SECTION.area
    out = np.einsum("egi,i->eg", cloud.place, axes[:, 0])[..., None] * axes[:, 0]
    for load, expected in (
        (cloud.mass[..., None] * spin**2 * out, line * spin**2 * (LENGTH**2 - x**2) / 2),
        (cloud.mass[..., None] * 9.81 * axes[:, 0], line * 9.81 * (LENGTH - x)),
    ):
        u = solved(beams, point_loads(beams, load), np.arange(6))
        found = beams.resultants(u[beams.degrees], load).n
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * expected.max())


def test_column_under_its_own_weight() -> None:
    """Greenhill's 9/4 j^2 EI / L^3 with the first zero j of J_{-1/3}: the axial force is a line in each element."""
    from scipy.optimize import brentq
    from scipy.special import jv

    exact = 9 / 4 * brentq(lambda x: jv(-1 / 3, x), 1.5, 2.2) ** 2
    assert exact == pytest.approx(7.8373, abs=1e-4)
    error = []
    for count in (2, 4, 8, 16):
        beams = along(count, shear=False)
        cloud = beams.cloud()
        load = -cloud.mass[..., None] * np.array([1.0, 0, 0]) / (STEEL.density * SECTION.area)
        u = solved(beams, point_loads(beams, load), np.arange(6))
        geometric = assembled(beams, beams.geometric(beams.resultants(u[beams.degrees], load)))
        kept = np.array([6 * n + d for n in range(1, count + 1) for d in (1, 5)])
        stiffness = assembled(beams, beams.stiffness())[np.ix_(kept, kept)]
        found = 1 / np.linalg.eigvals(np.linalg.solve(stiffness, -geometric[np.ix_(kept, kept)])).real.max()
        error.append(found * LENGTH**3 / E / SECTION.iz / exact - 1)
    assert min(error) > 0
    assert error[-1] < 1e-5
    assert np.log2(error[1] / error[2]) == pytest.approx(4, abs=0.1)
    assert np.log2(error[2] / error[3]) == pytest.approx(4, abs=0.05)


@pytest.mark.parametrize(("spin", "expected"), [(1.0, (3.6817, 22.1810)), (12.0, (13.1702, 37.6031))])
def test_flapping_of_a_rotating_beam(spin: float, expected: tuple[float, float]) -> None:
    """Wright, Smith, Thresher, Wang 1982: Euler-Bernoulli, clamped at the axis, EI = rho A = L = 1, printed digits."""
    from scipy.linalg import eigh

    material = Material(1.0, 1.0, poisson=0.3)
    section = general(1.0, 1.0, 1.0, 1.0)
    beams = along(32, length=1.0, section=section, material=material, shear=False, rotary=False)
    cloud = beams.cloud()
    load = cloud.mass[..., None] * spin**2 * cloud.place * [1.0, 0, 0]
    u = solved(beams, point_loads(beams, load), np.arange(6))
    stiffness = beams.stiffness() + beams.geometric(beams.resultants(u[beams.degrees], load))
    kept = np.array([6 * n + d for n in range(1, 33) for d in (2, 4)])
    matrices = (assembled(beams, each)[np.ix_(kept, kept)] for each in (stiffness, cloud.mass_matrices()))
    found = np.sqrt(eigh(*matrices, eigvals_only=True)[:2])
    assert found == pytest.approx(expected, abs=6e-5)


def test_default_axes() -> None:
    """Along body x the body's axes; along z, y stays body y; else y is level."""
    places = [[0, 0, 0], [2.0, 0, 0], [0, 0, 3.0], [1.0, 1, 1]]
    beams = Beams(places, [[0, 1], [0, 2], [0, 3]], SECTION, STEEL)
    assert beams.axes[0] == pytest.approx(np.eye(3))
    assert beams.axes[1] == pytest.approx(np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]))
    assert beams.axes[2, 1] == pytest.approx([-np.sqrt(0.5), np.sqrt(0.5), 0])
    assert np.array_equal(beams.degrees, degrees_of([[0, 1], [0, 2], [0, 3]]))
    for axes in beams.axes:
        assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-15)
        assert np.linalg.det(axes) == pytest.approx(1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lines": [[0, 1], [1, 1]]}, "beams: element 1 has no length"),
        ({"lines": []}, "beams: there is no line"),
        ({"lines": [[0, 5]]}, "node numbers from 0 to 5. Expected numbers from 0 to 2"),
        ({"orientation": (3.0, 0, 0)}, "element 0 is parallel to its orientation"),
        ({"orientation": (1.0, 0)}, "a vector roughly along local y"),
        ({"offset": (0.0, 1.0, 2.0)}, r"offset has shape \(3,\)"),
        ({"mass": "lumped"}, "mass is 'lumped'. Expected 'consistent' or 'linear'"),
        ({"section": general(1.0, 1.0, 1.0, 1.0)}, "shear factors of a general section are not given"),
    ],
)
def test_wrong_beams_are_named(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"places": [[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]], "lines": [[0, 1], [1, 2]]}
    given = given | {"section": SECTION, "material": STEEL} | change
    with pytest.raises(ModelError, match=message):
        Beams(**given)
