"""The gallery: every example of the repository by family, with its picture in space, its graph and its plots.

The page needs no run; the pictures do, and those in space need Chromium, too (docs/snapshots.py).
"""

from __future__ import annotations

import re
import runpy
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import cotree as ct
from cotree.formulation.choice import is_machine
from cotree.terminal.deformable import Deformable
from cotree.view.graph_drawing import draw_graph
from cotree.view.plots import plot_solution
from cotree.view.structure_drawing import draw_structure

DOCS = Path(__file__).resolve().parent
EXAMPLES = DOCS.parent / "examples"
FAMILIES = ("Mechanisms", "Machines", "Flexible mechanisms", "Deployable structures", "Bond graphs", "Networks")
SAID = "Every picture is drawn from an example of the repository by `docs/regenerate.py`, and every example is a test."
ACROSS = 4
"""Thumbnails in a row."""
GRAPH = 60
"""Edges up to which the graph of a structure is drawn: beyond, it shows less than the structure itself."""
SHARES = {"deployable_mast": 0.6, "flexible_spin_up": 0.5, "machine_flexible_four_bar": 0.89, "pendulum": 0.08}
"""Where in a run the picture in space is taken, if not at its third part."""

Plots = list[list[str]]
Read = Callable[[str], tuple[ct.Model, dict[str, object], Plots]]
Solved = Callable[[str], tuple[ct.Model, ct.Solution, Plots]]


def family(model: ct.Model) -> str:
    """The heading under which an example stands."""
    if model.nodal:
        return "Deployable structures"
    if model.bonded:
        return "Bond graphs"
    if is_machine(model):
        return "Machines"
    if not model.mechanical:
        return "Networks"
    bends = any(isinstance(part, Deformable) for part in model.components.values())
    return "Flexible mechanisms" if bends else "Mechanisms"


def in_space(model: ct.Model) -> bool:
    """Whether a model has something to show in space: of a bond graph, a body."""
    parts = model.components.values()
    return model.nodal or model.mechanical or any(isinstance(part, ct.bond.mechanics.Body) for part in parts)


def with_graph(model: ct.Model) -> bool:
    """Whether the graph of a model is shown."""
    return not model.nodal or model.graph().e <= GRAPH


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub and Sphinx make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def page(read: Read) -> str:
    """The text of the page."""
    models = {path.stem: read(path.stem) for path in sorted(EXAMPLES.glob("*.yaml"))}
    groups = {name: [stem for stem in models if family(models[stem][0]) == name] for name in FAMILIES}
    lines = ["# Gallery", "", SAID, ""]
    for name, stems in groups.items():
        rows = [stems[k : k + ACROSS] for k in range(0, len(stems), ACROSS)]
        lines += [f"**[{name}](#{anchor(name)})**", "", f"|{' |' * ACROSS}", f"|{'---|' * ACROSS}"]
        for row in rows:
            cells = [thumbnail(stem, models[stem][0]) for stem in row] + [""] * (ACROSS - len(row))
            lines += [f"| {' | '.join(cells)} |"]
        lines += [""]
    for name, stems in groups.items():
        lines += [f"## {name}", ""]
        for stem in stems:
            lines += example(stem, models[stem][0], models[stem][2])
    return "\n".join(lines)


def thumbnail(stem: str, model: ct.Model) -> str:
    """A small picture with a name, both a link."""
    image, name = f"images/{stem}_scene.png" if in_space(model) else f"images/{stem}_1.svg", model.name
    return f'[<img src="{image}" alt="{name}" width="190px">](#{anchor(name)}) [{name}](#{anchor(name)})'


def example(stem: str, model: ct.Model, groups: Plots) -> Iterator[str]:
    """What the page says and shows of one example."""
    text = (EXAMPLES / f"{stem}.yaml").read_text(encoding="utf-8").splitlines()
    comments = [line.removeprefix("# ") for line in text if line.startswith("# ")]
    yield from (f"### {model.name}", "", *comments, "", f"`cotree run examples/{stem}.yaml --report report.html`", "")
    if in_space(model):
        yield from (f"![{model.name} in space](images/{stem}_scene.png)", "")
    if model.nodal:
        yield from (f"![{stem} at several instants](images/{stem}_shape.svg)", "")
    if with_graph(model):
        yield from (f"![{'Bond' if model.bonded else 'Linear'} graph of {stem}](images/{stem}_graph.svg)", "")
    for k, names in enumerate(groups):
        yield from (f"![{', '.join(names)}](images/{stem}_{k + 1}.svg)", "")
    if (script := EXAMPLES / f"{stem}.py").exists():
        says, _, rest = runpy.run_path(str(script))["__doc__"].partition("\n\n")
        yield from (f"`python examples/{script.name}`: {says}", *rest.splitlines(), "")
        yield from (f"![{stem}, compared](images/{stem}_compared.svg)", "")


def pictures(folder: Path, solved: Solved, quick: bool) -> None:
    """Draw everything that the page shows; ``quick`` leaves out what takes minutes or needs a browser."""
    with ExitStack() as stack:
        shots = runpy.run_path(str(DOCS / "snapshots.py"))
        camera = None if quick or shots["browser"]() is None else stack.enter_context(shots["Camera"]())
        for path in sorted(EXAMPLES.glob("*.yaml")):
            draw(path, folder, solved, quick)
            if camera is not None and in_space(solved(path.stem)[0]):
                photograph(path.stem, folder, solved, camera)


def draw(path: Path, folder: Path, solved: Solved, quick: bool) -> None:
    """Graph, plots and shapes of one example; the script beside it may say from where it is seen."""
    model, solution, groups = solved(path.stem)
    made = runpy.run_path(str(script)) if (script := path.with_suffix(".py")).exists() else {}
    if model.nodal:
        draw_structure(model, solution, path=folder / f"{path.stem}_shape.svg", view=made.get("VIEW"))
    if model.bonded:
        model.draw(folder / f"{path.stem}_graph.svg")
    elif with_graph(model):
        draw_graph(model.tree(), folder / f"{path.stem}_graph.svg")
    for k, names in enumerate(groups):
        plot_solution(solution, names, folder / f"{path.stem}_{k + 1}.svg")
    if made and not quick:
        made["picture"](folder / f"{path.stem}_compared.svg")


def photograph(stem: str, folder: Path, solved: Solved, camera: Any) -> None:
    """The view of the report at one instant."""
    from cotree.view.page import page as html
    from cotree.view.scene import scene_of
    from cotree.view.scene_page import scene_section

    model, solution, _ = solved(stem)
    section = scene_section(scene_of(model, solution))
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "scene.html"
        report.write_text(html(stem, "", [], [("motion", "Motion", section)], ""), encoding="utf-8")
        camera.snapshot(report, folder / f"{stem}_scene.png", SHARES.get(stem, 1 / 3))
