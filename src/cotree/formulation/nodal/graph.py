"""The linear graph of a nodal structure: its nodes are the tree, everything else is the cotree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cotree.errors import GraphError
from cotree.graph import LinearGraph, Tree, select_tree
from cotree.model import Edge, Kind, Model


def nodal_graph(model: Model) -> LinearGraph:
    """One edge from the ground to each node, one for each bar, and one for each support and stretch of a cable."""
    return LinearGraph(model.edges(), model.datums[:1], nodes=model.datums[:1])


def nodal_tree(graph: LinearGraph, given: Any, into_tree: Iterable[str] = (), into_cotree: Iterable[str] = ()) -> Tree:
    """The tree of all nodes; no other gives nodal coordinates."""
    tree = select_tree(graph, _nodes_first)
    pinned = [*into_tree, *into_cotree]
    known = given == tree if isinstance(given, Tree) else given in (None, "absolute", "nodal")
    if not known or pinned:
        raise GraphError(
            f"another tree is asked for: {pinned[0] if pinned else given!r}",
            expected="none, or absolute: the nodes of a structure are its coordinates",
            remedy="Turn the structure into a mechanism with to_branch() to choose its tree",
        )
    return tree


def _nodes_first(edge: Edge) -> int:
    return 0 if edge.kind is Kind.BODY else 1
