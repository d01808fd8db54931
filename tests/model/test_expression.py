"""Expressions are data: arithmetic is read, everything else is refused and nothing is executed."""

from __future__ import annotations

import math

import casadi as ca
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cotree
from _cases import random_cases
from _counting import calls
from cotree.errors import ExpressionError, ModelError
from cotree.maths.functions import ARITY, NUMERIC
from cotree.maths.symbolic import SYMBOLIC
from cotree.model import Expression

HOSTILE = [
    "__import__('os')",
    "__import__('os').system('touch hacked')",
    "().__class__.__bases__[0].__subclasses__()",
    "t.__class__",
    "(lambda: 1)()",
    "lambda t: t",
    "[x for x in (1, 2)]",
    "open('/etc/passwd')",
    "eval('1')",
    "exec('1')",
    "print(1)",
    "f'{t}'",
    "'text'",
    "b'1'",
    "1 if t else 2",
    "t and 1",
    "not t",
    "t < 1",
    "(a := 5)",
    "sin(t, key=1)",
    "sin(*[1])",
    "{1: 2}",
    "a[0]",
    "a.b",
    "await t",
    "yield",
    "1; 2",
    "x = 1",
    "import os",
    "t\nt",
    "...",
    "None",
    "True",
    "1j",
    "t @ t",
    "t // 2",
    "t % 2",
    "t << 100000",
    "~1",
    "2^3",
    "",
    "   ",
    "(",
    "sin",
    "sin()",
    "sin(1, 2)",
    "1e999",
    "9" * 1000,
    "\0",
    "t" * 5000,
    "(" * 300 + "1" + ")" * 300,
    "-" * 1500 + "1",
    "+".join(["1"] * 900),
    "1" + "**1" * 600,
    "sin(" * 250 + "t" + ")" * 250,
]


def equations_with_source(text: str) -> None:
    m = cotree.Model("m")
    m.add(cotree.VoltageSource("V", ("a", "ground"), voltage=text))
    m.add(cotree.Resistor("R", ("a", "ground"), resistance=1.0))
    m.equations()


def refused(text: str) -> None:
    with pytest.raises(ModelError):
        equations_with_source(text)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:30]))
def test_hostile_or_senseless_text_is_refused(text: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(str(tmp_path))
    with pytest.raises(ModelError) as caught:
        equations_with_source(text)
    assert calls(lambda: refused(text)) < 20_000
    assert "V.voltage" in str(caught.value)
    assert len(str(caught.value)) < 3000
    assert not list(tmp_path.iterdir())  # type: ignore[attr-defined]


WITHOUT_VALUE = (
    "9**9**9 9**9**9**9 1e200*1e200 exp(1e4) 1/0 log(0) sqrt(-1) (-8)**(1/3) 0**-1 inf inf-inf asin(2) "
    "tan(pi/2)*1e300 2**1024"
)


@pytest.mark.parametrize("text", WITHOUT_VALUE.split())
def test_constants_without_a_finite_value(text: str) -> None:
    """Numbers are floats, so that a tower of powers is refused at once: whole numbers would never end."""

    def check() -> None:
        with pytest.raises(ExpressionError, match=r"R\.resistance"):
            cotree.Resistor("R", ("a", "ground"), resistance=text)

    assert calls(check) < 5_000


def test_numbers_and_names() -> None:
    assert Expression("2*pi*f*t").names == {"f", "t"}
    assert Expression("-2**2").number({}) == -4.0
    assert Expression("2**3**2").number({}) == 512.0
    assert Expression("1 - 2 - 3").number({}) == -4.0
    assert Expression("7/2/2").number({}) == 1.75
    assert Expression(" +3 ").number({}) == 3.0
    assert Expression("1_000").number({}) == 1000.0
    assert Expression("e**1").number({}) == math.e
    assert Expression("min(3, max(1, a))").number({"a": 2.0}) == 2.0
    assert Expression("ramp(-1) + step(0) + pulse(2.1, 0.5, 1)").number({}) == 2.0
    assert Expression("sin(t)").depends_on_time
    assert not Expression("a").depends_on_time
    with pytest.raises(ExpressionError, match="'q' in the expression"):
        Expression("q + 1").number({"a": 1.0})


def test_every_function_has_the_same_value_in_numbers_and_symbols() -> None:
    assert set(ARITY) == set(NUMERIC) == set(SYMBOLIC)
    for name, (count, _) in ARITY.items():
        if name in ("trapezoid", "spline"):  # whose further arguments are plain numbers: tests/maths/test_profiles.py
            continue
        for values in ([0.3, 0.25, 0.7], [-0.3, 0.2, 0.9], [0.0, 0.5, 1.0], [2.6, 0.5, 1.0], [-1.0, 0.3, 0.6]):
            arguments = values[:count]
            try:
                expected = NUMERIC[name](*arguments)
            except ValueError:
                continue
            symbols = [ca.SX.sym(f"x{k}") for k in range(count)]
            value = float(ca.Function("f", symbols, [SYMBOLIC[name](*symbols)])(*arguments))
            assert value == pytest.approx(expected, abs=1e-14), (name, arguments)


LEAF = st.one_of(st.floats(0.1, 9.0).map(lambda x: f"{x:.3f}"), st.sampled_from(["t", "a"]))
TEXT = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        inner.map(lambda x: f"sin({x})"),
        inner.map(lambda x: f"-{x}"),
        st.tuples(inner, inner).map(lambda p: f"max({p[0]}, {p[1]})"),
    ),
    max_leaves=12,
)


@random_cases(20, 60)
@given(TEXT, st.floats(-2.0, 2.0), st.floats(-2.0, 2.0))
def test_value_is_pythons_own(text: str, t: float, a: float) -> None:
    names = {"sin": math.sin, "max": max, "t": t, "a": a}
    expected = eval(text, {"__builtins__": {}}, names)
    assert Expression(text).evaluate({"t": t, "a": a}) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@random_cases(67, 200)
@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        expression = Expression(text)
    except ExpressionError as error:
        assert str(error)  # noqa: PT017
    else:
        assert expression.text == text


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("5*(t > 1)", "Write a switch as 5*step(t - 1)"),
        ("5 if t > 1 else 0", "Write a switch as 5*step(t - 1)"),
        ("if(t > 1, 5, 0)", "Write a switch as 5*step(t - 1)"),
        ("1k", "'k' alone is a prefix"),
        ("10 kohn", "Did you mean 'kohm'?"),
        ("2 x", "A product needs its sign: 2*x"),
        ("np.sin(t)", "Write sin(...) alone"),
        ("math.pi*t", "Write pi alone"),
        ("sin(t, 2)", "Give sin 1 argument."),
    ],
)
def test_hints(text: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        Expression(text)
    assert hint in str(caught.value)


def test_time_is_called_t() -> None:
    with pytest.raises(ExpressionError, match="Time is called t"):
        Expression("sin(time)").number({"tim": 1.0})
