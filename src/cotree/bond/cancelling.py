"""Symbols that seem to be in an expression although what they bring cancels."""

from __future__ import annotations

import casadi as ca
import numpy as np

from cotree.maths.symbolic import substitute

POINTS = 3
"""Random points at which a slope must vanish to count as zero for all values."""
ROUNDING = 1e-9
"""Slopes at points of the size of one; those that cancel leave rounding far below this."""


def without(expression: ca.SX, symbols: ca.SX) -> ca.SX:
    """The expression without ``symbols`` where it does not change with them, and as it is where it does."""
    if not symbols.numel() or not ca.depends_on(expression, symbols):
        return expression
    slope = ca.jacobian(expression, symbols)
    others = ca.symvar(slope)
    at = ca.Function("slope", [ca.vertcat(ca.SX(0, 1), *others)], [slope])
    random = np.random.default_rng(0)
    for _ in range(POINTS):
        value = np.asarray(ca.DM(at(random.uniform(0.5, 2.0, len(others)))), dtype=float)
        if not np.abs(value).max(initial=0.0) < ROUNDING:
            return expression
    return substitute(expression, symbols, 0)
