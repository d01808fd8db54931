"""Analyses over time, with their options written out."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cotree.facade.solution import Solution, wrapped
from cotree.model import model as _model
from cotree.model.event import Event
from cotree.model.helpful import helpful
from cotree.model.quantity import Given, Time, seconds
from cotree.results import Origin

if TYPE_CHECKING:
    from cotree.formulation import SystemEquations
    from cotree.graph import Tree
    from cotree.solve.inverse import InverseDynamics
    from cotree.solve.sensitivity import Sensitivities
    from cotree.solve.statics import Equilibrium

Times = Sequence[Time] | NDArray[np.float64]
"""Times in s, or texts with units."""


class Runs(_model.Model):
    """A model with its analyses over time."""

    if TYPE_CHECKING:

        def equations(self, tree: Any = None) -> SystemEquations: ...

        def _origin(self, tree: Any) -> Origin: ...

        def _spanning(self, tree: Any) -> Any: ...

    @helpful
    def simulate(
        self,
        t_end: Time,
        *,
        tree: Any = None,
        out: str | Path | None = None,
        t_start: Time = 0.0,
        points: int | None = None,
        times: Times | None = None,
        parameters: Given | None = None,
        start: Given | str | Equilibrium | None = None,
        integrator: str = "auto",
        rtol: float = 1e-8,
        atol: float | None = None,
        max_steps: int = 100_000,
        max_step: Time | None = None,
        step: Time | None = None,
        spectral_radius: float = 0.9,
        compiled: bool | None = None,
        progress: bool | Callable[[float], None] | None = None,
        events: Sequence[Event] | Event = (),
    ) -> Solution:
        """Integrate the equations of motion from ``t_start`` to ``t_end``.

        Times are numbers in s or texts such as ``"5 ms"``.

        Parameters
        ----------
        t_end
            End of the run.
        tree
            A tree, a preset for `Model.tree`, or for a mechanism a pair of them; default: the joint tree of a
            mechanism, the normal tree of a network.
        out
            HDF5 file that is written during the run; `cotree.resume` finishes a run that was cut off.
        t_start
            Start of the run, s.
        points
            Number of evenly spaced output times; default 501.
        times
            The output times themselves instead of ``points``.
        parameters
            Changed values by name, in SI units or with a unit: ``{"length": "30 cm", "crank.mass": 2}``.
        start
            Start values of states by name, ``"steady"`` for the operating point, or an equilibrium that
            `static_equilibrium` has found.
        integrator
            ``"auto"``, or the name of one: ``cvodes`` (BDF), ``adams``, ``rk45``, ``rodas``, ``generalised_alpha``, ...
        rtol
            Relative tolerance.
        atol
            Absolute tolerance in SI units. By default a quick trial run finds the size of every variable, and
            rtol / 100 of it is tolerated.
        max_steps
            Most steps of the integrator.
        max_step
            Longest step, s. Only needed for what is shorter than 1/20,000 of the run: steps are kept short where a
            source bends sharply.
        step
            Fixed step, s, of the integrators that allow one.
        spectral_radius
            Damping of high frequencies by generalised-alpha: 1 for none, 0 for all.
        compiled
            Whether equations become machine code; by default they do where it saves time.
        progress
            ``True`` or ``False`` for a progress bar or none, or a function that is called with the part that is done,
            from 0 to 1. By default a bar appears in terminals and notebooks once a run takes longer than 2 s. The
            results do not depend on it.
        events
            What to watch: the times are in ``solution.events``, and an event may end the run.

        Returns
        -------
        Solution
            All results by name over time.

        Raises
        ------
        SolveError
            If the integration fails or is interrupted; its attribute ``solution`` holds the results so far.

        Examples
        --------
        >>> sol = model.simulate("2 s", step="1 ms", integrator="generalised_alpha")
        >>> sol["O.angle"]
        """
        from cotree.solve.cut import cut_by_run
        from cotree.view.progress import watched

        options = {
            "t_start": t_start, "points": points, "times": times, "parameters": self._changes(parameters),
            "start": getattr(start, "state", start), "integrator": integrator, "rtol": rtol, "atol": atol,
            "max_steps": max_steps, "max_step": max_step, "step": step, "spectral_radius": spectral_radius,
            "compiled": compiled, "events": events,
        }  # fmt: skip
        clock = time.perf_counter()
        cut_by_run(self, tree, t_end, options)
        equations = self.equations(tree)
        spent = time.perf_counter() - clock
        with watched(progress) as watch:
            return simulate_equations(
                equations, t_end, spent, out=out, origin=self._origin(tree), progress=watch, **options
            )

    @helpful
    def kinematics(
        self,
        t_end: Time,
        *,
        tree: Any = None,
        t_start: Time = 0.0,
        points: int | None = None,
        times: Times | None = None,
        parameters: Given | None = None,
    ) -> Solution:
        """The motion, reactions and driver forces of a mechanism whose degrees of freedom are all driven.

        Parameters
        ----------
        t_end, t_start
            End and start, s (start by default 0), or texts with a unit.
        tree
            As for `simulate`.
        points, times
            The number of evenly spaced output times (default 501), or the times themselves.
        parameters
            Changed values by name.

        Returns
        -------
        Solution
            All results by name over time.
        """
        from cotree.solve.kinematics import kinematics

        found = self.equations(tree)
        done = {"analysis": "kinematics", "t_end": seconds(t_end, "t_end")}
        origin = dataclasses.replace(self._origin(tree), options=done)
        changes = self._changes(parameters)
        return wrapped(
            lambda: kinematics(found, t_end, t_start=t_start, points=points, times=times, parameters=changes), origin
        )

    @helpful
    def inverse_dynamics(
        self,
        t_end: Time,
        motion: Mapping[str, Any] | None = None,
        *,
        tree: str | Tree | Sequence[str | Tree] | None = None,
        t_start: Time = 0.0,
        points: int | None = None,
        times: Times | None = None,
        parameters: Given | None = None,
    ) -> InverseDynamics:
        """The driver forces and torques that a given motion needs.

        Parameters
        ----------
        t_end, t_start
            End and start, s (start by default 0), or texts with a unit.
        motion
            The courses of joint coordinates by name: an expression of time, or a pair of times and values. Without
            them the model's own drivers move it.
        tree
            A preset; drivers that are added are edges of the graph, too.
        points, times
            The number of evenly spaced output times (default 501), or the times themselves.
        parameters
            Changed values by name.

        Examples
        --------
        >>> model.inverse_dynamics(2.0, {"O.angle": "0.3*sin(t)"})["O.angle"]  # the torque in N m
        """
        from cotree.solve.inverse import inverse_dynamics

        changes = self._changes(parameters)
        return inverse_dynamics(
            self, t_end, motion, tree=tree, t_start=t_start, points=points, times=times, parameters=changes
        )

    @helpful
    def sensitivities(
        self,
        outputs: Iterable[str],
        wrt: Iterable[str],
        t_end: Time,
        *,
        tree: Any = None,
        t_start: Time = 0.0,
        points: int | None = None,
        times: Times | None = None,
        parameters: Given | None = None,
        start: Given | None = None,
        integrator: str = "auto",
        rtol: float = 1e-8,
        max_steps: int = 100_000,
    ) -> Sensitivities:
        """Exact derivatives of results with respect to parameters and start values, over time.

        Parameters
        ----------
        outputs
            Results by name.
        wrt
            Parameters, or start values: a joint's coordinate or speed that the model or ``start`` gives, or that of the
            assembled start otherwise, which is then held exactly.
        t_end, t_start
            End and start, s (start by default 0), or texts with a unit.
        tree, points, times, parameters, start, integrator, rtol, max_steps
            As for `simulate`.

        Examples
        --------
        >>> model.sensitivities("O.force.x", "crank.mass", 2.0)["O.force.x", "crank.mass"]  # N/kg
        """
        from cotree.solve.sensitivity import sensitivities

        return sensitivities(
            self.equations(tree), outputs, wrt, t_end, t_start=t_start, points=points, times=times, start=start,
            parameters=self._changes(parameters), integrator=integrator, rtol=rtol, max_steps=max_steps,
        )  # fmt: skip

    def _changes(self, parameters: Given | None) -> dict[str, float] | None:
        """Changed values as numbers."""
        from cotree.model.changes import changed_values

        return None if parameters is None else changed_values(self, parameters)


def simulate_equations(
    equations: SystemEquations, t_end: Time, spent: float = 0.0, *,
    out: str | Path | None = None, origin: Origin | None = None, **options: Any,
) -> Solution:  # fmt: skip
    """Integrate equations that took ``spent`` seconds to build, by a run whose origin may be kept."""
    from cotree.io.runs import results_path
    from cotree.solve.recording import Recording
    from cotree.solve.simulate import simulate

    record = Recording(None if out is None else results_path(out), origin)
    return wrapped(lambda: simulate(equations, t_end, seconds_formulation=spent, record=record, **options))
