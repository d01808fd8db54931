"""Scalar networks: from graph and terminal equations to state equations.

The tree's across variables and the cotree's through variables are the primary unknowns; the cutset and circuit
equations give all others (McPhee 1996, eq. 9 and 12), and one terminal equation for each edge closes the system. The
storage variables that a normal tree leaves independent are the states; what remains is solved block by block. Any
spanning tree gives the same states and the same results: the tree only chooses the primary unknowns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError, listing
from cotree.formulation.blocks import CLOSED_FORM, Solved, solve_blocks
from cotree.formulation.network_results import NetworkResults
from cotree.formulation.network_start import StartValues
from cotree.formulation.storages import SOURCES, STORAGES, Functionals, Storages, by_elimination, by_normal_tree
from cotree.formulation.system import SmoothInput, SystemEquations, Variables, rate_name
from cotree.formulation.values import Terminal, Values
from cotree.graph import LinearGraph, Tree, across_source_loops, select_tree, through_source_cutsets
from cotree.maths.symbolic import column, elements, from_sparse, substitute, symbols
from cotree.model import Edge, Model, Role
from cotree.system import Diagnostic, diagnose

LARGEST_TIE = 60
"""Most simultaneous equations through which a storage may depend on others in a coupled network."""


def network_graph(model: Model) -> LinearGraph:
    """The linear graph of a checked model."""
    model.check()
    return LinearGraph(model.edges(), model.datums)


def normal_tree(graph: LinearGraph) -> Tree:
    """The normal tree, or a `FormulationError` that names a loop of across sources or a cutset of through sources."""
    tree = select_tree(graph, prefer="normal")
    for loop in across_source_loops(tree):
        word = graph[loop.edge].domain.across.replace("_", " ")
        raise FormulationError(
            f"the {word} sources {listing(loop.names)} form a loop"
            if len(loop.names) > 1
            else f"both ends of the {word} source {loop.edge} are at the node {graph[loop.edge].head}",
            where=graph[loop.edge].component,
            expected="a loop with at least one component that can take up the difference",
            remedy="Put a spring or a damper between them, or move the joint by a drive"
            if word.endswith("velocity")
            else "Put a resistance in series with one of them, or remove one",
        )
    for cutset in through_source_cutsets(tree):
        word = graph[cutset.edge].domain.through.replace("_", " ")
        raise FormulationError(
            f"the {word} sources {listing(cutset.names)} form a cutset, so nothing else can carry their difference"
            if len(cutset.names) > 1
            else f"the {word} source {cutset.edge} has no way back",
            where=graph[cutset.edge].component,
            expected="a path for the through variable besides the sources",
            remedy="Put a resistance in parallel with one of them, or remove one",
        )
    return tree


def network_equations(model: Model, tree: Tree | None = None) -> SystemEquations:
    """The state equations of a scalar network, written with ``tree`` or, by default, with the normal tree."""
    graph = network_graph(model)
    normal = normal_tree(graph)
    if tree is not None and tree.graph != graph:
        tree = Tree(graph, tree.branches)
    return Network(model, graph, normal, tree or normal).equations()


@dataclass(frozen=True)
class Surroundings:
    """What a network shares with the machine around it."""

    whole: Model
    """The model of the machine."""
    values: Values
    positions: Mapping[str, ca.SX] = field(default_factory=dict)
    """Positions of mechanical ports by edge."""
    held: Mapping[str, Mapping[str, ca.SX]] = field(default_factory=dict)
    """Symbols of held values by component."""


class Network:
    """One derivation, step by step; every property is one step."""

    def __init__(
        self, model: Model, graph: LinearGraph, normal: Tree, tree: Tree, around: Surroundings | None = None
    ) -> None:
        self.model, self.graph, self.normal, self.tree = model, graph, normal, tree
        self.around = Surroundings(model, Values(model)) if around is None else around
        self.values = self.around.values
        self.closed_form = CLOSED_FORM if around is None else LARGEST_TIE
        self.primary = [graph[name].across for name in tree.branches] + [graph[name].through for name in tree.chords]
        self.y = symbols([name for name, _ in self.primary])
        self.d_across = {edge.name: ca.SX.sym(rate_name(edge.across[0])) for edge in graph.edges}
        self.d_through = {edge.name: ca.SX.sym(rate_name(edge.through[0])) for edge in graph.edges}
        self.coupled = any(
            len(c.ports) > 1 and any(port.role is Role.STATIC for port in c.ports) for c in model.components.values()
        )

    @cached_property
    def topology(self) -> tuple[dict[str, ca.SX], dict[str, ca.SX]]:
        """Across and through variables of every edge in the primary variables (McPhee 1996, eq. 9 and 12)."""
        n = len(self.tree.branches)
        across_t, through_c = ca.vertsplit(self.y, [0, n, self.y.numel()])
        a_c = from_sparse(self.tree.cutset_part().sparse)
        across_c, through_t = ca.mtimes(a_c.T, across_t), -ca.mtimes(a_c, through_c)
        names = (*self.tree.branches, *self.tree.chords)
        across = dict(zip(names, elements(across_t) + elements(across_c), strict=True))
        through = dict(zip(names, elements(through_t) + elements(through_c), strict=True))
        return across, through

    @cached_property
    def terminals(self) -> dict[str, tuple[Terminal, ...]]:
        """For each component, the variables of its edges."""
        across, through = self.topology
        return {
            component.name: tuple(
                Terminal(
                    across[e.name],
                    through[e.name],
                    self.d_across[e.name],
                    self.d_through[e.name],
                    self.around.positions.get(e.name),
                )
                for e in component.edges()
            )
            for component in self.model.components.values()
        }

    @cached_property
    def symbolic_values(self) -> dict[str, object]:
        """The fields of each component as symbols."""
        result: dict[str, object] = {}
        for name, component in self.model.components.items():
            result[name] = v = self.values.of(component)
            v.__dict__.update(self.around.held.get(name, {}))
        return result

    @cached_property
    def inputs(self) -> tuple[Variables, ca.SX, ca.SX]:
        """Symbols of the source signals, of their rates, and the signals themselves."""
        sources = [edge for edge in self.graph.edges if edge.role in SOURCES]
        inputs = Variables.make([edge.leading[0] for edge in sources], [edge.leading[1] for edge in sources])
        components: list[Any] = [self.model.components[edge.component] for edge in sources]
        signals = [
            component.signal(self.symbolic_values[component.name]) if hasattr(component, "signal") else ca.SX(0)
            for component in components
        ]
        return inputs, symbols([rate_name(name) for name in inputs.names]), column(signals)

    @cached_property
    def laws(self) -> list[tuple[Edge, ca.SX]]:
        """One residual for each edge, in the order of the graph; sources equal their input symbol."""
        across, through = self.topology
        inputs = iter(elements(self.inputs[0].symbols))
        result = []
        for component in self.model.components.values():
            edges = component.edges()
            if edges[0].role in SOURCES:
                for edge in edges:
                    driven = across if edge.role is Role.ACROSS_SOURCE else through
                    result.append((edge, driven[edge.name] - next(inputs)))
                continue
            known = (self.symbolic_values[component.name], *self.terminals[component.name])
            inverse = component.inverse_law(*known) if self._through_is_given(edges) else None
            law = component.law(*known) if inverse is None else inverse
            result.extend(zip(edges, (ca.SX(residual) for residual in law), strict=True))
        return result

    def _through_is_given(self, edges: Sequence[Edge]) -> bool:
        """Whether storages and sources in series with an edge fix its through variable."""
        name, given = edges[0].name, (Role.THROUGH_STORAGE, Role.THROUGH_SOURCE)
        if len(edges) > 1 or name not in self.normal.branches:
            return False
        return all(self.graph[other].role in given for other in self.normal.equation(name).signs if other != name)

    def storage_variable(self, name: str) -> ca.SX:
        """The variable whose rate the storage's law contains."""
        across, through = self.topology
        return across[name] if self.graph[name].role is Role.ACROSS_STORAGE else through[name]

    def conjugate_variable(self, name: str) -> ca.SX:
        """The other variable of a storage."""
        across, through = self.topology
        return through[name] if self.graph[name].role is Role.ACROSS_STORAGE else across[name]

    @cached_property
    def storages(self) -> Storages:
        """Independent and dependent storages."""
        return self._classified(self.values.p.start) if self.coupled else by_normal_tree(self.graph, self.normal)

    def numbers(self, changes: Mapping[str, float] | None) -> NDArray[np.float64]:
        """Checked numeric p; in a coupled network a value may change which storages are independent."""
        p = self.values.numbers(changes)
        if changes and self.coupled:
            then = set(self._classified(p).independent)
            differing = then ^ set(self.storages.independent)
            if differing:
                raise FormulationError(
                    f"with {listing(changes)} changed, the storage {listing(sorted(differing))} becomes "
                    f"{'independent' if then & differing else 'dependent'}, so these equations no longer hold",
                    remedy="Build the model with the new value",
                )
        return p

    def _classified(self, p: NDArray[np.float64]) -> Storages:
        """Storages by the rank of the laws, at parameter values p."""
        static = [(edge, law) for edge, law in self.laws if edge.role is Role.STATIC]
        laws = self._rows([law for _, law in static], p)
        nonlinear = {edge.component for edge, law in static if ca.depends_on(ca.jacobian(law, self.y), self.y)}
        sources = [(edge.name, law) for edge, law in self.laws if edge.role in SOURCES]
        stored = [edge.name for edge in self.graph.edges if edge.role in STORAGES]
        return by_elimination(
            Functionals(
                laws=[(edge.component, row) for (edge, _), row in zip(static, laws, strict=True)],
                nonlinear=frozenset(nonlinear),
                sources=self._named_rows(dict(sources), p),
                storages=self._named_rows({name: self.storage_variable(name) for name in stored}, p),
                conjugates=dict(self._named_rows({name: self.conjugate_variable(name) for name in stored}, p)),
                count=self.y.numel(),
            )
        )

    def _named_rows(self, named: Mapping[str, ca.SX], p: NDArray[np.float64]) -> list[tuple[str, dict[int, float]]]:
        return list(zip(named, self._rows(list(named.values()), p), strict=True))

    def _rows(self, expressions: list[ca.SX], p: NDArray[np.float64]) -> list[dict[int, float]]:
        """Numeric gradients with respect to y, at parameters p and a point without special values."""
        jacobian = ca.jacobian(column(expressions), self.y)
        known = [self.y, self.values.p.symbols, self.values.t, self.inputs[0].symbols]
        random = np.random.default_rng(0)
        point, time = 1e-3 * (1.0 + random.random(self.y.numel())), 1e-3 * (1.0 + random.random())
        zeros = np.zeros(len(self.inputs[0]))
        told = {symbol.element_hash() for part in known for symbol in elements(part)}
        others = [symbol for symbol in ca.symvar(jacobian) if symbol.element_hash() not in told]  # modes, signals
        numeric = ca.Function("rows", [*known, column(others)], [jacobian])(
            point, p, time, zeros, 0.3 + 0.4 * random.random(len(others))
        )
        rows, cols = jacobian.sparsity().get_triplet()
        result: list[dict[int, float]] = [{} for _ in expressions]
        for row, col, value in zip(rows, cols, numeric.nonzeros(), strict=True):
            result[row][col] = value
        return result

    @cached_property
    def states(self) -> Variables:
        """The variables of the independent storages."""
        pairs = [self.graph[name].leading for name in self.storages.independent]
        return Variables.make([name for name, _ in pairs], [unit for _, unit in pairs])

    @cached_property
    def x_dot(self) -> ca.SX:
        """Symbols of the states' rates."""
        return symbols([rate_name(name) for name in self.states.names])

    @cached_property
    def ties(self) -> ca.SX:
        """Dependent storage variables in the states and inputs."""
        if not self.storages.dependent:
            return ca.SX(0, 1)
        return self._ties_by_elimination() if self.coupled else self._ties_by_normal_tree()

    def _ties_by_normal_tree(self) -> ca.SX:
        """The circuit of a dependent across storage and the cutset of a dependent through storage, solved for it."""
        sources = [edge.name for edge in self.graph.edges if edge.role in SOURCES]
        symbols = elements(self.states.symbols) + elements(self.inputs[0].symbols)
        known = dict(zip((*self.storages.independent, *sources), symbols, strict=True))
        signs = (self.normal.equation(name).signs.items() for name in self.storages.dependent)
        dependent = self.storages.dependent
        return column([-sum(sign * known[name] for name, sign in row if name not in dependent) for row in signs])

    def _ties_by_elimination(self) -> ca.SX:
        """The same in a coupled network.

        All laws but those of storages, with the states, the inputs and the conjugates of dependent storages taken as
        known, fix the primary variables. The conjugates drop out of the dependent storage variables, so they are put
        to zero.
        """
        dependent = list(self.storages.dependent)
        equations = [law for edge, law in self.laws if edge.role not in STORAGES]
        labels = [edge.component for edge, _ in self.laws if edge.role not in STORAGES]
        equations += self._state_identities() + [self.conjugate_variable(name) for name in dependent]
        labels += [*self.storages.independent, *dependent]
        wanted = column([self.storage_variable(name) for name in dependent])
        solved = solve_blocks(column(equations), self.y, labels, closed_form=LARGEST_TIE)
        tied = substitute(wanted, self.y, solved.values)
        if self.values.modes and ca.depends_on(tied, self.values.mode_symbols):
            raise FormulationError(
                f"the storages {listing(dependent)} depend on others through a component that switches",
                remedy="Add a small resistance beside one of them",
            )
        if solved.algebraic and ca.depends_on(tied, self.y):
            raise FormulationError(
                f"the storages {listing(dependent)} depend on others through a nonlinear component, or through more "
                f"than {LARGEST_TIE} equations at once",
                remedy="Add a small resistance in series with one of them",
            )
        return tied

    def _state_identities(self) -> list[ca.SX]:
        return [
            self.storage_variable(name) - self.states.symbols[k] for k, name in enumerate(self.storages.independent)
        ]

    @cached_property
    def storage_rates(self) -> dict[str, ca.SX]:
        """The rate of each storage variable in the rates of states and inputs."""
        rates = {name: self.x_dot[k] for k, name in enumerate(self.storages.independent)}
        inputs, input_rates, _ = self.inputs
        tied = ca.jtimes(self.ties, self.states.symbols, self.x_dot) if len(self.states) else 0
        driven = ca.jtimes(self.ties, inputs.symbols, input_rates) if len(inputs) else 0
        own = ca.jacobian(self.ties, self.values.t)  # a law with a signal in it may tie storages, too
        total = ca.SX(tied) + ca.SX(driven) + own
        return rates | {name: total[k] for k, name in enumerate(self.storages.dependent)}

    @cached_property
    def solved(self) -> Solved:
        """Primary variables and rates of the states, from all laws."""
        known = {edge.name: edge for edge in self.graph.edges if edge.role in STORAGES}
        symbol = [
            (self.d_across if edge.role is Role.ACROSS_STORAGE else self.d_through)[name]
            for name, edge in known.items()
        ]
        laws = column([law for _, law in self.laws])
        laws = substitute(laws, column(symbol), column([self.storage_rates[name] for name in known]))
        equations = ca.vertcat(laws, column(self._state_identities()))
        labels = [edge.component for edge, _ in self.laws] + list(self.storages.independent)
        return solve_blocks(equations, ca.vertcat(self.y, self.x_dot), labels, closed_form=self.closed_form)

    def equations(self) -> SystemEquations:
        """Everything put together."""
        w, values, algebraic = self.found
        inputs, input_rates, signals = self.inputs
        results, start = self.results, self.start
        return SystemEquations(
            name=self.model.name,
            t=self.values.t,
            p=self.values.p,
            u=Variables(self.states.symbols, self.states.names, self.states.units, start(self.values.p.start, 0.0)),
            u_dot=self.x_dot,
            rates=values[self.y.numel() :],
            energy=results.energy(),
            outputs=results.outputs(),
            w=w,
            algebraic=algebraic,
            inputs=inputs,
            input_rates=input_rates,
            signals=signals,
            modes=tuple(self.values.modes),
            mode_symbols=self.values.mode_symbols,
            smooth_inputs=self.smooth_inputs(),
            integrals=results.integrals(),
            laws=self.values.laws,
            behind=self._behind(),
            parameter_values=self.numbers,
            start=start,
            diagnostics=self.diagnostics,
        )

    def _behind(self) -> tuple[ca.SX, ca.SX]:
        """The symbols of the laws, and what stands behind them."""
        inside = column(ca.symvar(column([*self.values.laws.values()])))
        return inside, self.explicit(inside)

    @cached_property
    def found(self) -> tuple[Variables, ca.SX, ca.SX]:
        """Algebraic variables, then primary variables and rates of the states in them, and the algebraic equations."""
        solved, unknowns = self.solved, ca.vertcat(self.y, self.x_dot)
        kept = list(solved.algebraic)
        w = self._algebraic_variables(kept)
        values, equations = (substitute(part, unknowns[kept], w.symbols) for part in (solved.values, solved.equations))
        return w, values, equations

    def explicit(self, expression: ca.SX) -> ca.SX:
        """An expression of the primary variables in states, inputs and their rates."""
        _, values, _ = self.found
        return substitute(ca.SX(expression), ca.vertcat(self.y, self.x_dot), values)

    @cached_property
    def results(self) -> NetworkResults:
        """What the network shows."""
        return NetworkResults(self.model, self.tree, self.terminals, self.symbolic_values, self.explicit)

    @cached_property
    def start(self) -> StartValues:
        """Start values of the states."""
        whole = self.around.whole
        return StartValues(whole, self.model, self.storages, self.values.p, self._ties_function())

    def _algebraic_variables(self, kept: list[int]) -> Variables:
        rates = zip(map(rate_name, self.states.names), (f"{unit}/s" for unit in self.states.units), strict=True)
        every = [*self.primary, *rates]
        return Variables.make([every[k][0] for k in kept], [every[k][1] for k in kept])

    def _ties_function(self) -> ca.Function:
        inputs, _, signals = self.inputs
        at_start = substitute(self.ties, inputs.symbols, signals)
        modes = column([mode.value for mode in self.values.modes])
        at_start = substitute(at_start, self.values.mode_symbols, modes)
        known = [self.states.symbols, self.values.p.symbols, self.values.t]
        own = {symbol.element_hash() for symbol in elements(ca.vertcat(*known))}
        strange = [symbol for symbol in ca.symvar(at_start) if symbol.element_hash() not in own]
        at_start = substitute(at_start, column(strange), 0)  # signals: refused where their rates are needed
        return ca.Function("ties", known, [at_start])

    def smooth_inputs(self) -> tuple[SmoothInput, ...]:
        """Inputs to which storages are tied."""
        inputs, _, _ = self.inputs
        found = []
        for k, name in enumerate(self.storages.dependent):
            for j in range(len(inputs)):
                if ca.depends_on(self.ties[k], inputs.symbols[j]):
                    others = listing(self.storages.dependent[name])
                    found.append(SmoothInput(j, f"the storage {name} is tied to it (through {others})"))
        return tuple(found)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """States, dependent storages and algebraic loops."""
        count, solved = len(self.states), self.solved
        names = f": {listing(self.states.names, 20)}" if count else ""
        found = [diagnose("network-states", *self.states.names, count=count, names=names)]
        found = found if count or not self.around.whole.mechanical else []
        for name, tied in self.storages.dependent.items():
            why = f"it follows from {listing(tied)}" if tied else "its connections alone keep it at zero"
            found.append(diagnose("dependent-storage", name, why=why))
        unknowns = ca.vertcat(self.y, self.x_dot)
        for loop in solved.loops:
            names = listing([unknowns[k].name() for k in loop])
            how = "solved at run time" if set(loop) & set(solved.algebraic) else "solved in closed form"
            found.append(diagnose("algebraic-loop", count=len(loop), how=how, names=names))
        return tuple(found)
