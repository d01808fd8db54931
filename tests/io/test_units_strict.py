"""A number and its unit are told apart strictly: what is read is what another reading gives, or it is refused."""

from __future__ import annotations

import math
import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cotree as ct
from _cases import random_cases
from cotree.model import Expression
from cotree.model.units import BASES

SIZES = {  # by the SI brochure: the size of one, and its powers of m, kg, s, A, K, rad
    "m": (1.0, (1, 0, 0, 0, 0, 0)), "mm": (1e-3, (1, 0, 0, 0, 0, 0)), "kg": (1.0, (0, 1, 0, 0, 0, 0)),
    "s": (1.0, (0, 0, 1, 0, 0, 0)), "l": (1e-3, (3, 0, 0, 0, 0, 0)), "kN": (1e3, (1, 1, -2, 0, 0, 0)),
    "min": (60.0, (0, 0, 1, 0, 0, 0)), "K": (1.0, (0, 0, 0, 0, 1, 0)), "deg": (math.pi / 180, (0, 0, 0, 0, 0, 1)),
    "%": (0.01, (0, 0, 0, 0, 0, 0)), "1": (1.0, (0, 0, 0, 0, 0, 0)),
}  # fmt: skip
SMALL = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"


class Sized:
    """A value with powers, for an evaluation by Python itself."""

    def __init__(self, value: float, powers: tuple[int, ...]) -> None:
        self.value, self.powers = value, powers

    def __mul__(self, other):
        return Sized(self.value * other.value, tuple(a + b for a, b in zip(self.powers, other.powers, strict=True)))

    def __truediv__(self, other):
        return self * other**-1

    def __pow__(self, power):
        return Sized(self.value**power, tuple(power * each for each in self.powers))


def independent(text):
    """Value and powers of a number with a unit, by Python's own grammar."""
    found = re.fullmatch(rf"\s*({NUMBER})(\s*)(\S.*?)\s*", text)
    assert found, text
    number, blank, unit = found.groups()
    assert blank or not unit[0].isdigit(), text  # the number ends where its digits end
    unit = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda m: f"**({m[0].translate(SMALL)}) ", unit)
    unit = re.sub(r"(?<=[a-zA-Z])([0-9]+)", r"**\1 ", unit.replace("^", "**").replace("·", "*"))
    unit = re.sub(r"(\*\*\s*)([-+]?[0-9]+)", r"\1(\2)", unit)
    parts = re.findall(r"\*\*\s*\(\s*[-+]?[0-9]+\s*\)|[a-zA-Z]+|%|1|[*/()]", unit)
    assert re.sub(r"\s", "", "".join(parts)) == re.sub(r"\s", "", unit), text
    code = ""
    for part in parts:
        if code and (part[0].isalnum() or part in "(%") and (code[-1].isalnum() or code[-1] in ")%]"):
            code += "*"  # a blank is a product
        code += part if part in ("*", "/", "(", ")") or part.startswith("**") else f"U[{part!r}]"
    found = eval(code, {"__builtins__": {}}, {"U": {name: Sized(*size) for name, size in SIZES.items()}})
    return float(number) * found.value, found.powers


def agrees(text):
    """Whether the text is read as a number with a unit; then it must be the right one."""
    try:
        read = Expression(text)
        if read.dimension is None:
            return False
        value = read.number({})
    except ct.CotreeError:
        return False
    if not set(re.findall(r"[a-zA-Z]+", text.partition(re.match(rf"\s*{NUMBER}", text)[0])[2])) <= SIZES.keys():
        return False  # a deletion has made another unit, such as mg
    wanted, powers = independent(text)
    assert value == pytest.approx(wanted, rel=1e-12), text
    assert read.dimension == (*powers, *(0,) * (len(BASES) - 6)), text
    return True


POWERS = ["", "2", "^2", "^-1", "**3", "^(-2)", "**(2)", "²", "⁻¹"]
SYMBOLS = [name for name in SIZES if name not in "1%"]


@st.composite
def written(draw):
    """A number with a unit as the manual allows it."""
    units = [draw(st.sampled_from(SYMBOLS)) + draw(st.sampled_from(POWERS)) for _ in range(draw(st.integers(1, 3)))]
    over = draw(st.sampled_from(["", "", "/{}", "/({} {})", "/({}*{})", " / {}"]))
    top = draw(st.sampled_from([" ", "*", " · ", "  "])).join(units)
    top = draw(st.sampled_from([top, top, top, "1/s" if not over else "1"]))
    below = over.format(*(draw(st.sampled_from(SYMBOLS)) + draw(st.sampled_from(POWERS[:5])) for _ in range(2)))
    number = draw(st.sampled_from(["5", "21", "1", "-1.01", ".5", "2.", "1e3", "11e-1", "0"]))
    return (
        number
        + (draw(st.sampled_from([" ", "  "])) if top[0] == "1" else draw(st.sampled_from(["", " "])))
        + top
        + below
    )


@random_cases(50, 150)
@given(text=written())
def test_what_the_manual_allows_is_read(text):
    assert agrees(text), text


@random_cases(200, 600)
@given(text=written(), data=st.data())
def test_a_changed_text_is_refused_or_right(text, data):
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 1))
        text = text[:at] + data.draw(st.sampled_from([*"0123456789.+-*/^()% ·²⁻1", ""])) + text[at + gone :]
    agrees(text)


def test_digits_before_every_operator():
    """A number that ends in 1 keeps its last digit, whatever stands behind it."""
    numbers, operators = (
        ("1", "21", "11", "1.01", "101", "2e1"),
        ("/", "*", "%", " ", "", "^", "**", "·", " /", "/ ", "("),
    )
    units = ("m", "m^2", "l^2", "1/m", "1/m^2", "1", "2", "(m)", "m^(2", "m2)", "m-1", "m+1", "s^-1", "/m")
    read = [number + sign + unit for number, sign, unit in product(numbers, operators, units)]
    assert sum(agrees(text) for text in read) > 30


@pytest.mark.parametrize(
    "text",
    ["21/m^2", "11/s^2", "1.01/m^2", "101/l^2", "5%2", "5%m", "5 m^(2", "5 m2)", "5 m+2", "5 m-2", "5 m 1", "5 m 1/s",
     "5 m()", "5 m/1/s", "5 m2s", "5 m%", "5 m²⁻", "٣ m", "5 m٣", "0x10", "2*0b1", "5 m^٢"],
)  # fmt: skip
def test_what_looks_like_a_unit_and_is_none(text):
    with pytest.raises(ct.ExpressionError):
        Expression(text)


def test_a_quotient_in_a_bond_graph_is_never_a_unit(read):
    text = """\
parameters: {m: 2, c: 21/m**2}
components:
  F: {kind: Se, effort: 5 N}
  j: {kind: "1"}
  r: {kind: R, resistance: 21/m^2}
bonds: [F -> j, j -> r]
"""
    with pytest.raises(ct.FileError, match=r"Write a power as a\*\*b"):
        read(text)
    values = read(text.replace("21/m^2", "c")).model.component_values()
    assert values["r.resistance"] == 5.25
