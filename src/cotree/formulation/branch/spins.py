"""Spins that nothing else feels: of a body about an axis without inertia, or about the line through all of its joints.

A rod without a radius has no inertia about its own axis. Where the joints leave this rotation free, no equation gives
its acceleration. Such motions are the common null space of the constraints and of the velocities that carry mass, and
they are found there: in all free motions together, whatever the joints are, and whatever the unit of length is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation.branch.assembly import Assembly
from cotree.formulation.branch.mechanism import Mechanism
from cotree.formulation.system import SystemEquations, Variables
from cotree.maths.lookup import slopes
from cotree.maths.symbolic import column, elements
from cotree.system import Diagnostic, diagnose
from cotree.terminal.mechanics import ORIENTATION

Array = NDArray[np.float64]

THIN = 1e-12
"""Moment of inertia, as a part of the largest of the body, that counts as none."""
BESIDE = 0.05
"""How far away, in rad or parts of the mechanism's length, a second position is looked at."""
NOTHING = 1e-9
"""Size of a motion, over the motion that causes it, that counts as none."""


@dataclass(frozen=True)
class Spin:
    """A rotation of a body about an axis of its own, given in its frame."""

    body: str
    axis: tuple[float, float, float]

    @property
    def about(self) -> str:
        """The axis in words: x, y or z of the body, or its direction."""
        for name, k in (("x", 0), ("y", 1), ("z", 2)):
            if abs(self.axis[k]) > 1 - 1e-9:
                return name
        return "({:.4g}, {:.4g}, {:.4g})".format(*(each + 0.0 for each in self.axis))

    def like(self, other: Spin) -> bool:
        """Whether both are one."""
        return self.body == other.body and abs(float(np.dot(self.axis, other.axis))) > 1 - NOTHING

    def said(self, code: str) -> Diagnostic:
        """A diagnostic about it."""
        return diagnose(code, self.body, axis=self.about)


