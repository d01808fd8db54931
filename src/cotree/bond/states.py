"""States of a bond graph: momenta of I's, flows of joints, displacements of C's, and integrals of signals."""

from __future__ import annotations

from functools import cached_property

import casadi as ca

from cotree.bond.derivation import Derivation
from cotree.bond.kinematics import COMPLIANCE, DISSIPATOR, INTERNAL
from cotree.bond.resolve import QUANTITIES, split_signal
from cotree.bond.structure import UNITS, Vertex, component_names
from cotree.errors import FormulationError
from cotree.formulation.system import rate_name
from cotree.maths.symbolic import column, substitute


class States(Derivation):
    """The states of one derivation."""

    @cached_property
    def p_states(self) -> dict[str, ca.SX]:
        """Momenta of the I's in integral causality."""
        return {
            name: column([self._momentum_symbol(each) for each in self._momentum_names(name)])
            for name, integral in self.integral.items()
            if integral
        }

    def _momentum_names(self, name: str) -> tuple[str, ...]:
        return component_names(f"{name}.momentum", self.structure.width(name))

    def _momentum_symbol(self, name: str) -> ca.SX:
        """A momentum that modulates flows is in the junction structure already."""
        return self.signals.late[name] if name in self.signals.late else ca.SX.sym(name)

    @cached_property
    def p_rates(self) -> dict[str, ca.SX]:
        """Symbols of their rates."""
        return {
            name: column([ca.SX.sym(rate_name(each.name())) for each in ca.vertsplit(symbols)])
            for name, symbols in self.p_states.items()
        }

    @cached_property
    def speed_columns(self) -> list[int]:
        """Independent flows that are states themselves: of joints, and of I's of which some flows depend."""
        momenta = {c for name in self.p_states for c in self.columns_of(name)}
        return [c for c in self.inertial if c not in momenta]

    @cached_property
    def speeds(self) -> tuple[ca.SX, ca.SX]:
        """Symbols of these flows and of their rates."""
        names = [self._speed(c)[0] for c in self.speed_columns]
        return column([ca.SX.sym(name) for name in names]), column([ca.SX.sym(rate_name(name)) for name in names])

    def _speed(self, c: int) -> tuple[str, int]:
        """The name of a speed, and its sign in the flow of the bond: an I counts its own flow, others the bond's."""
        own = self.kin.columns[c]
        vertex, width = self.structure.vertices[own.element], self.structure.lines[own.line].width
        if vertex.letter == "I":
            enters = self.structure.lines[own.line].enters(vertex.name)
            return component_names(f"{vertex.name}.flow", width)[own.k], 1 if enters else -1
        return (vertex.speeds or component_names(f"{own.line}.flow", width))[own.k], 1

    @cached_property
    def free_columns(self) -> list[int]:
        """Flows that belong to algebraic equations."""
        return self.by_rank(INTERNAL, DISSIPATOR, COMPLIANCE)

    @cached_property
    def tied(self) -> list[tuple[str, int, int]]:
        """Components of C's in derivative causality: the C, the component and its column."""
        found = []
        for c in self.dependent_displacements:
            column_ = self.kin.columns[c]
            found.append((column_.element, column_.k, c))
        return found

    @cached_property
    def tied_symbols(self) -> ca.SX:
        """Their displacements."""
        return column([self.storing[name][k] for name, k, _ in self.tied])

    def flow_of_momentum(self, vertex: Vertex, momentum: ca.SX) -> ca.SX:
        """f = I^-1 p, or the law."""
        if vertex.law is not None:
            return ca.SX(self.law(vertex)(momentum))
        return inverse(vertex.modulus, momentum)

    @cached_property
    def _u_values(self) -> tuple[ca.SX, ca.SX | None]:
        """The independent flows in states, inputs and free flows."""
        values = ca.SX(self.kin.u)
        for name, momentum in self.p_states.items():
            flow = self.flow_of_momentum(self.structure.vertices[name], momentum)
            sign = 1 if self.structure.around[name][0].enters(name) else -1
            for k, c in enumerate(self.columns_of(name)):
                values[self.places[c]] = sign * flow[k]
        for k, c in enumerate(self.speed_columns):
            values[self.places[c]] = self._speed(c)[1] * self.speeds[0][k]
        for c in self.given:
            values[self.places[c]] = self._given_flow(c)
        return values, None

    def _given_flow(self, c: int) -> ca.SX:
        column_ = self.kin.columns[c]
        return self.source_values[column_.element][column_.k]

    def _put(self, expression: ca.SX) -> ca.SX:
        """An expression of the independent flows in states and inputs."""
        for _ in range(2):  # a modulated flow source may depend on flows
            expression = self.signals.expand(substitute(expression, self.kin.u, self._held))
        return expression

    @cached_property
    def _held(self) -> ca.SX:
        return self.signals.expand(self._u_values[0])

    @cached_property
    def state_symbols(self) -> ca.SX:
        """All states."""
        names, *_ = self._states
        every = {each.name(): each for each in self._state_list}
        return column([every[name] for name in names])

    @cached_property
    def _state_list(self) -> list[ca.SX]:
        tied = {self.storing[name][k].name() for name, k, _ in self.tied}
        displacements = [each for q in self.storing.values() for each in ca.vertsplit(q) if each.name() not in tied]
        momenta = [each for p in self.p_states.values() for each in ca.vertsplit(p)]
        integrals = [each for i in self.structure.integrals for each in ca.vertsplit(i.symbols)]
        speeds = ca.vertsplit(self.speeds[0]) if self.speed_columns else []
        return [*momenta, *speeds, *displacements, *integrals]

    @cached_property
    def _states(self) -> tuple[tuple[str, ...], tuple[str, ...], ca.SX, ca.SX]:
        """Names, units, start values and rates."""
        names: list[str] = []
        units: list[str] = []
        starts: list[ca.SX] = []
        rates: list[ca.SX] = []

        def add(symbols: ca.SX, unit: str, start: ca.SX, rate: ca.SX) -> None:
            names.extend(each.name() for each in ca.vertsplit(symbols))
            units.extend([unit] * symbols.numel())
            starts.extend(ca.vertsplit(ca.SX.zeros(*symbols.shape) + start))
            rates.extend(ca.vertsplit(rate))

        for name, p in self.p_states.items():
            vertex = self.structure.vertices[name]
            add(p, self._unit(name, 2), start_momentum(vertex, self), self.p_rates[name])
        for k, c in enumerate(self.speed_columns):
            column_ = self.kin.columns[c]
            vertex = self.structure.vertices[column_.element]
            given = vertex.start_conjugate
            if given is None and vertex.letter == "I" and vertex.start is not None and vertex.law is None:
                given = inverse(vertex.modulus, vertex.start)
            start = ca.SX(0) if given is None else given[column_.k]
            add(self.speeds[0][k], self._unit(vertex.name, 1), start, self.speeds[1][k])
        tied = {(name, k) for name, k, _ in self.tied}
        for name, q in self.storing.items():
            start, flow = start_displacement(self.structure.vertices[name], self), self.kin.own_flow(name)
            for k in range(q.numel()):
                if (name, k) not in tied:
                    add(q[k], self._unit(name, 3), start[k], flow[k])
        for integral in self.structure.integrals:
            add(integral.symbols, "", integral.start, integral.rate)
            units[-len(integral.names) :] = integral.units
        return tuple(names), tuple(units), column(starts), column(rates)

    def _unit(self, vertex: str, what: int) -> str:
        return UNITS[self.structure.domain(self.structure.around[vertex][0].name)][what]

    def unit_of_unknown(self, name: str) -> str:
        """The unit of an unknown, so that others of the same unit tell its size."""
        for place, what in enumerate(QUANTITIES):
            found = split_signal(name, what)
            if found and found[0] in self.structure.lines:
                return UNITS[self.structure.domain(found[0])][place]
            if found and self.structure.around.get(found[0]):
                return self._unit(found[0], place)
        lines = {self.kin.columns[c].name: (self.kin.columns[c].line, 1) for c in self.kin.independent}
        lines |= {f"{closure.name}.effort": (closure.line, 0) for closure in self.kin.closures}
        line, place = lines.get(name, ("", 0))
        return UNITS[self.structure.domain(line)][place] if line else ""


