"""Every example run once by the command line, and its results read back from the file that it wrote."""

from __future__ import annotations

import sys
import tempfile
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np

import cotree as ct
from cotree.cli import main
from cotree.io import read_model
from cotree.io.model_file import ModelFile

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.yaml"))


def command(*words: object) -> int:
    """The exit code of a command line."""
    with patch.object(sys, "argv", ["cotree", *map(str, words)]):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
    return 0


@cache
def run(name: str) -> tuple[ModelFile[ct.Model], ct.Solution]:
    """An example and its results."""
    file = EXAMPLES / f"{name}.yaml"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results.h5"
        assert command("run", file, "--out", out) == 0
        return read_model(file, ct.Model), ct.Solution.from_hdf5(out)


def check(name: str) -> None:
    """The run is whole, the names to plot are there, and the energy balance closes."""
    file, solution = run(name)
    assert solution.complete
    assert solution.t[-1] == file.run.t_end
    assert all(np.isfinite(solution[each]).all() for each in solution)
    names = [each for entry in file.run.plot for each in (entry if isinstance(entry, list) else [entry])]
    assert names
    assert all(each in solution for each in names)
    # Quadratures are integrated to the same rtol = 1e-8 as the states, over at most a few thousand steps.
    assert solution.energy().error < 1e-6  # 100 rtol
