"""What a run looks like in space, as plain data: solids that move, struts, skins that deform, arrows and traces.

`scene_of` finds everything from the base classes of the components and the names of the results, so that a component
that is added later is drawn without code of its own: a body by its shape or its frames, a joint by its coordinates, and
anything else between two frames as a strut.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from cotree.errors import CotreeError
from cotree.maths.rotation import matrices
from cotree.model import GroundFrame, Model
from cotree.model.expression import TIME
from cotree.results import Solution
from cotree.terminal.deformable import Deformable
from cotree.terminal.forces import OnFrame
from cotree.terminal.mechanics import ORIENTATION, Connection, Joint
from cotree.terminal.recovery import Deformation, body_deformation
from cotree.view.scene_frames import (
    FOLLOWED,
    Track,
    bending,
    chosen,
    finite,
    fixed,
    frame_turn,
    own_size,
    size_of,
    track_of,
    turned,
)
from cotree.view.scene_shapes import Array, Indices, Mesh

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#56b4e9", "#d55e00", "#cc79a7", "#8c9a00", "#7f6bd1")
"""Colours of bodies, after Okabe and Ito."""
METAL, STONE, SPRING = "#667080", "#9aa3ad", "#4d5563"
"""Colours of joints, of what stands on the ground, and of springs and other elements."""
FORCE = re.compile(r"\.(force|tension)(\.[xyz])?$")
"""Results that are forces."""
FAR = 300.0
"""Sizes of the model from the origin beyond which the page measures from elsewhere."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A mesh that moves with a track. Where ``since`` is given, it is hollow before that time."""

    owner: str
    mesh: Mesh
    track: str
    colour: str
    group: str = "body"
    since: float | None = None


@dataclass(frozen=True, eq=False)
class Strut:
    """A mesh from x = 0 to 1 with radius 1, drawn from one track to another.

    ``level`` colours it in each frame; one with a ``tension`` is pale while it has none.
    """

    owner: str
    mesh: Mesh
    a: str
    b: str
    radius: float
    colour: str
    group: str = "body"
    level: Array | None = None
    tension: Array | None = None


@dataclass(frozen=True, eq=False)
class Skin:
    """A surface that deforms in the axes of a track: vertices + sum of shapes * coordinates."""

    owner: str
    mesh: Mesh
    track: str
    colour: str
    shapes: Array
    """(n, vertices, 3)"""
    coordinates: Array
    """(frames, n)"""
    deflection: float = 0.0
    """Largest displacement of a vertex at any output point."""
    stress: Array | None = None
    """(instants, vertices) von Mises stress in Pa"""
    instants: Indices | None = None
    """Numbers of the frames that the stress is given at."""
    averaged: bool = False
    """Whether the stress of a vertex is the mean of elements that meet there."""


@dataclass(frozen=True, eq=False)
class Faces:
    """Flat faces with tracks at their corners."""

    owner: str
    tracks: tuple[str, ...]
    triangles: Indices
    colour: str


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force or torque in world axes on the origin of a track."""

    owner: str
    track: str
    vector: Array
    torque: bool
    reaction: bool
    open: bool = False
    """Whether rigid bodies do not determine it."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The way of a point over the whole run."""

    owner: str
    points: Array
    colour: str


@dataclass(frozen=True, eq=False)
class Scene:
    """A run in space. Lengths are in m; ``size`` is that of the model at one instant, ``bounds`` hold all instants."""

    name: str
    times: Array
    tracks: Mapping[str, Track]
    solids: Sequence[Solid]
    struts: Sequence[Strut]
    skins: Sequence[Skin]
    faces: Sequence[Faces]
    arrows: Sequence[Arrow]
    traces: Sequence[Trace]
    labels: Mapping[str, str]
    """Names with the tracks that they stand at."""
    size: float
    bounds: Array
    up: Array
    front: Array
    """Towards the eye."""
    ground: tuple[Array, float] | None
    """Normal of the plane that carries the grid, and its height: below, or behind a planar motion without weight."""
    reach: Array
    """(n, 3) outermost points of all instants; where the eye follows a track, those around its first place."""
    follow: str | None
    """A track that the eye follows, where the way is much longer than the model."""
    levels: tuple[str, str] | None = None
    """What the levels of struts are, and their unit."""
    level: float = 0.0
    """Largest level of a strut at any output point."""
    centre: Array = field(default_factory=lambda: np.zeros(3))
    """Place near the model that the page measures from, where that is far from the origin."""
    second: bool = True
    """Whether reactions are between two frames and act on the second."""
    notes: Sequence[str] = ()
    """What the picture cannot show."""


