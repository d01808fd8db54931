"""One root exception; every message gives what was found, where, what was expected and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from types import TracebackType
from typing import Any

MOST = 20
"""How many mistakes of a model are reported at once."""


class CotreeError(Exception):
    """Root of all errors that Cotree raises on purpose.

    The parts are kept as attributes, so that the command line and editors can lay them out. Where a model has several
    mistakes, the first is raised, ``mistakes`` lists it with the others, and ``more`` counts those beyond the list.
    """

    def __init__(self, found: str, *, where: str = "", expected: str = "", remedy: str = "") -> None:
        self.found, self.where, self.expected, self.remedy = shortened(found), where, expected, remedy
        self.others: tuple[CotreeError, ...] = ()
        self.more = 0
        super().__init__(self.message)

    @property
    def mistakes(self) -> tuple[CotreeError, ...]:
        """This error and those that were found with it, in the order in which they were found."""
        return (self, *self.others)

    def alone(self) -> CotreeError:
        """This error without the others."""
        if self.others:
            del self.__notes__[-len(self.others) - bool(self.more) :]
            self.others, self.more = (), 0
        return self

    def join(self, others: Iterable[CotreeError], more: int = 0) -> None:
        """Let this error report others, too, as notes."""
        self.others, self.more = tuple(others), more
        for other in self.others:
            self.add_note("\n".join([str(other), *getattr(other, "__notes__", ())]))
        if self.others and more:
            self.add_note(f"{more} more")

    def within(self, place: str) -> None:
        """Put a place, such as the name of a file, in front of the message, and of those of all mistakes."""
        (_, *others), more = self.mistakes, self.more
        for each in (self.alone(), *others):
            if each.where != place and not each.where.startswith((f"{place}:", f"{place}.")):
                each.where = f"{place}: {each.where}" if each.where else place
                each.args = (each.message,)
        self.join(others, more)

    @property
    def message(self) -> str:
        """The whole message: ``where: found. Expected ... . Remedy.``"""
        parts = [_stopped(f"{self.where}: {self.found}" if self.where else self.found)]
        if self.expected:
            parts.append(_stopped(f"Expected {self.expected}"))
        if self.remedy:
            parts.append(_stopped(self.remedy[0].upper() + self.remedy[1:]))
        return " ".join(parts)


class ModelError(CotreeError):
    """The model says something that cannot be: a missing value, an unknown kind, a duplicate name."""


class InertiaError(ModelError):
    """The inertia of a body is that of no real body; a model may keep or repair it."""


class ExpressionError(ModelError):
    """An expression of time and parameters cannot be read, or has no finite value."""


class FileError(ModelError):
    """A model or result file cannot be read or written; ``solution`` holds the results that could not be written."""

    solution: object | None = None


class GraphError(CotreeError):
    """The topology has no answer: disconnected parts, an impossible tree, an unknown edge."""


class FormulationError(CotreeError):
    """Graph and terminal equations together have no unique solution: a loop of sources, for example."""


class SolveError(CotreeError):
    """A numerical solution failed; ``solution`` holds what was computed before, if anything."""

    solution: object | None = None


class OptionError(SolveError):
    """An option of a run that cannot be: an unknown integrator, a tolerance of zero, an end before the start."""


class ResultError(CotreeError, KeyError):
    """A result was asked for by a name that does not exist."""

    __str__ = CotreeError.__str__


class NameMissing(CotreeError, AttributeError):
    """An object has no such attribute or method."""

    __str__ = CotreeError.__str__


class Mistakes:
    """Errors that are gathered, so that a user sees all of them at once: those raised in ``with mistakes:``.

    `report` raises the first of them; its notes show the others.
    """

    def __init__(self) -> None:
        self.errors: list[CotreeError] = []
        self.more = 0

    def __enter__(self) -> Mistakes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, CotreeError):
            return False
        self.add(error)
        return True

    def __bool__(self) -> bool:
        return bool(self.errors)

    def add(self, error: CotreeError) -> None:
        """Gather an error, with those that it brings."""
        given, self.more = [each for each in error.mistakes if self.wanted(each)], self.more + error.more
        error.alone()
        free = MOST - len(self.errors)
        self.errors += given[:free]
        self.more += len(given[free:])

    def wanted(self, error: CotreeError) -> bool:
        """Whether an error says something that the others do not."""
        return True

    def report(self) -> None:
        """Raise the first error with all others, if there is one."""
        if not self.errors:
            return
        first, *others = self.errors
        first.join(others, self.more)
        raise first from None


def nearest(name: str, names: Iterable[str]) -> str:
    """``did you mean 'x'?`` for the closest of ``names``, or an empty string."""
    known = list(names)
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    close = close or [each for each in known if each.lower() == name.lower()]
    return f"did you mean '{close[0]}'?" if close else ""


def listing(names: Iterable[str], most: int = 8) -> str:
    """``a, b, c`` cut after ``most`` names: ``a, b, c and 12 more``."""
    names = list(names)
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def shown(value: Any) -> str:
    """A value in a message: as it is, or how large it is."""
    if isinstance(value, (list, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    return shortened(repr(value))


def shortened(text: str) -> str:
    """A message with each value that it echoes cut to about 60 characters: ``[0.0, 0.1, 0.2 ... 9.9, 10.0]``."""
    if len(text) <= ECHO:
        return text
    parts, k = [], 0
    for start in (match.start() for match in _OPENS.finditer(text)):
        if start < k:
            continue
        end = _closed(text, start)
        if end - start > ECHO and not _PROSE.search(text, start, end):
            parts += [text[k : start + ECHO - 15].rstrip(" ,"), " ... ", text[end - 10 : end].lstrip(" ,")]
            k = end
    return "".join([*parts, text[k:]])


ECHO = 60
"""Longest value that a message repeats, in characters."""
_OPENS = re.compile(r"""(?<![\w.])['"](?=\S)|[\[({]""")
_PROSE = re.compile(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}")
_CLOSING = {"[": "]", "(": ")", "{": "}"}


def _closed(text: str, start: int) -> int:
    """Where the bracket or the quotes that open at a place close; the place itself where they do not."""
    opening = text[start]
    if opening not in _CLOSING:
        return text.find(opening, start + 1) + 1 or start
    depth = 0
    for match in re.compile(f"[{re.escape(opening + _CLOSING[opening])}]").finditer(text, start):
        depth += 1 if match[0] == opening else -1
        if depth == 0:
            return match.end()
    return start


def _stopped(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else text + "."
