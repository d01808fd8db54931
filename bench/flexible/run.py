"""Flexible mechanisms: Cotree and Exudyn on the same model at the same error, in one run.

    python bench/flexible/run.py [--quick] [--docs] [--only spin_up four_bar costs watch] [--sweep] [--peers-only]

The peer is optional: `pip install exudyn`. The error is the largest distance of the deflections from the reference over
its grid. For each way of modelling and each error asked for, the longest step that meets it, and still meets it when
halved, is taken; for Cotree the loosest tolerance that meets it together with the next one. Times are of the
integration, best of several; set-up is apart. `--sweep` prints every setting of the peer that is tried.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402  (after the number of threads is set)

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.common import measure, quiet, versions  # noqa: E402
from bench.flexible import cotree_side, exudyn_peer, page, references, watch  # noqa: E402
from bench.flexible.cotree_models import Form  # noqa: E402
from bench.flexible.cotree_side import Found  # noqa: E402
from bench.flexible.exudyn_peer import Way  # noqa: E402
from bench.flexible.references import Reference  # noqa: E402

DOCS = ROOT / "docs" / "performance_flexible.md"
TARGETS = (1e-3, 1e-4)
"""Errors asked for, m."""
LONGEST = 3.0
"""Seconds above which no shorter step is tried."""
LONGEST_OWN = 2.0
"""The same for Cotree."""
MULTIPLES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256)
"""Steps in an interval of the reference's grid."""


@dataclass(frozen=True)
class Case:
    """A mechanism against one reference, and the ways of both programs to try."""

    name: str
    title: str
    reference: Reference
    ways: tuple[Way, ...]
    forms: tuple[Form, ...]


@dataclass(frozen=True)
class Trial:
    """One run: steps, its error in m and its seconds."""

    steps: int
    error: float
    seconds: float


@dataclass(frozen=True)
class Row:
    """What Exudyn needs to meet an error: how, the error it has, seconds and set-up; infinite where it is not met."""

    target: float
    how: str
    error: float
    seconds: float
    setup: float


def cases() -> list[Case]:
    """The mechanisms; the ways and forms are those that came out best of a wider search."""
    early, whole = np.linspace(0, 7.5, 31), np.linspace(0, 15, 61)
    without, stiffened = references.spin_up_linear(2, early), references.spin_up_linear(2, whole, stiffened=True)
    linear, elastica = (references.four_bar(k) for k in ("linear_2_modes", "extensible_elastica_converged"))
    spin = references.spin_up_elastica()
    return [
        Case("spin_up", "spin-up, linear theory without stiffening, to 7.5 s", without, SPIN_UP_LINEAR, (NONE,)),
        Case("spin_up", "spin-up, linear theory with stiffening, to 15 s", stiffened, SPIN_UP_STIFFENED, (RIGID,)),
        Case("spin_up", "spin-up, elastica, to 15 s", spin, SPIN_UP, SPIN_UP_FORMS),
        Case("four_bar", "four-bar, linear, 2 modes", linear, FOUR_BAR_LINEAR, (NONE,)),
        Case("four_bar", "four-bar, elastica", elastica, FOUR_BAR, FOUR_BAR_FORMS),
    ]


NONE, RIGID = Form(2, "none"), Form(2, "rigid")
SPIN_UP_FORMS = (Form(3, "rigid"), Form(3, "full"), Form(1, "full", elements=4, pieces=2, axial=True))
FOUR_BAR_FORMS = (Form(1, "full", elements=4, pieces=2, axial=True),)
SPIN_UP_LINEAR = (Way("frame", 2, tolerance=1e-4), Way("frame", 2, radius=1.0, tolerance=1e-4))
SPIN_UP_STIFFENED = (Way("stiffened", 2, tolerance=1e-4), Way("stiffened", 2, radius=1.0, tolerance=1e-4))
SPIN_UP = (
    Way("stiffened", 3, tolerance=1e-4),
    Way("stiffened", 4, tolerance=1e-4),
    Way("beam3", 2, modified=False),
    Way("beam3", 2, modified=False, tolerance=1e-5),
    Way("beam3", 3, modified=False),
    Way("beam3", 3),
    Way("beam3", 4),
    Way("beam2", 16),
    Way("cable", 6, modified=False),
    Way("cable", 8, linear="EigenSparse", tolerance=1e-5),
    Way("cable", 8, linear="EigenSparse", radius=1.0),
    Way("series", 8),
)
FOUR_BAR_LINEAR = (
    Way("frame", 2, tolerance=1e-2),
    Way("frame", 2, solver="index 2", tolerance=1e-2),
    Way("frame", 2, tolerance=1e-3),
    Way("frame", 2, tolerance=1e-4),
    Way("frame", 2, solver="index 2", tolerance=1e-4),
    Way("frame", 2, radius=1.0, tolerance=1e-4),
)
FOUR_BAR = (
    Way("cable", 4, linear="EigenSparse", tolerance=1e-2),
    Way("cable", 4, solver="index 2", linear="EigenSparse", tolerance=1e-3),
    Way("cable", 6, linear="EigenSparse", tolerance=1e-3, radius=0.6),
    Way("cable", 8, solver="index 2", linear="EigenSparse", tolerance=1e-3),
    Way("cable", 8, linear="EigenSparse", tolerance=1e-3, radius=1.0),
    Way("cable", 8, linear="EigenSparse", tolerance=1e-4),
    Way("cable", 12, linear="EigenSparse", tolerance=1e-3),
    Way("beam3", 8, linear="EigenSparse", tolerance=1e-3),
)


