"""The JSON Schema (2020-12) of model files, made from the classes of the components: editors complete and check by it.

What a component may hold is what its class says (`Component.data_schema`); here is only what stands around components.
A component's schema is chosen by its kind (if, then), so that an editor offers the fields of that kind and no others.
"""

from __future__ import annotations

from typing import Any

from cotree.bond.masks import GRAPH
from cotree.errors import ModelError
from cotree.maths.functions import ARITY, CONSTANTS
from cotree.maths.pieces import DEGREES, OUTSIDE
from cotree.model import KINDS, Component, find_kind
from cotree.model.expression import TIME
from cotree.model.form import (
    ABOVE_ZERO,
    FLAG,
    TEXT,
    VALUE,
    VECTOR,
    Schema,
    either,
    entries,
    listed,
    named,
    one_of,
    or_null,
    several,
)
from cotree.model.model import INERTIA
from cotree.model.series import ROTATIONS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NAME: Schema = {"type": ["string", "integer"]}
"""A name; a number in its place is taken as text."""
INDEXED: Schema = {"type": "string", "pattern": r"\{"}
"""A text that an index of ``for`` completes."""
PARAMETER: Schema = {"pattern": r"^(?![0-9])[^\s!-/:-@\[-^`{-~]+$", "not": {"enum": sorted({TIME, *ARITY, *CONSTANTS})}}
"""A name that expressions can hold."""
COUNT: Schema = {"type": ["integer", "null"], "minimum": 1}


def model_schema() -> Schema:
    """The JSON Schema of model files, as plain data."""
    classes = sorted(KINDS.items())
    words = {kind: kind_words(cls) for kind, cls in classes}
    definitions: Schema = {kind: _entry(cls, words[kind]) for kind, cls in classes}
    definitions["component"] = _choice({kind: words[kind] for kind, _ in classes})
    bonded = [word for kind, cls in classes if cls.bonded for word in words[kind]]
    definitions["part"] = {
        "allOf": [{"$ref": "#/$defs/component"}, {"properties": {"kind": {"enum": bonded}, "for": False}}]
    }
    definitions["bonds"] = _bonds()
    definitions["graph"] = _graph()
    definitions["for"] = _for()
    top = {key: _told(schema, text) for key, (schema, text) in _top().items()}
    return {
        "$schema": DIALECT,
        "title": "Cotree model",
        "description": "A model and how to run it",
        **entries(top),
        "anyOf": [{"required": ["components"]}, {"required": ["include"]}],
        "$defs": definitions,
    }


def kind_words(cls: type[Component]) -> list[Any]:
    """What a file may write for a kind: its name, and of parts of bond graphs also without their room."""
    word = cls.kind.removeprefix("bond.")
    try:
        short = [word] if word != cls.kind and find_kind(word, "") is cls else []
    except ModelError:  # it is another kind's name
        short = []
    return [*short, *([int(word)] if short and word.isdigit() else []), cls.kind]


def _told(schema: Schema, text: str) -> Schema:
    return {"description": text, **schema}


def summary(cls: type[Any]) -> str:
    """The first sentence or line of a class, without marks."""
    first = (cls.__doc__ or "").strip().partition("\n")[0]
    return first.replace("``", "").replace("`", "")


def _entry(cls: type[Component], words: list[Any]) -> Schema:
    schema = cls.data_schema()
    own = {"kind": {"enum": words}, **schema.pop("properties"), "for": {"$ref": "#/$defs/for"}}
    required = ["kind", *schema.pop("required", ())]
    return {"title": cls.__name__, "description": summary(cls), **schema, "properties": own, "required": required}


def _choice(words: dict[str, list[Any]]) -> Schema:
    every = sorted(((str(word), word, kind) for kind in words for word in words[kind]), key=lambda each: each[0])
    told = [summary(KINDS[kind]) for _, _, kind in every]
    rooms: dict[str, list[str]] = {}  # two steps, so that few conditions are looked at
    for each in words:
        rooms.setdefault(each.rpartition(".")[0], []).append(each)
    known = {"enum": [word for _, word, _ in every], "enumDescriptions": told}
    kind = {"description": "Kind of component", "anyOf": [known, INDEXED]}
    return {
        "type": "object",
        "properties": {"kind": kind},
        "required": ["kind"],
        "allOf": [
            _if(
                [word for kind in kinds for word in words[kind]],
                {"allOf": [_if(words[kind], {"$ref": f"#/$defs/{kind}"}) for kind in kinds]},
            )
            for kinds in rooms.values()
        ],
    }


def _if(words: list[Any], then: Schema) -> Schema:
    return {"if": {"properties": {"kind": {"enum": words}}, "required": ["kind"]}, "then": then}


def _bonds() -> Schema:
    long = {"tail": NAME, "head": NAME, "width": COUNT, "for": {"$ref": "#/$defs/for"}}
    bond = either(TEXT, listed(NAME, 2), entries(long, ["tail", "head"]))
    return either(several(bond), named(bond), {"type": "null"})


