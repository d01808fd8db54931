"""Forward dynamics of an open mechanism in O(n): elimination along the tree (Featherstone 2008, table 7.1).

Twists are (angular velocity, velocity of the body's origin) in body axes; wrenches (moment about the origin, force).
The elastic accelerations of a flexible body are eliminated together with those of the joint that carries it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from cotree.formulation.branch.kinematics import Kinematics
from cotree.formulation.branch.topology import Link
from cotree.maths.lookup import slopes
from cotree.maths.rotation import skew
from cotree.terminal.mechanics import BodyMotion


def suits(kin: Kinematics) -> bool:
    """Whether both trees are one, and every body has an orientation and is rigid of constant inertia or flexible."""
    top = kin.top
    bodies = range(1, len(top.bodies))
    known = all(top.turns(k) and (k in top.flexible or _inertia(kin, k) is not None) for k in bodies)
    return known and kin.tree.together


def _inertia(kin: Kinematics, k: int) -> tuple[ca.SX, ca.SX, ca.SX] | None:
    body = kin.top.bodies[k]
    if body is None or any(expression.measured for expression in body.expressions.values()):
        return None
    return body.spatial_inertia(kin.top.of(body))


@dataclass(frozen=True)
class _Step:
    """One joint on the way out: from the parent's reference point to that of the body, and what the joint adds."""

    i: int
    j: int
    B: ca.SX
    """Rotation of the body in its parent."""
    r: ca.SX
    """Reference point of the body from that of the parent, in the parent's axes."""
    S: ca.SX
    """Twist of the body by the joint's speeds, and by its own elastic ones where the joint sits on a moving node."""
    E: ca.SX
    """Twist of the body by the parent's elastic speeds."""
    c: ca.SX
    places: list[int]
    """Places of the joint's speeds, then of the body's elastic ones."""
    elastic: int
    """How many of them are elastic."""

    def outwards(self, motion: ca.SX) -> ca.SX:
        """A twist of the parent at the body's reference point, in the body's axes."""
        w, v = motion[:3], motion[3:]
        return ca.vertcat(ca.mtimes(self.B.T, w), ca.mtimes(self.B.T, v + ca.cross(w, self.r)))

    def inwards(self, wrench: ca.SX) -> ca.SX:
        """Wrenches on the body, one in each column, as wrenches on the parent."""
        force = ca.mtimes(self.B, wrench[3:, :])
        return ca.vertcat(ca.mtimes(self.B, wrench[:3, :]) + ca.mtimes(skew(self.r), force), force)

    def carried(self, inertia: _Blocks) -> _Blocks:
        """An inertia of the body as one of the parent: turned, then moved."""
        B, r = self.B, skew(self.r)
        A, H, D = (ca.mtimes(ca.mtimes(B, part), B.T) for part in (inertia.A, inertia.H, inertia.D))
        A, D = _symmetric(A), _symmetric(D)
        moved = H + ca.mtimes(r, D)
        return _Blocks(_symmetric(A + ca.mtimes(r, H.T) - ca.mtimes(moved, r)), moved, D)


@dataclass(frozen=True)
class _Blocks:
    """A spatial inertia: moment from angular acceleration A, moment from acceleration H, force from acceleration D."""

    A: ca.SX
    H: ca.SX
    D: ca.SX

    def __add__(self, other: _Blocks) -> _Blocks:
        return _Blocks(self.A + other.A, self.H + other.H, self.D + other.D)

    def times(self, motion: ca.SX) -> ca.SX:
        """The wrench that goes with accelerations, one column for each."""
        w, v = motion[:3, :], motion[3:, :]
        return ca.vertcat(
            ca.mtimes(self.A, w) + ca.mtimes(self.H, v),
            ca.mtimes(self.H.T, w) + ca.mtimes(self.D, v),
        )

    def without(self, U: ca.SX, gain: ca.SX, S: ca.SX) -> _Blocks:
        """What is left when a joint gives way: I - U D^-1 U^T. Along a coordinate axis of the joint nothing is."""
        left = ca.mtimes(U, gain)
        whole = ca.vertcat(ca.horzcat(self.A, self.H), ca.horzcat(self.H.T, self.D)) - left
        for k in _unit_axes(S):
            whole[k, :] = 0
            whole[:, k] = 0
        return _Blocks(_symmetric(whole[:3, :3]), whole[:3, 3:], _symmetric(whole[3:, 3:]))


