"""Calls as users write them: an error names the right argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import ClassVar, ParamSpec, TypeVar

from cotree.errors import CotreeError, NameMissing, OptionError, listing, nearest, shown

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

OTHERWISE = {
    "method": "integrator", "solver": "integrator", "dt": "step", "h": "step", "step_size": "step", "tol": "rtol",
    "tolerance": "rtol", "reltol": "rtol", "abstol": "atol", "t_eval": "times", "n": "points", "n_points": "points",
    "params": "parameters", "x0": "start", "initial": "start", "t0": "t_start", "tf": "t_end", "t_final": "t_end",
    "output": "outputs", "input": "inputs", "with_respect_to": "wrt", "callback": "progress",
    "at": "about", "about": "at", "time": "t",
}  # fmt: skip
"""What other programs call options."""
FACADE = ("cotree.api", "cotree.facade", "cotree.model", "cotree.results")
"""Modules whose functions users call; solvers are also called by other rooms, which handle their failures."""
SUBJECTS = ("self", "cls", "equations", "model")
"""First arguments, which are no options."""


def helpful(function: Callable[P, R]) -> Callable[P, R]:
    """The same function; wrong arguments raise an `OptionError` that says which there are."""

    @wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> R:
        try:
            return function(*args, **options)
        except CotreeError:
            raise
        except Exception as error:
            signature = inspect.signature(function)
            try:
                given = signature.bind(*args, **options).arguments
            except TypeError as reason:  # nothing has run yet
                name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
                raise _explained(name, args, options, signature, str(reason)) from None
            if function.__module__.startswith(FACADE):
                from cotree.model.arguments import misfit

                if wrong := misfit(function, given):
                    raise wrong from error
            raise

    return called


def answered(cls: type[C]) -> type[C]:
    """The same class; wrong arguments of its calls are answered."""
    cls.__init__ = helpful(cls.__init__)  # type: ignore[method-assign]
    return cls


class _Elsewhere:
    """An attribute that users try and that does not exist: it says what to write."""

    def __init__(self, meant: str) -> None:
        self.meant = meant

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> object:
        if instance is None:
            return self
        raise NameMissing(f"a {owner.__name__} has no '{self.name}'", remedy=f"Write {self.meant}")


class Hinted:
    """An object that answers some attributes it does not have with those to write.

    It has no ``__getattr__``: prompts complete nothing behind an object that may run code to find an attribute.
    """

    __slots__ = ()
    _elsewhere: ClassVar[dict[str, str]] = {}
    """What to write for names that users try."""

    def __init_subclass__(cls, **options: object) -> None:
        """Wrong arguments of public methods are answered, too."""
        super().__init_subclass__(**options)
        for name, meant in vars(cls).get("_elsewhere", {}).items():
            if not hasattr(cls, name):
                setattr(cls, name, answer := _Elsewhere(meant))
                answer.__set_name__(cls, name)
        for name, own in list(vars(cls).items()):
            public = name == "__init__" or not name.startswith("_")
            if public and isinstance(own, FunctionType) and not hasattr(own, "__wrapped__"):
                setattr(cls, name, helpful(own))

    def __dir__(self) -> list[str]:
        answers = {name for each in type(self).__mro__ for name, own in vars(each).items() if type(own) is _Elsewhere}
        return [name for name in super().__dir__() if name not in answers]


def _explained(
    function: str, args: tuple[object, ...], options: dict[str, object], signature: inspect.Signature, reason: str
) -> OptionError:
    known = _options(signature)
    expected = f"one of {listing(known, 30)}"
    for name in options:
        if name not in known:
            meant = OTHERWISE.get(name.lower())
            remedy = f"did you mean '{meant}'?" if meant in known else nearest(name, known)
            return OptionError(f"{function} has no option '{name}'", expected=expected, remedy=remedy)
    parameters = signature.parameters.values()
    extra = args[sum(each.kind is not each.KEYWORD_ONLY for each in parameters) :]
    free = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.name not in options]
    remedy = ""
    if extra and free:
        named = ", ".join(f"{name}={shown(value)}" for name, value in zip(free, extra, strict=False))
        remedy = f"Write {function}(..., {named}): these arguments have to be named"
    expected = f"the arguments {listing(known, 30)}"
    return OptionError(f"{function} is called with {reason}", expected=expected, remedy=remedy)


def _options(signature: inspect.Signature) -> list[str]:
    known = list(signature.parameters)
    return known[1:] if known[:1] and known[0] in SUBJECTS else known
