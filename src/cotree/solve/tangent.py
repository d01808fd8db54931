"""Small motions of a mechanism about a state: exact derivatives along its speeds, and the directions left free.

A displacement ``delta`` lives in the space of the speeds: q moves by N(q) delta, on the group where q is a rotation.
The free directions B span the null space of the constraints G; what they leave out is fixed by the loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError, listing, nearest
from cotree.formulation import SystemEquations
from cotree.maths.rotation import advance
from cotree.maths.symbolic import column, substitute
from cotree.model.quantity import Given, in_units

Array = NDArray[np.float64]

RANK = 1e-9
"""Singular values of the constraints below this part of the largest count as zero."""


@dataclass(frozen=True)
class Local:
    """What the equations of a mechanism are at one state."""

    balance: Array
    N: Array
    M: Array
    G: Array
    stiffness: Array
    """d(balance) along the displacements, at constant u' and lambda."""
    damping: Array
    """d(balance)/du."""
    position: Array
    turn: Array
    """d(velocity) along the displacements."""


@dataclass(frozen=True)
class Tangent:
    """Native functions of (t, q, u, u', lambda, p, m) for small motions."""

    equations: SystemEquations

    @classmethod
    def of(cls, equations: SystemEquations) -> Tangent:
        """The functions of these equations, kept with them."""
        if equations.mechanics is None:
            raise SolveError(
                f"'{equations.name}' is not a mechanism",
                expected="a model with bodies and joints",
                remedy="Use linearise for networks, and simulate with start='steady' for their operating point",
            )
        return equations.__dict__.setdefault("_tangent", cls(equations))  # type: ignore[no-any-return]

    @cached_property
    def arguments(self) -> list[ca.SX]:
        """t, q, u, u', lambda, p, m; after the modes m come the states x of networks and signals."""
        e = self.equations
        m = ca.vertcat(e.mode_symbols, e.x.symbols)
        return [e.t, e.q.symbols, e.u.symbols, e.u_dot, e.multipliers.symbols, e.p.symbols, m]

    @cached_property
    def directions(self) -> ca.SX:
        """N = d(q')/du."""
        e = self.equations
        return ca.jacobian(e.in_time(e.kinematics), e.u.symbols)

    def along(self, expression: ca.SX) -> ca.SX:
        """The derivative of an expression along the displacements."""
        return ca.mtimes(ca.jacobian(expression, self.equations.q.symbols), self.directions)

    @cached_property
    def _parts(self) -> ca.Function:
        e = self.equations
        assert e.mechanics is not None
        balance, velocity = e.in_time(e.mechanics.balance), e.in_time(e.mechanics.velocity)
        parts = [
            balance,
            self.directions,
            ca.jacobian(balance, e.u_dot),
            ca.jacobian(velocity, e.u.symbols),
            self.along(balance),
            ca.jacobian(balance, e.u.symbols),
            e.in_time(e.mechanics.position),
            self.along(velocity),
        ]
        return ca.Function("local", self.arguments, [ca.densify(part) for part in parts])

    def at(self, t: float, q: Array, u: Array, a: Array, multipliers: Array, p: Array, m: Array) -> Local:
        """All parts at one state."""
        found = self._parts(t, q, u, a, multipliers, p, m)
        balance, N, M, G, K, C, position, turn = (np.asarray(part, dtype=float).reshape(part.shape) for part in found)
        return Local(balance.ravel(), N, M, G, K, C, position.ravel(), turn)

    @cached_property
    def advanced(self) -> ca.Function:
        """(t, q, delta, p, m) -> q after a displacement."""
        e = self.equations
        assert e.mechanics is not None
        delta = ca.SX.sym("delta", len(e.u))
        along = ca.mtimes(self.directions, delta)
        moved = advance(e.q.symbols, delta, along, e.mechanics.quaternions)
        t, q, _, _, _, p, m = self.arguments
        return ca.Function("advance", [t, q, delta, p, m], [ca.densify(moved)])

    def moved(self, t: float, q: Array, delta: Array, p: Array, m: Array) -> Array:
        """q after a displacement."""
        return np.asarray(self.advanced(t, q, delta, p, m), dtype=float).ravel()

    @cached_property
    def resting_energy(self) -> ca.Function:
        """(t, q, p, m) -> the kinetic energy with all speeds zero: that of what drivers in the tree move."""
        e = self.equations
        assert e.mechanics is not None
        t, q, u, _, _, p, m = self.arguments
        return ca.Function("resting", [t, q, p, m], [substitute(e.in_time(e.mechanics.kinetic), u, 0)])

    @cached_property
    def frames(self) -> tuple[tuple[str, ...], ca.Function]:
        """Names of all frames, and the displacements of their origins for unit displacements of the mechanism."""
        e = self.equations
        names = [name.removesuffix(".position.x") for name in e.outputs if name.endswith(".position.x")]
        places = column([e.outputs[f"{name}.position.{x}"].expression for name in names for x in "xyz"])
        slope = ca.densify(self.along(e.in_time(places)))
        return tuple(names), ca.Function("frames", self.arguments, [slope])


