"""The whole net: every model with its motion, events, energies and files, and all wrong models."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from golden import store
from golden.compare import told, wrong_moved
from golden.differ import differences
from golden.models import CASES
from golden.record import PARTS, record
from golden.wrong import COUNT, rejudged

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", CASES)
def test_nothing_moved(name: str) -> None:
    old = store.golden(name)
    moved = differences(name, old, record(CASES[name], PARTS, old.get("states")), PARTS)
    assert not moved, told(moved)


@pytest.mark.parametrize("part", range(4))
def test_wrong_models_are_refused_as_they_were(part: int) -> None:
    every = store.wrong()
    assert len(every) == COUNT
    moved = wrong_moved(every[part::4], rejudged(every[part::4]))
    assert not moved, told(moved)


def test_an_old_results_file_is_read() -> None:
    """Written by 0.1.0: names, units and numbers are those of the record that was made with it."""
    old = store.read(store.DATA / "results.json.gz")
    solution = ct.Solution.from_hdf5(store.DATA / "results.h5")
    assert {name: solution.unit(name) for name in solution.names} == old["units"]
    for name, values in old["values"].items():
        np.testing.assert_array_equal(solution[name], values)
    assert {name: times.tolist() for name, times in solution.events.items()} == old["events"]
    model, _ = ct.rebuild(solution)
    again = model.simulate(float(solution.t[-1]), times=solution.t.tolist())
    assert again.names == solution.names
