"""Thousands of damaged model files: each is read, or refused with one message of ours.

No other exception, nothing that never ends, no code executed, no process, socket or file made, memory bounded. They
are the same files in every run. Of those that are read well, some are taken further: equations, and a start.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

import cotree as ct
from _made import seed
from cotree.io import read_model
from cotree.model import KINDS
from cotree.solve.courses import result_units
from cotree.solve.simulate import simulate

sys.path.insert(0, str(Path(__file__).parent))  # a folder called io cannot be imported from
from _mutations import CANARY, FOLDER, SEEDS, damaged, mutant

from _cases import cases

FILES, CHUNKS = cases(800, 10_000), 10
SECONDS = 20.0
"""Time of the processor after which a file counts as one that never ends; the slowest takes less than a tenth of it."""
DEEP = 40
"""One in so many of the files that are read well is taken further."""
MEGABYTES = 400
INCLUDING = {"part_stage.yaml": "language_include.yaml", "part_drive.yaml": "language_bonds.yaml"}


class TooLong(BaseException):
    """Not an Exception, so that nobody catches it by accident."""


# -- what nobody may do while a file is read --------------------------------------------------------------------------

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND
ACTS = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.putenv",
    "ctypes.",
)
ACTS += ("subprocess.", "socket.", "shutil.", "webbrowser.", "urllib.")


def own_code() -> bool:
    """Whether a module is imported, whose data classes are made from text, or type hints of a class are looked up."""
    frame: Any = sys._getframe()
    while frame is not None and not frame.f_code.co_filename.startswith(("<frozen importlib", typing.__file__)):
        frame = frame.f_back
    return frame is not None


class Guard:
    """Listens to the interpreter, which cannot be undone: so there is one, and it sleeps between the files."""

    def __init__(self) -> None:
        self.folder: str | None = None
        self.caught: list[str] = []
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.folder is None:
            return
        if event.startswith(ACTS) or (event == "import" and CANARY in str(arguments[0])):
            self.caught.append(f"{event} {arguments}")
        elif event == "exec" and not os.path.exists(arguments[0].co_filename) and not own_code():
            self.caught.append(f"exec {arguments[0].co_filename}")
        elif event == "open" and (arguments[2] or 0) & WRITES and not str(arguments[0]).startswith(self.folder):
            self.caught.append(f"open {arguments[0]} to write")

    @contextmanager
    def __call__(self, folder: Path) -> Iterator[None]:
        def ring(*_: object) -> None:
            raise TooLong

        before = signal.signal(signal.SIGPROF, ring)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        self.folder = str(folder)
        try:
            yield
        finally:
            self.folder = None
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)


GUARD = Guard()


def taken_further(file: Any) -> None:
    """As ``cotree check`` does: equations with the tree of the file, names to plot, and a start; keeps no tables."""
    file.model.folder = None
    with file.about():
        tree = tuple(file.run.tree) if isinstance(file.run.tree, list) else file.run.tree
        equations = file.model.equations(tree)
        file.check_run(result_units(equations))
        given = {name: value for name, value in file.run.options().items() if name == "start"}
        simulate(equations, 1.0, times=[0.0], **given)


def fed(
    numbers: range, folder: Path, deep: int = DEEP, mutant: Callable[[int], tuple[str, str]] = mutant
) -> dict[str, int]:
    """Read mutants; how many were read, taken further and refused. Anything but that is told with the number."""
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)  # for files that include others
    for name in ("flexible_beam.yaml", "bond_masks.yaml", "nodal.yaml", "network_electrical.yaml"):
        taken_further(read_model(folder / name, ct.Model))  # whatever is imported late is imported now
    count, read = {"read": 0, "further": 0, "refused": 0}, 0
    for number in numbers:
        name, text = mutant(number)
        part = name.startswith("part_")
        path = folder / (name if part else f"m{name[-5:]}")
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        what = "read"
        try:
            with GUARD(folder):
                file = read_model(folder / INCLUDING[name] if part else path, ct.Model)
                read += 1
                if deep and read % deep == 0:
                    what = "further"
                    taken_further(file)
            count[what] += 1
        except ct.CotreeError as told:
            count["refused"] += len(str(told)) > 20  # says something
        except (Exception, TooLong) as wrong:
            raise AssertionError(f"mutant {number} of {name}: {type(wrong).__name__}: {wrong}") from wrong
        finally:
            if part:
                path.write_text(SEEDS[name], encoding="utf-8")
        caught, GUARD.caught = GUARD.caught, []
        assert not caught, (number, name, caught)
    assert not list(folder.rglob(f"{CANARY}*"))
    assert not Path(CANARY).exists()
    assert sum(count.values()) == len(numbers), "an error says nothing"
    return count


# -- tests -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in SEEDS if not name.startswith("part_")])
def test_a_seed_is_right_and_small(name: str, tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    assert len(SEEDS[name]) < 2100
    taken_further(read_model(tmp_path / name, ct.Model))


def without_seed() -> set[str]:
    """The kinds that no seed holds."""
    found = set()

    def look(parts: Any) -> None:
        for part in parts.values():
            found.add(part.kind)
            look(getattr(getattr(part, "graph", None), "components", {}))

    for name in SEEDS.keys() - {"part_drive.yaml"}:
        look(read_model(FOLDER / name, ct.Model).model.components)
    own = {kind for kind, made in KINDS.items() if made.__module__.startswith("cotree.")}  # other tests add some
    derived = {kind for kind in own if kind.startswith("bond.of_")}  # made from mechanisms, not written by hand
    return own - derived - {"control.function"} - found  # a Python function


def test_what_no_seed_holds_is_damaged_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind that is new gets a seed made from its class; two kinds that have one show that this works."""
    monkeypatch.chdir(tmp_path)
    for kind in sorted(without_seed() | {"cylindrical", "piston"}):
        data = seed(kind)
        text = yaml.safe_dump(data, sort_keys=False)
        count = fed(
            range(150), tmp_path, 2, lambda k, text=text, data=data: damaged(random.Random(k), "m.yaml", text, data)
        )
        assert count["read"] + count["further"] > 3, kind  # the seed is right, and mistakes are small
        assert count["refused"] > 50, kind


