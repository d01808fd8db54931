"""One name for each kind, the same in files and in Python; files and stored models with names of before."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
from importlib import import_module
from pathlib import Path

import pytest

import cotree as ct
from _repo import ROOT
from cotree._names import HOMES, MODULES
from cotree.io.catalogue import public_path
from cotree.io.upgrading import upgrade_file
from cotree.model import KINDS, find_kind
from cotree.model.renamed import KINDS as RENAMED
from cotree.model.renamed import PYTHON, SUCCESSORS, upgraded

OWN = {kind: cls for kind, cls in KINDS.items() if cls.__module__.startswith("cotree.")}
WORDS = {
    "bond.0": "junction0", "bond.1": "junction1", "nodal.node_damper": "damper", "nodal.node_gear": "gear",
    "nodal.node_spring": "spring",
}  # fmt: skip
"""Kinds whose class has another word: a number, or one that a kind without a room will have."""


def test_a_kind_and_its_class_have_one_name() -> None:
    paths = {kind: public_path(cls) for kind, cls in OWN.items()}
    assert len(set(paths.values())) == len(paths)
    for kind, path in paths.items():
        home, _, name = path.rpartition(".")
        assert getattr(import_module(home), name) is OWN[kind], "from cotree.nodal import Node"
        room, _, word = kind.rpartition(".")
        listed = OWN[kind].__module__ in HOMES or room.partition(".")[0] in MODULES
        assert home == (f"cotree.{room}".rstrip(".") if listed else OWN[kind].__module__), (
            "a new file has no short name"
        )
        assert name.lower() == WORDS.get(kind, word).replace("_", "").lower(), path


def test_no_name_of_before_is_valid_or_means_another_kind() -> None:
    for old, new in RENAMED.items():
        assert new in KINDS
        assert old not in KINDS
        with pytest.raises(ct.ModelError, match=f"the kind '{old}' is now '{new}'.*cotree upgrade"):
            find_kind(old, "x")
    for name in PYTHON:
        with pytest.raises(AttributeError, match=f"no '{name}' any more; it is now .*cotree"):
            getattr(ct, name)


def test_successors_are_chosen_for_what_will_merge() -> None:
    assert set(SUCCESSORS) == {kind for kind in OWN if kind.startswith("nodal.")}
    assert len(set(SUCCESSORS.values())) == len(SUCCESSORS)
    for new in SUCCESSORS.values():
        assert new not in RENAMED or RENAMED[new] in SUCCESSORS, "a word of before may come back for the same part only"


OLD = """\
# a machine
components:
  arm:   {kind: bodies.rigid_body, mass: 1, inertia: [1, 1, 1]}   # an arm
  hinge: {frame_a: ground, frame_b: arm, "kind": "joints.revolute"}
  axle: {kind: rotational.axis, nodes: [s, ground], on: hinge}
  M:
    kind: 'dc_motor'  # the motor
    electrical: [a, ground]
    shaft: [s, ground]
    resistance: 1
    inductance: 1 mH
    constant: 2
  V: {kind: electrical.voltage_source, nodes: [a, ground], voltage: 1}
run: {t_end: 0.01, points: 3}
"""


def test_upgrade_keeps_comments_and_layout(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + OLD.replace("\n", "\r\n").encode())
    with pytest.raises(ct.FileError, match=r"bodies\.rigid_body' is now 'rigid_body'"):
        ct.load(file)
    assert [str(change) for change in upgrade_file(file, write=False)] == [
        "line 3: bodies.rigid_body -> rigid_body", "line 4: joints.revolute -> revolute",
        "line 7: dc_motor -> machines.dc_motor", "line 13: electrical.voltage_source -> voltage_source",
    ]  # fmt: skip
    assert "joints" in file.read_text(encoding="utf-8")
    upgrade_file(file)
    wanted = re.sub(r"(bodies|joints|electrical)\.", "", OLD).replace("'dc_motor'", "'machines.dc_motor'")
    assert file.read_bytes() == b"\xef\xbb\xbf" + wanted.replace("\n", "\r\n").encode()
    assert upgrade_file(file) == []
    assert ct.load(file).simulate(0.01, points=3).complete


def test_a_stored_model_is_read_by_its_new_names(tmp_path: Path) -> None:
    m = ct.Model("RC")
    m.add(ct.VoltageSource("V", ("a", "ground"), voltage=1))
    m.add(ct.Resistor("R", ("a", "b"), resistance=1))
    m.add(ct.Capacitor("C", ("b", "ground"), capacitance=1))
    solution = m.simulate(1, points=5)
    assert solution.origin is not None
    assert solution.origin.model is not None
    for entry in solution.origin.model["components"].values():
        entry["kind"] = f"electrical.{entry['kind']}"
    rebuilt, _ = ct.rebuild(solution)
    assert rebuilt.components == m.components


def test_data_are_upgraded_at_every_depth() -> None:
    inner = {"kind": "bond.of_joint", "component": {"kind": "joints.revolute", "frame_a": "ground"}}
    assert upgraded({"masks": {"m": {"components": {"x": inner}}}, "t": [1, "mass"]}) == {
        "masks": {"m": {"components": {"x": inner | {"component": {"kind": "revolute", "frame_a": "ground"}}}}},
        "t": [1, "mass"],
    }


BEFORE = "01de886"
CHANGED = {
    "flexible_four_bar", "flexible_panel_strips", "flexible_panels", "flexible_spin_up", "machine_flexible_four_bar",
}  # fmt: skip
"""Examples that have other sections, fibres or tolerances since then."""


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples of 0.1.0 after ``cotree upgrade``."""
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", BEFORE, "examples"], capture_output=True, check=False)
    if packed.returncode:
        pytest.skip(f"git has no commit {BEFORE}")
    folder = tmp_path_factory.mktemp("before")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    files = sorted((folder / "examples").glob("*.yaml"))
    assert sum(len(upgrade_file(file)) for file in files) == 36
    return folder / "examples"


def test_upgraded_examples_are_those_of_today(before: Path) -> None:
    """What they compute is held by the golden net, whose records were made with the files before."""
    files = sorted(before.glob("*.yaml"))
    assert len(files) > 35
    for file in files:
        today = (ROOT / "examples" / file.name).read_bytes()
        assert (file.read_bytes() == today) == (file.stem not in CHANGED), file.name
        assert ct.load(file).components


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CHANGED))
def test_upgraded_examples_that_have_changed_run(before: Path, name: str) -> None:
    from cotree.io import read_model

    found = read_model(before / f"{name}.yaml", ct.Model)
    assert found.model.simulate(found.run.t_end or 1.0, tree=found.run.tree, **found.run.options()).complete
