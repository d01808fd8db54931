"""The operating point of a machine: a position of rest at which the states of networks and blocks stand still, too.

The machine is let go from its start by implicit Euler steps that grow until they are Newton's (pseudo-transient
continuation; Kelley and Keyes 1998). They follow the motion as far as needed, so that the point at which it comes to
rest is found, and oscillations die out even where nothing damps them. A point that would be left is nudged.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.formulation import SystemEquations
from cotree.maths.lookup import common_parts
from cotree.solve.consistent import algebraic_variables
from cotree.solve.held import Held
from cotree.solve.problem import Problem

Array = NDArray[np.float64]

FIRST, GROWTH = 0.01, 1.4
"""The first step in s, and by how much steps grow."""
STEPS, NUDGES = 600, 6
LONGEST = 0.3
"""Longest way of a coordinate in one step, in rad or m."""
FAR = 1e3
"""Coordinate in rad or m beyond which the machine counts as going away."""
SETTLED = 1e-9
"""Last Newton step as a part of each state, or of 1; one more is made after it."""
BALANCED = 1e-8
"""Rate that is left, as a part of what the states would give."""
GROWS = 1e-9
"""Real part of a pole, as a part of the largest, above which motions grow."""


class Flow:
    """The rates of all states (q, u, x) and their derivatives, with accelerations and multipliers eliminated."""

    def __init__(self, e: SystemEquations, t: float, p: Array, m: Array, held: Held | None = None) -> None:
        self.e, self.t, self.p, self.m, self.held = e, t, p, m, held
        self.problem = Problem.of(e)
        self.coordinates = len(e.q)

    @cached_property
    def _parts(self) -> ca.Function:
        e, x, w = self.e, self.problem.x, self.e.w.symbols
        f = e.in_time(e.explicit(ca.vertcat(e.kinematics, e.rates, e.x_rates)))
        g = e.in_time(e.algebraic)
        parts = [f, *(ca.jacobian(part, v) for part in (f, g) for v in (x, w))]
        return ca.Function("flow", self.problem.arguments, [ca.densify(part) for part in parts], common_parts(*parts))

    def w(self, y: Array) -> Array:
        """Accelerations and multipliers, or the algebraic variables of a network."""
        z = np.zeros(0)
        if self.e.mechanics is None:
            z = algebraic_variables(self.problem, self.t, y, self.e.w.start, self.p, self.m)
        return self.problem.w_of(self.t, y, z, self.p, self.m).ravel()

    def at(self, y: Array) -> tuple[Array, Array]:
        """Rates and their derivatives."""
        found = self._parts(self.t, y, self.w(y), self.p, self.m)
        f, fx, fw, gx, gw = (np.asarray(part, dtype=float).reshape(part.shape) for part in found)
        return f.ravel(), fx - fw @ np.linalg.solve(gw, gx) if len(self.e.w) else fx

    def settled(self, y: Array) -> Array:
        """The state on the constraints, rotations of unit length."""
        if self.e.mechanics is None:
            return y
        if self.problem.settled_well is not None:
            return np.asarray(self.problem.settled_well(self.t, y, self.p, self.m)[0], dtype=float).ravel()
        return np.concatenate(
            [np.asarray(self._unit(y[: self.coordinates]), dtype=float).ravel(), y[self.coordinates :]]
        )

    @cached_property
    def _unit(self) -> ca.Function:
        q = ca.SX.sym("q", self.coordinates)
        return ca.Function("unit", [q], [self.problem.mechanism.unit(q)])

    def acted(self, y: Array) -> None:
        """Let switches that are due act."""
        if self.held is not None:
            self.m = self.held.acted(self.t, y, self.p, self.m)

    def free(self, y: Array) -> tuple[list[int], Array]:
        """Places of independent states, and all deviations for unit deviations of those."""
        if self.e.mechanics is None:
            return list(range(len(y))), np.eye(len(y))
        from cotree.solve.linear import admissible

        return admissible(self.e, self.t, y, self.p, self.m, None)

    def poles(self, y: Array) -> tuple[Array, Array, Array]:
        """Poles about a state, their shapes in the independent states, and the deviations Z."""
        (places, Z), (_, fx) = self.free(y), self.at(y)
        values, shapes = np.linalg.eig(fx[places] @ Z)
        return values, shapes, Z


def rest(flow: Flow, y: Array, *, stable: bool) -> tuple[Array, int]:
    """A state at which all rates are zero, from a start, and the number of steps; ``stable`` leaves those that grow."""
    count = 0
    if not stable and flow.e.mechanics is not None:
        y[flow.coordinates : flow.coordinates + len(flow.e.u)] = 0.0
    for _ in range(NUDGES if stable else 1):
        y, more = _settled(flow, y, FIRST if stable else np.inf)
        count += more
        values, shapes, Z = flow.poles(y)
        growing = values.real > GROWS * max(1.0, float(np.abs(values).max(initial=0.0)))
        if not stable or not growing.any():
            return y, count
        shape = (Z @ shapes[:, int(np.argmax(np.where(growing, values.real, -np.inf)))]).real
        y = flow.settled(y + 1e-3 * shape / max(float(np.abs(shape).max()), 1e-300))
    return y, count


def network_rest(e: SystemEquations, t: float, p: Array) -> tuple[Flow, Array]:
    """The operating point of networks with parts that switch, which act on the way, and the flow there."""
    held = Held(e, {})
    begin = np.asarray(e.start(p, t) if e.start is not None else e.u.start, dtype=float)
    flow = Flow(e, t, p, held.acted(t, begin, p, held.start(t, p)), held)
    return flow, rest(flow, begin, stable=True)[0]


def _settled(flow: Flow, y: Array, step: float) -> tuple[Array, int]:
    """The point at which the machine comes to rest, with the first step's length; infinite steps are Newton's."""
    begin = y
    for count in range(1, STEPS + 1):
        (places, Z), (f, fx) = flow.free(y), flow.at(y)
        if not (np.isfinite(f).all() and np.isfinite(fx).all()) or np.abs(y[: flow.coordinates]).max(initial=0.0) > FAR:
            break
        A, rates = fx[places] @ Z, f[places]
        size = np.maximum(np.abs(y), 1.0)
        newton = Z @ _solved(-A, rates, size[places])
        if (np.abs(newton) <= SETTLED * size).all() and _balanced(fx, f, size):
            return flow.settled(y + newton), count
        while True:
            change = newton if np.isinf(step) else Z @ _solved(np.eye(len(A)) / step - A, rates, size[places])
            way = float(np.abs(change[: flow.coordinates]).max(initial=0.0))
            if way <= LONGEST or np.isinf(step) or step < 1e-9:
                break
            step /= 2
        y = flow.settled(y + change * min(1.0, LONGEST / max(way, 1e-300)))
        flow.acted(y)
        step *= GROWTH
    raise _restless(flow, begin, y)


def _solved(matrix: Array, right: Array, size: Array) -> Array:
    """The least solution, with rows and columns scaled."""
    if not len(matrix):
        return np.zeros(0)
    scaled = matrix * size
    rows = np.maximum(np.abs(scaled).max(axis=1), 1e-300)
    return np.asarray(size * np.linalg.lstsq(scaled / rows[:, None], right / rows, rcond=1e-13)[0])


def _balanced(fx: Array, f: Array, size: Array) -> bool:
    return bool((np.abs(f) <= BALANCED * np.maximum(np.abs(fx) @ size, 1e-300) + 1e-12).all())


def _restless(flow: Flow, begin: Array, y: Array) -> SolveError:
    e = flow.e
    moved = np.abs(np.where(np.isfinite(y), y, np.inf) - begin) / np.maximum(np.abs(begin), 1.0)
    n = flow.coordinates
    speeds = len(e.u) if e.mechanics is not None else 0
    own = np.concatenate([moved[:n], moved[n + speeds :]])
    name = (e.state_names[:n] + e.state_names[n + speeds :])[int(np.argmax(own))]
    return SolveError(
        f"no operating point was found: {name} does not come to rest with the sources as at t = {flow.t:g} s",
        expected="a machine that can stand still",
        remedy="For one that goes on turning simulate until it is steady and use solution.state_at(t); otherwise begin "
        "nearer with at={...}",
    )
