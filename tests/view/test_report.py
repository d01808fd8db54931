"""The report: one valid page that loads nothing, holds every section, and trusts no name."""

from __future__ import annotations

import base64
import html
import json
import re
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import yaml

import cotree as ct
from cotree.errors import FileError, ResultError
from cotree.results import EnergyAudit
from cotree.system import diagnose
from cotree.view.chart_data import chart_data
from cotree.view.page import number
from cotree.view.plots import pretty_unit
from cotree.view.report import write_report
from cotree.view.report_results import plot_groups, verdict
from view._models import ladder, motor, network

Run = tuple[ct.Model, ct.Solution]

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'x' $a$ \x00\x1b"


def check_html(text: str) -> None:
    """Strict parsing where html5lib is installed, and no repeated ids in any case."""
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
    rest = re.sub(r'xmlns(:\w+)?="http://www\.w3\.org/[^"]+"|NS\("http://www\.w3\.org/2000/svg"', "", page)
    assert not re.search(r"https?://|//cdn|<link|<img|<iframe|@import|src=|\bfetch\(|XMLHttp|\beval\(", rest)
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
    assert len(page.encode()) < 260_000


def test_energy_verdicts() -> None:
    t = np.linspace(0, 1, 5)
    verdicts = {0.0: "closes to", 1e-4: "closes only to", 0.1: "does not close", np.nan: "does not close"}
    for error, words in verdicts.items():
        audit = EnergyAudit(t, 0 * t, t, t * (1 + error), 0.0)
        assert words in verdict(audit)
    quiet = EnergyAudit(t, 0 * t, 0 * t, 0 * t, 0.0)
    assert "No energy was" in verdict(quiet)


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    m = network(HOSTILE)
    m.parameter("µ_1", 3.0)
    text = m.report(m.simulate(0.1), tmp_path / "r.html").read_text(encoding="utf-8")
    check_html(text)
    assert re.findall(r"<script[^>]*>", text) == ['<script type="application/json" id="run-data">', "<script>"]
    assert text.count("</script>") == 2
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "\x00" not in text
    assert "\x1b" not in text


def test_expressions_are_escaped(tmp_path: Path) -> None:
    m = ct.Model("x", parameters={"a": 2.0, "b": "a*3"})
    m.add(ct.CurrentSource("I", ("ground", "n"), current="max(a, b) * sin(t)"))
    m.add(ct.Resistor("R", ("n", "ground"), resistance="a+b"))
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
    assert "They reach 0.5&nbsp;s" in text


