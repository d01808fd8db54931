"""What would go wrong later is refused when a file is read, and the message says what to do."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import jsonschema
import pytest

import cotree as ct
from cotree import bond
from cotree.cli import main
from cotree.io import model_from_data
from cotree.io.scalars import plain_value
from cotree.io.schema import model_schema
from cotree.model import Expression, find_kind
from cotree.model.kinds import COMMON_WORDS


def told(capsys, monkeypatch, *words):
    """The exit code and what the command line says on stderr."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "argv", ["cotree", *words])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code, capsys.readouterr().err


# -- temperatures over the datum


def heated(temperature, **parameters):
    model = ct.Model("m", parameters=parameters)
    model.add(ct.thermal.TemperatureSource("T", ("a", "ground"), temperature=temperature))
    model.add(ct.thermal.Resistance("R", ("a", "ground"), resistance="2 K/W"))
    return model.simulate(1, points=2)["R.heat_flow"][-1]


def test_temperatures_of_a_network_are_in_kelvin_over_the_datum():
    assert heated("20 K") == heated(20) == heated("a", a="20 K") == 10
    for given in ({"temperature": "20 degC"}, {"temperature": "a", "a": "68 degF"}):
        with pytest.raises(ct.ModelError, match="give kelvin over it"):
            heated(**given)
    with pytest.raises(ct.ModelError, match=r"T.temperature: the parameter 'a' \(20 degC\)"):
        heated("b + 5*sin(t)", b="2*a", a="20 degC")


def test_other_rooms_refuse_a_scale_with_its_own_zero():
    for make in (
        lambda: ct.thermal.Capacity("C", ("a", "ground"), heat_capacity=1, initial="20 degC"),
        lambda: bond.thermal.TemperatureSource("T", temperature="20 °C"),
        lambda: bond.thermal.Capacity("C", heat_capacity=1, initial_temperature="20 degC"),
        lambda: bond.Se("S", effort="20 degC"),
    ):
        with pytest.raises(ct.ModelError, match="temperature with a zero of its own"):
            make()
    assert Expression("20 degC").number({}) == 293.15


def test_a_start_value_of_a_bare_element_has_no_zero_of_its_own(read):
    text = "components: {F: {kind: Se, effort: 5}, j: {kind: 1}, m: {kind: I, inertia: 2}}\nbonds: [F -> j, j -> m]\n"
    assert read(text + "run: {start: {m.momentum: 2 g m/s}}\n").run.start == {"m.momentum": 0.002}
    with pytest.raises(ct.FileError, match=r"m.yaml:3:27: '2 degC' is a temperature with a zero of its own"):
        read(text + "run: {start: {m.momentum: 2 degC}}\n")


# -- start values

ARM = """\
parameters: {far: 30 mm, turned: 30 deg}
components:
  arm: {kind: rigid_body, shape: {rod: {length: 1, mass: 1}}, frames: {O: [-0.5, 0, 0]}}
  O: {kind: revolute, frame_a: ground, frame_b: arm.O, axis: [0, 0, 1]}
run: {t_end: 0.01, points: 2, start: {O.angle: START}}
"""


@pytest.mark.parametrize(("start", "code"), [("30 mm", 2), ("far", 2), ("30 deg", 0), ("turned", 0), ("0.5", 0)])
def test_a_start_value_has_the_unit_of_its_state(start, code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text(ARM.replace("START", start))
    for command in ("run", "check"):
        left, said = told(capsys, monkeypatch, command, "m.yaml")
        assert left == code
        if code:
            assert "m.yaml:5:48: " in said
            assert "is a length. Expected an angle" in said


# -- messages


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5*sin(2*pi*50 Hz*t)", "the unit 'Hz' inside of the expression"),
        ("30*t deg", "the unit 'deg' inside of the expression"),
        ("5*sin(2*pi*t) V", "the unit 'V' inside of the expression"),
        ("5 V*sin(t)", "A unit belongs to one number alone"),
        ("10 mm*2", "A unit belongs to one number alone"),
        ("5 mOhm", "Did you mean 'mohm'?"),
        ("5 MOhm", "Did you mean 'Mohm'?"),
        ("3 pi", "A product needs its sign: 3*pi"),
        ("0x10", "Write a decimal number"),
    ],
)
def test_units_and_numbers_inside_of_expressions(text, said):
    with pytest.raises(ct.ExpressionError) as error:
        Expression(text)
    assert said in str(error.value)
    assert "comma?" not in str(error.value)


def test_a_number_beyond_all_bounds_is_told_in_words():
    with pytest.raises(ct.ExpressionError, match="has no value: it is too large"):
        Expression("9**9**9**9").number({})


