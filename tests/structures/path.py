"""The motion of a structure with one degree of freedom by a witness of its own: energy along a path known in advance.

With the nodes x(c) on a path, bars and plates as uniform rods and parallelograms, and V the work that cables and
springs still have to do, (1/2) m(c) c'^2 + V(c) = V(c_0) from rest, so the time to c is a quadrature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cotree.api import Model, Solution
from cotree.terminal.nodal import Bar, Body, ForceCable, Spring
from structures.freedoms import places

Array = NDArray[np.float64]
Places = dict[str, Array]

H = 1e-5


def slopes(path: Callable[[float], Places], c: float) -> Places:
    """dx/dc of all nodes."""
    near = [path(c + k * H) for k in (-2, -1, 1, 2)]
    return {n: (near[0][n] - 8 * near[1][n] + 8 * near[2][n] - near[3][n]) / (12 * H) for n in near[0]}


@dataclass(frozen=True)
class Solid:
    """A uniform rod or parallelogram: a corner, and edges from there as multiples of the way to other nodes."""

    corner: str
    edges: tuple[tuple[str, float], ...]
    mass: float

    def product(self, v: Places, w: Places) -> float:
        """The integral of v.w over the mass, for velocities that are linear over the solid."""
        ways = [[factor * (f[node] - f[self.corner]) for node, factor in self.edges] for f in (v, w)]
        middle = [f[self.corner] + sum(edges) / 2 for f, edges in zip((v, w), ways, strict=True)]
        return self.mass * float(middle[0] @ middle[1] + sum(a @ b for a, b in zip(*ways, strict=True)) / 12)


def solids(model: Model) -> list[Solid]:
    """Bars, scissor members (two arms from the middle node) and panels (of the reflector and of the Miura fold)."""
    values, found = model.parameter_values(), list[Solid]()
    for part in model.components.values():
        if isinstance(part, (Bar, Body)):
            mass, nodes = part.values(values)["mass"], part.nodes()
            match len(nodes):
                case 2:
                    found.append(Solid(nodes[0], ((nodes[1], 1.0),), mass))
                case 3:
                    found += [Solid(nodes[1], ((end, 1.0),), mass / 2) for end in (nodes[0], nodes[2])]
                case 4:
                    found.append(Solid(nodes[0], ((nodes[1], 1.0), (nodes[3], 1.0)), mass))
                case 5:
                    found.append(Solid(nodes[0], ((nodes[1], 1.0), (nodes[2], 2.0)), mass))
    return found


def inertia(model: Model, v: Places, w: Places) -> float:
    """The sum of v.w over all mass."""
    return sum(solid.product(v, w) for solid in solids(model))


def potential(model: Model, x: Places) -> float:
    """Tension times length of all cables, and the energy of all springs."""
    values, total = model.parameter_values(), 0.0
    for part in model.components.values():
        if isinstance(part, ForceCable):
            way = [x[n] for n in part.over]
            length = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(way))
            total += part.expressions["tension"].number(values) * length
        elif isinstance(part, Spring):
            own = part.values(values)
            stretch = float(np.linalg.norm(x[part.node_b] - x[part.node_a])) - own["length"]
            total += own["stiffness"] * stretch**2 / 2
    return total


def time_to(
    model: Model,
    path: Callable[[float], Places],
    start: float,
    end: float,
    mass: Callable[[float], float] | None = None,
) -> float:
    """The time from rest at the coordinate ``start`` to ``end``."""

    def reduced(c: float) -> float:
        v = slopes(path, c)
        return inertia(model, v, v)

    mass = mass or reduced
    first, total = potential(model, path(start)), 0.0
    nodes, weights = np.polynomial.legendre.leggauss(16)
    for y, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        c = start + (end - start) * y**2  # the speed starts like the root of the way
        rate = np.sqrt(2 * (first - potential(model, path(c))) / mass(c))
        total += weight * 2 * y * abs(end - start) / rate
    return float(total)


def at(sol: Solution, names: list[str], k: int) -> Places:
    """Positions of nodes at an output time."""
    axes = ("x", "y", "z") if f"{names[0]}.position.z" in sol.names else ("x", "y")
    found = {n: np.array([sol[f"{n}.position.{x}"][k] for x in axes]) for n in names}
    return {n: np.append(x, np.zeros(3 - len(x))) for n, x in found.items()}


def drift(model: Model, sol: Solution) -> float:
    """How far any bar or body is from its shape, at any output time."""
    start, worst = places(model), 0.0
    pairs = []
    for part in model.components.values():
        if isinstance(part, (Bar, Body)):
            nodes = part.nodes()
            pairs += [(a, b) for i, a in enumerate(nodes) for b in nodes[i + 1 :]]
    for k in range(0, len(sol.t), max(1, len(sol.t) // 20)):
        x = at(sol, list(start), k)
        for a, b in pairs:
            worst = max(worst, abs(np.linalg.norm(x[a] - x[b]) - np.linalg.norm(start[a] - start[b])))
    return float(worst)
