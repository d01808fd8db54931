"""Bridges between bond graphs and the other ways to say the same: networks and rigid mechanisms."""

from __future__ import annotations

from typing import TypeVar

from cotree.errors import ModelError
from cotree.model import Model

M = TypeVar("M", bound=Model)


def to_bond_graph(model: M) -> M:
    """The bond graph of a network or a rigid mechanism."""
    if model.bonded:
        raise ModelError("the model is a bond graph already", where=model.name)
    if model.nodal:
        raise ModelError(
            "a structure in nodal coordinates has no bond graph of its own", where=model.name,
            remedy="Turn it into a mechanism first: model.to_branch().to_bond_graph()",
        )  # fmt: skip
    if model.mechanical:
        from cotree.bond.from_branch import mechanism_bond_graph

        return mechanism_bond_graph(model)
    from cotree.bond.from_network import network_bond_graph

    return network_bond_graph(model)


def to_network(model: M) -> M:
    """The network of a scalar bond graph."""
    _expect_bonds(model)
    from cotree.bond.to_network import bond_graph_network

    return bond_graph_network(model)


def simplified(model: M) -> M:
    """A bond graph with junctions contracted."""
    _expect_bonds(model)
    from cotree.bond.simplify import simplify

    return simplify(model)


def _expect_bonds(model: Model) -> None:
    if not model.bonded:
        raise ModelError("the model is no bond graph", where=model.name, remedy="Turn it into one with to_bond_graph()")
