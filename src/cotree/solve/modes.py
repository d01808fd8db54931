"""Natural modes of a mechanism: frequencies, damping and shapes of small motions about a state.

    M a'' + C a' + K a = 0        with a the free motions, delta = B a

K holds the exact derivatives of the balance, those of the constraint forces included. About a state that is not at
rest the eigenvalues of the linearised first-order equations are taken as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import ResultError, listing, nearest
from cotree.formulation import SystemEquations
from cotree.maths.viewed import Table, Viewed
from cotree.model.helpful import helpful
from cotree.model.quantity import Given, Time, seconds
from cotree.solve.judged import judged_at, judged_shapes
from cotree.solve.linear import linearise, mechanism_point
from cotree.solve.problem import Problem
from cotree.solve.spins import check_inertia, without_massless
from cotree.solve.steady import Flow
from cotree.solve.tangent import Freedom, Local, Tangent, numbers, state_numbers
from cotree.system import Diagnostic, notes_of

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

REST = 1e-9
"""Acceleration, over 1 and the largest force over the largest inertia, below which a state is an equilibrium."""
RIGID = 1e-12
"""Square of a natural frequency, over the largest or 1 (rad/s)^2, that counts as zero."""
UNDAMPED = 1e-13
"""Damping and asymmetry, as parts of the largest stiffness and inertia, that count as rounding."""


@dataclass(frozen=True)
class Modes(Viewed):
    """Natural modes, slowest first; pairs of complex eigenvalues are one mode."""

    eigenvalues: Complex
    """In 1/s; of a pair the one with positive imaginary part."""
    coordinates: tuple[str, ...]
    shapes: Complex
    """One column for each mode, one row for each coordinate; the largest entry is 1."""
    frames: Mapping[str, Complex]
    """Displacement of each frame's origin: one column for each mode, rows x, y, z in m."""
    point: Mapping[str, float]
    main: tuple[str, ...] = ()
    """The coordinate or state that takes part most in each mode, whatever the units are; empty for mechanisms alone."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What the equations have to say, such as rotations that were left out."""

    def __repr__(self) -> str:
        shown = ", ".join(f"{each:.4g}" for each in self.frequencies[:5])
        more = ", ..." if len(self) > 5 else ""
        return f"<Modes: {len(self)}, {'stable' if self.stable else 'unstable'}; {shown}{more} Hz>"

    def _view(self) -> Table | str:
        rows = zip(range(1, len(self) + 1), self.frequencies.tolist(), self.damping.tolist(), self.most, strict=True)
        return Table(("mode", "frequency in Hz", "damping ratio", "moves most"), rows, len(self))

    @property
    def notes(self) -> tuple[str, ...]:
        """The texts of the diagnostics."""
        return notes_of(self.diagnostics)

    @property
    def most(self) -> list[str]:
        """What moves most in each mode."""
        found = [self.coordinates[k] for k in np.argmax(np.abs(self.shapes), axis=0)] if len(self) else []
        return list(self.main) or found

    @property
    def frequencies(self) -> Array:
        """Natural frequencies in Hz: the absolute value of the eigenvalues over 2 pi. Zero for rigid-body motions."""
        return np.asarray(np.abs(self.eigenvalues) / (2 * np.pi))

    @property
    def damping(self) -> Array:
        """Damping ratios; 1 and above for what creeps back, negative for what grows."""
        size = np.abs(self.eigenvalues)
        return np.asarray(np.where(size > 0, -self.eigenvalues.real / np.where(size > 0, size, 1.0), 0.0) + 0.0)

    @property
    def stable(self) -> bool:
        """Whether no mode grows."""
        return bool((self.eigenvalues.real <= 1e-9 * np.abs(self.eigenvalues).max(initial=1.0)).all())

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def shape(self, mode: int) -> dict[str, complex]:
        """The shape of one mode by coordinate."""
        return dict(zip(self.coordinates, self.shapes[:, mode].tolist(), strict=True))

    def frame(self, name: str) -> Complex:
        """Displacements of a frame's origin in all modes."""
        if name not in self.frames:
            raise ResultError(
                f"there is no frame '{name}'",
                expected=f"one of {listing(self.frames)}",
                remedy=nearest(str(name), self.frames),
            )
        return self.frames[name]

    def __str__(self) -> str:
        rows = [
            f"{k + 1:>4}  {f:14.6e}  {z:12.4e}  {name}"
            for k, (f, z, name) in enumerate(zip(self.frequencies, self.damping, self.most, strict=True))
        ]
        return "\n".join([f"{'mode':>4}  {'frequency [Hz]':>14}  {'damping':>12}  moves most", *rows])


