"""Write everything in docs/ that is computed: the pictures, the gallery page and the numbers of the validation page.

Run it as ``make figures``, or with the name of a folder to write there instead. Pictures in space need Chromium
(docs/snapshots.py); without it the old ones are kept. Output and pictures of pages that are run come last
(docs/pages.py), in docs/ itself only.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from functools import cache
from math import pi
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import cotree as ct
from cotree.graph import LinearGraph, sample_tree
from cotree.io import read_model
from cotree.model.edge import Edge

DOCS = Path(__file__).resolve().parent
EXAMPLES = DOCS.parent / "examples"

Row = tuple[str, str, str, str, str, str]

QUICK = "--quick" in sys.argv
"""Leave out pictures in space, and what compares several models of flexible bodies, structures and bond graphs."""


def read(name: str) -> tuple[ct.Model, dict[str, object], list[list[str]]]:
    """The model of an example, its run options and its plots."""
    file = read_model(EXAMPLES / f"{name}.yaml", ct.Model)
    groups = file.run.plot if any(isinstance(entry, list) for entry in file.run.plot) else [file.run.plot]
    return file.model, {"t_end": file.run.t_end, **file.run.options()}, groups


@cache
def solved(name: str) -> tuple[ct.Model, ct.Solution, list[list[str]]]:
    """The model of an example, its solution and its plots."""
    model, options, groups = read(name)
    return model, model.simulate(**options), groups


def readme_picture(folder: Path) -> None:
    """One turn of the demo's crank, as the report shows it."""
    model, solution, groups = solved("four_bar")
    turn = np.interp(2 * pi, solution["O.angle"] - solution["O.angle"][0], solution.t) / solution.t[-1]
    with TemporaryDirectory() as place:
        report = model.report(solution, Path(place) / "four_bar.html", plots=groups)
        film = runpy.run_path(str(DOCS / "snapshots.py"))["film"]
        film(report, folder / "images" / "four_bar.webp", start=0.0, end=turn, before="cotree.show('traces', true)")


def validation(folder: Path) -> None:
    """The tables of numbers; what is not a number stands in the page's own text."""
    page = (DOCS / "validation.md").read_text(encoding="utf-8")
    for name, rows in (
        ("networks", networks()),
        ("rigid", rigid()),
        ("flexible", flexible()),
        ("stress", stress()),
        ("deployable", deployable()),
        ("bond", bond()),
        ("machines", runpy.run_path(str(DOCS / "machines.py"))["table"]()),
        ("energy", energies()),
    ):
        if QUICK and name in ("flexible", "stress", "deployable", "bond", "machines"):
            continue
        head, begin, rest = page.partition(f"<!-- {name} -->\n")
        tail = rest[rest.index("<!-- end -->") :]
        page = head + begin + "\n".join(rows) + "\n" + tail
    (folder / "validation.md").write_text(page, encoding="utf-8")


def networks() -> Iterator[str]:
    """Numbers of networks against references."""
    yield "| case | quantity | reference | Cotree | asked | source |"
    yield "|---|---|---|---|---|---|"
    for row in (*dc_motor(), *ladder(), *five_trees()):
        yield "| " + " | ".join(row) + " |"


def dc_motor() -> Iterator[Row]:
    """R = 1, L = 0.5, K = 0.01, J = 0.01, b = 0.1 at 1 V."""
    model, _, _ = read("dc_motor")
    poles = np.sort(model.linearise().poles().real)
    known = "closed form"
    for value, exact in zip(poles, (-9.9974992, -2.0025008), strict=True):
        yield "DC motor", "pole (1/s)", f"{exact:.7f}", f"{value:.7f}", "1e-7", known
    solution = model.simulate(1.0, times=[1.0], rtol=1e-10)
    yield (
        "DC motor",
        "speed at 1 s (rad/s)",
        "0.0830371112",
        f"{solution['shaft.angular_velocity'][0]:.10f}",
        "1e-7",
        known,
    )
    late = model.simulate(40.0, times=[40.0], rtol=1e-10)
    yield "DC motor", "steady speed (rad/s)", "0.0999001", f"{late['shaft.angular_velocity'][0]:.7f}", "1e-7", known


