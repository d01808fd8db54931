"""Tables and what else follows from a mesh, kept in memory and in a folder, so that it is worked out once."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from cotree.fem.element import DEGREES
from cotree.fem.tables import NodeTable, Tables

FORMAT = 3
"""Version of the files and of the numbers in them; it is part of every key."""

T = TypeVar("T")
Arrays = dict[str, Any]

_memory: dict[str, Any] = {}
_MOST = 128  # kept in memory; the oldest go first
_meshes: dict[int, tuple[Tables, Any]] = {}
_MOST_MESHES = 32
LARGEST_MESH = 10_000
"""Degrees of freedom up to which a mesh, with its factors, is kept beside its tables."""


def content_hash(*parts: Any) -> str:
    """A key (sha256, hexadecimal) of arrays, numbers, strings, None, and lists, mappings and dataclasses of them."""
    digest = hashlib.sha256(f"cotree tables {FORMAT}".encode())
    for part in parts:
        _feed(digest, part)
    return digest.hexdigest()


def stored(folder: str | Path | None, key: str, compute: Callable[[], Tables]) -> Tables:
    """The tables of a key: from memory, from ``<folder>/<key>.npz``, or computed and kept in both."""
    return kept(folder, key, compute, _packed, _unpacked)


def kept(
    folder: str | Path | None,
    key: str,
    compute: Callable[[], T],
    pack: Callable[[T], tuple[dict[str, Any], Arrays]],
    unpack: Callable[[dict[str, Any], Arrays], T | None],
) -> T:
    """What belongs to a key: from memory, from ``<folder>/<key>.npz``, or computed and kept in both.

    ``pack`` makes plain data and arrays of it, ``unpack`` makes it again, or None where something is wrong. A file that
    is broken, foreign or of another key is computed again; a folder that cannot be written is no error.
    """
    found: T | None = _memory.pop(key, None)
    path = None if folder is None else Path(folder) / f"{key}.npz"
    there = path is not None and found is not None and path.exists()
    if found is None and path is not None:
        found = _read(path, key, unpack)
        there = found is not None
    if found is None:
        found = compute()
    if path is not None and not there:
        _write(path, key, *pack(found))
    _memory[key] = found
    while len(_memory) > _MOST:
        del _memory[next(iter(_memory))]
    return found


def keep_mesh(tables: Tables, mesh: Any, size: int) -> None:
    """Keep the mesh behind tables in memory, by which results are read later, unless it is large."""
    if size <= LARGEST_MESH:
        _meshes[id(tables)] = tables, mesh  # with the tables, nothing else has their number
        while len(_meshes) > _MOST_MESHES:
            del _meshes[next(iter(_meshes))]


def mesh_of(tables: Tables) -> Any:
    """The mesh that was kept beside tables, or None."""
    found = _meshes.get(id(tables))
    return None if found is None else found[1]


def forget() -> None:
    """Drop what is kept in memory; files stay."""
    _memory.clear()
    _meshes.clear()


def _feed(digest: Any, part: Any) -> None:
    """Add one part, marked with its kind and size so that no two different contents read alike."""
    if part is None or isinstance(part, bool | np.bool_):
        digest.update(f"|{part}".encode())
    elif isinstance(part, str | bytes):
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"|{'s' if isinstance(part, str) else 'b'}{len(data)}:".encode() + data)
    elif isinstance(part, int | float | np.integer | np.floating):
        digest.update(f"|n{float(part).hex() if float(part) == part else part}".encode())
    elif isinstance(part, np.ndarray):
        if part.dtype.hasobject:
            raise TypeError("an array of objects has no content hash")
        digest.update(f"|a{part.dtype.str}{part.shape}:".encode() + np.ascontiguousarray(part).tobytes())
    elif isinstance(part, Mapping):
        digest.update(f"|m{len(part)}".encode())
        for name in sorted(part, key=str):
            _feed(digest, name)
            _feed(digest, part[name])
    elif isinstance(part, tuple | list):
        digest.update(f"|l{len(part)}".encode())
        for item in part:
            _feed(digest, item)
    elif is_dataclass(part):
        digest.update(f"|d{type(part).__name__}".encode())
        for field in fields(part):
            _feed(digest, field.name)
            _feed(digest, getattr(part, field.name))
    else:
        raise TypeError(f"no content hash of a {type(part).__name__}")


_ARRAYS = [
    name for name in (field.name for field in fields(Tables)) if name not in ("names", "units", "mass", "frames")
]
_NODE = [field.name for field in fields(NodeTable)]


def _packed(found: Tables) -> tuple[dict[str, Any], Arrays]:
    head = {"names": found.names, "units": found.units, "frames": list(found.frames)}
    data = {name: getattr(found, name) for name in _ARRAYS} | {"mass": np.array(found.mass)}
    for number, frame in enumerate(found.frames.values()):
        data |= {f"frame{number}.{name}": getattr(frame, name) for name in _NODE}
    return head, data


def _unpacked(head: dict[str, Any], data: Arrays) -> Tables | None:
    frames = {
        str(frame): NodeTable(**{name: data[f"frame{number}.{name}"] for name in _NODE})
        for number, frame in enumerate(head["frames"])
    }
    found = Tables(
        names=tuple(map(str, head["names"])),
        units=tuple(map(str, head["units"])),
        mass=float(data["mass"]),
        frames=frames,
        **{name: data[name] for name in _ARRAYS},
    )
    return found if _whole(found) else None


def _write(path: Path, key: str, head: dict[str, Any], data: Arrays) -> None:
    """Write a file beside its place and move it there, so that no reader ever sees half of one."""
    draft = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(suffix=".part", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, head=np.array(json.dumps({"key": key, **head})), **data)
        os.replace(draft, path)
    except OSError:
        return
    finally:  # also where the user interrupts
        if draft is not None:
            with contextlib.suppress(OSError):
                os.unlink(draft)


def _read(path: Path, key: str, unpack: Callable[[dict[str, Any], Arrays], T | None]) -> T | None:
    """What a file holds, None where it is missing or is not one of ours with this key."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as data:
            head = json.loads(str(data["head"]))
            return unpack(head, data) if head["key"] == key else None
    except Exception:  # anything may be in a file that is not ours
        return None


def _whole(found: Tables) -> bool:
    """Whether every array has the size that the number of names asks for, and finite numbers."""
    n = len(found.names)
    sizes = {
        "frequencies": (n,), "first": (3,), "second": (3, 3), "first_q": (3, n), "second_q": (3, 3, n),
        "second_qq": (3, 3, n, n), "stiffness": (n, n), "damping": (n, n), "first_2": (3, n, n),
        "second_2": (3, 3, n, n),
    }  # fmt: skip
    node = {"place": (3,), "move": (3, n), "turn": (3, n), "move_2": (3, n, n), "turn_2": (3, n, n)}
    pairs = [(getattr(found, name), size) for name, size in sizes.items() if name != "frequencies"]
    pairs += [(getattr(frame, name), size) for frame in found.frames.values() for name, size in node.items()]
    right = all(array.shape == size and array.dtype == float and np.isfinite(array).all() for array, size in pairs)
    rows, *columns = found.shapes.shape
    right = right and columns == [n] and rows % DEGREES == 0 and bool(np.isfinite(found.shapes).all())
    if found.carried.size:
        loads = found.carried.shape[1]
        right = right and found.carried_2.shape == (n, len(found.carried), loads - 9 * n)
        right = right and bool(np.isfinite(found.carried).all() and np.isfinite(found.carried_2).all())
    return right and len(found.units) == n and found.frequencies.shape == sizes["frequencies"]
