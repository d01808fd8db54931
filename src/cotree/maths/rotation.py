"""Rotations: matrices about axes, Euler parameters (scalar first), and steps on the group.

A rotation matrix ``C`` of frame b in frame a turns components in b into components in a. Euler parameters need not have
unit length: the rotation is that of their direction, so that rounding and integration errors in the length change
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SMALL = 1e-8
"""Square of an angle below which the half-angle functions are taken from their series."""


def skew(a: ca.SX) -> ca.SX:
    """The matrix of the cross product: ``skew(a) b = a x b``."""
    return ca.vertcat(
        ca.horzcat(0, -a[2], a[1]),
        ca.horzcat(a[2], 0, -a[0]),
        ca.horzcat(-a[1], a[0], 0),
    )


def vee(matrix: ca.SX) -> ca.SX:
    """The vector of the skew part of a matrix: ``vee(skew(a)) = a``."""
    return ca.vertcat(matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]) / 2


def about(axis: ca.SX, angle: ca.SX) -> ca.SX:
    """The rotation about a unit axis; written so that zeros and ones of the axis drop out."""
    axis = ca.SX(axis)
    along = ca.mtimes(axis, axis.T)
    return along + ca.cos(angle) * (ca.SX.eye(3) - along) + ca.sin(angle) * skew(axis)


def small_turn(theta: ca.SX, rate: ca.SX) -> tuple[ca.SX, ca.SX]:
    """The rotation by a vector of small angles, and its angular velocity in the axes it turns away from.

    By the vector tan(angle/2), whose series gives the angle to 1e-11 up to 0.2 rad, and to rounding up to 0.1; the
    matrix is a rotation for any angle.
    """
    if not theta.nnz():
        return ca.SX.eye(3), ca.SX(3, 1)
    x = ca.sumsqr(theta)
    f = 0.5 + x * (1 / 24 + x * (1 / 240 + x * (17 / 40320)))
    g = 1 / 12 + x * (1 / 60 + x * (17 / 6720))
    c = f * theta
    c_rate = f * rate + g * ca.dot(theta, rate) * theta
    turn, share = skew(c), 2 / (1 + ca.sumsqr(c))
    return ca.SX.eye(3) + share * (turn + ca.mtimes(turn, turn)), share * (c_rate + ca.mtimes(turn, c_rate))


def of_quaternion(e: ca.SX) -> ca.SX:
    """The rotation matrix of Euler parameters of any length but zero."""
    e0, e1, e2, e3 = ca.vertsplit(e)
    s = 2 / ca.sumsqr(e)
    xx, yy, zz = s * e1 * e1, s * e2 * e2, s * e3 * e3
    xy, xz, yz = s * e1 * e2, s * e1 * e3, s * e2 * e3
    wx, wy, wz = s * e0 * e1, s * e0 * e2, s * e0 * e3
    return ca.vertcat(
        ca.horzcat(1 - yy - zz, xy - wz, xz + wy),
        ca.horzcat(xy + wz, 1 - xx - zz, yz - wx),
        ca.horzcat(xz - wy, yz + wx, 1 - xx - yy),
    )


def quaternion_product(a: ca.SX, b: ca.SX) -> ca.SX:
    """The Euler parameters of the rotation a followed, in its own axes, by b."""
    a0, b0 = a[0], b[0]
    av, bv = a[1:4], b[1:4]
    return ca.vertcat(a0 * b0 - ca.dot(av, bv), a0 * bv + b0 * av + ca.cross(av, bv))


def quaternion_rate(e: ca.SX, omega: ca.SX) -> ca.SX:
    """e' for an angular velocity in the turned frame's axes."""
    return quaternion_product(e, ca.vertcat(0, omega)) / 2


def quaternion_exp(turn: ca.SX) -> ca.SX:
    """The Euler parameters of a rotation vector, smooth through zero."""
    square = ca.sumsqr(turn)
    tiny = square < SMALL
    safe = ca.if_else(tiny, 1.0, square)
    half = ca.sqrt(safe) / 2
    cosine = ca.if_else(tiny, 1 - square / 8 + square**2 / 384, ca.cos(half))
    sine = ca.if_else(tiny, 0.5 - square / 48 + square**2 / 3840, ca.sin(half) / (2 * half))
    return ca.vertcat(cosine, sine * turn)


def advance(q: ca.SX, delta: ca.SX, kinematics: ca.SX, quaternions: Sequence[tuple[int, int]]) -> ca.SX:
    """q moved by ``delta``, a velocity times a time: along q' where q is linear, on the group where it is a rotation.

    ``kinematics`` is N(q) delta; ``quaternions`` holds the places of Euler parameters in q and of their three speeds.
    """
    moved = ca.SX(q) + kinematics if isinstance(q, ca.SX) else q + kinematics
    parts, done = [], 0
    for place, speed in quaternions:
        parts += [moved[done:place], quaternion_product(q[place : place + 4], quaternion_exp(delta[speed : speed + 3]))]
        done = place + 4
    return ca.vertcat(*parts, moved[done:])


def to_quaternion(matrix: Array) -> Array:
    """Euler parameters of a numeric rotation matrix, with a scalar part that is not negative."""
    m = np.asarray(matrix, dtype=float)
    squares = np.array(
        [
            1 + m[0, 0] + m[1, 1] + m[2, 2],
            1 + m[0, 0] - m[1, 1] - m[2, 2],
            1 - m[0, 0] + m[1, 1] - m[2, 2],
            1 - m[0, 0] - m[1, 1] + m[2, 2],
        ]
    )
    largest = int(np.argmax(squares))
    e = np.empty(4)
    e[largest] = squares[largest]
    sums = {
        (0, 1): m[2, 1] - m[1, 2],
        (0, 2): m[0, 2] - m[2, 0],
        (0, 3): m[1, 0] - m[0, 1],
        (1, 2): m[1, 0] + m[0, 1],
        (1, 3): m[0, 2] + m[2, 0],
        (2, 3): m[2, 1] + m[1, 2],
    }
    for other in range(4):
        if other != largest:
            e[other] = sums[min(largest, other), max(largest, other)]
    e /= np.linalg.norm(e)
    return -e if e[0] < 0 else e


def quaternion_of(matrix: ca.SX) -> ca.SX:
    """Euler parameters of a symbolic rotation matrix, by the largest of the four squares, so nowhere singular."""
    m = matrix
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    rows = [ca.vertcat(1 + trace, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1])]
    rows.append(ca.vertcat(m[2, 1] - m[1, 2], 1 + 2 * m[0, 0] - trace, m[1, 0] + m[0, 1], m[0, 2] + m[2, 0]))
    rows.append(ca.vertcat(m[0, 2] - m[2, 0], m[1, 0] + m[0, 1], 1 + 2 * m[1, 1] - trace, m[2, 1] + m[1, 2]))
    rows.append(ca.vertcat(m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[2, 1] + m[1, 2], 1 + 2 * m[2, 2] - trace))
    best = rows[0]
    size = rows[0][0]
    for k in range(1, 4):
        best = ca.if_else(rows[k][k] > size, rows[k], best)
        size = ca.fmax(size, rows[k][k])
    return best / ca.norm_2(best)


def perpendicular(axis: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Two unit vectors that form a right-handed frame with a unit axis: ``e1 x e2 = axis``.

    A coordinate axis gives the other two coordinate axes exactly. The axis may also be symbolic.
    """
    axis = ca.SX(axis)
    if axis.is_constant():
        n = np.asarray(ca.DM(axis), dtype=float).ravel()
        least = int(np.argmin(np.round(np.abs(n), 12)))
        across = np.eye(3)[least] - n * n[least]
        across /= np.linalg.norm(across)
        return ca.SX(across), ca.SX(np.cross(n, across))
    helper = ca.if_else(ca.fabs(axis[0]) < 0.8, ca.SX([1, 0, 0]), ca.SX([0, 1, 0]))
    first = helper - axis * ca.dot(axis, helper)
    first = first / ca.norm_2(first)
    return first, ca.cross(axis, first)


def matrices(e: Array) -> Array:
    """Rotation matrices (n, 3, 3) from Euler parameters (n, 4) of any length."""
    w, x, y, z = (e / np.maximum(np.linalg.norm(e, axis=1, keepdims=True), 1e-300)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)
