"""The geometry of a drawn bond graph, in inches: boxes of symbols, bonds as lines, names that touch nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from cotree.view import arcs
from cotree.view.bond_picture import Activated, Arrow, Picture, Symbol
from cotree.view.bond_places import place_symbols
from cotree.view.bond_routes import Router
from cotree.view.bond_search import LARGE, Task, crossings, hits
from cotree.view.bond_shapes import DOUBLE, FONT, GAP, Box, Label, Route, Segment, small_size
from cotree.view.figures import clean

Array = NDArray[np.float64]

_CLEAR = 0.02
_LINES = ("bond ", "signal ")
NAMED = 90
"""Most bonds of a drawing that shows their names."""
_SHARES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82)


@dataclass
class Layout:
    """Where everything goes."""

    picture: Picture
    symbols: dict[str, Box]
    routes: list[Route] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    named: bool = True

    @property
    def boxes(self) -> list[Box]:
        """All rectangles: symbols, labels, strokes and arrow heads."""
        marks = [box for route in self.routes for box in route.boxes]
        return [*self.symbols.values(), *(label.box for label in self.labels), *marks]

    @property
    def segments(self) -> list[Segment]:
        """All straight pieces of bonds."""
        return [segment for route in self.routes for segment in route.segments]

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, bottom, right, top of all that is drawn."""
        boxes = self.boxes
        corners = [box.centre + s * box.half for box in boxes for s in (-1, 1)]
        every = np.array([*corners, *(point for route in self.routes for point in route.points)]).reshape(-1, 2)
        (left, bottom), (right, top) = every.min(axis=0), every.max(axis=0)
        return float(left), float(bottom), float(right), float(top)


def overlaps(layout: Layout) -> list[tuple[str, str]]:
    """All pairs that touch: boxes, boxes and bonds, bonds that cross or run together; none in a clear picture."""
    boxes, segments = layout.boxes, layout.segments
    found: list[tuple[str, str]] = []
    centre, half = _stacked(boxes)
    i, j = np.triu_indices(len(boxes), 1)
    touch = (np.abs(centre[i] - centre[j]) < half[i] + half[j] - 1e-9).all(axis=1)
    for a, b in zip(i[touch].tolist(), j[touch].tolist(), strict=True):
        marks = {boxes[a].kind, boxes[b].kind} <= {"stroke", "arrow head"}
        if not (marks and boxes[a].name == boxes[b].name):
            found.append((str(boxes[a]), str(boxes[b])))
    if not segments:
        return found
    p, q = np.array([s.p for s in segments]), np.array([s.q for s in segments])
    for a, b in np.argwhere(hits(p[:, None], q[:, None], centre, half)).tolist():
        if not (boxes[b].kind in ("stroke", "arrow head") and boxes[b].name == segments[a].name):
            found.append((str(segments[a]), str(boxes[b])))
    i, j = np.triu_indices(len(segments), 1)
    close = apart(p[i], q[i], p[j], q[j]) < 2 * DOUBLE + _CLEAR
    for a, b in zip(i[close].tolist(), j[close].tolist(), strict=True):
        if segments[a].name != segments[b].name:
            found.append((str(segments[a]), str(segments[b])))
    return found


def apart(p: Array, q: Array, a: Array, b: Array) -> Array:
    """Distances between segments p-q and a-b."""

    def to(point: Array, start: Array, end: Array) -> Array:
        along = end - start
        share = np.sum((point - start) * along, axis=-1) / np.maximum(np.sum(along * along, axis=-1), 1e-12)
        return np.asarray(np.linalg.norm(point - start - np.clip(share, 0, 1)[..., None] * along, axis=-1))

    ends = np.minimum(np.minimum(to(p, a, b), to(q, a, b)), np.minimum(to(a, p, q), to(b, p, q)))
    return np.asarray(np.where(crossings(p, q, a, b), 0.0, ends))


def _stacked(boxes: Iterable[Box]) -> tuple[Array, Array]:
    rows = np.array([(b.x, b.y, b.half_width, b.half_height) for b in boxes]).reshape(-1, 4)
    return rows[:, :2], rows[:, 2:]


@lru_cache(maxsize=20_000)
def _half(symbol: Symbol, degree: int) -> tuple[float, float]:
    """Half the size of a symbol; junctions with many bonds are larger."""
    if symbol.junction:
        size = 0.1 * max(1.0, degree / 7)
        return size, size
    width, height = arcs.text_size(clean(symbol.shown), FONT)
    if symbol.box:
        return max(width / 2 + 0.1, 0.22), max(height / 2 + 0.08, 0.05 * degree)
    return width / 2 + 0.02, max(height / 2 + 0.01, 0.09)


