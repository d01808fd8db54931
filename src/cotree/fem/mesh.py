"""Meshes: nodes, lines (beams), triangles (shells) and named sets of nodes; builders for simple shapes.

```
     top
    +--+--+     a grid lies in the plane of its two axes, x and y unless given, from its origin at the bottom left;
    |\\ | /|     "symmetric" cuts every square from the nearest corner of the grid towards its centre,
    +--+--+     "right" cuts all as /, "left" all as \\, and "crossed" by both with a node in the middle
    | /|\\ |
    +--+--+
    bottom
```
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cotree.errors import ModelError, listing, nearest
from cotree.fem import mesh_check as check
from cotree.fem.element import Array, Integers
from cotree.maths.viewed import Table, Viewed
from cotree.model.built import build
from cotree.model.form import FLAG, TEXT, VALUE, VECTOR, WHOLE, Schema, either, entries, listed, made_by, named, several
from cotree.model.quantity import LARGEST, finite

Vector = Sequence[float]
Pattern = Literal["symmetric", "right", "left", "crossed"]
_PATTERNS = ("symmetric", "right", "left", "crossed")
_PLANE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


@dataclass(frozen=True, eq=False)
class Mesh(Viewed):
    """Nodes with what joins them. Numbers count from 0; a mesh is checked when it is made."""

    nodes: Array
    """(N, 3) places in m, in the axes of the body."""
    lines: Integers = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    """(L, 2) nodes of each line."""
    triangles: Integers = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    """(T, 3) nodes of each triangle, neighbours turning the same way round."""
    sets: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Named groups of nodes."""
    source: str = ""
    """Where the mesh came from, for messages."""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    """The builder and its values, if there was one."""

    def __post_init__(self) -> None:
        try:
            self._check()
        except ModelError as error:
            if self.source:
                error.within(self.source)
            raise

    def _check(self) -> None:
        nodes = _table(self.nodes, 3, "nodes", float)
        check.check_count(len(nodes), "nodes")
        check.check_nodes(nodes)
        if not len(nodes):
            raise ModelError("the mesh has no nodes", expected="at least one node")
        lines = _table(self.lines, 2, "lines", np.int64)
        triangles = _table(self.triangles, 3, "triangles", np.int64)
        for cells, kind in ((lines, "line"), (triangles, "triangle")):
            check.check_count(len(cells), f"{kind}s")
            check.check_cells(cells, len(nodes), kind)
        check.check_lines(nodes, lines)
        check.check_triangles(nodes, triangles)
        check.check_orientation(triangles)
        sets = {}
        if not isinstance(self.sets, Mapping):
            raise ModelError(f"the sets are {self.sets!r}", expected="names, each with numbers of nodes")
        for name, given in self.sets.items():
            try:
                group = np.array([int(n) for n in given if n == int(n)], dtype=np.int64)
            except (TypeError, ValueError):
                raise ModelError(f"the set '{name}' is {given!r}", expected="numbers of nodes") from None
            wrong = group[(group < 0) | (group >= len(nodes))]
            if wrong.size or len(group) != len(given):
                text = f"has node {wrong[0]}" if wrong.size else f"is {given!r}"
                raise ModelError(f"the set '{name}' {text}", expected=f"numbers from 0 to {len(nodes) - 1}")
            sets[str(name)] = tuple(dict.fromkeys(group.tolist()))
        check.check_unused(len(nodes), [lines, triangles, *(np.array(g, dtype=np.int64) for g in sets.values())])
        for name, value in (("nodes", nodes), ("lines", lines), ("triangles", triangles)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "sets", sets)

    def __repr__(self) -> str:
        counts = f"{len(self.nodes)} nodes, {len(self.lines)} lines, {len(self.triangles)} triangles"
        return f"<Mesh: {counts}, sets {listing(self.sets, 8) or 'none'}>"

    def _view(self) -> Table | str:
        rows = [("nodes", len(self.nodes)), ("lines", len(self.lines)), ("triangles", len(self.triangles))]
        rows += [(f"set {name}", len(each)) for name, each in self.sets.items()]
        return Table(("", "number"), rows, len(rows))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mesh):
            return NotImplemented
        same = all(np.array_equal(getattr(self, x), getattr(other, x)) for x in ("nodes", "lines", "triangles"))
        return same and self.sets == other.sets

    def __hash__(self) -> int:
        return hash((self.nodes.tobytes(), self.lines.tobytes(), self.triangles.tobytes()))

    def nearest(self, point: Vector) -> int:
        """The number of the node nearest to a point."""
        return int(np.argmin(np.linalg.norm(self.nodes - _vector(point, "the point"), axis=1)))

    def node_at(self, point: Vector, tolerance: float | None = None) -> int:
        """The number of the node at a point, within a tolerance in m (a millionth of the mesh's size unless given)."""
        found = self.nearest(point)
        distance = float(np.linalg.norm(self.nodes[found] - np.asarray(point, dtype=float)))
        if distance > (1e-6 * self.length if tolerance is None else tolerance):
            raise ModelError(
                f"there is no node at {_point(point)}",
                where=self.source,
                expected="the place of a node",
                remedy=f"the nearest is node {found} at {_point(self.nodes[found])}, {distance:.4g} m away",
            )
        return found

    def group(self, name: str) -> tuple[int, ...]:
        """The nodes of a set."""
        if name not in self.sets:
            raise ModelError(
                f"the mesh has no set '{name}'",
                where=self.source,
                expected=f"one of {listing(self.sets)}" if self.sets else "a mesh with sets",
                remedy=nearest(name, self.sets),
            )
        return self.sets[name]

    @property
    def length(self) -> float:
        """Diagonal of the box around the nodes."""
        return float(np.linalg.norm(np.ptp(self.nodes, axis=0)))

    def to_data(self) -> dict[str, Any]:
        """Plain data from which `mesh_from_data` makes the mesh again."""
        for kind, values in self.recipe.items():
            if BUILDERS[kind](**values) == self:  # a copy may have been changed
                return {kind: dict(values)}
        data: dict[str, Any] = {"nodes": self.nodes.tolist()}
        data |= {"lines": self.lines.tolist()} if len(self.lines) else {}
        data |= {"triangles": self.triangles.tolist()} if len(self.triangles) else {}
        return data | ({"sets": {name: list(group) for name, group in self.sets.items()}} if self.sets else {})


