"""System equations made ready for integration: native functions of scaled time, parameters and modes.

Time runs from 0 to 1 over each stretch, ``t = t0 + s h``, so that one integrator serves stretches of any place and
length. Algebraic variables that enter linearly are eliminated by one sparse solution inside the right-hand side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation import SystemEquations
from cotree.maths.symbolic import column

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """Functions of time t, states x = (q, u), algebraic variables w, parameters p and modes m."""

    equations: SystemEquations

    @property
    def eliminated(self) -> bool:
        """Whether w is found inside the right-hand side instead of by the integrator."""
        return self.equations.linear_algebraic

    @cached_property
    def x(self) -> ca.SX:
        """The states (q, u)."""
        return ca.vertcat(self.equations.q.symbols, self.equations.u.symbols)

    @cached_property
    def arguments(self) -> list[ca.SX]:
        """t, x, w, p, m."""
        e = self.equations
        return [e.t, self.x, e.w.symbols, e.p.symbols, e.mode_symbols]

    @cached_property
    def rates(self) -> ca.Function:
        """(q', u')."""
        e = self.equations
        return self._function("rates", ca.vertcat(e.kinematics, e.rates))

    @cached_property
    def algebraic(self) -> ca.Function:
        """g, zero where w is right."""
        return self._function("algebraic", self.equations.algebraic)

    @cached_property
    def quadratures(self) -> ca.Function:
        """Rates of the integrals: dissipated and supplied energy, then the formulation's own."""
        e = self.equations
        own = [output.expression for output in e.integrals.values()]
        return self._function("quadratures", column([e.energy.dissipation, e.energy.supply, *own]))

    @cached_property
    def outputs(self) -> ca.Function:
        """Stored energy, then all outputs."""
        e = self.equations
        return self._function("outputs", column([e.energy.stored, *(o.expression for o in e.outputs.values())]))

    @cached_property
    def signals(self) -> ca.Function:
        """The inputs."""
        return self._function("signals", self.equations.signals)

    @cached_property
    def mode_values(self) -> ca.Function:
        """The modes at a time, for parameters p."""
        e = self.equations
        return ca.Function("modes", [e.t, e.p.symbols], [column([mode.value for mode in e.modes])])

    @cached_property
    def linear_w(self) -> ca.Function:
        """w as a function of t, x, p, m, where it enters linearly."""
        e = self.equations
        g = e.in_time(e.algebraic)
        matrix, constant = ca.jacobian(g, e.w.symbols), ca.substitute(g, e.w.symbols, ca.SX.zeros(len(e.w)))
        t, x, _, p, m = self.arguments
        parts = ca.Function("parts", [t, x, p, m], [matrix, constant])
        known = [ca.MX.sym(name, *s.shape) for name, s in zip("txpm", (t, x, p, m), strict=True)]
        a, b = parts(*known)
        return ca.Function("linear_w", known, [ca.solve(a, -b, "csparse")])

    @cached_property
    def dae(self) -> ca.Function:
        """The right-hand sides over scaled time, in CasADi's form: (s, x, z, (p, m, t0, h), u) -> (ode, alg, quad)."""
        sizes = [s.numel() for s in self.arguments]
        n_p, n_m = sizes[3], sizes[4]
        kind = ca.SX if not self.eliminated or not sizes[2] else ca.MX
        s, x, z = kind.sym("s"), kind.sym("x", max(sizes[1], 1)), kind.sym("z", 0 if self.eliminated else sizes[2])
        p = kind.sym("p", n_p + n_m + 2)
        t0, h = p[n_p + n_m], p[n_p + n_m + 1]
        t, parameters, modes = t0 + s * h, p[:n_p], p[n_p : n_p + n_m]
        states = x if sizes[1] else kind(0, 1)
        w = self.linear_w(t, states, parameters, modes) if self.eliminated and sizes[2] else z
        known = (t, states, w, parameters, modes)
        ode = h * self.rates(*known) if sizes[1] else kind.zeros(1)  # a network without storages has no states
        alg = self.algebraic(*known) if not self.eliminated else kind(0, 1)
        return ca.Function(
            "dae",
            [s, x, z, p, kind.sym("u", 0)],
            [ode, alg, h * self.quadratures(*known), kind(0, 1)],
            ["t", "x", "z", "p", "u"],
            ["ode", "alg", "quad", "zero"],
        )

    def w_of(self, t: float, x: Array, z: Array, p: Array, m: Array) -> Array:
        """The algebraic variables at a time: eliminated ones computed, others as the integrator has them."""
        return self._dense(self.linear_w(t, x, p, m)) if self.eliminated and len(self.equations.w) else z

    def _function(self, name: str, expression: ca.SX) -> ca.Function:
        return ca.Function(name, self.arguments, [ca.densify(self.equations.in_time(expression))])

    @staticmethod
    def _dense(value: ca.DM) -> Array:
        return np.asarray(value, dtype=float).reshape(value.shape)
