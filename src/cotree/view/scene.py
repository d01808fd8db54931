"""What a run looks like in space, as plain data: solids that move, struts, skins that deform, arrows and traces.

`scene_of` finds everything from the base classes of the components and the names of the results, so that a component
that is added later is drawn without code of its own: a body by its shape or its frames, a joint by its coordinates, and
anything else between two frames as a strut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cotree.errors import CotreeError
from cotree.model import GroundFrame, Model
from cotree.model.expression import TIME
from cotree.results import Solution
from cotree.view.scene_shapes import Array, Indices, Mesh

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#56b4e9", "#d55e00", "#cc79a7", "#8c9a00", "#7f6bd1")
"""Colours of bodies, after Okabe and Ito."""
METAL, STONE, SPRING = "#667080", "#9aa3ad", "#4d5563"
"""Colours of joints, of what stands on the ground, and of springs and other elements."""

FEWEST, MOST_FRAMES = 120, 900
"""Bounds of the number of frames."""
BUDGET = 450_000
"""Numbers in all tracks, at most; frames are left out beyond."""
FOLLOWED = 12.0
"""How many times longer than the model a way is that the eye follows."""
TURN, STEP = 0.12, 0.01
"""Between two frames: largest turn in rad, and largest way as part of the size of the model."""


@dataclass(frozen=True, eq=False)
class Track:
    """A moving frame: its position and its Euler parameters in each of the scene's frames of time."""

    position: Array
    orientation: Array

    def at(self, frames: Indices) -> Track:
        """The same in some of its frames."""
        return Track(self.position[frames], self.orientation[frames])


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
    stress: Array | None = None
    """(frames, vertices) von Mises stress in Pa"""


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

    @classmethod
    def of(cls, model: Model, solution: Solution) -> Stage | None:
        """The empty stage with all moving frames that the results hold."""
        nodes = [name.removesuffix(".position.x") for name in solution.names if name.endswith(".position.x")]
        owners = set(model.components)
        nodes = [node for node in nodes if f"{node}.position.z" in solution and node.partition(".")[0] in owners]
        if not nodes:
            return None
        values = _values(model, solution)
        whole = {node: _track(solution, node) for node in nodes}
        ground = {"ground": fixed(len(solution.t))} | {
            part.name: fixed(len(solution.t), *frame_turn(values[part.name]))
            for part in model.components.values()
            if isinstance(part, GroundFrame)
        }
        known = np.flatnonzero(_finite(whole.values()))
        if not len(known):
            return None
        some = [[track.at(known) for track in tracks.values()] for tracks in (whole, ground)]
        size = max(_size(*some), _own_size(values))
        frames = known[_frames(some[0], size)]
        tracks = {
            name: Track(track.position[frames], track.orientation[frames])
            for name, track in {**whole, **ground}.items()
        }
        up, front, weighs, plane = _directions(values, tracks)
        return cls(model, solution, frames, tracks, values, size, up, front, weighs, plane)

    def colour(self, owner: str) -> str:
        """The colour of a body."""
        return self.colours.setdefault(owner, PALETTE[len(self.colours) % len(PALETTE)])

    def result(self, name: str) -> Array | None:
        """A result in the frames of the scene, where it is there."""
        try:
            return np.nan_to_num(self.solution[name])[self.frames]
        except CotreeError:
            return None

    def finish(self) -> Scene:
        """The scene, with its bounds."""
        carried: list[Solid | Skin | Arrow] = [*self.solids, *self.skins, *self.arrows]
        used = {part.track for part in carried} | set(self.labels.values())
        used |= {end for strut in self.struts for end in (strut.a, strut.b)}
        used |= {name for face in self.faces for name in face.tracks}
        tracks = {name: track for name, track in self.tracks.items() if name in used}
        reach = self._reach(tracks, None)
        bounds = np.array([reach.min(axis=0), reach.max(axis=0)])
        normal = self.up if self.gravity else self.plane
        ground = None if normal is None else (normal, float((reach @ normal).min()) - 0.03 * self.size)
        follow = None
        if np.ptp(bounds, axis=0).max() > FOLLOWED * self.size:
            follow = next((each.track for each in self.solids if each.group == "body"), None)
            reach = self._reach(tracks, follow)
        return Scene(
            self.model.name, self.solution.t[self.frames], tracks, self.solids, self.struts, self.skins, self.faces,
            self.arrows, self.traces, self.labels, self.size, bounds, self.up, self.front, ground, reach, follow,
            self.levels,
        )  # fmt: skip

    def _reach(self, tracks: Mapping[str, Track], follow: str | None) -> Array:
        """The outermost points of everything in some directions; what does not move along counts not."""
        ways = _ways()
        few = np.unique(np.linspace(0, len(self.frames) - 1, 40).astype(int))
        away = np.zeros((len(self.frames), 3))
        if follow is not None:
            away = tracks[follow].position - tracks[follow].position[0]
            still = {name for name, track in tracks.items() if not np.ptp(track.position, axis=0).any()}
            tracks = {name: track for name, track in tracks.items() if name not in still}
        points = [outermost(np.concatenate([track.position - away for track in tracks.values()]), ways)]
        covered: list[Solid | Skin] = [*self.solids, *self.skins]
        for part in covered:
            if part.track in tracks:
                own, track = outermost(part.mesh.vertices, ways), tracks[part.track]
                places = np.einsum("fij,cj->fci", matrices(track.orientation[few]), own)
                places += (track.position - away)[few, None]
                points.append(outermost(places.reshape(-1, 3), ways))
        return outermost(np.concatenate(points), ways)


