"""The program itself: one command loads one module, and `cotree` alone, `doctor` and completion help a newcomer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module

import pytest

from cotree.cli.program import NEXT, ROOMS


def test_the_table_of_commands_is_that_of_the_modules() -> None:
    for room, names in ROOMS.items():
        commands = import_module(f"cotree.cli.{room}").COMMANDS
        assert tuple(command.__name__.rstrip("_") for command in commands) == names


def test_a_command_loads_its_own_module_only() -> None:
    code = "import sys\nsys.argv[1:] = ['list', 'nonsense']\nfrom cotree.cli import main\n"
    code += "try: main()\nfinally: print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split()
    assert "cotree.cli.describe" in found
    assert not {"cotree.cli.run", "cotree.cli.bench", "cotree.cli.doctor"} & set(found)


def test_cotree_alone_says_what_to_do_next(cotree, tmp_path) -> None:
    done = cotree()
    assert (done.returncode, done.out) == (0, NEXT)
    shown = [line.split("  ")[1].split() for line in NEXT.splitlines() if line.startswith("  cotree ")]
    assert len(shown) == 5
    for words in shown:  # each works as it stands
        assert cotree(*words[1:], cwd=tmp_path).returncode == 0


def test_doctor_names_versions_and_what_is_missing(cotree, monkeypatch) -> None:
    found = json.loads(cotree("doctor", "--json").out)
    assert found["packages"]["numpy"]
    assert found["python"] == sys.version.split()[0]
    monkeypatch.setattr("cotree.cli.doctor._version", lambda name: None)
    monkeypatch.setenv("PATH", "")
    text = cotree("doctor").out
    assert "pyarrow      missing: Parquet files; pip install 'cotree[data]'" in text
    assert "C compiler   missing: long runs are not compiled" in text


@pytest.mark.parametrize(("words", "found"), [("cotree det", "determinacy"), ("cotree run --inte", "--integrator")])
def test_a_shell_completes_commands_and_options(words: str, found: str) -> None:
    asked = {"_COTREE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run([sys.executable, "-m", "cotree"], env=os.environ | asked, capture_output=True, text=True)
    assert done.stdout.split() == [found]
