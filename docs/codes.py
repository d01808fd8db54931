"""The page of diagnostics, written from the table in `cotree.system.codes`: ``python docs/codes.py``."""

from __future__ import annotations

import re
from pathlib import Path

from cotree.system import CODES, SEVERITIES

PAGE = Path(__file__).with_name("diagnostics.md")
HEAD = """\
# Diagnostics

What Cotree has to say about a model, a run or an analysis is data: `sol.diagnostics` holds one object for each, with
its `code`, its `severity`, its `subjects` (names of components or results) and its numbers in `data`. `sol.notes`, the
command line and the report show the same as text.

| severity | meaning |
|---|---|
| info | what the equations are |
| note | something to know: a default, a simplification, a value that was moved |
| warning | results may be wrong |
| error | results cannot be used |

The codes below are stable; texts may change. In a text, words in *italics* stand for names and numbers.

| code | severity | text | meaning |
|---|---|---|---|
"""


def page() -> str:
    """The whole page."""
    ranked = sorted(CODES.items(), key=lambda each: (-SEVERITIES.index(each[1].severity), each[0]))
    rows = (f"| `{code}` | {row.severity} | {_shown(row.text)} | {row.meaning} |\n" for code, row in ranked)
    return HEAD + "".join(rows)


def _shown(text: str) -> str:
    """A template with its numbers and names as words."""
    counted = re.sub(r"\{\w+:#([^}]+)\}", r"*n* \1(s)", text)
    return re.sub(r"\{(\w+)[^}]*\}", r"*\1*", counted).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
