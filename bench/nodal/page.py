"""The page that the benchmark writes: tables, ratios, targets met or missed, and where the time goes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.flexible.cotree_side import Found
from bench.flexible.page import ms, verdict
from bench.nodal.scaling import exponent

HEAD = """# Performance: structures in nodal coordinates

What `python bench/nodal/run.py --docs` measured ({versions}).
The peer is installed with `pip install exudyn`. The structure is Xiang's ring truss (2015, section 4.3;
`cotree.structures.ring_truss`): 3 n uniform bars, n cables of 2 N, every second batten held upright. Error: the largest
distance of radius and rise from the motion of the one coordinate that a symmetric fold has
(`bench/nodal/reference.py`; {gap:.0e} m from the table of three other computations), over 11 or 91 output times. The
ratios depend on that number, so both are shown: every output ends a step of a one-step method. Times are {clock}
of the integration, best of several runs in one process, one thread: Cotree's integrator with the states at the output
times, Exudyn's `SolveDynamic` on an assembled system without files, as its fast module without range checks. "Whole
run" adds Cotree's start, all outputs and the solution object. Set-up (equations, code, compiler) is apart: the ratios,
Exudyn's time over Cotree's, hold for repeated runs.

Exudyn's model has the same 2 n points and the same equations: `NodePoint`, `ObjectConnectorDistance`,
`ObjectConnectorCoordinate`, cables as `ObjectConnectorSpringDamper` with a constant force, consistent masses as
`ObjectGenericODE2`. Nothing in it calls Python during a run.
"""

PAPER = {"paper": 3.25, "Adams": 18.0}
"""Seconds on the paper's machine, 9 s of motion."""
LIMIT = 0.3
"""Seconds that `paper` may take for 900 steps."""


@dataclass(frozen=True)
class Row:
    """What Exudyn needs: how, the error it has, seconds and set-up; infinite where an error is not met."""

    how: str
    error: float
    seconds: float
    setup: float


