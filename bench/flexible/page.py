"""The page that the benchmark writes: tables, ratios, what was missed and where the time goes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.flexible import costs as measured
from bench.flexible.cotree_models import Form
from bench.flexible.cotree_side import Found, profile_line

HEAD = """# Performance: flexible mechanisms

What `python bench/flexible/run.py --docs` measured ({versions}).
The peer is installed with `pip install exudyn`. Error: the largest distance of the deflections (tip across the hub's
axis; middles of coupler and follower from their chords) from a reference over its grid of 31, 61 or 145 times; the
references come from equations of their own (`bench/flexible/references.py`). Both programs run with their cheapest
setting that meets the error, found by a search over ways of modelling, methods, steps and tolerances: the longest step
that meets the error and still does when halved, or the loosest tolerance that meets it with the next one. What was
slower is listed below. Times in ms, best of several runs of one process, one thread: Exudyn's `SolveDynamic` on an
assembled system without files, as its fast module without range checks; Cotree's integrator with the states at the
output times. "Whole run" adds Cotree's assembly at the start, all outputs and the solution object. Set-up (finite
elements, equations, code, compiler, the rough run that finds the sizes of the variables) is apart. Ratio: Exudyn's time
over Cotree's.

Models: beams of Euler and Bernoulli, as the references are. Linear cases: both programs have a floating frame with 2
modes a link, clamped at the hub or pinned on the chord; Exudyn takes exact shapes, Cotree those of 8 finite elements.
Exudyn's floating frame has no geometric stiffening, so its spin-up gets the tension as springs by hand; Cotree's is an
option of the beam. Against the elastica Exudyn may use its own nonlinear beams, Cotree several beams in series with
axial stretch, integrated by implicit methods only. The sources are smooth, so Cotree runs with `max_step` as long as
the run. The ratios hold for repeated runs: in a single one set-up counts, and Cotree's is longer than most of these
runs.

| mechanism | program | settings | error m | time ms | whole run ms | set-up ms | ratio |
|---|---|---|---|---|---|---|---|"""


@dataclass(frozen=True)
class Comparison:
    """What both programs need for one mechanism, by the error asked for; the peer's is None where it is missing."""

    title: str
    peer: Mapping[float, Sequence[Any] | None]
    own: Mapping[float, Sequence[Found]]

    def best(self, target: float, code: str = "") -> Found | None:
        """Cotree's quickest, of one kind of code where that is asked for."""
        able = [each for each in self.own.get(target, ()) if math.isfinite(each.seconds)]
        able = [each for each in able if not code or each.setting.compiled == (code == "compiled")]
        return min(able, key=lambda each: each.seconds, default=None)

    def exudyn(self, target: float) -> Any:
        """Exudyn's quickest."""
        able = [row for row in self.peer[target] or () if math.isfinite(row.seconds)]
        return min(able, key=lambda row: row.seconds, default=None)

    def ratio(self, target: float, code: str = "") -> float:
        """Exudyn's time over Cotree's; not a number where one is missing."""
        own, peer = self.best(target, code), self.exudyn(target)
        return peer.seconds / own.seconds if own is not None and peer is not None else math.nan

    def lines(self) -> list[str]:
        """Rows of the table."""
        result = []
        for target, rows in self.peer.items():
            name = f"**{self.title}**, {target:g} m"
            for code in ("compiled", "interpreted") if self.own else ():
                found = self.best(target, code)
                if found is None:
                    result.append(f"| {name} | Cotree | {code}: not met | | | | | |")
                else:
                    ratio = self.ratio(target, code)
                    shown = f"{ratio:.2g}" if ratio == ratio else ""
                    result.append(
                        f"| {name} | Cotree | {found} | {found.error:.1e} | {ms(found.seconds)} | {ms(found.whole)} | "
                        f"{ms(found.setup)} | {shown} |"
                    )
                name = ""
            peer = self.exudyn(target)
            if rows is None:
                result.append(f"| {name} | Exudyn | not installed | | | | | |")
            elif peer is None:
                result.append(f"| {name} | Exudyn | not met | | | | | |")
            else:
                numbers = f"{peer.error:.1e} | {ms(peer.seconds)} | | {ms(peer.setup)}"
                result.append(f"| {name} | Exudyn | {peer.how} | {numbers} | 1 |")
        return result


def ms(seconds: float) -> str:
    """Milliseconds with three digits."""
    value = 1e3 * seconds
    return (f"{value:.3g}" if value < 1000 else f"{value:.0f}") if math.isfinite(seconds) else "–"


def verdict(good: bool) -> str:
    """Met or missed."""
    return "met" if good else "missed"


def summary(every: Sequence[Comparison]) -> list[str]:
    """Ratios against the target."""
    lines = ["## Against the target", "", "Exudyn's time over Cotree's; the target is 10.", ""]
    lines += ["| mechanism | error m | compiled | interpreted | |", "|---|---|---|---|---|"]
    good = count = 0
    for each in every:
        for target in each.peer:
            ratio = each.ratio(target)
            cells = [each.ratio(target, code) for code in ("compiled", "interpreted")]
            shown = " | ".join(f"{value:.2g}" if value == value else "–" for value in cells)
            if each.best(target) is None:
                said = "Cotree does not meet the error"
            else:
                said = verdict(ratio >= 10) if ratio == ratio else "no comparison"
            good, count = good + (ratio >= 10), count + 1
            lines.append(f"| {each.title} | {target:g} | {shown} | {said} |")
    return [*lines, "", f"So {good} of {count} reach 10."]


