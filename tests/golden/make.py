"""Write the records of the net, or accept what is meant to be otherwise.

    python tests/golden/make.py [MODEL ...]          records of these models, or of all; what is there is written anew
    python tests/golden/make.py --to FOLDER [...]    the same into another folder, without bands: for a comparison
    python tests/golden/make.py --accept "why" --issue 17 --models 'example/*' [--parts P] [--names N]

The records belong to the commit that the net was made at; they are written anew only for new models. Changes since
then are accepted: the new numbers are put beside the old ones, and an entry into `changes.yaml`.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:1] = [str(ROOT / "src"), str(ROOT / "tests")]  # in the place of this folder

import yaml  # noqa: E402  (after the number of threads is set)

import cotree as ct  # noqa: E402
from golden import store  # noqa: E402
from golden.compare import wrong_moved  # noqa: E402
from golden.differ import Moved, chosen, differences  # noqa: E402
from golden.models import CASES  # noqa: E402
from golden.record import PARTS, record  # noqa: E402
from golden.wrong import made, rejudged  # noqa: E402

WRONG = "wrong"
SHOWN = 5
"""Numbers that an entry of the changes shows."""


def one(name: str, folder: Path, banded: bool, states_of: Path | None = None) -> str:
    """Write the record of a model; returns its name. States to look at come from another folder's record."""
    states = None
    if states_of is not None and store.file_of(name, states_of).exists():
        states = store.renamed(store.read(store.file_of(name, states_of)), store.renames()).get("states", [])
    store.write(store.file_of(name, folder), record(CASES[name], PARTS, states, banded))
    return name


def every(names: list[str], folder: Path, banded: bool, states_of: Path | None, jobs: int) -> None:
    """Records of several models, in several processes, and the wrong models where they are among them."""
    plain = [name for name in names if name != WRONG]
    clock = time.perf_counter()
    with ProcessPoolExecutor(jobs) as pool:
        given = [folder] * len(plain), [banded] * len(plain), [states_of] * len(plain)
        for k, name in enumerate(pool.map(one, plain, *given), 1):
            print(f"{k}/{len(plain)} {name} ({time.perf_counter() - clock:.0f} s)", flush=True)
    if WRONG in names:
        store.write(
            folder / "wrong.json.gz",
            list(made()) if states_of is None else rejudged(store.read(states_of / "wrong.json.gz")),
        )
        print("wrong models", flush=True)


def results(folder: Path) -> None:
    """A results file with events, and its content as plain data, to be read by later versions."""
    solution = CASES["example/machine_heating"].make().model.simulate(600.0, points=11)
    solution.to_hdf5(folder / "results.h5")
    data = {
        "units": {name: solution.unit(name) for name in solution.names},
        "values": {name: solution[name].tolist() for name in solution.names},
        "events": {name: times.tolist() for name, times in solution.events.items()},
    }
    store.write(folder / "results.json.gz", data)


def accept(arguments: argparse.Namespace) -> int:
    """Put what moved into the list of changes, with the new numbers beside the old ones."""
    entry = max((each["id"] for each in store.changes()), default=0) + 1
    shown: list[Moved] = []
    count = 0
    wanted = ("units",) if arguments.parts == "units" else PARTS  # names alone need no runs
    for name in (each for each in store.names() if fnmatchcase(each, arguments.models)):
        old = store.golden(name)
        new = record(CASES[name], wanted, old.get("states"), banded=True) if name in CASES else {"error": {}}
        plain = new  # as the tests look at it
        if name in CASES and wanted is PARTS:
            plain = record(CASES[name], PARTS, old.get("states"))
        found = chosen(differences(name, old, plain, wanted), parts=arguments.parts, names=arguments.names)
        if not found:
            continue
        path = store.file_of(name, store.DATA / "changed")
        before = store.read(path) if path.exists() else []
        store.write(path, before + [{"id": entry, **item} for each in found for item in _items(each, new)])
        shown += found[:SHOWN]
        count += len(found)
    if fnmatchcase(WRONG, arguments.models) and wanted is PARTS:
        found = wrong_moved(store.wrong(), rejudged(store.wrong()))
        path = store.DATA / "changed" / "wrong.json.gz"
        before = store.read(path) if path.exists() else []
        items = [{"id": entry, "key": list(each.key), "new": each.new} for each in found]
        if items:
            store.write(path, before + items)
        shown += found[:SHOWN]
        count += len(found)
    if not count:
        print("nothing moved there")
        return 1
    text = {
        "id": entry, "issue": arguments.issue, "why": arguments.accept, "models": arguments.models,
        "parts": arguments.parts, "names": arguments.names, "count": count,
        "moved": [f"{each.model} {each}" for each in shown[:SHOWN]],
    }  # fmt: skip
    with store.CHANGES.open("a", encoding="utf-8") as file:
        file.write(yaml.safe_dump([text], sort_keys=False, allow_unicode=True, width=110))
    print(f"{count} changes accepted as entry {entry} of changes.yaml")
    return 0


def _items(moved: Moved, new: dict[str, Any]) -> list[dict[str, Any]]:
    """What has to be put into a record so that it has the new value, and its band."""
    value: Any = new
    for step in moved.key:
        value = value.get(step) if isinstance(value, dict) else value[step]
    items = [{"key": list(moved.key), "new": value}]
    if moved.key[:2] == ("path", "values"):
        items.append({"key": ["path", "band", moved.name], "new": new["path"]["band"].get(moved.name)})
    if moved.key[:1] == ("events",):
        items.append({"key": ["event_band", moved.name], "new": new["event_band"].get(moved.name)})
    return items


def origin() -> dict[str, str]:
    """Where records come from: the commit of the source, and the versions of what computes."""
    import casadi
    import numpy
    import scipy

    said = subprocess.run(
        ["git", "-C", str(Path(ct.__file__).parent), "log", "-1", "--format=%h", "--", "."],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return {
        "source": said.stdout.strip(), "python": platform.python_version(), "numpy": numpy.__version__,
        "scipy": scipy.__version__, "casadi": casadi.__version__,
    }  # fmt: skip


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="models, with * for any text; 'wrong' for the wrong models")
    parser.add_argument("--to", type=Path, help="another folder, for a comparison")
    parser.add_argument("--states-of", type=Path, help="a folder whose records say which states to look at")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--accept", metavar="WHY", help="accept what moved as intended, for this reason")
    parser.add_argument("--issue", default="")
    for name in ("models", "parts", "names"):
        parser.add_argument(f"--{name}", dest=f"only_{name}" if name == "names" else name, default="*")
    arguments = parser.parse_args()
    if arguments.accept:
        arguments.names = arguments.only_names
        return accept(arguments)
    known = [*CASES, WRONG]
    names = [name for name in known if not arguments.names or any(fnmatchcase(name, p) for p in arguments.names)]
    folder = arguments.to or store.DATA
    every(names, folder, arguments.to is None, arguments.states_of, arguments.jobs)
    if arguments.to is None and not arguments.names:
        results(folder)
        (folder / "origin.yaml").write_text(yaml.safe_dump(origin(), sort_keys=False), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
