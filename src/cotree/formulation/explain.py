"""From terminal to system equations, in words and formulas."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import casadi as ca

from cotree.formulation.choice import is_machine, model_equations, model_graph, model_tree
from cotree.formulation.network import normal_tree
from cotree.formulation.storages import SOURCES
from cotree.formulation.system import SystemEquations, rate_name
from cotree.formulation.values import Terminal, Values
from cotree.graph import LinearGraph, Tree, explain_graph
from cotree.graph.equations import subscript
from cotree.maths.named import latex_name
from cotree.maths.printing import to_latex, to_text
from cotree.maths.symbolic import elements
from cotree.model import Edge, Model, quantities
from cotree.model.expression import TIME


def explain_network(model: Model, graph: LinearGraph, tree: Tree, equations: SystemEquations, most: int = 12) -> str:
    """Graph -> tree -> counts -> topological, terminal and system equations; lists are cut after ``most`` lines."""
    e = graph.e
    counts = [
        "Counts",
        f"  {2 * e} unknowns: a through and an across variable for each of {e} edges",
        f"  {graph.rank} cutset + {graph.nullity} circuit + {e} terminal equations",
    ]
    terminal = ["Terminal equations", *_cut((f"  {line}" for line in terminal_equations(model)), most, "equations")]
    system = ["System equations", *(f"  {note}" for note in equations.notes)]
    system += _cut((f"  {line}" for line in state_equations(equations)), most, "equations")
    start = zip(equations.u.names, equations.u.start.tolist(), equations.u.units, strict=True)
    begin = ["Start", *_cut((f"  {name} = {value:g} {unit}".rstrip() for name, value, unit in start), most, "states")]
    parts = [explain_graph(graph, tree, most), *("\n".join(part) for part in (counts, terminal, system, begin))]
    return "\n\n".join([model.name, *parts])


def explain_model(model: Model, tree: Any = None, most: int = 12) -> str:
    """The way from the graph to the equations of a model, with a tree or the default one."""
    if model.nodal:
        from cotree.formulation.branch.explain import explain_mechanism

        tree = model_tree(model, model_graph(model), tree)
        return explain_mechanism(model, (tree, tree), model_equations(model), most)
    if is_machine(model):
        return _explain_machine(model, tree, most)
    if not model.mechanical:
        chosen = normal_tree(model_graph(model)) if tree is None else tree
        return explain_network(model, chosen.graph, chosen, model_equations(model, chosen), most)
    from cotree.formulation.branch import mechanism_trees
    from cotree.formulation.branch.explain import explain_mechanism

    trees = mechanism_trees(model_graph(model), tree)
    return explain_mechanism(model, trees, model_equations(model, trees), most)


def _explain_machine(model: Model, tree: Any, most: int) -> str:
    from cotree.formulation.branch.explain import explain_mechanism
    from cotree.formulation.machine.explain import sections

    pair = tuple(tree) if isinstance(tree, (tuple, list)) else (tree,)
    trees = [model_tree(model, model_graph(model), each) for each in pair]
    equations = model_equations(model, tree)
    if model.mechanical:
        first = explain_mechanism(model, (trees[0], trees[-1]), equations, most)
    else:
        first = explain_network(model, trees[0].graph, trees[0], equations, most)
    return "\n\n".join([first, *sections(model, equations, most)])


def equations_latex(model: Model, equations: SystemEquations) -> Iterable[str]:
    """The equations of a network or a mechanism in LaTeX, one for each line."""
    if equations.mechanics is None:
        return state_equations_latex(model, equations)
    from cotree.formulation.branch.explain import mechanism_latex

    lines = mechanism_latex(model, equations)
    return itertools.chain(lines, _further_latex(model, equations))


def _further_latex(model: Model, equations: SystemEquations) -> Iterator[str]:
    """Rates of the states of networks and blocks beside a mechanism, and its sources."""
    name = latex_namer(model)
    for k, state in enumerate(equations.x.names):
        yield rf"\dot{{{name(state)}}} = {to_latex(equations.x_rates[k], name)}"
    yield from _inputs_latex(equations, name)


def terminal_residuals(model: Model) -> Iterator[tuple[Edge, ca.SX]]:
    """Each edge with the residual of its terminal equation, in symbols with the names of results."""
    if is_machine(model):
        from cotree.formulation.machine.explain import network_residuals

        yield from network_residuals(model)
        return
    values, parameters = Values(model), model.parameter_values()
    for component in model.components.values():
        edges = component.edges()
        fields = values.of(component)
        if edges[0].role in SOURCES:  # the field of a source has the name of the variable that it drives
            for field, number in component.values(parameters).items():
                if not component.expressions[field].names:
                    setattr(fields, field, ca.SX(number))
        terminals = []
        for edge in edges:
            names = (edge.across[0], edge.through[0], rate_name(edge.across[0]), rate_name(edge.through[0]))
            terminals.append(Terminal(*(ca.SX.sym(name) for name in names)))
        for edge, residual in zip(edges, component.law(fields, *terminals), strict=True):
            yield edge, ca.SX(residual)


def terminal_equations(model: Model) -> Iterator[str]:
    """One line for each terminal equation: ``R3.voltage - R3.resistance*R3.current = 0``."""
    return (f"{to_text(residual)} = 0" for _, residual in terminal_residuals(model))


def input_signals(equations: SystemEquations) -> list[ca.SX]:
    """The signal of each input; the number where it is a constant, whose symbol has the name of the input."""
    numbers = dict(zip(equations.p.names, equations.p.start.tolist(), strict=True))
    signals = elements(equations.signals)
    named = zip(equations.inputs.names, signals, strict=True)
    return [
        ca.SX(numbers[name]) if name in numbers and signal.is_symbolic() and signal.name() == name else signal
        for name, signal in named
    ]


def state_equations(equations: SystemEquations) -> Iterable[str]:
    """One line for each rate and each algebraic equation."""
    for k, name in enumerate(equations.u.names):
        yield f"{rate_name(name)} = {to_text(equations.rates[k])}"
    for k in range(len(equations.w)):
        yield f"0 = {to_text(equations.algebraic[k])}"
    for name, signal in zip(equations.inputs.names, input_signals(equations), strict=True):
        yield f"{name} = {to_text(signal)}"


def state_equations_latex(model: Model, equations: SystemEquations) -> Iterable[str]:
    """The state and algebraic equations in LaTeX, with the symbols of the domains and components."""
    name = latex_namer(model)
    for k, state in enumerate(equations.u.names):
        yield rf"\dot{{{name(state)}}} = {to_latex(equations.rates[k], name)}"
    for k in range(len(equations.w)):
        yield f"0 = {to_latex(equations.algebraic[k], name)}"
    yield from _inputs_latex(equations, name)


def _inputs_latex(equations: SystemEquations, name: Callable[[str], str]) -> Iterator[str]:
    """What sources give."""
    for source, signal in zip(equations.inputs.names, input_signals(equations), strict=True):
        yield f"{name(source)} = {to_latex(signal, name)}"


def latex_namer(model: Model) -> Callable[[str], str]:
    """How LaTeX writes the names of variables, values and signals of a model."""
    symbols = latex_symbols(model)

    def name(text: str) -> str:
        if text in symbols or text == TIME:
            return symbols.get(text, text)
        rate = re.fullmatch(r"d\((.+)\)/dt", text)
        return rf"\dot{{{name(rate[1])}}}" if rate else latex_name(text.replace("_", " "))

    return name


def latex_symbols(model: Model) -> dict[str, str]:
    """Symbols of all variables and values by dotted name: ``R3.resistance`` is ``R_{3}``, ``L1.current`` ``i_{L1}``."""
    result: dict[str, str] = {}
    for component in model.components.values():
        for edge in component.edges():
            mark, domain = subscript(edge.name), edge.domain
            for variable, symbol in ((domain.across, domain.across_symbol), (domain.through, domain.through_symbol)):
                result[f"{edge.name}.{variable}"] = f"{symbol}_{{{mark}}}"
                result[rate_name(f"{edge.name}.{variable}")] = rf"\dot{{{symbol}}}_{{{mark}}}"
        for field, info in quantities(component).items():
            letter, _, index = info.symbol.partition("_")
            own = component.name[len(letter) :] if letter and component.name.startswith(letter) else ""
            mark = own if own.isdigit() else subscript(component.name)
            whole = ",".join(part for part in (index, mark) if part)
            symbol = letter or rf"\mathrm{{{field.replace('_', ' ')}}}"
            result.setdefault(f"{component.name}.{field}", f"{symbol}_{{{whole}}}")
    return result


def _cut(lines: Iterable[str], most: int, what: str) -> list[str]:
    every = list(lines)
    return every if len(every) <= most else [*every[:most], f"  ... and {len(every) - most} more {what}"]
