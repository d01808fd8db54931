"""``cotree bench``: what a model costs with each tree and integrator, at equal measured error."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cotree.cli.console import emit, table
from cotree.cli.interrupts import leave_if_requested, requested
from cotree.cli.options import Chosen, EndTime, Json, ModelChoice, takes_model
from cotree.errors import CotreeError, OptionError, SolveError

if TYPE_CHECKING:
    from cotree import api
    from cotree.formulation import SystemEquations

TIGHT = 1e-12
"""Relative tolerance of the reference."""
POINTS = 101
TOLERANCES = [10.0**-k for k in range(3, 13)]
STEPS = (900, 9_000, 90_000)
"""Numbers of steps for methods that have no measure of their error."""
COLUMNS = {
    "tree": "left", "integrator": "left", "rtol": "right", "error": "right", "steps": "right", "evaluations": "right",
    "ms": "right", "x real time": "right", "": "left",
}  # fmt: skip


@dataclass
class Row:
    """One way to run the model."""

    tree: str
    integrator: str
    rtol: float | None = None
    error: float | None = None
    steps: int | None = None
    evaluations: int | None = None
    seconds: float | None = None
    times_real: float | None = None
    remark: str = ""


@takes_model
def bench(
    choice: ModelChoice,
    error: Annotated[float, typer.Option(metavar="X", help="error to reach, over the range of each result")] = 1e-6,
    integrator: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="only this one; all that suit if left out")
    ] = None,
    t_end: EndTime = None,
    repeat: Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="runs of which the fastest counts")] = 3,
    budget: Annotated[float, typer.Option(metavar="SECONDS", help="seconds after which a run is given up")] = 3.0,
    as_json: Json = False,
) -> None:
    """Time trees and integrators at equal error.

    For each of them the loosest tolerance is taken that comes as close to a tight reference run as --error asks.
    """
    if not 1e-11 <= error < 1:
        raise OptionError(f"--error {error:g}", expected="a number from 1e-11 to below 1")
    chosen = choice.read()
    end = chosen.end(t_end)
    with chosen.about():
        bench_ = _Bench(chosen, end, error, repeat, budget)
        rows = list(bench_.rows(integrator))
    rows.sort(key=lambda row: (row.seconds is None, row.seconds))
    if as_json:
        told = {"model": chosen.model.name, "t_end": end, "error": error, "compared": bench_.names}
        emit(told | {"reference_error": bench_.doubt, "writing": bench_.writing, "runs": [asdict(row) for row in rows]})
        return
    print(f"{chosen.model.name} to {end:g} s, error {error:g} in {_few(bench_.names)}")
    print(f"reference: {bench_.reference.statistics.integrator} at rtol {TIGHT:g}, known to {bench_.doubt:.0e}")
    for name, spent in bench_.writing.items():
        print(f"equations written{f' with the {name} tree' if name else ''} in {1e3 * spent:.0f} ms")
    table(COLUMNS, (_cells(row) for row in rows))


class _Bench:
    """The reference, and the runs that are compared with it."""

    def __init__(self, chosen: Chosen, end: float, error: float, repeat: int, budget: float) -> None:
        self.chosen, self.end, self.error, self.repeat, self.budget = chosen, end, error, repeat, budget
        self.writing: dict[str, float] = {}
        equations = chosen.model.equations(chosen.tree)
        self.reference = self._run(equations, "auto", TIGHT, limit=60.0)
        self.names = self._compared(self.reference)
        self.doubt = self._difference(self._run(equations, "auto", 10 * TIGHT, limit=60.0))
        if self.doubt > error / 3:
            raise CotreeError(
                f"the reference itself is only known to {self.doubt:.1e}",
                expected=f"less than a third of the error {error:g}",
                remedy="Ask for a larger --error or a shorter run with --t-end",
            )

    def _trees(self) -> Iterator[tuple[str, Any]]:
        """The tree that was asked for, or all that suit the model."""
        model, choice = self.chosen.model, self.chosen.choice
        if model.mechanical and not model.nodal and not (choice.tree or choice.rotation_tree or choice.into_tree):
            yield from (("joint", model.tree("joint")), ("absolute", model.tree("absolute")))
        else:
            yield choice.tree or "", self.chosen.tree

    def rows(self, wanted: Sequence[str] | None) -> Iterator[Row]:
        """All runs; a method that does not suit is told with its reason where it was asked for."""
        from cotree.solve.integrator import choose
        from cotree.solve.methods import INTEGRATORS
        from cotree.solve.problem import Problem

        for name, tree in self._trees():
            self.chosen.model.__dict__.pop("_written", None)  # equations are kept; here they are timed
            clock = time.perf_counter()
            equations = self.chosen.model.equations(tree)
            self.writing[name] = time.perf_counter() - clock
            problem = Problem.of(equations)
            for method in wanted or list(INTEGRATORS):
                try:
                    choose(method, problem)
                except OptionError:
                    if wanted:
                        raise
                    continue
                yield self._row(name, method, equations)

    def _row(self, tree: str, method: str, equations: SystemEquations) -> Row:
        from cotree.solve.methods import INTEGRATORS

        row = Row(tree, method)
        fixed = INTEGRATORS[method].needs_step  # such methods have no error of their own: their steps get shorter
        for rtol, step in [(TOLERANCES[0], self.end / n) for n in STEPS] if fixed else [(r, None) for r in TOLERANCES]:
            try:
                solution = self._run(equations, method, rtol, self.budget, step)
                row.rtol, row.error = None if fixed else rtol, self._difference(solution)
                row.remark = f"step {step:g} s" if step is not None else ""
                if row.error > self.error:
                    continue
                runs = [self._run(equations, method, rtol, self.budget, step) for _ in range(self.repeat)]
            except SolveError as reason:
                if requested():
                    raise
                row.remark = reason.found[:60]
                return row
            best = min((each.statistics for each in runs), key=lambda each: each.seconds_integration)
            row.steps, row.evaluations, row.seconds = best.steps, best.evaluations, best.seconds_integration
            row.times_real = self.end / best.seconds_integration
            return row
        row.remark = "the error is not reached"
        return row

    def _run(
        self, equations: SystemEquations, method: str, rtol: float, limit: float, step: float | None = None
    ) -> api.Solution:
        from cotree.facade.runs import simulate_equations

        clock = time.perf_counter()

        def stop(fraction: float) -> None:
            leave_if_requested()
            if time.perf_counter() - clock > limit and fraction < 1:
                raise SolveError(f"given up after {limit:g} s at {100 * fraction:.0f} %")

        options = {
            k: v for k, v in self.chosen.written.run.options().items() if k in ("start", "max_step", "max_steps")
        }
        options |= {"points": POINTS, "integrator": method, "rtol": rtol, "parameters": self.chosen.changes}
        options |= {} if step is None else {"step": step}
        return simulate_equations(equations, self.end, progress=stop, **options)

    def _compared(self, solution: api.Solution) -> list[str]:
        """Results that say where the model is: joint coordinates or places, otherwise the states."""
        from cotree.cli.summary import main_names, scalars

        names = main_names(self.chosen.model, solution) or list(solution.states)
        found = [part for name in names for part in scalars(name, solution)]
        return [name for name in found if solution[name].max() > solution[name].min()] or found

    def _difference(self, solution: api.Solution) -> float:
        """The largest difference from the reference, over the range of each result."""
        worst = 0.0
        for name in self.names:
            right = self.reference[name]
            span = float(right.max() - right.min()) or float(abs(right).max()) or 1.0
            worst = max(worst, float(abs(solution[name] - right).max()) / span)
        return worst


def _cells(row: Row) -> list[str]:
    def shown(value: float | None, form: str, factor: float = 1.0) -> str:
        return "" if value is None else format(factor * value, form)

    return [
        row.tree, row.integrator, shown(row.rtol, ".0e"), shown(row.error, ".1e"), shown(row.steps, ".0f"),
        shown(row.evaluations, ".0f"), shown(row.seconds, ".1f", 1e3), shown(row.times_real, ".3g"), row.remark,
    ]  # fmt: skip


def _few(names: Sequence[str]) -> str:
    from cotree.errors import listing

    return listing(names, 4)


COMMANDS = {
    bench: """\
  cotree bench four_bar.yaml
  cotree bench four_bar.yaml --error 1e-8 --integrator adams --integrator idas --tree joint"""
}
