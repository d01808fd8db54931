"""The stiff-panel reflector of Xiang 2015, section 4.2."""

from __future__ import annotations

import math

import numpy as np

from cotree.api import Model
from cotree.model import Signal, Value
from cotree.model.helpful import helpful
from cotree.structures.making import NONE, Array, bar, between, body, named, node, plate, positive, times
from cotree.terminal.nodal import Fixed, ForceCable, Gear, Stop

WHERE = "reflector"
SHORT, DIAGONAL = 1.0, 1.5
"""Lengths of the bars, as the paper gives them; panels are 2 m long and 1 m wide."""
HINGED_AT = (1, 5, 5, 9)
"""The nodes of the first row about which the four panels turn."""


@helpful
def reflector(
    *,
    fold: float = 0.0,
    density: Value = 9.8,
    panel_mass: Value = 310.0,
    thickness: float = 0.02,
    tension: Signal = 50.0,
    stow: float | None = None,
) -> Model:
    """Four stiff panels of 2 m by 1 m on a truss that folds along x (a reading: the paper's text has no drawing).

        y
        |  1 ---- 2 ---- 3 ---- 4 ---- 5 ---- 6 ---- 7 ---- 8 ---- 9      chord: bars of 1 m
        |   \\    |     /  \\    |     /  \\    |     /  \\    |     /        diagonals of 1.5 m
        |     \\  |   /      \\  |   /      \\  |   /      \\  |   /
        |        19            20            21            22             cables 2-19, 4-20, 6-21, 8-22
        +----------------------------------------------------- x

    Row 1 at z = 0 has the nodes 1..9 and 19..22, row 2 at z = 1 m has 10..18 and 23..26 in the same places. Nine bars
    of 1 m join 1-10, 3-12, 5-14, 7-16, 9-18, 19-23, 20-24, 21-25, 22-26. With 16 diagonals and 16 bars of the chords
    there are 41 bars. Panels turn about 1-10, 5-14 (two of them) and 9-18, carry the hinges of the chord half-way
    (2-11, 4-13, 6-15, 8-17), and lie flat over the chord when it is straight. Panels 1 and 2 share a ball joint in the
    middle of their free edges, node 27 at 3-12, and so do panels 3 and 4, node 28 at 7-16. Eight cables with 50 N pull
    2, 4, 6, 8 down to the nodes below (as in row 2): the chord bends by the angle ``fold`` in every bay, the panels
    swing down between the rows, the diagonals close, and the reflector is stowed as the angle goes to pi/2.

    Gears. Those at 3..7 (12..16) turn the two bars of the chord there by the same angle as those at the next node, the
    other way round; those at 2 and 8 (11 and 17) keep both bars of the chord at one angle to the panel's line across,
    so that 3-12 and 7-16 stay square.

    Supports. In the paper's Adams count no joint but the 76 spherical ones can hold it, and a structure that floats
    has six modes before it folds at all; so some of those joints are on the ground. Here 1 and 10 are fixed: the edge
    by which it is carried. With 28 nodes, 20 nodes of panels and two on the ground there are 2*41 + 20 - 28 + 2 = 76.

    Counts: 45 parts (41 bars, 4 panels), 76 spherical joints, 14 gears, 84 coordinates; 41 + 4*9 + 6 + 14 = 97
    equations of rank 78, so 19 are redundant and six modes are left, at every fold angle: folding, turning about the
    fixed edge, and swaying of each of the four lower cross bars along z. With the 41 spins of bars Adams counts 47.

    The masses are not in the paper. Bars have ``density`` in kg/m, that of the paper's other truss, and are uniform;
    panels are plates with ``panel_mass``, about that of 20 mm of steel: so chosen that the angle, which starts at zero,
    is pi/2 - 0.1 after the 9.07 s of the paper. There is no gravity; it starts at rest. With ``stow``, the angle of
    the predetermined stowed shape, a stop ends the run there.
    """
    between(WHERE, "fold", fold, -1e-12, math.pi / 2, "fully deployed, and stowed")
    positive(WHERE, thickness=thickness)
    model = Model(WHERE, gravity=NONE, parameters={"density": density, "panel_mass": panel_mass})
    places = _places(fold)
    for k, place in places.items():
        node(model, f"N{k}", place)
    for k, (a, b) in enumerate(_bars(), 1):
        length = float(np.linalg.norm(places[b] - places[a]))
        bar(model, f"bar_{k}", f"N{a}", f"N{b}", times("density", length))
    for s, hinge in enumerate(HINGED_AT):
        over = (hinge, hinge + 9, 2 + 2 * s, 11 + 2 * s, 27 + s // 2)
        edge = 2 * (places[2 + 2 * s] - places[hinge])
        shape = plate(places[hinge], edge, np.array([0.0, 0.0, SHORT]), thickness)
        body(model, f"panel_{s + 1}", [f"N{k}" for k in over], "panel_mass", shape)
    for row in range(2):
        _gears(model, 9 * row, 9 - 18 * row)
    if stow is not None:
        between(WHERE, "stow", stow, fold, math.pi / 2, "it starts there, or all bars are upright")
        model.add(Stop("stowed", ("N1", "N3"), least=2 * SHORT * math.cos(stow), action="end"))
    for k in (1, 10):
        model.add(Fixed(f"edge_{k}", f"N{k}"))
    pull = named(model, "tension", tension)
    for row in range(2):
        for s in range(4):
            ends = (f"N{19 + s + 4 * row}", f"N{2 + 2 * s + 9 * row}")
            model.add(ForceCable(f"cable_{1 + s + 4 * row}", ends, tension=pull))
    return model


def _places(fold: float) -> dict[int, Array]:
    """Where the nodes are at a fold angle."""
    step, dip = SHORT * math.cos(fold), SHORT * math.sin(fold)
    depth = math.sqrt(DIAGONAL**2 - step**2)
    places = {}
    for row in range(2):
        z = SHORT * row
        for k in range(9):
            places[1 + k + 9 * row] = np.array([k * step, -dip if k % 2 else 0.0, z])
        for s in range(4):
            places[19 + s + 4 * row] = np.array([(2 * s + 1) * step, -depth, z])
    for s in range(2):
        places[27 + s] = np.array([(2 + 4 * s) * step, -2 * dip, SHORT / 2])
    return dict(sorted(places.items()))


def _bars() -> list[tuple[int, int]]:
    """Diagonals, bars of the chords, and cross bars."""
    diagonals = []
    for row in range(2):
        for s in range(4):
            low, top = 19 + s + 4 * row, 1 + 2 * s + 9 * row
            diagonals += [(low, top), (low, top + 2)]
    chords = [(k + 9 * row, k + 1 + 9 * row) for row in range(2) for k in range(1, 9)]
    return [*diagonals, *chords, *((k, k + 9) for k in range(1, 10, 2)), *((k, k + 4) for k in range(19, 23))]


def _gears(model: Model, o: int, across: int) -> None:
    """The gears of one row, whose chord has the nodes o + 1 to o + 9; ``across`` leads to the other row."""
    for k in (2, 8):
        before, hub, after, opposite = (f"N{n}" for n in (o + k - 1, o + k, o + k + 1, o + k + across))
        model.add(Gear(f"gear_{o + k}", (before, hub, opposite), (after, hub, opposite)))
    for k in range(3, 8):
        a, b, c, d = (f"N{o + n}" for n in range(k - 1, k + 3))
        model.add(Gear(f"gear_{o + k}", (a, b, c), (b, c, d), ratio=-1.0, axis=(0.0, 0.0, 1.0)))
