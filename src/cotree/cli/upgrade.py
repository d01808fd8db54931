"""``cotree upgrade``: model files with the names of today."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cotree.cli.console import emit
from cotree.cli.options import Json, Quiet


def upgrade(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="model files in YAML or JSON, parts among them")
    ],
    dry: Annotated[bool, typer.Option("--dry-run", "-n", help="say what would change, and write nothing")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rewrite model files with names that have changed.

    Kinds and fields get their names of today; comments and layout stay. Files that others include are given, too.
    """
    from cotree.io.upgrading import upgrade_file

    told: list[dict[str, Any]] = []
    for file in files:
        changes = upgrade_file(file, write=not dry)
        told.append({"file": str(file), "changes": [vars(change) for change in changes]})
        if not as_json and not quiet:
            found = f"{len(changes)} name{'s' if len(changes) != 1 else ''} {'to change' if dry else 'changed'}"
            print(f"{file}: {found if changes else 'nothing to change'}")
            for change in changes:
                print(f"  {change}")
    if as_json:
        emit(told)


COMMANDS = {upgrade: "  cotree upgrade model.yaml\n  cotree upgrade --dry-run parts/*.yaml"}
