"""Static equilibrium: positions in which all forces balance at rest, and whether they are stable.

The mechanism is let creep downhill, M q' = force, by implicit steps that grow until they are Newton's (pseudo-transient
continuation; Kelley and Keyes 1998). Newton's rule with halved steps finds equilibria that would tip over, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import SolveError
from cotree.formulation import SystemEquations
from cotree.maths.viewed import Table, Viewed
from cotree.model.helpful import helpful
from cotree.model.quantity import Given, Time, seconds
from cotree.results.components import completions, matching
from cotree.solve.held import Held
from cotree.solve.locks import check_open
from cotree.solve.problem import Problem
from cotree.solve.spins import without_massless
from cotree.solve.steady import Flow, rest
from cotree.solve.tangent import (
    Freedom,
    Local,
    Tangent,
    coordinate_names,
    flat,
    numbers,
    state_numbers,
    state_of,
    whole_state,
)
from cotree.system import Diagnostic, notes_of

Array = NDArray[np.float64]

NEWTON_STEPS = 60
CREEP_STEPS = 2_000
BALANCED = 1e-10
"""Force left, as a part of the forces that act; and gap left, as a part of the size of the mechanism."""
FAR = 100.0
"""Sizes of the mechanism after which it counts as falling without end."""
LONGEST = 0.3
"""Longest step, in rad or parts of the mechanism's size."""
NEUTRAL = 1e-9
"""Stiffness, as a part of the largest, that counts as none."""
SLUGGISH = 1e-3
"""Inertia, as a part of the largest, that every motion has at least where a search with their own has failed."""


@dataclass(frozen=True)
class Equilibrium(Viewed):
    """A position of rest: ``eq["O.angle"]`` and all other results by name, reactions included."""

    model: str
    t: float
    state: Mapping[str, float]
    """Coordinates and speeds by name; `simulate(start=...)` takes it."""
    values: Mapping[str, float]
    units: Mapping[str, str]
    stability: str
    """``stable``, ``neutral`` or ``unstable``: by the smallest stiffness of the free motions."""
    stiffness: Array
    """Eigenvalues of the free motions' stiffness over their inertia, in 1/s^2, smallest first."""
    residual: float
    """The largest generalised force left; of a machine the largest rate of a state."""
    iterations: int
    poles: NDArray[np.complex128] | None = None
    """Of a machine the poles about this state, by which its stability is judged; ``stiffness`` is empty then."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What the equations have to say, such as rotations that were left out."""

    def __repr__(self) -> str:
        return f"<Equilibrium of '{self.model}' at t = {self.t:g} s: {self.stability}, {len(self.values)} results>"

    def _view(self) -> Table | str:
        names = [name for name in self.state if name in self.units]
        rows = ((name, float(self.state[name]), self.units[name]) for name in names)
        return Table(("coordinate", "value", "unit"), rows, len(names))

    @property
    def notes(self) -> tuple[str, ...]:
        """The texts of the diagnostics."""
        return notes_of(self.diagnostics)

    @property
    def stable(self) -> bool:
        """Whether every small motion is driven back."""
        return self.stability == "stable"

    def __getitem__(self, name: str) -> Any:
        if name in self.values:
            return self.values[name]
        return np.array([self.values[part] for part in matching(name, self.values)])

    def _ipython_key_completions_(self) -> list[str]:
        return completions(self.values)

    def unit(self, name: str) -> str:
        """The SI unit of a result."""
        return self.units[matching(name, self.values)[0]]


@helpful
def static_equilibrium(
    equations: SystemEquations,
    *,
    at: Given | Sequence[float] | None = None,
    t: Time = 0.0,
    parameters: Mapping[str, float] | None = None,
    seek: str = "stable",
) -> Equilibrium:
    """A position of rest of equations; the options are those of `Model.static_equilibrium`."""
    t, begin = seconds(t, "t"), state_numbers(equations, at)
    if seek not in ("nearest", "stable"):
        raise SolveError(f"seek = {seek!r}", expected="'nearest' or 'stable'")
    p, m = numbers(equations, parameters, t)
    if equations.domains and (equations.mechanics is not None or len(equations.held)):
        return _judged(equations, _operating(equations, begin, t, p, seek))
    equations = without_massless(equations, t, p, m)
    tangent = Tangent.of(equations)
    q, _ = state_of(equations, begin, t, p)
    search = _Search(tangent, t, p, m)
    if float(tangent.resting_energy(t, q, p, m)) > 0:
        raise SolveError(
            f"at t = {t:g} s a driver moves, so that nothing can be at rest",
            expected="drivers that stand still",
            remedy="Choose another t, or give the driver a constant course",
        )
    if len(equations.u):
        found = search.nearest(q) if seek == "nearest" else search.stable(q)
        q = search.downhill(q, push=seek == "stable") if found is None else found
    check_open(equations, q, t, p, "the equilibrium", touching=True)
    return _judged(equations, _result(search, q))


