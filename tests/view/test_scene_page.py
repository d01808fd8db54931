"""The animation in Chromium: what is drawn is what was computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.view import scene_page
from cotree.view.scene import Scene, scene_of
from cotree.view.scene_page import scene_section
from view import _browser
from view._browser import DRAWN, NO_WEBGL
from view.test_scene import L1, L2, four_bar
from view.test_scene_limits import bar, drawn, spinning

pytest.importorskip("k3d", reason="k3d is not installed")
SIZE = {"width": 560, "height": 520}


class Opened(_browser.Opened):
    """A page with a scene."""

    def __init__(self, browser: Any, scene: Scene, folder: Path, before: str = "") -> None:
        path = folder / "scene.html"
        style = "<style>:root { --ink:#1f2430; --soft:#5b6270; --line:#e1e4ea; --card:#fff; --link:#00609a }</style>"
        head = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{style}</head>'
        path.write_text(f"{head}<body>{scene_section(scene)}</body></html>", encoding="utf-8")
        self.size = path.stat().st_size
        self.shown = scene
        super().__init__(browser, path, before=before, viewport=SIZE, color_scheme="light")
        self.started = self("cotree.ready")

    def matrix(self, name: str) -> np.ndarray:
        """Where a part is drawn, (4, 4)."""
        return np.array(self(f"cotree.inspect.matrix('{name}')")).reshape(4, 4).T

    def pixels(self) -> np.ndarray:
        """The picture, (height, width, 3)."""
        return self.scene()


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
    assert np.abs(bars.pixels() - early).max() > 50
    bars("cotree.pause()")
    held = bars("cotree.time")
    bars(DRAWN)
    bars(DRAWN)
    assert bars("cotree.time") == held
    assert bars("cotree.duration") == pytest.approx(1.0)
    assert bars("cotree.start") == 0.0
    assert bars.quiet()
    assert bars.size < 3e6


def test_parts_are_where_the_solution_says(bars: Opened, solution: ct.Solution) -> None:
    for k in (0, 60, 137, 200):
        t = float(bars.shown.times[np.abs(bars.shown.times - solution.t[k]).argmin()])
        bars(f"cotree.pause(); cotree.seek({t})")
        row = int(np.searchsorted(solution.t, t))
        for name in ("crank", "coupler", "follower"):
            matrix = bars.matrix(name)
            assert np.abs(matrix[:3, 3] - solution[f"{name}.position"][row]).max() < 1e-6
            end = matrix @ (0.5 * {"crank": 0.3, "coupler": 0.9, "follower": 0.75}[name], 0, 0, 1)
            frame = {"crank": "A", "coupler": "B", "follower": "C"}[name]
            assert np.abs(end[:3] - solution[f"{name}.{frame}.position"][row]).max() < 1e-5


def test_between_frames_the_pins_hold(bars: Opened) -> None:
    """Points of the crank stay on exact circles about the ground's pin, and the coupler on the crank."""
    for k in (10, 50, 90):
        t = float(bars.shown.times[k] + 0.4 * (bars.shown.times[k + 1] - bars.shown.times[k]))
        bars(f"cotree.pause(); cotree.seek({t!r})")
        crank, coupler = bars.matrix("crank"), bars.matrix("coupler")
        assert np.abs(crank @ (-L1 / 2, 0, 0, 1) - (0, 0, 0, 1)).max() < 1e-6
        end = crank @ (L1 / 2, 0, 0, 1)
        assert np.linalg.norm(end[:3]) == pytest.approx(L1, abs=1e-6)
        assert np.abs(coupler @ (-L2 / 2, 0, 0, 1) - end).max() < 1e-5


def test_few_output_points_leave_a_body_on_its_pin_and_circle(browser: Any, tmp_path: Path) -> None:
    """One turn a second with nine points: the free end is at (cos, sin) of 2 pi t, also between them."""
    m = spinning(1.0)
    opened = Opened(browser, drawn(m, m.simulate(1.0, points=9)), tmp_path)
    for t in (0.0625, 0.3, 0.45, 0.93):
        opened(f"cotree.pause(); cotree.seek({t})")
        body = opened.matrix("b")
        assert np.abs(body @ (-0.5, 0, 0, 1) - (0, 0, 0, 1)).max() < 1e-6
        exact = (np.cos(2 * np.pi * t), np.sin(2 * np.pi * t), 0)
        assert np.abs((body @ (0.5, 0, 0, 1))[:3] - exact).max() < 2e-4
        assert np.abs(np.array(opened("cotree.inspect.pose('b.a').position"))).max() < 1e-6
    opened.page.close()


