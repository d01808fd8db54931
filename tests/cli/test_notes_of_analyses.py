"""Analyses print what a run would say of the same model."""

from __future__ import annotations

import json

import pytest

DOOR = """\
name: door
components:
  door:
    kind: rigid_body
    shape: {box: {size: [0.9, 0.04, 2], mass: 30}}
    frames: {a: [-0.45, 0, 0.8], b: [-0.45, 0, -0.8]}
  up: {kind: ground_frame, position: [0, 0, 0.8]}
  low: {kind: ground_frame, position: [0, 0, -0.8]}
  h1: {kind: revolute, frame_a: up, frame_b: door.a}
  h2: {kind: revolute, frame_a: low, frame_b: door.b}
run: {t_end: 0.1}
"""


@pytest.mark.parametrize("command", ["run", "check", "statics", "modes"])
def test_notes_are_printed_by_every_command(command, cotree, tmp_path):
    (tmp_path / "door.yaml").write_text(DOOR)
    printed = cotree(command, tmp_path / "door.yaml").out
    for words in ("'h2' adds 5 redundant equations: coaxial joints", "rigid bodies do not determine", "gravity is not"):
        assert words in printed
    if command == "statics":
        assert "h1.force.z (not determined)" in printed


@pytest.mark.parametrize("command", ["run", "statics", "modes"])
def test_and_stand_in_the_data(command, cotree, tmp_path):
    (tmp_path / "door.yaml").write_text(DOOR)
    said = json.loads(cotree(command, tmp_path / "door.yaml", "--json").out)["diagnostics"]
    codes = [each["code"] for each in said]
    assert {"redundant-rows", "undetermined-reactions"} <= {*codes}
    assert any(code.startswith("default-gravity") for code in codes)
