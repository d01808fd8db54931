"""What a machine is made of: a mechanism, networks, mounts between them, and blocks of signals."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cotree.errors import GraphError, ModelError, listing
from cotree.formulation.network import normal_tree
from cotree.graph import LinearGraph, Tree, select_tree
from cotree.graph.forest import DisjointSets
from cotree.model import ROTATIONAL, Component, Domain, Edge, Model, Port, Role
from cotree.terminal.mounts import AxisMount, Mount
from cotree.terminal.translational import Line


@dataclass(frozen=True)
class Parts:
    """The parts of a machine."""

    model: Model

    @cached_property
    def blocks(self) -> dict[str, Component]:
        """Blocks of signals."""
        return {name: part for name, part in self.model.components.items() if part.controls}

    @cached_property
    def mounts(self) -> dict[str, Mount]:
        """What joins networks to the mechanism; those on a joint with a housing of its own have two edges."""
        datum = self.model.datums[0]
        found = {name: part for name, part in self.model.components.items() if isinstance(part, Mount)}
        return {name: self._carried(part, datum) for name, part in found.items()}

    def _carried(self, part: Mount, datum: str) -> Mount:
        if part.plus in self.model.datums:
            raise ModelError(
                f"its first node is the datum '{part.plus}'",
                where=part.name,
                expected=f"nodes: [shaft, {datum}], the node that moves first",
                remedy=f"Write nodes: [{part.minus}, {part.plus}]"
                if part.minus != part.plus
                else "Give the moving side a node of its own",
            )
        if part.minus in self.model.datums:
            return part
        if isinstance(part, Line):
            raise ModelError(
                f"its minus node is '{part.minus}'",
                where=part.name,
                expected=f"the datum ({listing(self.model.datums)}): a line has no carrying body",
            )
        assert isinstance(part, AxisMount)
        carried = dataclasses.replace(part)
        port = part.ports[0]
        object.__setattr__(carried, "ports", (port, Port(port.domain, port.role, "carrier")))
        object.__setattr__(carried, "node_pairs", lambda: ((part.plus, part.minus), (part.minus, datum)))
        return carried

    @cached_property
    def network(self) -> Model:
        """The networks alone, with the mounts as sources."""
        return self._some(
            {
                name: self.mounts.get(name, part)
                for name, part in self.model.components.items()
                if not part.mechanical and not part.controls
            }
        )

    @cached_property
    def network_graph(self) -> LinearGraph | None:
        """The graph of the networks; None where there is none."""
        components = self.network.components
        if not components:
            return None
        edges = self.network.edges()
        met = {node for edge in edges for node in (edge.tail, edge.head)}
        datums = [datum for datum in self.model.datums if datum in met] or list(self.model.datums[:1])
        self._check_grounds(edges, datums)
        self._check_loose(edges)
        return LinearGraph(edges, datums, nodes=())

    def _check_loose(self, edges: Iterable[Edge]) -> None:
        """Nothing flows through a port of a motor or cylinder one end of which is connected to nothing else."""
        met = [node for edge in edges for node in (edge.tail, edge.head)]
        for part in self.network.components.values():
            if len({port.domain for port in part.ports}) < 2:
                continue
            for edge in part.edges():
                for node in (edge.head, edge.tail):
                    if node not in self.model.datums and met.count(node) == 1:
                        raise ModelError(
                            f"nothing else is connected to the node '{node}'",
                            where=edge.name,
                            expected=f"a way for its {_flow(edge)}",
                            remedy=f"Connect '{node}' to another part, or write '{self.model.datums[0]}' in its place",
                        )

    def _check_grounds(self, edges: Iterable[Edge], datums: list[str]) -> None:
        """Every part of a network needs a node that is its datum."""
        near: dict[str, list[tuple[str, Edge]]] = {}
        for edge in edges:
            near.setdefault(edge.tail, []).append((edge.head, edge))
            near.setdefault(edge.head, []).append((edge.tail, edge))
        seen, queue = set(datums), list(datums)
        for node in queue:
            for other, _ in near.get(node, ()):
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
        lost = [node for node in near if node not in seen]
        if lost:
            edge = near[lost[0]][0][1]
            names = dict.fromkeys(e.component for node in lost for _, e in near[node] if e.domain is edge.domain)
            raise GraphError(
                f"the {edge.domain.name} nodes {listing([n for n in lost if near[n][0][1].domain is edge.domain])} of "
                f"{listing(names)} have no connection to the ground ({listing(datums)})",
                where=edge.component,
                expected="a datum in every separate part of a network",
                remedy=f"Connect one of them to '{datums[0]}', or name it as a further datum of the model",
            )

    @cached_property
    def carried(self) -> dict[str, Mount]:
        """Mounts on angles whose speeds count from the ground."""
        return {n: m for n, m in self.mounts.items() if len(m.ports) > 1 and m.ports[0].domain is ROTATIONAL}

    @cached_property
    def spinning(self) -> dict[str, list[tuple[Component, int]]]:
        """Ports of inertias that turn about the axis of a mount on a body that may move, by mount.

        They are those that rotational edges join to one such mount and to no other; their axes count as parallel.
        """
        result: dict[str, list[tuple[Component, int]]] = {}
        for part, k, names in self.inertias(self.carried, (ROTATIONAL,)):
            if len(names) == 1:
                result.setdefault(names[0], []).append((part, k))
        return result

    def inertias(
        self, mounts: Mapping[str, Mount], domains: tuple[Domain, ...]
    ) -> Iterator[tuple[Component, int, list[str]]]:
        """Inertias and masses, as part and number of the port, with the names of those mounts that move them."""
        graph = self.network_graph
        if not mounts or graph is None:
            return
        joined = DisjointSets(graph.v)
        for part in self.network.components.values():  # gears join shafts that have no edge in common
            moving = [edge for edge in part.edges() if edge.domain in domains]
            nodes = [node for edge in moving for node in (edge.head, edge.tail) if node not in graph.datums]
            for node in nodes[1:]:
                joined.join(graph.node_index(nodes[0]), graph.node_index(node))
        owners: dict[int, list[str]] = {}
        for name, mount in mounts.items():
            owners.setdefault(joined.find(graph.node_index(mount.plus)), []).append(name)
        for part in self.network.components.values():
            for k, edge in enumerate(part.edges()):
                inert = edge.role is Role.ACROSS_STORAGE and edge.domain in domains and edge.tail in graph.datums
                if inert and (names := owners.get(joined.find(graph.node_index(edge.head)))):
                    yield part, k, names

    def _some(self, components: Mapping[str, Component]) -> Model:
        model = self.model
        part = Model(model.name, datum=model.datums, planar=model.planar, inertia=model.inertia)
        part.parameters, part.gravity, part.folder = model.parameters, model.gravity, model.folder
        part.series = model.series
        part.components = dict(components)
        return part


def _flow(edge: Edge) -> str:
    return edge.domain.through.replace("_", " ")


def machine_graph(model: Model) -> LinearGraph:
    """The one graph of a machine: frames of the mechanism and nodes of the networks, with the ground in common."""
    model.check()
    mechanical, network = _graphs(model)
    parts = [graph for graph in (mechanical, network) if graph is not None]
    if not parts:
        raise ModelError("the model has blocks only", where=model.name, remedy="Add what they control")
    datums = dict.fromkeys(datum for graph in parts for datum in graph.datums)
    return LinearGraph([edge for graph in parts for edge in graph.edges], tuple(datums))


def _graphs(model: Model) -> tuple[LinearGraph | None, LinearGraph | None]:
    from cotree.formulation.branch.graph import mechanism_graph

    return mechanism_graph(model) if model.mechanical else None, Parts(model).network_graph


def machine_tree(
    model: Model, prefer: Any = None, into_tree: Iterable[str] = (), into_cotree: Iterable[str] = ()
) -> Tree:
    """A tree of a machine's graph: that of the mechanism by preset, that of the networks a normal one."""
    from cotree.formulation.branch.topology import spanning

    whole = machine_graph(model)
    if isinstance(prefer, Tree):
        if prefer.graph != whole:
            raise GraphError("the tree belongs to another graph", remedy="Take it from the same model: model.tree(...)")
        return prefer
    mechanical, network = _graphs(model)
    inside, outside = list(into_tree), list(into_cotree)
    whole_names = set(whole.edge_names)
    if wrong := [name for name in (*inside, *outside) if name not in whole_names]:
        whole.edge_index(wrong[0])  # says what is near
    branches: list[str] = []
    for graph in (mechanical, network):
        if graph is not None:
            own = set(graph.edge_names)
            pins = [name for name in inside if name in own], [name for name in outside if name in own]
            if graph is mechanical:
                branches += spanning(graph, None if prefer == "normal" else prefer, *pins).branches
            elif any(pins) or callable(prefer):
                branches += select_tree(graph, prefer if callable(prefer) else "normal", *pins).branches
            else:
                branches += normal_tree(graph).branches
    return Tree(whole, branches)


def split(model: Model, tree: Any) -> tuple[Any, Tree | None]:
    """The trees of the mechanism (one, or a pair) and of the networks out of trees of the whole graph."""
    mechanical, network = _graphs(model)
    pair = list(tree) if isinstance(tree, (tuple, list)) else [tree]
    whole = [machine_tree(model, each) for each in pair]

    def own(graph: LinearGraph, each: Tree) -> Tree:
        names = set(graph.edge_names)
        return Tree(graph, [name for name in each.branches if name in names])

    trees = tuple(own(mechanical, each) for each in whole) if mechanical is not None else None
    return (trees[0] if trees and len(trees) == 1 else trees), own(network, whole[0]) if network is not None else None
