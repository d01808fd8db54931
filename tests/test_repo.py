"""The repository as a whole: no traces of one machine, documented modules, short files, one version."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import cotree
from _long import CASES, LONG
from _repo import ROOT, repo_files
from cotree._names import ROOMS
from cotree._version import __version__

LONGEST = 450
NAME = Path(__file__).name
BINARY = {".png", ".jpg", ".gif", ".webp", ".ico", ".h5", ".pdf", ".npz", ".gz", ".woff2"}
# A folder of one machine at the start of an absolute path; `~/...`, `$X/...` and parts of an address are not.
_MACHINE_PATH = re.compile(
    r"(?<![\w.$%})\]>*~/-])/(?:home|root|tmp|work|Users|opt)(?:/[\w.-]+|\b(?![\w-]))|[A-Z]:\\Users"
)
_REGISTRY = re.compile(r"(?:extra[-_])?index[-_]url|find[-_]links", re.I)


def texts() -> list[tuple[Path, str]]:
    """Path and text of every text file of the repository."""
    return [
        (path, (ROOT / path).read_text(encoding="utf-8")) for path in repo_files() if path.suffix.lower() not in BINARY
    ]


def hits(pattern: re.Pattern[str], found: list[tuple[Path, str]]) -> list[str]:
    """``file:line: text`` wherever the pattern occurs."""
    return [
        f"{path}:{number}: {line.strip()}"
        for path, text in found
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def project() -> dict[str, object]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_no_paths_of_one_machine() -> None:
    assert hits(_MACHINE_PATH, texts()) == []


def test_no_package_registries() -> None:
    assert hits(_REGISTRY, texts()) == []


def test_the_patterns_see_what_they_should() -> None:
    bad = ["/" + "home/ann/x", "see /" + "tmp/out.html", "'/" + "work'", "=/" + "root/.cache", "C:" + r"\Users\ann"]
    good = [
        "https://example.org/home/x",
        "build/tmp/x",
        "~/work",
        "$HOME/tmp",
        "force/work",
        "./tmp",
        "/roots",
        "a/root",
    ]
    assert len(hits(_MACHINE_PATH, [(Path("x"), "\n".join(bad))])) == len(bad)
    assert hits(_MACHINE_PATH, [(Path("x"), "\n".join(good))]) == []


def test_every_module_says_what_it_is() -> None:
    modules = [path for path in repo_files() if path.suffix == ".py" and path.parts[0] == "src"]
    assert modules
    silent = [
        str(path) for path in modules if not ast.get_docstring(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_files_stay_short() -> None:
    long = [f"{path}: {n}" for path, text in texts() if path.suffix == ".py" and (n := text.count("\n")) >= LONGEST]
    assert long == []


def test_the_version_has_one_source() -> None:
    assert cotree.__version__ == __version__
    pyproject = project()
    assert "version" in pyproject["project"]["dynamic"]  # type: ignore[index]
    places = [path for path, text in texts() if path.suffix in (".py", ".toml") and f'"{__version__}"' in text]
    assert places == [Path("src/cotree/_version.py")]


def test_the_changelog_knows_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[(?:Unreleased|{re.escape(__version__)})\]", changelog, re.M)


def test_every_room_below_the_viewers_is_kept_from_viewers() -> None:
    rooms = {path.parts[2].removesuffix(".py") for path in repo_files() if path.parts[:2] == ("src", "cotree")}
    above = {"cli", "structures", "api", "facade", "study", "io", "view", "py.typed"}
    above |= {"__init__", "__main__", "_names", "_version", *ROOMS}
    contracts = project()["tool"]["importlinter"]["contracts"]  # type: ignore[index]
    forbidden = next(contract for contract in contracts if contract["type"] == "forbidden")
    assert {f"cotree.{room}" for room in rooms - above} == set(forbidden["source_modules"])


def test_long_tests_are_there() -> None:
    for name in [*CASES, *(each.partition("[")[0] for each in LONG)]:
        file, _, function = name.partition("::")
        function = function.rpartition("::")[2]
        assert f"def {function}(" in (ROOT / "tests" / file).read_text(), name


STILTED = (
    "what is stressed without a load",
    "-fold, and reactions act on",
    "told stroke by stroke",
    "cannot be closed is refused",
    "is at hand",
    "comes before what the file says",
)
"""Sentences of 0.1.0 that read as if translated."""


def test_sentences_that_read_as_if_translated_are_gone() -> None:
    found = [(str(path), words) for path, text in texts() for words in STILTED if words in text and path.name != NAME]
    assert not found
