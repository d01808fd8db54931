"""Where the nodes of a drawn graph go: few crossings, clear distances, the datum low; the same picture every time.

Layouts of little stress give the start. A descent on the criteria of Davidson and Harel (1996: crossings, distances
between nodes and edges, angles) then clears the picture, and the whole is turned so that edges lie level or upright.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path

from cotree.graph import LinearGraph

Array = NDArray[np.float64]

REFINED = 70
"""Most nodes for which single nodes are moved to clear the picture."""

LONG = 12.0
"""Edges between the ends of a graph beyond which it is curled up."""

_CROSSING, _NEAR, _ANGLE, _SHORT, _LEVEL = 6.0, 14.0, 1.2, 8.0, 0.12
_CLEAR, _WIDER = 0.42, 0.12
"""Distance that a node and an edge should keep, and how much more for each further parallel edge."""


def place_nodes(graph: LinearGraph, room: Array) -> Array:
    """Positions of all nodes, (v, 2); separate parts stand side by side.

    ``room`` is the length that each edge asks for; edges are drawn out where that is much more than one.
    """
    asked, clear = pair_lengths(graph, room)
    places = np.zeros((graph.v, 2))
    left = 0.0
    row, height = 0.0, 0.0
    for datum, names in zip(graph.datums, graph.parts(), strict=True):
        index = np.array([graph.node_index(name) for name in names])
        local = {int(k): n for n, k in enumerate(index)}
        inside = {(local[a], local[b]): length for (a, b), length in asked.items() if a in local}
        wide = np.array([clear[pair] for pair in asked if pair[0] in local])
        part = _place_part(len(index), inside, wide, local[graph.node_index(datum)])
        part -= part.min(axis=0)
        size = part.max(axis=0)
        if left > 0 and left + size[0] > 12.0:
            left, row, height = 0.0, row + height + 1.0, 0.0
        places[index] = part + np.array([left, row])
        left += float(size[0]) + 1.0
        height = max(height, float(size[1]))
    return places


Pairs = dict[tuple[int, int], float]


def pair_lengths(graph: LinearGraph, room: Array) -> tuple[Pairs, Pairs]:
    """For each pair of nodes with edges between them, the length they ask for and the distance from other nodes."""
    bundles: dict[tuple[int, int], list[float]] = {}
    for tail, head, length in zip(graph.tail.tolist(), graph.head.tolist(), room.tolist(), strict=True):
        if tail != head:
            bundles.setdefault((min(tail, head), max(tail, head)), []).append(length)
    more = {pair: min(len(lengths) - 1, 4) for pair, lengths in bundles.items()}
    asked = {pair: max(lengths) + 0.3 * more[pair] for pair, lengths in sorted(bundles.items())}
    return asked, {pair: _CLEAR + _WIDER * more[pair] for pair in asked}


def _place_part(n: int, asked: Pairs, clear: Array, datum: int) -> Array:
    if n == 1:
        return np.zeros((1, 2))
    if n == 2:
        return np.array([[0.0, 0.0], [0.0, *asked.values()]])[:: 1 if datum == 0 else -1].copy()
    pairs = np.array(list(asked), dtype=int)
    starts, distance = _starts(n, asked)
    if n > REFINED:
        return _turned(starts[0], pairs, datum)
    clearing = _Clearing(pairs, distance, clear)
    trials = [clearing.refine(start, level=0.0, steps=_falling(0.5, 0.15, 5)) for start in starts]
    trials = sorted(trials, key=clearing.total)[: 2 if n <= 20 else 1]
    best = min((clearing.refine(trial, 0.0, _falling(0.3, 0.05, 9)) for trial in trials), key=clearing.total)
    turned = _turned(best, pairs, datum)
    return _aligned(clearing.refine(turned, level=_LEVEL, steps=_falling(0.2, 0.03, 8)))


def _starts(n: int, asked: Pairs) -> tuple[list[Array], Array]:
    """Layouts of little stress, from circles and, where the graph is planar, from a planar drawing; and distances."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(asked)
    ends = np.array(list(asked)).T
    joined = sp.coo_array((list(asked.values()), (ends[0], ends[1])), shape=(n, n)).tocsr()
    distance = _curled(np.asarray(shortest_path(joined, directed=False), dtype=float), float(np.median(joined.data)))
    around = 2 * np.pi * np.arange(n) / n
    circle = np.column_stack([np.cos(around), np.sin(around)])
    seeds, starts = [circle], []
    planar, embedding = nx.check_planarity(graph)
    if planar and n > 3:
        flat = nx.combinatorial_embedding_to_pos(embedding)
        seeds.insert(0, np.array([flat[k] for k in range(n)], dtype=float))
        starts.append(_scaled(seeds[0], distance))
    if n > REFINED:
        seeds, starts = seeds[:1], []
    elif n <= 20:
        shuffle = np.random.default_rng(0)
        seeds += [circle[shuffle.permutation(n)] for _ in range(3)]
    return [*starts, *(_relaxed(_scaled(seed, distance), distance) for seed in seeds)], distance


