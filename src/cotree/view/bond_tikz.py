"""Bond graphs as LaTeX: a standalone document with one tikzpicture that needs no library of TikZ."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np

from cotree.model import Model
from cotree.view.bond_drawing import beside
from cotree.view.bond_layout import Layout, arrange
from cotree.view.bond_picture import Activated, Symbol, picture_of
from cotree.view.bond_shapes import DOUBLE, Box, Route
from cotree.view.figures import clean

_INCH = 2.54
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "×": r"$\times$", "∫": r"$\int$", "·": r"$\cdot$", "−": r"$-$",
    "°": r"$^\circ$", "→": r"$\to$",
}  # fmt: skip
_GREEK = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi",
    "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
)  # fmt: skip

_HEAD = r"""\documentclass[border=2mm]{standalone}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{tikz}
\begin{document}
\begin{tikzpicture}[
  x=1cm, y=1cm, line cap=butt, line join=miter,
  every node/.style={inner sep=0pt, outer sep=0pt, anchor=center, font=\sffamily\fontsize{10}{10}\selectfont},
  bond/.style={line width=0.9pt}, multibond/.style={line width=0.7pt}, stroke/.style={line width=1.6pt},
  signal/.style={line width=0.7pt, dashed, draw=signalcolour}, signal head/.style={fill=signalcolour},
  mask/.style={draw, line width=0.9pt, fill=maskcolour, rounded corners=1.5mm},
  block/.style={draw=signalcolour, line width=0.9pt},
  label/.style={text=labelcolour, font=\sffamily\fontsize{7}{7}\selectfont},
  port/.style={text=labelcolour, font=\sffamily\itshape\fontsize{10}{10}\selectfont},
]
\definecolor{signalcolour}{RGB}{0,114,178}
\definecolor{maskcolour}{RGB}{230,240,250}
\definecolor{labelcolour}{RGB}{91,98,112}
"""
_FOOT = "\\end{tikzpicture}\n\\end{document}\n"


def bond_tikz(model: Model, level: str = "masks") -> str:
    """The drawing as a LaTeX document; ``level`` as for `draw_bond_graph`."""
    return layout_tikz(arrange(picture_of(model, level)))


def layout_tikz(layout: Layout) -> str:
    """A layout as a LaTeX document."""
    lines: list[str] = []
    for route in layout.routes:
        lines += _route(route)
    for symbol in layout.picture.symbols:
        lines += _symbol(symbol, layout.symbols[symbol.name])
    lines += [rf"\node[label] at {_at((label.x, label.y))} {{{escape(label.text)}}};" for label in layout.labels]
    return _HEAD + "".join(f"{line}\n" for line in lines) + _FOOT


def escape(text: str) -> str:
    """Text for LaTeX, whatever its characters; letters that pdfLaTeX has no glyph for become their names."""
    return "".join(_letter(character) for character in clean(text))


def _letter(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if ord(character) < 128:
        return character
    name = unicodedata.name(character, "")
    kind, _, letter = name.removeprefix("GREEK ").partition(" LETTER ")
    if name.startswith("GREEK") and letter.replace("LAMDA", "LAMBDA").lower() in _GREEK:
        return _greek(letter.replace("LAMDA", "LAMBDA").lower(), kind == "CAPITAL")
    plain = unicodedata.normalize("NFKD", character)
    if plain[0].isascii() and plain[0].isalpha() and "WITH" in name and len(plain) == 2:
        return character  # an accented Latin letter, which T1 fonts have
    return "".join(_letter(each) for each in plain if ord(each) < 128) or "?"


def _greek(letter: str, capital: bool) -> str:
    if letter == "omicron":
        return "O" if capital else "$o$"
    latin = {"alpha": "A", "beta": "B", "epsilon": "E", "zeta": "Z", "eta": "H", "iota": "I", "kappa": "K", "mu": "M",
             "nu": "N", "rho": "P", "tau": "T", "chi": "X"}  # fmt: skip
    if capital:
        return latin[letter] if letter in latin else rf"$\{letter.capitalize()}$"
    return rf"$\{letter}$"


def _at(point: Iterable[float]) -> str:
    x, y = (f"{_INCH * float(value) + 0.0:.3f}".rstrip("0").rstrip(".") for value in point)
    return f"({'0' if x == '-0' else x},{'0' if y == '-0' else y})"


def _path(points: Iterable[Iterable[float]]) -> str:
    return " -- ".join(_at(point) for point in points)


def _route(route: Route) -> list[str]:
    points = route.points
    if isinstance(route.bond, Activated):
        tip, along, aside = points[-1], route.direction("head"), route.aside
        line = np.concatenate([points[:-1], [tip - 0.08 * along]])
        head = [tip, tip - 0.1 * along + 0.035 * aside, tip - 0.1 * along - 0.035 * aside]
        return [rf"\draw[signal] {_path(line)};", rf"\fill[signal head] {_path(head)} -- cycle;"]
    if route.wide:
        lines = [rf"\draw[multibond] {_path(beside(points, side))};" for side in (DOUBLE, -DOUBLE)]
    else:
        lines = [rf"\draw[bond] {_path(points)};"]
    lines.append(rf"\draw[bond] {_path(route.barb)};")
    if route.stroke is not None:
        lines.append(rf"\draw[stroke] {_path(route.stroke)};")
    return lines


def _symbol(symbol: Symbol, box: Box) -> list[str]:
    lines = []
    if symbol.box:
        corners = [_at(box.centre + side * box.half) for side in (-1, 1)]
        lines.append(rf"\draw[{'block' if symbol.letter else 'mask'}] {corners[0]} rectangle {corners[1]};")
    text = rf"\textbf{{{symbol.letter}}}" if symbol.junction else escape(symbol.shown)
    looks = "[port]" if not symbol.letter and not symbol.box else ""
    lines.append(rf"\node{looks} at {_at(box.centre)} {{{text}}};")
    return lines
