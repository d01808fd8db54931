"""Internal forces of a flexible body from everything that acts on it, also where no coordinate strains.

A reduced body strains in its own shapes only: a beam that may bend but not stretch carries an axial force and shows no
strain along it. What a body carries follows from the loads instead. They are in balance: forces and moments on frames,
and on every mass point the force ``-m a``, where the acceleration, less gravity, of a point at ``s`` is

    a = base + slope s + sum_k turns_k N_k        with the shapes N_k of the coordinates at the point

The displacements of the whole mesh under these loads, held at the body's reference, give strains, section forces and
stress (the mode-acceleration, or force-summation, method). Deflections change the balance: loads act on the deformed
body, which the geometric stiffness under their own internal forces adds, ``K u = f - G(f) shapes q``. As in the
equations of motion, the shapes N_k count there as the fields linear in ``s`` with the same moments of mass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cotree.fem.element import DEGREES, Array, Elements, states_at_once
from cotree.fem.reference import Reference
from cotree.fem.space import space_of
from cotree.fem.structure import Structure

_CHUNK = 2e7  # numbers at a time
SETTLING, SETTLED = 40, 1e-4
"""Steps in which displacements of a body at rest settle, at most, and the part of the largest that still changes."""
FLAT = 1e-4
"""Part of the largest second moment of mass below which a body counts as flat or thin in a direction."""


@dataclass(frozen=True)
class Loads:
    """What acts on a body, in its axes, at T times."""

    base: Array
    """(T, 3) acceleration of the body's origin less gravity."""
    slope: Array
    """(T, 3, 3): the acceleration of a point of the undeformed body is base + slope @ place."""
    turns: Array
    """(T, n, 3, 3): what unit shape k adds is turns[k] @ (displacement by the shape)."""
    frames: Array
    """(T, F, 6) forces and moments on the nodes of frames."""
    coordinates: Array
    """(T, n) elastic coordinates, by which loads on the deformed body differ from those on the undeformed one."""

    def __len__(self) -> int:
        return len(self.base)

    def part(self, which: Any) -> Loads:
        """The loads at some of the times."""
        return Loads(*(each[which] for each in vars(self).values()))

    def mean(self, which: Any, t: Array) -> Loads:
        """The mean of the loads at some of the times t, as one load."""
        weights = np.gradient(t)[which]
        parts = self.part(which)
        return Loads(*(np.average(each, axis=0, weights=weights)[None] for each in vars(parts).values()))


def inverse_moments(mass: float, first: Array, second: Array) -> tuple[Array, Array]:
    """(4, 4) inverse of the moments of mass of 1 and s_a, each divided by its size, and these sizes (4,)."""
    gram = np.block([[np.array([[mass]]), first[None, :]], [first[:, None], second]])
    size = np.sqrt(max(float(np.trace(second)) / mass, 1e-300))
    scale = np.array([1.0, size, size, size])
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale) / mass)
    keep = values > FLAT * values[-1]
    return (vectors[:, keep] / values[keep]) @ vectors[:, keep].T / mass, scale


def linear_shapes(mass: float, first: Array, second: Array, first_q: Array, second_q: Array) -> Array:
    """(4, 3, n): fields ``c[0] + sum_a s_a c[1 + a]`` with the moments of mass of n shapes, from those of `Tables`."""
    inverse, scale = inverse_moments(mass, first, second)
    moments = np.concatenate([first_q[None], second_q]) / scale[:, None, None]
    return np.asarray(np.einsum("ab,bin->ain", inverse, moments) / scale[:, None, None])


