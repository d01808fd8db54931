"""Piecewise polynomials through given points: what joins the points of measured or computed series."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DEGREES = {"spline": 3, "quintic": 5, "monotone": 3, "linear": 1, "step": 0}
"""How points may be joined, with the degree of each polynomial."""
SMOOTH = ("spline", "quintic")
"""Those whose second derivative is continuous."""
OUTSIDE = ("error", "hold", "extend", "repeat")
"""What holds outside of the points."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Polynomials between breaks: value = sum of coefficients[j, k] (x - breaks[k])^j in breaks[k] <= x < breaks[k+1].

    The polynomials before the first break and behind the last one are ``before`` and ``behind``, from these breaks on.
    """

    breaks: Array
    coefficients: Array
    before: Array
    behind: Array
    smooth: bool
    """Whether no derivative up to the second jumps between the first break and the last."""
    bent: bool
    """Whether such a derivative may jump at the first and the last break."""
    period: float | None = None

    @classmethod
    def through(cls, x: Array, y: Array, interpolation: str = "spline", outside: str = "hold") -> Pieces:
        """The polynomials through points in order; few points are joined by polynomials of a lower degree."""
        repeats = outside == "repeat"
        breaks, c = _joined(x, y, interpolation, repeats)
        if interpolation in ("linear", "step"):
            breaks, c = _merged(breaks, c)
        width = breaks[-1] - breaks[-2]
        end = _shifted(c[:, -1], width)
        first, last = np.zeros((2, len(c)))
        first[0], last[0] = y[0], y[-1]
        if outside == "extend" and len(c) > 1:
            first[1], last[1] = c[1, 0], end[1]
        if outside == "error":  # the first and the last polynomial go on, so that a step may look a little ahead
            first, last = c[:, 0].copy(), end
            last[0] = y[-1]
        smooth = interpolation in SMOOTH
        bent = outside in ("hold", "extend") or (repeats and not smooth) or not smooth
        return cls(breaks, c, first, last, smooth, bent, float(x[-1] - x[0]) if repeats else None)

    @property
    def degree(self) -> int:
        """The highest power."""
        return len(self.coefficients) - 1

    def table(self) -> Array:
        """All polynomials, those outside included, as columns: where each counts from, then its coefficients."""
        every = np.column_stack([self.before, self.coefficients, self.behind])
        return np.vstack([np.concatenate([self.breaks[:1], self.breaks]), every])

    def kinks(self) -> Array:
        """Where the value or one of its first two derivatives may jump."""
        if self.smooth:
            return self.breaks[[0, -1]] if self.bent else np.zeros(0)
        return self.breaks

    def __call__(self, x: Any, order: int = 0) -> Array:
        """The value, or a derivative, at numbers x; where it jumps, what comes behind."""
        x = np.asarray(x, dtype=float)
        if self.period is not None:
            x = x - self.period * np.floor((x - self.breaks[0]) / self.period)
        table = self.table()[:, np.searchsorted(self.breaks, x, side="right")]
        result, s = np.zeros(x.shape), x - table[0]
        for j in range(self.degree, order - 1, -1):
            result = result * s + math.perm(j, order) * table[1 + j]
        return result


def _joined(x: Array, y: Array, interpolation: str, repeats: bool) -> tuple[Array, Array]:
    """Breaks, and coefficients from the lowest power on."""
    from scipy.interpolate import PchipInterpolator, PPoly, make_interp_spline

    if interpolation == "step":
        return x, y[None, :-1].copy()
    if interpolation == "linear" or len(x) == 2:
        return x, np.array([y[:-1], np.diff(y) / np.diff(x)])
    if interpolation == "monotone":
        made = PchipInterpolator(x, y)
        return x, np.ascontiguousarray(made.c[::-1])
    degree = min(DEGREES[interpolation], (len(x) - 1) // 2 * 2 + 1)
    degree = min(degree, len(x) - 1)
    if repeats and len(x) > degree:
        y = np.append(y[:-1], y[0])
        made = PPoly.from_spline(make_interp_spline(x, y, k=degree, bc_type="periodic"))
    else:
        made = PPoly.from_spline(make_interp_spline(x, y, k=degree))
    wide = np.flatnonzero(np.diff(made.x) > 0)
    inside = wide[(made.x[wide] >= x[0]) & (made.x[wide] < x[-1])]
    return np.append(made.x[inside], x[-1]), np.ascontiguousarray(made.c[::-1, inside])


def _merged(breaks: Array, c: Array) -> tuple[Array, Array]:
    """Level stretches as one piece each, so that nothing breaks inside of them."""
    level = (c[0, 1:] == c[0, :-1]) & np.all(c[1:, 1:] == 0, axis=0) & np.all(c[1:, :-1] == 0, axis=0)
    first = np.concatenate([[True], ~level])
    return np.append(breaks[:-1][first], breaks[-1]), np.ascontiguousarray(c[:, first])


def _shifted(c: Array, width: float) -> Array:
    """The coefficients of a polynomial about a point ``width`` further."""
    n = len(c)
    return np.array([sum(c[j] * math.comb(j, k) * width ** (j - k) for j in range(k, n)) for k in range(n)])