@dataclass(frozen=True)
class Freedom:
    """The free directions B of constraints G, with G^+ for the others."""

    B: Array
    inverse: Array
    rank: int

    @classmethod
    def of(cls, G: Array) -> Freedom:
        """By singular values."""
        n = G.shape[1]
        if not G.size:
            return cls(np.eye(n), np.zeros((n, G.shape[0])), 0)
        left, sizes, right = np.linalg.svd(G)
        rank = int((sizes > RANK * sizes[0]).sum())
        inverse = right[:rank].T @ (left[:, :rank] / sizes[:rank]).T
        return cls(right[rank:].T, inverse, rank)


def independent(rows: Array) -> list[int]:
    """Numbers of as many rows as there are columns, that are well independent; the first of equals."""
    rest, chosen = np.array(rows, dtype=float), []
    for _ in range(rows.shape[1]):
        sizes = np.linalg.norm(rest, axis=1)
        best = int(np.flatnonzero(sizes > 0.5 * sizes.max())[0])
        chosen.append(best)
        along = rest[best] / sizes[best]
        rest = rest - np.outer(rest @ along, along)
        rest[best] = 0.0
    return sorted(chosen)


def coordinate_names(equations: SystemEquations) -> tuple[str, ...]:
    """For each speed, the name of the coordinate it moves."""
    return tuple(name.removesuffix("_rate") for name in equations.u.names)


def state_numbers(equations: SystemEquations, given: Given | Sequence[float] | str | None) -> Any:
    """A state as the user gave it, with texts that have a unit as numbers."""
    if not isinstance(given, Mapping):
        return given
    e = equations
    units = {name: output.unit for name, output in e.outputs.items()}  # those of angles that follow from states, too
    units |= dict(zip((*e.state_names, *e.held.names), (*e.state_units, *e.held.units), strict=True))
    return in_units(given, units)


def state_of(
    equations: SystemEquations, at: Mapping[str, float] | Sequence[float] | None, t: float, p: Array
) -> tuple[Array, Array]:
    """q and u at a time: the start, with coordinates and speeds changed by name, or a whole (q, u) as it is."""
    e = equations
    names, size = e.q.names + e.u.names, len(e.q)
    assert e.assemble is not None
    if at is not None and not isinstance(at, Mapping):
        x = np.asarray(at, dtype=float).ravel()
        if len(x) != len(names) or not np.isfinite(x).all():
            raise SolveError(f"a state of {len(x)} numbers", expected=f"{len(names)} finite ones: {listing(names)}")
        return x[:size], x[size:]
    for name in at or {}:
        if name not in names:
            raise SolveError(
                f"there is no state '{name}'", expected=f"one of {listing(names)}", remedy=nearest(str(name), names)
            )
    q, u = e.assemble(p, t, dict(at)) if at else e.assemble(p, t)
    for name, value in (at or {}).items():
        found = float(np.concatenate([q, u])[names.index(name)])
        if abs(found - value) > 1e-6 * max(1.0, abs(value)):
            raise SolveError(
                f"{name} is {found:g} in the assembled state, and {value:g} is asked for",
                remedy="Give the coordinates of the joints, or write the equations with the joint tree",
            )
    return q, u


def whole_state(
    equations: SystemEquations, at: Mapping[str, float] | Sequence[float] | None, t: float, p: Array
) -> tuple[Array, dict[str, float]]:
    """(q, u, x) of a machine at a time, and the held values that are given with it by name."""
    e, count = equations, len(equations.q) + len(equations.u)
    if at is not None and not isinstance(at, Mapping):
        every = np.asarray(at, dtype=float).ravel()
        if len(every) != len(e.state_names) or not np.isfinite(every).all():
            names = e.state_names
            raise SolveError(f"a state of {len(every)} numbers", expected=f"{len(names)} finite ones: {listing(names)}")
        return every, {}
    given = dict(at or {})
    held = {name: float(given.pop(name)) for name in list(given) if name in e.held.names}
    own = {name: float(given.pop(name)) for name in list(given) if name in e.x.names}
    for name in given:
        if name not in e.state_names:
            known = (*e.state_names, *e.held.names)
            raise SolveError(
                f"there is no state '{name}'", expected=f"one of {listing(known)}", remedy=nearest(str(name), known)
            )
    further = np.asarray(e.start(p, t) if e.start is not None else e.x.start, dtype=float)
    if e.mechanics is None:  # all states are among the u
        own, count, further_names = given, 0, e.u.names
        x = further
    else:
        further_names = e.x.names
        x = np.concatenate([*state_of(e, given or None, t, p), further])
    for name, value in own.items():
        x[count + further_names.index(name)] = value
    return x, held


def numbers(equations: SystemEquations, parameters: Mapping[str, float] | None, t: float) -> tuple[Array, Array]:
    """p and the modes at a time."""
    from cotree.solve.problem import Problem

    p = equations.parameter_values(parameters) if equations.parameter_values else equations.p.start
    return p, np.asarray(Problem.of(equations).mode_values(t, p), dtype=float).ravel()


def flat(value: Any) -> Array:
    """A CasADi column as an array."""
    return np.asarray(value, dtype=float).ravel()
