"""Results over time: one panel for each unit, names in legends, units with prefixes on the axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import Formatter
from numpy.typing import NDArray

from cotree.results import EnergyAudit, Solution
from cotree.view.figures import COLOURS, INK, clean, save, style

Array = NDArray[np.float64]

MOST_POINTS = 3000
"""Most points of a drawn line; longer histories are drawn by the least and greatest value of each stretch."""
MOST_NAMES = 12
"""Most results that are drawn when none is asked for."""
MOST_LISTED = 18
"""Most lines of a legend."""

_PREFIXES = {-15: "f", -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
_LINES = ("-", (0, (5, 1.8)), (0, (1.4, 1.4)), (0, (6, 1.6, 1.4, 1.6)))
_SIGNS = {"ohm": "Ω", "^2": "²", "^3": "³", " ": "·"}


def plot_solution(solution: Solution, names: Iterable[str] = (), path: str | Path | None = None) -> Figure:
    """Plot results over time; returns the figure, and writes it where a path is given (SVG, PNG or PDF).

    Results of one unit share a panel. A vector is drawn by its components. Without names the states are shown. An
    unknown name is a `ResultError`.
    """
    given = [names] if isinstance(names, str) else names
    chosen = list(dict.fromkeys(name for each in given for name in scalars(solution, each)))
    chosen = chosen or default_names(solution)
    panels: dict[str, list[str]] = {}
    for name in chosen:
        panels.setdefault(solution.unit(name), []).append(name)
    with style():
        heights = [2.0 if len(panels) > 1 else 2.9] * len(panels)
        figure, axes = _panels(max(len(panels), 1), heights or [2.9])
        for ax, (unit, members) in zip(axes, panels.items(), strict=False):
            _draw_lines(ax, solution.t, {name: solution[name] for name in members})
            _label_values(ax, _quantity(members), unit, [solution[name] for name in members])
        _label_time(figure, axes, solution.t)
    if path is not None:
        save(figure, path)
    return figure


def plot_energy(audit: EnergyAudit, path: str | Path | None = None) -> Figure:
    """Stored, dissipated and supplied energy over time, and below it what the balance lacks."""
    parts = {"supplied": audit.supplied, "dissipated": audit.dissipated, "stored": audit.stored}
    with style():
        figure, (above, below) = _panels(2, [2.5, 1.2])
        _draw_lines(above, audit.t, parts)
        _label_values(above, "energy", "J", list(parts.values()))
        _draw_lines(below, audit.t, {"closure error": audit.closure}, colours=(INK,))
        _label_values(below, "error", "J", [audit.closure])
        _label_time(figure, [above, below], audit.t)
    if path is not None:
        save(figure, path)
    return figure


def scalars(solution: Solution, name: str) -> list[str]:
    """The name itself, or those of a vector's components."""
    if name in solution:
        return [name]
    labels = ("x", "y", "z", "e0", "e1", "e2", "e3")
    return [part for label in labels if (part := f"{name}.{label}") in solution] or [name]


def default_names(solution: Solution) -> list[str]:
    """What is worth seeing when nothing is asked for: the states, or the first results that are not powers."""
    names = [name for name in solution.states if name in solution]
    names = names or [name for name in solution.names if not name.endswith(".power")]
    return names[:MOST_NAMES]


def pretty_unit(unit: str) -> str:
    """``m³/s`` for ``m^3/s``, ``N·m`` for ``N m``, ``Ω`` for ``ohm``."""
    for plain, sign in _SIGNS.items():
        unit = unit.replace(plain, sign)
    return unit


def with_prefix(unit: str, largest: float) -> tuple[str, float]:
    """The unit with an SI prefix that suits the largest value, and what one prefixed unit is in plain ones."""
    first = unit.replace("/", " ").split(" ")[0]
    plain = not first or "^" in first or first in ("kg", "1") or not math.isfinite(largest)
    if plain or largest <= 0 or 0.1 <= largest < 10_000:
        return pretty_unit(unit), 1.0
    power = min(max(3 * math.floor(math.log10(largest) / 3 + 1e-9), -15), 12)
    return _PREFIXES[power] + pretty_unit(unit), 10.0**power


