"""A consistent start: positions and velocities nearest to the given ones that meet all equations.

Corrections are the least ones, by the Moore-Penrose inverse: d = -A^+ Phi, with A^+ = A^T (A A^T)^+ for the many
equations of a large structure as one sparse system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError, ModelError, listing, nearest
from cotree.formulation.nodal.rank import independent_rows
from cotree.formulation.nodal.structure import NodalStructure, Row
from cotree.maths.lookup import along

Array = NDArray[np.float64]

MET = 1e-12
"""What an equation may be off at the start, over the size of the structure or 1."""
ACCEPTED = 1e-9
"""The same where the iteration stalls."""
ROUNDS = 60
PATIENT = 100
"""Damped steps towards the best position where the nearest one is not found."""
SOFT = 1e-12
"""Damping of redundant equations."""
STRAIGHT = 1e-10
"""Moment about the line of a body's nodes, over the largest one, below which their velocities tell no spin about it."""


@dataclass
class Start:
    """Start values that meet the equations ``rows``."""

    structure: NodalStructure
    rows: Sequence[Row]
    modes: ca.SX

    def __post_init__(self) -> None:
        s = self.structure
        position = ca.vertcat(*(row.value for row in self.rows)) if self.rows else ca.SX(0, 1)
        known = [s.q, s.t, s.values.p.symbols, s.values.mode_symbols]
        parts = [ca.densify(position), ca.jacobian(position, s.q), ca.densify(ca.jacobian(position, s.t))]
        self._parts = ca.Function("parts", known, parts)
        self._modes = ca.Function("modes", [s.t, s.values.p.symbols], [self.modes])

    @property
    def names(self) -> tuple[str, ...]:
        """All start values by name."""
        s = self.structure
        return tuple(symbol.name() for each in (s.q, s.u) for symbol in ca.vertsplit(each))

    def slopes(
        self, p: Array, t: float, changes: Mapping[str, float], by_p: Array, by_given: Mapping[str, Array]
    ) -> tuple[Array, Array, bool]:
        """dq and du for changes of parameters and given start values, one column for each direction.

        Exact where the given values meet the equations, so that nothing is corrected; the last value says that this
        is to be looked at.
        """
        s, m = self.structure, self.mode_values(p, t)
        q, u = self.state(p, t, changes)
        wanted = np.asarray(s.given(p)[1], dtype=float).ravel()
        given = np.asarray(ca.DM(s.given.jacobian()(p, *s.given(p))[0]), dtype=float) @ by_p
        speeds = np.asarray(ca.DM(s.given.jacobian()(p, *s.given(p))[1]), dtype=float) @ by_p
        both = np.vstack([given, speeds])
        loose = np.ones(len(both), dtype=bool)
        for name in changes:
            k = self.names.index(name)
            both[k], loose[k] = by_given.get(name, np.zeros(both.shape[1])), False
            if k >= len(q):
                wanted[k - len(q)] = changes[name]
        n = len(q)
        carried = loose[n:].copy()
        for part in (slice(0, n), slice(n, None)):
            loose[part] |= not loose[part].any()
        position = ca.vertcat(*(row.value for row in self.rows)) if self.rows else ca.SX(0, 1)
        velocity = along(position, s.q, s.u) + ca.jacobian(position, s.t)
        known = [s.q, s.u, s.t, s.values.p.symbols, s.values.mode_symbols]
        dq, du = both[:n], both[n:]
        for value, moves in ((position, "q"), (velocity, "u")):
            if moves == "u":
                du = self._carried_slopes((q, wanted), (dq, du), carried)
            blocks = [ca.densify(ca.jacobian(value, each)) for each in (s.q, s.u, s.values.p.symbols)]
            by_q, by_u, by_parameter = (
                np.asarray(each, dtype=float) for each in ca.Function("blocks", known, blocks)(q, u, t, p, m)
            )
            off = by_q @ dq + by_u @ du + by_parameter @ by_p
            free, matrix = (loose[:n], by_q) if moves == "q" else (loose[n:], by_u)
            move = np.zeros((n, both.shape[1]))
            move[free] = -np.linalg.pinv(matrix[:, free], rcond=1e-10) @ off if len(self.rows) else 0.0
            dq, du = (dq + move, du) if moves == "q" else (dq, du + move)
        return dq, du, False

    def mode_values(self, p: Array, t: float) -> Array:
        """The modes at a time."""
        return np.asarray(self._modes(t, p), dtype=float).ravel()

    def parts(self, q: Array, p: Array, t: float) -> tuple[Array, Any, Array]:
        """Phi, its sparse Jacobian A, and its rate at a fixed place."""
        from scipy.sparse import csr_matrix

        value, matrix, drift = self._parts(q, t, p, self.mode_values(p, t))
        shape = matrix.shape
        return (
            np.asarray(value, dtype=float).ravel(),
            csr_matrix(matrix.sparse()) if matrix.nnz() else csr_matrix(shape),
            np.asarray(drift, dtype=float).ravel(),
        )

    def state(self, p: Array, t: float, changes: Mapping[str, float] | None = None) -> tuple[Array, Array]:
        """Positions and velocities; ``changes`` by name are kept."""
        s = self.structure
        s.check_bodies(p)
        q, u = (np.asarray(each, dtype=float).ravel() for each in s.given(p))
        names = [[symbol.name() for symbol in ca.vertsplit(each)] for each in (s.q, s.u)]
        free = [np.ones(len(q), dtype=bool), np.ones(len(u), dtype=bool)]
        for name, value in (changes or {}).items():
            for values, known, loose in zip((q, u), names, free, strict=True):
                if name in known:
                    values[known.index(name)], loose[known.index(name)] = value, False
                    break
            else:
                raise ModelError(
                    f"there is no start value '{name}'",
                    expected="a position or velocity of a node, such as A.velocity.x",
                    remedy=nearest(name, [*names[0], *names[1]]),
                )
        open_speeds = free[1].copy()
        for loose in free:
            loose |= not loose.any()  # where everything is given, rounding is taken out of all of it
        q = self.closed(q, p, t, free[0])
        return q, self._speeds(q, self._carried(q, u, open_speeds), p, t, free[1])

    def first(self, p: Array, t: float) -> tuple[Array, Array]:
        """The state for which equations are written: as `state`, or without drives that cannot be met at this time.

        A run may start at another time. Drives that nothing can follow are refused in any case.
        """
        try:
            return self.state(p, t)
        except FormulationError as reason:
            timed = [ca.depends_on(row.value, self.structure.t) for row in self.rows]
            if not any(timed):
                raise
            order = np.argsort(timed, kind="stable")
            q, u = Start(self.structure, [self.rows[k] for k in order if not timed[k]], self.modes).state(p, t)
            kept = independent_rows(self.parts(q, p, t)[1][order])[0]
            if not set(np.flatnonzero(np.array(timed)[order]).tolist()) <= set(kept):
                raise reason from None
            return q, u

    def _carried(self, q: Array, u: Array, free: Array) -> Array:
        """Velocities in which points that were added to a body move with its nodes, in the least turning that fits."""
        s = self.structure
        x, v = self._points(q), self._points(u)
        for form in s.bodies.values():
            added, own = [k for k in form.base if k >= s.real], list(form.nodes)
            middle, mean = x[own].mean(axis=0), v[own].mean(axis=0)
            spread, moment = _moments(x[own] - middle, v[own] - mean)
            turning = np.linalg.pinv(spread, rcond=STRAIGHT, hermitian=True) @ moment
            v[added] = mean + np.cross(turning, x[added] - middle)
        return np.where(free, v[:, : s.dim].ravel(), u)

    def _carried_slopes(self, at: tuple[Array, Array], along: tuple[Array, Array], free: Array) -> Array:
        """The derivatives of `_carried` along changes of q and u, one column for each direction.

        That of the pseudo-inverse P of S is P P dS (1 - S P) + (1 - P S) dS P P - P dS P (Golub and Pereyra 1973).
        """
        s = self.structure
        x, v = (self._points(each) for each in at)
        result = along[1].copy()
        for j in range(result.shape[1]):
            dx, dv = (self._points(each[:, j]) for each in along)
            for form in s.bodies.values():
                added, own = [k for k in form.base if k >= s.real], list(form.nodes)
                (middle, arms), (d_middle, d_arms), (_, speeds), (d_mean, d_speeds) = (
                    (each[own].mean(axis=0), each[own] - each[own].mean(axis=0)) for each in (x, dx, v, dv)
                )
                S, moment = _moments(arms, speeds)
                dS = 2 * (arms * d_arms).sum() * np.eye(3) - arms.T @ d_arms - d_arms.T @ arms
                d_moment = (np.cross(d_arms, speeds) + np.cross(arms, d_speeds)).sum(axis=0)
                P, one = np.linalg.pinv(S, rcond=STRAIGHT, hermitian=True), np.eye(3)
                dP = P @ P @ dS @ (one - S @ P) + (one - P @ S) @ dS @ P @ P - P @ dS @ P
                turning, d_turning = P @ moment, dP @ moment + P @ d_moment
                dv[added] = d_mean + np.cross(d_turning, x[added] - middle) + np.cross(turning, dx[added] - d_middle)
            result[:, j] = np.where(free, dv[:, : s.dim].ravel(), along[1][:, j])
        return result

    def _points(self, values: Array) -> Array:
        """A column of coordinates as one row of x, y, z for each node."""
        s = self.structure
        found = np.zeros((len(s.names), 3))
        found[:, : s.dim] = values.reshape(-1, s.dim)
        return found

    def closed(self, q: Array, p: Array, t: float, free: Array | None = None) -> Array:
        """The nearest positions that meet all equations."""
        if not self.rows:
            return q
        free = np.ones(len(q), dtype=bool) if free is None else free
        scale = max(1.0, float(np.abs(q).max(initial=0.0)))
        begin, before = q, np.inf
        for _ in range(ROUNDS):
            value, matrix, _ = self.parts(q, p, t)
            if not np.isfinite(value).all():
                owner = self.rows[int(np.argmin(np.isfinite(value)))].owner
                raise FormulationError(
                    "its equation has no finite value at the start",
                    where=owner,
                    expected="nodes at different places, and lengths above zero",
                    remedy=f"Move one of the nodes of '{owner}', or give it another length",
                )
            worst = float(np.abs(value).max())
            if worst <= MET * scale or (worst <= ACCEPTED * scale and worst > before / 2):
                return q
            before = worst
            move = np.zeros(len(q))
            move[free] = least(matrix[:, free], -value)
            size = float(np.abs(move).max())
            q = q + move * min(1.0, 0.5 * scale / size if size > 0 else 1.0)
        q, value = self._patiently(begin, p, t, free)
        if np.abs(value).max() <= ACCEPTED * scale:
            return q
        raise self._cannot(np.abs(value))

    def _patiently(self, q: Array, p: Array, t: float, free: Array) -> tuple[Array, Array]:
        """The position that misses least in the squares, by damped steps (Levenberg and Marquardt), and the misses."""
        from scipy.sparse import eye
        from scipy.sparse.linalg import splu

        damping = 1e-2
        value, matrix, _ = self.parts(q, p, t)
        for _ in range(PATIENT):
            held = matrix[:, free]
            step = np.zeros(len(q))
            try:
                step[free] = splu((held.T @ held + damping * eye(held.shape[1])).tocsc()).solve(-(held.T @ value))
            except RuntimeError:  # the damping is lost in the rounding of large numbers
                step[free] = np.nan
            now, by_now, _ = self.parts(q + step, p, t)
            if now @ now < value @ value:  # false where it has no value
                done = value @ value - now @ now < 1e-12 * (value @ value)
                q, value, matrix, damping = q + step, now, by_now, max(damping / 5, 1e-12)
                if done:
                    break
            else:
                damping *= 10
                if damping > 1e8:
                    break
        return q, value

    def _cannot(self, value: Array) -> FormulationError:
        """The error for equations that are missed by some values at the best position."""
        worst = np.argsort(-np.round(value / value.max(), 6), kind="stable")
        owners = list(dict.fromkeys(self.rows[k].owner for k in worst if value[k] > 0.1 * value.max()))
        row = self.rows[int(worst[0])]
        listed = listing([repr(name) for name in owners], 12)
        clash = f"{listed} contradict each other" if len(owners) > 1 else f"{listed} cannot be met"
        return FormulationError(
            f"the structure cannot be put together: {clash}, the best position misses '{row.owner}' ({row.label}) by "
            f"{value.max():.3g}",
            where=row.owner,
            expected="positions, lengths and supports that can be met together",
            remedy="Change a length or a node's position, or remove one of them",
        )

    def _speeds(self, q: Array, u: Array, p: Array, t: float, free: Array) -> Array:
        """The nearest velocities that meet A u + dPhi/dt = 0."""
        if not self.rows:
            return u
        _, matrix, drift = self.parts(q, p, t)
        for _ in range(3):  # once, and twice more for the last digits
            move = np.zeros(len(u))
            move[free] = least(matrix[:, free], -(matrix @ u + drift))
            u = u + move
        off = np.abs(matrix @ u + drift)
        scale = max(1.0, float(np.abs(u).max(initial=0.0)), float(np.abs(drift).max(initial=0.0)))
        if off.max(initial=0.0) > 1e-8 * scale:
            row = self.rows[int(np.argmax(off))]
            others = [o.owner for k, o in enumerate(self.rows) if off[k] > 0.1 * off.max() and o.owner != row.owner]
            also = f" together with {listing([repr(name) for name in dict.fromkeys(others)][:3])}" if others else ""
            raise FormulationError(
                f"it asks for a velocity that nothing can have{also}: it is missed by {off.max():.3g} m/s",
                where=row.owner,
                expected="supports and drives that do not contradict each other",
                remedy=f"Remove '{row.owner}', or give it the velocity that the others allow",
            )
        return u


def _moments(arms: Array, speeds: Array) -> tuple[Array, Array]:
    """Second moments and moment of momentum of unit masses."""
    return (arms**2).sum() * np.eye(3) - arms.T @ arms, np.cross(arms, speeds).sum(axis=0)


def least(matrix: Any, right: Array) -> Array:
    """A^+ b for a sparse A: the least x of those with the least |A x - b|, redundant rows allowed."""
    from scipy.sparse import bmat, eye
    from scipy.sparse.linalg import splu

    rows, columns = matrix.shape
    if not rows or not columns:
        return np.zeros(columns)
    size = max(float(abs(matrix).max()), 1e-300)
    system = bmat([[eye(columns), matrix.T / size], [matrix / size, -SOFT * eye(rows)]], format="csc")
    factor = splu(system)
    x, y = np.zeros(columns), np.zeros(rows)
    for _ in range(2):  # the second round takes out what the damping left
        both = factor.solve(np.concatenate([-x - matrix.T @ y / size, right / size - matrix @ x / size]))
        x, y = x + both[:columns], y + both[columns:]
    return x
