"""Rigid mechanisms: Cotree, Exudyn, MuJoCo and Pinocchio on the same model at the same error, in one run.

    python bench/rigid/run.py [--quick] [--docs] [--only NAME ...] [--peers-only]

The peers are optional: `pip install exudyn mujoco pin`. The error is the largest distance of named points from a
converged reference (`references.py`) over the output grid. For each program the cheapest setting that meets the error
is taken from a search over steps or tolerances. Times are of the integration, best of several runs; set-up is apart.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import platform
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402  (after the number of threads is set)

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.common import quiet  # noqa: E402
from bench.rigid import exudyn_peer, mujoco_peer, pinocchio_peer  # noqa: E402
from bench.rigid.exudyn_peer import Way  # noqa: E402
from bench.rigid.models import Mechanism, all_mechanisms, chain  # noqa: E402
from bench.rigid.references import Motion, Serial, error, reference  # noqa: E402

DOCS = ROOT / "docs" / "performance_rigid.md"
LONGEST = 12.0
"""Seconds above which a setting is not tried."""
QUICK = ("chain2", "chain10", "four_bars2", "squeezer", "robot")

TREE = [Way("tree", "RK44"), Way("tree", "RK67"), Way("tree", "index 3", 1.0)]
WAYS = {
    "chain2": [*TREE, Way("free", "index 3", 1.0)],
    "chain10": [*TREE, Way("free", "index 3", 1.0, "EigenSparse")],
    "chain100": [Way("tree", "RK44"), Way("tree", "RK67")],
    "robot": [*TREE, Way("free", "index 3", 1.0)],
    "four_bars2": [
        Way("tree", "index 3", 1.0, "EigenSparse", modified=False, tolerance=1e-5),
        Way("tree", "index 3", 1.0, "EXUdense", modified=False, tolerance=1e-5),
        Way("planar", "index 3", 0.9, "EXUdense"),
    ],
    "four_bars40": [
        Way("planar", "index 3", 0.9, "EigenSparse", modified=False, tolerance=1e-5),
        Way("planar", "index 3", 0.9, "EigenSparse", tolerance=1e-6),
    ],
    "squeezer": [
        Way("planar", "index 2", 1.0, "EigenSparse", modified=False, tolerance=1e-5),
        Way("planar", "index 2", 1.0, "EigenSparse"),
        Way("planar", "index 2", 1.0, "EXUdense"),
        Way("planar", "index 3", 1.0, "EXUdense"),
    ],
    "bricard": [
        Way("tree", "index 3", 0.9, "EigenDense", modified=False, tolerance=1e-6),
        Way("tree", "index 3", 0.9, "EigenDense"),
        Way("free", "index 3", 0.9, "EigenDense"),
    ],
    "stewart": [
        Way("free", "index 3", 0.9, "EigenSparse", tolerance=1e-6),
        Way("free", "index 2", 1.0, "EigenSparse", tolerance=1e-5),
        Way("free", "index 2", 1.0, "EXUdense", tolerance=1e-5),
        Way("tree", "index 3", 1.0, "EXUdense"),
    ],
}
"""The ways of Exudyn that came out best of a wider search: forms, solvers, radii, linear solvers, Newton's settings."""


@dataclass(frozen=True)
class Row:
    """What a program needs to meet the error."""

    program: str
    how: str
    error: float
    seconds: float
    setup: float


def attempt(run: Callable[[int], tuple[Motion, float]], m: Mechanism, base: Motion, steps: int) -> tuple[float, float]:
    """Error and seconds of a run; an infinite error where it fails."""
    clock = time.perf_counter()
    try:
        with quiet():
            motion, seconds = run(steps)
    except Exception:
        return math.inf, time.perf_counter() - clock
    found = error(m, motion, base)
    return (found if math.isfinite(found) else math.inf), seconds


