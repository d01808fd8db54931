"""The linear graph: named nodes, directed named edges, one datum for each separate part.

Edges are keyed by name, so parallel edges and self-loops are ordinary. An edge points from tail to head; the incidence
matrix has +1 at the head and -1 at the tail (McPhee 1996, eq. 1; Richard 2012, eq. 1). The graph never changes:
deletion, contraction and reversal return new graphs, and trees are separate objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from cotree.errors import GraphError, listing, nearest
from cotree.graph.equations import Term, TopologicalEquation
from cotree.graph.forest import DisjointSets
from cotree.graph.sealed import Sealed
from cotree.maths.named import NamedMatrix
from cotree.maths.viewed import Table, Viewed
from cotree.model.edge import Domain, Edge

IntArray = npt.NDArray[np.int32]


class LinearGraph(Sealed, Viewed):
    """An immutable directed multigraph of named edges.

    ``datum`` is the reference node, or several of them, one for each separate part (an isolated winding, a second
    domain). Nodes keep the order of ``nodes`` when given, then the order in which the edges mention them; every
    matrix follows this order and the order of the edges. ``tail`` and ``head`` hold the places of the ends.
    """

    def __init__(self, edges: Iterable[Edge], datum: str | Iterable[str], nodes: Iterable[str] = ()) -> None:
        self.edges: tuple[Edge, ...] = tuple(edges)
        self._edge_places = _places((e.name for e in self.edges), "edge")
        places = self._node_places = _places(nodes, "node")
        tail, head = [], []
        for edge in self.edges:
            tail.append(places.setdefault(edge.tail, len(places)))
            head.append(places.setdefault(edge.head, len(places)))
        self.tail: IntArray = _frozen(tail)
        self.head: IntArray = _frozen(head)
        self.nodes: tuple[str, ...] = tuple(places)
        self.datums: tuple[str, ...] = (datum,) if isinstance(datum, str) else tuple(datum)
        self.datum_index: IntArray = _frozen([self._datum_place(d) for d in self.datums])
        self.part_of = self.label_parts(np.arange(self.e))
        self._check_parts()
        self.seal()

    @property
    def datum(self) -> str:
        """The datum of a graph in one part."""
        if len(self.datums) != 1:
            raise GraphError(
                f"a graph with {len(self.datums)} datums ({listing(self.datums)})",
                expected="one datum",
                remedy="Use graph.datums, or graph.datum_of(node)",
            )
        return self.datums[0]

    @property
    def v(self) -> int:
        """Number of nodes (vertices)."""
        return len(self.nodes)

    @property
    def e(self) -> int:
        """Number of edges."""
        return len(self.edges)

    @property
    def c(self) -> int:
        """Number of separate parts, each with its datum."""
        return len(self.datums)

    @property
    def rank(self) -> int:
        """v - c: the number of branches of any tree, and of independent cutsets."""
        return self.v - self.c

    @property
    def nullity(self) -> int:
        """e - v + c: the number of chords of any tree, and of independent circuits."""
        return self.e - self.v + self.c

    @property
    def edge_names(self) -> tuple[str, ...]:
        """Names of the edges in order."""
        return tuple(self._edge_places)

    def __len__(self) -> int:
        return self.e

    def __iter__(self) -> Iterator[Edge]:
        return iter(self.edges)

    def __contains__(self, name: object) -> bool:
        return name in self._edge_places

    def __getitem__(self, name: str) -> Edge:
        return self.edges[self.edge_index(name)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearGraph):
            return NotImplemented
        return (self.edges, self.nodes, self.datums) == (other.edges, other.nodes, other.datums)

    def __hash__(self) -> int:
        return hash((self.edges, self.nodes, self.datums))

    def __repr__(self) -> str:
        return f"<LinearGraph v={self.v} e={self.e} datum {listing(self.datums, 3)}>"

    def _view(self) -> Table | str:
        rows = ((edge.name, edge.tail, edge.head, edge.kind.name.lower()) for edge in self.edges)
        return Table(("edge", "from", "to", "kind"), rows, self.e)

    def edge_index(self, name: str) -> int:
        """Place of an edge in the order of the graph."""
        return _place(name, self._edge_places, "edge")

    def edge_indices(self, names: Iterable[str]) -> IntArray:
        """Places of several edges, in the order given."""
        return np.array([self.edge_index(n) for n in _several(names, "edge")], dtype=np.int32)

    def node_index(self, name: str) -> int:
        """Place of a node in the order of the graph."""
        return _place(name, self._node_places, "node")

    def parts(self) -> tuple[tuple[str, ...], ...]:
        """Nodes of each connected part, in the order of the datums ('self-contained subgraphs')."""
        members: dict[int, list[str]] = {int(self.part_of[d]): [] for d in self.datum_index}
        for node, part in zip(self.nodes, self.part_of.tolist(), strict=True):
            members[part].append(node)
        return tuple(tuple(nodes) for nodes in members.values())

    def datum_of(self, node: str) -> str:
        """The datum of the part to which a node belongs."""
        part = self.part_of[self.node_index(node)]
        return self.datums[int(np.flatnonzero(self.part_of[self.datum_index] == part)[0])]

    def incidence(self) -> NamedMatrix:
        """[IN], v x e: +1 at the head of an edge, -1 at its tail (McPhee 1996, eq. 1); zero for a self-loop."""
        return self._incidence

    def reduced_incidence(self) -> NamedMatrix:
        """[A], (v - c) x e: the incidence matrix without the rows of the datums; its rows are independent."""
        return self._reduced_incidence

    def nodal_transformation(self) -> NamedMatrix:
        """[A]^T, e x (v - c): across variables from nodal variables (McPhee 1996, eq. 15)."""
        return self._reduced_incidence.T

    def degree(self, node: str) -> int:
        """Number of edge ends at a node: a self-loop counts twice."""
        place = self.node_index(node)
        return int(np.count_nonzero(self.tail == place) + np.count_nonzero(self.head == place))

    def edges_at(self, node: str) -> tuple[Edge, ...]:
        """Edges with an end at a node, in the order of the graph."""
        place = self.node_index(node)
        return tuple(self.edges[k] for k in np.flatnonzero((self.tail == place) | (self.head == place)))

    def vertex_equation(self, node: str, domain: Domain | None = None) -> TopologicalEquation:
        """Sum of the through variables at a node (McPhee 1996, eq. 8); a self-loop cancels itself.

        Where several domains share their ground, name the ``domain``: their through variables cannot be added.
        """
        place = self.node_index(node)
        terms = [Term(1 if e.head == node else -1, e) for e in self.edges_at(node) if e.tail != e.head]
        if domain is not None:
            terms = [term for term in terms if term.edge.domain == domain]
        units = {term.edge.domain.through: term.edge.name for term in terms}
        if len(units) > 1:
            raise GraphError(
                "edges with different through variables meet: "
                + ", ".join(f"{edge} ({through})" for through, edge in units.items()),
                where=f"node {self.nodes[place]}",
                remedy="Give vertex_equation the domain, or use one node for each domain",
            )
        return TopologicalEquation(tuple(terms), "through", node, "vertex")

    def mixed_nodes(self) -> tuple[str, ...]:
        """Nodes, datums aside, where edges of different through variables meet: no cutset through them has a meaning.

        Domains may share a datum, because no cutset or circuit of one domain then contains edges of another.
        """
        first: dict[str, str] = {}
        mixed: dict[str, None] = {}
        for edge in self.edges:
            for node in (edge.tail, edge.head):
                if first.setdefault(node, edge.domain.through) != edge.domain.through and node not in self.datums:
                    mixed[node] = None
        return tuple(mixed)

    def without(
        self, edges: Iterable[str], datum: str | Iterable[str] | None = None, *, drop_isolated: bool = False
    ) -> LinearGraph:
        """Deletion: the graph without some edges. Nodes stay, unless ``drop_isolated`` removes those left bare.

        Where the deletion separates parts, ``datum`` lists one datum for each.
        """
        gone = set(self.edge_indices(edges).tolist())
        kept = [edge for k, edge in enumerate(self.edges) if k not in gone]
        datums = self.datums if datum is None else (datum,) if isinstance(datum, str) else tuple(datum)
        nodes: Iterable[str] = self.nodes
        if drop_isolated:
            touched = {n for edge in kept for n in (edge.tail, edge.head)} | set(datums)
            nodes = [n for n in self.nodes if n in touched]
        return LinearGraph(kept, datums, nodes)

    def contract(self, edges: Iterable[str], names: Mapping[str, str] | None = None) -> LinearGraph:
        """Contraction: some edges shrink to a point and disappear, their ends merge.

        The merged node has the name of the datum if that is in it, else of its first node, unless ``names`` gives one
        (old node -> new name). Other edges between merged nodes become self-loops.
        """
        gone = self.edge_indices(edges)
        label = self.label_parts(gone)
        title: dict[int, str] = {}
        for place in [*self.datum_index.tolist(), *range(self.v)]:
            title.setdefault(int(label[place]), self.nodes[place])
        datum_labels = [int(label[d]) for d in self.datum_index]
        for old, new in (names or {}).items():
            title[int(label[self.node_index(old)])] = new
        _places(title.values(), "node")
        shrunk = set(gone.tolist())
        kept = [
            replace(edge, tail=title[int(label[self.tail[k]])], head=title[int(label[self.head[k]])])
            for k, edge in enumerate(self.edges)
            if k not in shrunk
        ]
        order = dict.fromkeys(title[int(k)] for k in label)
        return LinearGraph(kept, [title[k] for k in datum_labels], order)

    def reversed_edges(self, names: Iterable[str]) -> LinearGraph:
        """The graph with some edges turned round: both variables of these edges change sign."""
        turned = set(self.edge_indices(names).tolist())
        edges = [replace(e, tail=e.head, head=e.tail) if k in turned else e for k, e in enumerate(self.edges)]
        return LinearGraph(edges, self.datums, self.nodes)

    def with_edges(self, edges: Iterable[Edge]) -> LinearGraph:
        """The graph with more edges after its own."""
        return LinearGraph([*self.edges, *edges], self.datums, self.nodes)

    @cached_property
    def free_nodes(self) -> tuple[str, ...]:
        """Nodes that are not datums: the rows of the reduced incidence matrix."""
        datums = set(self.datums)
        return tuple(n for n in self.nodes if n not in datums)

    @cached_property
    def _incidence(self) -> NamedMatrix:
        import scipy.sparse as sp  # slow to load, and few runs need it

        ones = np.ones(self.e, dtype=np.int8)
        columns = np.arange(self.e, dtype=np.int32)
        entries = np.concatenate([ones, -ones])
        places = (np.concatenate([self.head, self.tail]), np.concatenate([columns, columns]))
        return NamedMatrix(sp.coo_array((entries, places), shape=(self.v, self.e)), self.nodes, self.edge_names)

    @cached_property
    def _reduced_incidence(self) -> NamedMatrix:
        kept = np.setdiff1d(np.arange(self.v), self.datum_index)
        return NamedMatrix(self._incidence.sparse[kept, :], self.free_nodes, self.edge_names)

    def label_parts(self, edges: npt.NDArray[Any]) -> IntArray:
        """Number of the connected part of each node when only some edges (by place) are there."""
        joined = DisjointSets(self.v)
        for t, h in zip(self.tail[edges].tolist(), self.head[edges].tolist(), strict=True):
            joined.join(t, h)
        return np.unique([joined.find(n) for n in range(self.v)], return_inverse=True)[1].astype(np.int32)

    def _datum_place(self, name: str) -> int:
        if name in self._node_places:
            return self._node_places[name]
        raise GraphError(
            f"the datum '{name}' is not a node of the graph",
            expected=f"one of {listing(self.nodes)}" if self.nodes else "a node; the graph has none",
            remedy=nearest(name, self.nodes) or "Connect an edge to it, or list it in nodes",
        )

    def _check_parts(self) -> None:
        owner: dict[int, str] = {}
        for datum, place in zip(self.datums, self.datum_index.tolist(), strict=True):
            part = int(self.part_of[place])
            if part in owner:
                raise GraphError(
                    f"the datums {owner[part]} and {datum} are in one connected part",
                    expected="exactly one datum in each part",
                    remedy=f"Keep one of them; to tie {datum} to {owner[part]}, use the same node for both",
                )
            owner[part] = datum
        lost = [n for n, part in zip(self.nodes, self.part_of.tolist(), strict=True) if part not in owner]
        if lost:
            raise GraphError(
                f"no edge joins {listing(lost)} to {f'the datum {self.datums[0]}' if self.c == 1 else 'any datum'}",
                expected="exactly one datum in each connected part",
                remedy=f"Connect them, or give this part a datum of its own, for example '{lost[0]}'",
            )


def _several(names: Iterable[str], what: str) -> Iterable[str]:
    if isinstance(names, str):
        raise GraphError(f"the single name '{names}'", expected=f"a list of {what} names", remedy=f"Write ['{names}']")
    return names


def _places(names: Iterable[str], what: str) -> dict[str, int]:
    places: dict[str, int] = {}
    for k, name in enumerate(_several(names, what)):
        if places.setdefault(name, k) != k:
            raise GraphError(
                f"two {what}s are named '{name}'", expected=f"a different name for each {what}", remedy="Rename one"
            )
    return places


def _place(name: str, places: dict[str, int], what: str) -> int:
    if name in places:
        return places[name]
    raise GraphError(
        f"no {what} is named '{name}'", expected=f"one of {listing(places)}", remedy=nearest(str(name), places)
    )


def _frozen(values: list[int]) -> IntArray:
    array = np.array(values, dtype=np.int32)
    array.flags.writeable = False
    return array
