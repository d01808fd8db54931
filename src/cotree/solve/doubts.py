"""Why a run of a mechanism cannot be right or cannot go on, and which part is to blame."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError, listing
from cotree.solve.diagnostics import looked_at

if TYPE_CHECKING:
    from cotree.formulation import SystemEquations
    from cotree.results import Solution
    from cotree.solve.run import Run

Array = NDArray[np.float64]

HELD = 1e-6
"""Residual of an equation that was left out as redundant, as a part of the extent of the motion where it is a length,
beyond which it is not redundant after all."""
PUSHED = 1e-9
"""Part of the largest force of a run by which a cable's tension may be below zero."""


def lost_output(run: Run, t: float, target: float, x: Array, m: Array) -> SolveError | None:
    """The error for the first result without a finite value shortly after a time, if there is one.

    The state is carried on by its rates, a little beyond the target.

    Only results that do not follow from accelerations count, since those are lost together.
    """
    e = run.problem.equations
    if e.mechanics is None or not run.problem.eliminated:
        return None
    unknown = ca.vertcat(e.u_dot, e.multipliers.symbols)
    own = {name: o for name, o in e.outputs.items() if not ca.depends_on(o.expression, unknown)}
    stacked = ca.densify(e.in_time(ca.vertcat(*(o.expression for o in own.values()))))
    function = ca.Function("own", [e.t, run.problem.x, e.p.symbols, e.mode_symbols], [stacked])
    times = np.linspace(t, t + 1.5 * (target - t), 151)
    w = run.problem.w_of(t, x, np.zeros(0), run.p, m)
    rates = np.asarray(run.problem.rates(t, x, w, run.p, m), dtype=float).ravel()
    states = x[:, None] + np.where(np.isfinite(rates), rates, 0.0)[:, None] * (times - t)
    values = np.asarray(function(times[None, :], states, run.p, m), dtype=float)
    finite = np.isfinite(values)
    if finite.all():
        return None
    when = int(np.argmin(finite.all(axis=0)))
    names = [name for name, right in zip(own, finite[:, when], strict=True) if not right and "energy" not in name]
    return SolveError(
        f"{listing(names[:1]) or 'the energy'} has no finite value at t = {times[when]:g} s",
        remedy="Change its expression; results before are kept",
    )


def broken_redundancy(run: Run) -> SolveError | None:
    """The error for an equation that was left out as redundant but does not hold any more, if there is one."""
    e = run.problem.equations
    if e.mechanics is None or not e.mechanics.left_out.numel() or not run.times:
        return None
    left = ca.densify(e.mechanics.left_out)
    function = ca.Function("left", [e.t, e.q.symbols, e.p.symbols, e.mode_symbols], [left])
    t, x, m = looked_at(run)
    if run.problem.settled_well is not None:  # what the integrator leaves off the constraints says nothing
        x = np.asarray(run.problem.on_constraints(t, x, run.p, m)[0], dtype=float)
    values = np.asarray(function(t, x[: len(e.q)], run.p, m), dtype=float)
    rtol = run.method.options.rtol
    held = max(HELD, 100 * rtol)  # a rough run leaves more
    angles = x[[k for k, unit in enumerate(e.q.units) if unit == "rad"]]
    turned = rtol / held * float(np.abs(angles).max(initial=0.0))  # an angle is known to its part of rtol
    sizes = np.where(e.mechanics.left_out_lengths, run.extent(), 1.0 + turned)
    worst = np.abs(values / sizes[:, None]).max(axis=0)
    if not np.any(worst > held):
        return None
    when = int(np.argmax(worst > held))
    most = float(np.abs(values[:, when]).max())
    owner = e.mechanics.left_out_names[int(np.argmax(np.abs(values[:, when]) / sizes))]
    if np.array_equal(run.p, e.p.start):
        return SolveError(
            f"an equation that follows from others at the start does not hold any more: it is off by {most:.3g} "
            f"at t = {t[0, when]:g} s",
            where=owner,
            expected="supports, joints and drives that agree over the whole run",
            remedy=f"Remove '{owner}', give it the course that the others allow, or start away from this position",
        )
    return SolveError(
        f"an equation of '{owner}', left out as redundant for the model's own values, is off by {most:.3g} "
        f"at t = {t[0, when]:g} s",
        expected="parameters with which the loop closes as in the model",
        remedy="Give these values in the model itself, so that its equations are chosen anew",
    )


def pushing_cable(equations: SystemEquations, solution: Solution) -> SolveError | None:
    """The error for a cable that would have to push, with the results before it; None where all of them pull."""
    first, which = len(solution.t), ""
    forces = [solution.values[name] for name, unit in solution.units.items() if unit == "N"] if equations.pulls else []
    largest = max([0.0, *(float(np.abs(each[np.isfinite(each)]).max(initial=0.0)) for each in forces)])
    for name in equations.pulls:
        below = solution.values[name] < -PUSHED * largest
        if below.any() and int(np.argmax(below)) < first:
            first, which = int(np.argmax(below)), name
    if not which:
        return None
    error = SolveError(
        f"the cable would have to push: its tension is {solution.values[which][first]:.6g} N at "
        f"t = {solution.t[first]:g} s",
        where=which.removesuffix(".tension"),
        expected="a tension of zero or more: cables pull",
        remedy="Let it run out more slowly, or use an ElasticCable, which may go slack"
        + ("; results before are kept" if first else ""),
    )
    error.solution = until(solution, first) if first else None
    return error


def until(solution: Solution, count: int) -> Solution:
    """The first points of a solution, which is then incomplete."""
    audit = solution.audit
    parts = {name: getattr(audit, name)[:count] for name in ("t", "stored", "dissipated", "supplied")}
    cut = dataclasses.replace(
        solution,
        t=solution.t[:count],
        values={name: values[:count] for name, values in solution.values.items()},
        audit=dataclasses.replace(audit, **parts),
        complete=False,
    )
    return events_until(cut, float(solution.t[count - 1]) if count else -np.inf)


def events_until(solution: Solution, t: float) -> Solution:
    """The solution with its events up to a time only."""
    kept = {name: times <= t for name, times in solution.events.items()}
    values = {
        name: {key: each[kept[name]] for key, each in found.items()} for name, found in solution.event_values.items()
    }
    events = {name: times[kept[name]] for name, times in solution.events.items()}
    return dataclasses.replace(solution, events=events, event_values=values)
