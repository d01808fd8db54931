"""Series of data in files: columns of CSV, Parquet and MATLAB files, checked before they are read whole."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import CotreeError, FileError, ModelError, listing, nearest
from cotree.io.paths import named_file
from cotree.model.series import MOST_POINTS, OPTIONS, ROTATIONS, Series
from cotree.model.units import parse_unit
from cotree.results.solution import optional

Array = NDArray[np.float64]
Row = Callable[[int], str]
Read = tuple[list[Array], Row, list[str]]
"""Columns as numbers, how rows are called, and the heads of the columns."""
_HEAD = re.compile(r"(?P<name>.*?)\s*[\[(](?P<unit>[^\[\]()]+)[\])]\s*\Z")
"""A head with a unit: ``height [mm]``, ``t (s)``."""

MAX_BYTES = 300_000_000
"""Largest file that is read."""
KEYS = ("file", "time", "column", "columns", *OPTIONS)
EXAMPLE = "{file: road.csv, time: t, column: z, unit: mm}"


def read_series(name: str, entry: Any, folder: Path | None, root: Path | None) -> Series:
    """The series of one entry of ``data``: from a file inside of the root, or with its points in the entry."""
    if not isinstance(entry, Mapping):
        raise ModelError(f"found {str(entry)[:80]}", where=name, expected=EXAMPLE)
    if "file" not in entry:
        return Series.from_data(name, entry)
    for key in entry:
        if key not in KEYS:
            raise ModelError(
                f"unknown entry '{key}'", where=name, expected=f"one of {listing(KEYS, 20)}",
                remedy=nearest(str(key), KEYS),
            )  # fmt: skip
    file = entry["file"]
    if not isinstance(file, str):
        raise ModelError(f"file is {file!r}", where=name, expected=EXAMPLE)
    columns = _columns(name, entry)
    try:
        path = named_file(file, folder, root)
        found, row, heads = read_columns(path, file, columns)
    except FileError as reason:
        raise ModelError(reason.found, where=name, expected=reason.expected, remedy=reason.remedy) from None
    values = found[1] if len(columns) == 2 else np.column_stack(found[1:])
    options = {key: entry[key] for key in OPTIONS if key in entry}
    for key, head in (("time_unit", heads[0]), ("unit", heads[1])):
        if (unit := _said(head)) and key not in options:
            options[key] = unit
        elif unit and options[key] != unit:
            raise ModelError(
                f"{key} is {options[key]!r}, and the column is '{head}' in '{file}'", where=name,
                expected="the same unit in both, or in one of them only",
            )  # fmt: skip
    try:
        read = {key: value for key, value in entry.items() if key != "file"} | {"file": str(path)}
        return Series.read(name, found[0], values, options, lambda k: f"{row(k)} of '{file}'", read)
    except CotreeError as reason:
        if reason.where == name:
            shown = f"{listing([str(each) for each in columns[1:]])} in '{file}'"
            reason.where = f"{name}, column {shown}"
        raise


def _said(head: str) -> str:
    """The unit that the head of a column holds, if it is one; rotations have several columns and one unit."""
    unit = found["unit"].strip() if (found := _HEAD.match(head)) else ""
    try:
        parse_unit(unit)
    except CotreeError:
        return ""
    return unit


def _column(column: str | int, heads: Sequence[str]) -> int | None:
    """The place of a column: its whole head, or its name before the unit where that is the only one."""
    if column in heads:
        return heads.index(str(column))
    short = [k for k, head in enumerate(heads) if (found := _HEAD.match(head)) and found["name"] == column]
    return short[0] if len(short) == 1 else None


def reference(series: Series, folder: Path) -> dict[str, Any] | None:
    """The entry by which a model file in a folder names the file of a series; None where it cannot."""
    if series.file is None or not (path := Path(series.file["file"])).is_relative_to(folder):
        return None
    return dict(series.file) | {"file": path.relative_to(folder).as_posix()}


def _columns(name: str, entry: Mapping[str, Any]) -> list[str | int]:
    rotation = entry.get("rotation")
    several, one = entry.get("columns"), entry.get("column")
    count = ROTATIONS.get(str(rotation), 0) if rotation is not None else 1
    given: Any = [one] if rotation is None and several is None else several
    wrong = not isinstance(given, Sequence) or isinstance(given, str) or (rotation is not None and one is not None)
    if wrong or (count and len(given) != count):
        expected = f"column: a column of the file, as in {EXAMPLE}" if count == 1 else f"columns: a list of {count}"
        raise ModelError(f"found {one if several is None else several!r}", where=name, expected=expected)
    result = [entry.get("time"), *given]
    for key, each in zip(("time", *["column"] * count), result, strict=False):
        if isinstance(each, bool) or not isinstance(each, str | int):
            found = f"no {key} is given" if each is None else f"{key} is {each!r}"
            raise ModelError(found, where=name, expected=f"the name of a column, as in {EXAMPLE}")
    return result


def read_columns(path: Path, shown: str, columns: Sequence[str | int]) -> Read:
    """Columns of a file as numbers, and how its rows are called."""
    readers = {".csv": _csv, ".txt": _csv, ".tsv": _csv, ".parquet": _parquet, ".mat": _matlab}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise FileError(f"'{shown}' is no file of data by its name", expected=f"one that ends in {listing(readers)}")
    if not path.is_file():
        beside = [each.name for each in islice(path.parent.glob("*"), 200)] if path.parent.is_dir() else []
        raise FileError(f"there is no file '{shown}'", remedy=nearest(path.name, beside) or "Check the path")
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise FileError(
            f"'{shown}' has {size} bytes", expected=f"at most {MAX_BYTES}",
            remedy="Keep the columns that are needed, or fewer points",
        )  # fmt: skip
    try:
        return reader(path, shown, columns)
    except (OSError, UnicodeError, csv.Error) as reason:
        raise FileError(f"'{shown}' cannot be read: {reason}") from None


def _missing(shown: str, column: str | int, known: Sequence[str]) -> FileError:
    return FileError(
        f"'{shown}' has no column '{column}'", expected=f"one of {listing(known)}", remedy=nearest(str(column), known)
    )


def _too_long(shown: str, count: int) -> FileError:
    return FileError(f"'{shown}' has {count} rows", expected=f"at most {MOST_POINTS}")


def _csv(path: Path, shown: str, columns: Sequence[str | int]) -> Read:
    """Columns by the names in the first line, or by their numbers from 1 on."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = next((line for line in file if line.strip()), "")[:100_000]
    if not first:
        raise FileError(f"'{shown}' is empty", expected="a line with the names of the columns, and lines of numbers")
    separator = max(",;\t", key=first.count)
    head = [each.strip() for each in next(csv.reader([first], delimiter=separator))]
    named = not all(_number(each) for each in head)
    places = []
    for column in columns:
        if named and (place := _column(column, head)) is not None:
            places.append(place)
        elif isinstance(column, int) and 1 <= column <= len(head):
            places.append(column - 1)
        else:
            raise _missing(shown, column, head if named else [str(k + 1) for k in range(len(head))])

    def lines() -> Iterator[tuple[int, list[str]]]:
        """Lines with numbers, each with its number in the file."""
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=separator)
            every = ((reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells))
            yield from islice(every, 1 if named else 0, None)

    try:
        with path.open(encoding="utf-8-sig") as file:
            some = islice((line for line in file if line.strip()), 1 if named else 0, MOST_POINTS + 2)
            table = np.loadtxt(some, delimiter=separator, usecols=places, ndmin=2, comments=None, quotechar='"')
    except (ValueError, IndexError):  # read slowly, to say where
        found = [
            [_cell(cells, k, column, shown, number, separator) for k, column in zip(places, columns, strict=True)]
            for number, cells in islice(lines(), MOST_POINTS + 1)
        ]
        table = np.array(found, dtype=float).reshape(-1, len(columns))
    if len(table) > MOST_POINTS:
        raise _too_long(shown, len(table))
    heads = [head[place] if named else "" for place in places]
    return list(np.ascontiguousarray(table.T)), lambda k: f"line {next(islice(lines(), k, None))[0]}", heads


