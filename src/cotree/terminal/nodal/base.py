"""What all parts of a nodal structure share: they act on named nodes, whose positions are the only coordinates.

A node is an edge from the ground to its place, and belongs to the tree: its three coordinates are unknowns. Everything
else is a chord: it holds nodes by equations, or pushes them. Pin joints need no part of their own: bars, bodies and
cables that name the same node are joined there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar

import casadi as ca

from cotree.errors import ModelError
from cotree.model import VIRTUAL_WORK, Component, Edge, Kind, Value, quantity, vector

XYZ = ("x", "y", "z")

Results = Mapping[str, tuple[Any, str]]
"""Expressions and units by name: ``{"force": (N, "N"), "force.x": ...}``; the part's own name is put before them."""


@dataclass(frozen=True)
class At:
    """Where the nodes of a part are: symbols for now, and expressions of the parameters for the start."""

    x: Sequence[ca.SX]
    """Positions."""
    u: Sequence[ca.SX]
    """Velocities."""
    start: Sequence[ca.SX]
    """Positions as they are given with the nodes."""
    t: ca.SX


class NodalPart(Component):
    """Something of a nodal structure."""

    nodal: ClassVar[bool] = True
    edge_kind: ClassVar[Kind] = Kind.FORCE

    def __post_init__(self) -> None:
        for f in fields(self):  # lists, as model files have them, would keep the part from being hashed and compared
            if isinstance(getattr(self, f.name), list):
                object.__setattr__(self, f.name, tuple(getattr(self, f.name)))
        super().__post_init__()

    def nodes(self) -> tuple[str, ...]:
        """The names of its nodes, in order."""
        raise NotImplementedError

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        """Each of its edges, head first: from node to node, or from the ground where it has one node only."""
        nodes = self.nodes()
        return tuple(zip(nodes[1:], nodes[:-1], strict=True)) if len(nodes) > 1 else ((nodes[0], "ground"),)

    def edges(self) -> tuple[Edge, ...]:
        pairs = self.node_pairs()
        names = [self.name] if len(pairs) == 1 else [f"{self.name}.{k}" for k in range(1, len(pairs) + 1)]
        return tuple(
            Edge(name, tail, head, self.edge_kind, VIRTUAL_WORK, component=self.name)
            for name, (head, tail) in zip(names, pairs, strict=True)
        )


class Node(NodalPart):
    """A point with three coordinates, and a point mass where one is given; it may move at the start."""

    kind: ClassVar[str] = "nodal.node"
    edge_kind: ClassVar[Kind] = Kind.BODY

    position: tuple[Value, Value, Value] = vector("m", "position at the start", built_in="always")
    velocity: tuple[Value, Value, Value] = vector("m/s", "velocity at the start", default=(0.0, 0.0, 0.0))
    mass: Value = quantity("kg", "point mass", symbol="m", range="non-negative", default=0.0, built_in="zero")

    def nodes(self) -> tuple[str, ...]:
        return (self.name,)

    def masses(self, v: Any, at: At) -> ca.SX:
        """[[m]]."""
        return ca.SX(v.mass)


class Held(NodalPart):
    """Equations between the positions of nodes."""

    edge_kind: ClassVar[Kind] = Kind.ARM

    def equations(self, v: Any, at: At) -> ca.SX:
        """What must vanish, one row for each of `labels`, in m or rad."""
        raise NotImplementedError

    def labels(self) -> tuple[str, ...]:
        """What each equation holds: ``("length",)``."""
        raise NotImplementedError

    def results(self, v: Any, at: At, force: ca.SX) -> Results:
        """Results of the part; ``force`` is what each equation puts up: its multiplier, the force along its gradient.

        A multiplier is positive where the part pushes its equation's value up: a bar in compression.
        """
        return {}


class Pushing(NodalPart):
    """Forces on nodes."""

    def forces(self, v: Any, at: At) -> Sequence[ca.SX]:
        """The force on each of its nodes."""
        raise NotImplementedError

    def potential(self, v: Any, at: At) -> ca.SX:
        """The potential energy behind its conservative part."""
        return ca.SX(0)

    def loss(self, v: Any, at: At) -> ca.SX | None:
        """The power that it dissipates; None where its work counts as supplied (with `supplies`)."""
        return None

    def results(self, v: Any, at: At) -> Results:
        """Results of the part, such as its tension."""
        return {}


def several(given: Any, least: int, where: str, what: str = "nodes") -> tuple[str, ...]:
    """Names of nodes as the user gave them: nodes or their names, at least some of them, none twice in a row."""
    if isinstance(given, (str, Node)) or not isinstance(given, Sequence):
        raise ModelError(
            f"the {what} are {given!r}",
            where=where,
            expected=f"a list of at least {least} name{'' if least == 1 else 's'}",
            remedy="Put the names in brackets: ['A', 'B']",
        )
    names = tuple(each.name if isinstance(each, Node) else each for each in given)
    for name in names:
        if not isinstance(name, str):
            raise ModelError(f"found {name!r} among the {what}", where=where, expected="names", remedy="Use text: 'A'")
    if len(names) < least:
        count = f"{what.removesuffix('s')} is" if len(names) == 1 else f"{what} are"
        raise ModelError(
            f"{len(names) or 'no'} {count} given",
            where=where,
            expected=f"at least {least}",
            remedy="Name the others, too" if names else "Name some: ['A', 'B']",
        )
    for a, b in pairwise(names):
        if a == b:
            raise ModelError(
                f"the node '{a}' comes twice in a row",
                where=where,
                expected="different nodes one after the other",
                remedy="Drop one of the two",
            )
    return names


def distance(a: ca.SX, b: ca.SX) -> ca.SX:
    """The distance of two points."""
    return ca.sqrt(ca.sumsqr(b - a))


def direction(a: ca.SX, b: ca.SX) -> ca.SX:
    """The unit vector from a to b (Xiang 2015, eq. 2)."""
    return (b - a) / distance(a, b)