class Spins:
    """Finds spins of a mechanism, and writes its equations without them."""

    def __init__(self, own: Mechanism, modes: ca.SX) -> None:
        self.own, self.modes = own, modes

    @cached_property
    def _known(self) -> list[ca.SX]:
        kin, values = self.own.kin, self.own.top.values
        return [kin.q, kin.t, values.p.symbols, values.mode_symbols]

    def lasting(self, e: SystemEquations, q: Array, p: Array, t: float, m: Array) -> SystemEquations:
        """The equations without spins that lack inertia wherever the mechanism is, and on which no element acts."""
        return self._without_lasting(e, self._unmoved, q, p, t, m)

    def driven(self, e: SystemEquations, q: Array, p: Array, t: float, m: Array) -> SystemEquations:
        """The equations without idle spins; the same where there are none."""
        return self._without_lasting(e, self.idle, q, p, t, m)

    def _without_lasting(
        self, e: SystemEquations, find: Callable[..., tuple[Spin, ...]], q: Array, p: Array, t: float, m: Array
    ) -> SystemEquations:
        here = find(q, p, t, m)
        if not here:
            return e
        there = find(self._beside(q, p, t, m), p, t, m)
        spins = tuple(each for each in here if any(each.like(other) for other in there))
        return self.without(e, spins) if spins else e

    def _beside(self, q: Array, p: Array, t: float, m: Array) -> Array:
        """A closed position beside a given one."""
        assembly, kin = Assembly(self.own, self.modes), self.own.kin
        step = BESIDE * np.random.default_rng(0).normal(size=kin.u.numel())
        function = ca.Function("held", self._known, [ca.densify(slopes(self.own.velocity, kin.u))])
        held = _called(function, q, t, p, m)[0].reshape(-1, len(step)) * assembly.scale
        step -= np.linalg.pinv(held, rcond=NOTHING) @ (held @ step)
        moved = np.asarray(assembly.advance(q, step * assembly.scale, t, p), dtype=float).ravel()
        return assembly.closed(moved, p, t)

    def _unmoved(self, q: Array, p: Array, t: float, m: Array) -> tuple[Spin, ...]:
        """Free spins about axes without inertia on which no element acts."""
        acting = [
            a for each in self.own.acting for a, f in zip(*map(elements, each.link), strict=True) if not f.is_zero()
        ]
        return self.massless(q, p, t, m, acting)

    def massless(self, q: Array, p: Array, t: float, m: Array, beyond: Sequence[ca.SX] = ()) -> tuple[Spin, ...]:
        """Free spins about axes without inertia; with ``beyond`` only those that do not change these rates."""
        thin = self._thin(q, p, t, m)
        if not thin:
            return ()
        kin = self.own.kin
        moving: list[ca.SX] = []
        turning = [*beyond, *(load.link[0] for load in self.own.loads)]  # networks may add inertia there
        for j, body in enumerate(self.own.top.bodies):
            if body is None:
                continue
            solid = self._solid(j)
            centre = ca.SX.zeros(3) if solid is None else solid[1]
            moving.append(kin.v[j] + ca.cross(kin.omega[j], centre))
            if body.turns:
                turning.append(ca.mtimes(ca.DM(_across(thin.get(j)).T), kin.omega[j]))
            turning.append(kin.elastic_speeds(j))
        return self._named(self._null(q, p, t, m, moving, turning), q, p, t, m)

    def idle(self, q: Array, p: Array, t: float, m: Array) -> tuple[Spin, ...]:
        """Free spins that move no frame and no scalar coordinate of a joint."""
        kin, top = self.own.kin, self.own.top
        moving: list[ca.SX] = []
        turning: list[ca.SX] = []
        for place in top.places.values():
            if place.body:
                moving.append(kin.v[place.body] + ca.cross(kin.omega[place.body], place.position) + place.rate)
        for j, body in enumerate(top.bodies):
            if body is not None and (solid := self._solid(j)) is not None:
                moving.append(kin.v[j] + ca.cross(kin.omega[j], solid[1]))
            turning.append(kin.elastic_speeds(j))
        for link in top.links.values():
            if not link.of_body and top.oriented(link):
                names = [c.name for c in link.joint.coordinates if c.name != ORIENTATION and len(c.names) == 1]
                turning += [kin.coordinate(link, name)[1] for name in names]
        return self._named(self._null(q, p, t, m, moving, turning), q, p, t, m)

    def without(self, e: SystemEquations, spins: Sequence[Spin]) -> SystemEquations:
        """The equations with some spins kept at rest."""
        assert e.mechanics is not None
        kin, names = self.own.kin, [body and body.name for body in self.own.top.bodies]
        places = [names.index(each.body) for each in spins]
        rows = column([ca.dot(ca.DM(each.axis), kin.omega[j]) for j, each in zip(places, spins, strict=True)])
        solids = [self._solid(j) for j in places]
        # What does not turn may have any inertia, so that the mass matrix has an inverse.
        inertia = column([ca.SX(1) if solid is None else ca.trace(solid[2]) for solid in solids])
        labels = [f"lambda {each.body} (spin)" for each in spins]
        extra = Variables.make(labels, ["" for _ in labels])
        both = Variables(
            ca.vertcat(e.multipliers.symbols, extra.symbols),
            (*e.multipliers.names, *extra.names),
            (*e.multipliers.units, *extra.units),
            np.concatenate([e.multipliers.start, extra.start]),
        )
        mech = replace(
            e.mechanics,
            balance=e.mechanics.balance
            + ca.densify(ca.jtimes(rows, kin.u, inertia * kin.rate(rows) - extra.symbols, True)),
            velocity=ca.vertcat(e.mechanics.velocity, rows),
            acceleration=ca.vertcat(e.mechanics.acceleration, kin.rate(rows)),
        )
        rates = tuple(f"d({name})/dt" for name in kin.u_names)
        units = tuple(f"{unit}/s" for unit in kin.u_units)
        symbols = ca.vertcat(kin.u_dot, both.symbols)
        w = Variables(symbols, (*rates, *both.names), (*units, *both.units), np.zeros(symbols.numel()))
        return replace(
            e,
            multipliers=both,
            mechanics=mech,
            w=w,
            algebraic=ca.vertcat(mech.balance, mech.acceleration),
            rates=kin.u_dot,
            spins=None,
            diagnostics=(
                *(each for each in e.diagnostics if each.code != "no-inertia"),
                *(each.said("spin-left-out") for each in spins),
            ),
        )

    def _solid(self, j: int) -> tuple[ca.SX, ca.SX, ca.SX] | None:
        """Mass, centre and central inertia of a rigid body."""
        body = self.own.top.bodies[j]
        if body is None or not body.turns or j in self.own.top.flexible:
            return None
        return body.spatial_inertia(self.own.values_of(body))

    @cached_property
    def _inertias(self) -> tuple[ca.Function, list[int]]:
        """The central inertias of the rigid bodies, and which bodies these are."""
        solids = {j: each for j in range(len(self.own.top.bodies)) if (each := self._solid(j)) is not None}
        stacked = [ca.densify(ca.SX(each[2])) for each in solids.values()]
        function = ca.Function("inertias", self._known, stacked, {"allow_free": True})
        return function, list(solids)

    def _thin(self, q: Array, p: Array, t: float, m: Array) -> dict[int, Array]:
        """Axes without inertia of each body that has some, in its frame."""
        function, bodies = self._inertias
        if not bodies or function.get_free():  # points only, or masses that follow speeds
            return {}
        found = {}
        for j, matrix in zip(bodies, _called(function, q, t, p, m), strict=True):
            sizes, axes = np.linalg.eigh((matrix + matrix.T) / 2)
            none = sizes <= THIN * max(float(sizes[-1]), 0.0)
            if none.any():
                found[j] = axes[:, none]
        return found

    def _null(self, q: Array, p: Array, t: float, m: Array, moving: Sequence[ca.SX], turning: Sequence[ca.SX]) -> Array:
        """Directions of the speeds that the constraints leave free and that change none of these velocities."""
        kin = self.own.kin
        parts = [self.own.velocity, column(moving), column(turning)]
        found = [ca.densify(slopes(part, kin.u)) for part in parts]
        function = ca.Function("slopes", self._known, found, {"allow_free": True})
        if function.get_free() or not kin.u.numel():
            return np.zeros((kin.u.numel(), 0))
        held, moves, turns = (each.reshape(-1, kin.u.numel()) for each in _called(function, q, t, p, m))
        length = self._length(q, p, t, m)
        scale = np.array([length if unit == "m/s" else 1.0 for unit in kin.u_units])
        rows = np.vstack([held * scale, moves * scale / length, turns * scale])
        sizes = np.linalg.norm(rows, axis=1)
        sizes[len(held) :] = 1.0
        rows = rows[sizes > 0] / sizes[sizes > 0][:, None]
        _, values, right = np.linalg.svd(rows)
        return np.asarray(scale[:, None] * right[int((values > NOTHING).sum()) :].T)

    def _length(self, q: Array, p: Array, t: float, m: Array) -> float:
        """The largest distance of a frame from its body's origin, or from another body."""
        kin, top = self.own.kin, self.own.top
        places = [ca.vertcat(place.position, kin.p[place.body]) for place in top.places.values()]
        function = ca.Function("places", self._known, [ca.densify(ca.horzcat(*places))], {"allow_free": True})
        if function.get_free():
            return 1.0
        return float(np.abs(_called(function, q, t, p, m)[0]).max(initial=0.0)) or 1.0

    def _named(self, free: Array, q: Array, p: Array, t: float, m: Array) -> tuple[Spin, ...]:
        """The bodies that turn in these directions, and their axes."""
        if not free.shape[1]:
            return ()
        kin, found = self.own.kin, list[Spin]()
        bodies = [j for j, body in enumerate(self.own.top.bodies) if body is not None and body.turns]
        turns = [ca.densify(slopes(kin.omega[j], kin.u)) for j in bodies]
        for j, slope in zip(bodies, _called(ca.Function("turns", self._known, turns), q, t, p, m), strict=True):
            left, sizes, _ = np.linalg.svd(slope @ free)
            for axis, size in zip(left.T, sizes, strict=False):
                if size > NOTHING:
                    axis = axis * np.sign(axis[int(np.argmax(np.abs(axis)))])
                    body = self.own.top.bodies[j]
                    found.append(Spin(body.name, tuple(axis.tolist())))  # type: ignore[union-attr]
        return tuple(found)


def _called(function: ca.Function, q: Array, t: float, p: Array, m: Array) -> list[Array]:
    found: Any = function(q, t, p, m[: function.size1_in(3)])  # in a machine those of networks come after these
    many = found if isinstance(found, (tuple, list)) else (found,)
    return [np.asarray(each, dtype=float).reshape(each.shape) for each in many]


def _across(axes: Array | None) -> Array:
    """Directions across some axes."""
    if axes is None:
        return np.eye(3)
    return np.asarray(np.linalg.svd(axes)[0][:, axes.shape[1] :])