def inverse(matrix: ca.SX, right: ca.SX) -> ca.SX:
    """matrix^-1 right, in closed form for diagonal and small matrices."""
    if matrix.sparsity().is_diag():
        return right / ca.diag(matrix)
    return ca.mtimes(ca.inv_minor(ca.densify(matrix)), right) if matrix.shape[0] <= 3 else ca.solve(matrix, right)


def start_momentum(vertex: Vertex, d: Derivation) -> ca.SX:
    """The momentum of an I at the start."""
    if vertex.start is not None or vertex.start_conjugate is None:
        return ca.SX(0) if vertex.start is None else vertex.start
    if vertex.law is not None:
        raise FormulationError(
            "initial_flow of a nonlinear I", where=vertex.name, expected="momentum", remedy="Give its momentum instead"
        )
    return ca.mtimes(vertex.modulus, vertex.start_conjugate)


def start_displacement(vertex: Vertex, d: Derivation) -> ca.SX:
    """The displacement of a C at the start."""
    width = d.structure.width(vertex.name)
    if vertex.start is not None or vertex.start_conjugate is None:
        return ca.SX.zeros(width) if vertex.start is None else vertex.start
    if vertex.law is not None:
        raise FormulationError(
            "initial_effort of a nonlinear C", where=vertex.name, expected="displacement",
            remedy="Give its displacement instead",
        )  # fmt: skip
    return inverse(vertex.modulus, vertex.start_conjugate)