def line(start: Vector, end: Vector, elements: int) -> Mesh:
    """A straight line cut into equal elements; sets ``start`` and ``end``."""
    return _with_recipe(polyline([start, end], elements), "line", start=start, end=end, elements=elements)


def polyline(points: Sequence[Vector], elements: int | Sequence[int] = 1) -> Mesh:
    """A line through points, every piece cut into so many elements; sets ``start``, ``end`` and ``points``."""
    corners = _table(points, 3, "points", float)
    if len(corners) < 2:
        raise ModelError(f"{len(corners)} points are given", expected="two points or more")
    pieces = len(corners) - 1
    counts = [elements] * pieces if isinstance(elements, int | np.integer) else list(elements)
    if len(counts) != pieces:
        raise ModelError(f"the elements are {elements!r}", expected=f"one number, or one for each of {pieces} pieces")
    counts = [_count(n, "elements") for n in counts]
    check.check_count(sum(counts) + 1, "nodes")
    steps = [a + (b - a) * (np.arange(n) / n)[:, None] for a, b, n in zip(corners, corners[1:], counts, strict=False)]
    nodes = np.vstack([*steps, corners[-1:]])
    at = np.concatenate([[0], np.cumsum(counts)])
    number = np.arange(len(nodes))
    sets = {"start": (0,), "end": (int(at[-1]),), "points": tuple(at.tolist())}
    mesh = Mesh(nodes, np.stack([number[:-1], number[1:]], axis=1), sets=sets)
    return _with_recipe(mesh, "polyline", points=corners, elements=counts)


