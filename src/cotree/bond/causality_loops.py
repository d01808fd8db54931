"""Which variable is computed from which, once all strokes are set, and the loops in that.

A variable is the effort or the flow of a component of a bond, or its rate. A storage in integral causality gives its
variable from its state, so that nothing goes through it at once, but its effort sets the rate of its flow (I), or its
flow the rate of its effort (C). A storage in derivative causality needs such a rate. What is strongly connected must be
solved together: an algebraic loop where no rate takes part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import networkx as nx
import numpy as np
from numpy.typing import NDArray

from cotree.bond.causality_rules import Atom, Relation, blocks, ends_at, sample
from cotree.bond.structure import JUNCTIONS, ONE_PORTS, STORAGES, BondStructure, Vertex, labels
from cotree.errors import listing

Variable = tuple[str, Atom, int]
"""``effort`` or ``flow``, the component, and 1 for its rate."""


@dataclass(frozen=True)
class Loop:
    """Elements that must be solved together."""

    kind: str
    """``algebraic``, or ``derivative`` where storages in derivative causality bring it."""
    elements: tuple[str, ...]
    bonds: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return self.text


def find_loops(structure: BondStructure, laws: Iterable[Relation], strokes: Mapping[Atom, str]) -> list[Loop]:
    """The loops of the assignment."""
    graph = dependence(structure, laws, strokes)
    found: list[Loop] = []
    for part in nx.strongly_connected_components(graph):
        if len(part) == 1 and not graph.has_edge(*part, *part):
            continue
        inner = graph.subgraph(part)
        if all(rate for _, _, rate in part):  # the rates of a loop are a loop too
            continue
        owners = {vertex for _, _, vertex in inner.edges(data="vertex")}
        bonds = {atom[0] for _, atom, _ in part}
        kind = "derivative" if any(rate for _, _, rate in part) else "algebraic"
        elements = tuple(name for name in structure.vertices if name in owners)
        lines = tuple(name for name in structure.lines if name in bonds)
        told = [f"{structure.vertices[name].shown} '{name}'" for name in elements]
        cause = "" if kind == "algebraic" else " of storages that hang together"
        text = f"{kind.capitalize()} loop{cause} through {listing(told, 12)} ({listing(lines, 12)})"
        found.append(Loop(kind, elements, lines, text))
    place = {name: k for k, name in enumerate(structure.lines)}
    return sorted(found, key=lambda loop: place[loop.bonds[0]])


def dependence(structure: BondStructure, laws: Iterable[Relation], strokes: Mapping[Atom, str]) -> nx.DiGraph:
    """What each variable is computed from: edges from cause to effect, each with the vertex that does it."""
    graph = nx.DiGraph()
    for rate in (0, 1):
        for atom in strokes:
            graph.add_nodes_from((what, atom, rate) for what in ("effort", "flow"))
        for law in laws:
            for cause, effect in _passed(law, strokes):
                graph.add_edge((*cause, rate), (*effect, rate), vertex=law.vertex)
        for vertex in structure.vertices.values():
            if vertex.letter in ("R", "GR"):
                for cause, effect in _resisted(vertex, structure, strokes):
                    graph.add_edge((*cause, rate), (*effect, rate), vertex=vertex.name)
    for vertex in structure.vertices.values():
        if vertex.letter in STORAGES:
            for stored, changed in _stored(vertex, structure, strokes):
                graph.add_edge(stored, changed, vertex=vertex.name)
    signals = _Signals(structure, strokes)
    for vertex in structure.vertices.values():
        if vertex.used:
            causes = {each for name in vertex.used for each in signals.variables(name)}
            for effect in outputs_of(vertex.name, structure, strokes):
                graph.add_edges_from(((*cause, 0), (*effect, 0), {"vertex": vertex.name}) for cause in causes)
    return graph


def outputs_of(vertex: str, structure: BondStructure, strokes: Mapping[Atom, str]) -> Iterator[tuple[str, Atom]]:
    """The variables that a vertex gives: the flow where the stroke is at it, else the effort."""
    for bond, end, _ in ends_at(structure, vertex):
        for k in range(structure.lines[bond].width):
            yield ("flow" if strokes[bond, k] == end else "effort"), (bond, k)


def conjugate(what: str) -> str:
    """``flow`` for ``effort`` and the other way round."""
    return "flow" if what == "effort" else "effort"


def _passed(law: Relation, strokes: Mapping[Atom, str]) -> Iterator[tuple[tuple[str, Atom], tuple[str, Atom]]]:
    """Flows that a law passes on, and the efforts that come back."""
    for i, k in law.passes(strokes):
        source, target = law.members[i], law.members[k]
        across = ["effort" if member.flipped else "flow" for member in (source, target)]
        yield (across[0], source.atom), (across[1], target.atom)
        yield (conjugate(across[1]), target.atom), (conjugate(across[0]), source.atom)


def _coupled(vertex: Vertex, structure: BondStructure) -> list[list[int]]:
    """The components of a one-port that its law ties to each other."""
    width = structure.width(vertex.name)
    if vertex.law is not None:
        x = ca.SX.sym("x", width)
        pattern: NDArray[np.float64] = np.asarray(ca.DM(ca.jacobian(vertex.law(x), x).sparsity(), 1.0).full())
    else:
        assert vertex.matrix is not None
        pattern = sample(vertex.matrix, structure)
    both = np.abs(pattern) + np.abs(pattern).T + np.eye(width) * (np.max(np.abs(pattern), initial=0.0) or 1.0)
    return [columns for columns, _ in blocks(both)]


def _resisted(
    vertex: Vertex, structure: BondStructure, strokes: Mapping[Atom, str]
) -> Iterator[tuple[tuple[str, Atom], tuple[str, Atom]]]:
    gives = {atom[1]: (what, atom) for what, atom in outputs_of(vertex.name, structure, strokes)}
    if vertex.letter == "GR":  # e = r x f: no component of the effort needs its own flow
        assert vertex.matrix is not None
        rows, columns = np.nonzero(sample(vertex.matrix, structure))
        pairs = [(int(c), int(r)) for r, c in zip(rows, columns, strict=True)]
    else:
        pairs = [(j, k) for part in _coupled(vertex, structure) for j in part for k in part]
    for j, k in pairs:
        what, atom = gives[j]
        yield (conjugate(what), atom), gives[k]


def _stored(
    vertex: Vertex, structure: BondStructure, strokes: Mapping[Atom, str]
) -> Iterator[tuple[Variable, Variable]]:
    """What is stored sets a rate; of components that the law ties together those not stored need the others."""
    own = "flow" if vertex.letter == "I" else "effort"
    other = conjugate(own)
    gives = {atom[1]: (what, atom) for what, atom in outputs_of(vertex.name, structure, strokes)}
    for part in _coupled(vertex, structure):
        free = [gives[k][1] for k in part if gives[k][0] == own]
        tied = [gives[k][1] for k in part if gives[k][0] != own]
        for atom in free:
            yield from (((other, each, 0), (own, atom, 1)) for each in free)
            yield from (((own, each, rate), (own, atom, rate)) for each in tied for rate in (0, 1))
        for atom in tied:
            yield from (((own, each, 1), (other, atom, 0)) for each in tied)
            yield from (((other, each, 0), (other, atom, 0)) for each in free)


class _Signals:
    """The variables that signals stand for; states and time stand for none."""

    def __init__(self, structure: BondStructure, strokes: Mapping[Atom, str]) -> None:
        self.structure, self.strokes = structure, strokes
        self._known: dict[str, set[tuple[str, Atom]]] = {}

    def variables(self, name: str) -> set[tuple[str, Atom]]:
        """The efforts and flows that a signal is computed from."""
        if name not in self._known:
            self._known[name] = set()  # a circle of blocks adds nothing
            self._known[name] = self._find(name)
        return self._known[name]

    def _find(self, name: str) -> set[tuple[str, Atom]]:
        structure = self.structure
        formulas = {**structure.outputs, **structure.definitions}
        if name in formulas:
            held = {symbol.name() for symbol in ca.symvar(formulas[name].expression)}
            return {each for used in structure.signals if used in held for each in self.variables(used)}
        found: set[tuple[str, Atom]] = set()
        for of, measures, component in _readings(name):
            if of in structure.sensors and measures == "value":
                of, measures = structure.sensors[of]
            if measures in ("effort", "flow", "momentum", "displacement"):
                found |= self._measured(of, measures, component)
        return found

    def _measured(self, of: str, measures: str, component: str) -> set[tuple[str, Atom]]:
        structure = self.structure
        vertex = structure.vertices.get(of)
        if of not in structure.lines and (vertex is None or vertex.letter not in (*ONE_PORTS, *JUNCTIONS)):
            return set()
        bond = of if of in structure.lines else structure.around[of][0].name
        width = structure.lines[bond].width
        if measures in ("momentum", "displacement"):  # a state, unless a storage in derivative causality holds it
            if vertex is None or (vertex.letter, measures) not in (("I", "momentum"), ("C", "displacement")):
                return set()
            own = "flow" if vertex.letter == "I" else "effort"
            gives = set(outputs_of(of, structure, self.strokes))
            atoms = [(bond, k) for k in range(width)]
            return {(own, atom) for atom in atoms if (own, atom) not in gives}
        every = (
            range(width) if not component else [labels(width).index(component)] if component in labels(width) else []
        )
        return {(measures, (bond, k)) for k in every}


def _readings(name: str) -> Sequence[tuple[str, str, str]]:
    """A signal's name as (owner, quantity, component), in the two ways to read it."""
    owner, _, last = name.rpartition(".")
    before, _, middle = owner.rpartition(".")
    return [(owner, last, ""), (before, middle, last)]


__all__ = ["Loop", "Variable", "conjugate", "dependence", "find_loops", "outputs_of"]
