"""Units of numbers as users write them: ``300 mm``, ``5 kN/m``, ``0.5 kg m^2``, ``1500 rpm``, ``20 degC``.

The table is small and our own, because loading a library of units would take longer than most runs. Angles count as a
dimension, and so do periods (Hz), so that degrees are no length and 50 Hz is no angular velocity; but rad may be left
out, as in ``5 N m`` for a stiffness in N m/rad. A unit belongs to one number. Inside expressions everything is in SI
units: the dimension of a parameter is checked where the parameter stands alone, and is not followed through formulas.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from cotree.errors import ExpressionError, nearest

ZERO = "zero"
"""Marks scales of temperature whose zero is not that of K, as if it were a dimension."""
BASES = ("m", "kg", "s", "A", "K", "rad", "period", ZERO)
Dimension = tuple[int, ...]
"""Powers of the `BASES`."""
NONE: Dimension = (0,) * len(BASES)
ANGLES = (5, 6)
"""Places of the dimensions that SI does not count as such."""
MAX_LENGTH = 60
MAX_POWER = 9

PREFIXES: dict[str, Fraction] = {
    "T": Fraction(10**12), "G": Fraction(10**9), "M": Fraction(10**6), "k": Fraction(1000), "h": Fraction(100),
    "da": Fraction(10), "d": Fraction(1, 10), "c": Fraction(1, 100), "m": Fraction(1, 1000),
    "u": Fraction(1, 10**6), "µ": Fraction(1, 10**6), "n": Fraction(1, 10**9), "p": Fraction(1, 10**12),
    "f": Fraction(1, 10**15),
}  # fmt: skip

_PI = Fraction(math.pi)
_POUND, _INCH, _EARTH = Fraction("0.45359237"), Fraction("0.0254"), Fraction("9.80665")
_WITH_PREFIX: dict[str, tuple[Fraction | int, str]] = {
    "m": (1, "m"), "g": (Fraction(1, 1000), "kg"), "s": (1, "s"), "A": (1, "A"), "K": (1, "K"), "rad": (1, "rad"),
    "Hz": (1, "period s^-1"), "N": (1, "kg m s^-2"), "Nm": (1, "kg m^2 s^-2"), "Pa": (1, "kg m^-1 s^-2"),
    "bar": (10**5, "kg m^-1 s^-2"), "J": (1, "kg m^2 s^-2"), "W": (1, "kg m^2 s^-3"), "Wh": (3600, "kg m^2 s^-2"),
    "C": (1, "A s"), "Ah": (3600, "A s"), "V": (1, "kg m^2 s^-3 A^-1"), "ohm": (1, "kg m^2 s^-3 A^-2"),
    "Ω": (1, "kg m^2 s^-3 A^-2"), "S": (1, "kg^-1 m^-2 s^3 A^2"), "F": (1, "kg^-1 m^-2 s^4 A^2"),
    "H": (1, "kg m^2 s^-2 A^-2"), "Wb": (1, "kg m^2 s^-2 A^-1"), "T": (1, "kg s^-2 A^-1"),
    "l": (Fraction(1, 1000), "m^3"), "L": (Fraction(1, 1000), "m^3"),
}  # fmt: skip
_WITHOUT_PREFIX: dict[str, tuple[Fraction | int, str]] = {
    "min": (60, "s"), "h": (3600, "s"), "d": (86400, "s"), "deg": (_PI / 180, "rad"), "°": (_PI / 180, "rad"),
    "rev": (2 * _PI, "rad"), "rpm": (_PI / 30, "rad s^-1"), "tonne": (1000, "kg"), "in": (_INCH, "m"),
    "ft": (12 * _INCH, "m"), "yd": (36 * _INCH, "m"), "mi": (63360 * _INCH, "m"),
    "mph": (63360 * _INCH / 3600, "m s^-1"), "lb": (_POUND, "kg"), "lbf": (_POUND * _EARTH, "kg m s^-2"),
    "kgf": (_EARTH, "kg m s^-2"), "psi": (_POUND * _EARTH / _INCH**2, "kg m^-1 s^-2"),
    "atm": (101325, "kg m^-1 s^-2"), "%": (Fraction(1, 100), ""),
}  # fmt: skip
_FROM_ZERO = {
    "degC": (Fraction(1), Fraction("273.15")), "°C": (Fraction(1), Fraction("273.15")),
    "degF": (Fraction(5, 9), Fraction("459.67") * 5 / 9), "°F": (Fraction(5, 9), Fraction("459.67") * 5 / 9),
}  # fmt: skip
"""Scales of temperature whose zero is not that of K: factor and offset."""

_NAMED = {
    "length": "m", "area": "m^2", "volume": "m^3", "mass": "kg", "time": "s", "speed": "m/s",
    "acceleration": "m/s^2", "force": "N", "torque or an energy": "N m", "pressure or a stress": "Pa", "power": "W",
    "angle": "rad", "angular velocity": "rad/s", "angular acceleration": "rad/s^2", "frequency": "Hz",
    "voltage": "V", "current": "A", "charge": "C", "resistance": "ohm", "conductance": "S", "capacitance": "F",
    "inductance": "H", "temperature over the datum": "K", "temperature with a zero of its own": "degC",
    "stiffness": "N/m", "torsional stiffness": "N m/rad",
    "damping coefficient": "N s/m", "torsional damping coefficient": "N m s/rad", "moment of inertia": "kg m^2",
    "density": "kg/m^3", "mass flow": "kg/s", "volume flow": "m^3/s", "rate": "1/s", "heat capacity": "J/K",
    "thermal resistance": "K/W", "hydraulic resistance": "Pa s/m^3", "momentum": "kg m/s",
    "magnetic flux": "V s", "motor constant": "V s/rad",
}  # fmt: skip

_SMALL = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
_TOKEN = re.compile(rf"\s*(\*\*|[*·/^()]|1(?=\s*/)|[^\W\d_{_SMALL}]+|°[CF]?|%|)")
_SIGNED = r"([+-]?[0-9]+)"
_POWER = re.compile(rf"\s*(?:\^|\*\*)\s*(?:{_SIGNED}|\(\s*{_SIGNED}\s*\))|([0-9]+)|(⁻?[{_SMALL[:-1]}]+)")
"""``^2``, ``**(-2)``, ``2`` at once behind the symbol, or small raised digits."""
_SUPERSCRIPT = str.maketrans(_SMALL, "0123456789-")
_NUMBER = re.compile(
    r"\s*([-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?)"
    rf"(?:\s*(?=[^\W\d_]|[°%])|\s+(?=1\s*/))([\w\s*·/^()°%+{_SMALL}-]+)"
)
"""A number and its unit; one that begins with 1/ needs a blank before it, as 21/m is an expression."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A value of x in this unit is ``factor * x + offset`` in SI units."""

    factor: Fraction
    offset: Fraction
    dimension: Dimension


