"""What the range watch of flexible bodies costs: its share of a whole run.

    python bench/flexible/watch.py [--docs] [NAME ...]

Every run is made as a user makes it, by `simulate`: equations, trial run, run, results, checks. Once with nothing kept
from before, and again with tables and meshes in memory. Times are processor seconds of the fastest of several runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

ROOT = Path(__file__).resolve().parents[2]
sys.path += [path for path in (str(ROOT), str(ROOT / "src")) if path not in sys.path]

import cotree as ct  # noqa: E402  (after the number of threads is set)
from cotree.fem.store import forget  # noqa: E402
from cotree.formulation.branch import draft  # noqa: E402
from cotree.io import read_model  # noqa: E402

DOCS = ROOT / "docs" / "performance_flexible.md"
BEGIN, END = "<!-- watch -->\n", "<!-- end of watch -->\n"
TARGET = 0.03
"""Part of a run that the watch may take."""
REPEATS = 5
LONG = 2.0
"""Seconds of a run that is not repeated."""


@dataclass(frozen=True)
class Case:
    """A model, and how it is run."""

    name: str
    make: Callable[[], tuple[ct.Model, dict[str, Any]]]


@dataclass(frozen=True)
class Cost:
    """Seconds of a run and of the watch in it: with nothing kept, and again."""

    name: str
    bodies: int
    times: int
    first: tuple[float, float]
    again: tuple[float, float]

    @property
    def share(self) -> float:
        """The larger part of a run that the watch takes."""
        return max(watch / run for run, watch in (self.first, self.again))


def cases() -> list[Case]:
    """All examples with flexible bodies, and the models of the benchmark."""
    from bench.flexible import references
    from bench.flexible.cotree_models import Form, four_bar, spin_up

    paths = sorted(ROOT.glob("examples/*flexible_*.yaml"))
    found = [Case(path.stem, lambda path=path: _example(path)) for path in paths]
    two = Form(1, "full", elements=4, pieces=2, axial=True)
    turns = {"t_end": float(references.four_bar("linear_2_modes").times[-1]), "points": 145}
    for name, form in (("2 modes", Form(2, "rigid")), ("two beams in series", two)):
        found.append(Case(f"spin-up, {name}", lambda form=form: (spin_up(form), {"t_end": 15.0, "points": 61})))
        found.append(Case(f"four-bar, {name}", lambda form=form: (four_bar(form), turns)))
    return found


def _example(path: Path) -> tuple[ct.Model, dict[str, Any]]:
    file = read_model(path, ct.Model)
    return file.model, {"t_end": file.run.t_end, **file.run.options()}


class _Clock:
    """Seconds that the watch takes."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._inner = draft.range_diagnostics

    def __call__(self, *given: Any) -> Any:
        clock = time.process_time()
        try:
            return self._inner(*given)
        finally:
            self.seconds += time.process_time() - clock


def cost(case: Case, repeats: int = REPEATS) -> Cost:
    """Seconds of a case; tables are not read from files."""
    clock = _Clock()
    draft.range_diagnostics = clock  # type: ignore[assignment]
    try:
        found: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
        for number in range(2 * repeats):
            fresh = number % 2 == 0
            if fresh:
                forget()
            model, options = case.make()
            model.folder = None
            clock.seconds, begin = 0.0, time.process_time()
            solution = model.simulate(**options)
            found[fresh].append((time.process_time() - begin, clock.seconds))
            if not fresh and found[fresh][-1][0] > LONG:
                break
    finally:
        draft.range_diagnostics = clock._inner
    bodies = sum(f"{name}.strain_energy" in solution for name in model.components)
    return Cost(case.name, bodies, len(solution.t), min(found[True]), min(found[False]))


def table(costs: Sequence[Cost]) -> Iterator[str]:
    """The section of the page."""
    yield "## Cost of the range watch"
    yield ""
    yield "What `python bench/flexible/watch.py --docs` measured: whole runs by `simulate` in ms, from the model to the"
    yield "checked results, and in them the time of the watch that looks whether flexible bodies leave the range of"
    yield "their theory. First with nothing kept from before, then again in the same process; processor time, best of"
    yield f"several runs where they are short. Target: at most {100 * TARGET:.0f} % of a run."
    yield ""
    yield "| model | flexible bodies | times | first run | watch | share | run again | watch | share | |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for each in costs:
        pairs = (each.first, each.again)
        cells = [f"{1e3 * run:.0f} | {1e3 * watch:.1f} | {100 * watch / run:.1f} %" for run, watch in pairs]
        said = "met" if each.share <= TARGET else "missed"
        yield f"| {each.name} | {each.bodies} | {each.times} | {' | '.join(cells)} | {said} |"


def section(names: Sequence[str] = (), repeats: int = REPEATS) -> list[str]:
    """The section for cases by name, or for all, between the marks by which it is found again."""
    chosen = [case for case in cases() if not names or case.name in names]
    return [BEGIN.strip(), *table([cost(case, repeats) for case in chosen]), END.strip()]


def main() -> None:
    """Print the table, and put it into the page where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("names", nargs="*", help="models; all unless given")
    parser.add_argument("--docs", action="store_true", help=f"also write the section of {DOCS.relative_to(ROOT)}")
    options = parser.parse_args()
    lines = section(options.names)
    print("\n".join(lines))
    if options.docs:
        page = DOCS.read_text(encoding="utf-8")
        head, rest = page.split(BEGIN)
        DOCS.write_text(head + "\n".join(lines) + "\n" + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
