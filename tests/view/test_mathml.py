"""Equations as MathML: well formed, with the symbols of the domains, short however long the equation."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import casadi as ca
import pytest

import cotree as ct
from cotree.view import mathml
from view._models import ladder, motor, network


def words(math: str) -> str:
    """The text of a formula without its marks for layout."""
    return "".join(ET.fromstring(math).itertext()).replace("\u2062", "")


def plain(expression: ca.SX) -> str:
    return words(f"<math>{mathml.expression(expression, lambda name: f'<mi>{name}</mi>')}</math>")


def test_terminal_equations_use_the_symbols_of_the_domains() -> None:
    found = {name: words(math) for name, math in mathml.terminal_equations(network())}
    assert found["R3"] == "vR3−R3iR3=0"
    assert found["L1"] == "vL1−L1i˙L1=0"
    assert found["V7"] == "vV7−10sin(31.4159t)=0"
    assert list(found) == ["L1", "L2", "R3", "R4", "R5", "C6", "V7"]


def test_state_equations() -> None:
    m = network()
    found = dict(mathml.state_equations(m, m.equations()))
    assert words(found["C6.voltage"]) == "v˙C6=−iL2C6"
    assert "<mfrac>" in found["C6.voltage"]
    assert words(found["V7.voltage"]) == "vV7=10sin(31.4159t)"


def test_switching_is_printed_as_it_was_written() -> None:
    m = motor()
    assert words(dict(mathml.state_equations(m, m.equations()))["V.voltage"]) == "vV=24step(t - 0.01)"


def test_signs_and_brackets() -> None:
    a, b, c = (ca.SX.sym(n) for n in "abc")
    assert plain(a - (b - c)) in ("a−(b−c)", "a+c−b", "a−b+c")
    assert plain(-(a + b)) == "−(a+b)"
    assert plain(a + -b) == "a−b"
    assert plain((a + b) * c) == "(a+b)c"
    assert plain(a * -2.0) == "−2a"
    assert plain((a + b) ** 2.5) == "(a+b)2.5"
    assert plain(ca.exp(-a)) == "e−a"
    assert plain(1e-9 * a) == "10−9a"
    assert plain(ca.SX(0.0)) == "0"
    assert plain(ca.if_else(a < b, c, 0)) == "[a<b]c"
    assert plain(ca.fabs(a) + ca.sqrt(b)) in ("|a|+b", "b+|a|")


@pytest.mark.parametrize("make", [network, motor, lambda: ladder(4)])
def test_all_equations_are_well_formed(make: object) -> None:
    m = make()  # type: ignore[operator]
    every = [*mathml.terminal_equations(m), *mathml.state_equations(m, m.equations())]
    for _, math in every:
        assert ET.fromstring(math).tag.endswith("math")


def test_nonlinear_laws_are_well_formed() -> None:
    m = ct.Model("rectifier")
    m.add(ct.VoltageSource("V", ("a", "ground"), voltage="5*pulse(t, 1e-3, 2e-3)"))
    m.add(ct.Diode("D", ("a", "b"), saturation_current=1e-12, thermal_voltage=0.025, leakage=1e-9))
    m.add(ct.Resistor("R_load", ("b", "ground"), resistance=1e3))
    m.add(ct.Switch("S", ("b", "ground"), closed="step(t - 1)", on_resistance=1.0, off_resistance=1e6))
    m.add(ct.Capacitor("C", ("b", "ground"), capacitance=1e-6))
    for _, math in [*mathml.terminal_equations(m), *mathml.state_equations(m, m.equations())]:
        ET.fromstring(math)
        assert not re.search(r"\bop\d", math)


def test_long_expressions_are_counted_instead() -> None:
    x = ca.SX.sym("x")
    y = x
    for _ in range(40):  # printed in full it would have 2^40 terms
        y = y * (y + x)
    assert re.fullmatch(r"\(\d+ operations\)", plain(y))


def test_long_cutsets_are_cut() -> None:
    m = ct.Model("star")
    for k in range(50):
        m.add(ct.Resistor(f"R{k}", ("a", "ground"), resistance=1.0))
    tree = m.tree()
    shown = words(mathml.topological(tree.cutset_equation(tree.branches[0])))
    assert shown.endswith("+(20 more terms)=0")
    assert shown.count("i") == 30