def grid(
    size: Vector,
    cells: Sequence[int],
    pattern: Pattern = "symmetric",
    origin: Vector = (0.0, 0.0, 0.0),
    axes: Sequence[Vector] = _PLANE,
) -> Mesh:
    """A rectangle (a, b) of n x m squares cut into triangles, from its corner at ``origin`` along two axes.

    Sets: ``left``, ``right``, ``bottom``, ``top``, ``edge`` (all four), ``corners``, ``bottom_left`` and so on,
    ``centre`` where a node is there, and ``inner``, all that are not on the edge.
    """
    if pattern not in _PATTERNS:
        raise ModelError(
            f"there is no pattern '{pattern}'",
            expected=f"one of {listing(_PATTERNS)}",
            remedy=nearest(str(pattern), _PATTERNS),
        )
    lengths = _sizes(size, ("width", "height"))
    if _length(cells) != 2:
        raise ModelError(f"the cells are {cells!r}", expected="two numbers, along and across")
    n, m = (_count(c, "cells") for c in cells)
    if pattern == "symmetric" and (n % 2 or m % 2):
        raise ModelError(
            f"{n} x {m} cells are to be cut symmetrically",
            expected="even numbers of cells",
            remedy="use even numbers, or pattern 'crossed', 'right' or 'left'",
        )
    check.check_count((n + 1) * (m + 1) + (n * m if pattern == "crossed" else 0), "nodes")
    i, j = (part.ravel() for part in np.meshgrid(np.arange(n + 1), np.arange(m + 1), indexing="xy"))
    plane = np.stack([i / n * lengths[0], j / m * lengths[1]], axis=1)
    c, r = (part.ravel() for part in np.meshgrid(np.arange(n), np.arange(m), indexing="xy"))
    a = r * (n + 1) + c
    b, d = a + 1, a + n + 1
    e = d + 1  # corners of a cell: a b below, d e above
    if pattern == "crossed":
        x = len(plane) + np.arange(n * m)
        plane = np.vstack([plane, np.stack([(c + 0.5) / n * lengths[0], (r + 0.5) / m * lengths[1]], axis=1)])
        faces = np.stack([np.stack(t, 1) for t in ((a, b, x), (b, e, x), (e, d, x), (d, a, x))], axis=1)
    else:
        rising = {"right": c >= 0, "left": c < 0, "symmetric": (2 * c < n) == (2 * r < m)}[pattern][:, None]
        low = np.where(rising, np.stack([a, b, e], 1), np.stack([a, b, d], 1))
        high = np.where(rising, np.stack([a, e, d], 1), np.stack([b, e, d], 1))
        faces = np.stack([low, high], axis=1)
    first, second = _axes(axes)
    nodes = _vector(origin, "the origin") + plane @ np.stack([first, second])
    mesh = Mesh(nodes, triangles=faces.reshape(-1, 3), sets=_grid_sets(n, m, len(nodes), pattern == "crossed"))
    return _with_recipe(mesh, "grid", size=lengths, cells=(n, m), pattern=pattern, origin=origin, axes=axes)


