"""What notebooks show: well-formed pieces that never fail, and the report that a solution opens by itself."""

from __future__ import annotations

import re
import webbrowser
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from view._models import network

EXAMPLES = Path(__file__).parents[2] / "examples"
Run = tuple[ct.Model, ct.Solution]


def parsed(fragment: str) -> str:
    """The text of a piece of HTML, after strict parsing."""
    html5lib = pytest.importorskip("html5lib")
    whole = html5lib.HTMLParser(strict=True).parse(f"<!DOCTYPE html><title>x</title>{fragment}")
    return " ".join("".join(whole.itertext()).split())


def test_a_model_shows_its_counts_and_its_graph() -> None:
    m = network("<b>net</b>")
    shown = m._repr_html_()
    assert "<b>net</b>: 7 components, 6 nodes, 7 edges" in parsed(shown)
    assert set(m.components) <= set(re.findall(r"<text[^>]*>([^<]+)</text>", m._repr_svg_()))


def test_a_bond_graph_is_drawn_as_one() -> None:
    m = ct.load(EXAMPLES / "bond_example_1.yaml")
    assert "Bond graph of" in m._repr_html_()
    assert "11 components" in parsed(m._repr_html_())


def test_a_model_that_is_not_finished_is_told_by_its_text() -> None:
    m = ct.Model("half <i>")
    m.add(ct.Resistor("R", ("a", "b"), resistance=1.0))  # not joined to the ground
    assert "half <i>" in parsed(m._repr_html_())
    assert m._repr_svg_() is None


def test_a_solution_shows_its_run_and_its_verdict(run: Run) -> None:
    _, solution = run
    shown = solution._repr_html_()
    assert "0 s to 0.5 s, 501 output times, 26 results, CVODES" in parsed(shown).replace("\u00a0", " ")
    assert "The balance closes to" in parsed(shown)
    assert shown.count("<svg") == 1
    assert "The run ended early" in parsed(replace(solution, complete=False)._repr_html_())
    nothing = replace(solution, t=np.zeros(0), values={name: np.zeros(0) for name in solution.names})
    assert "0 times" in parsed(nothing._repr_html_())


def test_tables_of_analyses() -> None:
    m = ct.load(EXAMPLES / "pendulum.yaml")
    modes = m.modes()
    text = parsed(modes._repr_html_())
    assert f"<Modes: {len(modes)}, stable" in text
    assert f"{modes.frequencies[0]:.6g}" in text
    rest = m.static_equilibrium()
    assert f"at t = 0 s: {rest.stability}" in parsed(rest._repr_html_())
    linear = network().linearise()
    assert f"{linear.poles()[0].real:.6g}" in parsed(linear._repr_html_())


def test_a_solution_knows_its_model_and_shows_its_report(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, solution = run
    stored = ct.Solution.from_hdf5(solution.to_hdf5(tmp_path / "run.h5"))
    text = stored.show(tmp_path / "run.html").read_text(encoding="utf-8")
    assert "3 states from 7 components between 6 nodes" in text
    assert "<h3>Versions</h3>" in text
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    path = model.show(solution)
    assert opened == [path.as_uri()]
    assert "<h1>McPhee 1996, fig. 2</h1>" in path.read_text(encoding="utf-8")


def test_a_solution_without_its_model_says_what_to_call(run: Run, tmp_path: Path) -> None:
    with pytest.raises(ct.ResultError, match=r"model\.show\(solution, path\)"):
        replace(run[1], origin=None).show(tmp_path / "run.html")
    assert list(tmp_path.iterdir()) == []
