"""Dependent virtual-work elements N7: the work that a component does on each of the bodies that it joins.

An edge between two bodies knows only their relative displacement; its virtual work on each of them needs an edge of
its own from the datum, so that the cutset equations are right for any tree (Richard 2012, section 2, eq. 9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cotree.errors import GraphError, listing
from cotree.graph.linear_graph import LinearGraph
from cotree.model.edge import DISPLACEMENT, VIRTUAL_WORK, Domain, Edge, Kind

# number of the element from 1, the edge it belongs to, 1 at the tail and 2 at the head -> name
Naming = Callable[[int, Edge, int], str]

_ACTING = frozenset({Kind.POINT_JOINT, Kind.LINE_JOINT, Kind.FORCE})


def work_name(_number: int, edge: Edge, end: int) -> str:
    """``B.work1`` at the tail and ``B.work2`` at the head of component B."""
    return f"{edge.component or edge.name}.work{end}"


def paper_name(number: int, _edge: Edge, _end: int) -> str:
    """``e71``, ``e72`` ... as in Richard's fig. 2b."""
    return f"e7{number}"


def with_dependent_virtual_work(
    graph: LinearGraph, naming: Naming = work_name, domains: Iterable[Domain] = (DISPLACEMENT, VIRTUAL_WORK)
) -> LinearGraph:
    """The graph with an N7 edge from the datum to each end of a joint or force element that is not fixed to ground.

    That is two for a component between two bodies, one for a component between a body and ground; seven in Richard's
    fig. 2b. Only edges of ``domains`` take part: scalar networks have no dependent elements.
    """
    present = [edge.name for edge in graph if edge.kind == Kind.DEPENDENT]
    if present:
        raise GraphError(
            f"the graph has dependent virtual-work elements already: {listing(present)}",
            remedy="Add them once, to the graph of the components",
        )
    fixed, among = ground_nodes(graph), set(domains)
    added: list[Edge] = []
    for edge in graph:
        if edge.kind not in _ACTING or edge.domain not in among:
            continue
        for end, node in ((1, edge.tail), (2, edge.head)):
            if node not in fixed:
                name = naming(len(added) + 1, edge, end)
                owner = edge.component or edge.name
                added.append(Edge(name, graph.datum_of(node), node, Kind.DEPENDENT, edge.domain, component=owner))
    return graph.with_edges(added)


def ground_nodes(graph: LinearGraph) -> frozenset[str]:
    """Datums, and nodes tied to them by arms and position drivers alone, without a body on the way.

    A node belongs to a body if a body edge ends there or an arm leads there from such a node.
    """
    arms: dict[str, list[str]] = {}
    ties: dict[str, list[str]] = {}
    of_body: list[str] = []
    for edge in graph:
        if edge.kind == Kind.BODY:
            of_body += [n for n in (edge.tail, edge.head) if n not in graph.datums]
        if edge.kind in (Kind.ARM, Kind.POSITION_DRIVER):
            for a, b in ((edge.tail, edge.head), (edge.head, edge.tail)):
                ties.setdefault(a, []).append(b)
                if edge.kind == Kind.ARM:
                    arms.setdefault(a, []).append(b)
    bodies = _reached(of_body, arms, set(graph.datums))
    return frozenset(_reached(graph.datums, ties, bodies))


def _reached(start: Iterable[str], near: dict[str, list[str]], barrier: set[str]) -> set[str]:
    found = set(start)
    queue = list(found)
    while queue:
        for other in near.get(queue.pop(), ()):
            if other not in found and other not in barrier:
                found.add(other)
                queue.append(other)
    return found
