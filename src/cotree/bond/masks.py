"""Masks: a bond graph with named ports that is used like an element, and may hold other masks."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cotree.bond.elements import BondPart, constant
from cotree.bond.junctions import Bond
from cotree.errors import ModelError, listing, nearest
from cotree.maths.functions import ARITY, CONSTANTS
from cotree.model.expression import TIME, Expression
from cotree.model.form import TEXT, VALUE, either, named, said
from cotree.model.helpful import answered, helpful
from cotree.model.quantity import Quantity

P = TypeVar("P", bound=BondPart)

GRAPH = {"$ref": "#/$defs/graph"}
"""Where the schema of model files describes a graph."""
ARGUMENTS = ("p", "q", "e", "f")
"""Names that laws give to their own variable."""


@answered
@dataclass
class Graph:
    """What a mask holds: parts and bonds, ``ports`` that name where bonds from outside end, and ``parameters``.

    A parameter without a value (None) must be given wherever the mask is used.

    >>> motor = Graph("motor", ports={"supply": "i", "shaft": "w"}, parameters={"K": None})
    """

    name: str
    ports: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    components: dict[str, BondPart] = field(default_factory=dict)

    def add(self, part: P) -> P:
        """Add a part and return it."""
        if not isinstance(part, BondPart):
            raise ModelError(f"{part!r} is no part of a bond graph", where=f"mask {self.name}")
        if isinstance(part, Mask) and part.holds(self):
            raise ModelError(f"the mask '{self.name}' would hold itself", where=f"mask {self.name}, {part.name}")
        if part.name in self.components or part.name in self.parameters:
            raise ModelError(f"the name '{part.name}' is used twice", where=f"mask {self.name}", remedy="Rename one")
        self.components[part.name] = part
        return part

    def connect(self, tail: str, head: str | None = None, name: str | None = None, width: int | None = None) -> Bond:
        """Add a bond, given by two ends or as ``"tail -> head"``; without a name it is numbered."""
        return self.add(Bond(name or next_bond(self.components), *bond_ends(tail, head), width=width))


@helpful
def bond_ends(tail: str, head: str | None = None) -> tuple[str, str]:
    """The two ends of a bond, from two names or from ``"tail -> head"``."""
    if head is not None:
        return tail, head
    ends = [end.strip() for end in str(tail).split("->")]
    if len(ends) != 2 or not all(ends):
        raise ModelError(f"the bond is {tail!r}", expected="two ends, or one text such as 'V -> j'")
    return ends[0], ends[1]


@helpful
def next_bond(taken: Collection[str]) -> str:
    """The next free number for a bond: ``b1``, ``b2``, ..."""
    number = 1
    while f"b{number}" in taken:
        number += 1
    return f"b{number}"


class Mask(BondPart):
    """A `Graph` used as an element; ``values`` are those of its parameters.

    Results inside are named by the path: ``motor.winding.flow``.
    """

    kind = "bond.mask"
    graph: Any = field(
        default=None, kw_only=True, metadata=said("mask of the file by its name, or a graph", either(TEXT, GRAPH))
    )
    values_of: Mapping[str, Any] = field(
        default_factory=dict, kw_only=True, metadata=said("values of the mask's parameters", named(VALUE))
    )

    def __post_init__(self) -> None:
        if not isinstance(self.graph, Graph):
            raise ModelError(f"its graph is {self.graph!r}", where=self.name, expected="a mask's Graph")
        if not isinstance(self.values_of, Mapping):
            raise ModelError(
                f"values_of is {self.values_of!r}", where=self.name, expected="values by name, such as {K: 0.05}"
            )
        known = self.graph.parameters
        for key in known:
            if not isinstance(key, str) or not key.isidentifier() or key in {TIME, *ARGUMENTS, *ARITY, *CONSTANTS}:
                raise ModelError(
                    f"the parameter name {key!r} cannot be used", where=f"mask {self.graph.name}",
                    expected=f"letters, digits and _, and not t, {', '.join(ARGUMENTS)}, a constant or a function",
                )  # fmt: skip
            if known[key] is not None and (
                isinstance(known[key], bool) or not isinstance(known[key], (int, float, str))
            ):
                raise ModelError(
                    f"the parameter '{key}' is {known[key]!r}", where=f"mask {self.graph.name}",
                    expected="a number or an expression; nothing where each use must give one",
                )  # fmt: skip
        for key in self.values_of:
            if key not in known:
                raise ModelError(
                    f"the mask '{self.graph.name}' has no parameter '{key}'", where=self.name,
                    expected=f"one of {listing(known)}" if known else "none", remedy=nearest(key, known),
                )  # fmt: skip
        missing = [key for key, value in known.items() if value is None and key not in self.values_of]
        if missing:
            raise ModelError(
                f"{listing(missing)} of the mask '{self.graph.name}' not given", where=self.name,
                expected=f"values_of: {{{missing[0]}: ...}}",
            )  # fmt: skip
        super().__post_init__()

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    @property
    def heavy(self) -> bool:  # type: ignore[override]
        """Whether a part inside has weight."""
        return any(part.heavy for part in self.graph.components.values())

    @classmethod
    def scoped_fields(cls) -> tuple[str, ...]:
        return ("values_of",)

    def holds(self, graph: Graph) -> bool:
        """Whether a graph is its own, or that of a mask inside."""
        inside = self.graph.components.values()
        return self.graph is graph or any(part.holds(graph) for part in inside if isinstance(part, Mask))

    def own(self) -> dict[str, Any]:
        """The values of the parameters: those given, and the defaults of the others."""
        return {**self.graph.parameters, **self.values_of}

    def inside(self, path: str) -> Iterator[BondPart]:
        """The parts inside with their expressions in the names of the whole graph."""
        for part in self.graph.components.values():
            yield scoped_part(part, path, self.graph)

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        return self.entries_at(self.name)

    def entries_at(self, path: str) -> dict[str, tuple[Quantity, Any]]:
        """All scalar values inside, for a mask that stands at ``path``."""
        result = {name: (constant(f"parameter of {self.graph.name}"), value) for name, value in self.own().items()}
        for part in self.inside(path):
            entries = part.entries_at(f"{path}.{part.name}") if isinstance(part, Mask) else part.entries()
            result |= {f"{part.name}.{key}": entry for key, entry in entries.items()}
        return result

    def to_data(self) -> dict[str, Any]:
        data: dict[str, Any] = {"kind": self.kind, "graph": {"name": self.graph.name, **graph_data(self.graph)}}
        return data | ({"values_of": dict(self.values_of)} if self.values_of else {})


def scoped_part(part: BondPart, path: str, graph: Graph) -> BondPart:
    """A part of a mask at ``path``, its expressions with the mask's parameters and signals by their full names."""

    def scoped(value: Any) -> Any:
        if isinstance(value, str):
            return _scoped(value, path, graph, part.name)
        if isinstance(value, tuple):
            return tuple(scoped(each) for each in value)
        if isinstance(value, Mapping):
            return {key: scoped(each) for key, each in value.items()}
        return value

    changes: dict[str, Any] = {name: scoped(getattr(part, name)) for name in part.scoped_fields()}
    for name in part.paths:
        given = getattr(part, name)
        changes[name] = tuple(f"{path}.{each}" for each in given) if isinstance(given, tuple) else f"{path}.{given}"
    return dataclasses.replace(part, **changes) if changes else part


