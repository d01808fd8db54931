"""What a model says of its start: wishes for positions and speeds, and first guesses of the coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import casadi as ca

from cotree.formulation.branch.kinematics import BODY_ANGLE
from cotree.formulation.branch.mechanism import Mechanism, frame_motion
from cotree.formulation.branch.places import Flexible
from cotree.formulation.branch.topology import Link
from cotree.maths.rotation import of_quaternion, vee
from cotree.terminal.mechanics import ORIENTATION, Body

if TYPE_CHECKING:
    from cotree.terminal.deformable import Deformable


@dataclass(frozen=True)
class Wish:
    """A start value: what should vanish in position or velocity, and whether it must."""

    name: str
    value: ca.SX
    fixed: bool
    length: bool = False
    """Whether it is a displacement or a speed in m/s, instead of an angle."""


class Wishes:
    """Wishes for positions and for speeds, and first guesses of the tree's own coordinates.

    ``bending`` says whether elastic coordinates and speeds whose start is not given may differ from zero.
    """

    def __init__(self, mechanism: Mechanism, bending: bool) -> None:
        self.mechanism, self.bending = mechanism, bending
        positions: list[Wish] = []
        speeds: list[Wish] = []
        guess: dict[str, ca.SX] = {}
        self.positions, self.speeds, self.guess = positions, speeds, guess
        kin, top = mechanism.kin, mechanism.top
        for j, flexible in top.flexible.items():
            self._elastic_wishes(j, flexible, positions, speeds, guess)
        for link in top.links.values():
            if link.of_body:
                self._body_wishes(link, positions, speeds, guess)
                continue
            v, own = link.values, kin.positions.get(link.name, {})
            for c in link.joint.coordinates:
                if c.name == ORIENTATION:
                    self._turn_wishes(link, positions, speeds, guess)
                    continue
                value, rate = getattr(v, c.name), getattr(v, f"{c.name}_rate")
                driven = any(d.chosen(link.joint) == c.name for d in link.drivers if not d.of_speed)
                if value is not None and not driven:
                    if c.name in own:
                        guess[f"{link.name}.{BODY_ANGLE if link.name in kin.aligned else c.name}"] = value
                    x = kin.coordinate(link, c.name)[0]
                    off = ca.SX(x - value)
                    if c.name not in own and c.group == "rotation":
                        guess[f"{link.name}.{c.name}"] = value
                    long = c.group == "translation"
                    positions.append(Wish(f"{link.name}.{c.name}", off, c.name in link.joint.fixed, long))
                if rate is not None and not any(d.chosen(link.joint) == c.name for d in link.drivers):
                    off = ca.SX(kin.coordinate(link, c.name)[1] - rate)
                    long = c.group == "translation"
                    speeds.append(Wish(f"{link.name}.{c.name}_rate", off, f"{c.name}_rate" in link.joint.fixed, long))

    def _elastic_wishes(
        self, j: int, flexible: Flexible, positions: list[Wish], speeds: list[Wish], guess: dict[str, ca.SX]
    ) -> None:
        """Elastic coordinates and speeds start where they are given, otherwise at zero."""
        body, floating = cast("Deformable", self.mechanism.top.bodies[j]), flexible.floating
        for k, name in enumerate(floating.tables.names):
            value, rate = body.elastic_start(name)
            guess[f"{flexible.name}.{name}"] = ca.SX(value)
            held = [not self.bending or name in given for given in (body.elastic, body.elastic_rate)]
            long = floating.tables.units[k] == "m"
            positions.append(Wish(f"{flexible.name}.{name}", floating.q[k] - value, held[0], long))
            speeds.append(Wish(f"{flexible.name}.{name}_rate", floating.u[k] - rate, held[1], long))

    def _turn_wishes(self, link: Link, positions: list[Wish], speeds: list[Wish], guess: dict[str, ca.SX]) -> None:
        v, kin = link.values, self.mechanism.kin
        motion = kin.motion(link)
        if v.orientation is not None:
            wanted = ca.vertcat(*v.orientation)
            if ORIENTATION in kin.positions.get(link.name, {}):
                guess |= {f"{link.name}.{ORIENTATION}.e{k}": wanted[k] for k in range(4)}
            off = vee(ca.mtimes(of_quaternion(wanted).T, motion.C))
            positions.append(Wish(f"{link.name}.{ORIENTATION}", off, ORIENTATION in link.joint.fixed))
        if v.angular_velocity is not None:
            off = motion.omega_b - ca.vertcat(*v.angular_velocity)
            speeds.append(Wish(f"{link.name}.angular_velocity", off, "angular_velocity" in link.joint.fixed))

    def _body_wishes(self, link: Link, positions: list[Wish], speeds: list[Wish], guess: dict[str, ca.SX]) -> None:
        kin, top = self.mechanism.kin, self.mechanism.top
        body = top.model.components[link.name]
        assert isinstance(body, Body)
        v: Any = self.mechanism.values_of(body)
        own, place = kin.positions.get(link.name, {}), link.b
        R, motion = ca.mtimes(kin.R[link.j], place.rotation), frame_motion(kin, link.name)
        if getattr(v, "position", None) is not None:
            wanted = ca.SX(ca.vertcat(*v.position))
            guess |= {f"{link.name}.{x}": wanted[k] for k, x in enumerate("xyz") if x in own}
            positions.append(Wish(f"{link.name}.position", motion["position"] - wanted, False, True))
        if getattr(v, "orientation", None) is not None:
            wanted = ca.SX(ca.vertcat(*v.orientation))
            if ORIENTATION in own:
                guess |= {f"{link.name}.{ORIENTATION}.e{k}": wanted[k] for k in range(4)}
            elif "angle" in own:
                guess[f"{link.name}.angle"] = 2 * ca.atan2(wanted[3], wanted[0])
            positions.append(Wish(f"{link.name}.orientation", vee(ca.mtimes(of_quaternion(wanted).T, R)), False))
        if getattr(v, "velocity", None) is not None:
            speeds.append(Wish(f"{link.name}.velocity", motion["velocity"] - ca.vertcat(*v.velocity), False, True))
        if getattr(v, "angular_velocity", None) is not None:
            off = ca.mtimes(place.rotation.T, kin.omega[link.j] + place.spin) - ca.vertcat(*v.angular_velocity)
            speeds.append(Wish(f"{link.name}.angular_velocity", off, False))
