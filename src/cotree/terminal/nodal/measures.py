"""Lengths and angles between nodes, and checks that several kinds of parts share.

An angle is seen at a hub, from the leg hub->a to the leg hub->b. Without an axis it has no sign: atan2(|p x q|, p.q),
in [0, pi], and no slope where the legs lie in one line. About a fixed axis n it is that of the legs seen along n:
atan2(n.(p x q), p.q - (n.p)(n.q)), taken within half a turn of some middle, where it is smooth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from cotree.errors import ModelError
from cotree.model.form import said
from cotree.terminal.joints import unit
from cotree.terminal.nodal.base import At, NodalPart
from cotree.terminal.springs import length_of

STRAIGHT = 1e-9
"""Sine below which two legs count as lying in one line, and part of a turn by which a start may miss half a turn."""


def take_names(part: Any, *fields: str) -> None:
    """Put the names of nodes or bodies in place of the objects, where the user gave objects."""
    for field in fields:
        given = getattr(part, field)
        if isinstance(getattr(given, "name", None), str):
            object.__setattr__(part, field, given.name)


def two_ends(part: Any) -> None:
    """Names of two different nodes in ``node_a`` and ``node_b``."""
    take_names(part, "node_a", "node_b")
    if part.node_a == part.node_b:
        raise ModelError(
            f"both ends are the node {part.node_a!r}",
            where=str(part.name),
            expected="two different nodes",
            remedy="Name another node at one end",
        )


class TwoEnds(NodalPart):
    """A part between two different nodes."""

    node_a: str = dataclasses.field(metadata=said("node at its first end"))
    node_b: str = dataclasses.field(metadata=said("node at its second end"))

    def __post_init__(self) -> None:
        two_ends(self)
        super().__post_init__()

    def nodes(self) -> tuple[str, ...]:
        return (self.node_a, self.node_b)


def no_repeats(names: Sequence[Any], where: str) -> None:
    """Refuse a node that comes twice."""
    for name in names:
        if names.count(name) > 1:
            raise ModelError(
                f"the node {name!r} comes twice", where=where, expected="different nodes", remedy="Drop one of the two"
            )


def check_direction(values: Mapping[str, float], name: str, field: str) -> None:
    """Refuse a direction of length zero."""
    if all(values.get(f"{field}.{x}") == 0.0 for x in "xyz"):
        raise ModelError(
            "the direction is (0, 0, 0)",
            where=f"{name}.{field}",
            expected="a direction of any length but zero",
            remedy="Give a direction such as (0, 0, 1)",
        )


def check_apart(part: Any, nodes: Sequence[str], start: Sequence[ca.SX]) -> None:
    """Refuse neighbours that coincide at the start, where that can be seen: the line between them has no direction."""
    for k in range(len(nodes) - 1):
        if (start[k + 1] - start[k]).is_zero():
            raise ModelError(
                f"its nodes '{nodes[k]}' and '{nodes[k + 1]}' are at the same place at the start, so that the line "
                "between them has no direction",
                where=str(part.name),
                expected="nodes apart from each other",
                remedy=f"Move '{nodes[k]}' or '{nodes[k + 1]}'",
            )


def numbers(expression: Any) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """An expression as a flat array, or None where it holds parameters."""
    given = ca.SX(expression)
    return np.asarray(ca.DM(given), dtype=float).ravel() if given.is_constant() else None


def smooth_angle(x: Sequence[ca.SX]) -> ca.SX:
    """The angle without a sign, at the second of three points, with a slope everywhere."""
    p, q = x[0] - x[1], x[2] - x[1]
    return ca.atan2(length_of(ca.cross(p, q)), ca.dot(p, q))


def plain_angle(x: Sequence[ca.SX]) -> ca.SX:
    """The angle without a sign, at the second of three points."""
    p, q = x[0] - x[1], x[2] - x[1]
    return ca.atan2(ca.norm_2(ca.cross(p, q)), ca.dot(p, q))


def turn_about(axis: Any, x: Sequence[ca.SX]) -> tuple[ca.SX, ca.SX]:
    """Sine and cosine of the angle about an axis, times the lengths of the legs seen along it."""
    n, p, q = unit(axis), x[0] - x[1], x[2] - x[1]
    return ca.dot(n, ca.cross(p, q)), ca.dot(p, q) - ca.dot(n, p) * ca.dot(n, q)


def angle_about(axis: Any, x: Sequence[ca.SX], middle: Any) -> ca.SX:
    """The angle about an axis, within half a turn of ``middle``."""
    sine, cosine = turn_about(axis, x)
    s, c = ca.sin(middle), ca.cos(middle)
    return ca.SX(middle + ca.atan2(sine * c - cosine * s, cosine * c + sine * s))


def start_angle(axis: Any, start: Sequence[ca.SX]) -> ca.SX:
    """The angle about an axis at the start, in (-pi, pi]; legs in one line are at +pi, whatever the rounding says."""
    sine, cosine = turn_about(axis, start)
    angle = ca.atan2(sine, cosine)
    return ca.SX(angle + 2 * ca.pi * (angle < -ca.pi * (1 - STRAIGHT)))


def turned_since(axis: Any, now: Sequence[ca.SX], start: Sequence[ca.SX]) -> ca.SX:
    """By how much an angle has grown since the start; about an axis, less than half a turn."""
    if axis is None:
        return plain_angle(now) - plain_angle(start)
    sine, cosine = turn_about(axis, now)
    s, c = turn_about(axis, start)
    return ca.atan2(sine * c - cosine * s, cosine * c + sine * s)


def check_bent(part: Any, nodes: Sequence[str], axis: Any, start: Sequence[ca.SX]) -> None:
    """Refuse an angle that has no slope at the start, where that can be seen."""
    listed = ", ".join(nodes)
    check_apart(part, nodes, start)
    if axis is not None:
        sizes = [numbers(ca.norm_2(ca.cross(unit(axis), start[k] - start[1]))) for k in (0, 2)]
        if any(size is not None and size[0] == 0.0 for size in sizes):
            raise ModelError(
                f"a leg of the angle ({listed}) lies along the axis at the start",
                where=str(part.name),
                expected="legs across the axis",
                remedy="Choose another axis",
            )
        return
    p, q = start[0] - start[1], start[2] - start[1]
    sine = numbers(ca.norm_2(ca.cross(p, q)) / (ca.norm_2(p) * ca.norm_2(q)))
    if sine is not None and sine[0] < STRAIGHT:
        raise ModelError(
            f"the legs of the angle ({listed}) lie in one line at the start, where it has no slope",
            where=str(part.name),
            expected="a bent start, or an axis about which the angle has a sign",
            remedy="Give axis=..., the direction about which the legs turn, such as (0, 0, 1)",
        )


def at_nodes(at: At, nodes: Sequence[str], wanted: Sequence[str]) -> tuple[list[ca.SX], list[ca.SX]]:
    """Positions now and at the start of the wanted ones of a part's nodes."""
    places = [nodes.index(name) for name in wanted]
    return [at.x[k] for k in places], [at.start[k] for k in places]
