"""Print what moved between two versions.

    python tests/golden/compare.py                    the stored records and the working tree
    python tests/golden/compare.py 01de886 HEAD       two commits
    python tests/golden/compare.py HEAD . 'kind/*'    a commit and the working tree, some models only

A commit is unpacked into a temporary folder and looked at there by its own probe. For one that has no `tests/golden`
yet, the net of the commit that brought it is put beside its source. States are those of the stored records. The
commit that the records were made at need not be run again; `--fresh` does. What stands in `changes.yaml` is marked.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:1] = [str(ROOT / "src"), str(ROOT / "tests")]  # in the place of this folder

import yaml  # noqa: E402

from golden import store  # noqa: E402
from golden.differ import Moved, differences  # noqa: E402
from golden.record import PARTS  # noqa: E402

HERE, STORED = ".", "stored"
LINES = 6
"""Differences of one part of a model that are printed."""


def git(*words: str) -> bytes:
    """What git answers."""
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=True).stdout


def unpacked(commit: str, folder: Path) -> Path:
    """The tree of a commit in a folder, with a net."""
    tree = folder / "tree"
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit))) as archive:
        archive.extractall(tree, filter="data")
    if not (tree / "tests" / "golden" / "probe.py").exists():
        first = git("log", "--diff-filter=A", "--format=%H", "--", "tests/golden/probe.py").decode().split()
        if first:
            with tarfile.open(fileobj=io.BytesIO(git("archive", first[-1], "tests/golden"))) as archive:
                archive.extractall(tree, filter="data")
        else:
            shutil.copytree(ROOT / "tests" / "golden", tree / "tests" / "golden")
    return tree


def records(version: str, names: list[str], folder: Path, jobs: int, fresh: bool) -> Path:
    """The folder with the records of a version: stored ones, or those of a run in another process."""
    made_at = yaml.safe_load((store.DATA / "origin.yaml").read_text(encoding="utf-8"))["source"]
    if version == STORED or (
        not fresh and version != HERE and git("rev-parse", "--short", version).decode().strip() == made_at
    ):
        return store.DATA
    tree = ROOT if version == HERE else unpacked(version, folder)
    target = folder / "records"
    paths = os.pathsep.join(str(tree / part) for part in ("src", "tests"))
    script = tree / "tests" / "golden" / "make.py"
    words = [
        sys.executable,
        str(script),
        *names,
        "--to",
        str(target),
        "--states-of",
        str(store.DATA),
        "--jobs",
        str(jobs),
    ]
    subprocess.run(words, env={**os.environ, "PYTHONPATH": paths}, check=True, stdout=sys.stderr)
    return target


def between(old: Path, new: Path, patterns: list[str]) -> list[Moved]:
    """What moved between two folders of records."""
    found: list[Moved] = []
    before, after = (
        {name for name in store.names(folder) if not patterns or any(fnmatchcase(name, p) for p in patterns)}
        for folder in (old, new)
    )
    for name in sorted(before | after):
        if name not in before or name not in after:
            found.append(Moved(name, "model", name, name in before, name in after))
            continue
        was, now = (_ready(store.read(store.file_of(name, folder))) for folder in (old, new))
        found += differences(name, was, now, PARTS)
    files = [folder / "wrong.json.gz" for folder in (old, new)]
    if all(file.exists() for file in files):
        found += wrong_moved(*(store.read(file) for file in files))
    return found


def wrong_moved(old: Iterable[dict[str, str]], new: Iterable[dict[str, str]]) -> list[Moved]:
    """Wrong models with another class or place."""
    tables, now = store.renames(), {each["id"]: each for each in new}
    found = []
    for each in old:
        was = store.refusal(each, tables)
        other = now.get(each["id"])
        other = None if other is None else {name: other[name] for name in was}
        if other != was:
            found.append(Moved(f"wrong/{each['id']}", "wrong", "refusal", was, other, key=("wrong", each["id"])))
    return found


def _ready(record: Any) -> Any:
    """A record with the names of today, and bands of no width where it has none."""
    found = store.renamed(record, store.renames()) if "band" in record.get("path", {}) else dict(record)
    if "path" in found and "band" not in found["path"]:
        width = [None] * len(found["path"]["t"])
        found["path"] = {**found["path"], "band": dict.fromkeys(found["path"]["values"], width)}
        found["event_band"] = {name: [None] * len(times) for name, times in found["events"].items()}
    return found


def told(found: list[Moved], entries: Mapping[Moved, int] = MappingProxyType({})) -> str:
    """The differences by model and part, the largest first; those that are intended with their entry."""
    if not found:
        return "nothing moved"
    groups: dict[str, dict[str, list[Moved]]] = defaultdict(lambda: defaultdict(list))
    for each in found:
        groups[each.model][each.part].append(each)
    lines = []
    for model, parts in groups.items():
        lines.append(model)
        for part, every in parts.items():
            every.sort(key=lambda each: (each in entries, -each.size))
            lines += [f"  {each}{_entry(entries.get(each))}" for each in every[:LINES]]
            lines += [f"  {part}: {len(every) - LINES} more"] if len(every) > LINES else []
    intended = f", {len(entries)} of them intended" if entries else ""
    return "\n".join([*lines, f"{len(found)} differences in {len(groups)} models{intended}"])


def _entry(number: int | None) -> str:
    return "" if number is None else f"  [change {number}]"


def intended(found: list[Moved]) -> dict[Moved, int]:
    """Those that stand in the list of changes, with the number of their entry."""
    known: dict[str, dict[tuple[Any, ...], int]] = {}
    entries = {}
    for each in found:
        name = "wrong" if each.part == "wrong" else each.model
        number = known.setdefault(name, store.accepted(name)).get(each.key)
        if number is not None:
            entries[each] = number
    return entries


def main() -> int:
    """The command line; 1 where something moved that is not in the list of changes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", nargs="?", default=STORED)
    parser.add_argument("new", nargs="?", default=HERE)
    parser.add_argument("names", nargs="*", help="models, with * for any text; 'wrong' for the wrong models")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--fresh", action="store_true", help="run the commit of the stored records, too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        both = []
        for side, version in (("old", arguments.old), ("new", arguments.new)):
            place = Path(folder) / side
            place.mkdir()
            both.append(records(version, arguments.names, place, arguments.jobs, arguments.fresh))
        found = between(*both, arguments.names)
    entries = intended(found)
    print(told(found, entries))
    return 1 if len(found) > len(entries) else 0


if __name__ == "__main__":
    sys.exit(main())
