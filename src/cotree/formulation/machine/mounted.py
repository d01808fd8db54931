"""Mounts as seen from the mechanism: the speed of each edge, and the force that it puts on bodies and joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from cotree.errors import ModelError, listing, nearest
from cotree.formulation.branch.mechanism import Acting, Mechanism
from cotree.formulation.branch.topology import Link
from cotree.formulation.branch.wrenches import along
from cotree.terminal.mechanics import ORIENTATION, Joint, Wrench
from cotree.terminal.mounts import AxisMount, Line, Mount
from cotree.terminal.springs import length_of


@dataclass(frozen=True)
class Speed:
    """The speed of one edge of a mount, the position whose rate it is where there is one, and its force's action."""

    speed: ca.SX
    position: ca.SX | None
    wrench: Wrench
    """Of a unit force."""
    frames: tuple[str, str]
    axis: ca.SX | None = None
    """Of a carrying body that turns: the axis in its own axes."""
    spin: ca.SX | None = None
    """Its angular velocity in its own axes."""
    world: ca.SX | None = None
    """Its rotation."""


def mounted(mechanism: Mechanism, mounts: Mapping[str, Mount]) -> dict[str, Speed]:
    """The speeds of all edges of mounts, by edge."""
    result: dict[str, Speed] = {}
    for mount in mounts.values():
        if isinstance(mount, Line):
            result[mount.name] = _line(mechanism, mount)
        elif isinstance(mount, AxisMount):
            result |= _axis(mechanism, mount)
    return result


def load(
    mechanism: Mechanism, mounts: Mapping[str, Mount], forces: Mapping[str, ca.SX], momenta: Mapping[str, ca.SX]
) -> None:
    """Put the forces of networks on a mechanism, by edge of the mount.

    ``momenta`` are those of what spins about the axis of a mount: a carrying body that turns the axis feels the
    gyroscopic moment -w x (h e).
    """
    mechanism.loads.clear()
    for name, each in mounted(mechanism, mounts).items():
        force = forces[name]
        wrench = Wrench(each.wrench.force * force, each.wrench.torque * force)
        link = (each.speed, force)
        mechanism.loads.append(Acting(name, wrench, link, ca.SX(0), False, frames=each.frames, loaded=True))
        owner = name.removesuffix(".carrier")
        if owner in momenta and each.axis is not None and each.spin is not None and each.world is not None:
            moment = -ca.cross(each.spin, each.axis) * momenta[owner]
            if not moment.is_zero():
                wrench = Wrench(ca.SX.zeros(3), ca.mtimes(each.world, moment))
                mechanism.loads.append(
                    Acting(name, wrench, (each.spin, moment), ca.SX(0), False, frames=each.frames, loaded=True)
                )


def _line(mechanism: Mechanism, mount: Line) -> Speed:
    top, kin = mechanism.top, mechanism.kin
    a, b = (top.place(frame, mount.name) for frame in (mount.frame_a, mount.frame_b))
    if a.body == b.body:
        raise ModelError(
            f"its frames '{mount.frame_a}' and '{mount.frame_b}' belong to the same body",
            where=mount.name,
            expected="frames of two bodies, or of a body and the ground",
        )
    motion = kin.relative(a, b)
    length = length_of(motion.d)
    speed = ca.dot(motion.d, motion.d_dot) / length
    return Speed(speed, length, Wrench(motion.d / length, ca.SX.zeros(3)), (mount.frame_a, mount.frame_b))


def _axis(mechanism: Mechanism, mount: AxisMount) -> dict[str, Speed]:
    top, kin = mechanism.top, mechanism.kin
    link = _joint(mechanism, mount)
    name = _coordinate(mount, link)
    x, rate = kin.coordinate(link, name)
    unit = along(kin, link, name, ca.SX(1))
    edges = mount.edges()
    frames = link.joint.frame_a, link.joint.frame_b
    result = {edges[0].name: Speed(rate, x, unit, frames)}
    if len(edges) > 1:  # the carrying body along the axis, against the ground
        place = link.a
        turned = unit.torque if name_group(link, name) == "rotation" else unit.force
        axis = ca.mtimes(place.rotation, turned / ca.sqrt(ca.sumsqr(turned)))  # in axes of the carrying body
        j = place.body
        world = ca.mtimes(kin.R[j], axis)
        if name_group(link, name) == "rotation":
            spin = kin.omega[j] + place.spin
            around = Wrench(ca.SX.zeros(3), world)
            carrier = Speed(ca.dot(axis, spin), None, around, (top.model.datums[0], frames[0]), axis, spin, kin.R[j])
            return result | {edges[1].name: carrier}
        else:
            velocity = kin.v[j] + ca.cross(kin.omega[j], place.position) + place.rate
            speed, wrench = ca.dot(axis, velocity), Wrench(world, ca.SX.zeros(3))
        result[edges[1].name] = Speed(speed, None, wrench, (top.model.datums[0], frames[0]))
    return result


def name_group(link: Link, name: str) -> str:
    """Whether a coordinate of a joint is a translation or a rotation."""
    return next(c.group for c in link.joint.coordinates if c.name == name)


def _joint(mechanism: Mechanism, mount: AxisMount) -> Link:
    links = {name: link for name, link in mechanism.top.links.items() if not link.of_body}
    if mount.on not in links:
        raise ModelError(
            f"there is no joint '{mount.on}'",
            where=f"{mount.name}.on",
            expected=f"one of {listing(links)}" if links else "a joint: the model has none",
            remedy=nearest(mount.on, list(links)),
        )
    return links[mount.on]


def _coordinate(mount: AxisMount, link: Link) -> str:
    wanted = "rotation" if mount.ports[0].domain.name == "rotational" else "translation"
    joint: Joint = link.joint
    scalars = [c.name for c in joint.coordinates if c.name != ORIENTATION and c.group == wanted]
    if mount.coordinate is None and len(scalars) == 1:
        return scalars[0]
    if mount.coordinate in scalars:
        return str(mount.coordinate)
    others = [c.name for c in joint.coordinates if c.group != wanted]
    kind = "translational.axis" if wanted == "rotation" else "rotational.axis"
    raise ModelError(
        f"the joint '{joint.name}' has no {wanted} '{mount.coordinate}'"
        if mount.coordinate
        else f"the joint '{joint.name}' ({joint.kind}) has {len(scalars)} {wanted}s, and none is chosen"
        if scalars
        else f"the joint '{joint.name}' ({joint.kind}) has no {wanted}",
        where=f"{mount.name}.coordinate" if mount.coordinate else mount.name,
        expected=f"one of {listing(scalars)}" if scalars else f"a joint with a {wanted}",
        remedy=f"Use a {kind} for {listing(others)}" if others and not scalars else "",
    )
