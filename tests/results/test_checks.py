"""Damaged and hostile results files (entry D4): one error that names the file, and nothing is lost that was there."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import cotree as ct
from cotree.results import checks
from cotree.results.hdf5 import checked

sys.path.insert(0, str(Path(__file__).parents[1] / "io"))
from result_mutants import fed, same, seeds, table

from _cases import cases


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return seeds(tmp_path_factory.mktemp("seeds"))


def put(file: h5py.File, key: str, data: Any) -> None:
    """Write other data under a name, with a right checksum."""
    del file[key]
    file[key] = np.bytes_(json.dumps(data))
    texts = {each: file[each].asstr()[()] for each in checks.TEXTS if each in file}
    del file["check/head"]
    plain = {name: each if isinstance(each, str) else [str(one) for one in each] for name, each in texts.items()}
    file["check/head"] = np.bytes_(checks.text_check(plain))


def stored(file: h5py.File, change: Callable[[dict[str, Any], Any], None]) -> None:
    """Change the state of a file of an interrupted run, with a right checksum."""
    said, numbers = json.loads(bytes(file["restart/text"][()])), file["restart/numbers"][()]
    change(said, numbers)
    text = json.dumps(said).encode()
    for key, value in (("restart/text", np.frombuffer(text, np.uint8)), ("restart/numbers", numbers)):
        del file[key]
        file[key] = value
    file["check/restart"][()] = checks.state_check(text, numbers)


def test_every_flipped_byte_that_changes_something_is_noticed(files: dict[str, bytes], tmp_path: Path) -> None:
    """Files with one byte or some bytes changed: what is read is what was written."""
    path, chance, refused = tmp_path / "run.h5", random.Random(4), 0
    accepted = 0
    for name in ("complete network", "interrupted mechanism", "killed mechanism"):
        path.write_bytes(files[name])
        right = ct.Solution.from_hdf5(path)
        for count in (1, 1, 1, 5) * cases(8, 25):
            data = bytearray(files[name])
            for _ in range(count):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            path.write_bytes(bytes(data))
            try:
                found = ct.Solution.from_hdf5(path)
            except ct.FileError as told:
                refused += "run.h5" in str(told)
                continue
            accepted += 1
            assert same(found, right)
    total = 3 * 4 * cases(8, 25)
    assert refused > total / 3
    assert refused + accepted == total, "an error does not name the file"


@pytest.mark.parametrize("key", ["t", "values", "energy/stored", "events/t", "events/values"])
def test_a_changed_number_is_named_with_its_row(key: str, files: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    path.write_bytes(files["complete network"])
    with h5py.File(path, "r+") as file:
        data = file[key][()]
        data[1] += 1e-12
        file[key][...] = data
    with pytest.raises(ct.FileError, match=r"run\.h5: it is damaged: (row|event) 2 is not as it was written"):
        ct.Solution.from_hdf5(path)


@pytest.mark.parametrize("key", ["description", "model", "options", "names"])
def test_a_changed_text_is_noticed(key: str, files: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    path.write_bytes(files["complete network"])
    with h5py.File(path, "r+") as file:
        data = file[key][()]
        if isinstance(data, bytes):
            file[key][()] = data.replace(b"1", b"2", 1)
        else:
            file[key][0] = b"other"
    with pytest.raises(ct.FileError, match="its texts are not as they were written"):
        ct.Solution.from_hdf5(path)


def test_files_of_older_versions_still_open(files: dict[str, bytes], tmp_path: Path) -> None:
    """They have no checksums; an unfinished one goes on."""
    path, old = tmp_path / "new.h5", tmp_path / "old.h5"
    path.write_bytes(files["killed mechanism"])
    old.write_bytes(files["version 0.1.0"])
    assert same(ct.Solution.from_hdf5(old), ct.Solution.from_hdf5(path))
    assert ct.resume(old).complete


WRONG = [None, 3, 0.5, "text", [1, 2], {"a": 1}, [["x"]], True]


@pytest.mark.parametrize("key", ["description", "model", "why_not", "tree", "options", "versions"])
def test_texts_of_wrong_types(key: str, files: dict[str, bytes], tmp_path: Path) -> None:
    """Read where it makes sense, or refused with the file's name; whatever is asked of them afterwards."""
    path, refused = tmp_path / "run.h5", 0
    for value in WRONG:
        path.write_bytes(files["interrupted mechanism"])
        with h5py.File(path, "r+") as file:
            put(file, key, value)
        before = path.read_bytes()
        try:
            found = ct.Solution.from_hdf5(path)
            ct.rebuild(found)
            if key in ("model", "tree", "options"):
                ct.resume(path)
        except ct.CotreeError:
            refused += 1
            assert path.read_bytes() == before
    assert refused >= (1 if key == "versions" else 5)


