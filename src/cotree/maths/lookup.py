"""Piecewise polynomials inside of symbolic expressions, with exact derivatives of every order.

A polynomial is looked up in a table by a CasADi function, which symbolic expressions call. The function of the value
has that of the slope as its derivative, and so on. What follows from the place in the table alone has the derivative
zero; it is written as something that is never positive times a sine, because CasADi gives no number for a derivative
that it knows to vanish.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from cotree.maths.pieces import Pieces

MANY = 2_000
"""Pieces from which on functions that look them up are not searched for common parts: comparing tables takes long."""
LONG = "_long_row"
_BEYOND = 1e308


class Lookup:
    """Piecewise polynomials as functions that symbolic expressions call."""

    used: ClassVar[bool] = False
    """Whether any expression has looked up something so far."""

    def __init__(self, pieces: Pieces, name: str) -> None:
        self.pieces, self.name = pieces, name
        Lookup.used = True

    def value(self, x: Any, at: Any | None = None, order: int = 0) -> ca.SX:
        """The value or a derivative at x; ``at`` says which polynomial holds, or on which side of the ends x counts."""
        at = x if at is None else at
        pieces = self.pieces
        if pieces.period is not None:
            turns = pieces.period * ca.floor((at - pieces.breaks[0]) / pieces.period)
            x, at = x - turns, at - turns
        return ca.SX(self._functions[min(order, pieces.degree + 1)](x, at))

    @cached_property
    def _functions(self) -> list[ca.Function]:
        """The value, its derivatives up to the last that may differ from zero, and a zero."""
        x, at, value = (ca.MX.sym(name) for name in ("x", "at", "value"))
        how: dict[str, Any]
        row, degree = self._row(self._among(x, at)), self.pieces.degree
        distance, zero = x - row[0], (x > _BEYOND) * ca.sin(x)
        made = [ca.Function(f"{self.name}_{degree + 1}", [x, at], [zero], {"never_inline": True})]
        for order in range(degree, -1, -1):
            found = ca.MX(0)
            for j in range(degree, order - 1, -1):
                found = found * distance + float(math.perm(j, order)) * row[1 + j]
            own: Any = [made[0](x, at), zero]
            slopes = ca.Function(f"jac_{self.name}_{order}", [x, at, value], own)
            how = {"never_inline": True, "custom_jacobian": slopes, "jac_penalty": 0, "enable_forward": False}
            made.insert(0, ca.Function(f"{self.name}_{order}", [x, at], [found], how | {"enable_reverse": False}))
        return made

    def _among(self, x: ca.MX, at: ca.MX) -> ca.MX:
        """Where to look: at x itself, among the smooth pieces, where ``at`` only says on which side of the ends."""
        if not self.pieces.smooth:
            return at
        first, last = float(self.pieces.breaks[0]), float(self.pieces.breaks[-1])
        inside = ca.fmin(ca.fmax(x, first), float(np.nextafter(last, -np.inf)))
        return ca.if_else(ca.logic_and(at >= first, at < last), inside, at)

    def _row(self, place: ca.MX) -> ca.MX:
        """The column of the table for a place."""
        at = ca.MX.sym("at")
        table, breaks = self.pieces.table(), self.pieces.breaks
        count = len(breaks)
        knots = [float(breaks[0]), *breaks.tolist(), float(breaks[-1])]
        inner = ca.fmin(ca.fmax(at, knots[0]), knots[-1])
        number = ca.bspline(inner, ca.DM(np.arange(count)), [knots], [1], 1, {"lookup_mode": ["binary"]})
        number = ca.fmin(ca.floor(number), count - 2) + 1
        number = ca.if_else(at < knots[0], 0, ca.if_else(at >= knots[-1], count, number))
        grid = np.arange(count + 2.0).tolist()
        flat = ca.DM(table.ravel(order="F"))
        found = ca.bspline(number + 0.5, flat, [grid], [0], len(table), {"lookup_mode": ["exact"]})
        long = LONG if count > MANY else "_row"
        own = ca.Function(f"{self.name}{long}", [at], [found], {"never_inline": True})
        return own(place)


def common_parts(*made: ca.SX | ca.Function) -> dict[str, Any]:
    """The option by which a function computes common parts once, unless long tables make the search take long.

    ``made`` are the expressions of the function, or a function that is written out.
    """
    functions = [each for each in made if isinstance(each, ca.Function)]
    if not Lookup.used:
        return {"cse": True}
    if not functions:
        every: list[Any] = list(made)
        functions = [ca.Function("look", [ca.veccat(*ca.symvar(ca.veccat(*every)))], every)]
    return {"cse": not any(each.name().endswith(LONG) for f in functions for each in f.find_functions())}


def slopes(expression: ca.SX, known: ca.SX) -> ca.SX:
    """The Jacobian, without the derivatives of looked-up values that do not depend on ``known``.

    CasADi's forward derivatives hold calls for them that give zero; its reverse derivatives leave them out.
    """
    return ca.jacobian(expression, known, {"helper_options": {"ad_weight": 1.0}} if _calls(expression) else {})


def along(expression: ca.SX, known: ca.SX, direction: ca.SX) -> ca.SX:
    """The derivative in a direction of ``known``, without those of looked-up values that do not depend on it."""
    if not _calls(expression):
        return ca.jtimes(expression, known, direction)
    return ca.mtimes(slopes(expression, known), direction)


def _calls(expression: ca.SX) -> bool:
    """Whether an expression looks up something."""
    if not Lookup.used:
        return False
    names = ca.symvar(expression)
    return bool(names) and bool(ca.Function("look", [ca.veccat(*names)], [expression]).find_functions(0))
