"""Tables of results as HTML, as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

MOST_ROWS = 30
"""Rows of a table before the rest is left out."""


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]], count: int) -> str:
    """A small table under a line of text; numbers stand on the right, and after thirty rows the rest is counted."""
    top = "".join(f"<th>{escape(word)}</th>" for word in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in islice(rows, MOST_ROWS))
    if count > MOST_ROWS:
        body += f'<tr><td colspan="{len(head)}">… and {count - MOST_ROWS} more</td></tr>'
    return f"<div>{escape(title)}<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td style="text-align:right">{value:.6g}</td>'
    return f'<td style="text-align:left">{escape(str(value))}</td>'
