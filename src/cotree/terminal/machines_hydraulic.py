"""Hydraulic pump and motor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import HYDRAULIC, Port, Role, Signal, Value, quantity, signal
from cotree.terminal.machines_base import HEAT, ROTOR, SHAFT, Rotating


class _Displacing(Rotating):
    """A machine that moves a volume with every turn; ``way`` is 1 where pressure drives it and -1 where it drives."""

    way: ClassVar[int] = 1

    displacement: Value = quantity("m^3/rad", "volume moved by a turn of one radian", symbol="D", range="positive")
    leakage: Value = quantity(
        "m^3/(s Pa)", "flow that leaks back over the pressure", symbol="G", range="non-negative", default=0.0,
        kw_only=True, built_in="zero",
    )  # fmt: skip
    stroke: Signal = signal(
        "", "share of the displacement that is set, from -1 to 1", default=1.0, measured=True, kw_only=True
    )

    def check(self, values: Mapping[str, float]) -> None:
        if abs(share := values.get("stroke", 0.0)) > 1:
            raise ModelError(f"found {share:g}", where=f"{self.name}.stroke", expected="a share from -1 to 1")

    def core(self, v: Any, at: Mapping[str, Any]) -> dict[str, Any]:
        fluid, shaft = at["hydraulic"], at["shaft"]
        volume = self.way * v.stroke * v.displacement
        return {
            "hydraulic": fluid.through - volume * shaft.across - v.leakage * fluid.across,
            "shaft": shaft.through + volume * fluid.across - v.damping * shaft.across,
        }

    def lost(self, v: Any, at: Mapping[str, Any]) -> Any:
        return v.leakage * at["hydraulic"].across ** 2 + v.damping * at["shaft"].across ** 2


class Pump(_Displacing):
    """Delivers Q = s D w - G p from minus to plus, and takes the torque s D p + b w; p is the pressure plus over minus.

    ``hydraulic`` holds the outlet and the inlet, w is the speed of the shaft against the housing, s the ``stroke`` of a
    variable pump. The losses G p^2 + b w^2 leave as heat through the thermal port, where its nodes are given. Where
    pressure drives it backwards it is a motor.
    """

    kind = "machines.pump"
    way = -1
    ports = (Port(HYDRAULIC, Role.STATIC, "hydraulic"), SHAFT, ROTOR, HEAT)
    hydraulic: tuple[str, str]
    shaft: tuple[str, str]


class HydraulicMotor(_Displacing):
    """Takes Q = s D w + G p from plus to minus, and drives with s D p - b w; p is the pressure plus over minus.

    ``hydraulic`` holds the inlet and the outlet, w is the speed of the shaft against the housing, s the ``stroke`` of a
    variable motor. The losses G p^2 + b w^2 leave as heat through the thermal port, where its nodes are given. Driven
    by its shaft it is a pump.
    """

    kind = "machines.hydraulic_motor"
    ports = (Port(HYDRAULIC, Role.STATIC, "hydraulic"), SHAFT, ROTOR, HEAT)
    hydraulic: tuple[str, str]
    shaft: tuple[str, str]
