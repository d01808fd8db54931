"""`--set` reaches values from which the tables of flexible bodies are computed."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import cotree as ct
from cotree.cli.program import program
from cotree.errors import ModelError

TEXT = """
name: arm
gravity: [0, 0, 0]
parameters: {half: 0.5, L: 2*half, m: 1}
components:
  b: {kind: beam, length: L, section: {circle: {radius: 0.01}}, material: steel, elements: 4, modes: 2, roll: 0.1}
  w: {kind: weld, frame_a: ground, frame_b: b.start}
  tip: {kind: rigid_body, shape: {sphere: {radius: 0.1, mass: m}}}
  e: {kind: weld, frame_a: b.end, frame_b: tip}
run: {t_end: 0.001, points: 2}
"""


@pytest.fixture
def model(tmp_path):
    (tmp_path / "arm.yaml").write_text(TEXT)
    return tmp_path / "arm.yaml"


def test_a_parameter_of_the_tables_changes_the_beam(model):
    result = CliRunner().invoke(program(), ["run", str(model), "--set", "half=0.4", "--set", "m=2"])
    assert result.exit_code == 0
    mass = 7850 * np.pi * 0.01**2 * 0.8
    assert f"b: {mass:.4g} kg" in result.output


def test_taken_values_are_those_of_the_tables_only(model):
    arm = ct.load(model)
    assert arm.take({"half": 0.4, "m": 2.0, "b.roll": 0.2}) == {"m": 2.0}
    assert arm.parameter_values()["L"] == pytest.approx(0.8)
    assert arm.components["b"].roll == 0.2


def test_a_run_refuses_what_it_cannot_change(model):
    arm = ct.load(model)
    with pytest.raises(ModelError, match=r"b\.roll: the tables of a flexible body were computed from its value 0\.1"):
        arm.simulate(0.001, parameters={"b.roll": 0.2})
    with pytest.raises(ModelError, match=r"b\.length: it would change from 1 to 0\.8, but tables were computed"):
        arm.simulate(0.001, parameters={"half": 0.4})
