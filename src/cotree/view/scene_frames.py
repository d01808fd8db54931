"""Moving frames of a run, and which of its output points the picture in space keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotree.maths.rotation import matrices
from cotree.results import Solution
from cotree.view.scene_shapes import Array, Indices

FEWEST, MOST_FRAMES = 120, 900
"""Bounds of the number of frames of a motion that is slow enough to be followed with these."""
BUDGET = 250_000
"""Numbers of all frames together, at most; frames are left out beyond."""
FOLLOWED = 12.0
"""How many times longer than the model a way is that the eye follows."""
TURN, STEP = 0.12, 0.01
"""Between two frames: turn in rad, and way as part of the size of the model, that look smooth."""
COARSE = np.pi / 3
"""Largest turn between two frames, where there is room."""
BEND = 0.25
"""Largest change of a deflection between two frames as part of its amplitude."""
FAST = 4.8
"""Turn in rad between two points beyond which rates say nothing about the way between them."""


@dataclass(frozen=True, eq=False)
class Track:
    """A moving frame: its position and its Euler parameters in each of the scene's frames of time."""

    position: Array
    orientation: Array
    velocity: Array | None = None
    """Rates of the position, where the results hold them."""
    rate: Array | None = None
    """Rates of the Euler parameters, where the results hold them."""

    def at(self, frames: Indices) -> Track:
        """The same in some of its frames."""
        velocity = None if self.velocity is None else self.velocity[frames]
        rate = None if self.rate is None else self.rate[frames]
        return Track(self.position[frames], self.orientation[frames], velocity, rate)


def product(p: Array, q: Array) -> Array:
    """Products (n, 4) of Euler parameters: first the turns q, then p."""
    head = p[:, :1] * q[:, :1] - (p[:, 1:] * q[:, 1:]).sum(axis=1, keepdims=True)
    return np.hstack([head, p[:, :1] * q[:, 1:] + q[:, :1] * p[:, 1:] + np.cross(p[:, 1:], q[:, 1:])])


def fixed(count: int, position: Array | None = None, orientation: Array | None = None) -> Track:
    """A track that does not move."""
    place = np.zeros(3) if position is None else np.asarray(position, dtype=float)
    turn = np.array([1.0, 0.0, 0.0, 0.0]) if orientation is None else np.asarray(orientation, dtype=float)
    return Track(np.tile(place, (count, 1)), np.tile(turn, (count, 1)))


def track_of(solution: Solution, node: str) -> Track:
    """The track of a frame from the results; the signs of its Euler parameters follow its turns."""
    position = solution[f"{node}.position"]
    velocity = solution[f"{node}.velocity"] if f"{node}.velocity.z" in solution else None
    if f"{node}.orientation.e0" not in solution:
        return Track(position, np.tile([1.0, 0.0, 0.0, 0.0], (len(position), 1)), velocity)
    turn, rate = np.array(solution[f"{node}.orientation"]), None
    flips = (turn[1:] * turn[:-1]).sum(axis=1) < 0
    if f"{node}.angular_velocity.z" in solution:
        spin = solution[f"{node}.angular_velocity"]  # in world axes
        rate = 0.5 * product(np.hstack([np.zeros((len(spin), 1)), spin]), turn)
        half = 0.5 * np.diff(solution.t)[:, None]
        same, other = (
            np.linalg.norm(sign * turn[1:] - turn[:-1] - half * (rate[:-1] + sign * rate[1:]), axis=1)
            for sign in (1.0, -1.0)
        )
        flips = np.where(2 * half[:, 0] * _speed(rate) < FAST, other < same, flips)
    signs = np.concatenate([[1.0], np.cumprod(np.where(flips, -1.0, 1.0))])[:, None]
    return Track(position, turn * signs, velocity, None if rate is None else rate * signs)


def _speed(rate: Array) -> Array:
    """Mean angular speed in rad/s between points."""
    speed = 2 * np.linalg.norm(rate, axis=1)
    return np.asarray((speed[1:] + speed[:-1]) / 2)


def turned(t: Array, track: Track) -> Array:
    """How far a frame turns from each point to the next, in rad, also by several turns where rates are known."""
    steps = np.clip(np.abs((track.orientation[1:] * track.orientation[:-1]).sum(axis=1)), 0.0, 1.0)
    angles = np.asarray(2 * np.arccos(steps))
    return angles if track.rate is None else np.maximum(angles, np.diff(t) * _speed(track.rate))


def finite(tracks: Iterable[Track]) -> NDArray[np.bool_]:
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


def size_of(moving: Sequence[Track], still: Sequence[Track], held: bool, own: float) -> float:
    """The largest extent of what moves at one instant, or the least with the ground, from which it may fly away.

    ``own`` is the size of the largest body. Ground that holds nothing does not count where it is far away.
    """

    def extents(tracks: Sequence[Track]) -> Array:
        places = [track.position for track in tracks]
        return np.asarray(np.linalg.norm(np.max(places, axis=0) - np.min(places, axis=0), axis=1))

    inner, outer = max(float(extents(moving).max()), own), float(extents([*moving, *still]).min())
    return max(inner, outer) if held or outer < FOLLOWED * inner else inner


