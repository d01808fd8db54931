"""Exudyn: the ring truss as points with `ObjectConnectorDistance` for the bars.

Exudyn has no bar with a consistent mass, so the masses are `ObjectGenericODE2` with the constant matrix m/6 (2 1; 1 2)
of each bar: one object for each bar ("bars"), or one for the whole truss with a sparse matrix ("whole"). Supports and
upright battens are `ObjectConnectorCoordinate`, cables are `ObjectConnectorSpringDamper` that have a constant force
only. Nothing calls Python in the time loop. A bar as a rigid body with ball joints would have twice the coordinates and
a spin of its own.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from bench.common import exudyn_run
from bench.flexible.exudyn_peer import library
from bench.flexible.references import Curves, Reference
from bench.nodal.reference import Ring


@dataclass(frozen=True)
class Way:
    """How Exudyn is used: masses, solver and its settings."""

    form: str = "whole"
    solver: str = "index 3"
    radius: float = 0.9
    linear: str = "EXUdense"
    modified: bool = True
    tolerance: float = 1e-6
    floor: float = 1e-10  # N: the truss starts at rest

    def __str__(self) -> str:
        """The settings for the table."""
        alpha = f"generalised-alpha, radius {self.radius:g}"
        masses = {"whole": "one mass matrix", "bars": "a mass matrix for each bar"}[self.form]
        parts = [masses, alpha if self.solver == "index 3" else "trapezoidal rule, index 2", self.linear]
        parts += [] if self.modified else ["full Newton"]
        return ", ".join([*parts, f"Newton to {self.tolerance:g}"])


class Model:
    """A ring truss in one form, ready to run."""

    def __init__(self, ring: Ring, form: str) -> None:
        """Build and assemble."""
        self.exu = exu = library()
        clock = time.perf_counter()
        import exudyn.itemInterface as items

        self.ring, self.items = ring, items
        self.container = exu.SystemContainer()
        self.mbs = mbs = self.container.AddSystem()
        n, pi = ring.sides, math.pi
        corners = [ring.radius * np.array([math.cos(2 * pi * k / n), math.sin(2 * pi * k / n)]) for k in range(n)]
        places = [[*corner, z] for z in (0, ring.height) for corner in corners]
        self.nodes = [mbs.AddNode(items.NodePoint(referenceCoordinates=place)) for place in places]
        bars = [(k, k + n, ring.height) for k in range(n)]
        bars += [(k + z, (k + 1) % n + z, ring.edge) for z in (0, n) for k in range(n)]
        self.masses(bars, form)
        points = [mbs.AddMarker(items.MarkerNodePosition(nodeNumber=node)) for node in self.nodes]
        for a, b, length in bars:
            mbs.AddObject(items.ObjectConnectorDistance(markerNumbers=[points[a], points[b]], distance=length))
        self.supports()
        diagonal = math.hypot(ring.edge, ring.height)
        for k in range(n):
            even, odd = (k, (k + 1) % n) if k % 2 == 0 else ((k + 1) % n, k)
            cable = items.ObjectConnectorSpringDamper(
                markerNumbers=[points[even + n], points[odd]], referenceLength=diagonal, stiffness=0, damping=0,
                force=ring.tension,
            )  # fmt: skip
            mbs.AddObject(cable)
        watched = {"storeInternal": True, "outputVariableType": exu.OutputVariableType.Position}
        self.sensors = [mbs.AddSensor(items.SensorNode(nodeNumber=node, **watched)) for node in self.nodes[:2]]
        mbs.Assemble()
        self.seconds_setup = time.perf_counter() - clock

    def masses(self, bars: list[tuple[int, int, float]], form: str) -> None:
        """The consistent masses of uniform bars."""
        items, mbs, density = self.items, self.mbs, self.ring.density
        if form == "bars":
            both = np.kron([[2, 1], [1, 2]], np.eye(3)) / 6
            for a, b, length in bars:
                ends = [self.nodes[a], self.nodes[b]]
                mbs.AddObject(items.ObjectGenericODE2(nodeNumbers=ends, massMatrix=density * length * both))
            return
        entries: dict[tuple[int, int], float] = {}
        for a, b, length in bars:
            for i, j in ((a, a), (b, b), (a, b), (b, a)):
                entries[i, j] = entries.get((i, j), 0.0) + density * length / (3 if i == j else 6)
        triplets = [(3 * i + c, 3 * j + c, value) for (i, j), value in entries.items() for c in range(3)]
        matrix, count = self.exu.MatrixContainer(), 3 * len(self.nodes)
        matrix.SetWithSparseMatrix(np.array(triplets), count, count, useDenseMatrix=False)
        mbs.AddObject(items.ObjectGenericODE2(nodeNumbers=self.nodes, massMatrix=matrix))

    def supports(self) -> None:
        """Every second lower node keeps its height, and the batten on it stays upright."""
        items, mbs, n = self.items, self.mbs, self.ring.sides

        def marker(node: int, coordinate: int) -> int:
            return int(mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate)))

        ground = marker(mbs.AddNode(items.NodePointGround()), 0)
        for k in range(0, n, 2):
            lower, upper = self.nodes[k], self.nodes[k + n]
            mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[ground, marker(lower, 2)]))
            for c in (0, 1):
                mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[marker(lower, c), marker(upper, c)]))

    def run(self, way: Way, steps: int, reference: Reference) -> tuple[Curves, float]:
        """Radius and rise on the reference's grid and seconds of the solver; steps is a multiple of its intervals."""
        found, seconds = exudyn_run(self.exu, self.mbs, dict(enumerate(self.sensors)), way, steps, reference)
        places = [found[k] for k in range(len(self.sensors))]
        return {"radius": np.hypot(places[0][:, 0], places[0][:, 1]), "rise": places[1][:, 2]}, seconds
