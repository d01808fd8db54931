"""What both forms of the equations share: states, flows, efforts by the laws, energies and results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import casadi as ca

from cotree.bond.kinematics import COMPLIANCE, FLOW_SOURCE, INERTIA, PREFERRED, Kinematics
from cotree.bond.resolve import Signals, split_signal, vector_signals
from cotree.bond.structure import ONE_PORTS, SOURCES, UNITS, BondStructure, Vertex, component_names
from cotree.bond.way import along
from cotree.formulation.system import Energy, Variables, rate_name
from cotree.maths.symbolic import column, substitute

THERMAL = "thermal"


@dataclass
class Derivation:
    """One derivation."""

    drives: ClassVar[bool] = False
    """Whether flow sources that are not zero are held by closures."""

    structure: BondStructure
    storing: dict[str, ca.SX] = field(default_factory=dict)
    """Displacements of the C's that have them for themselves, states or not."""
    following: dict[str, ca.SX] = field(default_factory=dict)
    """Displacements of the other C's, which follow from coordinates."""

    def __post_init__(self) -> None:
        s = self.structure
        self.values = s.values
        known: dict[str, ca.SX] = {}
        for vertex in s.vertices.values():
            if vertex.letter == "C" and vertex.displacement is not None:
                self.following[vertex.name] = vertex.displacement
                known |= vector_signals(f"{vertex.name}.displacement", vertex.displacement)
            elif vertex.letter == "C":
                names = component_names(f"{vertex.name}.displacement", s.width(vertex.name))
                self.storing[vertex.name] = column([ca.SX.sym(name) for name in names])
                known |= vector_signals(f"{vertex.name}.displacement", self.storing[vertex.name])
        self.signals = Signals(s, known)
        moduli = [v.matrix for v in s.vertices.values() if v.letter == "TF" and v.matrix is not None]
        self.signals.offer(self._efforts_of_c())
        self.signals.settle(moduli)
        self.kin = Kinematics(s, lambda vertex: self.signals.expand(vertex.modulus), self.drives)

    # -- independent flows ---------------------------------------------------------------------------------------

    def rank(self, column: int) -> int:
        """The rank of a column."""
        return self.kin.columns[column].rank

    @cached_property
    def places(self) -> dict[int, int]:
        """The place in u of each independent column."""
        return {c: k for k, c in enumerate(self.kin.independent)}

    def columns_of(self, vertex: str) -> list[int]:
        """The columns of a one-port's bond."""
        line = self.structure.around[vertex][0]
        return [self.kin.at(line, k) for k in range(line.width)]

    @cached_property
    def integral(self) -> dict[str, bool]:
        """Every I, and whether all of its flows are independent: integral causality."""
        return {
            v.name: all(c in self.places and self.kin.columns[c].element == v.name for c in self.columns_of(v.name))
            for v in self.structure.vertices.values()
            if v.letter == "I"
        }

    def by_rank(self, *ranks: int) -> list[int]:
        """Independent columns of some ranks, in order."""
        return [c for c in self.kin.independent if self.rank(c) in ranks]

    @cached_property
    def inertial(self) -> list[int]:
        """Independent columns that carry states: those of I's and the rates of joints."""
        return self.by_rank(INERTIA, PREFERRED)

    @cached_property
    def given(self) -> list[int]:
        """Independent columns of flow sources."""
        return self.by_rank(FLOW_SOURCE)

    @cached_property
    def dependent_displacements(self) -> list[int]:
        """Independent columns of C's: each of these components has derivative causality."""
        return self.by_rank(COMPLIANCE)

    # -- signals -------------------------------------------------------------------------------------------------

    def flow_signals(self) -> dict[str, ca.SX]:
        """The flows that expressions ask for, in the independent flows."""
        return {name: value for name, value in self._every_flow() if name in self.structure.signals}

    def _every_flow(self) -> Iterator[tuple[str, ca.SX]]:
        asked = {found[0] for name in self.structure.signals if (found := split_signal(name, "flow"))}
        for name in sorted(asked & self.structure.lines.keys()):
            yield from vector_signals(f"{name}.flow", self.kin.flow(name)).items()
        for name in sorted(asked & self.structure.vertices.keys()):
            if self.structure.vertices[name].letter in (*ONE_PORTS, "1") and self.structure.around[name]:
                yield from vector_signals(f"{name}.flow", self.kin.shown_flow(name)).items()

    def _efforts_of_c(self) -> dict[str, ca.SX]:
        """The efforts that expressions ask for and that displacements give."""
        found: dict[str, ca.SX] = {}
        s = self.structure
        for of in sorted({parts[0] for name in s.signals if (parts := split_signal(name, "effort"))}):
            lines = [s.lines[of]] if of in s.lines else s.around.get(of, [])
            ends = [s.vertices[end] for line in lines for end in (line.tail[0], line.head[0])]
            for vertex in [v for v in ends if v.letter == "C"][:1]:
                found |= vector_signals(f"{of}.effort", self.effort_of_c(vertex))
        return {name: value for name, value in found.items() if name in s.signals}

    # -- inputs --------------------------------------------------------------------------------------------------

    @cached_property
    def inputs(self) -> tuple[Variables, ca.SX, ca.SX]:
        """Symbols of what the sources give, of their rates, and the signals themselves."""
        names: list[str] = []
        units: list[str] = []
        signals: list[ca.SX] = []
        for v in self.sources:
            what = "effort" if v.letter == "Se" else "flow"
            width = self.structure.width(v.name)
            unit = UNITS[self.structure.domain(self.structure.around[v.name][0].name)][0 if v.letter == "Se" else 1]
            names += component_names(f"{v.name}.{what}", width)
            units += [unit] * width
            signals += ca.vertsplit(v.given)
        variables = Variables.make(names, units)
        return variables, column([ca.SX.sym(rate_name(name)) for name in names]), column(signals)

    @cached_property
    def sources(self) -> list[Vertex]:
        """Sources that signals do not modulate and that are not zero by nature."""
        found = [v for v in self.structure.vertices.values() if v.letter in ("Se", "Sf")]
        values = self.values
        known = ca.symvar(ca.veccat(values.t, values.p.symbols, values.mode_symbols))
        hashes = {hash(symbol.element_hash()) for symbol in known}
        found = [v for v in found if not v.modulated or _symbols(v.given) <= hashes]  # modulated by time alone
        return [v for v in found if v.value is not None and not v.value.is_zero()]

    @cached_property
    def source_values(self) -> dict[str, ca.SX]:
        """What each source sets, in inputs and signals."""
        inputs, _, _ = self.inputs
        result, place = {}, 0
        for v in self.sources:
            width = self.structure.width(v.name)
            result[v.name] = inputs.symbols[place : place + width]
            place += width
        for v in self.structure.vertices.values():
            if v.letter in ("Se", "Sf") and v.name not in result:
                result[v.name] = v.given
        return result

    # -- energy --------------------------------------------------------------------------------------------------

    def stored(self, momenta: Mapping[str, ca.SX], flows: Mapping[str, ca.SX]) -> tuple[ca.SX, ca.SX]:
        """Energy of the I's, from momenta and flows, and of the C's with the potentials of sources."""
        kinetic, potential = ca.SX(0), ca.SX(0)
        for v in self.structure.vertices.values():
            if v.letter == "I":
                if v.law is None:
                    kinetic += ca.dot(momenta[v.name], flows[v.name]) / 2
                else:
                    kinetic += along(self.law(v), momenta[v.name])
            elif v.letter == "C":
                q = self.displacement(v.name)
                if self.thermal(v):
                    potential += ca.sum1(q)
                else:
                    potential += ca.dot(q, self.effort_of_c(v)) / 2 if v.law is None else along(self.law(v), q)
            elif v.potential is not None:
                potential += v.potential
        return kinetic, potential

    def thermal(self, vertex: Vertex) -> bool:
        """Whether its flow is a power itself."""
        return self.structure.domain(self.structure.around[vertex.name][0].name) == THERMAL

    def powers(self, efforts: Mapping[str, ca.SX], flows: Mapping[str, ca.SX]) -> tuple[ca.SX, ca.SX]:
        """Dissipated and supplied power, from efforts and own flows of the elements."""
        dissipation, supply = ca.SX(0), ca.SX(0)
        for v in self.structure.vertices.values():
            stores = v.potential is not None or v.letter in ("I", "C", "GR")
            if v.letter not in ONE_PORTS or (stores and not v.remainder):
                continue
            if v.letter in SOURCES and v.given.is_zero() and not self.thermal(v):
                continue
            effort = self.source_values[v.name] if v.letter == "Se" else efforts[v.name]  # by its law: shorter
            power = ca.sum1(flows[v.name]) if self.thermal(v) else ca.dot(effort, flows[v.name])
            if v.remainder:
                power -= self._stored_rate(v, flows)
            if v.letter == "R" or v.remainder == "dissipated":
                dissipation += ca.SX(0) if self.thermal(v) else power
            else:
                supply -= power
        return dissipation, supply

    def _stored_rate(self, vertex: Vertex, flows: Mapping[str, ca.SX]) -> ca.SX:
        """The rate of the energy that one element stores."""
        stored = ca.SX(0) if vertex.potential is None else vertex.potential
        if vertex.letter == "I":
            stored = ca.dot(flows[vertex.name], ca.mtimes(vertex.modulus, flows[vertex.name])) / 2
        return ca.SX(0) if stored.is_constant() else self.rate(stored, vertex.name)

    def rate(self, expression: ca.SX, why: str) -> ca.SX:
        """d/dt of an expression; ``why`` names what needs it."""
        raise NotImplementedError

    def law(self, vertex: Vertex) -> ca.Function:
        """A law as a function, with the signals that are known put in."""
        assert vertex.law is not None
        x = ca.SX.sym("x", self.structure.width(vertex.name))
        value = self.signals.expand(ca.SX(vertex.law(x)))
        return Law(x, value)  # type: ignore[return-value]

    def displacement(self, name: str) -> ca.SX:
        """The displacement of a C."""
        return self.following[name] if name in self.following else self.storing[name]

    def effort_of_c(self, vertex: Vertex) -> ca.SX:
        """The effort of a C by its displacement."""
        q = self.displacement(vertex.name)
        return ca.mtimes(vertex.modulus, q) if vertex.law is None else ca.SX(self.law(vertex)(q))

    def energy(self, kinetic: ca.SX, potential: ca.SX, dissipation: ca.SX, supply: ca.SX) -> Energy:
        """The energies of the whole graph."""
        return Energy(kinetic + potential, dissipation, supply)


def _symbols(expression: ca.SX) -> set[int]:
    """The symbols in an expression, by their hashes."""
    return {hash(symbol.element_hash()) for symbol in ca.symvar(expression)}


class Law:
    """An expression of one column, called like a function; other symbols in it stay."""

    def __init__(self, x: ca.SX, value: ca.SX) -> None:
        self.x, self.value = x, value

    def __call__(self, x: ca.SX) -> ca.SX:
        return substitute(self.value, self.x, x)
