"""What all parts of a mechanism share: bodies, joints, drivers and force elements between frames.

A joint or force element is an edge from ``frame_a`` to ``frame_b``. Its across variable is the motion of b seen from a,
its through variable the force and torque that act on b, and with opposite sign on a, both taken at b's origin and in
a's axes. Then across times through is the power that flows into b's side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import casadi as ca

from cotree.errors import ModelError, listing
from cotree.model import VIRTUAL_WORK, Component, Edge, Frame, Kind, Value, quantity, vector
from cotree.model.form import TEXT, either, said, several
from cotree.model.quantity import Quantity, check_alternative

ORIENTATION = "orientation"
"""Name of the one coordinate that is a rotation in space: four Euler parameters, three speeds in b's axes."""

PARAMETERS = ("e0", "e1", "e2", "e3")
XYZ = ("x", "y", "z")


@dataclass(frozen=True)
class Coordinate:
    """One coordinate of a joint: its name, whether it moves or turns, and whether it counts turns."""

    name: str
    group: Literal["translation", "rotation"]

    @property
    def unit(self) -> str:
        """m or rad; Euler parameters have none."""
        return "m" if self.group == "translation" else "" if self.name == ORIENTATION else "rad"

    @property
    def rate_unit(self) -> str:
        """m/s or rad/s."""
        return "m/s" if self.group == "translation" else "rad/s"

    @property
    def names(self) -> tuple[str, ...]:
        """The scalar coordinates in it."""
        return tuple(f"{self.name}.{e}" for e in PARAMETERS) if self.name == ORIENTATION else (self.name,)

    @property
    def rate_names(self) -> tuple[str, ...]:
        """The scalar speeds in it: ``angle_rate``, or the angular velocity in b's axes."""
        return tuple(f"omega.{x}" for x in XYZ) if self.name == ORIENTATION else (f"{self.name}_rate",)


@dataclass(frozen=True)
class Motion:
    """The motion of frame b seen from frame a, all in the axes of a."""

    d: ca.SX
    """Position of b's origin."""
    C: ca.SX
    """Rotation: components in b become components in a."""
    d_dot: ca.SX
    omega: ca.SX

    @property
    def omega_b(self) -> ca.SX:
        """The angular velocity in b's axes."""
        return ca.mtimes(self.C.T, self.omega)


@dataclass(frozen=True)
class Wrench:
    """A force and a torque on b, at b's origin, in the axes of a; their opposites act on a at the same point."""

    force: ca.SX
    torque: ca.SX


@dataclass(frozen=True)
class Inertia:
    """Momentum rates of a body: force and moment about the body's origin, in body axes, and its kinetic energy.

    A flexible body adds the forces along its elastic coordinates, its strain energy and the power that it dissipates.
    """

    force: ca.SX
    moment: ca.SX
    kinetic: ca.SX
    elastic: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    strain: ca.SX = field(default_factory=lambda: ca.SX(0))
    loss: ca.SX = field(default_factory=lambda: ca.SX(0))


@dataclass(frozen=True)
class BodyMotion:
    """How a body moves, in its own axes: velocity of its origin and angular velocity, with component rates."""

    v: ca.SX
    omega: ca.SX
    v_dot: ca.SX
    omega_dot: ca.SX
    gravity: ca.SX
    elastic_dot: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    """Rates of the elastic speeds of a flexible body."""


class Body(Component):
    """A part with mass: an edge from the ground to its frame (N5), and an arm to each of its other frames (N1)."""

    mechanical: ClassVar[bool] = True
    turns: ClassVar[bool] = True
    """Whether it has an orientation; a point has none."""

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return ((self.name, "ground"),)

    def places(self) -> Mapping[str, Frame]:
        """The frames besides the body's own, by name."""
        return {}

    def edges(self) -> tuple[Edge, ...]:
        arms = [
            Edge(f"{self.name}.{frame}", self.name, f"{self.name}.{frame}", Kind.ARM, VIRTUAL_WORK, component=self.name)
            for frame in self.places()
        ]
        return (Edge(self.name, "ground", self.name, Kind.BODY, VIRTUAL_WORK, component=self.name), *arms)

    def __getitem__(self, frame: str) -> str:
        """The node of a frame."""
        if frame not in self.places():
            raise ModelError(
                f"there is no frame '{frame}'",
                where=self.name,
                expected=f"one of {listing(self.places())}" if self.places() else f"none: use '{self.name}' itself",
                remedy="Add it to frames={...}",
            )
        return f"{self.name}.{frame}"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.places())

    def inertia_law(self, v: Any, motion: BodyMotion) -> Inertia:
        """The rates of momentum less the weight, and the kinetic co-energy (Hamel's equations in body axes)."""
        raise NotImplementedError

    def weight(self, v: Any) -> tuple[ca.SX, ca.SX]:
        """Mass and centre of mass, for the potential energy of the weight."""
        raise NotImplementedError

    def flux(self, v: Any) -> tuple[ca.SX, ca.SX]:
        """Rates of m and m c of a body of varying mass."""
        return ca.SX(0), ca.SX.zeros(3)

    def flux_power(self, v: Any, motion: BodyMotion) -> ca.SX:
        """What the kinetic energy of a body of varying mass gains besides the work of forces and weight."""
        return ca.SX(0)

    def spatial_inertia(self, v: Any) -> tuple[ca.SX, ca.SX, ca.SX] | None:
        """Mass, centre of mass and inertia about it, where they are constant; None where `inertia_law` has more."""
        return None


