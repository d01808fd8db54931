"""All results at the consistent start of a model, as a solution with one time: what a preview shows."""

from __future__ import annotations

import numpy as np

from cotree.formulation import SystemEquations
from cotree.results import EnergyAudit, Solution
from cotree.results.solution import Statistics
from cotree.solve.consistent import algebraic_variables
from cotree.solve.held import held_modes
from cotree.solve.problem import Problem
from cotree.solve.starts import moved, start_values
from cotree.solve.tangent import flat


def at_start(equations: SystemEquations, t: float = 0.0) -> Solution:
    """The assembled start at a time."""
    e = equations
    problem = Problem.of(e)
    p = e.parameter_values(None) if e.parameter_values else e.p.start
    x = start_values(problem, p, t, None, flat(problem.mode_values(t, p)))
    m = held_modes(e, t, x, p, {})
    w = problem.w_of(t, x, algebraic_variables(problem, t, x, e.w.start, p, m), p, m)
    stored, *rows = flat(problem.outputs(t, x, w, p, m)).tolist()
    times, none = np.array([t]), np.zeros(1)
    values = {name: np.array([value]) for name, value in zip(e.outputs, rows, strict=True)}
    values |= {name: np.array([value]) for name, value in zip(e.state_names, x, strict=True) if name not in values}
    units = dict(zip(e.state_names, e.state_units, strict=True))
    units |= {name: output.unit for name, output in e.outputs.items()}
    said = (*e.diagnostics, *(each for each in moved(problem, p, t, None) if each not in e.diagnostics))
    audit = EnergyAudit(times, np.array([stored]), none, none, stored)
    numbers = dict(zip(e.p.names, map(float, p), strict=True))
    cost = Statistics("none", 0.0, None, 0, 0, 0, 0.0, 0.0)
    return Solution(e.name, times, values, units, audit, cost, numbers, e.state_names, said)
