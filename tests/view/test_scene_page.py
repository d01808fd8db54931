"""The animation in Chromium: what is drawn is what was computed."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.view import scene_page
from cotree.view.scene import Scene, scene_of
from cotree.view.scene_page import scene_section
from view.test_scene import L1, four_bar

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("k3d", reason="k3d is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--no-sandbox --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run"
)
SIZE = {"width": 560, "height": 520}


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
    """A page with a scene; what it says and asks for is kept."""

    def __init__(self, browser: Any, scene: Scene, folder: Path, before: str = "") -> None:
        path = folder / "scene.html"
        style = "<style>:root { --ink:#1f2430; --soft:#5b6270; --line:#e1e4ea; --card:#fff; --link:#00609a }</style>"
        head = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{style}</head>'
        path.write_text(f"{head}<body>{scene_section(scene)}</body></html>", encoding="utf-8")
        self.size = path.stat().st_size
        self.scene = scene
        self.page = browser.new_page(viewport=SIZE, color_scheme="light")
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.route("http*://**", lambda route: route.abort())
        if before:
            self.page.add_init_script(before)
        self.page.goto(path.as_uri())
        self.started = self.page.evaluate("cotree.ready")

    def __call__(self, script: str) -> Any:
        return self.page.evaluate(script)

    def pixels(self) -> np.ndarray:
        """The picture, (height, width, 3), after what was asked for has been drawn."""
        from matplotlib.image import imread

        self("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        picture = imread(io.BytesIO(self.page.locator("#scene-view").screenshot()), format="png")
        return np.asarray(255 * picture[:, :, :3])


@pytest.fixture(scope="module")
def solution() -> ct.Solution:
    """A run of the four-bar mechanism."""
    return four_bar().simulate(1.0, points=201)


@pytest.fixture(scope="module")
def bars(browser: Any, solution: ct.Solution, tmp_path_factory: pytest.TempPathFactory) -> Opened:
    """The page of the four-bar mechanism, playing."""
    scene = scene_of(four_bar(), solution)
    assert scene is not None
    return Opened(browser, scene, tmp_path_factory.mktemp("bars"))


def test_it_plays_offline_without_complaints(bars: Opened) -> None:
    assert bars.started is True
    first, early = bars("cotree.time"), bars.pixels()
    bars.page.wait_for_function(f"Math.abs(cotree.time - {first}) > 0.1")
    assert np.abs(bars.pixels() - early).max() > 100
    bars("cotree.pause()")
    held = bars("cotree.time")
    bars.page.wait_for_timeout(120)
    assert bars("cotree.time") == held
    assert bars("cotree.duration") == pytest.approx(1.0)
    assert bars.complaints == []
    assert [url for url in bars.requests if not url.startswith(("file:", "blob:", "data:"))] == []
    assert bars.size < 3e6


def test_parts_are_where_the_solution_says(bars: Opened, solution: ct.Solution) -> None:
    for k in (0, 60, 137, 200):
        t = float(bars.scene.times[np.abs(bars.scene.times - solution.t[k]).argmin()])
        bars(f"cotree.pause(); cotree.seek({t})")
        row = int(np.searchsorted(solution.t, t))
        for name in ("crank", "coupler", "follower"):
            matrix = np.array(bars(f"cotree.inspect.matrix('{name}')")).reshape(4, 4).T
            assert np.abs(matrix[:3, 3] - solution[f"{name}.position"][row]).max() < 1e-6
            end = matrix @ (0.5 * {"crank": 0.3, "coupler": 0.9, "follower": 0.75}[name], 0, 0, 1)
            frame = {"crank": "A", "coupler": "B", "follower": "C"}[name]
            assert np.abs(end[:3] - solution[f"{name}.{frame}.position"][row]).max() < 1e-5
    # between frames it is interpolated: off by the height of an arc of 0.12 rad and 0.3 m at most
    between = float((bars.scene.times[50] + bars.scene.times[51]) / 2)
    place = bars(f"cotree.seek({between}); cotree.inspect.pose('coupler.A').position")
    exact = [np.interp(between, solution.t, solution["crank.A.position"][:, k]) for k in range(3)]
    assert np.abs(np.array(place) - exact).max() < 6e-4


def test_the_crank_is_seen_where_it_is(bars: Opened, solution: ct.Solution) -> None:
    """Blue pixels of the crank lie around its projected middle, by our own projection, and nowhere else."""
    for t in (0.25, 0.8):
        bars(f"cotree.pause(); cotree.seek({t}); cotree.view('iso')")
        camera = bars("cotree.inspect.camera()")
        eye, target, up = np.array(camera["array"]).reshape(3, 3)
        away = (eye - target) / np.linalg.norm(eye - target)
        right = np.cross(up, away) / np.linalg.norm(np.cross(up, away))
        view = np.array([right, np.cross(away, right), away])
        picture = bars.pixels()
        height, width, _ = picture.shape
        middle = np.array([np.interp(t, solution.t, solution["crank.position"][:, k]) for k in range(3)])
        x, y, z = view @ (middle - eye)
        scale = height / 2 / np.tan(np.radians(camera["fov"]) / 2)
        seen = np.array([width / 2 - scale * x / z, height / 2 + scale * y / z])
        red, green, blue = picture.transpose(2, 0, 1)
        crank = (blue > 110) & (blue - red > 70) & (blue - green > 25) & (green - red > 20)
        crank[-110:, -130:] = False  # the small axes in the corner
        rows, columns = np.nonzero(crank)
        assert len(rows) > 200
        centre = np.array([columns.mean(), rows.mean()])
        length = L1 * scale / -z
        assert np.linalg.norm(centre - seen) < 0.12 * length
        assert np.hypot(columns - seen[0], rows - seen[1]).max() < 0.62 * length


def test_highlight_lights_a_part_up(bars: Opened) -> None:
    bars("cotree.pause(); cotree.seek(0.3); cotree.view('iso')")
    plain = bars.pixels()
    x, y, _ = bars("cotree.inspect.screen(cotree.inspect.pose('coupler').position)")
    spot = slice(int(y) + 2, int(y) + 5), slice(int(x) - 3, int(x))
    assert bars("cotree.highlight('crank.A')") == "crank"  # a frame lights its body up
    assert bars("cotree.highlight('coupler')") == "coupler"
    lit = bars.pixels()
    assert np.abs(lit[spot] - plain[spot]).max() > 30
    assert bars.page.locator("#scene-labels .chosen").inner_text() == "coupler"
    assert bars("cotree.highlight('nothing')") is None
    assert np.abs(bars.pixels() - plain).max() < 20


def test_a_click_picks_the_part(bars: Opened) -> None:
    bars("cotree.pause(); cotree.seek(0.3); cotree.view('iso'); window.hits = []; cotree.onpick((n) => hits.push(n))")
    for name in ("follower", "crank"):
        x, y, _ = bars(f"cotree.inspect.screen(cotree.inspect.pose('{name}').position)")
        bars.page.locator("#scene-view").click(position={"x": x, "y": y})
    bars.page.locator("#scene-view").click(position={"x": 5, "y": 5})
    assert bars("hits") == ["follower", "crank", None]


def test_the_mouse_turns_the_view_and_scrolls_the_page_until_the_scene_is_clicked(bars: Opened) -> None:
    bars("cotree.pause(); cotree.view('iso'); document.activeElement.blur()")
    start = np.array(bars("cotree.inspect.camera()")["array"])
    mouse = bars.page.mouse
    mouse.move(200, 150)
    mouse.wheel(0, 100)
    bars.pixels()
    assert np.abs(np.array(bars("cotree.inspect.camera()")["array"]) - start).max() < 1e-9
    bars("scrollTo(0, 0)")
    mouse.down()
    mouse.move(240, 150, steps=4)
    mouse.up()
    bars.pixels()
    eye, target, _ = np.array(bars("cotree.inspect.camera()")["array"]).reshape(3, 3)
    was, aim, _ = start.reshape(3, 3)
    assert np.abs(target - aim).max() < 1e-6
    assert np.linalg.norm(eye - target) == pytest.approx(np.linalg.norm(was - aim), rel=1e-4)
    assert eye[1] == pytest.approx(was[1], abs=1e-4)  # turned about the vertical
    assert np.linalg.norm(eye - was) > 0.2


def test_buttons_show_views_and_forces(bars: Opened) -> None:
    bars("cotree.pause(); cotree.seek(0.3)")
    eyes = {}
    for name in ("x", "y", "z", "iso"):
        bars.page.click(f"[data-view={name}]")
        eye, target, _ = np.array(bars("cotree.inspect.camera()")["array"]).reshape(3, 3)
        eyes[name] = (eye - target) / np.linalg.norm(eye - target)
    for k, name in enumerate("xyz"):
        assert eyes[name][k] == pytest.approx(1.0, abs=1e-5)
    assert np.abs(eyes["iso"]).min() > 0.2
    plain = bars.pixels()
    for name in ("reactions", "traces", "labels"):
        bars.page.click(f"[data-show={name}]")
        shown = bars.pixels()
        assert (np.abs(shown - plain).max(axis=2) > 60).sum() > 50, name
        bars.page.click(f"[data-show={name}]")
        assert (np.abs(bars.pixels() - plain).max(axis=2) > 60).sum() < 10, name
    force = "cotree.inspect.parts.find((p) => p.userData.kind === 'reactions' && p.userData.owner === 'C').scale.x"
    bars.page.click("[data-show=reactions]")
    bars.pixels()
    length = bars(force)
    bars("cotree.scale(2)")
    bars.pixels()
    assert bars(force) > 1.5 * length
    bars.page.click("[data-show=reactions]")


def test_deflections_are_magnified_as_computed(browser: Any, tmp_path: Path) -> None:
    m = ct.Model("beam", gravity=(0, 0, -9.81))
    section = ct.section.rectangle(0.02, 0.004)
    m.add(ct.Beam("beam", length=1.0, section=section, material=ct.STEEL, elements=3, modes=1))
    m.add(ct.Weld("wall", "ground", "beam.start"))
    scene = scene_of(m, m.simulate(0.2, points=41))
    assert scene is not None
    opened = Opened(browser, scene, tmp_path)
    skin, k = scene.skins[0], 20
    moves = np.tensordot(skin.coordinates[k], skin.shapes, axes=1)
    opened(f"cotree.pause(); cotree.seek({scene.times[k]})")
    opened.page.select_option("#scene-colour", "")
    plain = opened.pixels()
    for factor in (0, 1, 10):
        opened(f"cotree.magnify({factor})")
        opened.pixels()
        drawn = np.array(opened("cotree.inspect.vertices('beam')")).reshape(-1, 3)
        assert np.abs(drawn - skin.mesh.vertices - factor * moves).max() < 1e-5
    opened("cotree.magnify(1)")
    opened.page.select_option("#scene-colour", "stress")
    assert np.abs(opened.pixels() - plain).max() > 60
    assert "von Mises" in opened.page.locator("#scene-scale").inner_text()
    assert opened.complaints == []
    opened.page.close()


def test_without_webgl_the_page_says_so(browser: Any, bars: Opened, tmp_path: Path) -> None:
    opened = Opened(browser, bars.scene, tmp_path, "HTMLCanvasElement.prototype.getContext = () => null")
    assert opened.started is False
    assert "WebGL" in opened.page.locator("#scene-note").inner_text()
    opened("cotree.seek(1); cotree.highlight('crank')")  # the rest of the page may still ask
    assert opened.complaints == []
    opened.page.close()


def test_without_k3d_there_is_a_hint(bars: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene_page, "_engine", lambda: None)
    assert "pip install" in scene_section(bars.scene)
    assert "<script" not in scene_section(bars.scene)
