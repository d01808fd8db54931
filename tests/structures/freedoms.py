"""Degrees of freedom of a structure by a witness of its own: first-order equations in numpy, and their singular values.

Bodies are written as in Xiang 2015, eq. 11 and 15: (I - H H^+) d = 0. Nothing of the formulation is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotree.api import Model
from cotree.terminal.nodal import Bar, Body, Fixed, Gear, KeepDirection, Moved, Node, OnLine, OnPlane

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Count:
    """What the singular values say."""

    nodes: int
    coordinates: int
    equations: int
    rank: int
    gap: float
    """The smallest singular value that counts over the largest that does not."""

    @property
    def modes(self) -> int:
        return self.coordinates - self.rank

    @property
    def redundant(self) -> int:
        return self.equations - self.rank


def places(model: Model) -> dict[str, Array]:
    """Start positions of the nodes."""
    nodes = [part for part in model.components.values() if isinstance(part, Node)]
    return {part.name: np.array([float(x) for x in part.position]) for part in nodes}


def count(model: Model, at: dict[str, Array] | None = None) -> Count:
    """Modes of the structure at the start, or at other positions of its nodes."""
    x = at or places(model)
    names = list(x)
    rows = [row for part in model.components.values() for row in _rows(part, x, names, model.planar)]
    matrix = np.array(rows)
    if model.planar:
        matrix = matrix[:, np.arange(3 * len(names)) % 3 < 2]
        matrix = matrix[np.linalg.norm(matrix, axis=1) > 1e-12]
    values = np.linalg.svd(matrix, compute_uv=False)
    rank = int((values > 1e-7).sum())
    rest = values[rank] if rank < len(values) else 0.0
    return Count(len(names), matrix.shape[1], len(matrix), rank, float(values[rank - 1] / max(rest, 1e-16)))


def angle(a: Array, hub: Array, b: Array) -> float:
    """The angle at a hub, without sign."""
    p, q = a - hub, b - hub
    return float(np.arctan2(np.linalg.norm(np.cross(p, q)), p @ q))


def _rows(part: object, x: dict[str, Array], names: list[str], planar: bool) -> list[Array]:
    match part:
        case Bar():
            way = _unit(x[part.node_b] - x[part.node_a])
            return [_row(names, {part.node_a: -way, part.node_b: way})]
        case Body():
            nodes = [names.index(name) for name in part.over]
            return _body_rows([x[name] for name in part.over], nodes, len(names), planar)
        case Fixed():
            return [_row(names, {part.node: e}) for e in np.eye(3)]
        case Moved():
            return [
                _row(names, {part.node: e}) for e, s in zip(np.eye(3), part.displacement, strict=True) if s is not None
            ]
        case OnLine():
            return [_row(names, {part.node: e}) for e in _across(np.array(part.along, dtype=float))]
        case OnPlane():
            return [_row(names, {part.node: _unit(np.array(part.normal, dtype=float))})]
        case KeepDirection():
            return [_row(names, {part.node_a: -e, part.node_b: e}) for e in _across(x[part.node_b] - x[part.node_a])]
        case Gear():
            return [_gear_row(part, x, names)]
    return []


def _unit(way: Array) -> Array:
    return way / np.linalg.norm(way)


def _across(way: Array) -> Array:
    return np.asarray(np.linalg.svd(way[None, :])[2][1:])


def _row(names: list[str], parts: dict[str, Array]) -> Array:
    row = np.zeros(3 * len(names))
    for name, way in parts.items():
        k = 3 * names.index(name)
        row[k : k + 3] += way
    return row


def _body_rows(at: list[Array], nodes: list[int], total: int, planar: bool) -> list[Array]:
    middle = sum(at) / len(at)
    blocks = []
    for place in at:
        rx, ry, rz = place - middle
        blocks.append(np.hstack([np.eye(3), [[0, rz, -ry], [-rz, 0, rx], [ry, -rx, 0]]]))
    H = np.vstack(blocks)
    columns = np.concatenate([np.arange(3 * k, 3 * k + 3) for k in nodes])
    if planar:
        flat = np.arange(len(H)) % 3 < 2
        H, columns = H[flat][:, [0, 1, 5]], columns[flat]
    left, values, _ = np.linalg.svd(H)
    free = left[:, int((values > 1e-9).sum()) :]  # what no rigid motion makes: the range of I - H H^+
    rows = []
    for way in free.T:
        row = np.zeros(3 * total)
        row[columns] = way
        rows.append(row)
    return rows


def _gear_row(part: Gear, x: dict[str, Array], names: list[str]) -> Array:
    def one(at: dict[str, Array], names: tuple[str, str, str]) -> float:
        if part.axis is None:
            return angle(*(at[n] for n in names))
        a, hub, b = ((at[n] - np.dot(at[n], part.axis) * np.array(part.axis))[:2] for n in names)  # axis z
        p, q = complex(*(a - hub)), complex(*(b - hub))
        return float(np.angle(-q / p))  # from half a turn on, where it is smooth

    def value(at: dict[str, Array]) -> float:
        return one(at, part.first) - float(part.ratio) * one(at, part.second)

    row, h = np.zeros(3 * len(names)), 1e-6
    for name in part.nodes():
        for k in range(3):
            step = h * np.eye(3)[k]
            rise = value(x | {name: x[name] + step}) - value(x | {name: x[name] - step})
            row[3 * names.index(name) + k] = rise / (2 * h)
    return row
