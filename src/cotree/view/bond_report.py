"""What a report says of a bond graph: its drawing, its causality, its structure and its equations."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from cotree.bond import Bond
from cotree.bond.causality import assign
from cotree.bond.explain import LETTERS
from cotree.bond.opening import open_graph
from cotree.bond.structural import structural
from cotree.formulation import SystemEquations
from cotree.model import Model
from cotree.view import mathml
from cotree.view.bond_drawing import bond_svg
from cotree.view.bond_picture import picture_of
from cotree.view.page import MOST_ROWS, equation_list, figure, text
from cotree.view.report_equations import facts

MOST_SYMBOLS = 40
"""Elements beyond which the open graph is not drawn."""


class BondNotation(mathml.Notation):
    """p, q, e and f with the element as subscript, dots for rates."""

    def __call__(self, name: str) -> str:
        dotted = name.startswith("d(") and name.endswith(")/dt")
        parts = (name[2:-4] if dotted else name).split(".")
        for k, part in enumerate(parts):
            if k and part in LETTERS:
                letter = f"<mi>{LETTERS[part]}</mi>"
                letter = f"<mover>{letter}<mo>˙</mo></mover>" if dotted else letter
                return f"<msub>{letter}<mtext>{escape('.'.join(parts[:k] + parts[k + 1 :]))}</mtext></msub>"
        if dotted:
            return f"<mover><mrow>{super().__call__('.'.join(parts))}</mrow><mo>˙</mo></mover>"
        return super().__call__(name)


def graph_section(model: Model) -> str:
    """The bond graph as it was drawn, and opened where that stays readable."""
    structure = open_graph(model)
    caption = "Half arrows show where power counts positive, strokes where effort acts."
    mixed = " Multibonds without a stroke have some at both ends, by components."
    parts = [figure(bond_svg(model, "masks"), caption + (mixed if _mixed(model, "masks") else ""), css="graph")]
    masked = len(structure.vertices) > sum(not isinstance(part, Bond) for part in model.components.values())
    if masked and len(structure.vertices) <= MOST_SYMBOLS:
        opened = "The same graph with all masks opened." + (mixed if _mixed(model, "open") else "")
        parts.append(figure(bond_svg(model, "open"), opened, css="graph"))
    return "\n".join(parts)


def _mixed(model: Model, level: str) -> bool:
    """Whether a drawing has bonds whose components have strokes at both ends, so that none is drawn."""
    return any(arrow.stroke == "mixed" for arrow in picture_of(model, level).arrows)


def causality_section(model: Model) -> str:
    """Which storages are free, what is tied or looped; on demand the reason for each stroke, and all causal paths."""
    structure = open_graph(model)
    causality = assign(structure)
    strokes = len(causality.reasons)
    verdict = [line for line in causality.text().split("\n\n")[-1].splitlines() if line.strip()]
    words = [line.strip() for line in str(structural(structure, causality)).splitlines() if line.strip()]
    return "\n".join(
        [
            _listed(verdict, "ul"),
            f"<details><summary>Strokes in the order of assignment, with reasons ({strokes})</summary>",
            _listed(map(str, causality.reasons), "ol"),
            f"</details><details><summary>{text(words[0])}</summary>",
            _listed(words[1:], "ul"),
            "</details>",
        ]
    )


def _listed(lines: Iterable[str], tag: str) -> str:
    every = list(lines)
    rows = "".join(f"<li>{text(line)}</li>" for line in every[:MOST_ROWS])
    more = f"<p>... and {len(every) - MOST_ROWS} more</p>" if len(every) > MOST_ROWS else ""
    return f"<{tag}>{rows}</{tag}>{more}"


def equations_section(model: Model, equations: SystemEquations) -> str:
    """State equations, or the equations of motion where they are short enough to be read."""
    parts = [facts(equations)]
    if equations.mechanics is None:
        count = len(equations.u) + len(equations.w) + len(equations.inputs)
        parts += ["<h3>State equations</h3>"]
        parts.append(equation_list(mathml.state_equations(model, equations, BondNotation(model)), count))
    else:
        parts += mathml.motion_section(model, equations)
    return "\n".join([*parts, "<p>A dot is the rate of change.</p>"])


def ends(part: object) -> str:
    """Where a bond begins and ends."""
    return f"{text(part.tail)} → {text(part.head)}" if isinstance(part, Bond) else ""
