"""Whether a results file holds what was written: checksums, links that lead elsewhere, and the types of its texts.

check/rows[k], check/events[k]   CRC-32 of the row or event as little-endian bytes, begun with its number
check/head                       SHA-256 of all texts
check/restart                    CRC-32 of the state of an unfinished run; ``progress`` has its own
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import h5py

TEXTS = ("description", "model", "why_not", "tree", "options", "versions", "names", "units", "events/names")
PACKED = 1100
"""No filter of HDF5 makes data smaller than this part of them."""


def row_checks(first: int, *parts: NDArray[Any]) -> NDArray[np.uint32]:
    """A number for each row, from all its bytes and its own number; the parts have one row or number for each."""
    rows = len(parts[0])
    columns = [np.ascontiguousarray(each, f"<{each.dtype.kind}8") for each in parts if each.size]
    wide = [each.reshape(rows, -1).view("u1") for each in columns]
    data = np.hstack(wide).tobytes() if wide else b""
    size = len(data) // max(rows, 1)
    found = (zlib.crc32(data[k * size : (k + 1) * size], (first + k) & 0xFFFFFFFF) for k in range(rows))
    return np.fromiter(found, np.uint32, rows)


def text_check(texts: Mapping[str, Any]) -> str:
    """One digest of the texts of a file by the names of their datasets."""
    import hashlib

    return hashlib.sha256(json.dumps(dict(sorted(texts.items()))).encode()).hexdigest()


def state_check(text: bytes, numbers: NDArray[np.float64]) -> int:
    """A number for the packed state of a run."""
    return zlib.crc32(np.ascontiguousarray(numbers, "<f8").tobytes(), zlib.crc32(text))


def compare(first: int, stored: NDArray[Any], *parts: NDArray[Any], what: str) -> None:
    """Refuse rows that are not as they were written."""
    wrong = np.flatnonzero(row_checks(first, *parts) != stored)
    if len(wrong):
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise ValueError(f"it is damaged: {what} {first + int(wrong[0]) + 1}{more} is not as it was written")


def own(file: h5py.Group, key: str) -> h5py.Dataset:
    """A dataset that lies in the file itself, in one piece of its own; nothing else is opened."""
    import h5py

    group, at = file, ""
    for part in key.split("/"):
        at = f"{at}/{part}" if at else part
        if not isinstance(group, h5py.Group) or part not in group:
            raise KeyError(f"it has no '{at}'")
        if not isinstance(group.get(part, getlink=True), h5py.HardLink):
            raise ValueError(f"'{at}' is a link to another place, and links are not followed")
        group = group[part]
    if not isinstance(group, h5py.Dataset):
        raise ValueError(f"'{at}' is no dataset")
    if group.external or group.is_virtual:
        raise ValueError(f"'{at}' is stored in another file, and other files are not opened")
    if group.nbytes > PACKED * (file.file.id.get_filesize() + 1):
        raise ValueError(f"'{at}' claims {group.nbytes} bytes, which is more than the file can hold")
    return group


# -- types -------------------------------------------------------------------------------------------------------------

Test = Callable[[Any], bool]


def number(value: Any) -> bool:
    """A finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def text(value: Any) -> bool:
    """A text."""
    return isinstance(value, str)


def truth(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def mapping(value: Any) -> bool:
    """Anything by name."""
    return isinstance(value, dict)


def maybe(test: Test) -> Test:
    """The same, or nothing."""
    return lambda value: value is None or test(value)


def several(test: Test) -> Test:
    """A list of them."""
    return lambda value: isinstance(value, (list, tuple)) and all(map(test, value))


def by_name(test: Test) -> Test:
    """Values by name."""
    return lambda value: isinstance(value, dict) and all(map(test, value.values()))


def tree(value: Any) -> bool:
    """Names of branches, or two lists of them, or nothing."""
    two = isinstance(value, list) and len(value) == 2 and all(several(text)(each) for each in value)
    return value is None or several(text)(value) or two


DESCRIPTION: dict[str, Test] = {
    "model": text,
    "states": several(text),
    "inner": several(text),
    "held": several(text),
    "notes": several(text),
    "names": several(text),
    "diagnostics": several(mapping),
    "complete": truth,
    "start_energy": lambda value: isinstance(value, float) or number(value),
    "kinetic": maybe(lambda value: isinstance(value, float) or number(value)),
    "rounding": number,
    "statistics": mapping,
    "parameters": by_name(lambda value: isinstance(value, float) or number(value)),
    "times": by_name(several(number)),
    "events": by_name(several(number)),
    "event_values": by_name(by_name(several(lambda value: isinstance(value, float) or number(value)))),
}
ORIGIN: dict[str, Test] = {
    "model": maybe(mapping),
    "why_not": text,
    "tree": tree,
    "options": mapping,
    "versions": by_name(text),
}
RESTART: dict[str, Test] = {
    "t": number,
    "rows": lambda value: type(value) is int and value >= 0,
    "shapes": by_name(several(lambda value: type(value) is int and value >= 0)),
    "said": mapping,
}


def read_types(found: Any, tests: Mapping[str, Test], needed: Sequence[str], where: str) -> dict[str, Any]:
    """Entries by name whose values have the right types, or a ValueError that names the first that has not."""
    if not isinstance(found, dict):
        raise ValueError(f"'{where}' is a {type(found).__name__}, where entries by name are expected")
    for key in needed:
        if key not in found:
            raise ValueError(f"'{where}' has no entry '{key}'")
    for key, value in found.items():
        if key in tests and not tests[key](value):
            raise ValueError(f"the entry '{key}' of '{where}' cannot be {str(value)[:60]!r}")
    return found
