"""The page of all public names, made from the classes: ``python docs/names.py``."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import cotree
from cotree._names import HOME
from cotree.io.catalogue import Entry, catalogue
from cotree.io.schema import summary
from cotree.model.renamed import KINDS, SUCCESSORS

PAGE = Path(__file__).with_name("names.md")
HEAD = """\
# Names

Every kind of component has one name in files and one place in Python. They follow from each other: `revolute` is
`cotree.Revolute`, `thermal.heat_source` is `cotree.thermal.HeatSource`. Parts of mechanisms and circuits need no room;
parts of other domains stand in the room of theirs. In bond graphs `bond.` may be left out of a file: `Se` is `bond.Se`.
Three kinds of nodal structures and the two junctions keep a word of their own until they change for good.

*Later* is the name of a kind when bodies and nodes share one library. It is not valid yet, and the name of today stays
valid until then.

An old name is refused, and the error gives the new one. `cotree upgrade model.yaml` rewrites a file; the last table has
all names that have changed. Models in results files are read through the same table.
"""


def page() -> str:
    """The whole page."""
    entries = catalogue()
    rooms = sorted({entry.room for entry in entries})
    parts = [HEAD, "\n## Kinds\n\n| file | Python | meaning | later |\n|---|---|---|---|\n"]
    parts += [_kind(entry) for entry in entries]
    parts += ["\n## Names of Python alone\n\n| Python | meaning |\n|---|---|\n"]
    parts += [f"| `cotree.{name}` | {_meaning(getattr(cotree, name))} |\n" for name in _others(entries)]
    for room in rooms:
        parts.append(f"\n## Fields: {room}\n\n| kind | field | unit | meaning |\n|---|---|---|---|\n")
        parts += [_field(entry, field) for entry in entries if entry.room == room for field in entry.fields]
    parts += ["\n## Names that have changed\n\n| before | now |\n|---|---|\n"]
    parts += [f"| `{old}` | `{new}` |\n" for old, new in sorted(KINDS.items())]
    return "".join(parts)


def _kind(entry: Entry) -> str:
    later = f"`{SUCCESSORS[entry.kind]}`" if entry.kind in SUCCESSORS else ""
    return f"| `{entry.kind}` | `{entry.path}` | {_cell(entry.summary)} | {later} |\n"


def _field(entry: Entry, field: Any) -> str:
    return f"| `{entry.kind}` | `{field.name}` | {field.unit} | {_cell(field.meaning)} |\n"


def _others(entries: list[Entry]) -> list[str]:
    """Names of `cotree` that are no kinds."""
    return sorted(set(HOME) - {entry.path.removeprefix("cotree.") for entry in entries}, key=str.lower)


def _meaning(thing: Any) -> str:
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return _cell(summary(thing))
    return _cell(summary(type(thing)))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
