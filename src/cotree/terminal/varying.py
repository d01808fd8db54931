"""Bodies of varying mass: what leaves or enters carries momentum away or brings it.

The body is a volume fixed to its frame. Mass leaves it at one point, the outlet, with a velocity relative to the body;
where the mass grows, it enters there. With m' = dm/dt and S = d(m c)/dt - m' o the momentum of the flow inside, from
the centre c towards the outlet o, momentum and its moment about the body's origin give (Meshchersky 1897; Thomson
1966)

    m a_c + 2 w x S + S' = F + m' exhaust
    H' + w x H + (dJ/dt) w - m' o x (w x o) + h' + w x h = M + m' o x exhaust

where m a_c, H' + w x H are those of the body as if it were solid, dJ/dt is about the origin, and h = c x S: the flow
inside runs straight through the centre of mass. Terms with w x o and dJ/dt are known as jet damping.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca

from cotree.errors import ModelError
from cotree.maths.rotation import skew
from cotree.model import MISSING, Signal
from cotree.model.expression import TIME
from cotree.model.quantity import Quantity
from cotree.terminal.bodies import RigidBody
from cotree.terminal.forces import signal_vector
from cotree.terminal.mechanics import Body, BodyMotion, Inertia, start_vector

_MOMENT = Quantity("kg m^2", "finite", True, "moment or product of inertia", symbol="J", built_in="zero")
ORIGIN = (0.0, 0.0, 0.0)


def _mass(default: Any = MISSING) -> Any:
    info = Quantity("kg", "positive", True, "mass over time", symbol="m", measured=True)
    return dataclasses.field(default=default, kw_only=True, metadata={"quantity": info})


def _mass_rate() -> Any:
    info = Quantity("kg/s", "finite", True, "rate of the mass, where it follows measured quantities", measured=True)
    return dataclasses.field(default=None, kw_only=True, metadata={"quantity": info})


def time_rate(expression: Any) -> ca.SX:
    """The derivative of an expression of time, of the same shape."""
    expression = ca.SX(expression)
    time = [symbol for symbol in ca.symvar(expression) if symbol.name() == TIME]
    if not time:
        return ca.SX.zeros(*expression.shape)
    return ca.SX(ca.reshape(ca.jacobian(ca.vec(expression), time[0]), *expression.shape))


def _check_rate(body: Any) -> None:
    if body.expressions["mass"].measured and body.mass_rate is None:
        raise ModelError(
            f"the mass '{body.mass}' follows a measured quantity, and its rate is not given",
            where=body.name,
            expected="mass_rate=..., such as 'rho*P.displacement_rate'",
        )


def _rate(v: Any) -> ca.SX:
    return time_rate(v.mass) if v.mass_rate is None else ca.SX(v.mass_rate)


class VaryingPoint(Body):
    """m v' = F + m' exhaust: a point whose mass changes; ``exhaust`` is the velocity of what leaves seen from it.

    It is in world axes, since a point does not turn. A cable that is picked up from rest has exhaust = -velocity.
    """

    turns: ClassVar[bool] = False

    mass: Signal = _mass()
    mass_rate: Signal | None = _mass_rate()
    exhaust: tuple[Signal, Signal, Signal] = signal_vector("m/s", "velocity of what leaves or enters", default=ORIGIN)
    position: tuple[float | str, ...] | None = start_vector("m", "position")
    velocity: tuple[float | str, ...] | None = start_vector("m/s", "velocity")

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_rate(self)

    def weight(self, v: Any) -> tuple[ca.SX, ca.SX]:
        return ca.SX(v.mass), ca.SX.zeros(3)

    def inertia_law(self, v: Any, motion: BodyMotion) -> Inertia:
        """Meshchersky's equation."""
        acceleration = motion.v_dot + ca.cross(motion.omega, motion.v) - motion.gravity
        force = v.mass * acceleration - _rate(v) * ca.vertcat(*v.exhaust)
        return Inertia(force, ca.SX.zeros(3), v.mass * ca.sumsqr(motion.v) / 2)

    def flux(self, v: Any) -> tuple[ca.SX, ca.SX]:
        """Rates of m and m c: the energy of weight changes by -g.(m' r + C (m c)') because of them."""
        return _rate(v), ca.SX.zeros(3)

    def flux_power(self, v: Any, motion: BodyMotion) -> ca.SX:
        """What the kinetic energy gains besides the work of forces: m' v.v/2 + m' v.exhaust."""
        return _rate(v) * (ca.sumsqr(motion.v) / 2 + ca.dot(motion.v, ca.vertcat(*v.exhaust)))


