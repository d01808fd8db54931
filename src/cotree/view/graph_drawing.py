"""The linear graph as engineers draw it: tree branches bold, chords dashed, colours by what an edge is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Polygon
from matplotlib.path import Path as Curve
from numpy.typing import NDArray

from cotree.errors import CotreeError, listing
from cotree.graph import LinearGraph, Tree
from cotree.model import Edge, Kind, Role
from cotree.view.arcs import FONT_SIZE, RADIUS, Arc, Disc, Label, arcs, discs, place_labels, text_size
from cotree.view.collapse import NAMED, Drawn, drawn
from cotree.view.figures import INK, ShownFigure, clean, save, style, to_svg
from cotree.view.stubs import place_with_stubs

MOST = 5000
"""Most edges of a drawing that is not collapsed."""
NAMED_NODES = 80
STRAIGHT = 300
"""Edges beyond which none is bent around nodes."""

_ROLES = {
    Role.ACROSS_SOURCE: ("#D55E00", "across source"),
    Role.ACROSS_STORAGE: ("#0072B2", "across storage"),
    Role.STATIC: ("#5b6270", "static"),
    Role.THROUGH_STORAGE: ("#009E73", "through storage"),
    Role.THROUGH_SOURCE: ("#B0538F", "through source"),
}
_KINDS = {
    Kind.ARM: "#5b6270",
    Kind.POSITION_DRIVER: "#D55E00",
    Kind.POINT_JOINT: "#0072B2",
    Kind.LINE_JOINT: "#2f9fd8",
    Kind.BODY: "#009E73",
    Kind.FORCE: "#B0538F",
    Kind.DEPENDENT: "#9aa1ad",
}
_SEVERAL = (INK, "several kinds in one")
_TINTS = ("#ffffff", "#e6f0fa", "#fdf0dc", "#e7f5ec", "#f7e9f2", "#eeeeee", "#fbe4e0", "#e0f2f1")
_DASHES = (0, (4.5, 2.6))
_DOTS = (0, (1.2, 2.0))
_MARGIN = 0.18
_WIDEST = 14.0
"""Inches of a drawing without names; larger ones are shrunk as a whole."""

Array = NDArray[np.float64]


def draw_graph(
    tree: Tree | tuple[Tree, Tree],
    path: str | Path | None = None,
    *,
    title: str = "",
    ax: Axes | None = None,
    collapse: bool | None = None,
) -> Figure:
    """Draw a graph with its tree; returns the figure, and writes it where a path is given (SVG, PNG or PDF).

    Branches are bold and solid, chords thin and dashed, dependent virtual-work chords grey and dotted; datums are dark
    with a ground mark. Beyond 50 edges bodies with all their frames become nodes, and joints and forces edges between
    them; of a network parallel and series elements are joined; what is larger still is drawn as groups of nodes (see
    `cotree.view.collapse`). ``collapse`` says yes or no to that. Beyond 60 edges their names are left out, and the
    title says so. Of a pair of trees the first is drawn; the second, where it differs, goes to a file of its own:
    ``graph-rotation.svg``.
    """
    if isinstance(tree, tuple):
        first, second = tree
        if first == second:
            return draw_graph(first, path, title=title, ax=ax, collapse=collapse)
        if path is not None:
            other = Path(path).with_stem(f"{Path(path).stem}-rotation")
            draw_graph(second, other, title=title or "Tree of rotations", collapse=collapse)
        return draw_graph(first, path, title=title or "Tree of translations", ax=ax, collapse=collapse)
    picture = _picture(tree, collapse)
    with style():
        figure = _Drawing(picture, title).on(ax)
    if path is not None:
        save(figure, path)
    return figure


def graph_svg(tree: Tree, prefix: str = "", collapse: bool | None = None, scale: float = 1.0) -> tuple[str, str]:
    """The drawing as an ``<svg>`` element whose edges and nodes name their components, and what it leaves out."""
    picture = _picture(tree, collapse)
    with style():
        drawing = _Drawing(picture, "", plain=True)
        figure = drawing.on(None)
    label = f"Linear graph with {_count(tree.graph.v, 'node')} and {_count(tree.graph.e, 'edge')}"
    svg = to_svg(figure, prefix, _titles(picture), label, scale, _parts(picture))
    return svg, drawing.note


def _picture(tree: Tree, collapse: bool | None) -> Drawn:
    if collapse is False and tree.graph.e > MOST:
        raise CotreeError(
            f"a graph with {tree.graph.e} edges",
            where="draw_graph",
            expected=f"at most {MOST} edges where collapse=False",
            remedy="Leave out collapse=False, or draw a part of it: graph.without(edges, drop_isolated=True)",
        )
    return drawn(tree, collapse)


def _titles(picture: Drawn) -> dict[str, str]:
    """Tool tips of the drawn edges and of merged nodes, by the ids of their artists."""
    kinds = _colours(picture)[1]
    found = {}
    for k, edge in enumerate(picture.graph.edges):
        behind = picture.edges[edge.name]
        if len(behind) == 1:
            own = behind[0]
            place = "branch" if own.name in picture.bold else "chord"
            words = f"{own.name}: {own.tail} → {own.head}, {own.domain.name}, {kinds[k]}, {place}"
        else:
            words = f"{len(behind)} edges: {listing([own.name for own in behind], 12)}"
        found[f"edge-{k}"] = found[f"label-{k}"] = words
    for k, name in enumerate(picture.graph.nodes):
        if len(picture.nodes[name]) > 1:
            found[f"node-{k}"] = f"{picture.node_labels[name]}: {listing(picture.nodes[name], 12)}"
    return found


def _parts(picture: Drawn) -> dict[str, str]:
    """The component behind each drawn edge and node that stands for one, by the ids of their artists."""
    found: dict[str, str] = {}
    for k, edge in enumerate(picture.graph.edges):
        if len(parts := picture.parts(edge.name)) == 1:
            found |= dict.fromkeys((f"edge-{k}", f"tip-{k}", f"label-{k}"), parts[0])
    owners = {
        edge.head: edge.component
        for edges in picture.edges.values()
        for edge in edges
        if edge.component and edge.kind in (Kind.ARM, Kind.BODY) and edge.tail != edge.head
    }
    for k, name in enumerate(picture.graph.nodes):
        label = picture.node_labels[name]
        if owner := owners.get(name, label):
            found[f"node-{k}"] = found[f"name-{k}"] = owner
    return found


class _Drawing:
    """One picture: the geometry in inches first, then the artists."""

    def __init__(self, picture: Drawn, title: str, plain: bool = False) -> None:
        graph = self.graph = picture.graph
        self.picture = picture
        self.named = graph.e <= NAMED
        self.named_nodes = graph.v <= NAMED_NODES
        left_out = [] if self.named else [f"{graph.e} edges"]
        left_out += [] if self.named_nodes else [f"{graph.v} nodes"]
        names = f"names of {' and '.join(left_out)} left out" if left_out else ""
        self.note = "; ".join(part for part in (picture.note, names) if part)
        self.title = "" if plain else ": ".join(part for part in (clean(title), self.note) if part)
        self.edge_names = [clean(picture.edge_labels[edge.name]) if self.named else "" for edge in graph.edges]
        self.node_names = [clean(picture.node_labels[name]) if self.named_nodes else "" for name in graph.nodes]
        self.colours, self.kinds = _colours(picture)
        self._arrange()

    def _arrange(self) -> None:
        """Positions of everything; the picture grows until no name touches another."""
        unit = 1.0 if self.named else 0.55 if self.graph.e > 150 else 0.8
        places = place_with_stubs(self.graph, self._room() / unit, self.picture.stubs)
        for _ in range(6):
            self.nodes = discs(places * unit, self.node_names)
            self.arcs = arcs(self.graph, self.nodes, self.edge_names, straight=self.graph.e > STRAIGHT)
            self.labels, clear = place_labels(self.arcs, self.edge_names, self.nodes) if self._labelled else ([], True)
            if clear:
                return
            unit *= 1.15

    def _room(self) -> Array:
        """Length in inches that each edge needs for its name, its arrow head and the halves of its nodes."""
        half = [max(RADIUS, text_size(name)[0] / 2) if name else RADIUS / 3 for name in self.node_names]
        bare = 0.55 if self.named_nodes else 0.5
        ends = zip(self.graph.tail.tolist(), self.graph.head.tolist(), self.edge_names, strict=True)
        return np.array(
            [
                max(0.85, half[t] + half[h] + text_size(name)[0] + 0.42) if name else bare + half[t] + half[h]
                for t, h, name in ends
            ]
        )

    @property
    def _labelled(self) -> bool:
        return self.named and self.graph.e > 0

    @property
    def box(self) -> Array:
        """Left, bottom, right, top of all that is drawn."""
        marks = [(n.x + d * 0.34 * c, n.y + d * 0.34 * s) for n, (c, s) in self.marks for d in (1.0, 1.25)]
        points = [arc.points for arc in self.arcs] + [arc.head for arc in self.arcs]
        boxes = [node.box for node in self.nodes] + [label.box for label in self.labels]
        corners = [box.reshape(2, 2) for box in boxes]
        every = np.concatenate([*points, *corners, np.array(marks).reshape(-1, 2)])
        return np.concatenate([every.min(axis=0) - _MARGIN, every.max(axis=0) + _MARGIN])

    @property
    def marks(self) -> list[tuple[Disc, tuple[float, float]]]:
        """Each ground with the direction of its mark: down, or where there is most room; none where there is none."""
        found = []
        for place in sorted(self.graph.node_index(name) for name in self.picture.grounds):
            node = self.nodes[place]
            ends = [
                end
                for arc, t, h in zip(self.arcs, self.graph.tail, self.graph.head, strict=True)
                for end, at in ((arc.points[0], t), (arc.points[-1], h))
                if at == place
            ]
            used = [np.arctan2(*(end - node.centre)[::-1]) for end in ends]
            tries = np.deg2rad([-90, 0, 180, 90, -45, -135, 45, 135, *range(-165, 180, 15)])
            free = [min((abs((t - a + np.pi) % (2 * np.pi) - np.pi) for a in used), default=9.0) for t in tries]
            best = next((t for t, f in zip(tries[:8], free, strict=False) if f > 0.6), tries[int(np.argmax(free))])
            if max(free) > 0.35:
                found.append((node, (float(np.cos(best)), float(np.sin(best)))))
        return found

    def on(self, ax: Axes | None) -> Figure:
        """Draw on axes, or on a figure of the right size."""
        left, bottom, right, top = self.box.tolist()
        shrink = 1.0 if self.named else min(1.0, _WIDEST / max(right - left, top - bottom))
        handles, words = self._legend()
        columns, below = _columns(words, (right - left) * shrink)
        if ax is None:
            wide = max((right - left) * shrink, below[0], text_size(self.title, 10.0)[0] * 1.15 + 0.2)
            head = 0.3 if self.title else 0.0
            high = (top - bottom) * shrink + below[1] + head
            figure: Figure = ShownFigure(figsize=(wide, high))
            ax = figure.add_axes((0.0, below[1] / high, 1.0, (top - bottom) * shrink / high))
            spare = (wide / shrink - (right - left)) / 2
            left, right = left - spare, right + spare
            if self.title:
                figure.text(0.1 / wide, 1 - 0.08 / high, self.title, size=10, weight="bold", ha="left", va="top")
            anchor: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 0.0)}
            legend = figure.legend(handles, [" "] * len(words), ncols=columns, **anchor, **_LEGEND)
        else:
            owner = ax.figure
            figure = owner if isinstance(owner, Figure) else owner.figure
            ax.set_title(self.title)
            legend = ax.legend(
                handles, [" "] * len(words), ncols=columns, loc="upper center", bbox_to_anchor=(0.5, 0.0), **_LEGEND
            )
        for text, word in zip(legend.get_texts(), words, strict=True):
            text.set_text(word)
        ax.set_axis_off()
        ax.set_xlim(left, right)
        ax.set_ylim(bottom, top)
        ax.set_aspect("equal")
        self._draw(ax, shrink)
        return figure

    def _draw(self, ax: Axes, shrink: float) -> None:
        for k, (arc, colour) in enumerate(zip(self.arcs, self.colours, strict=True)):
            edge = self.graph.edges[k]
            _draw_arc(ax, arc, colour, k, shrink, _line(edge, edge.name in self.picture.bold, shrink))
        for k, label in enumerate(self.labels):
            _draw_label(ax, label, self.edge_names[k], self.colours[k], k)
        for node, towards in self.marks:
            _draw_ground(ax, node, towards, shrink)
        tints = _tints(self.graph)
        grounds = {self.graph.node_index(name) for name in self.picture.grounds}
        for k, (node, name) in enumerate(zip(self.nodes, self.node_names, strict=True)):
            _draw_node(ax, node, name, INK if k in grounds else tints.get(self.graph.nodes[k], "white"), k, shrink)

    def _legend(self) -> tuple[list[Line2D], list[str]]:
        """Lines for tree and cotree, colours for what occurs, tints for the domains where there are several."""
        rank, nullity = self.picture.counts
        handles = [Line2D([], [], color=INK, lw=2.6), Line2D([], [], color=INK, lw=1.4, ls=_DASHES)]
        words = [f"tree, {rank} {_plural('branch', rank, 'es')}", f"cotree, {nullity} {_plural('chord', nullity)}"]
        for colour, word in dict(
            sorted(zip(self.colours, self.kinds, strict=True), key=lambda p: _ORDER[p[0]])
        ).items():
            handles.append(Line2D([], [], color=colour, lw=3.2))
            words.append(word)
        domains = dict.fromkeys(edge.domain.name for edge in self.graph.edges)
        if len(domains) > 1:
            for name, tint in zip(domains, _TINTS, strict=False):
                handles.append(Line2D([], [], ls="", marker="o", ms=7, mfc=tint, mec=INK, mew=0.9))
                words.append(f"{name} node")
        return handles, words


_ORDER = {colour: k for k, colour in enumerate([c for c, _ in _ROLES.values()] + [*_KINDS.values(), INK])}
_LEGEND: Mapping[str, Any] = {
    "fontsize": 8,
    "handlelength": 2.2,
    "columnspacing": 1.5,
    "handletextpad": 0.6,
    "borderpad": 0.6,
}


def _colours(picture: Drawn) -> tuple[list[str], list[str]]:
    """Colour of each edge, and what the colour means: roles of a network, or kinds N1..N7 of a mechanism."""
    scalar = all(edge.kind is edge.role.kind for edge in picture.graph.edges)
    pairs = []
    for edge in picture.graph.edges:
        looks = {
            _ROLES[own.role] if scalar else (_KINDS[own.kind], f"{own.kind.symbol} {_kind_word(own)}")
            for own in picture.edges[edge.name]
        }
        pairs.append(looks.pop() if len(looks) == 1 else _SEVERAL)
    return [colour for colour, _ in pairs], [word for _, word in pairs]


def _kind_word(edge: Edge) -> str:
    return edge.kind.label.partition(", or ")[0]


def _tints(graph: LinearGraph) -> dict[str, str]:
    """Fill of each node by its domain."""
    domains = {name: k for k, name in enumerate(dict.fromkeys(edge.domain.name for edge in graph.edges))}
    return {
        node: _TINTS[domains[edge.domain.name] % len(_TINTS)] for edge in graph.edges for node in (edge.tail, edge.head)
    }


def _columns(words: list[str], width: float) -> tuple[int, tuple[float, float]]:
    """Number of columns of the legend, and its width and height in inches."""
    wide = max(text_size(word, 8)[0] for word in words) + 0.62
    columns = min(max(int(max(width, 3.4) / wide), 1), len(words))
    rows = -(-len(words) // columns)
    return columns, (columns * wide + 0.1, rows * 0.175 + 0.2)


def _count(count: int, word: str) -> str:
    return f"{count} {_plural(word, count)}"


def _plural(word: str, count: int, ending: str = "s") -> str:
    return word if count == 1 else word + ending


def _line(edge: Edge, branch: bool, shrink: float) -> dict[str, Any]:
    """Width and dashes: what the program adds by itself is the least to be seen."""
    if branch:
        return {"lw": 2.4 * shrink, "zorder": 3}
    if edge.kind == Kind.DEPENDENT:
        return {"lw": 1.0 * shrink, "ls": _DOTS, "zorder": 1.5}
    return {"lw": 1.3 * shrink, "ls": _DASHES, "zorder": 2}


def _draw_arc(ax: Axes, arc: Arc, colour: str, k: int, shrink: float, line: Mapping[str, Any]) -> None:
    curve = Curve(arc.control, [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4])
    ax.add_artist(PathPatch(curve, fill=False, ec=colour, capstyle="butt", gid=f"edge-{k}", **line))
    tip: dict[str, Any] = {"fc": colour, "ec": colour, "lw": 0.4 * shrink, "joinstyle": "miter", "gid": f"tip-{k}"}
    ax.add_artist(Polygon(arc.head, closed=True, zorder=3.5, **tip))


def _draw_label(ax: Axes, label: Label, name: str, colour: str, k: int) -> None:
    half = label.width / 2, label.height / 2
    ax.add_artist(
        FancyBboxPatch(
            (label.x - half[0], label.y - half[1]),
            label.width,
            label.height,
            boxstyle="round,pad=0.025,rounding_size=0.05",
            fc="white",
            ec="none",
            zorder=4,
        )
    )
    middle: dict[str, Any] = {"ha": "center", "va": "center_baseline", "gid": f"label-{k}"}
    ax.text(label.x, label.y, name, size=FONT_SIZE, color=colour, zorder=5, **middle)


def _draw_ground(ax: Axes, node: Disc, towards: tuple[float, float], shrink: float) -> None:
    """The ground mark: a stem and three bars that grow shorter."""
    along = np.array(towards)
    across = np.array([-along[1], along[0]])
    rim = (node.half if abs(along[0]) > 0.9 else node.radius) * along
    foot = node.centre + rim + 0.1 * along
    lines = [np.array([node.centre + rim, foot])]
    for k, half in enumerate((0.12, 0.075, 0.03)):
        middle = foot + 0.045 * k * along
        lines.append(np.array([middle - half * across, middle + half * across]))
    for line in lines:
        ax.add_artist(Line2D(line[:, 0], line[:, 1], color=INK, lw=1.3 * shrink, zorder=3.8, solid_capstyle="butt"))


def _draw_node(ax: Axes, node: Disc, name: str, fill: str, k: int, shrink: float) -> None:
    looks: dict[str, Any] = {"fc": fill, "ec": INK, "lw": 1.1 * shrink, "zorder": 6, "gid": f"node-{k}"}
    if node.half > node.radius:
        core, turn = node.half - node.radius, np.linspace(-np.pi / 2, 1.5 * np.pi, 49)
        side = np.where(np.arange(49) < 25, core, -core)
        rim = np.column_stack([node.x + side + node.radius * np.cos(turn), node.y + node.radius * np.sin(turn)])
        ax.add_artist(Polygon(rim, closed=True, **looks))
    else:
        ax.add_artist(Circle((node.x, node.y), node.radius, **looks))
    colour = "white" if fill == INK else INK
    if name:
        middle: dict[str, Any] = {"ha": "center", "va": "center_baseline", "gid": f"name-{k}"}
        ax.text(node.x, node.y, name, size=FONT_SIZE * shrink, color=colour, zorder=7, **middle)