def own_size(values: Mapping[str, Mapping[str, float]]) -> float:
    """The size of the largest body, from its lengths or its inertia."""
    sizes = [1e-9]
    for own in values.values():
        sizes += [abs(own[name]) for name in ("length", "size.x", "size.y", "size.z") if name in own]
        sizes += [2 * abs(own[name]) for name in ("radius", "outer") if name in own]
        mass = own.get("mass", 0.0)
        sizes += [4 * np.sqrt(abs(own[name]) / mass) for name in ("inertia.xx", "inertia.zz") if name in own and mass]
    return float(1.2 * max(sizes))


def bending(shapes: Array, coordinates: Array, least: float) -> tuple[Array, int]:
    """Changes of a deflection from each point to the next by its amplitude, and the point where it is largest.

    ``shapes`` are (6 nodes, n), ``coordinates`` (points, n); an amplitude below ``least`` counts not.
    """
    largest = np.linalg.norm(shapes.reshape(-1, 6, shapes.shape[1])[:, :3], axis=1).max(axis=0)
    moved = coordinates * largest
    middle = (moved.max(axis=0) + moved.min(axis=0)) / 2
    peak = int(np.linalg.norm(moved, axis=1).argmax())
    amplitude = max(float(np.linalg.norm(moved - middle, axis=1).max()), 1e-6 * float(np.linalg.norm(moved[peak])))
    if amplitude <= least:
        return np.zeros(len(moved) - 1), peak
    return np.asarray(np.linalg.norm(np.diff(moved, axis=0), axis=1) / amplitude), peak


def _lasting(steps: Array) -> Array:
    """The largest steps around each, about half a swing: where a vibration turns back, frames stay as close."""
    from scipy.ndimage import maximum_filter1d

    window = int(np.clip(8 * len(steps) / max(float(steps.sum()), 1.0), 1, max(len(steps) // 8, 1)))
    return np.asarray(maximum_filter1d(steps, window)) if len(steps) else steps


def chosen(t: Array, tracks: Sequence[Track], size: float, bends: Sequence[Array], numbers: int) -> Indices:
    """The output points that the motion asks for, closer where it is fast; all where there are few.

    ``bends`` are changes of deflections by their amplitudes from each point to the next, ``numbers`` those that one
    frame takes.
    """
    count = len(t)
    pace = vital = np.zeros(count - 1)
    for track in tracks:
        angle, way = turned(t, track), np.linalg.norm(np.diff(track.position, axis=0), axis=1)
        pace = np.maximum(pace, np.maximum(angle / TURN, way / (STEP * size)))
        vital = np.maximum(vital, angle / COARSE)
    for bend in bends:
        vital = np.maximum(vital, _lasting(bend / BEND))
    smooth = float(np.clip(pace.sum(), FEWEST, MOST_FRAMES))
    needed = float(vital.sum()) + FEWEST
    wanted = int(min(max(smooth, needed), max(FEWEST, BUDGET // max(numbers, 1))))
    if wanted >= count:
        return np.arange(count)
    weight = vital if needed > smooth else pace
    share = (wanted - FEWEST) / max(float(weight.sum()), 1e-300)
    course = np.concatenate([[0.0], np.cumsum(weight * share + FEWEST / (count - 1))])
    places = np.interp(np.linspace(0.0, course[-1], wanted), course, np.arange(count))
    return np.unique(places.round().astype(int))


@dataclass(frozen=True, eq=False)
class Carried:
    """A track as the page computes it: ``on`` another one, or the course of a point ``at`` of its own axes."""

    track: Track
    at: Array
    on: str | None = None
    turn: Array | None = None


def carried(tracks: Mapping[str, Track], size: float) -> dict[str, Carried]:
    """How the page carries each track: frames that are fixed to a body on that, and a body by its calmest point.

    So a body on a pin stays on it between frames, and frames of rigid bodies take no room.
    """
    found: dict[str, Carried] = {}
    for name, body in tracks.items():
        own, turns, back = f"{name}.", matrices(body.orientation), body.orientation * (1.0, -1.0, -1.0, -1.0)
        best, least, at = body, _way(body), np.zeros(3)
        for node in (each for each in tracks if each.startswith(own)):
            track = tracks[node]
            places = np.einsum("fji,fj->fi", turns, track.position - body.position)
            relative = product(back, track.orientation)
            relative *= np.where(relative @ relative[0] < 0, -1.0, 1.0)[:, None]
            if np.abs(places - places[0]).max() > 1e-7 * size or np.abs(relative - relative[0]).max() > 1e-7:
                continue
            found[node] = Carried(track, places[0], name, relative[0])
            if track.velocity is not None and _way(track) < 0.999 * least:
                best, least, at = track, _way(track), places[0]
        if name not in found:
            found[name] = Carried(Track(best.position, body.orientation, best.velocity, body.rate), at)
    return found


def _way(track: Track) -> float:
    return float(np.linalg.norm(np.diff(track.position, axis=0), axis=1).sum())
