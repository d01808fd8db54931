"""Statics of a mesh with large rotations: every element is linear in axes of its own, which turn with it.

Element-independent corotation (Rankin and Nour-Omid 1988): the axes of an element follow its nodes as a rigid piece
would, by least squares over their places and, with a small weight, over their rotations, which tell how a beam twists.
In these axes the deformation is small, so the stiffness is that of the linear theory. With the rotation ``spin @ u`` of
the axes by displacements u of the nodes, and the rest ``project @ u``, which deforms the element,

    force = project^T K d        tangent = project^T K project - skew(force) spin - spin^T skew(force)^T project

The linear theory of a body in one frame is judged by it.

Loads are dead: they keep their direction. They grow in steps, and each step is solved by Newton's rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cotree.fem.element import DEGREES, Array, Elements, degrees_of, rigid_rows
from cotree.fem.structure import Structure

ITERATIONS = 25
"""Newton steps for one growth of the loads."""
GROWTHS = 200
"""Growths of the loads, at most."""
CLOSE = 1e-8
"""Last Newton step over the size of the body."""
BY_TURNS = 1e-6
"""Weight of rotations beside places, where the axes of an element follow its nodes."""


@dataclass(frozen=True)
class Bent:
    """A mesh in balance: where its nodes are, and how they have turned."""

    places: Array
    """(N, 3)."""
    turns: Array
    """(N, 3, 3) rotation matrices."""
    share: float
    """The part of the loads that was reached; 1 where all is well."""


def bent_by(structure: Structure, loads: Array, held: Any) -> Bent:
    """Places and rotations of nodes under dead loads (6 N,), with some degrees of freedom held."""
    return _Large(structure, np.asarray(loads, dtype=float), np.asarray(held, dtype=np.int64)).solve()


class _Large:
    def __init__(self, structure: Structure, loads: Array, held: Any) -> None:
        self.structure, self.loads = structure, loads
        self.parts = [(family, family.stiffness()) for family in structure.families if family.stiffness().any()]
        fixed = [structure.degrees(support.node, support.which) for support in structure.fixed]
        held = np.concatenate([held, *fixed]).astype(np.int64)
        own = structure.independent
        idle = np.flatnonzero(structure._tied_stiffness.diagonal() == 0)
        self.free = np.setdiff1d(np.flatnonzero(~np.isin(own, held)), idle)

    def solve(self) -> Bent:
        """Loads that grow: a step that does not converge is halved, one that does is doubled."""
        n = len(self.structure.places)
        here = self.structure.places.copy(), np.broadcast_to(np.eye(3), (n, 3, 3)).copy()
        share, step = 0.0, 1.0
        for _ in range(GROWTHS):
            if share >= 1.0 or step < 1e-3:
                break
            aim = min(share + step, 1.0)
            found = self._newton(*here, aim)
            if found is None:
                step /= 2
                continue
            here, share, step = found, aim, 2 * step
        return Bent(*here, share)

    def _newton(self, places: Array, turns: Array, share: float) -> tuple[Array, Array] | None:
        """Places and rotations in balance with a part of the loads; None where Newton's rule does not get there."""
        from scipy.sparse.linalg import splu

        length, before = self.structure.length, [np.inf, np.inf]
        for _ in range(ITERATIONS):
            force, stiffness = self._inner(places, turns)
            transform = self._transform(places)
            rest = (transform.T @ (share * self.loads - force))[self.free]
            matrix = (transform.T @ stiffness @ transform).tocsc()[self.free][:, self.free]
            step = np.zeros(transform.shape[1])
            try:
                step[self.free] = splu(matrix.tocsc()).solve(rest)
            except RuntimeError:  # singular: at a critical load
                return None
            moved = (transform @ step).reshape(-1, DEGREES)
            size = float(max(np.abs(moved[:, :3]).max() / length, np.abs(moved[:, 3:]).max()))
            if not np.isfinite(size) or size > 1.0 or size > 4 * max(before):  # steps may grow every other time
                return None
            places, turns = places + moved[:, :3], _exponential(moved[:, 3:]) @ turns
            for tie in self.structure.ties:  # as one rigid piece, exactly
                slaves = list(tie.slaves)
                arms = self.structure.places[slaves] - self.structure.places[tie.master]
                places[slaves] = places[tie.master] + arms @ turns[tie.master].T
                turns[slaves] = turns[tie.master]
            if size < CLOSE:
                return places, turns
            before = [before[1], size]
        return None

    def _inner(self, places: Array, turns: Array) -> tuple[Array, Any]:
        """(6 N,) internal forces, and the tangent stiffness, sparse."""
        from scipy.sparse import coo_array

        force, size = np.zeros(self.structure.size), self.structure.size
        total: Any = None
        for family, stiffness in self.parts:
            axes, local, spin, project = self._local(family, places, turns)
            strained = np.einsum("ekl,el->ek", stiffness, local)
            pushed = np.einsum("ekl,ek->el", project, strained)
            levers = _skew(strained.reshape(len(axes), -1, 3)).reshape(len(axes), -1, 3)
            matrix = project.transpose(0, 2, 1) @ stiffness @ project - levers @ spin
            matrix -= spin.transpose(0, 2, 1) @ (levers * _at_forces(levers.shape[1])).transpose(0, 2, 1) @ project
            count, width = stiffness.shape[1] // 3, stiffness.shape[1]
            world = np.einsum("eij,enj->eni", axes, pushed.reshape(-1, count, 3)).reshape(pushed.shape)
            np.add.at(force, family.degrees, world)
            blocks = matrix.reshape(-1, count, 3, count, 3)
            turned = np.einsum("eij,enjml,ekl->enimk", axes, blocks, axes, optimize=True)
            row = np.repeat(family.degrees, width, axis=1).ravel()
            column = np.tile(family.degrees, (1, width)).ravel()
            part = coo_array((turned.ravel(), (row, column)), shape=(size, size)).tocsr()
            total = part if total is None else total + part
        return force, total

    def _local(self, family: Elements, places: Array, turns: Array) -> tuple[Array, Array, Array, Array]:
        """Axes (E, 3, 3) of elements, their deformation (E, K), and the matrices `spin` (E, 3, K) and `project`."""
        nodes = family.degrees[:, ::DEGREES] // DEGREES
        count = nodes.shape[1]
        now, then = places[nodes], self.structure.places[nodes]
        now, then = (each - each.mean(axis=1, keepdims=True) for each in (now, then))
        size = np.einsum("eni,eni->e", then, then) / count
        mean = _rotation(turns[nodes].sum(axis=1))
        rigid = np.einsum("eij,enj->eni", mean, then)
        axes = _rotation(np.einsum("eni,enj->eij", now, rigid) + (BY_TURNS * size)[:, None, None] * np.eye(3)) @ mean
        arms = np.einsum("eji,enj->eni", axes, now)
        rotations = _logarithm(np.einsum("eji,enjk->enik", axes, turns[nodes]))
        local = np.concatenate([arms - then, rotations], axis=2).reshape(len(nodes), -1)
        cross = _skew(arms)
        weight = BY_TURNS * size[:, None, None] * np.eye(3)
        inertia = np.einsum("enji,enjk->eik", cross, cross) + count * weight
        moments = np.stack([cross, np.broadcast_to(weight[:, None], cross.shape)], axis=2)  # (E, n, 2, 3, 3)
        spin = np.linalg.solve(inertia, moments.transpose(0, 3, 1, 2, 4).reshape(len(nodes), 3, -1))
        whole = np.eye(DEGREES * count).reshape(count, 2, 3, count, 2, 3)
        whole = whole - np.einsum(
            "nm,ab,ij->naimbj", np.full((count, count), 1 / count), np.diag([1.0, 0.0]), np.eye(3)
        )
        moved = np.stack([-cross, np.broadcast_to(np.eye(3), cross.shape)], axis=2)  # a rigid rotation of the element
        width = DEGREES * count
        project = whole.reshape(width, width) - moved.reshape(len(nodes), width, 3) @ spin
        return axes, local, spin, project

    def _transform(self, places: Array) -> Any:
        """The rule by which tied nodes follow their masters, from where they are now."""
        from scipy.sparse import csr_array, lil_array

        structure = self.structure
        if not structure.ties:
            return csr_array(structure.transform)
        found = lil_array(structure.transform.copy())
        column = np.full(structure.size, -1, dtype=np.int64)
        column[structure.independent] = np.arange(len(structure.independent))
        for tie in structure.ties:
            here = column[degrees_of([tie.master])]
            for slave in tie.slaves:
                rows = degrees_of([slave])
                found[rows[:3][:, None], here] = rigid_rows(places[slave] - places[tie.master])
        return csr_array(found)


def _rotation(matrices: Array) -> Array:
    """The rotations nearest to matrices (E, 3, 3)."""
    left, _, right = np.linalg.svd(matrices)
    signs = np.ones(left.shape[:-1])
    signs[:, 2] = np.linalg.det(left @ right)
    return np.asarray((left * signs[:, None, :]) @ right)


def _skew(vectors: Array) -> Array:
    """(..., 3, 3) matrices of the cross product with vectors (..., 3)."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], axis=-2)


def _at_forces(rows: int) -> Array:
    """(rows, 1): ones at the forces of an element's nodes, zeros at their moments."""
    return np.tile([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], rows // DEGREES)[:, None]


def _exponential(turns: Array) -> Array:
    """(N, 3, 3) rotation matrices of rotation vectors (N, 3)."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(turns).as_matrix())


def _logarithm(matrices: Array) -> Array:
    """(..., 3) rotation vectors of rotation matrices."""
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(matrices.reshape(-1, 3, 3)).as_rotvec()).reshape(matrices.shape[:-1])