def _unit_axes(S: ca.SX) -> list[int]:
    """Rows of the joint's twist that are one of its speeds and nothing else, where it has no other entry."""
    if S.nnz() != S.shape[1] or not S.is_constant():
        return []
    return [row for row in S.sparsity().row() if abs(float(ca.sum2(S)[row])) == 1.0]


def forward_dynamics(kin: Kinematics, generalised: ca.SX) -> ca.SX:
    """u' for generalised forces, as one long expression whose length grows with the number of bodies.

    The reference point of each body is where the joint towards the ground holds it: then most entries of the joint's
    own twist are zero, and what is zero costs nothing.
    """
    count = len(kin.v)
    reference: list[ca.SX] = [ca.SX.zeros(3)] * count
    twist: list[ca.SX] = [ca.SX.zeros(6)] * count
    inertia: list[_Blocks] = [_Blocks(ca.SX(3, 3), ca.SX(3, 3), ca.SX(3, 3))] * count
    bias: list[ca.SX] = [ca.SX.zeros(6)] * count
    steps = []
    coupling: list[ca.SX] = [ca.SX(6, len(kin.elastic.get(k, []))) for k in range(count)]
    elastic: list[ca.SX] = [ca.SX(each.shape[1], each.shape[1]) for each in coupling]
    strain: list[ca.SX] = [ca.SX(each.shape[1], 1) for each in coupling]
    for i, j, link in kin.tree.rotation:
        reference[j], reach, own = _joint(kin, i, j, link)
        places = [*kin.speed_places.get(link.name, []), *kin.elastic.get(j, [])]
        S, E = (_by_speeds(own, kin, group) for group in (places, kin.elastic.get(i, [])))
        step = _Step(
            i, j, kin.between(i, j), reach - reference[i], S, E, ca.SX(6, 1), places, len(kin.elastic.get(j, []))
        )
        twist[j] = step.outwards(twist[i]) + own if i else own
        steps.append(replace(step, c=_drift(kin, link, own) + _cross_motion(twist[j], own)))
        if j in kin.top.flexible:
            inertia[j], coupling[j], elastic[j], bias[j], strain[j] = _own_flexible(kin, j, twist[j])
        else:
            inertia[j], bias[j] = _own_inertia(kin, j, reference[j], twist[j])
    saved = {}
    for step in reversed(steps):
        i, j, places = step.i, step.j, step.places
        U = inertia[j].times(step.S)
        D = ca.mtimes(step.S.T, U)
        rest = generalised[places] - ca.mtimes(step.S.T, bias[j]) if places else ca.SX(0, 1)
        if step.elastic:
            turning = len(places) - step.elastic
            own = ca.horzcat(ca.SX(6, turning), coupling[j])
            mixed = ca.mtimes(step.S.T, own)
            U = U + own
            D = D + mixed + mixed.T + ca.diagcat(ca.SX(turning, turning), elastic[j])
            rest = rest - ca.vertcat(ca.SX(turning, 1), strain[j])
        solve = _solver(D)
        saved[j] = U, solve, rest
        if i == 0:
            continue
        left, wrench = inertia[j], bias[j]
        if places:
            left = left.without(U, solve(U.T), step.S[:, : len(places) - step.elastic])
            wrench = wrench + ca.mtimes(U, solve(rest))
        inertia[i] = inertia[i] + step.carried(left)
        wrench = wrench + left.times(step.c)
        bias[i] = bias[i] + step.inwards(wrench)
        if step.E.nnz():
            moved = left.times(step.E)
            coupling[i] = coupling[i] + step.inwards(moved)
            elastic[i] = elastic[i] + _symmetric(ca.mtimes(step.E.T, moved))
            strain[i] = strain[i] + ca.mtimes(step.E.T, wrench)
    acceleration: list[ca.SX] = [ca.vertcat(ca.SX.zeros(3), -kin.gravity[0])] * count
    result: list[ca.SX] = [ca.SX(0)] * len(kin.u_names)
    for step in steps:
        a = step.outwards(acceleration[step.i]) + step.c
        if step.E.nnz():
            a = a + ca.mtimes(step.E, ca.vertcat(*(result[k] for k in kin.elastic[step.i])))
        if step.places:
            U, solve, rest = saved[step.j]
            rates = solve(rest - ca.mtimes(U.T, a))
            for k, value in zip(step.places, ca.vertsplit(rates), strict=True):
                result[k] = value
            a = a + ca.mtimes(step.S, rates)
        acceleration[step.j] = a
    return ca.densify(ca.vertcat(*result)) if result else ca.SX(0, 1)


