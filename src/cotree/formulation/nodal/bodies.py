"""Rigid bodies with any number of nodes: four base points carry the whole motion (three in the plane).

Every point of the body is a fixed combination of its base points, x = sum w_k x_k with sum w_k = 1, so the kinetic
energy is a quadratic form with constant factors: no gyroscopic term is left to write, and no angle is needed. The
equations keep the distances of the base points, and tie every further node to them. On rigid motions the mass matrix
equals that of Xiang 2015, eq. 34, with the term w x J w that eq. 28 and 32 drop (docs/method/nodal.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError
from cotree.maths.rotation import perpendicular, vee
from cotree.terminal.nodal.bodies import Body

Array = NDArray[np.float64]

THIN = 0.1
"""A node serves as a further base point if its distance from the others' plane is this part of the body's size."""


@dataclass(frozen=True)
class BodyForm:
    """A body's base points among all nodes, and what follows from them."""

    name: str
    nodes: tuple[int, ...]
    """Its own nodes."""
    base: tuple[int, ...]
    """Its base points."""
    places: tuple[ca.SX, ...]
    """Start positions of the base points."""
    others: tuple[tuple[int, ca.SX], ...]
    """Further nodes with their factors."""
    masses: ca.SX
    """Factors of the mass matrix over the base points."""
    middle: ca.SX
    """Factors of the centroid."""
    slope: ca.SX
    """Factors of the rotation: R = [x_1 x_2 ...] slope."""
    dim: int
    mass: ca.SX
    inertia: ca.SX
    """About the centroid, in the axes of the start."""

    def equations(self, x: Sequence[ca.SX], names: Sequence[str]) -> Iterator[tuple[str, ca.SX]]:
        """What keeps the body rigid, with labels."""
        for i, j in combinations(range(len(self.base)), 2):
            length = ca.sqrt(ca.sumsqr((self.places[j] - self.places[i])[: self.dim]))
            apart = (x[self.base[j]] - x[self.base[i]])[: self.dim]
            label = f"{names[self.base[i]]} to {names[self.base[j]]}"
            yield label, (ca.sumsqr(apart) - length**2) / (2 * length)
        for node, factors in self.others:
            apart = x[node] - self._combined(x, factors)
            for k in range(self.dim):
                yield f"{names[node]}.{'xyz'[k]}", apart[k]

    def volume(self) -> ca.SX:
        """What the base points span at the start, over the product of their distances from the first one."""
        edges = [(place - self.places[0])[: self.dim] for place in self.places[1:]]
        return ca.fabs(ca.det(ca.horzcat(*(edge / ca.norm_2(edge) for edge in edges))))

    def centre(self, x: Sequence[ca.SX]) -> ca.SX:
        """The centroid, or its velocity, from those of all nodes."""
        return self._combined(x, self.middle)

    def rotation(self, x: Sequence[ca.SX]) -> ca.SX:
        """The rotation from the start, or its rate from velocities."""
        R = ca.mtimes(ca.horzcat(*(x[k][: self.dim] for k in self.base)), self.slope)
        return R if self.dim == 3 else ca.diagcat(R, 1)

    def omega(self, x: Sequence[ca.SX], v: Sequence[ca.SX]) -> ca.SX:
        """The angular velocity in world axes."""
        rate = self.rotation(v)
        if self.dim == 2:
            rate[2, 2] = 0
        turning = ca.mtimes(rate, self.rotation(x).T)
        return vee((turning - turning.T) / 2)

    def _combined(self, x: Sequence[ca.SX], factors: ca.SX) -> ca.SX:
        return sum((factors[k] * x[node] for k, node in enumerate(self.base)), ca.SX.zeros(3))


