"""The JSON Schema of model files: it is one, it holds for every component, and it agrees with the reader."""

from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cotree as ct
from _cases import random_cases
from _counting import calls
from _samples import samples
from cotree.errors import CotreeError, ModelError
from cotree.io import RunSettings, model_from_data
from cotree.io.assembly import KEYS
from cotree.io.model_file import _plain
from cotree.io.schema import kind_words, model_schema, run_entries
from cotree.io.templates import TEMPLATES
from cotree.io.yaml_source import Source, read_source
from cotree.model import KINDS, find_kind

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
SCHEMA = model_schema()
MODEL = jsonschema.Draft202012Validator(SCHEMA)
COMPONENT = jsonschema.Draft202012Validator({"$ref": "#/$defs/component", "$defs": SCHEMA["$defs"]})


def test_it_is_a_schema_made_the_same_each_time_and_in_proportion_to_the_kinds():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    again = []
    assert calls(lambda: again.append(model_schema())) < 4_000 * len(KINDS)
    assert json.dumps(again[0]) == json.dumps(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_it_knows_every_section_every_run_setting_and_every_kind():
    assert set(SCHEMA["properties"]) == set(KEYS)
    assert set(run_entries()) == {f.name for f in dataclasses.fields(RunSettings)}
    assert set(KINDS) <= set(SCHEMA["$defs"])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_field_says_what_it_means_and_what_it_holds(kind):
    entry, forms = SCHEMA["$defs"][kind], KINDS[kind].forms()
    assert list(forms) == KINDS[kind].data_fields()
    assert entry["description"]
    assert entry["additionalProperties"] is False
    for name, form in forms.items():
        assert form.meaning, name
        assert form.schema, name
        assert entry["properties"][name]["description"][0].isupper() or not form.meaning[0].isalpha(), name


def test_words_of_kinds_are_those_that_the_reader_finds():
    """Every word that the schema takes for a kind is this kind to the reader, and no other word is any."""
    words = {word: cls for cls in KINDS.values() for word in kind_words(cls)}
    for word, cls in words.items():
        assert find_kind(f"bond.{word}" if isinstance(word, int) else word, "x") is cls
    for word in {kind.rpartition(".")[2] for kind in KINDS} - words.keys():
        with pytest.raises(ModelError, match=r"is now|no kind of component"):
            find_kind(word, "x")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_holds(path):
    assert [error.message for error in MODEL.iter_errors(read_source(path).data)] == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_holds(name):
    assert [error.message for error in MODEL.iter_errors(Source(TEMPLATES[name].text, name).data)] == []


def test_every_component_holds_as_it_is_written():
    for component in samples():
        data = json.loads(json.dumps(_plain(component.to_data())))
        held = COMPONENT.evolve(schema={"$ref": f"#/$defs/{component.kind}", "$defs": SCHEMA["$defs"]})
        assert [error.message for error in held.iter_errors(data)] == [], component.kind


# -- wrong files

R = {"kind": "resistor", "nodes": ["a", "ground"], "resistance": 1}
V = {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": 5}
ARM = {"kind": "rigid_body", "shape": {"rod": {"length": 1, "mass": 1}}, "frames": {"O": [-0.5, 0, 0]}}
HINGE = {"kind": "revolute", "frame_a": "ground", "frame_b": "arm.O"}
WRONG = {
    "unknown section": {"components": {"R": R, "V": V}, "component": {}},
    "no components": {"name": "x"},
    "unknown kind": {"components": {"R": {**R, "kind": "resistr"}, "V": V}},
    "kind of several domains": {"components": {"R": {**R, "kind": "spring"}, "V": V}},
    "no kind": {"components": {"R": {"nodes": ["a", "b"]}}},
    "missing value": {"components": {"R": {"kind": "resistor", "nodes": ["a", "ground"]}, "V": V}},
    "missing nodes": {"components": {"R": {"kind": "resistor", "resistance": 1}, "V": V}},
    "negative value": {"components": {"R": {**R, "resistance": -1}, "V": V}},
    "zero": {"components": {"R": {**R, "resistance": 0}, "V": V}},
    "truth for a number": {"components": {"R": {**R, "resistance": True}, "V": V}},
    "list for a number": {"components": {"R": {**R, "resistance": [1]}, "V": V}},
    "three nodes": {"components": {"R": {**R, "nodes": ["a", "b", "c"]}, "V": V}},
    "unknown field": {"components": {"R": {**R, "resistence": 1}, "V": V}},
    "parameter named as a function": {"parameters": {"sin": 1}, "components": {"R": R, "V": V}},
    "gravity of two": {"gravity": [0, -9.81], "components": {"arm": ARM, "O": HINGE}},
    "planar as text": {"planar": "yes", "components": {"arm": ARM, "O": HINGE}},
    "body without mass": {"components": {"arm": {"kind": "rigid_body", "frames": {"O": [0, 0, 0]}}, "O": HINGE}},
    "unknown shape": {"components": {"arm": {**ARM, "shape": {"rodd": {"length": 1, "mass": 1}}}, "O": HINGE}},
    "shape without mass": {"components": {"arm": {**ARM, "shape": {"rod": {"length": 1}}}, "O": HINGE}},
    "axis of two": {"components": {"arm": ARM, "O": {**HINGE, "axis": [0, 1]}}},
    "frame of two": {"components": {"arm": {**ARM, "frames": {"O": [0, 0]}}, "O": HINGE}},
    "number for a frame": {"components": {"arm": ARM, "O": {**HINGE, "frame_a": 1}}},
    "unknown run setting": {"components": {"R": R, "V": V}, "run": {"tend": 1}},
    "points as text": {"components": {"R": R, "V": V}, "run": {"t_end": 1, "points": "many"}},
    "bond without head": {"components": {"S": {"kind": "Se", "effort": 1}}, "bonds": [{"tail": "S"}]},
    "part of another domain in a mask": {
        "masks": {"m": {"ports": {}, "components": {"R": R}}},
        "components": {"S": {"kind": "Se", "effort": 1}, "j": {"kind": 1}, "r": {"kind": "R", "resistance": 1}},
        "bonds": ["S -> j", "j -> r"],
    },
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_are_refused_by_schema_and_reader(name):
    with pytest.raises(CotreeError):
        model_from_data(copy.deepcopy(WRONG[name]), ct.Model)
    assert not MODEL.is_valid(WRONG[name])


# -- agreement with the reader

SEEDS = [
    {"datum": "ground", "parameters": {"k": 2.0}, "components": {"R": R, "V": {**V, "voltage": "k*sin(t)"}}},
    {
        "gravity": [0, "-9.81", 0],
        "components": {"arm": ARM, "O": {**HINGE, "axis": [0, 0, 1], "fixed": [], "angle": 0.1}},
    },
    {
        "planar": False,
        "components": {
            "A{i}": {"for": {"i": "1..2"}, "kind": "nodal.node", "position": ["i", 0, 0], "mass": "1 kg"},
            "s": {"kind": "nodal.node_spring", "node_a": "A1", "node_b": "A2", "stiffness": 9, "length": 1},
        },
    },
    {
        "masks": {
            "m": {
                "ports": {"p": "j"},
                "parameters": {"K": None},
                "components": {"j": {"kind": 1}, "c": {"kind": "C", "stiffness": "K"}},
                "bonds": {"x": "j -> c"},
            }
        },
        "components": {
            "S": {"kind": "Se", "effort": "t"},
            "v": {"kind": "bond.1"},
            "I": {"kind": "I", "inertia": 2, "momentum": 0},
            "M": {"kind": "mask", "graph": "m", "values_of": {"K": 3}},
        },
        "bonds": ["S -> v", ["v", "I"], {"tail": "v", "head": "M.p"}],
    },
]
ODD = [None, True, 0, -1, 1.5, 3, "x", "1 m", "k", "", [], [1, 2], [1, 2, 3], ["a", "b"], {}, {"a": 1}, {"kind": "R"}]
STRUCTURE = ("has no field", "unknown entry", "there is no kind", "no kind is given", "in several domains")


def _paths(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(each for key, value in inner for each in _paths(value, (*path, key)))]


@st.composite
def mutated(draw: Any) -> Any:
    """A seed with one entry taken away, renamed, put into a list, added or replaced."""
    data = copy.deepcopy(draw(st.sampled_from(SEEDS)))
    *path, key = draw(st.sampled_from(_paths(data)[1:]))
    owner: Any = data
    for each in path:
        owner = owner[each]
    how = draw(st.sampled_from(["take", "rename", "list", "add", "replace", "replace"]))
    if how == "take":
        del owner[key]
    elif how == "rename" and isinstance(owner, dict):
        owner[f"{key}x"] = owner.pop(key)
    elif how == "list":
        owner[key] = [owner[key]]
    elif how == "add" and isinstance(owner, dict):
        owner["extra"] = draw(st.sampled_from(ODD))
    else:
        owner[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return data


@random_cases(33, 100)
@given(data=mutated())
def test_what_the_reader_takes_holds_and_what_is_no_structure_does_not(data):
    try:
        model_from_data(copy.deepcopy(data), ct.Model)
        told = None
    except CotreeError as error:
        told = str(error)
    held = MODEL.is_valid(data)
    assert held or told is not None, "the reader takes it, the schema does not"
    assert not held or told is None or not any(words in told for words in STRUCTURE), told
