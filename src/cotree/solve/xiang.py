"""The method of Xiang, Wu and Zhou 2015 as printed in eq. 41-57, for study: of first order, and lengths drift.

    d = U_t (alpha1 - alpha_t)                                           first-order increment, eq. 41
    x1 = x_t + d - A_t^+ (Phi''_t dt) / 2                                eq. 45, Phi''_t dt from d by eq. 46-49
    alpha1' = 2 (alpha1 - alpha_t) / dt - alpha_t'                       Newmark, eq. 56
    v = U alpha' - A^+ Phi'' / 2                                         eq. 50
    U1^T (M_t (v1 - v_t) - f_t dt) = 0                                   eq. 52, 57

Forces and masses are those at t while modes and velocities are those at t + dt, so the balance is of first order; no
length is ever corrected. `cotree.solve.displacement_modes` mends both.

What the paper leaves open is read so: the columns of U are transported, U1 = (1 - A1^+ A1) U_t made orthonormal (up to
fourth order in dt), since alpha' means nothing if the columns at two times do not belong together; Phi'' at t + dt is
eq. 5 with the velocities U1 alpha1'; where supports move in time, A d = 0 becomes A d + (dPhi/dt) dt = 0. Eq. 57 is
solved by an iteration that keeps its matrix over some steps and adds to U^T M U how the second-order terms follow the
amplitudes; it ends where the paper's fixed-point iteration ends. Rigid bodies use eq. 15, 34 and 47, without w x J w
(`cotree.formulation.nodal.moore_penrose`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.solve.displacement_modes import SLOW, ModeSteps, left_over, squared
from cotree.solve.integrator import Options, Stretch
from cotree.solve.newton import or_else, repeated
from cotree.solve.problem import Problem, Scale
from cotree.solve.stepping import HEAD, Layout

Array = NDArray[np.float64]

ENOUGH = 1e-12
"""What may be left of a speed in a step, over 1 or the largest one: far below the errors of the method."""
LAG = 0.1
"""Weight of what is across the constraints in the size of a correction, which already takes it into account."""
ROUNDS = 4
"""How often the iteration is continued, close to singular positions."""


class Paper(ModeSteps):
    """Eq. 41-57 literally, with steps of one length."""

    name = "paper"
    needs_step = True

    def __init__(self, problem: Problem, options: Options) -> None:
        super().__init__(problem, options)
        self.worst = 0.0
        """The largest error of a length or another equation between positions so far, in m or rad."""
        if options.step is None:
            raise SolveError(
                "the method 'paper' has no step",
                expected="step=... in s: it is of first order and has no measure of its error",
                remedy="Give a step such as t_end / 900, the paper's own, or use integrator='corrected'",
            )

    @property
    def literal(self) -> bool:
        """Whether there are rigid bodies, whose equations are those of the paper and not of the formulation."""
        nodal = self.problem.equations.nodal
        return nodal is not None and bool(nodal.bodies)

    @cached_property
    def expressions(self) -> dict[str, ca.SX]:
        """A, its error A v + dPhi/dt, Phi'' over dt, M and f, of t, x, v, p, m."""
        e = self.problem.equations
        assert e.mechanics is not None
        if self.literal:
            from cotree.formulation.nodal import moore_penrose

            s = e.nodal
            closed = _closed(s, e.multipliers.names)
            matrix, _ = moore_penrose.first_order(s, closed)
            found = {
                "matrix": matrix,
                "error": ca.mtimes(matrix, s.u) + moore_penrose.drift(s, closed),
                "second": moore_penrose.second_order(s, s.u, closed, 1.0),
                "mass": moore_penrose.mass_matrix(s),
                "force": moore_penrose.forces(s),
            }
        else:
            still = ca.SX.zeros(*e.u_dot.shape)
            idle = ca.SX.zeros(*e.multipliers.symbols.shape)
            found = {
                "matrix": ca.jacobian(e.mechanics.velocity, e.u.symbols),
                "error": e.mechanics.velocity,
                "second": ca.substitute(e.mechanics.acceleration, e.u_dot, still),
                "mass": e.mass_matrix(),
                "force": -ca.substitute(
                    e.mechanics.balance, ca.vertcat(e.u_dot, e.multipliers.symbols), ca.vertcat(still, idle)
                ),
            }
        return {name: e.in_time(each) for name, each in found.items()}

    @property
    def rows(self) -> int:
        return int(self.expressions["matrix"].shape[0])

    def _function(self, name: str, *expressions: ca.SX) -> ca.Function:
        """A function of (t, x, v, p, m)."""
        t, q, u, _, _, p, m = self.mechanism.arguments
        return ca.Function(name, [t, q, u, p, m], list(expressions), self.mechanism.tidy)

    @cached_property
    def frame(self) -> ca.Function:
        return self._squaring("frame", self.expressions["mass"])

    @cached_property
    def equations(self) -> ca.Function:
        """(t, x, v, p, m) -> A, A A^T + eps, A v + dPhi/dt and Phi'' / dt."""
        found = self.expressions
        errors = ca.densify(ca.horzcat(found["error"], found["second"]))
        return self._squaring("equations", errors)

    def _squaring(self, name: str, more: ca.SX) -> ca.Function:
        """(t, x, v, p, m) -> A, A A^T + eps and more; with bodies the product would be too long for a formula."""
        matrix = self.expressions["matrix"]
        if not self.literal:
            return self._function(name, matrix, squared(matrix), more)
        inner = self._function("inner", matrix, more)
        given = [ca.MX.sym("g", *inner.size_in(k)) for k in range(inner.n_in())]
        jac, rest = inner(*given)
        return ca.Function(name, given, [jac, squared(jac), rest])

    @cached_property
    def mass(self) -> ca.Function:
        """(t, x, v, p, m) -> M."""
        return self._function("mass", self.expressions["mass"])

    @cached_property
    def force(self) -> ca.Function:
        """(t, x, v, p, m) -> f."""
        return self._function("force", ca.densify(self.expressions["force"]))

    @cached_property
    def slopes(self) -> ca.Function:
        t, q, u, ud, _, p, m = self.mechanism.arguments
        h, lam, found = ca.SX.sym("h"), ca.SX.sym("lam", self.rows), self.expressions
        balance = found["mass"]
        if self.rows and not self.literal:
            balance = balance - h**2 / 2 * ca.jacobian(ca.mtimes(found["matrix"].T, lam), q)
        bent = h / 2 * ca.jacobian(found["second"], u)
        return ca.Function("slopes", [t, h, q, u, ud, lam, p, m], [balance, bent], self.mechanism.tidy)

    @cached_property
    def layout(self) -> Layout:
        n, quad, p = self.mechanism.sizes[1], self.problem.sizes["quad"], self.count
        return Layout(
            x=2 * n, rate=n, growth=n, jerk=n, across=n, turned=n, bend=n, multipliers=self.rows, modes=n * p,
            matrix=p * p, made=2, drift=1, powers=quad, quad=quad,
        )  # fmt: skip

    def begin(self, t: float, x: Array, p: Array, m: Array, scale: Array) -> tuple[Array, float]:
        n = self.mechanism.sizes[1]
        ud, multipliers, jerk, *_ = self.at_start(t, x, p, m, scale)
        modes = self.take(self.modes_at(t, x, ud, p, m))
        powers = np.asarray(self.mechanism.powers(t, x[:n], x[n:], ud, multipliers, p, m), dtype=float).ravel()
        idle = np.zeros(n), np.zeros(self.rows), np.zeros(self.count**2), np.array([0.0, 2.0 * SLOW])
        assert self.fixed is not None
        y = np.concatenate(
            [x, x[n:], ud, jerk, idle[0], idle[0], idle[0], idle[1], modes, idle[2], idle[3], [0.0], powers, 0 * powers]
        )
        return y, self.fixed

    def _split(self, value: Any) -> list[Any]:
        """d, U1 alpha1', what its projection on U1 has taken off, A1^+ Phi1'', A^+ Phi'', multipliers, corrections."""
        n = self.mechanism.sizes[1]
        return ca.vertsplit(value, np.cumsum([0, n, n, n, n, n, self.rows, 1, 1]).tolist())

    @cached_property
    def once(self) -> ca.Function:
        """(value, modes, matrix, t, h, x, f, rate, p, m) -> (size, value): a correction of the increment d.

        What is across the constraints is that of the last correction, so that one linear system serves all of it.
        """
        n, rows = self.mechanism.sizes[1], self.rows
        value = ca.MX.sym("value", 5 * n + rows + 2)
        modes, matrix = ca.MX.sym("modes", n, self.count), ca.MX.sym("matrix", self.count, self.count)
        t, h, x, push, rate, _, p, m = self._given()
        d, rate1, across, bend1, bend, lam, done, before = self._split(value)
        mass = self.mass(t, x, rate, p, m)
        other, bent = across, bend1
        new = 2 * d / h - rate  # eq. 56
        if rows:
            jac, square, errors = self.equations(t, x, d / h, p, m)
            found = ca.solve(square, ca.horzcat(errors, ca.mtimes(jac, across)), "ldl")
            found = ca.mtimes(jac.T, found)
            d, bend = d - h * found[:, 0], h * found[:, 1]  # eq. 41 and 46
            new = 2 * d / h - rate + (across - found[:, 2]) / 2
        place = x + d - h / 2 * bend  # eq. 45
        rest = ca.mtimes(mass, new - across - rate - (bend1 - bend) / 2) - h * push  # eq. 52
        if rows:
            jac, square, errors = self.equations(t + h, place, rate1, p, m)
            error = errors[:, 0] + ca.mtimes(jac, new - rate1)
            found = ca.solve(square, ca.horzcat(error, errors[:, 1], ca.mtimes(jac, rest)), "ldl")
            lam, found = found[:, 2] / h, ca.mtimes(jac.T, found)
            other, bent = found[:, 0], h * found[:, 1]
            rest = rest - found[:, 2] - ca.mtimes(mass, other - across + (bent - bend1) / 2)
        change = -ca.mtimes(modes, ca.mtimes(matrix, ca.mtimes(modes.T, rest)))  # eq. 57
        lag = LAG * ca.fmax(ca.norm_inf(other - across), ca.norm_inf(bent - bend1))
        fast = ca.fmax(ca.norm_inf(change), lag) / (1 + ca.norm_inf(new))
        size, left = left_over(fast, before, done, change, ENOUGH)
        after = ca.vertcat(d + h / 2 * change, new - other + change, other, bent, bend, lam, done + 1, size)
        return ca.Function("once", [value, modes, matrix, t, h, x, push, rate, p, m], [left, after])

    def _once_anew(self) -> ca.Function:
        """A correction with the modal matrix of its own place."""
        given = [ca.MX.sym("x", *self.once.sparsity_in(k).shape) for k in range(self.once.n_in())]
        value, modes, matrix, t, h, x, push, rate, p, m = given
        d, rate1, _, _, bend, lam, done, _ = self._split(value)
        place = x + d - h / 2 * bend
        modes, matrix = self.renewed(modes, matrix, t + h, h, place, rate1, 0 * rate1, lam, p, m)
        size, new = self.once(value, modes, matrix, t, h, x, push, rate, p, m)
        return ca.Function("once_anew", given, [size, ca.vertcat(new[:-2], done + SLOW + 1, new[-1])])

    def make_step(self) -> ca.Function:
        mech, n, count = self.mechanism, self.mechanism.sizes[1], self.count
        t, h = ca.MX.sym("t"), ca.MX.sym("h")
        y, c = ca.MX.sym("y", self.layout.total), ca.MX.sym("c", self.constants.total)
        old, const = self.layout.split(y), self.constants.split(c)
        p, m, x, v = const["p"], const["m"], old["x"][:n], old["x"][n:]
        rate, lam, bend, across = old["rate"], old["multipliers"], old["bend"], old["across"] + old["turned"]
        rate1 = rate + h * (old["growth"] + h * old["jerk"])
        guess = ca.vertcat(h / 2 * (rate + rate1 + across), rate1, across, bend, bend, lam, 0, ca.inf)
        modes, matrix = ca.reshape(old["modes"], n, count), ca.reshape(old["matrix"], count, count)
        given = [ca.MX.sym("x", *each.shape) for each in (modes, matrix, *self._given())]
        hold = ca.Function("hold", given, given[:2])
        anew = old["made"][1] > SLOW
        at = (t + h, h, x + guess[:n], rate1, old["growth"], lam, p, m)
        modes, matrix = ca.Function.if_else("choice", self.renewed, hold)(anew, modes, matrix, *at)
        known = (guess, modes, matrix, t, h, x, self.force(t, x, v, p, m), rate, p, m)
        last, value = or_else(repeated(self.once), repeated(repeated(self._once_anew()), ROUNDS))(*known)
        d, rate1, across, bend1, bend, lam, done, _ = self._split(value)
        x1, v1 = x + d - h / 2 * bend, rate1 - bend1 / 2  # eq. 45 and 50
        powers = mech.powers(t + h, x1, v1, (v1 - v) / h, self._forces(t + h, x1, v1, lam, p, m), p, m)
        growth = (rate1 - rate) / h
        new = {"x": ca.vertcat(x1, v1), "rate": rate1, "growth": growth, "jerk": (growth - old["growth"]) / h}
        new |= {
            "across": across,
            "turned": across - old["across"],
            "bend": bend1,
            "multipliers": lam,
            "modes": ca.vec(modes),
            "matrix": ca.vec(matrix),
            "powers": powers,
        }
        off = mech.constraints(t + h, x1, v1, 0, 0, p, m)[0] if mech.sizes[2] else ca.MX.zeros(1)
        new |= {"drift": ca.fmax(old["drift"], ca.norm_inf(off)), "made": ca.vertcat(h, done)}
        new |= {"quad": old["quad"] + h / 2 * (powers + old["powers"])}
        return ca.Function("step", [t, h, y, c], [self.layout.join(new), ca.if_else(last <= 1, 0, ca.inf)])

    def _forces(self, t: Any, x: Any, v: Any, lam: Any, p: Any, m: Any) -> Any:
        """Multipliers of the formulation's own equations, as far as powers need them."""
        e = self.problem.equations
        if not self.literal:
            return lam
        powers = ca.vertcat(e.energy.supply, e.energy.dissipation)
        if ca.depends_on(powers, e.multipliers.symbols):
            return self.mechanism.soft_accelerations(t, x, v, p, m)[1]
        return ca.MX.zeros(len(e.multipliers))

    def integrate(
        self, t0: float, times: Array, x: Array, z: Array, p: Array, m: Array, scale: Scale, max_step: float
    ) -> Stretch:
        done = super().integrate(t0, times, x, z, p, m, scale, max_step)
        assert self._left is not None
        self.worst = max(self.worst, float(self.layout.split(self._left[1][len(HEAD) :])["drift"][0]))
        return done


def _closed(structure: Any, multipliers: Sequence[str]) -> list[str]:
    """Latches and stops that hold."""
    from cotree.formulation.nodal.structure import lock_name
    from cotree.terminal.nodal.locks import Lock

    locks = [placed.part for placed in structure.parts if isinstance(placed.part, Lock)]
    every = [(part, label) for part in locks for label in part.labels()]
    return [lock_name(part, label) for part, label in every if f"lambda {part.name} ({label})" in multipliers]