def _grid_sets(n: int, m: int, count: int, crossed: bool) -> dict[str, tuple[int, ...]]:
    number = np.arange((n + 1) * (m + 1)).reshape(m + 1, n + 1)
    sides = {"left": number[:, 0], "right": number[:, -1], "bottom": number[0], "top": number[-1]}
    edge = np.unique(np.concatenate(list(sides.values())))
    sets = {name: tuple(side.tolist()) for name, side in sides.items()}
    corner = {"bottom_left": (0, 0), "bottom_right": (0, -1), "top_right": (-1, -1), "top_left": (-1, 0)}
    sets |= {name: (int(number[at]),) for name, at in corner.items()}
    sets |= {"corners": tuple(int(number[at]) for at in corner.values()), "edge": tuple(edge.tolist())}
    inner = np.setdiff1d(np.arange(count), edge)
    sets |= {"inner": tuple(inner.tolist())} if inner.size else {}
    if n % 2 == 0 and m % 2 == 0:
        sets["centre"] = (int(number[m // 2, n // 2]),)
    elif crossed and n % 2 and m % 2:
        sets["centre"] = (number.size + (m // 2) * n + n // 2,)
    return sets


def disc(radius: float, rings: int, centre: Vector = (0.0, 0.0, 0.0), axes: Sequence[Vector] = _PLANE) -> Mesh:
    """A full disc of so many rings, ring k with 6 k nodes; sets ``centre`` and ``rim``."""
    (reach,), count = _sizes([radius], ("radius",)), _count(rings, "rings")
    check.check_count(1 + 3 * count * (count + 1), "nodes")
    rows = [np.zeros(1, dtype=np.int64)]
    plane = [np.zeros((1, 2))]
    for k in range(1, count + 1):
        angle = 2 * np.pi * np.arange(6 * k) / (6 * k)
        plane.append(reach * k / count * np.stack([np.cos(angle), np.sin(angle)], axis=1))
        rows.append(1 + 3 * k * (k - 1) + np.arange(6 * k))
    faces = []
    for k in range(1, count + 1):
        inner, outer = rows[k - 1], rows[k]
        for sector in range(6):
            out = outer[(sector * k + np.arange(k + 1)) % len(outer)]
            inside = inner[(sector * (k - 1) + np.arange(k)) % len(inner)]
            faces.append(np.stack([inside, out[:-1], out[1:]], axis=1))
            faces.append(np.stack([inside[:-1], out[1:-1], inside[1:]], axis=1))
    nodes = _vector(centre, "the centre") + np.vstack(plane) @ np.stack(_axes(axes))
    mesh = Mesh(nodes, triangles=np.vstack(faces), sets={"centre": (0,), "rim": tuple(rows[-1].tolist())})
    return _with_recipe(mesh, "disc", radius=reach, rings=count, centre=centre, axes=axes)


def tube(radius: float, length: float, around: int, along: int, origin: Vector = (0.0, 0.0, 0.0)) -> Mesh:
    """A closed cylinder about the x axis, from ``origin``, triangles seen from outside; sets ``start`` and ``end``."""
    reach, long = _sizes([radius, length], ("radius", "length"))
    n, m = _count(around, "cells around", least=3), _count(along, "cells along")
    check.check_count(n * (m + 1), "nodes")
    angle = 2 * np.pi * np.arange(n) / n
    circle = np.stack([np.zeros(n), reach * np.cos(angle), reach * np.sin(angle)], axis=1)
    nodes = (circle + np.array([1.0, 0, 0]) * (long * np.arange(m + 1) / m)[:, None, None]).reshape(-1, 3)
    r, c = (part.ravel() for part in np.meshgrid(np.arange(m), np.arange(n), indexing="ij"))
    a, b = r * n + c, r * n + (c + 1) % n
    faces = np.stack([np.stack([a, b, b + n], 1), np.stack([a, b + n, a + n], 1)], axis=1).reshape(-1, 3)
    sets = {"start": tuple(range(n)), "end": tuple(range(m * n, (m + 1) * n))}
    mesh = Mesh(nodes + _vector(origin, "the origin"), triangles=faces, sets=sets)
    return _with_recipe(mesh, "tube", radius=reach, length=long, around=n, along=m, origin=origin)


def triangles(nodes: Sequence[Vector], faces: Any, *, turn: bool = False) -> Mesh:
    """A mesh of triangles as they are; with ``turn`` they are first turned so that neighbours agree."""
    given = _table(faces, 3, "triangles", np.int64)
    return Mesh(_table(nodes, 3, "nodes", float), triangles=check.oriented(given) if turn else given)


BUILDERS: dict[str, Callable[..., Mesh]] = {
    "line": line,
    "polyline": polyline,
    "grid": grid,
    "disc": disc,
    "tube": tube,
}
"""The functions that make a mesh, by name."""


def plain(nodes: Any, lines: Any = (), triangles: Any = (), sets: Any = None, orient: bool = False) -> Mesh:
    """A mesh by its parts; with ``orient`` triangles are first turned so that neighbours agree which side is up."""
    if not isinstance(orient, bool):
        raise ModelError(f"orient is {orient!r}", expected="true or false")
    faces = _table(triangles, 3, "triangles", np.int64)
    return Mesh(nodes, lines, check.oriented(faces) if orient else faces, {} if sets is None else sets)


def mesh_from_data(given: Any, where: str) -> Mesh:
    """A mesh as the user gave it: itself, or plain data such as ``{grid: {size: [2, 2], cells: [4, 4]}}``."""
    if isinstance(given, Mesh):
        return given
    if not isinstance(given, Mapping) or not given:
        raise ModelError(f"found {given!r}", where=where, expected=_EXPECTED)
    try:
        if "nodes" in given:
            return build(plain, given, where, "mesh", expected=_EXPECTED)
        ((kind, values),) = given.items() if len(given) == 1 else ((listing(map(str, given)), None),)
        if kind not in BUILDERS:
            raise ModelError(f"found '{kind}'", expected=_EXPECTED, remedy=nearest(str(kind), BUILDERS))
        if not isinstance(values, Mapping):
            raise ModelError(f"the {kind} is {values!r}", expected=_EXPECTED)
        return build(BUILDERS[kind], values, where, kind)
    except ModelError as error:
        error.within(where)
        raise


def mesh_schema() -> Schema:
    """What a model file may say of a mesh: a builder with its values, its nodes and cells, or a file."""
    parts = {
        "nodes": several(VECTOR, 1), "lines": several(listed(WHOLE, 2)), "triangles": several(listed(WHOLE, 3)),
        "sets": named(several(WHOLE)), "orient": FLAG,
    }  # fmt: skip
    file = {"file": TEXT, "orient": FLAG, "edge_lines": FLAG}
    values = {
        "size": listed(VALUE, 2),
        "cells": listed(WHOLE, 2),
        "axes": listed(VECTOR, 2),
        "points": several(VECTOR, 2),
    }
    places = dict.fromkeys(("start", "end", "origin", "centre"), VECTOR)
    return either(made_by(BUILDERS, values | places), entries(parts, ["nodes"]), entries(file, ["file"]))


_EXPECTED = (
    f"one of {', '.join(BUILDERS)} with its values, such as {{grid: {{size: [2, 2], cells: [4, 4]}}}}, or nodes with "
    "lines or triangles"
)


def _with_recipe(mesh: Mesh, kind: str, **values: Any) -> Mesh:
    plain = {key: np.asarray(value).tolist() for key, value in values.items()}
    parameters = inspect.signature(BUILDERS[kind]).parameters
    short = {
        key: value
        for key, value in plain.items()
        if parameters[key].default is inspect.Parameter.empty or np.asarray(parameters[key].default).tolist() != value
    }
    object.__setattr__(mesh, "recipe", {kind: short})
    return mesh


def _table(given: Any, width: int, what: str, kind: Any) -> Any:
    """An array (n, width) of numbers, copied."""
    try:
        table = np.array(given, dtype=float)
    except (TypeError, ValueError):
        table = np.zeros(1)  # not numbers, or rows of different length
    if table.size == 0:
        return np.zeros((0, width), dtype=kind)
    if table.ndim != 2 or table.shape[1] != width or (kind is np.int64 and (table != np.round(table)).any()):
        each = "coordinates" if kind is float else "numbers of nodes"
        shown = repr(given)
        if len(shown) > 80:
            shown = f"an array of shape {table.shape}" if table.ndim == 2 else f"a list such as {shown[:60]}..."
        raise ModelError(f"the {what} are {shown}", expected=f"a list of rows of {width} {each}")
    return table.astype(kind)


def _vector(given: Any, what: str) -> Array:
    try:
        vector = np.array(given, dtype=float)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (3,) or not (np.abs(vector) <= LARGEST).all():
        raise ModelError(f"{what} is {given!r}", expected="three finite coordinates")
    return vector


def _axes(given: Sequence[Vector]) -> tuple[Array, Array]:
    """Two unit vectors at a right angle."""
    if np.ndim(given) == 0 or len(given) != 2:
        raise ModelError(f"the axes are {given!r}", expected="two vectors")
    first, second = (_vector(axis, "an axis") for axis in given)
    sizes = np.linalg.norm(first), np.linalg.norm(second)
    if not min(sizes) > 0 or abs(first @ second) > 1e-9 * sizes[0] * sizes[1]:
        raise ModelError(f"the axes are {_point(first)} and {_point(second)}", expected="two vectors at a right angle")
    return first / sizes[0], second / sizes[1]


def _sizes(given: Any, names: Sequence[str]) -> list[float]:
    if _length(given) != len(names):
        raise ModelError(f"the size is {given!r}", expected=f"{' and '.join(names)} in m")
    pairs = zip(given, names, strict=True)
    given = [finite(value, name, "a length in m", "m") if isinstance(value, str) else value for value, name in pairs]
    for value, name in zip(given, names, strict=True):
        real = isinstance(value, int | float | np.number) and not isinstance(value, bool | complex)
        if not real or not 0 < value <= LARGEST:
            raise ModelError(f"the {name} is {value!r}", expected="a positive length in m")
    return [float(value) for value in given]


def _length(given: Any) -> int:
    """How many a list has; -1 for what is no list."""
    listed = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0)
    return len(given) if listed else -1


def _count(given: Any, what: str, least: int = 1) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
        raise ModelError(f"the number of {what} is {given!r}", expected=f"a whole number from {least}")
    return int(given)


def _point(point: Any) -> str:
    return f"({', '.join(f'{float(x):.6g}' for x in point)})"