def where_time_goes(every: Sequence[Comparison]) -> list[str]:
    """Parts of a run where the target is missed."""
    lines = ["## Where the time goes", "", "Where the target is missed, for Cotree's quickest setting:", ""]
    for each in every:
        for target in each.peer:
            found = each.best(target)
            if found is not None and not each.ratio(target) >= 10 and found.made is not None:
                lines.append(f"- {each.title}, {target:g} m: {profile_line(found.made, found)}")
    return lines


def also_tried(every: Sequence[Comparison]) -> list[str]:
    """All other settings."""
    lines = ["## Also tried", ""]
    for each in every:
        for target, rows in each.peer.items():
            first = {each.best(target, "compiled"), each.best(target, "interpreted")}
            for found in each.own.get(target, ()):
                if found not in first:
                    time = f": {ms(found.seconds)} ms" if math.isfinite(found.seconds) else ""
                    lines.append(f"- {each.title}, {target:g} m, Cotree, {found}{time}")
            for row in list(rows or ())[1:]:
                time = f": {ms(row.seconds)} ms" if math.isfinite(row.seconds) else ""
                lines.append(f"- {each.title}, {target:g} m, Exudyn, {row.how}{time}")
    return lines


COLUMNS = {
    "interpreted us": "evaluation us, interpreted",
    "compiled us": "compiled",
    "rk4 interpreted us": "rk4 step us, interpreted",
    "rk4 compiled us": "compiled",
    "generalised_alpha interpreted us": "generalised-alpha step us, interpreted",
    "generalised_alpha compiled us": "compiled",
}
"""What is measured for every four-bar, with the table's heading."""


def costs(quick: bool) -> list[str]:
    """What elastic coordinates cost in one evaluation and one step, and what meshes cost."""
    forms = {"rigid links": None} | {f"2 modes a link, stiffening {k}": Form(2, k) for k in ("none", "rigid", "full")}
    found = {name: measured.evaluation(form, 3 if quick else 9) for name, form in forms.items()}
    base = found["rigid links"]
    lines = [
        "## Cost of elastic coordinates",
        "",
        "The four-bar with both links rigid, and with 2 modes a link. Evaluation: accelerations and multipliers with",
        "one Newton step onto the constraints (`Mechanism.settled(1)`), many in one native call. Step: a run of two",
        f"turns with {measured.STEPS} even steps, time in the integrator for each. In brackets: over that of the rigid",
        "four-bar.",
        "",
        "| four-bar | speeds | instructions | " + " | ".join(COLUMNS.values()) + " |",
        "|" + "---|" * (3 + len(COLUMNS)),
    ]
    verdicts = []
    for name, cells in found.items():
        shown = [f"{cells['instructions']:.0f} ({cells['instructions'] / base['instructions']:.2f})"]
        for key in COLUMNS:
            shown.append(f"{cells[key]:.2f} ({cells[key] / base[key]:.2f})" if key in cells else "–")
        lines.append(f"| {name} | {cells['speeds']:.0f} | " + " | ".join(shown) + " |")
        if cells is not base:
            steps = [cells[key] / base[key] for key in COLUMNS if key in cells and key.startswith(("rk4", "gen"))]
            said = verdict(max(steps) <= 2)
            verdicts.append(f"- {name}: {min(steps):.2f} to {max(steps):.2f} times ({said})")
    return [*lines, "", "Target: a step within 2 times that of the rigid four-bar.", "", *verdicts, "", *meshes(quick)]


def meshes(quick: bool) -> list[str]:
    """Time and memory of the preparation of panels."""
    small = measured.apart("panel", 4, 2, 9)
    lines = [
        "## Meshes",
        "",
        "A square panel with two rigid edges, from its description to the tables of the time loop, nothing kept from "
        "before; each in a process of its own, one thread.",
        "",
        "| what | time s | peak memory GB | target |",
        "|---|---|---|---|",
        f"| {small['triangles']:.0f} triangles, {small['shapes']:.0f} shapes, warm | {small['again']:.3f} (first "
        f"{small['first']:.2f}) | {small['peak']:.2f} | below 0.1 s: {verdict(small['again'] < 0.1)} |",
    ]
    if not quick:
        large = measured.apart("panel", 100, 20, 1)
        good = large["first"] < 30 and large["peak"] < 2
        lines.append(
            f"| {large['triangles']:.0f} triangles, {large['shapes']:.0f} shapes, 20 of them modes | "
            f"{large['first']:.1f} | {large['peak']:.2f} | below 30 s and 2 GB: {verdict(good)} |"
        )
    many = measured.apart("assemble", 130)
    lines.append(
        f"| {many['degrees']:.0f} shell degrees of freedom assembled | {many['first']:.2f} | {many['peak']:.2f} | "
        f"seconds: {verdict(many['first'] < 10)} |"
    )
    return lines