def thinned(t: Array, values: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """A history that looks the same with fewer points: first, least and greatest value of each stretch, and the end."""
    if len(t) <= most:
        return t, values
    starts = np.linspace(0, len(t), max(most // 3, 1) + 1).astype(int)
    keep = [0, len(t) - 1]
    for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        part = values[a:b]
        known = np.flatnonzero(np.isfinite(part))
        keep.append(a)
        if len(known):
            keep += [a + int(known[np.argmin(part[known])]), a + int(known[np.argmax(part[known])])]
    index = np.unique(keep)
    return t[index], values[index]


class PrefixFormatter(Formatter):
    """Ticks of an axis in prefixed units, with as many digits as tell them apart."""

    def __init__(self, scale: float) -> None:
        self.scale, self.digits = scale, 0

    def set_locs(self, locs: Any) -> None:
        """Find the digits for these ticks."""
        values = np.asarray(locs, dtype=float) / self.scale
        step = float(np.min(np.diff(np.sort(values)))) if len(values) > 1 else 1.0
        self.digits = next((d for d in range(13) if np.all(np.abs(values - np.round(values, d)) < 1e-3 * step)), 12)

    def __call__(self, x: float, pos: int | None = None) -> str:
        value = round(x / self.scale, self.digits) + 0.0
        if abs(value) >= 1e6:
            return f"{value:.6g}".replace("-", "−")
        return f"{value:.{self.digits}f}".replace("-", "−")


def _panels(count: int, heights: list[float]) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(7.4, sum(heights) + 0.35), layout="constrained")
    grid = figure.subplots(count, 1, sharex=True, squeeze=False, height_ratios=heights)
    return figure, list(grid[:, 0])


def _draw_lines(ax: Axes, t: Array, lines: dict[str, Array], colours: Sequence[str] = COLOURS) -> None:
    for k, values in enumerate(lines.values()):
        look = _LINES[k // len(colours) % len(_LINES)]
        ax.plot(*thinned(t, values), color=colours[k % len(colours)], ls=look)
    words = [clean(name) for name in lines][:MOST_LISTED]
    handles = ax.get_lines()[: len(words)]
    legend = ax.legend(handles, [" "] * len(words), loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0)
    # Set afterwards, since matplotlib leaves out names that begin with an underscore.
    for text, word in zip(legend.get_texts(), words, strict=True):
        text.set_text(word)
    if len(lines) > len(words):
        legend.set_title(f"{len(words)} of {len(lines)} names", FontProperties(size=8))


def _label_values(ax: Axes, quantity: str, unit: str, values: list[Array]) -> None:
    largest = max((float(np.max(np.abs(v[np.isfinite(v)]), initial=0.0)) for v in values), default=0.0)
    prefixed, scale = with_prefix(unit, largest)
    ax.set_ylabel(f"{quantity} ({prefixed})" if quantity and prefixed else quantity or prefixed)
    ax.yaxis.set_major_formatter(PrefixFormatter(scale))
    if largest <= 0:
        ax.set_ylim(-1, 1)


def _label_time(figure: Figure, axes: list[Axes], t: Array) -> None:
    unit, scale = with_prefix("s", float(np.max(np.abs(t), initial=0.0)))
    axes[-1].set_xlabel(f"time ({unit})")
    axes[-1].xaxis.set_major_formatter(PrefixFormatter(scale))
    if len(t) and t[-1] > t[0]:
        axes[-1].set_xlim(float(t[0]), float(t[-1]))
    figure.align_ylabels(axes)


def _quantity(names: list[str]) -> str:
    """The word that all names end in, if they agree."""
    words = {name.rpartition(".")[2] for name in names}
    return clean(words.pop().replace("_", " ")) if len(words) == 1 else ""