def _cell(cells: Sequence[str], k: int, column: str | int, shown: str, line: int, separator: str) -> float:
    text = cells[k].strip() if k < len(cells) else ""
    try:
        return float(text)
    except ValueError:
        pass
    comma = separator == ";" and "," in text
    raise FileError(
        f"line {line} of '{shown}' has {f'{text[:40]!r}' if text else 'no value'} in column '{column}'",
        expected="a number in every line",
        remedy="Write a decimal point, not a comma" if comma else "Fill or remove what was not measured",
    )


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parquet(path: Path, shown: str, columns: Sequence[str | int]) -> Read:
    parquet = optional("pyarrow.parquet")
    arrow = optional("pyarrow")
    try:
        with parquet.ParquetFile(path) as file:
            known, count = list(file.schema_arrow.names), file.metadata.num_rows
            if count > MOST_POINTS:
                raise _too_long(shown, count)
            heads = []
            for column in columns:
                if (place := _column(column, known)) is None:
                    raise _missing(shown, column, known)
                heads.append(known[place])
            table = file.read(columns=list(dict.fromkeys(heads)))
            found = [table.column(head) for head in heads]
            for column, values in zip(columns, found, strict=True):
                if not (arrow.types.is_floating(values.type) or arrow.types.is_integer(values.type)):
                    raise FileError(f"column '{column}' of '{shown}' holds {values.type}", expected="numbers")
                if values.null_count:
                    k = values.is_null().to_pylist().index(True)
                    raise FileError(f"row {k + 1} of '{shown}' has no value in column '{column}'", expected="no gaps")
            arrays = [np.asarray(values.to_numpy(), dtype=float) for values in found]
    except arrow.ArrowException as reason:
        raise FileError(f"'{shown}' cannot be read: {str(reason)[:200]}") from None
    return arrays, lambda k: f"row {k + 1}", heads


