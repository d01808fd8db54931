"""Whether the arguments of a call are of the types that it asks for, told in words.

It is asked only after a call has failed, so calls that work cost nothing and refuse nothing.
"""

from __future__ import annotations

import builtins
import inspect
import os
import sys
import types
import typing
from collections import abc
from collections.abc import Callable, Mapping
from numbers import Complex, Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from cotree.errors import OptionError, shown

FEW = 100
"""Elements of a list or table that are looked at."""
OURS = ("cotree", "casadi", "pandas", "matplotlib", "xarray")
"""Packages one of whose objects may be meant by a name that only type checkers load."""
WORDS = {
    "str": "text", "float": "a number", "int": "a whole number", "complex": "a number", "bool": "True or False",
    "Path": "a path", "Callable": "a function", "Mapping": "values by name", "dict": "values by name",
    "Sequence": "a list", "Iterable": "a list", "Collection": "a list", "list": "a list", "tuple": "a tuple",
    "ndarray": "an array",
}  # fmt: skip


class _Unloaded:
    """Stands for a type that only type checkers load."""

    def __class_getitem__(cls, item: object) -> Any:
        return Any


class _Names(dict[str, Any]):
    """The names that annotations of a function may use."""

    def __init__(self, function: Callable[..., Any]) -> None:
        module = sys.modules.get(function.__module__)
        super().__init__(vars(builtins) | (vars(module) if module else {}))

    def __missing__(self, name: str) -> Any:
        return _Unloaded


def misfit(function: Callable[..., Any], given: Mapping[str, Any]) -> OptionError | None:
    """The error for the first argument of a call that is not of its type."""
    try:
        hints = typing.get_type_hints(function, localns=_Names(function))
    except Exception:  # an annotation that cannot be read here says nothing about the call
        return None
    for name, value in given.items():
        nowhere = value == "" if isinstance(value, str) else False
        if name in hints and ((nowhere and Path in typing.get_args(hints[name])) or not fits(value, hints[name])):
            expected = " or ".join(dict.fromkeys(_words(hints[name])))
            return OptionError(f"{name} is {shown(value)}", expected=expected or "something else")
    return None


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type, as far as that can be told."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, each) for each in inner)
    if origin is typing.Literal:
        return any(type(value) is type(each) and value == each for each in inner)
    if origin is abc.Callable:
        return callable(value) and _takes(value, inner[0] if inner else ...)
    if isinstance(origin, type):
        return _holds(value, origin, inner)
    if hint is None or hint is type(None):
        return value is None
    if hint is _Unloaded:
        return type(value).__module__.partition(".")[0] in OURS
    return _is(value, hint)


def _is(value: Any, hint: Any) -> bool:
    """Whether a value is of a plain type; numbers of NumPy are numbers."""
    if hint is Any or not isinstance(hint, type):
        return True
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    if hint in (int, float, complex):
        kind = {int: Integral, float: Real, complex: Complex}[hint]
        return isinstance(value, kind) and not isinstance(value, bool)
    if hint is Path:
        return isinstance(value, Path) or (isinstance(value, os.PathLike) and bool(os.fspath(value)))
    return isinstance(value, hint)


def _holds(value: Any, origin: type, inner: tuple[Any, ...]) -> bool:
    """Whether a value is a list, a table or another thing with parts, and its parts are what they should be."""
    if isinstance(value, np.ndarray) and not issubclass(origin, np.ndarray):
        return origin in (abc.Sequence, abc.Iterable, abc.Collection) and _holds(value.tolist(), origin, inner)
    if not isinstance(value, origin) or (isinstance(value, str | bytes) and origin is not type):
        return False
    if isinstance(value, Mapping) and len(inner) == 2:
        return all(fits(key, inner[0]) and fits(each, inner[1]) for key, each in list(value.items())[:FEW])
    if isinstance(value, tuple) and origin is tuple and inner and inner[-1] is not ...:
        return len(value) == len(inner) and all(map(fits, value, inner))
    if isinstance(value, abc.Sequence) and inner:
        return all(fits(each, inner[0]) for each in value[:FEW])
    return True


def _takes(function: Any, arguments: Any) -> bool:
    """Whether a function can be called with as many arguments as it will get."""
    if not isinstance(arguments, list):
        return True
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # a built-in function that does not say
        return True
    return True


def _words(hint: Any) -> list[str]:
    """What a type is called in an error."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return [word for each in inner for word in _words(each)]
    if origin is typing.Literal:
        return [repr(each) for each in inner]
    name = getattr(origin or hint, "__name__", "")
    if hint in (None, type(None)) or name in ("Any", "_Unloaded", "object"):
        return []
    return [WORDS.get(name, f"a {name}")]
