"""Newmark's method in the amplitudes of displacement modes: Xiang, Wu and Zhou 2015 with the balance mended.

The unknowns of a step are the amplitudes of the p independent modes U = null(G) (eq. 40), where G u + Phi_t = 0 are the
velocity constraints. The paper balances forces at t with modes at t + dt (eq. 52) and lets lengths drift. Here

    a1 = U1 alpha'' - G1^+ (second-order term)               so that G a + G' v + ... = 0 (eq. 36-37)
    x1 = x0 + h v0 + h^2 (a0 + a1) / 4 + normal part         with Phi(x1) = 0
    v1 = v0 + h (a0 + a1) / 2 + normal part                  with G1 v1 + Phi_t = 0
    U1^T (M a1 - f(x1, v1, t1)) = 0

which is of second order. Normal parts are in the range of G1^T: least corrections, by the Moore-Penrose inverse
G^+ = G^T (G G^T + eps)^-1, whose small eps passes redundant equations and singular positions.

The paper is silent on how the columns of U at two times belong to each other, and those of a singular value
decomposition are arbitrary. Here they are transported: U1 = (1 - G1^+ G1) U, the nearest modes to earlier ones U. Since
U1^T r = U^T (1 - G1^+ G1) r, only columns need to be projected in a step; U and the modal matrix

    U^T (M + h/2 C + h^2/4 K) U

with the stiffness and damping of the forces, of the multipliers and of the second-order term are made anew only where
the iteration slows down. Then U is made orthonormal again by a step of Newton's rule for the polar decomposition.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.solve.generalised_alpha import NUDGE, Rated, needs_mechanism
from cotree.solve.newton import or_else, repeated
from cotree.solve.problem import Problem
from cotree.solve.stepping import Layout

Array = NDArray[np.float64]

BETA, GAMMA = 0.25, 0.5
SOFT = 1e-12
"""What is added to G G^T, over the mean of its diagonal."""
MOST = 100_000
"""Most entries of U: at that size full matrices take some twenty times as long as sparse ones with multipliers."""
MOST_STATES = 2_000
"""Most coordinates, whose modes at the start are found by a singular value decomposition."""
DEPENDENT = 1e-8
"""Ratio of singular values below which an equation counts as redundant."""
SPEED, PLACE = 1e-13, 1e-8
"""What may be left of a speed, over 1 or the largest, and the last correction of a place, which leaves its square."""
RATE = 0.03
"""The least part of a correction that is taken to be left after it: the first ones fall faster than later ones."""
STALLED, TRIED = 1e-8, 4
"""A small correction that does not fall any more after some of them is rounding, close to a singular position."""
SLOW = 3
"""Corrections in one step after which the modes are made anew for the next."""
LONGER = 1.3
"""Growth of the step after which they are made anew, too."""
COLUMNS = 400_000
"""Most numbers that one native call returns: its loop takes long to write with large states."""
LOCAL = 1 / 12
"""The local errors of coordinates and speeds over h^3 x''' and h^3 v'''."""


def moore_penrose_reason(problem: Problem) -> str:
    """The reason why a method in displacement modes cannot be used."""
    if reason := needs_mechanism(problem):
        return reason
    e = problem.equations
    assert e.mechanics is not None
    if e.mechanics.quaternions or not _same(e.kinematics, e.u.symbols):
        return "it needs coordinates whose rates are the speeds, as those of nodes are"
    n = len(e.u)
    if n > MOST_STATES or n * (n - e.mechanics.velocity.numel()) > MOST:
        return f"its {n} coordinates make full matrices too large; use integrator='generalised_alpha'"
    return ""


def _same(one: ca.SX, other: ca.SX) -> bool:
    return one.shape == other.shape and bool(ca.is_equal(ca.densify(one), other, 2))


def squared(jac: Any) -> Any:
    """G G^T + eps."""
    count = jac.shape[0]
    return ca.mtimes(jac, jac.T) + (SOFT * ca.sumsqr(jac) / count * ca.DM.eye(count) if count else 0)


def left_over(size: Any, before: Any, done: Any, values: Any, allowed: float) -> tuple[Any, Any]:
    """The size of a correction of ``values``, and what is left after it over what is allowed, by linear convergence.

    ``before`` is the size of the correction before, infinite where there was none, ``done`` their number.
    """
    size = ca.if_else(ca.sumsqr(values) < ca.inf, size, ca.inf)  # a maximum hides what is not a number
    left = ca.if_else(before < ca.inf, size * ca.fmin(1, ca.fmax(RATE, size / before)), size) / allowed
    stalled = ca.logic_and(ca.logic_and(size > before / 2, size < STALLED), done >= TRIED)
    return size, ca.if_else(stalled, ca.fmin(left, 1), left)


def null_space(matrix: Array) -> Array:
    """An orthonormal basis of the null space, by a singular value decomposition (eq. 40)."""
    if not len(matrix):
        return np.eye(matrix.shape[1])
    _, sizes, right = np.linalg.svd(matrix)
    rank = int((sizes > DEPENDENT * max(float(sizes.max(initial=0.0)), 1e-300)).sum())
    return np.asarray(right[rank:].T)


@dataclass(frozen=True)
class Rows:
    """Equations between positions, their first and second rates, the balance, and the multipliers in it."""

    position: ca.SX
    velocity: ca.SX
    acceleration: ca.SX
    balance: ca.SX
    multipliers: ca.SX


class ModeSteps(Rated):
    """What methods in displacement modes share: the modes as part of the state, and their number."""

    settles: ClassVar[bool] = False
    """Results are taken where the method is: its positions need not, or must not, be put on the constraints again."""
    count = 0
    """p, known once a run has begun."""

    @classmethod
    def suits(cls, problem: Problem) -> str:
        return moore_penrose_reason(problem)

    def kept(self, name: str, make: Any) -> ca.Function:
        return super().kept(f"{name} in {self.count} modes", make)

    def take(self, modes: Array) -> Array:
        """Set p to the number of the modes, and return them as a column."""
        n, count = modes.shape
        if n * count > MOST:
            raise SolveError(
                f"{self.name} would need full matrices of {n} x {count}",
                expected=f"at most {MOST} entries",
                remedy="Use integrator='generalised_alpha'",
            )
        if count != self.count:
            self.count = count
            for name in ("layout", "_judge", "_plan"):
                self.__dict__.pop(name, None)
        self.batch = int(np.clip(COLUMNS // self.layout.total, 1, 200))
        return np.ravel(modes, order="F")

    def modes_at(self, t: float, x: Array, ud: Array, p: Array, m: Array) -> Array:
        """U at a start; in a singular position that of a place a little later, if that has fewer modes."""
        nq, n, _, _ = self.mechanism.sizes
        if not self.rows:
            return np.eye(n)

        def here(at: float, q: Array, u: Array) -> Array:
            jac = self.frame(at, q, u, p, m)[0]
            return null_space(np.asarray(ca.DM(jac).full(), dtype=float))

        found = here(t, x[:nq], x[nq:])
        pace = max(float(np.abs(x[nq:]).max()), float(np.sqrt(np.abs(ud).max())), 1e-6)
        beside = np.sqrt(NUDGE) / pace
        moved = x[:nq] + beside * x[nq:] + beside**2 / 2 * ud
        later = here(t + beside, moved, x[nq:] + beside * ud)
        redundant = n - found.shape[1] < self.rows
        return later if redundant and later.shape[1] < found.shape[1] else found

    @property
    def rows(self) -> int:
        """The number of velocity constraints, the redundant ones with them."""
        return self.held.velocity.numel()

    @cached_property
    def held(self) -> Rows:
        """All equations, since the Moore-Penrose inverse does not mind redundant ones.

        Those that are independent at the start may become dependent later while all of them together do not.
        """
        e, mechanics = self.problem.equations, self.mechanism.mechanics
        none = ca.SX.zeros(mechanics.velocity.numel() - mechanics.position.numel())
        place, velocity = ca.vertcat(ca.densify(mechanics.position), none), mechanics.velocity
        lam, balance, acceleration = e.multipliers.symbols, mechanics.balance, mechanics.acceleration
        left = mechanics.left_out
        if left.numel() and not ca.depends_on(left, e.t):  # moved ones would do work that is not counted
            rate = ca.jtimes(left, e.q.symbols, e.u.symbols)
            more = ca.SX.sym("more", left.numel())
            second = ca.jtimes(rate, e.q.symbols, e.u.symbols) + ca.jtimes(rate, e.u.symbols, e.u_dot)
            balance = balance - ca.jtimes(rate, e.u.symbols, more, True)
            place, velocity = ca.vertcat(place, left), ca.vertcat(velocity, rate)
            acceleration, lam = ca.vertcat(acceleration, second), ca.vertcat(lam, more)
        return Rows(place, velocity, acceleration, balance, lam)

    @cached_property
    def frame(self) -> ca.Function:
        """(t, x, v, p, m) -> G, G G^T + eps and M."""
        e, mech = self.problem.equations, self.mechanism
        t, q, u, _, _, p, m = mech.arguments
        jac = ca.jacobian(self.held.velocity, u)
        parts = [e.in_time(each) for each in (jac, squared(jac), e.mass_matrix())]
        return ca.Function("frame", [t, q, u, p, m], parts, mech.tidy)

    @cached_property
    @abstractmethod
    def slopes(self) -> ca.Function:
        """(t, h, x, v, a, lambda, p, m) -> M + h/2 C + h^2/4 K, and the same of the constraints' accelerations."""

    @cached_property
    def renewed(self) -> ca.Function:
        """(modes, matrix, t, h, x, v, a, lambda, p, m) -> modes at a place, and the inverse of the modal matrix."""
        n, every, count = self.mechanism.sizes[1], self.rows, self.count
        modes, matrix = ca.MX.sym("modes", n, count), ca.MX.sym("matrix", count, count)
        t, h, x, v, a, lam, p, m = given = self._given()
        jac, square, mass = self.frame(t, x, v, p, m)
        new: Any = modes
        if every:
            new = new - ca.mtimes(jac.T, ca.solve(square, ca.mtimes(jac, new), "ldl"))  # (1 - G^+ G) U
            new = ca.mtimes(new, 1.5 * ca.MX.eye(count) - ca.mtimes(new.T, new) / 2)
        balance, bent = self.slopes(t, h, x, v, a, lam, p, m)
        whole = ca.mtimes(new.T, ca.mtimes(balance, new))
        if every:
            across = ca.solve(square, ca.mtimes(jac, ca.mtimes(mass.T, new)), "ldl")
            whole = whole - ca.mtimes(across.T, ca.mtimes(bent, new))
        inverse = ca.solve(whole, ca.MX.eye(count), "qr") if count else matrix
        return ca.Function("renewed", [modes, matrix, *given], [new, inverse])

    def _given(self) -> list[ca.MX]:
        mech = self.mechanism
        t, q, u, ud, _, p, m = mech.arguments
        shapes = [each.shape for each in (t, t, q, u, ud)] + [(self.rows, 1), p.shape, m.shape]
        return [ca.MX.sym("g", *shape) for shape in shapes]


