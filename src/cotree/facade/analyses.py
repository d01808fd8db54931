"""Analyses at one time or of a structure, with their options written out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cotree.facade.runs import Runs, Times
from cotree.facade.solution import Solution
from cotree.model.helpful import helpful
from cotree.model.quantity import Given, Time, seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cotree.formulation.nodal.determinacy_report import Determinacy
    from cotree.solve.linear import LinearSystem
    from cotree.solve.modes import Modes
    from cotree.solve.statics import Equilibrium
    from cotree.terminal.recovery import Deformation

State = Given | Sequence[float]
"""Values of coordinates and speeds by name, or all of them in order."""


class Analyses(Runs):
    """A model with all its analyses; `cotree.Model` adds files, pictures and conversions."""

    @helpful
    def static_equilibrium(
        self,
        *,
        tree: Any = None,
        at: State | None = None,
        t: Time = 0.0,
        parameters: Given | None = None,
        seek: str = "stable",
    ) -> Equilibrium:
        """The position of rest under the forces at a time, with all results there.

        Parameters
        ----------
        tree
            As for `simulate`.
        at
            Coordinates to begin the search from, by name; default: the start of the model.
        t
            The time, s, at which sources and drivers are held.
        parameters
            Changed values by name.
        seek
            ``"stable"`` goes downhill, so that an equilibrium that would tip over is left; ``"nearest"`` takes the one
            that Newton's method finds, which may be unstable.

        Examples
        --------
        >>> rest = model.static_equilibrium(at={"O.angle": "-80 deg"})
        >>> rest["O.angle"], rest.stability
        """
        from cotree.solve.statics import static_equilibrium

        found = self.equations(tree)
        return static_equilibrium(found, at=at, t=t, parameters=self._changes(parameters), seek=seek)

    @helpful
    def modes(
        self,
        *,
        tree: Any = None,
        about: State | str = "equilibrium",
        t: Time = 0.0,
        parameters: Given | None = None,
    ) -> Modes:
        """Natural frequencies, damping and mode shapes of small motions about a state.

        For a machine these are the modes of all its states together; shapes then hold the states of networks and
        blocks, too.

        Parameters
        ----------
        tree
            As for `simulate`.
        about
            ``"equilibrium"`` (the static one), ``"start"``, or a state by name.
        t
            The time, s, at which sources and drivers are held.
        parameters
            Changed values by name.

        Examples
        --------
        >>> model.modes().frequencies  # Hz
        """
        from cotree.solve.modes import modes

        return modes(self.equations(tree), about=about, t=t, parameters=self._changes(parameters))

    @helpful
    def linearise(
        self,
        *,
        tree: Any = None,
        outputs: Iterable[str] | None = None,
        inputs: Iterable[str] | None = None,
        at: State | str | None = None,
        t: Time = 0.0,
        parameters: Given | None = None,
        independent: Iterable[str] | None = None,
    ) -> LinearSystem:
        """The linear system x' = A x + B s, y = C x + D s about a state, from exact derivatives.

        Where a storage is tied to a source, the rate of that input enters; the state is then shifted (x - E s) so that
        the usual form holds. In a machine the states of networks and blocks come after those of the mechanism.

        Parameters
        ----------
        tree
            As for `simulate`.
        outputs
            Results by name; default: all.
        inputs
            Inputs of a network; of a mechanism parameters by name, none by default; of a machine its constant sources
            by default.
        at
            States (and discrete values) by name, on top of the start values, or ``"steady"`` for the operating point.
        t
            The time, s.
        parameters
            Changed values by name.
        independent
            The coordinates of a mechanism that are its states, by name; default: chosen by the program.

        Examples
        --------
        >>> model.linearise(at="steady", outputs=["C.voltage"]).poles()  # 1/s
        """
        from cotree.solve.linear import linearise

        found, changes = self.equations(tree), self._changes(parameters)
        return linearise(found, outputs=outputs, inputs=inputs, at=at, t=t, parameters=changes, independent=independent)

    @helpful
    def deformation(self, solution: Solution | Equilibrium, body: str) -> Deformation:
        """The mesh of a flexible body over a run, or at rest: displacements, section forces and stresses."""
        from cotree.terminal.recovery import body_deformation

        return body_deformation(self, body, solution.t, solution.values)

    @helpful
    def determinacy(
        self,
        *,
        closed: Collection[str] = (),
        cables: bool = False,
        shapes: bool | None = None,
        parameters: Given | None = None,
    ) -> Determinacy:
        """Rank, independent modes, mechanisms and states of self-stress of a nodal structure at its start.

        Parameters
        ----------
        closed
            Latches and stops that hold, by name.
        cables
            Whether elastic cables and those of given tension count as members that keep their length, as in the
            analysis of a tensegrity; a prestress then has to pull them.
        shapes
            Whether mechanisms and states of self-stress are worked out; default: up to 1,200 coordinates.
        parameters
            Changed values by name.
        """
        from cotree.formulation.nodal.determinacy import determinacy

        changes = self._changes(parameters)
        return determinacy(self, closed=closed, cables=cables, shapes=shapes, parameters=changes)

    @helpful
    def draw_motion(
        self,
        solution: Solution,
        path: str | Path | None = None,
        *,
        times: Times | None = None,
        view: str | tuple[float, float] | None = None,
        forces: bool | None = None,
    ) -> Figure:
        """Draw a nodal structure at some instants of a run.

        Parameters
        ----------
        solution
            The run.
        path
            File to write: SVG, PNG or PDF.
        times
            The instants, s; default: six even ones. The stored results nearest to them are shown.
        view
            A plane (``"xy"``, ``"xz"``, ``"yz"``) or elevation and azimuth in degrees; a planar model is seen in its
            plane by default.
        forces
            Whether bars have the colour of tension or compression; default: unless some equations are redundant, since
            the forces are then not determined.

        Returns
        -------
        Figure
            A matplotlib figure.
        """
        from cotree.view.structure_drawing import draw_structure

        chosen = None if times is None else [seconds(each, "times") for each in times]
        return draw_structure(self, solution, times=chosen, path=path, view=view, forces=forces)
