"""Ring trusses in nodal coordinates: Cotree and Exudyn on the same model at the same error, in one run.

    python bench/nodal/run.py [--quick] [--docs] [--only steps error scaling parts] [--cpu] [--peers-only]

The peer is optional: `pip install exudyn`. The error is the largest distance of radius and rise from the reference over
its grid. First the paper's own 900 steps with every method, then the cheapest settings for two errors, then trusses of
up to 1,000 sides, each in a process of its own. About ten minutes, most of it in the C compiler; `--quick` takes two.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

if "--cpu" in sys.argv:
    os.environ["COTREE_BENCH_CLOCK"] = "cpu"  # for processes that are started here, too

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.common import measure, quiet, versions  # noqa: E402  (after the number of threads is set)
from bench.flexible.references import Reference  # noqa: E402
from bench.nodal import exudyn_peer, page, reference, scaling  # noqa: E402
from bench.nodal.exudyn_peer import Way  # noqa: E402
from bench.nodal.page import Row  # noqa: E402
from bench.nodal.reference import Ring  # noqa: E402

DOCS = ROOT / "docs" / "performance_nodal.md"
TARGETS = (1e-4, 1e-6)
"""Errors asked for, m."""
GRIDS = (10, 90)
"""Intervals of the output's grid, both shown: methods of high order gain where few outputs let them step far."""
LONGEST = 1.5
"""Seconds above which no shorter step is tried."""
SIDES = (10, 30, 100, 300, 1000)
FAST = ("paper", "corrected", "generalised_alpha")
"""Methods that are compiled as well for the paper's steps."""
PARTS = ("steps", "error", "scaling", "parts")
WAYS = (
    Way("whole", radius=0.9, tolerance=1e-4),
    Way("whole", radius=0.9, tolerance=1e-6),
    Way("whole", radius=1.0, tolerance=1e-6),
    Way("whole", linear="EigenSparse", tolerance=1e-4),
    Way("whole", solver="index 2", linear="EigenSparse", tolerance=1e-4),
    Way("whole", solver="index 2", linear="EigenSparse", tolerance=1e-6),
    Way("whole", solver="index 2", tolerance=1e-6),
    Way("bars", linear="EigenSparse", tolerance=1e-4),
    Way("bars", linear="EigenSparse", modified=False, tolerance=1e-4),
)
"""The ways of Exudyn that came out best of a wider search over masses, methods, radii, solvers, Newton's settings."""
MULTIPLES = (
    *(1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 16, 18, 20, 24, 32, 36, 40, 48, 64, 72, 80, 96, 128, 144, 160, 192, 256, 288),
    *(320, 384, 512, 576),
)
"""Steps in an interval of the grid: in doubling families, so that every step has its half."""