def _curled(distance: Array, edge: float) -> Array:
    """Long distances made shorter, so that a long chain curls up instead of filling a very wide picture."""
    longest = float(distance.max()) / edge
    if longest <= LONG:
        return distance
    steps = distance / edge
    return np.asarray(edge * np.where(steps > 1, np.maximum(steps, 1.0) ** 0.72, steps))


def _relaxed(points: Array, distance: Array) -> Array:
    """Distances on paper near those in the graph, sum(((apart - d) / d)^2) small (Gansner, Koren and North 2004)."""
    n = len(points)
    rounds = 80 if n <= 150 else max(12_000 // n, 8)
    wanted = distance + np.eye(n)
    weight = wanted**-2 - np.eye(n)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(laplacian + 1.0 / n)  # the constant shift fixes the middle
    for _ in range(rounds):
        apart = np.linalg.norm(points[:, None] - points, axis=2) + np.eye(n)
        pull = weight * distance / np.maximum(apart, 1e-9)
        points = inverse @ (pull.sum(axis=1)[:, None] * points - pull @ points)
    return points


def _scaled(points: Array, distance: Array) -> Array:
    """The layout at the size that fits the wanted distances best."""
    i, j = np.triu_indices(len(points), 1)
    share = np.linalg.norm(points[i] - points[j], axis=1) / distance[i, j]
    return np.asarray(points * float(share.sum() / (share**2).sum()))


def _falling(first: float, last: float, count: int) -> Array:
    return np.geomspace(first, last, count)


def _turned(points: Array, pairs: NDArray[np.int_], datum: int) -> Array:
    """The layout turned so that edges lie level or upright, the datum low, and the whole rather wide than tall."""
    centred = points - points.mean(axis=0)

    def cost(angle: float) -> float:
        p = centred @ _rotation(angle)
        span = np.maximum(np.ptp(p, axis=0), 0.3)
        low = (p[datum, 1] - p[:, 1].min()) / span[1]
        along = p[pairs[:, 1]] - p[pairs[:, 0]]
        tilt = np.mean(np.sin(2 * np.arctan2(along[:, 1], along[:, 0])) ** 2)
        shape = abs(np.log(span[0] / span[1] / 1.5))
        return float(1.2 * low + tilt + 0.4 * shape)

    return np.asarray(centred @ _rotation(min(np.deg2rad(np.arange(0, 360, 3)), key=cost)))


def _aligned(points: Array, near: float = 0.07) -> Array:
    """Nodes that are almost in line, level or upright, are put in line."""
    out = points.copy()
    for axis in (0, 1):
        order = np.argsort(points[:, axis], kind="stable")
        group = [order[0]]
        for k in [*order[1:], None]:
            if k is not None and points[k, axis] - points[group[0], axis] < 2 * near:
                group.append(k)
                continue
            out[group, axis] = points[group, axis].mean()
            group = [k]
    return out


def _rotation(angle: float) -> Array:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


class _Around:
    """Which nodes and edges one node must be weighed against; it does not change while nodes move."""

    def __init__(self, k: int, n: int, pairs: NDArray[np.int_], clear: Array) -> None:
        touches = (pairs == k).any(axis=1)
        self.own_clear, self.rest_clear = clear[touches], clear[~touches]
        own_more, rest_more = (self.own_clear - _CLEAR) / _WIDER, (self.rest_clear - _CLEAR) / _WIDER
        self.others = np.flatnonzero(np.arange(n) != k)
        self.rest = pairs[~touches]
        self.ends = pairs[touches].sum(axis=1) - k
        self.joined = np.isin(self.others, self.ends)
        self.away = np.ones((len(self.ends), n), dtype=bool)
        self.away[:, k] = False
        self.away[np.arange(len(self.ends)), self.ends] = False
        self.apart = ~(self.rest[None] == self.ends[:, None, None]).any(axis=2)
        first, second = np.nonzero(~self.apart)
        self.shared = self.ends[first]
        """At which end another edge meets an edge of k, and the far end of that edge."""
        self.beyond = self.rest[second].sum(axis=1) - self.shared
        self.shared_angle = _angle(own_more[first] + rest_more[second])
        self.pair = np.triu_indices(len(self.ends), 1)
        self.pair_angle = _angle(own_more[self.pair[0]] + own_more[self.pair[1]])


class _Clearing:
    """Descent that moves one node at a time to the best of a ring of places around it."""

    def __init__(self, pairs: NDArray[np.int_], distance: Array, clear: Array) -> None:
        self.distance = distance
        self.n = len(distance)
        self.around = [_Around(k, self.n, pairs, clear) for k in range(self.n)]
        ring = np.deg2rad(np.arange(0, 360, 30))
        circle = np.column_stack([np.cos(ring), np.sin(ring)])
        self.ring = np.concatenate([np.zeros((1, 2)), circle, 0.5 * circle])

    def refine(self, start: Array, level: float, steps: Array) -> Array:
        """The layout after one round of moves for each of the steps; ``level`` weighs level and upright edges."""
        points = start.copy()
        for step in steps:
            for k in range(self.n):
                trials = points[k] + step * self.ring
                costs = self._cost(points, k, trials, level)
                points[k] = trials[int(np.argmin(np.round(costs, 9)))]
        return points

    def total(self, points: Array) -> float:
        """The cost of a whole layout; every pair is counted from both its sides."""
        return float(sum(self._cost(points, k, points[k : k + 1], 0.0)[0] for k in range(self.n)))

    def _cost(self, points: Array, k: int, trials: Array, level: float) -> Array:
        """What the places ``trials`` of node k cost, (m,)."""
        near = self.around[k]
        far = _length(trials[:, None] - points[near.others])
        ideal = self.distance[k, near.others]
        cost = (((far - ideal) / ideal) ** 2 + 20 * np.maximum(0, 0.75 - far) ** 2).sum(axis=1)
        cost += _SHORT * (np.maximum(0, 1 - far / ideal) ** 2 * near.joined).sum(axis=1)
        a, b, q = points[near.rest[:, 0]], points[near.rest[:, 1]], points[near.ends]
        cost += _NEAR * (np.maximum(0, near.rest_clear - _to_segment(trials[:, None], a, b)) ** 2).sum(axis=1)
        close = np.maximum(0, near.own_clear[:, None] - _to_segment(points, trials[:, None, None], q[:, None]))
        cost += _NEAR * (close**2 * near.away).sum(axis=(1, 2))
        cost += _CROSSING * (_cross(trials[:, None, None], q[:, None], a, b) * near.apart).sum(axis=(1, 2))
        along = q - trials[:, None]
        if level:
            cost += level * (np.sin(2 * np.arctan2(along[..., 1], along[..., 0])) ** 2).sum(axis=1)
        at = points[near.shared]
        cost += _crowding(_unit(trials[:, None] - at), _unit(points[near.beyond] - at), near.shared_angle)
        u = _unit(along)
        i, j = near.pair
        return np.asarray(cost + _crowding(u[:, i], u[:, j], near.pair_angle))


def _angle(more: Array) -> Array:
    """The angle that two edges at a node should keep, with so many edges parallel to them."""
    return np.asarray(np.deg2rad(32 + 14 * np.minimum(more, 4)))


def _crowding(u: Array, w: Array, wanted: Array) -> Array:
    """What small angles between two directions cost."""
    angle = np.arccos(np.clip(u[..., 0] * w[..., 0] + u[..., 1] * w[..., 1], -1, 1))
    return np.asarray(_ANGLE * (np.maximum(0, 1 - angle / wanted) ** 2).sum(axis=-1))


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.maximum(_length(vectors), 1e-9)[..., None])


def _length(vectors: Array) -> Array:
    return np.sqrt(vectors[..., 0] ** 2 + vectors[..., 1] ** 2)


def _to_segment(p: Array, a: Array, b: Array) -> Array:
    """Distances of points from segments a-b."""
    x, y, dx, dy = p[..., 0] - a[..., 0], p[..., 1] - a[..., 1], b[..., 0] - a[..., 0], b[..., 1] - a[..., 1]
    share = np.clip((x * dx + y * dy) / np.maximum(dx * dx + dy * dy, 1e-12), 0, 1)
    return np.sqrt((x - share * dx) ** 2 + (y - share * dy) ** 2)


def _cross(p: Array, q: Array, a: Array, b: Array) -> Array:
    """1 where the segments p-q and a-b cross."""

    def side(o: Array, u: Array, v: Array) -> Array:
        return np.asarray(
            (u[..., 0] - o[..., 0]) * (v[..., 1] - o[..., 1]) - (u[..., 1] - o[..., 1]) * (v[..., 0] - o[..., 0])
        )

    return np.asarray((side(p, q, a) * side(p, q, b) < 0) & (side(a, b, p) * side(a, b, q) < 0), dtype=float)
