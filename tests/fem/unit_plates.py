"""Square plates whose frequencies are published, as structures of shells."""

from __future__ import annotations

import numpy as np

from cotree.fem.material import Material
from cotree.fem.mesh import grid
from cotree.fem.plate import Plate
from cotree.fem.shell import Shells
from cotree.fem.structure import Structure

POISSON = 0.3
# benchmarks.md, lambda = w a^2 sqrt(rho h / D)
PLATES = {
    "supported": [19.739209, 49.348022, 49.348022, 78.956835],
    "clamped": [35.98519, 73.39385, 73.39385, 108.2165],
    "cantilever": [3.4711, 8.5067, 21.285, 27.199],
    "free": [13.4682, 19.5961, 24.2702],
}


def unit_plate(cells):
    """A square of side 1 with D = 1 and rho h = 1, so that frequencies are lambda; its mass has no thickness."""
    mesh = grid((1.0, 1.0), (cells, cells))
    thickness = 1e-3
    material = Material(12 * (1 - POISSON**2) / thickness**3, 1 / thickness, poisson=POISSON)
    return mesh, Structure(mesh.nodes, [Shells(mesh.nodes, mesh.triangles, Plate(thickness, material), rotary=False)])


def supports(mesh, structure, kind):
    """Degrees of freedom held: all in the plane, and those of the edges; no rotation along a supported edge."""
    held = [structure.degrees(range(len(mesh.nodes)), "x y rz")]
    if kind == "supported":
        held += [structure.degrees(mesh.group("edge"), "z")]
        held += [structure.degrees(mesh.group(side), "rx") for side in ("left", "right")]
        held += [structure.degrees(mesh.group(side), "ry") for side in ("bottom", "top")]
    elif kind == "clamped":
        held += [structure.degrees(mesh.group("edge"))]
    elif kind == "cantilever":
        held += [structure.degrees(mesh.group("left"))]
    return np.concatenate(held)


def plate_frequencies(cells, kind):
    mesh, structure = unit_plate(cells)
    held = supports(mesh, structure, kind)
    return structure.modes(len(PLATES[kind]), held=held, skip_rigid=True).frequencies