def fewest_steps(
    run: Callable[[int], tuple[Motion, float]], m: Mechanism, base: Motion, repeats: int, longest: float = LONGEST
) -> tuple[int, float, float] | None:
    """Steps, error and seconds of the longest step that meets the error, by the order seen on the way there."""
    k, before, tried = 1, (0, math.inf), set[int]()
    met: tuple[int, float, float] | None = None
    for _ in range(12):
        tried.add(k)
        found, seconds = attempt(run, m, base, k * m.intervals)
        order = 2.0
        if math.isfinite(found) and math.isfinite(before[1]) and before[0] != k:
            order = math.log(before[1] / found) / math.log(k / before[0]) if found != before[1] else 2.0
            order = min(max(order, 1.0), 8.0)
        known = math.isfinite(found) and (math.isfinite(before[1]) or found < 0.1)
        if found <= m.target:
            met = (k, found, seconds) if met is None or k < met[0] else met
            if not k > 1 or found > 0.6 * m.target:
                break
        factor = 1.04 * (found / m.target) ** (1 / order) if known else 2.0
        before = (k, found)
        following = max(1, math.ceil(k * min(factor, 16.0)))
        if met is not None and following >= met[0]:
            break
        while following in tried:
            following += 1
        if met is not None and following >= met[0]:
            break
        if seconds * following / k > longest:
            break
        k = following
    if met is None:
        return None
    k, found, seconds = met
    for _ in range(repeats - 1):
        seconds = min(seconds, attempt(run, m, base, k * m.intervals)[1])
    return k * m.intervals, found, seconds


def exudyn_rows(m: Mechanism, base: Motion, repeats: int, quick: bool) -> list[Row]:
    """Every way of Exudyn that meets the error, cheapest first."""
    rows: list[Row] = []
    for way in WAYS[m.name][: 2 if quick else None]:
        with quiet():
            model = exudyn_peer.Model(m, way.form, way.lie)
        longest = min([LONGEST, *(8 * row.seconds for row in rows)])  # far slower than another way: no need to know
        met = fewest_steps(lambda n, way=way, model=model: model.run(way, n), m, base, repeats, longest)  # type: ignore[misc]
        if met is None:
            rows.append(
                Row("Exudyn", f"{way}: not met in {1e3 * longest:.0f} ms", math.inf, math.inf, model.seconds_setup)
            )
        else:
            rows.append(Row("Exudyn", f"{way}, {met[0]} steps", met[1], met[2], model.seconds_setup))
    return sorted(rows, key=lambda row: row.seconds)


def mujoco_rows(m: Mechanism, base: Motion, repeats: int, quick: bool) -> list[Row]:
    """MuJoCo with its fourth-order method."""
    with quiet():
        model = mujoco_peer.Model(m)
    met = fewest_steps(model.run, m, base, repeats)
    if met is None:
        return [Row("MuJoCo", "RK4: not met", math.inf, math.inf, model.seconds_setup)]
    return [Row("MuJoCo", f"joint angles, RK4, {met[0]} steps", met[1], met[2], model.seconds_setup)]


def cotree_rows(m: Mechanism, base: Motion, repeats: int, quick: bool) -> list[Row]:
    """Every integrator of Cotree that meets the error, cheapest first."""
    from bench.rigid import cotree_side

    found = cotree_side.rows(m, base, repeats, quick)
    return sorted((Row("Cotree", *each) for each in found), key=lambda row: row.seconds)


def number(seconds: float) -> str:
    """Milliseconds with three digits."""
    return f"{1e3 * seconds:.3g}" if math.isfinite(seconds) else "–"


