"""Names of results as users write them: of vectors, of several ports or stations, and patterns."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from fnmatch import fnmatchcase
from itertools import count, takewhile

from cotree.errors import ResultError, listing, nearest

LABELS = (["x", "y", "z"], ["e0", "e1", "e2", "e3"])
NUMBERED = ("c{}", "{}")
"""Of multibonds, of the stations of beams; from 1 on."""
PATTERN = frozenset("*?[")
"""Signs that make a name a pattern, as in a shell."""


def components(name: str, known: Container[str]) -> list[str]:
    """The results ``name.x``, ``name.y``, ``name.z`` and the like that are known; none where there are no such."""
    for labels in LABELS:
        parts = [f"{name}.{label}" for label in labels]
        if all(part in known for part in parts):
            return parts
    for form in NUMBERED:
        parts = list(takewhile(known.__contains__, (f"{name}.{form.format(k)}" for k in count(1))))
        if parts:
            return parts
    return []


def matching(given: str | Iterable[str], known: Collection[str]) -> list[str]:
    """The results that names, names of vectors and patterns stand for, each once and in order.

    ``O.*`` stands for all results of O, ``*.force`` for the components of every force.
    """
    found: list[str] = []
    for name in [given] if isinstance(given, str) else given:
        found += _meant(name, known)
    return list(dict.fromkeys(found))


def _meant(name: str, known: Collection[str]) -> list[str]:
    if name in known:
        return [name]
    if not isinstance(name, str):
        raise unknown(name, known)
    parts = components(name, known)
    if not parts and PATTERN & set(name):
        stems = vectors(known)
        for each in dict.fromkeys(part for other in known for part in (stems.get(other, other), other)):
            if fnmatchcase(each, name):
                parts += [each] if each in known else components(each, known)
    if not parts:
        raise unknown(name, known)
    return parts


def vectors(known: Collection[str]) -> dict[str, str]:
    """The name of the vector of every result that is a component of one."""
    ends = tuple(f".{labels[0]}" for labels in LABELS) + tuple(f".{form.format(1)}" for form in NUMBERED)
    stems = (name.rpartition(".")[0] for name in known if name.endswith(ends))
    return {part: stem for stem in stems for part in components(stem, known)}


def completions(known: Collection[str]) -> list[str]:
    """What may stand in brackets: every vector before its components, and all names."""
    stems = vectors(known)
    return list(dict.fromkeys(part for name in known for part in (stems.get(name, name), name)))


def unknown(name: object, known: Collection[str], what: str = "result") -> ResultError:
    """The error for a name that does not exist, with the nearest one."""
    part = str(name).partition(".")[0]
    own = [each for each in known if each.partition(".")[0] == part]
    return ResultError(
        f"there is no {what} '{name}'",
        expected=f"one of {listing(own or known)}",
        remedy=nearest(str(name), [*known, *vectors(known).values()]),
    )
