"""Results over time: one panel for each unit, names in legends, units with prefixes on the axes."""

from __future__ import annotations

import math
import re
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
from cotree.view.arcs import text_size
from cotree.view.figures import COLOURS, INK, ShownFigure, clean, save, style

Array = NDArray[np.float64]

MOST_POINTS = 3000
"""Most points of a drawn line; longer histories are drawn by first, least, greatest and last value of each stretch."""
MOST_NAMES = 12
"""Most results that are drawn when none is asked for."""
MOST_LISTED = 18
"""Most lines of a legend."""
MOST_MARKS = 60
"""Most events that are marked in a plot."""
LONGEST = 40
"""Most letters of a name in a legend."""

_PREFIXES = {-15: "f", -12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
_LINES = ("-", (0, (5, 1.8)), (0, (1.4, 1.4)), (0, (6, 1.6, 1.4, 1.6)))
_WIDE = 7.4
"""Inches of a figure."""
_AXIS = re.compile(r"[xyz]|[ec]\d")
_SIGNS = {"ohm": "Ω", "^2": "²", "^3": "³", " ": "·"}


def plot_solution(
    solution: Solution, names: Iterable[str] = (), path: str | Path | None = None, x: str = "t"
) -> Figure:
    """Plot results over time, or another result ``x``; returns the figure, and writes it to a path (SVG, PNG or PDF).

    Results of one unit share a panel. A vector is drawn by its components, a pattern by all that it matches. Without
    names the states are shown. Dotted lines mark events. An unknown name is a `ResultError`.
    """
    chosen = solution.matching(names) or default_names(solution)
    panels: dict[str, list[str]] = {}
    for name in chosen:
        panels.setdefault(solution.unit(name), []).append(name)
    with style():
        least = 2.0 if len(panels) > 1 else 2.9
        heights = [max(least, 0.19 * min(len(members), MOST_LISTED + 1) + 0.3) for members in panels.values()]
        figure, axes = _panels(max(len(panels), 1), heights or [2.9])
        for ax, (unit, members) in zip(axes, panels.items(), strict=False):
            _draw_lines(ax, solution[x], {solution.label(name): solution[name] for name in members}, thin=x == "t")
            _label_values(ax, _quantity(members), unit, [solution[name] for name in members])
            if x == "t":
                _mark_events(ax, solution)
        _label_along(figure, axes, solution[x], "time" if x == "t" else clean(x), solution.unit(x))
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
        _label_along(figure, [above, below], audit.t)
    if path is not None:
        save(figure, path)
    return figure


def default_names(solution: Solution) -> list[str]:
    """What is worth seeing when nothing is asked for: the states, or the first results that are not powers."""
    names = [name for name in solution.states if name in solution]
    names = names or [name for name in solution.names if not name.endswith(".power")]
    return names[:MOST_NAMES]


def pretty_unit(unit: str) -> str:
    """``m³/s`` for ``m^3/s``, ``N·m`` for ``N m``, ``Ω`` for ``ohm``."""
    if " or " in unit:
        return " or ".join(map(pretty_unit, unit.split(" or ")))
    for plain, sign in _SIGNS.items():
        unit = unit.replace(plain, sign)
    return unit


def with_prefix(unit: str, largest: float) -> tuple[str, float]:
    """The unit with an SI prefix that suits the largest value, and what one prefixed unit is in plain ones."""
    if not takes_prefix(unit) or not math.isfinite(largest) or largest <= 0 or 0.1 <= largest < 10_000:
        return pretty_unit(unit), 1.0
    power = min(max(3 * math.floor(math.log10(largest) / 3 + 1e-9), -15), 12)
    return _PREFIXES[power] + pretty_unit(unit), 10.0**power


def takes_prefix(unit: str) -> bool:
    """Whether a unit can have an SI prefix: not where its first part is a power, kg or nothing."""
    first = unit.replace("/", " ").split(" ")[0]
    return bool(first) and "^" not in first and first not in ("kg", "1")


def thinned(t: Array, values: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """A history that looks the same with fewer points."""
    index = extremes(values, most)
    return t[index], values[index]


def extremes(values: Array, most: int) -> NDArray[np.intp]:
    """Where the first, least, greatest and last value of each stretch are: about ``most`` places, all if they fit."""
    count = len(values)
    if count <= most:
        return np.arange(count)
    size = -(-count // max(most // 4, 1))
    starts = np.arange(0, count, size)
    rows = np.minimum(starts[:, None] + np.arange(size), count - 1)
    part = values[rows]
    known = np.isfinite(part)
    lows, highs = np.where(known, part, np.inf).argmin(axis=1), np.where(known, part, -np.inf).argmax(axis=1)
    here = np.arange(len(starts))
    return np.unique(np.concatenate([rows[:, 0], rows[:, -1], rows[here, lows], rows[here, highs]]))


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
    figure = ShownFigure(figsize=(_WIDE, sum(heights) + 0.35))
    grid = figure.subplots(count, 1, sharex=True, squeeze=False, height_ratios=heights)
    return figure, list(grid[:, 0])


def _fit(figure: Figure, axes: list[Axes]) -> None:
    """Margins that hold ticks, labels and legends: measured here, since a general layout takes far longer."""
    left, right = 0.35, 0.1
    for ax in axes:
        formatter = ax.yaxis.get_major_formatter()
        ticks = [text_size(word)[0] for word in formatter.format_ticks(ax.get_yticks().tolist())]
        left = max(left, max(ticks, default=0.0) + 0.42)
        if (legend := ax.get_legend()) is not None:
            words = [text_size(text.get_text())[0] for text in (*legend.get_texts(), legend.get_title())]
            right = max(right, max(words, default=0.0) + 0.68)
    wide, high = figure.get_size_inches()
    right = min(right, max(wide - left - 2.5, 0.1))
    gap = 0.28 * len(axes) / max(high - 0.62, 1.0)
    figure.subplots_adjust(left / wide, 0.48 / high, 1 - right / wide, 1 - 0.14 / high, hspace=gap)


def _draw_lines(
    ax: Axes, t: Array, lines: dict[str, Array], colours: Sequence[str] = COLOURS, thin: bool = True
) -> None:
    for k, values in enumerate(lines.values()):
        look = _LINES[k // len(colours) % len(_LINES)]
        ax.plot(*(thinned(t, values) if thin else (t, values)), color=colours[k % len(colours)], ls=look)
    words = [_shortened(clean(name)) for name in lines][:MOST_LISTED]
    handles = ax.get_lines()[: len(words)]
    legend = ax.legend(handles, [" "] * len(words), loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0)
    # Set afterwards, since matplotlib leaves out names that begin with an underscore.
    for text, word in zip(legend.get_texts(), words, strict=True):
        text.set_text(word)
    if len(lines) > len(words):
        legend.set_title(f"{len(words)} of {len(lines)} names", FontProperties(size=8))


def _mark_events(ax: Axes, solution: Solution) -> None:
    """A dotted line at the time of each event, unless there are so many that they hide the curves."""
    times = [float(time) for each in solution.events.values() for time in each]
    if 0 < len(times) <= MOST_MARKS:
        across = ax.get_xaxis_transform()
        ax.vlines(times, 0.0, 1.0, transform=across, colors="#e08a00", linestyles="dotted", lw=1.0, zorder=1.5)


def _shortened(name: str) -> str:
    """A name that leaves room for the plot: the middle of a very long one is left out."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST // 2 - 1]}…{name[-(LONGEST // 2) :]}"


def _label_values(ax: Axes, quantity: str, unit: str, values: list[Array]) -> None:
    largest = max((float(np.max(np.abs(v[np.isfinite(v)]), initial=0.0)) for v in values), default=0.0)
    prefixed, scale = with_prefix(unit, largest)
    ax.set_ylabel(f"{quantity} ({prefixed})" if quantity and prefixed else quantity or prefixed)
    ax.yaxis.set_major_formatter(PrefixFormatter(scale))
    if largest <= 0:
        ax.set_ylim(-1, 1)


def _label_along(figure: Figure, axes: list[Axes], t: Array, name: str = "time", unit: str = "s") -> None:
    prefixed, scale = with_prefix(unit, float(np.max(np.abs(t), initial=0.0)))
    axes[-1].set_xlabel(f"{name} ({prefixed})" if prefixed else name)
    axes[-1].xaxis.set_major_formatter(PrefixFormatter(scale))
    if name == "time" and len(t) and t[-1] > t[0]:
        axes[-1].set_xlim(float(t[0]), float(t[-1]))
    _fit(figure, axes)
    left = figure.subplotpars.left * _WIDE
    for ax in axes:
        wide = ax.get_position().width * _WIDE
        ax.yaxis.set_label_coords(-(left - 0.17) / wide, 0.5)


def _quantity(names: list[str]) -> str:
    """The word that all names end in, if they agree: ``angle``, ``position y``."""
    words = {name.rpartition(".")[2] for name in names}
    owners = {name.rpartition(".")[0].rpartition(".")[2] for name in names}
    if len(words) == 1 and len(owners) == 1 and _AXIS.fullmatch(next(iter(words))):
        words = {f"{owners.pop()} {words.pop()}".lstrip()}
    return clean(words.pop().replace("_", " ")) if len(words) == 1 else ""
