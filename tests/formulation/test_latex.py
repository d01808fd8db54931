"""LaTeX of all equations, and the constraint Jacobian G against finite differences."""

from __future__ import annotations

import re
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import cotree as ct
from cotree.formulation.branch.explain import mechanism_formulas

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = ["dc_motor", "four_bar", "spinning_top", "machine_motor_slider_crank", "deployable_five_bar", "bond_example_1"]


def check_latex(text: str) -> None:
    """Environments and braces are balanced, and formulas stand in an environment alone."""
    inside: list[str] = []
    for line in text.splitlines():
        bare = re.sub(r"(?<!\\)%.*", "", line)
        assert len(re.findall(r"(?<!\\)\{", bare)) == len(re.findall(r"(?<!\\)\}", bare)), line
        if not re.search(r"\\begin|\\end|\\(sub)?section", bare) and not inside:
            assert not re.search(r"[\^]|(?<!\\)_|\\(frac|dot|mathrm)", bare), line
        for word, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", bare):
            if word == "begin":
                inside.append(name)
            else:
                assert inside.pop() == name
    assert not inside
    assert r"\\" + "\n" + r"\end{gather*}" not in text
    assert not re.search(r"\\begin\{gather\*\}\s*\\end", text)


@pytest.mark.parametrize("name", FILES)
def test_latex_of_examples_is_complete_mathematics(name: str) -> None:
    text = ct.load(EXAMPLES / f"{name}.yaml").to_latex()
    check_latex(text)
    assert text.count(r"\subsection*{System equations}") == 1


def test_terminal_equations_and_sources_are_there() -> None:
    m = ct.Model("R_C & 5 %")
    m.add(ct.VoltageSource("V", ("in", "ground"), voltage=5))
    m.add(ct.Resistor("R", ("in", "out"), resistance=1e3))
    m.add(ct.Capacitor("C", ("out", "ground"), capacitance=1e-6))
    text = m.to_latex()
    check_latex(text)
    lines = [line.removesuffix(r" \\") for line in text.splitlines()]
    assert r"\section*{R\_C \& 5 \%}" in lines
    assert [line for line in lines if "subsection" in line] == [
        rf"\subsection*{{{word} equations}}" for word in ("Cutset", "Circuit", "Terminal", "System")
    ]
    for expected in (
        r"i_{\mathrm{V}} + i_{\mathrm{R}} = 0", r"v_{\mathrm{R}} - v_{\mathrm{V}} + v_{\mathrm{C}} = 0",
        r"v_{\mathrm{V}} - 5 = 0", r"v_{\mathrm{R}} - R_{\mathrm{R}} i_{\mathrm{R}} = 0", r"v_{\mathrm{V}} = 5",
    ):  # fmt: skip
        assert expected in lines, lines


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "pendulum", "deployable_five_bar"])
def test_printed_jacobian_is_the_slope_of_the_velocity_equations(name: str) -> None:
    """By finite differences of the velocity equations, which are linear in u, at random places."""
    e = ct.load(EXAMPLES / f"{name}.yaml").equations()
    formulas, rng = mechanism_formulas(e), np.random.default_rng(5)
    assert formulas is not None
    assert formulas.jacobian is not None
    assert e.mechanics is not None
    q, t, u = rng.uniform(0.5, 1.5, len(e.q)), 0.3, rng.normal(size=len(e.u))
    velocity = ca.Function("v", [e.t, e.p.symbols, e.q.symbols, e.u.symbols], [e.mechanics.velocity])
    G = np.zeros((e.mechanics.velocity.numel(), len(e.u)))
    for k, step in enumerate(np.eye(len(u))):
        ahead, behind = (np.array(velocity(t, e.p.start, q, u + side * step)) for side in (1, -1))
        G[:, k] = ((ahead - behind) / 2).ravel()
    numbers = {"t": t, **dict(zip((*e.p.names, *e.q.names, *e.u.names), (*e.p.start, *q, *u), strict=True))}
    for part, terms in formulas.parts:
        numbers[part] = _value(terms, numbers)
    printed = np.zeros_like(G)
    for place, terms in formulas.jacobian.items():
        printed[place] = _value(terms, numbers)
    assert printed == pytest.approx(G, rel=1e-12, abs=1e-13)
    exact = ca.Function("G", [e.t, e.p.symbols, e.q.symbols, e.u.symbols], [e.constraint_jacobian()])
    assert np.array(exact(t, e.p.start, q, u)) == pytest.approx(G, rel=1e-12, abs=1e-13)


def _value(terms: list[tuple[int, ca.SX]], numbers: dict[str, float]) -> float:
    whole = sum((sign * term for sign, term in terms), ca.SX(0))
    symbols = ca.symvar(whole)
    return float(ca.Function("f", [ca.vertcat(*symbols)], [whole])([numbers[s.name()] for s in symbols]))


def test_the_jacobian_is_printed_as_text() -> None:
    text = ct.load(EXAMPLES / "four_bar.yaml").explain()
    assert "G[1,2] = l1*sin(A.angle + B.angle) - pivot.position.x*sin(A.angle + B.angle + O.angle)" in text
