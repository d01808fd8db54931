"""Mounts as seen from the mechanism: the speed of each edge, and the force that it puts on bodies and joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from cotree.errors import ModelError, listing, nearest
from cotree.formulation.branch.mechanism import Acting, Mechanism
from cotree.formulation.branch.topology import Link
from cotree.formulation.branch.wrenches import along
from cotree.terminal.mechanics import ORIENTATION, Joint, Motion, Wrench
from cotree.terminal.mounts import AxisMount, Mount
from cotree.terminal.springs import length_of
from cotree.terminal.translational import Line


@dataclass(frozen=True)
class Axle:
    """The axis of a mount on a body that may turn it."""

    frame: str
    """A frame of the body."""
    axis: ca.SX
    """In the body's own axes."""
    spin: ca.SX
    """Angular velocity of the body in its own axes."""
    rotation: ca.SX
    """Of the body in space."""


@dataclass(frozen=True)
class Speed:
    """The speed of one edge of a mount, the position whose rate it is where there is one, and its force's action."""

    speed: ca.SX
    position: ca.SX | None
    wrench: Wrench
    """Of a unit force."""
    frames: tuple[str, str]
    axle: Axle | None = None
    """Of the edge of a carrying body, where the coordinate is an angle."""
    motion: Motion | None = None
    """Of the second frame seen from the first, where the mount lies on the line between them."""


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

    ``momenta`` are those of what spins about the axis of a mount: a body that turns the axis feels the gyroscopic
    moment -w x (h e).
    """
    mechanism.loads.clear()
    for name, each in mounted(mechanism, mounts).items():
        force = forces[name]
        wrench = Wrench(each.wrench.force * force, each.wrench.torque * force)
        link = (each.speed, force)
        mechanism.loads.append(
            Acting(name, wrench, link, ca.SX(0), False, frames=each.frames, loaded=True, motion=each.motion)
        )
        owner = name.removesuffix(".carrier")
        if owner in momenta and (axle := each.axle) is not None:
            moment = -ca.cross(axle.spin, axle.axis) * momenta[owner]
            if not moment.is_zero():
                wrench, frames = Wrench(ca.SX.zeros(3), ca.mtimes(axle.rotation, moment)), (each.frames[0], axle.frame)
                mechanism.loads.append(
                    Acting(name, wrench, (axle.spin, moment), ca.SX(0), False, frames=frames, loaded=True)
                )


def _line(mechanism: Mechanism, mount: Line) -> Speed:
    top, kin = mechanism.top, mechanism.kin
    ends = mount.ends
    a, b = (top.place(frame, mount.name) for frame in ends)
    if a.body == b.body:
        raise ModelError(
            f"its frames '{mount.frame_a}' and '{mount.frame_b}' belong to the same body",
            where=mount.name,
            expected="frames of two bodies, or of a body and the ground",
        )
    motion = kin.relative(a, b)
    length = length_of(motion.d)
    speed = ca.dot(motion.d, motion.d_dot) / length
    return Speed(speed, length, Wrench(motion.d / length, ca.SX.zeros(3)), ends, motion=motion)


def _axis(mechanism: Mechanism, mount: AxisMount) -> dict[str, Speed]:
    top, kin = mechanism.top, mechanism.kin
    link = _joint(mechanism, mount)
    name = _coordinate(mount, link)
    x, rate = kin.coordinate(link, name)
    unit = along(kin, link, name, ca.SX(1))
    edges = mount.edges()
    frames = link.joint.ends
    result = {edges[0].name: Speed(rate, x, unit, frames)}
    if len(edges) > 1:  # the carrying body along the axis, against the ground
        place = link.a
        turns = name_group(link, name) == "rotation"
        turned = unit.torque if turns else unit.force
        axis = ca.mtimes(place.rotation, turned / ca.sqrt(ca.sumsqr(turned)))  # in axes of the carrying body
        j = place.body
        world = ca.mtimes(kin.R[j], axis)
        ends = (top.model.datums[0], frames[0])
        if turns:
            spin, wrench = kin.omega[j] + place.spin, Wrench(ca.SX.zeros(3), world)
            axle = _axle(mechanism, link, name, world) or Axle(frames[0], axis, spin, kin.R[j])
            result[edges[1].name] = Speed(ca.dot(axis, spin), None, wrench, ends, axle)
        else:
            velocity = kin.v[j] + ca.cross(kin.omega[j], place.position) + place.rate
            result[edges[1].name] = Speed(ca.dot(axis, velocity), None, Wrench(world, ca.SX.zeros(3)), ends)
    return result


def _axle(mechanism: Mechanism, link: Link, name: str, world: ca.SX) -> Axle | None:
    """The last of several axes turns with frame b; None where the axis is fixed in frame a."""
    kin, place = mechanism.kin, link.b
    rotations = [c.name for c in link.joint.coordinates if c.group == "rotation"]
    if len(rotations) < 2 or name != rotations[-1]:
        return None
    R = kin.R[place.body]
    return Axle(link.joint.ends[1], ca.mtimes(R.T, world), kin.omega[place.body] + place.spin, R)


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
    free = wanted == "rotation" and any(c.name == ORIENTATION for c in joint.coordinates)
    single = f"{wanted} about one axis" if free else wanted
    kind = "translational.axis" if wanted == "rotation" else "rotational.axis"
    raise ModelError(
        f"the joint '{joint.name}' has no {wanted} '{mount.coordinate}'"
        if mount.coordinate
        else f"the joint '{joint.name}' ({joint.kind}) has {len(scalars)} {wanted}s, and none is chosen"
        if scalars
        else f"the joint '{joint.name}' ({joint.kind}) has no {single}",
        where=f"{mount.name}.coordinate" if mount.coordinate else mount.name,
        expected=f"one of {listing(scalars)}" if scalars else f"a joint with a {single}",
        remedy=f"Use a {kind} for {listing(others)}" if others and not scalars else "",
    )