def _graph() -> Schema:
    return entries(
        {
            "name": _told(TEXT, "Name of the graph"),
            "ports": _told(or_null(named(NAME)), "Ports by name, each an element inside or element.port"),
            "parameters": _told(or_null(named(or_null(VALUE))), "Values by name; null where each use must give one"),
            "components": _told(or_null(named({"$ref": "#/$defs/part"})), "Parts inside, by name"),
            "bonds": _told({"$ref": "#/$defs/bonds"}, "Bonds inside"),
        }
    )


def _for() -> Schema:
    return _told(
        {**named(either(TEXT, several(NAME, 1))), "minProperties": 1},
        "Indices of an entry that stands for many, such as {i: 1..10} or {side: [left, right]}; texts hold {i}, {i-1}",
    )


def _series() -> Schema:
    """One entry of ``data``."""
    column, numbers = either(TEXT, {"type": "integer", "minimum": 1}), several({"type": "number"})
    rows = several(several({"type": "number"}))
    return entries(
        {
            "file": _told(TEXT, "A CSV, Parquet or MATLAB file in the same folder or below"),
            "time": _told(column, "Column of the times, or of another argument"),
            "column": _told(column, "Column of the values"),
            "columns": _told(several(column), "Columns of a rotation"),
            "times": _told(numbers, "Times, where no file is given"),
            "values": _told(either(numbers, rows), "Values, one for each time"),
            "points": _told(COUNT, "Number of packed points"),
            "packed": _told(TEXT, "Points as a program has packed them"),
            "unit": _told(or_null(TEXT), "Unit of the values, SI units if not given"),
            "time_unit": _told(or_null(TEXT), "Unit of the times, s if not given"),
            "interpolation": _told(one_of(tuple(DEGREES)), "How points are joined; spline if not given"),
            "outside": _told(one_of(OUTSIDE), "What holds outside of the points; error if not given"),
            "max_gap": _told(or_null(ABOVE_ZERO), "Longest distance of two points, in the unit of the times"),
            "rotation": _told(or_null(one_of(tuple(ROTATIONS))), "How columns give a rotation"),
        }
    )


def _top() -> dict[str, tuple[Schema, str]]:
    part = entries(
        {
            "file": _told(TEXT, "A model file in the same folder or below"),
            "as": _told(TEXT, "Prefix of its names: left makes left_hip of hip"),
            "with": _told(named(VALUE), "Values of its parameters"),
            "join": _told(named(TEXT), "Its names that stand for those of this file: {in: n1}"),
            "for": {"$ref": "#/$defs/for"},
        },
        ["file"],
    )
    values = {**named(VALUE), "propertyNames": PARAMETER}
    return {
        "name": (TEXT, "Name of the model; that of the file if not given"),
        "include": (
            either(TEXT, part, several(either(TEXT, part)), {"type": "null"}),
            "Other files whose parts are used",
        ),
        "datum": (or_null(either(NAME, several(NAME, 1))), "Reference node, or one for each part of a network"),
        "gravity": (or_null(VECTOR), "Acceleration of free fall in m/s^2, in world axes"),
        "planar": (or_null(FLAG), "Whether a mechanism moves in the plane xy only"),
        "inertia": (or_null(one_of(INERTIA)), "What becomes of inertias that no real body has"),
        "parameters": (or_null(values), "Numbers and expressions by name, which values of components may use"),
        "data": (
            or_null({**named(_series()), "propertyNames": PARAMETER}),
            "Measured or computed series by name, which values that change with time may follow",
        ),
        "components": (or_null(named({"$ref": "#/$defs/component"})), "Parts of the model, by name"),
        "bonds": ({"$ref": "#/$defs/bonds"}, "Bonds of a bond graph: [V -> j, j -> R], or by name"),
        "masks": (or_null(named(GRAPH)), "Bond graphs with ports that are used like elements, by name"),
        "run": (
            or_null(entries({key: _told(schema, text) for key, (schema, text) in run_entries().items()})),
            "How to run it",
        ),
    }


def run_entries() -> dict[str, tuple[Schema, str]]:
    """Entries of ``run``, each with what it means."""
    from cotree.solve.methods import INTEGRATORS

    positive, names = or_null(ABOVE_ZERO), either(TEXT, several(TEXT))
    return {
        "t_end": (positive, "Time at the end in s"),
        "points": ({**COUNT, "minimum": 2}, "Number of points in time that are kept"),
        "rtol": (or_null({**ABOVE_ZERO, "exclusiveMaximum": 1}), "Relative tolerance"),
        "atol": (positive, "Absolute tolerance, in units of each variable's scale"),
        "integrator": (or_null(one_of(["auto", *INTEGRATORS])), "Integrator; a fitting one if not given"),
        "max_step": (positive, "Longest step in s"),
        "max_steps": (COUNT, "Most steps between two points that are kept"),
        "step": (positive, "Step in s of integrators with a fixed one"),
        "spectral_radius": (
            or_null({**VALUE, "minimum": 0, "maximum": 1}),
            "What generalised alpha leaves of the fastest oscillations in one step",
        ),
        "start": (either(one_of(["steady", None]), named(VALUE)), "Start values by name, or steady"),
        "tree": (or_null(either(TEXT, listed(TEXT, 2))), "Tree: a preset, or two for translation and rotation"),
        "plot": (or_null(either(TEXT, several(names))), "Results to plot; a list inside shares axes"),
    }
