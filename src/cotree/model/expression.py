"""Expressions of time and parameters: data, never code.

An expression is arithmetic on numbers, the time ``t``, named parameters and a fixed list of functions. It is read with
Python's own parser into a syntax tree, of which only arithmetic is let through; nothing is ever executed. One number
with a unit, such as ``300 mm``, is an expression as well; inside of others all numbers are in SI units.
"""

from __future__ import annotations

import ast
import contextlib
import math
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

from cotree.errors import ExpressionError, listing, nearest
from cotree.maths.functions import ARITY, CONSTANTS, NUMERIC
from cotree.model.units import Dimension, number_with_unit, split, symbols

MAX_LENGTH = 2_000
MAX_DEPTH = 200
TIME = "t"
RATE = ".rate"
"""How the name of a rate of a series ends."""
CALLED = "()"
"""What marks a series of data that is called among the names of an expression."""
SWITCH = "Write a switch as 5*step(t - 1)"
POINT = "Write a decimal point, not a comma: 1.5"
ALONE = "A unit belongs to one number alone: inside of expressions, write values in SI units, or parameters"
_INSIDE = re.compile(r"(?:[0-9.)]|(?<!\w)t(?=\s))\s*([^\W\d_]+)(?!\w*\()")
_OTHER_BASE = re.compile(r"(?<![\w.])0[xXoObB]\w*")

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}


