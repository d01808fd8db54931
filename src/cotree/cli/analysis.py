"""``cotree modes``, ``cotree statics`` and ``cotree kinematics``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cotree.cli.console import OUTSIDE, emit, table
from cotree.cli.options import (
    Chosen,
    EndTime,
    Json,
    ModelChoice,
    Points,
    Quiet,
    ReportOut,
    ResultsOut,
    Time,
    check_ending,
    seconds,
    takes_model,
)
from cotree.errors import CotreeError, nearest
from cotree.system import Diagnostic, labelled, outside_by, undetermined_by

if TYPE_CHECKING:
    from cotree.solve.modes import Modes
    from cotree.system import Diagnostic

REACTION = re.compile(r"\.(force|torque|moment|tension)(\.[xyz])?$")
MOST_ROWS = 60
ROUNDING, NOTHING = 1e-12, 1e-18


@takes_model
def modes(
    choice: ModelChoice,
    about: Annotated[
        str, typer.Option(metavar="STATE", help="equilibrium or start: the state about which motions are small")
    ] = ("equilibrium"),
    moment: Time = None,
    most: Annotated[int, typer.Option(metavar="N", min=1, help="modes to print, slowest first")] = 40,
    as_json: Json = False,
) -> None:
    """Print natural frequencies and damping.

    About the static equilibrium, or about the start. Of a network they are those of its currents and voltages about
    the operating point.
    """
    chosen, t = _read(choice, moment, "--about", about, ("equilibrium", "start"))
    with chosen.about():
        equations = chosen.model.equations(chosen.tree)
        if equations.mechanics is None:
            found, main = _network_modes(chosen, about, t)
        else:
            found = chosen.model.modes(tree=chosen.tree, about=about, t=t, parameters=chosen.changes)
            main = found.most
    rows = list(zip(found.frequencies.tolist(), found.damping.tolist(), found.eigenvalues.tolist(), main, strict=True))
    if as_json:
        names = ("frequency", "damping", "eigenvalue", "moves_most")
        listed = [dict(zip(names, row, strict=True)) for row in rows]
        told = {"model": chosen.model.name, "about": about, "stable": found.stable, "modes": listed}
        emit(told | {"point": found.point, "diagnostics": [each.to_data() for each in found.diagnostics]})
        _leave(found.diagnostics)
        return
    number = "1 mode" if len(rows) == 1 else f"{len(rows)} modes"
    print(f"{chosen.model.name}: {number} about the {about}, {'' if found.stable else 'not '}stable")
    _print_notes(found.diagnostics)
    columns = {"mode": "right", "frequency [Hz]": "right", "damping": "right", "moves most": "left"}
    shown = [[f"{k + 1}", f"{f:.6g}", f"{z:.4g}", name] for k, (f, z, _, name) in enumerate(rows[:most])]
    if shown:
        table(columns, shown)
    if len(rows) > most:
        print(f"and {len(rows) - most} more: --most {len(rows)}")
    _leave(found.diagnostics)


def _print_notes(diagnostics: Iterable[Diagnostic]) -> None:
    """What a reader of results has to know; plain facts are for `cotree check`."""
    for each in diagnostics:
        if each.severity != "info" and each.code != "no-inertia":
            print(each)


def _read(
    choice: ModelChoice, moment: str | None, option: str, word: str, words: Sequence[str]
) -> tuple[Chosen, float]:
    """The model and the time, once the word of an option is known to be one of two."""
    if word not in words:
        raise CotreeError(f"{option} {word}", expected=" or ".join(words), remedy=nearest(word, words))
    return choice.read(), seconds("--time", moment) or 0.0


def _network_modes(chosen: Chosen, about: str, t: float) -> tuple[Modes, list[str]]:
    """Modes of first-order equations, and the state that takes part most in each, whatever the units are."""
    import numpy as np

    from cotree.solve.modes import Modes

    at = "steady" if about == "equilibrium" else None
    system = chosen.model.linearise(tree=chosen.tree, outputs=(), inputs=(), at=at, t=t, parameters=chosen.changes)
    values, shapes = np.linalg.eig(system.A) if len(system.A) else (np.zeros(0), np.zeros((0, 0)))
    part = np.abs(shapes * np.linalg.pinv(shapes).T)
    keep = np.flatnonzero(values.imag >= 0)
    keep = keep[np.argsort(np.abs(values[keep]), kind="stable")]
    main = [system.states[k] for k in part[:, keep].argmax(axis=0)] if len(keep) else []
    return Modes(values[keep].astype(complex), system.states, shapes[:, keep].astype(complex), {}, system.point), main


@takes_model
def statics(
    choice: ModelChoice,
    moment: Time = None,
    seek: Annotated[
        str, typer.Option(metavar="WHICH", help="stable, or nearest to the start even if it would tip over")
    ] = "stable",
    everything: Annotated[bool, typer.Option("--all", help="print all results")] = False,
    as_json: Json = False,
) -> None:
    """Find the static equilibrium.

    Coordinates and reactions are printed; of a network its operating point.
    """
    chosen, t = _read(choice, moment, "--seek", seek, ("stable", "nearest"))
    with chosen.about():
        values, units, state, stability, said = _rest(chosen, t, seek)
    if as_json:
        told = {"model": chosen.model.name, "t": t, "stability": stability, "state": state}
        emit(told | {"values": values, "units": units, "diagnostics": [each.to_data() for each in said]})
        _leave(said)
        return
    print(f"{chosen.model.name}: {f'{stability} equilibrium' if stability else 'operating point'} at t = {t:g} s")
    _print_notes(said)
    cleaned = values if everything else _without_rounding(values, units)
    names = list(values)
    if not everything:
        reactions = [name for name in values if REACTION.search(name) and cleaned[name]]
        found = chosen.model.equations(chosen.tree)
        both = [name for name in (*found.q.names, *found.x.names) if name in values] + reactions
        names = both if stability else [name for name in values if not name.endswith(".power")]
    shown = names if everything else names[:MOST_ROWS]
    marks = undetermined_by(said), outside_by(said)
    rows = [[labelled(name, *marks), units[name], f"{cleaned[name] + 0.0:.8g}"] for name in shown]
    if rows:
        table({"result": "left", "unit": "left", "value": "right"}, rows)
    if len(shown) < len(values):
        print(f"{len(values) - len(shown)} other results: --all")
    _leave(said)


def _leave(said: Iterable[Diagnostic]) -> None:
    """End with an exit code of its own where a result is outside its theory."""
    if outside_by(said):
        raise typer.Exit(OUTSIDE)


def _without_rounding(values: dict[str, float], units: dict[str, str]) -> dict[str, float]:
    """The values, with zero for what is below the last digits of the largest in the same unit, or far below all."""
    largest: dict[str, float] = {}
    for name, value in values.items():
        largest[units[name]] = max(largest.get(units[name], 0.0), abs(value))
    floor = NOTHING * max(largest.values(), default=0.0)
    return {
        name: 0.0 if abs(value) < max(ROUNDING * largest[units[name]], floor) else value
        for name, value in values.items()
    }


def _rest(
    chosen: Chosen, t: float, seek: str
) -> tuple[dict[str, float], dict[str, str], dict[str, float], str, tuple[Diagnostic, ...]]:
    """Values, units, state, stability and diagnostics of a state of rest; an operating point's is not judged."""
    model = chosen.model
    equations = model.equations(chosen.tree)
    if equations.mechanics is not None or len(equations.held):
        rest = model.static_equilibrium(tree=chosen.tree, t=t, seek=seek, parameters=chosen.changes)
        stability = rest.stability if equations.mechanics is not None else ""
        return dict(rest.values), dict(rest.units), dict(rest.state), stability, rest.diagnostics
    options: dict[str, Any] = {"t_start": t, "times": [t], "start": "steady", "parameters": chosen.changes}
    solution = model.simulate(t + 1.0, tree=chosen.tree, **options)
    values = {name: float(solution[name][0]) for name in solution.names}
    state = {name: values[name] for name in solution.states if name in values}
    return values, dict(solution.units), state, "", equations.diagnostics


