"""One step of the methods that stop at events, with a polynomial between its ends.

Every step is a native function

    (t, h, x, z, quad, slope, p, m, size, tolerance) -> (x1, z1, quad1, slope1, error, dense)

where ``size`` holds the sizes of (x, z, quad), the error is over the tolerance, and (x, z) at t + s h is their value
at t plus the sum of s^k times the columns of ``dense``, k = 1, 2, ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from cotree.maths.lookup import common_parts
from cotree.solve.hybrid_parts import Parts
from cotree.solve.runge_kutta import DORMAND_PRINCE, RungeKutta

POWERS = 4
"""Columns of a step's polynomial."""
BETWEEN = (
    (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
    (0.0, 0.0, 0.0, 0.0),
    (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
    (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
    (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
    (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
    (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
)
"""Weights of the slopes between the ends of a step of Dormand and Prince, order 4 (Shampine 1986)."""
ALPHA = (0.0, 0.386, 0.21, 0.63, 1.0, 1.0)
GAMMA = 0.25
DRIFT = (0.25, -0.1043, 0.1035, -0.03620000000000023, 0.0, 0.0)
STAGES: tuple[tuple[float, ...], ...] = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0),
)
MIXED: tuple[tuple[float, ...], ...] = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
)
INSIDE = (
    (10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662),
    (-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872),
)
"""RODAS of order 4(3), Hairer and Wanner, Solving Ordinary Differential Equations II, 2nd edition 1996, IV.7 and VI.4:
L-stable, stiffly accurate, with a polynomial of order 3 between the ends of a step."""
INVERTED = 24
"""Unknowns up to which the matrix of a step is inverted once instead of factorised with every stage."""

TINY = 1e-290
"""What is allowed of an error at least, so that nothing at all is no error."""


def explicit_step(parts: Parts) -> ca.Function:
    """Dormand and Prince 1980, RK5(4)7M; the slope at the end is the first one of the next step."""
    table, nx, both = DORMAND_PRINCE, parts.nx, parts.nx + parts.quad
    given = _symbols(parts, both)
    t, h, x, z, quad, first, p, m, size, tolerance = given
    slopes: list[Any] = [first]
    for node, stage in zip(table.nodes[1:], table.stages[1:], strict=True):
        slopes.append(parts.slope(t + node * h, RungeKutta._combined(x, h, stage, slopes, nx), z, p, m))
    new = RungeKutta._combined(ca.vertcat(x, quad), h, table.weights, slopes, both)
    slopes.append(parts.slope(t + h, new[:nx], z, p, m))
    estimate = RungeKutta._combined(ca.MX.zeros(both), h, table.error, slopes, both)
    error = _norm(estimate, x, new[:nx], size, tolerance)
    columns = [
        RungeKutta._combined(
            ca.MX.zeros(nx), h, {k: row[power] for k, row in enumerate(BETWEEN) if row[power]}, slopes, nx
        )
        for power in range(POWERS)
    ]
    found = [new[:nx], z, new[nx:], slopes[-1], _finite(error, new), ca.horzcat(*columns)]
    return ca.Function("step", given, found)


def rosenbrock_step(parts: Parts) -> ca.Function:
    """RODAS: six stages with one matrix, from the Jacobian at the step's start."""
    n, nx = parts.n, parts.nx
    given = _symbols(parts, 0)
    t, h, x, z, quad, slope, p, m, size, tolerance = given
    jac, quad_jac, drift = _jacobian(parts)(t, x, z, p, m)
    mass = ca.DM(ca.diag(ca.vertcat(ca.DM.ones(nx), ca.DM.zeros(n - nx))))
    columns = ca.if_else(size[:n] > 0, size[:n], 1.0)  # in raw units the small entries of the matrix would be lost
    matrix = (mass / (h * GAMMA) - jac) * ca.repmat(columns.T, n, 1)
    rows = 1 / ca.sum2(ca.fabs(matrix))
    matrix = matrix * ca.repmat(rows, 1, n)
    inverse = ca.solve(matrix, ca.DM.eye(n), "qr") if n <= INVERTED else None
    y, weight = ca.vertcat(x, z), ca.vertcat(ca.DM.ones(nx), ca.DM.zeros(n - nx)) / h
    moves: list[Any] = []
    sums: list[Any] = []
    for alpha, extra, stage, mixed in zip(ALPHA, DRIFT, STAGES, MIXED, strict=True):
        here = _weighted(y, stage, moves)
        ode, alg, power = parts.rates(t + alpha * h, *ca.vertsplit(here, [0, nx, n]), p, m)
        right = _weighted(ca.vertcat(ode, alg) + extra * h * drift[:n], mixed, [weight * each for each in moves])
        right = rows * right
        move = columns * (ca.mtimes(inverse, right) if inverse is not None else ca.solve(matrix, right, "qr"))
        moves.append(move)
        total = _weighted(power + extra * h * drift[n:], mixed, [each / h for each in sums])
        sums.append(h * GAMMA * (total + ca.mtimes(quad_jac, move)))
    last = (*STAGES[-1], 1.0)
    new, integrals = _weighted(y, last, moves), _weighted(quad, last, sums)
    error = _norm(ca.vertcat(moves[-1], sums[-1]), y, new, size, tolerance)
    third, fourth = (_weighted(ca.MX.zeros(n), row, moves) for row in INSIDE)
    powers = [new - y + third, fourth - third, -fourth, ca.MX.zeros(n)]
    found = [*ca.vertsplit(new, [0, nx, n]), integrals, slope, _finite(error, new), ca.horzcat(*powers)]
    return ca.Function("step", given, found)


def _jacobian(parts: Parts) -> ca.Function:
    """(t, x, z, p, m) -> derivatives of (x', algebraic) and of the integrals' rates by (x, z), and of all by t."""
    kind: Any = ca.SX if parts.written_out else ca.MX
    sizes = (1, parts.nx, parts.nz, parts.np, parts.modes + parts.nh)
    own = [kind.sym(name, size) for name, size in zip("txzpm", sizes, strict=True)]
    ode, alg, quad = parts.rates.call(own, True, False)
    both, unknown = ca.vertcat(ode, alg), ca.vertcat(own[1], own[2])
    if parts.written_out:
        found = [ca.jacobian(both, unknown), ca.jacobian(quad, unknown)]
    else:
        found = [ca.horzcat(*(ca.jacobian(each, part) for part in own[1:3])) for each in (both, quad)]
    found.append(ca.densify(ca.jacobian(ca.vertcat(both, quad), own[0])))
    return ca.Function("derivatives", own, found, common_parts(parts.rates))


def _symbols(parts: Parts, slope: int) -> list[ca.MX]:
    sizes = {
        "t": 1, "h": 1, "x": parts.nx, "z": parts.nz, "quad": parts.quad, "slope": slope, "p": parts.np,
        "m": parts.modes + parts.nh, "size": parts.n + parts.quad, "tolerance": 2,
    }  # fmt: skip
    return [ca.MX.sym(name, size) for name, size in sizes.items()]


def _weighted(start: Any, weights: Sequence[float], moves: Sequence[Any]) -> Any:
    """start + the sum of weighted columns, as one native call."""
    if not weights:
        return start
    begin, used = ca.SX.sym("begin", start.numel()), [ca.SX.sym("move", start.numel()) for _ in weights]
    total = begin + sum((w * each for w, each in zip(weights, used, strict=True)), ca.SX(0))
    return ca.Function("weighted", [begin, *used], [total])(start, *moves[: len(weights)])


def _norm(estimate: Any, old: Any, new: Any, size: Any, tolerance: Any) -> Any:
    """The root of the mean square of the error of (x, z) over the tolerance, or the largest of the integrals' errors.

    Integrals feed nothing: what counts is their error over their size so far.
    """
    n, every = old.numel(), estimate.numel()
    e, a, b, s, tol = (ca.SX.sym("v", k) for k in (every, n, n, size.numel(), 2))
    allowed = tol[1] * s[:n] + tol[0] * ca.fmax(ca.fabs(a), ca.fabs(b)) + TINY
    error = ca.sqrt(ca.sumsqr(e[:n] / allowed) / n)
    if every > n:
        error = ca.fmax(error, ca.norm_inf(e[n:] / (tol[0] * s[s.numel() - (every - n) :] + TINY)))
    return ca.Function("norm", [e, a, b, s, tol], [error])(estimate, old, new, size, tolerance)


def _finite(error: Any, new: Any) -> Any:
    """The error, or infinity where a value is not finite."""
    e, values = ca.SX.sym("e"), ca.SX.sym("v", new.numel())
    good = ca.logic_and(ca.fabs(ca.sum1(values)) < 1e300, ca.fabs(e) < 1e300)
    return ca.Function("finite", [e, values], [ca.if_else(good, e, ca.inf)])(error, new)