def _own_inertia(kin: Kinematics, j: int, reference: ca.SX, twist: ca.SX) -> tuple[_Blocks, ca.SX]:
    """The inertia of a body about its reference point, and the wrench of its motion at constant twist."""
    mass, centre, central = _inertia(kin, j)  # type: ignore[misc]
    w, v = twist[:3], twist[3:]
    c = centre - reference
    arm = skew(c)
    moment = central + mass * ca.mtimes(arm, arm.T)
    turned = ca.cross(w, v)
    force = mass * (turned + ca.cross(w, ca.cross(w, c)))
    spin = ca.cross(w, ca.mtimes(moment, w)) + mass * ca.cross(c, turned)
    return _Blocks(moment, mass * arm, mass * ca.SX.eye(3)), ca.vertcat(spin, force)


def _own_flexible(kin: Kinematics, j: int, twist: ca.SX) -> tuple[_Blocks, ca.SX, ca.SX, ca.SX, ca.SX]:
    """The inertia of a flexible body about its origin, its coupling with the elastic accelerations and theirs.

    Last are the wrench and the elastic forces of its motion without accelerations.
    """
    floating = kin.top.flexible[j].floating
    k, still = floating.blocks, ca.SX(3, 1)
    law = floating.law(BodyMotion(twist[3:], twist[:3], still, still, still), ca.SX(floating.u.numel(), 1))
    blocks = _Blocks(k.J, skew(k.c), k.mass * ca.SX.eye(3))
    return blocks, ca.vertcat(k.H, k.A), k.M, ca.vertcat(law.moment, law.force), law.elastic


def _by_speeds(own: ca.SX, kin: Kinematics, places: list[int]) -> ca.SX:
    """A twist is linear in the speeds: its part in some of them."""
    return ca.sparsify(slopes(own, kin.u[places])) if places else ca.SX(6, 0)


