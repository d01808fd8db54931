"""A consistent start of a mechanism in mechanical form: closures hold, given values move as little as possible."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.bond.given_starts import unfit
from cotree.bond.structure import component_names
from cotree.errors import SolveError, listing
from cotree.maths.symbolic import column, substitute

if TYPE_CHECKING:
    from cotree.bond.mechanical_form import MechanicalForm

Array = NDArray[np.float64]

CLOSED = 1e-12
"""Residual of a closed loop."""
ITERATIONS = 100
EULER = 4
"""Number of Euler parameters."""
LONGEST = 0.3
"""Longest step of a coordinate in one iteration."""


NEAR = 0.01
"""Change of the fastest coordinate between two positions at which closures are compared."""
RANK = 1e-9
"""Ratio of singular values below which a direction is free."""


class MechanicalStart:
    """Coordinates and speeds at the start, for numeric parameters."""

    def __init__(self, form: MechanicalForm, rates: ca.SX, u: ca.SX) -> None:
        self.form, self.rates, self.u = form, rates, u

    @cached_property
    def _functions(self) -> tuple[ca.Function, ca.Function, ca.Function]:
        from cotree.bond.mechanical_form import start_coordinates

        form, values = self.form, self.form.values
        modes = column([mode.value for mode in values.modes])
        signals = form.inputs[2]

        def at(expression: ca.SX) -> ca.SX:
            expression = substitute(expression, form.inputs[0].symbols, signals)
            return ca.densify(substitute(expression, values.mode_symbols, modes))

        known = [values.p.symbols, values.t]
        given = ca.Function("given", known, [at(start_coordinates(form)), at(self._speeds)])
        position, velocity = form._position, form._velocity
        way = ca.jacobian(self.rates, self.u)
        places = ca.Function("places", [form.q, *known], [at(position), at(ca.jacobian(position, form.q)), at(way)])
        velocity = ca.vertcat(velocity, self._asked[0])
        moves = ca.Function("moves", [form.q, self.u, *known], [at(velocity), at(ca.jacobian(velocity, self.u))])
        by = [values.p.symbols, form.q, self.u]
        parts = [at(start_coordinates(form)), at(self._speeds)]
        slopes = [at(ca.jacobian(each, values.p.symbols)) for each in parts]
        slopes += [at(ca.jacobian(position, each)) for each in by[:2]] + [
            at(ca.jacobian(velocity, each)) for each in by
        ]
        self._slopes = ca.Function("slopes", [form.q, self.u, *known], slopes)
        return given, places, moves

    @cached_property
    def _asked(self) -> tuple[ca.SX, list[str]]:
        """What start values of dependent I's ask of the speeds, and their names; a mechanism places its own bodies."""
        form = self.form
        rows, names = [], []
        speeds = set(form.speed_columns)
        for name, momentum in form.momenta_by_name.items():
            vertex = form.structure.vertices[name]
            flow = vertex.start_conjugate
            if flow is None and vertex.start is not None:
                flow = form.flow_of_momentum(vertex, vertex.start)
            if flow is None or form.structure.placed:
                continue
            own = form.kin.own_flow(name)
            for k, c in enumerate(form.columns_of(name)):
                if c not in speeds:
                    rows.append(form._put(form.signals.expand(own[k] - flow[k])))
                    names.append(component_names(name, momentum.numel())[k])
        return column(rows), names

    @cached_property
    def _open(self) -> NDArray[np.bool_]:
        """Speeds without a start value of their own."""
        vertices = [self.form.structure.vertices[self.form.kin.columns[c].element] for c in self.form.speed_columns]
        return np.array([v.start is None and v.start_conjugate is None for v in vertices], dtype=bool)

    def slopes(
        self, p: Array, t: float, held: Mapping[str, float], by_p: Array, by_given: Mapping[str, Array]
    ) -> tuple[Array, Array, bool]:
        """Derivatives of q and u, and whether they are sure: with closures the nearest start counts."""
        q, u = self.state(p, t, held)
        found = (np.asarray(each, dtype=float) for each in self._slopes(q, u, p, t))
        given_q, given_u, gap_p, gap_q, flow_p, flow_q, flow_u = found
        dq, du = given_q @ by_p, given_u @ by_p
        free = np.array([name not in held for name in self.names], dtype=bool)
        for k, name in enumerate(self.names):
            if name in held:
                row = by_given.get(name, np.zeros(by_p.shape[1]))
                (dq if k < len(q) else du)[k if k < len(q) else k - len(q)] = row
        if len(gap_q):
            _, places, _ = self._functions
            paths = np.asarray(places(q, p, t)[2], dtype=float) * free[: len(q), None]
            dq = dq - paths @ np.linalg.lstsq(gap_q @ paths, gap_q @ dq + gap_p @ by_p, rcond=1e-10)[0]
        if len(flow_u) and len(u):
            loose = free[len(q) :]
            off = flow_u @ du + flow_q @ dq + flow_p @ by_p
            du[loose] -= np.linalg.lstsq(flow_u[:, loose], off, rcond=1e-10)[0]
        return dq, du, not len(gap_q) and not len(flow_u)

    @property
    def _speeds(self) -> ca.SX:
        """Start values of the speeds as given."""
        _, _, starts, _ = self.form._states
        return starts[: self.u.numel()] if self.u.numel() else ca.SX(0, 1)

    @property
    def names(self) -> tuple[str, ...]:
        """Coordinates and speeds, whose start values may be given by name."""
        return (*self.form._q_names()[0], *self.form._u_names())

    def state(self, p: Array, t: float, changes: Mapping[str, float] | None = None) -> tuple[Array, Array]:
        """q and u at time t; ``changes`` by name are kept."""
        given, _, _ = self._functions
        q, u = (np.asarray(each, dtype=float).ravel() for each in given(p, t))
        both = dict(zip(self.names, np.concatenate([q, u]), strict=True))
        fixed = {name for name in (*(changes or {}), *self.form.structure.fixed) if name in both}
        both |= {name: float(value) for name, value in (changes or {}).items() if name in both}
        whole = np.array(list(both.values()))
        q, u = whole[: len(q)], whole[len(q) :]
        free_q = np.array([name not in fixed for name in self.names[: len(q)]], dtype=bool)
        free_u = np.array([name not in fixed for name in self.names[len(q) :]], dtype=bool)
        q = self._close(q, p, t, free_q)
        return q, self._move(q, u, p, t, free_u)

    def positions(self, q: Array, p: Array) -> Iterator[Array]:
        """A position, and one near it that all closures allow, as the first may be a special one."""
        yield q
        _, places, moves = self._functions
        _, slope = (np.asarray(each, dtype=float) for each in moves(q, np.zeros(self.u.numel()), p, 0.0))
        _, sizes, right = np.linalg.svd(slope, full_matrices=slope.shape[0] < slope.shape[1])
        free = right[int((sizes > RANK * max(1e-300, float(sizes.max(initial=0.0)))).sum()) :].T
        if not free.shape[1]:
            return
        step = free @ np.random.default_rng(0).normal(size=free.shape[1])
        way = np.asarray(places(q, p, 0.0)[2], dtype=float) @ step
        near = self._unit(q + way * (NEAR / max(float(np.abs(way).max(initial=0.0)), 1e-12)))
        with contextlib.suppress(SolveError):
            yield self._close(near, p, 0.0, np.ones(len(q), dtype=bool))

    def _unit(self, q: Array, free: NDArray[np.bool_] | None = None) -> Array:
        """Coordinates with Euler parameters of length one, by those of them that are free."""
        q, place = q.copy(), sum(each.numel() for each in self.form.storing.values())
        for integral in self.form.structure.integrals:
            own = np.arange(place, place + len(integral.names))
            place += len(own)
            if integral.rotation and len(own) == EULER:
                loose = own if free is None else own[free[own]]
                held = np.setdiff1d(own, loose)
                left, size = 1.0 - float(q[held] @ q[held]), float(np.linalg.norm(q[loose]))
                if size > 0.0 and left > 0.0:
                    q[loose] *= np.sqrt(left) / size
        return q

    def _close(self, q: Array, p: Array, t: float, free: NDArray[np.bool_]) -> Array:
        """Positions that close every loop, by steps along what the graph can move."""
        _, places, _ = self._functions
        for _ in range(ITERATIONS):
            gap, slope, way = (np.asarray(each, dtype=float) for each in places(q, p, t))
            if not gap.size or np.abs(gap).max() < CLOSED * (1 + np.abs(q).max(initial=0.0)):
                return q
            paths = way * free[:, None]
            step = paths @ np.linalg.lstsq(slope @ paths, -gap.ravel(), rcond=1e-10)[0]
            longest = np.abs(step).max(initial=0.0)
            if longest < CLOSED:
                break
            q = self._unit(q + step * min(1.0, LONGEST / longest), free)  # steps along the tangent make them longer
        worst = int(np.argmax(np.abs(gap)))
        closures = [c for c in self.form.closures if self.form._gap(c) is not None]
        raise SolveError(
            f"the loop cannot be closed: a gap of {float(np.abs(gap).max()):.3g} is left at '{closures[worst].vertex}'",
            where=closures[worst].vertex,
            expected="start values from which the loop can close",
            remedy="Give start values of the joints nearer to a closed position, or check the lengths",
        )

    def _move(self, q: Array, u: Array, p: Array, t: float, free: NDArray[np.bool_]) -> Array:
        """Speeds that keep the loops closed, with the least change."""
        _, _, moves = self._functions
        asked = self._asked[1]
        for first in (bool(asked), False):  # what dependent I's ask for moves the speeds that were left open
            off, slope = (np.asarray(each, dtype=float) for each in moves(q, u, p, t))
            if not off.size or not u.size:
                return u
            if first and (both := free & self._open).any():
                u = u.copy()
                count = len(asked)
                u[both] += np.linalg.lstsq(slope[-count:, both], -off.ravel()[-count:], rcond=1e-10)[0]
        if asked and np.abs(off[-len(asked) :]).max() > 1e-8 * (1 + np.abs(u).max()) and not self.form.closures:
            raise unfit(asked[int(np.argmax(np.abs(off[-len(asked) :])))])
        step = np.zeros_like(u)
        step[free] = np.linalg.lstsq(slope[:, free], -off.ravel(), rcond=1e-10)[0]
        left = off.ravel() + slope @ step
        if np.abs(left).max() > 1e-8 * (1 + np.abs(off).max()):
            k = int(np.argmax(np.abs(left)))
            if k >= len(self.form.closures):
                raise unfit(asked[k - len(self.form.closures)])
            worst = self.form.closures[k]
            raise SolveError(
                f"the start speeds do not fit: '{worst.vertex}' asks for another flow",
                where=worst.vertex,
                expected="speeds that its sources and loops allow",
                remedy=f"Leave out some of {listing(self.form._u_names())}",
            )
        return u + step
