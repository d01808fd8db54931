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

_CHUNK = 4e6  # numbers at a time
_NOISE = 1e-11  # of the largest number of a station's force under loads of one kind


def station_tables(body: Internal, beams: Beams, places: Sequence[tuple[int, float]]) -> tuple[Array, Array]:
    """``carried`` (6 S, L) and ``carried_2`` (n, 6 S, L - 9 n) at stations: elements of a family, fractions of them."""
    n = body.shapes.shape[1]
    loads = unit_loads(n, len(body.nodes))
    solved = body.solve(loads)
    family = next(number for number, each in enumerate(body.structure.families) if each is beams)
    u, points = solved.u.T[:, beams.degrees], body.all_points(loads, family)
    carried = _at_stations(beams, places, u, load=points)
    straight = np.r_[:12, 12 + 9 * n : len(loads)]
    if not body.second_order:
        return _clean(carried), np.zeros((n, len(carried), len(straight)))
    carried_2 = np.empty((n, len(carried), len(straight)))
    step = max(1, int(_CHUNK / max(1, body.shapes.size)))
    for start in range(0, len(straight), step):
        some = straight[start : start + step]
        bent, turned = body.bent_by_shapes(loads.part(some), solved.first[:, some], family)
        u = np.moveaxis(bent[beams.degrees], (2, 3), (0, 1)).reshape(-1, *beams.degrees.shape)
        more = _at_stations(beams, places, u, turned=np.moveaxis(turned, 3, 1).reshape(u.shape))
        carried_2[..., start : start + step] = np.moveaxis(more.reshape(len(carried), -1, n), 2, 0)
    return _clean(carried), _clean(carried_2)


def _at_stations(beams: Beams, places: Sequence[tuple[int, float]], u: Array, **acting: Array) -> Array:
    """(6 S, L) section forces at stations in L states, of displacements (L, E, 12) and what acts on elements."""
    found = np.empty((len(places), 6, len(u)))
    for s in dict.fromkeys(s for _, s in places):
        numbers = [number for number, (_, here) in enumerate(places) if here == s]
        elements = [places[number][0] for number in numbers]
        same = beams.chosen(np.repeat(elements, len(u)))
        own = {name: _by_element(each, elements) for name, each in acting.items()}
        forces = np.array(same.forces(_by_element(u, elements), [s], **own))
        found[numbers] = forces.reshape(6, len(numbers), len(u)).transpose(1, 0, 2)
    return found.reshape(-1, len(u))


def _by_element(values: Array, elements: Sequence[int]) -> Array:
    """Of values (L, E, ...) those of some elements, (elements L, ...), the states of an element one after the other."""
    return np.moveaxis(values[:, elements], 0, 1).reshape(-1, *values.shape[2:])


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
