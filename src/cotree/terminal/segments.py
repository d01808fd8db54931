"""A beam cut into segments: flexible bodies in series, each with the linear theory in a frame of its own.

The frame of a segment follows the line between its ends, so that what turns against it is half of what the segment
bends by. Segments are welded end to start. Their frames follow from the elastic coordinates of all segments, exactly
for rotations of any size.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from cotree.errors import ModelError, listing, nearest
from cotree.fem.tables import Tables, modal_damping
from cotree.maths.rotation import skew, vee
from cotree.maths.symbolic import constant
from cotree.model import Component, Frame
from cotree.terminal.beam import SAME, Beam
from cotree.terminal.floating import Floating

C = TypeVar("C", bound=Component)

NAME = "segment"
"""What segments are called, with their number."""
NOISE = 1e-12
"""Part of the diagonal of a damping matrix below which an entry is rounding."""


@dataclass(frozen=True)
class Segment:
    """One body of a beam."""

    name: str
    """Such as ``boom.segment1``."""
    body: Beam
    """An ordinary beam of a part of the length; it keeps the name of the whole one, for messages."""
    begin: float
    """Place of its start along the whole beam in m."""
    frames: tuple[str, ...]
    """Frames of the whole beam that lie on it."""

    def joined(self, names: Sequence[str]) -> list[str]:
        """Those of its own frames that are among some of the whole beam, besides its ends."""
        return [name for name in names if name in self.frames and name not in ("start", "end")]


def called(part: C, name: str) -> C:
    """A component under a name that only the program gives."""
    other = copy.copy(part)
    object.__setattr__(other, "name", name)
    return other


def segments(beam: Beam, values: Mapping[str, float]) -> tuple[Segment, ...]:
    """The bodies of a beam, from the numbers of its fields; a frame at a cut belongs to the segment that ends there."""
    count, length = beam.decided_pieces, values["length"]
    beam.node_places(values)  # refuses frames that are not on the beam
    each, elements = length / count, -(-beam.elements // count)
    stations = np.linspace(0.0, each, elements + 1)
    names = beam.at_nodes()
    owners = {name: _owner(values[f"{name}.x"] / each, count) for name in names}
    owners |= {"start": 0, "end": count - 1}
    stops = beam.station_places(values)
    plain: dict[str, Any] = dict.fromkeys(("position", "orientation", "velocity", "angular_velocity"))
    found = []
    for k in range(count):
        frames = tuple(name for name in names if owners[name] == k)
        at = {name: _snapped(values[f"{name}.x"] - k * each, stations, SAME * length) for name in frames}
        body = replace(
            beam,
            segments=1,
            length=each,
            roll=values["roll"],
            elements=elements,
            frames={name: Frame((x, 0.0, 0.0)) for name, x in at.items() if name not in ("start", "end")},
            masses={name: lump for name, lump in beam.masses.items() if owners[lump["at"]] == k},
            interface=_interface(beam, frames),
            stations=tuple(x - k * each for x in stops if _owner(x / each, count) == k) or 0,
            attached=("start", "end") if beam.shapes in ("interface", "nodal") else None,
            damping=None,
            elastic={},
            elastic_rate={},
            **plain,
        )
        found.append(Segment(f"{beam.name}.{NAME}{k + 1}", body, k * each, frames))
    return tuple(found)


def _owner(place: float, count: int) -> int:
    """The number of the segment on which a place lies, which is given in lengths of a segment."""
    return int(np.clip(np.ceil(place - SAME * count) - 1, 0, count - 1))


def _snapped(place: float, stations: Any, near: float) -> float:
    """A place on a segment, or the node that is so near that they are one on the whole beam."""
    k = int(np.argmin(np.abs(stations - place)))
    return float(stations[k] if abs(stations[k] - place) <= near else place)


def _interface(beam: Beam, frames: Sequence[str]) -> Any:
    """The interface of a segment: its ends, and what is given for frames on it."""
    if beam.interface is None:
        return None
    given: Any = [beam.interface] if isinstance(beam.interface, str) else beam.interface
    wanted = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given, "all")
    chosen = {"start": "all", "end": "all"}
    return chosen | {name: degrees for name, degrees in wanted.items() if name in frames}


def prepared(
    beam: Beam, values: Mapping[str, float], folder: str | None, joined: Sequence[str]
) -> list[tuple[Segment, Tables]]:
    """The bodies of a beam with their tables; see `Deformable.tables`.

    A segment that has no vibration mode below the given frequency bends by the shapes of its ends.
    """
    found = []
    for part in segments(beam, values):
        body, sits = part.body, part.joined(joined)
        try:
            tables = body.tables(body.values({}), folder, sits)
        except ModelError:
            if body.below is None or body.shapes != "interface":
                raise
            body = replace(body, below=None, modes=0)
            tables = body.tables(body.values({}), folder, sits)
        found.append((replace(part, body=body), tables))
    return found


def with_start(beam: Beam, parts: Sequence[Segment], known: Sequence[str]) -> list[Segment]:
    """The segments with their elastic coordinates at the start; ``known`` are the names of all of them."""
    result = list(parts)
    for field in ("elastic", "elastic_rate"):
        for name, value in getattr(beam, field).items():
            if name not in known:
                raise ModelError(
                    f"there is no elastic coordinate '{name}'",
                    where=f"{beam.name}.{field}",
                    expected=f"one of {listing(known)}",
                    remedy=nearest(str(name), known),
                )
            k, _, own = name.partition(".")
            at = int(k.removeprefix(NAME)) - 1
            part = result[at]
            start: Any = {field: {**getattr(part.body, field), own: value}}
            result[at] = replace(part, body=replace(part.body, **start))
    return result


@dataclass(frozen=True)
class Chain:
    """The segments of a beam with the symbols of their elastic coordinates."""

    beam: Beam
    parts: tuple[Segment, ...]
    floating: tuple[Floating, ...]

    @property
    def carrier(self) -> int:
        """The number of the segment that carries the beam's own frame."""
        return next(k for k, part in enumerate(self.parts) if self.beam.own_frame in part.frames)

    def own_frame(self) -> tuple[Any, ca.SX]:
        """The node that carries the beam's own frame, and the way from there to its origin, in the segment's axes."""
        part, floating = self.parts[self.carrier], self.floating[self.carrier]
        table = floating.tables.frames[self.beam.own_frame]
        node = floating.place(table)
        away = ca.SX([-part.begin - table.place[0], 0.0, 0.0])
        return node, ca.mtimes(node.rotation, away)

    @cached_property
    def poses(self) -> list[tuple[ca.SX, ca.SX]]:
        """Position and rotation of the frame of each segment in the beam's own frame."""
        place, turn = ca.SX.zeros(3), ca.SX.eye(3)
        found = [(place, turn)]
        for inner, outer in zip(self.floating, self.floating[1:], strict=False):
            end, start = inner.place(inner.tables.frames["end"]), outer.place(outer.tables.frames["start"])
            cut = place + ca.mtimes(turn, end.position)
            turn = ca.mtimes(ca.mtimes(turn, end.rotation), start.rotation.T)
            place = cut - ca.mtimes(turn, start.position)
            found.append((place, turn))
        node, away = self.own_frame()
        place, turn = found[self.carrier]
        origin, back = place + ca.mtimes(turn, node.position + away), ca.mtimes(turn, node.rotation).T
        return [(ca.mtimes(back, place - origin), ca.mtimes(back, turn)) for place, turn in found]

    @cached_property
    def positions(self) -> dict[str, ca.SX]:
        """Positions of the beam's frames in its own frame."""
        found = {}
        for part, floating, (place, turn) in zip(self.parts, self.floating, self.poses, strict=True):
            for name in part.frames:
                own = floating.place(floating.tables.frames[name]).position
                found[name] = place + ca.mtimes(turn, own)
        return {name: found[name] for name in self.beam.at_nodes()}

    def undeformed(self, name: str) -> ca.SX:
        """The place of a frame on the undeformed beam."""
        part = next(part for part in self.parts if name in part.frames)
        table = self.floating[self.parts.index(part)].tables.frames[name]
        return ca.SX([part.begin + table.place[0], 0.0, 0.0])

    @property
    def names(self) -> list[str]:
        """Names of all elastic coordinates, such as ``segment1.mode1``."""
        return [f"{NAME}{k}.{name}" for k, each in enumerate(self.floating, 1) for name in each.tables.names]

    @property
    def units(self) -> list[str]:
        """Their units."""
        return [unit for each in self.floating for unit in each.tables.units]

    def measures(self) -> dict[str, ca.SX]:
        """Elastic coordinates, their rates, and deflections of frames from the beam's own frame, by name."""
        result = {
            f"{NAME}{k}.{n}": each.q[i]
            for k, each in enumerate(self.floating, 1)
            for i, n in enumerate(each.tables.names)
        }
        result |= {
            f"{NAME}{k}.{n}_rate": each.u[i]
            for k, each in enumerate(self.floating, 1)
            for i, n in enumerate(each.tables.names)
        }
        for frame, position in self.positions.items():
            moved = ca.densify(position - self.undeformed(frame))
            result |= {f"{frame}.deflection.{x}": moved[k] for k, x in enumerate("xyz")}
        return result

    def damped(self) -> Chain:
        """The same with the damping of the whole beam's modes: those of the straight beam with its own frame held."""
        beam, count = self.beam, len(self.names)
        if beam.damping is None:
            return self
        beam.check_damping(count)
        stiffness = np.zeros((count, count))
        for own, each in zip(self._own(), self.floating, strict=True):
            stiffness[own, own] = each.tables.stiffness
        damping = modal_damping(self._mass_matrix(), stiffness, beam.damping, NOISE)
        force = ca.mtimes(constant(damping), ca.vertcat(*(each.u for each in self.floating)))
        drags = [force[own] for own in self._own()]
        return replace(self, floating=tuple(replace(f, drag=d) for f, d in zip(self.floating, drags, strict=True)))

    def _own(self) -> list[slice]:
        """Where the coordinates of each segment are among those of all."""
        ends = np.cumsum([0, *(each.q.numel() for each in self.floating)]).tolist()
        return [slice(a, b) for a, b in itertools.pairwise(ends)]

    def _mass_matrix(self) -> Any:
        """The mass matrix of all elastic coordinates of the straight beam with its own frame held."""
        q = ca.vertcat(*(each.q for each in self.floating))
        moves = ca.horzcat(*(ca.vertcat(place, vee(turn)) for place, turn in self.poses))
        slopes = ca.Function("slopes", [q], [ca.densify(ca.jacobian(ca.vec(moves), q))])
        by_q = np.asarray(slopes(np.zeros(q.numel())), dtype=float)
        total = np.zeros((q.numel(), q.numel()))
        for k, (own, each) in enumerate(zip(self._own(), self.floating, strict=True)):
            b = each.blocks
            rows = ca.blockcat([[b.mass * ca.SX.eye(3), -skew(b.c), b.A], [skew(b.c), b.J, b.H], [b.A.T, b.H.T, b.M]])
            matrix = ca.Function("mass", [each.q], [ca.densify(rows)])(np.zeros(each.q.numel()))
            lift = np.vstack([by_q[6 * k : 6 * k + 6], np.eye(q.numel())[own]])
            total += lift.T @ np.asarray(matrix, dtype=float) @ lift
        return total

    @property
    def mass(self) -> float:
        """Mass in kg."""
        return float(sum(each.tables.mass for each in self.floating))

    @property
    def frequencies(self) -> Any:
        """Those of the shapes of all segments in rad/s with the frame of each held, where they have one, in order."""
        return np.sort(np.concatenate([each.tables.frequencies for each in self.floating]))

    @property
    def strain(self) -> ca.SX:
        """Strain energy."""
        return sum((each.strain for each in self.floating), ca.SX(0))
