"""From the results of a run back to the mesh: displacements of all nodes, section forces, stresses.

Displacements are those of the elastic coordinates. Section forces and stress are in balance with what acts on the body
(`cotree.fem.internal`), so that they are there, too, where no coordinate strains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError
from cotree.fem.element import DEGREES, states_at_once
from cotree.fem.internal import Carried, Internal, Loads, Solved
from cotree.fem.store import keep_mesh, mesh_of
from cotree.fem.tables import Tables
from cotree.maths.rotation import matrices
from cotree.maths.viewed import Table, Viewed
from cotree.model import Model
from cotree.terminal.deformable import Deformable, Prepared
from cotree.terminal.mechanics import PARAMETERS, XYZ

Array = NDArray[np.float64]
ENDS = (0.0, 1.0)
_SKEW = np.array(
    [[[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]]]
)
"""The matrix of a cross product is sum_i a_i _SKEW[i]."""


@dataclass(frozen=True)
class Peak(Viewed):
    """The largest von Mises stress of a body over a run: how large, when, and where on the undeformed body."""

    value: float
    t: float
    place: tuple[float, float, float]
    element: int

    def __str__(self) -> str:
        x, y, z = self.place
        return f"{self.value:.4g} Pa at t = {self.t:.4g} s, at ({x:.4g}, {y:.4g}, {z:.4g}) m"


@dataclass(frozen=True)
class Deformation(Viewed):
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
    body: Internal
    """The mesh that carries the loads."""
    loads: Loads | None = field(repr=False)
    """What acts on the body over time; None where the results do not have it."""
    still: tuple[int, ...] = ()
    """Degrees of freedom that stay rigid by choice."""

    def __repr__(self) -> str:
        counts = f"{len(self.places)} nodes, {len(self.coordinates)} coordinates, {len(self.t)} times"
        return f"<{type(self).__name__}: {counts}; displacements, forces, stress, mises, peak>"

    def _view(self) -> Table | str:
        rows = [("times", len(self.t)), ("nodes", len(self.places)), ("elastic coordinates", len(self.coordinates))]
        rows += (
            [("elements", sum(map(len, self.families)))]
            if all(hasattr(each, "__len__") for each in self.families)
            else []
        )
        moved = float(np.linalg.norm(self.displacements, axis=2).max(initial=0.0))
        return Table(("", ""), [*rows, ("largest displacement in m", moved)], len(rows) + 1)

    @property
    def displacements(self) -> Array:
        """(T, N, 3) displacements of the nodes."""
        moves = (self.shapes @ self.coordinates).T.reshape(len(self.t), -1, DEGREES)
        return np.asarray(moves[:, :, :3])

    def at(self, index: int) -> Array:
        """(6 N,) displacements and rotations of all nodes at one time, by the elastic coordinates."""
        return np.asarray(self.shapes @ self.coordinates[:, index])

    def part(self, indices: Any) -> Deformation:
        """The same at some of its times."""
        loads = None if self.loads is None else self.loads.part(indices)
        return replace(self, t=self.t[indices], coordinates=self.coordinates[:, indices], loads=loads)

    def forces(self, index: int, stations: Any = ENDS) -> list[Any]:
        """Section forces at one time for each family of beams: N, Qy, Qz, Mx, My, Mz, each (elements, stations)."""
        return [f.forces(u, stations, *rest) for f, u, *rest in self._carried(index) if hasattr(f, "section")]

    def stress(self, index: int) -> list[Any]:
        """Stresses at one time for each family: of beams at both ends of each element, of shells at the upper face."""
        result = []
        for family, u, *rest in self._carried(index):
            if hasattr(family, "triangles"):
                result.append(family.stress(u))
            elif hasattr(family, "section"):
                result.append(family.stress(u, ENDS, *rest))
        return result

    def mises(self) -> Array:
        """(T,) largest von Mises stress of the body; of shells on both faces."""
        return self._largest[0]

    def peak(self) -> Peak:
        """The largest von Mises stress over the run, with its time and place."""
        values, places, elements = self._largest
        k = int(np.argmax(values))
        x, y, z = (float(each) for each in places[k])
        return Peak(float(values[k]), float(self.t[k]), (x, y, z), int(elements[k]))

    def strength_used(self) -> Peak | None:
        """The largest von Mises stress over the yield strength of its material; None where no material has one."""
        strengths = {id(family): each for family in self.families if (each := _strength(family)) is not None}
        if not strengths:
            return None
        values, places, elements = self._largest_over(strengths)
        k = int(np.argmax(values))
        x, y, z = (float(each) for each in places[k])
        return Peak(float(values[k]), float(self.t[k]), (x, y, z), int(elements[k]))

    @cached_property
    def _largest(self) -> tuple[Array, Array, Array]:
        """The largest stress at each time, its place and its element."""
        return self._largest_over(None)

    def _largest_over(self, unit: Mapping[int, float] | None) -> tuple[Array, Array, Array]:
        """The same; with a unit for some families, by their `id`, the stress over it and of these alone."""
        count, solved = len(self.t), self._known()
        values, elements = np.zeros(count), np.zeros(count)
        places = np.tile(self.places[0], (count, 1))
        for part in states_at_once(count, sum(len(family.degrees) for family in self.families)):
            times = np.arange(count)[part]
            for each in solved.during(part):
                if unit is not None and id(each.family) not in unit:
                    continue
                for mises, where in _values(each):
                    flat = mises.reshape(len(mises), -1)
                    most = flat.argmax(axis=1)
                    value = flat.max(axis=1) / (1.0 if unit is None else unit[id(each.family)])
                    element, corner = np.unravel_index(most, mises.shape[1:])
                    larger = value > values[part]
                    values[times[larger]], elements[times[larger]] = value[larger], element[larger]
                    places[times[larger]] = where[element[larger], corner[larger]]
        return values, places, elements

    def _carried(self, index: int) -> list[Carried]:
        """What each family carries at one time."""
        return self._known().at(range(len(self.t))[index])

    def _known(self) -> Solved:
        """The loaded body, if it is known what acts on it."""
        if self.loads is None:
            raise ModelError(
                "the results do not say what acts on the flexible body, so its stress is not known",
                expected="results of a run of this version",
                remedy="Run the model again",
            )
        return self._solved

    @cached_property
    def _solved(self) -> Solved:
        assert self.loads is not None
        return self.body.solve(self.loads)


def _strength(family: Any) -> float | None:
    """The yield strength of a family of elements in Pa, where it is known."""
    material = getattr(getattr(family, "plate", family), "material", None)
    return getattr(material, "yield_strength", None)


def _values(carried: Carried) -> list[tuple[Array, Array]]:
    """Von Mises stress (T, E, corners) and places (E, corners, 3) of a family; of shells on both faces."""
    family, u, *rest = carried
    if hasattr(family, "triangles"):
        half = family.plate.thickness / 2 if family.plate.thickness is not None else None
        places = np.concatenate([family.centre[:, None], family.corners], axis=1)
        faces = (None,) if half is None else (half, -half)
        return [(np.array([family.stress(each, z).mises for each in u]), places) for z in faces]
    if hasattr(family, "section"):
        times, count = u.shape[:2]
        every = family.chosen(np.tile(np.arange(count), times))
        flat = [None if each is None else each.reshape(times * count, *each.shape[2:]) for each in (u, *rest)]
        mises = every.stress(flat[0], ENDS, *flat[1:]).mises.max(axis=-1)
        return [(mises.reshape(times, count, -1), family.ends)]
    return []


def deformation(
    body: Deformable,
    values: Mapping[str, float],
    t: Array,
    results: Mapping[str, Array],
    joined: Sequence[str],
    folder: str | None = None,
) -> Deformation:
    """The mesh of a body by its results, by name; ``joined`` and ``folder`` as for its tables.

    The shapes are those of the tables that the equations came from: computed anew, on another machine, shapes of equal
    frequency could differ.
    """
    tables = body.tables(values, folder, joined)
    prepared, internal = _mesh(body, values, tables)
    rows, structure = np.array([results[name] for name in tables.names]), prepared.structure
    loads = _loads(body, tables, prepared, results)
    return Deformation(t, structure.places, tables.shapes, rows, structure.families, internal, loads, prepared.still)


def _mesh(body: Deformable, values: Mapping[str, float], tables: Tables) -> tuple[Prepared, Internal]:
    """The mesh behind tables: the one they were computed with, or made again."""
    known = mesh_of(tables)
    if known is None:
        prepared = body.prepare(values)
        known = prepared, body.internal(prepared, tables.shapes)
        keep_mesh(tables, known, prepared.structure.size)
    return known  # type: ignore[no-any-return]


def _loads(body: Deformable, tables: Tables, prepared: Prepared, results: Mapping[str, Array]) -> Loads | None:
    """What acts on a body, from its results; None where they do not have it."""

    def vector(name: str, labels: Sequence[str] = XYZ) -> Array:
        return np.column_stack([results[f"{name}.{x}"] for x in labels])

    if any(f"{name}_acceleration" not in results for name in tables.names) or "specific_force.x" not in results:
        return None
    R = matrices(vector("orientation", PARAMETERS))
    w, w_dot = (np.einsum("tji,tj->ti", R, vector(name)) for name in ("angular_velocity", "angular_acceleration"))
    q, u, a = (
        np.column_stack([results[f"{name}{end}"] for name in tables.names]) for end in ("", "_rate", "_acceleration")
    )
    spin = np.einsum("ti,ijk->tjk", w, _SKEW)
    slope = np.einsum("ti,ijk->tjk", w_dot, _SKEW) + spin @ spin
    turns = (
        q[..., None, None] * slope[:, None] + 2 * u[..., None, None] * spin[:, None] + a[..., None, None] * np.eye(3)
    )
    base, frames = vector("specific_force"), np.zeros((len(q), len(prepared.nodes), DEGREES))
    numbers = {name: number for number, name in enumerate(prepared.nodes)}
    for name in body.places():
        if f"{name}.force.x" not in results:
            continue
        force, torque = vector(f"{name}.force"), vector(f"{name}.torque")
        if name not in numbers:  # the centre of mass: a force on it pushes every mass point
            base = base - force / tables.mass
            force, name = np.zeros_like(force), body.carriers()[0]
        turn = np.einsum("ik,tk->ti", tables.frames[name].turn, q)
        frames[:, numbers[name], :3] += force
        frames[:, numbers[name], 3:] += torque - np.cross(turn, torque) / 2  # as nodes turn by rotation vectors
    return Loads(base, slope, turns, frames, q)


def body_deformation(model: Model, body: str, t: Any, results: Mapping[str, Any]) -> Deformation:
    """The mesh of a flexible body of a model over a run, or at one time, whose results are given by name."""
    part = model.components.get(body)
    if not isinstance(part, Deformable):
        bodies = [name for name, each in model.components.items() if isinstance(each, Deformable)]
        expected = f"one of {', '.join(bodies)}" if bodies else "a flexible body: the model has none"
        raise ModelError(f"'{body}' is no flexible body", expected=expected)
    own = {name.removeprefix(f"{body}."): each for name, each in results.items() if name.startswith(f"{body}.")}
    values = {name: np.atleast_1d(each) for name, each in own.items()}
    if part.pieces > 1:
        from cotree.terminal.segment_mesh import segmented_deformation

        return segmented_deformation(model, part, np.atleast_1d(t), values)  # type: ignore[arg-type]
    joined = part.joined(model.components.values())
    return deformation(part, part.values(model.parameter_values()), np.atleast_1d(t), values, joined, model.folder)
