"""Calls as users write them: a wrong argument is answered with the right one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from cotree.errors import OptionError, listing, nearest

P = ParamSpec("P")
R = TypeVar("R")

OTHERWISE = {
    "method": "integrator", "solver": "integrator", "dt": "step", "h": "step", "step_size": "step", "tol": "rtol",
    "tolerance": "rtol", "reltol": "rtol", "abstol": "atol", "t_eval": "times", "n": "points", "n_points": "points",
    "params": "parameters", "x0": "start", "initial": "start", "t0": "t_start", "tf": "t_end", "t_final": "t_end",
    "output": "outputs", "input": "inputs", "with_respect_to": "wrt", "callback": "progress",
    "at": "about", "about": "at", "time": "t",
}  # fmt: skip
"""What other programs call options."""
SUBJECTS = ("self", "cls", "equations", "model")
"""First arguments, which are no options."""


def helpful(function: Callable[P, R]) -> Callable[P, R]:
    """The same function; wrong arguments raise an `OptionError` that says which there are."""
    signature = inspect.signature(function)
    known = list(signature.parameters)
    known = known[1:] if known[:1] and known[0] in SUBJECTS else known

    @wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> R:
        try:
            signature.bind(*args, **options)
        except TypeError as reason:
            raise _explained(function.__name__, options, known, str(reason)) from None
        return function(*args, **options)

    return called


def _explained(function: str, options: dict[str, object], known: list[str], reason: str) -> OptionError:
    expected = f"one of {listing(known, 30)}"
    for name in options:
        if name not in known:
            meant = OTHERWISE.get(name.lower())
            remedy = f"did you mean '{meant}'?" if meant in known else nearest(name, known)
            return OptionError(f"{function} has no option '{name}'", expected=expected, remedy=remedy)
    return OptionError(f"{function} is called with {reason}", expected=f"the arguments {listing(known, 30)}")