def parse_unit(text: str) -> Unit:
    """The unit that a text means, or an `ExpressionError` that says which part of it is no unit."""
    return _parse(text.strip().replace("μ", "µ").replace("\u2126", "Ω"))


def number_with_unit(text: str) -> tuple[float, Dimension] | None:
    """The value in SI units and the dimension of a number with a unit; None where the text is none."""
    if (parts := split(text)) is None:
        return None
    unit = parse_unit(parts[1])
    try:
        return float(Fraction(parts[0]) * unit.factor + unit.offset), unit.dimension
    except OverflowError:
        return math.inf, unit.dimension


def split(text: str) -> tuple[str, str] | None:
    """The number and the unit of ``300 mm``; None where the text does not look like it."""
    found = _NUMBER.fullmatch(text) if len(text) <= 2 * MAX_LENGTH else None
    return (found[1], found[2].strip()) if found else None


def fits(dimension: Dimension, unit: str) -> bool:
    """Whether a value of this dimension may stand where values in ``unit`` belong: ``m``, or ``m or rad``."""
    for each in unit.split(" or "):
        wanted = dimension_of(each)
        if wanted is None:
            continue
        bare = tuple(0 if k in ANGLES else power for k, power in enumerate(wanted))
        if dimension == wanted or (dimension == bare != NONE):  # rad and periods may be left out
            return True
    return False


