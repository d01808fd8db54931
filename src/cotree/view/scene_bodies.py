"""Rigid bodies in space: by their shape, by their frames, or by their inertia."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from cotree.maths.rotation import matrices
from cotree.terminal.shapes import Shape
from cotree.view.scene import PALETTE, Solid, Stage, Trace
from cotree.view.scene_shapes import (
    Array,
    Mesh,
    box,
    capsule,
    cylinder,
    frame_along,
    joined,
    prism,
    sphere,
    tube,
)

LINK = 0.014
"""Radius of a thin link as part of the size of the model."""
AXES: Mapping[str, tuple[float, float, float]] = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
MOST_TRACES, MOST_PIECES = 24, 60
BETWEEN = 6
"""Parts that a trace is divided in between output points where there are few."""
LONG, PIECE, CROSSING = 6000, 256, 8
"""Points of a trace beyond which repeats are left out, of a piece that is thinned at once, and of mere crossings."""


def add_body(stage: Stage, name: str, shape: Shape | None) -> None:
    """Draw a rigid body: its solid, and links to its frames."""
    values = stage.values[name]
    centre = np.array([values.get(f"centre.{x}", 0.0) for x in "xyz"])
    places = frame_places(stage, name)
    thin = LINK * stage.size
    parts: list[Mesh] = []
    if shape is not None:
        parts.append(shape_mesh(shape, values, thin).moved(centre))
        half = np.abs(parts[0].vertices - centre).max(axis=0)
        parts += [_link(centre, p, 0.8 * thin) for p in places if (np.abs(p - centre) > 1.05 * half + thin).any()]
    else:
        parts += linked(places, centre, values, thin, stage.size)
    stage.solids.append(Solid(name, joined(parts), name, stage.colour(name)))
    stage.labels.setdefault(name, name)


def add_traces(stage: Stage) -> None:
    """The ways of the points of moving bodies, the longest ones."""
    found: list[tuple[float, str, Array]] = []
    seen: list[Array] = []
    for node in stage.tracks:
        owner = node.partition(".")[0]
        if f"{node}.position.x" not in stage.solution:
            continue
        course = _course(stage, node)
        way = float(np.linalg.norm(np.diff(course, axis=0), axis=1).sum())
        same = (len(other) == len(course) and np.abs(course - other).max() < 1e-6 * stage.size for other in seen)
        if way < 0.02 * stage.size or any(same):
            continue
        seen.append(course)
        found.append((way, owner, course))
    found.sort(key=lambda each: -each[0])
    for _, owner, course in found[:MOST_TRACES]:
        colour, few = stage.colours.get(owner, PALETTE[0]), thinned(course, 2e-4 * stage.size)
        pieces = [few] if len(few) <= LONG else without_repeats(few, 5e-3 * stage.size)
        stage.traces += [Trace(owner, piece, colour) for piece in pieces]


def _course(stage: Stage, node: str) -> Array:
    """The places of a frame at all output points, with some between them by its velocities where there are few."""
    course, t = stage.solution[f"{node}.position"], stage.solution.t
    known = np.isfinite(course).all(axis=1)
    velocity = stage.solution[f"{node}.velocity"] if f"{node}.velocity.z" in stage.solution else None
    if velocity is None or known.sum() < 2 or known.sum() * BETWEEN > LONG:
        return np.asarray(course[known])
    x, v, h = course[known], np.nan_to_num(velocity[known]), np.diff(t[known])[:, None]
    off = np.linalg.norm(np.diff(x, axis=0) - h * (v[1:] + v[:-1]) / 2, axis=1)
    speed = np.linalg.norm(v, axis=1)
    fits = (off <= 0.5 * h[:, 0] * np.maximum(speed[1:], speed[:-1]))[:, None]
    first, second = (np.where(fits, h * each, np.diff(x, axis=0)) for each in (v[:-1], v[1:]))
    rows = [
        (1 + 2 * s) * (1 - s) ** 2 * x[:-1]
        + s * (1 - s) ** 2 * first
        + s**2 * (3 - 2 * s) * x[1:]
        + s**2 * (s - 1) * second
        for s in np.arange(BETWEEN) / BETWEEN
    ]
    return np.concatenate([np.stack(rows, axis=1).reshape(-1, 3), x[-1:]])


def thinned(course: Array, error: float) -> Array:
    """The points of a course that straight lines between them need to stay close to it (Ramer, Douglas, Peucker)."""
    last = len(course) - 1
    marks = np.unique([*range(0, last, PIECE), last])  # one long course would take the square of its points
    keep = np.zeros(len(course), dtype=bool)
    keep[marks] = True
    waiting = [(int(a), int(b)) for a, b in pairwise(marks)]
    while waiting:
        a, b = waiting.pop()
        if b - a < 2:
            continue
        way = course[b] - course[a]
        between = course[a + 1 : b] - course[a]
        share = np.clip(between @ way / max(float(way @ way), 1e-300), 0.0, 1.0)
        away = np.linalg.norm(between - share[:, None] * way, axis=1)
        k = int(away.argmax())
        if away[k] > error:
            keep[a + 1 + k] = True
            waiting += [(a, a + 1 + k), (a + 1 + k, b)]
    return np.asarray(course[keep])


def without_repeats(course: Array, cell: float) -> list[Array]:
    """The pieces of a course that do not run along where it has been before, as after the first of many turns."""
    middles = np.floor((course[1:] + course[:-1]) / (2 * cell)).astype(np.int64)
    _, first = np.unique(middles, axis=0, return_index=True)
    new = np.zeros(len(middles), dtype=bool)
    new[first] = True
    olds = np.flatnonzero(np.diff(np.concatenate([[0], (~new).astype(int), [0]])))
    for a, b in zip(olds[::2], olds[1::2], strict=True):
        new[a:b] |= b - a < CROSSING
    edges = np.flatnonzero(np.diff(np.concatenate([[0], new.astype(int), [0]])))
    pieces = [course[a : b + 1] for a, b in zip(edges[::2], edges[1::2], strict=True)]
    return sorted(pieces, key=lambda piece: -len(piece))[:MOST_PIECES]


def frame_places(stage: Stage, name: str) -> list[Array]:
    """Where the frames of a body are in its axes, each place once."""
    own = stage.tracks[name]
    turn = matrices(own.orientation[:1])[0]
    result: list[Array] = []
    for node, track in stage.tracks.items():
        if node.startswith(f"{name}."):
            place = turn.T @ (track.position[0] - own.position[0])
            if not any(np.linalg.norm(place - other) < 1e-6 * stage.size for other in result):
                result.append(np.asarray(place))
    return result


def shape_mesh(shape: Shape, values: Mapping[str, float], thin: float) -> Mesh:
    """The solid of a shape about its centre; a rod without radius is thin."""
    turn = frame_along(AXES.get(shape.axis, (1, 0, 0)))
    length = values.get("length", 0.0)
    if shape.kind == "box":
        return box(*(values[f"size.{x}"] for x in "xyz"))
    if shape.kind == "sphere":
        return sphere(values["radius"], 32)
    if shape.kind == "tube":
        return tube(values["outer"], values["inner"], length).moved(turn=turn)
    if shape.kind == "rod" and not values.get("radius"):
        return capsule(min(thin, length / 6), length).moved(turn=turn)
    return cylinder(values.get("radius", thin), max(length, 0.2 * thin), 64).moved(turn=turn)


def linked(places: Sequence[Array], centre: Array, values: Mapping[str, float], thin: float, size: float) -> list[Mesh]:
    """A body without shape: links between its frames and a mark at its centre of mass, or a solid of its inertia."""
    apart = [place for place in places if np.linalg.norm(place - centre) > 1e-6 * size]
    around = len(apart) >= 2
    parts: list[Mesh] = []
    if around:
        parts += _plate(places, thin) if len(places) > 2 else []
        ends = [*places]
        if not parts:
            parts.append(_link(ends[0], ends[1], thin))
        reach = float(np.linalg.norm(ends[0] - ends[1])) if len(ends) == 2 else size
        off = _distance(centre, ends[0], ends[1])
        if len(ends) == 2 and off > 0.02 * reach:
            parts = [_link(end, centre, thin) for end in ends]
        parts.append(sphere(1.7 * thin).moved(centre))
        return parts
    parts += [_link(place, centre, 0.8 * thin) for place in apart]
    reach = max((float(np.linalg.norm(place - centre)) for place in apart), default=0.0)
    parts.append(inertia_solid(values, 1.6 * thin, 0.25 * (reach if apart else size)).moved(centre))
    return parts


def inertia_solid(values: Mapping[str, float], least: float, most: float) -> Mesh:
    """The uniform cylinder or block with a body's mass and moments of inertia; a ball where they say little."""
    mass = values.get("mass", 0.0)
    moments = np.array([values.get(f"inertia.{x}{x}", 0.0) for x in "xyz"])
    if mass <= 0 or moments.max() <= 0:
        return sphere(least)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if abs(moments[i] - moments[j]) < 1e-6 * moments.max() and moments[k] > 0:
            radius = float(np.sqrt(2 * moments[k] / mass))
            length = float(np.sqrt(max(12 * moments[i] / mass - 3 * radius**2, 0.0)))
            if abs(moments[k] - moments[i]) < 1e-6 * moments.max():
                return sphere(float(np.clip(np.sqrt(2.5 * moments[k] / mass), least, most)))
            solid = cylinder(min(max(radius, 0.5 * least), most), min(max(length, 0.5 * least), 2 * most), 36)
            return solid.moved(turn=frame_along(np.eye(3)[k]))
    edges = np.sqrt(np.maximum(6 * (moments.sum() - 2 * moments) / mass, 0.0))
    return box(*np.clip(edges, least, 2 * most))


