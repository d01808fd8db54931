"""The summary of a run on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from cotree.graph import Tree
from cotree.results import Solution

MOST_ROWS = 12


def summary(tree: Tree, solution: Solution, names: Sequence[str]) -> list[RenderableType]:
    """Counts, the chosen results, the energy balance and the cost."""
    graph, statistics, audit = tree.graph, solution.statistics, solution.energy()
    shown = [name for name in names or solution.states if name in solution][:MOST_ROWS]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("result", "unit", "start", "end", "least", "largest"):
        table.add_column(column, justify="left" if column in ("result", "unit") else "right")
    for name in shown:
        values = solution[name]
        numbers = [f"{value:.6g}" for value in (values[0], values[-1], values.min(), values.max())]
        table.add_row(escape(name), escape(solution.unit(name)), *numbers)
    head = (
        f"[bold]{escape(solution.model)}[/]: {graph.v} nodes, {graph.e} edges, {len(tree.branches)} in the tree, "
        f"{len(solution.states)} states"
    )
    cost = (
        f"{statistics.integrator}, rtol {statistics.rtol:g}: {len(solution)} output times to {solution.t[-1]:g} s, "
        f"{statistics.steps} steps, {1e3 * (statistics.seconds_formulation + statistics.seconds_integration):.0f} ms"
    )
    energy = (
        f"energy: supplied {audit.supplied[-1]:.6g} J, dissipated {audit.dissipated[-1]:.6g} J, "
        f"stored {audit.stored[-1] - audit.start:+.6g} J; the balance closes to {audit.error:.0e}"
    )
    return [head, *(escape(note) for note in solution.notes[1:]), table, energy, cost]