@lru_cache(maxsize=512)
def dimension_of(unit: str) -> Dimension | None:
    """The dimension of a field's unit, none for an empty one; None where it is no fixed one, such as N/m^n."""
    try:
        return parse_unit(unit).dimension if unit else NONE
    except ExpressionError:
        return None


def described(dimension: Dimension) -> str:
    """``a length``, ``an angle``, or ``a value in kg m``."""
    name = _names().get(dimension)
    if name is not None:
        return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
    if dimension == NONE:
        return "a plain number"
    pairs = zip(BASES, dimension, strict=True)
    return f"a value in {' '.join(base if power == 1 else f'{base}^{power}' for base, power in pairs if power)}"


@lru_cache(maxsize=1)
def _names() -> dict[Dimension, str]:
    return {parse_unit(unit).dimension: name for name, unit in _NAMED.items()}


@lru_cache(maxsize=1)
def symbols() -> dict[str, Unit]:
    """Every unit by its symbol, with every prefix that it takes."""
    table: dict[str, Unit] = {}
    for symbol, (factor, base) in _WITH_PREFIX.items():
        for prefix, size in PREFIXES.items():
            table[prefix + symbol] = Unit(size * factor, Fraction(0), _dimension(base))
    return table | plain_symbols()


def plain_symbols() -> dict[str, Unit]:
    """Every unit by its symbol, without prefixes."""
    both = (_WITH_PREFIX | _WITHOUT_PREFIX).items()
    table = {symbol: Unit(Fraction(factor), Fraction(0), _dimension(base)) for symbol, (factor, base) in both}
    return table | {
        name: Unit(factor, offset, _dimension(f"K {ZERO}")) for name, (factor, offset) in _FROM_ZERO.items()
    }


def _dimension(base: str) -> Dimension:
    powers = dict.fromkeys(BASES, 0)
    for part in base.split():
        name, _, power = part.partition("^")
        powers[name] += int(power or 1)
    return tuple(powers.values())


@lru_cache(maxsize=1024)
def _parse(text: str) -> Unit:
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"a unit of {len(text)} characters", expected=f"at most {MAX_LENGTH}")
    reader = _Reader(text)
    unit = reader.product()
    if reader.rest().strip():
        raise reader.refused(f"'{reader.rest().strip()}' in it")
    return unit


