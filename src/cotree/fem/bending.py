"""Discrete Kirchhoff triangles (DKT), many at once.

J.-L. Batoz, K.-J. Bathe, L.-W. Ho, A study of three-node triangular plate bending elements, International Journal for
Numerical Methods in Engineering 15 (1980) 1771-1812. A triangle has the freedoms (w, theta_x, theta_y) at each corner,
nine in this order: the deflection and the small rotations about x and y. The normal turns by b_x = theta_y and
b_y = -theta_x, which vary quadratically; shear vanishes at the corners and along the sides. Curvatures are
(b_x,x  b_y,y  b_x,y + b_y,x), so that the strain at height z is the membrane strain + z times the curvature.
"""

from __future__ import annotations

import numpy as np

from cotree.fem.element import Array
from cotree.fem.membrane import area

MIDDLES = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
"""Area coordinates of the middles of the sides: a rule of equal weights, exact for quadratics."""
CENTRE = np.full((1, 3), 1 / 3)
"""Area coordinates of the centroid."""
CORNERS = np.eye(3)
"""Area coordinates of the corners."""


def gradients(x: Array, y: Array) -> Array:
    """(T, 3, 2): gradients of the area coordinates."""
    across = np.stack([np.roll(y, -1, 1) - np.roll(y, -2, 1), np.roll(x, -2, 1) - np.roll(x, -1, 1)], axis=2)
    return across / (2 * area(x, y))[:, None, None]


def curvatures(x: Array, y: Array, points: Array) -> Array:
    """(T, P, 3, 9): curvature at points given by area coordinates, (P, 3), from the freedoms.

    On a side from i to j of length l and unit vector t, the deflection is cubic and b_t = -w_t at both ends and in the
    middle; the component of b across the side is linear. So b is its linear interpolation less, for each side,
    4 z_i z_j t (3/4 (b_i + b_j) . t + 3/2 (w_j - w_i) / l).
    """
    slope = gradients(x, y)
    turn = np.zeros((3, 2, 9))  # b of the corners
    for i in range(3):
        turn[i, 0, 3 * i + 2], turn[i, 1, 3 * i + 1] = 1.0, -1.0
    # b_,x and b_,y: (T, P, component, derivative, 9)
    rate = np.einsum("tid,ick->tcdk", slope, turn)[:, None] + np.zeros((1, len(points), 1, 1, 1))
    for i, j in ((0, 1), (1, 2), (2, 0)):
        edge = np.stack([x[:, j] - x[:, i], y[:, j] - y[:, i]], axis=1)
        excess = 0.75 * np.einsum("tc,ck->tk", edge, turn[i] + turn[j])
        excess[:, 3 * i] -= 1.5
        excess[:, 3 * j] += 1.5
        along = edge / np.sum(edge**2, axis=1)[:, None]
        bubble = 4 * (points[None, :, i, None] * slope[:, None, j] + points[None, :, j, None] * slope[:, None, i])
        rate -= np.einsum("tc,tpd,tk->tpcdk", along, bubble, excess)
    return np.stack([rate[:, :, 0, 0], rate[:, :, 1, 1], rate[:, :, 0, 1] + rate[:, :, 1, 0]], axis=2)