OPTIONS = [
    ("t_end", "x"), ("t_end", None), ("points", 2.5), ("times", {"a": 1}), ("rtol", "small"), ("parameters", [1]),
    ("parameters", {"nothing": 1}), ("start", 3), ("events", 3),
    ("events", [3]), ("events", [{"name": 1, "when": 2}]), ("max_steps", "x"), ("unknown", 1), ("spectral_radius", []),
    ("points", 7), ("t_start", -1.0),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), OPTIONS)
def test_options_that_cannot_be(key: str, value: Any, files: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    path.write_bytes(files["interrupted mechanism"])
    with h5py.File(path, "r+") as file:
        put(file, "options", {**json.loads(file["options"].asstr()[()]), key: value})
    before = path.read_bytes()
    with pytest.raises(ct.CotreeError):
        ct.resume(path)
    assert path.read_bytes() == before


def rows_of_three(said: dict[str, Any], numbers: Any) -> None:
    said["rows"] = 3


def too_many_rows(said: dict[str, Any], numbers: Any) -> None:
    said["rows"] = 10**6


def other_time(said: dict[str, Any], numbers: Any) -> None:
    said["t"] = 0.015


def no_number(said: dict[str, Any], numbers: Any) -> None:
    numbers[3] = np.nan


def text_for_time(said: dict[str, Any], numbers: Any) -> None:
    said["t"] = "soon"


def wrong_shape(said: dict[str, Any], numbers: Any) -> None:
    said["shapes"]["x"] = [1]


def nothing_said(said: dict[str, Any], numbers: Any) -> None:
    said["said"] = {}


def wrong_memory(said: dict[str, Any], numbers: Any) -> None:
    said["said"]["pieces"] = 3


STATES = [rows_of_three, too_many_rows, other_time, no_number, text_for_time, wrong_shape, nothing_said, wrong_memory]


@pytest.mark.parametrize("change", STATES)
def test_a_state_that_does_not_fit_is_refused(change: Any, files: dict[str, bytes], tmp_path: Path) -> None:
    """And the rows that were there can still be read afterwards, where they could before."""
    path = tmp_path / "run.h5"
    path.write_bytes(files["interrupted mechanism"])
    with h5py.File(path, "r+") as file:
        stored(file, change)
    before = path.read_bytes()
    with pytest.raises(ct.CotreeError, match=r"cannot go on|cannot read|state"):
        ct.resume(path)
    assert path.read_bytes() == before


def test_a_killed_run_with_a_spoilt_state_goes_on_from_the_one_before(files: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    path.write_bytes(files["killed mechanism"])
    whole = ct.Solution.from_hdf5(path)
    with h5py.File(path, "r+") as file:
        slot = int(np.argmax(file["progress"][:, 0]))
        file["restart/numbers"][slot, 0] += 1.0
    before = ct.Solution.from_hdf5(path)
    assert 0 < len(before) < len(whole)
    assert same(before, whole)
    with h5py.File(path, "r+") as file:
        row = file["progress"][slot].tolist()
        file["progress"][slot] = checked([*row[:1], 10**9, *row[2:-1]])
        file["progress"][1 - slot] = 0
    with pytest.raises(ct.FileError, match=r"run\.h5"):
        ct.Solution.from_hdf5(path)


def test_a_file_that_claims_more_than_it_holds(files: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    path.write_bytes(files["complete network"])
    with h5py.File(path, "r+") as file:
        del file["t"]
        file.create_dataset("t", (10**12,), "f8", chunks=(1000,))
    with pytest.raises(ct.FileError, match="more than the file can hold"):
        ct.Solution.from_hdf5(path)


def wrong(found: list[Any]) -> list[Any]:
    return [each for each in found if each.what in ("wrong", "traceback", "hang", "death")]


def test_some_damaged_and_hostile_files(tmp_path: Path) -> None:
    found = fed(17, range(30), tmp_path)
    assert not wrong(found)
    assert len({each.what for each in found}) > 1, table(found)


@pytest.mark.soak
def test_many_damaged_and_hostile_files(tmp_path: Path) -> None:
    assert not wrong(fed(18, range(400), tmp_path))


@pytest.mark.soak
def test_two_thousand_damaged_and_hostile_files(tmp_path: Path) -> None:
    assert not wrong(fed(17, range(2000), tmp_path))
