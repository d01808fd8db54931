"""Forward dynamics of an open mechanism in O(n): elimination along the tree (Featherstone 2008, table 7.1).

Twists are (angular velocity, velocity of the body's origin) in body axes; wrenches (moment about the origin, force).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from cotree.formulation.branch.kinematics import Kinematics
from cotree.formulation.branch.topology import Link
from cotree.maths.rotation import skew


def suits(kin: Kinematics) -> bool:
    """Whether both trees are one and every body has constant inertia and an orientation."""
    top = kin.top
    rigid = all(top.turns(k) and _inertia(kin, k) is not None for k in range(1, len(top.bodies)))
    return rigid and kin.tree.together


def _inertia(kin: Kinematics, k: int) -> tuple[ca.SX, ca.SX, ca.SX] | None:
    body = kin.top.bodies[k]
    return None if body is None else body.spatial_inertia(kin.top.of(body))


@dataclass(frozen=True)
class _Step:
    """One joint on the way out: twist of the parent's reference point to that of the body, and what the joint adds."""

    i: int
    j: int
    X: ca.SX
    S: ca.SX
    c: ca.SX
    places: list[int]


def forward_dynamics(kin: Kinematics, generalised: ca.SX) -> ca.SX:
    """u' for generalised forces, as one long expression whose length grows with the number of bodies.

    The reference point of each body is where the joint towards the ground holds it: then most entries of the joint's
    own twist are zero, and what is zero costs nothing.
    """
    count = len(kin.v)
    reference: list[ca.SX] = [ca.SX.zeros(3)] * count
    twist: list[ca.SX] = [ca.SX(6, 1)] * count
    inertia: list[ca.SX] = [ca.SX(6, 6)] * count
    bias: list[ca.SX] = [ca.SX(6, 1)] * count
    steps = []
    for i, j, link in kin.tree.rotation:
        reference[j], reach, own = _joint(kin, i, j, link)
        X = _transform(kin.between(i, j), reach - reference[i])
        twist[j] = ca.mtimes(X, twist[i]) + own if i else own
        places = kin.speed_places.get(link.name, [])
        S = ca.sparsify(ca.jacobian(own, kin.u[places])) if places else ca.SX(6, 0)
        steps.append(_Step(i, j, X, S, _drift(kin, link, own) + _cross_motion(twist[j], own), places))
        mass, centre, central = _inertia(kin, j)  # type: ignore[misc]
        inertia[j] = _spatial(mass, centre - reference[j], central)
        bias[j] = _cross_force(twist[j], ca.mtimes(inertia[j], twist[j]))
    saved = {}
    for step in reversed(steps):
        i, j, places = step.i, step.j, step.places
        U = ca.mtimes(inertia[j], step.S)
        solve = _solver(ca.mtimes(step.S.T, U))
        rest = generalised[places] - ca.mtimes(step.S.T, bias[j]) if places else ca.SX(0, 1)
        saved[j] = U, solve, rest
        if i == 0:
            continue
        Ia, pa = inertia[j], bias[j]
        if places:
            Ia = _symmetric(Ia - ca.mtimes(U, solve(U.T)))
            pa = pa + ca.mtimes(U, solve(rest))
        inertia[i] = inertia[i] + _symmetric(ca.mtimes(step.X.T, ca.mtimes(Ia, step.X)))
        bias[i] = bias[i] + ca.mtimes(step.X.T, pa + ca.mtimes(Ia, step.c))
    acceleration: list[ca.SX] = [ca.vertcat(ca.SX.zeros(3), -kin.gravity[0])] * count
    result: list[ca.SX] = [ca.SX(0)] * len(kin.u_names)
    for step in steps:
        a = ca.mtimes(step.X, acceleration[step.i]) + step.c
        if step.places:
            U, solve, rest = saved[step.j]
            rates = solve(rest - ca.mtimes(U.T, a))
            for k, value in zip(step.places, ca.vertsplit(rates), strict=True):
                result[k] = value
            a = a + ca.mtimes(step.S, rates)
        acceleration[step.j] = a
    return ca.densify(ca.vertcat(*result)) if result else ca.SX(0, 1)


