"""Expressions as text."""

from __future__ import annotations

import casadi as ca
import pytest

from cotree.maths.printing import to_latex, to_text

X, Y = ca.SX.sym("x"), ca.SX.sym("y")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (ca.if_else(X < 1, Y, 0), "[x < 1]*y"),
        (ca.if_else(X >= 1, 1, 0), "[1 <= x]"),
        (ca.if_else(X == 1, Y, -Y), "[x == 1]*y + [not x == 1]*(-y)"),
        (ca.if_else(ca.logic_and(X < 1, Y < 2), X + Y, 0), "[x < 1 and y < 2]*(x + y)"),
        (ca.floor(X / Y), "floor(x/y)"),
    ],
)
def test_pieces_and_conditions_are_readable(expression: ca.SX, text: str) -> None:
    assert to_text(expression) == text


def test_a_condition_in_latex() -> None:
    assert to_latex(ca.if_else(X <= 1, Y, 0), str.upper) == r"[X \le 1] Y"