def _scoped(text: str, path: str, graph: Graph, where: str) -> str:
    names = Expression(text).names
    if not names - {TIME, *ARGUMENTS}:
        return text
    for name in names:
        if "." not in name and name not in graph.parameters and name not in (TIME, *ARGUMENTS):
            raise ModelError(
                f"'{name}' in the expression '{text}' is not known", where=f"mask {graph.name}, {where}",
                expected=f"a parameter of the mask ({listing(graph.parameters) or 'there is none'}), t, or a signal",
                remedy=nearest(name, [*graph.parameters, *ARITY, *CONSTANTS]),
            )  # fmt: skip

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            known = node.id in graph.parameters and node.id not in ARGUMENTS
            return ast.parse(f"{path}.{node.id}", mode="eval").body if known else node

        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            inner: ast.expr = node
            while isinstance(inner, ast.Attribute):
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id in ARGUMENTS:
                return node
            return ast.parse(f"{path}.{ast.unparse(node)}", mode="eval").body

        def visit_Call(self, node: ast.Call) -> ast.AST:
            node.args = [self.visit(each) for each in node.args]
            return node

    return ast.unparse(Rename().visit(ast.parse(text.strip(), mode="eval").body))


def graph_data(graph: Graph) -> dict[str, Any]:
    """The graph of a mask as plain data."""
    parts = {name: part.to_data() for name, part in graph.components.items() if not isinstance(part, Bond)}
    bonds = {name: bond_data(part) for name, part in graph.components.items() if isinstance(part, Bond)}
    data: dict[str, Any] = {"ports": dict(graph.ports)}
    return data | ({"parameters": dict(graph.parameters)} if graph.parameters else {}) | {
        "components": parts, "bonds": bonds,
    }  # fmt: skip


def bond_data(bond: Bond) -> Any:
    """A bond as files write it."""
    if bond.width is None:
        return f"{bond.tail} -> {bond.head}"
    return {"tail": bond.tail, "head": bond.head, "width": bond.width}
