"""Solutions on disk: CSV for spreadsheets, HDF5 for keeping. Files are replaced only when the new one is complete."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from cotree.errors import FileError
from cotree.results.energy import EnergyAudit
from cotree.results.solution import Solution, Statistics

if TYPE_CHECKING:
    import h5py

FORMAT = "cotree solution 1"
S = TypeVar("S", bound=Solution)


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


def write_hdf5(solution: Solution, path: Path) -> Path:
    """Times, values with units, energies, parameters and statistics."""
    import h5py

    with replacing(path) as part, h5py.File(part, "w") as file:
        file.attrs["format"] = FORMAT
        description = {
            "model": solution.model,
            "names": solution.names,
            "states": solution.states,
            "notes": solution.notes,
            "complete": solution.complete,
            "start_energy": solution.audit.start,
            "kinetic": solution.audit.kinetic,
            "events": {name: list(map(float, times)) for name, times in solution.events.items()},
            "event_values": {
                name: {result: np.asarray(values).tolist() for result, values in found.items()}
                for name, found in solution.event_values.items()
            },
            "statistics": asdict(solution.statistics),
            "parameters": dict(solution.parameters),
        }
        file["description"] = json.dumps(description)  # a dataset, since attributes end at 64 kB
        file.create_dataset("t", data=solution.t).attrs["unit"] = "s"
        values = file.create_group("values")
        for name in solution.names:
            values.create_dataset(name, data=solution[name]).attrs["unit"] = solution.unit(name)
        energy = file.create_group("energy")
        for part_name in ("stored", "dissipated", "supplied"):
            energy.create_dataset(part_name, data=getattr(solution.audit, part_name)).attrs["unit"] = "J"
    return path


def read_hdf5(path: Path, kind: type[S]) -> S:
    """The solution stored in a file, as an object of this class, or a `FileError`."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if file.attrs.get("format") != FORMAT:
                raise FileError(f"{path} is not a Cotree solution", expected=f"a file of the format '{FORMAT}'")
            return _read(file, kind)
    except (OSError, KeyError, ValueError, TypeError) as reason:
        raise FileError(f"cannot read {path}: {reason}", expected="a file written by Solution.to_hdf5") from None


def _read(file: h5py.File, kind: type[S]) -> S:
    said = json.loads(file["description"].asstr()[()])
    t = np.asarray(file["t"])
    values = {name: np.asarray(file["values"][name]) for name in said["names"]}
    energy = {name: np.asarray(file["energy"][name]) for name in ("stored", "dissipated", "supplied")}
    return kind(
        model=said["model"],
        t=t,
        values=values,
        units={name: str(file["values"][name].attrs["unit"]) for name in said["names"]},
        audit=EnergyAudit(t, **energy, start=said["start_energy"], kinetic=said.get("kinetic")),
        statistics=Statistics(**said["statistics"]),
        parameters=said["parameters"],
        states=tuple(said["states"]),
        notes=tuple(said["notes"]),
        complete=said["complete"],
        events={name: np.array(times) for name, times in said.get("events", {}).items()},
        event_values={
            name: {result: np.array(values) for result, values in found.items()}
            for name, found in said.get("event_values", {}).items()
        },
    )
