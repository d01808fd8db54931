"""What the program says about a mechanism, and its formulas against equations written by hand."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import cotree as ct
from cotree.formulation.branch.explain import mechanism_formulas
from cotree.formulation.explain import equations_latex
from cotree.maths.trigonometric import Writer

G, L1, L2, MA, MB, JA, JB = 9.81, 0.4, 0.3, 2.0, 1.0, 0.03, 0.05


def double_pendulum() -> ct.Model:
    m = ct.Model("double pendulum", gravity=(0, "-g", 0), parameters={"g": G, "l1": L1, "l2": L2})
    a = m.add(ct.RigidBody("a", mass=MA, inertia=(0.01, 0.03, JA), centre=("l1/2", 0, 0), frames={"end": ("l1", 0, 0)}))
    m.add(ct.RigidBody("b", mass=MB, inertia=(0.01, 0.05, JB), centre=("l2/2", 0, 0)))
    m.add(ct.Revolute("P", m.ground, "a", angle=0.3, angle_rate=1.0))
    m.add(ct.Revolute("Q", a["end"], "b", angle=0.5, angle_rate=-2.0))
    return m


def four_bar() -> ct.Model:
    return ct.load(Path(__file__).parents[2] / "examples" / "four_bar.yaml")


def by_hand(q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M and h of the double pendulum from Lagrange's equations, the second angle relative to the first."""
    c, s = np.cos(q[1]), np.sin(q[1])
    m22 = JB + MB * L2**2 / 4
    m12 = m22 + MB * L1 * L2 * c / 2
    m11 = JA + MA * L1**2 / 4 + MB * L1**2 + m22 + MB * L1 * L2 * c
    swing = MB * L1 * L2 * s / 2
    second = MB * G * L2 / 2 * np.cos(q[0] + q[1])
    first = (MA / 2 + MB) * G * L1 * np.cos(q[0])
    h = np.array([first + second - swing * (2 * u[0] * u[1] + u[1] ** 2), second + swing * u[0] ** 2])
    return np.array([[m11, m12], [m12, m22]]), h


def test_latex_of_the_double_pendulum_is_what_one_writes_by_hand() -> None:
    m = double_pendulum()
    lines = list(equations_latex(m, m.equations()))
    assert lines[:3] == [
        r"M(q, t)\,\dot{u} + h(q, u, t) = 0",
        r"q = \begin{pmatrix} \theta_{P} \\ \theta_{Q} \end{pmatrix} % P.angle, Q.angle",
        r"u = \begin{pmatrix} \dot{\theta}_{P} \\ \dot{\theta}_{Q} \end{pmatrix} % P.angle_rate, Q.angle_rate",
    ]
    inertia = r"\frac{4 J_{zz,b} + m_{b} l_{2}^{2}}{4}"
    assert rf"M_{{12}} = M_{{21}} = {inertia} + \frac{{m_{{b}} l_{{1}} l_{{2}} \cos(\theta_{{Q}})}}{{2}}" in lines
    assert f"M_{{22}} = {inertia}" in lines
    weight = r"\frac{m_{b} g l_{2} \cos(\theta_{P} + \theta_{Q})}{2}"
    swing = r"\frac{m_{b} l_{1} l_{2} \dot{\theta}_{P}^{2} \sin(\theta_{Q})}{2}"
    assert lines[-1] == f"h_{{2}} = {weight} + {swing}"


def test_formulas_of_the_double_pendulum_have_the_values_of_those_by_hand() -> None:
    e = double_pendulum().equations()
    formulas = mechanism_formulas(e)
    assert formulas is not None
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, u = rng.normal(size=2), rng.normal(size=2)
        M, h = by_hand(q, u)
        numbers = dict(zip((*e.p.names, *e.q.names, *e.u.names), (*e.p.start, *q, *u), strict=True))
        for (i, k), terms in formulas.mass.items():
            assert value(terms, numbers) == pytest.approx(M[i, k], rel=1e-13)
        assert [value(terms, numbers) for terms in formulas.bias] == pytest.approx(h, rel=1e-12)


def value(terms: list[tuple[int, ca.SX]], numbers: dict[str, float]) -> float:
    whole = sum((sign * term for sign, term in terms), ca.SX(0))
    symbols = ca.symvar(whole)
    f = ca.Function("f", [ca.vertcat(*symbols)], [whole])
    return float(f([numbers[s.name()] for s in symbols]))


