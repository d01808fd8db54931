"""A run as one self-contained HTML page: motion, graph, plots, energy audit, equations, values and statistics."""

from __future__ import annotations

from pathlib import Path

from cotree._version import __version__
from cotree.errors import CotreeError
from cotree.formulation import SystemEquations
from cotree.formulation.branch.explain import main_results
from cotree.formulation.choice import is_machine
from cotree.formulation.machine.explain import wiring
from cotree.graph import Tree
from cotree.model import Kind, Model
from cotree.results import Solution
from cotree.results.store import replacing
from cotree.view import bond_report
from cotree.view.chart_data import ChartData, chart_data
from cotree.view.figures import to_svg
from cotree.view.graph_drawing import graph_svg
from cotree.view.page import MOST_ROWS, Section, counted, figure, number, page, quantity, text
from cotree.view.plots import MOST_NAMES
from cotree.view.report_equations import (
    constraints,
    freedom,
    machine_equations,
    motion_equations,
    network_equations,
    signals_section,
)
from cotree.view.report_results import (
    Plots,
    domains_section,
    energy_section,
    events_section,
    grade,
    plots_section,
    plotted_groups,
    states_section,
    stress_section,
)
from cotree.view.report_tables import components_section, method, model_section, run_section
from cotree.view.scene import scene_of
from cotree.view.scene_page import scene_section
from cotree.view.structure_drawing import draw_structure

Trees = Tree | tuple[Tree, Tree] | None

WIDE = 20
"""Components of a machine beyond which its graph has the whole width of the page."""


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
    if not len(solution.t):
        raise CotreeError(
            "the run holds no output time", where=f"report of '{model.name}'", remedy="Run it again, or let it resume"
        )
    content = report_page(model, tree, equations, solution, plots)
    with replacing(path) as part:
        part.write_text(content, encoding="utf-8")
    return path


def report_page(
    model: Model, trees: Trees, equations: SystemEquations, solution: Solution, plots: Plots | None = None
) -> str:
    """The report as text."""
    tree, other = trees if isinstance(trees, tuple) else (trees, trees)
    second_order = equations.mechanics is not None
    if tree is None or other is None:
        graphs, written = bond_report.graph_section(model), bond_report.equations_section(model, equations)
    elif not second_order:
        graphs, written = graph_figure(tree), network_equations(model, tree, equations)
    else:
        words = ("Tree of translations. ", "Tree of rotations. ") if other != tree else ("", "")
        graphs = graph_figure(tree, words[0]) + ("" if other == tree else graph_figure(other, words[1], "r-"))
        written = motion_equations(model, tree, equations)
    if second_order and tree is not None:
        plots = plots or [*main_results(model, solution), *equations.x.names][:MOST_NAMES]
    groups = plotted_groups(solution, plots)
    kinds = {part.name: part.kind.replace("_", " ") for part in model.components.values()}
    data = chart_data(solution, [name for group in groups for name in group], kinds)
    sections: list[Section | list[Section]] = [
        *_pictures(model, solution, ("graph", "Graph" if tree is not None else "Bond graph", graphs)),
        ("plots", "Results", plots_section(solution, groups, bool(plots)) + _left_out(solution, data)),
        *([("stress", "Stress", stress)] if (stress := stress_section(model, solution)) else []),
        ("energy", "Energy audit", energy_section(solution.energy())),
        *([("domains", "Energy by domain", domains_section(solution))] if solution.domains else []),
        *([("events", "Events", events_section(solution))] if solution.events else []),
        *([("freedom", "Degrees of freedom", freedom(equations))] if second_order else []),
        *([("causality", "Causality", bond_report.causality_section(model))] if tree is None else []),
        ("equations", "Equations", written + (machine_equations(model, equations) if is_machine(model) else "")),
        *([("signals", "Signals", signals_section(model))] if is_machine(model) and wiring(model) else []),
        ("components", "Components", components_section(model, solution)),
        [("states", "States", states_section(solution)), ("statistics", "Statistics", run_section(solution, tree))],
        ("model", "Model", model_section(model, solution)),
    ]
    signs = (
        "An edge points from tail to head; its across variable is the value at the head less the value at the tail."
        if tree is not None
        else "Effort times flow of a bond is the power along its half arrow."
    )
    foot = f"Written by Cotree {text(__version__)}. SI units. {signs}"
    lead = _lead(model, tree, solution) + _notes(solution, equations)
    return page(model.name, lead, _tiles(tree, equations, solution), sections, foot, data.text)


