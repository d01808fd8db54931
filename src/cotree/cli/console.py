"""What the command line says: text for people, JSON for programs. Every error passes through `complain`."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cotree.errors import CotreeError, FileError, OptionError, SolveError

if TYPE_CHECKING:
    from rich.console import Console

FAILED, WRONG, OUTSIDE = 1, 2, 3
"""Exit codes: a computation failed, wrong input, a result that is outside its theory."""
WIDE = 1000
"""Columns of something that is no terminal: nothing is cut there."""
PLACE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+)(?::(?P<column>\d+))?|(?<=\.yaml)|(?<=\.yml)|(?<=\.json))(?=$|:)")
"""``m.yaml``, ``m.yaml:4`` or ``m.yaml:4:13`` at the beginning of a place."""


@cache
def out() -> Console:
    """Where results go."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)


@cache
def err() -> Console:
    """Where errors and the progress bar go."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def fresh() -> None:
    """Look at the terminal anew, and never fail over a letter that it cannot show."""
    out.cache_clear()
    err.cache_clear()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def heading(strong: str, text: str) -> None:
    """Print a line whose beginning is bold in a terminal."""
    if not sys.stdout.isatty():
        print(f"{strong}{text}")
        return
    from rich.markup import escape

    out().print(f"[bold]{escape(strong)}[/]{escape(text)}", soft_wrap=True)


def table(columns: Mapping[str, str], rows: Iterable[Iterable[str]]) -> None:
    """Print a table; ``columns`` gives the side to which each is aligned."""
    if not sys.stdout.isatty():
        for line in aligned(columns, [list(row) for row in rows]):
            print(line)
        return
    from rich.markup import escape
    from rich.table import Table

    made = Table(box=None, pad_edge=False, header_style="bold")
    for name, side in columns.items():
        made.add_column(name, justify="right" if side == "right" else "left", overflow="fold")
    for row in rows:
        made.add_row(*map(escape, row))
    out().print(made)


def aligned(columns: Mapping[str, str], rows: list[list[str]]) -> Iterator[str]:
    """The lines of a table as plain text."""
    every = [list(columns), *rows]
    widths = [max(len(row[k]) for row in every) for k in range(len(columns))]
    sides = [">" if side == "right" else "<" for side in columns.values()]
    for row in every:
        yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()


def written(paths: Iterable[Path | None]) -> None:
    """Say which files were written."""
    for path in paths:
        if path is not None:
            print(f"written: {path}")


def emit(data: Any) -> None:
    """Print data as JSON in letters that every stream can carry; what is not finite becomes null."""
    print(json.dumps(plain(data), indent=2))


def plain(value: Any) -> Any:
    """Data that JSON knows: no arrays, paths or numbers that are not finite."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def complain(error: BaseException, message: str = "", code: int | None = None) -> None:
    """Print an error, and its notes such as the line of the file that it is about; with a code, as one line of JSON."""
    if code is not None:
        print(json.dumps({"error": described(error, message) | {"exit_code": code}}), file=sys.stderr)
        return
    text = message or str(error)
    if sys.stderr.isatty():
        from rich.markup import escape

        err().print(f"[bold red]error:[/] {escape(text)}", soft_wrap=True)
    else:
        print(f"error: {text}", file=sys.stderr)
    for note in getattr(error, "__notes__", ()):
        print(note, file=sys.stderr)


def exit_code(error: CotreeError) -> int:
    """1 for a computation that failed or could not be written, 2 for wrong input, options of a run among it."""
    if isinstance(error, FileError):
        return WRONG if error.solution is None else FAILED
    return FAILED if isinstance(error, SolveError) and not isinstance(error, OptionError) else WRONG


def described(error: BaseException, message: str = "") -> dict[str, Any]:
    """An error as data: its parts, and file, line and column where it has them."""
    told: dict[str, Any] = {"type": type(error).__name__, "message": message or str(error)}
    if isinstance(error, CotreeError):
        place = PLACE.match(error.where)
        told |= {"file": place["file"] if place else None}
        told |= {key: int(place[key]) if place and place[key] else None for key in ("line", "column")}
        told |= {key: getattr(error, key) for key in ("where", "found", "expected", "remedy")}
        if error.others:
            told |= {"others": [described(other) for other in error.others], "more": error.more}
    return told | {"notes": list(getattr(error, "__notes__", ()))}