class DisplacementModes(ModeSteps):
    """Newmark's beta = 1/4, gamma = 1/2 in mode amplitudes; positions and velocities keep their constraints."""

    name = "corrected"

    @cached_property
    def layout(self) -> Layout:
        n, every = self.mechanism.sizes[1], self.rows
        quad, p = self.problem.sizes["quad"], self.count
        return Layout(
            x=2 * n, a=n, jerk=n, mean=n, mean_jerk=n, gap=1, multipliers=every, modes=n * p, matrix=p * p, made=2,
            motion=3, powers=quad, quad=quad,
        )  # fmt: skip

    def begin(self, t: float, x: Array, p: Array, m: Array, scale: Array) -> tuple[Array, float]:
        n = self.mechanism.sizes[1]
        ud, multipliers, jerk, motion, rate = self.at_start(t, x, p, m, scale)
        modes = self.take(self.modes_at(t, x, ud, p, m))
        powers = np.asarray(self.mechanism.powers(t, x[:n], x[n:], ud, multipliers, p, m), dtype=float).ravel()
        matrix, made = np.zeros(self.count**2), np.array([0.0, 2.0 * SLOW])
        multipliers = np.append(multipliers, np.zeros(self.rows - len(multipliers)))
        parts = [x, ud, jerk, ud, jerk, np.zeros(1), multipliers, modes, matrix, made, motion, powers, 0 * powers]
        return np.concatenate(parts), self.first_step(rate) if self.fixed is None else self.fixed

    @cached_property
    def terms(self) -> ca.Function:
        """(t, x, v, a, p, m) -> G, G G^T + eps, M, errors of position, velocity and acceleration, and M a - f."""
        mech, e = self.mechanism, self.problem.equations
        t, q, u, ud, _, p, m = mech.arguments
        held = self.held
        jac = ca.jacobian(held.velocity, u)
        errors = ca.densify(ca.horzcat(held.position, held.velocity, held.acceleration))
        idle = ca.SX.zeros(*held.multipliers.shape)
        rest = ca.densify(ca.substitute(held.balance, held.multipliers, idle))
        parts = [e.in_time(each) for each in (jac, squared(jac), e.mass_matrix(), errors, rest)]
        return ca.Function("terms", [t, q, u, ud, p, m], parts, mech.tidy)

    @cached_property
    def slopes(self) -> ca.Function:
        mech, e = self.mechanism, self.problem.equations
        t, q, u, ud, _, p, m = mech.arguments
        held, h = self.held, ca.SX.sym("h")

        def slope(value: ca.SX) -> ca.SX:
            value = e.in_time(value)
            return GAMMA * h * ca.jacobian(value, u) + BETA * h**2 * ca.jacobian(value, q)

        balance = e.in_time(e.mass_matrix()) + slope(held.balance)
        return ca.Function(
            "slopes", [t, h, q, u, ud, held.multipliers, p, m], [balance, slope(held.acceleration)], mech.tidy
        )

    @cached_property
    def once(self) -> ca.Function:
        """(value, modes, matrix, t, h, p, m) -> (size, value): a correction of (x, v, a, lambda, corrections, size)."""
        mech = self.mechanism
        n, every = mech.sizes[1], self.rows
        value = ca.MX.sym("value", 3 * n + every + 2)
        modes, matrix = ca.MX.sym("modes", n, self.count), ca.MX.sym("matrix", self.count, self.count)
        t, h, _, _, _, _, p, m = self._given()
        x, v, a, lam, done, before = self._split(value)
        jac, square, mass, errors, rest = self.terms(t, x, v, a, p, m)
        normal: Any = ca.MX.zeros(n, 3)
        if every:
            found = ca.solve(square, ca.horzcat(errors, ca.mtimes(jac, rest)), "ldl")
            pushed = ca.mtimes(jac.T, found)
            normal, lam = -pushed[:, :3], found[:, 3]
            rest = rest - pushed[:, 3] + ca.mtimes(mass, normal[:, 2])
        change = -ca.mtimes(modes, ca.mtimes(matrix, ca.mtimes(modes.T, rest)))
        fast = GAMMA * h * ca.norm_inf(change + normal[:, 2])
        fast, far = fast / (1 + ca.norm_inf(v)), ca.norm_inf(normal[:, 0]) / PLACE
        size, left = left_over(fast, before, done, change, SPEED)
        left = ca.fmax(left, far)
        new = ca.vertcat(
            x + normal[:, 0] + BETA * h**2 * change,
            v + normal[:, 1] + GAMMA * h * change,
            a + normal[:, 2] + change,
            lam,
            done + 1,
            size,
        )
        return ca.Function("once", [value, modes, matrix, t, h, p, m], [left, new])

    def _split(self, value: Any) -> list[Any]:
        n, every = self.mechanism.sizes[1], self.rows
        return ca.vertsplit(value, np.cumsum([0, n, n, n, every, 1, 1]).tolist())

    def make_step(self) -> ca.Function:
        n, count = self.mechanism.sizes[1], self.count
        t, h = ca.MX.sym("t"), ca.MX.sym("h")
        y, c = ca.MX.sym("y", self.layout.total), ca.MX.sym("c", self.constants.total)
        old, const = self.layout.split(y), self.constants.split(c)
        at, p, m = t + h, const["p"], const["m"]
        x0, v0, a0, lam = old["x"][:n], old["x"][n:], old["a"], old["multipliers"]

        def placed(a: Any) -> Any:
            x = x0 + h * v0 + h**2 * ((0.5 - BETA) * a0 + BETA * a)  # eq. 53, 54 in nodal coordinates
            return ca.vertcat(x, v0 + h * ((1 - GAMMA) * a0 + GAMMA * a), a, lam, 0, ca.inf)

        guess = placed(a0 + h * old["jerk"])
        modes, matrix = ca.reshape(old["modes"], n, count), ca.reshape(old["matrix"], count, count)
        given = [ca.MX.sym("x", *each.shape) for each in (modes, matrix, *self._given())]
        hold = ca.Function("hold", given, given[:2])
        anew = ca.logic_or(old["made"][1] > SLOW, h > LONGER * old["made"][0])
        parts = guess[:n], guess[n : 2 * n], guess[2 * n : 3 * n], lam
        modes, matrix = ca.Function.if_else("choice", self.renewed, hold)(anew, modes, matrix, at, h, *parts, p, m)
        still = placed(-(v0 / h + (0.5 - BETA) * a0) / BETA)  # x1 = x0, for oscillations that are not resolved
        known = (modes, matrix, at, h, p, m)
        symbols = [ca.MX.sym("k", *each.shape) for each in (guess, still, *known)]
        often = repeated(self._once_anew())
        chosen = [(repeated(self.once), symbols[0]), (often, symbols[0]), (often, symbols[1])]
        tries = [ca.Function("try", symbols, [*root(begin, *symbols[2:])]) for root, begin in chosen]
        last, value = or_else(or_else(tries[0], tries[1]), tries[2])(guess, still, *known)
        x1, v1, a1, lam1, done, _ = self._split(value)
        made = ca.vertcat(ca.if_else(anew, h, old["made"][0]), done)
        memory = {"modes": ca.vec(modes), "matrix": ca.vec(matrix), "made": made}
        y1, error = self._finished(t, h, y, c, (x1, v1, a1, lam1), memory)
        return ca.Function("step", [t, h, y, c], [y1, ca.if_else(last <= 1, error, ca.inf)])

    def _once_anew(self) -> ca.Function:
        """A correction with the modal matrix of its own place, for steps in which much changes."""
        given = [ca.MX.sym("x", *self.once.sparsity_in(k).shape) for k in range(self.once.n_in())]
        value, modes, matrix, t, h, p, m = given
        x, v, a, lam, done, _ = self._split(value)
        modes, matrix = self.renewed(modes, matrix, t, h, x, v, a, lam, p, m)
        size, new = self.once(value, modes, matrix, t, h, p, m)
        return ca.Function("once_anew", given, [size, ca.vertcat(new[:-2], done + SLOW + 1, new[-1])])

    def _finished(self, t: Any, h: Any, y: Any, c: Any, found: Any, memory: dict[str, Any]) -> tuple[Any, Any]:
        """The state after a step with its memory, and the error."""
        mech = self.mechanism
        x1, v1, a1, lam = found
        old, const = self.layout.split(y), self.constants.split(c)
        powers = mech.powers(t + h, x1, v1, a1, lam[: mech.sizes[3]], const["p"], const["m"])
        mean, apart = (v1 - old["x"][mech.sizes[1] :]) / h, (h + old["gap"]) / 2
        mean_jerk = (mean - old["mean"]) / apart
        error = LOCAL * h**3 * ca.vertcat(mean_jerk, (mean_jerk - old["mean_jerk"]) / apart)
        state = ca.vertcat(x1, v1)
        relative, motion = self.measured(old["x"], state, mean, error, h, old["motion"], const)
        new = {"x": state, "a": a1, "jerk": (a1 - old["a"]) / h, "mean": mean, "mean_jerk": mean_jerk, "gap": h}
        new |= {"multipliers": lam, "motion": motion, "powers": powers}
        new |= {"quad": old["quad"] + h / 2 * (powers + old["powers"]), **memory}
        return self.layout.join(new), relative
