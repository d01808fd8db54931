"""Nodal structures in space: bars coloured by their force, plates, cables, springs, supports and latches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from cotree.terminal.nodal.bars import Bar
from cotree.terminal.nodal.base import Held, NodalPart, Node
from cotree.terminal.nodal.bodies import Body
from cotree.terminal.nodal.cables import Cable
from cotree.terminal.nodal.forces import Damper, Spring
from cotree.terminal.nodal.locks import Latch, Lock
from cotree.terminal.nodal.supports import OnNode
from cotree.view.scene import METAL, SPRING, STONE, Arrow, Faces, Solid, Stage, Strut
from cotree.view.scene_bodies import add_traces
from cotree.view.scene_forces import keep_large, undetermined
from cotree.view.scene_mechanism import dashpot, rod, slack
from cotree.view.scene_shapes import Mesh, box, flat, frame_along, revolved, sphere

BAR, CABLE = "#7f8b9a", "#009e73"
MANY = 400
"""Nodes beyond which they are not drawn one by one."""


def add_structure(stage: Stage) -> None:
    """Everything of a structure in nodal coordinates."""
    parts = [part for part in stage.model.components.values() if isinstance(part, NodalPart)]
    bars = [part for part in parts if isinstance(part, Bar)]
    wide = stage.size * float(np.clip(0.011 - 0.0004 * np.sqrt(len(bars)), 0.004, 0.01))
    known = not any(each.code == "redundant-rows" for each in stage.solution.diagnostics)
    plain, damper, ball = rod(), dashpot(), sphere(1.7 * wide, 12)
    for part in parts:
        nodes = [node for node in part.nodes() if node in stage.tracks]
        if isinstance(part, Node):
            if len(stage.tracks) < MANY:
                stage.solids.append(Solid(part.name, ball, part.name, METAL, "joint"))
            stage.labels[part.name] = part.name
        elif isinstance(part, Bar):
            level = stage.result(f"{part.name}.force") if known else None
            stage.struts.append(Strut(part.name, plain, nodes[0], nodes[1], wide, BAR, level=level))
        elif isinstance(part, Cable):
            tension = stage.result(f"{part.name}.tension")
            for a, b in dict.fromkeys(pairwise(nodes)):
                stage.struts.append(Strut(part.name, plain, a, b, 0.4 * wide, CABLE, tension=tension))
        elif isinstance(part, (Spring, Damper)):
            mesh = slack(stage, nodes[0], nodes[1], 2.2 * wide) if isinstance(part, Spring) else damper
            stage.struts.append(Strut(part.name, mesh, nodes[0], nodes[1], 2.2 * wide, SPRING))
        elif isinstance(part, Body):
            _plate(stage, part.name, nodes, 0.7 * wide, plain)
        elif isinstance(part, OnNode):
            _support(stage, part, wide)
        elif isinstance(part, Lock):
            when = stage.solution.events.get(part.name, np.zeros(0))
            since = (float(when[0]) if len(when) else float("1e300")) if isinstance(part, Latch) else None
            edge = 4.2 * wide
            stage.solids.append(
                Solid(part.name, box(edge, edge, edge), nodes[len(nodes) // 2], METAL, "joint", since=since)
            )
    if known and bars:
        stage.levels = ("force in bars", "N")
        forces = [stage.solution[f"{bar.name}.force"] for bar in bars if f"{bar.name}.force" in stage.solution]
        stage.level = max((float(np.abs(each[np.isfinite(each)]).max(initial=0.0)) for each in forces), default=0.0)
    _forces(stage, parts)
    add_traces(stage)


def _plate(stage: Stage, name: str, nodes: Sequence[str], wide: float, plain: Mesh) -> None:
    """A body over nodes: the faces of its hull, with a rod along each edge."""
    from scipy.spatial import ConvexHull

    x = np.array([stage.tracks[node].position[0] for node in nodes])
    x = x - x.mean(axis=0)
    _, sizes, axes = np.linalg.svd(x, full_matrices=False)
    extent = int((sizes > 1e-6 * max(float(sizes[0]), 1e-12)).sum()) if len(nodes) > 1 else 0
    colour = stage.colour(name)
    if extent == 0:
        return
    if extent == 1:
        order = np.argsort(x @ axes[0])
        edges = [(int(order[0]), int(order[-1]))]
        triangles = np.zeros((0, 3), dtype=int)
    else:
        hull = ConvexHull(x @ axes[:2].T if extent == 2 else x)
        if extent == 2:
            ring = [int(k) for k in hull.vertices]
            edges = list(zip(ring, [*ring[1:], ring[0]], strict=True))
            triangles = np.array([[ring[0], ring[k], ring[k + 1]] for k in range(1, len(ring) - 1)])
        else:
            triangles = np.asarray(hull.simplices)
            edges = []
    if len(triangles):
        stage.faces.append(Faces(name, tuple(nodes), triangles, colour))
    for a, b in edges:
        stage.struts.append(Strut(name, plain, nodes[a], nodes[b], wide if extent > 1 else 1.6 * wide, colour))


def _support(stage: Stage, part: OnNode, wide: float) -> None:
    """A pyramid below a node that is held, a small cone below one that is guided."""
    turn = frame_along(-stage.up)
    held = len(part.labels()) == 3
    near, far, half, sides = (0.0, 8.0, 5.0, 4) if held else (1.7, 4.0, 2.4, 12)
    profile = [(near * wide, 0.0), (far * wide, half * wide), None, (far * wide, half * wide), (far * wide, 0.0)]
    mesh = flat(revolved(profile, sides)) if held else revolved(profile, sides)
    stage.solids.append(Solid(part.name, mesh.moved(turn=turn), part.nodes()[0], STONE, "ground"))


def _forces(stage: Stage, parts: Sequence[NodalPart]) -> None:
    """Arrows on single nodes: reactions of supports, and loads."""
    found = []
    for part in parts:
        vector = stage.result(f"{part.name}.force")
        nodes = part.nodes()
        if vector is not None and vector.ndim == 2 and vector.shape[1] == 3 and len(nodes) == 1:
            unknown = undetermined(stage, f"{part.name}.force")
            found.append(Arrow(part.name, nodes[0], vector, False, isinstance(part, Held), unknown))
    keep_large(stage, found)
