"""Exact derivatives of a consistent start with respect to parameters and given start values.

The start is what `assembly` finds: the smallest x with hard equations met and soft ones met as nearly as possible,

    x = P b + Q (c - J P b),     P = H^+,  Q = (J (1 - P H))^+        H x = b hard, J x = c soft

in the metric of `closing`. For positions this is the last step of the iteration, which is zero; for speeds it is the
solution itself. Both are differentiated with the derivative of the pseudo-inverse (Golub and Pereyra 1973), which holds
where ranks are constant. Where hard and soft equations leave a position open, it is the nearest one to where it began,
and is differentiated by differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation.branch.assembly import Assembly
from cotree.maths.lookup import slopes

Array = NDArray[np.float64]

RANK = 1e-10
"""As in the assembly."""
STEP = 1e-3
"""Relative change of a parameter or start value, where differences are taken: of fourth order."""


def start_slopes(
    start: Any, p: Array, t: float, changes: Mapping[str, float], by_p: Array, by_given: Mapping[str, Array]
) -> tuple[Array, Array, bool]:
    """dq and du, one column for each direction, and that they are sure.

    ``by_p`` holds dp in each direction, ``by_given`` the change of each start value in ``changes``.
    """
    assembly: Assembly = start.assembly
    q, u = assembly.state(p, t, changes)
    names, count = assembly.names, len(q)
    given = np.array([changes.get(name, np.nan) for name in names])
    moved = np.array([by_given.get(name, np.zeros(by_p.shape[1])) for name in names]).reshape(len(names), -1)
    a, determined = _positions(assembly, q, p, t, given, moved[:count], by_p)
    if not determined:
        return *differences(start, p, t, changes, by_p, by_given), True
    dq = _directions(assembly, q, p, t) @ a
    du = _speeds(assembly, (q, p, t), given[count:], moved[count:], dq, by_p)
    if start.onward is None:
        return dq, du, True
    m = start.modes(p, t)
    seeds = (dq, du, np.zeros((1, dq.shape[1])), by_p, np.zeros((len(m), dq.shape[1])))
    dq, du = _forward(start.onward, (q, u, t, p, m), seeds)
    return dq, du, True


def differences(
    start: Any, p: Array, t: float, changes: Mapping[str, float], by_p: Array, by_given: Mapping[str, Array]
) -> tuple[Array, Array]:
    """The same by differences of the start itself."""
    columns = []
    for k in range(by_p.shape[1]):
        own = [abs(p[place]) for place in np.flatnonzero(by_p[:, k])]
        own += [abs(changes[name]) for name, each in by_given.items() if each[k]]
        step = STEP * max([*own, 1e-3])

        def at(far: float, k: int = k) -> Array:
            near = {
                name: value + far * by_given[name][k] if name in by_given else value for name, value in changes.items()
            }
            return np.concatenate(start.state(p + far * by_p[:, k], t, near or None))

        ends = [at(far * step) for far in (1, -1, 2, -2)]
        columns.append((8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * step))
    found = np.column_stack(columns)
    count = len(start.state(p, t, changes or None)[0])
    return found[:count], found[count:]


def _forward(function: ca.Function, at: tuple[Any, ...], seeds: tuple[Array, ...]) -> list[Array]:
    """Directional derivatives of all outputs, the directions side by side."""
    count = seeds[0].shape[1]
    found = function.call([ca.DM(each) for each in at])
    along = function.forward(count)
    slopes = along.call([*(ca.DM(each) for each in at), *found, *(ca.DM(each) for each in seeds)])
    return [np.asarray(ca.densify(each), dtype=float).reshape(each.shape) for each in slopes]


def _directions(assembly: Assembly, q: Array, p: Array, t: float) -> Array:
    """N: coordinates over displacements."""
    kin = assembly.mechanism.kin
    N = assembly.function("N", [kin.q, kin.t, kin.top.values.p.symbols], [slopes(kin.q_dot, kin.u)])
    return np.asarray(N(q, t, p), dtype=float).reshape(len(kin.q_names), len(kin.u_names))


def _split(parts: list[Array], count: int) -> list[tuple[Array, Array, Array, Array]]:
    """Derivatives of residuals and Jacobians for each direction."""
    hard, by_hard, soft, by_soft = parts
    n = by_hard.shape[1] // count
    return [
        (hard[:, k], by_hard[:, k * n : (k + 1) * n], soft[:, k], by_soft[:, k * n : (k + 1) * n]) for k in range(count)
    ]


def _positions(
    assembly: Assembly, q: Array, p: Array, t: float, given: Array, moved: Array, by_p: Array
) -> tuple[Array, bool]:
    """Displacements of the start position, and whether nothing else could move."""
    kin = assembly.mechanism.kin
    n, k = len(kin.u_names), by_p.shape[1]
    free = assembly.free(np.concatenate([given[: len(kin.q_names)], np.full(n, np.nan)]))
    held = np.zeros((n, k))
    for place, (owner, coordinate) in enumerate(kin.owners):
        name = f"{owner}.{coordinate}"
        if not free[place] and name in kin.q_names:
            held[place] = moved[kin.q_names.index(name)]
    own = np.flatnonzero(free)
    if not len(own):
        return held, True
    size, soft_size = assembly.sizes[0]
    _, H, s, J = assembly.numbers(tuple(assembly.position_parts.call([q, t, p])))
    scale, s = assembly.scale[own], s / soft_size
    stays = np.flatnonzero(assembly.placed[own])
    displacements = np.hstack([np.eye(n)[:, own], held])
    count = displacements.shape[1]
    seeds = (
        _directions(assembly, q, p, t) @ displacements,
        np.zeros((1, count)),
        np.hstack([np.zeros((len(p), len(own))), by_p]),
    )
    slopes = _split(_forward(assembly.position_parts, (q, t, p), seeds), count)
    H, J = H[:, own] * scale / size[:, None], J[:, own] * scale / soft_size[:, None]
    if len(stays) or assembly.rest_parts is not None:
        return held, False  # how far a pose has moved is not known here
    P = _inverse(H)
    left = np.eye(len(own)) - P @ H
    Q = _inverse(J @ left)
    steps = []
    for dh, dH, ds, dJ in slopes:
        dh, ds = dh / size, ds / soft_size
        dH, dJ = dH[:, own] * scale / size[:, None], dJ[:, own] * scale / soft_size[:, None]
        dleft = -_inverse_slope(H, P, dH) @ H - P @ dH
        bent = Q @ Q.T @ ((dJ @ left + J @ dleft).T @ s)  # dQ s, where Q s = 0
        steps.append(-P @ dh - bent - Q @ (ds - J @ (P @ dh)))
    every = np.column_stack(steps) * scale[:, None]
    own_slopes, by_direction = every[:, : len(own)], every[:, len(own) :]
    rank = np.linalg.matrix_rank(own_slopes, tol=1e-9)
    result = held.copy()
    result[own] += np.linalg.lstsq(own_slopes, -by_direction, rcond=1e-9)[0]
    return result, bool(rank == len(own))


def _speeds(
    assembly: Assembly, at: tuple[Array, Array, float], given: Array, moved: Array, dq: Array, by_p: Array
) -> Array:
    """Derivatives of the start speeds."""
    q, p, t = at
    h, H, s, J = assembly.numbers(tuple(assembly.speed_parts.call([q, t, p])))
    n, k = len(given), by_p.shape[1]
    known, scale = np.flatnonzero(np.isfinite(given)), assembly.scale
    size, soft_size = assembly.sizes[1]
    H = np.vstack([H / size[:, None], np.eye(n)[known]]) * scale
    J, s = J * scale / soft_size[:, None], s / soft_size
    b, c = -np.concatenate([h / size, -given[known]]), -s
    slopes = _split(_forward(assembly.speed_parts, (q, t, p), (dq, np.zeros((1, k)), by_p)), k)
    P = _inverse(H)
    left = np.eye(n) - P @ H
    Q = _inverse(J @ left)
    first = P @ b
    rest = c - J @ first
    result = np.zeros((n, k))
    for j, (dh, dH, ds, dJ) in enumerate(slopes):
        dH = np.vstack([dH / size[:, None], np.zeros((len(known), n))]) * scale
        dJ, ds = dJ * scale / soft_size[:, None], ds / soft_size
        db = np.concatenate([-dh / size, moved[known, j]])
        dP = _inverse_slope(H, P, dH)
        dfirst = dP @ b + P @ db
        dleft = -dP @ H - P @ dH
        dQ = _inverse_slope(J @ left, Q, dJ @ left + J @ dleft)
        result[:, j] = dfirst + dQ @ rest + Q @ (-ds - dJ @ first - J @ dfirst)
    return result * scale[:, None]


def _inverse(matrix: Array) -> Array:
    """The pseudo-inverse, with the ranks of the assembly."""
    if not matrix.size or not np.abs(matrix).max() > 1e-14:
        return np.zeros(matrix.shape[::-1])
    return np.asarray(np.linalg.pinv(matrix, rcond=RANK))


def _inverse_slope(A: Array, X: Array, dA: Array) -> Array:
    """d(A^+) for a change of A that keeps its rank."""
    rows, columns = np.eye(A.shape[0]) - A @ X, np.eye(A.shape[1]) - X @ A
    return np.asarray(-X @ dA @ X + X @ X.T @ dA.T @ rows + columns @ dA.T @ X.T @ X)
