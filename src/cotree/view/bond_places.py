"""Where the symbols of a bond graph go: level and upright bonds, one-ports at right angles, no crossings.

What loops is placed first, as any linear graph is drawn; trees then grow from it straight ahead and to both sides, each
as near as it fits. A descent that moves one symbol at a time, and whole sides of the picture, sets bonds straight.
"""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from cotree.graph import LinearGraph
from cotree.model import Edge
from cotree.view.bond_search import APART, ASIDE, PITCH, WAYS, Search, Task, crossings, exits, hits, shown
from cotree.view.layout import place_nodes

Array = NDArray[np.float64]

_TURNS = np.deg2rad(45.0 * np.arange(8))
_FARTHEST = 8.0
"""Inches from its root where a tree is still wanted."""


def place_symbols(task: Task) -> Array:
    """Centres of all boxes, (n, 2); separate parts stand side by side."""
    n = len(task.half)
    places = np.zeros((n, 2))
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(task.pairs.tolist())
    left, row, height = 0.0, 0.0, 0.0
    for part in sorted((sorted(c) for c in nx.connected_components(graph)), key=lambda c: (-len(c), c[0])):
        index = np.array(part)
        local = {k: i for i, k in enumerate(part)}
        keep = [i for i, (a, _) in enumerate(task.pairs.tolist()) if a in local]
        loose = [(local[a], local[b]) for a, b in task.loose.tolist() if a in local and b in local]
        own = Task(
            task.half[index],
            np.array([[local[a], local[b]] for a, b in task.pairs[keep].tolist()], dtype=int).reshape(-1, 2),
            task.room[keep],
            np.array(loose, dtype=int).reshape(-1, 2),
        )
        found = _place_part(own, graph.subgraph(part), local)
        low, high = (found - own.half).min(axis=0), (found + own.half).max(axis=0)
        if left > 0 and left + high[0] - low[0] > 9.0:
            left, row, height = 0.0, row - height - 0.6, 0.0
        places[index] = found - np.array([low[0], high[1]]) + np.array([left, row])
        left += float(high[0] - low[0]) + 0.6
        height = max(height, float(high[1] - low[1]))
    return places


def _place_part(task: Task, graph: nx.Graph, local: dict[int, int]) -> Array:
    core = sorted(local[k] for k in nx.k_core(graph, 2))
    search = Search(task)
    if core:
        starts = _core_places(task, core)
        trials = [_grown(task, start) for start in starts]
    else:
        trials = [_grown(task, {_middle(graph, local): np.zeros(2)})]
    best = min((search.refine(trial, rounds=3) for trial in trials), key=search.total)
    return search.finish(best)