def case(m: Mechanism, repeats: int, quick: bool, peers_only: bool) -> tuple[list[str], list[str], str, float]:
    """Lines of one mechanism in the table and of what else was tried, how Cotree ran, and Exudyn's time over its."""
    base = reference(m)
    programs: list[tuple[str, Callable[..., list[Row]]]] = [("Exudyn", exudyn_rows)]
    if m.open:
        programs.append(("MuJoCo", mujoco_rows))
    if not peers_only:
        programs.insert(0, ("Cotree", cotree_rows))
    lines, tried, best, how = [], [], dict[str, float](), ""
    for name, rows in programs:
        try:
            found = rows(m, base, repeats, quick)
        except ImportError:
            lines.append(f"| | {name} | not installed | | | | |")
            continue
        first = found[0]
        best[name] = first.seconds
        how = first.how if name == "Cotree" else how
        ratio = f"{first.seconds / best['Cotree']:.2g}" if "Cotree" in best and math.isfinite(first.seconds) else ""
        gap = f"{first.error:.1e}" if math.isfinite(first.error) else ""
        lines.append(f"| | {name} | {first.how} | {gap} | {number(first.seconds)} | {number(first.setup)} | {ratio} |")
        for row in found[1:]:
            tried.append(f"- {m.title}, {row.program}, {row.how}: {number(row.seconds)} ms")
    lines[0] = f"| **{m.title}**, {m.t_end:g} s, error {m.target:g} m {lines[0][1:]}"
    return lines, tried, how, best.get("Exudyn", math.nan) / best.get("Cotree", math.nan)


def forward_table(sizes: tuple[int, ...], peers_only: bool) -> list[str]:
    """Forward dynamics of chains at one random state: microseconds, agreement checked against the reference."""
    lines = [
        "| links | Cotree, generated C | Cotree, CasADi VM | Pinocchio, native loop | Pinocchio, called | MuJoCo |",
        "|---|---|---|---|---|---|",
    ]
    cost: dict[str, dict[int, float]] = {}
    for n in sizes:
        m, rng = chain(n), np.random.default_rng(0)
        q, u = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
        exact = Serial(m).acceleration(q, u)
        cells = dict.fromkeys(("C", "VM", "native", "called", "MuJoCo"), math.nan)
        if not peers_only:
            from bench.rigid import cotree_side

            found, cells["C"], cells["VM"] = cotree_side.forward(m, q, u, repeats=9)
            check(found, exact, f"Cotree, {n} links")
        with contextlib.suppress(ImportError):
            found, cells["native"], cells["called"] = pinocchio_peer.forward(m, q, u)
            check(found, exact, f"Pinocchio, {n} links")
        with contextlib.suppress(ImportError):
            found, cells["MuJoCo"] = mujoco_peer.forward(m, q, u)
            check(found, exact, f"MuJoCo, {n} links")
        for name, value in cells.items():
            cost.setdefault(name, {})[n] = value
        lines.append(f"| {n} | " + " | ".join(f"{v:.2f}" if v == v else "–" for v in cells.values()) + " |")
    if 100 in sizes and 200 in sizes:
        ratios = [cost[name][200] / cost[name][100] for name in cost]
        lines.append("| 200 over 100 | " + " | ".join(f"{v:.2f}" if v == v else "–" for v in ratios) + " |")
    return lines


def check(found: np.ndarray, exact: np.ndarray, who: str) -> None:
    """Stop where a program computes something else."""
    gap = float(np.abs(found - exact).max() / np.abs(exact).max())
    if gap > 1e-8:
        raise SystemExit(f"{who}: the accelerations differ by {gap:.1e}: not the same model")


def versions() -> str:
    """What was compared, and on what."""
    found = []
    for name in ("cotree", "exudyn", "mujoco", "pin", "casadi"):
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"{name} {'from source' if name == 'cotree' else 'not installed'}")
    return f"{', '.join(found)}; Python {platform.python_version()}, {os.cpu_count()} cores, one thread each"