def scene_of(model: Model, solution: Solution) -> Scene | None:
    """The run in space; None where the model has nothing there, as a network."""
    if not len(solution.t):
        return None
    stage = Stage.of(model, solution)
    if stage is None:
        return None
    if model.nodal:
        from cotree.view.scene_nodal import add_structure

        add_structure(stage)
    elif model.bonded:
        from cotree.view.scene_bond import add_bond_mechanism

        add_bond_mechanism(stage)
    else:
        from cotree.view.scene_mechanism import add_mechanism

        add_mechanism(stage)
    return stage.finish()


@dataclass(eq=False)
class Stage:
    """A scene in the making."""

    model: Model
    solution: Solution
    frames: Indices
    """Numbers of the output points that are kept."""
    tracks: dict[str, Track]
    values: dict[str, dict[str, float]]
    """Numbers of each component by field."""
    size: float
    up: Array
    front: Array
    gravity: bool
    plane: Array | None
    """Normal of the plane of a planar motion."""
    solids: list[Solid] = field(default_factory=list)
    struts: list[Strut] = field(default_factory=list)
    skins: list[Skin] = field(default_factory=list)
    faces: list[Faces] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    colours: dict[str, str] = field(default_factory=dict)
    levels: tuple[str, str] | None = None
    level: float = 0.0
    elastic: Mapping[str, Deformation] = field(default_factory=dict)
    """Flexible bodies at all known output points."""
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, model: Model, solution: Solution) -> Stage | None:
        """The empty stage with all moving frames that the results hold."""
        nodes = [name.removesuffix(".position.x") for name in solution.names if name.endswith(".position.x")]
        owners = set(model.components)
        nodes = [node for node in nodes if f"{node}.position.z" in solution and node.partition(".")[0] in owners]
        if not nodes:
            return None
        values = _values(model, solution)
        whole = {node: track_of(solution, node) for node in nodes}
        ground = {"ground": fixed(len(solution.t))} | {
            part.name: fixed(len(solution.t), *frame_turn(values[part.name]))
            for part in model.components.values()
            if isinstance(part, GroundFrame)
        }
        known = np.flatnonzero(finite(whole.values()))
        if not len(known):
            return None
        t = solution.t[known]
        moving, still = ([track.at(known) for track in tracks.values()] for tracks in (whole, ground))
        size = size_of(moving, still, _holds(model), own_size(values))
        elastic = _elastic(model, solution, known)
        bends, peaks = [], [0]
        for each in elastic.values():
            bend, peak = bending(each.shapes, each.coordinates.T, 1e-9 * size)
            bends.append(bend)
            peaks.append(peak)
        kept = np.union1d(chosen(t, moving, size, bends, _numbers(model, nodes, elastic)), peaks).astype(int)
        frames = known[kept]
        tracks = {name: track.at(frames) for name, track in {**whole, **ground}.items()}
        up, front, weighs, plane = _directions(values, tracks)
        stage = cls(model, solution, frames, tracks, values, size, up, front, weighs, plane, elastic=elastic)
        if len(known) < len(solution.t):
            stage.notes.append(
                f"Places are known at {len(known)} of {len(solution.t)} output points, the last at {t[-1]:.4g} s; "
                f"the run has points up to {solution.t[-1]:.4g} s."
            )
        turns = max(_between_frames(turned(t, each), kept) for each in moving) / (2 * np.pi)
        if turns > 0.5:
            stage.notes.append(
                f"The motion is faster than the frames: up to {turns:.2g} turns from one to the next. "
                "A turning part may look slower, at rest or turning back."
            )
        return stage

    def colour(self, owner: str) -> str:
        """The colour of a body."""
        return self.colours.setdefault(owner, PALETTE[len(self.colours) % len(PALETTE)])

    def result(self, name: str) -> Array | None:
        """A result in the frames of the scene, where it is there; unknown values stay unknown."""
        try:
            return self.solution[name][self.frames]
        except CotreeError:
            return None

    @cached_property
    def strongest(self) -> float:
        """The largest force in the results, or weight of a body."""
        found = [np.abs(self.solution[name]) for name in self.solution.names if FORCE.search(name)]
        g = np.linalg.norm([self.values.get("gravity", {}).get(x, 0.0) for x in "xyz"])
        weights = [abs(own["mass"]) * float(g) for own in self.values.values() if "mass" in own]
        return max([*(float(each[np.isfinite(each)].max(initial=0.0)) for each in found), *weights], default=0.0)

    def finish(self) -> Scene:
        """The scene, with its bounds."""
        carried: list[Solid | Skin | Arrow] = [*self.solids, *self.skins, *self.arrows]
        used = {part.track for part in carried} | set(self.labels.values())
        used |= {end for strut in self.struts for end in (strut.a, strut.b)}
        used |= {name for face in self.faces for name in face.tracks}
        ends = {end for part in self.model.components.values() if isinstance(part, Connection)
                for end in part.ends}  # fmt: skip
        used |= {end for end in ends if f"{end}.position.x" in self.solution}
        tracks = {name: track for name, track in self.tracks.items() if name in used}
        reach = self._reach(tracks, None)
        bounds = np.array([reach.min(axis=0), reach.max(axis=0)])
        normal = self.up if self.gravity else self.plane
        ground = None if normal is None else (normal, float((reach @ normal).min()) - 0.03 * self.size)
        follow = None
        if np.ptp(bounds, axis=0).max() > FOLLOWED * self.size:
            follow = next((each.track for each in self.solids if each.group == "body"), None)
            reach = self._reach(tracks, follow)
        centre = np.mean([track.position[0] for track in tracks.values()], axis=0)
        if np.linalg.norm(centre) < FAR * self.size:
            centre = np.zeros(3)
        return Scene(
            self.model.name, self.solution.t[self.frames], tracks, self.solids, self.struts, self.skins, self.faces,
            self.arrows, self.traces, self.labels, self.size, bounds, self.up, self.front, ground, reach, follow,
            self.levels, self.level, centre, not self.model.nodal, self.notes,
        )  # fmt: skip

    def _reach(self, tracks: Mapping[str, Track], follow: str | None) -> Array:
        """The outermost points of everything in some directions; what does not move along counts not."""
        around = ways()
        few = np.unique(np.linspace(0, len(self.frames) - 1, 40).astype(int))
        away = np.zeros((len(self.frames), 3))
        if follow is not None:
            away = tracks[follow].position - tracks[follow].position[0]
            still = {name for name, track in tracks.items() if not np.ptp(track.position, axis=0).any()}
            tracks = {name: track for name, track in tracks.items() if name not in still}
        points = [outermost(np.concatenate([track.position - away for track in tracks.values()]), around)]
        covered: list[Solid | Skin] = [*self.solids, *self.skins]
        for part in covered:
            if part.track in tracks:
                own, track = outermost(part.mesh.vertices, around), tracks[part.track]
                places = np.einsum("fij,cj->fci", matrices(track.orientation[few]), own)
                places += (track.position - away)[few, None]
                points.append(outermost(places.reshape(-1, 3), around))
        return outermost(np.concatenate(points), around)


