"""Tetrahedral trusses that fold: two triangular grids of folding members, joined by rigid diagonals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cotree.api import Model
from cotree.errors import ModelError
from cotree.model import Signal, Value
from cotree.model.helpful import helpful
from cotree.structures.making import NONE, Array, bar, between, named, node, positive, times, whole
from cotree.terminal.nodal import ForceCable, Gear, OnLine, OnPlane

WHERE = "tetrahedral_reflector"


@dataclass(frozen=True)
class _Member:
    """A folding member between two nodes of one grid, and the node of the other grid that both have a diagonal to."""

    a: str
    b: str
    other: str

    @property
    def hinge(self) -> str:
        return f"M_{self.a}_{self.b}"


@helpful
def tetrahedral_reflector(
    cells: int = 2,
    *,
    edge: float = 1.0,
    diagonal: float = 1.1,
    fold: float = 0.3,
    density: Value = 1.0,
    tension: Signal = 10.0,
) -> Model:
    """A triangular plate of tetrahedra, n cells along each side, that folds towards its middle.

    The upper grid is a triangle with n cells a side, U_i_j; below the middle of each of its upright cells is a node
    D_i_j of the lower grid, with a rigid ``diagonal`` to each of the cell's corners. Every member of both grids is two
    bars of half the ``edge`` with a hinge M_... in the middle, which moves into the truss (n = 2, from above):

                 U_0_2               upper members: sides of the upright cells, three for each
                 /   \\
            U_0_1 --- U_1_1          lower members: D_0_0-D_1_0, D_1_0-D_0_1, D_0_1-D_0_0
            /  D  \\   /  D  \\
        U_0_0 --- U_1_0 --- U_2_0

    ``fold`` is the angle of the half bars to the grid: members are edge * cos(fold) long, all at one time, and the
    depth grows as they shorten. Two chains of gears see to that: the angles between diagonals are equal in all
    triangles of two diagonals and a member, and so are the angles between a half bar and a diagonal, which keeps the
    hinges above each other's members. The first member slides along x with its hinge on an upright line, and one more
    upper node keeps its height. One degree of freedom; the start is at rest, without gravity, and cables along the
    chords of the upper members under ``tension`` fold it. Bars have ``density`` in kg/m.
    """
    whole(WHERE, "cells", cells, 1)
    positive(WHERE, edge=edge, diagonal=diagonal)
    between(WHERE, "fold", fold, 0.0, math.pi / 2, "members are straight, which is singular, or folded")
    chord = edge * math.cos(fold)
    if diagonal <= edge:
        raise ModelError(
            f"the diagonal is {diagonal:g} and the edge {edge:g}",
            where=WHERE,
            expected="diagonals longer than the edge, or the hinges of both grids meet",
            remedy="Make the diagonal longer",
        )
    model = Model(WHERE, gravity=NONE, parameters={"density": density})
    places = _places(cells, chord, math.sqrt(diagonal**2 - chord**2 / 3))
    for name, place in places.items():
        node(model, name, place)
    upper, lower = _members(cells)
    half, sag = times("density", edge / 2), edge / 2 * math.sin(fold)
    for each in (*upper, *lower):
        middle = (places[each.a] + places[each.b]) / 2
        inwards = -1.0 if each.a.startswith("U") else 1.0
        node(model, each.hinge, middle + np.array([0.0, 0.0, inwards * sag]))
        for end in (each.a, each.b):
            bar(model, f"half_{each.hinge}_{end}", end, each.hinge, half)
    for i, j in _cells(cells):
        for top in _corners(i, j):
            bar(model, f"diagonal_{i}_{j}_{top}", f"D_{i}_{j}", top, times("density", diagonal))
    _gears(model, upper, lower)
    first = upper[0]
    model.add(OnLine("line_a", first.a, along=(1.0, 0.0, 0.0)))
    model.add(OnLine("line_b", first.b, along=(1.0, 0.0, 0.0)))
    model.add(OnLine("line_hinge", first.hinge, along=(0.0, 0.0, 1.0)))
    model.add(OnPlane("level", "U_0_1", normal=(0.0, 0.0, 1.0)))
    pull = named(model, "tension", tension)
    for each in upper:
        model.add(ForceCable(f"cable_{each.a}_{each.b}", (each.a, each.b), tension=pull))
    return model


def _cells(cells: int) -> list[tuple[int, int]]:
    """The upright cells of the upper grid by their lower left corner."""
    return [(i, j) for j in range(cells) for i in range(cells - j)]


def _corners(i: int, j: int) -> tuple[str, str, str]:
    return (f"U_{i}_{j}", f"U_{i + 1}_{j}", f"U_{i}_{j + 1}")


def _places(cells: int, chord: float, depth: float) -> dict[str, Array]:
    """The nodes of both grids."""
    along, up = np.array([chord, 0.0, 0.0]), np.array([chord / 2, chord * math.sqrt(3) / 2, 0.0])
    down = (along + up) / 3 - np.array([0.0, 0.0, depth])
    places = {f"U_{i}_{j}": i * along + j * up for j in range(cells + 1) for i in range(cells + 1 - j)}
    return places | {f"D_{i}_{j}": i * along + j * up + down for i, j in _cells(cells)}


def _members(cells: int) -> tuple[list[_Member], list[_Member]]:
    """Upper members, three for each cell, and lower ones, one for each pair of cells with a common corner."""
    upper, lower = [], []
    for i, j in _cells(cells):
        p, q, r = _corners(i, j)
        upper += [_Member(a, b, f"D_{i}_{j}") for a, b in ((p, q), (q, r), (r, p))]
    every = _cells(cells)
    for n, (i, j) in enumerate(every):
        for k, m in every[n + 1 :]:
            common = set(_corners(i, j)) & set(_corners(k, m))
            lower += [_Member(f"D_{i}_{j}", f"D_{k}_{m}", corner) for corner in common]
    return upper, lower


def _gears(model: Model, upper: list[_Member], lower: list[_Member]) -> None:
    """Gears that let all members fold alike, each between two triangles with a common diagonal."""
    for n in range(0, len(upper), 3):
        first, second, third = upper[n : n + 3]
        for one, two in ((first, second), (second, third)):
            _mesh(model, one, two, one.b)
    reached = {upper[0].other}
    for each in lower:
        ends = [end for end in (each.a, each.b) if end in reached] or [each.a]
        new = [end for end in (each.a, each.b) if end not in reached]
        for cell in dict.fromkeys((ends[0], *new)):
            one = next(m for m in upper if m.other == cell and each.other in (m.a, m.b))
            _mesh(model, one, each, each.other)
        reached |= {each.a, each.b}


def _mesh(model: Model, one: _Member, two: _Member, corner: str) -> None:
    """Equal folds of two members whose triangles share the diagonal from ``corner`` to the other node of ``one``."""
    apex = one.other
    name = f"{one.hinge}_{two.hinge}"
    if two.other == apex:  # both in one cell: hubs at the lower node, and at the corner that they share
        legs = ((one.a, apex, one.b), (two.a, apex, two.b)), ((one.hinge, corner, apex), (two.hinge, corner, apex))
    else:  # a lower member: its diagonals meet in the corner
        legs = ((one.a, apex, one.b), (two.a, corner, two.b)), ((one.hinge, corner, apex), (two.hinge, apex, corner))
    model.add(Gear(f"gear_{name}", *legs[0]))
    model.add(Gear(f"swing_{name}", *legs[1]))
