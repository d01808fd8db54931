"""Files, processes and messages: entries D1 (tracebacks), D3 (links and paths), D5 (two writers) and E1 (sentences).

Hostile and damaged results files (D4) are in `test_results_files.py`.
"""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import cotree as ct
from cotree.results.lock import Lock
from cotree.results.store import new_part

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def changed(folder: Path, example: str, *pairs: tuple[str, str], more: str = "") -> Path:
    """An example with some of its text replaced."""
    text = (EXAMPLES / f"{example}.yaml").read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path = folder / "m.yaml"
    path.write_text(text + more, encoding="utf-8")
    return path


# -- D1 ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ["datum", "planar", "gravity", "parameters", "include", "bonds", "masks", "run"])
def test_an_entry_that_says_nothing_is_as_good_as_none(entry: str, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    part = "components: {R: {kind: resistor, nodes: [a, ground], resistance: 1}}\n"
    path.write_text(f"{part}{entry}: null\n")
    assert ct.load(path).to_data() == ct.load(_written(tmp_path / "other" / "m.yaml", part)).to_data()


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("entry", ["name", "components"])
def test_an_entry_that_has_to_say_something(entry: str, tmp_path: Path) -> None:
    part = "components: {R: {kind: resistor, nodes: [a, ground], resistance: 1}}\n" if entry == "name" else ""
    with pytest.raises(ct.CotreeError, match=r"m\.yaml"):
        ct.load(_written(tmp_path / "m.yaml", f"{part}{entry}: null\n"))


def test_no_datum_in_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(
        "datum: ~\ncomponents: {R: {kind: resistor, nodes: [a, ground], resistance: 1}}\n"
    )
    model = ct.load(_written(tmp_path / "m.yaml", "datum: null\ninclude: {file: part.yaml, as: left}\n"))
    assert model.components["left_R"].plus == "left_a"


SIGNALS = [
    ("bond_example_1_compliant", "angle_rate: w}", "angle_rate: m1.position.z}", r"J1\.angle_rate: .*m1\.position\.z"),
    ("bond_example_1_compliant", "angle_rate: w}", "angle: m1.velocity.x}", r"J1\.angle: .*m1\.velocity\.x"),
    ("bond_example_1_compliant", "mass: 1,", "mass: J1.angle_rate,", r"m1\.mass: .*J1\.angle_rate"),
    ("bond_example_1", "angle_rate: w}", "angle_rate: m1.position.z}", r"J1\.angle_rate: .*m1\.position\.z"),
    ("bond_example_2", "mass: 1", "mass: J1.angle", r"m1\.mass: .*J1\.angle"),
]


@pytest.mark.parametrize(("example", "old", "new", "message"), SIGNALS)
def test_constants_of_bond_parts_hold_no_signals(
    example: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    path = changed(tmp_path, example)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ct.CotreeError, match=rf"m\.yaml:\d+:\d+: {message}, which changes with time"):
        ct.load(path).equations()


@pytest.mark.parametrize("size", [1e6, 1e9, 1e-6])
def test_a_four_bar_of_any_size_in_absolute_coordinates(size: float, tmp_path: Path) -> None:
    """Lengths and gravity grow alike, so that its angles move as those of the small one."""
    lengths = [
        (f"{name}: {value}", f"{name}: {value * size!r}") for name, value in (("l1", 0.3), ("l2", 0.9), ("l3", 0.75))
    ]
    path = changed(
        tmp_path, "four_bar", *lengths, ("[0.9, 0, 0]", f"[{0.9 * size!r}, 0, 0]"), ("-9.81", repr(-9.81 * size))
    )
    whole = ct.load(EXAMPLES / "four_bar.yaml").simulate(0.2, points=3)
    scaled = ct.load(path).simulate(0.2, points=3, tree="absolute")
    np.testing.assert_allclose(scaled["O.angle"], whole["O.angle"], atol=1e-4)


# -- D3 ----------------------------------------------------------------------------------------------------------------


def solution() -> ct.Solution:
    model = ct.Model("RC")
    model.add(ct.VoltageSource("V", ("in", "ground"), voltage=5.0))
    model.add(ct.Resistor("R", ("in", "out"), resistance=1.0))
    model.add(ct.Capacitor("C", ("out", "ground"), capacitance=1.0))
    return model.simulate(1.0, points=11)


def test_temporary_files_have_names_that_nobody_can_guess(tmp_path: Path) -> None:
    """And are made only where there is nothing, not even a link."""
    one, other = new_part(tmp_path / "run.h5"), new_part(tmp_path / "run.h5")
    assert one != other
    assert one.name.startswith(f".run.h5.{os.getpid()}.")
    assert len(one.name.split(".")[-2]) >= 16
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(one.stat().st_mode) == 0o666 & ~umask


def test_a_planted_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where somebody has guessed the name."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr("secrets.token_hex", lambda size: "known")
    for name in ("run.h5", "run.csv", "m.yaml"):
        (tmp_path / f".{name}.{os.getpid()}.known.part").symlink_to(victim)
    sol = solution()
    model = ct.rebuild(sol)[0]
    for write in (
        lambda: sol.to_hdf5(tmp_path / "run.h5"),
        lambda: sol.to_csv(tmp_path / "run.csv"),
        lambda: model.save(tmp_path / "m.yaml"),
    ):
        with pytest.raises(ct.FileError, match="cannot write"):
            write()
    monkeypatch.undo()
    (tmp_path / ".run.h5.lock").symlink_to(victim)
    with pytest.raises(ct.FileError, match="a link stands there"):
        model.simulate(1.0, out=tmp_path / "run.h5")
    assert victim.read_text() == "precious"
    assert not (tmp_path / "run.h5").exists()


def test_nothing_but_the_file_itself_is_read(tmp_path: Path) -> None:
    """External links, soft links and external storage are refused, wherever they stand."""
    (tmp_path / "secret").write_bytes(bytes(range(256)) * 8)
    solution().to_hdf5(tmp_path / "other.h5")
    for key in ("t", "values", "energy/stored", "description", "names", "events/t", "check/rows"):
        for how in ("external link", "soft link", "external storage", "group"):
            path = solution().to_hdf5(tmp_path / "run.h5")
            with h5py.File(path, "r+") as file:
                shape = file[key].shape or (1,)
                del file[key]
                if how == "external link":
                    file[key] = h5py.ExternalLink("other.h5", f"/{key}")
                elif how == "soft link":
                    file["moved"] = h5py.ExternalLink("other.h5", f"/{key}")
                    file[key] = h5py.SoftLink("/moved")
                elif how == "external storage":
                    file.create_dataset(key, shape, "f8", external=[(str(tmp_path / "secret"), 0, h5py.h5f.UNLIMITED)])
                else:
                    file.create_group(key)
            with pytest.raises(ct.FileError, match=r"run\.h5: .*(not followed|not opened|no dataset)"):
                ct.Solution.from_hdf5(path)


def mesh_model(folder: Path, file: str) -> Path:
    grid = ct.mesh.grid(size=(1, 1), cells=(2, 2))
    meshio = pytest.importorskip("meshio")
    meshio.Mesh(grid.nodes, [("triangle", grid.triangles)]).write(folder / "up.vtk")
    inner = folder / "inner"
    inner.mkdir(exist_ok=True)
    plate = "{thickness: 0.01, material: steel}"
    text = f"components: {{p: {{kind: flexible_body, mesh: {{file: '{file}'}}, plate: {plate}, frames: {{o: [0, 0, 0]}}"
    (inner / "m.yaml").write_text(text + ", attached: o, modes: 1}, w: {kind: weld, frame_a: ground, frame_b: p.o}}\n")
    return inner / "m.yaml"


@pytest.mark.parametrize("file", ["../up.vtk", "link.vtk", "/etc/passwd", "ABSOLUTE"])
def test_a_mesh_stays_in_the_folder_of_the_model_file(file: str, tmp_path: Path) -> None:
    """As included files do; a folder around both can be allowed."""
    path = mesh_model(tmp_path, file.replace("ABSOLUTE", str(tmp_path / "up.vtk")))
    (path.parent / "link.vtk").symlink_to(tmp_path / "up.vtk")
    expected = r"lies outside of the folder.*--within" if file in ("../up.vtk", "link.vtk") else "is not used"
    with pytest.raises(ct.CotreeError, match=rf"p\.mesh: the mesh file .*{expected}"):
        ct.load(path)
    if "is not used" not in expected:
        assert len(ct.load(path, within=tmp_path).components["p"].mesh.triangles) == 8
        with pytest.raises(ct.CotreeError, match="lies outside"):
            ct.load(path, within=path.parent)


def test_an_include_from_a_folder_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text("components: {R: {kind: resistor, nodes: [a, ground], resistance: x}}\n")
    path = _written(tmp_path / "inner" / "m.yaml", "include: ../part.yaml\nparameters: {x: 2}\n")
    with pytest.raises(ct.FileError, match=r"lies outside of the folder of the model file.*within=FOLDER"):
        ct.load(path)
    assert list(ct.load(path, within=tmp_path).components) == ["R"]
    with pytest.raises(ct.FileError, match="there is no folder"):
        ct.load(path, within=tmp_path / "nowhere")


def test_a_stored_model_names_no_files(tmp_path: Path) -> None:
    """A results file cannot make the program read meshes or models beside it."""
    data = {"components": {"p": {"kind": "flexible_body", "mesh": {"file": "/etc/passwd"}, "frames": {"o": [0, 0, 0]}}}}
    with pytest.raises(ct.CotreeError, match="a model that is in no file"):
        ct.Model.from_mapping(data)
    with pytest.raises(ct.CotreeError, match="a model that is in no file"):
        ct.Model.from_mapping({"include": "a.yaml"})


# -- D5 ----------------------------------------------------------------------------------------------------------------

LONG = """
import sys
import cotree as ct
model = ct.Model("arm", gravity=(0, -9.81, 0))
model.add(ct.RigidBody("arm", shape=ct.rod(length=0.4, mass=1.0), frames={"O": (-0.2, 0, 0)}))
model.add(ct.Revolute("O", "ground", "arm.O", axis=(0, 0, 1), angle=0.3, angle_rate=12.0))
model.simulate(1e6, points=10_001, atol=1e-10, out=sys.argv[1])
"""


def test_the_second_process_on_one_file_is_refused(tmp_path: Path) -> None:
    """A run, an export and a run that goes on; after kill -9 the file is free again, and what was there goes on."""
    path, sol = tmp_path / "run.h5", solution()
    model = ct.rebuild(sol)[0]
    known = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([sys.executable, "-c", LONG, str(path)], env=known)
    try:
        while not path.exists() or not len(ct.Solution.from_hdf5(path)):
            assert process.poll() is None
            time.sleep(0.05)
        for write in (
            lambda: model.simulate(1.0, out=path),
            lambda: sol.to_hdf5(path),
            lambda: ct.resume(path),
        ):
            with pytest.raises(ct.FileError, match=r"run\.h5: another run is writing to it"):
                write()
        assert process.poll() is None
        assert ct.Solution.from_hdf5(path).model == "arm"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (tmp_path / ".run.h5.lock").exists()
    held = ct.Solution.from_hdf5(path)
    assert not held.complete
    model.simulate(1.0, points=11, out=path)
    assert ct.Solution.from_hdf5(path).complete
    assert [each.name for each in tmp_path.iterdir()] == ["run.h5"]


def test_one_lock_for_one_file(tmp_path: Path) -> None:
    with Lock(tmp_path / "a.h5") as lock, lock, Lock(tmp_path / "b.h5"):
        with pytest.raises(ct.FileError, match="another run"), Lock(tmp_path / "a.h5"):
            pass
        assert sorted(each.name for each in tmp_path.iterdir()) == [".a.h5.lock", ".b.h5.lock"]
    assert not list(tmp_path.iterdir())
    with Lock(tmp_path / "a.h5"):
        pass


def test_a_run_that_fails_lets_go_of_its_file(tmp_path: Path) -> None:
    model = ct.rebuild(solution())[0]
    for _ in range(2):
        with pytest.raises(ct.CotreeError, match="nothing"):
            model.simulate(1.0, out=tmp_path / "run.h5", start={"nothing": 1.0})
    assert not list(tmp_path.iterdir())


# -- E1 ----------------------------------------------------------------------------------------------------------------


def open_inductor() -> ct.Model:
    model = ct.Model("open")
    model.add(ct.Inductor("L", ("a", "ground"), inductance=1.0))
    return model


def shorted_port() -> ct.Model:
    model = ct.Model("shorted")
    model.add(ct.Capacitor("C", ("a", "a2"), capacitance=1.0))
    model.add(ct.Transformer("T", ("a", "a2"), ("b", "b"), ratio=2.0))
    model.add(ct.Resistor("R", ("a2", "ground"), resistance=1.0))
    model.add(ct.Resistor("R2", ("b", "ground"), resistance=1.0))
    return model


def inductor_beside() -> ct.Model:
    model = ct.Model("beside")
    model.add(ct.VoltageSource("V", ("a", "ground"), voltage=1.0))
    model.add(ct.Resistor("R", ("a", "ground"), resistance=1.0))
    model.add(ct.Inductor("L", ("a", "b"), inductance=1.0))
    return model


@pytest.mark.parametrize("make", [open_inductor, inductor_beside, shorted_port])
def test_a_dependent_storage_is_told_in_a_whole_sentence(make: Callable[[], ct.Model]) -> None:
    found = [each for each in make().equations().diagnostics if each.code == "dependent-storage"]
    assert len(found) == 1
    assert found[0].text.endswith("its connections alone keep it at zero")


def test_a_storage_that_follows_from_others_names_them() -> None:
    model = ct.Model("two")
    model.add(ct.VoltageSource("V", ("a", "ground"), voltage="sin(t)"))
    model.add(ct.Capacitor("C", ("a", "ground"), capacitance=1.0))
    found = [each.text for each in model.equations().diagnostics if each.code == "dependent-storage"]
    assert found == ["C is a dependent storage: it follows from V"]


@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_only_planar_loops_are_called_planar(tree: str) -> None:
    """Bricard's loop is none, two hinges of a door are coaxial, and a four-bar is one."""

    def reasons(model: ct.Model) -> str:
        return " ".join(each.text for each in model.equations(tree).diagnostics if each.code == "redundant-rows")

    door = ct.Model("door", gravity=(0, 0, -9.81))
    door.add(
        ct.RigidBody("door", shape=ct.box(size=(1, 0.1, 2), mass=20), frames={"a": (-0.5, 0, 1), "b": (-0.5, 0, -1)})
    )
    door.add(ct.GroundFrame("low", position=(0, 0, -2)))
    door.add(ct.Revolute("h1", "ground", "door.a", axis=(0, 0, 1)))
    door.add(ct.Revolute("h2", "low", "door.b", axis=(0, 0, 1)))
    assert "coaxial" in reasons(door)
    assert "planar" not in reasons(door)
    assert "planar" not in reasons(ct.load(EXAMPLES / "bricard.yaml"))
    assert "planar loop" in reasons(ct.load(EXAMPLES / "four_bar.yaml"))
