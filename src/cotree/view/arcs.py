"""The geometry of a drawn graph, in inches: nodes as round boxes, edges as arcs, names that do not overlap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from numpy.typing import NDArray

from cotree.graph import LinearGraph

Array = NDArray[np.float64]

RADIUS = 0.15
HEAD_LENGTH, HEAD_WIDTH = 0.12, 0.11
FONT_SIZE = 9.0
_GAP = 0.05
_SAMPLES = np.linspace(0.0, 1.0, 97)
_ALONG = (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74)


def text_size(text: str, size: float = FONT_SIZE) -> tuple[float, float]:
    """Width and height of a line of text in inches."""
    font = FontProperties(family=["DejaVu Sans"], size=size)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
    return float(width) / 72, size * 1.05 / 72


@dataclass(frozen=True)
class Disc:
    """A node: a circle, drawn out to the sides where its name is long."""

    x: float
    y: float
    half: float
    radius: float = RADIUS

    @property
    def centre(self) -> Array:
        return np.array([self.x, self.y])

    @property
    def box(self) -> Array:
        """Left, bottom, right, top."""
        return np.array([self.x - self.half, self.y - self.radius, self.x + self.half, self.y + self.radius])

    def distance(self, points: Array) -> Array:
        """Distance of points from the rim, negative inside."""
        offset = points - self.centre
        core = np.clip(offset[..., 0], -(self.half - self.radius), self.half - self.radius)
        return np.asarray(np.hypot(offset[..., 0] - core, offset[..., 1]) - self.radius)


@dataclass(frozen=True)
class Arc:
    """An edge: a cubic Bezier curve from tail to head, cut at the rims of its nodes, with its arrow head."""

    control: Array
    """The four control points of the visible line, up to the back of the arrow head."""
    head: Array
    """The three corners of the arrow head, its tip first."""

    @cached_property
    def points(self) -> Array:
        """Points along the visible line and the tip."""
        return np.concatenate([_bezier(self.control, _SAMPLES), self.head[:1]])

    def at(self, share: float) -> tuple[Array, Array]:
        """Place and unit normal at a share of the length, the arrow head included."""
        steps = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        length = np.concatenate([[0.0], np.cumsum(steps)])
        where = share * length[-1]
        place = np.array([np.interp(where, length, self.points[:, k]) for k in (0, 1)])
        k = min(max(int(np.searchsorted(length, where)), 1), len(self.points) - 1)
        along = self.points[k] - self.points[k - 1]
        along = along / max(float(np.linalg.norm(along)), 1e-9)
        return place, np.array([-along[1], along[0]])


def discs(places: Array, names: list[str]) -> list[Disc]:
    """Nodes wide enough for their names; unnamed ones are small dots."""
    found = []
    for (x, y), name in zip(places.tolist(), names, strict=True):
        half = max(RADIUS, text_size(name)[0] / 2 + 0.07) if name else RADIUS / 3
        found.append(Disc(x, y, half, RADIUS if name else RADIUS / 3))
    return found


def arcs(graph: LinearGraph, nodes: list[Disc], names: list[str], straight: bool = False) -> list[Arc]:
    """One arc for each edge: parallel edges fan out, self-loops stand off their node, the rest avoid other nodes.

    ``straight`` ones avoid nothing, which is fast.
    """
    bundles: dict[tuple[int, int], list[int]] = {}
    for k, (tail, head) in enumerate(zip(graph.tail.tolist(), graph.head.tolist(), strict=True)):
        bundles.setdefault((min(tail, head), max(tail, head)), []).append(k)
    found: dict[int, Arc] = {}
    for (a, b), edges in bundles.items():
        if a != b:
            for k, bend in zip(edges, _bends(nodes, a, b, [names[k] for k in edges], straight), strict=True):
                curve = _bent(nodes[a].centre, nodes[b].centre, bend)
                forward = int(graph.tail[k]) == a
                found[k] = _cut(curve if forward else curve[::-1], nodes[graph.tail[k]], nodes[graph.head[k]])
    for (a, b), edges in bundles.items():
        if a == b:
            ends = [found[k].points for k in found if a in (int(graph.tail[k]), int(graph.head[k]))]
            for k, (angle, size) in zip(edges, _loop_places(nodes[a], ends, len(edges)), strict=True):
                found[k] = _cut(_loop(nodes[a].centre, angle, size), nodes[a], nodes[a])
    return [found[k] for k in range(graph.e)]


def _bends(nodes: list[Disc], a: int, b: int, names: list[str], straight: bool) -> list[float]:
    """How far the middle of each edge between two nodes stands off the straight line."""
    p, q = nodes[a].centre, nodes[b].centre
    along = (q - p) / max(float(np.linalg.norm(q - p)), 1e-9)
    normal = np.array([-along[1], along[0]])
    if len(names) == 1 and straight:
        return [0.0]
    if len(names) == 1:
        length = float(np.linalg.norm(q - p))
        reach = length + 0.5  # nodes further away than this from the middle are in nobody's way
        middle = (p + q) / 2
        others = [
            node
            for k, node in enumerate(nodes)
            if k not in (a, b) and abs(node.x - middle[0]) < reach and abs(node.y - middle[1]) < reach
        ]
        free: dict[float, float] = {}
        for bend in (0.0, *(side * length * share for share in (0.14, 0.25, 0.36) for side in (1.0, -1.0))):
            line = _bezier(_bent(p, q, bend), _SAMPLES)
            free[bend] = _clearance(others, line)
            if free[bend] > 0.1:
                return [bend]
        return [max(free, key=free.__getitem__)]
    sizes = [text_size(name) if name else (0.0, 0.0) for name in names]
    room = [abs(normal[0]) * w + abs(normal[1]) * h for w, h in sizes]
    gaps = [min(max(0.26, (x + y) / 2 + 0.13), 0.36) for x, y in pairwise(room)]
    offsets = np.concatenate([[0.0], np.cumsum(gaps)])
    return [float(x) for x in offsets - offsets[-1] / 2]


def _clearance(nodes: list[Disc], points: Array) -> float:
    """The least distance of points from the rims of nodes."""
    if not nodes:
        return 9.0
    x, y, half, radius = np.array([(node.x, node.y, node.half, node.radius) for node in nodes]).T[:, :, None]
    across, up = points[:, 0] - x, points[:, 1] - y
    core = np.clip(across, radius - half, half - radius)
    return float(np.min(np.hypot(across - core, up) - radius))


def _bent(p: Array, q: Array, bend: float) -> Array:
    """Control points of the arc from p to q whose middle stands ``bend`` to the left of the straight line."""
    along = (q - p) / max(float(np.linalg.norm(q - p)), 1e-9)
    normal = np.array([-along[1], along[0]]) * bend * 4 / 3
    return np.array([p, p + (q - p) * 0.28 + normal, p + (q - p) * 0.72 + normal, q])


def _loop(centre: Array, angle: float, size: float) -> Array:
    out = [np.array([np.cos(angle + s * 0.62), np.sin(angle + s * 0.62)]) for s in (-1, 1)]
    return np.array([centre, centre + size * out[0], centre + size * out[1], centre])


def _loop_places(node: Disc, ends: list[Array], count: int) -> list[tuple[float, float]]:
    """Directions and sizes of a node's self-loops: into the widest gap between its edges, then further out."""
    angles = []
    for line in ends:
        near = line[0] if np.linalg.norm(line[0] - node.centre) < np.linalg.norm(line[-1] - node.centre) else line[-1]
        angles.append(float(np.arctan2(*(near - node.centre)[::-1])))
    tries = np.deg2rad(np.arange(90, 450, 15))
    free = [min((abs((t - a + np.pi) % (2 * np.pi) - np.pi) for a in angles), default=9.0) for t in tries]
    best = float(tries[int(np.argmax(np.round(free, 6)))])
    return [(best, 0.85 + node.half - RADIUS + 0.4 * k) for k in range(count)]


