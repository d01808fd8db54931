"""``cotree run``: simulate a model file, finish an interrupted run, or go on from stored results."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cotree.cli.console import OUTSIDE, emit, written
from cotree.cli.options import (
    RESULTS,
    Chosen,
    EndTime,
    Json,
    ModelChoice,
    Points,
    Quiet,
    ReportOut,
    ResultsOut,
    check_ending,
    seconds,
    takes_model,
)
from cotree.cli.progress import Progress
from cotree.cli.resuming import agreeing, results_of
from cotree.cli.summary import counts, flat, main_names, notes_of, print_summary, summary_data
from cotree.errors import FileError, OptionError, SolveError
from cotree.system import outside_by

if TYPE_CHECKING:
    from cotree import api

Failure = SolveError | FileError | None
"""What ended a run early, or kept its results from being written."""


@takes_model
def run(
    choice: ModelChoice,
    t_end: EndTime = None,
    points: Points = None,
    integrator: Annotated[
        str | None, typer.Option(metavar="NAME", help="auto, adams, cvodes, idas or another: cotree list -i")
    ] = None,
    rtol: Annotated[
        float | None, typer.Option(metavar="X", help="relative tolerance; 1e-8 if the file says nothing")
    ] = None,
    atol: Annotated[
        float | None, typer.Option(metavar="X", help="absolute tolerance in SI units; automatic if left out")
    ] = None,
    step: Annotated[
        str | None, typer.Option(metavar="TIME", help="length of a step, for methods with a fixed one: 1ms")
    ] = None,
    output: ResultsOut = None,
    report: ReportOut = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="finish the interrupted run in the results file, or in --out")
    ] = False,
    start_from: Annotated[
        str | None,
        typer.Option(metavar="FILE[@TIME]", help="begin with a state of stored results, its last or at TIME"),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Simulate a model file.

    A summary is printed, and results and a report are written where asked. Ctrl-C keeps what was computed. A run
    into an .h5 file can be finished later with --resume, even after a crash.
    """
    check_ending("--out", output, ".h5", ".csv", ".parquet", ".mat", also=".hdf5")
    check_ending("--report", report, ".html", also=".htm")
    options = {"points": points, "integrator": integrator, "rtol": rtol, "atol": atol, "step": seconds("--step", step)}
    given = {name: value for name, value in options.items() if value is not None}
    outcome = Outcome(as_json, quiet)
    if resume:
        if start_from is not None:
            raise OptionError("--resume and --start-from", expected="one of the two")
        _resumed(
            outcome, choice, output, given | ({} if t_end is None else {"t_end": seconds("--t-end", t_end)}), report
        )
        return
    chosen = choice.read()
    given = chosen.written.run.options() | given
    if start_from is not None:
        given |= _stored_state(start_from)
    end = chosen.end(t_end)
    with chosen.about():
        prepare(output, report)
        solution, failure = _simulated(chosen, end, output, quiet, given)
        recorded = output if output is not None and output.suffix.lower() in RESULTS else None
        outcome.finish(chosen, solution, output, report, failure, recorded)


def _simulated(
    chosen: Chosen, end: float, output: Path | None, quiet: bool, options: dict[str, Any]
) -> tuple[api.Solution, Failure]:
    """The solution, and the reason where it ends early or is not written."""
    from cotree.api import origin_of
    from cotree.facade.runs import simulate_equations
    from cotree.solve.courses import result_units
    from cotree.solve.cut import cut_by_run

    clock = time.perf_counter()
    cut_by_run(chosen.model, chosen.tree, end, options | {"parameters": chosen.changes})
    equations = chosen.model.equations(chosen.tree)
    if not chosen.is_converted:
        chosen.written.check_run(result_units(equations))
    spent = time.perf_counter() - clock
    options |= {"parameters": chosen.changes}
    if output is not None and output.suffix.lower() in RESULTS:
        options["out"] = output
    with Progress(quiet) as progress:
        return kept(
            lambda: simulate_equations(
                equations, end, spent, origin=origin_of(chosen.model, chosen.tree), progress=progress, **options
            )
        )


def kept(compute: Any) -> tuple[api.Solution, Failure]:
    """What was computed, and the error that ended it early, or that its file could not be written."""
    try:
        return compute(), None
    except (SolveError, FileError) as error:
        if error.solution is None:
            raise
        return cast("api.Solution", error.solution), error