def test_only_plain_digits_are_numbers():
    assert plain_value("1٣") == "1٣"
    assert plain_value("13") == 13


def test_a_pattern_in_brackets_needs_quotes(read):
    text = 'components:\n  "R{i}": {for: {i: 1..3}, kind: resistor, nodes: [b{i}, "b{i+1}"], resistance: 1}\n'
    with pytest.raises(ct.FileError, match=r'm.yaml:2:52: b{i} is a pattern .* Put it in quotes: "b{i}"'):
        read(text)
    assert len(read(text.replace("[b{i},", '["b{i}",')).model.components) == 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_no_file_to_include(read, tmp_path):
    os.mkfifo(tmp_path / "part.yaml")
    with pytest.raises(ct.FileError, match=r"'part.yaml' is no file. Expected a model file"):
        read("include: part.yaml\n")


def test_a_wrong_setting_is_not_shown_in_the_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("m.yaml").write_text(ARM.replace("START", "0.1"))
    code, said = told(capsys, monkeypatch, "run", "m.yaml", "--set", "FAR=1")
    assert code == 2
    assert said == "error: m.yaml: there is no parameter 'FAR'. Expected one of far, turned. Did you mean 'far'?\n"


@pytest.mark.parametrize(
    ("kind", "field", "said"),
    [
        ("revolute", "damping", "Kinds with 'damping': joint_spring, joint_damper"),
        ("drive", "velocity", "Kinds with 'speed': speed_drive"),
        ("joint_actuator", "torque", "Did you mean 'effort'?"),
        ("capacitor", "voltage", "Did you mean 'initial'?"),
    ],
)
def test_a_field_of_another_kind_is_pointed_to(kind, field, said):
    cls = find_kind(kind, "x")
    nodes = {"nodes": ["a", "b"]} if "nodes" in cls.data_fields() else {}
    with pytest.raises(ct.ModelError) as error:
        cls.from_data("x", {field: 1, **nodes})
    assert said in str(error.value)


def test_words_of_other_programs_lead_to_kinds():
    for word, meant in COMMON_WORDS.items():
        assert all(find_kind(each, "x") for each in meant)
        with pytest.raises(ct.ModelError, match=f"Did you mean '{meant[0]}'"):
            find_kind(word, "x")


# -- names, run settings and the schema


def test_a_part_of_a_mechanism_is_not_called_ground(read):
    model = ct.Model("m")
    with pytest.raises(ct.ModelError, match="the name 'ground' is taken"):
        model.add(ct.RigidBody("ground", mass=1, inertia=[1, 1, 1]))
    with pytest.raises(ct.FileError, match=r"m.yaml:2:3: the name 'ground' is taken"):
        read("components:\n  ground: {kind: rigid_body, mass: 1, inertia: [1, 1, 1]}\n")


PARTS = {
    "R": {"kind": "resistor", "nodes": ["a", "ground"], "resistance": 1},
    "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": 5},
}
SCHEMA = jsonschema.Draft202012Validator(model_schema())


@pytest.mark.parametrize(
    "more",
    [
        *({"run": {key: value}} for key, value in (
            ("rtol", -1), ("rtol", 0), ("rtol", 2), ("atol", 0), ("t_end", 0), ("max_step", -1), ("step", 0),
            ("points", 1), ("max_steps", 0), ("spectral_radius", 2), ("spectral_radius", -1),
        )),
        *({"parameters": {name: 1}} for name in ("", "2a", "a b", "a.b", "a-b", "t", "pi", "sin")),
    ],
    ids=str,
)  # fmt: skip
def test_reader_and_schema_refuse_the_same(more):
    data = {"components": PARTS, **more}
    with pytest.raises(ct.ModelError):
        model_from_data(data, ct.Model)
    assert not SCHEMA.is_valid(data)


@pytest.mark.parametrize("name", ["a", "_x", "a2", "α", "É", "π_2"])
def test_reader_and_schema_take_the_same_names(name):
    data = {"components": PARTS, "parameters": {name: 1}, "run": {"rtol": 1e-6, "points": 2, "spectral_radius": 0}}
    assert model_from_data(data, ct.Model).parameters
    assert SCHEMA.is_valid(data)


def test_the_schema_replaces_no_file_unless_it_may(tmp_path, monkeypatch, capsys):
    path = tmp_path / "model.json"
    path.write_text("{}")
    code, said = told(capsys, monkeypatch, "schema", "--out", str(path))
    assert code == 2
    assert "exists already" in said
    assert path.read_text() == "{}"
    assert told(capsys, monkeypatch, "schema", "--out", str(path), "--force")[0] == 0
    assert '"$schema"' in path.read_text()
