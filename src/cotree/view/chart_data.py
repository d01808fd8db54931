"""The numbers behind the live charts of a report, small enough to travel inside the page.

Results that are plotted keep up to 3000 times, all others share a coarser grid; what never changes is one number.
Values are 32-bit floats: about seven digits, enough to look at. Files with results hold all of them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.results import Solution
from cotree.view.figures import clean
from cotree.view.plots import pretty_unit, takes_prefix

Array = NDArray[np.float64]

FINE, COARSE = 3000, 1200
"""Most times of plotted results, and of all others."""
FEWEST = 150
"""Times that a result keeps at least; rather than that, some results are left out."""
BUDGET = 260_000
"""Numbers in a page, about 1.4 MB."""

AUDIT = ("supplied", "dissipated", "stored", "closure error")


def chart_data(
    solution: Solution, plotted: Iterable[str], kinds: Mapping[str, str], most: int = BUDGET
) -> tuple[str, int, int]:
    """JSON for the script of a page, how many results it holds, and at how many times those that are not plotted.

    ``kinds`` says what each component is.
    """
    first = [name for name in dict.fromkeys([*plotted, *solution.states]) if name in solution]
    early = set(first)
    rest = [name for name in solution.names if name not in early]
    audit = solution.energy()
    closes = dict(zip(AUDIT, (audit.supplied, audit.dissipated, audit.stored, audit.closure), strict=True))
    fine = _grid(solution.t, min(FINE, max(FEWEST, most // 3 // (len(first) + len(AUDIT)))))
    varying = [name for name in rest if not _constant(solution[name])]
    coarse = _grid(solution.t, min(COARSE, max(FEWEST, 2 * most // 3 // max(len(varying), 1))))
    kept = set(varying[: 2 * most // 3 // len(coarse)])
    book = _Book()
    for name in [*first, *rest]:
        values, index = solution[name], (fine if name in early else coarse)
        if _constant(values):
            book.constant(name, solution.unit(name), float(values[0]))
        elif name in early or name in kept:
            book.add(name, solution.unit(name), values[index], 0 if name in early else 1)
    energy_grid = fine if len(audit.t) == len(solution.t) else _grid(audit.t, FINE)
    grids = [solution.t[fine], solution.t[coarse], audit.t[energy_grid]]
    for name, values in closes.items():
        book.add(f"audit:{name}", "J", values[energy_grid], 2)
    data = {
        "span": [float(solution.t[0]), float(solution.t[-1])],
        "grids": [_packed(grid - solution.t[0]) for grid in grids],
        "units": [[pretty_unit(unit), int(takes_prefix(unit))] for unit in book.units],
        "series": book.series,
        "values": _packed(np.concatenate(book.values) if book.values else np.zeros(0)),
        "events": {clean(name): _finite(times) for name, times in solution.events.items()},
        "parts": {clean(name): kind for name, kind in kinds.items()},
    }
    # Inside a page no text may end the script, whatever a name holds.
    safe = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return safe, len(book.series) - len(AUDIT), len(coarse)


class _Book:
    """Series one after the other: name, unit, grid, where its deviations begin, from what; or -1 and its only value."""

    def __init__(self) -> None:
        self.series: list[list[Any]] = []
        self.values: list[Array] = []
        self.units: dict[str, int] = {}
        self.length = 0

    def constant(self, name: str, unit: str, value: float) -> None:
        self.series.append([clean(name), self._unit(unit), -1, value if np.isfinite(value) else None])

    def add(self, name: str, unit: str, values: Array, grid: int) -> None:
        # Deviations from the first value keep their digits also where they are small.
        base = float(values[0]) if np.isfinite(values[0]) else 0.0
        self.series.append([clean(name), self._unit(unit), grid, self.length, base])
        self.values.append(values - base)
        self.length += len(values)

    def _unit(self, unit: str) -> int:
        return self.units.setdefault(unit, len(self.units))


def panels(solution: Solution, names: Iterable[str]) -> list[list[str]]:
    """Names by unit, as a plot shows them."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(solution.unit(name), []).append(clean(name))
    return list(found.values())


def _grid(t: Array, most: int) -> NDArray[np.int_]:
    return np.unique(np.linspace(0, len(t) - 1, min(len(t), most)).round().astype(int))


def _constant(values: Array) -> bool:
    return bool(np.all(values == values[0])) or not len(values)


def _packed(values: Array | Sequence[float]) -> str:
    with np.errstate(over="ignore"):
        return base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode("ascii")


def _finite(times: Array) -> list[float]:
    return [float(time) for time in np.asarray(times).ravel()[:500] if np.isfinite(time)]
