"""One root exception; every message gives what was found, where, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class CotreeError(Exception):
    """Root of all errors that Cotree raises on purpose.

    The parts are kept as attributes, so that the command line and editors can lay them out.
    """

    def __init__(self, found: str, *, where: str = "", expected: str = "", remedy: str = "") -> None:
        self.found, self.where, self.expected, self.remedy = found, where, expected, remedy
        super().__init__(self.message)

    def within(self, place: str) -> None:
        """Put a place, such as the name of a file, in front of the message."""
        if self.where != place and not self.where.startswith((f"{place}:", f"{place}.")):
            self.where = f"{place}: {self.where}" if self.where else place
            self.args = (self.message,)

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


def _stopped(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else text + "."
