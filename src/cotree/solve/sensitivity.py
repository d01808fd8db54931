"""Exact sensitivities: derivatives of results over time with respect to parameters and start values.

The states are integrated together with their derivatives S, S' = df/dx S + df/dp, so that both have the tolerance that
is asked for. At the start S is the derivative of the assembled position and speeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import ResultError, SolveError, listing, nearest
from cotree.formulation import SystemEquations
from cotree.formulation.branch.slopes import start_slopes
from cotree.maths.symbolic import column
from cotree.maths.viewed import Table, Viewed
from cotree.model.helpful import helpful
from cotree.model.quantity import Given, Time, seconds
from cotree.solve.integrator import Integrator, Options, choose, is_stiff
from cotree.solve.locks import without_locks
from cotree.solve.problem import Problem, Scale
from cotree.solve.simulate import output_grid
from cotree.solve.tables import check_tables
from cotree.solve.tangent import Tangent, state_numbers

Array = NDArray[np.float64]

ROUGH = 1e-4
LEAST = 1e-3
"""Least size of a derivative, as a part of the largest with respect to the same parameter."""


@dataclass(frozen=True)
class Sensitivities(Viewed):
    """``s["O.force.x", "crank.mass"]`` is the derivative over ``s.t``; ``s.values`` holds the results themselves."""

    t: Array
    outputs: tuple[str, ...]
    wrt: tuple[str, ...]
    values: Mapping[str, Array]
    derivatives: Array
    """One entry for each output, parameter and time."""
    units: Mapping[str, str]
    """Units of the outputs and of what they are differentiated by."""

    def __repr__(self) -> str:
        return f"<Sensitivities of {listing(self.outputs, 3)} to {listing(self.wrt, 3)}: {len(self.t)} times>"

    def _view(self) -> Table | str:
        pairs = [(output, parameter) for output in self.outputs for parameter in self.wrt]
        rows = ((*pair, float(self[pair][0]), float(self[pair][-1]), self.unit(*pair)) for pair in pairs)
        return Table(("result", "with respect to", "at the start", "at the end", "unit"), rows, len(pairs))

    def __getitem__(self, key: tuple[str, str]) -> Array:
        output, parameter = key
        for name, known in ((output, self.outputs), (parameter, self.wrt)):
            if name not in known:
                raise ResultError(
                    f"there is no sensitivity of '{output}' to '{parameter}'",
                    expected=f"one of {listing(known)}",
                    remedy=nearest(str(name), known),
                )
        return np.asarray(self.derivatives[self.outputs.index(output), self.wrt.index(parameter)])

    def _ipython_key_completions_(self) -> list[tuple[str, str]]:
        return [(output, parameter) for output in self.outputs for parameter in self.wrt]

    def unit(self, output: str, parameter: str) -> str:
        """The unit of a derivative: ``N/kg``, ``m/(m/s)``."""
        above, below = self.units[output] or "1", self.units[parameter]
        wrapped = f"({below})" if set(below) & set("/ ") else below
        return f"{above}/{wrapped}" if below else self.units[output]


@helpful
def sensitivities(
    equations: SystemEquations,
    outputs: Iterable[str],
    wrt: Iterable[str],
    t_end: Time,
    *,
    t_start: Time = 0.0,
    points: int | None = None,
    times: Sequence[Time] | Array | None = None,
    parameters: Mapping[str, float] | None = None,
    start: Given | None = None,
    integrator: str = "auto",
    rtol: float = 1e-8,
    max_steps: int = 100_000,
) -> Sensitivities:
    """Derivatives of results of equations; the options are those of `Model.sensitivities`."""
    t_start, e = seconds(t_start, "t_start"), equations
    Tangent.of(e)  # refuses what is not a mechanism
    without_locks(e, "a sensitivity")
    _without_events(e)
    wanted = _known(outputs, e.outputs, "result")
    grid = output_grid(t_start, t_end, points, times)
    p = e.parameter_values(parameters) if e.parameter_values else e.p.start
    names, held = _directions(e, wrt, p, t_start, dict(state_numbers(e, start) or {}))
    check_tables(e, names, dict(parameters or {}))
    x, S, by_p = _start(e, names, p, t_start, held)
    _check_breaks(e, names, p, t_start, float(grid[-1]))
    varied = _Varied(e, ca.DM(by_p))
    if integrator == "auto" and e.domains:
        integrator = "cvodes" if is_stiff(Problem.of(e)) else "adams"
    method = choose(integrator, Problem.of(e))
    both = np.concatenate([x, S.ravel(order="F")])
    rough = method(varied, Options(ROUGH, ROUGH, max_steps))
    sizes = _sizes(
        _integrated(varied, rough, both, p, t_start, grid, Scale.ones(varied)), len(x), _given(e, names, p, held)
    )
    fine = method(varied, Options(rtol, rtol / 100, max_steps))
    states = _integrated(varied, fine, both, p, t_start, grid, sizes)
    slopes = varied.slopes(wanted)
    m = np.asarray(Problem.of(e).mode_values(grid[None, :], p), dtype=float).reshape(-1, len(grid))
    n, k = len(x), len(names)
    by_time = states[n:].T.reshape(len(grid), k, n).transpose(2, 0, 1).reshape(n, len(grid) * k)
    y, dy = slopes(grid[None, :], states[:n], by_time, np.tile(p[:, None], (1, len(grid))), m)
    rows = np.asarray(y, dtype=float).reshape(len(wanted), len(grid))
    near = e.near_angles()
    values = {name: np.unwrap(row) if name in near else row for name, row in zip(wanted, rows, strict=True)}
    every = np.asarray(dy, dtype=float).reshape(len(wanted), len(grid), len(names))
    units = {name: e.outputs[name].unit for name in wanted}
    own = dict(zip((*e.p.names, *e.state_names), (*e.p.units, *e.state_units), strict=False))
    units |= {name: own.get(name, "") for name in names}
    return Sensitivities(grid, tuple(wanted), tuple(names), values, np.moveaxis(every, 1, 2), units)


@dataclass(frozen=True)
class _Varied(Problem):
    """The states with their derivatives behind them, as one problem."""

    by_p: ca.DM = field(default_factory=lambda: ca.DM(0, 0))

    @property
    def directions(self) -> int:
        return int(self.by_p.shape[1])

    @cached_property
    def sizes(self) -> dict[str, int]:
        base = Problem.of(self.equations).sizes
        return {**base, "x": self.x.numel() * (1 + self.directions), "z": 0, "quad": 0, "table": 0}

    def _motion(self, t: Any, x: Any, p: Any, m: Any, well: bool) -> tuple[Any, Any]:
        """The states on the constraints and the algebraic variables."""
        settled = self.settled_well if well else self.settled
        return settled(t, x, p, m) if settled is not None else (x, type(x)(0, 1))

    def _with_slopes(self, result: Any, x: Any, S: Any, p: Any) -> Any:
        slope = ca.jtimes(result, x, S)
        return slope + ca.jtimes(result, p, type(result)(self.by_p)) if self.by_p.nnz() else slope

    @cached_property
    def dae(self) -> ca.Function:
        """As in `Problem`, for (x, S)."""
        n, size = self.x.numel(), self.sizes
        s, both = ca.MX.sym("s"), ca.MX.sym("x", size["x"])
        ends = np.cumsum([0, size["p"], size["m"], 1, 1, size["x"]]).tolist()
        given = ca.MX.sym("p", ends[-1])
        p, m, t0, h, scale = ca.vertsplit(given, ends)
        whole = both * scale
        rates = self._rates_with_slopes(t0 + s * h, whole[:n], ca.reshape(whole[n:], n, self.directions), p, m)
        nothing = ca.MX(0, 1)
        return ca.Function(
            "dae",
            [s, both, ca.MX.sym("z", 0), given, ca.MX.sym("u", 0)],
            [h * rates / scale, nothing, nothing, nothing],
            ["t", "x", "z", "p", "u"],
            ["ode", "alg", "quad", "zero"],
        )

    @cached_property
    def _rates_with_slopes(self) -> ca.Function:
        """(t, x, S, p, m) -> (x', S') as one column."""
        e, n = self.equations, self.x.numel()
        t, x, S = ca.MX.sym("t"), ca.MX.sym("x", n), ca.MX.sym("S", n, self.directions)
        p, m = ca.MX.sym("p", len(e.p)), ca.MX.sym("m", e.mode_symbols.numel())
        on, w = self._motion(t, x, p, m, well=False)
        rates = self.rates(t, on, w, p, m)
        slope = self._with_slopes(rates, x, S, p)
        return ca.Function("rates", [t, x, S, p, m], [ca.densify(ca.vertcat(rates, ca.vec(slope)))])

    def slopes(self, names: Sequence[str]) -> ca.Function:
        """(t, x, S, p, m) -> results and their derivatives."""
        e, n = self.equations, self.x.numel()
        own = self._function("own", column([e.outputs[name].expression for name in names]))
        t, x, S = ca.MX.sym("t"), ca.MX.sym("x", n), ca.MX.sym("S", n, self.directions)
        p, m = ca.MX.sym("p", len(e.p)), ca.MX.sym("m", e.mode_symbols.numel())
        on, w = self._motion(t, x, p, m, well=True)
        y = own(t, on, w, p, m)
        return ca.Function("slopes", [t, x, S, p, m], [y, ca.densify(self._with_slopes(y, x, S, p))])


def _integrated(
    varied: _Varied, method: Integrator, both: Array, p: Array, t: float, grid: Array, scale: Scale
) -> Array:
    """States and derivatives on the grid, over the stretches between break points."""
    e, end = varied.equations, float(grid[-1])
    breaks = np.unique(np.concatenate([np.zeros(0), *(mode.times(p, t, end) for mode in e.modes)]))
    edges = [t, *(float(b) for b in breaks if t < b < end), end]
    columns = [both] if grid[0] == t else []
    for a, b in pairwise(edges):
        if a == b:
            break
        m = np.asarray(varied.mode_values((a + b) / 2, p), dtype=float).ravel()
        inside = grid[(grid > a) & (grid <= b)]
        targets = inside if len(inside) and inside[-1] == b else np.append(inside, b)
        try:
            done = method.integrate(a, targets, both, np.zeros(0), p, m, scale, np.inf)
        except RuntimeError:
            raise SolveError(
                f"{method.name} gave up between t = {a:g} and {b:g} s",
                remedy="Simulate the motion first, loosen rtol, or raise max_steps",
            ) from None
        columns += list(done.x[:, : len(inside)].T)
        both = done.x[:, -1]
    return np.column_stack(columns)


def _given(e: SystemEquations, names: Sequence[str], p: Array, held: Mapping[str, float]) -> list[float]:
    """The sizes of what is varied; 1 where it is zero."""
    values = dict(zip(e.p.names, p.tolist(), strict=True)) | dict(held)
    return [abs(values[name]) or 1.0 for name in names]


def _sizes(states: Array, n: int, given: Sequence[float]) -> Scale:
    """Largest values of the states, and of their derivatives in each direction.

    A derivative is not looked at more finely than a part of state over parameter: where it is zero, as that of the fall
    of a body by its mass, rounding is left, which no step resolves.
    """
    largest = np.abs(states).max(axis=1)
    parts = [np.maximum(largest[:n], LEAST * max(1.0, float(largest[:n].max(initial=0.0))))]
    for k, value in enumerate(given, 1):
        own = largest[k * n : (k + 1) * n]
        parts.append(np.maximum(np.maximum(own, LEAST * float(own.max(initial=0.0))), LEAST * parts[0] / value))
    return Scale(np.concatenate(parts), np.zeros(0), np.zeros(0))


def _known(chosen: Iterable[str], names: Iterable[str], what: str) -> list[str]:
    every, found = list(names), [chosen] if isinstance(chosen, str) else list(chosen)
    for name in found:
        if name not in every:
            raise SolveError(
                f"there is no {what} '{name}'", expected=f"one of {listing(every)}", remedy=nearest(str(name), every)
            )
    if not found:
        raise SolveError(f"no {what} is named", expected=f"some of {listing(every)}")
    return found


def _directions(
    e: SystemEquations, wrt: Iterable[str], p: Array, t: float, start: dict[str, float]
) -> tuple[list[str], dict[str, float]]:
    """What is varied, and all start values that are held."""
    assembly = getattr(_owner(e), "assembly", _owner(e))
    names = _known(wrt, [*e.p.names, *assembly.names, *e.x.names], "parameter or start value")
    mechanical = {name: value for name, value in start.items() if name not in e.x.names}
    state = dict(zip(assembly.names, np.concatenate(assembly.state(p, t, mechanical or None)), strict=True))
    state |= dict(zip(e.x.names, _further(e, p, t), strict=True))
    for name in names:
        if name not in e.p.names and name not in start:
            start[name] = float(state[name])
    return names, start


def _owner(e: SystemEquations) -> Any:
    """What assembles the start: the object behind `assemble`."""
    return e.assemble.__self__  # type: ignore[union-attr]


def _start(
    e: SystemEquations, names: Sequence[str], p: Array, t: float, held: Mapping[str, float]
) -> tuple[Array, Array, Array]:
    """The start, its derivatives, and dp in every direction."""
    by_p = np.zeros((len(p), len(names)))
    by_given: dict[str, Array] = {}
    for k, name in enumerate(names):
        if name in held:
            by_given[name] = np.eye(len(names))[k]
        else:
            by_p[e.p.names.index(name), k] = 1.0
    assert e.assemble is not None
    own = {name: held[name] for name in held if name in e.x.names}
    held = {name: held[name] for name in held if name not in own}
    x = np.concatenate(e.assemble(p, t, held or None))
    owner = _owner(e)
    slopes = partial(start_slopes, owner) if hasattr(owner, "assembly") else owner.slopes
    dq, du, determined = slopes(p, t, held, by_p, {name: each for name, each in by_given.items() if name not in own})
    S = np.vstack([dq, du])
    if not determined:
        _check_start(e, [name for name in names if name not in own], p, t, held, S)
    if not len(e.x):
        return x, S, by_p
    further, slope = _further(e, p, t), _further_slopes(e, p, t, by_p)
    for name, value in own.items():
        place = e.x.names.index(name)
        further[place], slope[place] = value, by_given.get(name, np.zeros(len(names)))
    return np.concatenate([x, further]), np.vstack([S, slope]), by_p


def _further(e: SystemEquations, p: Array, t: float) -> Array:
    """Start values of the states of networks and blocks."""
    return np.array(e.start(p, t), dtype=float) if len(e.x) and e.start is not None else np.zeros(0)


def _further_slopes(e: SystemEquations, p: Array, t: float, by_p: Array) -> Array:
    """Their derivatives: start values are given numbers, sums and ratios of them, for which differences do."""
    columns = []
    for direction in by_p.T:
        step = 1e-4 * max(1e-3, float(np.abs(p[direction != 0]).max(initial=0.0)))
        ends = [_further(e, p + sign * step * direction, t) for sign in (1, -1)]
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.column_stack(columns) if columns else np.zeros((len(e.x), 0))


def _without_events(e: SystemEquations) -> None:
    """Refuse machines whose held values change on the way: the times of the changes depend on the parameters."""
    if e.eventful:
        acting = [each.name for each in e.switches] + [each.name for each in e.samples]
        names = dict.fromkeys(name.partition(".")[0] for name in acting)
        raise SolveError(
            f"parts switch or are sampled: {listing(names)}",
            expected="a model without switching parts and sampled blocks",
            remedy="Take differences of runs with changed parameters, or replace those parts by smooth ones",
        )


def _check_start(
    e: SystemEquations, names: Sequence[str], p: Array, t: float, held: Mapping[str, float], S: Array
) -> None:
    """Refuse a start that depends on the path of its iteration, which has no exact derivative."""
    assert e.assemble is not None
    for k, name in enumerate(names):
        if name in held:
            continue
        place = e.p.names.index(name)
        step = 1e-5 * max(abs(p[place]), 1e-3)
        ends = []
        for sign in (1, -1):
            near = p.copy()
            near[place] += sign * step
            ends.append(np.concatenate(e.assemble(near, t, held or None)))
        slope = (ends[0] - ends[1]) / (2 * step)
        off = np.abs(slope - S[:, k])
        if off.max(initial=0.0) > 1e-4 * max(1.0, float(np.abs(slope).max())):
            worst = e.state_names[int(np.argmax(off))]
            raise SolveError(
                f"the start of {worst} does not follow from the values that are given, and has no derivative by {name}",
                remedy="Give start values for the joints of this loop"
                if e.nodal is None
                else "Give positions and velocities of the nodes that fit together",
            )


def _check_breaks(e: SystemEquations, names: Sequence[str], p: Array, t: float, end: float) -> None:
    """Refuse parameters that shift a switch in time."""
    for mode in e.modes:
        before = mode.times(p, t, end)
        for name in names:
            if name not in e.p.names:
                continue
            near = p.copy()
            near[e.p.names.index(name)] += 1e-6 * max(1.0, abs(near[e.p.names.index(name)]))
            after = mode.times(near, t, end)
            if len(after) != len(before) or np.any(after != before):
                raise SolveError(
                    f"{name} shifts the time of {mode.text}",
                    expected="parameters that leave all switching times as they are",
                    remedy="Use a smooth function of time there, such as tanh",
                )