HEAD = """# Performance: rigid mechanisms

What `python bench/rigid/run.py --docs` measured ({versions}). The peers are installed with `pip install exudyn mujoco
pin`. Error: the largest distance of named points from a converged reference over the output grid; the reference comes
from equations of its own (`bench/rigid/references.py`). Every program runs with its cheapest setting that meets the
error, found by a search over steps or tolerances; the ways that were slower are listed below. Times in ms, best of
several runs, of the integration alone: Cotree's integrator with its outputs on the grid as states, Exudyn's
`SolveDynamic` on an assembled system without files, MuJoCo's `mj_step` in native loops. Set-up (equations, code,
assembly, compiled models) is apart. Ratio: time over Cotree's. Exudyn runs as its fast module without range checks.

The ratios hold for repeated runs. In a single run set-up counts: Cotree writes equations and, where the settings
say "compiled", calls a C compiler, which takes longer than the whole run of a peer on most of these models. `simulate`
compiles by itself only where that pays within the run; the interpreted times are under "Also tried". For closed
mechanisms Exudyn's methods have order 2, so that a looser error than the one asked for here is in its favour.

| mechanism | program | settings | error m | time ms | set-up ms | ratio |
|---|---|---|---|---|---|---|
"""


def without_compiler(lines: list[str]) -> list[str]:
    """Exudyn's time over that of Cotree's best interpreted run for each mechanism, from the lines of the report."""
    exudyn: dict[str, float] = {}
    ours: dict[str, float] = {}
    title = ""
    for line in lines:
        if head := re.match(r"\| \*\*(.+?)\*\*", line):
            title = head[1]
        if row := re.match(r"\| \| Exudyn \|.*\| ([\d.e+]+) \| [\d.e+]+ \| [\d.e+]+ \|$", line):
            exudyn[title] = float(row[1])
        if run := re.match(r"- (.+), Cotree, .*interpreted.*: ([\d.e+]+) ms$", line):
            ours[run[1]] = min(ours.get(run[1], math.inf), float(run[2]))
    ratios = {name: exudyn[name] / ours[name] for name in exudyn if name in ours}
    met = sum(ratio >= 10 for ratio in ratios.values())
    return [
        "Exudyn's time over that of Cotree's best interpreted run in the same table:",
        "",
        *(f"- {name}: {ratio:.2g}" for name, ratio in ratios.items()),
        "",
        f"So {met} of {len(ratios)} reach 10 without a compiler.",
    ]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--quick", action="store_true", help="fewer mechanisms, ways and repeats")
    parser.add_argument("--docs", action="store_true", help=f"also write {DOCS.relative_to(ROOT)}")
    parser.add_argument("--peers-only", action="store_true", help="leave Cotree out")
    parser.add_argument("--only", nargs="+", help="names of mechanisms", metavar="NAME")
    options = parser.parse_args()
    names = options.only or (QUICK if options.quick else None)
    out: list[str] = []

    def say(text: str) -> None:
        out.append(text)
        print(text, flush=True)

    say(HEAD.format(versions=versions()).rstrip())
    tried, ratios = list[str](), list[tuple[Mechanism, str, float]]()
    for m in all_mechanisms():
        if names is None or m.name in names:
            lines, others, how, ratio = case(m, 2 if options.quick else 4, options.quick, options.peers_only)
            ratios.append((m, how, ratio))
            say("\n".join(lines))
            tried += others
    if not options.only:
        say("\n## Forward dynamics of open chains\n\nMicroseconds for one evaluation at a random state.\n")
        sizes = (2, 10, 100) if options.quick else (2, 10, 100, 200)
        say("\n".join(forward_table(sizes, options.peers_only)))
    if not options.peers_only:
        from bench.rigid import cotree_side

        say("\n## Against the targets\n\n" + "\n".join(cotree_side.targets(ratios)))
    if tried and not options.peers_only:
        every = "\n".join([*out, *tried]).splitlines()
        say("\n## Without a compiler\n\n" + "\n".join(without_compiler(every)))
    if tried:
        say("\n## Also tried\n\n" + "\n".join(tried))
    if options.docs:
        DOCS.write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