def _matlab(path: Path, shown: str, columns: Sequence[str | int]) -> Read:
    """Vectors by the names of variables."""
    from scipy.io import loadmat, whosmat

    try:
        known = {name: shape for name, shape, _ in whosmat(str(path))}
        for column in columns:
            if column not in known:
                raise _missing(shown, column, list(known))
            if (count := int(np.prod(known[str(column)], dtype=float))) > MOST_POINTS:
                raise _too_long(shown, count)
        made = loadmat(str(path), variable_names=[str(column) for column in columns])
        arrays = [np.asarray(made[str(column)]) for column in columns]
    except NotImplementedError:
        raise FileError(
            f"'{shown}' is a MATLAB file of version 7.3", expected="version 7 or before",
            remedy="Save it with save(name, '-v7'), or as CSV",
        ) from None  # fmt: skip
    except (ValueError, TypeError, KeyError, MemoryError, IndexError) as reason:
        raise FileError(f"'{shown}' cannot be read: {str(reason)[:200]}") from None
    for column, array in zip(columns, arrays, strict=True):
        if array.dtype.kind not in "iuf" or array.ndim > 2 or (array.ndim == 2 and 1 not in array.shape):
            raise FileError(f"the variable '{column}' of '{shown}' is no vector of numbers", expected="a vector")
        if array.size != arrays[0].size:
            found = f"'{columns[0]}' of '{shown}' has {arrays[0].size} values and '{column}' has {array.size}"
            raise FileError(found, expected="as many of both")
    return [array.ravel().astype(float) for array in arrays], lambda k: f"element {k + 1}", [""] * len(columns)