def _pictures(model: Model, solution: Solution, graph: Section) -> list[Section | list[Section]]:
    """The motion beside the graph, and a nodal structure at several instants."""
    shape: list[Section] = [("shape", "Shape", _shape(model, solution))] if model.nodal else []
    scene = scene_of(model, solution)
    if scene is None:
        return [*shape, graph]
    motion = ("motion", "Motion", scene_section(scene))
    if is_machine(model) and len(model.components) > WIDE:
        return [motion, graph]
    return [[motion, graph], *shape]


def _lead(model: Model, tree: Tree | None, solution: Solution) -> str:
    s = solution.statistics
    between = "" if tree is None else f" between {counted(tree.graph.v, 'node')}"
    made = "solved" if s.integrator == "kinematics" else f"integrated by {text(method(s.integrator))}"
    sentence = (
        f"{counted(len(solution.states), 'state')} from {counted(len(model.components), 'component')}{between}, "
        f"{made} from {quantity(solution.t[0], 's')} to {quantity(solution.t[-1], 's')} in {counted(s.steps, 'step')}, "
        f"which took {quantity(s.seconds_integration, 's', 3)}."
    )
    lead = _doubts(solution) + f'<p class="lead">{sentence}</p>'
    if not solution.complete:
        end = solution.origin.options.get("t_end") if solution.origin is not None else None
        asked = f" instead of {quantity(float(end), 's')}" if isinstance(end, (int, float)) else ""
        lead += (
            '\n<p class="banner" role="status">'
            '<strong class="bad">The run ended early: results are incomplete.</strong> '
            f"They reach {quantity(solution.t[-1], 's')}{asked}.</p>"
        )
    return lead


def _doubts(solution: Solution) -> str:
    """What casts doubt on the results, before anything else."""
    return "".join(
        f'<p class="banner" role="alert"><strong class="bad">{each.severity.capitalize()}:</strong> '
        f"{text(each.text)}</p>\n"
        for each in solution.diagnostics
        if each.grave
    )


def _notes(solution: Solution, equations: SystemEquations) -> str:
    """Notes, and what else the run said; plain facts of the equations stand beside them."""
    own = {each.text for each in equations.diagnostics if each.severity == "info"}
    said = [each.text for each in solution.diagnostics if not each.grave and each.text not in own]
    more = f"<li>… and {len(said) - MOST_ROWS} more, left out here</li>" if len(said) > MOST_ROWS else ""
    items = "".join(f"<li>{text(note)}</li>" for note in said[:MOST_ROWS]) + more
    return f'\n<ul class="notes">{items}</ul>' if items else ""


def _tiles(tree: Tree | None, equations: SystemEquations, solution: Solution) -> list[tuple[str, str]]:
    s, audit = solution.statistics, solution.energy()
    speeds, held = len(equations.u), constraints(equations)
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
        (text(method(s.integrator)), "integrator"),
        (quantity(s.seconds_formulation + s.seconds_integration, "s", 3), "computing time"),
        (f'<span class="{grade(audit)}">{number(audit.error, 2)}</span>', "energy error"),
    ]


def graph_figure(tree: Tree, word: str = "", prefix: str = "g-") -> str:
    """The graph with its tree, and what it holds in words."""
    graph = tree.graph
    svg, note = graph_svg(tree, prefix, scale=1.25)
    datums = ", ".join(text(d) for d in graph.datums[:8]) + (" …" if graph.c > 8 else "")
    caption = (
        f"{word}{counted(graph.v, 'node')}, {counted(graph.e, 'edge')}; datum{'s' if graph.c > 1 else ''} {datums}. "
        "Branches of the tree are bold, chords dashed."
    )
    if not note and any(edge.kind == Kind.DEPENDENT for edge in graph):
        caption += " Dotted edges stand for the virtual work of joints and forces on each body that they join."
    caption += f" {text(note[:1].upper() + note[1:])}." if note else ""
    return figure(svg, caption, css="graph")


def _shape(model: Model, solution: Solution) -> str:
    """A nodal structure at several instants."""
    svg = to_svg(draw_structure(model, solution), "s-", label=f"{model.name} at several instants")
    return figure(svg, "The same scale and view at all instants.")


def _left_out(solution: Solution, data: ChartData) -> str:
    """What the live charts do not hold."""
    words = []
    if data.results < len(solution.names):
        words.append(f"{data.results:,} of {len(solution.names):,} results are in this page; a results file holds all.")
    thinned = [(data.plotted, "Plotted results"), (data.others, "Results that are not plotted above")]
    for times, which in thinned:
        if times:
            words.append(
                f"{which} are thinned, to {times:,} or more of {len(solution.t):,} times: no peak is lost, but values "
                "marked ≈ lie on a line between kept ones, and where that could mislead none is shown."
            )
    return f'\n<p class="tools">{" ".join(words)}</p>' if words else ""
