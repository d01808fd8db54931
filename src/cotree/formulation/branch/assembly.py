"""A consistent start: positions that close every loop, then speeds that keep them closed.

Given start values are met as closely as possible, fixed ones exactly; what is not given moves as little as possible, in
the metric of `closing`. A body that is given a position is where it is given with its orientation, too, given or not.
Everything is solved in the coordinates of the joint tree, and handed to other trees from there, so that every tree
starts from the same state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError, listing
from cotree.formulation.branch.closing import OPEN, Asked, closed, finely, nearest, nested
from cotree.formulation.branch.kinematics import BODY_ANGLE
from cotree.formulation.branch.loops import circuit
from cotree.formulation.branch.mechanism import Mechanism
from cotree.formulation.branch.wishes import Wishes
from cotree.maths.lookup import slopes
from cotree.maths.rotation import advance
from cotree.maths.symbolic import column
from cotree.terminal.joints import Free, Planar, Slide
from cotree.terminal.mechanics import ORIENTATION, XYZ

Array = NDArray[np.float64]

AT_REST = 1e-12
"""Speed, in rad/s or lengths of the mechanism in a second, that is rounding."""

POSES = (Free, Slide, Planar)
"""Joints whose coordinates are a pose."""


@dataclass
class Assembly:
    """Solves for the start of a mechanism in the coordinates of its (joint) trees."""

    mechanism: Mechanism
    modes: ca.SX
    """Values of the modes as expressions of t and p, to be put in place of their symbols."""
    bending: bool = False
    """Whether elastic coordinates and speeds whose start is not given may differ from zero."""
    _last: tuple[Any, tuple[Array, Array]] | None = field(default=None, init=False, repr=False)
    """The last start that was asked for, which is often asked for again."""

    def state(self, p: Array, t: float, changes: Mapping[str, float] | None = None) -> tuple[Array, Array]:
        """q and u that satisfy all constraints at time t; bodies are deformed only where nothing else helps."""
        key = p.tobytes(), t, tuple((changes or {}).items())
        if self._last is None or self._last[0] != key:
            self._last = key, self._found(p, t, changes)
        q, u = self._last[1]
        return q.copy(), u.copy()

    def _found(self, p: Array, t: float, changes: Mapping[str, float] | None) -> tuple[Array, Array]:
        if self.bending or not self.mechanism.top.flexible:
            return self._state(p, t, changes)
        try:
            return self._state(p, t, changes)
        except SolveError as reason:
            try:
                return replace(self, bending=True)._state(p, t, changes)
            except SolveError:
                raise reason from None

    def _state(self, p: Array, t: float, changes: Mapping[str, float] | None) -> tuple[Array, Array]:
        begin, given = self.begin(p, t, changes)
        q = self._positions(begin, p, t, given)
        return q, self._speeds(q, p, t, given)

    def begin(self, p: Array, t: float, changes: Mapping[str, float] | None = None) -> tuple[Array, Array]:
        """Where the search for positions begins, and the values of coordinates and speeds that are given by name."""
        guess = np.asarray(self._guess(p, t), dtype=float).ravel()
        changes = self._between_bodies(changes or {}, guess)
        given = np.array([changes.get(name, np.nan) for name in self.names])
        own = given[: len(self.mechanism.kin.q_names)]
        return np.where(np.isfinite(own), own, guess), given

    @cached_property
    def aliases(self) -> dict[str, tuple[str, ca.SX]]:
        """Angles and rates of joints on deformed bodies: the coordinate or speed for each, and what it is more."""
        result = {}
        for name, (more, faster) in self.mechanism.kin.aligned.items():
            result[f"{name}.angle"] = (f"{name}.{BODY_ANGLE}", more)
            result[f"{name}.angle_rate"] = (f"{name}.{BODY_ANGLE}_rate", faster)
        return {name: found for name, found in result.items() if found[0] in self.names}

    def _between_bodies(self, changes: Mapping[str, float], guess: Array) -> dict[str, float]:
        """Given values, with those of joints on deformed bodies as angles between the undeformed frames."""
        kin, result = self.mechanism.kin, dict(changes)
        for name in [name for name in self.aliases if name in changes]:
            own, more = self.aliases[name]
            q = [changes.get(n, g) for n, g in zip(kin.q_names, guess, strict=True)]
            u = [changes.get(n, 0.0) for n in kin.u_names]
            shift = ca.Function("shift", [kin.q, kin.u], [more])
            result[own] = result.pop(name) + float(shift(q, u))
        return result

    @property
    def names(self) -> tuple[str, ...]:
        """Coordinates and speeds, whose start values may be given by name."""
        return (*self.mechanism.kin.q_names, *self.mechanism.kin.u_names)

    @cached_property
    def wishes(self) -> Wishes:
        """What is wished for positions and speeds."""
        return Wishes(self.mechanism, self.bending)

    # -- native functions ----------------------------------------------------------------------------------------

    def function(self, name: str, inputs: list[ca.SX], outputs: list[ca.SX]) -> ca.Function:
        values = self.mechanism.top.values
        if values.modes:
            outputs = [ca.substitute(each, values.mode_symbols, self.modes) for each in outputs]
        return ca.Function(name, inputs, [ca.densify(each) for each in outputs])

    @cached_property
    def _guess(self) -> ca.Function:
        kin = self.mechanism.kin
        guess = self.wishes.guess
        plain = [guess.get(name, ca.SX(1.0 if name.endswith(f"{ORIENTATION}.e0") else 0.0)) for name in kin.q_names]
        return self.function("guess", [kin.top.values.p.symbols, kin.t], [column(plain)])

    @cached_property
    def position_parts(self) -> ca.Function:
        """Residuals and Jacobians of hard and of soft equations between positions."""
        kin, mech = self.mechanism.kin, self.mechanism
        hard = [r.position for r in mech.rows if r.position is not None]
        positions = self.wishes.positions
        hard += [w.value for w in positions if w.fixed]
        soft = [w.value for w in positions if not w.fixed]
        parts = []
        for each in (column(hard), column(soft)):
            parts += [each, slopes(kin.rate(each), kin.u) if each.numel() else ca.SX(0, kin.u.numel())]
        return self.function("positions", [kin.q, kin.t, kin.top.values.p.symbols], parts)

    @cached_property
    def speed_parts(self) -> ca.Function:
        """Residuals at u = 0 and Jacobians of hard and of soft equations between speeds."""
        kin, mech = self.mechanism.kin, self.mechanism
        speeds = self.wishes.speeds
        hard = column([mech.velocity, *(w.value for w in speeds if w.fixed)])
        soft = column([w.value for w in speeds if not w.fixed])
        parts = []
        for each in (hard, soft):
            rest = ca.substitute(each, kin.u, ca.SX.zeros(kin.u.numel())) if kin.u.numel() and each.numel() else each
            parts += [rest, slopes(each, kin.u) if each.numel() else ca.SX(0, kin.u.numel())]
        return self.function("speeds", [kin.q, kin.t, kin.top.values.p.symbols], parts)

    @cached_property
    def advance(self) -> ca.Function:
        """q moved by a displacement in the space of speeds."""
        kin = self.mechanism.kin
        delta = ca.SX.sym("delta", kin.u.numel())
        held = ca.substitute(kin.q_dot, kin.u, delta) if kin.u.numel() else kin.q_dot
        rest = ca.substitute(kin.q_dot, kin.u, ca.SX.zeros(kin.u.numel())) if kin.u.numel() else kin.q_dot
        moved = advance(kin.q, delta, held - rest, kin.quaternions)
        return self.function("advance", [kin.q, delta, kin.t, kin.top.values.p.symbols], [moved])

    # -- the metric ------------------------------------------------------------------------------------------------

    @cached_property
    def length(self) -> float:
        """A length of the mechanism: the extent of all its frames where the start values put them."""
        kin, values = self.mechanism.kin, self.mechanism.top.values
        places = [kin.p[each.body] + ca.mtimes(kin.R[each.body], each.position) for each in kin.top.places.values()]
        function = self.function("extent", [kin.q, kin.t, values.p.symbols], [ca.horzcat(*places)])
        p = values.p.start
        found = np.asarray(function(np.asarray(self._guess(p, 0.0), dtype=float).ravel(), 0.0, p), dtype=float)
        extent = float(np.linalg.norm(np.ptp(found, axis=1))) if np.isfinite(found).all() else 0.0
        lengths = [abs(value) for value, unit in zip(p.tolist(), values.p.units, strict=True) if unit == "m"]
        return extent or max(lengths, default=0.0) or 1.0

    @cached_property
    def scale(self) -> Array:
        """Displacements for a unit step: 1 rad, or the length of the mechanism."""
        units = self.mechanism.kin.u_units
        return np.array([self.length if unit.startswith("m") else 1.0 for unit in units])

    @cached_property
    def placed(self) -> NDArray[np.bool_]:
        """Coordinates of a pose whose place is given and that are not given themselves: they stay, too."""
        kin, top = self.mechanism.kin, self.mechanism.top
        named = {wish.name for wish in self.wishes.positions}

        def stays(owner: str, coordinate: str) -> bool:
            link = top.links.get(owner)
            if link is None or not (link.of_body or isinstance(link.joint, POSES)):
                return False
            place = {f"{owner}.position", *(f"{owner}.{x}" for x in XYZ)}
            own = {f"{owner}.{coordinate}", f"{owner}.{'position' if coordinate in XYZ else ORIENTATION}"}
            return bool(place & named) and not own & named

        return np.array([stays(*each) for each in kin.owners], dtype=bool)

    @cached_property
    def sizes(self) -> list[tuple[Array, Array]]:
        """Sizes of the hard and of the soft equations, between positions and between speeds: 1, or the length."""
        rows = self.mechanism.rows
        long = [each for r in rows if r.position is not None for each in r.lengths], self.mechanism.lengths
        result = []
        for own, wishes in zip(long, (self.wishes.positions, self.wishes.speeds), strict=True):
            hard, soft = (
                [w.length for w in wishes if w.fixed == must for _ in range(w.value.numel())] for must in (1, 0)
            )
            result.append((np.where(own + hard, self.length, 1.0), np.where(soft, self.length, 1.0)))
        return result

    @cached_property
    def loose(self) -> NDArray[np.bool_]:
        """Coordinates of bodies that float and whose place is not given."""
        kin, top = self.mechanism.kin, self.mechanism.top
        named = {wish.name for wish in self.wishes.positions}

        def loose(owner: str, coordinate: str) -> bool:
            link = top.links.get(owner)
            own = f"{owner}.{ORIENTATION if coordinate not in XYZ else 'position'}"
            return link is not None and link.of_body and f"{owner}.position" not in named and own not in named

        return np.array([loose(*each) for each in kin.owners], dtype=bool)

    @cached_property
    def rest_parts(self) -> ca.Function | None:
        """What vanishes where elements are at rest, by coordinates of bodies that nothing else places."""
        if not self.loose.any():
            return None
        kin, top = self.mechanism.kin, self.mechanism.top
        rows = []
        for part in top.elements:
            motion = kin.relative(top.place(part.ends[0], part.name), top.place(part.ends[1], part.name))
            rows.append(part.rest(top.values.of(part), motion))
        rest = column(rows)
        if not rest.numel():
            return None
        parts = [rest, slopes(kin.rate(rest), kin.u)]
        return self.function("rest", [kin.q, kin.t, top.values.p.symbols], parts)

    def _rest(self, q: Array, t: float, p: Array) -> tuple[Array, Array]:
        """The same at a position, in the metric."""
        if self.rest_parts is None:
            return np.zeros(0), np.zeros((0, len(self.scale)))
        rest, by_rest = (np.asarray(each, dtype=float) for each in self.rest_parts(q, t, p))
        return rest.ravel(), by_rest * self.scale * self.loose

    # -- solution ------------------------------------------------------------------------------------------------

    def _look(self, p: Array, t: float, given: Array) -> tuple[Any, Any, NDArray[np.bool_]]:
        """What is asked at a position, how a step is made, and which displacements are free."""
        free = self.free(given)
        placed = np.flatnonzero(self.placed[free])
        stay = np.eye(int(free.sum()))[placed]

        def look(q: Array, moved: Array) -> Asked:
            hard, by_hard, soft, by_soft = self._asked(self.position_parts(q, t, p), 0, given)
            by_hard, by_soft = (each[:, free] * self.scale[free] for each in (by_hard, by_soft))
            rest, by_rest = self._rest(q, t, p)
            soft, by_soft = np.concatenate([soft, moved[placed]]), np.vstack([by_soft, stay])
            return Asked(hard, by_hard, soft, by_soft, rest, by_rest[:, free])

        def move(q: Array, step: Array) -> Array:
            whole = np.zeros(len(free))
            whole[free] = step * self.scale[free]
            return np.asarray(self.advance(q, whole, t, p), dtype=float).ravel()

        return look, move, free

    def _positions(self, q: Array, p: Array, t: float, given: Array) -> Array:
        """The nearest closed position."""
        look, move, free = self._look(p, t, given)
        n = int(free.sum())
        first = look(q, np.zeros(n))
        if not (np.isfinite(first.hard).all() and np.isfinite(first.soft).all()):
            raise self._not_finite(first.hard, t)
        found, _, left = nearest(look, move, q, n)
        if not left.gap < OPEN:
            raise self._open(self.numbers(self.position_parts(found, t, p))[0], t)
        return self._unit(found)

    def closed(self, q: Array, p: Array, t: float) -> Array:
        """A position near q with all loops closed, as nearly as a few steps get."""
        look, move, free = self._look(p, t, np.full(len(self.names), np.nan))
        return finely(look, move, q, np.zeros(int(free.sum())))[0]

    def _unit(self, q: Array) -> Array:
        for place, _ in self.mechanism.kin.quaternions:
            q[place : place + 4] /= np.linalg.norm(q[place : place + 4])
        return q

    def free(self, given: Array) -> NDArray[np.bool_]:
        """Speeds whose coordinates are not given by name."""
        kin = self.mechanism.kin
        free = np.ones(len(kin.u_names), dtype=bool)
        held = {name for name, value in zip(self.names, given, strict=True) if np.isfinite(value)}
        for k, (owner, coordinate) in enumerate(kin.owners):
            if f"{owner}.{coordinate}" in held or f"{owner}.{coordinate}.e0" in held:
                free[k] = False
        return free

    def _speeds(self, q: Array, p: Array, t: float, given: Array) -> Array:
        kin = self.mechanism.kin
        hard, by_hard, soft, by_soft = self._asked(self.speed_parts(q, t, p), 1, given)
        own = given[len(kin.q_names) :]
        known = np.flatnonzero(np.isfinite(own))
        hard = np.concatenate([hard, -own[known] / self.scale[known]])
        by_hard = np.vstack([by_hard, (np.eye(len(own)) / self.scale)[known]])
        by_hard, by_soft = by_hard * self.scale, by_soft * self.scale
        scaled = nested(replace(Asked.alone(hard, by_hard), soft=soft, by_soft=by_soft), np.zeros(len(own)))
        left, u = by_hard @ scaled + hard, scaled * self.scale
        size = max(float(np.abs(hard).max(initial=0.0)), float(np.abs(scaled).max(initial=0.0)))
        if not np.abs(left).max(initial=0.0) <= max(OPEN * size, AT_REST):
            owners = [
                *(f"{a} ({b})" for a, b in self.mechanism.labels),
                *(w.name for w in self.wishes.speeds if w.fixed),
            ]
            owners += [kin.u_names[k] for k in known]
            names = listing([owners[k] for k in np.argsort(-np.abs(left))[:3]])
            raise SolveError(
                f"no speeds at t = {t:g} s satisfy all constraints and fixed start values; the worst are {names}",
                expected="fixed speeds that agree with the joints and drivers",
                remedy="Leave some of them out of fixed, so that they may change",
            )
        return u

    def nearest(self, q: Array, u: Array, p: Array, t: float, changes: Mapping[str, float]) -> tuple[Array, Array]:
        """The state next to one that is given, with coordinates and speeds changed by name and kept."""
        kin = self.mechanism.kin
        given = np.array([changes.get(name, np.nan) for name in self.names])
        own = given[: len(q)]
        q = np.where(np.isfinite(own), own, q)
        free = self.free(given)
        places, hard_size = sum(self.mechanism.holonomic), self.sizes[0][0]

        def look(q: Array, moved: Array) -> Asked:
            hard, by_hard = (part[:places] for part in self.numbers(self.position_parts(q, t, p))[:2])
            size = hard_size[:places]
            by_hard = by_hard[:, free] * self.scale[free] / size[:, None]
            return Asked.alone(hard / size, by_hard)

        def move(q: Array, step: Array) -> Array:
            whole = np.zeros(len(free))
            whole[free] = step * self.scale[free]
            return np.asarray(self.advance(q, whole, t, p), dtype=float).ravel()

        q, _, left = closed(look, move, q, np.zeros(int(free.sum())))
        if not left.gap < OPEN:
            raise self._open(self.numbers(self.position_parts(q, t, p))[0], t)
        rows = self.mechanism.velocity.numel()
        hard, by_hard = (part[:rows] for part in self.numbers(self.speed_parts(q, t, p))[:2])
        known = np.flatnonzero(np.isfinite(given[len(q) :]))
        by_hard = np.vstack([by_hard, np.eye(len(kin.u_names))[known]]) * self.scale
        hard = np.concatenate([hard, -given[len(q) :][known]])
        asked = Asked.alone(hard + by_hard @ (u / self.scale), by_hard)
        return self._unit(q), u + nested(asked, np.zeros(len(u))) * self.scale

    def _asked(self, parts: Any, level: int, given: Array) -> tuple[Array, Array, Array, Array]:
        """Hard and soft equations in the metric, without the wishes for values that are given by name."""
        hard, by_hard, soft, by_soft = self.numbers(parts)
        for off, slope, size in zip((hard, soft), (by_hard, by_soft), self.sizes[level], strict=True):
            off /= size
            slope /= size[:, None]
        held = {name for name, value in zip(self.names, given, strict=True) if np.isfinite(value)}
        wishes = self.wishes.speeds if level else self.wishes.positions
        for fixed in (True, False):
            names = [w.name for w in wishes if w.fixed == fixed for _ in range(w.value.numel())]
            drop = np.array([name in held for name in names], dtype=bool)
            if not drop.any():
                continue
            if fixed:
                keep = np.concatenate([np.ones(len(hard) - len(drop), dtype=bool), ~drop])
                hard, by_hard = hard[keep], by_hard[keep]
            else:
                soft, by_soft = soft[~drop], by_soft[~drop]
        return hard, by_hard, soft, by_soft

    @staticmethod
    def numbers(parts: Any) -> tuple[Array, Array, Array, Array]:
        hard, by_hard, soft, by_soft = (np.array(each, dtype=float) for each in parts)
        return hard.ravel(), by_hard, soft.ravel(), by_soft

    def _owners(self) -> list[str]:
        rows = self.mechanism.rows
        owners = [r.owner for r in rows if r.position is not None for _ in range(len(r))]
        return owners + [w.name for w in self.wishes.positions if w.fixed for _ in range(w.value.numel())]

    def _open(self, hard: Array, t: float) -> SolveError:
        owners = self._owners()
        worst = owners[int(np.argmax(np.abs(hard)))]
        gap = float(np.linalg.norm([h for h, owner in zip(hard, owners, strict=False) if owner == worst]))
        loop = circuit(self.mechanism, worst)
        through = f", the loop through {listing(loop, 12)}" if loop else ""
        return SolveError(
            f"the mechanism cannot be assembled at t = {t:g} s: '{worst}'{through} stays open by {gap:.4g}",
            expected="lengths and start values with which every loop closes",
            remedy="Check the lengths and frames in this loop, give start values nearer to the assembled position, "
            "or free some of the fixed ones",
        )

    def _not_finite(self, hard: Array, t: float) -> SolveError:
        owners = self._owners()
        bad = [owner for h, owner in zip(hard, owners, strict=False) if not np.isfinite(h)]
        return SolveError(
            f"the position is not a number at t = {t:g} s: see {listing(bad) or 'the start values'}",
            remedy="Check the expressions there",
        )
