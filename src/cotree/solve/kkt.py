"""Accelerations and multipliers of a closed mechanism, and projection onto its constraints.

    M a - G^T lambda = -h        balance
    G a              = -gamma    second rate of the constraints

Small systems are solved by expressions (factors of M, then of G M^-1 G^T), large ones by a sparse native solver.
Projection moves a state by the least amount in the metric of M.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation import SystemEquations
from cotree.formulation.branch.articulated import ldl_solver
from cotree.maths.rotation import advance
from cotree.maths.symbolic import substitute

SMALL = 12
"""Speeds and multipliers up to which the linear system is solved by expressions."""
SPARSE = "csparse"
TINY, DAMPED = 1e-14, 1e-8
"""Damping of multipliers in accelerations and in projections, as parts of their own factor."""
SINGULAR = 1e-9
"""Ratio of the eigenvalues of M below which it counts as singular."""


class Closed:
    """Native functions of (t, q, u, p, m) for a mechanism with constraints."""

    def __init__(self, equations: SystemEquations) -> None:
        assert equations.mechanics is not None
        self.e, self.mechanics = equations, equations.mechanics
        self.n, self.k = len(equations.u), len(equations.multipliers)
        self.small = self.n + self.k <= SMALL

    @property
    def _known(self) -> list[ca.SX]:
        e = self.e
        return [e.t, e.q.symbols, e.u.symbols, e.p.symbols, e.mode_symbols]

    @cached_property
    def _parts(self) -> dict[str, ca.SX]:
        """M, h, G, gamma, and the constraints themselves, as expressions."""
        e, mech = self.e, self.mechanics
        unknown = ca.vertcat(e.u_dot, e.multipliers.symbols)
        rest = substitute(ca.vertcat(mech.balance, mech.acceleration), unknown, 0)
        return {
            "M": ca.jacobian(mech.balance, e.u_dot),
            "G": ca.jacobian(mech.velocity, e.u.symbols),
            "h": rest[: self.n],
            "gamma": rest[self.n :],
            "position": mech.position,
            "velocity": mech.velocity,
        }

    def _function(self, name: str, parts: list[str]) -> ca.Function:
        return ca.Function(name, self._known, [self._parts[part] for part in parts])

    def _symbols(self, kind: Any) -> list[Any]:
        return [kind.sym(name, *s.shape) for name, s in zip(("t", "q", "u", "p", "m"), self._known, strict=True)]

    def solver(self, M: Any, G: Any, damping: float = TINY) -> Callable[[Any, Any], tuple[Any, Any]]:
        """(a, lambda) for right-hand sides of balance and constraints: M a - G^T lambda = f, G a = g.

        ``damping`` keeps multipliers finite where G loses rank, as in a flat four-bar: there a projection with little
        damping would answer rounding with large steps.
        """
        if self.small:
            weight = self.weight
            inverse = ldl_solver(M + weight * ca.mtimes(G.T, G) if weight else M)
            if not self.k:
                return lambda f, g: (inverse(f), ca.SX(0, 1))
            across = inverse(ca.densify(G.T))
            small = ca.mtimes(G, across)
            schur = ldl_solver(small + damping * ca.diag(ca.diag(small)))

            def by_factors(f: Any, g: Any) -> tuple[Any, Any]:
                alone = inverse(f + weight * ca.mtimes(G.T, g) if weight else f)
                multipliers = schur(g - ca.mtimes(G, alone))
                return alone + ca.mtimes(across, multipliers), multipliers

            return by_factors
        softness = damping * self._softness * ca.MX.eye(self.k)
        matrix: Any = ca.vertcat(ca.horzcat(M, -G.T), ca.horzcat(G, softness))

        def by_sparse(f: Any, g: Any) -> tuple[Any, Any]:
            both = ca.solve(matrix, ca.vertcat(f, g), SPARSE)
            return both[: self.n], both[self.n :]

        return by_sparse

    def _kind(self) -> Any:
        return ca.SX if self.small else ca.MX

    @cached_property
    def _softness(self) -> float:
        """The size of G M^-1 G^T."""
        M, G = self._at_start
        return float(np.sum(G * G) / max(self.k, 1) * self.n / max(float(np.trace(M)), 1e-300))

    @cached_property
    def _at_start(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        e = self.e
        at = (0.0, e.q.start, e.u.start, e.p.start, ca.DM.zeros(*e.mode_symbols.shape))
        M, G = (np.asarray(ca.densify(part), dtype=float) for part in self._matrices(*at))
        return M, G

    @cached_property
    def weight(self) -> float:
        """Factor of G^T G that is added to M where M alone has no inverse, as with thin rods in absolute coordinates.

        Nothing changes as long as G a = g, but the sum has an inverse wherever the whole system has one.
        """
        M, G = self._at_start
        sizes = np.linalg.eigvalsh((M + M.T) / 2)
        if not self.k or sizes[0] > SINGULAR * sizes[-1]:
            return 0.0
        return float(np.trace(M) / max(np.sum(G * G), 1e-300))

    @cached_property
    def _matrices(self) -> ca.Function:
        return self._function("matrices", ["M", "G"])

    @cached_property
    def accelerations(self) -> ca.Function:
        """(t, q, u, p, m) -> (u', lambda)."""
        known = self._symbols(self._kind())
        M, G, h, gamma = self._function("parts", ["M", "G", "h", "gamma"])(*known)
        a, multipliers = self.solver(M, G)(-h, -gamma)
        return ca.Function("accelerations", known, [ca.densify(a), ca.densify(multipliers)])

    @cached_property
    def advance(self) -> ca.Function:
        """(t, q, delta, p, m) -> q moved by a displacement in the space of speeds."""
        e = self.e
        delta = ca.SX.sym("delta", self.n)
        still = substitute(e.kinematics, e.u.symbols, 0)
        along = substitute(e.kinematics, e.u.symbols, delta) - still
        moved = advance(e.q.symbols, delta, along, self.mechanics.quaternions)
        return ca.Function("advance", [e.t, e.q.symbols, delta, e.p.symbols, e.mode_symbols], [ca.densify(moved)])

    def projection(self, position_steps: int) -> ca.Function:
        """(t, q, u, p, m) -> (q, u) on the constraints, after some Newton steps for the position."""
        t, q, u, p, m = known = self._symbols(self._kind())
        if self.k:
            rows = self.mechanics.position.numel()
            place = ca.Function("place", [*self._known[:2], *self._known[3:]], [self._parts["position"]])
            for _ in range(position_steps if rows else 0):
                M, G = self._matrices(t, q, u, p, m)
                off = place(t, q, p, m)
                if rows < self.k:
                    off = ca.vertcat(off, type(off)(self.k - rows, 1))
                step, _ = self.solver(M, G, DAMPED)(ca.densify(type(off)(self.n, 1)), -ca.densify(off))
                q = self.advance(t, q, step, p, m)
            M, G = self._matrices(t, q, u, p, m)
            off = self._function("velocity", ["velocity"])(t, q, u, p, m)
            step, _ = self.solver(M, G, DAMPED)(ca.densify(type(off)(self.n, 1)), -ca.densify(off))
            u = u + step
        for place_of, _ in self.mechanics.quaternions:
            turn = q[place_of : place_of + 4]
            q = ca.vertcat(q[:place_of], turn / ca.norm_2(turn), q[place_of + 4 :])
        return ca.Function("projection", known, [ca.densify(q), ca.densify(u)])

    def settled(self, position_steps: int) -> ca.Function:
        """(t, x, p, m) -> the state on the constraints, and (u', lambda) there."""
        kind = self._kind()
        t, q, u, p, m = self._symbols(kind)
        x = ca.vertcat(q, u)
        q_on, u_on = self.projection(position_steps)(t, q, u, p, m)
        a, multipliers = self.accelerations(t, q_on, u_on, p, m)
        inner = ca.Function("inner", [t, q, u, p, m], [ca.vertcat(q_on, u_on), ca.vertcat(a, multipliers)])
        x = kind.sym("x", len(self.e.q) + self.n)
        return ca.Function("settled", [t, x, p, m], inner(t, x[: len(self.e.q)], x[len(self.e.q) :], p, m))