def _plate(places: Sequence[Array], thin: float) -> list[Mesh]:
    """Links around the hull of three or more frames in a plane, with a thin plate between them; else nothing."""
    from scipy.spatial import ConvexHull

    points = np.array(places)
    middle = points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(points - middle)
    if sizes[1] < 1e-3 * sizes[0]:
        ends = (points - middle) @ axes[0]
        return [_link(points[int(ends.argmin())], points[int(ends.argmax())], thin)]
    if sizes[2] > 1e-3 * sizes[0]:
        return [_link(place, middle, thin) for place in points]
    normal = np.cross(axes[0], axes[1])
    turn = np.column_stack([axes[0], axes[1], normal])
    outline = (points - middle) @ turn[:, :2]
    order = ConvexHull(outline).vertices
    around = [points[k] for k in order]
    links = [_link(a, b, 0.8 * thin) for a, b in zip(around, [*around[1:], around[0]], strict=True)]
    inside = [k for k in range(len(points)) if k not in order]
    links += [_link(points[k], middle, 0.8 * thin) for k in inside]
    return [prism(outline[order], 0.7 * thin).moved(middle, turn), *links]


def _link(a: Array, b: Array, radius: float) -> Mesh:
    length = float(np.linalg.norm(b - a))
    return capsule(min(radius, max(length / 4, 0.3 * radius)), length).moved((a + b) / 2, frame_along(b - a))


def _distance(point: Array, a: Array, b: Array) -> float:
    """Of a point from the segment between two others."""
    way = b - a
    share = float(np.clip((point - a) @ way / max(float(way @ way), 1e-300), 0.0, 1.0))
    return float(np.linalg.norm(point - a - share * way))
