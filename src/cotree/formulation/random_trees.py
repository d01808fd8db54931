"""Trees drawn at random that give equations: of a mechanism among its joints and bodies."""

from __future__ import annotations

from collections.abc import Iterable

from cotree.errors import GraphError
from cotree.graph import LinearGraph, Tree, sample_tree
from cotree.model import Edge, Kind, Model
from cotree.terminal.mechanics import Joint


def random_tree(
    model: Model, graph: LinearGraph, seed: int | None, into_tree: Iterable[str] = (), into_cotree: Iterable[str] = ()
) -> Tree:
    """A tree drawn from a seed, with the same probability as any other valid one that respects the pins.

    In a mechanism all arms are branches, and drivers, forces, constraints and dependent edges are chords.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | None):
        raise GraphError(f"the seed {seed!r}", expected="a whole number")
    inside, outside = list(into_tree), list(into_cotree)
    for edge in graph:
        component = model.components.get(edge.component)
        if component is not None and component.mechanical and edge.name not in (*inside, *outside):
            if edge.kind == Kind.ARM:
                inside.append(edge.name)
            elif not _gives_coordinates(model, edge):
                outside.append(edge.name)
    return sample_tree(graph, seed or 0, inside, outside)


def _gives_coordinates(model: Model, edge: Edge) -> bool:
    if edge.kind == Kind.DEPENDENT:
        return False
    return edge.kind == Kind.BODY or isinstance(model.components[edge.component], Joint)
