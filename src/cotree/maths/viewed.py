"""HTML views, as notebooks show them: the line that a prompt shows, and a table or a text below it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Any, NamedTuple

MOST_ROWS = 30
"""Rows of a table before the rest is left out."""
_LONGEST = 90
"""Characters of a value in a table."""


class Table(NamedTuple):
    """Rows under a head; ``length`` says how many there are, of which thirty are shown."""

    head: Sequence[str]
    rows: Iterable[Sequence[object]]
    length: int


class Viewed:
    """Base of everything that a prompt can show: one line by `repr`, and in a notebook what `_view` gives below it."""

    __slots__ = ()

    def _view(self) -> Table | str:
        """A table, or text as it is; without another one a table of all fields."""
        thing: Any = self
        if dataclasses.is_dataclass(thing):
            names = [field.name for field in dataclasses.fields(thing) if field.repr]
        else:
            names = [name for name in vars(thing) if not name.startswith("_")]
        rows = [(name, short(value)) for name in names if (value := getattr(self, name)) is not None]
        return Table(("", "value"), rows, len(rows))

    def _repr_html_(self) -> str:
        line = f"<div><code>{escape(repr(self))}</code>"
        try:  # a cell that only names an object must not fail
            below = self._view()
            return f"{line}{below_html(below)}</div>"
        except Exception:
            return f"{line}</div>"


def below_html(view: Table | str) -> str:
    """A table or a text as HTML; everything is escaped, and numbers stand on the right."""
    if isinstance(view, str):
        return f'<pre style="overflow-x:auto">{escape(view)}</pre>'
    top = "".join(f'<th style="text-align:left">{escape(word)}</th>' for word in view.head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in islice(view.rows, MOST_ROWS))
    if view.length > MOST_ROWS:
        body += f'<tr><td colspan="{len(view.head)}">… and {view.length - MOST_ROWS:,} more</td></tr>'
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def short(value: Any) -> str:
    """A value among others of all kinds: numbers to six digits, arrays by their shape, the rest as one short line."""
    import numpy as np  # the command line prints its help without it

    if isinstance(value, np.ndarray) and value.size > 6:
        return f"array of {' x '.join(map(str, value.shape))}"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, Mapping) and len(value) > 4:
        value = f"{len(value)} entries: {', '.join(map(str, islice(value, 4)))}, ..."
    text = value if isinstance(value, str) else " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td style="text-align:right">{value:.6g}</td>'
    return f'<td style="text-align:left">{escape(str(value))}</td>'
