"""Expressions as trigonometric polynomials: products of sines and cosines become sums, and what cancels is gone.

A polynomial is a sum of ``coefficient * monomial * cos(angle)`` or ``sin(angle)``, where an angle is a sum of symbols
with whole coefficients. This form is unique, so that the equations of a planar mechanism come out as one writes them
by hand. What is no such polynomial, and what grows too long, gets a name of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import casadi as ca

from cotree.maths.printing import looked_up, replay, to_text

MOST_TERMS = 40
"""Longest polynomial that keeps no name of its own."""
MOST_NAMES = 60
"""Most named parts before an expression counts as too long to be read."""
TINY = 1e-13
"""Coefficients below this part of the largest one are rounding."""

Monomial = tuple[tuple[str, int], ...]
Angle = tuple[tuple[str, int], ...]
Key = tuple[Monomial, bool, Angle]
"""Powers of symbols, whether the last factor is a sine, and its angle; no angle means no such factor."""
Polynomial = dict[Key, float]

ONE: Key = ((), False, ())

_FUNCTIONS: dict[int, Callable[..., Any]] = {
    ca.OP_SIN: ca.sin, ca.OP_COS: ca.cos, ca.OP_TAN: ca.tan, ca.OP_ASIN: ca.asin, ca.OP_ACOS: ca.acos,
    ca.OP_ATAN: ca.atan, ca.OP_SINH: ca.sinh, ca.OP_COSH: ca.cosh, ca.OP_TANH: ca.tanh, ca.OP_EXP: ca.exp,
    ca.OP_LOG: ca.log, ca.OP_FABS: ca.fabs, ca.OP_SIGN: ca.sign, ca.OP_FMIN: ca.fmin, ca.OP_FMAX: ca.fmax,
    ca.OP_ATAN2: ca.atan2, ca.OP_SQRT: ca.sqrt, ca.OP_POW: lambda a, b: a**b, ca.OP_CONSTPOW: lambda a, b: a**b,
    ca.OP_IF_ELSE_ZERO: lambda a, b: ca.if_else(a, b, 0), ca.OP_LT: lambda a, b: a < b, ca.OP_LE: lambda a, b: a <= b,
    ca.OP_EQ: lambda a, b: a == b, ca.OP_NE: lambda a, b: a != b, ca.OP_NOT: ca.logic_not, ca.OP_AND: ca.logic_and,
    ca.OP_OR: ca.logic_or, ca.OP_FMOD: ca.fmod, ca.OP_FLOOR: ca.floor, ca.OP_CEIL: ca.ceil,
}  # fmt: skip


class TooLong(Exception):
    """An expression that cannot be written in a readable way."""


@dataclass(frozen=True)
class Definition:
    """A named part: a polynomial, or a function of polynomials."""

    name: str
    parts: tuple[Polynomial, ...]
    operation: int | None = None


Term = tuple[int, ca.SX]
"""A sign, and what it stands before."""


class Writer:
    """Turns expressions into short sums, and keeps the named parts that they share.

    Symbols in ``constants`` are put together in front. ``units`` are names whose squares add up to one, such as Euler
    parameters.
    """

    def __init__(self, constants: Iterable[str] = (), units: Iterable[tuple[str, ...]] = (), prefix: str = "s") -> None:
        self.constants = frozenset(constants)
        self.units = {names[0]: names[1:] for names in units}
        self.prefix = prefix
        self.definitions: list[Definition] = []
        self._known: dict[object, str] = {}
        self._symbols: dict[str, ca.SX] = {}

    def terms(self, expression: ca.SX) -> list[Term]:
        """The expression as terms to be added; none where it is zero."""
        result = replay(expression, self._symbol, _number, self._operation, lambda piece: True, self._looked_up)
        assert not isinstance(result, int)
        return self._written(result)

    def definition(self, definition: Definition) -> list[Term]:
        """A named part as terms to be added."""
        if definition.operation is None:
            return self._written(definition.parts[0])
        return [(1, _FUNCTIONS[definition.operation](*(self._whole(part) for part in definition.parts)))]

    def _whole(self, polynomial: Polynomial) -> ca.SX:
        """A polynomial as one expression."""
        result = ca.SX(0)
        for sign, term in self._written(polynomial):
            result = result + term if sign > 0 else result - term
        return result

    def _looked_up(self, called: str, arguments: list[Polynomial]) -> Polynomial:
        """A value of a series of data or its rate as a name."""
        name = looked_up(called) or called
        here = to_text(self._whole(arguments[0]))
        return self._symbol(name if here == "t" else f"{name}({here})")

    def _symbol(self, name: str) -> Polynomial:
        return {(((name, 1),), False, ()): 1.0}

    def _name(self, parts: tuple[Polynomial, ...], operation: int | None = None) -> str:
        key = (operation, *(tuple(sorted((k, float(f"{c:.12g}")) for k, c in part.items())) for part in parts))
        if key not in self._known:
            if len(self.definitions) >= MOST_NAMES or (operation is not None and operation not in _FUNCTIONS):
                raise TooLong
            self._known[key] = f"{self.prefix}_{len(self.definitions) + 1}"
            self.definitions.append(Definition(self._known[key], parts, operation))
        return self._known[key]

    def _kept(self, polynomial: Polynomial) -> Polynomial:
        """The polynomial, or its name where it is long."""
        return polynomial if len(polynomial) <= MOST_TERMS else self._symbol(self._name((polynomial,)))

    def _multiplied(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """The product, with squares of the first of unit names replaced."""
        result = _multiply(a, b)
        for first, others in self.units.items():
            while found := [key for key in result if dict(key[0]).get(first, 0) >= 2]:
                parts = [(key, value) for key, value in result.items() if key not in found]
                for powers, sine, angle in found:
                    left = _merged(powers, ((first, -2),))
                    value = result[powers, sine, angle]
                    parts.append(((left, sine, angle), value))
                    parts += [((_merged(left, ((name, 2),)), sine, angle), -value) for name in others]
                result = _clean(parts)
        return self._kept(result)

    def _operation(self, op: int, args: list[Polynomial]) -> Polynomial:
        a, b = args[0], args[-1]
        if op in (ca.OP_ADD, ca.OP_SUB):
            return self._kept(_add(a, b, -1.0 if op == ca.OP_SUB else 1.0))
        if op == ca.OP_NEG:
            return _scaled(a, -1.0)
        if op == ca.OP_TWICE:
            return _scaled(a, 2.0)
        if op == ca.OP_MUL:
            return self._multiplied(a, b)
        if op == ca.OP_SQ:
            return self._multiplied(a, a)
        if op == ca.OP_DIV:
            return self._multiplied(a, self._inverse(b))
        if op == ca.OP_INV:
            return self._inverse(a)
        if op == ca.OP_ASSIGN:
            return a
        numbers = [number for arg in args if (number := _constant(arg)) is not None]
        if len(numbers) == len(args) and op in _FUNCTIONS:
            return _number(float(_FUNCTIONS[op](*(ca.DM(number) for number in numbers))))
        if op in (ca.OP_SIN, ca.OP_COS):
            return self._turned(op == ca.OP_SIN, a)
        if op in (ca.OP_POW, ca.OP_CONSTPOW) and (power := _constant(b)) in (2.0, 3.0, 4.0):
            square = self._multiplied(a, a)
            return {2.0: lambda: square, 3.0: lambda: self._multiplied(square, a)}.get(
                power or 0.0, lambda: self._multiplied(square, square)
            )()
        if op == ca.OP_SQRT and (root := _root(a)) is not None:
            return root
        return self._symbol(self._name(tuple(args), op))

    def _inverse(self, a: Polynomial) -> Polynomial:
        if len(a) == 1:
            ((powers, _, angle), factor), *_ = a.items()
            if not angle:
                return {(tuple((name, -power) for name, power in powers), False, ()): 1.0 / factor}
        return {(((self._name((a,)), -1),), False, ()): 1.0}

    def _turned(self, sine: bool, a: Polynomial) -> Polynomial:
        """Sine or cosine of a sum of angles, of which constant ones are taken out."""
        offset, parts = 0.0, {}
        for (powers, _, angle), factor in a.items():
            if not angle and not powers:
                offset = factor
            elif not angle and len(powers) == 1 and powers[0][1] == 1 and factor == int(factor):
                parts[powers[0][0]] = int(factor)
            else:
                parts, offset = {self._name((a,)): 1}, 0.0
                break
        angle = tuple(sorted(parts.items()))
        if sine:
            return _clean([(((), True, angle), math.cos(offset)), (((), False, angle), math.sin(offset))])
        return _clean([(((), False, angle), math.cos(offset)), (((), True, angle), -math.sin(offset))])

    def _written(self, polynomial: Polynomial) -> list[Term]:
        """Terms with a common sine, cosine and variables put together, common constants taken out."""
        groups: dict[Key, list[tuple[Monomial, float]]] = {}
        for (powers, sine, angle), factor in sorted(polynomial.items(), key=lambda item: _order(item[0])):
            fixed = tuple(part for part in powers if part[0] in self.constants)
            moving = tuple(part for part in powers if part[0] not in self.constants)
            groups.setdefault((moving, sine, angle), []).append((fixed, factor))
        return [self._term(key, parts) for key, parts in groups.items()]

    def _term(self, key: Key, parts: list[tuple[Monomial, float]]) -> Term:
        moving, sine, angle = key
        common = dict(parts[0][0])
        for powers, _ in parts[1:]:
            given = dict(powers)
            common = {name: min(power, given[name]) for name, power in common.items() if name in given}
        sign = -1 if all(factor < 0 for _, factor in parts) else 1
        top, bottom = _common([factor for _, factor in parts])
        outside = (*common.items(), *moving)
        rest = []
        for powers, factor in parts:
            left = tuple((name, power - common.get(name, 0)) for name, power in powers)
            rest.append((sign * factor * bottom / top, left))
        sums = []
        if len(rest) > 1 or rest[0][1] or round(rest[0][0], 12) != 1.0:
            whole = self._product(*rest[0])
            for factor, powers in rest[1:]:
                part = self._product(abs(factor), powers)
                whole = whole + part if factor > 0 else whole - part
            sums.append(whole)
        if angle:
            turn = sum((times * self._sx(name) for name, times in angle[1:]), angle[0][1] * self._sx(angle[0][0]))
            sums.append(ca.sin(turn) if sine else ca.cos(turn))
        return sign, self._fraction(top, bottom, outside, sums)

    def _product(self, factor: float, powers: Monomial) -> ca.SX:
        top, bottom = _common([factor])
        value = self._fraction(top, bottom, powers, [])
        return -value if factor < 0 else value

    def _fraction(self, top: float, bottom: int, powers: Monomial, more: list[ca.SX]) -> ca.SX:
        """Number first, then symbols, then the rest, from left to right."""
        above = [ca.SX(top)] if top != 1 else []
        below = [ca.SX(bottom)] if bottom != 1 else []
        for name, power in powers:
            symbol = self._sx(name)
            if power:
                (above if power > 0 else below).append(symbol if abs(power) == 1 else symbol ** abs(power))
        above += more
        value = math.prod(above[1:], start=above[0]) if above else ca.SX(1)
        return value / math.prod(below[1:], start=below[0]) if below else value

    def _sx(self, name: str) -> ca.SX:
        return self._symbols.setdefault(name, ca.SX.sym(name))


def _common(factors: list[float]) -> tuple[float, int]:
    """What to take out of numbers: the greatest fraction of which all are multiples, where they are simple ones."""
    ratios = [Fraction(abs(factor)).limit_denominator(1000) for factor in factors]
    pairs = zip(ratios, factors, strict=True)
    if all(ratio and abs(float(ratio) - abs(factor)) <= 1e-12 * abs(factor) for ratio, factor in pairs):
        return math.gcd(*(r.numerator for r in ratios)), math.lcm(*(r.denominator for r in ratios))
    return float(f"{abs(factors[0]):.12g}") if len(factors) == 1 else 1.0, 1


def _number(value: float) -> Polynomial:
    return {ONE: value} if value else {}


def _constant(a: Polynomial) -> float | None:
    if not a:
        return 0.0
    return a[ONE] if len(a) == 1 and ONE in a else None


def _scaled(a: Polynomial, factor: float) -> Polynomial:
    return {key: factor * value for key, value in a.items()}


def _add(a: Polynomial, b: Polynomial, sign: float) -> Polynomial:
    return _clean([*a.items(), *((key, sign * value) for key, value in b.items())])


def _clean(parts: Iterable[tuple[Key, float]]) -> Polynomial:
    """Like terms added, without those that vanish but for rounding."""
    result: Polynomial = {}
    largest: Polynomial = {}
    for key, value in parts:
        if key[1] and not key[2]:  # sine of nothing
            continue
        result[key] = result.get(key, 0.0) + value
        largest[key] = max(largest.get(key, 0.0), abs(value))
    most = max(largest.values(), default=0.0)
    return {k: v for k, v in result.items() if abs(v) > TINY * max(largest[k], TINY * most)}


def _multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    parts: list[tuple[Key, float]] = []
    for ((p, s, x), f), ((q, r, y), g) in product(a.items(), b.items()):
        powers, value = _merged(p, q), f * g
        if not x or not y:
            parts.append(((powers, s or r, x or y), value))
            continue
        (low, low_sign), (high, high_sign) = _angle(x, y, -1), _angle(x, y, 1)
        if s and r:
            parts += [((powers, False, low), value / 2), ((powers, False, high), -value / 2)]
        elif not s and not r:
            parts += [((powers, False, low), value / 2), ((powers, False, high), value / 2)]
        else:
            back = low_sign if s else -low_sign
            parts += [((powers, True, high), high_sign * value / 2), ((powers, True, low), back * value / 2)]
    return _clean(parts)


def _merged(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for name, power in b:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _angle(a: Angle, b: Angle, sign: int) -> tuple[Angle, int]:
    """a + sign b with a positive first coefficient, and the sign that was taken out of it."""
    total = dict(a)
    for name, times in b:
        total[name] = total.get(name, 0) + sign * times
    angle = tuple(sorted((name, times) for name, times in total.items() if times))
    if angle and angle[0][1] < 0:
        return tuple((name, -times) for name, times in angle), -1
    return angle, 1


def _root(a: Polynomial) -> Polynomial | None:
    """The root of a square number; symbols may have any sign."""
    value = _constant(a)
    return _number(math.sqrt(value)) if value is not None and value >= 0 else None


def _order(key: Key) -> tuple[object, ...]:
    powers, sine, angle = key
    return (sum(abs(power) for _, power in powers), len(angle), angle, sine, powers)
