"""The summary of a run: as text on the terminal, and as data for other programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cotree._version import __version__
from cotree.cli.console import heading, table
from cotree.cli.options import formulation_of
from cotree.errors import listing

if TYPE_CHECKING:
    from cotree import api
    from cotree.results import Solution
    from cotree.system import Diagnostic

MOST_ROWS = 12
FEW = 3
"""Events that did not happen, up to which each has a line."""
COLUMNS = {"result": "left", "unit": "left", "start": "right", "end": "right", "least": "right", "largest": "right"}
DOMAIN_PARTS = ("supplied", "received", "stored", "dissipated")


def print_summary(counts: str, solution: Solution, names: Sequence[str], notes: Iterable[str] = ()) -> None:
    """Counts, notes, the chosen results, the energy balance and the cost."""
    statistics, audit = solution.statistics, solution.energy()
    wanted = [part for name in names or solution.states for part in scalars(name, solution)]
    shown = wanted[:MOST_ROWS]
    rows = []
    for name in shown:
        values = solution[name]
        numbers = [f"{value + 0.0:.6g}" for value in (values[0], values[-1], values.min(), values.max())]
        rows.append([solution.label(name), solution.unit(name), *numbers])
    heading(solution.model, f": {counts}, {len(solution.states)} states")
    for note in notes:
        print(note)
    if len(wanted) > len(shown):
        print(f"the first {len(shown)} of {len(wanted)} results:")
    if rows:
        table(COLUMNS, rows)
    _print_events(solution)
    print(
        f"energy: supplied {audit.supplied[-1]:.6g} J, dissipated {audit.dissipated[-1]:.6g} J, "
        f"stored {audit.stored[-1] - audit.start:+.6g} J; the balance closes to {audit.error:.0e}"
    )
    print_domains(solution)
    seconds = statistics.seconds_formulation + statistics.seconds_integration
    print(
        f"{statistics.integrator}, rtol {statistics.rtol:g}: {len(solution)} output times to {solution.t[-1]:g} s, "
        f"{statistics.steps} steps, {1e3 * seconds:.0f} ms"
    )


def _print_events(solution: Solution) -> None:
    """How often each event happened; where many did not, those in one line."""
    never = [name for name, times in solution.events.items() if not len(times)]
    for name, times in solution.events.items():
        if len(times) or len(never) <= FEW:
            print(f"event {name}: {len(times)} times" + (f", first at {times[0]:g} s" if len(times) else ""))
    if len(never) > FEW:
        print(f"{len(never)} kinds of events did not happen: {listing(never, 4)}")


def print_domains(solution: Solution) -> None:
    """The energy of every domain of a machine."""
    domains = solution.domains
    if not domains:
        return
    rows = [
        [name, *(f"{_shown(getattr(d, part)[-1], d.scale):.6g}" for part in DOMAIN_PARTS), f"{d.error:.0e}"]
        for name, d in domains.items()
    ]
    table({"energy in J": "left"} | dict.fromkeys((*DOMAIN_PARTS, "error"), "right"), rows)


def _shown(value: float, scale: float) -> float:
    """A value, or zero where it is rounding beside others."""
    return value if abs(value) > 1e-12 * scale else 0.0


def summary_data(file: Any, model: api.Model | None, solution: Solution, notes: Iterable[str]) -> dict[str, Any]:
    """The same as plain data, with the last value of every result."""
    statistics, audit = solution.statistics, solution.energy()
    return {
        "version": __version__,
        "file": str(file),
        "model": solution.model,
        "formulation": None if model is None else formulation_of(model),
        "complete": solution.complete,
        "t_start": float(solution.t[0]),
        "t_end": float(solution.t[-1]),
        "points": len(solution),
        "integrator": statistics.integrator,
        "rtol": statistics.rtol,
        "atol": statistics.atol,
        "steps": statistics.steps,
        "evaluations": statistics.evaluations,
        "seconds": {"formulation": statistics.seconds_formulation, "integration": statistics.seconds_integration},
        "energy": {
            "supplied": audit.supplied[-1],
            "dissipated": audit.dissipated[-1],
            "stored": audit.stored[-1] - audit.start,
            "error": audit.error,
        },
        "domains": {
            name: {part: getattr(each, part)[-1] for part in DOMAIN_PARTS} | {"error": each.error}
            for name, each in solution.domains.items()
        },
        "states": list(solution.states),
        "final": {name: solution[name][-1] for name in solution.names},
        "units": {name: solution.unit(name) for name in solution.names},
        "events": dict(solution.events),
        "notes": list(notes),
        "diagnostics": [each.to_data() for each in solution.diagnostics],
        "undetermined": sorted(solution.undetermined),
    }


def counts(model: api.Model, tree: Any) -> str:
    """What a model is made of: nodes, edges and tree, or elements and bonds."""
    if model.bonded:
        from cotree.bond import Bond

        bonds = sum(isinstance(part, Bond) for part in model.components.values())
        return f"bond graph of {len(model.components) - bonds} parts and {bonds} bonds"
    first = tree[0] if isinstance(tree, tuple) else tree
    return f"{first.graph.v} nodes, {first.graph.e} edges, {len(first.branches)} in the tree"


def notes_of(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """What is worth telling; the states of a network are counted elsewhere."""
    return [str(each) for each in diagnostics if each.code != "network-states"]


def main_names(model: api.Model, solution: Solution) -> list[str]:
    """What is shown where the file names nothing."""
    if not (model.mechanical or model.nodal):
        return []
    from cotree.formulation.branch.explain import main_results

    return main_results(model, solution)


def scalars(name: str, solution: Solution) -> list[str]:
    """The name itself, or the entries of a vector."""
    from cotree.results.components import components

    return [name] if name in solution.values else components(name, solution.values)


def flat(plot: Iterable[Any]) -> list[str]:
    """The names in a list of names and lists of names."""
    return [name for entry in plot for name in (entry if isinstance(entry, list) else [entry])]
