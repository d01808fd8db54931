"""The numbers behind the live charts of a report, small enough to travel inside the page.

Results that are plotted have room of their own, and keep every time as long as they fit. What does not fit is thinned:
each stretch of time keeps its ends, its least and its greatest value with their times, so that no peak is lost; the
rest of the room goes where a line between them is farthest from what was left out. The page knows where such a line is
near. What never changes is one number, and equal courses are kept once. Values are 32-bit floats: about seven digits,
enough to look at. Files with results hold all of them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.results import Solution
from cotree.view.figures import clean
from cotree.view.plots import extremes, pretty_unit, takes_prefix

Array = NDArray[np.float64]

PLOTTED, OTHERS = 160_000, 220_000
"""Numbers in a page for what is plotted, and for all other results: together at most about 2 MB."""
FEWEST = 200
"""Times that a result keeps at least; rather than that, some that are not plotted are left out."""
DENSE = 1e-3
"""Largest error, as a share of a result's range, up to which a thinned result may be read between its kept times."""
ROUNDS = 8
"""Most times that places are added to a thinned result."""

AUDIT = ("supplied", "dissipated", "stored", "closure error")


@dataclass(frozen=True)
class ChartData:
    """JSON for the script of a page, and what it holds."""

    text: str
    results: int
    """Results in the page."""
    plotted: int
    """Fewest times of a plotted result that is thinned; 0 where none is."""
    others: int
    """The same of results that are not plotted."""


def chart_data(
    solution: Solution,
    plotted: Iterable[str],
    kinds: Mapping[str, str],
    room: tuple[int, int] = (PLOTTED, OTHERS),
) -> ChartData:
    """The data of a page; ``kinds`` says what each component is, ``room`` is that of plotted and of other results."""
    first = [name for name in dict.fromkeys(plotted) if name in solution]
    early = {*first}
    every = dict.fromkeys([*solution.states, *solution.names])
    rest = [name for name in every if name in solution and name not in early]
    varying = len({_key(solution[name]) for name in rest if not _constant(solution[name])})
    audit = solution.energy()
    lines = (audit.supplied, audit.dissipated, audit.stored, audit.closure)
    fine = _most(room[0], len(first) + len(AUDIT), len(solution.t))
    coarse, used = _most(room[1], varying, len(solution.t)), 0
    book = _Book([solution.t] if len(audit.t) == len(solution.t) else [solution.t, audit.t])
    thin: dict[bool, list[int]] = {True: [], False: []}
    for name in [*first, *rest]:
        values, chosen = solution[name], name in early
        if _constant(values):
            book.constant(name, solution.unit(name), float(values[0]))
        elif chosen or used < room[1]:
            before = book.length
            times = book.add(name, solution.unit(name), values, fine if chosen else coarse)
            used += 0 if chosen else book.length - before
            thin[chosen] += [times] if times < len(values) else []
    for name, values in zip(AUDIT, lines, strict=True):
        times = book.add(f"audit:{name}", "J", values, fine, len(book.grids) - 1)
        thin[True] += [times] if times < len(values) else []
    data = {
        "span": [float(solution.t[0]), float(solution.t[-1])],
        "grids": [_packed(grid - solution.t[0] if k in book.used else ()) for k, grid in enumerate(book.grids)],
        "units": [[pretty_unit(unit), int(takes_prefix(unit))] for unit in book.units],
        "series": book.series,
        "values": _packed(np.concatenate(book.values) if book.values else np.zeros(0)),
        "events": {clean(name): _finite(times) for name, times in solution.events.items()},
        "undetermined": sorted(clean(name) for name in solution.undetermined),
        "parts": {clean(name): kind for name, kind in kinds.items()},
    }
    # Inside a page no text may end the script, whatever a name holds.
    safe = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return ChartData(safe, len(book.series) - len(AUDIT), min(thin[True], default=0), min(thin[False], default=0))