def ladder() -> Iterator[Row]:
    """A Butterworth filter halves the power at its cut-off: |H| = 1/2 / sqrt(1 + (f/fc)^10)."""
    model, _, _ = read("ladder_filter")
    ratios = np.array([0.5, 1.0, 2.0])
    response = model.linearise(outputs=["RL.voltage"]).frequency_response(2 * np.pi * 1000 * ratios)[:, 0, 0]
    for ratio, value in zip(ratios, np.abs(response), strict=True):
        exact = 0.5 / np.sqrt(1 + ratio**10)
        yield (
            "fifth-order ladder",
            f"gain at {ratio:g} fc",
            f"{exact:.12f}",
            f"{value:.12f}",
            "1e-10",
            "transfer function",
        )


def five_trees() -> Iterator[Row]:
    """Largest difference of any current between McPhee's network in its normal tree and in five others."""
    model, options, _ = read("mcphee_network")
    graph: LinearGraph = model.graph()
    trees = [sample_tree(graph, seed) for seed in range(20)]
    others = list(dict.fromkeys(tree.branches for tree in trees if tree.branches != model.tree().branches))[:5]
    reference = model.simulate(**options, rtol=1e-11)
    names = [f"{edge.name}.current" for edge in graph.edges if isinstance(edge, Edge)]
    worst = 0.0
    for branches in others:
        tree = next(tree for tree in trees if tree.branches == branches)
        other = model.simulate(**options, rtol=1e-11, tree=tree)
        worst = max(worst, *(float(np.abs(other[name] - reference[name]).max()) for name in names))
    shown = "below 1e-9" if worst < 1e-9 else f"{worst:.1e}"
    yield (
        "McPhee's network",
        f"currents in {len(others)} other trees (A)",
        "the same",
        f"difference {shown}",
        "1e-9",
        "normal tree",
    )


def rigid() -> Iterator[str]:
    """Largest errors of published benchmarks of rigid mechanisms, rounded up to a power of ten."""
    sys.path.insert(0, str(DOCS.parent / "tests"))
    from benchmarks import rigid_models as models

    yield "| case | quantity | options | error | asked | source |"
    yield "|---|---|---|---|---|---|"
    for case, quantity, options, error, asked, source in _rigid_rows(models):
        power = int(np.ceil(np.log10(max(error, 1e-15))))
        yield f"| {case} | {quantity} | {options} | below 1e{power:d} | {asked} | {source} |"


def _rigid_rows(models: Any) -> Iterator[tuple[str, str, str, float, str, str]]:
    sol = models.pendulum().simulate(10.0, times=[0, 1, 10], rtol=1e-12)
    exact = ((0.9862917511, -0.1650108531), (-0.2750874626, -0.9614192051))
    off = np.abs(sol["bob.position"][1:, :2] - exact).max()
    yield "A01 pendulum", "position at 1 s and 10 s (m)", "adams, rtol 1e-12", off, "10 digits", "elliptic functions"
    audit = models.pendulum().simulate(10.0).energy()
    yield (
        "A01 pendulum",
        "energy over 10 s (J)",
        "defaults",
        float(np.abs(audit.closure).max()),
        "5e-5",
        "IFToMM criterion",
    )
    for tree in ("joint", "absolute"):
        sol = models.n_four_bars(2).simulate(10.0, tree=tree, times=[0, 4, 10], rtol=1e-9, integrator="rk8")
        exact = ((0.1176161024, 0.9930591385), (0.3284581115, 0.9445185382))
        off = np.abs(sol["up0.b.position"][1:, :2] - exact).max()
        yield "A02, two loops", "top point at 4 s and 10 s (m)", f"rk8, rtol 1e-9, {tree}", off, "1e-6", "quadrature"
    sol = models.n_four_bars(40).simulate(10.0, times=[0, 10], rtol=1e-9, integrator="rk8")
    off = np.abs(sol["up0.b.position"][1, :2] - (0.1805122267, 0.9835727406)).max()
    yield "A02, forty loops", "top point at 10 s (m)", "rk8, rtol 1e-9", off, "1e-5", "quadrature"
    sol = models.andrews().simulate(0.03, times=[0, 0.03], rtol=1e-11, integrator="rk8")
    end = (15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948)
    end = (*end, 0.5244099658805304, 0.5347301163226948, 1.048080741042263)
    off = max(abs(sol[f"{name}.angle"][1] - value) for name, value in zip(models.ANDREWS_START, end, strict=True))
    yield "A03 Andrews' squeezer", "angles at 0.03 s (rad)", "rk8, rtol 1e-11", off, "1e-8", "IVP test set"
    audit = models.bricard().simulate(10.0, rtol=1e-10, integrator="rk8").energy()
    yield "A04 Bricard", "energy over 10 s (J)", "rk8, rtol 1e-10", float(np.abs(audit.closure).max()), "1e-6", "IFToMM"
    sol = models.car_axis().simulate(3.0, times=[0, 3], rtol=1e-11, integrator="rk8")
    found = (*sol["left.position"][1][:2], *sol["right.position"][1][:2])
    off = np.abs(np.subtract(found, (0.0493455784275403, 0.496989460230171, 1.04174252488542, 0.373911027265361))).max()
    yield "Car axis", "positions at 3 s (m)", "rk8, rtol 1e-11", off, "1e-7", "IVP test set"


