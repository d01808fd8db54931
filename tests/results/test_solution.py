"""Solutions by name, and their files."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import cotree
from cotree import Capacitor, Resistor, VoltageSource
from cotree.errors import FileError, ResultError


@pytest.fixture(scope="module")
def solution() -> cotree.Solution:
    m = cotree.Model("RC ° ü")
    m.add(VoltageSource("V", ("in", "ground"), voltage="sin(t)"))
    m.add(Resistor("R-1", ("in", "out"), resistance=1.0))
    m.add(Capacitor("C+", ("out", "ground"), capacitance=1.0))
    return m.simulate(t_end=1.0, points=11)


def test_by_name(solution: cotree.Solution) -> None:
    assert "C+.voltage" in solution
    assert "t" in solution
    np.testing.assert_array_equal(solution["t"], solution.t)
    assert len(solution) == 11
    assert list(solution) == list(solution.names)
    assert solution.unit("t") == "s"
    assert solution.unit("R-1.power") == "W"
    assert solution.at("V.voltage", 0.25) == pytest.approx(np.sin(0.25), abs=2e-3)
    assert solution.states == ("C+.voltage",)
    for name in solution:
        assert solution[name].shape == solution.t.shape
    np.testing.assert_array_equal(solution[["t", "R-1.power"]], np.c_[solution.t, solution["R-1.power"]])
    with pytest.raises(ResultError, match=r"(?i)did you mean 'R-1\.current'"):
        solution["R-1.curent"]
    with pytest.raises(KeyError, match="R9"):
        solution["R9.current"]
    with pytest.raises(ResultError, match="between 0 and 1 s"):
        solution.at("V.voltage", 1.5)


def test_csv_reads_back_exactly(solution: cotree.Solution, tmp_path: Path) -> None:
    path = solution.to_csv(tmp_path / "out.csv", ["V.voltage", "C+.current"])
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["t [s]", "V.voltage [V]", "C+.current [A]"]
    numbers = np.array(rows[1:], dtype=float)
    np.testing.assert_array_equal(numbers[:, 0], solution.t)
    np.testing.assert_array_equal(numbers[:, 2], solution["C+.current"])
    with pytest.raises(ResultError):
        solution.to_csv(tmp_path / "no.csv", ["nothing"])
    assert not (tmp_path / "no.csv").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_hdf5_reads_back_without_loss(solution: cotree.Solution, tmp_path: Path) -> None:
    path = solution.to_hdf5(tmp_path / "out.h5")
    back = cotree.Solution.from_hdf5(path)
    assert back.names == solution.names
    assert back.model == solution.model
    assert back.statistics == solution.statistics
    assert back.parameters == dict(solution.parameters)
    assert back.states == solution.states
    assert back.notes == solution.notes
    assert back.complete
    for name in solution:
        np.testing.assert_array_equal(back[name], solution[name])
        assert back.unit(name) == solution.unit(name)
    np.testing.assert_array_equal(back.energy().closure, solution.energy().closure)
    assert back.energy().error == solution.energy().error
    assert isinstance(back, cotree.Solution), "what was saved can be plotted after reading"


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "text.h5").write_text("no")
    for path in (tmp_path / "text.h5", tmp_path / "missing.h5"):
        with pytest.raises(FileError, match=path.name):
            cotree.Solution.from_hdf5(path)


def test_a_place_that_cannot_be_written(solution: cotree.Solution, tmp_path: Path) -> None:
    for write in (solution.to_csv, solution.to_hdf5):
        with pytest.raises(FileError, match="nowhere"):
            write(tmp_path / "nowhere" / "out")


def test_frames(solution: cotree.Solution) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    frame = solution.to_pandas(["V.voltage"])
    np.testing.assert_array_equal(frame["V.voltage"].to_numpy(), solution["V.voltage"])
    assert frame.attrs["units"] == {"V.voltage": "V"}
    data = solution.to_xarray()
    assert data["C+.voltage"].attrs["units"] == "V"
    assert data.sizes["t"] == 11


def test_results_are_sealed_and_solutions_are_compared_by_identity(solution: cotree.Solution, tmp_path: Path) -> None:
    again = cotree.Solution.from_hdf5(solution.to_hdf5(tmp_path / "out.h5"))
    for each in (solution, again):
        for array in (each.t, each["V.voltage"]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0
    assert solution == solution
    assert solution != again
    assert len({solution, again}) == 2


def test_a_time_that_is_no_number(solution: cotree.Solution) -> None:
    for time in ("0", None, True):
        with pytest.raises(ResultError, match="a number in s"):
            solution.at("V.voltage", time)  # type: ignore[arg-type]
    assert solution.at("V.voltage", np.float32(0.0)) == 0.0
