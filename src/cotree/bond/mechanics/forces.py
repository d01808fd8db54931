"""Springs and dampers between two points, and forces and torques on frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from cotree.bond.elements import modulation, optional
from cotree.bond.mechanics.base import DOMAINS, FramePart, frame, junction, one_port, transformer, value
from cotree.bond.motions import JointPlace, poses_at
from cotree.errors import ModelError
from cotree.model.form import one_of, said
from cotree.model.quantity import Quantity

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

ROUNDING = 1e-14
"""Distances below this part of the positions are rounding errors."""


class Between(FramePart):
    """Something along the line between the origins of the frames a and b; ``name.length`` is their distance."""

    def frame_ports(self) -> tuple[str, ...]:
        return ("a", "b")

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        at = poses_at(make, path, ("a", "b"))
        d = at["b"][1] - at["a"][1]
        self._check_start(make, path)
        length = ca.norm_2(d)
        n = d / length
        zero = junction(make, f"{path}.stretch", "0", 1)
        for port, backwards in (("b", False), ("a", True)):  # length' = n . (v_b - v_a)
            frame(make, path, port)
            row = ca.mtimes(n.T, at[port][0])
            at_port = f"{path}.{port}.translation"
            transformer(make, f"{path}.line.{port}", row, at_port, zero, modulated=True, backwards=backwards)
        self.element(make, path, v, zero, length)
        make.output(f"{path}.length", length, "m")

    def _check_start(self, make: Opening, path: str) -> None:
        """Refuse ends that coincide at the start; closing a loop may still move them apart."""
        placed = make.structure.placed
        if any(isinstance(each, JointPlace) and each.how == "loop" for each in placed.values()):
            return
        a, b = placed[f"{path}.a.start"], placed[f"{path}.b.start"]
        p = make.values.p
        found = ca.Function("d", [p.symbols], [b - a, ca.vertcat(a, b)], {"allow_free": True})
        if found.has_free():
            return
        d, size = (float(ca.norm_2(each)) for each in found(p.start))
        if d <= ROUNDING * size:
            raise ModelError(
                "its length at the start is zero: its ends a and b coincide, so that it has no direction", where=path,
                expected="two ends at different points",
                remedy="Move one of them, or use C and R elements along the axes (a joint with stiffness)",
            )  # fmt: skip

    def element(self, make: Opening, path: str, v: Mapping[str, Any], at: str, length: ca.SX) -> None:
        """Add what acts along the line."""
        raise NotImplementedError


class PointSpring(Between):
    """A spring between two points: tension = ``stiffness`` (distance - ``length``)."""

    kind = "bond.point_spring"
    shapes: ClassVar[Mapping[str, Quantity]] = {
        "stiffness": value("N/m", "stiffness", "positive"),
        "length": value("m", "natural length", "non-negative"),
    }
    needed = ("stiffness", "length")
    stiffness: Any = optional()
    length: Any = optional()

    def element(self, make: Opening, path: str, v: Mapping[str, Any], at: str, length: ca.SX) -> None:
        matrix, stretch, domain = ca.SX(v["stiffness"]), length - ca.SX(v["length"]), DOMAINS["translation"]
        one_port(make, f"{path}.spring", "C", at, 1, matrix=matrix, displacement=stretch, domain=domain, text="k")
        make.output(f"{path}.force", make.reported(f"{path}.spring.effort"), "N")


class PointDamper(Between):
    """A damper between two points: tension = ``damping`` times the rate of their distance."""

    kind = "bond.point_damper"
    shapes: ClassVar[Mapping[str, Quantity]] = {"damping": value("N s/m", "damping", "non-negative")}
    needed = ("damping",)
    damping: Any = optional()

    def element(self, make: Opening, path: str, v: Mapping[str, Any], at: str, length: ca.SX) -> None:
        one_port(
            make, f"{path}.damper", "R", at, 1, matrix=ca.SX(v["damping"]), domain=DOMAINS["translation"], text="c"
        )
        make.output(f"{path}.force", make.reported(f"{path}.damper.effort"), "N")


class OnFrame(FramePart):
    """An effort source on a frame, in world axes or, with ``axes="body"``, in those of the frame."""

    word: ClassVar[str] = "translation"
    axes: str = field(
        default="world", kw_only=True, metadata=said("axes in which it is given", one_of(("world", "body")))
    )

    def __post_init__(self) -> None:
        if self.axes not in ("world", "body"):
            raise ModelError(f"the axes are {self.axes!r}", where=self.name, expected="'world' or 'body'")
        super().__post_init__()

    def frame_ports(self) -> tuple[str, ...]:
        return ("frame",)

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        frame(make, path, "frame")
        (name,) = self.shapes
        given = self.vector(name, v)
        R, _ = make.structure.placed[f"{path}.frame"]
        here = ca.mtimes(R.T, given) if self.axes == "world" else given
        used = make.used(v)
        modulated = bool(used) or (self.axes == "world" and not R.is_constant())
        one_port(
            make, f"{path}.source", "Se", f"{path}.frame.{self.word}", 3, out=True, value=here, modulated=modulated,
            domain=DOMAINS[self.word], used=used,
        )  # fmt: skip


class FrameForce(OnFrame):
    """A force on a frame at its origin, which may depend on time and signals."""

    kind = "bond.frame_force"
    shapes: ClassVar[Mapping[str, Quantity]] = {"force": modulation("force", "N")}
    lengths: ClassVar[Mapping[str, int]] = {"force": 3}
    needed = ("force",)
    force: Any = optional()


class FrameTorque(OnFrame):
    """A torque on a frame, which may depend on time and signals."""

    kind = "bond.frame_torque"
    word = "rotation"
    shapes: ClassVar[Mapping[str, Quantity]] = {"torque": modulation("torque", "N m")}
    lengths: ClassVar[Mapping[str, int]] = {"torque": 3}
    needed = ("torque",)
    torque: Any = optional()
