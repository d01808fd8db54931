"""Motions of frames, and how the parts of a mechanism were placed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from cotree.bond.structure import Integral
from cotree.maths.rotation import quaternion_of, to_quaternion

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

PARAMETERS = ("e0", "e1", "e2", "e3")
ORIENTATION = "orientation"


@dataclass(frozen=True)
class Motion:
    """Rotation (world from frame) and position of a frame, angular velocity and velocity in its own axes."""

    R: ca.SX
    r: ca.SX
    w: ca.SX = field(default_factory=lambda: ca.SX.zeros(3))
    v: ca.SX = field(default_factory=lambda: ca.SX.zeros(3))

    def fixed(self, C: ca.SX, d: ca.SX) -> Motion:
        """The motion of a frame fixed to this one: turned by C, at d."""
        return self.across(C, d, ca.SX.zeros(3), ca.SX.zeros(3))

    def across(self, C: ca.SX, d: ca.SX, spin: ca.SX, rate: ca.SX) -> Motion:
        """The motion of a frame turned by C at d, which turns with ``spin`` (its axes) and moves with ``rate``."""
        v = ca.mtimes(C.T, self.v + ca.cross(self.w, d) + rate)
        return Motion(ca.mtimes(self.R, C), self.r + ca.mtimes(self.R, d), ca.mtimes(C.T, self.w) + spin, v)

    def back(self, C: ca.SX, d: ca.SX, spin: ca.SX, rate: ca.SX) -> Motion:
        """The motion of the frame that this one is ``across`` from."""
        R, w = ca.mtimes(self.R, C.T), ca.mtimes(C, self.w - spin)
        return Motion(R, self.r - ca.mtimes(R, d), w, ca.mtimes(C, self.v) - ca.cross(w, d) - rate)


@dataclass(frozen=True)
class Pose:
    """A frame at any time, in coordinates, and at the start, in parameters."""

    now: Motion
    start: Motion

    @property
    def R(self) -> ca.SX:
        """Its rotation, world from frame."""
        return self.now.R

    @property
    def r(self) -> ca.SX:
        """Its position in world axes."""
        return self.now.r

    def fixed(self, C: ca.SX, d: ca.SX) -> Pose:
        """The pose of a frame fixed to this one."""
        return Pose(self.now.fixed(C, d), self.start.fixed(C, d))


@dataclass(frozen=True)
class JointPlace:
    """How a joint was placed: a link of the tree, the end of a loop, or compliant; C and d are those of b in a."""

    how: str
    """``tree``, ``loop`` or ``compliant``."""
    root: str
    """The end that was placed first: a or b."""
    C: ca.SX
    d: ca.SX
    start: tuple[ca.SX, ca.SX]
    """C and d at the start, in parameters."""
    light: bool = False
    """Whether nothing beyond it has inertia or closes a loop, so that only C and R elements resist its motion."""


@dataclass(frozen=True)
class BodyPlace:
    """How a body was placed: by the frame ``root``, or with coordinates of its own, whose names are ``states``."""

    pose: Pose
    root: str
    states: tuple[str, ...] = ()

    @property
    def free(self) -> bool:
        """Whether its own flows are independent."""
        return bool(self.states)


@dataclass(frozen=True)
class Floating:
    """What the coordinates of a body that nothing carries belong to, inside the body."""

    frame: str = "centre"
    """The frame that they place."""
    moving: str = "m"
    """The vertex with its velocity, in its own axes."""
    turning: str = "J"
    """The vertex with its angular velocity."""
    R: ca.SX | None = None
    """Its rotation, where it does not turn."""


@dataclass(frozen=True)
class RotationPlace:
    """How a rotation mask was placed: its matrix, the end that was placed first, and its own coordinates."""

    matrix: ca.SX
    factors: tuple[ca.SX, ...]
    root: str
    states: tuple[str, ...] = ()


def euler_parameters(R: ca.SX) -> ca.SX:
    """Euler parameters of a rotation, as numbers where it is one."""
    if R.is_constant():
        return ca.SX(to_quaternion(np.asarray(ca.DM(R), dtype=float)))
    return quaternion_of(R)


def state(
    make: Opening,
    names: Sequence[str],
    unit: str,
    start: ca.SX,
    rate: ca.SX,
    owner: str,
    spin: str = "",
    symbols: ca.SX | None = None,
) -> ca.SX:
    """Add coordinates and return their symbols; ``spin`` names the vertex with the angular velocity of a turn."""
    if symbols is None:
        symbols = ca.vertcat(*(ca.SX.sym(name) for name in names))
    make.integral(Integral(tuple(names), (unit,) * len(names), symbols, start, rate, owner, spin))
    return symbols


def relative(a: Motion, b: Motion) -> tuple[ca.SX, ca.SX]:
    """Rotation and position of b in a."""
    return ca.mtimes(a.R.T, b.R), ca.mtimes(a.R.T, b.r - a.r)


def world_axes(pose: Pose) -> Pose:
    """The frame at the same place with the axes of the world."""
    start = pose.start
    turned = Motion(ca.SX.eye(3), start.r, ca.mtimes(start.R, start.w), ca.mtimes(start.R, start.v))
    return Pose(Motion(ca.SX.eye(3), pose.r), turned)


def still() -> Motion:
    """At rest at the origin."""
    return Motion(ca.SX.eye(3), ca.SX.zeros(3))


def poses_at(make: Opening, path: str, ports: Sequence[str]) -> Mapping[str, tuple[ca.SX, ca.SX]]:
    """Rotation and position of some frames of a part."""
    return {port: make.structure.placed[f"{path}.{port}"] for port in ports}