def even_steps(steps: int, own: Sequence[Found], peer: Sequence[Row] | None) -> list[str]:
    """Every method with the paper's number of steps."""
    lines = [
        f"## Ten sides, {steps} steps to 8.9 s",
        "",
        f"The paper's own run. On its machine the method takes {PAPER['paper']:g} s, and Adams, in relative "
        f"coordinates, {PAPER['Adams']:g} s.",
        "",
        "| program | method | steps | error m | time ms | us a step | whole run ms | set-up ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for found in own:
        kind = "compiled" if found.setting.compiled else "interpreted"
        name = f"| Cotree | `{found.setting.integrator}`, {kind}"
        if not math.isfinite(found.seconds):
            lines.append(f"{name}: {found.why} | | | | | | |")
            continue
        each = 1e6 * found.seconds / max(found.steps, 1)
        numbers = f"{found.steps} | {found.error:.1e} | {ms(found.seconds)} | {each:.0f}"
        lines.append(f"{name} | {numbers} | {ms(found.whole)} | {ms(found.setup)} |")
    for row in peer or ():
        numbers = f"{steps} | {row.error:.1e} | {ms(row.seconds)} | {1e6 * row.seconds / steps:.0f}"
        lines.append(f"| Exudyn | {row.how} | {numbers} | | {ms(row.setup)} |")
    lines += ["| Exudyn | not installed | | | | | | |"] if peer is None else []
    paper = [f for f in own if f.setting.integrator == "paper" and math.isfinite(f.seconds)]
    said = [
        f"{ms(f.seconds)} ms {'compiled' if f.setting.compiled else 'interpreted'}: {verdict(f.seconds < LIMIT)}"
        for f in paper
    ]
    return [
        *lines,
        "",
        f"Target: `paper` in under {LIMIT:g} s for {steps} steps ({'; '.join(said) or 'not measured'}).",
    ]


def equal_error(
    own: Mapping[float, Sequence[Found]], peer: Mapping[float, Sequence[Row]] | None, times: int
) -> list[str]:
    """The cheapest settings of both programs for each error, and all others below."""
    lines = [
        f"## Ten sides at equal error, {times} output times",
        "",
        "The longest step that meets the error and still does when halved, or the loosest tolerance that meets it with "
        "the next one.",
        "",
        "| error asked for | program | settings | error m | time ms | whole run ms | set-up ms | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    more, targets = [], list(own or peer or {})
    for target in targets:
        rows = sorted((peer or {}).get(target, ()), key=lambda row: row.seconds)
        first = rows[0] if rows and math.isfinite(rows[0].seconds) else None
        for compiled in (True, False):
            found = [f for f in own.get(target, ()) if f.setting.compiled == compiled]
            best = next((f for f in found if math.isfinite(f.seconds)), None)
            if best is None:
                continue
            ratio = f"{first.seconds / best.seconds:.2g}" if first else ""
            lines.append(
                f"| {target:g} m | Cotree | {settings(best)} | {best.error:.1e} | {ms(best.seconds)} | "
                f"{ms(best.whole)} | {ms(best.setup)} | {ratio} |"
            )
        if first:
            numbers = f"{first.error:.1e} | {ms(first.seconds)} | | {ms(first.setup)}"
            lines.append(f"| {target:g} m | Exudyn | {first.how} | {numbers} | 1 |")
        for f in own.get(target, ()):
            ratio = f", ratio {first.seconds / f.seconds:.2g}" if first and math.isfinite(f.seconds) else ""
            time = f": {ms(f.seconds)} ms, {f.error:.1e} m{ratio}" if math.isfinite(f.seconds) else ""
            more.append(f"- {target:g} m, Cotree, {settings(f)}{time}")
        for row in rows:
            time = f": {ms(row.seconds)} ms, {row.error:.1e} m" if math.isfinite(row.seconds) else ""
            more.append(f"- {target:g} m, Exudyn, {row.how}{time}")
    return [*lines, "", "All that was tried:", "", *more]


def settings(found: Found) -> str:
    """How Cotree ran."""
    if not math.isfinite(found.seconds):
        return f"`{found.setting.integrator}`: {found.why}"
    steps = f", {found.steps} steps" if found.setting.steps is None else ""
    return f"{found.setting}{steps}"


def scaling(own: Mapping[int, Any], peer: Mapping[int, Any], steps: int) -> list[str]:
    """Trusses of many sides, the exponent and the targets."""
    lines = [
        "## Many sides",
        "",
        f"{steps} even steps of 8.9/900 s, generalised-alpha with spectral radius 0.9 in both programs, so that errors "
        "are alike; Cotree interpreted, Exudyn with the quickest of its ways that were tried. Each truss in a process "
        "of its own. Set-up of Cotree: equations, then the native functions of the step.",
        "",
        "| sides | bars | coordinates | program | settings | error m | steps | ms a step | all steps s | set-up s | "
        "peak GB | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for sides in own or peer:
        a, b = own.get(sides), peer.get(sides)
        for name, cells in (("Cotree", a), ("Exudyn", b)):
            if cells is None:
                lines.append(f"| {sides} | {3 * sides} | {6 * sides} | {name} | not done in time | | | | | | | |")
                continue
            each = cells["seconds"] / cells["steps"]
            setup = f"{cells['equations']:.2f} + {cells['native']:.2f}" if name == "Cotree" else f"{cells['setup']:.2f}"
            ratio = f"{b['seconds'] / b['steps'] / (a['seconds'] / a['steps']):.2g}" if a and b else ""
            steps_done = f"{cells['error']:.1e} | {cells['steps']} | {1e3 * each:.3g} | {cells['seconds']:.2f}"
            rest = f"{setup} | {cells['peak']:.2f} | {ratio if name == 'Cotree' else 1}"
            lines.append(f"| {sides} | {3 * sides} | {6 * sides} | {name} | {cells['how']} | {steps_done} | {rest} |")
    lines.append("")
    for name, every in (("Cotree", own), ("Exudyn", peer)):
        done = {sides: cells["seconds"] / cells["steps"] for sides, cells in every.items() if cells}
        if len(done) > 1:
            power = exponent(list(done), list(done.values()))
            keys = list(done)
            last = exponent(keys[-2:], [done[k] for k in keys[-2:]])
            said = f" (target at most 1.2: {verdict(power <= 1.2)})" if name == "Cotree" else ""
            lines.append(
                f"- {name}: the time of a step grows as n^{power:.2f}{said}, from {keys[-2]} to {keys[-1]} sides as "
                f"n^{last:.2f}"
            )
    big = own.get(1000)
    if big:
        seconds, whole = big["seconds"], big["whole"]
        good = seconds < 60 and big["peak"] < 2
        lines.append(
            f"- Cotree, 1000 sides: {big['steps']} steps in {seconds:.1f} s, {whole:.1f} s with all outputs, peak "
            f"{big['peak']:.2f} GB (target under 60 s and 2 GB: {verdict(good)})"
        )
    return lines


WHAT = {
    "parts": "Newton's matrix and residual",
    "correction": "a correction: the same with a sparse QR and its solution",
    "velocity_correction": "projection of the speeds, with a sparse QR",
    "after": "the state after the step",
    "judge": "the loop's bookkeeping, which copies the state",
    "powers": "powers",
    "once": "a correction with its linear systems",
    "renewed": "modes and modal matrix made anew",
    "equations": "constraints, A A^T and second-order terms",
    "terms": "constraints, forces, masses and G G^T",
    "frame": "G, G G^T and M",
    "slopes": "stiffness and damping",
    "mass": "M",
    "force": "f",
}


def where_time_goes(every: Mapping[str, Mapping[str, float] | None]) -> list[str]:
    """Parts of a step, each called alone."""
    lines = ["## Where the time of a step goes", "", "Each function called alone, interpreted, in us.", ""]
    for title, cells in every.items():
        if cells:
            rest = [f"{WHAT[name]} {1e3 * value:.3g}" for name, value in cells.items() if name != "step"]
            lines.append(f"- {title}: {1e3 * cells['step']:.0f} a step; {', '.join(rest)}")
    return lines
