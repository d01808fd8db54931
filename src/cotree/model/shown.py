"""How things are shown at a prompt: in one line, without what nobody asked for."""

from __future__ import annotations

import dataclasses
from typing import Any

from cotree.maths.viewed import Table, short

LONGEST = 280
"""Characters of one line."""
_VALUE = 60  # characters of one value


def one_line(thing: Any) -> str:
    """A dataclass as the call that makes it: the fields that are not at their defaults, shortened."""
    parts, used = [], 0
    for field in dataclasses.fields(thing):
        value = getattr(thing, field.name)
        if _at_default(field, value):
            continue
        text = _short(value)
        part = text if field.name == "name" or field.name.startswith("frame_") else f"{field.name}={text}"
        used += len(part) + 2
        if used > LONGEST - len(type(thing).__name__) - 6:
            parts.append("...")
            break
        parts.append(part)
    return f"{type(thing).__name__}({', '.join(parts)})"


def given_fields(thing: Any) -> Table:
    """The fields of a component that were given, with unit and meaning."""
    rows = []
    for field in dataclasses.fields(thing):
        value = getattr(thing, field.name)
        if not _at_default(field, value):
            info = field.metadata.get("quantity") or field.metadata.get("vector", (None,))[0]
            meaning = field.metadata.get("meaning", "") if info is None else info.meaning
            rows.append((field.name, short(value), "" if info is None else info.unit, meaning))
    return Table(("field", "value", "unit", "meaning"), rows, len(rows))


def _at_default(field: Any, value: Any) -> bool:
    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    try:
        return bool(type(value) is type(default) and value == default)
    except ValueError:  # arrays
        return False


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _VALUE else f"{text[: _VALUE - 3]}..."
