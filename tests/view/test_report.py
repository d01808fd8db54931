"""The report: one valid page that loads nothing, holds every section, and trusts no name."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from cotree.errors import FileError, ResultError
from cotree.results import EnergyAudit
from cotree.view import write_report
from cotree.view.report import plot_groups
from view._models import ladder, motor, network

Run = tuple[ct.Model, ct.Solution]

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'x' $a$ \x00\x1b"


def check_html(text: str) -> None:
    """Strict parsing where html5lib is at hand, and no repeated ids in any case."""
    ids = Counter(re.findall(r'\bid="([^"]+)"', text))
    assert [name for name, count in ids.items() if count > 1] == []
    for target in re.findall(r'(?:href="#|url\(#)([^")]+)', text):
        assert target in ids
    html5lib = pytest.importorskip("html5lib")
    html5lib.HTMLParser(strict=True).parse(text)


@pytest.fixture(scope="module")
def page(run: Run, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "run.html"
    model, solution = run
    assert model.report(solution, path, plots=[["L1.current", "C6.voltage"], ["R5.power"]]) == path
    return path.read_text(encoding="utf-8")


def test_the_page_is_valid(page: str) -> None:
    check_html(page)


def test_the_page_loads_nothing(page: str) -> None:
    rest = re.sub(r'xmlns(:\w+)?="http://www\.w3\.org/[^"]+"', "", page)
    assert not re.search(r"https?://|//cdn|<link|<img|<script|<iframe|@import|src=", rest)
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)"', page))


def test_every_section_is_there(page: str) -> None:
    for anchor in ("graph", "plots", "energy", "equations", "components", "states", "statistics"):
        assert f'<section id="{anchor}">' in page
        assert f'<a href="#{anchor}">' in page
    assert "3 states from 7 components between 6 nodes, integrated by CVODES" in page
    assert "resistance <i>R</i> = 10 Ω" in page
    assert "10*sin(2*pi*5*t)" in page
    assert page.count("<svg") == 4
    assert page.count("<math") == 7 + 7 + 4


def test_the_page_is_small(page: str) -> None:
    assert len(page.encode()) < 200_000


def test_energy_verdicts(run: Run, tmp_path: Path) -> None:
    model, solution = run
    t = np.linspace(0, 1, 5)
    verdicts = {0.0: "closes to", 1e-4: "closes only to", 0.1: "does not close", np.nan: "does not close"}
    for error, words in verdicts.items():
        audit = EnergyAudit(t, 0 * t, t, t * (1 + error), 0.0)
        path = model.report(replace(solution, audit=audit), tmp_path / "r.html")
        assert words in path.read_text(encoding="utf-8")
    quiet = EnergyAudit(t, 0 * t, 0 * t, 0 * t, 0.0)
    assert "No energy was" in model.report(replace(solution, audit=quiet), tmp_path / "r.html").read_text(
        encoding="utf-8"
    )


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    m = network(HOSTILE)
    m.parameter("µ_1", 3.0)
    text = m.report(m.simulate(0.1), tmp_path / "r.html").read_text(encoding="utf-8")
    check_html(text)
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "\x00" not in text
    assert "\x1b" not in text


def test_expressions_are_escaped(tmp_path: Path) -> None:
    m = ct.Model("x", parameters={"a": 2.0, "b": "a*3"})
    m.add(ct.CurrentSource("I", "ground", "n", current="max(a, b) * sin(t)"))
    m.add(ct.Resistor("R", "n", "ground", resistance="a+b"))
    text = m.report(m.simulate(0.1), tmp_path / "r.html", plots=["R.voltage"]).read_text(encoding="utf-8")
    check_html(text)
    assert "<code>a+b</code> = 8 Ω" in text
    assert "<code>max(a, b) * sin(t)</code>" in text
    assert "The model has no states" in text


def test_changed_parameters_are_the_ones_shown(tmp_path: Path) -> None:
    m = motor()
    solution = m.simulate(0.05)
    changed = replace(solution, parameters={**solution.parameters, "K": 0.07, "Ra.resistance": 0.9})
    text = m.report(changed, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<code>K</code> = 0.07" in text
    assert "= 0.9 Ω" in text
    assert "initial = 3 rad/s" in text


def test_an_incomplete_run_says_so(run: Run, tmp_path: Path) -> None:
    model, solution = run
    text = model.report(replace(solution, complete=False), tmp_path / "r.html").read_text(encoding="utf-8")
    assert "The run ended early" in text


def test_big_models_are_cut(tmp_path: Path) -> None:
    m = ladder(260)
    path = m.report(m.simulate(0.01, points=11), tmp_path / "r.html")
    text = path.read_text(encoding="utf-8")
    check_html(text)
    assert "… and 461 more components, left out here" in text
    assert "… and 200 more states, left out here" in text
    assert "521 edges: too many to draw" in text
    assert "The first 12 of 260 states" in text
    assert path.stat().st_size < 600_000


def test_groups_of_plots() -> None:
    assert plot_groups(None) == []
    assert plot_groups("a") == [["a"]]
    assert plot_groups(["a", "b"]) == [["a", "b"]]
    assert plot_groups([["a"], ["b", "c"]]) == [["a"], ["b", "c"]]
    assert plot_groups(["a", ["b"], "c"]) == [["a", "c"], ["b"]]


def test_a_failure_leaves_the_old_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, solution = run
    path = tmp_path / "r.html"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(ResultError):
        model.report(solution, path, plots=["nothing.here"])
    assert path.read_text(encoding="utf-8") == "old"

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(FileError, match="No space left"):
            model.report(solution, path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_a_missing_folder_is_told(run: Run, tmp_path: Path) -> None:
    model, solution = run
    with pytest.raises(FileError, match="cannot write"):
        model.report(solution, tmp_path / "none" / "r.html")


def test_any_tree_can_be_reported(run: Run, tmp_path: Path) -> None:
    model, solution = run
    tree = model.tree(into_tree=["L1"])
    text = write_report(model, tree, model.equations(tree), solution, tmp_path / "r.html").read_text(encoding="utf-8")
    check_html(text)
