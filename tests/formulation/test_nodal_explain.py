"""What equations of nodal structures look like, and what is said about kinds that files call differently."""

from __future__ import annotations

import re
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import cotree as ct
from cotree.errors import ModelError
from cotree.formulation.branch.explain import Symbol, mechanism_formulas, symbols
from cotree.formulation.explain import equations_latex
from cotree.formulation.system import rate_name
from cotree.model import KINDS, Component, find_kind
from cotree.view.mathml import mechanism_equations
from formulation.nodal_models import DOWN, structure

MASS, LOAD = 3.0, 5.0


def pendulum() -> ct.Model:
    """A bar from a fixed node, pulled sideways at its free end."""
    parts = (
        ct.nodal.Fixed("S", "A"),
        ct.nodal.Bar("AB", "A", "B", mass=MASS),
        ct.nodal.Force("F", "B", force=(LOAD, 0, 0)),
    )
    return structure({"A": (0, 0, 0), "B": (2, 0, 0)}, *parts, planar=True, gravity=DOWN)


def plate(planar: bool) -> ct.Model:
    """A body over two nodes, so that points are added to it: one in the plane, two in space."""
    body = ct.nodal.Body("AD", over=("A", "D"), mass=2, centre=(0.5, 0.1, 0), inertia=(0.1, 0.2, 0.25, 0, 0, 0))
    return structure({"A": (0, 0, 0), "D": (1, 0, 0)}, body, planar=planar)


def test_latex_of_a_bar_is_what_one_writes_by_hand() -> None:
    m = pendulum()
    lines = list(equations_latex(m, m.equations()))
    q = r"x_{A} \\ y_{A} \\ x_{B} \\ y_{B}"
    u = r"\dot{x}_{A} \\ \dot{y}_{A} \\ \dot{x}_{B} \\ \dot{y}_{B}"
    assert lines[1].startswith(rf"q = \begin{{pmatrix}} {q} \end{{pmatrix}} % A.position.x, ")
    assert lines[2].startswith(rf"u = \begin{{pmatrix}} {u} \end{{pmatrix}} % A.velocity.x, ")
    third, sixth = r"\frac{m_{\mathrm{AB}}}{3}", r"\frac{m_{\mathrm{AB}}}{6}"
    rows = [f"{third} & 0 & {sixth} & 0", f"0 & {third} & 0 & {sixth}"]
    rows += [f"{sixth} & 0 & {third} & 0", f"0 & {sixth} & 0 & {third}"]
    listed = r" \\ ".join(rows)
    assert rf"M = \begin{{pmatrix}} {listed} \end{{pmatrix}}" in lines
    weight = r"-\frac{m_{\mathrm{AB}} g_{y}}{2}"
    assert lines[4:8] == ["h_{1} = 0", f"h_{{2}} = {weight}", "h_{3} = -F_{x,F}", f"h_{{4}} = {weight}"]
    assert lines[8:10] == [r"\Phi_{1} = x_{A} = 0 % S (x)", r"\Phi_{2} = y_{A} = 0 % S (y)"]
    assert lines[10].endswith(" = 0 % AB (length)")
    assert "position" not in lines[10].partition("%")[0]


def test_the_length_equation_of_a_bar_has_the_values_of_the_one_by_hand() -> None:
    """(|x_B - x_A|^2 - l^2) / (2 l), whose slope is the direction of the bar at its length."""
    e = pendulum().equations()
    formulas = mechanism_formulas(e)
    assert formulas is not None
    [terms] = [terms for label, terms in formulas.constraints if label == "AB (length)"]
    whole = sum((sign * term for sign, term in terms), ca.SX(0))
    names = ca.symvar(whole)
    assert {each.name() for each in names} == set(e.q.names)
    f = ca.Function("f", names, [whole])
    rng = np.random.default_rng(5)
    for _ in range(5):
        q = rng.normal(size=4)
        numbers = dict(zip(e.q.names, q, strict=True))
        by_hand = ((q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 4.0) / 4.0
        assert float(f(*(numbers[each.name()] for each in names))) == pytest.approx(by_hand, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("planar", [True, False], ids=["plane", "space"])
def test_every_coordinate_speed_and_acceleration_has_a_symbol_of_its_own(planar: bool) -> None:
    m = plate(planar)
    e = m.equations()
    known = symbols(m, e)
    names = [*e.q.names, *e.u.names, *(rate_name(name) for name in e.u.names)]
    assert len({known[name].to_latex() for name in names}) == len(names) == 3 * (6 if planar else 12)
    assert known["D.position.y"] == Symbol("y", ("D",))
    assert known["AD.aux1.position.x"].to_latex() == r"x_{\mathrm{AD},1}"
    assert known["AD.aux1.velocity.x"].to_latex() == r"\dot{x}_{\mathrm{AD},1}"
    assert known[rate_name("AD.aux1.velocity.x")].to_latex() == r"\ddot{x}_{\mathrm{AD},1}"
    assert known["AD.inertia.zz"].to_latex() == r"J_{zz,\mathrm{AD}}"


def test_the_report_writes_the_same_symbols() -> None:
    m = plate(planar=True)
    groups = mechanism_equations(m, m.equations())
    assert groups is not None
    legend = dict(dict(groups)["Coordinates and speeds"])
    assert "<msub><mi>x</mi><mtext>A</mtext></msub>" in legend["A.position.x"]
    assert "<msub><mi>y</mi><mtext>A</mtext></msub>" in legend["A.position.y"]
    assert "<msub><mover><mi>y</mi><mo>˙</mo></mover><mtext>AD,1</mtext></msub>" in legend["AD.aux1.velocity.y"]
    assert len(set(legend.values())) == len(legend) == 12


WORDS: dict[str, type[Component]] = {"spring": ct.nodal.Spring, "damper": ct.nodal.Damper, "gear": ct.nodal.Gear}


@pytest.mark.parametrize("word", WORDS)
def test_a_kind_named_by_its_class_leads_to_the_right_name(word: str) -> None:
    wanted = WORDS[word].kind
    assert KINDS[wanted] is WORDS[word]
    with pytest.raises(ModelError, match=rf"no kind of component 'nodal\.{word}'.*Did you mean '{wanted}'\?$"):
        find_kind(f"nodal.{word}", "part")


@pytest.mark.parametrize(
    ("word", "fields"),
    [("spring", ["node_a", "node_b", "stiffness", "length"]), ("damper", ["node_a", "node_b", "damping"]),
     ("gear", ["first", "second", "ratio"])],
)  # fmt: skip
def test_the_fields_tell_that_a_part_of_a_structure_is_meant(word: str, fields: list[str]) -> None:
    with pytest.raises(ModelError, match=rf"{word} has no field '.*Did you mean 'nodal\.node_{word}'\?$"):
        find_kind(word, "part", fields)
    assert find_kind(word, "part", ["nodes", *fields]) is getattr(ct, word.title())


def test_the_documentation_shows_every_ready_made_structure() -> None:
    page = (Path(__file__).parents[2] / "docs" / "api" / "structures.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^:pyobject: (\w+)$", page, re.M)) == set(ct.structures.__all__)
