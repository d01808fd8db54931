"""Forces and torques on bodies: what elements and chords apply, and what the joints in the tree carry.

Every wrench acts on frame b and with opposite sign on frame a, at b's origin. The reactions of tree joints follow from
their cutset equations: the translational cutset gives the force, the rotational one the torque.
"""

from __future__ import annotations

import casadi as ca

from cotree.formulation.branch.kinematics import Kinematics
from cotree.formulation.branch.places import Place
from cotree.formulation.branch.topology import Link
from cotree.terminal.mechanics import ORIENTATION, Inertia, Wrench

Vector = ca.SX


class Applied:
    """The sum of applied forces and moments on every body, about its origin and in its axes."""

    def __init__(self, kin: Kinematics) -> None:
        self.kin = kin
        count = len(kin.v)
        self.force: list[Vector] = [ca.SX.zeros(3) for _ in range(count)]
        self.moment: list[Vector] = [ca.SX.zeros(3) for _ in range(count)]

    def add(self, a: Place, b: Place, wrench: Wrench) -> None:
        """Put a wrench on b's body and its opposite on a's."""
        kin = self.kin
        i, j = a.body, b.body
        B = kin.between(i, j)
        force, torque = ca.mtimes(a.rotation, wrench.force), ca.mtimes(a.rotation, wrench.torque)
        reach = kin.offset(i, j) + ca.mtimes(B, b.position)
        self.force[i] -= force
        self.moment[i] -= torque + ca.cross(reach, force)
        own = ca.mtimes(B.T, force)
        self.force[j] += own
        self.moment[j] += ca.mtimes(B.T, torque) + ca.cross(b.position, own)


def along(kin: Kinematics, link: Link, name: str, amount: ca.SX) -> Wrench:
    """The wrench of a generalised force along one coordinate of a joint: pure torque or pure force."""
    joint, v = link.joint, link.values
    group = next(c.group for c in joint.coordinates if c.name == name)
    q: dict[str, ca.SX] = {}
    unit: dict[str, ca.SX] = {}
    for c in joint.coordinates:
        if c.name == ORIENTATION:
            q[c.name], unit[c.name] = ca.SX([1, 0, 0, 0]), ca.SX.zeros(3)
        else:
            q[c.name], unit[c.name] = kin.coordinate(link, c.name)[0], ca.SX(float(c.name == name))
    if group == "translation":
        s = joint.translation_rate(v, q, unit)
        return Wrench(s * amount / ca.sumsqr(s), ca.SX.zeros(3))
    s = ca.mtimes(joint.rotation(v, q), joint.spin(v, q, unit))
    return Wrench(ca.SX.zeros(3), s * amount / ca.sumsqr(s))


def tree_reactions(kin: Kinematics, inertia: list[Inertia | None], applied: Applied) -> dict[str, Wrench]:
    """Wrench on frame b of every link whose translation or rotation is in a tree, by the cutset equations."""
    force: dict[int, Vector] = {}
    result_force: dict[str, Vector] = {}
    moment = [ca.SX.zeros(3) if part is None else part.moment - applied.moment[j] for j, part in enumerate(inertia)]
    total = [ca.SX.zeros(3) if part is None else part.force - applied.force[j] for j, part in enumerate(inertia)]
    for i, j, link in reversed(kin.tree.translation):
        f = total[j]  # force that the link puts on j: its cutset equation
        force[j] = f
        B = kin.between(i, j)
        on_parent = ca.mtimes(B, f)
        total[i] = total[i] + on_parent
        arm = link.a.position + ca.mtimes(link.a.rotation, kin.motion(link).d)
        at_child, at_parent = (link.b.position, arm) if i == link.i else (arm, link.b.position)
        moment[j] = moment[j] - ca.cross(at_child, f)
        moment[i] = moment[i] + ca.cross(at_parent, on_parent)
        sign = 1 if i == link.i else -1
        in_a = on_parent if i == link.i else f
        result_force[link.name] = sign * ca.mtimes(link.a.rotation.T, in_a)
    result: dict[str, Wrench] = {name: Wrench(f, ca.SX.zeros(3)) for name, f in result_force.items()}
    for i, j, link in reversed(kin.tree.rotation):
        if not kin.top.turns(j) and j not in kin.top.carriers:
            continue
        torque = moment[j]
        on_parent = ca.mtimes(kin.between(i, j), torque)
        moment[i] = moment[i] + on_parent
        sign = 1 if i == link.i else -1
        in_a = on_parent if i == link.i else torque
        known = result.get(link.name)
        push = known.force if known is not None else ca.SX.zeros(3)
        result[link.name] = Wrench(push, sign * ca.mtimes(link.a.rotation.T, in_a))
    return result
