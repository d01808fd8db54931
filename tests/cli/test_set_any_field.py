"""`--set` changes every entry of a model file: what it says is what the file would say."""

from __future__ import annotations

import json

import pytest
import yaml
from typer.testing import CliRunner

import cotree as ct
from cotree.cli.program import program

ARM = """\
name: arm
gravity: [0, -9.81, 0]
parameters: {l: 0.3}
components:
  arm: {kind: rigid_body, shape: {rod: {length: 300 mm, mass: 1 kg, radius: 5 mm}}, frames: {O: [-0.15, 0, 0]}}
  main: {kind: revolute, frame_a: ground, frame_b: arm.O}
  boom: {kind: beam, length: 1, section: {circle: {radius: 0.01}}, material: steel, elements: 2, modes: 1}
  weld: {kind: weld, frame_a: ground, frame_b: boom.start}
  "s{i}": {kind: point_force, for: {i: 1..2}, frame_b: arm, force: [0, 1, 0]}
run: {t_end: 0.01, points: 2}
"""
CASES = {
    "main.angle=0.2": ("components", "main", "angle", 0.2),
    "main.angle=20 deg": ("components", "main", "angle", "20 deg"),
    "main.angle=l/2": ("components", "main", "angle", "l/2"),
    "main.axis=[1, 0, 0]": ("components", "main", "axis", [1, 0, 0]),
    "main.axis.x=1": ("components", "main", "axis", [1, 0, 1]),
    "main.angle_rate=1": ("components", "main", "angle_rate", 1),
    "arm.frames.Q=[0, 1, 0]": ("components", "arm", "frames", {"O": [-0.15, 0, 0], "Q": [0, 1, 0]}),
    "arm.frames.O.y=0.1": ("components", "arm", "frames", {"O": [-0.15, 0.1, 0]}),
    "arm.O.y=0.1": ("components", "arm", "frames", {"O": [-0.15, 0.1, 0]}),
    "arm.shape.rod.length=0.4": (
        "components", "arm", "shape", {"rod": {"length": 0.4, "mass": "1 kg", "radius": "5 mm"}}
    ),
    "boom.stations=0": ("components", "boom", "stations", 0),
    "boom.modes=[1, 2]": ("components", "boom", "modes", [1, 2]),
    "gravity=[0, -1, 0]": ("gravity", [0, -1, 0]),
    "gravity.x=2": ("gravity", [2, -9.81, 0]),
    "planar=false": ("planar", False),
    "run.points=4": ("run", {"t_end": 0.01, "points": 4}),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.yaml").write_text(ARM, encoding="utf-8")
    return tmp_path


def run(*words: str) -> dict[str, float]:
    done = CliRunner().invoke(program(), ["run", *words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["final"]


@pytest.mark.parametrize("setting", CASES)
def test_a_setting_stands_for_what_the_file_would_say(folder, setting):
    *path, last, value = CASES[setting]
    data = yaml.safe_load(ARM)
    inner = data
    for key in path:
        inner = inner[key]
    inner[last] = value
    (folder / "other.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    changed, written = run("m.yaml", "--set", setting), run("other.yaml")
    assert changed.keys() == written.keys()
    assert changed == pytest.approx(written, rel=1e-9, abs=1e-9)  # a run may take the value as a parameter
    if setting != "planar=false":
        assert changed != run("m.yaml") or "points" in setting


def test_instances_of_patterns_and_several_settings(folder):
    both = run("m.yaml", "--set", "s2.force=[0, 90, 0]", "--set", "main.angle=0.1", "--set", "arm.mass=2")
    assert both["main.angle"] != pytest.approx(run("m.yaml", "--set", "main.angle=0.1")["main.angle"], rel=1e-4)


def test_what_the_file_lacks_can_be_set(folder):
    text = ARM.replace("mass: 1 kg, ", "")
    (folder / "less.yaml").write_text(text, encoding="utf-8")
    assert run("less.yaml", "--set", "arm.shape.rod.mass=1") == pytest.approx(run("m.yaml"), rel=1e-9, abs=1e-9)


def test_the_same_in_python(folder):
    model = ct.load("m.yaml", changes={"main.angle": "0.2", "main.axis": [0, 1, 0], "boom.stations": 0})
    assert (model.components["main"].angle, model.components["main"].axis) == (0.2, (0, 1, 0))
    with pytest.raises(ct.ModelError, match=r"'main' does not give angle: give it there"):
        ct.load("m.yaml").simulate(0.01, parameters={"main.angle": 0.2})
    with pytest.raises(ct.FileError, match=r"m\.yaml: main\.angle: '2 s' is a time"):
        ct.load("m.yaml", changes={"main.angle": "2 s"})
