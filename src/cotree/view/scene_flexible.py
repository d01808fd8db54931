"""Flexible bodies in space: skins over beams and shells that move by the body's elastic coordinates.

Every vertex belongs to a point of the mesh and follows its displacement and rotation, which are linear in the elastic
coordinates: the page gets one displacement field for each, and the course of the coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cotree.errors import CotreeError, ModelError
from cotree.terminal.deformable import Deformable
from cotree.terminal.recovery import Deformation
from cotree.terminal.segment_mesh import SegmentedDeformation
from cotree.view.scene import Skin, Solid, Stage
from cotree.view.scene_frames import bending
from cotree.view.scene_shapes import Array, Indices, Mesh, grid_triangles, joined, sphere

STATIONS = 5
"""Sections drawn along an element of a beam."""
THINNEST = 0.006
"""Least half width of a drawn section as part of the size of the model."""
SHAPES = 16
"""Displacement fields of one body in the page; more elastic coordinates are condensed to these."""
HEAVY = 7800.0
"""Density in kg/m^3 of the balls that stand for lumps of mass."""
STRESSES = 240_000
"""Values of stress of one body in the page, at most; it is given at fewer instants beyond."""
PLACES = 6_000_000
"""Places of vertices that are searched for the largest deflection, at most."""


@dataclass(frozen=True)
class Cover:
    """A surface over a family of elements: its mesh, and the displacement of its vertices by unit coordinates."""

    mesh: Mesh
    moves: Array
    """(vertices, 3, n)"""
    corners: Any
    """Numbers of two or more values of stress of the family, and weights, for each vertex."""


def add_flexible(stage: Stage, body: Deformable) -> None:
    """Draw a flexible body."""
    name = body.name
    if name not in stage.elastic:
        raise ModelError("its mesh cannot be made again", where=name)
    whole = stage.elastic[name]
    kept = np.searchsorted(whole.t, stage.solution.t[stage.frames])
    if isinstance(whole, SegmentedDeformation):
        from cotree.view.scene_segments import segmented_skin

        stage.skins.append(segmented_skin(stage, name, whole.part(kept)))
    elif not _add_skin(stage, name, whole, kept):
        return
    stage.labels.setdefault(name, name)
    for lump in body.masses.values():
        at = f"{name}.{lump['at']}"
        if at in stage.tracks:
            ball = sphere(float(np.cbrt(3 * lump["mass"] / (4 * np.pi * HEAVY))))
            stage.solids.append(Solid(name, ball, at, stage.colour(name)))


def _add_skin(stage: Stage, name: str, whole: Deformation, kept: Indices) -> bool:
    """Draw a body whose elastic coordinates bend it in one frame; whether there is something to draw."""
    found = whole.part(kept)
    covers = [cover for family in found.families if (cover := cover_of(family, found, stage.size)) is not None]
    if not covers:
        return False
    mesh = joined([cover.mesh for cover in covers])
    shapes = np.concatenate([cover.moves for cover in covers]).transpose(2, 0, 1)
    shapes, every = condensed(shapes, whole.coordinates.T)
    stress, instants = stress_on(found, [cover.corners for cover in covers], len(mesh.vertices))
    averaged = any(hasattr(family, "triangles") for family in found.families)
    stage.skins.append(
        Skin(name, mesh, name, stage.colour(name), shapes, every[kept], _deflection(shapes, every, kept), stress,
             instants, averaged)
    )  # fmt: skip
    return True


def condensed(shapes: Array, coordinates: Array) -> tuple[Array, Array]:
    """Fields and courses whose products are the same, at most `SHAPES` of them (the largest singular values)."""
    n, count = len(shapes), shapes.shape[1]
    if n <= SHAPES:
        return shapes, coordinates
    basis, upper = np.linalg.qr(shapes.reshape(n, -1).T)
    left, sizes, right = np.linalg.svd(coordinates @ upper.T, full_matrices=False)
    k = min(SHAPES, len(sizes))
    return (basis @ right[:k].T).T.reshape(k, count, 3), left[:, :k] * sizes[:k]


def cover_of(family: Any, found: Deformation, size: float) -> Cover | None:
    if hasattr(family, "triangles"):
        return _shell(family, found, 0.4 * THINNEST * size)
    if hasattr(family, "section"):
        return _beam(family, found, THINNEST * size)
    return None


def _shell(family: Any, found: Deformation, thinnest: float) -> Cover:
    """Both faces and the walls along free edges; triangles share their nodes, so that a face looks smooth."""
    nodes, inverse = np.unique(family.triangles, return_inverse=True)
    triangles, count = np.asarray(inverse, dtype=np.int64).reshape(-1, 3), len(nodes)
    places, rows = found.places[nodes], found.shapes.reshape(len(found.places), 6, -1)[nodes]
    sides = np.cross(
        places[triangles[:, 1]] - places[triangles[:, 0]], places[triangles[:, 2]] - places[triangles[:, 0]]
    )
    normals = np.zeros((count, 3))
    np.add.at(normals, triangles, sides[:, None])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    height = max((family.plate.thickness or 0.0) / 2, thinnest) * normals
    up, down = (rows[:, :3] + sign * np.cross(rows[:, 3:], height[:, :, None], axis=1) for sign in (1.0, -1.0))
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    _, first, times = np.unique(np.sort(edges, axis=1), axis=0, return_index=True, return_counts=True)
    a, b = edges[first[times == 1]].T
    corner = np.arange(len(a))[:, None]
    walls = 2 * count + np.concatenate(
        [np.hstack([corner, corner + 2 * len(a), corner + len(a)]),
         np.hstack([corner + len(a), corner + 2 * len(a), corner + 3 * len(a)])]
    )  # fmt: skip
    ring = np.concatenate([a, b])
    vertices = np.concatenate([places + height, places - height, (places + height)[ring], (places - height)[ring]])
    mesh = Mesh(vertices, np.concatenate([triangles, triangles[:, ::-1] + count, walls]))
    every = np.concatenate([np.arange(count), np.arange(count), ring, ring])
    numbers, weights = _shared(triangles, count)
    return Cover(mesh, np.concatenate([up, down, up[ring], down[ring]]), (numbers[every], weights[every]))


def _shared(triangles: Indices, count: int) -> tuple[Array, Array]:
    """The corners of triangles that meet in each node, with equal weights, for the mean of their stresses."""
    corners: list[list[int]] = [[] for _ in range(count)]
    for number, triangle in enumerate(triangles):
        for corner, node in enumerate(triangle):
            corners[node].append(4 * number + 1 + corner)
    most = max(len(each) for each in corners)
    numbers = np.array([each + each[:1] * (most - len(each)) for each in corners])
    weights = np.array([[1 / len(each)] * len(each) + [0.0] * (most - len(each)) for each in corners])
    return numbers, weights


def _beam(family: Any, found: Deformation, thinnest: float) -> Cover:
    """The section swept along each element, bent by cubic polynomials between its ends."""
    strips = outline(family.section, thinnest)
    n = found.shapes.shape[1]
    s = np.linspace(0.0, 1.0, STATIONS)
    meshes, moves, numbers, weights = [], [], [], []
    for e in range(len(family.lengths)):
        axes, length, ends = family.axes[e], family.lengths[e], family.ends[e]
        rows = found.shapes[family.degrees[e]].reshape(2, 2, 3, n)
        turns = np.einsum("ij,kjn->kin", axes, rows[:, 1])
        shifts = np.einsum("ij,kjn->kin", axes, rows[:, 0] + np.cross(rows[:, 1], family.arms[e][:, :, None], axis=1))
        place, turn = _bent(shifts, turns, length, s)
        centre = ends[0] + s[:, None] * (ends[1] - ends[0])
        for strip in strips:
            local = np.column_stack([np.zeros(len(strip)), strip])
            points = centre[:, None] + local @ axes
            field = place[:, None] + np.cross(turn[:, None], local[None, :, :, None], axis=2)
            meshes.append(Mesh(points.reshape(-1, 3), grid_triangles(STATIONS, len(strip))[:, ::-1]))
            moves.append(np.einsum("ij,skin->skjn", axes, field).reshape(-1, 3, n))
            numbers.append(np.tile([2 * e, 2 * e + 1], (STATIONS * len(strip), 1)))
            weights.append(np.repeat(np.column_stack([1 - s, s]), len(strip), axis=0))
        for k, sign in ((0, 1), (-1, -1)):  # caps where no other element goes on
            if (family.degrees == family.degrees[e, 6 * k]).sum() > 1:
                continue
            corners = np.concatenate([strip[:-1] for strip in strips])
            local = np.column_stack([np.zeros(len(corners)), corners])
            fan = np.array([[0, i, i + 1] for i in range(1, len(corners) - 1)])[:, ::-sign]
            meshes.append(Mesh(centre[k] + local @ axes, fan))
            field = place[k] + np.cross(turn[k][None], local[:, :, None], axis=1)
            moves.append(np.einsum("ij,kin->kjn", axes, field))
            numbers.append(np.tile([2 * e, 2 * e + 1], (len(corners), 1)))
            weights.append(np.tile([1 - s[k], s[k]], (len(corners), 1)))
    return Cover(joined(meshes), np.concatenate(moves), (np.concatenate(numbers), np.concatenate(weights)))


def _bent(shifts: Array, turns: Array, length: float, s: Array) -> tuple[Array, Array]:
    """Displacement and rotation (stations, 3, n) in the element's axes from those of its two ends."""
    ends = np.stack([1 - s, s])
    place = np.einsum("ks,kin->sin", ends, shifts)
    turn = np.einsum("ks,kin->sin", ends, turns)
    h = [1 - 3 * s**2 + 2 * s**3, length * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, length * (s**3 - s**2)]
    for move, angle, sign in ((1, 2, 1.0), (2, 1, -1.0)):
        knots = (shifts[0, move], sign * turns[0, angle], shifts[1, move], sign * turns[1, angle])
        place[:, move] = sum(np.multiply.outer(weight, knot) for weight, knot in zip(h, knots, strict=True))
    return place, turn


