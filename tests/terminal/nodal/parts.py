"""Parts of nodal structures with their nodes at given places, evaluated as numbers without any formulation."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from cotree.terminal.nodal.base import At
from terminal.motions import T, fields


class Put:
    """A part with its nodes at a start; nodes that a part names twice are one point."""

    def __init__(self, part: Any, start: Any, names: Any = None) -> None:
        self.part, self.v = part, fields(part, names)
        self.nodes = list(dict.fromkeys(part.nodes()))
        self.start = np.asarray(start, dtype=float).reshape(len(self.nodes), 3)
        self.X, self.U = ca.SX.sym("x", 3, len(self.nodes)), ca.SX.sym("u", 3, len(self.nodes))
        order = [self.nodes.index(name) for name in part.nodes()]
        self.order = order
        self.at = At(
            [self.X[:, k] for k in order],
            [self.U[:, k] for k in order],
            [ca.SX(ca.DM(self.start[k])) for k in order],
            T,
        )

    def number(self, expression: Any, x: Any = None, u: Any = None, t: float = 0.0) -> np.ndarray:
        """An expression of positions, velocities and time as numbers."""
        x = self.start if x is None else np.asarray(x, dtype=float)
        u = np.zeros_like(self.start) if u is None else np.asarray(u, dtype=float)
        f = ca.Function("f", [self.X, self.U, T], [ca.densify(ca.SX(expression))])
        return f(x.T, u.T, t).full().squeeze()

    def forces(self, x: Any = None, u: Any = None, t: float = 0.0) -> np.ndarray:
        """The force on each node."""
        total = [ca.SX.zeros(3) for _ in self.nodes]
        for k, force in zip(self.order, self.part.forces(self.v, self.at), strict=True):
            total[k] += force
        return self.number(ca.horzcat(*total), x, u, t).reshape(3, -1).T

    def potential(self, x: Any = None) -> float:
        return float(self.number(self.part.potential(self.v, self.at), x))

    def loss(self, x: Any = None, u: Any = None) -> float:
        return float(self.number(self.part.loss(self.v, self.at), x, u))

    def equations(self, x: Any = None, t: float = 0.0) -> np.ndarray:
        return np.atleast_1d(self.number(self.part.equations(self.v, self.at), x, t=t))

    def gradient(self, x: Any = None, t: float = 0.0) -> np.ndarray:
        """d(equations)/d(positions): rows, nodes, directions; by exact differentiation."""
        slope = ca.jacobian(self.part.equations(self.v, self.at), ca.vec(self.X))
        return self.number(slope, x, t=t).reshape(-1, len(self.nodes), 3)

    def results(self, x: Any = None, u: Any = None, t: float = 0.0, force: Any = None) -> dict[str, Any]:
        """Results as numbers; vectors are put together."""
        more = () if force is None else (ca.SX(ca.DM(force)),)
        found = self.part.results(self.v, self.at, *more)
        single = {name: float(self.number(value, x, u, t)) for name, (value, _) in found.items()}
        stems = {name[:-2] for name in single if name.endswith(".x")}
        vectors = {stem: np.array([single.pop(f"{stem}.{x}") for x in "xyz"]) for stem in stems}
        return single | vectors


def turned(about: Any, angle: float) -> np.ndarray:
    """A rotation matrix by Rodrigues' formula."""
    n = np.asarray(about, dtype=float) / np.linalg.norm(about)
    cross = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def differences(function: Any, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of a function of positions: rows, nodes, directions."""
    columns = []
    for k in np.ndindex(x.shape):
        move = np.zeros_like(x)
        move[k] = step
        columns.append((function(x + move) - function(x - move)) / (2 * step))
    return np.stack(columns, axis=-1).reshape(-1, *x.shape)
