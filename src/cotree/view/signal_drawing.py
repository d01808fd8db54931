"""Signals of a machine as a block diagram: who gives what to whom, from left to right, with dashed arrows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from cotree.formulation.machine.explain import readings
from cotree.model import Model
from cotree.view.arcs import text_size
from cotree.view.figures import INK, ShownFigure, clean, style, to_svg

MOST = 60
"""Most arrows of a drawing."""
HIGH, GAP, APART = 0.34, 0.95, 0.34
"""Height of a box, and distances of boxes in inches: from one column to the next, and one below another."""
FONT = 8.0
_BLOCK, _PART, _SIGNAL = "#e6f0fa", "#ffffff", "#0072B2"


def signals_svg(model: Model) -> str:
    """The diagram as one ``<svg>`` element; empty where there is nothing to draw, or too much."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for giver, reader, name in readings(model):
        arrows.setdefault((giver, reader), []).append(name.removeprefix(f"{giver}."))
    if not arrows or len(arrows) > MOST:
        return ""
    columns = _columns(arrows)
    names = list(columns)
    with style():
        figure = _drawn(model, arrows, columns)
    parts = {f"node-{k}": name for k, name in enumerate(names) if name in model.components}
    return to_svg(figure, "w-", label=f"Signals between {len(names)} parts", parts=parts)


def _columns(arrows: Mapping[tuple[str, str], list[str]]) -> dict[str, int]:
    """The column of each part: after those that it reads; what closes a loop is left out of that."""
    reads: dict[str, list[str]] = {}
    for giver, reader in arrows:
        reads.setdefault(reader, []).append(giver)
        reads.setdefault(giver, [])
    found: dict[str, int] = {}
    open_: list[str] = []

    def depth(name: str) -> int:
        if name in found:
            return found[name]
        open_.append(name)
        found_below = [depth(giver) + 1 for giver in reads[name] if giver not in open_]
        open_.pop()
        found[name] = max(found_below, default=0)
        return found[name]

    for name in sorted(reads, key=lambda each: len(reads[each])):
        depth(name)
    return found


def _drawn(model: Model, arrows: Mapping[tuple[str, str], list[str]], columns: Mapping[str, int]) -> Figure:
    wide = {name: text_size(clean(name), FONT)[0] + 0.24 for name in columns}
    labels = {pair: _label(words) for pair, words in arrows.items()}
    longest = max(text_size(label, FONT - 1)[0] for label in labels.values())
    count = max(columns.values()) + 1
    members = [[name for name in columns if columns[name] == column] for column in range(count)]
    rows = max(map(len, members))
    left, places = 0.15, dict[str, tuple[float, float]]()
    for own in members:
        room = max((wide[name] for name in own), default=0.0)
        own.sort(
            key=lambda name: (
                -_mean([places[giver][1] for giver, reader in arrows if reader == name and giver in places])
            )
        )
        for k, name in enumerate(own):
            places[name] = left + room / 2, -(k + (rows - len(own)) / 2) * (HIGH + APART)
        left += room + max(GAP, longest + 0.6)
    back = any(columns[giver] >= columns[reader] for giver, reader in arrows)
    width = left - max(GAP, longest + 0.6) + 0.15 + (longest / 2 if back else 0.0)
    bottom = -(rows - 1) * (HIGH + APART) - HIGH / 2 - (0.6 if back else 0.15)
    figure = ShownFigure(figsize=(width, HIGH / 2 + 0.15 - bottom))
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_axis_off()
    ax.set_xlim(0.0, width)
    ax.set_ylim(bottom, HIGH / 2 + 0.15)
    for k, (name, (x, y)) in enumerate(places.items()):
        fill = _BLOCK if name in model.components and model.components[name].controls else _PART
        corner, shape = (x - wide[name] / 2, y - HIGH / 2), "round,pad=0,rounding_size=0.06"
        ax.add_patch(
            FancyBboxPatch(corner, wide[name], HIGH, boxstyle=shape, fc=fill, ec=INK, lw=1.0, zorder=3, gid=f"node-{k}")
        )
        ax.text(x, y, clean(name), size=FONT, ha="center", va="center_baseline", zorder=4)
    for (giver, reader), label in labels.items():
        (x0, y0), (x1, y1) = places[giver], places[reader]
        forward = columns[giver] < columns[reader]
        begin = (x0 + wide[giver] / 2, y0) if forward else (x0, y0 - HIGH / 2)
        end = (x1 - wide[reader] / 2, y1) if forward else (x1, y1 - HIGH / 2)
        bend = 0.0 if forward else -0.35
        look: dict[str, Any] = {
            "arrowstyle": "-|>",
            "mutation_scale": 9,
            "lw": 1.1,
            "ls": (0, (4, 2.4)),
            "color": _SIGNAL,
        }
        ax.add_patch(
            FancyArrowPatch(begin, end, connectionstyle=f"arc3,rad={bend}", shrinkA=0, shrinkB=0, zorder=2, **look)
        )
        half = (text_size(label, FONT - 1)[0] / 2 + 0.12) / max(end[0] - begin[0], 1e-9) if forward else 0.5
        x, y = (begin[k] + min(half, 0.5) * (end[k] - begin[k]) for k in (0, 1))
        y -= 0.0 if forward else 0.18 * abs(x1 - x0) + 0.05
        paper = {"fc": "white", "ec": "none", "pad": 0.8}
        ax.text(x, y, label, size=FONT - 1, color=_SIGNAL, ha="center", va="center", zorder=2.5, bbox=paper)
    return figure


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _label(names: list[str]) -> str:
    shown = ", ".join(dict.fromkeys(names[:2]))
    return clean(shown if len(names) <= 2 else f"{shown} and {len(names) - 2} more")
