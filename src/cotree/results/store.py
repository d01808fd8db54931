"""Files that are replaced only when the new one is complete, and tables as text for spreadsheets."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cotree.errors import FileError
from cotree.results.solution import Solution


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place when the block ends well, and is removed otherwise."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, path)
    except OSError as reason:
        raise FileError(f"cannot write {path}: {reason.strerror or reason}", remedy="Choose another place") from None
    finally:
        part.unlink(missing_ok=True)


def write_csv(solution: Solution, path: Path, names: Sequence[str]) -> Path:
    """One header line with units, then one line for each time, with all digits."""
    columns = [solution.t, *(solution[name] for name in names)]
    header = ["t [s]", *(f"{name} [{solution.unit(name)}]" for name in names)]
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
    return path