def _holds(model: Model) -> bool:
    """Whether the ground holds or carries anything: a joint that leaves everything free does not."""
    if model.nodal or model.bonded:
        return True
    still = {"ground", *(part.name for part in model.components.values() if isinstance(part, GroundFrame))}
    for part in model.components.values():
        if not isinstance(part, Connection) or isinstance(part, OnFrame) or not set(part.ends) & still:
            continue
        words = [c.name for c in part.coordinates] if isinstance(part, Joint) else []
        if not (ORIENTATION in words and len(words) == 4):
            return True
    return False


def _elastic(model: Model, solution: Solution, known: Indices) -> dict[str, Deformation]:
    """The flexible bodies at all known output points; one whose mesh cannot be made again is left out."""
    found = {}
    for part in model.components.values():
        if isinstance(part, Deformable) and f"{part.name}.position.x" in solution:
            with suppress(CotreeError):
                own = [name for name in solution.names if name.startswith(f"{part.name}.")]
                values = {name: np.nan_to_num(solution[name][known]) for name in own}
                found[part.name] = body_deformation(model, part.name, solution.t[known], values)
    return found


def _numbers(model: Model, nodes: Sequence[str], elastic: Mapping[str, Deformation]) -> int:
    """About how many numbers one frame takes in a page: frames of rigid bodies follow from these."""
    owners = [node.partition(".")[0] for node in nodes if "." not in node or node.partition(".")[0] in elastic]
    forces = sum(isinstance(part, Connection) for part in model.components.values())
    modes = sum(len(each.coordinates) for each in elastic.values())
    return (6 if model.nodal else 14) * len(owners) + 6 * forces + modes


