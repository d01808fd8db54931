"""Mounts: where the one-dimensional parts of a machine sit on its mechanism.

A mount is an edge of a network. Its across variable is a speed of the mechanism, its through variable the force with
which the network drives this speed; what flows into the mount flows into the mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from cotree.errors import ModelError
from cotree.model import ROTATIONAL, TRANSLATIONAL, Port, Role
from cotree.model.form import said
from cotree.terminal.mechanics import Body, named_frames
from cotree.terminal.scalar import OnePort


class Mount(OnePort):
    """What all mounts share."""

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        raise ModelError(
            "there is no mechanism to mount it on",
            where=self.name,
            expected="a model with bodies and joints",
            remedy="Add the mechanism, or put an inertia in the place of the mount",
        )


class AxisMount(Mount):
    """A mount on one coordinate of a joint.

    ``plus`` moves with frame b of the joint, ``minus`` with frame a. Where ``minus`` is the datum, speeds of the
    network count from the body that carries frame a; where it is a node of its own, they count from the inertial frame,
    and the edge ``name.carrier`` has the speed of the carrying body along the axis.
    """

    on: str = field(metadata=said("joint on whose coordinate the parts sit"), kw_only=True)
    coordinate: str | None = field(
        default=None, kw_only=True, metadata=said("coordinate of the joint, where it has several")
    )


class RotationalAxis(AxisMount):
    """w_plus - w_minus = rate of the joint's angle; torque on the angle = T, with its reaction on the carrying body."""

    ports = (Port(ROTATIONAL, Role.ACROSS_SOURCE),)
    kind = "rotational.axis"


class TranslationalAxis(AxisMount):
    """u_plus - u_minus = rate of the joint's displacement; force on it = F, with its reaction on the carrying body.

    A mass of the network resists motion along the axis alone. What is to be swung round by a carrying body that turns
    belongs to the bodies.
    """

    ports = (Port(TRANSLATIONAL, Role.ACROSS_SOURCE),)
    kind = "translational.axis"


class Line(Mount):
    """u_plus - u_minus = rate of the distance of two frames; F pushes them apart along their line."""

    ports = (Port(TRANSLATIONAL, Role.ACROSS_SOURCE),)
    kind = "translational.line"
    if TYPE_CHECKING:
        frame_a: str | Body = field(kw_only=True)
        frame_b: str | Body = field(kw_only=True)
    else:
        frame_a: str = field(metadata=said("frame at one end of the line"), kw_only=True)
        frame_b: str = field(metadata=said("frame at its other end"), kw_only=True)

    def __post_init__(self) -> None:
        named_frames(self)
        super().__post_init__()

    @property
    def ends(self) -> tuple[str, str]:
        """The names of both frames."""
        return str(self.frame_a), str(self.frame_b)
