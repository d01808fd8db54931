"""The commands. Heavy rooms are imported inside them, so that ``--help`` answers at once."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console
from rich.markup import escape

from cotree._version import __version__
from cotree.errors import CotreeError, SolveError

if TYPE_CHECKING:
    from cotree import api
    from cotree.io import ModelFile

app = typer.Typer(
    help="Simulate multi-domain systems from one linear graph.", no_args_is_help=True, pretty_exceptions_enable=False,
    add_completion=False,
)  # fmt: skip
out, err = Console(highlight=False), Console(stderr=True, highlight=False)

File = Annotated[Path, typer.Argument(help="model file (YAML)")]
Sets = Annotated[list[str] | None, typer.Option("--set", help="change a value: R1.resistance=5, or a parameter")]
Prefer = Annotated[
    str | None,
    typer.Option("--tree", help="normal, kinds, absolute or joint; normal for a network, joint for a mechanism"),
]
Turning = Annotated[
    str | None, typer.Option("--rotation-tree", help="another tree for the rotations of a mechanism, by preset")
]
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
    tree: Prefer = None,
    rotation_tree: Turning = None,
    into_tree: Into = None,
    into_cotree: Out = None,
    integrator: Annotated[str | None, typer.Option(help="auto, cvodes, idas, or another")] = None,
    rtol: Annotated[float | None, typer.Option(help="relative tolerance")] = None,
    step: Annotated[float | None, typer.Option(help="length of a step in s, for methods with a fixed one")] = None,
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
    given = {"points": points, "integrator": integrator, "rtol": rtol, "atol": atol, "step": step}
    options |= {name: value for name, value in given.items() if value is not None}
    model = chosen.model
    with chosen.about(changes):
        changes = model.take(changes)
        spanning = _tree(chosen, tree, rotation_tree, into_tree, into_cotree)
        solution, failure = _simulated(chosen, spanning, end, quiet, {**options, "parameters": changes})
    if output is not None:
        solution.to_csv(output) if output.suffix.lower() == ".csv" else solution.to_hdf5(output)
    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
        with chosen.about(changes):
            model.report(solution, report, spanning, chosen.run.plot or None)
    if not quiet:
        shown = _flat(chosen.run.plot) or _default_names(model, solution)
        for part in summary(_counts(model, spanning), solution, shown, mechanism=_second_order(model)):
            out.print(part, soft_wrap=True)
        for path in (output, report):
            if path is not None:
                out.print(f"written: {escape(str(path))}", soft_wrap=True)
    if failure is not None:
        with chosen.about(changes):
            raise failure


def _simulated(
    chosen: ModelFile[api.Model], tree: Any, end: float, quiet: bool, options: dict[str, Any]
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
    output: Annotated[
        Path | None, typer.Option("--out", "-o", help="drawing: .svg, .png or .pdf; of a bond graph .svg or .tex")
    ] = None,
    level: Annotated[str, typer.Option(help="of a bond graph: masks, open, or the name of a mask")] = "masks",
    tree: Prefer = None,
    rotation_tree: Turning = None,
    into_tree: Into = None,
    into_cotree: Out = None,
) -> None:
    """Show the linear graph, its tree and the topological equations; draw it where asked.

    Of a bond graph the causality is shown, with the reason for each stroke.
    """
    from cotree.graph import explain_graph

    chosen = _load(file)
    model = chosen.model
    with chosen.about():
        spanning = _tree(chosen, tree, rotation_tree, into_tree, into_cotree)
    if model.bonded:
        _bond_graph(chosen, output, level)
        return
    first, second = _pair(spanning)
    print(explain_graph(first.graph, first, most=40))
    if second != first:
        print(f"\nTree of rotations\n  branches: {', '.join(second.branches)}\n  chords: {', '.join(second.chords)}")
    if output is not None:
        model.draw(output, spanning)
        out.print(f"written: {escape(str(output))}", soft_wrap=True)


def _bond_graph(chosen: ModelFile[api.Model], output: Path | None, level: str) -> None:
    with chosen.about():
        print(chosen.model.causality().text())
        print()
        print(chosen.model.structural().text())
        if output is not None:
            _check_output("--out", output, ".svg", ".tex", also=".tikz")
            chosen.model.draw(output, level=level)
            out.print(f"written: {escape(str(output))}", soft_wrap=True)


@app.command()
def equations(
    file: File,
    edge: Annotated[list[str] | None, typer.Option(help="only the topological equation of this edge")] = None,
    latex: Annotated[bool, typer.Option("--latex", help="as LaTeX")] = False,
    c: Annotated[Path | None, typer.Option("--c", help="write C code to this file: .c")] = None,
    tree: Prefer = None,
    rotation_tree: Turning = None,
    into_tree: Into = None,
    into_cotree: Out = None,
    most: Annotated[int, typer.Option(help="longest list before it is cut")] = 60,
) -> None:
    """Print the equations: topological, terminal and system equations; of a mechanism M, h and Phi.

    With ``--c`` they are written as C code instead.
    """
    _check_output("--c", c, ".c", also=".h")
    chosen = _load(file)
    model = chosen.model
    with chosen.about():
        spanning = _tree(chosen, tree, rotation_tree, into_tree, into_cotree)
        if c is not None:
            model.to_c(c, spanning)
            out.print(f"written: {escape(str(c))}", soft_wrap=True)
        elif model.bonded:
            _bond_equations(model, edge, latex, most)
        elif edge:
            for name in edge:
                equation = _pair(spanning)[0].equation(name)
                print(equation.to_latex() if latex else equation)
        elif latex:
            from cotree.formulation.explain import equations_latex

            for equation in _pair(spanning)[0].equations():
                print(equation.to_latex())
            for line in equations_latex(model, model.equations(spanning)):
                print(line)
        else:
            print(model.explain(spanning, most))


def _bond_equations(model: api.Model, edge: list[str] | None, latex: bool, most: int) -> None:
    from cotree.bond.explain import bond_latex

    if edge:
        raise CotreeError(f"--edge {edge[0]}", expected="no edge: a bond graph has bonds and junctions")
    if not latex:
        print(model.explain(None, most))
        return
    for line in bond_latex(model, model.equations()):
        print(line)


@app.command()
def determinacy(
    file: File,
    cables: Annotated[bool, typer.Option("--cables", help="count cables as members that keep their length")] = False,
) -> None:
    """Print rank, independent modes, mechanisms and states of self-stress of a structure in nodal coordinates."""
    chosen = _load(file)
    with chosen.about():
        print(chosen.model.determinacy(cables=cables))


def _load(file: Path) -> ModelFile[api.Model]:
    from cotree.api import Model
    from cotree.io import read_model

    return read_model(file, Model)


def _tree(
    chosen: ModelFile[api.Model],
    prefer: str | None,
    turning: str | None,
    into_tree: list[str] | None,
    into_cotree: list[str] | None,
) -> Any:
    """The tree that options and file ask for; a pair where a mechanism has another one for rotations."""
    model, given = chosen.model, chosen.run.tree
    if model.bonded:
        every = (prefer, turning, given, *(into_tree or ()), *(into_cotree or ()))
        if (named := next((each for each in every if each), None)) is not None:
            raise CotreeError(f"the tree {named}", expected="none: a bond graph has causality instead of a tree")
        return None
    if turning is not None and not model.mechanical:
        raise CotreeError(f"--rotation-tree {turning}", expected="a mechanism: a network has one tree")
    first, second = given if isinstance(given, list) else (given, None)
    first = prefer if prefer is not None else first
    second = turning if turning is not None else None if prefer is not None else second
    made = model.tree(first, into_tree or (), into_cotree or ())
    return made if second is None else (made, model.tree(second, into_tree or (), into_cotree or ()))


def _pair(spanning: Any) -> tuple[Any, Any]:
    """The trees of translations and rotations, which may be one."""
    return spanning if isinstance(spanning, tuple) else (spanning, spanning)


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


def _second_order(model: api.Model) -> bool:
    return model.mechanical or model.nodal or (model.bonded and model.equations().mechanics is not None)


def _counts(model: api.Model, spanning: Any) -> str:
    """What a model is made of: nodes, edges and tree, or elements and bonds."""
    if model.bonded:
        from cotree.bond import Bond

        bonds = sum(isinstance(part, Bond) for part in model.components.values())
        return f"bond graph of {len(model.components) - bonds} parts and {bonds} bonds"
    tree = _pair(spanning)[0]
    return f"{tree.graph.v} nodes, {tree.graph.e} edges, {len(tree.branches)} in the tree"


def _default_names(model: api.Model, solution: api.Solution) -> list[str]:
    if not (model.mechanical or model.nodal):
        return []
    from cotree.formulation.branch.explain import main_results

    return main_results(model, solution)


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
