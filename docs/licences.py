"""Write docs/licences.md: licences of what Cotree depends on, from the packages, and of what reports hold.

python docs/licences.py
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import metadata
from pathlib import Path

DOCS = Path(__file__).resolve().parent
EXTRAS = ("data", "view", "mesh")
"""Extras for users; the others are for those who change Cotree."""
KNOWN = {"OSI Approved :: BSD License": "BSD", "OSI Approved :: MIT License": "MIT"}


def licence(name: str) -> str:
    """The licence that a package names: as an expression, in a field, or among its classifiers."""
    found = metadata(name)
    if expression := found.get("License-Expression"):
        return expression
    named = [each.removeprefix("License :: ") for each in found.get_all("Classifier") or () if "License ::" in each]
    text = (found.get("License") or "").strip()
    if text and len(text) < 60:
        return text
    first = text.splitlines()[0].strip() if text else ""
    return KNOWN.get(named[0], named[0].rpartition(":: ")[2]) if named else first or "see the package"


def rows(requirements: list[str], use: str) -> list[str]:
    names = [re.split(r"[<>=~!\[ ]", each)[0] for each in requirements]
    return [f"| {name} | {licence(name)} | {use} |" for name in sorted(names, key=str.lower)]


def page() -> str:
    """The text of the page."""
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [
        "# Licences", "",
        "Cotree is under the BSD 3-clause licence. `python docs/licences.py` writes this page from the metadata of the "
        "installed packages.", "",
        "| package | licence | needed for |", "|---|---|---|",
        *rows(project["dependencies"], "Cotree itself"),
    ]  # fmt: skip
    for extra in EXTRAS:
        lines += rows(project["optional-dependencies"][extra], f"the extra `{extra}`")
    lines += [
        "", "## What reports hold", "",
        "A report is one page that holds the model, its results, pictures made for it, and these scripts:", "",
        "| script | licence |", "|---|---|",
        "| Cotree's own scripts and styles | BSD-3-Clause |",
        f"| `standalone.js` of k3d, for the view in space; it contains three.js | {licence('k3d')}; three.js MIT |",
        "", "Fonts are those of the reader's browser. Formulas are MathML. Nothing is loaded from a network.", "",
    ]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    (DOCS / "licences.md").write_text(page(), encoding="utf-8")
