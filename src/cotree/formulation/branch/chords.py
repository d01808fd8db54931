"""Equations of the cotree: joints, constraints, drivers and couplings that are chords.

Each gives rows that must vanish: the circuit equation of the chord projected on the directions that it holds
(Richard 2012, eq. 26 and 68-70), their rates, and the wrench that a unit multiplier of each row puts on frame b.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from cotree.formulation.branch.kinematics import Kinematics
from cotree.formulation.branch.places import Place
from cotree.formulation.branch.topology import Link
from cotree.maths.lookup import slopes
from cotree.maths.rotation import skew
from cotree.terminal.mechanics import Constraint, Driver, Motion


@dataclass(frozen=True)
class Rows:
    """Equations of one component, with their parts in the velocities of frame b seen from a."""

    owner: str
    labels: tuple[str, ...]
    position: ca.SX | None
    """None for rows that hold velocities only."""
    velocity: ca.SX
    a: Place | None = None
    b: Place | None = None
    force: ca.SX | None = None
    """d(velocity)/d(d_dot): the transposed rows are the forces of unit multipliers, in the axes of a."""
    torque: ca.SX | None = None
    driver: bool = False
    lengths: tuple[bool, ...] = ()
    """Which rows are lengths, in m, and not angles or directions."""
    drift: ca.SX | None = None
    """The part of the velocity that time alone brings, against which the constraint works."""

    def __len__(self) -> int:
        return int(self.velocity.numel())


def chord_rows(kin: Kinematics) -> list[Rows]:
    """The equations of all chords, in the order of the model."""
    top, tree = kin.top, kin.tree
    rows: list[Rows] = []
    for part in top.model.components.values():
        link = top.links.get(part.name)
        if link is not None and not link.of_body:
            rows += _joint_rows(kin, link)
            rows += [_driver_row(kin, link, d) for d in link.drivers if d.name not in tree.driven]
        elif isinstance(part, Constraint):
            a, b = top.place(part.ends[0], part.name), top.place(part.ends[1], part.name)
            rows += _constraint_rows(kin, part, top.of(part), a, b, closing=True, aligning=True)
    for coupling in top.couplings:
        v = top.of(coupling)
        terms, long = [], False
        for joint, name, factor in coupling.terms(v):
            owner = _coupled(top, coupling.name, joint)
            wanted = name or only(owner)
            terms.append((factor, *kin.coordinate(owner, wanted)))
            long |= owner.translates(wanted)
        offset = getattr(v, "offset", None)
        position = sum((f * x for f, x, _ in terms), ca.SX(0)) - (0 if offset is None else offset)
        velocity = sum((f * rate for f, _, rate in terms), ca.SX(0))
        rows.append(Rows(coupling.name, ("ratio",), ca.SX(position), ca.SX(velocity), lengths=(long,)))
    return rows


def _coupled(top: Any, owner: str, joint: str) -> Link:
    from cotree.errors import ModelError, listing, nearest

    link = top.links.get(joint)
    if link is None or link.of_body:
        joints = [name for name, each in top.links.items() if not (each.of_body or each.inner)]
        raise ModelError(
            f"there is no joint '{joint}'",
            where=owner,
            expected=f"one of {listing(joints)}",
            remedy=nearest(str(joint), joints),
        )
    return link  # type: ignore[no-any-return]


def only(link: Link) -> str:
    """The one scalar coordinate of a joint."""
    from cotree.errors import ModelError

    scalars = [c.name for c in link.joint.coordinates if len(c.names) == 1]
    if len(scalars) != 1:
        raise ModelError(f"the joint '{link.name}' has {len(scalars)} coordinates", expected="one, or the name of one")
    return scalars[0]


def _joint_rows(kin: Kinematics, link: Link) -> list[Rows]:
    closing = link.name not in kin.tree.moving
    aligning = link.name not in kin.tree.turning and kin.top.oriented(link)
    if not (closing or aligning):
        return []
    return _constraint_rows(kin, link.joint, link.values, link.a, link.b, closing=closing, aligning=aligning)


def _constraint_rows(
    kin: Kinematics, part: Constraint, v: Any, a: Place, b: Place, *, closing: bool, aligning: bool
) -> list[Rows]:
    motion = kin.relative(a, b)
    d, C = ca.SX.sym("d", 3), ca.SX.sym("C", 3, 3)
    closure = part.closure(v, d, C) if closing else ca.SX(0, 1)
    alignment = part.alignment(v, C) if aligning else ca.SX(0, 1)
    result = []
    if a.node is not None and closure.numel() == 3 and ca.is_equal(closure, d, 1):
        result.append(_meeting(kin, part.name, a, b))
        closure = ca.SX(0, 1)
    phi = ca.vertcat(closure, alignment)
    if phi.numel():
        here = ca.densify(ca.vertcat(motion.d, ca.vec(motion.C)))
        turn = ca.horzcat(*(ca.vec(ca.mtimes(skew(e), C)) for e in ca.horzsplit(ca.SX.eye(3))))
        parts = ca.horzcat(phi, slopes(phi, d), ca.mtimes(slopes(phi, ca.vec(C)), turn), ca.jacobian(phi, kin.t))
        now = ca.substitute(parts, ca.vertcat(d, ca.vec(C)), here)
        force, torque = now[:, 1:4], now[:, 4:7]
        velocity = ca.mtimes(force, motion.d_dot) + ca.mtimes(torque, motion.omega) + now[:, 7]
        labels = (
            *(f"translation {k + 1}" for k in range(closure.numel())),
            *(f"rotation {k + 1}" for k in range(alignment.numel())),
        )
        long = (True,) * closure.numel() + (False,) * alignment.numel()
        result.append(Rows(part.name, labels, now[:, 0], velocity, a, b, force, torque, lengths=long, drift=now[:, 7]))
    if closing:
        result += _rolling_rows(part, v, motion, a, b)
    return result


def _meeting(kin: Kinematics, owner: str, a: Place, b: Place) -> Rows:
    """Two points that meet, seen from the undeformed axes of a flexible body: deformation turns no equation then."""
    base = ca.SX.eye(3) if a.base is None else a.base
    motion = kin.relative(replace(a, rotation=base, spin=ca.SX(3, 1)), b)
    labels = tuple(f"translation {k + 1}" for k in range(3))
    force = ca.mtimes(base.T, a.rotation)
    long = (True,) * 3
    return Rows(owner, labels, ca.densify(motion.d), ca.densify(motion.d_dot), a, b, force, ca.SX(3, 3), lengths=long)


def _rolling_rows(part: Constraint, v: Any, motion: Motion, a: Place, b: Place) -> list[Rows]:
    rate, spin = ca.SX.sym("d_dot", 3), ca.SX.sym("omega", 3)
    psi = part.rolling(v, Motion(motion.d, motion.C, rate, spin))
    if not psi.numel():
        return []
    force, torque = slopes(psi, rate), slopes(psi, spin)
    velocity = ca.substitute(psi, ca.vertcat(rate, spin), ca.densify(ca.vertcat(motion.d_dot, motion.omega)))
    labels = tuple(f"rolling {k + 1}" for k in range(psi.numel()))
    return [Rows(part.name, labels, None, velocity, a, b, force, torque, lengths=(True,) * len(labels))]


def _driver_row(kin: Kinematics, link: Link, driver: Driver) -> Rows:
    name = driver.chosen(link.joint)
    course = driver.course(kin.top.of(driver))
    value, rate = kin.coordinate(link, name)
    long = (link.translates(name),)
    if driver.of_speed:
        return Rows(driver.name, ("speed",), None, rate - course, driver=True, lengths=long)
    speed = rate - ca.jacobian(course, kin.t)
    return Rows(driver.name, ("position",), value - course, speed, driver=True, lengths=long)
