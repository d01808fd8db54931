"""Laws of several pieces: a held region says which one holds, and two switches move it.

With borders b_1 < b_2 < ... of a signal x, region k lies between b_k and b_(k+1); region 0 lies below all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cotree.model.switching import SwitchLaw

REGION = "region"
"""The held value that says which piece holds."""
NEVER = -1.0
"""A guard that is not positive."""


def chosen(region: Any, pieces: Sequence[Any]) -> Any:
    """The piece of the region that holds."""
    import casadi as ca

    result = ca.SX(pieces[-1])
    for k in reversed(range(len(pieces) - 1)):
        result = ca.if_else(region < k + 0.5, pieces[k], result)
    return result


def crossings(region: Any, x: Any, borders: Sequence[Any]) -> list[SwitchLaw]:
    """The switches that keep the region right: x leaves it over its upper or its lower border."""
    import casadi as ca

    above = sum((ca.if_else(x > border, 1.0, 0.0) for border in borders), ca.SX(0))
    rises = chosen(region, [*(x - border for border in borders), NEVER])
    falls = chosen(region, [NEVER, *(border - x for border in borders)])
    return [
        SwitchLaw("rises", rises, {REGION: ca.fmax(region + 1, above)}),
        SwitchLaw("falls", falls, {REGION: ca.fmin(region - 1, above)}),
    ]


def clipped(region: Any, x: Any, lower: Any, upper: Any) -> Any:
    """x between limits, of which one may be None."""
    pieces = [x if lower is None else lower, *([] if lower is None else [x]), *([] if upper is None else [upper])]
    return chosen(region, pieces)


def limits(lower: Any, upper: Any) -> list[Any]:
    """The borders that two limits make."""
    return [limit for limit in (lower, upper) if limit is not None]
