"""Held values at a state that is looked at alone: as at the start, or by name, with switches that are due acted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError, listing
from cotree.formulation import SystemEquations
from cotree.maths.symbolic import column
from cotree.solve.consistent import algebraic_variables
from cotree.solve.problem import Problem
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]

MOST = 100
"""Changes at one state after which switches that go on acting are given up."""


class Held:
    """The modes and held values m of equations; those that are given by name stay as they are."""

    def __init__(self, e: SystemEquations, given: Mapping[str, float]) -> None:
        self.e, self.problem, self.given = e, Problem.of(e), given
        own = {e.held.names.index(name) for name in given}
        self.free = [each for each in e.switches if each.held and not {*each.held} & own]

    def start(self, t: float, p: Array) -> Array:
        """m at a time, before any switch."""
        m = np.asarray(self.problem.mode_values(t, p), dtype=float).ravel()
        for name, value in self.given.items():
            m[len(self.e.modes) + self.e.held.names.index(name)] = value
        return m

    @cached_property
    def _parts(self) -> tuple[ca.Function, ca.Function]:
        guards = column([each.guard for each in self.free])
        values = column([each.held[k] for each in self.free for k in sorted(each.held)])
        return self.problem._function("guards", guards), self.problem._function("values", values)

    def acted(self, t: float, x: Array, p: Array, m: Array) -> Array:
        """m after all switches that are due at a state have acted."""
        if not self.free:
            return m
        e, problem, first = self.e, self.problem, len(self.e.modes)
        ends = np.cumsum([0, *(len(each.held) for each in self.free)])
        m, guess = m.copy(), e.w.start
        for _ in range(MOST):
            z = algebraic_variables(problem, t, x, guess, p, m)
            w = problem.w_of(t, x, z, p, m)
            guards, values = (np.asarray(each(t, x, w, p, m), dtype=float).ravel() for each in self._parts)
            due = np.flatnonzero(guards > 0)
            if not len(due):
                return m
            k, guess = int(due[0]), guess if problem.eliminated else z
            m[[first + place for place in sorted(self.free[k].held)]] = values[ends[k] : ends[k + 1]]
        raise SolveError(
            f"switches go on acting at t = {t:g} s: {listing(dict.fromkeys(each.name for each in self.free))}",
            remedy="Choose another state, or give the held values by name with at={...}",
        )


def held_modes(e: SystemEquations, t: float, x: Array, p: Array, given: Mapping[str, float]) -> Array:
    """Modes and held values at a state (q, u, x), with switches that are due acted."""
    held = Held(e, given)
    return held.acted(t, x, p, held.start(t, p))


def held_diagnostics(e: SystemEquations, m: Array) -> tuple[Diagnostic, ...]:
    """What small motions leave as it is: outputs of sampled blocks, and parts that switch."""
    from cotree.formulation.machine.stuck import PULL

    found = []
    if e.samples:
        names = dict.fromkeys(each.name for each in e.samples)
        found.append(diagnose("samples-held", *names, names=listing(names)))
    places = sorted({place for each in e.switches for place in each.held})
    if places:
        names = dict.fromkeys(e.held.names[k].rpartition(".")[0] for k in places)
        found.append(diagnose("switches-held", *names, names=listing(names)))
    stuck = [name.removesuffix(".sticks") for name in (s.name for s in e.switches) if name.endswith(".sticks")]
    still = [name for name in stuck if m[len(e.modes) + e.held.names.index(f"{name}.mode")] == 0]
    if still:
        found.append(diagnose("sticking-pole", *still, names=listing(still), rate=PULL))
    return tuple(found)