class Outcome:
    """What becomes of a solution: files, then a summary as text or JSON."""

    def __init__(self, as_json: bool, quiet: bool) -> None:
        self.as_json, self.quiet = as_json, quiet

    def finish(
        self, chosen: Chosen, solution: api.Solution, output: Path | None, report: Path | None,
        failure: Failure = None, recorded: Path | None = None,
    ) -> None:  # fmt: skip
        """The same for the model of a file."""
        plot, file = plots_of(chosen, solution), chosen.written.source.name
        self.give(file, chosen.model, chosen.tree, solution, plot, output, report, failure, recorded)

    def give(
        self, file: Any, model: api.Model, tree: Any, solution: api.Solution, plot: Any,
        output: Path | None, report: Path | None, failure: Failure, recorded: Path | None,
    ) -> None:  # fmt: skip
        """Write the files that are asked for, tell the result, and then raise what went wrong.

        The run itself has written ``recorded``, unless ``failure`` says that it could not.
        """
        done = [] if recorded is None or isinstance(failure, FileError) else [recorded]
        for path in (None if output == recorded else output, report):
            if path is None:
                continue
            try:
                if path == report:
                    model.report(solution, path, tree, plot or None)
                else:
                    write_results(solution, path)
                done.append(path)
            except FileError as error:
                error.solution = solution
                if failure is not None:
                    failure.add_note(str(error))
                failure = failure or error
        self.tell(file, model, tree, solution, plot, done)
        if failure is not None:
            raise failure
        if outside_by(solution.diagnostics):
            raise typer.Exit(OUTSIDE)

    def tell(
        self, file: Any, model: api.Model, tree: Any, solution: api.Solution, plot: Any, paths: Iterable[Path | None]
    ) -> None:
        """The summary."""
        notes = notes_of(solution.diagnostics)
        if self.as_json:
            files = {"written": [path for path in paths if path is not None]}
            emit(summary_data(file, model, solution, notes) | files)
        elif not self.quiet:
            names = flat(plot) or main_names(model, solution)
            print_summary(counts(model, tree), solution, names, notes)
            written(paths)


def known(name: str, solution: api.Solution) -> bool:
    """Whether a name or a vector is among the results."""
    return name == "t" or name in solution or any(f"{name}.{label}" in solution for label in ("x", "e0", "c1"))


def plots_of(chosen: Chosen, solution: api.Solution) -> list[Any]:
    """What the file wants to be plotted, as far as a converted model has it."""
    plot = chosen.written.run.plot
    if not chosen.is_converted:
        return plot
    return [entry for entry in plot if all(known(name, solution) for name in flat([entry]))]


def write_results(solution: api.Solution, path: Path) -> None:
    """Write results in the format that the name asks for."""
    writers = {".csv": "to_csv", ".parquet": "to_parquet", ".mat": "to_matlab", **dict.fromkeys(RESULTS, "to_hdf5")}
    getattr(solution, writers[path.suffix.lower()])(path)


def prepare(*paths: Path | None) -> None:
    """Make the folders of files that will be written, so that a long run does not end at a missing one."""
    for path in paths:
        if path is None:
            continue
        if path.is_dir():
            raise FileError(f"cannot write {path}: it is a folder", remedy="Give the name of a file")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as reason:
            raise FileError(f"cannot write {path}: {reason.strerror}", remedy="Choose another place") from None


def _stored_state(given: str) -> dict[str, Any]:
    """The start of a run from ``FILE`` or ``FILE@TIME``."""
    from cotree.api import Solution

    name, at, moment = given.rpartition("@")
    path, t = (given, None) if not at or Path(given).exists() else (name, seconds("--start-from", moment))
    solution = Solution.from_hdf5(path)
    if not len(solution):
        raise FileError(f"{path} holds no results yet", remedy="Finish its run with --resume")
    t = float(solution.t[-1]) if t is None else t
    return {"start": solution.state_at(t), "t_start": t}


def _resumed(
    outcome: Outcome, choice: ModelChoice, output: Path | None, given: dict[str, Any], report: Path | None
) -> None:
    """Finish the run in a results file; options that are given again must be those of the run."""
    from cotree.api import Solution, resume

    path = results_of(choice, output)
    stored = Solution.from_hdf5(path)
    model, tree, chosen = agreeing(choice, stored, path, given)
    prepare(output, report)
    ended = stored.complete
    with Progress(outcome.quiet) as progress:
        solution, failure = (stored, None) if ended else kept(lambda: resume(path, model=model, progress=progress))
    if ended and not outcome.quiet and not outcome.as_json:
        print(f"{path} is complete to {stored.t[-1]:g} s: there is nothing to resume")
    also = output if path == choice.file and output != path else None
    plot = [] if chosen is None else plots_of(chosen, solution)
    outcome.give(path, model, tree, solution, plot, also, report, failure, None if ended else path)


COMMANDS = {
    run: """\
  cotree run four_bar.yaml --report four_bar.html
  cotree run four_bar.yaml --set crank.mass=2 --set l1=300mm --t-end 5 --out run.h5
  cotree run run.h5 --resume
  cotree run four_bar.yaml --json | jq .final"""
}
