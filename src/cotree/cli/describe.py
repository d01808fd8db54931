"""``cotree new``, ``cotree list`` and ``cotree schema``: how model files are written."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cotree.cli.console import emit, plain, table, written
from cotree.cli.options import Json, check_ending
from cotree.errors import CotreeError, FileError, listing, nearest

if TYPE_CHECKING:
    from cotree.io.catalogue import Entry


def new(
    template: Annotated[
        str | None, typer.Argument(metavar="TEMPLATE", help="name of a template; none: list them")
    ] = None,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="file to write; TEMPLATE.yaml if left out")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="write over a file that is there")] = False,
    as_json: Json = False,
) -> None:
    """Begin a model file from a template.

    Without a name the templates are listed.
    """
    from cotree.io.templates import TEMPLATES

    if template is None:
        if as_json:
            emit({name: each.summary for name, each in TEMPLATES.items()})
        else:
            table({"template": "left", "": "left"}, ([name, each.summary] for name, each in TEMPLATES.items()))
        return
    if template not in TEMPLATES:
        raise CotreeError(
            f"there is no template '{template}'",
            expected=f"one of {listing(TEMPLATES, 20)}",
            remedy=nearest(template, TEMPLATES),
        )
    path = file or Path(f"{template}.yaml")
    check_ending("FILE", path, ".yaml", also=".yml")
    _write(path, TEMPLATES[template].text, force)
    if as_json:
        emit({"template": template, "written": [path]})
    else:
        written([path])
        print(f"run it with: cotree run {path}")


def _write(path: Path, text: str, force: bool) -> None:
    """Write a text file; one that is there stays as it is unless it may be replaced."""
    from cotree.results.store import replacing

    if path.exists() and not force:
        raise FileError(f"{path} exists already", remedy="Choose another name, or use --force to replace it")
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def list_(
    pattern: Annotated[
        str | None, typer.Argument(metavar="PATTERN", help="a kind, or a part of its name or meaning")
    ] = None,
    integrators: Annotated[bool, typer.Option("--integrators", "-i", help="list methods of integration")] = False,
    functions: Annotated[bool, typer.Option("--functions", help="list functions of expressions")] = False,
    units: Annotated[bool, typer.Option("--units", help="list units of numbers")] = False,
    as_json: Json = False,
) -> None:
    """List components and their parameters.

    All kinds, or those that match; of one kind its parameters with unit, range, default and meaning.
    """
    from cotree.io import catalogue

    plain_lists = {catalogue.integrators: integrators, catalogue.functions: functions, catalogue.units: units}
    for read, wanted in plain_lists.items():
        if wanted:
            items = read()
            rows = ([item.name, item.meaning] for item in items)
            emit([asdict(item) for item in items]) if as_json else table({"name": "left", "": "left"}, rows)
            return
    entries = catalogue.catalogue(pattern or "")
    if not entries:
        known = [word for entry in catalogue.catalogue() for word in (entry.kind, entry.word)]
        from cotree.model.kinds import common

        remedy = common(pattern) or nearest(str(pattern), known) or "See cotree list"
        raise CotreeError(f"no component matches '{pattern}'", remedy=remedy)
    if as_json:
        emit([asdict(entry) for entry in entries])
    elif len(entries) == 1:
        _print_entry(entries[0])
    else:
        table({"kind": "left", "": "left"}, ([entry.kind, entry.summary] for entry in entries))
        print(f"{len(entries)} kinds; cotree list KIND shows the parameters of one")


def _print_entry(entry: Entry) -> None:
    print(f"{entry.kind}, in Python {entry.path}")
    print(f"{entry.text}\n")
    rows = [
        [f.name, f.takes, f.unit, f.range, "required" if f.required else _default(f.default), f.meaning]
        for f in entry.fields
    ]
    if rows:
        table(dict.fromkeys(("parameter", "takes", "unit", "range", "default", "meaning"), "left"), rows)
    for words, names in (("results", entry.results), ("ports", entry.ports)):
        if names:
            print(f"{words}: {', '.join(names)}")
    if entry.word != entry.kind:
        print(f"in a file: kind: {entry.word}")


def _default(value: Any) -> str:
    return "" if value is None else str(plain(value))


def schema(
    output: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="write it to this file: .json")
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", help="write over a file that is there")] = False,
) -> None:
    """Print the JSON Schema of model files.

    With it editors complete and check them. YAML is meant as version 1.2, where the key on is text.
    """
    from cotree.io.schema import model_schema

    check_ending("--out", output, ".json")
    text = json.dumps(model_schema(), indent=None if output is None else 1)
    if output is None:
        print(text)
        return
    _write(output, text + "\n", force)
    written([output])


COMMANDS = {
    new: """\
  cotree new
  cotree new four_bar my_mechanism.yaml""",
    list_: """\
  cotree list
  cotree list revolute
  cotree list spring --json""",
    schema: """\
  cotree schema --out model.schema.json""",
}
