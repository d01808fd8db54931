"""The Miura fold of rigid panels."""

from __future__ import annotations

import math

import numpy as np

from cotree.api import Model
from cotree.model import Signal, Value
from cotree.model.helpful import helpful
from cotree.structures.making import NONE, Array, between, body, named, node, plate, positive, whole
from cotree.terminal.nodal import Fixed, ForceCable, OnLine, OnPlane

WHERE = "miura"


@helpful
def miura(
    rows: int = 2,
    columns: int = 2,
    *,
    a: float = 1.0,
    b: float = 1.0,
    corner: float = 1.0,
    fold: float = 0.6,
    mass: Value = 1.0,
    thickness: float = 0.01,
    tension: Signal = 5.0,
) -> Model:
    """A sheet of rigid parallelograms with sides a and b, hinged along all common sides, that folds flat.

        V_0_2 --- V_1_2 --- V_2_2        V_i_j: column line i along x, row line j along y
          /         \\         /          panel_i_j has the corners V_i_j, V_i+1_j, V_i+1_j+1, V_i_j+1
        V_0_1 --- V_1_1 --- V_2_1
          \\         /         \\
        V_0_0 --- V_1_0 --- V_2_0

    ``corner`` is the acute angle g of the parallelograms and ``fold`` the angle f between panels and the plane of the
    sheet: 0 is flat, which is singular, pi/2 is folded. Vertices are at (i S, j L + V for odd i, H for odd j) with
    H = a sin f sin g, L = a sqrt(1 - sin^2 f sin^2 g), V = b / sqrt(1 + cos^2 f tan^2 g), S = b cos f tan g /
    sqrt(1 + cos^2 f tan^2 g) (Schenk and Guest, PNAS 110, 2013): one angle moves all of the sheet.

    Panels are bodies over their four corners; sharing two corners is a hinge. V_0_0 is fixed, V_2_0 slides along x and
    V_0_2 keeps its height, which leaves that one degree of freedom; equations of the shared sides, and of all closed
    loops but the first, are redundant. The sheet starts at rest, and a cable under ``tension`` from V_0_0 to the last
    even vertex of its row draws it together. ``mass`` is that of a panel; there is no gravity.
    """
    whole(WHERE, "rows", rows, 2)
    whole(WHERE, "columns", columns, 2)
    positive(WHERE, a=a, b=b, thickness=thickness)
    between(WHERE, "corner", corner, 0.0, math.pi / 2, "the panels vanish, or are rectangles, which do not fold so")
    between(WHERE, "fold", fold, 0.0, math.pi / 2, "the sheet is flat, which is singular, or folded")
    model = Model(WHERE, gravity=NONE, parameters={"mass": mass})
    slope = math.cos(fold) * math.tan(corner)
    high = a * math.sin(fold) * math.sin(corner)
    long = math.sqrt(a**2 - high**2)
    shift = b / math.sqrt(1 + slope**2)
    step = shift * slope
    places: dict[tuple[int, int], Array] = {}
    for i in range(columns + 1):
        for j in range(rows + 1):
            places[i, j] = np.array([i * step, j * long + (i % 2) * shift, (j % 2) * high])
            node(model, f"V_{i}_{j}", places[i, j])
    for i in range(columns):
        for j in range(rows):
            corners = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
            shape = plate(places[i, j], places[i + 1, j] - places[i, j], places[i, j + 1] - places[i, j], thickness)
            body(model, f"panel_{i}_{j}", [f"V_{p}_{q}" for p, q in corners], "mass", shape)
    model.add(Fixed("root", "V_0_0"))
    model.add(OnLine("slide", "V_2_0", along=(1.0, 0.0, 0.0)))
    model.add(OnPlane("table", "V_0_2", normal=(0.0, 0.0, 1.0)))
    pull = named(model, "tension", tension)
    model.add(ForceCable("cable", ("V_0_0", f"V_{columns - columns % 2}_0"), tension=pull))
    return model
