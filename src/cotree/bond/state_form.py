"""The state form: momenta of I's and displacements of C's are the states (Karnopp, Margolis and Rosenberg).

An I in integral causality gives its flow by its momentum, a C its effort by its displacement. What derivative causality
and algebraic loops tie together stays implicit: efforts of dependent I's are the rates of their momenta, displacements
of dependent C's follow from the efforts around them, and free flows of R's from the balance of efforts. All of it is
solved block by block, in closed form where that is short, and natively at run time otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.bond.cancelling import without
from cotree.bond.changes import Changes, supplying
from cotree.bond.given_starts import GivenStarts
from cotree.bond.hidden import tie_states
from cotree.bond.kinematics import EFFORT_SOURCE, Closure
from cotree.bond.laws import Port, balance, bond_efforts, explicit_effort, gyrator_ports
from cotree.bond.resolve import split_signal, vector_signals
from cotree.bond.results import results
from cotree.bond.states import States
from cotree.bond.structure import ONE_PORTS, Vertex, component_names, labels
from cotree.errors import FormulationError, listing
from cotree.formulation.blocks import Solved, solve_blocks
from cotree.formulation.system import SmoothInput, SystemEquations, Variables, rate_name
from cotree.maths.symbolic import column, substitute
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]

PULL = 10.0
"""Pull back onto a loop's closure, in 1/s."""


def _place(label: str, width: int) -> int:
    """The place of a component by its label."""
    return labels(width).index(label) if label else 0


