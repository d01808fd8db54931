"""Tables kept in memory and in files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest

from cotree.fem import store
from cotree.fem.store import content_hash, stored
from cotree.fem.tables import NodeTable, Tables


def some(scale: float = 1.0, n: int = 2) -> Tables:
    """Tables with different numbers everywhere."""
    random = np.random.default_rng(3)

    def array(*shape: int) -> np.ndarray:
        return scale * random.standard_normal(shape)

    frame = NodeTable(array(3), array(3, n), array(3, n), array(3, n, n), array(3, n, n))
    return Tables(
        names=("mode1", "node3.ry"),
        units=("m", "rad"),
        frequencies=np.array([3.0, np.nan]),
        mass=7.5 * scale,
        first=array(3),
        second=array(3, 3),
        first_q=array(3, n),
        second_q=array(3, 3, n),
        second_qq=array(3, 3, n, n),
        stiffness=array(n, n),
        damping=array(n, n),
        first_2=array(3, n, n),
        second_2=array(3, 3, n, n),
        frames={"tip": frame, "größe": frame},
        shapes=array(12, n),
    )


def same(one: object, two: object) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, two, equal_nan=True)
    if isinstance(one, Tables | NodeTable):
        return all(same(getattr(one, f.name), getattr(two, f.name)) for f in fields(one))
    if isinstance(one, dict):
        return list(one) == list(two) and all(same(one[k], two[k]) for k in one)  # type: ignore[call-overload,index]
    return one == two


class Counted:
    """Computes tables and counts how often."""

    def __init__(self, scale: float = 1.0) -> None:
        self.times, self.scale = 0, scale

    def __call__(self) -> Tables:
        self.times += 1
        return some(self.scale)


@pytest.fixture(autouse=True)
def _forget() -> None:
    store.forget()


def test_memory_comes_first() -> None:
    compute = Counted()
    first = stored(None, "key", compute)
    assert stored(None, "key", compute) is first
    assert compute.times == 1
    stored(None, "other", compute)
    assert compute.times == 2


def test_a_file_gives_the_same_numbers(tmp_path: Path) -> None:
    compute = Counted()
    folder = tmp_path / "new" / "folder"
    first = stored(folder, "key", compute)
    assert [path.name for path in folder.iterdir()] == ["key.npz"]
    store.forget()
    again = stored(folder, "key", compute)
    assert compute.times == 1
    assert again is not first
    assert same(first, again)


def test_what_memory_knows_is_written_where_a_folder_is_named(tmp_path: Path) -> None:
    compute = Counted()
    first = stored(None, "key", compute)
    assert stored(tmp_path, "key", compute) is first
    store.forget()
    assert same(stored(tmp_path, "key", compute), first)
    assert compute.times == 1


@pytest.mark.parametrize(
    "kind",
    ["empty", "text", "cut", "foreign", "pickle", "other key", "wrong size", "not finite", "no shapes", "wrong shapes"],
)
def test_a_broken_file_is_computed_again(tmp_path: Path, kind: str) -> None:
    stored(tmp_path, "key", Counted())
    path = tmp_path / "key.npz"
    data = path.read_bytes()
    if kind in ("empty", "text", "cut"):
        path.write_bytes({"empty": b"", "text": b"not a file of arrays", "cut": data[: len(data) // 2]}[kind])
    elif kind == "foreign":
        np.savez(path, mass=np.array(1.0))
    elif kind == "other key":
        stored(tmp_path, "second", Counted(5.0))
        (tmp_path / "second.npz").replace(path)
    else:
        with np.load(path) as loaded:
            parts = dict(loaded)
        if kind == "pickle":
            parts["first"] = np.array([{}, {}, {}], dtype=object)
        elif kind == "wrong size":
            parts["first_2"] = np.zeros((3, 1, 1))
        elif kind == "no shapes":
            del parts["shapes"]
        elif kind == "wrong shapes":
            parts["shapes"] = np.zeros((12, 1))
        else:
            parts["stiffness"] = np.full((2, 2), np.nan)
        np.savez(path, **parts)
    store.forget()
    compute = Counted(2.0)
    assert same(stored(tmp_path, "key", compute), some(2.0))
    assert compute.times == 1
    store.forget()
    assert same(stored(tmp_path, "key", compute), some(2.0))
    assert compute.times == 1  # the file was written anew


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    assert same(stored(file / "folder", "key", Counted()), some())
    assert file.read_text() == "in the way"


def test_an_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(file: object, **_: object) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stored(tmp_path, "key", Counted())
    assert list(tmp_path.iterdir()) == []


def test_memory_is_bounded() -> None:
    compute = Counted()
    for number in range(200):
        stored(None, str(number), compute)
    stored(None, "199", compute)
    assert compute.times == 200
    stored(None, "0", compute)
    assert compute.times == 201


@dataclass(frozen=True)
class Part:
    """Something with values."""

    size: float
    name: str = ""


def test_different_contents_have_different_keys() -> None:
    contents = [
        (),
        (None,),
        (True,),
        (1,),
        (1.0000000000000002,),
        (-0.5,),
        ("1",),
        ("ab", "c"),
        ("a", "bc"),
        (["ab", "c"],),
        (["ab"], "c"),
        ({"a": 1, "b": 2},),
        ({"a": 2, "b": 1},),
        (np.zeros(4),),
        (np.zeros((2, 2)),),
        (np.zeros(4, dtype=np.int64),),
        (np.array([0.0, 0.0, 0.0, 1e-300]),),
        (Part(1.0),),
        (Part(1.0, "a"),),
        (2**80,),
        (2**80 + 1,),
        (float("nan"),),
    ]
    keys = [content_hash(*content) for content in contents]
    assert len(set(keys)) == len(keys)
    assert all(len(key) == 64 and set(key) <= set("0123456789abcdef") for key in keys)


def test_equal_contents_have_equal_keys() -> None:
    grid = np.arange(12.0).reshape(3, 4)
    assert content_hash(grid[:, ::2]) == content_hash(grid[:, ::2].copy())
    assert content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})
    assert content_hash((1, 2)) == content_hash([1.0, np.int64(2)])
    with pytest.raises(TypeError, match="no content hash of a object"):
        content_hash(object())


def test_meshes_are_kept_beside_their_tables() -> None:
    tables, other = some(), some()
    store.keep_mesh(tables, "mesh", 60)
    store.keep_mesh(other, "large mesh", store.LARGEST_MESH + 1)
    assert store.mesh_of(tables) == "mesh"
    assert store.mesh_of(other) is None
    store.forget()
    assert store.mesh_of(tables) is None


def test_old_meshes_go_first() -> None:
    every = [some() for _ in range(40)]
    for number, tables in enumerate(every):
        store.keep_mesh(tables, number, 60)
    kept = [store.mesh_of(tables) for tables in every]
    assert kept[0] is None
    assert kept[-1] == 39
