"""Springs, dampers and bushings: between two frames, and along a joint's coordinate.

Between two frames the tension F acts along the line of their origins and pulls b towards a. Along a coordinate F acts
against it. A zero length has no direction: the length is kept above ``TINY``, which changes nothing that can be seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from cotree.errors import ModelError
from cotree.maths.rotation import skew, vee
from cotree.model import MISSING, Value, quantity
from cotree.model.form import VALUE, either, listed, said
from cotree.model.quantity import Quantity, vector_entries
from cotree.terminal.characteristic import Characteristic
from cotree.terminal.mechanics import Element, JointForce, Motion, Wrench

TINY = 1e-12
"""Length in m below which the direction of a line fades to nothing."""

AXES = ("x", "y", "z", "rx", "ry", "rz")
"""The six motions that a bushing holds: along the axes of a, and about them."""
_SIX = "for x, y, z, rx, ry, rz, or as a symmetric matrix,"
_ROW = listed(VALUE, 6)
_MATRIX = either(_ROW, listed(_ROW, 6))


def length_of(d: ca.SX) -> ca.SX:
    """The length of a vector, with a slope everywhere."""
    return ca.sqrt(ca.sumsqr(d) + TINY**2)


def _given(value: Any) -> bool:
    """Whether a value is more than a zero that is built in."""
    return not ca.SX(value).is_zero()


class Spring(Element, Characteristic):
    """F = preload + k x + c v with x = distance - length, or preload + F(x, v) + c v; force on b = -F n, n from a to b.

    F(x, v) is given as ``stiffness``, ``law`` ("1e3*x + 2e5*x**3"), ``table`` ((x1, F1), ...) or ``energy``.
    """

    example: ClassVar[Mapping[str, Any]] = {"length": 0.4, "stiffness": 2.0, "damping": 0.1}
    straight: ClassVar[bool] = True

    length: Value = quantity("m", "natural length", symbol="l_0", range="non-negative", built_in="zero")
    stiffness: Value | None = quantity("N/m", "stiffness", symbol="k", range="positive", default=None)
    energy: str | None = field(default=None, kw_only=True, metadata=said("energy as an expression of the elongation x"))
    preload: Value = quantity("N", "tension at the natural length", symbol="F_0", default=0.0, built_in="zero")
    damping: Value = quantity("N s/m", "damping", symbol="c", range="non-negative", default=0.0, built_in="zero")

    def wrench(self, v: Any, motion: Motion, here: Any) -> Wrench:
        length = length_of(motion.d)
        rate = ca.dot(motion.d, motion.d_dot) / length
        if v.stiffness is not None:  # so that a natural length of zero needs no direction
            pull = v.stiffness - (v.stiffness * v.length - v.preload) / length
        else:
            pull = (v.preload + self.tension(v, length - v.length, rate)) / length
        return Wrench(-(pull + v.damping * rate / length) * motion.d, ca.SX.zeros(3))

    def potential(self, v: Any, motion: Motion) -> ca.SX:
        if v.stiffness is not None and not _given(v.length):
            square = ca.sumsqr(motion.d)
            slack = v.preload * length_of(motion.d) if _given(v.preload) else 0
            return ca.SX(v.stiffness * square / 2 + slack)
        x = length_of(motion.d) - v.length
        return ca.SX(self.stored(v, x) + v.preload * x)

    def loss(self, v: Any, motion: Motion) -> ca.SX:
        """The power that is dissipated."""
        length = length_of(motion.d)
        rate = ca.dot(motion.d, motion.d_dot) / length
        return ca.SX((self.resistance(v, length - v.length, rate) + v.damping * rate) * rate)

    def banked(self, v: Any, motion: Motion) -> ca.SX:
        length = length_of(motion.d)
        return self.bank(v, length - v.length, ca.dot(motion.d, motion.d_dot) / length)


class Damper(Element, Characteristic):
    """F = c v with v the rate of the distance, or F(x, v) with x the distance; force on b = -F n, n from a to b.

    F is given as ``damping``, ``law`` ("50*v + 20*v*abs(v)") or ``table`` ((v1, F1), ...).
    """

    ways: ClassVar[tuple[str, ...]] = ("damping", "law", "table")
    example: ClassVar[Mapping[str, Any]] = {"damping": 2.0}
    straight: ClassVar[bool] = True

    damping: Value | None = quantity("N s/m", "damping", symbol="c", range="positive", default=None)

    def wrench(self, v: Any, motion: Motion, here: Any) -> Wrench:
        length = length_of(motion.d)
        rate = ca.dot(motion.d, motion.d_dot) / length
        return Wrench(-_resistance(self, v, length, rate) / length * motion.d, ca.SX.zeros(3))

    def loss(self, v: Any, motion: Motion) -> ca.SX:
        """The power that is dissipated."""
        length = length_of(motion.d)
        rate = ca.dot(motion.d, motion.d_dot) / length
        return _resistance(self, v, length, rate) * rate


class JointSpring(JointForce, Characteristic):
    """F = preload + k x + c v with x = coordinate - rest, or preload + F(x, v) + c v; it acts against the coordinate.

    Units follow the coordinate: N and m, or N m and rad. F(x, v) is given as ``stiffness``, ``law``, ``table`` or
    ``energy``.
    """

    example: ClassVar[Mapping[str, Any]] = {"stiffness": 2.0, "rest": 0.2}

    stiffness: Value | None = quantity("N/m or N m/rad", "stiffness", symbol="k", range="positive", default=None)
    energy: str | None = field(default=None, kw_only=True, metadata=said("energy as an expression of the elongation x"))
    rest: Value = quantity("m or rad", "coordinate at rest", symbol="x_0", default=0.0, built_in="zero")
    preload: Value = quantity("N or N m", "force at rest", symbol="F_0", default=0.0, built_in="zero")
    damping: Value = quantity(
        "N s/m or N m s/rad", "damping", symbol="c", range="non-negative", default=0.0, built_in="zero"
    )

    def force(self, v: Any, x: ca.SX, rate: ca.SX, here: Any) -> ca.SX:
        return ca.SX(-(v.preload + self.tension(v, x - v.rest, rate) + v.damping * rate))

    def potential(self, v: Any, x: ca.SX) -> ca.SX:
        return ca.SX(self.stored(v, x - v.rest) + v.preload * (x - v.rest))

    def loss(self, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX:
        """The power that is dissipated."""
        return ca.SX((self.resistance(v, x - v.rest, rate) + v.damping * rate) * rate)

    def banked(self, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX:
        return self.bank(v, x - v.rest, rate)


class JointDamper(JointForce, Characteristic):
    """F = c v with v the rate of the coordinate, or F(x, v); it acts against the coordinate.

    F is given as ``damping``, ``law`` or ``table`` ((v1, F1), ...).
    """

    ways: ClassVar[tuple[str, ...]] = ("damping", "law", "table")
    example: ClassVar[Mapping[str, Any]] = {"damping": 2.0}

    damping: Value | None = quantity("N s/m or N m s/rad", "damping", symbol="c", range="positive", default=None)

    def force(self, v: Any, x: ca.SX, rate: ca.SX, here: Any) -> ca.SX:
        return -_resistance(self, v, x, rate)

    def loss(self, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX:
        """The power that is dissipated."""
        return _resistance(self, v, x, rate) * rate


def _resistance(damper: Any, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX:
    """F of a damper."""
    if damper.table is not None:
        return ca.SX(damper.curve().value(rate))
    return ca.SX(v.damping * rate if damper.law is None else damper.nonlinear(v, x, rate))


def rotation_vector(C: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Axis times angle of a rotation below a half turn, and the matrix that turns angular velocity into its rate.

    Both are in the axes of a. With u = sin^2(angle/2) the functions of the angle are smooth through zero.
    """
    u = (3 - (C[0, 0] + C[1, 1] + C[2, 2])) / 4
    small = u < 1e-3
    safe = ca.fmin(ca.if_else(small, 0.5, u), 1 - 1e-15)
    half = ca.asin(ca.sqrt(safe))
    series = 1 + u * (2 / 3 + u * (8 / 15 + u * (16 / 35 + u * (128 / 315 + u * 256 / 693))))
    ratio = ca.if_else(small, series, half / ca.sqrt(safe * (1 - safe)))  # angle / sin(angle)
    turn = ratio * vee(C)
    square = ca.sumsqr(turn)
    small_bend = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square / 1209600))
    bend = ca.if_else(small, small_bend, (1 - half * ca.sqrt((1 - safe) / safe)) / (4 * half**2))
    cross = skew(turn)
    return turn, ca.SX.eye(3) - cross / 2 + bend * ca.mtimes(cross, cross)


