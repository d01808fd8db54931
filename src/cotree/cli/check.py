"""``cotree check``: read model files, write their equations and find a start, without running them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from cotree.cli.console import complain, described, emit, exit_code
from cotree.cli.options import Chosen, Json, ModelChoice, Quiet, formulation_of, takes_models
from cotree.cli.summary import counts
from cotree.errors import CotreeError

if TYPE_CHECKING:
    from cotree import api
    from cotree.formulation import SystemEquations

GRAVITY = ("default-gravity",)
"""Notes that a line of their own has."""


@takes_models
def check(choices: list[ModelChoice], as_json: Json = False, quiet: Quiet = False) -> None:
    """Check model files without running them.

    They are read, their equations are written, a start is found, and what they leave to defaults is told. Every
    file is looked at, also after one that is wrong. The exit code is 2 if one is wrong, 1 if one has no start.
    """
    code, told = 0, []
    for choice in choices:
        try:
            found = _checked(choice)
        except CotreeError as error:
            code = max(code, exit_code(error))
            told.append({"ok": False} | described(error) | {"file": described(error)["file"] or str(choice.file)})
            if not as_json:
                complain(error)
        else:
            told.append(found)
            if not as_json and not quiet:
                _print(found)
    if as_json:
        emit(told)
    if code:
        raise typer.Exit(code)


def _checked(choice: ModelChoice) -> dict[str, Any]:
    """What is known of a model that is right."""
    from cotree.solve.courses import result_units
    from cotree.solve.simulate import simulate

    chosen = choice.read()
    model = chosen.model
    with chosen.about():
        equations = model.equations(chosen.tree)
        if not chosen.is_converted:
            chosen.written.check_run(result_units(equations))
        options = {name: value for name, value in chosen.written.run.options().items() if name == "start"}
        simulate(equations, 1.0, times=[0.0], parameters=chosen.changes, **options)
        t_end = chosen.written.run.t_end
        for mode in equations.modes if t_end is not None else ():  # refuses data that end before the run
            mode.times(equations.p.start, 0.0, t_end or 0.0)
        return {
            "ok": True,
            "file": str(choice.file),
            "model": model.name,
            "formulation": formulation_of(model),
            "counts": counts(model, chosen.tree),
            "coordinates": len(equations.q),
            "speeds": len(equations.u),
            "states": len(equations.state_names),
            "constraints": _held(equations),
            "degrees_of_freedom": None if equations.mechanics is None else len(equations.u) - _held(equations),
            "results": len(equations.outputs) + len(equations.integrals),
            "gravity": _gravity(model),
            "run": _run(chosen),
            "defaults": _defaults(chosen),
            "notes": [str(each) for each in equations.diagnostics if each.code not in GRAVITY],
        }


def _held(equations: SystemEquations) -> int:
    """Independent constraint equations; further multipliers are torques of parts that stick."""
    return len(equations.multipliers) if equations.mechanics is None else equations.mechanics.velocity.numel()


def _gravity(model: api.Model) -> list[float] | None:
    """Gravity in force, in m/s^2; None where nothing has weight."""
    if not model.weighs:
        return None
    values = model.component_values()
    return [values[f"gravity.{axis}"] for axis in "xyz"]


def _run(chosen: Chosen) -> dict[str, Any]:
    """Settings of the run in force."""
    given = chosen.written.run
    return {"t_end": given.t_end} | _run_defaults() | {k: v for k, v in given.options().items() if k != "start"}


def _run_defaults() -> dict[str, Any]:
    from inspect import signature

    from cotree.solve.simulate import DEFAULT_POINTS, simulate

    known = signature(simulate).parameters
    return {"points": DEFAULT_POINTS} | {name: known[name].default for name in ("integrator", "rtol", "atol")}


def _defaults(chosen: Chosen) -> list[str]:
    """What the file leaves to defaults and matters for the result."""
    model, given = chosen.model, chosen.written.run
    left = [name for name in ("t_end", *_run_defaults()) if getattr(given, name) is None]
    return (["gravity"] if model.weighs and model.gravity is None else []) + left


def _print(found: dict[str, Any]) -> None:
    print(f"{found['file']}: {found['model']}: ok")
    print(f"  {found['counts']}, {found['states']} states, {found['results']} results")
    for note in found["notes"]:
        print(f"  {note}")
    default = dict.fromkeys(found["defaults"], " (default)")
    if found["gravity"] is not None:
        x, y, z = found["gravity"]
        print(f"  gravity ({x:g}, {y:g}, {z:g}) m/s^2{default.get('gravity', '')}")
    run, words = found["run"], []
    for name, value in run.items():
        shown = "not given" if value is None and name == "t_end" else "automatic" if value is None else value
        words.append(f"{name} {shown:g}" if isinstance(shown, float) else f"{name} {shown}")
        words[-1] += default.get(name, "") if name != "t_end" else ""
    print(f"  run: {', '.join(words)}")


COMMANDS = {
    check: """\
  cotree check four_bar.yaml
  cotree check models/*.yaml --quiet
  cotree check four_bar.yaml --json"""
}