def body_form(
    part: Body,
    v: Any,
    nodes: Sequence[int],
    start: Sequence[ca.SX],
    numbers: Callable[[Sequence[ca.SX]], Array],
    dim: int,
    first: int,
) -> tuple[BodyForm, list[ca.SX]]:
    """The form of a body, and the start positions of the nodes that are added for it, which are numbered from first."""
    mass, centre = ca.SX(v.mass), ca.vertcat(*(ca.SX(x) for x in v.centre))
    inertia = part.inertia_matrix(v)
    found = numbers([*(start[k] for k in nodes), centre])
    places, middle = found[:-1, :dim], found[-1, :dim]
    spread = float(np.sqrt(numbers([ca.diag(inertia)]).sum() / 2 / max(float(numbers([mass])[0, 0]), 1e-300)))
    chosen, size = _base(places, middle, spread, part.name)
    where = [start[nodes[k]] for k in chosen]
    ways = _across([place[:dim] for place in where])
    away = numbers(ways) @ (middle - places[chosen[0]]) if ways else []
    moves = [(size if way >= 0 else -size) * each for way, each in zip(away, ways, strict=True)]
    added = [centre + ca.vertcat(move, ca.SX.zeros(3 - dim)) for move in moves]
    base = [*(nodes[k] for k in chosen), *range(first, first + len(added))]
    where += added
    flat = ca.vertcat(ca.horzcat(*(place[:dim] for place in where)), ca.SX.ones(1, dim + 1))
    inverse = ca.inv(flat)

    def factors(point: ca.SX) -> ca.SX:
        return ca.mtimes(inverse, ca.vertcat(point[:dim], 1))

    second = ca.trace(inertia) / 2 * ca.SX.eye(3) - inertia if dim == 3 else inertia[2, 2] / 2 * ca.SX.eye(2)
    second += mass * ca.mtimes(centre[:dim], centre[:dim].T)
    whole = ca.vertcat(ca.horzcat(second, mass * centre[:dim]), ca.horzcat(mass * centre[:dim].T, mass))
    masses = ca.mtimes([inverse, whole, inverse.T])
    others = tuple((node, factors(start[node])) for k, node in enumerate(nodes) if k not in chosen)
    form = BodyForm(
        part.name, tuple(nodes), tuple(base), tuple(where), others, ca.densify((masses + masses.T) / 2),
        factors(centre), inverse[:, :dim], dim, mass, inertia,
    )  # fmt: skip
    return form, added


def _base(places: Array, centre: Array, spread: float, name: str) -> tuple[list[int], float]:
    """Nodes that serve as base points, and the size of the body."""
    dim = places.shape[1]
    size = max(float(np.abs(places - centre).max(initial=0.0)), spread)
    if size <= 0:
        raise ModelError(
            "all its nodes lie in its centroid, and it has no inertia",
            where=name,
            expected="a body with some extent",
            remedy="Use a node with a mass instead",
        )
    chosen = [int(np.argmax(((places - centre) ** 2).sum(axis=1)))]
    axes = np.zeros((0, dim))
    while len(chosen) <= dim:
        away = places - places[chosen[0]]
        away = away - away @ axes.T @ axes
        far = np.linalg.norm(away, axis=1)
        k = int(np.argmax(far))
        if far[k] < THIN * size:
            break
        chosen.append(k)
        axes = np.vstack([axes, away[k] / far[k]])
    return chosen, size


def _across(where: Sequence[ca.SX]) -> list[ca.SX]:
    """Unit vectors across everything that chosen base points span; they turn with the points, whatever p is."""
    dim = where[0].numel()
    edges = [place - where[0] for place in where[1:]]
    if len(edges) == dim:
        return []
    if not edges:
        return ca.horzsplit(ca.SX.eye(dim))
    if dim == 3 and len(edges) == 1:
        return list(perpendicular(edges[0] / ca.norm_2(edges[0])))
    normal = ca.cross(edges[0], edges[1]) if dim == 3 else ca.vertcat(-edges[0][1], edges[0][0])
    return [normal / ca.norm_2(normal)]