class Bushing(Element):
    """wrench on b = -J^T (preload + K z) - D (d', w): z = (position of b, its rotation vector) in the axes of a.

    ``stiffness`` K and ``damping`` D hold six numbers (x, y, z, rx, ry, rz) or a symmetric 6 x 6 matrix; J turns
    velocity and angular velocity into z', so that the torque belongs to the energy preload.z + z.K z / 2 for rotations
    of any size below a half turn.
    """

    stiffness: Any = field(
        default=MISSING, kw_only=True, metadata=said(f"stiffness {_SIX} in N/m and N m/rad", _MATRIX)
    )
    damping: Any = field(
        default=(0.0,) * 6, kw_only=True, metadata=said(f"damping {_SIX} in N s/m and N m s/rad", _MATRIX)
    )
    preload: tuple[Value, ...] = field(
        default=(0.0,) * 6, kw_only=True, metadata=said("force at rest (x, y, z) in N and (rx, ry, rz) in N m", _ROW)
    )

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping", "preload"):
            given = getattr(self, name)
            rows = given.tolist() if isinstance(given, np.ndarray) else given
            if isinstance(rows, (list, tuple)):
                rows = tuple(tuple(row) if isinstance(row, (list, tuple)) else row for row in rows)
            object.__setattr__(self, name, rows)
        super().__post_init__()

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        result = super().entries()
        for name, unit in (("stiffness", ""), ("damping", " s")):
            result |= _matrix_entries(name, getattr(self, name), unit, self.name)
        force = Quantity("N or N m", "finite", False, "force against the motion at rest", built_in="zero")
        return result | vector_entries("preload", self.preload, force, AXES, self.name)

    def gather(self, values: Mapping[str, Any]) -> dict[str, Any]:
        matrices = {
            name: ca.vertcat(
                *(ca.horzcat(*(values.get(_label(name, i, k), 0.0) for k in range(6))) for i in range(6)),
            )
            for name in ("stiffness", "damping")
        }
        return {**matrices, "preload": tuple(values[f"preload.{axis}"] for axis in AXES)}

    def to_data(self) -> dict[str, Any]:
        data = super().to_data()
        for name in ("stiffness", "damping"):
            if name in data:
                data[name] = [list(row) if isinstance(row, tuple) else row for row in data[name]]
        return data

    def check(self, values: Mapping[str, float]) -> None:
        """Both matrices must be those of a passive element."""
        v = self.gather(values)
        for name in ("stiffness", "damping"):
            least = np.linalg.eigvalsh(np.asarray(ca.DM(v[name]), dtype=float))
            if least[0] < -1e-9 * abs(least[-1]):
                raise ModelError(
                    f"an eigenvalue is {least[0]:g}",
                    where=f"{self.name}.{name}",
                    expected="a matrix whose eigenvalues are not negative",
                )

    def wrench(self, v: Any, motion: Motion, here: Any) -> Wrench:
        turn, rates = rotation_vector(motion.C)
        held = ca.vertcat(*v.preload) + ca.mtimes(v.stiffness, ca.vertcat(motion.d, turn))
        slowed = ca.mtimes(v.damping, ca.vertcat(motion.d_dot, motion.omega))
        return Wrench(-held[:3] - slowed[:3], -ca.mtimes(rates.T, held[3:]) - slowed[3:])

    def potential(self, v: Any, motion: Motion) -> ca.SX:
        z = ca.vertcat(motion.d, rotation_vector(motion.C)[0])
        return ca.dot(ca.vertcat(*v.preload), z) + ca.dot(z, ca.mtimes(v.stiffness, z)) / 2

    def loss(self, v: Any, motion: Motion) -> ca.SX:
        """The power that is dissipated."""
        rates = ca.vertcat(motion.d_dot, motion.omega)
        return ca.dot(rates, ca.mtimes(v.damping, rates))

    def rest(self, v: Any, motion: Motion) -> ca.SX:
        """Displacements and rotations by the roots of their stiffnesses: the sum of squares is twice the energy."""
        return ca.SX(ca.sqrt(ca.diag(v.stiffness)) * ca.vertcat(motion.d, rotation_vector(motion.C)[0]))


