"""Forces and torques as signals: of time, parameters and measured quantities of the mechanism."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import casadi as ca

from cotree.errors import ModelError
from cotree.model import MISSING, Signal, signal
from cotree.model.form import VALUE, Schema, listed, said
from cotree.model.quantity import Quantity
from cotree.terminal.mechanics import XYZ, Body, Element, JointForce, Motion, Wrench
from cotree.terminal.springs import length_of


def signal_vector(
    unit: str, meaning: str, *, default: Any = MISSING, measured: bool = True, each: Schema = VALUE
) -> Any:
    """A field for three `Signal`s, each addressed as ``component.field.x``; zeros are built into the equations."""
    info = Quantity(unit, "finite", True, meaning, measured=measured, built_in="zero")
    return dataclasses.field(default=default, kw_only=True, metadata={"vector": (info, XYZ), "schema": listed(each, 3)})


class OnFrame(Element):
    """Something that acts on one frame from the ground, given in world axes or in those of the frame."""

    kind: ClassVar[str] = ""
    supplies: ClassVar[bool] = True

    if TYPE_CHECKING:
        frame_a: str = dataclasses.field(init=False)
        frame_b: str | Body = dataclasses.field()
    else:
        frame_a: ClassVar[str] = "ground"
        frame_b: str = dataclasses.field(metadata=said("frame at whose origin it acts: a body, or body.frame"))
    axes: Literal["world", "body"] = dataclasses.field(
        default="world", kw_only=True, metadata=said("axes in which it is given: those of the world or of the body")
    )

    def __post_init__(self) -> None:
        if self.axes not in ("world", "body"):
            raise ModelError(f"the axes are {self.axes!r}", where=self.name, expected="'world' or 'body'")
        super().__post_init__()

    def in_world(self, given: Any, motion: Motion) -> ca.SX:
        """Components in world axes."""
        column = ca.vertcat(*given)
        return ca.mtimes(motion.C, column) if self.axes == "body" else ca.SX(column)


class PointForce(OnFrame):
    """force on b = force(t, measured) at its origin, in world axes or, with ``axes="body"``, in those of b."""

    force: tuple[Signal, Signal, Signal] = signal_vector("N", "force")

    def wrench(self, v: Any, motion: Motion, here: Any) -> Wrench:
        return Wrench(self.in_world(v.force, motion), ca.SX.zeros(3))


class PointTorque(OnFrame):
    """torque on b = torque(t, measured), in world axes or, with ``axes="body"``, in those of b."""

    torque: tuple[Signal, Signal, Signal] = signal_vector("N m", "torque")

    def wrench(self, v: Any, motion: Motion, here: Any) -> Wrench:
        return Wrench(ca.SX.zeros(3), self.in_world(v.torque, motion))


class ForceBetween(Element):
    """force on b = force(t, measured) n, its opposite on a, with n from a to b: a positive one drives them apart."""

    supplies: ClassVar[bool] = True
    straight: ClassVar[bool] = True

    force: Signal = signal("N", "force that drives the frames apart", measured=True)

    def wrench(self, v: Any, motion: Motion, here: Any) -> Wrench:
        return Wrench(v.force / length_of(motion.d) * motion.d, ca.SX.zeros(3))


class JointActuator(JointForce):
    """force along the coordinate = effort(t, measured); a torque where the coordinate is an angle."""

    supplies: ClassVar[bool] = True

    effort: Signal = signal("N or N m", "force or torque that drives the coordinate forward", measured=True)

    def force(self, v: Any, x: ca.SX, rate: ca.SX, here: Any) -> ca.SX:
        return ca.SX(v.effort)