FOUND = [
    (
        "mechanism_joints.yaml",
        "inertia: [1, 1, 1], position",
        "inertia: [0, 1, 1], position",
        "no inertia about its own axis x",
    ),
    ("mechanism_joints.yaml", "p: [0.1, 0, 0]", "p: [1e300, 0, 0]", r"a\.p\.x: the value is 1e\+300"),
    ("bond_compliant.yaml", "[4.2e-4, 4.2e-4, 4.2e-4], frames", "[4.2e-4, 4.2e-4, 0], frames", "no unique solution"),
    ("bond_frames.yaml", "[1, 1, 1]}\n  F", "[1, 0, 1]}\n  F", "no inertia resists the flow"),
    ("bond_frames.yaml", "frames: {p: [1, 0, 0]}}\n  J2", "frames: 1e-300}\n  J2", r"a\.frames: found 1e-300"),
    ("bond_library.yaml", "rotary_damper, damping: 0.1", "rotary_damper, damping: ~", r"d\.damping: no value is given"),
    (
        "bond_frames.yaml",
        "d: {kind: bond.body, mass: 1,",
        "d: {kind: bond.body, mass: [1, 2],",
        r"d\.mass: found \[1, 2\]",
    ),
    ("bond_frames.yaml", "length: 0.5", "length: [2, 2]", r"s\.length: found \[2, 2\]"),
    ("bond_signals.yaml", "z -> iz", "z -> y", "it ends at 'y', which carries a signal"),
    ("flexible_beam.yaml", "width: 0.01", "width: 1e308", r"rod\.section"),
    ("flexible_panel.yaml", "size: [1, 1]", "size: [1, 1e160]", r"panel\.mesh"),
    ("mechanism_coupled.yaml", "[0.1, 5]", "[0.1, 1e308]", r"ramp\.table"),
    ("language_pattern.yaml", "l: 0.2}", f"l: {'9' * 90_000}x}}", "an expression of 90001 characters"),
]
"""Files that once ended in a traceback, a warning or a long wait."""


@pytest.mark.parametrize(("name", "old", "new", "message"), FOUND)
def test_what_was_found_stays_told(name: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    assert SEEDS[name].count(old) == 1
    (tmp_path / "m.yaml").write_text(SEEDS[name].replace(old, new), encoding="utf-8")
    with pytest.raises(ct.CotreeError, match=message), GUARD(tmp_path):
        taken_further(read_model(tmp_path / "m.yaml", ct.Model))


def test_the_guard_sees_what_it_should(tmp_path: Path) -> None:
    with GUARD(tmp_path):
        (tmp_path / "inside").write_text("")
        eval("1 + 1")
        (tmp_path.parent / "outside").write_text("")
        os.system("true")
    caught, GUARD.caught = GUARD.caught, []
    assert [each.split()[0] for each in caught if "mkdir" not in each] == ["exec", "open", "os.system"]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_damaged_file_is_read_or_refused(chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    size = FILES // CHUNKS
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = fed(range(chunk * size, (chunk + 1) * size), tmp_path)
    assert count["read"] > size // 50  # mistakes are small enough to leave some files right
    assert count["refused"] > size // 2
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < MEGABYTES, f"{grown:.0f} MB"


@pytest.mark.soak
@pytest.mark.parametrize("part", range(20))
def test_two_hundred_thousand_within_bounded_memory(part: int, tmp_path: Path) -> None:
    """In a process that cannot have more than 3 GB of addresses."""
    script = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        f"sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}\n"
        "from pathlib import Path\n"
        "from test_fuzz import fed\n"
        f"print(fed(range({part * 10_000}, {(part + 1) * 10_000}), Path.cwd(), deep=10))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
