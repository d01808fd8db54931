"""What notebooks show of a model and of a solution: small pieces of HTML and SVG that need nothing else."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path

from cotree.graph import Tree
from cotree.model import Model
from cotree.results import Solution
from cotree.view.figures import clean, to_svg
from cotree.view.page import counted, quantity, text
from cotree.view.plots import default_names, plot_solution
from cotree.view.progress import displayed, in_notebook
from cotree.view.report_results import grade, verdict
from cotree.view.report_tables import method

SHOWN = 4
"""Results of the small plot of a solution."""

Trees = Tree | tuple[Tree, Tree] | None
TreeOf = Callable[[None], Trees]

_COLOURS = {"good": "#00714f", "fair": "#8a5a00", "bad": "#b3261e"}


def model_svg(model: Model, tree_of: TreeOf) -> str | None:
    """The graph of a model, or the bond graph where it is one; None where a model has none yet."""
    return _made(lambda: _drawn(model, tree_of(None)))


def model_html(model: Model, tree_of: TreeOf) -> str:
    """Name and counts of a model above its graph; ``tree_of`` finds its default tree."""
    return _made(lambda: _model_html(model, tree_of(None))) or plain_html(model)


def solution_html(solution: Solution) -> str:
    """What a run was, whether its energy balance closes, and a plot of its first states."""
    return _made(lambda: _solution_html(solution)) or plain_html(solution)


def opened(write: Callable[[str | Path], Path], path: str | Path | None) -> Path:
    """A page written to a path; without one to a temporary file, which a browser opens or a notebook shows."""
    if path is not None:
        return write(path)
    import tempfile
    import webbrowser

    written = write(Path(tempfile.mkdtemp(prefix="cotree-")) / "report.html")
    if in_notebook():
        displayed(frame_html(written.read_text(encoding="utf-8")))
    else:
        webbrowser.open(written.as_uri())
    return written


def frame_html(page: str) -> str:
    """A whole page in a frame of its own, so that its styles and scripts stay inside."""
    return (
        f'<iframe class="cotree-report" srcdoc="{escape(page)}" sandbox="allow-scripts" '
        'style="width:100%;height:720px;border:1px solid #ccc"></iframe>'
    )


def _made(make: Callable[[], str]) -> str | None:
    """What a notebook shows; None where it cannot be made, since a cell that only names an object must not fail."""
    try:
        return make()
    except Exception:
        return None


def _drawn(model: Model, tree: Trees) -> str:
    if tree is None:
        from cotree.view.bond_drawing import bond_svg

        return bond_svg(model)
    from cotree.view.graph_drawing import graph_svg

    return graph_svg(tree[0] if isinstance(tree, tuple) else tree)[0]


def _model_html(model: Model, tree: Trees) -> str:
    counts = [counted(len(model.components), "component")]
    if tree is not None:
        graph = (tree[0] if isinstance(tree, tuple) else tree).graph
        counts += [counted(graph.v, "node"), counted(graph.e, "edge")]
    if model.parameters:
        counts.append(counted(len(model.parameters), "parameter"))
    return f"<div><b>{text(model.name)}</b>: {', '.join(counts)}<div>{_drawn(model, tree)}</div></div>"


def _solution_html(solution: Solution) -> str:
    audit, s = solution.energy(), solution.statistics
    lines = [
        f"{quantity(solution.t[0], 's')} to {quantity(solution.t[-1], 's')}, {len(solution.t):,} output times, "
        f"{len(solution.names):,} results, {text(method(s.integrator))}, {counted(s.steps, 'step')}",
        f'<span style="color:{_COLOURS[grade(audit)]}">{verdict(audit)}</span>',
    ]
    if not solution.complete:
        lines.insert(0, f'<b style="color:{_COLOURS["bad"]}">The run ended early: results are incomplete.</b>')
    names = [name for name in default_names(solution) if not name.endswith("_rate")][:SHOWN]
    drawn = to_svg(plot_solution(solution, names), label="Over time: " + ", ".join(names)) if names else ""
    return f"<div><b>{text(solution.model)}</b><br>{'<br>'.join(lines)}<div>{drawn}</div></div>"


def plain_html(thing: object) -> str:
    """What is shown where nothing better can be made: the text of an object."""
    return f"<pre>{escape(clean(repr(thing)))}</pre>"