def _cut(curve: Array, tail: Disc, head: Disc) -> Arc:
    """The part of a curve between two nodes, with the arrow head at its end."""
    share = np.linspace(0.0, 1.0, 801)
    points = _bezier(curve, share)
    from_tail, from_head = tail.distance(points) - 0.01, head.distance(points) - 0.02
    first = next((k for k in range(len(share)) if from_tail[k] > 0), 0)
    last = next((k for k in range(len(share) - 1, -1, -1) if from_head[k] > 0), len(share) - 1)
    if first >= last:  # the nodes touch
        first, last = 0, len(share) - 1
    tip = points[last]
    away = np.linalg.norm(points[: last + 1] - tip, axis=1)
    back = max(int(np.flatnonzero(away >= HEAD_LENGTH)[-1]) if (away >= HEAD_LENGTH).any() else first, first)
    along = tip - points[back]
    along = along / max(float(np.linalg.norm(along)), 1e-9)
    normal = np.array([-along[1], along[0]]) * HEAD_WIDTH / 2
    base = tip - along * HEAD_LENGTH
    # The line ends a little inside the head, so that no gap shows.
    inside = min(back + max((last - back) // 3, 1), last)
    return Arc(
        _section(curve, float(share[first]), float(share[inside])), np.array([tip, base + normal, base - normal])
    )


def _bezier(control: Array, t: Array) -> Array:
    s = 1 - t
    weights = np.column_stack([s**3, 3 * s**2 * t, 3 * s * t**2, t**3])
    return np.asarray(weights @ control)


def _section(control: Array, a: float, b: float) -> Array:
    """Control points of the part of a cubic between two parameters (de Casteljau)."""

    def upto(c: Array, t: float) -> Array:
        out, row = [c[0]], c
        while len(row) > 1:
            row = row[:-1] * (1 - t) + row[1:] * t
            out.append(row[0])
        return np.array(out)

    tail = upto(control[::-1], 1 - a)[::-1]
    return upto(tail, (b - a) / (1 - a) if a < 1 else 0.0)


@dataclass(frozen=True)
class Label:
    """Place of a name, by its centre, and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def box(self) -> Array:
        half = np.array([self.width, self.height]) / 2
        centre = np.array([self.x, self.y])
        return np.concatenate([centre - half, centre + half])


def place_labels(lines: list[Arc], names: list[str], nodes: list[Disc]) -> tuple[list[Label], bool]:
    """A place for each edge's name near the middle of its arc; False if two names or a name and a node still touch."""
    fixed = np.array([node.box for node in nodes])
    heads = np.array([np.concatenate([a.head.min(axis=0), a.head.max(axis=0)]) for a in lines]).reshape(-1, 4)
    cloud = np.concatenate([a.points for a in lines])
    owner = np.repeat(np.arange(len(lines)), [len(a.points) for a in lines])
    every = [_candidates(line, name) for line, name in zip(lines, names, strict=True)]
    standing = [_standing_cost(k, c, fixed, heads, cloud, owner) for k, c in enumerate(every)]
    chosen = [int(np.argmin(cost)) for cost in standing]
    placed = np.array([c[0][i] for c, i in zip(every, chosen, strict=True)])
    for _ in range(6):
        before = list(chosen)
        for k, (boxes, _) in enumerate(every):
            others = np.delete(placed, k, axis=0)
            chosen[k] = int(np.argmin(standing[k] + 40 * _touching(boxes, others).sum(axis=1)))
            placed[k] = boxes[chosen[k]]
        if chosen == before:
            break
    touching = _touching(placed, placed).sum() - len(placed) + _touching(placed, fixed).sum()
    size = placed[:, 2:] - placed[:, :2] - 2 * _GAP * np.array([1, 0.5])
    middle = (placed[:, 2:] + placed[:, :2]) / 2
    return [Label(*m, *s) for m, s in zip(middle.tolist(), size.tolist(), strict=True)], touching == 0


def _candidates(line: Arc, name: str) -> tuple[Array, Array]:
    """Boxes that a name may take, and what each costs by itself: on the arc's middle is best."""
    width, height = text_size(name)
    half = np.array([width / 2 + _GAP, height / 2 + _GAP / 2])
    boxes, costs = [], []
    for share in _ALONG:
        place, normal = line.at(share)
        reach = float(np.abs(normal) @ half) + 0.02
        for side in (0.0, 1.0, -1.0):
            centre = place + side * reach * normal
            boxes.append(np.concatenate([centre - half, centre + half]))
            costs.append(4 * abs(share - 0.5) + 0.8 * abs(side))
    return np.array(boxes), np.array(costs)


def _standing_cost(
    k: int, candidates: tuple[Array, Array], fixed: Array, heads: Array, cloud: Array, owner: NDArray[np.int_]
) -> Array:
    """Cost of each place of a name against everything that does not move."""
    boxes, own = candidates
    cost = own + 40 * _touching(boxes, fixed).sum(axis=1) + 6 * _touching(boxes, heads).sum(axis=1)
    reach = (cloud >= boxes[:, :2].min(axis=0)).all(axis=1) & (cloud <= boxes[:, 2:].max(axis=0)).all(axis=1)
    cloud, owner = cloud[reach], owner[reach]
    for i, box in enumerate(boxes):
        inside = (cloud >= box[:2]).all(axis=1) & (cloud <= box[2:]).all(axis=1) & (owner != k)
        cost[i] += 3 * len(np.unique(owner[inside])) + 0.1 * np.count_nonzero(inside)
    return np.asarray(cost)


def _touching(a: Array, b: Array) -> NDArray[np.bool_]:
    """Which boxes of a overlap which of b, (len(a), len(b))."""
    return np.asarray(
        (a[:, None, 0] < b[None, :, 2])
        & (b[None, :, 0] < a[:, None, 2])
        & (a[:, None, 1] < b[None, :, 3])
        & (b[None, :, 1] < a[:, None, 3])
    )
