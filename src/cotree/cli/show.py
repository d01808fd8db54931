"""``cotree graph``, ``cotree equations`` and ``cotree determinacy``: what a model is made of, without running it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cotree.cli.console import emit, written
from cotree.cli.options import Chosen, Json, ModelChoice, check_ending, takes_model
from cotree.errors import CotreeError

if TYPE_CHECKING:
    from cotree import api

_CUT = re.compile(r"^  (\.\.\.|.*(branches|chords): .*) and \d+ more", re.MULTILINE)
"""How texts end lists that they cut."""


@takes_model
def graph(
    choice: ModelChoice,
    output: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="drawing: .svg, .png or .pdf; of a bond graph also .tex"),
    ] = None,
    level: Annotated[
        str, typer.Option(metavar="NAME", help="of a bond graph: masks, open, or the name of a mask")
    ] = "masks",
    collapse: Annotated[
        bool | None, typer.Option("--collapse/--whole", help="draw bodies as single nodes; beyond 50 edges if left out")
    ] = None,
    most: Annotated[int, typer.Option(metavar="N", min=1, help="longest list before it is cut")] = 40,
    as_json: Json = False,
) -> None:
    """Show or draw the linear graph and its tree.

    Of a bond graph the causality is shown, with the reason for each stroke.
    """
    chosen = choice.read()
    model = chosen.model
    with chosen.about():
        if model.bonded:
            check_ending("--out", output, ".svg", ".png", ".pdf", ".tex")
        else:
            check_ending("--out", output, ".svg", ".png", ".pdf")
        text = "" if as_json else _bond_text(model) if model.bonded else _whole(_graph_text(chosen, most), most)
        print(text, end="" if as_json else "\n")
        if output is not None:
            model.draw(output, level=level) if model.bonded else model.draw(output, chosen.tree, collapse=collapse)
    if as_json:
        emit(_graph_data(chosen) | {"written": [] if output is None else [output]})
    else:
        written([output])


def _whole(text: str, most: int) -> str:
    """The text, with how to see the rest where lists were cut."""
    return f"{text}\n\nLists are cut: --most {10 * most} shows more" if _CUT.search(text) else text


def _graph_text(chosen: Chosen, most: int) -> str:
    from cotree.graph import explain_graph

    first, second = chosen.trees
    text = explain_graph(first.graph, first, most)
    if second != first:
        text += f"\n\nTree of rotations\n  branches: {', '.join(second.branches)}\n  chords: {', '.join(second.chords)}"
    return text


def _bond_text(model: api.Model) -> str:
    return f"{model.causality().text()}\n\n{model.structural().text()}"


def _graph_data(chosen: Chosen) -> dict[str, Any]:
    """Edges with their ends, and what is in the tree; of a bond graph its bonds."""
    model = chosen.model
    if model.bonded:
        from cotree.bond import Bond

        bonds = {name: part for name, part in model.components.items() if isinstance(part, Bond)}
        return {
            "model": model.name,
            "elements": {name: part.kind for name, part in model.components.items() if name not in bonds},
            "bonds": {name: [bond.tail, bond.head] for name, bond in bonds.items()},
        }
    first, second = chosen.trees
    edges = {
        edge.name: {"tail": edge.tail, "head": edge.head, "kind": edge.kind.name.lower()} for edge in first.graph.edges
    }
    data = {"model": model.name, "nodes": list(first.graph.nodes), "edges": edges, "tree": list(first.branches)}
    return data if second == first else data | {"rotation_tree": list(second.branches)}


@takes_model
def equations(
    choice: ModelChoice,
    edge: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="only the topological equation of this edge")
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="as LaTeX, with headings")] = False,
    c: Annotated[Path | None, typer.Option("--c", metavar="FILE", help="write C code to this file: .c")] = None,
    most: Annotated[int, typer.Option(metavar="N", min=1, help="longest list before it is cut")] = 60,
) -> None:
    """Print the equations of a model.

    Topological, terminal and system equations; of a mechanism M, h, Phi and G. With --c they are written as C code
    instead, with a function for all results.
    """
    check_ending("--c", c, ".c", also=".h")
    chosen = choice.read()
    model = chosen.model
    with chosen.about():
        if c is not None:
            model.to_c(c, chosen.tree)
            written([c])
        elif model.bonded:
            _bond_equations(model, edge, latex, most)
        elif edge:
            for name in edge:
                equation = chosen.trees[0].equation(name)
                print(equation.to_latex() if latex else equation)
        elif latex:
            print(model.to_latex(chosen.tree))
        else:
            print(_whole(model.explain(chosen.tree, most), most))


def _bond_equations(model: api.Model, edge: list[str] | None, latex: bool, most: int) -> None:
    if edge:
        raise CotreeError(f"--edge {edge[0]}", expected="no edge: a bond graph has bonds and junctions")
    print(model.to_latex() if latex else _whole(model.explain(None, most), most))


@takes_model
def determinacy(
    choice: ModelChoice,
    cables: Annotated[bool, typer.Option("--cables", help="count cables as members that keep their length")] = False,
) -> None:
    """Count mechanisms and self-stresses.

    Rank, independent modes, mechanisms and states of self-stress of a structure in nodal coordinates.
    """
    chosen = choice.read()
    with chosen.about():
        print(chosen.model.determinacy(cables=cables))


COMMANDS = {
    graph: """\
  cotree graph four_bar.yaml --out graph.svg
  cotree graph four_bar.yaml --tree absolute --into-tree A
  cotree graph dc_motor.yaml --formulation bond --out bonds.svg""",
    equations: """\
  cotree equations four_bar.yaml
  cotree equations circuit.yaml --edge R1 --edge C2 --latex
  cotree equations four_bar.yaml --c four_bar.c""",
    determinacy: """\
  cotree determinacy truss.yaml""",
}
