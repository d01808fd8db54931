"""Components of rotation about one axis: angular velocity is across, torque is through."""

from __future__ import annotations

from typing import Any

from cotree.model import ROTATIONAL, Port, Role, Signal, Value, quantity, signal
from cotree.terminal.scalar import (
    AcrossSource,
    AcrossStorage,
    Dissipator,
    IdealTransformer,
    ThroughSource,
    ThroughStorage,
)


class Inertia(AcrossStorage):
    """T = J dw/dt, with the angular velocity counted from the datum; ``initial`` in rad/s."""

    ports = (Port(ROTATIONAL, Role.ACROSS_STORAGE),)
    from_datum = True
    inertia: Value = quantity("kg m^2", "moment of inertia", symbol="J", range="positive")

    def capacity(self, v: Any) -> Any:
        return v.inertia


class Spring(ThroughStorage):
    """dT/dt = k w; ``initial`` is the torque at the start in N m."""

    ports = (Port(ROTATIONAL, Role.THROUGH_STORAGE),)
    stiffness: Value = quantity("N m/rad", "stiffness", symbol="k", range="positive")

    def inertance(self, v: Any) -> Any:
        return 1 / v.stiffness


class Damper(Dissipator):
    """T = b w."""

    ports = (Port(ROTATIONAL, Role.STATIC),)
    damping: Value = quantity("N m s/rad", "damping", symbol="b", range="positive")

    def resistance_of(self, v: Any) -> Any:
        return 1 / v.damping


class SpeedSource(AcrossSource):
    """w = speed(t) of plus against minus."""

    ports = (Port(ROTATIONAL, Role.ACROSS_SOURCE),)
    speed: Signal = signal("rad/s", "angular velocity of plus against minus")

    def signal(self, v: Any) -> Any:
        return v.speed


class TorqueSource(ThroughSource):
    """T = torque(t) from plus through the source to minus: it turns the node ``minus`` in the positive direction."""

    ports = (Port(ROTATIONAL, Role.THROUGH_SOURCE),)
    torque: Signal = signal("N m", "torque on the node minus, and its reaction on plus")

    def signal(self, v: Any) -> Any:
        return v.torque


class Gear(IdealTransformer):
    """w_1 = n w_2, T_2 = -n T_1."""

    ports = (Port(ROTATIONAL, Role.STATIC, "primary"), Port(ROTATIONAL, Role.STATIC, "secondary"))
    primary: tuple[str, str]
    secondary: tuple[str, str]
    ratio: Value = quantity("", "speed of the primary over speed of the secondary", symbol="n", range="non-zero")

    def ratio_of(self, v: Any) -> Any:
        return v.ratio