def _middle(graph: nx.Graph, local: dict[int, int]) -> int:
    """The middle of a longest path of a tree, a junction-like vertex where there is a choice."""
    far = max(nx.single_source_shortest_path_length(graph, min(graph)).items(), key=lambda p: (p[1], -p[0]))[0]
    paths = nx.single_source_shortest_path(graph, far)
    longest = max(paths.values(), key=lambda path: (len(path), [-k for k in path]))
    middle = longest[(len(longest) - 1) // 2 : len(longest) // 2 + 1]
    return local[max(middle, key=lambda k: (graph.degree(k), -k))]


def _core_places(task: Task, core: list[int]) -> list[dict[int, Array]]:
    """Starts for what loops: a rectangle where it is one ring, else the drawing of a linear graph."""
    members = set(core)
    pairs = [(a, b) for a, b in task.pairs.tolist() if a in members and b in members]
    length = {(a, b): _centres(task, a, b) for a, b in pairs}
    # A symbol with trees on it needs room for them.
    trees = {k: sum(j not in members for j in task.near[k]) for k in core}
    longer = np.array([length[pair] + 0.25 * sum(trees[k] for k in pair) for pair in pairs])
    starts = [_ring(task, core)] if len(pairs) == len(core) else [_drawn(pairs, longer, core)]
    inner = Task(
        task.half[core],
        np.array([[core.index(a), core.index(b)] for a, b in pairs], dtype=int).reshape(-1, 2),
        np.array([task.asked[pair] + 0.2 * min(sum(trees[k] for k in pair), 4) for pair in pairs]).reshape(-1, 2),
        np.zeros((0, 2), dtype=int),
    )
    found = []
    for start in starts:
        places = Search(inner).finish(Search(inner).refine(np.array([start[k] for k in core]), rounds=8))
        found.append(dict(zip(core, places, strict=True)))
    return found


def _drawn(pairs: list[tuple[int, int]], length: Array, core: list[int]) -> dict[int, Array]:
    """What loops as the drawing of a linear graph, at the size that gives the wanted lengths."""
    edges = [Edge(f"{k}", f"{a}", f"{b}") for k, (a, b) in enumerate(pairs)]
    graph = LinearGraph(edges, f"{core[0]}")
    unit = float(length.mean())
    drawn = place_nodes(graph, length / unit) * unit
    spread = np.linalg.norm(drawn[graph.tail] - drawn[graph.head], axis=1)
    drawn = drawn / np.median(spread / length)
    return {int(name): place for name, place in zip(graph.nodes, drawn, strict=True)}


def _ring(task: Task, core: list[int]) -> dict[int, Array]:
    """A rectangle for a single ring, twice as wide as high."""
    order, members = [core[0]], set(core)
    while len(order) < len(core):
        order.append(next(k for k in task.near[order[-1]] if k in members and k not in order))
    n = len(order)
    across = max((n - 2) // 3, 1) if n > 4 else 1
    up = (n - 2 * across) // 2
    sides = [across, up, across, n - 2 * across - up]
    found, at, k = {}, np.zeros(2), 0
    step = max(_centres(task, a, b) for a, b in zip(order, order[1:] + order[:1], strict=True))
    steps = [np.array(d) * step for d in ((1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (0.0, 1.0))]
    for count, each in zip(sides, steps, strict=True):
        for _ in range(count):
            found[order[k]] = at.copy()
            at = at + each
            k += 1
    return found


def _centres(task: Task, a: int, b: int) -> float:
    """A length from centre to centre that shows enough of a bond in any direction."""
    return float(task.asked[a, b].mean() + 0.7 * (task.half[a].max() + task.half[b].max()))


# -- trees ---------------------------------------------------------------------------------------------------------


@dataclass
class _Tree:
    """A part of the picture: boxes by number with their places, and the bonds between them."""

    nodes: list[int]
    places: Array
    lines: list[tuple[int, int]]


Made = dict[tuple[int, int, int], _Tree]
"""Trees that are laid out already, by where they are seen from, their root and their direction."""


def _grown(task: Task, start: dict[int, Array]) -> Array:
    """The picture with all trees grown from what is placed; that is spread out until they fit."""
    made: Made = {}
    for spread in (1.0, 1.2, 1.45, 1.75, 2.1, 2.6):
        keys = tuple(start)
        tree = _Tree(list(keys), np.array([start[k] for k in keys]) * spread, [])
        inside = set(keys)
        tree.lines = [(a, b) for a, b in task.pairs.tolist() if a in inside and b in inside]
        fits = True
        for k in keys:
            roots = [j for j in task.near[k] if j not in inside]
            fits &= _sprout(task, tree, k, roots, None, made)
        if fits:
            break
    places = np.zeros((len(task.half), 2))
    places[tree.nodes] = tree.places
    return np.asarray(np.round(places / PITCH) * PITCH)


def _size(task: Task, k: int, parent: int) -> int:
    count, todo = 0, [(k, parent)]
    while todo:
        at, before = todo.pop()
        count += 1
        todo += [(j, at) for j in task.near[at] if j != before]
    return count


def _sprout(task: Task, tree: _Tree, k: int, roots: list[int], heading: int | None, made: Made) -> bool:
    """Grow the trees ``roots`` from box k of ``tree``; whether all fit near by."""
    at = tree.nodes.index(k)
    sizes = {j: _size(task, j, k) for j in roots}
    used = [tree.places[tree.nodes.index(j)] - tree.places[at] for j in task.near[k] if j in tree.nodes]
    taken = [float(np.arctan2(d[1], d[0])) for d in used]
    if heading is not None:
        taken.append(float(_TURNS[(heading + 4) % 8]))
    # Ahead first for the largest; to the sides, upwards or to the right first; then aslant.
    ahead = 0 if heading is None else heading
    sides = sorted(((ahead + 2) % 8, (ahead + 6) % 8), key=lambda d: (2, 6, 0, 4, 1, 7, 3, 5).index(d))
    aslant = [(ahead + s) % 8 for s in (1, 7, 3, 5)]
    order = [ahead, (ahead + 4) % 8, *sides, *aslant]
    fits = True
    # Small trees stay near; the largest goes ahead, beyond them.
    ranked = sorted(roots, key=lambda j: (-sizes[j], -task.half[j].prod(), j))
    kept: dict[int, int] = {}
    free = [d for d in order if all(_between(_TURNS[d], a) > np.deg2rad(40) for a in taken)]
    for j in ranked:
        kept[j] = free.pop(0) if free else -1
    for j in reversed(ranked):
        ways = [kept[j]] if kept[j] >= 0 else order
        fits &= _attach(task, tree, k, j, ways + [d for d in free if d not in ways], made)
    return fits


def _between(a: float, b: float) -> float:
    return abs((a - b + np.pi) % (2 * np.pi) - np.pi)


def _twig(task: Task, k: int, j: int, way: int, made: Made) -> _Tree:
    """The tree of j, seen from k, that grows in a direction."""
    if (k, j, way) not in made:
        made[k, j, way] = twig = _Tree([j], np.zeros((1, 2)), [])
        _sprout(task, twig, j, [i for i in task.near[j] if i != k], way, made)
    return made[k, j, way]


def _attach(task: Task, tree: _Tree, k: int, j: int, ways: list[int], made: Made) -> bool:
    """Put the tree of j beside k, in the first of some directions where it fits near by, else where it is nearest."""
    options: list[tuple[float, int, _Tree]] = []
    for rank, way in enumerate(ways):
        twig = _twig(task, k, j, way, made)
        direction = WAYS[way]
        least = float(shown(task.asked[k, j], direction)) + float(
            exits(task.half[k], direction) + exits(task.half[j], direction)
        )
        step = PITCH / max(abs(direction))
        far = np.ceil(least / step - 1e-9) * step
        while far < _FARTHEST and not _clear(task, tree, twig, tree.places[tree.nodes.index(k)] + far * direction, k):
            far += step
        options.append((far + 0.3 * rank, rank, twig))
        if far < least + 1.0:
            break
    cost, rank, twig = min(options, key=lambda option: option[:2])
    far = cost - 0.3 * rank
    shift = tree.places[tree.nodes.index(k)] + far * WAYS[ways[rank]]
    tree.nodes += twig.nodes
    tree.places = np.concatenate([tree.places, twig.places + shift])
    tree.lines += [*twig.lines, (k, j)]
    return far < _FARTHEST


def _clear(task: Task, tree: _Tree, twig: _Tree, shift: Array, root: int) -> bool:
    """Whether a twig at a place meets nothing of the tree."""
    moved = twig.places + shift
    a, b = task.half[tree.nodes], task.half[twig.nodes]
    apart = np.abs(tree.places[:, None] - moved) - a[:, None] - b - APART
    if (apart.max(axis=2) < 0).any():
        return False
    at = {k: tree.places[i] for i, k in enumerate(tree.nodes)} | {k: moved[i] for i, k in enumerate(twig.nodes)}
    new = np.array([[at[p], at[q]] for p, q in [*twig.lines, (root, twig.nodes[0])]])
    others = np.array([k != root for k in tree.nodes])
    if hits(new[:, None, 0], new[:, None, 1], tree.places[others], a[others] + ASIDE).any():
        return False
    if not tree.lines:
        return True
    old = np.array([[at[p], at[q]] for p, q in tree.lines])
    if hits(old[:, None, 0], old[:, None, 1], moved, b + ASIDE).any():
        return False
    return not crossings(new[:, None, 0], new[:, None, 1], old[:, 0], old[:, 1]).any()
