"""The quick part of the net: names, units, starts and seeded states of some models, and some of the wrong ones."""

from __future__ import annotations

import pytest

from golden import store
from golden.compare import told, wrong_moved
from golden.differ import differences
from golden.models import CASES
from golden.record import record
from golden.wrong import rejudged

PARTS = ("start", "states")
EVERY = 3
"""One in so many of the wrong models is tried."""


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.quick])
def test_nothing_moved(name: str) -> None:
    old = store.golden(name)
    moved = differences(name, old, record(CASES[name], PARTS, old["states"]), PARTS)
    assert not moved, told(moved)


def test_every_model_has_a_record() -> None:
    assert sorted(CASES) == store.names(), "write records of new models: python tests/golden/make.py MODEL"


def test_some_wrong_models_are_refused_as_they_were() -> None:
    old = store.wrong()[::EVERY]
    moved = wrong_moved(old, rejudged(old))
    assert not moved, told(moved)
