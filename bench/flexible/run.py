"""Flexible mechanisms: Exudyn's bodies against converged references, in one run.

    python bench/flexible/run.py [--quick] [--only spin_up four_bar] [--sweep]

The peer is optional: `pip install exudyn`. The error is the largest distance of the deflections from the reference over
its grid. For each way of modelling and each error asked for, the longest step that meets it, and still meets it when
halved, is taken. Times are of the integration, best of three; set-up is apart. `--sweep` prints every setting tried.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402  (after the number of threads is set)

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.flexible import exudyn_peer, references  # noqa: E402
from bench.flexible.exudyn_peer import Way  # noqa: E402
from bench.flexible.references import Reference  # noqa: E402

TARGETS = (1e-3, 1e-4)
"""Errors asked for, m."""
LONGEST = 3.0
"""Seconds above which no shorter step is tried."""
MULTIPLES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256)
"""Steps in an interval of the reference's grid."""


@dataclass(frozen=True)
class Case:
    """A mechanism against one reference, and the ways to try."""

    name: str
    title: str
    reference: Reference
    ways: tuple[Way, ...]


@dataclass(frozen=True)
class Trial:
    """One run: steps, its error in m and its seconds."""

    steps: int
    error: float
    seconds: float


def cases() -> list[Case]:
    """The mechanisms; the ways are those that came out best of a wider search."""
    early, whole = np.linspace(0, 7.5, 31), np.linspace(0, 15, 61)
    without, stiffened = references.spin_up_linear(2, early), references.spin_up_linear(2, whole, stiffened=True)
    linear, elastica = (references.four_bar(k) for k in ("linear_2_modes", "extensible_elastica_converged"))
    return [
        Case("spin_up", "spin-up, linear theory without stiffening, to 7.5 s", without, SPIN_UP_LINEAR),
        Case("spin_up", "spin-up, linear theory with stiffening, to 15 s", stiffened, SPIN_UP_STIFFENED),
        Case("spin_up", "spin-up, elastica, to 15 s", references.spin_up_elastica(), SPIN_UP),
        Case("four_bar", "four-bar, linear, 2 modes", linear, FOUR_BAR_LINEAR),
        Case("four_bar", "four-bar, elastica", elastica, FOUR_BAR),
    ]


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


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No output of native code: the peer prints banners and failures."""
    sys.stdout.flush()
    kept = [os.dup(1), os.dup(2)]
    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            for number, one in enumerate(kept, 1):
                os.dup2(one, number)
                os.close(one)


def sweep(model: exudyn_peer.Model, way: Way, reference: Reference, tightest: float) -> list[Trial]:
    """Runs from the longest step on, until a step and its half meet the tightest error or take too long."""
    found: list[Trial] = []
    for k in MULTIPLES:
        with quiet():
            error, seconds = exudyn_peer.measure(model, way, k * reference.intervals, reference, repeats=1)
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


def rows(case: Case, targets: tuple[float, ...], every: bool) -> list[tuple[float, str, float, float, float]]:
    """Target, how, error, seconds and set-up for each way and target; infinite where it is not met."""
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
                result.append((target, f"{way}: not met, least {least:.1e} m", math.inf, math.inf, model.seconds_setup))
                continue
            with quiet():
                error, seconds = exudyn_peer.measure(model, way, met.steps, case.reference, repeats=3)
            result.append((target, f"{way}, {met.steps} steps", error, seconds, model.seconds_setup))
    return sorted(result, key=lambda row: (-row[0], row[3]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--quick", action="store_true", help="the looser error only")
    parser.add_argument("--only", nargs="+", help="names of mechanisms", metavar="NAME")
    parser.add_argument("--sweep", action="store_true", help="print every setting tried")
    options = parser.parse_args()
    print("| mechanism | asked m | Exudyn | error m | time ms | set-up ms |\n|---|---|---|---|---|---|")
    for case in cases():
        if options.only and case.name not in options.only:
            continue
        for target, how, error, seconds, setup in rows(case, TARGETS[: 1 if options.quick else None], options.sweep):
            numbers = f"{error:.1e} | {1e3 * seconds:.3g}" if math.isfinite(seconds) else "– | –"
            print(f"| {case.title} | {target:g} | {how} | {numbers} | {1e3 * setup:.3g} |", flush=True)


if __name__ == "__main__":
    main()
