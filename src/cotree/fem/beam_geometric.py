"""Geometric stiffness of beams under all their section forces: what makes them buckle sideways, twist and stiffen.

A section at x moves by (u, v, w) and turns by the rotation vector (p, ry, rz). The strains of a beam in space (Reissner
1973; Simo 1985), taken to the second order in these, are

    extension       u' + (v'^2 + w'^2) / 2 + (Iy + Iz) / A p'^2 / 2       with Wagner's term, of fibres that twist
    shear           v' - rz + p w' + p ry / 2,    w' + ry - p v' + p rz / 2
    curvature       t' - t x t' / 2    with t = (p, ry, rz)

so that the section forces N, Qy, Qz, Mx, My, Mz of an initial state do this work of second order:

    N (v'^2 + w'^2 + (Iy + Iz) / A p'^2) / 2 + Qy (p w' + p ry / 2) - Qz (p v' - p rz / 2)
    - Mx (ry rz' - rz ry') / 2 - My (rz p' - p rz') / 2 - Mz (p ry' - ry p') / 2

Without shear deformation, with Qy = -Mz', Qz = My', integration by parts makes of this Vlasov's Mz p w'' + My p v'' for
a doubly symmetric section, and terms at the ends that belong to moments: as nodes turn by rotation vectors, end
moments are semi-tangential (Ziegler 1968; Argyris 1979): turned by t, a moment M becomes M + t x M / 2. The matrix is
symmetric, and moments of two elements at a node fit together whatever the angle between them. Forces keep their
direction; they act at the nodes, and at the centroid where there is no offset.

Left out: products with the extension u', which are of the size of the strain beside others and would couple extension
with bending; restrained warping; sections without two axes of symmetry; the work of loads on points beside the centroid
line as their arms turn, from which comes the propeller moment of a blade that spins. N acts along the centroid line, so
a column that shears buckles as Engesser says. Arms of an offset turn with their node: the force on the centroid does
the work f (t x (t x arm)) / 2 at each end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cotree.fem.element import Array

if TYPE_CHECKING:
    from cotree.fem.beam_recovery import Forces

_V, _W, _P, _RY, _RZ, _DP, _DRY, _DRZ = range(8)  # v', w', p, ry, rz, p', ry', rz'


def work(forces: Forces, polar: float) -> Array:
    """(E, S, 8, 8): work of second order per length, twice, as a square form of v', w', p, ry, rz, p', ry', rz'.

    ``polar`` is (Iy + Iz) / A.
    """
    n, qy, qz, mx, my, mz = forces
    found = np.zeros((*n.shape, 8, 8))
    for row, column, value in (
        (_V, _V, n), (_W, _W, n), (_DP, _DP, n * polar),
        (_P, _W, qy), (_P, _RY, qy / 2), (_P, _V, -qz), (_P, _RZ, qz / 2),
        (_RY, _DRZ, -mx / 2), (_RZ, _DRY, mx / 2),
        (_RZ, _DP, -my / 2), (_P, _DRZ, my / 2),
        (_P, _DRY, -mz / 2), (_RY, _DP, mz / 2),
    ):  # fmt: skip
        found[..., row, column] = found[..., column, row] = value
    return found


def stiffness(rates: Array, weights: Array, forces: Forces, polar: float) -> Array:
    """(E, K, K): the integral of `work`, from v', w', p, ry, rz, p', ry', rz' as ``rates`` (E, S, 8, K).

    ``weights`` (E, S) are those of the stations in the integral.
    """
    elements, _, _, degrees = rates.shape
    weighted = np.matmul(work(forces, polar) * weights[..., None, None], rates)
    flat = rates.reshape(elements, -1, degrees)
    found: Array = np.matmul(flat.transpose(0, 2, 1), weighted.reshape(flat.shape))
    return found


def arms(force: Array, arm: Array) -> Array:
    """(E, 3, 3): work of second order, twice, of forces at the ends of arms, (E, 3) both, by the arm's rotation.

    f (t x (t x a)) = (f t) (a t) - (f a) (t t).
    """
    outer = force[:, :, None] * arm[:, None, :]
    inner = np.einsum("ei,ei->e", force, arm)
    found: Array = (outer + outer.transpose(0, 2, 1)) / 2 - inner[:, None, None] * np.eye(3)
    return found