def named_frames(part: Component) -> None:
    """Put the names of bodies in the place of bodies, which stand for their own frames."""
    for end in ("frame_a", "frame_b"):
        given: Any = getattr(part, end)
        if isinstance(given, Body):
            object.__setattr__(part, end, given.name)


class Connection(Component):
    """An edge between two frames of a mechanism."""

    mechanical: ClassVar[bool] = True
    edge_kind: ClassVar[Kind] = Kind.FORCE

    if TYPE_CHECKING:
        frame_a: str | Body = field()
        frame_b: str | Body = field()
    else:
        frame_a: str = field(metadata=said("frame that it starts from: ground, a body, body.frame or a ground frame"))
        frame_b: str = field(metadata=said("frame that it leads to, whose motion is seen from frame_a"))

    def __post_init__(self) -> None:
        named_frames(self)
        super().__post_init__()

    @property
    def ends(self) -> tuple[str, str]:
        """The names of both frames."""
        return cast(str, self.frame_a), cast(str, self.frame_b)

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return ((self.frame_b, self.frame_a),)  # type: ignore[return-value]  # as given, so that errors can show it

    def edges(self) -> tuple[Edge, ...]:
        return (Edge(self.name, *self.ends, self.edge_kind, VIRTUAL_WORK, component=self.name),)


class Constraint(Connection):
    """Equations between the motions of two frames; always a chord, unless it is a `Joint`."""

    def closure(self, v: Any, d: ca.SX, C: ca.SX) -> ca.SX:
        """Equations that must vanish which hold translations: rows of the circuit equation (Richard 2012, eq. 26)."""
        return ca.SX(0, 1)

    def alignment(self, v: Any, C: ca.SX) -> ca.SX:
        """Equations that must vanish which hold rotations only."""
        return ca.SX(0, 1)

    def rolling(self, v: Any, motion: Motion) -> ca.SX:
        """Equations between velocities that are no rate of a position equation (nonholonomic)."""
        return ca.SX(0, 1)


