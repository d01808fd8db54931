"""Ring trusses: their numbers, and the symmetric motion that both programs are compared with.

By symmetry a fold has one coordinate, the angle e of the edges: rise s = L sin(e), radius R = L cos(e) / (2 sin(pi/n)).
Its equation of motion is integrated here, apart from any formulation; for ten sides it is checked against a table that
comes from three other computations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from bench.flexible.references import Curves, Reference
from scipy.integrate import solve_ivp

TABLE = {
    1.0: (1.939880962, 0.05107965932), 2.0: (1.914489304, 0.1999792668), 3.0: (1.823454278, 0.4122724217),
    4.0: (1.650419065, 0.6321148955), 5.0: (1.406251304, 0.8274333155), 6.0: (1.104599371, 0.9868880779),
    7.0: (0.7560096167, 1.105299561), 8.0: (0.3702159388, 1.177984634),
}  # fmt: skip
"""Radius and rise of ten sides over time: quadrature, a single equation and a full nodal model agree on them."""


@dataclass(frozen=True)
class Ring:
    """Xiang's ring truss (2015, section 4.3) with any even number of sides; kg, m, s, N."""

    sides: int = 10
    edge: float = 1.2
    height: float = 1.6
    density: float = 9.8
    tension: float = 2.0

    @property
    def radius(self) -> float:
        """The radius at the start."""
        return self.edge / (2 * math.sin(math.pi / self.sides))

    def motion(self, times: np.ndarray) -> Curves:
        """Radius and rise; edges are uniform rods between nodes that move outwards and up, battens only move."""
        n, edge, height = self.sides, self.edge, self.height
        rod = self.density * edge / 6
        outward = n * (self.density * height / 2 + 2 * rod * (2 + math.cos(2 * math.pi / n)))
        upward = n * (self.density * height / 4 + 2 * rod)

        def rates(_: float, y: np.ndarray) -> list[float]:
            s, c = math.sin(y[0]), math.cos(y[0])
            mass = 2 * (outward * (self.radius * s) ** 2 + upward * (edge * c) ** 2)
            change = 4 * (outward * self.radius**2 - upward * edge**2) * s * c
            diagonal = math.sqrt(edge**2 + height**2 - 2 * height * edge * s)
            pull = n * self.tension * height * edge * c / diagonal
            return [float(y[1]), (pull - change * y[1] ** 2 / 2) / mass]

        solved = solve_ivp(rates, (0, times[-1]), [0, 0], "DOP853", times, rtol=1e-13, atol=1e-14)
        return {"radius": self.radius * np.cos(solved.y[0]), "rise": edge * np.sin(solved.y[0])}

    def reference(self, end: float, intervals: int) -> Reference:
        """The motion on an even grid."""
        times = np.linspace(0, end, intervals + 1)
        return Reference(f"ring of {self.sides}", times, self.motion(times))


def check() -> float:
    """The largest distance from the table in m; the benchmark ends where it is not rounding of the table."""
    times = np.array([0.0, *TABLE])
    found = Ring().motion(times)
    gap = float(np.abs(np.column_stack([found["radius"], found["rise"]])[1:] - np.array([*TABLE.values()])).max())
    if gap > 2e-9:
        raise SystemExit(f"the reference is {gap:.1e} m away from the table")
    return gap
