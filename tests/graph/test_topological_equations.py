"""How topological equations are printed: text, LaTeX, MathML."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from cotree.errors import GraphError
from cotree.graph import LinearGraph, Tree, select_tree
from cotree.graph.equations import Term, TopologicalEquation, subscript
from cotree.model.edge import DISPLACEMENT, ELECTRICAL, HYDRAULIC, ROTATIONAL, THERMAL, VIRTUAL_WORK, Domain, Edge

MINUS, BOLD_R = "\u2212", "\U0001d42b"
TREE = ["L1", "L2", "R3", "R4", "R5"]


def test_text_and_latex(network: LinearGraph) -> None:
    tree = Tree(network, TREE)
    assert str(tree.equation("L1")) == "L1.current - V7.current = 0"
    assert tree.equation("L1").to_latex() == r"i_{\mathrm{L1}} - i_{\mathrm{V7}} = 0"
    assert tree.equation("C6").to_latex() == (
        r"v_{\mathrm{C6}} - v_{\mathrm{L2}} + v_{\mathrm{R4}} - v_{\mathrm{R3}} = 0"
    )
    assert tree.equation("L1")._repr_latex_().startswith("$i")


def test_vertex_equation_starts_with_a_minus_where_it_must(network: LinearGraph) -> None:
    assert str(network.vertex_equation("a")) == "-L1.current + V7.current = 0"
    assert network.vertex_equation("a").to_latex() == r"-i_{\mathrm{L1}} + i_{\mathrm{V7}} = 0"


def test_an_empty_equation() -> None:
    graph = LinearGraph([], "a", nodes=["a"])
    assert str(graph.vertex_equation("a")) == "0 = 0"
    assert "<mn>0</mn><mo>=</mo><mn>0</mn>" in graph.vertex_equation("a").to_mathml()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("e33", "33"), ("7", "7"), ("L1", r"\mathrm{L1}"), ("e_1", r"\mathrm{e\_1}"), ("B.work1", r"\mathrm{B.work1}")],
)
def test_subscripts(name: str, expected: str) -> None:
    assert subscript(name) == expected


@pytest.mark.parametrize(
    ("domain", "through", "across"),
    [
        (ELECTRICAL, "i_{1}", "v_{1}"),
        (ROTATIONAL, "T_{1}", r"\omega_{1}"),
        (THERMAL, r"\Phi_{1}", r"\theta_{1}"),
        (HYDRAULIC, "Q_{1}", "p_{1}"),
        (DISPLACEMENT, r"\mathbf{F}_{1}", r"\mathbf{r}_{1}"),
        (VIRTUAL_WORK, r"\delta W_{1}", r"\mathbf{r}_{1}"),
    ],
)
def test_symbols_of_the_domain(domain: Domain, through: str, across: str) -> None:
    terms = (Term(1, Edge("e1", "a", "b", domain=domain)),)
    assert TopologicalEquation(terms, "through", "e1", "cutset").to_latex() == f"{through} = 0"
    assert TopologicalEquation(terms, "across", "e1", "circuit").to_latex() == f"{across} = 0"


def test_mathml_is_xml_with_one_subscript_for_each_term(four_bar: LinearGraph) -> None:
    equation = select_tree(four_bar).circuit_equation("e33")
    root = ElementTree.fromstring(equation.to_mathml())
    space = "{http://www.w3.org/1998/Math/MathML}"
    subscripts = [sub[1].text for sub in root.iter(f"{space}msub")]
    assert subscripts == ["33", "14", "34", "21", "31", "11", "12", "32", "13"]
    assert [op.text for op in root.iter(f"{space}mo")] == [MINUS, MINUS, MINUS, "+", MINUS, "+", "+", MINUS, "="]
    assert {sub[0].text for sub in root.iter(f"{space}msub")} == {BOLD_R}


def test_mathml_of_virtual_work_and_of_unsafe_names() -> None:
    work = TopologicalEquation((Term(-1, Edge("a<b", "x", "y", domain=VIRTUAL_WORK)),), "through", "a<b", "cutset")
    expected = (
        f"<mrow><mo>{MINUS}</mo><mi>δ</mi><msub><mi>W</mi><mtext>a&lt;b</mtext></msub><mo>=</mo><mn>0</mn></mrow>"
    )
    assert expected in work.to_mathml()


def test_labels_can_be_chosen(vector_network: LinearGraph) -> None:
    equation = select_tree(vector_network, "absolute").circuit_equation("h14")
    digits = equation.to_latex(label=lambda name: name.lstrip("hsmr"))
    assert digits == r"\mathbf{r}_{14} - \mathbf{r}_{7} - \mathbf{r}_{1} + \mathbf{r}_{2} + \mathbf{r}_{8} = 0"
    assert "<mn>14</mn>" in equation.to_mathml(label=lambda name: name.lstrip("hsmr"))


def test_residual_names_the_missing_values(network: LinearGraph) -> None:
    equation = Tree(network, TREE).equation("L1")
    assert equation.residual({"L1": 2.5, "V7": 2.0}) == 0.5
    with pytest.raises(GraphError, match=r"cutset equation of L1: no value for V7"):
        equation.residual({"L1": 1.0})
