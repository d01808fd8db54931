"""A new component is one source file and one test file: in a copy of the repository, nothing else is edited.

A joint and a nonlinear coupling of two domains that loses no power are added. Every test that looks at all kinds must
stay green, and both can be used at once from model files, the command line and Python.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from _repo import ROOT, copy_repo

pytestmark = pytest.mark.slow

ADDED = ("pin_slot", "series_machine")
LOOKS_AT_KINDS = re.compile(r"\bKINDS\b|\b_made\b|\b_samples\b|\bcatalogue\(")
LONG = ("test_a_page_prints_what_it_shows", "test_every_damaged_file_is_read_or_refused", "test_added_components")
"""Pages and seeds are files that hold no new kind."""

SLOT = """\
gravity: [0, -9.81, 0]
components:
  block: {kind: rigid_body, mass: 2, inertia: [1, 1, 1]}
  P: {kind: pin_slot, frame_a: ground, frame_b: block, slot: [0.6, 0.8, 0], angle_rate: 3}
  spring: {kind: joint_spring, on: P, coordinate: travel, stiffness: 50}
run: {t_end: 0.5, points: 6}
"""
MOTOR = """\
components:
  U: {kind: voltage_source, nodes: [p, ground], voltage: 24}
  R: {kind: resistor, nodes: [p, a], resistance: 0.5}
  L: {kind: inductor, nodes: [a, b], inductance: 0.02, initial: 1}
  M: {kind: series_machine.series_machine, electrical: [b, ground], shaft: [s, ground], constant: 0.1}
  J: {kind: rotational.inertia, nodes: [s, ground], inertia: 0.01}
  c: {kind: rotational.damper, nodes: [s, ground], damping: 0.1}
