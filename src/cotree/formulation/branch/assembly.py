"""A consistent start: positions that close every loop, then speeds that keep them closed.

Given start values are met as closely as possible, fixed ones exactly; what is not given moves as little as possible.
Everything is solved in the coordinates of the joint tree, and handed to other trees from there, so that every tree
starts from the same state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError, listing
from cotree.formulation.branch.kinematics import BODY_ANGLE
from cotree.formulation.branch.loops import circuit
from cotree.formulation.branch.mechanism import Mechanism
from cotree.formulation.branch.places import Flexible
from cotree.formulation.branch.topology import Link
from cotree.maths.rotation import advance, of_quaternion, vee
from cotree.maths.symbolic import column
from cotree.terminal.deformable import Deformable
from cotree.terminal.mechanics import ORIENTATION

Array = NDArray[np.float64]

CLOSED = 1e-12
"""Residual of a closed loop, in m and rad, times the size of the mechanism."""
ITERATIONS = 200
LONGEST = 0.5
"""Longest step of a coordinate in one iteration, in rad or parts of the mechanism's size."""


@dataclass(frozen=True)
class Wish:
    """A start value: what should vanish in position or velocity, and whether it must."""

    name: str
    value: ca.SX
    fixed: bool


@dataclass
class Assembly:
    """Solves for the start of a mechanism in the coordinates of its (joint) trees."""

    mechanism: Mechanism
    modes: ca.SX
    """Values of the modes as expressions of t and p, to be put in place of their symbols."""
    bending: bool = False
    """Whether elastic coordinates and speeds whose start is not given may differ from zero."""

    def state(self, p: Array, t: float, changes: Mapping[str, float] | None = None) -> tuple[Array, Array]:
        """q and u that satisfy all constraints at time t; bodies are deformed only where nothing else helps."""
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
        guess = np.asarray(self._guess(p, t), dtype=float).ravel()
        changes = self._between_bodies(changes or {}, guess)
        given = np.array([changes.get(name, np.nan) for name in self.names])
        own = given[: len(self.mechanism.kin.q_names)]
        q = np.where(np.isfinite(own), own, guess)
        q = self._positions(q, p, t, given)
        return q, self._speeds(q, p, t, given)

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

    # -- what is wished ------------------------------------------------------------------------------------------

    @cached_property
    def _wishes(self) -> tuple[list[Wish], list[Wish], dict[str, ca.SX]]:
        """Wishes for positions and for speeds beyond the tree's own coordinates, and first guesses of those."""
        kin, top = self.mechanism.kin, self.mechanism.top
        positions: list[Wish] = []
        speeds: list[Wish] = []
        guess: dict[str, ca.SX] = {}
        for j, flexible in top.flexible.items():
            self._elastic_wishes(j, flexible, positions, speeds, guess)
        for link in top.links.values():
            if link.of_body:
                self._body_wishes(link, positions, speeds, guess)
                continue
            v, own = link.values, kin.positions.get(link.name, {})
            for c in link.joint.coordinates:
                if c.name == ORIENTATION:
                    self._turn_wishes(link, positions, speeds, guess)
                    continue
                value, rate = getattr(v, c.name), getattr(v, f"{c.name}_rate")
                driven = any(d.chosen(link.joint) == c.name for d in link.drivers if not d.of_speed)
                if value is not None and not driven:
                    if c.name in own:
                        guess[f"{link.name}.{BODY_ANGLE if link.name in kin.aligned else c.name}"] = value
                    x = kin.coordinate(link, c.name)[0]
                    off = ca.SX(x - value)
                    if c.name not in own and c.group == "rotation":
                        guess[f"{link.name}.{c.name}"] = value
                    positions.append(Wish(f"{link.name}.{c.name}", off, c.name in link.joint.fixed))
                if rate is not None and not any(d.chosen(link.joint) == c.name for d in link.drivers):
                    off = ca.SX(kin.coordinate(link, c.name)[1] - rate)
                    speeds.append(Wish(f"{link.name}.{c.name}_rate", off, f"{c.name}_rate" in link.joint.fixed))
        return positions, speeds, guess

    def _elastic_wishes(
        self, j: int, flexible: Flexible, positions: list[Wish], speeds: list[Wish], guess: dict[str, ca.SX]
    ) -> None:
        """Elastic coordinates and speeds start where they are given, otherwise at zero."""
        body, floating = self.mechanism.top.bodies[j], flexible.floating
        assert isinstance(body, Deformable)
        for k, name in enumerate(floating.tables.names):
            value, rate = body.elastic_start(name)
            guess[f"{flexible.name}.{name}"] = ca.SX(value)
            held = [not self.bending or name in given for given in (body.elastic, body.elastic_rate)]
            positions.append(Wish(f"{flexible.name}.{name}", floating.q[k] - value, held[0]))
            speeds.append(Wish(f"{flexible.name}.{name}_rate", floating.u[k] - rate, held[1]))

    def _turn_wishes(self, link: Link, positions: list[Wish], speeds: list[Wish], guess: dict[str, ca.SX]) -> None:
        v, kin = link.values, self.mechanism.kin
        motion = kin.motion(link)
        if v.orientation is not None:
            wanted = ca.vertcat(*v.orientation)
            if ORIENTATION in kin.positions.get(link.name, {}):
                guess |= {f"{link.name}.{ORIENTATION}.e{k}": wanted[k] for k in range(4)}
            off = vee(ca.mtimes(of_quaternion(wanted).T, motion.C))
            positions.append(Wish(f"{link.name}.{ORIENTATION}", off, ORIENTATION in link.joint.fixed))
        if v.angular_velocity is not None:
            off = motion.omega_b - ca.vertcat(*v.angular_velocity)
            speeds.append(Wish(f"{link.name}.angular_velocity", off, "angular_velocity" in link.joint.fixed))

    def _body_wishes(self, link: Link, positions: list[Wish], speeds: list[Wish], guess: dict[str, ca.SX]) -> None:
        kin, top = self.mechanism.kin, self.mechanism.top
        body = top.bodies[link.j]
        v: Any = self.mechanism.values_of(body) if body is not None else None
        j, own = link.j, kin.positions.get(link.name, {})
        if getattr(v, "position", None) is not None:
            wanted = ca.SX(ca.vertcat(*v.position))
            guess |= {f"{link.name}.{x}": wanted[k] for k, x in enumerate("xyz") if x in own}
            positions.append(Wish(f"{link.name}.position", kin.p[j] - wanted, False))
        if getattr(v, "orientation", None) is not None:
            wanted = ca.SX(ca.vertcat(*v.orientation))
            if ORIENTATION in own:
                guess |= {f"{link.name}.{ORIENTATION}.e{k}": wanted[k] for k in range(4)}
            elif "angle" in own:
                guess[f"{link.name}.angle"] = 2 * ca.atan2(wanted[3], wanted[0])
            positions.append(Wish(f"{link.name}.orientation", vee(ca.mtimes(of_quaternion(wanted).T, kin.R[j])), False))
        if getattr(v, "velocity", None) is not None:
            off = ca.mtimes(kin.R[j], kin.v[j]) - ca.vertcat(*v.velocity)
            speeds.append(Wish(f"{link.name}.velocity", off, False))
        if getattr(v, "angular_velocity", None) is not None:
            off = kin.omega[j] - ca.vertcat(*v.angular_velocity)
            speeds.append(Wish(f"{link.name}.angular_velocity", off, False))

    # -- native functions ----------------------------------------------------------------------------------------

    def _function(self, name: str, inputs: list[ca.SX], outputs: list[ca.SX]) -> ca.Function:
        values = self.mechanism.top.values
        if values.modes:
            outputs = [ca.substitute(each, values.mode_symbols, self.modes) for each in outputs]
        return ca.Function(name, inputs, [ca.densify(each) for each in outputs])

    @cached_property
    def _guess(self) -> ca.Function:
        kin = self.mechanism.kin
        guess = self._wishes[2]
        plain = [guess.get(name, ca.SX(1.0 if name.endswith(f"{ORIENTATION}.e0") else 0.0)) for name in kin.q_names]
        return self._function("guess", [kin.top.values.p.symbols, kin.t], [column(plain)])

    @cached_property
    def _position_parts(self) -> ca.Function:
        """Residuals and Jacobians of hard and of soft equations between positions."""
        kin, mech = self.mechanism.kin, self.mechanism
        hard = [r.position for r in mech.rows if r.position is not None]
        positions = self._wishes[0]
        hard += [w.value for w in positions if w.fixed]
        soft = [w.value for w in positions if not w.fixed]
        parts = []
        for each in (column(hard), column(soft)):
            parts += [each, ca.jacobian(kin.rate(each), kin.u) if each.numel() else ca.SX(0, kin.u.numel())]
        return self._function("positions", [kin.q, kin.t, kin.top.values.p.symbols], parts)

    @cached_property
    def _speed_parts(self) -> ca.Function:
        """Residuals at u = 0 and Jacobians of hard and of soft equations between speeds."""
        kin, mech = self.mechanism.kin, self.mechanism
        speeds = self._wishes[1]
        hard = column([mech.velocity, *(w.value for w in speeds if w.fixed)])
        soft = column([w.value for w in speeds if not w.fixed])
        parts = []
        for each in (hard, soft):
            rest = ca.substitute(each, kin.u, ca.SX.zeros(kin.u.numel())) if kin.u.numel() and each.numel() else each
            parts += [rest, ca.jacobian(each, kin.u) if each.numel() else ca.SX(0, kin.u.numel())]
        return self._function("speeds", [kin.q, kin.t, kin.top.values.p.symbols], parts)

    @cached_property
    def advance(self) -> ca.Function:
        """q moved by a displacement in the space of speeds."""
        kin = self.mechanism.kin
        delta = ca.SX.sym("delta", kin.u.numel())
        held = ca.substitute(kin.q_dot, kin.u, delta) if kin.u.numel() else kin.q_dot
        rest = ca.substitute(kin.q_dot, kin.u, ca.SX.zeros(kin.u.numel())) if kin.u.numel() else kin.q_dot
        moved = advance(kin.q, delta, held - rest, kin.quaternions)
        return self._function("advance", [kin.q, delta, kin.t, kin.top.values.p.symbols], [moved])

    # -- solution ------------------------------------------------------------------------------------------------

    def _positions(self, q: Array, p: Array, t: float, given: Array) -> Array:
        free = self._free(given)
        begin, size = q, 1.0
        before = np.inf
        for _ in range(ITERATIONS):
            hard, by_hard, soft, by_soft = self._asked(self._position_parts(q, t, p), 0, given)
            if not (np.isfinite(hard).all() and np.isfinite(soft).all()):
                raise self._not_finite(hard, t)
            size = max(1.0, float(np.abs(q).max(initial=0.0)))
            worst = float(np.abs(hard).max(initial=0.0))
            step = np.zeros(len(free))
            step[free] = _least(by_hard[:, free], hard, by_soft[:, free], soft)
            longest = float(np.abs(step).max(initial=0.0))
            if worst < CLOSED * size and (longest < 1e-10 * size or (worst + longest >= before > 0 and longest < 1e-7)):
                break
            before = worst + longest
            if longest > LONGEST * size:
                step *= LONGEST * size / longest
            q = np.asarray(self.advance(q, step, t, p), dtype=float).ravel()
        for _ in range(3):  # the loops alone, to the last digit
            hard, by_hard, _, _ = self._asked(self._position_parts(q, t, p), 0, given)
            if np.abs(hard).max(initial=0.0) < 1e-15 * size:
                break
            step = np.zeros(len(free))
            step[free] = _least(by_hard[:, free], hard, np.zeros((0, int(free.sum()))), np.zeros(0))
            q = np.asarray(self.advance(q, step, t, p), dtype=float).ravel()
        hard = self._asked(self._position_parts(q, t, p), 0, given)[0]
        if not np.abs(hard).max(initial=0.0) < 1e-9 * size:
            q, hard = self._patiently(begin, p, t, given)
        if not np.abs(hard).max(initial=0.0) < 1e-9 * size:
            raise self._open(hard, t)
        return self._unit(q)

    def _patiently(self, q: Array, p: Array, t: float, given: Array) -> tuple[Array, Array]:
        """The position with the smallest gaps that short damped steps find (Levenberg and Marquardt), and the gaps."""
        free = self._free(given)
        damping = 1e-2
        hard, by_hard, _, _ = self._asked(self._position_parts(q, t, p), 0, given)
        for _ in range(ITERATIONS):
            matrix = by_hard[:, free].T @ by_hard[:, free]
            step = np.zeros(len(free))
            try:
                step[free] = -np.linalg.solve(matrix + damping * np.eye(len(matrix)), by_hard[:, free].T @ hard)
            except np.linalg.LinAlgError:  # lengths beyond all bounds
                break
            moved = np.asarray(self.advance(q, step, t, p), dtype=float).ravel()
            now, by_now, _, _ = self._asked(self._position_parts(moved, t, p), 0, given)
            if float(now @ now) < float(hard @ hard):
                done = float(hard @ hard) - float(now @ now) < 1e-14 * float(hard @ hard)
                q, hard, by_hard, damping = moved, now, by_now, max(damping / 5, 1e-14)
                if done:
                    break
            else:
                damping *= 10
                if damping > 1e8:
                    break
        return q, hard

    def closed(self, q: Array, p: Array, t: float) -> Array:
        """A position near q with all loops closed, as nearly as a few steps get."""
        for _ in range(5):
            hard, by_hard, _, _ = self._numbers(self._position_parts(q, t, p))
            if np.abs(hard).max(initial=0.0) < 1e-10:
                break
            step = _least(by_hard, hard, np.zeros((0, by_hard.shape[1])), np.zeros(0))
            q = np.asarray(self.advance(q, step, t, p), dtype=float).ravel()
        return q

    def _unit(self, q: Array) -> Array:
        for place, _ in self.mechanism.kin.quaternions:
            q[place : place + 4] /= np.linalg.norm(q[place : place + 4])
        return q

    def _free(self, given: Array) -> NDArray[np.bool_]:
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
        hard, by_hard, soft, by_soft = self._asked(self._speed_parts(q, t, p), 1, given)
        own = given[len(kin.q_names) :]
        known = np.flatnonzero(np.isfinite(own))
        hard = np.concatenate([hard, -own[known]])
        by_hard = np.vstack([by_hard, np.eye(len(own))[known]])
        u = _least(by_hard, hard, by_soft, soft)
        left = by_hard @ u + hard
        scale = max(1.0, float(np.abs(hard).max(initial=0.0)), float(np.abs(u).max(initial=0.0)))
        if not np.abs(left).max(initial=0.0) < 1e-9 * scale:
            owners = [*(f"{a} ({b})" for a, b in self.mechanism.labels), *(w.name for w in self._wishes[1] if w.fixed)]
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
        free = self._free(given)
        places = sum(self.mechanism.holonomic)
        for _ in range(ITERATIONS):
            hard, by_hard = (part[:places] for part in self._numbers(self._position_parts(q, t, p))[:2])
            if np.abs(hard).max(initial=0.0) < CLOSED:
                break
            step = np.zeros(len(free))
            step[free] = _least(by_hard[:, free], hard, np.zeros((0, int(free.sum()))), np.zeros(0))
            q = np.asarray(self.advance(q, step, t, p), dtype=float).ravel()
        else:
            raise self._open(hard, t)
        rows = self.mechanism.velocity.numel()
        hard, by_hard = (part[:rows] for part in self._numbers(self._speed_parts(q, t, p))[:2])
        known = np.flatnonzero(np.isfinite(given[len(q) :]))
        by_hard = np.vstack([by_hard, np.eye(len(kin.u_names))[known]])
        hard = np.concatenate([hard, -given[len(q) :][known]])
        return self._unit(q), u + _least(by_hard, hard + by_hard @ u, np.zeros((0, len(u))), np.zeros(0))

    def _asked(self, parts: Any, level: int, given: Array) -> tuple[Array, Array, Array, Array]:
        """Hard and soft equations without the wishes for values that are given by name."""
        hard, by_hard, soft, by_soft = self._numbers(parts)
        held = {name for name, value in zip(self.names, given, strict=True) if np.isfinite(value)}
        wishes = self._wishes[1] if level else self._wishes[0]
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
    def _numbers(parts: Any) -> tuple[Array, Array, Array, Array]:
        hard, by_hard, soft, by_soft = (np.asarray(each, dtype=float) for each in parts)
        return hard.ravel(), by_hard, soft.ravel(), by_soft

    def _owners(self) -> list[str]:
        rows = self.mechanism.rows
        owners = [r.owner for r in rows if r.position is not None for _ in range(len(r))]
        return owners + [w.name for w in self._wishes[0] if w.fixed for _ in range(w.value.numel())]

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


def _least(by_hard: Array, hard: Array, by_soft: Array, soft: Array) -> Array:
    """The smallest x with by_hard x + hard = 0 (as nearly as possible) that brings by_soft x + soft nearest to zero."""
    n = by_hard.shape[1] if by_hard.size or by_hard.shape[1] else by_soft.shape[1]
    if not n:
        return np.zeros(0)
    x = np.zeros(n)
    basis = np.eye(n)
    if len(hard):
        if not len(soft):
            return np.asarray(np.linalg.lstsq(by_hard, -hard, rcond=1e-10)[0])
        left, sizes, right = np.linalg.svd(by_hard, full_matrices=by_hard.shape[0] < n)
        rank = int((sizes > 1e-10 * max(float(sizes[0]) if len(sizes) else 0.0, 1e-300)).sum()) if len(sizes) else 0
        x = -right[:rank].T @ ((left[:, :rank].T @ hard) / sizes[:rank])
        basis = right[rank:].T
    if len(soft) and basis.shape[1]:
        inner = np.linalg.lstsq(by_soft @ basis, -(soft + by_soft @ x), rcond=1e-10)[0]
        x = x + basis @ inner
    return np.asarray(x)