class StateForm(States):
    """One derivation in state form; every property is one step."""

    def equations(self) -> SystemEquations:
        """The system equations."""
        self.tied_rows: dict[int, ca.SX] = {}
        """Balances of efforts that give the displacements of C's in derivative causality."""
        self._refuse_free_sources()
        self.signals.offer(self.flow_signals() | self._momentum_signals() | self._effort_signals())
        self.signals.settle([*self.signals.formulas.values(), *(i.rate for i in self.structure.integrals)])
        solved, unknown = self.solved
        kept = list(solved.algebraic)
        w = Variables.make([unknown[k].name() for k in kept], [self.unit_of_unknown(unknown[k].name()) for k in kept])
        left = [k for k, name in enumerate(self._states[0]) if name not in self.hidden]
        names, units = (tuple(each[k] for k in left) for each in self._states[:2])
        starts, rates = self._states[2][left], self._states[3][left]
        symbols = self.state_symbols[left]
        inputs, input_rates, signals = self.inputs

        def final(expression: ca.SX) -> ca.SX:
            value = substitute(self._put(self.signals.expand(expression)), unknown, solved.values)
            return substitute(value, unknown[kept], w.symbols)

        self.final = final
        rates = final(rates)
        out = results(self, final)
        start = self._start(starts, symbols)
        variables = Variables(symbols, names, units, start(self.values.p.start, 0.0))
        return SystemEquations(
            name=self.structure.name,
            t=self.values.t,
            p=self.values.p,
            u=variables,
            u_dot=column([ca.SX.sym(rate_name(name)) for name in names]),
            rates=rates,
            energy=out.energy,
            outputs=out.outputs,
            w=w,
            algebraic=substitute(solved.equations, unknown[kept], w.symbols),
            inputs=inputs,
            input_rates=input_rates,
            signals=signals,
            smooth_inputs=self._smooth(
                column([rates, solved.equations, *(each.expression for each in out.outputs.values())])
            ),
            modes=tuple(self.values.modes),
            mode_symbols=self.values.mode_symbols,
            integrals=out.integrals,
            laws=self.values.laws,
            behind=(inside := column(ca.symvar(column([*self.values.laws.values()]))), final(inside)),
            parameter_values=Changes(self).numbers,
            start=start,
            diagnostics=(*self._diagnostics(solved, unknown), *supplying(self.structure)),
        )

    def explicit(self) -> bool:
        """Whether all storages have integral causality, and nothing is closed or algebraic."""
        return not (self.kin.closures or self.free_columns or self.speed_columns) and all(self.integral.values())

    # -- signals -------------------------------------------------------------------------------------------------

    def _momentum_signals(self) -> dict[str, ca.SX]:
        found: dict[str, ca.SX] = {}
        for name, momentum in self.momenta_by_name.items():
            found |= vector_signals(f"{name}.momentum", momentum)
        return {name: value for name, value in found.items() if name in self.structure.signals}

    @cached_property
    def momenta_by_name(self) -> dict[str, ca.SX]:
        """The momentum of every I."""
        result = {}
        for name in self.integral:
            vertex = self.structure.vertices[name]
            if name in self.p_states:
                result[name] = self.p_states[name]
            elif vertex.law is None:
                result[name] = ca.mtimes(vertex.modulus, self.kin.own_flow(name))
            else:
                names = component_names(f"{name}.momentum", self.structure.width(name))
                result[name] = column([ca.SX.sym(each) for each in names])
        return result

    def _effort_signals(self) -> dict[str, ca.SX]:
        """Efforts that laws give; the others stay as algebraic variables with equations of their own."""
        asked = {parts[0] for name in self.structure.signals if (parts := split_signal(name, "effort"))}
        found: dict[str, ca.SX] = {}
        for of in asked:
            if of not in self.structure.vertices and of not in self.structure.lines:
                continue
            lines = [of] if of in self.structure.lines else [line.name for line in self.structure.around[of]]
            ends = {end for line in lines for end in self._ends(line)}
            width = self.structure.lines[lines[0]].width
            names = component_names(f"{of}.effort", width)
            if all(name in self.signals.known for name in names if name in self.structure.signals):
                continue
            element = next((v for v in map(self.structure.vertices.__getitem__, ends) if v.letter == "Se"), None)
            if element is not None and not element.modulated:
                effort = explicit_effort(self, element)
                assert effort is not None
                found |= vector_signals(f"{of}.effort", effort)
            else:
                for name in names:
                    if name in self.structure.signals:
                        self.signals.keep(name)
        return found

    def _ends(self, line: str) -> tuple[str, str]:
        return self.structure.lines[line].tail[0], self.structure.lines[line].head[0]

    # -- equations -----------------------------------------------------------------------------------------------

    def rate(self, expression: ca.SX, why: str) -> ca.SX:
        """d/dt of an expression of independent flows, displacements, integrals, inputs and time."""
        expression = self._without_late(self._put(self.signals.expand(expression)), why)
        free = column([self.kin.u[self.places[c]] for c in self.free_columns])
        expression = without(expression, free)
        if free.numel() and ca.depends_on(expression, free):
            raise FormulationError(
                f"the effort of {why} needs the rate of a flow that only resistances determine",
                where=why, remedy=f"Put a small I beside {why}, so that its flow has a state",
            )  # fmt: skip
        base, direction = self._base
        along = ca.jtimes(expression, base, direction) if base.numel() else ca.SX.zeros(*expression.shape)
        return ca.SX(along) + ca.jacobian(expression, self.values.t)

    def _without_late(self, expression: ca.SX, why: str) -> ca.SX:
        """An expression to be differentiated, with signals that are algebraic variables put in."""
        states = {each.name() for each in ca.vertsplit(self.state_symbols)} if self.state_symbols.numel() else set()
        late = {name: symbol for name, symbol in self.signals.late.items() if name not in states}
        for _ in range(len(late) + 1):
            inside = [name for name, symbol in late.items() if ca.depends_on(expression, symbol)]
            if not inside:
                return expression
            if any(split_signal(name, "effort") for name in inside):
                break
            values = column([self._late_value(name) for name in inside])
            expression = substitute(expression, column([late[name] for name in inside]), values)
            expression = self._put(self.signals.expand(expression))
        raise FormulationError(
            f"the effort of {why} needs the rate of the signal {listing(inside)}, which modulates its flow",
            where=why, expected="a modulus of states and time",
            remedy=f"Let an Integrator follow {inside[0]} with a lag, or put a C between {why} and the transformer",
        )  # fmt: skip

    @cached_property
    def _base(self) -> tuple[ca.SX, ca.SX]:
        """Everything that changes with time by itself, and its rates."""
        _, _, _, rates = self._states
        inputs, input_rates, _ = self.inputs
        tied_rates = column([self.kin.own_flow(name)[k] for name, k, _ in self.tied])
        base = ca.vertcat(self.state_symbols, inputs.symbols, self.tied_symbols)
        return base, ca.vertcat(self._put(self.signals.expand(rates)), input_rates, self._put(tied_rates))

    @cached_property
    def _dependent_efforts(self) -> dict[str, ca.SX]:
        """Rates of the momenta of linear I's that are no states, all at once."""
        names = [n for n in self.integral if n not in self.p_states and self.structure.vertices[n].law is None]
        momenta = [self.momenta_by_name[name] for name in names]
        if not names:
            return {}
        rates = self.rate(column(momenta), listing(names, 3))
        ends = np.cumsum([0, *(each.numel() for each in momenta)]).tolist()
        return {name: rates[ends[k] : ends[k + 1]] for k, name in enumerate(names)}

    @cached_property
    def ports(self) -> list[Port]:
        """Every port of an element with its effort; those that are unknown have symbols."""
        found: list[Port] = []
        for v in self.structure.vertices.values():
            if v.letter == "GY":
                found += gyrator_ports(self, v)
            elif v.letter in ONE_PORTS and (v.letter != "Sf" or v.name in self.closing):
                line = self.structure.around[v.name][0]
                found.append(Port(v.name, line.name, self.kin.own_flow(v.name), self._effort(v)))
        return found

    @cached_property
    def closing(self) -> dict[str, ca.SX]:
        """Efforts of flow sources that close loops, as unknowns; zero where a component is not needed."""
        efforts: dict[str, ca.SX] = {}
        for k, closure in enumerate(self.kin.closures):
            if closure.torn is None:
                own = efforts.setdefault(closure.vertex, ca.SX.zeros(self.structure.width(closure.vertex)))
                own[closure.k] = self.multipliers[k]
        return efforts

    @cached_property
    def multipliers(self) -> ca.SX:
        """Efforts of all closures."""
        return column([ca.SX.sym(f"{closure.name}.effort") for closure in self.kin.closures])

    def _effort(self, v: Vertex) -> ca.SX:
        if v.letter == "Sf":
            return self.closing[v.name]
        if v.letter == "I":
            if v.name in self.p_states:
                return self.p_rates[v.name]
            if v.law is None:
                return self._dependent_efforts[v.name]
            own, momentum = self.kin.own_flow(v.name), self.momenta_by_name[v.name]
            return ca.solve(ca.jacobian(ca.SX(self.law(v)(momentum)), momentum), self.rate(own, v.name))
        effort = explicit_effort(self, v)
        return self.unknown_efforts[v.name] if effort is None else effort

    @cached_property
    def unknown_efforts(self) -> dict[str, ca.SX]:
        """Efforts of R's whose law gives the flow."""
        return {
            v.name: column(
                [ca.SX.sym(each) for each in component_names(f"{v.name}.effort", self.structure.width(v.name))]
            )
            for v in self.structure.vertices.values()
            if v.letter == "R" and v.gives == "flow"
        }

    @cached_property
    def solved(self) -> tuple[Solved, ca.SX]:
        """All unknowns: rates, free flows, efforts, displacements of dependent C's and late signals."""
        u = self.kin.u
        torn = [
            Port(c.vertex, c.line, self.kin.closure_flow(c, ca.SX(0)), self.multipliers[k])
            for k, c in enumerate(self.kin.closures)
            if c.torn is not None
        ]
        rows = self._put(self.signals.expand(balance(self, [*self.ports, *torn])))
        equations: list[ca.SX] = []
        labels: list[str] = []
        unknown: list[ca.SX] = []

        def say(residual: ca.SX, label: str) -> None:
            equations.append(self._put(self.signals.expand(ca.SX(residual))))
            labels.append(label)

        for name, rates in self.p_rates.items():
            unknown += ca.vertsplit(rates)
            for c in self.columns_of(name):
                say(rows[self.places[c]], name)
        for k, c in enumerate(self.speed_columns):
            unknown.append(self.speeds[1][k])
            say(rows[self.places[c]], self.kin.columns[c].element)
        for c in self.free_columns:
            unknown.append(u[self.places[c]])
            row, name = rows[self.places[c]], self.kin.columns[c].element or self.kin.columns[c].line
            if c in self.dependent_displacements:
                self.tied_rows[c] = row
                unknown.append(self.storing[name][self.kin.columns[c].k])
                say(row, name)
                row = self.rate(row, name)
            say(row, name)
        for name, efforts in self.unknown_efforts.items():
            unknown += ca.vertsplit(efforts)
            for each in ca.vertsplit(ca.SX(self.law(self.structure.vertices[name])(efforts)) - self.kin.own_flow(name)):
                say(each, name)
        for name, momentum in self.momenta_by_name.items():
            vertex = self.structure.vertices[name]
            if name not in self.p_states and vertex.law is not None:
                unknown += ca.vertsplit(momentum)
                for each in ca.vertsplit(ca.SX(self.law(vertex)(momentum)) - self.kin.own_flow(name)):
                    say(each, name)
        for k, closure in enumerate(self.kin.closures):
            unknown.append(self.multipliers[k])
            say(self._closed(closure), closure.line)
        states = {each.name() for p in self.p_states.values() for each in ca.vertsplit(p)}
        for name, symbol in list(self.signals.late.items()):
            if name in states:
                continue
            unknown.append(symbol)
            say(symbol - self._late_value(name), name)
        self.hidden = tie_states(self, equations, unknown, labels)
        solved = solve_blocks(column(equations), column(unknown), labels)
        return solved, column(unknown)

    def _closure_flow(self, closure: Closure) -> ca.SX:
        """The flow of a closure, which must vanish."""
        torn = closure.torn is not None
        return self.kin.closure_flow(closure, ca.SX(0) if torn else self.source_values[closure.vertex][closure.k])

    def _closed(self, closure: Closure) -> ca.SX:
        """A closure on the level of accelerations, with a pull back onto it (Baumgarte)."""
        gap = self.structure.vertices[closure.vertex].gap if closure.torn is None else None
        flow = self._closure_flow(closure)
        held = self.rate(flow, closure.name) + 2 * PULL * flow
        return held if gap is None else held + PULL**2 * gap[closure.k]

    def _late_value(self, name: str) -> ca.SX:
        if name in self.signals.formulas:
            return self.signals.formulas[name]
        if found := split_signal(name, "effort"):
            of, label = found
            line = of if of in self.structure.lines else self.structure.around[of][0].name
            return self.all_efforts[self.kin.at(line, _place(label, self.structure.lines[line].width))]
        if found := split_signal(name, "momentum"):
            momentum = self.momenta_by_name[found[0]]
            return momentum[_place(found[1], momentum.numel())]
        of, label = split_signal(name, "flow") or (name, "")
        flow = self.kin.flow(of) if of in self.structure.lines else self.kin.shown_flow(of)
        return flow[_place(label, flow.numel())]

    @cached_property
    def all_efforts(self) -> ca.SX:
        """The efforts of all bonds."""
        held = {self.kin.at(c.line, c.k): self.multipliers[k] for k, c in enumerate(self.kin.closures)}
        return bond_efforts(self, self.ports, held)

    def _refuse_free_sources(self) -> None:
        for c in self.by_rank(EFFORT_SOURCE):
            column_ = self.kin.columns[c]
            line = self.structure.lines[column_.line]
            others = self._fighting(c)
            self._refuse_massless([column_.element, *others], str(line))
            raise FormulationError(
                f"the effort sources {listing([column_.element, *others])} are in conflict: they set the same effort"
                if others
                else f"nothing limits the flow of {column_.element}: it drives neither an I nor an R nor a C",
                where=str(line),
                expected="an effort that one source sets alone"
                if others
                else "an I, an R or a C that takes the effort",
                remedy="Put an R between them on a 1 junction, or remove one" if others else "Add what it drives",
            )

    def _refuse_massless(self, free: list[str], where: str) -> None:
        """Refuse flows at ends where no effort acts, and that nothing else determines."""
        vertices = [self.structure.vertices[name] for name in free]
        if all(vertex.given.is_zero() for vertex in vertices):
            owners = dict.fromkeys(vertex.owner for vertex in vertices)
            raise FormulationError(
                f"nothing with inertia or resistance moves with {listing(free)}, so that no equation gives the flow",
                where=where,
                expected="an I or an R that moves with it",
                remedy=f"Give what is {'between' if len(owners) > 1 else 'at'} {listing(owners)} a small mass and "
                "inertia, or add an R (damping) to it",
            )

    def _fighting(self, c: int) -> list[str]:
        """Sources of effort whose flow depends on a free one."""
        own = self.kin.columns[c].element
        return [
            v.name
            for v in self.structure.vertices.values()
            if v.letter == "Se"
            and v.name != own
            and ca.depends_on(self.kin.own_flow(v.name), self.kin.u[self.places[c]])
        ]

    # -- start, diagnostics --------------------------------------------------------------------------------------------

    def _start(self, starts: ca.SX, own: ca.SX) -> Callable[[Array, float], Array]:
        values = self.values
        modes = column([mode.value for mode in values.modes])
        known = [values.p.symbols, values.t]

        def at(expression: ca.SX) -> ca.SX:
            expression = substitute(expression, self.inputs[0].symbols, self.inputs[2])
            return ca.densify(substitute(expression, values.mode_symbols, modes))

        given = ca.Function("start", known, [at(starts)])
        momenta = ca.vertcat(*self.p_states.values(), self.speeds[0])
        moving = sum(bool(ca.depends_on(momenta, each)) for each in ca.vertsplit(own)) if momenta.numel() else 0
        flows = self._put(self.signals.expand(column([self._closure_flow(c) for c in self.kin.closures])))
        asked = GivenStarts(self, own, at)
        closed = ca.Function("closed", [own, *known], [at(flows), at(ca.jacobian(flows, own[:moving]))])

        def start(p: Array, t: float) -> Array:
            x = asked.fit(np.asarray(given(p, t), dtype=float).ravel(), p, t)
            for _ in range(3 if self.kin.closures and moving else 0):  # flows that the closures allow
                off, slope = (np.asarray(each, dtype=float) for each in closed(x, p, t))
                x[:moving] -= np.linalg.lstsq(slope, off.ravel(), rcond=1e-10)[0]
            return x

        return start

    def _smooth(self, rates: ca.SX) -> tuple[SmoothInput, ...]:
        inputs, input_rates, _ = self.inputs
        found = []
        for k, name in enumerate(inputs.names):
            if ca.depends_on(rates, input_rates[k]):
                owner = name.rpartition(".effort")[0] or name.rpartition(".flow")[0]
                tied = [each for each, integral in self.integral.items() if not integral]
                tied = tied or [n for n, _, _ in self.tied] or list(self.hidden)
                why = f"{listing(tied) or 'a storage'} has derivative causality behind {owner}"
                remedy = "Put an R between the source and the storage, or let the source ramp"
                found.append(SmoothInput(k, why, "an infinite effort or flow", remedy))
        return tuple(found)

    def _diagnostics(self, solved: Solved, unknown: ca.SX) -> tuple[Diagnostic, ...]:
        names = [name for name in self._states[0] if name not in self.hidden]
        words = f": {listing(names, 20)}" if names else ""
        found = [diagnose("network-states", *names, count=len(names), names=words)]
        tied = [(name, "I", "flow") for name, integral in self.integral.items() if not integral]
        tied += [(name, "C", "effort") for name, _, _ in self.tied]
        found += [diagnose("derivative-causality", name, what=what, variable=value) for name, what, value in tied]
        found += [diagnose("hidden-state", name) for name in self.hidden]
        found += [diagnose("loop-closure", c.vertex, line=c.line) for c in self.kin.closures]
        for loop in solved.loops:
            how = "solved at run time" if set(loop) & set(solved.algebraic) else "solved in closed form"
            words = listing([unknown[k].name() for k in loop])
            found.append(diagnose("algebraic-loop", count=len(loop), how=how, names=words))
        return tuple(found)
