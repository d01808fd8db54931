"""Calls of components with wrong arguments, answered with a right one."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cotree.errors import ModelError, listing
from cotree.model.quantity import MISSING

if TYPE_CHECKING:
    from cotree.model.component import Component


LETTERS = {
    "k": ("stiffness",), "c": ("damping", "capacitance"), "d": ("damping",), "b": ("damping",), "m": ("mass",),
    "j": ("inertia",), "i": ("inertia", "current"), "l": ("length", "inductance"), "r": ("radius", "resistance"),
    "f": ("force", "effort"), "tau": ("torque", "effort"), "t": ("torque", "effort"), "l0": ("length",),
    "direction": ("axis", "along", "normal"), "axis": ("along", "normal"), "torque": ("effort",), "force": ("effort",),
    "center": ("centre",), "com": ("centre",), "cog": ("centre",), "rest_length": ("length",), "mu": ("friction",),
    "motion": ("position", "angle", "value"), "frame": ("frame_b",), "body": ("frame_b",), "joint": ("on",),
}  # fmt: skip
"""Symbols and words of other programs for fields, with the fields that they may mean."""


def no_name(part: Component, node: Any) -> str:
    """What to do about something that is no name of a node."""
    numbers = isinstance(node, tuple | list) and len(node) == 3
    if part.mechanical and numbers:
        x, y, z = node
        return f"Name a frame: model.ground.at({x}, {y}, {z}) makes one on the ground, frames={{...}} those of a body"
    if hasattr(node, "name"):
        return f"Give its name: '{node.name}'"
    return ""


def explain_wrong_calls(cls: type[Component]) -> None:
    """Let a call with wrong arguments end in a `ModelError` that shows a right one."""
    plain = cls.__init__

    @functools.wraps(plain)
    def explained(self: Component, *args: Any, **kwargs: Any) -> None:
        try:
            plain(self, *args, **kwargs)
        except TypeError:
            try:
                inspect.signature(plain).bind(self, *args, **kwargs)
            except TypeError:
                raise _wrong_call(cls, args, kwargs) from None
            raise

    cls.__init__ = explained  # type: ignore[method-assign]


def _wrong_call(cls: type[Component], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ModelError:
    known = {f.name: f for f in dataclasses.fields(cls)}
    places = [name for name, f in known.items() if not f.kw_only]
    name = args[0] if args else kwargs.get("name")
    name = name if isinstance(name, str) else cls.__name__[0]
    unknown = [key for key in kwargs if key not in known]
    twice = [key for key in places[: len(args)] if key in kwargs]
    bare = dataclasses.MISSING
    missing = [
        key
        for key in places[len(args) :]
        if key not in kwargs and known[key].default is bare and known[key].default_factory is bare
    ]
    extra, remedy, expected = args[len(places) :], "", cls.call_example(name)
    if unknown:
        found = f"{cls.__name__} has no field '{unknown[0]}'"
        remedy = cls._field_meant(unknown[0])
        expected = f"{expected}, with the fields {listing([key for key in known if key != 'name'], 30)}"
    elif extra:
        found = f"{listing([repr(value) for value in extra])} given without a name"
        free = [key for key, f in known.items() if f.kw_only and f.default is MISSING and key not in kwargs]
        remedy = f"Write {free[0]}={extra[0]!r}" if len(extra) == len(free) == 1 else ""
        if places[1:2] == ["nodes"] and isinstance(args[1], str):
            remedy = f"Give the two nodes as a pair: ({args[1]!r}, {args[2]!r})"
    elif twice:
        found = f"{twice[0]} is given twice"
    else:
        found = f"{listing(missing)} not given"
        if len(missing) == 1 < len(args) and "name" not in kwargs and len(args) == len(places) - 1:
            given = ", ".join(repr(each) for each in args)
            remedy = f'Each part begins with its own name: {cls.__name__}("{cls.__name__.lower()}1", {given}, ...)'
    return ModelError(found, where=name, expected=expected, remedy=remedy)
