"""Linearisation about a state: x' = A x + B s, y = C x + D s, with poles and frequency response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError, listing, nearest
from cotree.formulation import SystemEquations
from cotree.maths.symbolic import column
from cotree.solve.consistent import algebraic_variables, operating_point
from cotree.solve.problem import Problem

Array = NDArray[np.float64]

NUDGES = 6


@dataclass(frozen=True)
class LinearSystem:
    """Small deviations about ``point``: x' = A x + B s, y = C x + D s, with named states, inputs and outputs."""

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    point: Mapping[str, float]

    def poles(self) -> NDArray[np.complex128]:
        """The eigenvalues of A, slowest first."""
        values = np.linalg.eigvals(self.A).astype(np.complex128)
        return values[np.lexsort((values.imag, np.abs(values)))]

    def frequency_response(self, omega: Iterable[float]) -> NDArray[np.complex128]:
        """The transfer matrix D + C (j omega - A)^-1 B, of shape (frequencies, outputs, inputs); omega in rad/s."""
        frequencies = np.asarray(list(omega), dtype=float)
        shifted = 1j * frequencies[:, None, None] * np.eye(len(self.A)) - self.A
        return np.asarray(
            self.D + self.C @ np.linalg.solve(shifted, np.broadcast_to(self.B, (len(frequencies), *self.B.shape)))
        )

    def to_scipy(self) -> Any:
        """A `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)


def linearise(
    equations: SystemEquations,
    *,
    outputs: Iterable[str] | None = None,
    inputs: Iterable[str] | None = None,
    at: Mapping[str, float] | str | None = None,
    t: float = 0.0,
    parameters: Mapping[str, float] | None = None,
) -> LinearSystem:
    """Exact derivatives of the equations about a state.

    ``at`` gives states by name on top of the start values, or ``"steady"`` for the operating point. Where a storage is
    tied to a source, the rate of that input enters; the state is then shifted (x - E s) so that the usual form holds.
    """
    problem = Problem.of(equations)
    e = equations
    p = e.parameter_values(parameters) if e.parameter_values else e.p.start
    m = np.asarray(problem.mode_values(t, p), dtype=float).ravel()
    x = _point(problem, at, t, p, m)
    w = problem.w_of(t, x, algebraic_variables(problem, t, x, e.w.start, p, m), p, m)
    wanted = _choose(outputs, e.outputs, "output")
    driven = _choose(inputs, e.inputs.names, "input")
    f, g = ca.vertcat(e.kinematics, e.rates), e.algebraic
    y = column([e.outputs[name].expression for name in wanted])
    variables = [problem.x, e.w.symbols, e.inputs.symbols, e.input_rates]
    blocks = [ca.jacobian(part, v) for part in (f, g, y) for v in variables]
    known = [e.t, problem.x, e.w.symbols, e.inputs.symbols, e.input_rates, e.p.symbols, e.mode_symbols]
    signal = np.asarray(problem.signals(t, x, w, p, m), dtype=float).ravel()
    signal_rate = _signal_rates(problem, t, p, m)
    function = ca.Function("blocks", known, blocks)

    def reduced(values: Array) -> tuple[Array, ...]:
        """Factors of rates and outputs in states, inputs and input rates at parameter values, w eliminated."""
        parts = function(t, x, w, signal, signal_rate, values, m)
        fx, fw, fs, fr, gx, gw, gs, gr, yx, yw, ys, yr = (np.asarray(v, dtype=float).reshape(v.shape) for v in parts)
        if len(e.w):
            wx, ws, wr = (-np.linalg.solve(gw, part) for part in (gx, gs, gr))
            fx, fs, fr = fx + fw @ wx, fs + fw @ ws, fr + fw @ wr
            yx, ys, yr = yx + yw @ wx, ys + yw @ ws, yr + yw @ wr
        return fx, fs, fr, yx, ys, yr

    A, fs, fr, C, ys, yr = reduced(p)
    columns = [e.inputs.names.index(name) for name in driven]
    E = fr[:, columns]
    B, D, rate = fs[:, columns] + A @ E, ys[:, columns] + C @ E, yr[:, columns]
    # A rate that cancels leaves rounding behind; that, unlike a rate, jumps about when the parameters are nudged.
    nudges = 1 + 1e-4 * np.random.default_rng(0).random((NUDGES if rate.any() else 0, len(p)))
    nudged = [reduced(p * nudge)[-1][:, columns] for nudge in nudges]
    real = (rate != 0) & np.all([np.abs(other - rate) < 0.01 * np.abs(rate) for other in nudged], axis=0)
    if real.any():
        row, col = np.argwhere(real)[0]
        raise SolveError(
            f"{wanted[row]} contains the rate of {driven[col]}, which has no place in C x + D s",
            remedy=f"Leave {wanted[row]} out of the outputs, or add a small resistance beside the storage tied to it",
        )
    names = e.q.names + e.u.names
    return LinearSystem(A, B, C, D, names, tuple(driven), tuple(wanted), dict(zip(names, x.tolist(), strict=True)))


def _signal_rates(problem: Problem, t: float, p: Array, m: Array) -> Array:
    e = problem.equations
    rate = ca.Function("rate", [e.t, e.p.symbols, e.mode_symbols], [ca.densify(ca.jacobian(e.signals, e.t))])
    return np.asarray(rate(t, p, m), dtype=float).ravel()


def _point(problem: Problem, at: Mapping[str, float] | str | None, t: float, p: Array, m: Array) -> Array:
    e = problem.equations
    if at == "steady":
        return operating_point(problem, t, p, m)[0]
    if isinstance(at, str):
        raise SolveError(f"at = '{at}'", expected="'steady', or states by name")
    x = np.concatenate([e.q.start, e.start(p, t) if e.start else e.u.start])
    names = e.q.names + e.u.names
    for name, value in (at or {}).items():
        x[names.index(_choose([name], names, "state")[0])] = value
    return x


def _choose(chosen: Iterable[str] | None, names: Iterable[str], what: str) -> list[str]:
    every = list(names)
    if chosen is None:
        return every
    chosen = [chosen] if isinstance(chosen, str) else list(chosen)
    for name in chosen:
        if name not in every:
            raise SolveError(
                f"there is no {what} '{name}'", expected=f"one of {listing(every)}", remedy=nearest(name, every)
            )
    return chosen
