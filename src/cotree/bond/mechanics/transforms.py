"""Transformations of power variables between two points, and to world axes (Filippini 2007, figs. 2-3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from cotree.bond.elements import optional
from cotree.bond.mechanics.base import (
    ANGLE,
    AXIS,
    POSITION,
    FramePart,
    TurnedPart,
    constant_turn,
    frame,
    junction,
    transformer,
    value,
)
from cotree.bond.mechanics.bodies import open_arm
from cotree.bond.motions import ORIENTATION, PARAMETERS, BodyPlace, RotationPlace, state
from cotree.errors import ModelError, listing
from cotree.maths.rotation import about, of_quaternion, quaternion_rate
from cotree.model.form import one_of, said
from cotree.model.quantity import Quantity

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

ANGLES = ("phi", "theta", "psi")
SINGULAR = 1e-6
"""Cosine of theta below which the rates of phi and psi, which hold 1/cos(theta), lose half of all digits."""
BY = ("euler_angles", "euler_parameters")


class Translation(TurnedPart):
    """Two points A and B of something rigid without mass, with the fixed vector ``r`` from A to B (fig. 2).

    The axes of B are those of A, or turned by ``angle`` about ``axis``.
    """

    kind = "bond.translation"
    role = "rigid"
    shapes: ClassVar[Mapping[str, Quantity]] = {"r": POSITION, "axis": AXIS, "angle": ANGLE}
    lengths: ClassVar[Mapping[str, int]] = {"r": 3, "axis": 3}
    needed = ("r",)
    r: Any = optional()

    def frame_ports(self) -> tuple[str, ...]:
        return ("A", "B")

    def places(self, v: Mapping[str, Any]) -> dict[str, tuple[ca.SX, ca.SX]]:
        """Rotation and position of its frames in the axes of A."""
        return {"A": (ca.SX.eye(3), ca.SX.zeros(3)), "B": (constant_turn(self, v), self.vector("r", v))}

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        placed: BodyPlace = make.structure.placed[path]
        frame(make, path, "A")
        at = (f"{path}.A.rotation", f"{path}.A.translation")
        open_arm(make, f"{path}.B", at, self.places(v)["B"], back=placed.root == "B")
        for word in ("rotation", "translation"):
            make.expose(path, "B", word, f"{path}.B.{word}")


@dataclass(frozen=True)
class Turned:
    """A rotation in coordinates and at the start, as factors of single turns, and the names of its coordinates."""

    factors: tuple[ca.SX, ...]
    now: ca.SX
    start: ca.SX
    states: tuple[str, ...]


class Rotation(FramePart):
    """From the axes of the frame ``local`` to those of the world, at the same point (fig. 3).

    ``by`` chooses Euler angles as in the paper, which start at ``phi``, ``theta`` and ``psi`` and are singular at
    theta = +-pi/2, or Euler parameters, which start at ``orientation``. They are the coordinates of the body that
    ``local`` is bonded to, unless ideal joints carry it: then the mask takes the rotation that follows from the joints.
    """

    kind = "bond.rotation"
    role = "rotation"
    shapes: ClassVar[Mapping[str, Quantity]] = {name: value("rad", f"angle {name} at the start") for name in ANGLES}
    turns = (ORIENTATION,)
    by: str = field(default="euler_angles", kw_only=True, metadata=said("its coordinates", one_of(BY)))
    phi: Any = optional()
    theta: Any = optional()
    psi: Any = optional()
    orientation: Any = optional()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by not in BY:
            raise ModelError(f"it turns by {self.by!r}", where=self.name, expected=f"by: {' or '.join(BY)}")
        wrong = (ORIENTATION,) if self.by == BY[0] else ANGLES
        given = [name for name in wrong if getattr(self, name) is not None]
        if given:
            raise ModelError(f"{listing(given)} given for a rotation by {self.by}", where=self.name)

    def check(self, values: Mapping[str, float]) -> None:
        """Euler angles must not start where they are singular."""
        theta = values.get("theta", 0.0)
        if abs(math.cos(theta)) < SINGULAR:
            raise ModelError(
                f"the Euler angles are singular at the start: theta = {theta:.6g} rad", where=f"{self.name}.theta",
                expected="an angle away from +-pi/2, where phi and psi turn about the same axis",
                remedy="Choose by: euler_parameters, with an orientation",
            )  # fmt: skip

    def frame_ports(self) -> tuple[str, ...]:
        return ("local", "world")

    def make_angles(self, make: Opening, path: str, v: Mapping[str, Any]) -> Turned:
        """Its coordinates as states, whose rates follow from the angular velocity at ``local``."""
        turning = f"{path}.local.rotation"
        w = make.signal(f"{turning}.flow", 3)
        if self.by == "euler_parameters":
            names = tuple(f"{path}.{ORIENTATION}.{e}" for e in PARAMETERS)
            given = self.parameters(ORIENTATION, v)
            start = ca.SX([1, 0, 0, 0]) if given is None else given
            e = ca.vertcat(*(ca.SX.sym(name) for name in names))
            state(make, names, "", start, quaternion_rate(e, w), path, turning, e)
            return Turned((of_quaternion(e),), of_quaternion(e), of_quaternion(start), names)
        names = tuple(f"{path}.{name}" for name in ANGLES)
        begin = [self.vector(name, v, 1) for name in ANGLES]
        angles = ca.vertcat(*(ca.SX.sym(name) for name in names))
        phi, theta, _ = ca.vertsplit(angles)
        across = ca.sin(phi) * w[1] + ca.cos(phi) * w[2]
        rates = (w[0] + ca.tan(theta) * across, ca.cos(phi) * w[1] - ca.sin(phi) * w[2], across / ca.cos(theta))
        state(make, names, "rad", ca.vertcat(*begin), ca.vertcat(*rates), path, "", angles)
        factors, first = _factors(*ca.vertsplit(angles)), _factors(*begin)
        return Turned(factors, ca.mtimes(list(reversed(factors))), ca.mtimes(list(reversed(first))), names)

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        placed: RotationPlace = make.structure.placed[path]
        frame(make, path, "local")
        frame(make, path, "world")
        for word in ("rotation", "translation"):  # eq. 5.a-c and 5.d-f
            at = f"{path}.local.{word}"
            for k, factor in enumerate(placed.factors):
                last = k + 1 == len(placed.factors)
                name = f"{path}.{ANGLES[k]}.{word}" if len(placed.factors) > 1 else f"{path}.turn.{word}"
                to = f"{path}.world.{word}" if last else junction(make, f"{name}.turned")
                transformer(make, name, factor, at, to, modulated=True)
                at = to


def _factors(phi: ca.SX, theta: ca.SX, psi: ca.SX) -> tuple[ca.SX, ...]:
    """The turns about x, then y, then z (Filippini 2007, eq. 5)."""
    return tuple(about(ca.SX(axis), angle) for axis, angle in (([1, 0, 0], phi), ([0, 1, 0], theta), ([0, 0, 1], psi)))