class Expression:
    """An arithmetic expression of ``t`` and named parameters, read from text or a number.

    >>> Expression("2*pi*f*t").names
    frozenset({'t', 'f'})
    >>> Expression("300 mm").number({})
    0.3
    """

    __slots__ = ("_tree", "dimension", "names", "text")

    dimension: Dimension | None
    """That of a number with a unit; None where no unit is given."""

    def __init__(self, source: str | float) -> None:
        self.text = source if isinstance(source, str) else repr(float(source))
        self._tree, self.names, self.dimension = _parse(self.text)

    def evaluate(self, values: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] = NUMERIC) -> Any:
        """The value with names looked up in ``values``: numbers, or symbols with a table of symbolic functions."""
        missing = {name for name in self.names if name not in values and not name.endswith(CALLED)}
        if missing:
            name = min(missing)
            close = "time is called t" if name == "time" else nearest(name, [*values, *ARITY, *CONSTANTS])
            raise ExpressionError(
                f"'{name}' in the expression '{self.text}' is not known",
                expected=f"t, a function, or a parameter of the model ({listing(sorted(values)) or 'there is none'})",
                remedy=close or f"Add '{name}' to the parameters",
            )
        for name in self.called - functions.keys():
            raise self.no_function(name, ())
        return _evaluate(self._tree, values, functions)

    def no_function(self, name: str, series: Collection[str]) -> ExpressionError:
        """The error for something that is called, but is neither a function nor a series of data."""
        data = f", or data of the model ({listing(series)})" if series else ""
        return ExpressionError(
            f"the function '{name}' in the expression '{self.text}'",
            expected=f"one of {listing(ARITY, 30)}{data}",
            remedy=nearest(name, [*ARITY, *series]) or "Give a series of data this name, or call another function",
        )

    def number(self, values: Mapping[str, float]) -> float:
        """The finite numeric value, or an `ExpressionError` that says why there is none."""
        try:
            value = float(self.evaluate(values))
        except (ArithmeticError, ValueError) as reason:
            raise ExpressionError(
                f"the expression '{self.text}' has no value: {_why(reason)}",
                remedy="Change the expression or its parameters",
            ) from None
        except TypeError:  # a negative number to a fractional power is complex
            value = math.nan
        if not math.isfinite(value):
            raise ExpressionError(
                f"the expression '{self.text}' gives {value}",
                expected="a finite number",
                remedy="Change the expression or its parameters",
            )
        return value

    @property
    def measured(self) -> frozenset[str]:
        """The measured quantities that appear, such as ``O.angle``; the rate of a series is none."""
        return frozenset(name for name in self.names if "." in name and not name.endswith((RATE, CALLED)))

    @property
    def called(self) -> frozenset[str]:
        """Series of data that are called, such as ``road`` or ``road.rate`` in ``road(v*t)``."""
        return frozenset(name.removesuffix(CALLED) for name in self.names if name.endswith(CALLED))

    @property
    def si(self) -> str:
        """The text as it may stand inside another expression: without a unit."""
        return self.text if self.dimension is None else repr(self.number({}))

    @property
    def name(self) -> str:
        """The parameter that the expression is, where it is nothing else; otherwise empty."""
        return self._tree.id if isinstance(self._tree, ast.Name) and self.names else ""

    @property
    def series(self) -> str:
        """The series of data that the expression is, where it is nothing else; otherwise empty."""
        match self._tree:
            case ast.Call(func=ast.Name(id=name)) if name in self.called:
                return name
        return ""

    def called_at_time(self, series: Collection[str]) -> str:
        """The text with ``road(t)`` for a bare ``road``, and ``road.rate(t)`` for ``road.rate``."""
        raw, ends = self.text.encode(), list[int]()
        if not any(name.partition(".")[0] in series for name in self.names):
            return self.text
        start = len(raw) - len(raw.lstrip())
        inner = {id(node.func) for node in ast.walk(self._tree) if isinstance(node, ast.Call)}
        inner |= {id(node.value) for node in ast.walk(self._tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Name | ast.Attribute) and id(node) not in inner:
                name = str(dotted(node))
                if name.partition(".")[0] in series and (name in series or name.endswith(RATE)):
                    ends.append(start + int(node.end_col_offset or 0))
        for end in sorted(ends, reverse=True):
            raw = raw[:end] + b"(t)" + raw[end:]
        return raw.decode()

    @property
    def depends_on_time(self) -> bool:
        """Whether ``t`` appears."""
        return TIME in self.names

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


def _why(reason: Exception) -> str:
    return "it is too large" if isinstance(reason, OverflowError) else str(reason)


def without_unit(value: Any) -> Any:
    """A value as it may stand inside an expression: a number for one with a unit, and anything else as it is."""
    return Expression(value).si if isinstance(value, str) and split(value) else value


@lru_cache(maxsize=4096)
def _parse(text: str) -> tuple[ast.expr, frozenset[str], Dimension | None]:
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression of {len(text)} characters", expected=f"at most {MAX_LENGTH}")
    try:
        tree, names = _arithmetic(text)
    except _Unreadable:
        if (parts := split(text)) is None:
            raise
        return _with_unit(text, parts)
    except ExpressionError:  # 5J is a complex number to Python
        if (parts := split(text)) is None:
            raise
        with contextlib.suppress(ExpressionError):
            return _with_unit(text, parts)
        raise
    return tree, names, None


class _Unreadable(ExpressionError):
    """The text is no expression at all."""


def syntax_tree(text: str) -> ast.expr:
    """The syntax tree of one expression; what Python would warn of, such as 3in, is no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text.strip(), mode="eval").body


def _arithmetic(text: str) -> tuple[ast.expr, frozenset[str]]:
    """The syntax tree and the free names of an expression."""
    try:
        tree = syntax_tree(text)
        names: set[str] = set()
        _check(tree, text, names, MAX_DEPTH)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as reason:
        comma = re.search(r"\d,\d", text)
        if not comma and (unit := _unit_inside(text)) is not None:
            raise _Unreadable(f"the unit '{unit}' inside of the expression '{text}'", remedy=ALONE) from None
        detail = reason.msg if isinstance(reason, SyntaxError) else type(reason).__name__
        raise _Unreadable(
            f"the expression '{text}' cannot be read ({detail})",
            expected="arithmetic on numbers, t and parameters, such as 5*sin(2*pi*50*t)",
            remedy=SWITCH if re.search(r"\bif\b", text) else POINT if comma else "",
        ) from None
    if (odd := _OTHER_BASE.search(text)) is not None:
        raise _refused(text, f"'{odd[0]}'", "Write a decimal number")
    return tree, frozenset(names)


def _unit_inside(text: str) -> str | None:
    """The unit behind a number, a bracket or the time in a text that is no expression."""
    found = (match[1] for match in _INSIDE.finditer(text))
    return next((word for word in found if word in symbols() and word != "in"), None)


def _with_unit(text: str, parts: tuple[str, str]) -> tuple[ast.expr, frozenset[str], Dimension]:
    """A number with a unit."""
    try:
        found = number_with_unit(text)
    except ExpressionError as reason:
        words = {*re.findall(r"[^\W\d_]+", parts[1])}
        inside = re.search(r"[+-]|/\s*[02-9]|[^*]\*\s*[0-9]", parts[1]) or (
            len(words) > 1 and words & {TIME, *ARITY, *CONSTANTS}
        )
        product = f"A product needs its sign: {parts[0]}*{parts[1]}" if parts[1].isidentifier() else ""
        raise ExpressionError(
            f"'{text}' cannot be read: {reason.found}",
            expected="a number, a number with a unit such as 300 mm, or an expression",
            remedy=ALONE if inside else product if parts[1] in CONSTANTS else reason.remedy or product,
        ) from None
    assert found is not None  # as it could be split
    if abs(found[0]) > 1e300:
        raise _refused(text, "a number beyond 1e300")
    return ast.Constant(found[0]), frozenset(), found[1]


def _check(node: ast.expr, text: str, names: set[str], depth: int) -> None:
    """Let arithmetic through and refuse everything else; collect the free names."""
    if depth == 0:
        raise _refused(text[:60], f"more than {MAX_DEPTH} nested operations")
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            if abs(value) > 1e300:
                raise _refused(text, "a number beyond 1e300")
        case ast.Name(id=name):
            if name not in CONSTANTS:
                names.add(name)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand, text, names, depth - 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            _check(left, text, names, depth - 1)
            _check(right, text, names, depth - 1)
        case ast.BinOp(op=ast.BitXor()):
            raise _refused(text, "'^'", "Write a power as a**b")
        case ast.Call(func=ast.Name() | ast.Attribute() as function, args=[argument], keywords=[]) if (
            name := _series_name(function)
        ):
            names.add(name + CALLED)
            _check(argument, text, names, depth - 1)
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]):
            _check_call(function, arguments, text)
            for argument in arguments:
                _check(argument, text, names, depth - 1)
        case ast.Compare() | ast.IfExp() | ast.BoolOp():
            raise _refused(text, f"'{ast.unparse(node)[:40]}'", SWITCH)
        case ast.Call(func=ast.Attribute(attr=name)) if name in ARITY:
            raise _refused(text, f"'{ast.unparse(node)[:40]}'", f"Write {name}(...) alone")
        case ast.Attribute(attr=name) if name in CONSTANTS:
            raise _refused(text, f"'{ast.unparse(node)[:40]}'", f"Write {name} alone")
        case ast.Attribute() if (measured := dotted(node)) is not None:
            names.add(measured)
        case ast.Call():
            raise _refused(text, f"'{ast.unparse(node)[:40]}'", f"Call one of {listing(ARITY, 30)}, and nothing else")
        case ast.Tuple():
            raise _refused(text, f"'{ast.unparse(node)[:40]}'", POINT)
        case ast.Attribute() | ast.Subscript():
            raise _refused(text, f"'{ast.unparse(node)[:40]}'", "Give the value a plain parameter name of its own")
        case _:
            raise _refused(text, f"'{ast.unparse(node)[:40]}'")


def dotted(node: ast.expr) -> str | None:
    """``O.angle`` as one name: a measured quantity; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    inner = dotted(node.value) if isinstance(node, ast.Attribute) else None
    return f"{inner}.{node.attr}" if inner is not None and isinstance(node, ast.Attribute) else None


def _series_name(node: ast.expr) -> str:
    """``road`` or ``road.rate`` where something is called that may be a series of data; otherwise empty."""
    name = dotted(node) or ""
    head, _, rest = name.partition(".")
    plain = head not in {*ARITY, *CONSTANTS, TIME} and not head.startswith("_")
    return name if plain and rest in ("", "rate", "rate.rate") else ""


LOOKUPS = ("interp", "interp1", "interp1d", "interpolate", "lookup", "table", "akispl", "cubspl")
"""What other programs call the value of data at a time."""


def _check_call(function: str, given: list[ast.expr], text: str) -> None:
    if function not in ARITY:
        data = "Give the points as data, model.data('road', times, values) or data: in a file, and write road(t), or "
        meant = data + "spline(t, t0, y0, t1, y1, ...)" if function.lower() in LOOKUPS else nearest(function, ARITY)
        raise _refused(text, f"the function '{function}'", meant or f"Known: {', '.join(ARITY)}")
    least, most = ARITY[function]
    if not least <= len(given) <= most:
        remedy = _step_meant(function, given) or f"Give {function} {_arguments(least)}"
        raise _refused(text, f"{function} with {_arguments(len(given))}", remedy)


def _step_meant(function: str, given: list[ast.expr]) -> str:
    """A step between two times, as other programs write it, by a step from 0 to 1."""
    if function not in ("smooth_step", "minimum_jerk") or len(given) not in (3, 5):
        return ""
    x, *rest = given
    first, last = (rest[0], rest[1]) if len(rest) == 2 else (rest[0], rest[2])
    length: Any = ast.BinOp(last, ast.Sub(), first)
    if isinstance(first, ast.Constant) and isinstance(last, ast.Constant):
        length = ast.Constant(float(f"{last.value - first.value:.12g}"))  # type: ignore[operator]
        length = ast.Constant(int(length.value)) if length.value == int(length.value) else length
    step = (
        f"{function}({ast.unparse(ast.BinOp(ast.BinOp(x, ast.Sub(), first), ast.Div(), length)).replace(' / ', '/')})"
    )
    if len(rest) == 2:
        return f"Write {step}"
    low, high = ast.unparse(rest[1]), ast.unparse(rest[3])
    return f"Write {low} + ({high} - ({low}))*{step}"


def _arguments(count: int) -> str:
    return f"{count} argument{'' if count == 1 else 's'}"


def _refused(text: str, what: str, remedy: str = "") -> ExpressionError:
    return ExpressionError(
        f"{what} in the expression '{text}'",
        expected="arithmetic on numbers, t and parameters",
        remedy=remedy,
    )


def _evaluate(node: ast.expr, values: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
    match node:
        case ast.Constant(value=value):
            return float(value)  # type: ignore[arg-type]
        case ast.Name(id=name):
            return CONSTANTS[name] if name in CONSTANTS else values[name]
        case ast.Attribute():
            return values[str(dotted(node))]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, values, functions)
        case ast.UnaryOp(operand=operand):
            return _evaluate(operand, values, functions)
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_evaluate(left, values, functions), _evaluate(right, values, functions))
        case ast.Call(func=function, args=arguments):
            return functions[str(dotted(function))](*(_evaluate(argument, values, functions) for argument in arguments))
    raise AssertionError(f"unchecked node {node!r}")
