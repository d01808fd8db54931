"""A mechanism's equations as native functions, with accelerations of index 1 and projections on the constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation import SystemEquations
from cotree.maths.lookup import common_parts, slopes
from cotree.maths.rotation import advance
from cotree.maths.symbolic import column
from cotree.solve.newton import SMALL, repeated, solution, tidy

Array = NDArray[np.float64]

CLOSE = 1e-7
"""Last correction of a position: what is left is its square."""
FLAT = 1e-3
"""Least size of a row of G beside the others: in a flat position one of them may vanish."""
SINGULAR = 1e-9
"""Ratio of the eigenvalues of a scaled mass matrix below which it counts as singular."""
TINY, DAMPED = 1e-13, 1e-9
"""Damping of the multipliers in accelerations and in projections, which in a flat four-bar would answer rounding with
large steps."""
LIGHT = 1e-6
"""Least weight of a speed in the metric of a position's correction, as a part of the mean."""


@dataclass(frozen=True)
class Mechanism:
    """The expressions of a mechanism as functions of (t, q, u, u', lambda, p, m), the inputs in time."""

    equations: SystemEquations

    @classmethod
    def of(cls, equations: SystemEquations) -> Mechanism:
        """The mechanism of these equations, kept with them."""
        return equations.__dict__.setdefault("_mechanism", cls(equations))  # type: ignore[no-any-return]

    @cached_property
    def arguments(self) -> list[ca.SX]:
        """t, q, u, u', lambda, p, m; after the modes m come the states x of networks and signals."""
        e = self.equations
        m = ca.vertcat(e.mode_symbols, e.x.symbols)
        return [e.t, e.q.symbols, e.u.symbols, e.u_dot, e.multipliers.symbols, e.p.symbols, m]

    def function(self, name: str, *expressions: ca.SX) -> ca.Function:
        """A native function of the arguments."""
        dense = [ca.densify(self.equations.in_time(each)) for each in expressions]
        return ca.Function(name, self.arguments, dense, self.tidy)

    @cached_property
    def tidy(self) -> dict[str, bool]:
        """Options of functions of this size."""
        e = self.equations
        long = not common_parts(e.in_time(self.mechanics.balance))["cse"]
        return {} if long else tidy(len(e.u) + len(e.multipliers))

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Numbers of coordinates, speeds, position constraints and all constraints."""
        e = self.equations
        assert e.mechanics is not None
        return len(e.q), len(e.u), e.mechanics.position.numel(), e.mechanics.velocity.numel()

    @cached_property
    def balance(self) -> ca.Function:
        """r."""
        return self.function("balance", self.mechanics.balance)

    @property
    def mechanics(self) -> Any:
        """The second-order form."""
        return self.equations.mechanics

    @cached_property
    def constraints(self) -> ca.Function:
        """Position and velocity constraints."""
        return self.function("constraints", self.mechanics.position, self.mechanics.velocity)

    @cached_property
    def kinematics(self) -> ca.Function:
        """N(q) u."""
        return self.function("kinematics", self.equations.kinematics)

    @cached_property
    def further(self) -> ca.Function:
        """x', of the states of networks and signals."""
        return self.function("further", self.equations.x_rates)

    @cached_property
    def matrices(self) -> ca.Function:
        """M and G, sparse."""
        e = self.equations
        parts = [e.in_time(e.mass_matrix()), e.in_time(slopes(self.mechanics.velocity, e.u.symbols))]
        return ca.Function("matrices", self.arguments, parts, self.tidy)

    @cached_property
    def index_one(self) -> ca.Function:
        """The forces r(u' = lambda = 0) and the accelerations of the constraints with u' = 0."""
        e = self.equations
        w = ca.vertcat(e.u_dot, e.multipliers.symbols)
        both = ca.vertcat(self.mechanics.balance, self.mechanics.acceleration)
        return self.function("index_one", ca.substitute(both, w, ca.SX.zeros(*w.shape)))

    @cached_property
    def powers(self) -> ca.Function:
        """Rates of the integrals: dissipation, supply and the formulation's own."""
        e = self.equations
        own = [output.expression for output in e.integrals.values()]
        return self.function("powers", column([e.energy.dissipation, e.energy.supply, *own]))

    @cached_property
    def energies(self) -> ca.Function:
        """Kinetic and potential energy."""
        return self.function("energies", self.mechanics.kinetic, self.mechanics.potential)

    @cached_property
    def slope(self) -> ca.Function:
        """The power against the potential, dV/dq N(q) u."""
        e = self.equations
        return self.function("slope", ca.mtimes(ca.jacobian(self.mechanics.potential, e.q.symbols), e.kinematics))

    def moved(self, q: Any, delta: Any, known: Sequence[Any]) -> Any:
        """q moved by delta = h v: on the group for rotations, along N at the middle elsewhere; ``known`` is t, p, m."""
        places = self.mechanics.quaternions
        half = advance(q, delta / 2, self._along(q, delta / 2, known), places)
        return advance(q, delta, self._along(half, delta, known), places)

    def _along(self, q: Any, delta: Any, known: Sequence[Any]) -> Any:
        """N(q) delta."""
        t, p, m = known
        return self.kinematics(t, q, delta, 0, 0, p, m)

    @cached_property
    def small(self) -> int:
        """Unknowns up to which linear systems are written out: none where a mass is missing, as in a rod's spin."""
        e, n = self.equations, self.sizes[1]
        if n > SMALL:  # nothing is written out anyway
            return SMALL
        m = np.concatenate([np.zeros(e.mode_symbols.numel()), e.x.start])
        known = (0.0, e.q.start, e.u.start, np.zeros(n), np.zeros(len(e.multipliers)), e.p.start, m)
        mass = np.asarray(ca.DM(self.matrices(*known)[0]).full(), dtype=float)
        if not np.isfinite(mass).all() or not n or (np.diag(mass) <= 0).any():
            return 0
        root = np.sqrt(np.diag(mass))
        scaled = mass / root / root[:, None]
        return SMALL if np.linalg.eigvalsh(scaled)[0] > SINGULAR else 0

    @cached_property
    def length(self) -> float:
        """A length of the mechanism: its longest length parameter, or coordinate at the start."""
        e = self.equations
        for values, units in ((e.p.start, e.p.units), (e.q.start, e.q.units)):
            longest = max((abs(v) for v, unit in zip(values.tolist(), units, strict=True) if unit == "m"), default=0.0)
            if 0.0 < longest < np.inf:
                return float(longest)
        return 1.0

    @cached_property
    def spans(self) -> Array:
        """What displacements are compared with: the length, and 1 rad for rotations."""
        return np.array([self.length if unit == "m/s" else 1.0 for unit in self.equations.u.units])

    @cached_property
    def scale(self) -> Array:
        """Factors of the balances and of the constraints, by which all rows and columns get about one size.

        They are powers of two, so that nothing is rounded: 1 over the roots of the mean mass, and of G M^-1 G^T with
        that mass for M. A body with hardly any inertia shall not decide.
        """
        e, (_, n, count, every) = self.equations, self.sizes
        m = np.concatenate([np.zeros(e.mode_symbols.numel()), e.x.start])
        known = (0.0, e.q.start, e.u.start, np.zeros(n), np.zeros(len(e.multipliers)), e.p.start, m)
        mass, jac = self.matrices(*known)
        diagonal = np.abs(np.asarray(ca.densify(ca.diag(mass)), dtype=float).ravel()) * self.spans**2
        mean = float(np.mean(diagonal)) if n else 1.0
        own = np.sqrt(mean if 0 < mean < np.inf else 1.0) / self.spans
        parts = ca.mtimes(jac, ca.diag(ca.DM(1 / own)))
        rows = np.sqrt(np.asarray(ca.densify(ca.sum2(parts * parts)), dtype=float).ravel()[:every])
        held = np.where(self.mechanics.lengths or (True,) * count, self.length, 1.0)
        shares = rows[: len(held)] / held
        rows[: len(held)] = np.fmax(shares, FLAT * np.nanmax(shares, initial=0.0)) * held
        rows = np.where(np.isfinite(rows) & (rows > 0), rows, 1.0)
        return np.asarray(2.0 ** -np.round(np.log2(np.concatenate([own, rows]))))

    def damping(self, part: float) -> Array:
        """A part of the diagonal of G M^-1 G^T at the start, row by row."""
        return np.asarray(part / self.scale[len(self.equations.u) :] ** 2)

    def weights(self, mass: ca.SX) -> ca.SX:
        """A positive diagonal in place of the mass matrix."""
        diagonal = ca.densify(ca.diag(mass))
        return ca.fmax(diagonal, LIGHT * ca.sum1(diagonal) / diagonal.numel())

    @cached_property
    def accelerations(self) -> ca.Function:
        """(t, q, u, p, m) -> (u', lambda) of index 1."""
        return self._accelerations(TINY)

    @cached_property
    def soft_accelerations(self) -> ca.Function:
        """The same for methods that project: where G loses rank, the constraint is let go for a moment.

        What the damping changes is off the constraints, and a projection takes it away.
        """
        return self._accelerations(DAMPED)

    def _accelerations(self, damping: float) -> ca.Function:
        t, q, u, _, _, p, m = self.arguments
        n = len(self.equations.u)
        if not self.sizes[3] and not len(self.equations.w) and self.equations.rates.numel():
            rates = self.equations.in_time(self.equations.rates)
            found = [ca.densify(rates), ca.SX(0, 1)]
            return ca.Function("accelerations", [t, q, u, p, m], found, common_parts(rates))
        known = [t, q, u, p, m]
        if self.sizes[3] < len(self.equations.multipliers):
            return self._with_friction(known)
        mass, jac = self.matrices(t, q, u, 0, 0, p, m)
        matrix = _bordered(mass, jac, self.damping(damping))
        rest = self.index_one(t, q, u, 0, 0, p, m)
        right = ca.SX.sym("right", *rest.shape)
        solved = solution("solved", [*known, right], matrix, right, n, self.small, scale=self.scale)
        arguments = [ca.MX.sym("x", *each.shape) for each in known]
        rest_of = ca.Function("rest", known, [ca.densify(-rest)], self.tidy)
        w = solved(*arguments, rest_of(*arguments))
        if damping > TINY and self.sizes[3]:  # once more, so that damping shows in singular positions only
            corner = ca.Function("corner", known, [ca.densify(ca.diag(matrix[n:, n:]))], self.tidy)
            w = w + solved(*arguments, ca.vertcat(ca.MX.zeros(n), corner(*arguments) * w[n:]))
        whole = ca.Function("accelerations", arguments, [w[:n], -w[n:]])
        return whole.expand("accelerations", common_parts(whole)) if n + self.sizes[3] <= self.small else whole

    def _with_friction(self, known: Sequence[ca.SX]) -> ca.Function:
        """The same where further unknowns, torques of parts that stick, have rows of their own."""
        e, n = self.equations, len(self.equations.u)
        w = ca.vertcat(e.u_dot, e.multipliers.symbols)
        both = e.in_time(ca.vertcat(self.mechanics.balance, self.mechanics.acceleration))
        matrix = slopes(both, w)
        right = -ca.substitute(both, w, ca.SX.zeros(*w.shape))
        solved = solution("accelerations", known, matrix, ca.densify(right), n, self.small)
        symbols = [ca.MX.sym("x", *each.shape) for each in known]
        found = solved(*symbols)
        whole = ca.Function("accelerations", symbols, [found[:n] if n else ca.MX(0, 1), found[n:]])
        return whole.expand("accelerations", common_parts(whole)) if w.numel() <= self.small else whole

    @cached_property
    def projected(self) -> ca.Function:
        """(t, q, u, p, m) -> (q, u, size): the nearest point on the constraints in the mass metric.

        Euler parameters get unit length. ``size`` is at most 1 where the iteration has settled.
        """
        t, q, u, _, _, p, m = self.arguments
        _, _, count, every = self.sizes
        known = [ca.MX.sym(name, *each.shape) for name, each in zip("tqupm", (t, q, u, p, m), strict=True)]
        at, place, speed, values, modes = known
        size: Any = ca.MX(0)
        if count:
            size, place = repeated(self.nearer)(place, at, values, modes)
        if every:
            speed = speed + self.velocity_correction(at, place, speed, values, modes)
        return ca.Function("projected", known, [self.unit(place), speed, size])

    @cached_property
    def nearer(self) -> ca.Function:
        """(q, t, p, m) -> (size of the correction over CLOSE, q): one Newton step towards the position constraints."""
        t, q, u, _, _, p, m = self.arguments
        _, n, count, _ = self.sizes
        mass, jac = self.matrices(t, q, u, 0, 0, p, m)
        error = self.constraints(t, q, u, 0, 0, p, m)[0]
        matrix = _bordered(mass, jac[:count, :], self.damping(DAMPED)[:count])
        scale = self.scale[: n + count]
        turn = solution("towards", [t, q, p, m], matrix, _under(n, -error), n, self.small, scale=scale)
        delta = ca.SX.sym("delta", n)
        moved = self.moved(q, delta, (t, p, m))
        move = ca.Function("move", [q, t, delta, p, m], [ca.norm_inf(delta / self.spans) / CLOSE, moved], self.tidy)
        symbols = [ca.MX.sym("x", *each.shape) for each in (q, t, p, m)]
        correction = turn(symbols[1], symbols[0], *symbols[2:])[:n]
        return ca.Function("nearer", symbols, [*move(*symbols[:2], correction, *symbols[2:])])

    def settled(self, steps: int) -> ca.Function:
        """(t, (q, u, x), p, m) -> the state on the constraints after some Newton steps, and (u', lambda) there."""
        nq, n, count, every = self.sizes
        e = self.equations
        t, p, only = (ca.MX.sym("s", each.numel()) for each in (e.t, e.p.symbols, e.mode_symbols))
        x = ca.MX.sym("x", nq + n + len(e.x))
        q, u, further = x[:nq], x[nq : nq + n], x[nq + n :]
        m = ca.vertcat(only, further)
        for _ in range(steps if count else 0):
            q = self.nearer(q, t, p, m)[1]
        if every:
            u = u + self.velocity_correction(t, q, u, p, m)
        q = self.unit(q)
        solve = self.soft_accelerations if steps == 1 else self.accelerations
        w = ca.vertcat(*solve(t, q, u, p, m))
        whole = ca.Function("settled", [t, x, p, only], [ca.vertcat(q, u, further), w])
        return whole.expand("settled", common_parts(whole)) if n + len(e.multipliers) <= self.small else whole

    @cached_property
    def velocity_correction(self) -> ca.Function:
        """(t, q, u, p, m) -> the least change of u, in the mass metric, that meets the velocity constraints."""
        t, q, u, _, _, p, m = self.arguments
        n = len(self.equations.u)
        mass, jac = self.matrices(t, q, u, 0, 0, p, m)
        error = self.constraints(t, q, u, 0, 0, p, m)[1]
        matrix = _bordered(mass, jac, self.damping(DAMPED))
        solved = solution("velocities", [t, q, u, p, m], matrix, _under(n, -error), n, self.small, scale=self.scale)
        known = [ca.MX.sym("x", *each.shape) for each in (t, q, u, p, m)]
        return ca.Function("velocity_correction", known, [solved(*known)[:n]])

    def unit(self, q: Any) -> Any:
        """q with Euler parameters of unit length."""
        parts, done = [], 0
        for place, _ in self.mechanics.quaternions:
            e = q[place : place + 4]
            parts += [q[done:place], e / ca.sqrt(ca.sumsqr(e))]
            done = place + 4
        return ca.vertcat(*parts, q[done:]) if parts else q


def _bordered(mass: ca.SX, jac: ca.SX, damping: Array) -> ca.SX:
    """[[M, G^T], [G, -d]]: d is a small part of G M^-1 G^T, so that multipliers stay finite where G loses rank."""
    return ca.vertcat(ca.horzcat(mass, jac.T), ca.horzcat(jac, -ca.diag(ca.SX(damping))))


def _under(zeros: int, values: ca.SX) -> ca.SX:
    return ca.vertcat(ca.SX.zeros(zeros, 1), values)
