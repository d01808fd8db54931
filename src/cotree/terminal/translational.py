"""Components of motion along one line: velocity is across, force is through (positive in tension from plus to minus).

A force that flows into a node accelerates it in the positive direction.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

from cotree.model import TRANSLATIONAL, Port, Role, Signal, Value, quantity, signal
from cotree.model.form import said
from cotree.terminal.driveline import Ends, Rubbing, Slipping
from cotree.terminal.mechanics import Body, named_frames
from cotree.terminal.mounts import AxisMount, Mount
from cotree.terminal.scalar import (
    AcrossSource,
    AcrossStorage,
    Dissipator,
    IdealTransformer,
    ThroughSource,
    ThroughStorage,
)


class Mass(AcrossStorage):
    """F = m dv/dt, with the velocity counted from the datum; ``initial`` in m/s."""

    ports = (Port(TRANSLATIONAL, Role.ACROSS_STORAGE),)
    from_datum = True
    mass: Value = quantity("kg", "mass", symbol="m", range="positive")

    def capacity(self, v: Any) -> Any:
        return v.mass


class Spring(ThroughStorage):
    """dF/dt = k v; ``initial`` is the force at the start in N."""

    ports = (Port(TRANSLATIONAL, Role.THROUGH_STORAGE),)
    stiffness: Value = quantity("N/m", "stiffness", symbol="k", range="positive")

    def inertance(self, v: Any) -> Any:
        return 1 / v.stiffness


class Damper(Dissipator):
    """F = b v."""

    ports = (Port(TRANSLATIONAL, Role.STATIC),)
    damping: Value = quantity("N s/m", "damping", symbol="b", range="positive")

    def resistance_of(self, v: Any) -> Any:
        return 1 / v.damping


class VelocitySource(AcrossSource):
    """v = velocity(t) of plus against minus."""

    ports = (Port(TRANSLATIONAL, Role.ACROSS_SOURCE),)
    velocity: Signal = signal("m/s", "velocity of plus against minus", measured=True)

    def signal(self, v: Any) -> Any:
        return v.velocity


class ForceSource(ThroughSource):
    """F = force(t) from plus through the source to minus: it pushes the node ``minus`` in the positive direction."""

    ports = (Port(TRANSLATIONAL, Role.THROUGH_SOURCE),)
    force: Signal = signal("N", "force on the node minus, and its reaction on plus", measured=True)

    def signal(self, v: Any) -> Any:
        return v.force


class Lever(IdealTransformer):
    """v_1 = n v_2, F_2 = -n F_1."""

    ports = (Port(TRANSLATIONAL, Role.STATIC, "primary"), Port(TRANSLATIONAL, Role.STATIC, "secondary"))
    primary: tuple[str, str]
    secondary: tuple[str, str]
    ratio: Value = quantity("", "velocity of the primary over velocity of the secondary", symbol="n", range="non-zero")

    def ratio_of(self, v: Any) -> Any:
        return v.ratio


class Brake(Slipping):
    """|F| = force while slipping, against u; while sticking u = 0 as long as |F| < static * force.

    ``minus`` is the part that stands. ``force`` is the capacity at the present pressure.
    """

    level = "force"
    ports = (Port(TRANSLATIONAL, Role.THROUGH_SOURCE),)
    force: Signal = signal("N", "force with which it brakes while slipping", measured=True)


class Friction(Rubbing):
    """|F| = force (1 + (static - 1) exp(-(u/stribeck)^2)) + viscous |u| while slipping, against u.

    While sticking u = 0 as long as |F| < static * force. Without ``stribeck`` it falls at once when it slips.
    """

    level = "force"
    ports = (Port(TRANSLATIONAL, Role.THROUGH_SOURCE),)
    force: Value = quantity("N", "dry friction while slipping", symbol="F_c", range="non-negative")
    stribeck: Value | None = quantity(
        "m/s", "speed over which sticking turns into slipping friction", range="positive", default=None
    )
    viscous: Value = quantity(
        "N s/m", "viscous friction", symbol="b", range="non-negative", default=0.0, built_in="zero"
    )


class EndStop(Ends):
    """F = k d + c d' while d > 0 and F pushes, F = 0 otherwise; d is how far the position lies beyond an end.

    The position of plus against minus starts at ``position``; where the two nodes are those of an axis or a line, it is
    that of the joint or line.
    """

    ports = (Port(TRANSLATIONAL, Role.STATIC),)
    stiffness: Value = quantity("N/m", "stiffness", symbol="k", range="positive")
    lower: Value | None = quantity("m", "position of the lower end", default=None)
    upper: Value | None = quantity("m", "position of the upper end", default=None)
    damping: Value = quantity(
        "N s/m", "damping while it pushes", symbol="c", range="non-negative", default=0.0, built_in="zero"
    )
    position: Value = quantity("m", "position at the start, where no joint or line gives it", default=0.0)


class Axis(AxisMount):
    """u_plus - u_minus = rate of the joint's displacement; force on it = F, with its reaction on the carrying body.

    A mass of the network resists motion along the axis alone. What is to be swung round by a carrying body that turns
    belongs to the bodies.
    """

    ports = (Port(TRANSLATIONAL, Role.ACROSS_SOURCE),)


class Line(Mount):
    """u_plus - u_minus = rate of the distance of two frames; F pushes them apart along their line."""

    ports = (Port(TRANSLATIONAL, Role.ACROSS_SOURCE),)
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
        return cast(str, self.frame_a), cast(str, self.frame_b)
