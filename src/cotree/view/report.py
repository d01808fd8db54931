"""A run as one self-contained HTML page: graph, plots, energy audit, equations, values and statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from cotree._version import __version__
from cotree.formulation import SystemEquations
from cotree.formulation.branch.explain import constraint_lines, main_results
from cotree.graph import Tree
from cotree.model import Component, Edge, GroundFrame, Kind, Model, Role, quantities
from cotree.results import EnergyAudit, Solution
from cotree.results.store import replacing
from cotree.terminal.mechanics import Body, Connection, OnJoint
from cotree.terminal.nodal.base import NodalPart
from cotree.terminal.shapes import Shape
from cotree.view import bond_report, mathml
from cotree.view.figures import to_svg
from cotree.view.graph_drawing import MOST, draw_graph, edge_titles
from cotree.view.page import MOST_ROWS, Section, equation_list, figure, number, page, table, text
from cotree.view.plots import MOST_NAMES, default_names, plot_energy, plot_solution, pretty_unit, with_prefix
from cotree.view.structure_drawing import draw_structure

Plots = Sequence[str | Sequence[str]]

CLOSES, DOUBTFUL = 1e-6, 1e-3
"""Relative closure errors up to which an audit is called closed, and beyond which it is called open."""


Trees = Tree | tuple[Tree, Tree] | None


def write_report(
    model: Model,
    tree: Trees,
    equations: SystemEquations,
    solution: Solution,
    path: str | Path,
    plots: Plots | None = None,
) -> Path:
    """Write the report of a run; the file is replaced only when the new one is complete.

    ``plots`` lists names for one figure, or lists of names for several; where it is not given, the states are shown,
    or the joint coordinates of a mechanism. A mechanism may have a pair of trees, for translation and rotation; a bond
    graph has none.
    """
    path = Path(path)
    tree, other = tree if isinstance(tree, tuple) else (tree, tree)
    freedom: list[Section] = []
    if tree is None or other is None:
        graphs, written = bond_report.graph_section(model), bond_report.equations_section(model, equations)
        freedom = [] if equations.mechanics is None else [("freedom", "Degrees of freedom", _freedom(equations))]
    elif equations.mechanics is None:
        graphs, written = _graph(tree), _equations(model, tree, equations)
    else:
        freedom = [("freedom", "Degrees of freedom", _freedom(equations))]
        words = ("Tree of translations. ", "Tree of rotations. ") if other != tree else ("", "")
        graphs = _graph(tree, words[0]) + ("" if other == tree else _graph(other, words[1], "r-"))
        written = _motion(model, tree, equations)
        plots = plots or main_results(model, solution)[:MOST_NAMES]
    sections: list[Section] = [
        *([("shape", "Shape", _shape(model, solution))] if model.nodal else []),
        ("graph", "Graph" if tree is not None else "Bond graph", graphs),
        *freedom,
        ("plots", "Results", _plots(solution, plots)),
        ("energy", "Energy audit", _energy(solution.energy())),
        *([("causality", "Causality", bond_report.causality_section(model))] if tree is None else []),
        ("equations", "Equations", written),
        ("components", "Components", _components(model, solution)),
        ("states", "States", _states(equations, solution)),
        ("statistics", "Statistics", _statistics(solution)),
    ]
    signs = (
        "An edge points from tail to head; its across variable is the value at the head less the value at the tail."
        if tree is not None
        else "Effort times flow of a bond is the power along its half arrow."
    )
    foot = f"Written by Cotree {text(__version__)}. SI units. {signs}"
    content = page(model.name, _lead(model, tree, solution), _tiles(tree, equations, solution), sections, foot)
    with replacing(path) as part:
        part.write_text(content, encoding="utf-8")
    return path


def _lead(model: Model, tree: Tree | None, solution: Solution) -> str:
    s = solution.statistics
    between = "" if tree is None else f" between {_count(tree.graph.v, 'node')}"
    sentence = (
        f"{_count(len(solution.states), 'state')} from {_count(len(model.components), 'component')}{between}, "
        f"integrated by {text(_method(s.integrator))} from {_quantity(solution.t[0], 's')} "
        f"to {_quantity(solution.t[-1], 's')} in {_count(s.steps, 'step')}, which took "
        f"{_quantity(s.seconds_integration, 's', 3)}."
    )
    if not solution.complete:
        sentence += ' <strong class="bad">The run ended early: results are incomplete.</strong>'
    return sentence


def _method(name: str) -> str:
    """The name of an integrator as one reads it: ``CVODES``, ``generalised alpha``."""
    return name.upper() if name in ("cvodes", "idas") else name.replace("_", " ")


def _tiles(tree: Tree | None, equations: SystemEquations, solution: Solution) -> list[tuple[str, str]]:
    s, audit = solution.statistics, solution.energy()
    speeds, held = len(equations.u), len(equations.multipliers)
    first = (str(len(solution.states)), "states")
    if equations.mechanics is not None:
        first = (f"{speeds - held}", f"degree{'' if speeds - held == 1 else 's'} of freedom")
    counts = [(f"{len(solution.names):,}", "results")]
    if tree is not None:
        graph = tree.graph
        counts = [(f"{graph.v} / {graph.e}", "nodes / edges"), (f"{graph.rank} / {graph.nullity}", "branches / chords")]
    return [
        first,
        *counts,
        (text(_method(s.integrator)), "integrator"),
        (_quantity(s.seconds_formulation + s.seconds_integration, "s", 3), "computing time"),
        (
            f'<span class="{_grade(audit)}">{number(audit.error, 2)}</span>',
            "energy error",
        ),
    ]


def _graph(tree: Tree, word: str = "", prefix: str = "g-") -> str:
    graph = tree.graph
    if graph.e > MOST:
        return f"<p>The graph has {graph.e} edges: too many to draw.</p>"
    svg = to_svg(
        draw_graph(tree), prefix, edge_titles(tree), f"Linear graph with {graph.v} nodes and {graph.e} edges", 1.35
    )
    datums = ", ".join(text(d) for d in graph.datums[:8]) + (" …" if graph.c > 8 else "")
    caption = (
        f"{word}{_count(graph.v, 'node')}, {_count(graph.e, 'edge')}; datum{'s' if graph.c > 1 else ''} {datums}. "
        "Branches of the tree are bold, chords dashed."
    )
    if any(edge.kind == Kind.DEPENDENT for edge in graph):
        caption += " Dotted edges stand for the virtual work of joints and forces on each body that they join."
    return figure(svg, caption)


def _shape(model: Model, solution: Solution) -> str:
    """A nodal structure at several instants."""
    svg = to_svg(draw_structure(model, solution), "s-", label=f"{model.name} at several instants")
    return figure(svg, "The same scale and view at all instants.")


def _plots(solution: Solution, plots: Plots | None) -> str:
    groups = plot_groups(plots) or [default_names(solution)]
    drawn = []
    for k, names in enumerate(groups):
        label = "Over time: " + ", ".join(names[:8])
        drawn.append(figure(to_svg(plot_solution(solution, names), f"p{k}-", label=label)))
    if not plots and len(solution.states) > len(groups[0]):
        drawn.append(f"<p>The first {len(groups[0])} of {len(solution.states)} states.</p>")
    return "\n".join(drawn)


def plot_groups(plots: Plots | None) -> list[list[str]]:
    """The names of each figure: single names share one figure, each list has its own."""
    if isinstance(plots, str):
        return [[plots]]
    single = [item for item in plots or () if isinstance(item, str)]
    several = [list(item) for item in plots or () if not isinstance(item, str)]
    return [group for group in (single, *several) if group]


def _energy(audit: EnergyAudit) -> str:
    rows = [
        ("stored at the start", audit.start),
        ("supplied", audit.supplied[-1]),
        ("dissipated", audit.dissipated[-1]),
        ("stored at the end", audit.stored[-1]),
        ("closure error at the end", audit.closure[-1]),
    ]
    grade = _grade(audit)
    if audit.scale == 0:
        verdict = "No energy was stored, supplied or dissipated."
    elif grade == "good":
        verdict = (
            f"The balance closes to {number(audit.error, 2)} of the largest energy, {_quantity(audit.scale, 'J', 4)}."
        )
    else:
        word = "closes only" if grade == "fair" else "does not close: it is open"
        verdict = (
            f"The balance {word} to {number(audit.error, 2)} of the largest energy, {_quantity(audit.scale, 'J', 4)}. "
            "Tighten rtol and atol, or store more output points, and compare."
        )
    cells = [(name, number(float(value), 7), "J") for name, value in rows]
    what = (
        "<p>Supplied energy must be stored or dissipated: "
        "closure error = stored − stored at the start + dissipated − supplied.</p>"
    )
    drawn = figure(to_svg(plot_energy(audit), "e-", label="Energy over time"))
    listed = table(("energy", "value", "unit"), cells, len(cells), "rows", numeric=(1,))
    return f'<p class="verdict {grade}">{verdict}</p>\n{what}\n{drawn}\n{listed}'


def _grade(audit: EnergyAudit) -> str:
    if not np.isfinite(audit.error):
        return "bad"
    return "good" if audit.error <= CLOSES else "fair" if audit.error <= DOUBTFUL else "bad"


def _equations(model: Model, tree: Tree, equations: SystemEquations) -> str:
    graph = tree.graph
    cutsets = ((name, mathml.topological(tree.cutset_equation(name))) for name in tree.branches)
    circuits = ((name, mathml.topological(tree.circuit_equation(name))) for name in tree.chords)
    count = len(equations.u) + len(equations.w) + len(equations.inputs)
    notes = "".join(f"<li>{text(note)}</li>" for note in equations.notes[:MOST_ROWS])
    parts = [
        f"<p>{2 * graph.e} unknowns, a through and an across variable for each of {_count(graph.e, 'edge')}, in "
        f"{graph.rank} cutset, {graph.nullity} circuit and {graph.e} terminal equations.</p>",
        "<h3>Cutset equations, one for each branch</h3>",
        equation_list(cutsets, graph.rank),
        "<h3>Circuit equations, one for each chord</h3>",
        equation_list(circuits, graph.nullity),
        "<h3>Terminal equations, one for each edge</h3>",
        equation_list(mathml.terminal_equations(model), graph.e),
        "<h3>State equations</h3>",
        f"<ul>{notes}</ul>" if notes else "",
        equation_list(mathml.state_equations(model, equations), count),
        "<p>A dot is the rate of change.</p>",
    ]
    return "\n".join(parts)


def _freedom(equations: SystemEquations) -> str:
    """Coordinates, speeds, independent constraint equations, and what is redundant."""
    speeds, held = len(equations.u), len(equations.multipliers)
    left = _count(speeds - held, "degree")
    sentence = (
        f"{_count(len(equations.q), 'coordinate')}, {_count(speeds, 'speed')} and "
        f"{_count(held, 'independent constraint equation')} leave {left} of freedom."
    )
    notes = "".join(f"<li>{text(note)}</li>" for note in equations.notes[1:MOST_ROWS])
    rows = ((str(k + 1), f"<b>{text(line)}</b>") for k, line in enumerate(constraint_lines(equations)))
    listed = table(("", "constraint equation"), rows, held, "equations") if held else ""
    return "\n".join([f"<p>{sentence}</p>", f"<ul>{notes}</ul>" if notes else "", listed])


def _motion(model: Model, tree: Tree, equations: SystemEquations) -> str:
    """Topological equations of a mechanism, and its equations of motion where they are short enough to be read."""
    graph = tree.graph
    cutsets = ((name, mathml.topological(tree.cutset_equation(name))) for name in tree.branches)
    circuits = ((name, mathml.topological(tree.circuit_equation(name))) for name in tree.chords)
    parts = [
        *mathml.motion_section(model, equations),
        "<p>A dot is the rate of change.</p>",
        "<h3>Cutset equations of virtual work, one for each branch</h3>",
        equation_list(cutsets, graph.rank),
        "<h3>Circuit equations of displacements, one for each chord</h3>",
        equation_list(circuits, graph.nullity),
    ]
    return "\n".join(parts)


def _components(model: Model, solution: Solution) -> str:
    changeable = _changeable(model)
    known = {name: value for name, value in solution.parameters.items() if name in changeable}
    values = model.component_values(known)
    rows = (
        (f"<b>{text(c.name)}</b>", text(c.kind), _nodes(c), "<br>".join(_fields(c, values)))
        for c in model.components.values()
    )
    ends = "nodes" if model.nodal else "frames" if model.mechanical else "ends" if model.bonded else "plus, minus"
    parts = [table(("name", "kind", ends, "values"), rows, len(model.components), "components")]
    if model.parameters:
        numbers = model.parameter_values({name: value for name, value in known.items() if "." not in name})
        cells = (
            (
                f"<b>{text(name)}</b>",
                number(numbers[name]),
                "" if _is_number(e.text) else f"<code>{text(e.text)}</code>",
            )
            for name, e in model.parameters.items()
        )
        parts += [
            "<h3>Parameters</h3>",
            table(("name", "value", "given as"), cells, len(model.parameters), "parameters", (1,)),
        ]
    return "\n".join(parts)


def _changeable(model: Model) -> set[str]:
    fields = {f"{c.name}.{field}" for c in model.components.values() for field in quantities(c)}
    return fields | set(model.parameters)


def _nodes(component: Component) -> str:
    if isinstance(component, NodalPart):
        return ", ".join(text(name) for name in component.nodes())
    if component.bonded:
        return bond_report.ends(component)
    if component.mechanical:
        return "<br>".join(text(word) for word in _frames(component))
    pairs = (f"{text(plus)}, {text(minus)}" for plus, minus in component.node_pairs())
    labels = (f"{text(port.label)}: " if port.label else "" for port in component.ports)
    return "<br>".join(label + pair for label, pair in zip(labels, pairs, strict=True))


def _frames(component: Component) -> list[str]:
    """The frames of a body, those between which a connection acts, or the joints of a driver or coupling."""
    if isinstance(component, Body):
        return [component.name, *(f"{component.name}.{name}" for name in component.places())]
    if isinstance(component, Connection):
        return [f"{component.frame_a} → {component.frame_b}"]
    if isinstance(component, OnJoint):
        return [f"on {component.on}" + (f".{component.coordinate}" if component.coordinate else "")]
    return [component.name] if isinstance(component, GroundFrame) else []


def _fields(component: Component, values: dict[str, float]) -> Iterable[str]:
    """``resistance R = 10 Ω`` for each value given, expressions before their value; a vector on one line."""
    shape = getattr(component, "shape", None)
    if isinstance(shape, Shape):
        yield text(f"{shape.kind} along {shape.axis}" if shape.axis else shape.kind)
    vectors: dict[str, list[str]] = {}
    for field in quantities(component):
        if (component.mechanical or component.nodal or component.bonded) and "." in field:
            vectors.setdefault(field.rpartition(".")[0], []).append(field)
    for field, info in quantities(component).items():
        base = field.rpartition(".")[0]
        if base in vectors:
            if field == vectors[base][0]:
                yield from _vector(component, base, vectors[base], values)
            continue
        expression = component.expressions.get(field)
        if expression is None:
            continue
        word = f"{field.replace('_', ' ')} {_symbol(info.symbol)}".rstrip()
        storage = _storage_unit(component.edges()[0]) if field == "initial" else ""
        unit = text(pretty_unit(info.unit or storage))
        value = values.get(f"{component.name}.{field}")
        given = "" if _is_number(expression.text) else f" = <code>{text(expression.text)}</code>"
        shown = "" if value is None else f" = {number(value, 7)}"
        yield f"{word}{given}{shown} {unit}".rstrip()


def _vector(component: Component, base: str, fields: list[str], values: dict[str, float]) -> Iterable[str]:
    """``centre = (0, 0, 0.1) m``; nothing where it is zero and left as it is."""
    numbers = [values.get(f"{component.name}.{field}") for field in fields]
    if base == "centre" and not any(numbers):
        return
    info = quantities(component)[fields[0]]
    cells = [
        f"<code>{text(component.expressions[field].text)}</code>" if value is None else number(value, 7)
        for field, value in zip(fields, numbers, strict=True)
    ]
    yield f"{text(base.replace('_', ' '))} = ({', '.join(cells)}) {text(pretty_unit(info.unit))}".rstrip()


def _symbol(symbol: str) -> str:
    letter, _, index = symbol.partition("_")
    return f"<i>{text(letter)}</i>{f'<sub>{text(index)}</sub>' if index else ''}" if symbol else ""


def _storage_unit(edge: Edge) -> str:
    return edge.domain.across_unit if edge.role is Role.ACROSS_STORAGE else edge.domain.through_unit


def _states(equations: SystemEquations, solution: Solution) -> str:
    if not solution.states:
        return "<p>The model has no states: every result follows from the sources at the same time.</p>"

    def row(name: str) -> tuple[str, ...]:
        x = solution[name]
        numbers = (number(float(value)) for value in (x[0], x[-1], np.min(x), np.max(x)))
        return f"<b>{text(name)}</b>", *numbers, text(pretty_unit(solution.unit(name)))

    rows = (row(name) for name in solution.states if name in solution)
    return table(
        ("state", "start", "end", "least", "greatest", "unit"), rows, len(solution.states), "states", range(1, 5)
    )


def _statistics(solution: Solution) -> str:
    s = solution.statistics
    rows = [
        ("integrator", text(s.integrator)),
        ("relative tolerance", number(s.rtol)),
        ("absolute tolerance", number(s.atol) if s.atol is not None else "automatic"),
        ("steps", f"{s.steps:,}"),
        ("evaluations of the equations", f"{s.evaluations:,}"),
        ("smooth stretches between break points", f"{s.stretches:,}"),
        ("output points", f"{len(solution.t):,}"),
        ("results by name", f"{len(solution.names):,}"),
        ("formulation", _quantity(s.seconds_formulation, "s", 3)),
        ("integration", _quantity(s.seconds_integration, "s", 3)),
    ]
    return table(("", "value"), rows, len(rows), "rows", numeric=(1,))


def _quantity(value: float, unit: str, digits: int = 5) -> str:
    prefixed, scale = with_prefix(unit, abs(float(value)))
    return f"{number(float(value) / scale, digits)}&nbsp;{text(prefixed)}"


def _count(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _is_number(given: str) -> bool:
    try:
        float(given)
    except ValueError:
        return False
    return True
