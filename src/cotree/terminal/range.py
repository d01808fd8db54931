"""How far a flexible body is from the range of its theory: an estimate of the error of its deflection.

The theory takes a deformation as small in one frame, up to the second order, in the shapes that the body has. At the
instant of its largest deflection two things are looked at:

- what is missing: the whole mesh under the loads of that instant, to the second order (`cotree.fem.internal`), bends
  differently against its first frame if shapes are missing or stiffening was left out;
- rotations that are too large: forces that bend the linear mesh as the body is bent are put on the mesh with large
  rotations (`cotree.fem.large`).

Both are compared along the displacements of the theory, and added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import CotreeError
from cotree.fem.element import DEGREES
from cotree.fem.internal import Internal, Loads
from cotree.fem.large import bent_by
from cotree.model import Model
from cotree.system import Diagnostic, diagnose
from cotree.terminal.deformable import Deformable
from cotree.terminal.recovery import Deformation, body_deformation

Array = NDArray[np.float64]

SMALL_TURN = 0.08
"""Rotation in rad against the body's frame below which rotations change a deflection by less than half a per cent."""
LARGE_TURN = 0.3
"""Rotation from which on it is the first thing to look at."""
LEAST = 1e-9
"""Deflection over the size of the body below which there is nothing to judge."""
ENOUGH = 0.01
"""Error of a deflection that is small enough."""
LEVELS = ((0.2, "outside-theory"), (0.05, "deflection-off"), (ENOUGH, "deflection-doubt"))
"""Errors above which a diagnostic is given, largest first."""
_CHUNK = 4e6  # numbers at a time


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


def deflection_range(found: Deformation) -> Range | None:
    """The error where the deflection of a body is largest; None where it has none."""
    if found.loads is None:
        return None
    moves, size = _largest_moves(found), found.body.structure.length
    k = int(np.argmax(moves))
    if not np.isfinite(moves).all() or moves[k] <= LEAST * size:
        return None
    anchor = int(found.body.nodes[0]) if len(found.body.nodes) else 0
    here = found.at(k)
    by_all = _small(found.body, found.loads.part(slice(k, k + 1)))
    by_all[list(found.still)] = 0.0
    missing = _error(*(_seen_from(each, anchor, found.places) for each in (by_all, here)))
    turns = np.linalg.norm(here.reshape(-1, DEGREES)[:, 3:], axis=1)
    turn, error = float(turns.max()), missing
    if turn > SMALL_TURN:
        error += _by_rotations(found, here, int(np.argmin(turns)))  # held where it turns least against its frame
    return Range(float(error), float(found.t[k]), float(moves[k]), turn, float(missing), size)


def _seen_from(u: Array, node: int, places: Array) -> Array:
    """(N, 3) small displacements against a node."""
    own = u.reshape(-1, DEGREES)
    return np.asarray(own[:, :3] - own[node, :3] - np.cross(own[node, 3:], places - places[node]))


def _by_rotations(found: Deformation, u: Array, node: int) -> float:
    """The error that rotations make: forces that bend the linear mesh by ``u`` act on one with large rotations."""
    structure = found.body.structure
    bent = bent_by(structure, np.asarray(structure.stiffness @ u), DEGREES * node + np.arange(DEGREES))
    if bent.share < 1.0:
        return float("inf")
    return _error(bent.places - found.places, _seen_from(u, node, found.places))


def _largest_moves(found: Deformation) -> Array:
    """(T,) the largest displacement of a node at each time, some times at a stretch to save memory."""
    step = max(1, int(_CHUNK / len(found.shapes)))
    parts = [found.part(slice(start, start + step)) for start in range(0, len(found.t), step)]
    return np.concatenate([np.linalg.norm(each.displacements, axis=2).max(axis=1) for each in parts])


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


def range_diagnostics(model: Model, t: Any, results: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """What there is to say of the flexible bodies of a model, from results by name at some times."""
    said = []
    for name, body in model.components.items():
        if isinstance(body, Deformable) and f"{name}.position.x" in results:
            try:
                found = body_deformation(model, name, t, results)
                parts = [piece.strained for piece in found.pieces] if hasattr(found, "pieces") else [found]
                ranges = [each for part in parts if (each := deflection_range(part))]
            except CotreeError as reason:  # such as a mesh that cannot be held by itself
                said.append(diagnose("range-unchecked", name, why=str(reason).rstrip(".")))
                continue
            worst = max(ranges, key=lambda each: each.error, default=None)
            code = next((code for level, code in LEVELS if worst is not None and worst.error > level), None)
            if worst is not None and code is not None:
                said.append(_told(code, name, body, worst))
    return tuple(said)


def _told(code: str, name: str, body: Deformable, worst: Range) -> Diagnostic:
    share = f"{100 * worst.error:.0f}" if worst.error > 0.1 else f"{100 * worst.error:.2g}"
    error = "more than can be told" if np.isinf(worst.error) else f"about {share} %"
    if worst.turn < LARGE_TURN and worst.missing > worst.error / 2:
        why = "shapes that the body does not have would carry a part of its loads"
        remedy = "take more modes" if body.shapes == "interface" else "take shapes='interface', or more modes"
    else:
        why = f"it turns by {np.degrees(worst.turn):.3g} degrees against its own frame"
        pieces = body.pieces * worst.segments
        remedy = f"cut it with segments={pieces}" if hasattr(body, "segments") else "divide it into several bodies"
    return diagnose(code, name, why=why, time=worst.t, deflection=worst.deflection, error=error, remedy=remedy)
