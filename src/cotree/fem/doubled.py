"""A mesh judged by one with twice as many elements: what it bends too little.

Under each unit load of `cotree.fem.stations` both meshes bend, and their nodes move differently. As the error of an
element falls at least with the square of its size, the coarse mesh is off by 4/3 of the difference. What vibrations do
is judged by the first natural frequency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cotree.fem.element import DEGREES, Array, Integers
from cotree.fem.internal import Internal, Loads
from cotree.fem.space import Space
from cotree.fem.stations import unit_loads

EXTRAPOLATED = 4 / 3
"""Error of a mesh over its difference from one with half as large elements."""
MOST = 60_000
"""Degrees of freedom of the finer mesh up to which it is solved."""


@dataclass(frozen=True)
class MeshError:
    """By how much a mesh is off."""

    moves: Array
    """(N, 3, 12 + 6 F) what displacements of nodes lack under each unit load."""
    first: float
    """What the first shape lacks of its deflection under its own inertia forces, as a part of it."""

    def under(self, loads: Loads) -> Array:
        """(N, 3) what displacements lack under a load, one of `Loads`."""
        parts = (loads.base, loads.slope, loads.frames)
        return np.asarray(self.moves @ np.concatenate([each.ravel() for each in parts]))


def mesh_error(coarse: Internal, fine: Internal, still: tuple[tuple[int, ...], tuple[int, ...]]) -> MeshError:
    """The error of the coarse one of two meshes of a body; ``still`` are the degrees that each keeps rigid."""
    loads = unit_loads(0, len(coarse.nodes))
    count = len(coarse.structure.places)
    here, there = (
        each.unshaped().first(loads).reshape(-1, DEGREES, len(loads))[_same(coarse, each), :3]
        for each in (coarse, fine)
    )
    assert here.shape[0] == there.shape[0] == count
    slow, quick = (_lowest(fine, still[1]), _lowest(coarse, still[0]))
    first = 0.0 if not slow else abs((quick / slow) ** 2 - 1)
    return MeshError(EXTRAPOLATED * (there - here), EXTRAPOLATED * first)


def _same(coarse: Internal, body: Internal) -> Integers:
    """The numbers that the nodes of the coarse mesh have in a mesh."""
    if body is coarse:
        return np.arange(len(coarse.structure.places))
    from scipy.spatial import KDTree

    return np.asarray(KDTree(body.structure.places).query(coarse.structure.places)[1], dtype=np.int64)


def _lowest(body: Internal, still: tuple[int, ...]) -> float:
    """The first natural frequency in rad/s of a body held at its reference; 0 where it has none."""
    omega, _ = Space(body.structure, body.reference, held=(*body.held, *still)).modes(1)
    return float(omega[0]) if len(omega) else 0.0
