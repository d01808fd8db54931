"""Files that are replaced only when the new one is complete, and tables as text for spreadsheets."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

from cotree.errors import FileError
from cotree.results.solution import Solution


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its place when the block ends well, and is removed otherwise."""
    part: Path | None = None
    try:
        part = new_part(path)
        yield part
        os.replace(part, path)
    except OSError as reason:
        raise FileError(f"cannot write {path}: {reason.strerror or reason}", remedy="Choose another place") from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def new_part(path: Path) -> Path:
    """A new empty file beside ``path``, whose name nobody can guess; what killed processes have left is removed.

    It is made only where nothing of that name exists, not even a link, so that nothing can be put in its place before.
    """
    remove_stale(path)
    how = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    import secrets

    part = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(8)}.part")
    os.close(os.open(part, how, 0o666))
    return part


def remove_stale(path: Path) -> None:
    """Remove the temporary files of processes that are gone."""
    for left in path.parent.glob(f".{_literal(path.name)}.*.part"):
        number, *more = left.name.removeprefix(f".{path.name}.").removesuffix(".part").split(".")
        if number.isascii() and number.isdigit() and len(more) <= 1 and not _alive(int(number)):
            with suppress(OSError):
                left.unlink()


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "[*?" else letter for letter in name)


def _alive(process: int) -> bool:
    """Whether there is such a process, as far as that can be told."""
    if os.name == "nt":  # where the question would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


class Sink(FileIO):
    """A file for a library that does not survive a full disk.

    The first failure is remembered, and what comes after it is held in memory and can be read, as if all were well.
    """

    failure: OSError | None = None

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w+")
        self._later: list[tuple[int, bytes]] = []

    def write(self, data: Any, /) -> int:
        """Take everything, into the file as long as that goes."""
        view = memoryview(data).cast("B")
        size, place, done = len(view), self.tell(), 0
        try:
            while done < size and self.failure is None:
                done += super().write(view[done:])
        except OSError as reason:
            self.failure = reason
        if self.failure is not None:
            self._later.append((place, bytes(view)))
        return size

    def readinto(self, buffer: Any, /) -> int:
        """What was written last at this place."""
        if self.failure is None:
            return super().readinto(buffer)
        view = memoryview(buffer).cast("B")
        view[:] = bytes(len(view))
        first = self.tell()
        super().readinto(view)
        for place, data in self._later:
            low, high = max(place, first), min(place + len(data), first + len(view))
            if low < high:
                view[low - first : high - first] = data[low - place : high - place]
        return len(view)

    def truncate(self, size: int | None = None, /) -> int:
        """Change the length, as long as that goes."""
        try:
            return super().truncate(size) if self.failure is None else size or 0
        except OSError as reason:
            self.failure = reason
            return size or 0


def write_csv(solution: Solution, path: Path, names: Sequence[str]) -> Path:
    """One header line with units, then one line for each time, with all digits."""
    columns = [solution.t, *(solution[name] for name in names)]
    header = ["t [s]", *(f"{name} [{solution.unit(name)}]" for name in names)]
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))
    return path
