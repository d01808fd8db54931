"""The mesh of a flexible body against one with twice as many elements: once for each body, kept by its content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cotree.errors import ModelError
from cotree.fem.doubled import MOST, MeshError, mesh_error
from cotree.fem.element import DEGREES
from cotree.fem.internal import Internal
from cotree.fem.store import content_hash, kept
from cotree.terminal.beam import Beam
from cotree.terminal.deformable import Deformable

FACTOR = {True: 2, False: 4}
"""Nodes of the finer mesh for each of the coarse one, of lines alone and with shells, roughly."""


EXACT = 6
"""Elements of a straight beam from which on its first frequency is right to 0.1 %; its nodes always bend rightly."""


def checked_mesh(body: Deformable, values: Mapping[str, float], folder: str | None = None) -> MeshError | None:
    """The error of a body's mesh, None where there is none to speak of; refused where the finer one were too large."""
    if isinstance(body, Beam) and body.elements >= EXACT:
        return None
    key = content_hash("doubled", type(body).kind, *body.recipe(values), *body.choices(values))
    return kept(folder, key, lambda: _computed(body, values), _packed, _unpacked)


def _computed(body: Deformable, values: Mapping[str, float]) -> MeshError:
    coarse = body.prepare(values)
    lines = not any(hasattr(family, "triangles") for family in coarse.structure.families)
    count = DEGREES * len(coarse.structure.places) * FACTOR[lines]
    if count > MOST:
        raise ModelError(
            f"that would have about {count} degrees of freedom",
            expected=f"at most {MOST}",
        )
    fine = body.finer().prepare(values)
    both = [_loaded(body, each) for each in (coarse, fine)]
    return mesh_error(both[0], both[1], (coarse.still, fine.still))


def _loaded(body: Deformable, prepared: Any) -> Internal:
    return body.internal(prepared, np.zeros((prepared.structure.size, 0)))


def _packed(found: MeshError) -> tuple[dict[str, Any], dict[str, Any]]:
    return {}, {"moves": found.moves, "first": np.array(found.first)}


def _unpacked(head: dict[str, Any], data: Any) -> MeshError | None:
    found = MeshError(data["moves"], float(data["first"]))
    sound = found.moves.ndim == 3 and np.isfinite(found.moves).all() and np.isfinite(found.first)
    return found if sound else None
