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
from cotree.maths.viewed import Table, Viewed
from cotree.model.helpful import helpful
from cotree.model.quantity import Given, Time, seconds
from cotree.solve.consistent import algebraic_variables, operating_point
from cotree.solve.held import held_diagnostics, held_modes
from cotree.solve.judged import judged_at
from cotree.solve.locks import check_open
from cotree.solve.problem import Problem
from cotree.solve.spins import check_inertia, without_massless
from cotree.solve.statics import static_equilibrium
from cotree.solve.steady import network_rest
from cotree.solve.tables import check_tables
from cotree.solve.tangent import Freedom, Tangent, independent, numbers, state_numbers, whole_state
from cotree.system import Diagnostic, notes_of

Array = NDArray[np.float64]

NUDGES = 6
DRIVEN = (
    "voltage",
    "current",
    "torque",
    "angular_velocity",
    "force",
    "velocity",
    "pressure",
    "flow",
    "temperature",
    "heat_flow",
    "mass_flow",
)
"""What sources give; parameters of such names are inputs of a machine."""


@dataclass(frozen=True)
class LinearSystem(Viewed):
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
    diagnostics: tuple[Diagnostic, ...] = ()
    """What was held constant: outputs of sampled blocks, and switching parts."""

    def __repr__(self) -> str:
        counts = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return f"<LinearSystem: {counts}; A, B, C, D, poles>"

    def _view(self) -> Table | str:
        poles = self.poles()
        rows = ((k + 1, float(pole.real), float(pole.imag)) for k, pole in enumerate(poles))
        return Table(("pole", "real part in 1/s", "imaginary part in 1/s"), rows, len(poles))

    @property
    def notes(self) -> tuple[str, ...]:
        """The texts of the diagnostics."""
        return notes_of(self.diagnostics)

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

    def to_scipy(self) -> Any:
        """A `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)


@helpful
def linearise(
    equations: SystemEquations,
    *,
    outputs: Iterable[str] | None = None,
    inputs: Iterable[str] | None = None,
    at: Given | Sequence[float] | str | None = None,
    t: Time = 0.0,
    parameters: Mapping[str, float] | None = None,
    independent: Iterable[str] | None = None,
) -> LinearSystem:
    """Exact derivatives of equations about a state; the options are those of `Model.linearise`."""
    t, about = seconds(t, "t"), state_numbers(equations, at)
    if equations.mechanics is not None:
        return _mechanism(equations, outputs, inputs, about, t, parameters, independent)
    problem = Problem.of(equations)
    e = equations
    p = e.parameter_values(parameters) if e.parameter_values else e.p.start
    x, m = _point(problem, about, t, p)
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
    names = e.state_names
    point = dict(zip(names, x.tolist(), strict=True))
    return LinearSystem(A, B, C, D, names, tuple(driven), tuple(wanted), point, diagnostics=_said(e, m))


def _mechanism(
    e: SystemEquations,
    outputs: Iterable[str] | None,
    inputs: Iterable[str] | None,
    at: Mapping[str, float] | Sequence[float] | str | None,
    t: float,
    parameters: Mapping[str, float] | None,
    chosen: Iterable[str] | None,
) -> LinearSystem:
    e = without_massless(e, t, *numbers(e, parameters, t))
    problem = Problem.of(e)
    x, p, m = mechanism_point(e, at, t, parameters)
    check_inertia(e, t, x, p, m)
    places, Z = admissible(e, t, x, p, m, chosen)
    w = problem.w_of(t, x, np.zeros(0), p, m).ravel()
    wanted = _choose(outputs, e.outputs, "output")
    driven = _driven(e, inputs)
    check_tables(e, driven, dict(parameters or {}))
    given = column([e.p.symbols[e.p.names.index(name)] for name in driven])
    f, g = e.explicit(ca.vertcat(e.kinematics, e.rates, e.x_rates)), e.algebraic
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
    function = ca.Function("blocks", problem.arguments, [ca.densify(block) for block in blocks])
    fx, fw, fp, gx, gw, gp, yx, yw, yp = (np.asarray(v, dtype=float).reshape(v.shape) for v in function(t, x, w, p, m))
    if len(e.w):
        wx, wp = (-np.linalg.solve(gw, part) for part in (gx, gp))
        fx, fp, yx, yp = fx + fw @ wx, fp + fw @ wp, yx + yw @ wx, yp + yw @ wp
    names = e.state_names
    states = tuple(names[k] for k in places)
    point = dict(zip(names, x.tolist(), strict=True))
    matrices = fx[places] @ Z, fp[places], yx @ Z, yp
    return LinearSystem(
        *matrices, states, tuple(driven), tuple(wanted), point, Z, _said(e, m) + judged_at(e, t, x, p, m)
    )


def _said(e: SystemEquations, m: Array) -> tuple[Diagnostic, ...]:
    """What is to be known of the model, as a run says it, and what a linear model leaves as it is."""
    return (*(each for each in e.diagnostics if each.severity != "info"), *held_diagnostics(e, m))


def _driven(e: SystemEquations, inputs: Iterable[str] | None) -> list[str]:
    """Parameters that are inputs; of a machine by default the values of its constant sources."""
    if inputs is None:
        sources = {*e.outputs} - {*e.state_names, *e.start_names} if e.domains else set()
        return [name for name in e.p.names if name in sources and name.rpartition(".")[2] in DRIVEN]
    chosen = [inputs] if isinstance(inputs, str) else list(inputs)
    for name in chosen:
        if name not in e.p.names and name in e.outputs:
            raise SolveError(
                f"'{name}' is a result or follows an expression, so it is no input",
                expected="a parameter: the constant value of a source, a block or a force",
                remedy="Add a parameter to the expression, such as 'reference - 3*O.angle', and name that",
            )
    return _choose(chosen, e.p.names, "parameter")


def mechanism_point(
    e: SystemEquations, at: Mapping[str, float] | Sequence[float] | str | None, t: float, parameters: Any
) -> tuple[Array, Array, Array]:
    """State (q, u, x), p and modes of a mechanism about which it is linearised."""
    p = e.parameter_values(parameters) if e.parameter_values else e.p.start
    given: dict[str, float] = {}
    if isinstance(at, str) and at != "start":
        if at not in ("steady", "equilibrium"):
            raise SolveError(f"at = '{at}'", expected="'start', 'steady', or states by name")
        rest = static_equilibrium(e, t=t, parameters=parameters)
        x = np.array([rest.state[name] for name in e.state_names])
        given = {name: rest.values[name] for name in e.held.names}
    else:
        x, given = whole_state(e, None if isinstance(at, str) else at, t, p)
    check_open(e, x[: len(e.q)], t, p, "the state about which motions are small")
    return x, p, held_modes(e, t, x, p, given)


def admissible(
    e: SystemEquations, t: float, x: Array, p: Array, m: Array, chosen: Iterable[str] | None
) -> tuple[list[int], Array]:
    """Places of independent states, and all states' deviations for unit deviations of those."""
    tangent, count, n = Tangent.of(e), len(e.q), len(e.q) + len(e.u)
    q, u, further = x[:count], x[count:n], x[n:]
    here = tangent.at(t, q, u, np.zeros(len(e.u)), np.zeros(len(e.multipliers)), p, np.concatenate([m, further]))
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
    moving, more = len(own) + len(rates), len(further)
    Z = np.block(
        [
            [coordinates @ invert, np.zeros((count, len(rates) + more))],
            [lower - all_rows.B @ turned @ lower[rates], all_rows.B @ turned, np.zeros((n - count, more))],
            [np.zeros((more, moving)), np.eye(more)],
        ]
    )
    return own + [count + k for k in rates] + [n + k for k in range(more)], Z


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


def _point(problem: Problem, at: Any, t: float, p: Array) -> tuple[Array, Array]:
    """States and modes about which a network is linearised."""
    e = problem.equations
    if at == "steady":
        if len(e.held):
            flow, x = network_rest(e, t, p)
            return x, flow.m
        m = np.asarray(problem.mode_values(t, p), dtype=float).ravel()
        return operating_point(problem, t, p, m)[0], m
    if isinstance(at, str):
        raise SolveError(f"at = '{at}'", expected="'steady', or states by name")
    x = np.concatenate([e.q.start, e.start(p, t) if e.start else e.u.start])
    names, given = e.state_names, dict(at or {})
    held = {name: float(given.pop(name)) for name in list(given) if name in e.held.names}
    for name, value in given.items():
        x[names.index(_choose([name], names, "state")[0])] = value
    return x, held_modes(e, t, x, p, held)


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
