"""Write everything in docs/ that is computed: the pictures, the gallery page and the numbers of the validation page.

Run it as ``make figures``, or with the name of a folder to write there instead.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import cotree as ct
from cotree.graph import LinearGraph, sample_tree
from cotree.io import read_model
from cotree.model.edge import Edge
from cotree.view import draw_graph, plot_solution

DOCS = Path(__file__).resolve().parent
EXAMPLES = DOCS.parent / "examples"

Row = tuple[str, str, str, str, str, str]


def read(name: str) -> tuple[ct.Model, dict[str, object], list[list[str]]]:
    """The model of an example, its run options and its plots."""
    file = read_model(EXAMPLES / f"{name}.yaml", ct.Model)
    groups = file.run.plot if any(isinstance(entry, list) for entry in file.run.plot) else [file.run.plot]
    return file.model, {"t_end": file.run.t_end, **file.run.options()}, groups


def readme_picture(folder: Path) -> None:
    """The graph of a four-bar mechanism beside its motion."""
    from matplotlib.figure import Figure

    model, options, _ = read("four_bar")
    solution = model.simulate(**options)
    figure = Figure(figsize=(15, 6.4), dpi=80, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    draw_graph(model.tree(), ax=left)
    count = len(solution.t)
    for k in np.linspace(0, count - 1, 12).astype(int):
        bars = [("crank.O", "crank.A"), ("coupler.A", "coupler.B"), ("follower.B", "follower.C")]
        for colour, ends in zip(("tab:blue", "tab:orange", "tab:green"), bars, strict=True):
            x, y = ([solution[f"{end}.position.{axis}"][k] for end in ends] for axis in "xy")
            right.plot(x, y, color=colour, alpha=0.25 + 0.75 * k / count, lw=2)
    right.plot(solution["coupler.position.x"], solution["coupler.position.y"], "k:", lw=1)
    right.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
    right.grid(alpha=0.3)
    figure.savefig(folder / "images" / "readme.png")


def gallery(folder: Path) -> None:
    """A page with the plots and the graph of every example."""
    said = (
        "Every picture is drawn from an example of the repository by `docs/regenerate.py`, and every example is a test."
    )
    lines = ["# Gallery", "", said, ""]
    for path in sorted(EXAMPLES.glob("*.yaml")):
        model, options, groups = read(path.stem)
        solution = model.simulate(**options)
        text = path.read_text(encoding="utf-8").splitlines()
        comments = [line.removeprefix("# ") for line in text if line.startswith("# ")]
        lines += [f"## {model.name}", "", *comments, "", f"`cotree run examples/{path.name}`", ""]
        draw_graph(model.tree(), folder / "images" / f"{path.stem}_graph.svg")
        lines += [f"![Linear graph of {path.stem}](images/{path.stem}_graph.svg)", ""]
        for k, names in enumerate(groups):
            image = f"images/{path.stem}_{k + 1}.svg"
            plot_solution(solution, names, folder / image)
            lines += [f"![{', '.join(names)}]({image})", ""]
    (folder / "gallery.md").write_text("\n".join(lines), encoding="utf-8")


def validation(folder: Path) -> None:
    """The tables of numbers; what is not a number stands in the page's own text."""
    page = (DOCS / "validation.md").read_text(encoding="utf-8")
    for name, rows in (("networks", networks()), ("energy", energies())):
        head, begin, rest = page.partition(f"<!-- {name} -->\n")
        tail = rest[rest.index("<!-- end -->") :]
        page = head + begin + "\n".join(rows) + "\n" + tail
    (folder / "validation.md").write_text(page, encoding="utf-8")


def networks() -> Iterator[str]:
    """Numbers of networks against references."""
    yield "| case | quantity | reference | Cotree | asked | source |"
    yield "|---|---|---|---|---|---|"
    for row in (*dc_motor(), *ladder(), *five_trees()):
        yield "| " + " | ".join(row) + " |"


def dc_motor() -> Iterator[Row]:
    """R = 1, L = 0.5, K = 0.01, J = 0.01, b = 0.1 at 1 V."""
    model, _, _ = read("dc_motor")
    poles = np.sort(model.linearise().poles().real)
    known = "closed form"
    for value, exact in zip(poles, (-9.9974992, -2.0025008), strict=True):
        yield "DC motor", "pole (1/s)", f"{exact:.7f}", f"{value:.7f}", "1e-7", known
    solution = model.simulate(1.0, times=[1.0], rtol=1e-10)
    yield (
        "DC motor",
        "speed at 1 s (rad/s)",
        "0.0830371112",
        f"{solution['shaft.angular_velocity'][0]:.10f}",
        "1e-7",
        known,
    )
    late = model.simulate(40.0, times=[40.0], rtol=1e-10)
    yield "DC motor", "steady speed (rad/s)", "0.0999001", f"{late['shaft.angular_velocity'][0]:.7f}", "1e-7", known


def ladder() -> Iterator[Row]:
    """A Butterworth filter halves the power at its cut-off: |H| = 1/2 / sqrt(1 + (f/fc)^10)."""
    model, _, _ = read("ladder_filter")
    ratios = np.array([0.5, 1.0, 2.0])
    response = model.linearise(outputs=["RL.voltage"]).frequency_response(2 * np.pi * 1000 * ratios)[:, 0, 0]
    for ratio, value in zip(ratios, np.abs(response), strict=True):
        exact = 0.5 / np.sqrt(1 + ratio**10)
        yield (
            "fifth-order ladder",
            f"gain at {ratio:g} fc",
            f"{exact:.12f}",
            f"{value:.12f}",
            "1e-10",
            "transfer function",
        )


def five_trees() -> Iterator[Row]:
    """Largest difference of any current between McPhee's network in its normal tree and in five others."""
    model, options, _ = read("mcphee_network")
    graph: LinearGraph = model.graph()
    trees = [sample_tree(graph, seed) for seed in range(20)]
    others = list(dict.fromkeys(tree.branches for tree in trees if tree.branches != model.tree().branches))[:5]
    reference = model.simulate(**options, rtol=1e-11)
    names = [f"{edge.name}.current" for edge in graph.edges if isinstance(edge, Edge)]
    worst = 0.0
    for branches in others:
        tree = next(tree for tree in trees if tree.branches == branches)
        other = model.simulate(**options, rtol=1e-11, tree=tree)
        worst = max(worst, *(float(np.abs(other[name] - reference[name]).max()) for name in names))
    shown = "below 1e-9" if worst < 1e-9 else f"{worst:.1e}"
    yield (
        "McPhee's network",
        f"currents in {len(others)} other trees (A)",
        "the same",
        f"difference {shown}",
        "1e-9",
        "normal tree",
    )


def energies() -> Iterator[str]:
    """The energy audit of every example, rounded up to a power of ten."""
    yield "| example | integrator | largest energy (J) | balance closes to (relative) |"
    yield "|---|---|---|---|"
    for path in sorted(EXAMPLES.glob("*.yaml")):
        model, options, _ = read(path.stem)
        solution = model.simulate(**options)
        audit = solution.energy()
        power = int(np.ceil(np.log10(max(audit.error, 1e-12))))
        yield f"| {path.stem} | {solution.statistics.integrator} | {audit.scale:.4g} | below 1e{power:d} |"


def main() -> None:
    """Write into docs/ itself, or into the folder named on the command line."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS
    (folder / "images").mkdir(parents=True, exist_ok=True)
    readme_picture(folder)
    gallery(folder)
    validation(folder)


if __name__ == "__main__":
    main()
