"""Plain data of flexible bodies as the user gave it: checked, and put into one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cotree.errors import ModelError
from cotree.model.quantity import finite


def flag(given: Any, where: str) -> bool:
    """True or False."""
    if not isinstance(given, bool):
        raise ModelError(f"found {given!r}", where=where, expected="true or false")
    return given


def mapping(given: Any, where: str, expected: str) -> dict[str, Any]:
    """Names with what belongs to them."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    return dict(given)


def names(given: Any, where: str, expected: str) -> tuple[str, ...]:
    """One name, or several."""
    several = (given,) if isinstance(given, str) else given
    if not isinstance(several, Sequence) or not all(isinstance(name, str) for name in several):
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    return tuple(several)


def numbers(given: Any, count: int, where: str, expected: str) -> tuple[float, ...]:
    """So many finite numbers."""
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != count:
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    return tuple(finite(value, where, expected) for value in given)


def ratios(given: Any, where: str) -> float | tuple[float, ...] | None:
    """Parts of critical damping: one for all modes, one for each, or none."""
    if given is None:
        return None
    expected = "a part of critical damping such as 0.01, or a list of them, one for each mode"
    several = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    values = tuple(finite(value, where, expected) for value in several)
    for value in values:
        if value < 0:
            raise ModelError(f"the damping is {value:g}", where=where, expected=expected)
    return values if isinstance(given, Sequence) else values[0]


def mode_numbers(given: Any, below: Any, nodal: bool, owner: str) -> int | tuple[int, ...] | None:
    """How many vibration modes, or which."""
    where = f"{owner}.modes"
    if nodal:
        if given is not None or below is not None:
            raise ModelError(
                f"found {given if below is None else below!r} beside nodal shapes",
                where=where if below is None else f"{owner}.below",
                remedy="Leave out modes and below: nodal shapes take all degrees of freedom",
            )
        return None
    if below is not None and finite(below, f"{owner}.below", "a positive frequency in Hz") <= 0:
        raise ModelError(f"found {below!r}", where=f"{owner}.below", expected="a positive frequency in Hz")
    if given is None:
        if below is None:
            raise ModelError(
                "the number of vibration modes is not given",
                where=where,
                expected="modes = a number, a list of mode numbers, or below = a frequency in Hz",
            )
        return None
    several = given if isinstance(given, (list, tuple)) else [given]
    least = 1 if isinstance(given, (list, tuple)) else 0
    whole = all(isinstance(k, int) and not isinstance(k, bool) and k >= least for k in several)
    if not several or not whole or len(set(several)) < len(several):
        raise ModelError(
            f"found {given!r}", where=where, expected="a whole number, or a list of different mode numbers from 1"
        )
    return tuple(given) if isinstance(given, (list, tuple)) else given
