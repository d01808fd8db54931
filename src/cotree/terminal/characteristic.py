"""Characteristics of force elements: a force as a line, an expression, a table, or the slope of an energy.

An expression is written in ``x`` (elongation or angle) and ``v`` (its rate), besides time, parameters and measured
quantities. A table becomes a curve without kinks that keeps the monotony of the data (Fritsch and Carlson 1980).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import ExpressionError, ModelError, listing
from cotree.maths.symbolic import SYMBOLIC
from cotree.model import Component, Expression
from cotree.model.expression import TIME
from cotree.model.form import VALUE, listed, said
from cotree.model.form import several as rows_of
from cotree.model.quantity import MISSING, Quantity, finite

Array = NDArray[np.float64]

OWN = ("x", "v")
"""What a law is written in: elongation and rate."""

_NAME = Quantity("", "finite", True, "value in a law", measured=True, free=True)
_CONSTANT = Quantity("", "finite", False, "value in an energy", free=True)
_POINTS = rows_of(listed(VALUE, 2), 2)


class Curve:
    """A piecewise cubic through points, with a slope without steps, and straight beyond both ends."""

    def __init__(self, points: Sequence[tuple[float, float]]) -> None:
        self.x, self.y = (np.array(each, dtype=float) for each in zip(*points, strict=True))
        self.slopes = _slopes(self.x, self.y)

    def _pieces(self, x: ca.SX) -> list[tuple[ca.SX, Array]]:
        """The part of each interval that lies below x, with the powers' coefficients of the curve in it.

        The order of the arguments lets exactly one interval own each point, so that the slope is right there too.
        """
        width = np.diff(self.x)
        rise = np.diff(self.y) / width
        first, second = self.slopes[:-1], self.slopes[1:]
        powers = np.stack([first, (3 * rise - 2 * first - second) / width, (first + second - 2 * rise) / width**2])
        covered = [ca.fmin(ca.fmax(low, x), high) - low for low, high in zip(self.x[:-1], self.x[1:], strict=True)]
        return list(zip(covered, powers.T, strict=True))

    def value(self, x: ca.SX) -> ca.SX:
        """The curve at x."""
        below, above = ca.fmin(x, self.x[0]) - self.x[0], ca.fmax(self.x[-1], x) - self.x[-1]
        result = self.y[0] + self.slopes[0] * below + self.slopes[-1] * above
        for s, (a, b, c) in self._pieces(x):
            result += s * (a + s * (b + s * c))
        return ca.SX(result)

    def integral(self, x: ca.SX) -> ca.SX:
        """The area below the curve from zero to x."""
        return self._area(x) - self._area(ca.SX(0))

    def _area(self, x: ca.SX) -> ca.SX:
        below, above = ca.fmin(x, self.x[0]) - self.x[0], ca.fmax(self.x[-1], x) - self.x[-1]
        result = below * (self.y[0] + self.slopes[0] * below / 2) + above * (self.y[-1] + self.slopes[-1] * above / 2)
        for (s, (a, b, c)), y in zip(self._pieces(x), self.y[:-1], strict=True):
            result += s * (y + s * (a / 2 + s * (b / 3 + s * c / 4)))
        return ca.SX(result)


def _slopes(x: Array, y: Array) -> Array:
    """Slopes at the points: weighted harmonic means, zero where the data turn."""
    width = np.diff(x)
    rise = np.diff(y) / width
    if len(rise) == 1:
        return np.array([rise[0], rise[0]])
    slopes = np.zeros(len(x))
    for k in range(1, len(x) - 1):
        if rise[k - 1] * rise[k] > 0:
            before, after = 2 * width[k] + width[k - 1], width[k] + 2 * width[k - 1]
            slopes[k] = (before + after) / (before / rise[k - 1] + after / rise[k])
    slopes[0] = _end_slope(width[0], width[1], rise[0], rise[1])
    slopes[-1] = _end_slope(width[-1], width[-2], rise[-1], rise[-2])
    return slopes


def _end_slope(near: float, far: float, rise: float, next_rise: float) -> float:
    """The slope of the parabola through three points, kept within what monotony allows."""
    slope = ((2 * near + far) * rise - near * next_rise) / (near + far)
    if slope * rise <= 0:
        return 0.0
    return 3 * rise if rise * next_rise <= 0 and abs(slope) > 3 * abs(rise) else slope


class NotPolynomial(Exception):
    """An operation that leaves the polynomials."""


class Polynomial:
    """Coefficients of the powers of x, for the exact integral of a law that is a polynomial in x."""

    MOST = 20

    def __init__(self, *coefficients: Any) -> None:
        self.c = [ca.SX(c) for c in coefficients[: self.MOST + 1]]
        if len(coefficients) > self.MOST + 1:
            raise NotPolynomial

    @staticmethod
    def of(value: Any) -> Polynomial:
        """Itself, or a constant."""
        return value if isinstance(value, Polynomial) else Polynomial(value)

    def __add__(self, other: Any) -> Polynomial:
        a, b = self.c, Polynomial.of(other).c
        pad = [ca.SX(0)] * abs(len(a) - len(b))
        longer, shorter = (a, b + pad) if len(a) >= len(b) else (b, a + pad)
        return Polynomial(*(p + q for p, q in zip(longer, shorter, strict=True)))

    def __mul__(self, other: Any) -> Polynomial:
        b = Polynomial.of(other).c
        result = [ca.SX(0)] * (len(self.c) + len(b) - 1)
        for i, p in enumerate(self.c):
            for k, q in enumerate(b):
                result[i + k] += p * q
        return Polynomial(*result)

    def __neg__(self) -> Polynomial:
        return self * -1.0

    def __sub__(self, other: Any) -> Polynomial:
        return self + -Polynomial.of(other)

    def __rsub__(self, other: Any) -> Polynomial:
        return -self + Polynomial.of(other)

    def __truediv__(self, other: Any) -> Polynomial:
        return self * (1 / Polynomial.of(other).constant)

    def __rtruediv__(self, other: Any) -> Polynomial:
        return Polynomial(other / self.constant)

    def __pow__(self, other: Any) -> Polynomial:
        power = Polynomial.of(other).constant
        if len(self.c) == 1:
            return Polynomial(self.c[0] ** power)
        count = float(power) if power.is_constant() else -1.0
        if count < 0 or count != int(count) or count > self.MOST:
            raise NotPolynomial
        return math.prod([self] * int(count), start=Polynomial(1.0))

    def __rpow__(self, other: Any) -> Polynomial:
        return Polynomial(other**self.constant)

    __radd__ = __add__
    __rmul__ = __mul__

    @property
    def constant(self) -> ca.SX:
        """The value where it does not depend on x."""
        if len(self.c) > 1:
            raise NotPolynomial
        return self.c[0]

    def integral(self, x: ca.SX) -> ca.SX:
        """From zero to x."""
        result = ca.SX(0)
        for k in reversed(range(len(self.c))):
            result = (result + self.c[k] / (k + 1)) * x
        return result


def _of_constants(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: Polynomial(function(*(Polynomial.of(each).constant for each in arguments)))


_POLYNOMIAL = {name: _of_constants(function) for name, function in SYMBOLIC.items()}


class Characteristic(Component):
    """A force or torque F of an elongation x and its rate v, given in one of several ways.

    ``law`` is an expression of x and v; ``table`` holds points (x, F), or (v, F) of a damper; ``energy`` is an
    expression of x whose slope is the force.
    """

    ways: ClassVar[tuple[str, ...]] = ("stiffness", "law", "table", "energy")
    texts: ClassVar[tuple[str, ...]] = ("law", "energy")
    """Fields that hold expressions with variables of their own."""

    law: str | None = field(  # type: ignore[assignment]
        default=None, kw_only=True, metadata=said("force as an expression of the elongation x and its rate v")
    )
    table: Sequence[Sequence[float]] | None = field(
        default=None, kw_only=True, metadata=said("force by points: (x, F), or (v, F) of a damper", _POINTS)
    )

    def __post_init__(self) -> None:
        given = [way for way in self.ways if getattr(self, way) is not None]
        if len(given) != 1:
            raise ModelError(
                f"{listing(given)} are given together" if given else f"none of {listing(self.ways)} is given",
                where=self.name,
                expected=f"one of {listing(self.ways)}",
            )
        if self.table is not None:
            object.__setattr__(self, "table", points(self.table, f"{self.name}.table"))
        super().__post_init__()

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        result = super().entries()
        for way, info in (("law", _NAME), ("energy", _CONSTANT)):
            names = self._formula(way).names if getattr(self, way, None) is not None else frozenset()
            result |= {f"{way}.{name}": (info, name) for name in sorted(names - {*OWN})}
        return result

    def _formula(self, way: str) -> Expression:
        text, where = getattr(self, way), f"{self.name}.{way}"
        if not isinstance(text, str):
            raise ModelError(f"found {text!r}", where=where, expected="an expression of x, such as '1e3*x + 2e5*x**3'")
        try:
            expression = Expression(text)
        except ExpressionError as reason:
            raise ExpressionError(reason.found, where=where, expected=reason.expected, remedy=reason.remedy) from None
        if way == "energy" and "v" in expression.names:
            raise ModelError(f"the energy '{text}' depends on v", where=where, expected="an expression of x alone")
        return expression

    def gather(self, values: Mapping[str, Any]) -> dict[str, Any]:
        names = {
            name.partition(".")[2]: value for name, value in values.items() if name.startswith(("law.", "energy."))
        }
        return super().gather(values) | {"names": names}

    def to_data(self) -> dict[str, Any]:
        data = super().to_data()
        if self.table is not None:
            data["table"] = [list(point) for point in self.table]
        return data

    def nonlinear(self, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX:
        """F where it is given by a law or an energy."""
        if self.law is not None:
            return ca.SX(self._formula("law").evaluate({**v.names, "x": x, "v": rate}, SYMBOLIC))
        s = ca.SX.sym("x")
        energy = ca.SX(self._formula("energy").evaluate({**v.names, "x": s}, SYMBOLIC))
        return ca.substitute(ca.jacobian(energy, s), s, x)

    def curve(self) -> Curve:
        """The curve through the points of the table."""
        return Curve(self.table)  # type: ignore[arg-type]

    def tension(self, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX:
        """F of a spring but for its linear damping and preload."""
        if self.table is not None:
            return self.curve().value(x)
        return v.stiffness * x if self.law is None and v.stiffness is not None else self.nonlinear(v, x, rate)

    def stored(self, v: Any, x: ca.SX) -> ca.SX:
        """The energy of a spring: the integral of F(x, 0).

        It is exact for a stiffness, a table, an energy, and a law that is a polynomial in x. What any other law of x
        and v stores is integrated along with the motion (`banked`). The work of a law that changes with time or follows
        signals counts as dissipated, with a negative sign where it comes back.
        """
        if self.table is not None:
            return self.curve().integral(x)
        if self.law is not None:
            polynomial = self._polynomial(v)
            return ca.SX(0) if polynomial is None else polynomial.integral(x)
        if v.stiffness is not None:
            return ca.SX(v.stiffness * x**2 / 2)
        return ca.SX(self._formula("energy").evaluate({**v.names, "x": x}, SYMBOLIC))

    def resistance(self, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX:
        """The part of F of a spring that stores nothing; nothing at all where there is none."""
        if self.law is None:
            return ca.SX(0)
        if self._follows():
            return self.nonlinear(v, x, rate)
        if "v" not in self._formula("law").names:
            return ca.SX(0)
        return self.nonlinear(v, x, rate) - self.nonlinear(v, x, ca.SX(0))

    def bank(self, v: Any, x: ca.SX, rate: ca.SX) -> ca.SX:
        """The power that a spring stores by a law whose energy is no known expression."""
        if self.law is None or self._follows() or self._polynomial(v) is not None:
            return ca.SX(0)
        return self.nonlinear(v, x, ca.SX(0)) * rate

    def _follows(self) -> bool:
        """Whether the law changes with time or follows signals, so that it has no energy."""
        formula = self._formula("law")
        return TIME in formula.names or bool(formula.measured)

    def _polynomial(self, v: Any) -> Polynomial | None:
        """The law at rest as a polynomial in x; None where it is none, or changes with time."""
        if self._follows():
            return None
        formula = self._formula("law")
        names = {name: Polynomial(value) for name, value in v.names.items()}
        try:
            return Polynomial.of(formula.evaluate({**names, "x": Polynomial(0, 1), "v": Polynomial(0)}, _POLYNOMIAL))
        except (NotPolynomial, ZeroDivisionError):
            return None


def points(given: Any, where: str, y: str = "F") -> tuple[tuple[float, float], ...]:
    """The points of a table, checked; ``y`` is what errors call the second number."""
    expected = f"points with growing first number: ((x1, {y}1), (x2, {y}2), ...)"
    rows = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(rows, (list, tuple)) or any(not isinstance(row, (list, tuple)) or len(row) != 2 for row in rows):
        what = "no points are given" if given is MISSING else f"found {given!r}"
        raise ModelError(what, where=where, expected=expected)
    found = tuple((finite(x, where, expected), finite(force, where, expected)) for x, force in rows)
    if len(found) < 2:
        raise ModelError(f"the table has {len(found)} points", where=where, expected=f"two or more {expected}")
    for (before, _), (after, _) in itertools.pairwise(found):
        if after <= before:
            raise ModelError(f"{after:g} follows {before:g}", where=where, expected=expected)
    return found
