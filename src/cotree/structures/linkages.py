"""Planar linkages of bars."""

from __future__ import annotations

import math
from typing import Literal

from cotree.api import Model
from cotree.model import Value
from cotree.model.helpful import helpful
from cotree.structures.making import bar, between, node, one_of, positive
from cotree.terminal.nodal import Fixed

WHERE = "five_bar"


@helpful
def five_bar(
    start: Literal["up", "down"] = "up",
    *,
    mass: Value = 2.45076,
    length: float = 1.0,
    span: float = 2.0,
    gravity: Value = 9.81,
    distribution: Literal["lumped", "consistent"] = "lumped",
) -> Model:
    """The five-bar linkage of Xiang 2015, section 4.1: four equal bars between two fixed points, in a vertical plane.

              B               D                up: B and D above the fixed points
             / \\             / \\
            /   \\           /   \\
           A     `--- C ---'     E             down: the mirror image

    C starts half-way between A and E. It falls under its own weight. Two degrees of freedom: a symmetric and an
    unsymmetric one. ``mass`` is that of each bar, half at each end as in the paper unless the distribution is
    consistent; ``gravity`` points to -y.
    """
    one_of(WHERE, "start", start, ("up", "down"))
    positive(WHERE, length=length)
    between(WHERE, "span", span, 0.0, 4 * length, "the bars must reach across")
    model = Model(WHERE, planar=True, gravity=(0.0, "-g", 0.0), parameters={"g": gravity, "mass": mass})
    rise = math.sqrt(length**2 - (span / 4) ** 2) * (1 if start == "up" else -1)
    places = {"A": (0.0, 0.0), "B": (span / 4, rise), "C": (span / 2, 0.0), "D": (3 * span / 4, rise), "E": (span, 0.0)}
    for name, place in places.items():
        node(model, name, place)
    for a, b in ("AB", "BC", "CD", "DE"):
        bar(model, a + b, a, b, "mass", distribution)
    for end in "AE":
        model.add(Fixed(f"support_{end}", end))
    return model
