"""Feed mutants of every example to load, equations and a short run, each in a process of its own with a limit.

    python tests/io/mutants.py --count 20000 --seed 17 --workers 2

A mutant may run, or be refused with one `CotreeError`. Any other exception, a warning of Cotree's own code, more than
the allowed computing time, and a process that dies are faults: they are listed with the number of the mutant, and
``--only NUMBER`` shows its text and the traceback. The same seed gives the same mutants.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import select
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from _examples import EXAMPLES, TREES, example_mutant

SECONDS, WAITING = 60, 900
"""Longest time of the processor for one case, and longest time at all, as other programs may have the processor."""
MEMORY = 4 << 30
SHARE, POINTS, STEPS = 1e-3, 3, 300
"""What is run: this part of the file's own time, so many output times, and no more steps than that."""
GOOD = ("ran", "refused at load", "refused at equations", "refused in the run", "stopped in the run")
BAD = ("traceback", "hang", "death")


@dataclass(frozen=True)
class Outcome:
    """What became of one case, and what was said."""

    number: int
    name: str
    what: str
    text: str = ""
    seconds: float = 0.0


def taken(path: Path) -> tuple[str, str]:
    """Load, write the equations, and run a little; what that came to."""
    import cotree as ct
    from cotree.io import read_model
    from cotree.solve.simulate import simulate

    stage = "refused at load"
    try:
        file = read_model(path, ct.Model)
        file.model.folder = None
        stage = "refused at equations"
        with file.about():
            tree = tuple(file.run.tree) if isinstance(file.run.tree, list) else file.run.tree
            equations = file.model.equations(tree)
            stage = "refused in the run"
            options = file.run.options() | {"points": POINTS, "max_steps": STEPS, "compiled": False}
            simulate(equations, SHARE * (file.run.t_end or 1.0), **options)
    except ct.CotreeError as told:
        text = str(told)
        if len(text) < 20:
            return "traceback", f"an error that says nothing: {text!r}"
        return ("stopped in the run" if isinstance(getattr(told, "solution", None), ct.Solution) else stage), text
    return "ran", ""


def apart(number: int, name: str, do: Callable[[], tuple[str, str]], seconds: int = SECONDS) -> Outcome:
    """Do something in a process of its own, with limits; what became of it."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        _child(here, there, do, seconds)
    os.close(there)
    said, late = b"", False
    while True:
        ready, _, _ = select.select([here], [], [], WAITING)
        if not ready:
            os.kill(child, signal.SIGKILL)
            late = True
        piece = os.read(here, 1 << 16)
        if not piece:
            break
        said += piece
    os.close(here)
    _, status, used = os.wait4(child, 0)
    spent = used.ru_utime + used.ru_stime
    if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)):
        return Outcome(number, name, "hang", f"more than {seconds} s", spent)
    if os.WIFSIGNALED(status) or not said:
        return Outcome(number, name, "death", f"status {status}", spent)
    what, text = json.loads(said)
    return Outcome(number, name, what, text, spent)


def _child(here: int, there: int, do: Callable[[], tuple[str, str]], seconds: int) -> None:
    """The other process: it never returns."""
    try:
        os.close(here)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        warnings.filterwarnings("error", module=r"cotree(\.|$)")
        faulthandler.disable()  # a death is counted, not told twice
        try:
            said = do()
        except BaseException:
            said = "traceback", traceback.format_exc()
        os.write(there, json.dumps(said).encode()[:60_000])
    finally:
        os._exit(0)


def warm() -> None:
    """Import now what is imported late, so that not every process has to."""
    for name in ("pendulum", "dc_motor", "bond_example_1", "flexible_pendulum", "deployable_five_bar", "machine_winch"):
        assert taken(EXAMPLES / f"{name}.yaml")[0] == "ran", name


def fed(
    seed: int, numbers: Iterable[int], folder: Path, seconds: int = SECONDS, log: Path | None = None
) -> list[Outcome]:
    """The outcomes of some mutants; each is also written to a log, from which a run that is stopped can go on."""
    warm()
    path, found = folder / "m.yaml", []
    for number in numbers:
        name, text = example_mutant(seed, number)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        found.append(apart(number, name, lambda: taken(path), seconds))
        if log is not None:
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(vars(found[-1])) + "\n")
        if found[-1].what in BAD:
            print(f"mutant {number} of {name}: {found[-1].what}: {found[-1].text[-300:]}", file=sys.stderr, flush=True)
    return found


def table(found: Iterable[Outcome], names: Iterable[str]) -> list[str]:
    """Counts by outcome, one row for each example."""
    count = {name: Counter[str]() for name in names}
    for each in found:
        count[each.name][each.what] += 1
    total = sum(count.values(), Counter[str]())
    head = [what for what in (*GOOD, *BAD) if total[what] or what in BAD]
    lines = ["| example | mutants | " + " | ".join(head) + " |", "|---" * (len(head) + 2) + "|"]
    for name, own in [*count.items(), ("**all**", total)]:
        lines.append(f"| {name} | {own.total()} | " + " | ".join(str(own[what]) for what in head) + " |")
    return lines


def worker(given: tuple[int, list[int], int, Path | None]) -> list[Outcome]:
    """What one process of several does."""
    seed, numbers, seconds, log = given
    with tempfile.TemporaryDirectory() as folder:
        return fed(seed, numbers, Path(folder), seconds, log)


def logged(log: Path | None) -> list[Outcome]:
    """What an earlier run has found."""
    if log is None or not log.exists():
        return []
    return [Outcome(**json.loads(line)) for line in log.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="computing time for one mutant")
    parser.add_argument("--only", type=int, help="show one mutant and its traceback")
    parser.add_argument(
        "--log", type=Path, help="a line for each mutant; those that are in it already are not run again"
    )
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if given.only is not None:
        name, text = example_mutant(given.seed, given.only)
        print(f"# {name}\n{text}")
        with tempfile.TemporaryDirectory() as folder:
            (path := Path(folder) / "m.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
            print(*taken(path), sep=": ")
        return
    found = logged(given.log)
    done = {each.number for each in found}
    numbers = [k for k in range(given.first, given.first + given.count) if k not in done]
    parts: list[Any] = [
        (given.seed, numbers[k :: given.workers], given.seconds, given.log) for k in range(given.workers)
    ]
    with get_context("spawn").Pool(given.workers) as pool:
        found += [each for part in pool.map(worker, parts) for each in part]
    print("\n".join(table(found, TREES)))
    spent = [each.seconds for each in found]
    print(f"\nseed {given.seed}, {len(found)} mutants, {sum(spent):.0f} s of computing, the longest {max(spent):.1f} s")
    sys.exit(any(each.what in BAD for each in found))


if __name__ == "__main__":
    main()
