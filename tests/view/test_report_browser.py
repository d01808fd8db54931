"""Reports in Chromium: scene, graph, tables and plots move and light up together, offline and without complaints."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from view._models import motor

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
EXAMPLES = Path(__file__).parents[2] / "examples"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One headless browser for all tests."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield chromium
        chromium.close()


class Opened:
    """A report in a browser; its complaints and requests are kept."""

    def __init__(self, browser: Any, path: Path, width: int = 1100, **options: Any) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": 800}, **options)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def __call__(self, script: str) -> Any:
        return self.page.evaluate(script)

    def scene(self) -> np.ndarray:
        """The pixels of the scene after what was asked for has been drawn, (height, width, 3)."""
        from matplotlib.image import imread

        self("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        picture = imread(io.BytesIO(self.page.locator("#scene-view").screenshot()), format="png")
        return np.asarray(255 * picture[:, :, :3])

    def quiet(self) -> bool:
        """Whether nothing was complained about and only files of this machine were asked for."""
        return not self.complaints and all(url.startswith(("file:", "blob:", "data:")) for url in self.requests)


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
    bars.page.wait_for_function("cotreePage.picked !== null", timeout=30_000)
    assert bars("cotreePage.picked") == "follower"
    assert bars("document.querySelectorAll('#graph .on').length") > 0


def test_a_name_in_a_table_is_a_button(bars: Opened) -> None:
    name = bars.page.locator("#components tr[data-part=A] b")
    assert name.get_attribute("role") == "button"
    name.focus()
    bars.page.keyboard.press("Enter")
    assert bars("cotreePage.picked") == "A"
    assert bars("cotree.state.marked") == "A"


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
    bars.page.wait_for_function("Math.abs(cotreePage.time - 0.37) > 0.05", timeout=30_000)
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


def family(name: str) -> tuple[ct.Model, ct.Solution]:
    """A short run of a model of each kind."""
    if name == "network":
        m = motor()
        m.name = "<img src=x onerror=alert(1)>"
        return m, m.simulate(0.1, points=31)
    m = ct.load(EXAMPLES / f"{name}.yaml")
    return m, m.simulate(0.01, points=11)


@pytest.mark.parametrize("name", ["network", "flexible_four_bar", "deployable_five_bar", "bond_example_1"])
def test_every_kind_of_model_works_on_a_phone_in_the_dark(name: str, browser: Any, tmp_path: Path) -> None:
    model, solution = family(name)
    opened = Opened(browser, model.report(solution, tmp_path / "r.html"), width=380, color_scheme="dark")
    assert opened("window.cotree ? cotree.ready : true") is True
    opened("document.querySelector('figure.graph [data-part].part').dispatchEvent(new Event('click', {bubbles: true}))")
    assert opened("cotreePage.picked") in {*model.components, *(name.partition(".")[0] for name in solution.names)}
    assert opened("document.documentElement.scrollWidth <= innerWidth")
    assert opened.quiet(), (opened.complaints, opened.requests)
    opened.page.close()


def test_without_scripts_the_drawn_plots_are_seen(browser: Any, tmp_path: Path) -> None:
    model, solution = family("network")
    path = model.report(solution, tmp_path / "r.html")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("#plots figure > svg").first.is_visible()
    assert not page.locator("#explore").is_visible()
    context.close()
    with_scripts = Opened(browser, path)
    assert not with_scripts.page.locator("#plots figure > svg").first.is_visible()
    assert with_scripts.page.locator("#plots .plot").first.is_visible()
    with_scripts.page.close()
