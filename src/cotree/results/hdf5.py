"""Solutions as HDF5 files that explain themselves; also those that a run is still writing, or was killed while writing.

t, values[time, name], names, units      the results, in SI units
energy/stored, dissipated, supplied      the energy audit
events/names, which, t, values           all results at the times of events
model, tree, options, versions           what the run was made from, as JSON; the model is a model file
description                              states, parameters, statistics and notes, as JSON
progress, restart/text, restart/numbers  of an unfinished run: how much is written, and where it goes on
check/rows, events, head, restart        checksums, see `cotree.results.checks`
"""

from __future__ import annotations

import json
import time
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
from cotree.results import checks
from cotree.results.checks import own
from cotree.results.energy import EnergyAudit
from cotree.results.lock import Lock
from cotree.results.origin import Origin
from cotree.results.restart import Restart
from cotree.results.signals import held
from cotree.results.solution import Solution, Statistics
from cotree.results.store import Sink, replacing
from cotree.system import Diagnostic, from_data

S = TypeVar("S", bound=Solution)
Array = NDArray[np.float64]

FORMAT, UNCHECKED, FIRST_FORMAT = (f"cotree solution {number}" for number in (3, 2, 1))
ABOUT = (
    "Results of a Cotree run in SI units: values[k, j] is the result names[j] in units[j] at the time t[k]. The model, "
    "the tree, the options and the versions are JSON text; the model can be saved as a .json model file. In the file "
    "of a run that has not ended, only as many rows hold results as the dataset progress says."
)
PROGRESS = ("number", "rows", "events", "text", "numbers", "state", "check")
"""What a row of ``progress`` says: the later of two rows whose check is right counts."""
ENERGIES = ("stored", "dissipated", "supplied")
NUMBERS = ("t", "values", *(f"energy/{name}" for name in ENERGIES), "events/which", "events/t", "events/values")
BLOCK = 4096
"""Rows that are turned at once, so that a large solution is not held twice."""
WIDE, CHUNK = 128, 8192
"""Names, and numbers, in one chunk of the values."""
BROKEN = (OSError, KeyError, ValueError, TypeError, AttributeError, IndexError, RuntimeError, MemoryError)
"""What h5py and numpy raise for files that are no solutions."""
TRIES = 3
"""How often a file is read whose run is going on, as its state may be written anew in between."""