def sweep(model: exudyn_peer.Model, way: Way, reference: Reference, tightest: float) -> list[Trial]:
    """Runs from the longest step on, until a step and its half meet the tightest error or take too long."""
    found: list[Trial] = []
    for k in MULTIPLES:
        with quiet():
            error, seconds = measure(model, way, k * reference.intervals, reference, repeats=1)
        found.append(Trial(k * reference.intervals, error, seconds))
        done = longest_step(found, tightest)
        if done is not None or (math.isfinite(seconds) and seconds > LONGEST):
            break
    return found


def longest_step(trials: list[Trial], target: float) -> Trial | None:
    """The longest step that meets the error together with its half."""
    errors = {trial.steps: trial.error for trial in trials}
    for trial in trials:
        if trial.error <= target and errors.get(2 * trial.steps, math.inf) <= target:
            return trial
    return None


def exudyn_rows(case: Case, targets: tuple[float, ...], every: bool) -> list[Row]:
    """Every way with every error asked for, quickest first."""
    result = []
    for way in case.ways:
        with quiet():
            model = exudyn_peer.MODELS[case.name](way.form, way.size)
        trials = sweep(model, way, case.reference, min(targets))
        for trial in trials if every else []:
            print(f"    {way}, {trial.steps} steps: {trial.error:.2e} m, {1e3 * trial.seconds:.1f} ms", flush=True)
        for target in targets:
            met = longest_step(trials, target)
            if met is None:
                least = min(trial.error for trial in trials)
                how = f"{way}: not met, least {least:.1e} m"
                result.append(Row(target, how, math.inf, math.inf, model.seconds_setup))
                continue
            with quiet():
                error, seconds = measure(model, way, met.steps, case.reference, repeats=5)
            result.append(Row(target, f"{way}, {met.steps} steps", error, seconds, model.seconds_setup))
    return sorted(result, key=lambda row: row.seconds)


def compare(case: Case, targets: tuple[float, ...], options: argparse.Namespace) -> page.Comparison:
    """Both programs on one case."""
    peer: list[Row] | None = None
    with contextlib.suppress(ImportError):
        peer = exudyn_rows(case, targets, options.sweep)
    own: dict[float, list[Found]] = {}
    if not options.peers_only:
        longest, repeats = (0.2, 3) if options.quick else (LONGEST_OWN, 9)
        own = cotree_side.search(
            case.name, case.reference, case.forms, targets, repeats=repeats, longest=longest, quick=options.quick
        )
    rows = {t: None if peer is None else [row for row in peer if row.target == t] for t in targets}
    return page.Comparison(case.title, rows, own)


def main() -> None:
    """Print the page, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--quick", action="store_true", help="the looser error only, fewer methods and repeats")
    parser.add_argument("--docs", action="store_true", help=f"also write {DOCS.relative_to(ROOT)}")
    parser.add_argument("--only", nargs="+", help="spin_up, four_bar, costs or watch", metavar="NAME")
    parser.add_argument("--sweep", action="store_true", help="print every setting of the peer that is tried")
    parser.add_argument("--peers-only", action="store_true", help="leave Cotree out")
    options = parser.parse_args()
    out: list[str] = []

    def say(text: str) -> None:
        out.append(text)
        print(text, flush=True)

    say(page.HEAD.format(versions=versions()).rstrip())
    every: list[page.Comparison] = []
    for case in cases():
        if not options.only or case.name in options.only:
            every.append(compare(case, TARGETS[: 1 if options.quick else None], options))
            say("\n".join(every[-1].lines()))
    if not options.peers_only:
        if not options.only or "costs" in options.only:
            say("\n" + "\n".join(page.costs(options.quick)))
        if not options.only or "watch" in options.only:
            say("\n" + "\n".join(watch.section(repeats=1 if options.quick else watch.REPEATS)))
        if every:
            say("\n" + "\n".join(page.summary(every)))
            say("\n" + "\n".join(page.where_time_goes(every)))
    if every:
        say("\n" + "\n".join(page.also_tried(every)))
    if options.docs:
        DOCS.write_text("\n".join(out) + "\n", encoding="utf-8")
    try:
        with quiet():
            exudyn_peer.library()
    except ImportError:
        print("\nExudyn is not installed, so there is nothing to compare with: pip install exudyn", file=sys.stderr)


if __name__ == "__main__":
    main()
