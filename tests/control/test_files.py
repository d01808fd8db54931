"""Blocks in model files: names of signals follow prefixes and joins, and reports and lists know them."""

from __future__ import annotations

from pathlib import Path

import pytest

import cotree as ct
from cotree.io import read_model
from cotree.io.catalogue import catalogue

STAGE = """\
parameters: {gain: 3}
components:
  V: {kind: voltage_source, nodes: [a, ground], voltage: pid.value + seen.value*0}
  R: {kind: resistor, nodes: [a, b.1], resistance: 2}
  C: {kind: capacitor, nodes: [b.1, ground], capacitance: 0.5}
  pid: {kind: control.pid, setpoint: goal.value, measurement: out.voltage, p: gain, i: 2}
  sum: {kind: control.sum, inputs: [pid.value, a.voltage, gain*R.current], gains: [1, 1, gain]}
  seen: {kind: control.sensor, of: R.current}
  back:
    kind: control.state_feedback
    gains: {a.voltage: gain, R.current: 1, out.voltage: 1}
    references: {a.voltage: "gain*t"}
"""
TOP = """\
include: [{file: stage.yaml, as: x, join: {b.1: n1, out: n1}}]
components:
  goal: {kind: control.gain, input: 1, gain: 1}
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("stage.yaml").write_text(STAGE)
    Path("top.yaml").write_text(TOP)
    return read_model(Path("top.yaml"), ct.Model).model


def test_signals_follow_prefix_and_join(model):
    """A node of the file gets the prefix, one that is joined its name outside; what the file has not stays."""
    data = {name: part.to_data() for name, part in model.components.items()}
    assert data["x_V"]["voltage"] == "x_pid.value + x_seen.value*0"
    assert data["x_R"]["nodes"] == ["x_a", "n1"]
    assert data["x_pid"]["setpoint"] == "goal.value"
    assert data["x_pid"]["measurement"] == "n1.voltage"
    assert data["x_sum"]["inputs"] == ["x_pid.value", "x_a.voltage", "x_gain*x_R.current"]
    assert data["x_sum"]["gains"] == [1, 1, "x_gain"]
    assert data["x_seen"]["of"] == "x_R.current"
    assert data["x_back"]["gains"] == {"x_a.voltage": "x_gain", "x_R.current": 1, "n1.voltage": 1}
    assert data["x_back"]["references"] == {"x_a.voltage": "x_gain*t"}


def test_a_mount_and_a_loss_name_components(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("part.yaml").write_text(
        "components:\n"
        "  arm: {kind: rigid_body, shape: {rod: {length: 1, mass: 1}}, frames: {O: [-0.5, 0, 0], E: [0.5, 0, 0]}}\n"
        "  J: {kind: revolute, frame_a: ground, frame_b: arm.O}\n"
        "  axis: {kind: rotational.axis, nodes: [s, ground], on: J}\n"
        "  line: {kind: translational.line, nodes: [r, ground], frame_a: ground, frame_b: arm.E}\n"
        "  outer: {kind: rotational.axis, nodes: [s, ground], on: K}\n"
    )
    Path("top.yaml").write_text("include: [{file: part.yaml, as: l}, {file: part.yaml, as: r, join: {K: l_J}}]\n")
    read = read_model(Path("top.yaml"), ct.Model).model.components
    data = {name: part.to_data() for name, part in read.items()}
    assert (data["l_axis"]["on"], data["l_axis"]["nodes"]) == ("l_J", ["l_s", "ground"])
    assert (data["l_line"]["frame_a"], data["l_line"]["frame_b"]) == ("ground", "l_arm.E")
    assert data["l_outer"]["on"] == "K"
    assert data["r_outer"]["on"] == "l_J"


def test_patterns_put_indices_into_signals(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text(
        "components:\n"
        '  "g{i}": {for: {i: 1..3}, kind: control.gain, input: "i*h{i-1}.value", gain: i}\n'
        "  h0: {kind: control.gain, input: t, gain: 1}\n"
    )
    model = read_model(path, ct.Model).model
    assert model.components["g2"].to_data() == {"kind": "control.gain", "input": "2*h1.value", "gain": "2"}


def test_a_report_shows_blocks(model, tmp_path):
    text = model.report(model.simulate(0.1), tmp_path / "r.html").read_text()
    assert "control.pid" in text
    assert "x_pid.value" in text


def test_lists_of_kinds_name_the_results():
    (pid,) = catalogue("control.pid")
    assert pid.word == "control.pid"
    assert "value" in pid.results
    assert catalogue("sensor")[0].kind == "bond.sensor"


def test_a_word_that_bond_graphs_have_is_told_with_the_block_that_is_meant(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("components:\n  g: {kind: control.gain, input: t, gain: 1}\n  s: {kind: sensor, of: g.value}\n")
    with pytest.raises(ct.ModelError, match=r"m\.yaml:3:\d+: s: 'sensor' alone .* Write control\.sensor"):
        read_model(path, ct.Model)
