"""Diagnostics: what the program has to say about a model or a run, as data.

A diagnostic has a code, a severity, the names it is about, and numbers. Its text comes from one table, `CODES` in
`cotree.system.codes`, which is also a page of the documentation. Nothing searches texts: who wants to know whether
something was said asks for its code.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from cotree.errors import listing
from cotree.maths.viewed import Viewed
from cotree.system.codes import CODES

SEVERITIES = ("info", "note", "warning", "error")
"""From what a reader may like to know to what makes results unusable."""
Number = float | int | str


@dataclass(frozen=True)
class Diagnostic(Viewed):
    """One thing that the program says: ``code`` names it in the table, ``subjects`` are components or results."""

    code: str
    severity: str
    subjects: tuple[str, ...] = ()
    data: Mapping[str, Number] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """One sentence with names and numbers, and the remedy where there is one."""
        template = CODES[self.code].text if self.code in CODES else OTHER
        known = {"subjects": listing(self.subjects), "quoted": listing([f"'{name}'" for name in self.subjects])}
        return _Words().vformat(template, (), {"code": self.code, **known, **self.data})

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}" if self.grave else self.text

    @property
    def grave(self) -> bool:
        """Whether results may be wrong."""
        return self.severity in ("warning", "error")

    def to_data(self) -> dict[str, Any]:
        """Plain data, as a results file holds it."""
        return {
            "code": self.code, "severity": self.severity, "subjects": list(self.subjects), "data": dict(self.data)
        }  # fmt: skip


OTHER = "{code}: {subjects}"
"""The text of a code that a newer version has written and this one does not know."""


class _Words(Formatter):
    """``{count:#equation}`` is ``1 equation`` or ``3 equations``."""

    def format_field(self, value: Any, spec: str) -> str:
        if spec.startswith("#"):
            return f"{value} {spec[1:]}{'' if value == 1 else 's'}"
        return str(super().format_field(value, spec)) if not (spec and isinstance(value, str)) else value

    def get_value(self, key: int | str, args: Any, kwargs: Mapping[str, Any]) -> Any:
        return kwargs.get(str(key), "?")


def diagnose(code: str, *subjects: str, **data: Number) -> Diagnostic:
    """A diagnostic of the table, with the severity it has there."""
    return Diagnostic(code, CODES[code].severity, subjects, data)


def from_data(data: Any) -> Diagnostic:
    """A diagnostic from plain data; a text alone is a note of an older version."""
    if isinstance(data, str):
        return Diagnostic("note", "warning" if data.startswith("doubtful") else "info", (), {"text": data})
    return Diagnostic(
        str(data["code"]),
        data["severity"] if data["severity"] in SEVERITIES else "note",
        tuple(str(name) for name in data["subjects"]),
        {str(key): value for key, value in dict(data["data"]).items() if isinstance(value, (int, float, str))},
    )


def notes_of(diagnostics: Iterable[Diagnostic]) -> tuple[str, ...]:
    """Their texts."""
    return tuple(str(each) for each in diagnostics)


def undetermined_by(diagnostics: Iterable[Diagnostic]) -> frozenset[str]:
    """Results that rigid bodies do not determine: reactions of redundant joints."""
    return frozenset(name for each in diagnostics if each.code == "undetermined-reactions" for name in each.subjects)


def outside_by(diagnostics: Iterable[Diagnostic]) -> frozenset[str]:
    """Flexible bodies that have left the range of their theory."""
    return frozenset(name for each in diagnostics if each.code == "outside-theory" for name in each.subjects)


def labelled(name: str, undetermined: Collection[str], outside: Collection[str] = ()) -> str:
    """The name of a result as tables and plots show it, marked where it is not determined or outside its theory."""
    if name in undetermined:
        return f"{name} (not determined)"
    return f"{name} (outside its theory)" if name.partition(".")[0] in outside else name
