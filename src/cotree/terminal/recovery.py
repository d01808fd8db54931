"""From elastic coordinates back to the mesh: displacements of all nodes, section forces, stresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError
from cotree.fem.element import DEGREES
from cotree.model import Model
from cotree.terminal.deformable import Deformable

Array = NDArray[np.float64]
ENDS = (0.0, 1.0)


@dataclass(frozen=True)
class Deformation:
    """The mesh of a flexible body over time. Displacements are of first order, in the axes of the body."""

    t: Array
    places: Array
    """(N, 3) undeformed places of the nodes."""
    shapes: Array
    """(6 N, n) displacements and rotations by unit elastic coordinates."""
    coordinates: Array
    """(n, T) elastic coordinates over time."""
    families: tuple[Any, ...]
    """The families of elements, `Beams` and `Shells`."""

    @property
    def displacements(self) -> Array:
        """(T, N, 3) displacements of the nodes."""
        moves = (self.shapes @ self.coordinates).T.reshape(len(self.t), -1, DEGREES)
        return np.asarray(moves[:, :, :3])

    def at(self, index: int) -> Array:
        """(6 N,) displacements and rotations of all nodes at one time."""
        return np.asarray(self.shapes @ self.coordinates[:, index])

    def stress(self, index: int) -> list[Any]:
        """Stresses at one time for each family: of beams at both ends of each element, of shells at the upper face."""
        u = self.at(index)
        result = []
        for family in self.families:
            if hasattr(family, "triangles"):
                result.append(family.stress(u[family.degrees]))
            elif hasattr(family, "forces"):
                result.append(family.stress(u[family.degrees], ENDS))
        return result

    def mises(self) -> Array:
        """(T,) largest von Mises stress of the body; of shells on both faces."""
        every = range(len(self.t))
        return np.array([max((_largest(f, self.at(k)) for f in self.families), default=0.0) for k in every])


def _largest(family: Any, u: Array) -> float:
    own = u[family.degrees]
    if hasattr(family, "triangles"):
        half = family.plate.thickness / 2 if family.plate.thickness is not None else None
        heights = (None,) if half is None else (half, -half)
        return max(float(family.stress(own, z).mises.max()) for z in heights)
    return float(family.stress(own, ENDS).mises.max()) if hasattr(family, "forces") else 0.0


def deformation(
    body: Deformable,
    values: Mapping[str, float],
    t: Array,
    coordinates: Mapping[str, Array],
    joined: Sequence[str],
    folder: str | None = None,
) -> Deformation:
    """The mesh of a body moved by its elastic coordinates, by name; ``joined`` and ``folder`` as for its tables.

    The shapes are those of the tables that the equations came from: computed anew, on another machine, shapes of equal
    frequency could differ.
    """
    tables, structure = body.tables(values, folder, joined), body.prepare(values).structure
    rows = np.array([coordinates[name] for name in tables.names])
    return Deformation(t, structure.places, tables.shapes, rows, structure.families)


def body_deformation(model: Model, body: str, t: Array, results: Mapping[str, Array]) -> Deformation:
    """The mesh of a flexible body of a model over a run whose results are given by name."""
    part = model.components.get(body)
    if not isinstance(part, Deformable):
        bodies = [name for name, each in model.components.items() if isinstance(each, Deformable)]
        expected = f"one of {', '.join(bodies)}" if bodies else "a flexible body: the model has none"
        raise ModelError(f"'{body}' is no flexible body", expected=expected)
    values = {name.removeprefix(f"{body}."): array for name, array in results.items() if name.startswith(f"{body}.")}
    if getattr(part, "segments", 1) > 1:
        from cotree.terminal.segment_mesh import segmented_deformation

        return segmented_deformation(model, part, t, values)  # type: ignore[arg-type]
    joined = part.joined(model.components.values())
    return deformation(part, part.values(model.parameter_values()), t, values, joined, model.folder)
