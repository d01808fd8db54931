"""Beams under initial section forces of all kinds: lateral and torsional buckling, torque, exact strains, rotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.fem.beam import Beams
from cotree.fem.material import Material
from cotree.fem.section import Section, general
from fem.test_beam import along, assembled, point_loads, solved, turned

MATERIAL = Material(1.0, 1.0, shear=0.4)
STRIP = general(1e3, 1e9, 2.0, 3.0)
"""Very stiff in the plane xz, so that it stays straight until it buckles: EIz = 2, GJ = 1.2."""
ROOT = np.sqrt(2.0 * 1.2)
ROUND = general(1e3, 1.0, 1.0, 1e6)


def strip(count: int, section: Section = STRIP, **more: Any) -> Beams:
    """A beam of length 1 without shear deformation, mass on its centroid line."""
    return along(count, length=1.0, section=section, material=MATERIAL, **({"shear": False, "rotary": False} | more))


def critical(beams: Beams, forces: np.ndarray, held: Sequence[int], load: np.ndarray | None = None) -> float:
    """The smallest factor on the forces at which K + factor G is singular."""
    from scipy.linalg import eigh

    u = solved(beams, forces, held)
    geometric = assembled(beams, beams.geometric(beams.resultants(u[beams.degrees], load)))
    free = np.setdiff1d(np.arange(len(forces)), held)
    stiffness = assembled(beams, beams.stiffness())
    values = eigh(-geometric[np.ix_(free, free)], stiffness[np.ix_(free, free)], eigvals_only=True)
    return float(1 / values[-1])


def at_node(count: int, node: int, **values: float) -> np.ndarray:
    """Forces with some at one node."""
    forces = np.zeros(6 * count + 6)
    for name, value in values.items():
        forces[6 * node + ("x", "y", "z", "rx", "ry", "rz").index(name)] = value
    return forces


def forks(count: int) -> list[int]:
    """Both ends held across and against twist, free to turn otherwise."""
    return [0, 1, 2, 3, *(6 * count + d for d in (1, 2, 3))]


def first_zero(order: float, near: float) -> float:
    """Of the Bessel function of the first kind."""
    from scipy.optimize import brentq
    from scipy.special import jv

    return float(brentq(lambda x: jv(order, x), near - 0.1, near + 0.1))


def weight(beams: Beams) -> np.ndarray:
    """Forces on the mass points of a unit load along z in all."""
    mass = beams.cloud().mass
    return mass[..., None] / mass.sum() * np.array([0.0, 0.0, 1.0])


def tip_force(count: int) -> float:
    return critical(strip(count), at_node(count, count, z=1.0), range(6))


def pure_bending(count: int) -> float:
    ends = at_node(count, 0, ry=-1.0) + at_node(count, count, ry=1.0)
    return critical(strip(count), ends, forks(count))


def uniform_load(count: int) -> float:
    beams = strip(count)
    return critical(beams, point_loads(beams, weight(beams)), range(6), weight(beams))


def middle_force(count: int) -> float:
    return critical(strip(count), at_node(count, count // 2, z=1.0), forks(count))


def uniform_load_in_forks(count: int) -> float:
    beams = strip(count)
    return critical(beams, point_loads(beams, weight(beams)), forks(count), weight(beams))


@pytest.mark.parametrize(
    ("case", "printed", "digit", "exact"),
    [
        (tip_force, 4.0126, 5e-5, 2 * first_zero(-1 / 4, 2.0)),
        (pure_bending, np.pi, 5e-5, np.pi),
        (uniform_load, 12.85, 5e-3, 6 * first_zero(-1 / 6, 2.14)),
        (middle_force, 16.94, 5e-3, None),
        (uniform_load_in_forks, 28.3, 5e-2, None),
    ],
)
def test_lateral_buckling_of_a_narrow_beam(case: Any, printed: float, digit: float, exact: float | None) -> None:
    """Prandtl 1899, Michell 1899; Timoshenko and Gere 1961, ch. 6: c sqrt(EI GJ) / L^2 (L for moments), from above.

    Cantilevers: J_{-1/4}(P / 2) = 0, J_{-1/6}(q / 6) = 0. Twist is linear in an element, so the order is two.
    """
    found = np.array([case(count) for count in (8, 16, 32)]) / ROOT
    better = (4 * found[-1] - found[-2]) / 3
    assert better == pytest.approx(printed, abs=digit)
    if exact is not None:
        assert better == pytest.approx(exact, rel=2e-6)
        error = found / exact - 1
        assert np.all(error > 0)
        assert np.log2(error[:-1] / error[1:]) == pytest.approx(2, abs=0.02)


@pytest.mark.parametrize("case", [tip_force, uniform_load])
def test_the_other_plane_buckles_alike(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The section turned by a quarter, and the load with it: the same numbers with Mz and Qy for My and Qz."""
    upright = case(4)

    def lying(count: int) -> Beams:
        return along(count, length=1.0, section=general(1e3, 2.0, 1e9, 3.0), material=MATERIAL, shear=False,
                     rotary=False, axes=np.eye(3)[:, [0, 2, 1]] * [1, 1, -1])  # fmt: skip

    monkeypatch.setitem(case.__globals__, "strip", lying)
    assert case(4) == pytest.approx(upright, rel=1e-9)


