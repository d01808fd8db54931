"""Exit codes, JSON, pipes, signals, letters that a terminal cannot show, and what is loaded for `--help`."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console

import cotree as ct
from cotree.cli import check, program, progress, show

EXAMPLES = Path(__file__).parents[2] / "examples"
MOTOR = EXAMPLES / "dc_motor.yaml"
PROGRAM = [sys.executable, "-m", "cotree"]


def test_help_loads_nothing_heavy():
    watch = (
        "import sys, cotree.cli\nsys.argv[1:] = ['--help']\n"
        "try: cotree.cli.main()\nfinally: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", watch], capture_output=True, text=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "Simulate multi-domain systems" in done.stdout
    assert "cotree" in loaded
    assert not loaded & {"casadi", "numpy", "matplotlib", "scipy", "h5py", "yaml", "networkx", "rich", "pandas"}


def test_every_command_has_help_with_examples(cotree):
    listed = cotree("--help").out
    commands = "run check graph equations modes statics kinematics report plot new list schema bench determinacy"
    for command in commands.split():
        assert f"\n  {command} " in listed
        told = cotree(command, "--help").out
        assert f"\n    cotree {command}" in told


def test_json_of_a_run(cotree, tmp_path):
    done = cotree("run", MOTOR, "--json", "-o", tmp_path / "a.csv", "--points", 11)
    assert (done.returncode, done.err) == (0, "")
    told = json.loads(done.out)
    assert told["model"] == "DC motor"
    assert (told["formulation"], told["complete"], told["t_end"], told["points"]) == ("network", True, 3.0, 11)
    assert told["written"] == [str(tmp_path / "a.csv")]
    assert told["energy"]["error"] < 1e-6
    assert told["units"]["L.current"] == "A"
    last = (tmp_path / "a.csv").read_text().splitlines()[-1].split(",")
    assert float(last[0]) == 3.0
    assert f"{told['final']['L.current']!r}" in last


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (["run", "nothing.yaml"], 2, "FileError"),
        (["run", MOTOR, "--integrator", "euler"], 2, "OptionError"),
        (["run", MOTOR, "--rto", "1"], 2, None),
        (["rn"], 2, None),
        (["run"], 2, None),
        (["run", MOTOR, "--points", "many"], 2, None),
        (["kinematics", EXAMPLES / "four_bar.yaml"], 1, "SolveError"),
        (["statics", EXAMPLES / "slider_crank.yaml", "--time", "1"], 1, "SolveError"),
    ],
)
def test_errors_as_json(cotree, arguments, code, kind, tmp_path):
    done = cotree(*arguments, "--json", cwd=tmp_path)
    assert (done.returncode, done.out) == (code, "")
    error = json.loads(done.err)["error"]
    assert error["exit_code"] == code
    assert kind in (None, error["type"])
    assert error.get("file") in (None, *map(str, arguments))
    assert error["message"].endswith((".", "?"))
    assert list(tmp_path.iterdir()) == []


def test_a_failed_run_tells_both_what_it_has_and_why(cotree, tmp_path):
    (tmp_path / "m.yaml").write_text(
        "components:\n"
        "  V: {kind: voltage_source, nodes: [a, ground], voltage: sqrt(1 - t)}\n"
        "  R: {kind: resistor, nodes: [a, b], resistance: 1}\n"
        "  C: {kind: capacitor, nodes: [b, ground], capacitance: 1}\n"
        "run: {t_end: 2, points: 21}\n"
    )
    done = cotree("run", "m.yaml", "--json", "-o", "a.h5", cwd=tmp_path)
    assert done.returncode == 1
    told = json.loads(done.out)
    assert not told["complete"]
    assert told["t_end"] == pytest.approx(1.0)
    assert "V.voltage has no finite value" in json.loads(done.err)["error"]["found"]
    assert not ct.Solution.from_hdf5("a.h5").complete


def test_a_bug_is_one_line_and_a_traceback_on_request(cotree, monkeypatch):
    def broken(model):
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(show, "_bond_text", broken)
    file = EXAMPLES / "bond_example_1.yaml"
    done = cotree("graph", file)
    assert (done.returncode, done.err.count("\n")) == (70, 1)
    assert done.err.startswith("error: an error in Cotree itself (ZeroDivisionError: inside). Please report it")
    done = cotree("graph", file, "--debug")
    assert done.returncode == 70
    assert "Traceback" in done.err
    assert "in broken" in done.err


def test_memory_that_runs_out_is_told(cotree, monkeypatch):
    def greedy(choice):
        raise MemoryError

    monkeypatch.setattr(check, "_checked", greedy)
    done = cotree("check", MOTOR)
    assert done.returncode == 1
    assert "there is not enough memory" in done.err


def test_notes_of_an_error_follow_it(cotree, tmp_path):
    (tmp_path / "m.yaml").write_text("components:\n  R: {kind: resistor, nodes: [a, ground], resistanse: 1}\n")
    done = cotree("check", "m.yaml", cwd=tmp_path)
    first, *notes = done.err.splitlines()
    assert first.startswith("error: m.yaml:2:")
    assert "resistanse: 1}" in notes[0]
    assert notes[1].strip(" |") == "^"


@pytest.mark.parametrize("ending", ["csv", "h5", "parquet", "mat"])
def test_results_are_written_in_the_format_of_the_name(cotree, ending, tmp_path):
    done = cotree("run", MOTOR, "--points", 5, "-o", tmp_path / "deep" / f"a.{ending}")
    assert done.returncode == 0
    found = (tmp_path / "deep" / f"a.{ending}").read_bytes()
    signs = {"csv": b"t [s],", "h5": b"\x89HDF", "parquet": b"PAR1", "mat": b"MATLAB 5.0"}
    assert found.startswith(signs[ending])


def test_output_into_a_pipe_that_closes():
    command = f"{' '.join(PROGRAM)} list | head -n 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("kind")


def test_letters_that_the_terminal_cannot_show(cotree, tmp_path):
    name = "Schwingkreis Ω 振動 \N{GRINNING FACE}"
    (tmp_path / "m.yaml").write_text(
        f"name: {name}\ncomponents:\n"
        "  V_ü: {kind: voltage_source, nodes: [a, ground], voltage: 1}\n"
        "  R_Ω: {kind: resistor, nodes: [a, ground], resistance: 1}\n"
        "run: {t_end: 1, plot: [R_Ω.current]}\n",
        encoding="utf-8",
    )
    bare = {**os.environ, "PYTHONIOENCODING": "ascii", "TERM": "dumb", "NO_COLOR": "1"}
    done = subprocess.run([*PROGRAM, "run", str(tmp_path / "m.yaml")], env=bare, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"R_?.current" in done.stdout
    assert b"\x1b" not in done.stdout
    told = cotree("run", tmp_path / "m.yaml", "--json").out
    assert told.isascii()
    assert json.loads(told)["model"] == name


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_long_run_and_keeps_it(number, tmp_path):
    """The native solver must not take it for a failure of the model, and go on."""
    file = tmp_path / "run.h5"
    options = ["--t-end", "200000", "--points", "20001", "--atol", "1e-8", "-o", str(file)]
    run = [*PROGRAM, "run", str(EXAMPLES / "pendulum.yaml"), *options]
    heeded = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a test run in the background ignores it
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(run, **pipes, preexec_fn=heeded) as process:
        while not (file.exists() and len(ct.Solution.from_hdf5(file))) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(number)
        _, told = process.communicate()
    assert process.returncode == 130
    assert "interrupted at t = " in told
    s = ct.Solution.from_hdf5(file)
    assert not s.complete
    assert len(s) > 1


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
@pytest.mark.parametrize("name", ["a.h5", "a.csv"])
def test_results_that_cannot_be_written_are_told(name, tmp_path):
    """The computation was good, so the exit code is 1; the summary comes all the same, and older files stay."""
    for each in (name, "a.html"):
        (tmp_path / each).write_text("old")
    limited = f"ulimit -f 8; exec {' '.join(PROGRAM)} run {MOTOR} --points 2000 --out {name} --report a.html"
    known = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "src")}
    done = subprocess.run(["bash", "-c", limited], cwd=tmp_path, env=known, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "2000 output times to 3 s" in done.stdout
    assert "written" not in done.stdout
    assert [line.partition(": File")[0].rpartition("cannot ")[2] for line in done.stderr.splitlines()] == [
        f"write {name}", "write a.html"
    ]  # fmt: skip
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {name: "old", "a.html": "old"}


@pytest.mark.parametrize("json_wanted", [True, False])
def test_ctrl_c_while_the_program_is_loaded(cotree, monkeypatch, json_wanted):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "main", interrupted)
    done = cotree("run", MOTOR, *(["--json"] if json_wanted else []))
    assert (done.returncode, done.out) == (130, "")
    told = json.loads(done.err)["error"]["message"] if json_wanted else done.err
    assert "interrupted; there are no results" in told


def test_the_bar_tells_that_a_run_is_prepared(monkeypatch):
    """The rough run that comes first has no part of the bar."""
    shown = Console(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setattr(progress, "err", lambda: shown)
    bar = progress.Progress(False)
    bar.wanted = True
    with bar as advance:
        bar.bar.refresh()
        assert "preparing" in shown.file.getvalue()
        assert "simulating" not in shown.file.getvalue()
        advance(0.5)
        bar.bar.refresh()
        assert "50%" in shown.file.getvalue().rpartition("simulating")[2]