run: {t_end: 0.5, points: 6}
"""
MODELS = {"slot.yaml": (SLOT, "P.travel"), "motor.yaml": (MOTOR, "M.shaft.torque")}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with both components and their tests, and two model files beside it."""
    folder = tmp_path_factory.mktemp("added")
    repository = copy_repo(folder / "repository")
    for name in ADDED:
        shutil.copy(ROOT / "tests/laws/added" / f"{name}.py", repository / "src/cotree/terminal" / f"{name}.py")
        shutil.copy(ROOT / "tests/laws/added" / f"check_{name}.py", repository / "tests/terminal" / f"test_{name}.py")
    for name, (text, _) in MODELS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def python(copy: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Python with the package of the copy."""
    env = os.environ | {"PYTHONPATH": str(copy / "repository" / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd or copy, env=env, capture_output=True, text=True, check=False)


def test_every_test_that_looks_at_all_kinds_stays_green(copy: Path) -> None:
    tests = copy / "repository" / "tests"
    files = [path for path in sorted(tests.rglob("test_*.py")) if LOOKS_AT_KINDS.search(path.read_text("utf-8"))]
    files += [tests / "terminal" / f"test_{name}.py" for name in ADDED]
    assert len(files) > 15
    chosen = [str(path.relative_to(copy / "repository")) for path in files]
    options = ["-q", "-p", "no:cacheprovider", "-k", " and ".join(f"not {name}" for name in LONG), "-rf"]
    done = python(copy, "-m", "pytest", *options, *chosen, cwd=copy / "repository")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    seen = python(copy, "-m", "pytest", "--collect-only", *options, *chosen, cwd=copy / "repository").stdout
    for kind in ("pin_slot", "series_machine.series_machine"):
        assert seen.count(kind) > 8, f"{kind} is looked at by the tests of all kinds"


WRONG = {
    "makes power": ("series_machine", "+ v.constant * e[0]", "+ 2 * v.constant * e[0]", "power_is_stored_or_lost"),
    "rate": ("pin_slot", 'unit(v.slot) * u["travel"]', '2 * unit(v.slot) * u["travel"]', "rates_are_derivatives"),
    "equation": ("pin_slot", "off_axis(unit(v.slot), d)", "off_axis(unit(v.axis), d)", "equations_hold"),
    "freedom": ("pin_slot", "off_axis(unit(v.slot), d)", "off_axis(unit(v.slot), d)[0]", "freedom_make_six"),
}
HOME = {"series_machine": "tests/laws/test_every_component.py", "pin_slot": "tests/terminal/test_joints.py"}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_law_is_found_by_the_tests_of_all_kinds(copy: Path, what: str) -> None:
    """Without a test of its own."""
    name, old, new, test = WRONG[what]
    path = copy / "repository" / "src/cotree/terminal" / f"{name}.py"
    right = path.read_text(encoding="utf-8")
    assert right.count(old) == 1
    options = ["-q", "-p", "no:cacheprovider", "-m", "slow or not slow", "-k", f"{test} and {name}", HOME[name]]
    try:
        path.write_text(right.replace(old, new), encoding="utf-8")
        done = python(copy, "-m", "pytest", *options, cwd=copy / "repository")
    finally:
        path.write_text(right, encoding="utf-8")
    assert done.returncode == 1, done.stdout[-3000:]
    assert "failed" in done.stdout


def test_both_are_listed_and_in_the_schema(copy: Path) -> None:
    for kind, fields in (
        ("pin_slot", ("slot", "travel_rate")),
        ("series_machine.series_machine", ("constant",)),
    ):
        listed = python(copy, "-m", "cotree", "list", kind)
        assert listed.returncode == 0, listed.stderr
        assert all(field in listed.stdout for field in (kind, *fields))
    schema = json.loads(python(copy, "-m", "cotree", "schema").stdout)
    assert {"pin_slot", "series_machine.series_machine"} <= schema["$defs"].keys()
    slot = schema["$defs"]["pin_slot"]["properties"]["slot"]["anyOf"]  # a vector, or a direction by name
    assert 3 in [each.get("minItems") for each in slot]


@pytest.mark.parametrize("name", MODELS)
def test_both_run_from_a_file_and_are_reported(copy: Path, name: str) -> None:
    _, result = MODELS[name]
    done = python(copy, "-m", "cotree", "run", name, "--json", "--report", "page.html")
    assert done.returncode == 0, done.stderr
    assert result in json.loads(done.stdout)["final"]
    page = (copy / "page.html").read_text(encoding="utf-8")
    assert result in page
    for command in ("check", "graph", "equations"):
        assert python(copy, "-m", "cotree", command, name).returncode == 0, command


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("slot.yaml", "slot: [0.6, 0.8, 0]", "slott: [1, 0, 0]", "no field 'slott'.*Did you mean 'slot'"),
        ("slot.yaml", "slot: [0.6, 0.8, 0]", "slot: [0.6, 0.8, 1]", "P.*not at right angles"),
        ("slot.yaml", "coordinate: travel, ", "", "2 coordinates, and none is chosen.*travel and angle|travel, angle"),
        ("motor.yaml", "constant: 0.1", "constant: 0", "M.constant: the value is 0. Expected a positive number in V s"),
        ("motor.yaml", "constant: 0.1", "constant: 3 N", "M.constant: '3 N' is a force"),
        ("motor.yaml", "kind: series_machine.series_machine", "kind: series_motor", "no kind of .* .series_motor."),
    ],
)  # fmt: skip
def test_mistakes_are_told_as_of_any_other_kind(copy: Path, name: str, old: str, new: str, message: str) -> None:
    text, _ = MODELS[name]
    assert text.count(old) == 1
    (copy / "wrong.yaml").write_text(text.replace(old, new), encoding="utf-8")
    done = python(copy, "-m", "cotree", "check", "wrong.yaml")
    assert done.returncode == 2
    assert re.search(message, " ".join((done.stdout + done.stderr).split())), done.stderr


def test_the_joint_lies_in_a_planar_model_or_is_told(copy: Path) -> None:
    (copy / "flat.yaml").write_text(f"planar: true\n{SLOT}", encoding="utf-8")
    runs = [python(copy, "-m", "cotree", "run", name, "--json") for name in ("slot.yaml", "flat.yaml")]
    values = [json.loads(run.stdout)["final"]["P.travel"] for run in runs]
    assert (
        abs(values[0]["value"] - values[1]["value"]) < 1e-6
        if isinstance(values[0], dict)
        else (abs(values[0] - values[1]) < 1e-6)
    )
    tilted = SLOT.replace("slot: [0.6, 0.8, 0]", "slot: [0.6, 0, 0.8], axis: [0, 1, 0]")
    (copy / "tilted.yaml").write_text(f"planar: true\n{tilted}", encoding="utf-8")
    told = python(copy, "-m", "cotree", "check", "tilted.yaml")
    assert "leaves the plane" in " ".join((told.stdout + told.stderr).split())


def test_what_has_no_bond_graph_is_refused_by_name(copy: Path) -> None:
    script = (
        "import cotree as ct\n"
        "for name in ('slot.yaml', 'motor.yaml'):\n"
        "    try:\n"
        "        ct.load(name).to_bond_graph()\n"
        "    except ct.ModelError as told:\n"
        "        print(told)\n"
    )
    done = python(copy, "-c", script)
    assert done.returncode == 0, done.stderr
    slot, motor = done.stdout.splitlines()
    assert slot.startswith("P: a pin_slot has no bond graph. Expected one of cylindrical")
    assert motor.startswith("M")
