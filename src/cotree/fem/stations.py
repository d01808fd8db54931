"""Section forces at stations of a straight beam, by unit loads: tables from which they are written as expressions.

The loads are those of `cotree.fem.internal`, in the order `base` (3), `slope` (9, row by row), `turns` (9 for each
coordinate) and `frames` (6 for each). Loads on the undeformed body give ``carried``; with each coordinate, all but the
`turns` give ``carried_2``, the second order, so that N, Qy, Qz, Mx, My, Mz of all stations, one after the other, are

    carried @ loads + sum_k q_k carried_2[k] @ (base, slope, frames)

with base and slope of `Internal.straight` in the second term.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cotree.fem.beam import Beams
from cotree.fem.element import DEGREES, Array
from cotree.fem.internal import Internal, Loads

_NOISE = 1e-11  # of the largest number of a station's force under loads of one kind


def station_tables(body: Internal, beams: Beams, places: Sequence[tuple[int, float]]) -> tuple[Array, Array]:
    """``carried`` (6 S, L) and ``carried_2`` (n, 6 S, L - 9 n) at stations: elements of a family, fractions of them."""
    loads = unit_loads(body.shapes.shape[1], len(body.nodes))
    solved = body.solve(loads)
    n, rows = body.shapes.shape[1], 6 * len(places)
    family = next(number for number, each in enumerate(body.structure.families) if each is beams)
    points = body.all_points(loads, family)
    carried = np.empty((rows, len(loads)))
    for number, (element, s) in enumerate(places):
        same = beams.repeated(element, len(loads))
        found = same.forces(solved.u.T[:, beams.degrees[element]], [s], points[:, element])
        carried[6 * number : 6 * number + 6] = [each[:, 0] for each in found]
    straight = np.r_[:12, 12 + 9 * n : len(loads)]
    carried_2 = np.zeros((n, rows, len(straight)))
    if body.second_order:
        for column, k in enumerate(straight):
            bent, turned = body.bent_by_shapes(loads, solved.first, int(k))
            for number, (element, s) in enumerate(places):
                same = beams.repeated(element, n)
                own = turned[family]
                assert own is not None
                found = same.forces(bent.T[:, beams.degrees[element]], [s], turned=own[element].T)
                carried_2[:, 6 * number : 6 * number + 6, column] = np.array([each[:, 0] for each in found]).T
    return _clean(carried), _clean(carried_2)


def unit_loads(n: int, frames: int) -> Loads:
    """One load of each kind at a time."""
    count = 12 + 9 * n + DEGREES * frames
    every = np.eye(count)
    return Loads(
        every[:, :3],
        every[:, 3:12].reshape(count, 3, 3),
        every[:, 12 : 12 + 9 * n].reshape(count, n, 3, 3),
        every[:, 12 + 9 * n :].reshape(count, frames, DEGREES),
        np.zeros((count, n)),
    )


def _clean(table: Array) -> Array:
    """Rounding errors set to zero, which keeps expressions short: beside the largest number of a kind of load."""
    size = np.abs(table)
    largest = size.max(axis=tuple(range(table.ndim - 1)), keepdims=True, initial=0.0)
    return np.where(size < _NOISE * largest, 0.0, table)
