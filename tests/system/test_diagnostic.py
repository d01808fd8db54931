"""Diagnostics: one table gives every text, and solutions, files, command line and report show the same."""

from __future__ import annotations

import runpy
from pathlib import Path
from string import Formatter

import pytest

import cotree as ct
from cotree.system import CODES, SEVERITIES, Diagnostic, diagnose, from_data, notes_of

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("code", CODES)
def test_every_row_of_the_table_is_whole(code):
    row = CODES[code]
    assert row.severity in SEVERITIES
    assert row.meaning.endswith(".")
    fields = [(name, spec) for _, name, spec, _ in Formatter().parse(row.text) if name]
    numbers = {name: "x" if not spec else 2 for name, spec in fields if name not in ("subjects", "quoted")}
    text = diagnose(code, "A", "B", **numbers).text
    assert "?" not in text
    assert "{" not in text


def test_texts_count_and_list():
    one, three = (diagnose("redundant-rows", "C", count=n, why=": planar loop") for n in (1, 3))
    assert str(one) == "'C' adds 1 redundant equation: planar loop"
    assert str(three) == "'C' adds 3 redundant equations: planar loop"
    open_by = diagnose("energy-open", time=0.5, error=0.29)
    assert str(open_by).startswith("warning: from t = 0.5 s the energy balance is off by up to 29.0%")


def test_plain_data_and_back():
    said = diagnose("energy-open", time=0.5, error=0.29)
    assert from_data(said.to_data()) == said
    assert from_data("doubtful: old words").severity == "warning"
    assert from_data("old words").text == "old words"
    unknown = Diagnostic("from-the-future", "warning", ("A",), {"x": 1.0})
    assert str(from_data(unknown.to_data())) == "warning: from-the-future: A"


def test_the_gravest_counts():
    several = [diagnose("mechanism-counts", speeds=1, rows=0, freedom=1), diagnose("energy-open", time=0.0, error=1.0)]
    assert len(notes_of(several)) == 2


def test_solution_file_and_report_show_the_same(tmp_path):
    m = ct.Model("pendulum")
    m.add(ct.RigidBody("arm", ct.rod(length=1.0, mass=1.0, radius=0.01), frames={"a": (-0.5, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, m.components["arm"]["a"], axis=(0, 1, 0)))
    sol = m.simulate(0.1, points=3)
    assert [each.code for each in sol.diagnostics] == ["mechanism-counts", "default-gravity"]
    assert sol.notes == tuple(map(str, sol.diagnostics))
    assert ct.Solution.from_hdf5(sol.to_hdf5(tmp_path / "run.h5")).diagnostics == sol.diagnostics
    page = m.report(sol, tmp_path / "report.html").read_text(encoding="utf-8")
    counts, gravity = sol.notes
    assert counts == "1 speed, 0 independent constraint equations, 1 degree of freedom"
    assert "1 speed and 0 independent constraint equations leave 1 degree of freedom" in page
    head = page.partition("<header>")[2].partition("</header>")[0]
    assert gravity in head


def test_the_page_of_the_documentation_is_the_table():
    codes = runpy.run_path(str(DOCS / "codes.py"))
    assert (DOCS / "diagnostics.md").read_text(encoding="utf-8") == codes["page"]()