@helpful
def modes(
    equations: SystemEquations,
    *,
    about: Given | Sequence[float] | str = "equilibrium",
    t: Time = 0.0,
    parameters: Mapping[str, float] | None = None,
) -> Modes:
    """Natural modes of equations; the options are those of `Model.modes`."""
    t, state = seconds(t, "t"), state_numbers(equations, about)
    e = without_massless(equations, t, *numbers(equations, parameters, t))
    tangent = Tangent.of(e)
    x, p, m = mechanism_point(e, state, t, parameters)
    check_inertia(e, t, x, p, m)
    if e.domains:
        return _machine(e, tangent, x, t, p, m)
    w = Problem.of(e).w_of(t, x, np.zeros(0), p, m).ravel()
    q, u = x[: len(e.q)], x[len(e.q) :]
    a, multipliers = (w[: len(u)], w[len(u) :]) if len(e.w) else (_accelerations(e, t, x, p, m), np.zeros(0))
    here = tangent.at(t, q, u, a, multipliers, p, m)
    rests = _at_rest(here, u, a)
    if rests:
        values, motions = _second_order(here, Freedom.of(here.G))
        shapes = here.N @ motions
    else:
        values, shapes = _first_order(e, x, t, parameters)
        motions = np.linalg.pinv(here.N) @ shapes
    largest = shapes[np.argmax(np.abs(shapes), axis=0), np.arange(shapes.shape[1])] if shapes.size else np.ones(0)
    names, displaced = tangent.frames
    slope = np.asarray(displaced(t, q, u, a, multipliers, p, m), dtype=float).reshape(-1, len(u))
    moves = (slope @ (motions / largest)).reshape(len(names), 3, motions.shape[1])
    point = dict(zip(e.state_names, x.tolist(), strict=True))
    frames = {name: moves[k] for k, name in enumerate(names)}
    shapes = (shapes / largest).astype(np.complex128)
    said = tuple(each for each in e.diagnostics if each.code != "no-inertia")  # at the start, and checked here
    found = Modes(values, e.q.names, shapes, frames, point, diagnostics=said)
    told = judged_shapes(e, t, x, p, m, shapes, found.frequencies) if rests else judged_at(e, t, x, p, m)
    return replace(found, diagnostics=said + told)


def _machine(e: SystemEquations, tangent: Tangent, x: Array, t: float, p: Array, m: Array) -> Modes:
    """Modes of first-order equations with networks and blocks in them."""
    flow, count, n = Flow(e, t, p, m), len(e.q), len(e.q) + len(e.u)
    places, Z = flow.free(x)
    values, vectors = np.linalg.eig(flow.at(x)[1][places] @ Z)
    part = np.abs(vectors * np.linalg.pinv(vectors).T)
    own = np.array([e.state_names[k].removesuffix("_rate") if k < n else e.state_names[k] for k in places])
    order = np.flatnonzero(values.imag >= 0)
    order = order[np.lexsort((values[order].real, np.abs(values[order])))]
    main = tuple(str(own[k]) for k in part[:, order].argmax(axis=0)) if len(order) else ()
    values, shapes = values[order].astype(np.complex128), Z @ vectors[:, order]
    values[np.abs(values) <= RIGID * max(1.0, float(np.abs(values).max(initial=0.0)))] = 0.0
    shapes = np.vstack([shapes[:count], shapes[n:]])
    largest = shapes[np.argmax(np.abs(shapes), axis=0), np.arange(shapes.shape[1])] if shapes.size else np.ones(0)
    shapes = (shapes / np.where(largest == 0, 1.0, largest)).astype(np.complex128)
    w = flow.w(x)
    a, multipliers = (w[: n - count], w[n - count :]) if len(w) else (np.zeros(n - count), np.zeros(0))
    modes = np.concatenate([m, x[n:]])
    q, u = x[:count], x[count:n]
    N = tangent.at(t, q, u, a, multipliers, p, modes).N
    names, displaced = tangent.frames
    slope = np.asarray(displaced(t, q, u, a, multipliers, p, modes), dtype=float).reshape(-1, n - count)
    moves = (slope @ np.linalg.pinv(N) @ shapes[:count]).reshape(len(names), 3, shapes.shape[1])
    point = dict(zip(e.state_names, x.tolist(), strict=True))
    frames = {name: moves[k] for k, name in enumerate(names)}
    return Modes(values, (*e.q.names, *e.x.names), shapes, frames, point, main, judged_at(e, t, x, p, m))


