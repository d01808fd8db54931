"""Bond graphs as engineers draw them: half arrows, causal strokes, double lines for multibonds, boxes for masks."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, Polygon
from numpy.typing import NDArray

from cotree.model import Model
from cotree.view.arcs import text_size
from cotree.view.bond_layout import Layout, arrange
from cotree.view.bond_picture import Activated, Picture, Symbol, picture_of
from cotree.view.bond_shapes import DOUBLE, FONT, SMALL, Box, Route
from cotree.view.figures import INK, ShownFigure, clean, save, style, to_svg

Array = NDArray[np.float64]

SIGNAL = "#0072B2"
NAME = "#5b6270"
FILL = "#e6f0fa"
_MARGIN = 0.15
_WIDTH = 1.0
_STROKE = 1.7


def draw_bond_graph(model: Model, path: str | Path | None = None, level: str = "masks") -> Figure:
    """Draw a bond graph; returns the figure, and writes it where a path is given (SVG, PNG, PDF or TeX).

    ``level`` is ``masks`` for the graph as it was put together, ``open`` for all elements, or the name of a mask.
    """
    layout = arrange(picture_of(model, level))
    figure = draw_layout(layout)
    if path is not None and Path(path).suffix.lower() == ".tex":
        from cotree.results.store import replacing
        from cotree.view.bond_tikz import layout_tikz

        with replacing(Path(path)) as part:
            part.write_text(layout_tikz(layout), encoding="utf-8")
    elif path is not None:
        save(figure, path)
    return figure


def bond_svg(model: Model, level: str = "masks") -> str:
    """The drawing as one ``<svg>`` element that can be put into a page."""
    picture = picture_of(model, level)
    parts = {}
    layout = arrange(picture)
    for k, symbol in enumerate(picture.symbols):
        parts[f"node-{k}"] = parts[f"label-{k}"] = symbol.name
    for k, route in enumerate(layout.routes):
        parts[f"edge-{k}"] = route.bond.name
    prefix = f"bonds-{level}-".replace(" ", "-")
    return to_svg(draw_layout(layout), prefix, label=_words(picture), parts=parts)


def _words(picture: Picture) -> str:
    return f"Bond graph of {picture.title}: {len(picture.symbols)} symbols, {len(picture.arrows)} bonds"


def draw_layout(layout: Layout) -> Figure:
    """The figure of a layout, at its size."""
    left, bottom, right, top = layout.extent
    note = "" if layout.named else f"Names of {len(layout.picture.arrows)} bonds left out"
    head = 0.25 if note else 0.0
    wide = max(right - left + 2 * _MARGIN, text_size(note, 8.0)[0] + 0.2)
    high = top - bottom + 2 * _MARGIN + head
    with style():
        figure = ShownFigure(figsize=(wide, high))
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        ax.set_axis_off()
        ax.set_xlim(left - _MARGIN, left - _MARGIN + wide)
        ax.set_ylim(bottom - _MARGIN, bottom - _MARGIN + high)
        if note:
            figure.text(0.1 / wide, 1 - 0.06 / high, note, size=8, color=NAME, ha="left", va="top")
        for k, route in enumerate(layout.routes):
            _draw_route(ax, route, k)
        for k, symbol in enumerate(layout.picture.symbols):
            _draw_symbol(ax, symbol, layout.symbols[symbol.name], k)
        for label in layout.labels:
            ax.text(label.x, label.y, label.text, size=SMALL, color=NAME, ha="center", va="center_baseline", zorder=5)
    return figure


def _draw_symbol(ax: Axes, symbol: Symbol, box: Box, k: int) -> None:
    if symbol.box:
        corner = 0.06 if not symbol.letter else 0.001
        ax.add_patch(
            FancyBboxPatch(
                (box.x - box.half_width + corner, box.y - box.half_height + corner),
                2 * (box.half_width - corner), 2 * (box.half_height - corner),
                boxstyle=f"round,pad={corner},rounding_size={corner}",
                fc="white" if symbol.letter else FILL, ec=SIGNAL if symbol.letter else INK, lw=1.0, zorder=6,
                gid=f"node-{k}",
            )
        )  # fmt: skip
    port = not symbol.letter and not symbol.box
    looks: dict[str, Any] = {"color": NAME, "style": "italic"} if port else {"color": INK}
    if symbol.junction:
        looks["weight"] = "bold"
    looks |= {"ha": "center", "va": "center_baseline", "gid": f"label-{k}"}
    ax.text(box.x, box.y, clean(symbol.shown), size=FONT, zorder=7, **looks)


def _draw_route(ax: Axes, route: Route, k: int) -> None:
    points = route.points
    if isinstance(route.bond, Activated):
        tip, along, aside = points[-1], route.direction("head"), route.aside
        line = np.concatenate([points[:-1], [tip - 0.08 * along]])
        _line(ax, line, SIGNAL, 0.8, ls=(0, (3.5, 2.0)), gid=f"edge-{k}")
        head = [tip, tip - 0.1 * along + 0.035 * aside, tip - 0.1 * along - 0.035 * aside]
        ax.add_patch(Polygon(np.array(head), closed=True, fc=SIGNAL, ec="none", zorder=3))
        return
    if route.wide:
        for side in (DOUBLE, -DOUBLE):
            _line(ax, beside(points, side), INK, 0.8, gid=f"edge-{k}" if side > 0 else None)
    else:
        _line(ax, points, INK, _WIDTH, gid=f"edge-{k}")
    _line(ax, route.barb, INK, _WIDTH)
    if route.stroke is not None:
        _line(ax, route.stroke, INK, _STROKE)


def _line(ax: Axes, points: Array, colour: str, width: float, **looks: Any) -> None:
    ax.add_line(Line2D(points[:, 0], points[:, 1], color=colour, lw=width, solid_capstyle="butt", zorder=2, **looks))


def beside(points: Array, off: float) -> Array:
    """A line at a distance beside a polygon line, with mitred corners."""
    along = np.diff(points, axis=0)
    along = along / np.maximum(np.linalg.norm(along, axis=1), 1e-9)[:, None]
    normal = np.column_stack([-along[:, 1], along[:, 0]])
    corner = [normal[0]]
    for one, two in pairwise(normal):
        corner.append((one + two) / (1 + one @ two))
    return np.asarray(points + off * np.array([*corner, normal[-1]]))