class Internal:
    """A body that is loaded: the displacements of its whole mesh in balance with loads.

    ``nodes`` are those of the frames on which forces and moments act. Without ``second_order`` loads act on the
    undeformed body.
    """

    def __init__(
        self,
        structure: Structure,
        reference: Reference,
        shapes: Array,
        nodes: Any,
        *,
        held: Sequence[int] = (),
        second_order: bool = True,
    ) -> None:
        self.structure, self.shapes, self.second_order = structure, shapes, second_order
        self.reference, self.held = reference, tuple(held)
        self.nodes = np.asarray(nodes, dtype=np.int64).reshape(-1)
        self._space = space_of(structure, reference, held)

    def unshaped(self) -> Internal:
        """The same mesh without elastic coordinates: loads are then all that bends it."""
        nothing = np.zeros((self.structure.size, 0))
        return Internal(self.structure, self.reference, nothing, self.nodes, held=self.held, second_order=False)

    @cached_property
    def stiffness(self) -> Array:
        """(n, n) stiffness of the coordinates."""
        return np.asarray(self.shapes.T @ (self.structure.stiffness @ self.shapes))

    @cached_property
    def _clouds(self) -> list[tuple[Elements, Any, Array]]:
        """Families with their mass points and the displacement (E, G, 3, n) of these by unit coordinates."""
        found = []
        for family in self.structure.families:
            cloud = family.cloud()
            moves = np.einsum("egik,ekn->egin", cloud.rows, self.shapes[family.degrees], optimize=True)
            found.append((family, cloud, moves))
        return found

    @cached_property
    def _linear(self) -> Array:
        """(4, 3, n) the shapes as fields linear in the place."""
        n = self.shapes.shape[1]
        mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
        first_q, second_q = np.zeros((3, n)), np.zeros((3, 3, n))
        for _, cloud, moves in self._clouds:
            mass += float(cloud.mass.sum())
            first += np.einsum("eg,egi->i", cloud.mass, cloud.place)
            second += np.einsum("eg,ega,egb->ab", cloud.mass, cloud.place, cloud.place, optimize=True)
            first_q += np.einsum("eg,egin->in", cloud.mass, moves, optimize=True)
            second_q += np.einsum("eg,ega,egin->ain", cloud.mass, cloud.place, moves, optimize=True)
        return linear_shapes(mass, first, second, first_q, second_q)

    def straight(self, loads: Loads) -> Loads:
        """The same loads with shapes that are linear in the place."""
        base = loads.base + np.einsum("tnij,jn->ti", loads.turns, self._linear[0])
        slope = loads.slope + np.einsum("tnij,ajn->tia", loads.turns, self._linear[1:])
        return replace(loads, base=base, slope=slope, turns=np.zeros_like(loads.turns))

    def _forces(self, loads: Loads, cloud: Any, moves: Array) -> Array:
        """(T, E, G, 3) forces on mass points."""
        elements, points, _, n = moves.shape
        felt = loads.base[:, None] + cloud.place.reshape(-1, 3) @ loads.slope.transpose(0, 2, 1)
        turns = loads.turns.transpose(0, 3, 1, 2).reshape(len(loads), 3 * n, 3)
        felt += moves.reshape(elements * points, 3 * n) @ turns
        return np.asarray(-cloud.mass[:, :, None] * felt.reshape(len(loads), elements, points, 3))

    def solve(self, loads: Loads) -> Solved:
        """Displacements of all nodes under loads."""
        found = [self._solved(loads.part(part)) for part in self._parts(len(loads))]
        nothing = np.zeros((len(self.shapes), 0))
        first, bent, straight = (np.concatenate([nothing, *each], axis=1) for each in zip(*found, strict=True))
        return Solved(self, loads, first, bent, straight)

    def settled(self, solved: Solved) -> Array:
        """(6 N,) displacements at one time of a body at rest, whose second order follows from themselves.

        Above the first critical load they would grow without end: what the coordinates give is kept there.
        """
        straight = self.straight(solved.loads)
        pushes = [(family, each[0]) for _, _, family, each in self.geometric(straight, solved.cause)]
        u, change = solved.u[:, 0], np.inf
        for _ in range(SETTLING):
            nodal = np.zeros((self.structure.size, 1))
            for family, matrices in pushes:
                np.add.at(nodal[:, 0], family.degrees, -np.einsum("ekl,el->ek", matrices, u[family.degrees]))
            new = solved.first[:, 0] + self._space.statics(nodal)[:, 0]
            before, change = change, float(np.abs(new - u).max())
            if change > 0.95 * before:
                return np.asarray(solved.u[:, 0])
            u = new
            if change < SETTLED * float(np.abs(u).max()):
                break
        return np.asarray(u)

    def _parts(self, count: int) -> Iterator[slice]:
        """Times by the piece, so that forces on all mass points fit into memory."""
        points = sum(cloud.mass.size for _, cloud, _ in self._clouds)
        step = max(1, int(_CHUNK / max(1, 3 * points)))
        yield from (slice(start, min(start + step, count)) for start in range(0, count, step))

    def _solved(self, loads: Loads) -> tuple[Array, Array, Array]:
        """Displacements (6 N, T) under loads on the undeformed body, what its deformation adds, and its cause."""
        u = self.first(loads)
        if not self.second_order or not loads.coordinates.any():
            return u, np.zeros_like(u), u
        straight = self.straight(loads)
        cause = self.first(straight)
        return u, self.bent(straight, cause, loads.coordinates), cause

    def first(self, loads: Loads) -> Array:
        """(6 N, T) displacements under loads on the undeformed body."""
        return self._space.statics(self.nodal(loads))

    def nodal(self, loads: Loads) -> Array:
        """(6 N, T) the loads on the degrees of freedom of all nodes."""
        nodal = np.zeros((len(self.shapes), len(loads)))
        np.add.at(nodal, DEGREES * self.nodes[:, None] + np.arange(DEGREES), np.moveaxis(loads.frames, 0, -1))
        for family, cloud, moves in self._clouds:
            forces, elements = self._forces(loads, cloud, moves), len(family.degrees)
            rows = cloud.rows.reshape(elements, -1, family.degrees.shape[1])
            each = forces.transpose(1, 0, 2, 3).reshape(elements, len(loads), -1) @ rows
            np.add.at(nodal, family.degrees, each.transpose(0, 2, 1))
        return nodal

    def bent(self, loads: Loads, u: Array, coordinates: Array) -> Array:
        """(6 N, T): what coordinates (T, n) add to displacements ``u`` under loads on the undeformed body."""
        nodal, moved = np.zeros((len(loads), len(self.shapes))), coordinates @ self.shapes.T
        for part, _, family, matrices in self.geometric(loads, u):
            pushed = np.einsum("tekl,tel->tek", matrices, moved[part][:, family.degrees])
            _add(nodal[part], family, -pushed)
        return self._space.statics(nodal.T)

    def bent_by_shapes(self, loads: Loads, u: Array, number: int) -> tuple[Array, Array]:
        """What each unit coordinate adds: displacements (6 N, T, n), and loads (T, E, K, n) of one family."""
        size, n = self.shapes.shape
        nodal, own = np.zeros((len(loads), size, n)), self.structure.families[number].degrees
        kept = np.zeros((len(loads), *own.shape, n))
        for part, which, family, matrices in self.geometric(loads, u):
            pushed = -(matrices @ self.shapes[family.degrees])
            _add(nodal[part], family, pushed)
            if which == number:
                kept[part] = pushed
        return self._space.statics(nodal.transpose(1, 0, 2).reshape(size, -1)).reshape(size, len(loads), n), kept

    def geometric(self, loads: Loads, u: Array) -> Iterator[tuple[slice, int, Elements, Array]]:
        """Some times, a family, and its geometric stiffness (T, E, K, K) under the loads with displacements ``u``."""
        for number, (family, cloud, moves) in enumerate(self._clouds):
            for part in states_at_once(len(loads), len(family.degrees)):
                points = self._forces(loads.part(part), cloud, moves)
                matrices = family.geometric_under(u.T[part][:, family.degrees], points)
                if matrices is None:
                    break
                yield part, number, family, matrices

    def turned(self, loads: Loads, u: Array, moved: Array) -> list[Array | None]:
        """For each family the loads (T, E, K) on its nodes that displacements (T, 6 N) of all nodes add."""
        found: list[Array | None] = [None] * len(self.structure.families)
        for part, number, family, matrices in self.geometric(loads, u):
            whole = found[number]
            if whole is None:
                whole = found[number] = np.zeros((len(loads), *family.degrees.shape))
            whole[part] = -np.einsum("tekl,tel->tek", matrices, moved[part][:, family.degrees])
        return found

    def all_points(self, loads: Loads, family: int) -> Array:
        """(T, E, G, 3) forces on the mass points of one family."""
        return self._forces(loads, *self._clouds[family][1:])