class Peer:
    """Exudyn's models of ten sides."""

    def __init__(self, base: Reference, repeats: int) -> None:
        self.base, self.repeats = base, repeats
        with quiet():
            self.models = {form: exudyn_peer.Model(Ring(), form) for form in ("whole", "bars")}

    def row(self, way: Way, steps: int, repeats: int = 1) -> Row:
        """One run."""
        model = self.models[way.form]
        with quiet():
            error, seconds = measure(model, way, steps, self.base, repeats)
        return Row(f"{way}, {steps} steps", error, seconds, model.seconds_setup)

    def even(self, steps: int) -> list[Row]:
        """The quickest ways with a number of steps whose error is that of the step and not of Newton's rule."""
        rows = sorted((self.row(way, steps, self.repeats) for way in WAYS), key=lambda row: row.seconds)
        least = min(row.error for row in rows)
        return [row for row in rows if row.error < 3 * least][:2]

    def search(self, targets: tuple[float, ...]) -> dict[float, list[Row]]:
        """For each error the longest step of every way that meets it together with its half."""
        found: dict[float, list[Row]] = {target: [] for target in targets}
        for way in WAYS:
            rows: dict[int, Row] = {}
            met: dict[float, int] = {}
            for k in MULTIPLES:
                rows[k] = row = self.row(way, k * self.base.intervals)
                if k % 2 == 0 and k // 2 in rows:
                    for target in targets:
                        if max(row.error, rows[k // 2].error) <= target:
                            met.setdefault(target, k // 2)
                if len(met) == len(targets) or (math.isfinite(row.seconds) and row.seconds > LONGEST):
                    break
            for target in targets:
                if target in met:
                    found[target].append(self.row(way, met[target] * self.base.intervals, self.repeats))
                else:
                    least = min(row.error for row in rows.values())
                    found[target].append(
                        Row(f"{way}: not met by a step and its half, least {least:.1e} m", math.inf, math.inf, 0.0)
                    )
        return found


def ten_sides(options: argparse.Namespace, chosen: tuple[str, ...]) -> list[str]:
    """The paper's run with every method, and both programs at equal error."""
    base = Ring().reference(scaling.END, GRIDS[0])
    setups: dict[str, float] = {}
    repeats, targets = (2, TARGETS[:1]) if options.quick else (7, TARGETS)
    peer = None
    try:
        peer = Peer(base, repeats)
    except ImportError:
        print("\nExudyn is not installed, so there is nothing to compare with: pip install exudyn", file=sys.stderr)
    lines: list[str] = []
    truss = None
    if not options.peers_only:
        from bench.nodal import cotree_side

        truss = cotree_side.Truss(Ring(), base)
    from bench.rigid.cotree_side import own_cache

    with own_cache():
        if "steps" in chosen:
            own = []
            if truss is not None:
                names = ("paper", "corrected", "generalised_alpha", "energy", "rk4")[: 3 if options.quick else None]
                settings = [cotree_side.Setting(name, steps=scaling.STEPS) for name in names]
                settings.append(cotree_side.Setting("adams", 1e-6))
                for each in settings:
                    own.append(cotree_side.tried(truss, each, repeats))
                    fast = each.integrator in FAST and cotree_side.compiler() is not None
                    if fast and math.isfinite(own[-1].seconds):
                        own.append(cotree_side.code(truss, each, repeats, setups))
            lines += [*page.even_steps(scaling.STEPS, own, peer and peer.even(scaling.STEPS)), ""]
        for intervals in GRIDS if "error" in chosen else ():
            base = Ring().reference(scaling.END, intervals)
            met = {}
            if truss is not None:
                truss.reference = base
                every = (*cotree_side.STEPPED, *cotree_side.ADAPTIVE)
                quick = ("corrected", "generalised_alpha", "adams")
                longest = 0.6 if options.quick else LONGEST
                met = cotree_side.search(truss, targets, repeats, longest, quick if options.quick else every, setups)
            if peer is not None:
                peer.base = base
            lines += [*page.equal_error(met, peer and peer.search(targets), intervals + 1), ""]
    return lines


def many_sides(options: argparse.Namespace) -> list[str]:
    """Trusses of many sides."""
    sides = SIDES[:3] if options.quick else SIDES
    own = {} if options.peers_only else {n: scaling.apart("cotree", n, scaling.STEPS) for n in sides}
    peer = {}
    try:
        with quiet():
            exudyn_peer.library()
        peer = {n: scaling.apart("exudyn", n, scaling.STEPS) for n in sides}
    except ImportError:
        pass
    return [*page.scaling(own, peer, scaling.STEPS), ""]


def inner(options: argparse.Namespace) -> list[str]:
    """Parts of a step."""
    cases = {f"ten sides, `{name}`": (10, name) for name in ("paper", "corrected", "generalised_alpha")}
    if not options.quick:
        cases["1000 sides, `generalised_alpha`"] = (1000, "generalised_alpha")
    return page.where_time_goes({title: scaling.apart("parts", *case) for title, case in cases.items()})


def main() -> None:
    """Print the page, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--quick", action="store_true", help="the looser error, smaller trusses, fewer repeats")
    parser.add_argument("--docs", action="store_true", help=f"also write {DOCS.relative_to(ROOT)}")
    parser.add_argument("--only", nargs="+", choices=PARTS, help="parts of the page", metavar="PART")
    parser.add_argument("--cpu", action="store_true", help="processor's seconds: for a machine that is busy")
    parser.add_argument("--peers-only", action="store_true", help="leave Cotree out")
    options = parser.parse_args()
    chosen = tuple(options.only or PARTS)
    out: list[str] = []

    def say(lines: list[str]) -> None:
        out.extend(lines)
        print("\n".join(lines), flush=True)

    clock = "seconds of the processor" if options.cpu else "wall seconds"
    say([page.HEAD.format(versions=versions(), gap=reference.check(), clock=clock)])
    if {"steps", "error"} & set(chosen):
        say(ten_sides(options, chosen))
    if "scaling" in chosen:
        say(many_sides(options))
    if "parts" in chosen and not options.peers_only:
        say(inner(options))
    if options.docs:
        DOCS.write_text("\n".join(out).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
