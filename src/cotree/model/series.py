"""Series of measured or computed data: points over time, or over another argument, joined by polynomials."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import ExpressionError, ModelError, nearest
from cotree.maths.pieces import DEGREES, OUTSIDE, Pieces
from cotree.model.units import Dimension, Unit, parse_unit

Array = NDArray[np.float64]

MOST_POINTS = 2_000_000
"""Most points of a series."""
READABLE = 200
"""Most points that a model file holds as lists of numbers; more of them are packed into text."""
ROTATIONS = {"quaternion": 4, "vector": 3, "euler": 3}
"""How columns may give rotations, with their number."""
PARTS = ("e0", "e1", "e2", "e3")
_GAP, _ALIKE, _SAMPLED = 10.0, 0.95, 20
SAME = {"cubic": "spline", "pchip": "monotone", "constant": "step", "previous": "step", "clamp": "hold", "zero": "hold"}
"""What other programs call curves and rules."""
OPTIONS = ("unit", "time_unit", "interpolation", "outside", "max_gap", "rotation")


@dataclass(frozen=True, eq=False)
class Series:
    """Points in SI units, how they are joined, and what holds outside of them."""

    name: str
    x: Array
    y: Array
    """One column, or the four Euler parameters of a rotation."""
    interpolation: str
    outside: str
    dimension: Dimension | None
    """That of the values; None where no unit was given."""
    options: Mapping[str, Any]
    """As they were given, to be written to a file."""
    given: tuple[Array, Array]
    """The points as they were given, in their own units."""
    file: Mapping[str, Any] | None = None
    """The file and the columns that it was read from, by the path from the folder of the model file."""

    @classmethod
    def read(
        cls,
        name: str,
        x: Any,
        y: Any,
        options: Mapping[str, Any],
        row: Callable[[int], str] = lambda k: f"point {k + 1}",
        file: Mapping[str, Any] | None = None,
    ) -> Series:
        """The series of points as a user gives them; ``row`` says where a point stands."""
        known = {key: value for key, value in options.items() if value is not None}
        interpolation = _word(known.get("interpolation", "spline"), DEGREES, f"{name}.interpolation")
        outside = _word(known.get("outside", "error"), OUTSIDE, f"{name}.outside")
        unit, time_unit = (_unit(known.get(key), f"{name}.{key}") for key in ("unit", "time_unit"))
        rotation = known.get("rotation")
        if rotation is not None:
            _word(rotation, ROTATIONS, f"{name}.rotation")
        columns = ROTATIONS[rotation] if rotation else 1
        given = x, y = _points(name, x, y, columns, row)
        x = _si(x, time_unit)
        _check_gap(name, x, known.get("max_gap"), row, time_unit)
        y = _si(y, unit)
        if rotation:
            y = _turned(y, rotation)
        off = float(np.abs(y[-1] - y[0]).max())
        if outside == "repeat" and interpolation != "step" and off > 1e-6 * float(np.ptp(y)):
            raise ModelError(
                f"its first value is {np.ravel(y[0])[0]:g} and its last {np.ravel(y[-1])[0]:g}",
                where=name, expected="the same value at both ends, as outside is repeat",
                remedy="End the points where they begin anew, or use outside: hold",
            )  # fmt: skip
        dimension = unit.dimension if unit is not None and not rotation else None
        return cls(name, x, y, interpolation, outside, dimension, known, given, file)

    @property
    def rotates(self) -> bool:
        """Whether it holds rotations."""
        return self.y.ndim == 2

    @property
    def names(self) -> tuple[str, ...]:
        """How expressions call it: by its own name, or by those of its parts."""
        return tuple(f"{self.name}_{part}" for part in PARTS) if self.rotates else (self.name,)

    def __repr__(self) -> str:
        return (
            f"<Series '{self.name}': {len(self.x)} points from {self.x[0]:g} to {self.x[-1]:g}, {self.interpolation}>"
        )

    def pieces(self, part: int | None = None) -> Pieces:
        """The polynomials through the points, of one of its parts where it holds rotations."""
        return self._pieces[part or 0]

    @cached_property
    def _pieces(self) -> list[Pieces]:
        columns = self.y.T if self.rotates else [self.y]
        return [Pieces.through(self.x, column, self.interpolation, self.outside) for column in columns]

    def leaves(self, first: float, last: float) -> ModelError | None:
        """The error where a run looks outside of the points, unless the series states a rule for it."""
        low, high = float(self.x[0]), float(self.x[-1])
        near = 1e-9 * (high - low)
        if self.outside != "error" or (first >= low - near and last <= high + near):
            return None
        return ModelError(
            f"its points reach from {low:g} to {high:g}, and values from {first:g} to {last:g} are asked for",
            where=self.name, expected="points for the whole run",
            remedy="Say what holds outside of them: outside is hold, extend or repeat",
        )  # fmt: skip

    def to_data(self) -> dict[str, Any]:
        """Plain data from which `from_data` makes the series again: its points, without a file."""
        data, (x, y) = dict(self.options), self.given
        if len(x) <= READABLE:
            return data | {"times": x.tolist(), "values": y.tolist()}
        raw = np.column_stack([x, y]).astype("<f8").tobytes()
        return data | {"points": len(x), "packed": base64.b64encode(zlib.compress(raw)).decode()}

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> Series:
        """The series whose points plain data hold."""
        own = ("times", "values", "points", "packed")
        for key in data:
            if key not in (*own, *OPTIONS):
                raise ModelError(
                    f"unknown entry '{key}'", where=name, expected=f"one of {', '.join((*own, *OPTIONS))}",
                    remedy=nearest(str(key), (*own, *OPTIONS, "file", "time", "column", "columns")),
                )  # fmt: skip
        options = {key: data[key] for key in OPTIONS if key in data}
        if "packed" not in data:
            if "times" not in data or "values" not in data:
                raise ModelError(
                    "no points are given", where=name,
                    expected="{file: road.csv, time: t, column: z}, or {times: [...], values: [...]}",
                )  # fmt: skip
            return cls.read(name, data["times"], data["values"], options)
        columns = 1 + (1 if data.get("rotation") is None else ROTATIONS.get(data["rotation"], 0))
        points = _unpacked(name, data["packed"], data.get("points"), columns)
        return cls.read(name, points[:, 0], points[:, 1] if columns == 2 else points[:, 1:], options)


def _unpacked(name: str, text: Any, count: Any, columns: int) -> Array:
    wrong = ModelError("its packed points cannot be read", where=name, remedy="Write the file anew")
    if (
        not isinstance(text, str)
        or isinstance(count, bool)
        or not isinstance(count, int)
        or not 0 < count <= MOST_POINTS
    ):
        raise wrong
    size = 8 * columns * count
    try:
        raw = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), size + 1)
    except (binascii.Error, zlib.error, ValueError):
        raise wrong from None
    if len(raw) != size:
        raise wrong
    return np.frombuffer(raw, dtype="<f8").reshape(count, columns).astype(float)


def _points(name: str, x: Any, y: Any, columns: int, row: Callable[[int], str]) -> tuple[Array, Array]:
    """Finite points in order, or the error that names the first wrong one."""
    try:
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(
            "its points are no numbers", where=name, expected="times and values as numbers",
            remedy="Files of data are named in a model file; in Python read them first, as with numpy.loadtxt",
        ) from None  # fmt: skip
    y = y.ravel() if columns == 1 and y.ndim == 2 and 1 in y.shape else y
    x = x.ravel()
    if len(x) > MOST_POINTS:
        raise ModelError(f"it has {len(x)} points", where=name, expected=f"at most {MOST_POINTS}")
    if y.shape != ((len(x),) if columns == 1 else (len(x), columns)):
        shown = " x ".join(str(n) for n in y.shape)
        wanted = "one value" if columns == 1 else f"{columns} values"
        raise ModelError(f"it has {len(x)} times and {shown} values", where=name, expected=f"{wanted} for each time")
    if len(x) < 2:
        found = f"it has {len(x)} point{'' if len(x) == 1 else 's'}"
        raise ModelError(found, where=name, expected="two points or more", remedy="Give a constant as a number")
    for values, what in ((x, "time"), (y, "value")):
        wrong = np.flatnonzero(~np.isfinite(values.reshape(len(x), -1)).all(axis=1))
        if len(wrong):
            k = int(wrong[0])
            raise ModelError(
                f"the {what} at {row(k)} is {values.reshape(len(x), -1)[k].tolist()[0]}", where=name,
                expected="finite numbers without gaps", remedy="Fill or remove what was not measured",
            )  # fmt: skip
    back = np.flatnonzero(np.diff(x) <= 0)
    if len(back):
        k = int(back[0]) + 1
        raise ModelError(
            f"the time at {row(k)} is {x[k]:g}, not after {x[k - 1]:g} before it", where=name,
            expected="times in growing order", remedy="Sort the points, and keep one of those at the same time",
        )  # fmt: skip
    return x, y


def _check_gap(name: str, x: Array, given: Any, row: Callable[[int], str], unit: Unit | None) -> None:
    """Refuse a gap between points that are evenly spaced otherwise, or longer than allowed."""
    widths = np.diff(x)
    if given is None:
        middle = float(np.median(widths))
        even = len(widths) >= _SAMPLED and np.mean(np.abs(widths - middle) <= 0.01 * middle) >= _ALIKE
        most = _GAP * middle if even else np.inf
    elif isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        raise ModelError(f"found {given!r}", where=f"{name}.max_gap", expected="a positive number")
    else:
        most = float(_si(np.array(float(given)), unit))
    wide = np.flatnonzero(widths > most)
    if len(wide):
        k = int(wide[0])
        raise ModelError(
            f"a gap from {x[k]:g} to {x[k + 1]:g}, before {row(k + 1)}", where=name,
            expected=f"points at most {most:g} apart",
            remedy="Fill it, or give max_gap if one curve may span it",
        )  # fmt: skip


def _turned(y: Array, how: str) -> Array:
    """Euler parameters of unit length whose signs go on from point to point."""
    from scipy.spatial.transform import Rotation

    if how == "quaternion":
        e = y / np.linalg.norm(y, axis=1, keepdims=True).clip(1e-300)
    else:
        turns = Rotation.from_rotvec(y) if how == "vector" else Rotation.from_euler("XYZ", y)
        e = turns.as_quat()[:, [3, 0, 1, 2]]
    flips = np.concatenate([[1.0], np.where((e[1:] * e[:-1]).sum(axis=1) < 0, -1.0, 1.0)])
    return np.asarray(e * np.cumprod(flips)[:, None])


def _word(given: Any, known: Any, where: str) -> str:
    if given not in tuple(known):
        meant = SAME.get(str(given), "")
        remedy = f"did you mean '{meant}'?" if meant in known else nearest(str(given), known)
        raise ModelError(f"found {given!r}", where=where, expected=f"one of {', '.join(known)}", remedy=remedy)
    return str(given)


def _unit(given: Any, where: str) -> Unit | None:
    if given is None or given == "":
        return None
    if not isinstance(given, str):
        raise ModelError(f"found {given!r}", where=where, expected="a unit, such as mm")
    try:
        return parse_unit(given)
    except ExpressionError as reason:
        raise ModelError(reason.found, where=where, expected="a unit, such as mm", remedy=reason.remedy) from None


def _si(values: Array, unit: Unit | None) -> Array:
    return values if unit is None else values * float(unit.factor) + float(unit.offset)