def flexible() -> Iterator[str]:
    """Numbers of flexible mechanisms against independent solutions; distances of curves are rounded up."""
    yield "| case | quantity | reference | Cotree | asked | source |"
    yield "|---|---|---|---|---|---|"
    for row in (*spin_up(), *flexible_four_bar(), *panels(), *slider_crank()):
        yield "| " + " | ".join(row) + " |"


def spin_up() -> Iterator[Row]:
    """The beam on a driven hub, with clamped modes on 16 elements."""
    model = runpy.run_path(str(EXAMPLES / "flexible_spin_up.py"))["model"]
    case, tip = "spin-up of a beam", "beam.end.deflection.y"
    found = 2 * pi * model(elements=16).modes(t=0.0).frequencies[0]
    yield case, "first frequency at rest (rad/s)", "3.79773", f"{found:.5f}", "digits", "closed form"
    for modes, known in ((1, "-0.57826"), (2, "-0.57355"), (4, "-0.57434")):
        least = model(elements=16, modes=modes, stiffening="rigid").simulate(9.0, points=1801)[tip].min()
        said = f"least deflection, stiffening rigid, {modes} mode{'s' * (modes > 1)} (m)"
        yield case, said, known, f"{least:.5f}", "digits", "linear theory"
    least = model(elements=16, modes=4).simulate(9.0, points=1801)[tip].min()
    yield case, "least deflection, stiffening full, 4 modes (m)", "-0.57377", f"{least:.5f}", "2e-3", "elastica"
    soft = model(elements=16, stiffening="none").simulate(10.0, times=[7.5, 10.0])[tip]
    for time, known, value in ((7.5, "-1.4645", f"{soft[0]:.4f}"), (10, "-72", f"{soft[1]:.0f}")):
        yield case, f"deflection at {time:g} s without stiffening (m)", known, value, "digits", "linear theory"


def flexible_four_bar() -> Iterator[Row]:
    """The mechanism of Richard 2012, section 5.1, every 5 degrees over two turns."""
    made = runpy.run_path(str(EXAMPLES / "flexible_four_bar.py"))
    known, source = made["reference"](), "sine modes"
    for name, reference, asked in (
        ("linear", "linear_2_modes", "1e-4"),
        ("axial force of the rigid motion", "linear_with_axial_force_stiffening_2_modes", "1e-4"),
        ("full, links stretch", "extensible_elastica_converged", "shown"),
    ):
        solution = made["model"](**made["THEORIES"][name]).simulate(4 * pi / 210, points=145)
        off = max(np.abs(solution[f"{k}.mid.offset.y"] - known[reference][k]).max() for k in ("AB", "BC"))
        source = "elastica" if asked == "shown" else source
        yield "flexible four-bar", f"mid-link deflections, {name} (m)", "curves", _within(off), asked, source


def panels() -> Iterator[Row]:
    """The deployment of Richard 2012, section 5.2, every second; and frequencies of what is deployed."""
    known = runpy.run_path(str(EXAMPLES / "flexible_panels.py"))["reference"]()
    data = read("flexible_panel_strips")[0].to_data()
    for stiffening, reference, asked in (("none", "linear", "digits"), ("full", "large_rotation", "3e-4")):
        for panel in ("panel1", "panel2"):
            data["components"][panel] |= {"stiffening": stiffening, "modes": 4}
        solution = ct.Model.from_mapping(data).simulate(20.0, times=known["t"])
        pairs = [(f"{panel}.centre.deflection.y", known[reference][panel]) for panel in ("panel1", "panel2")]
        off = max(np.abs(solution[name] - values).max() for name, values in pairs)
        said = f"centre deflections, {reference.replace('_', ' ')} (m)"
        source = "polynomials" if reference == "linear" else "exact beams"
        yield "two panels as strips", said, "curves", _within(off), asked, source
    for panel in ("panel1", "panel2"):
        data["components"][panel] |= {"elements": 16, "modes": 6}
    strips, shells = ct.Model.from_mapping(data), read("flexible_panels")[0]
    for case, model, asked in (("strips", strips, "digits"), ("shells", shells, "a few %")):
        found = 2 * pi * model.modes(t=20.0).frequencies
        for k in range(3):
            said, exact = f"frequency {k + 1}, deployed (rad/s)", f"{known['deployed_rad_s'][k]:.4f}"
            yield f"two panels as {case}", said, exact, f"{found[k]:.4f}", asked, "polynomials"


