"""What kind of loop a joint closes, from the directions and places of the axes of its joints."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation.branch.mechanism import Mechanism
from cotree.formulation.branch.topology import Link
from cotree.terminal.joints import AxisJoint, Planar, Prismatic, Revolute, Weld, unit

Array = NDArray[np.float64]


def circuit(mechanism: Mechanism, owner: str) -> list[str]:
    """The joints in the circuit that a chord closes, the chord included."""
    link = mechanism.top.links.get(owner)
    if link is None:
        return []
    up = {j: (i, each.name) for i, j, each in mechanism.tree.translation}

    def path(body: int) -> list[str]:
        names = []
        while body in up:
            body, name = up[body]
            if not mechanism.top.links[name].inner:
                names.append(name)
        return names

    a, b = path(link.i), path(link.j)
    while a and b and a[-1] == b[-1]:
        a.pop()
        b.pop()
    return [*reversed(a), owner, *b]


def loop_kind(mechanism: Mechanism, owner: str, state: tuple[Array, float, Array, Array] | None = None) -> str:
    """What kind of loop a chord closes, at a position (q, t, p, modes): ``planar loop``, ``coaxial joints`` ..."""
    if owner not in mechanism.top.links:
        return "implied by the other constraints"
    joints = [mechanism.top.links[name] for name in closed_through(mechanism, owner)]
    if state is None or not all(isinstance(link.joint, AxisJoint | Planar | Weld) for link in joints):
        return OVER
    axes: list[tuple[Array, Array, Link]] = []
    for link in joints:
        if not isinstance(link.joint, Weld):
            axes.append((*_axis(mechanism, link, *state), link))
    sliding = [each for each in axes if isinstance(each[2].joint, Prismatic)]
    turning = [each for each in axes if not isinstance(each[2].joint, Prismatic)]
    if not turning:
        return "parallel slides" if sliding and _parallel(sliding) else OVER
    if not _parallel(turning):
        return "spherical loop" if not sliding and len(turning) > 2 and _meet(turning) else OVER
    if not sliding and len(turning) > 1 and _coaxial(turning):
        return "coaxial joints"
    across = all(abs(float(axis @ turning[0][0])) < SAME for axis, _, _ in sliding)
    flat = all(isinstance(link.joint, Revolute | Prismatic | Planar) for _, _, link in axes)
    if across and flat and len(turning) + len(sliding) > 2:
        return "planar loop"
    along = all(abs(abs(float(axis @ turning[0][0])) - 1) < SAME for axis, _, _ in sliding)
    return "parallel axes" if along else OVER


OVER = "overconstrained loop"
SAME = 1e-9
"""How well directions agree."""


def closed_through(mechanism: Mechanism, owner: str) -> list[str]:
    """The joints of the smallest loop through a joint: by way of bodies, whatever the tree is."""
    joints = {link.name: link for link in mechanism.top.links.values() if not link.of_body}
    chord = joints[owner]
    came: dict[int, tuple[int, str]] = {chord.i: (-1, "")}
    queue = [chord.i]
    for body in queue:
        for name, link in joints.items():
            if name == owner or body not in (link.i, link.j):
                continue
            other = link.j if link.i == body else link.i
            if other not in came:
                came[other] = (body, name)
                queue.append(other)
    names, body = [owner], chord.j
    while body in came and came[body][1]:
        body, name = came[body][0], came[body][1]
        if not joints[name].inner:
            names.append(name)
    return names


def _parallel(axes: list[tuple[Array, Array, Link]]) -> bool:
    first = axes[0][0]
    return all(abs(abs(float(axis @ first)) - 1) < SAME for axis, _, _ in axes)


def _coaxial(axes: list[tuple[Array, Array, Link]]) -> bool:
    """Whether parallel axes are one line."""
    first, begin, _ = axes[0]
    away = [place - begin - first * float(first @ (place - begin)) for _, place, _ in axes]
    extent = max(float(np.linalg.norm(place - begin)) for _, place, _ in axes)
    return max(float(np.linalg.norm(each)) for each in away) <= SAME * extent


def _axis(mechanism: Mechanism, link: Link, q: Array, t: float, p: Array, m: Array) -> tuple[Array, Array]:
    kin = mechanism.kin
    R = kin.R[link.i]
    axis = ca.mtimes(R, ca.mtimes(link.a.rotation, unit(link.values.axis)))
    place = kin.p[link.i] + ca.mtimes(R, link.a.position)
    inputs = [kin.q, kin.t, kin.top.values.p.symbols, kin.top.values.mode_symbols]
    numbers = ca.Function("axis", inputs, [axis, place])(q, t, p, m)
    return tuple(np.asarray(each, dtype=float).ravel() for each in numbers)  # type: ignore[return-value]


def _meet(turning: list[tuple[Array, Array, Link]]) -> bool:
    """Whether all axes go through one point."""
    lhs = np.zeros((3, 3))
    rhs = np.zeros(3)
    for axis, place, _ in turning:
        across = np.eye(3) - np.outer(axis, axis)
        lhs += across
        rhs += across @ place
    point = np.linalg.lstsq(lhs, rhs, rcond=None)[0]
    off = max(float(np.linalg.norm((np.eye(3) - np.outer(axis, axis)) @ (point - place))) for axis, place, _ in turning)
    return off < 1e-9 * max(1.0, float(np.abs(point).max()))
