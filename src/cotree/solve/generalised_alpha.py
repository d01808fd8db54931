"""The generalised-alpha method for constrained mechanisms, rotations on the group, with adaptive or fixed steps.

Chung and Hulbert 1993; on Lie groups with constraints Bruels, Cardona and Arnold 2012, index 2 in the stabilised form
of Gear, Gupta and Leimkuhler as in Arnold, Bruels and Cardona 2015. The unknowns are scaled accelerations and
multipliers, so that the matrix of Newton's rule keeps its condition as the step gets short.

    balance(t1, q1, u1, u1', lambda) = 0
    (1 - am) a1 + am a0 = (1 - af) u1' + af u0'
    q1 = q0 o exp(h u0 + h^2 ((1/2 - b) a0 + b a1)),  u1 = u0 + h ((1 - g) a0 + g a1)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.solve.mechanism import Mechanism
from cotree.solve.newton import SETTLED, inlined, left_over, newton, or_else, through
from cotree.solve.problem import Problem
from cotree.solve.stepping import Layout, Stepping

Array = NDArray[np.float64]

NUDGE = 1e-6
"""Time after which accelerations are compared to find their rate at a start, as a part of the motion's time."""
SINGULAR = 10.0
"""Growth of the accelerations towards a position that tells it to be singular."""
ROUNDING = 1e-15
"""Error of a step that is only rounding, over the state."""


@dataclass(frozen=True)
class Parameters:
    """Coefficients from the spectral radius at infinite frequency, and the leading errors of speeds and coordinates."""

    radius: float

    @property
    def am(self) -> float:
        """Weight of the old algorithmic acceleration."""
        return (2 * self.radius - 1) / (self.radius + 1)

    @property
    def af(self) -> float:
        """Weight of the old acceleration."""
        return self.radius / (self.radius + 1)

    @property
    def gamma(self) -> float:
        """Newmark's gamma, for second order."""
        return 0.5 + self.af - self.am

    @property
    def beta(self) -> float:
        """Newmark's beta, for the most damping of high frequencies."""
        return (self.gamma + 0.5) ** 2 / 4

    @property
    def offset(self) -> float:
        """The algorithmic acceleration belongs to a time this part of a step later."""
        return self.am - self.af

    @property
    def speed_error(self) -> float:
        """The local error of a speed, over h^3 u'''."""
        d = self.offset
        second = ((1 - self.af) - (1 - self.am) * (1 + 2 * d) - d**2) / 2
        return self.gamma * (1 + 2 * d) / 2 + d**2 / 2 + second - 1 / 6

    @property
    def coordinate_error(self) -> float:
        """The local error of a coordinate, over h^3 u''."""
        return self.offset / 2 + self.beta - 1 / 6


def needs_mechanism(problem: Problem) -> str:
    """The reason why a method for mechanisms cannot be used."""
    if len(problem.equations.x):
        return "it has states of networks or signals beside the mechanism"
    return "" if problem.equations.mechanics is not None else "it is a method for mechanisms"


