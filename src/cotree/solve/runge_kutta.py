"""Explicit Runge-Kutta methods: for smooth motion that is not stiff, and for teaching.

Closed mechanisms get their accelerations from the balance and the constraints' second derivatives, and after every step
the nearest position and velocity on the constraints in the mass metric; Euler parameters get unit length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.solve.mechanism import Mechanism
from cotree.solve.problem import Problem
from cotree.solve.stepping import Layout, Stepping

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Tableau:
    """Stages by the nonzero weights of the ones before, weights of the step and of its error estimates.

    With ``last`` the slope at the end of the step is one more stage of the estimate, and the first of the next step.
    """

    nodes: tuple[float, ...]
    stages: tuple[dict[int, float], ...]
    weights: dict[int, float]
    error: dict[int, float]
    coarse: dict[int, float]
    last: bool = False


CLASSIC = Tableau(
    (0, 1 / 2, 1 / 2, 1),
    ({}, {0: 1 / 2}, {1: 1 / 2}, {2: 1.0}),
    {0: 1 / 6, 1: 1 / 3, 2: 1 / 3, 3: 1 / 6},
    {3: 1 / 6, 4: -1 / 6},
    {},
    last=True,
)
"""Kutta 1901; the slope at the end in place of the fourth one gives a result of order 3 to compare with."""

DORMAND_PRINCE = Tableau(
    (0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1),
    (
        {},
        {0: 1 / 5},
        {0: 3 / 40, 1: 9 / 40},
        {0: 44 / 45, 1: -56 / 15, 2: 32 / 9},
        {0: 19372 / 6561, 1: -25360 / 2187, 2: 64448 / 6561, 3: -212 / 729},
        {0: 9017 / 3168, 1: -355 / 33, 2: 46732 / 5247, 3: 49 / 176, 4: -5103 / 18656},
    ),
    {0: 35 / 384, 2: 500 / 1113, 3: 125 / 192, 4: -2187 / 6784, 5: 11 / 84},
    {0: -71 / 57600, 2: 71 / 16695, 3: -71 / 1920, 4: 17253 / 339200, 5: -22 / 525, 6: 1 / 40},
    {},
    last=True,
)
"""Dormand and Prince 1980, RK5(4)7M."""

DOP853 = Tableau(
    (0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 1 / 3, 1 / 4, 4 / 13,
     127 / 195, 3 / 5, 6 / 7, 1),
    (
        {},
        {0: 0.05260015195876773},
        {0: 0.0197250569845379, 1: 0.0591751709536137},
        {0: 0.02958758547680685, 2: 0.08876275643042054},
        {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
        {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
        {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
        {0: 0.03709200011850479, 3: 0.17038392571223998, 4: 0.10726203044637328, 5: -0.015319437748624402,
         6: 0.008273789163814023},
        {0: 0.6241109587160757, 3: -3.3608926294469414, 4: -0.868219346841726, 5: 27.59209969944671,
         6: 20.154067550477894, 7: -43.48988418106996},
        {0: 0.47766253643826434, 3: -2.4881146199716677, 4: -0.590290826836843, 5: 21.230051448181193,
         6: 15.279233632882423, 7: -33.28821096898486, 8: -0.020331201708508627},
        {0: -0.9371424300859873, 3: 5.186372428844064, 4: 1.0914373489967295, 5: -8.149787010746927,
         6: -18.52006565999696, 7: 22.739487099350505, 8: 2.4936055526796523, 9: -3.0467644718982196},
        {0: 2.273310147516538, 3: -10.53449546673725, 4: -2.0008720582248625, 5: -17.9589318631188,
         6: 27.94888452941996, 7: -2.8589982771350235, 8: -8.87285693353063, 9: 12.360567175794303,
         10: 0.6433927460157636},
    ),
    {0: 0.054293734116568765, 5: 4.450312892752409, 6: 1.8915178993145003, 7: -5.801203960010585,
     8: 0.3111643669578199, 9: -0.1521609496625161, 10: 0.20136540080403034, 11: 0.04471061572777259},
    {0: 0.01312004499419488, 5: -1.2251564463762044, 6: -0.4957589496572502, 7: 1.6643771824549864,
     8: -0.35032884874997366, 9: 0.3341791187130175, 10: 0.08192320648511571, 11: -0.022355307863886294},
    {0: -0.18980075407240762, 5: 4.450312892752409, 6: 1.8915178993145003, 7: -5.801203960010585,
     8: -0.4226823213237919, 9: -0.1521609496625161, 10: 0.20136540080403034, 11: 0.02265179219836082},
)  # fmt: skip
"""Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 2nd edition 1993, DOP853."""


class RungeKutta(Stepping):
    """What the explicit methods share: slopes, stages, the projection after a step, the error's norm."""

    tableau: ClassVar[Tableau]

    @classmethod
    def suits(cls, problem: Problem) -> str:
        if not problem.x.numel():
            return "it has no states"
        return "" if problem.eliminated else "it has nonlinear algebraic equations, which need idas"

    @property
    def mechanism(self) -> Mechanism | None:
        """The mechanism, if it is one."""
        equations = self.problem.equations
        return Mechanism.of(equations) if equations.mechanics is not None else None

    @property
    def free(self) -> bool:
        """Whether nothing is projected after a step."""
        mech = self.mechanism
        return mech is None or not (mech.sizes[3] or mech.mechanics.quaternions)

    @cached_property
    def layout(self) -> Layout:
        size = self.problem.sizes
        both = size["x"] + size["quad"]
        return Layout(x=size["x"], quad=size["quad"], slope=both if self.tableau.last else 0)

    def begin(self, t: float, x: Array, p: Array, m: Array, scale: Array) -> tuple[Array, float]:
        slope = np.asarray(self.slope(t, x, self.given(p, m, scale)), dtype=float).ravel()
        if not np.isfinite(slope).all():
            raise RuntimeError(f"the rates are not finite at t = {t:g} s")
        y = np.concatenate([x, np.zeros(len(slope) - len(x)), slope if self.tableau.last else []])
        allowed = self.options.atol * scale + self.options.rtol * np.abs(x)
        speed = float(np.sqrt(np.mean((slope[: len(x)] / np.maximum(np.abs(x), scale)) ** 2)))
        steep = float(np.sqrt(np.mean((slope[: len(x)] / allowed) ** 2)))
        return y, max(1.0 / max(steep, 1e-12), 0.05 * self.options.rtol ** (1 / self.order) / max(speed, 1e-12))

    @property
    def slope(self) -> ca.Function:
        """(t, x, c) -> x' and the rates of the integrals."""
        return self.kept("slope", self._make_slope)

    def _make_slope(self) -> ca.Function:
        t, c = ca.MX.sym("t"), ca.MX.sym("c", self.constants.total)
        x = ca.MX.sym("x", self.problem.sizes["x"])
        const = self.constants.split(c)
        mech = self.mechanism
        if mech is None:
            ones = ca.MX.ones(self.problem.sizes["x"] + self.problem.sizes["quad"])
            given = ca.vertcat(const["p"], const["m"], const["table"], t, 1, ones)
            ode, _, quad, _ = self.problem.dae(0, x, ca.MX(0, 1), given, ca.MX(0, 1))
            return ca.Function("slope", [t, x, c], [ca.vertcat(ode, quad)])
        nq, n = mech.sizes[:2]
        q, u, further = ca.vertsplit(x, [0, nq, nq + n, x.numel()])
        p, m = const["p"], ca.vertcat(const["m"], further)
        ud, multipliers = mech.soft_accelerations(t, q, u, p, m)
        known = (t, q, u, ud, multipliers, p, m)
        rates = ca.vertcat(mech.kinematics(*known), ud, mech.further(*known))
        return ca.Function("slope", [t, x, c], [ca.vertcat(rates, mech.powers(*known))])

    def make_step(self) -> ca.Function:
        table, size = self.tableau, self.problem.sizes
        nx, both = size["x"], size["x"] + size["quad"]
        t, h = ca.MX.sym("t"), ca.MX.sym("h")
        y, c = ca.MX.sym("y", self.layout.total), ca.MX.sym("c", self.constants.total)
        slopes: list[Any] = [y[both:] if table.last else self.slope(t, y[:nx], c)]
        for node, stage in zip(table.nodes[1:], table.stages[1:], strict=True):
            slopes.append(self.slope(t + node * h, self._combined(y[:nx], h, stage, slopes, nx), c))
        new = self._combined(y[:both], h, table.weights, slopes, both)
        if table.last:
            slopes.append(self.slope(t + h, new[:nx], c))
        error = self._error(y[:nx], new[:nx], c, h, slopes, nx)
        if not self.free:
            new, settled = self._projected(t + h, new, c)
            error = ca.if_else(settled, error, ca.inf)
            if table.last:
                slopes[-1] = self.slope(t + h, new[:nx], c)
        after = ca.vertcat(new, slopes[-1]) if table.last else new
        error = ca.if_else(ca.fabs(ca.sum1(new)) < 1e300, error, ca.inf)
        return ca.Function("step", [t, h, y, c], [after, error])

    @staticmethod
    def _combined(start: Any, h: Any, weights: dict[int, float], slopes: list[Any], rows: int) -> Any:
        """start + h sum of weighted slopes."""
        kind = ca.SX.sym("h")
        begin, used = ca.SX.sym("begin", rows), [ca.SX.sym("slope", slopes[0].numel()) for _ in weights]
        total = begin + kind * sum((w * s[:rows] for w, s in zip(weights.values(), used, strict=True)), ca.SX(0))
        return ca.Function("combined", [begin, kind, *used], [total])(start, h, *(slopes[k] for k in weights))

    def _error(self, x0: Any, x1: Any, c: Any, h: Any, slopes: list[Any], nx: int) -> Any:
        """The error of the step over the tolerance; that of DOP853 from its two estimates."""
        const = self.constants.split(c)
        relative, absolute = const["tolerance"][0], const["tolerance"][1]
        allowed = absolute * const["scale"] + relative * ca.fmax(ca.fabs(x0), ca.fabs(x1))
        zero = ca.MX.zeros(nx)

        def square(weights: dict[int, float]) -> Any:
            return ca.sumsqr(self._combined(zero, h, weights, slopes, nx) / allowed) / nx

        fine = square(self.tableau.error)
        if not self.tableau.coarse:
            return ca.sqrt(fine)
        return fine / ca.sqrt(fine + 0.01 * square(self.tableau.coarse) + 1e-300)

    def _projected(self, t: Any, new: Any, c: Any) -> tuple[Any, Any]:
        mech = self.mechanism
        assert mech is not None
        nq, n, _, _ = mech.sizes
        const = self.constants.split(c)
        m = ca.vertcat(const["m"], new[nq + n : self.problem.sizes["x"]])
        q, u, size = mech.projected(t, new[:nq], new[nq : nq + n], const["p"], m)
        return ca.vertcat(q, u, new[nq + n :]), size <= 1


class RungeKutta45(RungeKutta):
    """Order 5 with an error estimate of order 4 (Dormand and Prince 1980), adaptive steps."""

    name = "rk45"
    order = 5
    tableau = DORMAND_PRINCE


class RungeKutta8(RungeKutta):
    """Order 8 with error estimates of orders 5 and 3 (Hairer, Norsett and Wanner 1993, DOP853), adaptive steps."""

    name = "rk8"
    order = 8
    tableau = DOP853


class RungeKutta4(RungeKutta):
    """The classic method of order 4; with ``step`` as in the textbooks, otherwise with an error estimate of order 3."""

    name = "rk4"
    order = 4
    tableau = CLASSIC
