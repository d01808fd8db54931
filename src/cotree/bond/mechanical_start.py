"""A consistent start of a mechanism in mechanical form: closures hold, given values move as little as possible.

The nearest closed position is found as for mechanisms of bodies and joints (`formulation.branch.closing`): closures are
hard equations, given start values soft ones, and what is not given weighs nothing but that it moves least.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.bond.given_starts import unfit
from cotree.bond.structure import StartWish, component_names
from cotree.errors import SolveError, listing
from cotree.formulation.branch.closing import OPEN, Asked, nearest, nested
from cotree.formulation.branch.moved import reported
from cotree.formulation.branch.slopes import differences
from cotree.maths.symbolic import column, substitute
from cotree.system import Diagnostic

if TYPE_CHECKING:
    from cotree.bond.mechanical_form import MechanicalForm

Array = NDArray[np.float64]

EULER = 4
"""Number of Euler parameters."""
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
        """Derivatives of q and u, and that they are sure: with closures by differences of the nearest start."""
        if self.form.closures or self._asked[1]:
            return *differences(self, p, t, held, by_p, by_given), True
        dq, du = (np.asarray(each, dtype=float) @ by_p for each in self._slopes(p, t))
        for k, name in enumerate(self.names):
            if name in held:
                row = by_given.get(name, np.zeros(by_p.shape[1]))
                (dq if k < len(dq) else du)[k if k < len(dq) else k - len(dq)] = row
        return dq, du, True

    @cached_property
    def _slopes(self) -> ca.Function:
        """Derivatives of the given start values with respect to the parameters."""
        p, t = self.form.values.p.symbols, self.form.values.t
        given = self._functions[0](p, t)
        return ca.Function("slopes", [p, t], [ca.densify(ca.jacobian(each, p)) for each in given])

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
        q = self._close(q, p, t, free_q, fixed)
        return q, self._move(q, u, p, t, free_u, fixed)

    def moved(self, p: Array, t: float, changes: Mapping[str, float] | None = None) -> tuple[Diagnostic, ...]:
        """Given start values that had to be moved far to close the loops."""
        given, found = (
            (np.asarray(each, dtype=float).ravel() for each in self._functions[0](p, t)),
            self.state(p, t, changes),
        )
        off = np.concatenate(found) - np.concatenate(list(given))
        units = (*self.form._q_names()[1], *self.form._u_units())
        kept = self.form.structure.kept - set(changes or {})
        own = [(n, o, u) for n, o, u in zip(self.names, off.tolist(), units, strict=True) if n in kept]
        missed, by_u = self._wished[0](found[0], p, t)[0], self._wished[1](*found, p, t)[0]
        for wishes, each in zip(self._wished[2], (missed, by_u), strict=True):
            values = np.asarray(each, dtype=float).ravel().tolist()
            names = [
                (w.name, ("m" if w.length else "rad") + ("/s" if w.flow else ""))
                for w in wishes
                for _ in range(w.value.numel())
            ]
            own += [
                (name, o, unit) for (name, unit), o in zip(names, values, strict=True) if name not in (changes or {})
            ]
        return reported(own, self.length, float(np.abs(found[1] / self.scale).max(initial=0.0)))

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

    @cached_property
    def length(self) -> float:
        """A length of the mechanism: the extent of its frames where the start values put them."""
        form, p = self.form, self.form.values.p
        begins = [value for name, value in form.structure.placed.items() if name.endswith(".start")]
        if not begins:
            return 1.0
        found = ca.Function("extent", [p.symbols, form.values.t], [ca.densify(ca.horzcat(*begins))])(p.start, 0.0)
        extent = float(np.linalg.norm(np.ptp(np.asarray(found, dtype=float), axis=1)))
        return extent if np.isfinite(extent) and extent > 0.0 else 1.0

    @cached_property
    def scale(self) -> Array:
        """Displacements for a unit step: the length for translations, 1 for all others."""
        return np.array([self.length if unit == "m/s" else 1.0 for unit in self.form._u_units()])

    @cached_property
    def _gaps(self) -> Array:
        """The size of each closure with a gap."""
        vertices = [self.form.structure.vertices[c.vertex] for c in self.form.closures if self.form._gap(c) is not None]
        return np.array([self.length if each.domain == "translational" else 1.0 for each in vertices])

    @cached_property
    def _wished(self) -> tuple[ca.Function, ca.Function, tuple[list[StartWish], list[StartWish]]]:
        """What given values of joints that close a loop ask of coordinates and of speeds."""
        form, values = self.form, self.form.values
        modes, signals = column([mode.value for mode in values.modes]), form.inputs[2]
        rates = [wish for wish in form.structure.wishes if wish.flow]
        places = [wish for wish in form.structure.wishes if not wish.flow]

        def at(expression: ca.SX) -> ca.SX:
            expression = substitute(form._put(form.signals.expand(expression)), form.inputs[0].symbols, signals)
            return ca.densify(substitute(expression, values.mode_symbols, modes))

        def missed(wish: StartWish) -> ca.SX:
            assert wish.now is not None
            off = wish.now - wish.value
            return off if wish.length else ca.atan2(ca.sin(off), ca.cos(off))  # angles up to full turns

        off = at(column([missed(each) for each in places]))
        speed = at(column([form.kin.own_flow(each.flow) - each.value for each in rates]))
        known = [values.p.symbols, values.t]
        position = ca.Function("wished", [form.q, *known], [off, ca.densify(ca.jacobian(off, form.q))])
        velocity = ca.Function(
            "wished_speeds", [form.q, self.u, *known], [speed, ca.densify(ca.jacobian(speed, self.u))]
        )
        return position, velocity, (places, rates)

    def _close(self, q: Array, p: Array, t: float, free: NDArray[np.bool_], held: Collection[str] = ()) -> Array:
        """The nearest closed position: steps are made along what the graph can move."""
        _, places, _ = self._functions
        if not self._gaps.size:
            return q
        wishes = self._wished[2][0]
        asked = np.array([wish.name not in held for wish in wishes], dtype=bool)
        size = np.array([self.length if wish.length else 1.0 for wish in wishes])
        names = self.names[: len(q)]
        kept = np.array([name in self.form.structure.kept for name in names], dtype=bool) & free
        begin, q_size = q, np.array([self.length if unit == "m" else 1.0 for unit in self.form._q_names()[1]])

        def look(q: Array, moved: Array) -> Asked:
            gap, slope, way = (np.asarray(each, dtype=float) for each in places(q, p, t))
            paths = way * free[:, None] * self.scale
            off, by_q = (np.asarray(each, dtype=float) for each in self._wished[0](q, p, t))
            soft = np.concatenate([((q - begin) / q_size)[kept], (off.ravel() / size)[asked]])
            by_soft = np.vstack([(paths / q_size[:, None])[kept], (by_q @ paths / size[:, None])[asked]])
            hard = gap.ravel() / self._gaps
            return replace(Asked.alone(hard, slope @ paths / self._gaps[:, None]), soft=soft, by_soft=by_soft)

        def move(q: Array, step: Array) -> Array:
            way = np.asarray(places(q, p, t)[2], dtype=float)
            return self._unit(q + (way * free[:, None] * self.scale) @ step, free)  # steps on the tangent are longer

        found, _, left = nearest(look, move, q, self.u.numel())
        if left.gap < OPEN:
            return found
        worst = int(np.argmax(np.abs(left.hard)))
        closures = [c for c in self.form.closures if self.form._gap(c) is not None]
        gap = float(np.abs(left.hard * self._gaps).max())
        raise SolveError(
            f"the loop cannot be closed: a gap of {gap:.3g} is left at '{closures[worst].vertex}'",
            where=closures[worst].vertex,
            expected="start values from which the loop can close",
            remedy="Give start values of the joints nearer to a closed position, or check the lengths",
        )

    def _nearest(
        self, q: Array, u: Array, p: Array, t: float, free: NDArray[np.bool_], off: Array, slope: Array,
        held: Collection[str],
    ) -> Array:  # fmt: skip
        """The change of the free speeds that meets the closures, keeps given ones, and changes others least."""
        names = self.names[len(q) :]
        kept = np.array([name in self.form.structure.kept for name in names], dtype=bool)[free]
        found, by_u = (np.asarray(each, dtype=float) for each in self._wished[1](q, u, p, t))
        wished = [wish.name not in held for wish in self._wished[2][1] for _ in range(wish.value.numel())]
        asked, scale = np.array(wished, dtype=bool), self.scale[free]
        own = np.eye(int(free.sum()))[kept]
        soft = np.concatenate([np.zeros(len(own)), found.ravel()[asked]])
        by_soft = np.vstack([own, by_u[asked][:, free] * scale])
        every = replace(Asked.alone(off, slope[:, free] * scale), soft=soft, by_soft=by_soft)
        return nested(every, np.zeros(int(free.sum()))) * scale

    def _move(
        self, q: Array, u: Array, p: Array, t: float, free: NDArray[np.bool_], held: Collection[str] = ()
    ) -> Array:
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
        step[free] = self._nearest(q, u, p, t, free, off.ravel(), slope, held)
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
