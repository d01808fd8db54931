"""Series of data in expressions: values and rates with exact derivatives, and their kinks as break points of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import ExpressionError
from cotree.maths.lookup import Lookup
from cotree.maths.printing import to_text
from cotree.maths.symbolic import substitute
from cotree.model.expression import RATE
from cotree.model.series import Series

if TYPE_CHECKING:
    from cotree.formulation.values import Values

Array = NDArray[np.float64]
RATES = 2
"""How many times the rate of a series can be named."""


class DataFunctions:
    """The functions by which expressions look up the series of a model."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.modes: dict[tuple[str, str, int], tuple[ca.SX, ca.SX]] = {}

    def table(self) -> dict[str, Callable[[Any], ca.SX]]:
        """Value, rate and second rate of every series, by the names that expressions use."""
        found: dict[str, Callable[[Any], ca.SX]] = {}
        for series in self.values.model.series.values():
            for k, name in enumerate(series.names):
                lookup = Lookup(series.pieces(k), name)
                for order in range(RATES + 1):
                    found[name + RATE * order] = self._function(series, lookup, order)
        return found

    def _function(self, series: Series, lookup: Lookup, order: int) -> Callable[[Any], ca.SX]:
        known: dict[int, tuple[ca.SX, ca.SX]] = {}

        def value(x: Any) -> ca.SX:
            x = ca.SX(x)
            key = x.element_hash()
            if key not in known:
                known[key] = (x, lookup.value(x, self._place(series, lookup, x), order))
            return known[key][1]

        return value

    def _place(self, series: Series, lookup: Lookup, x: ca.SX) -> ca.SX | None:
        """Which polynomial holds: by a value that is constant between kinks, where their times are known."""
        pieces, slope = lookup.pieces, self.values.slope(x)
        if slope is None:
            if series.outside == "error":
                raise ExpressionError(
                    f"the data '{series.name}' are looked up at something that is not linear in t",
                    expected="data that say what holds outside of their points",
                    remedy="Give outside: hold, extend or repeat",
                )
            if series.interpolation == "step":
                raise ExpressionError(
                    f"steps of the data '{series.name}' at something that is not linear in t",
                    expected=f"{series.name}(a*t + b), so that the times of the steps are known",
                    remedy="Use interpolation: linear, monotone or spline, or a control.table, whose bends are events",
                )
            return None
        if series.outside == "error":
            self._mode(series, x, slope, "within")
        if not len(pieces.kinks()):
            return None
        return self._mode(series, x, slope, "piece")

    def _mode(self, series: Series, x: ca.SX, slope: ca.SX, what: str) -> ca.SX:
        key = (series.name, what, x.element_hash())
        if key not in self.modes:
            value, times = (self._piece if what == "piece" else self._within)(series, x, slope)
            text = f"{what} of {series.name}({to_text(x)})"
            self.modes[key] = (x, self.values.mode(text, value, times, self._refused(series, x)))
        return self.modes[key][1]

    def _ends(self, x: ca.SX, slope: ca.SX) -> Callable[[Array], tuple[float, float]]:
        """x at t = 0 and its slope, for numeric parameters."""
        at_zero = ca.Function("line", [self.values.p.symbols], [substitute(x, self.values.t, 0), slope])
        return lambda p: tuple(float(each) for each in at_zero(p))  # type: ignore[return-value]

    def _piece(self, series: Series, x: ca.SX, slope: ca.SX) -> tuple[ca.SX, Callable[..., Array]]:
        """x itself, in the middle between two kinks."""
        line, pieces = self._ends(x, slope), series.pieces()
        kinks, period = pieces.kinks(), pieces.period

        def times(p: Array, start: float, end: float) -> Array:
            zero, rate = line(p)
            if rate == 0:
                return np.zeros(0)
            low, high = sorted((zero + rate * start, zero + rate * end))
            found = kinks
            if period is not None:
                turns = np.arange(np.floor((low - kinks[0]) / period), np.floor((high - kinks[0]) / period) + 1)
                found = np.unique(turns[:, None] * period + kinks[None, :-1])
            inside = found[(found > low) & (found < high)]
            return np.sort((inside - zero) / rate)

        return x, times

    def _within(self, series: Series, x: ca.SX, slope: ca.SX) -> tuple[ca.SX, Callable[..., Array]]:
        """Zero where the series has points; no breaks, but an error where a run would leave them."""
        line = self._ends(x, slope)
        low, high = float(series.x[0]), float(series.x[-1])
        near = 1e-9 * (high - low)

        def times(p: Array, start: float, end: float) -> Array:
            zero, rate = line(p)
            error = series.leaves(*sorted((zero + rate * start, zero + rate * end)))
            if error is not None:
                raise error
            return np.zeros(0)

        inside = ca.logic_and(x >= low - near, x <= high + near)
        return ca.if_else(inside, 0.0, np.nan), times

    def _refused(self, series: Series, x: ca.SX) -> Callable[[float], Any]:
        start = ca.Function("argument", [self.values.t, self.values.p.symbols], [x], {"allow_free": True})
        values = self.values

        def error(t: float) -> Any:
            here = float(start(t, values.p.start))
            return series.leaves(here, here)

        return error