def matrices(orientation: Array) -> Array:
    """Rotation matrices (n, 3, 3) from Euler parameters (n, 4)."""
    e = orientation / np.maximum(np.linalg.norm(orientation, axis=1, keepdims=True), 1e-300)
    w, x, y, z = e.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def fixed(count: int, position: Array | None = None, orientation: Array | None = None) -> Track:
    """A track that does not move."""
    place = np.zeros(3) if position is None else np.asarray(position, dtype=float)
    turn = np.array([1.0, 0.0, 0.0, 0.0]) if orientation is None else np.asarray(orientation, dtype=float)
    return Track(np.tile(place, (count, 1)), np.tile(turn, (count, 1)))


def _track(solution: Solution, node: str) -> Track:
    position = solution[f"{node}.position"]
    if f"{node}.orientation.e0" not in solution:
        return Track(position, np.tile([1.0, 0.0, 0.0, 0.0], (len(position), 1)))
    turn = np.array(solution[f"{node}.orientation"])
    flips = np.cumprod(np.where((turn[1:] * turn[:-1]).sum(axis=1) < 0, -1.0, 1.0))
    turn[1:] *= flips[:, None]
    return Track(position, turn)


def _finite(tracks: Iterable[Track]) -> NDArray[np.bool_]:
    """The output points at which all places are known."""
    known = [np.isfinite(np.hstack([each.position, each.orientation])).all(axis=1) for each in tracks]
    return np.asarray(np.all(known, axis=0))


def frame_turn(values: Mapping[str, float]) -> tuple[Array, Array]:
    """Position and Euler parameters of a frame from the numbers ``position``, ``axis`` and ``angle``."""
    place = np.array([values.get(f"position.{x}", 0.0) for x in "xyz"])
    axis, angle = np.array([values.get(f"axis.{x}", 0.0) for x in "xyz"]), values.get("angle", 0.0)
    length = float(np.linalg.norm(axis))
    if length == 0.0:
        return place, np.array([1.0, 0.0, 0.0, 0.0])
    return place, np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis / length)])


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


def _size(moving: Sequence[Track], still: Sequence[Track]) -> float:
    """The largest extent of what moves at one instant, or the least with the ground, from which it may fly away."""

    def extents(tracks: Sequence[Track]) -> Array:
        places = [track.position for track in tracks]
        return np.asarray(np.linalg.norm(np.max(places, axis=0) - np.min(places, axis=0), axis=1))

    return max(float(extents(moving).max()), float(extents([*moving, *still]).min()))


def _own_size(values: Mapping[str, Mapping[str, float]]) -> float:
    """The size of the largest body, from its lengths or its inertia."""
    sizes = [1e-9]
    for own in values.values():
        sizes += [abs(own[name]) for name in ("length", "size.x", "size.y", "size.z") if name in own]
        sizes += [2 * abs(own[name]) for name in ("radius", "outer") if name in own]
        mass = own.get("mass", 0.0)
        sizes += [4 * np.sqrt(abs(own[name]) / mass) for name in ("inertia.xx", "inertia.zz") if name in own and mass]
    return float(1.2 * max(sizes))


def _frames(tracks: Sequence[Track], size: float) -> Indices:
    """As many output points as the motion asks for: evenly, and all where there are few."""
    turned = way = 0.0
    for track in tracks:
        steps = np.clip(np.abs((track.orientation[1:] * track.orientation[:-1]).sum(axis=1)), 0.0, 1.0)
        turned = max(turned, float((2 * np.arccos(steps)).sum()))
        way = max(way, float(np.linalg.norm(np.diff(track.position, axis=0), axis=1).sum()))
    most = min(MOST_FRAMES, max(FEWEST, BUDGET // max(7 * len(tracks), 1)))
    wanted = int(np.clip(max(turned / TURN, way / (STEP * size)), FEWEST, most))
    count = len(tracks[0].position)
    return np.unique(np.linspace(0, count - 1, min(wanted, count)).round().astype(int))


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


def _ways() -> Array:
    """Directions all around."""
    k = np.arange(60) + 0.5
    height, turn = 1 - 2 * k / 60, np.pi * (1 + np.sqrt(5)) * k
    flat = np.sqrt(1 - height**2)
    return np.concatenate([np.column_stack([flat * np.cos(turn), flat * np.sin(turn), height]), np.eye(3), -np.eye(3)])


def outermost(points: Array, ways: Array) -> Array:
    """The points that lie farthest in some directions."""
    return np.asarray(points[np.unique((ways @ points.T).argmax(axis=1))])
