"""Bond graphs with ideal joints against the branch formulation of the same mechanisms, in one run.

    python bench/bond/run.py [--quick] [--docs] [--only NAME ...]

First the cost of one evaluation of the right-hand side, then whole runs at the same error, then what C joints cost.
About two minutes; `--quick` takes example 3 alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import numpy as np  # noqa: E402  (after the number of threads is set)
from bench.bond import costs, page  # noqa: E402
from bench.bond.models import motor, pairs, soft  # noqa: E402
from bench.common import versions  # noqa: E402

DOCS = ROOT / "docs" / "performance_bond.md"
STIFFNESSES = (1e4, 1e6, 1e8, 1e10)
NAMES = ("example3", "example1", "slider_crank", "chain10")


def joints() -> list[tuple[float, int, int, float, float]]:
    """Example 3 with C joints: stiffness, steps, evaluations, distance from ideal joints, seconds."""
    pair = pairs()["example3"]
    exact = pair.graph().simulate(pair.t_end, times=pair.times, rtol=1e-11)["m2.position"]
    model, rows = soft(), []
    model.simulate(0.01, rtol=1e-9)  # the native functions are made once
    for stiffness in STIFFNESSES:
        clock = time.perf_counter()
        solution = model.simulate(pair.t_end, times=pair.times, rtol=1e-9, parameters={"stiffness": stiffness})
        seconds = time.perf_counter() - clock
        distance = float(np.linalg.norm(solution["m2.position"] - exact, axis=1).max())
        rows.append((stiffness, solution.statistics.steps, solution.statistics.evaluations, distance, seconds))
    return rows


def machine() -> list[str]:
    """The motor on a slider-crank, which has no single model in branch coordinates to compare with."""
    model = motor()
    clock = time.perf_counter()
    equations = model.equations()
    written = time.perf_counter() - clock
    model.simulate(1.0, points=101)
    clock = time.perf_counter()
    solution = model.simulate(1.0, points=101)
    seconds, stats = time.perf_counter() - clock, solution.statistics
    states = len(equations.q) + len(equations.u)
    return [
        "A DC motor on a slider-crank as one graph (`examples/bond_motor_slider_crank.yaml`): "
        f"{states} coordinates and speeds, equations in {1e3 * written:.0f} ms, 1 s of motion in "
        f"{1e3 * seconds:.0f} ms ({stats.integrator}, rtol 1e-8, {stats.steps} steps)."
    ]


def main() -> None:
    """Print the page, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--quick", action="store_true", help="example 3 alone, fewer repeats")
    parser.add_argument("--docs", action="store_true", help=f"also write {DOCS.relative_to(ROOT)}")
    parser.add_argument("--only", nargs="+", choices=NAMES, help="mechanisms", metavar="NAME")
    options = parser.parse_args()
    repeats = 3 if options.quick else 15
    chosen = options.only or (NAMES[:1] if options.quick else NAMES)
    out: list[str] = []

    def say(lines: list[str]) -> None:
        out.extend([*lines, ""])
        print("\n".join([*lines, ""]), flush=True)

    say([page.HEAD.format(versions=versions()).rstrip()])
    every, rows, target = {}, [], []
    with costs.own_cache():
        for name in chosen:
            pair = pairs()[name]
            forms = costs.forms(pair)
            every[pair.title] = forms, costs.evaluations(forms, repeats)
            exact = forms["branch"].motion(1e-12)
            for method in costs.METHODS:
                for fast in (False, True):
                    found = costs.search(forms, exact, method, fast, repeats)
                    for error in costs.TARGETS:
                        row = found["bond graph"].get(error), found["branch"].get(error)
                        rows.append((pair.title, method, "compiled" if fast else "interpreted", error, *row))
                        if name == NAMES[0] and row[0] and row[1]:
                            target.append((row[0], row[1]))
    if NAMES[0] in chosen:
        title = pairs()[NAMES[0]].title
        say(page.verdicts(title, every[title][1], target))
    say(page.evaluations(every))
    say(page.runs(rows))
    if not options.quick:
        say(page.soft(joints()))
        say(machine())
    if options.docs:
        DOCS.write_text("\n".join(out).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
