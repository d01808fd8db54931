"""A nodal structure in motion: the same view at several instants side by side.

Pictures are orthographic, drawn far to near; what is far is paler. Bars show the sign of their force by colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from cotree.errors import ModelError, ResultError
from cotree.model import Model
from cotree.results import Solution
from cotree.terminal.nodal.bars import Bar
from cotree.terminal.nodal.base import NodalPart, Node
from cotree.terminal.nodal.bodies import Body
from cotree.terminal.nodal.cables import Cable
from cotree.terminal.nodal.forces import Damper, Spring
from cotree.terminal.nodal.locks import Latch
from cotree.terminal.nodal.supports import Fixed, KeepDirection, Moved, OnLine, OnPlane
from cotree.view.figures import COLOURS, INK, ShownFigure, save, style

Array = NDArray[np.float64]
View = str | tuple[float, float] | None

PICTURES = 6
"""Instants that are drawn when none are asked for."""
MOST = 24
"""Most instants of one figure."""
IDLE = 1e-6
"""Part of the largest force below which a bar counts as free of force."""
SIZE = (8.6, 6.6)
"""Largest width and height of the figure in inches."""
PLANES = {"xy": (90.0, -90.0), "xz": (0.0, -90.0), "yz": (0.0, 0.0)}
OBLIQUE = (24.0, -62.0)
"""Elevation and azimuth in degrees of a view in space."""
WORTH = 1.2
"""How much larger pictures have to be in more rows."""
PALEST = 0.55
"""How much of the colour what is farthest loses."""

_FORCES = (("no force", "#8a909c"), ("tension", COLOURS[0]), ("compression", COLOURS[1]))
_BAR, _BODY, _CABLE, _SPRING = "#4d5566", COLOURS[4], COLOURS[2], COLOURS[3]
_ROOM, _FOOT = 0.34, 0.62
"""Inches under a picture for its time, and below all of them for the key."""


def draw_structure(
    model: Model,
    solution: Solution,
    times: Iterable[float] | None = None,
    path: str | Path | None = None,
    view: View = None,
    forces: bool | None = None,
) -> Figure:
    """Draw a structure in nodal coordinates at several instants; all pictures have the same scale and the same view.

    ``times`` are six even ones where none are given; the stored results nearest to them are shown. ``view`` is a plane
    (``"xy"``, ``"xz"`` or ``"yz"``) or a pair of elevation and azimuth in degrees; a planar model is seen in its plane.
    Bars have the colour of tension or compression unless some equations are redundant, since the forces are then not
    determined; ``forces`` says otherwise. Latches are filled once they are closed.
    Returns the figure, and writes it where a path is given (SVG, PNG or PDF).
    """
    shapes = _Shapes.of(model, solution, forces)
    chosen = _instants(solution, times)
    turn = _turn(PLANES["xy"] if model.planar and view is None else view)
    places = np.stack([solution[f"{name}.position"][chosen] for name in shapes.nodes]) @ turn.T  # node, instant, 3
    low, high = (which(places, axis=(0, 1)) for which in (np.min, np.max))
    room = 0.04 * max(float((high - low)[:2].max()), 1e-9)
    box = (low[0] - room, high[0] + room, low[1] - room, high[1] + room)
    with style():
        figure, axes, scale = _pictures(len(chosen), (box[1] - box[0], box[3] - box[2]))
        for k, (ax, index) in enumerate(zip(axes, chosen.tolist(), strict=True)):
            ax.set(xlim=box[:2], ylim=box[2:], aspect="equal", xticks=[], yticks=[])
            ax.set_axis_off()
            shapes.draw(ax, places[:, k], (low[2], high[2]), solution, index)
            ax.text(0.5, -0.03, f"{_time(solution.t[chosen], k)} s", transform=ax.transAxes, ha="center", va="top")
        _key(figure, shapes.key(), turn, scale)
    if path is not None:
        save(figure, path)
    return figure


@dataclass(frozen=True)
class _Shapes:
    """What is drawn, by numbers of nodes."""

    nodes: list[str]
    bars: list[tuple[int, int]]
    forces: Array
    """Force of each bar over the output times, or nothing."""
    bodies: list[tuple[int, ...]]
    """Faces of rigid bodies."""
    rods: list[tuple[int, int]]
    """Rigid bodies whose nodes are on a line."""
    cables: list[tuple[int, int]]
    springs: list[tuple[int, int]]
    supports: list[int]
    """Nodes that are fixed or moved."""
    guided: list[int]
    """Nodes on lines and planes."""
    latches: dict[str, int]

    @classmethod
    def of(cls, model: Model, solution: Solution, shown: bool | None) -> _Shapes:
        """The parts of a model that can be seen."""
        if not model.nodal:
            raise ModelError(
                "the model is not a structure in nodal coordinates",
                where=model.name,
                expected="nodes, bars and rigid bodies over nodes",
                remedy="Use plot() for results over time",
            )
        parts = list(model.components.values())
        nodes = [part.name for part in parts if isinstance(part, Node)]
        index = {name: k for k, name in enumerate(nodes)}
        bars = [part for part in parts if isinstance(part, Bar)]
        if shown is None:
            shown = not any(each.code == "redundant-rows" for each in solution.diagnostics)
        known = shown and bool(bars) and all(f"{bar.name}.force" in solution for bar in bars)
        forces = np.array([solution[f"{bar.name}.force"] for bar in bars]) if known else np.zeros((0, 0))
        start = np.stack([solution[f"{name}.position"][0] for name in nodes])
        faces, rods = _faces((part for part in parts if isinstance(part, Body)), index, start)

        def lines(*kinds: type[NodalPart]) -> list[tuple[int, int]]:
            ways = (part.nodes() for part in parts if isinstance(part, kinds))
            return list(dict.fromkeys((index[a], index[b]) for way in ways for a, b in pairwise(way)))

        def held(*kinds: type[NodalPart]) -> list[int]:
            return list(dict.fromkeys(index[part.nodes()[0]] for part in parts if isinstance(part, kinds)))

        return cls(
            nodes,
            [(index[a], index[b]) for a, b in (bar.nodes() for bar in bars)],
            forces,
            faces,
            rods,
            lines(Cable),
            lines(Spring, Damper),
            held(Fixed, Moved),
            held(OnLine, OnPlane, KeepDirection),
            {part.name: index[part.over[len(part.over) // 2]] for part in parts if isinstance(part, Latch)},
        )

    @property
    def width(self) -> float:
        """Of a bar, in points: many bars are thin."""
        return float(np.clip(2.4 - 0.22 * np.sqrt(len(self.bars) + len(self.rods)), 0.5, 2.0))

    def colours(self, k: int) -> list[str]:
        """Of the bars at an instant, by the sign of their force."""
        if not self.forces.size:
            return [_BAR] * len(self.bars)
        enough = IDLE * float(np.nanmax(np.abs(self.forces)))
        signs = np.where(np.abs(self.forces[:, k]) <= enough, 0, np.sign(np.nan_to_num(self.forces[:, k])))
        return [_FORCES[int(sign)][1] for sign in signs]

    def draw(self, ax: Axes, x: Array, depth: tuple[float, float], solution: Solution, k: int) -> None:
        """One picture; x are the places of the nodes on the paper and above it."""

        def paler(colours: Sequence[str], heights: Array) -> list[tuple[float, ...]]:
            away = PALEST * (depth[1] - heights) / max(depth[1] - depth[0], 1e-9)
            return [
                tuple(1 - (1 - part) * (1 - pale) for part in to_rgb(colour))
                for colour, pale in zip(colours, away, strict=True)
            ]

        if self.bodies:
            corners = [x[list(face)] for face in self.bodies]
            heights = np.array([corner[:, 2].mean() for corner in corners])
            order = np.argsort(heights, kind="stable")
            fills, edges = paler([_BODY] * len(corners), heights), paler([INK] * len(corners), heights)
            ax.add_collection(
                PolyCollection(
                    [corners[i][:, :2] for i in order],
                    facecolors=[(*fills[i], 0.55) for i in order],
                    edgecolors=[edges[i] for i in order],
                    linewidths=0.7,
                )
            )
        for ends, colours, look in (
            (self.springs, [_SPRING] * len(self.springs), {"linewidths": 0.9, "linestyles": [(0, (1.2, 1.2))]}),
            (self.rods, [_BODY] * len(self.rods), {"linewidths": 1.4 * self.width}),
            (self.bars, self.colours(k), {"linewidths": self.width}),
            (self.cables, [_CABLE] * len(self.cables), {"linewidths": 0.8, "linestyles": [(0, (4, 2))]}),
        ):
            if ends:
                pairs = x[np.array(ends)]
                heights = pairs[:, :, 2].mean(axis=1)
                order = np.argsort(heights, kind="stable")
                shades = paler(colours, heights)
                given: Any = {"colors": [shades[i] for i in order], "capstyle": "round", **look}
                ax.add_collection(LineCollection(list(pairs[order][:, :, :2]), **given))
        if len(x) <= 80:
            ax.plot(*x[:, :2].T, ls="", marker="o", ms=1.1 * self.width + 0.4, mfc=INK, mec="none", zorder=3)
        for nodes, mark, size in ((self.guided, "o", 3.2), (self.supports, "^", 5.5)):
            held: Any = {"ls": "", "marker": mark, "ms": size, "mfc": "white", "mec": INK, "mew": 0.8}
            ax.plot(*x[nodes, :2].T, zorder=4, clip_on=False, **held)
        for name, node in self.latches.items():
            when = solution.events.get(name, np.zeros(0))
            closed = bool(len(when)) and solution.t[k] >= when[0]
            ax.plot(*x[node, :2], marker="s", ms=4.5, mfc=INK if closed else "white", mec=INK, mew=0.9, zorder=5)

    def key(self) -> list[tuple[str, Line2D | Patch]]:
        """Words and samples of what is in the pictures."""
        found: list[tuple[str, Line2D | Patch]] = []
        if self.forces.size:
            enough = IDLE * float(np.nanmax(np.abs(self.forces)))
            for sign in (1, -1, 0):
                there = np.abs(self.forces) <= enough if sign == 0 else sign * self.forces > enough
                if there.any():
                    found.append((_FORCES[sign][0], Line2D([], [], color=_FORCES[sign][1], lw=2)))
        elif self.bars:
            found.append(("bar", Line2D([], [], color=_BAR, lw=2)))
        if self.bodies or self.rods:
            found.append(("rigid body", Patch(facecolor=_BODY, edgecolor=INK, alpha=0.6, lw=0.7)))
        if self.cables:
            found.append(("cable", Line2D([], [], color=_CABLE, lw=1, ls=(0, (4, 2)))))
        if self.springs:
            found.append(("spring or damper", Line2D([], [], color=_SPRING, lw=1, ls=(0, (1.2, 1.2)))))
        if self.supports:
            found.append(("support", Line2D([], [], ls="", marker="^", ms=5.5, mfc="white", mec=INK)))
        if self.guided:
            found.append(("guided", Line2D([], [], ls="", marker="o", ms=3.2, mfc="white", mec=INK)))
        if self.latches:
            found.append(("latch, open or closed", Line2D([], [], ls="", marker="s", ms=4.5, mfc="white", mec=INK)))
        return found


def _faces(
    bodies: Iterable[Body], index: Mapping[str, int], start: Array
) -> tuple[list[tuple[int, ...]], list[tuple[int, int]]]:
    """The hulls of the bodies: a line, a polygon or the faces of a solid, as numbers of nodes."""
    faces: list[tuple[int, ...]] = []
    rods: list[tuple[int, int]] = []
    for body in bodies:
        nodes = [index[name] for name in body.nodes()]
        x = start[nodes] - start[nodes].mean(axis=0)
        _, sizes, axes = np.linalg.svd(x, full_matrices=False)
        extent = int((sizes > 1e-6 * max(float(sizes[0]), 1e-12)).sum())
        if len(nodes) < 2 or sizes[0] < 1e-12:
            continue
        if extent == 1:
            along = x @ axes[0]
            rods.append((nodes[int(along.argmin())], nodes[int(along.argmax())]))
            continue
        from scipy.spatial import ConvexHull

        hull = ConvexHull(x @ axes[:2].T if extent == 2 else x)
        if extent == 2:
            faces.append(tuple(nodes[k] for k in hull.vertices))
        else:
            faces += [tuple(nodes[k] for k in face) for face in hull.simplices]
    return faces, rods


def _instants(solution: Solution, times: Iterable[float] | None) -> NDArray[np.intp]:
    """Numbers of the stored results nearest to the times."""
    t = solution.t
    asked = np.linspace(t[0], t[-1], PICTURES) if times is None else np.array(list(times), dtype=float)
    if not 1 <= len(asked) <= MOST:
        raise ResultError(
            f"{len(asked)} instants are asked for", where="times", expected=f"at least one and at most {MOST}"
        )
    slack = 1e-9 * max(abs(t[0]), abs(t[-1]), 1e-300)
    outside = asked[~((asked >= t[0] - slack) & (asked <= t[-1] + slack))]
    if len(outside):
        raise ResultError(
            f"{outside[0]:g} s is outside the run", where="times", expected=f"times from {t[0]:g} to {t[-1]:g} s"
        )
    return np.unique(np.abs(t[:, None] - asked).argmin(axis=0))


def _turn(view: View) -> Array:
    """Rows: right and up on the paper, and out of it towards the eye."""
    if isinstance(view, str):
        if view not in PLANES:
            raise ModelError(
                f"there is no view {view!r}", where="view", expected="xy, xz, yz, or a pair of angles in degrees"
            )
        view = PLANES[view]
    elevation, azimuth = np.radians(OBLIQUE if view is None else view)
    out = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    turn = np.array([right, np.cross(out, right), out])
    return np.where(np.abs(turn) < 1e-12, 0.0, turn)  # flat is flat


def _pictures(count: int, size: tuple[float, float]) -> tuple[Figure, list[Axes], float]:
    """Axes in the grid in which pictures of this size in m are largest, and the inches of one m."""
    gap, most = 0.25, 2.6
    best: tuple[float, int, int] = (0.0, 1, 1)
    for rows in range(1, count + 1):
        columns = -(-count // rows)
        width = (SIZE[0] - gap * (columns + 1)) / columns
        height = (SIZE[1] - _FOOT - rows * (_ROOM + gap / 2)) / rows
        scale = min(width / size[0], min(height, most) / size[1])
        if scale > WORTH * best[0]:
            best = (scale, columns, rows)
    scale, columns, rows = best
    width, height = (max(scale * each, 0.4) for each in size)
    whole = max(columns * width + gap * (columns + 1), 6.4)
    step = (whole - gap) / columns
    total = rows * (height + _ROOM) + (rows + 1) * gap / 2 + _FOOT
    figure = ShownFigure(figsize=(whole, total))
    axes = []
    for k in range(count):
        row, column = divmod(k, columns)
        left = gap / 2 + column * step + (step - width) / 2
        bottom = total - (row + 1) * (height + _ROOM + gap / 2) + _ROOM
        axes.append(figure.add_axes((left / whole, bottom / total, width / whole, height / total)))
    return figure, axes, scale


def _key(figure: Figure, entries: Sequence[tuple[str, Line2D | Patch]], turn: Array, scale: float) -> None:
    """The words below: what lines mean, a measure of length, and the directions of the axes."""
    width, height = figure.get_size_inches()
    ax = figure.add_axes((0, 0, 1, _FOOT / height))
    ax.set(xlim=(0, width), ylim=(0, _FOOT))
    ax.set_axis_off()
    for name, way in zip("xyz", turn[:2].T, strict=True):
        if np.hypot(*way) > 0.1:
            end = np.array([0.35, 0.2]) + 0.26 * way
            ax.annotate("", end, (0.35, 0.2), arrowprops={"arrowstyle": "-", "lw": 0.9, "color": INK})
            ax.text(0.35 + 0.36 * way[0], 0.2 + 0.36 * way[1], name, ha="center", va="center", fontsize=7.5)
    length = _round_length(0.9 / scale)
    right = width - 0.2
    ax.plot([right - length * scale, right], [0.2, 0.2], color=INK, lw=1.4, solid_capstyle="butt")
    ax.text(right - length * scale / 2, 0.26, f"{length:g} m", ha="center", va="bottom", fontsize=8)
    words, samples = [word for word, _ in entries], [sample for _, sample in entries]
    wide = sum(0.55 + 0.072 * len(word) for word in words)
    columns = -(-len(words) // (1 if wide < width - 2.3 else 2))
    ax.legend(samples, words, loc="center", ncols=max(columns, 1), columnspacing=1.3, handlelength=1.7, fontsize=8)


def _round_length(most: float) -> float:
    """The largest of 1, 2, 5, 10, ... that is not longer."""
    power = 10.0 ** np.floor(np.log10(max(most, 1e-12)))
    return float(power * max(step for step in (1, 2, 5) if step * power <= most * (1 + 1e-9)))


def _time(times: Array, k: int) -> str:
    """A time with as many digits as tell the times apart."""
    step = float(np.diff(times).min()) if len(times) > 1 else max(abs(float(times[0])), 1e-3)
    digits = int(np.clip(np.ceil(-np.log10(max(step, 1e-12))) + 1, 0, 9))
    return f"{times[k]:.{digits}f}"
