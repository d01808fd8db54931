"""Nodal parts as plain data: in Python, through YAML, and back; and their kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml

import cotree.terminal  # noqa: F401  (registers every kind of component)
from _made import made
from cotree.model import KINDS, Kind, Model, find_kind
from cotree.terminal import nodal

SAMPLES: dict[str, dict[str, Any]] = {
    "nodal.node": {"position": (0.0, "a", 1.0), "velocity": (1.0, 0.0, 0.0), "mass": 2.0},
    "nodal.bar": {"node_a": "A", "node_b": "B", "mass": "2*a", "length": 1.5, "distribution": "lumped"},
    "nodal.body": {"over": ("A", "B", "C"), "mass": 2.0, "centre": (0.0, 1.0, "a"), "inertia": (1, 1, 1, 0, 0, "a/9")},
    "nodal.fixed": {"node": "A"},
    "nodal.on_line": {"node": "A", "along": (0.0, "a", 1.0)},
    "nodal.on_plane": {"node": "A", "normal": (0.0, 0.0, 1.0)},
    "nodal.moved": {"node": "A", "displacement": (None, "a*sin(t)", 0.0)},
    "nodal.keep_direction": {"node_a": "A", "node_b": "B"},
    "nodal.force_cable": {"over": ("A", "B", "C", "A"), "tension": "50 - A.velocity.x"},
    "nodal.elastic_cable": {"over": ("A", "B"), "stiffness": 1e4, "length": "a", "damping": 3.0},
    "nodal.motor_cable": {"over": ("A", "B", "C"), "length": "3 - a*t"},
    "nodal.node_gear": {"first": ("A", "B", "C"), "second": ("C", "B", "D"), "ratio": -2.0, "axis": (0.0, 0.0, 1.0)},
    "nodal.node_spring": {"node_a": "A", "node_b": "B", "stiffness": 9.0, "length": 1.0, "preload": "a", "damping": 1},
    "nodal.node_damper": {"node_a": "A", "node_b": "B", "damping": 9.0},
    "nodal.force": {"node": "A", "force": (0.0, "10*t", "-A.velocity.z")},
    "nodal.body_load": {"body": "P", "force": ("t", 0.0, 1.0), "moment": (0.0, "a", 0.0)},
    "nodal.latch": {"over": ("A", "B", "C"), "at": "pi", "axis": (0.0, 0.0, 1.0)},
    "nodal.stop": {"over": ("A", "B"), "least": 0.1, "most": "2*a", "restitution": 0.5, "action": "end"},
}
LISTED = set(SAMPLES)
SAMPLES = {kind: made(kind) for kind in sorted(KINDS) if KINDS[kind].nodal} | SAMPLES
"""Rich samples of many kinds, and one made from its class for any other."""
EVERY = pytest.mark.parametrize("kind", SAMPLES)


def test_what_the_package_shows_are_kinds() -> None:
    assert {getattr(nodal, name) for name in nodal.__all__} <= {cls for cls in KINDS.values() if cls.nodal}


@EVERY
def test_a_part_made_from_its_class_goes_through_a_file(kind: str) -> None:
    part = KINDS[kind].from_data("part", made(kind))
    data = yaml.safe_load(yaml.safe_dump(part.to_data()))
    assert find_kind(data.pop("kind"), "part").from_data("part", data) == part


@EVERY
def test_python_to_file_to_python_is_lossless(kind: str) -> None:
    part = KINDS[kind](name="part", **SAMPLES[kind])
    data = yaml.safe_load(yaml.safe_dump(part.to_data()))
    again = find_kind(data.pop("kind"), "part").from_data("part", data)
    assert again == part
    assert hash(again) == hash(part)
    assert again.expressions == part.expressions
    assert again.to_data() == part.to_data()
    assert again.edges() == part.edges()


@EVERY
def test_lists_and_arrays_are_taken_as_tuples_are(kind: str) -> None:
    listed = {name: list(value) if isinstance(value, tuple) else value for name, value in SAMPLES[kind].items()}
    part = KINDS[kind](name="part", **SAMPLES[kind])
    assert KINDS[kind](name="part", **listed) == part
    plain = {
        name: np.array(value) if isinstance(value, tuple) and all(isinstance(x, float) for x in value) else value
        for name, value in SAMPLES[kind].items()
    }
    assert KINDS[kind](name="part", **plain) == part


@EVERY
def test_values_are_within_their_ranges(kind: str) -> None:
    """A model with the part alone: all values are read, checked and named."""
    model = Model("m", parameters={"a": 0.7})
    part = model.add(KINDS[kind](name="part", **SAMPLES[kind]))
    values = model.component_values()
    moving = {name for name, e in part.expressions.items() if e.depends_on_time or e.measured}
    assert {name for name in values if name.startswith("part.")} == {
        f"part.{x}" for x in part.expressions.keys() - moving
    }


@pytest.mark.parametrize("word", ["spring", "damper", "gear"])
def test_words_of_other_domains_keep_their_meaning(word: str) -> None:
    assert find_kind(word, "part").mechanical
    assert not find_kind(word, "part").nodal


@EVERY
def test_a_data_sheet_says_what_it_is(kind: str) -> None:
    cls = KINDS[kind]
    assert cls.__dict__.get("__doc__")
    part = cls(name="part", **SAMPLES[kind])
    for name, (info, _) in part.entries().items():
        assert info.meaning, name
        pure = name.partition(".")[0] in ("along", "normal", "axis", "ratio", "restitution")
        assert info.unit or pure or kind not in LISTED, name


@EVERY
def test_nodes_may_be_given_themselves(kind: str) -> None:
    """Instead of their names."""
    known = {name: nodal.Node(name, position=(0, 0, 0)) for name in "ABCD"}
    known["P"] = nodal.Body("P", ("A",), mass=1, centre=(0, 0, 0), inertia=(1, 1, 1))

    def objects(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(known.get(each, each) for each in value)
        return known.get(value, value) if isinstance(value, str) else value

    given = {name: objects(value) for name, value in SAMPLES[kind].items()}
    assert KINDS[kind](name="part", **given) == KINDS[kind](name="part", **SAMPLES[kind])


def test_kinds_of_edges() -> None:
    """Nodes are bodies of the tree; what drives is a driver, what is rigid an arm, what pushes a force."""
    kinds = {kind: {edge.kind for edge in KINDS[kind](name="part", **SAMPLES[kind]).edges()} for kind in SAMPLES}
    assert kinds["nodal.node"] == {Kind.BODY}
    assert kinds["nodal.moved"] == kinds["nodal.motor_cable"] == {Kind.POSITION_DRIVER}
    for name in ("bar", "body", "fixed", "on_line", "on_plane", "keep_direction", "node_gear", "latch", "stop"):
        assert kinds[f"nodal.{name}"] == {Kind.ARM}
    for name in ("force_cable", "elastic_cable", "node_spring", "node_damper", "force", "body_load"):
        assert kinds[f"nodal.{name}"] == {Kind.FORCE}
