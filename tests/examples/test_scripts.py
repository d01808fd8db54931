"""Every script among the examples runs from the command line and leaves its picture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
QUICK = ("stewart_platform",)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.stem, marks=() if path.stem in QUICK else pytest.mark.slow)
        for path in sorted(EXAMPLES.glob("*.py"))
    ],
)
def test_the_script_runs(name: str, tmp_path: Path) -> None:
    there = os.environ | {"PYTHONPATH": str(EXAMPLES.parent / "src"), "MPLBACKEND": "Agg"}
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, cwd=tmp_path, env=there, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    pictures = [path for path in tmp_path.iterdir() if path.suffix in (".svg", ".png") and path.stat().st_size > 5000]
    assert pictures or (name == "stewart_platform" and "6 degrees of freedom" in done.stdout)
