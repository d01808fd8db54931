"""YAML or JSON read as plain data with the line and column of every entry; only scalars, lists and mappings come out.

Duplicate keys are errors instead of silent losses. Anchors and tags are refused, so that a file is never larger than it
looks and never makes objects.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from cotree.errors import FileError, Mistakes
from cotree.io.scalars import MAX_TEXT, QUOTES, OddScalar, plain_value
from cotree.io.yaml_errors import in_words

HDF5 = b"\x89HDF\r\n"
"""How files of results begin."""
MAX_BYTES = 20_000_000
MAX_DEPTH = 100
WIDTH = 100
"""Longest excerpt of a line in an error, in characters."""

Path_ = tuple[str | int, ...]
Mark = tuple[int, int]
"""Line and column, both from 1."""

_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LINE_ENDS = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
"""Where lines end, as YAML counts them."""
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})")


class Source:
    """The plain data of a text, and where each entry stands: its key, and its value.

    Entries that are wrong by themselves are gathered in ``mistakes``; what cannot be read any further is raised.
    """

    def __init__(self, text: str, name: str, path: Path | None = None, mistakes: Mistakes | None = None) -> None:
        self.name, self.path = name, path
        self.keys: dict[Path_, Mark] = {}
        self.values: dict[Path_, Mark] = {}
        text = text.removeprefix("\ufeff")
        self.lines = LINE_ENDS.split(text)
        gathered = Mistakes() if mistakes is None else mistakes
        self.data: Any = _Builder(self, gathered).build(text) if text else None
        if mistakes is None:
            gathered.report()

    @property
    def folder(self) -> Path | None:
        """Where the file is, for the files that it names."""
        return None if self.path is None else self.path.parent

    def mark(self, *path: str | int, value: bool = False) -> Mark | None:
        """Line and column of an entry, or of the nearest one around it; of its value where asked and where it is."""
        if value and path in self.values:
            return self.values[path]
        while path and path not in self.keys:
            path = path[:-1]
        return self.keys.get(path, (1, 1)) if self.lines != [""] or self.path else None

    def place(self, *path: str | int, value: bool = False) -> str:
        """``file:line:column`` of an entry, or of the nearest entry around it."""
        return self.at(self.mark(*path, value=value))

    def at(self, mark: Mark | None) -> str:
        """``file:line:column`` of a mark."""
        return self.name if mark is None else f"{self.name}:{mark[0]}:{mark[1]}"

    def excerpt(self, mark: Mark | None) -> str:
        """The line of a mark with a caret below its column."""
        if mark is None or mark[0] > len(self.lines) or not self.lines[mark[0] - 1].strip():
            return ""
        line, column = re.sub(r"[^\S ]|[\x00-\x1f\x7f]", " ", self.lines[mark[0] - 1]), mark[1]
        if len(line) > WIDTH:
            start = max(0, min(column - WIDTH // 2, len(line) - WIDTH))
            cut = line[start : start + WIDTH]
            line = ("..." if start else "") + cut + ("..." if start + WIDTH < len(line) else "")
            column += (3 if start else 0) - start
        number = f"{mark[0]:>4}"
        return f"{number} | {line.rstrip()}\n{' ' * len(number)} | {' ' * (column - 1)}^"

    def error(
        self, found: str, *path: str | int, value: bool = True, expected: str = "", remedy: str = ""
    ) -> FileError:
        """An error about an entry, with its place and its line; about its value unless told otherwise."""
        return self.error_at(self.mark(*path, value=value), found, expected=expected, remedy=remedy)

    def error_at(
        self, mark: Mark | None, found: str, *, expected: str = "", remedy: str = "", what: str = ""
    ) -> FileError:
        """An error at a mark; ``what`` names the value behind the place."""
        where = f"{self.at(mark)}: {what}" if what else self.at(mark)
        error = FileError(found, where=where, expected=expected, remedy=remedy)
        if excerpt := self.excerpt(mark):
            error.add_note(excerpt)
        return error


class _Level:
    """A list or mapping that is being read."""

    __slots__ = ("bracket", "data", "key", "mark", "path")

    def __init__(self, data: Any, path: Path_, mark: Mark, bracket: str) -> None:
        self.data, self.path, self.mark, self.bracket = data, path, mark, bracket
        self.key: str | None = None


class _Builder:
    """Makes plain data of the parser's events, without recursion and without making anything else."""

    def __init__(self, source: Source, mistakes: Mistakes) -> None:
        self.source, self.mistakes, self.root, self.done = source, mistakes, None, False
        self.levels: list[_Level] = []

    def build(self, text: str) -> Any:
        parser = None
        try:
            parser = _Parser(text)
            while True:
                event = parser.get_event()
                if event is None or isinstance(event, yaml.StreamEndEvent):
                    return self.root
                self.take(event)
        except yaml.MarkedYAMLError as reason:
            found, remedy, mark = in_words(reason, self.source.lines, self._opened())
            raise self.source.error_at(_mark(mark), found, remedy=remedy) from None
        except yaml.reader.ReaderError as reason:
            before = text[: max(int(reason.position), 0)]
            line = len(LINE_ENDS.findall(before)) + 1
            raise self.source.error_at((line, 1), f"a character cannot be read: {reason.reason}") from None
        except yaml.YAMLError as reason:
            raise self.source.error_at((1, 1), f"this is not YAML: {reason}") from None
        finally:
            if parser is not None:
                parser.dispose()

    def _opened(self) -> tuple[str, int, int] | None:
        level = self.levels[-1] if self.levels else None
        return None if level is None or not level.bracket else (level.bracket, *level.mark)

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self.scalar(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            if self.done:
                raise self.refused(event, "a second document begins here", "Keep one model in a file, without ---")
            self.done = True
        elif isinstance(event, yaml.CollectionStartEvent):
            self.check(event)
            if len(self.levels) >= MAX_DEPTH:
                raise self.refused(event, f"the entries are nested more than {MAX_DEPTH} deep")
            sequence = isinstance(event, yaml.SequenceStartEvent)
            new: Any = [] if sequence else {}
            path = self.put(event, new)
            self.levels.append(
                _Level(new, path, _mark(event.start_mark), "[{"[not sequence] if event.flow_style else "")
            )
        elif isinstance(event, yaml.CollectionEndEvent):
            self.levels.pop()
        elif isinstance(event, yaml.AliasEvent):
            self.check(event)

    def scalar(self, event: Any) -> None:
        self.check(event)
        if len(event.value) > MAX_TEXT:
            raise self.refused(event, f"a text of {len(event.value)} characters", f"Give at most {MAX_TEXT}")
        level = self.levels[-1] if self.levels else None
        plain = event.implicit[0]
        if level is not None and isinstance(level.data, dict) and level.key is None:
            self.name(level, event, plain)
            return
        try:
            value = plain_value(event.value) if plain else event.value
        except OddScalar as odd:
            value = event.value
            self.mistakes.add(self.refused(event, str(odd), QUOTES))
        self.put(event, value)

    def name(self, level: _Level, event: Any, plain: bool) -> None:
        """The key of an entry: always text, also where YAML would read a number or a truth value."""
        key = event.value
        if plain and key in ("", "~", "null", "Null", "NULL"):
            raise self.refused(
                event, f"the key '{key}' is not a name", "Put it in quotes: YAML reads ~ and null as nothing"
            )
        if plain and key == "<<":
            raise self.refused(event, "merge keys (<<) are not used", "Write the values out, or use a parameter")
        if key in level.data:
            line = self.source.keys[(*level.path, key)][0]
            found = f"the name '{key}' is used twice, first in line {line}"
            self.mistakes.add(self.refused(event, found, "Rename one of them"))
        level.key = key
        self.source.keys[(*level.path, key)] = _mark(event.start_mark)

    def put(self, event: Any, value: Any) -> Path_:
        """Put a value where it belongs; returns its path."""
        mark = _mark(event.start_mark)
        if not self.levels:
            self.root = value
            self.source.keys.setdefault((), mark)
            return ()
        level = self.levels[-1]
        if isinstance(level.data, list):
            path: Path_ = (*level.path, len(level.data))
            level.data.append(value)
            self.source.keys[path] = mark
        elif level.key is None:
            raise self.refused(event, "a list or a mapping stands where a name belongs", "Put a name in quotes")
        else:
            path = (*level.path, level.key)
            level.data[level.key] = value
            level.key = None
        self.source.values[path] = mark
        return path

    def check(self, event: Any) -> None:
        """Refuse what could make objects or repeat large parts."""
        if event.anchor is not None:
            found = "anchors and aliases (& and *) are not used"
            raise self.refused(event, found, "Put a text that begins with & or * in quotes; write values out")
        if event.tag is not None and event.tag != "!":
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            raise self.refused(event, f"the tag '{tag[:60]}' is not used", "Put a text that begins with ! in quotes")

    def refused(self, event: Any, found: str, remedy: str = "") -> FileError:
        return self.source.error_at(_mark(event.start_mark), found, remedy=remedy)


def _mark(mark: Any) -> Mark:
    return (1, 1) if mark is None else (mark.line + 1, mark.column + 1)


def read_source(path: Path, name: str = "", mistakes: Mistakes | None = None) -> Source:
    """The data of a YAML or JSON file, or a `FileError`; ``name`` is how errors call it.

    Wrong entries are gathered in ``mistakes`` where it is given.
    """
    name = name or str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if raw.startswith(HDF5):
            raise FileError(
                "it holds results, not a model",
                where=name,
                expected="a model file in YAML or JSON",
                remedy="Read it with Solution.from_hdf5, or finish its run with resume",
            )
        if len(raw) > MAX_BYTES:
            size = path.stat().st_size
            raise FileError(f"the file has {max(size, len(raw))} bytes", where=name, expected=f"at most {MAX_BYTES}")
        text = raw.decode("utf-8")
    except OSError as reason:
        raise FileError(f"cannot read {name}: {reason.strerror or reason}", remedy="Check the path") from None
    except UnicodeDecodeError:
        raise FileError("the file is not text in UTF-8", where=name) from None
    if path.suffix.lower() == ".json":  # pairs of escapes, which JSON has and YAML has not
        text = _PAIR.sub(lambda m: f"{m[1]}\\U{_joined(m[2], m[3]):08x}", text)
    return Source(text, name, path, mistakes)


def _joined(high: str, low: str) -> int:
    return 0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00
