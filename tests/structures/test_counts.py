"""Degrees of freedom, redundant equations and parts of every structure, counted by singular values in numpy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from _counting import calls
from cotree import structures as s
from cotree.terminal.nodal import Bar, Body, Fixed, Node
from structures.freedoms import count, places

COUNTS = [
    (lambda: s.five_bar(), 2, 0),
    (lambda: s.five_bar("down"), 2, 0),
    (lambda: s.ring_truss(), 15, 0),
    (lambda: s.ring_truss(6), 9, 0),
    (lambda: s.scissor_chain(1), 1, 0),
    (lambda: s.scissor_chain(5), 1, 0),
    (lambda: s.scissor_chain(3, motion="-0.1*t"), 0, 0),
    (lambda: s.scissor_ring(4, opening=0.5), 1, 4),
    (lambda: s.scissor_ring(9, opening=0.5), 1, 4),
    (lambda: s.miura(2, 2), 1, 4),
    (lambda: s.miura(3, 4), 1, 19),
    (lambda: s.triangular_mast(1), 1, 0),
    (lambda: s.triangular_mast(3), 1, 0),
    (lambda: s.triangular_mast(3, synchronised=False), 3, 0),
    (lambda: s.triangular_mast(2, kind="coilable"), 6, 0),
    (lambda: s.tetrahedral_reflector(1), 1, 0),
    (lambda: s.tetrahedral_reflector(2), 1, 0),
    (lambda: s.tetrahedral_reflector(3), 1, 3),
    (lambda: s.reflector(), 6, 19),
    (lambda: s.reflector(fold=0.5), 6, 19),
    (lambda: s.reflector(fold=1.45), 6, 19),
]


@pytest.mark.parametrize(("make", "modes", "redundant"), COUNTS)
def test_modes_and_redundant_equations(make: Callable[[], ct.Model], modes: int, redundant: int) -> None:
    found = count(make())
    assert (found.modes, found.redundant) == (modes, redundant)
    assert found.gap > 1e6  # singular values are either large or nothing


def test_the_formulation_finds_the_same_modes() -> None:
    for model, modes in ((s.reflector(), 6), (s.miura(3, 2), 1), (s.scissor_ring(5, opening=0.4), 1)):
        equations = model.equations()
        assert len(equations.u) - len(equations.multipliers) == modes


def test_a_straight_scissor_cannot_move_in_a_ring() -> None:
    model = s.scissor_ring(6, opening=0.4)
    x = places(model)
    for k in range(1, 7):  # pivots where the lines between the ends cross: an angle of pi at the kink
        a, b, c, d = (x[name][:2] for name in (f"I{k}", f"O{k % 6 + 1}", f"O{k}", f"I{k % 6 + 1}"))
        along, _ = np.linalg.solve(np.array([b - a, c - d]).T, c - a)
        x[f"P{k}"] = np.append(a + along * (b - a), 0.0)
    assert count(model, x).modes == 0


def test_the_reflector_has_the_counts_of_the_paper() -> None:
    model = s.reflector()
    kinds = Counter(type(part).__name__ for part in model.components.values())
    assert kinds == {"Node": 28, "Bar": 41, "Body": 4, "Gear": 14, "ForceCable": 8, "Fixed": 2}
    x = places(model)
    bars = [part for part in model.components.values() if isinstance(part, Bar)]
    lengths = Counter(round(float(np.linalg.norm(x[bar.node_b] - x[bar.node_a])), 12) for bar in bars)
    assert lengths == {1.0: 25, 1.5: 16}
    parts_at = Counter[str]()
    for part in model.components.values():
        if isinstance(part, (Bar, Body, Fixed)):  # the ground is a part, too
            parts_at.update(part.nodes())
    joints = sum(parts_at[part.name] - 1 for part in model.components.values() if isinstance(part, Node))
    assert joints == 76
    found = count(model)
    assert 45 * 6 - joints * 3 - 14 + found.redundant == 47 == found.modes + 41
    gears = {name for name in model.components if name.startswith("gear_")}
    assert gears == {f"gear_{k}" for k in (*range(2, 9), *range(11, 18))}
    panel = places(model)["N4"], places(model)["N5"], places(model)["N14"]
    assert np.linalg.norm(panel[1] - panel[0]) * 2 == pytest.approx(2.0)
    assert np.linalg.norm(panel[2] - panel[1]) == pytest.approx(1.0)


def test_a_ring_of_a_thousand_sides_is_made_in_proportion() -> None:
    few, many = (calls(lambda sides=sides: s.ring_truss(sides)) for sides in (50, 200))
    assert many < 4.1 * few
    model = s.ring_truss(1000)
    kinds = Counter(type(part).__name__ for part in model.components.values())
    assert (kinds["Bar"], kinds["Node"], kinds["ForceCable"]) == (3000, 2000, 1000)


@pytest.mark.parametrize("make", [make for make, _, _ in COUNTS[::2]])
def test_structures_can_be_written_to_files(make: Callable[[], ct.Model], tmp_path: Path) -> None:
    model = make()
    again = ct.load(model.save(tmp_path / "model.yaml"))
    assert again.to_data() == model.to_data()
    assert count(again).rank == count(model).rank


WRONG = [
    (lambda: s.ring_truss(9), "ring_truss.sides: the number is 9. Expected an even number"),
    (lambda: s.ring_truss(2), "at least 4"),
    (lambda: s.ring_truss(10.0), "a whole number"),
    (lambda: s.ring_truss(edge=-1.2), "ring_truss.edge: the value is -1.2. Expected a positive number"),
    (lambda: s.five_bar("left"), "five_bar.start: found 'left'. Expected 'up' or 'down'"),
    (lambda: s.five_bar(span=4.5), "the bars must reach across"),
    (lambda: s.scissor_chain(0), "scissor_chain.units: the number is 0. Expected at least 1"),
    (lambda: s.scissor_chain(angle=1.6), "between 0 and 1.5708"),
    (lambda: s.scissor_ring(8, opening=1.3), "its inner nodes meet"),
    (lambda: s.scissor_ring(drive="open"), "'deploy' or 'fold'"),
    (lambda: s.miura(1, 2), "miura.rows: the number is 1. Expected at least 2"),
    (lambda: s.miura(fold=0.0), "flat, which is singular"),
    (lambda: s.miura(a="long"), "miura.a: found 'long'. Expected a positive number"),
    (lambda: s.triangular_mast(kind="rigid"), "'folding' or 'coilable'"),
    (lambda: s.triangular_mast(latch_angle=0.1), "it closes before the hinge is straight"),
    (lambda: s.triangular_mast(kind="coilable", fold=3.0), "the bay is straight, or flat"),
    (lambda: s.triangular_mast(kind="coilable", open_twist=1.5), "the springs press while the mast is coiled"),
    (lambda: s.tetrahedral_reflector(diagonal=0.9), "diagonals longer than the edge"),
    (lambda: s.reflector(fold=1.6), "fully deployed, and stowed"),
    (lambda: s.reflector(fold=0.5, stow=0.4), "it starts there, or all bars are upright"),
]


@pytest.mark.parametrize(("make", "text"), WRONG)
def test_wrong_sizes_are_refused(make: Callable[[], ct.Model], text: str) -> None:
    with pytest.raises(ct.ModelError) as caught:
        make()
    assert text in str(caught.value)
