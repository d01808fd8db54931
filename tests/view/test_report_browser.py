"""Reports in Chromium: scene, graph, tables and plots move and light up together, offline and without complaints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.view.chart_data import chart_data
from view._browser import DRAWN, NO_WEBGL, Opened
from view._models import motor

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def solution() -> ct.Solution:
    """A run of the four-bar mechanism."""
    return ct.load(EXAMPLES / "four_bar.yaml").simulate(1.0, points=101)


@pytest.fixture(scope="module")
def bars(browser: Any, solution: ct.Solution, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    """The report of the four-bar mechanism, its motion stopped."""
    pytest.importorskip("k3d", reason="k3d is not installed")
    path = tmp_path_factory.mktemp("bars") / "report.html"
    ct.load(EXAMPLES / "four_bar.yaml").report(solution, path, plots=["O.angle", "A.angle"])
    opened = Opened(browser, path)
    assert opened("cotree.ready") is True
    opened("cotree.pause()")
    return opened


@pytest.fixture(autouse=True)
def _nothing_picked(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "bars" in request.fixturenames:
        request.getfixturevalue("bars")("cotreePage.pick(null)")


def number(text: str) -> float:
    """The number that a legend shows before its unit."""
    return float(text.split()[0].replace("−", "-"))


def test_clicking_an_edge_lights_up_the_part(bars: Opened) -> None:
    dark = bars.scene()
    bars.page.locator("#graph g[data-part=coupler] path.hit").first.dispatch_event("click")
    assert bars("cotreePage.picked") == "coupler"
    assert bars("cotree.state.marked") == "coupler"
    lit = bars.scene()
    assert 200 < (np.abs(lit - dark).max(axis=2) > 40).sum() < 0.2 * dark[:, :, 0].size
    chosen = bars("[...document.querySelectorAll('.on')].map(e => e.dataset.part)")
    assert set(chosen) == {"coupler"}
    row = "document.querySelector('#components tr[data-part=coupler]')"
    assert bars(f"{row}.classList.contains('on')")
    assert "coupler" in bars.page.locator("#picked h2").inner_text()
    assert bars.page.locator("#picked .plot path.line").count() > 0
    assert bars.page.locator("#picked table.eq tr").count() > 0
    assert bars("document.querySelector('#graph figure').classList.contains('chosen')")
    bars.page.keyboard.press("Escape")
    assert bars("cotreePage.picked") is None
    assert bars("cotree.state.marked") is None


def test_clicking_the_part_marks_the_edge(bars: Opened) -> None:
    dark = bars.scene()
    bars("cotree.highlight('follower')")
    changed = np.argwhere(np.abs(bars.scene() - dark).max(axis=2) > 60)
    bars("cotree.highlight(null)")
    y, x = changed[np.argmin(np.linalg.norm(changed - np.median(changed, axis=0), axis=1))]
    bars.page.locator("#scene-view").click(position={"x": float(x), "y": float(y)})
    bars.page.wait_for_function("cotreePage.picked !== null")
    assert bars("cotreePage.picked") == "follower"
    assert bars("document.querySelectorAll('#graph .on').length") > 0
    bars.page.locator("#scene-view").click(position={"x": float(x), "y": float(y)})
    bars.page.wait_for_function("cotreePage.picked === null")
    assert bars("cotree.state.marked") is None
    bars("cotree.highlight('crank')")
    bars.page.keyboard.press("Escape")
    assert bars("cotree.state.marked") is None


def test_the_graph_is_reached_by_keys(bars: Opened) -> None:
    names = set(bars("[...document.querySelectorAll('#graph g.part')].map(each => each.dataset.part)"))
    reached = bars("[...document.querySelectorAll('#graph g.part[tabindex=\"0\"]')].map(each => each.dataset.part)")
    assert sorted(reached) == sorted(names)
    assert bars("document.querySelector('#graph svg').getAttribute('role')") == "group"
    bars.page.locator("#graph g.part[tabindex='0'][data-part=coupler]").focus()
    bars.page.keyboard.press("Enter")
    assert bars("cotreePage.picked") == "coupler"
    assert bars("cotree.state.marked") == "coupler"
    bars.page.keyboard.press("Space")
    assert bars("cotreePage.picked") is None


def test_a_name_in_a_table_is_a_button(bars: Opened) -> None:
    name = bars.page.locator("#components tr[data-part=A] b")
    assert name.get_attribute("role") == "button"
    name.focus()
    bars.page.keyboard.press("Enter")
    assert bars("cotreePage.picked") == "A"
    assert bars("cotree.state.marked") == "A"
    bars.page.locator("#components tr[data-part=crank] td").nth(1).click(position={"x": 3, "y": 5})
    assert bars("cotreePage.picked") == "crank"
    law = bars.page.locator("#equations table.eq tr.part [tabindex='0']").first
    law.focus()
    bars.page.keyboard.press("Enter")
    assert bars("cotreePage.picked") == law.locator("xpath=ancestor::tr").get_attribute("data-part")


def test_the_cursor_follows_the_time_and_shows_the_values(bars: Opened, solution: ct.Solution) -> None:
    bars("cotree.seek(0.37)")
    bars.page.wait_for_function("Math.abs(cotreePage.time - 0.37) < 1e-9")
    live = bars.page.locator("#plots figure .live").first
    assert float(live.get_attribute("data-time")) == pytest.approx(0.37)
    shown = live.locator("output").all_inner_texts()
    assert [number(text) for text in shown] == pytest.approx(
        [solution.at("O.angle", 0.37), solution.at("A.angle", 0.37)], rel=1e-4
    )
    bars.page.locator("#scene").scroll_into_view_if_needed()  # it rests while nobody sees it
    bars("cotree.play()")
    bars.page.wait_for_function("Math.abs(cotreePage.time - 0.37) > 0.05")
    bars("cotree.pause()")


def test_dragging_in_a_plot_moves_the_mechanism(bars: Opened) -> None:
    plot = bars.page.locator("#plots figure .plot").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    bars.page.mouse.move(box["x"] + 56 + 0.25 * (box["width"] - 68), box["y"] + 60)
    bars.page.mouse.down()
    assert bars("cotree.time") == pytest.approx(0.25, abs=0.01)
    bars.page.mouse.move(box["x"] + 56 + 0.75 * (box["width"] - 68), box["y"] + 60)
    assert bars("cotree.time") == pytest.approx(0.75, abs=0.01)
    bars.page.mouse.up()


def test_any_result_can_be_plotted(bars: Opened, solution: ct.Solution) -> None:
    bars.page.locator("#explore input").fill("crank.a position")
    names = bars.page.locator("#explore .choices button").all_inner_texts()
    assert names == [name for name in solution.names if name.startswith("crank.A.position")]
    bars.page.locator("#explore .choices button", has_text="position.y").click()
    bars("cotreePage.seek(0.5)")
    shown = bars.page.locator("#explore output").inner_text()
    factor = {"m": 1.0, "mm": 1e-3}[shown.split()[1]]
    assert factor * number(shown) == pytest.approx(solution.at("crank.A.position.y", 0.5), rel=1e-4)


def test_a_mechanism_loads_nothing_and_complains_of_nothing(bars: Opened) -> None:
    assert bars.quiet(), (bars.complaints, bars.requests)
    assert bars("document.documentElement.scrollWidth <= innerWidth")


def pendulum(t_start: float, gap: bool = False) -> tuple[ct.Model, ct.Solution]:
    """A pendulum over two seconds, whose place may be unknown in the second one."""
    m = ct.Model("pendulum", gravity=(0, -9.81, 0))
    m.add(ct.RigidBody("b", ct.rod(length=1.0, mass=1.0), frames={"a": (-0.5, 0, 0)}))
    m.add(ct.Revolute("R", m.ground, "b.a"))
    solution = m.simulate(t_start + 2.0, t_start=t_start, points=41)
    if gap:
        x = solution["b.position.x"].copy()
        x[21:] = np.nan
        solution = replace(solution, values={**solution.values, "b.position.x": x})
    return m, solution


@pytest.mark.parametrize(
    "drawn", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["no WebGL", "scene ends early"]
)
def test_the_charts_keep_their_time(drawn: bool, browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("k3d", reason="k3d is not installed")
    model, solution = pendulum(100.0, gap=drawn)
    path = model.report(solution, tmp_path / "r.html", plots=["R.angle"])
    opened = Opened(browser, path, before="" if drawn else NO_WEBGL)
    assert opened("cotree.ready") is drawn
    assert opened("cotreePage.time") >= 100.0
    opened("cotreePage.seek(101.5)")
    opened(DRAWN)
    opened(DRAWN)
    assert opened("cotreePage.time") == 101.5
    live = opened.page.locator("#plots figure .live").first
    assert float(live.get_attribute("data-time")) == 101.5
    assert number(live.locator("output").inner_text()) == pytest.approx(solution.at("R.angle", 101.5), rel=1e-4)
    if drawn:
        assert opened("cotree.time") <= 101.01
        opened("cotree.seek(100.25)")
        opened.page.wait_for_function("Math.abs(cotreePage.time - 100.25) < 1e-9")
    assert opened.quiet(), (opened.complaints, opened.requests)
    opened.page.close()


@pytest.mark.slow
def test_a_thinned_result_shows_no_false_number(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    m = ct.Model("fast")
    m.add(ct.VoltageSource("V", ("a", "ground"), voltage="sin(100*pi*t)"))
    m.add(ct.VoltageSource("W", ("b", "ground"), voltage="exp(-0.25*t)"))
    for name, node in (("R", "a"), ("Q", "b")):
        m.add(ct.Resistor(name, (node, "ground"), resistance=1.0))
    solution = m.simulate(4.0, points=4001)
    monkeypatch.setattr("cotree.view.report.chart_data", partial(chart_data, room=(2000, 180_000)))
    opened = Opened(browser, m.report(solution, tmp_path / "r.html", plots=["V.voltage", "W.voltage"]))
    shown = []
    for time in solution.t[5::97]:
        opened(f"cotreePage.seek({time})")
        shown.append(opened.page.locator("#plots figure output").all_inner_texts())
    said = [(first, exact) for (first, _), exact in zip(shown, solution["V.voltage"][5::97], strict=True)]
    assert sum(text == "thinned" for text, _ in said) > 30
    for text, exact in said:
        if text != "thinned":
            assert number(text.removeprefix("≈ ")) == pytest.approx(exact, abs=2e-3)
    for (_, text), exact in zip(shown, solution["W.voltage"][5::97], strict=True):
        assert number(text.removeprefix("≈ ")) == pytest.approx(exact, abs=2e-3)
    opened.page.close()


def family(name: str) -> tuple[ct.Model, ct.Solution]:
    """A short run of a model of each kind."""
    if name == "network":
        m = motor()
        m.name = "<img src=x onerror=alert(1)>"
        return m, m.simulate(0.1, points=31)
    m = ct.load(EXAMPLES / f"{name}.yaml")
    return m, m.simulate(0.01, points=11)


@pytest.mark.parametrize(
    "name",
    [
        "network",
        "deployable_five_bar",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("flexible_four_bar", "bond_example_1")),
    ],
)
def test_every_kind_of_model_works_on_a_phone_in_the_dark(name: str, browser: Any, tmp_path: Path) -> None:
    model, solution = family(name)
    opened = Opened(browser, model.report(solution, tmp_path / "r.html"), width=380, color_scheme="dark")
    assert opened("window.cotree ? cotree.ready : true") is True
    opened("document.querySelector('figure.graph [data-part].part').dispatchEvent(new Event('click', {bubbles: true}))")
    assert opened("cotreePage.picked") in {*model.components, *(name.partition(".")[0] for name in solution.names)}
    assert opened("document.documentElement.scrollWidth <= innerWidth")
    assert opened.quiet(), (opened.complaints, opened.requests)
    opened.page.close()


@pytest.mark.slow
def test_a_finger_scrolls_past_the_scene_until_it_is_tapped(browser: Any, tmp_path: Path) -> None:
    pytest.importorskip("k3d", reason="k3d is not installed")
    model, solution = pendulum(0.0)
    opened = Opened(browser, model.report(solution, tmp_path / "r.html"), width=380, has_touch=True)
    assert opened("cotree.ready") is True
    canvas = opened.page.locator("#scene-view canvas").first
    wire = opened.page.context.new_cdp_session(opened.page)

    def swipe() -> None:
        opened("scrollTo({ top: 0, behavior: 'instant' })")
        box = canvas.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for way in range(0, 101, 10):
            kind = "touchMove" if way else "touchStart"
            wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y - way}]})
        wire.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    swipe()
    opened.page.wait_for_function("scrollY > 50")  # the page scrolls when it comes to it
    canvas.tap()
    swipe()
    opened(DRAWN)
    assert float(opened("scrollY")) == 0
    opened.page.locator("h1").tap()
    swipe()
    opened.page.wait_for_function("scrollY > 50")
    opened.page.close()


def test_without_scripts_the_drawn_plots_are_seen(browser: Any, tmp_path: Path) -> None:
    model, solution = family("network")
    moving, swing = pendulum(0.0)
    path = model.report(solution, tmp_path / "r.html")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("#plots figure > svg").first.is_visible()
    assert not page.locator("#explore").is_visible()
    assert "Scripts are switched off" in page.locator("header").inner_text()
    page.goto(moving.report(swing, tmp_path / "m.html").as_uri())
    assert page.locator("button:visible, select:visible, input:visible").count() == 0
    assert "unpacked" not in page.inner_text("main")
    assert page.locator("#plots figure > svg").first.is_visible()
    context.close()
    with_scripts = Opened(browser, path)
    assert not with_scripts.page.locator("#plots figure > svg").first.is_visible()
    assert with_scripts.page.locator("#plots .plot").first.is_visible()
    assert "Scripts are switched off" not in with_scripts.page.locator("header").inner_text()
    with_scripts.page.close()