class VaryingMass(RigidBody):
    """m a_c + 2 w x S + S' = F + m' exhaust: a rigid body whose mass, centre and inertia change with time.

    ``exhaust`` is the velocity of what leaves (or enters) at the point ``outlet``, seen from the body in its axes;
    without an outlet this is the centre of mass.
    ``mass``, ``inertia`` and ``centre`` are signals of time; the mass may follow measured quantities where
    ``mass_rate`` is given, and then the flow inside is taken as steady. A shape with a mass of time does as well.
    """

    example: ClassVar[Mapping[str, Any]] = {
        "mass": "3 - t",
        "inertia": [1.0, 1.0, "1 - 0.1*t"],
        "exhaust": [-2.0, 0.0, 0.0],
    }

    mass: Signal = _mass()
    mass_rate: Signal | None = _mass_rate()
    centre: tuple[Signal, Signal, Signal] = signal_vector("m", "centre of mass", default=ORIGIN, measured=False)
    outlet: tuple[Signal, Signal, Signal] = signal_vector(
        "m", "point where mass leaves, in body axes", default=None, measured=False
    )
    exhaust: tuple[Signal, Signal, Signal] = signal_vector("m/s", "velocity of what leaves or enters", default=ORIGIN)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_rate(self)

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        return {
            name: (_MOMENT if name.startswith("inertia.") else info, value)
            for name, (info, value) in super().entries().items()
        }

    def check(self, values: Mapping[str, float]) -> None:
        """What is constant must be that of a real body."""
        if all(name in values for name in self.expressions if name.partition(".")[0] in ("mass", "inertia", "centre")):
            super().check(values)

    def spatial_inertia(self, v: Any) -> tuple[ca.SX, ca.SX, ca.SX] | None:
        return None

    def flux(self, v: Any) -> tuple[ca.SX, ca.SX]:
        """Rates of m and m c: the energy of weight changes by -g.(m' r + C (m c)') because of them."""
        centre, m_rate = ca.vertcat(*v.centre), _rate(v)
        return m_rate, m_rate * centre + v.mass * time_rate(centre)

    def _solid(self, v: Any) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Mass, centre, and inertia about the body's origin."""
        mass, centre, inertia = super().spatial_inertia(v)  # type: ignore[misc]
        return mass, centre, inertia + mass * ca.mtimes(skew(centre).T, skew(centre))

    def _about_origin_rate(self, v: Any) -> ca.SX:
        """The rate of the inertia about the origin, in body axes."""
        _, centre, about_origin = self._solid(v)
        if v.mass_rate is None:
            return time_rate(about_origin)
        m_rate, arm = _rate(v), skew(centre)
        return time_rate(about_origin) + (m_rate - time_rate(v.mass)) * ca.mtimes(arm.T, arm)

    def _flow(self, v: Any, w: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Force and moment that the flow adds to those of a solid body."""
        _, centre, _ = self._solid(v)
        m_rate, first = self.flux(v)
        outlet = centre if v.outlet is None else ca.vertcat(*v.outlet)
        inside = first - m_rate * outlet
        inside_rate = time_rate(inside)
        moment = ca.cross(centre, inside)
        thrust = m_rate * ca.vertcat(*v.exhaust)
        force = inside_rate + 2 * ca.cross(w, inside) - thrust
        turning = ca.mtimes(self._about_origin_rate(v), w) - m_rate * ca.cross(outlet, ca.cross(w, outlet))
        swirl = ca.cross(time_rate(centre), inside) + ca.cross(centre, inside_rate) + ca.cross(w, moment)
        return force, turning + swirl - ca.cross(outlet, thrust)

    def inertia_law(self, v: Any, motion: BodyMotion) -> Inertia:
        """The body as if solid, and the flow."""
        mass, centre, about_origin = self._solid(v)
        w = motion.omega
        origin = motion.v_dot + ca.cross(w, motion.v) - motion.gravity
        solid = mass * (origin + ca.cross(motion.omega_dot, centre) + ca.cross(w, ca.cross(w, centre)))
        spin = ca.mtimes(about_origin, w)
        turning = ca.mtimes(about_origin, motion.omega_dot) + ca.cross(w, spin) + mass * ca.cross(centre, origin)
        force, moment = self._flow(v, w)
        kinetic = mass * ca.sumsqr(motion.v) / 2 + mass * ca.dot(motion.v, ca.cross(w, centre)) + ca.dot(w, spin) / 2
        return Inertia(solid + force, turning + moment, kinetic)

    def flux_power(self, v: Any, motion: BodyMotion) -> ca.SX:
        """What the kinetic energy gains besides the work of forces and weight: dT/dt at rest less the flow's power."""
        m_rate, first = self.flux(v)
        w = motion.omega
        growth = m_rate * ca.sumsqr(motion.v) / 2 + ca.dot(motion.v, ca.cross(w, first))
        growth += ca.dot(w, ca.mtimes(self._about_origin_rate(v), w)) / 2
        force, moment = self._flow(v, w)
        return growth - ca.dot(motion.v, force) - ca.dot(w, moment)
