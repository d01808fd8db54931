"""The result of a run as users see it: with its pictures and its report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cotree.errors import FileError, ResultError, SolveError
from cotree.model.helpful import helpful
from cotree.model.model import Model
from cotree.results import Origin
from cotree.results import solution as _solution

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Solution(_solution.Solution):
    """The result of a run, with its pictures."""

    _elsewhere: ClassVar[dict[str, str]] = {
        "save": "solution.to_hdf5(path), to_csv(path), to_parquet(path) or to_matlab(path)", "keys": "solution.names",
        "columns": "solution.names", "items": "solution.values.items()", "report": "model.report(solution, path)",
        "time": "solution.t", "times": "solution.t", "y": "solution[name]", "to_excel": "solution.to_pandas().to_excel",
        "get": "solution[name]", "animate": "solution.show()", "draw": "solution.plot(name)",
        "warnings": "solution.notes", "units": "solution.unit(name)",
    }  # fmt: skip

    @helpful
    def plot(self, *names: str | Iterable[str], path: str | Path | None = None, x: str = "t") -> Figure:
        """Plot results over time or over another result; a notebook shows the picture.

        Parameters
        ----------
        names
            Names, names of vectors and patterns (``"O.angle"``, ``"O.force"``, ``"*.angle"``), one by one or in lists;
            default: the states.
        path
            File to write: SVG, PNG or PDF.
        x
            The result along the horizontal axis; default: time.
        """
        from cotree.view.plots import plot_solution

        flat = [name for entry in names for name in self.matching(entry)]
        return plot_solution(self, flat, path, x)

    @helpful
    def show(self, path: str | Path | None = None, plots: Any = None) -> Path:
        """The report of the run as one HTML page: written to a path, or shown by a notebook or a browser.

        The model is taken from the solution; where it could not be kept there, use `Model.show`.
        """
        if self.origin is None or self.origin.model is None:
            why = f": {self.origin.why_not}" if self.origin is not None and self.origin.why_not else ""
            raise ResultError(
                f"the model is not stored with the results of '{self.model}'{why}",
                where="Solution.show",
                remedy="Give it with the results: model.show(solution, path)",
            )
        from cotree.formulation import model_equations
        from cotree.io.runs import rebuilt
        from cotree.view.notebook import opened
        from cotree.view.report import write_report

        model, tree = rebuilt(self, Model)
        return opened(
            lambda target: write_report(model, tree, model_equations(model, tree), self, Path(target), plots), path
        )

    def _repr_html_(self) -> str:
        from cotree.view.notebook import solution_html

        return solution_html(self)


def wrapped(run: Callable[[], _solution.Solution], origin: Origin | None = None) -> Solution:
    """The solution of a run with its pictures, also where an error carries it."""

    def whole(found: _solution.Solution) -> Solution:
        return Solution(**(vars(found) if origin is None else {**vars(found), "origin": origin}))

    try:
        return whole(run())
    except (SolveError, FileError) as error:
        if isinstance(error.solution, _solution.Solution):
            error.solution = whole(error.solution)
        raise