class Joint(Constraint):
    """A joint that can be a tree edge: its coordinates give the motion of b seen from a."""

    coordinates: ClassVar[tuple[Coordinate, ...]] = ()
    coupled: ClassVar[bool] = False
    """Whether translation and rotation share a coordinate, so that both trees must hold the joint or neither."""

    if TYPE_CHECKING:
        fixed: str | Sequence[str] = field(default=(), kw_only=True)
    else:
        fixed: tuple[str, ...] = field(
            default=(),
            kw_only=True,
            metadata=said("start values that hold exactly instead of nearly", either(TEXT, several(TEXT))),
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        given_fixed: Any = self.fixed
        names = (given_fixed,) if isinstance(given_fixed, str) else given_fixed
        if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            expected = f"names of start values among {listing(self.start_fields())}"
            raise ModelError(f"found {given_fixed!r}", where=f"{self.name}.fixed", expected=expected)
        object.__setattr__(self, "fixed", names)
        given = {name.partition(".")[0] for name in self.expressions}
        for name in names:
            if name not in given:
                raise ModelError(
                    f"'{name}' is said to be fixed at the start, but it has no value",
                    where=self.name,
                    expected=f"start values among {listing(self.start_fields())}",
                    remedy=f"Give {name}=..., or leave it out of fixed",
                )

    @classmethod
    def start_fields(cls) -> tuple[str, ...]:
        """The fields that hold start values."""
        scalars = [c.name for c in cls.coordinates if c.name != ORIENTATION]
        spatial = (ORIENTATION, "angular_velocity") if len(scalars) < len(cls.coordinates) else ()
        return (*scalars, *(f"{name}_rate" for name in scalars), *spatial)

    def translation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        """Position of b's origin in a, from the joint's coordinates."""
        return ca.SX.zeros(3)

    def rotation(self, v: Any, q: Mapping[str, ca.SX]) -> ca.SX:
        """Rotation of b in a."""
        return ca.SX.eye(3)

    def translation_rate(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        """Velocity of b's origin seen from a, in a's axes: linear in the speeds."""
        return ca.SX.zeros(3)

    def spin(self, v: Any, q: Mapping[str, ca.SX], u: Mapping[str, ca.SX]) -> ca.SX:
        """Angular velocity of b seen from a, in b's axes: linear in the speeds."""
        return ca.SX.zeros(3)

    def measure(self, v: Any, d: ca.SX, C: ca.SX) -> dict[str, ca.SX]:
        """The scalar coordinates of a given relative position; angles between -pi and pi."""
        return {}


class Element(Connection):
    """A force element between two frames: its wrench follows from the relative motion."""

    supplies: ClassVar[bool] = False
    straight: ClassVar[bool] = False
    """Whether it acts along the line between its ends, so that it has a length and a tension."""

    def wrench(self, v: Any, motion: Motion, here: Any) -> Wrench:
        """Force and torque on b. ``here`` offers time and measured quantities."""
        raise NotImplementedError

    def potential(self, v: Any, motion: Motion) -> ca.SX:
        """The potential energy whose gradient is the conservative part of the wrench."""
        return ca.SX(0)

    def loss(self, v: Any, motion: Motion) -> ca.SX | None:
        """The power that is dissipated; None where it is what is left of power and stored energy."""
        return None

    def banked(self, v: Any, motion: Motion) -> ca.SX:
        """The power that is stored beyond the potential energy, to be integrated along with the motion."""
        return ca.SX(0)

    def rest(self, v: Any, motion: Motion) -> ca.SX:
        """What vanishes where the element is at rest, by which a body without a start position is placed."""
        return ca.SX(0, 1)


class OnJoint(Component):
    """Something that acts along one coordinate of a joint; its edge is parallel to the joint's."""

    mechanical: ClassVar[bool] = True
    edge_kind: ClassVar[Kind] = Kind.FORCE

    on: str = field(metadata=said("joint along which it acts"))

    coordinate: str | None = field(
        default=None, kw_only=True, metadata=said("coordinate of the joint, where it has several")
    )

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return ()

    def edges_between(self, frame_a: str, frame_b: str) -> tuple[Edge, ...]:
        """The edge, once the joint's frames are known."""
        return (Edge(self.name, frame_a, frame_b, self.edge_kind, VIRTUAL_WORK, component=self.name),)

    def edges(self) -> tuple[Edge, ...]:
        return ()

    def chosen(self, joint: Joint) -> str:
        """The coordinate that it acts on: the one named, or the only one."""
        scalars = {c.name: c.group for c in joint.coordinates if c.name != ORIENTATION}
        name = next(iter(scalars)) if self.coordinate is None and len(scalars) == 1 else self.coordinate
        if name in scalars:
            check_alternative(self, 0 if scalars[name] == "translation" else 1)
            return name
        raise ModelError(
            f"the joint '{joint.name}' has no coordinate '{self.coordinate}'"
            if self.coordinate
            else f"the joint '{joint.name}' has {len(scalars) or 'no'} coordinates, and none is chosen",
            where=self.name,
            expected=f"coordinate = one of {listing(scalars)}" if scalars else "a joint with a scalar coordinate",
        )


class JointForce(OnJoint):
    """A force or torque along a joint's coordinate."""

    supplies: ClassVar[bool] = False

    def force(self, v: Any, x: ca.SX, rate: ca.SX, here: Any) -> ca.SX:
        """The generalised force that drives the coordinate ``x`` forward."""
        raise NotImplementedError

    def potential(self, v: Any, x: ca.SX) -> ca.SX:
        """The potential energy whose slope is the conservative part of the force, with opposite sign."""
        return ca.SX(0)

    def loss(self, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX | None:
        """The power that is dissipated; None where it is what is left of power and stored energy."""
        return None

    def banked(self, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX:
        """The power that is stored beyond the potential energy, to be integrated along with the motion."""
        return ca.SX(0)

    def fading(self, v: Any) -> ca.SX | None:
        """The speed below which a friction fades that would stick in truth; None where there is none."""
        return None


class Driver(OnJoint):
    """Prescribes a joint's coordinate, or its speed, as a function of time (N2)."""

    edge_kind: ClassVar[Kind] = Kind.POSITION_DRIVER
    of_speed: ClassVar[bool] = False

    def course(self, v: Any) -> ca.SX:
        """The coordinate, or its speed, over time."""
        raise NotImplementedError


class Coupling(Component):
    """A linear relation between joint coordinates, such as a pair of gears: sum of factor * coordinate = constant."""

    mechanical: ClassVar[bool] = True

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return ()

    def edges(self) -> tuple[Edge, ...]:
        return ()

    def terms(self, v: Any) -> Sequence[tuple[str, str | None, ca.SX]]:
        """Joint, coordinate (None for the only one) and factor of each term."""
        raise NotImplementedError


def start(unit: str, meaning: str) -> Any:
    """A field for an approximate start value."""
    return quantity(unit, f"{meaning} at the start", default=None)


def start_vector(unit: str, meaning: str, labels: str = "x y z") -> Any:
    """A field for an approximate start value with several entries."""
    return vector(unit, f"{meaning} at the start", labels=labels, default=None, built_in="")


__all__ = [
    "ORIENTATION", "PARAMETERS", "XYZ", "Body", "BodyMotion", "Connection", "Constraint", "Coordinate", "Coupling",
    "Driver", "Element", "Inertia", "Joint", "JointForce", "Motion", "OnJoint", "Quantity", "Value", "Wrench", "start",
    "start_vector",
]  # fmt: skip
