"""What a model file may use, as lists for people: components with their fields, functions, integrators, units.

The lists are made from the classes themselves, so that what is new is in them at once.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any

from cotree.io.schema import kind_words, summary
from cotree.model import KINDS, Component
from cotree.model.form import Form, Schema
from cotree.model.renamed import KINDS as RENAMED

MARKS = "*?["
WORDS = {"number": "number", "integer": "whole number", "boolean": "true or false", "string": "text", "name": "name"}


@dataclass(frozen=True)
class Field:
    """One key of a component in a model file."""

    name: str
    meaning: str
    takes: str
    """What it takes: ``number``, ``3 numbers``, ``text``, ``one of world, body``."""
    unit: str = ""
    range: str = ""
    symbol: str = ""
    required: bool = False
    default: Any = None


@dataclass(frozen=True)
class Entry:
    """One kind of component."""

    kind: str
    word: str
    """The shortest that a file may write for it."""
    path: str
    """Its class in Python."""
    room: str
    """The part of its kind before the last dot."""
    summary: str
    text: str
    """All that its class says."""
    fields: tuple[Field, ...]
    results: tuple[str, ...] = ()
    """Names of its main results, behind its own name and a dot, where they are known without a model."""
    ports: tuple[str, ...] = ()
    """Names of its ports in a bond graph."""


@dataclass(frozen=True)
class Item:
    """One entry of a plain list: how it is written, and what it means."""

    name: str
    meaning: str


def catalogue(pattern: str = "") -> list[Entry]:
    """The kinds whose name, class or summary holds a text, or whose name fits a pattern such as ``joints.*``.

    The name of a kind gives that one alone, unless other kinds have the same last word.
    """
    found = sorted(KINDS.items())
    several = sum(kind.rpartition(".")[2] == pattern and not cls.bonded for kind, cls in found) > 1
    exact = [cls for kind, cls in found if pattern in kind_words(cls) and not several]
    exact = exact or [cls for kind, cls in found if kind == RENAMED.get(pattern)]
    if exact:
        return [_entry(cls) for cls in exact]
    return [_entry(cls) for kind, cls in found if _fits(kind, cls, pattern.lower())]


def _fits(kind: str, cls: type[Component], pattern: str) -> bool:
    kind = kind.lower() if "." in kind else f"{room_of(cls)}.{kind}".lower()
    if any(mark in pattern for mark in MARKS):
        return fnmatchcase(kind, pattern) or fnmatchcase(kind.rpartition(".")[2], pattern)
    return pattern in kind or pattern in cls.__name__.lower() or pattern in summary(cls).lower()


def _entry(cls: type[Component]) -> Entry:
    room, path = room_of(cls), public_path(cls)
    fields = tuple(_field(name, form) for name, form in cls.forms().items())
    text = (inspect.getdoc(cls) or "").replace("``", "")
    word = str(kind_words(cls)[0])
    return Entry(cls.kind, word, path, room, summary(cls), text, fields, _results(cls), _ports(cls))


def room_of(cls: type[Component]) -> str:
    """The room of a kind: the part of its name before the last dot, or the module of one that has none."""
    return cls.kind.rpartition(".")[0] or cls.__module__.rpartition(".")[2]


def public_path(cls: type[Component]) -> str:
    """Where Python finds a class: ``cotree.Revolute``, ``cotree.thermal.Loss``; else in its module."""
    room = cls.kind.rpartition(".")[0]
    short = f"cotree.{room}.{cls.__name__}" if room else f"cotree.{cls.__name__}"
    try:
        home = import_module(short.rpartition(".")[0])
    except ModuleNotFoundError:
        home = None
    return short if getattr(home, cls.__name__, None) is cls else f"{cls.__module__}.{cls.__qualname__}"


def _field(name: str, form: Form) -> Field:
    info = form.info
    unit, rule, symbol = (info.unit, info.range, info.symbol) if info is not None else ("", "", "")
    limits = "" if rule == "finite" else rule
    return Field(name, form.meaning, takes(form.schema), unit, limits, symbol, form.required, form.default)


def takes(schema: Schema) -> str:
    """A schema in a few words."""
    if "enum" in schema:
        words = [str(word) for word in schema["enum"] if word is not None]
        return f"one of {', '.join(words)}" if len(words) > 1 else words[0]
    if "anyOf" in schema:
        every = dict.fromkeys(takes(each) for each in schema["anyOf"] if each.get("type") != "null")
        return " or ".join(every)
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]  # type: ignore[no-any-return]
    kind = schema.get("type", "anything")
    kinds = [each for each in (kind if isinstance(kind, list) else [kind]) if each != "null"]
    if kinds == ["array"]:
        return _list(schema)
    if kinds == ["object"]:
        known = list(schema.get("properties", {}))
        inner = schema.get("additionalProperties")
        return f"{{{', '.join(known)}}}" if known else f"{{name: {takes(inner) if inner else 'anything'}}}"
    return "number" if "number" in kinds else "name" if set(kinds) == {"string", "integer"} else WORDS[kinds[0]]


def _list(schema: Schema) -> str:
    each = takes(schema["items"]) if schema["items"] else "anything"
    many = f"{each}s" if each in WORDS.values() else f"lists{each[4:]}" if each.startswith("list of") else f"({each})"
    least, most = schema.get("minItems"), schema.get("maxItems")
    if most is None:
        return f"list of {many}"
    count = str(least) if least == most else f"{least} to {most}"
    return f"{count} {many}" if each in WORDS.values() else f"{count} lists of {each}"


def _results(cls: Any) -> tuple[str, ...]:
    """Results that the class alone tells: those of a block or of ports in a network, or the coordinates of a joint."""
    names = ["value"] if cls.controls else []
    for port in cls.ports:
        dot = f"{port.label}." if port.label else ""
        names += [f"{dot}{port.domain.across}", f"{dot}{port.domain.through}", f"{dot}power"]
    coordinates = getattr(cls, "coordinates", ()) if cls.mechanical else ()
    for coordinate in coordinates if isinstance(coordinates, tuple) else ():
        rate = "omega" if coordinate.name == "orientation" else f"{coordinate.name}_rate"
        names += [coordinate.name, rate]
    return tuple(names)


def _ports(cls: Any) -> tuple[str, ...]:
    """Ports that every part of the class has."""
    if not cls.bonded:
        return ()
    try:
        return tuple(cls.port_names(cls))
    except (AttributeError, TypeError):  # they depend on what the part holds
        return ()


def functions() -> list[Item]:
    """Functions and constants of expressions."""
    return [Item(name, meaning) for name, meaning in FUNCTIONS.items()]


def integrators() -> list[Item]:
    """Methods of time integration."""
    from cotree.solve.methods import INTEGRATORS

    return [
        Item("auto", "the best of the others for the model"),
        *(Item(k, summary(c)) for k, c in INTEGRATORS.items()),
    ]


def units() -> list[Item]:
    """Units that a number may have, with the size of one in SI units; most may have a prefix such as k or m."""
    from cotree.model.units import BASES, PREFIXES, ZERO, symbols

    every = symbols()

    def prefixed(symbol: str) -> bool:
        for prefix, size in PREFIXES.items():
            rest = every.get(symbol.removeprefix(prefix)) if symbol.startswith(prefix) else None
            if rest is not None and size * rest.factor == every[symbol].factor:
                return True
        return False

    items = []
    for symbol, unit in every.items():
        if not prefixed(symbol) or symbol in BASES:
            pairs = zip(BASES, unit.dimension, strict=True)
            base = (
                " ".join(name if power == 1 else f"{name}^{power}" for name, power in pairs if power and name != ZERO)
                or "1"
            )
            zero = f", from {float(unit.offset):g} {base} on" if unit.offset else ""
            items.append(Item(symbol, f"{float(unit.factor):.9g} {base}{zero}"))
    return items


FUNCTIONS: dict[str, str] = {
    "sin(x)": "sine of an angle in rad", "cos(x)": "cosine of an angle in rad", "tan(x)": "tangent of an angle in rad",
    "asin(x)": "angle in rad whose sine is x", "acos(x)": "angle in rad whose cosine is x",
    "atan(x)": "angle in rad whose tangent is x", "atan2(y, x)": "angle in rad of the point (x, y)",
    "sinh(x)": "hyperbolic sine", "cosh(x)": "hyperbolic cosine", "tanh(x)": "hyperbolic tangent",
    "exp(x)": "e to the power x", "log(x)": "natural logarithm", "sqrt(x)": "square root", "abs(x)": "absolute value",
    "sign(x)": "-1, 0 or 1", "min(a, b)": "the smaller of two", "max(a, b)": "the larger of two",
    "ramp(x)": "0 before x = 0, x from there on", "step(x)": "0 before x = 0, 1 from there on",
    "pulse(x, width, period)": "1 for width at the start of every period from x = 0 on, 0 elsewhere",
    "smooth_step(x)": "from 0 at x = 0 to 1 at x = 1, without slope at both",
    "minimum_jerk(x)": "the same without acceleration at both",
    "trapezoid(x, share)": "from 0 to 1 while its speed rises during share, stays, and falls during share",
    "spline(x, x0, y0, x1, y1, ...)": "through points, with continuous curvature; level before and behind them",
    "t": "time in s", "pi": "3.14159...", "e": "Euler's number 2.71828...", "inf": "infinity, inside expressions only",
}  # fmt: skip
"""What expressions may hold besides numbers, parameters and + - * / **."""
