"""Solutions as HDF5 files that explain themselves; also those that a run is still writing, or was killed while writing.

t, values[time, name], names, units      the results, in SI units
energy/stored, dissipated, supplied      the energy audit
events/names, which, t, values           all results at the times of events
model, tree, options, versions           what the run was made from, as JSON; the model is a model file
description                              states, parameters, statistics and notes, as JSON
progress, restart/text, restart/numbers  of an unfinished run: how much is written, and where it goes on
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FileError
from cotree.results.energy import EnergyAudit
from cotree.results.origin import Origin
from cotree.results.restart import Restart
from cotree.results.signals import held
from cotree.results.solution import Solution, Statistics
from cotree.results.store import Sink, replacing
from cotree.system import Diagnostic, from_data

S = TypeVar("S", bound=Solution)
Array = NDArray[np.float64]

FORMAT, FIRST_FORMAT = "cotree solution 2", "cotree solution 1"
ABOUT = (
    "Results of a Cotree run in SI units: values[k, j] is the result names[j] in units[j] at the time t[k]. The model, "
    "the tree, the options and the versions are JSON text; the model can be saved as a .json model file. In the file "
    "of a run that has not ended, only as many rows hold results as the dataset progress says."
)
PROGRESS = ("number", "rows", "events", "text", "numbers", "check")
"""What a row of ``progress`` says: the later of two rows whose check is right counts."""
ENERGIES = ("stored", "dissipated", "supplied")
BLOCK = 4096
"""Rows that are turned at once, so that a large solution is not held twice."""
WIDE, CHUNK = 128, 8192
"""Names, and numbers, in one chunk of the values."""
BROKEN = (OSError, KeyError, ValueError, TypeError, AttributeError, IndexError, RuntimeError, MemoryError)
"""What h5py and numpy raise for files that are no solutions."""


def write_hdf5(solution: Solution, path: Path) -> Path:
    """The whole solution; an older file is replaced when the new one is complete."""
    with replacing(path) as part, writing(part) as file:
        describe(file, solution)
        file.create_dataset("t", data=solution.t)
        rows, columns = len(solution.t), max(len(solution.values), 1)
        wide = min(columns, WIDE)
        chunks = (max(1, min(rows, CHUNK // wide)), wide) if rows else None
        values = file.create_dataset("values", (rows, columns), float, chunks=chunks)
        for first, after in _blocks(rows):
            values[first:after, : len(solution.values)] = table(solution, first, after)
        for name in ENERGIES:
            file.create_dataset(f"energy/{name}", data=getattr(solution.audit, name))
        which, t, results = event_table(solution)
        file["events/which"], file["events/t"], file["events/values"] = which, t, results
        if solution.restart is not None:
            text, numbers = solution.restart.packed()
            file["restart/text"], file["restart/numbers"] = np.frombuffer(text, np.uint8), numbers
        explain(file)
    return path


@contextmanager
def writing(path: Path) -> Iterator[h5py.File]:
    """A new file; where it cannot be written, one OSError at the end, as the library itself would crash later."""
    with held(), Sink(path) as sink:
        try:
            with h5py.File(sink, "w", locking=False, libver="latest") as file:
                yield file
        except Exception:
            if sink.failure is None:
                raise
        if sink.failure is not None:
            raise sink.failure


def describe(file: h5py.File, solution: Solution) -> None:
    """Everything that is not a number over time."""
    valued = solution.event_values
    description = {
        "model": solution.model,
        "states": solution.states,
        "inner": solution.inner,
        "held": solution.held,
        "diagnostics": [each.to_data() for each in solution.diagnostics],
        "complete": solution.complete,
        "start_energy": solution.audit.start,
        "kinetic": solution.audit.kinetic,
        "rounding": solution.audit.rounding,
        "statistics": asdict(solution.statistics),
        "parameters": dict(solution.parameters),
        "times": {name: np.asarray(t).tolist() for name, t in solution.events.items() if name not in valued},
    }
    file.attrs["format"], file.attrs["about"] = fixed(FORMAT), ABOUT
    file["description"] = fixed(json.dumps(description, indent=1, ensure_ascii=False))  # attributes end at 64 kB
    origin = solution.origin
    if origin is not None:
        parts = {key: getattr(origin, key) for key in ("model", "why_not", "tree", "options", "versions")}
        for key, part in parts.items():
            file[key] = fixed(json.dumps(part, indent=1, ensure_ascii=False))
    for key, texts in (("names", solution.values), ("units", [solution.units[name] for name in solution.values])):
        file[key] = fixed(list(texts))
    file["events/names"] = fixed(list(valued))


def fixed(texts: str | list[str]) -> NDArray[Any]:
    """Text of fixed length, which is kept with the data: a spoilt heap of texts can hang the library."""
    data: Any = texts.encode() if isinstance(texts, str) else [text.encode() for text in texts]
    longest = max([len(data)] if isinstance(data, bytes) else map(len, data), default=0)
    return np.array(data, dtype=h5py.string_dtype("utf-8", max(longest, 1)))


def explain(file: h5py.File) -> None:
    """Units, and what the axes of the values are."""
    file["t"].attrs["unit"] = "s"
    file["t"].make_scale("time")
    file["names"].make_scale("name")
    for place, (key, label) in enumerate((("t", "time"), ("names", "name"))):
        file["values"].dims[place].label = label
        file["values"].dims[place].attach_scale(file[key])
    for name in ENERGIES:
        file["energy"][name].attrs["unit"] = "J"


def table(solution: Solution, first: int, after: int) -> Array:
    """Some rows of the values, one column for each name."""
    columns = [values[first:after] for values in solution.values.values()]
    return np.column_stack(columns) if columns else np.zeros((after - first, 0))


def event_table(solution: Solution) -> tuple[NDArray[np.int64], Array, Array]:
    """Numbers and times of the events in the order of their names, and all results, one row for each."""
    which, times, rows = [], [np.zeros(0)], [np.zeros((0, len(solution.values)))]
    for number, (name, values) in enumerate(solution.event_values.items()):
        count = len(solution.events[name])
        which += [number] * count
        times.append(np.asarray(solution.events[name]))
        rows.append(np.column_stack([values[key] for key in solution.values]) if count else rows[0])
    return np.array(which, dtype=np.int64), np.concatenate(times), np.vstack(rows)


def checked(progress: list[int]) -> list[int]:
    """A row of ``progress`` with its check."""
    return [*progress, zlib.crc32(np.array(progress, dtype="<i8").tobytes())]


def read_hdf5(path: Path, kind: type[S]) -> S:
    """The solution stored in a file, as an object of this class, or a `FileError`."""
    expected = "a results file of Cotree, such as `cotree run --out run.h5` writes"
    if not path.exists():
        raise FileError(f"there is no file {path}", expected=expected)
    try:
        with h5py.File(path, "r", locking=False) as file:
            found = _said(file.attrs.get("format"))
            if found not in (FORMAT, FIRST_FORMAT):
                raise FileError(f"{path} is not a Cotree solution", expected=f"a file of the format '{FORMAT}'")
            return _read(file, kind) if found == FORMAT else _read_first(file, kind)
    except BROKEN as reason:
        raise FileError(f"cannot read {path}: {_short(reason)}", expected=expected) from None


def holds_rows(path: Path) -> bool:
    """Whether a file is anything but one that announces a run, so that it must not be replaced without need."""
    if not path.exists():
        return False
    try:
        with h5py.File(path, "r", locking=False) as file:
            return _said(file.attrs.get("format")) != FORMAT or bool(len(file["t"]))
    except BROKEN:
        return True


def _short(reason: BaseException) -> str:
    return str(reason).partition("\n")[0][:200] or type(reason).__name__


def _read(file: h5py.File, kind: type[S]) -> S:
    said = json.loads(_text(file, "description"))
    names, units = (tuple(file[key].asstr()[()]) for key in ("names", "units"))
    rows, hits, restart = len(file["t"]), len(file["events/t"]), None
    if "progress" in file:
        rows, hits, restart = _progress(file)
    elif "restart" in file:
        restart = Restart.unpacked(bytes(file["restart/text"][()]), file["restart/numbers"][()])
    values = np.empty((len(names), rows))
    for first, after in _blocks(rows):
        values[:, first:after] = file["values"][first:after, : len(names)].T
    by_name = dict(zip(names, values, strict=True))
    t = file["t"][:rows]
    energies = {name: file["energy"][name][:rows] for name in ENERGIES}
    times, statistics, kinetic = said["times"], said["statistics"], said["kinetic"]
    rounding = float(said.get("rounding", 0.0))
    if "progress" in file and restart is not None:
        times = restart.said.get("closings", times)
        statistics |= {key: restart.said[key] for key in statistics if key in restart.said}
        kinetic = None if kinetic is None else float(by_name["kinetic_energy"].max(initial=0.0))
    which, when, results = file["events/which"][:hits], file["events/t"][:hits], file["events/values"][:hits]
    own = {name: which == k for k, name in enumerate(file["events/names"].asstr()[()])}
    return kind(
        model=said["model"],
        t=t,
        values=by_name,
        units=dict(zip(names, units, strict=True)),
        audit=EnergyAudit(t, **energies, start=said["start_energy"], kinetic=kinetic, rounding=rounding),
        statistics=Statistics(**statistics),
        parameters=said["parameters"],
        states=tuple(said["states"]),
        inner=tuple(said["inner"]),
        held=tuple(said.get("held", ())),
        diagnostics=_diagnostics(said),
        complete=bool(said["complete"]),
        events={name: when[here] for name, here in own.items()} | {k: np.array(each) for k, each in times.items()},
        event_values={
            name: {key: results[here, k] for k, key in enumerate(names)} for name, here in own.items()
        },
        origin=_origin(file),
        restart=restart,
    )  # fmt: skip


def _progress(file: h5py.File) -> tuple[int, int, Restart]:
    """Rows, events, and where the run goes on, from the later of the two places that are whole."""
    good = [each for each in file["progress"][()].tolist() if checked(each[:-1])[-1] == each[-1] and each[0] > 0]
    if not good:
        raise ValueError("nothing was written completely")
    number, rows, hits, text, numbers, _ = max(good)
    slot = number % 2
    packed = bytes(file["restart/text"][slot, :text]), file["restart/numbers"][slot, :numbers]
    return rows, hits, Restart.unpacked(*packed)


def _origin(file: h5py.File) -> Origin | None:
    if "model" not in file:
        return None
    parts: dict[str, Any] = {
        key: json.loads(_text(file, key)) for key in ("model", "why_not", "tree", "options", "versions")
    }
    return Origin(**parts)


def _diagnostics(said: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """What the run has said, in files of the first version as texts."""
    return tuple(from_data(each) for each in said.get("diagnostics", said.get("notes", ())))


def _said(found: Any) -> Any:
    """An attribute as text, whether it has a fixed length or, as in the first format, not."""
    return found.decode() if isinstance(found, bytes) else found


def _text(file: h5py.File, key: str) -> str:
    return str(file[key].asstr()[()])


def _read_first(file: h5py.File, kind: type[S]) -> S:
    """A file of the first format, with one dataset for each name."""
    said: Mapping[str, Any] = json.loads(_text(file, "description"))
    t = np.asarray(file["t"])
    energy: dict[str, Any] = {name: np.asarray(file["energy"][name]) for name in ENERGIES}
    return kind(
        model=said["model"],
        t=t,
        values={name: np.asarray(file["values"][name]) for name in said["names"]},
        units={name: str(file["values"][name].attrs["unit"]) for name in said["names"]},
        audit=EnergyAudit(t, **energy, start=said["start_energy"], kinetic=said.get("kinetic")),
        statistics=Statistics(**said["statistics"]),
        parameters=said["parameters"],
        states=tuple(said["states"]),
        diagnostics=_diagnostics(said),
        complete=said["complete"],
        events={name: np.array(times) for name, times in said.get("events", {}).items()},
        event_values={
            name: {result: np.array(values) for result, values in found.items()}
            for name, found in said.get("event_values", {}).items()
        },
    )


def _blocks(rows: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + BLOCK, rows)) for first in range(0, rows, BLOCK))
