"""What holds a body in a machine: the motions of its frames that joints, constraints and springs resist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cotree.fem.element import DEGREES, Array
from cotree.model import Model
from cotree.terminal.deformable import Deformable
from cotree.terminal.mechanics import ORIENTATION, XYZ, Connection, Element, Joint

ALL = np.eye(3)


def held_rows(model: Model, body: Deformable, nodes: Mapping[str, int], count: int) -> Any:
    """(r, 6 N) sparse rows over the nodes of a body that everything around it holds, as if that stood still.

    A joint holds what it does not leave free, any other constraint and a spring the displacement of their frame.
    """
    from scipy.sparse import csr_array, lil_array, vstack

    values, rows = body.values(model.parameter_values()), []
    for frame, moves, turns in _holds(model, body):
        if frame in nodes:
            axes, at = _axes(values, frame), DEGREES * nodes[frame]
            own = lil_array((len(moves) + len(turns), DEGREES * count))
            own[: len(moves), at : at + 3] = moves @ axes.T
            own[len(moves) :, at + 3 : at + 6] = turns @ axes.T
            rows.append(csr_array(own))
    return vstack(rows, format="csr") if rows else csr_array((0, DEGREES * count))


def held_nodes(model: Model, body: Deformable, nodes: Mapping[str, int]) -> list[int]:
    """The nodes of frames that something keeps from moving, at least in one direction."""
    found = [nodes[frame] for frame, moves, _ in _holds(model, body) if frame in nodes and len(moves)]
    return list(dict.fromkeys(found))


def _holds(model: Model, body: Deformable) -> Iterator[tuple[str, Array, Array]]:
    """Frames of a body with the directions, in their axes, along and about which something holds them."""
    parameters = model.parameter_values()
    for part in model.components.values():
        if isinstance(part, Connection) and not (isinstance(part, Element) and part.supplies):
            for end in part.ends:
                owner, _, frame = end.partition(".")
                if owner == body.name:
                    yield frame, *_held(part, part.values(parameters))


def _held(part: Connection, values: Mapping[str, float]) -> tuple[Array, Array]:
    """Directions, in the axes of the frame, along and about which a connection holds it."""
    none = np.zeros((0, 3))
    if not isinstance(part, Joint):
        return ALL, none
    translations = sum(1 for each in part.coordinates if each.group == "translation")
    rotations = sum(3 if each.name == ORIENTATION else 1 for each in part.coordinates if each.group == "rotation")
    if translations == 0 and rotations == 0:
        return ALL, ALL
    if "axis.x" not in values:
        return (none if translations else ALL), (none if rotations else ALL)
    axis = np.array([values[f"axis.{x}"] for x in XYZ])
    along = (axis / np.linalg.norm(axis))[None]
    across = np.linalg.svd(along)[2][1:]
    moves = {0: ALL, 1: across, 2: along}.get(translations, none)
    return moves, {0: ALL, 1: across}.get(rotations, none)


def _axes(values: Mapping[str, float], frame: str) -> Array:
    """(3, 3) the axes of a frame as columns, in those of its body."""
    if f"{frame}.angle" not in values:
        return ALL
    from scipy.spatial.transform import Rotation

    axis = np.array([values[f"{frame}.axis.{x}"] for x in XYZ])
    turn = axis / np.linalg.norm(axis) * values[f"{frame}.angle"]
    return np.asarray(Rotation.from_rotvec(turn).as_matrix())
