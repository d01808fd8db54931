"""What every family of finite elements gives: stiffness, mass points, stress resultants, geometric stiffness.

Nodes have six degrees of freedom: displacements x, y, z and small rotations about x, y, z in the axes of the body;
degree ``d`` of node ``n`` is number ``6 n + d``. All elements of a family are computed at once, as arrays whose first
axis counts the elements.

Mass is a cloud of points: each has a mass, a place in the undeformed body, and rows that give its displacement from
the element's degrees of freedom. The mass matrix and every coupling of deformation with the motion of the body's frame
(Richard 2012, eq. 58-59) are sums over the same points, so they agree with each other, and a rigid motion of the mesh
has exactly the inertia of a rigid body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.maths.viewed import Viewed

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

DEGREES = 6
"""Degrees of freedom of a node."""
MOST = 1000
"""Most coordinates of a basis of shapes."""

_TOGETHER = 1000  # elements that are computed at once in several states


def degrees_of(nodes: Any) -> Integers:
    """Numbers of the degrees of freedom of elements, (E, 6 k), from their nodes, (E, k)."""
    nodes = np.asarray(nodes, dtype=np.int64)
    each = DEGREES * nodes[..., None] + np.arange(DEGREES)
    return np.asarray(each.reshape(*nodes.shape[:-1], nodes.shape[-1] * DEGREES))


def states_at_once(count: int, elements: int) -> Iterator[slice]:
    """Parts of ``count`` states of so many elements that are quick to compute at once."""
    step = max(1, _TOGETHER // max(1, elements))
    yield from (slice(start, min(start + step, count)) for start in range(0, count, step))


@dataclass(frozen=True)
class Cloud:
    """Mass points of E elements, G points each, over K degrees of freedom of an element."""

    mass: Array
    """(E, G) masses in kg."""
    place: Array
    """(E, G, 3) undeformed places in the axes of the body."""
    rows: Array
    """(E, G, 3, K): displacement = rows @ degrees of freedom of the element."""

    def mass_matrices(self) -> Array:
        """(E, K, K) mass matrices of the elements."""
        return np.asarray(np.einsum("eg,egik,egil->ekl", self.mass, self.rows, self.rows, optimize=True))


class Elements(Viewed):
    """A family of elements of one kind. Subclasses set `degrees` and say the rest."""

    degrees: Integers
    """(E, K) numbers of the degrees of freedom of each element."""

    def stiffness(self) -> Array:
        """(E, K, K) stiffness matrices in the axes of the body (Richard 2012, eq. 64)."""
        raise NotImplementedError

    def viscosity(self) -> Array | None:
        """(E, K, K) Kelvin-Voigt damping matrices (Richard 2012, eq. 65), None where there is none."""
        return None

    def cloud(self) -> Cloud:
        """The mass points."""
        raise NotImplementedError

    def resultants(self, u: Array, load: Array | None = None) -> Any:
        """Section or membrane forces that displacements cause, as `geometric` takes them.

        ``u`` is (E, K), the displacements of each element's degrees of freedom in statics under a load; ``load``,
        (E, G, 3), is the force on each mass point in that load case, from which an element may take how its forces
        vary along it.
        """
        return None

    def stretch(self, u: Array) -> Array:
        """(E, ...) mean strains of centre lines or middle surfaces by displacements (E, K); empty for others."""
        return np.zeros((len(self.degrees), 0))

    def geometric(self, resultants: Any) -> Array | None:
        """(E, K, K) geometric stiffness matrices under `resultants` (tension stiffens), None where there are none."""
        return None

    def geometric_under(self, u: Array, load: Array) -> Array | None:
        """(L, E, K, K) geometric stiffness in L states: displacements (L, E, K), forces on mass points (L, E, G, 3)."""
        found = [self.geometric(self.resultants(*each)) for each in zip(u, load, strict=True)]
        known = [each for each in found if each is not None]
        return np.array(known) if len(known) == len(found) else None


class Lumps(Elements):
    """Masses fixed to nodes: a rigid lump with its centre of mass off the node, and inertia about that centre."""

    def __init__(self, places: Array, nodes: Sequence[int], masses: Any, inertias: Any, offsets: Any) -> None:
        self.degrees = degrees_of(np.asarray(nodes, dtype=np.int64)[:, None])
        self._masses = np.asarray(masses, dtype=float)
        self._inertias = np.asarray(inertias, dtype=float).reshape(-1, 3, 3)
        self._offsets = np.asarray(offsets, dtype=float).reshape(-1, 3)
        self._nodes = np.asarray(places, dtype=float)[np.asarray(nodes, dtype=np.int64)]

    def stiffness(self) -> Array:
        """A rigid lump has none."""
        return np.zeros((len(self.degrees), DEGREES, DEGREES))

    def cloud(self) -> Cloud:
        """Six points on the principal axes, a sixth of the mass each, which have the lump's inertia."""
        moments, axes = np.linalg.eigh(self._inertias)
        second = moments.sum(axis=1, keepdims=True) / 2 - moments  # integrals of the squared principal coordinates
        reach = np.sqrt(np.maximum(3 * second / self._masses[:, None], 0.0))
        arms = np.concatenate([axes * reach[:, None, :], -axes * reach[:, None, :]], axis=2).transpose(0, 2, 1)
        arms = arms + self._offsets[:, None, :]
        mass = np.repeat(self._masses[:, None] / 6, 6, axis=1)
        return Cloud(mass, self._nodes[:, None, :] + arms, rigid_rows(arms))


def rigid_rows(arms: Array) -> Array:
    """(..., 3, 6): displacement of points at ``arms`` (..., 3) from a node that carries them rigidly."""
    x, y, z = arms[..., 0], arms[..., 1], arms[..., 2]
    o = np.zeros_like(x)
    turn = np.stack([np.stack([o, z, -y], -1), np.stack([-z, o, x], -1), np.stack([y, -x, o], -1)], axis=-2)
    move = np.broadcast_to(np.eye(3), (*arms.shape[:-1], 3, 3))
    return np.concatenate([move, turn], axis=-1)


def rigid_motions(places: Array) -> Array:
    """(6 N, 6): displacements of all degrees of freedom in the six small rigid motions about the origin."""
    arms = np.asarray(places, dtype=float)
    rows = np.zeros((len(arms), DEGREES, DEGREES))
    rows[:, :3, :] = rigid_rows(arms)
    rows[:, 3:, 3:] = np.eye(3)
    return rows.reshape(-1, DEGREES)
