r"""All equations of a model as LaTeX with headings: topological, terminal and system equations.

The text can be put into a document as it is; it needs ``\usepackage{amsmath}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cotree.formulation.choice import is_machine
from cotree.formulation.explain import equations_latex, latex_namer, terminal_residuals
from cotree.formulation.system import SystemEquations
from cotree.graph import Tree
from cotree.maths.printing import to_latex
from cotree.model import Model

Section = tuple[str, Iterable[str]]


def model_latex(model: Model, trees: tuple[Tree, ...], equations: SystemEquations) -> str:
    """The equations of a network, mechanism, structure or machine, written with these trees."""
    return document(model.name, _sections(model, trees, equations))


def _sections(model: Model, trees: tuple[Tree, ...], equations: SystemEquations) -> Iterator[Section]:
    tree, name = trees[0], latex_namer(model)
    yield "Cutset equations", (tree.cutset_equation(name).to_latex() for name in tree.branches)
    yield "Circuit equations", (tree.circuit_equation(name).to_latex() for name in tree.chords)
    if trees[-1] != tree:
        yield "Circuit equations of the tree of rotations", _circuits(trees[-1])
    if not (model.mechanical or model.nodal) or is_machine(model):
        yield "Terminal equations", (f"{to_latex(residual, name)} = 0" for _, residual in terminal_residuals(model))
    if is_machine(model):
        from cotree.formulation.machine.explain import block_laws

        yield "Blocks of signals", (f"{name(what)} = {to_latex(value, name)}" for _, what, value in block_laws(model))
    yield "System equations", equations_latex(model, equations)


def _circuits(tree: Tree) -> Iterator[str]:
    return (tree.circuit_equation(name).to_latex() for name in tree.chords)


def document(title: str, sections: Iterable[Section]) -> str:
    """Headings with the formulas of each section in one environment; sections without formulas are left out.

    A line that begins with ``%`` stands as a sentence before the formulas, and a comment at the end of one stays there.
    """
    lines = [r"% needs \usepackage{amsmath}; \allowdisplaybreaks lets long lists run over pages", ""]
    lines += [rf"\section*{{{_safe(title)}}}"]
    for heading, formulas in sections:
        every = list(formulas)
        said = [_safe(each.removeprefix("%").strip()) for each in every if each.startswith("%")]
        written = [each for each in every if not each.startswith("%")]
        if every:
            lines += ["", rf"\subsection*{{{heading}}}", *(f"{sentence}." for sentence in said)]
        if written:
            lines += [r"\begin{gather*}", *_rows(written), r"\end{gather*}"]
    return "\n".join(lines)


def _rows(formulas: list[str]) -> Iterator[str]:
    for k, formula in enumerate(formulas):
        body, percent, comment = formula.partition(" % ")
        yield body + (r" \\" if k + 1 < len(formulas) else "") + percent + comment


def _safe(text: str) -> str:
    """Words with the characters that LaTeX reads as commands made safe."""
    safe = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    return "".join(safe.get(c, "\\" + c if c in "_#$%&{}" else c) for c in text)
