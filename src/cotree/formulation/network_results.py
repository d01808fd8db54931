"""What a network shows: variables of every edge and node, powers, energies, and integrals such as displacements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca

from cotree.formulation.storages import STORAGES
from cotree.formulation.system import Energy, Output
from cotree.formulation.values import Terminal
from cotree.graph import Tree
from cotree.maths.symbolic import column, elements
from cotree.model import Edge, Model


@dataclass(frozen=True)
class NetworkResults:
    """Results in the primary variables; ``solved`` replaces these by their solution."""

    model: Model
    tree: Tree
    terminals: Mapping[str, tuple[Terminal, ...]]
    """The variables of each component's edges."""
    values: Mapping[str, object]
    """The symbolic values of each component."""
    solved: Callable[[ca.SX], ca.SX]

    def energy(self) -> Energy:
        """Storages keep, sources supply, everything else dissipates."""
        stored, dissipation, supply = ca.SX(0), ca.SX(0), ca.SX(0)
        for component in self.model.components.values():
            terminals = self.terminals[component.name]
            power = sum(self.power(*pair) for pair in zip(component.edges(), terminals, strict=True))
            v = self.values[component.name]
            stored += component.stored_energy(v, *terminals)
            loss = component.loss(v, *terminals)
            if loss is not None:
                dissipation += loss
            elif component.supplies:
                supply -= power
            elif component.ports[0].role not in STORAGES:
                dissipation += power
        return Energy(self.solved(stored), self.solved(dissipation), self.solved(supply))

    def outputs(self) -> dict[str, Output]:
        """Across variable, through variable and power of every edge, and the nodal variable of every node."""
        names, units, expressions = [], [], []
        for edge, terminal in self._edges():
            for name, unit in (edge.across, edge.through, (f"{edge.name}.power", "W")):
                names.append(name)
                units.append(unit)
            expressions += [terminal.across, terminal.through, self.power(edge, terminal)]
        nodal = self._nodal_values()
        for node, edge in self._free_nodes().items():
            names.append(f"{node}.{edge.domain.across}")
            units.append(edge.domain.across_unit)
            expressions.append(nodal[node])
        every = elements(self.solved(column(expressions)))
        return {name: Output(e, unit) for name, e, unit in zip(names, every, units, strict=True)}

    def integrals(self) -> dict[str, Output]:
        """Rates of what nodal variables add up to over time, where that means something."""
        nodal = self._nodal_values()
        return {
            f"{node}.{edge.domain.integral[0]}": Output(self.solved(nodal[node]), edge.domain.integral[1])
            for node, edge in self._free_nodes().items()
            if edge.domain.integral
        }

    def _edges(self) -> list[tuple[Edge, Terminal]]:
        components = self.model.components.values()
        return [pair for c in components for pair in zip(c.edges(), self.terminals[c.name], strict=True)]

    def power(self, edge: Edge, terminal: Terminal) -> ca.SX:
        """Power into an edge. Heat flow is a power itself: it enters at one end and leaves at the other."""
        if not edge.domain.through_is_power:
            return ca.SX(edge.domain.power(terminal.across, terminal.through))
        inside = [node not in self.tree.graph.datums for node in (edge.head, edge.tail)]
        return terminal.through * (int(inside[0]) - int(inside[1]))

    def _free_nodes(self) -> dict[str, Edge]:
        """Every node but the datums, with an edge that shows its domain."""
        graph = self.tree.graph
        return {node: edge for edge in graph.edges for node in (edge.tail, edge.head) if node not in graph.datums}

    def _nodal_values(self) -> dict[str, ca.SX]:
        """Nodal variables, from the datum outwards along the tree (McPhee 1996, eq. 15 and 40)."""
        forest, graph = self.tree.rooted, self.tree.graph
        across = {edge.name: terminal.across for edge, terminal in self._edges()}
        values: list[ca.SX] = [ca.SX(0)] * graph.v
        for node in forest.node_at.tolist():
            if (branch := int(forest.branch[node])) >= 0:
                values[node] = values[forest.parent[node]] - int(forest.up[node]) * across[graph.edges[branch].name]
        return dict(zip(graph.nodes, values, strict=True))