def arrange(picture: Picture) -> Layout:
    """Place all of a picture; it grows until nothing touches.

    Signal bonds between elements find their way when all else is placed. Where they cannot but cross bonds, the picture
    is placed anew with straight signal bonds.
    """
    best: tuple[int, Layout] | None = None
    large = len(picture.symbols) > LARGE
    for firm in (False,) if large else (False, True):
        job = _Job(picture, firm)
        if firm and not any(isinstance(bond, Activated) for bond in job.straight):
            break
        for scale in (1.0, 1.3, 1.75) if large else (1.0, 1.15, 1.3, 1.5, 1.75, 2.0):
            layout = job.at(scale)
            found = overlaps(layout)
            if best is None or len(found) < best[0]:
                best = len(found), layout
            # Lines that cross do so at any size.
            lines = [one.startswith(_LINES) and two.startswith(_LINES) for one, two in found]
            if all(lines) or (any(lines) and job.loose and not large):
                break
        assert best is not None
        if best[0] == 0:
            break
    assert best is not None
    return best[1]


class _Job:
    """One picture: symbols are placed once, then lines and labels for each scale."""

    def __init__(self, picture: Picture, firm: bool = False) -> None:
        self.picture, self.firm = picture, firm
        self.named = len(picture.arrows) <= NAMED
        names = [symbol.name for symbol in picture.symbols]
        self.index = {name: k for k, name in enumerate(names)}
        degree = dict.fromkeys(names, 0)
        for bond in picture.bonds:
            for end in (bond.tail, bond.head):
                degree[end] += 1
        self.half = np.array([_half(symbol, degree[symbol.name]) for symbol in picture.symbols]).reshape(-1, 2)
        self.straight, self.bent = self._shared_out()
        self.loose = any(isinstance(bond, Activated) for bond in self.bent) and not firm

    def _shared_out(self) -> tuple[list[Arrow | Activated], list[Arrow | Activated]]:
        """Bonds that are drawn straight, and those that find their way round the others."""
        bonded = {end for arrow in self.picture.arrows for end in (arrow.tail, arrow.head)}
        straight: dict[frozenset[str], Arrow | Activated] = {}
        bent: list[Arrow | Activated] = []
        signals = sorted(self.picture.signals, key=lambda s: s.tail in bonded and s.head in bonded)
        every: list[Arrow | Activated] = [*self.picture.arrows, *signals]
        for bond in every:
            pair = frozenset((bond.tail, bond.head))
            loose = isinstance(bond, Activated) and pair <= bonded and not self.firm
            if len(pair) == 1 or pair in straight or loose:
                bent.append(bond)
            else:
                straight[pair] = bond
        graph = nx.Graph(tuple(sorted(pair)) for pair in straight)
        if not nx.check_planarity(graph)[0]:
            graph = nx.Graph()
            for pair in list(straight):
                graph.add_edge(*sorted(pair))
                if not nx.check_planarity(graph)[0]:
                    graph.remove_edge(*sorted(pair))
                    bent.append(straight.pop(pair))
        return list(straight.values()), bent

    @cached_property
    def places(self) -> Array:
        """The symbols at scale one."""
        ends = [(self.index[b.tail], self.index[b.head]) for b in self.straight]
        loose = [(self.index[b.tail], self.index[b.head]) for b in self.bent if b.tail != b.head]
        room = [self._room(bond) for bond in self.straight]
        places = place_symbols(
            Task(self.half, np.array(ends, dtype=int).reshape(-1, 2), np.array(room).reshape(-1, 2),
                 np.array(loose, dtype=int).reshape(-1, 2))
        )  # fmt: skip
        right = sum(places[self.index[a.head], 0] - places[self.index[a.tail], 0] for a in self.picture.arrows)
        return places * np.array([-1.0, 1.0]) if right < -1e-6 else places  # power goes to the right, as one reads

    def _room(self, bond: Arrow | Activated) -> tuple[float, float]:
        """How much of a level and an upright bond must be seen: its head, its stroke and its name."""
        if isinstance(bond, Activated):
            return 0.45, 0.45
        names = [bond.width, bond.label] if self.named else [bond.width]
        return max(0.54, *(small_size(clean(name))[0] + 0.24 for name in names)), 0.54

    def at(self, scale: float) -> Layout:
        """Everything with the places of the symbols drawn apart."""
        boxes = {
            symbol.name: Box("symbol", symbol.name, float(x), float(y), float(w), float(h))
            for symbol, (x, y), (w, h) in zip(self.picture.symbols, self.places * scale, self.half, strict=True)
        }
        layout = Layout(self.picture, boxes, named=self.named)
        layout.routes = self._routes(boxes)
        _Namer(layout).run()
        return layout

    def _routes(self, boxes: dict[str, Box]) -> list[Route]:
        lines = {bond.name: np.array([boxes[bond.tail].centre, boxes[bond.head].centre]) for bond in self.straight}
        bent = [*self._spoilt(lines, boxes), *self.bent]
        router = Router(*_stacked(boxes.values()))
        routes = []
        for bond in self.straight:
            if bond not in bent:
                routes.append(Route(bond, _cut(lines[bond.name], boxes[bond.tail], boxes[bond.head])))
                router.add(routes[-1].points)
        for bond in bent:
            path = router.find(self.index[bond.tail], self.index[bond.head])
            routes.append(Route(bond, _cut(path, boxes[bond.tail], boxes[bond.head])))
            router.add(routes[-1].points)
        order = {bond.name: k for k, bond in enumerate(self.picture.bonds)}
        return sorted(routes, key=lambda route: order[route.bond.name])

    def _spoilt(self, lines: dict[str, Array], boxes: dict[str, Box]) -> list[Arrow | Activated]:
        """Straight bonds that cross others or meet symbols; as few as clear the picture."""
        centre, half = _stacked(boxes.values())
        found = []
        kept = list(self.straight)
        while kept:
            p, q = (np.array([lines[b.name][k] for b in kept]) for k in (0, 1))
            met = hits(p[:, None], q[:, None], centre, half + 0.03)
            for k, bond in enumerate(kept):
                met[k, [self.index[bond.tail], self.index[bond.head]]] = False
            count = 3 * met.sum(axis=1) + crossings(p[:, None], q[:, None], p, q).sum(axis=1)
            if not count.any():
                break
            found.append(kept.pop(int(np.argmax(count))))
        return found


