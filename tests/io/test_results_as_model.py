"""A file of results is not a model, and is told so."""

from pathlib import Path

import pytest

import cotree as ct


def test_results_are_no_model(tmp_path: Path) -> None:
    model = ct.Model("RC")
    model.add(ct.Capacitor("C", ("a", "ground"), capacitance=1.0, initial=1.0))
    model.add(ct.Resistor("R", ("a", "ground"), resistance=1.0))
    model.simulate(1.0, points=3, out=tmp_path / "run.h5")
    with pytest.raises(ct.FileError, match=r"run\.h5: it holds results, not a model.*Solution\.from_hdf5"):
        ct.load(tmp_path / "run.h5")
