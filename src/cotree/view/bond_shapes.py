"""The pieces of a drawn bond graph, in inches: boxes, labels, and bonds with their half arrows and causal strokes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cotree.view.arcs import text_size
from cotree.view.bond_picture import Activated, Arrow

Array = NDArray[np.float64]

FONT, SMALL = 10.0, 7.0
GAP = 0.08
"""Between the end of a bond and its symbol."""
STROKE = 0.065
"""Half the length of a causal stroke."""
BARB = (0.13, 0.06)
"""How far the half arrow goes back from the tip, and aside."""
DOUBLE = 0.018
"""Half the distance of the two lines of a multibond."""
_LINE = 0.008


@lru_cache(maxsize=20_000)
def small_size(text: str) -> tuple[float, float]:
    """Width and height of a small text."""
    return text_size(text, SMALL)


@dataclass(frozen=True)
class Box:
    """A rectangle that something takes: a symbol, a label, a stroke or an arrow head."""

    kind: str
    name: str
    x: float
    y: float
    half_width: float
    half_height: float

    @property
    def centre(self) -> Array:
        return np.array([self.x, self.y])

    @property
    def half(self) -> Array:
        return np.array([self.half_width, self.half_height])

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Segment:
    """A straight piece of a bond or a signal bond."""

    kind: str
    name: str
    p: tuple[float, float]
    q: tuple[float, float]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Label:
    """A small text with its centre."""

    kind: str
    name: str
    text: str
    x: float
    y: float

    @property
    def box(self) -> Box:
        """The rectangle of the text."""
        width, height = small_size(self.text)
        return Box(self.kind, self.name, self.x, self.y, width / 2, height / 2)


@dataclass(frozen=True)
class Route:
    """A drawn bond: its corners from tail to head, cut off short of the symbols."""

    bond: Arrow | Activated
    points: Array

    @property
    def kind(self) -> str:
        return "bond" if isinstance(self.bond, Arrow) else "signal"

    def direction(self, end: str) -> Array:
        """The unit vector of the last piece towards the tail or the head."""
        tip, before = (self.points[0], self.points[1]) if end == "tail" else (self.points[-1], self.points[-2])
        return np.asarray((tip - before) / max(float(np.linalg.norm(tip - before)), 1e-9))

    @property
    def aside(self) -> Array:
        """The side of the half arrow: below a level bond, right of an upright one."""
        x, y = self.direction("head")
        normal = np.array([-y, x])
        down = normal[1] < -1e-9 or (abs(normal[1]) <= 1e-9 and normal[0] > 0)
        return np.asarray(normal if down else -normal)

    @property
    def barb(self) -> Array:
        """The half arrow: from the tip back and aside, (2, 2)."""
        tip, along, aside = self.points[-1], self.direction("head"), self.aside
        start = tip + (DOUBLE * aside if self.wide else 0.0)
        return np.array([start, start - BARB[0] * along + BARB[1] * aside])

    @property
    def wide(self) -> bool:
        """Whether it is drawn as a double line."""
        return isinstance(self.bond, Arrow) and self.bond.wide

    @property
    def stroke(self) -> Array | None:
        """The causal stroke across one end, (2, 2)."""
        if not isinstance(self.bond, Arrow) or self.bond.stroke not in ("tail", "head"):
            return None
        at = self.points[0] if self.bond.stroke == "tail" else self.points[-1]
        x, y = self.direction(self.bond.stroke)
        across = STROKE * np.array([-y, x])
        return np.array([at - across, at + across])

    @property
    def boxes(self) -> list[Box]:
        """The rectangles of its arrow head and its stroke."""
        found = [_around("arrow head", self.bond.name, np.concatenate([self.points[-1:], self.barb]))]
        if isinstance(self.bond, Activated):
            tip, along, aside = self.points[-1], self.direction("head"), self.aside
            found = [
                _around(
                    "arrow head",
                    self.bond.name,
                    np.array([tip, *(tip - 0.1 * along + s * aside for s in (0.04, -0.04))]),
                )
            ]
        if self.stroke is not None:
            found.append(_around("stroke", self.bond.name, self.stroke))
        return found

    @property
    def segments(self) -> list[Segment]:
        """Its straight pieces."""
        ends = [(float(x), float(y)) for x, y in self.points]
        return [Segment(self.kind, self.bond.name, p, q) for p, q in pairwise(ends)]


def _around(kind: str, name: str, points: Array) -> Box:
    low, high = points.min(axis=0) - _LINE, points.max(axis=0) + _LINE
    (x, y), (w, h) = (low + high) / 2, (high - low) / 2
    return Box(kind, name, float(x), float(y), float(w), float(h))
