"""Frames and the bodies that carry them: fixed in rigid bodies, moving with the nodes of flexible ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import casadi as ca

from cotree.errors import ModelError, listing
from cotree.formulation.values import Values
from cotree.maths.symbolic import symbols
from cotree.model import Model, quantities
from cotree.terminal.bodies import frame_of
from cotree.terminal.mechanics import Connection

if TYPE_CHECKING:
    from cotree.fem.tables import Tables
    from cotree.terminal.deformable import Deformable
    from cotree.terminal.floating import Floating, Moved


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
    node: Moved | None = None
    """The node of a flexible body that carries it."""
    base: ca.SX | None = None
    """Its rotation in the undeformed body, where the body is flexible."""
    aligns: bool = True
    """Whether a joint there may have the angle between undeformed frames as its coordinate."""

    def turn_about(self, axis: ca.SX) -> tuple[ca.SX, ca.SX] | None:
        """The angle by which deformation turns it about an axis of its own, and its rate; None if about others, too."""
        if not self.aligns:
            return None
        if self.node is None or self.base is None:
            return ca.SX(0), ca.SX(0)
        along = ca.mtimes(self.base, axis)
        if not ca.cross(self.node.theta, along).is_zero():
            return None
        return ca.dot(along, self.node.theta), ca.dot(along, self.node.theta_rate)


@dataclass(frozen=True)
class Flexible:
    """A flexible body with the symbols of its elastic coordinates, which all trees share."""

    name: str
    floating: Floating
    body: Deformable

    @property
    def law(self) -> Floating:
        """Where its results come from."""
        return self.floating


def flexible_body(model: Model, body: Deformable) -> Flexible:
    """A flexible body with its tables and new symbols."""
    parts = model.components.values()
    tables = body.tables(body.values(model.parameter_values()), model.folder, body.joined(parts))
    for part in parts:
        if isinstance(part, Connection) and body.name in (part.frame_a, part.frame_b) and not body.has_fixed_frame:
            raise ModelError(
                f"it sits on the frame of '{body.name}', which floats on the body and is fixed to no point of it",
                where=part.name,
                expected=f"one of {listing([f'{body.name}.{name}' for name in body.places()])}",
            )
    check_flat(model, body.name, tables)
    return flexible_of(body.name, body, tables)


def flexible_of(name: str, body: Deformable, tables: Tables) -> Flexible:
    """A flexible body with new symbols."""
    from cotree.terminal.floating import Floating

    q, u = (symbols([f"{name}.{each}{end}" for each in tables.names]) for end in ("", "_rate"))
    return Flexible(name, Floating(tables, q, u, body.stiffening), body)


def check_flat(model: Model, name: str, tables: Tables) -> None:
    """Refuse a body that deforms out of the plane of a planar model."""
    if model.planar:
        tilted = [each for each, node in tables.frames.items() if node.move[2].any() or node.turn[:2].any()]
        if tilted or tables.first_q[2].any():
            raise ModelError(
                f"the flexible body '{name}' deforms out of the plane of a planar model",
                expected="displacements in x and y, and rotations about z only",
                remedy="Say deforms=['xy'], with or without 'axial', or leave out planar",
            )


def deformed_places(k: int, body: Deformable, floating: Floating, values: Values) -> dict[str, Place]:
    """The frames of a flexible body, which move with its nodes."""
    result = {}
    inner = [name for name in quantities(body) if name.partition(".")[0] in body.places()]
    entries = values.entries(body, inner)
    for name in body.places():
        node, base = floating.place(floating.tables.frames[name]), frame_of(entries, name)[1]
        rotation = ca.mtimes(node.rotation, base)
        result[f"{body.name}.{name}"] = Place(k, node.position, rotation, node.rate, node.spin, node, base)
    return result