def slider_crank() -> Iterator[Row]:
    """Simeon's slider-crank with a linear rod that does not stretch, at 0.1 s."""
    data = read("flexible_slider_crank")[0].to_data()
    data["components"]["rod"] |= {"stiffening": "none", "elements": 16}
    solution = ct.Model.from_mapping(data).simulate(0.1, times=[0.1])
    for k, known in ((1, 1.893192460247178e-4), (2, 2.375751865617931e-5)):
        said, value = f"bending mode {k} at 0.1 s (mm)", 1000 * solution[f"rod.mode{k}"][0]
        yield "flexible slider-crank", said, f"{1000 * known:.4f}", f"{value:.4f}", "1e-3 of 1.6 mm", "IVP test set"


def stress() -> Iterator[str]:
    """Section forces and stress of flexible bodies; errors are rounded up to a power of ten."""
    yield "| case | against | choices of coordinates | error | asked | test |"
    yield "|---|---|---|---|---|---|"
    for row in runpy.run_path(str(DOCS / "stress.py"))["rows"]():
        yield "| " + " | ".join((*row[:-1], f"`{row[-1]}`")) + " |"


def deployable() -> Iterator[str]:
    """Numbers of structures in nodal coordinates; distances are rounded up."""
    yield "| case | quantity | reference | Cotree | asked | source |"
    yield "|---|---|---|---|---|---|"
    for row in runpy.run_path(str(DOCS / "deployable.py"))["rows"]():
        yield "| " + " | ".join(row) + " |"


def bond() -> Iterator[str]:
    """Numbers of bond graphs; distances are rounded up."""
    yield "| case | quantity | reference | Cotree | asked | source |"
    yield "|---|---|---|---|---|---|"
    for row in runpy.run_path(str(DOCS / "bond_graphs.py"))["rows"]():
        yield "| " + " | ".join(row) + " |"


def _within(distance: float) -> str:
    """A distance rounded up to one digit."""
    power = int(np.floor(np.log10(distance)))
    return f"within {int(np.ceil(distance / 10.0**power))}e{power}"


def energies() -> Iterator[str]:
    """The energy audit of every example, rounded up to a power of ten."""
    yield "| example | integrator | largest energy (J) | balance closes to (relative) |"
    yield "|---|---|---|---|"
    for path in sorted(EXAMPLES.glob("*.yaml")):
        _, solution, _ = solved(path.stem)
        audit = solution.energy()
        power = int(np.ceil(np.log10(max(audit.error, 1e-12))))
        yield f"| {path.stem} | {solution.statistics.integrator} | {audit.scale:.4g} | below 1e{power:d} |"


def main() -> None:
    """Write into docs/ itself, or into the folder named on the command line."""
    named = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    folder = Path(named[0]) if named else DOCS
    (folder / "images").mkdir(parents=True, exist_ok=True)
    if not QUICK:
        readme_picture(folder)
    gallery = runpy.run_path(str(DOCS / "gallery.py"))
    (folder / "gallery.md").write_text(gallery["page"](read), encoding="utf-8")
    gallery["pictures"](folder / "images", solved, QUICK)
    runpy.run_path(str(DOCS / "bond_graphs.py"))["figures"](folder)
    validation(folder)
    (folder / "diagnostics.md").write_text(runpy.run_path(str(DOCS / "codes.py"))["page"](), encoding="utf-8")
    (folder / "licences.md").write_text(runpy.run_path(str(DOCS / "licences.py"))["page"](), encoding="utf-8")
    if folder == DOCS:
        runpy.run_path(str(DOCS / "pages.py"))["rewrite_all"]()


if __name__ == "__main__":
    main()