class _Reader:
    """Reads products, quotients and powers of units."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def rest(self) -> str:
        return self.text[self.at :]

    def refused(self, what: str, remedy: str = "") -> ExpressionError:
        expected = "units with powers, * and /, such as mm, kN/m, kg m^2 or J/(kg K)"
        return ExpressionError(f"'{self.text}' is no unit: {what}", expected=expected, remedy=remedy)

    def token(self) -> str:
        found = _TOKEN.match(self.text, self.at)
        return found[1] if found else ""

    def take(self) -> str:
        found = _TOKEN.match(self.text, self.at)
        assert found is not None  # the pattern also matches nothing
        self.at = found.end()
        return found[1]

    def product(self) -> Unit:
        total, divided = Unit(Fraction(1), Fraction(0), NONE), False
        first, alone = self.at, self.at == 0
        while True:
            sign = self.token()
            if sign == ")" or not self.rest().strip():
                if self.at == first:
                    raise self.refused("there is nothing between brackets" if sign == ")" else "it ends early")
                return total
            begins = self.at == first
            if sign in ("*", "·", "/") and not begins:
                self.take()
            else:
                self.check_gap(begins)
                sign = "" if begins else "*"
            if self.token() == "1" and not begins:
                raise self.refused("a 1 inside of it")
            if sign == "*" and divided:
                raise self.refused("a product behind / can be read in two ways", "Put brackets: J/(kg K)")
            divided = divided or sign == "/"
            start, percent = self.at, self.token() == "%"
            unit = self.power()
            if percent and (start or (self.rest().strip() and self.token() != "/")):
                raise self.refused("% stands first, and behind it nothing or a /")
            if unit.offset and not (alone and start == 0 and not self.rest().strip()):
                raise self.refused("degC and degF have a zero of their own and stand alone", "Write K")
            direction = -1 if sign == "/" else 1
            powers = tuple(a + direction * b for a, b in zip(total.dimension, unit.dimension, strict=True))
            total = Unit(total.factor * unit.factor**direction, unit.offset, powers)

    def check_gap(self, begins: bool) -> None:
        """Refuse units without a blank between them."""
        before, after = self.text[self.at - 1 : self.at], self.text[self.at : self.at + 1]
        if not (begins or before in (")", *_SMALL) or after == "(" or after.isspace()):
            raise self.refused(f"'{self.rest().strip()}' in it")

    def power(self) -> Unit:
        symbol = self.token()
        unit = self.single()
        found = _POWER.match(self.text, self.at)
        if found is None or (found[3] and not symbol.isalpha()):
            return unit
        self.at = found.end()
        power = int(found[1] or found[2] or found[3] or found[4].translate(_SUPERSCRIPT))
        if abs(power) > MAX_POWER or not power or symbol in ("1", "%"):
            raise self.refused(f"the power {power}", f"Give a power from 1 to {MAX_POWER}")
        if unit.offset:
            raise self.refused("degC and degF have a zero of their own and stand alone", "Write K")
        return Unit(unit.factor**power, Fraction(0), tuple(power * each for each in unit.dimension))

    def single(self) -> Unit:
        found = self.take()
        if found == "(":
            self.depth += 1
            if self.depth > MAX_POWER:
                raise self.refused("too many brackets")
            unit = self.product()
            if self.take() != ")":
                raise self.refused("a bracket is not closed")
            return unit
        if found == "1":
            return Unit(Fraction(1), Fraction(0), NONE)
        if found in symbols():
            return symbols()[found]
        if not found or not (found[0].isalpha() or found[0] in "°%"):
            raise self.refused(
                f"'{self.rest().strip() or found}' in it" if found or self.rest().strip() else "it ends early"
            )
        raise ExpressionError(
            f"there is no unit '{found}'", expected="a unit such as mm, kN/m or ohm", remedy=_meant(found),
        )  # fmt: skip


def _meant(found: str) -> str:
    """The unit that a wrong symbol may mean."""
    if found == "t":
        return "a product needs its sign: 2*t, with the time t. A metric ton is 'tonne'"
    if found in PREFIXES:
        return f"'{found}' alone is a prefix: write its unit as well, or the power of ten"
    same = [each for each in symbols() if each.lower() == found.lower()]
    often = (*_WITH_PREFIX, *_WITHOUT_PREFIX, *_FROM_ZERO, "mm", "kg", "kN", "kohm", "MPa", "uF")
    same = [each for each in same if each[0] == found[0]] or same  # mOhm is no Mohm
    if len(same) == 1:
        return f"did you mean '{same[0]}'?"
    return _WORDS.get(found.lower().rstrip("s"), "") or nearest(found, often) or nearest(found, symbols())


_WORDS = {
    word: f"did you mean '{symbol}'?"
    for word, symbol in {
        "meter": "m", "metre": "m", "gram": "g", "second": "s", "sec": "s", "minute": "min", "hour": "h", "hr": "h",
        "day": "d", "ampere": "A", "amp": "A", "volt": "V", "watt": "W", "newton": "N", "pascal": "Pa", "joule": "J",
        "degree": "deg", "radian": "rad", "inch": "in", "inche": "in", "foot": "ft", "feet": "ft", "liter": "l",
        "litre": "l", "kelvin": "K", "celsiu": "degC", "farad": "F", "henry": "H", "hertz": "Hz", "pound": "lb",
        "meg": "M, a prefix", "millimeter": "mm", "millimetre": "mm", "kilogram": "kg", "centimeter": "cm",
        "kilo": "kg", "r/min": "rpm", "grad": "deg", "°": "deg",
    }.items()
}  # fmt: skip
