"""The file of a run while it goes on: it can be read at any moment, whatever happens to the process.

It is a whole HDF5 file before its first row is written. Room for all rows is laid out at once, which costs no space on
the disk until it is used, and rows are then written into their places past the HDF5 library. So nothing of the file's
structure ever changes, and a process that is killed leaves it as it was. Last of all ``progress`` says how many rows
count. It has two places, used in turn, each with a check, so that half a write does no harm.
"""

from __future__ import annotations

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from cotree.results import checks
from cotree.results.hdf5 import ENERGIES, PROGRESS, checked, describe, explain, writing
from cotree.results.restart import Restart
from cotree.results.solution import Solution
from cotree.results.store import new_part

Array = NDArray[np.float64]

SPARE = 2
"""How much more room than needed is laid out for events and the state."""
EVENTS = 64
"""Events for which there is room at first."""
AT_ONCE = 1 << 24
"""Bytes that are copied at once."""


class Journal:
    """Rows, events and the state of a run on their way into a file, which takes its place when some of them count.

    All methods raise OSError where writing is impossible; what counted before still does then.
    """

    def __init__(self, path: Path, head: Solution, rows: int, restart: Restart) -> None:
        text, numbers = restart.packed()
        self.path, self.head = path, head
        self.room = {
            "rows": rows,
            "events": EVENTS,
            "text": SPARE * len(text) + 4096,
            "numbers": SPARE * len(numbers) + 64,
        }
        self.number = 0
        self._filled = {"rows": 0, "events": 0}
        self._places: dict[str, tuple[int, int]] = {}
        self._file: FileIO | None = None
        self._parts: list[Path] = []
        """Files that have not taken their place; the last one is written."""
        try:
            self._lay_out({})
        except BaseException:
            self.close()
            raise

    def put_rows(self, row: int, *parts: Array) -> None:
        """Write rows from a number on: times, values with one row for each time, and three columns of energies."""
        for key, part in zip(("t", "values", *(f"energy/{name}" for name in ENERGIES)), parts, strict=True):
            self._put(key, row, part)
        self._put("check/rows", row, checks.row_checks(row, *parts))
        self._filled["rows"] = max(self._filled["rows"], row + len(parts[0]))

    def put_events(self, event: int, *parts: Any) -> None:
        """Write events from a number on: which they are, times, and values with one row for each."""
        after = event + len(parts[0])
        self._lay_out({"events": after})
        for key, part in zip(("which", "t", "values"), parts, strict=True):
            self._put(f"events/{key}", event, part)
        self._put("check/events", event, checks.row_checks(event, *parts))
        self._filled["events"] = max(self._filled["events"], after)

    def commit(self, rows: int, events: int, restart: Restart) -> None:
        """Write where the run could go on, and then that so many rows and events count."""
        text, numbers = restart.packed()
        self._lay_out({"text": len(text), "numbers": len(numbers)})
        self.number += 1
        slot = self.number % 2
        self._put("restart/text", slot, np.frombuffer(text, np.uint8))
        self._put("restart/numbers", slot, numbers)
        counts = [self.number, rows, events, len(text), len(numbers), checks.state_check(text, numbers)]
        self._put("progress", slot, np.array(checked(counts)))
        if self._parts:
            self._take_place()

    def close(self) -> None:
        """Let go of the file; one that has not taken its place is removed."""
        if self._file is not None:
            self._file.close()
        self._file = None
        self._remove(self._parts)

    def _remove(self, parts: list[Path]) -> None:
        for part in parts:
            with suppress(OSError):
                part.unlink()
        self._parts = [part for part in self._parts if part not in parts]

    def _lay_out(self, wanted: dict[str, int]) -> None:
        """Lay out a file with enough room where there is none yet, and carry over what an earlier one holds."""
        old = self._file
        if old is not None and all(count <= self.room[key] for key, count in wanted.items()):
            return
        self.room |= {key: SPARE * count for key, count in wanted.items() if count > self.room[key]}
        width = max(len(self.head.values), 1)
        rows, events = self.room["rows"], self.room["events"]
        shapes: dict[str, tuple[tuple[int, ...], str]] = {
            "t": ((rows,), "<f8"),
            "values": ((rows, width), "<f8"),
            **{f"energy/{name}": ((rows,), "<f8") for name in ENERGIES},
            "events/which": ((events,), "<i8"),
            "events/t": ((events,), "<f8"),
            "events/values": ((events, width), "<f8"),
            "check/rows": ((rows,), "<u4"),
            "check/events": ((events,), "<u4"),
            "restart/text": ((2, self.room["text"]), "<u1"),
            "restart/numbers": ((2, self.room["numbers"]), "<f8"),
            "progress": ((2, len(PROGRESS)), "<i8"),
        }
        before, part = self._parts, new_part(self.path)
        self._parts = [*before, part]
        with writing(part) as file:
            describe(file, self.head)
            for key, (shape, kind) in shapes.items():
                _laid_out(file, key, shape, kind)
            explain(file)
            file["progress"].attrs["about"] = f"two rows of {', '.join(PROGRESS)}; the larger number counts"
            places = {key: (file[key].id.get_offset(), _row_bytes(file[key])) for key in shapes}
        new = FileIO(part, "r+")
        if old is not None:
            self._carry(old, new, places)
            old.close()
            self._remove(before)
        self._file, self._places = new, places

    def _carry(self, old: FileIO, new: FileIO, places: dict[str, tuple[int, int]]) -> None:
        """Copy the rows and events that were written before."""
        for key, (offset, size) in self._places.items():
            if key.startswith(("restart", "progress")):
                continue
            left = self._filled["events" if "events" in key else "rows"] * size
            old.seek(offset)
            new.seek(places[key][0])
            while left and (piece := old.read(min(left, AT_ONCE))):
                new.write(piece)
                left -= len(piece)

    def _take_place(self) -> None:
        """Let the new file be the one that others see; it is closed for that, as some systems want it."""
        assert self._file is not None
        self._file.close()
        os.replace(self._parts[-1], self.path)
        self._parts = []
        self._file = FileIO(self.path, "r+")

    def _put(self, key: str, row: int, part: NDArray[Any]) -> None:
        offset, size = self._places[key]
        assert self._file is not None
        self._file.seek(offset + row * size)
        kind = {"which": "<i8", "progress": "<i8", "text": "<u1", "rows": "<u4", "events": "<u4"}.get(
            key.rpartition("/")[2], "<f8"
        )
        view = memoryview(np.ascontiguousarray(part, dtype=kind).tobytes())
        while len(view):  # a full disk takes a part of it first
            view = view[self._file.write(view) :]


def _laid_out(file: h5py.File, key: str, shape: tuple[int, ...], kind: str) -> None:
    """A dataset in one block of the file, whose bytes are not touched."""
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_layout(h5py.h5d.CONTIGUOUS)
    how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    how.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    group = file.require_group(key.rpartition("/")[0] or "/")
    space, numbers = h5py.h5s.create_simple(shape), h5py.h5t.py_create(np.dtype(kind))
    h5py.h5d.create(group.id, key.rpartition("/")[2].encode(), numbers, space, dcpl=how)


def _row_bytes(dataset: h5py.Dataset) -> int:
    """Bytes from one row to the next."""
    return int(np.prod(dataset.shape[1:], dtype=int)) * int(dataset.dtype.itemsize)