def _joint(kin: Kinematics, i: int, j: int, link: Link) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Reference point on body j, where it is on body i, and the twist that the joint adds there.

    The reference point of a rigid body is where the joint holds it, that of a flexible one its origin.
    """
    q, u = kin.positions[link.name], kin.speeds[link.name]
    joint, v, a, b, turn = link.joint, link.values, link.a, link.b, kin.turned[j]
    arm = ca.mtimes(a.rotation, joint.translation(v, q))
    rate = a.rate + ca.cross(a.spin, arm) + ca.mtimes(a.rotation, joint.translation_rate(v, q, u))
    B = kin.between(i, j)
    flexible = j in kin.top.flexible
    if i == link.i:
        move = ca.mtimes(B.T, rate)
        if flexible:
            move = move - b.rate - ca.cross(turn, b.position)
            return ca.SX(3, 1), a.position + arm - ca.mtimes(B, b.position), ca.vertcat(turn, move)
        return b.position, a.position + arm, ca.vertcat(turn, move)
    move = ca.mtimes(B.T, b.rate) - ca.cross(turn, arm) - rate
    if flexible:
        own = ca.vertcat(turn, move - ca.cross(turn, a.position))
        return ca.SX(3, 1), b.position - ca.mtimes(B, a.position + arm), own
    return a.position, b.position - ca.mtimes(B, arm), ca.vertcat(turn, move)


def _drift(kin: Kinematics, link: Link, own: ca.SX) -> ca.SX:
    """The rate of the joint's twist with its free speeds held."""
    places = list(kin.coordinate_places.get(link.name, []))
    for body in (link.i, link.j):
        places += kin.elastic_coordinates.get(body, [])
    symbols = ca.vertcat(kin.q[places], kin.t)
    if not ca.depends_on(own, symbols):
        return ca.SX(6, 1)
    return ca.jtimes(own, symbols, ca.vertcat(kin.q_dot[places], ca.SX(1)))


def _cross_motion(twist: ca.SX, other: ca.SX) -> ca.SX:
    w, v = twist[:3], twist[3:]
    return ca.vertcat(ca.cross(w, other[:3]), ca.cross(w, other[3:]) + ca.cross(v, other[:3]))


def _symmetric(matrix: ca.SX) -> ca.SX:
    """One triangle, mirrored: the other need not be computed."""
    return ca.tril2symm(ca.tril(matrix))


def _solver(D: ca.SX) -> Callable[[ca.SX], ca.SX]:
    """The solution with a small symmetric positive matrix, by its factors L D L^T without pivots."""
    n = D.shape[0]
    if n == 0:
        return lambda b: b
    if n == 1:
        inverse = 1 / D[0, 0]
        return lambda b: inverse * b
    return ldl_solver(D)


def ldl_solver(A: ca.SX) -> Callable[[ca.SX], ca.SX]:
    """b -> A^-1 b for a symmetric positive matrix, as expressions; numbers are reckoned at once, zeros left out."""
    n = A.shape[0]
    L: list[dict[int, Any]] = [{} for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    d: list[Any] = []
    for r in range(n):
        for k in range(r):
            rest = _entry(A, r, k)
            for j in sorted(L[r].keys() & L[k].keys()):
                rest = rest - L[r][j] * L[k][j] * d[j]
            if _counts(rest):
                L[r][k] = rest / d[k]
                below[k].append(r)
        pivot = _entry(A, r, r)
        for j, value in L[r].items():
            pivot = pivot - value * value * d[j]
        d.append(pivot if isinstance(pivot, ca.SX) or pivot else ca.SX(0))  # no inertia: told when a start is sought
    inverse = [1 / each for each in d]

    def solve(b: ca.SX) -> ca.SX:
        columns = []
        for c in range(b.shape[1]):
            x: list[Any] = []
            for k in range(n):
                rest = _entry(b, k, c)
                for j, value in L[k].items():
                    if _counts(x[j]):
                        rest = rest - value * x[j]
                x.append(rest)
            x = [value * inverse[k] for k, value in enumerate(x)]
            for k in reversed(range(n)):
                for r in below[k]:
                    if _counts(x[r]):
                        x[k] = x[k] - L[r][k] * x[r]
            columns.append(ca.vertcat(*x))
        return ca.SX(ca.horzcat(*columns))

    return solve


def _entry(matrix: ca.SX, row: int, column: int) -> Any:
    """An entry as a number where it is one."""
    if not matrix.sparsity().has_nz(row, column):
        return 0.0
    value = matrix[row, column]
    return float(value) if value.is_constant() else value


def _counts(value: Any) -> bool:
    """Whether it is an expression, or a number that is not zero."""
    return isinstance(value, ca.SX) or value != 0.0
