"""Geometric stiffness of beams against exact strains and shapes in space; what rigid rotation and symmetry say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cotree.fem.beam import Beams
from cotree.fem.beam_geometric import work
from cotree.fem.beam_recovery import Forces
from cotree.fem.element import rigid_motions
from cotree.fem.material import STEEL
from cotree.fem.reduction import Basis
from cotree.fem.reference import Reference
from cotree.fem.structure import Structure
from cotree.fem.tables import tables
from fem.test_beam import LENGTH, SECTION, along, solved, turned

POLAR = (SECTION.iy + SECTION.iz) / SECTION.area


def cross(t: Any) -> np.ndarray:
    """The matrix of a cross product."""
    x, y, z = t
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def second_order(f: Callable[[float], Any], size: float = 1e-2) -> np.ndarray:
    """The part of f(e) that goes with e^2, by even differences at two sizes."""
    one, two = ((np.asarray(f(e)) + np.asarray(f(-e)) - 2 * np.asarray(f(0.0))) / 2 / e**2 for e in (size, 2 * size))
    return (4 * one - two) / 3


@pytest.mark.parametrize("seed", range(5))
def test_work_is_that_of_exact_strains(seed: int) -> None:
    """Rotation matrix R of the vector t: shear is R^T r', curvature the axis of R^T R', extension that of r'."""
    from scipy.linalg import expm_frechet

    rng = np.random.default_rng(seed)
    n, qy, qz, *m = force = rng.normal(size=6)
    rates = rng.normal(size=8)  # v', w', p, ry, rz, p', ry', rz'

    def exact(size: float) -> float:
        v, w, *turns = size * rates
        R, R_rate = expm_frechet(cross(turns[:3]), cross(turns[3:]))
        along_curve = np.array([1.0, v, w])
        gamma, bend = R.T @ along_curve, R.T @ R_rate
        curvature = np.array([bend[2, 1], bend[0, 2], bend[1, 0]])
        return float(n * (np.linalg.norm(along_curve) - 1) + qy * gamma[1] + qz * gamma[2] + m @ curvature)

    matrix = work(Forces(*force.reshape(6, 1, 1)), 0.7)[0, 0]
    wagner = 0.7 * n * rates[5] ** 2 / 2
    assert rates @ matrix @ rates / 2 == pytest.approx(second_order(exact) + wagner, abs=1e-6)


FIELDS = [(2, 2), (2, 3), (1, 2), (1, 3), (3, 1)]
"""Degree of freedom and power of x: bending along z and y by squares and cubes, twist by a line."""


@pytest.mark.parametrize("shear", [True, False])
@pytest.mark.parametrize("count", [1, 3])
def test_second_order_displacements_are_those_of_a_curve_in_space(count: int, shear: bool) -> None:
    """A cantilever bent both ways and twisted, v2 = -int int p w'' and its like: frames carried along exactly.

    The curve has the curvatures and shear of the fields: r' = R (e1 + shear), R' = R [curvature x]. Its fields are
    those of the elements, so the mesh makes no error. Along the beam it is the foreshortening, by twist, too (Wagner).
    """
    x = np.linspace(0, LENGTH, count + 1)
    shapes = np.zeros((count + 1, 6, 5))
    lag = [STEEL.young * i / (k * STEEL.shear_modulus * SECTION.area) if shear else 0.0
           for i, k in ((SECTION.iy, 13 / 15.3), (SECTION.iz, 13 / 15.3))]  # fmt: skip
    for k, (degree, power) in enumerate(FIELDS):
        if degree == 3:
            shapes[:, 3, k] = x
            continue
        # The moment's slope is the shear force, which adds its own slope: M' = Q for a cube.
        slip = 6 * lag[2 - degree] if power == 3 else 0.0
        shapes[:, degree, k] = x**power - slip * x
        shapes[:, 6 - degree, k] = {1: 1.0, 2: -1.0}[degree] * power * x ** (power - 1)
    structure = Structure(np.stack([x, 0 * x, 0 * x], 1), [along(count, shear=shear)])
    names = tuple("abcde")
    basis = Basis(shapes.reshape(-1, 5), names, np.full(5, np.nan), ("m",) * 5)
    found = tables(structure, basis, {"tip": count}, reference=Reference.node(0)).frames["tip"]
    rng = np.random.default_rng(3)
    for _ in range(3):
        q = rng.normal(size=5)

        def tip(size: float, q: np.ndarray = q) -> np.ndarray:
            return carried(size * q, lag)

        wanted = second_order(tip, 3e-3)
        got = [-q @ G @ q / 2 for G in (*found.move_2, *found.turn_2)]
        np.testing.assert_allclose(got, wanted, atol=2e-6)