def outline(section: Any, thinnest: float) -> list[Array]:
    """The edges of a section as strips of points (y, z) that close to a ring, counter-clockwise about x."""
    v: dict[str, float] = dict(section.values)
    if section.kind in ("circle", "tube") or (section.kind == "general" and not section.corners and _even(section)):
        radius = v.get("outer") or v.get("radius") or 2 * float(np.sqrt(section.iz / section.area))
        angles = 2 * np.pi * np.arange(17) / 16
        return [max(radius, thinnest) * np.column_stack([np.cos(angles), np.sin(angles)])]
    if section.kind == "i_section":
        b, h, w, f = (v[name] / 2 for name in ("width", "height", "web", "flange"))
        inner = h - 2 * f
        half = [(b, -h), (b, -inner), (w, -inner), (w, inner), (b, inner), (b, h)]
        ring = np.array([*half, *((-y, -z) for y, z in half)])
    else:
        y = v.get("width", float(np.sqrt(12 * section.iz / section.area))) / 2
        z = v.get("height", float(np.sqrt(12 * section.iy / section.area))) / 2
        ring = np.array([(y, -z), (y, z), (-y, z), (-y, -z)])
    ring = ring * max(1.0, thinnest / float(np.abs(ring).max()))
    return [np.array([a, b]) for a, b in zip(ring, np.roll(ring, -1, axis=0), strict=True)]


