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
DENSE = 400
"""Degrees of freedom up to which matrices are dense."""
CLOSE = 1e-6
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


@dataclass(frozen=True)
class _Part:
    """A family of E elements of n nodes, and what does not change while it moves."""

    degrees: Any
    stiffness: Array
    """(E, 6 n, 6 n)."""
    nodes: Any
    """(E, n)."""
    then: Array
    """(E, n, 3) places of the nodes from their middle."""
    weight: Array
    """(E, 3, 3) how much rotations count for the axes."""
    whole: Array
    """(6 n, 6 n) takes the mean displacement off."""
    rows: Any
    columns: Any
    """Where the numbers of all matrices stand in that of the structure."""

    @classmethod
    def of(cls, family: Elements, stiffness: Array, places: Array) -> _Part:
        """From the elements and the undeformed places of all nodes."""
        degrees, width = np.asarray(family.degrees), stiffness.shape[1]
        nodes = degrees[:, ::DEGREES] // DEGREES
        count = nodes.shape[1]
        then = places[nodes] - places[nodes].mean(axis=1, keepdims=True)
        size = np.einsum("eni,eni->e", then, then) / count
        mean = np.einsum("nm,ab,ij->naimbj", np.full((count, count), 1 / count), np.diag([1.0, 0.0]), np.eye(3))
        weight, whole = BY_TURNS * size[:, None, None] * np.eye(3), np.eye(width) - mean.reshape(width, width)
        rows, columns = np.repeat(degrees, width, axis=1).ravel(), np.tile(degrees, (1, width)).ravel()
        return cls(degrees, stiffness, nodes, then, weight, whole, rows, columns)


class _Large:
    def __init__(self, structure: Structure, loads: Array, held: Any) -> None:
        self.structure, self.loads = structure, loads
        matrices = [family.stiffness() for family in structure.families]
        self.parts = [
            _Part.of(family, each, structure.places)
            for family, each in zip(structure.families, matrices, strict=True)
            if each.any()
        ]
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
        length, before = self.structure.length, [np.inf, np.inf]
        for _ in range(ITERATIONS):
            force, stiffness = self._inner(places, turns)
            rest, transform = share * self.loads - force, None
            if self.structure.ties:
                transform = self._transform(places)
                rest, stiffness = transform.T @ rest, transform.T @ stiffness @ transform
            step = np.zeros(len(rest))
            try:
                step[self.free] = self._solved(stiffness, rest[self.free])
            except (RuntimeError, np.linalg.LinAlgError):  # singular: at a critical load
                return None
            moved = (step if transform is None else transform @ step).reshape(-1, DEGREES)
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

    def _solved(self, stiffness: Any, rest: Array) -> Array:
        """The step of the free degrees of freedom, by a dense or a sparse factorisation."""
        if isinstance(stiffness, np.ndarray):
            return np.asarray(np.linalg.solve(stiffness[np.ix_(self.free, self.free)], rest))
        from scipy.sparse.linalg import splu

        return np.asarray(splu(stiffness.tocsc()[self.free][:, self.free].tocsc()).solve(rest))

    def _inner(self, places: Array, turns: Array) -> tuple[Array, Any]:
        """(6 N,) internal forces, and the tangent stiffness, dense where it is small."""
        from scipy.sparse import coo_array

        force, size = np.zeros(self.structure.size), self.structure.size
        total: Any = np.zeros((size, size)) if size <= DENSE else None
        for part in self.parts:
            axes, local, spin, project = _local(part, places, turns)
            stiffness = part.stiffness
            strained = np.einsum("ekl,el->ek", stiffness, local)
            pushed = np.einsum("ekl,ek->el", project, strained)
            levers = _skew(strained.reshape(len(axes), -1, 3)).reshape(len(axes), -1, 3)
            matrix = project.transpose(0, 2, 1) @ stiffness @ project - levers @ spin
            matrix -= spin.transpose(0, 2, 1) @ (levers * _at_forces(levers.shape[1])).transpose(0, 2, 1) @ project
            count = stiffness.shape[1] // 3
            world = np.einsum("eij,enj->eni", axes, pushed.reshape(-1, count, 3)).reshape(pushed.shape)
            np.add.at(force, part.degrees, world)
            blocks = matrix.reshape(-1, count, 3, count, 3)
            turned = np.einsum("enimj,ekj->enimk", np.einsum("eij,enjml->eniml", axes, blocks), axes)
            if size <= DENSE:
                np.add.at(total.reshape(-1), part.rows * size + part.columns, turned.ravel())
                continue
            found = coo_array((turned.ravel(), (part.rows, part.columns)), shape=(size, size)).tocsr()
            total = found if total is None else total + found
        return force, total

    def _transform(self, places: Array) -> Any:
        """The rule by which tied nodes follow their masters, from where they are now."""
        from scipy.sparse import csr_array, lil_array

        structure = self.structure
        found = lil_array(structure.transform.copy())
        column = np.full(structure.size, -1, dtype=np.int64)
        column[structure.independent] = np.arange(len(structure.independent))
        for tie in structure.ties:
            here = column[degrees_of([tie.master])]
            for slave in tie.slaves:
                rows = degrees_of([slave])
                found[rows[:3][:, None], here] = rigid_rows(places[slave] - places[tie.master])
        return found.toarray() if structure.size <= DENSE else csr_array(found)


def _local(part: _Part, places: Array, turns: Array) -> tuple[Array, Array, Array, Array]:
    """Axes (E, 3, 3) of elements, their deformation (E, K), and the matrices `spin` (E, 3, K) and `project`."""
    now, turned = places[part.nodes], turns[part.nodes]
    now = now - now.mean(axis=1, keepdims=True)
    elements, count = part.nodes.shape
    mean = _rotation(turned.sum(axis=1))
    rigid = part.then @ mean.transpose(0, 2, 1)
    axes = _rotation(now.transpose(0, 2, 1) @ rigid + part.weight) @ mean
    arms = now @ axes
    rotations = _logarithm(axes.transpose(0, 2, 1)[:, None] @ turned)
    local = np.concatenate([arms - part.then, rotations], axis=2).reshape(elements, -1)
    cross = _skew(arms)
    inertia = np.einsum("enji,enjk->eik", cross, cross) + count * part.weight
    moments = np.stack([cross, np.broadcast_to(part.weight[:, None], cross.shape)], axis=2)  # (E, n, 2, 3, 3)
    spin = np.linalg.solve(inertia, moments.transpose(0, 3, 1, 2, 4).reshape(elements, 3, -1))
    moved = np.stack([-cross, np.broadcast_to(np.eye(3), cross.shape)], axis=2)  # a rigid rotation of the element
    return axes, local, spin, part.whole - moved.reshape(elements, -1, 3) @ spin


def _rotation(matrices: Array) -> Array:
    """The rotations nearest to matrices (E, 3, 3)."""
    left, _, right = np.linalg.svd(matrices)
    signs = np.ones(left.shape[:-1])
    signs[:, 2] = np.linalg.det(left @ right)
    return np.asarray((left * signs[:, None, :]) @ right)


def _skew(vectors: Array) -> Array:
    """(..., 3, 3) matrices of the cross product with vectors (..., 3)."""
    found = np.zeros((*vectors.shape, 3))
    x, y, z = np.moveaxis(vectors, -1, 0)
    found[..., 0, 1], found[..., 0, 2], found[..., 1, 2] = -z, y, -x
    found[..., 1, 0], found[..., 2, 0], found[..., 2, 1] = z, -y, x
    return found


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
