"""Symbolic expressions as readable text: infix with few brackets, as plain text or LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import casadi as ca

LIMIT = 400
"""Longest text of one expression; beyond it the number of operations is given instead."""

_SUM, _PRODUCT, _UNARY, _POWER, _ATOM = range(5)
_FUNCTIONS = {
    ca.OP_SIN: "sin", ca.OP_COS: "cos", ca.OP_TAN: "tan", ca.OP_ASIN: "asin", ca.OP_ACOS: "acos", ca.OP_ATAN: "atan",
    ca.OP_SINH: "sinh", ca.OP_COSH: "cosh", ca.OP_TANH: "tanh", ca.OP_EXP: "exp", ca.OP_LOG: "log", ca.OP_FABS: "abs",
    ca.OP_SIGN: "sign", ca.OP_FMIN: "min", ca.OP_FMAX: "max", ca.OP_ATAN2: "atan2", ca.OP_SQRT: "sqrt",
    ca.OP_FLOOR: "floor", ca.OP_CEIL: "ceil",
}  # fmt: skip
_CONDITIONS = {
    ca.OP_LT: ("<", "<"), ca.OP_LE: ("<=", r"\le"), ca.OP_EQ: ("==", "="), ca.OP_NE: ("!=", r"\ne"),
    ca.OP_AND: ("and", r"\wedge"), ca.OP_OR: ("or", r"\vee"), ca.OP_NOT: ("not", r"\neg"),
}  # fmt: skip
"""Words between or before two sides, as text and in LaTeX."""

P = TypeVar("P")
Piece = tuple[str, int]
Name = Callable[[str], str]


def to_text(expression: ca.SX) -> str:
    """``(C6.voltage - R3.resistance*L2.current)/L2.inductance``; ``[x < 1]`` is 1 where it holds, and 0 elsewhere."""
    return _print(expression, lambda name: name, latex=False)


def to_latex(expression: ca.SX, name: Name) -> str:
    """The same in LaTeX, with symbols printed by ``name``."""
    return _print(expression, name, latex=True)


def replay(
    expression: ca.SX,
    symbol: Callable[[str], P],
    constant: Callable[[float], P],
    operation: Callable[[int, list[P]], P],
    fits: Callable[[P], bool],
    call: Callable[[str, list[P]], P | None] = lambda name, arguments: None,
) -> P | int:
    """Build something from an expression, piece by piece in the order of its instructions.

    Where a piece no longer ``fits``, or a ``call`` of a function gives none, the number of instructions is returned.
    """
    symbols = ca.symvar(expression)
    function = ca.Function("f", [ca.vertcat(*symbols)] if symbols else [], [ca.densify(expression)])
    work: dict[int, P] = {}
    result = constant(0.0)
    for k in range(function.n_instructions()):
        op, inputs, outputs = function.instruction_id(k), function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            result = work[inputs[0]]
            continue
        if op == ca.OP_INPUT:
            piece = symbol(symbols[inputs[1]].name())
        elif op == ca.OP_CONST:
            piece = constant(function.instruction_constant(k))
        elif op == ca.OP_CALL:
            name = re.search(r"= (\w+)\(", function.str(True).split("Algorithm:\n")[1].split("\n")[k])
            made = call(name[1], [work[i] for i in inputs]) if name else None
            if made is None:
                return int(function.n_instructions())
            piece = made
        else:
            piece = operation(op, [work[i] for i in inputs])
        if not fits(piece):
            return int(function.n_instructions())
        work[outputs[0]] = piece
    return result


def _print(expression: ca.SX, name: Name, *, latex: bool) -> str:
    piece = replay(
        expression,
        lambda text: (name(text), _ATOM),
        _constant,
        lambda op, args: _operation(op, args, latex),
        lambda piece: len(piece[0]) <= LIMIT,
        lambda called, args: _looked_up(called, args, name),
    )
    if isinstance(piece, int):
        return rf"\text{{({piece} operations)}}" if latex else f"({piece} operations)"
    return piece[0]


def _looked_up(called: str, args: list[Piece], name: Name) -> Piece | None:
    """A value of a series of data or its rate; None where a rate is by more than its argument."""
    found = looked_up(called)
    if not found or not all(text in ("0", "1") for text, _ in args[2:]):
        return None
    return f"{name(found)}({args[0][0]})", _ATOM


def looked_up(called: str) -> str:
    """``road.rate`` for the function by which an expression looks it up; empty for any other function."""
    found = re.fullmatch(r"((?:fwd1_)*)(?:wrap_)?(\w+)_(\d)", called)
    return found[2] + ".rate" * (found[1].count("fwd1_") + int(found[3])) if found else ""


def _constant(value: float) -> Piece:
    text = f"{value:.15g}"
    return (text, _ATOM if value >= 0 else _SUM)


def _bracket(piece: Piece, level: int) -> str:
    return piece[0] if piece[1] >= level else f"({piece[0]})"


def _cubed(factor: Piece, square: Piece, latex: bool) -> Piece | None:
    """``x**3`` for x times x**2, as which it is computed."""
    hat = "^{%s}" if latex else "**%s"
    alike = factor[1] == _ATOM and square == (factor[0] + hat % 2, _POWER)
    return (factor[0] + hat % 3, _POWER) if alike else None


def _is_condition(piece: Piece) -> bool:
    """Whether a piece is one condition in its brackets."""
    return piece[1] == _ATOM and piece[0].startswith("[") and piece[0].endswith("]")


def _operation(op: int, args: list[Piece], latex: bool) -> Piece:
    a = args[0]
    b = args[1] if len(args) > 1 else a
    times = " " if latex else "*"
    if op == ca.OP_ADD:
        right = b[0]
        return (f"{a[0]} - {right[1:]}" if right.startswith("-") and b[1] == _SUM else f"{a[0]} + {right}", _SUM)
    if op == ca.OP_SUB:
        return f"{a[0]} - {_bracket(b, _PRODUCT)}", _SUM
    if op == ca.OP_NEG:
        return f"-{_bracket(a, _PRODUCT)}", _SUM
    if op == ca.OP_MUL:
        if (power := _cubed(a, b, latex) or _cubed(b, a, latex)) is not None:
            return power
        return f"{_bracket(a, _PRODUCT)}{times}{_bracket(b, _UNARY)}", _PRODUCT
    if op == ca.OP_TWICE:
        return f"2{times}{_bracket(a, _UNARY)}", _PRODUCT
    if op in (ca.OP_DIV, ca.OP_INV):
        top, bottom = (a, b) if op == ca.OP_DIV else (("1", _ATOM), a)
        if latex:
            return rf"\frac{{{top[0]}}}{{{bottom[0]}}}", _POWER
        return f"{_bracket(top, _PRODUCT)}/{_bracket(bottom, _POWER)}", _PRODUCT
    if op in (ca.OP_SQ, ca.OP_POW, ca.OP_CONSTPOW):
        exponent = "2" if op == ca.OP_SQ else b[0]
        hat = f"^{{{exponent}}}" if latex else f"**{exponent if op == ca.OP_SQ else _bracket(b, _ATOM)}"
        base = rf"\left({a[0]}\right)" if latex and a[1] < _ATOM else _bracket(a, _ATOM)
        return f"{base}{hat}", _POWER
    if op in _CONDITIONS:
        word = _CONDITIONS[op][latex]
        inside = [piece[0][1:-1] if _is_condition(piece) else piece[0] for piece in args]
        return (f"[{word} {inside[0]}]" if op == ca.OP_NOT else f"[{inside[0]} {word} {inside[1]}]"), _ATOM
    if op == ca.OP_IF_ELSE_ZERO:
        return a if b[0] == "1" else (f"{_bracket(a, _PRODUCT)}{times}{_bracket(b, _UNARY)}", _PRODUCT)
    word = _FUNCTIONS.get(op, f"op{op}")
    if op == ca.OP_SQRT and latex:
        return rf"\sqrt{{{a[0]}}}", _ATOM
    listed = ", ".join(piece[0] for piece in args)
    return (rf"\operatorname{{{word}}}({listed})" if latex else f"{word}({listed})"), _ATOM
