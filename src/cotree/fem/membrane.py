"""Membrane triangles with true drilling freedoms: Felippa's optimal ANDES triangle, many at once.

C. A. Felippa, A study of optimal membrane triangles with drilling freedoms, Computer Methods in Applied Mechanics and
Engineering 192 (2003) 2125-2168, the `OPT` member of the template: alpha_b = 3/2, beta_1..9 = 1, 2, 1, 0, 1, -1, -1,
-1, -2, and beta_0 from the material. A triangle has the freedoms (u, v, theta) at each corner, nine in this order; the
corners' coordinates are ``x`` and ``y``, (T, 3), counter-clockwise. Strains are (e_x, e_y, 2 e_xy).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cotree.fem.element import Array

ALPHA = 1.5
"""alpha_b, the share of the drilling freedoms in the basic stiffness."""
BETA = np.array([[1.0, 2.0, 1.0], [0.0, 1.0, -1.0], [-1.0, -1.0, -2.0]])
"""beta_1..9: rows are the sides 12, 23 and 31, columns the corners."""
LEAST = 0.01
"""Least beta_0: the higher-order stiffness never vanishes, so that no mode without energy appears."""

_NEXT, _LAST = (1, 2, 0), (2, 0, 1)


def area(x: Array, y: Array) -> Array:
    """(T,) areas, positive where the corners run counter-clockwise."""
    return ((x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])) / 2


def mean_strain(x: Array, y: Array) -> Array:
    """(T, 3, 9): mean strain from the freedoms, L^T / V of the basic stiffness."""
    rows = np.zeros((len(x), 3, 9))
    for i, (j, k) in enumerate(zip(_NEXT, _LAST, strict=True)):
        x_kj, y_jk = x[:, k] - x[:, j], y[:, j] - y[:, k]
        x_ki, y_ik = x[:, k] - x[:, i], y[:, i] - y[:, k]
        x_ij, y_ji = x[:, i] - x[:, j], y[:, j] - y[:, i]
        rows[:, 0, 3 * i] = rows[:, 2, 3 * i + 1] = y_jk
        rows[:, 1, 3 * i + 1] = rows[:, 2, 3 * i] = x_kj
        rows[:, 0, 3 * i + 2] = ALPHA / 6 * y_jk * (y_ik - y_ji)
        rows[:, 1, 3 * i + 2] = ALPHA / 6 * x_kj * (x_ki - x_ij)
        rows[:, 2, 3 * i + 2] = ALPHA / 3 * (x_ki * y_ik - x_ij * y_ji)
    return rows / (2 * area(x, y))[:, None, None]


def hierarchical_turns(x: Array, y: Array) -> Array:
    """(T, 3, 9): rotations of the corners less the rotation of the triangle that the corners' displacements give."""
    rows = np.zeros((len(x), 3, 9))
    quarter = 1 / (4 * area(x, y))[:, None]
    for i, (j, k) in enumerate(zip(_NEXT, _LAST, strict=True)):
        rows[:, :, 3 * i] = (x[:, k] - x[:, j])[:, None] * quarter
        rows[:, :, 3 * i + 1] = (y[:, k] - y[:, j])[:, None] * quarter
        rows[:, i, 3 * i + 2] = 1.0
    return rows


def corner_strains(x: Array, y: Array) -> Array:
    """(T, 3, 3, 9): higher-order strain at each corner, before the factor (3/2) sqrt(beta_0); their sum vanishes.

    Natural strains along the sides are Q_i theta at corner i; T_e turns them into Cartesian strains.
    """
    size = area(x, y)
    squares = np.stack([(x[:, j] - x[:, i]) ** 2 + (y[:, j] - y[:, i]) ** 2 for i, j in ((0, 1), (1, 2), (2, 0))], 1)
    turns = hierarchical_turns(x, y)
    to_cartesian = np.empty((len(x), 3, 3))
    for side, (a, b, c) in enumerate(((0, 1, 2), (1, 2, 0), (2, 0, 1))):  # side ab, opposite corner c
        y_bc, y_ac, x_bc, x_ac = y[:, b] - y[:, c], y[:, a] - y[:, c], x[:, b] - x[:, c], x[:, a] - x[:, c]
        to_cartesian[:, 0, side] = y_bc * y_ac * squares[:, side]
        to_cartesian[:, 1, side] = x_bc * x_ac * squares[:, side]
        to_cartesian[:, 2, side] = -(y_bc * x_ac + x_bc * y_ac) * squares[:, side]
    to_cartesian /= (4 * size**2)[:, None, None]
    strains = np.empty((len(x), 3, 3, 9))
    for corner in range(3):
        # Q_2 and Q_3 are Q_1 with sides and corners turned once and twice.
        shares = np.roll(BETA, (corner, corner), axis=(0, 1))
        natural = (2 / 3) * size[:, None, None] * shares / squares[:, :, None]
        strains[:, corner] = to_cartesian @ (natural @ turns)
    return strains


def side_strains(x: Array, y: Array) -> Array:
    """(T, 3, 3, 9): the same at the middle of each side: Q_4, Q_5, Q_6."""
    corners = corner_strains(x, y)
    return (corners + np.roll(corners, -1, axis=1)) / 2


def higher_factor(stretch: Array) -> float:
    """beta_0, the weight of the higher-order stiffness, for a membrane stiffness ``stretch`` (3, 3).

    A rectangle of two triangles that bends in its plane has exactly the energy of a beam if beta_0 = 2 / (E_11 S_11)
    - 3/2, with stiffness E and flexibility S = E^-1 in axes along the beam; for isotropic material that is (1 - 4 nu^2)
    / 2 in every direction. Otherwise the direction of the smallest E_11 S_11 is taken, which for orthotropic material
    is nearly always a material axis: bending is exact there and never too soft elsewhere. (Felippa 2003 averages over
    all directions, which makes strongly orthotropic beams a fifth too soft along their own axes.) `LEAST` bounds it
    below, as nu = 1/2 asks.
    """
    angles = np.pi / 16 * np.arange(16)
    values = _along_and_slack(stretch, angles)
    # A trigonometric polynomial of fourth degree in twice the angle: its extremes are roots of a polynomial.
    waves = np.fft.fft(values)[np.r_[12:16, 0:5]] * np.arange(-4, 5)
    extremes = np.angle(np.roots(waves[::-1])) / 2 if np.any(waves) else angles
    least = np.min(np.concatenate([values, _along_and_slack(stretch, extremes)]))
    return max(float(2 / least - 1.5), LEAST)


def _along_and_slack(stretch: Array, angles: Any) -> Array:
    """E_11 S_11 in axes turned by ``angles``."""
    c, s = np.cos(angles), np.sin(angles)
    strain = np.stack([c * c, s * s, 2 * c * s], axis=1)
    stress = np.stack([c * c, s * s, c * s], axis=1)
    along = np.einsum("pi,ij,pj->p", strain, stretch, strain)
    slack = np.einsum("pi,ij,pj->p", stress, np.linalg.inv(stretch), stress)
    return np.asarray(along * slack)
