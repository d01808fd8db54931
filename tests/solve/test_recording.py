"""Results that are written while a run goes on: what a file holds when the process is killed, and when it cannot be."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import cotree as ct
from cotree import Solution
from cotree.errors import FileError, SolveError
from cotree.results import journal
from cotree.solve import pieces, recording
from cotree.solve.adams import Adams

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
CODE = """
import json, os, signal, sys
import cotree
from cotree.solve import pieces, recording
from cotree.solve.adams import Adams

model, path, part, options = sys.argv[1:]
if float(part):
    recording.PAUSE, pieces.STEPS, pieces.TIMES = 0.0, 200, 1

def look(done):
    if 0 < float(part) <= done and len(cotree.Solution.from_hdf5(path)):
        os.kill(os.getpid(), signal.SIGKILL)

cotree.load(model).simulate(out=path, progress=look, **json.loads(options))
"""
"""A run that writes after each of its pieces, and is killed when a part of its time is done and rows are written.

It kills itself, so that no test has to hit the right moment. Without a part, it goes on until it is killed.
"""


def arm() -> ct.Model:
    model = ct.Model("arm", gravity=(0, -9.81, 0))
    model.add(ct.RigidBody("arm", shape=ct.rod(length=0.4, mass=1.0), frames={"O": (-0.2, 0, 0), "A": (0.2, 0, 0)}))
    model.add(ct.Revolute("O", "ground", "arm.O", axis=(0, 0, 1), angle=0.3, angle_rate=12.0))
    return model


def arms() -> ct.Model:
    model = arm()
    model.add(ct.RigidBody("other", shape=ct.rod(length=0.4, mass=1.0), frames={"A": (-0.2, 0, 0)}))
    model.add(ct.Revolute("A", "arm.A", "other.A", axis=(0, 0, 1), angle=0.1, angle_rate=-2.0))
    return model


def run(model: Path, path: Path, part: float = 0.0, **options: object) -> subprocess.Popen[bytes]:
    """A process that simulates a model file."""
    known = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", CODE, str(model), str(path), str(part), json.dumps(options)], env=known
    )


def started(model: Path, path: Path, before_rows: bool = False, **options: object) -> subprocess.Popen[bytes]:
    """The same, once it has begun to write rows, or the file without any; its run has to be a long one."""
    process = run(model, path, **options)
    while not path.exists() or not (len(Solution.from_hdf5(path)) or before_rows):
        assert process.poll() is None, "it ended before it was killed"
        time.sleep(0.01)
    return process


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def check(done: Solution, whole: Solution) -> None:
    """All results within ten times the tolerance of the run that was not cut."""
    assert done.complete
    np.testing.assert_array_equal(done.t, whole.t)
    for name in whole:
        alike = [whole[each] for each in whole if whole.unit(each) == whole.unit(name)]
        allowed = 10 * whole.statistics.rtol * max(float(np.abs(each).max()) for each in alike)
        np.testing.assert_allclose(done[name], whole[name], rtol=0, atol=allowed, err_msg=name)
    for key in ("stored", "dissipated", "supplied"):
        one, other = getattr(done.energy(), key), getattr(whole.energy(), key)
        np.testing.assert_allclose(one, other, rtol=0, atol=10 * whole.statistics.rtol * whole.energy().scale)


def killed(model: Path, folder: Path, **options: object) -> Solution:
    """Kill a run, look at its file, let it go on and compare."""
    path = folder / "run.h5"
    assert run(model, path, 0.3, **options).wait() == -signal.SIGKILL
    held = Solution.from_hdf5(path)
    assert not held.complete
    assert held.restart is not None
    assert 0.0 < held.restart.t < options["t_end"]  # type: ignore[operator]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pieces, "STEPS", 200)
        patched.setattr(pieces, "TIMES", 1)
        whole = ct.load(model).simulate(**options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(held.t, whole.t[: len(held)])
    done = ct.resume(path)
    for name in held:
        np.testing.assert_array_equal(held[name], done[name][: len(held)], err_msg=name)
    check(done, whole)
    check(Solution.from_hdf5(path), whole)
    return whole


def test_a_killed_mechanism_goes_on(tmp_path: Path) -> None:
    """Two arms that turn and swing without an end; their angles follow from absolute coordinates."""
    path = arms().save(tmp_path / "arms.yaml")
    whole = killed(path, tmp_path, t_end=6.0, points=301, tree="absolute")
    assert np.abs(whole["O.angle"]).max() > 4 * np.pi


def test_a_killed_network_goes_on(tmp_path: Path) -> None:
    """Between two output times, too, for there are only three of them."""
    killed(EXAMPLES / "rectifier.yaml", tmp_path, t_end=0.1, points=3)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("deployable_ring_truss.yaml", {"t_end": 60.0, "points": 20_001}),
        ("bond_motor_slider_crank.yaml", {"t_end": 10.0, "points": 501}),
        ("flexible_pendulum.yaml", {"t_end": 10.0, "points": 501, "rtol": 1e-5}),
    ],
)
def test_others_that_are_killed(model: str, options: dict[str, object], tmp_path: Path) -> None:
    killed(EXAMPLES / model, tmp_path, **options)


def test_what_is_written_is_never_older_than_a_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor than a bounded number of steps; also where one interval between output times takes long."""
    monkeypatch.setattr(recording, "PAUSE", 0.0)
    monkeypatch.setattr(pieces, "STEPS", 200)
    monkeypatch.setattr(pieces, "TIMES", 1)
    steps, commit = [0], journal.Journal.commit

    def counted(self: Any, rows: int, events: int, restart: Any) -> None:
        commit(self, rows, events, restart)
        steps.append(restart.said["steps"])

    monkeypatch.setattr(journal.Journal, "commit", counted)
    sol = arms().simulate(10.0, points=2, tree="absolute", out=tmp_path / "run.h5")
    assert len(steps) > 10
    assert np.diff([*steps, sol.statistics.steps]).max() < 3 * pieces.STEPS