def test_formulas_of_a_spinning_top_are_eulers_equations() -> None:
    """J w' + w x J w = -c x m g about the point of support, with inertias about that point."""
    m = ct.Model("top")
    m.add(ct.RigidBody("b", mass=2.0, inertia=(0.02, 0.02, 0.03), centre=(0, 0, 0.2)))
    m.add(ct.Spherical("S", m.ground, "b"))
    lines = list(equations_latex(m, m.equations()))
    steiner = r"J_{%s,b} + c_{z,b}^{2} m_{b}"
    rows = rf"{steiner % 'xx'} & 0 & 0 \\ 0 & {steiner % 'yy'} & 0 \\ 0 & 0 & J_{{zz,b}}"
    assert rf"M = \begin{{pmatrix}} {rows} \end{{pmatrix}}" in lines
    assert r"h_{3} = \omega_{x,S} \omega_{y,S} (J_{yy,b} - J_{xx,b})" in lines


def test_closure_of_the_four_bar() -> None:
    """Around the loop, in the axes of the follower: l1, l2, l3 and the ground link come back to the start."""
    m = four_bar()
    lines = list(equations_latex(m, m.equations()))
    whole = r"\theta_{A} + \theta_{B}"
    assert (
        rf"\Phi_{{2}} = l_{{2}} \sin(\theta_{{B}}) + l_{{1}} \sin({whole}) "
        rf"- r_{{x,\mathrm{{pivot}}}} \sin({whole} + \theta_{{O}}) = 0 % C (translation 2)"
    ) in lines


def test_explanation_leads_from_the_graph_to_the_degrees_of_freedom() -> None:
    text = four_bar().explain()
    for piece in (
        "11 nodes, 20 edges, datum ground", "N7 dependent virtual work: 6", "3 bodies, 4 joints",
        "3 coordinates q, 3 speeds u, 2 multipliers lambda", "C (translation 1)", "1 degree of freedom",
        "'C' adds 3 redundant equations: planar loop", "M[3,3] = follower.mass*l3**2/3",
    ):  # fmt: skip
        assert piece in text


def test_explanation_of_two_trees_names_both() -> None:
    text = four_bar().explain(("joint", "absolute"))
    assert "Tree of rotations; the tree above is that of translations" in text
    assert "9 speeds u, 8 multipliers lambda" in text


def test_a_long_system_says_so_instead_of_printing_it() -> None:
    m = ct.Model("chain")
    last = "ground"
    for k in range(24):
        body = m.add(ct.RigidBody(f"b{k}", ct.rod(length=0.1, mass=1), frames={"end": (0.1, 0, 0)}))
        m.add(ct.Revolute(f"j{k}", last, f"b{k}"))
        last = body["end"]
    assert "M has 24 x 24 entries: too long to be read; written as C code by `cotree equations --c FILE`" in m.explain()


def test_writing_out_changes_no_value() -> None:
    """Random expressions of the operations that occur, evaluated before and after."""
    x, y, a, b = (ca.SX.sym(name) for name in "xyab")
    expressions = [
        ca.sin(x) ** 2 + ca.cos(x) ** 2,
        (a * ca.cos(x + y) + b * ca.sin(x - 2 * y)) ** 3 / (2 * a * b**2),
        ca.tanh(a * ca.sin(x)) / (1 + ca.cos(y) ** 2) + ca.sqrt(a**2 + b**2),
        ca.sin(2.5 * x) * ca.cos(a * y + 1.0) - ca.sin(x + 0.5) * ca.exp(-b),
        ca.fmax(a, b) * ca.if_else(x > y, a, b) + ca.atan2(ca.sin(x), ca.cos(x)) + a**2.5,
    ]
    rng = np.random.default_rng(5)
    for expression in expressions:
        writer = Writer(["a", "b"])
        terms = writer.terms(expression)
        for _ in range(4):
            numbers = dict(zip("xyab", rng.uniform(0.5, 2.0, 4), strict=True))
            wanted = value([(1, expression)], numbers)
            for part in writer.definitions:
                numbers[part.name] = value(writer.definition(part), numbers)
            assert value(terms, numbers) == pytest.approx(wanted, rel=1e-12)
    assert [(sign, str(term)) for sign, term in Writer().terms(expressions[0])] == [(1, "1")]
