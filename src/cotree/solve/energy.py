"""The energy algorithm: mechanisms whose energy changes by the work of forces and by nothing else.

In the spirit of Bauchau, Damilano and Theron 1995, written in general coordinates. With the mean velocity v and the
mean acceleration a = (u1 - u0) / h the step is the midpoint rule on the group,

    q1 = q0 o exp(h v),   v = u0 + h a / 2 + h D^-1 G_h^T mu,
    balance(middle; v, a, lambda) + kappa M(q0) v = 0,
    E1 - E0 = h (supply - dissipation)(middle)
    Phi(q1) = 0,  velocity constraints(q1, u1) = 0.

The product of v with the second row shows what kappa does: it replaces the part of the balance along the motion, where
the midpoint rule makes an error of second order, by the exact balance of energy. So kappa is of second order, too, and
constraint forces do no work whatever their multipliers are. mu, likewise of second order, keeps the positions, lambda
the velocities; D is the diagonal of M. Close to rest, where a balance of energy says nothing about the motion, kappa
fades out.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.solve.generalised_alpha import Rated
from cotree.solve.newton import left_over, newton, or_else, through
from cotree.solve.stepping import Layout

Array = NDArray[np.float64]

REST = 1e-13
"""Part of the largest kinetic energy at which kappa fades out."""
ROUNDING = 1e-14
"""The same from rounding in a large total energy, times the square of total over kinetic energy."""
EXACT = 1e-17
"""What Newton's rule may leave of a speed, over 1 or the speeds' size."""
NEARLY = 1e-8
"""Error of the energy, over the kinetic energy, after which one more correction leaves nothing."""
MIDPOINT_ERROR = 1 / 12
PLAIN = 1e200
"""What fades kappa out altogether."""


class EnergyPreserving(Rated):
    """Energy changes by work only; positions and velocities keep their constraints. Second order."""

    name = "energy"

    @property
    def shift(self) -> float:
        """How far forces are taken from the middle, in second differences of the coordinates."""
        return 0.0

    @cached_property
    def layout(self) -> Layout:
        nq, n, count, every = self.mechanism.sizes
        quad = self.problem.sizes["quad"]
        return Layout(
            x=nq + n, a=n, jerk=n, v=n, multipliers=every, kept=n + count if count else 0, before=1, motion=3, swing=1,
            energy=1, quad=quad,
        )  # fmt: skip

    def begin(self, t: float, x: Array, p: Array, m: Array, scale: Array) -> tuple[Array, float]:
        nq = self.mechanism.sizes[0]
        ud, multipliers, jerk, motion, rate = self.at_start(t, x, p, m, scale)
        energies = self.mechanism.energies(t, x[:nq], x[nq:], ud, multipliers, p, m)
        kinetic, potential = (float(each) for each in energies)
        scalars = np.array([0.0, *motion, 2 * kinetic, kinetic + potential])
        idle = np.zeros(self.layout.sizes["kept"]), np.zeros(self.problem.sizes["quad"])
        y = np.concatenate([x, ud, jerk, x[nq:], multipliers, idle[0], scalars, idle[1]])
        return y, self.first_step(rate)

    def make_step(self) -> ca.Function:
        mech = self.mechanism
        nq, n, count, every = mech.sizes
        t, h = ca.SX.sym("t"), ca.SX.sym("h")
        y, c = ca.SX.sym("y", self.layout.total), ca.SX.sym("c", self.constants.total)
        old, const = self.layout.split(y), self.constants.split(c)
        p, m = const["p"], const["m"]
        q0, u0 = old["x"][:nq], old["x"][nq:]
        at, end = (t + h / 2, p, m), (t + h, p, m)
        sizes = {"a": n, "kappa": 1, "lam": every, "shift": n if count else 0, "mu": count}
        a, kappa, lam, shift, mu = (ca.SX.sym(name, size) for name, size in sizes.items())
        z = ca.vertcat(a, kappa, lam, shift, mu)
        mass, jac = mech.matrices(t, q0, u0, 0, 0, p, m)
        way, v = u0 + h / 2 * a + h * shift if count else u0 + h / 2 * a, ca.SX.sym("v", n)
        q1, u1 = mech.moved(q0, h * v, end), u0 + h * a
        middle, lost = mech.moved(q0, h / 2 * v, at), ca.SX(0)
        if self.shift:
            bend = self.shift * h * (v - old["v"])
            plain, middle = middle, mech.moved(q0, h / 2 * v + bend, at)
            slopes = [mech.slope(at[0], place, h * v, 0, 0, p, m) for place in (middle, plain)]
            lost = ca.fmax(0, slopes[0] - slopes[1])
        push, faded, more = ca.SX.sym("push", n), ca.SX.sym("faded"), ca.SX.sym("more")
        balance = mech.balance(at[0], middle, v, a, lam, p, m) + kappa * push
        powers = mech.powers(at[0], middle, v, a, lam, p, m)
        kinetic, potential = mech.energies(end[0], q1, u1, a, lam, p, m)
        energy = old["energy"] + h * (powers[1] - powers[0]) - lost
        position, velocity = mech.constraints(end[0], q1, u1, 0, 0, p, m)
        work = (kinetic + potential - energy) / h - kappa * faded
        residual = ca.vertcat(balance, work, velocity / h)
        if count:
            kept = mech.weights(mass) * shift - ca.mtimes(jac[:count, :].T, mu)
            residual = ca.vertcat(residual, kept, position / h**2)
        used = [q1, kinetic, potential, energy, powers]
        residual, matrix, (q1, kinetic, potential, energy, powers) = through(z, residual, v, way, used)
        v = way
        swing, total = ca.fmax(old["swing"], 2 * kinetic) + 1e-100, ca.fabs(kinetic) + ca.fabs(potential)
        soft = REST * swing + ROUNDING * (old["energy"] ** 2 + total**2) / swing + more
        # Put in only now: kappa is small, and what it multiplies need not be differentiated.
        values = ca.densify(ca.vertcat(ca.mtimes(mass, v), soft))
        residual, matrix = ca.substitute([residual, matrix], [ca.vertcat(push, faded)], [values])

        def size(change: ca.SX) -> ca.SX:
            missed = ca.fabs(kinetic + potential - energy) / (NEARLY * (swing + 1e-6 * total))
            return ca.fmax(left_over(h * ca.norm_inf(change[:n]), h, u0, EXACT), missed)

        root = newton(z, [t, h, y, c, more], residual, size, n + 1, mech.small, matrix, n)
        new = {"x": ca.vertcat(mech.unit(q1), u1), "a": a, "v": v, "multipliers": lam, "before": h}
        new |= {"kept": ca.vertcat(shift, mu)}
        new |= {"swing": swing, "energy": energy}
        new |= {"quad": old["quad"] + h * powers, **self._error(old, const, new["x"], a, h, (t, p, m))}
        last = ca.SX.sym("last")
        error = ca.if_else(last <= 1, new.pop("error"), ca.inf)
        after = ca.Function("after", [z, last, t, h, y, c], [self.layout.join(new), error], mech.tidy)
        lead = (old["before"] + h) / 2
        predicted = ca.vertcat(old["a"] + lead * old["jerk"], 0, old["multipliers"], old["kept"])
        guess = ca.Function("guess", [t, h, y, c], [predicted])
        given = [ca.MX.sym("x", *each.shape) for each in (t, h, y, c)]
        first = ca.Function("first", given, [*root(guess(*given), *given, 0)])
        # For oscillations that are not resolved: first without the balance of energy and from rest. Where nothing else
        # helps, the step is left so, and the next ones make up for the energy.
        still = ca.Function("still", [t, h, y, c], [ca.vertcat(-2 * u0 / h, 0, predicted[n + 1 :, :])])
        plain = ca.Function("plain", given, [*root(still(*given), *given, PLAIN)])
        second = ca.Function("second", given, [*root(plain(*given)[1], *given, 0)])
        size_of_last, found = or_else(first, or_else(second, plain))(*given)
        return ca.Function("step", given, [*after(found, size_of_last, *given)])

    def _error(self, old: dict[str, Any], const: dict[str, Any], x1: Any, a: Any, h: Any, known: Any) -> dict[str, Any]:
        """The rate of the accelerations, the error over the tolerance and the sizes of the motion."""
        mech = self.mechanism
        nq = mech.sizes[0]
        t, p, m = known
        apart = (h + old["before"]) / 2
        jerk = (a - old["a"]) / apart
        bend = (jerk - old["jerk"]) / apart
        along = mech.kinematics(t, x1[:nq], MIDPOINT_ERROR * h**3 * jerk, 0, 0, p, m)
        error = ca.vertcat(along, MIDPOINT_ERROR * h**3 * bend)
        relative, motion = self.measured(old["x"], x1, a, error, h, old["motion"], const)
        return {"jerk": jerk, "motion": motion, "error": relative}


class EnergyDecaying(EnergyPreserving):
    """Energy changes by work and decays with what the steps do not resolve.

    Forces are taken not in the middle but beside it, by a part of the second difference of the coordinates: of an
    oscillation that is not resolved, the part given by the spectral radius is left after each step. The energy that
    this takes out is D = v h (V'(beside) - V'(middle)), and where that is negative, D = 0: E1 - E0 = work - D. So
    energy never grows. D is of third order in a step, that in a run of second order.
    """

    name = "energy_decaying"

    @property
    def shift(self) -> float:
        radius = self.options.spectral_radius
        return radius * (1 - radius) / (2 * (1 + radius) ** 2)
