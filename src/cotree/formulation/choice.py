"""The formulation of a model: a mechanism in branch coordinates, anything else as a network."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cotree.formulation.network import network_equations, network_graph
from cotree.formulation.system import SystemEquations
from cotree.graph import LinearGraph, Tree, select_tree
from cotree.model import Model


def model_graph(model: Model) -> LinearGraph:
    """The linear graph of a model."""
    if not model.mechanical:
        return network_graph(model)
    from cotree.formulation.branch import mechanism_graph

    return mechanism_graph(model)


def model_tree(
    model: Model, graph: LinearGraph, prefer: Any, into_tree: Iterable[str] = (), into_cotree: Iterable[str] = ()
) -> Tree:
    """A tree of a model's graph by preset, or the default one."""
    if not model.mechanical:
        return select_tree(graph, "normal" if prefer is None else prefer, into_tree, into_cotree)
    from cotree.formulation.branch.topology import spanning

    return spanning(graph, prefer, into_tree, into_cotree)


def model_equations(model: Model, tree: Any = None) -> SystemEquations:
    """The equations of a model with a tree, or of a mechanism with a pair of trees."""
    if not model.mechanical:
        return network_equations(model, tree)
    from cotree.formulation.branch import branch_equations

    return branch_equations(model, tree)
