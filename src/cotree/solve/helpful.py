"""Options of analyses as users give them: a wrong name is answered with the right one, texts may have units."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from cotree.errors import OptionError, listing, nearest
from cotree.model.quantity import finite

P = ParamSpec("P")
R = TypeVar("R")

UNITS = dict.fromkeys(("t_end", "t_start", "t", "step", "max_step"), "s")
"""Options that may be texts with a unit."""
OTHERWISE = {
    "method": "integrator", "solver": "integrator", "dt": "step", "h": "step", "step_size": "step", "tol": "rtol",
    "tolerance": "rtol", "reltol": "rtol", "abstol": "atol", "t_eval": "times", "n": "points", "n_points": "points",
    "params": "parameters", "x0": "start", "initial": "start", "t0": "t_start", "tf": "t_end", "t_final": "t_end",
    "output": "outputs", "input": "inputs", "with_respect_to": "wrt", "callback": "progress",
}  # fmt: skip
"""What other programs call options."""


def helpful(function: Callable[P, R]) -> Callable[P, R]:
    """The same function; wrong options raise an `OptionError` that says which there are."""
    known = inspect.signature(function).parameters
    passes_on = any(each.kind is each.VAR_KEYWORD for each in known.values())

    @wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> R:
        for name in options:
            if name not in known and not passes_on:
                raise _unknown(function.__name__, name, [each for each in known if each not in ("equations", "model")])
        given: dict[str, Any] = {name: _number(name, value) for name, value in options.items()}
        positional: Any = [_number(name, value) for name, value in zip(known, args, strict=False)]
        positional += args[len(positional) :]
        return function(*positional, **given)

    return called


def _number(name: str, value: Any) -> Any:
    """An option as a number where it is a text with a unit."""
    if name == "progress" and value is not None and not callable(value):
        raise OptionError(
            f"progress is {value!r}", expected="a function that is called with the part that is done, 0 to 1"
        )
    if not isinstance(value, str) or name not in UNITS:
        return value
    return finite(value, name, f"a number in {UNITS[name]}, or one with a unit", UNITS[name])


def _unknown(function: str, name: str, known: list[str]) -> OptionError:
    meant = OTHERWISE.get(name.lower())
    remedy = f"did you mean '{meant}'?" if meant in known else nearest(name, known)
    return OptionError(f"{function} has no option '{name}'", expected=f"one of {listing(known, 30)}", remedy=remedy)
