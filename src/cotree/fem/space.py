"""A structure under the conditions of a reference, of held degrees of freedom and of interfaces: statics and modes.

All displacements that meet the conditions are ``u = P S v``. ``S`` is sparse and takes out held degrees, ties and every
condition on a few degrees of freedom. ``P`` is there for mean axes only: some v are then held, as few as keep the body
from moving, and ``P`` adds the rigid motion that makes the mean of displacement and rotation vanish. Strain energy does
not feel ``P``, loads do: ``P^T`` balances them by inertia forces (inertia relief).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cotree.errors import ModelError
from cotree.fem.eigen import LARGEST_DENSE, Free, anchors, vibration
from cotree.fem.element import DEGREES, Array, Integers, rigid_motions
from cotree.fem.factor import Factor
from cotree.fem.hold import mechanism
from cotree.fem.reference import Reference

if TYPE_CHECKING:
    from cotree.fem.structure import Structure


class Space:
    """The displacements of a structure that meet conditions.

    ``rows`` are further conditions ``rows @ u = 0``, such as an interface that is held; those that follow from the
    conditions before them are left out, and `kept` has the numbers of the others.
    """

    def __init__(
        self, structure: Structure, reference: Reference, *, held: Sequence[int] = (), rows: Any = None
    ) -> None:
        from scipy import sparse

        places = structure.places
        self.structure = structure
        count = DEGREES * len(places)
        fixed = [structure.degrees(support.node, support.which) for support in structure.fixed]
        numbers = _numbers(np.concatenate([np.asarray(held, dtype=np.int64).reshape(-1), *fixed]), count)
        empty = sparse.csr_array((0, count))
        rows = empty if rows is None else sparse.csr_array(rows)
        local = reference.conditions(places)
        first = sparse.eye_array(count, format="csr")[numbers]
        if local is not None:
            first = sparse.vstack([first, local], format="csr")
        self._eliminate(first, rows)
        self.free: Integers = np.arange(self.spread.shape[1])
        self._rigid: Any = None
        self._mean: Any = None
        motions = _left(_rigid(places, structure.length), sparse.vstack([first, rows], format="csr"))
        if local is None and motions.shape[1]:
            self._rigid, self._mean = motions, _mean(structure.mass, motions)
            self.free = np.setdiff1d(self.free, anchors(motions[self.degrees]))

    def _eliminate(self, first: Any, rows: Any) -> None:
        """Set `spread`, the matrix S, and `lifts`, one displacement for a unit value on each kept row."""
        from scipy import linalg, sparse

        transform = sparse.csr_array(self.structure.transform)
        first = sparse.csr_array(first @ transform)
        first.eliminate_zeros()
        alone = np.diff(first.indptr) == 1  # a degree of freedom held at zero by itself: its column goes
        gone = np.union1d(first[np.flatnonzero(alone)].indices, self._idle(transform))
        stay = np.ones(transform.shape[1])
        stay[gone] = 0.0
        first = first[np.flatnonzero(~alone)]
        conditions = sparse.csr_array(sparse.vstack([first, rows @ transform], format="csr") @ sparse.diags_array(stay))
        conditions.eliminate_zeros()
        size = np.where(self.structure.independent % DEGREES < 3, 1.0, 1 / self.structure.length)
        columns = np.unique(conditions.indices)
        number = first.shape[0]
        chosen, norms = _independent(conditions, columns, size)
        small = conditions[chosen][:, columns].toarray() * size[columns] / norms[chosen, None]
        pivots = np.arange(0)
        if len(chosen):
            pivots = linalg.qr(small, mode="r", pivoting=True)[1][: len(chosen)]
        inverse = np.linalg.inv(small[:, pivots])
        free = np.setdiff1d(np.arange(len(columns)), pivots)
        rest = np.setdiff1d(np.flatnonzero(stay), columns[pivots])
        # Pivots follow from the others: v_p = -inverse (small_f v_f - values), in scaled columns.
        follow = -(inverse @ small[:, free]) * size[columns[pivots], None] / size[columns[free]]
        place = np.searchsorted(rest, columns[free])
        real = np.abs(follow.ravel()) > 1e-15
        values = np.concatenate([np.ones(len(rest)), follow.ravel()[real]])
        at = np.concatenate([rest, np.repeat(columns[pivots], len(free))[real]])
        by = np.concatenate([np.arange(len(rest)), np.tile(place, len(pivots))[real]])
        chosen_from = sparse.csr_array((values, (at, by)), shape=(transform.shape[1], len(rest)))
        self.spread = sparse.csr_array(transform @ chosen_from)
        self.degrees: Integers = np.asarray(self.structure.independent)[rest]
        mine = np.flatnonzero(chosen >= number)
        self.kept: Integers = chosen[mine] - number
        lift = np.zeros((transform.shape[1], len(mine)))
        lift[columns[pivots]] = inverse[:, mine] * size[columns[pivots], None] / norms[chosen[mine]]
        self.lifts: Array = transform @ lift

    def _idle(self, transform: Any) -> Integers:
        """Columns of degrees of freedom with neither stiffness nor mass, which are nobody's masters."""
        from scipy import sparse

        own, single = self.structure.independent, np.diff(sparse.csc_array(transform).indptr) == 1
        empty = (self.structure.stiffness.diagonal()[own] == 0) & (self.structure.mass.diagonal()[own] == 0)
        return np.flatnonzero(single & empty)

    @property
    def count(self) -> int:
        """Number of coordinates v that are not held for mean axes."""
        return len(self.free)

    @property
    def floats(self) -> bool:
        """Whether the conditions leave rigid motions, which only a mean holds."""
        return self._rigid is not None

    @cached_property
    def stiffness(self) -> Any:
        """S^T K S, sparse."""
        return (self.spread.T @ (self.structure.stiffness @ self.spread)).tocsr()

    @cached_property
    def mass(self) -> Any:
        """S^T M S, sparse."""
        return (self.spread.T @ (self.structure.mass @ self.spread)).tocsr()

    @cached_property
    def _held(self) -> tuple[Any, Factor]:
        matrix = self.stiffness if self.count == self.spread.shape[1] else self.stiffness[self.free][:, self.free]

        def complain(motion: Array) -> ModelError:
            whole = np.zeros(self.spread.shape[1])
            whole[self.free] = motion
            return self._complaint(whole)

        return matrix, Factor(matrix, complain, self.degrees[self.free] // DEGREES, self.structure.places)

    def _complaint(self, motion: Array) -> ModelError:
        """The error for a motion, v, that costs no strain energy."""
        own = self.structure
        return mechanism(self.spread @ motion, own.stiffness, own.transform, own.label, own.places)

    def solve(self, loads: Array) -> Array:
        """v of S^T K S v = loads, with one step of refinement; for mean axes some v are 0."""
        matrix, factor = self._held
        v = np.zeros_like(loads)
        here = factor.solve(loads[self.free])
        v[self.free] = here + factor.solve(loads[self.free] - matrix @ here)
        return v

    def project(self, u: Array) -> Array:
        """P u: take out the mean rigid motion."""
        return u if self._rigid is None else u - self._rigid @ (self._mean @ u)

    def balance(self, loads: Array) -> Array:
        """P^T loads: the loads, and with them the inertia forces that balance them."""
        return loads if self._rigid is None else loads - self._mean.T @ (self._rigid.T @ loads)

    def relief(self, loads: Array) -> Array | None:
        """(6, L) accelerations of the mesh, about the origin, whose inertia forces `balance` takes off the loads."""
        if self._rigid is None:
            return None
        from_whole = np.linalg.lstsq(rigid_motions(self.structure.places), self._rigid, rcond=None)[0]
        inertia = self._rigid.T @ (self.structure.mass @ self._rigid)
        return np.asarray(from_whole @ np.linalg.pinv(inertia, rcond=1e-12, hermitian=True) @ (self._rigid.T @ loads))

    def statics(self, loads: Array) -> Array:
        """Displacements (6 N, L) under loads (6 N, L)."""
        return self.project(np.asarray(self.spread @ self.solve(self.spread.T @ self.balance(loads))))

    def under_rows(self) -> Array:
        """Displacements (6 N, r) for a unit value on each kept row, zero on the others, without further load."""
        loads = self.spread.T @ (self.structure.stiffness @ self.lifts)
        return self.project(self.lifts - self.spread @ self.solve(loads))

    def modes(self, count: int | None, below: float | None = None, most: int = LARGEST_DENSE) -> tuple[Array, Array]:
        """Frequencies in rad/s, ascending, and shapes (6 N, n) without rigid motions: ``count``, or ``below`` rad/s.

        More than ``most`` are refused.
        """
        rigid = np.zeros((self.spread.shape[1], 0)) if self._rigid is None else self._rigid[self.degrees]
        nodes = self.degrees // DEGREES
        free = Free(self.stiffness, self.mass, rigid, self._complaint, nodes, self.structure.places)
        omega, v = vibration(free, count, below, skip_rigid=True, most=most)
        return omega, self.project(np.asarray(self.spread @ v))


def space_of(structure: Structure, reference: Reference, held: Sequence[int] = ()) -> Space:
    """The displacements that meet a reference and held degrees of freedom, made once for a structure."""
    key = (reference, tuple(held))
    if key not in structure.spaces:
        structure.spaces[key] = Space(structure, reference, held=held)
    found: Space = structure.spaces[key]
    return found


def _numbers(held: Integers, count: int) -> Integers:
    """Numbers of held degrees of freedom, checked."""
    numbers = np.unique(held)
    wrong = numbers[(numbers < 0) | (numbers >= count)]
    if len(wrong):
        raise ModelError(
            f"degree of freedom {wrong[0]} is held",
            expected=f"a number from 0 to {count - 1}",
            remedy="6 node + degree",
        )
    return numbers


def _rigid(places: Array, size: float) -> Array:
    """(6 N, 6) rigid motions about the middle of the nodes, turns by a unit of length at the far end."""
    motions = rigid_motions(places - places.mean(axis=0))
    motions[:, 3:] /= size
    return motions


def _left(motions: Array, rows: Any) -> Array:
    """(6 N, k): the rigid motions that conditions still allow."""
    if rows.shape[0] == 0:
        return motions
    moved = rows @ motions
    moved = moved / np.maximum(np.sqrt((rows.multiply(rows)).sum(axis=1)), 1e-300)[:, None]
    _, values, turned = np.linalg.svd(np.linalg.qr(moved, mode="r"))
    stopped = int((values > 1e-9 * np.sqrt(len(moved))).sum())
    return np.asarray(motions @ turned[stopped:].T)


def _mean(mass: Any, motions: Array) -> Array:
    """(k, 6 N): the mean rigid motion of displacements; where a motion moves no mass, the mean is over the nodes."""
    inertia = motions.T @ (mass @ motions)
    values, axes = np.linalg.eigh(inertia)
    motions = motions @ axes
    weights = np.asarray(mass @ motions).T
    idle = values < 1e-12 * values.max()
    weights[idle] = motions[:, idle].T
    return np.asarray(axes @ np.linalg.solve(weights @ motions, weights))


def _independent(conditions: Any, columns: Integers, size: Array) -> tuple[Integers, Array]:
    """Numbers of the rows that do not follow from earlier ones, and the scaled length of every row."""
    small = conditions[:, columns].toarray() * size[columns]
    norms = np.linalg.norm(small, axis=1)
    chosen: list[int] = []
    axes = np.zeros((min(small.shape), small.shape[1]))
    for number in np.flatnonzero(norms > 1e-12):
        if len(chosen) == len(axes):
            break
        row, have = small[number] / norms[number], axes[: len(chosen)]
        row = row - (have @ row) @ have
        row = row - (have @ row) @ have
        length = float(np.linalg.norm(row))
        if length > 1e-9:
            axes[len(chosen)] = row / length
            chosen.append(int(number))
    return np.asarray(chosen, dtype=np.int64), norms
