"""Changes of what a model file says, by name: ``main.angle``, ``main.axis.x``, ``arm.shape.rod.length``, ``planar``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from cotree.errors import ModelError, listing, nearest
from cotree.io.places import LABELS, Parts
from cotree.io.renaming import kind_of
from cotree.io.yaml_source import Source
from cotree.model.world import EARTH

ENDS = {"plus": 0, "minus": 1}
TOP: dict[str, Any] = {"name": None, "datum": None, "planar": None, "inertia": None, "gravity": list(EARTH), "run": {}}
"""What a file says beside its parts, with what is changed where it says nothing."""


def change(parts: Parts, changes: Mapping[str, Any]) -> None:
    """Put changed values into the parts of a model; texts are read as in a model file."""
    if not isinstance(changes, Mapping):
        raise ModelError(f"the changes are {changes!r}", expected="values by name: {'main.angle': 0}")
    for name, given in changes.items():
        try:
            _change(parts, str(name), Source(given, str(name)).data if isinstance(given, str) else given)
        except ModelError as error:
            what = "" if "." not in str(name) else str(name)
            told = parts.source.error_at(None, error.found, expected=error.expected, remedy=error.remedy, what=what)
            raise told from None


def _change(parts: Parts, name: str, value: Any) -> None:
    first, *rest = name.split(".")
    parts.changed.add(name)
    if name in parts.parameters:
        parts.parameters[name] = (value, parts.parameters[name][1])
    elif first in parts.components and rest:
        entry, spot = parts.components[first]
        parts.components[first] = (_component(entry, rest, value), spot)
    elif first in TOP:
        data = dict(parts.source.data)
        data[first] = _with(TOP[first] if data.get(first) is None else data[first], rest, value)
        parts.source.data = data
    else:
        raise _nothing(parts, name, first, rest)


def _nothing(parts: Parts, name: str, first: str, rest: list[str]) -> ModelError:
    """The error for a name that nothing has."""
    if first in parts.components:
        return ModelError(f"'{first}' is a component", expected=f"one of its fields, such as {first}.field")
    if rest:
        remedy = nearest(name, (f"{each}.{key}" for each, key in _written(parts))) or nearest(first, parts.components)
        return ModelError(f"there is no component '{first}'", remedy=remedy)
    known = f"one of {listing(parts.parameters)}" if parts.parameters else "none: the model has none"
    return ModelError(f"there is no parameter '{first}'", expected=known, remedy=nearest(first, parts.parameters))


def _written(parts: Parts) -> Iterator[tuple[str, str]]:
    """Every field that is written in the files."""
    return ((name, key) for name, (entry, _) in parts.components.items() if isinstance(entry, dict) for key in entry)


def _component(entry: Any, words: list[str], value: Any) -> Any:
    """An entry with one value changed: a field, something inside of one, or the inner name alone (``O.x``)."""
    if not isinstance(entry, dict):
        return entry
    cls = kind_of(entry)
    fields = {} if cls is None else cls.__dataclass_fields__
    first = words[0]
    if first in ENDS and "nodes" in entry:
        words = ["nodes", str(ENDS[first]), *words[1:]]
    elif first not in entry and first not in fields and (path := _path(entry, words)):
        words = path
    elif first not in entry and len(words) > 1 and first in fields and fields[first].default is not None:
        entry = {**entry, first: _listed(fields[first].default)}
    return _with(entry, words, value)


def _listed(value: Any) -> Any:
    """A default as a file would hold it, if it is one that has parts."""
    return list(value) if isinstance(value, tuple | list) else {}


def _path(entry: dict[str, Any], words: list[str]) -> list[str]:
    """The path to an inner name: ``[frames, O, x]`` for ``[O, x]``; empty where there is none."""
    for key, inner in entry.items():
        if isinstance(inner, dict):
            if words[0] in inner:
                return [key, *words]
            if deeper := _path(inner, words):
                return [key, *deeper]
    return []


def _with(whole: Any, words: list[str], value: Any) -> Any:
    """Plain data with the value at the end of a path replaced."""
    if not words:
        return value
    first, *rest = words
    changed = deepcopy(whole)
    if isinstance(changed, list | tuple):
        changed = list(changed)
        place = LABELS.get(first, int(first) if first.isdigit() else -1)
        if not 0 <= place < len(changed):
            expected = f"x, y, z, or a number from 0 to {len(changed) - 1}"
            raise ModelError(f"there is no '{first}' in a list of {len(changed)}", expected=expected)
        changed[place] = _with(changed[place], rest, value)
        return changed
    if not isinstance(changed, dict):
        changed = {}
    return {**changed, first: _with(changed.get(first), rest, value)}