def _add(nodal: Array, family: Elements, pushed: Array) -> None:
    """Add loads (T, E, K, ...) of a family to those on all degrees of freedom, (T, 6 N, ...)."""
    where: Any = (slice(None), family.degrees)
    np.add.at(nodal, where, pushed)


class Carried(NamedTuple):
    """What a family of elements carries at one time, or over T times."""

    family: Any
    u: Array
    """(E, K) or (T, E, K) displacements of its degrees of freedom, with all strains."""
    points: Array
    """(E, G, 3) or (T, E, G, 3) forces on its mass points."""
    turned: Array | None
    """(E, K) or (T, E, K) what the deformation of the body adds to the loads on its nodes."""


@dataclass(frozen=True)
class Solved:
    """A loaded body: displacements of the whole mesh, and what acts between its nodes."""

    body: Internal
    loads: Loads
    first: Array
    """(6 N, T) displacements and rotations of all nodes under loads on the undeformed body, with all strains."""
    bent: Array
    """(6 N, T) what its deformation adds."""
    cause: Array
    """(6 N, T) the displacements whose internal forces add it."""

    @property
    def u(self) -> Array:
        """(6 N, T) displacements and rotations of all nodes."""
        return self.first + self.bent

    def at(self, index: int) -> list[Carried]:
        """What each family carries at one time."""
        together = self.during(slice(index, index + 1))
        return [Carried(f, u[0], points[0], more if more is None else more[0]) for f, u, points, more in together]

    def during(self, part: slice) -> list[Carried]:
        """What each family carries at some times: all arrays begin with the time."""
        body, loads = self.body, self.loads.part(part)
        families = body.structure.families
        u = (self.first[:, part] + self.bent[:, part]).T
        turned: list[Array | None] = [None] * len(families)
        if body.second_order and loads.coordinates.any():
            turned = body.turned(body.straight(loads), self.cause[:, part], loads.coordinates @ body.shapes.T)
        each = zip(families, turned, strict=True)
        return [Carried(f, u[:, f.degrees], body.all_points(loads, k), more) for k, (f, more) in enumerate(each)]