@pytest.mark.slow
def test_odd_names_far_places_and_notes(browser: Any, tmp_path: Path) -> None:
    m = ct.Model("far")
    m.add(bar("__proto__"))
    m.add(bar("c"))
    m.add(ct.Free("F", m.ground, "__proto__", x=6.7e6, y=0, z=0, y_rate=7700.0, angular_velocity=(0, 0, 40.0)))
    m.add(ct.Revolute("constructor", "__proto__.b", "c.a", angle=0.5))
    solution = m.simulate(1.0, points=11)
    opened = Opened(browser, drawn(m, solution), tmp_path)
    opened("cotree.pause(); cotree.seek(0.5)")
    for name in ("__proto__", "c"):
        place = np.array(opened(f"cotree.inspect.pose('{name}').position"))
        assert np.abs(place - solution[f"{name}.position"][5]).max() < 1e-6
    x, y, _ = opened("cotree.inspect.screen(cotree.inspect.parts[0].position.toArray())")
    assert 100 < x < 460
    assert 50 < y < 300
    picture = opened.pixels()
    assert (picture[:, :, 2] - picture[:, :, 0] > 70).sum() > 300  # the first body is blue
    assert "faster than the frames" in opened.page.locator("#scene-hint").inner_text()
    assert opened.quiet()
    opened.page.close()


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
    bars("cotree.scale(1000)")
    bars.pixels()
    assert length < bars(force) <= bars.shown.size
    legend = bars.page.locator("#scene-scale").inner_text()
    assert "are cut" in legend
    assert "second frame" in legend
    bars("cotree.scale(1)")
    bars.page.click("[data-show=reactions]")


@pytest.mark.slow
def test_deflections_are_magnified_as_computed(browser: Any, tmp_path: Path) -> None:
    m = ct.Model("beam", gravity=(0, 0, -9.81))
    section = ct.section.rectangle(0.02, 0.004)
    m.add(ct.Beam("beam", length=1.0, section=section, material=ct.STEEL, elements=3, modes=1))
    m.add(ct.Weld("wall", "ground", "beam.start"))
    solution = m.simulate(0.2, points=41)
    scene = drawn(m, solution)
    opened = Opened(browser, scene, tmp_path)
    skin, k = scene.skins[0], 20
    end = np.abs(skin.mesh.vertices[:, 0] - 1.0) < 1e-9
    tip = [solution[f"beam.end.deflection.{x}"][k] for x in "xyz"]
    opened(f"cotree.pause(); cotree.seek({scene.times[k]})")
    opened.page.select_option("#scene-colour", "")
    plain = opened.pixels()
    for factor in (0, 1, 10):
        opened(f"cotree.magnify({factor})")
        opened.pixels()
        places = np.array(opened("cotree.inspect.vertices('beam')")).reshape(-1, 3)[end]
        centre = (places.min(axis=0) + places.max(axis=0)) / 2
        shift = centre - (1, 0, 0)  # of first order: without the shortening, which the frame has along x
        assert np.abs(shift - factor * np.array([0.0, *tip[1:]])).max() < 1e-5
    assert np.abs(tip).max() > 1e-3
    opened("cotree.magnify(1)")
    opened.page.select_option("#scene-colour", "stress")
    assert np.abs(opened.pixels() - plain).max() > 60
    assert "von Mises" in opened.page.locator("#scene-scale").inner_text()
    assert opened.complaints == []
    opened.page.close()


def test_without_webgl_the_page_says_so(browser: Any, bars: Opened, tmp_path: Path) -> None:
    opened = Opened(browser, bars.shown, tmp_path, NO_WEBGL)
    assert opened.started is False
    assert "WebGL" in opened.page.locator("#scene-note").inner_text()
    opened("cotree.seek(1); cotree.highlight('crank')")  # the rest of the page may still ask
    assert opened.complaints == []
    opened.page.close()


def test_without_k3d_there_is_a_hint(bars: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene_page, "_engine", lambda: None)
    assert "pip install" in scene_section(bars.shown)
    assert "<script" not in scene_section(bars.shown)