def _most(room: int, count: int, times: int) -> int:
    """Times that each of so many results may keep: all, or so many that they and their values fit."""
    return times if times * count <= room else max(FEWEST, room // (2 * count))


class _Book:
    """Series one after the other.

    ``[name, unit, -1, value]`` never changes, ``[name, unit, grid, place, base]`` has a value at each time of a grid,
    and ``[name, unit, -2, place, base, count, rough]`` has times of its own before its values; ``rough`` has a bit for
    each stretch between two of them that hides more than a line shows.
    """

    def __init__(self, grids: list[Array]) -> None:
        self.grids = grids
        self.used: set[int] = set()
        self.series: list[list[Any]] = []
        self.values: list[Array] = []
        self.units: dict[str, int] = {}
        self.known: dict[tuple[int, int, bytes], tuple[int, list[Any]]] = {}
        self.length = 0

    def constant(self, name: str, unit: str, value: float) -> None:
        self.series.append([clean(name), self._unit(unit), -1, value if np.isfinite(value) else None])

    def add(self, name: str, unit: str, values: Array, most: int, grid: int = 0) -> int:
        """Write a series with at most about so many times; returns how many it keeps."""
        # Deviations from the first value keep their digits also where they are small.
        base = float(values[0]) if np.isfinite(values[0]) else 0.0
        if (place := (grid, most, _key(values))) in self.known:
            self.series.append([clean(name), self._unit(unit), *self.known[place][1]])
            return self.known[place][0]
        row: list[Any] = [clean(name), self._unit(unit), grid, self.length, base]
        t, index, rough = self.grids[grid], np.arange(len(values)), np.zeros(0, dtype=bool)
        # Thinned values travel with their times: from half of them on all take no more room.
        if 2 * most < len(values):
            index, rough = _few(t, values, most)
        if len(index) < len(values):
            row[2:] = [-2, self.length, base, len(index), _bits(rough)]
            self._put(t[index] - self.grids[0][0])
        else:
            self.used.add(grid)
        self.known[place] = len(index), row[2:]
        self.series.append(row)
        self._put(values[index] - base)
        return len(index)

    def _put(self, values: Array) -> None:
        self.values.append(values)
        self.length += len(values)

    def _unit(self, unit: str) -> int:
        return self.units.setdefault(unit, len(self.units))


def _few(t: Array, values: Array, most: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """At most about so many places that show a course, and between which a line is far from what was left out."""
    index = extremes(values, most // 2)
    known = values[np.isfinite(values)]
    near = DENSE * float(np.ptp(known)) if len(known) else 0.0
    for _ in range(ROUNDS + 1):
        with np.errstate(invalid="ignore"):
            off = np.abs(np.interp(t, t[index], values[index]) - values)
        off[np.isnan(off)] = np.inf
        off[index] = 0.0
        worst = np.maximum.reduceat(off, index)
        rough = worst > near
        room = min(most - len(index), int(rough.sum()))
        if room <= 0:
            break
        chosen = np.argsort(-worst, kind="stable")[:room]
        tops = np.flatnonzero((off == np.repeat(worst, np.diff(index, append=len(t)))) & (off > near))
        owner = np.searchsorted(index, tops, side="right") - 1
        _, once = np.unique(owner, return_index=True)
        index = np.union1d(index, tops[once][np.isin(owner[once], chosen)])
    return index, rough


def _bits(rough: NDArray[np.bool_]) -> str:
    return base64.b64encode(np.packbits(rough, bitorder="little").tobytes()).decode("ascii") if rough.any() else ""


def panels(solution: Solution, names: Iterable[str]) -> list[list[str]]:
    """Names by unit, as a plot shows them."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(solution.unit(name), []).append(clean(name))
    return list(found.values())


def _constant(values: Array) -> bool:
    return bool(np.all(values == values[0])) or not len(values)


def _key(values: Array) -> bytes:
    """The same for equal courses: bonds of one junction share theirs."""
    return sha256(values.tobytes()).digest()


def _packed(values: Array | Sequence[float]) -> str:
    with np.errstate(over="ignore"):
        return base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode("ascii")


def _finite(times: Array) -> list[float]:
    return [float(time) for time in np.asarray(times).ravel()[:500] if np.isfinite(time)]