class Rated(Stepping):
    """Second-order steps of a mechanism whose error is measured against the motion's own rate.

    The local error of a second-order method falls with h^3, that of the whole run with h^2. So the error of a step is
    compared with the part of the tolerance that belongs to the step's share of the motion's time: then the error of
    the run falls in proportion to the tolerance. That time is the largest speed so far over the largest acceleration
    so far, or the time since the start if that is shorter.
    """

    order = 2

    def with_step(self, step: float) -> Rated | None:
        return type(self)(self.problem, replace(self.options, step=step)) if self.adaptive else None

    @classmethod
    def suits(cls, problem: Problem) -> str:
        return needs_mechanism(problem)

    @property
    def mechanism(self) -> Mechanism:
        """The equations as functions."""
        return Mechanism.of(self.problem.equations)

    def at_start(
        self, t: float, x: Array, p: Array, m: Array, scale: Array
    ) -> tuple[Array, Array, Array, Array, float]:
        """u', lambda, u'', sizes of acceleration and speed with no time yet, and the rate of the states at a start."""
        along = self._kinematics(t, x, p, m)
        ud, multipliers = self._accelerations(t, x, p, m)
        if self.mechanism.sizes[2]:  # a singular position has no accelerations, but there are some close to it
            beside = NUDGE / max(float(np.abs(along).max(initial=0.0)), 1.0)
            moved = np.concatenate([x[: len(along)] + beside * along, x[len(along) :]])
            other = self._accelerations(t + beside, moved, p, m)
            if not np.linalg.norm(ud) < SINGULAR * np.linalg.norm(other[0]) + 1:
                ud, multipliers = other
        rate_of_x = np.concatenate([along, ud])
        rate = float(np.sqrt(np.mean((rate_of_x / np.maximum(np.abs(x), scale)) ** 2)))
        nudge = NUDGE / max(rate, 1e-3)
        later = x + nudge * rate_of_x
        jerk = (self._accelerations(t + nudge, later, p, m)[0] - ud) / nudge
        if not (np.isfinite(ud).all() and np.isfinite(multipliers).all()):
            raise RuntimeError(f"the accelerations are not finite at t = {t:g} s")
        speeds = slice(len(x) - len(ud), None)
        sizes = [float(np.sqrt(np.mean((each / scale[speeds]) ** 2))) for each in (ud, x[speeds])]
        return ud, multipliers, np.where(np.isfinite(jerk), jerk, 0.0), np.array([*sizes, 0.0]), rate

    def first_step(self, rate: float) -> float:
        """A careful first step for a motion of this rate."""
        return 0.3 * float(np.sqrt(self.options.rtol)) / max(rate, 1e-6)

    def _accelerations(self, t: float, x: Array, p: Array, m: Array) -> tuple[Array, Array]:
        nq = self.mechanism.sizes[0]
        ud, multipliers = self.mechanism.accelerations(t, x[:nq], x[nq:], p, m)
        return np.asarray(ud, dtype=float).ravel(), np.asarray(multipliers, dtype=float).ravel()

    def _kinematics(self, t: float, x: Array, p: Array, m: Array) -> Array:
        nq, n, _, every = self.mechanism.sizes
        value = self.mechanism.kinematics(t, x[:nq], x[nq:], np.zeros(n), np.zeros(every), p, m)
        return np.asarray(value, dtype=float).ravel()

    def measured(self, x0: Any, x1: Any, a: Any, error: Any, h: Any, motion: Any, const: Any) -> tuple[Any, Any]:
        """The error over the tolerance, and the largest acceleration and speed so far with the time since the start."""
        n, count, scale = a.numel(), x0.numel(), const["scale"]

        def size(values: Any) -> Any:
            return ca.sqrt(ca.sumsqr(values / scale[count - n :]) / n)

        fast, large, age = ca.fmax(motion[0], size(a)), ca.fmax(motion[1], size(x1[count - n :])), motion[2] + h
        share = ca.fmin(1, h * ca.fmax(fast / ca.fmax(large, 1e-100), 1 / age))
        most = ca.fmax(ca.fabs(x0), ca.fabs(x1))
        allowed = share * (const["tolerance"][1] * scale + const["tolerance"][0] * most) + ROUNDING * most
        return ca.sqrt(ca.sumsqr(error / allowed) / count), ca.vertcat(fast, large, age)


