r"""Topological equations: sums of through or across variables that vanish, printed with the names of the model.

The vertex postulate gives ``sum of through variables = 0`` at a node or for a cutset (McPhee 1996, eq. 8 and 9), the
circuit postulate ``sum of across variables = 0`` around a loop (McPhee 1996, eq. 11 and 12).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, NamedTuple

from cotree.errors import GraphError
from cotree.maths.named import latex_name
from cotree.maths.viewed import Viewed
from cotree.model.edge import Edge

Variable = Literal["through", "across"]
Label = Callable[[str], str]

_GREEK = {"delta": "δ", "theta": "θ", "omega": "ω", "tau": "τ", "phi": "φ", "lambda": "λ", "Phi": "Φ", "Omega": "Ω"}
_TOKEN = re.compile(r"\\mathbf\{(?P<bold>\w+)\}|\\(?P<command>[A-Za-z]+)|(?P<letter>\S)")


class Term(NamedTuple):
    """One signed variable of an equation."""

    sign: int
    edge: Edge


@dataclass(frozen=True, slots=True)
class TopologicalEquation(Viewed):
    """``sum(sign * variable of edge) = 0``.

    ``subject`` is the node, branch or chord that the equation belongs to, ``form`` says which of the three it is.
    """

    terms: tuple[Term, ...]
    variable: Variable
    subject: str
    form: Literal["vertex", "cutset", "circuit"]

    def __repr__(self) -> str:
        return f"<TopologicalEquation of '{self.subject}': {self.form}, {len(self.terms)} terms>"

    def _view(self) -> str:
        return str(self)

    @property
    def signs(self) -> dict[str, int]:
        """Edge name -> sign, in the order of the terms."""
        return {edge.name: sign for sign, edge in self.terms}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the edges in the order of the terms."""
        return tuple(edge.name for _, edge in self.terms)

    def residual(self, values: Mapping[str, Any]) -> Any:
        """The left side for given values of the variables by edge name: zero where the postulate holds."""
        missing = [name for name in self.names if name not in values]
        if missing:
            raise GraphError(f"no value for {', '.join(missing)}", where=f"{self.form} equation of {self.subject}")
        return sum((sign * values[edge.name] for sign, edge in self.terms), start=0)

    def __str__(self) -> str:
        """``L1.current - V7.current = 0``."""
        return _joined([(s, f"{e.name}.{self._variable(e)}") for s, e in self.terms], "-", " - ", " + ") + " = 0"

    def to_latex(self, label: Label | None = None) -> str:
        r"""``i_{\mathrm{L1}} - i_{\mathrm{V7}} = 0`` with the symbols of each edge's domain.

        ``label`` turns an edge's name into the LaTeX of its subscript; see :func:`subscript` for the rule otherwise.
        """
        label = label or subscript
        terms = [(s, f"{self._symbol(e)}_{{{label(e.name)}}}") for s, e in self.terms]
        return _joined(terms, "-", " - ", " + ") + " = 0"

    def to_mathml(self, label: Label | None = None) -> str:
        """A ``<math>`` element that browsers draw without any script; ``label`` gives the plain text of a subscript."""
        label = label or plain_subscript
        terms = [(s, _mathml_symbol(self._symbol(e), label(e.name))) for s, e in self.terms]
        minus, plus = "<mo>\u2212</mo>", "<mo>+</mo>"
        body = _joined(terms, minus, minus, plus, zero="<mn>0</mn>")
        return f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{body}<mo>=</mo><mn>0</mn></mrow></math>'

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def _variable(self, edge: Edge) -> str:
        return edge.domain.through if self.variable == "through" else edge.domain.across

    def _symbol(self, edge: Edge) -> str:
        return edge.domain.through_symbol if self.variable == "through" else edge.domain.across_symbol


def plain_subscript(name: str) -> str:
    """The papers write edge e33 as subscript 33: ``e`` and digits give the digits, any other name stays whole."""
    return name[1:] if re.fullmatch(r"e\d+", name) else name


def subscript(name: str) -> str:
    r"""LaTeX of a subscript: ``33`` for ``e33``, ``7`` for ``7``, ``\mathrm{L1}`` for ``L1``."""
    plain = plain_subscript(name)
    return plain if plain.isdigit() else latex_name(plain)


def _joined(terms: list[tuple[int, str]], first_minus: str, minus: str, plus: str, zero: str = "0") -> str:
    if not terms:
        return zero
    out = [(first_minus if terms[0][0] < 0 else "") + terms[0][1]]
    out += [(minus if sign < 0 else plus) + text for sign, text in terms[1:]]
    return "".join(out)


def _mathml_symbol(symbol: str, label: str) -> str:
    """``<msub>`` of a domain's symbol; bold letters are Unicode ones because browsers ignore ``mathvariant``."""
    *before, last = [_mathml_token(match) for match in _TOKEN.finditer(symbol)]
    tag = "mn" if label.isdigit() else "mtext"
    return "".join(before) + f"<msub>{last}<{tag}>{escape(label)}</{tag}></msub>"


def _mathml_token(match: re.Match[str]) -> str:
    if match["bold"]:
        return "<mi>" + "".join(_bold(c) for c in match["bold"]) + "</mi>"
    if match["command"]:
        return f"<mi>{_GREEK.get(match['command'], match['command'])}</mi>"
    return f"<mi>{escape(match['letter'])}</mi>"


def _bold(letter: str) -> str:
    if "a" <= letter <= "z":
        return chr(0x1D41A + ord(letter) - ord("a"))
    return chr(0x1D400 + ord(letter) - ord("A")) if "A" <= letter <= "Z" else letter