def _even(section: Any) -> bool:
    return bool(abs(section.iy - section.iz) < 1e-6 * section.iy)


def _deflection(shapes: Array, coordinates: Array, kept: Indices) -> float:
    """The largest displacement of a vertex at any output point, or in the frames where that is too much to search."""
    if len(coordinates) * shapes.shape[1] > PLACES:
        coordinates = coordinates[kept]
    pieces = np.array_split(coordinates, max(1, len(coordinates) * shapes.shape[1] // 400_000))
    return max(
        (float(np.linalg.norm(np.tensordot(each, shapes, axes=1), axis=2).max()) for each in pieces if len(each)),
        default=0.0,
    )


def stress_on(found: Deformation, corners: list[Any], vertices: int) -> tuple[Array | None, Indices | None]:
    """(instants, vertices) von Mises stress and the frames that it is given at; None where a section has none.

    ``corners`` are those of the cover of each family. Where these cannot be all frames, that with the largest
    deflection is one of them.
    """
    count = len(found.t)
    _, peak = bending(found.shapes, found.coordinates.T, 0.0)
    few = np.linspace(0, count - 1, min(count, max(STRESSES // vertices, 24))).round().astype(int)
    instants = np.union1d(few, [peak])
    rows: list[Array] = []
    try:
        for k in instants:
            values = [_mises(stress).ravel() for stress in found.stress(int(k))]
            if len(values) != len(corners):
                return None, None
            drawn = zip(values, corners, strict=True)
            rows.append(np.concatenate([(value[numbers] * weights).sum(axis=1) for value, (numbers, weights) in drawn]))
    except CotreeError:
        return None, None
    return np.array(rows), instants


def _mises(stress: Any) -> Array:
    """Of beams (E, 2) at the ends of each element, of shells (T, 4) at the centroid and the corners."""
    mises = np.asarray(stress.mises)
    return mises if mises.ndim == 2 else np.asarray(mises.max(axis=-1))
