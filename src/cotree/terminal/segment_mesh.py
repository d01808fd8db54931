"""The mesh of a beam of several segments: those of its segments as one, seen from the beam's own frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.fem.element import DEGREES
from cotree.maths.symbolic import symbols
from cotree.model import Model
from cotree.terminal.beam import Beam
from cotree.terminal.floating import Floating
from cotree.terminal.recovery import ENDS, Deformation, deformation
from cotree.terminal.segments import NAME, Chain, prepared

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Piece:
    """One segment over time, and how its frame moves in the beam's own."""

    position: Array
    """(T, 3)."""
    rotation: Array
    """(T, 3, 3)."""
    strained: Deformation
    """The segment in its own frame by its elastic coordinates, for stresses."""
    drawn: Deformation
    """The same with the second-order displacement of its ends spread along it, so that segments meet."""

    begin: float
    """Place of its start along the whole beam in m."""

    def part(self, instants: Any) -> Piece:
        """The same at some instants, by their numbers."""
        strained, drawn = (each.part(instants) for each in (self.strained, self.drawn))
        return Piece(self.position[instants], self.rotation[instants], strained, drawn, self.begin)


@dataclass(frozen=True)
class SegmentedDeformation(Deformation):
    """The mesh of a beam of several segments over time, in the axes of the beam's own frame.

    Displacements and rotation vectors hold the full rotations of the segments. They are the coordinates themselves;
    stresses come from the segments.
    """

    pieces: tuple[Piece, ...] = ()

    def part(self, indices: Any) -> SegmentedDeformation:
        """The same at some of its times."""
        pieces = tuple(piece.part(indices) for piece in self.pieces)
        return replace(self, t=self.t[indices], coordinates=self.coordinates[:, indices], pieces=pieces)

    def forces(self, index: int, stations: Any = ENDS) -> list[Any]:
        """Section forces at one time: N, Qy, Qz, Mx, My, Mz, each (elements of the whole beam, stations)."""
        every = zip(*(piece.strained.forces(index, stations) for piece in self.pieces), strict=True)
        return [type(each[0])(*map(np.concatenate, zip(*each, strict=True))) for each in every]

    def stress(self, index: int) -> list[Any]:
        """Stresses at one time at both ends of each element of the whole beam."""
        return [_joined(each) for each in zip(*(piece.strained.stress(index) for piece in self.pieces), strict=True)]

    @cached_property
    def _largest(self) -> tuple[Array, Array, Array]:
        """The largest stress at each time, its place on the whole beam and its element."""
        every = [piece.strained._largest for piece in self.pieces]
        values = np.array([each[0] for each in every])
        most, times = np.argmax(values, axis=0), np.arange(len(self.t))
        first = np.cumsum([0, *(len(piece.strained.families[0].lengths) for piece in self.pieces)])
        places = np.array([each[1] + (piece.begin, 0.0, 0.0) for each, piece in zip(every, self.pieces, strict=True)])
        elements = np.array([each[2] + start for each, start in zip(every, first[:-1], strict=True)])
        return values[most, times], places[most, times], elements[most, times]


def _joined(parts: tuple[Any, ...]) -> Any:
    """The stresses of beams as those of one: all but the points of the section are given by element."""
    names = [each.name for each in fields(parts[0]) if each.name != "points"]
    return replace(parts[0], **{name: np.concatenate([getattr(each, name) for each in parts]) for name in names})


def segmented_deformation(model: Model, beam: Beam, t: Array, results: Mapping[str, Array]) -> SegmentedDeformation:
    """The mesh of a beam of several segments over a run; ``results`` are by name without that of the beam."""
    values = beam.values(model.parameter_values())
    joined = beam.joined(model.components.values())
    parts, floating, strained = [], [], []
    for k, (part, tables) in enumerate(prepared(beam, values, model.folder, joined), 1):
        q, u = symbols([f"{k}.{name}" for name in tables.names]), symbols([f"{k}.{name}'" for name in tables.names])
        floating.append(Floating(tables, q, u, part.body.stiffening))
        head, sits = f"{NAME}{k}.", part.joined(joined)
        own = {name.removeprefix(head): each for name, each in results.items() if name.startswith(head)}
        strained.append(deformation(part.body, part.body.values({}), t, own, sits, model.folder))
        parts.append(part)
    chain = Chain(beam, tuple(parts), tuple(floating))
    pieces = tuple(_pieces(chain, strained))
    whole = replace(beam, segments=1, elements=beam.decided_pieces * parts[0].body.elements)
    structure = whole.prepare(values).structure
    moved = _moved(pieces, structure.places)
    shapes = np.eye(len(moved))
    body = whole.internal(whole.prepare(values), shapes[:, :0])
    return SegmentedDeformation(t, structure.places, shapes, moved, structure.families, body, None, (), pieces)


def _pieces(chain: Chain, strained: list[Deformation]) -> list[Piece]:
    """Where the segments are over time."""
    q = ca.vertcat(*(each.q for each in chain.floating))
    rows = []
    for (place, turn), each in zip(chain.poses, chain.floating, strict=True):
        rows += [place, ca.vec(turn)]
        for name in ("start", "end"):
            node = each.tables.frames[name]
            rows.append(each.place(node).position - ca.SX(node.place) - ca.mtimes(ca.SX(node.move), each.q))
    function = ca.Function("segments", [q], [ca.densify(ca.vertcat(*rows))])
    found = np.asarray(function(np.vstack([shown.coordinates for shown in strained])), dtype=float)
    pieces = []
    for part, shown, own in zip(chain.parts, strained, np.split(found, len(strained)), strict=True):
        rotation = own[3:12].T.reshape(-1, 3, 3).transpose(0, 2, 1)
        pieces.append(Piece(own[:3].T, rotation, shown, _drawn(shown, own[12:]), part.begin))
    return pieces


def _drawn(each: Deformation, more: Array) -> Deformation:
    """A segment whose ends are displaced by more: (3, T) at its start, then (3, T) at its end."""
    x = each.places[:, 0] / each.places[-1, 0]
    spread = np.zeros((len(x), DEGREES, 6))
    for k in range(3):
        spread[:, k, k], spread[:, k, 3 + k] = 1 - x, x
    shapes = np.hstack([each.shapes, spread.reshape(-1, 6)])
    return replace(each, shapes=shapes, coordinates=np.vstack([each.coordinates, more]))


def _moved(pieces: tuple[Piece, ...], places: Array) -> Array:
    """(6 N, T) displacements and rotation vectors of the nodes of the whole beam; a cut is one node."""
    from scipy.spatial.transform import Rotation

    rows, first = [], 0
    for k, piece in enumerate(pieces):
        drawn = piece.drawn
        count, times = len(drawn.places), len(drawn.t)
        own = (drawn.shapes @ drawn.coordinates).T.reshape(times, count, DEGREES)
        here = np.einsum("tij,tnj->tni", piece.rotation, drawn.places + own[:, :, :3]) + piece.position[:, None]
        turns = Rotation.from_rotvec(own[:, :, 3:].reshape(-1, 3)).as_matrix().reshape(times, count, 3, 3)
        turns = np.einsum("tij,tnjk->tnik", piece.rotation, turns).reshape(-1, 3, 3)
        turned = Rotation.from_matrix(turns).as_rotvec().reshape(times, count, 3)
        shift = here - places[first : first + count]
        rows.append(np.concatenate([shift, turned], axis=2)[:, 1 if k else 0 :])
        first += count - 1
    whole = np.concatenate(rows, axis=1)
    return np.asarray(whole.reshape(len(whole), -1).T)
