"""A model that has not run as one HTML page: the assembled start, the graph, counts and diagnostics."""

from __future__ import annotations

from pathlib import Path

from cotree._version import __version__
from cotree.errors import CotreeError
from cotree.formulation import SystemEquations
from cotree.graph import Tree
from cotree.model import Model
from cotree.results import Solution
from cotree.results.store import replacing
from cotree.terminal.mechanics import Body, Joint
from cotree.view import bond_report
from cotree.view.page import Section, counted, page, table, text
from cotree.view.report import Trees, graph_figure
from cotree.view.report_equations import constraints, freedom
from cotree.view.report_tables import components_section, model_section
from cotree.view.scene import scene_of
from cotree.view.scene_page import scene_section


def write_preview(
    model: Model, trees: Trees, equations: SystemEquations | None, start: Solution | CotreeError, path: str | Path
) -> Path:
    """Write the preview; ``start`` holds the results at the start, or the error that says why there are none."""
    path = Path(path)
    content = preview_page(model, trees, equations, start)
    with replacing(path) as part:
        part.write_text(content, encoding="utf-8")
    return path


def preview_page(model: Model, trees: Trees, equations: SystemEquations | None, start: Solution | CotreeError) -> str:
    """The preview as text."""
    tree = trees[0] if isinstance(trees, tuple) else trees
    pictures: list[Section] = []
    if isinstance(start, Solution) and (scene := scene_of(model, start)) is not None:
        pictures.append(("scene", "At the start", scene_section(scene)))
    if tree is not None:
        pictures.append(("graph", "Graph", graph_figure(tree)))
    elif model.bonded and model.components:
        pictures.append(("graph", "Bond graph", bond_report.graph_section(model)))
    sections: list[Section | list[Section]] = [
        *([pictures] if len(pictures) > 1 else pictures),
        ("diagnostics", "Diagnostics", _diagnostics(equations, start)),
    ]
    if equations is not None and equations.mechanics is not None:
        sections.append(("freedom", "Degrees of freedom", freedom(equations)))
    if isinstance(start, Solution):
        sections += [("values", "Values at the start", _values(start))]
        sections += [("components", "Components", components_section(model, start))]
        sections += [("model", "Model", model_section(model, start))]
    lead = f'<p class="lead">{counted(len(model.components), "component")}. The model has not run yet.</p>'
    if isinstance(start, CotreeError):
        lead += f'\n<p class="banner" role="alert"><strong class="bad">Error:</strong> {text(start.message)}</p>'
    foot = f"Written by Cotree {text(__version__)}. SI units."
    return page(model.name, lead, _tiles(model, tree, equations), sections, foot)


def _tiles(model: Model, tree: Tree | None, equations: SystemEquations | None) -> list[tuple[str, str]]:
    parts = model.components.values()
    counts: list[tuple[int, str]] = [
        (sum(isinstance(part, Body) for part in parts), "bodies"),
        (sum(isinstance(part, Joint) for part in parts), "joints"),
        (loops(model), "loops"),
    ]
    counts = [each for each in counts if each[0]]
    if tree is not None:
        counts += [(tree.graph.v, "nodes"), (tree.graph.e, "edges"), (tree.graph.nullity, "chords")]
    if equations is not None:
        counts.append((len(equations.state_names), "states"))
        if equations.mechanics is not None:
            counts.append((len(equations.u) - constraints(equations), "degrees of freedom"))
            counts.append((constraints(equations), "constraint equations"))
            extra = (each for each in equations.diagnostics if each.code == "redundant-rows")
            counts.append((sum(int(each.data["count"]) for each in extra), "redundant equations"))
        counts.append((len(equations.outputs), "results"))
    return [(f"{count:,}", word) for count, word in counts]


def loops(model: Model) -> int:
    """Independent loops of bodies and joints: joints that close a way which others have opened."""
    above: dict[str, str] = {}
    bodies = {part.name for part in model.components.values() if isinstance(part, Body)}

    def top(name: str) -> str:
        while name in above:
            name = above[name]
        return name

    closing = 0
    for part in model.components.values():
        if isinstance(part, Joint):
            owners = (end.partition(".")[0] for end in part.ends)
            a, b = (top(owner if owner in bodies else "ground") for owner in owners)
            if a == b:
                closing += 1
            else:
                above[a] = b
    return closing


def _diagnostics(equations: SystemEquations | None, start: Solution | CotreeError) -> str:
    said = [*(equations.diagnostics if equations is not None else ())]
    said += [each for each in (start.diagnostics if isinstance(start, Solution) else ()) if each not in said]
    rows = [(text(each.severity), text(each.text)) for each in said]
    if isinstance(start, CotreeError):
        rows.insert(0, ("error", text(start.message)))
    return table(("", "what"), rows, len(rows), "diagnostics") if rows else "<p>Nothing to say.</p>"


def _values(start: Solution) -> str:
    rows = ((f"<b>{text(name)}</b>", f"{start[name][0]:.6g}", text(start.unit(name))) for name in start.states)
    return table(("state", "value", "unit"), rows, len(start.states), "states", (1,))
