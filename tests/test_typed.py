"""Code that users read and copy satisfies mypy in its strict mode: every Python block of README and documentation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from _repo import ROOT
from test_readme import blocks

USE = """\
import cotree as ct

m = ct.Model("use")
body = m.add(ct.RigidBody("body", ct.rod(length="1 m", mass=2.0)))
m.add(ct.Revolute("O", m.ground, body, fixed="angle", angle="30 deg"))
m.add(ct.PointForce("push", body, force=(0, 1, 0)))
ends: tuple[str, str] = ct.Revolute("P", "ground", body).ends
sol = m.simulate("2 s", step="5 ms", start={"O.angle": "30 deg"}, parameters={"body.mass": 3})
m.modes(about={"O.angle": 0.0})
"""
WRONG = """\
import cotree as ct

m = ct.Model("use")
m.simulate(2.0, method="bdf")
m.modes(t=[0.0])
ct.Revolute("P", "ground", 3)
"""


def written(folder: Path) -> list[str]:
    """Every Python block as a file; those of a page of the tutorial are one session."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        found = [block.text for block in blocks(page.read_text(encoding="utf-8"), "python")]
        found = ["\n".join(found)] if found and "tutorial" in page.parts else found
        for k, text in enumerate(found):
            stem = "_".join(page.relative_to(ROOT).with_suffix("").parts)
            (folder / f"{stem}_{k}.py").write_text(text, encoding="utf-8")
    return sorted(path.name for path in folder.glob("*.py"))


def checked(folder: Path) -> str:
    """What mypy says, in strict mode."""
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    command += ["--cache-dir", str(ROOT / ".mypy_cache"), *map(str, sorted(folder.glob("*.py")))]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False).stdout


@pytest.mark.slow
def test_blocks_of_readme_and_documentation_are_typed(tmp_path: Path) -> None:
    names = written(tmp_path)
    assert "README_0.py" in names
    assert sum("tutorial" in name for name in names) >= 5
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    said = [line.rpartition("/")[2] for line in checked(tmp_path).splitlines() if ": error:" in line]
    assert [line.partition(": error:")[0] for line in said if line.startswith("wrong.py")] == [
        "wrong.py:4", "wrong.py:5", "wrong.py:6",
    ]  # fmt: skip
    assert [line for line in said if not line.startswith("wrong.py")] == []