def test_direction_and_place_do_not_matter() -> None:
    """The strip anywhere in space, its force up or down: the same critical load."""
    axes = turned(11)
    beams, straight = (strip(4, general(10.0, 50.0, 2.0, 3.0), axes=each) for each in (axes, np.eye(3)))
    expected = critical(straight, at_node(4, 4, z=1.0), range(6))
    for sign in (1.0, -1.0):
        forces = np.zeros(30)
        forces[24:27] = sign * axes[:, 2]
        assert critical(beams, forces, range(6)) == pytest.approx(expected, rel=1e-9)


def test_torsional_buckling_of_a_column() -> None:
    """Wagner 1929: a column of low torsional stiffness twists at P = GJ A / (Iy + Iz), with any mesh."""
    section = general(2.0, 5.0, 3.0, 0.01)
    for count in (1, 3):
        held = [*range(6), *(6 * n + d for n in range(1, count + 1) for d in (1, 2, 4, 5))]
        found = critical(strip(count, section), at_node(count, count, x=-1.0), held)
        assert found == pytest.approx(0.4 * 0.01 * 2 / 8, rel=1e-10)


def pinned_torque(k: float) -> float:
    """Pinned shaft under semi-tangential torque: z = v + i w with z'''' = i k z''', z'' = i k z' / 2 at the ends."""
    rows = []
    for x in (0.0, 1.0):
        e = np.exp(1j * k * x)
        rows += [[1, x, x**2, e], [0, -0.5j * k, 2 - 1j * k * x, -(k**2) * e + 0.5 * k**2 * e]]
    return float(np.abs(np.linalg.det(np.array(rows))))


def test_buckling_of_a_shaft_under_torque() -> None:
    """Greenhill 1883; Ziegler 1968: clamped shaft tan(m / 4) = m / 4 -> 8.9868 EI / L, whatever the kind of torque.

    Free end, semi-tangential torque: pi EI / L; pinned ends: 4.9113 EI / L from its differential equation.
    """
    from scipy.optimize import brentq, minimize_scalar

    clamped = 2 * brentq(lambda x: np.tan(x) - x, 4.4, 4.6)
    assert clamped == pytest.approx(8.9868, abs=1e-4)
    pinned = minimize_scalar(pinned_torque, bounds=(4.5, 5.5), method="bounded", options={"xatol": 1e-9})
    assert pinned.fun < 1e-6
    for exact, ends in ((clamped, (0, 1, 2, 3, 4, 5)), (np.pi, None), (pinned.x, (0, 1, 2, 3))):
        error = []
        for count in (4, 8, 16):
            tip = [6 * count + d for d in (ends or ())[1:] if d != 3]
            held = [*(ends or range(6)), *tip]
            error.append(critical(strip(count, ROUND), at_node(count, count, rx=1.0), held) / exact - 1)
        assert min(error) > 0
        assert error[-1] < 2e-4
        assert np.log2(np.array(error[:-1]) / error[1:])[-1] == pytest.approx(4, abs=0.2)


