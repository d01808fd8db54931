"""Results files explain themselves, are read back without loss, and wrong ones are refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np
import pytest

import cotree as ct
from cotree import Solution
from cotree.errors import FileError


@pytest.fixture(scope="module")
def solution() -> Solution:
    model = ct.Model("RC ü")
    model.add(ct.VoltageSource("V", ("in", "ground"), voltage="sin(t)"))
    model.add(ct.Resistor("R", ("in", "out"), resistance=1.0))
    model.add(ct.Capacitor("C", ("out", "ground"), capacitance=1.0))
    events = ct.Event("half", "V.voltage - 0.5"), ct.Event("never", "t - 5")
    return model.simulate(t_end=3.0, points=11, events=events, parameters={"R.resistance": 2.0})


def test_a_file_explains_itself(solution: Solution, tmp_path: Path) -> None:
    """With nothing but h5py: names, units, axes, energies, model, tree, options and versions."""
    with h5py.File(solution.to_hdf5(tmp_path / "a.h5")) as file:
        assert "values[k, j] is the result names[j] in units[j] at the time t[k]" in file.attrs["about"]
        names, units = list(file["names"].asstr()), list(file["units"].asstr())
        place = names.index("C.voltage")
        assert units[place] == "V"
        np.testing.assert_array_equal(file["values"][:, place], solution["C.voltage"])
        assert [each.label for each in file["values"].dims] == ["time", "name"]
        np.testing.assert_array_equal(file["values"].dims[0][0][()], solution.t)
        assert file["t"].attrs["unit"] == "s"
        assert file["energy/stored"].attrs["unit"] == "J"
        model = json.loads(file["model"].asstr()[()])
        assert model["components"]["R"]["resistance"] == 1.0
        assert json.loads(file["tree"].asstr()[()]) == list(ct.Model.from_mapping(model).tree().branches)
        options = json.loads(file["options"].asstr()[()])
        assert (options["t_end"], options["points"], options["rtol"]) == (3.0, 11, 1e-8)
        assert options["parameters"] == {"R.resistance": 2.0}
        assert options["events"][0]["when"] == "V.voltage - 0.5"
        assert json.loads(file["versions"].asstr()[()])["cotree"] == ct.__version__
        assert json.loads(file["description"].asstr()[()])["statistics"]["steps"] == solution.statistics.steps


def test_the_model_in_a_file_is_a_model_file(solution: Solution, tmp_path: Path) -> None:
    with h5py.File(solution.to_hdf5(tmp_path / "a.h5")) as file:
        (tmp_path / "model.json").write_text(file["model"].asstr()[()], encoding="utf-8")
    assert ct.load(tmp_path / "model.json").to_data() == ct.rebuild(solution)[0].to_data()


def test_everything_comes_back(solution: Solution, tmp_path: Path) -> None:
    back = Solution.from_hdf5(solution.to_hdf5(tmp_path / "a.h5"))
    plain = ("model", "statistics", "parameters", "states", "notes", "complete", "origin", "restart", "inner")
    for key in plain:
        assert getattr(back, key) == getattr(solution, key), key
    assert back.names == solution.names
    assert dict(back.units) == dict(solution.units)
    for name, times in solution.events.items():
        np.testing.assert_array_equal(back.events[name], times)
        assert set(back.event_values[name]) == set(solution.event_values[name])
        for key, values in solution.event_values[name].items():
            np.testing.assert_array_equal(back.event_values[name][key], values)
    assert len(back.events["half"]) == 2
    assert back.energy().error == solution.energy().error


def test_a_file_of_the_first_format(solution: Solution, tmp_path: Path) -> None:
    path = tmp_path / "first.h5"
    with h5py.File(path, "w") as file:
        file.attrs["format"] = "cotree solution 1"
        statistics = {name: getattr(solution.statistics, name) for name in solution.statistics.__dataclass_fields__}
        said = {"model": "old", "names": ["C.voltage"], "states": ["C.voltage"], "notes": [], "complete": True}
        said |= {"start_energy": 0.0, "statistics": statistics, "parameters": {}}
        file["description"] = json.dumps(said)
        file["t"] = solution.t
        file.create_dataset("values/C.voltage", data=solution["C.voltage"]).attrs["unit"] = "V"
        for name in ("stored", "dissipated", "supplied"):
            file[f"energy/{name}"] = getattr(solution.energy(), name)
    back = Solution.from_hdf5(path)
    np.testing.assert_array_equal(back["C.voltage"], solution["C.voltage"])
    assert back.unit("C.voltage") == "V"
    assert back.origin is None


def test_spoilt_files_are_refused(solution: Solution, tmp_path: Path) -> None:
    """One error for each, that names the file."""
    whole = solution.to_hdf5(tmp_path / "whole.h5").read_bytes()
    path = tmp_path / "spoilt.h5"
    chance = np.random.default_rng(1)
    accepted = 0
    for k in range(60):
        data = bytearray(whole)
        if k % 3 == 0:
            data = data[: int(chance.integers(len(data)))]
        else:
            for place in chance.integers(len(data), size=40):
                data[int(place)] = int(chance.integers(256))
        path.write_bytes(bytes(data))
        with suppress(FileError):  # anything else fails the test
            Solution.from_hdf5(path)
            accepted += 1  # only numbers have changed
    assert accepted < 60
    for missing in ("description", "values", "names", "events/t"):
        path.write_bytes(whole)
        with h5py.File(path, "r+") as file:
            del file[missing]
        with pytest.raises(FileError, match=r"spoilt\.h5"):
            Solution.from_hdf5(path)


FULL = """
import random, resource, sys
from pathlib import Path
import cotree as ct
path = Path(sys.argv[1])
whole, size = ct.Solution.from_hdf5(path), path.stat().st_size
before, chance = path.read_bytes(), random.Random(3)
for limit in [*range(0, 6000, 150), *(chance.randrange(size) for _ in range(100))]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        whole.to_hdf5(path)
    except ct.FileError as error:
        assert str(error) == f"cannot write {path}: File too large. Choose another place."
    else:
        raise AssertionError(limit)
    assert path.read_bytes() == before
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
whole.to_hdf5(path)
print("the end")
"""


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_a_disk_that_is_full_at_any_place(tmp_path: Path) -> None:
    """One clear error wherever it happens; the library below, left to itself, takes the process down."""
    model = ct.Model("RC")
    model.add(ct.VoltageSource("V", ("in", "ground"), voltage="sin(t)"))
    model.add(ct.Resistor("R", ("in", "ground"), resistance=1.0))
    path = model.simulate(t_end=3.0, points=5000).to_hdf5(tmp_path / "a.h5")
    known = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = [sys.executable, "-c", FULL, str(path)]
    said = subprocess.run(command, env=known, capture_output=True, text=True)
    assert (said.returncode, said.stdout, said.stderr) == (0, "the end\n", "")
    assert [each.name for each in tmp_path.iterdir()] == ["a.h5"]
