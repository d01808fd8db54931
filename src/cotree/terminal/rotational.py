"""Components of rotation about one axis: angular velocity is across, torque is through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cotree.errors import ModelError
from cotree.model import ROTATIONAL, Port, Role, Signal, Value, quantity, signal
from cotree.terminal.driveline import Ends, Rubbing, Slipping
from cotree.terminal.mounts import AxisMount
from cotree.terminal.scalar import (
    AcrossSource,
    AcrossStorage,
    Dissipator,
    IdealTransformer,
    MultiPort,
    OnePort,
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
    speed: Signal = signal("rad/s", "angular velocity of plus against minus", measured=True)

    def signal(self, v: Any) -> Any:
        return v.speed


class TorqueSource(ThroughSource):
    """T = torque(t) from plus through the source to minus: it turns the node ``minus`` in the positive direction."""

    ports = (Port(ROTATIONAL, Role.THROUGH_SOURCE),)
    torque: Signal = signal("N m", "torque on the node minus, and its reaction on plus", measured=True)

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


class Shaft(OnePort):
    """T = k (phi - rest) + c w, with phi the twist of plus against minus: a shaft with torsion.

    phi starts at ``angle``; where the two nodes are those of a joint's axis, it is the joint's angle.
    """

    ports = (Port(ROTATIONAL, Role.STATIC),)
    positions = ("",)
    stiffness: Value = quantity("N m/rad", "torsional stiffness", symbol="k", range="positive")
    damping: Value = quantity(
        "N m s/rad", "torsional damping", symbol="c", range="non-negative", default=0.0, built_in="zero"
    )
    rest: Value = quantity("rad", "twist without torque", default=0.0, built_in="zero")
    angle: Value = quantity("rad", "twist at the start, where no joint gives it", default=0.0)

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        return [e[0].through - v.stiffness * (e[0].position - v.rest) - v.damping * e[0].across]

    def stored_energy(self, v: Any, *e: Any) -> Any:
        return v.stiffness * (e[0].position - v.rest) ** 2 / 2

    def loss(self, v: Any, *e: Any) -> Any:
        return v.damping * e[0].across ** 2

    def position_start(self, values: Mapping[str, float]) -> tuple[float, ...]:
        return (values.get("angle", 0.0),)


class Belt(MultiPort):
    """r_1 w_1 = r_2 w_2, T_1 = r_1 F, T_2 = -r_2 F: a belt or chain between two pulleys that turn the same way.

    With a ``stiffness`` F = k s + c s', where s = r_1 phi_1 - r_2 phi_2 - ``offset`` is the stretch; the angles count
    from the start, or are those of the joints on whose axes the pulleys sit. A crossed belt has a negative radius.
    """

    ports = (Port(ROTATIONAL, Role.STATIC, "primary"), Port(ROTATIONAL, Role.STATIC, "secondary"))
    positions = ("primary", "secondary")
    primary: tuple[str, str]
    secondary: tuple[str, str]
    primary_radius: Value = quantity("m", "radius of the primary pulley", symbol="r_1", range="non-zero")
    secondary_radius: Value = quantity("m", "radius of the secondary pulley", symbol="r_2", range="non-zero")
    stiffness: Value | None = quantity(
        "N/m", "stiffness of the belt; it does not stretch where none is given", symbol="k", range="positive",
        default=None,
    )  # fmt: skip
    damping: Value | None = quantity("N s/m", "damping of the stretch", symbol="c", range="non-negative", default=None)
    offset: Value | None = quantity("m", "r_1 phi_1 - r_2 phi_2 without stretch, 0 if not given", default=None)

    def __post_init__(self) -> None:
        if self.stiffness is None:
            object.__setattr__(self, "positions", ())
            for name in ("damping", "offset"):
                if getattr(self, name) is not None:
                    raise ModelError(
                        f"{name} is given for a belt that does not stretch",
                        where=self.name,
                        expected="a stiffness with it",
                    )
        super().__post_init__()

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        r1, r2 = v.primary_radius, v.secondary_radius
        if v.stiffness is None:
            return [r1 * e[0].across - r2 * e[1].across, r1 * e[1].through + r2 * e[0].through]
        force = v.stiffness * self._stretch(v, e) + self._damping(v) * self._rate(v, e)
        return [e[0].through - r1 * force, e[1].through + r2 * force]

    def stored_energy(self, v: Any, *e: Any) -> Any:
        return 0.0 if v.stiffness is None else v.stiffness * self._stretch(v, e) ** 2 / 2

    def loss(self, v: Any, *e: Any) -> Any:
        return 0.0 if v.stiffness is None else self._damping(v) * self._rate(v, e) ** 2

    def _stretch(self, v: Any, e: Sequence[Any]) -> Any:
        ends = v.primary_radius * e[0].position - v.secondary_radius * e[1].position
        return ends if v.offset is None else ends - v.offset

    def _rate(self, v: Any, e: Sequence[Any]) -> Any:
        return v.primary_radius * e[0].across - v.secondary_radius * e[1].across

    def _damping(self, v: Any) -> Any:
        return 0.0 if v.damping is None else v.damping


class Clutch(Slipping):
    """|T| = torque while slipping, against the slip; while sticking w = 0 as long as |T| < static * torque.

    ``torque`` is the capacity at the present pressure: a number, or an expression of time and signals.
    """

    level = "torque"
    ports = (Port(ROTATIONAL, Role.THROUGH_SOURCE),)
    torque: Signal = signal("N m", "torque that it carries while slipping", measured=True)


class Brake(Slipping):
    """|T| = torque while slipping, against w; while sticking w = 0 as long as |T| < static * torque.

    It is a clutch to a part that stands: ``minus`` is the housing. ``torque`` is the capacity at the present pressure.
    """

    level = "torque"
    ports = (Port(ROTATIONAL, Role.THROUGH_SOURCE),)
    torque: Signal = signal("N m", "torque with which it brakes while slipping", measured=True)


class Friction(Rubbing):
    """|T| = torque (1 + (static - 1) exp(-(w/stribeck)^2)) + viscous |w| while slipping, against w.

    While sticking w = 0 as long as |T| < static * torque. Without ``stribeck`` it falls at once when it slips.
    """

    level = "torque"
    ports = (Port(ROTATIONAL, Role.THROUGH_SOURCE),)
    torque: Value = quantity("N m", "dry friction while slipping", symbol="T_c", range="non-negative")
    stribeck: Value | None = quantity(
        "rad/s", "speed over which sticking turns into slipping friction", range="positive", default=None
    )
    viscous: Value = quantity(
        "N m s/rad", "viscous friction", symbol="b", range="non-negative", default=0.0, built_in="zero"
    )


class EndStop(Ends):
    """T = k d + c d' while d > 0 and T pushes, T = 0 otherwise; d is how far the angle lies beyond an end.

    The angle of plus against minus starts at ``position``; where the two nodes are those of a joint's axis, it is the
    joint's angle.
    """

    ports = (Port(ROTATIONAL, Role.STATIC),)
    stiffness: Value = quantity("N m/rad", "stiffness", symbol="k", range="positive")
    lower: Value | None = quantity("rad", "angle of the lower end", default=None)
    upper: Value | None = quantity("rad", "angle of the upper end", default=None)
    damping: Value = quantity(
        "N m s/rad", "damping while it pushes", symbol="c", range="non-negative", default=0.0, built_in="zero"
    )
    position: Value = quantity("rad", "angle at the start, where no joint gives it", default=0.0)


class Axis(AxisMount):
    """w_plus - w_minus = rate of the joint's angle; torque on the angle = T, with its reaction on the carrying body."""

    ports = (Port(ROTATIONAL, Role.ACROSS_SOURCE),)
