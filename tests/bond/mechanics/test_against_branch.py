"""Mechanisms as multibond graphs move as in branch coordinates, and carry the same reactions."""

from __future__ import annotations

import pytest

from bond.mechanics.pairs import PAIRS, difference


@pytest.mark.parametrize("make", PAIRS, ids=lambda make: make.__name__)
def test_motion_and_reactions_are_those_of_the_branch_formulation(make):
    # both run with rtol 1e-10; steps add up, and reactions hold accelerations
    found = difference(make())
    assert max(found.values()) < 1e-7, max(found, key=found.__getitem__)
