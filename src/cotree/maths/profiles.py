"""Courses of a motion that expressions may call: smooth steps, speeds like a trapezoid, splines through points.

All are written with ``ramp(x) = max(x, 0)`` alone, so that whoever evaluates them, with numbers or with symbols,
decides what becomes of the places where a higher derivative jumps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

from cotree.errors import ExpressionError

Ramp = Callable[[Any], Any]

MOST_POINTS = 100
"""Most points of a spline in an expression."""


def smooth_step(ramp: Ramp, x: Any) -> Any:
    """From 0 at x = 0 to 1 at x = 1, without slope at both: 3 x^2 - 2 x^3."""
    w = _between(ramp, x, 1.0)
    return w * w * (3 - 2 * w)


def minimum_jerk(ramp: Ramp, x: Any) -> Any:
    """The same without acceleration at both: 10 x^3 - 15 x^4 + 6 x^5 (Flash and Hogan 1985)."""
    w = _between(ramp, x, 1.0)
    return w * w * w * (10 - 15 * w + 6 * w * w)


def trapezoid(ramp: Ramp, x: Any, share: Any) -> Any:
    """From 0 at x = 0 to 1 at x = 1; the speed rises during ``share``, stays, and falls during ``share``."""
    share = _number(share, "the share of a trapezoid's ramps")
    if not 0 < share <= 0.5:
        raise ExpressionError(f"a trapezoid whose ramps are {share:g} of it", expected="above 0, at most 0.5")
    squares = [ramp(x - at) ** 2 for at in (0, share, 1 - share, 1)]
    return (squares[0] - squares[1] - squares[2] + squares[3]) / (2 * share * (1 - share))


def spline(ramp: Ramp, x: Any, *points: Any) -> Any:
    """A cubic spline with continuous curvature through points x0, y0, x1, y1, ...; level before and behind them."""
    if len(points) % 2 or len(points) < 4:
        raise ExpressionError(
            f"a spline with {len(points)} numbers", expected="two points or more, each as two numbers: x0, y0, x1, y1"
        )
    places, values = [_number(each, "the place of a spline's point") for each in points[::2]], points[1::2]
    widths = [b - a for a, b in pairwise(places)]
    for k, width in enumerate(widths):
        if not width > 0:
            raise ExpressionError(
                f"point {k + 2} of a spline lies at {places[k + 1]:g}, not behind the one before",
                expected="points in order: x0 < x1 < x2",
            )
    rises = [(b - a) / h for (a, b), h in zip(pairwise(values), widths, strict=True)]
    slopes, total = _slopes(widths, rises), values[0]
    for k, (h, rise) in enumerate(zip(widths, rises, strict=True)):
        s = _between(ramp, x - places[k], h)
        c2 = (3 * rise - 2 * slopes[k] - slopes[k + 1]) / h
        c3 = (slopes[k] + slopes[k + 1] - 2 * rise) / (h * h)
        total = total + s * (slopes[k] + s * (c2 + s * c3))
    return total


def _slopes(widths: list[Any], rises: list[Any]) -> list[Any]:
    """Slopes at all points, zero at the first and the last, by which curvature is continuous (Thomas' elimination)."""
    factors, rests = [0.0], [0.0]
    for k in range(1, len(widths)):
        before, behind = 1 / widths[k - 1], 1 / widths[k]
        pivot = 2 * (before + behind) - before * factors[-1]
        rests.append((3 * (before * rises[k - 1] + behind * rises[k]) - before * rests[-1]) / pivot)
        factors.append(behind / pivot)
    found = [0.0]
    for factor, rest in zip(factors[:0:-1], rests[:0:-1], strict=True):
        found.append(rest - factor * found[-1])
    return [0.0, *found[:0:-1], 0.0]


def _between(ramp: Ramp, x: Any, most: Any) -> Any:
    """x, but at least 0 and at most ``most``."""
    return ramp(x) - ramp(x - most)


def _number(value: Any, what: str) -> float:
    """A plain number, as the order of points is checked once; symbols have none."""
    found = float(value)
    if math.isnan(found):
        raise ExpressionError(f"{what} is no plain number", expected="a number, not a parameter or the time")
    return found


PROFILES: dict[str, Callable[..., Any]] = {
    "smooth_step": smooth_step,
    "minimum_jerk": minimum_jerk,
    "trapezoid": trapezoid,
    "spline": spline,
}
"""By the names that expressions use; the first argument is the ramp."""
ARITY = {"smooth_step": (1, 1), "minimum_jerk": (1, 1), "trapezoid": (2, 2), "spline": (5, 2 * MOST_POINTS + 1)}


def profiles(ramp: Ramp) -> dict[str, Callable[..., Any]]:
    """The functions with a ramp of one's own."""
    return {name: partial(each, ramp) for name, each in PROFILES.items()}
