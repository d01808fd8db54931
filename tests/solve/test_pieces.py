"""Pieces of a run follow from counts: clocks that race change no digit, and long equations have short pieces."""

from __future__ import annotations

import re
import time
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from benchmarks.rigid_models import four_bar
from cotree.solve import pieces
from cotree.solve.native import instructions
from cotree.solve.pieces import Pieces
from cotree.solve.problem import Problem
from formulation.nodal_models import five_bar

SRC = Path(ct.__file__).parent
MAY_READ_A_CLOCK = {
    "cli/bench.py", "cli/run.py", "facade/runs.py", "io/runs.py", "results/hdf5.py", "solve/kinematics.py",
    "solve/recording.py", "solve/simulate.py", "view/progress.py",
}  # fmt: skip
"""Modules that report how long something took, or pause between two writes or two looks at a file."""


@pytest.mark.parametrize("integrator", ["energy", "generalised_alpha", "adams"])
def test_a_clock_that_races_changes_no_digit(integrator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at a clock finds 10 s gone, as on a machine that is very busy; also while results are written."""
    monkeypatch.setattr(pieces, "STEPS", 50)
    options = {"integrator": integrator, "rtol": 1e-5, "points": 21}
    plain = four_bar().simulate(0.3, **options)
    ticks = count(0.0, 10.0)
    for clock in ("perf_counter", "process_time", "monotonic", "time"):
        monkeypatch.setattr(time, clock, lambda: next(ticks))
    raced = four_bar().simulate(0.3, out=tmp_path / "run.h5", **options)
    assert next(ticks) > 50.0, "no clock was read"
    assert raced.statistics.steps == plain.statistics.steps
    for name in plain:
        np.testing.assert_array_equal(raced[name], plain[name], err_msg=name)


def test_only_these_modules_read_a_clock() -> None:
    found = {
        path.relative_to(SRC).as_posix()
        for path in SRC.rglob("*.py")
        if re.search(r"^\s*(import time\b|from time import)", path.read_text(encoding="utf-8"), re.M)
    }
    assert found <= MAY_READ_A_CLOCK


def test_long_equations_have_short_pieces() -> None:
    def most(length: int, goes_on: bool = False, costly: bool = False) -> int:
        made = Pieces()
        made.heed(length, goes_on, costly)
        return made.most

    assert most(10) == pieces.STEPS * pieces.TIMES
    assert most(10, costly=True) == most(pieces.LENGTH) == most(pieces.LONG) == pieces.STEPS
    assert most(2 * pieces.LONG) == pieces.STEPS // 2
    assert (most(10**9), most(10**9, goes_on=True)) == (pieces.FEWEST_ANEW, pieces.FEWEST)


def test_instructions_of_called_functions_count() -> None:
    """A structure in nodal coordinates calls functions and solves systems: the outermost list has few entries."""
    dae = Problem.of(five_bar(-1).equations()).dae
    assert instructions(dae) > 20 * dae.n_instructions()
    own = Problem.of(four_bar().equations()).dae
    assert instructions(own) == own.n_instructions()
