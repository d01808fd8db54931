"""Where things of a model stand in its files, so that errors can show the place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cotree.errors import CotreeError, FileError, Mistakes
from cotree.io.yaml_source import Mark, Path_, Source

LABELS = {**{label: k for k, label in enumerate("xyz")}, **{f"e{k}": k for k in range(4)}}
_QUOTED = re.compile(r"'([^']{1,200})'")
_IN_BRACKETS = re.compile(r"\[[^\]]*\]|\{[^}]*:[^}]*\}")


@dataclass(frozen=True)
class Spot:
    """An entry of a file."""

    source: Source
    path: Path_

    def error(
        self, found: str, *inner: str | int, value: bool = True, expected: str = "", remedy: str = ""
    ) -> FileError:
        """An error about the value of the entry, or of something in it; about its key where told so."""
        return self.source.error(found, *self.path, *inner, value=value, expected=expected, remedy=remedy)

    def place(self) -> str:
        """``file:line:column`` of the entry's key."""
        return self.source.place(*self.path)


class FileMistakes(Mistakes):
    """The mistakes of a model's files: one for each place, and none that only follow from another."""

    def __init__(self) -> None:
        super().__init__()
        self.failed: set[str] = set()
        """Names of entries that are wrong themselves, so that others may refer to them in vain."""
        self.incomplete = False
        """Whether entries are wrong whose names are not known."""
        self._places: set[str] = set()

    def wanted(self, error: CotreeError) -> bool:
        place = error.where.partition(": ")[0]
        missed = any(word.partition(".")[0] in self.failed for word in _QUOTED.findall(error.found))
        new = not missed and place not in self._places
        self._places.add(place)
        return new


Given = tuple[Any, Spot]
"""What a file says, and where."""


@dataclass
class Parts:
    """What the files of a model say, by name: includes read, patterns written out."""

    source: Source
    parameters: dict[str, Given] = field(default_factory=dict)
    data: dict[str, Given] = field(default_factory=dict)
    components: dict[str, Given] = field(default_factory=dict)
    bonds: dict[str, Given] = field(default_factory=dict)
    masks: dict[str, Given] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    """Names of values that are not those of the files, so that errors have no place for them."""

    def sections(self) -> dict[str, dict[str, Given]]:
        """The parts by section of a file."""
        return {name: getattr(self, name) for name in ("parameters", "data", "components", "bonds", "masks")}

    def spot(self, where: str) -> tuple[Spot | None, tuple[str, ...]]:
        """The entry that an error names, and the names below it; None where it names none."""
        words = where.replace(",", " ").replace(":", " ").split()
        if words[:1] == ["bond"] and len(words) > 1:
            name = words[1].partition(".")[0]
            table = self.components if "." in words[1] else self.bonds
            return (table[name][1] if name in table else None), ()
        if words[:1] == ["mask"] and len(words) > 1:
            name, *inner = words[1].split(".")
            inner = [word.partition(".")[0] for word in words[2:3]] or inner
            return (self.masks[name][1] if name in self.masks else None), tuple(inner)
        name, *inner = words[0].split(".") if words else [""]
        if name == "gravity" and name not in self.components:
            return Spot(self.source, ("gravity",)), tuple(inner)
        for table in (self.components, self.parameters, self.data):
            if name in table:
                return table[name][1], tuple(inner)
        return None, ()

    def find(self, where: str, found: str, within: Spot | None = None) -> tuple[Source, Mark | None]:
        """The source and the mark of what an error is about: as near to the wrong text as can be told."""
        words = _QUOTED.findall(found)
        if not where and within is not None and any(within.path[0] == each.partition(".")[0] for each in self.changed):
            return self.source, None
        owner, _, inner_name = where.partition(".")
        for name in self.changed:
            short = inner_name and name.startswith(f"{owner}.") and name.endswith(f".{inner_name}")  # A.x of frames.A.x
            if short or f"{where}.".startswith(f"{name}.") or name in (*words, *(f"{where}.{word}" for word in words)):
                return self.source, None
        named, inner = self.spot(where)
        spot = named or within or Spot(self.source, ("components",))
        path = _deeper(spot, inner)
        for word in _QUOTED.findall(_IN_BRACKETS.sub("", found)):
            if word == spot.path[-1] and path == spot.path:
                return spot.source, spot.source.mark(*path)
            if (mark := _spelt(spot.source, path, word)) is not None:
                return spot.source, mark
        about_value = path != spot.path or (
            within is not None and path[0] not in ("components", "bonds", "masks", "data")
        )
        return spot.source, spot.source.mark(*path, value=about_value)

    def seek(self, *texts: str) -> tuple[Source, Mark | None]:
        """Where a name stands that the texts quote: that of a component, or else a word in one."""
        words = [word for text in texts for word in _QUOTED.findall(text)]
        for word in words:
            if word in self.components:
                spot = self.components[word][1]
                return spot.source, spot.source.mark(*spot.path)
        for word in words:
            for _, spot in self.components.values():
                if (mark := _spelt(spot.source, spot.path, word)) is not None:
                    return spot.source, mark
        return self.source, None

    @contextmanager
    def placed(self, within: Spot) -> Iterator[None]:
        """Errors of the model that are raised inside get the file, the line and the column of what they name."""
        try:
            yield
        except FileError:
            raise
        except CotreeError as error:
            told = Mistakes()
            for each in error.mistakes:
                source, mark = self.find(each.where, each.found, within)
                told.add(source.error_at(mark, each.found, expected=each.expected, remedy=each.remedy, what=each.where))
            told.more += error.more
            told.report()


def _deeper(spot: Spot, inner: tuple[str, ...]) -> Path_:
    """The path of a value that is named from its component on: ``A.x`` may be ``frames.A`` and there the first."""
    for count in range(len(inner), -1, -1):
        names, rest = inner[:count], inner[count:]
        below = [path for path in _below(spot) if path[-count:] == names] if count else [spot.path]
        if below:
            path = min(below, key=len)
            deeper = (*path, LABELS[rest[0]]) if rest and rest[0] in LABELS else path
            return deeper if deeper in spot.source.values else path
    return spot.path


def _below(spot: Spot) -> Iterator[Path_]:
    n = len(spot.path)
    return (path for path in spot.source.values if len(path) > n and path[:n] == spot.path)


def _spelt(source: Source, path: Path_, word: str) -> Mark | None:
    """Where a word stands under a path: as a key, as a value, or as a part of a value."""
    n = len(path)
    below = [each for each in source.values if each[:n] == path]
    for each in below:
        if len(each) > n and each[-1] == word:
            return source.keys[each]
    for whole in (True, False):
        for each in below:
            value = _value(source.data, each)
            if not isinstance(value, str | int | float) or isinstance(value, bool):
                continue
            if str(value) == word:
                return source.values[each]
            if not whole and isinstance(value, str) and (mark := _part(source, source.values[each], value, word)):
                return mark
    return None


def _part(source: Source, mark: Mark, value: str, word: str) -> Mark | None:
    """Where a word stands in a text, by the line of the file that the text begins on."""
    before, after = (r"(?<![\w.])" if word[0].isalnum() else "", r"(?!\w)" if word[-1].isalnum() else "")
    pattern = f"{before}{re.escape(word)}{after}"
    if not re.search(pattern, value):
        return None
    found = re.search(pattern, source.lines[mark[0] - 1][mark[1] - 1 :])
    return (mark[0], mark[1] + found.start()) if found else mark


def _value(data: Any, path: Path_) -> Any:
    for key in path:
        try:
            data = data[key]
        except (KeyError, IndexError, TypeError):
            return None
    return data