def write_hdf5(solution: Solution, path: Path, lock: Lock | None = None) -> Path:
    """The whole solution; an older file is replaced when the new one is complete, unless a run is writing to it."""
    with lock or Lock(path), replacing(path) as part, writing(part) as file:
        describe(file, solution)
        file.create_dataset("t", data=solution.t)
        rows, columns = len(solution.t), max(len(solution.values), 1)
        wide = min(columns, WIDE)
        chunks = (max(1, min(rows, CHUNK // wide)), wide) if rows else None
        values = file.create_dataset("values", (rows, columns), float, chunks=chunks)
        for first, after in _blocks(rows):
            values[first:after, : len(solution.values)] = table(solution, first, after)
        file["check/rows"] = np.concatenate([np.zeros(0, np.uint32), *_row_checks(solution)])
        for name in ENERGIES:
            file.create_dataset(f"energy/{name}", data=getattr(solution.audit, name))
        which, t, results = event_table(solution)
        file["events/which"], file["events/t"], file["events/values"] = which, t, results
        file["check/events"] = checks.row_checks(0, which, t, results)
        if solution.restart is not None:
            text, numbers = solution.restart.packed()
            file["restart/text"], file["restart/numbers"] = np.frombuffer(text, np.uint8), numbers
            file["check/restart"] = checks.state_check(text, numbers)
        explain(file)
    return path


def _row_checks(solution: Solution) -> Iterator[NDArray[np.uint32]]:
    energies = [getattr(solution.audit, name) for name in ENERGIES]
    for first, after in _blocks(len(solution.t)):
        audit = (each[first:after] for each in energies)
        yield checks.row_checks(first, solution.t[first:after], table(solution, first, after), *audit)


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
    texts: dict[str, str | list[str]] = {"description": _json(description)}  # attributes end at 64 kB
    origin = solution.origin
    if origin is not None:
        texts |= {key: _json(getattr(origin, key)) for key in ("model", "why_not", "tree", "options", "versions")}
    texts["names"], texts["units"] = list(solution.values), [solution.units[name] for name in solution.values]
    texts["events/names"] = list(valued)
    for key, each in texts.items():
        file[key] = fixed(each)
    file["check/head"] = fixed(checks.text_check(texts))


def _json(data: Any) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False)


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
    """A row of ``progress`` with its check; rows of older files have one number less."""
    return [*progress, zlib.crc32(np.array(progress, dtype="<i8").tobytes())]


def read_hdf5(path: Path, kind: type[S]) -> S:
    """The solution stored in a file, as an object of this class, or a `FileError`."""
    expected = "a results file of Cotree, such as `cotree run --out run.h5` writes"
    if not path.exists():
        raise FileError(f"there is no file {path}", expected=expected)
    if not path.is_file():
        raise FileError(f"{path} is no file", expected=expected)
    for left in reversed(range(TRIES)):
        going = False
        try:
            with h5py.File(path, "r", locking=False) as file:
                going = bool(left) and "progress" in file
                found = _said(file.attrs.get("format"))
                if found not in (FORMAT, UNCHECKED, FIRST_FORMAT):
                    raise FileError(f"{path} is not a Cotree solution", expected=f"a file of the format '{FORMAT}'")
                if found == FIRST_FORMAT:
                    return _read_first(file, kind)
                return _read(file, kind, sealed=found == FORMAT)
        except BROKEN as reason:
            if not going:
                raise FileError(f"cannot read {path}: {_short(reason)}", expected=expected) from None
            time.sleep(0.05)
    raise AssertionError("the last try returns or raises")


def holds_rows(path: Path) -> bool:
    """Whether a file is anything but one that announces a run, so that it must not be replaced without need."""
    if not path.exists():
        return False
    try:
        with h5py.File(path, "r", locking=False) as file:
            return _said(file.attrs.get("format")) not in (FORMAT, UNCHECKED) or bool(len(own(file, "t")))
    except BROKEN:
        return True


def _short(reason: BaseException) -> str:
    text = str(reason.args[0]) if isinstance(reason, KeyError) and reason.args else str(reason)
    return text.partition("\n")[0][:200].rstrip(".") or type(reason).__name__


def _read(file: h5py.File, kind: type[S], sealed: bool) -> S:
    texts = {key: _text(file, key) for key in checks.TEXTS if key in file}
    if sealed and text_digest(texts) != _text(file, "check/head"):
        raise ValueError("it is damaged: its texts are not as they were written")
    said = _description(texts, ("times", "inner", "kinetic"))
    names, units, valued = (tuple(texts[key]) for key in ("names", "units", "events/names"))
    if len(set(names)) < len(names):
        raise ValueError("two results have the same name")
    datasets = {key: own(file, key) for key in NUMBERS}
    rows, hits, restart = len(datasets["t"]), len(datasets["events/t"]), None
    going = "progress" in file
    if going:
        rows, hits, restart = _progress(file)
    elif "restart" in file:
        restart = _restart(file, sealed)
    t = _floats(datasets["t"], rows)
    energies = {name: _floats(datasets[f"energy/{name}"], rows) for name in ENERGIES}
    values = np.empty((len(names), rows))
    for first, after in _blocks(rows):
        block = datasets["values"][first:after, : len(names)]
        if sealed:
            audit = (each[first:after] for each in energies.values())
            seal = own(file, "check/rows")[first:after]
            checks.compare(first, seal, t[first:after], block, *audit, what="row")
        values[:, first:after] = block.T
    by_name = dict(zip(names, values, strict=True))
    times, statistics, kinetic = said["times"], said["statistics"], said["kinetic"]
    if going and restart is not None:
        times = restart.said.get("closings", times)
        statistics |= {key: restart.said[key] for key in statistics if key in restart.said}
        kinetic = None if kinetic is None else float(by_name["kinetic_energy"].max(initial=0.0))
    which, when, results = (datasets[f"events/{key}"][:hits] for key in ("which", "t", "values"))
    results = results[:, : len(names)]
    if sealed:
        checks.compare(0, own(file, "check/events")[:hits], which, when, results, what="event")
    own_events = {name: which == k for k, name in enumerate(valued)}
    if hits and not (which.min() >= 0 and which.max() < len(valued)):
        raise ValueError("an event has no name")
    return kind(
        model=said["model"],
        t=t,
        values=by_name,
        units=dict(zip(names, units, strict=True)),
        audit=EnergyAudit(
            t, **energies, start=said["start_energy"], kinetic=kinetic, rounding=float(said.get("rounding", 0.0))
        ),
        statistics=_statistics(statistics),
        parameters=said["parameters"],
        states=tuple(said["states"]),
        inner=tuple(said["inner"]),
        held=tuple(said.get("held", ())),
        diagnostics=_diagnostics(said),
        complete=said["complete"],
        events={name: when[here] for name, here in own_events.items()}
        | {name: np.array(each, dtype=float) for name, each in times.items()},
        event_values={
            name: {key: results[here, k] for k, key in enumerate(names)} for name, here in own_events.items()
        },
        origin=_origin(texts),
        restart=restart,
    )


def text_digest(texts: Mapping[str, Any]) -> str:
    """The digest of texts as a file holds them."""
    return checks.text_check({key: list(each) if isinstance(each, tuple) else each for key, each in texts.items()})


def _floats(dataset: h5py.Dataset, rows: int) -> Array:
    """The first numbers of a column, of which there must be enough."""
    found = np.asarray(dataset[:rows], dtype=float)
    if found.shape != (rows,):
        raise ValueError(f"'{dataset.name.removeprefix('/')}' holds {found.shape} numbers, where {rows} are expected")
    return found


def _progress(file: h5py.File) -> tuple[int, int, Restart]:
    """Rows, events, and where the run goes on, from the later of the two places that are whole."""
    good = [each for each in own(file, "progress")[()].tolist() if checked(each[:-1])[-1] == each[-1] and each[0] > 0]
    for number, rows, hits, text, numbers, *state in sorted(good, reverse=True):
        slot = number % 2
        packed = own(file, "restart/text")[slot, :text].tobytes(), own(file, "restart/numbers")[slot, :numbers]
        if len(state) == 1 or checks.state_check(*packed) == state[0]:
            return rows, hits, Restart.unpacked(*packed)
    raise ValueError("nothing was written completely")


def _restart(file: h5py.File, sealed: bool) -> Restart:
    packed = own(file, "restart/text")[()].tobytes(), own(file, "restart/numbers")[()]
    if sealed and checks.state_check(*packed) != int(own(file, "check/restart")[()]):
        raise ValueError("it is damaged: the state of the run is not as it was written")
    return Restart.unpacked(*packed)


def _description(texts: Mapping[str, Any], needed: tuple[str, ...]) -> dict[str, Any]:
    if "description" not in texts:
        raise KeyError("it has no 'description'")
    always = ("model", "states", "complete", "start_energy", "statistics", "parameters")
    return checks.read_types(json.loads(texts["description"]), checks.DESCRIPTION, (*always, *needed), "description")


def _statistics(found: Mapping[str, Any]) -> Statistics:
    """What a run has cost; every number is one."""
    for key, value in found.items():
        if not (checks.text(value) if key == "integrator" else checks.maybe(checks.number)(value)):
            raise ValueError(f"the entry '{key}' of 'statistics' cannot be {str(value)[:60]!r}")
    return Statistics(**found)


def _origin(texts: Mapping[str, Any]) -> Origin | None:
    if "model" not in texts:
        return None
    parts = {key: json.loads(texts[key]) for key in checks.ORIGIN}
    return Origin(**checks.read_types(parts, checks.ORIGIN, (), "origin"))


def _diagnostics(said: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """What the run has said, in files of the first version as texts; each can be shown."""
    found = tuple(from_data(each) for each in said.get("diagnostics", said.get("notes", ())))
    return found if all(each.text or True for each in found) else ()


def _said(found: Any) -> Any:
    """An attribute as text, whether it has a fixed length or, as in the first format, not."""
    return found.decode() if isinstance(found, bytes) else found


def _text(file: h5py.File, key: str) -> Any:
    """A text, or several of them."""
    found = own(file, key).asstr()[()]
    return found if isinstance(found, str) else tuple(str(each) for each in found)


def _read_first(file: h5py.File, kind: type[S]) -> S:
    """A file of the first format, with one dataset for each name."""
    said = _description({"description": _text(file, "description")}, ("names",))
    t = np.asarray(own(file, "t"), dtype=float)
    energy: dict[str, Any] = {name: _floats(own(file, f"energy/{name}"), len(t)) for name in ENERGIES}
    values = {name: own(_folder(file, "values"), name) for name in said["names"]}
    return kind(
        model=said["model"],
        t=t,
        values={name: _floats(each, len(t)) for name, each in values.items()},
        units={name: str(each.attrs["unit"]) for name, each in values.items()},
        audit=EnergyAudit(t, **energy, start=said["start_energy"], kinetic=said.get("kinetic")),
        statistics=_statistics(said["statistics"]),
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


def _folder(file: h5py.File, name: str) -> h5py.Group:
    """A group of the file itself."""
    if not isinstance(file.get(name, getlink=True), h5py.HardLink) or not isinstance(file[name], h5py.Group):
        raise ValueError(f"'{name}' is a link to another place, and links are not followed")
    return file[name]


def _blocks(rows: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + BLOCK, rows)) for first in range(0, rows, BLOCK))
