"""System equations made ready for integration: native functions of scaled time, parameters and modes.

Time runs from 0 to 1 over each stretch, ``t = t0 + s h``, so that one integrator serves stretches of any place and
length. Algebraic variables that enter linearly are eliminated by one sparse solution inside the right-hand side.
What is integrated is scaled by its size, so that one absolute tolerance serves volts and cubic metres per second alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation import SystemEquations
from cotree.maths.symbolic import column, substitute
from cotree.solve.mechanism import Mechanism
from cotree.solve.native import compiled

Array = NDArray[np.float64]

PULL = 2.0
"""Pull back onto the constraints, in parts of the pace of the motion."""


@dataclass(frozen=True)
class Scale:
    """The size of each state, algebraic variable and integral."""

    x: Array
    z: Array
    quad: Array

    @classmethod
    def ones(cls, problem: Problem) -> Scale:
        """Every variable in SI units."""
        sizes = problem.sizes
        return cls(*(np.ones(sizes[name]) for name in ("x", "z", "quad")))


@dataclass(frozen=True)
class Problem:
    """Functions of time t, states (q, u, x), algebraic variables w, parameters p and modes m with held values."""

    equations: SystemEquations

    @classmethod
    def of(cls, equations: SystemEquations) -> Problem:
        """The problem of these equations, kept with them, so that another run writes nothing anew."""
        return equations.__dict__.setdefault("_problem", cls(equations))  # type: ignore[no-any-return]

    @property
    def eliminated(self) -> bool:
        """Whether w is found inside the right-hand side instead of by the integrator."""
        return self.equations.linear_algebraic

    @property
    def closed(self) -> bool:
        """Whether it is a mechanism whose accelerations are not explicit."""
        return self.equations.mechanics is not None and len(self.equations.w) > 0 and self.eliminated

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism behind the equations."""
        return Mechanism.of(self.equations)

    @cached_property
    def settled(self) -> ca.Function | None:
        """States on the constraints and accelerations there, as the right-hand side of a closed mechanism uses them."""
        return Mechanism.of(self.equations).settled(1) if self.closed else None

    @cached_property
    def settled_well(self) -> ca.Function | None:
        """The same with positions to the last digit, as results use them."""
        return Mechanism.of(self.equations).settled(3) if self.closed else None

    def on_constraints(self, t: Any, x: Any, p: Array, m: Array) -> Any:
        """What `settled_well` gives; where constraints are nearly dependent, as the integrator's equations have it."""
        assert self.settled_well is not None
        assert self.settled is not None
        try:
            return self.settled_well(t, x, p, m)
        except RuntimeError:
            try:
                return self.settled(t, x, p, m)
            except RuntimeError:
                from cotree.solve.consistent import no_start

                raise no_start(self, float(np.ravel(t)[0])) from None

    @cached_property
    def x(self) -> ca.SX:
        """The states (q, u, x)."""
        e = self.equations
        return ca.vertcat(e.q.symbols, e.u.symbols, e.x.symbols)

    @cached_property
    def arguments(self) -> list[ca.SX]:
        """t, x, w, p, m."""
        e = self.equations
        return [e.t, self.x, e.w.symbols, e.p.symbols, e.mode_symbols]

    @cached_property
    def rates(self) -> ca.Function:
        """(q', u', x')."""
        return self._function("rates", self._rates)

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

    def mode_values(self, t: Any, p: Array) -> Any:
        """The modes at a time, or at several, for parameters p; held values after them, as at the start."""
        values = self._mode_values(t, p)
        for k, mode in enumerate(self.equations.modes):
            if mode.refused is not None and np.isnan(row := np.asarray(values[k, :], dtype=float).ravel()).any():
                raise mode.refused(float(np.ravel(t)[int(np.argmax(np.isnan(row)))]))
        return values

    @cached_property
    def _mode_values(self) -> ca.Function:
        e = self.equations
        values = column([*(mode.value for mode in e.modes), e.held_start])
        return ca.Function("modes", [e.t, e.p.symbols], [ca.densify(values)])

    @cached_property
    def _linear_parts(self) -> tuple[ca.SX, ca.SX]:
        """G and b of the algebraic equations G w + b = 0, with the inputs still as symbols."""
        e = self.equations
        return e.algebraic_matrix, substitute(e.algebraic, e.w.symbols, 0)

    @cached_property
    def _known(self) -> ca.SX:
        """What b may depend on in time: states, inputs and their rates."""
        e = self.equations
        return ca.vertcat(self.x, e.inputs.symbols, e.input_rates)

    @cached_property
    def tabulated(self) -> bool:
        """Whether w is linear in the states and inputs with constant factors, which are then computed once."""
        if not self.eliminated or not len(self.equations.w) or self.closed:
            return False
        matrix, rest = self._linear_parts
        factors = ca.jacobian(rest, self._known)
        varying = ca.vertcat(self._known, self.equations.t)
        constant = substitute(rest, self._known, 0)
        return not any(ca.depends_on(part, varying) for part in (matrix, factors, constant))

    @cached_property
    def linear(self) -> bool:
        """Whether the states' rates are linear with constant factors, too, once w is tabulated."""
        if not self.tabulated:
            return False
        e = self.equations
        variables = ca.vertcat(self._known, e.w.symbols)
        constant, factors = substitute(self._rates, variables, 0), ca.jacobian(self._rates, variables)
        return not any(ca.depends_on(part, ca.vertcat(variables, e.t)) for part in (factors, constant))

    @cached_property
    def _rates(self) -> ca.SX:
        return ca.vertcat(self.equations.kinematics, self.equations.rates, self.equations.x_rates)

    def table(self, p: Array, m: Array) -> Array:
        """The factors of w, and in a linear system of the rates, in states, inputs, their rates and 1, as a column."""
        if not self.tabulated:
            return np.zeros(0)
        key = p.tobytes() + m.tobytes()
        if key not in self._tables:
            from scipy.sparse import csc_matrix
            from scipy.sparse.linalg import splu

            matrix, columns, by_w, by_known = self._table_parts(p, m)
            w = splu(csc_matrix(matrix.sparse())).solve(-columns.full())
            rates = by_w.full() @ w + by_known.full() if self.linear else np.zeros((0, w.shape[1]))
            self._tables[key] = np.concatenate([w.ravel(order="F"), rates.ravel(order="F")])
        return self._tables[key]

    @cached_property
    def _tables(self) -> dict[bytes, Array]:
        return {}

    @cached_property
    def _table_parts(self) -> ca.Function:
        matrix, rest = self._linear_parts
        w, known = self.equations.w.symbols, self._known
        parts = [matrix, ca.horzcat(ca.jacobian(rest, known), substitute(rest, known, 0))]
        if self.linear:
            alone = substitute(self._rates, w, 0)
            parts += [
                ca.jacobian(self._rates, w),
                ca.horzcat(ca.jacobian(alone, known), substitute(alone, known, 0)),
            ]
        else:
            parts += [ca.SX(0, 0), ca.SX(0, 0)]
        return ca.Function("table_parts", self.arguments[3:], parts)

    @cached_property
    def _now(self) -> ca.Function:
        """States, inputs, their rates and 1: what a table is multiplied with, as a function of t, x, p, m."""
        t, x, _, p, m = self.arguments
        return ca.Function("now", [t, x, p, m], [ca.densify(ca.vertcat(self.equations.in_time(self._known), 1))])

    @cached_property
    def linear_w(self) -> ca.Function:
        """w as a function of t, x, p, m and the table, where it enters linearly."""
        e = self.equations
        t, x, _, p, m = self.arguments
        known = [ca.MX.sym(name, *s.shape) for name, s in zip("txpm", (t, x, p, m), strict=True)]
        if self.tabulated:
            table = ca.MX.sym("table", self.sizes["table"])
            count = self._known.numel() + 1
            factors = ca.reshape(table[: len(e.w) * count], len(e.w), count)
            w = ca.mtimes(factors, self._now(*known))
        else:
            table = ca.MX.sym("table", 0)
            matrix, rest = (e.in_time(part) for part in self._linear_parts)
            a, b = ca.Function("parts", [t, x, p, m], [matrix, rest])(*known)
            w = ca.solve(a, -b, "csparse")
        return ca.Function("linear_w", [*known, table], [w])

    @cached_property
    def algebraic_parts(self) -> ca.Function:
        """g and dg/dw."""
        e = self.equations
        parts = [e.in_time(e.algebraic), e.in_time(e.algebraic_matrix)]
        return ca.Function("algebraic_parts", self.arguments, [ca.densify(part) for part in parts])

    @cached_property
    def polished(self) -> ca.Function:
        """w after one more step of Newton's rule; an integrator leaves it only as good as its tolerance."""
        e = self.equations
        matrix = self._function("matrix", e.algebraic_matrix, dense=False)
        known = [ca.MX.sym(name, *s.shape) for name, s in zip("txwpm", self.arguments, strict=True)]
        step = ca.solve(matrix(*known), self.algebraic(*known), "csparse")
        return ca.Function("polished", known, [known[2] - step])

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Numbers of variables as the integrator sees them; a network without storages gets one idle state."""
        _, x, w, p, m = (symbols.numel() for symbols in self.arguments)
        quad = self.quadratures.size1_out(0)
        rows = len(self.equations.w) + (x if self.linear else 0)
        table = rows * (self._known.numel() + 1) if self.tabulated else 0
        return {"x": max(x, 1), "z": 0 if self.eliminated else w, "quad": quad, "p": p, "m": m, "table": table}

    @cached_property
    def dae(self) -> ca.Function:
        """The right-hand sides over scaled time and scaled variables, in CasADi's form.

        (s, x, z, (p, m, table, t0, h, scales of x, z and integrals), u) -> (ode, alg, quad, zero)
        """
        size, has_w, has_x = self.sizes, len(self.equations.w) > 0, self.x.numel() > 0
        written_out = self.settled is not None and self.settled.is_a("SXFunction")
        kind: Any = ca.MX if self.eliminated and has_w and not written_out else ca.SX
        s, x, z = kind.sym("s"), kind.sym("x", size["x"]), kind.sym("z", size["z"])
        ends = np.cumsum([0, size["p"], size["m"], size["table"], 1, 1, size["x"], size["z"], size["quad"]]).tolist()
        given = kind.sym("p", ends[-1])
        p, m, table, t0, h, x_scale, z_scale, quad_scale = ca.vertsplit(given, ends)
        t, states = t0 + s * h, x * x_scale if has_x else kind(0, 1)
        w = z * z_scale
        raw, pull = states, kind(0)
        if self.settled is not None:
            states, w = self.settled(t, states, p, m)
            pull = PULL * self._pace(states) * (states - raw)
        elif self.eliminated and has_w:
            w = self.linear_w(t, states, p, m, table)
        known = (t, states, w, p, m)
        if self.linear and has_x:
            count = self._known.numel() + 1
            factors = ca.reshape(table[len(self.equations.w) * count :], self.x.numel(), count)
            ode = h * ca.mtimes(factors, self._now(t, states, p, m)) / x_scale
        else:
            ode = h * (self.rates(*known) + pull) / x_scale if has_x else kind.zeros(1)
        alg = self.algebraic(*known) if size["z"] else kind(0, 1)
        return ca.Function(
            "dae",
            [s, x, z, given, kind.sym("u", 0)],
            [ca.densify(part) for part in (ode, alg, h * self.quadratures(*known) / quad_scale, kind(0, 1))],
            ["t", "x", "z", "p", "u"],
            ["ode", "alg", "quad", "zero"],
        )

    @cached_property
    def _pace(self) -> ca.Function:
        """How fast a mechanism moves, in 1/s: what is off its constraints is pulled back as fast as that.

        The right-hand side is taken on the constraints, so what is off them does not change the motion; without the
        pull it might grow as fast as the mechanism moves.
        """
        e = self.equations
        per = 1.0 / self.mechanism.spans
        x = ca.SX.sym("x", self.x.numel())
        speeds = x[len(e.q) : len(e.q) + len(e.u)] * ca.DM(per)
        return ca.Function("pace", [x], [ca.sqrt(ca.sumsqr(speeds) + 1e-6)])

    @property
    def dae_length(self) -> int:
        """Instructions of the right-hand sides."""
        return int(self.dae.n_instructions())

    def opaque_dae(self, fast: bool) -> ca.Function:
        """The right-hand sides for methods without a Jacobian: nothing is differentiated, which would take long.

        ``fast`` asks for compiled code.
        """
        return self._compiled_dae if fast else self._opaque_dae

    @cached_property
    def _opaque_dae(self) -> ca.Function:
        return self._opaque(self.dae)

    @cached_property
    def _compiled_dae(self) -> ca.Function:
        return self._opaque(compiled(self.dae))

    @staticmethod
    def _opaque(inner: ca.Function) -> ca.Function:
        names = [inner.name_in(k) for k in range(inner.n_in())], [inner.name_out(k) for k in range(inner.n_out())]
        closed = {"never_inline": True, "enable_jacobian": False, "enable_forward": False, "enable_reverse": False}
        kinds: tuple[Any, Any] = (ca.SX, ca.MX) if inner.is_a("SXFunction") else (ca.MX, ca.MX)
        for k, (kind, options) in enumerate(zip(kinds, (closed | {"enable_fd": True}, {}), strict=True)):
            symbols = [kind.sym(name, inner.sparsity_in(place)) for place, name in enumerate(names[0])]
            results = [ca.densify(part) for part in inner.call(symbols)]  # a call drops a zero that is constant
            inner = ca.Function(f"dae_{k}", symbols, results, *names, options)
        return inner

    def w_of(self, t: float, x: Array, z: Array, p: Array, m: Array) -> Array:
        """The algebraic variables at a time: eliminated ones computed, others as the integrator has them."""
        if self.settled_well is not None:
            return self._dense(self.on_constraints(t, x, p, m)[1])
        return (
            self._dense(self.linear_w(t, x, p, m, self.table(p, m))) if self.eliminated and len(self.equations.w) else z
        )

    def _function(self, name: str, expression: ca.SX, *, dense: bool = True) -> ca.Function:
        expression = self.equations.in_time(self.equations.explicit(expression))
        return ca.Function(name, self.arguments, [ca.densify(expression) if dense else expression])

    @staticmethod
    def _dense(value: ca.DM) -> Array:
        return np.asarray(value, dtype=float).reshape(value.shape)
