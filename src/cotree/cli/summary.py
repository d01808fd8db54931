"""The summary of a run on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from cotree.results import Solution

MOST_ROWS = 12


def summary(counts: str, solution: Solution, names: Sequence[str], *, mechanism: bool = False) -> list[RenderableType]:
    """Counts, the chosen results, the energy balance and the cost; of a mechanism also its degrees of freedom."""
    statistics, audit = solution.statistics, solution.energy()
    wanted = [part for name in names or solution.states for part in _scalars(name, solution)]
    shown = wanted[:MOST_ROWS]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("result", "unit", "start", "end", "least", "largest"):
        table.add_column(column, justify="left" if column in ("result", "unit") else "right")
    for name in shown:
        values = solution[name]
        numbers = [f"{value + 0.0:.6g}" for value in (values[0], values[-1], values.min(), values.max())]
        table.add_row(escape(name), escape(solution.unit(name)), *numbers)
    head = f"[bold]{escape(solution.model)}[/]: {counts}, {len(solution.states)} states"
    cost = (
        f"{statistics.integrator}, rtol {statistics.rtol:g}: {len(solution)} output times to {solution.t[-1]:g} s, "
        f"{statistics.steps} steps, {1e3 * (statistics.seconds_formulation + statistics.seconds_integration):.0f} ms"
    )
    energy = (
        f"energy: supplied {audit.supplied[-1]:.6g} J, dissipated {audit.dissipated[-1]:.6g} J, "
        f"stored {audit.stored[-1] - audit.start:+.6g} J; the balance closes to {audit.error:.0e}"
    )
    notes = [*solution.notes[0 if mechanism else 1 :]]
    if len(wanted) > len(shown):
        notes.append(f"the first {len(shown)} of {len(wanted)} results:")
    return [head, *(escape(note) for note in notes), table, energy, cost]


def _scalars(name: str, solution: Solution) -> list[str]:
    """The name itself, or the entries of a vector."""
    if name in solution.values:
        return [name]
    labels = ("x", "y", "z", "e0", "e1", "e2", "e3")
    return [f"{name}.{label}" for label in labels if f"{name}.{label}" in solution.values]
