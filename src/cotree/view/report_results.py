"""What a report says of the results: plots, live and drawn, energy, events, states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cotree.errors import CotreeError
from cotree.model import Model
from cotree.results import DomainAudit, EnergyAudit, Solution
from cotree.terminal.deformable import Deformable
from cotree.terminal.recovery import body_deformation
from cotree.view.chart_data import AUDIT, panels
from cotree.view.figures import to_svg
from cotree.view.page import figure, folded, number, quantity, table, text
from cotree.view.plots import default_names, plot_energy, plot_solution, pretty_unit

Plots = Sequence[str | Sequence[str]]

CLOSES, DOUBTFUL = 1e-6, 1e-3
"""Relative closure errors up to which an audit is called closed, and beyond which it is called open."""


NOTHING = 1e-12
"""Energy of a domain, over the largest that was moved, that counts as none."""


def plot_groups(plots: Plots | None) -> list[list[str]]:
    """The names of each figure: single names share one figure, each list has its own."""
    if isinstance(plots, str):
        return [[plots]]
    single = [item for item in plots or () if isinstance(item, str)]
    several = [list(item) for item in plots or () if not isinstance(item, str)]
    return [group for group in (single, *several) if group]


def plotted_groups(solution: Solution, plots: Plots | None) -> list[list[str]]:
    """The scalar results of each figure; without a wish the states."""
    groups = plot_groups(plots) or [default_names(solution)]
    return [solution.matching(group) for group in groups]


def plots_section(solution: Solution, groups: list[list[str]], chosen: bool) -> str:
    """A figure for each group, which becomes a live chart where scripts run, and room for a chart of any result."""
    drawn = []
    for k, names in enumerate(groups):
        label = "Over time: " + ", ".join(names[:8])
        svg = to_svg(plot_solution(solution, names), f"p{k}-", label=label)
        drawn.append(figure(svg, css="chart", panels=panels(solution, names)))
    if not chosen and len(solution.states) > len(groups[0]):
        drawn.append(f"<p>The first {len(groups[0])} of {len(solution.states)} states.</p>")
    return "\n".join([*drawn, '<div id="explore" hidden></div>'])


def energy_section(audit: EnergyAudit) -> str:
    """Whether the balance closes, its course, and its parts at the end."""
    rows = [
        ("stored at the start", audit.start),
        ("supplied", audit.supplied[-1]),
        ("dissipated", audit.dissipated[-1]),
        ("stored at the end", audit.stored[-1]),
        ("closure error at the end", audit.closure[-1]),
    ]
    cells = [(name, number(float(value), 7), "J") for name, value in rows]
    what = (
        "<p>Supplied energy must be stored or dissipated: "
        "closure error = stored − stored at the start + dissipated − supplied.</p>"
    )
    live = [[f"audit:{name}" for name in AUDIT[:3]], [f"audit:{AUDIT[3]}"]]
    drawn = figure(to_svg(plot_energy(audit), "e-", label="Energy over time"), css="chart", panels=live)
    listed = table(("energy", "value", "unit"), cells, len(cells), "rows", numeric=(1,))
    return f'<p class="verdict {grade(audit)}">{verdict(audit)}</p>\n{drawn}\n{what}\n{listed}'


def stress_section(model: Model, solution: Solution) -> str:
    """The largest stress of every flexible body, with its time and place; where it is not known, why."""
    rows = []
    for name, body in model.components.items():
        if not isinstance(body, Deformable) or f"{name}.position.x" not in solution:
            continue
        try:
            peak = body_deformation(model, name, solution.t, solution.values).peak()
        except CotreeError as reason:
            rows.append((f"<b>{text(name)}</b>", "not known", "", text(str(reason))))
            continue
        place = ", ".join(number(x, 4) for x in peak.place)
        rows.append((f"<b>{text(name)}</b>", number(peak.value / 1e6, 4), number(peak.t, 4), f"({place}) m"))
    if not rows:
        return ""
    what = (
        "<p>Largest von Mises stress over the run, in balance with everything that acts on the body: joint forces, "
        "loads, weight and inertia. The place is that of the undeformed body, in its own axes.</p>"
    )
    head = ("body", "stress in MPa", "time in s", "place")
    return what + table(head, rows, len(rows), "bodies", numeric=(1, 2))


def domains_section(solution: Solution) -> str:
    """The energy of every domain of a machine: what it was given, passed on, stored and dissipated."""
    domains = solution.domains
    worst = max(each.error for each in domains.values())
    rows = [
        (f"<b>{text(name)}</b>", *(number(value, 6) for value in _last(each)), number(each.error, 2))
        for name, each in domains.items()
    ]
    head = ("domain", "supplied", "received", "stored", "dissipated", "error")
    listed = table(head, rows, len(rows), "domains", range(1, 6))
    names = [
        f"energy.{domain}.{part}"
        for part in ("stored", "received", "dissipated", "supplied")
        for domain, each in domains.items()
        if np.max(np.abs(getattr(each, part)), initial=0.0) > NOTHING * each.scale
    ]
    figures = []
    for part in ("stored", "received", "dissipated", "supplied"):
        own = [name for name in names if name.endswith(part)]
        if own:
            svg = to_svg(plot_solution(solution, own), f"d{part[0]}-", label=f"Energy {part} by domain")
            figures.append(figure(svg, f"Energy {part}, by domain.", css="chart", panels=panels(solution, own)))
    word = "good" if worst <= CLOSES else "fair" if worst <= DOUBTFUL else "bad"
    what = (
        "<p>Energies in J since the first output time. A domain stores what it is supplied with and receives from the "
        "others less what it dissipates: error = stored + dissipated − supplied − received, over the largest energy "
        "that was moved. Transducers are parts between domains; heat of losses is received by the thermal domain.</p>"
    )
    closes = f'<p class="verdict {word}">Every domain closes to {number(worst, 2)}.</p>'
    return "\n".join([closes, listed, what, *figures])


def _last(audit: DomainAudit) -> list[float]:
    """Energies at the end; zero for what is rounding beside the others."""
    ends = (float(each[-1]) for each in (audit.supplied, audit.received, audit.stored, audit.dissipated))
    return [0.0 if abs(value) <= NOTHING * audit.scale else value for value in ends]


def verdict(audit: EnergyAudit) -> str:
    """One sentence on how well the energy balance closes."""
    if audit.scale == 0:
        return "No energy was stored, supplied or dissipated."
    largest = f"{number(audit.error, 2)} of the largest energy, {quantity(audit.scale, 'J', 4)}."
    if grade(audit) == "good":
        return f"The balance closes to {largest}"
    word = "closes only" if grade(audit) == "fair" else "does not close: it is open"
    return f"The balance {word} to {largest} Tighten rtol and atol, or store more output points, and compare."


def grade(audit: EnergyAudit) -> str:
    """``good``, ``fair`` or ``bad``."""
    if not np.isfinite(audit.error):
        return "bad"
    return "good" if audit.error <= CLOSES else "fair" if audit.error <= DOUBTFUL else "bad"


def events_section(solution: Solution) -> str:
    """When each event happened."""
    rows = []
    for name, times in solution.events.items():
        shown = ", ".join(number(float(time), 6) for time in times[:12])
        more = f" … and {len(times) - 12} more" if len(times) > 12 else ""
        rows.append((f"<b>{text(name)}</b>", f"{len(times)}", (shown + more) or "never"))
    return table(("event", "count", "times in s"), rows, len(rows), "events", numeric=(1,))


def states_section(solution: Solution) -> str:
    """Start, end and range of each state."""
    if not solution.states:
        return "<p>The model has no states: every result follows from the sources at the same time.</p>"

    def row(name: str) -> tuple[str, ...]:
        x = solution[name]
        numbers = (number(float(value)) for value in (x[0], x[-1], np.min(x), np.max(x)))
        return f"<b>{text(name)}</b>", *numbers, text(pretty_unit(solution.unit(name)))

    names = [name for name in solution.states if name in solution]
    head = ("state", "start", "end", "least", "greatest", "unit")
    owners = [name.rpartition(".")[0].partition(".")[0] or name for name in names]
    listed = table(head, (row(name) for name in names), len(solution.states), "states", range(1, 5), owners)
    return folded(f"All {len(solution.states)} states", listed) if len(solution.states) > 24 else listed