def test_a_run_that_is_killed_before_its_first_rows_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file says what it would be; an older result stays, and what killed processes have left is removed."""
    path, model = tmp_path / "run.h5", arm().save(tmp_path / "arm.yaml")
    kill(started(model, path, True, t_end=1e6, points=11))
    held = Solution.from_hdf5(path)
    assert (len(held), held.complete, held.restart) == (0, False, None)
    assert held.origin is not None
    arm().simulate(0.5, points=11).to_hdf5(tmp_path / "other.h5")
    short = replace(held, origin=replace(held.origin, options={**held.origin.options, "t_end": 0.5}))
    done = ct.resume(short.to_hdf5(path))
    check(done, arm().simulate(0.5, points=11))
    before = path.read_bytes()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    stale, others = tmp_path / f".run.h5.{gone.pid}.part", [tmp_path / ".run.h5.x.part", tmp_path / ".run.h5.1.part"]
    for each in (stale, *others):
        each.write_text("half")
    with monkeypatch.context() as patched, pytest.raises(SolveError, match="interrupted before the run began"):
        _interrupted(lambda: arm().simulate(1e6, points=11, out=path), patched)
    assert path.read_bytes() == before
    arm().simulate(0.1, points=11, out=path)
    assert not stale.exists()
    assert all(each.exists() for each in others)


def _interrupted(compute: Callable[[], object], patched: pytest.MonkeyPatch) -> None:
    """Compute, and be interrupted at the first native call; processes of a test run may ignore the signal otherwise."""
    integrate = Adams.integrate

    def interrupting(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return integrate(*given)

    patched.setattr(Adams, "integrate", interrupting)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        compute()
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_failure_before_the_first_rows_leaves_no_file(tmp_path: Path) -> None:
    model = arm()
    with pytest.raises(ct.CotreeError):
        model.simulate(1.0, out=tmp_path / "run.h5", start={"nothing": 1.0})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.soak
def test_a_run_that_is_killed_again_and_again(tmp_path: Path) -> None:
    """Twenty times at random moments, most of them while something is written."""
    path, chance = tmp_path / "run.h5", random.Random(7)
    options = {"t_end": 150.0, "points": 60_001}
    whole = ct.load(EXAMPLES / "four_bar.yaml").simulate(**options)  # type: ignore[arg-type]
    process = started(EXAMPLES / "four_bar.yaml", path, **options)
    code = "import sys; sys.path.insert(0, sys.argv[2]); from cotree.solve import recording; recording.PAUSE = 0.0\n"
    code += "import cotree; cotree.resume(sys.argv[1])"
    reached = -1.0
    for _ in range(20):
        time.sleep(chance.uniform(0.05, 0.6))
        kill(process)
        held = Solution.from_hdf5(path)
        for name in ("O.angle", "A.force.x"):
            np.testing.assert_array_equal(held[name], whole[name][: len(held)])
        assert held.complete or held.restart is not None
        assert held.t[-1] >= reached
        reached = float(held.t[-1])
        known = {**os.environ, "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen([sys.executable, "-c", code, str(path), str(ROOT / "src")], env=known)
        time.sleep(1.5)
    kill(process)
    check(ct.resume(path), whole)


def test_rows_are_the_same_while_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At every moment the file holds the beginning of the results to come, with its events; readers do not disturb."""
    monkeypatch.setattr(recording, "PAUSE", 0.0)
    monkeypatch.setattr(pieces, "STEPS", 200)
    monkeypatch.setattr(pieces, "TIMES", 1)
    monkeypatch.setattr(journal, "EVENTS", 2)
    path, seen = tmp_path / "run.h5", list[Solution]()

    def look(done: float) -> None:
        if path.exists() and len(held := Solution.from_hdf5(path)):
            seen.append(held)

    events = ct.Event("up", "O.angle_rate", "up"), ct.Event("level", "arm.position.y")
    sol = arm().simulate(4.0, points=401, tree="absolute", out=path, progress=look, events=events)
    lengths = [len(each) for each in seen]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) > 3
    assert lengths[-1] < len(sol)
    for each in seen:
        assert not each.complete
        assert each.model == sol.model
        assert each.origin == sol.origin
        assert each.energy().start == sol.energy().start
        for name in sol.values:
            np.testing.assert_array_equal(each.values[name], sol.values[name][: len(each)])
        np.testing.assert_array_equal(each.energy().stored, sol.energy().stored[: len(each)])
        for name, times in sol.events.items():
            np.testing.assert_array_equal(each.events[name], times[: len(each.events[name])])
            values = each.event_values[name]["O.angle"]
            np.testing.assert_array_equal(values, sol.event_values[name]["O.angle"][: len(values)])
    assert len(seen[-1].events["level"]) > 4, "more than there was room for at first"
    back = Solution.from_hdf5(path)
    assert back.complete
    np.testing.assert_array_equal(back["O.angle"], sol["O.angle"])
    assert [each.name for each in tmp_path.iterdir()] == ["run.h5"]