def _cut(points: Array, tail: Box, head: Box) -> Array:
    """A line from centre to centre, cut short of the boxes at its ends."""
    for box, backward in ((tail, False), (head, True)):
        line = points[::-1] if backward else points
        inside = (np.abs(line - box.centre) <= box.half + GAP).all(axis=1)
        last = max(int(np.argmin(inside)) - 1, 0) if not inside.all() else len(line) - 2
        last = min(last, len(line) - 2)
        p, q = line[last], line[last + 1]
        along = q - p
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(
                np.abs(along) > 1e-12, (box.centre + np.sign(along) * (box.half + GAP) - p) / along, np.inf
            )
        line = np.concatenate([[p + min(float(share.min()), 0.9) * along], line[last + 1 :]])
        points = line[::-1] if backward else line
    return np.asarray(points)


class _Namer:
    """Puts names where they touch nothing."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.centre, self.half = _stacked(layout.boxes)
        segments = layout.segments
        self.p = np.array([s.p for s in segments]).reshape(-1, 2)
        self.q = np.array([s.q for s in segments]).reshape(-1, 2)

    def run(self) -> None:
        for symbol in self.layout.picture.symbols:
            if symbol.junction and symbol.text:
                self._put(
                    "name",
                    symbol.name,
                    clean(symbol.text),
                    self._beside(self.layout.symbols[symbol.name], clean(symbol.text)),
                )
        arrows = [route for route in self.layout.routes if isinstance(route.bond, Arrow)]
        for kind in ("name", "width"):
            for route in arrows:
                assert isinstance(route.bond, Arrow)
                text = clean(route.bond.label if kind == "name" else route.bond.width)
                if text and (self.layout.named or kind == "width"):
                    self._put(f"{kind} of bond", route.bond.name, text, self._along(route, text, kind == "name"))

    def _put(self, kind: str, name: str, text: str, tries: Iterator[tuple[float, float]]) -> None:
        half = np.array(small_size(text)) / 2
        best, least = (0.0, 0.0), 10**6
        for place in tries:
            count = int((np.abs(self.centre - place) < self.half + half + _CLEAR).all(axis=1).sum())
            count += int(hits(self.p, self.q, np.array(place), half + _CLEAR + DOUBLE).sum())
            if count < least:
                best, least = place, count
            if count == 0:
                break
        self.layout.labels.append(Label(kind, name, text, *best))
        self.centre = np.concatenate([self.centre, [best]])
        self.half = np.concatenate([self.half, [half]])

    def _beside(self, box: Box, text: str) -> Iterator[tuple[float, float]]:
        w, h = (size / 2 + 0.03 for size in small_size(text))
        for more in (0.0, 0.05, 0.1):
            x, y = box.half_width + w - 0.02 + more, box.half_height + h - 0.02 + more
            for right, up in ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0)):
                yield box.x + right * x, box.y + up * y

    def _along(self, route: Route, text: str, above: bool) -> Iterator[tuple[float, float]]:
        width, height = small_size(text)
        pieces = sorted(
            zip(route.points, route.points[1:], strict=False),
            key=lambda e: -round(float(np.linalg.norm(e[1] - e[0])), 6),
        )
        for more in (0.0, 0.04, 0.09):
            for p, q in pieces:
                along = (q - p) / max(float(np.linalg.norm(q - p)), 1e-9)
                normal = np.array([-along[1], along[0]])
                normal = -normal if (normal @ route.aside > 0) == above else normal
                off = abs(normal[0]) * width / 2 + abs(normal[1]) * height / 2 + DOUBLE + _CLEAR + 0.015 + more
                for side in (1, -1):
                    for share in _SHARES:
                        x, y = p + share * (q - p) + side * off * normal
                        yield float(x), float(y)
