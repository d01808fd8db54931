"""What causality alone tells about control: order, causal paths, structural controllability and observability.

After Sueur and Dauphin-Tanguy (1991): a graph is structurally controllable if each storage in integral causality is
reached by a causal path from a source, and if with derivative causality preferred no storage stays integral once as
many sources as needed are dualised. Observability is the same with paths to sensors and dualised sensors. The storages
that stay are as many as the rank of (A B), or of (A; C), lacks at general values of the parameters. Where signals act,
which bonds do not show, order and ranks come from the linear descriptor form instead (`bond/signal_ranks.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import casadi as ca
import networkx as nx
import numpy as np

from cotree.bond.causality import Causality, assign
from cotree.bond.causality_loops import conjugate, dependence, outputs_of
from cotree.bond.causality_rules import Atom, sample
from cotree.bond.signal_ranks import foreign, posed, signal_ranks, signalled
from cotree.bond.structure import (
    JUNCTIONS,
    ONE_PORTS,
    SOURCES,
    STORAGES,
    BondStructure,
    Line,
    Vertex,
    component_names,
)  # fmt: skip
from cotree.errors import FormulationError, listing, nearest
from cotree.maths.viewed import Viewed

MEASURED = {"effort": "effort", "flow": "flow", "momentum": "flow", "displacement": "effort"}
"""The variable of a storage that a measured quantity stands for; of other elements momentum integrates the effort and
displacement the flow."""

POSED = (
    "Positions and rotations act in this graph: order and ranks are those of momenta and displacements with all "
    "positions held; weights and other sources that depend on them are no inputs."
)
SIGNALLED = "Signals act in this graph: order and ranks count them and the integrators; paths name bonds only."
UNTOLD = "Signals act in this graph that order, ranks and paths leave out: they are those of the bonds alone."


@dataclass(frozen=True)
class CausalPath(Viewed):
    """The way of an influence from a source to a storage, or from a storage to a sensor."""

    start: str
    end: str
    bonds: tuple[str, ...]
    order: int
    """Number of integrations on the way, that of the storage at its end or start included."""

    @property
    def length(self) -> int:
        """Number of bonds."""
        return len(self.bonds)

    def __str__(self) -> str:
        return f"{self.start} -> {self.end} by {listing(self.bonds, 20)}: {self.length} bonds, order {self.order}"


@dataclass
class Structural(Viewed):
    """Order, paths, and the two structural properties."""

    structure: BondStructure
    order: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_paths: list[CausalPath]
    """A shortest causal path from each source to each storage that it reaches."""
    output_paths: list[CausalPath]
    """A shortest causal path from each storage to each sensor that it reaches."""
    unreached: tuple[str, ...]
    """Storages that no source reaches."""
    unseen: tuple[str, ...]
    """Storages that reach no sensor."""
    uncontrolled: tuple[str, ...]
    """Storages that stay in integral causality although the sources are dualised."""
    unobserved: tuple[str, ...]
    """Storages that stay in integral causality although the sensors are dualised."""
    controllability_rank: int = field(default=0)
    """Rank of (A B) at general values of the parameters."""
    observability_rank: int = field(default=0)
    """Rank of (A; C) at general values of the parameters."""
    notes: tuple[str, ...] = ()
    """What else counts, or does not: signals, positions."""
    signals: bool = False
    """Whether signals act, and are counted in order and ranks."""
    partial: bool = False
    """Whether signals act that the check leaves out, so that it cannot tell a 'no'."""

    @cached_property
    def controllable(self) -> bool:
        """Whether the sources can steer every state, for almost all values of the parameters."""
        return not self.unreached and not self.uncontrolled

    @cached_property
    def observable(self) -> bool:
        """Whether the sensors tell every state, for almost all values of the parameters."""
        return not self.unseen and not self.unobserved

    def text(self) -> str:
        """The findings, and the storages that fail."""
        or_signal = " or a signal" if self.signals else ""
        lines = [f"Structure of '{self.structure.name}': order {self.order}.", *self.notes]
        for side, names, holds, lost, left, rank, matrix in (
            ("controllable", self.inputs, self.controllable, self.unreached, self.uncontrolled,
             self.controllability_rank, "(A B)"),
            ("observable", self.outputs, self.observable, self.unseen, self.unobserved,
             self.observability_rank, "(A; C)"),
        ):  # fmt: skip
            what, way = (
                ("sources", "reached from no source") if side == "controllable" else ("sensors", "reach no sensor")
            )
            lines.append(f"{what.capitalize()}: {listing(names, 20) or 'none'}.")
            verdict = "yes" if holds else "not by bonds alone" if self.partial and names else "no"
            lines.append(f"Structurally {side}: {verdict}; rank of {matrix} {rank} of {self.order}.")
            lines += [f"  {listing(lost, 20)}: {way} by a causal path{or_signal}."] if lost else []
            kept = f"{listing(left, 20)}: in integral causality even with the {what} dualised."
            if self.signals:
                left = tuple(name for name in left if name not in lost)
                how = "steered" if side == "controllable" else "told"
                kept = f"{listing(left, 20)}: {how} only together with other states."
            lines += [f"  {kept}"] if left else []
        for told, paths in (("Paths from sources:", self.input_paths), ("Paths to sensors:", self.output_paths)):
            lines += [told, *(f"  {path}" for path in paths)] if paths else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        counts = f"order {self.order}, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"<Structural of '{self.structure.name}': {counts}>"

    def _view(self) -> str:
        return self.text()

    def __str__(self) -> str:
        return self.text()


def structural(
    structure: BondStructure, causality: Causality | None = None,
    outputs: Sequence[str] = (), inputs: Sequence[str] | None = None,
) -> Structural:  # fmt: skip
    """Structural order, controllability from ``inputs`` and observability by ``outputs``.

    Inputs are sources; without them all but those that are zero at all times, depend on signals, are
    weights or close loops. Outputs are sensors, or
    efforts and flows such as ``b3.flow``; without them all sensors.
    """
    causality = causality or assign(structure)
    chosen = tuple(inputs) if inputs is not None else tuple(_steering(structure))
    for name in chosen:
        if name not in structure.vertices or structure.vertices[name].letter not in SOURCES:
            known = [each.name for each in structure.vertices.values() if each.letter in SOURCES]
            raise FormulationError(
                f"'{name}' is no source", where=structure.name,
                expected=f"one of {listing(known)}" if known else "a graph with sources", remedy=nearest(name, known),
            )  # fmt: skip
    sensors = {name: _measured(structure, name) for name in outputs or structure.sensors}
    ways = _Ways(causality)
    input_paths = [path for name in chosen for path in ways.from_source(name)]
    output_paths = [path for name, (bond, what) in sensors.items() for path in ways.to_sensor(name, bond, what)]
    reached, seen = {path.end for path in input_paths}, {path.start for path in output_paths}
    notes: tuple[str, ...] = ()
    partial = posed(structure)
    if partial:
        notes = (POSED,)
    elif signalled(structure):
        ranks = signal_ranks(structure, chosen, tuple(sensors), causality.integral)
        if ranks is not None:
            return Structural(
                structure, len(ranks.states), chosen, tuple(sensors), input_paths, output_paths, ranks.unreached,
                ranks.unseen, ranks.unsteered, ranks.untold, ranks.controllability_rank, ranks.observability_rank,
                (SIGNALLED,), signals=True,
            )  # fmt: skip
        notes, partial = (UNTOLD,), True
    uncontrolled = assign(structure, "derivative", chosen).integral
    with_detectors, detectors = _detected(structure, sensors)
    unobserved = assign(with_detectors, "derivative", detectors).integral
    return Structural(
        structure, causality.order, chosen, tuple(sensors), input_paths, output_paths,
        tuple(name for name in causality.integral if name not in reached),
        tuple(name for name in causality.integral if name not in seen),
        uncontrolled, unobserved, causality.order - len(uncontrolled), causality.order - len(unobserved),
        notes, partial=partial,
    )  # fmt: skip


def _steering(structure: BondStructure) -> Iterable[str]:
    """Sources that are inputs: those that close no loop, are no weights, follow no signal and are not zero."""
    for name, vertex in structure.vertices.items():
        plain = vertex.letter in SOURCES and vertex.gap is None and vertex.potential is None
        if plain and vertex.value is not None and not foreign(vertex.value, structure):
            timed = ca.depends_on(vertex.value, structure.values.t)
            if timed or np.any(sample(vertex.value, structure)):
                yield name


def _measured(structure: BondStructure, name: str) -> tuple[str, str]:
    """The bond and the variable that an output stands for."""
    of, measures = structure.sensors.get(name) or (name.rpartition(".")[0], name.rpartition(".")[2])
    vertex = structure.vertices.get(of)
    known = of in structure.lines or (vertex is not None and vertex.letter in (*ONE_PORTS, *JUNCTIONS))
    if not known or measures not in MEASURED:
        offered = [*structure.sensors, *(f"{line}.{what}" for line in structure.lines for what in ("effort", "flow"))]
        raise FormulationError(
            f"there is no output '{name}'", where=structure.name,
            expected="a sensor, or effort or flow of a bond, a one-port or a junction", remedy=nearest(name, offered),
        )  # fmt: skip
    what = MEASURED[measures]
    if measures in ("momentum", "displacement") and (vertex is None or vertex.letter not in STORAGES):
        what = "effort" if measures == "momentum" else "flow"
    return (of if of in structure.lines else structure.around[of][0].name), what


class _Ways:
    """Causal paths in an assignment; going through a storage in integral causality counts one order."""

    def __init__(self, causality: Causality) -> None:
        self.structure, self.strokes = causality.structure, causality.by_atom
        every = dependence(self.structure, causality.relations, self.strokes)
        self.graph = nx.DiGraph()
        size = len(every) + 1
        for cause, effect in every.edges:
            if not cause[2] and not effect[2]:
                self.graph.add_edge(cause[:2], effect[:2], weight=1)
        self.storages: dict[str, tuple[tuple[str, Atom], tuple[str, Atom]]] = {}
        self.integral = set(causality.integral)
        for vertex in self.structure.vertices.values():
            if vertex.letter in STORAGES:
                gives = list(outputs_of(vertex.name, self.structure, self.strokes))
                for part, (what, atom) in zip(component_names(vertex.name, len(gives)), gives, strict=True):
                    self.storages[part] = ((conjugate(what), atom), (what, atom))
                    # an integration outweighs any number of bonds, so that the lowest order is found first
                    self.graph.add_edge(
                        (conjugate(what), atom), (what, atom), weight=size if part in self.integral else 1
                    )

    def from_source(self, name: str) -> list[CausalPath]:
        """The paths from a source to all storages that it reaches."""
        starts = [node for node in outputs_of(name, self.structure, self.strokes) if node in self.graph]
        if not starts:
            return []
        _, paths = nx.multi_source_dijkstra(self.graph, set(starts))
        found = [(part, paths[self.storages[part][0]]) for part in self.integral if self.storages[part][0] in paths]
        return self._told([(name, part, path) for part, path in found])

    def to_sensor(self, name: str, bond: str, what: str) -> list[CausalPath]:
        """The paths from all storages to a sensor."""
        ends = [(what, (bond, k)) for k in range(self.structure.lines[bond].width)]
        ends = [node for node in ends if node in self.graph]
        if not ends:
            return []
        _, paths = nx.multi_source_dijkstra(self.graph.reverse(copy=False), set(ends))
        found = [(part, paths[self.storages[part][1]]) for part in self.integral if self.storages[part][1] in paths]
        return self._told([(part, name, path[::-1]) for part, path in found])

    def _told(self, found: list[tuple[str, str, list[tuple[str, Atom]]]]) -> list[CausalPath]:
        passed = {(before, after) for part, (before, after) in self.storages.items() if part in self.integral}
        place = {part: k for k, part in enumerate(self.storages)}
        result = []
        for start, end, path in found:
            bonds = [atom[0] for _, atom in path]
            kept = [bond for k, bond in enumerate(bonds) if k == 0 or bond != bonds[k - 1]]
            order = 1 + sum(pair in passed for pair in pairwise(path))
            result.append(CausalPath(start, end, tuple(kept), order))
        return sorted(result, key=lambda path: (place.get(path.start, -1), place.get(path.end, -1)))


def _detected(structure: BondStructure, sensors: dict[str, tuple[str, str]]) -> tuple[BondStructure, Collection[str]]:
    """The graph with a detector at each sensor: on an effort a source of no flow, on a flow one of no effort."""
    vertices, lines = dict(structure.vertices), dict(structure.lines)
    detectors: list[str] = []
    for number, (bond, what) in enumerate(sensors.values()):
        line = lines[bond]
        letter, source = ("0", "Sf") if what == "effort" else ("1", "Se")
        junction, detector = f"detector {number} junction", f"detector {number}"
        vertices[junction] = Vertex(junction, letter, width=line.width)
        vertices[detector] = Vertex(detector, source, width=line.width)
        lines[bond] = replace(line, head=(junction, ""))
        lines[f"{bond} behind {number}"] = Line(f"{bond} behind {number}", (junction, ""), line.head, line.width)
        lines[f"to {detector}"] = Line(f"to {detector}", (junction, ""), (detector, ""), line.width)
        detectors.append(detector)
    changed = BondStructure(structure.name, structure.values, vertices, lines, signals=structure.signals)
    return changed, detectors
