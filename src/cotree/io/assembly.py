"""The files of a model put together: includes read and renamed, patterns written out.

include:
  - parts/leg.yaml                                              # its parameters, components, bonds and masks
  - {file: leg.yaml, as: left, with: {length: 0.4}}             # left_hip, left_knee, ... and left_length
  - {file: stage.yaml, as: "s{i}", for: {i: 1..3}, join: {in: "n{i}", out: "n{i+1}"}}
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cotree.errors import FileError, listing, nearest, shown
from cotree.io.paths import named_file
from cotree.io.patterns import FOR, MOST, Indices, filled, instances, put_in
from cotree.io.places import FileMistakes, Given, Parts, Spot
from cotree.io.renaming import Renaming, kind_of, network_nodes, with_formulas
from cotree.io.yaml_source import MAX_BYTES, Source, read_source
from cotree.model.component import COMPONENT_NAME

KEYS = (
    "name", "datum", "gravity", "planar", "inertia", "include", "parameters", "data", "components", "bonds", "masks",
    "run",
)  # fmt: skip
SHARED = ("datum", "gravity", "planar", "inertia")
"""What all files of a model must agree on."""
DEEPEST = 8
MOST_FILES = 1000
ENDINGS = (".yaml", ".yml", ".json")
_INCLUDE = ("file", "as", "with", "join", FOR)
_EXAMPLE = "a file, such as leg.yaml, or {file: leg.yaml, as: left, with: {length: 0.4}}"


def assemble(source: Source, root: Path | None, mistakes: FileMistakes) -> Parts:
    """Everything that a file and those that it includes say; no file outside of ``root`` is read."""
    before = len(mistakes.errors)
    parts = _Assembly(source, root, mistakes).parts(source, ())
    harmless = sum(not source.data[key] for key in source.data if key not in KEYS)  # an unknown entry that is empty
    mistakes.incomplete = len(mistakes.errors) > before + harmless
    return parts


class _Assembly:
    def __init__(self, top: Source, root: Path | None, mistakes: FileMistakes) -> None:
        self.top, self.root, self.mistakes = top, root, mistakes
        self.sources: dict[Path, Source] = {}
        self.bytes = self.files = self.entries = 0

    def parts(self, source: Source, chain: tuple[Path, ...]) -> Parts:
        """The parts of one file, with what it includes."""
        data = source.data
        if not isinstance(data, dict):
            raise source.error("there is no model here", expected="name: and components:")
        for key in data:
            if key not in KEYS:
                self.mistakes.add(
                    source.error(
                        f"unknown entry '{key}'", key, value=False, expected=f"one of {', '.join(KEYS)}",
                        remedy=nearest(str(key), KEYS),
                    )
                )  # fmt: skip
        parts = Parts(source)
        given = data.get("include")
        for k, entry in enumerate(given if isinstance(given, list) else [] if given is None else [given]):
            spot = Spot(source, ("include", k) if isinstance(given, list) else ("include",))
            with self.mistakes, parts.placed(spot):
                for indices in instances(entry, "include"):
                    self.include(parts, _only(entry, indices, "include"), indices, spot, chain)
        for section in ("parameters", "data", "masks"):
            for name, value in self.section(source, section).items():
                with self.mistakes:
                    _add(getattr(parts, section), name, (value, Spot(source, (section, name))), section)
        for name, value in self.section(source, "components").items():
            with self.mistakes:
                self.pattern(parts, "components", name, value)
        with self.mistakes:
            self.bonds(parts)
        return parts

    def section(self, source: Source, key: str) -> dict[str, Any]:
        """A section of a file; an empty one where it is wrong."""
        with self.mistakes:
            return mapping(source, key)
        return {}

    def pattern(self, parts: Parts, section: str, name: str, entry: Any) -> None:
        """One entry of components or bonds, or all that it stands for."""
        spot, table = Spot(parts.source, (section, name)), getattr(parts, section)
        repeated = isinstance(entry, dict) and FOR in entry
        if not repeated:
            if "{" in name:
                example = "Add for: {i: 1..10} to the entry"
                found = f"the name '{name}' holds an index, and no range is given for it"
                raise spot.error(found, value=False, remedy=example)
            self.count(spot)
            _add(table, name, (entry, spot), section)
            return
        with parts.placed(spot):
            for indices in instances(entry, name):
                self.count(spot)
                for index in indices:
                    if index in parts.parameters:
                        raise spot.error(f"the index '{index}' is also a parameter", FOR, remedy="Rename one of them")
                own = filled(name, indices, name)
                value = self.written(_only(entry, indices, name), indices)
                if own in table and table[own][1] == spot:
                    raise spot.error(
                        f"the name '{own}' comes twice in the pattern '{name}'",
                        value=False,
                        expected="a name of its own for every instance",
                        remedy=f"Put every index into the name: {name}{{{'}{'.join(indices)}}}" if own == name else "",
                    )
                _add(table, own, (value, spot), section)

    @staticmethod
    def written(entry: dict[str, Any], indices: Indices) -> dict[str, Any]:
        """An entry with the indices in its expressions as numbers."""
        kind = kind_of(entry)
        return entry if kind is None else with_formulas(kind, entry, lambda _, text: put_in(text, indices))

    def bonds(self, parts: Parts) -> None:
        """The bonds of a file by name; those of a list are numbered within their file."""
        source, given = parts.source, parts.source.data.get("bonds")
        if given is None:
            return
        if isinstance(given, dict):
            for name, each in mapping(source, "bonds").items():
                with self.mistakes:
                    self.pattern(parts, "bonds", name, each)
            return
        if not isinstance(given, list):
            expected = "a list such as [V -> j, j -> R], or bonds by name"
            raise source.error(f"bonds is {given!r}", "bonds", expected=expected)
        from cotree.bond.masks import next_bond

        taken: dict[str, Any] = {**parts.components, **parts.bonds}
        for k, entry in enumerate(given):
            spot = Spot(source, ("bonds", k))
            with self.mistakes, parts.placed(spot):
                for indices in instances(entry, "bonds"):
                    self.count(spot)
                    name = next_bond(taken)
                    taken[name] = parts.bonds[name] = (_only(entry, indices, "bonds"), spot)

    def count(self, spot: Spot) -> None:
        self.entries += 1
        if self.entries > MOST:
            raise spot.error(f"the model has more than {MOST} entries", expected=f"at most {MOST}")

    def include(self, parts: Parts, entry: Any, indices: Indices, spot: Spot, chain: tuple[Path, ...]) -> None:
        """Put what another file holds among the parts."""
        options = {"file": entry} if isinstance(entry, str) else entry
        if not isinstance(options, dict) or not isinstance(options.get("file"), str):
            raise spot.error(f"found {shown(entry)}", expected=_EXAMPLE)
        for key in options:
            if key not in _INCLUDE:
                expected = f"one of {listing(_INCLUDE)}"
                raise spot.error(
                    f"unknown entry '{key}'", key, value=False, expected=expected, remedy=nearest(key, _INCLUDE)
                )
        for key in ("with", "join"):
            if not isinstance(options.get(key, {}), dict):
                raise spot.error(f"{key} is {shown(options[key])}", key, expected="name: value entries")
        prefix = options.get("as", "")
        if not isinstance(prefix, str) or ("as" in options and not COMPONENT_NAME.match(prefix)):
            raise spot.error(f"as is {prefix!r}", "as", expected="a name, which all names of the file begin with")
        inner = self.parts(*self.open(options["file"], spot, chain))
        self.agree(inner.source, spot)
        values = {name: put_in(v, indices) if isinstance(v, str) else v for name, v in options.get("with", {}).items()}
        for name in values:
            if name not in inner.parameters:
                known = f"one of {listing(inner.parameters)}" if inner.parameters else "none: the file has none"
                raise spot.error(
                    f"{inner.source.name} has no parameter '{name}'", "with", name, value=False, expected=known,
                    remedy=nearest(name, inner.parameters),
                )  # fmt: skip
        join = {str(name): str(other) for name, other in options.get("join", {}).items()}
        known_as = Renaming(
            prefix, join, {*inner.components, *inner.bonds}, {*inner.parameters, *inner.data}, inner.masks,
            _datums(inner.source), network_nodes(entry for entry, _ in inner.components.values()),
        )  # fmt: skip
        for section, table in inner.sections().items():
            own = getattr(parts, section)
            for name, (value, place) in table.items():
                if known_as.name(name) in own and own[known_as.name(name)][1] == place:
                    raise spot.error(
                        f"{inner.source.name} is included twice, and each time it holds '{known_as.name(name)}'",
                        remedy="Give each of them a name of its own, such as as: left",
                    )
                if section == "parameters" and name in values:
                    given = values[name], Spot(spot.source, (*spot.path, "with", name))
                else:
                    given = _new(known_as, section, value), place
                _add(own, known_as.name(name), given, section)

    def open(self, file: str, spot: Spot, chain: tuple[Path, ...]) -> tuple[Source, tuple[Path, ...]]:
        """The file that an entry names, within the folder of the model file; and the files that lead to it."""
        source = spot.source
        if (*spot.path, "file") in source.values:
            spot = Spot(source, (*spot.path, "file"))
        try:
            path = named_file(file, source.folder, self.root)
        except FileError as reason:
            raise spot.error(reason.found, expected=reason.expected, remedy=reason.remedy) from None
        assert source.folder is not None
        if path.suffix.lower() not in ENDINGS:
            raise spot.error(
                f"'{file}' is no model file by its name", expected=f"a name that ends in {listing(ENDINGS)}"
            )
        if path.exists() and not path.is_file():
            raise spot.error(f"'{file}' is no file", expected="a model file, no folder or pipe")
        if not path.is_file():
            known = [str(p.relative_to(source.folder)) for p in _beside(source.folder)]
            raise spot.error(f"there is no file '{file}'", remedy=nearest(file, known) or "Check the path")
        assert source.path is not None  # as it has a folder
        chain = (*chain, source.path.resolve())
        if path in chain:
            ring = " -> ".join(self.shown(each) for each in (*chain[chain.index(path) :], path))
            raise spot.error(f"a file includes itself: {ring}", remedy="Leave one of these includes out")
        if len(chain) > DEEPEST:
            raise spot.error(f"more than {DEEPEST} files include each other", expected=f"at most {DEEPEST}")
        self.files += 1
        if path not in self.sources:
            self.bytes += path.stat().st_size
        if self.files > MOST_FILES or self.bytes > MAX_BYTES:
            raise spot.error("too much is included", expected=f"at most {MOST_FILES} files and {MAX_BYTES} bytes")
        if path not in self.sources:
            self.sources[path] = read_source(path, self.shown(path), self.mistakes)
        return self.sources[path], chain

    def shown(self, path: Path) -> str:
        """A file as errors call it: from where the user called the model file."""
        assert self.top.folder is not None
        return os.path.normpath(Path(self.top.name).parent / os.path.relpath(path, self.top.folder.resolve()))

    def agree(self, source: Source, spot: Spot) -> None:
        """Refuse gravity, plane or datum of an included file that the model does not have."""
        for key in SHARED:
            own, outer = source.data.get(key), self.top.data.get(key)
            if own is not None and own != outer and not (key == "datum" and outer is None and own == "ground"):
                said = "says nothing of it" if outer is None else f"has {outer!r}"
                raise source.error(
                    f"{key} is {own!r} in this included file, and {self.top.name} {said}", key,
                    expected="the same in both", remedy=f"Give {key} in {self.top.name}, or leave it out here",
                )  # fmt: skip
        if self.top.data.get("datum") not in (None, "ground") and source.data.get("datum") is None:
            raise spot.error(
                f"the datum is {self.top.data['datum']!r}, and {source.name} does not say its own",
                remedy=f"Give datum in {source.name}, too",
            )


def _only(entry: Any, indices: Indices, where: str) -> Any:
    """One instance of an entry that may be a pattern."""
    if not indices:
        return entry
    return filled({key: value for key, value in entry.items() if key != FOR}, indices, where)


def _new(known_as: Renaming, section: str, value: Any) -> Any:
    if section == "parameters":
        return known_as.formula(value) if isinstance(value, str) else value
    if section == "data":
        return value
    return {"components": known_as.entry, "bonds": known_as.bond, "masks": known_as.mask}[section](value)


def _add(table: dict[str, Given], name: str, given: Given, section: str) -> None:
    """Add a part, or say where its name is already used."""
    if name in table:
        other, spot = table[name][1], given[1]
        remedy = "Rename one of them, or include the file with as:" if other.source is not spot.source else "Rename one"
        noun = section.removesuffix("s")
        raise spot.error(f"the {noun} '{name}' is also in {other.place()}", value=False, remedy=remedy)
    table[name] = given


def mapping(source: Source, key: str) -> dict[str, Any]:
    """A section of a file that holds entries by name."""
    value = source.data.get(key)
    if value is not None and not isinstance(value, dict):
        raise source.error(f"{key} is {shown(value)}", key, expected="name: value entries")
    return {str(name): entry for name, entry in (value or {}).items()}


def _datums(source: Source) -> list[str]:
    given = source.data.get("datum")
    given = "ground" if given is None else given
    return [str(each) for each in (given if isinstance(given, list) else [given])]


def _beside(folder: Path) -> Iterator[Path]:
    found = (path for ending in ENDINGS for path in folder.glob(f"*{ending}"))
    return (path for _, path in zip(range(200), found, strict=False))
