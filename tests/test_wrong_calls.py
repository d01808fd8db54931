"""Every wrong call of the public interface ends in a CotreeError: unknown, missing and superfluous arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
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


BAD = [
    object(), [], {}, "nonsense", -1, float("nan"), float("inf"), True, b"x", (1, 2, 3), ["a", 1], {"a": object()},
    np.zeros((2, 2)), lambda: 0, 3.5j, "",
]  # fmt: skip
RIGHT: dict[str, dict[str, Any]] = {
    "simulate": {"t_end": 0.01}, "kinematics": {"t_end": 0.01},
    "data": {"name": "r", "times": [0, 1], "values": [0, 1]},
    "inverse_dynamics": {"t_end": 0.01, "motion": {"O.angle": "0.1*t"}},
    "sensitivities": {"outputs": ["O.angle"], "parameters": ["k"], "t_end": 0.01},
}  # fmt: skip
SHOWN = {"show", "draw", "report", "save", "to_hdf5", "explain"}
"""Methods that open windows or write files wherever they are told to."""


def arm() -> ct.Model:
    m = ct.Model("arm", gravity=(0, -9.81, 0), parameters={"k": 1.0})
    m.add(ct.RigidBody("b", shape=ct.rod(length=1, mass=1), frames={"a": (-0.5, 0, 0)}))
    m.add(ct.Revolute("O", "ground", "b.a", angle=0.1))
    m.add(ct.JointSpring("s", "O", stiffness="k"))
    return m


def ill_typed(make: Callable[[], Any], name: str) -> Iterator[str]:
    """Calls of a method with one argument of a wrong kind each that end in anything but a CotreeError."""
    parameters = [
        each
        for each in list(inspect.signature(getattr(type(make()), name)).parameters.values())[1:]
        if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]
    needed = {each.name: RIGHT.get(name, {}).get(each.name, 1) for each in parameters if each.default is each.empty}
    for each in parameters:
        for value in BAD:
            thing = make()
            try:
                getattr(thing, name)(**(RIGHT.get(name, {}) | needed | {each.name: value}))
            except ct.CotreeError:
                continue
            except Exception as error:
                yield f"{name}({each.name}={value!r}): {type(error).__name__} {error}"


def wrong_kinds(make: Callable[[], Any]) -> list[str]:
    kind = type(make())
    names = [n for n in dir(kind) if not n.startswith("_") and inspect.isfunction(getattr(kind, n)) and n not in SHOWN]
    return [told for name in names for told in ill_typed(make, name)]


@pytest.mark.slow
def test_arguments_of_a_wrong_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands for an argument: the call works, or its error names the argument."""
    monkeypatch.chdir(tmp_path)
    assert not wrong_kinds(arm)
    sol = arm().simulate(0.01)
    assert not wrong_kinds(lambda: sol)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.simulate(0.1, out=3), "out is 3. Expected text or a path"),
        (lambda m: m.linearise(outputs=object()), "outputs is <object object"),
        (lambda m: m.simulate(0.1, compiled=np.zeros(2)), r"compiled is array\(\[0\., 0\.\]\). Expected True or False"),
        (lambda m: m.simulate(0.1, progress=lambda: 0), "progress is <function"),
        (lambda m: m.deformation([1], "b"), "solution is a list of 1. Expected a Solution"),
    ],
)
def test_an_argument_of_a_wrong_kind_is_named(call: Callable[[ct.Model], Any], message: str) -> None:
    with pytest.raises(ct.CotreeError, match=message):
        call(arm())
