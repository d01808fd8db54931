"""Structures in nodal coordinates that several tests use."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import cotree as ct
from cotree.terminal.nodal.base import NodalPart
from cotree.terminal.nodal.locks import Lock

DOWN = (0.0, -9.81, 0.0)
NONE = (0.0, 0.0, 0.0)


def structure(nodes: dict[str, Any], *parts: Any, gravity: Any = NONE, planar: bool = False, **given: Any) -> ct.Model:
    """Nodes by name, each a place or the fields of a node, and further parts."""
    model = ct.Model("structure", planar=planar, gravity=gravity, **given)
    for name, place in nodes.items():
        fields = place if isinstance(place, dict) else {"position": place}
        model.add(ct.nodal.Node(name, **{key: tuple(v) if np.ndim(v) else v for key, v in fields.items()}))
    for part in parts:
        model.add(part)
    return model


def five_bar(side: int, g: float = 9.81) -> ct.Model:
    """The linkage of Xiang 2015, section 4.1, with B and D above (side 1) or below (-1) its fixed points."""
    nodes = {name: (k / 2, side * np.sqrt(3) / 2 if name in "BD" else 0, 0) for k, name in enumerate("ABCDE")}
    bars = [ct.nodal.Bar(a + b, a, b, mass=2.45076, distribution="lumped") for a, b in pairwise("ABCDE")]
    held = ct.nodal.Fixed("left", "A"), ct.nodal.Fixed("right", "E")
    return structure(nodes, *bars, *held, planar=True, gravity=(0, -g, 0))


def ring_truss(sides: int, edge: float = 1.2, height: float = 1.6, density: float = 9.8) -> ct.Model:
    """Xiang 2015, section 4.3: every second batten stays upright at its height; shortening diagonals pull with 2 N."""
    nodes: dict[str, Any] = {}
    parts: list[NodalPart] = []
    radius = edge / 2 / np.sin(np.pi / sides)
    for k in range(sides):
        n, angle = (k + 1) % sides, 2 * np.pi * k / sides
        nodes[f"L{k}"] = (radius * np.cos(angle), radius * np.sin(angle), 0)
        nodes[f"U{k}"] = (radius * np.cos(angle), radius * np.sin(angle), height)
        parts += [
            ct.nodal.Bar(f"batten{k}", f"L{k}", f"U{k}", mass=density * height),
            ct.nodal.Bar(f"lower{k}", f"L{k}", f"L{n}", mass=density * edge),
            ct.nodal.Bar(f"upper{k}", f"U{k}", f"U{n}", mass=density * edge),
            ct.nodal.ForceCable(f"cable{k}", [f"U{k}", f"L{n}"] if k % 2 == 0 else [f"L{k}", f"U{n}"], tension=2),
        ]
        if k % 2 == 0:
            parts.append(ct.nodal.OnPlane(f"plane{k}", f"L{k}", normal=(0, 0, 1)))
            parts.append(ct.nodal.KeepDirection(f"upright{k}", f"L{k}", f"U{k}"))
    return structure(nodes, *parts)


def drift(model: ct.Model, sol: ct.Solution, closed: tuple[str, ...] = ()) -> float:
    """The largest violation of any equation between positions, written again from the parts and not from the solver."""
    where = {name: sol[f"{name}.position"] for name, part in model.components.items() if part.kind == "nodal.node"}
    worst = 0.0
    for part in model.components.values():
        if isinstance(part, ct.nodal.Bar):
            a, b = (where[name] for name in part.nodes())
            length = np.linalg.norm(np.subtract(*(model.components[n].position for n in part.nodes())))
            worst = max(worst, float(np.abs(np.linalg.norm(b - a, axis=1) - length).max()))
        elif isinstance(part, ct.nodal.Fixed):
            worst = max(worst, float(np.abs(where[part.node] - model.components[part.node].position).max()))
        elif isinstance(part, ct.nodal.OnPlane):
            off = (where[part.node] - model.components[part.node].position) @ np.array(part.normal)
            worst = max(worst, float(np.abs(off).max()))
        elif isinstance(part, ct.nodal.KeepDirection):
            a, b = (np.array(model.components[name].position, dtype=float) for name in part.nodes())
            way = where[part.node_b] - where[part.node_a]
            worst = max(worst, float(np.abs(np.cross(way, (b - a) / np.linalg.norm(b - a))).max()))
        elif isinstance(part, Lock) and part.name in closed and len(part.over) == 2:
            a, b = (where[name] for name in part.over)
            worst = max(worst, float(np.abs(np.linalg.norm(b - a, axis=1) - part.at).max()))
    return worst


def run(model: ct.Model, t_end: float, points: int = 21, **options: Any) -> ct.Solution:
    """A tight run whose energy audit closes."""
    sol = model.simulate(t_end, points=points, **{"rtol": 1e-10, "integrator": "adams", **options})
    audit = sol.energy()
    assert np.abs(audit.closure).max() < 1e-8 * max(audit.scale, 1e-12)  # nothing moves in some
    return sol


def close(found: Any, exact: Any, atol: float = 1e-8) -> None:
    """Alike within an absolute tolerance."""
    np.testing.assert_allclose(found, np.broadcast_to(exact, np.shape(found)), rtol=0, atol=atol)
