"""What the repository consists of, for the tests that look at it as a whole."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def repo_files() -> list[Path]:
    """Paths, relative to the root, of all files that git tracks or would track: uncommitted work counts too."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted({Path(name) for name in output.split("\0") if name and (ROOT / name).is_file()})


def copy_repo(target: Path) -> Path:
    """Copy the repository's files to ``target``, as a clone would."""
    for path in repo_files():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target / path)
    return target
