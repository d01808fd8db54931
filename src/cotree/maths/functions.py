"""The functions that expressions may call, for plain numbers.

`cotree.maths.symbolic` holds the same table for CasADi expressions; both tables have the same keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from cotree.maths import profiles

CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e, "inf": math.inf}

ARITY: Mapping[str, tuple[int, int]] = {
    "sin": (1, 1), "cos": (1, 1), "tan": (1, 1),
    "asin": (1, 1), "acos": (1, 1), "atan": (1, 1), "atan2": (2, 2),
    "sinh": (1, 1), "cosh": (1, 1), "tanh": (1, 1),
    "exp": (1, 1), "log": (1, 1), "sqrt": (1, 1), "abs": (1, 1), "sign": (1, 1),
    "min": (2, 2), "max": (2, 2), "ramp": (1, 1),
    "step": (1, 1), "pulse": (3, 3), **profiles.ARITY,
}  # fmt: skip
"""Least and greatest number of arguments of each function."""


def step(x: float) -> float:
    """0 before ``x = 0``, 1 from there on."""
    return 1.0 if x >= 0.0 else 0.0


def pulse(x: float, width: float, period: float) -> float:
    """1 for ``width`` at the start of every ``period`` from ``x = 0`` on, 0 elsewhere."""
    return 1.0 if x >= 0.0 and math.fmod(x, period) < width else 0.0


def _sign(x: float) -> float:
    return math.copysign(1.0, x) if x else 0.0


NUMERIC: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in ARITY if hasattr(math, name)},
    "abs": abs,
    "min": min,
    "max": max,
    "sign": _sign,
    "ramp": lambda x: max(x, 0.0),
    "step": step,
    "pulse": pulse,
    **profiles.profiles(lambda x: max(x, 0.0)),
}
