"""Beams of several segments in space: one skin over all of them, in the axes of the beam's own frame.

Displacements are not linear in the elastic coordinates. The page gets the few fields that describe the displacements of
all vertices in the frames of the scene best, with their courses.
"""

from __future__ import annotations

import numpy as np

from cotree.terminal.segment_mesh import Piece, SegmentedDeformation
from cotree.view.scene import Skin, Stage
from cotree.view.scene_flexible import PLACES, Cover, cover_of, stress_on
from cotree.view.scene_shapes import Array, Indices, Mesh, joined

FIELDS = 40
"""Displacement fields of one beam in the page, at most."""
FINE = 1e-5
"""Part of the largest singular value below which a field does not count."""


def segmented_skin(stage: Stage, name: str, found: SegmentedDeformation) -> Skin:
    """The surface of a beam in the frames of the scene."""
    covers, meshes, numbers, weights = [], [], [], []
    begin, elements = 0.0, 0
    for piece in found.pieces:
        family = piece.drawn.families[0]
        cover = cover_of(family, piece.drawn, stage.size)
        assert cover is not None
        covers.append(cover)
        meshes.append(Mesh(cover.mesh.vertices + np.array([begin, 0.0, 0.0]), cover.mesh.triangles))
        numbers.append(cover.corners[0] + 2 * elements)
        weights.append(cover.corners[1])
        begin, elements = begin + float(piece.drawn.places[-1, 0]), elements + len(family.lengths)
    mesh = joined(meshes)
    vertices, count = len(mesh.vertices), len(found.t)
    few = np.unique(np.linspace(0, count - 1, min(count, max(24, PLACES // (3 * vertices)))).astype(int))
    shapes = _fields(_moved(found.pieces, covers, mesh, few))
    chunks = np.array_split(np.arange(count), max(1, count * 3 * vertices // PLACES))
    moved = [_moved(found.pieces, covers, mesh, chunk) for chunk in chunks]
    coordinates = np.concatenate([each @ shapes.T for each in moved])
    most = max(float(np.linalg.norm(each.reshape(-1, 3), axis=1).max()) for each in moved)
    stress, instants = stress_on(found, [(np.concatenate(numbers), np.concatenate(weights))], vertices)
    fields = shapes.reshape(len(shapes), vertices, 3)
    return Skin(name, mesh, name, stage.colour(name), fields, coordinates, most, stress, instants)


def _fields(moved: Array) -> Array:
    """(n, 3 vertices) orthogonal fields that describe some displacements (frames, 3 vertices) best."""
    sizes, left = np.linalg.eigh(moved @ moved.T)
    order = np.argsort(sizes)[::-1]
    keep = [k for k in order[:FIELDS] if sizes[k] > FINE**2 * sizes[order[0]]] or [order[0]]
    fields = left[:, keep].T @ moved
    return np.asarray(fields / np.maximum(np.linalg.norm(fields, axis=1, keepdims=True), 1e-300))


def _moved(pieces: tuple[Piece, ...], covers: list[Cover], mesh: Mesh, frames: Indices) -> Array:
    """(frames, 3 vertices) displacements of all vertices in the axes of the beam."""
    rows, first = [], 0
    for piece, cover in zip(pieces, covers, strict=True):
        own = np.einsum("vjn,nf->fvj", cover.moves, piece.drawn.coordinates[:, frames], optimize=True)
        places = np.einsum("fij,fvj->fvi", piece.rotation[frames], cover.mesh.vertices + own, optimize=True)
        last = first + len(cover.mesh.vertices)
        rows.append(places + piece.position[frames, None] - mesh.vertices[first:last])
        first = last
    return np.concatenate(rows, axis=1).reshape(len(frames), -1)
