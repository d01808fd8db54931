"""Reports and pictures of mechanisms."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import cotree as ct
from cotree.formulation.branch.explain import mechanism_formulas
from cotree.view import mathml

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def four_bar():
    m = ct.load(EXAMPLES / "four_bar.yaml")
    return m, m.simulate(0.1, points=21)


def page_of(m: ct.Model, solution: ct.Solution, path: Path, **options: object) -> str:
    return m.report(solution, path / "r.html", **options).read_text()


def body(page: str, anchor: str) -> str:
    return page.partition(f'<section id="{anchor}">')[2].partition("</section>")[0]


def test_sections_of_a_mechanism(four_bar, tmp_path):
    m, solution = four_bar
    page = page_of(m, solution, tmp_path)
    plain = re.sub(r"<!DOCTYPE[^>]*>|<(?:meta|input)[^>]*>|<br>|&nbsp;| hidden\b| selected\b", "", page)
    plain = re.sub(r"<(script|style|select|details)\b.*?</\1>", "", plain, flags=re.S)
    ET.fromstring(plain)  # every element is closed
    assert re.findall(r'<section id="(\w+)"', page) == [
        "motion", "graph", "plots", "energy", "freedom", "equations", "components", "states", "statistics", "model",
    ]  # fmt: skip
    freedom = body(page, "freedom")
    assert "3 coordinates, 3 speeds and 2 independent constraint equations leave 1 degree of freedom." in freedom
    assert "&#x27;C&#x27; adds 3 redundant equations: planar loop" in page.partition("</header>")[0]
    assert "<b>C (translation 2)</b>" in freedom
    assert "N7 dependent virtual work" in body(page, "graph")


def test_joint_coordinates_are_plotted_unless_others_are_asked_for(four_bar, tmp_path):
    m, solution = four_bar
    assert "Over time: O.angle, A.angle, B.angle, C.angle" in page_of(m, solution, tmp_path)
    assert "Over time: crank.A.position" in page_of(m, solution, tmp_path, plots=["crank.A.position"])


def test_components_have_frames_and_vectors(four_bar, tmp_path):
    m, solution = four_bar
    rows = body(page_of(m, solution, tmp_path), "components")
    assert "<td>crank<br>crank.O<br>crank.A</td>" in rows
    assert "crank.A → coupler.A" in rows
    assert "<td>rod along x<br>mass <i>m</i> = 1 kg<br>" in rows
    assert "A = (0.15, 0, 0) m" in rows


def test_every_formula_is_there_and_well_formed(four_bar, tmp_path):
    m, solution = four_bar
    shown = body(page_of(m, solution, tmp_path), "equations")
    formulas = mechanism_formulas(m.equations())
    for heading, rows in mathml.mechanism_equations(m, m.equations()):
        assert f"<h3>{heading}</h3>" in shown
        for _, markup in rows:
            ET.fromstring(f"<p>{markup}</p>")
            assert markup in shown
    assert shown.count("<msub><mi>M</mi>") == len(formulas.mass) == 6
    assert shown.count("<msub><mi>h</mi>") == 3
    assert shown.count("<msub><mi>Φ</mi>") == 2


def test_two_trees_are_two_graphs(four_bar, tmp_path):
    m, solution = four_bar
    graphs = body(page_of(m, solution, tmp_path, tree=("joint", "absolute")), "graph")
    assert graphs.count("<svg") == 2
    assert "Tree of translations." in graphs
    assert "Tree of rotations." in graphs
    assert 'id="g-edge-0"' in graphs
    assert 'id="r-edge-0"' in graphs


def test_a_report_of_every_kind_of_part(tmp_path):
    """Drivers, forces, couplings and bodies that do not turn have no nodes of their own and must not stop it."""
    m = ct.load(EXAMPLES / "slider_crank.yaml")
    page = page_of(m, m.simulate(0.1, points=11), tmp_path)
    assert "on main" in page
    assert "on bore" in page
    free = ct.Model("falling <b>")
    free.add(ct.PointMass("bob", mass=1.0, position=(0, 0, 1)))
    page = page_of(free, free.simulate(0.1, points=11), tmp_path)
    assert "Over time: bob.position.x, bob.position.y, bob.position.z" in page
    assert "leave 3 degrees of freedom" in page
    assert "falling <b>" not in page


def test_a_vector_is_plotted_by_its_components(four_bar):
    _, solution = four_bar
    figure = solution.plot("crank.A.position")
    words = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert words == [f"crank.A.position.{axis}" for axis in "xyz"]
    with pytest.raises(ct.ResultError):
        solution.plot("crank.A.positon")
