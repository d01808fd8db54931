"""Triangle meshes of simple solids, for the picture in space.

Vertices are not shared across creases, so that shading by averaged normals is right on both sides of an edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

ROUND = 24
"""Sides of a circle."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """A surface of triangles, counter-clockwise seen from outside."""

    vertices: Array
    triangles: Indices

    def moved(self, shift: Any = (0.0, 0.0, 0.0), turn: Array | None = None, scale: Any = 1.0) -> Mesh:
        """Scaled, then turned by a matrix, then shifted."""
        turn = np.eye(3) if turn is None else turn
        places = (self.vertices * np.asarray(scale, dtype=float)) @ turn.T
        return Mesh(places + np.asarray(shift, dtype=float), self.triangles)


def joined(meshes: Sequence[Mesh]) -> Mesh:
    """Several meshes as one."""
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.triangles + start for mesh, start in zip(meshes, starts, strict=False)]),
    )


def revolved(profile: Sequence[tuple[float, float] | None], sides: int = ROUND) -> Mesh:
    """A surface of revolution about x from (x, radius) pairs, counter-clockwise; None between pairs is a crease."""
    angles = 2 * np.pi * np.arange(sides + 1) / sides
    parts: list[Mesh] = []
    run: list[tuple[float, float]] = []
    for point in [*profile, None]:
        if point is not None:
            run.append(point)
            continue
        if len(run) > 1:
            rows = [np.column_stack([np.full_like(angles, x), r * np.cos(angles), r * np.sin(angles)]) for x, r in run]
            parts.append(Mesh(np.concatenate(rows), grid_triangles(len(run), sides + 1)))
        run = []
    return joined(parts)


def flat(mesh: Mesh) -> Mesh:
    """The same surface with flat faces."""
    return Mesh(mesh.vertices[mesh.triangles.ravel()], np.arange(mesh.triangles.size).reshape(-1, 3))


def grid_triangles(rows: int, columns: int) -> Indices:
    """Two triangles for each cell of a grid of vertices, row by row."""
    i, k = np.meshgrid(np.arange(rows - 1), np.arange(columns - 1), indexing="ij")
    a = (i * columns + k).ravel()
    b, c, d = a + 1, a + columns, a + columns + 1
    return np.concatenate([np.column_stack([a, b, d]), np.column_stack([a, d, c])])


def cylinder(radius: float, length: float, sides: int = ROUND) -> Mesh:
    """A cylinder along x about the origin, with narrow bevels that catch the light."""
    half, bevel = length / 2, min(0.12 * radius, 0.12 * length)
    inner = radius - bevel
    profile = [
        (-half, 0.0), (-half, inner), None, (-half, inner), (-half + bevel, radius), None,
        (-half + bevel, radius), (half - bevel, radius), None, (half - bevel, radius), (half, inner), None,
        (half, inner), (half, 0.0),
    ]  # fmt: skip
    return revolved(profile, sides)


def tube(outer: float, inner: float, length: float, sides: int = ROUND) -> Mesh:
    """A hollow cylinder along x about the origin."""
    half = length / 2
    corners = [(-half, inner), (-half, outer), (half, outer), (half, inner), (-half, inner)]
    profile = [point for a, b in pairwise(corners) for point in (a, b, None)]
    return revolved(profile, sides)


def sphere(radius: float, sides: int = ROUND) -> Mesh:
    """A sphere about the origin."""
    angles = np.linspace(0.0, np.pi, sides // 2 + 1)
    return revolved([(-radius * float(np.cos(a)), radius * float(np.sin(a))) for a in angles], sides)


def capsule(radius: float, length: float, sides: int = ROUND) -> Mesh:
    """A rod along x about the origin with round ends; ``length`` is between the centres of the ends."""
    half, angles = length / 2, np.linspace(0.0, np.pi / 2, sides // 4 + 1)
    left = [(-half - radius * float(np.cos(a)), radius * float(np.sin(a))) for a in angles]
    return revolved([*left, *((-x, r) for x, r in reversed(left))], sides)


def cone(radius: float, length: float, sides: int = ROUND) -> Mesh:
    """A cone along x from the origin to its tip."""
    return revolved([(0.0, 0.0), (0.0, radius), None, (0.0, radius), (length, 0.0)], sides)


def box(x: float, y: float, z: float) -> Mesh:
    """A block about the origin."""
    faces: list[Mesh] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            b, c = ((axis + 1) % 3, (axis + 2) % 3) if sign > 0 else ((axis + 2) % 3, (axis + 1) % 3)
            corners = np.zeros((4, 3))
            corners[:, axis] = sign
            corners[:, b], corners[:, c] = [-1, 1, 1, -1], [-1, -1, 1, 1]
            faces.append(Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]])))
    return joined(faces).moved(scale=(x / 2, y / 2, z / 2))


def prism(outline: Array, thickness: float) -> Mesh:
    """A plate along z about the plane z = 0 from a convex outline (n, 2), counter-clockwise."""
    n, half = len(outline), thickness / 2
    low, high = (np.column_stack([outline, np.full(n, z)]) for z in (-half, half))
    fan = np.column_stack([np.zeros(n - 2, dtype=int), np.arange(1, n - 1), np.arange(2, n)])
    after = np.roll(np.arange(n), -1)
    sides = np.stack([low, low[after], high[after], high], axis=1).reshape(-1, 3)
    start = 4 * np.arange(n)[:, None]
    walls = np.concatenate([start + np.array([0, 1, 2]), start + np.array([0, 2, 3])])
    return joined([Mesh(high, fan), Mesh(low, fan[:, ::-1]), Mesh(sides, walls)])


def swept(course: Array, radius: float, sides: int = 6) -> Mesh:
    """A round wire along a course of points (n, 3)."""
    along = np.gradient(course, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    side = perpendicular(along[0])
    rows = []
    for place, way in zip(course, along, strict=True):
        side = side - (side @ way) * way
        size = float(np.linalg.norm(side))
        side = side / size if size > 1e-9 else perpendicular(way)
        other = np.cross(way, side)
        angles = 2 * np.pi * np.arange(sides + 1)[:, None] / sides
        rows.append(place + radius * (np.cos(angles) * side + np.sin(angles) * other))
    return Mesh(np.concatenate(rows), grid_triangles(len(course), sides + 1)[:, ::-1])


def coil(slender: float = 10.0, wire: float = 0.16) -> Mesh:
    """A spring from x = 0 to x = 1 with radius 1 across, to be scaled to about ``slender`` times its radius."""
    turns = int(np.clip(round(slender / 1.25), 3, 24))
    s = np.linspace(0.0, 1.0, 14 * turns + 1)
    angle = 2 * np.pi * turns * s
    body = np.column_stack([0.12 + 0.76 * s, np.cos(angle), np.sin(angle)])
    course = np.concatenate([[[0.0, 0.0, 0.0], [0.09, 0.0, 0.0]], body, [[0.91, 0.0, 0.0], [1.0, 0.0, 0.0]]])
    mesh = swept(course * (slender, 1.0, 1.0), wire)  # swept at its usual length, so that the wire is round
    return mesh.moved(scale=(1 / slender, 1.0, 1.0))


def arc_arrow(radius: float, wire: float, turn: float = 1.5 * np.pi) -> Mesh:
    """An arrow around x, counter-clockwise."""
    angles = np.linspace(0.0, turn, ROUND)
    course = np.column_stack([np.zeros(ROUND), radius * np.cos(angles), radius * np.sin(angles)])
    end = np.array([0.0, -np.sin(turn), np.cos(turn)])
    head = cone(3.0 * wire, 7.0 * wire, 12).moved(course[-1], frame_along(end))
    return joined([swept(course, wire), head])


def perpendicular(way: Array) -> Array:
    """A unit vector across another."""
    least = np.eye(3)[int(np.abs(way).argmin())]
    across = np.cross(way, least)
    return np.asarray(across / max(float(np.linalg.norm(across)), 1e-300))


def frame_along(way: Any) -> Array:
    """A rotation whose first axis has a direction; its third is across x and y where it can be."""
    first = np.asarray(way, dtype=float)
    first = first / max(float(np.linalg.norm(first)), 1e-300)
    third = np.cross(first, (0.0, 1.0, 0.0)) if abs(first[1]) < 0.9 else np.cross(first, (0.0, 0.0, -1.0))
    third /= np.linalg.norm(third)
    return np.column_stack([first, np.cross(third, first), third])