def _joint(kin: Kinematics, i: int, j: int, link: Link) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Reference point on body j, where it is on body i, and the twist that the joint adds there."""
    q, u = kin.positions[link.name], kin.speeds[link.name]
    joint, v = link.joint, link.values
    arm = ca.mtimes(link.a.rotation, joint.translation(v, q))
    spin, rate = joint.spin(v, q, u), ca.mtimes(link.a.rotation, joint.translation_rate(v, q, u))
    B = kin.between(i, j)
    if i == link.i:
        own = ca.vertcat(ca.mtimes(link.b.rotation, spin), ca.mtimes(B.T, rate))
        return link.b.position, link.a.position + arm, own
    turn = -ca.mtimes(link.a.rotation, ca.mtimes(joint.rotation(v, q), spin))
    own = ca.vertcat(turn, -ca.cross(turn, arm) - rate)
    return link.a.position, link.b.position - ca.mtimes(B, arm), own


def _drift(kin: Kinematics, link: Link, own: ca.SX) -> ca.SX:
    """The rate of the joint's twist with its free speeds held."""
    places = kin.coordinate_places.get(link.name, [])
    symbols = ca.vertcat(kin.q[places], kin.t)
    if not ca.depends_on(own, symbols):
        return ca.SX(6, 1)
    return ca.jtimes(own, symbols, ca.vertcat(kin.q_dot[places], ca.SX(1)))


def _spatial(mass: ca.SX, centre: ca.SX, inertia: ca.SX) -> ca.SX:
    arm = skew(centre)
    off = mass * arm
    return ca.vertcat(
        ca.horzcat(inertia + mass * ca.mtimes(arm, arm.T), off),
        ca.horzcat(off.T, mass * ca.SX.eye(3)),
    )


def _transform(B: ca.SX, r: ca.SX) -> ca.SX:
    """Twists of body i as twists of a body j at r with rotation B."""
    E = B.T
    return ca.vertcat(ca.horzcat(E, ca.SX(3, 3)), ca.horzcat(-ca.mtimes(E, skew(r)), E))


def _cross_motion(twist: ca.SX, other: ca.SX) -> ca.SX:
    w, v = twist[:3], twist[3:]
    return ca.vertcat(ca.cross(w, other[:3]), ca.cross(w, other[3:]) + ca.cross(v, other[:3]))


def _cross_force(twist: ca.SX, momentum: ca.SX) -> ca.SX:
    w, v = twist[:3], twist[3:]
    return ca.vertcat(ca.cross(w, momentum[:3]) + ca.cross(v, momentum[3:]), ca.cross(w, momentum[3:]))


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
    """b -> A^-1 b for a symmetric positive matrix, as expressions."""
    n = A.shape[0]
    L: list[list[ca.SX]] = [[ca.SX(0)] * n for _ in range(n)]
    d: list[ca.SX] = []
    for k in range(n):
        s = A[k, k] - sum((L[k][j] * L[k][j] * d[j] for j in range(k)), ca.SX(0))
        d.append(s)
        for r in range(k + 1, n):
            L[r][k] = (A[r, k] - sum((L[r][j] * L[k][j] * d[j] for j in range(k)), ca.SX(0))) / s
    inverse = [1 / each for each in d]

    def solve(b: ca.SX) -> ca.SX:
        columns = []
        for c in range(b.shape[1]):
            y: list[ca.SX] = []
            for k in range(n):
                y.append(b[k, c] - sum((L[k][j] * y[j] for j in range(k)), ca.SX(0)))
            x = [y[k] * inverse[k] for k in range(n)]
            for k in reversed(range(n)):
                for r in range(k + 1, n):
                    x[k] = x[k] - L[r][k] * x[r]
            columns.append(ca.vertcat(*x))
        return ca.horzcat(*columns)

    return solve
