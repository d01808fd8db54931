"""Model files with names that have changed, rewritten in place: comments and layout stay (`cotree.model.renamed`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cotree.errors import FileError
from cotree.io.yaml_source import LINE_ENDS, Mark, Path_, Source, read_source
from cotree.model.renamed import KINDS, new_field, upgraded
from cotree.results.store import replacing

MARK = "\ufeff"
QUOTES = "\"'"


@dataclass(frozen=True)
class Change:
    """A name that is written anew."""

    line: int
    column: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.old} -> {self.new}"


def upgrade_file(path: Path, write: bool = True) -> list[Change]:
    """The names that have changed in a model file, which is rewritten where there are some.

    Raises
    ------
    FileError
        Where the file cannot be read or written, or a name stands in a form that cannot be replaced.
    """
    source = read_source(path)
    changes = sorted(_changes(source, source.data, ()), key=lambda change: (change.line, change.column))
    if not changes:
        return []
    text = path.read_bytes().decode("utf-8")
    new = _edited(text, changes, source)
    if Source(new, source.name).data != upgraded(source.data):
        raise FileError("its names cannot be replaced", where=source.name, remedy="Write the new names by hand")
    if write:
        with replacing(path) as part:
            part.write_bytes(new.encode("utf-8"))
    return changes


def _changes(source: Source, data: Any, path: Path_) -> Iterator[Change]:
    if isinstance(data, list):
        for k, each in enumerate(data):
            yield from _changes(source, each, (*path, k))
    if not isinstance(data, dict):
        return
    kind = data.get("kind")
    if isinstance(kind, str) and kind in KINDS:
        yield Change(*source.values[(*path, "kind")], kind, KINDS[kind])
        kind = KINDS[kind]
    for key, each in data.items():
        if isinstance(kind, str) and (new := new_field(kind, key)):
            yield Change(*source.keys[(*path, key)], key, new)
        yield from _changes(source, each, (*path, key))


def _edited(text: str, changes: list[Change], source: Source) -> str:
    """The text with every change made, from its end to its beginning."""
    first = len(MARK) if text.startswith(MARK) else 0
    starts = [first, *(first + end.end() for end in LINE_ENDS.finditer(text[first:]))]
    for change in reversed(changes):
        at = starts[change.line - 1] + change.column - 1
        at += text[at : at + 1] in tuple(QUOTES)
        if not text.startswith(change.old, at):
            mark: Mark = (change.line, change.column)
            raise FileError(
                f"'{change.old}' cannot be replaced", where=source.at(mark), remedy=f"Write '{change.new}' by hand"
            )
        text = text[:at] + change.new + text[at + len(change.old) :]
    return text