class GeneralisedAlpha(Rated):
    """Index 3: the multipliers keep the positions; the speeds handed out are projected in the mass metric.

    The method goes on with its own speeds: with projected ones its multipliers would be of first order only.
    """

    name = "generalised_alpha"
    stabilised = False

    @cached_property
    def parameters(self) -> Parameters:
        """The method's coefficients."""
        return Parameters(self.options.spectral_radius)

    @cached_property
    def layout(self) -> Layout:
        nq, n, _, every = self.mechanism.sizes
        quad = self.problem.sizes["quad"]
        return Layout(
            x=nq + n, free=n, ud=n, a=n, jerk=n, mean=n, mean_jerk=n, multipliers=every, before=1, gap=1, motion=3,
            powers=quad, quad=quad,
        )  # fmt: skip

    def begin(self, t: float, x: Array, p: Array, m: Array, scale: Array) -> tuple[Array, float]:
        nq, _, _, _ = self.mechanism.sizes
        ud, multipliers, jerk, motion, rate = self.at_start(t, x, p, m, scale)
        h = self.first_step(rate) if self.fixed is None else self.fixed
        powers = np.asarray(self.mechanism.powers(t, x[:nq], x[nq:], ud, multipliers, p, m), dtype=float).ravel()
        a = ud + self.parameters.offset * h * jerk
        return np.concatenate([x, x[nq:], ud, a, jerk, ud, jerk, multipliers, [h, 0], motion, powers, 0 * powers]), h

    def make_step(self) -> ca.Function:
        mech, k = self.mechanism, self.parameters
        nq, n, count, every = mech.sizes
        t, h = ca.SX.sym("t"), ca.SX.sym("h")
        y, c = ca.SX.sym("y", self.layout.total), ca.SX.sym("c", self.constants.total)
        old, const = self.layout.split(y), self.constants.split(c)
        p, m = const["p"], const["m"]
        q0, ud0, t1, at = old["x"][:nq], old["ud"], t + h, (t + h, p, m)
        longer = h / old["before"]  # the method's own speeds are h^2 away, and a belongs to a part of a step later
        u0 = old["x"][nq:] + (old["free"] - old["x"][nq:]) * longer**2
        a0 = ud0 + (old["a"] - ud0) * longer
        bent = self.stabilised and count > 0
        sizes = {"ud": n, "lam": every, "shift": n if bent else 0, "eta": count if bent else 0}
        ud1, lam, shift, eta = (ca.SX.sym(name, size) for name, size in sizes.items())
        z = ca.vertcat(ud1, lam, shift, eta)
        a1 = ((1 - k.af) * ud1 + k.af * ud0 - k.am * a0) / (1 - k.am)
        delta = h * u0 + h**2 * ((0.5 - k.beta) * a0 + k.beta * a1)
        if bent:
            mass, jac = mech.matrices(t, q0, u0, 0, 0, p, m)
            way, delta = delta + h**2 * shift, ca.SX.sym("delta", n)
        q1, u1 = mech.moved(q0, delta, at), u0 + h * ((1 - k.gamma) * a0 + k.gamma * a1)
        balance = mech.balance(t1, q1, u1, ud1, lam, p, m)
        position, velocity = mech.constraints(t1, q1, u1, 0, 0, p, m)
        rows = [position / h**2, velocity[count:, :] / h]
        if bent:
            rows = [velocity / h, mech.weights(mass) * shift - ca.mtimes(jac[:count, :].T, eta), position / h**2]
        residual, matrix = ca.vertcat(balance, *rows), None
        if bent:
            residual, matrix, (q1,) = through(z, residual, delta, way, [q1])

        def size(change: ca.SX) -> ca.SX:
            part = (1 - k.af) / (1 - k.am) * k.gamma * h * ca.norm_inf(change[:n])
            return left_over(part, h, u0, SETTLED)

        root = newton(z, [t, h, y, c], residual, size, n, mech.small, matrix)
        predicted = ca.vertcat(ud0 + h * old["jerk"], old["multipliers"], ca.SX.zeros(z.numel() - n - every))
        guess = ca.Function("guess", [t, h, y, c], [predicted])
        after = ca.Function("after", [z, t, h, y, c], [q1, u1, ud1, a1, ca.reshape(lam, every, 1)], mech.tidy)
        given = [ca.MX.sym("x", *each.shape) for each in (t, h, y, c)]
        found, last = ca.MX.sym("z", *z.shape), ca.MX.sym("last")
        finished = ca.Function("finished", [found, last, *given], [*self._finished(after(found, *given), last, *given)])
        finished = inlined(finished, n + every, mech.small)
        still = (h * u0 / h**2 + (0.5 - k.beta) * a0) / -k.beta  # q1 = q0, for oscillations that are not resolved
        stiff = ca.vertcat(((1 - k.am) * still + k.am * a0 - k.af * ud0) / (1 - k.af), predicted[n:, :])
        second = ca.Function("second", [t, h, y, c], [stiff])
        tries = (ca.Function("try", given, [*root(each(*given), *given)]) for each in (guess, second))
        size_of_last, value = or_else(*tries)(*given)
        return ca.Function("step", given, [*finished(value, size_of_last, *given)])

    def _finished(self, parts: Any, last: Any, t: Any, h: Any, y: Any, c: Any) -> Any:
        """The state after a step with its memory, and the error."""
        mech, k = self.mechanism, self.parameters
        q1, u1, ud1, a1, lam = parts
        old, const = self.layout.split(y), self.constants.split(c)
        at, p, m = t + h, const["p"], const["m"]
        free = u1
        if mech.sizes[3] and not self.stabilised:
            u1 = u1 + mech.velocity_correction(at, q1, u1, p, m)
        powers = mech.powers(at, q1, u1, ud1, lam, p, m)
        # From differences of the speeds: accelerations across the constraints are rough after a change of the step.
        mean, apart = (u1 - old["x"][mech.sizes[0] :]) / h, (h + old["gap"]) / 2
        mean_jerk = (mean - old["mean"]) / apart
        turned = k.coordinate_error * h**3 * mean_jerk
        sped = k.speed_error * h**3 * (mean_jerk - old["mean_jerk"]) / apart
        along = mech.kinematics(at, q1, turned, 0, 0, p, m)
        x1 = ca.vertcat(mech.unit(q1), u1)
        error = ca.vertcat(along, sped)
        relative, motion = self.measured(old["x"], x1, mean, error, h, old["motion"], const)
        new = {"x": x1, "free": free, "ud": ud1, "a": a1, "jerk": (ud1 - old["ud"]) / h, "multipliers": lam}
        new |= {"mean": mean, "mean_jerk": mean_jerk, "before": h, "gap": h, "motion": motion}
        new |= {"powers": powers, "quad": old["quad"] + h / 2 * (powers + old["powers"])}
        return self.layout.join(new), ca.if_else(last <= 1, relative, ca.inf)


class GeneralisedAlpha2(GeneralisedAlpha):
    """Index 2, stabilised: further multipliers in the coordinates keep positions and speeds within the step."""

    name = "generalised_alpha_2"
    stabilised = True
