"""What a drawing shows of a large graph: bodies with their frames as one node, bars between nodes, groups of nodes.

A graph of up to 50 edges is drawn as it is. Beyond, a mechanism is drawn as bodies and joints, a nodal structure as
nodes and bars, a network with its parallel and series elements joined; what still has more than 300 edges is drawn as
groups of closely joined nodes. Nothing is thrown away unseen: every picture says what it leaves out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cotree.graph import LinearGraph, Tree
from cotree.graph.forest import DisjointSets
from cotree.model import Edge, Kind
from cotree.view.stubs import part_datums

WHOLE = 50
"""Most edges of a graph that is drawn as it is when nothing else is asked for."""
MOST = 300
"""Most edges of a collapsed drawing; beyond, groups of nodes are drawn."""
SHOWN = 100
"""Most edges of a whole drawing that shows dependent virtual-work edges."""
NAMED = 60
"""Most edges of a drawing that shows their names."""
BUSY = 12
"""Edges of a ground beyond which it is drawn anew at each of them."""
GROUPS = 28
"""Groups that are aimed at."""


@dataclass(frozen=True)
class Drawn:
    """What is drawn: a graph by plain names, and what each of its nodes and edges stands for."""

    graph: LinearGraph
    bold: frozenset[str]
    """Edges drawn as branches of the tree."""
    grounds: frozenset[str]
    """Nodes with a ground mark."""
    edges: Mapping[str, tuple[Edge, ...]]
    """The edges of the whole graph behind each drawn edge."""
    nodes: Mapping[str, tuple[str, ...]]
    """The nodes of the whole graph behind each drawn node."""
    edge_labels: Mapping[str, str]
    node_labels: Mapping[str, str]
    counts: tuple[int, int]
    """Branches and chords of the whole graph."""
    note: str = ""
    """What the picture leaves out or puts together."""
    stubs: frozenset[str] = frozenset()
    """Grounds that stand at the end of one edge only."""

    def parts(self, name: str) -> tuple[str, ...]:
        """The components behind a drawn edge."""
        return tuple(dict.fromkeys(edge.component or edge.name for edge in self.edges[name]))


def drawn(tree: Tree, collapse: bool | None = None) -> Drawn:
    """What to draw of a graph: all of it, or the collapsed one; None leaves the choice to its size."""
    if collapse is False or (collapse is None and tree.graph.e <= WHOLE):
        return _whole(tree)
    found = _network(tree) if _scalar(tree.graph) else _mechanism(tree)
    return _grouped(found) if found.graph.e > MOST else _grounded(found)


def _scalar(graph: LinearGraph) -> bool:
    """Whether all edges are those of scalar networks."""
    return all(edge.kind is edge.role.kind for edge in graph.edges)


def _whole(tree: Tree) -> Drawn:
    graph, note = tree.graph, ""
    dependent = [edge.name for edge in graph if edge.kind == Kind.DEPENDENT and edge.name not in tree]
    if graph.e > SHOWN and dependent:
        graph = graph.without(dependent)
        note = f"{_count(len(dependent), 'dependent edge')} left out"
    return Drawn(
        graph,
        frozenset(tree.branches),
        frozenset(graph.datums),
        {edge.name: (edge,) for edge in graph.edges},
        {name: (name,) for name in graph.nodes},
        {name: name for name in graph.edge_names},
        {name: name for name in graph.nodes},
        (tree.graph.rank, tree.graph.nullity),
        note,
    )


def _mechanism(tree: Tree) -> Drawn:
    """Bodies with their arms as nodes, frames of the ground as the ground; without edges of mere inertia."""
    graph = tree.graph
    bodies = {edge.component or edge.name for edge in graph if edge.kind == Kind.BODY}
    placed = {edge.head for edge in graph if edge.kind == Kind.BODY}
    sets = DisjointSets(graph.v)
    owners: dict[str, str] = {}
    arms: set[str] = set()
    for edge in graph:
        owner = edge.component or edge.name
        if edge.kind == Kind.ARM and (owner in bodies or edge.head not in placed):
            arms.add(edge.name)
            sets.join(graph.node_index(edge.tail), graph.node_index(edge.head))
        if edge.kind == Kind.BODY:
            owners[edge.head] = owner
    bars = any(edge.kind == Kind.ARM and edge.name not in arms for edge in graph)
    left_out = [
        edge.name
        for edge in graph
        if edge.kind == Kind.DEPENDENT or (edge.kind == Kind.BODY and (bars or edge.name not in tree))
    ]
    kept = [edge for edge in graph if edge.name not in arms and edge.name not in set(left_out)]
    members: dict[int, list[str]] = defaultdict(list)
    for name in graph.nodes:
        members[sets.find(graph.node_index(name))].append(name)
    nodes = {_chief(group, graph, owners): tuple(group) for group in members.values()}
    home = {name: chief for chief, group in nodes.items() for name in group}
    labels = {chief: owners.get(chief, chief) for chief in nodes}
    words = [] if not arms else [f"{_count(len(arms), 'arm')} inside bodies and ground"]
    words += [f"{_count(len(left_out), 'edge')} of inertia and virtual work left out"] if left_out else []
    edges: dict[str, tuple[Edge, ...]] = {edge.name: (edge,) for edge in kept}
    if len(kept) > NAMED:
        edges = _bundled(kept, home)
    return _drawn(tree, edges, nodes, home, labels, "; ".join(words))


def _bundled(kept: Iterable[Edge], home: Mapping[str, str]) -> dict[str, tuple[Edge, ...]]:
    """Edges between the same two nodes as one."""
    bundles: dict[frozenset[str], list[Edge]] = defaultdict(list)
    for edge in kept:
        bundles[frozenset((home[edge.tail], home[edge.head]))].append(edge)
    return {group[0].name: tuple(group) for group in bundles.values()}


def _chief(group: Sequence[str], graph: LinearGraph, owners: Mapping[str, str]) -> str:
    """The node that stands for a group: the datum, the frame of a body, or the first."""
    return next((n for n in group if n in graph.datums), next((n for n in group if n in owners), group[0]))


def _network(tree: Tree) -> Drawn:
    """A network with elements in parallel as one edge, and then elements in series, where that makes it smaller."""
    graph = tree.graph
    ends: dict[str, tuple[str, str]] = {}
    behind: dict[str, tuple[Edge, ...]] = {}
    labels: dict[str, str] = {}
    for name, group in _bundled(graph, {name: name for name in graph.nodes}).items():
        ends[name], behind[name] = (group[0].tail, group[0].head), group
        labels[name] = _joined([edge.name for edge in group], " ∥ ")
    bold = {name for name, group in behind.items() if any(edge.name in tree for edge in group)}
    at: dict[str, list[str]] = defaultdict(list)
    for name, (tail, head) in ends.items():
        at[tail].append(name)
        at[head].append(name)
    gone = set()
    for node in graph.nodes:
        if node in graph.datums or len(at[node]) != 2 or at[node][0] == at[node][1]:
            continue
        first, second = at[node]
        outer = [end for name in (first, second) for end in ends[name] if end != node]
        if len(outer) != 2 or outer[0] == outer[1] or len(behind[first]) + len(behind[second]) > 12:
            continue
        labels[first] = _joined([labels[first], labels[second]], " – ")
        behind[first] += behind.pop(second)
        ends[first] = (outer[0], outer[1])
        at[outer[1]][at[outer[1]].index(second)] = first
        if second not in bold:
            bold.discard(first)
        del ends[second]
        gone.add(node)
    merged = sum(len(group) > 1 for group in behind.values())
    note = f"{_count(merged, 'group')} of parallel or series elements drawn as one edge each" if merged else ""
    nodes = {name: (name,) for name in graph.nodes if name not in gone}
    edges = {name: replace(behind[name][0], tail=t, head=h) for name, (t, h) in ends.items()}
    shrunk = LinearGraph(edges.values(), graph.datums, nodes)
    whole = (graph.rank, graph.nullity)
    same = {name: name for name in nodes}
    return Drawn(shrunk, frozenset(bold), frozenset(graph.datums), behind, nodes, labels, same, whole, note)


def _grounded(found: Drawn) -> Drawn:
    """A ground with many edges drawn anew at the end of each of them, as in circuit diagrams."""
    degree = Counter(end for edge in found.graph for end in (edge.tail, edge.head))
    busy = {name for name in found.grounds if degree[name] > BUSY}
    if not busy:
        return found
    edges: list[Edge] = []
    stubs: dict[str, str] = {}
    for k, edge in enumerate(found.graph):
        ends = {"tail": edge.tail, "head": edge.head}
        for side, other in (("tail", edge.head), ("head", edge.tail)):
            if ends[side] in busy and other not in busy:
                name = f"{ends[side]} {k}"
                stubs[name] = ends[side]
                ends[side] = name
        edges.append(replace(edge, tail=ends["tail"], head=ends["head"]))
    used = {end for edge in edges for end in (edge.tail, edge.head)}
    nodes = {name: inner for name, inner in found.nodes.items() if name in used or name not in busy}
    nodes |= {name: (ground,) for name, ground in stubs.items()}
    grounds = frozenset(name for name in nodes if name in found.grounds or name in stubs)
    labels = {name: found.node_labels.get(name, "") for name in nodes}
    graph = LinearGraph(edges, part_datums(edges, nodes, grounds), nodes)
    words = f"{' and '.join(sorted(busy))} drawn at each of {_count(len(stubs), 'edge')}"
    note = "; ".join(part for part in (found.note, words) if part)
    return replace(
        found, graph=graph, grounds=grounds, nodes=nodes, node_labels=labels, stubs=frozenset(stubs), note=note
    )


def _grouped(found: Drawn) -> Drawn:
    """Closely joined nodes as one node, and all edges between two of them as one; grounds stay by themselves."""
    import networkx as nx

    graph = found.graph
    plain = nx.Graph()
    plain.add_nodes_from(name for name in graph.nodes if name not in found.grounds)
    for edge in graph:
        if edge.tail not in found.grounds and edge.head not in found.grounds:
            plain.add_edge(edge.tail, edge.head)
    best: list[list[str]] = []
    for resolution in (1.0, 0.4, 0.15, 0.05):
        best = [sorted(group) for group in nx.community.louvain_communities(plain, resolution=resolution, seed=0)]
        if len(best) <= 1.5 * GROUPS:
            break
    if len(best) > 1.5 * GROUPS:  # many separate parts: the small ones share a group
        best.sort(key=len, reverse=True)
        best = [*best[:GROUPS], [name for group in best[GROUPS:] for name in group]]
    degree = Counter(end for edge in graph for end in (edge.tail, edge.head))
    nodes: dict[str, tuple[str, ...]] = {name: (name,) for name in sorted(found.grounds)}
    labels = {name: found.node_labels[name] for name in nodes}
    home = {name: name for name in nodes}
    for group in best:
        chief = max(group, key=degree.__getitem__)
        nodes[chief] = tuple(inner for name in group for inner in found.nodes[name])
        shown = found.node_labels[chief]
        labels[chief] = shown if len(group) == 1 else f"{shown} + {len(group) - 1}"
        home |= dict.fromkeys(group, chief)
    bundles: dict[tuple[str, str], list[str]] = defaultdict(list)
    inside = 0
    for edge in graph:
        a, b = sorted((home[edge.tail], home[edge.head]))
        if a == b:
            inside += 1
        else:
            bundles[(a, b)].append(edge.name)
    edges, behind, words, bold = [], {}, {}, set()
    for (a, b), names in bundles.items():
        name = names[0]
        edges.append(replace(graph[name], tail=a, head=b))
        behind[name] = tuple(edge for each in names for edge in found.edges[each])
        words[name] = found.edge_labels[name] if len(names) == 1 else f"{len(names)} edges"
        bold |= {name} if any(each in found.bold for each in names) else set()
    graph = LinearGraph(edges, part_datums(edges, nodes, found.grounds), nodes)
    note = f"{_count(len(best), 'group')} of nodes drawn as one node each, with {_count(inside, 'edge')} inside"
    note = "; ".join(part for part in (found.note, note) if part)
    return Drawn(graph, frozenset(bold), found.grounds, behind, nodes, words, labels, found.counts, note)


def _drawn(
    tree: Tree,
    edges: Mapping[str, tuple[Edge, ...]],
    nodes: Mapping[str, tuple[str, ...]],
    home: Mapping[str, str],
    labels: Mapping[str, str],
    note: str,
) -> Drawn:
    """The picture of edges between merged nodes; nodes that nothing joins any more are kept."""
    graph = tree.graph
    moved = [replace(group[0], tail=home[group[0].tail], head=home[group[0].head]) for group in edges.values()]
    grounds = frozenset(home[datum] for datum in graph.datums)
    shrunk = LinearGraph(moved, part_datums(moved, nodes, grounds), nodes)
    bold = frozenset(name for name, group in edges.items() if any(edge.name in tree for edge in group))
    names = {name: _joined([edge.name for edge in group], " ∥ ") for name, group in edges.items()}
    return Drawn(shrunk, bold, grounds, edges, nodes, names, labels, (graph.rank, graph.nullity), note)


def _joined(names: Sequence[str], sign: str) -> str:
    """``R1 ∥ C1``, or the first and how many more."""
    whole = sign.join(names)
    return (
        whole if len(whole) <= 18 else f"{names[0]}{sign}{len(names) - 1} more" if len(names) > 2 else whole[:17] + "…"
    )


def _count(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