def _between_frames(steps: Array, frames: Indices) -> float:
    """The largest sum of steps between points from one of some points to the next."""
    course = np.concatenate([[0.0], np.cumsum(steps)])
    return float(np.diff(course[frames]).max(initial=0.0))


def _values(model: Model, solution: Solution) -> dict[str, dict[str, float]]:
    """The numbers of all components, with those of the run put in their place."""
    changed = {
        name: value
        for name, value in solution.parameters.items()
        if name in model.parameters and not model.parameters[name].names
    }
    parameters = model.parameter_values(changed)
    result: dict[str, dict[str, float]] = {}
    for part in model.valued():
        try:
            own = part.values(parameters)
        except CotreeError:  # values inside a mask follow from what is around it
            own = {}
        for name, expression in part.expressions.items():
            if name not in own and expression.depends_on_time and expression.names <= {*parameters, TIME}:
                with suppress(CotreeError):
                    own[name] = expression.number({**parameters, TIME: float(solution.t[0])})
        for name in own:
            own[name] = solution.parameters.get(f"{part.name}.{name}", own[name])
        result[part.name] = own
    return result


def _directions(
    values: Mapping[str, Mapping[str, float]], tracks: Mapping[str, Track]
) -> tuple[Array, Array, bool, Array | None]:
    """Up, towards the eye, whether there is weight, and the normal of a planar motion."""
    g = np.array([values.get("gravity", {}).get(x, 0.0) for x in "xyz"])
    weighs = bool(np.linalg.norm(g) > 0)
    places = np.concatenate([track.position for track in tracks.values()])
    spread = places.max(axis=0) - places.min(axis=0)
    flat = spread < 1e-6 * max(float(spread.max()), 1e-300)
    normal = np.eye(3)[int(np.argmax(flat))] if flat.sum() == 1 else None
    if normal is not None and (normal == (0.0, 1.0, 0.0)).all():
        normal = -normal  # x to the right, z up
    up = -g / np.linalg.norm(g) if weighs else np.array([0.0, 0.0, 1.0])
    if not weighs and normal is not None and abs(normal[2]) == 1:
        up = np.array([0.0, 1.0, 0.0])
    eye = np.array([1.0, -1.7, 1.0]) if abs(up[2]) > 0.9 else np.array([1.0, 0.8, 1.7])
    if normal is not None and abs(normal @ up) < 0.1:
        eye = normal + 0.32 * np.cross(up, normal) + 0.34 * up
    return up, np.asarray(eye / np.linalg.norm(eye)), weighs, normal


def ways() -> Array:
    """Directions all around."""
    k = np.arange(60) + 0.5
    height, turn = 1 - 2 * k / 60, np.pi * (1 + np.sqrt(5)) * k
    flat = np.sqrt(1 - height**2)
    return np.concatenate([np.column_stack([flat * np.cos(turn), flat * np.sin(turn), height]), np.eye(3), -np.eye(3)])


def outermost(points: Array, ways: Array) -> Array:
    """The points that lie farthest in some directions."""
    return np.asarray(points[np.unique((ways @ points.T).argmax(axis=1))])
