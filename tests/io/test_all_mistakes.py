"""All mistakes of a model file are reported in one go."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import cotree as ct
from cotree.cli import main
from cotree.errors import MOST

MECHANISM = """\
name: bad
gravity: [0, -9.81]
parameters: {l: 300 mm, w: "2*", w: 3}
componets: {}
components:
  arm: {kind: rigid_body, mas: 1, mass: 1 s, inertia: [1, 1, 1, 0, 0, 0], frames: {O: [-0.15, 0, 0]}}
  O: {kind: revolute, frame_a: ground, frame_b: arm.O, axis: [0, 0, 1], angel: 20 deg}
  leg: {kind: rigid_body, mass: -2, inertia: [1, 1, 1, 0, 0, 0]}
  s: {kind: spring, frame_a: ground, frame_b: lag, stiffness: 5 s}
  d: {kind: damper, frame_a: ground, frame_b: lag, damping: 5}
  e: {kind: damper, frame_a: ground, frame_b: arm, damping: 5}
  j: {kind: joint_damper, on: K, damping: 5}
  q: {kind: nosuch}
run: {t_end: -2, point: 3, integrator: foo}
"""
PLACES = {
    (3, 34): "used twice", (4, 1): "componets", (2, 10): "gravity", (6, 27): "mas", (6, 41): "is a time",
    (7, 73): "angel", (8, 33): "-2", (9, 3): "no value is given", (9, 63): "is a time", (10, 47): "lag", (12, 31): "K",
    (13, 13): "nosuch", (14, 18): "point", (14, 14): "-2", (14, 40): "foo",
}  # fmt: skip


def told(tmp_path: Path, text: str) -> ct.FileError:
    path = tmp_path / "m.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ct.FileError) as caught:
        ct.load(path)
    return caught.value


def test_every_mistake_has_its_place_and_none_follows_from_another(tmp_path):
    error = told(tmp_path, MECHANISM)
    found = {}
    for each in error.mistakes:
        place = re.match(r".*m\.yaml:(\d+):(\d+)", each.where)
        found[int(place[1]), int(place[2])] = each.found
    assert found.keys() == PLACES.keys()
    for place, word in PLACES.items():
        assert word in found[place]
    assert error.more == 0
    assert str(error) == error.message  # the first keeps its text, the others are notes
    assert len(error.__notes__) == 1 + len(error.others)
    for note, other in zip(error.__notes__[1:], error.others, strict=True):
        assert note.startswith(str(other))
        assert note.endswith("^")


def test_twenty_are_shown_and_the_rest_is_counted(tmp_path):
    rows = "".join(f"  R{k}: {{kind: resistor, nodes: [a, ground], resistence: 1}}\n" for k in range(33))
    error = told(tmp_path, f"components:\n{rows}")
    assert len(error.mistakes) == MOST == 20
    assert error.__notes__[-1] == f"{error.more} more"
    assert error.more >= 13


def test_a_pattern_with_a_mistake_is_one_mistake(tmp_path):
    row = '  "R{i}": {kind: resistor, nodes: ["n{i}", ground], resistance: 1 V, for: {i: 1..9}}\n'
    assert not told(tmp_path, f"components:\n{row}").others


def test_values_that_follow_from_parameters_are_all_reported():
    m = ct.Model("m", parameters={"R": -1})
    for k in range(3):
        m.add(ct.Resistor(f"R{k}", ("a", "ground"), resistance="R"))
    with pytest.raises(ct.ModelError) as caught:
        m.check()
    assert [each.where for each in caught.value.mistakes] == [f"R{k}.resistance" for k in range(3)]


@pytest.mark.parametrize("section", ["bonds", "components", "include", "parameters"])
def test_a_wrong_section_does_not_hide_the_run(tmp_path, section):
    error = told(tmp_path, f"components: {{R: {{kind: resistor}}}}\n{section}: 7\nrun: {{t_ent: 1}}\n")
    assert any("t_ent" in each.found for each in error.mistakes)


def test_names_to_plot_are_all_reported(tmp_path, monkeypatch, capsys):
    text = "components: {R: {kind: resistor, nodes: [a, ground], resistance: 1}, "
    text += "C: {kind: capacitor, nodes: [a, ground], capacitance: 1}}\nrun: {t_end: 1, plot: [R.x, C.voltage, R.y]}\n"
    (tmp_path / "m.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["cotree", "run", "m.yaml", "--json"])
    with pytest.raises(SystemExit):
        main()
    found = json.loads(capsys.readouterr().err)["error"]
    assert "R.x" in found["found"]
    assert [("R.y" in each["found"], each["line"]) for each in found["others"]] == [(True, 2)]