def unpacked(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4").astype(float)


def read_series(text: str) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Times, values and which stretches between them are rough, of each result that varies."""
    data, found = json.loads(text), {}
    start, pool, grids = data["span"][0], unpacked(data["values"]), [unpacked(grid) for grid in data["grids"]]
    for name, _, grid, at, *more in data["series"]:
        if grid == -1:
            continue
        own = grid == -2
        t = pool[at : (at := at + more[1])] if own else grids[grid]
        bits = np.frombuffer(base64.b64decode(more[2] if own else ""), "u1")
        rough = np.unpackbits(bits, bitorder="little", count=len(t)) if len(bits) else np.zeros(len(t))
        found[name] = (start + t, more[0] + pool[at : at + len(t)], rough)
    return found


def test_the_numbers_of_the_live_charts_are_those_of_the_run(page: str, run: Run) -> None:
    _, solution = run
    text = re.search(r'id="run-data">(.*?)</script>', page, re.S)[1]
    data, series = json.loads(text), read_series(text)
    units = {row[0]: row[1] for row in data["series"]}
    assert set(solution.names) <= set(units)
    assert len({row[3] for row in data["series"]}) < len(data["series"])  # the current of R3 is that of C6
    for name in solution.names:
        t, drawn, _ = series[name]
        assert t == pytest.approx(solution.t, abs=1e-7)
        assert drawn == pytest.approx(solution[name], abs=1e-6 * np.abs(solution[name]).max())
        assert data["units"][units[name]][0] == pretty_unit(solution.unit(name))


def test_small_changes_of_large_values_are_kept() -> None:
    m = ct.Model("drift")
    m.add(ct.VoltageSource("V", ("a", "ground"), voltage="300 + 1e-6*t"))
    m.add(ct.Resistor("R", ("a", "ground"), resistance=1.0))
    data = json.loads(chart_data(m.simulate(1.0, points=3), ["V.voltage"], {}).text)
    row = next(row for row in data["series"] if row[0] == "V.voltage")
    values = np.frombuffer(base64.b64decode(data["values"]), "<f4")[row[3] : row[3] + 3]
    assert row[4] == 300.0
    assert values == pytest.approx([0.0, 5e-7, 1e-6], rel=1e-6)


def fast(run: Run, names: int = 300, times: int = 8001) -> ct.Solution:
    """Many vibrations of 50 Hz over 4 s, each with a peak of one output point, and one slow course."""
    t = np.linspace(0.0, 4.0, times)
    values = {f"C{k}.voltage": np.sin(100 * np.pi * t + k) for k in range(names)}
    for k, each in enumerate(values.values()):
        each[7 * k + 3] = 5.0 + k
    values["slow.voltage"] = np.cos(t)
    units = dict.fromkeys(values, "V")
    return replace(run[1], t=t, values=values, units=units, states=tuple(values), events={}, event_values={})


def test_a_plotted_result_keeps_every_time_beside_many_states(run: Run) -> None:
    solution = fast(run)
    data = chart_data(solution, ["C5.voltage", "C9.voltage"], {})
    t, drawn, _ = read_series(data.text)["C5.voltage"]
    assert t == pytest.approx(solution.t, abs=1e-6)
    assert drawn == pytest.approx(solution["C5.voltage"], abs=1e-6)
    assert data.plotted == 0
    assert 0 < data.others < len(solution.t)


@pytest.mark.parametrize("plotted", [True, False])
def test_thinning_loses_no_peak_and_knows_where_it_may_be_read(plotted: bool, run: Run) -> None:
    solution = fast(run, 40)
    names = solution.names
    room = (20_000, 400_000) if plotted else (160_000, 20_000)
    data = chart_data(solution, names if plotted else [], {}, room)
    assert (data.plotted > 0, data.others > 0) == (plotted, not plotted)
    series = read_series(data.text)
    for name in names:
        if name not in series:
            assert not plotted
            continue
        (t, drawn, rough), exact = series[name], solution[name]
        assert len(t) < 500
        assert drawn == pytest.approx(np.interp(t, solution.t, exact), abs=1e-3)
        for few in np.array_split(np.arange(len(solution.t)), 20):
            inside = (t >= solution.t[few[0]] - 0.2) & (t <= solution.t[few[-1]] + 0.2)
            assert drawn[inside].max() >= exact[few].max() - 1e-5
            assert drawn[inside].min() <= exact[few].min() + 1e-5
        where = np.clip(np.searchsorted(t, solution.t, side="right") - 1, 0, len(t) - 1)
        error = np.abs(np.interp(solution.t, t, drawn) - exact) / np.ptp(exact)
        assert error[rough[where] == 0].max() < 1.1e-3
        if name == "slow.voltage":
            assert not rough.any()
        else:
            assert error.max() > 0.01
            assert rough.mean() > 0.5


def test_thinning_is_told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, solution = run
    said = "Plotted results are thinned"
    assert said not in model.report(solution, tmp_path / "r.html").read_text(encoding="utf-8")
    monkeypatch.setattr("cotree.view.report.chart_data", partial(chart_data, room=(500, 180_000)))
    assert said in model.report(solution, tmp_path / "r.html").read_text(encoding="utf-8")


def test_notes_of_the_run_are_shown_and_doubts_come_first(run: Run, tmp_path: Path) -> None:
    model, solution = run
    doubt, other = diagnose("energy-open", time=0.0, error=1.01), diagnose("closes", "stop", times="0.2 s <b>")
    noted = replace(solution, diagnostics=(*solution.diagnostics, other, doubt))
    text = model.report(noted, tmp_path / "r.html").read_text(encoding="utf-8")
    check_html(text)
    head = text.partition("<header>")[2].partition("</header>")[0]
    assert head.index("off by up to 101.0%") < head.index('<p class="lead">')
    assert "&#x27;stop&#x27; closes at t = 0.2 s &lt;b&gt; s" in head
    for note in solution.notes:
        assert html.escape(note) not in head


def test_a_page_holds_no_more_numbers_than_it_should(run: Run) -> None:
    _, solution = run
    data = chart_data(solution, ["L1.current"], {}, room=(1000, 2000))
    assert data.results < len(solution.names)
    assert 0 < data.others < len(solution.t)
    assert len(data.text) < 4000 * 16 / 3 + 12_000


def test_events_and_the_model_itself_are_in_the_page(run: Run, tmp_path: Path) -> None:
    model, solution = run
    events = {"peak <b>": np.array([0.1, 0.3]), "none": np.zeros(0)}
    text = model.report(replace(solution, events=events), tmp_path / "r.html").read_text(encoding="utf-8")
    check_html(text)
    rows = text.partition('<section id="events">')[2].partition("</section>")[0]
    assert "peak &lt;b&gt;" in rows
    assert "0.1, 0.3" in rows
    assert "never" in rows
    written = re.search(r'<pre id="model-text"[^>]*>(.*?)</pre>', text, re.S)[1]
    assert yaml.safe_load(html.unescape(written)) == model.to_data()


def test_a_run_without_a_time_is_refused(run: Run, tmp_path: Path) -> None:
    model, solution = run
    nothing = np.zeros(0)
    empty = replace(solution, t=nothing, values=dict.fromkeys(solution.names, nothing))
    with pytest.raises(ct.CotreeError, match="no output time"):
        model.report(empty, tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_big_models_are_cut(tmp_path: Path) -> None:
    m = ladder(260)
    path = m.report(m.simulate(0.01, points=11), tmp_path / "r.html")
    text = path.read_text(encoding="utf-8")
    check_html(text)
    assert "… and 461 more components, left out here" in text
    assert "… and 200 more states, left out here" in text
    assert re.search(r"\d+ groups of nodes drawn as one node each, with \d+ edges inside", text)
    assert "The first 12 of 260 states" in text
    assert path.stat().st_size < 600_000


def test_numbers_and_units_as_one_reads_them() -> None:
    assert number(-0.0) == "0"
    assert number(-1.5e-7) == "−1.5 × 10<sup>−7</sup>"
    assert pretty_unit("N or N m") == "N or N·m"


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
