"""What a YAML parser cannot read, said in plain words."""

from __future__ import annotations

import re
from typing import Any

Said = tuple[str, str, Any]
"""What was found, what to do, and the mark of the place."""

QUOTE = "Put the text in quotes"


def in_words(reason: Any, lines: list[str], opened: tuple[str, int, int] | None) -> Said:
    """The words for an error of the parser; ``opened`` is the bracket that is open there, with line and column."""
    problem, mark = str(reason.problem or reason), reason.problem_mark or reason.context_mark
    line = lines[mark.line] if mark is not None and mark.line < len(lines) else ""
    here = line[mark.column : mark.column + 1] if mark is not None else ""
    if here == "\t" or "tab character" in problem or (line[:1] == "\t" and not opened):
        return "a tab indents this line", "Indent with spaces", _at(mark, line, "\t")
    if "mapping values are not allowed" in problem:
        before = next((k for k in range(mark.line - 1, -1, -1) if lines[k].strip()), None)
        glued = None if before is None else re.match(r"\s*[\w.]+:(?=[^\s:])", lines[before])
        if glued and before is not None:
            return "a space is missing behind the ':'", "Write name: value", _Mark(before, glued.end())
        return "a second ': ' in one line", f"{QUOTE}, or begin a new line", mark
    if opened is not None and "scalar" not in str(reason.context):
        bracket, row, column = opened
        found = f"the bracket '{bracket}' of line {row}, column {column} is not closed here, or a comma is missing"
        closing = "}" if bracket == "{" else "]"
        if pattern := re.search(r"[\w.+-]+\{[^{}\s:,]*\}[\w.]*", lines[row - 1][column:]):
            where = _Mark(row - 1, column + pattern.start())
            return f"{pattern[0]} is a pattern inside of brackets", f'Put it in quotes: "{pattern[0]}"', where
        mark = mark if line.strip() else _Mark(row - 1, column - 1)
        return found, f"Close it with '{closing}', or put a comma between its entries", mark
    if "could not find expected ':'" in problem:
        return "a ':' is missing in this entry", "Write name: value, with a space behind the colon", reason.context_mark
    if "expected key" in problem or "expected <document start>" in problem or "block end" in problem:
        return "this line does not fit to those before it", "Indent all entries of a group alike, as name: value", mark
    if "'-' indicator" in problem:
        return "this line stands inside a list", "Begin each entry of the list with '- ' in the same column", mark
    if "unexpected end of stream" in problem or "document indicator" in problem:
        return "quotes are opened here and never closed", "Close them", reason.context_mark
    if "cannot start any token" in problem:
        return f"a text cannot begin with '{here}'", QUOTE, mark
    if "escape" in problem:
        return "a backslash in double quotes begins an escape that is not known", "Use single quotes", mark
    if "directive" in problem or "version" in problem:
        return "a line that begins with % is a directive, which is not used", "Remove it", mark
    return f"this is not YAML: {problem}", "", mark


class _Mark:
    def __init__(self, line: int, column: int) -> None:
        self.line, self.column = line, column


def _at(mark: Any, line: str, character: str) -> Any:
    """The place of a character in the line of a mark."""
    return _Mark(mark.line, max(line.find(character), 0)) if mark is not None else None
