"""Bodies of a mechanism: the rigid body of Filippini 2007, fig. 1, at its centre of mass, and points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from cotree.bond.branch.base import Wrapped
from cotree.bond.mechanics.base import DOMAINS, FramePart, components, frame, is_zero, junction, lever, one_port
from cotree.bond.mechanics.bodies import open_arm
from cotree.bond.motions import ORIENTATION, PARAMETERS, BodyPlace, Floating, Motion, euler_parameters
from cotree.bond.structure import XYZ
from cotree.errors import ModelError
from cotree.maths.rotation import of_quaternion, skew
from cotree.model import Component
from cotree.terminal.bodies import PointMass, RigidBody, frame_of
from cotree.terminal.mechanics import Body
from cotree.terminal.varying import VaryingMass, VaryingPoint

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

ORIGIN = "origin"
"""The port of a body's own frame."""
MASS, INERTIA = "m", "J"


class OfBody(Wrapped, FramePart):
    """A rigid body or a point mass with its frames; the port ``origin`` is the body's own frame.

    A point does not turn: its frame keeps the axes of the world, held by Sf = 0.
    """

    kind = "bond.of_body"
    wraps: ClassVar[type[Component]] = Body
    role = "rigid"
    massive = True
    heavy = True
    example: ClassVar[Mapping[str, Any]] = {"component": {"kind": "point_mass", "mass": 2}}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.fits(self.component):
            raise ModelError(
                f"a {self.component.kind} does not fit", where=self.name, expected=f"another kind than {self.kind}"
            )

    @classmethod
    def fits(cls, body: Body) -> bool:
        """Whether it can stand for a body."""
        return isinstance(body, (RigidBody, PointMass)) and not isinstance(body, (VaryingMass, VaryingPoint))

    @property
    def origin(self) -> str:
        """The port of its own frame."""
        name = ORIGIN
        while name in self.component.places():
            name += "_"
        return name

    @property
    def floating(self) -> Floating:  # type: ignore[override]
        """Where the coordinates of a free body belong: to its own frame."""
        moving, turning = (f"{self.origin}.{word}" for word in ("translation", "rotation"))
        return Floating(self.origin, moving, turning, None if self.component.turns else ca.SX.eye(3))

    def frame_ports(self) -> tuple[str, ...]:
        return (self.origin, *self.component.places())

    def places(self, v: Mapping[str, Any]) -> dict[str, tuple[ca.SX, ca.SX]]:
        """Rotation and position of its frames in body axes at the body's own frame."""
        result = {self.origin: (ca.SX.eye(3), ca.SX.zeros(3))}
        for name in self.component.places():
            position, C = frame_of(v, name)
            result[name] = (C, ca.SX(position))
        return result

    def start_motion(self, v: Mapping[str, Any], R: ca.SX | None = None, near: Motion | None = None) -> Motion:
        """Its motion at the start, in its own axes."""
        values = self.fields_of(v)

        def given(name: str, other: ca.SX) -> ca.SX:
            parts = getattr(values, name, None)
            return other if parts is None else ca.SX(ca.vertcat(*parts))

        e = given(ORIENTATION, ca.SX([1, 0, 0, 0]))
        if R is None:
            R = of_quaternion(e / ca.norm_2(e))
        zero = ca.SX.zeros(3)
        velocity = ca.mtimes(R.T, given("velocity", zero))
        return Motion(R, given("position", zero), given("angular_velocity", zero), velocity)

    def inertia(self, v: Mapping[str, Any]) -> tuple[ca.SX, ca.SX, ca.SX | None]:
        """Mass, centre of mass, and inertia about it; a point has none."""
        values = self.fields_of(v)
        if isinstance(self.component, PointMass):
            return ca.SX(values.mass), ca.SX.zeros(3), None
        mass, centre, J = self.component.spatial_inertia(values)
        return ca.SX(mass), ca.SX(centre), ca.SX(J)

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        placed: BodyPlace = make.structure.placed[path]
        own = f"{path}.{self.origin}"
        frame(make, path, self.origin)
        spin, move = f"{own}.rotation", f"{own}.translation"
        if not self.component.turns:
            still = ca.SX.zeros(3)
            one_port(make, f"{path}.upright", "Sf", spin, 3, value=still, domain="rotational", text="0")
        self.open_inertia(make, path, v, placed, (spin, move))
        for name, place in self.places(v).items():
            if name != self.origin:
                open_arm(make, f"{path}.{name}", (spin, move), place, back=placed.root == name)
                for word in ("rotation", "translation"):
                    make.expose(path, name, word, f"{path}.{name}.{word}")
        self._report(make, path, v, placed)

    def open_inertia(
        self, make: Opening, path: str, v: Mapping[str, Any], placed: BodyPlace, own: tuple[str, str]
    ) -> None:
        """Add what resists the motion of the body's own frame, with the junctions of its rotation and translation."""
        spin, move = own
        mass, centre, J = self.inertia(v)
        at = move
        if not is_zero(centre):
            zero, at = junction(make, f"{path}.centre.sum", "0"), junction(make, f"{path}.centre")
            make.bond(f"{path}.centre.move", move, zero, 3)
            lever(make, f"{path}.centre.arm", centre, spin, zero)
            make.bond(f"{path}.centre.bond", zero, at, 3)
        start = placed.pose.start
        starts = (start.v + ca.cross(start.w, centre), start.w) if placed.free else (None, None)
        one_port(
            make, f"{path}.{MASS}", "I", at, 3, matrix=mass * ca.SX.eye(3), start_conjugate=starts[0],
            domain="translational", text="m",
        )  # fmt: skip
        if J is not None:
            one_port(
                make, f"{path}.{INERTIA}", "I", spin, 3, matrix=J, start_conjugate=starts[1], domain="rotational",
                text="J",
            )  # fmt: skip
            w = make.signal(f"{path}.{INERTIA}.flow", 3)
            # Filippini 2007, fig. 1: w x p (eq. 1) as (m w) x v, and w x h (eq. 2) as -h x w
            self._gyristor(make, f"{path}.euler.translation", at, mass * w)
            self._gyristor(make, f"{path}.euler.rotation", spin, -ca.mtimes(J, w))
        g, R = gravity(make), placed.pose.R
        if not is_zero(g):
            one_port(
                make, f"{path}.weight", "Se", at, 3, out=True, modulated=True, domain="translational", text="m g",
                value=mass * ca.mtimes(R.T, g), potential=-mass * ca.dot(g, placed.pose.r + ca.mtimes(R, centre)),
            )  # fmt: skip

    def _gyristor(self, make: Opening, name: str, at: str, modulus: ca.SX) -> None:
        domain = DOMAINS[name.rpartition(".")[2]]
        one_port(make, name, "GR", at, 3, matrix=skew(modulus), modulated=True, domain=domain)

    def _report(self, make: Opening, path: str, v: Mapping[str, Any], placed: BodyPlace) -> None:
        """Position, velocity and acceleration of every frame in world axes, orientation and its rates."""
        R, r = placed.pose.R, placed.pose.r
        own = f"{path}.{self.origin}"
        w, velocity = make.reported(f"{own}.rotation.flow", 3), make.reported(f"{own}.translation.flow", 3)
        for name, (C, d) in self.places(v).items():
            node = path if name == self.origin else f"{path}.{name}"
            what = [("position", r + ca.mtimes(R, d), "m")]
            what += [("velocity", ca.mtimes(R, velocity + ca.cross(w, d)), "m/s")]
            rates = [("acceleration", "velocity", "m/s^2")]
            if self.component.turns:
                what += [("angular_velocity", ca.mtimes(R, w), "rad/s")]
                rates += [("angular_acceleration", "angular_velocity", "rad/s^2")]
                if f"{node}.{ORIENTATION}.e0" not in placed.states:
                    components(make, f"{node}.{ORIENTATION}", euler_parameters(ca.mtimes(R, C)), "", PARAMETERS)
            for quantity, value, unit in what:
                if f"{node}.{quantity}.x" not in placed.states:
                    components(make, f"{node}.{quantity}", value, unit)
            for quantity, of, unit in rates:
                for x in XYZ:
                    make.rate_output(f"{node}.{quantity}.{x}", f"{node}.{of}.{x}", unit)


def gravity(make: Opening) -> ca.SX:
    """The acceleration of free fall in world axes."""
    entries = make.values.entries(make.model.valued()[0])
    return ca.SX(ca.vertcat(*(ca.SX(entries[x]) for x in XYZ)))
