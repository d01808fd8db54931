"""Meshes with twice as many elements along every edge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cotree.fem.mesh import Mesh

Group = tuple[int, ...]


def refined(mesh: Mesh, groups: Sequence[Sequence[int]] = ()) -> tuple[Mesh, list[Group]]:
    """The mesh with a new node in the middle of every edge, and groups of its nodes with the new ones between them.

    Nodes keep their numbers. A line makes two, a triangle four.
    """
    corners, count = mesh.triangles, len(mesh.nodes)
    sides = [corners[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))]
    edges, which = np.unique(np.sort(np.concatenate([mesh.lines, *sides]), axis=1), axis=0, return_inverse=True)
    middles = count + which.reshape(-1)
    of_line, of_sides = middles[: len(mesh.lines)], middles[len(mesh.lines) :].reshape(3, -1)
    nodes = np.concatenate([mesh.nodes, mesh.nodes[edges].mean(axis=1)])
    lines = np.concatenate([np.column_stack([mesh.lines[:, 0], of_line]), np.column_stack([of_line, mesh.lines[:, 1]])])
    (a, b, c), (ab, bc, ca) = corners.T, of_sides
    parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
    triangles = np.concatenate([np.column_stack(each) for each in parts])

    def grown(group: Sequence[int]) -> Group:
        inside = np.zeros(count, dtype=bool)
        inside[list(group)] = True
        return (*(int(node) for node in group), *(count + np.flatnonzero(inside[edges].all(axis=1))).tolist())

    sets = {name: grown(group) for name, group in mesh.sets.items()}
    return Mesh(nodes, lines, triangles, sets), [grown(group) for group in groups]