def _operating(e: SystemEquations, at: Any, t: float, p: Array, seek: str) -> Equilibrium:
    """The operating point of a machine."""
    begin, given = whole_state(e, at, t, p)
    held = Held(e, given)
    flow = Flow(e, t, p, held.acted(t, begin, p, held.start(t, p)), held)
    x, iterations = rest(flow, begin, stable=seek == "stable")
    poles = flow.poles(x)[0].astype(np.complex128)
    rows = flat(flow.problem.outputs(t, x, flow.w(x), p, flow.m))[1:]
    floor = NEUTRAL * max(float(np.abs(poles).max(initial=0.0)), 1.0)
    grows, idle = (poles.real > floor).any(), (np.abs(poles) <= floor).any()
    return Equilibrium(
        model=e.name,
        t=t,
        state=dict(zip(e.state_names, x.tolist(), strict=True)),
        values=dict(zip(e.outputs, rows.tolist(), strict=True)),
        units={name: output.unit for name, output in e.outputs.items()},
        stability="unstable" if grows else "neutral" if idle else "stable",
        stiffness=np.zeros(0),
        residual=float(np.abs(flow.at(x)[0]).max(initial=0.0)),
        iterations=iterations,
        poles=poles,
        diagnostics=e.diagnostics,
    )


class _Search:
    """The static equations at a time: f(q) - G^T lambda = 0 and Phi(q) = 0."""

    def __init__(self, tangent: Tangent, t: float, p: Array, m: Array) -> None:
        self.tangent, self.t, self.p, self.m = tangent, t, p, m
        e = tangent.equations
        self.n, self.k = len(e.u), len(e.multipliers)
        self.still = np.zeros(self.n)
        self.iterations = 0
        self.scale = 0.0
        self.least = 0.0
        """Least inertia in a creep, as a part of the largest."""

    def local(self, q: Array, multipliers: Array | None = None) -> tuple[Local, Freedom, Array]:
        """Derivatives at q with the multipliers that hold the forces best."""
        if multipliers is None:
            bare = self.tangent.at(self.t, q, self.still, self.still, np.zeros(self.k), self.p, self.m)
            free = Freedom.of(bare.G)
            multipliers = free.inverse.T @ bare.balance
            acting = (np.abs(part).max(initial=0.0) for part in (bare.balance, bare.stiffness))
            self.scale = max(self.scale, *(float(each) for each in acting))
            if not self.k:
                return bare, free, multipliers
        here = self.tangent.at(self.t, q, self.still, self.still, multipliers, self.p, self.m)
        return here, Freedom.of(here.G), multipliers

    @property
    def elastic(self) -> bool:
        """Whether there are flexible bodies."""
        mechanics = self.tangent.equations.mechanics
        return mechanics is not None and bool(mechanics.elastic)

    def nearest(self, q: Array) -> Array | None:
        """An equilibrium near q, stable or not, or None."""
        found = self.newton(q)
        return self.plain(q) if found is None and self.elastic else found

    def stable(self, q: Array) -> Array | None:
        """Newton's equilibrium of flexible bodies where it is stable: among stiffnesses so unlike, creep stalls."""
        found = self.nearest(q) if self.elastic else None
        if found is None:
            return None
        here, free, _ = self.local(found)
        return None if len(self._tipping(here, free)) else found

    def moved(self, q: Array, step: Array, size: float) -> Array:
        """q after a step that is not too long."""
        longest = float(np.abs(step).max(initial=0.0))
        if longest > LONGEST * size:
            step = step * (LONGEST * size / longest)
        return self.tangent.moved(self.t, q, step, self.p, self.m)

    def error(self, here: Local, free: Freedom, size: float) -> float:
        """Unbalanced force over the forces that act or would at 1 m and 1 rad, and gaps over the size."""
        force = float(np.linalg.norm(free.B.T @ here.balance)) / max(self.scale, 1e-300)
        return force + float(np.abs(here.position).max(initial=0.0)) / size

    def step(self, here: Local, free: Freedom, extra: float) -> Array:
        """The step of (extra M + K) that closes the gaps and balances the forces."""
        gap = np.concatenate([here.position, np.zeros(self.k - len(here.position))])
        close = -free.inverse @ gap
        B = free.B
        matrix = B.T @ here.stiffness @ B + extra * self._inertia(here, free)
        force = B.T @ (here.balance + here.stiffness @ close)
        return np.asarray(close - B @ np.linalg.lstsq(matrix, force, rcond=1e-12)[0])

    def newton(self, q: Array) -> Array | None:
        """The equilibrium near q by Newton's rule with halved steps, or None."""
        size = max(1.0, float(np.abs(q).max(initial=0.0)))
        here, free, _ = self.local(q)
        error = self.error(here, free, size)
        for _ in range(NEWTON_STEPS):
            self.iterations += 1
            if error < BALANCED:
                return self.polished(q, here, free)
            step, shrink = self.step(here, free, 0.0), 1.0
            while shrink > 1e-4:
                trial = self.moved(q, shrink * step, size)
                here, free, _ = self.local(trial)
                new = self.error(here, free, size)
                if new < (1 - 1e-4 * shrink) * error:
                    break
                shrink /= 2
            else:
                return None
            q, error = trial, new
        return None

    def plain(self, q: Array) -> Array | None:
        """The same with whole steps, even if forces grow: what bends is stretched at first, and mended by the next."""
        size = max(1.0, float(np.abs(q).max(initial=0.0)))
        for _ in range(NEWTON_STEPS):
            self.iterations += 1
            here, free, _ = self.local(q)
            if self.error(here, free, size) < BALANCED:
                return self.polished(q, here, free)
            q = self.moved(q, self.step(here, free, 0.0), size)
            if not np.isfinite(q).all() or np.abs(q).max(initial=0.0) > FAR * size:
                return None
        return None

    def polished(self, q: Array, here: Local, free: Freedom) -> Array:
        """One more step, to the last digit."""
        step = self.step(here, free, 0.0)
        return self.tangent.moved(self.t, q, step, self.p, self.m) if np.abs(step).max(initial=0.0) < 1e-3 else q

    def downhill(self, q: Array, *, push: bool) -> Array:
        """The equilibrium below q; where inertias are very unlike and the creep goes astray, they are made more alike.

        Such is a thin rod on a universal joint whose first axis is the rod's: about this axis it has no inertia, but
        once it swings about the second one, the first moves it.
        """
        try:
            return self.creep(q, push=push)
        except SolveError as failure:
            here, free, _ = self.local(q)
            sizes = np.linalg.eigvalsh(self._inertia(here, free))
            if not len(sizes) or sizes[0] >= SLUGGISH * sizes[-1]:
                raise
            self.least = SLUGGISH
            try:
                return self.creep(q, push=push)
            except SolveError:
                raise failure from None

    def creep(self, q: Array, *, push: bool) -> Array:
        """The equilibrium that the mechanism reaches when it creeps downhill."""
        size = max(1.0, float(np.abs(q).max(initial=0.0)))
        here, free, _ = self.local(q)
        rate = self._rate(here, free)
        error = first = self.error(here, free, size)
        for _ in range(CREEP_STEPS):
            self.iterations += 1
            if error < BALANCED:
                if not push or not (tipping := self._tipping(here, free)).size:
                    return self.polished(q, here, free)
                q = self.moved(q, 1e-3 * size * tipping, size)
            else:
                q = self.moved(q, self.step(here, free, rate), size)
            here, free, _ = self.local(q)
            if np.abs(q).max() > FAR * size or not np.isfinite(q).all():
                raise self._falls(q)
            before, error = error, self.error(here, free, size)
            steep = self._rate(here, free)
            # Steps grow as the forces fade (switched evolution relaxation), and go down from hills.
            rate = np.clip(rate * np.clip(error / max(before, 1e-300), 0.25, 4.0), 1e-12 * steep, 4 * steep)
            rate = max(float(rate), self._hill(here, free))
        raise self._falls(q) if error > 1e-3 * first else self._unsettled(here, free)

    def _rate(self, here: Local, free: Freedom) -> float:
        """A rate of creep that is quick for the stiffness at hand."""
        inertia = max(float(np.abs(self._inertia(here, free)).max(initial=0.0)), 1e-300)
        pull = float(np.abs(free.B.T @ here.balance).max(initial=0.0))
        return max(pull / inertia, float(np.abs(free.B.T @ here.stiffness @ free.B).max(initial=0.0)) / inertia, 1e-9)

    def _hill(self, here: Local, free: Freedom) -> float:
        """What the rate must be above where a stiffness is negative, so that steps still go downhill."""
        stiffness = free.B.T @ here.stiffness @ free.B
        least = float(_eigen(stiffness, self._inertia(here, free))[0].min(initial=0.0))
        return -2.0 * least if least < 0 else 0.0

    def _inertia(self, here: Local, free: Freedom) -> Array:
        """The inertia of the free motions, raised to the least one of a creep."""
        M = free.B.T @ here.M @ free.B
        if not self.least or not len(M):
            return np.asarray(M)
        sizes, turn = np.linalg.eigh((M + M.T) / 2)
        return np.asarray(turn @ np.diag(np.maximum(sizes, self.least * sizes[-1])) @ turn.T)

    def _tipping(self, here: Local, free: Freedom) -> Array:
        """The direction in which an equilibrium tips over; empty for one that does not."""
        values, shapes = _natural(here, free)
        if not len(values) or values[0] >= -NEUTRAL * np.abs(values).max():
            return np.zeros(0)
        shape = free.B @ shapes[:, 0]
        return np.asarray(shape / np.abs(shape).max())

    def _falls(self, q: Array) -> SolveError:
        e = self.tangent.equations
        here, free, _ = self.local(np.where(np.isfinite(q), q, 0.0))
        inertia = free.B.T @ here.M @ free.B
        a = np.abs(free.B @ np.linalg.lstsq(inertia, free.B.T @ here.balance, rcond=1e-12)[0])
        name = coordinate_names(e)[int(np.argmax(a))]
        return SolveError(
            f"there is no static equilibrium: nothing holds {name}, which is driven away without end",
            expected="forces that can balance",
            remedy=f"Hold {name} by a joint, a spring or a driver, or begin nearer to the equilibrium with at={{...}}",
        )

    def _unsettled(self, here: Local, free: Freedom) -> SolveError:
        name = coordinate_names(self.tangent.equations)[int(np.argmax(np.abs(free.B @ (free.B.T @ here.balance))))]
        return SolveError(
            f"no static equilibrium was found: the force along {name} does not settle",
            remedy="Begin nearer to the equilibrium with at={...}",
        )


