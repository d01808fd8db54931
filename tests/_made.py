"""A component of any kind, made from what its class says: the forms of its fields, and `example` where it has one.

A kind that is new needs no entry in any test: what is made here goes through every test that looks at all kinds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import cotree.bond
import cotree.terminal  # noqa: F401  (registers all kinds)
from cotree.bond.branch.base import Wrapped
from cotree.errors import ModelError
from cotree.model import KINDS, Component
from cotree.model.form import Form, Schema
from cotree.terminal.scalar import NODES

NAMES = {"frame_a": "a.p", "frame_b": "b", "on": "J"}
"""What the parts of a mechanism refer to."""
BEYOND_FILES = {"control.function", "bond.mask"}
"""Kinds that hold a Python function or a graph of other parts, which no form describes."""


def made(kind: str, names: Mapping[str, str] = NAMES) -> dict[str, Any]:
    """Plain data of one component, as a model file holds it: every value that goes with the others.

    Values are distinct and positive. A class whose values must go together gives them in `example`; the rest of what
    it needs is made from its fields. Optional values are given too, unless the class has alternatives and refuses them.
    """
    cls = KINDS[kind]
    if issubclass(cls, Wrapped) and not cls.example:
        inner = next(each for each in sorted(KINDS) if issubclass(KINDS[each], cls.wraps))
        return {"component": {"kind": inner, **made(inner, names)}}
    forms = cls.forms()
    every = {key: _value(form, key, k, names) for k, (key, form) in enumerate(forms.items())}
    needed = {key: every[key] for key, form in forms.items() if form.required}
    if example := {key: value for key, value in cls.example.items() if key in forms}:  # a base may have more fields
        return needed | example
    whole = needed | {key: every[key] for key, form in forms.items() if _optional(form)}
    try:
        part = cls.from_data("X1", whole)
        part.check(part.values({}))
    except ModelError:
        return needed
    return whole


def component(kind: str, name: str = "X1", names: Mapping[str, str] = NAMES) -> Component:
    """The component itself."""
    return KINDS[kind].from_data(name, made(kind, names))


def seed(kind: str) -> dict[str, Any]:
    """Data of a model file with one such part; in a mechanism, with the frames and joints that parts refer to."""
    part = {"kind": kind, **made(kind)}
    if not KINDS[kind].mechanical:
        return {"components": {"X1": part}}
    ball = {"kind": "rigid_body", "shape": {"sphere": {"radius": 0.1, "mass": 1.0}}}
    hinge = {"kind": "revolute", "frame_a": "ground", "frame_b": "a"}
    around = {"a": {**ball, "frames": {"p": [0.1, 0.0, 0.0]}}, "b": ball, "J": hinge}
    parts = {**around, "K": {**hinge, "frame_a": "a.p", "frame_b": "b"}, "X1": part}
    return {"components": json.loads(json.dumps(parts))}  # each place has its own copy


def _optional(form: Form) -> bool:
    """Whether a value may be left out and is a scalar quantity."""
    return not form.required and form.info is not None and "number" in form.schema.get("type", ())


def _value(form: Form, key: str, place: int, names: Mapping[str, str]) -> Any:
    """What a form takes."""
    if key in names:
        return names[key]
    return _of_schema(form.schema, key, place)


def _of_schema(schema: Schema, key: str, place: int) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _of_schema(schema["anyOf"][0], key, place)
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if "number" in kinds:
        return round(0.9 * 0.87**place, 3)
    if schema == NODES:
        return [key, "ground"]
    if "array" in kinds:
        count = schema.get("minItems") or 1
        return [_of_schema(schema["items"], f"{key}{k}", place + k) for k in range(count)]
    if "object" in kinds:
        known = schema.get("properties", {})
        return {each: _of_schema(known[each], each, place + k) for k, each in enumerate(schema.get("required", ()))}
    return {"integer": 1, "boolean": True}.get(kinds[0], key)