def test_half_a_write_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two places say how much counts: where the later one is spoilt, the earlier one holds."""
    monkeypatch.setattr(recording, "PAUSE", 0.0)
    monkeypatch.setattr(pieces, "STEPS", 200)
    monkeypatch.setattr(pieces, "TIMES", 1)
    path, copies = tmp_path / "run.h5", list[bytes]()
    arm().simulate(
        8.0, points=401, out=path, progress=lambda _: copies.append(path.read_bytes() if path.exists() else b"")
    )
    path.write_bytes(copies[-1])
    whole = Solution.from_hdf5(path)
    with h5py.File(path, "r+") as file:
        progress = file["progress"][()]
        later = int(np.argmax(progress[:, 0]))
        file["progress"][later, 1] = 10**9
    spoilt = Solution.from_hdf5(path)
    assert 0 < len(spoilt) < len(whole)
    assert spoilt.restart is not None
    with h5py.File(path, "r+") as file:
        file["progress"][:, 1] = 10**9
    with pytest.raises(FileError, match="nothing was written completely"):
        Solution.from_hdf5(path)


def test_an_old_file_stays_until_there_is_something_new(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    path.write_text("precious")
    model = arm()
    for options in ({"rtol": -1.0}, {"integrator": "nothing"}, {"start": {"nothing": 1.0}}):
        with pytest.raises(ct.CotreeError):
            model.simulate(1.0, out=path, **options)
        assert path.read_text() == "precious"
    for wrong, message in (("run.csv", r"\.h5"), ("no/run.h5", "no folder"), ("folder.h5", "it is a folder")):
        (tmp_path / "folder.h5").mkdir(exist_ok=True)
        with pytest.raises(FileError, match=message):
            model.simulate(1.0, out=tmp_path / wrong)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder.h5", "run.h5"]


def test_a_full_disk(tmp_path: Path) -> None:
    """A file that must not grow beyond a limit: the run ends, the error carries its results, the old file stays."""
    code = """
import resource, signal, sys
import cotree
from cotree.solve import recording
recording.PAUSE = 0.0
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
model = cotree.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    model.simulate(t_end=20.0, points=2001, out=sys.argv[2])
except cotree.FileError as error:
    print(error)
    print(len(error.solution.t), error.solution.complete)
"""
    path = tmp_path / "run.h5"
    path.write_text("old")
    known = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code, str(EXAMPLES / "four_bar.yaml"), str(path)]
    said = subprocess.run(command, env=known, capture_output=True, text=True)
    assert said.stdout.splitlines()[-1] == "2001 True", said.stderr
    assert "cannot write" in said.stdout
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["run.h5"]


def test_a_run_that_fails_is_kept(tmp_path: Path) -> None:
    """Up to the failure, with the reason in the error and the results in both."""
    model = ct.Model("fails")
    model.add(ct.VoltageSource("V", ("in", "ground"), voltage="sqrt(1 - t)"))
    model.add(ct.Resistor("R", ("in", "out"), resistance=1.0))
    model.add(ct.Capacitor("C", ("out", "ground"), capacitance=1.0))
    with pytest.raises(SolveError, match="no finite value") as caught:
        model.simulate(2.0, points=21, out=tmp_path / "run.h5")
    held = Solution.from_hdf5(tmp_path / "run.h5")
    assert isinstance(caught.value.solution, Solution)
    assert 5 < len(held) < 21
    np.testing.assert_array_equal(held["C.voltage"], caught.value.solution["C.voltage"])
    with pytest.raises(SolveError, match="no finite value"):
        ct.resume(tmp_path / "run.h5")
    assert len(Solution.from_hdf5(tmp_path / "run.h5")) == len(held)
