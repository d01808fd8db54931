"""The façade that users import: it forwards to the rooms and holds no logic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cotree.errors import GraphError, ResultError
from cotree.facade.analyses import Analyses
from cotree.facade.solution import Solution, wrapped
from cotree.model import model as _model
from cotree.model.helpful import helpful
from cotree.results import solution as _solution
from cotree.results.origin import Origin

if TYPE_CHECKING:
    from cotree.bond import Bond
    from cotree.bond.causality import Causality
    from cotree.bond.structural import Structural
    from cotree.fem.mesh import Mesh
    from cotree.formulation import SystemEquations
    from cotree.graph import LinearGraph, Tree
    from cotree.model.edge import Edge

__all__ = ["Model", "Solution", "load", "origin_of", "read_mesh", "rebuild", "resume"]


class Model(Analyses):
    """Named components between named nodes: build, explain, simulate, linearise.

    >>> m = Model("RC")
    >>> m.add(VoltageSource("V", ("in", "ground"), voltage=1.0))
    >>> m.add(Resistor("R", ("in", "out"), resistance=1e3))
    >>> m.add(Capacitor("C", ("out", "ground"), capacitance=1e-6))
    >>> m.simulate(t_end=5e-3)["C.voltage"][-1]
    """

    _elsewhere: ClassVar[dict[str, str]] = {
        "statics": "model.static_equilibrium()", "equilibrium": "model.static_equilibrium()",
        "run": "model.simulate(t_end)", "solve": "model.simulate(t_end)", "integrate": "model.simulate(t_end)",
        "eigenmodes": "model.modes()", "eigenvalues": "model.modes()", "frequencies": "model.modes().frequencies",
        "linearize": "model.linearise()", "latex": "model.to_latex()", "plot": "model.draw(), or solution.plot(...)",
        "animate": "model.show(solution)", "bodies": "model.components", "joints": "model.components",
        "write": "model.save(path)", "read": "cotree.load(path)", "results": "model.simulate(t_end).names",
    }  # fmt: skip

    @helpful
    def connect(self, tail: str, head: str | None = None, name: str | None = None, width: int | None = None) -> Bond:
        """Add a bond to a bond graph, given by two ends or as ``"tail -> head"``; without a name it is numbered."""
        from cotree import bond

        ends = bond.bond_ends(tail, head)
        return self.add(bond.Bond(name or bond.next_bond(self.components), *ends, width=width))

    def causality(self) -> Causality:
        """The causality of a bond graph, assigned step by step, with the reason for each stroke."""
        from cotree.bond.explain import model_causality

        return model_causality(self)

    @helpful
    def structural(self, outputs: Iterable[str] = ()) -> Structural:
        """Order, controllability and observability of a bond graph by its causal paths."""
        from cotree.bond.explain import model_structural

        return model_structural(self, outputs)

    def to_bond_graph(self) -> Model:
        """The same network or rigid mechanism as a bond graph."""
        from cotree.bond.bridges import to_bond_graph

        return to_bond_graph(self)

    def to_network(self) -> Model:
        """The same scalar bond graph as a network."""
        from cotree.bond.bridges import to_network

        return to_network(self)

    def simplified(self) -> Model:
        """The same bond graph with junctions contracted: 1-1, 0-0, and those that only pass power on."""
        from cotree.bond.bridges import simplified

        return simplified(self)

    def graph(self, virtual_work: bool = True) -> LinearGraph:
        """The linear graph of the model; of a mechanism with its dependent ``virtual_work`` edges, or without them."""
        from cotree.formulation import model_graph

        return model_graph(self, virtual_work)

    @helpful
    def tree(
        self,
        prefer: str | Callable[[Edge], Any] | None = None,
        into_tree: Iterable[str] = (),
        into_cotree: Iterable[str] = (),
        *,
        seed: int | None = None,
    ) -> Tree:
        """A spanning tree of the model's graph, by preset, with edges pinned into the tree or the cotree.

        Parameters
        ----------
        prefer
            ``"normal"``, ``"kinds"``, ``"absolute"``, ``"joint"``, ``"random"``, or a function that orders edges. The
            default is the normal tree of a network and the joint tree of a mechanism.
        into_tree, into_cotree
            Names of edges that have to be branches, or chords.
        seed
            A whole number for ``"random"``, default 0: the same seed draws the same tree. All trees that give equations
            are equally probable; in a mechanism these are trees of joints and bodies, with all arms.

        Examples
        --------
        >>> model.simulate(2.0, tree=model.tree("random", seed=1))
        """
        from cotree.formulation import model_tree

        return model_tree(self, self.graph(), prefer, into_tree, into_cotree, seed)

    @helpful
    def equations(self, tree: Any = None) -> SystemEquations:
        """The equations, written with a tree, a preset for `tree`, a pair of them for a mechanism, or the default."""
        from cotree.formulation import model_equations
        from cotree.solve.cut import cut_by_statics

        cut_by_statics(self, tree)
        return model_equations(self, None if tree is None else self._spanning(tree))

    def to_branch(self) -> Model:
        """The same nodal structure as a mechanism in branch coordinates."""
        from cotree.formulation.nodal.branch_model import branch_model

        return branch_model(self)

    @helpful
    def explain(self, tree: Any = None, most: int = 12) -> str:
        """Graph -> tree -> counts -> equations, as text; of a bond graph with its causality."""
        if self.bonded:
            from cotree.bond.explain import explain_bond_graph

            return explain_bond_graph(self, self.equations(), most)
        from cotree.formulation.explain import explain_model

        return explain_model(self, None if tree is None else self._spanning(tree), most)

    @helpful
    def to_latex(self, tree: Any = None) -> str:
        """All equations as LaTeX with headings, to be put into a document that uses amsmath.

        Cutset, circuit, terminal and system equations; of a mechanism M, h, Phi and G.

        Parameters
        ----------
        tree
            As for `equations`.

        Examples
        --------
        >>> Path("equations.tex").write_text(model.to_latex())
        """
        if self.bonded:
            from cotree.bond.explain import bond_graph_latex

            return bond_graph_latex(self, self.equations())
        from cotree.formulation.latex import model_latex

        chosen = self._spanning(tree)
        trees = chosen if isinstance(chosen, tuple) else (chosen,)
        return model_latex(self, trees, self.equations(tree))

    @helpful
    def draw(
        self, path: str | Path | None = None, tree: Any = None, level: str = "masks", collapse: bool | None = None
    ) -> Any:
        """Draw the graph, the tree bold and the cotree dashed; returns the figure.

        Beyond 50 edges bodies with all their frames become nodes (see `cotree.view.collapse`); ``collapse`` says yes or
        no to that. Of two trees of a mechanism that of the rotations goes to a file of its own: ``graph-rotation.svg``.
        Of a bond graph ``level`` chooses what is shown: ``masks`` as boxes, ``open`` for everything, or the inside of
        one mask; a path may end in .svg, .png, .pdf or .tex (TikZ).
        """
        if self.bonded:
            from cotree.view.bond_drawing import draw_bond_graph

            return draw_bond_graph(self, path, level)
        from cotree.view.graph_drawing import draw_graph

        return draw_graph(self._spanning(tree), path, collapse=collapse)

    @helpful
    def report(self, solution: Solution, path: str | Path, tree: Any = None, plots: Any = None) -> Path:
        """One HTML page: graph, equations, plots, energy and statistics."""
        from cotree.view.report import write_report

        chosen = self._spanning(tree)
        return write_report(self, chosen, self.equations(chosen), solution, Path(path), plots)

    @helpful
    def show(
        self,
        solution: Solution | str | Path | None = None,
        path: str | Path | None = None,
        tree: Any = None,
        plots: Any = None,
    ) -> Path:
        """Show the report of a run, or without one a preview: the assembled start, the graph, counts and diagnostics.

        Parameters
        ----------
        solution
            The run; without it the model is previewed, and a path may stand in its place.
        path
            File to write. Without one a notebook shows the page in a frame, and elsewhere a browser opens it.
        tree, plots
            As for `report`.

        Returns
        -------
        Path
            The HTML file.

        Examples
        --------
        >>> model.show()  # before a run
        >>> model.show(model.simulate(2.0), "run.html")
        """
        from cotree.facade.preview import preview
        from cotree.view.notebook import opened

        if isinstance(solution, (str, Path)) and path is None:
            solution, path = None, solution
        if solution is None:
            return opened(lambda target: preview(self, tree, target), path)
        if not isinstance(solution, Solution):
            raise ResultError(
                f"show is given {solution!r:.60}",
                expected="a solution: sol = model.simulate(...), then model.show(sol, path) or sol.show(path)",
            )
        run = solution
        return opened(lambda target: self.report(run, target, tree, plots), path)

    def _repr_html_(self) -> str:
        from cotree.view.notebook import model_html

        return model_html(self, self._spanning)

    def _repr_svg_(self) -> str | None:
        from cotree.view.notebook import model_svg

        return model_svg(self, self._spanning)

    @helpful
    def to_c(self, path: str | Path, tree: Any = None) -> Path:
        """Write the equations as C code: of a mechanism mass matrix, bias, constraints, accelerations and all results.

        ``NAME_outputs`` computes the results, whose names and units are the arrays ``NAME_output_names`` and
        ``NAME_output_units``.
        """
        from cotree.io.c_code import write_c

        return write_c(self.equations(tree), Path(path))

    @helpful
    def save(self, path: str | Path) -> Path:
        """Write the model as a YAML model file."""
        from cotree.io import write_model

        return write_model(self, Path(path))

    @classmethod
    @helpful
    def load(cls, path: str | Path, *, within: str | Path | None = None, changes: Any = None) -> Model:
        """Read a YAML model file whose files lie in its folder, or ``within``; ``changes``: ``{"hinge.angle": 0}``."""
        from cotree.io import read_model

        return read_model(Path(path), cls, None if within is None else Path(within), changes).model

    @classmethod
    @helpful
    def from_mapping(cls, data: Mapping[str, Any]) -> Model:
        """The model described by plain data, as in a model file."""
        from cotree.io import model_from_data

        return model_from_data(data, cls)

    def _origin(self, tree: Any) -> Origin:
        """Model and tree as plain data, kept as long as the equations that were just written."""
        from cotree.io.runs import kept_origin

        return kept_origin(self, tree, self._spanning)

    def _spanning(self, tree: Any) -> Any:
        """A tree as the user gave it: itself, by preset, a pair of them, or the default tree."""
        from cotree.graph import Tree

        if self.bonded:
            if tree is not None:
                raise GraphError(f"the tree is {tree!r}", expected="none: a bond graph has causality instead of a tree")
            return None
        if self.mechanical and isinstance(tree, (tuple, list)):
            return tuple(self._spanning(each) for each in tree)
        if tree is not None and not isinstance(tree, (str, Tree)):
            raise GraphError(
                f"the tree is {tree!r}",
                expected="normal, kinds, absolute, joint, random, or a tree",
                remedy="Pin edges with tree=model.tree(into_tree=[...])",
            )
        return tree if isinstance(tree, Tree) else self.tree(tree)


def origin_of(model: _model.Model, tree: Any = None) -> Origin:
    """The model and the tree of its equations as plain data, to be kept with results."""
    from cotree.io import runs

    return runs.origin_of(model, tree)


@helpful
def rebuild(solution: _solution.Solution) -> tuple[Model, Any]:
    """The model of a solution, and the tree that its equations were written with."""
    from cotree.io.runs import rebuilt

    return rebuilt(solution, Model)


@helpful
def resume(
    source: str | Path | Solution,
    *,
    model: Model | None = None,
    progress: bool | Callable[[float], None] | None = None,
) -> Solution:
    """Finish a run that was interrupted, failed or was killed, from its results file; a finished one is returned.

    The file is written as the run goes on. A model that could not be stored has to be given. ``progress`` is that of
    `Model.simulate`.
    """
    from cotree.io.runs import resumed
    from cotree.view.progress import watched

    with watched(progress) as watch:
        return wrapped(lambda: resumed(source, Model, model, watch))


@helpful
def read_mesh(path: str | Path, *, orient: bool = False, edge_lines: bool = False) -> Mesh:
    """The mesh of lines and triangles in a file of another program.

    Parameters
    ----------
    path
        A file that meshio reads: .msh, .inp, .bdf, .vtk, .vtu, .stl, ...; lengths in m.
    orient
        Whether triangles are turned so that neighbours agree which side is up.
    edge_lines
        Whether lines along edges of triangles are kept as lines, for beams; most files only mark a boundary by them.
        They are sets in any case.
    """
    from cotree.io.mesh_file import read_mesh

    return read_mesh(path, orient=orient, edge_lines=edge_lines)


@helpful
def load(path: str | Path, *, within: str | Path | None = None, changes: Any = None) -> Model:
    """Read a YAML model file, with changed values; see `Model.load`."""
    return Model.load(path, within=within, changes=changes)
