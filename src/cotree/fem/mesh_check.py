"""What can be wrong with a mesh, each with the numbers of the nodes, lines or triangles concerned."""

from __future__ import annotations

import numpy as np

from cotree.errors import ModelError, listing
from cotree.fem.element import Array, Integers
from cotree.model.quantity import LARGEST

MOST_NODES = 2_000_000
"""Largest number of nodes of a mesh."""
MOST_CELLS = 4_000_000
"""Largest number of lines or triangles of a mesh."""
_FLAT = 1e-10  # area over the square of the longest edge: a triangle of no area


def check_count(found: int, what: str) -> None:
    """Refuse a mesh too large to be meant, before memory is asked for."""
    most = MOST_NODES if what == "nodes" else MOST_CELLS
    if found > most:
        raise ModelError(f"the mesh would have {found} {what}", expected=f"at most {most}", remedy="use fewer cells")


def check_nodes(nodes: Array) -> None:
    """Coordinates are finite."""
    bad = np.flatnonzero(~(np.abs(nodes) <= LARGEST).all(axis=1))
    if bad.size:
        place = ", ".join(f"{x:g}" for x in nodes[bad[0]])
        raise ModelError(f"node {bad[0]} is at ({place})", expected="finite coordinates")


def check_cells(cells: Integers, count: int, kind: str) -> None:
    """Lines or triangles name existing nodes, none twice, and none is there twice."""
    bad = np.flatnonzero(((cells < 0) | (cells >= count)).any(axis=1))
    if bad.size:
        raise ModelError(
            f"{kind} {bad[0]} has nodes {_numbers(cells[bad[0]])}", expected=f"numbers from 0 to {count - 1}, the nodes"
        )
    ordered = np.sort(cells, axis=1)
    bad = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if bad.size:
        raise ModelError(
            f"{kind} {bad[0]} has nodes {_numbers(cells[bad[0]])}, one of them twice", expected="different nodes"
        )
    order = np.lexsort(ordered.T[::-1])
    same = np.flatnonzero((ordered[order][1:] == ordered[order][:-1]).all(axis=1))
    if same.size:
        first, second = sorted((int(order[same[0]]), int(order[same[0] + 1])))
        raise ModelError(
            f"{kind}s {first} and {second} have the same nodes {_numbers(cells[second])}",
            expected="every one once",
            remedy=f"remove {kind} {second}",
        )


def check_lines(nodes: Array, lines: Integers) -> None:
    """Lines have a length."""
    length = np.linalg.norm(nodes[lines[:, 1]] - nodes[lines[:, 0]], axis=1)
    size = float(np.ptp(nodes, axis=0).max(initial=0.0))
    bad = np.flatnonzero(length <= 1e-12 * size)
    if bad.size:
        raise ModelError(
            f"line {bad[0]} from node {lines[bad[0], 0]} to node {lines[bad[0], 1]} has length {length[bad[0]]:g}",
            expected="two different places",
            remedy="merge the two nodes into one",
        )


def check_triangles(nodes: Array, triangles: Integers) -> None:
    """Triangles have an area."""
    a, b, c = (nodes[triangles[:, k]] for k in range(3))
    twice = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.max([np.einsum("ij,ij->i", d, d) for d in (b - a, c - b, a - c)], axis=0)
    bad = np.flatnonzero(twice <= 2 * _FLAT * longest)
    if bad.size:
        raise ModelError(
            f"triangle {bad[0]} with nodes {_numbers(triangles[bad[0]])} has no area",
            expected="three nodes that are not on a line",
            remedy="remove the triangle or move a node",
        )


def check_orientation(triangles: Integers) -> None:
    """Two triangles at an edge run it in opposite senses; where three or more meet, there is no sense to compare."""
    tail, head = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    owner = np.repeat(np.arange(len(triangles)), 3)
    key = np.minimum(tail, head) * (int(triangles.max(initial=0)) + 1) + np.maximum(tail, head)
    order = np.argsort(key, kind="stable")
    _, start, count = np.unique(key[order], return_index=True, return_counts=True)
    first, second = order[start[count == 2]], order[start[count == 2] + 1]
    clash = tail[first] == tail[second]
    if not clash.any():
        return
    wrong = np.bincount(np.concatenate([owner[first[clash]], owner[second[clash]]]), minlength=len(triangles))
    alone = [int(np.argmax(wrong))] if wrong.max() > 1 else []
    i, j = (int(owner[first[clash][0]]), int(owner[second[clash][0]]))
    edge = f"{tail[first[clash][0]]}-{head[first[clash][0]]}"
    which = (
        f"triangle {alone[0]} is inverted: its edges run in the same sense as those of its neighbours"
        if alone
        else f"triangle {i} or {j} is inverted: both run their common edge {edge} in the same sense"
    )
    turn = alone[0] if alone else j
    given = triangles[turn]
    raise ModelError(
        which,
        expected="neighbours that turn the same way round, so that they agree which side is up",
        remedy=f"give triangle {turn} as {_numbers(given[[0, 2, 1]])}, or let all be turned to agree: orient: true "
        "beside the triangles in a model file, mesh.triangles(..., turn=True) in Python",
    )


def check_unused(count: int, used: list[Integers]) -> None:
    """Every node is in a line, a triangle or a set."""
    seen = np.zeros(count, dtype=bool)
    for part in used:
        seen[part.ravel()] = True
    loose = np.flatnonzero(~seen)
    if loose.size:
        one = loose.size == 1
        raise ModelError(
            f"node{'' if one else 's'} {listing([str(n) for n in loose])} {'is' if one else 'are'} in no line, no "
            "triangle and no set",
            expected="every node to be used",
            remedy="remove unused nodes, or put a node that others are tied to into a set",
        )


def oriented(triangles: Integers) -> Integers:
    """The same triangles, turned so that neighbours agree; each connected piece follows its first triangle."""
    triangles = np.array(triangles, dtype=np.int64)
    edges: dict[tuple[int, int], list[int]] = {}
    for number, (a, b, c) in enumerate(triangles.tolist()):
        for tail, head in ((a, b), (b, c), (c, a)):
            edges.setdefault((min(tail, head), max(tail, head)), []).append(number)
    done = np.zeros(len(triangles), dtype=bool)
    for seed in range(len(triangles)):
        if done[seed]:
            continue
        done[seed] = True
        todo = [seed]
        while todo:
            here = todo.pop()
            a, b, c = triangles[here].tolist()
            for tail, head in ((a, b), (b, c), (c, a)):
                beside = edges[min(tail, head), max(tail, head)]
                if len(beside) != 2:
                    continue
                other = beside[0] if beside[1] == here else beside[1]
                if not done[other]:
                    p, q, r = triangles[other].tolist()
                    if (tail, head) in ((p, q), (q, r), (r, p)):
                        triangles[other] = (p, r, q)
                    done[other] = True
                    todo.append(other)
    return triangles


def _numbers(nodes: Integers) -> str:
    return ", ".join(str(int(n)) for n in nodes)
