"""A scalar bond graph as a network of terminal components with the same motion.

Where the effort is across (voltage, pressure, temperature) every 0 junction becomes a node against the datum, and every
1 junction a series chain of what hangs on it, between the two 0 junctions next to it or the datum. For velocities,
which are across in networks, the roles of 0 and 1 are exchanged. A further junction next to a chain is coupled to it by
an ideal transformer (lever, gear) of ratio 1, and so is a mass that hangs on a chain.

Elements keep their names, with ``_`` for the dots of masks; a node has the name of its junction. Signs follow the
network: across is plus less minus, and through counts from plus through the component to minus.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cotree.bond.domains import TwoPort
from cotree.bond.electrical import CoupledInductors
from cotree.bond.elements import BondPart, Element
from cotree.bond.junctions import Junction0
from cotree.bond.masks import Mask
from cotree.bond.network_laws import Law, arithmetic, one_port, refusal, several_ports
from cotree.bond.network_table import UNITY, flow_is_across
from cotree.bond.opening import Opening
from cotree.bond.signals import Block, Integrator, Sensor
from cotree.bond.simplify import rebuilt
from cotree.bond.structure import JUNCTIONS, UNITS, Line
from cotree.errors import ModelError, listing, nearest
from cotree.model import Component, Expression, Model

M = TypeVar("M", bound=Model)
GROUND = "ground"
DOTTED = re.compile(r"[^\W\d]\w*(?:\.\w+)+")


def bond_graph_network(model: M, domain: str | None = None) -> M:
    """The network of a scalar bond graph; ``domain`` is that of elements that tell none themselves."""
    if domain is not None and domain not in UNITS:
        known = [name for name in UNITS if name]
        raise ModelError(
            f"there is no domain {domain!r}", expected=f"one of {listing(known)}", remedy=nearest(str(domain), known)
        )
    if not model.bonded:
        raise ModelError("the model is no bond graph", where=model.name, expected="bond-graph parts")
    result: M = _Conversion(model, domain).network()
    return result


@dataclass(frozen=True)
class Hung:
    """A port of a part that hangs on a junction; ``into`` says that the bond points into the part."""

    part: str
    port: str
    into: bool


@dataclass
class Chain:
    """A junction that becomes a series chain, with the nodes whose bonds enter and leave it."""

    ports: list[Hung] = field(default_factory=list)
    entering: list[str] = field(default_factory=list)
    leaving: list[str] = field(default_factory=list)


class _Conversion:
    """One conversion."""

    def __init__(self, model: Model, domain: str | None) -> None:
        self.model, self.default = model, domain
        self.opening = Opening(model)
        self.structure = self.opening.run()
        self.parts = {path: leaf.part for path, leaf in self.opening.leaves.items()}
        self._refuse()
        self.domains = self._find_domains()
        self.same: dict[str, str] = {}
        self.chains: dict[str, Chain] = {}
        self.hung: dict[str, list[Hung]] = {}
        """What hangs on each node."""
        self.pairs: dict[tuple[str, str], tuple[str, str, bool]] = {}
        """The nodes of each port, and whether it is part of a chain."""
        self.taken = {self.plain(name) for name in self.structure.vertices} | {GROUND}
        self.masked = dict(self._mask_parameters())

    def _refuse(self) -> None:
        for path, part in self.parts.items():
            if isinstance(part, (Sensor, Block, Integrator)):
                raise refusal(part, path, f"the signal '{path}.value'")
            if part.framed or not isinstance(part, (Element, CoupledInductors)):
                raise refusal(part, path, f"the part '{path}'")
        for vertex in self.structure.vertices.values():
            if vertex.used:
                raise refusal(self.parts[vertex.name], vertex.name, f"its modulation by {listing(vertex.used)}")
        for line in self.structure.lines.values():
            if line.width > 1 and not isinstance(self.parts.get(line.head[0]), CoupledInductors):
                raise ModelError(
                    f"it is a multibond of width {line.width}", where=str(line), expected="scalar bonds in a network",
                    remedy="Take it apart into scalar bonds",
                )  # fmt: skip

    # -- domains -------------------------------------------------------------------------------------------------

    def _find_domains(self) -> dict[str, str]:
        """The domain of every bond."""
        found: dict[str, str] = {}
        todo: list[tuple[str, str]] = []
        for vertex in self.structure.vertices.values():
            part = self.parts.get(vertex.name)
            for line in self.structure.around[vertex.name]:
                if isinstance(part, TwoPort):
                    todo.append((line.name, part.domains[int(_port(line, vertex.name)) - 1]))
                elif vertex.domain:
                    todo.append((line.name, vertex.domain))
        self._spread(todo, found)
        if self.default:
            self._spread([(name, self.default) for name in self.structure.lines if name not in found], found)
        unknown = [line for line in self.structure.lines.values() if line.name not in found]
        if unknown:
            raise ModelError(
                "nothing tells its domain", where=str(unknown[0]), expected="an element with a domain near it",
                remedy="Give an element its domain, or call with domain='electrical' for all that tell none",
            )  # fmt: skip
        return found

    def _spread(self, todo: list[tuple[str, str]], found: dict[str, str]) -> None:
        while todo:
            name, domain = todo.pop()
            line = self.structure.lines[name]
            if name in found:
                if found[name] != domain:
                    raise ModelError(
                        f"it joins {found[name]} and {domain} parts", where=str(line), expected="one domain"
                    )
                continue
            found[name] = domain
            for end in (line.tail[0], line.head[0]):
                if self.structure.vertices[end].letter in JUNCTIONS:
                    todo += [(each.name, domain) for each in self.structure.around[end] if each.name != name]

    # -- topology ------------------------------------------------------------------------------------------------

    def root(self, name: str) -> str:
        """The junction that stands for all that have been made one with it."""
        while self.same.get(name, name) != name:
            name = self.same[name]
        return name

    def join(self, one: str, other: str) -> None:
        """Make two nodes, or two chains, one; the datum stays."""
        a, b = self.root(one), self.root(other)
        if a == GROUND:
            a, b = b, a
        if a != b:
            self.same[a] = b

    def _is_node(self, vertex: str, line: Line) -> bool:
        """Whether a junction has the across variable of its domain in common."""
        return self.structure.vertices[vertex].letter == ("1" if flow_is_across(self.domains[line.name]) else "0")

    def _sort(self) -> None:
        """Find nodes, chains, and what hangs on them."""
        lines = [line for line in self.structure.lines.values() if line.width == 1]
        letters = {name: vertex.letter for name, vertex in self.structure.vertices.items()}
        for line in lines:
            if letters[line.tail[0]] == letters[line.head[0]] and letters[line.tail[0]] in JUNCTIONS:
                self.join(line.tail[0], line.head[0])
        for line in lines:
            ends = [end for end in (line.tail, line.head) if letters[end[0]] in JUNCTIONS]
            chained = [self.root(end[0]) for end in ends if not self._is_node(end[0], line)]
            for name in chained:
                self.chains.setdefault(name, Chain())
            if len(ends) == 2:
                if len(chained) == 1:
                    enters = self.root(line.head[0]) == chained[0]
                    chain = self.chains[chained[0]]
                    (chain.entering if enters else chain.leaving).append((line.tail if enters else line.head)[0])
                continue
            at = ends[0][0] if ends else self.free_name(self.plain(line.name))
            for (vertex, port), into in ((line.tail, False), (line.head, True)):
                if letters[vertex] not in JUNCTIONS:
                    own = Hung(*self._owner(vertex, port), into)
                    (self.chains[chained[0]].ports if chained else self.hung.setdefault(at, [])).append(own)

    def _owner(self, vertex: str, port: str) -> tuple[str, str]:
        """The part and the number of its port behind a vertex."""
        return (vertex, port) if vertex in self.parts else (vertex.rpartition(".")[0], port)

    def _flips(self, hung: Hung, domain: str, in_chain: bool) -> bool:
        """Whether plus is the far node: efforts have no sign at a node, flows none in a chain where they are one."""
        source = self.structure.vertices[hung.part].letter == "Sf"
        by_flow = flow_is_across(domain) != source
        return not hung.into and by_flow != in_chain

    def _domain_of(self, hung: Hung) -> str:
        vertex = f"{hung.part}.split" if isinstance(self.parts[hung.part], CoupledInductors) else hung.part
        line = self.structure.at(vertex, hung.port) if hung.port else self.structure.around[vertex][0]
        return self.domains[line.name]

    # -- the network ---------------------------------------------------------------------------------------------

    def network(self) -> Any:
        """Build it."""
        self._sort()
        result = rebuilt(self.model, datum=GROUND)
        for name, value in self.masked.items():
            result.parameter(name, value)
        for chain in self.chains.values():  # a chain without components is a wire
            if not chain.ports and len(chain.entering) <= 1 and len(chain.leaving) <= 1:
                self.join((chain.entering or [GROUND])[0], (chain.leaving or [GROUND])[0])
        for at, ports in self.hung.items():
            for hung in ports:
                pair = (self.node(at), GROUND)
                flips = self._flips(hung, self._domain_of(hung), False)
                self.pairs[hung.part, hung.port] = (*(pair[::-1] if flips else pair), False)
        for name, chain in self.chains.items():
            for component in self._series(name, chain):
                result.add(component)
        for path, part in self.parts.items():
            if not isinstance(part, Junction0):
                for component in self._components(path, part):
                    result.add(component)
        return result

    def _series(self, name: str, chain: Chain) -> Iterator[Component]:
        """Put what hangs on a chain between its nodes, one behind the other; yields couplings to further nodes."""
        start, *more = chain.entering or [GROUND]
        end, *others = chain.leaving or [GROUND]
        count = len(chain.ports) + len(more) + len(others)
        between = [self.free_name(f"{self.plain(name)}_{k + 1}") for k in range(count - 1)]
        places = list(itertools.pairwise([self.node(start), *between, self.node(end)]))
        for hung, pair in zip(chain.ports, places, strict=False):
            flips = self._flips(hung, self._domain_of(hung), True)
            self.pairs[hung.part, hung.port] = (*(pair[::-1] if flips else pair), True)
        further = [(node, True) for node in more] + [(node, False) for node in others]
        for (node, enters), pair in zip(further, places[len(chain.ports) :], strict=True):
            yield self._coupling(name, (self.node(node), GROUND), pair[::-1] if enters else pair)

    def _coupling(self, name: str, primary: tuple[str, str], secondary: tuple[str, str]) -> Component:
        """An ideal transformer of ratio 1."""
        path = name if name in self.structure.vertices else name.partition(".")[0]
        domain = self.domains[self.structure.around[path][0].name]
        if domain not in UNITY:
            raise ModelError(
                f"more than two junctions are next to it, which takes an ideal {domain} transformer", where=name,
                expected=f"one of the domains {listing(UNITY)}, whose networks have one",
            )  # fmt: skip
        values: dict[str, Any] = {"primary": primary, "secondary": secondary, "ratio": 1.0}
        return UNITY[domain](self.free_name(f"{self.plain(name)}_coupling"), **values)

    def _components(self, path: str, part: BondPart) -> Iterator[Component]:
        """The components for one part."""
        name = self.plain(path)
        if isinstance(part, Element) and (path, "") in self.pairs:
            plus, minus, in_chain = self.pairs[path, ""]
            domain = self._domain_of(Hung(path, "", True))
            law = one_port(part, domain, path)
            values = {key: self.outside(value, path) for key, value in law.values.items()}
            if law.component.from_datum and in_chain:
                inner = self.free_name(f"{name}_own")
                yield self._coupling(path, (inner, GROUND), (plus, minus))
                plus, minus = inner, GROUND
            elif law.component.from_datum and plus == GROUND:
                plus, minus = minus, plus
                if "initial" in values:
                    values["initial"] = arithmetic("a*b", a=-1.0, b=values["initial"])
            fields: dict[str, Any] = {"nodes": (plus, minus), **values}
            yield law.component(name, **fields)
            return
        domains = tuple(self._domain_of(Hung(path, port, True)) for port in "12")
        law = several_ports(part, domains, path)
        fields = {key: self.outside(value, path) for key, value in law.values.items()}
        for port, end, turned in zip("12", law.ends, law.turned, strict=True):
            plus, minus, _ = self.pairs[path, port]
            fields[end] = (minus, plus) if turned else (plus, minus)
        yield law.component(name, **fields)

    # -- names ---------------------------------------------------------------------------------------------------

    def plain(self, path: str) -> str:
        """A name without dots."""
        return path.replace(".", "_")

    def node(self, junction: str) -> str:
        """The node of a junction."""
        return self.plain(self.root(junction))

    def free_name(self, wanted: str) -> str:
        """A name that nothing has yet."""
        every = itertools.chain([wanted], (f"{wanted}_{k}" for k in itertools.count(2)))
        name = next(each for each in every if each not in self.taken)
        self.taken.add(name)
        return name

    def outside(self, value: Any, where: str) -> Any:
        """An expression with the values of masks as parameters of the model."""
        if not isinstance(value, str):
            return value
        unknown = [name for name in Expression(value).measured if self.plain(name) not in self.masked]
        if unknown:
            raise refusal(self.parts[where], where, f"the signal '{unknown[0]}' in '{value}'")
        return DOTTED.sub(lambda found: self.plain(found.group()), value)

    def _mask_parameters(self) -> Iterator[tuple[str, float | str]]:
        """The parameters of all masks, under names of the whole model."""
        todo = [(name, part) for name, part in self.model.components.items() if isinstance(part, Mask)]
        while todo:
            path, mask = todo.pop()
            for name, value in mask.own().items():
                own = DOTTED.sub(lambda found: self.plain(found.group()), value) if isinstance(value, str) else value
                yield self.plain(f"{path}.{name}"), own
            todo += [(f"{path}.{inner.name}", inner) for inner in mask.inside(path) if isinstance(inner, Mask)]


def _port(line: Line, vertex: str) -> str:
    return line.head[1] if line.enters(vertex) else line.tail[1]


__all__ = ["Law", "bond_graph_network"]
