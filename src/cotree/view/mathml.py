"""Equations as MathML, which browsers draw without any script: terminal and system equations of a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

import casadi as ca

from cotree.formulation import SystemEquations, rate_name, terminal_residuals
from cotree.formulation.branch.explain import GREEK, Symbol, mechanism_formulas, named_part, symbols, too_long
from cotree.formulation.explain import input_signals
from cotree.graph.equations import TopologicalEquation, plain_subscript
from cotree.maths.printing import replay
from cotree.maths.trigonometric import Term
from cotree.model import Model, quantities
from cotree.view.page import equation_list

MOST_TOKENS = 260
"""Longest printed side of an equation; beyond it the number of operations is given instead."""
MOST_TERMS = 30

_SUM, _PRODUCT, _POWER, _ATOM = range(4)
_MINUS, _PLUS, _TIMES, _EQUALS = "<mo>−</mo>", "<mo>+</mo>", "<mo>&#x2062;</mo>", "<mo>=</mo>"
_INFIX = '<mo form="infix">%s</mo>'
_BLOCK = "display:inline-block;margin:.35em 0"
"""Each term stands in a block of its own, so that a browser can break long sums."""
_SPACED = _TIMES + '<mspace width="0.17em"/>'
_WORD_START = re.compile(r"(?:<msub>|<mrow>)*<m(?:i|text)>\w{2,}</m")
_WORD_END = re.compile(r"<m(?:i|text)>\w{2,}</m(?:i|text)>$")
_FUNCTIONS = {
    ca.OP_SIN: "sin", ca.OP_COS: "cos", ca.OP_TAN: "tan", ca.OP_ASIN: "asin", ca.OP_ACOS: "acos", ca.OP_ATAN: "atan",
    ca.OP_SINH: "sinh", ca.OP_COSH: "cosh", ca.OP_TANH: "tanh", ca.OP_ASINH: "asinh", ca.OP_ACOSH: "acosh",
    ca.OP_ATANH: "atanh", ca.OP_LOG: "ln", ca.OP_SIGN: "sgn", ca.OP_FMIN: "min", ca.OP_FMAX: "max",
    ca.OP_ATAN2: "atan2", ca.OP_FMOD: "mod", ca.OP_FLOOR: "floor", ca.OP_CEIL: "ceil", ca.OP_ERF: "erf",
}  # fmt: skip
_RELATIONS = {
    ca.OP_LT: "&lt;", ca.OP_LE: "≤", ca.OP_EQ: "=", ca.OP_NE: "≠", ca.OP_AND: "∧", ca.OP_OR: "∨",
}  # fmt: skip
_GREEK = {r"\omega": "ω", r"\theta": "θ", r"\Phi": "Φ", r"\delta W": "δW", r"\mathbf{r}": "𝐫", r"\mathbf{F}": "𝐅"}

Name = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Piece:
    """A printed part: its MathML, how tightly it binds, how many tokens it has, and what it negates, if it does."""

    text: str
    level: int = _ATOM
    size: int = 1
    negated: Piece | None = None

    def at(self, level: int) -> str:
        """The text, in brackets where it binds less tightly."""
        return self.text if self.level >= level else f"<mrow><mo>(</mo>{self.text}<mo>)</mo></mrow>"


class Notation:
    """How the names of a model are written: ``L1.current`` as i with the subscript L1, rates with a dot."""

    def __init__(self, model: Model) -> None:
        self.known: dict[str, str] = {}
        for edge in model.edges():
            for variable, symbol in (
                (edge.domain.across, edge.domain.across_symbol),
                (edge.domain.through, edge.domain.through_symbol),
            ):
                letter = f"<mi>{escape(_GREEK.get(symbol, symbol))}</mi>"
                plain = _sub(letter, plain_subscript(edge.name))
                dotted = _sub(f"<mover>{letter}<mo>˙</mo></mover>", plain_subscript(edge.name))
                name = f"{edge.name}.{variable}"
                self.known |= {name: plain, rate_name(name): dotted}
        for component in model.components.values():
            for field, info in quantities(component).items():
                if info.symbol:
                    letter, _, index = info.symbol.partition("_")
                    own = component.name.removeprefix(letter)  # R of R3 is written R with the subscript 3
                    mark = own if own.isdigit() else plain_subscript(component.name)
                    whole = f"{index},{mark}" if index else mark
                    self.known.setdefault(f"{component.name}.{field}", _sub(f"<mi>{escape(letter)}</mi>", whole))

    def __call__(self, name: str) -> str:
        if name in self.known:
            return self.known[name]
        if "(" in name:  # a switching value is called by what it stands for: step(t - 0.1)
            return f"<mtext>{escape(name)}</mtext>"
        owner, _, field = name.rpartition(".")
        word = escape(field.replace("_", " "))
        return _sub(f"<mtext>{word}</mtext>", owner) if owner else f"<mi>{word}</mi>"


def topological(equation: TopologicalEquation) -> str:
    """A cutset or circuit equation; beyond thirty terms the rest is counted."""
    more = len(equation.terms) - MOST_TERMS
    if more <= 0:
        return equation.to_mathml()
    start, _, _ = replace(equation, terms=equation.terms[:MOST_TERMS]).to_mathml().rpartition(_EQUALS)
    return f"{start}{_PLUS}<mtext>({more} more terms)</mtext>{_EQUALS}<mn>0</mn></mrow></math>"


def terminal_equations(model: Model) -> Iterator[tuple[str, str]]:
    """The law of each component, one equation for each of its edges: the edge and its equation."""
    notation = Notation(model)
    for edge, residual in terminal_residuals(model):
        yield edge.name, _math(f"{expression(residual, notation)}{_EQUALS}<mn>0</mn>")


def state_equations(
    model: Model, equations: SystemEquations, notation: Notation | None = None
) -> Iterator[tuple[str, str]]:
    """One equation for each rate, each algebraic variable and each input: the variable and its equation."""
    notation = notation or Notation(model)
    for k, name in enumerate(equations.u.names):
        yield name, _math(f"{notation(rate_name(name))}{_EQUALS}{expression(equations.rates[k], notation)}")
    for k, name in enumerate(equations.w.names):
        yield name, _math(f"<mn>0</mn>{_EQUALS}{expression(equations.algebraic[k], notation)}")
    for name, signal in zip(equations.inputs.names, input_signals(equations), strict=True):
        yield name, _math(f"{notation(name)}{_EQUALS}{expression(signal, notation)}")


def named_equations(model: Model, laws: Iterable[tuple[str, ca.SX]]) -> Iterator[tuple[str, str]]:
    """Equations of the form name = expression, labelled by the name."""
    notation = Notation(model)
    for name, value in laws:
        yield name, _math(f"{notation(name)}{_EQUALS}{expression(value, notation)}")


def mechanism_equations(model: Model, equations: SystemEquations) -> list[tuple[str, list[tuple[str, str]]]] | None:
    """Groups of labelled formulas of a small mechanism, each with its heading; None where they would be too long."""
    formulas = mechanism_formulas(equations)
    if formulas is None:
        return None
    known, count = symbols(model, equations), len(equations.u)

    def name(text: str) -> str:
        symbol = known.get(text) or named_part(text)
        if symbol is not None:
            return _symbol(symbol)
        return f"<mi>{text}</mi>" if len(text) == 1 else f"<mtext>{escape(text)}</mtext>"

    def row(letter: str, mark: str, terms: Sequence[Term], end: str = "") -> str:
        left = f"{_sub(f'<mi>{letter}</mi>', mark)}{_EQUALS}"
        pieces = [f"{_INFIX % ('−' if sign < 0 else '+')}{expression(term, name)}" for sign, term in terms]
        if terms:
            pieces[0] = f"{_MINUS if terms[0][0] < 0 else ''}{expression(terms[0][1], name)}"
        pieces = pieces or ["<mn>0</mn>"]
        pieces[0] = left + pieces[0]
        pieces[-1] += end
        return " ".join(f'<span style="{_BLOCK}">{_math(piece)}</span>' for piece in pieces)

    zero = f"{_EQUALS}<mn>0</mn>"
    comma = "" if count < 10 else ","
    legend = [(each, _math(name(each))) for column in (equations.q, equations.u) for each in column.names]
    parts = [("", row("s", part.removeprefix("s_"), terms)) for part, terms in formulas.parts]
    mass = [("", row("M", f"{i + 1}{comma}{k + 1}", terms)) for (i, k), terms in formulas.mass.items()]
    bias = [(equations.u.names[k], row("h", str(k + 1), terms)) for k, terms in enumerate(formulas.bias)]
    held = [(label, row("Φ", str(k + 1), t, zero)) for k, (label, t) in enumerate(formulas.constraints)]
    rolling = [(label, row("Ψ", str(k + 1), t, zero)) for k, (label, t) in enumerate(formulas.rolling)]
    dots = "" if max(count, len(equations.multipliers)) < 10 else ","
    slopes = [("", row("G", f"{i + 1}{dots}{k + 1}", terms)) for (i, k), terms in (formulas.jacobian or {}).items()]
    groups = [
        ("Coordinates and speeds", legend),
        ("Parts of the formulas below", parts),
        ("Mass matrix: entries on and above the diagonal that are not zero", mass),
        ("Bias: velocity terms and applied forces", bias),
        ("Constraints of positions", held),
        ("Constraints of velocities", rolling),
        ("Constraint Jacobian: entries that are not zero", slopes),
    ]
    return [(heading, rows) for heading, rows in groups if rows]


def motion_section(model: Model, equations: SystemEquations) -> list[str]:
    """The equations of motion of a mechanism as parts of a page, where they are short enough to be read."""
    parts = ["<h3>Equations of motion</h3>", f"<p>{balance_law(bool(len(equations.multipliers)))}</p>"]
    groups = mechanism_equations(model, equations)
    if groups is None:
        words = escape(too_long(equations)).replace("`", "<code>", 1).replace("`", "</code>", 1)
        parts.append(f"<p>{words}.</p>")
    for heading, rows in groups or ():
        parts += [f"<h3>{heading}</h3>", equation_list(rows, len(rows))]
    return parts


def balance_law(constrained: bool) -> str:
    """M u' + h = G^T lambda and Phi = 0, or M u' + h = 0."""
    dotted = "<mover><mi>u</mi><mo>˙</mo></mover>"
    left = f"<mi>M</mi>{_TIMES}{dotted}{_PLUS}<mi>h</mi>{_EQUALS}"
    if not constrained:
        return _math(f"{left}<mn>0</mn>")
    held = f"<msup><mi>G</mi><mi>T</mi></msup>{_TIMES}<mi>λ</mi>"
    return _math(f'{left}{held}<mo>,</mo><mspace width="1em"/><mi>Φ</mi>{_EQUALS}<mn>0</mn>')


def _symbol(symbol: Symbol) -> str:
    word = re.sub(r"\\(?:mathit|text)\{(.*)\}", r"\1", symbol.letter)
    tag = "mtext" if word != symbol.letter and symbol.letter.startswith("\\text") else "mi"
    letter = f"<{tag}>{escape(GREEK.get(word.removeprefix(chr(92)), word))}</{tag}>"
    if symbol.dots:
        letter = f"<mover>{letter}<mo>{'˙' if symbol.dots == 1 else '¨'}</mo></mover>"
    return _sub(letter, ",".join(symbol.marks)) if symbol.marks else letter


def expression(value: ca.SX, name: Name) -> str:
    """A CasADi expression as MathML, with symbols printed by ``name``; very long ones as their number of operations."""
    piece = replay(value, lambda text: Piece(name(text)), number, _operation, lambda piece: piece.size <= MOST_TOKENS)
    return f"<mtext>({piece} operations)</mtext>" if isinstance(piece, int) else piece.text


def number(value: float) -> Piece:
    """A number with six digits, powers of ten written out."""
    mantissa, _, exponent = f"{abs(value):.6g}".partition("e")
    text = f"<mn>{mantissa}</mn>"
    level = _ATOM
    if exponent:
        power = int(exponent)
        sign = _MINUS if power < 0 else ""
        ten = f"<msup><mn>10</mn><mrow>{sign}<mn>{abs(power)}</mn></mrow></msup>"
        text, level = (ten, _POWER) if mantissa == "1" else (f"{text}<mo>×</mo>{ten}", _PRODUCT)
    piece = Piece(text, level)
    return _negative(piece) if value < 0 else piece


def _math(body: str) -> str:
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{body}</mrow></math>'


def _sub(symbol: str, label: str) -> str:
    tag = "mn" if label.isdigit() else "mtext"
    return f"<msub>{symbol}<{tag}>{escape(label)}</{tag}></msub>"


def _negative(piece: Piece) -> Piece:
    return Piece(f"{_MINUS}{piece.at(_PRODUCT)}", _SUM, piece.size + 1, piece)


def _operation(op: int, args: list[Piece]) -> Piece:
    a = args[0]
    b = args[1] if len(args) > 1 else a
    size = 1 + sum(piece.size for piece in args)
    if op in (ca.OP_ADD, ca.OP_SUB):
        minus = (op == ca.OP_SUB) != (b.negated is not None)
        right = b.negated or b
        return Piece(f"{a.text}{_MINUS if minus else _PLUS}{right.at(_PRODUCT) if minus else right.text}", _SUM, size)
    if op == ca.OP_NEG:
        return a.negated or _negative(a)
    if op in (ca.OP_MUL, ca.OP_TWICE):
        left, right = (a, b) if op == ca.OP_MUL else (number(2.0), a)
        if left.negated or right.negated:
            product = _operation(ca.OP_MUL, [left.negated or left, right.negated or right])
            return product if left.negated and right.negated else _negative(product)
        if _is_number(right):
            left, right = right, left
        words = _WORD_END.search(left.text) or _WORD_START.match(right.text)
        dot = "<mo>⋅</mo>" if _is_number(right) else _SPACED if words else _TIMES
        return Piece(f"{left.at(_PRODUCT)}{dot}{right.at(_PRODUCT)}", _PRODUCT, size)
    if op in (ca.OP_DIV, ca.OP_INV):
        top, bottom = (a, b) if op == ca.OP_DIV else (number(1.0), a)
        if top.negated:
            return _negative(_operation(ca.OP_DIV, [top.negated, bottom]))
        return Piece(f"<mfrac><mrow>{top.text}</mrow><mrow>{bottom.text}</mrow></mfrac>", _PRODUCT, size)
    return _special(op, args, size)


def _is_number(piece: Piece) -> bool:
    return piece.level > _SUM and piece.text.startswith("<mn>")


def _special(op: int, args: list[Piece], size: int) -> Piece:
    """Powers, roots, functions and conditions."""
    a, b = args[0], args[-1]
    if op in (ca.OP_SQ, ca.OP_POW, ca.OP_CONSTPOW):
        exponent = "<mn>2</mn>" if op == ca.OP_SQ else f"<mrow>{b.text}</mrow>"
        return Piece(f"<msup><mrow>{a.at(_ATOM)}</mrow>{exponent}</msup>", _POWER, size)
    if op == ca.OP_EXP:
        return Piece(f"<msup><mi>e</mi><mrow>{a.text}</mrow></msup>", _POWER, size)
    if op == ca.OP_SQRT:
        return Piece(f"<msqrt><mrow>{a.text}</mrow></msqrt>", _ATOM, size)
    if op == ca.OP_FABS:
        return Piece(f"<mrow><mo>|</mo>{a.text}<mo>|</mo></mrow>", _ATOM, size)
    if op in _RELATIONS:
        return Piece(f"<mrow><mo>[</mo>{a.text}<mo>{_RELATIONS[op]}</mo>{b.text}<mo>]</mo></mrow>", _ATOM, size)
    if op == ca.OP_NOT:
        return Piece(f"<mrow><mo>¬</mo>{a.at(_ATOM)}</mrow>", _ATOM, size)
    if op == ca.OP_IF_ELSE_ZERO:  # Iverson's bracket: 1 where the condition holds, 0 elsewhere
        return a if b.text == "<mn>1</mn>" else _operation(ca.OP_MUL, [a, b])
    word = _FUNCTIONS.get(op, f"op{op}")
    listed = "<mo>,</mo>".join(piece.text for piece in args)
    return Piece(f"<mi>{word}</mi><mrow><mo>(</mo>{listed}<mo>)</mo></mrow>", _ATOM, size)