def carried(q: np.ndarray, lag: list[float]) -> np.ndarray:
    """Place of the tip and its rotation vector, of the curve with the strains of the fields."""
    from scipy.integrate import solve_ivp
    from scipy.spatial.transform import Rotation

    z2, z3, y2, y3, twist = q

    def rate(x: float, state: np.ndarray) -> np.ndarray:
        R = state[3:].reshape(3, 3)
        curvature = np.array([twist, -2 * z2 - 6 * z3 * x, 2 * y2 + 6 * y3 * x])
        shear = np.array([0.0, -6 * lag[1] * y3, -6 * lag[0] * z3])
        slide = np.sqrt(1 - shear @ shear) - POLAR * twist**2 / 2  # the line keeps its length, twist shortens it
        return np.concatenate([R @ (shear + np.array([slide, 0, 0])), (R @ cross(curvature)).ravel()])

    start = np.concatenate([np.zeros(3), np.eye(3).ravel()])
    end = solve_ivp(rate, (0, LENGTH), start, rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
    return np.concatenate([end[:3], Rotation.from_matrix(end[3:].reshape(3, 3)).as_rotvec()])


@pytest.mark.parametrize("offset", [(0.0, 0.0), (0.3, -0.2)])
@pytest.mark.parametrize("shear", [True, False])
def test_rigid_rotation_turns_the_end_forces(offset: Any, shear: bool) -> None:
    """Forces turn by t x f, moments by t x m / 2, but for the shear force's part that turns into the centroid line.

    That part belongs to products with the extension, which are left out; it does no work without extension.
    """
    axes, rng = turned(5), np.random.default_rng(6)
    beams = along(1, axes=axes, offset=offset, shear=shear)
    u = solved(beams, np.concatenate([np.zeros(6), rng.normal(size=6)]), np.arange(6))
    ends = (beams.stiffness()[0] @ u).reshape(2, 2, 3)  # nodes; force, moment
    geometric = beams.geometric(beams.resultants(u[None]))[0]
    assert np.array_equal(geometric, geometric.T)
    places = np.array([[0.0, 0, 0], LENGTH * axes[:, 0]])
    motions = rigid_motions(places)
    assert np.abs(geometric @ motions[:, :3]).max() < 1e-12
    t = rng.normal(size=3)
    found = (geometric @ motions[:, 3:] @ t).reshape(2, 2, 3)
    for k in range(2):
        force, moment = ends[k]
        x = beams.axes[0, 0]
        lost = x * (x @ np.cross(t, force - x * (x @ force)))
        assert found[k, 0] == pytest.approx(np.cross(t, force) - lost, abs=1e-11)
        assert found[k, 1] == pytest.approx(np.cross(t, moment) / 2 - np.cross(beams.arms[0, k], lost), abs=1e-11)


def loaded(**forces: float) -> Forces:
    """Constant section forces of one element."""
    return Forces(*(np.full((1, 6), forces.get(name, 0.0)) for name in Forces._fields))


X, Y, Z, RX, RY, RZ = ({d, d + 6} for d in range(6))


@pytest.mark.parametrize("body", [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1)])
@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("n", [(Y | RZ, Y | RZ), (Z | RY, Z | RY), (RX, RX)]),
        ("qy", [(RX, Z | RY)]),
        ("mz", [(RX, Z | RY)]),
        ("qz", [(RX, Y | RZ)]),
        ("my", [(RX, Y | RZ)]),
        ("mx", [(Z | RY, Y | RZ)]),
    ],
)
def test_exact_zeros(name: str, pairs: list[tuple[set[int], set[int]]], body: tuple[int, int, int]) -> None:
    """Along the body's axes each force couples what symmetry lets it; bending in one plane feels N alone."""
    a, b, c = np.eye(3)[list(body)]
    axes = np.stack([a, b, np.cross(a, b)], axis=1)
    assert np.abs(axes[:, 2]) == pytest.approx(c)
    beams = along(1, axes=axes)
    turn = np.kron(np.eye(4), axes)
    local = turn.T @ beams.geometric(loaded(**{name: 2.0}))[0] @ turn
    allowed = np.zeros((12, 12), dtype=bool)
    for rows, columns in pairs:
        allowed[np.ix_(sorted(rows), sorted(columns))] = allowed[np.ix_(sorted(columns), sorted(rows))] = True
    assert not local[~allowed].any()
    assert local[allowed].any()


def test_an_offset_arm_swings_like_a_pendulum() -> None:
    """A bar on arms of length h below its nodes, loaded downwards with F on each centroid end: F h for each angle."""
    beams = Beams([[0.0, 0, 0], [1.0, 0, 0]], [[0, 1]], SECTION, STEEL, offset=(0.0, -0.4))
    matrix = beams.geometric(loaded(qz=3.0))[0]
    # The end looks along x: its face carries Qz = 3 upwards on the bar at the end, downwards at the start.
    assert matrix[10, 10] - beams_without_arms(beams, loaded(qz=3.0))[10, 10] == pytest.approx(3.0 * 0.4, rel=1e-12)
    assert matrix[4, 4] - beams_without_arms(beams, loaded(qz=3.0))[4, 4] == pytest.approx(-3.0 * 0.4, rel=1e-12)


def beams_without_arms(beams: Beams, forces: Forces) -> np.ndarray:
    """The geometric stiffness of the centroid line, carried to the nodes by arms that are taken as linear."""
    plain = Beams(beams.ends.reshape(-1, 3), [[0, 1]], SECTION, STEEL)
    carry = np.eye(12)
    for k in range(2):
        carry[6 * k : 6 * k + 3, 6 * k + 3 : 6 * k + 6] = -cross(beams.arms[0, k])
    found: np.ndarray = carry.T @ plain.geometric(forces)[0] @ carry
    return found
