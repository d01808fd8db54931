"""Reports of machines: energy by domain, signals, equations of networks, and cylinders that move in the scene."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from cotree.formulation.machine.explain import readings
from cotree.view import signal_drawing
from cotree.view.scene import scene_of
from cotree.view.signal_drawing import signals_svg
from view._browser import Opened

PARTS = {
    "boom": {
        "kind": "rigid_body", "mass": 100, "inertia": [10, 60, 60], "centre": [1, 0, 0], "frames": {"lug": [1.2, 0, 0]},
    },
    "foot": {"kind": "ground_frame", "position": [0.5, -0.5, 0]},
    "O": {"kind": "revolute", "frame_a": "ground", "frame_b": "boom", "axis": [0, 0, 1], "angle": 0.2},
    "line": {"kind": "translational.line", "nodes": ["rod", "ground"], "frame_a": "foot", "frame_b": "boom.lug"},
    "jack": {
        "kind": "piston", "hydraulic": ["h", "ground"], "translational": ["rod", "ground"], "area": 0.005,
    },
    "oil": {"kind": "hydraulic.accumulator", "nodes": ["h", "ground"], "capacitance": 1e-10, "initial": 3e5},
    "pipe": {"kind": "hydraulic.resistance", "nodes": ["p", "h"], "resistance": 1e9},
    "P": {"kind": "hydraulic.pressure_source", "nodes": ["p", "ground"], "pressure": "3e5 + 1e6*gain.value"},
    "gain": {"kind": "control.gain", "input": "0.6 - O.angle", "gain": 2},
}  # fmt: skip


@pytest.fixture(scope="module")
def run() -> tuple[ct.Model, ct.Solution]:
    model = ct.Model.from_mapping({"name": "jack", "gravity": [0, -9.81, 0], "planar": True, "components": PARTS})
    return model, model.simulate(0.5, points=26)


def test_the_page_shows_domains_signals_and_laws(run, tmp_path):
    model, solution = run
    page = model.report(solution, tmp_path / "a.html").read_text()
    for piece in (
        'id="domains"', "Energy by domain", "<b>hydraulic</b>", "<b>transducers</b>", "Every domain closes to",
        'id="signals"', "<b>P.pressure</b>", "gain.value", "Blocks of signals", "Rates of networks and blocks",
        "Terminal equations of the networks",
    ):  # fmt: skip
        assert piece in page, piece


def test_signals_lead_from_who_gives_to_who_reads(run):
    """The joint before the gain before the source; a loop through a state does not upset the order."""
    model, _ = run
    assert readings(model) == [("gain", "P", "gain.value"), ("O", "gain", "O.angle")]
    svg = signals_svg(model)
    places = [svg.index(f">{name}<") for name in ("O", "gain", "P", "angle", "value")]
    assert len(places) == 5
    loop = {("a", "b"): ["x"], ("b", "c"): ["y"], ("c", "a"): ["z"]}
    assert sorted(signal_drawing._columns(loop).values()) == [0, 1, 2]


def test_a_line_is_a_barrel_and_a_rod_of_constant_lengths(run):
    model, solution = run
    scene = scene_of(model, solution)
    assert scene is not None
    own = [strut for strut in scene.struts if strut.owner == "line"]
    assert len(own) == 2
    ends = [(scene.tracks[s.a].position, scene.tracks[s.b].position) for s in own]
    for a, b in ends:
        length = np.linalg.norm(b - a, axis=1)
        assert np.ptp(length) < 1e-12
    whole = ends[1][1] - ends[0][0]
    assert np.ptp(np.linalg.norm(whole, axis=1)) > 1e-3
    along = np.cross(ends[0][1] - ends[0][0], whole)
    assert np.abs(along).max() < 1e-12


@pytest.mark.slow
def test_a_browser_opens_it_without_complaint(run, browser, tmp_path):
    model, solution = run
    opened = Opened(browser, model.report(solution, tmp_path / "a.html"))
    assert opened("document.querySelectorAll('#domains figure').length") > 1
    assert opened.quiet(), opened.complaints
