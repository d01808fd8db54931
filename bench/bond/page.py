"""The page that the benchmark writes: both forms beside each other, ratios, and the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.bond.costs import Evaluation, Form, Whole

LIMIT = 3.0
"""How many times the cost of the branch formulation a bond graph with ideal joints may have."""

HEAD = """# Performance: bond graphs

What `python bench/bond/run.py --docs` measured ({versions}).
The same mechanisms as bond graphs and in branch coordinates, through the same integrators, in one process with one
thread. Example 3 is that of Filippini 2007 with ideal joints (`examples/bond_example_3.yaml`); its branch model has an
arm of 1e-12 kg, since a body without mass is no body there. Slider-crank and chain are branch models turned into graphs
by `Model.to_bond_graph()`. One evaluation: the right-hand side that an integrator calls, with the powers of the energy
audit, near the start, in CasADi's virtual machine and as C code of `-O3` in a loop. Whole runs: seconds inside the
integrator, states at 101 output times, at the loosest tolerance that meets the error together with the next one; error:
the largest distance of the watched centres of mass from a run of the branch formulation with `rtol` = 1e-12. Best of
several runs, in which the two forms take turns. Set-up: model, opening and equations, without compiler.
"""


def ratio(graph: float, branch: float) -> str:
    """The graph's cost over that of the branch formulation."""
    return f"{graph / branch:.2f}"


def evaluations(rows: Mapping[str, tuple[Mapping[str, Form], Mapping[str, Evaluation]]]) -> list[str]:
    """Set-up and one evaluation."""
    lines = [
        "## One evaluation",
        "",
        "| mechanism | form | coordinates, speeds, multipliers | instructions | interpreted us | compiled us "
        "| set-up ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for title, (forms, costs) in rows.items():
        for name, form in forms.items():
            e, cost = form.equations, costs[name]
            sizes = f"{len(e.q)}, {len(e.u)}, {len(e.multipliers)}"
            lines.append(
                f"| {title} | {name} | {sizes} | {cost.instructions} | {cost.interpreted:.2f} | {cost.compiled:.3f} "
                f"| {1e3 * form.setup:.0f} |"
            )
        a, b = costs["bond graph"], costs["branch"]
        both = forms["bond graph"].setup, forms["branch"].setup
        lines.append(
            f"| {title} | ratio | | {ratio(a.instructions, b.instructions)} | {ratio(a.interpreted, b.interpreted)} "
            f"| {ratio(a.compiled, b.compiled)} | {ratio(*both)} |"
        )
    return lines


def runs(rows: Sequence[tuple[str, str, str, float, Whole | None, Whole | None]]) -> list[str]:
    """Whole runs at equal error."""
    lines = [
        "## Whole runs at equal error",
        "",
        "| mechanism | method | error asked for m | bond graph: rtol, error m, steps, ms "
        "| branch: rtol, error m, steps, ms | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for title, method, code, target, graph, branch in rows:
        cells = [
            "not met" if each is None else
            f"{each.rtol:g}, {each.error:.1e}, {each.steps}, {1e3 * each.seconds:.1f}" for each in (graph, branch)
        ]  # fmt: skip
        shown = ratio(graph.seconds, branch.seconds) if graph and branch else ""
        lines.append(f"| {title} | {method}, {code} | {target:g} | {cells[0]} | {cells[1]} | {shown} |")
    return lines


def verdicts(title: str, costs: Mapping[str, Evaluation], pairs: Sequence[tuple[Whole, Whole]]) -> list[str]:
    """The target: every ratio of the first mechanism."""
    a, b = costs["bond graph"], costs["branch"]
    found = {
        "instructions": a.instructions / b.instructions,
        "an interpreted evaluation": a.interpreted / b.interpreted,
        "a compiled evaluation": a.compiled / b.compiled,
    }
    if pairs:
        every = [graph.seconds / branch.seconds for graph, branch in pairs]
        found["whole runs (the worst of all above)"] = max(every)
    lines = [f"Target for {title}: at most {LIMIT:g} times the cost of the branch formulation.", ""]
    return lines + [f"- {what}: {x:.2f} ({'met' if x <= LIMIT else 'missed'})" for what, x in found.items()]


def soft(rows: Sequence[tuple[float, int, int, float, float]]) -> list[str]:
    """C joints over stiffness."""
    lines = [
        "## C joints, for information",
        "",
        "Example 3 with C elements in place of its constraints and R beside them: 38 states instead of 7, integrated "
        "by CVODES with `rtol` = 1e-9 over 5 s. Distance: from ideal joints.",
        "",
        "| stiffness N/m, N m/rad | steps | evaluations | distance m | whole run ms |",
        "|---|---|---|---|---|",
    ]
    for stiffness, steps, count, distance, seconds in rows:
        lines.append(f"| {stiffness:.0e} | {steps} | {count} | {distance:.1e} | {1e3 * seconds:.0f} |")
    return lines
