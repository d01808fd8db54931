"""Calls of components with wrong arguments, answered with a right one."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cotree.errors import ModelError, listing, nearest
from cotree.model.quantity import MISSING

if TYPE_CHECKING:
    from cotree.model.component import Component


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
    missing = [key for key in places[len(args) :] if key not in kwargs]
    extra, remedy = args[len(places) :], ""
    if unknown:
        found, remedy = f"{cls.__name__} has no field '{unknown[0]}'", nearest(unknown[0], known)
    elif extra:
        found = f"{listing([repr(value) for value in extra])} given without a name"
        free = [key for key, f in known.items() if f.kw_only and f.default is MISSING and key not in kwargs]
        remedy = f"Write {free[0]}={extra[0]!r}" if len(extra) == len(free) == 1 else ""
    elif twice:
        found = f"{twice[0]} is given twice"
    else:
        found = f"{listing(missing)} not given"
        if "minus" in missing and len(args) > 1 and isinstance(args[1], (tuple, list)):
            remedy = "Give the two nodes as two names, without brackets"
    return ModelError(found, where=name, expected=cls.call_example(name), remedy=remedy)