def _accelerations(e: SystemEquations, t: float, x: Array, p: Array, m: Array) -> Array:
    rates = np.asarray(Problem.of(e).rates(t, x, np.zeros(0), p, m), dtype=float).ravel()
    return rates[len(e.q) :]


def _at_rest(here: Local, u: Array, a: Array) -> bool:
    weight = float(np.abs(here.stiffness).max(initial=0.0)) / max(float(np.abs(here.M).max(initial=0.0)), 1e-300)
    return bool(np.abs(a).max(initial=0.0) <= REST * max(1.0, weight) and np.abs(u).max(initial=0.0) <= REST)


def _second_order(here: Local, free: Freedom) -> tuple[Complex, Any]:
    """Eigenvalues and displacements of a mechanism at rest."""
    B = free.B
    M, C, K = (B.T @ matrix @ B for matrix in (here.M, here.damping, here.stiffness))
    if not len(M):
        return np.zeros(0, complex), np.zeros((len(B), 0))
    sizes, turn = np.linalg.eigh((M + M.T) / 2)
    root = turn / np.sqrt(sizes)
    C, K = root.T @ C @ root, root.T @ K @ root
    scale = max(float(np.abs(K).max()), 1.0)
    if np.abs(C).max() <= UNDAMPED * np.sqrt(scale) and np.abs(K - K.T).max() <= 1e-10 * scale:
        squares, shapes = np.linalg.eigh((K + K.T) / 2)
        squares = np.where(np.abs(squares) <= RIGID * len(K) * scale, 0.0, squares)
        values = np.sqrt(-squares.astype(complex))
        tipping = values.real > 0
        values = np.concatenate([np.where(tipping, values.real, 1j * np.abs(values.imag)), -values[tipping].real])
        shapes = np.hstack([shapes, shapes[:, tipping]])
        return _sorted(values, B @ root @ shapes)
    n = len(K)
    both, vectors = np.linalg.eig(np.block([[np.zeros((n, n)), np.eye(n)], [-K, -C]]))
    zero = np.abs(both) <= 1e-7 * max(1.0, float(np.abs(both).max()))
    keep = (both.imag >= 0) & ~zero
    _, small, right = np.linalg.svd(K)
    rigid = right[small <= RIGID * n * scale].T
    values = np.concatenate([both[keep], np.zeros(rigid.shape[1])])
    return _sorted(values, B @ root @ np.hstack([vectors[:n, keep], rigid]))


def _first_order(e: SystemEquations, x: Array, t: float, parameters: Any) -> tuple[Complex, Any]:
    """Eigenvalues and shapes in q of the linearised equations about any state."""
    system = linearise(e, outputs=(), at=x.tolist(), t=t, parameters=parameters)
    values, vectors = np.linalg.eig(system.A)
    keep = values.imag >= 0
    return _sorted(values[keep].astype(complex), system.motion(e.q.names) @ vectors[:, keep])


def _sorted(values: Any, shapes: Any) -> tuple[Complex, Any]:
    order = np.lexsort((values.real, np.abs(values)))
    return np.asarray(values[order], dtype=np.complex128), shapes[:, order]
