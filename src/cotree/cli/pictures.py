"""``cotree report`` and ``cotree plot``: pages and figures, from a model file or from stored results."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cotree.cli.console import emit, table, written
from cotree.cli.options import RESULTS, Chosen, EndTime, Json, ModelChoice, Points, Quiet, check_ending, takes_model
from cotree.cli.progress import Progress
from cotree.errors import FileError, OptionError, ResultError, SolveError, listing, nearest

if TYPE_CHECKING:
    from cotree import api


@takes_model
def report(
    choice: ModelChoice,
    output: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="page: .html; beside the file if left out")
    ] = None,
    plot: Annotated[list[str] | None, typer.Option("--plot", metavar="NAME", help="a result to plot")] = None,
    t_end: EndTime = None,
    points: Points = None,
    show: Annotated[bool, typer.Option("--open", help="open the page in a browser")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write one HTML page about a run.

    Animation, graph, plots, equations and energy; the page needs no other file and no network. Of a model file the
    run comes first; of a results file (.h5) nothing is computed again.
    """
    from cotree.cli.run import prepare

    check_ending("--out", output, ".html", also=".htm")
    path = output or choice.file.with_suffix(".html")
    model, tree, solution, plots, failure = _results(choice, t_end, points, quiet or as_json, plot or ())
    if plot:
        plots = [[name] for name in matching(plot, solution.names)]
    prepare(path)
    try:
        model.report(solution, path, tree, plots or None)
    except FileError as error:
        error.solution = solution
        raise
    if as_json:
        emit({"model": solution.model, "complete": solution.complete, "t_end": solution.t[-1], "written": [path]})
    elif not quiet:
        written([path])
    if show:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    if failure is not None:
        raise failure


def _results(
    choice: ModelChoice, t_end: str | None, points: int | None, quiet: bool, wanted: Iterable[str]
) -> tuple[api.Model, Any, api.Solution, list[Any], SolveError | FileError | None]:
    """Model, tree, results and chosen plots of a results file, or of a model file that is run; and why it stopped.

    Names that are wanted are looked at before the run.
    """
    from cotree.api import Solution, rebuild
    from cotree.cli.run import kept

    if choice.file.suffix.lower() in RESULTS:
        changed = [name for name in ("set", "tree", "formulation", "into_tree", "into_cotree") if getattr(choice, name)]
        if t_end is not None or points is not None or changed:
            raise OptionError(f"options of a run with the results file {choice.file}", expected="a model file")
        solution = Solution.from_hdf5(choice.file)
        if not len(solution):
            raise FileError(f"{choice.file} holds no results yet", remedy="Finish its run: cotree run --resume")
        return (*rebuild(solution), solution, [], None)
    chosen = choice.read()
    run = chosen.written.run
    end = chosen.end(t_end)
    options = run.options() | {"parameters": chosen.changes} | ({} if points is None else {"points": points})
    matching(wanted, ["t", *_units(chosen)])
    with chosen.about(), Progress(quiet) as progress:
        solution, failure = kept(lambda: chosen.model.simulate(end, tree=chosen.tree, progress=progress, **options))
    return chosen.model, chosen.tree, solution, [] if chosen.is_converted else run.plot, failure


def matching(patterns: Iterable[str], known: Collection[str]) -> list[str]:
    """The results, among the known ones, that names and patterns such as ``*.angle`` mean."""
    vectors = {name.rpartition(".")[0] for name in known if name.endswith((".x", ".e0", ".c1"))}
    found: list[str] = []
    for pattern in patterns:
        some = [pattern] if pattern in known or pattern in vectors else [n for n in known if fnmatchcase(n, pattern)]
        if not some:
            part = pattern.partition(".")[0]
            own = [name for name in known if name.partition(".")[0] == part]
            raise ResultError(
                f"there is no result '{pattern}'",
                expected=f"one of {listing(own or known)}, or a pattern such as *.angle",
                remedy=nearest(pattern, [*known, *vectors]),
            )
        found += some
    return list(dict.fromkeys(found))


@takes_model
def plot(
    choice: ModelChoice,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAMES", help="results, such as O.angle or '*.power'; none: list them"),
    ] = (None),
    output: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="figure: .svg, .png or .pdf; an .svg beside the file if left out"
        ),
    ] = None,
    x: Annotated[
        str, typer.Option("--x", metavar="NAME", help="a result for the horizontal axis; t is the time")
    ] = "t",
    t_end: EndTime = None,
    points: Points = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Plot results, or list their names.

    Of a results file (.h5), or of a model file that is run for it.
    """
    from cotree.cli.run import prepare

    check_ending("--out", output, ".svg", ".png", ".pdf")
    if not names:
        _list_names(choice, as_json)
        return
    _, _, solution, _, failure = _results(choice, t_end, points, quiet or as_json, [*names, x])
    chosen = matching(names, solution.names)
    path = output or choice.file.with_suffix(".svg")
    prepare(path)
    solution.plot(chosen, path=path, x=x)
    if as_json:
        emit({"model": solution.model, "plotted": chosen, "written": [path]})
    elif not quiet:
        written([path])
    if failure is not None:
        raise failure


def _list_names(choice: ModelChoice, as_json: bool) -> None:
    """Names and units of all results; a model is not run for it."""
    if choice.file.suffix.lower() in RESULTS:
        from cotree.api import Solution

        units = dict(Solution.from_hdf5(choice.file).units)
    else:
        units = _units(choice.read())
    if as_json:
        emit(units)
        return
    table({"result": "left", "unit": "left"}, units.items())


def _units(chosen: Chosen) -> dict[str, str]:
    """Units of all results that a model will have."""
    from cotree.formulation.system import turns_name

    with chosen.about():
        equations = chosen.model.equations(chosen.tree)
        every = {**equations.outputs, **equations.integrals}
        hidden = {turns_name(name) for name in equations.near_angles()}
    return {name: output.unit for name, output in every.items() if name not in hidden}


COMMANDS = {
    report: """\
  cotree report four_bar.yaml
  cotree report run.h5 --out page.html --open""",
    plot: """\
  cotree plot run.h5
  cotree plot run.h5 O.angle '*.force.x' --out forces.png
  cotree plot pendulum.yaml bob.position.y --x bob.position.x""",
}
