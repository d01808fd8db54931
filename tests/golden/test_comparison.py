"""The comparison itself: what it has to catch, and what it has to let pass."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cotree as ct
from golden import compare, store
from golden.differ import EXACT, Moved, chosen, differences
from golden.models import CASES, EXAMPLES, Case
from golden.record import PARTS, record

UNITS = {"a.position": "m", "b.position": "m", "J.force": "N", "J.torque": "N m", "S.force": "N"}


def synthetic() -> dict[str, Any]:
    """A small record."""
    values = {
        "a.position": 2.0,
        "b.position": 1e-3,
        "J.force": 50.0,
        "J.torque": 0.0,
        "S.force": 1.0,
        "energy.stored": 7.0,
    }
    times = [0.1 * k for k in range(11)]
    path = {
        "t": times,
        "values": {"a.position": [2.0 + t for t in times], "audit.stored": [7.0] * 11},
        "band": {"a.position": [None, *[-7] * 10], "audit.stored": [None] * 11},
        "audit_error": 1e-9,
    }
    state = {"t": 0.0, "given": {"a.position": 2.0}, "values": dict(values)}
    return {
        "units": dict(UNITS),
        "start": dict(values),
        "states": [{**state, "rows": {"freedoms": 1, "redundant": 2, "position": 0.0, "velocity": 0.0}}],
        "loose": ["S.force"],
        "noise": {"N": 1e-12},
        "path": path,
        "events": {"D.opens": [0.25, 0.5]},
        "event_band": {"D.opens": [-9, -9]},
        "files": {"yaml": True},
        "error": {},
    }


def moved(key: tuple[Any, ...], new: Any) -> list[Moved]:
    """What is found where one entry of the record is another."""
    other = copy.deepcopy(synthetic())
    store.put(other, key, new)
    return differences("m", synthetic(), other, PARTS)


def test_the_same_record_did_not_move() -> None:
    assert not differences("m", synthetic(), synthetic(), PARTS)


CAUGHT = [
    ("start", ("start", "a.position"), 2.0 + 3 * EXACT * 2),
    ("start", ("start", "b.position"), 1e-3 + 3 * EXACT * 2),  # compared with the size of its unit
    ("state 1", ("states", 0, "values", "J.force"), 50.0 * (1 + 1e-9)),
    ("state 1", ("states", 0, "values", "J.torque"), 1e-8),
    ("state 1", ("states", 0, "values", "energy.stored"), float("nan")),
    ("state 1", ("states", 0, "rows", "freedoms"), 2),
    ("state 1", ("states", 0, "rows", "redundant"), 1),
    ("state 1", ("states", 0, "rows", "position"), 1e-6),
    ("units", ("units", "a.position"), "mm"),
    ("units", ("units", "b.position"), None),
    ("units", ("units", "c.position"), "m"),
    ("path", ("path", "values", "a.position"), [2.0 + 0.1 * k + (k == 5) * 1e-5 for k in range(11)]),
    ("path", ("path", "values", "audit.stored"), [7.0] * 10 + [7.0 + 1e-6]),
    ("path", ("path", "t"), [0.2 * k for k in range(11)]),
    ("path", ("path", "audit_error"), 1e-3),
    ("events", ("events", "D.opens"), [0.25, 0.5001]),
    ("events", ("events", "D.opens"), [0.25]),
    ("events", ("events", "D.opens"), None),
    ("events", ("events", "D.shuts"), [0.1]),
    ("files", ("files", "yaml"), False),
    ("error", ("error", "path"), {"class": "SolveError", "where": ""}),
]


@pytest.mark.parametrize(("part", "key", "new"), CAUGHT)
def test_what_is_caught(part: str, key: tuple[Any, ...], new: Any) -> None:
    found = moved(key, new)
    assert [each.part for each in found] == [part]
    assert len(chosen(found, parts=part)) == 1
    assert not chosen(found, names="another")
    assert str(found[0]) in compare.told(found)


PASSED = [
    (("start", "a.position"), 2.0 * (1 + EXACT / 3)),
    (("start", "b.position"), 1e-3 * (1 + 1e-9)),  # its unit has a size of 2 m
    (("states", 0, "values", "J.torque"), 1e-12),  # rounding of 50 N at 2 m
    (("states", 0, "values", "S.force"), 3.0),  # not determined
    (("states", 0, "rows", "position"), 1e-12),
    (("path", "values", "a.position"), [2.0 + 0.1 * k + (k > 0) * 5e-7 for k in range(11)]),
    (("events", "D.opens"), [0.25 + 5e-9, 0.5]),
    (("path", "audit_error"), 5e-9),
]


@pytest.mark.parametrize(("key", "new"), PASSED)
def test_what_passes(key: tuple[Any, ...], new: Any) -> None:
    assert not moved(key, new)


def test_a_renamed_result_is_caught_and_the_table_lets_it_pass() -> None:
    tables = {"results": {"*.position": "*.place"}, "units": {"N m": "Nm"}, "events": {"D.opens": "D.opened"}}
    other = store.renamed(synthetic(), tables)
    assert {"a.place", "b.place"} <= {each.name for each in differences("m", synthetic(), other, PARTS)}
    assert not differences("m", store.renamed(synthetic(), tables), other, PARTS)
    assert "a.place" in other["states"][0]["given"]
    assert store.new_name("a.b.position", tables["results"]) == "a.b.place"
    assert store.new_name("position", tables["results"]) == "position"


def test_a_change_counts_while_its_entry_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "CHANGES", tmp_path / "changes.yaml")
    monkeypatch.setattr(store, "RENAMES", tmp_path / "renames.yaml")
    (tmp_path / "renames.yaml").write_text("results: {}\n")
    store.write(store.file_of("kind/m", tmp_path), synthetic())
    item = {"id": 1, "key": ["states", 0, "values", "J.force"], "new": 60.0}
    store.write(
        store.file_of("kind/m", tmp_path / "changed"), [item, {"id": 1, "key": ["units", "S.force"], "new": None}]
    )
    assert store.names(tmp_path) == ["kind/m"]
    (tmp_path / "changes.yaml").write_text("- {id: 1, why: another law}\n")
    assert store.golden("kind/m", tmp_path)["states"][0]["values"]["J.force"] == 60.0
    assert "S.force" not in store.golden("kind/m", tmp_path)["units"]
    (tmp_path / "changes.yaml").write_text("# none\n")
    assert store.golden("kind/m", tmp_path)["states"][0]["values"]["J.force"] == 50.0


def test_intended_changes_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    found = moved(("start", "a.position"), 3.0) + moved(("start", "b.position"), 3.0)
    monkeypatch.setattr(store, "accepted", lambda name: {("start", "b.position"): 4} if name == "m" else {})
    entries = compare.intended(found)
    assert [(each.name, number) for each, number in entries.items()] == [("b.position", 4)]
    assert compare.told(found, entries).count("[change 4]") == 1


def test_euler_parameters_of_the_other_sign_are_the_same_rotation() -> None:
    turn = {f"a.orientation.e{k}": value for k, value in enumerate((0.5, -0.5, 0.5, 0.5))}
    record_ = synthetic()
    record_["units"] |= dict.fromkeys(turn, "")
    record_["start"] |= turn
    other = copy.deepcopy(record_)
    other["start"] |= {name: -value for name, value in turn.items()}
    assert not differences("m", record_, other, PARTS)
    other["start"]["a.orientation.e0"] *= -1
    assert differences("m", record_, other, PARTS)


def test_a_wrong_model_with_another_class_or_place_is_caught() -> None:
    old = [{"id": "x", "text": "", "class": "ModelError", "where": "3:5: R1"}]
    assert not compare.wrong_moved(old, old)
    assert len(compare.wrong_moved(old, [{**old[0], "class": "FileError"}])) == 1
    assert len(compare.wrong_moved(old, [{**old[0], "where": "4:5: R1"}])) == 1
    assert len(compare.wrong_moved(old, [])) == 1


def changed(name: str, part: str, **fields: Any) -> Case:
    """An example with other values of a component."""

    def make() -> Any:
        loaded = CASES[f"example/{name}"].make()
        data = loaded.model.to_data()
        data["components"][part] |= fields
        return replace(loaded, model=ct.Model.from_mapping(data))

    return Case(f"example/{name}", make)


def found(case: Case) -> list[Moved]:
    """What moved in the quick part of the net."""
    old = store.golden(case.name)
    return differences(case.name, old, record(case, ("start", "states"), old["states"]), ("start", "states"))


def test_a_spring_that_is_a_billionth_stiffer_is_caught() -> None:
    stiffness = ct.load(EXAMPLES / "quarter_car.yaml").to_data()["components"]["spring"]["stiffness"]
    assert not found(changed("quarter_car", "spring", stiffness=float(stiffness)))
    assert chosen(found(changed("quarter_car", "spring", stiffness=float(stiffness) * (1 + 1e-9))), parts="state *")


def test_a_start_that_is_shifted_is_caught() -> None:
    moves = found(changed("four_bar", "O", angle=0.3 + 1e-9))
    assert chosen(moves, parts="start")
    assert not chosen(moves, parts="state *")  # which are given


def test_another_mass_is_caught_by_accelerations_and_reactions() -> None:
    data = ct.load(EXAMPLES / "four_bar.yaml").to_data()["components"]["crank"]["shape"]
    data["rod"]["mass"] *= 1 + 1e-9
    moves = found(changed("four_bar", "crank", shape=data))
    assert chosen(moves, names="*.acceleration.*")
    assert chosen(moves, names="*.force.*")
