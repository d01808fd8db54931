"""Equations of bond graphs as text and LaTeX: brackets, dots and the signals of sources."""

from __future__ import annotations

import casadi as ca
import pytest

import cotree.bond as bond
from bond.textbook import build
from cotree.bond.equations import bond_equations
from cotree.bond.explain import bond_latex, latex_symbol
from cotree.maths.printing import to_latex, to_text

x, y = ca.SX.sym("x"), ca.SX.sym("y")


@pytest.mark.parametrize(
    ("expression", "latex"),
    [
        ((x / y) ** 2, r"\left(\frac{x}{y}\right)^{2}"),
        ((x + y) ** 2, r"\left(x + y\right)^{2}"),
        ((x / y) * (x + 1), r"\frac{x}{y} (x + 1)"),
        (x / (x / y), r"\frac{x}{\frac{x}{y}}"),
        (x**3, "x^{3}"),
    ],
)
def test_powers_in_latex(expression: ca.SX, latex: str) -> None:
    assert to_latex(expression, lambda name: name) == latex


@pytest.mark.parametrize("expression", [x * x**2, x**3, (x / y) ** 2, (x + y) * (x + y) ** 2, x**2 * x, y * x**2, x**5])
def test_text_means_what_is_computed(expression: ca.SX) -> None:
    text = to_text(expression)
    assert eval(text, {"x": 1.7, "y": -0.6}) == pytest.approx(
        float(ca.Function("f", [x, y], [expression])(1.7, -0.6)), rel=1e-14
    )
    assert "x*x**2" not in text


def test_latex_of_a_graph() -> None:
    """L p' = V - (q/2)^2 - R p^3, q' = p^3, and the signal of the source."""
    parts = [
        bond.Se("V", effort="5*sin(t)"), bond.Junction1("j"), bond.C("C", effort="(q/2)**2"), bond.I("L", flow="p**3"),
        bond.R("R", resistance=2.0),
    ]  # fmt: skip
    model = build("curved", parts, "b1: V -> j", "b2: j -> C", "b3: j -> L", "b4: j -> R")
    lines = list(bond_latex(model, bond_equations(model)))
    assert lines[0].startswith(r"\dot{p}_{\mathrm{L}} = ")
    assert r"\left(\frac{q_{\mathrm{C}}}{2}\right)^{2}" in lines[0]
    assert lines[1] == r"\dot{q}_{\mathrm{C}} = p_{\mathrm{L}}^{3}"
    assert lines[2] == r"e_{\mathrm{V}} = 5 \operatorname{sin}(t)"


def test_the_dot_stands_above_the_letter() -> None:
    assert latex_symbol()("d(J.momentum.x)/dt").startswith(r"\dot{p}_{")