def _natural(here: Local, free: Freedom) -> tuple[Array, Array]:
    """Eigenvalues of stiffness over inertia in the free directions, smallest first, and their vectors."""
    B = free.B
    return _eigen(B.T @ here.stiffness @ B, B.T @ here.M @ B)


def _eigen(K: Array, M: Array) -> tuple[Array, Array]:
    if not len(K):
        return np.zeros(0), np.zeros((0, 0))
    sizes, turn = np.linalg.eigh((M + M.T) / 2)
    scale = turn / np.sqrt(np.maximum(sizes, 1e-14 * sizes[-1] if sizes[-1] > 0 else 1.0))
    values, shapes = np.linalg.eigh(scale.T @ ((K + K.T) / 2) @ scale)
    return values, scale @ shapes


def squares(here: Local, free: Freedom) -> Array:
    """Squares of the natural frequencies in (rad/s)^2, smallest first: negative ones tip over."""
    return _natural(here, free)[0]


def _judged(equations: SystemEquations, found: Equilibrium) -> Equilibrium:
    """The same with what there is to say of the range of its theory."""
    if equations.judged is None:
        return found
    return replace(found, diagnostics=found.diagnostics + equations.judged(found.t, found.values))


def _result(search: _Search, q: Array) -> Equilibrium:
    e = search.tangent.equations
    problem = Problem.of(e)
    here, free, multipliers = search.local(q)
    values = squares(here, free)
    x = np.concatenate([q, np.zeros(len(e.u))])
    w = np.concatenate([np.zeros(len(e.u)), multipliers]) if len(e.w) else np.zeros(0)
    rows = flat(problem.outputs(search.t, x, w, search.p, search.m))[1:]
    floor = NEUTRAL * max(float(np.abs(values).max(initial=0.0)), 1e-3)
    least = float(values.min(initial=np.inf))
    return Equilibrium(
        model=e.name,
        t=search.t,
        state=dict(zip(e.q.names + e.u.names, x.tolist(), strict=True)),
        values=dict(zip(e.outputs, rows.tolist(), strict=True)),
        units={name: output.unit for name, output in e.outputs.items()},
        stability="stable" if least > floor else "neutral" if least >= -floor else "unstable",
        stiffness=values,
        residual=float(np.abs(free.B.T @ here.balance).max(initial=0.0)),
        iterations=search.iterations,
        diagnostics=tuple(each for each in e.diagnostics if each.code != "no-inertia"),  # which statics do not need
    )