def _label(name: str, i: int, k: int) -> str:
    """``stiffness.x`` on the diagonal, ``stiffness.x_ry`` beside it."""
    i, k = sorted((i, k))
    return f"{name}.{AXES[i]}" if i == k else f"{name}.{AXES[i]}_{AXES[k]}"


def _matrix_entries(name: str, given: Any, per: str, owner: str) -> dict[str, tuple[Quantity, Any]]:
    """The entries of six numbers, or of the upper half of a symmetric matrix."""
    where, expected = f"{owner}.{name}", "six numbers (x, y, z, rx, ry, rz), or a symmetric 6 x 6 matrix"
    if given is MISSING:
        raise ModelError("no value is given", where=where, expected=expected)
    rows = list(given) if isinstance(given, (list, tuple)) else []
    full = bool(rows) and all(isinstance(row, (list, tuple)) and len(row) == 6 for row in rows)
    if len(rows) != 6 or (not full and any(isinstance(row, (list, tuple)) for row in rows)):
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    result: dict[str, tuple[Quantity, Any]] = {}
    for i in range(6):
        for k in range(i, 6) if full else (i,):
            unit = f"N{per}/m" if k < 3 else f"N{per}/rad" if i < 3 else f"N m{per}/rad"
            info = Quantity(unit, "non-negative" if i == k else "finite", False, name, built_in="zero")
            result[_label(name, i, k)] = (info, rows[i][k] if full else rows[i])
            if full and rows[i][k] != rows[k][i]:
                raise ModelError(
                    f"entry {i + 1}, {k + 1} is {rows[i][k]} and entry {k + 1}, {i + 1} is {rows[k][i]}",
                    where=where,
                    expected="a symmetric matrix",
                )
    return result