LEG = 240.0
"""Length of a leg in mm of the frame of Argyris et al. 1979: 30 x 0.6 mm, E = 71240 N/mm^2, Poisson's ratio 0.31."""
INERTIA, TORSION = 30 * 0.6**3 / 12, 30 * 0.6**3 / 3
SHEET = Material(71240.0, 1.0, poisson=0.31)


def angle_frame(count: int, corners: Any) -> Beams:
    """Two legs in the plane xy, their high side in it."""
    mesh = ct.mesh.polyline(corners, [count, count])
    section = general(18.0, INERTIA, 0.6 * 30**3 / 12, TORSION)
    return Beams(mesh.nodes, mesh.lines, section, SHEET, shear=False)


def test_a_right_angle_under_end_moments() -> None:
    """Argyris et al. 1979; Timoshenko and Gere: pi sqrt(EI GJ) / L = 622.2 N mm, with either sign.

    Bending moment of one leg is torque of the other where the corner turns: only moments that fit together give this.
    """
    exact = np.pi * np.sqrt(SHEET.young * INERTIA * SHEET.shear_modulus * TORSION) / LEG
    assert exact == pytest.approx(622.2, abs=0.05)
    c = LEG / np.sqrt(2)
    found = []
    for count in (8, 16):
        beams, last = angle_frame(count, [(0, 0, 0), (c, c, 0), (2 * c, 0, 0)]), 12 * count
        moments = at_node(2 * count, 0, rz=1.0) + at_node(2 * count, 2 * count, rz=-1.0)
        held = [0, 1, 2, 3, 4, *(last + d for d in (1, 2, 3, 4))]
        found.append([critical(beams, sign * moments, held) for sign in (1, -1)])
    coarse, fine = np.array(found)
    assert np.all(fine > exact)
    assert (4 * fine - coarse) / 3 == pytest.approx(exact, rel=2e-5)


def test_a_right_angle_under_a_force_at_its_tip() -> None:
    """Argyris et al. 1979, Simo and Vu-Quoc 1986: clamped; force at the tip along the clamped leg: 1.09 N."""
    count = 16
    beams = angle_frame(count, [(0, 0, 0), (LEG, 0, 0), (LEG, -LEG, 0)])
    found = critical(beams, at_node(2 * count, 2 * count, x=1.0), range(6))
    assert found == pytest.approx(1.09, abs=5e-3)


THIN = ct.section.rectangle(0.002, 0.04)
ALLOY = ct.Material(young=7e10, density=2700.0, poisson=0.33)
PRANDTL = 4.0126 * np.sqrt(7e10 * THIN.iz * ALLOY.shear_modulus * THIN.torsion)
"""Critical force in N at the tip of a thin strip, 1 m long: 9.04."""


def welded_strip(part: float) -> ct.Model:
    """The strip with a part of its critical force at its tip, along its high side."""
    m = ct.Model("strip", gravity=(0, 0, 0))
    m.add(ct.Beam("beam", length=1.0, section=THIN, material=ALLOY, elements=12, shapes="clamped", modes=14))
    m.add(ct.Weld("root", m.ground, "beam.start"))
    m.add(ct.PointForce("pull", "beam.end", force=(0, 0, part * PRANDTL)))
    return m


def test_a_strip_in_a_model_buckles_at_prandtls_force() -> None:
    """Equilibrium is stable below and unstable above, where the lateral frequency passes zero.

    A strip that bends before it buckles bears 1 / sqrt(1 - EIz / EIy) as much, here 0.13 per cent more.
    """
    parts = np.array([0.0, 0.7, 0.9, 0.97, 1.03, 1.1, 3.0])
    rests = [welded_strip(part).static_equilibrium(seek="nearest") for part in parts]
    assert [rest.stability for rest in rests] == ["stable"] * 4 + ["unstable"] * 3
    squares = np.array([rest.stiffness[0] for rest in rests])  # of the lowest frequency
    lowest = welded_strip(0.9).modes().frequencies[0]
    assert lowest == pytest.approx(np.sqrt(squares[2]) / (2 * np.pi), rel=1e-6)
    critical_part = parts[3] + squares[3] * (parts[4] - parts[3]) / (squares[3] - squares[4])
    assert critical_part == pytest.approx(1, abs=5e-3)
    with pytest.raises(ct.SolveError, match="no static equilibrium"):
        welded_strip(1.1).static_equilibrium()
