"""Things that users describe by plain data, ``{kind: {its values}}``: made by the function of the kind, or refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from cotree.errors import ModelError, listing, nearest

T = TypeVar("T")


def pick(given: Any, where: str, kinds: Collection[str], noun: str, expected: str) -> tuple[str, Mapping[str, Any]]:
    """The kind and the values of ``{kind: {...}}``, the kind one of ``kinds``; ``noun`` is what they are kinds of."""
    if not isinstance(given, Mapping) or len(given) != 1 or not isinstance(next(iter(given.values())), Mapping):
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    ((kind, values),) = given.items()
    if kind not in kinds:
        raise _unknown(kind, kinds, f"there is no {noun}", where, "one")
    return str(kind), values


def build(
    make: Callable[..., T],
    values: Mapping[str, Any],
    where: str,
    what: str,
    *,
    expected: str = "numbers",
    ready: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    hidden: Collection[str] = (),
) -> T:
    """``make(**values)`` of a ``what``; values that it does not know or that are missing are named.

    ``ready`` turns the values into what ``make`` wants once their names are right; ``hidden`` are not for users.
    """
    known = {name: each for name, each in inspect.signature(make).parameters.items() if name not in hidden}
    for key in values:
        if key not in known:
            raise _unknown(key, known, f"{'an' if what[0] in 'aeiou' else 'a'} {what} has no", where, "some")
    missing = [key for key, each in known.items() if each.default is inspect.Parameter.empty and key not in values]
    if missing:
        raise ModelError(f"{listing(missing)} of the {what} not given", where=where, expected=listing(known))
    try:
        return make(**ready(dict(values)))
    except ModelError as error:
        error.within(where)
        raise
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"found {dict(values)!r}", where=where, expected=expected) from None


def _unknown(name: Any, known: Collection[str], found: str, where: str, how_many: str) -> ModelError:
    """The error for a name that is none of those that are known."""
    expected = f"{how_many} of {listing(known)}"
    return ModelError(f"{found} '{name}'", where=where, expected=expected, remedy=nearest(str(name), known))