@takes_model
def kinematics(
    choice: ModelChoice,
    t_end: EndTime = None,
    points: Points = None,
    output: ResultsOut = None,
    report: ReportOut = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Move a mechanism that is driven in full.

    Motion and forces of a mechanism without free degrees of freedom, found at each time by itself.
    """
    from cotree.cli.run import Outcome, kept, prepare

    check_ending("--out", output, ".h5", ".csv", ".parquet", ".mat", also=".hdf5")
    check_ending("--report", report, ".html", also=".htm")
    chosen = choice.read()
    end = chosen.end(t_end)
    count = chosen.written.run.points if points is None else points
    with chosen.about():
        prepare(output, report)
        options = {"tree": chosen.tree, "points": count, "parameters": chosen.changes}
        solution, failure = kept(lambda: chosen.model.kinematics(end, **options))
        Outcome(as_json, quiet).finish(chosen, solution, output, report, failure)


COMMANDS = {
    modes: """\
  cotree modes car.yaml
  cotree modes beam.yaml --about start --most 6
  cotree modes filter.yaml --set R1.resistance=2kohm --json""",
    statics: """\
  cotree statics car.yaml
  cotree statics arm.yaml --set load.mass=5 --json""",
    kinematics: """\
  cotree kinematics slider_crank.yaml --report motion.html
  cotree kinematics slider_crank.yaml --points 3601 --out motion.csv""",
}
