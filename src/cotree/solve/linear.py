"""Linearisation about a state: x' = A x + B s, y = C x + D s, with poles and frequency response.

In a mechanism with loops or rotations only some of the coordinates and speeds are independent. Those are chosen among
all of them, and the others follow from the constraints, so that A holds motions that can be and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError, listing, nearest
from cotree.formulation import SystemEquations
from cotree.maths.symbolic import column
from cotree.results.html import html_table
from cotree.solve.consistent import algebraic_variables, operating_point
from cotree.solve.locks import check_open
from cotree.solve.problem import Problem
from cotree.solve.statics import static_equilibrium
from cotree.solve.tables import check_tables
from cotree.solve.tangent import Freedom, Tangent, independent, state_of

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
    deviations: Array | None = None
    """Deviations of all coordinates and speeds, in the order of ``point``, for unit deviations of the states; None
    where the states are all there is."""

    def motion(self, names: Sequence[str]) -> Array:
        """Deviations of some coordinates and speeds for unit deviations of the states."""
        all_names = list(self.point)
        every = np.eye(len(all_names)) if self.deviations is None else self.deviations
        return np.asarray(every[[all_names.index(name) for name in names]])

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

    def _repr_html_(self) -> str:
        poles = self.poles()
        rows = ((k + 1, float(pole.real), float(pole.imag)) for k, pole in enumerate(poles))
        words = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs; poles in 1/s"
        return html_table(words, ("pole", "real part", "imaginary part"), rows, len(poles))

    def to_scipy(self) -> Any:
        """A `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)


def linearise(
    equations: SystemEquations,
    *,
    outputs: Iterable[str] | None = None,
    inputs: Iterable[str] | None = None,
    at: Mapping[str, float] | Sequence[float] | str | None = None,
    t: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    independent: Iterable[str] | None = None,
) -> LinearSystem:
    """Exact derivatives of the equations about a state.

    ``at`` gives states by name on top of the start values, or ``"steady"`` for the operating point: the static
    equilibrium of a mechanism. Where a storage is tied to a source, the rate of that input enters; the state is then
    shifted (x - E s) so that the usual form holds. The inputs of a mechanism are parameters by name, none by default;
    ``independent`` names the coordinates that are its states.
    """
    if equations.mechanics is not None:
        return _mechanism(equations, outputs, inputs, at, t, parameters, independent)
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


def _mechanism(
    e: SystemEquations,
    outputs: Iterable[str] | None,
    inputs: Iterable[str] | None,
    at: Mapping[str, float] | Sequence[float] | str | None,
    t: float,
    parameters: Mapping[str, float] | None,
    chosen: Iterable[str] | None,
) -> LinearSystem:
    problem = Problem.of(e)
    x, p, m = mechanism_point(e, at, t, parameters)
    places, Z = _admissible(e, t, x, p, m, chosen)
    w = problem.w_of(t, x, np.zeros(0), p, m).ravel()
    wanted = _choose(outputs, e.outputs, "output")
    driven = _choose(() if inputs is None else inputs, e.p.names, "parameter")
    check_tables(e, driven, dict(parameters or {}))
    given = column([e.p.symbols[e.p.names.index(name)] for name in driven])
    f, g = ca.vertcat(e.kinematics, e.rates), e.algebraic
    y = e.explicit(column([e.outputs[name].expression for name in wanted]))
    assert e.mechanics is not None
    held = ca.vertcat(e.mechanics.position, e.mechanics.velocity)
    for name, symbol in zip(driven, ca.vertsplit(given) if driven else (), strict=True):
        if ca.depends_on(held, symbol):
            raise SolveError(
                f"{name} moves the constraints, so it cannot be an input",
                expected="a parameter of forces or masses",
            )
    blocks = [ca.jacobian(e.in_time(part), v) for part in (f, g, y) for v in (problem.x, e.w.symbols, given)]
    function = ca.Function("blocks", problem.arguments, [ca.densify(block) for block in blocks], {"cse": True})
    fx, fw, fp, gx, gw, gp, yx, yw, yp = (np.asarray(v, dtype=float).reshape(v.shape) for v in function(t, x, w, p, m))
    if len(e.w):
        wx, wp = (-np.linalg.solve(gw, part) for part in (gx, gp))
        fx, fp, yx, yp = fx + fw @ wx, fp + fw @ wp, yx + yw @ wx, yp + yw @ wp
    names = e.q.names + e.u.names
    states = tuple(names[k] for k in places)
    point = dict(zip(names, x.tolist(), strict=True))
    return LinearSystem(fx[places] @ Z, fp[places], yx @ Z, yp, states, tuple(driven), tuple(wanted), point, Z)


def mechanism_point(
    e: SystemEquations, at: Mapping[str, float] | Sequence[float] | str | None, t: float, parameters: Any
) -> tuple[Array, Array, Array]:
    """State, p and modes of a mechanism about which it is linearised."""
    p = e.parameter_values(parameters) if e.parameter_values else e.p.start
    m = np.asarray(Problem.of(e).mode_values(t, p), dtype=float).ravel()
    if isinstance(at, str) and at != "start":
        if at not in ("steady", "equilibrium"):
            raise SolveError(f"at = '{at}'", expected="'start', 'steady', or states by name")
        rest = static_equilibrium(e, t=t, parameters=parameters)
        q, u = (np.array([rest.state[name] for name in part.names]) for part in (e.q, e.u))
    else:
        q, u = state_of(e, None if isinstance(at, str) else at, t, p)
    check_open(e, q, t, p, "the state about which motions are small")
    return np.concatenate([q, u]), p, m


def _admissible(
    e: SystemEquations, t: float, x: Array, p: Array, m: Array, chosen: Iterable[str] | None
) -> tuple[list[int], Array]:
    """Places of independent states, and all states' deviations for unit deviations of those."""
    tangent, count = Tangent.of(e), len(e.q)
    here = tangent.at(t, x[:count], x[count:], np.zeros(len(e.u)), np.zeros(len(e.multipliers)), p, m)
    holonomic, all_rows = Freedom.of(here.G[: len(here.position)]), Freedom.of(here.G)
    if all_rows.rank < len(here.G):
        raise SolveError(
            "the position is singular: some constraints are dependent there, so that motions branch",
            remedy="Linearise about another state",
        )
    coordinates = here.N @ holonomic.B
    speeds = -all_rows.inverse @ here.turn @ holonomic.B
    own = independent(coordinates) if chosen is None else _given(e, coordinates, chosen)
    names = [e.q.names[k] for k in own]
    # The speeds of the chosen coordinates are chosen with them, where they are independent.
    likely = [k for k, name in enumerate(e.u.names) if name.removesuffix("_rate") in names]
    rates = likely if _regular(all_rows.B[likely]) else independent(all_rows.B)
    invert = np.linalg.inv(coordinates[own]) if own else np.zeros((0, 0))
    turned = np.linalg.inv(all_rows.B[rates]) if rates else np.zeros((0, 0))
    lower = speeds @ invert
    Z = np.block(
        [
            [coordinates @ invert, np.zeros((count, len(rates)))],
            [lower - all_rows.B @ turned @ lower[rates], all_rows.B @ turned],
        ]
    )
    return own + [count + k for k in rates], Z


def _regular(rows: Array) -> bool:
    """Whether as many rows as columns are well independent."""
    return rows.shape[0] == rows.shape[1] and (not rows.size or np.linalg.cond(rows) < 1e6)


def _given(e: SystemEquations, coordinates: Array, chosen: Iterable[str]) -> list[int]:
    names = _choose(chosen, e.q.names, "coordinate")
    own = sorted(e.q.names.index(name) for name in names)
    if not _regular(coordinates[own]):
        proposed = [e.q.names[k] for k in independent(coordinates)]
        raise SolveError(
            f"{listing(names)} do not say all about the position here",
            expected=f"{coordinates.shape[1]} independent coordinates, such as {listing(proposed)}",
        )
    return own


def _signal_rates(problem: Problem, t: float, p: Array, m: Array) -> Array:
    e = problem.equations
    rate = ca.Function("rate", [e.t, e.p.symbols, e.mode_symbols], [ca.densify(ca.jacobian(e.signals, e.t))])
    return np.asarray(rate(t, p, m), dtype=float).ravel()


def _point(problem: Problem, at: Any, t: float, p: Array, m: Array) -> Array:
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
