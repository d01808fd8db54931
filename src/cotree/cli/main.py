"""The commands. Heavy rooms are imported inside them, so that ``--help`` answers at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console
from rich.markup import escape

from cotree._version import __version__
from cotree.errors import CotreeError, SolveError

if TYPE_CHECKING:
    from cotree import api
    from cotree.graph import Tree
    from cotree.io import ModelFile

app = typer.Typer(
    help="Simulate multi-domain systems from one linear graph.", no_args_is_help=True, pretty_exceptions_enable=False,
    add_completion=False,
)  # fmt: skip
out, err = Console(highlight=False), Console(stderr=True, highlight=False)

File = Annotated[Path, typer.Argument(help="model file (YAML)")]
Sets = Annotated[list[str] | None, typer.Option("--set", help="change a value: R1.resistance=5, or a parameter")]
Prefer = Annotated[str, typer.Option("--tree", help="normal, kinds, absolute or joint")]
Into = Annotated[list[str] | None, typer.Option("--into-tree", help="pin an edge into the tree")]
Out = Annotated[list[str] | None, typer.Option("--into-cotree", help="pin an edge into the cotree")]


def main() -> None:
    """Entry point: errors of Cotree become one message and an exit code, never a traceback."""
    try:
        app()
    except SolveError as error:
        _complain(error)
        sys.exit(1)
    except CotreeError as error:
        _complain(error)
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe has gone
        sys.stderr.close()
        sys.exit(0)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="show the version and leave")] = False) -> None:
    if version:
        print(__version__)
        raise typer.Exit


@app.command()
def run(
    file: File,
    t_end: Annotated[float | None, typer.Option(help="end of the run in s")] = None,
    points: Annotated[int | None, typer.Option(help="number of output times")] = None,
    set: Sets = None,
    tree: Prefer = "normal",
    into_tree: Into = None,
    into_cotree: Out = None,
    integrator: Annotated[str | None, typer.Option(help="auto, cvodes or idas")] = None,
    rtol: Annotated[float | None, typer.Option(help="relative tolerance")] = None,
    atol: Annotated[float | None, typer.Option(help="absolute tolerance in SI units; automatic if left out")] = None,
    output: Annotated[Path | None, typer.Option("--out", "-o", help="results file: .h5 or .csv")] = None,
    report: Annotated[Path | None, typer.Option(help="HTML report with graph, plots, equations and energy")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")] = False,
) -> None:
    """Simulate a model file, print a summary, and write results and a report where asked."""
    from cotree.cli.summary import summary

    _check_output("--out", output, ".h5", ".csv", also=".hdf5")
    _check_output("--report", report, ".html", also=".htm")
    changes = _changes(set)
    chosen = _load(file)
    end = t_end if t_end is not None else chosen.run.t_end
    if end is None:
        raise SolveError("no end time is given", where=str(file), remedy="Add 'run: {t_end: ...}' or use --t-end")
    options = chosen.run.options()
    given = {"points": points, "integrator": integrator, "rtol": rtol, "atol": atol}
    options |= {name: value for name, value in given.items() if value is not None}
    model = chosen.model
    with _about(file):
        spanning = _tree(model, tree, into_tree, into_cotree)
        solution, failure = _simulated(chosen, spanning, end, quiet, {**options, "parameters": changes})
    if output is not None:
        solution.to_csv(output) if output.suffix.lower() == ".csv" else solution.to_hdf5(output)
    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
        with _about(file):
            model.report(solution, report, spanning, chosen.run.plot or None)
    if not quiet:
        for part in summary(spanning, solution, _flat(chosen.run.plot)):
            out.print(part, soft_wrap=True)
        for path in (output, report):
            if path is not None:
                out.print(f"written: {escape(str(path))}", soft_wrap=True)
    if failure is not None:
        with _about(file):
            raise failure


def _simulated(
    chosen: ModelFile[api.Model], tree: Tree, end: float, quiet: bool, options: dict[str, Any]
) -> tuple[api.Solution, SolveError | None]:
    """The solution, and the reason where it ends early."""
    from cotree.api import simulate_equations

    clock = time.perf_counter()
    equations = chosen.model.equations(tree)
    chosen.check_plot({**equations.outputs, **equations.integrals})
    seconds = time.perf_counter() - clock
    try:
        with _Progress(quiet) as progress:
            return simulate_equations(equations, end, seconds, progress=progress, **options), None
    except SolveError as error:
        if error.solution is None:
            raise
        return cast("api.Solution", error.solution), error


@app.command()
def graph(
    file: File,
    output: Annotated[Path | None, typer.Option("--out", "-o", help="drawing: .svg, .png or .pdf")] = None,
    tree: Prefer = "normal",
    into_tree: Into = None,
    into_cotree: Out = None,
) -> None:
    """Show the linear graph, its tree and the topological equations; draw it where asked."""
    from cotree.graph import explain_graph

    model = _load(file).model
    with _about(file):
        spanning = _tree(model, tree, into_tree, into_cotree)
    print(explain_graph(spanning.graph, spanning, most=40))
    if output is not None:
        model.draw(output, spanning)
        out.print(f"written: {escape(str(output))}", soft_wrap=True)


@app.command()
def equations(
    file: File,
    edge: Annotated[list[str] | None, typer.Option(help="only the topological equation of this edge")] = None,
    latex: Annotated[bool, typer.Option("--latex", help="as LaTeX")] = False,
    tree: Prefer = "normal",
    into_tree: Into = None,
    into_cotree: Out = None,
    most: Annotated[int, typer.Option(help="longest list before it is cut")] = 60,
) -> None:
    """Print the equations: topological, terminal and system equations."""
    model = _load(file).model
    with _about(file):
        spanning = _tree(model, tree, into_tree, into_cotree)
        if edge:
            for name in edge:
                equation = spanning.equation(name)
                print(equation.to_latex() if latex else equation)
        elif latex:
            from cotree.formulation import state_equations_latex

            for equation in spanning.equations():
                print(equation.to_latex())
            for line in state_equations_latex(model, model.equations(spanning)):
                print(line)
        else:
            print(model.explain(spanning, most))


@contextmanager
def _about(file: Path) -> Iterator[None]:
    """Errors that are raised while working on a file begin with its name."""
    try:
        yield
    except CotreeError as error:
        error.within(str(file))
        raise


def _load(file: Path) -> ModelFile[api.Model]:
    from cotree.api import Model
    from cotree.io import read_model

    return read_model(file, Model)


def _tree(model: api.Model, prefer: str, into_tree: list[str] | None, into_cotree: list[str] | None) -> Tree:
    return model.tree(prefer, into_tree or (), into_cotree or ())


def _changes(settings: list[str] | None) -> dict[str, float]:
    changes = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        try:
            changes[name.strip()] = float(value)
        except ValueError:
            raise CotreeError(f"--set {setting}", expected="NAME=NUMBER, such as R1.resistance=5") from None
        if not equals:
            raise CotreeError(f"--set {setting}", expected="NAME=NUMBER, such as R1.resistance=5")
    return changes


def _check_output(option: str, path: Path | None, *endings: str, also: str) -> None:
    if path is not None and path.suffix.lower() not in (*endings, also):
        raise CotreeError(f"{option} {path}", expected=f"a name that ends in {' or '.join(endings)}")


def _flat(plot: list[Any]) -> list[str]:
    return [name for entry in plot for name in (entry if isinstance(entry, list) else [entry])]


def _complain(error: CotreeError) -> None:
    err.print(f"[bold red]error:[/] {escape(error.message)}", soft_wrap=True)


class _Progress:
    """A progress bar with an estimate, shown on a terminal once a run takes longer than a blink."""

    def __init__(self, quiet: bool) -> None:
        self.wanted = err.is_terminal and not quiet

    def __enter__(self) -> Any:
        if not self.wanted:
            return None
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (TextColumn("simulating"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self.bar = Progress(*columns, console=err, transient=True)
        self.task = self.bar.add_task("", total=1.0)
        self.bar.start()
        return lambda fraction: self.bar.update(self.task, completed=fraction)

    def __exit__(self, *reason: object) -> None:
        if self.wanted:
            self.bar.stop()
