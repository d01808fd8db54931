"""One process at a time writes to a results file."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from cotree.errors import FileError


class Lock:
    """Held while a results file is written, by a file ``.run.h5.lock`` beside it.

    The system lets go of it when the process ends, whatever ends it; a file that is left then holds nothing. Where a
    file system knows no locks, there is none. A lock that is held can be taken again by the same object.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._file, self._depth = path, -1, 0

    @property
    def place(self) -> Path:
        """The file that is locked."""
        return self.path.with_name(f".{self.path.name}.lock")

    def __enter__(self) -> Self:
        if not self._depth:
            self._file = self._taken()
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if not self._depth and self._file >= 0:
            _remove(self.place, self._file)
            self._file = -1

    def _taken(self) -> int:
        """The open file of the lock; one that its last holder has removed meanwhile is not used."""
        how = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        while True:
            try:
                file = os.open(self.place, how, 0o600)
            except OSError as reason:
                found = "a link stands there" if reason.errno == errno.ELOOP else reason.strerror
                raise FileError(
                    f"cannot write {self.path}: its lock {self.place.name} cannot be made: {found}",
                    remedy="Remove it, or choose another place",
                ) from None
            try:
                if not _locked(file):
                    raise FileError(
                        f"cannot write {self.path}: another run is writing to it",
                        remedy="Wait for its end, or choose another file",
                    )
                if _same(file, self.place):
                    return file
            except BaseException:
                os.close(file)
                raise
            os.close(file)


def _same(file: int, path: Path) -> bool:
    """Whether an open file is the one that stands at a path."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path, follow_symlinks=False))
    except OSError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _locked(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _remove(path: Path, file: int) -> None:
        os.close(file)
        try:
            path.unlink()
        except OSError:  # another process has opened it by now
            return
else:
    import fcntl

    def _locked(file: int) -> bool:
        """Whether the lock was free; True, too, where the file system has no locks."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as reason:
            return reason.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN)
        return True

    def _remove(path: Path, file: int) -> None:
        """Remove the file while it is locked, so that nobody can lock it in between."""
        try:
            path.unlink()
        except OSError:
            pass
        finally:
            os.close(file)
