"""How far a flexible body is from the range of its theory: an estimate of the error of its deflection.

The theory takes a deformation as small in one frame, up to the second order, in the shapes that the body has. At the
instant of its largest deflection the loads on the body are known. The deflection that they cause in the whole mesh with
large rotations (`cotree.fem.large`) is compared with that of the elastic coordinates, along the latter: the difference
holds rotations that are too large, stiffening that was left out, a load near the critical one, and shapes that are
missing. Where the whole mesh with small rotations shows nothing, and rotations are small, that is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotree.fem.element import DEGREES
from cotree.fem.internal import Internal, Loads
from cotree.fem.large import bent_by, rotation_matrices
from cotree.terminal.recovery import Deformation

Array = NDArray[np.float64]

SMALL_TURN = 0.08
"""Rotation in rad against the body's frame below which rotations change a deflection by less than half a per cent."""
SMALL_ERROR = 0.003
LEAST = 1e-9
"""Deflection over the size of the body below which there is nothing to judge."""
ENOUGH = 0.01
"""Error of a deflection that is small enough."""


@dataclass(frozen=True)
class Range:
    """The error of a body's deflection where it is largest."""

    error: float
    """Of the deflection, as a part of it; infinite where no balance was found."""
    t: float
    deflection: float
    """In m, against the body's frame."""
    turn: float
    """The largest rotation against the body's frame in rad."""
    missing: float
    """The part of the deflection that shapes which the body does not have would add."""
    size: float
    """Of the body, in m."""

    @property
    def segments(self) -> int:
        """The number of beams in series that would be enough: their error falls with its third power."""
        wanted = min(self.error, 4.0) / ENOUGH
        return int(np.clip(np.ceil(wanted ** (1 / 3)), 2, 64))


def deflection_range(found: Deformation, still: Array) -> Range | None:
    """The error where the deflection of a body is largest; None where it has none. ``still`` are degrees kept rigid."""
    if found.loads is None:
        return None
    moves = np.linalg.norm(found.displacements, axis=2).max(axis=1)
    size = found.body.structure.length
    k = int(np.argmax(moves))
    if not np.isfinite(moves[k]) or moves[k] <= LEAST * size:
        return None
    loads = found.loads.part(slice(k, k + 1))
    anchor = int(found.body.nodes[0]) if len(found.body.nodes) else 0
    held = _HeldAtNode(found, anchor, loads, k)
    theory = held.seen
    turn = float(np.linalg.norm(found.at(k).reshape(-1, DEGREES)[:, 3:], axis=1).max())
    by_all = _small(found.body, loads)
    by_all[still] = 0.0
    missing = _error(by_all.reshape(-1, DEGREES)[:, :3], found.at(k).reshape(-1, DEGREES)[:, :3])
    error = missing
    if turn > SMALL_TURN or missing > SMALL_ERROR:
        bent = bent_by(found.body.structure, held.forces, DEGREES * anchor + np.arange(DEGREES))
        error = np.inf if bent.share < 1.0 else _error(bent.places - found.places, theory)
    return Range(float(error), float(found.t[k]), float(moves[k]), turn, float(missing), size)


def _small(body: Internal, loads: Loads) -> Array:
    """(6 N,) displacements of the whole mesh under loads, to the second order."""
    whole = body if body.second_order else _to_second_order(body)
    return np.asarray(whole.solve(loads).u[:, 0])


def _to_second_order(body: Internal) -> Internal:
    """The same body with loads that act on its deformed shape."""
    return Internal(body.structure, body.reference, body.shapes, body.nodes, held=body.held, second_order=True)


def _error(exact: Array, theory: Array) -> float:
    """The largest difference along the displacements of the theory, over the largest exact displacement."""
    length = np.linalg.norm(theory, axis=1)
    along = theory / np.maximum(length, 1e-300)[:, None]
    off = np.abs(np.einsum("ni,ni->n", exact - theory, along))
    largest = float(np.linalg.norm(exact, axis=1).max())
    return float(off[length > 1e-6 * length.max()].max() / max(largest, 1e-300))


class _HeldAtNode:
    """Loads and displacements seen from a node, where a mesh with large rotations is held."""

    def __init__(self, found: Deformation, node: int, loads: Loads, k: int) -> None:
        moved = found.at(k).reshape(-1, DEGREES)
        turn = rotation_matrices(moved[node : node + 1, 3:])[0]
        arms = found.places - found.places[node]
        self.seen = (arms + moved[:, :3] - moved[node, :3]) @ turn - arms
        nodal = found.body.nodal(loads)[:, 0].reshape(-1, 2, 3)
        self.forces = (nodal @ turn).ravel()
