"""Results for other programs, read back by those programs' own libraries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat

import cotree as ct
from cotree.errors import FileError, ResultError

LONG = "a_very_long_name_of_a_resistor_that_nobody_would_write_but_a_generator_of_models"


@pytest.fixture(scope="module")
def solution() -> ct.Solution:
    model = ct.Model("RC ü")
    model.add(ct.VoltageSource("V", ("in", "ground"), voltage="sin(t)"))
    model.add(ct.Resistor(f"{LONG}_1", ("in", "mid"), resistance=1.0))
    model.add(ct.Resistor(f"{LONG}_2", ("mid", "out"), resistance=1.0))
    model.add(ct.Resistor("R-1", ("out", "end"), resistance=1.0))
    model.add(ct.Resistor("R+1", ("end", "ground"), resistance=1.0))
    model.add(ct.Capacitor("Cü", ("out", "ground"), capacitance=1.0))
    return model.simulate(t_end=1.0, points=11)


def test_parquet(solution: ct.Solution, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = solution.to_parquet(tmp_path / "out.parquet")
    table = parquet.read_table(path)
    assert table.column_names == ["t", *solution.names]
    for name in table.column_names:
        np.testing.assert_array_equal(table[name].to_numpy(), solution[name])
        assert table.schema.field(name).metadata[b"unit"].decode() == solution.unit(name)
    assert table.schema.metadata[b"model"].decode() == "RC ü"
    chosen = parquet.read_table(solution.to_parquet(tmp_path / "some.parquet", ["t", "V.voltage"]))
    assert chosen.column_names == ["t", "V.voltage"]


def test_matlab(solution: ct.Solution, tmp_path: Path) -> None:
    """Every name is found where the list of fields says, whatever its characters and its length."""
    read = loadmat(solution.to_matlab(tmp_path / "out.mat"), simplify_cells=True)
    np.testing.assert_array_equal(read["t"], solution.t)
    assert list(read["names"]) == list(solution.names)
    assert list(read["units"]) == [solution.unit(name) for name in solution.names]
    assert len(set(read["fields"])) == len(solution.names)
    for name, field in zip(solution.names, read["fields"], strict=True):
        found = read["results"]
        for part in field.split("."):
            assert len(part) <= 63
            assert part.isascii()
            assert part.isidentifier()
            found = found[part]
        np.testing.assert_array_equal(found, solution[name])
    np.testing.assert_array_equal(read["results"]["V"]["voltage"], solution["V.voltage"])
    np.testing.assert_array_equal(read["energy"]["stored"], solution.energy().stored)


def test_exports_leave_nothing_half(solution: ct.Solution, tmp_path: Path) -> None:
    for write in (solution.to_parquet, solution.to_matlab):
        with pytest.raises(ResultError, match="nothing"):
            write(tmp_path / "out", ["nothing"])
        with pytest.raises(FileError, match="nowhere"):
            write(tmp_path / "nowhere" / "out")
    assert list(tmp_path.iterdir()) == []
