"""CPU time until Cotree can be used, against the version that loaded every room at once.

    python bench/startup.py [--runs 15]

Three tasks are measured: the first use of `cotree.Model`, and the run of a pendulum, in Python and by the command.
Each run is a process of its own. Both versions run in turn on the same interpreter with warm bytecode caches, and the
least CPU time (user and system) of all runs counts. The older version is taken from the repository's history.
"""

from __future__ import annotations

import argparse
import io
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEFORE = "01de886"
TASKS = {
    "first use of cotree.Model": (["-c", "import cotree; cotree.Model"], 0.4),
    "load and simulate it in Python": (
        ["-c", "import cotree; cotree.load('examples/pendulum.yaml').simulate(10)"],
        None,
    ),
    "cotree run examples/pendulum.yaml": (["-m", "cotree", "run", "examples/pendulum.yaml"], 0.6),
}
"""What is run, and the largest ratio that is wanted, if any."""


def main() -> int:
    """Measure and print; 1 where a ratio is above its goal."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15, help="runs of each task and version")
    runs = parser.parse_args().runs
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", BEFORE], capture_output=True, check=False)
    if packed.returncode:
        print(f"startup: commit {BEFORE} cannot be taken from git: {packed.stderr.decode().strip()}")
        return 1
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
        print(f"{'CPU time, least of ' + str(runs):36} {BEFORE:>10} {'now':>10} {'ratio':>7} {'goal':>6}")
        for task, (command, goal) in TASKS.items():
            before, now = least(command, Path(folder), runs)
            failed |= goal is not None and now > goal * before
            print(f"{task:36} {before:8.3f} s {now:8.3f} s {now / before:7.2f} {goal or '':>6}")
    return int(failed)


def least(command: list[str], before: Path, runs: int) -> tuple[float, float]:
    """The least CPU time of a task in the version before and in this one."""
    times: list[list[float]] = [[], []]
    for _ in range(runs + 1):
        for found, root in zip(times, (before, ROOT), strict=True):
            found.append(seconds(command, root))
    first, second = (min(found[1:]) for found in times)  # the first run writes bytecode
    return first, second


def seconds(command: list[str], root: Path) -> float:
    """The CPU time of one run of a version."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPATH": str(root / "src")}
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], cwd=root, env=env, stdout=subprocess.DEVNULL, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


if __name__ == "__main__":
    sys.exit(main())
