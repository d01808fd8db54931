"""A value of a mask has the shape of its field: lists where one number is wanted are refused, in every mask."""

from __future__ import annotations

from typing import Any

import pytest

import cotree.bond  # the kinds of masks
from cotree.bond.mechanics.base import FramePart
from cotree.errors import ModelError
from cotree.model import KINDS

MASKS = {kind: made for kind, made in KINDS.items() if issubclass(made, FramePart) and not kind.startswith("bond.of_")}
SINGLE = [
    (kind, name)
    for kind, made in MASKS.items()
    for name in made.shapes
    if name not in made.lengths and name not in made.listable
]
LISTS: tuple[Any, ...] = ([], [1.0], [1.0, 2.0], [1.0, 2.0, 3.0, 4.0], [[1.0]], [[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize(("kind", "name"), SINGLE)
def test_a_list_is_no_number(kind: str, name: str) -> None:
    mask = MASKS[kind]
    given = {each: [1.0, 0.0, 0.0] if each in mask.lengths else 1.0 for each in mask.needed}
    for value in LISTS:
        with pytest.raises(ModelError, match=rf"x\.{name}: found "):
            mask("x", **(given | ({"inertia": [1, 1, 1]} if kind == "bond.body" else {}) | {name: value}))


def test_all_masks_are_looked_at() -> None:
    assert cotree.bond
    assert ("bond.body", "mass") in SINGLE
    assert len(MASKS) > 10
