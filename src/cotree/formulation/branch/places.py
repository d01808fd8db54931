"""Frames and the bodies that carry them: fixed in rigid bodies, moving with the nodes of flexible ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from cotree.errors import ModelError
from cotree.formulation.values import Values
from cotree.maths.symbolic import symbols
from cotree.model import Model, quantities
from cotree.terminal.bodies import frame_of
from cotree.terminal.deformable import Deformable
from cotree.terminal.floating import Floating


@dataclass(frozen=True)
class Place:
    """A frame: the body that carries it, its position and rotation in body axes.

    On a flexible body it moves in the body: ``rate`` and ``spin`` are its velocity and angular velocity seen from the
    body, in body axes (Richard 2012, eq. 47 and 69).
    """

    body: int
    position: ca.SX
    rotation: ca.SX
    rate: ca.SX = field(default_factory=lambda: ca.SX(3, 1))
    spin: ca.SX = field(default_factory=lambda: ca.SX(3, 1))

    def frame(self, position: ca.SX, rotation: ca.SX) -> Place:
        """A frame that is fixed in this one."""
        arm = ca.mtimes(self.rotation, position)
        turned = ca.mtimes(self.rotation, rotation)
        return Place(self.body, self.position + arm, turned, self.rate + ca.cross(self.spin, arm), self.spin)


@dataclass(frozen=True)
class Flexible:
    """A flexible body with the symbols of its elastic coordinates, which all trees share."""

    name: str
    floating: Floating


def flexible_body(model: Model, body: Deformable) -> Flexible:
    """A flexible body with its tables and new symbols."""
    tables = body.tables(body.values(model.parameter_values()), model.folder)
    q, u = (symbols([f"{body.name}.{name}{end}" for name in tables.names]) for end in ("", "_rate"))
    if model.planar:
        tilted = [name for name, node in tables.frames.items() if node.move[2].any() or node.turn[:2].any()]
        if tilted or tables.first_q[2].any():
            raise ModelError(
                f"the flexible body '{body.name}' deforms out of the plane of a planar model",
                expected="displacements in x and y, and rotations about z only",
                remedy="Say deforms=['xy'], with or without 'axial', or leave out planar",
            )
    return Flexible(body.name, Floating(tables, q, u, body.stiffening))


def deformed_places(k: int, body: Deformable, floating: Floating, values: Values) -> dict[str, Place]:
    """The frames of a flexible body, which move with its nodes."""
    result = {}
    inner = [name for name in quantities(body) if name.partition(".")[0] in body.places()]
    entries = values.entries(body, inner)
    for name in body.places():
        node = Place(k, *floating.place(floating.tables.frames[name]))
        result[f"{body.name}.{name}"] = node.frame(ca.SX(3, 1), frame_of(entries, name)[1])
    return result
