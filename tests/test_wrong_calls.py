"""Every wrong call of the public interface ends in a CotreeError: unknown, missing and superfluous arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import cotree as ct


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """All functions and classes, also those of rooms such as `cotree.structures`; errors are not for users to make."""
    for name in ct.__all__:
        thing = getattr(ct, name)
        if isinstance(thing, ModuleType):
            yield from ((f"{name}.{inner}", getattr(thing, inner)) for inner in getattr(thing, "__all__", ()))
        else:
            yield name, thing


def is_called(thing: Any) -> bool:
    return callable(thing) and not (isinstance(thing, type) and issubclass(thing, Exception))


def methods(thing: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    kind = type(thing)
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        if not name.startswith("_") and (inspect.isfunction(found) or isinstance(found, classmethod)):
            yield f"{kind.__name__}.{name}", getattr(thing, name)


def needs(function: Callable[..., Any]) -> bool:
    """Whether a call without arguments is a wrong one."""
    parameters = inspect.signature(function).parameters.values()
    return any(each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
               for each in parameters)  # fmt: skip


def wrong(function: Callable[..., Any]) -> list[str]:
    """The wrong calls that end in anything but a CotreeError."""
    calls: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
        "an unknown keyword": ((), {"no_such_option": 1}),
        "too many arguments": (tuple(object() for _ in range(40)), {}),
    }
    if needs(function):
        calls["no arguments"] = ((), {})
    found = []
    for what, (given, options) in calls.items():
        try:
            function(*given, **options)
        except ct.CotreeError:
            continue
        except Exception as error:
            found.append(f"{what}: {type(error).__name__} {error}")
        else:
            found.append(f"{what}: nothing")
    return found


def test_wrong_calls_of_functions_and_classes() -> None:
    told = {name: found for name, thing in public() if is_called(thing) and (found := wrong(thing))}
    assert not told


@pytest.mark.parametrize("kind", ["model", "solution"])
def test_wrong_calls_of_methods(kind: str) -> None:
    m = ct.Model("RC")
    m.add(ct.VoltageSource("V", ("in", "ground"), voltage=1.0))
    m.add(ct.Resistor("R", ("in", "out"), resistance=1e3))
    m.add(ct.Capacitor("C", ("out", "ground"), capacitance=1e-6))
    thing = m if kind == "model" else m.simulate(1e-3, points=3)
    assert not {name: found for name, each in methods(thing) if (found := wrong(each))}
