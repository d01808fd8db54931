"""Any scalar network as a bond graph with the same motion.

The standard procedure: every node but the datum becomes a junction with the node's across variable, every component
hangs on a junction for the difference of its two nodes. Where the across variable is the effort (voltage, pressure,
temperature), nodes are 0 junctions and components hang on 1 junctions. Networks have velocities across and forces
through, bond graphs have forces as efforts and velocities as flows; so there nodes are 1 junctions, and components hang
on 0 junctions.

Names: a component keeps its name, and its results their names and signs (``R1.voltage``, ``T.primary.current``); a node
keeps its name (``out.voltage``), or has ``n_`` before it where a part could not have that name. The junction of a
component is ``R1_across``, and a node that nothing else is connected to ends in a source of zero, ``out_open``. Sums
over time such as ``wheel.displacement`` are no results of a bond graph: measure them with a sensor. Heat has no results
``power``, since temperature times heat flow is none.
"""

from __future__ import annotations

import itertools
import keyword
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from cotree.bond.domains import NAMES, TwoPort
from cotree.bond.electrical import Amplifier
from cotree.bond.elements import BondPart, Se, Sf
from cotree.bond.junctions import Bond, Junction0, Junction1
from cotree.bond.network_table import NODES, PART_OF, flow_is_across
from cotree.bond.simplify import rebuilt, simplify
from cotree.errors import ModelError, listing
from cotree.formulation.network import network_graph
from cotree.model import Component, Model, Port, Role
from cotree.model.component import COMPONENT_NAME
from cotree.terminal.electrical import OperationalAmplifier

M = TypeVar("M", bound=Model)


def network_bond_graph(model: M, simplified: bool = False) -> M:
    """The bond graph of a scalar network; ``simplified`` also leaves out nodes that only join two components."""
    _check(model)
    made = _Procedure(model)
    result: M = simplify(made.graph, () if simplified else made.nodes.values())
    return result


def _check(model: Model) -> None:
    if model.bonded or model.mechanical or model.nodal:
        what = "a bond graph" if model.bonded else "a mechanism in space" if model.mechanical else "a nodal structure"
        raise ModelError(f"the model is {what}", where=model.name, expected="a scalar network")
    unknown = [c for c in model.components.values() if type(c) not in {*PART_OF, OperationalAmplifier}]
    if unknown:
        raise ModelError(
            f"no part of bond graphs stands for {unknown[0].kind}", where=unknown[0].name,
            expected=f"one of {listing(sorted(kind.kind for kind in PART_OF), 40)}",
        )  # fmt: skip
    network_graph(model)


class _Procedure:
    """The bond graph of a network while it is being built."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.graph: Any = rebuilt(model)
        self.taken = set(model.components)
        self.numbers = self._numbers()
        amplifiers = [c for c in model.components.values() if isinstance(c, OperationalAmplifier)]
        self.measured = {node for c in amplifiers for node in c.input}
        """Nodes whose across variable an expression holds."""
        self.nodes: dict[str, str] = {}
        """The junction of each node."""
        self.ends: dict[str, int] = {}
        """How many bonds each junction has."""
        self.bonds: list[Bond] = []
        for edge in model.edges():
            for node in (edge.head, edge.tail):
                if node not in model.datums and node not in self.nodes:
                    self.nodes[node] = self.free_name(node if self._fits(node) else re.sub(r"\W", "_", f"n_{node}"))
                    self.graph.add(NODES[edge.domain.name](self.nodes[node]))
        for component in model.components.values():
            self._add(component)
        self._close_ends()
        for bond in self.bonds:
            self.graph.add(bond)

    def _fits(self, node: str) -> bool:
        """Whether a junction may have the name of a node: one that an expression can hold, where one holds it."""
        if node in self.measured:
            return node.isidentifier() and not keyword.iskeyword(node)
        return COMPONENT_NAME.match(node) is not None

    def free_name(self, wanted: str) -> str:
        """A name that nothing has yet."""
        every = itertools.chain([wanted], (f"{wanted}_{k}" for k in itertools.count(2)))
        name = next(each for each in every if each not in self.taken)
        self.taken.add(name)
        return name

    def _numbers(self) -> Iterator[str]:
        return (name for k in itertools.count(1) if (name := f"b{k}") not in self.taken)

    def bond(self, tail: str, head: str) -> None:
        """Add a bond; ends at the datum are left out."""
        if tail and head:
            self.bonds.append(Bond(next(self.numbers), tail, head))
            for end in (tail, head):
                self.ends[end] = self.ends.get(end, 0) + 1

    def _node(self, name: str) -> str:
        """The junction of a node; nothing for the datum."""
        return self.nodes.get(name, "")

    def _add(self, component: Component) -> None:
        if isinstance(component, OperationalAmplifier):
            self._amplifier(component)
            return
        pair = PART_OF[type(component)]
        values: dict[str, Any] = {own: getattr(component, name) for name, own in pair.fields.items()}
        part = pair.part(component.name, **values)
        self.graph.add(part)
        for port, (plus, minus) in zip(component.ports, component.node_pairs(), strict=True):
            end = f"{component.name}.{port.label}" if port.label else component.name
            out = isinstance(part, TwoPort) and part.ends.index(port.label) == 1
            self._hang(component.edge_name(port), end, (plus, minus), port.domain.name, out or self._supplies(port))

    def _supplies(self, port: Port) -> bool:
        """Whether it is a source of effort whose bond points out of it.

        That of a pressure source points into it: the volume flow of a source counts along its bond, and as in the
        network into the component.
        """
        effort = port.role is Role.ACROSS_SOURCE and not flow_is_across(port.domain.name)
        return effort and NAMES[port.domain.name][1] != "flow"

    def _hang(self, edge: str, end: str, nodes: tuple[str, str], domain: str, out: bool) -> None:
        """Hang one end of a component between two nodes.

        Its bond points into it, or out of it where its law counts power so: port 2 of two-ports, sources of effort.
        """
        plus, minus = (self._node(node) for node in nodes)
        name = self.free_name(f"{edge.replace('.', '_')}_across")
        junction = Junction0 if flow_is_across(domain) else Junction1
        self.graph.add(junction(name, domain=domain))
        if out:
            self.bond(end, name)
            self.bond(name, plus)
            self.bond(minus, name)
        else:
            self.bond(plus, name)
            self.bond(name, end)
            self.bond(name, minus)
        if not plus and not minus:  # both at the datum
            self._end(name, not flow_is_across(domain))

    def _amplifier(self, component: OperationalAmplifier) -> None:
        """An amplifier takes no current at its input, so only signals reach it; its output is a source of effort."""
        (plus, minus), output = component.node_pairs()
        terms = [f"{sign}{self._node(node)}.effort" for sign, node in (("", plus), (" - ", minus)) if self._node(node)]
        text = "".join(terms).strip() or "0*t"
        self.graph.add(Amplifier(component.name, input=text, gain=component.gain))
        self._hang(f"{component.name}.output", component.name, output, "electrical", True)

    def _end(self, junction: str, effort: bool) -> None:
        """Let a junction end in a source of zero effort, or of zero flow."""
        source: BondPart = Se(self.free_name(f"{junction}_zero"), effort=0.0) if effort else Sf(
            self.free_name(f"{junction}_open"), flow=0.0
        )  # fmt: skip
        self.graph.add(source)
        self.bond(junction, source.name)

    def _close_ends(self) -> None:
        """Close nodes with one bond: nothing flows there, or no force acts."""
        for name in self.nodes.values():
            if self.ends.get(name, 0) < 2:
                self._end(name, isinstance(self.graph.components[name], Junction1))
