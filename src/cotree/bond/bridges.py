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
    _refuse_machine(model)
    if model.mechanical:
        from cotree.bond.from_branch import mechanism_bond_graph

        return mechanism_bond_graph(model)
    from cotree.bond.from_network import network_bond_graph

    return network_bond_graph(model)


def _refuse_machine(model: Model) -> None:
    """Machines have no bond graph yet: blocks of signals, mounts on joints and parts that switch have no element."""
    from cotree.terminal.mounts import Mount

    for part in model.components.values():
        what = (
            "a block of signals" if part.controls
            else "a mount on the mechanism" if isinstance(part, Mount)
            else "a part that switches" if part.holding
            else "a network beside a mechanism" if model.mechanical and not part.mechanical
            else ""
        )  # fmt: skip
        if what:
            raise ModelError(
                f"'{part.name}' ({part.kind}) is {what}, which has no bond graph here",
                where=part.name,
                expected="a network, or a mechanism of rigid bodies and joints, alone",
                remedy="Take this part of the model out, or write the bond graph by hand",
            )


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
