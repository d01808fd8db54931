"""Model files as JSON: read by the same reader, written where the name ends so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cotree as ct
from cotree.io import read_model

MODEL = {
    "name": "Filter \U0001f600 \"é\" / \\",
    "parameters": {"tau": "1 ms", "big": 1e100, "small": -2.5e-310},
    "components": {
        "V": {"kind": "voltage_source", "nodes": ["in", "ground"], "voltage": "5*sin(t)"},
        "R": {"kind": "resistor", "nodes": ["in", "out"], "resistance": "tau/1e-6"},
        "C": {"kind": "capacitor", "nodes": ["out", "ground"], "capacitance": 1e-06, "initial": None},
    },
    "run": {"t_end": "5*tau", "plot": ["C.voltage"], "points": 11},
}  # fmt: skip


STYLES = [{}, {"indent": "\t"}, {"indent": 1, "ensure_ascii": False}, {"separators": (",", ":")}]


@pytest.mark.parametrize("style", STYLES)
def test_json_in_every_style_is_read(tmp_path, style):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(MODEL, **style).replace("tau/1e", r"tau\/1e"), encoding="utf-8")
    file = read_model(path, ct.Model)
    assert file.model.name == MODEL["name"]
    assert file.model.parameter_values() == {"tau": 1e-3, "big": 1e100, "small": -2.5e-310}
    assert file.run.t_end == 5e-3
    assert file.model.components["C"].initial is None


def test_a_model_is_written_as_json_where_its_name_ends_so(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps(MODEL))
    model = ct.load(path)
    written = model.save(tmp_path / "again.json")
    data = json.loads(written.read_text(encoding="utf-8"))
    assert data["parameters"]["tau"] == "1 ms"
    again = ct.load(written)
    assert again.components == model.components
    assert again.parameters == model.parameters
    assert again.name == model.name


def test_mistakes_have_line_and_column(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("m.json")
    cases = {
        '{"components": {\n  "R": {"kind": "resistr"}}}': "m.json:2:17: R: there is no kind of component 'resistr'.",
        '{"components": {"R": 1,\n\t"R": 2}}': "m.json:2:2: the name 'R' is used twice, first in line 1.",
        '{"components": {"R": 1}': "m.json:1:1: the bracket '{' of line 1, column 1 is not closed here",
        '{"parameters": {"a": NaN}, "components": {"R": RESISTOR}}': "m.json:1:22: a: 'NaN' in the expression",
        '{"parameters": {"a": 1e999}, "components": {}}': "m.json:1:22: the number 1e999 is too large.",
        "": "m.json:1:1: there is no model here.",
    }
    for text, message in cases.items():
        path.write_text(text.replace("RESISTOR", '{"kind": "resistor", "nodes": ["a", "ground"], "resistance": 1}'))
        with pytest.raises(ct.FileError) as told:
            ct.load(path)
        assert message in str(told.value), text


def test_texts_that_look_like_numbers_come_back_as_text(tmp_path):
    model = ct.Model("m", datum="1e5")
    model.add(ct.Resistor("R", ("010", "1e5"), resistance="2e3"))
    model.add(ct.Resistor("S", ("010", "2024-01-05"), resistance="1_000"))
    model.add(ct.Resistor("T", ("2024-01-05", "yes"), resistance="1e1_0"))
    for name in ("m.yaml", "m.json"):
        again = ct.load(model.save(tmp_path / name))
        assert again.components == model.components
        assert again.datums == model.datums
