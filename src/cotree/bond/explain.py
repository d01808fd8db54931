"""A bond graph explained: elements, bonds, causality, states and equations, as text and as LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from cotree.bond.causality import Causality, assign
from cotree.bond.opening import open_graph
from cotree.bond.structural import Structural, structural
from cotree.bond.structure import BondStructure
from cotree.formulation.branch.explain import mechanism_latex, text_equations
from cotree.formulation.explain import input_signals, state_equations
from cotree.formulation.latex import document
from cotree.formulation.system import SystemEquations
from cotree.graph.equations import subscript
from cotree.maths.printing import to_latex
from cotree.model import Model

LETTERS = {
    "momentum": "p", "displacement": "q", "effort": "e", "flow": "f", "inertia": "I", "compliance": "C",
    "stiffness": "k", "resistance": "R", "conductance": "G", "modulus": "m",
}  # fmt: skip
"""How formulas write variables and values of elements."""


def model_causality(model: Model) -> Causality:
    """The causality of a bond graph, assigned step by step."""
    return assign(open_graph(model))


def model_structural(model: Model, outputs: Iterable[str] = ()) -> Structural:
    """Order, controllability and observability of a bond graph."""
    return structural(open_graph(model), outputs=tuple(outputs))


def explain_bond_graph(model: Model, equations: SystemEquations, most: int = 12) -> str:
    """Counts, bonds, causality and equations of a bond graph."""
    structure = open_graph(model)
    counts = Counter(vertex.shown for vertex in structure.vertices.values())
    wide = sum(line.width > 1 for line in structure.lines.values())
    lines = [
        model.name,
        "",
        "Bond graph",
        "  " + ", ".join(f"{count} {letter}" for letter, count in counts.items()),
        f"  {len(structure.lines)} bonds, of which {wide} are multibonds",
        *_cut((f"  {_bond(structure, name)}" for name in structure.lines), most, "bonds"),
        "",
        "Causality",
        *_cut((f"  {line}" for line in assign(structure).text().splitlines()), 4 * most, "lines"),
        "",
        "System equations",
        *(f"  {note}" for note in equations.notes),
    ]
    if equations.mechanics is None:
        lines += _cut((f"  {line}" for line in state_equations(equations)), most, "equations")
    else:
        lines += [f"  {line}" for line in text_equations(equations, most)]
    columns = (equations.q, equations.u)
    start = (
        f"  {name} = {value:g} {unit}".rstrip()
        for each in columns
        for name, value, unit in zip(each.names, each.start.tolist(), each.units, strict=True)
    )
    return "\n".join([*lines, "", "Start", *_cut(start, most, "states")])


def _bond(structure: BondStructure, name: str) -> str:
    line = structure.lines[name]
    width = f", width {line.width}" if line.width > 1 else ""
    ends = [f"{structure.vertices[end].shown} {end}" for end in (line.tail[0], line.head[0])]
    return f"{name}: {ends[0]} -> {ends[1]}{width}"


def bond_graph_latex(model: Model, equations: SystemEquations) -> str:
    """The same with headings, as a piece of a document."""
    return document(model.name, [("System equations", bond_latex(model, equations))])


def bond_latex(model: Model, equations: SystemEquations) -> Iterator[str]:
    """The equations in LaTeX: in state form p, q, e and f with the element as index."""
    if equations.mechanics is not None:
        yield from mechanism_latex(model, equations)
        return
    symbol = latex_symbol()
    for k, name in enumerate(equations.u.names):
        yield rf"{_dotted(symbol(name))} = {to_latex(equations.rates[k], symbol)}"
    for k in range(len(equations.w)):
        yield f"0 = {to_latex(equations.algebraic[k], symbol)}"
    for name, signal in zip(equations.inputs.names, input_signals(equations), strict=True):
        yield f"{symbol(name)} = {to_latex(signal, symbol)}"


def _dotted(symbol: str) -> str:
    """A dot above the letter alone, not above its subscript."""
    letter, line, below = symbol.partition("_{")
    return rf"\dot{{{letter}}}{line}{below}"


def latex_symbol() -> Callable[[str], str]:
    """How LaTeX writes a name: ``L.momentum`` is ``p_{L}``, ``R.resistance`` is ``\\mathrm{resistance}_{R}``."""

    def symbol(name: str) -> str:
        if name == "t":
            return "t"
        if name.startswith("d(") and name.endswith(")/dt"):
            return _dotted(symbol(name[2:-4]))
        parts = name.split(".")
        for k, part in enumerate(parts):
            if part in LETTERS and k:
                return f"{LETTERS[part]}_{{{subscript('.'.join(parts[:k] + parts[k + 1 :]))}}}"
        if len(parts) == 1:
            return rf"\mathrm{{{name.replace('_', ' ')}}}"
        return rf"\mathrm{{{parts[-1].replace('_', ' ')}}}_{{{subscript('.'.join(parts[:-1]))}}}"

    return symbol


def _cut(lines: Iterable[str], most: int, what: str) -> list[str]:
    every = list(lines)
    return every if len(every) <= most else [*every[:most], f"  ... and {len(every) - most} more {what}"]
