"""What a field holds in a model file: what it means, and its JSON Schema. Made from what the class itself says.

A quantity says it by its unit and range, other fields by their annotation; a field with a form of its own carries it:
``field(default=None, kw_only=True, metadata=said("points of the curve", POINTS))``.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cotree.model.quantity import MISSING, Quantity, is_direction

Schema = dict[str, Any]
"""A JSON Schema, as plain data."""

VALUE: Schema = {"type": ["number", "string"]}
"""A number, a number with a unit such as 300 mm, or an expression."""
ABOVE_ZERO: Schema = {**VALUE, "exclusiveMinimum": 0}
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}

_BOUNDS: dict[str, Schema] = {
    "positive": {"exclusiveMinimum": 0},
    "non-negative": {"minimum": 0},
    "non-zero": {"not": {"const": 0}},
    "finite": {},
}
_PLAIN: dict[Any, Schema] = {str: TEXT, bool: FLAG, int: WHOLE, float: VALUE, type(None): {"type": "null"}, Any: {}}


@dataclass(frozen=True)
class Form:
    """What a model file may hold under one key of a component."""

    meaning: str
    schema: Schema
    required: bool = False
    default: Any = None
    info: Quantity | None = None
    """Unit, range and symbol of a physical value."""

    @property
    def text(self) -> str:
        """One line for people: the meaning, the unit, the range."""
        if self.info is None:
            return self.meaning
        unit = f" in {self.info.unit}" if self.info.unit else ""
        rule = f", {self.info.range}" if self.info.range != "finite" else ""
        time = "; may depend on time" if self.info.signal else ""
        return f"{self.meaning}{unit}{rule}{time}"

    def described(self) -> Schema:
        """The schema with the meaning and the default."""
        default = {"default": self.default} if isinstance(self.default, (bool, int, float, str)) else {}
        text = self.text
        return {"description": text[:1].upper() + text[1:], **self.schema, **default}


def said(meaning: str, schema: Schema | Callable[[], Schema] | None = None) -> dict[str, Any]:
    """Metadata of a field that is no quantity: what it means and, where its annotation does not tell, its schema."""
    return {"meaning": meaning} | ({} if schema is None else {"schema": schema})


def value(info: Quantity) -> Schema:
    """One physical value."""
    return {**VALUE, **_BOUNDS[info.range]}


def listed(each: Schema, least: int, most: int | None = None) -> Schema:
    """A list of so many: ``least``, or ``least`` to ``most``."""
    return {"type": "array", "items": each, "minItems": least, "maxItems": least if most is None else most}


def several(each: Schema, least: int = 0) -> Schema:
    """A list of any length."""
    return {"type": "array", "items": each} | ({"minItems": least} if least else {})


def named(each: Schema) -> Schema:
    """Entries by names that the user chooses."""
    return {"type": "object", "additionalProperties": each}


def one_of(words: Iterable[Any]) -> Schema:
    """One of some words."""
    return {"enum": list(words)}


def either(*schemas: Schema) -> Schema:
    """Any of several forms."""
    return {"anyOf": list(schemas)}


def entries(properties: Mapping[str, Schema], required: Sequence[str] = ()) -> Schema:
    """A mapping with known keys and no others."""
    known: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return known | ({"required": list(required)} if required else {})


def or_null(schema: Schema) -> Schema:
    """The same, or nothing."""
    if (
        None in schema.get("enum", ())
        or "null" in schema.get("type", ())
        or {"type": "null"} in schema.get("anyOf", ())
    ):
        return schema
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    if isinstance(kinds := schema.get("type"), str):
        return {**schema, "type": [kinds, "null"]}
    if kinds is not None:
        return {**schema, "type": [*kinds, "null"]}
    return either(*schema.get("anyOf", [schema]), {"type": "null"}) if schema else schema


VECTOR = listed(VALUE, 3)
DIRECTION: Schema = either(VECTOR, one_of(["x", "y", "z", "-x", "-y", "-z"]))
"""Three values, or the name of an axis."""
FRAME: Schema = either(VECTOR, entries({"position": VECTOR, "axis": or_null(DIRECTION), "angle": VALUE}))
"""A place: three values, or a mapping with position, axis and angle."""


def made_by(makers: Mapping[str, Callable[..., Any]], of: Mapping[str, Schema] | None = None) -> Schema:
    """``{kind: {its values}}``, as the function that makes the kind takes them; ``of`` has what it does not tell."""
    kinds = {name: made(make, of) for name, make in makers.items()}
    return {**entries(kinds), "minProperties": 1, "maxProperties": 1}


def made(make: Callable[..., Any], of: Mapping[str, Schema] | None = None, hidden: Sequence[str] = ()) -> Schema:
    """The values of one function or class, by its signature."""
    of_class: Any = getattr(make, "__init__", None) if isinstance(make, type) else make
    hints = typing.get_type_hints(of_class)
    known = {name: each for name, each in inspect.signature(make).parameters.items() if name not in hidden}
    schemas = {name: (of or {}).get(name) or annotated(hints.get(name, Any)) for name in known}
    required = [name for name, each in known.items() if each.default is inspect.Parameter.empty]
    text = (inspect.getdoc(make) or "").partition("\n")[0]
    return {"description": text, **entries(schemas, required)}


def annotated(hint: Any) -> Schema:
    """The schema of an annotation; an empty one where it does not tell."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return one_of(arguments)
    if origin in (typing.Union, types.UnionType):
        whole = [each for each in arguments if each is not type(None)]
        schema = VALUE if set(whole) == {float, str} else _joined([annotated(each) for each in whole])
        return or_null(schema) if len(whole) < len(arguments) else schema
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return listed(_joined([annotated(each) for each in dict.fromkeys(arguments)]), len(arguments))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return named(annotated(arguments[1]))
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return several(annotated(arguments[0]))
    return {}


def _joined(schemas: Sequence[Schema]) -> Schema:
    return {} if {} in schemas else schemas[0] if len(schemas) == 1 else either(*schemas)


def form_of(field: dataclasses.Field[Any], hint: Any) -> Form:
    """What a field of a component says of itself."""
    default = None if field.default is dataclasses.MISSING or field.default is MISSING else field.default
    required = field.default is MISSING or (
        field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    )
    info, schema = None, field.metadata.get("schema")
    if "quantity" in field.metadata:
        info = field.metadata["quantity"]
        schema = schema or value(info)
    elif "vector" in field.metadata:
        info, labels = field.metadata["vector"]
        schema = schema or (DIRECTION if is_direction(field) else listed(value(info), len(labels)))
    schema = schema() if callable(schema) else annotated(hint) if schema is None else schema
    if field.default is None:
        schema = or_null(schema)
    return Form(field.metadata.get("meaning") or (info.meaning if info else ""), schema, required, default, info)
