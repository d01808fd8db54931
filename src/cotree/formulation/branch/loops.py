"""What kind of loop a chord closes, told from the directions and places of its joints' axes."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation.branch.mechanism import Mechanism
from cotree.formulation.branch.topology import Link
from cotree.terminal.joints import AxisJoint, Planar, Prismatic, Revolute, unit

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
            names.append(name)
        return names

    a, b = path(link.i), path(link.j)
    while a and b and a[-1] == b[-1]:
        a.pop()
        b.pop()
    return [*reversed(a), owner, *b]


def loop_kind(mechanism: Mechanism, owner: str, state: tuple[Array, float, Array, Array] | None = None) -> str:
    """``planar loop``, ``spherical loop`` or ``overconstrained loop``, at a position (q, t, p, modes)."""
    links = [mechanism.top.links[name] for name in circuit(mechanism, owner)]
    joints = [link for link in links if not link.of_body]
    if owner not in mechanism.top.links:
        return "implied by the other constraints"
    if state is None or not all(isinstance(link.joint, AxisJoint) for link in joints):
        return "overconstrained loop"
    q, t, p, m = state
    turning: list[tuple[Array, Array, Link]] = []
    sliding: list[tuple[Array, Array, Link]] = []
    for link in joints:
        axis, place = _axis(mechanism, link, q, t, p, m)
        (sliding if isinstance(link.joint, Prismatic) else turning).append((axis, place, link))
    if not turning:
        return "overconstrained loop"
    first = turning[0][0]
    parallel = all(abs(abs(float(axis @ first)) - 1) < 1e-9 for axis, _, _ in turning)
    across = all(abs(float(axis @ first)) < 1e-9 for axis, _, _ in sliding)
    if parallel and across and all(isinstance(link.joint, Revolute | Prismatic | Planar) for link in joints):
        return "planar loop"
    if not sliding and len(turning) > 2 and _meet(turning):
        return "spherical loop"
    return "overconstrained loop"


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
