"""The way from graph to topological equations, in words."""

from __future__ import annotations

from collections.abc import Iterable

from cotree.errors import listing
from cotree.graph.linear_graph import LinearGraph
from cotree.graph.selection import across_source_loops, dependent_storages, through_source_cutsets
from cotree.graph.tree import Tree
from cotree.model.edge import Edge, Kind


def explain_graph(graph: LinearGraph, tree: Tree, most: int = 12) -> str:
    """Graph, tree, counts and topological equations as text; lists are cut after ``most`` lines."""
    sections = [_graph(graph, most), _tree(graph, tree, most), _conflicts(tree), _equations(tree, most)]
    return "\n\n".join(section for section in sections if section)


def _graph(graph: LinearGraph, most: int) -> str:
    datum = f"datum {graph.datums[0]}" if graph.c == 1 else f"{graph.c} parts with datums {listing(graph.datums)}"
    lines = ["Graph", f"  {graph.v} nodes, {graph.e} edges, {datum}"]
    if graph.c > 1:
        lines += [f"  part of {d}: {listing(nodes)}" for d, nodes in zip(graph.datums, graph.parts(), strict=True)]
    kinds = {kind: sum(edge.kind == kind for edge in graph) for kind in Kind}
    lines += [f"  {kind.symbol} {kind.label}: {count}" for kind, count in kinds.items() if count]
    width = max((len(edge.name) for edge in graph.edges[:most]), default=0)
    return "\n".join([*lines, *_cut((_edge_line(edge, width) for edge in graph), most, graph.e, "edges")])


def _edge_line(edge: Edge, width: int) -> str:
    return f"  {edge.name.ljust(width)}  {edge.tail} -> {edge.head}  ({edge.domain.name}, {edge.kind.symbol})"


def _tree(graph: LinearGraph, tree: Tree, most: int) -> str:
    v_c = "v - 1" if graph.c == 1 else f"v - {graph.c}"
    e_v = "e - v + 1" if graph.c == 1 else f"e - v + {graph.c}"
    cost = tree.cost()
    lines = [
        "Tree" if graph.c == 1 else "Spanning forest",
        f"  {v_c} = {graph.rank} branches: {listing(tree.branches, most)}",
        f"  {e_v} = {graph.nullity} chords: {listing(tree.chords, most) or 'none'}",
        f"  across variables of branches and through variables of chords are primary: {graph.e} unknowns",
        f"  non-zeros in A_c and B_t: {cost.nonzeros}; deepest node: {cost.depth} branches from its datum",
    ]
    if cost.chords:
        lines.append(f"  longest circuit: {cost.longest} edges, of chord {cost.longest_chord}")
    return "\n".join(lines)


def _conflicts(tree: Tree) -> str:
    titles = (
        ("across sources that are chords", across_source_loops(tree)),
        ("through sources that are branches", through_source_cutsets(tree)),
        ("storages that are no states of this tree", dependent_storages(tree)),
    )
    lines = [f"  {title}: {conflict}" for title, conflicts in titles for conflict in conflicts]
    return "\n".join(["Sources and storages against the tree", *lines]) if lines else ""


def _equations(tree: Tree, most: int) -> str:
    graph = tree.graph
    cutsets = _cut((f"  {tree.cutset_equation(b)}" for b in tree.branches), most, graph.rank, "equations")
    circuits = _cut((f"  {tree.circuit_equation(c)}" for c in tree.chords), most, graph.nullity, "equations")
    lines = ["Cutset equations, one for each branch (vertex postulate)", *cutsets, ""]
    return "\n".join([*lines, "Circuit equations, one for each chord (circuit postulate)", *(circuits or ["  none"])])


def _cut(lines: Iterable[str], most: int, count: int, what: str) -> list[str]:
    """The first ``most`` lines; later ones are not even written, as each may cost time in a big graph."""
    out = [line for line, _ in zip(lines, range(min(most, count)), strict=False)]
    return [*out, f"  ... and {count - most} more {what}"] if count > most else out
